"""Sums of square roots: equal where mathematics says so, however close others come."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.checks import NORMS
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import RootSum, norm_of_roots, root_gap
from sensitivity_lab.metrics.vectors import distance

squares = st.fractions(0, 50, max_denominator=12)
terms = st.lists(st.tuples(st.fractions(-5, 5, max_denominator=6), squares), max_size=4)


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def value(listed: list[tuple[Fraction, Fraction]]) -> Decimal:
    return sum((decimal(f) * decimal(s).sqrt() for f, s in listed), Decimal(0))


@given(one=terms, other=terms)
def test_sums_are_compared_added_and_multiplied_as_numbers_are(one, other):
    a, b = RootSum.of(one), RootSum.of(other)
    with localcontext() as context:
        context.prec = 100
        x, y = value(one), value(other)
        near = abs(x - y) < Decimal(10) ** -80  # of such small numbers, only equal sums are so near
        assert (a == b, a < b, a > b) == (near, not near and x < y, not near and x > y)
        assert (a <= b, a >= b) == (near or x < y, near or x > y)
        for ours, theirs in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (a**2, x * x)):
            assert float(ours) == pytest.approx(float(theirs), rel=1e-15, abs=1e-60)


def test_equal_sums_of_different_roots_are_equal():
    two, eight, half = (RootSum.of([(1, Fraction(n))]) for n in (2, 8, Fraction(1, 2)))
    assert two + two == eight == 4 * half
    assert hash(two + two) == hash(eight)
    assert (eight - two - two).terms == ()
    assert two * two == 2 == two**2
    assert Fraction(7, 5) < two < Fraction(3, 2)
    assert max(Fraction(1), two) is two


def test_sums_that_differ_after_many_digits_differ():
    """sqrt(n) + sqrt(n + 2) is below 2 sqrt(n + 1), here by about 10**-90."""
    n = Fraction(10**60)
    one = RootSum.of([(1, n), (1, n + 2)])
    two = RootSum.of([(2, n + 1)])
    assert one < two
    assert two - one > 0
    assert one != two


@pytest.mark.parametrize("norm", NORMS)
@given(pairs=st.lists(st.tuples(squares, squares), min_size=1, max_size=4), data=st.data())
def test_norms_of_roots_are_numbers(norm, pairs, data):
    first, second = zip(*pairs, strict=True)
    found = distance(first, second, norm, root=True)
    with localcontext() as context:
        context.prec = 100
        gaps = [abs(decimal(a).sqrt() - decimal(b).sqrt()) for a, b in pairs]
        sizes = {"L1": sum(gaps), "L2": sum(gap * gap for gap in gaps).sqrt(), "Linf": max(gaps)}
        true = sizes[norm]
        if all(a == b for a, b in pairs):
            assert (found.nearest(), found.upper()) == (0, 0)
            return
        tiny = true * Decimal(10) ** -80
        assert found.nearest() == pytest.approx(float(true), rel=2e-16)
        upper = found.upper()
        assert Decimal(upper) >= true - tiny
        assert Decimal(nextafter(upper, 0)) < true + tiny
        low, high = found.bracket()
        assert decimal(low) <= true + tiny
        assert decimal(high) >= true - tiny
        other = Difference(data.draw(squares), data.draw(squares), root=data.draw(st.booleans()))
        known = abs(
            decimal(other.first).sqrt() - decimal(other.second).sqrt()
            if other.root
            else decimal(other.first) - decimal(other.second)
        )
        near = abs(true - known) < Decimal(10) ** -60
        assert (found == other, found < other) == (near, not near and true < known)
        assert (other == found, other < found) == (near, not near and known < true)
        assert (other <= found, other >= found) == (near or known < true, near or known > true)


def test_norms_of_different_kinds_are_compared():
    gaps = [Difference(Fraction(n), Fraction(0), True) for n in (2, 2)]
    one, two = (norm_of_roots(gaps, norm) for norm in ("L1", "L2"))
    assert two == Difference(Fraction(2), Fraction(0))
    assert two < one == Difference(Fraction(8), Fraction(0), True)
    assert max([two, one]) is one
    same = norm_of_roots(gaps[::-1], "L1")
    assert (one < same, one > same, one <= same, one >= same) == (False, False, True, True)
    assert (one.exact, hash(one) == hash(one.nearest())) == (None, True)
    assert root_gap(Fraction(4), Fraction(9)) == 1
