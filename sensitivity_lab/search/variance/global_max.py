"""Exact search for variance and standard deviation along the sorted universe.

An optimal pair reads, along the sorted universe, as one of a few patterns over A (only in x),
B (only in y), C (in both) and O (in neither). Branch and bound finds the best placement of nearly
all; `words` has the others. Floating point leaves out what its bounds on rounding allow,
exact integers decide the rest. The proofs are in ``docs/proofs.md``, under the headings "Variance
and standard deviation".

`bytes_of` has the memory that this takes, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Cost, Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import (
    CALL,
    REAL,
    WORD,
    IntegerBytes,
    LaidOut,
    Layout,
    LayoutSearch,
    Ranges,
    Shape,
    SortedMultiset,
    bytes_of_pairs,
    most_copies,
    takes_arrays,
)
from sensitivity_lab.search.sizes import settled
from sensitivity_lab.universes.relations import Family, Steps
from sensitivity_lab.universes.universe import of_numbers

from .branch import AT_ONCE as NODES
from .comparing import Sets, Spread
from .curve import CurveFamily, TooLongError, any_pair, family_of
from .float_prefix_sums import AT_ONCE, EXPANDED, WIDTHS, SortedRecords, limb_width
from .patterns import CHUNK, Placement

COVERS = "var and std"


class Variance:
    """The engine: exact for variance and standard deviation, records removed, added, replaced.

    Notes
    -----
    Time: O(N) and some 100 bounds of O(log N) steps per change, for all changes at once. Changes
    that may make the smaller dataset more spread take O(N log n) each; others take more if fewer
    records are kept than replaced.

    Memory per record (from 4 million records on, per distinct value): 8 bytes for every 32 bits of
    the longest record or square, and some 100 more, so about 200 bytes for floats. Too many windows
    or pairs raise a `TooLargeError` that says how many.
    """

    name = "variance"
    kind: Kind = "global"
    covers = COVERS
    reach = "every change; for the root of mixed ones, if some pair reaches a bound"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and sizes for which no patterns are proved."""
        for query in problem.queries:
            if query.moment != "variance":
                return Refusal.of_query(self.name, self.covers, query.name)
            for family in problem.families:
                for steps in family.steps:
                    reason = _undefined(query, steps)
                    if reason:
                        return self._refusal(query, family, reason)
        cost = Cost(bytes_of(problem), lists_pairs=False)
        if cost.bytes <= options.memory_limit:
            for query, family in product(problem.queries, problem.families):
                reason = _unproved(problem, query, family) if query.root else None
                if reason:
                    return self._refusal(query, family, reason)
        found = settled(problem)
        if found is not None:
            return Plan(lambda: found, Cost(bytes_of_pairs(problem)))  # nothing is left to search
        return Plan(partial(_solve, problem, options.progress), cost)

    def _refusal(self, query: Query, family: Family, reason: str) -> Refusal:
        name = f"{query.name}, {family.relations[0]}"
        return Refusal(f"{self.name} does not cover {name}: {reason}")


def _undefined(query: Query, steps: Steps) -> str | None:
    """Return why a query has no answer for a dataset of some change; None if it has."""
    ddof = Fraction(query.ddof)
    smaller = steps.size + np.minimum(steps.added - steps.removed, 0)
    for size in smaller[smaller <= math.floor(ddof)].tolist():
        return f"the variance of {size} records with ddof {float(ddof):g} is undefined"
    return None


def _unproved(problem: Problem, query: Query, family: Family) -> str | None:
    """Return why no patterns are proved for a root and some change; None if all are."""
    if not any(_mixed(steps).any() for steps in family.steps):
        return None
    records = LayoutSearch(problem).records
    try:
        found = _family(records, problem.queries, _shapes(family, records.size))
        shape = found.unproved(problem.queries.index(query))
    except OverflowError:
        return None  # the search says so
    if shape is None:
        return None
    return (
        f"not proved for {shape.only_y} record{'s' * (shape.only_y > 1)} of one dataset and "
        f"{shape.only_x} of the other, where the smaller dataset may have the larger standard "
        "deviation; ask for var, or choose a smaller universe, which can be enumerated"
    )


