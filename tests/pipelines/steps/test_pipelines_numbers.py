"""Steps on numbers: what they compute, their maps, and the rounding of floats."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl

ROWS, ONE = pl.SymmetricDistance(), pl.ChangeOneDistance()
FLOATS = pl.Numbers(floats=True, max_size=64)


def test_exact_numbers_stay_exact():
    t = (pl.Numbers(), ROWS) >> pl.clamp(0, Fraction(1, 3)) >> pl.sum_(0, Fraction(1, 3))
    assert t([1, Decimal("0.1"), -5, np.int64(0)]) == Fraction(1, 3) + Fraction(1, 10)
    assert t([0.1, 0.2]) == Fraction(0.1) + Fraction(0.2)
    assert t([]) == 0
    assert t.map(2) == Fraction(2, 3)


def test_arrays_and_series_are_datasets():
    t = (pl.Numbers(), ROWS) >> pl.clamp(0, 2) >> pl.sum_(0, 2)
    for data in (np.array([1, 5]), pd.Series([1, 5]), (1, 5), range(1, 6, 4)):
        assert t(data) == 3


def test_clamp_keeps_what_is_within():
    t = pl.clamp(-1, 2)(pl.Numbers(), ROWS)
    assert t([-7, -1, 0.5, 2, 9]) == [-1, -1, 0.5, 2, 2]
    floats = pl.clamp(-1.0, 2.0)(FLOATS, ROWS)
    np.testing.assert_array_equal(floats([-7, 0.5, 9]), [-1.0, 0.5, 2.0])


def test_sums_with_a_public_size():
    t = (pl.Numbers(size=3), ROWS) >> pl.clamp(2, 5) >> pl.sum_(2, 5)
    assert [t.map(d_in) for d_in in range(8)] == [0, 0, 3, 3, 6, 6, 9, 9]
    replaced = (pl.Numbers(size=3), ONE) >> pl.clamp(2, 5) >> pl.sum_(2, 5)
    assert [replaced.map(d_in) for d_in in range(5)] == [0, 3, 6, 9, 9]


def test_counts_of_a_public_size_do_not_change():
    assert ((pl.Values(size=3), ROWS) >> pl.count()).map(2) == 0
    assert ((pl.Values(), ONE) >> pl.count()).map(2) == 0


def test_filtering_makes_the_size_private():
    t = (pl.Numbers(size=3), ONE) >> pl.clamp(0, 2) >> pl.filter_(bool)
    assert t.output_domain == pl.Numbers(max_size=3, bounds=(0, 2))
    assert (t.output_metric, t.map(1)) == (ROWS, 2)
    assert t([0, 1, 9]) == [1, 2]
    refused_with(lambda: t >> pl.mean(0, 2, 3), "takes exactly 3 numbers")


def test_mapping_forgets_bounds_and_keeps_the_size():
    t = (pl.Numbers(size=2), ONE) >> pl.clamp(0, 2) >> pl.map_(lambda x: 3 * x)
    assert t.output_domain == pl.Numbers(size=2)
    assert t([1, 9]) == [3, 6]
    floats = FLOATS, ROWS
    np.testing.assert_array_equal((floats >> pl.map_(lambda x: x / 2))([1, 3]), [0.5, 1.5])
    assert (floats >> pl.filter_(lambda x: x > 1))([1, 3]).tolist() == [3.0]


def test_the_mean_of_floats_is_rounded_once():
    data = [1e9, 1e9 + 1, 1e9 + 3]
    start = pl.Start(pl.Numbers(size=3, bounds=(0.0, 2e9), floats=True), ONE)
    mean = start >> pl.mean(0, 2e9, 3)
    assert mean(data) == float(Fraction(3 * 10**9 + 4, 3))
    assert 0 < mean.map(1) - Fraction(2 * 10**9, 3) < Fraction(1, 10**6)


def test_a_histogram_counts_its_categories_only():
    t = (pl.Values(), ROWS) >> pl.histogram(["a", 1, True is False])
    assert t(["a", "b", 1.0, None, float("nan"), "a", 0]) == [2, 1, 1]
    assert t([]) == [0, 0, 0]


def test_a_histogram_with_one_category_or_a_public_size():
    alone = (pl.Values(), ONE) >> pl.histogram(["a"], pl.L2Distance())
    assert alone.map(3) == 3
    public = (pl.Values(size=4), ROWS) >> pl.histogram("ab")
    assert [public.map(d_in) for d_in in range(4)] == [0, 0, 2, 2]


# Casacuberta et al. (CCS 2022): the same records in another order
def test_the_order_of_floats_changes_a_sum_by_no_more_than_the_map_of_0():
    records = [2.0**53] + [1.0] * 7
    assert (left_to_right(records), left_to_right(records[::-1])) == (2.0**53, 2.0**53 + 8)
    t = (pl.Numbers(floats=True, max_size=8), ROWS) >> pl.clamp(0, 2**53) >> pl.sum_(0, 2**53)
    assert t.map(0) >= 8
    assert t.map(1) == 2**53 + t.map(0)


def left_to_right(records) -> float:
    total = 0.0
    for record in records:
        total += record
    return total


@given(
    records=st.lists(st.floats(-1e9, 1e9, allow_subnormal=True), max_size=40),
    shuffled=st.randoms(use_true_random=False),
)
def test_sums_of_floats_are_within_their_error(records, shuffled):
    exact = sum(map(Fraction, records), Fraction(0))
    bound = pl.summation_error(len(records), Fraction(10**9))
    shuffled.shuffle(records)
    for total in (left_to_right(records), np.sum(np.array(records, dtype=np.float64))):
        assert abs(Fraction(float(total)) - exact) <= bound


def test_the_error_of_a_sum_grows_with_its_partial_sums():
    records = [0.1] * 10_000
    error = abs(Fraction(left_to_right(records)) - 10_000 * Fraction(0.1))
    one_rounding_each = 9_999 * Fraction(1, 2**53) * Fraction(0.1)
    assert 1000 * one_rounding_each < error <= pl.summation_error(10_000, Fraction(0.1))


@given(value=st.fractions(-1000, 1000, max_denominator=10**6))
def test_rounding_once_is_within_its_error(value):
    rounded = Fraction(value.numerator / value.denominator)
    assert abs(rounded - value) <= pl.rounding_error(abs(value))


def test_rounding_near_zero():
    tiny = Fraction(3, 2**1076)
    assert abs(Fraction(tiny.numerator / tiny.denominator) - tiny) <= pl.rounding_error(tiny)


@pytest.mark.parametrize(
    ("size", "bound", "message"),
    [
        (
            10,
            1e308,
            "a sum of 10 floats of up to 1e+308 can be beyond the range of floats; take "
            "closer bounds or fewer records",
        ),
        (
            2**53,
            1.0,
            "the rounding of a sum of 9,007,199,254,740,992 floats is not bounded; take fewer",
        ),
    ],
)
def test_sums_whose_rounding_has_no_bound(size, bound, message):
    domain = pl.Numbers(floats=True, max_size=size)
    refused(lambda: (domain, ROWS) >> pl.clamp(0, bound) >> pl.sum_(0, bound), message)


@pytest.mark.parametrize("d_in", [1, 2])
@given(records=st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 5.0]), min_size=2, max_size=6))
def test_measured_sums_of_floats_do_not_exceed_the_map(d_in, records):
    t = (pl.Numbers(floats=True, max_size=6), ROWS) >> pl.clamp(0.0, 0.5) >> pl.sum_(0.0, 0.5)
    assert pl.measured_stability(t, records, d_in).measured <= t.map(d_in)


def test_floats_of_a_sum_can_exceed_the_map_of_exact_numbers():
    """0.1 + 0.2 is 0.30000000000000004: without the rounding term the map would be wrong."""
    result = pl.measured_stability(
        (pl.Numbers(floats=True, max_size=2, bounds=(0.0, 0.3)), ROWS) >> pl.sum_(0.0, 0.3),
        [0.1, 0.2],
        2,
    )
    assert result.measured == Fraction(0.1 + 0.2) > Fraction(0.1) + Fraction(0.2)
