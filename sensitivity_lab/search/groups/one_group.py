"""The search for the changes of one group, by an engine on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.search.engine import Findings, Plan
from sensitivity_lab.universes.multiplicities import changed_by_group, smallest_of_each
from sensitivity_lab.universes.multiset import FiniteUniverse

from .known_sizes import Rows, answer, gap_of
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
