"""Other data than records: graphs, whose neighbors differ in an edge or in a node.

A dataset is an undirected graph on labeled nodes, and a universe holds all graphs on up to 7 nodes,
or all subgraphs of a given one (`GraphUniverse`). Neighbors differ in an edge (`EdgeNeighbors`) or
in all that is known of a node (`NodeNeighbors`). The queries are the number of edges, the number of
triangles, the maximum degree, the histogram of the degrees, and any function of an adjacency
matrix. `global_sensitivity` and `local_sensitivity` compare all neighbors; `known_sensitivity` has
the formulas that are known, for any number of nodes.

Examples
--------
>>> from sensitivity_lab import graphs
>>> universe = graphs.GraphUniverse(5)
>>> graphs.global_sensitivity(universe, "triangles", neighbors=graphs.EdgeNeighbors())
Sensitivity of triangles: 3 (exact)
  neighbors  edge neighbors, at most 1 edge added or removed; all 1,024 graphs on 5 nodes
  known      n - 2 = 3
  graph x    0-2, 0-3, 0-4, 1-2, 1-3, 1-4  f(x) = 0
  graph y    0-1, 0-2, 0-3, 0-4, 1-2, 1-3, 1-4  f(y) = 3
  changed    0-1
  method     enumeration: 1,024 graphs evaluated, 5,120 pairs of neighbors compared
"""

from .call import global_sensitivity, local_sensitivity
from .known import ClosedForm, known_sensitivity
from .relations import EdgeNeighbors, NodeNeighbors
from .result import GraphSensitivity, GraphWitness
from .universe import GraphUniverse

__all__ = [
    "ClosedForm",
    "EdgeNeighbors",
    "GraphSensitivity",
    "GraphUniverse",
    "GraphWitness",
    "NodeNeighbors",
    "global_sensitivity",
    "known_sensitivity",
    "local_sensitivity",
]
