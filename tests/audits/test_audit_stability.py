"""Audits of stability maps: right ones pass, wrong ones are refuted with inputs that prove it."""

import pandas as pd
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

NUMBERS = (pl.Numbers(), pl.SymmetricDistance())


@pytest.mark.parametrize(
    ("chain", "universe"),
    [
        (NUMBERS >> pl.clamp(0, 5) >> pl.sum_(0, 5), [-1, 2, 5, 7]),
        (NUMBERS >> pl.clamp(-2, 3) >> pl.sum_(-2, 3), [-4, 0, 3, 9]),
        (NUMBERS >> pl.filter_(lambda x: x > 1) >> pl.count(), [0, 2, 3]),
        (NUMBERS >> pl.histogram([0, 1, 2]), [0, 0, 1, 2]),
    ],
    ids=["sum", "sum of both signs", "filtered count", "histogram"],
)
def test_our_own_steps_are_tight(chain, universe):
    report = sl.audit(universe, chain, distances=(1, 2))
    assert [(row.distance, row.verdict) for row in report.rows] == [(1, "tight"), (2, "tight")]
    assert report.sound


@pytest.mark.stress
def test_a_join_is_audited_with_a_distance_per_table():
    tables = tuple(pd.DataFrame({"key": list("aaabbb"), name: range(6)}) for name in "lr")
    two = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))
    join = two >> pl.join_private("key", left=pl.DropExcess(2), right=pl.DropExcess(2))
    assert sl.audit(tables, join, distances=1).rows[0].claimed == 8
    product = sl.audit(tables, join, lambda d: 4 * d, distances=1)
    assert (product.verdict, product.rows[0].value) == ("violated", 8.0)


def test_an_irrational_map_is_tight_up_to_rounding():
    chain = (
        pl.start(pl.AddRowsWithID("id"))
        >> pl.max_groups_per_id(2, "g")
        >> pl.max_rows_per_group_per_id(1, "g")
        >> pl.group_by("g", ["a", "b"], metric=pl.L2Distance())
        >> pl.count()
    )
    table = pd.DataFrame({"id": [1, 1, 1], "g": ["a", "b", "b"], "v": [1, 2, 3]})
    report = sl.audit(table, chain, distances=1)
    assert (report.verdict, report.sound) == ("tight up to rounding", True)
    assert 0 <= report.rows[0].slack_ulp < 1


def test_a_claim_may_be_a_number():
    counted = NUMBERS >> pl.count()
    report = sl.audit([1, 2, 3], counted, 2, distances=[1, 2])
    assert [(row.claimed, row.verdict) for row in report.rows] == [(2, "loose"), (2, "tight")]


def test_the_tolerance_is_for_claims_in_floats_alone():
    total = NUMBERS >> pl.clamp(0, 2**60) >> pl.sum_(0, 2**60)
    options = {"universe": [0, 2**60], "distances": 1}
    below = float(2**60 - 128)
    assert sl.audit(query=total, claim=2**60 - 1, **options).verdict == "violated"
    assert sl.audit(query=total, claim=below, **options).verdict == "tight up to rounding"
    exactly = sl.audit(query=total, claim=below, tolerance_ulps=0, **options)
    assert exactly.verdict == "violated"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda chain: sl.audit([1, 2], chain, distances=[]),
            "distances must be a whole number or several of them, got none",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, distances=0),
            "distances must be a whole number (a distance, at least 1), got 0, below 1",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, lambda _: -1, distances=1),
            "the claim at distance 1 must be a number that is not negative, got -1",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, lambda d: 1 / (d - 2), distances=[1, 2]),
            "the claim at distance 1 must be a number that is not negative, got -1.0",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, lambda d: 1 // (2 - d), distances=[1, 2]),
            "the claim, a function of d_in, raised ZeroDivisionError at d_in = 2: integer division "
            "or modulo by zero",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, "1", distances=1),
            "the claim at distance 1 must be a number that is not negative: an int, float, "
            "Fraction or Decimal, got '1' (str)",
        ),
        (
            lambda chain: sl.audit([1, 2], chain, distances=1, tolerance_ulps=-1),
            "tolerance_ulps must be a finite number of units in the last place of the truth, at "
            "least 0, got -1",
        ),
    ],
)
def test_wrong_arguments(call, message):
    refused(lambda: call(NUMBERS >> pl.count()), message)
