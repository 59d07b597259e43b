"""Many windows of the sorted universe at once, what lies outside them, and bisection over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .sorted_records import UNIT, Positions, Reals, SortedRecords
from .word_search import CHUNK, LOOKUPS, Search

Mask = NDArray[np.bool_]

FEW = 2048
"""So few words are all evaluated at once: quicker than to search for the best among them."""

SEED = 256
"""Rows with the largest bounds are searched first, so that the others can be skipped."""


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
    """

    def __init__(self, records: SortedRecords, window: Positions, width: int) -> None:
        self.records, self.window, self.width = records, window, width
        self.size = records.size - width
        self.sums = records.total(window + width) - records.total(window)
        self.squares = records.squares(window + width) - records.squares(window)

    def step(self, split: Positions, take: int) -> tuple[Reals, Reals]:
        """The records that enter and leave the ends when `split` grows by one."""
        return self._record(split), self._record(split + (self.size - take))

    def total(self, split: Positions, take: int) -> Reals:
        """Sum of the first `split` and the last ``take - split`` records outside."""
        return self._ends(self.records.total, self.sums, split, take)

    def both(self, split: Positions, take: int) -> tuple[Reals, Reals]:
        """Sum and sum of squares of the same records."""
        squares = self._ends(self.records.squares, self.squares, split, take)
        return self.total(split, take), squares

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

    def new(self, split: Positions, take: int, low: Positions) -> Mask:
        """Whether the ends differ from those at ``split - 1``; so they are taken to do at `low`."""
        if self.records.distinct:
            return np.ones(len(split), dtype=bool)
        entering, leaving = self.step(split - 1, take)
        return np.asarray((split == low) | (entering != leaving))

    def rows(self, chosen: Positions | Mask) -> Outside:
        """The same for some of the rows."""
        return Outside(self.records, self.window[chosen], self.width)

    def _record(self, index: Positions) -> Reals:
        return self.records.record(index + self.width * (index >= self.window))

    def _ends(
        self, prefix: Callable[[Positions], Reals], inner: Reals, split: Positions, take: int
    ) -> Reals:
        rest = split + (self.size - take)
        early, late = split > self.window, rest > self.window
        outside = prefix(split + self.width * early) - prefix(rest + self.width * late)
        whole = prefix(np.full(1, self.records.size))
        return outside + whole - np.where(late & ~early, 0, inner)


def windows(records: SortedRecords, width: int) -> Iterator[Positions]:
    """Where windows of `width` records begin, in chunks; windows of the same content once."""
    for start in range(0, records.size - width + 1, CHUNK):
        begin = np.arange(start, min(start + CHUNK, records.size - width + 1))
        if not records.distinct and width:
            new = records.record(begin - 1) != records.record(begin + width - 1)
            begin = begin[(begin == 0) | new]
        yield begin


def windows_at_runs(records: SortedRecords, width: int, near: int) -> Iterator[Positions]:
    """The windows that begin or end with a run of equal records or are `near` an end; in chunks."""
    if records.run_starts is None:
        yield from windows(records, width)
        return
    last = records.size - width
    edge = np.arange(min(near, last) + 1)
    begin = np.concatenate([records.run_starts, records.run_starts - width, edge, last - edge])
    begin = np.unique(begin[(begin >= 0) & (begin <= last)])
    for start in range(0, len(begin), CHUNK):
        yield begin[start : start + CHUNK]


def expand(
    search: Search, low: Positions, high: Positions
) -> Iterator[tuple[Positions, Positions]]:
    """All (row, index) with low[row] <= index <= high[row], in chunks."""
    ends = np.cumsum(np.maximum(high - low + 1, 0))
    total = int(ends[-1]) if len(ends) else 0
    search.spend(total)
    for start in range(0, total, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, total))
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


def best_first(search: Search, bound: Reals, visit: Callable[[Positions], None]) -> None:
    """Visit the rows whose bound reaches the floor, the largest bounds first."""
    if len(bound) > SEED:
        visit(np.argpartition(bound, -SEED)[-SEED:])
    rows = np.flatnonzero(bound >= search.floor)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        visit(part[bound[part] >= search.floor])


def widest_ends(
    outside: Outside, inner: Reals | float, take: int, size: int
) -> tuple[Positions, Positions]:
    """The first and last split of `take` end records that may make inner + ends widest."""
    slack = rule_error(outside.records, size)

    def rule(split: Positions) -> Reals:
        entering, leaving = outside.step(split, take)
        return (
            entering * (size - 1) + leaving * (size + 1) - 2 * (outside.total(split, take) + inner)
        )

    start = np.zeros_like(outside.window)
    low = first(start, start + take, lambda split: rule(split) >= -slack)
    return low, first(low, start + take, lambda split: rule(split) > slack)


def rule_error(records: SortedRecords, size: int) -> float:
    """Bound on the absolute error of ``x (m - 1) + y (m + 1) - 2 s``, s a sum of m records."""
    if records.exact(size):
        return 0.0
    of_sum = LOOKUPS * (records.sum_error + UNIT * records.absolute)
    of_records = (32 * UNIT + 8 * records.value_error) * (size + 1) * records.largest
    return 1.01 * (2 * of_sum + of_records)


def plateau_error(records: SortedRecords, size: int, steps: Positions) -> Reals:
    """How much squared deviations can change in so many steps with a rule within its error."""
    per_step = 4 * rule_error(records, size) * records.largest / size
    return steps.astype(np.longdouble) * per_step
