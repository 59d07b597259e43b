"""What is refused of a caller's own datasets, in words."""

from __future__ import annotations

import itertools
import re

import pytest

from sensitivity_lab import spaces
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.spaces import graphs, sequences


def apart(a, b):
    return abs(len(a) - len(b))


WORDS = spaces.Space(["a", "abc"], apart)
FOUR = graphs.GraphUniverse(4)


def ask(universe=WORDS, query=len, neighbors=None, **options):
    neighbors = neighbors or spaces.Within(2)
    return spaces.global_sensitivity(universe, query, neighbors=neighbors, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: spaces.Space([()], apart),
            "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)], got 1",
        ),
        (
            lambda: spaces.Space("ab", "kendall"),
            "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)], got "
            "'ab'",
        ),
        (
            lambda: ask(neighbors=spaces.Within(1)),
            "no two datasets are within 1 of each other; the smallest distance is 2",
        ),
        (
            lambda: ask(neighbors=spaces.Within(3, exactly=True)),
            "no two datasets are at a distance of exactly 3; the distances are ('2',)",
        ),
        (
            lambda: ask(neighbors=graphs.EdgeNeighbors()),
            "neighbors must be Within(...), got EdgeNeighbors(k=1)",
        ),
        (
            lambda: ask(FOUR, "edges"),
            "neighbors must be EdgeNeighbors(...) or NodeNeighbors(...), got Within(k=2, "
            "exactly=False)",
        ),
        (
            lambda: ask(query="edges"),
            "query must be a function of a dataset, got 'edges'",
        ),
        (
            lambda: spaces.local_sensitivity(WORDS, len, dataset="ab", neighbors=spaces.Within(2)),
            "dataset must be one of the datasets of the space, got 'ab'; they are ('a', 'abc')",
        ),
        (
            lambda: spaces.local_sensitivity(
                FOUR, "edges", dataset=[(0, 5)], neighbors=graphs.EdgeNeighbors()
            ),
            "dataset has the edge (0, 5); the nodes are 0 to 3",
        ),
        (
            lambda: spaces.local_sensitivity(
                sequences.SequenceUniverse("ab", 2),
                "length",
                dataset="abc",
                neighbors=sequences.Hamming(),
            ),
            "dataset has 3 entries; the universe is all 7 sequences of 0 to 2 of 2 values",
        ),
        (
            lambda: spaces.known_sensitivity(WORDS, "edges", neighbors=spaces.Within()),
            "universe must be a GraphUniverse or a SequenceUniverse, got Space(('a', 'abc'), the "
            "metric apart)",
        ),
        (
            lambda: spaces.sensitivity_curve(
                FOUR, "edges", distances=[], neighbors=graphs.EdgeNeighbors()
            ),
            "distances must be one or several distances k, such as [1, 2, 3], got none",
        ),
        (
            lambda: spaces.sensitivity_curve(
                FOUR, "edges", distances=[1, 0.5], neighbors=graphs.EdgeNeighbors()
            ),
            "k must be a whole number (how many edges differ, at least 1), got 0.5 (float)",
        ),
    ],
)
def test_arguments(make, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        make()


def raising(*_):
    raise ZeroDivisionError("a / b")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda a, _: len(a), "the metric on 'a' and 'a' returned 1; a dataset is at distance 0 "
         "from itself"),
        (lambda a, b: a != b, "the metric on 'a' and 'a' returned False; it returns a "
         "finite number, at least 0"),
        (lambda a, _: a, "the metric on 'a' and 'a' returned 'a'; it returns a "
         "finite number, at least 0"),
        (lambda a, b: (a != b) * -1, "the metric on 'a' and 'abc' returned -1; it returns a finite "
         "number, at least 0"),
        (lambda a, b: (a != b) * 1e400 if a != b else 0, "the metric on 'a' and 'abc' returned "
         "inf; it returns a finite number, at least 0"),
        (lambda a, b: max(0, len(a) - len(b)), "the metric on 'a' and 'abc' returned 0, and in the "
         "other order 2; a distance is the same in both"),
        (raising, "the metric raising on 'a' and 'a' raised ZeroDivisionError: 'a / b'"),
    ],
)  # fmt: skip
def test_metrics(metric, message):
    with pytest.raises(QueryError, match=f"^{re.escape(message)}$"):
        spaces.Space(["a", "abc"], metric)


def test_metrics_that_are_random():
    numbers = itertools.count()
    with pytest.raises(QueryError, match=r"^the metric on 'a' and 'b' returned 1, and in"):
        spaces.Space(["a", "b"], lambda a, b: (a != b) * next(numbers))


@pytest.mark.representative
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: spaces.Space(range(5000), raising),
            "5,000 datasets have 12,497,500 pairs, and the metric would be called on each in both "
            "orders; the limit is 8,388,608. Use fewer datasets",
        ),
        (
            lambda: spaces.local_sensitivity(
                graphs.GraphUniverse(7),
                len,
                dataset=[],
                neighbors=graphs.EdgeNeighbors(8),
            ),
            "the function len would be called on 401,930 graphs, the limit is 50,000; use at "
            "most 6 nodes (5 where nodes are removed), or one of 'edges', 'triangles', "
            "'max_degree', 'degree_histogram'",
        ),
    ],
)
def test_what_is_too_large(make, message):
    with pytest.raises(TooLargeError, match=f"^{re.escape(message)}$"):
        make()


def test_a_function_that_is_random():
    numbers = itertools.count()
    with pytest.raises(QueryError, match=r"^the function function on 'abc' returned 1, and 2 when"):
        ask(query=lambda _: next(numbers))
