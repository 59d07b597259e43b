"""Queries by group: what the engine `groups` refuses, and what cannot be asked."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from checks import refused, refused_with
from group_cases import grouped, table
from strategies import NAMES

import sensitivity_lab as sl

OF_MULTIPLICITIES = ("count_distinct",)
ON_NUMBERS = ", ".join(repr(name) for name in NAMES.split(", ") if name not in OF_MULTIPLICITIES)

SMALL = table([("a", 1), ("a", 2), ("b", 3), ("b", 10)])


def test_mean_of_is_a_shorthand():
    options = {"size": 3, "neighbors": sl.Bounded(1), "method": "groups"}
    one = sl.GroupBy("g", sl.MeanOf("d", empty=0), groups=["a", "b"])
    first = sl.global_sensitivity(SMALL, one, **options)
    second = sl.global_sensitivity(SMALL, grouped("mean", 0, "ab"), **options)
    assert (first.exact, first.query.name) == (second.exact, "mean of d by g")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (
            sl.GroupBy("g", sl.MeanOf("d"), groups=["a", "b"]),
            "groups needs an answer for empty groups: mean of d by g has none, and a group can be "
            "empty in datasets of size 2; give the query empty=..., or public group_sizes",
        ),
        (
            sl.GroupBy("g", sl.ColumnQuery("d", sl.Var(ddof=1), empty=0), groups=["a", "b"]),
            "groups covers var_ddof_1 by group only if the groups' sizes are public; pass "
            "group_sizes (a variance or standard deviation with ddof 0 also works if at most one "
            "row is removed and one added)",
        ),
        (
            grouped("mean", 0, "ab", group_sizes=[1, 3]),
            "groups finds no dataset on which mean of d by g has an answer and the group_sizes are "
            "(1, 3): for one group of 2 rows that is 3",
        ),
        (
            sl.CountIf("d > 1"),
            "groups covers a query of one column by group (GroupBy), the column without missing "
            "values, not count of d > 1",
        ),
    ],
)
def test_refusals_say_what_to_do(query, reason):
    refused(
        lambda: sl.global_sensitivity(
            SMALL, query, size=2, neighbors=sl.Bounded(1), method="groups"
        ),
        f"no engine accepts {query.name} here: {reason}",
        sl.errors.NoEngineError,
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sl.Stack(sl.ColumnQuery("d", "std"), sl.Count()),
            "std of d cannot be part of a Stack: the norm of roots and other answers is not "
            "computed; take the variance, such as ColumnQuery('age', 'var'), or release each query "
            "with its share of epsilon",
        ),
        (
            lambda: sl.ColumnQuery("d", "sum", empty=3),
            "empty must be None or 0 for a sum: without values it is 0, got 3",
        ),
        (
            lambda: sl.ColumnQuery("d", "mode"),
            f"query must be a query on numbers, such as {ON_NUMBERS}, 'percentile_90' or "
            "Var(ddof=1), got 'mode'; write one of your own as a function of a DataFrame",
        ),
        (
            lambda: sl.ColumnQuery("d", "percentile_101"),
            "a percentile must be a number from 0 to 100, got 'percentile_101'; write for example "
            "'percentile_25'",
        ),
        (
            lambda: grouped("mean", 0, "ab", group_sizes=[1]),
            "group_sizes must have a size for each of the groups ('a', 'b'), got [1]",
        ),
        (
            lambda: grouped("mean", 0, "ab", group_sizes={"a": 1, "c": 2}),
            "group_sizes must have a size for each of the groups ('a', 'b'), got {'a': 1, 'c': 2}",
        ),
    ],
)
def test_what_cannot_be_asked_is_told(make, message):
    refused(make, message)


def test_a_query_with_group_sizes_has_no_answer_elsewhere():
    query = grouped("mean", 0, "ab", group_sizes={"b": 1, "a": 2})
    frame = pd.DataFrame({"g": list("aab"), "d": [1, 2, 3]})
    assert query(frame) == (1.5, 3.0)
    refused_with(
        lambda: query(frame[1:]),
        r"sizes \(2, 1\), got \(1, 1\); the engine 'groups'",
        sl.errors.QueryError,
    )


def test_ranks_of_a_column_alone_and_by_group():
    """Weights that are no quantile's, or not those of a mean: the engine groups leaves them."""
    table = pd.DataFrame({"g": list("aabbb"), "v": [0, 7, 1, 2, 9]})
    universe = sl.TableUniverse.from_dataset(table)
    options = {"size": 3, "neighbors": sl.Unbounded(1)}
    for inner in (
        *("iqr", "range", "trimmed_mean_10"),
        sl.LStatistic(lambda n: [2] + [0] * (n - 1)),
        sl.LStatistic(lambda n: [0] * n),
    ):
        query = sl.ColumnQuery("v", inner, empty=0)
        alone, listed = (
            sl.global_sensitivity(universe, query, **options, method=method)
            for method in ("auto", "enumeration")
        )
        assert (alone.method, alone.exact) == ("one_column", listed.exact)
        by_group = sl.GroupBy("g", query, groups=["a", "b"])
        with pytest.raises(sl.errors.NoEngineError):
            sl.global_sensitivity(universe, by_group, **options, method="groups")
    refused_with(
        lambda: sl.global_sensitivity(
            universe, sl.ColumnQuery("v", "gini_mean_difference"), size=1, neighbors="unbounded"
        ),
        "at least 2 records",
    )


def by_group(numbers, query, relation, norm="L2"):
    universe = sl.TableUniverse.from_domain(pd.DataFrame({"g": ["c", "b"], "v": numbers}))
    query = sl.GroupBy("g", sl.ColumnQuery("v", query, empty=0), groups=["a", "b", "c"])
    return sl.global_sensitivity(universe, query, size=2, neighbors=relation, norm=norm)


def test_squares_that_no_float_holds_are_compared():
    found = by_group([1.0, 1e200], "max", sl.Bounded(3))
    assert Fraction(found.upper) ** 2 >= Fraction(1e200) ** 2 + 1
    found.verify()


def test_variances_beyond_the_range_of_floats_are_refused():
    universe = sl.TableUniverse.from_domain({"g": ["a", "b"], "v": [-1e300, 1e300]})
    query = sl.GroupBy("g", sl.ColumnQuery("v", "var", empty=0), groups=["a", "b"])
    refused_with(
        lambda: sl.global_sensitivity(universe, query, size=3, neighbors="bounded"),
        "is beyond the range of floats",
    )
