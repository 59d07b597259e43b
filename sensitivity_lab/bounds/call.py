"""Bounds of a sensitivity that no engine computes: certified, on an interval."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_running, check_seconds
from sensitivity_lab.errors import InputError
from sensitivity_lab.problem import IntervalProblem, check_sizes
from sensitivity_lab.queries import as_query
from sensitivity_lab.universes.relations import as_relation
from sensitivity_lab.universes.universe import IntervalUniverse, check_any_universe

from .boxes.call import RTOL, SECONDS, certified, check_rtol
from .boxes.result import CertifiedBounds


@public_call
def sensitivity_bounds(
    universe: IntervalUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    time_limit: Any = SECONDS,
    rtol: Any = RTOL,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> CertifiedBounds:
    """Bound how much a caller's function can change between neighbors on an interval.

    Interval arithmetic on boxes of pairs certifies both bounds. The sensitivity lies between them;
    `global_sensitivity` finds it exactly if an engine covers the problem.

    Parameters
    ----------
    universe : IntervalUniverse
        The records that datasets are drawn from.
    query : callable
        A function that computes one number with numpy's + - * / and powers, exp, log, sqrt, abs,
        sin, cos, arctan, tanh, minimum, maximum, clip, where, sum, mean, average, var, std, min,
        max, sort, median, percentile, prod, dot, cumsum, diff and norm. If it uses its records only
        through sums (means, variances, sums of functions of one record), there may be any number of
        records.
    size : int or iterable of int
        The number n of records of x. With several sizes, the bounds are for the maximum over them.
    neighbors, progress
        See `global_sensitivity`.
    time_limit : float, default 30
        About how many seconds to search.
    rtol : float, default 1e-3
        The search ends when the bounds differ by at most this fraction of the lower one.
    n_jobs : int, optional
        The number of worker processes, as for joblib.

    Returns
    -------
    CertifiedBounds
        With `lower` and its `witness`, `upper`, `gap`, `boxes` and `check()`.

    Raises
    ------
    InputError
        If an argument is invalid, or the distance is not feasible; if the function calls something
        that boxes cannot follow, or branches on data. The message names the call and its line.
    QueryError
        If the function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    The search splits boxes of pairs until no box can contain answers further apart than the best
    pair (docs/proofs.md, "Certified boxes"). The time grows fast with the number of records, except
    for a function of sums, which has as many variables for a million records as for four ("Few
    sums").

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> def variation(x):
    ...     return x.std() / (1 + x.mean())
    >>> unit = sl.Universe.from_interval(0, 1)
    >>> sl.bounds.sensitivity_bounds(unit, variation, size=4, neighbors="bounded")
    Sensitivity of variation: at most 0.3464101616 (certified bounds)
      lower      0.3464101615, attained by x and y
      gap        ..., within 0.001 of the lower bound
      neighbors  bounded, at most 1; size 4 (public); interval [0, 1], every real number
      only in x  1  f(x) = 0.3464101615
      only in y  0  f(y) = 0
      in both    0 (x3)
      method     boxes, 257 bounded with outward rounding; of 2 sums: x, x**2
    """
    check_running(n_jobs, progress)
    close = float(check_rtol("rtol", rtol))
    seconds = float(check_seconds("time_limit", time_limit))
    given = check_any_universe(universe)
    if not isinstance(given, IntervalUniverse):
        raise InputError(
            f"bounds are certified on an interval, not on a {given.extent}; make one with "
            "Universe.from_interval(lower, upper), or compute the sensitivity with "
            "sl.global_sensitivity"
        )
    sizes, relation = check_sizes(size, given), as_relation(neighbors)
    problem = IntervalProblem(given, (as_query(query),), (relation,), sizes).checked()
    return certified(problem, rtol=close, seconds=seconds, n_jobs=n_jobs, progress=progress)
