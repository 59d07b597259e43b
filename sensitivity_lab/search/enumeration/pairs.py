"""Pairs of datasets: which are searched together, and which is furthest apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import NamedTuple, Protocol

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.queries import Answered
from sensitivity_lab.running.machine import Machine
from sensitivity_lab.search.contenders import Contenders
from sensitivity_lab.search.lattice import Floats, Indices
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
    difference: Difference
    answers: tuple[Answered, Answered] | None


def best_pair(pairs: Iterable[FoundPair]) -> FoundPair:
    """Return the pair that is furthest apart, exactly; the first of equals."""
    return max(pairs, key=attrgetter("difference"))


def highs_and_lows(big: Floats, extremes: Floats) -> tuple[Floats, Floats]:
    """Return the largest answers over cores, and minus the smallest ones.

    Parameters
    ----------
    big : ndarray, shape (cores, 2 * columns)
        Extremes over the same cores, which tell how many columns there are.
    extremes : ndarray, shape (cores, 2 * columns), (cores, columns) or (cores,)
        Extremes, as columns [hi, -lo], or the answers on the cores themselves, which are both.
    """
    count = big.shape[1] // 2
    columns = extremes.reshape(len(extremes), -1)
    return columns[:, :count], columns[:, count:] if columns.shape[1] > count else -columns


def by_bound(
    machine: Machine, bounds: Callable[..., Floats], arrays: Sequence[Floats], rows: int
) -> Iterator[tuple[float, int]]:
    """Yield the bounds over all cores with their positions, from the largest bound down.

    Of equals the first position comes first. Bounds are computed from the rows of some arrays, and
    only as far down as they are asked for: those between two of the largest bounds of batches at a
    time.
    """
    highest = machine.reduce(partial(_highest_bound, bounds), *arrays, rows=rows)
    tops = sorted(highest.values(), reverse=True)
    above, number = None, 1
    while above is None or above > -math.inf:
        least = tops[number - 1] if number <= len(tops) else -math.inf
        only = {start for start, most in highest.items() if most >= least}
        within = partial(_within, bounds, least, above)
        found = machine.reduce(within, *arrays, rows=rows, only=only)
        cores = np.concatenate([start + place for start, (place, _) in found.items()])
        values = np.concatenate([some for _, some in found.values()])
        for place in np.argsort(-values, kind="stable"):
            yield float(values[place]), int(cores[place])
        above, number = least, 2 * number


def contending(
    cores: Iterable[tuple[float, int]],
    pairs_over: Callable[[int, Contenders], Iterable[FoundPair]],
    error: float,
) -> Iterator[FoundPair]:
    """Yield pairs that can be the furthest apart, core after core until no other can have one.

    Parameters
    ----------
    cores : iterable of (float, int)
        Bounds over the cores and their positions, as `by_bound` yields them.
    pairs_over : callable
        Lets `Contenders` see how far the pairs over a core are apart, and yields those.
    error : float
        Bounds the error of the bounds and of how far pairs are apart.
    """
    near = Contenders(error)
    for bound, core in cores:
        if not near.can_win(bound):
            return
        near = Contenders(error, near.reached)
        yield from pairs_over(core, near)


def _highest_bound(bounds: Callable[..., Floats], *parts: Floats) -> float:
    return float(bounds(*parts).max())


def _within(
    bounds: Callable[..., Floats], least: float, above: float | None, *parts: Floats
) -> tuple[Indices, Floats]:
    """Return which bounds are at least one number, and below another one, and these bounds."""
    every = bounds(*parts)
    wanted = every >= least if above is None else (every >= least) & (every < above)
    places = np.flatnonzero(wanted)
    return places, every[places]


class Finder(Protocol):
    """Finds, per column of answers, the pair of a family that is furthest apart."""

    def find(self, family: Family, big: Floats, small: Floats) -> list[FoundPair]:
        """Return the pairs, given the extremes over every core; see `GapFinder.find`."""
