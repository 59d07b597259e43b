"""The largest local sensitivity within each distance, kept while an engine goes outward from x."""

from __future__ import annotations

from collections.abc import Iterable

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import SmoothProblem

from .engine import LocalMaxima, LocalMaximumAtDistance


def rising(
    problem: SmoothProblem, found: Iterable[LocalMaximumAtDistance | None], bound: Difference
) -> LocalMaxima:
    """Return the distances at which the largest local sensitivity rises.

    Parameters
    ----------
    problem : SmoothProblem
        It says when to stop.
    found : iterable of LocalMaximumAtDistance or None
        Entry t: the z within distance t of x with the largest local sensitivity; or None, or any
        other z within that distance, if none exceeds what is found within a smaller one. The first
        entry is x. An entry that exceeds all before it is at distance t.
    bound : Difference
        No local sensitivity is larger. Once it is reached nothing rises any more.
    """
    maxima: list[LocalMaximumAtDistance] = []
    distance = 0
    # Always: the gaps of `maxima` rise, and the last one is the largest of all within `distance`.
    for distance, entry in enumerate(found):
        if entry is not None and (not maxima or entry.gap > maxima[-1].gap):
            maxima.append(entry)
        last = maxima[-1]
        if not last.gap < bound or problem.stop(last.gap, last.distance, distance, bound):
            break
    return LocalMaxima(tuple(maxima), distance, 0)
