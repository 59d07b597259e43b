"""Limits by id at any point of a pipeline: what the domain promises holds, and maps use it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import oracle_pipelines as oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_cases import rows_of

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

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


@pytest.mark.exhaustive
@settings(max_examples=8)  # each measures four chains, whose steps call functions row by row
@given(
    rows=UNIVERSES,
    names=CHAINS.map(lambda names: [name for name in names if name != "join"]),
    d_in=st.integers(1, 2),
)
def test_maps_of_chains_of_limits_hold(rows, names, d_in):
    chain = chained(names)
    for end, evaluate, distance in (
        (None, lambda x: rows_of(chain(table_of(x))), oracle.ids(0)),
        (pl.count(), lambda x: len(chain(table_of(x))), oracle.absolute),
        (
            pl.select("n") >> pl.clamp(0, 2) >> pl.sum_(0, 2),
            lambda x: sum(chain(table_of(x))["n"].tolist()),
            oracle.absolute,
        ),
        (
            pl.group_by("page", "ab", L2) >> pl.count(),
            lambda x: [chain(table_of(x))["page"].tolist().count(key) for key in "ab"],
            oracle.l2_squared,
        ),
    ):
        t = chain if end is None else chain >> end
        result = pl.measured_stability(t, table_of(rows), d_in)
        expected, _, _ = oracle.measure([rows], [oracle.ids(0)], [d_in], evaluate, distance)
        if distance is oracle.l2_squared:
            expected = pl.Root(expected)
        assert result.measured == expected
        assert result.measured <= result.bound == t.map(d_in)


# The largest rows in each group, by listing them all.
@pytest.mark.parametrize("norm", [L1, L2], ids=["L1", "L2"])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_rows_in_all_and_rows_in_groups_together(norm, keys):
    for k, r, g in product(range(1, 6), range(1, 4), range(1, 4)):
        chain = pl.start(ONE_ID) >> pl.max_rows_per_id(k, keep_ids=True)
        chain = chain >> pl.max_groups_per_id(g, "page") >> pl.max_rows_per_group_per_id(r, "page")
        t = chain >> pl.group_by("page", "abc"[:keys], norm) >> pl.count()
        power = 1 if norm == L1 else 2
        farthest = max(
            sum(rows**power for rows in counts)
            for counts in product(range(r + 1), repeat=keys)
            if sum(counts) <= k and sum(map(bool, counts)) <= g
        )
        assert t.map(1) == (farthest if norm == L1 else pl.Root(Fraction(farthest)))


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
    with pytest.raises(InputError, match="bound the rows of an id first"):
        joined(few, start >> STEPS["filter"]) >> pl.count()


def test_a_name_tells_that_ids_are_kept():
    assert pl.max_rows_per_id(2, keep_ids=True).name == "max_rows_per_id(2, keep_ids=True)"
