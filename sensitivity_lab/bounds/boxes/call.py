"""Bounds of a caller's function on an interval, with the boxes that certify them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from sensitivity_lab.checks import number_kind
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.interval_problem import IntervalProblem, LocalIntervalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.functions import Function
from sensitivity_lab.results.measure import measure
from sensitivity_lab.results.sensitivity import Witness
from sensitivity_lab.running.pool import calls, workers
from sensitivity_lab.running.progress import bar
from sensitivity_lab.universes.finite import finite
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.relations import multiplicities_of

from . import checker
from .intervals import Floats
from .result import CertifiedBounds
from .search import Bounded, Root, bound, difference, roots_around, roots_of, search
from .sums import FromSums, OfSums, exact_gap, pair_of, roots_of_sums

MOST_RECORDS = 100_000
"""The most records of a dataset whose records are followed one by one."""

SECONDS = 30.0
"""The default limit of a search."""

RTOL = 1e-3
"""The default of how close the bounds are to be."""

check_rtol = number_kind(
    "how close the bounds are to be, relative to the lower one: a number above 0, at most 1",
    lambda given: 0 < given <= 1,
)

_PAIRS = 32
"""On so many random pairs the function has to answer as its boxes say."""

_LOST = 8
"""In a box the second program may lose so many times as much to rounding as at one pair."""

_ROUNDING = 1e-9
"""What a function's own floats may differ from them, relative to its answers."""


def certified(
    problem: IntervalProblem | LocalIntervalProblem,
    *,
    rtol: float = RTOL,
    seconds: float = SECONDS,
    n_jobs: int | None = None,
    progress: bool | None = None,
    sums: OfSums | None = None,
) -> CertifiedBounds:
    """Bound the sensitivity of one function of records of an interval; see `sensitivity_bounds`.

    The problem has one query and one relation. If the query is that of a function of sums, this is
    `sums`.
    """
    query, universe = problem.queries[0], problem.universe
    function = _function(query) if sums is None else FromSums(sums)
    ends = _floats_around(universe)
    if isinstance(problem, LocalIntervalProblem):
        relation, size = problem.neighbors, len(problem.x)
        _check_nobody(
            query, [(size - removed, removed, added) for removed, added in problem.changes]
        )
        roots = roots_around(function, *ends, _floats(problem.x), problem.changes)
    else:
        relation = problem.neighbors[0]
        shapes = [
            (size - removed, removed, added) for size, (removed, added) in problem.changes(relation)
        ]
        _check_nobody(query, shapes)
        largest = max(problem.sizes)
        if sums is None and largest > MOST_RECORDS:
            raise TooLargeError(
                f"boxes follow every record, and datasets of {largest:,} have more than the limit "
                f"of {MOST_RECORDS:,}; choose a smaller size, or a function of sums, formulas.sums"
            )
        if sums is None:
            roots = roots_of(function, *ends, shapes)
        else:
            roots = roots_of_sums(sums, shapes, (universe.lower, universe.upper))
    if not roots:
        raise InputError(f"there are no neighbors: {relation}, sizes {problem.sizes}")
    if sums is None:
        _check_numbers(query, function, roots)
    jobs = workers(n_jobs)
    with calls(n_jobs) as call, bar("boxes", progress) as shown:

        def many(root: Root, lo: Floats, hi: Floats) -> list[Bounded]:
            parts = np.array_split(np.arange(lo.shape[1]), jobs)
            given = [(function, root, lo[:, part], hi[:, part]) for part in parts if len(part)]
            founds: list[Bounded] = call(bound, given)
            return founds

        found = search(function, roots, rtol, seconds, many, shown.update)
    center = found.point[:, None]
    if sums is None:
        # The ends may be rounded outward: the witness has floats of the interval.
        point = np.clip(found.point, *_floats_inside(universe))[:, None]
        floor = difference(function, found.root, point, point, slopes=False)[0].lo.item()
        witness = _witness(query, universe, *found.root.pair(point[:, 0]))
    else:
        witness = _witness(query, universe, *pair_of(found.root, found.point))
        floor = exact_gap(sums, witness.x, witness.y)
    return CertifiedBounds(
        lower=max(floor, 0.0),
        upper=found.upper + _rounding(function, found.root, center),
        witness=witness,
        boxes=found.boxes,
        rtol=rtol,
        trees=tuple((root, tree.arrays()) for root, tree in found.trees),
        pole=found.pole,
        followed=function,
        query=query,
        neighbors=relation,
        size=problem.sizes[0] if len(problem.sizes) == 1 else problem.sizes,
        universe=universe,
        kind=problem.kind,
    )


