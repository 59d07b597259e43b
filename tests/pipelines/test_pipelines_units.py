"""The protected unit of a chain: the start names it, `map()` is the stability of one of it."""

from __future__ import annotations

import pandas as pd
import pytest
from checks import refused, refused_with

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

ROWS = pl.SymmetricDistance()
FIVE = pl.start(pl.AddMaxRows(5))
IDS = pl.start(pl.AddRowsWithID("id"))
JOINED = pl.start(pl.AddMaxRows(5), pl.AddMaxRows(1)) >> pl.join_private(
    "page", pl.DropExcess(1), pl.DropExcess(1)
)
SHARED = pl.start(pl.AddRowsWithSharedID("id"))
TABLE = pd.DataFrame({"id": [1, 1, 2], "page": ["a", "b", "a"], "n": [1, 2, 3]})
TWICE = pl.flat_map(lambda row: [row, row], 2)
PUBLIC = pd.DataFrame({"page": ["a", "a", "b"], "topic": ["x", "y", "x"]})


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (FIVE >> pl.count(), 5),
        (FIVE >> pl.filter_(bool) >> pl.count(), 5),
        (FIVE >> pl.map_(dict) >> TWICE >> pl.count(), 10),
        (FIVE >> pl.join_public(PUBLIC, "page"), 10),
        (FIVE >> pl.select("n") >> pl.clamp(0, 3) >> pl.sum_(0, 3), 15),
        (FIVE >> pl.select("page", pl.Values()) >> pl.histogram("ab"), 5),
        (FIVE >> pl.group_by("page", "ab") >> pl.count(), 5),
        (FIVE >> (pl.filter_(bool) >> pl.count()), 5),
        (FIVE >> (pl.start(pl.AddMaxRows(2)) >> pl.count()), 5),
        ((FIVE >> pl.filter_(bool)) >> (pl.start(pl.AddMaxRows(2)) >> pl.count()), 5),
        (pl.Start(pl.Table(), ROWS) >> (pl.start(pl.AddMaxRows(2)) >> pl.count()), 2),
        (IDS >> pl.max_rows_per_id(3) >> pl.count(), 3),
        (IDS >> pl.max_rows_per_id(3, keep_ids=True) >> TWICE >> pl.count(), 6),
        (JOINED >> pl.count(), 12),
        (SHARED >> pl.join_private("id", pl.DropExcess(2), pl.DropExcess(5)) >> pl.count(), 10),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_the_unit_of_the_start_is_carried_to_the_end(chain, expected):
    assert chain.map(chain.unit) == expected
    if isinstance(chain.output_metric, pl.AbsoluteDistance | pl.L1Distance | pl.L2Distance):
        assert chain.sensitivity().exact == expected


def test_a_number_counts_what_the_metric_counts():
    one = pl.start(pl.AddMaxRows(1)) >> pl.count()
    assert (one.sensitivity().value, one.map(1), one.map(d_in=4), one.map(pl.AddMaxRows(4))) == (
        *(1, 1, 4, 4),
    )
    limited = IDS >> pl.max_rows_per_id(3) >> pl.count()
    assert (limited.map(2), limited.map(pl.AddRowsWithID("id"))) == (6, 3)
    assert (FIVE >> pl.count()).map(pl.AddMaxRows(1)) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: (FIVE >> pl.count()).map(2),
        lambda: (FIVE >> pl.count() >> pl.laplace(1)).map(2),
        lambda: JOINED.map(2, 1),
        lambda: JOINED.map(2, pl.AddMaxRows(1)),
    ],
)
def test_a_number_is_refused_where_it_could_count_rows_or_units(ask):
    refused(
        ask,
        "d_in = 2 could count rows or units of 5 rows, which AddMaxRows(max_rows=5) at the start "
        "protects; for one unit take sensitivity(), or say that the number counts rows, "
        "AddMaxRows(2)",
    )


def test_what_is_no_distance_is_refused_as_before():
    refused(
        lambda: (FIVE >> pl.count()).map("a"),
        "d_in must be a whole number (at least 0: rows added or removed), got 'a' (str)",
    )
    assert JOINED.map(pl.AddMaxRows(2), 3) == 2 * (2 + 3)


@pytest.mark.parametrize(
    ("chain", "counted"),
    [
        ((pl.Numbers(), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5), "rows added or removed"),
        (pl.Start(pl.Table(), ROWS) >> pl.count() >> pl.laplace(1), "rows added or removed"),
        (pl.number() >> pl.laplace(5), "absolute difference"),
    ],
)
def test_a_start_without_a_unit_has_no_sensitivity_for_one(chain, counted):
    measurement = isinstance(chain, pl.Measurement)
    refused(
        lambda: chain.map() if measurement else chain.sensitivity(),
        "the start of this chain names no protected unit: begin with start(AddMaxRows(m)), "
        "start(AddRowsWithID(column)) or start(AddRowsWithSharedID(column)), or pass the distance "
        f"of two inputs, d_in, which counts: {counted}",
    )


