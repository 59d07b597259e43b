"""Measured stability of sums, counts and averages per group."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import oracle_pipelines as oracle
import pandas as pd
import pytest
from checks import refused_with
from hypothesis import given
from hypothesis import strategies as st
from measured_cases import rows_of

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

COLUMNS = ["id", "page", "n"]
L1, L2 = pl.L1Distance(), pl.L2Distance()
NORMS = pytest.mark.parametrize("norm", [L1, L2], ids=["L1", "L2"])
ONE_ID = pl.AddRowsWithID("id")


def table_of(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"page": "str", "id": int, "n": int})


def limited(g, r) -> pl.Transformation:
    start = pl.start(ONE_ID) >> pl.max_groups_per_id(g, "page")
    return start >> pl.max_rows_per_group_per_id(r, "page")


def clamped(before, norm, lower=-2, upper=5, keys="ab"):
    groups = before >> pl.group_by("page", keys, norm)
    return groups >> pl.select("n") >> pl.clamp(lower, upper)


def sums_of(rows, keys="ab", lower=-2, upper=5) -> list[int]:
    return [sum(min(max(n, lower), upper) for _, page, n in rows if page == key) for key in keys]


def counts_of(rows, keys="ab") -> list[int]:
    return [sum(page == key for _, page, _ in rows) for key in keys]


def square_of(distance) -> Fraction:
    return distance.square if isinstance(distance, pl.Root) else Fraction(distance) ** 2


def check(t, plain, norm, rows, change, d_in):
    """Measured is the definition's, and not above the map; returns the result."""
    distance = oracle.l1 if norm == L1 else oracle.l2_squared
    result = pl.measured_stability(t, table_of(rows), d_in)
    measured = result.measured if norm == L1 else square_of(result.measured)
    expected = oracle.measure([rows], [change], [d_in], plain, distance)
    assert (measured, result.inputs, result.pairs) == expected
    assert result.measured <= result.bound == t.map(d_in)
    return result


# With one id added or removed, all of whose rows are at the bound of the larger size.
@NORMS
@pytest.mark.representative
@pytest.mark.parametrize(("g", "r", "bounds"), [(2, 2, (-2, 5)), (1, 2, (-7, 5)), (2, 1, (0, 3))])
def test_a_sum_per_group_is_tight(norm, g, r, bounds):
    rows = [(1, page, n) for page, n in product("ab", (bounds[0], bounds[1], bounds[1]))]
    t = clamped(limited(g, r), norm, *bounds) >> pl.sum_(*bounds)
    if max(map(abs, bounds)) > bounds[1]:
        rows = [(1, page, n) for page, n in product("ab", (bounds[1], bounds[0], bounds[0]))]
    result = pl.measured_stability(t, table_of(rows), ONE_ID)
    most = r * max(map(abs, bounds))
    assert square_of(result.measured) == ((most * g) ** 2 if norm == L1 else most**2 * g)
    assert result.tight
    assert t.map(3) == (3 * most * g if norm == L1 else pl.Root(Fraction(9 * most**2 * g)))


@pytest.mark.representative
@NORMS
@given(
    rows=st.lists(
        st.tuples(st.integers(1, 2), st.sampled_from("abc"), st.integers(-4, 8)),
        min_size=1,
        max_size=5,
    ),
    limits=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    d_in=st.integers(1, 2),
)
def test_groups_of_ids_are_those_of_the_definition(norm, rows, limits, d_in):
    truncated = limited(*limits)
    for step, plain in ((pl.sum_(-2, 5), sums_of), (pl.count(), counts_of)):
        check(
            clamped(truncated, norm) >> step,
            lambda x, plain=plain: plain(rows_of(truncated(table_of(x)))),
            *(norm, rows, oracle.ids(0), d_in),
        )


