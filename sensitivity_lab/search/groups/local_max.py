"""Exact local search for a query on the rows of each group: what each group can lose and gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np

from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import Cost, Engine, Finding, Options, Plan, Refusal
from sensitivity_lab.search.memory import WORD, of_pairs
from sensitivity_lab.universes.multiplicities import Multiplicities, largest, smallest
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import RemovedAdded

from .global_max import COVERS
from .known_sizes import (
    Best,
    OfChange,
    answer,
    best_split,
    gap_of,
    in_rows,
    numbers_of,
    one_change,
)
from .members import ROW_BYTES, Grouped, Members

MOST_SEARCHES = 100_000
"""At most so many searches of one group are done."""


class LocalGroups:
    """The engine: exact for queries by group that a local engine on numbers covers.

    Parameters
    ----------
    engines : sequence of Engine
        The local engines on numbers, in order of preference.

    Notes
    -----
    One search on numbers per group and change (i, j) of its rows, then O(i**2 j**2) per group.
    """

    name = "groups"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def __init__(self, engines: Sequence[Engine[LocalProblem, Finding]]) -> None:
        self._engines = tuple(engines)

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries, and groups that can be without an answer."""
        grouped = Grouped.of(problem.universe, problem.query, problem.x + problem.outside)
        if isinstance(grouped, str):
            return Refusal.of_query(self.name, self.covers, grouped)
        every = (*grouped.groups, grouped.others)
        searches = [_OneGroup.of(grouped, members, problem) for members in every]
        if grouped.sizes not in (None, tuple(group.size for group in searches[:-1])):
            return Refusal(
                f"groups: {problem.query.name} has answers only on datasets with the group_sizes "
                f"{grouped.sizes}; give such an x"
            )
        total = sum(len(group.changes()) for group in searches[:-1])
        if total > MOST_SEARCHES:
            return Refusal(
                f"groups would do {total:,} searches, more than {MOST_SEARCHES:,}; choose a "
                "smaller distance, or fewer groups",
                too_large=True,
            )
        found: list[dict[RemovedAdded, Any]] = []
        memory = 0
        for group in searches[:-1]:
            found.append({})
            for change in group.changes():
                plan = group.plan(change, self._engines, options)
                if isinstance(plan, Refusal):
                    return plan
                found[-1][change], cost = plan
                memory = max(memory, cost)
        nothing: list[OfChange] = [dict.fromkeys(of, (Fraction(0), None)) for of in found]
        if best_split(nothing, searches[-1].fits, problem.changes, problem.norm) is None:
            return Refusal(f"groups finds no neighbor of x with the group_sizes {grouped.sizes}")
        # What each search finds: records lost and gained.
        memory += 2 * (ROW_BYTES + WORD * total) * problem.universe.number
        return Plan(partial(_solve, problem, searches, found), Cost(memory + of_pairs(problem)))


def _solve(problem: LocalProblem, searches: list[_OneGroup], found: list[Any]) -> Finding:
    """Return x and the neighbor whose answers are furthest from its."""
    options: list[OfChange] = [{change: search() for change, search in of.items()} for of in found]
    # The plan has seen that there is a split.
    best = best_split(options, searches[-1].fits, problem.changes, problem.norm)
    _, parts, rest = cast(Best, best)
    y = problem.x.copy()
    for group, change in parts:
        lost, gained = options[group][change][1]
        y += gained - lost
    y += _some(problem.outside, searches[-1].members, rest[1])
    y -= _some(problem.x, searches[-1].members, rest[0])
    return Finding(problem.x, y, None, 0)


def _some(have: Multiplicities, members: Members, number: int) -> Multiplicities:
    """Return the first so many of the records in some rows."""
    inside = np.zeros_like(have)
    inside[members.rows] = have[members.rows]
    return smallest(inside, number)


