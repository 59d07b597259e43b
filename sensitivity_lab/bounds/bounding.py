"""Bounds of a sensitivity that no engine computes: certified, on an interval.

The bounds are those of a caller's function, with the boxes that certify them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_running, check_seconds, number_kind, shown
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.problem import IntervalProblem, LocalIntervalProblem, check_sizes
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.queries.given import Function
from sensitivity_lab.results.sensitivity_result import Witness
from sensitivity_lab.results.witness import measure
from sensitivity_lab.running.pool import calls, workers
from sensitivity_lab.running.progress import bar
from sensitivity_lab.universes.relations import Multiplicities, as_relation
from sensitivity_lab.universes.universe import (
    IntervalUniverse,
    check_any_universe,
    finite,
    of_numbers,
)

from . import checker
from .box_search import (
    Bounded,
    Counted,
    Found,
    Pair,
    Root,
    answers,
    bound,
    furthest,
    pair_at,
    roots_around,
    roots_of,
    search,
)
from .certified import CertifiedBounds
from .few_sums import FromSums, Shape, boxes_of, few_of, of_sums
from .float_intervals import Floats
from .reading_functions import NotOfSumsError
from .traced import NotFollowedError

SECONDS = 30.0
"""The default limit of a search."""

RTOL = 1e-3
"""The default of how close the bounds are to be."""

check_rtol = number_kind(
    "how close the bounds are to be, relative to the lower one: a number above 0, at most 1",
    lambda given: 0 < given <= 1,
)

_MOST_RECORDS, _FEW_RECORDS = 60, 8
"""Boxes of records are tried up to so many, and up to so few where those of sums left a gap."""

_SIZES_CLIMBED = 6
"""Of so many sizes pairs are looked for before boxes are."""

_MORE_STEPS = 120
"""Where a gap is left, so many steps are climbed for a pair that is further apart."""

_PAIRS, _NUMBERS = 32, 100_000
"""On so many pairs, or of so many numbers, the function has to answer as its boxes say."""

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
) -> CertifiedBounds:
    """Bound the sensitivity of one function of records of an interval; see `sensitivity_bounds`.

    The problem has one query and one relation. A function that sees its records through sums is
    bounded by these, any other one by its records.
    """
    query = problem.queries[0]
    function, shapes = _function(query), _shapes(problem)
    _check_nobody(query, shapes)
    search_in = _Search(rtol, time.monotonic() + seconds, n_jobs, progress)
    largest = max(common + max(own) for common, *own in shapes)
    found = None
    try:
        if isinstance(problem, LocalIntervalProblem):
            raise NotOfSumsError("is asked for one dataset, whose neighbors boxes of records cover")
        of = of_sums(function, shapes, _floats_around(problem.universe))
    except NotFollowedError as error:
        if largest > _MOST_RECORDS:
            raise TooLargeError(
                f"boxes of pairs of {largest:,} records are too many, and {query.name} is not "
                f"bounded by sums of its records: it {error.does}; write it with sums of functions "
                f"of one record, or choose a size of at most {_MOST_RECORDS}"
            ) from error
    else:
        found = _by_sums(problem, of, shapes, search_in)
        if found.reached or largest > _FEW_RECORDS:
            return found
    by_records = _by_records(problem, function, shapes, search_in)
    if found is None:
        return by_records
    # Of few records, sums may allow more than there is: the better of both bounds counts.
    first, second = sorted((by_records, found), key=lambda one: (one.upper, not one.pole))
    return (
        replace(first, lower=second.lower, witness=second.witness)
        if second.lower > first.lower
        else first
    )


def _shapes(problem: IntervalProblem | LocalIntervalProblem) -> list[Shape]:
    """Return how many records x and y have in common, and of their own."""
    if isinstance(problem, LocalIntervalProblem):
        changes = [(len(problem.x), change) for change in problem.changes]
    else:
        changes = problem.changes(problem.neighbors[0])
    if not changes:
        raise InputError(f"there are no neighbors, sizes {problem.sizes}")
    return [(size - removed, removed, added) for size, (removed, added) in changes]


@dataclass(frozen=True)
class _Search:
    """How to search boxes, and until when."""

    rtol: float
    end: float
    n_jobs: int | None
    progress: bool | None

    def __call__(
        self,
        function: Callable[[Any], Any],
        roots: list[Root],
        rtol: float,
        start: Pair,
        hopeless: float = math.inf,
        most_boxes: float = math.inf,
    ) -> Found:
        """Bound how far apart answers are on the pairs of all roots."""
        jobs = workers(self.n_jobs)
        with calls(self.n_jobs) as call, bar("boxes", self.progress) as shown:

            def many(root: Root, lo: Floats, hi: Floats) -> list[Bounded]:
                parts = np.array_split(np.arange(lo.shape[1]), jobs)
                given = [(function, root, lo[:, part], hi[:, part]) for part in parts if len(part)]
                founds: list[Bounded] = call(bound, given)
                return founds

            left = max(self.end - time.monotonic(), 0.0)
            return search(
                function, roots, rtol, left, many, shown.update, start, hopeless, most_boxes
            )


def _by_sums(
    problem: IntervalProblem, of: FromSums, shapes: list[Shape], search_in: _Search
) -> CertifiedBounds:
    query, inside = problem.queries[0], _floats_inside(problem.universe)
    # Of many sizes some, with the largest: a lower bound needs no others.
    some = [*dict.fromkeys([*shapes[:: -(-len(shapes) // _SIZES_CLIMBED)], *shapes[-2:]])]
    of_few, attained = few_of(of, some, inside)
    _check_numbers(query, of_few, attained)
    best = furthest(of_few, attained)
    # Half of the gap is for what sums allow, and no records have. Of few records this is much:
    # where it shows, boxes of records are searched instead.
    largest = max(common + max(own) for common, *own in shapes)
    few = largest <= _FEW_RECORDS
    hopeless = best.apart * (1 + search_in.rtol) if few else math.inf
    # Up to four records have as few variables as their sums, and cheaper boxes.
    most_boxes = 1_000 if largest <= 4 else math.inf
    boxes = boxes_of(of, shapes)
    start = Pair(best.apart, boxes[0], (boxes[0].lower + boxes[0].upper) / 2)
    found = search_in(of, boxes, search_in.rtol / 2, start, hopeless, most_boxes)
    if not few and found.upper > best.apart * (1 + search_in.rtol):
        again = furthest(of_few, [best.root], _MORE_STEPS, of.records_of(found.root, found.point))
        best = max(best, again, key=lambda one: one.apart)
    if found.pole:
        found = replace(
            found, pole=f"the sums {', '.join(of.form.told)} leave {query.name} without a bound"
        )
    return _result(problem, of, found, best, search_in.rtol)


def _by_records(
    problem: IntervalProblem | LocalIntervalProblem,
    function: Callable[[Any], Any],
    shapes: list[Shape],
    search_in: _Search,
) -> CertifiedBounds:
    ends = _floats_around(problem.universe)
    if isinstance(problem, LocalIntervalProblem):
        roots = roots_around(function, *ends, _floats(problem.x), problem.changes)
    else:
        roots = roots_of(function, *ends, shapes)
    _check_numbers(problem.queries[0], function, roots)
    found = search_in(function, roots, search_in.rtol, furthest(function, roots))
    # The ends may be rounded outward: the witness has floats of the interval.
    point = np.clip(found.point, *_floats_inside(problem.universe))
    best = pair_at(function, found.root, point)
    return _result(problem, function, found, best, search_in.rtol)


def _result(
    problem: IntervalProblem | LocalIntervalProblem,
    function: Callable[[Any], Any],
    found: Found,
    best: Pair,
    rtol: float,
) -> CertifiedBounds:
    query, relations = problem.queries[0], problem.neighbors
    return CertifiedBounds(
        lower=max(best.apart, 0.0),
        upper=found.upper + _rounding(function, found.root, found.point[:, None]),
        witness=_witness(query, problem.universe, *best.root.counted(best.point)),
        boxes=found.boxes,
        rtol=rtol,
        trees=tuple((root, tree.arrays()) for root, tree in found.trees),
        pole=found.pole,
        followed=function,
        query=query,
        neighbors=relations[0] if isinstance(relations, tuple) else relations,
        size=problem.sizes[0] if len(problem.sizes) == 1 else problem.sizes,
        universe=problem.universe,
        kind=problem.kind,
        sums=function.form.told if isinstance(function, FromSums) else (),
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
    for root in roots[:: max(1, len(roots) - 1)]:  # the first one and the last
        width = (root.upper - root.lower)[:, None]
        points = root.lower[:, None] + random.random((len(width), _PAIRS)) * width
        points = root.pairs_near(points)
        told = answers(function, root, points, points, slopes=False)[:2]
        size = sum(count for _, count in root.counted(points[:, 0])[0])
        for at in range(min(_PAIRS, 2 + _NUMBERS // (1 + size))):
            for side, of in zip(root.counted(points[:, at]), told, strict=True):
                low, high = (np.broadcast_to(end, _PAIRS)[at] for end in (of.value.lo, of.value.hi))
                times = np.array([count for _, count in side], dtype=np.int64)
                x = np.repeat([record for record, _ in side], times)
                came = float(np.asarray(query(x)).item())
                near = _ROUNDING * (1 + abs(came)) * math.sqrt(1 + len(x))
                if not low - near <= came <= high + near:
                    raise QueryError(
                        f"{query.name} is {came!r} on {shown(x.tolist())}, but its operations give "
                        f"{float(low)!r} to {float(high)!r}: it is random, or asks what kind of "
                        "array it got, or a number in it leaves the range of floats"
                    )


def _witness(query: Query, universe: IntervalUniverse, x: Counted, y: Counted) -> Witness:
    """Return the pair that is furthest apart, with the function's answers on it."""
    distinct = {record for record, _ in (*x, *y)}
    written = {record: _as_written(record, universe) for record in sorted(distinct)}
    records = of_numbers(finite(universe, written.values()))
    place = {value: at for at, value in enumerate(records.values)}

    def data(side: Counted) -> Multiplicities:
        times = np.zeros(len(place), dtype=np.int64)
        for record, count in side:
            times[place[written[record]]] += count
        return times

    of_x, of_y = data(x), data(y)
    measured = measure(query, records, of_x, of_y)
    listed = records.dataset(of_x), records.dataset(of_y)
    return Witness(*listed, measured.query_x, measured.query_y)


def _as_written(record: float, universe: IntervalUniverse) -> Number:
    """Return a record, as the interval writes it if it is one of its ends."""
    ends = (end for end in (universe.lower, universe.upper) if end == record)
    return next(ends, record)


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
