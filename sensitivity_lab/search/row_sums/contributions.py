"""What records contribute to a sum over records, and which records can matter.

Records with equal contributions are interchangeable: they form one *group*, with a count. A *part*,
such as the records that only x has, is a number of records per group. In arrays, the axis g is the
group and the axis d the number of the answer. See docs/proofs.md, "Sums of a function of a record
(`row_sums`)".
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
from sensitivity_lab.queries.row_sums import Sums
from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.search.layouts import WORD
from sensitivity_lab.universes.relations import smallest
from sensitivity_lab.universes.universe import FiniteUniverse

Ranks = NDArray[np.int64]
"""Places of contributions in the order of each coordinate, shape (g, d)."""

Part = NDArray[np.int64]
"""How many records of each group, shape (g,)."""

_WIDE = 6
"""How many coordinates at most are considered to find records that cannot matter."""

_MANY = 16
"""A coordinate is considered if it has more values than this."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the records of a universe contribute to a sum over records.

    Attributes
    ----------
    vectors : ndarray of Python ints, shape (g, d)
        The distinct contributions, times `unit`: integers.
    floats : ndarray of float64, shape (g, d)
        The same in floats, rounded where they must be.
    counts : ndarray of int64, shape (g,)
        How many records contribute each.
    group : ndarray of intp, shape (m,)
        The group of each distinct record.
    unit : int
    largest : float
        At least the largest absolute value of `floats`.
    unrounded : bool
        Whether `floats` are `vectors` without rounding, and scores in them exact.
    """

    vectors: NDArray[np.object_]
    floats: Floats
    counts: Part
    group: Indices
    unit: int
    largest: float
    unrounded: bool

    def total(self, part: Part) -> tuple[Fraction, ...]:
        """Return what a part contributes, exactly."""
        held = np.flatnonzero(part)
        sums = (self.vectors[held] * part[held, None].astype(object)).sum(axis=0)
        return tuple(Fraction(number, self.unit) for number in np.atleast_1d(sums))

    def extreme(self, direction: Floats, number: int) -> Part:
        """Return the part of `number` records with the largest scores in a direction.

        The direction has coordinates -1, 0 and 1. Scores are exact. This is an optimal A for a norm
        whose directions are known: "Linf and L1" in docs/proofs.md.
        """
        if self.unrounded:
            scores = self.floats @ direction
        else:
            scores = self.vectors @ direction.astype(int).astype(object)
        # Groups by falling score; each gives all its records until `number` are taken.
        order = np.argsort(-scores, kind="stable")
        part = np.zeros_like(self.counts)
        part[order] = smallest(self.counts[order], number)
        return part

    @lru_cache(maxsize=16)  # noqa: B019 - lives in the cache of `_contributions` itself
    def outer(self, number: int) -> Indices:
        """Return groups that have the `number` furthest records of every direction.

        The *wide* coordinates are those of many values, W in "Other cases" of docs/proofs.md. Two
        records are comparable if they differ in wide coordinates only. A record is left out if,
        for all signs of these coordinates, at least `number` comparable others are at least as far
        in every one of them.
        """
        ranks = self._ranks
        wide = np.argsort(-ranks.max(axis=0), kind="stable")[:_WIDE]
        wide = wide[ranks[:, wide].max(axis=0) >= _MANY]
        # Groups that agree in all other coordinates are one fibre.
        _, fibre = np.unique(np.delete(ranks, wide, axis=1), axis=0, return_inverse=True)
        matters = np.zeros(len(ranks), dtype=bool)
        for signs in product((1, -1), repeat=len(wide)):
            matters[self._furthest(ranks[:, wide] * signs, fibre.ravel(), number)] = True
        return np.flatnonzero(matters)

    def _furthest(self, seen: Ranks, fibre: Indices, number: int) -> list[int]:
        """Return the groups with fewer than `number` records of their fibre beyond them.

        `seen` are the wide coordinates times signs, shape (g, w). A fibre is a set of comparable
        groups.
        """
        # Groups are visited by the sum of their coordinates, so those beyond a group come before
        # it. If one of these was left out, then enough kept groups are beyond it, and so beyond
        # this group too. So it is enough to compare with kept groups.
        kept: dict[int, Indices] = {}
        for place in np.argsort(-seen.sum(axis=1), kind="stable"):
            rivals = kept.get(fibre[place], np.empty(0, dtype=np.intp))
            beyond = rivals[(seen[rivals] >= seen[place]).all(axis=1)]
            if self.counts[beyond].sum() < number:
                kept[fibre[place]] = np.append(rivals, place)
        return [int(place) for places in kept.values() for place in places]

    @property
    def bytes(self) -> int:
        """How much memory they take, and what makes them."""
        groups, numbers = self.vectors.shape
        shared = self.largest <= Fraction(256, self.unit)  # as small ints are
        number = 0 if shared else 4 * WORD
        by_record = len(self.group) * (11 * WORD + numbers * (2 * WORD + number))
        return int(by_record + groups * (23 * WORD + numbers * (4 * WORD + number)))

    @cached_property
    def _ranks(self) -> Ranks:
        """The contributions by their order in each coordinate, shape (g, d)."""
        columns = [np.unique(column, return_inverse=True)[1] for column in self.vectors.T]
        return np.column_stack(columns)


def contributions_of(
    query: Query, universe: FiniteUniverse, limit: int, size: int | None
) -> Contributions | None:
    """Return what records contribute, each at most `limit` times; None if f is not such a sum.

    A mean is one among datasets of one size, which is None where x and y have two.
    """
    sums = query.sums(universe) if query.by_place(universe) else None
    units = None if sums is None else sums.units_at(size)
    if sums is None or units is None:
        return None
    return _contributions(sums, units, universe, limit)


@lru_cache(maxsize=16)
def _contributions(
    sums: Sums, units: tuple[int, ...], universe: FiniteUniverse, limit: int
) -> Contributions:
    """Return what records contribute; cached by the identity of the sums."""
    unit = math.lcm(*units)
    columns = [one.column for one in sums.linear or ()]
    terms = sums.terms[:, columns] * np.array([unit // own for own in units], dtype=object)
    places: dict[tuple[int, ...], int] = {}
    group = np.array(
        [places.setdefault(tuple(row), len(places)) for row in terms.tolist()], dtype=np.intp
    )
    vectors = np.empty((len(places), terms.shape[1]), dtype=object)
    vectors[:] = list(places)
    counts = np.bincount(group, weights=universe.multiplicities(limit)).astype(np.int64)
    largest = int(abs(vectors).max())
    # Dividing by a power of two changes no comparison, and keeps large numbers in range.
    shift = max(0, largest.bit_length() - 53)
    floats = (vectors / (1 << shift)).astype(np.float64)
    # A direction has coordinates -1, 0 and 1: sums of as many terms are exact below 2**53.
    unrounded = shift == 0 and largest * terms.shape[1] <= 2**53
    return Contributions(
        vectors=vectors,
        floats=floats,
        counts=counts,
        group=group,
        unit=unit,
        largest=float(np.abs(floats).max()),
        unrounded=unrounded,
    )
