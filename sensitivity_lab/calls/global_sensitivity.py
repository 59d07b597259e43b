"""The main call: build the problem, choose an engine, solve, measure the witness."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.norms import check_norm
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.problem import LocalProblem, Problem, check_sizes, check_witnesses
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.measure import measure
from sensitivity_lab.results.sensitivity import Sensitivity, Witness
from sensitivity_lab.search import choose
from sensitivity_lab.search.engine import Finding, Options
from sensitivity_lab.universes.relations import Relation, as_relation, check_related
from sensitivity_lab.universes.universe import Universe, check_universe


@with_numpy_defaults
def global_sensitivity(
    universe: Universe,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    memory_limit: int = Options.memory_limit,
) -> Sensitivity:
    """Compute how much a query can change between two neighboring datasets.

    The maximum of ``|f(x) - f(y)|``, the norm of it where the answers are vectors, over all
    datasets x of a size and all neighbors y of x.

    Parameters
    ----------
    universe : Universe
        What datasets are drawn from.
    query : str, Query or callable
        A name ("mean", "median", "sum", "count", "var", "std", "min", "max", "percentile_25"), a
        query such as ``Percentile(25)`` or ``Var(ddof=1)``, or a function of a 1-D array (of a
        DataFrame, if the universe is a `TableUniverse`) that returns a number, or a 1-D array of
        fixed length.
    size : int or iterable of int
        The number n of records of x, from 1 to the universe's size; for several, the maximum.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors; a name means at a distance of at most 1.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    method : str, default "auto"
        The name of an engine; "auto" takes the first that covers the problem.
    n_jobs : int, optional
        Worker processes, as in joblib; by default 1, or what `joblib.parallel_config` says.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.
    memory_limit : int, default 4 GiB
        The largest number of bytes that the search may plan to use; beyond, it refuses.

    Returns
    -------
    Sensitivity
        The value with its witness; `float(result)` is the value, in the query's unit.

    Raises
    ------
    InputError
        If an argument is not acceptable or the distance is not feasible.
    NoEngineError
        If no engine accepts the problem, for example because it is too large; says each reason.
    QueryError
        If a caller's function raises, returns no finite number, or is vectorized and answers a
        dataset differently beside others; names the dataset.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 2, 5, 5, 7, 8, 9, 9])
    >>> result = sl.global_sensitivity(universe, "mean", size=6, neighbors=sl.Unbounded(2))
    >>> result.value, result.exact
    (2.4166666666666665, Fraction(29, 12))
    >>> result.witness.x, result.witness.y
    ((1, 2, 2, 2, 9, 9), (1, 2, 2, 2))
    """
    sizes = check_sizes(size, check_universe(universe))
    relation = as_relation(neighbors)
    queries = (as_query(query),)
    options = Options(n_jobs, progress, memory_limit)
    check_witnesses(sizes, 1, options.memory_limit)
    problem = Problem(universe, queries, (relation,), sizes, check_norm(norm)).checked()
    chosen = choose(problem, method, options)
    ((finding,),) = chosen.solve()
    return conclude(problem, problem.queries[0], relation, chosen.engine.name, finding)


def conclude(
    problem: Problem | LocalProblem,
    query: Query,
    neighbors: Relation,
    method: str,
    finding: Finding,
) -> Sensitivity:
    """Turn a finding into a result: check that the pair is one of neighbors, and measure it."""
    size = problem.sizes[0] if len(problem.sizes) == 1 else problem.sizes
    universe = problem.universe
    check_related(finding.x, finding.y, universe, neighbors)
    try:
        measured = measure(query, universe, finding.x, finding.y, problem.norm, finding.answers)
    except InputError as error:
        raise InputError(f"{query.name}, {neighbors}: {error}") from error
    return Sensitivity(
        value=measured.value,
        exact=measured.exact,
        upper=measured.upper,
        status="exact",
        method=method,
        arithmetic=measured.arithmetic,
        datasets_evaluated=finding.datasets_evaluated,
        witness=Witness(
            universe.dataset(finding.x),
            universe.dataset(finding.y),
            measured.query_x,
            measured.query_y,
        ),
        query=query,
        neighbors=neighbors,
        size=size,
        universe=universe,
        norm=problem.norm,
        kind=problem.kind,
    )
