"""The search for the changes of one group, by an engine on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.search.engine import Findings, Plan
from sensitivity_lab.universes.multiplicities import smallest
from sensitivity_lab.universes.multiset import FiniteUniverse

from .known_sizes import Rows, answer, gap_of, in_rows
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
        have = np.zeros(self.grouped.many, dtype=np.int64)
        have[self.members.rows] = self.members.counts
        total = np.bincount(self.places, weights=self.members.counts).astype(np.int64)
        shared, lost, gained = np.minimum(x, y), np.maximum(x - y, 0), np.maximum(y - x, 0)
        # Rows change places with others of the same number, as far as there are any.
        spare = np.minimum(shared, total - np.maximum(x, y))
        more = smallest(spare, self.k - int(lost.sum()))
        core = shared - more
        take = partial(in_rows, self.members, self.places, have=have)
        ends = [
            take(data=data) for data in (core, core + lost + more, core + lost + gained + 2 * more)
        ]
        return gap, (ends[0], ends[1] - ends[0], ends[2] - ends[1])
