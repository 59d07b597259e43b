"""Reach: the least and the greatest answer within every number of steps from one dataset.

Its neighbors are all datasets within some steps: a `Ball`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import MORE_MEMORY, exceeding, shown, whole_kind
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.metrics.metric import Row
from sensitivity_lab.problem import (
    LocalIntervalProblem,
    LocalProblem,
    in_order,
    local_problem_on,
    read_dataset,
)
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.reach_result import Bound, End, Farthest, Reach, as_bound
from sensitivity_lab.results.witness import exact_answer, measure
from sensitivity_lab.running import watch
from sensitivity_lab.search import check_method, choose
from sensitivity_lab.search.engine import BothEnds, Options, Run, check_run
from sensitivity_lab.universes.relations import (
    RELATIONS,
    Bounded,
    Multiplicities,
    Relation,
    RemovedAdded,
    as_relation,
    multiplicities_of,
)
from sensitivity_lab.universes.universe import (
    AnyUniverse,
    FiniteUniverse,
    Space,
    check_any_universe,
    finite,
)

from .smooth_sensitivity import check_limits

MOST_CHANGES = 1_000_000
"""At most so many changes of x are searched."""

_check_distance = whole_kind("a Hamming distance, at least 0", least=0)

_BYTES = 512
"""What a distance takes in a result, with its two ends and what makes their datasets."""


@public_call
def reach(
    universe: AnyUniverse,
    query: Any,
    *,
    dataset: Any,
    distances: Any,
    neighbors: Any,
    sizes: Any = None,
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> Reach:
    """Compute how far the answer on one dataset can move if up to k records change, for every k.

    For each k the result has the least and the greatest answer on the datasets within distance k of
    x. For `Bounded` and `SymmetricDifference`, the larger of the two moves from f(x) is the local
    sensitivity at k. For the local sensitivity of *other* datasets near x, see
    `SmoothSensitivity.local_at_distance`.

    Parameters
    ----------
    universe : Universe, TableUniverse or IntervalUniverse; or list, column or table
        The records that datasets are drawn from.
    query : str, Query or callable
        See `global_sensitivity`. The answer must be one number. Take groups one at a time, as in
        ``GroupBy(column, query, groups=[group])``.
    dataset : iterable of records, shape (n,), or DataFrame
        x, a sub-multiset of the universe, in any order; for a `TableUniverse` its rows, as tuples
        or as a DataFrame.
    distances : int or iterable of int
        The Hamming distances k. The result has all distances from 0 to the largest of them.
    neighbors : Relation or str
        The relation whose distance counts the steps. Its k must be 1 or one of `distances`. For
        `Unbounded`, steps of the symmetric difference are counted; see Notes. "exactly" is refused.
    sizes : tuple of (int, int), optional
        For relations that add and remove: the smallest and the largest size of datasets. The
        default is every size for which the query is defined, up to the whole universe.
    method : str, default "auto"
        The name of a local engine; "auto" chooses the first that covers the problem.
    n_jobs, progress
        See `local_sensitivity`.
    run : Run, optional
        Limits on memory and time; see `Run`.

    Returns
    -------
    Reach
        The ends at every distance, with datasets that attain them.

    Raises
    ------
    InputError
        If an argument is invalid, x is not a dataset of the universe, the answer is not one number,
        or the relation has no distance.
    NoEngineError
        If no engine accepts the problem; a TooLargeError if it is too large. The message gives the
        numbers.
    QueryError
        If a caller's function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    The engines are those of `local_sensitivity`, which find the same two ends for every change. A
    change removes i records and adds j. Within k steps there are k changes under `Bounded`, and
    about k**2 / 2 under `SymmetricDifference`.

    Every distance is feasible: for large k, the datasets within distance k are all datasets. A
    dataset within k steps of x is within k + 1 steps of every neighbor of x. That makes mechanisms
    that use reach private.

    `Unbounded` has no such distance. At k = 2 it allows two records added or two removed, but not
    one of each. So a dataset may be two steps from x and not within three steps of a neighbor of x.
    Reach therefore counts steps of the symmetric difference, which has the same single steps. One
    direction alone has no way back, and is refused.

    References
    ----------
    H. Asi, J. Duchi, Near instance-optimality in differential privacy, 2020: the inverse of reach,
    the number of records to change until the answer is t.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> incomes = sl.Universe.from_domain(range(0, 101, 10))
    >>> x = [10, 20, 20, 30, 40, 50, 90]
    >>> found = sl.reach(incomes, "median", dataset=x, neighbors="bounded", distances=4)
    >>> found
    Reach of median: 0 to 100 within 4 (exact)
      answer     f(x) = 30
      neighbors  bounded; size 7; domain of 11 values, unlimited copies
      dataset x  10, 20 (x2), 30, 40, 50, 90
      within 1   20 to 40
      within 2   20 to 50
      within 3   10 to 90
      within 4   0 to 100
      method     monotone, exact arithmetic, no evaluation needed
    >>> found.witness(2, "upper").y
    (20, 30, 40, 50, 90, 100, 100)
    """
    check_method(method, "local")
    universe = check_any_universe(universe)
    asked = as_query(query)
    step, last = _check_steps(neighbors, distances)
    read = read_dataset(universe, dataset)
    x = in_order(universe, read)
    run = check_run(run, queries=(asked,))
    options = Options(n_jobs, progress, run)
    limits = check_limits(sizes, len(x), universe, asked, step)
    # No dataset is further away than where all of x is removed, and all that can be is added.
    most = len(x) + min(universe.size - len(x), limits[1])
    ball = Ball(int(max(1, min(last, most))), step=step, limits=limits)
    _check_number(ball, len(x), universe, last, options)
    problem = local_problem_on(universe, asked, ball, read, "L1")
    _check_scalar(asked)
    with watch(run.time_limit, progress):  # ends are found one after the other
        found = _found(problem, ball, method, options, alone=last == 0)
    on = finite(universe, found.farthest.values)
    saturated = ball.saturated_at(len(x), universe)
    lower, upper = (_ends_at_every_distance(moves, last, asked) for moves in found.moves.values())
    return Reach(
        answer=as_bound(found.of_x, asked),
        distances=tuple(range(last + 1)),
        lower=lower,
        upper=upper,
        saturated_at=saturated if saturated in range(last + 1) else None,
        neighbors=step,
        x=x,
        sizes=(limits[0], None if limits[1] == math.inf else int(limits[1])),
        status="exact",
        method=found.method,
        arithmetic=found.arithmetic,
        datasets_evaluated=found.datasets_evaluated,
        query=asked,
        universe=universe,
        farthest=found.farthest,
        depends_on_order=asked.depends_on_order(
            on, lambda: [found.farthest.x], found.datasets_evaluated
        ),
    )


def _check_steps(neighbors: Any, distances: Any) -> tuple[Relation, int]:
    """Return the relation that counts steps, and the largest distance, or raise InputError."""
    relation = as_relation(neighbors)
    several = _check_distance.several("distances", distances)
    if relation.exactly:
        raise InputError(
            f"reach is about datasets at a distance of at most k, got {relation}; use exactly=False"
        )
    step = relation.single_step
    if step is None:
        *some, other = (
            f"{one.__name__}(1)" for one in RELATIONS.values() if one().step is not None
        )
        raise InputError(
            "reach needs a distance between all datasets, which counts records that are replaced, "
            f"or added and removed; {relation} declares no such distance; use "
            f"{', '.join(some)} or {other}"
        )
    if relation.k not in (1, *several):
        raise InputError(
            f"neighbors is {relation}, but distances={shown(distances)} leaves out k = "
            f"{relation.k}; pass all distances, or name the relation without a k"
        )
    return step, max(several)


def _check_number(
    ball: Ball, size: int, universe: AnyUniverse, last: int, options: Options
) -> None:
    """Raise TooLargeError if there are too many distances, or changes."""
    if last * _BYTES > max(options.memory_limit, 2**20):
        raise TooLargeError(
            f"reach at {last:,} distances needs {exceeding(last * _BYTES, options.memory_limit)}; "
            f"choose a smaller distance or {MORE_MEMORY}"
        )
    if ball.more_changes_than(MOST_CHANGES, size, universe):
        raise TooLargeError(
            f"reach within distance {ball.k:,} would look at more than {MOST_CHANGES:,} changes "
            f"(numbers of records removed and added) under {ball.step.family}; choose a smaller "
            "distance"
        )


def _check_scalar(query: Query) -> None:
    """Raise InputError where an answer is several numbers."""
    if query.vector and len(query.labels or ()) != 1:
        raise InputError(
            f"reach is for answers that are one number, and {query.name} has several; take them "
            "one at a time, such as CountIf for a category, or GroupBy(column, query, "
            "groups=[group]) for a group"
        )


class _Found(NamedTuple):
    """What a search found.

    Attributes
    ----------
    of_x : Fraction
    moves : dict of str to list of (int, Fraction)
        By end: the distances at which it moves, ascending from 0, and where to.
    """

    of_x: Fraction
    moves: dict[End, list[tuple[int, Fraction]]]
    farthest: Farthest
    method: str
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int


def _found(
    problem: LocalProblem | LocalIntervalProblem,
    ball: Ball,
    method: str,
    options: Options,
    *,
    alone: bool,
) -> _Found:
    """Search for the two ends at every distance; of x alone, there is no other."""
    query = problem.query
    if alone or not problem.changes:
        both, name = _of_x_alone(problem), "none"
    else:
        chosen = choose(problem, method, options)
        name = chosen.engine.name
        both = chosen.ends()
    lower: dict[int, tuple[Fraction, Callable[[], Multiplicities]]] = {}
    upper = dict(lower)
    for one in both.of_changes:
        (k,) = ball.levels([(one.removed, one.added)])
        if k not in lower or one.lower.answer < lower[k][0]:
            lower[k] = one.lower
        if k not in upper or one.upper.answer > upper[k][0]:
            upper[k] = one.upper
    moves: dict[End, list[tuple[int, Fraction]]] = {}
    datasets: dict[End, tuple[tuple[int, Callable[[], Multiplicities]], ...]] = {}
    ends: tuple[tuple[End, Any, int], ...] = (("lower", lower, -1), ("upper", upper, 1))
    for end, found, outward in ends:
        # Datasets within k are also within k + 1: an end moves where a further one is beyond it.
        moves[end] = [(0, both.of_x)]
        kept = []
        for k in sorted(found):
            answer, y = found[k]
            if outward * (answer - moves[end][-1][1]) > 0:
                moves[end].append((k, answer))
                kept.append((k, y))
        datasets[end] = tuple(kept)
    universe, x = _on_values(problem, both.values)
    farthest = Farthest(x, both.values, datasets)
    arithmetic = query.arithmetic
    if arithmetic == "float":  # unless a function's answers are no floats
        some = [kept[-1][1]() for kept in datasets.values() if kept] or [x]
        measured = {measure(query, universe, x, y).arithmetic for y in some}
        arithmetic = "exact" if measured == {"exact"} else "float"
    return _Found(both.of_x, moves, farthest, name, arithmetic, both.datasets_evaluated)


def _of_x_alone(problem: LocalProblem | LocalIntervalProblem) -> BothEnds:
    """Return the answer on x where there is no other dataset."""
    universe, x = _on_values(problem, ())
    answer = exact_answer(problem.query, universe, x)
    return BothEnds(answer[0] if isinstance(answer, tuple) else answer, (), universe.values, 1)


def _on_values(
    problem: LocalProblem | LocalIntervalProblem, values: tuple[Any, ...]
) -> tuple[FiniteUniverse, Multiplicities]:
    """Return a finite universe that has given values of an interval, and x by multiplicities."""
    if isinstance(problem, LocalIntervalProblem):
        universe = finite(problem.universe, (*values, *problem.x))
        return universe, multiplicities_of(problem.x, universe)
    return problem.universe, problem.x


def _ends_at_every_distance(
    moves: list[tuple[int, Fraction]], last: int, query: Query
) -> tuple[Bound, ...]:
    """Return the end at every distance from 0 on; between two moves it is the same object."""
    found: list[Bound] = []
    for (k, answer), after in zip(moves, [*[k for k, _ in moves[1:]], last + 1], strict=True):
        found += [as_bound(answer, query)] * (after - k)
    return tuple(found)


@dataclass(frozen=True)
class Ball(Relation):
    """The datasets that are at most k single steps from x.

    Unlike a relation that a caller gives, a ball is never infeasible: it leaves out what x or the
    universe has too few records for, so it *saturates*. That keeps balls nested between neighbors:
    a dataset within k steps of x is within k + 1 steps of every neighbor of x.

    Parameters
    ----------
    k : int
        The number of steps.
    exactly : bool
        Always False.
    step : Relation
        The relation whose distance counts the steps; see `Relation.step`.
    limits : tuple of two numbers
        The smallest and the largest size of datasets; the largest may be math.inf.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3])
    >>> ball = Ball(9, step=sl.Bounded(1), limits=(2, 2))
    >>> ball.changes(2, universe), ball.saturated_at(2, universe)
    (((1, 1),), 1)
    """

    step: Relation = Bounded(1)  # noqa: RUF009 - frozen
    limits: tuple[int, float] = (1, math.inf)

    name: ClassVar[str] = "ball"
    does = "take single steps"

    @property
    def nested(self) -> int:
        """The balls of every number of steps up to k."""
        return self.k

    def levels(self, changes: Sequence[RemovedAdded]) -> list[int]:
        """Return how many steps each change takes."""
        removed, added = np.array(changes).T
        levels: list[int] = self.step.metric.apart(added, removed).tolist()
        return levels

    def between(self, x: Multiplicities, y: Multiplicities) -> Row:
        """Return how many steps datasets are apart."""
        return self.step.between(x, y)

    def saturated_at(self, size: int, universe: Space) -> int | None:
        """Return after how many steps there is no further dataset; None if more than k.

        Equal records count as different ones, as in every relation; where a universe has many of
        them, all datasets may be reached earlier.
        """
        # No dataset is further away than where all of x is removed, and all that can be is added.
        most = size + min(universe.size - size, self.limits[1])
        k = self.k
        while k < most:
            k += 1
            if any(True for _ in self.changes_at(k, size, universe)):
                return None
        changes = self.changes(size, universe)
        return max(self.levels(changes)) if changes else 0

    def changes_at(
        self, k: int, size: int, universe: Space, least: int = 0
    ) -> Iterable[RemovedAdded]:
        """Yield the changes of datasets of this size at distance exactly k, not its own k."""
        lowest, highest = self.limits
        return (
            (removed, added)
            for removed, added in self.step.changes_at(k, size, universe, least)
            if lowest <= size - removed + added <= highest
        )

    def _limits(self, least: int) -> str:
        return "a ball is never too large"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        return math.inf

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        return self.step._changes_at(k, removable, addable)
