"""Exact differences times exp(-beta t), compared and rounded without error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from .difference import Difference
from .enclosures import Enclosure, float_above

_DIGITS = 40
"""The number of digits of the first try; it doubles until a comparison or rounding is decided."""


@dataclass(frozen=True, eq=False)
class Damped:
    """The number ``gap * exp(-beta * distance)``.

    Parameters
    ----------
    gap : Difference
        At least 0.
    beta : Fraction
        Above 0.
    distance : int
        At least 0.

    Notes
    -----
    A gap is algebraic, and exp of a rational other than 0 is transcendental (Lindemann). So two of
    these numbers with different distances are equal only if both are 0. A number with a distance
    above 0 is neither a float nor halfway between two floats, unless it is 0. So enough digits
    decide every comparison and every rounding.

    Examples
    --------
    >>> Damped(Difference(Fraction(1), Fraction(0)), Fraction(1), 2).nearest()
    0.1353352832366127
    """

    gap: Difference
    beta: Fraction
    distance: int

    def __lt__(self, other: Damped) -> bool:
        """Tell whether this number is smaller than another one with the same beta."""
        if self.distance == other.distance:
            return self.gap < other.gap
        # What can be equal is told apart before: in the loop no number of digits would end it.
        nothing = Difference(Fraction(0), Fraction(0))
        if self.gap == nothing or other.gap == nothing:
            return self.gap < other.gap
        if self.gap == other.gap:
            return self.distance > other.distance
        digits = _DIGITS
        while True:
            (low, high), (other_low, other_high) = self._bracket(digits), other._bracket(digits)
            if high < other_low or low > other_high:
                return high < other_low
            digits *= 2

    def nearest(self) -> float:
        """Return the nearest float."""
        return self._rounded(float) if self.distance else self.gap.nearest()

    def upper(self) -> float:
        """Return the smallest float that is not below the number."""
        return self._rounded(float_above) if self.distance else self.gap.upper()

    def _rounded(self, rounding: Callable[[Decimal], float]) -> float:
        if self.gap == Difference(Fraction(0), Fraction(0)):
            return 0.0
        digits = _DIGITS
        while True:
            low, high = map(rounding, self._bracket(digits))
            if low == high:
                return low
            digits *= 2

    def _bracket(self, digits: int) -> tuple[Decimal, Decimal]:
        """Return a lower and an upper bound of the number, decimals with `digits` digits."""
        # Four bits for each digit: log2(10) is 3.3.
        low, high = self.gap.bracket(4 * digits)
        factor = Enclosure.of(-self.beta * self.distance, digits).exp()
        number = Enclosure.between(low, high, digits) * factor
        return number.low, number.high
