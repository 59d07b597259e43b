"""The distance of two distributions of outputs under their best coupling.

It is exact if all outputs are known, and an estimate from a sample if they are drawn. A maximum
flow decides whether a coupling keeps every pair of outputs close; the proof is under the heading
"Couplings" of docs/proofs.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
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
    left, room = list(supply), list(demand)
    partners = [np.flatnonzero(line).tolist() for line in close]
    flow: list[dict[int, int]] = [{} for _ in demand]  # by output of y: what each output of x sends
    while True:
        # back[j] is the output of x from which the search came to the output j of y.
        back: dict[int, int] = {}
        # into[i] is the output of y from which the search went back to i, which sends to it; None
        # if i has more to send itself.
        into: dict[int, int | None] = {i: None for i, more in enumerate(left) if more}
        queue = deque(into)
        end = None
        while queue and end is None:
            i = queue.popleft()
            for j in partners[i]:
                if j in back:
                    continue
                back[j] = i
                if room[j]:
                    end = j
                    break
                for other in flow[j]:
                    if other not in into:
                        into[other] = j
                        queue.append(other)
        if end is None:  # no path is left: what the search has reached is a minimum cut
            return sum(left), sorted(into)
        _push(end, back, into, left, room, flow)


def _push(
    end: int,
    back: dict[int, int],
    into: dict[int, int | None],
    left: list[int],
    room: list[int],
    flow: list[dict[int, int]],
) -> None:
    """Send as much as fits along the path that a search has found."""
    path: list[tuple[int, int]] = []  # (i, j): i sends more to j, and less to the next j
    at: int | None = end
    while at is not None:
        path.append((back[at], at))
        at = into[back[at]]
    first, _ = path[-1]
    kept = [flow[before][i] for (i, _), (_, before) in pairwise(path)]
    amount = min(room[end], left[first], *kept)
    # A sender in the middle of the path sends to j what it no longer sends to the output
    # before, so that only the first sender has less left, and only the end less room.
    left[first] -= amount
    room[end] -= amount
    for i, j in path:
        flow[j][i] = flow[j].get(i, 0) + amount
    for (i, _), (_, before) in pairwise(path):
        flow[before][i] -= amount
        if not flow[before][i]:
            del flow[before][i]
