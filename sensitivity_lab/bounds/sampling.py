"""A quantile of the differences of random neighbors, with a confidence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse

from .pairs import Shape


def random_neighbors(
    universe: FiniteUniverse, shape: Shape, random: np.random.Generator
) -> tuple[Multiplicities, Multiplicities]:
    """Return a random dataset and a random neighbor of it.

    Of a finite number of records, all choices of the records of C, A and B are equally likely;
    without limit, each record is any of the values with the same probability.
    """
    needed = shape.core + shape.only_x + shape.only_y
    limits = universe.multiplicities(needed)
    if universe.counts is None:
        chosen = random.integers(len(limits), size=needed)
    else:
        chosen = random.permutation(np.repeat(np.arange(len(limits)), limits))[:needed]
    parts = np.split(chosen, [shape.core, shape.core + shape.only_x])
    core, only_x, only_y = (np.bincount(part, minlength=len(limits)) for part in parts)
    return (core + only_x).astype(np.int64), (core + only_y).astype(np.int64)


def rank_of_quantile(samples: int, gamma: float, rho: float) -> int | None:
    """Return which of the ascending samples bounds a quantile with a confidence.

    Parameters
    ----------
    samples : int
        How many independent samples there are.
    gamma : float
        The fraction of pairs that may differ by more.
    rho : float
        The probability of an error of the statement, over the samples.

    Returns
    -------
    int or None
        The smallest rank r, from 1, for which the r-th smallest sample is at least the quantile of
        order 1 - gamma with probability 1 - rho; None if there are too few samples.

    Notes
    -----
    The r-th smallest of m samples is below that quantile only if r or more samples are, each with
    probability 1 - gamma at most. So r is the smallest one with P(Binomial(m, 1 - gamma) >= r) <=
    rho. Rubinstein and Alda (2017) bound the same with the inequality of Dvoretzky, Kiefer and
    Wolfowitz, which needs more samples.

    Examples
    --------
    >>> rank_of_quantile(58, 0.05, 0.05), rank_of_quantile(59, 0.05, 0.05)
    (None, 59)
    """
    tail = 0.0
    rank = None
    # From the largest number of samples below the quantile down; terms add from small to large.
    for below in range(samples, -1, -1):
        tail += math.exp(
            math.lgamma(samples + 1)
            - math.lgamma(below + 1)
            - math.lgamma(samples - below + 1)
            + below * math.log1p(-gamma)
            + (samples - below) * math.log(gamma)
        )
        if tail * (1 + 1e-9) > rho:
            break
        rank = below
    return rank


def quantile(gaps: NDArray[np.float64], gamma: float, rho: float) -> float:
    """Return what at most a fraction gamma of random pairs exceeds, with confidence 1 - rho."""
    rank = rank_of_quantile(len(gaps), gamma, rho)
    return math.inf if rank is None else float(np.sort(gaps)[rank - 1])
