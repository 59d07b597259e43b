"""Queries: functions of a dataset whose sensitivity is asked for.

A query declares its structure, and engines read the declaration: `weights` of an order statistic,
the `moment` it is made of, or neither. To add a query, write one frozen dataclass here and give it
a name in `NAMED`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .arithmetic import Difference, Integers, Number, common_integers, nearest
from .errors import InputError, QueryError

Weights = tuple[tuple[int, Fraction], ...]
"""The ranks of an order statistic, counted from 0, with their weights; the weights sum to 1."""


class Query(ABC):
    """A function of a dataset.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    arithmetic : {"exact", "float"}
        "exact": the answer is a rational number, or the root of one, and `rational` computes it.
        "float": the answer is whatever floats the caller's function returns.
    root : bool
        Whether the answer is the square root of what `rational` returns.
    moment : {"count", "sum", "mean", "variance"} or None
        The power sums that the answer is made of; None if it is not made of power sums.
    centred : bool
        Whether adding a constant to all records changes the answers for all sizes by one constant.
    vectorized : bool
        Whether `evaluate` is quick on many rows at once.
    """

    arithmetic: ClassVar[Literal["exact", "float"]] = "exact"
    root: ClassVar[bool] = False
    moment: ClassVar[str | None] = None
    centred: ClassVar[bool] = True
    vectorized: bool = True

    @property
    @abstractmethod
    def name(self) -> str:
        """What tables and legends call the query."""

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset for which the query is defined."""
        return 1

    def weights(self, size: int) -> Weights | None:
        """Return ranks and weights for datasets of a size; None if no order statistic."""
        return None

    def rational(self, integers: Integers, unit: int) -> Fraction | None:
        """Return the exact answer on one dataset (its square, if `root`); None if "float"."""
        return None

    @abstractmethod
    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a number per row of `rows`, shape (datasets, n); see the subclasses."""

    @abstractmethod
    def __call__(self, x: Sequence[Number]) -> float:
        """Return the answer on one dataset, shape (n,)."""


class ExactQuery(Query):
    """A query whose answer is a polynomial of the records over a number that depends on n.

    Attributes
    ----------
    degree : int
        The degree of the polynomial: the answer scales with the records to this power.
    """

    degree: ClassVar[int] = 1

    @abstractmethod
    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the polynomial on every row.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n)
            A dataset per row, ascending: integers, as floats or as Python objects.

        Returns
        -------
        ndarray, shape (datasets,)
            Integers, in the type of `rows`.
        """

    @abstractmethod
    def denominator(self, size: int) -> Fraction:
        """Return what to divide `evaluate` by for datasets of this size."""

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and their intermediate results when no record exceeds `largest`."""
        return size * largest

    def rational(self, integers: Integers, unit: int) -> Fraction:
        """Return the exact answer on one dataset (its square, if `root`).

        Parameters
        ----------
        integers : ndarray of Python ints, shape (n,)
            The records times `unit`, ascending.
        unit : int
            The common denominator of the records.
        """
        if len(integers) < self.least_size:
            raise InputError(
                f"{self.name} needs at least {self.least_size} records, got {len(integers)}"
            )
        numerator = Fraction(int(self.evaluate(integers[None, :])[0]), unit**self.degree)
        return numerator / self.denominator(len(integers))

    def __call__(self, x: Sequence[Number]) -> float:
        """Return the float nearest to the exact answer on one dataset, shape (n,)."""
        records = x.tolist() if hasattr(x, "tolist") else list(x)
        integers, unit = common_integers(records)
        answer = self.rational(np.sort(integers), unit)
        return (
            Difference(answer, Fraction(0), root=True).nearest() if self.root else nearest(answer)
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
    degree: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return "count"

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return n for every row."""
        return np.full(len(rows), rows.shape[1]).astype(rows.dtype)

    def denominator(self, size: int) -> Fraction:
        """Return 1."""
        return Fraction(1)


@dataclass(frozen=True)
class Sum(ExactQuery):
    """The sum of the records.

    Examples
    --------
    >>> Sum()([4, 4, 9])
    17.0
    """

    moment: ClassVar[str | None] = "sum"
    centred: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return "sum"

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of every row."""
        total: NDArray[Any] = rows.sum(axis=1)
        return total

    def denominator(self, size: int) -> Fraction:
        """Return 1."""
        return Fraction(1)


@dataclass(frozen=True)
class Mean(ExactQuery):
    """The sum of the records over their number.

    Examples
    --------
    >>> Mean()([4, 4, 10])
    6.0
    """

    moment: ClassVar[str | None] = "mean"

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return "mean"

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of every row."""
        total: NDArray[Any] = rows.sum(axis=1)
        return total

    def denominator(self, size: int) -> Fraction:
        """Return n."""
        return Fraction(size)


