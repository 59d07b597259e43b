"""Queries on graphs, evaluated on many graphs at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sensitivity_lab.spaces.answers import Counts, NamedQuery

from .relations import popcounts
from .universe import GraphUniverse, Masks, Removed


def _edges(universe: GraphUniverse, removed: Removed, masks: Masks) -> Counts:  # noqa: ARG001 - one signature for all
    return popcounts(masks, len(universe.edges)).astype(np.int16)[:, None]


def _triangles(universe: GraphUniverse, removed: Removed, masks: Masks) -> Counts:  # noqa: ARG001
    places = {edge: place for place, edge in enumerate(universe.edges)}
    total = np.zeros(len(masks), dtype=np.int16)
    for nodes in combinations(range(universe.nodes), 3):
        sides = tuple(combinations(nodes, 2))
        if all(side in places for side in sides):
            triangle = sum(1 << places[side] for side in sides)
            total += masks & triangle == triangle
    return total[:, None]


def _max_degree(universe: GraphUniverse, removed: Removed, masks: Masks) -> Counts:  # noqa: ARG001
    return np.asarray(_degrees(universe, masks).max(axis=1, keepdims=True))


def _degree_histogram(universe: GraphUniverse, removed: Removed, masks: Masks) -> Counts:
    """How many nodes have the degrees 0 to n - 1, shape (graphs, n)."""
    degrees = _degrees(universe, masks)
    columns = [(degrees == degree).sum(axis=1) for degree in range(universe.nodes)]
    counts = np.stack(columns, axis=1).astype(np.int16)
    counts[:, 0] -= len(removed)  # they have lost their edges, and are no nodes of degree 0
    return counts


def _degrees(universe: GraphUniverse, masks: Masks) -> Counts:
    """The degree of each node, shape (graphs, n)."""
    degrees = np.zeros((len(masks), universe.nodes), dtype=np.int16)
    for place, edge in enumerate(universe.edges):
        present = (masks >> place & 1).astype(np.int16)
        for node in edge:
            degrees[:, node] += present
    return degrees


QUERIES = {
    query.name: query
    for query in (
        NamedQuery("edges", _edges),
        NamedQuery("triangles", _triangles),
        NamedQuery("max_degree", _max_degree),
        NamedQuery("degree_histogram", _degree_histogram, vector=True),
    )
}
"""The queries that have names."""
