"""The sensitivity of a query of sequences: over all neighbors, and over those of one sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sensitivity_lab.checks import check_kind
from sensitivity_lab.metrics.norms import Norm, check_norm

from .known import known_for
from .queries import as_query
from .relations import SequenceRelation
from .result import SequenceSensitivity, SequenceWitness
from .search import Code, furthest
from .universe import SequenceUniverse, Value

QueryLike = str | Callable[[tuple[Any, ...]], Any]
"""The name of a query, or a function of a tuple of values."""


def global_sensitivity(
    universe: SequenceUniverse,
    query: QueryLike,
    *,
    neighbors: SequenceRelation,
    norm: Norm = "L1",
) -> SequenceSensitivity:
    """Return the largest difference of a query's answers over all neighboring sequences.

    Parameters
    ----------
    universe : SequenceUniverse
        The sequences x and y.
    query : {"length", "sum", "distinct", "counts", "changes", "path_length", "longest_run"} \
            or callable
        What is asked of a sequence: its number of entries, their sum, how many different values
        occur, how often each value of the universe occurs (a vector), how many entries differ from
        the one before them, the sum of the absolute differences from the one before, and the
        largest number of equal entries in a row. A function takes a tuple of values and returns a
        number or an array of one fixed length; it is called on at most 50,000 sequences.
    neighbors : InsertDelete or Hamming
        Which sequences are neighbors.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors.

    Returns
    -------
    SequenceSensitivity
        The value, two sequences that attain it, and beside it the closed form, where one is known.

    Raises
    ------
    InputError
        If an argument is not as said, or no two sequences are neighbors.
    TooLargeError
        If there are more than ``2**31`` pairs to compare, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    Evaluates the query on every sequence and compares all neighbors, in blocks of arrays and in
    integers. Of v values there are ``v**n`` sequences of n entries, and an insertion makes
    ``(n + 1) v`` longer ones of each.

    Examples
    --------
    Events in the hours of a morning. One event is in one hour, and a person has at most three:

    >>> from sensitivity_lab import sequences
    >>> events = sequences.SequenceUniverse(["8h", "9h", "10h"], longest=5)
    >>> for k in (1, 3):
    ...     relation = sequences.InsertDelete(k)
    ...     print(sequences.global_sensitivity(events, "counts", neighbors=relation).value)
    1.0
    3.0

    A function, here of whether somebody returns to where the day began:

    >>> def returns(day):
    ...     return bool(day) and day[0] == day[-1]
    >>> sequences.global_sensitivity(events, returns, neighbors=sequences.Hamming()).value
    1.0
    """
    check_kind("universe", universe, SequenceUniverse, "a SequenceUniverse")
    return _sensitivity(universe, query, neighbors, norm, None)


def local_sensitivity(
    x: Iterable[Value],
    universe: SequenceUniverse,
    query: QueryLike,
    *,
    neighbors: SequenceRelation,
    norm: Norm = "L1",
) -> SequenceSensitivity:
    """Return the largest difference of a query's answers between one sequence and its neighbors.

    Parameters
    ----------
    x : sequence of number or str
        The entries, in their order.
    universe : SequenceUniverse
        The sequences that its neighbors are among.
    query : {"length", "sum", "distinct", "counts", "changes", "path_length", "longest_run"} \
            or callable
        As of `global_sensitivity`.
    neighbors : InsertDelete or Hamming
        Which sequences are neighbors.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors.

    Returns
    -------
    SequenceSensitivity
        The value and the neighbor that attains it; the x of its witness is this one.

    Raises
    ------
    InputError
        If an argument is not as said, or x is no sequence of the universe.
    TooLargeError
        If there are too many neighbors, or a function would be called too often.
    QueryError
        If a function raises, or does not return finite numbers of one shape.

    Notes
    -----
    Under `Hamming` the empty sequence has no neighbor but itself, and so the local sensitivity 0.

    Examples
    --------
    One entry splits the long run of a quiet week:

    >>> from sensitivity_lab import sequences
    >>> week = sequences.SequenceUniverse([0, 1], longest=8)
    >>> found = sequences.local_sensitivity(
    ...     [0] * 7, week, "longest_run", neighbors=sequences.InsertDelete()
    ... )
    >>> found.value, found.witness.y
    (3.0, (0, 0, 0, 1, 0, 0, 0, 0))
    """
    check_kind("universe", universe, SequenceUniverse, "a SequenceUniverse")
    return _sensitivity(universe, query, neighbors, norm, universe.code(x))


def _sensitivity(
    universe: SequenceUniverse, query: Any, neighbors: Any, norm: Any, x: Code | None
) -> SequenceSensitivity:
    definition = as_query(query)
    check_kind("neighbors", neighbors, SequenceRelation, "InsertDelete(...) or Hamming(...)")
    check_norm(norm)
    found = furthest(universe, definition, neighbors, norm, x)
    exact = found.arithmetic == "exact"
    of_x, of_y = universe.sequence(*found.x), universe.sequence(*found.y)
    deleted, inserted = neighbors._changed(of_x, of_y)
    return SequenceSensitivity(
        value=found.difference.nearest(),
        exact=found.difference.exact if exact else None,
        upper=found.difference.upper() if exact else None,
        witness=SequenceWitness(of_x, of_y, found.query_x, found.query_y, deleted, inserted),
        known=known_for(query, universe, neighbors, norm) if x is None else None,
        arithmetic=found.arithmetic,
        sequences_evaluated=found.sequences,
        edits=found.edits,
        query=definition.name,
        universe=universe,
        neighbors=neighbors,
        norm=norm,
        kind="global" if x is None else "local",
        definition=definition,
    )
