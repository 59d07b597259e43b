"""Local sensitivity: one dataset is fixed, and only its neighbors vary."""

from __future__ import annotations

from typing import Any

from .neighbors import Multiplicities, as_relation, check_dataset, multiplicities_of
from .norms import check_norm
from .problem import LocalProblem, Problem
from .queries import as_query
from .result import Sensitivity
from .search import choose_local
from .search.engine import Options
from .sensitivity import conclude
from .universe import Universe, check_universe


def local_sensitivity(
    dataset: Any,
    universe: Universe,
    query: Any,
    *,
    neighbors: Any,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    memory_limit: int = Options.memory_limit,
) -> Sensitivity:
    """Compute how much a query can change between one dataset and its neighbors.

    The maximum of ``|f(x) - f(y)|``, the norm of it where the answers are vectors, over all
    neighbors y of the given dataset x. The global sensitivity is the largest of these over all x.

    Parameters
    ----------
    dataset : iterable of numbers, shape (n,)
        x, a sub-multiset of the universe, in any order.
    universe : Universe
        What neighbors are drawn from.
    query : str, Query or callable
        See `global_sensitivity`.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors; a name means at a distance of at most 1.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    method : str, default "auto"
        The name of an engine; "auto" takes the first that covers the problem.
    n_jobs : int, optional
        Worker processes for listing neighbors, as in joblib; by default 1, or what
        `joblib.parallel_config` says.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.
    memory_limit : int, default 4 GiB
        The largest number of bytes that listing may plan to use, 512 per neighbor.

    Returns
    -------
    Sensitivity
        Of kind "local"; the witness is x and a neighbor y whose answer is furthest from that of x.

    Raises
    ------
    InputError
        If an argument is not acceptable, x is not a dataset of the universe, or the distance is not
        feasible.
    NoEngineError
        If no engine takes the problem; a TooLargeError if there are too many neighbors to list
        (more than a million), with their number.
    QueryError
        If a caller's function raises or returns no finite number; names the dataset.

    Notes
    -----
    Order statistics, sum, mean, count, variance and standard deviation list nothing: a few passes
    over the universe per change, exact by docs/proofs.md. Other queries are answered on every
    distinct neighbor.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
    STOC 2007: definition 2.1.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10])
    >>> local_sensitivity([1, 2, 3], universe, "median", neighbors=sl.Unbounded(1))
    Local sensitivity of median: 0.5 (exact)
      exact      1/2
      neighbors  unbounded, at most 1; size 3; universe of 4 records
      witness x  (1, 2, 3)  median 2
      witness y  (2, 3)  median 2.5
      method     quantiles, exact arithmetic, no dataset needed evaluation
    """
    relation = as_relation(neighbors)
    x = dataset_of(dataset, check_universe(universe))
    problem = LocalProblem(universe, as_query(query), relation, x, check_norm(norm)).checked()
    return solve_local(problem, method, Options(n_jobs, progress, memory_limit))


def dataset_of(dataset: Any, universe: Universe) -> Multiplicities:
    """Return a dataset by multiplicities, or raise InputError if it is not of the universe."""
    return multiplicities_of(check_dataset(dataset, universe), universe)


def solve_local(problem: LocalProblem, method: str, options: Options) -> Sensitivity:
    """Solve a checked problem with the engine of a name, or the first that takes it."""
    engine = choose_local(problem, method, options)
    finding = engine.solve(problem, options)
    whole = Problem(
        problem.universe, (problem.query,), (problem.neighbors,), (problem.size,), problem.norm
    )
    return conclude(whole, problem.query, problem.neighbors, engine.name, finding, kind="local")
