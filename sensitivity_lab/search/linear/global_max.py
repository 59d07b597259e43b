"""Exact search for sum, mean and count: each record counts by itself, so rearrangement decides.

``f(x) - f(y)`` is a sum over the records of the universe of a coefficient that depends only on
where a record is: in A, B, C or outside. By the rearrangement inequality it is largest when the
records in ascending order get the coefficients in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from operator import itemgetter

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import Layout, LayoutSearch, Shape
from sensitivity_lab.search.sorted_records import Ranges, SortedMultiset

COVERS = "sum, mean and count"


class Linear:
    """The engine: exact for sum, mean and count under every relation.

    Notes
    -----
    Two candidates per change. Time and memory: one pass over the distinct values for their prefix
    sums, then O(log m) per change.
    """

    name = "linear"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries that are not linear in the records."""
        refused = refusal(problem)
        return Plan(partial(_solve, problem)) if refused is None else refused


def refusal(problem: Problem | LocalProblem) -> Refusal | None:
    """Return why a problem is not one of sums, means and counts of numbers; None if it is."""
    if not problem.universe.numeric:
        return Refusal("linear covers numbers, not rows")
    for query in problem.queries:
        if query.moment not in ("count", "sum", "mean"):
            return Refusal.of_query("linear", COVERS, query.name)
    return None


def _solve(problem: Problem) -> Findings:
    search = LayoutSearch(problem)
    return search.findings([_candidates(search.records, *asked) for asked in search.questions])


def _candidates(
    records: SortedMultiset, query: Query, shape: Shape
) -> Iterator[tuple[Difference, Layout]]:
    """Yield the layout where f(x) - f(y) is largest, and the one where f(y) - f(x) is."""
    weight_x, weight_y, below = _weights(query, shape)
    unit = below * records.unit
    for sign in (1, -1):
        layout = _arrange(shape, sign * weight_x, sign * weight_y)
        if query.moment == "count":
            yield Difference(Fraction(shape.of_x), Fraction(shape.of_y)), layout
            continue
        core = records.total_of(layout.core) if weight_x != weight_y else 0
        of_x = weight_x * (core + records.total_of(layout.only_x))
        of_y = weight_y * (core + records.total_of(layout.only_y))
        yield Difference(Fraction(of_x, unit), Fraction(of_y, unit)), layout


def _weights(query: Query, shape: Shape) -> tuple[int, int, int]:
    """Return what a record counts in the answers on x and on y, and by what to divide both."""
    if query.moment == "mean":
        return shape.of_y, shape.of_x, shape.of_x * shape.of_y
    return (1, 1, 1) if query.moment == "sum" else (0, 0, 1)


def _arrange(shape: Shape, weight_x: int, weight_y: int) -> Layout:
    """Give the parts places in the order of their coefficients in f(x) - f(y)."""
    outside = shape.total - shape.core - shape.only_x - shape.only_y
    parts = (
        (weight_x - weight_y, "core", shape.core),
        (weight_x, "only_x", shape.only_x),
        (-weight_y, "only_y", shape.only_y),
        (0, "outside", outside),
    )
    places: dict[str, Ranges] = {}
    start = 0
    for _, part, length in sorted(parts, key=itemgetter(0)):
        places[part] = ((start, start + length),)
        start += length
    return Layout(places["core"], places["only_x"], places["only_y"])
