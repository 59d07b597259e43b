"""The calls: a sensitivity over all neighbors of a space, of one dataset, and over distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    check_choice,
    check_kind,
    check_running,
    did_you_mean,
    one_or_several,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.norms import Norm, check_norm

from . import graphs, sequences
from .answers import FunctionQuery, NamedQuery, SpaceQuery
from .closed_form import ClosedForm
from .graphs import known as of_graphs
from .graphs import queries as queries_of_graphs
from .listed import Space, Within
from .result import SpaceCurve, SpaceSensitivity
from .search import Found, furthest
from .sequences import known as of_sequences
from .sequences import queries as queries_of_sequences
from .space import Code, FiniteSpace, SpaceRelation

AnySpace = graphs.GraphUniverse | sequences.SequenceUniverse | Space
Neighbors = (
    graphs.EdgeNeighbors
    | graphs.NodeNeighbors
    | sequences.InsertDelete
    | sequences.Hamming
    | Within
)
QueryLike = str | Callable[[Any], Any]
"""The name of a query, or a function of a dataset."""


@dataclass(frozen=True)
class _Kind:
    """A kind of space: its queries and its neighbor relations."""

    space: type[FiniteSpace]
    relations: tuple[type[SpaceRelation], ...]
    queries: Mapping[str, NamedQuery]
    known: Callable[[str, Any, Any, Norm], ClosedForm | None]


_KINDS = (
    _Kind(
        graphs.GraphUniverse,
        (graphs.EdgeNeighbors, graphs.NodeNeighbors),
        queries_of_graphs.QUERIES,
        of_graphs.known,
    ),
    _Kind(
        sequences.SequenceUniverse,
        (sequences.InsertDelete, sequences.Hamming),
        queries_of_sequences.QUERIES,
        of_sequences.known,
    ),
    _Kind(Space, (Within,), {}, lambda *_: None),
)
"""Every kind of space; a new one is a row."""


@public_call
def global_sensitivity(
    universe: AnySpace,
    query: QueryLike,
    *,
    neighbors: Neighbors,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return the largest difference between a query's answers over all neighbors in a space.

    Parameters
    ----------
    universe : GraphUniverse, SequenceUniverse or Space
        The datasets x and y.
    query : str or callable
        The name of a query, or a function of a dataset.

        For graphs: "edges", "triangles", "max_degree", or "degree_histogram" (how many nodes have
        the degrees 0 to n - 1; n numbers, even if nodes are removed). A function takes an adjacency
        matrix, a boolean array of shape (n, n), or smaller if nodes are removed.

        For sequences: "length", "sum", "distinct" (how many different values occur), "counts" (how
        often each value of the universe occurs, a vector), "changes" (how many entries differ from
        the one before), "path_length" (the sum of the absolute differences from the one before) or
        "longest_run" (the largest number of equal entries in a row). A function takes a tuple of
        values.

        For a `Space`: a function of one of its datasets.

        A function returns a number or an array of one fixed length. It is called on at most 50,000
        datasets.
    neighbors : EdgeNeighbors, NodeNeighbors, InsertDelete, Hamming or Within
        The neighbor relation: `EdgeNeighbors` or `NodeNeighbors` for graphs, `InsertDelete` or
        `Hamming` for sequences, `Within` for a `Space`.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    SpaceSensitivity
        The value, two datasets that attain it, and the closed form, if one is known.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are neighbors.
    TooLargeError
        If there are more than ``2**31`` pairs to compare, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on every dataset, and all pairs are compared in blocks of arrays, in
    integers, without rounding. With m possible edges there are ``2**m`` graphs, and each pair is
    compared once: seven nodes have 2,097,152 graphs, 22 million pairs of edge neighbors and 440
    million pairs of node neighbors. With v values there are ``v**n`` sequences of n entries. An
    insertion makes ``(n + 1) v`` longer ones from each, and a pair is compared once for each edit
    that joins it.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs, sequences
    >>> universe = graphs.GraphUniverse(5)
    >>> found = spaces.global_sensitivity(universe, "triangles", neighbors=graphs.EdgeNeighbors())
    >>> found.value, found.known.formula
    (3.0, 'n - 2')

    A function, here of whether a graph is connected:

    >>> import numpy as np
    >>> def connected(adjacency):
    ...     n = len(adjacency)
    ...     return np.linalg.matrix_power(adjacency + np.eye(n, dtype=int), n).all()
    >>> spaces.global_sensitivity(universe, connected, neighbors=graphs.NodeNeighbors()).value
    1.0

    Events in the hours of a morning. One event is in one hour, and a person has at most three:

    >>> events = sequences.SequenceUniverse(["8h", "9h", "10h"], longest=5)
    >>> for k in (1, 3):
    ...     relation = sequences.InsertDelete(k)
    ...     print(spaces.global_sensitivity(events, "counts", neighbors=relation).value)
    1.0
    3.0
    """
    [found] = _sensitivities(universe, query, [neighbors], norm, progress)
    return found


