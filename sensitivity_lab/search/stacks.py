"""Exact search for several queries released together, where each of them alone is enough.

The largest difference of one query bounds its part of a pair's vector, so the norm of all the
largest differences bounds the norm. Linf attains that bound: where the widest query is furthest
apart. L1 and L2 attain it only where one pair is the furthest for every query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.metrics.vectors import distance
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query, Stack

from .engine import (
    Cost,
    Finding,
    Findings,
    OnParts,
    Options,
    Plan,
    Refusal,
    beyond_limit,
    first_plan,
)

COVERS = "a Stack of queries that other engines cover, where one pair is furthest for all of them"


class Stacks(OnParts[Problem, Findings]):
    """The engine: exact for stacks in Linf, and in L1 and L2 where one pair is furthest for all.

    Notes
    -----
    The cost of all the parts. L1 and L2 cost as much to find out whether the stack is covered; a
    refusal says how large the sensitivity can be.
    """

    name = "stacks"
    kind: Kind = "global"
    covers = COVERS
    reach = "as the engines on the parts"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and where the parts are not enough."""
        searches: list[_Parts] = []
        each: list[int] = []
        for query in problem.queries:
            if not isinstance(query, Stack):
                return Refusal.of_query(self.name, self.covers, query.name)
            parts = []
            for part in query.queries:
                plan = first_plan(self._engines, problem.only((part,)), options)
                if isinstance(plan, Refusal):
                    why = f"stacks needs an engine for {part.name}: {plan.reason}"
                    return plan._replace(reason=why)
                parts.append(plan)
                each.append(plan.cost.bytes)
            searches.append(_Parts(problem, query, tuple(parts)))
        # Parts are searched one after the other; each leaves up to a third of what it needs.
        memory = max(each) + (sum(each) - max(each)) // 3
        if problem.norm == "Linf":
            return Plan(lambda: [search.widest() for search in searches], Cost(memory))
        # The parts are searched here, to see whether one pair is enough.
        refused = beyond_limit(self.name, memory, options)
        if refused is not None:
            return refused
        found = [search.furthest() for search in searches]
        reasons = [of for of in found if isinstance(of, Refusal)]
        solved = [of for of in found if not isinstance(of, Refusal)]
        return reasons[0] if reasons else Plan(lambda: solved, Cost(memory))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The searches for all parts of a stack."""

    problem: Problem
    query: Stack
    plans: tuple[Plan[Findings], ...]

    def widest(self) -> list[Finding]:
        """Return for every relation the pair of the part with the largest difference."""
        solved = [plan.solve()[0] for plan in self.plans]
        return [
            max(of_parts, key=lambda found: self._gap(self.query, found))
            for of_parts in zip(*solved, strict=True)
        ]

    def furthest(self) -> list[Finding] | Refusal:
        """Return for every relation a pair that is furthest for every part; refuse without one."""
        solved = [plan.solve()[0] for plan in self.plans]
        findings = []
        for relation, *of_parts in zip(self.problem.neighbors, *solved, strict=True):
            gaps = [
                self._gap(part, found)
                for part, found in zip(self.query.queries, of_parts, strict=True)
            ]
            bound = self._together(gaps)
            best = max(of_parts, key=lambda found: self._gap(self.query, found))
            least = self._gap(self.query, best)
            if least < bound:
                low, high = f"{least.nearest():.6g}", f"{bound.nearest():.6g}"
                return Refusal(
                    f"stacks does not cover {self.query.name}, {relation}, {self.problem.norm}: no "
                    "pair that it found is furthest for all the queries, so the sensitivity is "
                    f"only known to be from {low} to {high}; release each query with its share of "
                    "epsilon and the noise for its own sensitivity, or choose the norm 'Linf'"
                )
            findings.append(best)
        return findings

    def _gap(self, query: Query, found: Finding) -> Difference:
        """Return how far a query's answers on a pair are apart."""
        sides = []
        for data in (found.x, found.y):
            answer = query.exactly(self.problem.universe, data)
            sides.append(answer if isinstance(answer, tuple) else (answer or Fraction(0),))
        return distance(sides[0], sides[1], self.problem.norm)

    def _together(self, gaps: Sequence[Difference]) -> Difference:
        """Return the norm of the parts' largest differences."""
        if self.problem.norm == "L2":
            total = sum((gap.first - gap.second for gap in gaps), Fraction(0))
            return Difference(total, Fraction(0), root=True)
        return Difference(sum((gap.first for gap in gaps), Fraction(0)), Fraction(0))
