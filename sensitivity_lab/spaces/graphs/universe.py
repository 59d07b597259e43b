"""The universe of graphs, with every graph as a whole number whose bits are its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_text, check_whole, listed, shown, whole_number
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.results.noise_context import Things
from sensitivity_lab.spaces.space import Answer, Code, FiniteSpace, SpaceWitness

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

Removed = tuple[int, ...]
"""The nodes that graphs no longer have; graphs without the same nodes are a group."""

_ACCEPTED = "a sequence of edges, such as [(0, 1), (1, 2)]"


@dataclass(frozen=True)
class GraphWitness(SpaceWitness):
    """Two neighboring graphs that attain a sensitivity.

    Attributes
    ----------
    x, y : tuple of (int, int)
        Their edges, ascending, the smaller node of each first.
    query_x, query_y : int, float, Fraction or tuple of such
        The query's answers on them.
    nodes : int
        The number of nodes of x.
    removed : tuple of int
        The nodes that y does not have.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs
    >>> found = spaces.global_sensitivity(
    ...     graphs.GraphUniverse(3), "triangles", neighbors=graphs.EdgeNeighbors()
    ... )
    >>> found.witness.x, found.witness.y, found.witness.changed
    (((0, 2), (1, 2)), ((0, 1), (0, 2), (1, 2)), ((0, 1),))
    """

    nodes: int
    removed: Removed = ()

    @property
    def changed(self) -> Graph:
        """The edges that only one of the two graphs has, ascending."""
        return tuple(sorted(set(self.x) ^ set(self.y)))

    def _texts(self) -> tuple[str, str]:
        nodes = f"node{'s' * (len(self.removed) != 1)} {', '.join(map(str, self.removed))}"
        gone = f"  without {nodes}" if self.removed else ""
        return _edges_text(self.x), f"{_edges_text(self.y)}{gone}"

    def _changed(self, neighbors: Any) -> str:
        return _edges_text(self.changed)


def _edges_text(graph: Graph) -> str:
    """Return edges as text: 0-1, 0-2."""
    return ", ".join(f"{low}-{high}" for low, high in graph) or "no edges"


@dataclass(frozen=True, init=False, repr=False)
class GraphUniverse(FiniteSpace):
    """All undirected graphs on the nodes 0 to n - 1, or those with edges of a given set only.

    A graph has no loops and no double edges. Its nodes are labeled: renaming nodes gives a
    different graph.

    Parameters
    ----------
    nodes : int
        The number of nodes n, at least 1; at most 42 if `edges` are given. A search covers all
        graphs on at most 7 nodes; `known_sensitivity` accepts any number of nodes.
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
        If `nodes` or `edges` is invalid.
    TooLargeError
        If `edges` has more than 21 edges, or `nodes` is above 42 with `edges`. For all graphs on
        more than 7 nodes, more than ``2**21``, the attribute `edges` and every search raise it.

    Examples
    --------
    >>> from sensitivity_lab.spaces import graphs
    >>> universe = graphs.GraphUniverse(4)
    >>> print(universe)
    all 64 graphs on 4 nodes
    >>> universe.edges
    ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    """

    nodes: int
    _some: Graph | None
    """The edges, unless all pairs of nodes are."""

    _noun = "graph"
    _takes = "an adjacency matrix"
    _fewer = "fewer nodes or edges"
    _few = "at most 6 nodes (5 where nodes are removed)"
    _picture = "plot_graphs"
    _things = Things(
        data="graph",
        parts="nodes",
        room="sl.spaces",
        listed="the universe is the graphs with some of the listed edges "
        "(GraphUniverse.subgraphs, or edges=), so the sensitivity holds only among these graphs",
        domain="a graph can be, GraphUniverse(nodes)",
        public="edges",
        every_size="Scale the noise to the largest sensitivity over every number of nodes that the "
        "data can have",
    )

    def __init__(self, nodes: int, edges: Iterable[Edge] | None = None) -> None:
        n = check_whole("nodes", nodes, "the number of nodes, at least 1")
        some = None
        if edges is not None:
            if n > MOST_NODES:
                raise TooLargeError(
                    f"a universe of graphs has at most {MOST_NODES} nodes, got {shown(n)}; "
                    "leave out nodes without edges"
                )
            some = _edges_of(edges, "edges", n)
            if len(some) > MOST_EDGES:
                raise TooLargeError(
                    f"a graph of {len(some)} edges has 2**{len(some)} subgraphs; the limit is "
                    f"2**{MOST_EDGES}. Leave out edges"
                )
            some = None if 2 * len(some) == n * (n - 1) else some
        object.__setattr__(self, "nodes", n)
        object.__setattr__(self, "_some", some)

    @classmethod
    def subgraphs(cls, edges: Iterable[Edge]) -> GraphUniverse:
        """Return the universe of the graphs that have some of the edges of one graph.

        Parameters
        ----------
        edges : sequence of (int, int)
            The edges of that graph, from 1 to 21 of them. Its nodes are 0 to the largest one named.

        Raises
        ------
        InputError
            If the edges are not pairs of different nodes, or one occurs twice.
        TooLargeError
            If there are too many.

        Examples
        --------
        >>> from sensitivity_lab.spaces import graphs
        >>> print(graphs.GraphUniverse.subgraphs([(0, 1), (1, 2), (2, 3), (3, 0)]))
        the 16 subgraphs of a graph of 4 edges on 4 nodes
        """
        read = _edges_of(edges, "edges", MOST_NODES)
        if not read:
            raise InputError("edges must be at least one edge; GraphUniverse(n, []) has none")
        return cls(max(node for edge in read for node in edge) + 1, read)

    @cached_property
    def edges(self) -> Graph:
        """The pairs of nodes that can be edges, ascending."""
        if self._some is not None:
            return self._some
        if self._most_edges > MOST_EDGES:
            raise TooLargeError(
                f"{self.nodes} nodes have {self._most_edges} pairs, so there are "
                f"2**{self._most_edges} graphs; the limit is 2**{MOST_EDGES}, all graphs on 7 "
                "nodes. Use fewer nodes, or GraphUniverse.subgraphs(edges) for the subgraphs of "
                "one graph"
            )
        return tuple(combinations(range(self.nodes), 2))

    @property
    def is_complete(self) -> bool:
        """Whether all pairs of nodes can be edges."""
        return self._some is None

    @property
    def _most_edges(self) -> int:
        """How many pairs of nodes can be edges; they are not listed."""
        return self.nodes * (self.nodes - 1) // 2 if self._some is None else len(self._some)

    def __len__(self) -> int:
        """Return the number of graphs."""
        return int(2 ** len(self.edges))

    def __repr__(self) -> str:
        edges = "" if self._some is None else f", edges={self._some}"
        return f"GraphUniverse({self.nodes}{edges})"

    def __str__(self) -> str:
        edges = self._most_edges
        graphs = f"{2**edges:,}" if edges <= MOST_EDGES else f"2**{edges}"
        if not edges:
            what = "the graph without edges"
        elif self.is_complete:
            what = f"all {graphs} graphs"
        else:
            what = f"the {graphs} subgraphs of a graph of {edges} edge{'s' * (edges != 1)}"
        return f"{what} on {self._size}"

    @property
    def _size(self) -> str:
        return f"{self.nodes} node{'s' * (self.nodes != 1)}"

    @property
    def _sizes(self) -> tuple[int, ...]:
        return (self.nodes,)

    @property
    def _is_listed(self) -> bool:
        return not self.is_complete

    def mask(self, graph: Any, name: str = "x") -> int:
        """Return a graph of this universe as a whole number.

        Parameters
        ----------
        graph : sequence of (int, int)
            Its edges, in any order.
        name : str, default "x"
            Its name in errors.

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

    def _code(self, dataset: Any, name: str) -> Code:
        return (), self.mask(dataset, name)

    def _codes(self, witness: Any) -> tuple[Code, Code]:
        return self._code(witness.x, "x"), (witness.removed, self.mask(witness.y, "y"))

    def _argument(self, code: Code) -> NDArray[np.bool_]:
        """Return the adjacency matrix of a graph, without the removed nodes."""
        adjacency = np.zeros((self.nodes, self.nodes), dtype=bool)
        removed, mask = code
        for low, high in self.graph(mask):
            adjacency[low, high] = adjacency[high, low] = True
        left = [node for node in range(self.nodes) if node not in cast(Removed, removed)]
        return adjacency[np.ix_(left, left)]  # a copy, which the function may change

    def _told(self, code: Code) -> str:
        removed, mask = code
        return f"the graph {self.graph(mask)} of {self.nodes - len(cast(Removed, removed))} nodes"

    def _witness(
        self, x: Code, y: Code, answers: tuple[Answer, Answer], neighbors: Any
    ) -> GraphWitness:
        removed = cast(Removed, y[0])
        return GraphWitness(self.graph(x[1]), self.graph(y[1]), *answers, self.nodes, removed)

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
