"""The sensitivity of code as it runs, on datasets that have an order.

`global_sensitivity` speaks of a query as mathematics. Code in floating point, or in integers that
wrap around, is another function: it depends on the order of the records, and it can change more
between neighbors. Here the code itself is run, and its answers are subtracted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .errors import InputError, QueryError, TooLargeError
from .folds import Fold
from .implementation_result import (
    Implementation,
    ImplementedSensitivity,
    Method,
    Order,
    OrderedWitness,
    as_float,
    run,
)
from .listing import neighboring_datasets
from .neighbors import Bounded, Change, Relation, Unbounded, as_relation, check_whole
from .problem import Problem, check_sizes
from .queries import Function, Query, as_query, from_function
from .search.aligned import AlignedPairs, Alignment
from .search.answers import Answer, distance
from .search.automaton import Automaton
from .search.engine import Options
from .search.evaluation import lattice_of
from .search.extremes import Level, furthest
from .search.gaps import Family
from .search.lattice import Lattice
from .search.orders import Code, count_orders, evaluate_orders
from .search.reachable import Reachable
from .sensitivity import global_sensitivity
from .universe import Universe, check_universe

_BYTES_PER_MULTISET = 64
"""What a multiset takes besides its row of multiplicities: extremes, ranks, codes."""


def implemented_sensitivity(
    query: Any,
    universe: Universe,
    *,
    size: Any,
    neighbors: Any,
    order: Order = "free",
    ideal: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    memory_limit: int = Options.memory_limit,
    evaluation_limit: int = 10_000_000,
) -> ImplementedSensitivity:
    """Compute how much the answer of code can change between two neighboring ordered datasets.

    The maximum of ``|f(x) - f(y)|`` over all datasets x of a size, all neighbors y of x, and the
    orders of both, where f is what the code returns. The two numbers returned are rationals, floats
    included, and are subtracted as such.

    Parameters
    ----------
    query : Fold or callable
        Code to run. A `Fold` (such as ``float_sum("float16")``) is searched by its accumulators; a
        function of a 1-D array, also one of `from_function`, is called on every order of every
        dataset. It gets the records as the universe holds them (int64, float64 or objects).
    universe : Universe
        What datasets are drawn from.
    size : int or iterable of int
        The number n of records of x, from 1 to the universe's size; for several, the maximum.
    neighbors : Relation, {"bounded", "unbounded", "symmetric_difference"} or None
        Which datasets are neighbors; a name means at a distance of at most 1. "At most" includes
        distance 0: the same records in another order. None asks for distance 0 only.
    order : {"free", "aligned"}, default "free"
        "free": datasets are multisets, so any order of x is compared with any order of y.
        "aligned": y is x, in its order, but for the positions that are replaced (`Bounded`: the
        Hamming distance of sequences), or removed and inserted (the other relations).
    ideal : str, Query or callable, optional
        The same query as mathematics; by default what the fold declares, if anything. Errors of a
        query that is given are raised; of one that is declared, `ideal` becomes None.
    n_jobs : int, optional
        Worker processes for calling a function on all orders, as in joblib; by default 1. Folds,
        and functions under "aligned", run in this process.
    progress : bool, optional
        Whether to show a progress bar over those calls; by default on a terminal and past a second.
    memory_limit : int, default 4 GiB
        The largest number of bytes that the search may plan to use; beyond, it refuses.
    evaluation_limit : int, default 10 million
        The largest number of orders that a function may be called on; beyond, it refuses.

    Returns
    -------
    ImplementedSensitivity
        The value with its witness, two ordered datasets; `float(result)` is the value. It is
        math.inf, with a witness, if the code can overflow to inf or NaN on one of two neighbors.

    Raises
    ------
    InputError
        If an argument is not acceptable, the distance is not feasible, or a record does not fit the
        fold's type.
    TooLargeError
        If there are too many datasets, orders or reachable accumulators; says how many.
    QueryError
        If the code raises, returns no number, or answers the same ordered dataset differently.

    See Also
    --------
    global_sensitivity : The query as mathematics.

    Notes
    -----
    Fold, free: a step per distinct accumulator and value, then work in proportion to the distinct
    accumulators per multiset, summed over all multisets of up to the largest size. Fold, aligned:
    the same for pairs of accumulators per number of records replaced. Function: one call per order.
    "aligned" never exceeds "free", as aligned pairs are neighbors as multisets too.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> from sensitivity_lab.folds import float_sum
    >>> universe = sl.Universe.from_domain([0, 0.1, 1])
    >>> result = implemented_sensitivity(
    ...     float_sum("float16"), universe, size=8, neighbors=sl.Bounded(1)
    ... )
    >>> result.value, result.exact, result.ideal
    (1.0078125, Fraction(129, 128), Fraction(1, 1))
    """
    relation = None if neighbors is None else as_relation(neighbors)
    task = _Task(
        _as_implementation(query),
        check_universe(universe),
        relation,
        check_sizes(size, universe),
        _check_order(order, relation, universe),
        Options(n_jobs, progress, memory_limit),
        check_whole("evaluation_limit", evaluation_limit, "a number of calls, at least 1"),
    )
    task.check_small()
    mathematics = task.ideal(ideal)
    return task.conclude(task.search(), mathematics)


class _Found(NamedTuple):
    """A pair of ordered datasets, and the work it took to find it."""

    gap: Fraction | None
    x: tuple[int, ...]
    y: tuple[int, ...]
    evaluations: int


@dataclass(frozen=True)
class _Task:
    """A validated question."""

    query: Implementation
    universe: Universe
    relation: Relation | None
    sizes: tuple[int, ...]
    order: Order
    options: Options
    evaluation_limit: int

    @property
    def changes(self) -> list[tuple[int, Change]]:
        """Every size of x with every change that leads to a neighbor."""
        if self.relation is None:
            return [(size, (0, 0)) for size in self.sizes]
        return Problem(self.universe, (), (self.relation,), self.sizes).changes(self.relation)

    @property
    def levels(self) -> list[int]:
        """The sizes of all datasets x and y."""
        every = {of for size, (i, j) in self.changes for of in (size, size - i + j)}
        return sorted(every)

    @property
    def limits(self) -> tuple[int, ...]:
        return tuple(self.universe.multiplicities(self.levels[-1]).tolist())

    @property
    def lattice(self) -> Lattice:
        return lattice_of(self.universe, self.levels[-1])

    @property
    def orders(self) -> int:
        """The number of ordered datasets among x and y."""
        return sum(count_orders(self.limits, size) for size in self.levels)

    @property
    def families(self) -> list[Family]:
        """Kinds of pairs of multisets; at most k covers fewer changes, and none."""
        exactly = self.relation is not None and self.relation.exactly
        changes = self.changes
        found = [
            Family(size, size - i + j, size - i, exactly and i > 0 and j > 0)
            for size, (i, j) in changes
            if exactly or (size, (i + 1, j + 1)) not in changes
        ]
        if not exactly:
            found += [Family(size, size, size, False) for size in self.sizes]
        return list(dict.fromkeys(found))

    def ideal(self, given: Any) -> Fraction | None:
        """Return the exact sensitivity of the query as mathematics, where it is known."""
        declared = self.query.ideal if isinstance(self.query, Fold) else None
        ideal: Query | None = declared if given is None else as_query(given)
        if ideal is None:
            return None
        if self.relation is None:
            return Fraction(0)
        try:
            return global_sensitivity(
                self.universe,
                ideal,
                size=self.sizes,
                neighbors=self.relation,
                memory_limit=self.options.memory_limit,
            ).exact
        except InputError:
            # The relation is feasible, so the query is undefined here, or beyond all floats.
            if given is None:
                return None
            raise

    def check_small(self) -> None:
        """Raise TooLargeError if there are too many multisets, or too many orders to call."""
        values, top = len(self.limits), self.levels[-1]
        advice = "choose a smaller size or distance, or fewer distinct values"
        if values * top * top > self.options.memory_limit:
            raise TooLargeError(
                f"datasets of {top:,} records over {values:,} values are too many to go through; "
                + advice
            )
        if isinstance(self.query, Function) and self.orders > self.evaluation_limit:
            raise TooLargeError(
                f"query {self.query.name!r} would be called on {self.orders:,} orders, more than "
                f"the evaluation_limit of {self.evaluation_limit:,}; {advice}, a Fold instead of a "
                "function, or a larger evaluation_limit"
            )
        multisets = sum(map(self.lattice.number, range(top + 1)))
        needed = multisets * (_BYTES_PER_MULTISET + 16 * values)
        if self.order == "free" and needed > self.options.memory_limit:
            raise TooLargeError(
                f"the search over {multisets:,} multisets of up to {top} records would need about "
                f"{needed / 2**20:,.1f} MiB, more than the memory limit of "
                f"{self.options.memory_limit / 2**20:,.1f} MiB; {advice}, or a larger memory_limit"
            )

    @property
    def method(self) -> Method:
        """How all orders are covered."""
        if self.order == "aligned":
            return "accumulator pairs"
        return "reachable accumulators" if isinstance(self.query, Fold) else "all orders"

    def search(self) -> _Found:
        """Return a pair that is furthest apart."""
        if self.order == "aligned":
            return self._search_aligned()
        if isinstance(self.query, Fold):
            return self._search_reachable(self.query)
        return self._search_orders(self.query)

    def _search_reachable(self, fold: Fold) -> _Found:
        automaton = Automaton(fold, self.universe.values, self.options.memory_limit)
        reachable = Reachable(automaton, self.lattice, self.levels[-1])
        entries = {size: reachable.level(size) for size in self.levels}
        states = np.unique(np.concatenate([of for _, of in entries.values()]))
        answers = automaton.answers(states)
        levels = {
            size: Level(owners, states.searchsorted(of)) for size, (owners, of) in entries.items()
        }
        gap, *sides = self._furthest(levels, answers)
        x, y = (
            reachable.order(size, *(int(column[entry]) for column in entries[size]))
            for size, entry in sides
        )
        return _Found(gap, x, y, automaton.steps)

    def _search_orders(self, function: Function) -> _Found:
        code = Code(function.function, function.vectorized, function.name, self.universe)
        found = evaluate_orders(code, self.levels[-1], self.levels, self.options)
        answers: list[Answer] = []
        levels = {}
        for size, entries in found.items():
            owners = np.array([entry.rank for entry in entries], dtype=np.intp)
            levels[size] = Level(owners, np.arange(len(entries)) + len(answers))
            answers += [entry.answer for entry in entries]
        gap, *sides = self._furthest(levels, answers)
        x, y = (found[size][entry].order for size, entry in sides)
        return _Found(gap, x, y, self.orders)

    def _furthest(
        self, levels: dict[int, Level], answers: list[Answer]
    ) -> tuple[Fraction | None, tuple[int, int], tuple[int, int]]:
        limits = self.universe.multiplicities(2 * self.levels[-1])
        found = furthest(self.lattice, limits, self.families, levels, answers)
        return found.gap, (found.size_x, found.entry_x), (found.size_y, found.entry_y)

    def _search_aligned(self) -> _Found:
        """Search pairs of accumulators; those of a function are the records read so far."""
        relation, function = self.relation, self.query
        if isinstance(function, Fold):
            fold, values = function, self.universe.values
        else:
            code = Code(function.function, function.vectorized, function.name, self.universe)
            fold = Fold(lambda read, letter: (*read, letter), (), code, name=function.name)
            values = tuple(range(len(self.universe.values)))
        automaton = Automaton(fold, values, self.options.memory_limit)
        exactly = relation is not None and relation.exactly
        alignment = Alignment(
            targets=tuple((i, j, size - i) for size, (i, j) in self.changes),
            replacing=isinstance(relation, Bounded),
            equal=exactly or len(values) == 1,
            limits=self.limits,
        )
        found = AlignedPairs(automaton, alignment).furthest()
        evaluations = automaton.steps if isinstance(function, Fold) else found.answered
        return _Found(found.gap, found.x, found.y, evaluations)

    def conclude(self, found: _Found, ideal: Fraction | None) -> ImplementedSensitivity:
        """Run the code on the pair once more, and state the result."""
        x, y = (tuple(self.universe.values[v] for v in letters) for letters in (found.x, found.y))
        if found.gap == 0 and self.relation is not None and self.order == "free":
            y = next(neighboring_datasets(x, self.universe, self.relation))
        answers = [run(self.query, self.universe, data) for data in (x, y)]
        if distance(*answers) != found.gap:
            raise QueryError(
                f"query {self.query.name!r} answers the same ordered dataset differently each "
                f"time, x = {x} or y = {y}; give code that is not random"
            )
        return ImplementedSensitivity(
            value=as_float(found.gap),
            exact=found.gap,
            ideal=ideal,
            witness=OrderedWitness(x, y, *answers),
            method=self.method,
            multisets=sum(map(self.lattice.number, self.levels)),
            orders=self.orders,
            evaluations=found.evaluations,
            query=self.query,
            neighbors=self.relation,
            order=self.order,
            size=self.sizes[0] if len(self.sizes) == 1 else self.sizes,
            universe=self.universe,
        )


def _as_implementation(query: Any) -> Implementation:
    """Return code to run, or raise InputError."""
    if isinstance(query, (Fold, Function)):
        return query
    if isinstance(query, (str, Query)):
        raise InputError(
            f"{getattr(query, 'name', query)!r} is a query as mathematics, which has no order; "
            "give code: a Fold such as float_sum('float32'), or a function of a 1-D array"
        )
    if callable(query) and not isinstance(query, type):
        return from_function(query)
    raise InputError(f"query must be a Fold or a function of a 1-D array, got {query!r}")


def _check_order(order: Any, relation: Relation | None, universe: Universe) -> Order:
    """Return how orders are compared, or raise InputError."""
    if order == "free":
        return "free"
    if order != "aligned":
        raise InputError(f"order must be 'free' or 'aligned', got {order!r}")
    if relation is None:
        raise InputError(
            "order='aligned' needs a neighbor relation: without one, x and y are the same "
            "sequence; choose order='free'"
        )
    replaces = not isinstance(relation, Unbounded)
    if relation.exactly and replaces and universe.counts is not None:
        raise InputError(
            f"order='aligned' with {relation} needs a domain with unlimited copies, where a record "
            "can be replaced by an equal one; choose exactly=False or order='free'"
        )
    return "aligned"
