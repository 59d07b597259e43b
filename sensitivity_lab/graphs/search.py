"""The search over all pairs of neighboring graphs, many pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference, root_difference
from sensitivity_lab.metrics.norms import POWERS, Norm, powered

from .queries import Counts, GraphFunction, GraphQuery, Removed, Tables, evaluate
from .relations import GraphRelation, NodeNeighbors
from .universe import GraphUniverse, Masks

MOST_PAIRS = 2**31
"""Of more pairs of neighbors, the answers are not compared."""

_BLOCK = 2**16
"""So many pairs at a time, to keep what is compared in the processor's cache."""

Number = int | float | Fraction
Answer = Number | tuple[Number, ...]
"""What a query answers on one graph."""


@dataclass(frozen=True)
class Found:
    """The neighbors whose answers are furthest apart.

    Attributes
    ----------
    x, y : int
        The graphs as masks; y is without the edges at `removed`.
    removed : tuple of int
        The nodes that y does not have.
    query_x, query_y : number or tuple of numbers
    difference : Difference
        How far these are apart, exactly.
    arithmetic : {"exact", "float"}
    vector : bool
        Whether the answers are vectors.
    graphs, pairs : int
        How many graphs the query was evaluated on, and how many pairs were compared.
    """

    x: int
    y: int
    removed: Removed
    query_x: Answer
    query_y: Answer
    difference: Difference
    arithmetic: Literal["exact", "float"]
    vector: bool
    graphs: int
    pairs: int


@dataclass(frozen=True)
class _Pairs:
    """A block of neighbors: masks of shape (pairs,), or one for all, and answers beside them."""

    x: Masks
    y: Masks
    removed: Removed
    of_x: Counts
    of_y: Counts


def furthest(
    universe: GraphUniverse,
    query: GraphQuery | GraphFunction,
    relation: GraphRelation,
    norm: Norm,
    x: int | None = None,
) -> Found:
    """Return the neighbors whose answers are furthest apart; of several, the first ones.

    Parameters
    ----------
    universe : GraphUniverse
        The graphs.
    query : GraphQuery or GraphFunction
        What is asked of them.
    relation : EdgeNeighbors or NodeNeighbors
        Which of them are neighbors.
    norm : {"L1", "L2", "Linf"}
        Of the difference of answers that are vectors.
    x : int, optional
        One graph, for its neighbors only; by default all.

    Raises
    ------
    InputError
        If no two graphs are neighbors.
    TooLargeError
        If there are too many pairs or a function would be called too often.
    QueryError
        If a function fails.

    Notes
    -----
    All pairs are compared: ``graphs * differences / 2``, where a difference is a set of edges that
    neighbors can differ in, or ``graphs * sets of nodes`` where nodes are removed. Comparing
    integers, it rounds nothing.
    """
    relation._check(universe)
    if isinstance(relation, NodeNeighbors) and relation.change == "remove":
        tables, blocks = _removing(universe, query, relation, x)
    else:
        tables, blocks = _flipping(universe, query, relation, x)
    of_numbers: Norm = norm if tables.vector else "L1"
    best, pairs, first = -1, 0, None
    for block in blocks:
        gaps = _gaps(block, of_numbers, tables.vector)
        pairs += len(gaps)
        place = int(np.argmax(gaps))
        if gaps[place] > best:
            best = int(gaps[place])
            first = block, place
    # A relation that was checked has pairs.
    block, place = first  # type: ignore[misc]
    square = Fraction(best, tables.denominator ** POWERS[of_numbers])
    return Found(
        x=int(_at(block.x, place)),
        y=int(_at(block.y, place)),
        removed=block.removed,
        query_x=answer_of(_at(block.of_x, place), tables),
        query_y=answer_of(_at(block.of_y, place), tables),
        difference=distance_of(square, of_numbers),
        arithmetic=tables.arithmetic,
        vector=tables.vector,
        graphs=sum(map(len, tables.counts)),
        pairs=pairs,
    )


def difference_of(query_x: Answer, query_y: Answer, norm: Norm) -> Difference:
    """Return how far two answers are apart, exactly.

    Examples
    --------
    >>> difference_of((4, 0), (2, 2), "L1").nearest(), difference_of(3, 1, "L2").nearest()
    (4.0, 2.0)
    """
    vector = isinstance(query_x, tuple)
    first, second = (
        [Fraction(one) for one in (answer if isinstance(answer, tuple) else (answer,))]
        for answer in (query_x, query_y)
    )
    apart = np.array([one - other for one, other in zip(first, second, strict=True)], dtype=object)
    used: Norm = norm if vector else "L1"
    return distance_of(Fraction(powered(apart, used).item()), used)