def test_a_map_takes_a_distance():
    refused(
        lambda: (FIVE >> pl.count()).map(),
        "map takes the distance of two inputs, map(d_in), which counts: rows added or removed; for "
        "one protected unit take sensitivity(), which keeps the norm and the unit that noise needs",
    )


def test_what_returns_no_numbers_has_no_sensitivity():
    refused(
        lambda: (FIVE >> pl.filter_(bool)).sensitivity(),
        "filter_(bool) returns tables (rows added or removed), and a sensitivity is for a number "
        "or a vector of numbers; add the steps that compute them, or take map(d_in)",
    )


def test_noise_is_for_the_unit():
    noisy = FIVE >> pl.count() >> pl.laplace(5)
    assert (noisy.map(), noisy.map(pl.AddMaxRows(10))) == (1.0, 2.0)
    counted = FIVE >> pl.count()
    assert sl.noise.laplace_scale(counted, epsilon=1) == 5
    assert sl.noise.laplace_scale(counted.sensitivity(d_in=pl.AddMaxRows(10)), epsilon=1) == 10
    assert (pl.laplace(5).map(10), pl.laplace(5).map(d_in=10)) == (2, 2)
    numbers = pl.Start(pl.Scalar(), pl.AbsoluteDistance())
    assert (numbers >> pl.laplace(5)).map(10) == 2


@pytest.mark.exhaustive
def test_the_measured_stability_is_that_of_the_unit():
    rows = [{"a": place} for place in range(7)]
    result = pl.measured_stability(FIVE >> pl.count(), rows)
    assert (result.measured, result.bound, result.d_in) == (5, 5, 5)
    assert pl.measured_stability(FIVE >> pl.count(), rows, 2).measured == 2
    users, bought = TABLE[["id", "page"]], TABLE[["id", "n"]]
    joined = SHARED >> pl.join_private("id") >> pl.max_rows_per_id(3)
    assert pl.measured_stability(joined, (users, bought)).bound == 3
    refused(
        lambda: pl.measured_stability(pl.Start(pl.Table(), ROWS) >> pl.count(), rows),
        "d_in must be a whole number (at least 0: rows added or removed), got None (NoneType)",
    )


@pytest.mark.parametrize(
    ("chain", "shown"),
    [
        (FIVE >> pl.count(), "at most 5 rows added or removed"),
        (IDS >> pl.filter_(bool), "at most 1 id in 'id' added or removed with all its rows"),
        (
            JOINED,
            "at most 5 rows added or removed in the first table, at most 1 row added or removed in "
            "the second",
        ),
        (FIVE >> pl.count() >> pl.laplace(1), "at most 5 rows added or removed"),
    ],
)
def test_a_repr_says_what_the_unit_is(chain, shown):
    assert repr(chain).splitlines()[3:] == [f"  unit    {shown}"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: pl.Start(pl.Table(), ROWS, (pl.AddMaxRows(1),) * 2),
            "unit must be a protected change, AddMaxRows(m), AddRowsWithID(column) or "
            "AddRowsWithSharedID(column), two of them for two tables, or None, got "
            "(AddMaxRows(max_rows=1), AddMaxRows(max_rows=1)) for the metric rows added or removed",
        ),
        (
            lambda: pl.Start(pl.Table(), ROWS, pl.AddRowsWithID("id")),
            "AddRowsWithID(column='id') protects ids in 'id' added or removed with all their rows, "
            "but the input metric is rows added or removed; start the chain with the change that "
            "it is to protect",
        ),
    ],
)
def test_a_unit_fits_the_metric(make, message):
    refused(make, message)


def test_one_number_takes_noise_of_any_norm():
    """Its L1 and L2 sensitivities are the same; those of a vector are not."""
    rows = pl.start(pl.AddMaxRows(3))
    number = (rows >> pl.count()).sensitivity()
    assert number.norm is None
    assert sl.noise.laplace_scale(number, epsilon=1) == 3
    assert sl.noise.gaussian_scale(number, rho=0.5) == 3
    vector = (rows >> pl.group_by("g", ["a", "b"], pl.L1Distance()) >> pl.count()).sensitivity()
    assert vector.norm == "L1"
    refused_with(
        lambda: sl.noise.gaussian_scale(vector, rho=0.5),
        "in the norm L1, and Gaussian noise needs L2",
    )
