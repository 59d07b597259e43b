"""The sensitivity of several queries at several distances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd

from sensitivity_lab.checks import listed
from sensitivity_lab.errors import InputError, NoEngineError
from sensitivity_lab.exact.norms import check_norm
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.problem import Problem, check_sizes, check_witnesses
from sensitivity_lab.queries import DEFAULT_QUERIES, Query, as_query
from sensitivity_lab.results.curves import SensitivityCurves
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.search import Chosen, check_method, choose
from sensitivity_lab.search.engine import AnyEngine, Finding, Options, Plan
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.relations import Relation, as_relation, check_whole
from sensitivity_lab.universes.universe import Universe

from .global_sensitivity import conclude


@with_numpy_defaults
def sensitivity_curves(
    universes: Universe | Mapping[str, Universe] | pd.DataFrame,
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
    memory_limit: int = Options.memory_limit,
) -> SensitivityCurves:
    """Compute the sensitivity of several queries at several Hamming distances.

    Where datasets have to be enumerated, one pass does all queries and distances of a column.

    Parameters
    ----------
    universes : Universe, mapping of str to Universe, or DataFrame
        One universe, one per column, or a table whose numeric columns are datasets (scenario (a)).
    queries : iterable of str, Query or callable, default the ten of the article
        See `global_sensitivity`.
    size : int or iterable of int
        The number n of records of x; for several, the maximum over them.
    distances : int or iterable of int
        The Hamming distances k.
    neighbors : str or Relation, or an iterable of them
        The neighbor relation or relations; of a Relation, k is replaced by the distances.
    exactly : bool, default False
        Whether k is the distance exactly, instead of at most.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    method, n_jobs, progress, memory_limit
        See `global_sensitivity`.

    Returns
    -------
    SensitivityCurves

    Raises
    ------
    InputError, NoEngineError, QueryError
        See `global_sensitivity`. A column that is not numeric is left out of a DataFrame; if none
        is left, or one has missing values, that is an InputError.

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
    options = Options(n_jobs, progress, memory_limit)
    # Every problem is checked, and every engine chosen, before the first search starts.
    problems = []
    for column, universe in columns.items():
        try:
            sizes = check_sizes(size, universe)
            number = len(columns) * len(asked) * len(relations)
            check_witnesses(sizes, number, options.memory_limit)
            problem = Problem(universe, asked, relations, sizes, in_norm).checked()
            engines = _choose_engines(problem, method, options)
        except (InputError, NoEngineError) as error:
            raise type(error)(f"column {column!r}: {error}") from error
        problems.append((column, problem, engines))
    return SensitivityCurves(
        tuple(
            (column, point)
            for column, problem, engines in problems
            for point in _points(problem, engines, options)
        )
    )


def as_queries(queries: Any) -> tuple[Query, ...]:
    """Return queries with distinct names."""
    several = isinstance(queries, Iterable) and not isinstance(queries, (str, Query))
    items = listed(queries, "queries must be queries") if several else [queries]
    asked = tuple(map(as_query, items))
    if not asked:
        raise InputError("queries must name at least one query, got none")
    for name, count in Counter(query.name for query in asked).items():
        if count > 1:
            raise InputError(
                f"two queries are called {name!r}; ask for it once, "
                "or give functions names with from_function(..., name=...)"
            )
    return asked


def as_relations(neighbors: Any, distances: Any, exactly: bool) -> tuple[Relation, ...]:
    """Return every relation at every distance."""
    several = isinstance(neighbors, Iterable) and not isinstance(neighbors, str)
    relations = listed(neighbors, "neighbors must be relations") if several else [neighbors]
    families = [as_relation(one, exactly=exactly) for one in relations]
    alone = isinstance(distances, str) or not isinstance(distances, Iterable)
    alone = alone or getattr(distances, "shape", None) == ()
    items = [distances] if alone else listed(distances, "distances must be whole numbers")
    ks = [check_whole("a distance", k, "a Hamming distance, at least 1") for k in items]
    if not ks or not families:
        raise InputError("distances and neighbors must name at least one each, got none")
    return tuple(dict.fromkeys(family.at(k) for family in families for k in ks))


Asked = tuple[Query, Relation]
"""A point of a curve."""


def _choose_engines(problem: Problem, method: str, options: Options) -> dict[Asked, Chosen]:
    """Choose an engine for every point of every curve."""
    return {
        (query, relation): choose(problem.only([query], [relation]), method, options)
        for query in problem.queries
        for relation in problem.neighbors
    }


def _points(
    problem: Problem, engines: Mapping[Asked, Chosen], options: Options
) -> Iterator[Sensitivity]:
    """Yield the results of a column, curve by curve: by relation, query and distance."""
    found = _solve(problem, engines, options)
    for family in dict.fromkeys(relation.at(1) for relation in problem.neighbors):
        curve = [relation for relation in problem.neighbors if relation.at(1) == family]
        for query, one in product(problem.queries, curve):
            name = engines[query, one].engine.name
            yield conclude(problem, query, one, name, found[query, one])


def _solve(
    problem: Problem, chosen: Mapping[Asked, Chosen], options: Options
) -> dict[Asked, Finding]:
    """Let every engine solve its points, queries that have the same relations together."""
    together: dict[tuple[AnyEngine, tuple[Relation, ...]], list[Query]] = {}
    for query in problem.queries:
        for engine in dict.fromkeys(chosen[query, one].engine for one in problem.neighbors):
            mine = tuple(one for one in problem.neighbors if chosen[query, one].engine is engine)
            together.setdefault((engine, mine), []).append(query)
    found: dict[Asked, Finding] = {}
    for (engine, relations), queries in together.items():
        plan = engine.plan(problem.only(queries, relations), options)
        if isinstance(plan, Plan):
            solved = Chosen(engine, plan, tuple(queries)).solve()
            for query, findings in zip(queries, solved, strict=True):
                found |= {(query, one): f for one, f in zip(relations, findings, strict=True)}
            continue
        # Together they are too large; each point by itself was accepted.
        for point in product(queries, relations):
            ((found[point],),) = chosen[point].solve()
    return found
