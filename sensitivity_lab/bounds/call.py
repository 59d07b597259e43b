"""Bounds of a sensitivity: an incomplete search, and what a caller declares about the query."""

from __future__ import annotations

import time
from typing import Any, overload

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_running
from sensitivity_lab.errors import InputError
from sensitivity_lab.interval_problem import IntervalProblem
from sensitivity_lab.metrics.norms import check_norm
from sensitivity_lab.problem import Problem, check_sizes
from sensitivity_lab.queries import as_query, from_function
from sensitivity_lab.results.measure import measure
from sensitivity_lab.results.sensitivity import Witness
from sensitivity_lab.universes.finite import AnyUniverse, check_universe
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import as_relation, check_related, show

from .answers import Answers
from .boxes.call import RTOL, SECONDS, certified, check_rtol
from .boxes.result import CertifiedBounds
from .boxes.sums import OfSums, on_records
from .climb import Limit, climb
from .result import SensitivityBounds
from .settings import Settings, check_seconds
from .upper import UNKNOWN, Upper, of_constant, of_monotonicity, of_range


@overload
def sensitivity_bounds(
    universe: IntervalUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    time_limit: Any = None,
    rtol: Any = RTOL,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> CertifiedBounds: ...


@overload
def sensitivity_bounds(
    universe: FiniteUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    time_limit: Any = None,
    evaluations: Any = None,
    seed: Any = None,
    value_range: Any = None,
    per_record: Any = None,
    monotone: bool = False,
    progress: bool | None = None,
) -> SensitivityBounds: ...


@public_call
def sensitivity_bounds(
    universe: AnyUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    time_limit: Any = None,
    evaluations: Any = None,
    seed: Any = None,
    value_range: Any = None,
    per_record: Any = None,
    monotone: bool = False,
    rtol: Any = RTOL,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> SensitivityBounds | CertifiedBounds:
    """Bound how much a query can change between neighbors if the exact value is out of reach.

    On a finite universe, the lower bound comes from a pair of neighbors that a local search with
    many starts found, and the upper bound from what you declare about the query; without a
    declaration it is infinite. On an interval, nothing has to be declared: both bounds of a
    caller's function are certified, by interval arithmetic on boxes of pairs. Neither bound is the
    sensitivity: `global_sensitivity` finds it if an engine covers the problem.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        The records that datasets are drawn from.
    query : str, Query or callable
        See `global_sensitivity`. It is evaluated many times, on datasets of the sizes of x and y.
        On an interval a function that computes one number with numpy's + - * / and powers, exp,
        log, sqrt, abs, sin, cos, arctan, tanh, minimum, maximum, clip, where, sum, mean, average,
        var, std, min, max, sort, median, percentile, prod, dot, cumsum, diff and norm. If it sees
        its records through sums alone (means, variances, sums of functions of one record), it may
        have any number of them.
    size : int or iterable of int
        The number n of records of x. Of several sizes, the maximum is bounded.
    neighbors, norm, progress
        See `global_sensitivity`.
    time_limit : float, default 1.0, on an interval 30
        About how many seconds to search; math.inf if `evaluations` is given.
    evaluations : int, optional
        The approximate limit on answers used; the query is evaluated once for each dataset. With a
        seed and no time limit, a call gives the same result again.
    seed : int, optional
        The seed of the random numbers; by default each call draws new ones.
    value_range : tuple of two numbers, optional
        The smallest and the largest value that the answer, or any of its coordinates, can have. It
        is checked on every answer.
    per_record : number, optional
        How much the answer can change, in the norm, when one record changes: is replaced (bounded
        relation), added or removed (relations that add and remove), or any of these (relations that
        count both alike). The bound is k times that.
    monotone : bool, default False
        Whether the answer, a number, never falls when records rise. Then the answers on the
        smallest and on the largest records bound it. This is checked on random datasets, but
        remains an assumption.
    rtol : float, default 1e-3
        On an interval: the search ends when the bounds differ by no more than that part of the
        lower one.
    n_jobs : int, optional
        On an interval: the number of worker processes, as for joblib.

    Returns
    -------
    SensitivityBounds or CertifiedBounds
        With `lower`, `upper` and the `witness` of the lower bound; on an interval `CertifiedBounds`
        with `gap`, `boxes` and `check()`.

    Raises
    ------
    InputError
        If an argument is invalid, the distance is not feasible, or an answer contradicts a
        declaration. On an interval, if a function calls what boxes do not follow, or branches on
        data; the message names the call and its line.
    QueryError
        If a caller's function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    The local search exchanges single records of C, A and B (docs/proofs.md, "Conventions"), from
    the ends of the universe, clusters, random draws, and the worst pairs of built-in queries. On an
    interval, boxes of pairs are split until none can have answers that are further apart than the
    best pair (docs/proofs.md, "Certified boxes"); the time grows fast with the number of records. A
    function of sums has as many variables for a million records as for four ("Few sums").

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(0, 100))
    >>> def spread_of_gaps(x):
    ...     return max(x[1:] - x[:-1]) - min(x[1:] - x[:-1])
    >>> bounds = sl.bounds.sensitivity_bounds(
    ...     universe,
    ...     spread_of_gaps,
    ...     size=30,
    ...     neighbors="bounded",
    ...     value_range=(0, 99),
    ...     time_limit=float("inf"),
    ...     evaluations=3000,
    ...     seed=1,
    ... )
    >>> bounds.lower, bounds.upper
    (99.0, 99.0)
    >>> def variation(x):
    ...     return x.std() / (1 + x.mean())
    >>> unit = sl.Universe.from_interval(0, 1)
    >>> sl.bounds.sensitivity_bounds(unit, variation, size=4, neighbors="bounded")
    Sensitivity of variation: at most 0.3464101616 (certified bounds)
      lower      0.3464101615, attained by x and y
      gap        3.47e-11, within 0.001 of the lower bound
      neighbors  bounded, at most 1; size 4 (public); interval [0, 1], every real number
      only in x  1  f(x) = 0.3464101615
      only in y  0  f(y) = 0
      in both    0 (x3)
      method     boxes, 257 bounded with outward rounding; of 2 sums: x, x**2
    """
    check_running(n_jobs, progress)
    close = float(check_rtol("rtol", rtol))
    if isinstance(universe, IntervalUniverse):
        _check_nothing_declared(
            norm=norm != "L1",
            evaluations=evaluations is not None,
            seed=seed is not None,
            value_range=value_range is not None,
            per_record=per_record is not None,
            monotone=monotone is not False,
        )
        sizes, relation = check_sizes(size, universe), as_relation(neighbors)
        of_sums = isinstance(query, OfSums)
        asked_for = (
            from_function(on_records(query), name=query.name) if of_sums else as_query(query)
        )
        on_interval = IntervalProblem(universe, (asked_for,), (relation,), sizes).checked()
        return certified(
            on_interval,
            rtol=close,
            seconds=check_seconds(SECONDS if time_limit is None else time_limit),
            n_jobs=n_jobs,
            progress=progress,
        )
    universe = check_universe(universe)
    if close != RTOL or n_jobs is not None:
        raise InputError(
            "rtol and n_jobs are for intervals, whose bounds boxes certify; on a finite universe "
            "time_limit or evaluations end the search"
        )
    sizes, relation = check_sizes(size, universe), as_relation(neighbors)
    in_norm, of_query = check_norm(norm), as_query(query)
    problem = Problem(universe, (of_query,), (relation,), sizes, in_norm).checked()
    asked = Settings.of(
        time_limit=1.0 if time_limit is None else time_limit,
        evaluations=evaluations,
        seed=seed,
        value_range=value_range,
        per_record=per_record,
        monotone=monotone,
    )
    started = time.monotonic()
    random = np.random.default_rng(asked.seed)
    answers = Answers(of_query, universe, in_norm, asked.value_range)
    uppers = [of_monotonicity(problem, relation, answers, random)] if asked.monotone else []
    limit = Limit(started + asked.seconds, asked.answers)
    with limit.shown(answers, progress) as show_progress:
        best = climb(problem, relation, answers, limit, random, show_progress)
    if best.pair is None:
        raise InputError(f"there are no neighbors: {relation}, size {sizes}")
    x, y = best.pair.x, best.pair.y
    check_related(x, y, universe, relation)
    answers.check_again([x, y])
    measured = measure(of_query, universe, x, y, in_norm)
    width = len(measured.query_x) if isinstance(measured.query_x, tuple) else 1
    if asked.value_range is not None:
        uppers.append(of_range(asked.value_range, in_norm, width))
    if asked.per_record is not None:
        uppers.append(of_constant(asked.per_record, relation))
    witness = Witness(universe.dataset(x), universe.dataset(y), measured.query_x, measured.query_y)
    upper = _smallest(uppers, measured.value, of_query.name, witness)
    return SensitivityBounds(
        lower=measured.value,
        upper=upper.bound,
        reason=upper.reason,
        witness=witness,
        starts=best.starts,
        datasets_evaluated=answers.evaluations,
        query=of_query,
        neighbors=relation,
        size=sizes[0] if len(sizes) == 1 else sizes,
        universe=universe,
        norm=in_norm,
    )


def _check_nothing_declared(**given: bool) -> None:
    """Raise InputError for an argument that is for finite universes."""
    told = [name for name, is_given in given.items() if is_given]
    if told:
        raise InputError(
            f"on an interval both bounds are certified, and nothing is drawn or declared: leave "
            f"{', '.join(f'{name}=' for name in told)} out"
        )


def _smallest(uppers: list[Upper], lower: float, name: str, witness: Witness) -> Upper:
    """Return the smallest upper bound, or raise InputError if the witness contradicts one."""
    for upper in uppers:
        if lower > upper.bound:
            raise InputError(
                f"{name} changes by {lower:.10g} between {show(witness.x)} and {show(witness.y)}, "
                f"more than the upper bound {upper.bound:.10g}: {upper.reason}"
            )
    return min(uppers, key=lambda upper: upper.bound, default=UNKNOWN)
