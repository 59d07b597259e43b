"""Exact search for weighted sums by rank that never fall when a record rises.

Two candidates per change, one for each sign; `crossing.py` says where their records lie, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.crossing import Crossing, Gaps, solve_by_gaps
from sensitivity_lab.search.engine import Cost, Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import (
    WORD,
    IntegerBytes,
    Layout,
    Positions,
    Shapes,
    SortedMultiset,
    bytes_of_int,
    bytes_of_records,
    bytes_of_shapes,
)
from sensitivity_lab.universes.relations import Relation

COVERS = (
    "sum, mean, count, median, percentile, min, max and other weighted sums by rank that never fall"
)

_PIECES = 1 << 14
"""About so many pieces of the universe are weighed at a time."""


class Monotone:
    """The engine: exact for weighted sums by rank whose net weights cross once.

    Notes
    -----
    Two candidates per change, each O(w log w + w log m) time for m distinct values and w runs of
    ranks of one weight (one for sums and trimmed means, two for quantiles), and a pass over the
    values unless all runs are single ranks. Memory: some 30 bytes per distinct value (80 with
    prefix sums), and 500 per change.

    Other L-statistics are covered if no weight is negative and negative net weights precede
    positive ones: midranges if records are only added or only removed, winsorized means of some
    sizes.
    """

    name = "monotone"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries that can fall, and net weights that cross back."""
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        for query in problem.queries:
            if query.crosses_once:
                continue
            if query.runs(np.array(problem.sizes[:1], dtype=np.int64)) is None:
                return Refusal.of_query(self.name, COVERS, query.name)
            uncovered = _first_uncovered(problem, query)
            if uncovered is not None:
                return Refusal(
                    f"{self.name} does not cover {query.name}, {uncovered}: its net weights do not "
                    "go from negative to positive"
                )
        cost = Cost(_bytes(problem), lists_pairs=False)
        return Plan(partial(solve_by_gaps, problem, _gaps), cost)


def _first_uncovered(problem: Problem, query: Query) -> Relation | None:
    """Return a relation with a negative weight, or with net weights that are not in order."""
    runs = query.runs(np.array(problem.sizes[:1], dtype=np.int64))
    if runs is not None and (runs.weights < 0).any():
        return problem.neighbors[0]  # seen at one size, without the net weights of every change
    for family in problem.families:
        for steps in family.steps:
            changes = steps.size - steps.removed, steps.removed, steps.added
            for here, pairs in _weighed(query, *changes):
                uncovered = np.flatnonzero(~pairs.crosses | pairs.has_negative_weights)
                if len(uncovered):
                    place = here.start + uncovered[0] % (here.stop - here.start)
                    allow = (steps.starts <= place) & (place < steps.stops)
                    return family.relations[int(np.argmax(allow))]
    return None


def _weighed(
    query: Query, core: Positions, only_x: Positions, only_y: Positions
) -> Iterator[tuple[slice, Crossing]]:
    """Yield blocks of pairs with what their records count, and where each block is.

    The columns of a block are f(x) - f(y) and then f(y) - f(x), with x and y exchanged. Where
    |A| = |B| both are the same, and stand there once.
    """
    size = core + np.maximum(only_x, only_y)
    block = _block(query, int(size.max()))
    for start in range(0, len(core), block):
        here = slice(start, min(start + block, len(core)))
        parts = [some[here] for some in (core, only_x, only_y)]
        if (parts[1] != parts[2]).any():
            order = ((0, 0), (1, 2), (2, 1))
            parts = [np.concatenate([parts[one], parts[other]]) for one, other in order]
        yield here, Crossing.of(query, *parts)


def _gaps(records: SortedMultiset, query: Query, shapes: Shapes) -> Gaps:
    """Return the largest differences: of f(x) - f(y), or of f(y) - f(x)."""
    found = []
    for here, pairs in _weighed(query, shapes.core, shapes.only_x, shapes.only_y):
        size = here.stop - here.start
        above, below = pairs.above(records, shapes.total), pairs.below[:size].astype(object)
        # The first columns are f(x) - f(y), the last ones f(y) - f(x); where |A| = |B| both are the
        # same.
        signs = slice(None, size), slice(-size, None)
        of_signs = [part[sign] for part in (above, pairs.split) for sign in signs]
        found.append((*of_signs, below * records.unit))
    forth, back, *splits, below = map(np.concatenate, zip(*found, strict=True))

    def layout(place: int, mirrored: int) -> Layout:
        shape, low = shapes[place], int(splits[mirrored][place])
        of_top, of_bottom = shape.only_x, shape.only_y
        if mirrored:
            of_top, of_bottom = of_bottom, of_top
        last = shape.total - of_top
        core = ((of_bottom, of_bottom + low), (last - (shape.core - low), last))
        top, bottom = ((last, shape.total),), ((0, of_bottom),)
        return Layout(core, bottom, top) if mirrored else Layout(core, top, bottom)

    return Gaps.better((forth, back), below, layout)


def _block(query: Query, largest: int) -> int:
    """Return how many pairs are weighed at a time: by the pieces of each, in the core, A and B."""
    return max(1, _PIECES // (6 * query.most_runs(largest)))


def _bytes(problem: Problem) -> int:
    """Return what the search needs: the sorted universe, perhaps with sums, runs and shapes."""
    integers, largest = IntegerBytes.of(problem.universe), problem.largest
    each = bytes_of_int(max(integers.bits, integers.below) + 3 * largest.bit_length() + 32)
    shapes = sum(len(steps.removed) for steps in problem.steps)
    passing, sums = 0, False
    for query in problem.queries:
        sums = sums or not query.crosses_once or _adds_up_records(problem, query)
        # A weight by rank is an exact fraction, and those of 64 sizes are kept.
        listed = 64 * 26 * WORD * query.most_runs(largest)
        pairs = min(2 * shapes, 2 * _block(query, largest))
        # Of a piece its ends, as ranks and as positions, weights and their order, and a sum.
        pieces = 6 * query.most_runs(largest) * pairs * (16 * WORD + each)
        passing = max(passing, listed + pieces + shapes * (6 * each + 12 * WORD))
    # Of one query at a time the gaps in both directions, and of every query where they split.
    kept = bytes_of_shapes(problem) + shapes * (4 * each + 4 * WORD * len(problem.queries))
    return bytes_of_records(problem, sums=sums) + kept + passing


def _adds_up_records(problem: Problem, query: Query) -> bool:
    """Tell whether several ranks in a row have one net weight, so that sums of records are needed.

    In a sum, and in a mean whose size stays, records that are kept do not count.
    """
    if query.moment not in ("sum", "mean"):
        return any(stop > start + 1 for start, stop, _ in query.runs_of(problem.largest)[0])
    return any(
        (steps.removed > 1).any()
        or (steps.added > 1).any()
        or (query.moment == "mean" and (steps.removed != steps.added).any())
        for steps in problem.steps
    )
