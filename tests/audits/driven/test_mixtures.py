"""Noise on what draws decide that are not released: exact laws, against quadrature."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits.driven.mixtures import MixtureLoss


def by_quadrature(kind, p, q, epsilon):
    """Return delta by a sum over a fine grid."""
    z = np.linspace(-30, 30, 240_001)

    def density(mixture):
        if kind == "Laplace":
            parts = [w * np.exp(-np.abs(z - float(c)) / float(b)) / (2 * float(b))
                     for (c, b), w in mixture]  # fmt: skip
        else:
            parts = [w * np.exp(-((z - float(c)) ** 2) / (2 * float(b)))
                     / math.sqrt(2 * math.pi * float(b)) for (c, b), w in mixture]  # fmt: skip
        return sum(part for part in parts)

    return np.maximum(density(p) - math.exp(epsilon) * density(q), 0).sum() * (z[1] - z[0])


def mixture(rng, scale):
    centers = rng.choice(np.arange(-4, 5), size=rng.integers(1, 4), replace=False)
    weights = rng.integers(1, 6, size=len(centers))
    return tuple(
        ((Fraction(int(c), 2), Fraction(scale)), Fraction(int(w), int(weights.sum())))
        for c, w in zip(centers, weights, strict=True)
    )


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
@pytest.mark.parametrize("seed", range(6))
def test_delta_is_that_of_quadrature(kind, seed):
    rng = np.random.default_rng(seed)
    scale = (1, 2)[seed % 2]
    p, q = mixture(rng, scale), mixture(rng, scale)
    loss = MixtureLoss(kind, (Fraction(1),), p, q)
    for epsilon in (0, Fraction(1, 4), Fraction(1)):
        low, high = loss.delta(epsilon)
        near = by_quadrature(kind, p, q, float(epsilon))
        assert low == pytest.approx(near, abs=1e-6)
        assert low <= high
        assert high == 1.0 or high - low < 1e-15
    if kind == "Laplace":
        assert loss.epsilon >= 0
        assert loss.delta(Fraction(loss.epsilon) + Fraction(1, 10**6))[0] < 1e-15
    else:
        assert loss.epsilon == math.inf or p == q


def audit(function, **further):
    asked = {"sizes": [1, 2], "neighbors": "unbounded", "epsilon": 0.63, **further}
    return sl.audits.audit_mechanism(function, [0, 1], asked.pop("sizes"), **asked)


def poisson(x, rng):
    return len([one for one in x if rng.random() < 0.5]) + rng.laplace()


def shuffled(x, rng):
    x = list(x)
    rng.shuffle(x)
    return sum(x[: len(x) // 2 + 1]) + rng.laplace(scale=2)


def normal(x, rng):
    return sum(rng.random(len(x)) < 0.5) + rng.normal()


def test_a_random_sample_amplifies():
    # Balle, Barthe and Gaboardi (2018), Theorem 8: log(1 + q (e^epsilon - 1)), and q times delta.
    amplified = math.log1p(0.5 * math.expm1(1))
    report = audit(poisson)
    assert (report.verdict, report.sound) == ("loose", True)
    assert report.decisive.value == pytest.approx(amplified, abs=1e-15)
    assert audit(poisson, epsilon=amplified * (1 - 1e-9)).verdict == "violated"
    assert audit(shuffled, neighbors="bounded", epsilon=0.5).sound
    epsilon = math.log1p(0.5 * math.expm1(0.5))
    whole = NormalDist()
    delta = whole.cdf(0.5 - 0.5) - math.exp(0.5) * whole.cdf(-0.5 - 0.5)
    report = audit(normal, epsilon=epsilon, delta=0.2, sizes=[0, 1])
    assert report.decisive.value == pytest.approx(0.5 * delta, rel=1e-9)
    assert audit(normal, epsilon=epsilon, delta=0.4 * delta, sizes=[0, 1]).verdict == "violated"


def test_correlated_normal_noise_has_its_law():
    def correlated(x, rng):
        return rng.multivariate_normal([sum(x), len(x)], [[4.0, 1.0], [1.0, 2.0]])

    # mu^2 is the gap times the inverse matrix times the gap, for the gap (1, 1).
    mu = math.sqrt(np.ones(2) @ np.linalg.inv([[4.0, 1.0], [1.0, 2.0]]) @ np.ones(2))
    whole = NormalDist()
    delta = whole.cdf(mu / 2 - 1 / mu) - math.e * whole.cdf(-mu / 2 - 1 / mu)
    report = audit(correlated, epsilon=1, delta=0.5)
    assert report.sound
    assert report.decisive.value == pytest.approx(delta, rel=1e-9)


def test_noise_is_added_in_place():
    def histogram(x, rng):
        counts = np.array([x.count(0), x.count(1)], dtype=float)
        counts += rng.laplace(0, 1, 2)
        return counts

    assert audit(histogram, epsilon=1).verdict == "tight"


def test_numbers_in_texts_are_read():
    def told(x, rng):
        return f"total {sum(x) + rng.laplace(scale=0.2):,.2f} EUR"

    report = audit(told, epsilon=1)
    assert report.verdict == "violated (sampled)"
    assert "number" in report.notes[0]


def test_an_error_after_the_noise_is_a_release():
    def rooted(x, rng):
        noisy = len(x) + rng.laplace()
        if noisy < 0:
            raise ValueError("below 0")
        return round(math.sqrt(noisy), 2)

    assert audit(rooted, epsilon=1).verdict == "holds if post-processed"


def test_a_limit_while_values_are_handed_on_is_a_refusal():
    def slow(x, rng):
        for _ in range(2000):
            round(rng.laplace(), 1)
        return round(len(x) + rng.laplace(), 1)

    with pytest.raises(sl.errors.TooLargeError):
        audit(slow, time_limit=0.05)


def test_epsilon_is_that_of_one_order():
    """Beside other outcomes the orders differ: it was 1.05, and "violated"."""

    def released(data, rng):
        drawn = rng.integers(0, 16)
        if drawn >= [8, 4][data[0]]:
            return "no"
        return (1 if data[0] and drawn < 1 else 0) + rng.laplace()

    report = sl.audits.audit_mechanism(released, [0, 1], 1, epsilon=1, neighbors="bounded")
    # On y the number has the density k(z - 1) + 3 k(z), on x 8 k(z): at its largest on the left.
    assert report.verdict == "loose"
    assert report.rows[0].value == pytest.approx(math.log(8 / (3 + math.exp(-1))))


def test_the_event_of_a_tight_claim_has_a_probability():
    """At the least epsilon delta is nearly 0: the event told had the probability 0 on both."""

    def one_of(data, rng):
        return data[int(rng.choice(len(data), size=1, replace=False)[0])] + rng.laplace()

    report = sl.audits.audit_mechanism(
        one_of, [0, 1], [2], neighbors="bounded", epsilon=math.log((1 + math.e) / 2)
    )
    assert report.verdict.startswith("tight")
    assert report.decisive.evidence.answer_x["P(event)"] > 0.3
