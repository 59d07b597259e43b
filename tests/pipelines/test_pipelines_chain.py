"""Transformations, steps, starts: chaining them, and what is said where they do not fit."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from checks import refused

from sensitivity_lab import pipelines as pl

ROWS, ONE = pl.SymmetricDistance(), pl.ChangeOneDistance()
CLAMP = pl.clamp(0, 5)(pl.Numbers(), ROWS)
SUM = pl.sum_(0, 5)(pl.Numbers(bounds=(0, 5)), ROWS)


def test_a_chain_composes_functions_and_maps():
    t = CLAMP >> SUM
    assert t([1, 9, -4]) == 6
    assert [t.map(d_in) for d_in in range(4)] == [0, 5, 10, 15]
    assert (t.input_domain, t.input_metric) == (CLAMP.input_domain, CLAMP.input_metric)
    assert (t.output_domain, t.output_metric) == (SUM.output_domain, SUM.output_metric)
    assert [step.name for step in (t >> HALVE).each_step] == ["clamp(0, 5)", "sum_(0, 5)", "halve"]


HALVE = pl.Transformation(
    "halve",
    lambda x: x / 2,
    pl.Scalar(),
    pl.AbsoluteDistance(),
    pl.Scalar(),
    pl.AbsoluteDistance(),
    lambda d_in: d_in / 2,
)


def test_all_ways_to_start_are_one():
    domain = pl.Numbers()
    steps = pl.clamp(0, 5) >> pl.sum_(0, 5)
    chains = [
        (domain, ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5),
        (domain, ROWS) >> steps,
        (domain, ROWS) >> (CLAMP >> SUM),
        pl.Start(domain, ROWS) >> steps,
        pl.Start(domain, ROWS) >> CLAMP >> SUM,
        steps(domain, ROWS),
    ]
    assert repr(steps) == "clamp(0, 5) >> sum_(0, 5)"
    for t in chains:
        assert repr(t) == (
            "clamp(0, 5) >> sum_(0, 5)\n"
            "  input   numbers; rows added or removed\n"
            "  output  a number; absolute difference"
        )
        assert (t([1, 9]), t.map(2)) == (6, 10)


def test_a_narrower_domain_fits():
    assert (pl.Numbers(size=3, bounds=(1, 2)), ROWS) >> SUM is SUM
    with pytest.raises(TypeError):
        CLAMP >> abs
    with pytest.raises(TypeError):
        ("numbers", "rows") >> CLAMP
    with pytest.raises(TypeError):
        (1, 2) >> pl.clamp(0, 5)


def test_protected_changes_start_chains_on_tables():
    t = pl.start(pl.AddMaxRows(2)) >> pl.count()
    assert t.map(pl.AddMaxRows(2)) == t.sensitivity().value == 2
    assert pl.start(pl.AddRowsWithID("id")).metric == pl.IdDistance("id")
    both = pl.start(pl.AddMaxRows(1), pl.AddRowsWithID("id"))
    assert both.metric == pl.PairDistance(ROWS, pl.IdDistance("id"))
    assert t([{"a": 1}, {"a": 1}]) == 2


def mismatches():
    ids = pl.start(pl.AddRowsWithID("id"))
    table = pl.start(pl.AddMaxRows(1))
    bounded = "numbers in [0, 5] (rows added or removed, or rows replaced)"
    yield (
        lambda: CLAMP >> HALVE,
        "cannot chain clamp(0, 5) >> halve: the domains do not match; clamp(0, 5) returns numbers "
        "in [0, 5], but halve takes a number",
    )
    yield (
        lambda: pl.clamp(0, 5)(pl.Numbers(), ONE) >> SUM,
        "cannot chain clamp(0, 5) >> sum_(0, 5): the metrics do not match; clamp(0, 5) returns "
        "rows replaced, but sum_(0, 5) takes rows added or removed",
    )
    yield (
        lambda: (pl.Numbers(), ROWS) >> SUM,
        "cannot chain the start >> sum_(0, 5): the domains do not match; the start returns "
        "numbers, but sum_(0, 5) takes numbers in [0, 5]",
    )
    yield (
        lambda: (pl.Numbers(), ROWS) >> pl.clamp(0, 10) >> pl.sum_(0, 5),
        "cannot chain clamp(0, 10) >> sum_(0, 5): clamp(0, 10) returns numbers in [0, 10] (rows "
        f"added or removed), but sum_(0, 5) takes {bounded}, for example after clamp(0, 5)",
    )
    yield (
        lambda: table >> pl.count() >> pl.count(),
        "cannot chain count() >> count(): count() returns a number (absolute difference), but "
        "count() takes values, tables or groups whose rows are added, removed or replaced; for "
        "privacy ids, bound the rows of an id first: max_rows_per_id(k)",
    )
    yield (
        lambda: ids >> pl.filter_(bool) >> pl.count(),
        "cannot chain filter_(bool) >> count(): filter_(bool) returns tables (ids in 'id' added "
        "or removed with all their rows), but count() takes values, tables or groups whose rows "
        "are added, removed or replaced; for privacy ids, bound the rows of an id first: "
        "max_rows_per_id(k)",
    )
    yield (
        lambda: ids >> pl.max_groups_per_id(2, "page") >> pl.group_by("page", "ab"),
        "cannot chain max_groups_per_id(2, 'page') >> group_by('page', 2 keys): "
        "max_groups_per_id(2, 'page') returns tables with at most 2 groups of 'page' per id (ids "
        "in 'id' added or removed with all their rows), but group_by('page', 2 keys) takes tables "
        "whose rows are added, removed or replaced, or whose ids are, if "
        "max_rows_per_group_per_id(r, 'page') comes before (and max_groups_per_id(g, 'page'), "
        "which makes the stability smaller), or max_rows_per_id(k)",
    )
    yield (
        lambda: table >> pl.max_rows_per_id(1),
        "cannot chain the start >> max_rows_per_id(1): the start returns tables (rows added or "
        "removed), but max_rows_per_id(1) takes tables whose ids are added or removed: "
        "start(AddRowsWithID(column)), and max_rows_per_id(k, keep_ids=True) for a limit before "
        "this one",
    )
    yield (
        lambda: pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1)) >> pl.join_private("key"),
        "cannot chain the start >> join_private('key'): the start returns (tables; tables) ((rows "
        "added or removed; rows added or removed)), but join_private('key') takes two tables whose "
        "rows are added or removed, truncated by left=... and right=...; or two tables with the "
        "same column of privacy ids, which must be among the keys, without truncation unless they "
        "share the ids",
    )
    yield (
        lambda: (pl.Numbers(), ONE) >> pl.clamp(0, 1) >> pl.mean(0, 1, 4),
        "cannot chain clamp(0, 1) >> mean(0, 1, 4): clamp(0, 1) returns numbers in [0, 1] (rows "
        "replaced), but mean(0, 1, 4) takes exactly 4 numbers: start from Numbers(size=4), or "
        "for a column from Table(size=4); where the number of records is not public, use sum_ and "
        "count",
    )
    yield (
        lambda: (pl.Numbers(floats=True), ROWS) >> pl.clamp(0, 1) >> pl.sum_(0, 1),
        "cannot chain clamp(0, 1) >> sum_(0, 1): clamp(0, 1) returns floats in [0, 1] (rows added "
        "or removed), but sum_(0, 1) takes floats only if their number is bounded, which bounds "
        "the rounding: start from Numbers(floats=True, max_size=...), or for a column from "
        "Table(max_size=...)",
    )


@pytest.mark.parametrize(("chain", "message"), list(mismatches()))
def test_a_mismatched_chain_names_both_sides(chain, message):
    refused(chain, message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: pl.start(),
            "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), one "
            "per table, or AddRowsWithSharedID(column) alone; got none",
        ),
        (lambda: pl.clamp(5, 0), "the lower bound 5 is above the upper bound 0"),
        (
            lambda: pl.histogram(["a", "a"]),
            "histogram: categories must be one or more distinct values, none missing, "
            "got ['a', 'a']",
        ),
        (
            lambda: pl.group_by("page", [None]),
            "group_by: keys must be one or more distinct hashable values, none missing, "
            "got (None,)",
        ),
        (
            lambda: pl.join_public(pd.DataFrame({"k": [1]}), on="key"),
            "join_public(on='key'): the public table: the table has no column 'key'; its columns "
            "are 'k'",
        ),
        (
            lambda: CLAMP(["1"]),
            "a record must be a finite number, got '1' (str); give an int, float, Fraction "
            "or Decimal",
        ),
        (lambda: SUM([1, 6]), "the domain is numbers in [0, 5], got the record 6"),
        (
            lambda: pl.mean(0, 1, 2)(pl.Numbers(size=2, bounds=(0, 1)), ONE)([1]),
            "the domain is 2 numbers in [0, 1], got 1",
        ),
        (
            lambda: pl.clamp(0, 1)(pl.Numbers(max_size=1), ROWS)([1, 1]),
            "the domain is at most 1 numbers, got 2",
        ),
        (
            lambda: (pl.Numbers(floats=True), ROWS) >> pl.clamp(0, Fraction(1, 3)),
            "a domain of floats needs bounds that are floats, got 1/3; the nearest one is "
            "0.3333333333333333",
        ),
        (
            lambda: HALVE.map(-1),
            "d_in (absolute difference) must be a finite number of at least 0, got -1",
        ),
    ],
)
def test_what_is_not_accepted(make, message):
    refused(make, message)
