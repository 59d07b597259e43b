"""The distance of two distributions of outputs under their best coupling.

It is exact if all outputs are known, and an estimate from a sample if they are drawn. A maximum
flow decides whether a coupling keeps every pair of outputs close; the proof is under the heading
"Couplings" of docs/proofs.md.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .outputs import Distribution

_DOUBT = 25.0
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
        A distance up to which no two need to be distinguished.

    Returns
    -------
    int
        The distance, or `least` if it is not above.
    """
    near = matrix[np.ix_(x.places, y.places)]
    # Probabilities as integers over the common total, so that the flow is exact.
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
    candidates = sorted({int(t) for t in near.ravel() if t > least})
    # All distances after one that is enough are; the last one is, whatever `enough` says.
    return candidates[bisect_left(candidates, True, hi=len(candidates) - 1, key=enough)]


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
    # The flow gets stuck in the worst of all 2**len(x) sets, so that many are tried.
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
    return excess > 0 and excess**2 > 2 * (inside + around) * (_DOUBT + doubt)


def uncoupled(
    supply: Sequence[int], demand: Sequence[int], close: NDArray[np.bool_]
) -> tuple[int, list[int]]:
    """Return how much of a supply no coupling brings to a close demand, and where it gets stuck.

    Parameters
    ----------
    supply, demand : sequence of int
        How often each output of x and each output of y occurs, over one common total.
    close : ndarray of bool, shape (len(supply), len(demand))
        Which outputs may be coupled.

    Returns
    -------
    left : int
        The total less the maximum flow: 0 if a coupling keeps all pairs close.
    stuck : list of int
        Outputs A of x with ``supply(A) - demand(those close to A) == left``, the largest such
        difference of all sets: a minimum cut.

    Notes
    -----
    The flow grows along shortest paths, each found by a breadth-first search of the m by n pairs:
    at most ``m n`` searches, and in practice about m + n. Every capacity is an integer.

    Examples
    --------
    >>> uncoupled([2, 1], [1, 2], np.array([[True, False], [True, True]]))
    (1, [0])
    """
    source, sink, first = -1, -2, len(supply)  # output j of y is the node first + j
    # room[a][b] is how much more can flow from a to b: what flows can flow back.
    room: defaultdict[int, Counter[int]] = defaultdict(Counter)
    room[source].update(dict(enumerate(supply)))
    for i, line in enumerate(close):
        room[i].update(dict.fromkeys((np.flatnonzero(line) + first).tolist(), sum(supply)))
    for j, most in enumerate(demand, first):
        room[j][sink] = most
    while True:
        back = {source: source}  # from where the search came to a node
        queue = [source]
        for at in queue:
            if sink in back:
                break
            found = [to for to, more in room[at].items() if more and to not in back]
            back |= dict.fromkeys(found, at)
            queue += found
        if sink not in back:  # no path is left: what the search has reached is a minimum cut
            return sum(room[source].values()), sorted(i for i in back if 0 <= i < first)
        path = [sink]
        while path[-1] != source:
            path.append(back[path[-1]])
        # Of supplies 2 and 1 for demands 1 and 2, with the first output close to the first alone:
        # the second sends 1 to the second, and 1 of the first is left, which is the cut.
        steps = [*itertools.pairwise(path[::-1])]
        amount = min(room[a][b] for a, b in steps)
        for a, b in steps:
            room[a][b] -= amount
            room[b][a] += amount
