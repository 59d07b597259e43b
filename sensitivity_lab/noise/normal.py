"""The normal distribution function, with a bound of what is rounded."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from sensitivity_lab.exact.enclosures import Enclosure

_SERIES = Decimal(100)
"""Up to here the series is used, whose error is proved; beyond it, an inequality."""


def normal(x: Decimal, digits: int) -> Decimal:
    """Return the normal distribution function, off by less than 10**(8 - digits).

    F(x) = 1/2 + density(x) (x + x**3 / 3 + x**5 / (3 5) + ...): all terms have one sign.
    """
    square = x * x
    term = total = x
    odd, least = 1, Decimal(10) ** -digits
    # Once a term is at most half of the one before, those left out are below the last one.
    # From odd >= 2 x**2 on each term is at most half of the one before, and what is left out is
    # below the last one.
    while abs(term) > abs(total) * least or odd < 2 * square:
        odd += 2
        term = term * square / odd
        total += term
    density = (-square / 2).exp() / (2 * pi(digits)).sqrt()
    return Decimal("0.5") + density * total


@lru_cache(maxsize=64)
def pi(digits: int) -> Decimal:
    """Return pi to so many digits, the precision of the context, by Machin's formula."""
    # pi / 4 = 4 arctan(1/5) - arctan(1/239). Ten digits more than asked for cover what whole
    # divisions drop.
    unit: int = 10 ** (digits + 10)

    def arctan_of_inverse(number: int) -> int:
        power = total = unit // number
        odd, sign = 1, 1
        while power:
            # Term i is 1 / ((2 i + 1) number**(2 i + 1)), with alternating signs.
            power //= number * number
            odd, sign = odd + 2, -sign
            total += sign * (power // odd)
        return total

    whole: int = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    return Decimal(whole) / Decimal(unit)


def normal_distribution(x: Enclosure) -> Enclosure:
    """Return bounds of the normal distribution function.

    The series up to 100 on both sides; beyond it ``x / (x**2 + 1) < F(-x) / density(x) < 1 / x``.
    See docs/proofs.md, "Affine laws".

    Examples
    --------
    >>> normal_distribution(Enclosure.of(1, 40)).floats()
    (0.8413447460685429, 0.841344746068543)
    """
    # It rises, so each end of x gives the end of the result.
    low, high = _distribution_at(x.low, x.digits).low, _distribution_at(x.high, x.digits).high
    return Enclosure(low, high, x.digits).clipped(0, 1)


@lru_cache(maxsize=4096)
def _distribution_at(x: Decimal, digits: int) -> Enclosure:
    if abs(x) <= _SERIES:
        with localcontext(_context(digits)):
            # As proved for `normal`: eight digits are lost at most.
            close, error = Fraction(normal(x, digits)), Fraction(1, 10 ** (digits - 8))
        return Enclosure.between(close - error, close + error, digits)
    size = Enclosure(x.copy_abs(), x.copy_abs(), digits)
    density = normal_density(size)
    # F(-x) is between density x / (x**2 + 1) and density / x; F(x) is one less that.
    least, most = density * size * (size * size + 1).inverse(), density * size.inverse()
    tail = Enclosure(least.low, most.high, digits)
    return tail if x < 0 else Enclosure.of(1, digits) - tail


def normal_density(x: Enclosure) -> Enclosure:
    """Return bounds of the density of the normal distribution."""
    with localcontext(_context(x.digits)):
        # pi is rounded once, by less than 10**(2 - digits); 2 pi by twice that.
        close, error = Fraction(pi(x.digits)), Fraction(1, 10 ** (x.digits - 2))
    turn = Enclosure.between(2 * (close - error), 2 * (close + error), x.digits)
    return (x * x * Fraction(-1, 2)).exp() * turn.sqrt().inverse()


def _context(digits: int) -> Context:
    return Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])
