"""Numbers that are known to 60 digits: roots in a claim, evaluated for one n and k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_DIGITS = 10**60


class UndecidedError(ArithmeticError):
    """Two numbers agree to 60 digits, or a root is of a number below 0."""


@dataclass(frozen=True, eq=False)
class Near:
    """A real number between two fractions.

    Examples
    --------
    >>> two = root_of(Fraction(2), 2)
    >>> two > Fraction(7, 5), 1 / two < two / 1, (two * two).lo < 2 < (two * two).hi
    (True, True, True)
    """

    lo: Fraction
    hi: Fraction

    @staticmethod
    def of(number: Any) -> Near:
        """Return a number as one of these."""
        return number if isinstance(number, Near) else Near(Fraction(number), Fraction(number))

    def __add__(self, other: Any) -> Near:
        o = Near.of(other)
        return Near(self.lo + o.lo, self.hi + o.hi)

    def __neg__(self) -> Near:
        return Near(-self.hi, -self.lo)

    def __sub__(self, other: Any) -> Near:
        return self + -Near.of(other)

    def __rsub__(self, other: Any) -> Near:
        return Near.of(other) - self

    def __mul__(self, other: Any) -> Near:
        o = Near.of(other)
        # The least and the largest product of two intervals stand at corners.
        ends = [a * b for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        return Near(min(ends), max(ends))

    def __truediv__(self, other: Any) -> Near:
        o = Near.of(other)
        if o.lo <= 0 <= o.hi:
            raise ZeroDivisionError
        return self * Near(1 / o.hi, 1 / o.lo)

    def __rtruediv__(self, other: Any) -> Near:
        return Near.of(other) / self

    def __pow__(self, power: int) -> Near:
        return math.prod([self] * power, start=Near.of(1))

    def __radd__(self, other: Any) -> Near:
        return Near.of(other) + self

    def __rmul__(self, other: Any) -> Near:
        return Near.of(other) * self

    def __lt__(self, other: Any) -> bool:
        return _sign(self - Near.of(other)) < 0

    def __le__(self, other: Any) -> bool:
        return _sign(self - Near.of(other)) <= 0

    def __gt__(self, other: Any) -> bool:
        return _sign(self - Near.of(other)) > 0

    def __ge__(self, other: Any) -> bool:
        return _sign(self - Near.of(other)) >= 0

    def __eq__(self, other: object) -> bool:
        return _sign(self - Near.of(other)) == 0

    __hash__ = None  # type: ignore[assignment]

    def __abs__(self) -> Near:
        return (
            self
            if self.lo >= 0
            else -self
            if self.hi <= 0
            else Near(Fraction(0), max(-self.lo, self.hi))
        )

    def __floor__(self) -> int:
        if (below := math.floor(self.lo)) != math.floor(self.hi):
            raise UndecidedError("a number agrees with a whole one to 60 digits")
        return below


def _sign(number: Near) -> int:
    """Return 1 or -1, or 0 for the number 0; raise UndecidedError where that is open."""
    if number.lo <= 0 <= number.hi and number.lo < number.hi:
        raise UndecidedError("numbers agree to 60 digits")
    return (number.lo > 0) - (number.hi < 0)


def root_of(number: Any, degree: int) -> Fraction | Near:
    """Return a root, exactly where it is a fraction.

    Examples
    --------
    >>> root_of(Fraction(8, 27), 3)
    Fraction(2, 3)
    """
    given = Near.of(number)
    if given.hi < 0:
        raise UndecidedError(f"it takes a root of {float(given.hi):.6g}")
    ends = [max(end, Fraction(0)) for end in (given.lo, given.hi)]
    # In lowest terms a fraction is a power exactly if both of its parts are.
    exact = Fraction(*(_floor_root(one, degree) for one in ends[0].as_integer_ratio()))
    if ends[0] == ends[1] == exact**degree:
        return exact
    # With y = floor(x 10**(60 q)), the whole root of y is at most 10**60 times the root of x, and
    # one more is above it.
    low, high = (end.numerator * _DIGITS**degree // end.denominator for end in ends)
    return Near(
        *(Fraction(_floor_root(low, degree) + up, _DIGITS) for low, up in ((low, 0), (high, 1)))
    )


def _floor_root(number: int, degree: int) -> int:
    """Return the largest whole number whose power is not above another one, by Newton's steps."""
    if number < 2:
        return number
    # Not below the root: 2**ceil(bits / q). From above Newton's steps fall until they reach it.
    found = 1 << -(-number.bit_length() // degree)
    while True:
        less = ((degree - 1) * found + number // found ** (degree - 1)) // degree
        if less >= found:
            return found
        found = less
