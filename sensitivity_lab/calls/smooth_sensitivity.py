"""Smooth sensitivity: the largest local sensitivity of all datasets, damped by their distance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_norm, check_whole, listed, number_kind, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.enclosures import Damped
from sensitivity_lab.problem import LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.sensitivity_result import Sensitivity
from sensitivity_lab.results.smooth_result import SmoothSensitivity
from sensitivity_lab.search import choose
from sensitivity_lab.search.engine import Finding, LocalMaximumAtDistance, Options, Run, check_run
from sensitivity_lab.universes.relations import (
    RELATIONS,
    Relation,
    Unbounded,
    as_relation,
    check_dataset,
    check_number_of_records,
)
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse, check_universe

from .sensitivity import conclude


@public_call
def smooth_sensitivity(
    universe: FiniteUniverse,
    query: Any,
    *,
    dataset: Any,
    beta: Any,
    neighbors: Any,
    sizes: Any = None,
    farthest: int = 0,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> SmoothSensitivity:
    """Compute the smooth sensitivity of a query on one dataset.

    This is the maximum of ``LS(z) * exp(-beta * d(x, z))`` over all datasets z. LS(z) is the local
    sensitivity of z: the largest change of the answer when one record of z changes. d is the
    distance of the neighbor relation: how many records are replaced, or added and removed.

    If a person can have up to k rows, pass neighbors at distance k. The result is still for single
    records; k enters the noise. A person's rows change one after the other, and each step may use
    epsilon / k, so pass ``beta=smooth_beta(epsilon, k=k)``. The scales in `sensitivity_lab.noise`
    read k from the result.

    Parameters
    ----------
    universe : Universe
        The records that datasets are drawn from.
    query, dataset, norm, progress
        See `local_sensitivity`.
    beta : int, float, Fraction or Decimal
        The damping per unit of distance: above 0, at most 1e6. To scale noise to the result, pass
        the `sensitivity_lab.noise.smooth_beta` of the privacy loss.
    neighbors : Relation or str
        The relation, at a distance of at most k. Set k to the most rows that one person can have.
        With Bounded, z and y have the size of x. For relations that add and remove see `sizes`.
        Unbounded (in both directions) and symmetric difference have the same single steps. There,
        replacing a row is two steps, so replacing k rows needs a distance of 2 k.
    sizes : tuple of (int, int), optional
        For relations that add and remove: the smallest and the largest size of z and y. The default
        is every size for which the query is defined, up to the whole universe.
    farthest : int, default 0
        Extend `local_at_distance` at least up to this distance.
    method : {"auto", "monotone", "enumeration"}, default "auto"
        "monotone" covers sum, mean and count, and under the bounded relation median, min, max and
        percentiles; "enumeration" covers every query, up to 200,000 datasets.
    n_jobs : int, optional
        The number of worker processes for evaluating the query, as in joblib. They start only if
        they save time, see `global_sensitivity`.
    run : Run, optional
        Limits on memory and time; see `Run`.

    Returns
    -------
    SmoothSensitivity
        The value, and x, z and y; `float(result)` is the value, in the query's unit.

    Raises
    ------
    InputError
        If an argument is invalid, or x is not a dataset of the universe.
    NoEngineError
        If no engine accepts the problem; a TooLargeError if it is too large. The message gives the
        numbers.
    QueryError
        If a caller's function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    The value is exact: local sensitivities are rationals or differences of roots, and decimals
    bracket exp(-beta t) until every comparison, and the rounding of the value, is decided. Let T be
    the last distance that can matter: some multiple of 1 / beta, at most n, or 2 n where the size
    changes. Quantiles take O(T**2) steps; sum, mean and count O(m) for m distinct values where
    records are replaced, else O(T). Other queries are enumerated. For even n the median is the mean
    of two records, so the textbook's formula, which is for the lower median, does not hold.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
    STOC 2007: definition 2.2, and section 3.1 for the median of an odd number of records.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])
    >>> sl.smooth_sensitivity(universe, "median", dataset=[0.25] * 4, beta=1, neighbors="bounded")
    Smooth sensitivity of median: 0.1379547905 (exact, rounded up)
      value      3/8 * exp(-1 * 1)
      neighbors  bounded, at most 1; size 4; domain of 5 values, unlimited copies
      dataset x  0.25 (x4)
      z          x without 0.25, with 1  f(z) = 0.25
      y          z without 0.25, with 1  f(y) = 0.625
      method     monotone, exact arithmetic, no evaluation needed
    """
    (relation, step), damping = _check_relation(neighbors), _check_beta("beta", beta)
    farthest = check_whole("farthest", farthest, "a distance, at least 0", least=0)
    universe = check_universe(universe)
    x = check_dataset(dataset, universe)
    limits = _check_sizes(sizes, int(x.sum()), universe, as_query(query), relation)
    stop = _Stop(damping, farthest)
    problem = SmoothProblem(universe, as_query(query), x, step, limits, stop, check_norm(norm))
    run = check_run(run, queries=problem.queries)
    chosen = choose(problem, method, Options(n_jobs, progress, run))
    found = chosen.solve()
    best = _largest(found.maxima, damping)
    damped = Damped(best.gap, damping, best.distance)
    finding = Finding(*best.pair(), None, found.datasets_evaluated)
    return SmoothSensitivity(
        value=damped.nearest(),
        upper=damped.upper() if problem.query.arithmetic == "exact" else None,
        beta=damping,
        distance=best.distance,
        local_at_distance=_at_every_distance(found.maxima, max(found.farthest, farthest)),
        x=universe.dataset(x),
        local=_local(problem, relation.at(1), chosen.engine.name, finding),
        status="exact",
        method=chosen.engine.name,
        arithmetic=problem.query.arithmetic,
        datasets_evaluated=found.datasets_evaluated,
        neighbors=relation,
        sizes=(limits[0], None if limits[1] == math.inf else int(limits[1])),
    )


def _check_relation(neighbors: Any) -> tuple[Relation, Relation]:
    """Return a relation and the one that counts its steps, or raise InputError."""
    relation = as_relation(neighbors)
    step = relation.single_step
    if step is None:
        *some, last = (f"{one.__name__}(k)" for one in RELATIONS.values() if one().step is not None)
        raise InputError(
            "smooth sensitivity needs a distance between all datasets, which counts records that "
            f"are replaced, or added and removed; {relation} declares no such distance; use "
            f"{', '.join(some)} or {last}, where k is the most rows of one person"
        )
    if relation.exactly and relation.k > 1:
        raise InputError(
            "smooth sensitivity is for neighbors at a distance of at most k, got "
            f"{relation}; use exactly=False"
        )
    return relation, step


_check_beta = number_kind("a number above 0, at most 1e6", lambda given: 0 < given <= 10**6)


def _check_sizes(
    sizes: Any, size: int, universe: FiniteUniverse, query: Query, relation: Relation
) -> tuple[int, float]:
    """Return the smallest and the largest size of datasets, or raise InputError."""
    if relation.keeps_size:
        Problem(universe, (query,), (relation.at(1),), (size,)).checked()
    limits = check_limits(sizes, size, universe, query, relation)
    if limits[0] == limits[1] and not relation.keeps_size:
        raise _no_sizes(size, universe, query, limits)
    return limits


def check_limits(
    sizes: Any, size: int, universe: AnyUniverse, query: Query, relation: Relation
) -> tuple[int, float]:
    """Return the smallest and the largest size of the datasets near one, or raise InputError.

    Two sizes that are given differ; the whole universe may have the smallest one.
    """
    if relation.keeps_size:
        if sizes is not None:
            raise InputError(f"sizes is for relations that add and remove, not {relation}")
        return size, size
    wrong = "sizes must be a pair of whole numbers"
    pair = [query.least_size, universe.size] if sizes is None else listed(sizes, wrong)
    if len(pair) != 2:
        raise InputError(f"{wrong}, got {shown(sizes)}")
    smallest, largest = pair
    if sizes is not None:
        for one in (smallest, largest):
            check_number_of_records("sizes", one)
    equal = sizes is not None and smallest == largest
    if not query.least_size <= smallest <= size <= largest <= universe.size or equal:
        raise _no_sizes(size, universe, query, (smallest, largest))
    return int(smallest), largest


def _no_sizes(
    size: int, universe: AnyUniverse, query: Query, limits: tuple[Any, Any]
) -> InputError:
    return InputError(
        f"sizes must be two sizes from {query.least_size} to {universe.size} with the size of "
        f"x, {size}, between them, got ({limits[0]}, {limits[1]})"
    )


class _Stop:
    """Tells when no larger distance can matter: a bound of all gaps, damped, is below the best."""

    def __init__(self, beta: Fraction, farthest: int) -> None:
        self.beta = float(beta)
        self.farthest = farthest
        self.best = -math.inf

    def __call__(self, gap: Difference, at: int, distance: int, bound: Difference) -> bool:
        self.best = max(self.best, _log(gap) - self.beta * at)
        most = _log(bound) - self.beta * (distance + 1)
        return distance >= self.farthest and most < self.best - _margin(most)


def _log(gap: Difference) -> float:
    """Return the natural logarithm; -inf of 0."""
    low, _ = gap.bracket()
    return math.log(low.numerator) - math.log(low.denominator) if low else -math.inf


def _margin(exponent: float) -> float:
    """Return more than what floats can be wrong by in such an exponent."""
    return 1e-9 * (1 + abs(exponent)) if exponent > -math.inf else 0.0


def _largest(maxima: tuple[LocalMaximumAtDistance, ...], beta: Fraction) -> LocalMaximumAtDistance:
    """Return the one with the largest damped gap; floats only rule out what cannot be it."""
    logs = [_log(rise.gap) - float(beta) * rise.distance for rise in maxima]
    top = max(logs)
    near = [rise for rise, log in zip(maxima, logs, strict=True) if log >= top - _margin(top)]
    return max(near, key=lambda rise: Damped(rise.gap, beta, rise.distance))


def _at_every_distance(
    maxima: tuple[LocalMaximumAtDistance, ...], farthest: int
) -> tuple[Fraction | float, ...]:
    """Return the largest gap within every distance."""
    found: list[Fraction | float] = []
    for rise, after in zip(maxima, (*maxima[1:], None), strict=True):
        gap = rise.gap.exact
        stop = farthest + 1 if after is None else after.distance
        found += [rise.gap.nearest() if gap is None else gap] * (stop - rise.distance)
    return tuple(found)


def _local(
    problem: SmoothProblem, relation: Relation, method: str, finding: Finding
) -> Sensitivity:
    """Return the local sensitivity of z; one way only where z cannot go the other way."""
    size = int(finding.x.sum())
    if problem.add_or_remove and size in problem.limits:
        relation = Unbounded(1, direction="add" if finding.y.sum() > size else "remove")
    query = problem.query
    of_z = LocalProblem(problem.universe, query, relation, finding.x, problem.norm)
    return conclude(of_z, query, relation, method, finding)
