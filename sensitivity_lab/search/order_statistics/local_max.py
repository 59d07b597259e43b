"""Exact local search for queries that never fall when a record rises.

Order statistics with weights that are not negative, sum, mean and count. Among the neighbors of x
with a given number of records removed and added, the answer is largest where the smallest records
of x are removed and the largest ones outside x are added, and smallest the other way around
(docs/proofs.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.search.engine import Finding, Options, Refusal
from sensitivity_lab.search.local_engine import furthest
from sensitivity_lab.universes.relations import Multiplicities


def extremes(problem: LocalProblem) -> Iterator[Multiplicities]:
    """Yield the neighbors of x with the largest and the smallest answer of every change."""
    x, outside = problem.x, problem.outside
    for removed, added in problem.changes:
        yield x - bottom(x, removed) + top(outside, added)
        yield x - top(x, removed) + bottom(outside, added)


class LocalQuantiles:
    """The engine: exact for order statistics under every relation.

    Notes
    -----
    Two candidates per change; O(m) time each for m distinct values.
    """

    name = "quantiles"

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Refuse queries that are no order statistic, or have a negative weight."""
        query = problem.query
        for size in {problem.size - removed + added for removed, added in problem.changes}:
            weights = query.weights(size)
            if weights is None:
                return Refusal(
                    f"quantiles covers median, percentile, min and max, not {query.name}"
                )
            if any(weight < 0 for _, weight in weights):
                return Refusal(f"quantiles does not cover {query.name}: it has a negative weight")
        return None

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the neighbor whose answer is furthest from that of x."""
        of_x = _order_statistic(problem, problem.x)
        return furthest(
            problem,
            ((Difference(of_x, _order_statistic(problem, y)), y) for y in extremes(problem)),
        )


def _order_statistic(problem: LocalProblem, data: Multiplicities) -> Fraction:
    """Return the exact answer of an order statistic on a dataset."""
    integers, unit = problem.universe.integers
    stops = np.cumsum(data)
    weights = problem.query.weights(int(stops[-1])) or ()
    below = math.lcm(*(weight.denominator for _, weight in weights))
    total = sum(
        int(weight * below) * int(integers[stops.searchsorted(rank, side="right")])
        for rank, weight in weights
    )
    return Fraction(total, below * unit)


def bottom(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the smallest so many of some records, by multiplicities."""
    before = np.cumsum(counts) - counts
    taken: Multiplicities = np.clip(number - before, 0, counts)
    return taken


def top(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the largest so many of some records, by multiplicities."""
    return bottom(counts[::-1], number)[::-1]
