"""Universes of tables: the records that they hold, and missing values among them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_checks import changes_of_one, is_plain
from strategies_records import frame, problems, tables

import sensitivity_lab as sl


@given(data=st.data())
def test_the_universe_holds_the_records_that_were_given(data):
    table = data.draw(tables(data.draw(st.sampled_from([("v",), ("g",), ("g", "v")]))))
    universe = table.universe
    given_rows = Counter(table.rows)
    assert set(universe.values) == set(given_rows)
    assert len(universe.values) == len(given_rows)
    assert all(is_plain(value) for record in universe.values for value in record)
    assert universe.size == table.size
    copies = [int(number) for number in universe.multiplicities(3)]
    for record, number in zip(universe.values, copies, strict=True):
        assert number == (3 if table.unlimited else min(3, given_rows[record]))


@given(data=st.data())
def test_a_dataset_becomes_the_frame_that_functions_see(data):
    columns = data.draw(st.sampled_from([("v",), ("g",), ("g", "v")]))
    asked = data.draw(problems("bounded", False, tables(columns)))
    seen = []

    def query(rows: pd.DataFrame) -> float:
        seen.append(rows)
        return 0.0

    result = sl.global_sensitivity(
        asked.table.universe, query, size=asked.size, neighbors=asked.relation
    )
    again = asked.table.universe.to_frame(result.witness.x)
    types = frame(columns, asked.table.rows).dtypes
    assert seen
    for rows in (*seen, again):
        assert list(rows.columns) == list(columns)
        pd.testing.assert_index_equal(rows.index, pd.RangeIndex(len(rows)), exact=True)
        if not asked.table.missing:
            assert rows.dtypes.equals(types)
        told = [
            tuple(None if pd.isna(value) else value for value in row)
            for row in rows.itertuples(index=False)
        ]
        assert not Counter(told) - Counter(asked.records)
    assert len(again) == len(result.witness.x)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, np.nan])
@pytest.mark.parametrize("dtype", [object, "float", "Int64"])
def test_a_missing_value_is_none_however_it_is_spelt(missing, dtype):
    if dtype == "float":
        missing = math.nan
    column = pd.Series([1, missing, missing, 3], dtype=dtype)
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"v": column}), allow_missing=True)
    assert Counter(universe.values) == Counter([(1,), (None,), (3,)])
    assert universe.size == 4
    assert sorted(map(int, universe.multiplicities(4))) == [1, 1, 2]


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_a_missing_category_is_none(dtype):
    column = pd.Series(["a", None, "b"], dtype=dtype)
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"g": column}), allow_missing=True)
    assert set(universe.values) == {("a",), (None,), ("b",)}
    found = changes_of_one(
        universe, sl.Histogram("g", categories=["a", None]), sl.Bounded(1), "L1", size=1
    )
    assert found.exact == 2


def test_a_domain_of_lists_may_hold_a_missing_value():
    universe = sl.TableUniverse.from_domain({"g": ["a", None], "v": [1, 2]}, allow_missing=True)
    assert set(universe.values) == set(product(["a", None], [1, 2]))


@pytest.mark.parametrize("method", ["auto", "enumeration"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (sl.SumOf("a"), 1),
        (sl.MeanOf("a"), Fraction(1, 2)),
        (sl.Covariance("a", "a"), Fraction(1, 4)),
        (sl.Histogram("a", categories=[True, False]), 2),
    ],
)
def test_true_and_false_count_as_1_and_0(method, query, expected):
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"a": [True, False, True]}))
    result = sl.global_sensitivity(universe, query, size=2, neighbors=sl.Bounded(1), method=method)
    assert result.exact == expected
    result.verify()


def test_a_table_is_a_finite_universe_and_none_of_numbers():
    table = sl.TableUniverse.from_domain({"age": [1, 2]}, copies=3)
    numbers, interval = table.column("age"), sl.Universe.from_interval(1, 2)
    finite = [isinstance(one, sl.universes.FiniteUniverse) for one in (table, numbers, interval)]
    assert finite == [True, True, False]
    assert [isinstance(one, sl.Universe) for one in (table, numbers)] == [False, True]
    # What only numbers have is not there to fail later.
    of_numbers = {name for name in dir(numbers) if not hasattr(table, name)}
    assert {"array", "integers", "from_interval"} == {n for n in of_numbers if n[0] != "_"}
    assert [(one.numeric, one.size, one.extent) for one in (table, numbers, interval)] == [
        (False, 6, "universe of 6 records"),
        (True, 6, "universe of 6 records"),
        (True, math.inf, "interval [1, 2], every real number"),
    ]
    assert (table == numbers, len({table, numbers})) == (False, 2)
    assert str(sl.TableUniverse.from_domain({"age": [1, 2]})) == (
        "Universe of the rows (age) (1,), (2,), each as often as a dataset can hold"
    )


def test_a_column_name_with_a_colon_stays_as_it_is():
    """The text was once made by replacing a colon in that of numbers."""
    table = sl.TableUniverse(pd.DataFrame({"a:b of the values": ["x:y"]}))
    assert str(table) == "Universe of 1 record (a:b of the values): ('x:y',)"


def test_equality_is_of_columns_rows_and_multiplicities():
    def table(name="age", ages=(1, 2), copies=2):
        return sl.TableUniverse.from_domain({name: list(ages)}, copies=copies)

    assert table() == table()
    assert hash(table()) == hash(table())
    others = [table(name="years"), table(ages=(1, 3)), table(copies=3), table(copies=None)]
    assert [table() == other for other in others] == [False] * 4


def test_one_column_with_a_missing_value_is_enough_to_ask():
    table = pd.DataFrame({"g": ["a", "b"], "v": [1.0, None]})
    with pytest.raises(sl.errors.InputError, match=r"column 'v' has missing values \(1 of 2\)"):
        sl.TableUniverse.from_dataset(table)
