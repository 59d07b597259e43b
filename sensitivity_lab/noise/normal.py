"""The normal distribution function with proven bounds, and the least Gaussian noise by it."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from sensitivity_lab.checks import number_kind
from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.noise.context import check_public, not_for_all
from sensitivity_lab.noise.mechanism import Mechanism, check_delta, root_up

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


EPSILONS = Fraction(1, 10**9), Fraction(100)
"""The accepted values of epsilon."""

check_gaussian_epsilon = number_kind(
    f"a number from 1e-9 to {EPSILONS[1]} where a delta is given",
    lambda given: EPSILONS[0] <= given <= EPSILONS[1],
)

_SPARE = 30
"""So many digits are computed beyond those of delta and exp(epsilon)."""
_LOST = 8
"""At most so many of them are lost to rounding."""


def analytic_gaussian_scale(
    sensitivity: Any, epsilon: Any, delta: Any, *, public_universe: bool = False
) -> float:
    """Return the smallest scale of Gaussian noise for (epsilon, delta)-differential privacy.

    Parameters
    ----------
    sensitivity : number, Root or result of a search
        The L2 sensitivity, at least 0, in the answer's unit. If it is a result, its `upper` is
        used; it must be global, for neighbors at most k apart.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, from 1e-9 to 100.
    delta : int, float, Fraction or Decimal
        The chance of a larger loss, from 1e-100 to 0.5.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        The standard deviation sigma, in the answer's unit: at most a few units in the last place
        above the smallest scale that suffices, and never below it.

    Raises
    ------
    InputError
        If an argument is invalid; if a result has no finite upper bound, is in another norm,
        local, smooth, or for neighbors at exactly some distance: the message says what to use.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Notes
    -----
    The universe and the sizes of a result must be public, as for `laplace_scale`. The classical
    scale ``sqrt(2 ln(1.25 / delta)) / epsilon`` is larger, and valid only for epsilon below 1.

    References
    ----------
    Balle, Wang, "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration
    and Optimal Denoising" (ICML 2018), Theorem 8.

    Examples
    --------
    >>> round(analytic_gaussian_scale(1, epsilon=1, delta=1e-5), 4)
    3.7306
    """
    square = ANALYTIC_GAUSSIAN.square(sensitivity, "sensitivity")
    check_public({"sensitivity": sensitivity}, public_universe)
    return ANALYTIC_GAUSSIAN.scale(
        square, check_gaussian_epsilon("epsilon", epsilon), check_delta("delta", delta)
    )


def _gaussian_scale(square: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    return root_up(square * Fraction(ratio(epsilon, delta)) ** 2)


ANALYTIC_GAUSSIAN = Mechanism(
    "Gaussian",
    "L2",
    "(epsilon, delta)-DP",
    "Balle, Wang (2018), Theorem 8",
    partial(not_for_all, "L2", "Gaussian"),
    _gaussian_scale,
)


@lru_cache(maxsize=1024)
def ratio(epsilon: Fraction, delta: Fraction) -> float:
    """Return the smallest float r that provably suffices for a sensitivity of 1."""
    low = high = 1.0
    # Doubling and halving first, as r spans many powers of ten; then a bisection until no float is
    # between the two.
    while not _is_enough(high, epsilon, delta):
        high *= 2
    while _is_enough(low, epsilon, delta):
        low /= 2
    # `low` is not enough, or not shown to be; `high` is.
    while low < (middle := (low + high) / 2) < high:
        if _is_enough(middle, epsilon, delta):
            high = middle
        else:
            low = middle
    return high


def _is_enough(ratio: float, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell whether noise of this scale is enough for a sensitivity of 1, for certain."""
    # Digits of delta, of exp(epsilon) by which the second term is multiplied, and to spare.
    # 4343 / 10000 is just above log10(e): so many digits has exp(epsilon).
    digits = _SPARE + math.ceil(-math.log10(delta)) + math.ceil(epsilon * Fraction(4343, 10000))
    r = Fraction(ratio)
    context = Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])
    with localcontext(context):
        above = _decimal(1 / (2 * r) - epsilon * r)
        below = _decimal(-1 / (2 * r) - epsilon * r)
        growth = _decimal(epsilon).exp()
        # The bound of docs/proofs.md, "Gaussian noise for (epsilon, delta)". It is added, so that
        # "enough" is never said too early.
        error = (2 + growth) * Decimal(10) ** (_LOST - digits)
        reached = normal(above, digits) - growth * normal(below, digits) + error
    return Fraction(reached) <= delta


def _decimal(number: Fraction) -> Decimal:
    """Return a fraction as a decimal of the precision of the context."""
    return Decimal(number.numerator) / number.denominator
