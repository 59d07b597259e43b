"""Bad tables and bad queries on them: what the message says, at the call."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from refusals import TABLE, ask, refused

import sensitivity_lab as sl

NUMBERS = sl.Universe.from_dataset([1, 2, 3])


# Universes


@pytest.mark.parametrize(
    "column",
    [
        [1.0, math.nan, 2.0],
        pd.array([1, pd.NA, 2], dtype="Int64"),
        ["a", None, "b"],
        pd.array(["a", None, "b"], dtype="category"),
        pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
    ],
    ids=["nan", "NA", "None", "category", "NaT"],
)
@pytest.mark.parametrize("make", ["from_dataset", "from_domain"])
def test_missing_values_are_refused_unless_they_are_allowed(column, make):
    table = pd.DataFrame({"x": column, "y": [1, 2, 3]})
    refused(
        lambda: getattr(sl.TableUniverse, make)(table),
        *("'x'", "missing values (1 of 3)", "allow_missing=True"),
    )


@pytest.mark.parametrize("value", [None, math.nan, pd.NA])
def test_missing_values_in_a_domain_are_refused(value):
    refused(
        lambda: sl.TableUniverse.from_domain({"x": [1, value], "y": [1, 2]}),
        *("missing", "'x'", "allow_missing=True"),
    )


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sl.TableUniverse.from_dataset([1, 2]), ("DataFrame", "list")),
        (lambda: sl.TableUniverse.from_dataset(TABLE.iloc[:0]), ("at least one", "0 rows")),
        (lambda: sl.TableUniverse.from_dataset(pd.DataFrame(index=[0, 1])), ("column",)),
        (
            lambda: sl.TableUniverse.from_dataset(pd.DataFrame([[1, 2]], columns=["a", "a"])),
            ("column", "'a'", "rename"),
        ),
        (lambda: sl.TableUniverse.from_domain({}), ("column",)),
        (lambda: sl.TableUniverse.from_domain({"a": [1, 2], "b": []}), ("'b'", "at least one")),
        (lambda: sl.TableUniverse.from_domain({"a": [1, 2, 1]}), ("'a'", "1", "more than once")),
        (
            lambda: sl.TableUniverse.from_domain(pd.DataFrame({"a": [1, 2, 1]})),
            ("distinct", "more than once"),
        ),
        (lambda: sl.TableUniverse.from_domain({"a": "abc"}), ("'a'", "'abc'")),
        (lambda: sl.TableUniverse.from_domain({"a": 5}), ("'a'", "5")),
        (
            lambda: sl.TableUniverse.from_dataset(pd.DataFrame({"a": [[1], [2]]})),
            ("'a'", "hashable"),
        ),
    ],
)
def test_universes(make, parts):
    refused(make, *parts)


def test_sizes_of_a_table():
    refused(lambda: ask("count", size=4), "size", "4", "3")
    refused(lambda: ask("count", neighbors=sl.Bounded(2, exactly=True)), "2", "1")


# Queries


COLUMNS = ("'sex'", "'age'", "'smokes'")


@pytest.mark.parametrize(
    "query",
    [
        sl.SumOf("Age"),
        sl.SumOf("Age", clip=(0, 1)),
        sl.MeanOf("Age"),
        sl.MeanOf("Age", empty=0),
        sl.Histogram("Age", categories=[1]),
        sl.Histogram("Age", bins=[0, 1]),
        sl.GroupBy("Age", "count", groups=[1]),
        sl.GroupBy("sex", sl.SumOf("Age"), groups=["f"]),
        sl.Covariance("Age", "smokes"),
        sl.Covariance("smokes", "Age"),
        sl.Stack("count", sl.SumOf("Age")),
    ],
    ids=lambda query: query.name,
)
def test_an_unknown_column_is_named_with_those_there_are(query):
    refused(lambda: ask(query), "'Age'", *COLUMNS)


@pytest.mark.parametrize("predicate", ["Age > 3", lambda rows: rows["Age"] > 3])
def test_a_predicate_on_an_unknown_column(predicate):
    refused(lambda: ask(sl.CountIf(predicate)), "Age", *COLUMNS)


@pytest.mark.parametrize(
    "query",
    [
        sl.SumOf("sex"),
        sl.MeanOf("sex"),
        sl.Covariance("sex", "age"),
        sl.Covariance("age", "sex"),
        sl.Histogram("sex", bins=[0, 1]),
    ],
    ids=lambda query: query.name,
)
def test_a_column_of_words_has_no_numbers(query):
    refused(lambda: ask(query), "'sex'", "'f'")


@pytest.mark.parametrize("query", ["mean", "median", "sum", "var", "std", "min", "max"])
def test_a_number_query_on_a_table(query):
    refused(lambda: ask(query), query, "rows", "column", "MeanOf(")


@pytest.mark.parametrize("query", [sl.Mean(), sl.Percentile(25), sl.Var(ddof=1)])
def test_a_number_query_object_on_a_table(query):
    refused(lambda: ask(query), query.name, "rows", "column", "MeanOf(")


@pytest.mark.parametrize(
    "query",
    [
        sl.CountIf("age > 3"),
        sl.SumOf("age"),
        sl.MeanOf("age"),
        sl.Histogram("age", bins=[0, 1]),
        sl.GroupBy("sex", "count", groups=["f"]),
        sl.Covariance("age", "smokes"),
        sl.Stack(sl.SumOf("age")),
    ],
    ids=lambda query: query.name,
)
def test_a_query_on_records_on_numbers(query):
    refused(lambda: ask(query, NUMBERS), query.name, "TableUniverse")


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sl.Histogram("age"), ("categories=None", "bins=None")),
        (
            lambda: sl.Histogram("age", categories=[1], bins=[0, 1]),
            ("categories=[1]", "bins=[0, 1]"),
        ),
        (lambda: sl.Histogram("sex", categories=["f", "m", "f"]), ("categories", "'f'", "once")),
        (lambda: sl.Histogram("sex", categories=[None, math.nan]), ("categories", "once")),
        (lambda: sl.Histogram("sex", categories=[]), ("categories", "at least one")),
        (lambda: sl.Histogram("sex", categories="fm"), ("categories", "'fm'")),
        (lambda: sl.Histogram("age", bins=[0, 20, 10]), ("bins", "[0, 20, 10]", "ascending")),
        (lambda: sl.Histogram("age", bins=[0, 10, 10]), ("bins", "[0, 10, 10]", "ascending")),
        (lambda: sl.Histogram("age", bins=[0]), ("bins", "[0]", "two")),
        (lambda: sl.Histogram("age", bins=[0, math.nan]), ("bins", "nan")),
        (lambda: sl.Histogram("age", bins=["a", "b"]), ("bins", "'a'")),
        (lambda: sl.GroupBy("sex", "count"), ("groups",)),
        (lambda: sl.GroupBy("sex", "count", groups=[]), ("groups", "at least one")),
        (lambda: sl.GroupBy("sex", "count", groups=["f", "f"]), ("groups", "'f'", "once")),
        (lambda: sl.GroupBy("sex", "count", groups="fm"), ("groups", "'fm'")),
        (lambda: sl.GroupBy("sex", "mean", groups=["f"]), ("mean", "MeanOf")),
        (lambda: sl.GroupBy("sex", 3, groups=["f"]), ("query", "3")),
        (lambda: sl.Stack(), ("Stack", "at least one", "none")),
        (lambda: sl.Stack([sl.Count(), sl.Count()]), ("Stack", "[")),
        (lambda: sl.Stack("count", 3), ("3",)),
        (lambda: sl.SumOf("age", clip=("a", "b")), ("clip", "'a'")),
        (lambda: sl.Covariance("age", "smokes", ddof=-1), ("ddof", "-1")),
        (lambda: sl.Covariance("age", "smokes", ddof="x"), ("ddof", "'x'")),
        (lambda: sl.CountIf("age >"), ("predicate", "age >")),
    ],
)
def test_queries(make, parts):
    """At the call that makes the query, or, at the latest, at the one that asks it."""
    refused(lambda: ask(make()), *parts)


def test_too_few_records_for_a_covariance():
    refused(
        lambda: ask(sl.Covariance("age", "smokes", ddof=1), size=1, neighbors=sl.Unbounded(1)),
        *("covariance", "at least 2 records", "smaller sizes"),
    )


def test_bins_on_a_column_without_numbers_left():
    table = pd.DataFrame({"x": pd.array([None, None], dtype="Float64")})
    universe = sl.TableUniverse.from_dataset(table, allow_missing=True)
    refused(lambda: ask(sl.MeanOf("x"), universe, size=1), "mean", "no values", "empty")
    assert ask(sl.Histogram("x", bins=[0, 1]), universe, size=1).exact == 0


def test_a_sum_of_vectors_asks_for_its_norm():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.VectorSum(["age"])
    assert str(caught.value) == (
        "clip_norm must be given: the largest norm that a row may have, to which larger rows are "
        "scaled down; it bounds what one row adds, and must not depend on the data"
    )