@NORMS
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("metric", "change", "most"),
    [
        (pl.SymmetricDistance(), oracle.symmetric_difference, 5),
        (pl.ChangeOneDistance(), oracle.change_one, 10),
    ],
)
@given(
    rows=st.lists(
        st.tuples(st.just(0), st.sampled_from("abc"), st.integers(-4, 8)),
        min_size=2,
        max_size=5,
        unique=True,
    ),
    d_in=st.integers(1, 2),
)
def test_groups_of_rows_are_those_of_the_definition(metric, change, most, norm, rows, d_in):
    t = clamped(pl.Start(pl.Table(), metric), norm) >> pl.sum_(-2, 5)
    result = check(t, sums_of, norm, rows, change, d_in)
    assert result.bound == most * d_in


def test_rows_that_are_replaced():
    """In L1 a row of one group becomes a row of another; in L2 the map is not attained."""
    rows = table_of([(0, "a", 5), (0, "b", 5), (0, "a", -5)])
    for norm, measured in ((L1, 10), (L2, 10)):
        start = pl.Start(pl.Table(), pl.ChangeOneDistance())
        t = clamped(start, norm, -5, 5) >> pl.sum_(-5, 5)
        assert pl.measured_stability(t, rows, 1).measured == measured == t.map(1)
    t = clamped(start, L2, 0, 5) >> pl.sum_(0, 5)
    assert pl.measured_stability(t, rows, 1).measured == pl.Root(Fraction(50)) < t.map(1) == 10


def test_steps_work_on_each_group():
    per_page = pl.start(pl.AddMaxRows(1)) >> pl.group_by("page", "ba", L2)
    rows = [(1, "a", 3), (2, "b", 4), (3, "a", -1), (4, "c", 9)]
    positive = per_page >> pl.filter_(lambda row: row["n"] > 0)
    assert (positive >> pl.count())(table_of(rows)) == [1, 1]
    assert (positive >> pl.count()).map(3) == 3
    twice = positive >> pl.flat_map(lambda row: [row, {**row, "n": 7}], 2)
    assert twice.map(1) == 2
    numbers = twice >> pl.select("n")
    assert numbers(table_of(rows)) == {"b": [4, 7], "a": [3, 7]}
    halves = numbers >> pl.map_(lambda n: Fraction(n, 2)) >> pl.clamp(0, Fraction(5, 2))
    assert str(halves.output_domain) == "2 groups of 'page', each numbers in [0, 2.5]"
    t = halves >> pl.sum_(0, Fraction(5, 2))
    assert (t(table_of(rows)), t.map(1)) == ([Fraction(9, 2), 4], 5)
    assert (numbers >> pl.count())(table_of(rows)) == [2, 2]


def test_what_has_no_answer_per_group_is_refused():
    t = clamped(limited(1, 1), L1, 0, 5)
    start = f"cannot chain {t.name} >> mean(0, 5, 3): {t.name} returns 2 groups of 'page', each "
    with pytest.raises(InputError) as error:
        t >> pl.mean(0, 5, 3)
    assert str(error.value) == (
        f"{start}numbers in [0, 5] (L1 distance of the groups' rows added or removed), but "
        "mean(0, 5, 3) takes 3 numbers in all: the rows of a group have no public number, and a "
        "group without rows has no mean; use sum_ and count, which give the sum and the count of "
        "each group, and add noise to each"
    )
    groups = limited(1, 1) >> pl.group_by("page", "ab")
    refused = "takes groups of exact values whose number is not"
    refused_with(
        lambda: groups >> pl.select("n", pl.Numbers(floats=True)) >> pl.clamp(0.0, 1.0), refused
    )
    for domain in (pl.Numbers(size=3), pl.Numbers(max_size=3)):
        with pytest.raises(InputError, match=refused):
            pl.Start(pl.Groups("page", ("a",), domain), groups.output_metric) >> pl.clamp(0, 1)
    refused_with(
        lambda: groups >> pl.select("n") >> pl.sum_(0, 5),
        r"but sum_\(0, 5\) takes numbers in \[0, 5\]",
    )
    refused_with(
        lambda: (groups >> pl.select("price") >> pl.clamp(0, 5) >> pl.sum_(0, 5))(
            table_of([(1, "a", 3)])
        ),
        "the table has no column 'price'",
    )
