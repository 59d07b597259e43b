"""Noise scaled to a smooth sensitivity: the beta that a privacy loss allows, and the scale.

The size of the noise reveals the smooth sensitivity S of a dataset. That is safe because S differs
between neighbors by a factor of at most exp(beta). How large beta may be depends on the noise.

========================= ======================================= =====================
noise, of scale           beta, at most                           the release is
========================= ======================================= =====================
Laplace, 2 S / epsilon    epsilon / (2 ln(2 / delta))             (epsilon, delta)-DP
density proportional to
1 / (1 + abs(z)**gamma),
2 (gamma + 1) S / epsilon epsilon / (2 (gamma + 1))               epsilon-DP
========================= ======================================= =====================

With gamma = 2 the latter is Cauchy noise of scale 6 S / epsilon, with beta at most epsilon / 6.
docs/proofs.md, *Noise for a smooth sensitivity*, proves all of this, with scales that are rounded
to floats.

References
----------
K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
STOC 2007: definitions 2.1 (a smooth bound) and 2.2 (the smooth sensitivity, which is the smallest),
and in section 2 the two families of noise with these constants.
"""

from __future__ import annotations

import math
import sys
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_down, round_up
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.results.smooth import SmoothSensitivity

from .arguments import check_public, finite_upper, positive, rational, small_delta

_LEAST_EPSILON = Fraction(1, 10**9)
_MOST_EPSILON = 3
"""The range of epsilon: the proof for Laplace noise needs both limits; neither is restrictive."""
_MOST_GAMMA = 100

_LEAST_SCALE = Fraction(sys.float_info.min)
"""Smaller floats have fewer digits, so rounding to them would not be smooth."""


def smooth_beta(epsilon: Any, delta: Any = None, *, gamma: Any = None) -> float:
    """Return the largest beta of a smooth sensitivity that a privacy loss allows.

    Choose beta before the search, as in ``smooth_sensitivity(..., beta=smooth_beta(epsilon))``.
    Then scale the noise with `smooth_cauchy_scale`, or with `smooth_laplace_scale` if there is a
    `delta`.

    Parameters
    ----------
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least 1e-9, and with a `delta` at most 3.
    delta : number, optional
        For Laplace noise: the probability of a larger loss, from 1e-100 to 1/2.
    gamma : number, optional
        Without a `delta`: the exponent of the density of the noise, above 1 and at most 100; by
        default 2, which is Cauchy noise.

    Returns
    -------
    float
        ``epsilon / (2 (gamma + 1))``, or ``epsilon / (2 ln(2 / delta))`` with a `delta`, rounded
        down. The logarithm has 48 digits, and it is rounded to the safe side as well.

    Raises
    ------
    InputError
        If an argument is not acceptable, or both `delta` and `gamma` are given.

    Examples
    --------
    >>> smooth_beta(1), smooth_beta(1, gamma=4)
    (0.16666666666666666, 0.09999999999999999)
    >>> round(smooth_beta(1, delta=1e-6), 9)
    0.034462182
    """
    if delta is None:
        return round_down(_cauchy_beta(_epsilon(epsilon), _gamma(2 if gamma is None else gamma)))
    if gamma is not None:
        raise InputError(
            f"give delta (Laplace noise) or gamma (density 1 / (1 + abs(z)**gamma)), got "
            f"delta={shown(delta)} and gamma={shown(gamma)}"
        )
    return round_down(_laplace_beta(_laplace_epsilon(epsilon), small_delta(delta)))


def smooth_laplace_scale(
    result: Any, epsilon: Any, delta: Any, *, public_universe: bool = False
) -> float:
    """Return the scale of Laplace noise for a smooth sensitivity, for (epsilon, delta)-DP.

    Parameters
    ----------
    result : SmoothSensitivity
        The smooth sensitivity of a number, with a `beta` of at most
        ``smooth_beta(epsilon, delta)``.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, from 1e-9 to 3.
    delta : int, float, Fraction or Decimal
        The probability of a larger loss, from 1e-100 to 1/2.
    public_universe : bool, default False
        Whether the records of a result's universe are public. If they are listed, as
        `Universe.from_dataset` does, and this is False, there is a `DatasetUniverseWarning`.

    Returns
    -------
    float
        The scale b in the unit of the answer, ``2 * result.upper / epsilon`` rounded up. The noise
        has the density ``exp(-abs(z) / b) / (2 b)``.

    Raises
    ------
    InputError
        If an argument is not acceptable, `beta` is too large for epsilon and delta, or the result
        has no upper bound, is about a vector, or leaves out datasets (`sizes`).

    Warns
    -----
    DatasetUniverseWarning
        If a result is over listed records, and `public_universe` is False.

    Notes
    -----
    `answer + noise` is (epsilon, delta)-differentially private among the datasets that the
    result is about: neighbors at distance 1 that are drawn from its public universe. The scale
    reveals something about x, so do not publish it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(0, 101, 10))
    >>> beta = smooth_beta(epsilon=1, delta=1e-6)
    >>> of_x = sl.smooth_sensitivity([40, 50, 50, 50, 60], scores, "median", beta=beta)
    >>> round(smooth_laplace_scale(of_x, epsilon=1, delta=1e-6), 3)
    168.343
    """
    loss, chance = _laplace_epsilon(epsilon), small_delta(delta)
    scale = _scale(result, 2 / loss, _laplace_beta(loss, chance), "smooth_beta(epsilon, delta)")
    check_public({"result": result}, public_universe)
    return scale


