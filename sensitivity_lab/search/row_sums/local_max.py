"""Exact local search for sums of a function of a record: what x can lose, and what it can gain.

As in the global search, but A is taken from x and B from outside x, so they share no record. See
docs/proofs.md, "Local sensitivity: sums of a function of a record, and one column".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import Cost, Finding, Options, Plan, Refusal, best_neighbor
from sensitivity_lab.search.memory import of_pairs
from sensitivity_lab.universes.multiplicities import Multiplicities

from .contributions import Contributions, contributions_of
from .global_max import (
    COVERS,
    MOST_PAIRS,
    apart,
    as_records,
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
        return Plan(partial(_solve, problem, sides), Cost(memory + of_pairs(problem)))


Sides = tuple[Contributions, Contributions]
"""What records contribute, counted in x and outside x."""


def _solve(problem: LocalProblem, sides: Sides) -> Finding:
    return best_neighbor(problem, _neighbors(problem, sides))


def _neighbors(problem: LocalProblem, sides: Sides) -> Iterator[tuple[Difference, Multiplicities]]:
    """Yield neighbors of x, among them the furthest one, with how far they are."""
    for change in problem.changes:
        for parts in candidates(*sides, change, problem.norm):
            removed = as_records(parts[0], sides[0], problem.x)
            added = as_records(parts[1], sides[1], problem.outside)
            yield apart(sides[0], parts, problem.norm), problem.x - removed + added


def _sides(problem: LocalProblem) -> Sides | None:
    """Return what records contribute, counted in x and outside x; None if f is not such a sum."""
    most = max(added for _, added in problem.changes)
    held = contributions_of(problem.query, problem.universe, problem.size + most)
    if held is None:
        return None
    of_x, outside = (
        replace(held, counts=np.bincount(held.group, weights=counts).astype(np.int64))
        for counts in (problem.x, problem.outside)
    )
    return of_x, outside
