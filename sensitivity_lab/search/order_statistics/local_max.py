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

from sensitivity_lab.arithmetic import Difference
from sensitivity_lab.neighbors import Multiplicities
from sensitivity_lab.problem import LocalProblem

from .engine import Finding, Options, Refusal
from .local_engine import furthest


def _extremes(problem: LocalProblem) -> Iterator[Multiplicities]:
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
            ((Difference(of_x, _order_statistic(problem, y)), y) for y in _extremes(problem)),
        )


class LocalRearrangement:
    """The engine: exact for sum, mean and count under every relation.

    Notes
    -----
    Two candidates per change; O(m) time each for m distinct values.
    """

    name = "rearrangement"

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Refuse queries that are not linear in the records."""
        if not problem.universe.numeric:
            return Refusal("rearrangement covers numbers, not rows")
        if problem.query.moment not in ("count", "sum", "mean"):
            return Refusal(f"rearrangement covers sum, mean and count, not {problem.query.name}")
        return None

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the neighbor whose answer is furthest from that of x."""
        total = _total(problem, problem.x)
        of_x = _scaled(problem, total, problem.size)

        def difference(y: Multiplicities) -> Difference:
            # What x and y share is summed once.
            of_y = _scaled(problem, total + _total(problem, y - problem.x), int(y.sum()))
            return Difference(of_x, of_y)

        return furthest(problem, ((difference(y), y) for y in _extremes(problem)))


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


def _total(problem: LocalProblem, data: Multiplicities) -> int:
    """Return the sum of records, in units; `data` may be a difference of two datasets."""
    places = np.flatnonzero(data)
    integers, _ = problem.universe.integers
    return int((integers[places] * data[places].astype(object)).sum())


def _scaled(problem: LocalProblem, total: int, size: int) -> Fraction:
    """Return the answer on a dataset with this sum and size."""
    if problem.query.moment == "count":
        return Fraction(size)
    _, unit = problem.universe.integers
    return Fraction(total, unit * (size if problem.query.moment == "mean" else 1))


def bottom(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the smallest so many of some records, by multiplicities."""
    before = np.cumsum(counts) - counts
    taken: Multiplicities = np.clip(number - before, 0, counts)
    return taken


def top(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the largest so many of some records, by multiplicities."""
    return bottom(counts[::-1], number)[::-1]
