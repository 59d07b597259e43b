"""How far two answers are apart: exactly, in every norm."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sensitivity_lab as sl
from sensitivity_lab.arithmetic import Difference
from sensitivity_lab.measure import difference


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_for_numbers_all_norms_are_one(norm):
    """0.3 - 0.1 as floats, subtracted as the rationals that they are."""
    assert difference(0.3, 0.1, norm).exact == Fraction(0.3) - Fraction(0.1)
    assert difference(Fraction(1), Fraction(4), norm).exact == 3


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("L1", Difference(Fraction(7), Fraction(0))),
        ("L2", Difference(Fraction(5), Fraction(0))),
        ("Linf", Difference(Fraction(4), Fraction(0))),
    ],
)
def test_vectors(norm, expected):
    assert difference((0.0, 4.0), (Fraction(3), Fraction(0)), norm) == expected


def test_roots():
    found = difference(Fraction(9), Fraction(2), "L1", root=True)
    assert found == Difference(Fraction(2), Fraction(9), root=True)
    assert found.exact is None
    assert abs(found.close() - (3 - Fraction(2**0.5))) < Fraction(1, 2**50)


def test_a_number_and_a_vector_have_no_difference():
    with pytest.raises(sl.QueryError) as caught:
        difference(1.0, (1.0, 2.0), "L1")
    assert str(caught.value) == "one answer is a number and the other a vector: 1.0, (1.0, 2.0)"
