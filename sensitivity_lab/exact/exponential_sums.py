"""Sums of exponentials of fractions, and quotients of these, compared without rounding.

Exponentials of different fractions are linearly independent over the rationals (Lindemann and
Weierstrass), so a sum is zero only if no term is left, and what is not zero shows its sign at some
precision (docs/proofs.md, "Compared noise").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .enclosures import Enclosure, nearest_bounds

_SIGN_DIGITS = 60
"""Digits of the first try for a sign, and what bounds have to spare."""


@dataclass(frozen=True, eq=False)
class ExponentialSum:
    """A sum of ``factor * e ** exponent``, over a product of such sums.

    Parameters
    ----------
    terms : mapping of Fraction to Fraction
        Factors by exponent, none of them 0. See `of`, which makes a sum without exponents other
        than 0 the fraction that it is.
    over : tuple
        The divisors, each a tuple of exponents with factors, which are above 0; see `quotient`.

    Examples
    --------
    >>> e = ExponentialSum.of({1: 1})
    >>> e * e == ExponentialSum.of({2: 1}), e < 3, e - e
    (True, True, Fraction(0, 1))
    >>> float(e), log_ratio(e, e * e)
    (2.718281828459045, (Fraction(-1, 1), Fraction(-1, 1)))
    """

    terms: Terms
    over: tuple[_Divisor, ...] = ()

    @staticmethod
    def of(terms: Mapping[Any, Any], over: Iterable[_Divisor] = ()) -> Chance:
        """Return factors times the exponentials of exponents, added up."""
        left: Terms = {Fraction(one): Fraction(factor) for one, factor in terms.items() if factor}
        kept = []
        for divisor in over if left else ():
            # A divisor that divides the terms goes, so that equal numbers mostly look alike; where
            # they do not, their difference still is 0.
            whole = _divided(left, dict(divisor))
            if whole is None:
                kept.append(divisor)
            else:
                left = whole
        if any(left) or kept:
            return ExponentialSum(left, tuple(sorted(kept)))
        return left.get(Fraction(0), Fraction(0))

    def enclosed(self, digits: int) -> Enclosure:
        """Return bounds, which are closer with more digits."""
        found = _enclosed(self.terms, digits)
        for divisor in self.over:
            found *= _enclosed(dict(divisor), digits).inverse()
        return found

    @cached_property
    def sign(self) -> int:
        """The sign: -1 or 1; 0 is a fraction."""
        digits = _SIGN_DIGITS
        while True:  # it ends: the sum is not zero
            found = self.enclosed(digits)
            if found.low > 0 or found.high < 0:
                return 1 if found.low > 0 else -1
            digits *= 2

    @cached_property
    def close(self) -> Enclosure:
        """Bounds that differ by less than 1e-40, in proportion."""
        digits = _SIGN_DIGITS
        while True:
            found = self.enclosed(digits)
            size = min(abs(found.low), abs(found.high))
            if found.low * found.high > 0 and (found.high - found.low).scaleb(40) < size:
                return found
            digits *= 2

    def __add__(self, other: Any) -> Any:
        one, two, over = _on_one_divisor(self, other)
        sums = {at: one.get(at, Fraction(0)) + two.get(at, Fraction(0)) for at in one | two}
        return ExponentialSum.of(sums, over)

    __radd__ = __add__

    def __neg__(self) -> ExponentialSum:
        return self / Fraction(-1)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        (one, over), (two, also) = _parts(self), _parts(other)
        return ExponentialSum.of(_product(one, two), (*over, *also))

    __rmul__ = __mul__

    def __truediv__(self, other: Fraction | int) -> ExponentialSum:
        return ExponentialSum({at: factor / other for at, factor in self.terms.items()}, self.over)

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
        return hash((frozenset(self.terms.items()), self.over))

    def __float__(self) -> float:
        return nearest_bounds(self.enclosed)[0]


Chance = Fraction | ExponentialSum
"""An exact probability."""


Terms = dict[Fraction, Fraction]
"""Factors by exponent."""

_Divisor = tuple[tuple[Fraction, Fraction], ...]


def _parts(number: Any) -> tuple[Terms, tuple[_Divisor, ...]]:
    if isinstance(number, ExponentialSum):
        return number.terms, number.over
    return {Fraction(0): Fraction(number)}, ()


def _enclosed(terms: Terms, digits: int) -> Enclosure:
    parts = (Enclosure.of(at, digits).exp() * factor for at, factor in terms.items())
    return sum(parts, Enclosure.of(0, digits))


def _product(one: Terms, two: Terms) -> Terms:
    terms: Terms = {}
    for first, factor in one.items():
        for second, by in two.items():
            terms[first + second] = terms.get(first + second, Fraction(0)) + factor * by
    return terms


def _on_one_divisor(one: Any, two: Any) -> tuple[Terms, Terms, tuple[_Divisor, ...]]:
    """Return the terms of two numbers once they have the same divisors; and these."""
    divisors = [Counter(_parts(number)[1]) for number in (one, two)]
    # The union of multisets has each divisor as often as the number that has it more often.
    both = divisors[0] | divisors[1]
    terms = [_parts(number)[0] for number in (one, two)]
    for place, known in enumerate(divisors):
        for divisor in (both - known).elements():
            terms[place] = _product(terms[place], dict(divisor))
    return terms[0], terms[1], tuple(both.elements())


def _divided(terms: Terms, by: Terms) -> Terms | None:
    """Return an exact quotient by long division from the largest exponent on; else None."""
    left, found, least = dict(terms), Terms(), min(terms) - min(by)
    while left:
        # The largest exponents are cleared first. One below `least` can be in no exact quotient.
        at = max(left) - max(by)
        if at < least:
            return None
        found[at] = left[max(left)] / by[max(by)]
        for one, factor in _product({at: found[at]}, by).items():
            left[one] = left.get(one, Fraction(0)) - factor
            if not left[one]:
                del left[one]
    return found


def quotient(above: Any, below: Any) -> Chance:
    """Return a sum over another one, whose factors are all above 0.

    Examples
    --------
    >>> e = ExponentialSum.of({1: 1})
    >>> quotient(e, e + 1) + quotient(1, e + 1)
    Fraction(1, 1)
    """
    (one, over), (two, none) = _parts(above), _parts(below)
    if none:
        raise ValueError("the divisor has divisors")
    # The least exponent of a divisor is 0, and its factor 1.
    # So normed, divisors that differ by a factor c e**q are one.
    first = min(two)
    divisor = tuple(sorted((at - first, factor / two[first]) for at, factor in two.items()))
    moved = {at - first: factor / two[first] for at, factor in one.items()}
    return ExponentialSum.of(moved, (*over, divisor))


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
    one, two = (dict(sorted(terms.items())) for terms in _on_one_divisor(above, below)[:2])
    shift = next(iter(one)) - next(iter(two))
    factor = next(iter(one.values())) / next(iter(two.values()))
    digits = _SIGN_DIGITS
    # one = factor e**shift two: the logarithm is shift + log(factor).
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
