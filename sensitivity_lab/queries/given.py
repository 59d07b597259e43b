"""Queries as callers give them: a query, its class or its name, or a function of their own.

The queries that have a name are listed in their files. A function whose name says too little is
told by the other library's statistic that it is, or calls.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import CodeType
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_callable,
    check_flag,
    check_text,
    check_whole,
    choice_kind,
    did_you_mean,
    finite_number,
    named,
    shown,
    text_of,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.universes.reading import as_array, as_numbers, is_column
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse, IntervalUniverse, of_numbers

from . import distinct, l_statistics, moments, order_statistics
from .base import Answer, Answered, Listed, Query, query_of_class
from .order import depends_on_order
from .returned_numbers import Answers, NoNumbersError, alike, are_exact, numbers_of, shape_of
from .rows.tables import RecordQuery

NAMED: dict[str, Query] = {
    query.name: query
    for file in (moments, order_statistics, l_statistics, distinct)
    for query in file.QUERIES
}
"""By name, except those of a percentage, such as percentile_25; functions get other names."""

_BELOW_HALF = "the percentage of a name must be a number from 0 to below 50"

_OF_A_PERCENTAGE: dict[str, tuple[Callable[[Any], Query], int, str]] = {
    "percentile": (order_statistics.Percentile, 1, "a percentile must be a number from 0 to 100"),
    "trimmed_mean": (l_statistics.TrimmedMean, 100, _BELOW_HALF),
    "winsorized_mean": (l_statistics.WinsorizedMean, 100, _BELOW_HALF),
}
"""By the name before the percentage: the query, what to divide by, and what is accepted."""


def by_name(name: str) -> Query | None:
    """Return the named query, None if there is none; InputError for a bad percentage."""
    kind = next((kind for kind in _OF_A_PERCENTAGE if name.startswith(f"{kind}_")), name)
    number = name[len(kind) + 1 :]
    if name in NAMED or not number:
        return NAMED.get(name)
    make, whole, accepted = _OF_A_PERCENTAGE[kind]
    try:
        q: Any = finite_number(int(number) if number.isdecimal() else Decimal(number))
        return make(q if whole == 1 or q is None else Fraction(q) / whole)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{accepted}, got {shown(name)}; write for example '{kind}_25'") from error


LIBRARIES = {
    "astropy": "astropy",
    "crick": "crick",
    "dask": "Dask",
    "datasketches": "datasketches",
    "ddsketch": "ddsketch",
    "duckdb": "DuckDB",
    "pandas": "pandas",
    "polars": "Polars",
    "pyarrow": "Arrow",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "sqlite3": "SQLite",
    "statsmodels": "statsmodels",
    "tdigest": "tdigest",
}
"""The libraries of docs/reference/whose.md, by their modules; NumPy's names are ours."""

HEADINGS = {
    "trimmed mean": r"trim",
    "winsorized mean": r"winsor|clip\b",
    "standard error of the mean": r"sem\b|std_?err|stde\b|std_mean|jackknife|bootstrap",
    "median absolute deviation": r"mad\b|mad_std|median_abs|qn_scale",
    "interquartile range": r"iqr|idealfourths|RobustScaler",
    "median of a quantile sketch": r"sketch|tdigest|approx|reservoir",
    "slope against the place of the record": r"slope|linregress|Regressor|RLM|QuantReg",
    "distinct values": r"n_?unique|distinct|\bunique",
    "skewness": r"skew|medcouple",
    "kurtosis": r"kurt",
    "mode": r"mode\b|value_counts|most_frequent|DummyClassifier",
    "standard deviation": r"std|standard|variation|biweight_scale|sigma_clipped",
    "variance": r"var|cov|kstat|moment|PCA",
    "smallest and largest": r"max\b|min\b|ptp|range\b|MinMaxScaler|MaxAbsScaler",
    "90th percentile": r"quantile|percentile|tdigest|describe\b",
    "median": r"median|sigma_clipped|center_",
    "mean": r"mean|avg|average|expectile|biweight_location|sigma_clipped|Dummy",
}
"""The headings of that page, each with what names of its calls have in them."""

