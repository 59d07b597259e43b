"""Values that callers pass, as the numbers of Python that they stand for."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.errors import InputError

Number = int | float | Fraction | Decimal
"""The types of records; each value stands for exactly one rational."""

MOST_DIGITS = 4_000
"""The largest number of decimal digits of a number, and of its denominator."""

_MOST_BITS: int = (10**MOST_DIGITS).bit_length()
"""By bits, a number with one digit more can pass; Python writes 4,300 digits."""


def is_long(value: Any) -> bool:
    """Tell whether a number has more than `MOST_DIGITS` digits; False for anything else."""
    if isinstance(value, int | Fraction):
        longest = max(value.numerator.bit_length(), value.denominator.bit_length())
        return longest > _MOST_BITS
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        return len(digits) + max(int(exponent), 0) > MOST_DIGITS or -int(exponent) > MOST_DIGITS
    return False


def unboxed(value: Any) -> Any:
    """Return a scalar of NumPy, or an array of a single one, as a value of Python.

    Texts and points of time are converted too. Long doubles stay as they are, since Python has
    none (see `as_python`), and so does everything else.

    Examples
    --------
    >>> unboxed(np.float32(0.5)), unboxed(np.str_("a")), unboxed([3])
    (0.5, 'a', [3])
    """
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if single else value


def as_python(value: Any) -> Any:
    """Return a number of NumPy, or an array of a single one, as a number of Python.

    A long double becomes a float where that is lossless, else a Fraction. Everything else stays as
    it is.

    Examples
    --------
    >>> as_python(np.int8(3)), as_python(np.longdouble(0.5)), as_python("3")
    (3, 0.5, '3')
    """
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    if not isinstance(value, np.generic) or value.dtype.kind not in "biuf":
        return value
    if isinstance(value, np.longdouble) and np.isfinite(value):
        exact = Fraction(*value.as_integer_ratio())
        close = float(value)
        return close if math.isfinite(close) and Fraction(close) == exact else exact
    return float(value) if isinstance(value, np.longdouble) else value.item()


def finite_number(value: Any) -> Number | None:
    """Return a finite number with at most `MOST_DIGITS` digits as Python's; None for anything else.

    Examples
    --------
    >>> finite_number(np.float32(0.5)), finite_number(True), finite_number(float("inf"))
    (0.5, None, None)
    >>> finite_number(Decimal("1e99999999")) is None
    True
    """
    kind = type(value)
    if kind is float:  # the usual types first: millions of records pass here
        return value if math.isfinite(value) else None
    if kind is int:
        return None if value.bit_length() > _MOST_BITS else value
    number = value if kind in (Fraction, Decimal) else as_python(value)
    if isinstance(number, bool) or not isinstance(number, Number):
        return None
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    if isinstance(number, Decimal) and not number.is_finite():
        return None
    return None if is_long(number) else number


def is_finite(number: Any) -> bool:
    """Tell whether a value is anything but an infinite float or NaN, however large it is.

    Examples
    --------
    >>> is_finite(10**400), is_finite(0.5), is_finite(float("nan"))
    (True, True, False)
    """
    return not isinstance(number, float) or math.isfinite(number)


def plainest(number: Fraction) -> int | float | Fraction:
    """Return a fraction as an int or a float that is equal to it, if there is one.

    Examples
    --------
    >>> plainest(Fraction(4)), plainest(Fraction(1, 8)), plainest(Fraction(1, 3))
    (4, 0.125, Fraction(1, 3))
    """
    if number.denominator == 1:
        return number.numerator
    try:
        close = float(number)
    except OverflowError:
        return number
    return close if close == number else number


def steps_to(last: int | Decimal, first: int | Decimal, step: int | Decimal, text: str) -> int:
    """Return how many steps lead from the first value of a domain to its last; a domain has both.

    Examples
    --------
    >>> steps_to(Decimal("0.3"), 0, Decimal("0.1"), "'0:0.3:0.1'")
    3
    """
    steps, left = divmod(Fraction(last) - Fraction(first), Fraction(step))
    if left:
        below, above = (first + number * step for number in (steps, steps + 1))
        raise InputError(
            f"the domain {text} ends at {last}, which steps of {step} from {first} do not meet; "
            f"end it at {below} or {above}"
        )
    return steps


def whole_number(value: Any) -> int | None:
    """Return a whole number as an int of Python; None for anything else, truth values included.

    Examples
    --------
    >>> whole_number(np.int8(3)), whole_number(np.array(3)), whole_number(3.0), whole_number(True)
    (3, 3, None, None)
    """
    number = as_python(value)
    return int(number) if isinstance(number, int) and not isinstance(number, bool) else None


def is_of_data(given: Any) -> bool:
    """Tell whether numbers or names were computed by numpy or pandas: most likely from the data."""
    several = list(given) if isinstance(given, tuple | list) else []
    return any(
        type(one).__module__.partition(".")[0] in ("numpy", "pandas", "polars")
        for one in [given, *several]
    )
