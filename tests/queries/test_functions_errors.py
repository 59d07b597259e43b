"""Answers of functions that are no answers, and functions that look beyond their row."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from function_cases import by_rows, solve

import sensitivity_lab as sl


def message_of(function, **options) -> str:
    with pytest.raises(sl.errors.QueryError) as caught:
        solve(function, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ([1, [2]], "[1, [2]]"),
        ([[1], [2, 3]], "[[1], [2, 3]]"),
        ([[1, 2]], "[[1, 2]]"),
        ([], "[]"),
        ("3", "'3'"),
        (["3"], "['3']"),
        ([b"3"], "[b'3']"),
        (None, "None"),
        (pd.NA, "<NA>"),
        ([1, None], "[1, None]"),
        (1j, "1j"),
        ([float("inf")], "[inf]"),
        (Decimal("NaN"), "Decimal('NaN')"),
        (Decimal("1e99999999"), "about 1e99999999 (numbers have at most 4,000 digits)"),
        (Decimal("1e-99999999"), "about 1e-99999999 (numbers have at most 4,000 digits)"),
        (2**1100, f"{str(2**1100)[:100]} ... {str(2**1100)[-50:]}"),
        (np.datetime64("2020-01-01"), "datetime.date(2020, 1, 1)"),
    ],
)
@pytest.mark.parametrize("rows", [False, True])
def test_what_is_no_finite_number_is_an_error(answer, shown, rows):
    function = lambda _: answer  # noqa: E731
    query = by_rows(function) if rows else sl.from_function(function)
    assert message_of(query) == (
        f"query 'function' on the dataset (1, 2) returned {shown}; a query returns one finite "
        "number, or a 1-D array of them"
    )


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (np.ma.masked, "None"),
        (np.ma.array(7.0, mask=True), "None"),
        (np.ma.array([1, 2], mask=[False, True]), "[1, None]"),
        ([1.0, np.ma.masked], "[1.0, <MaskedConstant>]"),
    ],
)
def test_a_masked_answer_is_an_error(answer, shown):
    assert message_of(lambda _: answer) == (
        f"query 'function' on the dataset (1, 2) returned a masked answer: {shown}; a masked "
        "entry is not a number, so fill it with one, for example with .filled(0)"
    )


def test_a_masked_answer_of_many_rows_is_an_error():
    query = sl.from_function(lambda rows: np.ma.masked_less(rows[:, 0], 2), vectorized=True)
    assert message_of(query) == (
        "query 'function' on the dataset (1, 2) returned a masked answer: None; a masked "
        "entry is not a number, so fill it with one, for example with .filled(0)"
    )


def test_a_mask_that_hides_nothing_is_none():
    result = solve(lambda x: np.ma.array(x, mask=False).max())
    assert (result.value, result.exact) == (7.0, 7)


# Vectorized functions


DEPEND = {
    "the mean of the batch": lambda rows: rows[:, 0] - rows[:, 0].mean(),
    "the largest of the batch": lambda rows: rows[:, 0] - rows.max(),
    "its place": lambda rows: np.arange(len(rows)),
    "the number of rows": lambda rows: np.full(len(rows), len(rows)),
}


@pytest.mark.parametrize("name", DEPEND)
@pytest.mark.parametrize("records", [4, 24], ids=["few datasets", "many datasets"])
def test_a_function_that_looks_beyond_its_row_is_an_error(name, records):
    query = sl.from_function(DEPEND[name], vectorized=True)
    message = message_of(query, universe=sl.Universe.from_dataset(range(records)), size=3)
    assert message.startswith("query 'function' on the dataset (")
    assert message.endswith(
        " alone; a vectorized function gets shape (datasets, n) and answers each row from this "
        "row only, for example with axis=1"
    )


def test_the_error_tells_both_answers():
    query = sl.from_function(DEPEND["the mean of the batch"], vectorized=True, name="centred")
    assert message_of(query) == (
        "query 'centred' on the dataset (1, 2) returned -1.0 among other datasets and 0.0 alone; "
        "a vectorized function gets shape (datasets, n) and answers each row from this row only, "
        "for example with axis=1"
    )


def test_the_answers_of_the_witness_are_compared():
    """A function that is wrong on one dataset only, which no sample needs to hold, is found out."""

    def mistaken(rows):
        answers = rows.sum(axis=1).astype(float)
        if len(rows) > 1:
            answers[(rows == [3, 4, 5]).all(axis=1)] = 1e6
        return answers

    query = sl.from_function(mistaken, vectorized=True)
    message = message_of(query, universe=sl.Universe.from_dataset(range(40)), size=3)
    assert message.startswith(
        "query 'mistaken' on the dataset (3, 4, 5) returned 1000000.0 among other datasets and "
        "12.0 alone; "
    )


def test_the_order_of_additions_may_differ_between_rows_and_batches():
    def jittered(rows):
        answers = rows.mean(axis=1)
        return answers if len(rows) == 1 else answers * (1 + 2**-50)

    universe = sl.Universe.from_dataset([0.1 * i for i in range(20)])
    result = solve(sl.from_function(jittered, vectorized=True), universe, 4)
    assert result.value == pytest.approx(19 * 0.1 / 4)
    result.verify()  # the value is that of single rows
