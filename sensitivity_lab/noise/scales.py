"""Scales of noise for a sensitivity and a privacy budget, rounded upward; no noise is added here.

Laplace noise belongs to the L1 sensitivity and pure differential privacy (epsilon), Gaussian noise
to the L2 sensitivity and zero-concentrated differential privacy, zCDP (rho). If the answer is a
number, the two sensitivities are equal. Everything is computed in rational arithmetic and rounded
once, upward: a scale that is rounded down would promise a little more privacy than there is.

Some results are refused. A local sensitivity reveals something about the records. A smooth
sensitivity needs its own noise (`smooth_laplace_scale`, `smooth_cauchy_scale`). A sensitivity for
neighbors at exactly some distance can be smaller than the one for nearer neighbors.

The guarantees are those of a *real-valued* mechanism. A floating-point sampler leaks in
its own ways; `sensitivity_lab.releases.opendp` uses one that does not.

The least Gaussian noise for an epsilon and a delta rests on the normal distribution function, with
proven bounds.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_not_negative, check_positive, number_kind
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.exact.enclosures import Enclosure

from .mechanisms import Mechanism, check_delta, not_for_all, root_up

LAPLACE = Mechanism(
    "Laplace",
    "L1",
    "epsilon-DP",
    "Dwork, McSherry, Nissim, Smith (2006), Proposition 1",
    partial(not_for_all, "L1", "Laplace"),
    lambda square, epsilon: root_up(square / epsilon**2),
)

GAUSSIAN = Mechanism(
    "Gaussian",
    "L2",
    "rho-zCDP",
    "Bun, Steinke (2016), Proposition 1.6",
    partial(not_for_all, "L2", "Gaussian"),
    # rho = D**2 / (2 sigma**2), solved for sigma: one root, rounded once.
    lambda square, rho: root_up(square / (2 * rho)),
)


@public_call
def laplace_scale(sensitivity: Any, epsilon: Any, *, public_universe: bool = False) -> float:
    """Return the scale of Laplace noise that makes an answer epsilon-differentially private.

    The smallest float b with ``b >= sensitivity / epsilon``.

    Parameters
    ----------
    sensitivity : number, Root or result of a search
        The L1 sensitivity, at least 0, in the unit of the answer. A result must be a global
        sensitivity for neighbors at a distance of at most k; its `upper` is used.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, above 0.
    public_universe : bool, default False
        Whether the records of a result's universe are public. If they are listed, as
        `Universe.from_dataset` does, and this is False, there is a `DatasetUniverseWarning`.

    Returns
    -------
    float
        The scale b, in the unit of the answer. The standard deviation of the noise is
        ``sqrt(2) b``. It is 0 if the sensitivity is 0. Then neighbors have the same answer, such as
        the number of rows if rows are replaced, and no noise is needed.

    Raises
    ------
    InputError
        If an argument is invalid, or a result cannot be used: it has no finite upper bound,
        is in another norm, is local or smooth, or is for neighbors at exactly some distance. The
        message says what to use instead.

    Warns
    -----
    DatasetUniverseWarning
        If a result is for listed records, or for fewer copies of a record than a dataset can hold,
        and `public_universe` is False.
    PrivateSizeWarning
        If a result is for one size, its neighbors have different sizes, and the query is not a sum
        or count.

    Notes
    -----
    A result covers datasets that are drawn from its universe and have the requested sizes, so the
    universe and the sizes must be public. `Universe.from_domain` and `Universe.from_interval`
    declare what a record can be, without looking at the data. A universe made from private data is
    not public: there, the median of five equal ages has sensitivity 0, and would be published
    without noise.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity in Private Data Analysis"
    (2006), Proposition 1.

    Examples
    --------
    >>> laplace_scale(10, epsilon=2)
    5.0
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_domain([0, 125])
    >>> total = sl.global_sensitivity(ages, "sum", size=10, neighbors="unbounded")
    >>> laplace_scale(total, epsilon=0.5)
    250.0
    """
    square = LAPLACE.checked(sensitivity, "sensitivity", public_universe)
    return LAPLACE.scale(square, check_positive("epsilon", epsilon))


@public_call
def gaussian_scale(sensitivity: Any, rho: Any, *, public_universe: bool = False) -> float:
    """Return the scale of Gaussian noise that makes an answer rho-zCDP.

    The smallest float sigma with ``sigma >= sensitivity / sqrt(2 rho)``.

    Parameters
    ----------
    sensitivity : number, Root or result of a search
        The L2 sensitivity, at least 0, in the unit of the answer; see `laplace_scale`.
    rho : int, float, Fraction or Decimal
        The privacy loss of one release, above 0.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        The standard deviation sigma, in the unit of the answer; 0 if the sensitivity is 0.

    Raises
    ------
    InputError
        As for `laplace_scale`.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Notes
    -----
    The universe and the sizes of a result must be public, as for `laplace_scale`.

    References
    ----------
    Bun, Steinke, "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds"
    (2016), Proposition 1.6.

    Examples
    --------
    >>> gaussian_scale(10, rho=2), gaussian_scale(3, rho=0.5)
    (5.0, 3.0)
    >>> from sensitivity_lab.exact.roots import Root
    >>> gaussian_scale(Root(Fraction(8)), rho=1)
    2.0
    """
    square = GAUSSIAN.checked(sensitivity, "sensitivity", public_universe)
    return GAUSSIAN.scale(square, check_positive("rho", rho))


def laplace_epsilon(d_in: Any, scale: Any, *, public_universe: bool = False) -> float:
    """Return the privacy loss epsilon of Laplace noise: the smallest float >= ``d_in / scale``.

    Parameters
    ----------
    d_in : number, Root or result of a search
        The largest L1 distance of the answers on neighbors, at least 0; see `laplace_scale`.
    scale : int, float, Fraction or Decimal
        The scale b of the noise, at least 0, in the unit of `d_in`.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        Epsilon: 0 if answers do not differ, infinite if they differ and there is no noise.

    Raises
    ------
    InputError
        As for `laplace_scale`.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Examples
    --------
    >>> laplace_epsilon(10, scale=5)
    2.0
    """
    square = LAPLACE.checked(d_in, "d_in", public_universe)
    noise = check_not_negative("scale", scale)
    # d / b is the root of d**2 / b**2, so that a root d is rounded once, at the end.
    return root_up(square / noise**2) if noise else _without_noise(square)


def gaussian_rho(d_in: Any, scale: Any, *, public_universe: bool = False) -> float:
    """Return the zCDP loss of Gaussian noise: the smallest float >= ``d_in**2 / (2 scale**2)``.

    Parameters
    ----------
    d_in : number, Root or result of a search
        The largest L2 distance of the answers on neighbors, at least 0; see `laplace_scale`.
    scale : int, float, Fraction or Decimal
        The standard deviation sigma of the noise, at least 0, in the unit of `d_in`.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        Rho: 0 if answers do not differ, infinite if they differ and there is no noise.

    Raises
    ------
    InputError
        As for `laplace_scale`.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Examples
    --------
    >>> gaussian_rho(10, scale=5)
    2.0
    """
    square = GAUSSIAN.checked(d_in, "d_in", public_universe)
    noise = check_not_negative("scale", scale)
    return round_up(square / (2 * noise**2)) if noise else _without_noise(square)


def _without_noise(amount: Fraction) -> float:
    # Answers that never differ lose nothing, even without noise.
    return math.inf if amount else 0.0


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
    square = ANALYTIC_GAUSSIAN.checked(sensitivity, "sensitivity", public_universe)
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
