"""The sensitivity of a query of graphs: over all neighbors, and over those of one graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_kind
from sensitivity_lab.metrics.norms import Norm, check_norm

from .known import known_for
from .queries import as_query
from .relations import GraphRelation
from .result import GraphSensitivity, GraphWitness
from .search import furthest
from .universe import Edge, GraphUniverse

QueryLike = str | Callable[[NDArray[np.bool_]], Any]
"""The name of a query, or a function of an adjacency matrix."""


def global_sensitivity(
    universe: GraphUniverse, query: QueryLike, *, neighbors: GraphRelation, norm: Norm = "L1"
) -> GraphSensitivity:
    """Return the largest difference of a query's answers over all neighboring graphs.

    Parameters
    ----------
    universe : GraphUniverse
        The graphs x and y.
    query : {"edges", "triangles", "max_degree", "degree_histogram"} or callable
        What is asked of a graph. The histogram is how many nodes have the degrees 0 to n - 1, n
        numbers also where nodes are removed. A function takes an adjacency matrix, a boolean array
        of shape (n, n), or smaller where nodes are removed, and returns a number or an array of
        one fixed length; it is called on at most 50,000 graphs.
    neighbors : EdgeNeighbors or NodeNeighbors
        Which graphs are neighbors.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors.

    Returns
    -------
    GraphSensitivity
        The value, two graphs that attain it, and beside it the closed form, where one is known.

    Raises
    ------
    InputError
        If an argument is not as said, or no two graphs are neighbors.
    TooLargeError
        If there are more than ``2**31`` pairs of neighbors, or a function would be called too
        often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    Evaluates the query on every graph and compares all pairs, in blocks of arrays and in integers.
    With m possible edges there are ``2**m`` graphs; each pair comes up once. Seven nodes have
    2,097,152 graphs, 22 million pairs of edge neighbors and 440 million of node neighbors.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> universe = graphs.GraphUniverse(5)
    >>> found = graphs.global_sensitivity(universe, "triangles", neighbors=graphs.EdgeNeighbors())
    >>> found.value, found.known.formula
    (3.0, 'n - 2')

    A function, here of whether a graph is connected:

    >>> import numpy as np
    >>> def connected(adjacency):
    ...     n = len(adjacency)
    ...     return np.linalg.matrix_power(adjacency + np.eye(n, dtype=int), n).all()
    >>> graphs.global_sensitivity(universe, connected, neighbors=graphs.NodeNeighbors()).value
    1.0
    """
    check_kind("universe", universe, GraphUniverse, "a GraphUniverse")
    return _sensitivity(universe, query, neighbors, norm, None)


def local_sensitivity(
    x: Iterable[Edge],
    universe: GraphUniverse,
    query: QueryLike,
    *,
    neighbors: GraphRelation,
    norm: Norm = "L1",
) -> GraphSensitivity:
    """Return the largest difference of a query's answers between one graph and its neighbors.

    Parameters
    ----------
    x : sequence of (int, int)
        The edges of the graph, in any order.
    universe : GraphUniverse
        The graphs that its neighbors are among.
    query : {"edges", "triangles", "max_degree", "degree_histogram"} or callable
        As of `global_sensitivity`.
    neighbors : EdgeNeighbors or NodeNeighbors
        Which graphs are neighbors; with ``change="remove"`` what is left of x.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors.

    Returns
    -------
    GraphSensitivity
        The value and the neighbor that attains it; the x of its witness is this one.

    Raises
    ------
    InputError
        If an argument is not as said, or x is no graph of the universe.
    TooLargeError
        If there are too many neighbors, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Examples
    --------
    A cycle of five nodes has no triangle, and one edge makes at most one:

    >>> from sensitivity_lab import graphs
    >>> cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    >>> found = graphs.local_sensitivity(
    ...     cycle, graphs.GraphUniverse(5), "triangles", neighbors=graphs.EdgeNeighbors()
    ... )
    >>> found.value, found.witness.changed
    (1.0, ((0, 2),))
    """
    check_kind("universe", universe, GraphUniverse, "a GraphUniverse")
    return _sensitivity(universe, query, neighbors, norm, universe.mask(x))


def _sensitivity(
    universe: GraphUniverse, query: Any, neighbors: Any, norm: Any, x: int | None
) -> GraphSensitivity:
    definition = as_query(query)
    check_kind("neighbors", neighbors, GraphRelation, "EdgeNeighbors(...) or NodeNeighbors(...)")
    check_norm(norm)
    found = furthest(universe, definition, neighbors, norm, x)
    exact = found.arithmetic == "exact"
    return GraphSensitivity(
        value=found.difference.nearest(),
        exact=found.difference.exact if exact else None,
        upper=found.difference.upper() if exact else None,
        witness=GraphWitness(
            x=universe.graph(found.x),
            y=universe.graph(found.y),
            query_x=found.query_x,
            query_y=found.query_y,
            nodes=universe.nodes,
            removed=found.removed,
        ),
        known=known_for(query, universe, neighbors, norm) if x is None else None,
        arithmetic=found.arithmetic,
        graphs_evaluated=found.graphs,
        pairs=found.pairs,
        query=definition.name,
        universe=universe,
        neighbors=neighbors,
        norm=norm,
        kind="global" if x is None else "local",
        definition=definition,
    )
