"""Listing datasets: all of a block by multiplicities, any range as rows, or one after another.

A level, the datasets of one size, is ordered by how often the largest value occurs, then
recursively by the other values. One after another, they come in the order of their records, from
the smallest.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import TooLargeError

from .counting import Numbers
from .relations import repeated

TABLE = 1 << 17
"""A block whose rows are at most this many numbers is copied from a cached table."""

WIDTH = 32
"""A dataset counts as at least this many numbers, so that answers on a block fit into a cache."""

_TABLES = 64
"""How many tables are kept at most; each takes a MiB at most."""

_MOST_LISTED = 10_000_000
"""The most records of a dataset that is listed alone."""


def listed_block(
    numbers: Numbers, counts: Sequence[int], values: int, size: int
) -> NDArray[np.int64]:
    """List a block (values, size) of a lattice by multiplicities.

    Returns
    -------
    ndarray of int64, shape (datasets, values)
        In the lattice's order.

    Examples
    --------
    >>> listed_block(Numbers([1, 2], 0, 3), [1, 2], 2, 2).tolist()
    [[1, 1], [0, 2]]
    """
    number = numbers.of(values, size)
    table = np.zeros((number, values), dtype=np.int64)
    if not number:
        return table
    # From the largest value down, every partial dataset has a child per number of copies of the
    # value; `left` is how many records each partial dataset still needs, in order.
    left = np.array([size])
    steps = []
    for value in range(values - 1, -1, -1):
        least = np.maximum(left - numbers.below[value], 0)
        choices = np.minimum(counts[value], left) - least + 1
        parent = repeated(np.arange(len(left)), choices)
        first = np.cumsum(choices) - choices - least
        copies = np.arange(len(parent)) - first[parent]  # least, least + 1, ... per parent
        left = left[parent] - copies
        steps.append((copies, parent))
    # From the smallest value up, each dataset is followed back from child to parent.
    row = np.arange(number)
    for value, (copies, parent) in enumerate(reversed(steps)):
        table[:, value] = copies[row]
        row = parent[row]
    return table


def parts_of(
    numbers: Numbers, counts: Sequence[int], values: int, size: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (copies of the largest value, start, stop) of the non-empty parts of a block."""
    start = 0
    for copies in range(min(counts[values - 1], size) + 1):
        length = numbers.of(values - 1, size - copies)
        if length:
            yield copies, start, start + length
            start += length


def most_values(numbers: Numbers, values: int, size: int, cells: int, width: int = WIDTH) -> int:
    """Return the largest number of values whose block of a size has at most a limit of numbers.

    It has a column per value, or `width` columns if those are more.
    """

    def needed(some: int) -> int:
        return numbers.of(some, size) * max(some, width)

    return bisect_right(range(values + 1), cells, key=needed) - 1


def sub_multisets(limits: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the multisets of `size` records within `limits`, as ascending positions of values."""
    places = [place for place, limit in enumerate(limits) if limit]
    most = [limits[place] for place in places]
    if size > sum(most):
        return
    if size > _MOST_LISTED:
        raise TooLargeError(
            f"datasets of {size:,} records are too large to list, more than {_MOST_LISTED:,}; take "
            "a smaller size"
        )
    last = [len(most) - 1 - place for place in _first(most[::-1], size)][::-1]
    chosen = _first(most, size)
    while True:
        yield [places[place] for place in chosen]
        # The last record that can still move to a larger value moves there; the others follow it.
        moving = size - 1
        while moving >= 0 and chosen[moving] == last[moving]:
            moving -= 1
        if moving < 0:
            return
        chosen[moving:] = _first(most, size - moving, chosen[moving] + 1)


def _first(limits: Sequence[int], size: int, place: int = 0) -> list[int]:
    """Return the first multiset of `size` records within `limits`, from a position on.

    This is `smallest` by positions. It runs for every dataset that is listed, so its time grows
    with the number of records only, however many values the universe has.
    """
    chosen: list[int] = []
    while len(chosen) < size:
        chosen += [place] * min(limits[place], size - len(chosen))
        place += 1
    return chosen


class Rows:
    """Lists datasets as rows that have, for every record, the position or the label of its value.

    Parameters
    ----------
    numbers : Numbers
        Of the lattice.
    counts : sequence of int, shape (m,)
        How often each value may occur.
    largest_size : int
        The largest size of a dataset to list.
    """

    def __init__(self, numbers: Numbers, counts: Sequence[int], largest_size: int) -> None:
        self._numbers = numbers
        self._counts = counts
        self._in_table = cache(self._find_in_table)
        self._table = lru_cache(_TABLES)(self._make_table)
        self._labels: NDArray[Any] = np.arange(len(counts))
        self._present: NDArray[Any] = np.flatnonzero(counts)
        before = np.minimum(numbers.below, largest_size)
        self._first: NDArray[Any] = repeated(self._labels, np.diff(before))
        """The `largest_size` smallest records: the first dataset of a block begins with them."""

    def labelled(self, labels: NDArray[Any]) -> Rows:
        """Return what lists the same datasets by labels, shape (m,), one for every value."""
        listing, positions = copy(self), self._table
        listing._table = lru_cache(_TABLES)(lambda size: labels[positions(size)])
        listing._labels = labels
        listing._present, listing._first = labels[self._present], labels[self._first]
        return listing

    def rows(self, size: int, first: int, last: int) -> NDArray[Any]:
        """List the datasets at positions `first` to `last` - 1 of a level.

        Returns
        -------
        ndarray, shape (last - first, size)
            A dataset per row: what stands for its records, in ascending order of the values.
        """
        out = np.empty((last - first, size), dtype=self._labels.dtype)
        # What is left to write: a part of `out`, and the range of a block that belongs there.
        todo = [(out, len(self._counts), size, first, last)]
        while todo:
            todo += self._fill(*todo.pop())
        return out

    def _fill(
        self, out: NDArray[Any], values: int, size: int, first: int, last: int
    ) -> list[tuple[NDArray[Any], int, int, int, int]]:
        """Write rows first..last-1 of block (values, size); return what is left to write."""
        left = []
        # Always: rows before `first` and from `last` on are written, or are in `left`.
        while size and first < last:
            # The block over fewer values comes first: a range inside it has none of the others.
            values = bisect_left(range(values), last, key=lambda some: self._numbers.of(some, size))
            if size == 1:
                out[: last - first, 0] = self._present[first:last]
            elif self._numbers.of(values, size) == 1:
                out[0, :size] = self._first[:size]
            elif values <= self._in_table(size):
                out[: last - first, :size] = self._table(size)[first:last]
            else:
                for copies, start, stop in parts_of(self._numbers, self._counts, values, size):
                    low, high = max(first, start), min(last, stop)
                    if copies and low < high:
                        part = out[low - first : high - first]
                        part[:, size - copies : size] = self._labels[values - 1]
                        left.append((part, values - 1, size - copies, low - start, high - start))
                # The rest is the beginning of the block, without a record of the largest value.
                last = min(last, self._numbers.of(values - 1, size))
                continue
            break
        return left

    def _find_in_table(self, size: int) -> int:
        """Return the largest number of values whose block of a level fits into a table."""
        width = max(size, WIDTH)
        return most_values(self._numbers, len(self._counts), size, TABLE, width)

    def _make_table(self, size: int) -> NDArray[np.intp]:
        """Return the first rows of a level: the largest block that fits into a table."""
        listed = listed_block(self._numbers, self._counts, self._in_table(size), size)
        values = np.tile(np.arange(listed.shape[1]), len(listed))
        return repeated(values, listed.ravel()).reshape(-1, size)
