"""What is asked of graphs: counts of many graphs at once, and callers' functions of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import did_you_mean, shown
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.queries.returned import Answers, NoNumbersError, are_exact, numbers_of
from sensitivity_lab.search.again import check_calls

from .relations import popcounts
from .universe import GraphUniverse, Masks

MOST_CALLS = 50_000
"""A caller's function is called on at most so many graphs: all on 6 nodes, and then some."""

INT64 = 2**62
"""Sums of squares below it are computed in int64; larger ones in Python's integers."""

Removed = tuple[int, ...]
"""The nodes that graphs no longer have."""

Counts = NDArray[Any]
"""Whole numbers, shape (graphs, d): answers, or answers times a common denominator."""


@dataclass(frozen=True)
class GraphQuery:
    """A query with a name: what is counted, and whether the answer is a vector."""

    name: str
    count: Callable[[GraphUniverse, Masks, Removed], Counts]
    vector: bool = False


@dataclass(frozen=True)
class GraphFunction:
    """A caller's function of an adjacency matrix."""

    function: Callable[[NDArray[np.bool_]], Any]

    @property
    def name(self) -> str:
        """What results call it."""
        name = getattr(self.function, "__name__", "function")
        return name if isinstance(name, str) and name.isidentifier() else "function"


@dataclass(frozen=True)
class Tables:
    """Answers on several lists of graphs, as integers over one denominator.

    Attributes
    ----------
    counts : list of ndarray, shape (graphs, d) each
        The answers times the denominator.
    denominator : int
        Common to all answers.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats.
    vector : bool
        Whether an answer is a vector; if not, d is 1.
    """

    counts: list[Counts]
    denominator: int
    arithmetic: Literal["exact", "float"]
    vector: bool


def _edges(universe: GraphUniverse, masks: Masks, removed: Removed) -> Counts:  # noqa: ARG001 - one signature for all
    return popcounts(masks, len(universe.edges)).astype(np.int16)[:, None]


def _triangles(universe: GraphUniverse, masks: Masks, removed: Removed) -> Counts:  # noqa: ARG001
    places = {edge: place for place, edge in enumerate(universe.edges)}
    total = np.zeros(len(masks), dtype=np.int16)
    for nodes in combinations(range(universe.nodes), 3):
        sides = tuple(combinations(nodes, 2))
        if all(side in places for side in sides):
            triangle = sum(1 << places[side] for side in sides)
            total += masks & triangle == triangle
    return total[:, None]


def _max_degree(universe: GraphUniverse, masks: Masks, removed: Removed) -> Counts:  # noqa: ARG001
    return np.asarray(_degrees(universe, masks).max(axis=1, keepdims=True))


def _degree_histogram(universe: GraphUniverse, masks: Masks, removed: Removed) -> Counts:
    """How many nodes have the degrees 0 to n - 1, shape (graphs, n)."""
    degrees = _degrees(universe, masks)
    columns = [(degrees == degree).sum(axis=1) for degree in range(universe.nodes)]
    counts = np.stack(columns, axis=1).astype(np.int16)
    counts[:, 0] -= len(removed)  # they have lost their edges, and are no nodes of degree 0
    return counts


def _degrees(universe: GraphUniverse, masks: Masks) -> Counts:
    """The degree of each node, shape (graphs, n)."""
    degrees = np.zeros((len(masks), universe.nodes), dtype=np.int16)
    for place, edge in enumerate(universe.edges):
        present = (masks >> place & 1).astype(np.int16)
        for node in edge:
            degrees[:, node] += present
    return degrees


QUERIES = {
    query.name: query
    for query in (
        GraphQuery("edges", _edges),
        GraphQuery("triangles", _triangles),
        GraphQuery("max_degree", _max_degree),
        GraphQuery("degree_histogram", _degree_histogram, vector=True),
    )
}
"""The queries that have names."""


def as_query(query: Any) -> GraphQuery | GraphFunction:
    """Return the query of a name, or a caller's function, or raise InputError."""
    if isinstance(query, str) and query in QUERIES:
        return QUERIES[query]
    if callable(query):
        return GraphFunction(query)
    raise InputError(
        f"query must be one of {', '.join(map(repr, QUERIES))}, or a function of an adjacency "
        f"matrix, got {shown(query)}{did_you_mean(query, QUERIES)}"
    )


