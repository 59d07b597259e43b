"""Cells as values and as bytes, which do not depend on other rows and are the same everywhere.

Rows are compared, counted and ordered by their bytes, and a caller's function gets values. Both
depend on the cell alone. So which rows a truncation keeps, and what a function sees, depends
neither on the order of the rows, nor on the type that a column has because of other rows, nor on
the process or the version of Python or pandas. A number stands for a rational, so 1, 1.0 and True
are the same value, and so are 0.0 and -0.0. All missing values (None, NaN, NaT, NA) are the same.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import is_long, shown
from sensitivity_lab.errors import InputError

MISSING = b"?"
"""The bytes of a missing value."""


def plain(value: Any) -> Any:
    """Return the Python object that stands for a cell's value.

    Cells with equal bytes (`encode`) have equal objects, with the same type and the same repr.

    Parameters
    ----------
    value : object
        What `encode` takes.

    Returns
    -------
    object
        An int for a whole number or a truth value; for other numbers a float if it is exact, else a
        Fraction. `math.nan` for a missing value. A `pandas.Timestamp` (in UTC if it has a time
        zone) or a `pandas.Timedelta`, in nanoseconds if their range suffices. Arrays become lists,
        sets become frozensets, and mappings become dicts whose keys are in a fixed order.

    Raises
    ------
    InputError
        As for `encode`.

    Examples
    --------
    >>> [plain(value) for value in (1.0, True, 0.5, -0.0, None, np.str_("a"))]
    [1, 1, 0.5, 0, nan, 'a']
    """
    known = _PLAIN.get(type(value))
    if known is not None:
        return known(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return math.nan
    for types, read in _KINDS:
        if isinstance(value, types):
            return read(value)
    raise InputError(
        f"a cell holds a {type(value).__name__}: {shown(value)}; cells are numbers, strings, "
        "bytes, dates, times, lists, sets and mappings of these, or missing"
    )


def encode(value: Any) -> bytes:
    """Return a cell's value as bytes.

    Parameters
    ----------
    value : object
        A number, a string, bytes, a point or a span of time, a missing value, or a list, a set or a
        mapping of these.

    Returns
    -------
    bytes
        Equal for equal values only.

    Raises
    ------
    InputError
        If the value has another type, which has no bytes that are the same everywhere.

    Notes
    -----
    The bytes are those of `plain(value)`, written in a different way for each type, so values with
    equal bytes are equal.

    Examples
    --------
    >>> encode(1) == encode(1.0), encode(1) == encode("1"), encode(None) == encode(float("nan"))
    (True, False, True)
    """
    write = _WRITE.get(type(value))
    try:
        if write is None:
            value = plain(value)
            write = _WRITE[type(value)]
        return write(value)
    except RecursionError:
        raise InputError("a cell holds lists in lists without an end, or very many") from None


def encode_rows(table: pd.DataFrame) -> list[bytes]:
    """Return every row of a table as bytes; the order of the columns does not matter.

    Examples
    --------
    >>> first, second = encode_rows(pd.DataFrame({"id": [1, 1], "name": ["a", "a"]}))
    >>> first == second
    True
    """
    names = sorted(table.columns)
    heading = b"".join(map(_framed, map(_text, names)))
    cells = [[_framed(encode(value)) for value in table[name].tolist()] for name in names]
    if not cells:
        return [heading] * len(table)
    return [heading + b"".join(row) for row in zip(*cells, strict=True)]


def encode_keys(table: pd.DataFrame, columns: Sequence[str]) -> list[bytes | None]:
    """Return the values of some columns as bytes, row by row; None if one of them is missing."""
    encoded = [[encode(value) for value in table[name].tolist()] for name in columns]
    return [
        None if MISSING in row else b"".join(map(_framed, row))
        for row in zip(*encoded, strict=True)
    ]


def fixed_order(encoded: bytes) -> tuple[bytes, bytes]:
    """Return a sort key for an order that is arbitrary but the same everywhere.

    The key is a SHA-256 hash, so the order does not follow the values. The bytes themselves decide
    if two hashes are equal, which is practically impossible.
    """
    return hashlib.sha256(encoded).digest(), encoded


def _framed(encoded: bytes) -> bytes:
    """Return bytes with their length in front, so that cells in a row have no ambiguous ends."""
    return b"%d:%s" % (len(encoded), encoded)


def _text(value: str) -> bytes:
    return b"s" + value.encode("utf-8", "surrogatepass")


def _check_digits(value: Any) -> None:
    if is_long(value):
        raise InputError(f"a cell holds a number of too many digits: {shown(value)}")


def _number(value: Any) -> bytes:
    """Return the bytes of a rational in lowest terms, of an infinity, or of NaN."""
    _check_digits(value)
    try:
        above, below = value.as_integer_ratio()
    except ValueError:
        return MISSING
    except OverflowError:
        return b"n+inf" if value > 0 else b"n-inf"
    return b"n%d/%d" % (above, below)


def _listed(values: Iterable[Any]) -> bytes:
    return b"".join(_framed(encode(value)) for value in values)


def _moment(value: Any) -> bytes:
    """Return the bytes of a point of time: in nanoseconds, and in UTC if it has a time zone."""
    stamp = _stamp(value)
    written: str = stamp.isoformat(timespec="nanoseconds")
    return (b"t" if stamp.tzinfo is None else b"z") + written.encode()


def _nanoseconds(value: Any) -> bytes:
    """Return the bytes of a span of time, whose nanoseconds may not fit into 64 bits."""
    units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
    return b"e%d" % (int(value.asm8.view("int64")) * units[value.unit])


def _float(value: float) -> int | float:
    return int(value) if value.is_integer() else value if value == value else math.nan


def _rational(value: Any) -> Any:
    """Return a number as an int or a float if that is exact, else as a Fraction."""
    _check_digits(value)
    try:
        above, below = value.as_integer_ratio()
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    if below == 1:
        return int(above)
    exact = Fraction(above, below)
    try:
        close = float(exact)
    except OverflowError:
        return exact
    return close if Fraction(close) == exact else exact


def _stamp(value: Any) -> Any:
    """Return a point of time in UTC or without a zone, in the finest unit in whose range it is."""
    stamp: Any = pd.Timestamp(value)
    if stamp is pd.NaT:
        return math.nan
    zone = None if stamp.tzinfo is None else "UTC"
    # Make a new one, without other attributes of a point of time, such as `fold`.
    return _finest(pd.Timestamp(stamp.tz_convert(zone).asm8 if zone else stamp.asm8, tz=zone))


def _span(value: Any) -> Any:
    """Return a span of time in the finest unit in whose range it is, or raise InputError."""
    try:
        span: Any = pd.Timedelta(value)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"a cell holds {shown(value)}, a span of time that pandas cannot represent"
        ) from error
    return math.nan if span is pd.NaT else _finest(span)


def _finest(time: Any) -> Any:
    """Return a point or a span of time in the finest unit in whose range it is, without loss."""
    for unit in ("ns", "us", "ms"):
        try:
            return time.as_unit(unit)
        except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta):
            continue
    return time.as_unit("s")


def _itself(value: Any) -> Any:
    return value


def _list(values: Iterable[Any]) -> list[Any]:
    return list(map(plain, values))


def _set(values: Iterable[Any]) -> frozenset[Any]:
    # Equal sets are iterated in the same order if they were filled in the same order.
    return frozenset(sorted(map(plain, values), key=encode))


def _mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    items = [(plain(key), plain(one)) for key, one in value.items()]
    return dict(sorted(items, key=lambda item: (encode(item[0]), encode(item[1]))))


_PLAIN: dict[type, Callable[[Any], Any]] = {
    int: _itself,
    float: _float,
    str: _itself,
    bool: int,
}

# The other types that a cell can hold, and how to make their values plain.
_KINDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, lambda value: str.__str__(value)),
    (bytes, lambda value: bytes(memoryview(value))),
    (np.bool_, int),
    # For isinstance, spans of time of NumPy are integers, so they come first.
    ((datetime.timedelta, np.timedelta64), _span),
    (numbers.Integral, int),
    ((float, np.floating, Fraction, Decimal), _rational),
    ((datetime.datetime, np.datetime64), _stamp),
    (datetime.date, lambda value: datetime.date(value.year, value.month, value.day)),
    (tuple, lambda value: tuple(_list(value))),
    (list, _list),
    # An array without dimensions is its only value; where that is masked, it is missing.
    (np.ndarray, lambda value: (_list if value.ndim else plain)(value.tolist())),
    ((set, frozenset), _set),
    (Mapping, _mapping),
)

_WRITE: dict[type, Callable[[Any], bytes]] = {
    int: _number,
    float: _number,
    Fraction: _number,
    str: _text,
    bytes: lambda value: b"b" + value,
    pd.Timestamp: _moment,
    pd.Timedelta: _nanoseconds,
    datetime.date: lambda value: b"d" + value.isoformat().encode(),
    list: lambda value: b"l" + _listed(value),
    tuple: lambda value: b"u" + _listed(value),
    frozenset: lambda value: b"S" + b"".join(sorted(_framed(encode(one)) for one in value)),
    dict: lambda value: (
        b"m" + b"".join(sorted(_framed(encode(k)) + _framed(encode(v)) for k, v in value.items()))
    ),
}
