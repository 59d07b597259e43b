"""Statistics of a column: how they, and their intervals, follow from noisy numbers.

What follows from noisy numbers costs no more privacy. An interval is the set of values that the
noisy numbers do not contradict: of a mean m those with |S - m C| at most 1.645 standard deviations
of its noise, for the noisy sum S and the noisy count C. It is found by inversion, so it holds in 90
of 100 releases however few rows there are. Where it is as wide as the bounds the number is NaN.
See docs/proofs.md, "Intervals of a release".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import did_you_mean, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import Median, Percentile

from .grid import Grid, as_text
from .measurements import Bins, CentredSquares, CentredSum, Measured, Numbers, RowCount

Floats = NDArray[np.float64]

_Z = 1.645
"""So many standard deviations contain 90 % of normal noise, and of Laplace noise a little more."""

_Z_OF_TWO = 2.12
"""As many for 95 %, where an interval is made of two."""

_MEANS = 17
"""At so many means of an interval the interval of a variance is looked at."""

_NUMBERS = {"count", "sum", "mean", "var", "std"}
_INSTEAD = {
    "min": "it follows one person; take a low percentile, such as 'percentile_5'",
    "max": "it follows one person; take a high percentile, such as 'percentile_95'",
    "nunique": "publish a 'histogram' in its place, whose bins are public",
    "mode": "publish a 'histogram' in its place, and read the largest bin",
    "first": "it is one person's; take a 'median'",
    "last": "it is one person's; take a 'median'",
    "size": "'count' is the number of rows",
    "quantile": "name the percentile, such as 'percentile_90' or sl.Percentile(90)",
}
_ACCEPTED = (
    "'count', 'sum', 'mean', 'var', 'std', 'median', a percentile such as 'percentile_90' or "
    "sl.Percentile(90), or 'histogram'"
)

_PERCENTILE = re.compile(r"percentile_([0-9]{1,20}(\.[0-9]{1,20}|/[1-9][0-9]{0,19})?)")


@dataclass(frozen=True)
class Statistic:
    """What is asked for: a statistic of a column, or the number of rows.

    Attributes
    ----------
    column : str or None
        None for the number of rows.
    kind : str
        One of count, sum, mean, var, std, percentile, histogram.
    percent : Fraction
        Of a percentile.
    """

    column: str | None
    kind: str
    percent: Fraction = Fraction(50)

    def __str__(self) -> str:
        return self.word if self.column is None else f"{self.word} of {self.column}"

    @property
    def word(self) -> str:
        """How it is asked for."""
        if self.kind != "percentile":
            return self.kind
        return "median" if self.percent == 50 else f"percentile_{as_text(self.percent)}"


def statistic_of(name: str, asked: Any, columns: Collection[str]) -> Statistic:
    """Return what is asked for, as in pandas' named aggregation, or raise InputError."""
    label = f"agg[{shown(name)}]"
    if isinstance(asked, str):
        if asked == "count":
            return Statistic(None, "count")
        raise InputError(
            f"{label} must be 'count' or a pair (column, statistic), got {shown(asked)}"
        )
    wrong = f"{label} must be 'count' or a pair (column, statistic), such as ('age', 'mean')"
    pair = listed(asked, wrong)
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise InputError(f"{wrong}, got {shown(asked)}")
    column, kind = pair
    if name in columns and column not in columns:
        raise InputError(
            f"{wrong}, one for each number, got {shown(asked)}; write "
            f"{{'{name}_{column}': ({shown(name)}, {shown(column)})}}"
        )
    if column not in columns:
        raise InputError(
            f"{label}: the column {shown(column)} has no bounds, and without them one person could "
            f"move it without a limit; give bounds={{{shown(column)}: (lowest, highest)}}"
            f"{did_you_mean(column, columns)}"
        )
    return _of_column(label, str(column), kind)


def _of_column(label: str, column: str, kind: Any) -> Statistic:
    if isinstance(kind, Percentile | Median):
        return Statistic(column, "percentile", Fraction(getattr(kind, "q", 50)))
    if isinstance(kind, str):
        if kind in _NUMBERS | {"histogram"}:
            return Statistic(column, kind)
        if kind == "median":
            return Statistic(column, "percentile")
        if found := _PERCENTILE.fullmatch(kind):
            percent = Fraction(found[1])
            if percent > 100:
                raise InputError(f"{label}: a percentile is from 0 to 100, got {shown(kind)}")
            return Statistic(column, "percentile", percent)
    instead = _INSTEAD.get(kind, "") if isinstance(kind, str) else ""
    raise InputError(
        f"{label}: a statistic is {_ACCEPTED}, got {shown(kind)}{'; ' * bool(instead)}{instead}"
    )


