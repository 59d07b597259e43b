"""Some records of a universe side by side, with exact prefix sums for many positions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.universes.multiplicities import Multiplicities

Positions = NDArray[np.int64]


class Line:
    """Records in ascending order, by positions 0 to size - 1; equal ones side by side.

    Parameters
    ----------
    values : ndarray of Python ints, shape (m,)
        The distinct values of a universe, ascending, as integers.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0.

    Notes
    -----
    All sums are of Python ints: no rounding, and no largest number.

    Examples
    --------
    >>> line = Line(np.array([-1, 0, 5], dtype=object), np.array([2, 0, 3]))
    >>> line.record(np.arange(5)).tolist(), line.total(np.arange(6)).tolist()
    ([-1, -1, 5, 5, 5], [0, -1, -2, 3, 8, 13])
    """

    def __init__(self, values: Integers, counts: Multiplicities) -> None:
        self.values = values
        self.counts = counts
        self.stops = np.cumsum(counts)
        self.starts = self.stops - counts
        self.size = int(self.stops[-1])
        times = counts.astype(object)
        self._before = {1: _before(values * times), 2: _before(values * values * times)}

    def record(self, positions: Any) -> Integers:
        """Return the record at each position; one past the end is moved to the last value."""
        return self.values.take(self._places(positions))

    def total(self, positions: Any, power: int = 1) -> Integers:
        """Return the sum of the records, or of their squares, before each position 0 to size."""
        places = self._places(positions)
        inside = (positions - self.starts.take(places)).astype(object)
        sums: Integers = self._before[power].take(places) + inside * self.record(positions) ** power
        return sums

    def sums(self, start: Any, stop: Any) -> Integers:
        """Return the sums and the sums of squares from start to stop, shape (2, ...)."""
        return np.array(
            [self.total(stop, power) - self.total(start, power) for power in (1, 2)], dtype=object
        )

    def multiplicities(self, start: int, stop: int) -> Multiplicities:
        """Return how often each distinct value occurs from start to stop."""
        inside = np.minimum(self.stops, stop) - np.maximum(self.starts, start)
        found: Multiplicities = np.maximum(inside, 0)
        return found

    def _places(self, positions: Any) -> Positions:
        found = np.searchsorted(self.stops, positions, side="right")
        places: Positions = np.minimum(found, len(self.values) - 1)
        return places


def _before(terms: Integers) -> Integers:
    """Return the sums of all terms before each one."""
    sums: Integers = np.cumsum(terms) - terms
    return sums
