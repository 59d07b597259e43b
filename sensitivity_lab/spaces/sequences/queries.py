"""Queries on sequences, evaluated on many sequences at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.spaces.answers import INT64, Counts, NamedQuery
from sensitivity_lab.spaces.space import Codes

from .universe import SequenceUniverse

MOST_NUMBERS = 2**24
"""In the vectors on all sequences: 128 MiB."""


def _length(entries: Codes, v: int) -> Counts:  # noqa: ARG001 - one signature for all
    return np.full((len(entries), 1), entries.shape[1])


def _distinct(entries: Codes, v: int) -> Counts:
    ascending = np.sort(entries, axis=1)  # each change is to another value
    return np.asarray(_changes(ascending, v) + min(entries.shape[1], 1))


def _changes(entries: Codes, v: int) -> Counts:  # noqa: ARG001
    return np.asarray((entries[:, 1:] != entries[:, :-1]).sum(axis=1, keepdims=True))


def _longest_run(entries: Codes, v: int) -> Counts:  # noqa: ARG001
    longest = np.zeros(len(entries), dtype=np.int64)
    run = np.zeros(len(entries), dtype=np.int64)  # of equal entries, up to this one
    for place in range(entries.shape[1]):
        same = entries[:, place] == entries[:, max(place - 1, 0)]
        run = np.where(same, run + 1, 1)
        longest = np.maximum(longest, run)
    return longest[:, None]


def _sum(entries: Codes, numbers: Counts) -> Counts:
    return np.asarray(numbers[entries].sum(axis=1, keepdims=True))


def _path_length(entries: Codes, numbers: Counts) -> Counts:
    return np.asarray(np.abs(np.diff(numbers[entries], axis=1)).sum(axis=1, keepdims=True))


def _of_places(name: str, count: Callable[[Codes, Any], Counts]) -> NamedQuery:
    """Return a query of the places of the values, shape (sequences, size), and of their number."""

    def counted(universe: SequenceUniverse, size: Any, codes: Codes) -> Counts:
        return count(universe._digits(size, codes), len(universe.values))

    return NamedQuery(name, counted)


def _of_numbers(name: str, count: Callable[[Codes, Any], Counts]) -> NamedQuery:
    """Return a query of the places of the values, and of these as integers."""

    def numbers(universe: SequenceUniverse) -> tuple[Counts, int]:
        """Return the values times their common denominator."""
        integers, denominator = common_integers(universe._numbers(name))
        largest = max(map(abs, integers)) * 2 * universe.longest
        return integers.astype(np.int64 if (2 * largest) ** 2 < INT64 else object), denominator

    def counted(universe: SequenceUniverse, size: Any, codes: Codes) -> Counts:
        return count(universe._digits(size, codes), numbers(universe)[0])

    return NamedQuery(name, counted, denominator=lambda universe: numbers(universe)[1])


def _how_often(universe: SequenceUniverse, size: Any, codes: Codes) -> Counts:
    """How often each value occurs, shape (sequences, v)."""
    entries = universe._digits(size, codes)
    every = range(len(universe.values))
    return np.stack([(entries == place).sum(axis=1) for place in every], axis=1)


def _check_counts(universe: SequenceUniverse) -> int:
    """Raise TooLargeError if the vectors would be too many numbers; they are whole."""
    if len(universe) * len(universe.values) > MOST_NUMBERS:
        raise TooLargeError(
            f"{shown('counts')} of {universe} are more than {MOST_NUMBERS:,} numbers, which is the "
            "limit; use fewer values or shorter sequences"
        )
    return 1


QUERIES = {
    query.name: query
    for query in (
        _of_places("length", _length),
        _of_numbers("sum", _sum),
        _of_places("distinct", _distinct),
        NamedQuery("counts", _how_often, True, _check_counts),
        _of_places("changes", _changes),
        _of_numbers("path_length", _path_length),
        _of_places("longest_run", _longest_run),
    )
}
"""The queries that have names."""
