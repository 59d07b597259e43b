"""Variance and standard deviation: the worst removal of exactly k records.

One dataset contains the other. The pair reads along the sorted universe as `AOACAOA` if the larger
one has the larger variance, and as `COCBCOC` if the smaller one has. Either way one block is a
window, a *row* of all arrays, and another one is the two ends of what is outside it: its *split*
says how many of its records are at the lower end. For each row a bisection finds the best split.
See "Variance and standard deviation: remove" in ``docs/proofs.md``.

For the second pattern, with c records in C, n in C + B and ddof d, one inequality leaves out most
of the work: adding records does not lower squared deviations, so ``sd(C + B) >= theta sd(C)`` with
``theta^2 = (c - d) / (n - d)``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers

from .comparing import Sets, Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .patterns import BUDGET, Known, PatternSearch, Placement
from .windows import (
    Mask,
    Rule,
    WindowComplement,
    are_few,
    best_split,
    every,
    expand,
    first,
    joined,
    signs,
    windows,
    windows_at_runs,
)
from .words import CORE_AT_ENDS, CORE_INSIDE


def best_removal(
    records: SortedRecords,
    size: int,
    removed: int,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
    known: Known | None = None,
) -> Placement:
    """The best pair for removing exactly `removed` of `size` records, as a placed pattern.

    Requires ``0 < removed < size <= records.size`` and `proved` to be None. Guarantees that the
    placement has the largest |f(x) - f(y)|. Where B is empty, x is the larger dataset; where A is
    empty, y is. Cost O(N log size); `known` is of the pattern `AOACAOA`.
    """
    core_size, end = size - removed, records.size
    first_a = Placement(CORE_INSIDE, (0, 0, 0, 0, core_size, core_size, end - removed, end))
    larger = PatternSearch(records, spread, first_a, budget, count)
    if known:
        larger.offer(records, CORE_INSIDE, known.bounds)
        if known.alone:
            return larger.best
    else:
        _larger_more_spread(larger, size, removed)
    first_b = Placement(CORE_AT_ENDS, (0, core_size, core_size, core_size, size, size, end, end))
    least = max(larger.floor(), known.least) if known else larger.floor()
    smaller = PatternSearch(records, spread, first_b, budget, count, least)
    _smaller_more_spread(smaller, size, removed)
    return max(larger, smaller, key=lambda search: search.value).best


def proved(ddof: Fraction, size: int, removed: int, added: int) -> str | None:
    """Why the patterns are not proved to be enough, or None if they are.

    `size` is the size of the larger dataset. Replacing (removed == added), removing and adding are
    proved for every ddof from 0 on: see ``docs/proofs.md``, "A record of the core".
    """
    if removed and added and removed != added:
        return f"not proved for {removed} records removed and {added} added"
    smaller = size if removed == added else size - removed - added
    if smaller <= ddof:
        return f"the variance of {smaller} records with ddof {float(ddof):g} is undefined"
    return None


def _larger_more_spread(search: PatternSearch, size: int, removed: int) -> None:
    """Offer `AOACAOA`: x = C + A, y = C a window, A the two ends of the records outside it.

    From a split to the next a record e enters A and a larger one l leaves it. The sign of `Rule`
    says whether the squared deviations of x fall by that. It does not fall along the splits, so
    they rise, then fall. See "Equal records: fewer windows C" and "The split of A by bisection" in
    docs/proofs.md.
    """
    for window in windows_at_runs(search.records, size - removed, removed):
        outside = WindowComplement(search.records, window, size - removed)
        span = every(np.zeros_like(window), removed)
        if span is None:
            split = best_split(outside, outside.inner.sums, removed, size)
            span = split, split
        for rows, split in expand(search, *span):
            bounds = outside.rows(rows).bounds(split, removed)
            search.offer(search.records, CORE_INSIDE, bounds)


def _smaller_more_spread(search: PatternSearch, size: int, removed: int) -> None:
    """Offer `COCBCOC`: x = C, y = C + B, B a window, C the two ends of the records outside it.

    See "Skipping", "The split of C by bisection" and "Rows that cannot win" in docs/proofs.md.
    """
    records, core_size = search.records, size - removed
    if core_size == 1:
        return  # the variance of a single record is 0
    few = are_few(records.size - removed + 1, core_size)
    if not few and _surely_below(search, core_size, size):
        return
    for window in windows(records, removed):
        core = CoreAtEnds(search, WindowComplement(records, window, removed), core_size)
        span = every(np.zeros_like(window), core_size)
        if span is None:
            split = core.variance_peak()
            if search.spread.root:
                core, split = core.root_peak(split)
            span = split, split
        for rows, split in expand(search, *span):
            bounds = core.outside.rows(rows).bounds(split, core_size)
            search.offer(records, CORE_AT_ENDS, bounds)


def _surely_below(search: PatternSearch, core_size: int, size: int) -> bool:
    """Whether no f(C) - f(C + B) can reach what was found ("Skipping" in docs/proofs.md).

    With theta as above, it is at most f(C) times ``1 - theta^2``; for the root, times 1 - theta.
    The largest f(C) has C at the two ends of the universe.
    """
    if not search.records.readable:
        return False
    spread = search.spread
    everything = WindowComplement(search.records, np.zeros(1, dtype=np.int64), 0)
    split = best_split(everything, 0, core_size, core_size)
    _, most = spread.bounds(search.records, everything.ends(split, core_size), core_size)
    gain = float((size - core_size) / spread.free(size))
    if spread.root:  # 1 - theta without cancellation
        gain /= 1 + sqrt(spread.free(core_size) / spread.free(size))
    return bool(most[0] * gain * (1 + 1e-9) < search.floor())


class CoreAtEnds:
    """C is the first i and the last c - i records outside the window B, as a function of i.

    A row is a window B. The *split* i goes from 0 to c = `core_size`; x = C and y = C + B. From i
    to i + 1 a record e enters C and a larger one l leaves it; so with S and Q the sum of C and of
    its squares, (S, Q) runs along a polygon whose slopes, l + e, do not fall as S falls: it is
    concave.

    - ``V(C) - V(C + B) = a Q - b S^2 + linear`` with a, b > 0. So it is concave along the polygon,
      and its chords' slopes are monotone in i: a bisection finds its peak.
    - ``sd(C) - sd(C + B)`` is not concave, but it rises strictly up to its peak and falls strictly
      after it, wherever it is positive, and that is an interval around the peak of the variance.
      Outside that interval bisection could be misled: so its ends are found first.

    The methods are the steps of "The split of C by bisection" in docs/proofs.md.
    """

    def __init__(self, search: PatternSearch, outside: WindowComplement, core_size: int) -> None:
        self.search, self.outside, self.records, self.core_size = (
            search,
            outside,
            outside.records,
            core_size,
        )
        self.size = core_size + outside.width
        free = search.spread.free
        # V = (m D) / (m (m - d)) for m records. Both m - d are fractions with the denominator of d,
        # so m times their numerator is that divisor, times the same integer for both sets.
        self.of_c, self.of_y = (size * free(size).numerator for size in (self.core_size, self.size))
        self.part_c, self.part_y = as_real(Fraction(1, self.of_c)), as_real(Fraction(1, self.of_y))

    def sets(self, split: Positions) -> tuple[Sets, Sets]:
        """C and C + B."""
        core = self.outside.ends(split, self.core_size)
        return core, joined(core, self.outside.inner)

    def slopes(self, split: Positions) -> tuple[Rule, Rule]:
        """The slopes of size times squared deviations of C and C + B at the step from i to i + 1.

        Each is how much they fall, divided by l - e: the records that leave and enter are l and e.
        So it has a sign where l = e, too, and equal records do not break the monotony.
        """
        ends = self.outside.entering(split), self.outside.leaving(split, self.core_size)
        sums = self.outside.total(split, self.core_size)
        of_y = sums + self.outside.inner.sums
        return Rule(self.records, self.core_size, *ends, sums), Rule(
            self.records, self.size, *ends, of_y
        )

    def variance_peak(self) -> Positions:
        """The first i from which V(C) - V(C + B) no longer rises: there it is largest."""
        start = np.zeros_like(self.outside.window)

        def stop(split: Positions) -> Mask:
            of_c, of_y = self.slopes(split)

            def exact(rows: Positions) -> Integers:
                fall: Integers = of_c.integers(rows) * self.of_y - of_y.integers(rows) * self.of_c
                return fall

            value = of_c.value * self.part_c - of_y.value * self.part_y
            weight = of_c.weight * self.part_c + of_y.weight * self.part_y
            return signs(self.records, None, value, weight, exact) >= 0

        return first(start, start + self.core_size, stop)

    def wider(self, split: Positions) -> Mask:
        """Whether V(C) > V(C + B)."""
        of_c, of_y = self.sets(split)
        terms: list[Reals] = []
        for sets, part in ((of_c, self.part_c), (of_y, self.part_y)):
            sums = self.records.real(sets.sums)
            terms.append(self.records.real_squares(sets.squares) * sets.size * part)
            terms.append(sums * sums * part)

        def exact(rows: Positions) -> Integers:
            core, both = (sets.rows(rows).deviations(self.records) for sets in (of_c, of_y))
            gap: Integers = core * self.of_y - both * self.of_c
            return gap

        value = (terms[0] - terms[1]) - (terms[2] - terms[3])
        weight = terms[0] + terms[1] + terms[2] + terms[3]
        return signs(self.records, None, value, weight, exact) > 0

    def root_peak(self, peak: Positions) -> tuple[CoreAtEnds, Positions]:
        """The rows that may beat the best placement, and for each the i at which it is largest.

        `peak` is the peak of V(C) - V(C + B). That is positive on an interval of i around the peak,
        from `left` to `right`. There the difference of the roots rises, then falls. See
        "The bisection" in docs/proofs.md.
        """
        chosen = np.flatnonzero(self._may_win(peak) & self.wider(peak))
        core, peak = (
            CoreAtEnds(self.search, self.outside.rows(chosen), self.core_size),
            peak[chosen],
        )
        left = first(np.zeros_like(peak), peak, core.wider)
        last = np.full_like(peak, self.core_size)
        right = first(peak, last, lambda split: ~core.wider(split + 1))
        return core, first(left, right, core.falls)

    def _may_win(self, peak: Positions) -> Mask:
        """Whether V(C) - V(C + B) is as large as it must be for the roots to be t apart.

        t is what some pair reaches, the floor of the search. If the roots are t apart, the
        variances are at least ``t (sd(C) + sd(C + B)) >= t^2 (1 + theta) / (1 - theta)`` apart, as
        t is at most ``(1 - theta) sd(C)``. See "Rows that cannot win" in docs/proofs.md.
        """
        free = self.search.spread.free
        share = (self.size - self.core_size) / free(self.size)
        ratio = sqrt(free(self.core_size) / free(self.size))
        # `share` is 1 - theta^2. Rounded down, as a few roundings could make it too large.
        need = self.search.floor() ** 2 * (1 + ratio) ** 2 / float(share) * (1 - 1e-9)
        core, both = self.sets(peak)
        variance = Spread(self.search.spread.ddof, root=False)
        _, high = variance.bounds(self.records, core, self.core_size)
        low, _ = variance.bounds(self.records, both, self.size)
        return np.asarray(high - low >= need)

    def falls(self, split: Positions) -> Mask:
        """Whether sd(C) - sd(C + B) does not rise from i to i + 1.

        Divided by l - e, it falls by R_c / (sd + sd' of C) - R_y / (sd + sd' of C + B), where R are
        the slopes of the variances, and sd and sd' the roots before and after the step. The sign is
        that of R_c (sd + sd' of C + B) - R_y (sd + sd' of C), which is enclosed between `least` and
        `most`; rows in which these do not decide it are compared exactly.
        """
        of_c, of_y = self.slopes(split)
        if not self.records.readable:
            rows = enumerate(split.tolist())
            return np.array(
                [self.falls_at(row, place, of_c, of_y) for row, place in rows], dtype=bool
            )
        (low_c, high_c), (low_y, high_y) = self._roots(split)
        fall_c, fall_y = of_c.value * self.part_c, of_y.value * self.part_y
        error_c, error_y = (
            16 * self.records.error * rule.weight * part
            for rule, part in ((of_c, self.part_c), (of_y, self.part_y))
        )
        least = _least(fall_c - error_c, low_y, high_y) + _least(-fall_y - error_y, low_c, high_c)
        most = -_least(-fall_c - error_c, low_y, high_y) - _least(fall_y - error_y, low_c, high_c)
        # The bounds on the slopes have room for the rounding of these products and sums.
        found = np.asarray(least > 0)
        for row in np.flatnonzero(~((least > 0) | (most < 0))).tolist():
            found[row] = self.falls_at(row, int(split[row]), of_c, of_y)
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

    def falls_at(self, row: int, split: int, of_c: Rule, of_y: Rule) -> bool:
        """The same as `falls` for one row, exactly."""
        here = CoreAtEnds(self.search, self.outside.rows(np.array([row])), self.core_size)
        (core, both), (next_core, next_both) = (
            [
                self.search.spread.variance(self.records, sets.rows(0))
                for sets in here.sets(np.array([place]))
            ]
            for place in (split, split + 1)
        )
        if core != next_core or both != next_both:
            return not Difference(core, both, True) < Difference(next_core, next_both, True)
        # A record replaces an equal one, or both slopes are 0. The sign is that of the derivative
        # in the direction (1, 2 e), R_c / (2 sd(C)) - R_y / (2 sd(C + B)). See "The bisection" in
        # docs/proofs.md.
        rows = np.array([row])
        fall_c = of_c.integers(rows).item() * self.of_y
        fall_y = of_y.integers(rows).item() * self.of_c
        return bool(_signed_square(fall_c) * both >= _signed_square(fall_y) * core)


def _least(factor: Reals, low: Reals, high: Reals) -> Reals:
    """The least product of a factor and a number from low >= 0 to high, rounded down."""
    product = factor * np.where(factor > 0, low, high)
    return product - 8 * UNIT * np.abs(product)


def _signed_square(number: int) -> int:
    """The square with the sign of the number."""
    return number * abs(number)
