"""Who declares how many records there are: the domain that a chain starts from, and no step."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

ROWS, ONE = pl.SymmetricDistance(), pl.ChangeOneDistance()
RECORDS = (-1, 0, 2, 2, 5)
TABLE = pd.DataFrame({"n": RECORDS, "page": list("aabab")})
SIZES = ({}, {"size": 2}, {"max_size": 3}, {"size": 0}, {"size": 5})


@pytest.mark.parametrize(
    ("domain", "shown"),
    [
        (pl.Numbers(size=3), "3 numbers"),
        (pl.Numbers(max_size=3), "at most 3 numbers"),
        (pl.Numbers(floats=True, max_size=3), "at most 3 floats"),
        (pl.Values(size=3), "3 values"),
        (pl.Values(max_size=3), "at most 3 values"),
        (pl.Numbers(bounds=(0, 5)), "numbers in [0, 5]"),
    ],
)
def test_a_column_declares_neither_its_size_nor_its_bounds(domain, shown):
    """With a size, the number of rows, which is private, had the stability 0 and no noise."""
    refused(
        lambda: pl.select("n", domain),
        "select: domain must be Numbers(), Numbers(floats=True) or Values(), without a size and "
        f"without bounds, got {shown}; a column has as many values as its table has rows, so a "
        "public number of them is declared at the start, Start(Table(size=...), metric), and "
        "bounds come from clamp(lower, upper)",
    )


def test_the_size_of_a_table_is_that_of_its_columns():
    start = pl.Start(pl.Table(size=5), ONE)
    column = start >> pl.select("n") >> pl.clamp(0, 4)
    assert column.output_domain == pl.Numbers(size=5, bounds=(0, 4))
    mean = column >> pl.mean(0, 4, 5)
    assert (mean(TABLE), mean.map(1)) == (Fraction(8, 5), Fraction(4, 5))
    refused_with(lambda: mean(TABLE[1:]), r"^the domain is tables of 5 rows, got 4$")
    floats = pl.Start(pl.Table(max_size=5), ROWS) >> pl.select("n", pl.Numbers(floats=True))
    total = floats >> pl.clamp(0.0, 4.0) >> pl.sum_(0.0, 4.0)
    assert 0 < total.map(1) - 4 < Fraction(1, 10**13)
    refused_with(
        lambda: total(pd.concat([TABLE, TABLE])),
        r"^the domain is tables of at most 5 rows, got 10$",
    )


@pytest.mark.parametrize(
    ("step", "size", "most"),
    [
        (pl.map_(lambda row: row), 4, 4),
        (pl.filter_(bool), None, 4),
        (pl.flat_map(lambda row: [row, row], 2), None, 8),
        (pl.flat_map(lambda row: [row], 1), None, 4),
        (pl.join_public(TABLE[["page"]].drop_duplicates(), "page"), None, None),
    ],
)
def test_what_is_known_of_the_size_after_a_step(step, size, most):
    after = (pl.Start(pl.Table(size=4), ROWS) >> step).output_domain
    assert (after.size, after.most) == (size, most)


def test_limits_per_id_drop_rows():
    start = pl.Start(pl.Table(size=4), pl.IdDistance("id"))
    for step in (pl.max_rows_per_id(1), pl.max_rows_per_id(1, keep_ids=True)):
        limited = start >> step
        assert (limited.output_domain.size, limited.output_domain.max_size) == (None, 4)
        assert (limited >> pl.count()).map(1) == 1
    groups = start >> pl.max_groups_per_id(1, "page")
    assert groups.output_domain.size is None


def test_tables_of_any_size_include_those_of_one():
    assert pl.Table().includes(pl.Table(size=3))
    assert pl.Table(max_size=3).includes(pl.Table(size=3))
    assert not pl.Table(size=3).includes(pl.Table())
    assert not pl.Table(size=3).includes(pl.Table(max_size=3))
    counted = pl.Start(pl.Table(size=3), ROWS) >> pl.count()
    refused_with(lambda: pl.Start(pl.Table(), ROWS) >> counted, "the domains do not match")
    refused_with(
        lambda: (
            pl.Start(pl.Groups("g", ("a",), pl.Table(size=2)), pl.GroupsDistance(pl.L1Distance()))
            >> pl.count()
        ),
        r"takes groups of exact values whose number is not",
    )


def extended(chain, maker):
    """The chain with one more step, or as it was where the step is refused.

    A function of numbers is not for rows, nor the other way round; to call it would be an error.
    """
    domain = chain.domain if isinstance(chain, pl.Start) else chain.output_domain
    on_rows = isinstance(domain, pl.Table | pl.Groups)
    if maker in (ON_VALUES if on_rows else ON_TABLES)[:3]:
        return chain
    try:
        return chain >> maker()
    except InputError:
        return chain


COLUMN_DOMAINS = [
    kind(**size)
    for kind in (pl.Numbers, pl.Values)
    for size in ({}, {"size": 2}, {"size": 3}, {"max_size": 2})
]
ON_TABLES = [
    lambda: pl.filter_(lambda row: row["n"] > 0),
    lambda: pl.map_(lambda row: {**row, "n": abs(row["n"])}),
    lambda: pl.flat_map(lambda row: [row] * (row["n"] % 3), 2),
    lambda: pl.count(),
    lambda: pl.group_by("page", "ab"),
    *(lambda domain=domain: pl.select("n", domain) for domain in COLUMN_DOMAINS),
]
ON_VALUES = [
    lambda: pl.filter_(lambda x: x > 0),
    lambda: pl.map_(lambda x: 2 * x),
    lambda: pl.clamp(0, 2),
    lambda: pl.count(),
    lambda: pl.sum_(0, 2),
    lambda: pl.histogram([0, 2]),
    *(lambda size=size: pl.mean(0, 2, size) for size in (2, 3)),
]


@given(data=st.data())
def test_a_map_of_0_is_that_of_a_constant(data):
    """Over all inputs of a universe and two rows: no answer is released that could need noise."""
    on_tables, sizes = data.draw(st.booleans()), data.draw(st.sampled_from(SIZES))
    domain = (pl.Table if on_tables else pl.Numbers)(**sizes)
    chain = pl.Start(domain, ROWS)
    makers = ON_TABLES + ON_VALUES if on_tables else ON_VALUES
    for maker in data.draw(st.lists(st.sampled_from(makers), min_size=1, max_size=4)):
        chain = extended(chain, maker)
    if isinstance(chain, pl.Start):
        return
    inputs = [
        TABLE.iloc[list(places)] if on_tables else [RECORDS[place] for place in places]
        for size in range(len(RECORDS) + 1)
        for places in combinations(range(len(RECORDS)), size)
        if sizes.get("size", size) == size <= sizes.get("max_size", size)
    ]
    forms = {chain.output_metric.form(chain(one)) for one in inputs}
    assert len(forms) == 1 or chain.map(2) != 0
    bound = chain.map(2)
    for one in forms:
        assert chain.output_metric.between(one, one) <= bound
    if len(inputs) > 1:
        measured = pl.measured_stability(chain, TABLE if on_tables else RECORDS, 2)
        assert measured.measured <= bound
