"""Queries that are order statistics: percentile, median, min and max."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import as_python, check_choice, number_kind, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number

from .base import Query, Runs, Weights, WithEmpty, denominator_of


def at_ranks(weights: Weights, record: Callable[[int], int], unit: int) -> Fraction:
    """Return the exact answer of an order statistic on one dataset.

    Parameters
    ----------
    weights : sequence of (int, Fraction)
        The ranks that count, from 0, and their weights.
    record : callable
        Returns the record of a rank, in units.
    unit : int
        The common denominator of the records.
    """
    below = denominator_of(weights)
    total = sum(int(weight * below) * record(rank) for rank, weight in weights)
    return Fraction(total, below * unit)


@dataclass(frozen=True)
class Percentile(WithEmpty):
    """A percentile, as in `numpy.percentile`.

    pandas' `quantile`, DuckDB's `quantile_cont`, SQLite's `percentile` and Arrow's `quantile` are
    the default; DuckDB's `quantile_disc` is "inverted_cdf". Polars' `quantile` is none of the
    methods unless it says "linear"; see docs/reference/whose.md.

    Parameters
    ----------
    q : int, float, Fraction or Decimal
        The percentage, from 0 to 100. ``q / 100`` is exact.
    method : str, default "linear"
        One of the 13 interpolation methods of `numpy.percentile`.
    empty : number, optional
        The answer on no records; see `WithEmpty`.

    Notes
    -----
    Where a discontinuous method jumps, `numpy.percentile` may land on the other side of the jump,
    because it rounds ``q / 100`` to a float first.

    References
    ----------
    R. J. Hyndman and Y. Fan, Sample quantiles in statistical packages, The American Statistician
    50(4), 1996: definitions 1 to 9 are the methods from "inverted_cdf" to "normal_unbiased".

    Examples
    --------
    >>> Percentile(90)([1, 2, 3, 10]), Percentile(50, method="lower")([1, 2, 3, 10])
    (7.9, 2.0)
    """

    q: Number
    method: str = "linear"

    centred: ClassVar[bool] = True
    crosses_once: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        exact = _check_percentile("a percentile", self.q)
        if exact.denominator > _FINEST:
            raise InputError(
                f"a percentile must be a multiple of 2**-128 or coarser, got {shown(self.q)}"
            )
        object.__setattr__(self, "q", as_python(self.q))
        check_choice("method", self.method, PERCENTILE_METHODS)
        super().__post_init__()

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        plain = f"percentile_{self.q}"
        return plain if self.method == "linear" else f"{plain}_{self.method}"

    @lru_cache(maxsize=256)  # noqa: B019 - queries are small, equal ones share their entries
    def weights(self, size: int) -> Weights:
        """Return the one or two ranks, counted from 0, that the percentile mixes."""
        rank = PERCENTILE_METHODS[self.method](size, Fraction(self.q) / 100)
        rank = min(max(rank, Fraction(0)), Fraction(size - 1))
        below = math.floor(rank)
        if rank == below:
            return ((below, Fraction(1)),)
        return ((below, 1 - (rank - below)), (below + 1, rank - below))

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return the one or two ranks for datasets of many sizes, as `weights` for each."""
        rank_of, q = PERCENTILE_METHODS[self.method], Fraction(self.q) / 100
        start = rank_of(0, q)
        step = rank_of(1, q) - start
        unit = math.lcm(start.denominator, step.denominator)
        largest = unit * (abs(step) + 1) * int(sizes.max()) + unit * abs(start)
        if self.method not in _AFFINE or largest >= 2**62:
            return Runs.listed(self.weights, sizes)
        # In whole numbers of units, so that nothing is rounded; cut off at the first and last rank.
        position = np.clip(sizes * int(step * unit) + int(start * unit), 0, (sizes - 1) * unit)
        rank, following = np.divmod(position, unit)
        ranks, weights = rank[None], unit - following[None]
        if following.any():
            # Behind the last rank the weight is 0.
            ranks, weights = np.array([rank, rank + 1]), np.array([unit - following, following])
        units, none = np.full(len(sizes), unit), np.zeros(len(sizes), dtype=np.int64)
        return Runs(ranks, np.minimum(ranks + 1, sizes), weights, units, none)

    def most_runs(self, size: int) -> int:
        """Return 2: two ranks."""
        return 2

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the weighted sum of columns, times the denominator."""
        size = rows.shape[1]
        unit = self.denominator(size)
        parts = [rows[:, rank] * int(weight * unit) for rank, weight in self.weights(size)]
        numerators: NDArray[Any] = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return numerators

    def denominator(self, size: int) -> Fraction:
        """Return the common denominator of the weights."""
        return Fraction(self.weights(size)[0][1].denominator)

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and its intermediate results when no record exceeds `largest`."""
        return int(self.denominator(size)) * largest


