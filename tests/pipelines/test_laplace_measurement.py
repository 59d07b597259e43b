"""A chain that ends in Laplace noise: its privacy map, against the densities of the noise."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from checks import refused, refused_with

from sensitivity_lab import pipelines as pl

ROWS = pl.SymmetricDistance()
TOTAL = (pl.Numbers(), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5)


def largest_ratio(x: float, y: float, scale: float) -> float:
    """The logarithm of the largest ratio of two Laplace densities, at whole numbers around them."""

    def density(at: float, center: float) -> float:
        return math.exp(-abs(at - center) / scale) / (2 * scale)

    places = range(math.floor(min(x, y)) - 5, math.ceil(max(x, y)) + 6)
    return max(abs(math.log(density(at, x) / density(at, y))) for at in places)


# OpenDP, "Differential Privacy with OpenDP": a distance of 10 and a scale of 5 cost 2.
def test_the_page_of_opendp():
    alone = pl.number() >> pl.laplace(5)
    assert alone.map(10) == 2
    assert alone.name == "laplace(5)"
    noisy = TOTAL >> pl.laplace(5.0)
    assert (noisy.map(2), noisy.map(pl.AddOneRow())) == (2, 1)
    assert noisy.before([Decimal(text) for text in ("0.7", "-0.3", "1", "-1")]) == Fraction("1.7")
    assert repr(noisy) == (
        "clamp(0, 5) >> sum_(0, 5) >> laplace(5)\n"
        "  input   numbers; rows added or removed\n"
        "  output  a number; max divergence (epsilon)"
    )


def test_the_partial_start_of_opendp():
    noisy = (pl.Numbers(), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5) >> pl.laplace(5)
    assert noisy.map(2) == 2
    assert ((pl.Scalar(), pl.AbsoluteDistance()) >> pl.laplace(5)).map(10) == 2


@pytest.mark.parametrize(("d_in", "scale"), [(1, 5), (2, 5), (3, 0.5), (1, 8)])
def test_epsilon_is_what_the_densities_say(d_in, scale):
    """At most d_in records of 5 more or less move the sum by 5 d_in, and no pair moves further."""
    noisy = TOTAL >> pl.laplace(scale)
    witness = pl.measured_stability(TOTAL, [9] * 3 + [-1], d_in).witness
    ratio = largest_ratio(float(witness.output_x), float(witness.output_y), scale)
    assert noisy.map(d_in) == pytest.approx(ratio, rel=1e-12)


def test_epsilon_is_rounded_upward():
    noisy = pl.number() >> pl.laplace(3)
    assert Fraction(noisy.map(1)) >= Fraction(1, 3) > Fraction(math.nextafter(noisy.map(1), 0))
    rounded = (pl.Numbers(floats=True, max_size=9), ROWS) >> pl.clamp(0.0, 5.0)
    assert 1 < (rounded >> pl.sum_(0.0, 5.0) >> pl.laplace(5)).map(1) < 1 + 1e-12


def test_vectors_in_l1():
    colors = pl.Start(pl.Values(), pl.ChangeOneDistance()) >> pl.histogram(["red", "blue"])
    assert (colors >> pl.laplace(4)).map(1) == 0.5


def test_a_measurement_of_two_tables():
    both = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))
    join = both >> pl.join_private("key", pl.DropExcess(2), pl.DropExcess(2)) >> pl.count()
    noisy = join >> pl.laplace(2)
    assert noisy.map(1, 1) == noisy.map(pl.AddOneRow(), pl.AddMaxRows(1)) == 4
    assert noisy.input_domain == join.input_domain
    assert noisy.input_metric == join.input_metric


L2 = pl.Start(pl.Values(), ROWS) >> pl.histogram("ab", pl.L2Distance())


@pytest.mark.parametrize("before", [L2, pl.start(pl.AddOneRow())])
def test_what_laplace_noise_cannot_follow(before):
    refused(
        lambda: before >> pl.laplace(5),
        f"cannot chain {before.name} >> laplace(5): {before.name} returns {before.output_domain} "
        f"({before.output_metric}), but laplace(5) takes a number (absolute difference) or a "
        "vector (L1 distance)",
    )


def test_it_follows_chains_only_and_does_not_sample():
    refused_with(
        lambda: pl.Measurement(pl.clamp(0, 5), 5),
        r"^before must be a transformation or a start, got",
    )
    with pytest.raises(TypeError):
        7 >> pl.laplace(5)
    assert not callable(TOTAL >> pl.laplace(5))
