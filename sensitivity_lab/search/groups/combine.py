"""The best split of the changed records, and of those that stay, over the groups.

A max-plus combination, group after group. Let V(i, j, s) be the largest sum of values with i
records removed, j added and s left in place so far. One more group with the values G makes it

    max over (a, b, c) of  V(i - a, j - b, s - c) + G(c; a, b).

So an array of sums or values has one axis, the records that stay; a `Table` has one such array per
*state* (i, j) before a group, or per change (a, b) of a group. Values that cannot be part of a
split near the bound of the relaxation are left out; where the best split is not so near, more are
let in. See "Groups" (*Combination*) in docs/proofs.md.

The bound is a Lagrangian relaxation: what groups can add at most, if each record that stays has a
price. The records that stay are T in all. Without that condition, but with p paid for each of them
and p T taken off, every split keeps its sum of values, and the best one is found group by group.
Any price p gives an upper bound; the price that makes it smallest is found here. With one value
fixed, the same bound tells whether that value can be part of a split that reaches enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.roots import Gap
from sensitivity_lab.running import poll
from sensitivity_lab.search.lattice import Floats
from sensitivity_lab.universes.relations import RemovedAdded

Table = dict[RemovedAdded, Floats]
"""The values of a group by its change (removed, added), for 0, 1, ... records that stay."""

Target = tuple[int, RemovedAdded]
"""How many records stay in all, and how many are removed and added."""

STEPS = 40
"""At most so many prices are tried; fewer than the best one make a bound larger, not wrong."""


class _Best(NamedTuple):
    """The best priced sum of some groups, and how many records stay in it."""

    value: float
    stays: int


@dataclass(frozen=True)
class Relaxation:
    """An upper bound of every split of one target.

    Attributes
    ----------
    tables : sequence of Table
    target : Target
    price : float
        Of a record that stays.
    value : float
        No split of the target has a larger sum of values, up to `error`.
    error : float
        More than any sum computed here is rounded by.
    """

    tables: Sequence[Table]
    target: Target
    price: float
    value: float
    error: float

    def useful(self, least: float) -> list[Table]:
        """Return the tables with those values alone that can be part of a sum of `least`.

        All others are minus infinity. Values of the change (0, 0), which are 0, stay as they are.
        """
        total, (removed, added) = self.target
        # after[g] has the best priced sums of the tables from g on, before[g] those of the tables
        # before g: the own table g stands between before[g] and after[g + 1].
        after = _after(self.tables, self.target, self.price)
        before = _after(self.tables[::-1], self.target, self.price)[::-1]
        # A priced sum is the sum of values plus price times T: what reaches `least` reaches this.
        needed = least + self.price * total - self.error
        found = []
        for place, table in enumerate(self.tables):
            kept = {}
            for change, values in table.items():
                # The most that the other tables add: some before this one, the rest after it.
                most = max(
                    (
                        best.value + after[place + 1][rest].value
                        for (i, j), best in before[place].items()
                        if (rest := (removed - i - change[0], added - j - change[1]))
                        in after[place + 1]
                    ),
                    default=-np.inf,
                )
                priced = values + self.price * np.arange(len(values))
                if change == (0, 0):
                    kept[change] = values
                elif (reaches := priced + most >= needed).any():
                    kept[change] = np.where(reaches, values, -np.inf)
            found.append(kept)
        return found


def relaxed(tables: Sequence[Table], target: Target) -> Relaxation | None:
    """Return the smallest bound that a price gives; None if the target has no split.

    The bound is a convex function of the price, made of lines whose slopes are the numbers of
    records that stay, less T. From a price on either side of the minimum, the lines there meet at
    the next price to try, until it lies on both.
    """
    total, _ = target
    # No sum of values of the tables exceeds this in size.
    widest = sum(max(map(_largest_size, table.values())) for table in tables)
    # A line of the bound, at some price: (price, bound there, slope). Always: the bound falls at
    # `low`, rises at `high`, and is least in between.
    ends = []
    for price in (-2 * widest - 1, 2 * widest + 1):
        best = _after(tables, target, price)[0].get(target[1])
        # At these prices no value matters: only the fewest, and the most, that can stay.
        if best is None or (best.stays - total) * price < 0:
            return None
        ends.append((price, best.value - price * total, best.stays - total))
    low, high = ends
    price, bound, slope = min(ends, key=lambda end: end[1])
    for _ in range(STEPS):
        if low[2] == 0 or high[2] == 0:
            break
        # Where the line through `low` meets the one through `high`. The bound is above both lines,
        # so if it meets them there, nothing is lower.
        price = (low[1] - high[1] + high[2] * high[0] - low[2] * low[0]) / (high[2] - low[2])
        best = _after(tables, target, price)[0][target[1]]
        bound, slope = best.value - price * total, best.stays - total
        line = low[1] + low[2] * (price - low[0])
        if bound <= line + 1e-12 * widest:
            break
        low, high = ((price, bound, slope), high) if slope < 0 else (low, (price, bound, slope))
    price, bound, _ = min((low, high, (price, bound, slope)), key=lambda end: end[1])
    stays = sum(len(table[next(iter(table))]) for table in tables)
    eps = float(np.finfo(np.float64).eps)
    error = 8 * (len(tables) + 2) * eps * (widest + abs(price) * (stays + total))
    return Relaxation(tables, target, price, bound, error)


def _after(
    tables: Sequence[Table], target: Target, price: float
) -> list[dict[RemovedAdded, _Best]]:
    """Return the best priced sums of each table and all after it, and at last of none."""
    _, (removed, added) = target
    # From the last table back: found[0] has the best priced sums from the table at hand on, by how
    # many records are removed and added there. With a price, each change has one best number of
    # records that stay, whatever the others have; so there is no axis for these.
    found = [{(0, 0): _Best(0.0, 0)}]
    for table in reversed(tables):
        own = {change: _priced(values, price) for change, values in table.items()}
        sums: dict[RemovedAdded, _Best] = {}
        for rest, later in found[0].items():
            for change, best in own.items():
                both = rest[0] + change[0], rest[1] + change[1]
                if both[0] > removed or both[1] > added or best.value == -np.inf:
                    continue
                sum_of = _Best(later.value + best.value, later.stays + best.stays)
                if both not in sums or sum_of.value > sums[both].value:
                    sums[both] = sum_of
        found.insert(0, sums)
    return found


def _priced(values: Floats, price: float) -> _Best:
    """Return the best value of a change with its price, and how many records stay for it."""
    priced = values + price * np.arange(len(values))
    stays = int(priced.argmax())
    return _Best(float(priced[stays]), stays)


def _largest_size(values: Floats) -> float:
    """Return the largest size of a value."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0))


