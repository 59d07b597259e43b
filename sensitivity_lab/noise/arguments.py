"""The arguments of a noise scale: numbers, and results that bound the answers of neighbors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_rational
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Root

from .context import bound_for_all, release_of

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


def square_of(sensitivity: Any, name: str, norm: str) -> Fraction:
    """Return the square of a sensitivity, rational even for a root; or raise InputError."""
    if isinstance(sensitivity, Root):
        return sensitivity.square
    return upper_bound(sensitivity, name, norm) ** 2


def upper_bound(sensitivity: Any, name: str, norm: str) -> Fraction:
    """Return a sensitivity, or the upper bound of a result, as a rational; or raise InputError."""
    if isinstance(sensitivity, Root):
        return Fraction(sensitivity.upper)
    release = release_of(sensitivity)
    if release is not None:
        return bound_for_all(release, name, norm)
    accepted = "a finite number of at least 0 or a result of sl.global_sensitivity"
    return not_negative(sensitivity, name, accepted)


def _shown(value: Any) -> str:
    """Return a value as text; only its type if it is long, such as a table of results."""
    long = isinstance(value, (int, Fraction)) and abs(value.numerator).bit_length() > 256
    try:
        text = "" if long else repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        text = ""
    short = 0 < len(text) <= 80 and "\n" not in text
    return text if short else f"an object of the type {type(value).__name__}"
