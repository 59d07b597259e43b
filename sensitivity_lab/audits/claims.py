"""Claims: a number, or a function of the distance and perhaps of the size; and which are worse."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter
from typing import Any

import numpy as np

from sensitivity_lab.checks import Kind, as_python, in_brackets, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.literals import decimals, one_line, plain
from sensitivity_lab.results.result import Found

ROUNDING_ULPS = 4
"""The default tolerance: what counts as rounding, in units in the last place of the truth."""

_DIGITS = 4300
"""The largest number of digits of a claim: Python writes integers with at most so many."""

_BITS = math.floor(_DIGITS * math.log2(10))

Claim = tuple[Number | None, str]
"""The promise of a map at a distance, or None and the reason why it promises nothing."""


def check_claim(claimed: Any, distance: Number) -> Number:
    """Return a claimed sensitivity as a number of Python, or raise InputError.

    Examples
    --------
    >>> check_claim(np.float32(0.5), 1)
    0.5
    """
    return check_amount(f"the claim at distance {distance}", claimed)


def check_amount(name: str, given: Any) -> Number:
    """Return a claim or a budget as a number of Python, or raise InputError.

    The exact root of a stability map, such as sqrt(2), counts as the smallest float above it.

    Examples
    --------
    >>> check_amount("budget", Root(2))
    1.4142135623730951
    >>> check_amount("budget", -1)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: budget must be a number that is not negative, got -1
    """
    number = _check_class(name, given)
    wanted = f"{name} must be {_ACCEPTED}"
    # Comparing a signalling NaN raises an error.
    if (isinstance(number, Decimal) and number.is_nan()) or number != number:
        raise InputError(f"{wanted}, got {shown(number)}")
    if number == math.inf:
        return math.inf
    if _too_long(number):
        raise InputError(f"{name} has more than {_DIGITS:,} digits; claim math.inf for no bound")
    if number < 0:
        raise InputError(f"{wanted}, got {shown(number)}")
    return number


def _class_of_number(given: Any) -> Number | None:
    number = given.upper if isinstance(given, Root) else as_python(given)
    return number if isinstance(number, Number) and not isinstance(number, bool) else None


def _no_amount(given: Any) -> str:
    """Return what to add about a value that is not of a class of numbers."""
    if isinstance(given, Found):
        way_out = next(
            name for name in ("exact", "upper", "value") if getattr(given, name) is not None
        )
        return f"; pass result.{way_out}"
    return in_brackets(given)


_ACCEPTED = "a number that is not negative"

_check_class: Kind[Number] = Kind(
    f"{_ACCEPTED}: an int, float, Fraction or Decimal", _class_of_number, _no_amount
)


def _too_long(number: Number) -> bool:
    """Tell whether a number, as a fraction, has more digits than Python writes."""
    if isinstance(number, Decimal):
        if not number.is_finite():
            return False
        _, digits, exponent = number.as_tuple()
        return max(len(digits), abs(int(exponent)), abs(number.adjusted())) > _DIGITS
    if isinstance(number, float):
        return False
    return max(number.numerator.bit_length(), number.denominator.bit_length()) > _BITS


def claim_at(claim: Any, distance: int, size: int | None = None, name: str = "distance") -> Number:
    """Return the claim at a distance: a number as it is, or the value of a function.

    Parameters
    ----------
    claim : number or callable
        A callable takes the distance, and the size as well if it needs one.
    distance : int
        The distance k.
    size : int, optional
        The size n.
    name : str, default "distance"
        The name of the distance in errors: "distance" or "d_in".

    Raises
    ------
    InputError
        If the callable raises an error, or the claim is not a number; the message names the
        distance, and the size if the claim depends on it.
    """
    if not callable(claim):
        return check_claim(claim, distance)
    if not needs_size(claim):
        size = None
    parameter, at = ("k", "distance ") if name == "distance" else (name, f"{name} = ")
    try:
        if size is None:
            claimed = claim(distance)
        else:
            claimed = claim(distance, n=size) if _by_keyword(claim) else claim(distance, size)
    except Exception as error:
        of, where = ("", "") if size is None else (" and n", f" and size {size}")
        raise _failed(f"{parameter}{of}", f"{at}{distance}{where}", error) from error
    return check_claim(claimed, distance)


def _failed(of: str, where: str, error: Exception) -> InputError:
    """Return that a claim has no value somewhere."""
    kind = type(error).__name__
    return InputError(f"the claim, a function of {of}, raised {kind} at {where}: {error}")


def needs_size(claim: Any) -> bool:
    """Tell whether a claim is a function of the distance k and the size n.

    It is if it has two parameters without defaults, or a keyword-only `n` without a default.

    Examples
    --------
    >>> needs_size(lambda k, n: k / n), needs_size(lambda k, n=6: k / n), needs_size(2)
    (True, False, False)
    """
    by_place = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
    return len(_required(claim, *by_place)) == 2 or _by_keyword(claim)


def _by_keyword(claim: Any) -> bool:
    """Tell whether the size is a keyword-only parameter."""
    return "n" in _required(claim, Parameter.KEYWORD_ONLY)


def _required(claim: Any, *kinds: Any) -> list[str]:
    """Return the names of the parameters of some kinds that have no default."""
    if not callable(claim):
        return []
    try:
        given = inspect.signature(claim).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return []
    return [one.name for one in given if one.default is one.empty and one.kind in kinds]


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
        return answer.dtype.kind == "f" or holds_float(answer.tolist())
    return isinstance(answer, float | np.floating)


_MISTAKES = (TypeError, NameError, AttributeError, ImportError)
"""Errors of code that was written wrongly; with others a map says that it promises nothing."""


def claims_of(claim: Callable[[Number], Any], limits: Sequence[Number]) -> list[Claim]:
    """Return what a map promises at each distance; None where it refuses or promises no distance.

    Raises
    ------
    InputError
        If the map fails by a mistake in its code, such as a wrong name.

    Examples
    --------
    >>> claims_of(lambda d_in: [0, 3, float("nan")][d_in], [1, 2, 3])
    [(3, ''), (None, 'the map returned nan'), (None, 'IndexError: list index out of range')]
    """
    return [_claim(claim, limit) for limit in limits]


def _claim(claim: Callable[[Number], Any], limit: Number) -> Claim:
    try:
        given = claim(limit)
    except _MISTAKES as error:
        raise _failed("the distance alone", f"distance {limit}", error) from error
    except Exception as error:  # noqa: BLE001 - the row reports whatever the map does
        return None, _reason_of(error)
    try:
        return check_claim(given, limit), ""
    except InputError:
        return None, f"the map returned {one_line(shown(given))}"


def _reason_of(error: Exception) -> str:
    """Return the message of an error on one line, without a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(' ")')]
    if not lines:
        return type(error).__name__
    if type(error).__module__.partition(".")[0] != "opendp":
        return one_line(f"{type(error).__name__}: {error}")[:200]
    return one_line(lines[-1 if "Traceback" in str(error) else 0])[:200]


