"""Exact smooth search for sum, mean and count: the largest local sensitivity by distance from x.

Under replacement the answers of two neighbors differ by two records alone, and within distance 1
these can be any two records of the universe. Under adding and removing a pair is a core C and C
with one record r more. The sum differs by r; the mean by ``(r - mean of C) / (size of C + 1)``, and
C is best without the largest records of x if r is large. New records in C help only where C cannot
be smaller. See docs/proofs.md, "Smooth sensitivity: sum, mean and count".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import SmoothProblem
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Plan,
    Refusal,
)
from sensitivity_lab.search.layouts import (
    WORD,
    IntegerBytes,
    Positions,
    SortedMultiset,
    bytes_of_int,
    bytes_of_neighbors,
    bytes_of_pairs,
)
from sensitivity_lab.search.rising import rising
from sensitivity_lab.universes.relations import Multiplicities, largest, smallest
from sensitivity_lab.universes.universe import of_numbers

_BLOCK = 512
"""So many distances are handled at a time."""


def plan(problem: SmoothProblem) -> Plan[LocalMaxima] | Refusal:
    """Plan the search for a sum, a mean or a count; refuse steps of either kind."""
    if not (problem.replace or problem.add_or_remove):
        return Refusal(
            "monotone covers relations that replace records, or that add and remove them, "
            f"not {problem.step.family}, of which a step can be either"
        )
    search = _replacing if problem.replace else _adding_and_removing
    return Plan(partial(search, problem), Cost(_bytes_of_sums(problem)))


def _bytes_of_sums(problem: SmoothProblem) -> int:
    """Return what the search needs."""
    if problem.replace:
        return bytes_of_neighbors(problem)
    # Two sides with the records of x and those outside it: places, and sums, for means.
    integers = IntegerBytes.of(problem.universe)
    sums = (
        bytes_of_int(integers.bits + problem.size.bit_length())
        if problem.query.moment == "mean"
        else 0
    )
    each = 2 * integers.kept + 10 * WORD + 4 * sums + max(integers.kept, sums)
    numbers = bytes_of_int(integers.bits + 2 * problem.size.bit_length())
    block = min(_BLOCK, 2 * problem.size) * 12 * (4 * numbers + 20 * WORD)
    return max(integers.peak, each) * len(problem.x) + block + bytes_of_pairs(problem)


def _replacing(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maxima where neighbors have one record replaced."""
    query, (integers, unit), x = problem.query, of_numbers(problem.universe).integers, problem.x
    outside = problem.universe.multiplicities(problem.size + 1) - x
    weight = {"count": Fraction(0), "sum": Fraction(1), "mean": Fraction(1, problem.size)}[
        query.moment or ""
    ]

    def gap(low: int, high: int) -> Difference:
        return Difference(weight * Fraction(integers[high] - integers[low], unit), Fraction(0))

    def found() -> Iterator[LocalMaximumAtDistance]:
        (x_low, x_high), (new_low, new_high) = _ends_of_sums(x), _ends_of_sums(outside)
        # A record of x and one outside it, in both orders.
        of_x = [(gap(x_low, new_high), x_low, new_high), (gap(new_low, x_high), x_high, new_low)]
        best, gone, added = max(of_x, key=itemgetter(0))
        yield LocalMaximumAtDistance(0, best, lambda: (x, x - _one(x, gone) + _one(x, added)))
        # Both are in x, or both are outside it; otherwise the largest gap was found at x.
        low, high = 0, len(integers) - 1
        low_one, high_one = _one(x, low), _one(x, high)
        # z and y are the core with one of two records. If x has both, they leave it and a new
        # record comes; if both are new, either takes the place of the smallest record of x.
        if x[low] and x[high]:
            core = x - low_one - high_one + _one(x, new_low)
        else:
            core = x - _one(x, x_low)
        yield LocalMaximumAtDistance(1, gap(low, high), lambda: (core + high_one, core + low_one))

    return rising(problem, found(), gap(0, len(integers) - 1))


def _ends_of_sums(records: Multiplicities) -> tuple[int, int]:
    """Return the places of the smallest and the largest record."""
    places = np.flatnonzero(records)
    return int(places[0]), int(places[-1])


def _one(like: Multiplicities, place: int) -> Multiplicities:
    """Return the dataset of one record."""
    record = np.zeros_like(like)
    record[place] = 1
    return record


