"""The sensitivity of code as it runs, on ordered datasets.

`global_sensitivity` treats a query as mathematics. Code in floating point, or in integers that wrap
around, is a different function: it depends on the order of the records, and it can change more
between neighbors. Here the code itself runs, and its answers are subtracted exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.checks import check_choice, check_whole, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.problem import check_sizes
from sensitivity_lab.queries import Function, Query, as_query, from_function
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.run import Run, check_run
from sensitivity_lab.universes.datasets import iter_neighbors
from sensitivity_lab.universes.finite import check_universe
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import Relation, as_relation

from .answers import gap_between
from .folds import Fold
from .result import Implementation, ImplementedSensitivity, Order, OrderedWitness, as_float, run
from .search import OrderedPair, Question


@public_call
def implemented_sensitivity(
    universe: FiniteUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    order: Order = "free",
    ideal: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
    evaluation_limit: int = 10_000_000,
) -> ImplementedSensitivity:
    """Compute how much the answer of code can change between two neighboring ordered datasets.

    This is the maximum of ``|f(x) - f(y)|`` over all datasets x of a size, all neighbors y of x,
    and the orders of both, where f(x) is the number that the code returns. The two numbers are
    subtracted as rationals, floats included.

    Parameters
    ----------
    query : Fold or callable
        The code to run. A `Fold` (such as ``float_sum("float16")``) is searched by its
        accumulators; a function of a 1-D array, also one of `from_function`, is called on every
        order of every dataset. It gets the records as the universe holds them (int64, float64 or
        objects).
    universe : Universe
        The records that datasets are drawn from.
    size : int or iterable of int
        The number n of records of x, from 1 to the universe's size. Of several sizes, the
        sensitivity is the maximum.
    neighbors : Relation, str or None
        The neighbor relation; a name, such as "bounded", means a distance of at most 1.
        "At most" includes distance 0: the same records in another order. None means distance 0
        only.
    order : {"free", "aligned"}, default "free"
        "free": datasets are multisets, so any order of x is compared with any order of y.
        "aligned": y is x, in its order, except at the positions that are replaced (`Bounded`: the
        Hamming distance of sequences), or removed and inserted (relations that add and remove).
    ideal : str, Query or callable, optional
        The same query as mathematics; by default the one that the fold declares, if any. If the
        query that you pass fails, its error is raised; if a declared one fails, `ideal` is None.
    n_jobs : int, optional
        The number of worker processes for calling a function on all orders, as in joblib; by
        default 1. They start only if they save time, see `global_sensitivity`. Folds, and functions
        under "aligned", run in this process.
    progress : bool, optional
        Whether to show a progress bar over these calls; by default on a terminal, after one second.
    run : Run, optional
        The memory limit; see `Run`.
    evaluation_limit : int, default 10 million
        The largest number of orders to call a function on; more raise TooLargeError.

    Returns
    -------
    ImplementedSensitivity
        The value with its witness, two ordered datasets; `float(result)` is the value. It is
        math.inf, with a witness, if the code can overflow to inf or NaN on one of two neighbors.

    Raises
    ------
    InputError
        If an argument is invalid, the distance is not feasible, or a record does not fit the
        fold's type.
    TooLargeError
        If there are too many datasets, orders or reachable accumulators; the message gives the
        number.
    QueryError
        If the code raises, does not return a number, or answers the same ordered dataset
        differently.

    See Also
    --------
    global_sensitivity : The query as mathematics.

    Notes
    -----
    Fold, free: a step per distinct accumulator and value, then work in proportion to the distinct
    accumulators per multiset, summed over all multisets of up to the largest size. Fold, aligned:
    the same for pairs of accumulators per number of records replaced. Function: one call per order.

    For neighbors at most k apart, "aligned" never exceeds "free": aligned pairs are neighbors as
    multisets, too (docs/proofs.md, "Aligned is within free"). The two can agree, as they do in the
    example below, and differ with more records: for 16 of them "free" gives 1.0234375 and "aligned"
    1.01953125.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> from sensitivity_lab.implementations.folds import float_sum
    >>> universe = sl.Universe.from_domain([0, 0.1, 1])
    >>> result = implemented_sensitivity(
    ...     universe, float_sum("float16"), size=8, neighbors=sl.Bounded(1)
    ... )
    >>> result.value, result.exact, result.ideal
    (1.0078125, Fraction(129, 128), Fraction(1, 1))
    """
    relation = None if neighbors is None else as_relation(neighbors)
    universe = _check_numbers(universe)
    question = Question(
        query=_as_implementation(query),
        universe=universe,
        relation=relation,
        sizes=check_sizes(size, universe),
        order=_check_order(order, relation, universe),
        options=Options(
            n_jobs,
            progress,
            check_run(run, "implemented_sensitivity", "timeout", "checkpoint", "scratch"),
        ),
        evaluation_limit=check_whole(
            "evaluation_limit", evaluation_limit, "a number of calls, at least 1"
        ),
    )
    question.check_small()
    mathematics = _ideal(question, ideal)
    return _conclude(question, question.search(), mathematics)


def _ideal(question: Question, given: Any) -> Fraction | None:
    """Return the exact sensitivity of the query as mathematics, where it is known."""
    declared = question.query.ideal if isinstance(question.query, Fold) else None
    ideal: Query | None = declared if given is None else as_query(given)
    if ideal is None:
        return None
    if question.relation is None:
        return Fraction(0)
    try:
        return global_sensitivity(
            question.universe,
            ideal,
            size=question.sizes,
            neighbors=question.relation,
            run=question.options.run,
        ).exact
    except InputError:
        # The relation is feasible, so the query is undefined here, or beyond all floats.
        if given is None:
            return None
        raise


def _conclude(
    question: Question, found: OrderedPair, ideal: Fraction | None
) -> ImplementedSensitivity:
    """Run the code on the pair once more, and state the result."""
    x, y = (tuple(question.universe.values[v] for v in letters) for letters in (found.x, found.y))
    if found.gap == 0 and question.relation is not None and question.order == "free":
        of_x = np.bincount(found.x, minlength=len(question.limits))
        changes = [change for size, change in question.changes if size == len(x)]
        y = question.universe.dataset(next(iter_neighbors(of_x, question.universe, changes)))
    answers = [run(question.query, question.universe, data) for data in (x, y)]
    if gap_between(*answers) != found.gap:
        raise QueryError(
            f"query {shown(question.query.name)} answers the same ordered dataset differently each "
            f"time, x = {x} or y = {y}; give code that is not random"
        )
    return ImplementedSensitivity(
        value=as_float(found.gap),
        exact=found.gap,
        ideal=ideal,
        witness=OrderedWitness(x, y, *answers),
        method=question.method,
        multisets=sum(map(question.lattice.number, question.levels)),
        orders=question.orders,
        evaluations=found.evaluations,
        query=question.query,
        neighbors=question.relation,
        order=question.order,
        size=question.sizes[0] if len(question.sizes) == 1 else question.sizes,
        universe=question.universe,
    )


def _as_implementation(query: Any) -> Implementation:
    """Return code to run, or raise InputError."""
    if isinstance(query, (Fold, Function)):
        return query
    if isinstance(query, (str, Query)):
        raise InputError(
            f"{shown(getattr(query, 'name', query))} is a query as mathematics, which has no "
            "order; "
            "give code: a Fold such as float_sum('float32'), or a function of a 1-D array"
        )
    if callable(query) and not isinstance(query, type):
        return from_function(query)
    raise InputError(f"query must be a Fold or a function of a 1-D array, got {shown(query)}")


def _check_numbers(universe: Any) -> FiniteUniverse:
    """Return a universe of numbers, or raise InputError."""
    checked = check_universe(universe)
    if not checked.numeric:
        raise InputError(
            "code is run on numbers, and the universe has rows; take one column with "
            "universe.column(name)"
        )
    return checked


def _check_order(order: Any, relation: Relation | None, universe: FiniteUniverse) -> Order:
    """Return how orders are compared, or raise InputError."""
    if check_choice("order", order, ("free", "aligned")) == "free":
        return "free"
    if relation is None:
        raise InputError(
            "order='aligned' needs a neighbor relation: without one, x and y are the same "
            "sequence; choose order='free'"
        )
    if relation.aligned is None:
        raise InputError(
            f"order='aligned' needs a relation that replaces records, or that removes and inserts "
            f"them, not {relation}, which does both; choose order='free'"
        )
    if relation.exactly and relation.exchanges and universe.counts is not None:
        raise InputError(
            f"order='aligned' with {relation} needs a domain with unlimited copies, where a record "
            "can be replaced by an equal one; choose exactly=False or order='free'"
        )
    return "aligned"
