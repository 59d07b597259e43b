"""Steps on tables: which rows stay, types, missing values, empty tables, the order of rows."""

from __future__ import annotations

import datetime
import hashlib
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused_with
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from sensitivity_lab import pipelines as pl
from sensitivity_lab.metrics.cells import encode, encode_rows, plain

NA = None

TABLE = pd.DataFrame(
    {
        "id": pd.Series([1, 1, 1, 2, 2, NA, 3], dtype="Int64"),
        "page": pd.Series(["a", "a", "b", "a", NA, "b", "c"], dtype="str"),
        "when": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-01", None, None, None]),
        "price": [0.5, 0.5, 1.5, np.nan, 2.5, 0.5, np.nan],
        "kind": pd.Categorical(["x", "y", "x", "x", "y", NA, NA]),
        "paid": [True, False, True, True, False, True, True],
    }
)
PUBLIC = pd.DataFrame(
    {"page": ["a", "a", "b", NA], "topic": pd.Categorical(["n", "m", "n", "m"]), "rank": range(4)}
)
RIGHT = pd.DataFrame({"page": ["a", "b", "b", NA, "c"], "item": [1, 2, 3, 4, 5]})

ROWS = pl.start(pl.AddMaxRows(1))
IDS = pl.start(pl.AddRowsWithID("id"))
TWO = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))

STEPS = {
    "filter_": ROWS >> pl.filter_(lambda row: row["paid"]),
    "map_": ROWS >> pl.map_(lambda row: {**row, "paid": not row["paid"]}),
    "flat_map": ROWS >> pl.flat_map(lambda row: [row] * row["paid"], 1),
    "join_public": ROWS >> pl.join_public(PUBLIC, on="page"),
    "max_rows_per_id": IDS >> pl.max_rows_per_id(2),
    "max_groups_per_id": IDS >> pl.max_groups_per_id(1, "page"),
    "max_rows_per_group_per_id": IDS >> pl.max_rows_per_group_per_id(1, "page"),
}
JOINS = {
    "DropExcess": pl.join_private("page", left=pl.DropExcess(2), right=pl.DropExcess(1)),
    "DropNonUnique": pl.join_private("page", left=pl.DropNonUnique(), right=pl.DropNonUnique()),
}
STEPS.update({f"join_private, {name}": TWO >> step for name, step in JOINS.items()})


def applied(step: str, table: pd.DataFrame, right: pd.DataFrame = RIGHT) -> pd.DataFrame:
    return STEPS[step](table, right) if step.startswith("join_private") else STEPS[step](table)


def rows_of(table: pd.DataFrame) -> Counter:
    return Counter(encode_rows(table))


@pytest.mark.parametrize("step", STEPS)
def test_types_are_kept_and_empty_tables_work(step):
    whole, empty = applied(step, TABLE), applied(step, TABLE[:0], RIGHT[:0])
    assert len(whole) > 0
    assert len(empty) == 0
    assert whole.dtypes[TABLE.columns].equals(TABLE.dtypes)
    assert empty.dtypes.equals(whole.dtypes)
    assert list(whole.index) == list(range(len(whole)))


@pytest.mark.parametrize("step", STEPS)
@given(order=st.permutations(range(7)), right=st.permutations(range(5)))
def test_the_order_of_rows_and_columns_does_not_matter(step, order, right):
    shuffled = TABLE.iloc[order][list(reversed(TABLE.columns))]
    assert rows_of(applied(step, shuffled, RIGHT.iloc[right])) == rows_of(applied(step, TABLE))


@pytest.mark.parametrize("step", STEPS)
def test_the_input_is_left_as_it_is(step):
    table = TABLE.copy()
    applied(step, table)
    pd.testing.assert_frame_equal(table, TABLE)


