"""Exact search for the number of distinct values.

Only the numbers of copies matter, so a pair of datasets is three arrays: how many records of the
core, only in x and only in y each group of equal records has. With x above y, one number decides
everything else: y has q values. It is best to give it the q largest groups. Where the core has at
least q records it can have every value of y, so x loses none of them and gains a value with each
record of A that goes to another group. Where the core has fewer records, some values of y are only
in B, and A can still add those of which a record is left. See docs/proofs.md, "Multiplicities
(`multiplicities`)".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.running import poll
from sensitivity_lab.search.engine import Cost, Finding, Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import WORD, bytes_of_pairs
from sensitivity_lab.universes.relations import (
    Multiplicities,
    Relation,
    filled,
    of_each,
    smallest,
    smallest_of_each,
)

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
        return Plan(partial(_solve, problem), Cost(search + bytes_of_pairs(problem)))


def refusal(problem: Problem | LocalProblem) -> Refusal | None:
    """Return why a problem is not one of multiplicities; None if it is."""
    for query in problem.queries:
        if not query.of_multiplicities:
            return Refusal.of_query("multiplicities", COVERS, query.name)
    return None


def _solve(problem: Problem) -> Findings:
    searches = [Copies(problem, query) for query in problem.queries]
    return [[search.finding(relation) for relation in problem.neighbors] for search in searches]


class Copies:
    """The search for one query, with groups of equal records numbered from the largest one."""

    def __init__(self, problem: Problem, query: Query) -> None:
        groups = query.grouped(problem.universe)
        self.rows = problem.universe.multiplicities(problem.together)
        totals = of_each(self.rows, groups)
        order = np.argsort(-totals, kind="stable")
        self.problem, self.groups = problem, np.argsort(order)[groups]
        self.counts = totals[order]
        # K(q): how many records the first q groups have together.
        self.together = np.concatenate([[0], np.cumsum(self.counts)])
        self.several = int(np.count_nonzero(self.counts > 1))
        # Relations share their changes.
        self.known = cache(self.gain)

    def finding(self, relation: Relation) -> Finding:
        """Return the pair of neighbors that is furthest apart; the first of equals."""
        _, step, pair = max(self._candidates(relation), key=itemgetter(0))
        x, y = self.pair(*pair)[::step]
        return Finding(x, y, None, 0)

    def _candidates(self, relation: Relation) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield for every change the largest f(x) - f(y), and (-1) the largest f(y) - f(x)."""
        for size, change in sorted(set(self.problem.changes(relation))):
            poll()
            for step in (1, -1):
                asked = (size - change[0], *change[::step])
                gain, q = self.known(*asked)
                yield gain, step, (*asked, q)

    def gain(self, core: int, only_x: int, only_y: int) -> tuple[int, int]:
        """Return the largest f(x) - f(y), and a number q of values of y that attains it.

        The parameters are the numbers of records of C, A and B.
        """
        of_y, values = core + only_y, len(self.counts)
        # The smallest q with K(q) >= m.
        least = int(np.searchsorted(self.together, of_y))
        # q <= |C|: the gain falls with q, so the smallest q that has room for y is best.
        most = least if least <= core else min(values, of_y)
        q = np.arange(least, most + 1)
        # q > |C|: q - |C| values of y are not in the core. A brings values that y lacks, and those
        # of y of which a record is left over.
        left = np.clip(q - core, 0, self._left_over(of_y, q))
        gains = np.minimum(core - q, 0) + np.minimum(only_x, values - q + left)
        best = int(np.argmax(gains))
        return int(gains[best]), int(q[best])

    def _left_over(self, of_y: int, q: Any) -> Any:
        """Return of how many of the first q groups, which y has, a record can be left at most.

        Those are no more than the records that y does not take, nor than the groups with two
        records or more, of which y takes one.
        """
        return np.minimum(self.together[q] - of_y, np.minimum(q, self.several))

    def pair(
        self, core: int, only_x: int, only_y: int, q: int
    ) -> tuple[Multiplicities, Multiplicities]:
        """Return a pair that attains `gain`, y with q values."""
        of_y, place = core + only_y, np.arange(len(self.counts))
        # As many values of y as possible lose a record, then these lose more: y is the rest.
        losing = int(self._left_over(of_y, q))
        spare = filled(
            place < losing,
            np.where(place < losing, self.counts - 1, 0),
            int(self.together[q] - of_y),
        )
        y = np.where(place < q, self.counts - spare, 0)
        # C has the last values of y, which lost nothing, as far as there are such.
        c = filled((place < q) & (place >= q - core), y, core)
        # A first takes a value that y lacks with each record, then values of y that C lacks.
        new = smallest(place >= q, only_x)
        new = new + smallest(place < min(losing, q - core), only_x - int(new.sum()))
        a = filled(new, self.counts - y, only_x)
        # The records of a group stand in a line: first those of C, then those of A, then of B.
        of_core, of_x, of_all = (
            smallest_of_each(self.rows, self.groups, part) for part in (c, c + a, y + a)
        )
        return of_x, of_core + of_all - of_x
