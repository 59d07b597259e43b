"""What records contribute to an additive query, and the records that can matter.

Records with equal contributions are interchangeable: they are one *group* with a count. A part,
such as the records that only x has, is a number of records per group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.queries import Query
from sensitivity_lab.universe import Universe

from .lattice import Floats, Indices

Part = NDArray[np.int64]
"""How many records of each group, shape (g,)."""

_COMPARISONS = 1 << 32
"""Groups are left out only where finding them takes at most so many comparisons of numbers."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the records of a universe contribute to an additive query.

    Attributes
    ----------
    vectors : ndarray of Python ints, shape (g, d)
        The distinct contributions, times `unit`.
    floats : ndarray of float64, shape (g, d)
        The same in floats, rounded where they must be.
    counts : ndarray of int64, shape (g,)
        How many records contribute each.
    group : ndarray of intp, shape (m,)
        The group of each distinct record.
    unit : int
    largest : float
        At least the largest absolute value of `floats`.
    whole : bool
        Whether `floats` are not rounded.
    """

    vectors: NDArray[np.object_]
    floats: Floats
    counts: Part
    group: Indices
    unit: int
    largest: float
    whole: bool

    def total(self, part: Part) -> tuple[Fraction, ...]:
        """Return what a part contributes, exactly."""
        held = np.flatnonzero(part)
        sums = (self.vectors[held] * part[held, None].astype(object)).sum(axis=0)
        return tuple(Fraction(number, self.unit) for number in np.atleast_1d(sums))

    def extreme(self, direction: Floats, number: int) -> Part:
        """Return the part of so many records that reaches furthest in an exact direction."""
        if self.whole:
            scores = self.floats @ direction
        else:
            scores = self.vectors @ direction.astype(int).astype(object)
        order = np.argsort(-scores, kind="stable")
        counts = self.counts[order]
        before = np.cumsum(counts) - counts
        part = np.zeros_like(counts)
        part[order] = np.clip(number - before, 0, counts)
        return part

    def outer(self, signs: Floats, number: int) -> Indices:
        """Return the groups that can be among the furthest records in a direction of these signs.

        A record can be left out if at least `number` others are at least as far in every
        coordinate, as they then are in every direction whose coordinates have these signs.
        """
        seen = self._ranks * signs
        # Whoever is beyond a record comes before it. If one of them was left out, then enough kept
        # records are beyond that one, and so beyond this record too.
        kept = np.empty(0, dtype=np.intp)
        for place in np.argsort(-seen.sum(axis=1), kind="stable"):
            beyond = kept[(seen[kept] >= seen[place]).all(axis=1)]
            if self.counts[beyond].sum() < number:
                kept = np.append(kept, place)
        return kept

    @cached_property
    def _ranks(self) -> Floats:
        """The contributions in the order of each coordinate, shape (g, d)."""
        columns = [np.unique(column, return_inverse=True)[1] for column in self.vectors.T]
        return np.column_stack(columns).astype(np.float64)

    @property
    def signs(self) -> list[Floats] | None:
        """All directions' signs; None where finding outer groups would take too long."""
        groups, numbers = self.vectors.shape
        if numbers > 16 or groups**2 * numbers * 2**numbers > _COMPARISONS:
            return None
        return [np.array(signs) for signs in product((1.0, -1.0), repeat=numbers)]


@lru_cache(maxsize=16)
def contributions_of(query: Query, universe: Universe, limit: int) -> Contributions | None:
    """Return what records contribute, each value at most `limit` times; None if not additive."""
    sums = None if universe.numeric else query.sums(universe)
    if sums is None or sums.units is None:
        return None
    unit = math.lcm(*sums.units)
    terms = sums.terms * np.array([unit // own for own in sums.units], dtype=object)
    places: dict[tuple[int, ...], int] = {}
    group = np.array(
        [places.setdefault(tuple(row), len(places)) for row in terms.tolist()], dtype=np.intp
    )
    vectors = np.empty((len(places), terms.shape[1]), dtype=object)
    vectors[:] = list(places)
    counts = np.bincount(group, weights=universe.multiplicities(limit)).astype(np.int64)
    largest = int(abs(vectors).max())
    # Scaling by a power of two changes no comparison, and keeps large numbers in range.
    shift = max(0, largest.bit_length() - 53)
    floats = (vectors / (1 << shift)).astype(np.float64)
    # A direction has coordinates -1, 0 and 1: sums of so many terms are exact below 2**53.
    whole = shift == 0 and largest * terms.shape[1] <= 2**53
    return Contributions(vectors, floats, counts, group, unit, float(np.abs(floats).max()), whole)
