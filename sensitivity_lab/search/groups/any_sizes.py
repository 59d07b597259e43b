"""The search with groups of any size, for one query and one relation.

Variances and standard deviations by group are searched where at most one row is removed and one
added: there is no kernel for all sizes at once. With c records that stay, n = c + 1 and R the range
of a group's numbers, the variance changes by at most c R**2 / n**2 (docs/proofs.md, "Groups"), and
the standard deviation by at most the root of that. So the combination starts with these bounds; the
parts of the split it finds are searched by an engine on numbers, and it is done when the best split
has no bound left.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import Norm
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import nearest
from sensitivity_lab.exact.roots import Gap, root_gap
from sensitivity_lab.problem import Problem
from sensitivity_lab.running import poll
from sensitivity_lab.search.contenders import Contenders
from sensitivity_lab.search.engine import Engine, Finding, Findings, Options, Refusal, first_plan
from sensitivity_lab.universes.relations import Bounded, RemovedAdded, Unbounded

from .combine import ANY, Combination, Part, Split, Table, Target
from .kernels import Kernel
from .known_sizes import OneGroup, Rows, numbers_of
from .members import Grouped, Members


@dataclass(frozen=True, eq=False)
class AnySizes(ABC):
    """The search for one query and one relation, with sizes that are not public."""

    grouped: Grouped
    targets: tuple[Target, ...]
    states: frozenset[RemovedAdded]
    top: int
    norm: Norm

    @abstractmethod
    def exactly(self, part: Part) -> Gap:
        """Return the largest difference of a group's answers exactly."""

    @abstractmethod
    def rows(self, group: int, change: RemovedAdded, stays: int) -> Rows:
        """Return the records of C, A and B in a group."""

    def split(self, tables: Sequence[Table], error: float) -> Split:
        """Return the best split, of values with a bound of their error."""
        others = self.grouped.others.size
        if self.norm == "Linf":
            sizes = [*(group.size for group in self.grouped.groups), others]
            return _largest_part(tables, sizes, self.targets, error, self.exactly)
        widest = max(float(values.max()) for table in tables for values in table.values())
        if self.norm == "L2":
            # In units of 2**shift no square is beyond the range of floats.
            shift = max(0, math.frexp(widest)[1] - 256)
            widest, error = math.ldexp(widest, -shift), math.ldexp(error, -shift)
            # Squares add up: (v + e)^2 is off by 2 v e + e^2.
            error = 2 * widest * error + error**2
            tables = [
                {of: _squared(np.ldexp(values, -shift)) for of, values in table.items()}
                for table in tables
            ]
            widest *= widest
        # Where a sum may need more than 52 bits, each value counts as rounded.
        if widest * len(tables) >= 2.0**52:
            error += float(np.finfo(np.float64).eps) * widest
        power = 2 if self.norm == "L2" else 1
        combination = Combination(
            tables, others, self.targets, error, lambda part: self.exactly(part) ** power
        )
        return combination.best()

    def found(self, split: Split) -> Findings:
        """Return datasets that a split describes.

        A part says how many records of a group are removed, added and stay, and `rows` which. All
        other records do not matter: any will do, as long as the numbers are right.
        """
        core, of_x, of_y = (np.zeros(self.grouped.many, dtype=np.int64) for _ in range(3))
        placed: set[int] = set()
        # What the other records still have to bring: `total` that stay, `removed` and `added`.
        # `free` has the groups of which any records will do, with a change of their own if they
        # have one.
        total, (removed, added) = split.target
        free: list[tuple[Members, RemovedAdded | None]] = []
        for group, change, stays in split.parts:
            placed.add(group)
            removed, added = removed - change[0], added - change[1]
            members = self.grouped.groups[group]
            if stays == ANY:
                free.append((members, change))
                continue
            total -= stays
            rows = self.rows(group, change, stays)
            for data, taken in zip((core, of_x, of_y), rows, strict=True):
                data += taken
        # The records of no group come before groups that do not change: they take what is removed
        # and added outside the parts, so that only records that stay are left for those groups.
        rest = [m for g, m in enumerate(self.grouped.groups) if g not in placed]
        free += [(members, None) for members in (self.grouped.others, *rest)]
        left = [removed, added, total]
        for members, own in free:
            # Of a group's records, in order: some are only in x, the next only in y, the next in
            # both. A change of its own was taken off before, what stays was not.
            wanted = (*(own or left[:2]), left[2])
            start = 0
            for place, data in enumerate((of_x, of_y, core)):
                stop = min(start + wanted[place], members.size)
                data += members.taken((start, stop))
                if own is None or place == 2:
                    left[place] -= stop - start
                start = stop
        return [[Finding(core + of_x, core + of_y, None, 0)]]


