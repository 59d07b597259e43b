"""Ordered datasets over a few values: the inputs of an audit of an implementation."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from sensitivity_lab.checks import listed, one_or_several, shown
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.metrics import Metric
from sensitivity_lab.problem import check_sizes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.relations import Relation, check_whole

from .maps.records import check_comparable

VECTOR_LIMIT = 200_000
"""The largest number of vectors that an implementation is called on."""


def check_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values of a universe, each once, or raise InputError."""
    wrong = "values must be the entries that datasets are made of, at least one"
    given = listed(values, wrong)
    if not given:
        raise InputError(f"{wrong}, got {shown(values)}")
    for value in given:
        check_comparable("values", value)
    return tuple({shown(value): value for value in given}.values())


def check_several(name: str, given: Any, meaning: str, least: int = 0) -> tuple[int, ...]:
    """Return whole numbers, ascending and distinct, or raise InputError."""
    wrong = f"{name} must be a whole number or several of them"
    numbers = {check_whole(name, one, meaning, least) for one in one_or_several(given, wrong)}
    if not numbers:
        raise InputError(f"{wrong}, got none")
    return tuple(sorted(numbers))


def check_audited_sizes(
    size: Any, relations: Sequence[Relation], universe: AnyUniverse
) -> tuple[int, ...]:
    """Return sizes of x at which every relation allows neighbors, or raise InputError.

    The message says which size has none, and why.
    """
    try:
        sizes = check_sizes(size, universe)
    except InputError as error:
        if not str(error).endswith(", at least 1, got 0"):
            raise
        raise InputError(
            f"{error}: a query need not have an answer on no records, so empty datasets are not "
            "compared; audit_map takes size 0, for a function that has one"
        ) from None
    for n in sizes:
        for relation in relations:
            _check_neighbors(n, relation, universe)
    return sizes


def _check_neighbors(n: int, relation: Relation, universe: AnyUniverse) -> None:
    """Raise InputError if datasets of a size have no neighbors."""
    try:
        relation.check_feasible(n, universe)
    except InputError as error:
        short = relation.shortage(n, universe)
        if short is None:
            raise InputError(f"size {n} has no such neighbors: {error}") from None
        records = "1 record" if relation.k == 1 else f"{relation.k} records"
        raise InputError(
            f"size {n} has no neighbors with {records} {short.change} ({relation}), as "
            f"{short.reason}; leave out size {n}{short.way and ', or '}{short.way}"
        ) from None


def vectors(
    values: tuple[Any, ...], sizes: tuple[int, ...], every_order: bool = True
) -> list[list[Any]]:
    """Return the vectors of some sizes over some values.

    Parameters
    ----------
    values : tuple
        The values that entries can have.
    sizes : tuple of int
        The lengths of the vectors.
    every_order : bool, default True
        Whether every order of the same entries is a vector of its own, or only the order of
        `values`.

    Returns
    -------
    list of lists
        Sorted by size, then in the order of `values`, where the last entry changes fastest.

    Raises
    ------
    TooLargeError
        If there are more than `VECTOR_LIMIT` vectors; the message says how many.

    Examples
    --------
    >>> vectors((0, 1), (2,))
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> vectors((0, 1), (2,), every_order=False)
    [[0, 0], [0, 1], [1, 1]]
    """
    m = len(values)
    number = sum(m**size if every_order else comb(m + size - 1, size) for size in sizes)
    if number > VECTOR_LIMIT:
        ways = " or every_order=False" if every_order else ""
        raise TooLargeError(
            f"{m} values make {number:,} vectors of sizes {_text(sizes)}, more than the "
            f"{VECTOR_LIMIT:,} that are tried; take fewer values, smaller sizes{ways}"
        )
    return [
        list(vector)
        for size in sizes
        for vector in (
            itertools.product(values, repeat=size)
            if every_order
            else itertools.combinations_with_replacement(values, size)
        )
    ]


def no_neighbors(datasets: Sequence[Any], metric: Metric, limit: Any) -> InputError:
    """Return the error that says that no two datasets are close, and what to do.

    Parameters
    ----------
    datasets : sequence
        The datasets that are tried.
    metric : Metric
        Their metric.
    limit : number
        The largest distance of neighbors.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> print(no_neighbors([[0, 0], [0, 1]], METRICS["symmetric"], 1))
    no two datasets of size 2 are neighbors at distance 1: give sizes=[1, 2]
    """
    if not all(isinstance(x, list | tuple) for x in datasets):
        told, sizes = "no two of the datasets", []
    else:
        sizes = sorted({len(x) for x in datasets})
        several = (
            f"the sizes {', '.join(map(str, sizes))}" if len(sizes) > 1 else f"size {sizes[0]}"
        )
        told = f"no two datasets of {several}"
    way = "give datasets that are closer, or a larger distance"
    if sizes and metric.resizes:
        largest = max(sizes[-1], 1)
        way = f"give sizes=[{largest - 1}, {largest}]"
    elif sizes and metric.resizes is False:
        way = "give at least two values" if sizes[-1] else "give sizes of at least 1"
    return InputError(f"{told} are neighbors at distance {shown(limit)}: {way}")


def _text(sizes: tuple[int, ...]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
