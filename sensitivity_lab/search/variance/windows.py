"""Many windows of the sorted universe at once, what lies outside them, and bisection over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers

from .comparing import Sets
from .float_prefix_sums import Positions, Reals, SortedRecords, Sums
from .patterns import CHUNK, Search

Mask = NDArray[np.bool_]
Signs = NDArray[np.int8]

FEW = 2048
"""So few words are all evaluated at once: quicker than to search for the best among them."""

SEED = 256
"""Rows with the largest bounds are searched first, so that the others can be skipped."""

SAMPLE = 64
"""One in so many of a lot of rows is searched before the others."""

WINDOWS = 1 << 25
"""The most windows of different records to go through, in two minutes or so."""


class Outside:
    """The records outside a window, one window per row: i counts what is left of the universe.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    window : array of int64, shape (rows,)
        Where each row's window begins.
    width : int
        How many records the windows hold.

    Attributes
    ----------
    inner : Sets
        The windows themselves.
    """

    def __init__(self, records: SortedRecords, window: Positions, width: int) -> None:
        self.records, self.window, self.width = records, window, width
        self.size = records.size - width
        self.inner = block(records, window, width)

    def ends(self, split: Positions, take: int) -> Sets:
        """The first `split` and the last ``take - split`` records outside."""
        total, squares = self.records.total, self.records.squares
        return Sets(
            take,
            self._ends(total, self.inner.sums, split, take),
            self._ends(squares, self.inner.squares, split, take),
        )

    def total(self, split: Positions, take: int) -> Sums:
        """The sum of the same records."""
        return self._ends(self.records.total, self.inner.sums, split, take)

    def entering(self, split: Positions) -> Positions:
        """The position of the record that enters the ends when `split` grows by one."""
        return split + self.width * (split >= self.window)

    def leaving(self, split: Positions, take: int) -> Positions:
        """The position of the record that leaves the ends when `split` grows by one."""
        return self.entering(split + (self.size - take))

    def bounds(self, split: Positions, take: int) -> Positions:
        """Boundaries of the seven blocks ends, rest, ends, window, ends, rest, ends."""
        begin, end = self.window, self.window + self.width
        left, right = np.minimum(split, begin), np.minimum(take - split, self.records.size - end)
        columns = [
            np.zeros_like(begin), left, begin - (take - split - right), begin,
            end, end + (split - left), self.records.size - right,
            np.full_like(begin, self.records.size),
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    def rows(self, chosen: Positions | Mask) -> Outside:
        """The same for some of the rows."""
        return Outside(self.records, self.window[chosen], self.width)

    def _ends(
        self, prefix: Callable[[Positions], Sums], inner: Sums, split: Positions, take: int
    ) -> Sums:
        rest = split + (self.size - take)
        early, late = split > self.window, rest > self.window
        outside = prefix(split + self.width * early) - prefix(rest + self.width * late)
        whole = prefix(np.full(1, self.records.size))
        return outside + whole - np.where((late & ~early)[:, None], 0, inner)


def block(records: SortedRecords, begin: Positions, width: int) -> Sets:
    """The records of windows."""
    total, squares = records.total, records.squares
    return Sets(
        width,
        total(begin + width) - total(begin),
        squares(begin + width) - squares(begin),
    )


def joined(one: Sets, other: Sets) -> Sets:
    """Both of two sets without a common record, for each row."""
    return Sets(one.size + other.size, one.sums + other.sums, one.squares + other.squares)


def windows(records: SortedRecords, width: int) -> Iterator[Positions]:
    """Where windows of `width` records begin, in chunks; windows of the same content once."""
    last = records.size - width
    same = int(np.maximum(records.counts - width, 0).sum()) if width else 0
    if last + 1 - same > WINDOWS:
        raise OverflowError(
            f"{last + 1 - same:,} windows of different records, at most {WINDOWS:,}"
        )
    for start in range(0, last + 1, CHUNK):
        begin = np.arange(start, min(start + CHUNK, last + 1))
        if records.repeated and width:
            new = records.run(begin - 1) != records.run(begin + width - 1)
            begin = begin[(begin == 0) | new]
        yield begin


def windows_at_runs(records: SortedRecords, width: int, near: int) -> Iterator[Positions]:
    """The windows that begin or end with a run of equal records or are `near` an end; in chunks."""
    if not records.repeated:
        yield from windows(records, width)
        return
    last = records.size - width
    edge = np.arange(min(near, last) + 1)
    begin = np.concatenate([records.starts, records.starts - width, edge, last - edge])
    begin = np.unique(begin[(begin >= 0) & (begin <= last)])
    for start in range(0, len(begin), CHUNK):
        yield begin[start : start + CHUNK]


def expand(
    search: Search, low: Positions, high: Positions
) -> Iterator[tuple[Positions, Positions]]:
    """All (row, index) with low[row] <= index <= high[row], in chunks."""
    ends = np.cumsum(np.maximum(high - low + 1, 0))
    total = int(ends[-1]) if len(ends) else 0
    search.plan(total)
    for start in range(0, total, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, total))
        search.count(len(numbers))
        rows = np.searchsorted(ends, numbers, side="right")
        index = (high.take(rows) - (ends.take(rows) - 1 - numbers)).astype(np.int64)
        yield rows.astype(np.int64), index


def every(low: Positions, span: int) -> tuple[Positions, Positions] | None:
    """The whole span from `low` for each row if that makes few words, else None."""
    return (low, low + span) if len(low) * (span + 1) <= FEW else None


def first(low: Positions, high: Positions, test: Callable[[Positions], Mask]) -> Positions:
    """For each row the first index in [low, high) that passes a monotone test, else high."""
    low, high = low.copy(), high.copy()
    while True:
        active = low < high
        if not active.any():
            return low
        middle = (low + high) // 2
        passed = test(middle)
        high = np.where(active & passed, middle, high)
        low = np.where(active & ~passed, middle + 1, low)


def best_first(
    rows: Positions,
    gains: Callable[[Positions], Reals],
    visit: Callable[[Positions], None],
    words: int = 1,
) -> None:
    """Visit the rows that may gain on the best word, those with the largest gains first.

    A visit evaluates about so many `words` per row.
    `gains` is asked again for the rows left, as visits raise what they are compared with.
    """
    seed = max(1, min(SEED, FEW // words))
    if len(rows) > 4 * seed:  # what a few reach spares most of the others a second look
        best_first(rows[::SAMPLE], gains, visit, words)
    while True:
        chunks = range(0, len(rows), CHUNK)
        if not chunks:
            return
        bound = np.concatenate([gains(rows[at : at + CHUNK]) for at in chunks])
        rows, bound = rows[bound > 0], bound[bound > 0]
        if len(rows) <= seed:
            visit(rows)
            return
        order = np.argpartition(-bound, seed)
        visit(rows[order[:seed]])
        rows, seed = rows[order[seed:]], min(2 * seed, CHUNK)


def signs(
    records: SortedRecords,
    size: int | None,
    value: Reals,
    weight: Reals,
    exact: Callable[[Positions], Integers],
) -> Signs:
    """The signs of sums of records, exactly.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    size : int or None
        If sums of so many squares are exact in floats, so is `value`; None if it never is.
    value : array of longdouble, shape (rows,)
        The sums, in floats.
    weight : array of longdouble, shape (rows,)
        The sums of the absolute values of what was added up.
    exact : callable
        Takes some rows and gives their sums, times any positive number, as Python ints.
    """
    found = np.sign(value).astype(np.int8)
    if size is not None and records.exact(size):
        return found
    unsure = np.flatnonzero(~(np.abs(value) > 8 * records.error * weight))
    if len(unsure):
        sums = exact(unsure)
        found[unsure] = (sums > 0).astype(np.int8) - (sums < 0).astype(np.int8)
    return found


class Rule:
    """``e (m - 1) + l (m + 1) - 2 s``: e enters and l leaves a set of m records with the sum s.

    Where it is negative, squared deviations rise by the step; where it is positive, they fall.
    """

    def __init__(
        self,
        records: SortedRecords,
        size: int,
        entering: Positions,
        leaving: Positions,
        sums: Sums,
    ) -> None:
        self.records, self.size, self.sums = records, size, sums
        self.entering, self.leaving = entering, leaving
        enter, leave = records.record(entering) * (size - 1), records.record(leaving) * (size + 1)
        total = 2 * records.real(sums)
        self.value = enter + leave - total
        self.weight = np.abs(enter) + np.abs(leave) + np.abs(total)

    def integers(self, rows: Positions) -> Integers:
        """The exact rule for some rows."""
        enter, leave = (self.records.integer(at[rows]) for at in (self.entering, self.leaving))
        total: Integers = self.records.integer_sums(self.sums[rows])
        found: Integers = enter * (self.size - 1) + leave * (self.size + 1) - 2 * total
        return found

    def signs(self) -> Signs:
        """The sign for every row."""
        return signs(self.records, self.size, self.value, self.weight, self.integers)


def widest(outside: Outside, inner: Sums | int, take: int, size: int) -> Positions:
    """The split of `take` end records that makes inner + ends widest."""
    records = outside.records

    def stop(split: Positions) -> Mask:
        entering, leaving = outside.entering(split), outside.leaving(split, take)
        sums = outside.total(split, take) + inner
        return Rule(records, size, entering, leaving, sums).signs() >= 0

    start = np.zeros_like(outside.window)
    return first(start, start + take, stop)
