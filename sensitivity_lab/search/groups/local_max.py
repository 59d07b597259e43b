"""Exact local search for a query on the rows of each group: what each group can lose and gain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, cast

import numpy as np

from sensitivity_lab.exact.roots import Gap
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Engine,
    Finding,
    OnParts,
    Options,
    Plan,
    Refusal,
    first_plan,
    local_plan,
)
from sensitivity_lab.search.layouts import WORD, bytes_of_pairs
from sensitivity_lab.search.sizes import Extreme, plan_extremes
from sensitivity_lab.universes.relations import (
    Multiplicities,
    RemovedAdded,
    changed_by_group,
    of_each,
    smallest,
)
from sensitivity_lab.universes.universe import FiniteUniverse

from .global_max import COVERS
from .known_sizes import (
    Best,
    OfChange,
    SomeChanges,
    answer,
    best_split,
    gap_of,
    numbers_of,
)
from .members import ROW_BYTES, Grouped, Members

MOST_SEARCHES = 100_000
"""At most so many searches of one group are done."""

_BYTES = 512
"""What a change of the only group takes, with its two ends."""


class LocalGroups(OnParts[LocalProblem, Finding]):
    """The engine: exact for queries by group that a local engine on numbers covers.

    Notes
    -----
    One search on numbers per group and change (i, j) of its rows, then O(i**2 j**2) per group. If
    there is one group, all its changes are searched at once.
    """

    name = "groups"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries, and groups that can be without an answer."""
        grouped = Grouped.of(problem.universe, problem.query, problem.x + problem.outside)
        if isinstance(grouped, str):
            return Refusal.of_query(self.name, self.covers, grouped)
        every = (*grouped.groups, grouped.others)
        searches = [
            _OneGroup.of(grouped, members, problem, self._engines, options) for members in every
        ]
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
        if len(searches) == 2:
            return self._one_group(problem, searches[0], searches[1])
        found: list[dict[RemovedAdded, Any]] = []
        memory = 0
        for group in searches[:-1]:
            found.append({})
            for change in group.changes():
                plan = group.plan(change)
                if isinstance(plan, Refusal):
                    return plan
                found[-1][change], cost = plan
                memory = max(memory, cost)
        nothing: list[OfChange] = [dict.fromkeys(of, (Fraction(0), None)) for of in found]
        if best_split(nothing, searches[-1].fits, problem.changes, problem.norm) is None:
            return Refusal(f"groups finds no neighbor of x with the group_sizes {grouped.sizes}")
        # What each search finds: records lost and gained.
        memory += 2 * (ROW_BYTES + WORD * total) * problem.universe.number
        return Plan(
            partial(_solve, problem, searches, found), Cost(memory + bytes_of_pairs(problem))
        )

    def _one_group(
        self, problem: LocalProblem, group: _OneGroup, others: _OneGroup
    ) -> Plan[Finding] | Refusal:
        """Plan the search for both ends of the answer of the only group."""
        # By what changes in the group, the first change of x of which that can be a part.
        wholes: dict[RemovedAdded, RemovedAdded] = {}
        for part in [(0, 0), *group.changes()]:
            for whole in problem.changes:
                rest = whole[0] - part[0], whole[1] - part[1]
                if min(rest) >= 0 and others.fits(rest):
                    wholes[part] = whole
                    break
        if not wholes:
            return Refusal(
                f"groups finds no neighbor of x with the group_sizes {group.grouped.sizes}"
            )
        places = {whole: place for place, whole in enumerate(problem.changes)}
        # In the order in which x has their changes: the nearest neighbors come first.
        parts = sorted(set(wholes) - {(0, 0)}, key=lambda part: (places[wholes[part]], part))
        for part in parts:
            refused = group.refused(part)
            if refused is not None:
                return refused
        searched = [part for part in parts if not group.is_empty(part)]
        memory, ends = 0, None
        if searched:
            plan = group.first_plan(SomeChanges.of(*searched))
            if isinstance(plan, Refusal):
                return plan
            memory, ends = plan.cost.bytes, plan.ends
        memory += 2 * (ROW_BYTES + WORD) * problem.universe.number + _BYTES * len(wholes)
        both = partial(_both_ends, problem, group, others, wholes, ends)
        return local_plan(problem, both, Cost(memory + bytes_of_pairs(problem)))


