"""A caller's own function as a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_flag, check_text, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.universe import Universe

from .base import Answer, Query


@dataclass(frozen=True)
class Function(Query):
    """A caller's own function as a query; made by `from_function`."""

    function: Callable[[NDArray[Any]], Any]
    vectorized: bool = False
    label: str = "function"

    arithmetic: ClassVar[Literal["exact", "float"]] = "float"
    on_records: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return self.label

    def __call__(self, x: Any) -> Answer:
        """Return the function's answer on one dataset: an array, shape (n,), or a DataFrame."""
        given = x if isinstance(x, pd.DataFrame) else np.asarray(x)
        return _as_answer(self.evaluate([given] if isinstance(x, pd.DataFrame) else given[None]))

    def on(self, universe: Universe, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        places = np.repeat(np.arange(len(data)), data)
        return _as_answer(self.on_rows(universe, places[None, :]))

    def on_rows(self, universe: Universe, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        if universe.numeric:
            return self.evaluate(universe.given(rows))
        return self.evaluate([universe.given(row) for row in rows])

    def evaluate(self, rows: Any) -> NDArray[np.float64]:
        """Return the function's answer on every dataset.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n), or list of DataFrame
            The datasets; the function gets copies.

        Returns
        -------
        ndarray of float, shape (datasets,) or (datasets, d)

        Raises
        ------
        QueryError
            If the function raises, or returns anything but a finite number per dataset, or arrays
            of one length; the message names the dataset.
        """
        if not self.vectorized:
            return self._together([self._one(row) for row in rows], rows)
        if not isinstance(rows, np.ndarray):
            raise QueryError(
                f"query {self.name!r} is vectorized over rows of numbers, and cannot take tables; "
                "give a function of one DataFrame"
            )
        try:
            given = np.asarray(self.function(rows.copy()))
            good = given.shape[:1] == (len(rows),) and given.ndim <= 2
            good = good and given.size > 0 and given.dtype.kind in "biufO"
            answers = given.astype(np.float64) if good else np.empty(0)
            good = good and bool(np.isfinite(answers).all())
        except Exception:  # noqa: BLE001 - the caller's code; row by row it is raised again
            good = False
        return answers if good else self._one_by_one(rows)

    def _one(self, row: Any) -> NDArray[np.float64]:
        """Return the answer on one dataset, or raise QueryError with its records."""
        try:
            answer = self.function(row.copy())
        except Exception as error:
            raise QueryError(f"{self._on(row)} raised {type(error).__name__}: {error}") from error
        return self._numbers(answer, row)

    def _together(self, answers: list[NDArray[np.float64]], rows: Any) -> NDArray[np.float64]:
        """Return answers of one shape as one array, or raise QueryError."""
        for answer, row in zip(answers, rows, strict=True):
            if answer.shape != answers[0].shape:
                one, other = (_shape(these) for these in (answers[0], answer))
                raise QueryError(
                    f"{self._on(row)} returned {other}, on another dataset {one}; a query returns "
                    "a number, or an array of one fixed length"
                )
        return np.array(answers)

    def _one_by_one(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Find the row on which a vectorized function fails, and raise for it."""
        for row in rows:
            try:
                answers = self.function(row[None, :].copy())
            except Exception as error:
                raise QueryError(
                    f"{self._on(row)} raised {type(error).__name__}: {error}"
                ) from error
            answers = _as_array(answers)
            if np.shape(answers)[:1] != (1,):
                raise QueryError(
                    f"{self._on(row)} returned an array of shape {np.shape(answers)} for one row; "
                    "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
                )
            self._numbers(np.asarray(answers)[0], row)
        raise QueryError(
            f"query {self.name!r} works on single rows but not on {len(rows)} rows at once; "
            "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
        )

    def _numbers(self, answer: Any, row: Any) -> NDArray[np.float64]:
        """Return a number, or an array of them, as floats; raise QueryError for anything else."""
        came = shown(answer.tolist() if hasattr(answer, "tolist") else answer)
        if isinstance(answer, pd.DataFrame | pd.Series):
            came = f"{type(answer).__name__} of shape {answer.shape}"
        wrong = QueryError(
            f"{self._on(row)} returned {came}; a query returns one finite number, or a 1-D "
            "array of them"
        )
        try:
            if isinstance(answer, (str, bytes)) or np.iscomplexobj(answer):
                raise wrong
            numbers = np.asarray(answer).astype(np.float64)
        except Exception:  # noqa: BLE001 - whatever cannot be made numbers is no answer
            raise wrong from None
        text = np.asarray(answer).dtype.kind not in "biufO"
        if text or numbers.ndim > 1 or not numbers.size or not np.isfinite(numbers).all():
            raise wrong
        return numbers

    def _on(self, row: Any) -> str:
        if isinstance(row, pd.DataFrame):
            records = tuple(row.itertuples(index=False, name=None))
        else:
            records = tuple(row.tolist())
        return f"query {self.name!r} on the dataset {records}"


def _as_answer(answers: NDArray[np.float64]) -> Answer:
    """Return the answer on the only dataset."""
    return float(answers[0]) if answers.ndim == 1 else tuple(answers[0].tolist())


def _as_array(answers: Any) -> NDArray[Any]:
    """Return what a vectorized function returned as an array; one of objects if it is none."""
    try:
        return np.asarray(answers)
    except Exception:  # noqa: BLE001 - whatever cannot be made an array is a single object
        alone = np.empty((), dtype=object)
        alone[()] = answers
        return alone


def _shape(answer: NDArray[np.float64]) -> str:
    return "a number" if answer.ndim == 0 else f"{len(answer)} numbers"


def from_function(
    function: Callable[[NDArray[Any]], Any], *, vectorized: bool = False, name: str | None = None
) -> Function:
    """Make a query of a function.

    Parameters
    ----------
    function : callable
        Takes the records of one dataset, ascending, as a 1-D array (int64 or float64; of Python
        objects for Fraction, Decimal and large ints), or on a universe of records as a DataFrame,
        and returns a finite number, or a 1-D array of them, always of the same length. It must give
        the same answer each time. It gets a copy, which it may write into.
    vectorized : bool, default False
        Whether `function` takes a 2-D array, one dataset per row, and returns one answer per row.
        Much faster where numpy does the work; not for tables.
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
        raise InputError(f"a query function must be callable, got {shown(function)}")
    if name is not None:
        check_text("name", name, "a text")
    vectorized = check_flag("vectorized", vectorized)
    label = str(name or getattr(function, "__name__", type(function).__name__))
    return Function(function, vectorized, "function" if label == "<lambda>" else label)
