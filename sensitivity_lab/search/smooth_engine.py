"""What a smooth search is asked, and what it finds: the largest local sensitivity by distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.norms import Norm
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import Universe

from .engine import Options, Refusal


@dataclass(frozen=True, eq=False)
class SmoothProblem:
    """How large the local sensitivity is for the datasets at every distance from x.

    Parameters
    ----------
    universe : Universe
    query : Query
    x : ndarray of int64, shape (m,)
        The dataset: how often each distinct value of the universe occurs in it.
    replace : bool
        Whether a neighbor has one record replaced, instead of one added or removed.
    sizes : tuple of two numbers
        The smallest and the largest size of datasets, both that of x if `replace`; the largest
        may be math.inf.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    """

    universe: Universe
    query: Query
    x: Multiplicities
    replace: bool
    sizes: tuple[int, float]
    norm: Norm = "L1"

    @cached_property
    def size(self) -> int:
        """The number of records of x."""
        return int(self.x.sum())

    def distance(self, z: Multiplicities) -> int:
        """Return how far a dataset is from x: records replaced, or added and removed."""
        if self.replace:
            return int(np.maximum(z - self.x, 0).sum())
        return int(np.abs(z - self.x).sum())


@dataclass(frozen=True, eq=False)
class Rise:
    """A distance at which the largest local sensitivity within it is larger than before.

    Attributes
    ----------
    distance : int
        From x to z.
    gap : Difference
        The local sensitivity of z.
    pair : callable
        Returns z and the neighbor y that attains its local sensitivity, by multiplicities.
    """

    distance: int
    gap: Difference
    pair: Callable[[], tuple[Multiplicities, Multiplicities]]


Enough = Callable[[Rise, int, Difference], bool]
"""Told the last rise, a distance and a bound of all gaps: whether no larger distance matters."""


@dataclass(frozen=True)
class Rises:
    """All rises up to a distance, ascending; the first is at distance 0.

    Attributes
    ----------
    rises : tuple of Rise
    farthest : int
        The largest distance that was looked at.
    datasets_evaluated : int
    """

    rises: tuple[Rise, ...]
    farthest: int
    datasets_evaluated: int


class SmoothEngine(Protocol):
    """One way to find the largest local sensitivity at every distance."""

    @property
    def name(self) -> str:
        """What `method` calls the engine."""

    def refusal(self, problem: SmoothProblem, options: Options) -> Refusal | None:
        """Return why the engine does not take the problem; None if it does."""

    def solve(self, problem: SmoothProblem, options: Options, enough: Enough) -> Rises:
        """Return the rises, up to a distance at which `enough` says so or that is the last."""