def _rounding(function: Callable[[Any], Any], root: Root, point: Floats) -> float:
    """Return what the second program may lose to rounding, from what it does at a pair."""
    with np.errstate(all="ignore"):
        lo, hi = cast(Any, checker).difference(function, root.told(), point, point, 0)
    lost = float((hi - lo).item())
    return _LOST * lost if math.isfinite(lost) else 0.0


def _function(query: Query) -> Callable[[Any], Any]:
    """Return a caller's function of one dataset, or raise InputError."""
    if not isinstance(query, Function):
        raise InputError(
            f"boxes bound a caller's function, and {query.name} is a query of the library: its "
            "sensitivity is exact with method='auto'"
        )
    if query.vectorized:
        raise InputError(
            f"boxes need a function of one dataset, a 1-D array, and {query.name} is vectorized "
            "over rows; give from_function(function) without vectorized=True"
        )
    return query.function


def _floats_around(universe: IntervalUniverse) -> tuple[float, float]:
    """Return the floats around the interval: what holds for more records holds for its own."""
    low, high = float(universe.lower), float(universe.upper)
    low = low if low <= universe.lower else math.nextafter(low, -math.inf)
    return low, high if high >= universe.upper else math.nextafter(high, math.inf)


def _floats_inside(universe: IntervalUniverse) -> tuple[float, float]:
    """Return the least and the largest float of the interval."""
    low, high = float(universe.lower), float(universe.upper)
    low = low if low >= universe.lower else math.nextafter(low, math.inf)
    return low, high if high <= universe.upper else math.nextafter(high, -math.inf)


def _floats(records: Sequence[Number]) -> list[float]:
    """Return records as floats, or raise InputError for one that is none."""
    for record in records:
        if float(record) != record:
            raise InputError(
                f"boxes need records that are floats, and {record} is none; the nearest one is "
                f"{float(record)!r}"
            )
    return [float(record) for record in records]


def _check_nobody(query: Query, shapes: Iterable[tuple[int, int, int]]) -> None:
    """Raise QueryError for a function without an answer on no records, if a neighbor has none."""
    if any(common == 0 == min(own_x, own_y) for common, own_x, own_y in shapes):
        query(np.empty(0))


def _check_numbers(query: Query, function: Callable[[Any], Any], roots: list[Root]) -> None:
    """Raise QueryError unless the function answers on numbers as on boxes of one pair."""
    random = np.random.default_rng(0)
    for root in (roots[0], roots[-1]):
        width = (root.upper - root.lower)[:, None]
        points = root.lower[:, None] + random.random((len(width), _PAIRS)) * width
        points = root.pairs_near(points)
        told, _ = difference(function, root, points, points, slopes=False)
        for at in range(_PAIRS):
            x, y = (np.sort(one) for one in root.pair(points[:, at]))
            on_x, on_y = (float(np.asarray(query(one.copy())).item()) for one in (x, y))
            near = _ROUNDING * (1 + abs(on_x) + abs(on_y))
            if not told.lo[at] - near <= root.sign * (on_x - on_y) <= told.hi[at] + near:
                raise QueryError(
                    f"{query.name} is {on_x!r} on {x.tolist()} and {on_y!r} on {y.tolist()}, but "
                    f"its operations give answers that are {float(told.lo[at])!r} to "
                    f"{float(told.hi[at])!r} apart: it is random, or asks what kind of array it got"
                )


def _witness(
    query: Query, universe: IntervalUniverse, x: Iterable[float], y: Iterable[float]
) -> Witness:
    """Return the pair that is furthest apart, with the function's answers on it."""
    first, second = (
        universe.dataset(_as_written(float(record), universe) for record in data) for data in (x, y)
    )
    records = finite(universe, (*first, *second))
    data_x, data_y = (multiplicities_of(data, records) for data in (first, second))
    measured = measure(query, records, data_x, data_y)
    return Witness(first, second, measured.query_x, measured.query_y)


def _as_written(record: float, universe: IntervalUniverse) -> Number:
    """Return a record, as the interval writes it if it is one of its ends."""
    ends = (end for end in (universe.lower, universe.upper) if end == record)
    return next(ends, record)