def test_which_rows_stay_is_written_down():
    """If this fails, results of earlier versions can no longer be reproduced."""
    table = pd.DataFrame({"id": [1] * 9, "n": range(9)})
    by_hand = [b"3:sid2:sn4:n1/14:n%d/1" % n for n in range(9)]
    assert encode_rows(table) == by_hand
    order = sorted(range(9), key=lambda n: hashlib.sha256(by_hand[n]).digest())
    assert order == [5, 3, 4, 0, 6, 8, 2, 7, 1]
    for k in range(1, 10):
        assert (IDS >> pl.max_rows_per_id(k))(table)["n"].tolist() == sorted(order[:k])


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", ["0", "1"])
def test_which_rows_stay_is_the_same_in_every_process(seed):
    program = (
        "import pandas as pd\n"
        "from sensitivity_lab import pipelines as pl\n"
        "table = pd.DataFrame({'id': ['x'] * 9, 'n': list('abcdefghi')}).sample(frac=1)\n"
        "t = pl.start(pl.AddRowsWithID('id')) >> pl.max_rows_per_id(3)\n"
        "print(*sorted(t(table)['n']))\n"
    )
    table = pd.DataFrame({"id": ["x"] * 9, "n": list("abcdefghi")})
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == sorted((IDS >> pl.max_rows_per_id(3))(table)["n"])


def test_which_rows_stay_does_not_depend_on_the_types_of_columns():
    t = IDS >> pl.max_rows_per_id(2)
    table = pd.DataFrame({"id": [1] * 5, "n": range(5), "name": list("abcde")})
    for types in ({"id": "Int64"}, {"n": float}, {"n": object, "name": "category"}):
        assert t(table.astype(types))["name"].tolist() == t(table)["name"].tolist()


def test_which_groups_stay_differs_between_ids():
    table = pd.DataFrame({"id": np.repeat(range(20), 3), "page": list("abc") * 20})
    kept = (IDS >> pl.max_groups_per_id(1, "page"))(table)
    assert kept.groupby("id").size().tolist() == [1] * 20
    assert set(kept["page"]) == set("abc")


def test_rows_with_a_missing_id_are_dropped_by_truncation():
    for step in ("max_rows_per_id", "max_groups_per_id", "max_rows_per_group_per_id"):
        assert applied(step, TABLE)["id"].notna().all()


def test_a_missing_group_is_a_group():
    kept = (IDS >> pl.max_rows_per_group_per_id(1, "page"))(TABLE)
    assert kept[kept["id"] == 2]["page"].isna().tolist() == [False, True]


def test_missing_keys_match_nothing():
    joined = applied("join_public", TABLE)
    assert joined["page"].tolist() == ["a", "a", "a", "a", "b", "a", "a", "b"]
    left, right = pd.DataFrame({"k": [1, NA]}), pd.DataFrame({"k": [NA, 1], "v": [1, 2]})
    for truncation in (pl.DropExcess(5), pl.DropNonUnique()):
        t = TWO >> pl.join_private("k", left=truncation, right=truncation)
        assert t(left, right)["v"].tolist() == [2]


def test_a_public_join_gives_what_pandas_gives():
    keys = TABLE.dropna(subset=["page"])
    expected = keys.merge(PUBLIC.dropna(), on="page")
    joined = applied("join_public", TABLE)
    assert rows_of(joined) == rows_of(expected)
    assert list(joined.columns) == list(expected.columns)


def test_joins_on_several_columns():
    left = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", NA], "l": [1, 2, 3]})
    right = pd.DataFrame({"b": ["x", "y", "y", NA], "a": [1.0, 1.0, 2.0, 2.0], "r": [1, 2, 3, 4]})
    t = TWO >> pl.join_private(["a", "b"], left=pl.DropExcess(1), right=pl.DropExcess(1))
    assert t(left, right)[["l", "r"]].to_numpy().tolist() == [[1, 1], [2, 2]]


def test_truncations_of_a_join():
    left = pd.DataFrame({"k": list("aaab"), "l": range(4)})
    right = pd.DataFrame({"k": list("ab"), "r": range(2)})
    excess = TWO >> pl.join_private("k", left=pl.DropExcess(2), right=pl.DropExcess(1))
    assert excess(left, right)["k"].tolist() == ["a", "a", "b"]
    unique = TWO >> pl.join_private("k", left=pl.DropNonUnique(), right=pl.DropExcess(1))
    assert unique(left, right)["k"].tolist() == ["b"]
    same = left.iloc[[0, 0, 0]]
    assert len(excess(same, right)) == 2  # equal rows are different rows
    assert len(unique(same, right)) == 0


def test_groups():
    t = ROWS >> pl.group_by("page", ["b", "d", "a"])
    groups = t(TABLE)
    assert list(groups) == ["b", "d", "a"]
    assert [len(table) for table in groups.values()] == [2, 0, 3]
    assert groups["d"].dtypes.equals(TABLE.dtypes)
    assert (t >> pl.count())(TABLE) == [2, 0, 3]
    assert (t >> pl.count()).map(2) == 2


