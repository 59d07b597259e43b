"""Gaussian noise for (epsilon, delta): against other series, in whole numbers, and published."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensitivity_lab.exact.roots import Root
from sensitivity_lab.noise import analytic_gaussian_scale
from sensitivity_lab.noise import scales as analytic

BITS = 900
ONE = 1 << BITS
PI = (
    Fraction(  # 60 digits, from Abramowitz and Stegun (1964), table 1.1, and beyond it OEIS A000796
        "3.14159265358979323846264338327950288419716939937510582097494"
    )
)


def exp(x: Fraction) -> Fraction:
    """The exponential function: that of x / 2**k, by its series, squared k times."""
    halvings = max(0, math.ceil(math.log2(abs(x) + 1)) + 8)
    step = round(x * ONE) >> halvings
    term = total = ONE
    for k in range(1, 200):
        term = term * step // (k * ONE)
        total += term
    for _ in range(halvings):
        total = total * total // ONE
    return Fraction(total, ONE)


def normal(x: Fraction) -> Fraction:
    """The normal distribution function by its alternating series about 0."""
    fixed = round(x * ONE)
    square, power, total, k = fixed * fixed // ONE, fixed, fixed, 0
    while power:
        k += 1
        power = -power * square // (2 * k * ONE)
        if abs(power) <= 2:
            break
        total += power // (2 * k + 1)
    root = Fraction(math.isqrt(int(2 * PI * ONE * ONE)), ONE)
    return Fraction(1, 2) + Fraction(total, ONE) / root


def reached(ratio: float, epsilon: Fraction) -> Fraction:
    """The smallest delta of noise of some scale, for a sensitivity of 1."""
    r = Fraction(ratio)
    a, b = 1 / (2 * r) - epsilon * r, -1 / (2 * r) - epsilon * r
    return normal(a) - exp(epsilon) * normal(b)


@given(
    epsilon=st.fractions(Fraction(1, 1000), 6, max_denominator=1000),
    delta=st.sampled_from([Fraction(1, 2), Fraction(1, 10), *(Fraction(1, 10**k) for k in (3, 9))]),
)
@example(epsilon=Fraction(1), delta=Fraction(1e-5))
@example(epsilon=Fraction(1, 1000), delta=Fraction(1, 10**20))
def test_the_scale_is_the_smallest_float_that_is_enough(epsilon, delta):
    scale = analytic_gaussian_scale(1, epsilon, delta)
    assert reached(scale, epsilon) <= delta < reached(math.nextafter(scale, 0), epsilon)


def test_a_published_value():
    """Of Balle and Wang's own code, which stops within 1e-12 of delta; diPLSlib documents it."""
    published = 3.730631634944469
    assert analytic_gaussian_scale(1, 1, 1e-5) == pytest.approx(published, rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-10])
def test_the_classical_scale_is_larger(epsilon, delta):
    """Dwork and Roth (2014), Theorem A.1."""
    classical = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert classical > analytic_gaussian_scale(1, epsilon, delta)


@pytest.mark.parametrize("sensitivity", [0, 3, Fraction(1, 3), 1e-300, Root(Fraction(2))], ids=str)
def test_scales_are_those_of_one_times_the_sensitivity_rounded_up(sensitivity):
    of_one = Fraction(analytic_gaussian_scale(1, 1, 1e-5))
    square = sensitivity.square if isinstance(sensitivity, Root) else Fraction(sensitivity) ** 2
    scale = analytic_gaussian_scale(sensitivity, 1, 1e-5)
    assert Fraction(scale) ** 2 >= square * of_one**2
    assert not scale or Fraction(math.nextafter(scale, 0)) ** 2 < square * of_one**2


@pytest.mark.further
@pytest.mark.representative("epsilon")
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-9, 1e-100), (1e-9, 0.5), (100, 1e-100), (100, 0.5)]
)
def test_the_limits_are_quick(epsilon, delta, monkeypatch):
    """At most so many terms of the series, in all: some tenths of a second."""
    calls = []
    normal_of = analytic.normal

    def counted(x, digits):
        calls.append(abs(x))
        return normal_of(x, digits)

    monkeypatch.setattr(analytic, "normal", counted)
    analytic.ratio.cache_clear()
    scale = analytic_gaussian_scale(1, epsilon, delta)
    assert 0 < scale < 1e12
    assert 0 < len(calls) <= 300
    assert max(calls) <= 101