@dataclass(frozen=True)
class _NamedPercentile(Percentile):
    """A percentile with its own name."""

    q: Number = field(default=50, init=False, repr=False)
    method: str = field(default="linear", init=False, repr=False)

    _word: ClassVar[str] = "median"

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return self._word


@dataclass(frozen=True)
class Median(_NamedPercentile):
    """The middle record, or the mean of the two middle ones.

    The `median` of NumPy, pandas, Polars, DuckDB (of floats) and SQLite; Dask's depends on the
    chunks.

    Parameters
    ----------
    empty : number, optional
        The answer on no records; see `WithEmpty`.

    Examples
    --------
    >>> Median()([1, 2, 10]), Median()([1, 2, 3, 10])
    (2.0, 2.5)
    """


@dataclass(frozen=True)
class Min(_NamedPercentile):
    """The smallest record.

    Parameters
    ----------
    empty : number, optional
        The answer on no records; see `WithEmpty`.

    Examples
    --------
    >>> Min()([2, 1, 10])
    1.0
    """

    q: Number = field(default=0, init=False, repr=False)
    _word: ClassVar[str] = "min"


@dataclass(frozen=True)
class Max(_NamedPercentile):
    """The largest record.

    Parameters
    ----------
    empty : number, optional
        The answer on no records; see `WithEmpty`.

    Examples
    --------
    >>> Max()([2, 1, 10])
    10.0
    """

    q: Number = field(default=100, init=False, repr=False)
    _word: ClassVar[str] = "max"


_FINEST = 2**128
"""The largest denominator of a percentage: beyond, floats could not hold the weights."""

_check_percentile = number_kind("a number from 0 to 100", lambda given: 0 <= given <= 100)


def _round_half_even(value: Fraction) -> Fraction:
    return Fraction(round(value))


def _hyndman_fan(alpha: Fraction, beta: Fraction) -> Callable[[int, Fraction], Fraction]:
    """Return the continuous definition with these plotting positions, as a rank from 0."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _average_at_jumps(n: int, q: Fraction) -> Fraction:
    position = n * q
    return (
        position - Fraction(1, 2)
        if position.denominator == 1
        else Fraction(math.ceil(position) - 1)
    )


def _midpoint(n: int, q: Fraction) -> Fraction:
    position = (n - 1) * q
    return Fraction(math.floor(position) + math.ceil(position), 2)


PERCENTILE_METHODS: dict[str, Callable[[int, Fraction], Fraction]] = {
    "inverted_cdf": lambda n, q: Fraction(math.ceil(n * q) - 1),
    "averaged_inverted_cdf": _average_at_jumps,
    "closest_observation": lambda n, q: _round_half_even(n * q) - 1,
    "interpolated_inverted_cdf": _hyndman_fan(Fraction(0), Fraction(1)),
    "hazen": _hyndman_fan(Fraction(1, 2), Fraction(1, 2)),
    "weibull": _hyndman_fan(Fraction(0), Fraction(0)),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": _hyndman_fan(Fraction(1, 3), Fraction(1, 3)),
    "normal_unbiased": _hyndman_fan(Fraction(3, 8), Fraction(3, 8)),
    "lower": lambda n, q: Fraction(math.floor((n - 1) * q)),
    "higher": lambda n, q: Fraction(math.ceil((n - 1) * q)),
    "midpoint": _midpoint,
    "nearest": lambda n, q: _round_half_even((n - 1) * q),
}
"""The rank, counted from 0 and perhaps between two records, of the q-quantile of n records."""

_AFFINE = frozenset(
    {
        "linear",
        "interpolated_inverted_cdf",
        "hazen",
        "weibull",
        "median_unbiased",
        "normal_unbiased",
    }
)
"""The methods whose rank is a n + b, before it is cut off."""

QUERIES: tuple[Query, ...] = (Median(), Min(), Max())
"""The queries that have a name, except percentile_0 to percentile_100."""
