"""The clipping sweep against its definition, its privacy losses, its refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracle
import pandas as pd
import pytest
from checks import refused
from hypothesis import example, given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.noise.clipping_bounds import clipping_sweep

RECORDS = st.one_of(
    st.integers(-20, 20),
    st.integers(10**9, 10**9 + 8),
    st.floats(-1e3, 1e3),
    st.fractions(-5, 5, max_denominator=7),
)
AGES = [3, 17, 17, 25, 38, 38, 38, 44, 61, 90]


def clip(record, lower, upper):
    return max(Fraction(lower), min(Fraction(record), Fraction(upper)))


@given(
    st.lists(RECORDS, min_size=1, max_size=12),
    st.lists(RECORDS, min_size=2, max_size=6, unique_by=Fraction),
)
@example([5, 5], [5, 6])
@example([0.1, 0.2, 0.3], [0, 0.1, 0.25])
def test_sums_and_biases_are_those_of_the_definition(records, bounds):
    lower, *uppers = sorted(bounds, key=Fraction)
    sweep = clipping_sweep(records, uppers, lower=lower, neighbors="unbounded")
    true = sum(map(Fraction, records))
    assert (sweep.true_sum, sweep.records) == (true, len(records))
    for point, upper in zip(sweep.points, uppers, strict=True):
        assert point.bound == upper
        assert point.clipped_sum == sum(clip(record, lower, upper) for record in records)
        assert point.bias == point.clipped_sum - true


@given(
    st.integers(-9, 9),
    st.integers(0, 12),
    st.integers(1, 2),
    st.sampled_from(["bounded", "unbounded", "symmetric_difference"]),
    st.booleans(),
)
@example(5, 5, 1, "bounded", False)
@example(-2, 5, 1, "unbounded", False)
def test_the_sensitivity_is_that_of_all_datasets_in_the_bounds(lower, width, k, relation, exactly):
    """The oracle lists all pairs of datasets of a universe that has values inside as well."""
    upper = lower + width
    inside = sorted({lower, lower + width // 2, upper})
    universe = oracle.universe_of(inside, [2 * k + 1] * len(inside))
    expected, *_ = oracle.global_sensitivity(
        universe, k + 1, ("sum",), relation, k, exactly=exactly
    )
    named = {
        "bounded": sl.Bounded,
        "unbounded": sl.Unbounded,
        "symmetric_difference": sl.SymmetricDifference,
    }[relation](k, exactly)
    [point] = clipping_sweep([0], [upper], lower=lower, neighbors=named).points
    assert point.sensitivity.exact == expected
    point.sensitivity.verify()


def test_the_rules_of_the_textbook():
    """[5, 10]: adding or removing a record moves the sum by 10, replacing one by 5."""
    for neighbors, lower, upper, rule in (
        ("unbounded", 5, 10, 10),
        ("bounded", 5, 10, 5),
        ("unbounded", -2, 3, 3),
        ("bounded", -2, 3, 5),
        ("unbounded", 0, 125, 125),
        ("bounded", 0, 125, 125),
    ):
        [point] = clipping_sweep(AGES, [upper], lower=lower, neighbors=neighbors).points
        assert point.sensitivity.exact == rule


@pytest.mark.exhaustive
def test_the_books_linear_sweep():
    bounds = range(100)
    sweep = clipping_sweep(AGES, bounds, epsilon=Fraction(1, 100), neighbors="unbounded")
    assert len(bounds) == 100
    assert sweep.total_epsilon == 1
    assert [point.sensitivity.exact for point in sweep.points] == list(range(100))
    assert [point.scale for point in sweep.points] == [100 * bound for bound in bounds]
    assert sweep.points[90].bias == 0 > sweep.points[89].bias


def test_the_books_logarithmic_sweep():
    bounds = [2**i for i in range(15)]
    sweep = clipping_sweep(AGES, bounds, epsilon=0.01, neighbors="unbounded")
    assert next(point.bound for point in sweep.points if point.bias == 0) == 128
    assert sweep.total_epsilon == math.nextafter(0.15, 1)  # 15 times the float 0.01 exceeds 0.15
    assert Fraction(sweep.total_epsilon) >= 15 * Fraction(0.01) > Fraction(0.15)


def test_expected_error_is_the_mean_of_many_releases():
    """Against a midpoint rule over the Laplace distribution's quantiles."""
    sweep = clipping_sweep(AGES, [20, 60, 100], epsilon=0.5, neighbors="unbounded")
    u = (np.arange(200_000) + 0.5) / 200_000 - 0.5
    for point in sweep.points:
        noise = -point.scale * np.sign(u) * np.log1p(-2 * np.abs(u))
        error = np.abs(noise + float(point.bias)).mean()
        assert math.isclose(point.expected_error, error, rel_tol=1e-3)
    assert sweep.least_error is sweep.points[np.argmin([p.expected_error for p in sweep.points])]


def test_a_bound_that_leaves_nothing_needs_no_noise():
    [point] = clipping_sweep(AGES, [0], epsilon=1, neighbors="unbounded").points
    assert (point.clipped_sum, point.sensitivity.exact, point.scale) == (0, 0, 0)
    assert point.expected_error == -point.bias == sum(AGES)


