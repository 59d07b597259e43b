"""Variance and standard deviation: the worst removal of exactly k records, along sorted words.

One set contains the other. See "Variance and standard deviation: remove" in ``docs/proofs.md``.
"""

from __future__ import annotations

import math

import numpy as np

from .sorted_records import UNIT, Positions, Reals, SortedRecords
from .windows import (
    Mask,
    Outside,
    every,
    expand,
    first,
    plateau_error,
    rule_error,
    widest_ends,
    windows,
    windows_at_runs,
)
from .word_search import Search, Words, deviation_error, spread

BUDGET = 1 << 29
"""Words evaluated at most, in a minute or so."""


def remove_words(
    records: SortedRecords,
    size: int,
    removed: int,
    *,
    root: bool,
    ddof: float,
    budget: int = BUDGET,
) -> list[Words]:
    """Words that might be the best for removing exactly `removed` of `size` records.

    Requires ``0 < removed < size <= records.size`` and `proved` to be None. Guarantees that one of
    the words has the largest |f(x) - f(y)|. Where B is empty, x is the larger dataset; where A is
    empty, y is. Cost O(N log size).
    """
    search = Search(records, root, ddof, budget)
    _larger_more_spread(search, size, removed)
    _smaller_more_spread(search, size, removed)
    return search.words()


def proved(root: bool, ddof: float, size: int, removed: int, added: int) -> str | None:
    """Why the words are not proved to suffice, or None if they are.

    `size` is the size of the larger dataset. Replacing (removed == added) is proved for every
    ddof < size, removing and adding under a condition on ddof: see ``docs/proofs.md``, "A record of
    the core".
    """
    replacing = removed == added
    if removed and added and not replacing:
        return f"not proved for {removed} records removed and {added} added"
    smaller = size if replacing else size - removed - added
    if smaller <= ddof:
        return f"the variance of {smaller} records with ddof {ddof:g} is undefined"
    if replacing or smaller == 1 or _falls(root, ddof, smaller, size):
        return None
    if root and smaller == 2:  # is the larger dataset of some pair always the more spread one?
        gain, loss = 2 * math.sqrt((2 - ddof) / (size - ddof)), size / (size - 1)
        if gain > loss * (1 + 1e-9):
            return None
    return f"not proved if {smaller} of {size} records are kept and ddof is {ddof:g}"


def _falls(root: bool, ddof: float, kept: int, size: int) -> bool:
    """Whether the weight of a record surely falls from `kept` to `size` records.

    That is (m - 1) / (m (m - ddof)) in m records; for the root, (m - 1) / (m sqrt(m - ddof)).
    """
    power = 0.5 if root else 1.0
    at_kept, at_size = ((m - 1) / (m * (m - ddof) ** power) for m in (kept, size))
    return bool(at_kept > at_size * (1 + 1e-12))


def _larger_more_spread(search: Search, size: int, removed: int) -> None:
    """Remove, x = C + A the larger set: C a window, A the two ends of the records outside."""
    for window in windows_at_runs(search.records, size - removed, removed):
        outside = Outside(search.records, window, size - removed)
        whole = every(np.zeros_like(window), removed)
        low, high = whole or widest_ends(outside, outside.sums, removed, size)
        for rows, split in expand(search, low, high):
            _offer_ends(search, "AOACAOA", outside.rows(rows), split, removed, low[rows])


def _smaller_more_spread(search: Search, size: int, removed: int) -> None:
    """Remove, x = C the smaller set: B a window, C the two ends of the records outside."""
    records, kept = search.records, size - removed
    if kept == 1:
        return  # a single record has no spread
    share = float(removed / (size - search.ddof))
    few = every(np.zeros(records.size - removed + 1, dtype=np.int64), kept)
    if not few and _core_bound(search, kept) * _relative_gain(search.root, share) < search.floor:
        return
    for window in windows(records, removed):
        core = _Core(search, Outside(records, window, removed), kept)
        whole = every(np.zeros_like(window), kept)
        low, high = whole or core.variance_peak()
        if search.root and not whole:
            core, low, high = core.root_peak(low, high, share)
        for rows, split in expand(search, low, high):
            _offer_ends(search, "COCBCOC", core.outside.rows(rows), split, kept, low[rows])


def _offer_ends(
    search: Search, pattern: str, outside: Outside, split: Positions, take: int, low: Positions
) -> None:
    """Offer a window and the ends outside it, leaving out what repeats the split before."""
    new = np.flatnonzero(outside.new(split, take, low))
    search.offer(search.records, pattern, outside.rows(new).bounds(split[new], take))


def _core_bound(search: Search, kept: int) -> float:
    """An upper bound on f of `kept` records."""
    everything = Outside(search.records, np.zeros(1, dtype=np.int64), 0)
    low, high = widest_ends(everything, 0.0, kept, kept)
    extra = plateau_error(search.records, kept, high - low)
    sums, squares = everything.both(low, kept)
    divisor = kept - search.ddof
    _, bound = spread(search.records, sums, squares, kept, divisor, root=search.root, extra=extra)
    return float(bound[0]) * (1 + 1e-9)


