"""What a search over graphs returns: the sensitivity and two neighboring graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.release import Release, Things

from .enumerated import Enumerated
from .known import ClosedForm
from .queries import GraphFunction, GraphQuery, evaluate
from .relations import EdgeNeighbors, GraphRelation, removes
from .search import Answer, answer_of
from .universe import Graph, GraphUniverse

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRAPHS = Things(
    data="graph",
    parts="nodes",
    room="graphs",
    listed="the universe is the graphs with some of the listed edges (GraphUniverse.subgraphs, or "
    "edges=), so the sensitivity holds only among these graphs",
    domain="a graph can be, GraphUniverse(nodes)",
    public="edges",
    every_size="Scale the noise to the largest sensitivity over every number of nodes that the "
    "data can have",
)


@dataclass(frozen=True)
class GraphWitness:
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
    >>> from sensitivity_lab import graphs
    >>> triangle = graphs.GraphUniverse(3)
    >>> found = graphs.global_sensitivity(triangle, "triangles", neighbors=graphs.EdgeNeighbors())
    >>> found.witness.x, found.witness.y, found.witness.changed
    (((0, 2), (1, 2)), ((0, 1), (0, 2), (1, 2)), ((0, 1),))
    """

    x: Graph
    y: Graph
    query_x: Answer
    query_y: Answer
    nodes: int
    removed: tuple[int, ...] = ()

    @property
    def changed(self) -> Graph:
        """The edges that only one of the two graphs has, ascending."""
        return tuple(sorted(set(self.x) ^ set(self.y)))


@dataclass(frozen=True, repr=False)
class GraphSensitivity(Enumerated):
    """The sensitivity of a query of graphs, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity in the query's unit: edges, triangles, or nodes for the histogram.
    exact : Fraction or None
        As a rational; None where it is a root (L2) and for functions that return floats.
    upper : float or None
        The smallest float that is not below it; None for functions that return floats.
    witness : GraphWitness
        Two neighbors that attain it.
    known : ClosedForm or None
        The formula that is known for all graphs on so many nodes (`known_sensitivity`); None for a
        local sensitivity, for subgraphs, and where there is none.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats, which it may have rounded itself.
    graphs_evaluated : int
        On how many graphs the query was evaluated.
    pairs : int
        How many pairs of neighbors were compared: all that there are.
    query : str
        The query's name.
    universe : GraphUniverse
    neighbors : EdgeNeighbors or NodeNeighbors
    norm : {"L1", "L2", "Linf"}
        Of the difference of two answers that are vectors; for numbers, all three are one.
    kind : {"global", "local"}
    definition : GraphQuery or GraphFunction
        What was evaluated.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> nodes = graphs.NodeNeighbors()
    >>> graphs.global_sensitivity(graphs.GraphUniverse(4), "max_degree", neighbors=nodes)
    Sensitivity of max_degree: 3 (exact)
      neighbors  node neighbors, edges of at most 1 node replaced; all 64 graphs on 4 nodes
      known      n - 1 = 3
      graph x    no edges  f(x) = 0
      graph y    0-1, 0-2, 0-3  f(y) = 3
      changed    0-1, 0-2, 0-3
      method     enumeration: 64 graphs evaluated, 704 pairs of neighbors compared
    """

    value: float
    exact: Fraction | None
    upper: float | None
    witness: GraphWitness
    known: ClosedForm | None
    arithmetic: Literal["exact", "float"]
    graphs_evaluated: int
    pairs: int
    query: str
    universe: GraphUniverse
    neighbors: GraphRelation
    norm: Norm
    kind: Literal["global", "local"]
    definition: GraphQuery | GraphFunction

    def _answers(self) -> Sequence[Answer]:
        witness = self.witness
        x, y = self.universe.mask(witness.x), self.universe.mask(witness.y, "y")
        jobs: Any = [(np.array([x]), ()), (np.array([y]), witness.removed)]
        tables = evaluate(self.definition, self.universe, jobs)
        return [answer_of(counts[0], tables) for counts in tables.counts]

    def _are_neighbors(self) -> bool:
        return _are_neighbors(self.witness, self.neighbors)

    def release(self) -> Release:
        """Return what noise has to know of it."""
        nodes = self.universe.nodes
        return self._about(
            (nodes,),
            f"{nodes} node{'s' * (nodes != 1)}",
            _GRAPHS,
            listed=len(self.universe.edges) < nodes * (nodes - 1) // 2,
            keeps_size=not removes(self.neighbors),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        return {
            **self._common(),
            "nodes": self.universe.nodes,
            "graphs_evaluated": self.graphs_evaluated,
            "pairs": self.pairs,
            "x": self.witness.x,
            "y": self.witness.y,
            "removed": self.witness.removed,
            "query_x": self.witness.query_x,
            "query_y": self.witness.query_y,
        }

    def plot(self, **options: Any) -> Axes:
        """Draw the two graphs side by side, with the changed edges marked.

        Parameters
        ----------
        **options
            Of `sensitivity_lab.plotting.plot_graphs`: `ax`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sensitivity_lab.plotting import plot_graphs

        return plot_graphs(self.witness, **{**self._labels(), **options})

    def facts(self) -> list[tuple[str, str]]:
        """Return what both reprs tell, in order."""
        witness = self.witness
        nodes = f"node{'s' * (len(witness.removed) != 1)} {', '.join(map(str, witness.removed))}"
        gone = f"  without {nodes}" if witness.removed else ""
        facts = [
            ("neighbors", f"{self.neighbors}; {self.universe}"),
            ("graph x", f"{_edges(witness.x)}  f(x) = {brief(witness.query_x)}"),
            ("graph y", f"{_edges(witness.y)}{gone}  f(y) = {brief(witness.query_y)}"),
            ("changed", _edges(witness.changed)),
            (
                "method",
                f"enumeration: {self.graphs_evaluated:,} graphs evaluated, "
                f"{self.pairs:,} pairs of neighbors compared",
            ),
        ]
        if self.known is not None:
            facts.insert(1, ("known", str(self.known)))
        return facts


def _edges(graph: Graph) -> str:
    """Return edges as text: 0-1, 0-2."""
    return ", ".join(f"{low}-{high}" for low, high in graph) or "no edges"


def _are_neighbors(witness: GraphWitness, relation: GraphRelation) -> bool:
    """Tell whether two graphs are neighbors, by the definition."""
    changed = witness.changed
    if removes(relation):
        gone = set(witness.removed)
        left = tuple(edge for edge in witness.x if not gone & set(edge))
        return 1 <= len(gone) <= relation.k and left == witness.y
    if witness.removed or not changed:
        return False
    if isinstance(relation, EdgeNeighbors):
        return len(changed) <= relation.k
    ends = {node for edge in changed for node in edge}
    return any(
        all(set(nodes) & set(edge) for edge in changed)
        for nodes in combinations(sorted(ends), min(relation.k, len(ends)))
    )
