"""Adaptive code with continuous noise: histories that are replayed, with laws by hand."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven.histories import histories, loss
from sensitivity_lab.audits.driven.laws import compared

pytestmark = pytest.mark.usefixtures("few_runs")

UNBOUNDED = {"universe": [9], "size": [0, 1], "neighbors": "unbounded"}
STEPS = {"universe": [0, 1], "size": 1, "neighbors": "bounded"}


def bounded_sum(data, rng, scale_of_count=2.0, share=0.5):
    """A released count bounds the records: the sum moves by the bound, and so is its noise."""
    count = len(data) + rng.laplace(scale=scale_of_count)
    bound = max(1.0, float(count))
    return count, sum(min(x, bound) for x in data) + rng.laplace(scale=bound / share)


def steps(data, rng, scales=(5.0, 5.0)):
    """Descent on clipped gradients: each step moves by at most 1 given what was released."""
    w, released = 0.5, []
    for scale in scales:
        w = w - 0.1 * (sum(np.clip(w - x, -1, 1) for x in data) + rng.normal(scale=scale))
        released.append(w)
    return released


@pytest.mark.exhaustive
def test_a_right_adaptive_mechanism_is_not_refuted():
    report = audit_mechanism(bounded_sum, **UNBOUNDED, epsilon=1)
    assert report.verdict == "not refuted"
    assert not report.sound
    assert report.decisive.sentence == (
        "81 histories of releases found no violation: not refuted (after none of them do neighbors "
        "need more than an epsilon of 1; other histories are not known)"
    )
    assert "replayed with 81 histories of releases" in str(report)


@pytest.mark.representative
@pytest.mark.parametrize(("share", "epsilon"), [(1.0, 1.5), (0.55, 1.05)])
def test_a_second_step_with_too_little_noise_is_violated(share, epsilon):
    """The count spends 1/2, and the sum its share: both in full where both are far out."""

    def wrong(data, rng):
        return bounded_sum(data, rng, share=share)

    report = audit_mechanism(wrong, **UNBOUNDED, epsilon=1)
    assert report.verdict == "violated"
    assert report.rows[0].value == pytest.approx(epsilon, rel=1e-12)
    assert len(report.rows[0].history) == 2
    assert report.notes == (
        "noise is in scales, draw by draw; with it, both datasets release the same noisy numbers",
    )


def test_the_loss_is_that_of_the_densities_at_the_release():
    """By hand: the sum of |z| on y less that on x, for scales that both have."""
    replay = histories(bounded_sum, [[], [9]], 9)
    for place in range(9):
        x, y = replay(place)
        assert x.release == y.release
        (count, total), bound = x.release.values(), max(1.0, float(x.release[0,]))
        by_hand = (abs(count - 1) - abs(count)) / 2
        gap = Fraction(min(9, bound))
        scale = Fraction(bound / 0.5)
        by_hand += (abs(total - gap) - abs(total)) / scale
        assert loss(x, y, compared(x.law, y.law), rho=False) == abs(by_hand)


def test_scales_that_depend_on_data_differ_by_their_logarithm():
    """At 0 on both: densities 1 / (2 b) with b = 1 and 10 differ by log(10)."""

    def scaled(data, rng):
        count = len(data) + rng.laplace(scale=1e9)
        return float(count), rng.laplace(scale=10.0 if data else 1.0)

    replay = histories(scaled, [[], [9]], 9)
    x, y = replay(0)
    far = x.release[1,]
    known = loss(x, y, compared(x.law, y.law), rho=False)
    assert float(known) == pytest.approx(abs(float(far) * 0.9 - math.log(10)), rel=1e-6)


@pytest.mark.exhaustive
def test_clipped_descent_under_rho():
    """Each step is a shift of 1/5: rho is 2 / 50, and 1 / 50 of the last step is sure."""
    right = audit_mechanism(steps, **STEPS, rho=0.04)
    assert right.verdict == "not refuted"
    assert "more than a rho of 0.04;" in right.decisive.sentence
    between = audit_mechanism(steps, **STEPS, rho=0.03)
    assert between.verdict == "not judged"
    assert between.decisive.reason == (
        "after some of 81 histories of releases, the rest of the run needs a rho of 0.04; how "
        "likely such histories are is not known"
    )
    wrong = audit_mechanism(steps, **STEPS, rho=0.019)
    assert (wrong.verdict, wrong.rows[0].value) == ("violated", pytest.approx(0.02))


@pytest.mark.exhaustive
def test_clipped_descent_under_epsilon_and_delta():
    """A shift of sqrt(2) / 5: delta(1) is 6.1e-8 (Balle and Wang), which is composed exactly."""
    report = audit_mechanism(steps, **STEPS, epsilon=1, delta=1e-4)
    assert report.verdict == "not refuted"
    report = audit_mechanism(steps, **STEPS, epsilon=1, delta=1e-9)
    assert report.verdict == "not judged"
    assert report.decisive.reason.endswith(
        "is not known; one is enough to refute a rho, or an epsilon without delta"
    )


@pytest.mark.exhaustive
def test_adaptive_normal_noise_has_no_pure_epsilon():
    report = audit_mechanism(steps, **STEPS, epsilon=5)
    assert report.verdict == "violated"
    assert report.rows[0].value > 5


@pytest.mark.exhaustive
def test_what_only_large_releases_show_is_a_leak():
    def exact_if_large(data, rng):
        count = len(data) + rng.laplace()
        return count, sum(data) if count > 5 else 0

    report = audit_mechanism(exact_if_large, **UNBOUNDED, epsilon=5)
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    assert report.rows[0].history[0] > 5


def test_a_decision_that_is_not_released_is_probed():
    def hidden(data, rng):
        return sum(data) + rng.laplace(scale=9) if rng.normal() > 0 else 0.0

    report = audit_mechanism(hidden, **UNBOUNDED, epsilon=1)
    assert report.verdict in ("not refuted", "not judged")
    assert "histories" not in str(report)


@pytest.mark.exhaustive
def test_many_draws_run_many_times():
    def vector(data, rng):
        return (len(data) + rng.laplace(size=13)).astype(float)

    report = audit_mechanism(vector, **UNBOUNDED, epsilon=1)
    assert report.verdict in ("not refuted", "violated (sampled)")  # 13 numbers, each loses 1


@pytest.mark.exhaustive
def test_a_draw_that_replaces_another_is_no_history():
    """Redrawn into a range: its density is not that of the last draw."""

    def redrawn(data, rng):
        while True:
            noisy = sum(data) + rng.laplace(scale=9)
            if noisy > 0:
                return noisy

    report = audit_mechanism(redrawn, **UNBOUNDED, epsilon=1)
    assert report.verdict == "violated (sampled)"


def test_state_is_no_violation():
    calls = []

    def counting(data, rng):
        calls.append(data)
        count = len(data) + rng.laplace()
        return count, len(calls) if count > 0 else 0

    report = audit_mechanism(counting, **UNBOUNDED, epsilon=5)
    assert report.verdict == "not judged"
    assert report.unjudged[0].startswith("the function keeps calls from one call to the next")


@pytest.mark.exhaustive
def test_rounding_of_far_releases_is_no_violation():
    """Steps in floats, a multiple of 0.1 apart: after far releases they are off by 1e-13."""

    def descent(data, rng):
        w, released = 0.0, []
        for _ in range(3):
            gradient = sum(max(-1.0, min(1.0, float(w) - x)) for x in data)
            w = float(w) - 0.1 * (gradient + rng.laplace(scale=6.0))
            released.append(w)
        return released

    assert audit_mechanism(descent, **UNBOUNDED, epsilon=0.5).verdict == "not refuted"
    assert audit_mechanism(descent, **UNBOUNDED, epsilon=0.49).verdict == "violated"


@pytest.mark.exhaustive
def test_state_by_design_is_not_replayed():
    report = audit_mechanism(bounded_sum, **UNBOUNDED, epsilon=0.5, fresh=True)
    assert report.verdict == "violated (sampled)"


@pytest.mark.exhaustive
def test_a_delta_that_only_one_order_needs():
    """Noise that is wider on one neighbor: what is seen is the larger of both orders."""

    def wider(data, rng):
        count = len(data) + rng.laplace()
        return float(count), rng.normal(scale=3.0 if data else 1.0)

    report = audit_mechanism(wider, **UNBOUNDED, epsilon=1, delta=1e-3)
    assert report.verdict == "not judged"


@pytest.mark.exhaustive
def test_the_script_releases_the_same_on_both():
    def wrong(data, rng):
        count = len(data) + rng.laplace(scale=2.0)
        bound = max(1.0, float(count))
        return count, sum(min(x, bound) for x in data) + rng.laplace(scale=bound)

    report = audit_mechanism(wrong, **UNBOUNDED, epsilon=1)
    assert report.script.splitlines()[0] == '"""wrong loses more than an epsilon of 1.'
    ran = subprocess.run(
        [sys.executable, "-c", report.script], capture_output=True, text=True, check=True
    )
    first, second = ran.stdout.splitlines()
    at_x, at_y = (
        [float(entry.rstrip(")").rpartition("(")[2]) for entry in line.strip("()").split(", ")]
        for line in (first, second)
    )
    assert at_x == pytest.approx(at_y)


@pytest.mark.exhaustive
def test_a_replay_has_no_law():
    report = audit_mechanism(bounded_sum, **UNBOUNDED, epsilon=1)
    refused_with(lambda: report.delta(1), "no law of bounded_sum is known")
    with pytest.raises(sl.errors.InputError, match="script is for a violation"):
        _ = report.script