def _mixed(steps: Steps) -> NDArray[np.bool_]:
    """Which changes remove some records and add another number of them."""
    mixed: NDArray[np.bool_] = (
        (steps.removed > 0) & (steps.added > 0) & (steps.removed != steps.added)
    )
    return mixed


def _solve(problem: Problem, progress: bool | None) -> Findings:
    """Return the findings."""
    search = LayoutSearch(problem)
    best: dict[tuple[Query, Shape], tuple[Difference, Layout]] = {}
    for family in problem.families:
        shapes = _shapes(family, search.records.size)
        found = _solved(search.records, problem.queries, shapes, progress)
        for query, pairs in zip(problem.queries, found, strict=True):
            for shape, pair in zip(shapes[0], pairs, strict=True):
                # Of a shape of two families, one may know a better pair than the other asked for.
                one = best.get((query, shape))
                best[query, shape] = max(pair, one, key=itemgetter(0)) if one else pair
    return [
        [LaidOut(search.records, layout, gap) for gap, layout in of_query]
        for of_query in search.by_relation(best)
    ]


Leveled = tuple[tuple[Shape, ...], tuple[int, ...] | None]


def _shapes(family: Family, total: int) -> Leveled:
    """Return the shapes of relations that differ in k only, and their levels.

    The level of a shape is how many of the relations do not have it: those of the smallest
    distances. Under "exactly" every shape is asked for by itself, and there are no levels.
    """
    found = [
        (int((steps.stops <= place).sum()), Shape(steps.size - removed, removed, added, total))
        for steps in family.steps
        for place, (removed, added) in enumerate(
            zip(steps.removed.tolist(), steps.added.tolist(), strict=True)
        )
    ]
    exactly = family.relations[0].exactly
    if not exactly:
        found.sort(key=lambda of: (of[0], of[1].only_x + of[1].only_y))
    levels, shapes = zip(*found, strict=True)
    return shapes, None if exactly else levels


def _family(records: SortedMultiset, queries: Sequence[Query], shapes: Leveled) -> CurveFamily:
    """Return what is known about the shapes before their search."""
    turned = tuple(map(_larger_first, shapes[0]))
    return family_of(working_records(records), turned, tuple(map(_spread, queries)), shapes[1])


def _spread(query: Query) -> Spread:
    return Spread(Fraction(query.ddof), query.root)


def _solved(
    records: SortedMultiset, queries: Sequence[Query], shapes: Leveled, progress: bool | None
) -> list[list[tuple[Difference, Layout]]]:
    """Return a pair of every shape for every query: the best one, unless an earlier one is.

    Where no pair of a shape is further apart than the best of its and lower levels, it is any pair.
    """
    long, name = _larger_first(shapes[0][0]), queries[0].name
    number = len(shapes[0]) * len(queries)
    # A progress bar counts changes; of a single one, the pairs, and nobody knows how many.
    unit, total = ("changes", number) if number > 1 else ("pairs", None)
    try:
        with running.counter(unit, progress, total) as done:
            of = {"done": done} if number > 1 else {"count": done}
            found = _family(records, queries, shapes).solve(**of)
    except OverflowError as error:
        if isinstance(error, TooLongError):
            long, name = error.shape, queries[[*map(_spread, queries)].index(error.spread)].name
        raise TooLargeError(
            f"variance is too long at the largest difference of {name} for {long.of_x} of "
            f"{records.size} records and {long.only_x} changed: {error}; choose a smaller size "
            "or distance, or fewer distinct values"
        ) from error
    finally:
        family_of.cache_clear()  # of many records it is large
    return [
        [
            _pair(records, query, shape, place or any_pair(_larger_first(shape)))
            for shape, place in zip(shapes[0], places, strict=True)
        ]
        for query, places in zip(queries, found, strict=True)
    ]


def _larger_first(shape: Shape) -> Shape:
    """Return a shape, or the shape with x and y exchanged: one in which x is not smaller."""
    return shape if shape.only_x >= shape.only_y else shape.turned


def _pair(
    records: SortedMultiset, query: Query, shape: Shape, best: Placement
) -> tuple[Difference, Layout]:
    """Return the layout of a placement, and how far its datasets are apart."""
    core, of_a, of_b = (best.ranges(label) for label in "CAB")
    # A is in the dataset that is more spread: in x, if it has as many records as only x has.
    turned = sum(stop - start for start, stop in of_a) != shape.only_x
    layout = Layout(core, of_b, of_a) if turned else Layout(core, of_a, of_b)
    sides = (core + layout.only_x, core + layout.only_y)
    of_x, of_y = (_variance(records, query, ranges) for ranges in sides)
    return Difference(of_x, of_y, query.root), layout


