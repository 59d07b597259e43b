"""Bounds of a caller's function on an interval, with the boxes that certify them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import joblib
import numpy as np

from sensitivity_lab.checks import number_kind
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.interval_problem import IntervalProblem, LocalIntervalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.functions import Function
from sensitivity_lab.results.measure import measure
from sensitivity_lab.results.sensitivity import Witness
from sensitivity_lab.running.progress import bar
from sensitivity_lab.universes.finite import finite
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.relations import multiplicities_of

from .result import CertifiedBounds
from .search import Bounded, Found, Root, bound, difference, roots_around, roots_of, search

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

_ROUNDING = 1e-9
"""What a function's own floats may differ from them, relative to its answers."""


def certified(
    problem: IntervalProblem | LocalIntervalProblem,
    *,
    rtol: float = RTOL,
    seconds: float = SECONDS,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> CertifiedBounds:
    """Bound the sensitivity of one function of records of an interval; see `sensitivity_bounds`.

    The problem has one query and one relation.
    """
    query, universe = problem.queries[0], problem.universe
    function = _function(query)
    ends = _ends(universe)
    if isinstance(problem, LocalIntervalProblem):
        relation = problem.neighbors
        roots = roots_around(function, *ends, _floats(problem.x), problem.changes)
    else:
        relation = problem.neighbors[0]
        shapes = [
            (size - removed, removed, added) for size, (removed, added) in problem.changes(relation)
        ]
        roots = roots_of(function, *ends, shapes)
    if not roots:
        raise InputError(f"there are no neighbors: {relation}, sizes {problem.sizes}")
    _check_numbers(query, function, roots)
    jobs = joblib.effective_n_jobs(n_jobs or 1)
    with joblib.Parallel(n_jobs=jobs) as workers, bar("boxes", progress) as shown:
        found = search(
            *(function, roots, rtol, seconds),
            _parted(workers, jobs) if jobs > 1 else lambda tasks: [bound(*one) for one in tasks],
            shown.update,
        )
    witness, floor = _witness(query, universe, found)
    return CertifiedBounds(
        lower=floor,
        upper=found.upper,
        witness=witness,
        boxes=found.boxes,
        rtol=rtol,
        trees=tuple((root, tree.arrays()) for root, tree in found.trees),
        query=query,
        neighbors=relation,
        size=problem.sizes[0] if len(problem.sizes) == 1 else problem.sizes,
        universe=universe,
        kind=problem.kind,
    )


def _parted(workers: joblib.Parallel, jobs: int) -> Callable[[list[Any]], list[Bounded]]:
    """Return what bounds boxes in worker processes, an equal part each."""

    def many(tasks: list[Any]) -> list[Bounded]:
        parts = [
            (function, root, lo[:, places], hi[:, places])
            for function, root, lo, hi in tasks
            for places in np.array_split(np.arange(lo.shape[1]), jobs)
            if len(places)
        ]
        found: list[Bounded] = workers(joblib.delayed(bound)(*one) for one in parts)
        return found

    return many


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


def _ends(universe: IntervalUniverse) -> tuple[float, float]:
    """Return the floats around the interval: what holds for more records holds for its own."""
    low, high = float(universe.lower), float(universe.upper)
    low = low if low <= universe.lower else math.nextafter(low, -math.inf)
    return low, high if high >= universe.upper else math.nextafter(high, math.inf)


def _floats(records: Sequence[Number]) -> list[float]:
    """Return records as floats, or raise InputError for one that is none."""
    for record in records:
        if float(record) != record:
            raise InputError(
                f"boxes need records that are floats, and {record} is none; the nearest one is "
                f"{float(record)!r}"
            )
    return [float(record) for record in records]


def _check_numbers(query: Query, function: Callable[[Any], Any], roots: list[Root]) -> None:
    """Raise QueryError unless the function answers on numbers as on boxes of one pair."""
    random = np.random.default_rng(0)
    for root in (roots[0], roots[-1]):
        width = (root.upper - root.lower)[:, None]
        points = root.lower[:, None] + random.random((len(width), _PAIRS)) * width
        if root.ordered:
            points = np.sort(points, axis=0)
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


def _witness(query: Query, universe: IntervalUniverse, found: Found) -> tuple[Witness, float]:
    """Return the pair that is furthest apart, with the function's answers on it."""
    x, y = (
        universe.dataset(_inside(record, universe) for record in data.tolist())
        for data in found.root.pair(found.point)
    )
    records = finite(universe, (*x, *y))
    data_x, data_y = (multiplicities_of(data, records) for data in (x, y))
    measured = measure(query, records, data_x, data_y)
    return Witness(x, y, measured.query_x, measured.query_y), max(found.lower, 0.0)


def _inside(record: float, universe: IntervalUniverse) -> Number:
    """Return a record, or the end of the interval that it is, or that it was rounded from."""
    if record <= universe.lower:
        return universe.lower
    return record if record < universe.upper else universe.upper
