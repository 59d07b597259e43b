"""Sums of exponentials of fractions, each times a fraction, compared without rounding.

Exponentials of different fractions are linearly independent over the rationals (Lindemann and
Weierstrass), so a sum is zero only if no term is left, and what is not zero shows its sign at some
precision (docs/proofs.md, "Compared noise").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .enclosures import Enclosure, nearest_bounds

_DIGITS = 60
"""Digits of the first try for a sign, and what bounds have to spare."""


@dataclass(frozen=True, eq=False)
class ExponentialSum:
    """A sum of ``factor * e ** exponent``.

    Parameters
    ----------
    terms : mapping of Fraction to Fraction
        Factors by exponent, none of them 0. See `of`, which makes a sum without exponents other
        than 0 the fraction that it is.

    Examples
    --------
    >>> e = ExponentialSum.of({1: 1})
    >>> e * e == ExponentialSum.of({2: 1}), e < 3, e - e
    (True, True, Fraction(0, 1))
    >>> float(e), log_ratio(e, e * e)
    (2.718281828459045, (Fraction(-1, 1), Fraction(-1, 1)))
    """

    terms: Mapping[Fraction, Fraction]

    @staticmethod
    def of(terms: Mapping[Any, Any]) -> Chance:
        """Return factors times the exponentials of exponents, added up."""
        left = {Fraction(one): Fraction(factor) for one, factor in terms.items() if factor}
        if any(left):
            return ExponentialSum(left)
        return left.get(Fraction(0), Fraction(0))

    def enclosed(self, digits: int) -> Enclosure:
        """Return bounds, which are closer with more digits."""
        return sum(
            (Enclosure.of(one, digits).exp() * factor for one, factor in self.terms.items()),
            Enclosure.of(0, digits),
        )

    @cached_property
    def sign(self) -> int:
        """The sign: -1 or 1; 0 is a fraction."""
        digits = _DIGITS
        while True:  # it ends: the sum is not zero
            found = self.enclosed(digits)
            if found.low > 0 or found.high < 0:
                return 1 if found.low > 0 else -1
            digits *= 2

    @cached_property
    def close(self) -> Enclosure:
        """Bounds that differ by less than 1e-40, in proportion."""
        digits = _DIGITS
        while True:
            found = self.enclosed(digits)
            size = min(abs(found.low), abs(found.high))
            if found.low * found.high > 0 and (found.high - found.low).scaleb(40) < size:
                return found
            digits *= 2

    def __add__(self, other: Any) -> Any:
        terms = dict(self.terms)
        for one, factor in _terms(other).items():
            terms[one] = terms.get(one, Fraction(0)) + factor
        return ExponentialSum.of(terms)

    __radd__ = __add__

    def __neg__(self) -> ExponentialSum:
        return ExponentialSum({one: -factor for one, factor in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        terms: dict[Fraction, Fraction] = {}
        for one, factor in self.terms.items():
            for two, by in _terms(other).items():
                terms[one + two] = terms.get(one + two, Fraction(0)) + factor * by
        return ExponentialSum.of(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Fraction | int) -> ExponentialSum:
        return ExponentialSum({one: factor / other for one, factor in self.terms.items()})

    def __eq__(self, other: object) -> bool:
        return not self - other

    def __lt__(self, other: Any) -> bool:
        return _sign(self - other) < 0

    def __gt__(self, other: Any) -> bool:
        return _sign(self - other) > 0

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __float__(self) -> float:
        return nearest_bounds(self.enclosed)[0]


Chance = Fraction | ExponentialSum
"""An exact probability."""


def _terms(number: Any) -> Mapping[Fraction, Fraction]:
    return number.terms if isinstance(number, ExponentialSum) else {Fraction(0): Fraction(number)}


def _sign(number: Chance) -> int:
    if isinstance(number, ExponentialSum):
        return number.sign
    return (number > 0) - (number < 0)


def bounds(number: Chance) -> tuple[Fraction, Fraction]:
    """Return fractions around a number: itself twice, where it is one."""
    if not isinstance(number, ExponentialSum):
        return number, number
    return Fraction(number.close.low), Fraction(number.close.high)


def log_ratio(above: Chance, below: Chance) -> tuple[Fraction, Fraction]:
    """Return bounds on the logarithm of a quotient of two numbers above 0.

    They are one fraction where the quotient is the exponential of one.
    """
    one, two = (dict(sorted(_terms(number).items())) for number in (above, below))
    shift = next(iter(one)) - next(iter(two))
    factor = next(iter(one.values())) / next(iter(two.values()))
    digits = _DIGITS
    if one == {at + shift: factor * by for at, by in two.items()}:
        if factor == 1:
            return shift, shift
        found = Enclosure.of(factor, digits).log() + shift
    else:
        first, second = (
            number.close if isinstance(number, ExponentialSum) else Enclosure.of(number, digits)
            for number in (above, below)
        )
        found = (first * second.inverse()).log()
    return Fraction(found.low), Fraction(found.high)
