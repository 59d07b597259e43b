"""The best split of the changed records, and of those that stay, over the groups.

A max-plus combination, group after group: the best sum of values for every number of records
removed, added and left in place so far. Bounds of what the remaining groups can add leave out what
cannot reach the best split that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.universes.relations import RemovedAdded

from .bounds import Bounds, Table

MOST_WORK = 300_000_000_000
"""At most so many additions: some minutes."""

MOST_TIES = 100_000
"""At most so many steps are taken to tell splits apart that floats do not."""

Target = tuple[int, RemovedAdded]
"""How many records stay in all, and how many are removed and added."""

Part = tuple[int, RemovedAdded, int]
"""A group, its change, and how many of its records stay; `ANY` where that does not matter."""

ANY = -1
"""So many records stay as are left: the group's answer does not change."""


@dataclass(frozen=True)
class Split:
    """A split over the groups: its target, the groups that change, and the change of no group."""

    target: Target
    parts: tuple[Part, ...]
    outside: RemovedAdded


class Combination:
    """The largest sum of the values of all groups.

    Parameters
    ----------
    tables : sequence of Table
        By group and change: the value for 0 to `top` records that stay, minus infinity where there
        are too few. The change (0, 0) has the value 0.
    others : int
        How many records are in no group; they have no value.
    targets : sequence of Target
    error : float
        A bound of the error of a value; 0 where floats hold all values and their sums.
    exactly : callable
        Returns the value of a part as a rational number.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        others: int,
        targets: Sequence[Target],
        error: float,
        exactly: Callable[[Part], Gap],
    ) -> None:
        self.tables, self.targets, self.exactly = tables, targets, exactly
        self.top = len(tables[0][0, 0]) - 1
        self.others = others
        self.states = {
            (i, j) for _, most in targets for i in range(most[0] + 1) for j in range(most[1] + 1)
        }
        widest = sum(max(float(f.max()) for f in table.values()) for table in tables)
        eps = float(np.finfo(np.float64).eps)
        self.slack = 4 * len(tables) * (error + eps * widest) if error else 0.0
        self.work = 0

    def best(self) -> Split:
        """Return a split with the largest sum; exactly so, whatever floats round."""
        bounds = Bounds(self.tables, sorted(self.states))
        known = self._forward(self._near(bounds), None, -np.inf)
        # Where sums have no error, only those count that are larger than the one known.
        least = known.value - self.slack if self.slack else np.nextafter(known.value, np.inf)
        found = self._forward(self.tables, bounds, float(least))
        if found.value <= known.value and not self.slack:
            found = known
        splits = self._splits(found)
        return max(splits, key=lambda split: sum(map(self.exactly, split.parts), Fraction(0)))

    def _near(self, bounds: Bounds) -> list[Table]:
        """Return the tables, reduced to where the best bound is attained."""
        candidates = []
        for total, wanted in self.targets:
            for state in self.states:
                left = bounds.left[0].get((wanted[0] - state[0], wanted[1] - state[1]))
                free = self.others - sum(state)
                if left is None or free < 0:
                    continue
                last = total // bounds.width
                first = max(0, (total - free) // bounds.width - len(self.tables))
                at = first + int(left[first : last + 1].argmax())
                candidates.append((float(left[at]), state, at, wanted))
        _, state, at, wanted = max(candidates)
        near: list[Table] = []
        for table, (change, block) in zip(self.tables, bounds.path(state, at, wanted), strict=True):
            values = table[change]
            if change != (0, 0):
                values = np.full_like(values, -np.inf)
                # Blocks add up to a little less than sizes do: some more on either side.
                more = len(self.tables) + 1
                part = slice(max(0, (block - more) * bounds.width), (block + more) * bounds.width)
                values[part] = table[change][part]
            near.append({change: values})
        return near

    def _outside(self) -> Table:
        """Return the sums before the first group: all 0, as far as there are records."""
        stays = np.arange(self.top + 1)
        return {
            state: np.where(stays + sum(state) <= self.others, 0.0, -np.inf)
            for state in self.states
            if sum(state) <= self.others
        }

    def _forward(self, tables: Sequence[Table], bounds: Bounds | None, least: float) -> _Sums:
        """Return the best sums after each group; with bounds only those that can reach `least`."""
        layers = [self._outside()]
        for group, table in enumerate(tables[:-1]):
            rest = None
            if bounds is not None:
                rest = {
                    state: bounds.of_sums(group + 1, state, self.targets)[: self.top + 1]
                    for state in self.states
                }
            layers.append(self._after(layers[-1], table, bounds, rest, least))
        value = max(
            (
                float((before[: total + 1] + values[: total + 1][::-1]).max())
                for total, wanted in self.targets
                for state, before, values in _steps(layers[-1], tables[-1], wanted)
            ),
            default=-np.inf,
        )
        return _Sums(list(tables), layers, value)

    def _after(
        self,
        before: Table,
        table: Table,
        bounds: Bounds | None,
        rest: Table | None,
        least: float,
    ) -> Table:
        """Return the best sums after one more group."""
        found: Table = {}
        for state, sums in before.items():
            for change, values in table.items():
                both = state[0] + change[0], state[1] + change[1]
                if both not in self.states or (rest is not None and both not in rest):
                    continue
                out = found.setdefault(both, np.full(self.top + 1, -np.inf))
                if change == (0, 0):
                    length = int(np.isfinite(values).sum())
                    np.maximum(out, _window_maximum(sums, length), out=out)
                else:
                    if bounds is None or rest is None:
                        pairs = _everything(sums, values)
                    else:
                        pairs = bounds.pairs(sums, values, rest[both], least)
                    for stays, more in pairs:
                        self._add(out, sums, values, stays, more)
        if rest is not None:
            for state, sums in found.items():
                sums[sums + rest[state] < least] = -np.inf
        return {state: sums for state, sums in found.items() if sums.max() > -np.inf}

    def _add(
        self, out: Floats, sums: Floats, values: Floats, left: Indices, right: Indices
    ) -> None:
        """Raise `out` to the sums at some ascending places and the values at others."""
        many, few = (left, right) if len(right) <= len(left) else (right, left)
        one, other = (sums, values) if many is left else (values, sums)
        first, last = int(many[0]), int(many[-1]) + 1
        self.work += len(few) * (last - first + 1000)
        if self.work > MOST_WORK:
            raise TooLargeError(
                f"groups would take more than {MOST_WORK:,} additions; choose the norm 'Linf', a "
                "smaller size or distance, or public group_sizes"
            )
        for place, add in zip(few.tolist(), other[few].tolist(), strict=True):
            stop = min(last, self.top + 1 - place)
            if stop > first:
                part = out[first + place : stop + place]
                np.maximum(part, one[first:stop] + add, out=part)

    def _splits(self, found: _Sums) -> Iterator[Split]:
        """Yield the best split, or all that floats cannot tell from it."""
        ends = [
            _Open(len(found.tables), target[1], (target[0], target[0]), (), target, 0.0)
            for target in self.targets
        ]
        open_ends, steps = ends, 0
        while open_ends:
            end = open_ends.pop()
            if end.group == 0:
                yield Split(end.target, end.parts, end.state)
                if not self.slack:
                    return
                continue
            steps += 1
            if steps > MOST_TIES:
                raise TooLargeError(
                    f"groups found more than {MOST_TIES:,} splits of the changed records that "
                    "differ by rounding errors only; choose a smaller distance, or the norm 'Linf'"
                )
            open_ends += self._before(found, end)

    def _before(self, found: _Sums, end: _Open) -> Iterator[_Open]:
        """Yield how a split that reaches the best sum can go on towards the first group."""
        table, layer = found.tables[end.group - 1], found.layers[end.group - 1]
        low, high = end.stays
        for state, sums, values in _steps(layer, table, end.state):
            change = end.state[0] - state[0], end.state[1] - state[1]
            needed = found.value - end.value - self.slack
            there = np.isfinite(values)
            if change == (0, 0) or (there[0] and not values[there].any()):
                lowest = max(0, low - (int(there.sum()) - 1))
                if sums[lowest : high + 1].max(initial=-np.inf) >= needed:
                    part = None if change == (0, 0) else (end.group - 1, change, ANY)
                    yield end.to(state, (lowest, high), part, 0.0)
                continue
            for stay in np.flatnonzero(values[: high + 1] + sums.max() >= needed).tolist():
                stays = max(0, low - stay), high - stay
                value = float(values[stay])
                if sums[stays[0] : stays[1] + 1].max(initial=-np.inf) + value >= needed:
                    yield end.to(state, stays, (end.group - 1, change, stay), value)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The best sums before each group, the tables they are made of, and the best of all."""

    tables: list[Table]
    layers: list[Table]
    value: float


