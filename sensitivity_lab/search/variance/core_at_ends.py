"""Variance and standard deviation: pairs in which the smaller set is more spread.

x is the smaller set and has the larger variance. B is a window, a *row* of all arrays; x is the two
ends of what is outside it, and C is a window of x: the records of x in ascending order, but the
first and the last ones, which are A. Where A is empty, C is at the two ends itself. This is enough
for removals, and for the variance. For each row and each place of C in x, bisections find the best
*splits*, how many of x are at the lower end. See "Variance and standard deviation: remove" and
"Variance and standard deviation: the smaller set more spread" in ``docs/proofs.md``.

One inequality leaves out most of the work: y has at least the squared deviations of its part C, and
x at most those of C and the sum of squares of A about the mean of C. Where A is empty this reads
``sd(C + B) >= theta sd(C)`` with ``theta^2 = (c - d) / (n - d)``, c and n the sizes and d the ddof.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.search.layouts import Shape

from .comparing import Sets, Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .patterns import CHUNK, PatternSearch, Placement
from .windows import (
    Mask,
    Rule,
    WindowComplement,
    are_few,
    best_split,
    every,
    expand,
    first,
    signs,
    window_sets,
    windows,
)
from .words import CORE_AT_ENDS


def any_at_ends(shape: Shape) -> Placement:
    """Return some placement of `CORE_AT_ENDS`, to begin with: A, C and B from below, then O."""
    of_a, of_x, end = shape.only_x, shape.of_x, shape.of_x + shape.only_y
    left, right = [of_a] * 3 + [of_x] * 6, [end] + [shape.total] * 8
    return Placement(CORE_AT_ENDS, (0, *left, end, *right))


def search_at_ends(search: PatternSearch, shape: Shape) -> None:
    """Offer `CORE_AT_ENDS`: B a window, x = C + A the two ends of what is outside it.

    A row is a window B, and all places of C in x are tried. See "Skipping", "The split of C by
    bisection", "Rows that cannot win" and "The smaller set more spread" in docs/proofs.md.

    Parameters
    ----------
    search : PatternSearch
        Keeps the best placement; its floor is what others reach.
    shape : Shape
        A is only in x, B only in y; A is smaller, and empty if f is the root.
    """
    records = search.records
    if shape.of_x == 1:
        return  # the variance of a single record is 0
    few = are_few((records.size - shape.only_y + 1) * (shape.only_x + 1), shape.core)
    if not few and surely_below(search, shape):
        return
    for window in windows(records, shape.only_y, visits=shape.only_x + 1):
        outside = WindowComplement(records, window, shape.only_y)
        span = every(np.zeros_like(window), shape.of_x)
        if span is None and shape.only_x:
            widest = best_split(outside, 0, shape.of_x, shape.of_x)
        for lower in range(shape.only_x + 1):
            core = CoreAtEnds(search, outside, shape, lower)
            if span is not None:
                core.offer(*span)
                continue
            split = core.variance_peak()
            if search.spread.root:
                core, split = core.root_peak(split)
            core.offer(split, split)
            if shape.only_x:
                # Splits that do not part C: y is the same for all, and x is best at its own peak.
                apart = np.flatnonzero((widest < lower) | (widest > lower + shape.core))
                core.rows(apart).offer(widest[apart], widest[apart])


def surely_below(search: PatternSearch, shape: Shape) -> bool:
    """Whether no f(x) - f(y) can reach what was found ("Skipping" in docs/proofs.md).

    With D the squared deviations of C and E the largest sum of squares of A about the mean of C,
    f(x) - f(y) is at most ``(D + E) / (n - d) - D / (m - d)``, which rises with D, or the
    difference of the roots, which falls, then rises. D is largest where C is at both ends of the
    universe, and smallest in a window.
    """
    records, spread = search.records, search.spread
    if not records.readable or not shape.core:
        return False
    free_x, free_y = (as_real(spread.free(size)) for size in (shape.of_x, shape.of_y))
    everything = WindowComplement(records, np.zeros(1, dtype=np.int64), 0)
    split = best_split(everything, 0, shape.core, shape.core)
    most = everything.ends(split, shape.core).deviations(records)[0]
    core, more = [Fraction(most, shape.core)], _most_about_a_mean(everything, shape)
    if more and spread.root:
        core.append(_tightest(records, shape.core))
    floor = search.floor()
    for deviations in core:
        above, below = as_real(deviations + more) / free_x, as_real(deviations) / free_y
        if spread.root:
            above, below = np.sqrt(above), np.sqrt(below)
        if not (above - below) * (1 + 1e-9) + 16 * UNIT * (above + below) < floor:
            return False
    return True


def _most_about_a_mean(everything: WindowComplement, shape: Shape) -> Fraction:
    """The largest sum of squares of A about any number that the mean of C can be, or more.

    It is a convex function of that number: so one of the least and the largest mean will do.
    """
    records = everything.records
    sums = everything.total(np.array([0, shape.core]), shape.core)
    means = [Fraction(total, shape.core) for total in records.integer_sums(sums).tolist()]
    return max(_far_squares(everything, shape.only_x, mean) for mean in means)


def _far_squares(everything: WindowComplement, width: int, mean: Fraction) -> Fraction:
    """The largest sum of squares of so many records about a number."""
    records = everything.records

    def stop(split: Positions) -> Mask:
        places = everything.entering(split), everything.leaving(split, width)
        enter, leave = (records.integer(place) for place in places)
        return np.asarray(enter + leave >= 2 * mean, dtype=bool)

    split = first(np.zeros(1, dtype=np.int64), np.full(1, width), stop)
    far = everything.ends(split, width)
    total, squares = records.integer_sums(far.sums)[0], records.integer_squares(far.squares)[0]
    return Fraction(squares - 2 * mean * total + width * mean * mean)


def _tightest(records: SortedRecords, width: int) -> Fraction:
    """At most the squared deviations of any so many records: those of a window are least."""
    spread, least = Spread(Fraction(0), root=False), np.longdouble(np.inf)
    last = records.size - width
    for start in range(0, last + 1, CHUNK):
        window = window_sets(records, np.arange(start, min(start + CHUNK, last + 1)), width)
        least = min(least, spread.bounds(records, window, width)[0].min())
    return Fraction(*least.as_integer_ratio()) * width


class CoreAtEnds:
    """x is the first i and the last n - i records outside the window B, as a function of i.

    A row is a window B. A is the first `lower` and the last ``a - lower`` records of x. The *split*
    i goes from 0 to n. From `lower` to ``lower + c`` it parts C, and A stays: from i to i + 1 a
    record e enters C and a larger one l leaves it; so with S and Q the sum of C and of its squares,
    (S, Q) runs along a polygon whose slopes, l + e, do not fall as S falls: it is concave. Here

    - ``V(x) - V(y) = s Q - r S^2 + linear`` with s, r > 0. So it is concave along the polygon,
      and its chords' slopes are monotone in i: a bisection finds its peak.
    - Where A is empty, ``sd(x) - sd(y)`` is not concave, but it rises strictly up to its peak and
      falls strictly after it, wherever it is positive, and that is an interval around the peak of
      the variance. Outside that interval bisection could be misled: so its ends are found first.

    The methods are the steps of "The split of C by bisection" in docs/proofs.md.
    """

    def __init__(
        self, search: PatternSearch, outside: WindowComplement, shape: Shape, lower: int = 0
    ) -> None:
        self.search, self.outside, self.shape, self.lower = search, outside, shape, lower
        self.records, free = outside.records, search.spread.free
        # What y has in addition to x, where the split parts C: B less A.
        of_a = outside.ends(np.full_like(outside.window, lower), shape.only_x)
        self.more = outside.inner.sums - of_a.sums
        self.more_squares = outside.inner.squares - of_a.squares
        # V = (m D) / (m (m - d)) for m records. Both m - d are fractions with the denominator of d,
        # so m times their numerator is that divisor, times the same integer for both sets.
        self.of_x, self.of_y = (size * free(size).numerator for size in (shape.of_x, shape.of_y))
        self.part_x, self.part_y = as_real(Fraction(1, self.of_x)), as_real(Fraction(1, self.of_y))

    def rows(self, chosen: Positions) -> CoreAtEnds:
        """The same for some of the rows."""
        return CoreAtEnds(self.search, self.outside.rows(chosen), self.shape, self.lower)

    def sets(self, split: Positions) -> tuple[Sets, Sets]:
        """Return x and y; the split parts C."""
        x = self.outside.ends(split, self.shape.of_x)
        return x, Sets(self.shape.of_y, x.sums + self.more, x.squares + self.more_squares)

    def offer(self, low: Positions, high: Positions) -> None:
        """Offer the splits from `low` to `high` of each row."""
        for rows, split in expand(self.search, low, high):
            self.search.offer(self.records, CORE_AT_ENDS, self.rows(rows).bounds(split))

    def bounds(self, split: Positions) -> Positions:
        """Boundaries of the blocks `AOACOCAOA`, `B`, `AOACOCAOA`, shape (rows, 20)."""
        begin, width = self.outside.window, self.shape.only_y
        # The same nine blocks on both sides of B, along the records outside it: left of B they end
        # there at the latest, and right of it they begin there at the earliest.
        edges = self._edges(split)
        left = [np.minimum(edge, begin) for edge in edges]
        right = [np.maximum(edge, begin) + width for edge in edges]
        return np.stack([np.zeros_like(begin), *left, begin + width, *right], axis=1)

    def _edges(self, split: Positions) -> list[Positions]:
        """Where the nine blocks end: O parts one of A, C and A at the split."""
        upper, edges = self.outside.size - self.shape.of_x, []
        starts = (0, self.lower, self.lower + self.shape.core, self.shape.of_x)
        for start, stop in pairwise(starts):
            # The records of x with these numbers: up to the split they have the same numbers
            # outside B, and from it on `upper` more. At a boundary, O belongs to what follows.
            cut = np.clip(split, start, stop)
            edges.append(np.where(split >= start, cut, cut + upper))
            edges.append(np.where(split < stop, cut + upper, cut))
            edges.append(np.where(split < stop, stop + upper, stop))
        # Nothing follows the last A: there all records of x may be below O.
        edges[-2:] = [np.where(split >= stop, edge + upper, edge) for edge in edges[-2:]]
        return edges

    def slopes(self, split: Positions) -> tuple[Rule, Rule]:
        """The slopes of size times squared deviations of x and y at the step from i to i + 1.

        Each is how much they fall, divided by l - e: the records that leave and enter are l and e.
        So it has a sign where l = e, too, and equal records do not break the monotony.
        """
        size = self.shape.of_x
        ends = self.outside.entering(split), self.outside.leaving(split, size)
        sums = self.outside.total(split, size)
        return Rule(self.records, size, *ends, sums), Rule(
            self.records, self.shape.of_y, *ends, sums + self.more
        )

    def variance_peak(self) -> Positions:
        """The first i from which V(x) - V(y) no longer rises: there it is largest."""
        start = np.full_like(self.outside.window, self.lower)

        def stop(split: Positions) -> Mask:
            of_x, of_y = self.slopes(split)

            def exact(rows: Positions) -> Integers:
                fall: Integers = of_x.integers(rows) * self.of_y - of_y.integers(rows) * self.of_x
                return fall

            value = of_x.value * self.part_x - of_y.value * self.part_y
            weight = of_x.weight * self.part_x + of_y.weight * self.part_y
            return signs(self.records, None, value, weight, exact) >= 0

        return first(start, start + self.shape.core, stop)

    def wider(self, split: Positions) -> Mask:
        """Whether V(x) > V(y)."""
        of_x, of_y = self.sets(split)
        terms: list[Reals] = []
        for sets, part in ((of_x, self.part_x), (of_y, self.part_y)):
            sums = self.records.real(sets.sums)
            terms.append(self.records.real_squares(sets.squares) * sets.size * part)
            terms.append(sums * sums * part)

        def exact(rows: Positions) -> Integers:
            core, both = (sets.rows(rows).deviations(self.records) for sets in (of_x, of_y))
            gap: Integers = core * self.of_y - both * self.of_x
            return gap

        value = (terms[0] - terms[1]) - (terms[2] - terms[3])
        weight = terms[0] + terms[1] + terms[2] + terms[3]
        return signs(self.records, None, value, weight, exact) > 0

    def root_peak(self, peak: Positions) -> tuple[CoreAtEnds, Positions]:
        """The rows that may beat the best placement, and for each the i at which it is largest.

        `peak` is the peak of V(x) - V(y), and A is empty. That is positive on an interval of i
        around the peak, from `left` to `right`. There the difference of the roots rises, then
        falls. See "The bisection" in docs/proofs.md.
        """
        chosen = np.flatnonzero(self._may_win(peak) & self.wider(peak))
        core, peak = self.rows(chosen), peak[chosen]
        left = first(np.zeros_like(peak), peak, core.wider)
        last = np.full_like(peak, self.shape.core)
        right = first(peak, last, lambda split: ~core.wider(split + 1))
        return core, first(left, right, core.falls)

    def _may_win(self, peak: Positions) -> Mask:
        """Whether V(x) - V(y) is as large as it must be for the roots to be t apart.

        t is what some pair reaches, the floor of the search. If the roots are t apart, the
        variances are at least ``t (sd(x) + sd(y)) >= t^2 (1 + theta) / (1 - theta)`` apart, as t is
        at most ``(1 - theta) sd(x)``. See "Rows that cannot win" in docs/proofs.md.
        """
        free = self.search.spread.free
        smaller, larger = self.shape.of_x, self.shape.of_y
        share = (larger - smaller) / free(larger)
        ratio = sqrt(free(smaller) / free(larger))
        # `share` is 1 - theta^2. Rounded down, as a few roundings could make it too large.
        need = self.search.floor() ** 2 * (1 + ratio) ** 2 / float(share) * (1 - 1e-9)
        core, both = self.sets(peak)
        variance = Spread(self.search.spread.ddof, root=False)
        _, high = variance.bounds(self.records, core, smaller)
        low, _ = variance.bounds(self.records, both, larger)
        return np.asarray(high - low >= need)

    def falls(self, split: Positions) -> Mask:
        """Whether sd(x) - sd(y) does not rise from i to i + 1; A is empty.

        Divided by l - e, it falls by R_x / (sd + sd' of x) - R_y / (sd + sd' of y), where R are
        the slopes of the variances, and sd and sd' the roots before and after the step. The sign is
        that of R_x (sd + sd' of y) - R_y (sd + sd' of x), which is enclosed between `least` and
        `most`; rows in which these do not decide it are compared exactly.
        """
        of_x, of_y = self.slopes(split)
        if not self.records.readable:
            rows = enumerate(split.tolist())
            return np.array(
                [self.falls_at(row, place, of_x, of_y) for row, place in rows], dtype=bool
            )
        (low_x, high_x), (low_y, high_y) = self._roots(split)
        fall_x, fall_y = of_x.value * self.part_x, of_y.value * self.part_y
        error_x, error_y = (
            16 * self.records.error * rule.weight * part
            for rule, part in ((of_x, self.part_x), (of_y, self.part_y))
        )
        least = _least(fall_x - error_x, low_y, high_y) + _least(-fall_y - error_y, low_x, high_x)
        most = -_least(-fall_x - error_x, low_y, high_y) - _least(fall_y - error_y, low_x, high_x)
        # The bounds on the slopes have room for the rounding of these products and sums.
        found = np.asarray(least > 0)
        for row in np.flatnonzero(~((least > 0) | (most < 0))).tolist():
            found[row] = self.falls_at(row, int(split[row]), of_x, of_y)
        return found

    def _roots(self, split: Positions) -> list[tuple[Reals, Reals]]:
        """Bounds on sd + sd' of x, and of y, before and after a step."""
        bounds = []
        for before, after in zip(self.sets(split), self.sets(split + 1), strict=True):
            one, other = (
                self.search.spread.bounds(self.records, sets, sets.size) for sets in (before, after)
            )
            bounds.append((one[0] + other[0], one[1] + other[1]))
        return bounds

    def falls_at(self, row: int, split: int, of_x: Rule, of_y: Rule) -> bool:
        """The same as `falls` for one row, exactly."""
        here = self.rows(np.array([row]))
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
        # in the direction (1, 2 e), R_x / (2 sd(x)) - R_y / (2 sd(y)). See "The bisection" in
        # docs/proofs.md.
        rows = np.array([row])
        fall_x = of_x.integers(rows).item() * self.of_y
        fall_y = of_y.integers(rows).item() * self.of_x
        return bool(_signed_square(fall_x) * both >= _signed_square(fall_y) * core)


def _least(factor: Reals, low: Reals, high: Reals) -> Reals:
    """The least product of a factor and a number from low >= 0 to high, rounded down."""
    product = factor * np.where(factor > 0, low, high)
    return product - 8 * UNIT * np.abs(product)


def _signed_square(number: int) -> int:
    """The square with the sign of the number."""
    return number * abs(number)
