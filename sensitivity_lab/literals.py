"""Datasets and answers as text: whole, for Python to read back, or short, for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from .arithmetic import Number
from .checks import magnitude, number_text
from .neighbors import show


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


def plain(value: Number) -> str:
    """Return a number as text: whole ones without a fraction, others by their ten first digits."""
    if isinstance(value, int | Fraction) and len(text := number_text(value)) <= 24:
        return text
    if isinstance(value, Decimal) and len(str(value)) <= 24:
        return str(value)
    try:
        return f"{float(value):.10g}"
    except OverflowError:
        return f"about {magnitude(Fraction(value))}"