@dataclass(frozen=True)
class _Open:
    """The end of a split: what the groups before `group` still have to bring."""

    group: int
    state: RemovedAdded
    stays: tuple[int, int]
    parts: tuple[Part, ...]
    target: Target
    value: float

    def to(
        self, state: RemovedAdded, stays: tuple[int, int], part: Part | None, value: float
    ) -> _Open:
        """Return the end with one more group."""
        parts = self.parts if part is None else (part, *self.parts)
        return _Open(self.group - 1, state, stays, parts, self.target, self.value + value)


def _steps(
    layer: Table, table: Table, wanted: RemovedAdded
) -> Iterator[tuple[RemovedAdded, Floats, Floats]]:
    """Yield the states from which a change of a group leads to the one wanted."""
    for change, values in table.items():
        state = wanted[0] - change[0], wanted[1] - change[1]
        if state in layer:
            yield state, layer[state], values


def _everything(sums: Floats, values: Floats) -> Iterator[tuple[Indices, Indices]]:
    """Yield all places of sums and of values."""
    stays, more = np.flatnonzero(np.isfinite(sums)), np.flatnonzero(np.isfinite(values))
    if len(stays) and len(more):
        yield stays, more


def _window_maximum(values: Floats, length: int) -> Floats:
    """Return for each place the largest of so many values up to it."""
    found, done = values.copy(), 1
    while done < min(length, len(values)):
        step = min(done, length - done)
        found[step:] = np.maximum(found[step:], found[:-step].copy())
        done += step
    return found