@public_call
def local_sensitivity(
    universe: AnySpace,
    query: QueryLike,
    *,
    dataset: Any,
    neighbors: Neighbors,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return how much a query's answer can change between one dataset and its neighbors.

    Parameters
    ----------
    universe, query, neighbors, norm, progress
        As for `global_sensitivity`. Under ``NodeNeighbors(change="remove")``, the neighbors are the
        dataset without some nodes.
    dataset : sequence of (int, int), sequence of number or str, or a dataset of a `Space`
        The edges of a graph, in any order; the entries of a sequence, in order; or one of the
        datasets that the space lists.

    Returns
    -------
    SpaceSensitivity
        The value and the neighbor that attains it; the x of its witness is this dataset. If the
        dataset has no neighbor, such as the empty sequence under `Hamming`, the value is 0 and y is
        x.

    Raises
    ------
    InputError
        If an argument is invalid, or the universe has no such dataset.
    TooLargeError
        If there are too many neighbors, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Examples
    --------
    A cycle of five nodes has no triangle, and one edge makes at most one:

    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs, sequences
    >>> cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    >>> found = spaces.local_sensitivity(
    ...     graphs.GraphUniverse(5), "triangles", dataset=cycle, neighbors=graphs.EdgeNeighbors()
    ... )
    >>> found.value, found.witness.changed
    (1.0, ((0, 2),))

    One entry splits the long run of a quiet week:

    >>> week = sequences.SequenceUniverse([0, 1], longest=8)
    >>> found = spaces.local_sensitivity(
    ...     week, "longest_run", dataset=[0] * 7, neighbors=sequences.InsertDelete()
    ... )
    >>> found.value, found.witness.y
    (3.0, (0, 0, 0, 1, 0, 0, 0, 0))
    """
    _kind_of(universe)
    [found] = _sensitivities(
        universe, query, [neighbors], norm, progress, universe._code(dataset, "dataset")
    )
    return found


@public_call
def sensitivity_curve(
    universe: AnySpace,
    query: QueryLike,
    *,
    distances: Any,
    neighbors: Neighbors,
    dataset: Any = None,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceCurve:
    """Return the sensitivities over the distance k of neighbors.

    Parameters
    ----------
    universe, query, norm, progress
        As for `global_sensitivity`.
    distances : number, or sequence of number
        The distances k, such as ``range(1, 4)`` or, for a `Space`, ``space.distances``.
    neighbors : EdgeNeighbors, NodeNeighbors, InsertDelete, Hamming or Within
        The relation; `distances` replaces its k.
    dataset : optional
        A dataset, for its local sensitivities; by default they are global.

    Returns
    -------
    SpaceCurve
        A `SpaceSensitivity` per distance; it has a table and a plot.

    Raises
    ------
    InputError
        If an argument is invalid, or no datasets are so far apart.
    TooLargeError
        If there are too many pairs, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on each dataset, for all distances.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs
    >>> curve = spaces.sensitivity_curve(
    ...     graphs.GraphUniverse(5),
    ...     "triangles",
    ...     distances=[1, 2, 3],
    ...     neighbors=graphs.EdgeNeighbors(),
    ... )
    >>> [result.value for result in curve.results]
    [3.0, 6.0, 8.0]
    """
    _kind_of(universe)
    wrong = "distances must be one or several distances k, such as [1, 2, 3]"
    several = one_or_several(distances, wrong)
    if not several:
        raise InputError(f"{wrong}, got none")
    _check_neighbors(universe, neighbors)
    relations = [neighbors.at(k) for k in several]
    x = None if dataset is None else universe._code(dataset, "dataset")
    found = _sensitivities(universe, query, relations, norm, progress, x)
    return SpaceCurve(tuple(found))


@public_call
def known_sensitivity(
    universe: graphs.GraphUniverse | sequences.SequenceUniverse,
    query: str,
    *,
    neighbors: Neighbors,
    norm: Norm = "L1",
) -> ClosedForm | None:
    r"""Return the global sensitivity over a space as a formula, if one is known.

    Parameters
    ----------
    universe : GraphUniverse or SequenceUniverse
        All graphs on n nodes, or all sequences of 0 to L entries over v values; n and L are not
        limited.
    query : str
        The name of a query, as for `global_sensitivity`.
    neighbors : EdgeNeighbors, NodeNeighbors, InsertDelete or Hamming
        The neighbor relation.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers.

    Returns
    -------
    ClosedForm or None
        None where no formula is proved here: for subgraphs; for triangles and the degree histogram
        under several edges, and its L2 norm if the edges of several nodes are replaced; for the
        longest run under several edits; and if k is above L or `shortest` is above 0.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are neighbors.

    Notes
    -----
    C(n, r) is the number of sets of r out of n. The pair named for each bound attains it.

    Graphs with at most k edges added or removed:

    - edges: k. Each changes the count by one. From no edge to k.
    - maximum degree: min(k, n - 1). An edge changes a degree by at most one, and degrees lie in
      0 to n - 1. From no edge to a star of min(k, n - 1) edges.
    - triangles, k = 1: n - 2. Those with the edge {u, v} have one of n - 2 third nodes. The
      complete graph loses that many with any edge.
    - degree histogram, k = 1: 4, sqrt(8) and 2 in L1, L2 and Linf. Each end of the edge leaves one
      entry for the next, which is 2, sqrt(2) and 1; two ends, at most twice that. From no edge to
      one both ends move from degree 0 to degree 1.

    Graphs with at most k nodes replaced or removed; let S be their set:

    - edges: C(n, 2) - C(n - k, 2). That many pairs have an end in S, and no other edges differ.
      From no edge, or from the graph that is left, to all of them. For k = 1: n - 1.
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

    In sequences, an edit is one insertion, one deletion or one replacement; k of them move an
    answer by at most k times as far. M is the largest absolute value, R the largest less the
    smallest value; with v = 1, changes and path length are 0.

    Sequences with at most k entries inserted or deleted:

    - length: k. From no entry to k.
    - sum: k M. From no entry to k times the value of absolute value M.
    - distinct: min(k, v). One more entry is at most one more value, of v. From no entry to
      different ones.
    - counts: k in all norms. From no entry to k equal ones.
    - changes: min(2 k, L - 1). A new entry between two has a change at either side, and L entries
      have at most L - 1 changes. From equal entries to ones with every other entry different.
    - path length: min(2 k, L - 1) R, the same pair with the values that are R apart. Each step is
      at most R, and a detour is two steps.
    - longest run, k = 1: max(1, floor((L - 1) / 2)); 1 for v = 1. An entry makes a run longer by at
      most one. It splits a run of at most L - 1 into two; the longer one has at least half the
      entries.

    Sequences with at most k entries replaced:

    - length: 0.
    - sum: k R. From k times the smallest value to k times the largest one.
    - distinct: min(k, v - 1, L - 1). There are at least 1 and at most min(v, L) values. From equal
      entries to different ones.
    - counts: 2 k in L1, sqrt(2) k in L2, k in Linf, since k entries leave a value for another one;
      0 for v = 1.
    - changes: min(2 k, L - 1); path length: min(2 k, L - 1) R. As above.
    - longest run, k = 1: ceil(L / 2); 0 for v = 1 or L = 1. Replacing an entry of a run of r <= L
      leaves r - 1 entries at its two sides, so at least ceil((r - 1) / 2) at one of them.

    References
    ----------
    Hay, Li, Miklau, Jensen: Accurate Estimation of the Degree Distribution of Private Networks.
    ICDM 2009. Kasiviswanathan, Nissim, Raskhodnikova, Smith: Analyzing Graphs with Node
    Differential Privacy. TCC 2013.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs, sequences
    >>> universe = graphs.GraphUniverse(100)
    >>> print(spaces.known_sensitivity(universe, "edges", neighbors=graphs.NodeNeighbors()))
    C(n, 2) - C(n - k, 2) = 99
    >>> kilometers = sequences.SequenceUniverse([0, 3, 10], longest=6)
    >>> one = sequences.InsertDelete()
    >>> print(spaces.known_sensitivity(kilometers, "path_length", neighbors=one))
    min(2 k, L - 1) R = 20
    """
    kind = _kind_of(universe, [kind for kind in _KINDS if kind.queries])
    check_choice("query", query, tuple(kind.queries))
    _check_neighbors(universe, neighbors)
    check_norm(norm)
    relation: SpaceRelation = neighbors
    relation._check(universe)
    return kind.known(query, universe, neighbors, norm)


def _sensitivities(
    universe: Any,
    query: Any,
    relations: Sequence[Any],
    norm: Any,
    progress: Any,
    x: Code | None = None,
) -> list[SpaceSensitivity]:
    kind = _kind_of(universe)
    definition = _as_query(query, kind)
    for relation in relations:
        _check_neighbors(universe, relation)
    check_norm(norm)
    check_running(None, progress)
    several = furthest(universe, definition, relations, norm, x, progress)

    def result(relation: SpaceRelation, found: Found) -> SpaceSensitivity:
        exact = found.arithmetic == "exact"
        known = None
        if isinstance(definition, NamedQuery) and x is None:
            known = kind.known(definition.name, universe, relation, norm)
        return SpaceSensitivity(
            value=found.difference.nearest(),
            exact=found.difference.exact if exact else None,
            upper=found.difference.upper() if exact else None,
            witness=universe._witness(found.x, found.y, (found.query_x, found.query_y), relation),
            known=known,
            arithmetic=found.arithmetic,
            datasets_evaluated=found.datasets,
            pairs=found.pairs,
            query=definition.name,
            universe=universe,
            neighbors=relation,
            norm=norm,
            kind="global" if x is None else "local",
            definition=definition,
        )

    return [result(*both) for both in zip(relations, several, strict=True)]


def _kind_of(universe: Any, kinds: Sequence[_Kind] = _KINDS) -> _Kind:
    """Return what can be asked of a space, or raise InputError."""
    for kind in kinds:
        if isinstance(universe, kind.space):
            return kind
    names = [kind.space.__name__ for kind in kinds]
    accepted = f"{', a '.join(names[:-1])} or a {names[-1]}"
    raise InputError(f"universe must be a {accepted}, got {shown(universe)}")


def _check_neighbors(universe: Any, neighbors: Any) -> None:
    relations = _kind_of(universe).relations
    accepted = " or ".join(f"{relation.__name__}(...)" for relation in relations)
    check_kind("neighbors", neighbors, relations, accepted)


def _as_query(query: Any, kind: _Kind) -> SpaceQuery:
    """Return the query of a name, or a caller's function, or raise InputError."""
    if isinstance(query, str) and query in kind.queries:
        return kind.queries[query]
    if callable(query):
        return FunctionQuery(query, tuple(kind.queries))
    names = ", ".join(map(repr, kind.queries))
    accepted = f"one of {names}, or a" if names else "a"
    raise InputError(
        f"query must be {accepted} function of {kind.space._takes}, got {shown(query)}"
        f"{did_you_mean(query, kind.queries)}"
    )
