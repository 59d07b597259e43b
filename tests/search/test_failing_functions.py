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


SHAPES = "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
ONE = "; a query returns one finite number, or a 1-D array of them"


@pytest.mark.parametrize(
    ("function", "vectorized", "message"),
    [
        (raise_on_3, False, "(1, 3) raised KeyError: 'three'"),
        (lambda x: math.nan if 10 in x else 0, False, f"(1, 10) returned nan{ONE}"),
        (lambda x: float(x[0]) * math.inf, False, f"(1, 2) returned inf{ONE}"),
        (lambda x: [x, x], False, f"(1, 2) returned [array([1, 2]), array([1, 2])]{ONE}"),
        (lambda x: x.sort(), False, f"(1, 2) returned None{ONE}"),
        (lambda x: str(x[0] + 6), False, f"(1, 2) returned '7'{ONE}"),
        (lambda x: x[0] * 1j, False, f"(1, 2) returned 1j{ONE}"),
        (
            lambda rows: np.where(rows[:, 1] == 10, math.nan, 0),
            *(True, f"(1, 10) returned nan{ONE}"),
        ),
        (lambda rows: rows[:, :, None], True, f"(1, 2) returned [[1], [2]]{ONE}"),
        (
            lambda rows: rows.sum(),
            *(True, f"(1, 2) returned an array of shape () for one row; {SHAPES}"),
        ),
        (lambda rows: rows[:, 0] * 1j, True, f"(1, 2) returned 1j{ONE}"),
        (
            lambda rows: rows.no_such_thing,
            True,
            "(1, 2) raised AttributeError: 'numpy.ndarray' object has no attribute 'no_such_thing'",
        ),
    ],
)
def test_functions_that_fail(function, vectorized, message):
    error, _ = ask(query=sl.from_function(function, vectorized=vectorized, name="f"))
    assert isinstance(error, sl.errors.QueryError)
    assert str(error) == f"query 'f' on the dataset {message}"


def test_vectorized_functions_that_fail_on_several_rows_only():
    query = sl.from_function(lambda rows: rows[:1, 0], vectorized=True, name="f")
    refused(
        lambda: query.evaluate(np.array([[1, 2], [1, 3], [2, 3]])),
        f"query 'f' works on single rows but not on 3 rows at once; {SHAPES}",
        sl.errors.QueryError,
    )
