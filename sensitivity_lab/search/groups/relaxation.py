"""What groups can add at most, if each record that stays has a price: a Lagrangian relaxation.

The records that stay are T in all. Without that condition, but with p paid for each of them and
p T taken off, every split keeps its sum of values, and the best one is found group by group. Any
price p gives an upper bound; the price that makes it smallest is found here. With one value fixed,
the same bound tells whether that value can be part of a split that reaches enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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
    widest = _most_of_sums(tables)
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


def _most_of_sums(tables: Sequence[Table]) -> float:
    """Return what no sum of values of the tables exceeds in size."""
    return sum(max(_largest_size(values) for values in table.values()) for table in tables)


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
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max()) if len(finite) else 0.0
