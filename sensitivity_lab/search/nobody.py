"""Datasets with too few records, such as nobody's: their answer is given, and no engine needs it.

A query may have an answer of its own only from d records on (`defined_from`), and a given one,
`empty`, below. Let x have s >= d records and a neighbor y fewer than d. The answer on y is `empty`,
whatever its records are, and every dataset of s records has such a neighbor if one has. So the
largest difference of such pairs is that of `empty` from the least or the greatest answer on the
datasets of s records, which a local search finds. All other pairs are left to the engine that is
asked, for the query without `empty`: it never sees a dataset with fewer than d records. See
docs/proofs.md, "Nobody (`nobody`)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.problem import IntervalProblem, LocalIntervalProblem, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.results.measure import difference_of, exact_answer
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
from .layouts import LaidOut
from .sizes import plan_for_sizes

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
