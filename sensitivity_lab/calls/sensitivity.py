"""The main calls: build the problem, choose an engine, solve, measure the witness.

A global sensitivity is that of all datasets; for a local one a dataset is fixed, and only its
neighbors vary.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, cast, overload

from sensitivity_lab.boundary import public_call
from sensitivity_lab.bounds.bounding import SECONDS, certified
from sensitivity_lab.bounds.certified import CertifiedBounds
from sensitivity_lab.checks import check_norm
from sensitivity_lab.errors import InputError
from sensitivity_lab.problem import (
    IntervalProblem,
    LocalIntervalProblem,
    LocalProblem,
    Problem,
    check_sizes,
    check_witnesses,
    local_problem_on,
    problem_on,
    read_dataset,
)
from sensitivity_lab.queries import Query, as_query
from sensitivity_lab.results.sensitivity_result import Sensitivity
from sensitivity_lab.results.witness import Unlisted, Witness, measure
from sensitivity_lab.search import BOXES, check_method, choose
from sensitivity_lab.search.engine import Finding, Options, Run, check_run
from sensitivity_lab.search.layouts import LaidOut
from sensitivity_lab.universes.relations import Relation, as_relation, check_related
from sensitivity_lab.universes.universe import (
    AnyUniverse,
    FiniteUniverse,
    check_any_universe,
    finite,
)

AnyProblem = Problem | LocalProblem | IntervalProblem | LocalIntervalProblem


@overload
def global_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    method: Literal["boxes"],
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = ...,
) -> CertifiedBounds: ...


@overload
def global_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = ...,
) -> Sensitivity: ...


@public_call
def global_sensitivity(
    universe: AnyUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> Sensitivity | CertifiedBounds:
    """Compute how much a query can change between two neighboring datasets.

    This is the maximum of ``|f(x) - f(y)|``, or of its norm if the answers are vectors, over all
    datasets x of a size and all neighbors y of x.

    Parameters
    ----------
    universe : Universe, TableUniverse or IntervalUniverse; or list, column or table
        The records that datasets are drawn from. A list, a column or a table (pandas, Polars,
        Arrow) is the universe of scenario (a): each record occurs once, and all are public.
    query : str, Query or callable
        A name ("mean", "median", "sum", "count", "var", "std", "min", "max", "percentile_25"), a
        query such as ``Percentile(25)`` or ``Var(ddof=1)``, or a function that takes a 1-D array (a
        DataFrame if the universe is a `TableUniverse`) and returns a number or a 1-D array of fixed
        length.
    size : int or iterable of int
        The number n of records of x, up to the universe's size. With several sizes, the sensitivity
        is the maximum over them.
    neighbors : Relation or str
        The neighbor relation; a name, such as "bounded", means a distance of at most 1.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers; for numbers, all three agree.
    method : str, default "auto"
        The name of an engine; "auto" chooses the first that covers the problem. "boxes" bounds a
        caller's function on an `IntervalUniverse` from both sides, and returns the
        `CertifiedBounds` of `bounds.sensitivity_bounds`.
    n_jobs : int, optional
        The number of worker processes (and of threads between evaluations), as in joblib; by
        default 1, or the setting of `joblib.parallel_config`. This process first evaluates a few
        datasets itself. It uses workers for the rest only if they save more time than it takes to
        start them, about 1.5 seconds. A tenth of a second is enough if workers already run, if
        there is a timeout, or if `parallel_config` sets the backend. With the backend "dask" the
        cluster's workers evaluate; large arrays stay in this process.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.
    run : Run, optional
        Limits on memory and time; see `Run`.

    Returns
    -------
    Sensitivity
        The value and its witness; `float(result)` is the value, in the query's unit. With
        ``method="boxes"``, `CertifiedBounds` instead.

    Raises
    ------
    InputError
        If an argument is invalid or the distance is not feasible.
    NoEngineError
        If no engine accepts the problem, for example because it is too large; the message has each
        engine's reason.
    QueryError
        If a caller's function raises, returns no finite number, takes longer than the timeout of
        `run`, or is vectorized and answers a dataset differently alone than among others; the
        message names the dataset.
    WorkerError
        If a worker process dies twice in the same block, or a cluster disconnects, restarts or
        cancels tasks.

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
    universe = check_any_universe(universe)
    sizes = check_sizes(size, universe)
    relation = as_relation(neighbors)
    queries = (as_query(query),)
    run = check_run(run, queries=queries)
    options = Options(n_jobs, progress, run)
    check_witnesses(sizes, 1, options.memory_limit)
    problem = problem_on(universe, queries, (relation,), sizes, check_norm(norm))
    if check_method(method, boxes=True) == BOXES:
        return in_boxes(problem, options)
    chosen = choose(problem, method, options)
    ((finding,),) = chosen.solve()
    return conclude(problem, problem.queries[0], relation, chosen.engine.name, finding)


