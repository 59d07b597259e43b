"""Exact search for sum, mean and count: each record counts by itself, so rearrangement decides.

``f(x) - f(y)`` is a sum over the records of the universe of a coefficient that depends only on
where a record is: in A, B, C or outside. By the rearrangement inequality it is largest when the
records in ascending order get the coefficients in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sensitivity_lab.arithmetic import Difference
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query

from .engine import Finding, Options, Refusal
from .layout import Layout, Ranges, Shape, SortedUniverse, solve_by_layouts


class Rearrangement:
    """The engine: exact for sum, mean and count under every relation.

    Notes
    -----
    Two candidates per change. Time and memory: one pass over the distinct values for their prefix
    sums, then O(log m) per change.
    """

    name = "rearrangement"

    def refusal(self, problem: Problem, options: Options) -> Refusal | None:
        """Refuse queries that are not linear in the records."""
        for query in problem.queries:
            if query.moment not in ("count", "sum", "mean"):
                return Refusal(f"rearrangement covers sum, mean and count, not {query.name}")
        return None

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
        return solve_by_layouts(problem, _candidates)


def _candidates(
    records: SortedUniverse, query: Query, shape: Shape
) -> Iterator[tuple[Difference, Layout]]:
    """Yield the layout where f(x) - f(y) is largest, and the one where f(y) - f(x) is."""
    _, unit = records.universe.integers
    weight_x, weight_y = (_weight(query, size) for size in (shape.of_x, shape.of_y))
    for sign in (1, -1):
        layout = _arrange(shape, sign * weight_x, sign * weight_y)
        if query.moment == "count":
            yield Difference(Fraction(shape.of_x), Fraction(shape.of_y)), layout
            continue
        core = records.total_of(layout.core) if weight_x != weight_y else 0
        answer_x = weight_x * (core + records.total_of(layout.only_x)) / unit
        answer_y = weight_y * (core + records.total_of(layout.only_y)) / unit
        yield Difference(answer_x, answer_y), layout


def _weight(query: Query, size: int) -> Fraction:
    """Return what a record of a dataset of this size counts in the answer."""
    return {"count": Fraction(0), "sum": Fraction(1), "mean": Fraction(1, size)}[str(query.moment)]


def _arrange(shape: Shape, weight_x: Fraction, weight_y: Fraction) -> Layout:
    """Give the parts places in the order of their coefficients in f(x) - f(y)."""
    outside = shape.total - shape.core - shape.only_x - shape.only_y
    coefficients = {
        "core": (weight_x - weight_y, shape.core),
        "only_x": (weight_x, shape.only_x),
        "only_y": (-weight_y, shape.only_y),
        "outside": (Fraction(0), outside),
    }
    places: dict[str, Ranges] = {}
    start = 0
    for part, (_, length) in sorted(coefficients.items(), key=lambda item: item[1][0]):
        places[part] = ((start, start + length),)
        start += length
    return Layout(places["core"], places["only_x"], places["only_y"])
