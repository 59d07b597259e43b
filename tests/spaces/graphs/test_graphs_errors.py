"""What is refused, in words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sensitivity_lab import spaces
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.spaces import graphs

FOUR = graphs.GraphUniverse(4)
EDGE, NODE = graphs.EdgeNeighbors(), graphs.NodeNeighbors()


def ask(universe=FOUR, query="edges", neighbors=EDGE, **options):
    return spaces.global_sensitivity(universe, query, neighbors=neighbors, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: graphs.GraphUniverse(3, [(0, 0)]),
            "edges has the loop (0, 0); an edge joins two nodes",
        ),
        (
            lambda: graphs.GraphUniverse(3, [(0, 3)]),
            "edges has the edge (0, 3); the nodes are 0 to 2",
        ),
        (
            lambda: graphs.GraphUniverse(3, [(0, 1), (1, 0)]),
            "edges has the edge (0, 1) twice; no edge is double",
        ),
        (
            lambda: graphs.GraphUniverse(3, [(0, 1, 2)]),
            "edges must be a sequence of edges, such as [(0, 1), (1, 2)]; an edge is no (0, 1, 2)",
        ),
        (
            lambda: graphs.GraphUniverse(3, [(0, 0.5)]),
            "edges must be a sequence of edges, such as [(0, 1), (1, 2)]; an edge is no (0, 0.5)",
        ),
        (
            lambda: graphs.GraphUniverse.subgraphs([]),
            "edges must be at least one edge; GraphUniverse(n, []) has none",
        ),
        (lambda: FOUR.graph(64), "mask must be below 64, the number of graphs, got 64"),
        (
            lambda: graphs.GraphUniverse(3, [(0, 1)]).mask([(1, 2)]),
            "x has the edge (1, 2), which no graph of this universe has: "
            "the 2 subgraphs of a graph of 1 edge on 3 nodes",
        ),
        (
            lambda: ask(query="triangle"),
            "query must be one of 'edges', 'triangles', 'max_degree', 'degree_histogram', or a "
            "function of an adjacency matrix, got 'triangle'; did you mean 'triangles'?",
        ),
        (
            lambda: ask(neighbors=graphs.EdgeNeighbors(7)),
            "k must be at most 6, so many edges can differ in all 64 graphs on 4 nodes, got 7",
        ),
        (
            lambda: ask(neighbors=graphs.NodeNeighbors(4, change="remove")),
            "k must be at most 3, so many nodes can be removed in all 64 graphs on 4 nodes, got 4",
        ),
        (
            lambda: ask(universe=graphs.GraphUniverse(3, []), neighbors=NODE),
            "no two graphs of this universe differ: the graph without edges on 3 nodes; add edges",
        ),
        (
            lambda: ask(universe=graphs.GraphUniverse(1)),
            "no edges can differ: the graph without edges on 1 node; use more nodes or edges",
        ),
        (
            lambda: spaces.known_sensitivity(FOUR, "edges", neighbors=graphs.NodeNeighbors(5)),
            "k must be at most 4, so many nodes can differ in all 64 graphs on 4 nodes, got 5",
        ),
    ],
)
def test_arguments(make, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ask(graphs.GraphUniverse(8)),
            "8 nodes have 28 pairs, so there are 2**28 graphs; the limit is 2**21, all graphs on 7 "
            "nodes. Use fewer nodes, or GraphUniverse.subgraphs(edges) for the subgraphs of one "
            "graph",
        ),
        (
            lambda: graphs.GraphUniverse(43, []),
            "a universe of graphs has at most 42 nodes, got 43; leave out nodes without edges",
        ),
        (
            lambda: graphs.GraphUniverse.subgraphs([(0, node) for node in range(1, 24)]),
            "a graph of 23 edges has 2**23 subgraphs; the limit is 2**21. Leave out edges",
        ),
        (
            lambda: ask(universe=graphs.GraphUniverse(7), query=np.sum),
            "the function sum would be called on 2,097,152 graphs, the limit is 50,000; use at "
            "most 6 nodes (5 where nodes are removed), or one of 'edges', 'triangles', "
            "'max_degree', 'degree_histogram'",
        ),
        (
            lambda: ask(universe=graphs.GraphUniverse(7), neighbors=graphs.EdgeNeighbors(4)),
            "to compare the neighbors among all 2,097,152 graphs on 7 nodes takes 7,912,554,496 "
            "steps (edge neighbors, at most 4 edges added or removed), and the limit is "
            "2,147,483,648; use fewer nodes or edges, or a smaller k",
        ),
        (
            lambda: ask(
                universe=graphs.GraphUniverse.subgraphs([(v, v + 1) for v in range(0, 42, 2)]),
                neighbors=graphs.NodeNeighbors(20),
            ),
            "the 2,097,152 subgraphs of a graph of 21 edges on 42 nodes and 513,791,607,420 ways "
            "to choose 20 of the nodes are more than 4,294,967,296 in all; use a smaller k or "
            "fewer edges",
        ),
    ],
)
def test_what_is_too_large(make, message):
    with pytest.raises(TooLargeError, match=f"^{re.escape(message)}$"):
        make()


def named(function):
    function.__name__ = "mine"
    return function


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda a: 1 // int(a[0, 1]),
            "the function mine on the graph () of 4 nodes raised ZeroDivisionError: 'integer "
            "division or modulo by zero'",
        ),
        (
            lambda _: float("nan"),
            "the function mine on the graph () of 4 nodes returned nan; it returns a finite "
            "number, or an array of them of one fixed length",
        ),
        (
            lambda a: a,
            "the function mine on the graph () of 4 nodes returned an array of shape (4, 4); it "
            "returns a number, or an array of one fixed length, such as .ravel() gives",
        ),
        (
            lambda a: np.flatnonzero(a[0]),
            "the function mine returned answers of different shapes; it returns a number, or an "
            "array of one fixed length",
        ),
    ],
)
def test_functions(function, message):
    with pytest.raises(QueryError, match=f"^{re.escape(message)}"):
        ask(query=named(function))
