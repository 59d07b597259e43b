"""Noise that code makes of uniform and exponential draws: by the closed form of what it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import refused_with

from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.errors import QueryError

UNBOUNDED = {"universe": [1], "size": [0, 1], "neighbors": "unbounded"}


def by_sign(rng):
    u = rng.random() - 0.5
    return -np.sign(u) * np.log(1 - 2 * abs(u))


def by_copysign(rng):
    u = rng.uniform(-0.5, 0.5)
    return math.copysign(1, u) * -math.log1p(-2 * abs(u))


def by_copysign_of_all(u):
    return -math.copysign(math.log(1 - 2 * abs(u)), u)


def by_halves(rng):
    u = rng.random()
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


LAPLACE = {
    "sign": by_sign,
    "copysign": by_copysign,
    "halves": by_halves,
    "copysign of all": lambda rng: by_copysign_of_all(rng.random() - 0.5),
    "two logarithms": lambda rng: np.log(rng.random()) - np.log(1 - rng.random()),
    "two exponentials": lambda rng: rng.exponential() - rng.exponential(),
    "a random sign": lambda rng: rng.choice([-1, 1]) * rng.exponential(),
    "by Python's names": lambda rng: rng.expovariate(1.0) - rng.expovariate(1.0),
}


@pytest.mark.parametrize("made", LAPLACE)
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_laplace_noise_by_other_means(made, scale):
    def noisy(data, rng):
        return len(data) + scale * LAPLACE[made](rng)

    report = audit_mechanism(noisy, **UNBOUNDED, epsilon=1 / scale)
    assert report.verdict == "tight"
    for epsilon in (0, 0.1, 0.2):
        assert report.delta(epsilon) == pytest.approx(
            (1 - math.exp((epsilon - 1 / scale) / 2),) * 2
        )
    assert audit_mechanism(noisy, **UNBOUNDED, epsilon=0.99 / scale).verdict == "violated"


def test_a_vector_of_it():
    """Of two counts one moves by 1 and one by 2: both draws fold, one after the other."""

    def noisy(data, rng):
        u = rng.uniform(-0.5, 0.5, size=2)
        return [1, 2] * np.array(len(data)) - 4 * np.sign(u) * np.log(1 - 2 * np.abs(u))

    report = audit_mechanism(noisy, **UNBOUNDED, epsilon=0.75)
    assert report.verdict == "tight"


def test_ways_that_release_the_same_all_count():
    """With chance 1/2 nothing is released, in two ways: delta is half of that of the noise."""

    def sometimes(data, rng):
        if rng.random() < 0.25 or rng.integers(3) == 0:
            return None
        return len(data) + by_sign(rng)

    report = audit_mechanism(sometimes, **UNBOUNDED, epsilon=1)
    assert report.verdict == "tight"
    assert report.delta(0.5) == pytest.approx(((1 - math.exp(-0.25)) / 2,) * 2)


def test_compared_exponential_noise():
    """One of two counts with exponential noise is larger: epsilon is that of the noise."""

    def larger(data, rng):
        return bool(len(data) - math.log(rng.random()) > 0.5 - np.log(rng.random()))

    report = audit_mechanism(larger, **UNBOUNDED, epsilon=2)
    below = math.exp(-0.5) / 2  # P(E - F > 1/2)
    assert report.epsilon() == pytest.approx((math.log((1 - below) / below),) * 2)


def test_the_exponential_mechanism_by_two_logarithms():
    def chosen(data, rng):
        scores = [len(data), 0, 0]
        return int(np.argmax([one - np.log(-np.log(rng.random())) for one in scores]))

    report = audit_mechanism(chosen, **UNBOUNDED, epsilon=1)
    most = math.e / (math.e + 2)
    assert report.epsilon() == pytest.approx((math.log(most * 3),) * 2)


def of_a_biased_sign(data, rng):
    return len(data) + rng.choice([-1, 1, 1]) * rng.exponential()


def of_gumbel_noise(data, rng):
    return len(data) + rng.choice([-1, 1]) * rng.gumbel()


def of_both(data, rng):
    u = rng.random()
    return len(data) - math.log(u), u > 0.5


def of_one_twice(data, rng):
    u = rng.random()
    return len(data) - math.log(u) + math.log(u)


def of_one_in_two_numbers(data, rng):
    one, two = rng.exponential(size=2)
    return len(data) + one - two, one


@pytest.mark.usefixtures("few_runs")
@pytest.mark.parametrize(
    "function",
    [of_a_biased_sign, of_gumbel_noise, of_both, of_one_twice, of_one_in_two_numbers],
)
def test_what_is_no_such_noise_has_no_law(function):
    report = audit_mechanism(function, **UNBOUNDED, epsilon=0.1)
    assert "no law is known" in report.setting


def test_choices_and_samples_of_python():
    def weighted(data, rng):
        return rng.choices("ab", weights=[1 + len(data), 1])[0]

    report = audit_mechanism(weighted, **UNBOUNDED, epsilon=1)
    assert report.epsilon() == pytest.approx((math.log(3 / 2),) * 2)

    def by_a_bit(data, rng):
        return data[0] ^ (rng.random() < 0.25 and rng.getrandbits(1))

    report = audit_mechanism(by_a_bit, [0, 1], 1, neighbors="bounded", epsilon=2)
    assert report.epsilon() == pytest.approx((math.log(7),) * 2)

    def one_of(data, rng):
        return rng.sample([0, 1, 2 + len(data)], 2)[0] < 2

    assert audit_mechanism(one_of, **UNBOUNDED, epsilon=1).epsilon() == (0, 0)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda rng: rng.tomaxint(), "rng.tomaxint, which NumPy's generators do not have"),
        (lambda rng: rng.betavariate(1, 1), "rng.betavariate, which NumPy's generators do"),
        # As RandomState takes it, which has no numbers to choose from.
        (lambda rng: rng.sample(), r"fails: rng.sample\(\) missing 1 required"),
    ],
)
def test_a_method_of_another_generator_is_no_error_that_is_released(call, told):
    """It was: one answer of randomized response told what the other one did not."""

    def respond(data, rng):
        return data[0] if rng.random() < 0.5 else data[0] ^ (call(rng) < 0.5)

    refused_with(
        lambda: audit_mechanism(respond, [0, 1], 1, neighbors="bounded", epsilon=2),
        told,
        QueryError,
    )


@pytest.mark.usefixtures("few_runs")
def test_code_for_pythons_generator_runs_where_it_has_no_law():
    def positive(data, rng):
        return rng.gauss(0, 1) + 9 * data[0] > 0, rng.choices("ab", [1, 2]), rng.sample("ab", 2)

    report = audit_mechanism(positive, [0, 1], 1, neighbors="bounded", epsilon=0.1)
    assert report.verdict == "violated (sampled)"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda rng: rng.choices("ab", [-1, 2]), "weights must be at least 0, and not all of them"),
        (lambda rng: rng.choices("ab", [0, 0]), "weights must be at least 0, and not all of them"),
        (lambda rng: rng.choices("ab", [1]), "number of weights does not match the population"),
        (lambda rng: rng.sample("ab", 3), "Cannot take a larger sample than population"),
    ],
)
def test_what_python_does_not_draw_is_an_error(call, told):
    refused_with(
        lambda: audit_mechanism(
            lambda _, rng: call(rng), [0, 1], 1, neighbors="bounded", epsilon=2
        ),
        told,
        QueryError,
    )
