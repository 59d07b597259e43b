"""Exact search for variance and standard deviation along the sorted universe.

An optimal pair reads, along the sorted universe, as one of a few patterns over A (only in x),
B (only in y), C (in both) and O (in neither). `remove` and `replace` find the best placement of
these patterns. Floating point decides what its bounds on rounding allow, exact integers the rest.
The proofs are in ``docs/proofs.md``, under the headings "Variance and standard deviation".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial

from sensitivity_lab import _parallel
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.power_sums import of_power_sums
from sensitivity_lab.search.engine import Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import Layout, LayoutSearch, Shape
from sensitivity_lab.search.sorted_records import Ranges, SortedMultiset

from .comparing import Spread
from .float_prefix_sums import SortedRecords
from .remove import best_removal, proved
from .replace import best_replacement

COVERS = "var and std"


class Variance:
    """The engine: exact for variance and standard deviation, unbounded and bounded.

    Notes
    -----
    Time: O(N log n) per change for N records, and O(k log n) for every window whose bound reaches
    the best pair; more if fewer records are kept than replaced. Memory: 8 bytes for every 32 bits
    that some record or square has, for each record (each distinct value beyond 4 million records):
    some 200 bytes for floats. Too many windows or pairs are a `TooLargeError` that says how many.
    """

    name = "variance"
    kind: Kind = "global"
    covers = COVERS
    reach = "bounded, unbounded, symmetric difference up to 2"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and sizes for which no patterns are proved."""
        for query in problem.queries:
            if query.moment != "variance":
                return Refusal.of_query(self.name, self.covers, query.name)
            for relation in problem.neighbors:
                for size, (removed, added) in problem.changes(relation):
                    larger = max(size, size - removed + added)
                    reason = proved(query.root, Fraction(query.ddof), larger, removed, added)
                    if reason:
                        name = f"{query.name}, {relation}"
                        return Refusal(f"{self.name} does not cover {name}: {reason}")
        return Plan(partial(_solve, problem, options.progress))


def _solve(problem: Problem, progress: bool | None) -> Findings:
    search = LayoutSearch(problem)
    return search.findings(
        [_candidates(search.records, *asked, progress) for asked in search.questions]
    )


def _candidates(
    records: SortedMultiset, query: Query, shape: Shape, progress: bool | None
) -> Iterator[tuple[Difference, Layout]]:
    """Yield the layout whose datasets are furthest apart."""
    larger = max(shape.of_x, shape.of_y)
    changed = max(shape.only_x, shape.only_y)
    kernel = best_replacement if shape.only_x == shape.only_y else best_removal
    spread = Spread(Fraction(query.ddof), query.root)
    try:
        with _parallel.counter("pairs", progress) as count:
            best = kernel(_working(records), larger, changed, spread, count=count)
    except OverflowError as error:
        raise TooLargeError(
            f"variance is too long at the largest difference of {query.name} for {larger} of "
            f"{records.size} records and {changed} changed: {error}; choose a smaller size or "
            "distance, or fewer distinct values"
        ) from error
    core, of_a, of_b = (best.ranges(label) for label in "CAB")
    # A removal has either A or B: the records that only the larger dataset has, here x or y.
    if shape.only_x == shape.only_y:
        layout = Layout(core, of_a, of_b)
    elif shape.only_x:
        layout = Layout(core, of_a + of_b, ())
    else:
        layout = Layout(core, (), of_a + of_b)
    of_x = _variance(records, query, core + layout.only_x)
    of_y = _variance(records, query, core + layout.only_y)
    yield Difference(of_x, of_y, query.root), layout


def _variance(records: SortedMultiset, query: Query, ranges: Ranges) -> Fraction:
    """Return the exact variance of the records at some positions."""
    size = sum(stop - start for start, stop in ranges)
    total, squares = records.total_of(ranges), records.total_of(ranges, power=2)
    return of_power_sums(query, size, total, squares, records.unit)


@lru_cache(maxsize=4)
def _working(records: SortedMultiset) -> SortedRecords:
    """Return the records, centred and in the largest unit in which all are whole numbers."""
    # The middle record, not the middle value: of few values, many may be outliers.
    centred = records.values - records.record(records.size // 2)
    unit = math.gcd(*centred.tolist()) or 1
    return SortedRecords(centred // unit if unit > 1 else centred, records.counts.tolist())
