"""Every dataset with every neighbor: local and global sensitivity are maxima over these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import Norm, check_norm, check_whole
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Problem, check_sizes, check_witnesses
from sensitivity_lab.queries import Answer, Query, as_query
from sensitivity_lab.results.neighbor_table_result import CHANGES, NeighborRow, NeighborTable
from sensitivity_lab.results.reprs import show_sizes
from sensitivity_lab.results.witness import ExactAnswer, answer_of, difference_of
from sensitivity_lab.search.asked_again import check_again, spread
from sensitivity_lab.search.engine import Run
from sensitivity_lab.universes.datasets import (
    count_datasets,
    datasets,
    inside_and_outside,
    iter_neighbors,
    number_of_neighbors,
)
from sensitivity_lab.universes.relations import (
    Dataset,
    Multiplicities,
    Relation,
    RemovedAdded,
    as_relation,
    multiplicities_of,
    show,
)
from sensitivity_lab.universes.universe import FiniteUniverse, check_universe

_ROW_LIMIT = 5_000


@public_call
def neighbor_table(
    universe: FiniteUniverse,
    query: Any,
    *,
    size: Any,
    neighbors: Any,
    norm: str = "L1",
    row_limit: int = _ROW_LIMIT,
) -> NeighborTable:
    """List every dataset x of a size, every neighbor y of x, and the change of a query's answer.

    The largest change among the neighbors of one x is the local sensitivity of x, and the largest
    of all is the global sensitivity; the rows that attain them are marked.

    Parameters
    ----------
    universe : Universe
        The records that datasets are drawn from; few of them.
    query : str, Query or callable
        As in `global_sensitivity`.
    size : int or iterable of int
        The number n of records of x, or several numbers.
    neighbors, norm
        See `global_sensitivity`.
    row_limit : int, default 5000
        The largest number of rows; a larger table raises TooLargeError.

    Returns
    -------
    NeighborTable
        ``to_frame()`` is a tidy DataFrame with a row per x and y, and ``value`` is the global
        sensitivity. A notebook shows the table in color.

    Raises
    ------
    InputError
        If an argument is invalid or the distance is not feasible.
    TooLargeError
        If the table would have more rows than `row_limit`; the message counts datasets and
        neighbors.
    QueryError
        If a caller's function raises or returns no finite number; the message names the dataset.

    Notes
    -----
    The rows are counted before any is listed. The query is evaluated once per distinct dataset, in
    rational arithmetic if the query is exact, and differences are compared without rounding.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10, 11])
    >>> table = sl.neighbor_table(universe, "median", size=3, neighbors=sl.Unbounded(1))
    >>> table.value, len(table)
    (4.5, 50)
    >>> table.to_frame().query("`global`")[["x", "change", "removed", "y", "difference"]]
                  x   change removed        y  difference
    10   (1, 2, 11)  removed    (1,)  (2, 11)         4.5
    27  (1, 10, 11)  removed   (11,)  (1, 10)         4.5
    """
    universe = check_universe(universe)
    sizes = check_sizes(size, universe)
    relation = as_relation(neighbors)
    in_norm = check_norm(norm)
    asked = as_query(query)
    Problem(universe, (asked,), (relation,), sizes, in_norm).checked()
    of_size = {one: tuple(relation.some_changes(one, universe, asked.least_size)) for one in sizes}
    some = {one: changes for one, changes in of_size.items() if changes}
    _check_rows(universe, some, relation, row_limit)
    answers = _Answers(asked, universe)
    try:
        blocks = [
            list(_neighbors_of(x, answers, changes, in_norm))
            for one, changes in some.items()
            for x in datasets(universe, one)
        ]
    except InputError as error:
        raise InputError(f"{asked.name}, {relation}: {error}") from error
    answers.check_again()
    largest_of = [max(difference for _, difference in block) for block in blocks]
    largest = max(largest_of)
    rows = tuple(
        replace(row, local=difference == local, attains_global=difference == largest)
        for block, local in zip(blocks, largest_of, strict=True)
        for row, difference in block
    )
    asked_size = sizes[0] if len(sizes) == 1 else sizes
    return NeighborTable(rows, asked, relation, asked_size, universe, in_norm)


def _check_rows(
    universe: FiniteUniverse,
    some: dict[int, tuple[RemovedAdded, ...]],
    relation: Relation,
    row_limit: Any,
) -> None:
    """Count the rows, and raise TooLargeError as soon as there are too many."""
    limit = check_whole("row_limit", row_limit, "a number of rows, at least 1")
    sizes = tuple(some)
    check_witnesses(sizes, 1, Run.memory_limit)

    def neighbors(x: Dataset) -> int:
        changes = some[len(x)]
        of_x = inside_and_outside(multiplicities_of(x, universe), universe, changes)
        return number_of_neighbors(*of_x, changes)[0]

    number = sum(count_datasets(universe, size) for size in sizes)
    first = next(datasets(universe, sizes[0]))
    # Every x has a neighbor, so that beyond the limit no x needs to be listed.
    rows = number
    if number <= limit:
        rows = 0
        for x in chain.from_iterable(datasets(universe, size) for size in sizes):
            rows += neighbors(x)
            if rows > limit:
                break
    if rows > limit:
        raise TooLargeError(
            f"the table would have more than {limit:,} rows: {number:,} datasets x "
            f"(size {show_sizes(sizes)}; {universe.extent}), and the first, {show(first)}, alone "
            f"has {neighbors(first):,} neighbors ({relation}); choose a "
            "smaller universe, size or k, or a larger row_limit, or ask global_sensitivity for "
            "the largest change alone"
        )


class _Answers:
    """The answers of a query on datasets, each computed once."""

    def __init__(self, query: Query, universe: FiniteUniverse) -> None:
        self.query = query
        self.universe = universe
        self._known: dict[bytes, tuple[Answer, ExactAnswer]] = {}

    def on(self, data: Multiplicities) -> tuple[Answer, ExactAnswer]:
        """Return the answer in floats, and as what differences are measured between."""
        key = data.tobytes()
        if key not in self._known:
            self._known[key] = answer_of(self.query, self.universe, data)
        return self._known[key]

    def check_again(self) -> None:
        """Raise QueryError if the query answers a dataset in two ways."""
        known = [
            (np.frombuffer(key, dtype=np.int64), exact) for key, (_, exact) in self._known.items()
        ]
        check_again(self.query, self.universe, [known[place] for place in spread(len(known))])


def _neighbors_of(
    x: Dataset, answers: _Answers, changes: tuple[RemovedAdded, ...], norm: Norm
) -> Iterator[tuple[NeighborRow, Difference]]:
    """Yield a row per neighbor of x, not marked yet, with its difference; sorted by change."""
    universe, query = answers.universe, answers.query
    of_x = multiplicities_of(x, universe)
    query_x, exact_x = answers.on(of_x)
    found = []
    for of_y in iter_neighbors(of_x, universe, changes):
        y = universe.dataset(of_y)
        removed = universe.dataset(np.maximum(of_x - of_y, 0))
        added = universe.dataset(np.maximum(of_y - of_x, 0))
        query_y, exact_y = answers.on(of_y)
        difference = difference_of(exact_x, exact_y, norm, query.root)
        row = NeighborRow(
            x=x,
            query_x=query_x,
            change="replaced" if bool(removed) == bool(added) else CHANGES[bool(added)],
            removed=removed,
            added=added,
            y=y,
            query_y=query_y,
            difference=difference.nearest(),
            exact=difference.exact if query.arithmetic == "exact" else None,
            upper=difference.upper() if query.arithmetic == "exact" else None,
        )
        found.append((row, difference))
    yield from sorted(found, key=lambda pair: CHANGES.index(pair[0].change))
