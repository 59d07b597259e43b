"""Graphs as datasets, whose neighbors differ in an edge or in a node.

A dataset is an undirected graph on labeled nodes, and a universe holds all graphs on n nodes, or
all subgraphs of a given one (`GraphUniverse`). Neighbors differ in an edge (`EdgeNeighbors`) or in
all edges of a node (`NodeNeighbors`). The queries are the number of edges, the number of triangles,
the maximum degree, the histogram of the degrees, and any function of an adjacency matrix. The calls
are those of `sensitivity_lab.spaces`.

Examples
--------
>>> from sensitivity_lab import spaces
>>> from sensitivity_lab.spaces import graphs
>>> universe = graphs.GraphUniverse(5)
>>> spaces.global_sensitivity(universe, "triangles", neighbors=graphs.EdgeNeighbors())
Sensitivity of triangles: 3 (exact)
  neighbors  edge neighbors, at most 1 edge added or removed; all 1,024 graphs on 5 nodes
  known      n - 2 = 3
  x          0-2, 0-3, 0-4, 1-2, 1-3, 1-4  f(x) = 0
  y          0-1, 0-2, 0-3, 0-4, 1-2, 1-3, 1-4  f(y) = 3
  changed    0-1
  method     enumeration: 1,024 graphs evaluated, 5,120 pairs of neighbors compared
"""

from .relations import EdgeNeighbors, NodeNeighbors
from .universe import GraphUniverse, GraphWitness

__all__ = ["EdgeNeighbors", "GraphUniverse", "GraphWitness", "NodeNeighbors"]

__dir__ = __all__.copy  # for tab completion
