"""Functions that fail in a search: the message names the dataset."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import refused
from search_cases import ask

import sensitivity_lab as sl


def raise_on_3(x):
    if 3 in x:
        raise KeyError("three")
    return 0.0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raise_on_3, "query 'f' on the dataset (1, 3) raised KeyError: 'three'"),
        (
            lambda x: math.nan if 10 in x else 0,
            "query 'f' on the dataset (1, 10) returned nan; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda x: float(x[0]) * math.inf,
            "query 'f' on the dataset (1, 2) returned inf; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda x: [x, x],
            "query 'f' on the dataset (1, 2) returned [array([1, 2]), array([1, 2])]; a "
            "query returns one finite number, or a 1-D array of them",
        ),
        (
            lambda x: x.sort(),
            "query 'f' on the dataset (1, 2) returned None; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda x: str(x[0] + 6),
            "query 'f' on the dataset (1, 2) returned '7'; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda x: x[0] * 1j,
            "query 'f' on the dataset (1, 2) returned 1j; a query returns one "
            "finite number, or a 1-D array of them",
        ),
    ],
)
def test_functions_that_fail(function, message):
    error, _ = ask(query=sl.from_function(function, name="f"))
    assert isinstance(error, sl.errors.QueryError)
    assert str(error) == message


SHAPES = "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda rows: np.where(rows[:, 1] == 10, math.nan, 0),
            "query 'f' on the dataset (1, 10) returned nan; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda rows: rows[:, :, None],
            "query 'f' on the dataset (1, 2) returned [[1], [2]]; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda rows: rows.sum(),
            "query 'f' on the dataset (1, 2) returned an array of shape () for one row; " + SHAPES,
        ),
        (
            lambda rows: rows[:, 0] * 1j,
            "query 'f' on the dataset (1, 2) returned 1j; a query returns one "
            "finite number, or a 1-D array of them",
        ),
        (
            lambda rows: rows.no_such_thing,
            "query 'f' on the dataset (1, 2) raised AttributeError: "
            "'numpy.ndarray' object has no attribute 'no_such_thing'",
        ),
    ],
)
def test_vectorized_functions_that_fail(function, message):
    error, _ = ask(query=sl.from_function(function, vectorized=True, name="f"))
    assert isinstance(error, sl.errors.QueryError)
    assert str(error) == message


def test_vectorized_functions_that_fail_on_several_rows_only():
    query = sl.from_function(lambda rows: rows[:1, 0], vectorized=True, name="f")
    refused(
        lambda: query.evaluate(np.array([[1, 2], [1, 3], [2, 3]])),
        f"query 'f' works on single rows but not on 3 rows at once; {SHAPES}",
        sl.errors.QueryError,
    )
