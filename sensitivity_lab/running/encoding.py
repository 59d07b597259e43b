"""Answers as bytes and back, without pickle: a file may come from anywhere."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FORMAT = 1
"""Of a block's file; another one is not read."""

_PLAIN = ("<f8", "<i8")
"""Types of numbers that are written as they are in memory."""


def to_bytes(about: dict[str, Any], answers: NDArray[Any]) -> bytes:
    """Return a block's file: a line of JSON that says what it is, and the answers.

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
    line = json.dumps(head, sort_keys=True).encode()
    return line + b"\n" + _hash(line, body) + b"\n" + body


def from_bytes(data: bytes) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return what a block's file belongs to, and its answers.

    Raises
    ------
    ValueError
        If it is no such file, or is not as it was written.
    """
    line, _, rest = data.partition(b"\n")
    stated, _, body = rest.partition(b"\n")
    if _hash(line, body) != stated:
        raise ValueError("the content is not as it was written")
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


def _hash(line: bytes, body: bytes) -> bytes:
    hashed = hashlib.sha256(line)
    hashed.update(b"\n")
    hashed.update(body)
    return hashed.hexdigest().encode()


def _written(number: Any) -> list[str]:
    """Return a number as its type and digits."""
    if type(number) is int:
        return ["int", hex(number)]
    if type(number) is float:
        return ["float", number.hex()]
    if type(number) is Fraction:
        return ["Fraction", hex(number.numerator), hex(number.denominator)]
    if isinstance(number, np.longdouble):
        return ["longdouble", *map(hex, number.as_integer_ratio())]
    raise TypeError(f"answers are ints, floats and Fractions, not {type(number).__name__}")


def _read_number(written: list[str]) -> Any:
    kind, *digits = written
    if kind == "int":
        return int(digits[0], 16)
    if kind == "float":
        return float.fromhex(digits[0])
    if kind == "Fraction":
        return Fraction(int(digits[0], 16), int(digits[1], 16))
    if kind == "longdouble":
        above, below = (np.longdouble(str(int(one, 16))) for one in digits)
        return above / below
    raise ValueError(f"numbers of the kind {kind!r} are unknown")