@dataclass(frozen=True, eq=False)
class _OneGroup:
    """One group of x: its numbers, and what can be removed and added."""

    grouped: Grouped
    members: Members
    numbers: FiniteUniverse | None
    places: Any
    x: Multiplicities
    outside: Multiplicities
    size: int
    free: int
    problem: LocalProblem

    @classmethod
    def of(cls, grouped: Grouped, members: Members, problem: LocalProblem) -> _OneGroup:
        """Return one group of a problem's x."""
        rows_x, rows_out = problem.x[members.rows], problem.outside[members.rows]
        numbers, places, x, outside = None, np.empty(0, dtype=np.intp), rows_x, rows_out
        if members.size:
            unlimited = problem.universe.counts is None
            numbers, places = numbers_of(grouped, members, unlimited=unlimited)
            x, outside = (
                np.bincount(places, weights=rows).astype(np.int64) for rows in (rows_x, rows_out)
            )
        return cls(
            grouped,
            members,
            numbers,
            places,
            x,
            outside,
            int(rows_x.sum()),
            int(rows_out.sum()),
            problem,
        )

    def fits(self, change: RemovedAdded) -> bool:
        """Tell whether so many records can be removed and added."""
        return change[0] <= self.size and change[1] <= self.free

    def changes(self) -> list[RemovedAdded]:
        """Return the changes of this group that can be part of those of x."""
        possible = {
            (i, j)
            for removed, added in self.problem.changes
            for i in range(min(removed, self.size) + 1)
            for j in range(min(added, self.free) + 1)
        }
        public = self.grouped.sizes is not None
        return sorted((i, j) for i, j in possible - {(0, 0)} if i == j or not public)

    def plan(
        self,
        change: RemovedAdded,
        engines: Sequence[Engine[LocalProblem, Finding]],
        options: Options,
    ) -> Any:
        """Return a function that finds the largest difference for a change, and its bytes."""
        query, numbers, empty = self.grouped.query, self.numbers, self.grouped.empty
        name = self.problem.query.name
        after = self.size - change[0] + change[1]
        for size in (self.size, after):
            if size < query.least_size and (size or empty is None):
                return Refusal(
                    f"groups needs an answer for every group: {name} has none for "
                    f"{size} rows, which a neighbor of x has in one group; give the query "
                    "empty=..., choose a smaller distance, or public group_sizes"
                )
        if numbers is None or 0 in (self.size, after):
            if query.moment == "variance":
                return Refusal(
                    f"groups does not cover {name} if a group is or becomes empty; "
                    "choose a smaller distance, or public group_sizes"
                )
            return partial(self._with_empty, change), 0
        asked = LocalProblem(numbers, query, one_change(change), self.x)
        reasons = []
        for engine in engines:
            plan = engine.plan(asked, options)
            if isinstance(plan, Plan):
                return partial(self._solved, plan, change), plan.cost.bytes
            reasons.append(plan.reason)
        return Refusal("; ".join(reasons))

    def _solved(self, plan: Plan[Finding], change: RemovedAdded) -> tuple[Gap, Any]:
        """Return the largest difference, with the rows removed and added."""
        return self._to(plan.solve().y, change)

    def _with_empty(self, change: RemovedAdded) -> tuple[Gap, Any]:
        """Return the largest difference where x or y has no row in the group."""
        return max((self._to(y, change) for y in self._extremes(change)), key=lambda one: one[0])

    def _extremes(self, change: RemovedAdded) -> Iterator[Multiplicities]:
        """Yield the neighbors with the largest and the smallest answer."""
        rest = self.x - smallest(self.x, change[0])
        yield rest + largest(self.outside, change[1])
        yield rest + smallest(self.outside, change[1])

    def _to(self, y: Multiplicities, change: RemovedAdded) -> tuple[Gap, Any]:
        """Return how far y is from x, with the rows removed and added."""
        gap = gap_of(self.grouped.query, self._answer(self.x), self._answer(y))
        lost, gained = np.maximum(self.x - y, 0), np.maximum(y - self.x, 0)
        # Rows change places with others of the same number, as far as there are any.
        spare = np.minimum(self.x - lost, self.outside - gained)
        more = smallest(spare, change[0] - int(lost.sum()))
        take = partial(in_rows, self.members, self.places)
        rows = take(lost + more, self.problem.x), take(gained + more, self.problem.outside)
        return gap, rows

    def _answer(self, data: Multiplicities) -> Fraction:
        if not data.sum():
            empty = self.grouped.empty or Fraction(0)
            return empty**2 if self.grouped.query.root else empty
        return answer(self.grouped.query, self.numbers, data)  # type: ignore[arg-type]
