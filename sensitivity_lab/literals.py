"""Datasets and answers as text: whole, for Python to read back, or short, for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from .arithmetic import Number
from .errors import InputError
from .neighbors import show

_LONG = 16
"""Tables write tuples of more entries as text."""


def literal(value: Any) -> str:
    """Return a value as text that Python reads back.

    Examples
    --------
    >>> literal([Fraction(1, 3), Fraction(4), np.float64(0.1), math.inf])
    "[Fraction(1, 3), 4, 0.1, float('inf')]"
    >>> literal({"a": np.arange(2, dtype="int8")})
    "{'a': np.array([0, 1], dtype='int8')}"
    """
    if isinstance(value, pd.DataFrame):
        return f"pd.DataFrame({literal(value.to_dict('list'))})"
    if isinstance(value, pd.Series):
        return f"pd.Series({literal(value.tolist())})"
    if isinstance(value, np.ndarray):
        return f"np.array({literal(value.tolist())}, dtype={str(value.dtype)!r})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, Fraction) and number.denominator == 1:
        return repr(number.numerator)
    if isinstance(number, float) and not math.isfinite(number):
        return f"float('{number}')"
    return repr(number)


def brief(value: Any) -> str:
    """Return a dataset or an answer as text, the middle of a long one left out."""
    if isinstance(value, tuple | list):
        return show([brief(one) for one in value])
    return str(value) if isinstance(value, Number) else literal(value)


def shortened(table: pd.DataFrame, columns: Sequence[str], witness: Any) -> pd.DataFrame:
    """Return a table with the datasets and answers of some columns as `witness` says.

    Parameters
    ----------
    table : DataFrame
        One row per result.
    columns : sequence of str
        Of tuples, among others.
    witness : {"short", "full"}
        "full" leaves the tuples; "short" writes those of more than 16 entries as text, the middle
        left out, so that a table of large datasets stays small.
    """
    if witness not in ("short", "full"):
        raise InputError(f"witness must be 'short' or 'full', got {witness!r}")
    if witness == "full":
        return table
    short = {
        name: pd.Series([_short(value, name) for value in table[name]], index=table.index)
        for name in columns
        if name in table
    }
    return table.assign(**short)


def _short(value: Any, column: str) -> Any:
    if not isinstance(value, tuple) or len(value) <= _LONG:
        return value
    return show(list(map(brief, value)), "numbers" if column.startswith("query") else "records")


def plain(value: Number) -> str:
    """Return a number as text: whole ones without a fraction, others by their ten first digits."""
    if isinstance(value, Fraction | Decimal | int) and len(str(value)) <= 24:
        return str(value)
    return f"{float(value):.10g}"
