"""Bad arguments and bad functions of pipelines: the whole message."""

from __future__ import annotations

import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

TABLE = pd.DataFrame({"g": ["a", "b"], "v": [1, 0]})
NUMBERS = pl.Start(pl.Numbers(), pl.SymmetricDistance())
ROWS = pl.start(pl.AddMaxRows(1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pl.map_(3), "map_ takes a function of one record or row, got 3"),
        (lambda: pl.filter_("v > 0"), "filter_ takes a function of one record or row, got 'v > 0'"),
        (
            lambda: pl.flat_map(None, max_rows=1),
            "flat_map takes a function of one record or row, got None",
        ),
        (lambda: pl.histogram(3), "histogram: categories must be a list of values, got 3"),
        (lambda: pl.group_by("g", 3), "group_by: keys must be a list of values, got 3"),
        (
            lambda: pl.join_public(TABLE, 3),
            "join_public: on must be a column or several, got 3",
        ),
        (
            lambda: (ROWS >> pl.flat_map(lambda _row: [7], max_rows=1))(TABLE),
            "flat_map(f, max_rows=1): row 0, {'g': 'a', 'v': 1}, gave 7, expected rows: dicts of "
            "columns to values",
        ),
        (
            lambda: pl.measured_stability(pl.count(), TABLE, 1),
            "transformation must be a Transformation, got count(); chain steps after a start, such "
            "as start(AddMaxRows(1)) >> count()",
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
    with pytest.raises(sl.InputError) as caught:
        call()
    assert str(caught.value) == message


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
    with pytest.raises(sl.QueryError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_a_universe_of_rows_is_a_universe_of_tables():
    universe = sl.TableUniverse(TABLE, [2, 1])
    chain = ROWS >> pl.count()
    listed = pl.measured_stability(chain, pd.concat([TABLE, TABLE[:1]]), 2)
    assert repr(pl.measured_stability(chain, universe, 2)) == repr(listed)
    assert "universe of 3 rows" in repr(listed)
