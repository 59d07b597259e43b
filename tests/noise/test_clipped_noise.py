"""The error of clipped noise, against draws on a fine grid and against closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from sensitivity_lab.exact.roots import Root
from sensitivity_lab.noise.clipped_noise import ClippedNoise, less

INVERSE = {
    "Laplace": lambda p: np.where(p < 0.5, np.log(2 * p), -np.log(2 * (1 - p))),
    "Gaussian": np.vectorize(NormalDist().inv_cdf),
    "Cauchy": lambda p: np.tan(np.pi * (p - 0.5)),
}
POSITIONS = [
    (true, before, low, high)
    for true, before, (low, high) in itertools.product(
        (0, 3, 10, -4, 14), (3, 5), ((0, 10), (3, 3), (-5, 100))
    )
]


@pytest.mark.parametrize("noise", INVERSE)
@pytest.mark.parametrize("scale", [0.02, 1.0, 30.0])
def test_errors_are_those_of_many_evenly_spread_draws(noise: str, scale: float) -> None:
    draws = INVERSE[noise]((np.arange(20_000) + 0.5) / 20_000)
    for true, before, low, high in POSITIONS:
        given = (Fraction(before), Fraction(true), (Fraction(low), Fraction(high)))
        errors = np.sort(np.abs(np.clip(before + scale * draws, low, high) - true))
        found = ClippedNoise.of(noise, scale, *given)
        size = max(1e-9, high - low)
        assert found.expected_error == pytest.approx(errors.mean(), rel=2e-3, abs=1e-4 * size)
        for q in (0.1, 0.5, 0.9, 0.99):
            around = errors[[int(20_000 * q) - 40, int(20_000 * q) + 40]]
            assert around[0] - 1e-9 <= found.error_quantile(q) <= around[1] + 1e-9
            assert found.chance(found.error_quantile(q)) >= q


def test_far_ends_give_the_errors_without_clipping() -> None:
    wide = (Fraction(-(10**6)), Fraction(10**6))
    for noise, mean, median in (
        ("Laplace", 2.0, 2 * math.log(2)),
        ("Gaussian", 2 * math.sqrt(2 / math.pi), 2 * NormalDist().inv_cdf(0.75)),
        ("Cauchy", None, 2.0),
    ):
        found = ClippedNoise.of(noise, 2.0, Fraction(0), Fraction(0), wide)
        assert found.error_quantile(0.5) == pytest.approx(median, rel=1e-12)
        if mean is not None:
            assert found.expected_error == pytest.approx(mean, rel=1e-9)
    # Cauchy noise has no expected error: clipped to +-M it is 2 s / pi (1 + ln(M / s)) for large M.
    assert found.expected_error == pytest.approx(4 / math.pi * (1 + math.log(5e5)), rel=1e-9)


def test_without_noise_the_error_is_that_of_clipping() -> None:
    for before, error in ((5, 2.0), (30, 7.0), (-5, 3.0), (3, 0.0)):
        found = ClippedNoise.of(
            "Laplace", 0.0, Fraction(before), Fraction(3), (Fraction(0), Fraction(10))
        )
        assert found.expected_error == error
        assert found.error_quantile(0.01) == found.error_quantile(1) == error


def test_an_offset_changes_no_digit() -> None:
    near = ClippedNoise.of("Laplace", 1.0, Fraction(5), Fraction(3), (Fraction(0), Fraction(10)))
    offset = 10**15
    far = ClippedNoise.of(
        *("Laplace", 1.0, Fraction(offset + 5), Fraction(offset + 3)),
        (Fraction(offset), Fraction(offset + 10)),
    )
    assert near == far
    assert less(Root(Fraction(4)), Fraction(2)) == 0
    assert less(Root(Fraction(10**40 + 1)), Fraction(10**20)) == pytest.approx(5e-21, rel=1e-12)