def _adding_and_removing(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maxima where neighbors have one record more, or less."""
    integers, unit = of_numbers(problem.universe).integers
    lowest = int(problem.limits[0])
    bounds = {
        "count": Fraction(1),
        "sum": Fraction(max(abs(integers[0]), abs(integers[-1])), unit),
        "mean": Fraction(integers[-1] - integers[0], unit * (lowest + 1)),
    }
    bound = Difference(bounds[problem.query.moment or ""], Fraction(0))
    return rising(problem, _furthest_by_distance(problem), bound)


class _Core(NamedTuple):
    """x less `removed` records at one end plus `added` ones at the other: C, with a record r apart.

    `above` and `below` are how much the answer changes by r, as a quotient.
    """

    above: int
    below: int
    removed: int
    added: int
    of_x: bool
    upward: bool


def _furthest_by_distance(problem: SmoothProblem) -> Iterator[LocalMaximumAtDistance | None]:
    """Yield for each distance the z with the largest local sensitivity, None if there is no z."""
    # No core that is needed has more than a record more than x.
    x, outside = problem.x, problem.universe.multiplicities(problem.size + 2) - problem.x
    sides = [_Side.of(problem, outside, upward=upward) for upward in (True, False)]
    # Where records are added, C has the smallest size or one more: so many at the most.
    last = problem.size + min(int(outside.sum()), int(problem.limits[0]) + 1)
    for start in range(0, last + 1, _BLOCK):
        distances = np.arange(start, min(start + _BLOCK, last + 1))
        rows = [list(side.cores(distances, of_x=of_x)) for side in sides for of_x in (True, False)]
        for place, distance in enumerate(distances.tolist()):
            best: _Core | None = None
            for core in (row[place] for family in rows for row in family):
                if core is not None and (
                    best is None or core.above * best.below > best.above * core.below
                ):
                    best = core
            if best is None:
                yield None
                continue
            gap = Difference(Fraction(best.above, best.below), Fraction(0))
            yield LocalMaximumAtDistance(distance, gap, partial(_z_and_y, x, outside, best))


@dataclass(frozen=True, eq=False)
class _Side:
    """The search for pairs in which r raises the answer, or where all records are times -1.

    Parameters
    ----------
    inside, outside : SortedMultiset
        The records of x, and the others of the universe, ascending.
    """

    problem: SmoothProblem
    inside: SortedMultiset
    outside: SortedMultiset
    upward: bool

    @classmethod
    def of(cls, problem: SmoothProblem, outside: Multiplicities, *, upward: bool) -> _Side:
        values, unit = of_numbers(problem.universe).integers
        x = problem.x
        if not upward:
            values, x, outside = -values[::-1], x[::-1], outside[::-1]
        inside = SortedMultiset(values, x, unit)
        return cls(problem, inside, SortedMultiset(values, outside, unit), upward)

    def cores(self, distances: Positions, *, of_x: bool) -> Iterator[list[_Core | None]]:
        """Yield, for three ways to choose the numbers, the best core at each distance.

        `of_x` is whether r is a record of x. Then z is C + r, which is nearer to x than C.
        """
        lowest = int(self.problem.limits[0])
        # If r is of x, then C + r is a step nearer than C: so C may have a change more.
        changed = distances + of_x
        yield self._cores(changed, np.zeros_like(changed), of_x=of_x)
        for size in (lowest, lowest + 1):
            # removed + added = changed, and the size of the core is given.
            removed, odd = np.divmod(changed + self.problem.size - size, 2)
            added = np.where(odd == 0, changed - removed, -1)
            yield self._cores(removed, added, of_x=of_x)

    def _cores(self, removed: Positions, added: Positions, *, of_x: bool) -> list[_Core | None]:
        size, (lowest, highest) = self.problem.size, self.problem.limits
        core = size - removed + added
        # C and C + r both have allowed sizes; an r of x is among those removed, a new r is left
        # outside.
        fits = (removed >= of_x) & (removed <= size) & (added >= 0) & (core >= lowest)
        fits &= (core < highest) & (added <= self.outside.size - (not of_x))
        found: list[_Core | None] = [None] * len(removed)
        places = np.flatnonzero(fits)
        if not len(places):
            return found
        removed, added, core = removed[places], added[places], core[places]
        records = self.inside if of_x else self.outside
        r = records.record(records.size - 1)
        unit, moment = self.inside.unit, self.problem.query.moment
        if moment == "mean":
            sums = self.inside.total(size - removed) + self.outside.total(added)
            # (r - S / c) / (c + 1) = (r c - S) / (c (c + 1)), with S the sum of C.
            above = (r * core.astype(object) - sums).tolist()
            below = (core * (core + 1).astype(object) * unit).tolist()
        else:
            above = [r if moment == "sum" else 1] * len(places)
            below = [unit if moment == "sum" else 1] * len(places)
        told = (places.tolist(), above, below, removed.tolist(), added.tolist())
        for place, more, by, gone, new in zip(*told, strict=True):
            found[place] = _Core(more, by, gone, new, of_x, self.upward)
        return found


def _z_and_y(
    x: Multiplicities, outside: Multiplicities, core: _Core
) -> tuple[Multiplicities, Multiplicities]:
    """Return z and y: with r and without it if r is a record of x, else without it and with it."""
    lowest, highest = (smallest, largest) if core.upward else (largest, smallest)
    without = x - highest(x, core.removed) + lowest(outside, core.added)
    one = highest(x if core.of_x else outside, 1)
    return (without + one, without) if core.of_x else (without, without + one)
