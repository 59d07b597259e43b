"""The lattice of all sub-multisets of a universe, one level per dataset size.

Counting, ordering, listing and one-level maxima; no search logic. A level is ordered by how often
the largest value occurs, then recursively by the others. So a level is a row of *blocks*, one
per multiplicity of the largest value, and adding one record of the largest value maps a block of
level ``s`` onto the next block of level ``s + 1`` position by position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_TABLE_ROWS = 4096
"""Blocks of at most so many datasets are handled by a cached table instead of by recursion."""


class Lattice:
    """All multisets of up to `top` records of a universe of distinct values.

    Parameters
    ----------
    counts : sequence of int, shape (m,)
        How often each distinct value may occur, in ascending order of the values.
    top : int
        The largest size of a dataset that will be asked for.

    Notes
    -----
    ``self._number[j][s]`` is the number of datasets of size ``s`` over the first ``j`` values. A
    dataset is written as the sorted row of the positions of its records' values.

    Examples
    --------
    >>> lattice = Lattice([1, 2, 1], top=2)
    >>> lattice.number(2)
    4
    >>> lattice.rows(2, 0, 4).tolist()
    [[0, 1], [1, 1], [0, 2], [1, 2]]
    """

    def __init__(self, counts: Sequence[int], top: int) -> None:
        self.counts = tuple(min(count, top) for count in counts)
        self.top = top
        self._number = [[1] + [0] * top]
        for count in self.counts:
            self._number.append(_with_one_more_value(self._number[-1], count))
        self._rows_table = cache(self._make_rows_table)
        self._successors = cache(self._make_successors)
        self._starts = cache(self._make_starts)

    def number(self, size: int) -> int:
        """Return the number of datasets of this size."""
        return self._number[-1][size]

    def rows(self, size: int, first: int, last: int) -> Indices:
        """List the datasets at positions `first` to `last` - 1 of a level.

        Returns
        -------
        ndarray of intp, shape (last - first, size)
            A dataset per row: positions of its records' values, ascending.
        """
        out = np.empty((last - first, size), dtype=np.intp)
        self._fill_rows(out, len(self.counts), size, first, last)
        return out

    def _fill_rows(self, out: Indices, values: int, size: int, first: int, last: int) -> None:
        """Write rows first..last-1 of block (values, size) into the first columns of `out`."""
        if self._number[values][size] <= _TABLE_ROWS:
            out[:, :size] = self._rows_table(values, size)[first:last]
            return
        for copies, start, stop in self._blocks(values, size):
            low, high = max(first, start), min(last, stop)
            if low < high:
                part = out[low - first : high - first]
                part[:, size - copies : size] = values - 1
                self._fill_rows(part, values - 1, size - copies, low - start, high - start)

    def _make_rows_table(self, values: int, size: int) -> Indices:
        if values == 0:
            return np.empty((self._number[0][size], 0), dtype=np.intp)
        parts = []
        for copies, _, _ in self._blocks(values, size):
            below = self._rows_table(values - 1, size - copies)
            last = np.full((len(below), copies), values - 1, dtype=np.intp)
            parts.append(np.hstack([below, last]))
        return np.vstack(parts) if parts else np.empty((0, size), dtype=np.intp)

    def _blocks(self, values: int, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield (copies of the largest value, start, stop) of the non-empty blocks of a level."""
        start = 0
        for copies in range(min(self.counts[values - 1], size) + 1):
            length = self._number[values - 1][size - copies]
            if length:
                yield copies, start, start + length
                start += length

    def rank(self, multiplicities: NDArray[np.int64]) -> Indices:
        """Return the positions of datasets in their level.

        Parameters
        ----------
        multiplicities : ndarray of int, shape (datasets, m)
            How often each value occurs; all datasets have the same size.
        """
        position = np.zeros(len(multiplicities), dtype=np.intp)
        size = multiplicities.sum(axis=1)
        for values in range(len(self.counts), 0, -1):
            copies = multiplicities[:, values - 1]
            position += self._starts(values)[size, copies]
            size = size - copies
        return position

    def _make_starts(self, values: int) -> Indices:
        """Return where the block with c copies of the largest value starts, shape (top+1, c+1)."""
        table = np.zeros((self.top + 1, self.counts[values - 1] + 2), dtype=np.intp)
        for size in range(self.top + 1):
            for copies, _, stop in self._blocks(values, size):
                table[size, copies + 1 :] = stop
        return table

    def maximum_below(self, upper: Floats, size: int) -> Floats:
        """Bring maxima down one level.

        Parameters
        ----------
        upper : ndarray, shape (number(size + 1), columns)
            A row of values for every dataset of size `size` + 1.
        size : int
            The level to come down to.

        Returns
        -------
        ndarray, shape (number(size), columns)
            For every dataset C of size `size`, the largest of the rows of C plus one record; -inf
            where no record can be added.

        Notes
        -----
        Costs one comparison per dataset of the level, addable value and column.
        """
        lower = np.full((self.number(size), upper.shape[1]), -np.inf)
        self._descend(lower, upper, len(self.counts), size)
        return lower

    def _descend(self, lower: Floats, upper: Floats, values: int, size: int) -> None:
        """Raise `lower`, block (values, size), to the maxima of `upper`, block (values, size+1)."""
        if len(lower) <= _TABLE_ROWS:
            for rows, above in self._successors(values, size):
                if rows is None:
                    np.maximum(lower, upper.take(above, axis=0), out=lower)
                else:
                    lower[rows] = np.maximum(lower.take(rows, axis=0), upper.take(above, axis=0))
            return
        starts = {copies: (start, stop) for copies, start, stop in self._blocks(values, size + 1)}
        for copies, start, stop in self._blocks(values, size):
            block = lower[start:stop]
            if copies in starts:
                same_start, same_stop = starts[copies]
                self._descend(block, upper[same_start:same_stop], values - 1, size - copies)
            if copies + 1 in starts:
                next_start, next_stop = starts[copies + 1]
                np.maximum(block, upper[next_start:next_stop], out=block)

    def _make_successors(self, values: int, size: int) -> list[tuple[Indices | None, Indices]]:
        """Return, per value that can be added, the rows it can be added to and where they lead.

        The first entry is None where the value can be added to every row.
        """
        table = self._rows_table(values, size)
        count = len(table)
        multiplicities = np.zeros((count, values), dtype=np.int64)
        np.add.at(multiplicities, (np.arange(count)[:, None], table), 1)
        moves: list[tuple[Indices | None, Indices]] = []
        for value in range(values):
            rows = np.flatnonzero(multiplicities[:, value] < self.counts[value])
            if len(rows):
                grown = multiplicities[rows]
                grown[:, value] += 1
                padded = np.zeros((len(rows), len(self.counts)), dtype=np.int64)
                padded[:, :values] = grown
                moves.append((rows if len(rows) < count else None, self.rank(padded)))
        return moves


def _with_one_more_value(numbers: list[int], count: int) -> list[int]:
    """Return the numbers of datasets by size when a value with `count` copies is added."""
    longer, window = [], 0
    for size, number in enumerate(numbers):
        window += number
        if size > count:
            window -= numbers[size - count - 1]
        longer.append(window)
    return longer
