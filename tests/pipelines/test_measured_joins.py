"""Measured stability of joins of two private tables."""

from __future__ import annotations

import oracle_pipelines as oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_cases import rows_of

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

ROWS, IDS = pl.SymmetricDistance(), pl.IdDistance("id")


SIDES = {"E1": pl.DropExcess(1), "E2": pl.DropExcess(2), "N": pl.DropNonUnique()}


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize(("left", "right"), [("E2", "N"), ("E1", "E2"), ("N", "N")])
@settings(max_examples=4)  # each evaluates up to 128 joins twice
@given(
    left_rows=st.lists(st.tuples(st.sampled_from("aab"), st.integers(0, 2)), max_size=2),
    right_rows=st.lists(st.tuples(st.sampled_from("abb"), st.integers(0, 2)), max_size=1),
    d_in=st.sampled_from([(1, 1), (0, 1), (2, 1)]),
)
def test_private_joins(left, right, left_rows, right_rows, d_in):
    records = [[("a", 0), ("b", 0), *left_rows], [("a", 0), ("b", 0), *right_rows]]

    def tables(*rows):
        names = ("left", "right")
        return tuple(
            pd.DataFrame(
                {
                    "key": pd.Series([key for key, _ in side], dtype="str"),
                    name: pd.Series([value for _, value in side], dtype="int64"),
                }
            )
            for side, name in zip(rows, names, strict=True)
        )

    start = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))
    sides = {"left": SIDES[left], "right": SIDES[right]}
    change = oracle.symmetric_difference
    t = start >> pl.join_private("key", **sides)
    result = pl.measured_stability(t, tables(*records), d_in)
    expected = oracle.measure(
        records, [change] * 2, d_in, lambda *rows: rows_of(t(tables(*rows))), change
    )
    assert (result.measured, result.inputs, result.pairs) == expected
    assert result.measured <= result.bound == t.map(*d_in)


@pytest.mark.exhaustive
@settings(max_examples=4)
@given(
    left=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), max_size=2),
    right=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), max_size=2),
    d_in=st.sampled_from([(1, 1), (2, 1)]),
)
def test_private_joins_of_ids(left, right, d_in):
    t = pl.start(pl.AddRowsWithID("id"), pl.AddRowsWithID("id")) >> pl.join_private("id")
    universe = (
        pd.DataFrame([(1, 5), (2, 5), *left], columns=["id", "name"]),
        pd.DataFrame([(1, 5), (2, 5), *right], columns=["id", "item"]),
    )
    assert pl.measured_stability(t, universe, d_in).measured <= t.map(*d_in)


def test_a_private_join_of_tables_with_ids():
    t = pl.start(pl.AddRowsWithID("id"), pl.AddRowsWithID("id")) >> pl.join_private("id")
    left = pd.DataFrame({"id": [1, 1, 2], "name": list("xyz")})
    right = pd.DataFrame({"id": [1, 2, 2], "item": list("xyz")})
    result = pl.measured_stability(t, (left, right), (1, 1))
    assert t.output_metric == IDS
    assert (result.measured, result.bound) == (2, 2)


def test_the_witness_lists_the_changed_rows():
    users = pd.DataFrame({"user_id": list("aabb"), "name": range(4)})
    purchases = pd.DataFrame({"user_id": list("aabb"), "item": range(4)})
    one = pl.AddMaxRows(1)
    chain = pl.start(one, one) >> pl.join_private(
        "user_id", left=pl.DropExcess(1), right=pl.DropExcess(1)
    )
    witness = pl.measured_stability(chain, (users, purchases), (one, one)).witness
    rows = witness.changed_rows(["Users", "Purchases", "join"])
    # One row in each of the inputs, and four in the output.
    assert rows["table"].value_counts().to_dict() == {"join": 4, "Users": 1, "Purchases": 1}
    for side, tables in (("x", witness.output_x), ("y", witness.output_y)):
        told = {f"({', '.join(map(str, row))})" for row in tables.itertuples(index=False)}
        assert told >= set(rows["row"][(rows["table"] == "join") & (rows["only in"] == side)])
    assert set(witness.changed_rows()["table"]) == {"first table", "second table", "output"}
    with pytest.raises(InputError, match=r"^names: got 1 for 3 tables; give one each$"):
        witness.changed_rows(["Users"])


def test_answers_are_told_as_numbers_and_entries():
    total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    rows = pl.measured_stability(total, [1, 8, 7], d_in=2).witness.changed_rows()
    assert rows.values.tolist() == [
        ["input", "y", "8"],
        ["input", "y", "7"],
        ["output", "x", "0"],
        ["output", "y", "10"],
    ]
