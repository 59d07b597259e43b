"""Starts with limits per id, or with groups: data outside are refused; a limit has one owner."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from checks import refused_with

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

LIMITED = (
    pl.start(pl.AddRowsWithID("id"))
    >> pl.max_groups_per_id(1, "g")
    >> pl.max_rows_per_group_per_id(2, "g")
)
GROUPS = pl.Start(pl.Groups("g", ("a", "b")), pl.GroupsDistance(pl.L1Distance())) >> pl.count()
ROW = pd.DataFrame({"v": [1]})


def test_limits_of_the_rows_of_one_id_say_nothing_about_another_id():
    # Five ids with one row each are within the limits, and all five rows are of one "other".
    table = [{"id": place, "other": 1, "g": "a"} for place in range(5)]
    counts = pl.Start(LIMITED.output_domain, pl.IdDistance("id")) >> pl.group_by("g", "ab")
    assert (counts >> pl.count()).map(1) == 2
    assert len(LIMITED(table)) == 5
    of_others = pl.Start(LIMITED.output_domain, pl.IdDistance("other"))
    for step in (pl.group_by("g", "ab"), pl.count(), pl.select("v")):
        with pytest.raises(InputError, match=r"^cannot chain the start >> "):
            of_others >> step


def test_a_limit_of_another_id_is_not_one_that_a_chain_needs():
    needs = pl.Start(LIMITED.output_domain, pl.IdDistance("id")) >> pl.max_rows_per_id(5)
    for_others = (
        pl.start(pl.AddRowsWithID("other"))
        >> pl.max_groups_per_id(1, "g")
        >> pl.max_rows_per_group_per_id(2, "g")
    )
    assert needs.input_domain.includes(LIMITED.output_domain)
    assert not needs.input_domain.includes(for_others.output_domain)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "a")] * 3, "got 3 rows per id and group of 'g'"),
        ([(1, "a"), (1, "b")], "got 2 groups of 'g' per id"),
        ([(None, "a"), (None, "b"), (1, "a")], "got 2 groups of 'g' per id"),
    ],
)
def test_tables_beyond_the_limits_of_a_start_are_refused(rows, message):
    counted = pl.Start(LIMITED.output_domain, pl.IdDistance("id")) >> pl.count()
    allowed = "tables with at most 1 groups of 'g' per id and 2 rows per id and group of 'g'"
    refused_with(
        lambda: counted(pd.DataFrame(rows, columns=["id", "g"])),
        f"^the domain is {allowed}, {message}$",
    )


def test_tables_within_the_limits_of_a_start_are_taken():
    counted = pl.Start(LIMITED.output_domain, pl.IdDistance("id")) >> pl.count()
    rows = [(1, "a"), (1, "a"), (2, "b"), (None, "b")]
    assert counted(pd.DataFrame(rows, columns=["id", "g"])) == 4
    assert counted(pd.DataFrame(columns=["id", "g"])) == 0


def test_a_limit_needs_its_columns():
    counted = pl.Start(LIMITED.output_domain, pl.IdDistance("id")) >> pl.count()
    message = (
        "a limit of 1 groups of 'g' per id needs the column 'g'; the columns of the table are 'id'"
    )
    refused_with(lambda: counted(pd.DataFrame({"id": [1]})), f"^{message}$")


def test_groups_come_in_the_order_of_the_keys():
    assert GROUPS({"b": ROW[:0], "a": ROW}) == [1, 0]


@pytest.mark.parametrize(
    ("groups", "got"),
    [({"a": ROW}, "('a',)"), ({"a": ROW, "b": ROW, "c": ROW}, "('a', 'b', 'c')"), (3, "3")],
)
def test_groups_with_other_keys_are_refused(groups, got):
    message = f"the data of 2 groups of 'g' are a mapping with the keys ('a', 'b'), got {got}"
    refused_with(lambda: GROUPS(groups), f"^{re.escape(message)}$")


def test_limits_in_the_integers_of_numpy_do_not_overflow():
    most = pl.DropExcess(np.int8(100))
    joined = pl.start(pl.AddOneRow(), pl.AddOneRow()) >> pl.join_private("u", most, most)
    assert joined.map(1, 1) == 400


def test_keys_that_cannot_be_hashed_are_refused():
    refused_with(
        lambda: pl.group_by("g", [(1, [2])]),
        "^group_by: keys must be one or more distinct hashable values",
    )
