"""Exact local search for sum, mean and count."""

from __future__ import annotations

from functools import partial

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries.power_sums import of_power_sums
from sensitivity_lab.search.ends import extreme_neighbors
from sensitivity_lab.search.engine import Cost, Finding, Options, Plan, Refusal, best_neighbor
from sensitivity_lab.search.memory import of_neighbors
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS, refusal


class LocalLinear:
    """The engine: exact for sum, mean and count under every relation.

    Notes
    -----
    Two candidates per change; O(m) time each for m distinct values.
    """

    name = "linear"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse queries that are not linear in the records."""
        refused = refusal(problem)
        if refused is not None:
            return refused
        return Plan(partial(_solve, problem), Cost(of_neighbors(problem)))


def _solve(problem: LocalProblem) -> Finding:
    """Return x and the neighbor whose answer is furthest from that of x."""
    query, (integers, unit) = problem.query, of_numbers(problem.universe).integers

    def total(data: Multiplicities) -> int:
        places = np.flatnonzero(data)
        return int((integers[places] * data[places].astype(object)).sum())

    of_x = total(problem.x)
    answer_x = of_power_sums(query, problem.size, of_x, 0, unit)

    def difference(y: Multiplicities) -> Difference:
        # What x and y share is summed once.
        of_y = of_x + total(y - problem.x)
        return Difference(answer_x, of_power_sums(query, int(y.sum()), of_y, 0, unit))

    return best_neighbor(problem, ((difference(y), y) for y in extreme_neighbors(problem)))
