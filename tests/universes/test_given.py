"""What is accepted where a universe is: lists, columns and tables, of several libraries."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.checks import as_pandas

RECORDS = [1, 2, 3, 10]
ASKED = {"size": 3, "neighbors": sl.Bounded(1)}
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "Series": pd.Series,
    "Series of objects": lambda records: pd.Series(records, dtype=object),
    "nullable Series": lambda records: pd.Series(records, dtype="Int64"),
    "Index": pd.Index,
}
TABLE = pd.DataFrame({"age": RECORDS, "name": list("abcd")})


@pytest.mark.parametrize("make", COLUMNS.values(), ids=list(COLUMNS))
def test_records_are_the_universe_in_which_each_occurs_once(make):
    universe, records = sl.Universe.from_dataset(RECORDS), make(RECORDS)
    result = sl.global_sensitivity(records, "mean", **ASKED)
    assert result == sl.global_sensitivity(universe, "mean", **ASKED)
    assert result.universe == universe


def test_every_call_takes_records():
    universe = sl.Universe.from_dataset(RECORDS)
    x, one = RECORDS[:3], sl.Bounded(1)
    calls = [
        lambda u: sl.global_sensitivity(u, "median", **ASKED),
        lambda u: sl.local_sensitivity(u, "median", dataset=x, neighbors=one),
        lambda u: sl.smooth_sensitivity(u, "median", dataset=x, beta=1, neighbors="bounded"),
        lambda u: repr(sl.neighbor_table(u, "median", **ASKED)),
        lambda u: sl.sensitivity_curves(u, "median", size=3, distances=1, neighbors=one),
        lambda u: sl.local_curves(u, "median", dataset=x, distances=1, neighbors=one),
        lambda u: sl.audit(u, "median", 9, distances=1, **ASKED).verdict,
        lambda u: list(sl.datasets(u, 2)),
        lambda u: sl.universes.count_datasets(u, 2),
        lambda u: list(sl.neighboring_datasets(u, x, one)),
        lambda u: sl.universes.count_neighbors(u, x, one),
    ]
    for call in calls:
        assert call(pd.Series(RECORDS)) == call(RECORDS) == call(universe)


@pytest.mark.parametrize("kind", ["bool", "boolean"])
def test_truth_values_of_a_column_are_0_and_1(kind):
    smokes = pd.Series([True, False, False], dtype=kind)
    assert sl.Universe.from_dataset(smokes) == sl.Universe.from_dataset([0, 0, 1])
    assert sl.global_sensitivity(smokes, "sum", size=2, neighbors="bounded").exact == 1
    refused_with(
        lambda: sl.Universe.from_dataset(pd.Series([True, None], dtype="boolean")),
        r"use 0 and 1$|first$",
    )


def test_a_table_is_a_universe_of_rows():
    result = sl.global_sensitivity(TABLE, sl.SumOf("age", clip=(0, 5)), **ASKED)
    assert result.universe == sl.TableUniverse.from_dataset(TABLE)
    assert result.exact == 4


def test_a_mapping_may_hold_records():
    curves = sl.sensitivity_curves(
        {"age": RECORDS, "days": sl.Universe.from_domain([0, 1])}, "sum", distances=1, **ASKED
    )
    assert [(column, float(result)) for column, result in curves] == [("age", 9), ("days", 1)]


@pytest.mark.parametrize(
    ("given", "name"), [(RECORDS, "records"), (pd.Series(RECORDS, name="age"), "age")]
)
def test_curves_of_a_column_are_called_as_it_is(given, name):
    curves = sl.sensitivity_curves(given, "sum", distances=1, **ASKED)
    assert [column for column, _ in curves] == [name]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_column_with_missing_values_costs_that_column(bad):
    table = TABLE.assign(height=[1.5, bad, 2.0, 3.0])
    with pytest.warns(UserWarning, match="^left out: ") as caught:
        curves = sl.sensitivity_curves(table, "sum", distances=1, **ASKED)
    assert [str(one.message) for one in caught] == [
        f"left out: column 'height': records must be finite numbers, got {bad} at position 1; "
        "drop or replace missing and infinite values first"
    ]
    assert caught[0].filename == __file__
    assert [column for column, _ in curves] == ["age"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sl.sensitivity_curves(table.drop(columns="height"), "sum", distances=1, **ASKED)


def test_tables_and_columns_of_polars():
    pl = pytest.importorskip("polars")
    big = 2**60 + 1
    table = pl.DataFrame({"age": RECORDS, "big": [big, None, 1, 2], "name": list("abcd")})
    for given in (table, table.lazy()):
        universe = sl.TableUniverse.from_dataset(given, allow_missing=True)
        assert list(universe) == [(1, big, "a"), (2, None, "b"), (3, 1, "c"), (10, 2, "d")]
        with pytest.warns(UserWarning, match=r"^left out: column 'big': .* got None at position 1"):
            curves = sl.sensitivity_curves(given, "sum", distances=1, **ASKED)
        assert [(column, float(result)) for column, result in curves] == [("age", 9)]
    assert sl.Universe.from_dataset(table["age"]) == sl.Universe.from_dataset(RECORDS)
    assert sl.Universe.from_dataset(table["age"] > 2) == sl.Universe.from_dataset([0, 0, 1, 1])
    local = sl.local_sensitivity(
        table["age"], "sum", dataset=table["age"].head(3), neighbors="bounded"
    )
    assert local.exact == 9
    rows = sl.TableUniverse.from_dataset(table.select("age", "name"))
    counted = sl.local_sensitivity(
        rows, "count", dataset=table.select("name", "age").head(2), neighbors="unbounded"
    )
    assert counted.exact == 1
    refused_with(lambda: sl.Universe.from_dataset(table["big"]), "got None at position 1")


def test_tables_and_columns_of_arrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"age": RECORDS, "name": list("abcd")})
    assert sl.TableUniverse.from_dataset(table) == sl.TableUniverse.from_dataset(TABLE)
    for column in (table["age"], pa.array(RECORDS)):
        assert sl.global_sensitivity(column, "sum", **ASKED).exact == 9
    halves = pa.array([1, 2]).cast(pa.decimal128(21, 1))
    assert sl.Universe.from_dataset(halves).values == (Fraction(1), Fraction(2))


class Unreadable:
    """Looks like a table, and is none."""

    def __narwhals_dataframe__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("given", [Unreadable(), {1, 2}, "12", 3, None, {"a": 1}, object()])
def test_what_is_neither_a_table_nor_a_column_is_left_alone(given):
    assert as_pandas(given) is given
    refused_with(
        lambda: sl.global_sensitivity(given, "sum", **ASKED),
        r"^universe must be a Universe, or a list, a column or",
    )


@pytest.mark.parametrize(
    ("made", "where"),
    [
        (lambda age: sl.Universe.from_interval(age.min(), age.max()), "from_interval"),
        (lambda age: sl.Universe.from_domain(age.unique()), "from_domain"),
        (lambda age: sl.Universe.from_domain(age.drop_duplicates()), "from_domain"),
        (lambda age: sl.Universe.from_domain([age.min(), age.max()]), "from_domain"),
    ],
)
def test_public_values_that_come_from_a_column_are_told(made, where):
    with pytest.warns(UserWarning, match=f"^{where}: these look computed from data, and must be"):
        made(pd.Series([30, 20, 55, 20]))


def test_grids_are_no_data():
    for values in (np.arange(5), np.linspace(0, 1, 5), range(5), [0, 1], np.array([0.5, 2])):
        sl.Universe.from_domain(values)
    sl.Universe.from_interval(0, 1.5)