def smooth_cauchy_scale(
    result: Any, epsilon: Any, gamma: Any = 2, *, public_universe: bool = False
) -> float:
    """Return the scale of Cauchy noise for a smooth sensitivity, for epsilon-DP.

    Parameters
    ----------
    result : SmoothSensitivity
        The smooth sensitivity of a number, with a `beta` of at most
        ``smooth_beta(epsilon, gamma=gamma)``.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least 1e-9.
    gamma : number, default 2
        The exponent of the density of the noise, above 1 and at most 100. The noise has a finite
        variance only above 3.
    public_universe : bool, default False
        Whether the records of a result's universe are public. If they are listed, as
        `Universe.from_dataset` does, and this is False, there is a `DatasetUniverseWarning`.

    Returns
    -------
    float
        The scale s in the unit of the answer, ``2 * (gamma + 1) * result.upper / epsilon`` rounded
        up. The noise is s times a draw with a density proportional to ``1 / (1 + abs(z)**gamma)``,
        which is the standard Cauchy distribution for ``gamma=2``.

    Raises
    ------
    InputError
        If an argument is not acceptable, `beta` is too large for epsilon, or the result has no
        upper bound, is about a vector, or leaves out datasets (`sizes`).

    Warns
    -----
    DatasetUniverseWarning
        If a result is over listed records, and `public_universe` is False.

    Notes
    -----
    `answer + noise` is epsilon-differentially private among the datasets that the result is about:
    neighbors at distance 1 that are drawn from its public universe. The scale reveals something
    about x, so do not publish it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(0, 101, 10))
    >>> x = [40, 50, 50, 50, 60]
    >>> of_x = sl.smooth_sensitivity(x, scores, "median", beta=smooth_beta(epsilon=3))
    >>> round(smooth_cauchy_scale(of_x, epsilon=3), 3)
    36.788
    """
    loss, power = _epsilon(epsilon), _gamma(gamma)
    allowed = _cauchy_beta(loss, power)
    scale = _scale(result, 2 * (power + 1) / loss, allowed, "smooth_beta(epsilon, gamma=gamma)")
    check_public({"result": result}, public_universe)
    return scale


def _scale(result: Any, factor: Fraction, allowed: Fraction, advice: str) -> float:
    """Check a result and return its product with a factor, rounded up so that it stays smooth."""
    _check_smooth(result)
    if result.beta > allowed:
        raise InputError(
            f"result: its beta, {float(result.beta)!r}, is above the largest one for this privacy "
            f"loss, {round_down(allowed)!r}; recompute it with beta={advice}"
        )
    upper = finite_upper(result, "result")
    if not upper:
        return 0.0
    return max(round_up(factor * max(upper, _LEAST_SCALE)), float(_LEAST_SCALE))


def _check_smooth(result: Any) -> None:
    """Raise InputError unless a result is the smooth sensitivity of a number, over all sizes."""
    if not isinstance(result, SmoothSensitivity):
        kind = f"{result.kind} " if isinstance(result, Sensitivity) else ""
        raise InputError(
            "result must be a result of sl.smooth_sensitivity, got a "
            f"{kind}{type(result).__name__}; for a global sensitivity use laplace_scale or "
            "gaussian_scale"
        )
    if isinstance(result.local.witness.query_x, tuple):
        raise InputError(
            f"result: the answer of {result.query.name} is a vector, and these scales are for a "
            "number; use laplace_scale with the global sensitivity in L1"
        )
    least, most = result.sizes
    whole = result.query.least_size, result.universe.size
    # Bounded neighbors have one size. Other relations need all sizes, or S would not be smooth.
    if least != most and (least, math.inf if most is None else most) != whole:
        raise InputError(
            f"result: it is about datasets of size {least} to {most} only, so neighbors of other "
            "sizes are left out; recompute it without sizes, over a universe that has no unlimited "
            "copies, as Universe.from_domain(values, copies=...)"
        )


def _epsilon(epsilon: Any) -> Fraction:
    given = positive(epsilon, "epsilon")
    if given < _LEAST_EPSILON:
        raise InputError(f"epsilon must be a finite number of at least 1e-9, got {epsilon!r}")
    return given


def _laplace_epsilon(epsilon: Any) -> Fraction:
    given = positive(epsilon, "epsilon")
    if not _LEAST_EPSILON <= given <= _MOST_EPSILON:
        raise InputError(
            f"epsilon must be a number from 1e-9 to {_MOST_EPSILON} where a delta is given, got "
            f"{epsilon!r}; for a larger one use Cauchy noise (smooth_cauchy_scale)"
        )
    return given


def _gamma(gamma: Any) -> Fraction:
    accepted = f"a number above 1, at most {_MOST_GAMMA}"
    given = rational(gamma, "gamma", accepted)
    if not 1 < given <= _MOST_GAMMA:
        raise InputError(f"gamma must be {accepted}, got {gamma!r}")
    return given


def _cauchy_beta(epsilon: Fraction, gamma: Fraction) -> Fraction:
    return epsilon / (2 * (gamma + 1))


def _laplace_beta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return epsilon / (2 ln(2 / delta)), lowered by less than one part in 10**48."""
    up = Context(50, ROUND_CEILING, MIN_EMIN, MAX_EMAX, traps=[])
    ratio = 2 / delta
    above = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    # ln of a Decimal is rounded to nearest, whatever the context says: take one more step up.
    return epsilon / (2 * Fraction(up.next_plus(up.ln(above))))
