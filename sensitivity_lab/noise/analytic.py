"""The least Gaussian noise for (epsilon, delta)-differential privacy.

Noise of scale sigma on an answer of L2 sensitivity D is (epsilon, delta)-differentially private
exactly if, with r = sigma / D and the normal distribution function F,

    F(1 / (2 r) - epsilon r) - exp(epsilon) F(-1 / (2 r) - epsilon r) <= delta

(Balle and Wang 2018, Theorem 8). The left side falls as r grows. It is computed in decimals with a
bound of all that is rounded, so that the smallest float r found is never too small; see
docs/proofs.md, "Gaussian noise for (epsilon, delta)".
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from sensitivity_lab.checks import number_kind

from .context import check_public, not_for_all
from .mechanism import Mechanism, check_delta, root_up
from .normal import normal

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
