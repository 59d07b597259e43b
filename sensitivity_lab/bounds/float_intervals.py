"""Intervals of floats that are rounded outward: what is computed contains what is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST = float(np.finfo(np.float64).max)

_HALF_UNIT, _TINY = 2.0**-53 * (1 + 2.0**-51), float(np.finfo(np.float64).tiny)

_CLOSE = 2.0**-49
"""Eight units in the last place: numpy states four as the most that its exp, log and power err."""


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All numbers from `lo` to `hi`, arrays of one shape; an end may be infinite.

    The bounds of every operation are rounded outward by one or two units in the last place: of
    sums where they are rounded, of products, quotients and roots always. What is exactly 0 stays
    so. Infinite ends make NumPy warn, which callers silence.
    """

    lo: Floats
    hi: Floats

    @classmethod
    def of(cls, given: Any) -> Interval:
        """Return numbers as intervals of one number each."""
        numbers = np.asarray(given, dtype=np.float64)
        return cls(numbers, numbers)

    def __getitem__(self, at: Any) -> Interval:
        return Interval(self.lo[at], self.hi[at])

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_sum_below(self.lo, other.lo), -_sum_below(-self.hi, -other.hi))

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        none = self.is_zero | other.is_zero
        if none.all():
            return Interval(np.zeros(none.shape), np.zeros(none.shape))
        if (self.lo >= 0).all() and (other.lo >= 0).all():  # the ends are known, as most often
            lo = np.fmax(_below(self.lo * other.lo), 0)
            return Interval(lo, np.where(none, 0.0, _above(self.hi * other.hi)))
        # A product of two intervals takes its ends at corners. [-1, 2] [3, 4] has the corners -3,
        # -4, 6 and 8, and is [-4, 8].
        ends = self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi
        # An infinite end times 0 is NaN, and fmin passes over it: other ends are in its place.
        lo = np.fmin(np.fmin(ends[0], ends[1]), np.fmin(ends[2], ends[3]))
        hi = np.fmax(np.fmax(ends[0], ends[1]), np.fmax(ends[2], ends[3]))
        lo, hi = _below(lo), _above(hi)
        # Rounding does not move a product across 0.
        alike = ((self.lo >= 0) & (other.lo >= 0)) | ((self.hi <= 0) & (other.hi <= 0))
        opposite = ((self.lo >= 0) & (other.hi <= 0)) | ((self.hi <= 0) & (other.lo >= 0))
        lo = np.where(none | (alike & (lo < 0)), 0.0, lo)
        hi = np.where(none | (opposite & (hi > 0)), 0.0, hi)
        return Interval(lo, hi)

    def __truediv__(self, other: Interval) -> Interval:
        return self * other.reciprocal()

    @property
    def is_zero(self) -> NDArray[np.bool_]:
        """Where an interval is the number 0."""
        zero: NDArray[np.bool_] = (self.lo == 0) & (self.hi == 0)
        return zero

    def reciprocal(self) -> Interval:
        """Return 1 / x; at 0 it is infinite above, as numpy has it, whatever the sign beside it."""
        # 1 / x falls on either side of 0, so the upper end of x gives the lower end. An end that is
        # 0 becomes inf for the division; the lines below put the true end there.
        lo = _below(1 / np.where(self.hi == 0, np.inf, self.hi))
        hi = _above(1 / np.where(self.lo == 0, np.inf, self.lo))
        lo = np.where((self.hi == 0) | ((self.lo < 0) & (self.hi > 0)), -np.inf, lo)
        hi = np.where((self.lo <= 0) & (self.hi >= 0), np.inf, hi)
        # The reciprocal of a number above 0 is not below 0; of 0 alone nothing is known.
        lo = np.where((self.lo >= 0) & (self.hi > 0) & (lo < 0), 0.0, lo)
        hi = np.where((self.hi < 0) & (hi > 0), 0.0, hi)
        return Interval(lo, hi)

    def square(self) -> Interval:
        """Return x * x, which is never below 0."""
        size = self.absolute()
        return size * size

    def absolute(self) -> Interval:
        """Return the distance from 0."""
        lo = np.maximum(np.maximum(self.lo, -self.hi), 0)
        return Interval(lo, np.maximum(-self.lo, self.hi))

    def sqrt(self) -> Interval:
        """Return the square root of what is not below 0."""
        lo, hi = (np.sqrt(np.maximum(end, 0)) for end in (self.lo, self.hi))
        lo, hi = (np.maximum(_below(lo), 0), np.where(hi == 0, 0.0, _above(hi)))
        return Interval(lo, hi)

    def rising(self, function: Callable[[Floats], Floats]) -> Interval:
        """Return a function that rises, and that numpy computes to within a few units."""
        # An infinite end stays: inf times _CLOSE would make it NaN.
        lo, hi = function(self.lo), function(self.hi)
        return Interval(
            _below(lo - np.abs(np.where(np.isinf(lo), 0, lo)) * _CLOSE),
            _above(hi + np.abs(np.where(np.isinf(hi), 0, hi)) * _CLOSE),
        )

    def cos(self) -> Interval:
        """Return the cosine: its ends, and 1 or -1 where a place of these may be in between."""
        # A turn is 2 pi. The cosine is 1 at whole turns and -1 half a turn later. `near` widens the
        # interval by far more than the division rounds: a top that is not there costs width, a
        # missing one a proof.
        ends = [np.cos(end) for end in (self.lo, self.hi)]
        turns = self.lo / (2 * np.pi), self.hi / (2 * np.pi)
        near = 1e-9 * (1 + np.maximum(np.abs(turns[0]), np.abs(turns[1])))
        top, bottom = (
            np.floor(turns[1] - shift + near) >= np.ceil(turns[0] - shift - near)
            for shift in (0, 0.5)
        )
        lo, hi = (np.minimum(*ends) - 4 * _CLOSE, np.maximum(*ends) + 4 * _CLOSE)
        lo, hi = np.where(bottom, -1.0, np.maximum(lo, -1)), np.where(top, 1.0, np.minimum(hi, 1))
        sure = np.isfinite(self.lo) & np.isfinite(self.hi)
        return Interval(np.where(sure, lo, -1.0), np.where(sure, hi, 1.0))

    def sin(self) -> Interval:
        """Return the sine: the cosine a quarter of a turn before."""
        # No float is pi / 2, so the quarter is an interval around it.
        quarter = Interval.of(np.pi / 2).rising(np.positive)
        return (self - quarter).cos()

    def to_power(self, power: float) -> Interval:
        """Return a power: a whole one of any number, or another one of numbers not below 0."""
        if power == 0:
            return Interval.of(np.ones_like(self.lo))
        if power < 0:
            return self.to_power(-power).reciprocal()
        if power % 2 == 0:
            return self.absolute().rising(lambda x: x**power).at_least(0)
        if power % 1:
            return self.at_least(0).rising(lambda x: x**power).at_least(0)
        # An odd power rises, and rounding must not move it across 0.
        return self.rising(lambda x: x**power).keeping_signs_of(self)

    def at_least(self, least: float) -> Interval:
        """Return what is not below a number; where all is below it, the number itself."""
        return Interval(np.maximum(self.lo, least), np.maximum(self.hi, least))

    def keeping_signs_of(self, other: Interval) -> Interval:
        """Return what is left where it has the signs of other intervals."""
        return Interval(
            np.where((other.lo >= 0) & (self.lo < 0), 0.0, self.lo),
            np.where((other.hi <= 0) & (self.hi > 0), 0.0, self.hi),
        )

    def cut(self, other: Interval) -> Interval:
        """Return what is in both of two intervals that contain one number."""
        # fmax and fmin pass over NaN: an enclosure that says nothing leaves the other one. Both
        # contain one number, so ends that cross are no more than rounding.
        lo, hi = np.fmax(self.lo, other.lo), np.fmin(self.hi, other.hi)
        return Interval(lo, np.maximum(lo, hi))

    def hull(self, other: Interval) -> Interval:
        """Return the least interval that contains both."""
        return Interval(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def where(self, chosen: NDArray[np.bool_], other: Interval) -> Interval:
        """Return these intervals where an array is True, and others elsewhere."""
        return Interval(np.where(chosen, self.lo, other.lo), np.where(chosen, self.hi, other.hi))

    def sum(self, axis: int) -> Interval:
        """Return the sum along an axis."""
        # One part at a time: np.sum adds in an order of its own, and rounds to nearest.
        parts = [Interval(lo, hi) for lo, hi in zip(*self._along(axis), strict=True)]
        total = Interval.of(np.zeros(np.delete(self.lo.shape, axis)))
        for part in parts:
            total = total + part
        return total

    def _along(self, axis: int) -> tuple[Floats, Floats]:
        return np.moveaxis(self.lo, axis, 0), np.moveaxis(self.hi, axis, 0)


def lifted(interval: Interval) -> Interval:
    """Return intervals with an axis of variables before the last one, to multiply slopes."""
    return interval[..., None, :]


def _sum_below(a: Floats, b: Floats) -> Floats:
    """Return the largest float, or the one below it, that is at most a + b.

    Knuth's two-sum gives the error of the float sum exactly; there is one only where it is rounded.
    """
    # inf as a total has NaN as its error. The true sum is then at least the largest float, which is
    # the lower bound.
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    return np.where(error < 0, _below(total), np.minimum(total, _MOST))


def _below(numbers: Floats) -> Floats:
    """Return the float below each number, or the one below that.

    Subtracting slightly more than half a unit in the last place does it, and takes a tenth of the
    time of nextafter (Rump, Zimmermann, Boldo and Melquiond, 2009, "Computing predecessor and
    successor in rounding to nearest").
    """
    # inf means that a lower end left the range of floats. _TINY moves also what is so small that
    # its half unit underflows.
    numbers = np.minimum(numbers, _MOST)
    return numbers - (np.abs(numbers) * _HALF_UNIT + _TINY)


def _above(numbers: Floats) -> Floats:
    return -_below(-numbers)
