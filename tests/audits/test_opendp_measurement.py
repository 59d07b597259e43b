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

pl = pytest.importorskip("polars", reason="needs OpenDP's extra `polars`")

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

SPACE = integers(), dp.symmetric_distance()


def noisy_sum(scale):
    return SPACE >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)


def noisy_counts(scale):
    counts = dp.t.make_count_by_categories(
        *SPACE, [0, 1], null_category=False, MO="L2Distance<f64>", TOA="f64"
    )
    return counts >> dp.m.then_gaussian(scale)


def own(answer, loss, then=dp.m.then_laplace):
    """A transformation of the user, whose map may be wrong, and noise."""

    def make(scale):
        exact = dp.t.make_user_transformation(
            *SPACE,
            dp.vector_domain(dp.atom_domain(T=float, nan=False)),
            dp.l1_distance(T=float),
            lambda x: [float(answer(x))],
            loss,
        )
        return exact >> then(scale)

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
        "  x  ()  ->  (0.0,)",
        "  y  (3,)  ->  (9.0,)",
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
    counts = own(len, lambda d_in: 1.0 * d_in)
    report = sl.audits.audit_opendp(
        counts, [0], range(3), answer=lambda one: one[0], outputs="absolute"
    )
    assert [row.exact for row in report.rows] == [1, 2]
    refused(
        lambda: sl.audits.audit_opendp(counts, [0], 1, answer=lambda one: one[1]),
        "answer, on [0], raised IndexError: list index out of range",
        sl.errors.QueryError,
    )


def test_a_loss_that_is_infinite_claims_nothing_finite():
    infinite = own(len, lambda _: math.inf)
    (row,) = sl.audits.audit_opendp(infinite, [0], range(2), distances=1).rows
    assert (row.claimed, row.exact, row.verdict) == (None, Fraction(1), "no claim")


WANTED = "made must be a Transformation, a Measurement, or a function of a scale that returns one"


def context():
    return dp.Context.compositor(
        data=[1, 2], privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0), split_evenly_over=1,
    )  # fmt: skip


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
    "another scale": (
        lambda: sl.audits.audit_opendp(lambda scale: noisy_sum(2 * scale), [0], 1),
        "make must add noise of the scale that it gets, but make(1.0) adds noise of scale 2.0; "
        "pass the scale on as it is",
    ),
    "a Function": (
        lambda: sl.audits.audit_opendp(dp.new_function(lambda x: x, TO="i32"), [0], 1),
        f"{WANTED}, got a Function of OpenDP, which has no map: give the measurement that it "
        "follows",
    ),
    "an odometer": (
        lambda: sl.audits.audit_opendp(
            dp.c.make_fully_adaptive_composition(*SPACE, dp.max_divergence()), [0], 1
        ),
        f"{WANTED}, got an odometer of OpenDP, which has no map: give a measurement that it "
        "answers",
    ),
    "a context": (
        lambda: sl.audits.audit_opendp(context(), [0], 1),
        f"{WANTED}, got a Context of OpenDP, which has data of its own: give the measurement of a "
        "query",
    ),
    "a query": (
        lambda: sl.audits.audit_opendp(context().query(), [0], 1),
        f"{WANTED}, got a Query of OpenDP: give the measurement that its resolve() returns",
    ),
    "a part of a chain": (
        lambda: sl.audits.audit_opendp(dp.t.then_sum(), [0], 1),
        f"{WANTED}, got a constructor of OpenDP that waits for a domain and a metric: give "
        "(domain, metric) >> it",
    ),
}


def added(called):
    return (
        "a function of the scale is audited where noise of that scale is added last, as by "
        "make_laplace and make_gaussian, or by sum, len and count with scale= in a plan; the loss "
        f"of {called} tells nothing of its answer at scale 0: audit the transformation before it"
    )


def scores():
    return dp.t.make_user_transformation(
        *SPACE,
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float),
        lambda x: [float(x.count(0)), float(x.count(1))],
        lambda d_in: 1.0 * d_in,
    )


def plan(expression, **given):
    def make(scale):
        schema = pl.LazyFrame(schema={"a": pl.Float64})
        column = dp.series_domain("a", dp.atom_domain(T=float, nan=False))
        domain = dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=5))
        own = {"global_scale": scale} if given else {}
        asked = schema.select(expression(pl.col("a").fill_null(0.0), None if given else scale))
        return dp.m.make_private_lazyframe(
            domain, dp.symmetric_distance(), dp.max_divergence(), asked, **own
        )

    return make


NOT_LAST = {
    "make_noisy_max": lambda s: scores() >> dp.m.then_noisy_max(dp.max_divergence(), s),
    "make_noisy_top_k": lambda s: scores() >> dp.m.then_noisy_top_k(dp.max_divergence(), 1, s),
    "make_chain_pm": lambda s: noisy_sum(s) >> (lambda v: max(v, 0) * 2),
    "make_chain_pm of a hundredth": lambda s: (
        own(lambda x: 10 * len(x), lambda d_in: 1.0 * d_in)(s) >> (lambda v: v[0] / 100)
    ),
    "make_user_measurement": lambda s: dp.m.make_user_measurement(
        *SPACE, dp.max_divergence(), len, lambda d_in: d_in / s if s else math.inf
    ),
    "make_pureDP_to_zCDP": lambda s: dp.c.make_pureDP_to_zCDP(noisy_sum(s)),
    "make_fix_delta": lambda s: dp.c.make_fix_delta(
        dp.c.make_zCDP_to_approxDP(noisy_counts(s)), 1e-6
    ),
    "this plan of Polars by a median": plan(lambda a, s: a.dp.median([0.0, 1.0], scale=s)),
    "this plan of Polars by a mean": plan(lambda a, s: a.dp.mean((0.0, 1.0), scale=s)),
    "this plan of Polars times 2": plan(lambda a, s: a.dp.sum((0.0, 1.0), scale=s) * 2),
    "this plan of Polars over 1 / scale": plan(
        lambda a, _: a.dp.sum((0.0, 1.0)), global_scale=True
    ),
}


@pytest.mark.parametrize("case", NOT_LAST)
def test_only_noise_that_is_added_last_tells_of_answers_at_scale_0(case):
    """All of these are right, or promise too little, and were called the other one."""
    called = " ".join(case.split()[: 4 if "plan" in case else 1])
    refused(lambda: sl.audits.audit_opendp(NOT_LAST[case], [0, 1], range(3)), added(called))


def test_plans_and_compositions_of_noise_that_is_added_last():
    tables = [pl.LazyFrame({"a": [0.5, 1.0][:n]}, schema={"a": pl.Float64}) for n in range(3)]
    for expression, truth in {
        "a sum": (lambda a, s: a.dp.sum((0.0, 2.0), scale=s), 1),
        "named": (lambda a, s: a.dp.count(scale=s, signed=True).alias("n"), 1),
        "two": (lambda a, s: [dp.len(scale=s, signed=True), a.dp.sum((0.0, 1.0), scale=s)], 2),
    }.values():
        report = sl.audits.audit_opendp(plan(expression), datasets=tables, distances=1)
        assert (report.held, report.rows[0].exact) == (True, truth)
    both = lambda s: dp.c.make_composition([noisy_sum(s), noisy_sum(s)])  # noqa: E731
    report = sl.audits.audit_opendp(both, [0, 9], range(2), distances=1)
    assert (report.verdict, report.rows[0].exact) == ("tight", 6)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message)


def test_a_twin_with_noise_is_randomised():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.audits.audit_opendp(lambda scale: noisy_sum(scale or 1e6), [0], 1)
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
