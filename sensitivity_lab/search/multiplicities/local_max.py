"""Exact local search for the number of distinct values.

x is fixed, so the largest and the smallest answer on y are enough. y has what is left of x, and
some of the records outside it; both are counted by groups of equal records. See docs/proofs.md,
"Multiplicities (`multiplicities`)", "One dataset".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Options,
    Plan,
    Refusal,
    furthest,
)
from sensitivity_lab.search.memory import WORD, of_pairs
from sensitivity_lab.universes.multiplicities import (
    Groups,
    Multiplicities,
    smallest,
    smallest_of_each,
)

from .fewest import FewestDistinct
from .global_max import COVERS, refusal

MAX_STEPS = 5_000_000_000
"""At most so many comparisons: some ten seconds."""

Change = tuple[Multiplicities, Multiplicities]
"""How many records of each group are removed from x, and how many are added."""


class LocalMultiplicities:
    """The engine: exact for count_distinct under every relation.

    Notes
    -----
    O(m log m) per change for m distinct values. If the records outside x are so few that they
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
        held = _Held.of(problem)
        needed = [FewestDistinct(held.x, held.outside, *change) for change in problem.changes]
        steps = sum(one.steps for one in needed)
        if steps > MAX_STEPS:
            return Refusal(
                f"{self.name} would take {steps:,} steps, more than {MAX_STEPS:,}; choose a "
                "smaller distance",
                too_large=True,
            )
        memory = max(one.bytes for one in needed) + 14 * WORD * problem.universe.number
        cost = Cost(memory + of_pairs(problem))
        return Plan(partial(_solve, problem, held), cost, partial(_both_ends, problem, held))


@dataclass(frozen=True, eq=False)
class _Held:
    """The records of x and those outside it, by groups.

    Attributes
    ----------
    groups : ndarray of intp, shape (m,)
        The group of each distinct value.
    x, outside : ndarray of int64, shape (g,)
    """

    groups: Groups
    x: Multiplicities
    outside: Multiplicities

    @classmethod
    def of(cls, problem: LocalProblem) -> _Held:
        groups = problem.query.grouped(problem.universe)
        x, outside = np.zeros((2, int(groups.max()) + 1), dtype=np.int64)
        np.add.at(x, groups, problem.x)
        np.add.at(outside, groups, problem.outside)
        return cls(groups, x, outside)


def _solve(problem: LocalProblem, held: _Held) -> Finding:
    """Return x and its furthest neighbor.

    An answer rises by at most j, and falls by at most i: changes that cannot reach further than
    what was found are left out.
    """
    of_x = _distinct(held.x)

    def of_changes() -> Iterator[Ends]:
        far = Fraction(-1)
        for removed, added in sorted(problem.changes, key=max, reverse=True):
            if max(removed, added) <= far:
                return
            ends = _ends(problem, held, removed, added)
            far = max(far, ends.upper.answer - of_x, of_x - ends.lower.answer)
            yield ends

    return furthest(problem, BothEnds(of_x, of_changes()))


def _both_ends(problem: LocalProblem, held: _Held) -> BothEnds:
    """Return the answer on x, and the least and the greatest answer of every change."""
    ends = (_ends(problem, held, *change) for change in problem.changes)
    return BothEnds(_distinct(held.x), ends)


def _ends(problem: LocalProblem, held: _Held, removed: int, added: int) -> Ends:
    """Return the ends of a change."""

    def end_of(change: Change) -> End:
        lost, gained = change
        return End(_distinct(held.x - lost + gained), partial(_neighbor, problem, held, change))

    lower, upper = (
        end_of(extreme(held.x, held.outside, removed, added))
        for extreme in (_fewest_distinct, _most_distinct)
    )
    return Ends(removed, added, lower, upper)


def _neighbor(problem: LocalProblem, held: _Held, change: Change) -> Multiplicities:
    """Return the neighbor that loses and gains so many records of each group."""
    lost, gained = change
    y: Multiplicities = (
        problem.x
        - smallest_of_each(problem.x, held.groups, lost)
        + smallest_of_each(problem.outside, held.groups, gained)
    )
    return y


def _filled(start: Multiplicities, limits: Multiplicities, records: int) -> Multiplicities:
    """Return the records at the start, and more up to a number, within limits."""
    more: Multiplicities = start + smallest(limits - start, records - int(start.sum()))
    return more


def _distinct(counts: Multiplicities) -> Fraction:
    return Fraction(int(np.count_nonzero(counts)))


def _most_distinct(x: Multiplicities, outside: Multiplicities, i: int, j: int) -> Change:
    """Remove what is there twice, then values that can come back; add every value that can be."""
    # All but one record of each value can go for nothing.
    lost = smallest(np.maximum(x - 1, 0), i)
    gone = np.zeros_like(x)
    # Once every value is there once, each record removed is a value. Those with a record outside
    # go first: they can come back.
    values = np.flatnonzero(x > 0)
    first = values[np.argsort(outside[values] == 0, kind="stable")]
    gone[first[: i - int(lost.sum())]] = 1
    # Each value that is missing then comes with its first record; more records change nothing.
    missing = np.minimum(outside, (x == 0) | (gone == 1))
    new = smallest(np.minimum(missing, 1), j)
    return lost + gone, _filled(new, outside, j)


def _fewest_distinct(x: Multiplicities, outside: Multiplicities, i: int, j: int) -> Change:
    """Remove as many values as possible whole, and add to as few new ones as possible."""
    # What goes whole, and the new ones. Records are added to values that stay first, which makes no
    # value more, and then to the new ones; never to one that went.
    gone, new = FewestDistinct(x, outside, i, j).best()
    lost = _filled(np.where(gone, x, 0), x, i)
    kept = smallest(np.where((x > 0) & ~gone, outside, 0), j)
    return lost, _filled(kept, np.where(gone | ((x == 0) & ~new), 0, outside), j)
