"""The lattice of all sub-multisets of a universe, one level per dataset size.

Counting, ordering, listing and one-level maxima; no search logic. A level is ordered by how often
the largest value occurs, then recursively by the others. So a level is a row of *blocks*, one
per multiplicity of the largest value, and adding one record of the largest value maps a block of
level ``s`` onto the next block of level ``s + 1`` position by position.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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
        while self._number[values][size] > _TABLE_ROWS:
            for copies, start, stop in self._blocks(values, size):
                low, high = max(first, start), min(last, stop)
                if copies and low < high:
                    part = out[low - first : high - first]
                    part[:, size - copies : size] = values - 1
                    self._fill_rows(part, values - 1, size - copies, low - start, high - start)
            # What is left begins the block, and has no record of the largest value.
            values -= 1
            last = min(last, self._number[values][size])
            if first >= last:
                return
        out[: last - first, :size] = self._rows_table(size)[first:last]

    def _make_rows_table(self, size: int) -> Indices:
        """Return the first rows of a level: a whole block, as large a one as a table may be."""
        if size == 0:
            return np.empty((1, 0), dtype=np.intp)
        parts = [np.empty((0, size), dtype=np.intp)]
        for value in range(self._in_table(size)):
            for copies, _, _ in self._blocks(value + 1, size):
                if copies:
                    below = self._rows_table(size - copies)[: self._number[value][size - copies]]
                    repeated = np.full((len(below), copies), value, dtype=np.intp)
                    parts.append(np.hstack([below, repeated]))
        return np.vstack(parts)

    def _in_table(self, size: int) -> int:
        """Return over how many values a block of a level still fits into a table."""
        return bisect_right([number[size] for number in self._number], _TABLE_ROWS) - 1

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

    def containing(self, core: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """List the datasets of a size that contain a core, by multiplicities.

        Parameters
        ----------
        core : ndarray of int, shape (m,)
            A smaller dataset, by multiplicities.
        size : int
            The size of the datasets.

        Returns
        -------
        ndarray of int64, shape (datasets, m)
        """
        more = size - int(core.sum())
        free = Lattice([limit - have for limit, have in zip(self.counts, core, strict=True)], more)
        rows = free.rows(more, 0, free.number(more))
        multiplicities = np.tile(core, (len(rows), 1))
        for column in range(more):
            multiplicities[np.arange(len(rows)), rows[:, column]] += 1
        return multiplicities

    def multiplicities(self, size: int, position: int) -> NDArray[np.int64]:
        """Return the dataset at a position of a level, by multiplicities, shape (m,)."""
        row = self.rows(size, position, position + 1)[0]
        return np.bincount(row, minlength=len(self.counts)).astype(np.int64)

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
        while len(lower) > _TABLE_ROWS:
            above = {copies: part for copies, *part in self._blocks(values, size + 1)}
            for copies, start, stop in self._blocks(values, size):
                block = lower[start:stop]
                if copies and copies in above:
                    self._descend(block, upper[slice(*above[copies])], values - 1, size - copies)
                if copies + 1 in above:
                    np.maximum(block, upper[slice(*above[copies + 1])], out=block)
            # What is left begins both blocks, and has no record of the largest value.
            values -= 1
            lower = lower[: self._number[values][size]]
            upper = upper[: self._number[values][size + 1]]
        for rows, leads_to in self._successors(size)[:values]:
            # In a smaller block than the table's, the same moves begin with the same rows.
            moving = bisect_left(rows, len(lower))
            if moving == len(lower):
                np.maximum(lower, upper.take(leads_to[:moving], axis=0), out=lower)
            else:
                taken = upper.take(leads_to[:moving], axis=0)
                lower[rows[:moving]] = np.maximum(lower.take(rows[:moving], axis=0), taken)

    def _make_successors(self, size: int) -> list[tuple[Indices, Indices]]:
        """Return, per value that can be added, the rows it can be added to and where they lead."""
        table = self._rows_table(size)
        values = self._in_table(size)
        multiplicities = np.zeros((len(table), len(self.counts)), dtype=np.int64)
        np.add.at(multiplicities, (np.arange(len(table))[:, None], table), 1)
        moves = []
        for value in range(values):
            rows = np.flatnonzero(multiplicities[:, value] < self.counts[value])
            grown = multiplicities[rows]
            grown[:, value] += 1
            moves.append((rows, self.rank(grown)))
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


def estimate(counts: Sequence[int], size: int) -> float:
    """Return about how many datasets of a size there are, without counting them.

    Returns
    -------
    float
        Good to a few percent for many datasets, within a small factor for few; math.inf beyond the
        range of floats.

    Notes
    -----
    The number is a coefficient of the product of ``1 + z + ... + z**count``. Daniels' saddlepoint:
    the product over ``z**size`` at its smallest z, over the root of 2 pi times the variance there.

    Examples
    --------
    >>> round(estimate([1] * 24, 12) / 2_704_156, 2)
    1.01
    """
    limits, values = np.unique(np.asarray(counts, dtype=np.float64), return_counts=True)
    if not 0 < size < limits @ values:
        return 1.0

    def moments(log_z: float) -> tuple[float, float, float]:
        """Return the logarithm of the product, and mean and variance of the size, at z."""
        total = mean = variance = 0.0
        for limit, number in zip(limits, values, strict=True):
            # Terms relative to the largest, so that nothing overflows.
            copies = np.arange(limit + 1) if limit < 1000 else np.linspace(0, limit, 1001)
            exponents = copies * log_z
            terms = np.exp(exponents - exponents.max())
            weights = terms / terms.sum()
            first = float(weights @ copies)
            total += number * (float(exponents.max()) + float(np.log(terms.sum())))
            mean += number * first
            variance += number * float(weights @ (copies - first) ** 2)
        return total, mean, variance

    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if moments(middle)[1] < size else (low, middle)
    total, _, variance = moments(low)
    exponent = total - size * low - 0.5 * float(np.log(2 * np.pi * max(variance, 1 / (2 * np.pi))))
    return float(np.exp(exponent)) if exponent < 700 else np.inf