def test_the_mechanism_gets_exact_numbers_in_order():
    calls = []

    def release(value, sensitivity, epsilon):
        calls.append((value, sensitivity, epsilon))
        return np.float64(len(calls))

    records = [0.1, 0.2, 0.7]
    sweep = clipping_sweep(records, [0.15, 1], epsilon=0.25, release=release, neighbors="unbounded")
    assert calls == [
        (Fraction(0.1) + 2 * Fraction(0.15), Fraction(0.15), Fraction(1, 4)),
        (sum(map(Fraction, records)), 1, Fraction(1, 4)),
    ]
    assert all(type(number) is Fraction for call in calls for number in call)
    assert [point.release for point in sweep.points] == [1, 2]
    assert sweep.total_epsilon == 0.5


def test_without_an_epsilon_there_is_no_noise():
    sweep = clipping_sweep(AGES, [10, 20], neighbors="unbounded")
    assert sweep.epsilon is sweep.total_epsilon is sweep.least_error is None
    for point in sweep.points:
        assert point.scale is point.release is point.expected_error is None
    frame = sweep.to_frame()
    assert frame[["scale", "release", "expected_error"]].isna().all(axis=None)


def test_the_table():
    sweep = clipping_sweep(
        AGES, [10, 50], epsilon=2, release=lambda value, *_: value + 1, neighbors="unbounded"
    )
    frame = sweep.to_frame()
    assert list(frame.columns) == [
        *("bound", "clipped_sum", "bias", "sensitivity", "scale", "release", "expected_error")
    ]
    assert frame["bound"].dtype == np.int64
    assert frame.iloc[1].tolist() == [
        *(50, 320, -51, 50, 25, 321),
        pytest.approx(51 + 25 * math.exp(-51 / 25)),
    ]


@pytest.mark.parametrize(
    "values", [AGES, tuple(AGES), np.array(AGES), pd.Series(AGES), map(float, AGES)]
)
def test_every_kind_of_column_is_accepted(values):
    sweep = clipping_sweep(values, np.array([50.0]), lower=np.int64(0), neighbors="unbounded")
    assert sweep.points[0].clipped_sum == 320


def test_both_reprs_tell_the_facts_and_the_caution():
    sweep = clipping_sweep(
        AGES, [50], epsilon=2, release=lambda value, *_: value, neighbors="unbounded"
    )
    assert repr(sweep) == (
        "Clipping sweep of a sum: 1 upper bound from 50 to 50, lower bound 0\n"
        "  records      10, with the sum 371\n"
        "  sensitivity  50 to 50 (exact; unbounded, at most 1)\n"
        "  epsilon      2 for a release, 2 for one at each bound (sequential composition)\n"
        "  releases     one at each bound\n"
        "  caution      only releases are private: bounds read off the data are not, nor are the "
        "sums,\n"
        "               the biases and the errors shown here"
    )
    html = sweep._repr_html_()
    told = " ".join(repr(sweep).split())
    for text in ("sequential composition", "are not, nor are the sums", "10, with the sum 371"):
        assert text in told
        assert text in html
    without = repr(clipping_sweep(AGES, [50], neighbors="unbounded"))
    assert "  epsilon      none given\n  releases     none\n" in without


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: clipping_sweep([], [1], neighbors="unbounded"),
            "values: a universe needs at least one record, got none",
        ),
        (
            lambda: clipping_sweep([1.0, math.nan], [1], neighbors="unbounded"),
            "values: records must be finite numbers, got nan at position 1; "
            "drop or replace missing and infinite values first",
        ),
        (
            lambda: clipping_sweep([1, None], [1], neighbors="unbounded"),
            "values: records must be finite numbers, got None at position 1; "
            "drop or replace missing and infinite values first",
        ),
        (
            lambda: clipping_sweep(AGES, [], neighbors="unbounded"),
            "bounds must have at least one upper bound, got none",
        ),
        (
            lambda: clipping_sweep(AGES, [1, "2"], neighbors="unbounded"),
            "bounds must be a finite number, got '2' (str); give an int, float, Fraction "
            "or Decimal",
        ),
        (
            lambda: clipping_sweep(AGES, [1, 3, 3], neighbors="unbounded"),
            "bounds must ascend, got 3 after 3",
        ),
        (
            lambda: clipping_sweep(AGES, [-1, 3], neighbors="unbounded"),
            "bounds must be at least lower, which is 0, got -1",
        ),
        (
            lambda: clipping_sweep(AGES, [3], release=lambda *_: 0, neighbors="unbounded"),
            "release needs an epsilon: give the privacy loss of each release",
        ),
        (
            lambda: clipping_sweep(
                AGES, [3], epsilon=1, release=lambda *_: math.nan, neighbors="unbounded"
            ),
            "release: the answer for the bound 3 must be a finite number, got nan",
        ),
    ],
)
def test_what_is_refused(call, message):
    refused(call, message)