def distance_of(power: Fraction, norm: Norm) -> Difference:
    """Return a norm from what `powered` gives: for L2, the root of it."""
    return root_difference(power) if POWERS[norm] == 2 else Difference(power, Fraction(0))


def _flipping(
    universe: GraphUniverse,
    query: GraphQuery | GraphFunction,
    relation: GraphRelation,
    x: int | None,
) -> tuple[Tables, Iterator[_Pairs]]:
    """Return the answers, and the pairs on the same nodes: y is x with the edges of a flip changed.

    Of a pair, x is the graph without the last edge of the flip, so that each pair comes up once.
    """
    flips = relation._flips(universe)
    if x is not None:
        others = x ^ flips
        tables = evaluate(query, universe, [(np.array([x]), ()), (others, ())])
        return tables, iter([_Pairs(np.array([x]), others, (), *tables.counts)])
    half = len(universe) // 2
    _check_pairs(half * len(flips), universe, relation)
    tables = evaluate(query, universe, [(universe._all_masks(), ())])
    [answers] = tables.counts

    def blocks() -> Iterator[_Pairs]:
        for flip in flips.tolist():
            last = flip.bit_length() - 1
            for start in range(0, half, _BLOCK):
                number = np.arange(start, min(start + _BLOCK, half), dtype=np.int64)
                # The graphs without edge `last`: a zero is put in at its place.
                lower = (number >> last << last + 1) | (number & (1 << last) - 1)
                other = lower ^ flip
                yield _Pairs(lower, other, (), answers[lower], answers[other])

    return tables, blocks()


def _removing(
    universe: GraphUniverse,
    query: GraphQuery | GraphFunction,
    relation: NodeNeighbors,
    x: int | None,
) -> tuple[Tables, Iterator[_Pairs]]:
    """Return the answers, and the pairs of which y is x without some nodes and their edges."""
    graphs = universe._all_masks() if x is None else np.array([x])
    _check_pairs(len(graphs) * relation._number_of_removals(universe), universe, relation)
    removals = [(nodes, universe._edges_at(nodes)) for nodes in relation._removals(universe)]
    # What is left of many graphs is the same graph: the query is evaluated on it once.
    left = [np.unique(graphs & ~edges) for _, edges in removals]
    jobs: list[tuple[Masks, Removed]] = [(graphs, ())]
    jobs += [(masks, nodes) for masks, (nodes, _) in zip(left, removals, strict=True)]
    tables = evaluate(query, universe, jobs)
    of_graphs, *of_left = tables.counts

    def blocks() -> Iterator[_Pairs]:
        for (nodes, edges), masks, answers in zip(removals, left, of_left, strict=True):
            for start in range(0, len(graphs), _BLOCK):
                whole = graphs[start : start + _BLOCK]
                rest = whole & ~edges
                of_rest = answers[np.searchsorted(masks, rest)]
                yield _Pairs(whole, rest, nodes, of_graphs[start : start + _BLOCK], of_rest)

    return tables, blocks()


def _check_pairs(pairs: int, universe: GraphUniverse, relation: GraphRelation) -> None:
    if pairs > MOST_PAIRS:
        raise TooLargeError(
            f"{universe} have {pairs:,} pairs of neighbors ({relation}); the limit is "
            f"{MOST_PAIRS:,}. Use fewer nodes or edges, or a smaller k"
        )


def _gaps(block: _Pairs, norm: Norm, vector: bool) -> Counts:
    """How far the answers of each pair are apart, squared for L2; shape (pairs,)."""
    apart = block.of_x - block.of_y
    return powered(apart, norm) if vector else np.abs(apart[:, 0])


def _at(values: Any, place: int) -> Any:
    """Return the entry of a pair, from a single one that all pairs share or from one each."""
    return values[0] if len(values) == 1 else values[place]


def answer_of(row: Counts, tables: Tables) -> Answer:
    """Return a query's answer as it was given: a number, or a tuple of them."""
    exact = [Fraction(int(one), tables.denominator) for one in row]
    given: list[Number] = [one.numerator if one.denominator == 1 else one for one in exact]
    if tables.arithmetic == "float":
        given = [float(one) for one in exact]
    return tuple(given) if tables.vector else given[0]
