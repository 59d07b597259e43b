"""The normal distribution function between bounds: against the standard library."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.noise.scales import normal_density, normal_distribution


@pytest.mark.parametrize("x", [-30, -5, -1, 0, 1, 5, 8])
def test_the_distribution_function(x):
    low, high = normal_distribution(Enclosure.of(x, 300)).floats()
    assert low == pytest.approx(math.erfc(-x / math.sqrt(2)) / 2, rel=1e-13)
    assert low <= high <= math.nextafter(math.nextafter(low, 1), 1)


def test_the_density():
    low, high = normal_density(Enclosure.of(Fraction(3, 2), 50)).floats()
    assert low == pytest.approx(math.exp(-9 / 8) / math.sqrt(2 * math.pi), rel=1e-14)
    assert low <= high <= math.nextafter(low, 1)


@pytest.mark.exhaustive
def test_far_tails_have_an_inequality():
    """The two formulas meet at 100, where the second is valid as well: 1 - 1/x**2 + ... of 1/x."""
    inside = normal_distribution(Enclosure.of(-100, 2500))
    outside = normal_distribution(Enclosure.of(Fraction(-1000001, 10000), 2500))
    density = normal_density(Enclosure.of(100, 2500))
    ratio = inside * density.inverse()
    assert ratio.floats()[0] == pytest.approx((1 - 1e-4 + 3e-8 - 15e-12) / 100, rel=1e-13)
    assert 0 < outside.low < outside.high < inside.low
    assert normal_distribution(Enclosure.of(200, 50)).floats() == (math.nextafter(1, 0), 1)
