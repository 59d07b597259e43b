"""A sorted universe as prefix sums: records, sums and sums of squares by position.

Positions number the records in ascending order, equal values one after the other. Sums are kept in
the widest floating-point type at hand, with a bound on everything that rounding can have done.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Reals = NDArray[np.longdouble]

UNIT = float(np.finfo(np.longdouble).eps) / 2  # unit roundoff of the working precision
BLOCK = 1024  # records summed in one go: the error of a prefix sum grows with BLOCK + N / BLOCK
EXPANDED = 1 << 22  # up to this many records, repeated values are written out


class SortedRecords:
    """The records of a universe in ascending order, with prefix sums.

    Parameters
    ----------
    values : array of float or int, shape (values,)
        The distinct values, ascending and centered (a record near the middle subtracted).
    counts : array of int, shape (values,)
        How many records have each value, at least 1.
    value_error : float, default 0
        Relative error of each value (for instance ``2.0**-53`` if rationals were rounded to float).

    Attributes
    ----------
    size : int
        Number of records N.
    run_starts : array of int64 or None
        The position of the first record of each value; None if all records differ.
    largest : float
        The largest absolute value.
    sum_error, square_error : float
        Bounds on the absolute error of one entry of `total` and of `squares`.

    Notes
    -----
    Memory is 56 bytes per record, or per distinct value beyond ``EXPANDED`` records.

    Examples
    --------
    >>> records = SortedRecords(np.array([-2.0, 0.0, 3.0]), np.array([1, 2, 1]))
    >>> records.record(np.arange(4)).astype(float).tolist()
    [-2.0, 0.0, 0.0, 3.0]
    >>> records.total(np.array([0, 1, 4])).astype(float).tolist()
    [0.0, -2.0, 1.0]
    """

    def __init__(
        self, values: NDArray[Any], counts: NDArray[Any], value_error: float = 0.0
    ) -> None:
        work = np.asarray(values, dtype=np.longdouble)
        repeats = np.asarray(counts, dtype=np.int64)
        self.value_error = value_error
        self.size = int(repeats.sum())
        starts = np.concatenate([[0], np.cumsum(repeats)[:-1]])
        self.run_starts = starts if len(work) < self.size else None
        if self.size <= EXPANDED:
            work, repeats = np.repeat(work, repeats), np.ones(self.size, dtype=np.int64)
        self._values = work
        self._counts = repeats
        self._starts = np.concatenate([[0], np.cumsum(repeats)])
        self._compact = self.size > len(work)
        weights = repeats.astype(np.longdouble)
        self._total = _prefix_sums(work * weights)
        self._squares = _prefix_sums(work * work * weights)
        self.largest = float(np.max(np.abs(work)))
        self.absolute = float(np.sum(np.abs(work) * weights)) * (1 + 1e-9)
        self.all_squares = float(self._squares[-1]) * (1 + 1e-9)
        self._integers = value_error == 0 and bool(np.all(work == np.rint(work)))
        roundings = BLOCK + len(work) // BLOCK + 16
        plain = self._integers and self._fits(1)
        self.sum_error = 0.0 if plain else 1.05 * roundings * UNIT * self.absolute
        self.square_error = 0.0 if plain else 1.05 * roundings * UNIT * self.all_squares

    def _fits(self, size: int) -> bool:
        return 8.0 * (size + 1) * max(self.all_squares, self.absolute, self.largest) < 1 / UNIT

    def exact(self, size: int) -> bool:
        """Whether size times a sum of squares, and every step up to it, is free of rounding."""
        return self._integers and self._fits(size)

    def mirrored(self) -> Self:
        """The same records times -1: position p becomes ``size - 1 - p``."""
        return type(self)(-self._values[::-1], self._counts[::-1], self.value_error)

    @property
    def distinct(self) -> bool:
        """Whether all records differ."""
        return self.run_starts is None

    def run(self, positions: Positions) -> Positions:
        """The position of the first record equal to the record at each position."""
        inside = np.clip(positions, 0, self.size - 1)
        if self.run_starts is None:
            return inside
        return self.run_starts.take(np.searchsorted(self.run_starts, inside, side="right") - 1)

    def record(self, positions: Positions) -> Reals:
        """The record at each position; positions outside are moved to the nearest end."""
        if not self._compact:
            return self._values.take(positions, mode="clip")
        return self._values.take(self._run(positions))

    def total(self, positions: Positions) -> Reals:
        """The sum of the first p records, for each p from 0 to N."""
        return self._prefix(self._total, positions, power=1)

    def squares(self, positions: Positions) -> Reals:
        """The sum of squares of the first p records, for each p from 0 to N."""
        return self._prefix(self._squares, positions, power=2)

    def _run(self, positions: Positions) -> Positions:
        found = np.searchsorted(self._starts, positions, side="right") - 1
        return np.clip(found, 0, len(self._values) - 1)

    def _prefix(self, sums: Reals, positions: Positions, power: int) -> Reals:
        if not self._compact:
            return sums.take(positions, mode="clip")
        run = self._run(positions)
        inside = (positions - self._starts.take(run)).astype(np.longdouble)
        prefix: Reals = sums.take(run) + inside * self._values.take(run) ** power
        return prefix


def _prefix_sums(terms: Reals) -> Reals:
    """Sums of the first 0, 1, ..., len(terms) terms, block by block to keep rounding small."""
    blocks = -(-len(terms) // BLOCK)
    padded = np.zeros((blocks, BLOCK), dtype=np.longdouble)
    padded.ravel()[: len(terms)] = terms
    inside = np.cumsum(padded, axis=1)
    before = np.concatenate([[0], np.cumsum(inside[:-1, -1])])
    sums = (inside + before[:, None]).ravel()[: len(terms)]
    return np.concatenate([np.zeros(1, dtype=np.longdouble), sums])
