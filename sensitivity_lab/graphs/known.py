"""Sensitivities that are known in closed form, with their proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_choice, check_kind, check_whole
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.metrics.norms import Norm, check_norm

from .queries import QUERIES
from .relations import EdgeNeighbors, GraphRelation, NodeNeighbors, removes
from .universe import GraphUniverse


@dataclass(frozen=True)
class ClosedForm:
    """A sensitivity as a formula, such as one of the number of nodes n and of k.

    Attributes
    ----------
    formula : str
        In the letters that the function names which returned it.
    power : int or Fraction
        Its value, or the square of its value where `root` is True.
    root : bool
        Whether the value is the square root of `power`.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> form = graphs.known_sensitivity("triangles", 30, neighbors=graphs.EdgeNeighbors())
    >>> form
    ClosedForm(formula='n - 2', power=28, root=False)
    >>> float(form)
    28.0
    """

    formula: str
    power: int | Fraction
    root: bool = False

    def __float__(self) -> float:
        return self.difference.nearest()

    def __str__(self) -> str:
        value = f"{float(self):.10g}"
        return value if value == self.formula else f"{self.formula} = {value}"

    @property
    def difference(self) -> Difference:
        """The value, which compares exactly with others."""
        return Difference(Fraction(self.power), Fraction(0), self.root)


def known_sensitivity(
    query: str, nodes: int, *, neighbors: GraphRelation, norm: Norm = "L1"
) -> ClosedForm | None:
    r"""Return the global sensitivity over all graphs on n nodes, where a formula is known for it.

    Parameters
    ----------
    query : {"edges", "triangles", "max_degree", "degree_histogram"}
        What is asked of a graph.
    nodes : int
        The number of nodes n, at least 2; there is no largest one.
    neighbors : EdgeNeighbors or NodeNeighbors
        With k at most the number of pairs of nodes, or of nodes (below it for "remove").
    norm : {"L1", "L2", "Linf"}, default "L1"
        For the degree histogram.

    Returns
    -------
    ClosedForm or None
        None where no formula is proved here: triangles and the degree histogram under several
        edges, and its L2 norm where the edges of several nodes are replaced.

    Raises
    ------
    InputError
        If an argument is not as said.

    Notes
    -----
    C(n, r) is the number of sets of r out of n. Every bound is attained by the pair that is named.

    Edges that are added or removed, at most k:

    - edges: k. Each changes the count by one. From no edge to k.
    - maximum degree: min(k, n - 1). An edge changes a degree by at most one, and degrees lie in
      0 to n - 1. From no edge to a star of min(k, n - 1) edges.
    - triangles, k = 1: n - 2. Those with the edge {u, v} have one of n - 2 third nodes. The
      complete graph loses so many with any edge.
    - degree histogram, k = 1: 4, sqrt(8) and 2 in L1, L2 and Linf. Each end of the edge leaves one
      entry for the next, which is 2, sqrt(2) and 1; two ends, at most twice that. From no edge to
      one both ends move from degree 0 to degree 1.

    Nodes, at most k, replaced or removed; let S be their set:

    - edges: C(n, 2) - C(n - k, 2). So many pairs have an end in S, and no other edges differ. From
      no edge, or from what is left, to all of them. For k = 1: n - 1.
    - triangles: C(n, 3) - C(n - k, 3), those with a node in S. From the complete graph to the one
      on the nodes outside S. For k = 1: C(n - 1, 2).
    - maximum degree: n - 1, since degrees lie in 0 to n - 1. From a star to no edge, its center
      replaced or removed.
    - degree histogram, replaced: 2 n in L1 and n in Linf, since entries are not negative and add up
      to n in both graphs. From no edge, n nodes of degree 0, to a star, which has none.
    - degree histogram, replaced, k = 1, in L2: sqrt(n^2 + (n - 1)^2 + 1) for n > 2, the same pair.
      The square is at most the sum of the squares of both graphs' entries. These add up to n^2 for
      a graph all of whose degrees are equal and to at most (n - 1)^2 + 1 for any other. If x and y
      had equal degrees d and d + 1, each node but one would gain its edge to that one, so d = 0 and
      d + 1 = n - 1. Hence n = 2, where it is sqrt(8).
    - degree histogram, removed: 2 n - 1 in L1, sqrt(n^2 + (n - 1)^2) in L2, n in Linf. Entries are
      not negative and add up to n in x and to at most n - 1 in y, so the distance is at most the
      sum, the root of the sum of squares, and the larger one of these. From the complete graph on n
      nodes, all of degree n - 1, to that on n - 1, all of degree n - 2.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009. Kasiviswanathan, Nissim, Raskhodnikova, Smith: Analyzing Graphs with Node
    Differential Privacy. TCC 2013.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> print(graphs.known_sensitivity("edges", 100, neighbors=graphs.NodeNeighbors()))
    C(n, 2) - C(n - k, 2) = 99
    """
    check_choice("query", query, tuple(QUERIES))
    n = check_whole("nodes", nodes, "the number of nodes, at least 2", least=2)
    check_kind("neighbors", neighbors, GraphRelation, "EdgeNeighbors(...) or NodeNeighbors(...)")
    check_norm(norm)
    most = n * (n - 1) // 2 if isinstance(neighbors, EdgeNeighbors) else n - removes(neighbors)
    if neighbors.k > most:
        raise InputError(f"k must be at most {most} for graphs on {n} nodes, got {neighbors.k}")
    if isinstance(neighbors, EdgeNeighbors):
        return _of_edges(query, n, neighbors.k, norm)
    return _of_nodes(query, n, neighbors, norm)


def _of_edges(query: str, n: int, k: int, norm: Norm) -> ClosedForm | None:
    if query == "edges":
        return ClosedForm("k", k)
    if query == "max_degree":
        return ClosedForm("min(k, n - 1)", min(k, n - 1))
    if k > 1:
        return None
    if query == "triangles":
        return ClosedForm("n - 2", n - 2)
    by_norm = {
        "L1": ClosedForm("4", 4),
        "L2": ClosedForm("sqrt(8)", 8, root=True),
        "Linf": ClosedForm("2", 2),
    }
    return by_norm[norm]


def _of_nodes(query: str, n: int, neighbors: NodeNeighbors, norm: Norm) -> ClosedForm | None:
    if query == "max_degree":
        return ClosedForm("n - 1", n - 1)
    if query in ("edges", "triangles"):
        size = 2 if query == "edges" else 3
        formula = f"C(n, {size}) - C(n - k, {size})"
        return ClosedForm(formula, math.comb(n, size) - math.comb(n - neighbors.k, size))
    removed = neighbors.change == "remove"
    if norm == "L1":
        return ClosedForm("2 n - 1", 2 * n - 1) if removed else ClosedForm("2 n", 2 * n)
    if norm == "Linf":
        return ClosedForm("n", n)
    square = n**2 + (n - 1) ** 2
    if removed:
        return ClosedForm("sqrt(n^2 + (n - 1)^2)", square, root=True)
    if neighbors.k > 1:
        return None
    if n == 2:
        return ClosedForm("sqrt(8)", 8, root=True)
    return ClosedForm("sqrt(n^2 + (n - 1)^2 + 1)", square + 1, root=True)


def known_for(
    query: Any, universe: GraphUniverse, neighbors: GraphRelation, norm: Norm
) -> ClosedForm | None:
    """Return what is known for a query of a name over all graphs; None for anything else."""
    named = isinstance(query, str)  # a caller's function may have no hash
    if not named or not universe.is_complete or universe.nodes < 2:
        return None
    return known_sensitivity(query, universe.nodes, neighbors=neighbors, norm=norm)
