"""The records of a universe and their prefix sums as floats, for bounds on many pairs at once.

In all arrays the first axis is the row: a window, or what lies outside one. Sums are floats with a
bound on their rounding (`Line.off`; docs/proofs.md, "Whole curves", *Rounding*).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sensitivity_lab.search.variance.float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from sensitivity_lab.search.variance.patterns import CHUNK
from sensitivity_lab.search.variance.windows import Mask


class Sums(NamedTuple):
    """The sums of records and of their squares, per row."""

    total: Reals
    squares: Reals

    def about(self, center: Reals, size: Positions) -> Reals:
        """The sum of squares about a center: of ``(u - center)^2`` over `size` records u."""
        found: Reals = self.squares - center * (2 * self.total - size * center)
        return found


class Line:
    """The records of a universe and their prefix sums as floats.

    Attributes
    ----------
    totals, squares : array of longdouble, shape (N + 1,)
        Prefix sums of the records and of their squares, less those up to the first record that is
        not negative. So they grow outwards from there, their absolute values are the sums of the
        absolute values, and a window is not rounded by an outlier that it does not hold.
    error : float
        Every sum of records of this module is off by at most this share of the absolute values of
        the prefix sums that it is made of, hence of those of all records; likewise for squares.
    """

    def __init__(self, records: SortedRecords) -> None:
        self.records, self.size = records, records.size
        places = np.arange(records.size)
        self.values, self.runs = records.record(places), records.run(places)
        middle = np.array([np.searchsorted(self.values, 0)])
        total, squares = records.total(middle), records.squares(middle)
        self.totals, self.squares = np.zeros((2, records.size + 1), dtype=np.longdouble)
        for start in range(0, records.size + 1, CHUNK):
            some = np.arange(start, min(start + CHUNK, records.size + 1))
            self.totals[some] = records.real(records.total(some) - total)
            self.squares[some] = records.real_squares(records.squares(some) - squares)
        self.all_squares = self.squares[-1] - self.squares[0]
        self.all_absolute = self.totals[-1] + self.totals[0]
        self.error = 64 * max(records.error, 4 * UNIT)

    def window(self, begin: Positions, width: Positions) -> Sums:
        """The sums over the `width` records from a position on."""
        end = begin + width
        return Sums(
            self.totals.take(end) - self.totals.take(begin),
            self.squares.take(end) - self.squares.take(begin),
        )

    def off(self, number: Reals, size: Positions) -> Reals:
        """A bound on the error of sums of squares about a number, of up to `size` records."""
        return self._off(Sums(self.all_absolute, self.all_squares), number, size)

    def off_window(self, begin: Positions, width: Positions, number: Reals) -> Reals:
        """The same for the records of a window alone."""
        return self._off(self.absolute(begin, width), number, width)

    def absolute(self, begin: Positions, width: Positions) -> Sums:
        """What the errors of the sums of a window are relative to."""
        end = begin + width
        total, squares = (
            np.abs(prefix.take(begin)) + np.abs(prefix.take(end))
            for prefix in (self.totals, self.squares)
        )
        return Sums(total, squares)

    def _off(self, absolute: Sums, number: Reals, size: Positions) -> Reals:
        most = np.abs(number)
        off: Reals = self.error * (absolute.squares + most * absolute.total + size * most * most)
        return off


@dataclass(frozen=True)
class Gaps:
    """A range of positions that A avoids, per row: what all windows of a node share."""

    line: Line
    start: Positions
    width: Positions

    def position(self, number: Positions) -> Positions:
        """The position of a record, numbered without the gap."""
        return number + self.width * (number >= self.start)

    def slope(self, split: Positions, take: Positions) -> Reals:
        """Return e + l, where e enters and l leaves the ends when the split grows by one."""
        rest = self.line.size - self.width - take
        values = self.line.values
        enter, leave = self.position(split), self.position(split + rest)
        last = self.line.size - 1
        found: Reals = values.take(np.minimum(enter, last)) + values.take(np.minimum(leave, last))
        return found

    def ends(self, split: Positions, take: Positions) -> Sums:
        """The sums over the first `split` and the last ``take - split`` records outside the gap."""
        line, stop = self.line, self.start + self.width
        rest = split + (line.size - self.width - take)
        low, high = (
            split + self.width * (split > self.start),
            rest + self.width * (rest > self.start),
        )
        # The gap counts once too often, unless it lies between both numbers.
        between = (rest > self.start) & ~(split > self.start)
        parts = []
        for prefix in (line.totals, line.squares):
            outside = (prefix.take(low) - prefix[0]) + (prefix[-1] - prefix.take(high))
            inside = prefix.take(stop) - prefix.take(self.start)
            parts.append(outside - np.where(between, 0, inside))
        return Sums(*parts)


def first_of(low: Positions, high: Positions, test: Callable[[Positions], Mask]) -> Positions:
    """For each row the first index in [low, high) that passes a monotone test, else high."""
    low, high = low.copy(), high.copy()
    steps = int((high - low).max(initial=0)).bit_length()
    for _ in range(steps):
        middle = (low + high) // 2
        passed = test(middle) | (low >= high)
        high = np.where(passed, np.minimum(middle, high), high)
        low = np.where(passed, low, middle + 1)
    return low
