"""Exact search for variance and standard deviation along the sorted universe.

An optimal pair reads, along the sorted universe, as one of a few words over A, B, C and O
(outside both); `removing` and `replacing` find every word that floating point cannot tell from the
best, and exact integers decide among those. The proofs are in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sensitivity_lab.arithmetic import Difference
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query

from .engine import Finding, Options, Refusal
from .layout import Layout, Ranges, Shape, SortedUniverse, solve_by_layouts
from .removing import proved, remove_words
from .replacing import replace_words
from .sorted_records import SortedRecords
from .word_search import Words


class Moments:
    """The engine: exact for variance and standard deviation, unbounded and bounded.

    Notes
    -----
    Time: O(N log n) per change for N records, and O(k log n) for every window whose bound reaches
    the best pair. Memory: about 50 bytes per distinct value or record, whichever is fewer.
    """

    name = "moments"

    def refusal(self, problem: Problem, options: Options) -> Refusal | None:
        """Refuse other queries, and sizes for which the words are not proved."""
        for query in problem.queries:
            if query.moment != "variance":
                return Refusal(f"moments covers var and std, not {query.name}")
            for relation in problem.neighbors:
                for size, (removed, added) in problem.changes(relation):
                    larger = max(size, size - removed + added)
                    reason = proved(query.root, float(query.ddof), larger, removed, added)
                    if reason:
                        return Refusal(f"moments does not cover {query.name}, {relation}: {reason}")
        return None

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
        return solve_by_layouts(problem, _candidates)


def _candidates(
    records: SortedUniverse, query: Query, shape: Shape
) -> Iterator[tuple[Difference, Layout]]:
    """Yield every layout that floating point cannot tell from the one furthest apart."""
    for words in _words(_working(records), query, shape):
        for place in range(len(words.bounds)):
            core, of_a, of_b = (tuple(words.ranges(place, label)) for label in "CAB")
            if shape.only_x == shape.only_y:
                layout = Layout(core, of_a, of_b)
            elif shape.only_x:
                layout = Layout(core, of_a + of_b, ())
            else:
                layout = Layout(core, (), of_a + of_b)
            of_x = _variance(records, query, core + layout.only_x)
            of_y = _variance(records, query, core + layout.only_y)
            yield Difference(of_x, of_y, query.root), layout


def _words(records: SortedRecords, query: Query, shape: Shape) -> list[Words]:
    """Return the words for a shape; those for removing serve for adding, seen from y."""
    larger = max(shape.of_x, shape.of_y)
    changed = max(shape.only_x, shape.only_y)
    kernel = replace_words if shape.only_x == shape.only_y else remove_words
    try:
        return kernel(records, larger, changed, root=query.root, ddof=float(query.ddof))
    except OverflowError as error:
        raise TooLargeError(
            f"moments finds too many pairs that come close to the largest difference of "
            f"{query.name} for {larger} of {records.size} records and {changed} changed: {error}; "
            "choose a smaller size or distance"
        ) from error


def _variance(records: SortedUniverse, query: Query, ranges: Ranges) -> Fraction:
    """Return the exact variance of the records at some positions."""
    size = sum(stop - start for start, stop in ranges)
    total, squares = records.total_of(ranges), records.total_of(ranges, power=2)
    _, unit = records.universe.integers
    free = size - Fraction(query.ddof)
    deviations = size * squares - total * total
    return Fraction(deviations * free.denominator, size * unit**2 * free.numerator)


@lru_cache(maxsize=4)
def _working(records: SortedUniverse) -> SortedRecords:
    """Return the records, centred and in floating point, for the kernels."""
    integers, _ = records.universe.integers
    centred = integers - integers[len(integers) // 2]
    bits = int(abs(centred).max()).bit_length()
    if bits <= 62:
        # The wide type of the kernels holds these, or rounds them as it says.
        return SortedRecords(centred.astype(np.int64), records.counts)
    # Scaling by a power of two changes no comparison.
    return SortedRecords((centred / (1 << bits)).astype(np.float64), records.counts, 2.0**-53)
