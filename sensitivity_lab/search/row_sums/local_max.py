"""Exact local search for sums of a function of a record: what x can lose, and what it can gain.

As in `additive`, but A is taken from x and B from outside x, so they share no record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.search.engine import Finding, Options, Refusal
from sensitivity_lab.search.local_engine import furthest
from sensitivity_lab.universes.relations import Multiplicities

from .contributions import Contributions, contributions_of
from .global_max import MOST_PAIRS, apart, candidates, number_of_pairs, spread


class LocalAdditive:
    """The engine: exact for sums of a function of a record, in every norm.

    Notes
    -----
    The cost is that of `Additive`, with the records of x for A and those outside for B.
    """

    name = "additive"

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Refuse what is not additive, and too many pairs."""
        sides = _sides(problem)
        if sides is None:
            return Refusal(
                "additive covers sums of a function of a record (counts, sums, histograms and "
                f"their stacks), not {problem.query.name}"
            )
        pairs, left = 0, sorted(problem.changes, key=sum)
        while left and pairs <= MOST_PAIRS:
            pairs += number_of_pairs(*sides, left.pop(), problem.norm)
        if pairs > MOST_PAIRS:
            return Refusal(
                f"additive would compare {'at least ' if left else ''}{pairs:,} pairs of changed "
                f"records, more than {MOST_PAIRS:,}; choose a smaller distance, a coarser "
                "universe, or the norm 'L1' or 'Linf'",
                too_large=True,
            )
        return None

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the neighbor whose answer is furthest from that of x."""
        return furthest(problem, _neighbors(problem))


def _neighbors(problem: LocalProblem) -> Iterator[tuple[Difference, Multiplicities]]:
    sides = _sides(problem)
    if sides is None:
        raise AssertionError(f"{problem.query.name} is not additive")
    for change in problem.changes:
        for parts in candidates(*sides, change, problem.norm):
            gone = spread(parts[0], sides[0], problem.x)
            new = spread(parts[1], sides[1], problem.outside)
            yield apart(sides[0], parts, problem.norm), problem.x - gone + new


def _sides(problem: LocalProblem) -> tuple[Contributions, Contributions] | None:
    """Return what records contribute, counted in x and outside x; None if not additive."""
    most = max(added for _, added in problem.changes)
    held = contributions_of(problem.query, problem.universe, problem.size + most)
    if held is None:
        return None
    of_x, outside = (
        replace(held, counts=np.bincount(held.group, weights=counts).astype(np.int64))
        for counts in (problem.x, problem.outside)
    )
    return of_x, outside
