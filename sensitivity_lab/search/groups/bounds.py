"""What the groups that are left can still add, for all sizes at once: upper bounds.

Sizes are put into blocks of `width`; a block promises the largest value of its sizes. The blocks of
several groups add up to that of their sum of sizes, or to one of the few below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.universes.relations import RemovedAdded

Table = dict[RemovedAdded, Floats]
"""The values of a group by its change (removed, added), for 0, 1, ... records that stay."""

BLOCKS = 160
"""About so many blocks."""


class Bounds:
    """Upper bounds of what groups can add.

    Parameters
    ----------
    tables : sequence of Table
        Of the groups, in the order in which they are combined.
    states : sequence of (int, int)
        Which numbers of records removed and added matter.

    Attributes
    ----------
    width : int
        Of a block.
    left : list of Table
        By group, the number of changes and the block: what this group and all after it can add,
        with just so many records changed, and blocks that add up to this one.
    """

    def __init__(self, tables: Sequence[Table], states: Sequence[RemovedAdded]) -> None:
        self.states = states
        top = len(tables[0][0, 0]) - 1
        self.width = max(1, (top + 1) // BLOCKS)
        self.blocks = top // self.width + 1
        self.coarse = [{change: self._in_blocks(f) for change, f in of.items()} for of in tables]
        nothing = np.full(self.blocks, -np.inf)
        nothing[0] = 0.0
        self.left: list[Table] = [{(0, 0): nothing}]
        for table in reversed(self.coarse):
            self.left.insert(0, self._with(table, self.left[0]))

    def _in_blocks(self, values: Floats) -> Floats:
        padded = np.full(self.blocks * self.width, -np.inf)
        padded[: len(values)] = values
        largest: Floats = padded.reshape(self.blocks, self.width).max(axis=1)
        return largest

    def _with(self, table: Table, left: Table) -> Table:
        """Return what a group and those after it can add."""
        found: Table = {}
        matter = set(self.states)
        for rest, values in left.items():
            windows = sliding_window_view(
                np.concatenate([np.full(self.blocks - 1, -np.inf), values]), self.blocks
            )
            for change, of_group in table.items():
                both = rest[0] + change[0], rest[1] + change[1]
                if both in matter:
                    best = (windows + of_group[::-1]).max(axis=1)
                    found[both] = np.maximum(found[both], best) if both in found else best
        return found

    def of_sums(
        self, group: int, state: RemovedAdded, targets: Sequence[tuple[int, RemovedAdded]]
    ) -> Floats:
        """Return what the groups from one on can add, by the records that stay before it.

        Parameters
        ----------
        group : int
            The first of the groups that are left.
        state : (int, int)
            How many records are removed and added before it.
        targets : sequence of (int, (int, int))
            The totals: records that stay, and records removed and added.
        """
        top = self.blocks * self.width
        found = np.full(top, -np.inf)
        parts = len(self.left) - 1 - group
        for total, (removed, added) in targets:
            left = self.left[group].get((removed - state[0], added - state[1]))
            if left is None:
                continue
            padded = np.concatenate([np.full(parts, -np.inf), left])
            reach = sliding_window_view(padded, parts + 1).max(axis=1)
            sums = np.arange(min(total, top - 1) + 1)
            found[: len(sums)] = np.maximum(found[: len(sums)], reach[(total - sums) // self.width])
        return found

    def pairs(
        self, sums: Floats, values: Floats, after: Floats, least: float
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield places of sums and of values, all together every pair that can reach `least`.

        Parameters
        ----------
        sums, values : ndarray of float64
            What the groups so far and the next one add, by the records that stay.
        after : ndarray of float64
            A bound of what the groups after them add, by the records that stay before.
        least : float
            What all together must reach.
        """
        one, other, rest = (self._in_blocks(array) for array in (sums, values, after))
        if one.max() + other.max() + rest.max() < least:
            return
        # Two blocks add up to one of two blocks.
        rest = np.maximum(rest, np.append(rest[1:], -np.inf))
        reach = sliding_window_view(np.append(rest, np.full(self.blocks - 1, -np.inf)), self.blocks)
        for block in np.flatnonzero((one[:, None] + other + reach >= least).any(axis=1)):
            near = np.flatnonzero(one[block] + other + reach[block] >= least)
            for run in np.split(near, np.flatnonzero(np.diff(near) > 1) + 1):
                most = float((other + reach[block])[run].max())
                start = block * self.width
                stays = start + np.flatnonzero(sums[start : start + self.width] + most >= least)
                start, stop = run[0] * self.width, (run[-1] + 1) * self.width
                most = float(one[block] + reach[block][run].max())
                more = start + np.flatnonzero(values[start:stop] + most >= least)
                if len(stays) and len(more):
                    yield stays, more

    def path(
        self, state: RemovedAdded, block: int, wanted: RemovedAdded
    ) -> list[tuple[RemovedAdded, int]]:
        """Return for each group the change and the block by which a bound is attained.

        Parameters
        ----------
        state : (int, int)
            How many records are changed outside all groups.
        block : int
            To which the groups' blocks add up.
        wanted : (int, int)
            How many records are changed in all.
        """
        rest = wanted[0] - state[0], wanted[1] - state[1]
        path = []
        for group, table in enumerate(self.coarse):
            best: tuple[float, RemovedAdded, int] = (-np.inf, (0, 0), 0)
            for change, values in table.items():
                after = self.left[group + 1].get((rest[0] - change[0], rest[1] - change[1]))
                if after is None:
                    continue
                sums = values[: block + 1] + after[: block + 1][::-1]
                at = int(sums.argmax())
                best = max(best, (float(sums[at]), change, at))
            _, change, at = best
            path.append((change, at))
            rest, block = (rest[0] - change[0], rest[1] - change[1]), block - at
        return path
