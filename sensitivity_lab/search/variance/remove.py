"""Variance and standard deviation: the worst removal of exactly k records, along sorted words.

One set contains the other. See "Variance and standard deviation: remove" in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers

from .comparing import Sets, Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .patterns import BUDGET, Search, Word
from .windows import (
    Mask,
    Outside,
    Rule,
    every,
    expand,
    first,
    joined,
    signs,
    widest,
    windows,
    windows_at_runs,
)


def remove_words(
    records: SortedRecords,
    size: int,
    removed: int,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
) -> Word:
    """The best pair for removing exactly `removed` of `size` records, as a word.

    Requires ``0 < removed < size <= records.size`` and `proved` to be None. Guarantees that the
    word has the largest |f(x) - f(y)|. Where B is empty, x is the larger dataset; where A is
    empty, y is. Cost O(N log size).
    """
    kept, end = size - removed, records.size
    first_a = Word("AOACAOA", (0, 0, 0, 0, kept, kept, end - removed, end))
    larger = Search(records, spread, first_a, budget, count)
    _larger_more_spread(larger, size, removed)
    first_b = Word("COCBCOC", (0, kept, kept, kept, size, size, end, end))
    smaller = Search(records, spread, first_b, budget, count, least=larger.floor())
    _smaller_more_spread(smaller, size, removed)
    return max(larger, smaller, key=lambda search: search.value).best


def proved(root: bool, ddof: Fraction, size: int, removed: int, added: int) -> str | None:
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
        return f"the variance of {smaller} records with ddof {float(ddof):g} is undefined"
    if replacing or smaller == 1 or _falls(root, ddof, smaller, size):
        return None
    if root and smaller == 2:  # is the larger dataset of some pair always the more spread one?
        gain, loss = 4 * (2 - ddof) / (size - ddof), Fraction(size, size - 1) ** 2
        if gain > loss:
            return None
    return f"not proved if {smaller} of {size} records are kept and ddof is {float(ddof):g}"


def _falls(root: bool, ddof: Fraction, kept: int, size: int) -> bool:
    """Whether the weight of a record falls from `kept` to `size` records."""

    def weight(m: int) -> Fraction:
        share = Fraction(m - 1, m)
        return (share**2 if root else share) / (m - ddof)

    return weight(kept) > weight(size)


def _larger_more_spread(search: Search, size: int, removed: int) -> None:
    """Remove, x = C + A the larger set: C a window, A the two ends of the records outside."""
    for window in windows_at_runs(search.records, size - removed, removed):
        outside = Outside(search.records, window, size - removed)
        span = every(np.zeros_like(window), removed)
        if span is None:
            split = widest(outside, outside.inner.sums, removed, size)
            span = split, split
        for rows, split in expand(search, *span):
            bounds = outside.rows(rows).bounds(split, removed)
            search.offer(search.records, "AOACAOA", bounds)


def _smaller_more_spread(search: Search, size: int, removed: int) -> None:
    """Remove, x = C the smaller set: B a window, C the two ends of the records outside."""
    records, kept = search.records, size - removed
    if kept == 1:
        return  # a single record has no spread
    few = every(np.zeros(records.size - removed + 1, dtype=np.int64), kept)
    if not few and _surely_below(search, kept, size):
        return
    for window in windows(records, removed):
        core = _Core(search, Outside(records, window, removed), kept)
        span = every(np.zeros_like(window), kept)
        if span is None:
            split = core.variance_peak()
            if search.spread.root:
                core, split = core.root_peak(split)
            span = split, split
        for rows, split in expand(search, *span):
            bounds = core.outside.rows(rows).bounds(split, kept)
            search.offer(records, "COCBCOC", bounds)


def _surely_below(search: Search, kept: int, size: int) -> bool:
    """Whether no smaller set can be more spread than its larger one by what was found.

    f(C) - f(C + B) is at most f(C) times ``1 - (c - d) / (n - d)``, or 1 less the root of it.
    """
    if not search.records.readable:
        return False
    spread = search.spread
    everything = Outside(search.records, np.zeros(1, dtype=np.int64), 0)
    split = widest(everything, 0, kept, kept)
    _, most = spread.bounds(search.records, everything.ends(split, kept), kept)
    gain = float((size - kept) / spread.free(size))
    if spread.root:
        gain /= 1 + sqrt(spread.free(kept) / spread.free(size))
    return bool(most[0] * gain * (1 + 1e-9) < search.floor())


class _Core:
    """C = the first i and last c - i records outside the window B, as a function of i in [0, c]."""

    def __init__(self, search: Search, outside: Outside, kept: int) -> None:
        self.search, self.outside, self.records, self.kept = search, outside, outside.records, kept
        self.size = kept + outside.width
        free = search.spread.free
        # What squared deviations times the size are divided by, as integers with one factor more.
        self.of_c, self.of_x = (size * free(size).numerator for size in (self.kept, self.size))
        self.part_c, self.part_x = as_real(Fraction(1, self.of_c)), as_real(Fraction(1, self.of_x))

    def sets(self, split: Positions) -> tuple[Sets, Sets]:
        """C and C + B."""
        core = self.outside.ends(split, self.kept)
        return core, joined(core, self.outside.inner)

    def slopes(self, split: Positions) -> tuple[Rule, Rule]:
        """By how much size times squared deviations of C and C + B fall at a step, over its gap."""
        ends = self.outside.entering(split), self.outside.leaving(split, self.kept)
        sums = self.outside.total(split, self.kept)
        of_x = sums + self.outside.inner.sums
        return Rule(self.records, self.kept, *ends, sums), Rule(
            self.records, self.size, *ends, of_x
        )

    def variance_peak(self) -> Positions:
        """The first i at which V(C) - V(C + B), concave along i, is largest."""
        start = np.zeros_like(self.outside.window)

        def stop(split: Positions) -> Mask:
            of_c, of_x = self.slopes(split)

            def exact(rows: Positions) -> Integers:
                fall: Integers = of_c.integers(rows) * self.of_x - of_x.integers(rows) * self.of_c
                return fall

            value = of_c.value * self.part_c - of_x.value * self.part_x
            weight = of_c.weight * self.part_c + of_x.weight * self.part_x
            return signs(self.records, None, value, weight, exact) >= 0

        return first(start, start + self.kept, stop)

    def wider(self, split: Positions) -> Mask:
        """Whether V(C) > V(C + B)."""
        of_c, of_x = self.sets(split)
        terms: list[Reals] = []
        for sets, part in ((of_c, self.part_c), (of_x, self.part_x)):
            sums = self.records.real(sets.sums)
            terms.append(self.records.real_squares(sets.squares) * sets.size * part)
            terms.append(sums * sums * part)

        def exact(rows: Positions) -> Integers:
            core, both = (sets.rows(rows).deviations(self.records) for sets in (of_c, of_x))
            gap: Integers = core * self.of_x - both * self.of_c
            return gap

        value = (terms[0] - terms[1]) - (terms[2] - terms[3])
        weight = terms[0] + terms[1] + terms[2] + terms[3]
        return signs(self.records, None, value, weight, exact) > 0

    def root_peak(self, peak: Positions) -> tuple[_Core, Positions]:
        """The rows that may beat the best word, and for each the i at which it does most.

        `peak` is the peak of V(C) - V(C + B). Where that is positive, an interval of i around the
        peak, the difference of the roots rises, then falls.
        """
        chosen = np.flatnonzero(self._may_win(peak) & self.wider(peak))
        core, peak = _Core(self.search, self.outside.rows(chosen), self.kept), peak[chosen]
        left = first(np.zeros_like(peak), peak, core.wider)
        last = np.full_like(peak, self.kept)
        right = first(peak, last, lambda split: ~core.wider(split + 1))
        return core, first(left, right, core.falls)

    def _may_win(self, peak: Positions) -> Mask:
        """Whether V(C) - V(C + B) is as large as it must be for the roots to be t apart.

        With r^2 = (c - d) / (n - d), that is ``t^2 (1 + r) / (1 - r)``.
        """
        free = self.search.spread.free
        share = (self.size - self.kept) / free(self.size)
        ratio = sqrt(free(self.kept) / free(self.size))
        need = self.search.floor() ** 2 * (1 + ratio) ** 2 / float(share) * (1 - 1e-9)
        core, both = self.sets(peak)
        variance = Spread(self.search.spread.ddof, root=False)
        _, high = variance.bounds(self.records, core, self.kept)
        low, _ = variance.bounds(self.records, both, self.size)
        return np.asarray(high - low >= need)

    def falls(self, split: Positions) -> Mask:
        """Whether sd(C) - sd(C + B) does not rise from i to i + 1.

        It falls by R_c / (sd + sd' of C) - R_x / (sd + sd' of C + B), over the gap, where R are the
        slopes of the variances and the roots are those before and after the step.
        """
        of_c, of_x = self.slopes(split)
        if not self.records.readable:
            rows = enumerate(split.tolist())
            return np.array(
                [self._falls(row, place, of_c, of_x) for row, place in rows], dtype=bool
            )
        (low_c, high_c), (low_x, high_x) = self._roots(split)
        fall_c, fall_x = of_c.value * self.part_c, of_x.value * self.part_x
        error_c, error_x = (
            16 * self.records.error * rule.weight * part
            for rule, part in ((of_c, self.part_c), (of_x, self.part_x))
        )
        least = _least(fall_c - error_c, low_x, high_x) + _least(-fall_x - error_x, low_c, high_c)
        most = -_least(-fall_c - error_c, low_x, high_x) - _least(fall_x - error_x, low_c, high_c)
        # The bounds on the slopes have room for the rounding of these products and sums.
        found = np.asarray(least > 0)
        for row in np.flatnonzero(~((least > 0) | (most < 0))).tolist():
            found[row] = self._falls(row, int(split[row]), of_c, of_x)
        return found

    def _roots(self, split: Positions) -> list[tuple[Reals, Reals]]:
        """Bounds on sd + sd' of C, and of C + B, before and after a step."""
        bounds = []
        for before, after in zip(self.sets(split), self.sets(split + 1), strict=True):
            one, other = (
                self.search.spread.bounds(self.records, sets, sets.size) for sets in (before, after)
            )
            bounds.append((one[0] + other[0], one[1] + other[1]))
        return bounds

    def _falls(self, row: int, split: int, of_c: Rule, of_x: Rule) -> bool:
        """The same for one row, exactly."""
        here = _Core(self.search, self.outside.rows(np.array([row])), self.kept)
        (core, both), (next_core, next_both) = (
            [
                self.search.spread.variance(self.records, sets.rows(0))
                for sets in here.sets(np.array([place]))
            ]
            for place in (split, split + 1)
        )
        if core != next_core or both != next_both:
            return not Difference(core, both, True) < Difference(next_core, next_both, True)
        # A record takes the place of an equal one: the slopes are those of records near to them.
        rows = np.array([row])
        fall_c = of_c.integers(rows).item() * self.of_x
        fall_x = of_x.integers(rows).item() * self.of_c
        return bool(_squared(fall_c) * both >= _squared(fall_x) * core)


def _least(factor: Reals, low: Reals, high: Reals) -> Reals:
    """The least product of a factor and a number between low and high, which are not negative."""
    product = factor * np.where(factor > 0, low, high)
    return product - 8 * UNIT * np.abs(product)


def _squared(number: int) -> int:
    """The square with the sign of the number."""
    return number * abs(number)
