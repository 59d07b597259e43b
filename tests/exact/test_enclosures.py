"""Enclosures: the exact value is always between the bounds, and they get closer with digits."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds

fractions = st.fractions(-5, 5, max_denominator=100)


def holds(enclosure: Enclosure, value: Fraction) -> bool:
    # Bounds next to 0 have exponents that no fraction can have: compare decimals.
    low, high = Enclosure.of(value, 60).low, Enclosure.of(value, 60).high
    return enclosure.low <= high and low <= enclosure.high


@given(fractions, fractions)
def test_arithmetic_with_three_digits_holds_the_exact_result(a, b):
    one, other = Enclosure.of(a, 3), Enclosure.of(b, 3)
    assert holds(one + other, a + b)
    assert holds(one - other, a - b)
    assert holds(a - other, a - b)
    assert holds(one * other, a * b)
    assert holds(one.maximum(other), max(a, b))
    assert holds(one.minimum(other), min(a, b))
    if b:
        assert holds(other.inverse(), 1 / b)
    assert holds((one * one).sqrt(), abs(a))


@given(fractions)
def test_exp_and_log_undo_each_other(a):
    for digits in (3, 30):
        assert holds(Enclosure.of(a, digits).exp().log(), a)


def test_bounds_of_an_interval():
    between = Enclosure.between(Fraction(-1, 3), Fraction(1, 3), 5)
    assert (str(between.low), str(between.high)) == ("-0.33334", "0.33334")
    assert between.clipped(0, 1).floats() == (0, 0.33334)
    square = between * between
    assert Fraction(square.low) <= 0 <= Fraction(1, 9) <= Fraction(square.high)


@pytest.mark.parametrize("value", [Fraction(1, 2), Fraction(1, 10), Fraction(0), Fraction(-1, 3)])
def test_the_nearest_bounds_of_a_formula(value):
    low, high = nearest_bounds(lambda digits: Enclosure.of(value, digits) * 1, digits=3)
    assert Fraction(low) <= value <= Fraction(high)
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


def test_digits_are_added_until_bounds_are_close():
    """1 less exp of a tiny number: most digits cancel."""
    tiny = Fraction(1, 10**60)
    low, high = nearest_bounds(lambda digits: 1 - Enclosure.of(-tiny, digits).exp(), digits=10)
    assert low == pytest.approx(1e-60, rel=1e-15)
    assert high == pytest.approx(1e-60, rel=1e-15)
