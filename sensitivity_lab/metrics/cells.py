"""When two cells are equal, and cells as values and as bytes, which are the same everywhere.

Functions give equal cells equal keys, which can be hashed. A metric on records uses one of them.
They differ in what they distinguish:

=================  ===============  ======  =========  ========  =========  =========
key                used by          1, 1.0  0.0, -0.0  NaN, NaN  NaN, None  [1], (1,)
=================  ===============  ======  =========  ========  =========  =========
`encode`           pipelines        equal   equal      equal     equal      differ
`signed_key`       audits           equal   differ     equal     differ     equal
`key_of`           answers          equal   equal      equal     differ     equal
`table_key`        table universes  equal   equal      equal     equal      differ
=================  ===============  ======  =========  ========  =========  =========

Pipelines compare, count and order rows by their bytes, and a caller's function gets values. Both
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
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import as_python, is_long, shown, unboxed
from sensitivity_lab.errors import InputError

Cells = Callable[[Any], Hashable]
"""A key of cells, and of records, which hold cells: equal for equal ones only."""

_NAN = ("not a number",)
"""The key of NaN, which does not equal itself."""

_MINUS_ZERO = ("minus zero",)
"""The key of -0.0, which Python says is equal to 0.0."""


def key_of(item: Any) -> Hashable:
    """Return the key of an item; equal items have equal keys, and so have any two NaN.

    Examples
    --------
    >>> key_of([1, 0.0]) == key_of((True, -0.0)), key_of(math.nan) == key_of(float("nan"))
    (True, True)
    """
    if isinstance(item, Mapping):
        return frozenset((key_of(name), key_of(value)) for name, value in item.items())
    if isinstance(item, list | tuple | np.ndarray):
        return tuple(key_of(entry) for entry in item)
    return item if item == item else _NAN


def signed_key(item: Any) -> Hashable:
    """Return the key of an item, as `key_of` does; those of 0.0 and -0.0 differ.

    A function may distinguish the two zeros, so a library may count them as two records. As records
    they differ here, so no pair counts as close that a library treats as far apart.

    Examples
    --------
    >>> signed_key(0.0) == signed_key(-0.0), signed_key([[0.0]]) == signed_key([[-0.0]])
    (False, False)
    """
    if type(item) is int or type(item) is str:  # the usual types first
        return item
    if isinstance(item, Mapping):
        return frozenset((key_of(name), signed_key(value)) for name, value in item.items())
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, list | tuple):
        return tuple(map(signed_key, item))
    number = unboxed(item)
    if isinstance(number, float) and not number and math.copysign(1, number) < 0:
        return _MINUS_ZERO
    return key_of(number)


def multiset(item: Sequence[Any]) -> Counter[Hashable]:
    """Return how often each entry occurs in a sequence, by `key_of`.

    Examples
    --------
    >>> multiset([1, True, 2]) == {1: 2, 2: 1}
    True
    """
    try:
        counted = Counter(item)
    except TypeError:  # entries that are lists
        return Counter(map(key_of, item))
    merged: Counter[Hashable] = Counter()
    for entry, number in counted.items():
        merged[key_of(entry)] += number
    return merged


def table_key(value: Any) -> Any:
    """Return a value as the columns of a `TableUniverse` hold it; None if it is missing.

    Numbers are Python's, points and spans of time those of pandas. What cannot be hashed stays.

    Examples
    --------
    >>> table_key(np.int8(3)), table_key(math.nan), table_key(np.datetime64("2020-01-01"))
    (3, None, Timestamp('2020-01-01 00:00:00'))
    """
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    return None if pd.isna(value) is True else as_python(value)


def kind_of(value: Any) -> str | None:
    """Return the kind of a value; values of two kinds are never equal. None says "any".

    Examples
    --------
    >>> kind_of(True), kind_of(0.5), kind_of("0.5"), kind_of((1, 2))
    ('numbers', 'numbers', 'texts', None)
    >>> kind_of(pd.Timestamp("2020-01-01")), kind_of(datetime.date(2020, 1, 1))
    ('timestamps', 'dates')
    """
    if isinstance(value, str):
        return "texts"
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "spans of time"
    if isinstance(value, numbers.Number | np.bool_):
        return "numbers"
    if isinstance(value, datetime.datetime):
        return "timestamps" if value.tzinfo is None else "timestamps with a time zone"
    return "dates" if isinstance(value, datetime.date) else None


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
