"""Exact search over an interval: a finite domain that holds a worst case takes its place.

An L-statistic is linear in the records as long as their order stays, so the two bounds are enough,
and an engine on finite universes does the search. For variance and standard deviation the worst
case is written down, with one value inside the interval (docs/proofs.md, "Intervals
(`intervals`)").
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from sensitivity_lab.exact.difference import Number
from sensitivity_lab.problem import IntervalProblem, Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.functions import Function
from sensitivity_lab.search.engine import (
    Cost,
    Finding,
    Findings,
    OnParts,
    Options,
    Plan,
    Refusal,
    first_plan,
)
from sensitivity_lab.search.layouts import CALL, WORD
from sensitivity_lab.universes.relations import Multiplicities, Relation
from sensitivity_lab.universes.universe import IntervalUniverse, finite

from .spread import AT_ONCE, Family, Weighted, closed_forms

COVERS = "L-statistics (sums, means, weighted sums by rank), count, var and std over an interval"


class Intervals(OnParts[Problem, Findings]):
    """The engine: exact over all real numbers of an interval.

    Notes
    -----
    L-statistics cost as much as on the domain of the two bounds. Variance and standard deviation
    take O(1) per change, the latter O(n) if records are removed and more added, and no bound
    settles it.
    """

    name = "intervals"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: IntervalProblem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse what has no proof that a finite domain is enough."""
        searches, costs = [], []
        for query in problem.queries:
            plan = self._plan(problem.only([query]), query, options)
            if isinstance(plan, Refusal):
                return plan
            searches.append(plan.solve)
            costs.append(plan.cost)
        results = len(problem.neighbors) * len(problem.queries)
        largest = max(problem.at_the_ends.every_size)
        listed = (2 * WORD * largest + 4096) * results + WORD * largest
        most = Cost(2 * CALL + listed + sum(cost.bytes for cost in costs))
        return Plan(lambda: [found for solve in searches for found in solve()], most)

    def _plan(
        self, problem: IntervalProblem, query: Query, options: Options
    ) -> Plan[Findings] | Refusal:
        """Plan the search for one query."""
        if query.moment == "variance":
            cost = Cost(CALL + 8 * WORD * AT_ONCE * query.root + 2000 * _changes(problem))
            return Plan(partial(_solve_spread, problem, query), cost)
        ends = problem.at_the_ends
        if not linear_by_rank(query, ends.every_size):
            return not_proved(query)
        plan = first_plan(self._engines, ends, options)
        if isinstance(plan, Refusal):
            return plan
        return Plan(partial(_at_the_ends, plan, ends), plan.cost)


def _changes(problem: IntervalProblem) -> int:
    """Return how many changes there are, over all sizes."""
    return sum(len(steps.removed) for steps in problem.steps)


def linear_by_rank(query: Query, sizes: set[int]) -> bool:
    """Tell whether a query is linear in the records as long as their order stays."""
    if query.moment in ("count", "sum", "mean"):
        return True
    return all(query.weights(size) is not None for size in sizes)


def not_proved(query: Query) -> Refusal:
    """Return why a query of another kind is refused."""
    boxes = ""
    if isinstance(query, Function):
        boxes = "for certified bounds of it choose method='boxes', and "
    return Refusal(
        f"intervals covers {COVERS}, not {query.name}: no proof limits its worst case to finitely "
        f"many values; {boxes}for a lower bound use a grid, Universe.from_domain(values)"
    )


def _at_the_ends(plan: Plan[Findings], ends: Problem) -> Findings:
    """Return what is found on the domain of the two bounds, as datasets of the interval."""
    return [
        [
            Finding(one.x, one.y, one.answers, one.datasets_evaluated, ends.universe.values)
            for one in of_query
        ]
        for of_query in plan.solve()
    ]


def _solve_spread(problem: IntervalProblem, query: Query) -> Findings:
    """Return what is found for a variance or a standard deviation: there is little to search."""
    return [
        [
            _spread_finding(problem.universe, *_furthest(problem, query, relation))
            for relation in problem.neighbors
        ]
    ]


def _furthest(
    problem: IntervalProblem, query: Query, relation: Relation
) -> tuple[Weighted, Weighted]:
    """Return x and y furthest apart on [0, 1]."""
    ddof = Fraction(query.ddof)
    families = {
        Family(size - removed, own, other, ddof, query.root): forward
        for size, (removed, added) in problem.changes(relation)
        # Both orders: the more spread dataset has the added records for its own, or the removed
        # ones. `forward` says that it is x.
        for own, other, forward in ((added, removed, False), (removed, added, True))
    }
    offered = ((pair, family) for family in families for pair in closed_forms(family))
    best, of_best = max(offered, key=lambda offer: offer[0].gap)
    for family in families:
        if family.exceeds(best.gap):
            pair = family.furthest_in_deviation()
            if pair.gap > best.gap:
                best, of_best = pair, family
    return (best.more, best.less) if families[of_best] else (best.less, best.more)


def _spread_finding(interval: IntervalUniverse, x: Weighted, y: Weighted) -> Finding:
    """Return datasets of [0, 1] moved into an interval."""
    lower, width = Fraction(interval.lower), Fraction(interval.upper) - Fraction(interval.lower)
    place: dict[Fraction, Number] = {value: lower + width * value for value in {**x, **y}}
    domain = finite(interval, place.values())

    def counted(data: Weighted) -> Multiplicities:
        counts = np.zeros(len(domain.values), dtype=np.int64)
        for value, count in data.items():
            counts[domain.index(place[value])] += count
        return counts

    return Finding(counted(x), counted(y), None, 0, domain.values)
