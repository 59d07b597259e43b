"""Sensitivities of graphs that are known in closed form; `known_sensitivity` has the proofs."""

from __future__ import annotations

import math

from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.spaces.closed_form import ClosedForm

from .relations import EdgeNeighbors, NodeNeighbors
from .universe import GraphUniverse


def known(
    query: str, universe: GraphUniverse, neighbors: EdgeNeighbors | NodeNeighbors, norm: Norm
) -> ClosedForm | None:
    """Return the closed form of a query over all graphs on n nodes; None for subgraphs."""
    if not universe.is_complete:
        return None
    if isinstance(neighbors, EdgeNeighbors):
        return _of_edges(query, universe.nodes, neighbors.k, norm)
    return _of_nodes(query, universe.nodes, neighbors, norm)


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
