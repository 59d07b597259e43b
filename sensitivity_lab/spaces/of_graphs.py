"""The graphs on some nodes as a space, whose neighbors differ in an edge or in a node."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_choice, check_whole, listed, shown, whole_number
from sensitivity_lab.errors import InputError, TooLargeError

from .nearness import Flips
from .space import Space, Within

Edge = tuple[int, int]
"""Two nodes, the smaller one first."""

Graph = tuple[Edge, ...]
"""The edges of a graph, ascending."""

MOST_NODES = 6
"""On seven there are 2**21 graphs, more than a space can have."""


@public_call
def graphs(nodes: int, neighbors: Literal["edge", "node"]) -> Space:
    """Return the space of all graphs on the nodes 0 to n - 1.

    A dataset is the tuple of the edges of an undirected graph, ascending, the smaller node of each
    first. It has no loops and no double edges. Nodes are labeled: renaming them gives another
    graph.

    Parameters
    ----------
    nodes : int
        The number of nodes n, from 2 to 6.
    neighbors : {"edge", "node"}
        Which graphs are one step apart:

        - "edge": one edge is added or removed. This is edge differential privacy, which hides
          whether two people know each other.
        - "node": the edges of one node are replaced by any others. This is node differential
          privacy, which hides a person with all their contacts; n stays public, as the size of a
          dataset does with `Bounded`.

    Returns
    -------
    Space
        Two graphs are as many steps apart as edges differ, or as the fewest nodes that all these
        edges have an end among. Its queries are named in `global_sensitivity`.

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If there are more than six nodes.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009, section II (edge and k-edge differential privacy; its nodes are removed).

    Kasiviswanathan, Nissim, Raskhodnikova, Smith: Analyzing Graphs with Node Differential Privacy.
    TCC 2013, section 2 (node distance).

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> print(spaces.graphs(4, "edge"))
    all 64 graphs on 4 nodes
    """
    n = check_whole("nodes", nodes, "the number of nodes, at least 2", least=2)
    check_choice("neighbors", neighbors, ("edge", "node"))
    if n > MOST_NODES:
        raise TooLargeError(
            f"a space of all graphs has at most {MOST_NODES} nodes, got {shown(n)}; list the "
            "graphs that can be in Space(...), with a function of the neighbors of each"
        )
    return _Graphs(n, neighbors)


class _Graphs(Space):
    """Graphs as a space: bit i of a graph's number says whether it has edge i."""

    _noun, _parts = "graph", "nodes"
    _takes = "the edges of a graph"

    def __init__(self, nodes: int, neighbors: str) -> None:
        self._nodes, self._kind = nodes, neighbors
        self._edges = tuple(combinations(range(nodes), 2))
        every: list[Graph] = [()]
        for edge in self._edges:
            every += [(*graph, edge) for graph in every]
        self.datasets = tuple(every)
        # Graphs one step apart differ in one edge, or in some edges of one node: not in others.
        changing = self._edges if neighbors == "edge" else [(node,) for node in range(nodes)]
        others = [
            sum(1 << bit for bit, edge in enumerate(self._edges) if not set(one) <= set(edge))
            for one in changing
        ]
        inside = np.any([np.arange(len(every)) & bits == 0 for bits in others], axis=0)
        self._near = Flips(len(every), np.flatnonzero(inside)[1:])  # without no difference
        self._queries = {
            "edges": len,
            "triangles": self._triangles,
            "max_degree": self._max_degree,
            "degree_histogram": self._degree_histogram,
        }
        self._family = self._known_by = f"{neighbors} neighbors"
        self._sizes = (nodes,)

    def _triangles(self, graph: Graph) -> int:
        edges, every = set(graph), combinations(range(self._nodes), 3)
        return sum(edges.issuperset(combinations(three, 2)) for three in every)

    def _degrees(self, graph: Graph) -> NDArray[np.int64]:
        ends = np.array(graph, dtype=np.int64).ravel()
        return np.bincount(ends, minlength=self._nodes)

    def _max_degree(self, graph: Graph) -> int:
        return int(self._degrees(graph).max())

    def _degree_histogram(self, graph: Graph) -> NDArray[np.int64]:
        """How many nodes have the degrees 0 to n - 1."""
        return np.bincount(self._degrees(graph), minlength=self._nodes)

    def __repr__(self) -> str:
        return f"graphs({self._nodes}, {self._kind!r})"

    def __str__(self) -> str:
        return f"all {len(self):,} graphs on {self._size}"

    @property
    def _size(self) -> str:
        return f"{self._nodes} nodes"

    def _place(self, dataset: Any, name: str) -> int:
        accepted = f"{name} must be a sequence of edges, such as [(0, 1), (1, 2)]"
        edges: set[Edge] = set()
        for one in listed(dataset, accepted):
            ends = listed(one, f"{accepted}; an edge is a pair of nodes")
            numbers = set(map(whole_number, ends))
            edge = next((one for one in self._edges if set(one) == numbers), None)
            if len(ends) != 2 or edge is None:
                raise InputError(
                    f"{accepted}; an edge joins two of the nodes 0 to {self._nodes - 1}, got "
                    f"{shown(one)}"
                )
            if edge in edges:
                raise InputError(f"{name} has the edge {edge} twice; no edge is double")
            edges.add(edge)
        return self.datasets.index(tuple(sorted(edges)))

    def _told(self, relation: Within) -> str:
        several = f"at most {relation.k} {self._kind}{'s' * (relation.k != 1)}"
        if self._kind == "edge":
            return f"edge neighbors, {several} added or removed"
        return f"node neighbors, edges of {several} replaced"

    def _text(self, dataset: Any) -> str:
        return ", ".join(f"{low}-{high}" for low, high in dataset) or "no edges"

    def _changed(self, x: Any, y: Any) -> str:
        return self._text(sorted(set(x) ^ set(y)))