@dataclass(frozen=True, eq=False)
class Sums:
    """What statistics are computed from: noisy whole numbers by kind, of all groups.

    Attributes
    ----------
    numbers : dict of Measured to ndarray of ints, shape (groups, numbers)
    deviation : dict of Measured to float
        The standard deviation of the noise of each number, in whole units.
    """

    numbers: Mapping[Measured, Numbers]
    deviation: Mapping[Measured, float]

    def floats(self, one: Measured) -> Floats:
        """Return the numbers of a kind as floats, shape (groups, numbers)."""
        found: Floats = self.numbers[one].astype(np.float64)
        return found

    def count_kind(self, grid: Grid | None) -> Measured:
        """Return what has the number of rows."""
        bins = [one for one in self.numbers if isinstance(one, Bins)]
        own = [one for one in bins if one.grid == grid and not self.has_sums(grid)]
        return next(iter(own), RowCount() if RowCount() in self.numbers else bins[0])

    def count(self, grid: Grid | None) -> tuple[Floats, float]:
        """Return the numbers of rows, and the standard deviation of their noise."""
        of = self.count_kind(grid)
        return self.floats(of).sum(axis=1), self.deviation[of] * of.numbers**0.5

    def has_sums(self, grid: Grid | None) -> bool:
        """Tell whether sums of a column are measured, besides a histogram or alone."""
        return grid is not None and CentredSum(grid) in self.numbers

    def binned(self, grid: Grid) -> Floats:
        """Return the histogram of each group: the nearest one to the noisy one that can be.

        That is the one without negative numbers whose total is the same, or 0: all bins are lowered
        by one number, and those that would be negative are 0.
        """
        noisy = self.floats(Bins(grid))
        total = np.maximum(noisy.sum(axis=1, keepdims=True), 0)
        # Always: with the j largest bins above it, each lowered by `by[j - 1]`, the total is right.
        largest = -np.sort(-noisy, axis=1)
        # by[j - 1] is what each of the j largest bins is too high by, if they alone are to make up
        # the total. The last j whose smallest bin stays above 0 is the one: bins 5, 3, -2 with the
        # total 6 become 4, 2, 0.
        by = (largest.cumsum(axis=1) - total) / np.arange(1, noisy.shape[1] + 1)
        last = np.maximum((largest > by).sum(axis=1, keepdims=True) - 1, 0)
        lowered: Floats = np.maximum(noisy - np.take_along_axis(by, last, axis=1), 0)
        return lowered

    def centred(self, grid: Grid) -> tuple[Floats, Floats]:
        """Return the sums of d and of d^2, with d as in `CentredSum`."""
        if not self.has_sums(grid):
            bins, d = self.binned(grid), _places(grid)
            return np.asarray(bins @ d), np.asarray(bins @ d**2)
        count, _ = self.count(grid)
        total = self.floats(CentredSum(grid))[:, 0]
        if CentredSquares(grid) not in self.numbers:
            return total, np.full_like(total, np.nan)
        squares, _ = self.squares(grid)
        # Undoes `CentredSquares`: the sum of 2 d**2 - steps**2 over the rows, with the noisy count
        # for their number.
        return total, (squares + count * grid.steps**2) / 2

    def squares(self, grid: Grid) -> tuple[Floats, float]:
        """Return the sums of 2 d^2 - steps^2, and the standard deviation of their noise."""
        of = CentredSquares(grid)
        return self.floats(of)[:, 0] * of.coarse, self.deviation[of] * of.coarse

    def moment(self, grid: Grid, power: int, about: Floats | float) -> Line:
        """Return the noisy sum of (d - m)^power, of power 1 or 2, as a `Line` in what it estimates.

        Without the rounding of a histogram to one that can be: that would bias an interval.
        """
        m = np.asarray(about, dtype=np.float64)
        if not self.has_sums(grid):
            bins, s = self.floats(Bins(grid)), self.deviation[Bins(grid)]
            # Axis 0: the group, axis 1: the bin.
            w = (_places(grid)[None, :] - m.reshape(-1, 1)) ** power
            first = (bins * w).sum(axis=1)
            # F = sum of w_j N_j and C = sum of N_j, with independent noise in each N_j.
            a, b, c = (w**2).sum(axis=1), w.sum(axis=1), float(bins.shape[1])
            return Line(first, bins.sum(axis=1), s**2 * a, s**2 * b, s**2 * c)
        count, of_count = self.count(grid)
        total = self.floats(CentredSum(grid))[:, 0]
        of_sum = self.deviation[CentredSum(grid)]
        # F - v C is the noisy sum less m + v counts: of_sum**2 + (m + v)**2 of_count**2.
        if power == 1:
            return Line(
                total - m * count,
                count,
                of_sum**2 + m**2 * of_count**2,
                -m * of_count**2,
                of_count**2,
            )
        (squares, of_squares), k = self.squares(grid), grid.steps**2 / 2 + m**2
        # (d - m)^2 = d^2 - 2 m d + m^2; the sum of d^2 is half of the centred squares and of
        # steps^2 n.
        first = squares / 2 - 2 * m * total + k * count
        rest = of_squares**2 / 4 + 4 * m**2 * of_sum**2
        # The count is in the moment with the factor k: (k - V)^2 of its variance in all.
        variance = of_count**2
        return Line(first, count, rest + k**2 * variance, k * variance, variance)


