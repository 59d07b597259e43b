"""Exact search for the number of distinct values.

Only the numbers of copies matter, so a pair of datasets is three arrays: how many records of the
core, only in x and only in y each group of equal records has. With x above y, one number decides
everything else: y has q values. It is best to give it the q largest groups. Where the core has at
least q records it can have every value of y, so x loses none of them and gains a value with each
record of A that goes to another group. Where the core has fewer records, some values of y are only
in B, and A can still add those of which a record is left. See docs/proofs.md, "Multiplicities
(`multiplicities`)".

In a local search x is fixed, so the largest and the smallest answer on y are enough. y has what is
left of x, and some of the records outside it; both are counted by groups of equal records (*One
dataset* there).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.running import poll
from sensitivity_lab.universes.relations import (
    Groups,
    Multiplicities,
    Relation,
    RemovedAdded,
    filled,
    of_each,
    smallest,
    smallest_of_each,
)

from .engine import BothEnds, Cost, End, Ends, Finding, Findings, Options, Plan, Refusal, furthest
from .layouts import WORD, bytes_of_pairs

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
        return Plan(partial(_solve_multiplicities, problem), Cost(search + bytes_of_pairs(problem)))


def refusal(problem: Problem | LocalProblem) -> Refusal | None:
    """Return why a problem is not one of multiplicities; None if it is."""
    for query in problem.queries:
        if not query.of_multiplicities:
            return Refusal.of_query("multiplicities", COVERS, query.name)
    return None


def _solve_multiplicities(problem: Problem) -> Findings:
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


MAX_STEPS = 5_000_000_000
"""At most so many comparisons: some ten seconds."""

Change = tuple[Multiplicities, Multiplicities]
"""How many records of each group are removed from x, and how many are added."""


class LocalMultiplicities:
    """The engine: exact for count_distinct under every relation.

    Notes
    -----
    A sort of m distinct values, and O(m) per change. If the records outside x are so few that they
    decide which values can go, count_distinct takes up to i**3 log i steps for i removed records.
    """

    name = "multiplicities"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse queries of another kind, and too many steps."""
        refused = refusal(problem)
        if refused is not None:
            return refused
        held = _Held(problem)
        needed = [_Fewest(held, *change) for change in problem.changes]
        steps = sum(one.states * len(one.can_go) for one in needed)
        if steps > MAX_STEPS:
            return Refusal(
                f"{self.name} would take {steps:,} steps, more than {MAX_STEPS:,}; choose a "
                "smaller distance",
                too_large=True,
            )
        memory = max(one.states * (5 * WORD + len(one.can_go)) for one in needed)
        cost = Cost(memory + 14 * WORD * problem.universe.number + bytes_of_pairs(problem))
        return Plan(held.furthest, cost, held.both_ends)


class _Held:
    """The records of x and those outside it, by groups."""

    def __init__(self, problem: LocalProblem) -> None:
        self.problem, self.groups = problem, problem.query.grouped(problem.universe)
        self.x, self.outside = (of_each(of, self.groups) for of in (problem.x, problem.outside))
        # Values that are best left out come first: those with the fewest records in x, none if x
        # has not the value; of equals, with the fewest outside. So many does it take for the first.
        self.order = np.lexsort((self.outside, self.x))
        self.needed = np.cumsum(self.x[self.order])
        self.places = np.concatenate([[0], np.cumsum(self.outside[self.order])])
        self.absent = int(np.count_nonzero(self.x == 0))
        sizes = self.x[self.order[self.absent :]]
        self.rank = np.arange(len(sizes)) - sizes.searchsorted(sizes)

    def both_ends(self) -> BothEnds:
        """Return the answer on x, and the least and the greatest answer of every change."""
        return BothEnds(_distinct(self.x), map(self._ends, self.problem.changes))

    def furthest(self) -> Finding:
        """Return x and its furthest neighbor.

        An answer rises by at most j, and falls by at most i: changes that cannot reach further than
        what was found are left out.
        """
        of_x = _distinct(self.x)

        def of_changes() -> Iterator[Ends]:
            far = Fraction(-1)
            for change in sorted(self.problem.changes, key=max, reverse=True):
                if max(change) <= far:
                    return
                ends = self._ends(change)
                far = max(far, ends.upper.answer - of_x, of_x - ends.lower.answer)
                yield ends

        return furthest(self.problem, BothEnds(of_x, of_changes()))

    def _ends(self, change: RemovedAdded) -> Ends:
        """Return the ends of a change."""
        lower = _Fewest(self, *change).change()
        upper = _most_distinct(self.x, self.outside, *change)
        return Ends(*change, self._end(*lower), self._end(*upper))

    def _end(self, lost: Multiplicities, gained: Multiplicities) -> End:
        """Return the end where so many records of each group go and come."""

        def y() -> Multiplicities:
            x, outside = self.problem.x, self.problem.outside
            left: Multiplicities = x - smallest_of_each(x, self.groups, lost)
            return left + smallest_of_each(outside, self.groups, gained)

        return End(_distinct(self.x - lost + gained), y)


