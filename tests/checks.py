"""What a result must say when the oracle has the last word."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import sensitivity_lab as sl


def check_value(result: sl.Sensitivity, expected: Any) -> None:
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
