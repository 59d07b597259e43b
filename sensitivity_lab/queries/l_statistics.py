"""L-statistics: weighted sums of the records by rank."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    as_python,
    check_callable,
    check_text,
    finite_number,
    is_hashable,
    named,
    number_kind,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number

from .base import OneSize, Query, Runs, Weights, WithEmpty
from .order_statistics import Percentile

_MOST_WEIGHTS = 10_000_000
"""The most records that can have a weight each."""

_UNNAMED = "l_statistic"
"""The name of weights that the caller gave none."""

_check_fraction = replace(
    number_kind("a number from 0 to below 1/2", lambda given: 0 <= given < Fraction(1, 2)),
    advice=lambda _: "; for ten percent at each end write Fraction(1, 10)",
)


@dataclass(frozen=True)
class ByRank(WithEmpty):
    """A weighted sum of the records by rank; a subclass gives the weights.

    Parameters
    ----------
    empty : number, optional
        The answer on too few records, such as on none; see `WithEmpty`.

    Attributes
    ----------
    dense : bool
        Whether most ranks have a weight.
    """

    dense: ClassVar[bool] = True

    @abstractmethod
    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return the weights by rank, counted from 0, for datasets of a size; others are 0."""

    @lru_cache(maxsize=64)  # noqa: B019 - queries are small, equal ones share their entries
    def weights(self, size: int) -> Weights:
        """Return the ranks, counted from 0, that have a weight other than 0, with their weights."""
        if self.dense and size > _MOST_WEIGHTS:
            raise TooLargeError(
                f"{self.name} weighs each of {size:,} records, more than {_MOST_WEIGHTS:,}; choose "
                "a smaller size"
            )
        listed = sorted(self.weight_list(size).items())
        return tuple((rank, weight) for rank, weight in listed if weight)

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return the runs of the weights, of one size after the other."""
        return Runs.listed(self.weights, sizes)

    def most_runs(self, size: int) -> int:
        """Return as many as there are ranks, or 4 if few have a weight."""
        return size if self.dense else 4

    @lru_cache(maxsize=64)  # noqa: B019 - as above
    def runs_of(self, size: int) -> OneSize:
        """Return the runs (start, stop, weight) for one size, the unit and the constant."""
        return super().runs_of(size)

    def denominator(self, size: int) -> Fraction:
        """Return the common denominator of the weights."""
        return Fraction(self.runs_of(size)[1])

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the weighted sum of columns, times the denominator."""
        total: NDArray[Any] = np.zeros(len(rows), dtype=rows.dtype)
        for start, stop, weight in self.runs_of(rows.shape[1])[0]:
            one = stop == start + 1
            total = total + (rows[:, start] if one else rows[:, start:stop].sum(axis=1)) * weight
        return total

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and its intermediate results when no record exceeds `largest`."""
        runs, _, _ = self.runs_of(size)
        return sum(abs(weight) * (stop - start) for start, stop, weight in runs) * largest


@dataclass(frozen=True)
class LStatistic(ByRank):
    """A weighted sum of the records by rank, with weights of your own.

    Parameters
    ----------
    weight_function : callable
        Takes the number n of records and returns their n weights in ascending order of the records:
        ints, Fractions, Decimals or floats, each used exactly. It must always return the same
        weights. (A float such as 1 / n is rounded: write Fraction(1, n).)
    name : str, default "l_statistic"
        The name of the query in tables and legends.

    Raises
    ------
    InputError
        If `weight_function` cannot be called or has no hash, or `name` is not a text.
    QueryError
        During a search, if `weight_function` raises, or returns anything but n finite numbers.

    Examples
    --------
    >>> ends = LStatistic(lambda n: [1, *[0] * (n - 2), 1], name="sum_of_ends")
    >>> ends([4, 1, 9])
    10.0
    """

    weight_function: Callable[[int], Iterable[Number]]
    name: str = _UNNAMED

    def __post_init__(self) -> None:
        """Check the parameters."""
        accepted = "a function that takes the number of records and returns a weight for each"
        check_callable("weight_function", self.weight_function, accepted)
        if not is_hashable(self.weight_function):
            raise InputError(f"weight_function must have a hash, got {shown(self.weight_function)}")
        object.__setattr__(self, "name", named(check_text("name", self.name, "a text")))
        super().__post_init__()

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return the weights that the function returns; QueryError unless they are numbers."""
        asked = f"the weights of {shown(self.name)} for {size} records"
        try:
            # One more than needed tells that there are too many, however many there are.
            given = list(islice(iter(self.weight_function(size)), size + 1))
        except Exception as error:
            raise QueryError(f"{asked} raised {type(error).__name__}: {error}") from error
        numbers = [finite_number(weight) for weight in given]
        for weight, number in zip(given, numbers, strict=True):
            if number is None:
                raise QueryError(f"{asked} have {shown(weight)} among them; return finite numbers")
        if len(given) != size:
            number_of = f"more than {size}" if len(given) > size else len(given)
            raise QueryError(f"{asked} are {number_of}; return one for each record")
        return {rank: Fraction(weight) for rank, weight in enumerate(numbers) if weight}


@dataclass(frozen=True)
class Range(ByRank):
    """The largest record minus the smallest.

    Examples
    --------
    >>> Range()([4, 1, 9])
    8.0
    """

    name: ClassVar[str] = "range"
    dense: ClassVar[bool] = False
    centred: ClassVar[bool] = True

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return -1 for the smallest record and 1 for the largest."""
        return _added({0: Fraction(-1)}, {size - 1: Fraction(1)})


@dataclass(frozen=True)
class Midrange(ByRank):
    """The mean of the smallest and the largest record.

    Examples
    --------
    >>> Midrange()([4, 1, 9])
    5.0
    """

    name: ClassVar[str] = "midrange"
    dense: ClassVar[bool] = False
    centred: ClassVar[bool] = True

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return a half for the smallest record and a half for the largest."""
        return _added({0: Fraction(1, 2)}, {size - 1: Fraction(1, 2)})