def times(k: int, claim: Number) -> Number:
    """Return the claim at distance k: a float as a float if it is in range, others exactly."""
    if isinstance(claim, int) or (isinstance(claim, float) and not math.isinf(k * claim)):
        return k * claim
    return k * Fraction(claim)


def excess(truth: Difference | float, claim: Number) -> tuple[bool, bool, Fraction | float]:
    """Rank a pair by truth over claim, where x / 0 is the largest ratio and 0 / 0 the smallest.

    In an L2 norm the truth is a root, so the squares of truth and claim are compared.
    """
    size: Fraction | float = math.inf
    if isinstance(truth, Difference):
        size = truth.first if truth.root else truth.close() ** 2
    nothing = claim == 0
    return nothing and size > 0, not nothing, size if nothing else size / Fraction(claim) ** 2


def division(claims: tuple[Number, Number]) -> tuple[bool, Fraction]:
    """Rank a pair by the larger claim over the smaller, where x / 0 is the largest ratio."""
    small, large = sorted(Fraction(claim) for claim in claims)
    return small == 0, large if small == 0 else large / small


def ratio(above: Fraction, below: Fraction) -> float:
    """Return a quotient as a float, infinite where it is too large for one; 0 / 0 is 0.

    Examples
    --------
    >>> ratio(Fraction(1), Fraction(4)), ratio(Fraction(-1), Fraction(0))
    (0.25, -inf)
    """
    try:
        return float(above / below)
    except (OverflowError, ZeroDivisionError):
        return math.inf if above > 0 else -math.inf if above < 0 else 0.0
