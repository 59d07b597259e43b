"""Good arguments of what is public in `graphs`."""

from __future__ import annotations

from typing import Any

from sensitivity_lab import graphs

FOUR_NODES = graphs.GraphUniverse(4)
_PATH = [(0, 1), (1, 2)]
_RELATIONS = (graphs.EdgeNeighbors(), graphs.NodeNeighbors(change="remove"))
_QUERIES = ("triangles", "degree_histogram", lambda adjacency: adjacency.sum())

GRAPH_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "nodes": (3, 4),
    "graph": (_PATH, []),
    "mask": (3, 5),
    "edges": (_PATH, ((2, 0), (1, 2))),
    "graphs.NodeNeighbors.change": ("replace", "remove"),
    "graphs.known_sensitivity.query": ("edges", "triangles"),
    "graphs.known_sensitivity.neighbors": _RELATIONS,
    "graphs.local_sensitivity.x": (_PATH, []),
}
for _name in ("graphs.global_sensitivity", "graphs.local_sensitivity"):
    GRAPH_ARGUMENTS[f"{_name}.universe"] = (FOUR_NODES, graphs.GraphUniverse.subgraphs(_PATH))
    GRAPH_ARGUMENTS[f"{_name}.query"] = _QUERIES
    GRAPH_ARGUMENTS[f"{_name}.neighbors"] = _RELATIONS