def in_boxes(problem: AnyProblem, options: Options) -> CertifiedBounds:
    """Return bounds by boxes in place of an engine's value; they are for intervals alone."""
    if not isinstance(problem, IntervalProblem | LocalIntervalProblem):
        raise InputError(
            f"method='boxes' bounds a function on an interval, not on a {problem.universe.extent}; "
            "choose method='auto', or make an interval with Universe.from_interval(lower, upper)"
        )
    limit = options.run.time_limit
    seconds = SECONDS if limit is None else limit
    return certified(problem, seconds=seconds, n_jobs=options.n_jobs, progress=options.progress)


def conclude(
    problem: AnyProblem,
    query: Query,
    neighbors: Relation,
    method: str,
    finding: Finding,
) -> Sensitivity:
    """Turn a finding into a result: check that the pair are neighbors, and measure it.

    For a pair that is not listed yet, both happen when the witness is first used.
    """
    size = problem.sizes[0] if len(problem.sizes) == 1 else problem.sizes
    universe = finite(problem.universe, finding.values)
    value, exact, upper, arithmetic, witness = _proved(problem, query, neighbors, finding, universe)
    return Sensitivity(
        value=value,
        exact=exact,
        upper=upper,
        status="exact",
        method=method,
        arithmetic=arithmetic,
        datasets_evaluated=finding.datasets_evaluated,
        witness=witness,
        query=query,
        neighbors=neighbors,
        size=size,
        universe=problem.universe,
        norm=problem.norm,
        kind=problem.kind,
        depends_on_order=query.depends_on_order(
            universe, lambda: (finding.x, finding.y), finding.datasets_evaluated
        ),
    )


Proved = tuple[float, Fraction | None, float | None, Literal["exact", "float"], Witness]
"""Value, exact value, upper bound, arithmetic and witness of a result."""


def _proved(
    problem: AnyProblem,
    query: Query,
    neighbors: Relation,
    finding: Finding,
    universe: FiniteUniverse,
) -> Proved:
    """Return what a pair of a universe proves."""
    try:
        if isinstance(finding, LaidOut):
            gap = finding.gap
            stated = gap.nearest(), gap.exact, gap.upper()
            unlisted = Unlisted(finding, query, neighbors, universe, stated)
            # A difference can be in the range of floats where the answers are not.
            sure = isinstance(problem, Problem) and problem.has_answers_in_range(query)
            return *stated, "exact", cast(Witness, unlisted if sure else unlisted.listed())
        check_related(finding.x, finding.y, universe, neighbors)
        measured = measure(query, universe, finding.x, finding.y, problem.norm, finding.answers)
    except InputError as error:
        raise InputError(f"{query.name}, {neighbors}: {error}") from error
    witness = Witness(
        universe.dataset(finding.x),
        universe.dataset(finding.y),
        measured.query_x,
        measured.query_y,
    )
    return measured.value, measured.exact, measured.upper, measured.arithmetic, witness


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


def solve_local(
    problem: LocalProblem | LocalIntervalProblem, method: str, options: Options
) -> Sensitivity:
    """Solve a checked problem with the named engine, or the first that accepts it."""
    chosen = choose(problem, method, options)
    finding = chosen.solve()
    return conclude(problem, problem.query, problem.neighbors, chosen.engine.name, finding)