def _both_ends(
    problem: LocalProblem,
    group: _OneGroup,
    others: _OneGroup,
    wholes: dict[RemovedAdded, RemovedAdded],
    ends: Callable[[], BothEnds] | None,
) -> BothEnds:
    """Return the group's answer on x, and its ends for what changes in it and in other rows."""
    of_x = group.answer(group.x)

    def lifted(end: End, part: RemovedAdded) -> End:
        def y() -> Multiplicities:
            rest = wholes[part][0] - part[0], wholes[part][1] - part[1]
            changed = problem.x + group.rows(end.y(), part)
            changed -= _some(problem.x, others.members, rest[0])
            found: Multiplicities = changed + _some(problem.outside, others.members, rest[1])
            return found

        return End(end.answer, y)

    def ends_of(part: RemovedAdded, lower: End, upper: End) -> Ends:
        removed, added = wholes[part]
        return Ends(removed, added, lifted(lower, part), lifted(upper, part))

    def of_changes() -> Iterator[Ends]:
        if (0, 0) in wholes:
            same = End(of_x, lambda: group.x)
            yield ends_of((0, 0), same, same)
        for part in wholes:
            if part != (0, 0) and group.is_empty(part):
                some = [End(group.answer(y), partial(y.copy)) for y in group.extremes(part)]
                lower, upper = (choose(some, key=attrgetter("answer")) for choose in (min, max))
                yield ends_of(part, lower, upper)
        for one in () if ends is None else ends().of_changes:
            yield ends_of((one.removed, one.added), one.lower, one.upper)

    return BothEnds(of_x, of_changes())


