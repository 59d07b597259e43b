"""Bad predicates and functions of tables, and what once was a raw error: the whole message."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from refusals import TABLE, UNIVERSE, ask, refused

import sensitivity_lab as sl

NUMBERS = sl.Universe.from_dataset([1, 2, 3])


# Predicates


@pytest.mark.parametrize(
    ("predicate", "parts"),
    [
        (lambda _: [True], ("1", "3")),
        (lambda _: True, ("True",)),
        (lambda _: None, ("None",)),
        (lambda rows: rows, ("DataFrame",)),
        (lambda rows: np.ones((len(rows), 2), dtype=bool), ("2",)),
        (lambda rows: rows["age"], ("boolean",)),
        (lambda rows: rows["sex"], ("boolean",)),
        (lambda rows: rows["age"] / 0 > "a", ("TypeError",)),
        ("age + 1", ("boolean",)),
    ],
    ids=["wrong length", "scalar", "None", "frame", "2-D", "ints", "words", "raises", "eval"],
)
def test_what_a_predicate_returns(predicate, parts):
    refused(lambda: ask(sl.CountIf(predicate)), "predicate", *parts)


@pytest.mark.parametrize(
    "predicate",
    [
        lambda rows: rows["age"] > rows["age"].mean(),
        lambda rows: rows.index == 0,
        lambda rows: rows["age"] == rows["age"].max(),
        lambda rows: np.full(len(rows), len(rows) > 1),
        "age > age.mean()",
        lambda rows: rows["sex"].duplicated(),
    ],
    ids=["mean", "index", "max", "length", "eval", "duplicated"],
)
def test_a_predicate_that_depends_on_other_rows(predicate):
    """A count of such rows is no sum of a function of a record, and would be wrong as one."""
    refused(lambda: ask(sl.CountIf(predicate)), "predicate", "record")


# Functions


ENDLESS: list = []
ENDLESS += [ENDLESS, ENDLESS]
DEEP: list = [1.0]
for _ in range(3000):
    DEEP = [DEEP]


@pytest.mark.parametrize("answer", [ENDLESS, DEEP], ids=["endless", "deep"])
def test_lists_in_lists_without_end(answer):
    refused(
        lambda: sl.global_sensitivity(NUMBERS, lambda _: answer, size=2, neighbors="bounded"),
        "returned",
        "one finite number",
    )


def ragged(rows):
    return np.zeros(1 if rows["age"].max() > 30 else 2)


FUNCTIONS = {
    "ragged": (ragged, ("numbers", "1", "2")),
    "a number or a vector": (
        lambda rows: 1.0 if rows["age"].max() > 30 else np.zeros(1),
        ("length",),
    ),
    "nan": (lambda _: math.nan, ("nan", "finite")),
    "nan inside": (lambda _: [1.0, math.nan], ("nan", "finite")),
    "infinite": (lambda _: np.array([math.inf, 1]), ("inf", "finite")),
    "a word": (lambda _: "three", ("'three'", "number")),
    "words": (lambda _: ["a", "b"], ("'a'", "number")),
    "two-dimensional": (lambda _: np.zeros((2, 2)), ("2",)),
    "a frame": (lambda rows: rows, ("DataFrame",)),
    "empty": (lambda _: [], ("[]",)),
    "nothing": (lambda _: None, ("None",)),
    "complex": (lambda _: [1j], ("1j",)),
    "a dict": (lambda _: {"a": 1}, ("'a'",)),
}


@pytest.mark.parametrize(("function", "parts"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_a_function_of_a_table_returns(function, parts):
    refused(lambda: ask(sl.from_function(function, name="mine")), "mine", *parts)


def test_a_function_that_raises_is_told_with_the_dataset():
    refused(lambda: ask(sl.from_function(lambda rows: rows["Age"], name="mine")), "mine", "Age")


NUMBER_FUNCTIONS = {
    "ragged": (lambda data: np.zeros(1 if data.max() > 2 else 2), ("length",)),
    "nan inside": (lambda _: [1.0, math.nan], ("nan", "finite")),
    "words": (lambda _: ["a", "b"], ("'a'", "number")),
    "two-dimensional": (lambda _: np.zeros((2, 2)), ("2",)),
    "empty": (lambda _: [], ("[]",)),
}


@pytest.mark.parametrize(("function", "parts"), NUMBER_FUNCTIONS.values(), ids=NUMBER_FUNCTIONS)
def test_what_a_function_of_numbers_returns(function, parts):
    refused(lambda: ask(sl.from_function(function, name="mine"), NUMBERS), "mine", *parts)


# Datasets


def test_datasets_of_a_table():
    refused(lambda: UNIVERSE.to_frame([("f", 99, 0)]), "99")
    refused(
        lambda: sl.local_sensitivity(
            UNIVERSE, "count", dataset=[("f", 99, 0)], neighbors=sl.Bounded(1)
        ),
        "99",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sl.Histogram("sex", categories=[["f"], ["m"]]),
            "categories must be single values of the column, got ['f']",
        ),
        (
            lambda: sl.Stack([sl.Count(), sl.SumOf("age")]),
            "a Stack takes its queries one by one, got [Count(), SumOf(column='age', clip=None, "
            "where=None)]; write Stack(*queries)",
        ),
    ],
)
def test_what_once_was_a_raw_error(call, message):
    with pytest.raises(sl.errors.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_numbers_of_numpy_are_numbers():
    """What `table["age"].min()` returns, and rows as lists, are as good as Python's own."""
    low, high = TABLE["age"].min(), np.float32(40)
    assert sl.SumOf("age", clip=(low, high)) == sl.SumOf("age", clip=(20, 40.0))
    assert sl.SumOf("age", clip=np.array([20, 40])) == sl.SumOf("age", clip=(20, 40))
    assert repr(sl.MeanOf("age", empty=low)) == "MeanOf(column='age', empty=20)"
    assert repr(sl.Covariance("age", "smokes", np.int64(1)).ddof) == "1"
    assert repr(sl.Histogram("age", bins=np.array([0, 50])).bins) == "(0, 50)"
    assert repr(sl.Histogram("age", TABLE["age"].unique()).categories) == "(20, 30, 50)"
    assert UNIVERSE.index(["f", 20, 0]) == UNIVERSE.index(("f", 20, 0))
    assert sl.Count()(TABLE) == 3.0


def test_records_are_plain_values_of_any_column_type():
    table = pd.DataFrame({"age": pd.arrays.SparseArray([0, 0, 1])})
    values = sl.TableUniverse.from_dataset(table).values
    assert [type(value) for (value,) in values] == [int, int]
