"""The definition of sensitivity for tables and vector answers, in plain Python.

A record is any hashable object: here, a row of a table as the tuple of its values, None where a
value is missing. A universe is a list of records, each as often as it is there: equal records at
two positions are two records. A dataset is a tuple of records in the order in which the universe
names them first. A query is a function of a tuple of records that returns a number or a tuple of
numbers; ValueError where it is undefined. Fractions make it exact; floats count as the rational
numbers that they are.

The neighbor relations are those of `oracle`, which lists the pairs of datasets; records come to it
as their positions. Three norms measure the difference of two answers, all three at once:

    "L1"    the sum of the absolute differences
    "L2"    the root of the sum of their squares; told as the sum itself, which is rational
    "Linf"  the largest absolute difference

For a single number L1 and Linf are the absolute difference, and L2 is told as its square.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

import oracle

Record = Hashable
Dataset = tuple[Any, ...]
Pair = tuple[Dataset, Dataset]
Answer = Fraction | tuple[Fraction, ...]
Query = Callable[[Dataset], Any]

NORMS = ("L1", "L2", "Linf")


# Queries


def count(rows: Dataset) -> Fraction:
    """Number of records."""
    return Fraction(len(rows))


def count_if(holds: Callable[[Any], bool]) -> Query:
    """Number of records for which a predicate holds.

    >>> count_if(lambda row: row[0] is None)([(None,), (2,), (None,)])
    Fraction(2, 1)
    """
    return lambda rows: Fraction(sum(1 for row in rows if holds(row)))


def present(rows: Iterable[Any], column: int) -> list[Fraction]:
    """The values of a column that are not missing.

    >>> present([(1,), (None,), (0.5,)], 0)
    [Fraction(1, 1), Fraction(1, 2)]
    """
    return [Fraction(row[column]) for row in rows if row[column] is not None]


def total(column: int, clip: tuple[Any, Any] | None = None) -> Query:
    """Sum of a column; clipping comes first, and a missing value adds nothing.

    >>> total(0, clip=(1, 3))([(0,), (5,), (None,)])
    Fraction(4, 1)
    """

    def query(rows: Dataset) -> Fraction:
        values = present(rows, column)
        if clip is not None:
            low, high = map(Fraction, clip)
            values = [min(max(value, low), high) for value in values]
        return sum(values, Fraction(0))

    return query


def mean(column: int, empty: Any = None) -> Query:
    """Mean of the values that are not missing; `empty` if there is none.

    >>> mean(0)([(1,), (None,), (2,)])
    Fraction(3, 2)
    >>> mean(0, empty=7)([(None,)])
    Fraction(7, 1)
    """

    def query(rows: Dataset) -> Fraction:
        values = present(rows, column)
        if values:
            return sum(values, Fraction(0)) / len(values)
        if empty is None:
            raise ValueError("the mean of no value is undefined")
        return Fraction(empty)

    return query


def count_distinct(column: int | None) -> Query:
    """Number of distinct rows, or of distinct values of a column; a missing value is one, too.

    >>> count_distinct(None)([(1, 2), (1, 3)]), count_distinct(0)([(1, 2), (1, 3)])
    (Fraction(2, 1), Fraction(1, 1))
    """
    return lambda rows: Fraction(len({row if column is None else row[column] for row in rows}))


def covariance(first: int, second: int, ddof: int = 0) -> Query:
    """Covariance of two columns over the records in which both are present.

    Over all n * n pairs of records, (a - a') (b - b') adds up to 2 n times the sum of the products
    of the deviations from the means.

    >>> covariance(0, 1)([(0, 0), (1, 2), (None, 9)])
    Fraction(1, 2)
    >>> covariance(0, 1, ddof=1)([(0, 0), (1, 2)])
    Fraction(1, 1)
    """

    def query(rows: Dataset) -> Fraction:
        both = [
            (Fraction(row[first]), Fraction(row[second]))
            for row in rows
            if row[first] is not None and row[second] is not None
        ]
        n = len(both)
        if n <= ddof:
            raise ValueError(f"a covariance with ddof={ddof} is undefined on {n} records")
        products = sum(((a - c) * (b - d) for a, b in both for c, d in both), Fraction(0))
        return products / (2 * n * (n - ddof))

    query.least = floor(ddof) + 1  # fewer records have no covariance, whatever they are
    return query


def histogram_of_categories(column: int, categories: Sequence[Any]) -> Query:
    """Number of records of each category; others are not counted, missing ones only if asked for.

    >>> histogram_of_categories(0, ["a", None])([("a",), (None,), ("b",), ("a",)])
    (Fraction(2, 1), Fraction(1, 1))
    """
    return stack(*(count_if(lambda row, one=one: row[column] == one) for one in categories))


def histogram_of_bins(column: int, edges: Sequence[Any]) -> Query:
    """Number of records from an edge to below the next; the last bin has its upper edge, too.

    >>> histogram_of_bins(0, [0, 1, 2])([(0,), (1,), (2,), (2.5,), (None,)])
    (Fraction(1, 1), Fraction(2, 1))
    """
    bounds = [Fraction(edge) for edge in edges]

    def inside(value: Fraction, low: Fraction, high: Fraction) -> bool:
        return low <= value < high or value == high == bounds[-1]

    def query(rows: Dataset) -> tuple[Fraction, ...]:
        values = present(rows, column)
        return tuple(
            Fraction(sum(1 for value in values if inside(value, low, high)))
            for low, high in pairwise(bounds)
        )

    return query


def group_by(column: int, query: Query, groups: Sequence[Any]) -> Query:
    """The query's answers on the records of each group, in a row; other records are left out.

    >>> group_by(0, total(1), ["a", "b", "c"])([("a", 1), ("b", 2), ("a", 3), ("z", 9)])
    (Fraction(4, 1), Fraction(2, 1), Fraction(0, 1))
    """
    return stack(
        *(
            lambda rows, group=group: query(tuple(row for row in rows if row[column] == group))
            for group in groups
        )
    )


def stack(*queries: Query) -> Query:
    """The answers of several queries, in a row.

    >>> stack(count, histogram_of_categories(0, [1, 2]))([(1,), (1,)])
    (Fraction(2, 1), Fraction(2, 1), Fraction(0, 1))
    """
    return lambda rows: tuple(number for query in queries for number in vector(query(rows)))


# Neighbors


def names(universe: Iterable[Record]) -> dict[Record, int]:
    """Position of each distinct record, in the order of first appearance."""
    return {record: i for i, record in enumerate(dict.fromkeys(universe))}


def datasets(universe: Sequence[Record], n: int) -> set[Dataset]:
    """All distinct datasets of n records.

    >>> sorted(datasets(["b", "a", "b"], 2))
    [('b', 'a'), ('b', 'b')]
    """
    position = names(universe)
    return set(_told(position, oracle.datasets([position[record] for record in universe], n)))


def neighbors(
    universe: Sequence[Record], x: Iterable[Record], *relation: Any, **options: Any
) -> Iterator[Dataset]:
    """Iterate over the distinct neighbors of a dataset x; for the relations see `oracle`.

    >>> list(neighbors([("a", 1), ("b", None)], [("b", None)], "bounded", 1))
    [(('a', 1),)]
    """
    position = names(universe)
    labels = ([position[record] for record in records] for records in (universe, x))
    return _told(position, oracle.neighbors(*labels, *relation, **options))


def _told(position: dict[Record, int], labeled: Iterable[Any]) -> Iterator[Dataset]:
    """Datasets of positions as datasets of records."""
    records = list(position)
    return (tuple(records[i] for i in one) for one in labeled)


def pairs(universe: Sequence[Record], n: int, *relation: Any, **options: Any) -> Iterator[Pair]:
    """Iterate over the distinct pairs (x, y) with x of n records and y one of its neighbors.

    >>> list(pairs(["b", None], 1, "unbounded", 1))
    [(('b',), ()), (('b',), ('b', None)), ((None,), ()), ((None,), ('b', None))]
    """
    position = names(universe)
    labels = [position[record] for record in universe]
    for x, y in oracle.pairs(labels, n, *relation, **options):
        yield tuple(_told(position, (x, y)))


# Sensitivities


def vector(answer: Any) -> tuple[Fraction, ...]:
    """An answer's numbers, as rationals.

    >>> vector(0.5), vector((1, 2))
    ((Fraction(1, 2),), (Fraction(1, 1), Fraction(2, 1)))
    """
    return tuple(map(Fraction, answer if isinstance(answer, tuple | list) else (answer,)))


def distances(first: Any, second: Any) -> dict[str, Fraction]:
    """How far two answers are apart in each norm; in L2 it is the square.

    >>> [str(distance) for distance in distances((0, 0), (3, -4)).values()]
    ['7', '25', '4']
    """
    gaps = [abs(a - b) for a, b in zip(vector(first), vector(second), strict=True)]
    squares = sum((gap * gap for gap in gaps), Fraction(0))
    return {"L1": sum(gaps, Fraction(0)), "L2": squares, "Linf": max(gaps)}


def global_sensitivity(
    universe: Sequence[Record], n: int, query: Query, *relation: Any, **options: Any
) -> dict[str, tuple[Fraction, Pair]]:
    """Largest change of the query from a dataset of n records to one of its neighbors.

    For each norm the value, squared in L2, and the first pair (x, y) that attains it. Datasets
    of too few records for the query are left out, such as the empty one for a mean. ValueError if
    there is no pair, or the query is undefined on another dataset of a pair.

    >>> of = histogram_of_categories(0, "ab")
    >>> found = global_sensitivity([("a",), ("b",), ("b",)], 1, of, "bounded", 1)
    >>> {norm: int(value) for norm, (value, pair) in found.items()}
    {'L1': 2, 'L2': 2, 'Linf': 1}
    """
    return _largest_changes(query, pairs(universe, n, *relation, **options))


def local_sensitivity(
    universe: Sequence[Record], x: Iterable[Record], query: Query, *relation: Any, **options: Any
) -> dict[str, tuple[Fraction, Pair]]:
    """Largest change of the query from x to one of its neighbors, as in `global_sensitivity`.

    >>> found = local_sensitivity([(1,), (5,), (None,)], [(1,), (None,)], mean(0), "bounded", 1)
    >>> int(found["Linf"][0])
    4
    """
    position = names(universe)
    x = tuple(sorted(x, key=position.__getitem__))
    found = neighbors(universe, x, *relation, **options)
    return _largest_changes(query, ((x, y) for y in found))


def has_answer(query: Query, dataset: Dataset) -> bool:
    """Whether a query is defined on a dataset.

    >>> has_answer(mean(0), ()), has_answer(mean(0, empty=7), ())
    (False, True)
    """
    try:
        query(dataset)
    except ValueError:
        return False
    return True


def _largest_changes(query: Query, candidates: Iterable[Pair]) -> dict[str, tuple[Fraction, Pair]]:
    """For each norm the largest change over the candidates, and the first pair that attains it."""
    answers: dict[Dataset, tuple[Fraction, ...]] = {}
    largest: dict[str, tuple[Fraction, Pair]] = {}
    compared: set[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]] = set()
    least = getattr(query, "least", 0 if has_answer(query, ()) else 1)
    for x, y in candidates:
        if min(len(x), len(y)) < least:
            continue
        for dataset in (x, y):
            if dataset not in answers:
                answers[dataset] = vector(query(dataset))
        if (answers[x], answers[y]) in compared:
            continue
        compared.add((answers[x], answers[y]))
        for norm, distance in distances(answers[x], answers[y]).items():
            if norm not in largest or distance > largest[norm][0]:
                largest[norm] = distance, (x, y)
    if not largest:
        raise ValueError("there is no pair of neighboring datasets")
    return largest
