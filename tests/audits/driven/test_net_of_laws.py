"""A net of small laws: `audit_mechanism` beside an oracle that forks at every draw.

They share no code. Each law is about one thing that a driver could get wrong, and differs between
the two datasets.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from forking import delta, law

from sensitivity_lab.audits import audit_mechanism

EPSILON = 0.25


def one_threshold(data, rng):
    """Two answers about one noisy threshold depend on each other."""
    threshold, first, second = rng.integers(2), rng.integers(2), rng.integers(2)
    return bool(first >= threshold + data[0]), bool(second >= threshold + data[0])


def one_sided(data, rng):
    """Only one order of the pair needs a delta."""
    return int(rng.random() < 0.5) if data[0] else 0


def two_sided_geometric(data, rng):
    """The tails are cut, and their mass is left over."""
    return data[0] + rng.geometric(0.5) - rng.geometric(0.5)


def an_option_of_probability_0(data, rng):
    """An outcome that only one dataset has: no epsilon is enough."""
    return int(rng.choice(2, p=[1.0, 0.0] if data[0] else [0.5, 0.5]))


def respond(data, rng):
    """Comparisons of one uniform draw."""
    return data[0] if rng.random() < 0.75 else 1 - data[0]


def redrawn(data, rng):
    """A loop whose rejections have a probability of their own."""
    while True:
        drawn = rng.integers(4) + data[0]
        if drawn < 4:
            return int(drawn)


NET = [one_threshold, one_sided, two_sided_geometric, an_option_of_probability_0, respond, redrawn]


@pytest.mark.exhaustive
@pytest.mark.representative("function")
@pytest.mark.parametrize("function", NET)
def test_delta_and_the_mass_that_is_left_are_those_of_the_oracle(function):
    first, second = (law(function, [one], Fraction(1, 10**12)) for one in (0, 1))
    assert first[0] != second[0]
    both = [delta(first, second, EPSILON), delta(second, first, EPSILON)]
    least, most = (max(bounds) for bounds in zip(*both, strict=True))
    report = audit_mechanism(
        function, [0, 1], 1, epsilon=EPSILON, delta=1e-6, neighbors="bounded", progress=False
    )
    low, high = report.delta(EPSILON)
    assert low <= most
    assert least <= high < low + 1e-9
    pure = audit_mechanism(
        function, [0, 1], 1, epsilon=EPSILON, neighbors="bounded", progress=False
    )
    # An endless law is cut: what is left has a mass, which is small and proves no pure epsilon.
    cut = sum(one for one in pure.worst[1].divergence.left)
    endless = bool(first[1] or second[1])
    assert 0 < cut < 1e-9 if endless else cut == 0
    one_has_more = first[0].keys() != second[0].keys() and not endless
    assert math.isinf(pure.epsilon()[0]) == one_has_more
