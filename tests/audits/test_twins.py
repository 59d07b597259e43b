"""OpenDP's measurements by the law of their noise, drawn from a generator that is driven."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from checks import refused, refused_with
from paths import ROOT
from scipy import stats

from sensitivity_lab.audits import audit_opendp

dp = pytest.importorskip("opendp.prelude")
pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features")]

TEXTS = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
INTEGERS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
NUMBER = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def above(scale: float, threshold: int):
    """Counts by key, those of at least a threshold."""
    counts = TEXTS >> dp.t.then_count_by(TV=dp.i32)
    return counts >> dp.m.then_laplace_threshold(scale, threshold)


@pytest.mark.parametrize(("scale", "threshold"), [(1.0, 5), (2.0, 10)])
def test_the_delta_of_a_threshold_is_too_small(scale, threshold):
    """A key of one record is kept with probability P(z >= threshold - 1), see issue 2922."""
    report = audit_opendp(above(scale, threshold), ["a"], range(3), distances=1)
    (row,) = report.rows
    decay = math.exp(-1 / scale)
    assert row.claimed == pytest.approx(decay**threshold / (1 + decay))
    assert row.value == pytest.approx(decay ** (threshold - 1) / (1 + decay))
    assert (row.verdict, report.sound) == ("violated", False)


def above_normal(scale: float, threshold: int):
    """The same with Gaussian noise, on counts that the caller keeps as a mapping."""
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=dp.i32))
    metric = dp.l02inf_distance(dp.absolute_distance(T=dp.i32))
    counts = dp.t.make_user_transformation(
        *TEXTS, domain, metric, Counter, lambda d_in: (d_in, d_in, d_in)
    )
    return counts >> dp.m.then_gaussian_threshold(scale, threshold)


@pytest.mark.parametrize(("scale", "threshold"), [(1.0, 5), (2.0, 10)])
def test_the_delta_of_a_gaussian_threshold_is_too_small(scale, threshold):
    """The map has the tail of a continuous normal draw; the noise is discrete, as the truth is."""
    weights = {z: math.exp(-z * z / (2 * scale**2)) for z in range(-60, 61)}
    report = audit_opendp(above_normal(scale, threshold), ["a"], range(3), distances=1)
    (row,) = report.rows
    kept = sum(weight for z, weight in weights.items() if z >= threshold - 1)
    assert row.claimed == pytest.approx(above_normal(scale, threshold).map(1)[1])
    assert row.value == pytest.approx(kept / sum(weights.values()))
    assert (row.verdict, report.sound) == ("violated", False)


def test_a_gaussian_threshold_whose_delta_is_enough_is_not_judged():
    """All datasets have the key, so no delta is needed; rho is left open."""
    report = audit_opendp(above_normal(1.0, 5), ["a"], [1, 2], distances=1)
    assert report.verdict == "not judged"
    assert report.rows[0].reason == (
        "rho is not judged for noise on whole numbers; of delta no more is needed than the map "
        "promises"
    )


def test_whole_numbers_are_needed_for_the_twin_of_a_threshold():
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=float, nan=False))
    for metric, make in (
        (dp.l01inf_distance, dp.m.make_laplace_threshold),
        (dp.l02inf_distance, dp.m.make_gaussian_threshold),
    ):
        made = make(domain, metric(dp.absolute_distance(T=float)), 1.0, 5.0)
        refused(
            lambda made=made: audit_opendp(made, datasets=[{"a": 1.0}, {}], distances=1),
            "no twin of a threshold on floats is known; count in integers",
        )


@pytest.mark.stress
def test_the_twin_releases_as_often_as_the_measurement():
    """Of 4,000 draws, as many keep the key as the law says; the map promises a third of them."""
    kept = sum("a" in above(1.0, 5)(["a"]) for _ in range(4000))
    expected = 4000 * math.exp(-4) / (1 + math.exp(-1))
    assert abs(kept - expected) < 6 * math.sqrt(expected)


@pytest.mark.exhaustive
def test_randomised_response_is_exact():
    two = audit_opendp(dp.m.make_randomized_response_bool(0.75), [True, False], distances=1)
    assert (two.verdict, two.unjudged) == ("tight", ())
    assert not any("keeps" in note for note in two.notes)
    assert two.rows[0].value == pytest.approx(math.log(3))
    several = dp.m.make_randomized_response(["a", "b", "c"], 0.6)
    report = audit_opendp(several, ["a", "b", "c", "none of these"], distances=1)
    assert report.verdict == "tight up to rounding"
    assert report.rows[0].value == pytest.approx(math.log(3))
    drawn = Counter(several("none of these") for _ in range(600))
    assert min(drawn.values()) > 120  # any category, as in the twin


def test_a_loss_of_0_is_right_up_to_a_probability_that_a_float_rounds():
    """One third, as a float, is 2**-54 / 3 too small: the map promises 0, the truth is 8e-17."""
    several = dp.m.make_randomized_response(["a", "b", "c"], 1 / 3)
    report = audit_opendp(several, ["a", "b", "c"], distances=1)
    assert (report.rows[0].claimed, report.verdict) == (0.0, "tight up to rounding")
    assert 0 < report.rows[0].value < 1e-16


def test_noise_on_floats_is_judged_by_its_continuous_law():
    laplace = audit_opendp(dp.m.make_laplace(*NUMBER, 2.0), [0.0, 1.0], distances=1)
    assert (laplace.verdict, laplace.rows[0].value) == ("tight", 0.5)
    gaussian = audit_opendp(dp.m.make_gaussian(*NUMBER, 2.0), [0.0, 1.0], distances=1)
    assert gaussian.rows[0].value == pytest.approx(1 / 8)
    assert gaussian.sound


@pytest.mark.exhaustive
@pytest.mark.parametrize("then", [dp.m.then_laplace, dp.m.then_geometric])
def test_a_law_that_is_cut_proves_no_pure_epsilon(then):
    """It bounds it from below: by what the map promises."""
    noisy = INTEGERS >> dp.t.then_count() >> then(2.0)
    report = audit_opendp(noisy, [0], range(3))
    assert [row.verdict for row in report.rows] == ["not judged", "not judged"]
    assert [row.value for row in report.rows] == pytest.approx([0.5, 1.0])
    assert report.rows[0].reason.endswith(
        "pass a function of the scale that returns the "
        "measurement, to audit the sensitivity that its map assumes"
    )


@pytest.mark.exhaustive
def test_each_distance_has_its_own_claim():
    report = audit_opendp(above(1.0, 5), ["a", "b"], range(3), distances=(0, 1, 2))
    claims = [0, *(above(1.0, 5).map(d_in)[1] for d_in in (1, 2))]
    assert [row.claimed for row in report.rows] == claims
    assert [row.verdict for row in report.rows] == ["not judged", "violated", "violated"]


def test_other_measures_are_refused():
    made = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*NUMBER, 2.0))
    refused(
        lambda: audit_opendp(made, [0.0, 1.0], distances=1),
        "the privacy measure SmoothedMaxDivergence is not covered; those that are: MaxDivergence, "
        "ZeroConcentratedDivergence, and their approximate forms, such as that of make_fix_delta",
    )


def test_a_loss_that_is_measured_otherwise_is_of_the_same_release():
    normal, laplace = (make(*NUMBER, 2.0) for make in (dp.m.make_gaussian, dp.m.make_laplace))
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(normal), 1e-6)
    (row,) = audit_opendp(fixed, [0.0, 1.0], distances=1).rows
    epsilon, _ = fixed.map(1.0)
    p, q = stats.norm.cdf(1 / 4 - 2 * epsilon), stats.norm.cdf(-1 / 4 - 2 * epsilon)
    assert (row.verdict, row.value) == ("loose", pytest.approx(p - math.exp(epsilon) * q))
    (row,) = audit_opendp(dp.c.make_approximate(laplace), [0.0, 1.0], distances=1).rows
    assert (row.verdict, row.value) == ("tight", 0.5)
    # OpenDP takes epsilon**2 / 2; the truth is the Kullback-Leibler divergence.
    (row,) = audit_opendp(dp.c.make_pureDP_to_zCDP(laplace), [0.0, 1.0], distances=1).rows
    assert (row.verdict, row.claimed) == ("loose", 0.125)
    assert row.value == pytest.approx(0.5 - 1 + math.exp(-0.5))


@pytest.mark.parametrize("scale", [0.02, 0.04, 0.05, 0.07])
def test_small_scales_are_not_rounded_away(scale):
    """The chance of a float is 1 there, and noise of so small a scale was "violated"."""
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    (row,) = audit_opendp(dp.m.make_laplace(*space, scale), [0, 1], distances=1).rows
    assert row.verdict == "not judged"
    assert row.value == pytest.approx(1 / scale, rel=0.02)
    assert row.value <= row.claimed * (1 + 1e-15)


@pytest.mark.exhaustive
def test_an_infinite_loss_promises_nothing():
    made = [dp.m.make_laplace(*NUMBER, 0.0), dp.m.make_gaussian(*NUMBER, 0.0)]
    for one in made:
        (row,) = audit_opendp(one, [0.0, 1.0], distances=1).rows
        assert (row.claimed, row.verdict) == (math.inf, "tight")
    refused_with(
        lambda: audit_opendp(dp.m.make_laplace(*NUMBER, 4.0, k=3), [3.9, 4.1], distances=1),
        "no twin of noise with k= is known",
    )


@pytest.mark.exhaustive
def test_the_page_shows_what_it_says():
    page = (ROOT / "docs" / "how_to" / "audit.md").read_text()
    block, *others = re.findall(r"```python\n((?!>>>)(?:.*\n)*?)```", page)
    assert len(others) == 2
    names = {}
    exec(block, names)
    row = names["report"].decisive
    for other in others:
        exec(other, names)  # its assertions hold
    said = f"# '{row.verdict}': delta {row.claimed:.5f} is claimed, the truth is {row.value:.5f}"
    assert said in block


def test_post_processing_costs_what_the_noise_does():
    """The answer after it is no affine law; what it made of noise on whole numbers is listed."""
    noisy = dp.m.make_laplace(*NUMBER, 1.0)
    for then in (lambda v: max(v, 0.0) * 2, lambda v: round(v, 1), lambda v: f"{v:.2f}"):
        (row,) = audit_opendp(noisy >> then, [0.0, 1.0], distances=1).rows
        assert (row.verdict, row.claimed, row.value) == ("holds if post-processed", 1, 1)
    bit = dp.m.make_randomized_response_bool(prob=0.75)
    (row,) = audit_opendp(bit >> (lambda v: int(v) + 1), [False, True], distances=1).rows
    assert row.verdict == "tight"


def test_a_composition_is_judged_as_a_whole():
    noisy = dp.m.make_laplace(*NUMBER, 1.0)
    (row,) = audit_opendp(dp.c.make_composition([noisy, noisy]), [0.0, 1.0], distances=1).rows
    assert (row.verdict, row.claimed, row.value) == ("tight", 2, 2)