@dataclass(frozen=True)
class InterquartileRange(ByRank):
    """The 75th percentile minus the 25th, as in `scipy.stats.iqr`.

    Parameters
    ----------
    method : str, default "linear"
        One of the 13 interpolation methods of `numpy.percentile`.

    Examples
    --------
    >>> InterquartileRange()([1, 2, 3, 4, 10])
    2.0
    """

    method: str = "linear"

    dense: ClassVar[bool] = False
    centred: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the method."""
        Percentile(25, self.method)
        super().__post_init__()

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return "iqr" if self.method == "linear" else f"iqr_{self.method}"

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return the weights of the one percentile less those of the other."""
        below = {rank: -weight for rank, weight in Percentile(25, self.method).weights(size)}
        return _added(below, dict(Percentile(75, self.method).weights(size)))


@dataclass(frozen=True)
class _Cut(ByRank):
    """An L-statistic that treats a fraction of the records at each end differently.

    Parameters
    ----------
    fraction : int, float, Fraction or Decimal
        The fraction of the records at each end, from 0 to below 1/2, taken exactly: of n
        records, the integer part of ``fraction * n`` at each end.
    """

    fraction: Number

    _word: ClassVar[str]
    centred: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the fraction."""
        _check_fraction("fraction", self.fraction)
        object.__setattr__(self, "fraction", as_python(self.fraction))
        super().__post_init__()

    @property
    def name(self) -> str:
        """The name in tables and legends: it has the percentage at each end."""
        exact = Fraction(self.fraction)
        short = Fraction(str(self.fraction)) if isinstance(self.fraction, float) else exact
        percent = 100 * short
        return f"{self._word}_{percent if percent.denominator == 1 else float(percent)}"

    def cut(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many records there are at each end, for datasets of many sizes."""
        share = Fraction(self.fraction)
        exact = sizes.astype(object)  # a fraction can have long terms
        return (exact * share.numerator // share.denominator).astype(np.int64)

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return the weights of all ranks in the runs."""
        runs, unit, _ = self.runs_of(size)
        weights: dict[int, Fraction] = {}
        for start, stop, weight in runs:
            weights = _added(weights, dict.fromkeys(range(start, stop), Fraction(weight, unit)))
        return weights

    def most_runs(self, size: int) -> int:
        """Return 3: at most the records that are kept, and two of them more."""
        return 3


@dataclass(frozen=True)
class TrimmedMean(_Cut):
    """The mean without a fraction of the records at each end, as in `scipy.stats.trim_mean`.

    Parameters
    ----------
    fraction : int, float, Fraction or Decimal
        The fraction of the records at each end, from 0 to below 1/2, taken exactly: of n
        records, the integer part of ``fraction * n`` is left out at each end.

    Notes
    -----
    scipy rounds ``fraction * n``; the float 0.3 is less than 3/10, so write ``Fraction(3, 10)``.

    Examples
    --------
    >>> TrimmedMean(0.25)([0, 2, 4, 90])
    3.0
    """

    _word: ClassVar[str] = "trimmed_mean"
    crosses_once: ClassVar[bool] = True

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return one run: equal weights for the records that are kept."""
        cut = self.cut(sizes)
        start, stop = cut[None], (sizes - cut)[None]
        return Runs(start, stop, np.ones_like(start), sizes - 2 * cut, np.zeros_like(sizes))


@dataclass(frozen=True)
class WinsorizedMean(_Cut):
    """The mean after moving a fraction of the records at each end to the nearest one kept.

    This is the mean of `scipy.stats.mstats.winsorize`.

    Parameters
    ----------
    fraction : int, float, Fraction or Decimal
        The fraction of the records at each end, from 0 to below 1/2, taken exactly: of n
        records, the integer part of ``fraction * n`` is moved at each end.

    Examples
    --------
    >>> WinsorizedMean(0.25)([0, 2, 4, 90])
    3.0
    """

    _word: ClassVar[str] = "winsorized_mean"

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return equal weights, and those of the ends for the nearest record that is kept."""
        cut = self.cut(sizes)
        first, stop = cut, sizes - cut
        return Runs(
            np.array([first, first, stop - 1]),
            np.array([stop, first + 1, stop]),
            np.array([np.ones_like(cut), cut, cut]),
            sizes,
            np.zeros_like(sizes),
        )


@dataclass(frozen=True)
class GiniMeanDifference(ByRank):
    """The mean absolute difference of two records, over all pairs.

    Examples
    --------
    >>> GiniMeanDifference()([1, 2, 4])
    2.0
    """

    name: ClassVar[str] = "gini_mean_difference"
    centred: ClassVar[bool] = True

    @property
    def defined_from(self) -> int:
        """Two: one record makes no pair."""
        return 2

    def weight_list(self, size: int) -> dict[int, Fraction]:
        """Return how many records are smaller less how many are larger, over the pairs."""
        pairs = math.comb(size, 2) or 1  # a single record has the weight 0
        return {rank: Fraction(2 * rank - size + 1, pairs) for rank in range(size)}


def _added(one: dict[int, Fraction], other: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return the sums of two sets of weights."""
    return {rank: one.get(rank, Fraction(0)) + other.get(rank, Fraction(0)) for rank in one | other}


QUERIES: tuple[Query, ...] = (
    *(Range(), Midrange(), InterquartileRange(), GiniMeanDifference()),
    *(TrimmedMean(Fraction(1, 10)), WinsorizedMean(Fraction(1, 10))),
)
"""The queries that have a name."""
