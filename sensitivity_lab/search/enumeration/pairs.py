"""Pairs of datasets: which are searched together, and which is furthest apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.queries import Answered
from sensitivity_lab.search.lattice import Floats
from sensitivity_lab.universes.multiplicities import Multiplicities


class Family(NamedTuple):
    """Pairs of one kind: the sizes of x, y and their core.

    `disjoint` pairs have no record in both A and B (exactly k replaced); for others it makes no
    difference, or smaller changes count too.
    """

    of_x: int
    of_y: int
    core: int
    disjoint: bool

    @property
    def larger(self) -> int:
        """The size of the larger dataset."""
        return max(self.of_x, self.of_y)

    @property
    def smaller(self) -> int:
        """The size of the smaller dataset."""
        return min(self.of_x, self.of_y)


@dataclass(frozen=True)
class FoundPair:
    """Two datasets, x of the family's size of x, and how far their answers are apart."""

    x: Multiplicities
    y: Multiplicities
    gap: float
    difference: Difference | None
    answers: tuple[Answered, Answered] | None


def best_pair(pairs: Iterable[FoundPair]) -> FoundPair:
    """Return the pair that is furthest apart, exactly where possible; the first of equals."""
    every = iter(pairs)
    best = next(every)
    for pair in every:
        if pair.difference is None or best.difference is None:
            further = pair.gap > best.gap
        else:
            further = pair.difference > best.difference
        if further:
            best = pair
    return best


class Finder(Protocol):
    """Finds, per column of answers, the pair of a family that is furthest apart."""

    def find(self, family: Family, big: Floats, small: Floats) -> list[FoundPair]:
        """Return the pairs, given the extremes over every core; see `GapFinder.find`."""
