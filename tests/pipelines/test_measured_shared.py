"""One privacy id in two tables: it is one change, and its join is bounded by a product."""

from __future__ import annotations

from collections import Counter

import oracle_pipelines as oracle
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st
from measured_cases import rows_of

from sensitivity_lab import pipelines as pl

SHARED = pl.AddRowsWithSharedID("id")
START = pl.start(SHARED)
USERS = pd.DataFrame({"id": [1, 1, 1, 2], "name": list("abca")})
BOUGHT = pd.DataFrame({"id": [1, 1, 2], "item": list("vwx")})
TAGGED = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(0, 1)), min_size=2, max_size=6
)


def split(rows):
    """The rows of the two tables, of rows (table, id, value)."""
    return [[(owner, value) for table, owner, value in rows if table == side] for side in (0, 1)]


def tables_of(rows):
    return tuple(
        pd.DataFrame(side, columns=["id", name]).astype(int)
        for side, name in zip(split(rows), ("name", "item"), strict=True)
    )


def joined(rows):
    left, right = split(rows)
    return [(owner, name, item) for owner, name in left for other, item in right if owner == other]


def matches(rows, most_left, most_right):
    """The rows of the join of truncated tables, counted key by key."""
    left, right = (Counter(owner for owner, _ in side) for side in split(rows))
    return sum(min(left[owner], most_left) * min(right[owner], most_right) for owner in left)


@pytest.mark.exhaustive
@given(
    rows=TAGGED,
    most=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    d_in=st.integers(1, 2),
)
def test_a_shared_id_is_one_change(rows, most, d_in):
    sides = {"left": pl.DropExcess(most[0]), "right": pl.DropExcess(most[1])}
    universe = tables_of(rows)
    for t, evaluate, distance in (
        (START >> pl.join_private("id"), joined, oracle.ids(0)),
        (
            START >> pl.join_private("id", **sides) >> pl.count(),
            lambda x: matches(x, *most),
            oracle.absolute,
        ),
    ):
        result = pl.measured_stability(t, universe, d_in)
        expected, inputs, pairs = oracle.measure(
            [rows], [oracle.ids(1)], [d_in], evaluate, distance
        )
        assert (result.measured, result.inputs, result.pairs) == (expected, inputs, pairs)
        assert result.measured <= result.bound == t.map(d_in)
        assert t.input_metric.distance(result.witness.x, result.witness.y) <= d_in


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize(
    ("left", "right", "product"),
    [
        (pl.DropExcess(2), pl.DropExcess(2), 4),
        (pl.DropExcess(3), pl.DropExcess(1), 3),
        (pl.DropExcess(1), pl.DropExcess(2), 2),
        (pl.DropNonUnique(), pl.DropExcess(2), 2),
    ],
)
def test_the_join_of_one_id_is_the_product(left, right, product):
    """The earlier text's rule; with a row per table instead of an id it is the sum."""
    rows = START >> pl.join_private("id", left=left, right=right)
    result = pl.measured_stability(rows >> pl.count(), (USERS, BOUGHT), SHARED)
    assert result.measured == result.bound == product
    assert rows.output_domain.rows_per_id("id") == product
    assert pl.measured_stability(rows, (USERS, BOUGHT), SHARED).measured == 1
    assert (rows >> pl.max_rows_per_id(1) >> pl.count()).map(SHARED) == 1


def test_where_each_table_has_ids_of_its_own_two_ids_change():
    own = pl.start(pl.AddRowsWithID("id"), pl.AddRowsWithID("id")) >> pl.join_private("id")
    tables = USERS[2:], BOUGHT[1:]
    assert pl.measured_stability(own, tables, (1, 1)).measured == own.map(1, 1) == 2
    shared = START >> pl.join_private("id")
    assert pl.measured_stability(shared, tables, 1).measured == shared.map(1) == 1


def test_with_more_keys_than_the_id_a_truncation_does_not_bound_the_rows_of_an_id():
    days = START >> pl.join_private(["id", "day"], left=pl.DropExcess(1), right=pl.DropExcess(1))
    assert days.map(1) == 1
    assert days.output_domain.rows_per_id("id") is None
    refused_with(lambda: days >> pl.count(), "bound the rows of an id first")


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (
            lambda: pl.start(SHARED, SHARED),
            "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), one "
            "per table, or AddRowsWithSharedID(column) alone; got AddRowsWithSharedID(column='id')"
            ", AddRowsWithSharedID(column='id')",
        ),
        (
            lambda: pl.measured_stability(
                START >> pl.join_private("id"), (USERS, BOUGHT), 1, sizes=(1, 1)
            ),
            "join_private('id') takes tables that share their ids, of any sizes; leave out sizes",
        ),
        (
            lambda: pl.measured_stability(START >> pl.join_private("id"), USERS, 1),
            "join_private('id') takes two tables, so universe must be a tuple of two, got "
            "DataFrame",
        ),
        (
            lambda: pl.measured_stability(
                START >> pl.join_private("id"), (USERS, BOUGHT.rename(columns={"id": "user"})), 1
            ),
            "the table has no column 'id' of privacy ids; its columns are 'user', 'item'",
        ),
        (
            lambda: (START >> pl.join_private("id")).map(1, 1),
            "d_in must be a whole number (at least 0: ids in 'id' added or removed with all "
            "their rows in both tables), got (1, 1) (tuple)",
        ),
        (
            lambda: START >> pl.join_private("name"),
            "cannot chain the start >> join_private('name'): the start returns (tables; tables) "
            "(ids in 'id' added or removed with all their rows in both tables), but "
            "join_private('name') takes two tables whose rows are added or removed, truncated by "
            "left=... and right=...; or two tables with the same column of privacy ids, which must "
            "be among the keys, without truncation unless they share the ids",
        ),
    ],
)
def test_what_does_not_fit_is_refused(attempt, message):
    refused(attempt, message)


def test_the_result_says_what_one_id_is():
    t = START >> pl.join_private("id", pl.DropExcess(1), pl.DropExcess(2)) >> pl.count()
    result = pl.measured_stability(t, (USERS[2:], BOUGHT), SHARED)
    assert repr(result) == (
        "Measured stability of join_private('id', left=DropExcess(max_rows=1), "
        "right=DropExcess(max_rows=2)) >> count(): 2 (tight)\n"
        "  map        2\n"
        "  neighbors  at most 1 id in 'id' added or removed with all its rows in both tables\n"
        "  witness x  [] and []  to 0\n"
        "  witness y  [(1, c)] and [(1, v), (1, w)]  to 2\n"
        "  searched   32 inputs, 52 pairs; universe of 2 and 3 rows"
    )
    rows = result.witness.changed_rows(["Users", "Purchases", "rows"])
    assert set(rows["table"]) == {"Users", "Purchases", "rows"}
    assert rows_of(result.witness.y[0]) == [(1, "c")]


def test_equal_rows_of_both_tables_are_different_rows():
    same = pd.DataFrame({"id": [1, 1]})
    result = pl.measured_stability(
        START >> pl.join_private("id") >> pl.max_rows_per_id(9), (same, same), 1
    )
    assert (result.measured, result.inputs) == (4, 9)


@given(a=TAGGED, b=TAGGED)
def test_the_distance_counts_ids_of_both_tables(a, b):
    assert pl.SharedIdDistance("id").distance(tables_of(a), tables_of(b)) == oracle.ids(1)(a, b)
