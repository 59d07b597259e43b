"""Groups of known sizes, each searched alone by an engine on numbers.

The sizes are known where they are public, and where one dataset is given. What is left is to split
the changed records over the groups, exactly and in rational numbers. The changes of one group are
searched by an engine on numbers. Where the sizes are public, only replacing keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from sensitivity_lab.checks import Norm
from sensitivity_lab.exact.roots import Gap, root_gap
from sensitivity_lab.metrics.multisets import OfMultisets, SymmetricDistance
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
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
from sensitivity_lab.universes.relations import (
    Bounded,
    Multiplicities,
    Relation,
    RemovedAdded,
    changed_by_group,
    repeated,
    smallest_of_each,
)
from sensitivity_lab.universes.universe import FiniteUniverse, Space, Universe, of_numbers

from .members import Grouped, Members


@dataclass(frozen=True, eq=False)
class OneGroup:
    """The search for k rows of one group that are replaced, or removed."""

    grouped: Grouped
    members: Members
    numbers: FiniteUniverse
    places: Any
    k: int
    plan: Plan[Findings]

    def solve(self) -> tuple[Gap, Rows]:
        """Return the largest difference of the group's answers, and the rows that attain it."""
        ((found,),) = self.plan.solve()
        x, y = found.x, found.y
        query = self.grouped.query
        gap = gap_of(query, *(answer(query, self.numbers, data) for data in (x, y)))
        # Which rows have these numbers: of x the first that there are.
        have = self.members.counts
        of_x = smallest_of_each(have, self.places, x)
        of_y = changed_by_group(of_x, have - of_x, self.places, y - x, self.k)
        core = np.minimum(of_x, of_y)
        take = self.members.among
        return gap, (take(core), take(of_x - core), take(of_y - core))


Rows = tuple[Multiplicities, Multiplicities, Multiplicities]
"""The records of C, A and B, by multiplicities."""

OfChange = dict[RemovedAdded, tuple[Gap, Any]]
"""By change: the largest difference of a group's answers, and the records that attain it."""

Best = tuple[Gap, list[tuple[int, RemovedAdded]], RemovedAdded]
"""A norm (its square for L2), what each changed group does, and the change outside the groups."""


@dataclass(frozen=True)
class SomeChanges(Relation):
    """The neighbors that some changes lead to; so many records are removed, and so many added."""

    k: int = 1
    exactly: bool = True
    listed: tuple[RemovedAdded, ...] = ()

    name: ClassVar[str] = "some changes"
    does = "remove and add so many records"
    metric: ClassVar[OfMultisets] = SymmetricDistance()

    @classmethod
    def of(cls, *changes: RemovedAdded) -> SomeChanges:
        """Return the relation of some changes."""
        return cls(max(map(sum, changes)), True, changes)

    def some_changes(self, size: int, universe: Space, least: int = 0) -> tuple[RemovedAdded, ...]:
        """Return the changes."""
        return self.listed

    def levels(self, changes: Sequence[RemovedAdded]) -> list[int]:
        """Return a level for every change: those who list them know in which order they matter."""
        return list(range(len(changes)))

    def _limits(self, least: int) -> str:
        return "as many records must be there"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        return self.k

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        return (change for change in self.listed if sum(change) == k)


def numbers_of(grouped: Grouped, members: Members) -> tuple[FiniteUniverse, Any]:
    """Return the numbers of a group as a universe, and the place of each row's number there."""
    distinct, places = np.unique(members.integers, return_inverse=True)
    values = [Fraction(int(value), grouped.unit) for value in distinct]
    if grouped.unlimited:
        return Universe.from_domain(values), places
    counts = np.bincount(places, weights=members.counts).astype(np.int64)
    return Universe(values, counts.tolist()), places


def answer(query: Query, universe: FiniteUniverse, data: Multiplicities) -> Fraction:
    """Return a query's exact answer on numbers, its square if it is a root."""
    integers, unit = of_numbers(universe).integers
    found = query.rational(repeated(integers, data), unit)
    return found if found is not None else Fraction(0)


def gap_of(query: Query, one: Fraction, other: Fraction) -> Gap:
    """Return how far two answers are apart; they are squares if the query is a root."""
    return root_gap(one, other) if query.root else abs(one - other)


def best_split(
    groups: Sequence[OfChange],
    outside: Callable[[RemovedAdded], bool],
    wanted: Iterable[RemovedAdded],
    norm: Norm,
) -> Best | None:
    """Return the split of a change over the groups with the largest norm of all differences.

    Parameters
    ----------
    groups : sequence of OfChange
        By group.
    outside : callable
        Tells whether the records of no group can take a change.
    wanted : iterable of (int, int)
        How many records are removed and added in all; the best of them is found.
    norm : {"L1", "L2", "Linf"}
        Of the differences of all groups.

    Returns
    -------
    Best or None
        None if no split is possible.
    """
    totals = list(wanted)
    most = [max(total[side] for total in totals) for side in (0, 1)]
    # After some groups, by how many records they remove and add: the largest value, and how. Sizes
    # are known, so there is no axis for the records that stay.
    best: dict[RemovedAdded, tuple[Gap, list[tuple[int, RemovedAdded]]]] = {
        (0, 0): (Fraction(0), [])
    }
    for group, options in enumerate(groups):
        # A group may also stay as it is: these splits are kept.
        after = dict(best)
        for (i, j), (value, parts) in best.items():
            for (removed, added), (gap, _) in options.items():
                both = i + removed, j + added
                if both[0] > most[0] or both[1] > most[1]:
                    continue
                total = {"L1": value + gap, "L2": value + gap**2, "Linf": max(value, gap)}[norm]
                if both not in after or total > after[both][0]:
                    after[both] = total, [*parts, (group, (removed, added))]
        best = after
    found = [
        (value, parts, (total[0] - i, total[1] - j))
        for total in totals
        for (i, j), (value, parts) in best.items()
        if i <= total[0] and j <= total[1] and outside((total[0] - i, total[1] - j))
    ]
    return max(found, key=itemgetter(0)) if found else None


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
