"""What steps on tables do not accept, with the whole message."""

from __future__ import annotations

import pandas as pd
import pytest
from checks import refused

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

ROWS = pl.start(pl.AddMaxRows(1))
IDS = pl.start(pl.AddRowsWithID("id"))
TWO = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))

FLAT = "flat_map(f, max_rows=2)"
SMALL = pd.DataFrame({"id": [1, 2], "n": [0, 3]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: (ROWS >> pl.flat_map(lambda row: [row] * row["n"], 2))(SMALL),
            f"{FLAT}: row 1, {{'id': 2, 'n': 3}}, gave more rows than max_rows=2",
        ),
        (
            lambda: (ROWS >> pl.flat_map(lambda row: [{"m": row["n"]}], 2))(SMALL),
            f"{FLAT}: row 0, {{'id': 1, 'n': 0}}, gave a row with the columns 'm', expected 'id', "
            "'n'; say the new columns with columns=[...]",
        ),
        (
            lambda: pl.map_(abs, columns=["n", 3]),
            "map_: columns must be a column or several, got ['n', 3]",
        ),
        (
            lambda: IDS >> pl.map_(dict, columns=["n"]),
            "map_(dict): columns has no 'id'; with privacy ids every row keeps the id of the row "
            "it comes from",
        ),
        (
            lambda: (ROWS >> pl.count())([{"a": 1}, {"b": 1}]),
            "the rows of a table have the same columns: row 0 has 'a', row 1 has 'b'; write a "
            "missing value as None",
        ),
        (
            lambda: (IDS >> pl.flat_map(lambda row: [{**row, "id": 7}], 2))(SMALL),
            f"{FLAT}: row 0, {{'id': 1, 'n': 0}}, gave a row of another id, 'id' = 7; with privacy "
            "ids every row keeps the id of the row it comes from",
        ),
        (
            lambda: (IDS >> pl.max_rows_per_id(1))(SMALL.drop(columns="id")),
            "max_rows_per_id(1): the table has no column 'id'; its columns are 'n'",
        ),
        (
            lambda: (TWO >> pl.join_private("id", left=pl.DropExcess(1), right=pl.DropExcess(1)))(
                SMALL, SMALL
            ),
            "both tables of a join have the column 'n', which is not a key; rename it in one of "
            "them, or add it to on",
        ),
        (
            lambda: (TWO >> pl.join_private("m", pl.DropExcess(1), pl.DropExcess(1)))(SMALL, SMALL),
            "join_private('m', left=DropExcess(max_rows=1), right=DropExcess(max_rows=1)): left: "
            "the table has no column 'm'; its columns are 'id', 'n'",
        ),
        (
            lambda: (TWO >> pl.join_private("id", pl.DropExcess(1), pl.DropExcess(1)))(SMALL),
            "the data are a tuple of two, (tables; tables); got DataFrame",
        ),
        (
            lambda: (ROWS >> pl.count())("abc"),
            "a table is a pandas.DataFrame or a list of rows, each a mapping of columns to values, "
            "got str",
        ),
        (
            lambda: (ROWS >> pl.count())(pd.DataFrame([[1, 2]], columns=["a", "a"])),
            "the columns of a table are distinct strings, got ['a', 'a']",
        ),
        (
            lambda: (IDS >> pl.max_rows_per_id(1))([{"id": 1, "n": object}] * 2),
            "a cell holds a type: <class 'object'>; cells are numbers, strings, bytes, dates, "
            "times, lists, sets and mappings of these, or missing",
        ),
    ],
)
def test_what_tables_do_not_accept(call, message):
    refused(call, message)


@pytest.mark.parametrize(
    ("cells", "keys", "ending"),
    [
        ([0, 25], ["0", "25"], "the column has numbers; write the keys as numbers"),
        (["0", "25"], [0, 25], "the column has texts; write the keys as texts"),
    ],
)
def test_keys_of_another_kind_than_the_column_are_refused(cells, keys, ending):
    counts = pl.start(pl.AddMaxRows(1)) >> pl.group_by("plan", keys) >> pl.count()
    with pytest.raises(InputError) as caught:
        counts(pd.DataFrame({"plan": cells}))
    assert str(caught.value).startswith("group_by('plan', 2 keys): the keys are ")
    assert str(caught.value).endswith(ending)
    same = pl.start(pl.AddMaxRows(1)) >> pl.group_by("plan", cells) >> pl.count()
    assert same(pd.DataFrame({"plan": cells})) == [1, 1]
