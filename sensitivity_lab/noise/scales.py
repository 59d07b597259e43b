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
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_not_negative, check_positive
from sensitivity_lab.exact.difference import round_up

from .context import check_public, not_for_all
from .mechanism import Mechanism, root_up

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
    square = LAPLACE.square(sensitivity, "sensitivity")
    check_public({"sensitivity": sensitivity}, public_universe)
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
    square = GAUSSIAN.square(sensitivity, "sensitivity")
    check_public({"sensitivity": sensitivity}, public_universe)
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
    square, noise = LAPLACE.square(d_in, "d_in"), check_not_negative("scale", scale)
    check_public({"d_in": d_in}, public_universe)
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
    square, noise = GAUSSIAN.square(d_in, "d_in"), check_not_negative("scale", scale)
    check_public({"d_in": d_in}, public_universe)
    return round_up(square / (2 * noise**2)) if noise else _without_noise(square)


def _without_noise(amount: Fraction) -> float:
    # Answers that never differ lose nothing, even without noise.
    return math.inf if amount else 0.0
