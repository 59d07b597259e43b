"""The best split of the changed records, and of those that stay, over the groups.

A max-plus combination, group after group. Let V(i, j, s) be the largest sum of values with i
records removed, j added and s left in place so far. One more group with the values G makes it

    max over (a, b, c) of  V(i - a, j - b, s - c) + G(c; a, b).

So an array of sums or values has one axis, the records that stay; a `Table` has one such array per
*state* (i, j) before a group, or per change (a, b) of a group. Most sums are never made: bounds of
what the remaining groups can add leave out those that cannot reach the best split that is known.
See "Groups" (*Combination*) in docs/proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.running import poll
from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.universes.relations import RemovedAdded

from .bounds import Bounds, both_ways, tightest
from .relaxation import Table, Target

MOST_WORK = 300_000_000_000
"""At most so many additions: some minutes."""

MOST_TIES = 100_000
"""At most so many steps are taken to tell splits apart that floats do not."""

PROMISING = 64
"""When a good split is looked for, so many places go on before each group."""

LOWEST = float(np.finfo(np.float64).min)
"""Every sum that there is reaches it."""

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
        # A sum is off by at most a quarter of this: two that are compared, by at most half of it.
        self.slack = 4 * len(tables) * (error + eps * widest) if error else 0.0
        self.work = 0

    def best(self) -> Split:
        """Return a split with the largest sum; exactly so, whatever floats round."""
        found, known = self._sums()
        near = (split for sums in found for split in self._splits(sums, known - self.slack))
        first = next(near)
        if not self.slack:
            return first
        exactly = cache(self.exactly)
        return max(
            chain([first], near),
            key=lambda split: sum(map(exactly, split.parts), Fraction(0)),
        )

    def _sums(self) -> tuple[list[_Sums], float]:
        """Return the best sums of each target, so far as they can be the best of all, and that.

        Every split that reaches the sum of a known one, less the slack, is among the sums: the best
        one, with all that floats cannot tell from it.
        """
        outside, bounds, known = self._outside(), [], -np.inf
        # More changes mostly make larger differences: the other targets are left out early.
        for target in sorted(self.targets, key=lambda target: -sum(target[1])):
            bound = tightest(self.tables, outside, target, known - self.slack)
            if bound is not None:
                bounds.append(bound)
                known = max(known, self._good(bound))
        least = known - self.slack
        found = [self._forward(bound, least) for bound in bounds if bound.value >= least]
        return found, max(sums.value for sums in found)

    def _good(self, bounds: Bounds) -> float:
        """Return the sum of a good split, most often the best; minus infinity if none is found.

        Before each group, a few places go on: those from which bounds promise most. Their sums are
        those of splits, so the largest one is reached, whatever is left out. It is all that
        `_forward` needs to leave out the places that cannot reach it.
        """
        layer = self._outside()
        for group in range(len(self.tables) - 1):
            layer = self._after(self._few(layer, group, bounds), group, bounds, LOWEST)
        return self._largest(layer, bounds.target)

    def _few(self, layer: Table, group: int, bounds: Bounds) -> Table:
        """Return the best place of each block, of those blocks that promise most.

        A *place* is a state and a number of records that stay; a block, adjacent such numbers. It
        promises its largest priced sum and the most that the groups that are left can add to it.
        The price of a record that stays makes sums with different numbers of them comparable.
        """
        if not layer:
            return layer
        states, room = list(layer), np.arange(self.top + 1) <= bounds.target[0]
        # Axes: state, block, place in the block. No more may stay than the target has. `promised`
        # has the first two: the largest priced sum of a block, and what can still be added to it.
        priced = np.array(
            [bounds.rows(np.where(room, layer[state] + bounds.prices, -np.inf)) for state in states]
        )
        promised = priced.max(axis=2) + np.array([bounds.rest(group, state) for state in states])
        few = {state: np.full(self.top + 1, -np.inf) for state in states}
        for place in np.argsort(promised, axis=None)[-PROMISING:].tolist():
            of, block = divmod(place, promised.shape[1])
            stays = block * bounds.width + int(priced[of, block].argmax())
            if promised[of, block] > -np.inf:
                few[states[of]][stays] = layer[states[of]][stays]
        return few

    def _outside(self) -> Table:
        """Return the sums before the first group: all 0, as far as there are records."""
        stays = np.arange(self.top + 1)
        return {
            state: np.where(stays + sum(state) <= self.others, 0.0, -np.inf)
            for state in self.states
            if sum(state) <= self.others
        }

    def _forward(self, bounds: Bounds, least: float) -> _Sums:
        """Return the best sums after each group, of those that can be part of `least`."""
        layers = [self._outside()]
        for group in range(len(self.tables) - 1):
            layers.append(self._after(layers[-1], group, bounds, bounds.needed(least)))
        value = self._largest(layers[-1], bounds.target)
        return _Sums(bounds.target, bounds.mirrored, layers, value)

    def _largest(self, layer: Table, target: Target) -> float:
        """Return the largest sum of a target, from those before the last group."""
        total, wanted = target
        return max(
            (
                float((before[: total + 1] + values[: total + 1][::-1]).max())
                for _, before, values in _steps(layer, self.tables[-1], wanted)
            ),
            default=-np.inf,
        )

    def _after(self, before: Table, group: int, bounds: Bounds, needed: float) -> Table:
        """Return the best sums after one more group, of those that can reach `needed`, priced.

        What is left out is minus infinity. A pair of a sum and a value is left out before it is
        added, by blocks, and what was added once more, by itself.
        """
        found: Table = {}
        rests = {state: bounds.rest(group + 1, state) for state in self.states}
        for state, sums in before.items():
            priced = sums + bounds.prices
            for change, values in self.tables[group].items():
                poll()
                both = state[0] + change[0], state[1] + change[1]
                if both not in rests or (bounds.mirrored and both[0] < both[1]):
                    continue
                out = found.setdefault(both, np.full(self.top + 1, -np.inf))
                if change == (0, 0):
                    # The value is 0 for any number of the group's records: 0 to length - 1 of them.
                    length = int(np.isfinite(values).sum())
                    np.maximum(out, _window_maximum(sums, length), out=out)
                    continue
                own = bounds.priced[group][change]
                for stays, more in bounds.pairs(priced, own, rests[both], needed):
                    self._add(out, sums, values, stays, more)
        # What cannot reach it after all: places that were added along with others, and places of a
        # block of which only others can.
        for state, sums in found.items():
            sums[sums + bounds.prices + bounds.each(rests[state]) < needed] = -np.inf
        found = {state: sums for state, sums in found.items() if sums.max() > -np.inf}
        return both_ways(found) if bounds.mirrored else found

    def _add(
        self, out: Floats, sums: Floats, values: Floats, left: Indices, right: Indices
    ) -> None:
        """Raise `out` to the sums at some ascending places and the values at others.

        ``out[s]`` becomes at least every ``sums[l] + values[r]`` with l in `left`, r in `right` and
        ``s = l + r``, up to `top`. The loop goes over the shorter list; the longer one is taken
        whole, from its first place to its last, as one slice. Places in between that are not
        listed are added too: their sums are attained as well, so `out` never gets too large.
        """
        # `many` and `one` are the places and the sums of the longer list, the others the shorter's.
        many, few = (left, right) if len(right) <= len(left) else (right, left)
        one, other = (sums, values) if many is left else (values, sums)
        first, last = int(many[0]), int(many[-1]) + 1
        # A call of numpy takes as long as some 1,000 additions.
        self.work += len(few) * (last - first + 1000)
        if self.work > MOST_WORK:
            raise TooLargeError(
                f"groups would take more than {MOST_WORK:,} additions; choose the norm 'Linf', a "
                "smaller size or distance, or public group_sizes"
            )
        for place, add in zip(few.tolist(), other[few].tolist(), strict=True):
            # The sum at s goes to s + place; what would be beyond `top` is cut off.
            stop = min(last, self.top + 1 - place)
            if stop > first:
                part = out[first + place : stop + place]
                np.maximum(part, one[first:stop] + add, out=part)

    def _splits(self, found: _Sums, least: float) -> Iterator[Split]:
        """Yield the splits of a target that reach a sum, or only the first if none is rounded."""
        if found.value < least:
            return
        total, wanted = found.target
        # Always: every split that reaches `least` has the same values as one that was yielded, or
        # that continues an open end.
        open_ends = [_Open(len(self.tables), wanted, (total, total), (), found.target, 0.0)]
        seen: set[_Open] = set()
        while open_ends:
            end = open_ends.pop()
            alike = end.mirrored() if found.mirrored else end
            if alike in seen:
                continue
            seen.add(alike)
            if end.group == 0:
                yield Split(end.target, end.parts, end.state)
                if not self.slack:
                    return
                continue
            if len(seen) > MOST_TIES:
                raise TooLargeError(
                    f"groups found more than {MOST_TIES:,} splits of the changed records that "
                    "differ by rounding errors only; choose a smaller distance, or the norm 'Linf'"
                )
            open_ends += self._before(found, end, least)

    def _before(self, found: _Sums, end: _Open, least: float) -> Iterator[_Open]:
        """Yield how a split that reaches a sum can go on towards the first group."""
        table, layer = self.tables[end.group - 1], found.layers[end.group - 1]
        low, high = end.stays
        for state, sums, values in _steps(layer, table, end.state):
            change = end.state[0] - state[0], end.state[1] - state[1]
            needed = least - end.value
            there = np.isfinite(values)
            # Where all values are 0, how many stay does not matter: one end stands for all of them.
            if change == (0, 0) or (there[0] and not values[there].any()):
                # Of `low` records that stay, this group may have 0 to length - 1, the groups before
                # it the others: from `lowest` to `high` of them.
                lowest = max(0, low - (int(there.sum()) - 1))
                if sums[lowest : high + 1].max(initial=-np.inf) >= needed:
                    part = None if change == (0, 0) else (end.group - 1, change, ANY)
                    yield end.to(state, (lowest, high), part, 0.0)
                continue
            # By how many of this group stay: what the groups before it add to that at most. If the
            # number in all is fixed, that is the sum at the number that is left.
            reach = sums[: high + 1][::-1] if low == high else sums[: high + 1].max()
            for stay in np.flatnonzero(values[: high + 1] + reach >= needed).tolist():
                stays = max(0, low - stay), high - stay
                value = float(values[stay])
                if sums[stays[0] : stays[1] + 1].max(initial=-np.inf) + value >= needed:
                    yield end.to(state, stays, (end.group - 1, change, stay), value)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The best sums of a target before each group, and the best of all."""

    target: Target
    mirrored: bool
    layers: list[Table]
    value: float


@dataclass(frozen=True)
class _Open:
    """The end of a split: what the groups before `group` still have to bring.

    These are the changes `state` and, of records that stay, any number from ``stays[0]`` to
    ``stays[1]``. `value` is the sum of the groups from `group` on, whose changes are `parts`.
    """

    group: int
    state: RemovedAdded
    stays: tuple[int, int]
    parts: tuple[Part, ...]
    target: Target
    value: float

    def mirrored(self) -> _Open:
        """Return the same for all ends that differ in which records are removed and added."""
        parts = tuple((group, _smaller_first(change), stays) for group, change, stays in self.parts)
        return replace(self, state=_smaller_first(self.state), parts=parts)

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


def _smaller_first(change: RemovedAdded) -> RemovedAdded:
    return min(change), max(change)


def _window_maximum(values: Floats, length: int) -> Floats:
    """Return for each place the largest of so many values up to it."""
    found, done = values.copy(), 1
    while done < min(length, len(values)):
        step = min(done, length - done)
        found[step:] = np.maximum(found[step:], found[:-step].copy())
        done += step
    return found
