"""Groups of known sizes, each searched alone by an engine on numbers.

The sizes are known where they are public, and where one dataset is given. What is left is to split
the changed records over the groups, exactly and in rational numbers. The changes of one group are
searched by an engine on numbers.
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
from sensitivity_lab.metrics.records import OfMultisets, SymmetricDistance
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Findings, Plan
from sensitivity_lab.search.groups.members import Grouped, Members
from sensitivity_lab.universes.relations import (
    Multiplicities,
    Relation,
    RemovedAdded,
    changed_by_group,
    repeated,
    smallest_of_each,
)
from sensitivity_lab.universes.universe import FiniteUniverse, Space, Universe, of_numbers


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
