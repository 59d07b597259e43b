"""What the groups that are left can still add, for all sizes at once: upper bounds.

Each record that stays has a price (see `relaxation`), so that values hardly change from one size to
the next. Sizes are put into blocks of `width`; a block promises the largest priced value of its
sizes. The blocks of several groups add up to that of their sum of sizes, or to one of the few below
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.universes.relations import RemovedAdded

from .relaxation import Relaxation, Table, Target, relaxed, relaxed_at

BLOCKS = 240
"""About so many blocks."""

CHEAPER = 4
"""A price that makes bounds too large is divided by so much."""


class Bounds:
    """Upper bounds of what groups can add, for one target.

    Parameters
    ----------
    tables : sequence of Table
        Of the groups, in the order in which they are combined.
    outside : Table
        The same of the records in no group, which come first.
    relaxation : Relaxation
        Of these tables for one target. Whatever its price, the bounds hold; see `tightest`.

    Attributes
    ----------
    value : float
        No split reaches more.
    prices : ndarray of float64
        The price of 0, 1, ... records that stay.
    priced : list of Table
        The values of the groups, each with its price.
    width : int
        The sizes of a block.
    """

    def __init__(self, tables: Sequence[Table], outside: Table, relaxation: Relaxation) -> None:
        self.target = target = relaxation.target
        self._relaxation = relaxation
        self.mirrored = is_mirrored([outside, *tables], target)
        top = len(tables[0][0, 0]) - 1
        self.prices = relaxation.price * np.arange(top + 1)
        self.width = max(1, (top + 1) // BLOCKS)
        self.blocks = top // self.width + 1
        self.priced = [
            {change: values + self.prices for change, values in of.items()} for of in tables
        ]
        nothing = np.full(self.blocks, -np.inf)
        nothing[0] = 0.0
        # By group: the largest priced sums of this group and those after it, by change and block.
        self._left: list[Table] = [{(0, 0): nothing}]
        for table in reversed(self.priced):
            self._left.insert(0, self._with(table, self._left[0]))
        before = {state: self._in_blocks(sums + self.prices) for state, sums in outside.items()}
        rests = {state: self.rest(0, state) for state in outside}
        total, _ = target
        best = max(float((before[state] + rests[state]).max()) for state in outside)
        self.value = best - relaxation.price * total + relaxation.error

    def needed(self, least: float) -> float:
        """Return what priced values must add up to, so that values can add up to `least`."""
        total, _ = self.target
        return least - self._relaxation.error + self._relaxation.price * total

    def rest(self, group: int, state: RemovedAdded) -> Floats:
        """Return what the groups from one on can add, priced, by the block of what stays before it.

        Parameters
        ----------
        group : int
            The first of the groups that are left.
        state : (int, int)
            How many records are removed and added before it.
        """
        total, (removed, added) = self.target
        wanted = removed - state[0], added - state[1]
        found = np.full(self.blocks, -np.inf)
        left = self._left[group].get(wanted)
        if left is None:
            return found
        # The sums that complete the sizes of one block lie in the block of the largest, or in the
        # one before. The blocks of p groups add up to that of their sum, or to one of the few below
        # it: each group leaves up to w - 1 sizes over, which make up to p (w - 1) / w blocks.
        parts = len(self._left) - 1 - group
        over = parts * (self.width - 1) // self.width
        before = over + 1 if self.width > 1 else 0
        padded = np.concatenate([np.full(before, -np.inf), left])
        reach = sliding_window_view(padded, before + 1).max(axis=1)
        first = np.arange(0, min(total, self.blocks * self.width - 1) + 1, self.width)
        found[: len(first)] = reach[np.minimum((total - first) // self.width, self.blocks - 1)]
        least: Floats = np.minimum(found, self._relaxation.after[group + 1].get(wanted, -np.inf))
        return least

    def each(self, in_blocks: Floats) -> Floats:
        """Return values of blocks for each of their sizes."""
        values: Floats = np.repeat(in_blocks, self.width)[: len(self.prices)]
        return values

    def pairs(
        self, sums: Floats, values: Floats, rest: Floats, needed: float
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield places of sums and of values, all together every pair that can reach enough.

        Parameters
        ----------
        sums, values : ndarray of float64
            What the groups so far and the next one add, priced, by the records that stay.
        rest : ndarray of float64
            What the groups after them can add, priced, by the block of what stays before.
        needed : float
            What all together must reach.
        """
        # The largest of each block. A block of sums and one of values are worth a look if they and
        # what can follow them reach enough; then so are, of either, the places that do with the
        # best of the other.
        one, other = self._in_blocks(sums), self._in_blocks(values)
        if self.width > 1:  # two blocks add up to one of two blocks
            rest = np.maximum(rest, np.append(rest[1:], -np.inf))
        # reach[b, v] is what can follow the blocks b of sums and v of values: rest[b + v].
        reach = sliding_window_view(np.append(rest, np.full(self.blocks - 1, -np.inf)), self.blocks)
        for block in np.flatnonzero(one + other.max() + rest.max() >= needed):
            others = other + reach[block]
            near = np.flatnonzero(one[block] + others >= needed)
            if not len(near):
                continue
            start = block * self.width
            most = float(others[near].max())
            stays = start + np.flatnonzero(sums[start : start + self.width] + most >= needed)
            start, stop = near[0] * self.width, (near[-1] + 1) * self.width
            most = float(one[block] + reach[block][near].max())
            more = start + np.flatnonzero(values[start:stop] + most >= needed)
            if len(stays) and len(more):
                yield stays, more

    def rows(self, values: Floats) -> Floats:
        """Return values with a row for each block, the last one filled up by minus infinity."""
        padded = np.full(self.blocks * self.width, -np.inf)
        padded[: len(values)] = values
        return padded.reshape(self.blocks, self.width)

    def _in_blocks(self, values: Floats) -> Floats:
        largest: Floats = self.rows(values).max(axis=1)
        return largest

    def _with(self, table: Table, left: Table) -> Table:
        """Return what a group and those after it can add."""
        found: Table = {}
        _, (removed, added) = self.target
        coarse = {change: self._in_blocks(values) for change, values in table.items()}
        for rest, values in left.items():
            # Row b has the values of the blocks up to b. Those of the group are added to it in
            # reverse, so that the numbers of any two blocks that meet add up to b.
            windows = sliding_window_view(
                np.concatenate([np.full(self.blocks - 1, -np.inf), values]), self.blocks
            )
            for change, of_group in coarse.items():
                both = rest[0] + change[0], rest[1] + change[1]
                if both[0] > removed or both[1] > added or (self.mirrored and both[0] < both[1]):
                    continue
                best = (windows + of_group[::-1]).max(axis=1)
                found[both] = np.maximum(found[both], best) if both in found else best
        return both_ways(found) if self.mirrored else found


def tightest(
    tables: Sequence[Table], outside: Table, target: Target, least: float
) -> Bounds | None:
    """Return bounds at a price that makes them small; None if no split reaches `least`.

    The price of the relaxation is high where a single group would best take all records that stay.
    But a block promises the price of its largest size for all of its sizes. The bound is a convex
    function of the price, so that lower prices are tried as long as they make it smaller.
    """
    together = [outside, *tables]
    relaxation = relaxed(together, target)
    if relaxation is None or relaxation.value + relaxation.error < least:
        return None
    best = Bounds(tables, outside, relaxation)
    # Blocks of one size promise what is true at any price.
    while best.width > 1 and relaxation.price and best.value >= least:
        relaxation = relaxed_at(relaxation.price / CHEAPER, together, target)
        bounds = Bounds(tables, outside, relaxation)
        # What is less than its rounding is no gain.
        if bounds.value >= best.value - relaxation.error:
            break
        best = bounds
    return best if best.value >= least else None


def is_mirrored(tables: Sequence[Table], target: Target) -> bool:
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


def both_ways(half: Table) -> Table:
    """Return sums with at least as many records removed as added, and their mirror images."""
    return half | {(j, i): values for (i, j), values in half.items() if i > j}
