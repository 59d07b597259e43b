"""Formulas of a number under the absolute distance: their maps against all pairs of a grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError, TooLargeError


def farthest(function: Callable[[Fraction], Any], grid: list[Fraction], d_in: Fraction) -> Any:
    """The largest change between any two points of a grid that are at most d_in apart."""
    return max(abs(function(x) - function(y)) for x in grid for y in grid if abs(x - y) <= d_in)


def grid_of(lower: int, upper: int, parts: int) -> list[Fraction]:
    return [Fraction(step, parts) for step in range(lower * parts, upper * parts + 1)]


# Programming Differential Privacy, Calculating Sensitivity: 1, 2, 5.
@pytest.mark.parametrize(
    ("function", "published"), [(lambda x: x, 1), (lambda x: x + x, 2), (lambda x: 5 * x, 5)]
)
def test_the_functions_of_the_book(function, published):
    t = pl.number() >> pl.formula(function)
    assert t.map(1) == published
    assert farthest(function, grid_of(-3, 3, 2), Fraction(1)) == published
    found = pl.measured_stability(t, [-3, 0, 0.5, 1, 7], 1)
    assert (found.measured, found.verdict) == (published, "tight")
    assert abs(found.witness.x - found.witness.y) <= 1


@pytest.mark.parametrize("square", [lambda x: x**2, lambda x: x * x])
def test_a_square_is_unbounded_and_says_why(square):
    refused(
        lambda: pl.number() >> pl.formula(square),
        "cannot chain the start >> formula(x**2): the start returns a number (absolute "
        "difference), but formula(x**2) takes only a number with bounds: with f(x) = x**2, "
        "f(x + 1) - f(x) is 2 * x + 1, which exceeds every bound for some x, so the sensitivity "
        "is unbounded; start from number(lower, upper)",
    )
    # No claim holds: a claim c is refuted by the whole numbers c and c + 1.
    for claim in (1, 1000, 10**9):
        assert square(claim + 1) - square(claim) > claim


def test_squares_that_cancel_are_no_squares():
    assert (pl.number() >> pl.formula(lambda x: x * x - x**2 + 3 * x)).map(2) == 6
    falling = pl.number() >> pl.formula(lambda x: 3 - 4 * x)
    assert (falling.name, falling(2), falling.map(2)) == ("formula(-4 * x + 3)", -5, 8)


small = st.integers(-3, 3)


@given(small, small, small, small, st.integers(0, 4), st.integers(1, 8))
def test_maps_are_exact_within_bounds(constant, slope, square, lower, width, eighths):
    def function(x):
        return constant + slope * x + square * x**2

    # The largest change is at a step where a derivative is 0, a multiple of 1 / (2 square), or at
    # the largest step, a multiple of 1 / 4: the grid of twelfths holds them all.
    d_in = Fraction(eighths, 4)
    t = pl.number(lower, lower + width) >> pl.formula(function)
    grid = grid_of(lower, lower + width, 12)
    assert t.map(d_in) == farthest(function, grid, d_in)
    values = [function(x) for x in grid]
    assert t.output_domain == pl.Scalar((min(values), max(values)))
    assert [t(x) for x in grid] == values


def test_bounds_go_through_a_chain():
    t = pl.number(0, 5) >> pl.formula(lambda x: x - 2) >> pl.formula(lambda x: x**2)
    assert t.output_domain == pl.Scalar((0, 9))
    assert (t(5), t.map(1), t.map(100)) == (9, 5, 9)
    total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    scaled = total >> pl.formula(lambda x: x / 2 - np.float64(1))
    assert (scaled([1, 9]), scaled.map(3)) == (2, Fraction(15, 2))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x**3, "it has the power 3"),
        (lambda x: x * x * x, "it has a power of x above 2"),
        (lambda x: 1 if x else 0, "raised TypeError: x has no value yet and is neither true nor"),
        (lambda x: x == 1, "it raised TypeError: x has no value yet and cannot be compared"),
        (abs, "it raised TypeError: bad operand type for abs()"),
        (lambda x: x / 0, "it raised ZeroDivisionError"),
        (lambda _: "a", "it returned 'a'"),
    ],
)
def test_what_is_no_formula(function, reason):
    start = "formula takes a function of x made of +, -, *, / by a number, and x**2; "
    with pytest.raises(InputError) as error:
        pl.formula(function)
    assert str(error.value).startswith(start)
    assert reason in str(error.value)


def test_numbers_have_both_bounds_or_none():
    assert pl.number(0, 5).domain == pl.Scalar((0, 5))
    assert pl.Scalar().includes(pl.Scalar((0, 5)))
    assert not pl.Scalar((0, 5)).includes(pl.Scalar())
    refused(
        lambda: pl.number(0),
        "number takes both bounds or none, number(lower, upper) or number(); got lower=0, "
        "upper=None",
    )
    within = pl.number(0, 5) >> pl.formula(lambda x: x)
    refused_with(lambda: within(6), r"^the domain is a number in \[0, 5\], got 6$")
    refused_with(lambda: within("a"), "a number must be a finite number")


def test_formulas_follow_numbers_only():
    refused_with(
        lambda: pl.start(pl.AddOneRow()) >> pl.formula(lambda x: x),
        r"takes a number \(absolute difference\), for example",
    )


def test_numbers_are_measured_pair_by_pair():
    t = pl.number(0, 9) >> pl.formula(lambda x: x * x - 4 * x)
    universe = [9, 0, 2.5, 2, 2, Fraction(1, 3)]
    for d_in in (Fraction(1, 2), 2, 5, 9):
        found = pl.measured_stability(t, universe, d_in)
        exact = sorted({Fraction(x) for x in universe})
        pairs = [(x, y) for x in exact for y in exact if x < y and y - x <= d_in]
        assert found.measured == max(abs(t(x) - t(y)) for x, y in pairs)
        assert (found.inputs, found.pairs) == (len(exact), len(pairs))
    refused_with(
        lambda: pl.measured_stability(t, universe, 1, sizes=1),
        "takes single numbers, which have no sizes",
    )
    refused_with(
        lambda: pl.measured_stability(t, universe, 9, pair_limit=9),
        "make 10 pairs of neigh",
        TooLargeError,
    )