def _relative_gain(root: bool, share: float) -> float:
    """1 - (c - d) / (n - d), or 1 - its root, where share = 1 - (c - d) / (n - d)."""
    return share / (1 + math.sqrt(1 - share)) if root else share


class _Core:
    """C = the first i and last c - i records outside the window B, as a function of i in [0, c]."""

    def __init__(self, search: Search, outside: Outside, kept: int) -> None:
        self.search, self.outside, self.records, self.kept = search, outside, outside.records, kept
        self.size = kept + outside.width
        self.free_c, self.free_x = kept - search.ddof, self.size - search.ddof
        rounding = 64 * UNIT * self.records.largest
        self.slack_c = rule_error(self.records, kept) / kept + rounding
        self.slack_x = rule_error(self.records, self.size) / self.size + rounding

    def slack(self) -> np.longdouble:
        """Bound on the error of the slope of V(C) - V(C + B)."""
        return self.slack_c / self.free_c + self.slack_x / self.free_x

    def slopes(self, split: Positions) -> tuple[Reals, Reals]:
        """By how much the squared deviations of C and C + B fall from i to i + 1, over the gap."""
        entering, leaving = self.outside.step(split, self.kept)
        gap, middle = leaving - entering, leaving + entering
        sums = self.outside.total(split, self.kept)
        of_c = middle - (2 * sums - gap) / np.longdouble(self.kept)
        of_x = middle - (2 * (sums + self.outside.sums) - gap) / np.longdouble(self.size)
        return of_c, of_x

    def variance_peak(self) -> tuple[Positions, Positions]:
        """The first and last i at which V(C) - V(C + B), concave along i, may be largest."""
        slack = self.slack()

        def rule(split: Positions) -> Reals:
            of_c, of_x = self.slopes(split)
            return of_c / self.free_c - of_x / self.free_x

        start = np.zeros_like(self.outside.window)
        low = first(start, start + self.kept, lambda split: rule(split) >= -slack)
        return low, first(low, start + self.kept, lambda split: rule(split) > slack)

    def spreads(self, split: Positions, root: bool) -> tuple[Reals, Reals, Reals, Reals]:
        """Lower and upper bounds on f(C), then on f(C + B)."""
        sums, squares = self.outside.both(split, self.kept)
        of_c = spread(self.records, sums, squares, self.kept, self.free_c, root=root)
        sums, squares = sums + self.outside.sums, squares + self.outside.squares
        return *of_c, *spread(self.records, sums, squares, self.size, self.free_x, root=root)

    def root_peak(
        self, low: Positions, high: Positions, share: float
    ) -> tuple[_Core, Positions, Positions]:
        """The rows that may beat the floor, and for each the range of i that may be its best.

        With r^2 = 1 - share, sd(C) - sd(C + B) >= t > 0 needs V(C) - V(C + B) to be at least
        t^2 (1 + r) / (1 - r). That holds in an interval of i around the variance's peak, and there
        the difference of the roots rises, then falls.
        """
        ratio = math.sqrt(1 - share)
        need = self.search.floor**2 * (1 + ratio) ** 2 / share * (1 - 1e-9)
        error = deviation_error(self.records, self.kept) / self.free_c
        error += deviation_error(self.records, self.size) / self.free_x
        per_step = 4 * self.records.largest * self.slack()

        def gap(core: _Core, split: Positions) -> Reals:
            _, high_c, low_x, _ = core.spreads(split, root=False)
            return high_c - low_x

        chosen = np.flatnonzero(gap(self, low) + (high - low) * per_step >= need)
        core, peak = _Core(self.search, self.outside.rows(chosen), self.kept), low[chosen]
        left, right = np.zeros_like(peak), np.full_like(peak, self.kept)
        if need <= 8 * error:
            return core, left, right  # the floor is within rounding of 0: try every i
        left = first(left, peak, lambda split: gap(core, split) >= need)
        right = first(peak, right, lambda split: gap(core, split + 1) < need)
        low = first(left, right, lambda split: core.falls(split, surely=False))
        return core, low, first(low, right, lambda split: core.falls(split, surely=True))

    def falls(self, split: Positions, surely: bool) -> Mask:
        """Whether sd(C) - sd(C + B) falls from i to i + 1: surely, or not surely rises."""
        sign = 1 if surely else -1
        of_c, of_x = self.slopes(split)
        before, after = self.spreads(split, root=True), self.spreads(split + 1, root=True)
        low_c, high_c, low_x, high_x = (
            one + other for one, other in zip(before, after, strict=True)
        )
        error_c = self.slack_c + 16 * UNIT * np.abs(of_c)
        error_x = self.slack_x + 16 * UNIT * np.abs(of_x)
        fall_c, fall_x = (
            (of_c - sign * error_c) / self.free_c,
            (of_x + sign * error_x) / self.free_x,
        )
        if surely:
            return fall_c * np.where(fall_c > 0, low_x, high_x) > fall_x * np.where(
                fall_x > 0, high_c, low_c
            )
        return fall_c * np.where(fall_c > 0, high_x, low_x) >= fall_x * np.where(
            fall_x > 0, low_c, high_c
        )
