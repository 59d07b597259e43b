"""Variance and standard deviation: the worst replacement of exactly j records, along sorted words.

Both sets have the same size. See "Variance and standard deviation: replace" in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sensitivity_lab.exact.difference import Integers

from .comparing import Sets, Spread, as_real
from .float_prefix_sums import Positions, Reals, SortedRecords, Sums
from .patterns import BUDGET, Search, Word
from .windows import (
    Mask,
    Outside,
    Rule,
    Signs,
    best_first,
    block,
    every,
    expand,
    first,
    joined,
    signs,
    widest,
    windows,
)


def replace_words(
    records: SortedRecords,
    size: int,
    replaced: int,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
) -> Word:
    """The best pair for replacing exactly `replaced` of `size` records, as a word.

    Requires ``0 < replaced <= size``, ``size + replaced <= records.size`` and ``ddof < size``.
    Guarantees that the word has the largest |f(x) - f(y)|. Cost O(N log size), and
    O(replaced log size) for every window whose bound beats the best pair.
    """
    kept, end = size - replaced, records.size
    start = Word("AOACBCAOA", (0, 0, 0, 0, kept, size, size, size, end - replaced, end))
    search = Search(records, spread, start, budget, count)
    _contiguous(search, size, replaced)
    if kept == replaced or kept > replaced == 1:
        return search.best
    for view in (records, records.mirrored()):
        if kept < replaced:
            _parted(search, view, size, replaced)
        if kept > replaced or kept == 0:
            _interrupted(search, view, size, replaced)
    return search.best


def _contiguous(search: Search, size: int, replaced: int) -> None:
    """Replace: y a window, B a window inside it, A the two ends of the records outside."""
    records = search.records
    begins, splits = [], []
    for window in windows(records, size):
        if every(window, replaced):
            _windows(search, window, size, replaced)
            continue
        search.count(len(window))
        begins.append(window)
        splits.append(_Cap(search, window, size, replaced).best_split())
    if not begins:
        return
    begin, split = np.concatenate(begins), np.concatenate(splits)

    def gains(rows: Positions) -> Reals:
        # The bound is largest at the split before the one at which it stops to rise, or there.
        last = split[rows]
        return _Cap(search, begin[rows], size, replaced).gains(np.maximum(last - 1, 0), last)

    best_first(
        np.arange(len(begin)),
        gains,
        lambda rows: _windows(search, begin[rows], size, replaced),
        replaced + 1,
    )


def _windows(search: Search, begin: Positions, size: int, replaced: int) -> None:
    """Offer the words of given windows y, for every split of A that may win."""
    start = np.zeros_like(begin)
    for rows, split in expand(search, start, start + replaced):
        cap = _Cap(search, begin[rows], size, replaced)
        rows = np.flatnonzero(cap.gains(split) > 0)
        _place_b(search, cap.outside.rows(rows), split[rows], size, replaced)


class _Cap:
    """An upper bound on how far x = y + A - B is above y, for windows y and splits of A.

    B is thought of as `replaced` equal records with a sum between those of the lowest and of the
    highest records of y: no B takes fewer squares from y + A for its sum.
    """

    def __init__(self, search: Search, begin: Positions, size: int, replaced: int) -> None:
        self.search, self.records, self.size, self.replaced = search, search.records, size, replaced
        self.outside = Outside(self.records, begin, size)
        self.lowest = block(self.records, begin, replaced).sums
        self.highest = block(self.records, begin + size - replaced, replaced).sums
        self.low, self.high = (self.records.real(sums) for sums in (self.lowest, self.highest))

    def gains(self, *splits: Positions) -> Reals:
        """Upper bounds on what words have more than the best word, for the best of some splits."""
        pair, spread = self.search.pair, self.search.spread
        of_y = pair.shift(spread, self.records, self.outside.inner, -1, of_y=True)
        of_x = []
        for split in splits:
            both = joined(self.outside.inner, self.outside.ends(split, self.replaced))
            total = self.records.real(both.sums)
            least = np.clip(total * (self.replaced / np.longdouble(both.size)), self.low, self.high)
            x = Sets(self.size, both.sums, both.squares, least, least * least / self.replaced)
            of_x.append(pair.shift(spread, self.records, x, 1, of_y=False))
        gains: Reals = np.max(of_x, axis=0) - of_y
        return gains

    def best_split(self) -> Positions:
        """The first split at which the bound stops to rise."""
        start = np.zeros_like(self.outside.window)
        return first(start, start + self.replaced, self._stops)

    def _stops(self, split: Positions) -> Mask:
        outside, size = self.outside, self.size
        at = outside.entering(split), outside.leaving(split, self.replaced)
        sums = outside.total(split, self.replaced) + outside.inner.sums
        middle = self.records.record(at[0]) + self.records.record(at[1])
        apart = np.abs(self.records.record(at[0])) + np.abs(self.records.record(at[1]))
        total = self.records.real(sums)

        def slope(inside: Sums | int, of_inside: Reals | float, size: int) -> Signs:
            """The sign of ``size (e + l) - 2 (s - s of B)``, e and l entering and leaving."""

            def exact(rows: Positions) -> Integers:
                enter, leave = (self.records.integer(places[rows]) for places in at)
                left = self.records.integer_sums((sums - inside)[rows])
                found: Integers = size * (enter + leave) - 2 * left
                return found

            value = size * middle - 2 * (total - of_inside)
            weight = size * apart + 2 * (np.abs(total) + np.abs(of_inside))
            return signs(self.records, size, value, weight, exact)

        # Where B is free its sum is a share of all: as if nothing were taken from more records.
        above, below = slope(self.highest, self.high, size), slope(self.lowest, self.low, size)
        return (above >= 0) & ((below >= 0) | (slope(0, 0.0, size + self.replaced) >= 0))


def _place_b(search: Search, outside: Outside, split: Positions, size: int, replaced: int) -> None:
    """For given y and A, the place of B in y that makes C + A the most spread."""
    records = search.records
    both = outside.total(split, replaced) + outside.inner.sums

    def stop(begin: Positions) -> Mask:
        of_x = both - block(records, begin, replaced).sums
        return Rule(records, size, begin, begin + replaced, of_x).signs() >= 0

    start, last = outside.window, outside.window + (size - replaced)
    span = every(start, size - replaced)
    if span is None:
        place = first(start, last, stop)
        span = place, place
    for rows, begin in expand(search, *span):
        bounds = outside.rows(rows).bounds(split[rows], replaced)
        inner = np.stack([begin, begin + replaced], axis=1)
        bounds = np.concatenate([bounds[:, :4], inner, bounds[:, 4:]], axis=1)
        search.offer(records, "AOACBCAOA", bounds)


def _parted(search: Search, records: SortedRecords, size: int, replaced: int) -> None:
    """Replace with fewer kept than replaced: ``AOCOBOA``; for the variance ``ACOBOA``."""
    kept, spare = size - replaced, records.size - size - replaced
    if search.spread.root and kept:
        core = np.arange(spare + replaced + 1)
        outside = Outside(records, core, kept)
        most = np.minimum(core, replaced)
        split = np.clip(widest(outside, outside.inner.sums, replaced, size), core - spare, most)
    else:
        core = split = most = np.arange(replaced + 1)
        outside = Outside(records, core, kept)
    x = joined(outside.ends(split, replaced), outside.inner)

    def visit(rows: Positions) -> None:
        begin, last = core[rows] + kept, records.size - 2 * replaced + most[rows]
        reach = _reach(search, records, outside.inner.rows(rows), x.rows(rows), size)
        last = first(begin, last + 1, lambda place: reach(place, 1)) - 1
        for part, place in expand(search, begin, last):
            # B one further up, of the same records, only leaves less room for A.
            new = records.run(place - 1) != records.run(place - 1 + replaced)
            new |= place == begin[part]
            row, place = rows[part[new]], place[new]
            # As many of A below C as is best for x, or as are not left above B.
            taken = np.maximum(split[row], place + 2 * replaced - records.size)
            columns = [
                np.zeros_like(place), taken, core[row], core[row] + kept,
                place, place + replaced,
                records.size - (replaced - taken), np.full_like(place, records.size),
            ]  # fmt: skip
            search.offer(records, "AOCOBOA", np.stack(columns, axis=1))

    best_first(np.arange(len(core)), _room(search, records, outside.inner, x, size), visit)


def _interrupted(search: Search, records: SortedRecords, size: int, replaced: int) -> None:
    """Replace: ``ACABAOA``, one A between C and B; x is the ends of what a window B leaves."""
    kept = size - replaced
    place = np.arange(kept, size + 1)
    outside = Outside(records, place, replaced)

    def stop(split: Positions) -> Mask:
        ends = outside.entering(split), outside.leaving(split, size)
        return Rule(records, size, *ends, outside.total(split, size)).signs() >= 0

    split = first(place, np.full_like(place, size), stop)
    x = outside.ends(split, size)

    def visit(rows: Positions) -> None:
        last = place[rows] - kept if kept else np.zeros_like(rows)
        reach = _reach(search, records, outside.inner.rows(rows), x.rows(rows), size)
        low = first(np.zeros_like(last), last, lambda core: ~reach(core, -1))
        for part, core in expand(search, low, last):
            where, taken = place[rows[part]], split[rows[part]]
            columns = [
                np.zeros_like(core), core, core + kept, where,
                where + replaced, taken + replaced,
                records.size - (size - taken), np.full_like(core, records.size),
            ]  # fmt: skip
            search.offer(records, "ACABAOA", np.stack(columns, axis=1))

    best_first(np.arange(len(place)), _room(search, records, outside.inner, x, size), visit)


def _room(
    search: Search, records: SortedRecords, part: Sets, x: Sets, size: int
) -> Callable[[Positions], Reals]:
    """Upper bounds on what x can be above any y with a part, more than the best word."""
    least: Reals | float = 0.0
    if part.size:
        least, _ = search.spread.bounds(records, part, size)
    at_least = np.broadcast_to(least, len(x.sums))

    def gains(rows: Positions) -> Reals:
        gain: Reals = search.room(records, x.rows(rows)) - at_least[rows]
        return gain

    return gains


def _reach(
    search: Search, records: SortedRecords, part: Sets, x: Sets, size: int
) -> Callable[[Positions, int], Mask]:
    """Whether a window is too far above (1) or below (-1) a part of y for x to win, row by row.

    For the means of a part of f records and of the w others, ``(f w / n) (difference)^2`` is at
    most y's squared deviations.
    """
    width = size - part.size
    if not part.size or not width:
        return lambda place, _: np.zeros(len(place), dtype=bool)
    room = np.maximum(search.room(records, x), 0) ** (2 if search.spread.root else 1)
    squares = room * as_real(search.spread.free(size)) * (1 + 1e-9)
    center = records.real(part.sums) * (width / np.longdouble(part.size))
    reach = np.sqrt(squares * (size * width / np.longdouble(part.size))) * (1 + 1e-9)
    reach = reach + 16 * records.error * np.abs(center)

    def beyond(place: Positions, up: int) -> Mask:
        sums = records.real(block(records, place, width).sums)
        return np.asarray(up * (sums - center) > reach + 16 * records.error * np.abs(sums))

    return beyond
