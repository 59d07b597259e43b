"""The variances of Laplace and Gaussian noise if one person affects several answers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_positive, whole_kind
from sensitivity_lab.exact.difference import nearest, round_up
from sensitivity_lab.exact.roots import Root

from .analytic import analytic_gaussian_scale, check_gaussian_epsilon
from .mechanism import check_delta


def noise_variances(
    answers: int | Iterable[int], sensitivity: Any = 1, *, epsilon: Any = 1, delta: Any = 1e-5
) -> pd.DataFrame:
    """Compare the variances of Laplace and Gaussian noise if a person affects k answers.

    Each answer changes by at most D. Together they change by ``k D`` in L1, which Laplace noise for
    epsilon is scaled to, and by ``sqrt(k) D`` in L2, which Gaussian noise for epsilon and delta is
    scaled to. The variance of the noise on an answer is ``2 (k D / epsilon)**2`` for Laplace and
    ``k D**2 r**2`` for Gaussian, where r is the scale for one answer that changes by 1. So
    Laplace noise has the smaller variance up to ``k = (epsilon r)**2 / 2`` answers, for every D.

    Parameters
    ----------
    answers : int or iterable of int
        The numbers k of answers that a person affects, each at least 1.
    sensitivity : number or iterable of numbers, default 1
        The largest change D of an answer by one person, above 0, in the unit of the answers.
    epsilon : number, default 1
        The privacy loss of both kinds of noise, from 1e-9 to 100.
    delta : number, default 1e-5
        The chance of a larger loss with Gaussian noise, from 1e-100 to 0.5. Laplace noise needs no
        delta: its guarantee is stronger.

    Returns
    -------
    pandas.DataFrame
        A row per D and k: sensitivity, answers, L1, L2, laplace_variance, gaussian_variance (in
        units squared), smaller ("Laplace" or "Gaussian"), epsilon, delta.
        `sensitivity_lab.plotting.plot_noise_variances` draws it.

    Raises
    ------
    InputError
        If an argument is invalid.

    Notes
    -----
    The Laplace variance is exact before it is rounded. The Gaussian one is the square of
    `analytic_gaussian_scale`, which is at most a few units in the last place above the smallest
    scale that suffices. Both are rounded up.

    References
    ----------
    Tumult Analytics, topic guide "Understanding sensitivity", queries on tables using
    AddRowsWithID; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> frame = noise_variances([1, 6, 7, 20])
    >>> frame[["answers", "laplace_variance", "gaussian_variance", "smaller"]].round(1)
       answers  laplace_variance  gaussian_variance   smaller
    0        1               2.0               13.9   Laplace
    1        6              72.0               83.5   Laplace
    2        7              98.0               97.4  Gaussian
    3       20             800.0              278.4  Gaussian
    """
    loss, chance = check_gaussian_epsilon("epsilon", epsilon), check_delta("delta", delta)
    many = whole_kind("a number of answers, at least 1").several("answers", answers)
    most = check_positive.several("sensitivity", sensitivity)
    return pd.DataFrame([_variances(moved, k, loss, chance) for moved in most for k in many])


def _variances(moved: Fraction, k: int, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """Return the variances of the noise on k answers that a person moves by so much each."""
    in_l2 = Root(k * moved**2)
    laplace = 2 * (k * moved / epsilon) ** 2
    gaussian = Fraction(analytic_gaussian_scale(in_l2, epsilon, delta)) ** 2
    return {
        "sensitivity": nearest(moved),
        "answers": k,
        "L1": nearest(k * moved),
        "L2": in_l2.upper,
        "laplace_variance": round_up(laplace),
        "gaussian_variance": round_up(gaussian),
        "smaller": "Laplace" if laplace <= gaussian else "Gaussian",
        "epsilon": nearest(epsilon),
        "delta": nearest(delta),
    }
