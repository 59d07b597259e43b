"""Damped numbers compare as they are."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.enclosures import Damped


@given(
    gaps=st.lists(st.fractions(0, 10, max_denominator=20), min_size=2, max_size=2),
    times=st.lists(st.integers(0, 5), min_size=2, max_size=2),
    beta=st.fractions(Fraction(1, 50), 3, max_denominator=50),
    root=st.booleans(),
)
def test_damped_numbers_compare_as_they_are(gaps, times, beta, root):
    one, other = (
        Damped(Difference(gap, Fraction(0), root), beta, t)
        for gap, t in zip(gaps, times, strict=True)
    )
    true = [
        (math.sqrt(gap) if root else float(gap)) * math.exp(-float(beta) * t)
        for gap, t in zip(gaps, times, strict=True)
    ]
    assert one.nearest() == pytest.approx(true[0], rel=1e-14)
    assert one.nearest() <= one.upper() <= math.nextafter(one.nearest(), math.inf)
    if not math.isclose(*true, rel_tol=1e-12):
        assert (one < other) == (true[0] < true[1])


def test_damped_numbers_that_floats_cannot_tell_apart():
    """The gap at distance 1 is exp(1/2) to 60 digits, cut off or rounded up."""
    digits = "1.64872127070012814684865078781416357165377610071014801157507931"
    at_x = Damped(Difference(Fraction(1), Fraction(0)), Fraction(1, 2), 0)
    for gap, larger in ((digits, False), (digits[:-1] + "2", True)):
        away = Damped(Difference(Fraction(gap), Fraction(0)), Fraction(1, 2), 1)
        assert (at_x < away, away < at_x) == (larger, not larger)
