"""Plain data as bytes, without pickle: answers, which are read again, and hashes of problems.

Two problems share the answers in a folder if their hashes are equal. So `digest` takes only values
that are told whole by their type and content, and refuses all others.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_FORMAT = 2
"""Of a block's file; another one is not read."""

_PLAIN = ("<f8", "<i8")
"""Types of numbers that are written as they are in memory."""

_TOLD_BY_REPR = (
    *(type(None), bool, complex, str, bytes, Decimal, range, datetime.date, datetime.timedelta),
    *(pd.Timedelta, pd.Period, type(pd.NaT), type(pd.NA)),
)
"""Types whose objects are told by their `repr`; not their subclasses, which can hold more."""

_ZONES = ("builtins", "datetime", "zoneinfo", "pytz", "dateutil")
"""Packages whose time zones are told by their `repr`; None is of the first."""


def to_bytes(about: dict[str, Any], answers: NDArray[Any]) -> bytes:
    """Return a block's file: a hash, a line of JSON that says what it is, and the answers.

    Parameters
    ----------
    about : dict
        What the block belongs to; plain values.
    answers : ndarray
        Of float64 or int64, or of Python ints, floats and Fractions.
    """
    kind = answers.dtype.newbyteorder("<").str
    if kind in _PLAIN:
        body = np.ascontiguousarray(answers, dtype=kind).tobytes()
    elif answers.dtype == object:
        kind = "exact"
        body = json.dumps([_written(one) for one in answers.ravel()]).encode()
    else:
        raise TypeError(f"answers are float64, int64 or Python numbers, not {answers.dtype}")
    head = {"format": _FORMAT, **about, "kind": kind, "shape": list(answers.shape)}
    content = json.dumps(head, sort_keys=True).encode() + b"\n" + body
    return _hash(content) + b"\n" + content


def from_bytes(data: bytes) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return what a block's file belongs to, and its answers.

    Raises
    ------
    ValueError
        If it is no such file, or is not as it was written.
    """
    stated, _, content = data.partition(b"\n")
    if _hash(content) != stated:
        raise ValueError("the content is not as it was written")
    line, _, body = content.partition(b"\n")
    about = json.loads(line)
    if not isinstance(about, dict) or about.pop("format", None) != _FORMAT:
        raise ValueError("this is another format")
    kind, shape = about.pop("kind"), tuple(about.pop("shape"))
    if kind in _PLAIN:
        native = np.dtype(kind).newbyteorder("=")
        return about, np.frombuffer(body, dtype=kind).astype(native).reshape(shape)
    if kind != "exact":
        raise ValueError(f"answers of the kind {kind!r} are unknown")
    answers = np.empty(shape, dtype=object)
    answers.ravel()[:] = [_read_number(one) for one in json.loads(body)]
    return about, answers


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _written(number: Any) -> list[str]:
    """Return a number as its type and digits."""
    kind = type(number)
    if kind is float:
        return ["float", number.hex()]
    if kind in (int, Fraction):
        return [kind.__name__, *map(hex, number.as_integer_ratio())]
    if isinstance(number, np.longdouble):
        return ["longdouble", *map(hex, number.as_integer_ratio())]
    raise TypeError(f"answers are ints, floats and Fractions, not {kind.__name__}")


def _read_number(written: list[str]) -> Any:
    kind, *digits = written
    if kind == "float":
        return float.fromhex(digits[0])
    above, below = (int(one, 16) for one in digits)
    if kind == "longdouble":
        return np.longdouble(str(above)) / np.longdouble(str(below))
    if kind == "Fraction":
        return Fraction(above, below)
    if kind == "int":
        return above
    raise ValueError(f"numbers of the kind {kind!r} are unknown")


class NotPlainError(ValueError):
    """A value is neither plain data nor of this library; the text is its type."""


def digest(value: Any) -> str:
    """Return a hash of plain data, 64 hexadecimal digits; the same in every process.

    Parameters
    ----------
    value : object
        Numbers, texts, bytes, points and spans of time, missing values, arrays, lists, tuples, sets
        and dicts of these, and dataclasses of this library, which are told by their fields, or by
        what their method `told_by` returns.

    Raises
    ------
    NotPlainError
        If it holds anything else.

    Examples
    --------
    >>> digest([1, 2]) == digest([1, 2]), digest([1, 2]) == digest([1, 2.0])
    (True, False)
    """
    return hashlib.sha256(_told(value)).hexdigest()


def _told(value: Any) -> bytes:
    """Return a value's type and content, each part with its length, so that no two are alike."""
    kind = type(value)
    text = _text(value)
    content = map(_told, _held(value)) if text is None else [text.encode("utf-8", "surrogatepass")]
    parts = [f"{kind.__module__}.{kind.__qualname__}".encode(), *content]
    return b"".join(b"%d:%s" % (len(part), part) for part in parts)


def _text(value: Any) -> str | None:
    """Return what tells a value by itself; None if others do that it holds."""
    kind = type(value)
    if kind in (int, float, Fraction):
        return " ".join(_written(value))
    if kind in _TOLD_BY_REPR:
        return repr(value)
    if kind in (datetime.datetime, datetime.time, pd.Timestamp):
        zone = type(value.tzinfo)
        return repr(value) if zone.__module__.partition(".")[0] in _ZONES else None
    return None


def _held(value: Any) -> Iterable[Any]:
    """Return what tells a value that holds others."""
    kind = type(value)
    if kind in (list, tuple):
        return cast(Iterable[Any], value)
    if kind in (set, frozenset):
        return sorted(value, key=_told)
    if kind is dict:
        return cast(Iterable[Any], value.items())
    if kind is pd.Interval:
        return value.left, value.right, value.closed
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind != "V":
        content = value.ravel().tolist() if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, content
    if kind.__module__.partition(".")[0] == "sensitivity_lab":
        if hasattr(value, "told_by"):
            return cast(Iterable[Any], value.told_by())
        if dataclasses.is_dataclass(value):
            return [(one.name, getattr(value, one.name)) for one in dataclasses.fields(value)]
    raise NotPlainError(f"{kind.__module__}.{kind.__qualname__}")
