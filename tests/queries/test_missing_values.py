"""Queries on tables with missing values, by hand."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from checks import refused_with
from record_checks import changes_of_one

import sensitivity_lab as sl

MISSING = sl.TableUniverse.from_dataset(
    pd.DataFrame({"g": ["a", None, "a", None], "v": [4.0, 6.0, None, None]}), allow_missing=True
)


@pytest.mark.parametrize(
    ("query", "bounded", "removed"),
    [
        (sl.Count(), 0, 1),
        (sl.SumOf("v"), 6, 6),
        (sl.SumOf("v", clip=(1, 5)), 5, 5),
        (sl.Histogram("g", categories=["a", "b"]), 1, 1),
        (sl.Histogram("g", categories=["a", None]), 2, 1),
        (sl.Histogram("v", bins=[0, 5, 10]), 2, 1),
        (sl.GroupBy("g", "count", groups=["a"]), 1, 1),
        (sl.GroupBy("g", sl.SumOf("v"), groups=["a", None]), 10, 6),
        (sl.MeanOf("v", empty=0), 6, 6),
    ],
)
def test_missing_values_by_hand(query, bounded, removed):
    """Of the rows (a, 4), (-, 6), (a, -), (-, -), datasets of two, L1."""
    for relation, expected in (
        (sl.Bounded(1), bounded),
        (sl.Unbounded(1, direction="remove"), removed),
    ):
        result = changes_of_one(MISSING, query, relation, "L1")
        assert result.exact == expected
        result.verify()


def test_a_mean_of_no_value_at_all_is_an_error_unless_it_has_an_answer():
    refused_with(
        lambda: changes_of_one(MISSING, sl.MeanOf("v"), sl.Bounded(1), "L1"),
        "mean",
        (sl.errors.InputError, sl.errors.QueryError),
    )
    assert changes_of_one(MISSING, sl.MeanOf("v", empty=50), sl.Bounded(1), "L1").exact == 46


def test_a_mean_that_always_has_a_value_takes_missing_ones():
    """Three of four rows: at least one of the two numbers is there, removing none of them."""
    result = changes_of_one(MISSING, sl.MeanOf("v"), sl.Bounded(1), "L1", size=3)
    assert result.exact == 2


def test_a_covariance_leaves_out_records_with_a_missing_value():
    table = pd.DataFrame({"v": [0.0, 2.0, None, 2.0], "w": [0.0, 3.0, 9.0, None]})
    universe = sl.TableUniverse.from_dataset(table, allow_missing=True)
    add = sl.Unbounded(1, direction="add")
    result = changes_of_one(universe, sl.Covariance("v", "w"), add, "L1", size=3)
    assert result.exact == Fraction(3, 2)
