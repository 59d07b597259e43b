"""The article's two functions: its published numbers, and its errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from paths import ARTICLE_FILE, DATA

import sensitivity_lab as sl
from sensitivity_lab.empirical import (
    bounded_empirical_global_L1_sensitivity,
    unbounded_empirical_global_L1_sensitivity,
)

REFERENCE = json.loads(ARTICLE_FILE.read_text("utf-8"))
FUNCTIONS = {
    "bounded": bounded_empirical_global_L1_sensitivity,
    "unbounded": unbounded_empirical_global_L1_sensitivity,
}
both = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)

SCHOOL = pd.read_csv(DATA / "school_large.csv")


def split(query: str) -> tuple[str, int]:
    """The article's query_type and percentile."""
    name, _, q = query.replace(" ", "_").partition("_")
    return name, int(q or 50)


@pytest.mark.parametrize(
    "entry",
    REFERENCE,
    ids=lambda e: f"{e['scenario']}-{e['column']}-{e['neighbors']}-{e['k']}-{e['query']}",
)
def test_published_numbers(entry):
    column, (name, q) = entry["column"], split(entry["query"])
    found = FUNCTIONS[entry["neighbors"]](
        {column: entry["universe"]}, entry["size"], [column], name, entry["k"], q
    )
    assert found == {column: pytest.approx(entry["value"], abs=1e-9)}


def test_the_last_distance_keeps_one_record():
    """Three of four records that are 1 become 2."""
    bounded = FUNCTIONS["bounded"]
    assert bounded({"mood": [1, 2] * 4}, 4, ["mood"], "mean", 3) == {"mood": 0.75}


@pytest.mark.parametrize(
    ("relation", "meant"),
    [("bounded", sl.Bounded(2)), ("unbounded", sl.Unbounded(2, exactly=True))],
)
def test_unbounded_means_exactly_and_bounded_at_most(monkeypatch, relation, meant):
    """The article's queries and data hardly tell the two meanings apart."""
    asked = []

    def record(_universe, _query, *, size, neighbors):
        asked.append((size, neighbors))
        return 0.0

    monkeypatch.setattr("sensitivity_lab.empirical.global_sensitivity", record)
    FUNCTIONS[relation](SCHOOL, 6, ["school_year"], "mean", 2)
    assert asked == [(6, meant)]


@both
def test_a_frame_and_a_dict_of_lists_are_one(function):
    as_lists = SCHOOL[["absence_days"]].to_dict("list")
    arguments = (6, ["absence_days"], "median", 2)
    assert function(SCHOOL, *arguments) == function(as_lists, *arguments)


@both
def test_percentile_is_read_only_by_the_percentile(function):
    universe = {"a": [1, 2, 3, 10]}
    assert function(universe, 3, ["a"], "mean", 1, percentile=90) == function(
        universe, 3, ["a"], "mean", 1
    )
    assert function(universe, 3, ["a"], "percentile", 1) == function(
        universe, 3, ["a"], "median", 1
    )


@both
def test_answers_are_plain_floats_in_the_order_of_the_columns(function):
    found = function(SCHOOL, 6, ["absence_days", "school_year"], "count", 1)
    assert list(found) == ["absence_days", "school_year"]
    assert all(type(value) is float for value in found.values())


@both
@pytest.mark.parametrize("whole", [np.int64, np.uint8])
def test_numpy_integers_are_whole_numbers(function, whole):
    assert function(SCHOOL, whole(6), ["school_year"], "mean", whole(2)) == function(
        SCHOOL, 6, ["school_year"], "mean", 2
    )


@both
def test_every_other_column_is_left_alone(function):
    """The names are text, and nobody asks for them."""
    assert function(SCHOOL, 6, [], "mean", 1) == {}


A = {"a": [1, 2, 3, 10]}
INFEASIBLE = "column 'a': hamming_distance {k} is too large for a release of {n} of 4 records: "


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (A, 5, ["a"], "mean", 1),
            "column 'a': the release of 5 records is larger than the universe of 4; "
            "choose universe_subset_cardinality of at most 4",
        ),
        (
            (A, 2, ["a"], "mean", 2),
            INFEASIBLE.format(k=2, n=2)
            + "it must be below 2 and at most 2; the largest feasible one is 1",
        ),
        (
            (A, 3, ["a"], "mean", 2),
            INFEASIBLE.format(k=2, n=3)
            + "it must be below 3 and at most 1; the largest feasible one is 1",
        ),
        ((A, 3, ["b"], "mean", 1), "unknown column 'b'; the columns are 'a'"),
        (
            ({"a": [1, 2, float("nan")]}, 2, ["a"], "mean", 1),
            "column 'a': records must be finite numbers, got nan at position 2; "
            "drop or replace missing and infinite values first",
        ),
        (
            (SCHOOL, 6, ["name"], "mean", 1),
            "column 'name': a record must be an int, float, Fraction or Decimal, got 'Chris' (str) "
            "at position 0; give a numeric column",
        ),
        (
            ({"a": []}, 1, ["a"], "mean", 1),
            "column 'a': a universe needs at least one record, got none",
        ),
        (
            (A, 3, "a", "mean", 1),
            "columns must be a list of columns, got the text 'a'",
        ),
    ],
)
def test_bad_arguments_are_named(function, arguments, message):
    with pytest.raises(sl.errors.InputError) as caught:
        function(*arguments)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("column", ["a", "b"])
def test_every_column_is_checked_before_the_first_search(monkeypatch, column):
    def never(*_arguments, **_options):
        raise AssertionError("the search has started")

    monkeypatch.setattr("sensitivity_lab.empirical.global_sensitivity", never)
    universe = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], column: [1, 2]}
    with pytest.raises(ValueError, match=f"^column '{column}': the release of 3 records is larger"):
        bounded_empirical_global_L1_sensitivity(universe, 3, ["a", "b"], "mean", 1)
