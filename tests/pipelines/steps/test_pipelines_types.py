"""Values that are equal are one value to functions of rows, whatever the type of their column."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle_pipelines as oracle
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.metrics.cells import encode, plain

ROWS = pl.SymmetricDistance()
TABLES = pl.Start(pl.Table(), ROWS)
VALUES = pl.Start(pl.Values(), ROWS)

DAY = "2024-01-02"


def texts_of(table: pd.DataFrame) -> list[str]:
    return table["c"].tolist()


def map_of(function) -> pl.Step:
    return pl.map_(lambda row: {"c": function(row["c"])}, columns=["c"])


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ([[1], [1.0], [True], pd.array([1], dtype="Int64"), np.array([1], dtype="float32")], "1"),
        ([[-0.0], [0.0], [0], [False], [Decimal("-0")]], "0"),
        ([[None], [np.nan], [pd.NA], [pd.NaT], pd.Categorical([None])], "nan"),
        ([["1"], pd.Categorical(["1"]), pd.Series(["1"], dtype=object)], "'1'"),
        ([pd.Categorical([1]), pd.Categorical([1, 0.5])[:1]], "1"),
        (
            [
                pd.to_datetime([DAY]),
                pd.Series([DAY], dtype="datetime64[s]"),
                [datetime.datetime(2024, 1, 2, fold=1)],
                pd.Series([np.datetime64(DAY, "D")], dtype=object),
            ],
            "Timestamp('2024-01-02 00:00:00')",
        ),
        (
            [
                pd.to_datetime([DAY]).tz_localize("UTC"),
                pd.to_datetime([f"{DAY} 01:00"]).tz_localize("Europe/Paris"),
                [datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)],
            ],
            "Timestamp('2024-01-02 00:00:00+0000', tz='UTC')",
        ),
        (
            [pd.to_timedelta(["1s"]), [datetime.timedelta(seconds=1)], [np.timedelta64(1, "s")]],
            "Timedelta('0 days 00:00:01')",
        ),
        ([[[1, 2.0]], [np.array([1.0, 2.0])], [[1, 2]]], "[1, 2]"),
        ([[(1, 0.5)], [(True, 0.5)]], "(1, 0.5)"),
        ([[{"b": 1, "a": None}], [{"a": np.nan, "b": 1.0}]], "{'a': nan, 'b': 1}"),
        ([[{3, 1}], [frozenset([1.0, 3.0])]], "frozenset({1, 3})"),
    ],
)
def test_equal_cells_of_any_type_of_column_are_one_value(columns, text):
    tables = [pd.DataFrame({"c": column}) for column in columns]
    t = TABLES >> map_of(lambda value: f"{value!r}, {getattr(value, 'unit', '')}")
    assert {ROWS.distance(tables[0], table) for table in tables} == {0}
    unit = "ns" if text.startswith("Time") else ""
    assert [texts_of(t(table)) for table in tables] == [[f"{text}, {unit}"]] * len(tables)


def test_an_array_without_dimensions_is_its_only_value():
    assert [plain(np.array(value)) for value in (5, 0.5, "a")] == [5, 0.5, "a"]
    assert plain(np.ma.masked) is math.nan
    assert encode(np.ma.masked) == encode(None)


def test_times_that_nanoseconds_do_not_reach():
    far = datetime.datetime(9999, 1, 1)
    assert plain(far) == plain(np.datetime64("9999-01-01", "s"))
    assert plain(far).unit == plain(np.datetime64("9999-01-01", "s")).unit == "us"
    long = np.timedelta64(10**12, "s")
    assert encode(long) == b"e%d" % 10**21
    assert plain(long).unit == plain(np.timedelta64(10**15, "ms")).unit


def test_the_order_of_columns_is_not_seen():
    t = TABLES >> pl.map_(lambda row: {"c": ",".join(row)}, columns=["c"])
    table = pd.DataFrame({"b": [1], "a": [2]})
    assert texts_of(t(table)) == texts_of(t(table[["a", "b"]])) == ["a,b"]


def test_lists_and_arrays_of_numbers():
    t = VALUES >> pl.map_(repr)
    assert t([1, 2]) == t(np.array([1, 2, 0.5]))[:2] == ["1", "2"]
    assert t(pd.Series([1, None])) == ["1", "nan"]
    numbers = (pl.Numbers(), ROWS) >> pl.filter_(lambda x: isinstance(x, int))
    assert numbers([1.0, True, 0.5, Decimal(3), Fraction(1, 3)]) == [1, 1, 3]
    floats = (pl.Numbers(floats=True), ROWS) >> pl.map_(lambda x: 1 / math.copysign(4, x))
    assert floats([1, -0.0, 0]).tolist() == [0.25, 0.25, 0.25]


def test_new_values_find_their_type():
    """Whether the old type holds a value depends on other rows: 0.5 fits beside another."""
    halved = TABLES >> pl.map_(lambda row: {"n": row["n"] / 2})
    assert halved(pd.DataFrame({"n": [1, 4]}))["n"].tolist() == [0.5, 2.0]
    assert halved(pd.DataFrame({"n": [1, 4, 0.5]}))["n"].tolist() == [0.5, 2.0, 0.25]
    large = TABLES >> pl.map_(lambda row: {"n": row["n"] + 2**53})
    assert large(pd.DataFrame({"n": [1, 0.5]}))["n"].tolist() == [2**53 + 1, 2.0**53]
    result = pl.measured_stability(halved, pd.DataFrame({"n": [1, 4, 0.5]}), 1)
    assert result.verdict == "tight"


def test_a_list_of_rows_becomes_a_table_without_rounding():
    """A column of floats would round 2**53 + 1, so that one more row changes another."""
    rows = [{"c": 2**53 + 1}, {"c": 0.5}]
    t = TABLES >> pl.filter_(lambda _row: True)
    assert t(rows)["c"].tolist() == [2**53 + 1, 0.5]
    assert ROWS.distance(t(rows), t(rows[:1])) == 1


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", object, "category"])
def test_keys_of_groups_and_joins_do_not_depend_on_types(dtype):
    table = pd.DataFrame({"k": pd.Series([1, 2, 2], dtype=dtype), "v": range(3)})
    assert (TABLES >> pl.group_by("k", [1.0, 2]) >> pl.count())(table) == [1, 2]
    right = pd.DataFrame({"k": [True, 2.0, np.nan], "w": range(3)})
    start = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))
    t = start >> pl.join_private("k", pl.DropExcess(5), pl.DropExcess(5))
    assert len(t(table, right)) == 3


NUMBERS = st.one_of(st.integers(), st.floats(), st.fractions(), st.decimals(), st.booleans())


@given(first=NUMBERS, second=NUMBERS)
@example(first=Fraction(1, 10), second=Decimal("0.1"))
@example(first=5e-324, second=Fraction(5e-324))
@example(first=Fraction(10**400, 3), second=Decimal("-0.0"))
def test_numbers_are_one_object_exactly_if_they_are_equal(first, second):
    a, b = ((type(plain(one)), repr(plain(one))) for one in (first, second))
    known = [oracle.seen(one) for one in (first, second)]
    assert [a, b] == [(type(one), repr(one)) for one in known]
    assert (a == b) == (encode(first) == encode(second))
    assert Counter(map(encode, map(plain, (first, second)))) == Counter(
        map(encode, (first, second))
    )