@dataclass(frozen=True, eq=False)
class Search(AnySizes):
    """The search with a kernel, which finds the differences of a group for all sizes at once."""

    kernel: Kernel

    def findings(self) -> Findings:
        """Return a pair that is furthest apart."""
        return self.found(self.split(self._tables(), self.kernel.error))

    def _tables(self) -> list[Table]:
        """Return the largest differences of each group's answers."""
        stays = np.arange(self.top + 1)
        tables: list[Table] = [
            {(0, 0): np.where(stays <= group.size, 0.0, -np.inf)} for group in self.grouped.groups
        ]
        for i, j in sorted(self.states - {(0, 0)}):
            poll()
            if (j, i) in tables[0]:
                for table in tables:
                    table[i, j] = table[j, i]
                continue
            both = (self.kernel.floats(self.top, *of) for of in ((i, j), (j, i)))
            for table, one, other in zip(tables, *both, strict=True):
                table[i, j] = np.maximum(one, other)
        return tables

    def exactly(self, part: Part) -> Gap:
        """Return the largest difference of a group's answers exactly."""
        group, (i, j), stays = part
        if stays == ANY:
            return Fraction(0)
        return max(self.kernel.exactly(group, stays, *of) for of in ((i, j), (j, i)))

    def rows(self, group: int, change: RemovedAdded, stays: int) -> Rows:
        """Return the records of C, A and B in a group."""
        (i, j), members = change, self.grouped.groups[group]
        # Of the two signs, the one whose difference the table has: P is A and Q is B, or P is B.
        direct = self.kernel.exactly(group, stays, i, j) >= self.kernel.exactly(group, stays, j, i)
        p, q = (i, j) if direct else (j, i)
        parts = (
            self.kernel.core(group, stays, p, q),
            ((members.size - p, members.size),),
            ((0, q),),
        )
        core, top, bottom = (members.taken(*ranges) for ranges in parts)
        return (core, top, bottom) if direct else (core, bottom, top)


def _squared(values: np.ndarray) -> np.ndarray:
    # What is above 0 stays so: groups whose values are all 0 count as unchanged.
    least = np.finfo(np.float64).tiny * (values > 0)
    return np.where(np.isfinite(values), np.maximum(values * values, least), -np.inf)


def _largest_part(
    tables: Sequence[Table],
    sizes: Sequence[int],
    targets: Sequence[Target],
    error: float,
    exactly: Callable[[Part], Gap],
) -> Split:
    """Return a split in which one group has the largest value of all, for the norm Linf.

    The other groups need not change together; see `Combination` for the norms that add them up.

    The other changed records, and those that stay, may be anywhere else: `sizes` tells how many
    records there are in each group, and at last in no group.
    """
    near = Contenders(error)
    firsts: list[tuple[Target, int, RemovedAdded, int]] = []  # by block, what its first value is of
    for total, (removed, added) in targets:
        for group, table in enumerate(tables):
            elsewhere = sum(sizes) - sizes[group]
            for (i, j), values in table.items():
                changed = removed - i + added - j
                # The other groups, and the records of none, have to hold all that this group does
                # not.
                low = max(0, total + changed - elsewhere)
                if i > removed or j > added or (i, j) == (0, 0) or low > total:
                    continue
                near.see(values[low : total + 1])
                firsts.append(((total, (removed, added)), group, (i, j), low))
    if near.reached == -np.inf or (near.reached <= 0 and not error):
        return Split(targets[0], (), (0, 0))
    splits = (
        Split(target, ((group, change, low + stay),), (0, 0))
        for block, places in near.by_block()
        for target, group, change, low in [firsts[block]]
        for stay in places.tolist()
    )
    return max(splits, key=lambda one: exactly(one.parts[0])) if error else next(splits)


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
                values[stays] = (
                    0 if change == (0, 0) else nearest(self._bound(group, change, stays))
                )
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