def evaluate(
    query: GraphQuery | GraphFunction,
    universe: GraphUniverse,
    jobs: Sequence[tuple[Masks, Removed]],
) -> Tables:
    """Return the answers on several lists of graphs.

    Parameters
    ----------
    query : GraphQuery or GraphFunction
        What is asked of a graph.
    universe : GraphUniverse
        That of the masks.
    jobs : sequence of (masks, removed)
        Graphs, none of them with an edge at a removed node, and the nodes that they do not have.

    Raises
    ------
    QueryError
        If a function raises, or does not return finite numbers of one shape.
    TooLargeError
        If a function would be called too often.
    """
    if isinstance(query, GraphQuery):
        return Tables([query.count(universe, *job) for job in jobs], 1, "exact", query.vector)
    calls = sum(len(masks) for masks, _ in jobs)
    if calls > MOST_CALLS:
        raise TooLargeError(
            f"the function {query.name} would be called on {calls:,} graphs, the limit is "
            f"{MOST_CALLS:,}; use at most 6 nodes (5 where nodes are removed), or one of "
            f"{', '.join(map(repr, QUERIES))}"
        )
    every = [(mask, removed) for masks, removed in jobs for mask in masks.tolist()]

    def where(place: int) -> str:
        mask, removed = every[place]
        nodes = universe.nodes - len(removed)
        return f"the function {query.name} on the graph {universe.graph(mask)} of {nodes} nodes"

    def call(place: int) -> Answers:
        adjacency = _adjacency(universe, *every[place])
        return answer_of_call(query.function, adjacency, where(place))

    answers = [call(place) for place in range(len(every))]
    check_calls(answers, call, where)
    return tables_of(query.name, answers, [len(masks) for masks, _ in jobs])


def tables_of(name: str, answers: Sequence[Answers], sizes: Sequence[int]) -> Tables:
    """Return what a function answered, as integers over one denominator.

    Parameters
    ----------
    name : str
        The function's, for errors.
    answers : sequence of ndarray
        One per dataset, of no or one dimension; at least one.
    sizes : sequence of int
        How many of them, one after the other, belong to each list.

    Raises
    ------
    QueryError
        If they have different shapes.
    """
    shape = answers[0].shape
    if any(answer.shape != shape for answer in answers):
        raise QueryError(
            f"the function {name} returned answers of different shapes; it returns a number, "
            "or an array of one fixed length"
        )
    flat = [one for answer in answers for one in answer.ravel().tolist()]
    integers, denominator = common_integers(flat)
    width = answers[0].size
    largest = max(map(abs, integers), default=0)
    small = width * (2 * largest) ** 2 < INT64
    table = integers.reshape(len(answers), width).astype(np.int64 if small else object)
    exact = all(map(are_exact, answers))
    return Tables(
        np.split(table, np.cumsum(sizes)[:-1]),
        denominator,
        "exact" if exact else "float",
        bool(shape),
    )


def _adjacency(universe: GraphUniverse, mask: int, removed: Removed) -> NDArray[np.bool_]:
    """Return the adjacency matrix of a graph, without the removed nodes."""
    adjacency = np.zeros((universe.nodes, universe.nodes), dtype=bool)
    for low, high in universe.graph(mask):
        adjacency[low, high] = adjacency[high, low] = True
    left = [node for node in range(universe.nodes) if node not in removed]
    return adjacency[np.ix_(left, left)]  # a copy, which the function may change


def answer_of_call(function: Callable[[Any], Any], dataset: Any, where: str) -> Answers:
    """Return a caller's function of one dataset as an array of no or one dimension.

    Raises
    ------
    QueryError
        If it raises, or does not return a finite number or a vector of them; `where` begins the
        message.
    """
    try:
        returned = function(dataset)
    except Exception as error:
        raise QueryError(f"{where} raised {type(error).__name__}: {shown(str(error))}") from error
    try:
        numbers = numbers_of(returned)
    except NoNumbersError as error:
        reason = f" ({error})" if str(error) else ""
        raise QueryError(
            f"{where} returned {shown(returned)}{reason}; it returns a finite number, or an array "
            "of them of one fixed length"
        ) from None
    if numbers.ndim > 1:
        raise QueryError(
            f"{where} returned an array of shape {numbers.shape}; it returns a number, or an array "
            "of one fixed length, such as .ravel() gives"
        )
    return numbers
