"""Exact local search for sums of a function of a record: what x can lose, and what it can gain.

As in the global search, but A is taken from x and B from outside x, so they share no record. See
docs/proofs.md, "Local sensitivity: sums of a function of a record, and one column".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np

from sensitivity_lab.exact.difference import Difference
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
    local_plan,
)
from sensitivity_lab.search.layouts import bytes_of_pairs
from sensitivity_lab.universes.relations import Multiplicities, RemovedAdded, smallest_of_each

from .contributions import Contributions, contributions_of
from .global_max import (
    COVERS,
    MOST_PAIRS,
    Parts,
    apart,
    bytes_of,
    candidates,
    number_of_pairs,
    too_many,
)


class LocalRowSums:
    """The engine: exact for sums of a function of a record, in every norm.

    Notes
    -----
    The same cost as `RowSums`, with the records of x for A and those outside for B.
    """

    name = "row_sums"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries, and too many pairs."""
        sides = _sides(problem)
        if sides is None:
            return Refusal.of_query(self.name, self.covers, problem.query.name)
        pairs, left = 0, sorted(problem.changes, key=sum)
        while left and pairs <= MOST_PAIRS:
            pairs += number_of_pairs(*sides, left.pop(), problem.norm)
        if pairs > MOST_PAIRS:
            return too_many(f"{'at least ' if left else ''}{pairs:,}")
        memory = max(bytes_of(*sides, change, problem.norm) for change in problem.changes)
        cost = Cost(memory + bytes_of_pairs(problem))
        if sides[0].vectors.shape[1] == 1:
            return local_plan(problem, partial(_both_ends, problem, sides), cost)
        return Plan(partial(_solve, problem, sides), cost)


Sides = tuple[Contributions, Contributions]
"""What records contribute, counted in x and outside x."""


def _solve(problem: LocalProblem, sides: Sides) -> Finding:
    """Return x and its furthest neighbor."""
    _, y = max(_neighbors(problem, sides), key=itemgetter(0))
    return Finding(problem.x, y, None, 0)


def _both_ends(problem: LocalProblem, sides: Sides) -> BothEnds:
    """Return the answer on x, and the least and the greatest one of every change.

    Answers are one number each: it is least where x loses the records that contribute most and
    gains those that contribute least.
    """
    of_x, outside = sides
    (answer,) = of_x.total(of_x.counts)

    def end_of(change: RemovedAdded, sign: float) -> End:
        parts = (
            outside.extreme(np.array([sign]), change[1]),
            of_x.extreme(-np.array([sign]), change[0]),
        )
        (more,), (less,) = (of_x.total(part) for part in parts)
        return End(answer + more - less, partial(_neighbor, problem, sides, (parts[1], parts[0])))

    ends = (Ends(*change, end_of(change, -1.0), end_of(change, 1.0)) for change in problem.changes)
    return BothEnds(answer, ends)


def _neighbor(problem: LocalProblem, sides: Sides, parts: Parts) -> Multiplicities:
    """Return the neighbor that loses and gains parts."""
    removed = smallest_of_each(problem.x, sides[0].group, parts[0])
    added = smallest_of_each(problem.outside, sides[1].group, parts[1])
    y: Multiplicities = problem.x - removed + added
    return y


def _neighbors(problem: LocalProblem, sides: Sides) -> Iterator[tuple[Difference, Multiplicities]]:
    """Yield neighbors of x, among them the furthest one, with how far they are."""
    for change in problem.changes:
        for parts in candidates(*sides, change, problem.norm):
            yield apart(sides[0], parts, problem.norm), _neighbor(problem, sides, parts)


def _sides(problem: LocalProblem) -> Sides | None:
    """Return what records contribute, counted in x and outside x; None if f is not such a sum."""
    most = max(added for _, added in problem.changes)
    size = problem.size if all(i == j for i, j in problem.changes) else None
    held = contributions_of(problem.query, problem.universe, problem.size + most, size)
    if held is None:
        return None
    of_x, outside = (
        replace(held, counts=np.bincount(held.group, weights=counts).astype(np.int64))
        for counts in (problem.x, problem.outside)
    )
    return of_x, outside
