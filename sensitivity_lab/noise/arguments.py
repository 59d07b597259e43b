"""The numbers that a noise scale is made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_rational
from sensitivity_lab.errors import InputError

DELTAS = Fraction(1, 10**100), Fraction(1, 2)
"""What a delta may be."""


def rational(value: Any, name: str, accepted: str = "a finite number") -> Fraction:
    """Return the rational that a number stands for, or raise InputError."""
    return check_rational(name, value, accepted, text=_shown)


def positive(value: Any, name: str) -> Fraction:
    """Return a number above 0 as a rational, or raise InputError."""
    accepted = "a finite number above 0"
    given = rational(value, name, accepted)
    if given <= 0:
        raise InputError(f"{name} must be {accepted}, got {_shown(value)}")
    return given


def not_negative(
    value: Any, name: str, accepted: str = "a finite number of at least 0"
) -> Fraction:
    """Return a number of at least 0 as a rational, or raise InputError."""
    given = rational(value, name, accepted)
    if given < 0:
        raise InputError(f"{name} must be {accepted}, got {_shown(value)}")
    return given


def small_delta(value: Any) -> Fraction:
    """Return the delta of (epsilon, delta)-differential privacy, or raise InputError."""
    accepted = "a number from 1e-100 to 0.5"
    given = rational(value, "delta", accepted)
    if not DELTAS[0] <= given <= DELTAS[1]:
        raise InputError(f"delta must be {accepted}, got {value!r}")
    return given


def _shown(value: Any) -> str:
    """Return a value as text; only its type if it is long, such as a table of results."""
    long = isinstance(value, (int, Fraction)) and abs(value.numerator).bit_length() > 256
    try:
        text = "" if long else repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        text = ""
    short = 0 < len(text) <= 80 and "\n" not in text
    return text if short else f"an object of the type {type(value).__name__}"
