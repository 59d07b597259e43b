"""Rows and cells as bytes: equal values, and only they, have equal bytes, in every process.

Rows are compared, counted and put in an order by these bytes, so that neither the order of the
rows, nor the type that a column happens to have, nor the version of Python or pandas decides which
rows a truncation keeps. A number is the rational that it stands for (1, 1.0 and True are one
value), and all the ways to say "missing" (None, NaN, NaT, NA) are one value.
"""

from __future__ import annotations

import datetime
import hashlib
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
"""What stands for a missing value."""


def encode(value: Any) -> bytes:
    """Return a cell's value as bytes.

    Parameters
    ----------
    value : object
        A number, a string, bytes, a point or a span of time, a list, a set or a mapping of such,
        or a missing value.

    Raises
    ------
    InputError
        If the value is of another type: nothing says how to write it the same way everywhere.

    Examples
    --------
    >>> encode(1) == encode(1.0), encode(1) == encode("1"), encode(None) == encode(float("nan"))
    (True, False, True)
    """
    known = _QUICK.get(type(value))
    if known is not None:
        return known(value)
    try:
        return _encode_other(value)
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
    """Return the values of some columns, row by row; None where one of them is missing."""
    encoded = [[encode(value) for value in table[name].tolist()] for name in columns]
    return [
        None if MISSING in row else b"".join(map(_framed, row))
        for row in zip(*encoded, strict=True)
    ]


def fixed_order(encoded: bytes) -> tuple[bytes, bytes]:
    """Return what to sort by for an order that is arbitrary but the same everywhere.

    The hash is SHA-256, so the order does not follow the values; the bytes themselves decide in the
    practically impossible case that two hashes are the same.
    """
    return hashlib.sha256(encoded).digest(), encoded


def _framed(encoded: bytes) -> bytes:
    """Put the length in front, so that a row of cells can be read in one way only."""
    return b"%d:%s" % (len(encoded), encoded)


def _text(value: str) -> bytes:
    return b"s" + value.encode("utf-8", "surrogatepass")


def _number(value: Any) -> bytes:
    """Write a rational in lowest terms; infinities and what is not a number get words."""
    if is_long(value):
        raise InputError(f"a cell holds a number of too many digits: {shown(value)}")
    try:
        above, below = value.as_integer_ratio()
    except ValueError:
        return MISSING
    except OverflowError:
        return b"n+inf" if value > 0 else b"n-inf"
    return b"n%d/%d" % (above, below)


def _listed(values: Iterable[Any]) -> bytes:
    return b"l" + b"".join(_framed(encode(value)) for value in values)


def _moment(value: Any) -> bytes:
    """Write a point of time to the nanosecond, in UTC if it has a time zone."""
    if pd.isna(value):
        return MISSING
    stamp = pd.Timestamp(value)
    zoned = stamp.tzinfo is not None
    if zoned:
        stamp = stamp.tz_convert("UTC")
    return (b"z" if zoned else b"t") + stamp.isoformat(timespec="nanoseconds").encode()


def _span(value: Any) -> bytes:
    return MISSING if pd.isna(value) else b"e%d" % pd.Timedelta(value).as_unit("ns").value


def _encode_other(value: Any) -> bytes:
    """Return the bytes of a value whose very type is not in the table of quick ones."""
    if value is None or value is pd.NA or value is pd.NaT or value is np.ma.masked:
        return MISSING
    for types, write in _KINDS:
        if isinstance(value, types):
            return write(value)
    raise InputError(
        f"a cell holds a {type(value).__name__}: {shown(value)}; cells are numbers, strings, "
        "bytes, dates, times, lists, sets and mappings of these, or missing"
    )


_QUICK: dict[type, Callable[[Any], bytes]] = {int: _number, float: _number, str: _text}

_KINDS: tuple[tuple[Any, Callable[[Any], bytes]], ...] = (
    (str, _text),
    (bytes, lambda value: b"b" + value),
    (np.bool_, lambda value: _number(int(value))),
    # numpy's spans of time are integers to isinstance, so they come first.
    ((datetime.timedelta, np.timedelta64), _span),
    (numbers.Integral, lambda value: _number(int(value))),
    ((float, np.floating, Fraction, Decimal), _number),
    ((datetime.datetime, np.datetime64), _moment),
    (datetime.date, lambda value: b"d" + value.isoformat().encode()),
    ((list, tuple), _listed),
    (np.ndarray, lambda value: _listed(value.tolist())),
    ((set, frozenset), lambda value: b"S" + b"".join(sorted(_framed(encode(v)) for v in value))),
    (
        Mapping,
        lambda value: (
            b"m"
            + b"".join(sorted(_framed(encode(k)) + _framed(encode(v)) for k, v in value.items()))
        ),
    ),
)
