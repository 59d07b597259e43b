"""Exact local search for queries that never fall when a record rises.

Order statistics with weights that are not negative, sum, mean and count. Among the neighbors of x
with a given number of records removed and added, the answer is largest where the smallest records
of x are removed and the largest ones outside x are added, and smallest the other way around. See
docs/proofs.md, "Local sensitivity: order statistics, sum, mean and count".
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries.order_statistics import at_ranks
from sensitivity_lab.search.ends import extreme_neighbors
from sensitivity_lab.search.engine import Cost, Finding, Options, Plan, Refusal, best_neighbor
from sensitivity_lab.search.memory import of_neighbors
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS


class LocalOrderStatistics:
    """The engine: exact for order statistics under every relation.

    Notes
    -----
    Two candidates per change; O(m) time each for m distinct values.
    """

    name = "order_statistics"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse all but order statistics with weights of at least 0."""
        query = problem.query
        for size in {problem.size - removed + added for removed, added in problem.changes}:
            weights = query.weights(size)
            if weights is None:
                return Refusal.of_query(self.name, self.covers, query.name)
            if any(weight < 0 for _, weight in weights):
                return Refusal(f"{self.name} does not cover {query.name}: it has a negative weight")
        return Plan(partial(furthest_neighbor, problem), Cost(of_neighbors(problem)))


def furthest_neighbor(problem: LocalProblem) -> Finding:
    """Return x and the neighbor whose answer, an order statistic, is furthest from that of x."""
    of_x = _answer(problem, problem.x)
    candidates = ((Difference(of_x, _answer(problem, y)), y) for y in extreme_neighbors(problem))
    return best_neighbor(problem, candidates)


def _answer(problem: LocalProblem, data: Multiplicities) -> Fraction:
    """Return the exact answer of an order statistic on a dataset."""
    integers, unit = of_numbers(problem.universe).integers
    stops = np.cumsum(data)
    return at_ranks(
        problem.query.weights(int(stops[-1])) or (),
        lambda rank: int(integers[stops.searchsorted(rank, side="right")]),
        unit,
    )
