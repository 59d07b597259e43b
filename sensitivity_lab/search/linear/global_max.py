"""Exact search for sum, mean and count: each record counts by itself, so rearrangement decides.

``f(x) - f(y)`` is a sum over the records of the universe of a coefficient that depends only on
where a record is: in A, B, C or outside. By the rearrangement inequality it is largest when the
records in ascending order get the coefficients in ascending order.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter

import numpy as np

from sensitivity_lab.problem import Kind, LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Cost, Findings, Options, Plan, Refusal
from sensitivity_lab.search.gaps import Gaps, solve_by_gaps
from sensitivity_lab.search.layouts import Layout, Shape, Shapes
from sensitivity_lab.search.memory import IntegerBytes, of_records, of_shapes
from sensitivity_lab.search.sorted_records import Ranges, SortedMultiset

COVERS = "sum, mean and count"


class Linear:
    """The engine: exact for sum, mean and count under every relation.

    Notes
    -----
    Two candidates per change. Time and memory: one pass over the distinct values for their prefix
    sums, some 80 bytes each, then O(log m) per change, some 500 bytes; the relations of a family
    share their changes.
    """

    name = "linear"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries that are not linear in the records."""
        refused = refusal(problem)
        if refused is not None:
            return refused
        return Plan(
            partial(solve_by_gaps, problem, _gaps), Cost(_bytes(problem), lists_pairs=False)
        )


def _bytes(problem: Problem) -> int:
    """Return what the search needs: the sorted universe with its sums, and the shapes."""
    sums = any(query.moment != "count" for query in problem.queries)
    integers, sizes = IntegerBytes.of(problem.universe), 2 * problem.largest.bit_length()
    bits = max(integers.bits, integers.below) + sizes + problem.largest.bit_length()
    return of_records(problem, sums=sums) + of_shapes(problem, 2, 10, bits)


def refusal(problem: Problem | LocalProblem | SmoothProblem) -> Refusal | None:
    """Return why a problem is not one of sums, means and counts of numbers; None if it is."""
    if not problem.universe.numeric:
        return Refusal("linear covers numbers, not rows", of_kind=True)
    for query in problem.queries:
        if query.moment not in ("count", "sum", "mean"):
            return Refusal.of_query("linear", COVERS, query.name)
    return None


def _gaps(records: SortedMultiset, query: Query, shapes: Shapes) -> Gaps:
    """Return the largest differences: of f(x) - f(y), or of f(y) - f(x)."""
    below = np.ones(len(shapes), dtype=object)
    if query.moment == "count":
        gaps = (shapes.of_x - shapes.of_y).astype(object)
        return Gaps.better((gaps, gaps), below, partial(_layout, query, shapes))
    weight_x, weight_y = below, below
    if query.moment == "mean":
        weight_x, weight_y = shapes.of_y.astype(object), shapes.of_x.astype(object)
        below = weight_x * weight_y
    every = records.total(shapes.total)
    # What is last in ascending order of the coefficients, and what is first.
    parts = ((shapes.only_x, shapes.only_y), (shapes.only_y, shapes.only_x))
    gaps_by_sign = []
    for sign, (last, first) in zip((1, -1), parts, strict=True):
        lowest = records.total(first)
        highest = every - records.total(shapes.total - last)
        of_x, of_y = (highest, lowest) if sign == 1 else (lowest, highest)
        gap = weight_x * of_x - weight_y * of_y
        # Of as many records in x as in y, a shared one counts nothing. Else the core is next to
        # the part whose coefficient is closer to its own: sign * (weight_x - weight_y) from 0.
        if query.moment == "mean" and (shapes.of_x != shapes.of_y).any():
            low = sign * (shapes.of_y - shapes.of_x) <= 0
            start = np.where(low, first, shapes.total - last - shapes.core)
            core = records.total(start + shapes.core) - records.total(start)
            gap = gap + (weight_x - weight_y) * core
        gaps_by_sign.append(gap)
    return Gaps.better(gaps_by_sign, below * records.unit, partial(_layout, query, shapes))


def _layout(query: Query, shapes: Shapes, place: int, mirrored: int) -> Layout:
    """Return the layout where f(x) - f(y) is largest, or, mirrored, f(y) - f(x)."""
    shape, sign = shapes[place], -1 if mirrored else 1
    weight_x, weight_y = _weights(query, shape)
    return _arrange(shape, sign * weight_x, sign * weight_y)


def _weights(query: Query, shape: Shape) -> tuple[int, int]:
    """Return what a record counts in the answers on x and on y, up to a common factor."""
    if query.moment == "mean":
        return shape.of_y, shape.of_x
    return (1, 1) if query.moment == "sum" else (0, 0)


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
