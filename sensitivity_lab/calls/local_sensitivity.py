"""Local sensitivity: one dataset is fixed, and only its neighbors vary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, overload

from sensitivity_lab.boundary import public_call
from sensitivity_lab.bounds.boxes.result import CertifiedBounds
from sensitivity_lab.checks import check_text
from sensitivity_lab.metrics.norms import check_norm
from sensitivity_lab.problem import (
    LocalIntervalProblem,
    LocalProblem,
    local_problem_on,
    read_dataset,
)
from sensitivity_lab.queries import DEFAULT_QUERIES, Query, as_query
from sensitivity_lab.results.curves import SensitivityCurves
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.search import BOXES, check_method, choose
from sensitivity_lab.search.engine import Options, Run, check_run
from sensitivity_lab.universes.relations import as_relation
from sensitivity_lab.universes.universe import AnyUniverse, check_any_universe

from .curves import as_queries, as_relations
from .global_sensitivity import conclude, in_boxes


@overload
def local_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    dataset: Any,
    neighbors: Any,
    norm: str = "L1",
    method: Literal["boxes"],
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = ...,
) -> CertifiedBounds: ...


@overload
def local_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    dataset: Any,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = ...,
) -> Sensitivity: ...


@public_call
def local_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    dataset: Any,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> Sensitivity | CertifiedBounds:
    """Compute how much a query can change between one dataset and its neighbors.

    This is the maximum of ``|f(x) - f(y)|``, or of its norm if the answers are vectors, over all
    neighbors y of the given dataset x. The global sensitivity is the largest of these over all x.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        The records that neighbors are drawn from.
    dataset : iterable of records, shape (n,), or DataFrame
        x, a sub-multiset of the universe, in any order; for a `TableUniverse` its rows, as tuples
        or as a DataFrame.
    query, neighbors, norm, method, n_jobs, progress, run
        See `global_sensitivity`. Worker processes evaluate the neighbors.

    Returns
    -------
    Sensitivity
        Of kind "local"; the witness is x and a neighbor y whose answer is furthest from that of x.
        With ``method="boxes"`` `CertifiedBounds` instead.

    Raises
    ------
    InputError
        If an argument is invalid, x is not a dataset of the universe, or the distance is not
        feasible.
    NoEngineError
        If no engine accepts the problem; a TooLargeError if there are more than a million neighbors
        to list. The message gives their number.
    QueryError
        If a caller's function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    Order statistics, sum, mean, count, variance and standard deviation need no enumeration: a few
    passes over the universe per change are enough (see docs/proofs.md). The same is true of sums
    over rows (counts, `SumOf`, histograms and their stacks), and of `MeanOf` where no value is
    missing. Other queries are evaluated on every distinct neighbor.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
    STOC 2007: definition 2.1.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10])
    >>> local_sensitivity(universe, "median", dataset=[1, 2, 3], neighbors=sl.Unbounded(1))
    Local sensitivity of median: 0.5 (exact)
      exact      1/2
      neighbors  unbounded, at most 1; size 3; universe of 4 records
      only in x  1     f(x) = 2
      only in y  none  f(y) = 2.5
      in both    2, 3
      method     monotone, exact arithmetic, no evaluation needed
    """
    relation = as_relation(neighbors)
    universe = check_any_universe(universe)
    x = read_dataset(universe, dataset)
    problem = local_problem_on(universe, as_query(query), relation, x, check_norm(norm))
    run = check_run(run, queries=problem.queries)
    options = Options(n_jobs, progress, run)
    if check_method(method, "local", boxes=True) == BOXES:
        return in_boxes(problem, options)
    return solve_local(problem, method, options)


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


def solve_local(
    problem: LocalProblem | LocalIntervalProblem, method: str, options: Options
) -> Sensitivity:
    """Solve a checked problem with the named engine, or the first that accepts it."""
    chosen = choose(problem, method, options)
    finding = chosen.solve()
    return conclude(problem, problem.query, problem.neighbors, chosen.engine.name, finding)
