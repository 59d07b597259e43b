"""Bad arguments and bad functions of pipelines: the whole message."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

TABLE = pd.DataFrame({"g": ["a", "b"], "v": [1, 0]})
NUMBERS = pl.Start(pl.Numbers(), pl.SymmetricDistance())
ROWS = pl.start(pl.AddMaxRows(1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: (ROWS >> pl.flat_map(lambda _row: [7], max_rows=1))(TABLE),
            "flat_map(f, max_rows=1): row 0, {'g': 'a', 'v': 1}, gave 7, expected rows: dicts of "
            "columns to values",
        ),
        (
            lambda: pl.measured_stability(
                ROWS >> pl.count(), sl.TableUniverse.from_domain(TABLE), 1
            ),
            "the universe has as many copies of a value as a dataset can hold; say how many with "
            "TableUniverse.from_domain(values, copies=...)",
        ),
    ],
)
def test_arguments(call, message):
    refused(call, message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: (NUMBERS >> pl.map_(lambda x: 1 // x))([4, 0]),
            "map_(f) on 0 raised ZeroDivisionError",
        ),
        (
            lambda: (ROWS >> pl.map_(lambda row: {**row, "v": 1 // row["v"]}))(TABLE),
            "map_(f) on {'g': 'b', 'v': 0} raised ZeroDivisionError",
        ),
        (
            lambda: (ROWS >> pl.filter_(lambda row: row["age"] > 1))(TABLE),
            "filter_(f) on {'g': 'a', 'v': 1} raised KeyError: 'age'",
        ),
        (
            lambda: (ROWS >> pl.filter_(lambda _row: pd.NA))(TABLE),
            "filter_(f) on {'g': 'a', 'v': 1} raised TypeError: boolean value of NA is ambiguous",
        ),
        (
            lambda: (ROWS >> pl.flat_map(lambda _row: 7, max_rows=1))(TABLE),
            "flat_map(f, max_rows=1) on {'g': 'a', 'v': 1} raised TypeError: 'int' object is not "
            "iterable",
        ),
    ],
)
def test_a_function_that_fails_is_told_with_its_row(call, message):
    with pytest.raises(sl.errors.QueryError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_rows_without_an_end_are_refused():
    t = ROWS >> pl.flat_map(lambda row: itertools.repeat(row), max_rows=2)
    refused(
        lambda: t(TABLE),
        "flat_map(f, max_rows=2): row 0, {'g': 'a', 'v': 1}, gave more rows than max_rows=2",
    )


@pytest.mark.exhaustive
def test_a_join_of_too_many_rows_is_refused_before_it_is_made():
    many = pd.DataFrame({"k": [1] * 10_000})
    t = ROWS >> pl.join_public(many.assign(w=1), on="k")
    assert len(t(many[:10])) == 100_000
    refused(
        lambda: t(many),
        "the join has 100,000,000 rows, the limit is 10,000,000; truncate the tables to fewer rows "
        "of a key, or take other keys",
        sl.errors.TooLargeError,
    )


WIDE = pd.DataFrame({f"c{place}": ["x" * 10_000] for place in range(1_000)})


@pytest.mark.parametrize(
    "call",
    [
        lambda: pl.histogram([*range(20_000), 0]),
        lambda: pl.group_by("g", [*range(20_000), 0]),
        lambda: (ROWS >> pl.map_(lambda row: row["v"]))(WIDE),
        lambda: (ROWS >> pl.map_(lambda _row: {}))(WIDE),
        lambda: (ROWS >> pl.flat_map(lambda row: [row, row], 1))(WIDE),
        lambda: (ROWS >> pl.select("v"))(WIDE),
        lambda: (ROWS >> pl.join_public(TABLE, on="v"))(WIDE),
        lambda: (ROWS >> pl.count())(pd.concat([WIDE, WIDE], axis=1)),
        lambda: (ROWS >> pl.count())([dict.fromkeys(WIDE), {}]),
        lambda: pl.IdDistance("v").distance(WIDE, WIDE),
        lambda: (NUMBERS >> pl.clamp(0, 1))(["x" * 10**6]),
        lambda: pl.SymmetricDistance().distance([[object] * 10_000], []),
    ],
)
def test_no_message_floods_the_terminal(call):
    with pytest.raises(sl.errors.SensitivityLabError) as caught:
        call()
    assert 30 < len(str(caught.value)) < 2_500


@pytest.mark.exhaustive
def test_no_result_floods_the_terminal():
    t = pl.Start(pl.Values(), pl.SymmetricDistance()) >> pl.histogram(range(2_000))
    result = pl.measured_stability(t, ["x" * 10_000, 7], 1)
    assert len(repr(result)) < 2_000
    zeros = ", ".join(["0"] * 24)
    assert f"witness x  []  to [{zeros}, ... 2,000 values]" in repr(result)
    sizes = pl.measured_stability(NUMBERS >> pl.map_(abs), range(60), 1, sizes=(59, 60))
    assert ", 23, ... 60 values]" in repr(sizes)
    assert len(sizes.to_dict()["y"]) == 60


def test_a_distance_beyond_all_ids_is_no_search_of_its_own():
    t = pl.start(pl.AddRowsWithID("g")) >> pl.max_rows_per_id(1)
    assert pl.measured_stability(t, TABLE, 10**12).measured == 2


def test_a_universe_of_rows_is_a_universe_of_tables():
    universe = sl.TableUniverse(TABLE, [2, 1])
    chain = ROWS >> pl.count()
    listed = pl.measured_stability(chain, pd.concat([TABLE, TABLE[:1]]), 2)
    assert repr(pl.measured_stability(chain, universe, 2)) == repr(listed)
    assert "universe of 3 rows" in repr(listed)


def test_bounds_are_not_taken_for_sizes():
    with pytest.raises(TypeError, match="positional argument"):
        pl.Numbers(0, 5)