_MOST = 3


def borrowed(function: Callable[..., Any]) -> str:
    """Return which library a function takes its statistic from, and where to read about it.

    Its names and texts are looked at, and those of functions of its package that it calls; nothing
    is run.
    """
    libraries, words = set[str](), set[str]()
    own = _root(getattr(function, "func", function))  # of a partial, as below
    seen, left = set[int](), [function]
    while left:
        one = left.pop()
        one = getattr(one, "func", one)
        if id(one) in seen:
            continue
        seen.add(id(one))
        root = _root(one)
        if root in LIBRARIES:
            libraries.add(LIBRARIES[root])
            words.add(str(getattr(one, "__name__", "")))
        elif root == own and inspect.isfunction(told := inspect.unwrap(one)):
            for code in _codes(told.__code__):
                names = {name for name in code.co_names if name in told.__globals__}
                left += [told.__globals__[name] for name in sorted(names)]
                texts = [text for text in code.co_consts if isinstance(text, str)]
                words |= {*code.co_names, *texts} - names
                # Modules that the function imports itself.
                roots = {name.partition(".")[0] for name in code.co_names}
                libraries |= {LIBRARIES[name] for name in roots & set(LIBRARIES)}
            left += inspect.getclosurevars(told).nonlocals.values()
    if not libraries:
        return ""
    given = " ".join(sorted(words))
    headings = [name for name, has in HEADINGS.items() if re.search(has, given, re.I)][:_MOST]
    under = f", under {', '.join(headings)}" if headings else ""
    return (
        f"{', '.join(sorted(libraries))}: what it computes there, and how far that moves, is in "
        f"docs/reference/whose.md{under}"
    )