@dataclass(frozen=True)
class Var(ExactQuery):
    """The variance, as `numpy.var`: the sum of squared deviations over n - ddof.

    Parameters
    ----------
    ddof : int, float or Fraction, default 0
        Delta degrees of freedom, at least 0; datasets must have more than `ddof` records.

    Examples
    --------
    >>> Var()([1, 2, 6]), Var(ddof=1)([1, 2, 6])
    (4.666666666666667, 7.0)
    """

    ddof: int | float | Fraction = 0

    moment: ClassVar[str | None] = "variance"
    degree: ClassVar[int] = 2
    _word: ClassVar[str] = "var"

    def __post_init__(self) -> None:
        """Check the parameters."""
        given = self.ddof
        number = isinstance(given, (int, float, Fraction, np.number)) and not isinstance(
            given, bool
        )
        if not number or not (math.isfinite(given) and given >= 0):
            raise InputError(f"ddof must be a number of at least 0, got {given!r}")

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return self._word if self.ddof == 0 else f"{self._word}_ddof_{self.ddof}"

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset for which the query is defined."""
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
        """Bound `evaluate` and their intermediate results when no record exceeds `largest`."""
        return (size * largest) ** 2


@dataclass(frozen=True)
class Std(Var):
    """The standard deviation, as `numpy.std`: the square root of the variance.

    Parameters
    ----------
    ddof : int, float or Fraction, default 0
        Delta degrees of freedom, at least 0; datasets must have more than `ddof` records.

    Examples
    --------
    >>> Std()([1, 1, 3, 3]), Std(ddof=1).name
    (1.0, 'std_ddof_1')
    """

    root: ClassVar[bool] = True
    _word: ClassVar[str] = "std"


@dataclass(frozen=True)
class Percentile(ExactQuery):
    """A percentile, as `numpy.percentile`.

    Parameters
    ----------
    q : int, float, Fraction or Decimal
        The percentage, from 0 to 100. ``q / 100`` is taken exactly.
    method : str, default "linear"
        One of the 13 interpolation methods of `numpy.percentile`.

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

    def __post_init__(self) -> None:
        """Check the parameters."""
        number = isinstance(self.q, Number) and not isinstance(self.q, bool)
        if not number or not 0 <= self.q <= 100:
            raise InputError(f"a percentile must be a number from 0 to 100, got {self.q!r}")
        if self.method not in PERCENTILE_METHODS:
            raise InputError(
                f"unknown percentile method {self.method!r}; "
                f"choose one of {', '.join(PERCENTILE_METHODS)}"
            )

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        plain = f"percentile_{self.q}"
        return plain if self.method == "linear" else f"{plain}_{self.method}"

    def weights(self, size: int) -> Weights:
        """Return the one or two ranks, counted from 0, that the percentile mixes."""
        rank = PERCENTILE_METHODS[self.method](size, Fraction(self.q) / 100)
        rank = min(max(rank, Fraction(0)), Fraction(size - 1))
        below = math.floor(rank)
        if rank == below:
            return ((below, Fraction(1)),)
        return ((below, 1 - (rank - below)), (below + 1, rank - below))

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
        """Bound `evaluate` and their intermediate results when no record exceeds `largest`."""
        return int(self.denominator(size)) * largest


@dataclass(frozen=True)
class _NamedPercentile(Percentile):
    """A percentile with a name of its own."""

    q: Number = field(default=50, init=False, repr=False)
    method: str = field(default="linear", init=False, repr=False)

    _word: ClassVar[str] = "median"

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return self._word


@dataclass(frozen=True)
class Median(_NamedPercentile):
    """The middle record, or the mean of the two middle ones.

    Examples
    --------
    >>> Median()([1, 2, 10]), Median()([1, 2, 3, 10])
    (2.0, 2.5)
    """


@dataclass(frozen=True)
class Min(_NamedPercentile):
    """The smallest record.

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

    Examples
    --------
    >>> Max()([2, 1, 10])
    10.0
    """

    q: Number = field(default=100, init=False, repr=False)
    _word: ClassVar[str] = "max"


