"""Statistics of a column: what has to be measured for them, and how they follow from noisy numbers.

What follows from noisy numbers costs no more privacy. Where the noise hides a statistic, it is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import did_you_mean, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import Median, Percentile

from .grid import Grid, as_text
from .measurements import Bins, CentredSquares, CentredSum, Measured, Numbers, RowCount

Floats = NDArray[np.float64]

_HIDES = 3
"""A count below so many times its noise hides what is divided by it."""

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

_PERCENTILE = re.compile(r"percentile_([0-9]{1,3}(\.[0-9]{1,9})?)")


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
    if len(pair) != 2:
        raise InputError(f"{wrong}, got {shown(asked)}")
    column, kind = pair
    if not isinstance(column, str):
        raise InputError(f"{wrong}, got {shown(asked)}")
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


def measured_for(statistics: Sequence[Statistic], grids: Mapping[str, Grid]) -> list[Measured]:
    """Return what has to be measured: as little as possible, and each thing once.

    A histogram with a bin for each value has all that there is to know of its column. Of a column
    with more values, sums are more accurate than bins, and need the number of rows itself: that of
    a histogram has the noise of all bins.
    """
    found: list[Measured] = []
    for column, grid in grids.items():
        kinds = {one.kind for one in statistics if one.column == column}
        binned = bool(kinds & {"percentile", "histogram"})
        if grid.is_whole and (binned or kinds & {"var", "std"}):
            found.append(Bins(grid))
            continue
        if binned:
            found.append(Bins(grid))
        if kinds & {"sum", "mean", "var", "std"}:
            found.append(CentredSum(grid))
        if kinds & {"var", "std"}:
            found.append(CentredSquares(grid))
    if all(one.kind == "count" for one in statistics) or any(
        isinstance(one, CentredSum) for one in found
    ):
        found.insert(0, RowCount())
    return found


@dataclass(frozen=True, eq=False)
class Sums:
    """What statistics are computed from: noisy whole numbers by kind, of all groups.

    Attributes
    ----------
    numbers : dict of Measured to ndarray of ints, shape (groups, numbers)
    error : dict of Measured to float
        The scale of the noise of each number, in whole units.
    """

    numbers: Mapping[Measured, Numbers]
    error: Mapping[Measured, float]

    def count(self, grid: Grid | None) -> tuple[Floats, float]:
        """Return the numbers of rows, and the scale of their noise."""
        bins = [one for one in self.numbers if isinstance(one, Bins)]
        own = [one for one in bins if one.grid == grid and one.grid.is_whole]
        of = own[0] if own else RowCount() if RowCount() in self.numbers else bins[0]
        count = self.numbers[of].sum(axis=1)
        return count.astype(np.float64), self.error[of] * of.numbers**0.5

    def binned(self, grid: Grid) -> Floats:
        """Return the histogram of each group: the nearest one to the noisy one that can be.

        That is the one without negative numbers whose total is the same, or 0: all bins are lowered
        by one number, and those that would be negative are 0.
        """
        noisy = self.numbers[Bins(grid)].astype(np.float64)
        total = np.maximum(noisy.sum(axis=1, keepdims=True), 0)
        # Always: with the j largest bins above it, each lowered by `by[j - 1]`, the total is right.
        largest = -np.sort(-noisy, axis=1)
        by = (largest.cumsum(axis=1) - total) / np.arange(1, noisy.shape[1] + 1)
        last = np.maximum((largest > by).sum(axis=1, keepdims=True) - 1, 0)
        lowered: Floats = np.maximum(noisy - np.take_along_axis(by, last, axis=1), 0)
        return lowered

    def centred(self, grid: Grid) -> tuple[Floats, Floats]:
        """Return the sums of d and of d^2, with d as in `CentredSum`."""
        if Bins(grid) in self.numbers and grid.is_whole:
            bins, d = self.binned(grid), 2.0 * np.array(grid.starts) - grid.steps
            return np.asarray(bins @ d), np.asarray(bins @ d**2)
        count, _ = self.count(grid)
        total = self.numbers[CentredSum(grid)][:, 0].astype(np.float64)
        squares = self.numbers.get(CentredSquares(grid))
        if squares is None:
            return total, np.full_like(total, np.nan)
        return total, (squares[:, 0].astype(np.float64) + count * grid.steps**2) / 2


def computed(statistic: Statistic, grids: Mapping[str, Grid], sums: Sums) -> Any:
    """Return a statistic of each group: whole numbers of rows, else floats, NaN where hidden."""
    if statistic.kind == "count":
        grid = grids.get(statistic.column or "")
        return np.rint(sums.count(grid)[0]).astype(np.int64)
    grid = grids[statistic.column]  # type: ignore[index]
    if statistic.kind == "histogram":
        return sums.numbers[Bins(grid)]
    count, scale = sums.count(grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _FOLLOWS[statistic.kind](statistic, grid, sums, count)
    if statistic.kind == "sum":
        return found
    return np.where(count < max(_HIDES * scale, 1), np.nan, found)


def _sum(_: Statistic, grid: Grid, sums: Sums, count: Floats) -> Floats:
    return count * float(grid.lower + grid.upper) / 2 + sums.centred(grid)[0] * float(grid.step / 2)


def _mean(_: Statistic, grid: Grid, sums: Sums, count: Floats) -> Floats:
    mean = sums.centred(grid)[0] / count
    found = float(grid.lower + grid.upper) / 2 + mean * float(grid.step / 2)
    return np.where(np.abs(mean) <= grid.steps, found, np.nan)


def _variance(_: Statistic, grid: Grid, sums: Sums, count: Floats) -> Floats:
    """The variance with n - 1, as in pandas; NaN where it is negative."""
    total, squares = sums.centred(grid)
    found = (squares - total**2 / count) / (count - 1) * float(grid.step / 2) ** 2
    hidden = (found < 0) | (count <= 1) | (np.abs(total) > grid.steps * count)
    return np.where(hidden, np.nan, found)


def _std(statistic: Statistic, grid: Grid, sums: Sums, count: Floats) -> Floats:
    return np.sqrt(_variance(statistic, grid, sums, count))


def _percentile(statistic: Statistic, grid: Grid, sums: Sums, count: Floats) -> Floats:
    """As in pandas, between two rows in order; in bins as if rows were spread evenly."""
    up_to = sums.binned(grid).cumsum(axis=1)
    values, share = grid.values, float(statistic.percent / 100)
    found: Floats
    if grid.is_whole:
        place = np.maximum(count - 1, 0) * share
        low, high = (
            values[_first_at(up_to > rank[:, None])] for rank in (np.floor(place), np.ceil(place))
        )
        found = low + (place - np.floor(place)) * (high - low)
        return found
    wanted = up_to[:, -1] * share
    first, row = _first_at((up_to >= wanted[:, None]) & (up_to > 0)), np.arange(len(up_to))
    below = np.where(first > 0, up_to[row, first - 1], 0.0)
    inside = np.clip(np.nan_to_num((wanted - below) / (up_to[row, first] - below)), 0, 1)
    found = values[first] + inside * (values[first + 1] - values[first])
    return found


def _first_at(reached: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first place of each row that is True, the last one if none is."""
    last = reached.shape[1] - 1
    found: NDArray[np.intp] = np.where(reached.any(axis=1), reached.argmax(axis=1), last)
    return found


_FOLLOWS: dict[str, Callable[[Statistic, Grid, Sums, Floats], Floats]] = {
    "sum": _sum,
    "mean": _mean,
    "var": _variance,
    "std": _std,
    "percentile": _percentile,
}