def _root(one: Any) -> str:
    """Return the package that a module, or something of one, is in."""
    of = one.__name__ if inspect.ismodule(one) else str(getattr(one, "__module__", ""))
    return of.partition(".")[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Return the code of a function, and of those inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


_CLOSE = 1e-6
"""How far a vectorized function's floats may differ, among others and alone, relative to them."""

TWO_ANSWERS = (
    "it is random, or keeps state between calls; a query must give the same answer each time, so "
    "take the random numbers out of it, and let it change nothing that it reads later"
)
"""Why a function can give two answers on one dataset, and what to do."""


@dataclass(frozen=True)
class Function(Query):
    """A caller's own function as a query; made by `from_function`."""

    function: Callable[[NDArray[Any]], Any]
    vectorized: bool = False
    label: str = "function"
    named: bool = False
    defined_from: int = 0
    sorts: bool = False

    arithmetic: ClassVar[Literal["exact", "float"]] = "float"
    on_records: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return named(self.label)

    @property
    def borrowed(self) -> str:
        """Which other library's statistic this is, in words."""
        return borrowed(self.function)

    def __call__(self, x: Any) -> Answer:
        """Return the function's answer on one dataset: an array, shape (n,), or a DataFrame."""
        if isinstance(x, pd.DataFrame):
            return _as_floats(self.evaluate([x]))
        return _as_floats(self.evaluate(as_array(as_numbers(x))[None]))

    def on(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        return _as_floats(self._of_one(universe, data))

    def answered(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answered:
        """Return the answer on a dataset given by multiplicities, as it is."""
        return as_answered(np.asarray(self._of_one(universe, data)[0]))

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> Answers:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        if universe.numeric:
            return self.evaluate(universe.given(rows))
        return self.evaluate([universe.given(row) for row in rows])

    def _of_one(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answers:
        return self.on_rows(universe, repeated(np.arange(len(data)), data)[None, :])

    def check_answer(
        self, universe: FiniteUniverse, data: NDArray[np.int64], answer: Answered
    ) -> None:
        """Raise QueryError if a dataset gets one answer alone and another among others."""
        if self.vectorized:
            among = np.asarray(answer)
            self._check_alone(
                of_numbers(universe).array[repeated(np.arange(len(data)), data)], among, among
            )

    def depends_on_order(self, universe: FiniteUniverse, pair: Listed, evaluated: int) -> bool:
        """Tell whether the order of the records moves an answer; not if a release sorts them."""
        return not self.sorts and depends_on_order(self, universe, pair(), evaluated)

    def evaluate(self, rows: Any) -> Answers:
        """Return the function's answer on every dataset.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n), or list of DataFrame
            The datasets; the function gets copies.

        Returns
        -------
        ndarray of numbers, shape (datasets,) or (datasets, d)
            Of int64, float64 or Python objects; none is rounded.

        Raises
        ------
        QueryError
            If the function raises; if it returns anything but a finite number per dataset, or
            arrays of one length; if a vectorized one answers a row differently among other rows.
            The message names the dataset.
        """
        if not self.vectorized:
            return self._together([self._one(row) for row in rows], rows)
        if not isinstance(rows, np.ndarray):
            raise QueryError(
                f"query {shown(self.name)} is vectorized over rows of numbers, and cannot take "
                "tables; "
                "give a function of one DataFrame"
            )
        try:
            answers = numbers_of(self.function(rows.copy()))
            good = answers.shape[:1] == (len(rows),) and answers.ndim <= 2 and answers.size > 0
        except Exception:  # noqa: BLE001 - the caller's code; row by row it is raised again
            good = False
        if not good:
            return self._one_by_one(rows)
        if len(rows) > 1:
            for place in sorted({0, len(rows) // 2, len(rows) - 1}):
                self._check_alone(rows[place], np.asarray(answers[place]), answers)
        return answers

    def _check_alone(self, row: NDArray[Any], among: Answers, others: Answers) -> None:
        """Raise QueryError if a row is answered differently alone, beyond rounding."""
        alone = self._alone(row)
        if alone.shape == among.shape:
            exact = are_exact(alone) and are_exact(among)
            if bool(np.all(alone == among)) or (
                not exact and _are_close(alone, among, others, row)
            ):
                return
        twice = self._alone(row)
        if not np.array_equal(alone, twice):
            raise QueryError(
                f"{self._on(row)} returned {alone.tolist()}, and {twice.tolist()} when it was "
                f"called again: {TWO_ANSWERS}"
            )
        raise QueryError(
            f"{self._on(row)} returned {among.tolist()} among other datasets and {alone.tolist()} "
            "alone; a vectorized function gets shape (datasets, n) and answers each row from this "
            "row only, for example with axis=1"
        )

    def _asked(self, given: Any, row: Any) -> Any:
        """Return what the function returns, or raise QueryError with the records of a row."""
        try:
            return self.function(given.copy())
        except Exception as error:
            raise QueryError(
                f"{self._on(row)} raised {type(error).__name__}: {error}{_without(row)}"
            ) from error

    def _one(self, row: Any) -> Answers:
        """Return the answer on one dataset, or raise QueryError with its records."""
        return self._numbers(self._asked(row, row), row)

    def _alone(self, row: NDArray[Any]) -> Answers:
        """Return a vectorized function's answer on one row, or raise QueryError."""
        answers = self._asked(row[None, :], row)
        shape = shape_of(answers)
        if shape is not None and shape[:1] != (1,):
            raise QueryError(
                f"{self._on(row)} returned an array of shape {shape} for one row; "
                "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
            )
        return self._numbers(answers if shape == () or len(answers) != 1 else answers[0], row)

    def _together(self, answers: list[Answers], rows: Any) -> Answers:
        """Return answers of one shape as one array, or raise QueryError."""
        for answer, row in zip(answers, rows, strict=True):
            if answer.shape != answers[0].shape:
                one, other = (_shape(these) for these in (answers[0], answer))
                raise QueryError(
                    f"{self._on(row)} returned {other}, on another dataset {one}; a query returns "
                    "a number, or an array of one fixed length"
                )
        return np.stack(alike(answers))

    def _one_by_one(self, rows: NDArray[Any]) -> Answers:
        """Find the row on which a vectorized function fails, and raise for it."""
        for row in rows:
            self._alone(row)
        raise QueryError(
            f"query {shown(self.name)} works on single rows but not on {len(rows)} rows at once; "
            "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
        )

    def _numbers(self, answer: Any, row: Any) -> Answers:
        """Return a number, or an array of them; raise QueryError for anything else."""
        advice = "a query returns one finite number, or a 1-D array of them"
        try:
            numbers = numbers_of(answer)
            if numbers.ndim <= 1 and numbers.size:
                return numbers
        except NoNumbersError as error:
            advice = str(error) or advice
        came = shown(answer.tolist() if hasattr(answer, "tolist") else answer)
        if isinstance(answer, pd.DataFrame | pd.Series):
            came = f"{type(answer).__name__} of shape {shape_of(answer)}"
        if advice.startswith("a masked entry"):
            came = f"a masked answer: {came}"
        raise QueryError(f"{self._on(row)} returned {came}; {advice}{_without(row)}")

    def _on(self, row: Any) -> str:
        if isinstance(row, pd.DataFrame):
            records = tuple(row.itertuples(index=False, name=None))
        else:
            records = tuple(row.tolist())
        return f"query {shown(self.name)} on the dataset {text_of(records)}"


def _without(row: Any) -> str:
    """Return the end of a message about the empty dataset: both ways out."""
    if len(row):
        return ""
    return (
        "; nobody is a dataset, too: return a public number for no records, or leave it out with "
        "sl.from_function(f, least_size=1), and it is public that there is a record"
    )


def as_answered(answer: Answers) -> Answered:
    """Return an answer, a number or an array of them, with Fractions for whole numbers."""
    numbers = [Fraction(one) if isinstance(one, int) else one for one in answer.ravel().tolist()]
    return tuple(numbers) if answer.ndim else numbers[0]


def _as_floats(answers: Answers) -> Answer:
    """Return the answer on the only dataset as the nearest floats."""
    numbers = [float(one) for one in answers.ravel().tolist()]
    return numbers[0] if answers.ndim == 1 else tuple(numbers)


def _are_close(alone: Answers, among: Answers, others: Answers, row: NDArray[Any]) -> bool:
    """Tell whether answers in floats differ no more than the order of additions can explain."""
    largest = float(np.abs(others.astype(np.float64)).max())
    slack = slack_of(largest, float(np.abs(row.astype(np.float64)).max(initial=0.0)))
    with np.errstate(over="ignore"):
        gaps = np.abs(alone.astype(np.float64) - among.astype(np.float64))
    return bool((gaps <= slack).all())


def slack_of(answers: float, records: float) -> float:
    """Return how far floats of a vectorized function may differ, among other rows and alone.

    `answers` and `records` are the largest absolute values of these: an answer may have lost the
    leading digits of the records.
    """
    return _CLOSE * answers + _CLOSE**2 * records


def _shape(answer: Answers) -> str:
    return "a number" if answer.ndim == 0 else f"{len(answer)} numbers"


def from_function(
    function: Callable[[NDArray[Any]], Any],
    *,
    vectorized: bool = False,
    name: str | None = None,
    least_size: int = 0,
    order: str | None = None,
) -> Function:
    """Make a query of a function.

    Parameters
    ----------
    function : callable
        Takes the records of one dataset, ascending, as a 1-D array (int64 or float64; of Python
        objects for Fraction, Decimal and large ints, which are not rounded), or on a universe of
        rows as a DataFrame. It returns a finite number, or a 1-D array of them, always of the same
        length. It must give the same answer each time: a search repeats at most 64 calls, and
        raises a QueryError if an answer differs. It gets a copy, so it may write into its argument.
    vectorized : bool, default False
        Whether `function` takes a 2-D array, one dataset per row, and returns one answer per row.
        This is much faster where numpy does the work; tables cannot use it. Each answer must come
        from its own row: some answers, and those on the witness, are compared with answers on
        single rows.
    name : str, optional
        The name in tables and legends; by default the function's own name, with "(function)"
        after it where a query of the lab has that name.
    least_size : int, default 0
        The fewest records that `function` takes. By default it is called with no records, too, if
        the sizes that are asked for reach the empty dataset. With 1 no dataset is empty, and that
        must be public.
    order : {"sorted"}, optional
        A dataset is a multiset, shown to `function` in ascending order. If the answer on some
        datasets is another in another order, the result says so, and noise is refused for it.
        "sorted" says that the release sorts its records, too. The sensitivity of a function of
        ordered records is that of `sensitivity_lab.spaces.sequences`.

    Returns
    -------
    Function

    Raises
    ------
    InputError
        If `function` cannot be called, or another argument is not acceptable.

    Notes
    -----
    Ints, Fractions and Decimals that a function returns are compared exactly, however large, and
    the result says ``arithmetic="exact"``. Floats are compared as they are, but the function may
    have rounded them, so the result says ``arithmetic="float"`` and has no `exact` and no `upper`.
    numpy's own sums of int64 wrap around beyond 2**63: such an answer is what the function returns.

    Examples
    --------
    >>> import numpy as np
    >>> spread = from_function(lambda rows: np.ptp(rows, axis=1), vectorized=True, name="range")
    >>> spread([1, 4, 9])
    8.0
    """
    check_callable("function", function, "a function of a dataset")
    if name is not None:
        check_text("name", name, "a text")
    vectorized = check_flag("vectorized", vectorized)
    label = str(name or getattr(function, "__name__", type(function).__name__))
    if label == "<lambda>":
        label = "function"
    elif label in NAMED and not name:
        label += " (function)"
    least = check_whole("least_size", least_size, "a number of records, at least 0", least=0)
    choice_kind(("sorted",)).or_none("order", order)
    return Function(function, vectorized, label, bool(name), least, order == "sorted")


_ELSEWHERE = {
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("sd", "stdev", "stddev", "standard_deviation"), "std"),
    "variance": "var",
    "total": "sum",
    "minimum": "min",
    "maximum": "max",
    "len": "count",
    "nunique": "count_distinct",
    "gini": "gini_mean_difference",
}
"""Names of queries elsewhere, and here."""

DEFAULT_QUERIES = (
    *("mean", "median", "count", "sum", "std", "var"),
    *("percentile_25", "percentile_50", "percentile_75", "percentile_90"),
)
"""The ten queries of the article that the project starts from, in its order."""


def as_query(query: Any) -> Query:
    """Return a query, given itself, its class or name, or a function; else InputError says which.

    A class of queries must need no arguments.
    """
    query = query_of_class(query)
    if isinstance(query, RecordQuery):
        return copy(query)  # it evaluates predicates again
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        known = by_name(query)
        if known is not None:
            return known
    elif callable(query) and not isinstance(query, type):
        return from_function(query)
    raise InputError(
        f"unknown query {shown(query)};"
        f" choose one of {', '.join(NAMED)}, percentile_25 (any number "
        "from 0 to 100), a query such as Percentile(25), or a function of a 1-D array"
        f"{_meant(query)}"
    )


def _meant(query: Any) -> str:
    """Return the end of the message about an unknown query: what may be meant."""
    if isinstance(query, list | tuple) and query and all(isinstance(one, str) for one in query):
        return "; one query is answered here, sensitivity_curves takes several"
    if isinstance(query, FiniteUniverse | IntervalUniverse) or is_column(query):
        return "; the universe is the first argument, the query the second"
    if not isinstance(query, str) or len(query) > 40:
        return ""
    known = query.lower()
    if known == "histogram":
        return "; write Histogram(column, categories=...) or Histogram(column, bins=...), of rows"
    percent = re.fullmatch(r"(?:[pq]|quantile_)(\d{1,2}|0?\.\d+)", known)
    if percent:
        times = 100 if "." in known else 1
        known = f"percentile_{times * float(percent[1]):.12g}"
    here = _ELSEWHERE.get(known, known)
    if here in NAMED or here != query.lower():
        return f"; did you mean {here!r}?"
    return did_you_mean(query, NAMED)
