"""Limits by id at any point of a pipeline: what the domain promises holds, and maps use it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest
from checks import refused_with
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl

COLUMNS = ["id", "page", "n"]
L1, L2 = pl.L1Distance(), pl.L2Distance()
ONE_ID = pl.AddRowsWithID("id")
PUBLIC = pd.DataFrame({"page": ["a", "a", "b"], "topic": ["x", "y", "x"]})
STEPS = {
    "rows": pl.max_rows_per_id(3, keep_ids=True),
    "groups": pl.max_groups_per_id(1, "page"),
    "rows in groups": pl.max_rows_per_group_per_id(1, "page"),
    "filter": pl.filter_(lambda row: row["n"] > 0),
    "map": pl.map_(lambda row: {**row, "page": "ab"[row["n"] % 2]}),
    "flat map": pl.flat_map(lambda row: [row, {**row, "page": "b"}], 2),
    "join": pl.join_public(PUBLIC, "page"),
}
CHAINS = st.lists(st.sampled_from(list(STEPS)), max_size=4).filter(lambda c: c.count("join") < 2)
UNIVERSES = st.lists(
    st.tuples(st.integers(1, 2), st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=5
)


def table_of(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"page": "str", "id": int, "n": int})


def chained(names) -> pl.Transformation:
    chain = pl.start(ONE_ID) >> pl.max_rows_per_id(2, keep_ids=True)
    for name in names:
        chain = chain >> STEPS[name]
    return chain


@given(rows=UNIVERSES, names=CHAINS)
def test_what_the_domain_promises_holds(rows, names):
    chain = chained(names)
    made = chain(table_of(rows))
    assert max(Counter(made["id"].tolist()).values(), default=0) <= (
        chain.output_domain.rows_per_id("id")
    )
    seen = {kind: Counter() for kind in ("groups", "rows")}
    for owner, page in zip(made["id"], made["page"], strict=True):
        seen["groups"][owner] += not seen["rows"][owner, page]
        seen["rows"][owner, page] += 1
    for kind, counts in seen.items():
        limit = chain.output_domain.limit(kind, "page", "id")
        assert limit is None or max(counts.values(), default=0) <= limit


def check_tight(t, universe, expected):
    result = pl.measured_stability(t, universe, ONE_ID)
    assert (result.measured, result.bound) == (expected, expected)


@pytest.mark.exhaustive
def test_a_second_limit_by_id():
    """Two rows of an id become four, of which three stay; a page keeps one of them."""
    visits = table_of([(1, "a", 3), (1, "a", 4), (1, "b", 5), (2, "b", 3)])
    start = pl.start(ONE_ID)
    twice = start >> pl.max_rows_per_id(2, keep_ids=True)
    twice = twice >> pl.flat_map(lambda row: [row, {**row, "n": row["n"] + 9}], 2)
    assert twice.output_metric == pl.IdDistance("id")
    assert str(twice.output_domain) == "tables with at most 4 rows per id"
    check_tight(twice, visits, 1)
    check_tight(twice >> pl.count(), visits, 4)
    check_tight(twice >> pl.max_rows_per_id(3), visits, 3)
    check_tight(twice >> pl.max_rows_per_id(3) >> pl.count(), visits, 3)
    check_tight(twice >> pl.max_rows_per_id(3, keep_ids=True) >> pl.count(), visits, 3)
    assert (twice >> pl.max_rows_per_id(9)).map(2) == 8
    per_page = twice >> pl.max_rows_per_group_per_id(1, "page")
    check_tight(per_page >> pl.group_by("page", "ab") >> pl.count(), visits, 2)
    check_tight(twice >> pl.select("n") >> pl.clamp(-3, 3) >> pl.sum_(-3, 3), visits, 12)


def test_limits_of_groups_bound_all_rows():
    limits = pl.max_groups_per_id(2, "page") >> pl.max_rows_per_group_per_id(3, "page")
    t = pl.start(ONE_ID) >> limits
    assert (t >> pl.count()).map(2) == 12
    assert (t >> pl.max_rows_per_id(9)).map(1) == 6
    assert (t >> pl.group_by("topic", "xyz")).map(1) == 6
    joined = t >> pl.join_public(PUBLIC, "page")
    assert (joined >> pl.count()).map(1) == 12
    assert (joined >> pl.group_by("page", "abc", L2)).map(1) == pl.Root(Fraction(72))


@pytest.mark.parametrize("k", [2, 3])
def test_a_join_of_tables_with_limits(k):
    start = pl.start(ONE_ID)

    def joined(left, right):
        tables = pl.Pair(left.output_domain, right.output_domain)
        return pl.Start(tables, pl.PairDistance(*[pl.IdDistance("id")] * 2)) >> pl.join_private(
            "id"
        )

    few = start >> pl.max_rows_per_id(k, keep_ids=True)
    t = joined(few, start >> STEPS["rows"])
    assert t.output_domain.rows_per_id("id") == 3 * k
    assert (t >> pl.count()).map(1, 1) == 6 * k
    refused_with(
        lambda: joined(few, start >> STEPS["filter"]) >> pl.count(), "bound the rows of an id first"
    )


def test_a_name_tells_that_ids_are_kept():
    assert pl.max_rows_per_id(2, keep_ids=True).name == "max_rows_per_id(2, keep_ids=True)"