@dataclass(frozen=True, eq=False)
class Line:
    """Noisy numbers F and C whose quotient is wanted: F - v C has the variance a - 2 b v + c v^2.

    All of shape (groups,), or numbers.
    """

    first: Floats
    count: Floats
    a: Floats
    b: Floats
    c: Floats | float

    def inverted(self, z: float) -> tuple[Floats, Floats]:
        """Return the ends of the v that are not contradicted; infinite where that is no interval.

        (F - v C)^2 <= z^2 (a - 2 b v + c v^2) is A v^2 - 2 B v + D <= 0.
        """
        # From here on a, b and d are A, B and D of the quadratic.
        a, b, d = (
            self.count**2 - z**2 * self.c,
            self.first * self.count - z**2 * self.b,
            self.first**2 - z**2 * self.a,
        )
        # A > 0 and C > 0: all v between two roots. Else C may be 0, and no v is contradicted.
        root = np.sqrt(np.maximum(b**2 - a * d, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (b - root) / a, (b + root) / a
        open_ = (a <= 0) | (self.count <= 0)
        return np.where(open_, -np.inf, low), np.where(open_, np.inf, high)


def _places(grid: Grid) -> Floats:
    """Return d of each bin's value; without a bin for each value, of its middle."""
    if grid.is_whole:
        return 2.0 * np.array(grid.starts) - grid.steps
    ends = np.array([*grid.starts, grid.steps + 1])
    middles: Floats = (ends[1:] + ends[:-1] - 1.0) - grid.steps
    return middles


Computed = tuple[Any, Floats, Floats]
"""A statistic of each group, and the ends of its interval; NaN where the noise hides it."""


def computed(statistic: Statistic, grids: Mapping[str, Grid], sums: Sums) -> Computed:
    """Return a statistic of each group with its interval: whole numbers of rows, else floats."""
    if statistic.kind == "count":
        count, deviation = sums.count(grids.get(statistic.column or ""))
        # Rows are whole, so the interval widens to whole numbers.
        number = np.rint(count).astype(np.int64)
        low = np.maximum(np.floor(count - _Z * deviation), 0)
        return number, low, np.maximum(np.ceil(count + _Z * deviation), low)
    grid = grids[statistic.column]  # type: ignore[index]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found, low, high, least, most = _FOLLOWS[statistic.kind](statistic, grid, sums)
    if statistic.kind == "sum":
        return found, low, high
    # The number is within the bounds, and its interval has it.
    found = np.clip(found, least, most)
    # First widened to the number, which a histogram without negative bins may have moved; then cut
    # to the bounds.
    low, high = np.maximum(np.minimum(low, found), least), np.minimum(np.maximum(high, found), most)
    hidden = ~np.isfinite(found) | ((low <= least) & (high >= most))
    return tuple(np.where(hidden, np.nan, one) for one in (found, low, high))  # type: ignore[return-value]


Follows = tuple[Floats, Floats, Floats, Any, Any]
"""A statistic, its interval, and the least and the largest value that it can have."""


def _sum(_: Statistic, grid: Grid, sums: Sums) -> Follows:
    # A row at place d is worth middle + d half, so the sum is C middle + S half.
    middle, half = float(grid.lower + grid.upper) / 2, float(grid.step / 2)
    count, of_count = sums.count(grid)
    found = count * middle + sums.centred(grid)[0] * half
    if sums.has_sums(grid):
        variance = (middle * of_count) ** 2 + (half * sums.deviation[CentredSum(grid)]) ** 2
        # About the histogram as it was drawn: one without negative bins would bias the interval.
        centre = found
    else:
        values = middle + half * _places(grid)
        variance = sums.deviation[Bins(grid)] ** 2 * float((values**2).sum())
        centre = sums.floats(Bins(grid)) @ values
    apart = _Z * variance**0.5
    low, high = np.minimum(centre - apart, found), np.maximum(centre + apart, found)
    return found, low, high, -np.inf, np.inf


def _mean(_: Statistic, grid: Grid, sums: Sums) -> Follows:
    middle, half = float(grid.lower + grid.upper) / 2, float(grid.step / 2)
    # The mean of d is between these, and middle + half d is the mean itself.
    low, high = sums.moment(grid, 1, 0).inverted(_Z)
    mean = sums.centred(grid)[0] / sums.count(grid)[0]
    ends = (middle + half * one for one in (mean, low, high))
    return *ends, float(grid.lower), float(grid.upper)  # type: ignore[return-value]


def _variance(_: Statistic, grid: Grid, sums: Sums) -> Follows:
    """The variance with n - 1, as in pandas.

    The true mean is in its interval of 95 %, and for each mean there the sum of squares about it
    has one of 95 % for the variance: together 90 %.
    """
    count, _deviation = sums.count(grid)
    total, squares = sums.centred(grid)
    # n / (n - 1) times the square of half a step: from the variance of d over n to that of pandas.
    known = np.maximum(count, 2)
    ddof = known / (known - 1) * float(grid.step / 2) ** 2
    found = np.maximum((squares - total**2 / count) / count, 0) * ddof
    low, high = (
        np.clip(of, -grid.steps, grid.steps) for of in sums.moment(grid, 1, 0).inverted(_Z_OF_TWO)
    )
    ends = [
        sums.moment(grid, 2, low + share * (high - low)).inverted(_Z_OF_TWO)
        for share in np.linspace(0, 1, _MEANS)
    ]
    least, most = np.min([one for one, _ in ends], axis=0), np.max([one for _, one in ends], axis=0)
    # No variance of records in the bounds is larger.
    return found, np.maximum(least, 0) * ddof, most * ddof, 0.0, grid.steps**2 * ddof


def _std(statistic: Statistic, grid: Grid, sums: Sums) -> Follows:
    found, low, high, least, most = _variance(statistic, grid, sums)
    return np.sqrt(found), np.sqrt(low), np.sqrt(high), least, most**0.5


def _percentile(statistic: Statistic, grid: Grid, sums: Sums) -> Follows:
    """A bin's own value where each value has its bin; else as if a bin's rows were spread evenly.

    The true percentile is in the first bin up to which there are a share p of the rows. Up to bin
    j, cumulative counts less p times the total have a known noise. Bins are ruled out from below
    where that is too low for any noise, and from above where the bin before has enough.
    """
    share, values = float(statistic.percent / 100), grid.values
    up_to = sums.binned(grid).cumsum(axis=1)
    # The percentile is in the first bin up to which there are at least `wanted` rows.
    wanted = up_to[:, -1] * share
    first, row = _first_at((up_to >= wanted[:, None]) & (up_to > 0)), np.arange(len(up_to))
    found = values[first]
    if not grid.is_whole:
        below = np.where(first > 0, up_to[row, first - 1], 0.0)
        inside = np.clip(np.nan_to_num((wanted - below) / (up_to[row, first] - below)), 0, 1)
        found = found + inside * (values[first + 1] - found)
    noisy = sums.floats(Bins(grid))
    bins, number = noisy.shape[1], np.arange(1, noisy.shape[1] + 1)
    over = noisy.cumsum(axis=1) - share * noisy.sum(axis=1, keepdims=True)
    # Bins up to j have the weight 1 - p in `over`, later ones -p: the variance is a sum of squares.
    spread = number * (1 - share) ** 2 + (bins - number) * share**2
    # A row more: pandas takes a percentile between two rows in order.
    apart = _Z * sums.deviation[Bins(grid)] * np.sqrt(spread) + 1
    low = _first_at(over >= -apart)
    # Bin j is ruled out if the bins before it surely hold the share. No bin is before the first.
    can_be = np.concatenate(
        [np.ones((len(over), 1), dtype=bool), over[:, :-1] < apart[:-1]], axis=1
    )
    high = bins - 1 - _first_at(can_be[:, ::-1])
    last = values[high] if grid.is_whole else values[high + 1]
    empty = up_to[:, -1] <= 0
    return np.where(empty, np.nan, found), values[low], last, float(grid.lower), float(grid.upper)


def _first_at(reached: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first place of each row that is True, the last one if none is."""
    last = reached.shape[1] - 1
    found: NDArray[np.intp] = np.where(reached.any(axis=1), reached.argmax(axis=1), last)
    return found


_FOLLOWS: dict[str, Callable[[Statistic, Grid, Sums], Follows]] = {
    "sum": _sum,
    "mean": _mean,
    "var": _variance,
    "std": _std,
    "percentile": _percentile,
}


def plain(statistic: Statistic, values: Mapping[str, Floats], group: Any, groups: int) -> Any:
    """Return a statistic of rows as pandas computes it, for each group."""
    every = pd.RangeIndex(groups)
    if statistic.kind == "count":
        return np.bincount(group, minlength=groups)
    grouped = pd.Series(values[statistic.column or ""]).groupby(group)
    with np.errstate(invalid="ignore"):  # infinite cells of both signs add up to NaN
        if statistic.kind == "percentile":
            found = grouped.quantile(float(statistic.percent / 100))
        else:
            found = grouped.agg(statistic.kind)
    return found.reindex(every, fill_value=0 if statistic.kind == "sum" else np.nan).to_numpy()
