"""Many sizes at once: which of them can have the largest difference, and too few records.

Three theories say which sizes need a search (docs/proofs.md, "Many sizes (`sizes`)"). Others search
every size.

- A query that adds up over the records differs between x and y by what A and B add to it, whatever
  the size: one size for each change is enough.
- Over a domain without a limit of copies, or an interval, a weighted sum by rank that never falls
  differs most where all records are at the two ends. Then it is the share of the weight above the
  lower ones, which is known for all sizes at once.
- There a variance differs by at most a bound, and by at least what two kinds of records give; sizes
  whose bound is below the best of these are left out.

Datasets with too few records, such as nobody's, need no engine. A query may have an answer of its
own only from d records on (`defined_from`), and a given one, `empty`, below. Let x have s >= d
records and a neighbor y fewer than d. The answer on y is `empty`, whatever its records are, and
every dataset of s records has such a neighbor if one has. So the largest difference of such pairs
is that of `empty` from the least or the greatest answer on the datasets of s records, which a local
search finds. All other pairs are left to the engine that is asked, for the query without `empty`:
it never sees a dataset with fewer than d records. See docs/proofs.md, "Nobody (`nobody`)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.problem import IntervalProblem, LocalIntervalProblem, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Runs
from sensitivity_lab.results.witness import difference_of, exact_answer
from sensitivity_lab.universes.relations import (
    Bounded,
    Multiplicities,
    Relation,
    RemovedAdded,
    Unbounded,
    multiplicities_of,
    smallest,
)
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse, finite

from .engine import (
    AnyEngine,
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Findings,
    Options,
    Plan,
    Refusal,
    first_plan,
    furthest,
    one_by_one,
)
from .lattice import Indices
from .layouts import LaidOut

MANY = 16
"""So many sizes are searched sooner than told apart."""

_MOST_CHANGES = 1_000
"""Of relations with more changes every size is searched."""

_TIED = 1e-9
"""Shares of the range that differ by less are compared exactly, or searched."""

_APART = 1 << 25
"""Two fractions with smaller denominators are two floats, too."""

AnyProblem = Problem | IntervalProblem
Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]

Allowed = dict[RemovedAdded, NDArray[np.bool_]]
"""By change: at which sizes of x it leads to a neighbor."""


def plan_for_sizes(
    engine: AnyEngine, problem: AnyProblem, options: Options
) -> Plan[Findings] | Refusal:
    """Return an engine's plan for the sizes of a problem that can have the largest difference.

    Of many sizes these are told for each query and relation by itself.
    """
    if len(problem.sizes) > MANY:
        return one_by_one(problem, partial(_plan_deciding, engine, options=options))
    plan: Plan[Findings] | Refusal = engine.plan(problem, options)
    return plan


def _plan_deciding(
    engine: AnyEngine, part: AnyProblem, options: Options
) -> Plan[Findings] | Refusal:
    (query,), (relation,) = part.queries, part.neighbors
    allowed = _allowed_changes(part, relation)
    sizes = part.sizes if allowed is None else deciding(part, query, allowed)
    plan: Plan[Findings] | Refusal = engine.plan(part.at(sizes), options)
    return plan


def _allowed_changes(problem: AnyProblem, relation: Relation) -> Allowed | None:
    """Return at which sizes each change leads to a neighbor; None of too many changes."""
    changes = list(islice(relation.every_change, _MOST_CHANGES + 1))
    if len(changes) > _MOST_CHANGES:
        return None
    sizes = np.array(problem.sizes, dtype=np.int64)
    masks = ((change, _allowed(problem, sizes, change)) for change in changes)
    return {change: allow for change, allow in masks if allow.any()}


def deciding(problem: AnyProblem, query: Query, allowed: Allowed) -> tuple[int, ...]:
    """Return sizes of which one has the largest difference, for one query and relation."""
    sizes = np.array(problem.sizes, dtype=np.int64)
    if query.adds_up(problem.universe):
        first = {int(np.argmax(allow)) for allow in allowed.values()}
        return tuple(sizes[sorted(first)].tolist())
    universe = problem.universe
    if isinstance(universe, FiniteUniverse) and not universe.numeric:
        return _of_rows(universe, query, sizes, allowed)
    return _of_numbers(query, sizes, allowed) if _at_two_ends(problem) else problem.sizes


def _of_numbers(query: Query, sizes: Sizes, allowed: Allowed) -> tuple[int, ...]:
    """Return the deciding sizes of a query on numbers whose two ends occur any number of times."""
    if query.moment == "variance":
        return _of_variance(_spreads(query, sizes, allowed))
    if query.crosses_once and query.centred and query.moment != "count":
        return _of_ranks(query, sizes, allowed)
    return tuple(sizes.tolist())


def _of_rows(
    universe: FiniteUniverse, query: Query, sizes: Sizes, allowed: Allowed
) -> tuple[int, ...]:
    """Return the deciding sizes of a query of one column, alone or by group."""
    every = tuple(sizes.tolist())
    if universe.counts is not None:
        return every
    if column := query.projection(universe):
        numbers, few = column[1], column[1].defined_from
        some = sizes[sizes >= few]
        own = {
            change: allow[sizes >= few] & (some - change[0] + change[1] >= few)
            for change, allow in allowed.items()
        }
        own = {change: allow for change, allow in own.items() if allow.any()}
        found = _of_numbers(numbers, some, own) if own else ()
        # Datasets with too few values are told apart from the others where these are searched.
        # From so many records on no change leads below `few`.
        small = few + max(map(max, allowed)) if numbers.empty is not None else 0
        return tuple(sorted({*found, *sizes[sizes < small].tolist()})) or every
    grouped = query.by_group(universe)
    if grouped is None:
        return every
    groups, some_in_none = grouped
    # The rows that a larger dataset has on top stand in no group, or in one that does not change.
    stays = some_in_none or groups > max(map(sum, allowed))
    return every[-1:] if stays else every


def settled(problem: Problem) -> Findings | None:
    """Return pairs of two kinds of records that no variance or deviation exceeds, without a search.

    None if a bound is above one of them, for some query and relation.
    """
    if not _at_two_ends(problem) or len(problem.neighbors) > MANY:
        return None
    sizes, values = np.array(problem.sizes, dtype=np.int64), len(problem.universe.values)
    found: list[list[Finding]] = []
    for query in problem.queries:
        found.append([])
        for relation in problem.neighbors:
            allowed = _allowed_changes(problem, relation)
            pair = _settled_pair(_spreads(query, sizes, allowed), values) if allowed else None
            if pair is None:
                return None
            found[-1].append(pair)
    return found


def _allowed(problem: AnyProblem, sizes: Sizes, change: RemovedAdded) -> NDArray[np.bool_]:
    """Return at which sizes of x a change leads to a neighbor."""
    removed, added = change
    after = sizes - removed + added
    there: NDArray[np.bool_] = (sizes >= removed) & (after >= problem.least)
    return there & (sizes + added <= problem.universe.size)


def _at_two_ends(problem: AnyProblem) -> bool:
    """Tell whether every record can occur any number of times, and not all are equal."""
    universe = problem.universe
    if not isinstance(universe, FiniteUniverse):
        return bool(universe.lower < universe.upper)
    return universe.numeric and universe.counts is None and len(universe.values) > 1


@dataclass(frozen=True)
class _Spreads:
    """How far variances can be apart on [0, 1] for one change, at some sizes.

    One of x and y, the *more* spread one, has n records, of which `own` are not in the other one.

    Attributes
    ----------
    sizes : ndarray of int64, shape (s,)
        The sizes of x.
    change : tuple of two int
    is_x : bool
        Whether the more spread one is x.
    ddof : Fraction
    """

    sizes: Sizes
    change: RemovedAdded
    is_x: bool
    ddof: Fraction

    @property
    def own(self) -> int:
        """How many records of the more spread one are not in the other one."""
        return self.change[0 if self.is_x else 1]

    def of_both(self) -> tuple[Sizes, Sizes]:
        """Return the sizes of the more spread one and of the other."""
        after = self.sizes - self.change[0] + self.change[1]
        return (self.sizes, after) if self.is_x else (after, self.sizes)

    def floats(self) -> tuple[Floats, Floats]:
        """Return what two kinds of records attain, and a bound, at every size."""
        return self._within(*self.of_both(), float(self.ddof))

    def exactly(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the same at one size, without rounding."""
        more, less = (of[place : place + 1].astype(object) for of in self.of_both())
        (attained,), (most,) = self._within(more, less, self.ddof)
        return attained, most

    def _within(self, more: Any, less: Any, ddof: Any) -> tuple[Any, Any]:
        """Return the same at some sizes: of Python ints and a Fraction, as Fractions."""
        upper, core = np.minimum(self.own, more // 2), more - self.own
        # With a of n records at one end and n - a at the other, the variance is
        # a (n - a) / (n (n - d)).
        attained = upper * (more - upper) / (more * (more - ddof))
        # A core that is spread adds to the difference if its divisor is the smaller one.
        added = core**2 // 4 * (1 / (more - ddof) - 1 / (less - ddof)) / np.maximum(core, 1)
        return attained, attained + np.maximum(added, 0)

    def pair(self, place: int, values: int) -> Finding:
        """Return the pair of two kinds of records at one size, by multiplicities."""
        more, less = (int(of[place]) for of in self.of_both())
        upper = min(self.own, more // 2)
        data = np.zeros((2, values), dtype=np.int64)
        data[:, 0], data[0, -1] = (more - upper, less), upper
        x, y = data if self.is_x else data[::-1]
        return Finding(x, y, None, 0)


def _spreads(query: Query, sizes: Sizes, allowed: Allowed) -> list[_Spreads]:
    """Return what is known of every change, in both orders of x and y."""
    ddof = Fraction(query.ddof)
    return [
        _Spreads(sizes[allow], change, is_x, ddof)
        for change, allow in allowed.items()
        for is_x in (True, False)
    ]


def _of_variance(spreads: list[_Spreads]) -> tuple[int, ...]:
    """Return the sizes at which a bound of the difference is not below what is attained."""
    near = [one.sizes[places] for one, places in _near(spreads)]
    return tuple(np.unique(np.concatenate(near)).tolist())


def _near(spreads: list[_Spreads]) -> list[tuple[_Spreads, Indices]]:
    """Return where a bound reaches what any size attains; 1e-9 is far more than rounding."""
    both = [one.floats() for one in spreads]
    best = max(float(attained.max()) for attained, _ in both)
    return [
        (one, np.flatnonzero(most >= best * (1 - _TIED)))
        for one, (_, most) in zip(spreads, both, strict=True)
    ]


def _settled_pair(spreads: list[_Spreads], values: int) -> Finding | None:
    """Return a pair of two kinds of records that attains every bound; None if none does."""
    near = [
        (one, place)
        for one, places in _near(spreads)
        for place in places[: _MOST_CHANGES + 1].tolist()
    ]
    if len(near) > _MOST_CHANGES:
        return None
    # Floats leave the sizes that are near; fractions say whether one attains all bounds of these.
    found = [(*one.exactly(place), one, place) for one, place in near]
    attained, _, one, place = max(found, key=itemgetter(0))
    return one.pair(place, values) if attained >= max(most for _, most, _, _ in found) else None


class _Shares(NamedTuple):
    """Largest differences for some sizes, as fractions of the range."""

    above: NDArray[Any]
    below: NDArray[Any]
    sizes: Sizes


def _of_ranks(query: Query, sizes: Sizes, allowed: Allowed) -> tuple[int, ...]:
    """Return a size with the largest share of the range; of equal ones the first."""
    shares: list[_Shares] = []
    for (removed, added), allow in allowed.items():
        own = sizes[allow]
        of_x, of_y = query.runs(own), query.runs(own - removed + added)
        if of_x is None or of_y is None:
            return tuple(sizes.tolist())
        core = own - removed
        shares.append(_largest_share(of_x, of_y, added, core, own))
        shares.append(_largest_share(of_y, of_x, removed, core, own))
    ratios = [share.above.astype(np.float64) / share.below.astype(np.float64) for share in shares]
    best = max(float(ratio.max(initial=0.0)) for ratio in ratios)
    found: dict[Fraction, int] = {}
    for share, ratio in zip(shares, ratios, strict=True):
        near = np.flatnonzero(ratio >= best - _TIED)
        # Equal fractions are one float here, and different ones two: one size for each float is
        # enough.
        if len(near) and share.below.max() < _APART:
            near = near[np.unique(ratio[near], return_index=True)[1]]
        columns = (of[near].tolist() for of in share)
        for above, below, size in zip(*columns, strict=True):
            equal = found.setdefault(Fraction(above, below), size)
            found[Fraction(above, below)] = min(equal, size)
    return (found[max(found)],)


def _largest_share(one: Runs, other: Runs, lower: int, core: Sizes, sizes: Sizes) -> _Shares:
    """Return the largest weight of the upper records in one dataset less that in the other.

    All records are at one of the two ends. Of the core t are at the lower one; so are the `lower`
    records that only the other dataset has. The difference is linear in t between the ranks where
    runs begin or end, so that it is largest at one of these, or where t is 0 or the whole core.
    """
    ranks = [*one.starts, *one.stops, *(other.starts - lower), *(other.stops - lower)]
    best: NDArray[Any] | None = None
    below = one.units * other.units
    for rank in (*ranks, np.zeros_like(core), core):
        t = np.clip(rank, 0, core)
        # Both are over one.units * other.units, so they are compared as whole numbers.
        above = _upper(one, t) * other.units - _upper(other, t + lower) * one.units
        best = above if best is None else np.maximum(best, above)
    return _Shares(np.asarray(best), below, sizes)


def _upper(runs: Runs, lower: Sizes) -> NDArray[Any]:
    """Return the weight, times the unit, of all records but the first `lower` ones."""
    left = np.maximum(runs.stops - np.maximum(runs.starts, lower), 0)
    total: NDArray[Any] = (left * runs.weights).sum(axis=0)
    return total


Local = LocalProblem | LocalIntervalProblem

Sized = tuple[int, RemovedAdded]
"""The size of x, and a change."""


class OfAnySize:
    """An engine for numbers of records of any kind: few, and many.

    The engine itself only gets datasets on which queries have an answer of their own and, of many
    sizes, those that can have the largest difference.

    Parameters
    ----------
    engine : Engine
        It takes what is left.
    local : sequence of Engine
        Engines for local problems, in order of preference, that find the extremes of a size.
    """

    def __init__(self, engine: AnyEngine, local: Sequence[AnyEngine]) -> None:
        self.name, self.kind = engine.name, engine.kind
        self.covers, self.reach = engine.covers, engine.reach
        self.engine, self._local = engine, local

    def plan(self, problem: Any, options: Options) -> Plan[Any] | Refusal:
        """Return the plan of the engine, with the pairs that it does not see."""
        if isinstance(problem, Local):
            return _plan_local(self.engine, self._local, problem, options)
        whole = len(problem.parts) == 1
        if whole and not any(
            answers_few(query) and _few_changes(problem, query, relation)
            for query in problem.queries
            for relation in problem.neighbors
        ):
            return plan_for_sizes(self.engine, problem, options)

        def plan_of(part: Problem | IntervalProblem) -> Plan[Findings] | Refusal:
            if answers_few(part.queries[0]):
                return _plan_pairs(self.engine, self._local, part, options)
            return plan_for_sizes(self.engine, part, options)

        return one_by_one(problem, plan_of)


def answers_few(query: Query) -> bool:
    """Tell whether the answer on few records is given, and not the query's own."""
    return query.on_numbers and query.empty is not None and query.defined_from > 0


def without_empty(query: Query) -> Query:
    """Return the query without its answer on few records."""
    made: Query = replace(query, empty=None)  # type: ignore[type-var]
    return made


def _given_answer(query: Query) -> Fraction:
    """Return the answer on few records; its square, if the query is a root."""
    return Fraction(query.empty or 0) ** (2 if query.root else 1)


def _few_changes(
    problem: Problem | IntervalProblem, query: Query, relation: Relation
) -> list[Sized]:
    """Return the changes of which x or y has too few records for the query's own answer."""
    # With d + k records or more, k changes leave at least d.
    small = (size for size in problem.sizes if size < query.defined_from + relation.k)
    return [
        (size, (removed, added))
        for size in small
        for removed, added in relation.some_changes(size, problem.universe, problem.least)
        if min(size, size - removed + added) < query.defined_from
    ]


def _plan_pairs(
    engine: AnyEngine,
    local: Sequence[AnyEngine],
    problem: Problem | IntervalProblem,
    options: Options,
) -> Plan[Findings] | Refusal:
    """Plan the search for one query and one relation: what it defines, and all else."""
    (query,), (relation,) = problem.queries, problem.neighbors
    own = without_empty(query)
    least = own.defined_from
    # Pairs with one dataset below d come from the extremes; the engine gets the others. If both are
    # below d, the extremes are the given answer itself, and the difference is 0.
    few = _few_changes(problem, query, relation)
    # Larger datasets have neighbors if records can be removed; else one of them shows it.
    some = [
        size
        for size in problem.sizes
        if size >= least + relation.k
        or (size >= least and any(relation.some_changes(size, problem.universe, least)))
    ]
    inner: Plan[Findings] | None = None
    if any(any(relation.some_changes(size, problem.universe, least)) for size in some):
        part = problem.at(tuple(some), own)
        planned = plan_for_sizes(engine, part, options)
        if isinstance(planned, Refusal):
            return planned
        inner = planned

    def solve() -> Findings:
        best = [inner.solve()[0][0]] if inner else []
        gaps = [_gap_of_pair(problem.universe, query, one) for one in best]
        for gap, make in _pairs_with_few(local, problem.universe, query, few):
            if not gaps or gap > gaps[0]:
                best, gaps = [make()], [gap]
        return [best]

    return Plan(solve, inner.cost if inner else Cost(0))


def _gap_of_pair(universe: AnyUniverse, query: Query, finding: Finding) -> Difference:
    """Return how far the answers of a pair are apart."""
    if isinstance(finding, LaidOut):
        return finding.gap
    on = finite(universe, finding.values)
    x, y = (exact_answer(query, on, data) for data in (finding.x, finding.y))
    return difference_of(x, y, "L1", query.root)


def _exact_answer(query: Query, universe: FiniteUniverse, data: Multiplicities) -> Fraction:
    """Return the exact answer on a dataset; its square, if the query is a root."""
    answer = query.exactly(universe, data)
    if not isinstance(answer, Fraction):
        raise ValueError(f"{query.name} is exact, and its answers are numbers")
    return answer


def _pairs_with_few(
    local: Sequence[AnyEngine], universe: AnyUniverse, query: Query, few: list[Sized]
) -> Iterator[tuple[Difference, Callable[[], Finding]]]:
    """Yield pairs of which one has too few records: the furthest apart for each change."""
    given = _given_answer(query)
    known: dict[int, tuple[Difference, Extreme]] = {}
    for size, (removed, added) in few:
        # The answer on the smaller one is given, so only the size of the larger one matters:
        # changes share what is found for it.
        larger = max(size, size - removed + added)
        if larger not in known:
            extremes = _extremes_of_size(local, universe, query, larger)
            known[larger] = max(
                ((Difference(one.answer, given, query.root), one) for one in extremes),
                key=lambda pair: pair[0],
            )
        gap, extreme = known[larger]
        yield gap, partial(_pair_of, extreme, size == larger, (removed, added))


class Extreme(NamedTuple):
    """A dataset of some size with the least or the greatest answer.

    Attributes
    ----------
    answer : Fraction
        Its square, if the query is a root.
    data : callable
        Returns the dataset, by multiplicities.
    universe : FiniteUniverse
    values : tuple of numbers
        As those of `Finding`.
    """

    answer: Fraction
    data: Callable[[], Multiplicities]
    universe: FiniteUniverse
    values: tuple[Number, ...]


def _extremes_of_size(
    local: Sequence[AnyEngine], universe: AnyUniverse, query: Query, size: int
) -> list[Extreme]:
    """Return datasets of a size with the least and the greatest answer."""
    own = without_empty(query)
    if size < own.defined_from:
        on = finite(universe)
        return [Extreme(_given_answer(query), partial(_first_records, on, size), on, on.values)]
    search = plan_extremes(local, universe, own, size, Options())
    if search is None:
        raise NoEngineError(f"no engine finds the extremes of {query.name}")
    return search()


def plan_extremes(
    local: Sequence[AnyEngine], universe: AnyUniverse, own: Query, size: int, options: Options
) -> Callable[[], list[Extreme]] | None:
    """Return a search for datasets of a size with the least and the greatest answer.

    None if no engine finds both ends. The query has an answer of its own on every dataset of the
    size, which need not move one way with each record: the range does not.
    """
    problem = _from_somewhere(universe, own, size)
    if isinstance(problem, Extreme):
        return lambda: [problem]
    plan = first_plan(local, problem, options)
    if isinstance(plan, Refusal) or plan.ends is None:
        return None
    return partial(_two_extremes, problem, plan.ends, size)


def _two_extremes(problem: Local, ends: Callable[[], BothEnds], size: int) -> list[Extreme]:
    """Return datasets of a size with the least and the greatest answer, from x or a neighbor."""
    both = ends()
    asked = _on_finite(problem, both.values)
    on = asked.universe
    found = [one for of in both.of_changes for one in (of.lower, of.upper)]
    some = [Extreme(one.answer, one.y, on, both.values) for one in found]
    if sum(problem.sizes) == size:
        some.append(Extreme(both.of_x, lambda: asked.x, on, both.values))
    return [min(some, key=lambda one: one.answer), max(some, key=lambda one: one.answer)]


def _from_somewhere(universe: AnyUniverse, own: Query, size: int) -> Local | Extreme:
    """Return a local problem whose neighbors are all datasets of a size, with x or without it.

    Where each record can occur often enough, all records of any x are replaced; else records of the
    whole universe are removed, of which there are then not many.
    """
    replaced = Bounded(max(size, 1), exactly=True)
    if not isinstance(universe, FiniteUniverse):
        return LocalIntervalProblem(universe, own, replaced, (universe.lower,) * size)
    x = _first_records(universe, size)
    if size and int(universe.multiplicities(2 * size).min()) >= 2 * size:
        return LocalProblem(universe, own, replaced, x)
    left = int(universe.size) - size
    if not left:
        return Extreme(_exact_answer(own, universe, x), lambda: x, universe, ())
    every = universe.multiplicities(int(universe.size))
    return LocalProblem(universe, own, Unbounded(left, True, "remove"), every)


def _first_records(universe: FiniteUniverse, size: int) -> Multiplicities:
    """Return a dataset of a size: the smallest records."""
    return smallest(universe.multiplicities(size), size)


def _pair_of(extreme: Extreme, is_x: bool, change: RemovedAdded) -> Finding:
    """Return a pair of a dataset and one that a change of x leads to, or comes from."""
    data = extreme.data()
    # If the larger one is y, the change is read backwards: y loses what was added.
    removed, added = change if is_x else change[::-1]
    other = _with_changes(extreme.universe, data, removed, added)
    x, y = (data, other) if is_x else (other, data)
    return Finding(x, y, None, 0, extreme.values)


def _with_changes(
    universe: FiniteUniverse, data: Multiplicities, removed: int, added: int
) -> Multiplicities:
    """Return a dataset without its first records, and with the first that are outside it."""
    # With unlimited copies, as many as the dataset can have and `added` more.
    outside = universe.multiplicities(int(data.sum()) + added) - data
    changed: Multiplicities = data - smallest(data, removed) + smallest(outside, added)
    return changed


def _plan_local(
    engine: AnyEngine, local: Sequence[AnyEngine], problem: Local, options: Options
) -> Plan[Finding] | Refusal:
    """Plan a local search: changes that leave too few records have the given answer."""
    query, size = problem.query, problem.sizes[0]
    own = without_empty(query) if answers_few(query) else query
    few = [one for one in problem.changes if size - one[0] + one[1] < own.defined_from]
    if own is query or (size >= own.defined_from and not few):
        asked = problem if own is query else replace(problem, query=own)
        plan: Plan[Finding] | Refusal = engine.plan(asked, options)
        return plan
    ends: Callable[[], BothEnds]
    if not size:
        ends = partial(_ends_of_nobody, local, problem)
    elif len(few) == len(problem.changes):
        ends = partial(_ends_with_few, problem, few, None)
    else:
        found: Plan[Finding] | Refusal = engine.plan(replace(problem, query=own), options)
        if isinstance(found, Refusal) or found.ends is None:
            return found
        ends = partial(_ends_with_few, problem, few, found.ends)

    def solve() -> Finding:
        both = ends()
        return furthest(_on_finite(problem, both.values), both)

    return Plan(solve, Cost(0), ends)


def _on_finite(problem: Local, values: tuple[Number, ...]) -> LocalProblem:
    """Return the problem on a finite universe: of an interval, on some of its values."""
    return problem.on_values(values) if isinstance(problem, LocalIntervalProblem) else problem


def _values_of(problem: Local, on: LocalProblem) -> tuple[Number, ...]:
    """Return the values that datasets count, if the universe is an interval."""
    return () if on is problem else tuple(on.universe.values)


def _ends_with_few(
    problem: Local, few: list[RemovedAdded], inner: Callable[[], BothEnds] | None
) -> BothEnds:
    """Return the ends of all changes; those that leave too few records have one answer."""
    if inner is None:
        on = _on_finite(problem, ())
        of_x = _exact_answer(problem.query, on.universe, on.x)
        both = BothEnds(of_x, (), _values_of(problem, on))
    else:
        both = inner()
        on = _on_finite(problem, both.values)
    given = _given_answer(problem.query)

    def end(change: RemovedAdded) -> Ends:
        there = End(given, partial(_with_changes, on.universe, on.x, *change))
        return Ends(*change, there, there)

    return both._replace(of_changes=chain(both.of_changes, map(end, few)))


def _ends_of_nobody(local: Sequence[AnyEngine], problem: Local) -> BothEnds:
    """Return the ends of all changes of the empty dataset: the extremes of every size."""
    extremes = {
        added: _extremes_of_size(local, problem.universe, problem.query, added)
        for _, added in problem.changes
    }
    values = tuple(value for some in extremes.values() for one in some for value in one.values)
    on = _on_finite(problem, values)

    def end(one: Extreme) -> End:
        return End(
            one.answer, lambda: multiplicities_of(one.universe.dataset(one.data()), on.universe)
        )

    def of_size(added: int) -> Ends:
        some = sorted(extremes[added], key=lambda one: one.answer)
        return Ends(0, added, end(some[0]), end(some[-1]))

    given = _given_answer(problem.query)
    return BothEnds(given, map(of_size, extremes), _values_of(problem, on))
