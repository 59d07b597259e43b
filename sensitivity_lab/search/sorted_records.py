"""Records of a universe in ascending order, with exact sums of their powers by position."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.universes.relations import Multiplicities

Positions = NDArray[np.int64]

Ranges = tuple[tuple[int, int], ...]
"""Positions of sorted records, as ranges (start, stop); empty ones may be among them."""


class SortedMultiset:
    """Records by positions 0 to size - 1 in ascending order, equal ones side by side.

    Parameters
    ----------
    values : ndarray of Python ints, shape (m,)
        Distinct values, ascending: the records times `unit`.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0.
    unit : int, default 1
        What the records were multiplied by to become whole numbers.

    Notes
    -----
    All sums are of Python ints: no rounding, and no largest number. Memory and set-up grow with the
    number of distinct values, whatever their counts; sums of a power are made when first asked for.
    Where a search asks for millions of sums, `SortedRecords` of the variance's kernels adds limbs.

    Examples
    --------
    >>> records = SortedMultiset(np.array([-1, 0, 5], dtype=object), np.array([2, 0, 3]))
    >>> records.size, records.record(2), records.total(4), records.total(4, power=2)
    (5, 5, 8, 52)
    >>> records.record(np.arange(5)).tolist(), records.total(np.arange(6)).tolist()
    ([-1, -1, 5, 5, 5], [0, -1, -2, 3, 8, 13])
    >>> records.multiplicities(((0, 1), (3, 5))).tolist()
    [1, 0, 2]
    """

    def __init__(self, values: Integers, counts: Multiplicities, unit: int = 1) -> None:
        self._values = values
        self.unit = unit
        self._place(counts)

    def _place(self, counts: Multiplicities) -> None:
        self.counts = counts
        # Where the records of each value start; last, where all records end.
        self._bounds = np.concatenate([[0], np.cumsum(counts)])
        self.size = int(self._bounds[-1])
        self._sums: dict[int, Integers] = {}

    @cached_property
    def values(self) -> Integers:
        """The distinct values, ascending, times `unit`."""
        return self._values

    def some_values(self, some: slice) -> Integers:
        """Return some of the distinct values, times `unit`."""
        return self.values[some]

    @overload
    def place(self, positions: int) -> int: ...
    @overload
    def place(self, positions: Positions) -> NDArray[np.intp]: ...
    def place(self, positions: Any) -> Any:
        """Return the place among `values` of the record at a position; m where records end."""
        return self._bounds[1:].searchsorted(positions, side="right")

    @overload
    def record(self, positions: int) -> int: ...
    @overload
    def record(self, positions: Positions) -> Integers: ...
    def record(self, positions: Any) -> Any:
        """Return the record at a position, times `unit`; the largest value where records end."""
        return self.values_at(self.place(positions))

    def values_at(self, places: Any) -> Any:
        """Return the values at some places, times `unit`; the largest one behind them."""
        return self.values.take(places, mode="clip")

    @overload
    def total(self, positions: int, power: int = 1) -> int: ...
    @overload
    def total(self, positions: Positions, power: int = 1) -> Integers: ...
    def total(self, positions: Any, power: int = 1) -> Any:
        """Return the sum of the records, or of their powers, before a position from 0 to size.

        Records are taken times `unit`, so this is the sum times ``unit**power``.
        """
        places = self.place(positions)
        inside = positions - self._bounds[places]
        if not np.ndim(inside):
            rest = int(inside) * self.values_at(places) ** power if inside else 0
            return self.before(places, power) + rest
        return self.before(places, power) + inside.astype(object) * self.values_at(places) ** power

    def before(self, places: Any, power: int = 1) -> Any:
        """Return the sums of the records, or of their powers, of all values before some."""
        if power not in self._sums:
            terms = self.values if power == 1 else self.values**power
            if (self.counts != 1).any():
                terms = terms * self.counts.astype(object)
            self._sums[power] = np.concatenate([np.array([0], dtype=object), np.cumsum(terms)])
        return self._sums[power][places]

    def multiplicities(self, *parts: Ranges) -> Multiplicities:
        """Return how often each distinct value occurs at some positions."""
        starts, stops = self._bounds[:-1], self._bounds[1:]
        found = np.zeros(len(self.counts), dtype=np.int64)
        for ranges in parts:
            for start, stop in ranges:
                if start < stop:
                    found += np.maximum(np.minimum(stops, stop) - np.maximum(starts, start), 0)
        return found


def first_of(
    low: Positions, high: Positions, test: Callable[[Positions], NDArray[Any]]
) -> Positions:
    """For each row the first index in [low, high) that passes a monotone test, else high."""
    low, high = low.copy(), high.copy()
    # Always: every index before low fails, and high passes or is the end of the range.
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        passed = test(middle) | (low >= high)
        high = np.where(passed, np.minimum(middle, high), high)
        low = np.where(passed, low, middle + 1)
    return low
