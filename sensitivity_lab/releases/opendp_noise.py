"""Noise: how much each measured number gets, and the one place where it is drawn.

Answers are whole numbers, and so is the noise, from OpenDP's samplers. Laplace noise of scale b on
whole numbers that a person moves by at most D in L1 is D / b-differentially private. Gaussian noise
is drawn for all numbers as one mechanism: measured kinds of L2 sensitivities D_i get the scales s_i
with a sum of (D_i / s_i)^2 of at most 1 / r^2, where r is the scale for a sensitivity of 1. It is
drawn on a grid of at least a thousand steps a scale, where it is as private as continuous noise:
docs/proofs.md, "Releases".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sensitivity_lab.errors import MissingExtraError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.noise.mechanisms import root_up
from sensitivity_lab.noise.scales import ratio

from .measurements import Measured, Numbers
from .person import Person

_CUT_OFF = 2**62
"""Numbers are cut off here, which leaves room for noise in 64 bits; it moves none farther apart."""

_NOISE_STEPS = 2**10
"""Gaussian noise has at least so many steps of its grid in a scale."""

_ROUNDED = 16
"""The square of the rounding to a grid, in steps: docs/proofs.md, "Releases"."""

_SPARE = 1 + Fraction(1, 2**40)
"""Covers what a grid loses against continuous noise: docs/proofs.md, "Releases"."""

_MEAN_OF_NORMAL = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Noise:
    """The noise of a measured kind of number.

    Attributes
    ----------
    kind : {"Laplace", "Gaussian"}
    sensitivity : Fraction or float
        In whole units: the L1 sensitivity, or the L2 sensitivity, rounded up.
    scale : float
        In whole units, rounded up.
    share : float
        The most that OpenDP's map may say: of epsilon, or of rho for Gaussian noise.
    """

    kind: Literal["Laplace", "Gaussian"]
    sensitivity: float
    scale: float
    share: Fraction

    @property
    def expected_error(self) -> float:
        """The expected absolute value of the noise, in whole units: at most this."""
        return self.scale * (1 if self.kind == "Laplace" else _MEAN_OF_NORMAL)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in whole units."""
        return self.scale * (math.sqrt(2) if self.kind == "Laplace" else 1)

    @property
    def finer(self) -> int:
        """How many steps of the grid of noise are one."""
        # A power of two, so that scale * finer is a float without rounding. A scale of 0.3 takes
        # 4,096 steps for one: 1,228.8 in a scale.
        if self.kind == "Laplace" or self.scale >= _NOISE_STEPS:
            return 1
        return 1 << math.ceil(math.log2(_NOISE_STEPS / self.scale))

    def drawn(self, numbers: Numbers) -> Numbers:
        """Return the numbers with noise from OpenDP, each its own."""
        measure, finer = measurement(self), self.finer
        # What is cut off is cut before it is scaled, so that no scaled number is beyond 2**62.
        most = _CUT_OFF // finer
        exact = [max(-most, min(int(one), most)) * finer for one in numbers.flat]
        # floor(one / finer + 1/2), in whole numbers.
        noisy = [(2 * one + finer) // (2 * finer) for one in measure(exact)]
        return np.array(noisy, dtype=object).reshape(numbers.shape)

    def rehearsed(self, numbers: Numbers, rng: np.random.Generator) -> Numbers:
        """Return the numbers with noise of the same size, which protects nobody."""
        draw = rng.laplace if self.kind == "Laplace" else rng.normal
        noise = np.rint(draw(scale=self.scale, size=numbers.shape))
        more = np.array([int(one) for one in noise.flat], dtype=object)
        noisy: Numbers = numbers + more.reshape(numbers.shape)
        return noisy


def noise_of(
    measured: Sequence[Measured],
    shares: Sequence[Fraction],
    person: Person,
    groups: int,
    epsilon: Fraction,
    delta: Fraction | None,
) -> list[Noise]:
    """Return the noise of each measured kind, for its share of the privacy loss."""
    found = []
    for one, share in zip(measured, shares, strict=True):
        if delta is None:
            distance = one.l1(person, groups)
            # D / b = w epsilon. Up: a larger scale protects more.
            scale = round_up(distance / (share * epsilon))
            found.append(Noise("Laplace", distance, scale, share * epsilon))
            continue
        square, r = one.l2_square(person, groups), Fraction(ratio(epsilon, delta)) * _SPARE
        # s = D r / sqrt(w): docs/proofs.md, "Releases". `square` is D**2, so only one root is
        # taken.
        scale = root_up(square * r**2 / share)
        # On its grid the noise is as good as continuous noise of the variance less the rounding's.
        # A scale that grows past a power of two has a coarser grid, whose rounding is larger.
        finer = None
        while finer != (finer := Noise("Gaussian", 0, scale, share).finer):
            scale = root_up(square * r**2 / share + Fraction(_ROUNDED, finer**2))
        # OpenDP states rho = D**2 / (2 s**2), which is w / (2 r**2) at this scale.
        found.append(Noise("Gaussian", root_up(square), scale, share / (2 * r**2)))
    return found


def measurement(noise: Noise) -> Any:
    """Return OpenDP's measurement, whose map of the sensitivity is at most the noise's share."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingExtraError(
            "to publish needs OpenDP, which draws the noise and is not installed; install the "
            "extra: pip install '.[opendp]' in a checkout"
        ) from error
    dp.enable_features("contrib")
    numbers = dp.vector_domain(dp.atom_domain(T="i64"))
    scale = noise.scale * noise.finer
    while True:
        if noise.kind == "Laplace":
            made = dp.m.make_laplace(numbers, dp.l1_distance(T="i64"), scale=scale)
            loss = made.map(int(noise.sensitivity))
        else:
            made = dp.m.make_gaussian(numbers, dp.l2_distance(T="f64"), scale=scale)
            loss = made.map(float(noise.sensitivity) * noise.finer)
        # OpenDP rounds the loss up: a scale one bit larger brings it below the share.
        if Fraction(loss) <= noise.share:
            return made
        scale = math.nextafter(scale, math.inf)
