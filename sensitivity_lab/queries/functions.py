"""A caller's own function as a query."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.arithmetic import Number
from sensitivity_lab.errors import InputError, QueryError

from .base import Query


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
            given = np.asarray(self.function(rows.copy()))
            good = given.shape == (len(rows),) and given.dtype.kind in "biufO"
            answers = given.astype(np.float64) if good else np.empty(0)
            good = good and bool(np.isfinite(answers).all())
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
        if isinstance(answer, (str, bytes)) or np.ndim(answer) != 0 or np.iscomplexobj(answer):
            shown = answer.tolist() if hasattr(answer, "tolist") else answer
            raise QueryError(
                f"{self._on(row)} returned {shown!r}; a query returns one finite number"
            )
        try:
            number = float(answer)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            shown = answer.item() if isinstance(answer, np.generic) else answer
            raise QueryError(
                f"{self._on(row)} returned {shown!r}; a query returns one finite number"
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
