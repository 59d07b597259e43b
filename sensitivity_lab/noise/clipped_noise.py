"""The error of an answer with noise that is clipped to a public range.

Clipping what is released costs no privacy. It bounds the error, so the expected one is finite even
for Cauchy noise, which has no expectation itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.reach import Bound

from .grid_law import simplest

_DIGITS_OF_ROOTS = 60
"""Digits of the difference of two roots, before it is rounded to a float."""


class Shape(NamedTuple):
    """A symmetric law of noise, at scale 1.

    Attributes
    ----------
    distribution : callable
        F(z), the probability of at most z.
    integral : callable
        The integral of F from 0 to z.
    """

    distribution: Callable[[float], float]
    integral: Callable[[float], float]


def _laplace_distribution(z: float) -> float:
    return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2


def _laplace_integral(z: float) -> float:
    return math.expm1(z) / 2 if z < 0 else z + math.expm1(-z) / 2


def _gaussian_distribution(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _gaussian_integral(z: float) -> float:
    return z * _gaussian_distribution(z) + math.expm1(-z * z / 2) / math.sqrt(2 * math.pi)


def _cauchy_distribution(z: float) -> float:
    # Below 0, the difference of 1/2 and an arc tangent near it would lose digits.
    return math.atan2(1, -z) / math.pi


def _cauchy_integral(z: float) -> float:
    return z * _cauchy_distribution(z) - math.log1p(z * z) / (2 * math.pi)


SHAPES = {
    "Laplace": Shape(_laplace_distribution, _laplace_integral),
    "Gaussian": Shape(_gaussian_distribution, _gaussian_integral),
    "Cauchy": Shape(_cauchy_distribution, _cauchy_integral),
}


@dataclass(frozen=True)
class ClippedNoise:
    """The error ``T - a`` of ``T = clip(m + scale * Z, L, U)``, with everything less a.

    Attributes
    ----------
    noise : {"Laplace", "Gaussian", "Cauchy"}
        The law of Z.
    scale : float
        At least 0.
    shift, low, high : float
        ``m - a``, ``L - a`` and ``U - a``: the answer before the noise and the ends of the range.

    Notes
    -----
    Floats, with errors of a few parts in 10**15 of the range: none of this is a promise of privacy.
    """

    noise: str
    scale: float
    shift: float
    low: float
    high: float

    @classmethod
    def of(
        cls, noise: str, scale: float, before: Bound, true: Bound, ends: tuple[Fraction, Fraction]
    ) -> ClippedNoise:
        """Return the error against the true answer of noise on another one.

        Differences are exact before they are rounded, so an offset of all numbers loses nothing.
        """
        low, high = (less(end, true) for end in ends)
        return cls(noise, scale, less(before, true), low, high)

    def chance(self, error: float) -> float:
        """Return the probability that the error is at most so large."""
        if error < self.low or -error > self.high:
            return 0.0
        # Beyond an end of the range, clipping keeps the error within it, whatever the noise is.
        most = 1.0 if error >= self.high else self._below(error)
        least = 0.0 if -error <= self.low else self._below(-error, strictly=True)
        return most - least

    def _below(self, position: float, *, strictly: bool = False) -> float:
        """Return the probability that the answer with noise, less a, is at most so large.

        Whether it may be as large matters without noise only.
        """
        if not self.scale:
            return float(self.shift < position or (self.shift == position and not strictly))
        return SHAPES[self.noise].distribution((position - self.shift) / self.scale)

    def error_quantile(self, q: float) -> float:
        """Return the least error that is not exceeded with probability q, to the last digits."""
        low, high = 0.0, max(abs(self.low), abs(self.high))
        if self.chance(low) >= q:
            return low
        # `low` is exceeded too often, `high` is not.
        while low < (middle := (low + high) / 2) < high:
            if self.chance(middle) >= q:
                high = middle
            else:
                low = middle
        return high

    @property
    def expected_error(self) -> float:
        """The expected size of the error: the integral of the chance that it is larger."""
        first, last = max(0.0, self.low), min(0.0, self.high)
        # T - a above 0: it is at least `first`, then P(T - a > t) up to the upper end.
        above = first + self._integral(-self.high, -first, -1) if self.high > 0 else 0.0
        below = -last + self._integral(self.low, last, 1) if self.low < 0 else 0.0
        return above + below

    def _integral(self, start: float, stop: float, sign: int) -> float:
        """Return the integral of P(sign * (T - a) <= t), before clipping, from start to stop."""
        centre = sign * self.shift
        if not self.scale:
            return max(0.0, stop - max(start, centre))
        integral = SHAPES[self.noise].integral
        ends = ((position - centre) / self.scale for position in (stop, start))
        upper, lower = map(integral, ends)
        return self.scale * (upper - lower)


def less(number: Bound, other: Bound) -> float:
    """Return the difference of two exact numbers as a float."""
    number, other = simplest(number), simplest(other)
    if isinstance(number, Root) or isinstance(other, Root):
        one, two = (
            Enclosure.of(each.square, _DIGITS_OF_ROOTS).sqrt()
            if isinstance(each, Root)
            else Enclosure.of(each, _DIGITS_OF_ROOTS)
            for each in (number, other)
        )
        return (one - two).floats()[1]
    return float(number - other)
