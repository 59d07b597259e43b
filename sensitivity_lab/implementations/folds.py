"""Left-to-right folds: code that reads the records of a dataset one by one, in their order.

A fold keeps an *accumulator*: it begins at `start`, and `step` adds one record after another. This
structure is enough to search over all orders of a dataset without listing them.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import (
    check_callable,
    check_flag,
    check_text,
    listed,
    named,
    shown,
    text_of,
    unboxed,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.queries import Mean, Query, Sum, Var, as_query


@dataclass(frozen=True)
class Fold:
    """Code that reads a dataset from left to right: ``finish(step(... step(start, r_1)))``.

    Parameters
    ----------
    step : callable
        ``step(accumulator, record)`` returns the next accumulator: a new number, or a tuple of
        numbers, or anything hashable. It is deterministic and changes nothing in place.
    start : number or tuple of numbers
        The accumulator before the first record; a number is converted to `dtype`, too.
    finish : callable, optional
        ``finish(accumulator)`` returns the answer, one number. By default the accumulator itself.
    name : str, default "fold"
        The name in reports.
    dtype : numpy dtype, optional
        The type to which records are converted before the first step. Floats are rounded
        to it; integers that it cannot hold are refused. By default records stay Python numbers.
    ideal : str, Query or callable, optional
        The same query as mathematics, whose exact sensitivity `global_sensitivity` computes.

    Raises
    ------
    InputError
        If `step` or `finish` cannot be called, `dtype` is not a type of real numbers, or `start`
        cannot be hashed.

    Notes
    -----
    A fold silences numpy's floating-point warnings (overflow, invalid): the answers show their
    causes.

    Examples
    --------
    >>> last_wins = Fold(lambda kept, record: record, 0, name="last")
    >>> last_wins([3, 1, 2])
    2
    >>> import numpy as np
    >>> Fold(lambda total, record: total + record, 0, dtype=np.int8)([100, 27, 1])
    -128
    """

    step: Callable[[Any, Any], Any]
    start: Any
    finish: Callable[[Any], Any] | None = None
    name: str = "fold"
    dtype: Any = None
    ideal: Any = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_callable("step", self.step, "a function (accumulator, record)")
        object.__setattr__(self, "name", named(check_text("name", self.name, "a text")))
        if self.finish is not None:
            check_callable("finish", self.finish, "None or a function of the accumulator")
        if self.dtype is not None:
            object.__setattr__(self, "dtype", _check_dtype(self.dtype, "iuf"))
        try:
            hash(self.start)
        except Exception:  # noqa: BLE001 - the caller's class decides what it raises
            raise InputError(
                "start must be an accumulator that can be hashed, a number or a tuple, got "
                f"{type(self.start).__name__}"
            ) from None
        if self.ideal is not None:
            object.__setattr__(self, "ideal", as_query(self.ideal))

    @property
    def first(self) -> Any:
        """The accumulator before the first record, converted to `dtype` if it is a number."""
        start: Any = self.start
        if self.dtype is None or not isinstance(start, (int, float, np.number)):
            return start
        return _converted(start, self.dtype)

    def records(self, values: Iterable[Number]) -> tuple[Any, ...]:
        """Return records as `step` sees them; raise InputError for those that `dtype` cannot hold.

        Parameters
        ----------
        values : iterable of numbers
            The records as the universe has them.
        """
        records = listed(values, "a dataset must be a sequence of numbers")
        if self.dtype is None:
            return tuple(records)
        return tuple(_converted(value, self.dtype) for value in records)

    def answer(self, accumulator: Any) -> Any:
        """Return what the fold answers when it ends with this accumulator."""
        return accumulator if self.finish is None else self.finish(accumulator)

    def __call__(self, x: Iterable[Number]) -> Any:
        """Return the answer on an ordered dataset.

        Raises
        ------
        InputError
            If the dataset is no sequence, or `dtype` cannot hold a record.
        QueryError
            If `step` or `finish` raises.
        """
        accumulator = self.first
        records = self.records(x)
        try:
            with np.errstate(all="ignore"):
                for record in records:
                    accumulator = self.step(accumulator, record)
                answer = self.answer(accumulator)
        except Exception as error:
            raise QueryError(
                f"{shown(self.name)} on the ordered dataset {shown(records)} raised "
                f"{type(error).__name__}: {text_of(error)}"
            ) from error
        return unboxed(answer)


def float_sum(dtype: Any = np.float64) -> Fold:
    """Make the fold that adds floats from left to right, rounding after every addition.

    Parameters
    ----------
    dtype : numpy dtype, default float64
        float16, float32 or float64. Records are rounded to it first.

    Returns
    -------
    Fold
        Its `ideal` is the sum.

    References
    ----------
    Casacuberta, Shoemate, Vadhan and Wagaman, "Widespread Underestimation of Sensitivity in
    Differentially Private Libraries and How to Fix It", CCS 2022: sums depend on the order.

    Examples
    --------
    >>> total = float_sum()
    >>> total([2**53] + [1] * 7) - 2**53, total([1] * 7 + [2**53]) - 2**53
    (0.0, 8.0)
    """
    kind = _check_dtype(dtype, "f")
    return Fold(operator.add, 0, name=f"{kind} sum", dtype=kind, ideal=Sum())


def integer_sum(dtype: Any = np.int64, *, saturating: bool = False) -> Fold:
    """Make the fold that adds integers of a fixed width.

    Parameters
    ----------
    dtype : numpy dtype, default int64
        int8 to int64 or uint8 to uint64.
    saturating : bool, default False
        Whether sums beyond the range stop at its end, instead of wrapping around to the other end.

    Returns
    -------
    Fold
        Its `ideal` is the sum.

    Examples
    --------
    >>> import numpy as np
    >>> integer_sum(np.int8)([100, 100]), integer_sum(np.int8, saturating=True)([100, 100])
    (-56, 127)
    """
    kind = _check_dtype(dtype, "iu")
    if not check_flag("saturating", saturating):
        return Fold(operator.add, 0, name=f"{kind} sum", dtype=kind, ideal=Sum())
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)

    def step(total: Any, record: Any) -> Any:
        return kind.type(min(max(int(total) + int(record), low), high))

    return Fold(step, 0, name=f"{kind} saturating sum", dtype=kind, ideal=Sum())


def float_mean(dtype: Any = np.float64) -> Fold:
    """Make the fold that adds floats from left to right and divides by their number at the end.

    Parameters
    ----------
    dtype : numpy dtype, default float64
        float16, float32 or float64. Records, their sum and the quotient are rounded to it.

    Returns
    -------
    Fold
        Its `ideal` is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> float_mean(np.float16)([1, 2, 4])
    2.333984375
    """
    kind = _check_dtype(dtype, "f")
    return Fold(
        lambda state, record: (state[0] + 1, state[1] + record),
        (0, kind.type(0)),
        lambda state: state[1] / kind.type(state[0]),
        name=f"{kind} mean",
        dtype=kind,
        ideal=Mean(),
    )


def welford_variance(dtype: Any = np.float64, *, ddof: int = 0) -> Fold:
    """Make the fold of Welford's variance in one pass.

    Parameters
    ----------
    dtype : numpy dtype, default float64
        float16, float32 or float64: the type of all intermediate results.
    ddof : int, default 0
        The delta degrees of freedom; the answer divides by n - ddof.

    Returns
    -------
    Fold
        Its `ideal` is the variance.

    References
    ----------
    Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
    Technometrics 4 (1962), equations I and II.

    Examples
    --------
    >>> welford_variance()([1, 2, 3, 4])
    1.25
    """
    kind = _check_dtype(dtype, "f")
    ideal: Query = Var(ddof=ddof)

    def step(state: Any, record: Any) -> Any:
        count, mean, squares = state
        count += 1
        off = record - mean
        mean = mean + off / kind.type(count)
        return count, mean, squares + off * (record - mean)

    return Fold(
        step,
        (0, kind.type(0), kind.type(0)),
        lambda state: state[2] / kind.type(state[0] - ddof),
        name=f"{kind} Welford variance",
        dtype=kind,
        ideal=ideal,
    )


def _check_dtype(dtype: Any, kinds: str) -> np.dtype[Any]:
    """Return a numpy dtype of one of some kinds, or raise InputError."""
    names = {"f": "float16, float32 or float64", "iu": "int8 to int64 or uint8 to uint64"}
    accepted = names.get(kinds, "a type of integers or floats")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kind = np.dtype(dtype)
    except Exception:  # noqa: BLE001 - numpy reads texts, pairs, dicts, attributes of objects
        raise InputError(f"dtype must be {accepted}, got {shown(dtype)}") from None
    if dtype is None or kind.kind not in kinds or kind.itemsize > 8:
        raise InputError(f"dtype must be {accepted}, got {kind if dtype is not None else None}")
    native: np.dtype[Any] = kind.newbyteorder("=")
    return native


def _converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a record as a numpy scalar, or raise InputError if an integer type cannot hold it."""
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(float(value) if isinstance(value, (Fraction, Decimal)) else value)
    limits = np.iinfo(dtype)
    if value != int(value) or not limits.min <= value <= limits.max:
        raise InputError(
            f"{dtype} cannot hold the record {value}; it holds whole numbers from {limits.min} to "
            f"{limits.max}"
        )
    return dtype.type(int(value))
