"""The search over all pairs of neighboring sequences, many pairs at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.graphs.queries import Counts, Tables
from sensitivity_lab.graphs.search import Answer, answer_of, distance_of
from sensitivity_lab.metrics.norms import POWERS, Norm, powered

from .queries import SequenceFunction, SequenceQuery, evaluate
from .relations import Edit, SequenceRelation, Shape
from .universe import Codes, SequenceUniverse

MOST_STEPS = 2**31
"""Of more steps, the answers are not compared; a step is a pair."""

_LEAST = 2**12
"""Choosing the entries that an edit changes takes as long as comparing so many pairs."""

_BLOCK = 2**16
"""So many pairs at a time, to keep what is compared in the processor's cache."""

Code = tuple[int, int]
"""A sequence: its size, and its number among those of that size."""


@dataclass(frozen=True)
class Found:
    """The neighbors whose answers are furthest apart.

    Attributes
    ----------
    x, y : (int, int)
        The sequences, as their sizes and numbers.
    query_x, query_y : number or tuple of numbers
    difference : Difference
        How far these are apart, exactly.
    arithmetic : {"exact", "float"}
    sequences, edits : int
        How many sequences the query was evaluated on, and how many edits were compared.
    """

    x: Code
    y: Code
    query_x: Answer
    query_y: Answer
    difference: Difference
    arithmetic: Literal["exact", "float"]
    sequences: int
    edits: int


def furthest(
    universe: SequenceUniverse,
    query: SequenceQuery | SequenceFunction,
    relation: SequenceRelation,
    norm: Norm,
    x: Code | None = None,
) -> Found:
    """Return the neighbors whose answers are furthest apart; of several, the first ones.

    Parameters
    ----------
    universe : SequenceUniverse
        The sequences.
    query : SequenceQuery or SequenceFunction
        What is asked of them.
    relation : InsertDelete or Hamming
        Which of them are neighbors.
    norm : {"L1", "L2", "Linf"}
        Of the difference of answers that are vectors.
    x : (int, int), optional
        One sequence, for its neighbors only; by default all.

    Raises
    ------
    InputError
        If no two sequences are neighbors, or the query needs numbers.
    TooLargeError
        If there are too many edits or a function would be called too often.
    QueryError
        If a function fails.

    Notes
    -----
    Every neighbor of a sequence x of n entries is made of it by one of the edits, and each edit is
    compared: ``v**n C(n, d) C(m, i) v**i`` for d deletions and i insertions, from n to m entries.
    A pair comes up once for each way to make y of x. Comparing integers, it rounds nothing.
    """
    relation._check(universe)
    sizes = universe.sizes if x is None else (x[0],)
    numbers = {size: universe._all_codes(size) if x is None else np.array([x[1]]) for size in sizes}
    shapes = [
        (size, shape)
        for size in sizes
        for shape in relation._shapes(universe, size, both_ways=x is not None)
    ]
    _check_edits(universe, relation, numbers, shapes)
    edits = [edit for size, shape in shapes for edit in relation._edits(shape, size)]
    if x is None:
        tables, answers = _of_all(universe, query)
    else:
        tables, answers = _of_one(universe, query, x, edits)
    of_numbers: Norm = norm if tables.vector else "L1"
    best, compared, first = -1, 0, None
    for edit, codes, others in _pairs(universe, edits, numbers, tables.counts[0].shape[1]):
        apart = answers(edit.size_x, codes) - answers(edit.size_y, others)
        gaps = powered(apart, of_numbers) if tables.vector else np.abs(apart[:, 0])
        compared += len(gaps)
        place = int(np.argmax(gaps))
        if gaps[place] > best:
            best = int(gaps[place])
            first = (edit.size_x, int(codes[place])), (edit.size_y, int(others[place]))
    # A relation that was checked has pairs; the empty sequence alone has none under Hamming.
    of_x, of_y = first or ((x or (0, 0)), (x or (0, 0)))
    query_x, query_y = (
        answer_of(answers(size, np.array([code]))[0], tables) for size, code in (of_x, of_y)
    )
    return Found(
        x=of_x,
        y=of_y,
        query_x=query_x,
        query_y=query_y,
        difference=distance_of(
            Fraction(max(best, 0), tables.denominator ** POWERS[of_numbers]), of_numbers
        ),
        arithmetic=tables.arithmetic,
        sequences=sum(map(len, tables.counts)),
        edits=compared,
    )


Lookup = Callable[[int, Codes], Counts]
"""From a size and numbers of sequences to their answers, shape (sequences, d)."""


def _of_all(
    universe: SequenceUniverse, query: SequenceQuery | SequenceFunction
) -> tuple[Tables, Lookup]:
    """Evaluate a query on every sequence."""
    tables = evaluate(query, universe, [(n, universe._all_codes(n)) for n in universe.sizes])
    by_size = dict(zip(universe.sizes, tables.counts, strict=True))
    return tables, lambda size, codes: by_size[size][codes]


def _of_one(
    universe: SequenceUniverse,
    query: SequenceQuery | SequenceFunction,
    x: Code,
    edits: list[Edit],
) -> tuple[Tables, Lookup]:
    """Evaluate a query on x and its neighbors, on each of them once."""
    size, number = x
    itself = np.array([number])
    codes = {size: itself}
    for edit in edits:
        others = edit.apply(universe, itself)
        codes[edit.size_y] = np.union1d(codes.get(edit.size_y, others), others)
    tables = evaluate(query, universe, list(codes.items()))
    by_size = dict(zip(codes, tables.counts, strict=True))
    return tables, lambda n, some: by_size[n][np.searchsorted(codes[n], some)]


def _pairs(
    universe: SequenceUniverse, edits: list[Edit], numbers: dict[int, Codes], width: int
) -> Iterator[tuple[Edit, Codes, Codes]]:
    """Yield the sequences that edits lead from and to, in blocks of equal shape (pairs,).

    The wider an answer is, the fewer pairs are in a block.
    """
    for edit in edits:
        codes, ways = numbers[edit.size_x], edit.ways(universe)
        step = max(1, _BLOCK // (ways * max(width, 1)))
        for start in range(0, len(codes), step):
            some = codes[start : start + step]
            yield edit, np.repeat(some, ways), edit.apply(universe, some).ravel()


def _check_edits(
    universe: SequenceUniverse,
    relation: SequenceRelation,
    numbers: dict[int, Codes],
    shapes: list[tuple[int, Shape]],
) -> None:
    """Raise TooLargeError if there are too many pairs to compare."""
    steps = 0
    for size, shape in shapes:
        pairs = len(numbers[size]) * len(universe.values) ** shape.inserted
        steps += relation._choices(shape, size) * max(pairs, _LEAST)
    if steps > MOST_STEPS:
        raise TooLargeError(
            f"{universe} take {steps:,} steps ({relation}); the limit is {MOST_STEPS:,}. Use fewer "
            "values, shorter sequences, or a smaller k"
        )
