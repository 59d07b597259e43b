"""A sum with Laplace noise that is clipped, and noise that is clipped before it is added."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from sensitivity_lab.audits import audit_mechanism

pytestmark = pytest.mark.usefixtures("few_runs")

BOUNDED = {"neighbors": "bounded"}


def masses(center, scale, low, high, steps=40_000):
    """The law of a clipped number: at the low end, in cells between the ends, at the high end.

    Cells are cut at whole numbers, so that the ratio of two densities is monotone in each.
    """

    def below(t):
        z = (t - center) / scale
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    ends = np.linspace(max(low, -40), min(high, 40), steps + 1)
    cells = np.diff(below(ends))
    outside = below(ends[0]) if low > -40 else 0.0, 1 - below(ends[-1]) if high < 40 else 0.0
    return np.array([outside[0], *cells, outside[1]])


CLIPPED = [(0, 2), (-1, 0.5), (0.25, 0.75), (2, 5), (-math.inf, 1), (0, math.inf)]


@pytest.mark.parametrize("ends", CLIPPED)
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_clipped_sum_has_its_law(ends, scale):
    low, high = ends

    def clipped(data, rng):
        return float(min(max(data[0] + rng.laplace(0, scale), low), high))

    plain = [clipped, lambda x, rng: np.clip(x[0] + rng.laplace(0, scale), low, high)]
    laws = [masses(center, scale, low, high) for center in (0, 1)]
    needed = max(
        float(np.log(p[p > 1e-12] / q[p > 1e-12]).max()) for p, q in (laws, laws[::-1])
    )  # fmt: skip
    report = audit_mechanism(plain[1], [0, 1], 1, epsilon=1 / scale, **BOUNDED)
    assert report.sound
    assert report.epsilon() == pytest.approx((needed, needed), abs=2e-3)
    for epsilon in (0, 0.3, 0.9 / scale):
        law = sorted(
            float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in (laws, laws[::-1])
        )
        least, most = report.delta(epsilon)
        assert most - least < 1e-12
        assert min(abs(least - one) for one in law) < 1e-4


@pytest.mark.parametrize("ends", [(0, 2), (0, math.inf), (-3, 0)])
def test_post_processing_keeps_the_epsilon_that_an_end_shows(ends):
    """Beyond an end that both answers are on one side of, everything is as without clipping."""
    for epsilon, verdict in ((0.5, "tight"), (0.6, "loose"), (0.4, "violated")):
        report = audit_mechanism(
            lambda x, rng: np.clip(sum(x) + rng.laplace(0, 2.0), *ends),
            [0, 1], 2, epsilon=epsilon, **BOUNDED,
        )  # fmt: skip
        assert report.verdict == verdict


def test_ends_between_the_answers_cost_less():
    """With a quarter of the way on each side: P(Z <= 1/4) / P(Z <= -3/4) at the lower end."""
    report = audit_mechanism(
        lambda x, rng: np.clip(x[0] + rng.laplace(), 0.25, 0.75), [0, 1], 1, epsilon=1, **BOUNDED
    )
    needed = math.log((1 - math.exp(-0.25) / 2) / (math.exp(-0.75) / 2))
    assert report.verdict == "loose"
    assert report.epsilon() == pytest.approx((needed, needed))


@pytest.mark.parametrize("clip", [lambda z: np.clip(z, -3, 3), lambda z: min(max(z, -3.0), 3.0)])
def test_clipped_noise_is_a_violation(clip):
    def noisy(data, rng):
        return sum(data) + clip(rng.laplace(0, 1.0))

    report = audit_mechanism(noisy, [0, 1], 2, epsilon=1, **BOUNDED)
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    # P(Z <= -2), where the other has nothing, and the atom at 3.
    expected = math.exp(-2) / 2 + math.exp(-3) / 2
    assert report.delta(1) == pytest.approx((expected, expected), rel=1e-14)
    enough = audit_mechanism(noisy, [0, 1], 2, epsilon=1, delta=0.2, **BOUNDED)
    assert enough.verdict == "loose"


def test_the_script_of_a_violation_runs():
    report = audit_mechanism(clipped_badly, [0, 1], 1, epsilon=1, **BOUNDED)
    assert (report.verdict, report.rows[0].value) == ("violated", 2.0)
    done = subprocess.run([sys.executable, "-c", report.script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def clipped_badly(data, rng):
    import numpy as np

    return np.clip(data[0] + rng.laplace(0, 0.5), 0, 2)


def several(data, rng):
    """Two numbers on each dataset that are released as noise: only their sum is bounded."""
    y = data[0] + rng.laplace()
    return y if y > 1 else y - 5


def other_scale(data, rng):
    return max(0.0, data[0] + rng.laplace(0, 1 + data[0]))


def vector(data, rng):
    return np.clip(np.array(data) + rng.laplace(size=2), 0, 1)


@pytest.mark.parametrize("function", [several, other_scale, vector])
def test_other_clipped_numbers_are_never_certified(function):
    report = audit_mechanism(function, [0, 1], 2, epsilon=0.1, **BOUNDED)
    assert not report.sound
    assert report.verdict != "violated"


@pytest.mark.parametrize("least", [1, 2])
def test_a_number_beside_a_refusal_is_judged(least):
    """Above a threshold the noisy number is released, else nothing."""
    for epsilon, verdict in ((1, "tight"), (0.9, "violated")):
        report = audit_mechanism(
            lambda x, rng: y if (y := sum(x) + rng.laplace()) > least else None,
            [0, 1], [0, 1], epsilon=epsilon, neighbors="unbounded",
        )  # fmt: skip
        assert report.verdict == verdict


def test_noise_that_is_compared_beside_other_noise_that_is_released_stays_judged():
    def two(data, rng):
        high = sum(data) + rng.laplace(0, 2.0) > 1
        return high, sum(data) + rng.laplace(0, 2.0)

    report = audit_mechanism(two, [0, 1], 1, epsilon=1, **BOUNDED)
    assert report.sound or report.verdict in ("not judged", "not refuted")


def test_a_neighbor_that_decides_another_draw_first_is_never_certified():
    """It was "loose" at delta 0.2: the chance of that draw was lost; 0.278 is needed."""

    def released(data, rng):
        if data[0] == 0:
            noise = rng.laplace()
            return noise if noise > 0 else "no"
        return "no" if rng.integers(0, 10) > 0 else 1 + rng.laplace()

    report = audit_mechanism(released, [0, 1], 1, epsilon=1, delta=0.2, **BOUNDED)
    assert report.verdict in ("violated (sampled)", "not refuted")


def histogram(data, rng):
    noisy = {key: data.count(key) + 2 * rng.laplace() for key in sorted(set(data))}
    return {key: number for key, number in noisy.items() if number > 3}


@pytest.mark.parametrize("function", [histogram, lambda x, rng: list(histogram(x, rng).items())])
def test_keys_of_the_data_behind_a_threshold(function):
    """A new key is shown with the probability that its noise is above the threshold less 1."""
    shown = math.exp(-(3 - 1) / 2) / 2
    report = audit_mechanism(
        function, [0, 1], range(3), epsilon=0.5, delta=shown * (1 + 1e-9), neighbors="unbounded"
    )
    assert report.verdict == "loose"
    assert report.delta(0.5) == pytest.approx((shown, shown))
    assert report.epsilon() == (math.inf, math.inf)
    # Of a key that both have, at smaller losses: above 3 its densities differ by exp(1 / 2).
    of_count = [math.exp(-(3 - count) / 2) / 2 for count in (1, 2)]
    assert report.delta(0.1)[1] == pytest.approx(
        max(shown, of_count[1] - math.exp(0.1) * of_count[0])
    )


@pytest.mark.parametrize(
    "clipped", [lambda y: [max(0, one) for one in y], lambda y: np.clip(y, 0, None)]
)
def test_clipped_counts_of_which_one_differs_are_judged(clipped):
    def counts(data, rng):
        return clipped(np.array([data.count(0), data.count(1)]) + rng.laplace(size=2))

    report = audit_mechanism(counts, [0, 1], [1, 2], epsilon=1, neighbors="unbounded")
    assert report.verdict == "tight"
    assert report.delta(0.3) == pytest.approx((1 - math.exp((0.3 - 1) / 2),) * 2)


def test_two_numbers_within_ends_that_both_differ_are_not_certified():
    def two(data, rng):
        noisy = [sum(data) + rng.laplace(scale=9) for _ in range(2)]
        return noisy if min(noisy) > 0 else None

    report = audit_mechanism(two, [0, 1], 1, epsilon=0.1, **BOUNDED)
    assert not report.sound
