"""What is refused, in words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sensitivity_lab import spaces
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.spaces import sequences

DAYS = sequences.SequenceUniverse(["home", "work"], longest=3)
ONE = sequences.InsertDelete()


def ask(universe=DAYS, query="changes", neighbors=ONE, **options):
    return spaces.global_sensitivity(universe, query, neighbors=neighbors, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sequences.SequenceUniverse([], 2),
            "values must be a sequence of numbers or texts; at least one",
        ),
        (
            lambda: sequences.SequenceUniverse([1, None], 2),
            "values must be a sequence of numbers or texts; no value is None",
        ),
        (
            lambda: sequences.SequenceUniverse([1, 1.0], 2),
            "values has 1.0 twice; name each value once",
        ),
        (
            lambda: sequences.SequenceUniverse("ab", 2, 3),
            "shortest must be at most longest = 2, got 3",
        ),
        (
            lambda: DAYS.code(["home"] * 4),
            "x has 4 entries; the universe is all 15 sequences of 0 to 3 of 2 values",
        ),
        (
            lambda: DAYS.code(["gym"]),
            "x must be a sequence of values of the universe, got the entry 'gym'; the universe is "
            "SequenceUniverse(['home', 'work'], longest=3)",
        ),
        (
            lambda: DAYS.sequence(4, 0),
            "size must be 0 to 3, got 4",
        ),
        (
            lambda: DAYS.sequence(2, 4),
            "number must be below 4, the number of sequences, got 4",
        ),
        (
            lambda: ask(query="change"),
            "query must be one of 'length', 'sum', 'distinct', 'counts', 'changes', 'path_length', "
            "'longest_run', or a function of a tuple of values, got 'change'; did you mean "
            "'changes'?",
        ),
        (
            lambda: ask(query="sum"),
            "'sum' needs values that are numbers, got 'home'; use numbers, or a function of a "
            "tuple of values",
        ),
        (
            lambda: spaces.known_sensitivity(DAYS, "path_length", neighbors=ONE),
            "'path_length' needs values that are numbers, got 'home'; use numbers, or a "
            "function of a tuple of values",
        ),
        (
            lambda: ask(neighbors="insert_delete"),
            "neighbors must be InsertDelete(...) or Hamming(...), got 'insert_delete'",
        ),
        (
            lambda: ask(neighbors=sequences.InsertDelete(7)),
            "k must be at most 6, twice the largest number of entries, got 7",
        ),
        (
            lambda: ask(neighbors=sequences.Hamming(4)),
            "k must be at most 3, the largest number of entries, got 4",
        ),
        (
            lambda: ask(sequences.SequenceUniverse("ab", 3, 3)),
            "all sequences have 3 entries, so one insertion or deletion leads to no other one; use "
            "a smaller shortest, k=2, or Hamming()",
        ),
    ],
)
def test_arguments(make, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: len(sequences.SequenceUniverse("a", 22)),
            "longest must be at most 21, got 22: already 2 values give 2**22 sequences of so many "
            "entries",
        ),
        (
            lambda: ask(sequences.SequenceUniverse("abc", 14)),
            "3 values give more than 2,097,152 sequences of 0 to 13 entries; the limit is "
            "2,097,152. Use fewer values, or a smaller longest",
        ),
        (
            lambda: ask(sequences.SequenceUniverse("ab", 16), np.size),
            "the function size would be called on 131,071 sequences, the limit is 50,000; use "
            "fewer values or shorter sequences, or one of 'length', 'sum', 'distinct', 'counts', "
            "'changes', 'path_length', 'longest_run'",
        ),
        (
            lambda: ask(sequences.SequenceUniverse("ab", 18), neighbors=sequences.Hamming(9)),
            "to compare the neighbors among all 524,287 sequences of 0 to 18 of 2 values takes "
            "8,645,232,664,576 steps (at most 9 entries replaced), and the limit is "
            "2,147,483,648; use fewer values, shorter sequences, or a smaller k",
        ),
        (
            lambda: ask(sequences.SequenceUniverse(range(600), 2), "counts"),
            "'counts' of all 360,601 sequences of 0 to 2 of 600 values are more than 16,777,216 "
            "numbers, which is the limit; use fewer values or shorter sequences",
        ),
        (
            lambda: ask(sequences.SequenceUniverse("a", 21), neighbors=sequences.InsertDelete(21)),
            None,
        ),
    ],
)
def test_what_is_too_large(make, message):
    with pytest.raises(TooLargeError, match=message and f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: 1 // len(x),
            "the function mine on () raised ZeroDivisionError: 'integer division or modulo by "
            "zero'",
        ),
        (
            lambda _: float("nan"),
            "the function mine on () returned nan; it returns a finite number, or an array of them "
            "of one fixed length",
        ),
        (
            lambda x: [1] * (1 + len(x)),
            "the function mine returned answers of different shapes; it returns a number, or an "
            "array of one fixed length",
        ),
    ],
)
def test_functions(function, message):
    function.__name__ = "mine"
    with pytest.raises(QueryError, match=f"^{re.escape(message)}"):
        ask(query=function)
