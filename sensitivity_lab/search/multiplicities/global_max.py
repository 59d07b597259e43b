"""Exact search for the number of distinct values.

Only the numbers of copies matter, so a pair of datasets is three arrays: how many records of the
core, only in x and only in y each group has. See docs/proofs.md, "Multiplicities
(`multiplicities`)".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.running import poll
from sensitivity_lab.search.engine import Cost, Finding, Findings, Options, Plan, Refusal
from sensitivity_lab.search.memory import WORD, of_pairs
from sensitivity_lab.universes.multiplicities import Groups, Multiplicities, smallest_of_each
from sensitivity_lab.universes.relations import Relation, RemovedAdded

from .capacities import Capacities, Parts
from .gains import distinct_gain, distinct_parts

COVERS = "count_distinct"


class MultiplicitiesEngine:
    """The engine: exact for count_distinct under every relation.

    Notes
    -----
    A sort of m distinct values, O(log m) per change (O(j + log m) if a dataset has j records of
    its own, and more records than its core has values), and O(m) for the pair. Memory: some 200
    bytes per distinct value.
    """

    name = "multiplicities"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries of another kind."""
        refused = refusal(problem)
        if refused is not None:
            return refused
        asked = {change for one in problem.neighbors for change in problem.changes(one)}
        # Groups, counts, order and sums, three parts, and what lifts them; and what was found.
        search = 14 * WORD * problem.universe.number + 400 * len(asked)
        return Plan(partial(_solve, problem), Cost(search + of_pairs(problem)))


def refusal(problem: Problem | LocalProblem) -> Refusal | None:
    """Return why a problem is not one of multiplicities; None if it is."""
    for query in problem.queries:
        if not query.of_multiplicities:
            return Refusal.of_query("multiplicities", COVERS, query.name)
    return None


def _solve(problem: Problem) -> Findings:
    return [
        [search.finding(relation) for relation in problem.neighbors]
        for search in (_OneQuery.of(problem, query) for query in problem.queries)
    ]


@dataclass(frozen=True, eq=False)
class _OneQuery:
    """The search for one query.

    Attributes
    ----------
    problem : Problem
    groups : ndarray of intp, shape (m,)
        The group of each distinct value.
    rows : ndarray of int64, shape (m,)
        How many records of each distinct value there are.
    capacities : Capacities
        The same of the groups.
    known : dict
        By (records of C, of A, of B), the gain and the q that attains it: relations share them.
    """

    problem: Problem
    groups: Groups
    rows: Multiplicities
    capacities: Capacities
    known: dict[tuple[int, int, int], tuple[int, int]]

    @classmethod
    def of(cls, problem: Problem, query: Query) -> _OneQuery:
        """Sort the groups of a universe by their numbers of records."""
        limit = max(
            size + added
            for relation in problem.neighbors
            for size, (_, added) in problem.changes(relation)
        )
        groups, rows = query.grouped(problem.universe), problem.universe.multiplicities(limit)
        return cls(problem, groups, rows, Capacities.of(groups, rows), {})

    def finding(self, relation: Relation) -> Finding:
        """Return the pair of neighbors that is furthest apart; the first of equals."""
        _, more, core, of_more, of_less, place = max(self._candidates(relation), key=itemgetter(0))
        parts = distinct_parts(self.capacities, core, of_more, of_less, place)
        x, y = self._lifted(parts if more == "x" else (parts[0], parts[2], parts[1]))
        return Finding(x, y, None, 0)

    def _candidates(self, relation: Relation) -> Iterator[tuple[int, str, int, int, int, int]]:
        """Yield for every change the largest f(x) - f(y), and the largest f(y) - f(x)."""
        changes: set[tuple[int, RemovedAdded]] = set(self.problem.changes(relation))
        for size, (removed, added) in sorted(changes):
            poll()
            core = size - removed
            for more, of_more, of_less in (("x", removed, added), ("y", added, removed)):
                asked = core, of_more, of_less
                if asked not in self.known:
                    self.known[asked] = distinct_gain(self.capacities, *asked)
                gain, place = self.known[asked]
                yield gain, more, *asked, place

    def _lifted(self, parts: Parts) -> tuple[Multiplicities, Multiplicities]:
        """Return x and y by distinct values, given C, A and B by groups.

        The records of a group stand in a line: first those of C, then those of A, then of B.
        """
        core, only_x, only_y = parts
        taken = partial(smallest_of_each, self.rows, self.groups)
        of_core, of_x, of_both = taken(core), taken(core + only_x), taken(core + only_x + only_y)
        return of_x, of_core + of_both - of_x
