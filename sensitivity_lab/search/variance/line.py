"""The records of a universe and their prefix sums as floats, for bounds on many pairs at once.

In all arrays the last axis is the row: a window, or what lies outside one. Sums are floats with a
bound on their rounding (`Line.off`; docs/proofs.md, "Whole curves: rounding"). No search rests on a
float: bounds have room for all rounding, and `between` returns every index that may be the one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.search.layouts import first_of

from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .patterns import CHUNK

Mask = NDArray[np.bool_]


class Sums(NamedTuple):
    """The sums of records and of their squares, per row."""

    total: Reals
    squares: Reals

    def about(self, center: Reals, size: Positions | int) -> Reals:
        """The sum of squares about a center: of ``(u - center)^2`` over `size` records u."""
        # Q - M (2 S - n M): for M near the mean the bracket is near S, and the difference is D.
        found: Reals = self.squares - center * (2 * self.total - size * center)
        return found


class _Written:
    """Numbers by position where equal records are written out once: as an array of all would be.

    A record has the number `before` at an anchor of its run of equal records, and one `step` more
    for every position from there on. The anchor is the end of the run that is nearer to zero, where
    prefix sums are smallest: so no two numbers cancel.
    """

    def __init__(
        self, records: SortedRecords, anchors: Positions, before: Reals, step: Reals
    ) -> None:
        self.records, self.anchors, self.before, self.step = records, anchors, before, step

    def take(self, positions: Positions) -> Reals:
        """The numbers at some positions."""
        run = self.records.run(positions)
        found: Reals = self.before.take(run)
        return found + (positions - self.anchors.take(run)) * self.step.take(run)


class Line:
    """The records of a universe and their prefix sums as floats.

    Attributes
    ----------
    totals, squares : what takes positions from 0 to N, an array of longdouble if it is not too long
        Prefix sums of the records and of their squares, less those up to the first record that is
        not negative. So they grow outwards from there, their absolute values are the sums of the
        absolute values, and a window is not rounded by an outlier that it does not hold.
    values : what takes positions from 0 to N - 1
        The records.
    error : float
        Every sum of records of this module is off by at most this share of the absolute values of
        the prefix sums that it is made of, hence of those of all records; likewise for squares.
    """

    totals: Reals | _Written
    squares: Reals | _Written
    values: Reals | _Written

    def __init__(self, records: SortedRecords) -> None:
        self.records, self.size = records, records.size
        starts = records.starts
        values = records.record(starts)
        anchors = starts + np.where(values < 0, records.counts, 0)
        # Of compact records only one sum per value is kept.
        places = anchors if records.compact else np.arange(records.size + 1)
        # Where the records that are not negative begin; N if there are none.
        middle = starts[np.searchsorted(values, 0) :][:1] if values[-1] >= 0 else [records.size]
        total, squares = records.total(np.array(middle)), records.squares(np.array(middle))
        sums = np.zeros((2, len(places)), dtype=np.longdouble)
        for start in range(0, len(places), CHUNK):
            # Exact until they are read, so that each is rounded once.
            some = slice(start, start + CHUNK)
            sums[0, some] = records.real(records.total(places[some]) - total)
            sums[1, some] = records.real_squares(records.squares(places[some]) - squares)
        self.totals, self.squares = sums
        self.values = records.record(places[:-1])
        if records.compact:
            self.totals = _Written(records, anchors, sums[0], values)
            self.squares = _Written(records, anchors, sums[1], values * values)
            self.values = _Written(records, anchors, values, np.zeros_like(values))
        self.lowest, self.highest = values[0], values[-1]
        whole = np.array([0, records.size])
        (_, self.positive), (_, self.most) = self.totals.take(whole), self.squares.take(whole)
        (self.negative, _), (self.least, _) = self.totals.take(whole), self.squares.take(whole)
        self.all_squares, self.all_absolute = self.most - self.least, self.positive + self.negative
        # The bound of docs/proofs.md, "Whole curves: rounding", has 64 e, with e at least four
        # units.
        self.error = 64 * max(records.error, 4 * UNIT)

    def window(self, begin: Positions, width: Positions | int) -> Sums:
        """The sums over the `width` records from a position on."""
        end = begin + width
        return Sums(
            self.totals.take(end) - self.totals.take(begin),
            self.squares.take(end) - self.squares.take(begin),
        )

    def off(self, number: Reals, size: Positions | int) -> Reals:
        """A bound on the error of sums of squares about a number, of up to `size` records."""
        return self._off(Sums(self.all_absolute, self.all_squares), number, size)

    def off_window(self, begin: Positions, width: Positions | int, number: Reals) -> Reals:
        """The same for the records of a window alone."""
        return self._off(self.absolute(begin, width), number, width)

    def absolute(self, begin: Positions, width: Positions | int) -> Sums:
        """What the errors of the sums of a window are relative to."""
        end = begin + width
        total, squares = (
            np.abs(prefix.take(begin)) + np.abs(prefix.take(end))
            for prefix in (self.totals, self.squares)
        )
        return Sums(total, squares)

    def _off(self, absolute: Sums, number: Reals, size: Positions | int) -> Reals:
        most = np.abs(number)
        scale: Reals = absolute.squares + most * absolute.total + size * most * most
        return self.error * scale

    def record(self, position: Positions) -> Reals:
        """The record at each position; beyond the last one, the last."""
        return self.values.take(np.minimum(position, self.size - 1))

    def rule(
        self, size: Positions | int, entering: Positions, leaving: Positions, total: Reals
    ) -> tuple[Reals, Reals]:
        """Return ``e (m - 1) + l (m + 1) - 2 s``, and what it is off at most.

        e enters and l leaves a set of m records with the sum s. Where this is negative the squared
        deviations of the set rise by the step, where it is positive they fall: docs/proofs.md,
        "Variance and standard deviation: four facts", Fact 4 with r = l and e <= l. It does not
        fall along the splits, so the first one where it is not negative is the best.
        """
        enter, leave = self.record(entering), self.record(leaving)
        value: Reals = enter * (size - 1) + leave * (size + 1) - 2 * total
        weight = (np.abs(enter) + np.abs(leave)) * (size + 1) + 2 * self.all_absolute
        return value, self.error * weight


@lru_cache(maxsize=2)
def line_of(records: SortedRecords) -> Line:
    """Return the line of a universe; that of its mirror image is kept, too."""
    return Line(records)


@dataclass(frozen=True)
class Gaps:
    """A range of positions that A avoids, per row: what all windows of a node share."""

    line: Line
    start: Positions
    width: Positions | int

    def position(self, number: Positions) -> Positions:
        """The position of a record, numbered without the gap."""
        return number + self.width * (number >= self.start)

    def step(self, split: Positions, take: Positions | int) -> tuple[Positions, Positions]:
        """Where the records are that enter and leave the ends when the split grows by one."""
        # With the split s the ends are the first s and the last take - s records outside the gap.
        # The first of the latter, number s + rest, leaves when record s enters.
        rest = self.line.size - self.width - take
        return self.position(split), self.position(split + rest)

    def slope(self, split: Positions, take: Positions | int) -> Reals:
        """Return e + l, where e enters and l leaves the ends when the split grows by one."""
        enter, leave = self.step(split, take)
        return self.line.record(enter) + self.line.record(leave)

    def ends(self, split: Positions, take: Positions | int) -> Sums:
        """The sums over the first `split` and the last ``take - split`` records outside the gap."""
        line, stop = self.line, self.start + self.width
        rest = split + (line.size - self.width - take)
        low = split + self.width * (split > self.start)
        high = rest + self.width * (rest > self.start)
        # The gap counts once too often, unless it lies between both numbers.
        between = (rest > self.start) & ~(split > self.start)
        parts = []
        for prefix, first, last in (
            (line.totals, line.negative, line.positive),
            (line.squares, line.least, line.most),
        ):
            outside = (prefix.take(low) - first) + (last - prefix.take(high))
            inside = prefix.take(stop) - prefix.take(self.start)
            parts.append(outside - np.where(between, 0, inside))
        return Sums(*parts)


def between(
    low: Positions, high: Positions, rule: Callable[[Positions], tuple[Reals, Reals]]
) -> tuple[Positions, Positions]:
    """For each row, between which indices the first is for which a rule is not negative.

    The exact rule does not fall along the indices of a row, and is known by a float and its error.
    So the index is not before the first one for which the rule may be 0, and not after the first
    one for which it is surely positive. If it is negative in all of [low, high), the index is high.
    """

    def may_stop(index: Positions) -> Mask:
        value, error = rule(index)
        return np.asarray(value >= -error)

    def stops(index: Positions) -> Mask:
        value, error = rule(index)
        return np.asarray(value > error)

    # An index that surely stops also may stop, so none comes before `first`.
    first = first_of(low, high, may_stop)
    # Nearly always both are the same index, or the exact rule is 0 at the first one.
    return first, first_of(first, high, stops)
