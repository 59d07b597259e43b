"""Groups whose sizes are public: each is searched alone, and only replacing keeps the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.search.engine import (
    Cost,
    Engine,
    Finding,
    Findings,
    Options,
    Plan,
    Refusal,
    first_plan,
)
from sensitivity_lab.search.layouts import WORD
from sensitivity_lab.universes.relations import Bounded, RemovedAdded

from .known_sizes import OfChange, OneGroup, best_split, numbers_of
from .members import Grouped


def plan_fixed(
    grouped: Grouped,
    problem: Problem,
    engines: Sequence[Engine[Problem, Findings]],
    options: Options,
) -> Plan[Findings] | Refusal:
    """Plan the search among datasets whose groups have the sizes given."""
    (query,), (relation,) = problem.queries, problem.neighbors
    sizes = grouped.sizes or ()
    changes = problem.changes(relation)
    most = max(min(change) for _, change in changes)
    searches: list[dict[RemovedAdded, OneGroup]] = []
    memory = found = 0
    for members, size in zip(grouped.groups, sizes, strict=True):
        least = 0 if grouped.empty is not None else 1
        if size > members.size or size < max(least, grouped.query.least_size if size else 0):
            return Refusal(
                f"groups finds no dataset on which {query.name} has an answer and the group_sizes "
                f"are {sizes}: for one group of {members.size} rows that is {size}"
            )
        searches.append({})
        if size == 0:
            continue
        numbers, places = numbers_of(grouped, members)
        # k records leave the group and k others of it come: it must have both.
        for k in range(1, min(most, size, members.size - size) + 1):
            asked = Problem(numbers, (grouped.query,), (Bounded(k, exactly=True),), (size,))
            plan = first_plan(engines, asked, options)
            if isinstance(plan, Refusal):
                return plan
            memory, found = max(memory, plan.cost.bytes), found + 3 * WORD * grouped.many
            searches[-1][k, k] = OneGroup(grouped, members, numbers, places, k, plan)
    search = _FixedSizes(grouped, problem, tuple(changes), tuple(searches))
    if not search.splits([dict.fromkeys(of, (Fraction(0), None)) for of in searches]):
        return Refusal(
            f"groups finds no neighbors, {relation}, with the group_sizes {sizes} of {query.name}: "
            "only replacing rows, or changing rows of no group, keeps the sizes; choose Bounded, "
            "or a size that has room for the groups"
        )
    return Plan(search.findings, Cost(memory + found + 8 * WORD * grouped.many))


@dataclass(frozen=True, eq=False)
class _FixedSizes:
    """The search over all groups, for one query and one relation."""

    grouped: Grouped
    problem: Problem
    changes: tuple[tuple[int, RemovedAdded], ...]
    groups: tuple[dict[RemovedAdded, OneGroup], ...]

    def splits(self, options: Sequence[OfChange]) -> list[tuple[Any, int]]:
        """Return the best split of the changes for every size of x that has one."""
        found = []
        for size in dict.fromkeys(size for size, _ in self.changes):
            outside = size - sum(self.grouped.sizes or ())
            # Of the records in no group, `outside` are in x, and `free` can be added.
            free = self.grouped.others.size - outside

            def fits(change: RemovedAdded, outside: int = outside, free: int = free) -> bool:
                return change[0] <= outside and change[1] <= free

            wanted = [change for of, change in self.changes if of == size]
            best = best_split(options, fits, wanted, self.problem.norm)
            if best is not None:
                found.append((best, outside))
        return found

    def findings(self) -> Findings:
        """Return a pair that is furthest apart."""
        options: list[OfChange] = [
            {change: group.solve() for change, group in of.items()} for of in self.groups
        ]
        (_, parts, rest), outside = max(self.splits(options), key=lambda one: one[0][0])
        members = [*self.grouped.groups, self.grouped.others]
        stays = [*(self.grouped.sizes or ()), outside - rest[0]]
        core, of_x, of_y = (np.zeros(self.grouped.many, dtype=np.int64) for _ in range(3))
        for group, change in parts:
            for data, rows in zip((core, of_x, of_y), options[group][change][1], strict=True):
                data += rows
        for place in set(range(len(members))) - {group for group, _ in parts}:
            core += members[place].taken((0, stays[place]))
        start, middle = stays[-1], stays[-1] + rest[0]
        of_x += members[-1].taken((start, middle))
        of_y += members[-1].taken((middle, middle + rest[1]))
        return [[Finding(core + of_x, core + of_y, None, 0)]]