def _solve(problem: LocalProblem, searches: list[_OneGroup], found: list[Any]) -> Finding:
    """Return x and the neighbor whose answers are furthest from its."""
    options: list[OfChange] = [{change: search() for change, search in of.items()} for of in found]
    # The plan has seen that there is a split.
    best = best_split(options, searches[-1].fits, problem.changes, problem.norm)
    _, parts, rest = cast(Best, best)
    y = problem.x.copy()
    for group, change in parts:
        y += options[group][change][1]
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
    size: int
    free: int
    problem: LocalProblem
    engines: Sequence[Engine[LocalProblem, Finding]]
    options: Options

    @classmethod
    def of(
        cls,
        grouped: Grouped,
        members: Members,
        problem: LocalProblem,
        engines: Sequence[Engine[LocalProblem, Finding]],
        options: Options,
    ) -> _OneGroup:
        """Return one group of a problem's x."""
        rows_x, rows_out = problem.x[members.rows], problem.outside[members.rows]
        numbers, places = None, np.empty(0, dtype=np.intp)
        if members.size:
            numbers, places = numbers_of(grouped, members)
        return cls(
            grouped,
            members,
            numbers,
            places,
            of_each(rows_x, places),
            int(rows_x.sum()),
            int(rows_out.sum()),
            problem,
            engines,
            options,
        )

    def fits(self, change: RemovedAdded) -> bool:
        """Tell whether so many records can be removed and added."""
        return change[0] <= self.size and change[1] <= self.free

    def changes(self) -> list[RemovedAdded]:
        """Return the changes of this group that can be part of those of x."""
        # By how many records the group loses, the most that it can gain.
        most: dict[int, int] = {}
        for removed, added in self.problem.changes:
            lost, gained = min(removed, self.size), min(added, self.free)
            most[lost] = max(gained, most.get(lost, 0))
        possible, gained = set(), -1
        # What a group gains while it loses more, it can gain while it loses less, too: other rows
        # then lose more. So the most gained is a running maximum from the largest loss down.
        for lost in range(max(most, default=-1), -1, -1):
            gained = max(gained, most.get(lost, -1))
            possible |= {(lost, j) for j in range(gained + 1)}
        public = self.grouped.sizes is not None
        return sorted((i, j) for i, j in possible - {(0, 0)} if i == j or not public)

    def plan(self, change: RemovedAdded) -> Any:
        """Return a function that finds the largest difference for a change, and its bytes."""
        refused = self.refused(change)
        if refused is not None:
            return refused
        if self.is_empty(change):
            return partial(self._furthest, change, partial(self.extremes, change)), 0
        plan = self.first_plan(SomeChanges.of(change))
        if isinstance(plan, Refusal):
            return plan
        solve = plan.solve
        return partial(self._furthest, change, lambda: [solve().y]), plan.cost.bytes

    def is_empty(self, change: RemovedAdded) -> bool:
        """Tell whether the group is empty, or becomes so."""
        return self.numbers is None or 0 in (self.size, self.size - change[0] + change[1])

    def refused(self, change: RemovedAdded) -> Refusal | None:
        """Return why there is no answer before or after a change, if so."""
        query, name = self.grouped.query, self.problem.query.name
        for size in (self.size, self.size - change[0] + change[1]):
            if size < query.least_size and (size or self.grouped.empty is None):
                return Refusal(
                    f"groups needs an answer for every group: {name} has none for "
                    f"{size} rows, which a neighbor of x has in one group; give the query "
                    "empty=..., choose a smaller distance, or public group_sizes"
                )
        if self.is_empty(change) and self.search_extremes(change) is None:
            return Refusal(
                f"groups does not cover {name} if a group is or becomes empty; "
                "choose a smaller distance, or public group_sizes"
            )
        return None

    def first_plan(self, changes: SomeChanges) -> Plan[Finding] | Refusal:
        """Return the plan of the first engine that covers some changes of the numbers."""
        numbers = cast(FiniteUniverse, self.numbers)
        asked = LocalProblem(numbers, self.grouped.query, changes, self.x)
        return first_plan(self.engines, asked, self.options)

    def _furthest(
        self, change: RemovedAdded, neighbors: Callable[[], Iterable[Multiplicities]]
    ) -> tuple[Gap, Any]:
        """Return the largest difference, with what becomes of the rows."""
        gaps = (
            (gap_of(self.grouped.query, self.answer(self.x), self.answer(y)), y)
            for y in neighbors()
        )
        gap, y = max(gaps, key=itemgetter(0))
        return gap, self.rows(y, change)

    def extremes(self, change: RemovedAdded) -> Iterator[Multiplicities]:
        """Yield the neighbors with the largest and the smallest answer; x or they are empty."""
        search = cast("Callable[[], list[Extreme]]", self.search_extremes(change))
        yield from (one.data() for one in search())

    def search_extremes(self, change: RemovedAdded) -> Callable[[], list[Extreme]] | None:
        """Return a search for the extremes of a neighbor; x or the neighbor is empty.

        A group that becomes empty gains nothing, and has one answer. An empty one becomes any
        dataset of its numbers of a size: of a range neither the largest nor the smallest records
        are the ends. None if no engine finds them.
        """
        if self.numbers is None or self.size - change[0] + change[1] == 0:
            none = np.zeros_like(self.x)
            return lambda: [Extreme(self.answer(none), lambda: none, self.problem.universe, ())]
        return plan_extremes(
            self.engines, self.numbers, self.grouped.query, change[1], self.options
        )

    def rows(self, y: Multiplicities, change: RemovedAdded) -> Multiplicities:
        """Return what a neighbor has more, or less, of every row if the group's numbers are y."""
        of_x, outside = (of[self.members.rows] for of in (self.problem.x, self.problem.outside))
        of_y = changed_by_group(of_x, outside, self.places, y - self.x, change[0])
        return self.members.among(of_y - of_x)

    def answer(self, data: Multiplicities) -> Fraction:
        """Return the answer of the group on some of its numbers."""
        if not data.sum():
            empty = self.grouped.empty or Fraction(0)
            return empty**2 if self.grouped.query.root else empty
        return answer(self.grouped.query, self.numbers, data)  # type: ignore[arg-type]