@dataclass(frozen=True)
class Function(Query):
    """A caller's own function as a query; made by `from_function`."""

    function: Callable[[NDArray[Any]], Any]
    vectorized: bool = False
    label: str = "function"

    arithmetic: ClassVar[Literal["exact", "float"]] = "float"

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return self.label

    def __call__(self, x: Sequence[Number]) -> float:
        """Return the function's answer on one dataset, shape (n,), as a float."""
        return float(self.evaluate(np.asarray(x)[None, :])[0])

    def evaluate(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the function's answer on every row.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n)
            A dataset per row; the function gets copies.

        Returns
        -------
        ndarray of float, shape (datasets,)

        Raises
        ------
        QueryError
            If the function raises, or returns anything but a finite number per dataset; the
            message names the dataset.
        """
        if not self.vectorized:
            return np.array([self._one(row) for row in rows], dtype=np.float64)
        try:
            answers = np.asarray(self.function(rows.copy()), dtype=np.float64)
            good = answers.shape == (len(rows),) and bool(np.isfinite(answers).all())
        except Exception:  # noqa: BLE001 - the caller's code; row by row it is raised again
            good = False
        return answers if good else self._one_by_one(rows)

    def _one(self, row: NDArray[Any]) -> float:
        """Return the answer on one dataset, or raise QueryError with its records."""
        try:
            answer = self.function(row.copy())
        except Exception as error:
            raise QueryError(f"{self._on(row)} raised {type(error).__name__}: {error}") from error
        return self._number(answer, row)

    def _one_by_one(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Find the row on which a vectorized function fails, and raise for it."""
        for row in rows:
            try:
                answers = self.function(row[None, :].copy())
            except Exception as error:
                raise QueryError(
                    f"{self._on(row)} raised {type(error).__name__}: {error}"
                ) from error
            if np.shape(answers) != (1,):
                raise QueryError(
                    f"{self._on(row)} returned an array of shape {np.shape(answers)} for one row; "
                    "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
                )
            self._number(np.asarray(answers)[0], row)
        raise QueryError(
            f"query {self.name!r} works on single rows but not on {len(rows)} rows at once; "
            "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
        )

    def _number(self, answer: Any, row: NDArray[Any]) -> float:
        if isinstance(answer, (str, bytes)) or np.ndim(answer) != 0:
            raise QueryError(
                f"{self._on(row)} returned {answer!r}; a query returns one finite number"
            )
        try:
            number = float(answer)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise QueryError(
                f"{self._on(row)} returned {answer!r}; a query returns one finite number"
            )
        return number

    def _on(self, row: NDArray[Any]) -> str:
        return f"query {self.name!r} on the dataset {tuple(row.tolist())}"


def from_function(
    function: Callable[[NDArray[Any]], Any], *, vectorized: bool = False, name: str | None = None
) -> Function:
    """Make a query of a function.

    Parameters
    ----------
    function : callable
        Takes the records of one dataset, ascending, as a 1-D array (int64 or float64; of Python
        objects for Fraction, Decimal and large ints) and returns a finite number. It must give the
        same answer each time. It gets a copy, which it may write into.
    vectorized : bool, default False
        Whether `function` takes a 2-D array, one dataset per row, and returns one number per row.
        Much faster where numpy does the work.
    name : str, optional
        What tables and legends call it; by default the function's own name.

    Returns
    -------
    Function

    Raises
    ------
    InputError
        If `function` cannot be called.

    Examples
    --------
    >>> spread = from_function(lambda rows: rows[:, -1] - rows[:, 0], vectorized=True, name="range")
    >>> spread([1, 4, 9])
    8.0
    """
    if not callable(function):
        raise InputError(f"a query function must be callable, got {function!r}")
    label = str(name or getattr(function, "__name__", type(function).__name__))
    return Function(function, vectorized, "function" if label == "<lambda>" else label)


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

NAMED: dict[str, Query] = {
    query.name: query for query in (Mean(), Median(), Count(), Sum(), Std(), Var(), Min(), Max())
}
"""The queries that can be asked for by name, besides percentile_0 to percentile_100."""

DEFAULT_QUERIES = (
    *("mean", "median", "count", "sum", "std", "var"),
    *("percentile_25", "percentile_50", "percentile_75", "percentile_90"),
)
"""The ten queries of the article that the project starts from, in its order."""


def as_query(query: Any) -> Query:
    """Return a query given itself, its name or a function; raise InputError with the choices."""
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        if query in NAMED:
            return NAMED[query]
        prefix, _, number = query.partition("_")
        if prefix == "percentile" and number:
            try:
                return Percentile(int(number) if number.isdecimal() else float(number))
            except ValueError as error:
                raise InputError(
                    f"a percentile must be a number from 0 to 100, got {query!r}; "
                    "write for example 'percentile_25'"
                ) from error
    elif callable(query) and not isinstance(query, type):
        return from_function(query)
    raise InputError(
        f"unknown query {query!r}; choose one of {', '.join(NAMED)}, percentile_25 (any number "
        "from 0 to 100), a query such as Percentile(25), or a function of a 1-D array"
    )
