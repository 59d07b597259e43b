"""Claimed sensitivities: a number, or a function of the distance and perhaps of the size."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import as_python, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import decimals, plain

ROUNDING_ULPS = 4
"""The default tolerance: what counts as rounding, in units in the last place of the truth."""

_DIGITS = 4300
"""The largest number of digits of a claim: Python writes integers with at most so many."""

_BITS = math.floor(_DIGITS * math.log2(10))


def check_claim(claimed: Any, distance: Number) -> Number:
    """Return a claimed sensitivity as a number of Python, or raise InputError.

    Examples
    --------
    >>> check_claim(np.float32(0.5), 1)
    0.5
    """
    number = as_python(claimed)
    wanted = f"the claim at distance {distance} must be a number that is not negative"
    if not isinstance(number, Number) or isinstance(number, bool):
        kind = type(number).__name__
        raise InputError(
            f"{wanted}: an int, float, Fraction or Decimal, got {shown(number)} ({kind})"
        )
    # Comparing a signalling NaN raises an error.
    if (isinstance(number, Decimal) and number.is_nan()) or number != number:
        raise InputError(f"{wanted}, got {shown(number)}")
    if number == math.inf:
        return math.inf
    if _too_long(number):
        raise InputError(
            f"the claim at distance {distance} has more than {_DIGITS:,} digits; "
            "claim math.inf for no bound"
        )
    if number < 0:
        raise InputError(f"{wanted}, got {shown(number)}")
    return number


def _too_long(number: Number) -> bool:
    """Tell whether a number, as a fraction, has more digits than Python writes."""
    if isinstance(number, Decimal):
        if not number.is_finite():
            return False
        _, digits, exponent = number.as_tuple()
        return max(len(digits), abs(int(exponent)), abs(number.adjusted())) > _DIGITS
    if isinstance(number, float):
        return False
    return max(abs(number.numerator).bit_length(), number.denominator.bit_length()) > _BITS


def claim_at(claim: Any, distance: int, size: int | None = None, name: str = "distance") -> Any:
    """Return the claim at a distance: a number as it is, or the value of a function.

    Parameters
    ----------
    claim : number or callable
        A callable takes the distance, and the size as well if there is one.
    distance : int
        The distance k.
    size : int, optional
        The size n.
    name : str, default "distance"
        The name of the distance in errors: "distance" or "d_in".

    Raises
    ------
    InputError
        If the callable raises an error; the message names the distance and the size.
    """
    if not callable(claim):
        return claim
    parameter, at = ("k", "distance ") if name == "distance" else (name, f"{name} = ")
    try:
        if size is None:
            return claim(distance)
        return claim(distance, n=size) if _by_keyword(claim) else claim(distance, size)
    except Exception as error:
        of, where = ("", "") if size is None else (" and n", f" and size {size}")
        raise InputError(
            f"the claim, a function of {parameter}{of}, raised {type(error).__name__} at "
            f"{at}{distance}{where}: {error}"
        ) from error


def needs_size(claim: Any) -> bool:
    """Tell whether a claim is a function of the distance k and the size n.

    It is if it has two parameters without defaults, or a keyword-only `n` without a default.

    Examples
    --------
    >>> needs_size(lambda k, n: k / n), needs_size(lambda k, n=6: k / n), needs_size(2)
    (True, False, False)
    """
    required = [
        parameter
        for parameter in _parameters(claim)
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) == 2 or _by_keyword(claim)


def _by_keyword(claim: Any) -> bool:
    """Tell whether the size is a keyword-only parameter."""
    return any(
        parameter.name == "n"
        and parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
        for parameter in _parameters(claim)
    )


def _parameters(claim: Any) -> list[inspect.Parameter]:
    if not callable(claim):
        return []
    try:
        return list(inspect.signature(claim).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return []


def check_tolerance(tolerance_ulps: Any) -> Number:
    """Return a tolerance in units in the last place, or raise InputError."""
    given = as_python(tolerance_ulps)
    number: int | float | Fraction = given
    known = isinstance(number, int | float | Fraction) and not isinstance(number, bool)
    if not known or not 0 <= number < math.inf:
        raise InputError(
            "tolerance_ulps must be a finite number of units in the last place of the truth, at "
            f"least 0, got {shown(tolerance_ulps)}"
        )
    return number


def number(value: Number) -> str:
    """Return a claim or a truth as text: a short fraction with its decimals, or decimals only.

    Examples
    --------
    >>> number(Fraction(10, 7)), number(Fraction(10**20 + 1, 10**20)), number(0.1)
    ('10/7 = 1.428571429', '1', '0.1')
    """
    if isinstance(value, float):
        return str(value)
    text = plain(value)
    return f"{text} = {decimals(Fraction(value))}" if "/" in text else text


def holds_float(answer: Any) -> bool:
    """Tell whether an answer is a float or contains one.

    Examples
    --------
    >>> holds_float((1, 2.0)), holds_float({"a": Fraction(1, 3)})
    (True, False)
    """
    if isinstance(answer, Mapping):
        return any(map(holds_float, answer.values()))
    if isinstance(answer, list | tuple):
        return any(map(holds_float, answer))
    if isinstance(answer, np.ndarray):
        return answer.dtype.kind == "f" or any(map(holds_float, answer.ravel().tolist()))
    return isinstance(answer, float | np.floating)
