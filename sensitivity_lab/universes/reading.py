"""Read the records of a universe, which users pass as numbers, counts and bounds."""

from __future__ import annotations

import numbers
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.boundary import warn_caller
from sensitivity_lab.checks import (
    Kind,
    as_pandas,
    as_python,
    check_number,
    finite_number,
    in_brackets,
    is_long,
    is_of_data,
    listed,
    shown,
    whole_kind,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number

_EXACT = (int, Fraction)
"""The classes of rational numbers that are kept; numbers of other classes become a Fraction."""

_MOST_ADVISED = 1_000_000
"""No advice to list a range with more steps than these."""


check_count = whole_kind("how often a record occurs, at least 1")


def check_counts(counts: Any, number: int, noun: str) -> list[int]:
    """Return how often each of some values or rows occurs, by default once, or raise InputError."""
    if counts is None:
        return [1] * number
    given = listed(counts, "counts must be a sequence of whole numbers, one per record")
    checked = [check_count("counts", count) for count in given]
    if len(checked) != number:
        raise InputError(
            f"{noun} and counts must have one length, got {number} {noun} and {len(checked)} counts"
        )
    return checked


def check_once(values: Iterable[Any], what: str, advice: str) -> None:
    """Raise InputError for a value that is given more than once."""
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        raise InputError(
            f"the values of a {what} are distinct, got {shown(twice[0])} more than once; {advice}"
        )


def is_column(records: Any) -> bool:
    """Tell whether a value lists records in order."""
    return isinstance(records, list | tuple | range | np.ndarray | pd.Series | pd.Index)


def has_columns(given: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Tell whether a value is a mapping of columns to what they can be."""
    return isinstance(given, Mapping) and bool(given) and all(map(is_column, given.values()))


def of_columns(given: Mapping[Any, Any]) -> str:
    """Return which universes a mapping of columns can make, as calls."""
    one = shown(next(iter(given.values())))
    return (
        f"for rows with these columns use TableUniverse.from_domain({shown(dict(given))}), for one "
        f"column Universe.from_domain({one})"
    )


def warn_of_data(values: Any, where: str, way: str) -> None:
    """Warn of values of a domain, or bounds, that most likely come from the data.

    An array in ascending order is a grid, as `numpy.arange` makes it; the distinct values of a
    column come in the order of its rows.
    """
    grid = isinstance(values, np.ndarray) and bool((values[1:] > values[:-1]).all())
    if is_of_data(values) and not grid:
        warn_caller(
            f"{where}: these look computed from data, and must be public: whoever sees a result "
            f"learns them; write values that were chosen without the data, as in {way}, or use "
            "Universe.from_dataset for records that are public themselves"
        )


def warn_of_pair(values: Any, domain: str, *, real: bool = False) -> None:
    """Warn of a tuple of two numbers, which is how bounds are written elsewhere.

    Parameters
    ----------
    values : object
        What a caller gives as the values of a domain. A list, or two whole numbers with none
        between them, is a domain of two values beyond doubt.
    domain : str
        What it is the domain of, at the beginning of the warning.
    real : bool, default False
        Whether the records can be all real numbers of an interval instead.
    """
    if not isinstance(values, tuple) or len(values) != 2:
        return
    low, high = map(finite_number, values)
    if low is None or high is None or (apart := Fraction(high) - Fraction(low)) <= 1:
        return
    two = f"{shown(low)}, {shown(high)}"
    ways = []
    whole = all(Fraction(bound).denominator == 1 for bound in (low, high))
    if whole and apart <= _MOST_ADVISED:
        ways.append(
            f"range({int(low)}, {int(high) + 1}) for all whole numbers from one to the other"
        )
    if real:
        ways.append(f"Universe.from_interval({two}) for all real numbers between them")
    ways.append(f"a list, [{two}], if no other value can occur")
    warn_caller(f"{domain} has only two values, ({two}); use {', '.join(ways[:-1])}, or {ways[-1]}")


def as_numbers(values: Iterable[Any]) -> list[Any]:
    """Return the values as a list of Python numbers, or raise InputError."""
    values = as_pandas(values)
    array = array_of_numbers(values)
    if array is not None:
        return list(array.tolist())
    if has_columns(values):
        raise InputError(
            f"records must be a sequence of numbers, got a mapping of columns; {of_columns(values)}"
        )
    items = listed(
        values,
        "records must be a sequence of numbers, such as [0, 1, 2], range(21) or a column of a "
        "table",
    )
    return [_as_number(value, position) for position, value in enumerate(items)]


def array_of_numbers(values: Iterable[Any]) -> NDArray[Any] | None:
    """Return the values of an array or a Series as int64 or float64; None for other values.

    False and True of an array are 0 and 1.

    Raises
    ------
    InputError
        If they have more than one dimension, or one is not a finite number.
    """
    dimensions = getattr(values, "ndim", 1)
    if isinstance(dimensions, int) and dimensions != 1:
        raise InputError(
            f"records must be one-dimensional, got {dimensions} dimensions; "
            "give one column, or make a TableUniverse of the rows"
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise InputError(_not_finite(np.ma.masked, place))
    if isinstance(values, pd.Series) and pd.api.types.is_bool_dtype(values) and not values.hasnans:
        return values.to_numpy(dtype=np.int64)
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf" or dtype.itemsize > 8:
        return None
    array = np.asarray(values)
    if dtype.kind == "f":
        if not np.isfinite(array).all():
            bad = int(np.flatnonzero(~np.isfinite(array))[0])
            raise InputError(_not_finite(array[bad].item(), bad))
        return array.astype(np.float64)
    if dtype == np.uint64 and array.max(initial=0) >= 2**63:
        return array.astype(object)
    return array.astype(np.int64)


def _as_number(value: Any, position: int) -> Number:
    number = finite_number(value)
    if number is not None and (isinstance(number, float | Decimal) or type(number) in _EXACT):
        return number
    value = as_python(value)
    other = type(value) not in (bool, *_EXACT) and not isinstance(value, np.generic)
    if other and isinstance(value, numbers.Rational):
        return _as_number(Fraction(value), position)
    if is_long(value):
        raise InputError(f"a record has too many digits: {shown(value)}, at position {position}")
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    if missing or isinstance(value, float | Decimal):
        raise InputError(_not_finite(value, position))
    hint = "use 0 and 1" if isinstance(value, bool) else "give a numeric column"
    raise InputError(
        f"a record must be an int, float, Fraction or Decimal, "
        f"got {shown(value)}{in_brackets(value)} at position {position}; {hint}"
    )


def as_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """Return Python numbers as int64 or float64 if that is lossless, else as Python objects."""
    kinds = set(map(type, numbers))
    if kinds == {float}:
        return np.array(numbers)
    if kinds == {int} and min(numbers) >= -(2**63) and max(numbers) < 2**63:
        return np.array(numbers, dtype=np.int64)
    if kinds == {int, float} and all(abs(one) <= 2**53 for one in numbers if type(one) is int):
        return np.array(numbers, dtype=np.float64)
    return np.array(numbers, dtype=object)


def _not_finite(value: object, position: int) -> str:
    return (
        f"records must be finite numbers, got {shown(value)} at position {position}; "
        "drop or replace missing and infinite values first"
    )


def _record(value: Any) -> Number | None:
    try:
        return _as_number(value, 0)
    except InputError:
        return None


check_record: Kind[Number] = Kind(check_number.accepted, _record, check_number.advice)
"""A number as a record is written: of an interval, or a bound of clipping."""


def distinct(records: list[Number]) -> tuple[list[Number], tuple[int, ...]]:
    """Return the distinct values in ascending order, and their counts."""
    if not records:
        raise InputError("a universe needs at least one record, got none")
    # Equal numbers of different types hash alike, so a Counter merges 1 and 1.0.
    counter = Counter(records)
    values = list(counter)
    # A Fraction and a Decimal do not compare with each other; as Fractions all numbers do.
    if any(isinstance(value, Decimal) for value in values):
        values.sort(key=lambda value: Fraction(value))
    else:
        values.sort()
    return values, tuple(counter[value] for value in values)


def distinct_of_array(records: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Do the work of `distinct` for int64 or float64, whole arrays at a time: one sort.

    Examples
    --------
    >>> values, counts = distinct_of_array(np.array([2.0, -0.0, 2.0, 0.0]))
    >>> values.tolist(), counts.tolist()
    ([-0.0, 2.0], [2, 2])
    """
    values, counts = np.unique(records, return_counts=True)
    # The two zeros of floats are equal, and a sort may exchange them: the first one given stays.
    zero = int(values.searchsorted(0))
    if zero < len(values) and values[zero] == 0:
        values[zero] = records[np.argmax(records == 0)]
    return values, counts.astype(np.int64)


def clipped(
    values: Sequence[Any], counts: Sequence[int], low: Number | None, high: Number | None
) -> dict[Number, int]:
    """Return how often each value occurs, ascending, after clipping the records to the bounds."""
    first, last = 0, len(values)
    if low is not None:
        first = bisect_left(values, Fraction(low), key=Fraction)
    if high is not None:
        last = bisect_right(values, Fraction(high), key=Fraction)
    # A Counter merges a bound with an equal record, whatever their types.
    counter: Counter[Any] = Counter({low: sum(counts[:first])} if first else {})
    for value, count in zip(values[first:last], counts[first:last], strict=True):
        counter[value] += count
    if last < len(values):
        counter[high] += sum(counts[last:])
    return counter