def _variance(records: SortedMultiset, query: Query, ranges: Ranges) -> Fraction:
    """Return the exact variance of the records at some positions."""
    working = working_records(records)
    starts, stops = np.array(ranges).T
    sums, squares = (
        (of(stops) - of(starts)).sum(axis=0) for of in (working.total, working.squares)
    )
    data = Sets(int((stops - starts).sum()), sums, squares)
    return _spread(query).variance(working, data) * Fraction(working.unit, records.unit) ** 2


class _Centred:
    """The distinct values of records less the middle record, in a unit; made some at a time.

    The middle record, not the middle value: of few values, many may be outliers.
    """

    def __init__(self, records: SortedMultiset) -> None:
        self._records = records
        self._middle = records.record(records.size // 2)
        self.unit = 1  # until the largest one is found in which all are whole numbers
        unit, start = 0, 0
        while unit != 1 and start < len(self):
            unit = math.gcd(unit, *self[start : start + AT_ONCE].tolist())
            start += AT_ONCE
        self.unit = unit or 1

    def __len__(self) -> int:
        return len(self._records.counts)

    def __getitem__(self, some: slice) -> Integers:
        centred: Integers = self._records.some_values(some) - self._middle
        return centred // self.unit if self.unit > 1 else centred


@lru_cache(maxsize=1)
def working_records(records: SortedMultiset) -> SortedRecords:
    """Return the records, centred and in the largest unit in which all are whole numbers."""
    centred = _Centred(records)
    return SortedRecords(centred, records.counts, centred.unit)


def bytes_of(problem: Problem) -> int:
    """Return what the search needs.

    The sorted universe with its sums in limbs, and as floats; the nodes, or placements, that are
    looked at at a time.
    """
    counts = problem.universe.multiplicities(most_copies(problem))
    values, records = len(counts), int(counts.sum())
    integers = IntegerBytes.of(problem.universe)
    compact = records > max(EXPANDED, values)
    width = limb_width(records) or WIDTHS[-1]
    # A square of a centered value has twice the bits; a sign takes one.
    limbs = (integers.spread + 1) // width + (2 * integers.spread + 1) // width + 2
    held = 2 * values if compact else records
    sums = WORD * limbs * held
    places = values * (4 * WORD + 2 * REAL)
    if not takes_arrays(of_numbers(problem.universe), most_copies(problem)):
        places += values * integers.kept
    if values < records and not compact:
        places += 2 * WORD * records
    made = CALL + min(AT_ONCE, values) * (12 * WORD + 8 * (WORD + integers.spread // 4))
    changes = [len(steps.removed) for steps in problem.steps]
    queries = len(problem.queries)
    row = WORD * limbs
    both = [(steps, (steps.removed > 0) & (steps.added > 0)) for steps in problem.steps]
    passing = min(CHUNK, records) * (3 * row + 16 * REAL)
    # Where B outnumbers C, a row for every place of C, with what is outside it.
    parted = [
        (records - 2 * kept)[some & (kept < np.maximum(steps.removed, steps.added))] + 1
        for steps, some in both
        for kept in [steps.size - steps.removed]
    ]
    passing += int(np.concatenate(parted).max(initial=0)) * (6 * row + 40 * REAL)
    nodes = min(NODES, max(2 * records, 14 * max(changes)))
    passing = max(passing, nodes * 40 * REAL)
    # Where y is nearly all records, every split of two ends is looked at.
    ends = [
        np.maximum(steps.size, steps.size - steps.removed + steps.added)[some]
        + np.minimum(steps.removed, steps.added)[some]
        for steps, some in both
    ]
    if int(np.concatenate(ends).max(initial=0)) >= records:
        passing = max(passing, 16 * REAL * records)
    # Sums as floats, by position or by value, and what is there while they are made.
    passing = held * 3 * REAL + max(3 * WORD * held, passing)
    found = sum(changes) * queries * 1500 + len(problem.neighbors) * queries * 500
    return int(sums + places + max(made, passing + found))
