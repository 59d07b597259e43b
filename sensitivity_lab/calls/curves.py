"""The sensitivity of several queries at several distances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_distance, check_norm, check_text, listed, names_of, shown
from sensitivity_lab.errors import InputError, NoEngineError, about
from sensitivity_lab.problem import (
    IntervalProblem,
    Problem,
    check_sizes,
    check_witnesses,
    local_problem_on,
    problem_on,
    read_dataset,
)
from sensitivity_lab.queries import DEFAULT_QUERIES, Query, as_query
from sensitivity_lab.results.curves_result import Curve, Points, SensitivityCurves
from sensitivity_lab.results.sensitivity_result import Sensitivity
from sensitivity_lab.running import watch
from sensitivity_lab.search import Chosen, check_method, choose, engines_for
from sensitivity_lab.search.crossing import GapCurve
from sensitivity_lab.search.engine import (
    AnyEngine,
    Finding,
    Findings,
    Options,
    Plan,
    Run,
    check_run,
    planned,
)
from sensitivity_lab.universes.per_column import as_universes
from sensitivity_lab.universes.relations import Family, Relation, as_relation
from sensitivity_lab.universes.universe import AnyUniverse, check_any_universe

from .sensitivity import conclude, solve_local


@public_call
def sensitivity_curves(
    universes: AnyUniverse | Mapping[str, AnyUniverse] | pd.DataFrame,
    queries: Iterable[Any] | str | Query = DEFAULT_QUERIES,
    *,
    size: Any,
    distances: Any,
    neighbors: Any,
    exactly: bool = False,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> SensitivityCurves:
    """Compute the sensitivity of several queries at several Hamming distances.

    If datasets must be enumerated, one pass covers all queries and distances of a column.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, mapping of str to these, list, column or table
        One universe, one per column, or the records themselves (scenario (a)): a list, a column, or
        a table whose numeric columns are datasets.
    queries : iterable of str, Query or callable, default the ten of the article
        See `global_sensitivity`.
    size : int or iterable of int
        The number n of records of x. With several sizes, the sensitivity is the maximum over them.
    distances : int or iterable of int
        The Hamming distances k.
    neighbors : str or Relation, or an iterable of them
        The neighbor relations, each at all `distances`. The k of a Relation must be 1 or one of
        these.
    exactly : bool, default False
        Whether neighbors are at distance exactly k instead of at most k.
    norm, method, n_jobs, progress, run
        See `global_sensitivity`.

    Returns
    -------
    SensitivityCurves

    Raises
    ------
    InputError, NoEngineError, QueryError
        See `global_sensitivity`.

    Warns
    -----
    UserWarning
        If a numeric column of a table has missing or infinite values. The column is left out, and
        the warning names it. Columns that are not numeric are left out without a warning; a table
        without any numeric column raises InputError.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([1, 2, 3])
    >>> curves = sl.sensitivity_curves(
    ...     universe, ["sum", "var"], size=4, distances=range(1, 4), neighbors="unbounded"
    ... )
    >>> curves.to_frame()[["query", "distance", "sensitivity"]].head(3)
      query  distance  sensitivity
    0   sum         1          3.0
    1   sum         2          6.0
    2   sum         3          9.0
    """
    check_method(method)
    in_norm = check_norm(norm)
    columns = as_universes(universes)
    asked = as_queries(queries)
    relations = as_relations(neighbors, distances, exactly)
    run = check_run(run, queries=asked)
    options = Options(n_jobs, progress, run)
    # Every problem is checked, and every engine chosen, before the first search starts.
    problems = []
    listed_pairs = 0
    for column, universe in columns.items():
        try:
            sizes = check_sizes(size, universe)
            check_witnesses(sizes, 1, options.memory_limit)
            problem = problem_on(universe, asked, relations, sizes, in_norm)
            choices = _choose_engines(problem, method, options)
            listed_pairs += sum(one.lists_pairs for each in choices.values() for one in each)
            check_witnesses(sizes, max(1, listed_pairs), options.memory_limit)
        except (InputError, NoEngineError) as error:
            raise about(f"column {shown(column)}", error) from error
        problems.append((column, problem, choices))
    with watch(run.time_limit, progress):  # of all curves together
        return SensitivityCurves(
            Points(
                curve
                for column, problem, choices in problems
                for curve in _curves(column, problem, choices, options)
            )
        )


@public_call
def local_curves(
    universe: AnyUniverse,
    queries: Iterable[Any] | str | Query = DEFAULT_QUERIES,
    *,
    dataset: Any,
    distances: Any,
    neighbors: Any,
    exactly: bool = False,
    column: str = "records",
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> SensitivityCurves:
    """Compute the local sensitivity of several queries at several Hamming distances.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        The records that neighbors are drawn from.
    column : str, default "records"
        The name of the data in tables and pictures.
    queries, distances, neighbors, exactly
        See `sensitivity_curves`.
    dataset, norm, method, n_jobs, progress, run
        See `local_sensitivity`.

    Returns
    -------
    SensitivityCurves
        Curves of kind "local". Their table has the same columns as the table of global curves, so
        both fit on one plot: ``plot_curves(pd.concat([here.to_frame(), everywhere.to_frame()]))``.

    Raises
    ------
    InputError, NoEngineError, QueryError
        See `local_sensitivity`.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10, 11])
    >>> sl.local_curves(
    ...     universe, ["median", "sum"], dataset=[1, 2, 3], distances=[1, 2], neighbors="bounded"
    ... )
    Local sensitivity by Hamming distance k, size 3
    k                                   1   2
    column  neighbors          query
    records bounded, at most k median   1   8
                               sum     10  18
    """
    check_method(method, "local")
    check_text("column", column, "a text")
    universe = check_any_universe(universe)
    asked, relations = as_queries(queries), as_relations(neighbors, distances, exactly)
    in_norm = check_norm(norm)
    families = dict.fromkeys(relation.at(1) for relation in relations)
    x = read_dataset(universe, dataset)
    first = local_problem_on(universe, asked[0], relations[0], x, in_norm)
    problems = [
        replace(first, query=query, neighbors=relation).checked()
        for family in families
        for query in asked
        for relation in relations
        if relation.at(1) == family
    ]
    run = check_run(run, queries=asked)
    options = Options(n_jobs, progress, run)
    return SensitivityCurves(
        tuple((column, solve_local(problem, method, options)) for problem in problems)
    )


def as_queries(queries: Any) -> tuple[Query, ...]:
    """Return queries with distinct names."""
    if isinstance(queries, Mapping):
        raise InputError(
            f"queries must be a list, got a mapping with the names {names_of(queries)}; name a "
            "function with from_function(function, name=...)"
        )
    several = isinstance(queries, Iterable) and not isinstance(queries, (str, Query))
    items = listed(queries, "queries must be queries") if several else [queries]
    asked = tuple(map(as_query, items))
    if not asked:
        raise InputError("queries must name at least one query, got none")
    for name, count in Counter(query.name for query in asked).items():
        if count > 1:
            raise InputError(
                f"two queries are called {shown(name)}; pass it once, or "
                "give functions names with from_function(..., name=...)"
            )
    return asked


def as_relations(neighbors: Any, distances: Any, exactly: bool) -> tuple[Relation, ...]:
    """Return every relation at every distance."""
    several = isinstance(neighbors, Iterable) and not isinstance(neighbors, str)
    relations = listed(neighbors, "neighbors must be relations") if several else [neighbors]
    families = [as_relation(one, exactly=exactly) for one in relations]
    if not families:
        raise InputError("neighbors must name at least one relation, got none")
    ks = check_distance.several("distances", distances)
    for family in families:
        if family.k not in (1, *ks):
            raise InputError(
                f"neighbors is {family}, but distances={shown(distances)} leaves out "
                f"k = {family.k}; pass all distances, or name the relation without a k"
            )
    return tuple(dict.fromkeys(family.at(k) for family in families for k in ks))


class Choice(NamedTuple):
    """The engine of a point, and whether it lists the pair that it finds."""

    engine: AnyEngine
    lists_pairs: bool


Choices = dict[Query, list[Choice]]
"""For every query, the choice of each relation."""

AnyProblem = Problem | IntervalProblem


def _choose_engines(problem: AnyProblem, method: str, options: Options) -> Choices:
    """Choose an engine for every point of every curve: the first that takes it."""
    return {
        query: _choices(problem.only([query], problem.neighbors), method, options)
        for query in problem.queries
    }


def _choices(problem: AnyProblem, method: str, options: Options) -> list[Choice]:
    """Return the choice of every relation, for one query.

    An engine that accepts the relations together accepts each of them, so one call is enough. If it
    does not, it may still accept some.
    """
    found: dict[Relation, Choice] = {}
    left = problem.neighbors
    for engine in engines_for(problem.kind, on_interval=isinstance(problem, IntervalProblem)):
        if not left:
            break
        if method not in ("auto", engine.name):
            continue
        plan = planned(engine, problem.only(problem.queries, left), options)
        if isinstance(plan, Plan):
            found |= dict.fromkeys(left, Choice(engine, plan.cost.lists_pairs))
        elif not plan.of_kind and len(left) > 1:
            for one in left:
                alone = planned(engine, problem.only(problem.queries, [one]), options)
                if isinstance(alone, Plan):
                    found[one] = Choice(engine, alone.cost.lists_pairs)
        left = tuple(one for one in left if one not in found)
    if left:  # it raises, with the reason of every engine
        choose(problem.only(problem.queries, left[:1]), method, options)
    return [found[relation] for relation in problem.neighbors]


def _curves(
    column: str, problem: AnyProblem, choices: Choices, options: Options
) -> Iterator[Curve]:
    """Yield the curves of a column, by relation and query."""
    found = _solve(problem, choices, options)
    for family, query in product(problem.families, problem.queries):
        methods = [choices[query][place].engine.name for place in family.places]
        here = Concluded(problem, query, family, methods, found[query])
        yield Curve(column, query, family.relations, *here.in_time())


def _solve(
    problem: AnyProblem, choices: Choices, options: Options
) -> dict[Query, Sequence[Finding]]:
    """Let every engine solve its points, queries that have the same relations together."""
    together: dict[tuple[AnyEngine, tuple[int, ...]], list[Query]] = {}
    for query in problem.queries:
        engines = [choice.engine for choice in choices[query]]
        for engine in dict.fromkeys(engines):
            mine = tuple(place for place, one in enumerate(engines) if one is engine)
            together.setdefault((engine, mine), []).append(query)
    found: dict[Query, Any] = {}
    for (engine, places), queries in together.items():
        relations = [problem.neighbors[place] for place in places]
        solved = _solve_by(engine, problem.only(queries, relations), options)
        for query, findings in zip(queries, solved, strict=True):
            if len(places) == len(problem.neighbors):
                found[query] = findings
                continue
            of_query = found.setdefault(query, [None] * len(problem.neighbors))
            for place, finding in zip(places, findings, strict=True):
                of_query[place] = finding
    return found


def _solve_by(engine: AnyEngine, problem: AnyProblem, options: Options) -> Findings:
    """Let an engine solve queries and relations that it takes one by one."""
    plan = planned(engine, problem, options)
    if isinstance(plan, Plan):
        found: Findings = Chosen(engine, plan, problem.queries, options).solve()
        return found
    # Together they are too large; each point by itself was accepted.
    return [
        [
            choose(problem.only([query], [one]), engine.name, options).solve()[0][0]
            for one in problem.neighbors
        ]
        for query in problem.queries
    ]


class Concluded(Sequence[Sensitivity]):
    """The results of a query for the relations of a family, made when they are looked at.

    Parameters
    ----------
    problem : Problem
    query : Query
    family : Family
    methods : sequence of str
        The name of the engine of every relation.
    findings : sequence of Finding
        Of all relations of the problem.
    """

    def __init__(
        self,
        problem: AnyProblem,
        query: Query,
        family: Family,
        methods: Sequence[str],
        findings: Sequence[Finding],
    ) -> None:
        self._problem, self._query, self._family = problem, query, family
        self._methods, self._findings = methods, findings

    def in_time(self) -> tuple[Sequence[Sensitivity], NDArray[np.float64]]:
        """Return the results and their values; made now where that can fail, or saves nothing."""
        problem, found = self._problem, self._findings
        if (
            isinstance(found, GapCurve)
            and isinstance(problem, Problem)
            and problem.has_answers_in_range(self._query)
        ):
            values = found.values[list(self._family.places)]
            for place in np.flatnonzero(np.isinf(values))[:1]:
                self[int(place)]  # which raises InputError
            return self, values
        results = tuple(self)
        return results, np.array([result.value for result in results], dtype=np.float64)

    def __len__(self) -> int:
        return len(self._methods)

    @overload
    def __getitem__(self, place: int) -> Sensitivity: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Sensitivity, ...]: ...
    def __getitem__(self, place: int | slice) -> Sensitivity | tuple[Sensitivity, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        return conclude(
            self._problem,
            self._query,
            self._family.relations[place],
            self._methods[place],
            self._findings[self._family.places[place]],
        )
