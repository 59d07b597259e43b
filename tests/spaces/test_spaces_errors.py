"""What is refused of spaces, in words."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from checks import refused_with

from sensitivity_lab import spaces
from sensitivity_lab.errors import QueryError, TooLargeError


def apart(a, b):
    return abs(len(a) - len(b))


WORDS = spaces.Space(["a", "abc"], apart)
FOUR = spaces.graphs(4, "edge")
DAYS = spaces.sequences(["home", "work"], 3, "insert_delete")


EDGES = (
    "dataset must be a sequence of edges, such as [(0, 1), (1, 2)]; an edge joins two of the nodes "
    "0 to 3"
)


def of_edges(dataset):
    return spaces.local_sensitivity(FOUR, "edges", dataset=dataset, neighbors=spaces.Within(1))


def ask(space=WORDS, query=len, neighbors=None, **options):
    neighbors = neighbors or spaces.Within(2)
    return spaces.global_sensitivity(space, query, neighbors=neighbors, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: spaces.Space([()], apart),
            "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)], got 1",
        ),
        (
            lambda: spaces.Space("ab", apart),
            "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)], got "
            "'ab'",
        ),
        (
            lambda: spaces.Space(["a", "b"]),
            "pass metric or neighbors: a function metric(a, b), or a function neighbors(a), and "
            "not neither",
        ),
        (
            lambda: spaces.Space(["a", "b"], apart, neighbors=len),
            "pass metric or neighbors: a function metric(a, b), or a function neighbors(a), and "
            "not both",
        ),
        (
            lambda: spaces.Space([1, 2, 1.0], neighbors=lambda _: []),
            "datasets has 1.0 twice; list each dataset once",
        ),
        (
            lambda: spaces.Space([[{1}], [{2}]], neighbors=lambda _: []),
            "datasets with neighbors= must be values, lists, arrays or sets of such, got [{1}]",
        ),
        (
            lambda: spaces.Space([1, 2], neighbors=lambda x: [x]),
            "no two datasets are neighbors by the neighbors",
        ),
        (
            lambda: ask(spaces.Space([1, 2], neighbors=lambda x: [3 - x]), neighbors="edit"),
            "neighbors must be Within(...), got 'edit'",
        ),
        (
            lambda: ask(FOUR, "edges", spaces.Within(0.5)),
            "k must be a whole number (how many steps from neighbor to neighbor, at least 1), got "
            "0.5 (float)",
        ),
        (
            lambda: ask(neighbors=spaces.Within(1)),
            "no two datasets are within 1 of each other; the smallest distance is 2",
        ),
        (
            lambda: ask([1, 2]),
            "space must be a space: Space(...), graphs(...) or sequences(...), got [1, 2]",
        ),
        (
            lambda: ask(query="edges"),
            "query must be a function of a dataset, got 'edges'",
        ),
        (
            lambda: ask(FOUR, "triangle"),
            "query must be one of 'edges', 'triangles', 'max_degree', 'degree_histogram', or a "
            "function of the edges of a graph, got 'triangle'; did you mean 'triangles'?",
        ),
        (
            lambda: ask(DAYS, "change"),
            "query must be one of 'length', 'sum', 'distinct', 'counts', 'changes', 'path_length', "
            "'longest_run', or a function of a tuple of values, got 'change'; did you mean "
            "'changes'?",
        ),
        (
            lambda: ask(DAYS, "sum"),
            "'sum' needs values that are numbers, got 'home'; use numbers, or a function of a "
            "tuple of values",
        ),
        (
            lambda: spaces.local_sensitivity(WORDS, len, dataset="ab", neighbors=spaces.Within(2)),
            "dataset must be one of the datasets of the space, got 'ab'; they are ('a', 'abc')",
        ),
        (
            lambda: spaces.local_sensitivity(
                FOUR, "edges", dataset=[(0, 5)], neighbors=spaces.Within(1)
            ),
            f"{EDGES}, got (0, 5)",
        ),
        (
            lambda: spaces.local_sensitivity(
                DAYS, "length", dataset=["home"] * 4, neighbors=spaces.Within(1)
            ),
            "dataset has 4 entries; the space is all 15 sequences of 0 to 3 of 2 values",
        ),
        (
            lambda: spaces.local_sensitivity(
                DAYS, "length", dataset=["gym"], neighbors=spaces.Within(1)
            ),
            "dataset must be a sequence of values of the space, got the entry 'gym'; the space is "
            "sequences(['home', 'work'], 3, 'insert_delete')",
        ),
        (
            lambda: spaces.sensitivity_curve(FOUR, "edges", distances=[]),
            "distances must be one or several distances k, such as [1, 2, 3], got none",
        ),
        (lambda: of_edges([(0, 0)]), f"{EDGES}, got (0, 0)"),
        (
            lambda: of_edges([(0, 1), (1, 0)]),
            "dataset has the edge (0, 1) twice; no edge is double",
        ),
        (lambda: of_edges([(0, 1, 1)]), f"{EDGES}, got (0, 1, 1)"),
        (lambda: of_edges([(0, 0.5)]), f"{EDGES}, got (0, 0.5)"),
        (
            lambda: of_edges([0]),
            "dataset must be a sequence of edges, such as [(0, 1), (1, 2)]; an edge is a pair of "
            "nodes, got 0",
        ),
        (
            lambda: spaces.sequences([], 2, "insert_delete"),
            "values must be a sequence of at least two numbers or texts, got 0",
        ),
        (
            lambda: spaces.sequences([1, None], 2, "insert_delete"),
            "values must be a sequence of at least two numbers or texts; no value is None",
        ),
        (
            lambda: spaces.sequences([1, 1.0], 2, "insert_delete"),
            "values has 1.0 twice; name each value once",
        ),
    ],
)
def test_arguments(make, message):
    refused_with(make, f"^{re.escape(message)}$")


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
    refused_with(lambda: spaces.Space(["a", "abc"], metric), f"^{re.escape(message)}$", QueryError)


@pytest.mark.parametrize(
    ("neighbors", "message"),
    [
        (raising, "the function raising on 'a' raised ZeroDivisionError: 'a / b'"),
        (lambda _: 5, "the function neighbors on 'a' must return several datasets, got 5"),
        (lambda _: "abc", "the function neighbors on 'a' must return several datasets, got 'abc'"),
        (lambda _: ["b"], "the function neighbors on 'a' listed 'b', which is not one of the "
         "datasets; they are ('a', 'abc')"),
        (lambda a: ["abc"] * (a == "a"), "the function neighbors on 'a' listed 'abc', and not "
         "the other way round; of two neighbors each is one of the other"),
    ],
)  # fmt: skip
def test_neighbors(neighbors, message):
    refused_with(
        lambda: spaces.Space(["a", "abc"], neighbors=neighbors),
        f"^{re.escape(message)}$",
        QueryError,
    )


def test_too_many_neighbors(monkeypatch):
    monkeypatch.setattr("sensitivity_lab.spaces.space.MOST_DISTANCES", 10)
    refused_with(
        lambda: spaces.Space(range(4), neighbors=lambda _: range(4)),
        r"^the neighbors are more than 10 in all, which is the limit; use fewer datasets$",
        TooLargeError,
    )


def test_metrics_that_are_random():
    numbers = itertools.count()
    refused_with(
        lambda: spaces.Space(["a", "b"], lambda a, b: (a != b) * next(numbers)),
        r"^the metric on 'a' and 'b' returned 1, and in",
        QueryError,
    )


@pytest.mark.representative
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: spaces.Space(range(5000), raising),
            "5,000 datasets have 12,497,500 pairs, and the metric would be called on each in both "
            "orders; the limit is 8,388,608. Use fewer datasets, or neighbors= in place of the "
            "metric",
        ),
        (
            lambda: spaces.Space(range(70_000), neighbors=raising),
            "there are 70,000 datasets; the limit is 65,536. Use fewer",
        ),
        (
            lambda: spaces.graphs(7, "edge"),
            "a space of all graphs has at most 6 nodes, got 7; list the graphs that can be in "
            "Space(...), with a function of the neighbors of each",
        ),
        (
            lambda: spaces.sequences("abc", 11, "hamming"),
            "3 values give more than 65,536 sequences of 11 entries, which is the limit; use fewer "
            "values or a smaller length",
        ),
        (
            lambda: spaces.sequences("ab", 10**9, "insert_delete"),
            "2 values give more than 65,536 sequences of 0 to 1000000000 entries, which is the "
            "limit; use fewer values or a smaller length",
        ),
    ],
)
def test_what_is_too_large(make, message):
    refused_with(make, f"^{re.escape(message)}$", TooLargeError)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda graph: 1 // len(graph),
            "the function mine on () raised ZeroDivisionError: 'integer division or modulo by "
            "zero'",
        ),
        (
            lambda _: float("nan"),
            "the function mine on () returned nan; it returns a finite number, or an array of them "
            "of one fixed length",
        ),
        (
            lambda _: np.zeros((4, 4)),
            "the function mine on () returned an array of shape (4, 4); it returns a number, or an "
            "array of one fixed length, such as .ravel() gives",
        ),
        (
            lambda graph: [1] * (1 + len(graph)),
            "the function mine returned answers of different shapes; it returns a number, or an "
            "array of one fixed length",
        ),
    ],
)
def test_functions(function, message):
    function.__name__ = "mine"
    refused_with(lambda: ask(FOUR, function), f"^{re.escape(message)}", QueryError)


def test_a_function_that_is_random():
    numbers = itertools.count()
    refused_with(
        lambda: ask(query=lambda _: next(numbers)),
        r"^the function function on 'abc' returned 1, and 2 when",
        QueryError,
    )


def test_a_metric_that_sorts_lists_leaves_the_datasets_alone():
    def apart(a, b):
        first, second = a[0], b[0]
        a.sort()
        b.sort()
        return abs(first - second)

    lists = [[3, 1], [1, 3], [2, 2]]
    space = spaces.Space(lists, apart)
    assert space.datasets == ([3, 1], [1, 3], [2, 2])
    assert space.distances == (1, 2)
    found = spaces.global_sensitivity(space, lambda x: x[0], neighbors=spaces.Within(2))
    assert found.value == 2
    found.verify()
