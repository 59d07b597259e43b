"""Queries computed from power sums: count, sum, mean, variance and standard deviation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, as_python, listed, number_kind
from sensitivity_lab.universes.universe import FiniteUniverse

from .base import ExactQuery, Query, Runs, Sums, WithEmpty, as_terms

_check_ddof = number_kind(
    "a number of at least 0 and below 2**62", lambda given: 0 <= given < 2**62
)


@dataclass(frozen=True)
class Count(ExactQuery):
    """The number of records.

    Examples
    --------
    >>> Count()([4, 4, 9])
    3.0
    """

    moment: ClassVar[str | None] = "count"
    crosses_once: ClassVar[bool] = True
    centred: ClassVar[bool] = True
    on_records: ClassVar[bool] = True
    degree: ClassVar[int] = 0
    defined_from: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return "count"

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return n for every row."""
        return np.full(len(rows), rows.shape[1]).astype(rows.dtype)

    def denominator(self, size: int) -> Fraction:
        """Return 1."""
        return Fraction(1)

    def magnitude(self, size: int, largest: int) -> int:
        """Return n."""
        return size

    def __call__(self, x: Any) -> float:
        """Return the number of records of one dataset, shape (n,) or a table."""
        rows = as_pandas(x)
        if isinstance(rows, pd.DataFrame):
            return float(len(rows))
        return float(len(listed(rows, "a dataset must be a sequence of records")))

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return no run: the answer is the size."""
        none = np.zeros((0, len(sizes)), dtype=np.int64)
        return Runs(none, none, none, np.ones_like(sizes), sizes)

    def sums(self, universe: FiniteUniverse) -> Sums:
        """Return the sum of 1 over the records."""
        return Sums.additive(as_terms([1] * len(universe.values)))


@dataclass(frozen=True)
class Sum(ExactQuery):
    """The sum of the records.

    Examples
    --------
    >>> Sum()([4, 4, 9])
    17.0
    """

    moment: ClassVar[str | None] = "sum"
    crosses_once: ClassVar[bool] = True
    defined_from: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return "sum"

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return one run of weight 1."""
        return Runs.of_all(sizes, np.ones_like(sizes))

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of every row."""
        total: NDArray[Any] = rows.sum(axis=1)
        return total

    def denominator(self, size: int) -> Fraction:
        """Return 1."""
        return Fraction(1)


@dataclass(frozen=True)
class Mean(WithEmpty):
    """The sum of the records over their number.

    Parameters
    ----------
    empty : number, optional
        The answer on no records; see `WithEmpty`.

    Examples
    --------
    >>> Mean()([4, 4, 10])
    6.0
    """

    moment: ClassVar[str | None] = "mean"
    crosses_once: ClassVar[bool] = True
    centred: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return "mean"

    def runs(self, sizes: NDArray[np.int64]) -> Runs:
        """Return one run of weight 1 / n."""
        return Runs.of_all(sizes, sizes)

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of every row."""
        total: NDArray[Any] = rows.sum(axis=1)
        return total

    def denominator(self, size: int) -> Fraction:
        """Return n."""
        return Fraction(size)


@dataclass(frozen=True)
class Var(WithEmpty):
    """The variance, as in `numpy.var`: the sum of squared deviations over n - ddof.

    Arrow, Dask's arrays and scikit-learn's `StandardScaler` divide by n, too; ``ddof=1`` is pandas,
    Polars, DuckDB's `variance` and Dask's frames.

    Parameters
    ----------
    ddof : int, float, Fraction or Decimal, default 0
        Delta degrees of freedom, at least 0; the variance needs more than `ddof` records.
    empty : number, optional
        The answer on fewer records, such as on none; see `WithEmpty`.

    Raises
    ------
    InputError
        If `ddof` is not a number from 0 to 2**62.

    Examples
    --------
    >>> Var()([1, 2, 6]), Var(ddof=1)([1, 2, 6])
    (4.666666666666667, 7.0)
    """

    ddof: int | float | Fraction = 0

    moment: ClassVar[str | None] = "variance"
    centred: ClassVar[bool] = True
    degree: ClassVar[int] = 2
    _word: ClassVar[str] = "var"

    def __post_init__(self) -> None:
        """Check the parameters."""
        exact = _check_ddof("ddof", self.ddof)
        given = as_python(self.ddof)
        object.__setattr__(self, "ddof", exact if isinstance(given, Decimal) else given)
        super().__post_init__()

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return self._word if self.ddof == 0 else f"{self._word}_ddof_{self.ddof}"

    @property
    def defined_from(self) -> int:
        """The fewest records for which there is a variance."""
        return math.floor(self.ddof) + 1

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return n (sum of squares) - (sum)**2 of every row."""
        total = rows.sum(axis=1)
        squares = (rows * rows).sum(axis=1)
        numerators: NDArray[Any] = rows.shape[1] * squares - total * total
        return numerators

    def denominator(self, size: int) -> Fraction:
        """Return n (n - ddof)."""
        return size * (size - Fraction(self.ddof))

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and its intermediate results when no record exceeds `largest`."""
        return (size * largest) ** 2


@dataclass(frozen=True)
class Std(Var):
    """The standard deviation, as in `numpy.std`: the square root of the variance.

    Arrow and Dask's arrays divide by n, too; ``ddof=1`` is pandas, Polars, DuckDB's `stddev` and
    SciPy's `tstd`.

    Parameters
    ----------
    ddof : int, float or Fraction, default 0
        Delta degrees of freedom, at least 0; the deviation needs more than `ddof` records.
    empty : number, optional
        The answer on fewer records, such as on none, at least 0; see `WithEmpty`.

    Examples
    --------
    >>> Std()([1, 1, 3, 3]), Std(ddof=1).name
    (1.0, 'std_ddof_1')
    """

    root: ClassVar[bool] = True
    _word: ClassVar[str] = "std"


QUERIES: tuple[Query, ...] = (Mean(), Count(), Sum(), Std(), Var())
"""The queries that have a name."""


def of_moments(query: Query, size: int, total: int, squares: int, unit: int) -> Fraction:
    """Return the exact answer (its square, if a root) of a query computed from power sums.

    Parameters
    ----------
    query : Query
        With a `moment`.
    size : int
        The number of records.
    total, squares : int
        The sum of the records in units, and of their squares in units squared.
    unit : int
        The common denominator of the records.
    """
    if query.moment == "count":
        return Fraction(size)
    if query.moment != "variance":
        return Fraction(total, unit * (size if query.moment == "mean" else 1))
    free = size - Fraction(query.ddof)
    deviations = size * squares - total * total
    return Fraction(deviations * free.denominator, size * unit**2 * free.numerator)
