"""Values as text in messages: on one line, not too long, and without failing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from .values import MOST_DIGITS, as_python, is_long

_SHOWN = 200
"""The largest number of characters of a value that a message shows."""


def shown(value: Any) -> str:
    """Return a value as an error message shows it: its repr, on one line and not too long.

    Examples
    --------
    >>> shown("a"), shown(10**5000)
    ("'a'", 'about 1e5000 (numbers have at most 4,000 digits)')
    >>> import numpy as np
    >>> shown(np.eye(2))
    'array([[1., 0.], [0., 1.]])'
    """
    value = as_python(value)
    if is_long(value):
        return f"about {magnitude(value)} (numbers have at most {MOST_DIGITS:,} digits)"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        return f"<{type(value).__name__}>"
    if "\n" in text:
        text = " ".join(text.split())
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 4 :]}"
    return text


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return the end of a message about an unknown name: the known one that is most like it.

    Examples
    --------
    >>> did_you_mean("medain", ["mean", "median"]), did_you_mean("mode", ["mean", "median"])
    ("; did you mean 'median'?", '')
    """
    texts = [text for text in known if isinstance(text, str)]
    # Long texts are no names, and comparing them takes long.
    usable = isinstance(name, str) and len(name) <= _SHOWN
    alike = get_close_matches(name, texts, n=1, cutoff=0.7) if usable else []
    return f"; did you mean {shown(alike[0])}?" if alike else ""


def text_of(value: Any) -> str:
    """Return a value as `str` writes it, or as `shown` does where that fails."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return shown(value)


def magnitude(value: int | Fraction | Decimal) -> str:
    """Return the order of magnitude of a number, as a power of ten, without writing its digits.

    Examples
    --------
    >>> magnitude(10**5000), magnitude(-(10**5000)), magnitude(Fraction(1, 10**5000))
    ('1e5000', '-1e5000', '1e-5000')
    """
    sign = "-" if value < 0 else ""
    if isinstance(value, Decimal):
        return f"{sign}1e{value.adjusted()}"
    above, below = abs(value.numerator), value.denominator
    if above == 0:
        return "0"
    return f"{sign}1e{_floor_log10(above, below)}"


def _floor_log10(above: int, below: int) -> int:
    """Return the largest p with ``10**p <= above / below``."""
    power = math.floor((above.bit_length() - below.bit_length() - 1) * math.log10(2))
    while above * 10 ** max(-power - 1, 0) >= below * 10 ** max(power + 1, 0):
        power += 1
    return power


def number_text(value: int | Fraction) -> str:
    """Return a rational as text, however many digits it has: `str` writes at most 4,300.

    Examples
    --------
    >>> number_text(Fraction(-7, 2)), len(number_text(10**9000))
    ('-7/2', 9001)
    """
    below = "" if value.denominator == 1 else f"/{_digits(value.denominator)}"
    return f"{'-' if value < 0 else ''}{_digits(abs(value.numerator))}{below}"


def _digits(number: int) -> str:
    """Return the digits of a number that is not negative."""
    parts = []
    while number >= 10**MOST_DIGITS:
        number, last = divmod(number, 10**MOST_DIGITS)
        parts.append(str(last).zfill(MOST_DIGITS))
    return str(number) + "".join(reversed(parts))
