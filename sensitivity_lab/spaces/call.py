"""The calls: a sensitivity over all neighbors of a space, of one dataset, and over distances.

One search over all pairs of neighbors, many at a time, serves every space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Norm,
    check_kind,
    check_norm,
    check_running,
    did_you_mean,
    one_or_several,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.vectors import powered
from sensitivity_lab.running import counter
from sensitivity_lab.search.pairs import Farthest
from sensitivity_lab.spaces.answers import Table, difference_of, evaluate
from sensitivity_lab.spaces.near import Places, in_parts
from sensitivity_lab.spaces.result import SpaceSensitivity
from sensitivity_lab.spaces.space import Space, SpaceWitness, Within, name_of

_BLOCK = 2**16
"""So many numbers of answers at a time, to keep what is compared in the processor's cache."""


def farthest_neighbors(
    space: Space,
    table: Table,
    places: Places,
    relation: Within,
    norm: Norm,
    progress: bool | None,
) -> Farthest:
    """Return the neighbors whose answers are farthest apart, by their numbers in the space.

    All pairs are compared, in integers, which rounds nothing.

    Parameters
    ----------
    space : Space
        The datasets.
    table : Table
        The answers on these.
    places : ndarray of int
        All datasets, or one, for its neighbors only.
    relation : Within
        Which are neighbors.
    norm : {"L1", "L2", "Linf"}
        The norm of the difference of vector answers.
    progress : bool, optional
        Whether to show how many datasets are done.

    Returns
    -------
    Farthest
        The first of tied pairs; if one dataset has no neighbors, it twice.
    """
    farthest = Farthest(x=int(places[0]), y=int(places[0]))
    size = max(1, _BLOCK // max(table.counts.shape[1], 1))
    with counter("datasets", progress, len(places)) as done:
        for number, xs, ys in space._near.around(places, relation.k):
            # Over all datasets, each pair comes both ways.
            once = np.flatnonzero(xs < ys) if len(places) > 1 else np.arange(len(xs))
            for part in in_parts(once, size):
                of_x, of_y = xs[part], ys[part]
                apart = table.counts[of_x] - table.counts[of_y]
                gaps = powered(apart, norm) if table.vector else np.abs(apart[:, 0])
                farthest.see(gaps, of_x, of_y)
            done(number)
    return farthest


QueryLike = str | Callable[[Any], Any]
"""The name of a query, or a function of a dataset."""

_SPACE = "a space: Space(...), graphs(...) or sequences(...)"


@public_call
def global_sensitivity(
    space: Space,
    query: QueryLike,
    *,
    neighbors: Within,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return the largest difference between a query's answers over all neighbors in a space.

    Parameters
    ----------
    space : Space
        The datasets x and y: a `Space`, or what `graphs` or `sequences` returns.
    query : str or callable
        The name of a query, or a function of a dataset.

        Of `graphs`: "edges", "triangles", "max_degree", or "degree_histogram" (how many nodes have
        the degrees 0 to n - 1). A function takes the edges of a graph, a tuple of pairs of nodes.

        Of `sequences`: "length", "sum", "distinct" (how many different values occur), "counts" (how
        often each of the values occurs, a vector), "changes" (how many entries differ from the one
        before), "path_length" (the sum of the absolute differences from the one before) or
        "longest_run" (the largest number of equal entries in a row). A function takes a tuple of
        values.

        A function returns a number or an array of one fixed length.
    neighbors : Within
        How far apart neighbors are at most: Within(1) is one step.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    SpaceSensitivity
        The value, and two datasets that attain it.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are neighbors.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on every dataset, and all pairs are compared in integers, which
    rounds nothing. The 32,768 graphs on six nodes have 245,760 pairs of edge neighbors
    and 2.8 million pairs of node neighbors.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> friends = spaces.graphs(5, "edge")
    >>> spaces.global_sensitivity(friends, "triangles", neighbors=spaces.Within(1)).value
    3.0

    A function, here of how many people have no friend:

    >>> def alone(graph):
    ...     return 5 - len({node for edge in graph for node in edge})
    >>> spaces.global_sensitivity(spaces.graphs(5, "node"), alone, neighbors=spaces.Within(1)).value
    5.0

    Events in the hours of a morning. One event is in one hour, and a person has at most three:

    >>> events = spaces.sequences(["8h", "9h", "10h"], 5, "insert_delete")
    >>> for k in (1, 3):
    ...     print(spaces.global_sensitivity(events, "counts", neighbors=spaces.Within(k)).value)
    1.0
    3.0
    """
    [found] = _sensitivities(space, query, [neighbors], norm, progress)
    return found


@public_call
def local_sensitivity(
    space: Space,
    query: QueryLike,
    *,
    dataset: Any,
    neighbors: Within,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> SpaceSensitivity:
    """Return how much a query's answer can change between one dataset and its neighbors.

    Parameters
    ----------
    space, query, neighbors, norm, progress
        As for `global_sensitivity`.
    dataset : sequence of (int, int), sequence of number or str, or one of the datasets
        The edges of a graph, in any order; the entries of a sequence, in order; or one of the
        datasets that the space lists.

    Returns
    -------
    SpaceSensitivity
        The value and the neighbor that attains it; the x of its witness is this dataset. If the
        dataset has no neighbor, the value is 0 and y is x.

    Raises
    ------
    InputError
        If an argument is invalid, or the space has no such dataset.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Examples
    --------
    A cycle of five nodes has no triangle, and one edge makes at most one:

    >>> from sensitivity_lab import spaces
    >>> cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    >>> one = spaces.Within(1)
    >>> friends = spaces.graphs(5, "edge")
    >>> found = spaces.local_sensitivity(friends, "triangles", dataset=cycle, neighbors=one)
    >>> found.value, found.witness.y
    (1.0, ((0, 1), (0, 2), (0, 4), (1, 2), (2, 3), (3, 4)))

    One entry splits the long run of a quiet week:

    >>> week = spaces.sequences([0, 1], 8, "insert_delete")
    >>> found = spaces.local_sensitivity(week, "longest_run", dataset=[0] * 7, neighbors=one)
    >>> found.value, found.witness.y
    (3.0, (0, 0, 0, 0, 1, 0, 0, 0))
    """
    [found] = _sensitivities(space, query, [neighbors], norm, progress, [dataset])
    return found


@public_call
def sensitivity_curve(
    space: Space,
    query: QueryLike,
    *,
    distances: Any,
    dataset: Any = None,
    norm: Norm = "L1",
    progress: bool | None = None,
) -> list[SpaceSensitivity]:
    """Return the sensitivities over the distance k of neighbors.

    Parameters
    ----------
    space, query, norm, progress
        As for `global_sensitivity`.
    distances : number, or sequence of number
        The distances k, such as ``range(1, 4)`` or, with a metric, ``space.distances``.
    dataset : optional
        A dataset, for its local sensitivities; by default they are global.

    Returns
    -------
    list of SpaceSensitivity
        One per distance, in the order in which they were asked for.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are so near.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    The query is evaluated once on each dataset, for all distances.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> curve = spaces.sensitivity_curve(spaces.graphs(5, "edge"), "triangles", distances=[1, 2, 3])
    >>> [result.value for result in curve]
    [3.0, 6.0, 8.0]
    """
    wrong = "distances must be one or several distances k, such as [1, 2, 3]"
    several = one_or_several(distances, wrong)
    if not several:
        raise InputError(f"{wrong}, got none")
    relations = list(map(Within, several))
    some = [] if dataset is None else [dataset]
    return _sensitivities(space, query, relations, norm, progress, some)


def _sensitivities(
    space: Any,
    query: Any,
    relations: Sequence[Any],
    norm: Any,
    progress: Any,
    some: Sequence[Any] = (),
) -> list[SpaceSensitivity]:
    check_kind("space", space, Space, _SPACE)
    _check_query(query, space)
    for relation in relations:
        check_kind("neighbors", relation, Within, "Within(...)")
        space._near.check(relation.k)
    check_norm(norm)
    check_running(None, progress)
    places = np.array([space._place(one, "dataset") for one in some] or range(len(space)))
    asked = places
    for relation in relations if some else ():
        for _, _, others in space._near.around(places, relation.k):
            asked = np.union1d(asked, others)
    table = evaluate(query, space, asked, progress)

    def result(relation: Within) -> SpaceSensitivity:
        found = farthest_neighbors(space, table, places, relation, norm, progress)
        answers = table.answer(found.x), table.answer(found.y)
        difference = difference_of(*answers, norm)
        exact = table.arithmetic == "exact"
        return SpaceSensitivity(
            value=difference.nearest(),
            exact=difference.exact if exact else None,
            upper=difference.upper() if exact else None,
            witness=SpaceWitness(space.datasets[found.x], space.datasets[found.y], *answers),
            arithmetic=table.arithmetic,
            datasets_evaluated=len(asked),
            pairs=found.pairs,
            query=query if isinstance(query, str) else name_of(query),
            space=space,
            neighbors=relation,
            norm=norm,
            kind="local" if some else "global",
            definition=query,
        )

    return list(map(result, relations))


def _check_query(query: Any, space: Space) -> None:
    """Raise InputError unless a query is a name of the space's, or a function."""
    if callable(query):
        return
    if isinstance(query, str) and query in space._queries:
        space._check_named(query)
        return
    names = ", ".join(map(repr, space._queries))
    accepted = f"one of {names}, or a" if names else "a"
    raise InputError(
        f"query must be {accepted} function of {space._takes}, got {shown(query)}"
        f"{did_you_mean(query, space._queries)}"
    )
