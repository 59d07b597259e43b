"""The universe of graphs, with every graph as a whole number whose bits are its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_text, check_whole, listed, shown, whole_number
from sensitivity_lab.errors import InputError, TooLargeError

Edge = tuple[int, int]
"""Two nodes, the smaller one first."""

Graph = tuple[Edge, ...]
"""The edges of a graph, ascending."""

Masks = NDArray[np.int64]
"""Graphs as whole numbers: bit i is set where the graph has edge i of its universe."""

MOST_EDGES = 21
"""Of a universe: all pairs of 7 nodes, 2,097,152 graphs."""

MOST_NODES = 2 * MOST_EDGES
"""As many as so many edges can have as their ends."""

_ACCEPTED = "a sequence of edges, such as [(0, 1), (1, 2)]"


@dataclass(frozen=True, init=False, repr=False)
class GraphUniverse:
    """All undirected graphs on the nodes 0 to n - 1, or those with edges of a given set only.

    A graph has no loops and no double edges. Its nodes are labeled: two graphs that differ in the
    names of their nodes are two graphs.

    Parameters
    ----------
    nodes : int
        The number of nodes n, at least 1; at most 7 if all pairs can be edges.
    edges : sequence of (int, int), optional
        The pairs of nodes that can be edges, at most 21; by default all of them.

    Attributes
    ----------
    nodes : int
        The number of nodes n.
    edges : tuple of (int, int)
        The pairs of nodes that can be edges, ascending.

    Raises
    ------
    InputError
        If `nodes` or `edges` are not as said.
    TooLargeError
        If there would be more than ``2**21`` graphs.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> universe = graphs.GraphUniverse(4)
    >>> print(universe)
    all 64 graphs on 4 nodes
    >>> universe.edges
    ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    """

    nodes: int
    edges: Graph

    def __init__(self, nodes: int, edges: Iterable[Edge] | None = None) -> None:
        n = check_whole("nodes", nodes, "the number of nodes, at least 1")
        if n > MOST_NODES:
            raise TooLargeError(
                f"a universe of graphs has at most {MOST_NODES} nodes, got {shown(n)}; "
                "leave out nodes without edges"
            )
        pairs = n * (n - 1) // 2
        if edges is None and pairs > MOST_EDGES:
            raise TooLargeError(
                f"{n} nodes have {pairs} pairs, so there are 2**{pairs} graphs; the limit is "
                f"2**{MOST_EDGES}, all graphs on 7 nodes. Use fewer nodes, or "
                "GraphUniverse.subgraphs(edges) for the subgraphs of one graph"
            )
        given = combinations(range(n), 2) if edges is None else _edges_of(edges, "edges", n)
        possible = tuple(given)
        if len(possible) > MOST_EDGES:
            raise TooLargeError(
                f"a graph of {len(possible)} edges has 2**{len(possible)} subgraphs; the limit is "
                f"2**{MOST_EDGES}. Leave out edges"
            )
        object.__setattr__(self, "nodes", n)
        object.__setattr__(self, "edges", possible)

    @classmethod
    def subgraphs(cls, edges: Iterable[Edge]) -> GraphUniverse:
        """Return the universe of the graphs that have some of the edges of one graph.

        Parameters
        ----------
        edges : sequence of (int, int)
            The edges of that graph, at least 1 and at most 21. Its nodes are 0 to the largest one
            that is named.

        Raises
        ------
        InputError
            If the edges are no pairs of different nodes, or one occurs twice.
        TooLargeError
            If there are too many.

        Examples
        --------
        >>> from sensitivity_lab import graphs
        >>> print(graphs.GraphUniverse.subgraphs([(0, 1), (1, 2), (2, 3), (3, 0)]))
        the 16 subgraphs of a graph of 4 edges on 4 nodes
        """
        read = _edges_of(edges, "edges", MOST_NODES)
        if not read:
            raise InputError("edges must be at least one edge; GraphUniverse(n, []) has none")
        return cls(max(node for edge in read for node in edge) + 1, read)

    def __len__(self) -> int:
        """Return the number of graphs."""
        return int(2 ** len(self.edges))

    def __repr__(self) -> str:
        edges = "" if self.is_complete else f", edges={self.edges}"
        return f"GraphUniverse({self.nodes}{edges})"

    def __str__(self) -> str:
        if not self.edges:
            what = "the graph without edges"
        elif self.is_complete:
            what = f"all {len(self):,} graphs"
        else:
            edges = f"{len(self.edges)} edge{'s' * (len(self.edges) != 1)}"
            what = f"the {len(self):,} subgraphs of a graph of {edges}"
        return f"{what} on {self.nodes} node{'s' * (self.nodes != 1)}"

    @property
    def is_complete(self) -> bool:
        """Whether all pairs of nodes can be edges."""
        return 2 * len(self.edges) == self.nodes * (self.nodes - 1)

    def mask(self, graph: Any, name: str = "x") -> int:
        """Return a graph of this universe as a whole number.

        Parameters
        ----------
        graph : sequence of (int, int)
            Its edges, in any order.
        name : str, default "x"
            What errors call it.

        Raises
        ------
        InputError
            If it is not a graph of this universe.

        Examples
        --------
        >>> GraphUniverse(3).mask([(2, 1), (0, 1)])
        5
        """
        check_text("name", name, "what errors call the graph")
        places = {edge: place for place, edge in enumerate(self.edges)}
        read = _edges_of(graph, name, self.nodes)
        missing = [edge for edge in read if edge not in places]
        if missing:
            raise InputError(
                f"{name} has the edge {missing[0]}, which no graph of this universe has: {self}"
            )
        return sum(1 << places[edge] for edge in read)

    def graph(self, mask: int) -> Graph:
        """Return the edges of a graph that is given as a whole number.

        Parameters
        ----------
        mask : int
            Bit i is set where the graph has edge i of `edges`; from 0 to ``2**len(edges) - 1``.

        Raises
        ------
        InputError
            If there is no such graph.

        Examples
        --------
        >>> GraphUniverse(3).graph(5)
        ((0, 1), (1, 2))
        """
        number = check_whole("mask", mask, "the number of a graph, at least 0", least=0)
        if number >= len(self):
            raise InputError(f"mask must be below {len(self)}, the number of graphs, got {number}")
        return tuple(edge for place, edge in enumerate(self.edges) if number >> place & 1)

    def _all_masks(self) -> Masks:
        """All graphs."""
        return np.arange(len(self), dtype=np.int64)

    def _edges_at(self, nodes: Iterable[int]) -> int:
        """Return the edges that have an end among some nodes, as a mask."""
        ends = set(nodes)
        return sum(1 << place for place, edge in enumerate(self.edges) if ends & set(edge))


def _edges_of(given: Any, name: str, nodes: int) -> Graph:
    """Return edges, ascending and the smaller node first, or raise InputError."""
    edges: set[Edge] = set()
    for one in listed(given, f"{name} must be {_ACCEPTED}"):
        ends = listed(one, f"{name} must be {_ACCEPTED}; an edge is a pair of nodes")
        found = [whole_number(end) for end in ends]
        numbers = sorted(end for end in found if end is not None)
        if len(found) != 2 or len(numbers) != 2:
            raise InputError(f"{name} must be {_ACCEPTED}; an edge is no {shown(one)}")
        low, high = numbers
        if low == high:
            raise InputError(f"{name} has the loop {(low, high)}; an edge joins two nodes")
        if low < 0 or high >= nodes:
            raise InputError(
                f"{name} has the edge {shown((low, high))}; the nodes are 0 to {nodes - 1}"
            )
        if (low, high) in edges:
            raise InputError(f"{name} has the edge {(low, high)} twice; no edge is double")
        edges.add((low, high))
    return tuple(sorted(edges))
