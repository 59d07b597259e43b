"""Many windows of the sorted universe at once, what lies outside them, and bisection over them.

A *window* is a range of adjacent records of the sorted universe. In all arrays the first axis is
the row: one window, with a search for the best split of what is outside it. The rule by which
bisection finds that split is in docs/proofs.md: "The split of A by bisection", under "Variance and
standard deviation: remove".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers

from .comparing import Sets
from .float_prefix_sums import Positions, Reals, SortedRecords, Sums
from .patterns import CHUNK, PatternSearch

Mask = NDArray[np.bool_]
Signs = NDArray[np.int8]

FEW = 2048
"""Up to this many placements are simply all evaluated, which is quicker than bisection."""

SEED = 256
"""How many rows are searched first, those with the largest bounds, so that others are skipped."""

SAMPLE = 64
"""Of very many rows, one in this many is searched before the others."""

WINDOWS = 1 << 25
"""The most windows of different records that a search visits; that takes about two minutes."""


class WindowComplement:
    """The records outside a window, for one window per row.

    What is outside is ordered as in the universe, and numbered from 0 to ``size - 1`` without a gap
    where the window is. Its *ends* are its first `split` and its last ``take - split`` records.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    window : array of int64, shape (rows,)
        Where each row's window begins.
    width : int
        How many records each window has.

    Attributes
    ----------
    size : int
        How many records are outside each window.
    inner : Sets
        The windows themselves.
    """

    def __init__(self, records: SortedRecords, window: Positions, width: int) -> None:
        self.records, self.window, self.width = records, window, width
        self.size = records.size - width
        self.inner = window_sets(records, window, width)

    def ends(self, split: Positions, take: int) -> Sets:
        """The first `split` and the last ``take - split`` records outside, for each row."""
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
        # Record number s outside has position s before the window, and s + width after it.
        return split + self.width * (split >= self.window)

    def leaving(self, split: Positions, take: int) -> Positions:
        """The position of the record that leaves the ends when `split` grows by one."""
        return self.entering(split + (self.size - take))

    def bounds(self, split: Positions, take: int) -> Positions:
        """Boundaries of the seven blocks ends, rest, ends, window, ends, rest, ends.

        Left and right of the window the ends may reach it: then they have two blocks on that side,
        and `rest` is empty. So there is one layout for every split, shape (rows, 8).
        """
        begin, end = self.window, self.window + self.width
        left, right = np.minimum(split, begin), np.minimum(take - split, self.records.size - end)
        columns = [
            np.zeros_like(begin), left, begin - (take - split - right), begin,
            end, end + (split - left), self.records.size - right,
            np.full_like(begin, self.records.size),
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    def rows(self, chosen: Positions | Mask) -> WindowComplement:
        """The same for some of the rows."""
        return WindowComplement(self.records, self.window[chosen], self.width)

    def _ends(
        self, prefix: Callable[[Positions], Sums], inner: Sums, split: Positions, take: int
    ) -> Sums:
        # The ends are all records outside but those with the numbers split to rest - 1. The prefix
        # sums up to these two numbers contain the window if the number lies beyond it. So their
        # difference counts the window once too often, unless the window lies between both.
        rest = split + (self.size - take)
        early, late = split > self.window, rest > self.window
        outside = prefix(split + self.width * early) - prefix(rest + self.width * late)
        whole = prefix(np.full(1, self.records.size))
        return outside + whole - np.where((late & ~early)[:, None], 0, inner)


def window_sets(records: SortedRecords, begin: Positions, width: int) -> Sets:
    """The records of windows, one window per row."""
    total, squares = records.total, records.squares
    return Sets(
        width,
        total(begin + width) - total(begin),
        squares(begin + width) - squares(begin),
    )


def joined(one: Sets, other: Sets) -> Sets:
    """The union of two sets without a common record, for each row."""
    return Sets(one.size + other.size, one.sums + other.sums, one.squares + other.squares)


def windows(records: SortedRecords, width: int, visits: int = 1) -> Iterator[Positions]:
    """Where windows of `width` records begin, in chunks; each content once.

    Each will be visited so many times; too many visits in all raise an OverflowError.

    Moving a window up by one changes its content only if the record that leaves and the one that
    enters are different. Of windows with the same content, the first is taken.
    """
    last = records.size - width
    same = int(np.maximum(records.counts - width, 0).sum()) if width else 0
    if (last + 1 - same) * visits > WINDOWS:
        times = f", {visits:,} times each" if visits > 1 else ""
        raise OverflowError(
            f"{last + 1 - same:,} windows of different records{times}, at most {WINDOWS:,}"
        )
    for start in range(0, last + 1, CHUNK):
        begin = np.arange(start, min(start + CHUNK, last + 1))
        if records.repeated and width:
            new = records.run(begin - 1) != records.run(begin + width - 1)
            begin = begin[(begin == 0) | new]
        yield begin


def windows_at_runs(records: SortedRecords, width: int, near: int) -> Iterator[Positions]:
    """The windows that begin or end with a whole run of equal records, or are near an end.

    See "Equal records: fewer windows C", under "Variance and standard deviation: remove" in
    docs/proofs.md; `near` is its k.
    """
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
    search: PatternSearch, low: Positions, high: Positions
) -> Iterator[tuple[Positions, Positions]]:
    """All (row, index) with low[row] <= index <= high[row], in chunks."""
    # Pairs are numbered row by row; `ends` is where the numbers of each row end.
    ends = np.cumsum(np.maximum(high - low + 1, 0))
    total = int(ends[-1]) if len(ends) else 0
    search.plan(total)
    for start in range(0, total, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, total))
        search.count(len(numbers))
        rows = np.searchsorted(ends, numbers, side="right")
        index = (high.take(rows) - (ends.take(rows) - 1 - numbers)).astype(np.int64)
        yield rows.astype(np.int64), index


def are_few(rows: int, span: int) -> bool:
    """Whether so many ranges of ``span + 1`` placements each are little work."""
    return rows * (span + 1) <= FEW


def every(low: Positions, span: int) -> tuple[Positions, Positions] | None:
    """The whole range from `low` to ``low + span`` per row if that is little work, else None."""
    return (low, low + span) if are_few(len(low), span) else None


def first(low: Positions, high: Positions, test: Callable[[Positions], Mask]) -> Positions:
    """For each row the first index in [low, high) that passes a monotone test, else high.

    Monotone: once an index passes, all later ones do.
    """
    low, high = low.copy(), high.copy()
    # Always: every index before low fails, and high passes or is the end of the range.
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
    placements: int = 1,
) -> None:
    """Visit the rows that may beat the best placement, those with the largest gains first.

    A visit evaluates about `placements` placements per row. `gains` bounds how far a row can be
    above the best placement; it is asked again for the rows that remain, since visits improve the
    best placement.
    """
    seed = max(1, min(SEED, FEW // placements))
    if len(rows) > 4 * seed:  # what a few rows reach excludes most of the others
        best_first(rows[::SAMPLE], gains, visit, placements)
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
    """The exact signs of sums of records.

    A float decides where it is beyond its own error, an exact integer elsewhere (docs/proofs.md,
    "Rounding", *Bisection*).

    Parameters
    ----------
    records : SortedRecords
        The universe.
    size : int or None
        `value` is exact if floats hold this many squares without rounding; None if it never is.
    value : array of longdouble, shape (rows,)
        The sums, in floats.
    weight : array of longdouble, shape (rows,)
        The sums of the absolute values of what was added up.
    exact : callable
        Takes rows and returns their sums, times any positive number, as Python ints.
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

    Where it is negative, the squared deviations of the set rise by the step; where it is positive,
    they fall (docs/proofs.md, "Variance and standard deviation: four facts", Fact 4 with r = l, the
    sum s before the step, and e <= l). It does not fall along the splits, so that the first split
    with a rule of at least 0 is the best one.
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


def best_split(outside: WindowComplement, inner: Sums | int, take: int, size: int) -> Positions:
    """The split of `take` end records that makes the variance of inner + ends largest, per row.

    See "The split of A by bisection", under "Variance and standard deviation: remove" in
    docs/proofs.md. `inner` is the sum of the other records of the set, `size` the size of the set.
    """
    records = outside.records

    def stop(split: Positions) -> Mask:
        entering, leaving = outside.entering(split), outside.leaving(split, take)
        sums = outside.total(split, take) + inner
        return Rule(records, size, entering, leaving, sums).signs() >= 0

    start = np.zeros_like(outside.window)
    return first(start, start + take, stop)
