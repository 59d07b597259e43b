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

All of this is for steps of one record. If a person has up to k rows, x and y are up to k steps
apart, x = x_0, x_1, ..., x_k = y, and each step loses at most epsilon' and delta'. Hence

    P_0(T) <= exp(epsilon') P_1(T) + delta' <= ...
           <= exp(k epsilon') P_k(T) + delta' (1 + exp(epsilon') + ... + exp((k - 1) epsilon')),

and epsilon' = epsilon / k, delta' = delta (exp(epsilon / k) - 1) / (exp(epsilon) - 1) are enough
(group privacy). The datasets between x and y are drawn from the universe, too, since it has all
records of both; where some are added and others removed, the additions come first.

References
----------
K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
STOC 2007: definitions 2.1 (a smooth bound) and 2.2 (the smooth sensitivity, which is the smallest),
and in section 2 the two families of noise with these constants.

S. Vadhan, The Complexity of Differential Privacy, 2017: lemma 2.2, group privacy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_whole, number_kind, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.results.noise_context import NoiseContext

from .mechanisms import (
    DELTAS,
    Mechanism,
    check_delta,
    check_public,
    finite_bound,
    for_rows,
    noise_context_of,
    root_up,
)

_LEAST_EPSILON = Fraction(1, 10**9)
_MOST_EPSILON = 3
"""The range of epsilon: the proof for Laplace noise needs both limits; neither is restrictive."""

_check_gamma = number_kind("a number above 1, at most 100", lambda given: 1 < given <= 100)

_LEAST_SCALE = Fraction(sys.float_info.min)
"""Smaller floats have fewer digits, so rounding to them would not be smooth."""


def smooth_beta(epsilon: Any, delta: Any = None, *, gamma: Any = None, k: int = 1) -> float:
    """Return the largest beta of a smooth sensitivity that a privacy loss allows.

    Choose beta before the search, as in ``smooth_sensitivity(..., beta=smooth_beta(epsilon))``.
    Then scale the noise with `smooth_cauchy_scale`, or with `smooth_laplace_scale` if there is a
    `delta`.

    Parameters
    ----------
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least k times 1e-9, and with a `delta` at most 3 k.
    delta : number, optional
        For Laplace noise: the probability of a larger loss, from 1e-100 to 1/2.
    gamma : number, optional
        Without a `delta`: the exponent of the density of the noise, above 1 and at most 100; by
        default 2, which is Cauchy noise.
    k : int, default 1
        The most rows that one person can have: the k of the neighbors of `smooth_sensitivity`.

    Returns
    -------
    float
        ``epsilon / (2 (gamma + 1))``, or ``epsilon / (2 ln(2 / delta))`` with a `delta`, rounded
        down. The logarithm has 48 digits, and is rounded to the safe side, too. For k above 1, the
        formulas use what each of k steps may lose: ``epsilon / k`` for epsilon, and
        ``delta (exp(epsilon / k) - 1) / (exp(epsilon) - 1)`` for delta.

    Raises
    ------
    InputError
        If an argument is invalid, or both `delta` and `gamma` are given.

    Examples
    --------
    >>> smooth_beta(1), smooth_beta(1, gamma=4)
    (0.16666666666666666, 0.09999999999999999)
    >>> round(smooth_beta(1, delta=1e-6), 9), smooth_beta(5, k=5)
    (0.034462182, 0.16666666666666666)
    """
    steps = check_whole("k", k, "the most rows of one person, at least 1")
    if delta is None:
        step = _epsilon(epsilon, steps)
        return round_down(_cauchy_beta(step, _check_gamma.or_none("gamma", gamma) or Fraction(2)))
    if gamma is not None:
        raise InputError(
            f"give delta (Laplace noise) or gamma (density 1 / (1 + abs(z)**gamma)), got "
            f"delta={shown(delta)} and gamma={shown(gamma)}"
        )
    return round_down(_laplace_beta(*laplace_step(epsilon, delta, steps)))


def smooth_laplace_scale(
    result: Any, epsilon: Any, delta: Any, *, public_universe: bool = False
) -> float:
    """Return the scale of Laplace noise for a smooth sensitivity, for (epsilon, delta)-DP.

    Parameters
    ----------
    result : SmoothSensitivity
        The smooth sensitivity of a number, with a `beta` of at most
        ``smooth_beta(epsilon, delta, k=k)``, where k is that of its neighbors.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, from k times 1e-9 to 3 k.
    delta : int, float, Fraction or Decimal
        The probability of a larger loss, from 1e-100 to 1/2.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        The scale b in the unit of the answer, ``2 * k * result.upper / epsilon`` rounded up. The
        noise has the density ``exp(-abs(z) / b) / (2 b)``.

    Raises
    ------
    InputError
        If an argument is invalid, `beta` is too large for epsilon and delta, or the result
        has no upper bound, is for a vector, or leaves out datasets (`sizes`).

    Warns
    -----
    DatasetUniverseWarning
        As for `laplace_scale`.

    Notes
    -----
    `answer + noise` is (epsilon, delta)-differentially private among the datasets that the
    result covers: neighbors at a distance of at most k that are drawn from its public universe.
    The scale reveals something about x, so do not publish it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(0, 101, 10))
    >>> beta = smooth_beta(epsilon=1, delta=1e-6)
    >>> of_x = sl.smooth_sensitivity(
    ...     scores, "median", dataset=[40, 50, 50, 50, 60], beta=beta, neighbors="bounded"
    ... )
    >>> round(smooth_laplace_scale(of_x, epsilon=1, delta=1e-6), 3)
    168.343
    """
    context = _smooth_context(SMOOTH_LAPLACE, result)
    losses = laplace_step(epsilon, delta, context.neighbors.k)
    scale = _smooth_scale(SMOOTH_LAPLACE, context, losses, "epsilon, delta")
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
        ``smooth_beta(epsilon, gamma=gamma, k=k)``, where k is that of its neighbors.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least k times 1e-9.
    gamma : number, default 2
        The exponent of the density of the noise, above 1 and at most 100. The noise has a finite
        variance only above 3.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    float
        The scale s in the unit of the answer, ``2 * (gamma + 1) * k * result.upper / epsilon``
        rounded up. The noise is s times a draw with a density proportional to
        ``1 / (1 + abs(z)**gamma)``, which is the standard Cauchy distribution for ``gamma=2``.

    Raises
    ------
    InputError
        If an argument is invalid, `beta` is too large for epsilon, or the result has no
        upper bound, is for a vector, or leaves out datasets (`sizes`).

    Warns
    -----
    DatasetUniverseWarning
        As for `laplace_scale`.

    Notes
    -----
    `answer + noise` is epsilon-differentially private among the datasets that the result covers:
    neighbors at a distance of at most k that are drawn from its public universe. The scale reveals
    something about x, so do not publish it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(0, 101, 10))
    >>> x = [40, 50, 50, 50, 60]
    >>> of_x = sl.smooth_sensitivity(
    ...     scores, "median", dataset=x, beta=smooth_beta(epsilon=3), neighbors="bounded"
    ... )
    >>> round(smooth_cauchy_scale(of_x, epsilon=3), 3)
    36.788

    Up to two rows a person:

    >>> beta = smooth_beta(epsilon=3, k=2)
    >>> of_x = sl.smooth_sensitivity(
    ...     scores, "median", dataset=x, beta=beta, neighbors=sl.Bounded(2)
    ... )
    >>> round(smooth_cauchy_scale(of_x, epsilon=3), 3)
    121.306
    """
    context = _smooth_context(SMOOTH_CAUCHY, result)
    losses = _epsilon(epsilon, context.neighbors.k), _check_gamma("gamma", gamma)
    scale = _smooth_scale(SMOOTH_CAUCHY, context, losses, "epsilon, gamma=gamma")
    check_public({"result": result}, public_universe)
    return scale


def _not_smooth(context: NoiseContext) -> str | None:
    """Return why a result is no smooth sensitivity of a number, over all sizes, if so."""
    if context.kind != "smooth":
        return (
            "it is not a smooth sensitivity; for a global one use laplace_scale or gaussian_scale"
        )
    if context.norm is not None:
        return (
            f"the answer of {context.query} is a vector, and these scales are for a "
            "number; use laplace_scale with the global sensitivity in L1"
        )
    # Between neighbors k apart lie datasets of other sizes, and S has to be smooth on these, too.
    if context.left_out is not None:
        least, most = context.left_out
        return (
            f"it is about datasets of size {least} to {most} only, so neighbors of other "
            "sizes are left out; recompute it without sizes, over a universe that has no unlimited "
            "copies, as Universe.from_domain(values, copies=...)"
        )
    return None


def _smooth_up(factor: Fraction, square: Fraction) -> float:
    """Return the product of a factor and a bound, rounded up so that it stays smooth."""
    if not square:
        return 0.0
    # F max(S, m), and at least m: docs/proofs.md, "Noise for a smooth sensitivity". Below m floats
    # have fewer digits, and rounding would move neighbors' scales apart.
    return max(root_up(factor**2 * max(square, _LEAST_SCALE**2)), float(_LEAST_SCALE))


def _cauchy_beta(epsilon: Fraction, gamma: Fraction) -> Fraction:
    return epsilon / (2 * (gamma + 1))


def _laplace_beta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return epsilon / (2 ln(2 / delta)), lowered by less than one part in 10**48."""
    # Up below the line: beta is never too large.
    up = Context(50, ROUND_CEILING, MIN_EMIN, MAX_EMAX, traps=[])
    ratio = 2 / delta
    above = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    # ln of a Decimal is rounded to nearest, whatever the context says: take one more step up.
    return epsilon / (2 * Fraction(up.next_plus(up.ln(above))))


_SOURCE = "Nissim, Raskhodnikova, Smith (2007), section 2"

SMOOTH_LAPLACE = Mechanism(
    "Laplace",
    None,
    "(epsilon, delta)-DP",
    _SOURCE,
    _not_smooth,
    lambda square, epsilon, _: _smooth_up(2 / epsilon, square),
    _laplace_beta,
)

SMOOTH_CAUCHY = Mechanism(
    "Cauchy",
    None,
    "epsilon-DP",
    _SOURCE,
    _not_smooth,
    lambda square, epsilon, gamma: _smooth_up(2 * (gamma + 1) / epsilon, square),
    _cauchy_beta,
)
"""Their losses are those of one of the k steps between neighbors."""


def _smooth_context(mechanism: Mechanism, result: Any) -> NoiseContext:
    """Return what a smooth sensitivity says of itself, or raise InputError."""
    context = noise_context_of(result)
    if context is None or context.kind != "smooth":
        kind = f"{context.kind} " if context else ""
        raise InputError(
            "result must be a result of sl.smooth_sensitivity, got a "
            f"{kind}{type(result).__name__}; for a global sensitivity use laplace_scale or "
            "gaussian_scale"
        )
    if reason := mechanism.why_not(context):
        raise InputError(f"result: {reason}")
    return context


def _smooth_scale(
    mechanism: Mechanism, context: NoiseContext, losses: tuple[Fraction, ...], given: str
) -> float:
    """Return the scale for a smooth sensitivity, or raise InputError if its beta is too large."""
    k = context.neighbors.k
    # A smaller beta than allowed is as private; a larger one is refused.
    allowed = mechanism.beta(*losses)
    if context.beta > allowed:
        rows = f", k={k}" if k > 1 else ""
        raise InputError(
            f"result: its beta, {float(context.beta)!r}, is above the largest one for this "
            f"privacy loss{f' and k = {k} rows of a person' * bool(rows)}, "
            f"{round_down(allowed)!r}; recompute it with beta=smooth_beta({given}{rows})"
        )
    # The losses are those of one of k steps: the scale is that for a step, and k steps together
    # lose what was asked for.
    return mechanism.scale(finite_bound(context, "result") ** 2, *losses)


def _epsilon(epsilon: Any, k: int) -> Fraction:
    """Return what one of k steps may lose, or raise InputError."""
    accepted = f"a finite number of at least {k}e-9{for_rows(k)}"
    return number_kind(accepted, lambda given: given >= k * _LEAST_EPSILON)("epsilon", epsilon) / k


def laplace_step(epsilon: Any, delta: Any, k: int) -> tuple[Fraction, Fraction]:
    """Return the epsilon and delta that one of k steps may lose, or raise InputError."""
    limits = number_kind(
        f"a number from {k}e-9 to {k * _MOST_EPSILON}{for_rows(k)} where a delta is given",
        lambda given: k * _LEAST_EPSILON <= given <= k * _MOST_EPSILON,
    )
    otherwise = "; for a larger one use Cauchy noise (smooth_cauchy_scale)"
    given = replace(limits, advice=lambda _: otherwise)("epsilon", epsilon)
    chance = check_delta("delta", delta)
    # j steps lose delta' (1 + e**eps' + ... + e**((j - 1) eps')), which is delta for j = k.
    step = chance * share_of_delta(given, k)
    if step < DELTAS[0]:
        raise InputError(
            f"delta: of it, each of k = {k} steps may lose less than 1e-100 at this epsilon, which "
            "noise is not computed for; choose a larger delta, a smaller epsilon or k, or Cauchy "
            "noise (smooth_cauchy_scale)"
        )
    return given / k, step


def share_of_delta(epsilon: Fraction, k: int) -> Fraction:
    """Return (exp(epsilon / k) - 1) / (exp(epsilon) - 1), lowered by less than one part in 10**40.

    exp(epsilon / k) - 1 is at least 1e-9, so of 60 digits it loses ten at most.
    """
    if k == 1:
        return Fraction(1)
    down = Context(60, ROUND_FLOOR, MIN_EMIN, MAX_EMAX, traps=[])
    up = Context(60, ROUND_CEILING, MIN_EMIN, MAX_EMAX, traps=[])
    step = epsilon / k
    # exp of a Decimal is rounded to nearest, whatever the context says: take one more step.
    # Down above the line and up below it: the share is never too large.
    of_step = down.exp(down.divide(Decimal(step.numerator), Decimal(step.denominator)))
    of_all = up.exp(up.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
    above = down.subtract(down.next_minus(of_step), Decimal(1))
    below = up.subtract(up.next_plus(of_all), Decimal(1))
    return Fraction(0) if below.is_infinite() else Fraction(down.divide(above, below))