MOST_WORK = 300_000_000_000
"""At most so many additions: about a minute."""

MOST_TIES = 100_000
"""At most so many steps are taken to tell splits apart that floats do not."""

NEAR = 1e-3
"""The best split is first looked for so near to its bound, as a share of the bound."""

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

    def best(self) -> Split:
        """Return a split with the largest sum; exactly so, whatever floats round."""
        found: list[_Sums] = []
        known = -np.inf
        # More changes mostly make larger differences: the other targets are left out early.
        for target in sorted(self.targets, key=lambda target: -sum(target[1])):
            sums = self._sums(target, known)
            if sums is not None:
                found.append(sums)
                known = max(known, sums.value)
        near = (split for sums in found for split in self._splits(sums, known - self.slack))
        first = next(near)
        if not self.slack:
            return first
        exactly = cache(self.exactly)
        return max(
            chain([first], near),
            key=lambda split: sum(map(exactly, split.parts), Fraction(0)),
        )

    def _sums(self, target: Target, known: float) -> _Sums | None:
        """Return the best sums of a target; None if it has no split that reaches a known sum.

        Every split that reaches the best sum, less the slack, is among them.
        """
        together = [self._outside(), *self.tables]
        relaxation = relaxed(together, target)
        if relaxation is None or relaxation.value + relaxation.error < known - self.slack:
            return None
        mirrored = _is_mirrored(together, target)
        # First only splits within a thousandth of the bound: few values remain, and mostly the best
        # split is among them.
        apart = NEAR * abs(relaxation.value) + self.slack + relaxation.error
        least = max(relaxation.value - apart, known - self.slack)
        sums = self._above(relaxation, least, mirrored=mirrored)
        if sums.value - self.slack < least and least > known - self.slack:
            # The best split is not so near, but what was found is attained.
            least = max(sums.value, known) - self.slack
            sums = self._above(relaxation, least, mirrored=mirrored)
        return sums if sums.value >= known - self.slack else None

    def _above(self, relaxation: Relaxation, least: float, *, mirrored: bool) -> _Sums:
        """Return the best sums after each group, of values that can be part of `least`."""
        target = relaxation.target
        outside, *tables = relaxation.useful(least)
        work = sum(map(self._work, tables[:-1]))
        if work > MOST_WORK:
            raise TooLargeError(
                f"groups would take {work:,} additions, more than {MOST_WORK:,}; choose the norm "
                "'Linf', a smaller size or distance, or public group_sizes"
            )
        layers = [outside]
        for table in tables[:-1]:
            layers.append(self._after(layers[-1], table, target, mirrored=mirrored))
        # Of the last group only the sum at the target is needed: `total` records stay in all, s
        # before it and total - s in it. So one array is turned round.
        value = max(
            (
                float((before[: target[0] + 1] + values[: target[0] + 1][::-1]).max())
                for _, before, values in _steps(layers[-1], tables[-1], target[1])
            ),
            default=-np.inf,
        )
        return _Sums(target, mirrored, layers, value)

    def _outside(self) -> Table:
        """Return the sums before the first group: all 0, as far as there are records."""
        stays = np.arange(self.top + 1)
        return {
            state: np.where(stays + sum(state) <= self.others, 0.0, -np.inf)
            for state in self.states
            if sum(state) <= self.others
        }

    def _work(self, table: Table) -> int:
        """Return how many additions `_after` takes at most; a call of numpy takes some 1,000."""
        changed = (values for change, values in table.items() if change != (0, 0))
        number = sum(int(np.isfinite(values).sum()) for values in changed)
        return len(self.states) * number * (self.top + 1000)

    def _after(self, before: Table, table: Table, target: Target, *, mirrored: bool) -> Table:
        """Return the best sums after one more group."""
        found: Table = {}
        _, most = target
        for state, sums in before.items():
            for change, values in table.items():
                poll()
                both = state[0] + change[0], state[1] + change[1]
                # Of mirror images (i, j) and (j, i) the one with i >= j is computed; `_both_ways`
                # adds the other.
                if both[0] > most[0] or both[1] > most[1] or (mirrored and both[0] < both[1]):
                    continue
                out = found.setdefault(both, np.full(self.top + 1, -np.inf))
                if change == (0, 0):
                    # The value is 0 for any number of the group's records: 0 to length - 1 of them.
                    length = int(np.isfinite(values).sum())
                    np.maximum(out, _window_maximum(sums, length), out=out)
                else:
                    self._add(out, sums, values)
        return _both_ways(found) if mirrored else found

    def _add(self, out: Floats, sums: Floats, values: Floats) -> None:
        """Raise `out` to the sums of any sum and any value, by the records that stay in both.

        ``out[l + r]`` becomes at least ``sums[l] + values[r]``. The loop goes over the places of
        one that has fewer; the other one is taken whole, as one slice.
        """
        one, other = sums, values
        many, few = (np.flatnonzero(np.isfinite(of)) for of in (one, other))
        if len(few) > len(many):
            one, other, many, few = other, one, few, many
        if not len(few):
            return
        first, last = int(many[0]), int(many[-1]) + 1
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
    # Always: found[p] is the largest of the `done` values up to p. Two such windows that overlap
    # make a longer one, so that log2(length) passes are enough.
    while done < min(length, len(values)):
        step = min(done, length - done)
        found[step:] = np.maximum(found[step:], found[:-step].copy())
        done += step
    return found


def _is_mirrored(tables: Sequence[Table], target: Target) -> bool:
    """Tell whether removed and added records can change places in all tables and the target.

    Then they can in sums too, and half of these need not be computed.
    """
    _, (removed, added) = target
    return removed == added and all(
        (j, i) in table and np.array_equal(values, table[j, i])
        for table in tables
        for (i, j), values in table.items()
        if i < j
    )


def _both_ways(half: Table) -> Table:
    """Return sums with at least as many records removed as added, and their mirror images."""
    return half | {(j, i): values for (i, j), values in half.items() if i > j}
