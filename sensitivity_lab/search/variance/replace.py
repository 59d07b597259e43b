"""Variance and standard deviation: the worst pair where both datasets have records of their own.

x is the one with the larger variance. Along the sorted universe the pair reads as `AOACBCAOA`, or
in a few cases as `AOCOBOA` (for the variance of as many records `ACOBOA`) or as `ACABAOA`. See
"Variance and standard deviation: records of both" in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.search.layouts import Shape

from .comparing import Sets, Spread, as_real
from .float_prefix_sums import Positions, Reals, SortedRecords, Sums
from .patterns import BUDGET, Known, PatternSearch, Placement
from .windows import (
    Mask,
    Rule,
    Signs,
    WindowComplement,
    best_first,
    best_split,
    every,
    expand,
    first,
    joined,
    signs,
    window_sets,
    windows,
)
from .words import AROUND, INTERRUPTED, PARTED, words_of


def best_replacement(
    records: SortedRecords,
    size: int,
    replaced: int,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
    known: Known | None = None,
) -> Placement:
    """The best pair for replacing exactly `replaced` of `size` records, as a placed pattern.

    Requires ``0 < replaced <= size``, ``size + replaced <= records.size`` and ``ddof < size``.
    Guarantees that the placement has the largest |f(x) - f(y)|. Cost O(N log size), and
    O(replaced log size) for every window whose bound beats the best pair. `known` is of the pattern
    `AOACBCAOA`.
    """
    shape = Shape(size - replaced, replaced, replaced, records.size)
    return search_both(records, shape, spread, budget, count, known).best


def search_both(
    records: SortedRecords,
    shape: Shape,
    spread: Spread,
    budget: int,
    count: Callable[[int], object],
    known: Known | None = None,
    least: np.longdouble | float = 0.0,
) -> PatternSearch:
    """Search the words of `words_of`: A and B have so many records, and x the larger variance.

    Parameters
    ----------
    records, spread, budget, count
        As for `best_replacement`.
    shape : Shape
        A is only in x, B only in y; both have at least one record.
    known : Known, optional
        What is known about the pattern `AOACBCAOA`.
    least : longdouble, default 0
        An f(x) - f(y) that some other pair reaches.
    """
    least = max(known.least, least) if known else least
    search = PatternSearch(records, spread, any_around(shape), budget, count, least)
    if known:
        search.offer(records, AROUND, known.bounds)
        if known.alone:
            return search
    else:
        _contiguous(search, shape)
    further = set(words_of(shape.core, shape.only_x, shape.only_y)) - {AROUND}
    # The other two words are not their own mirror images, so both directions are searched.
    for view in (records, records.mirrored()) if further else ():
        if PARTED in further:
            _parted(search, view, shape)
        if INTERRUPTED in further:
            _interrupted(search, view, shape)
    return search


def any_around(shape: Shape) -> Placement:
    """Return some placement of `AOACBCAOA`, to begin with: C and B from below, A from above."""
    core, size, end = shape.core, shape.of_y, shape.total
    return Placement(AROUND, (0, 0, 0, 0, core, size, size, size, end - shape.only_x, end))


def _contiguous(search: PatternSearch, shape: Shape) -> None:
    """Offer `AOACBCAOA`: y a window, B a window inside it, A the two ends of the records outside.

    A row is a window y. See "The bound" and "Its best split" in docs/proofs.md.
    """
    records = search.records
    begins, splits = [], []
    for window in windows(records, shape.of_y):
        if every(window, shape.only_x):
            offer_windows(search, window, shape)
            continue
        search.count(len(window))
        begins.append(window)
        splits.append(_Cap(search, window, shape).best_split())
    if not begins:
        return
    begin, split = np.concatenate(begins), np.concatenate(splits)
    del begins, splits  # of millions of windows

    def gains(rows: Positions) -> Reals:
        # The bound is largest at the first split where it does not rise, or at the one before.
        last = split[rows]
        return _Cap(search, begin[rows], shape).gains(np.maximum(last - 1, 0), last)

    best_first(
        np.arange(len(begin)),
        gains,
        lambda rows: offer_windows(search, begin[rows], shape),
        shape.only_x + 1,
    )


def offer_windows(search: PatternSearch, begin: Positions, shape: Shape) -> None:
    """Offer the placements of given windows y, for every split of A that may win."""
    start = np.zeros_like(begin)
    for rows, split in expand(search, start, start + shape.only_x):
        cap = _Cap(search, begin[rows], shape)
        rows = np.flatnonzero(cap.gains(split) > 0)
        _place_b(search, cap.outside.rows(rows), split[rows], shape)


class _Cap:
    """An upper bound on how far x = y + A - B is above y, for windows y and splits of A.

    B is replaced by b equal records, whose sum s is between `low` and `high`, those of the smallest
    and of the largest records of y. No B with the sum s has a smaller sum of squares than s^2 / b,
    so with S and Q the sum and the sum of squares of y + A, and n the size of x,

        D_x <= G = the largest of  Q - s^2 / b - (S - s)^2 / n  for s from low to high.

    It is largest at ``s = S b / (n + b)``, the share of B in y + A, moved into the range. Without
    the range, G would be D of y + A: far too large where A holds an outlier, since then the mean of
    x is far from y, and no B comes near it. See "The bound" in docs/proofs.md.

    A row is a window y, in all arrays; a method that takes a split takes one per row.
    """

    def __init__(self, search: PatternSearch, begin: Positions, shape: Shape) -> None:
        self.search, self.records, self.shape = search, search.records, shape
        self.outside = WindowComplement(self.records, begin, shape.of_y)
        self.smallest = window_sets(self.records, begin, shape.only_y).sums
        self.largest = window_sets(self.records, begin + shape.core, shape.only_y).sums
        self.low, self.high = (self.records.real(sums) for sums in (self.smallest, self.largest))

    def gains(self, *splits: Positions) -> Reals:
        """Upper bounds on how far rows can be above the best placement, at their best split."""
        reference, spread = self.search.reference, self.search.spread
        of_y = reference.shift(spread, self.records, self.outside.inner, -1, of_y=True)
        of_x = []
        for split in splits:
            both = joined(self.outside.inner, self.outside.ends(split, self.shape.only_x))
            total, width = self.records.real(both.sums), self.shape.only_y
            # The s that makes G largest: the share of B in y + A, moved into [low, high].
            of_b = np.clip(total * (width / np.longdouble(both.size)), self.low, self.high)
            x = Sets(self.shape.of_x, both.sums, both.squares, of_b, of_b * of_b / width)
            of_x.append(reference.shift(spread, self.records, x, 1, of_y=False))
        gains: Reals = np.max(of_x, axis=0) - of_y
        return gains

    def best_split(self) -> Positions:
        """The first split at which the bound G does not rise.

        As the split grows, a record e enters A and a larger one l leaves it. So (S, Q) runs towards
        smaller S along a polygon whose slopes, e + l, do not fall: it is concave. G is concave in
        (S, Q) and rises with Q, so along the polygon it rises, then falls. It is largest somewhere
        on the edge that ends at this split; of all splits, this one or the one before it has the
        largest G. See "Its best split" in docs/proofs.md.
        """
        start = np.zeros_like(self.outside.window)
        return first(start, start + self.shape.only_x, self._stops)

    def _stops(self, split: Positions) -> Mask:
        """Whether ``e + l >= 2 (S - s) / n``: G does not rise from this split to the next.

        For each unit by which S falls, Q falls by ``e + l`` and ``-(S - s)^2 / n`` rises by
        ``2 (S - s) / n``. The first does not fall along the splits, the second does not rise, and
        signs are exact: so the test is monotone, also where e and l are equal.
        """
        outside, size, take = self.outside, self.shape.of_x, self.shape.only_x
        at = outside.entering(split), outside.leaving(split, take)
        sums = outside.total(split, take) + outside.inner.sums
        middle = self.records.record(at[0]) + self.records.record(at[1])
        apart = np.abs(self.records.record(at[0])) + np.abs(self.records.record(at[1]))
        total = self.records.real(sums)

        def slope(inside: Sums | int, of_inside: Reals | float, size: int) -> Signs:
            """The sign of ``size (e + l) - 2 (S - s)``; s is `inside`, and a float `of_inside`."""

            def exact(rows: Positions) -> Integers:
                enter, leave = (self.records.integer(places[rows]) for places in at)
                left = self.records.integer_sums((sums - inside)[rows])
                found: Integers = size * (enter + leave) - 2 * left
                return found

            value = size * middle - 2 * (total - of_inside)
            weight = size * apart + 2 * (np.abs(total) + np.abs(of_inside))
            return signs(self.records, size, value, weight, exact)

        # S - s is S n / (n + b) moved into [S - high, S - low]. So the test passes if it passes for
        # S - high and for one of the other two. For S n / (n + b) it reads (n + b) (e + l) >= 2 S.
        above, below = slope(self.largest, self.high, size), slope(self.smallest, self.low, size)
        return (above >= 0) & ((below >= 0) | (slope(0, 0.0, size + self.shape.only_y) >= 0))


def _place_b(
    search: PatternSearch, outside: WindowComplement, split: Positions, shape: Shape
) -> None:
    """Offer, for given y and A, the place of B in y that makes the variance of x = C + A largest.

    Moving B up by one puts its first record into x and takes the next one after B out, as a step of
    a split does: so the same `Rule` decides, and the variance of x rises, then falls. See "The
    place of B by bisection" in docs/proofs.md.
    """
    records, take, width = search.records, shape.only_x, shape.only_y
    both = outside.total(split, take) + outside.inner.sums

    def stop(begin: Positions) -> Mask:
        of_x = both - window_sets(records, begin, width).sums
        return Rule(records, shape.of_x, begin, begin + width, of_x).signs() >= 0

    start, last = outside.window, outside.window + shape.core
    span = every(start, shape.core)
    if span is None:
        place = first(start, last, stop)
        span = place, place
    for rows, begin in expand(search, *span):
        bounds = outside.rows(rows).bounds(split[rows], take)
        inner = np.stack([begin, begin + width], axis=1)
        bounds = np.concatenate([bounds[:, :4], inner, bounds[:, 4:]], axis=1)
        search.offer(records, AROUND, bounds)


def _parted(search: PatternSearch, records: SortedRecords, shape: Shape) -> None:
    """Offer `AOCOBOA`, or `ACOBOA` for the variance of as many records; only if B outnumbers C.

    A row is a place of C. For the variance of x and y with as many records C follows A at once, as
    V(x) - V(y) falls linearly with the sum of C, and a row is a split of A; the mirror image has
    the other sign. `split` is how many of A are below C; the others are at the upper end of the
    universe. `most` is the largest split that fits.

    For a place of C, x depends on the split alone, and its variance rises, then falls along the
    splits: of those for which B leaves room, the nearest to the peak is best. So a row's bound has
    x with that split, and the part of y that is known, C. Only B is left to be placed: every place
    whose mean is near enough to that of C, see `_reach`. See "`AOCOBOA`" in docs/proofs.md.
    """
    core_size, take, width = shape.core, shape.only_x, shape.only_y
    spare = records.size - core_size - take - width
    if search.spread.root or take != width:
        core = np.arange(spare + take + 1)
        outside = WindowComplement(records, core, core_size)
        most = np.minimum(core, take)
        # Of the `core` records below C those not in A are in neither dataset: at most `spare`.
        split = best_split(outside, outside.inner.sums, take, shape.of_x)
        split = np.clip(split, core - spare, most)
    else:
        core = split = most = np.arange(take + 1)
        outside = WindowComplement(records, core, core_size)
    x = joined(outside.ends(split, take), outside.inner)

    def visit(rows: Positions) -> None:
        # B = [place, place + b) begins behind C, and leaves room for what is left of A, a - taken
        # records: so taken >= place + a + b - N, which is at most `most` up to `last`.
        begin, last = core[rows] + core_size, records.size - take - width + most[rows]
        reach = _reach(search, records, outside.inner.rows(rows), x.rows(rows), shape.of_y)
        # The mean of B rises with its place: from the first place that is too far, all are.
        last = first(begin, last + 1, lambda place: reach(place, 1)) - 1
        for part, place in expand(search, begin, last):
            # B one place further up with the same records only leaves less room for A.
            new = records.run(place - 1) != records.run(place - 1 + width)
            new |= place == begin[part]
            row, place = rows[part[new]], place[new]
            # The best number of A below C, or all for which there is no room above B.
            taken = np.maximum(split[row], place + take + width - records.size)
            columns = [
                np.zeros_like(place), taken, core[row], core[row] + core_size,
                place, place + width,
                records.size - (take - taken), np.full_like(place, records.size),
            ]  # fmt: skip
            search.offer(records, PARTED, np.stack(columns, axis=1))

    best_first(np.arange(len(core)), _room(search, records, outside.inner, x, shape.of_y), visit)


def _interrupted(search: PatternSearch, records: SortedRecords, shape: Shape) -> None:
    """Offer `ACABAOA`, with a block of A between C and B; x is the two ends outside a window B.

    A row is a place of B. x is the first `split` and the last ``n - split`` records outside B, n
    its size. All records below B are in x, in C or A: at least those of C; the other ``split -
    place`` of the first ones are directly above B. y = B + C, with C a window of the records below
    B. x depends on the split alone and y on the place of C alone, so each is chosen by itself. See
    "`ACABAOA`" in docs/proofs.md.
    """
    core_size, width, size = shape.core, shape.only_y, shape.of_x
    place = np.arange(core_size, size + 1)
    outside = WindowComplement(records, place, width)

    def stop(split: Positions) -> Mask:
        ends = outside.entering(split), outside.leaving(split, size)
        return Rule(records, size, *ends, outside.total(split, size)).signs() >= 0

    split = first(place, np.full_like(place, size), stop)
    x = outside.ends(split, size)

    def visit(rows: Positions) -> None:
        last = place[rows] - core_size
        reach = _reach(search, records, outside.inner.rows(rows), x.rows(rows), shape.of_y)
        low = first(np.zeros_like(last), last, lambda core: ~reach(core, -1))
        for part, core in expand(search, low, last):
            where, taken = place[rows[part]], split[rows[part]]
            columns = [
                np.zeros_like(core), core, core + core_size, where,
                where + width, taken + width,
                records.size - (size - taken), np.full_like(core, records.size),
            ]  # fmt: skip
            search.offer(records, INTERRUPTED, np.stack(columns, axis=1))

    best_first(np.arange(len(place)), _room(search, records, outside.inner, x, shape.of_y), visit)


def _room(
    search: PatternSearch, records: SortedRecords, part: Sets, x: Sets, size: int
) -> Callable[[Positions], Reals]:
    """Upper bounds on how far x and any y with a given part can be above the best placement."""
    least, _ = search.spread.bounds(records, part, size)

    def gains(rows: Positions) -> Reals:
        gain: Reals = search.room(records, x.rows(rows)) - least[rows]
        return gain

    return gains


def _reach(
    search: PatternSearch, records: SortedRecords, part: Sets, x: Sets, size: int
) -> Callable[[Positions, int], Mask]:
    """Whether a window is too far above (1) or below (-1) a part of y for x to win, row by row.

    y is the part, of f records, and the window, of w records. ``(f w / n) (difference of their
    means)^2`` is at most the squared deviations of y, which must leave room for x to win. See
    "`AOCOBOA`" in docs/proofs.md.
    """
    # `squares` bounds the squared deviations of y with which x wins. So the sum of the window may
    # be `reach` away from `center`, which is w times the mean of the part. All is rounded up.
    width = size - part.size
    room = np.maximum(search.room(records, x), 0) ** (2 if search.spread.root else 1)
    squares = room * as_real(search.spread.free(size)) * (1 + 1e-9)
    center = records.real(part.sums) * (width / np.longdouble(part.size))
    reach = np.sqrt(squares * (size * width / np.longdouble(part.size))) * (1 + 1e-9)
    reach = reach + 16 * records.error * np.abs(center)

    def beyond(place: Positions, up: int) -> Mask:
        sums = records.real(window_sets(records, place, width).sums)
        return np.asarray(up * (sums - center) > reach + 16 * records.error * np.abs(sums))

    return beyond
