"""Numbers known up to rounding: a lower and an upper bound, in decimals.

Exact differences times exp(-beta t) are compared and rounded by them, without error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from .difference import Difference

MOST_DIGITS = 1280
"""Where bounds do not get closer with more digits, so many are the last try."""


@lru_cache(maxsize=64)
def _contexts(digits: int) -> tuple[Context, Context]:
    """Return the contexts that round down and up; nothing in them is an error."""
    down, up = (
        Context(digits, rounding, MIN_EMIN, MAX_EMAX, traps=[])
        for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    return down, up


class UndecidedError(ArithmeticError):
    """Two numbers agree in all digits that are known."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A real number between two decimals, both finite.

    Parameters
    ----------
    low, high : Decimal
        A lower and an upper bound.
    digits : int
        Results of operations have so many significant digits.

    Notes
    -----
    Every operation rounds its lower bound down and its upper bound up, so the number that a formula
    stands for is always between the bounds of the result.

    Examples
    --------
    >>> Enclosure.of(Fraction(-1), 40).exp().floats()
    (0.3678794411714423, 0.36787944117144233)
    """

    low: Decimal
    high: Decimal
    digits: int

    @staticmethod
    def of(value: Fraction | int, digits: int) -> Enclosure:
        """Return bounds of a fraction."""
        return Enclosure.between(value, value, digits)

    @staticmethod
    def between(low: Fraction | int, high: Fraction | int, digits: int) -> Enclosure:
        """Return bounds of a number between two fractions."""
        down, up = _contexts(digits)
        return Enclosure(
            down.divide(Decimal(low.numerator), Decimal(low.denominator)),
            up.divide(Decimal(high.numerator), Decimal(high.denominator)),
            digits,
        )

    def _coerced(self, other: Enclosure | Fraction | int) -> Enclosure:
        return other if isinstance(other, Enclosure) else Enclosure.of(other, self.digits)

    def __add__(self, other: Enclosure | Fraction | int) -> Enclosure:
        (down, up), other = _contexts(self.digits), self._coerced(other)
        return Enclosure(down.add(self.low, other.low), up.add(self.high, other.high), self.digits)

    def __neg__(self) -> Enclosure:
        return Enclosure(self.high.copy_negate(), self.low.copy_negate(), self.digits)

    def __sub__(self, other: Enclosure | Fraction | int) -> Enclosure:
        return self + -self._coerced(other)

    def __rsub__(self, other: Fraction | int) -> Enclosure:
        return -self + other

    def __mul__(self, other: Enclosure | Fraction | int) -> Enclosure:
        (down, up), other = _contexts(self.digits), self._coerced(other)
        ends = [(one, two) for one in (self.low, self.high) for two in (other.low, other.high)]
        return Enclosure(
            min(down.multiply(*pair) for pair in ends),
            max(up.multiply(*pair) for pair in ends),
            self.digits,
        )

    __radd__, __rmul__ = __add__, __mul__

    def inverse(self) -> Enclosure:
        """Return 1 over the number, which must be known not to be 0."""
        # 1 / x falls on either side of 0, so the upper end gives the lower one.
        down, up = _contexts(self.digits)
        return Enclosure(
            down.divide(Decimal(1), self.high), up.divide(Decimal(1), self.low), self.digits
        )

    def __truediv__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = self._coerced(other)
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        return self * other.inverse()

    def __rtruediv__(self, other: Fraction | int) -> Enclosure:
        return self._coerced(other) / self

    def __pow__(self, power: int) -> Enclosure:
        return math.prod([self] * power, start=Enclosure.of(1, self.digits))

    def __abs__(self) -> Enclosure:
        return self.maximum(-self)

    def __floor__(self) -> int:
        if (below := math.floor(self.low)) != math.floor(self.high):
            raise UndecidedError(f"a number agrees with a whole one to {self.digits} digits")
        return below

    def sign(self) -> int:
        """Return 1 or -1, or 0 for the number 0; raise UndecidedError where that is open."""
        if self.low <= 0 <= self.high and self.low < self.high:
            raise UndecidedError(f"numbers agree to {self.digits} digits")
        return (self.low > 0) - (self.high < 0)

    def __eq__(self, other: object) -> bool:
        return (self - other).sign() == 0  # type: ignore[operator]

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Enclosure | Fraction | int) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: Enclosure | Fraction | int) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: Enclosure | Fraction | int) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: Enclosure | Fraction | int) -> bool:
        return (self - other).sign() >= 0

    def exp(self) -> Enclosure:
        """Return the exponential function of the number."""
        down, up = _contexts(self.digits)
        # The functions of a Decimal are rounded to nearest, whatever the context says: one more
        # step away covers it. exp is above 0.
        return Enclosure(
            max(Decimal(0), down.next_minus(down.exp(self.low))),
            up.next_plus(up.exp(self.high)),
            self.digits,
        )

    def log(self) -> Enclosure:
        """Return the natural logarithm of the number, which must be known to be above 0."""
        down, up = _contexts(self.digits)
        low, high = down.next_minus(down.ln(self.low)), up.next_plus(up.ln(self.high))
        return Enclosure(low, high, self.digits)

    def sqrt(self) -> Enclosure:
        """Return the square root of the number, which is at least 0."""
        down, up = _contexts(self.digits)
        low = down.next_minus(down.sqrt(max(Decimal(0), self.low)))
        return Enclosure(max(Decimal(0), low), up.next_plus(up.sqrt(self.high)), self.digits)

    def maximum(self, other: Enclosure) -> Enclosure:
        """Return the larger one of two numbers."""
        return Enclosure(max(self.low, other.low), max(self.high, other.high), self.digits)

    def minimum(self, other: Enclosure) -> Enclosure:
        """Return the smaller one of two numbers."""
        return Enclosure(min(self.low, other.low), min(self.high, other.high), self.digits)

    def clipped(self, low: int, high: int) -> Enclosure:
        """Return the number if it is known to be between two whole numbers."""
        # Rounding may put an end outside of what is known; both ends are cut.
        first, last = Decimal(low), Decimal(high)
        return Enclosure(
            min(max(self.low, first), last), max(min(self.high, last), first), self.digits
        )

    def floats(self) -> tuple[float, float]:
        """Return the largest float that is not above `low`, and the smallest not below `high`."""
        # Adding 0 makes -0.0 a 0.0.
        return 0.0 - float_above(self.low.copy_negate()), 0.0 + float_above(self.high)


def float_above(value: Decimal) -> float:
    """Return the smallest float that is not below a decimal."""
    close = float(value)
    return close if Decimal(close) >= value else math.nextafter(close, math.inf)


def nearest_bounds(formula: Callable[[int], Enclosure], digits: int = 50) -> tuple[float, float]:
    """Evaluate a formula until at most one float is between its bounds.

    Parameters
    ----------
    formula : callable
        Called with a number of digits, returns bounds.
    digits : int
        The digits of the first try; they double up to `MOST_DIGITS`.

    Returns
    -------
    low, high : float
        Bounds; farther apart only if `MOST_DIGITS` are not enough.
    """
    while True:
        low, high = formula(digits).floats()
        # One float between them: what the formula stands for may be that float.
        if math.nextafter(math.nextafter(low, math.inf), math.inf) >= high or digits >= MOST_DIGITS:
            return low, high
        digits = min(2 * digits, MOST_DIGITS)


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