def test_groups_of_ids_need_no_bound_on_groups_when_there_are_few_keys():
    t = IDS >> pl.max_rows_per_group_per_id(3, "page")
    assert (t >> pl.group_by("page", "abcd")).map(1) == 12
    many = pl.max_groups_per_id(9, "page")
    assert (t >> many >> pl.group_by("page", "abcd", pl.L2Distance())).map(1) == 6


def test_limits_of_another_column_or_of_rows_since_replaced_do_not_count():
    alone = pl.max_rows_per_group_per_id(1, "page")
    refused_with(lambda: IDS >> alone >> pl.group_by("kind", "xy"), "max_rows_per_group_per_id")
    refused_with(
        lambda: IDS >> alone >> pl.map_(lambda row: row) >> pl.group_by("page", "ab"),
        "max_rows_per_group_per_id",
    )
    limits = pl.max_groups_per_id(1, "page") >> alone
    kept = IDS >> limits >> pl.filter_(lambda row: row["paid"]) >> pl.group_by("page", "ab")
    assert kept.map(1) == 1


def test_new_columns():
    t = ROWS >> pl.flat_map(
        lambda row: [{"n": n, "page": row["page"]} for n in range(2)],
        max_rows=2,
        columns=["page", "n"],
    )
    for table in (TABLE, TABLE[:0]):
        made = t(table)
        assert len(made) == 2 * len(table)
        assert list(made.columns) == ["page", "n"]


def test_one_column_of_a_table():
    t = ROWS >> pl.filter_(lambda row: row["price"] > 0) >> pl.select("price")
    assert t(TABLE) == [0.5, 0.5, 1.5, 2.5, 0.5]
    assert (ROWS >> pl.select("kind", pl.Values()) >> pl.histogram("xy"))(TABLE) == [3, 2]
    refused_with(
        lambda: (ROWS >> pl.select("price"))(TABLE), r"a record must be a finite number, got nan"
    )


def test_a_list_of_rows_is_a_table():
    assert (ROWS >> pl.count())([{"a": 1}, {"a": 2}]) == 2
    assert (ROWS >> pl.filter_(bool))([]).empty


EQUAL = [
    [1, 1.0, True, np.int8(1), np.float32(1), Fraction(1), Decimal("1.0"), np.bool_(True)],
    [0, 0.0, -0.0, False, Decimal("-0")],
    [
        None,
        float("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        Decimal("nan"),
        np.float64("nan"),
    ],
    ["1", np.str_("1")],
    [b"1"],
    [0.1, np.float64(0.1)],
    [Decimal("0.1"), Fraction(1, 10)],
    [float("inf"), np.float32("inf"), Decimal("inf")],
    [float("-inf")],
    [pd.Timestamp("2024-01-02"), datetime.datetime(2024, 1, 2), np.datetime64("2024-01-02", "s")],
    [pd.Timestamp("2024-01-02", tz="UTC"), pd.Timestamp("2024-01-02 01:00", tz="Europe/Paris")],
    [datetime.date(2024, 1, 2)],
    [pd.Timedelta("1s"), datetime.timedelta(seconds=1), np.timedelta64(1000, "ms")],
    [[1, "a"], [1.0, "a"], np.array([1, "a"], dtype=object)],
    [(1, "a"), (1.0, "a")],
    [["a", 1]],
    [[[1], "a"]],
    [{1, 2}, frozenset([2, 1])],
    [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}],
    [[], np.array([])],
    [()],
    [""],
]


def test_equal_cells_and_only_they_have_equal_bytes():
    encoded = [{encode(value) for value in group} for group in EQUAL]
    assert [len(group) for group in encoded] == [1] * len(EQUAL)
    assert len(set.union(*encoded)) == len(EQUAL)


def test_equal_cells_are_one_object_to_functions():
    seen = [{(type(plain(value)), repr(plain(value))) for value in group} for group in EQUAL]
    assert [len(group) for group in seen] == [1] * len(EQUAL)
    assert len(set.union(*seen)) == len(EQUAL)


def test_rows_can_be_read_in_one_way_only():
    one = pd.DataFrame({"a": ["x3:sy"], "b": ["z"]})
    two = pd.DataFrame({"a": ["x"], "b": ["y3:sz"]})
    assert rows_of(one) != rows_of(two)
