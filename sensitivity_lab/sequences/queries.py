"""What is asked of sequences: counts of many at once, and callers' functions of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sensitivity_lab.checks import did_you_mean, shown
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Number, common_integers
from sensitivity_lab.graphs.queries import (
    INT64,
    MOST_CALLS,
    Counts,
    Tables,
    answer_of_call,
    tables_of,
)
from sensitivity_lab.queries.returned import Answers
from sensitivity_lab.search.again import check_calls

from .universe import Codes, SequenceUniverse

MOST_NUMBERS = 2**24
"""In the answers on all sequences: 128 MiB."""

Job = tuple[int, Codes]
"""Sequences of a size, as their numbers."""


@dataclass(frozen=True)
class SequenceQuery:
    """A query with a name.

    Attributes
    ----------
    name : str
    count : callable
        From the places of the values of many sequences, shape (sequences, size), and their number
        v, or the values as integers where the query is `numeric`, to whole numbers of shape
        (sequences, d).
    numeric : bool
        Whether the values have to be numbers.
    vector : bool
        Whether the answer is a vector; if not, d is 1.
    """

    name: str
    count: Callable[[Codes, Any], Counts]
    numeric: bool = False
    vector: bool = False


@dataclass(frozen=True)
class SequenceFunction:
    """A caller's function of a tuple of values."""

    function: Callable[[tuple[Any, ...]], Any]

    @property
    def name(self) -> str:
        """What results call it."""
        name = getattr(self.function, "__name__", "function")
        return name if isinstance(name, str) and name.isidentifier() else "function"


def _length(entries: Codes, v: int) -> Counts:  # noqa: ARG001 - one signature for all
    return np.full((len(entries), 1), entries.shape[1])


def _distinct(entries: Codes, v: int) -> Counts:
    ascending = np.sort(entries, axis=1)  # each change is to another value
    return np.asarray(_changes(ascending, v) + min(entries.shape[1], 1))


def _counts(entries: Codes, v: int) -> Counts:
    """How often each value occurs, shape (sequences, v)."""
    return np.stack([(entries == place).sum(axis=1) for place in range(v)], axis=1)


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


QUERIES = {
    query.name: query
    for query in (
        SequenceQuery("length", _length),
        SequenceQuery("sum", _sum, numeric=True),
        SequenceQuery("distinct", _distinct),
        SequenceQuery("counts", _counts, vector=True),
        SequenceQuery("changes", _changes),
        SequenceQuery("path_length", _path_length, numeric=True),
        SequenceQuery("longest_run", _longest_run),
    )
}
"""The queries that have names."""


def as_query(query: Any) -> SequenceQuery | SequenceFunction:
    """Return the query of a name, or a caller's function, or raise InputError."""
    if isinstance(query, str) and query in QUERIES:
        return QUERIES[query]
    if callable(query):
        return SequenceFunction(query)
    raise InputError(
        f"query must be one of {', '.join(map(repr, QUERIES))}, or a function of a tuple of "
        f"values, got {shown(query)}{did_you_mean(query, QUERIES)}"
    )


def numbers_of_values(universe: SequenceUniverse, query: str) -> Sequence[Number]:
    """Return the values of a universe of numbers, or raise InputError."""
    if not universe.is_numeric:
        text = next(one for one in universe.values if isinstance(one, str))
        raise InputError(
            f"{query!r} needs values that are numbers, got {shown(text)}; use numbers, or a "
            "function of a tuple of values"
        )
    return cast("Sequence[Number]", universe.values)


def evaluate(
    query: SequenceQuery | SequenceFunction, universe: SequenceUniverse, jobs: Sequence[Job]
) -> Tables:
    """Return the answers on several lists of sequences, each of one size.

    Raises
    ------
    InputError
        If the query needs numbers and the values are others.
    QueryError
        If a function raises, or does not return finite numbers of one shape.
    TooLargeError
        If a function would be called too often.
    """
    if isinstance(query, SequenceQuery):
        if query.vector and len(universe) * len(universe.values) > MOST_NUMBERS:
            raise TooLargeError(
                f"{query.name!r} of {universe} are more than {MOST_NUMBERS:,} numbers, which is "
                "the limit; use fewer values or shorter sequences"
            )
        denominator, given = 1, cast(Any, len(universe.values))
        if query.numeric:
            given, denominator = common_integers(numbers_of_values(universe, query.name))
            largest = max(map(abs, given)) * 2 * universe.longest
            given = given.astype(np.int64 if (2 * largest) ** 2 < INT64 else object)
        counts = [query.count(universe._digits(*job), given) for job in jobs]
        return Tables(counts, denominator, "exact", query.vector)
    calls = sum(len(codes) for _, codes in jobs)
    if calls > MOST_CALLS:
        raise TooLargeError(
            f"the function {query.name} would be called on {calls:,} sequences, the limit is "
            f"{MOST_CALLS:,}; use fewer values or shorter sequences, or one of "
            f"{', '.join(map(repr, QUERIES))}"
        )
    every = [(size, code) for size, codes in jobs for code in codes.tolist()]

    def where(place: int) -> str:
        return f"the function {query.name} on {universe.sequence(*every[place])}"

    def call(place: int) -> Answers:
        return answer_of_call(query.function, universe.sequence(*every[place]), where(place))

    answers = [call(place) for place in range(len(every))]
    check_calls(answers, call, where)
    return tables_of(query.name, answers, [len(codes) for _, codes in jobs])
