"""What a result must say when the oracle has the last word."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from importlib.util import find_spec
from typing import Any

import pandas as pd
import pytest

import sensitivity_lab as sl


def check_value(result: sl.results.Sensitivity, expected: Any) -> None:
    """The number is the oracle's, a Fraction, or a Decimal of 60 digits for roots."""
    if isinstance(expected, Fraction):
        assert result.exact == expected
        assert result.value == expected.numerator / expected.denominator
        assert Fraction(result.upper) >= expected
        assert Fraction(math.nextafter(result.upper, -math.inf)) < expected
    else:
        true = Fraction(expected)
        assert result.exact is None
        assert abs(Fraction(result.value) - true) <= Fraction(math.ulp(result.value))
        # The Decimal itself is right to 60 digits only.
        assert Fraction(result.upper) >= true * (1 - Fraction(1, 10**55))
        assert Fraction(result.upper) - true <= 2 * Fraction(math.ulp(result.upper))


@dataclass(frozen=True)
class Calls:
    """How many functions some work called, of Python and of C, and what it returned or raised."""

    number: int
    result: Any


def calls_of(work: Callable[[], Any]) -> Calls:
    """Return how many functions some work calls; an exception of ours is its result."""
    number = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = work()
    except sl.errors.SensitivityLabError as error:
        result = error
    finally:
        sys.setprofile(None)
    return Calls(number, result)


NEAREST = ("sensitivity", "upper")
"""Columns of floats."""


def read_table(path: Any) -> pd.DataFrame:
    """Read a table that was written; Python's float, as not every pandas reads the nearest one."""
    numbers = {name: lambda text: float(text or "nan") for name in NEAREST}
    return pd.read_csv(path, keep_default_na=False, converters=numbers)


def words_of_html(html: str) -> list[str]:
    """What a reader sees of it, word by word."""
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


def refused(
    call: Callable[[], Any],
    message: str,
    error: type[Exception] | tuple[type[Exception], ...] = sl.errors.InputError,
) -> None:
    """A call is refused in these words, as every refusal is: no full stop, no space at an end."""
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
    assert message == message.strip().removesuffix(".")


def refused_with(
    call: Callable[[], Any],
    words: str,
    error: type[Exception] | tuple[type[Exception], ...] = sl.errors.InputError,
) -> None:
    """A call is refused, and the message has words that a regular expression finds."""
    with pytest.raises(error, match=words):
        call()


def has_opendp() -> bool:
    """Whether OpenDP is installed."""
    return find_spec("opendp") is not None
