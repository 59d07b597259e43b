"""Variance and standard deviation: the worst replacement of exactly j records, along sorted words.

Both sets have the same size. See "Variance and standard deviation: replace" in ``docs/proofs.md``.
"""

from __future__ import annotations

import numpy as np

from .sorted_records import UNIT, Positions, Reals, SortedRecords
from .windows import (
    Mask,
    Outside,
    best_first,
    every,
    expand,
    first,
    plateau_error,
    rule_error,
    widest_ends,
    windows,
)
from .word_search import LOOKUPS, Search, Words, deviation_error, spread

BUDGET = 1 << 29
"""Words evaluated at most, in a minute or so."""


def replace_words(
    records: SortedRecords,
    size: int,
    replaced: int,
    *,
    root: bool,
    ddof: float,
    budget: int = BUDGET,
) -> list[Words]:
    """Words that might be the best for replacing exactly `replaced` of `size` records.

    Requires ``0 < replaced <= size``, ``size + replaced <= records.size`` and ``ddof < size``.
    Guarantees that one of the words has the largest |f(x) - f(y)|. Cost O(N log size), and
    O(replaced log size) for every window whose bound beats the best pair.
    """
    search = Search(records, root, ddof, budget)
    kept = size - replaced
    _contiguous(search, size, replaced)
    if kept == replaced or kept > replaced == 1:
        return search.words()
    for view in (records, records.mirrored()):
        if kept < replaced:
            _parted(search, view, size, replaced)
        if kept > replaced or kept == 0:
            _interrupted(search, view, size, replaced)
    return search.words()


def _contiguous(search: Search, size: int, replaced: int) -> None:
    """Replace: y a window, B a window inside it, A the two ends of the records outside."""
    records, free = search.records, size - search.ddof

    def bound(outside: Outside, split: Positions, extra: Reals | float) -> Reals:
        # Leaving B out of y + A takes nothing away from y's deviations but B's own.
        sums, squares = outside.both(split, replaced)
        of_y = spread(records, outside.sums, outside.squares, size, free, root=search.root)
        sums, squares = sums + outside.sums, squares + outside.squares
        both = spread(records, sums, squares, size + replaced, free, root=search.root, extra=extra)
        return np.asarray((both[1] - of_y[0]) * (1 + 8 * UNIT), dtype=np.longdouble)

    def visit(begin: Positions) -> None:
        start = np.zeros_like(begin)
        for rows, split in expand(search, start, start + replaced):
            outside = Outside(records, begin[rows], size)
            rows = np.flatnonzero(bound(outside, split, 0.0) >= search.floor)
            _place_b(search, outside.rows(rows), split[rows], size, replaced)

    begins, bounds = [], []
    for window in windows(records, size):
        if every(window, replaced):
            visit(window)
            continue
        outside = Outside(records, window, size)
        low, high = widest_ends(outside, outside.sums, replaced, size + replaced)
        begins.append(window)
        bounds.append(bound(outside, low, plateau_error(records, size + replaced, high - low)))
    if not begins:
        return
    begin = np.concatenate(begins)
    best_first(search, np.concatenate(bounds), lambda rows: visit(begin[rows]))


def _place_b(search: Search, outside: Outside, split: Positions, size: int, replaced: int) -> None:
    """For given y and A, the places of B in y that may make C + A the most spread."""
    records, slack = search.records, rule_error(search.records, size)
    sums = outside.total(split, replaced) + outside.sums

    def rule(begin: Positions) -> Reals:
        end = begin + replaced
        of_x = sums - (records.total(end) - records.total(begin))
        both: Reals = records.record(begin) * (size - 1) + records.record(end) * (size + 1)
        slope: Reals = both - 2 * of_x
        return slope

    start, stop = outside.window, outside.window + (size - replaced)
    low, high = every(start, size - replaced) or (None, None)
    if low is None or high is None:
        low = first(start, stop, lambda begin: rule(begin) >= -slack)
        high = first(low, stop, lambda begin: rule(begin) > slack)
    for rows, begin in expand(search, low, high):
        if not records.distinct:  # a step between equal records changes nothing
            new = (begin == low[rows]) | (
                records.record(begin - 1) != records.record(begin - 1 + replaced)
            )
            rows, begin = rows[new], begin[new]
        bounds = outside.rows(rows).bounds(split[rows], replaced)
        inner = np.stack([begin, begin + replaced], axis=1)
        bounds = np.concatenate([bounds[:, :4], inner, bounds[:, 4:]], axis=1)
        search.offer(records, "AOACBCAOA", bounds)


