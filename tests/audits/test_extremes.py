"""Extreme inputs as a preset: distance 0, large distances, and the ends of floats and integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import refused, refused_with
from opendp_cases import dp

import sensitivity_lab as sl
from sensitivity_lab.audits import opendp

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]


def floats(nan=False):
    return dp.atom_domain(T=float, nan=nan)


def integers():
    return dp.atom_domain(T="i32")


def of_function(function, claim, atom=None, size=None):
    """Return a transformation of vectors with one number as its answer."""
    return dp.t.make_user_transformation(
        dp.vector_domain(floats() if atom is None else atom, size), dp.symmetric_distance(),
        floats(), dp.absolute_distance(T=float), function, claim,
    )  # fmt: skip


def audit(made, **options):
    return sl.audits.audit_opendp(made, extremes=True, **options)


def entries(made):
    return opendp.extremes_of(made)[0]


@pytest.mark.exhaustive
def test_a_right_sum_of_integers_is_tight_at_every_distance_that_is_tried():
    made = (
        (dp.vector_domain(integers()), dp.symmetric_distance())
        >> dp.t.then_clamp((0, 5))
        >> dp.t.then_sum()
    )
    report = audit(made)
    assert [row.distance for row in report.rows] == [0, 1, 2, 1024, 2**20]
    assert [row.verdict for row in report.rows] == ["tight"] * 4 + ["loose"]
    assert "extreme values (0, 1, -2147483648, -2147483647, 2147483647)" in report.setting


@pytest.mark.exhaustive
def test_the_order_of_floats_counts_at_distance_0():
    report = audit(
        of_function(lambda x: float(sum(np.clip(x, -1e16, 1e16))), lambda d_in: 1e16 * d_in),
        distances=0,
    )
    assert report.verdict == "violated"


@pytest.mark.exhaustive
def test_many_records_are_needed_to_lose_digits():
    """In 32 bits, each of 1,024 additions rounds; those of two records do not round away 1."""

    def last_sum(x):
        return float(np.cumsum(np.clip(np.array(x, np.float32) / 3, 0, 2**18))[-1]) if x else 0.0

    made = of_function(last_sum, lambda d_in: (2.0**18 + 1) * d_in)
    report = audit(made, distances=0)
    assert report.verdict == "violated"
    assert len(report.rows[0].evidence.x) >= 1023


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda x: float(any(math.copysign(1, one) < 0 and one == 0 for one in x)), -0.0),
        (lambda x: float(any(0 < one < 1e-300 for one in x)), 5e-324),
        (lambda x: float(math.inf in x), math.inf),
        (lambda x: float(len(x) >= 1024), 1.0),
        (lambda x: float(max(x, default=0) == 2.0**50), 2.0**50),
    ],
)
def test_each_extreme_finds_its_fault(function, fault):
    report = audit(of_function(function, lambda _: 0.0), distances=1)
    seen = report.rows[0].evidence
    assert report.verdict == "violated"
    assert fault in [*seen.x, *seen.y]


@pytest.mark.exhaustive
def test_nan_is_tried_where_the_domain_has_it():
    def finds(x):
        return float(any(one != one for one in x))

    with_nan = of_function(finds, lambda _: 0.0, atom=floats(nan=True))
    assert audit(with_nan, distances=1).verdict == "violated"
    assert audit(of_function(finds, lambda _: 0.0), distances=1).verdict == "tight"


@pytest.mark.exhaustive
def test_integers_that_wrap_are_found():
    def wrapped(x):
        return float(np.array(x, np.int32).sum(dtype=np.int32))

    report = audit(
        of_function(wrapped, lambda d_in: (2.0**31) * d_in, atom=integers()), distances=1
    )
    assert report.verdict == "violated"


def test_the_rounding_of_a_mean_is_found_in_large_floats():
    """github.com/opendp/opendp/issues/2923, as it is written: 2**50, and its 1,024 records."""
    large = 2.0**50
    domain = dp.vector_domain(dp.atom_domain(bounds=(large, large + 1), nan=False), size=1024)
    report = audit(dp.t.make_sum_of_squared_deviations(domain, dp.symmetric_distance()))
    wrong = [row for row in report.rows if row.verdict == "violated"]
    assert [row.distance for row in wrong] == [2]
    assert wrong[0].value > 1.5 * wrong[0].claimed > 60
    assert sum(a != b for a, b in zip(wrong[0].evidence.x, wrong[0].evidence.y, strict=True)) == 1


def test_inputs_are_those_that_the_domain_accepts():
    bounded = of_function(len, float, atom=dp.atom_domain(bounds=(0.5, 2.0), nan=False))
    inside = {math.nextafter(0.5, 1), math.nextafter(2.0, 1)}
    assert {one[0] for one in entries(bounded) if len(one) == 1} == {1.0, 0.5, 2.0, *inside}
    sized = entries(of_function(len, float, size=5))
    assert {len(one) for one in sized} == {5}
    unsigned = of_function(len, float, atom=dp.atom_domain(T="u32"))
    assert {one[0] for one in entries(unsigned) if len(one) == 1} == {0, 1, 2**32 - 1}
    single = of_function(len, float, atom=dp.atom_domain(bounds=(3.0, 4.0), nan=False, T="f32"))
    inside = {3 + 2.0**-22, 4 - 2.0**-22}
    assert {one[0] for one in entries(single) if len(one) == 1} == {3.0, 4.0, *inside}
    small = {one[0] for one in entries(of_function(len, float, atom=dp.atom_domain(T="f32")))
             if len(one) == 1}  # fmt: skip
    assert 2.0**-149 in small
    assert 5e-324 not in small


def test_randomized_response_is_judged_on_both_answers():
    response = dp.m.make_randomized_response_bool(0.75)
    assert audit(response, distances=(0, 1)).verdict == "tight"


@pytest.mark.exhaustive
def test_the_noise_of_a_measurement_is_judged_on_extremes():
    laplace = dp.m.make_laplace(floats(), dp.absolute_distance(T=float), 1.0)
    assert [row.verdict for row in audit(laplace, distances=(0, 1)).rows] == ["tight", "tight"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"universe": [0]},
            "universe is not for extremes=True, which has inputs of its own; leave it out, got [0]",
        ),
        (
            {"size": 2},
            "size is not for extremes=True, which has inputs of its own; leave it out, got 2",
        ),
        (
            {"datasets": [[1.0]]},
            "datasets is not for extremes=True, which has inputs of its own; leave it out, got "
            "[[1.0]]",
        ),
        ({"extremes": 5}, "extremes must be True or False, got 5"),
    ],
)
def test_what_is_refused(options, message):
    refused(
        lambda: sl.audits.audit_opendp(
            of_function(len, float), **{"extremes": True, **options}, distances=1
        ),
        message,
    )


def test_other_domains_need_datasets():
    made = dp.t.make_user_transformation(
        dp.user_domain("anything", lambda _: True), dp.symmetric_distance(),
        floats(), dp.absolute_distance(T=float), float, float,
    )  # fmt: skip
    refused_with(lambda: audit(made, distances=1), "is for vectors and single values")
