"""The graphs on some nodes as a space, whose neighbors differ in an edge or in a node."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_choice, check_whole, listed, shown, whole_number
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.results.noise_context import Things

from .near import Flips, Places
from .space import MOST_DATASETS, Space, Within

Edge = tuple[int, int]
"""Two nodes, the smaller one first."""

Graph = tuple[Edge, ...]
"""The edges of a graph, ascending."""

MOST_EDGES = MOST_DATASETS.bit_length() - 1
"""Pairs of nodes that can be edges: as many graphs as a space can have are their subsets."""

MOST_NODES = 2 * MOST_EDGES
"""As many as so many edges can have as their ends."""

_ACCEPTED = "a sequence of edges, such as [(0, 1), (1, 2)]"


@public_call
def graphs(
    nodes: int, neighbors: Literal["edge", "node"], *, edges: Iterable[Edge] | None = None
) -> Space:
    """Return the space of all graphs on the nodes 0 to n - 1, or of those with some edges only.

    A dataset is the tuple of the edges of an undirected graph, ascending, the smaller node of each
    first. It has no loops and no double edges. Nodes are labeled: renaming them gives another
    graph.

    Parameters
    ----------
    nodes : int
        The number of nodes n, from 2 to 6; up to 32 if `edges` are given.
    neighbors : {"edge", "node"}
        Which graphs are one step apart:

        - "edge": one edge is added or removed. This is edge differential privacy, which hides
          whether two people know each other.
        - "node": the edges of one node are replaced by any others. This is node differential
          privacy, which hides a person with all their contacts; n stays public, as the size of a
          dataset does with `Bounded`.
    edges : sequence of (int, int), optional
        The pairs of nodes that can be edges, from 1 to 16; by default all pairs.

    Returns
    -------
    Space
        Its distance is how many edges differ, or the fewest nodes that all edges in which two
        graphs differ have an end among. Its queries are named in `global_sensitivity`.

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If there are more than ``2**16`` graphs or 32 nodes.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009, section II (edge and k-edge differential privacy; its nodes are removed).

    Kasiviswanathan, Nissim, Raskhodnikova, Smith: Analyzing Graphs with Node Differential Privacy.
    TCC 2013, section 2 (node distance).

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> space = spaces.graphs(4, "edge")
    >>> print(space)
    all 64 graphs on 4 nodes
    >>> space.metric([(0, 1)], [(0, 1), (1, 2), (1, 3)])
    2
    >>> spaces.graphs(4, "node").metric([(0, 1)], [(0, 1), (1, 2), (1, 3)])
    1
    """
    n = check_whole("nodes", nodes, "the number of nodes, at least 2", least=2)
    check_choice("neighbors", neighbors, ("edge", "node"))
    if n > MOST_NODES:
        raise TooLargeError(
            f"a space of graphs has at most {MOST_NODES} nodes, got {shown(n)}; leave out nodes "
            "without edges"
        )
    some = tuple(combinations(range(n), 2)) if edges is None else _edges_of(edges, "edges", n)
    if not some:
        raise InputError("edges must be at least one edge")
    if len(some) > MOST_EDGES:
        raise TooLargeError(
            f"{len(some)} pairs of nodes can be edges, so there are 2**{len(some)} graphs; the "
            f"limit is 2**{MOST_EDGES}. Use at most 6 nodes, or list fewer pairs as edges="
        )
    return _Graphs(n, neighbors, some)


def _triangles(graph: Graph) -> int:
    friends: dict[int, set[int]] = {}
    for low, high in graph:
        friends.setdefault(low, set()).add(high)
        friends.setdefault(high, set()).add(low)
    return sum(len(friends[low] & friends[high]) for low, high in graph) // 3


class _Graphs(Space):
    """Graphs as a space: bit i of a graph's number says whether it has edge i."""

    _noun = "graph"
    _picture = "plot_graphs"
    _takes = "the edges of a graph"
    _things = Things(
        data="graph",
        parts="nodes",
        room="sl.spaces",
        listed="the space is the graphs with some of the listed edges (edges=), so the sensitivity "
        "holds only among these graphs",
        domain="a graph can be, graphs(nodes, ...) without edges=",
        public="edges",
        every_size="",  # neighbors have the same nodes
    )

    def __init__(self, nodes: int, neighbors: str, edges: Graph) -> None:
        self._nodes, self._kind, self._edges = nodes, neighbors, edges
        every: list[Graph] = [()]
        for edge in edges:
            every += [(*graph, edge) for graph in every]
        self.datasets = tuple(every)
        at_nodes = [{edge for edge in edges if node in edge} for node in range(nodes)]
        self._groups = [{edge} for edge in edges] if neighbors == "edge" else at_nodes
        self._near = Flips(len(every), self._flips(np.arange(len(every))))
        self.metric = self._steps
        self._queries = {
            "edges": len,
            "triangles": _triangles,
            "max_degree": self._max_degree,
            "degree_histogram": self._degree_histogram,
        }
        self._family = self._known_by = f"{neighbors} neighbors"
        self._sizes = (nodes,)
        self._is_listed = 2 * len(edges) < nodes * (nodes - 1)

    def _flips(self, every: Places) -> Places:
        """Return in which edges graphs one step apart can differ: any of those of one group."""
        groups = [
            sum(1 << place for place, edge in enumerate(self._edges) if edge in group)
            for group in self._groups
        ]
        inside = [every & ~group == 0 for group in groups]
        return np.flatnonzero(np.any(inside, axis=0))[1:]  # without 0, no difference

    def _steps(self, x: Iterable[Edge], y: Iterable[Edge]) -> int:
        """Return the fewest groups that have all edges in which two graphs differ."""
        changed = set(x) ^ set(y)
        groups = range(len(self._groups) + 1)
        some = (chosen for size in groups for chosen in combinations(self._groups, size))
        return next(len(chosen) for chosen in some if changed <= set().union(*chosen))

    def _degrees(self, graph: Graph) -> list[int]:
        degrees = [0] * self._nodes
        for low, high in graph:
            degrees[low] += 1
            degrees[high] += 1
        return degrees

    def _max_degree(self, graph: Graph) -> int:
        return max(self._degrees(graph))

    def _degree_histogram(self, graph: Graph) -> NDArray[np.int64]:
        """How many nodes have the degrees 0 to n - 1."""
        return np.bincount(self._degrees(graph), minlength=self._nodes)

    def __repr__(self) -> str:
        edges = f", edges={list(self._edges)}" if self._is_listed else ""
        return f"graphs({self._nodes}, {self._kind!r}{edges})"

    def __str__(self) -> str:
        edges = len(self._edges)
        what = f"all {len(self):,} graphs"
        if self._is_listed:
            what = f"the {len(self):,} subgraphs of a graph of {edges} edge{'s' * (edges != 1)}"
        return f"{what} on {self._size}"

    @property
    def _size(self) -> str:
        return f"{self._nodes} nodes"

    def _place(self, dataset: Any, name: str) -> int:
        read = _edges_of(dataset, name, self._nodes)
        missing = [edge for edge in read if edge not in self._edges]
        if missing:
            raise InputError(
                f"{name} has the edge {missing[0]}, which no graph of this space has: {self}"
            )
        return sum(1 << self._edges.index(edge) for edge in read)

    def _told(self, relation: Within) -> str:
        several = f"{relation.meaning} {relation.k} {self._kind}{'s' * (relation.k != 1)}"
        if self._kind == "edge":
            return f"edge neighbors, {several} added or removed"
        return f"node neighbors, edges of {several} replaced"

    def _text(self, dataset: Any) -> str:
        return ", ".join(f"{low}-{high}" for low, high in dataset) or "no edges"

    def _changed(self, x: Any, y: Any) -> str:
        return self._text(sorted(set(x) ^ set(y)))

    def _drawn(self, x: Any, y: Any) -> dict[str, Any]:
        return {"nodes": self._nodes}


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
