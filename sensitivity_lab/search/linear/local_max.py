"""Exact local search for sum, mean and count."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.search.engine import Finding, Options, Refusal
from sensitivity_lab.search.local_engine import furthest
from sensitivity_lab.search.order_statistics.local_max import extremes
from sensitivity_lab.universes.relations import Multiplicities


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

        return furthest(problem, ((difference(y), y) for y in extremes(problem)))


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
