"""OpenDP measurements: what their maps assume beside their answers without noise."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest
from checks import refused
from opendp_cases import dp, integers

import sensitivity_lab as sl

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

SPACE = integers(), dp.symmetric_distance()


def noisy_sum(scale):
    return SPACE >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)


def noisy_counts(scale):
    counts = dp.t.make_count_by_categories(
        *SPACE, [0, 1], null_category=False, MO="L2Distance<f64>", TOA="f64"
    )
    return counts >> dp.m.then_gaussian(scale)


def own(answer, loss, measure=None):
    """A measurement of the user: Laplace noise of no library, and a map that may be wrong."""

    def make(scale):
        return dp.m.make_user_measurement(
            *SPACE,
            measure or dp.max_divergence(),
            function=lambda x: answer(x) if not scale else math.nan,
            privacy_map=lambda d_in: loss(d_in) / scale if scale else math.inf,
        )

    return make


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_laplace_noise_assumes_the_loss_times_the_scale(scale):
    report = sl.audits.audit_opendp(noisy_sum, [-1, 0, 9], range(3), scale=scale)
    assert [(row.claimed, row.exact) for row in report.rows] == [(3, 3), (6, 6)]
    assert report.subject == "make_clamp >> make_sum >> make_laplace"
    assert report.setting == (
        "SymmetricDistance() of at most k to MaxDivergence (L1, scale "
        f"{scale}); values (-1, 0, 9), sizes (0, 1, 2) in every order; implementation at scale 0"
    )


def test_gaussian_noise_assumes_a_euclidean_distance():
    report = sl.audits.audit_opendp(noisy_counts, [0, 1], range(3), distances=[1, 2])
    assert [row.exact for row in report.rows] == [1, 2]
    assert report.verdict == "tight"
    assert "ZeroConcentratedDivergence (L2, scale 1.0)" in report.setting


def test_a_map_that_assumes_too_little_is_violated():
    """The squares differ by 9, for which the map promises the loss of a difference of 3."""
    wrong = own(lambda x: sum(x) ** 2, lambda d_in: 3.0 * d_in)
    report = sl.audits.audit_opendp(wrong, [0, 3], range(2), distances=1)
    assert repr(report).splitlines()[2:] == [
        "  k  claimed  truth  verdict",
        "  1  3        9      violated (claim / truth = 0.3333)",
        "  x  ()  ->  0",
        "  y  (3,)  ->  9",
    ]
    right = own(lambda x: sum(x) ** 2, lambda d_in: 9.0 * d_in)
    assert sl.audits.audit_opendp(right, [0, 3], range(2), distances=1).verdict == "tight"


def test_a_threshold_is_about_the_first_number_of_the_loss():
    def grouped(scale):
        counts = dp.t.make_count_by(
            dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
        )
        return counts >> dp.m.then_laplace_threshold(scale, threshold=50 if scale else 0)

    report = sl.audits.audit_opendp(grouped, ["a", "b"], range(3))
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]


def test_other_answers_become_numbers():
    words = own(lambda x: "one " * len(x), lambda d_in: 1.0 * d_in)
    report = sl.audits.audit_opendp(
        words, [0], range(3), answer=lambda text: len(text.split()), outputs="absolute"
    )
    assert [row.exact for row in report.rows] == [1, 2]
    refused(
        lambda: sl.audits.audit_opendp(words, [0], 1, answer=float),
        "answer, on [0], raised ValueError: could not convert string to float: 'one '",
        sl.errors.QueryError,
    )


def test_a_loss_that_is_infinite_claims_nothing_finite():
    infinite = own(len, lambda _: math.inf)
    (row,) = sl.audits.audit_opendp(infinite, [0], range(2), distances=1).rows
    assert (row.claimed, row.exact, row.verdict) == (math.inf, Fraction(1), "loose")


def broken(scale):
    if not scale:
        raise ValueError("no scale 0")
    return noisy_sum(scale)


REFUSED = {
    "a scale of 0": (
        lambda: sl.audits.audit_opendp(noisy_sum, [0], 1, scale=0),
        "scale must be a number from 1e-100 to 1e100, got 0",
    ),
    "a scale beyond floats": (
        lambda: sl.audits.audit_opendp(noisy_sum, [0], 1, scale=Decimal("1e400")),
        "scale must be a number from 1e-100 to 1e100, got Decimal('1E+400')",
    ),
    "a scale that is none in floats": (
        lambda: sl.audits.audit_opendp(noisy_sum, [0], 1, scale=Decimal("1e-400")),
        "scale must be a number from 1e-100 to 1e100, got Decimal('1E-400')",
    ),
    "no twin": (
        lambda: sl.audits.audit_opendp(broken, [0], 1),
        "make must return a measurement for every scale, but make(0.0) raised ValueError: no scale "
        "0",
    ),
    "a transformation": (
        lambda: sl.audits.audit_opendp(lambda _: dp.t.make_count(*SPACE), [0], 1),
        "make must return an OpenDP Measurement, but make(1.0) returned Transformation",
    ),
    "another measure": (
        lambda: sl.audits.audit_opendp(
            own(len, lambda d_in: d_in, dp.user_divergence("own")), [0], 1
        ),
        "the privacy measure own is not covered; those that are: MaxDivergence, "
        "ZeroConcentratedDivergence, and their approximate forms",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message)


def test_a_twin_with_noise_is_randomised():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.audits.audit_opendp(lambda _: noisy_sum(1e6), [0], 1)
    assert str(caught.value).startswith(
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        "two calls on [0] returned "
    )


def test_answers_that_cannot_be_compared_are_refused():
    refused(
        lambda: sl.audits.audit_opendp(noisy_sum, datasets=[[1], [2]], answer=lambda _: pd.NA),
        "answer, on [1], raised TypeError: boolean value of NA is ambiguous",
        sl.errors.QueryError,
    )
