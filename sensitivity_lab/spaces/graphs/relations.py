"""Neighbor relations of graphs: an edge differs, or all edges of a node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from sensitivity_lab.checks import check_choice
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.spaces.space import (
    Block,
    Code,
    Codes,
    Group,
    Pairs,
    SpaceRelation,
    check_steps,
    in_parts,
    pairs_with,
)

from .universe import GraphUniverse, GraphWitness, Masks

_MOST_STEPS = 2**32
"""Ways to choose nodes, times graphs; listing what neighbors differ in takes a step each."""


@dataclass(frozen=True)
class EdgeNeighbors(SpaceRelation):
    """Two graphs on the same nodes that differ in at most k edges.

    For k = 1, one edge is added or removed. This is the relation of edge differential privacy,
    which hides whether two people know each other.

    Parameters
    ----------
    k : int, default 1
        The largest number of edges that differ, from 1 to the number of edges of the universe.

    Raises
    ------
    InputError
        If k is invalid.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009, section II (edge and k-edge differential privacy).

    Examples
    --------
    >>> print(EdgeNeighbors())
    edge neighbors, at most 1 edge added or removed
    """

    k: int = 1

    _counts = "how many edges differ, at least 1"
    _family = "edge neighbors"

    def __str__(self) -> str:
        return f"edge neighbors, at most {self.k} edge{'s' * (self.k != 1)} added or removed"

    def _check(self, universe: GraphUniverse) -> None:
        _check_some(universe._most_edges, "edges can differ", universe)
        self._check_most(universe._most_edges, f"so many edges can differ in {universe}")

    def _flips(self, universe: GraphUniverse) -> Masks:
        """Return in which edges two neighbors can differ, as masks, the fewest edges first."""
        single = [1 << place for place in range(len(universe.edges))]
        several = (combinations(single, number) for number in range(1, self.k + 1))
        return np.array([sum(edges) for some in several for edges in some], dtype=np.int64)

    def _pairs(self, space: GraphUniverse, x: Code | None) -> Pairs:
        return _flipped(space, self, self._flips(space), x)

    def _relates(self, witness: GraphWitness, space: GraphUniverse) -> bool:
        return not witness.removed and 1 <= len(witness.changed) <= self.k


@dataclass(frozen=True)
class NodeNeighbors(SpaceRelation):
    """Two graphs that differ in at most k nodes and any of their edges.

    This is the relation of node differential privacy, which hides a person with all their contacts.
    There are two definitions, as for neighboring datasets:

    - "replace": x and y have the same n nodes, and every edge in which they differ has an end among
      k nodes, whose edges are replaced by any others. n stays public, as the size of a dataset does
      with `Bounded`.
    - "remove": y is x without 1 to k of its nodes and their edges, so y has fewer than n nodes (Hay
      et al. 2009; Kasiviswanathan et al. 2013). For a global sensitivity it does not matter which
      of the two is called x: it compares graphs on n nodes with their subgraphs on fewer nodes. The
      local one covers removals from x only.

    Parameters
    ----------
    k : int, default 1
        The largest number of nodes that differ, from 1 to n, and below n for "remove".
    change : {"replace", "remove"}, default "replace"
        Whether the edges of the nodes are replaced, or the nodes are removed.

    Raises
    ------
    InputError
        If k or `change` is invalid.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009, section II (node differential privacy).

    Kasiviswanathan, Nissim, Raskhodnikova, Smith: Analyzing Graphs with Node Differential Privacy.
    TCC 2013, section 2 (node distance).

    Examples
    --------
    >>> print(NodeNeighbors(), "|", NodeNeighbors(2, change="remove"))
    node neighbors, edges of at most 1 node replaced | node neighbors, at most 2 nodes removed
    """

    k: int = 1
    change: Literal["replace", "remove"] = "replace"

    _counts = "how many nodes differ, at least 1"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check_choice("change", self.change, ("replace", "remove"))

    def __str__(self) -> str:
        some = f"at most {self.k} node{'s' * (self.k != 1)}"
        if self.change == "remove":
            return f"node neighbors, {some} removed"
        return f"node neighbors, edges of {some} replaced"

    def _check(self, universe: GraphUniverse) -> None:
        if self.change == "remove":
            _check_some(universe.nodes - 1, "nodes can be removed", universe)
            self._check_most(universe.nodes - 1, f"so many nodes can be removed in {universe}")
            return
        if not universe._most_edges:
            raise InputError(f"no two graphs of this universe differ: {universe}; add edges")
        self._check_most(universe.nodes, f"so many nodes can differ in {universe}")

    def _flips(self, universe: GraphUniverse) -> Masks:
        """Return in which edges two neighbors can differ, as masks, the fewest edges first."""
        ways = math.comb(universe.nodes, self.k)
        if ways * len(universe) > _MOST_STEPS:
            raise TooLargeError(
                f"{universe} and {ways:,} ways to choose {self.k} of the nodes are more than "
                f"{_MOST_STEPS:,} in all; use a smaller k or fewer edges"
            )
        masks = universe._all_masks()
        found = np.zeros(len(masks), dtype=bool)
        for nodes in combinations(range(universe.nodes), self.k):
            found |= masks & ~universe._edges_at(nodes) == 0
        return _fewest_first(masks[found][1:], universe)  # mask 0 comes first: no difference

    def _pairs(self, space: GraphUniverse, x: Code | None) -> Pairs:
        if self.change == "remove":
            return self._removed(space, x)
        return _flipped(space, self, self._flips(space), x)

    def _removed(self, universe: GraphUniverse, x: Code | None) -> Pairs:
        """Return the pairs where y is x without some nodes and their edges."""
        wholes = len(universe) if x is None else 1
        number = wholes * self._number_of_removals(universe)
        check_steps(number, universe, self)
        graphs = universe._all_masks() if x is None else np.array([x[1]])
        edges_at = {nodes: universe._edges_at(nodes) for nodes in self._removals(universe)}
        # What is left of many graphs is the same graph: the query is evaluated on it once.
        left: dict[Group, Codes] = {
            nodes: np.unique(graphs & ~edges) for nodes, edges in edges_at.items()
        }

        def blocks(size: int) -> Iterator[Block]:
            # The fewest removed nodes first, so that a witness differs in as few as can be.
            for nodes, edges in edges_at.items():
                for whole in in_parts(graphs, size):
                    yield Block((), whole, nodes, whole & ~edges)

        return Pairs({(): graphs, **left}, number, blocks)

    def _relates(self, witness: GraphWitness, space: GraphUniverse) -> bool:
        changed = witness.changed
        if self.change == "remove":
            gone = set(witness.removed)
            left = tuple(edge for edge in witness.x if not gone & set(edge))
            return 1 <= len(gone) <= self.k and left == witness.y
        if witness.removed or not changed:
            return False
        ends = {node for edge in changed for node in edge}
        return any(
            all(set(nodes) & set(edge) for edge in changed)
            for nodes in combinations(sorted(ends), min(self.k, len(ends)))
        )

    @property
    def family(self) -> str:
        """The relation without its distance, for tables."""
        return f"node neighbors, {self.change}"

    @property
    def _keeps_size(self) -> bool:
        return self.change == "replace"

    def _removals(self, universe: GraphUniverse) -> Iterator[tuple[int, ...]]:
        """Yield the nodes that can be removed together, the fewest first."""
        for number in range(1, self.k + 1):
            yield from combinations(range(universe.nodes), number)

    def _number_of_removals(self, universe: GraphUniverse) -> int:
        """How many `_removals` there are."""
        return sum(math.comb(universe.nodes, number) for number in range(1, self.k + 1))


def _flipped(
    universe: GraphUniverse, relation: SpaceRelation, flips: Masks, x: Code | None
) -> Pairs:
    """Return the pairs on the same nodes: y is x with the edges of a flip changed.

    Of a pair, x is the graph without the last edge of the flip, so that each pair comes up once.
    """
    if x is not None:
        return pairs_with(x, x[1] ^ flips)  # x is one of each of its pairs: none comes up twice
    half = len(universe) // 2
    check_steps(half * len(flips), universe, relation)

    def blocks(size: int) -> Iterator[Block]:
        for flip in flips.tolist():
            last = flip.bit_length() - 1
            for start in range(0, half, size):
                number = np.arange(start, min(start + size, half), dtype=np.int64)
                # The graphs without edge `last`: a zero is put in at its place.
                lower = (number >> last << last + 1) | (number & (1 << last) - 1)
                yield Block((), lower, (), lower ^ flip)

    return Pairs({(): universe._all_masks()}, half * len(flips), blocks)


def popcounts(masks: Masks, bits: int) -> Masks:
    """Return the number of set bits of each mask.

    Examples
    --------
    >>> popcounts(np.array([0, 5, 7]), 3).tolist()
    [0, 2, 3]
    """
    return np.asarray(sum((masks >> bit & 1 for bit in range(bits)), np.zeros_like(masks)))


def _fewest_first(masks: Masks, universe: GraphUniverse) -> Masks:
    """Sort masks by the number of their edges, so that a witness differs in as few as can be."""
    return masks[np.argsort(popcounts(masks, len(universe.edges)), kind="stable")]


def _check_some(most: int, what: str, universe: GraphUniverse) -> None:
    if not most:
        raise InputError(f"no {what}: {universe}; use more nodes or edges")
