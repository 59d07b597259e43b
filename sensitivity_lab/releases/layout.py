"""What is measured, and with which shares of the privacy loss: chosen by the errors that follow.

A column can be measured as one histogram, as sums, or as both. No data are needed to choose: how
the noise of what is measured adds up in a statistic depends on the bounds alone, once it is
averaged over the means that the bounds allow, and the number of rows cancels in the ratio of two
errors. The layout and the shares are those with the least mean over all statistics of

    error / error if the statistic were asked for alone.

See docs/proofs.md, "The layout of a release".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .grid import Grid
from .measurements import Bins, CentredSquares, CentredSum, Measured, RowCount
from .statistics import Statistic

_SUMS = frozenset({"sum", "mean", "var", "std"})

_PARTS = 1000
"""Shares are whole thousandths."""

_MOST = 4096
"""Of more layouts than these the columns are chosen one by one."""


def layout_of(
    statistics: Sequence[Statistic], grids: Mapping[str, Grid], power: int
) -> tuple[list[Measured], list[Fraction]]:
    """Return what to measure, each thing once, and its shares of the loss, which add up to 1.

    Parameters
    ----------
    statistics : sequence of Statistic
        What is asked for.
    grids : mapping of str to Grid
        By column.
    power : {1, 2}
        The variance of noise is its share to this power, inverted: 2 for Laplace noise, which
        divides epsilon, and 1 for Gaussian noise, which divides rho.
    """
    alone = tuple(_alone(one, grids.get(one.column or ""), power) for one in statistics)
    options = [_options(statistics, column, grid) for column, grid in grids.items()]
    number = int(np.prod([len(some) for some in options]))
    every = product(*options) if number <= _MOST else [[some[0] for some in options]]
    best: tuple[float, list[Measured], NDArray[np.float64]] | None = None
    for chosen in every:
        flat = [one for some in chosen for one in some]
        sums = any(isinstance(one, CentredSum) for one in flat)
        # Sums need the number of rows beside them. Bins have it, as their total, so a count of its
        # own is only tried where one is asked for.
        counts = [True] if sums or not flat else [False, True]
        for counted in counts if any(one.kind == "count" for one in statistics) else counts[:1]:
            measured: list[Measured] = [RowCount()] * counted + flat
            weights = np.array([_weights(one, grids, measured) for one in statistics])
            shares = _best_shares(weights, np.array(alone), power)
            worth = _mean_ratio(weights, np.array(alone), shares, power)
            # Of layouts that are equally good the first one stays, whatever floats round.
            if best is None or worth < best[0] - 1e-9:
                best = worth, measured, shares
    if best is None:
        raise ValueError("nothing is asked for")
    return best[1], _as_fractions(best[2])


def _options(statistics: Sequence[Statistic], column: str, grid: Grid) -> list[list[Measured]]:
    """Return the ways to measure a column, each with all that its statistics need."""
    kinds = {one.kind for one in statistics if one.column == column}
    sums: list[Measured] = [CentredSum(grid)] if kinds & _SUMS else []
    sums += [CentredSquares(grid)] if kinds & {"var", "std"} else []
    binned: list[Measured] = [Bins(grid)]
    if kinds & {"percentile", "histogram"}:
        found = [[*binned, *sums]]
        return [binned, *found] if grid.is_whole and sums else found
    if not sums:  # counts of the column alone
        return [[], binned] if grid.is_whole else [[]]
    return [sums, binned] if grid.is_whole else [sums]


def _weights(
    statistic: Statistic, grids: Mapping[str, Grid], measured: Sequence[Measured]
) -> list[float]:
    """Return how much the variance of each measured number counts, for shares of 1.

    In centred half steps d from -L to L, averaged over means in the bounds; see the proofs.
    """
    grid = grids.get(statistic.column or "")
    of = dict.fromkeys(measured, 0.0)
    bins = [one for one in measured if isinstance(one, Bins)]
    if statistic.kind == "count":
        own = [one for one in bins if one.grid == grid and CentredSum(one.grid) not in of]
        counted = next(iter(own), None) or (RowCount() if RowCount() in of else bins[0])
        # The total of B bins has the noise of all B.
        of[counted] = float(counted.numbers)
        return list(of.values())
    grid = grids[statistic.column]  # type: ignore[index]
    if statistic.kind in ("percentile", "histogram"):
        of[Bins(grid)] = float(Bins(grid).numbers)
    elif CentredSum(grid) in of:
        for one, weight in zip(_sums_of(grid), _of_sums(statistic.kind, grid), strict=True):
            if weight:
                of[one] = weight
    else:
        of[Bins(grid)] = _of_bins(statistic.kind, grid)
    return list(of.values())


def _sums_of(grid: Grid) -> tuple[Measured, Measured, Measured]:
    return RowCount(), CentredSum(grid), CentredSquares(grid)


_CENTRES = np.linspace(-1, 1, 21)
"""Means over the bounds, as shares of L."""

_SPREAD = 1 / 6
"""The variance that is looked at, as a share of L^2: half of that of evenly spread records."""


@cache
def _of_sums(kind: str, grid: Grid) -> tuple[float, float, float]:
    """Return the weights of the count, the sum and the squares."""
    if kind == "mean":
        return float((_CENTRES**2).mean()), 1.0, 0.0
    if kind == "sum":
        return _offset(grid) ** 2, 1.0, 0.0
    # With L as 1, the sum of d^2 is (squares + n) / 2, and the variance V that over n, less m^2. An
    # error e of the squares moves it by e / (2 n), of the sum by 2 m e / n, and of n by
    # (1/2 + m^2 - V) e / n.
    count = float(((0.5 + _CENTRES**2 - _SPREAD) ** 2).mean())
    return count, float((4 * _CENTRES**2).mean()), 0.25


@cache
def _of_bins(kind: str, grid: Grid) -> float:
    """Return the weight of the bins, in the same unit: L is 1 for means, L^2 for variances."""
    d = np.linspace(-1, 1, len(grid.starts))
    # A row of bin d is worth middle + d half widths, so an error of the bin moves the sum by that.
    if kind == "sum":
        return float(((d + _offset(grid)) ** 2).sum())
    # Axis 0: the true mean m, axis 1: the bin's value d. An error e of a bin moves the mean by
    # (d - m) e / n, and the variance by ((d - m)^2 - V) e / n.
    apart = (d[None, :] - _CENTRES[:, None]) ** 2
    if kind == "mean":
        return float(apart.sum(axis=1).mean())
    return float(((apart - _SPREAD) ** 2).sum(axis=1).mean())


def _offset(grid: Grid) -> float:
    """Return the middle of the bounds in units of half their width."""
    return float((grid.lower + grid.upper) / (grid.upper - grid.lower))


def _alone(statistic: Statistic, grid: Grid | None, power: int) -> float:
    """Return the error of a statistic that is asked for alone, in the unit of `_weights`."""
    grids = {} if grid is None else {statistic.column or "": grid}
    ways = _options([statistic], statistic.column or "", grid) if grid else [[]]
    best = np.inf
    for way in ways:
        counted = not any(isinstance(one, Bins) for one in way)
        measured: list[Measured] = [RowCount()] * counted + way
        weights = np.array([_weights(statistic, grids, measured)])
        shares = _best_shares(weights, np.ones(1), power)
        best = min(best, _mean_ratio(weights, np.ones(1), shares, power))
    return float(best)


def _mean_ratio(
    weights: NDArray[np.float64],
    alone: NDArray[np.float64],
    shares: NDArray[np.float64],
    power: int,
) -> float:
    # A share s of epsilon gives a variance in proportion to s**-2 with Laplace noise, and to s**-1
    # with Gaussian noise.
    # weights @ shares**-power is the variance of each statistic; its root over `alone` the ratio.
    return float((np.sqrt(weights @ shares**-power) / alone).mean())


def _best_shares(
    weights: NDArray[np.float64], alone: NDArray[np.float64], power: int
) -> NDArray[np.float64]:
    """Return the shares with the least mean ratio of errors.

    The mean is convex in the shares. Where it is least, each share is in proportion to how much the
    mean falls with its logarithm; from equal shares these steps, damped, lead there.
    """
    shares = np.full(weights.shape[1], 1 / weights.shape[1])
    for _ in range(200):
        terms = weights * shares**-power  # axis 0: the statistic, axis 1: what is measured
        errors = np.sqrt(terms.sum(axis=1))
        pull = (terms / (errors * alone)[:, None]).sum(axis=0)
        # A number that no statistic needs keeps a share, so that no error divides by 0.
        pull = np.maximum(pull, 1e-6 * pull.max())
        # The geometric mean of the shares so far and of those that the pull asks for: it damps the
        # step.
        after = np.sqrt(shares * pull / pull.sum())
        shares = after / after.sum()
    return shares


def _as_fractions(shares: NDArray[np.float64]) -> list[Fraction]:
    """Return shares as whole parts, at least one each."""
    parts = np.maximum(np.rint(shares * _PARTS), 1).astype(int).tolist()
    # Rounded parts can add up to 999 or 1,001: over their own sum the shares add up to 1.
    return [Fraction(part, sum(parts)) for part in parts]