def _distinct(counts: Multiplicities) -> Fraction:
    return Fraction(int(np.count_nonzero(counts)))


def _most_distinct(x: Multiplicities, outside: Multiplicities, i: int, j: int) -> Change:
    """Remove what is there twice, then values that can come back; add every value that can be."""
    # All but one record of each value can go for nothing. Once every value is there once, each
    # record removed is a value. Those with a record outside go first: they can come back.
    lost = smallest(np.maximum(x - 1, 0), i)
    lost = filled(lost, np.where(outside > 0, x, lost), i)
    lost = filled(lost, x, i)
    # Each value that is missing then comes with its first record; more records change nothing.
    new = smallest((lost == x) & (outside > 0), j)
    return lost, filled(new, outside, j)


class _Fewest:
    """Which values to leave out, so that as few distinct values as possible are left.

    With x_v records of value v in x and o_v outside it, i removed and j added of O outside, there
    is a neighbor that has no value of a set D exactly if

        sum of x_v over D <= i    and    sum of o_v over D <= O - j.

    f(y) is the smallest where |D| is the largest. With all values that x has not, and those with
    the smallest x_v, |D| is as large as the first condition allows; so if the second one holds,
    that is all. If not, a table says for every number of records and of values of x that are left
    out how few records outside these have: a knapsack with whole weights. See "Multiplicities"
    (*One dataset*) in docs/proofs.md.

    Parameters
    ----------
    held : _Held
        The records of x and those outside it.
    removed, added : int
        How many records are removed from x, and added.
    """

    def __init__(self, held: _Held, removed: int, added: int) -> None:
        self.held, self.removed, self.added = held, removed, added
        self.most = int(held.places[-1]) - added
        # How many values can be left out by the first condition, and how many by the second, if
        # they go in order.
        number = int(held.needed.searchsorted(removed, side="right"))
        self.first = min(number, int(held.places.searchsorted(self.most, side="right")) - 1)
        self.shape = (removed + 1, number - held.absent + 1)
        present = held.order[held.absent :]
        if self.first == number:
            present = present[:0]
        # No more of one size than all records that are removed.
        self.can_go = present[held.rank[: len(present)] < removed // held.x[present]]
        self.states = math.prod(self.shape) if len(self.can_go) else 0

    def change(self) -> Change:
        """Return a change after which as many values as possible are left out."""
        x, outside = self.held.x, self.held.outside
        out = np.zeros(len(x), dtype=bool)
        out[self._best() if self.states else self.held.order[: self.first]] = True
        lost = filled(np.where(out, x, 0), x, self.removed)
        return lost, smallest(np.where(out, 0, outside), self.added)

    def _best(self) -> Groups:
        """Return which values are left out, by a table."""
        x, outside = self.held.x, self.held.outside
        # By records and values of x, exactly so many of each: how few records outside they have,
        # or too many.
        table = np.full(self.shape, self.most + 1)
        table[0, 0] = 0
        choices = []
        # Always: `table` is the least with the values so far, each of which goes or does not.
        for value in self.can_go:
            size = int(x[value])
            # One value more goes: `size` records of x more, and outside[value] records that may not
            # be added.
            offered = table[:-size, :-1] + outside[value]
            goes = np.zeros(self.shape, dtype=bool)
            goes[size:, 1:] = offered < table[size:, 1:]
            table[size:, 1:] = np.minimum(offered, table[size:, 1:])
            choices.append(goes)
        # What is left of the records outside is for the values that x has not.
        places = self.held.places[1 : self.held.absent + 1]
        absent = places.searchsorted(self.most - table, side="right")
        score = np.where(table <= self.most, absent + np.arange(self.shape[1]), -1)
        records, number = map(int, np.unravel_index(int(np.argmax(score)), self.shape))
        out = self.held.order[: absent[records, number]].tolist()
        # Always: `records` and `number` are what goes of the values that are not yet looked at.
        for value, goes in zip(self.can_go[::-1], reversed(choices), strict=True):
            if goes[records, number]:
                out.append(value)
                records, number = records - int(x[value]), number - 1
        return np.array(out, dtype=np.intp)
