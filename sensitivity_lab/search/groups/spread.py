"""Variances and standard deviations by group, where at most one row is removed and one added.

There is no kernel for all sizes at once. With c records that stay, n = c + 1 and R the range of a
group's numbers, the variance changes by at most c R**2 / n**2 (docs/proofs.md, "Groups"), and the
standard deviation by at most the root of that. So the combination starts with these bounds; the
parts of the split it finds are searched by an engine on numbers, and it is done when the best split
has no bound left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.roots import Gap, root_gap
from sensitivity_lab.problem import Problem
from sensitivity_lab.search.engine import (
    Engine,
    Findings,
    Options,
    Refusal,
    first_plan,
)
from sensitivity_lab.universes.relations import Bounded, RemovedAdded, Unbounded

from .any_sizes import AnySizes
from .combine import ANY, Part
from .known_sizes import OneGroup, Rows, numbers_of
from .members import Grouped
from .relaxation import Table

MOST_SEARCHES = 5_000
"""At most so many parts are searched."""


def is_variance(grouped: Grouped) -> bool:
    """Tell whether a query is a variance with an answer for one record."""
    query = grouped.query
    return query.moment == "variance" and query.ddof == 0


@dataclass(frozen=True, eq=False)
class Spreads(AnySizes):
    """The search for variances: bounds first, and exact values where they are needed."""

    engines: Sequence[Engine[Problem, Findings]]
    options: Options
    known: dict[Part, tuple[Gap, Rows]] = field(default_factory=dict)

    def findings(self) -> Findings:
        """Return a pair that is furthest apart."""
        tables = [self._bounds(group) for group in range(len(self.grouped.groups))]
        widest = max(float(values.max()) for table in tables for values in table.values())
        error = 8 * float(np.finfo(np.float64).eps) * widest
        # Always: each value of the tables is the largest difference of its part, if the part is
        # `known`, and an upper bound of it otherwise. So a best split of known parts is a best one.
        while True:
            split = self.split(tables, error)
            open_parts = [part for part in split.parts if part[2] != ANY and part not in self.known]
            if not open_parts:
                return self.found(split)
            for part in open_parts:
                self.known[part] = self._searched(part)
                group, change, stays = part
                tables[group][change][stays] = float(self.known[part][0])
            if len(self.known) > MOST_SEARCHES:
                raise TooLargeError(
                    f"groups found more than {MOST_SEARCHES:,} variances of groups that come close "
                    "to the largest; give public group_sizes, or choose a smaller size"
                )

    def exactly(self, part: Part) -> Gap:
        """Return the largest difference of a group's answers, or its bound."""
        if part[2] == ANY:
            return Fraction(0)
        return self.known[part][0] if part in self.known else self._gap(*part)

    def _gap(self, group: int, change: RemovedAdded, stays: int) -> Gap:
        """Return the bound of the difference of a group's answers."""
        bound = self._bound(group, change, stays)
        return root_gap(bound, Fraction(0)) if self.grouped.query.root else bound

    def rows(self, group: int, change: RemovedAdded, stays: int) -> Rows:
        """Return the records of C, A and B in a group."""
        return self.known[group, change, stays][1]

    def _bound(self, group: int, change: RemovedAdded, stays: int) -> Fraction:
        """Bound the difference of a group's variances; exactly so without a record that stays.

        Roots differ by at most the root of it, of which this is the square (docs/proofs.md,
        "Groups").
        """
        if stays == 0:
            empty = self.grouped.empty or Fraction(0)
            power = 2 if self.grouped.query.root else 1
            return Fraction(0) if change == (1, 1) else abs(empty) ** power
        line = self.grouped.groups[group].integers
        width = Fraction(int(line[-1] - line[0]), self.grouped.unit)
        # c R**2 / n**2 with c records that stay, n = c + 1.
        return Fraction(stays, (stays + 1) ** 2) * width**2

    def _bounds(self, group: int) -> Table:
        """Return bounds of a group's differences."""
        size = self.grouped.groups[group].size
        table: Table = {}
        for change in self.states:
            values = np.full(self.top + 1, -np.inf)
            last = min(self.top, size - sum(change))
            for stays in range(last + 1):
                values[stays] = 0 if change == (0, 0) else self._bound(group, change, stays)
            if self.grouped.query.root:
                np.sqrt(values, out=values, where=values > 0)
            # Where none stays, x or y is empty and has no answer.
            if self.grouped.empty is None and sum(change) == 1:
                values[0] = -np.inf
            table[change] = values
        return table

    def _searched(self, part: Part) -> tuple[Gap, Rows]:
        """Return the largest difference of a group's answers, and the records that attain it."""
        group, change, stays = part
        members = self.grouped.groups[group]
        if stays == 0:
            removed, added = change
            ranges: tuple[Any, ...] = ((), ((0, removed),), ((removed, removed + added),))
            core, lost, gained = (members.taken(*of) for of in ranges)
            return self._gap(*part), (core, lost, gained)
        numbers, places = numbers_of(self.grouped, members)
        both = change == (1, 1)
        relation = Bounded(1, exactly=True) if both else Unbounded(1, True, "remove")
        asked = Problem(numbers, (self.grouped.query,), (relation,), (stays + 1,))
        plan = first_plan(self.engines, asked, self.options)
        if isinstance(plan, Refusal):
            raise TooLargeError(plan.reason)
        one = OneGroup(self.grouped, members, numbers, places, 1, plan)
        value, (core, lost, gained) = one.solve()
        return value, (core, gained, lost) if change == (0, 1) else (core, lost, gained)
