"""The distance of two distributions of outputs: exactly, or as far as a sample tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .flow import smallest, uncoupled
from .outputs import Distribution

DOUBT = 25.0
"""A sample is evidence if chance alone explains it with a probability of at most exp(-25)."""


def exact_distance(x: Distribution, y: Distribution, matrix: NDArray[Any], least: int) -> int:
    """Return the smallest over couplings of the largest distance of two coupled outputs.

    Parameters
    ----------
    x, y : Distribution
        All outputs; those of one dataset are equally likely.
    matrix : ndarray
        The distances of all outputs.
    least : int
        A distance up to which nothing needs to be told apart.

    Returns
    -------
    int
        The distance, or `least` if it is not above.
    """
    near = matrix[np.ix_(x.places, y.places)]
    supply = [count * y.total for count in x.counts]
    demand = [count * x.total for count in y.counts]
    return _least(near, least, lambda t: uncoupled(supply, demand, near <= t)[0] == 0)


def sampled_distance(x: Distribution, y: Distribution, matrix: NDArray[Any], least: int) -> int:
    """Return a distance that no coupling stays below, unless the samples are a rare accident.

    Parameters, and `least`, are those of `exact_distance`; the counts are those of independent
    draws, as many on x as on y.
    """
    near = matrix[np.ix_(x.places, y.places)]
    return _least(near, least, lambda t: not _told_apart(x.counts, y.counts, near <= t))


def _least(near: NDArray[Any], least: int, enough: Any) -> int:
    """Return the smallest distance that is enough, or `least` if that is."""
    if int(near.max()) <= least or enough(least):
        return least
    return int(smallest(sorted({int(t) for t in near.ravel() if t > least}), enough))


def _told_apart(x: Sequence[int], y: Sequence[int], close: NDArray[np.bool_]) -> bool:
    """Tell whether samples rule out every coupling of close outputs.

    With a coupling, any set A of outputs of x is at most as likely as what is close to A on y. The
    sets tried are single outputs, on both sides, and the one that a maximum flow gets stuck in.
    """
    for counts, others, line in ((x, y, close), (y, x, close.T)):
        around = line @ np.array(others)
        doubt = math.log(2 * len(counts))
        if any(_too_many(*pair, doubt) for pair in zip(counts, around.tolist(), strict=True)):
            return True
    left, stuck = uncoupled(x, y, close)
    inside = sum(x[i] for i in stuck)
    return left > 0 and _too_many(inside, inside - left, len(x) * math.log(2))


def _too_many(inside: int, around: int, doubt: float) -> bool:
    """Tell whether more draws than `around` could come by chance fell inside a set.

    If the set is at most as likely as what is around it, then of all draws in either at most half
    are expected inside, and by Hoeffding's inequality an excess has a probability of at most
    ``exp(-excess**2 / (2 * draws))``. `doubt` is the logarithm of how many sets are tried.
    """
    excess = inside - around
    return excess > 0 and excess**2 > 2 * (inside + around) * (DOUBT + doubt)
