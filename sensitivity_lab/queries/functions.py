"""A caller's own function as a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
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
    named,
    shown,
    text_of,
)
from sensitivity_lab.errors import QueryError
from sensitivity_lab.universes.records import as_array, as_numbers
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers

from .base import Answer, Answered, Listed, Query
from .borrowed import borrowed
from .named import NAMED
from .order import depends_on_order
from .returned import Answers, NoNumbersError, alike, are_exact, numbers_of, shape_of

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