def _parted(search: Search, records: SortedRecords, size: int, replaced: int) -> None:
    """Replace with fewer kept than replaced: ``AOCOBOA``; for the variance ``ACOBOA``."""
    kept, free = size - replaced, size - search.ddof
    shifts = records.size - size - replaced if search.root and kept else 0
    splits = np.arange(replaced + 1)
    for row, shift in expand(search, np.zeros_like(splits), np.full_like(splits, shifts)):
        split = splits[row]
        outside = Outside(records, split + shift, kept)
        sums, squares = outside.both(split, replaced)
        sums, squares = sums + outside.sums, squares + outside.squares
        high_x = spread(records, sums, squares, size, free, root=search.root)[1]
        low_c = spread(
            records, outside.sums, outside.squares, max(kept, 1), free, root=search.root
        )[0]
        bound = (high_x - (low_c if kept else 0)) * (1 + 8 * UNIT)

        def visit(
            rows: Positions,
            split: Positions = split,
            outside: Outside = outside,
            high_x: Reals = high_x,
        ) -> None:
            _place_parted_b(search, outside.rows(rows), split[rows], high_x[rows], size, replaced)

        best_first(search, bound, visit)


def _place_parted_b(
    search: Search, outside: Outside, split: Positions, high_x: Reals, size: int, replaced: int
) -> None:
    """For given C and A, the places of B above C that may make C + B narrow enough."""
    records, kept = outside.records, size - replaced
    begin, last = outside.window + kept, records.size - (replaced - split) - replaced
    if kept:
        # (c j / n) (mean of B - mean of C)^2 is at most y's squared deviations; those are at most:
        widest_y = np.maximum(high_x - search.floor, 0) ** (2 if search.root else 1)
        room = widest_y * (size - search.ddof) * (1 + 1e-9) + 2 * deviation_error(records, size)
        reach = replaced * (outside.sums / kept + np.sqrt(room * size / (kept * replaced)))
        error = (LOOKUPS + replaced / kept) * (records.sum_error + UNIT * records.absolute)
        error += 32 * (UNIT + records.value_error) * (replaced + 1) * records.largest
        limit = reach + error + 1e-12 * np.abs(reach)

        def beyond(place: Positions) -> Mask:
            return np.asarray(records.total(place + replaced) - records.total(place) > limit)

        last = first(begin, last + 1, beyond) - 1
    for rows, place in expand(search, begin, last):
        columns = [
            np.zeros_like(place), split[rows], outside.window[rows], begin[rows],
            place, place + replaced,
            records.size - (replaced - split[rows]), np.full_like(place, records.size),
        ]  # fmt: skip
        search.offer(records, "AOCOBOA", np.stack(columns, axis=1))


def _interrupted(search: Search, records: SortedRecords, size: int, replaced: int) -> None:
    """Replace: ``ACABAOA``, one A between C and B; x is the ends of what a window B leaves."""
    kept, free = size - replaced, size - search.ddof
    begin = np.arange(kept, size + 1)
    outside = Outside(records, begin, replaced)
    slack = rule_error(records, size)

    def rule(split: Positions) -> Reals:
        entering, leaving = outside.step(split, size)
        return entering * (size - 1) + leaving * (size + 1) - 2 * outside.total(split, size)

    stop = np.full_like(begin, size)
    low = first(begin, stop, lambda split: rule(split) >= -slack)
    high = first(low, stop, lambda split: rule(split) > slack)
    for row, split in expand(search, low, high):
        of_b = outside.rows(row)
        high_x = spread(records, *of_b.both(split, size), size, free, root=search.root)[1]
        low_b = spread(records, of_b.sums, of_b.squares, replaced, free, root=search.root)[0]
        bound = (high_x - low_b) * (1 + 8 * UNIT)

        def visit(rows: Positions, split: Positions = split, place: Positions = begin[row]) -> None:
            place, split = place[rows], split[rows]
            last = place - kept if kept else np.zeros_like(place)
            for part, core in expand(search, np.zeros_like(place), last):
                where, taken = place[part], split[part]
                columns = [
                    np.zeros_like(core), core, core + kept, where,
                    where + replaced, taken + replaced,
                    records.size - (size - taken), np.full_like(core, records.size),
                ]  # fmt: skip
                search.offer(records, "ACABAOA", np.stack(columns, axis=1))

        best_first(search, bound, visit)
