"""Noise scales and their privacy maps: definitions and directed rounding."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scales import is_smallest_float_from

from sensitivity_lab import pipelines as pl
from sensitivity_lab.noise.scales import (
    gaussian_rho,
    gaussian_scale,
    laplace_epsilon,
    laplace_scale,
)

AMOUNTS = st.one_of(
    st.integers(0, 10**12),
    st.floats(0, 1e12),
    st.fractions(0, 10**6, max_denominator=10**6),
)
LOSSES = st.floats(1e-6, 1e3)


@given(AMOUNTS, LOSSES)
def test_laplace_is_rounded_up_once(amount, loss):
    exact = Fraction(amount) / Fraction(loss)
    assert is_smallest_float_from(laplace_scale(amount, loss), exact)
    assert is_smallest_float_from(laplace_epsilon(amount, loss), exact)


@given(AMOUNTS, LOSSES)
def test_gaussian_is_rounded_up_once(amount, loss):
    sigma = gaussian_scale(amount, loss)
    square = Fraction(amount) ** 2 / (2 * Fraction(loss))
    assert Fraction(sigma) ** 2 >= square
    assert sigma == 0 or Fraction(math.nextafter(sigma, 0)) ** 2 < square
    exact = Fraction(amount) ** 2 / (2 * Fraction(loss) ** 2)
    assert is_smallest_float_from(gaussian_rho(amount, loss), exact)


@given(AMOUNTS, LOSSES)
def test_a_scale_never_costs_more_than_was_asked_for(amount, loss):
    assert laplace_epsilon(amount, laplace_scale(amount, loss)) <= loss
    assert gaussian_rho(amount, gaussian_scale(amount, loss)) <= loss


def test_the_nearest_float_would_be_too_small():
    """1 / 3 in floats lies below the third: noise of that scale would cost more than epsilon."""
    assert Fraction(1 / 3) < Fraction(1, 3) < Fraction(laplace_scale(1, 3))
    assert laplace_scale(1, 3) == math.nextafter(1 / 3, 1)
    assert laplace_epsilon(1, 3) == math.nextafter(1 / 3, 1)


def test_the_published_chain():
    """OpenDP's page: a sensitivity of 10 and a scale of 5 give an epsilon of 2."""
    assert laplace_epsilon(10, 5.0) == 2
    assert laplace_scale(10, 2) == 5
    assert gaussian_scale(10, 2) == 5
    assert gaussian_rho(10, 5) == 2


@pytest.mark.parametrize("ten", [10, 10.0, Fraction(10), Decimal(10), np.int64(10), np.float64(10)])
def test_every_kind_of_number_is_accepted(ten):
    assert laplace_scale(ten, ten) == gaussian_rho(ten, ten) * 2 == 1


def test_what_is_beyond_floats_is_a_number_all_the_same():
    many = Fraction(10**400)
    assert laplace_scale(many, many) == laplace_epsilon(many, many) == 1
    assert laplace_scale(many, Decimal("1e400")) == gaussian_scale(many, many**2 / 2) == 1


@given(st.fractions(0, 10**6, max_denominator=1000), LOSSES)
def test_a_root_is_taken_without_rounding_it_first(square, loss):
    """The L2 distances of the maps of stability are roots: r sqrt(g), for example."""
    root = pl.Root(square)
    assert is_smallest_float_from(gaussian_rho(root, loss), square / (2 * Fraction(loss) ** 2))
    for scale, exact in (
        (gaussian_scale(root, loss), square / (2 * Fraction(loss))),
        (laplace_scale(root, loss), square / Fraction(loss) ** 2),
        (laplace_epsilon(root, loss), square / Fraction(loss) ** 2),
    ):
        assert Fraction(scale) ** 2 >= exact
        assert scale == 0 or Fraction(math.nextafter(scale, 0)) ** 2 < exact


def test_the_maps_of_groups_are_taken():
    """r g rows in L1 and r sqrt(g) in L2, with r = 3 and g = 2."""
    truncated = (
        pl.start(pl.AddRowsWithID("id"))
        >> pl.max_groups_per_id(2, "page")
        >> pl.max_rows_per_group_per_id(3, "page")
    )
    per_page = truncated >> pl.group_by("page", "abc") >> pl.count()
    in_l2 = truncated >> pl.group_by("page", "abc", pl.L2Distance()) >> pl.count()
    assert laplace_scale(per_page.map(1), epsilon=2) == 3
    assert gaussian_scale(in_l2.map(1), rho=1) == 3
    assert gaussian_rho(in_l2.map(1), scale=3) == 1


def test_no_noise():
    assert laplace_scale(0, 1) == gaussian_scale(0, 1) == 0
    assert laplace_epsilon(0, 0) == gaussian_rho(0, 0) == 0
    assert laplace_epsilon(1, 0) == gaussian_rho(1, 0) == math.inf
