"""The law of the inverse sensitivity mechanism on a grid: who is how likely, exactly.

The grid, the weights of its points, the width and the cap are public. Private are only the *rings*:
ring k has the points that a dataset within distance k of x can answer, or that lie between such
answers, and no dataset within k - 1. See docs/proofs.md, "Inverse sensitivity".
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, repeat
from operator import mul

from sensitivity_lab.exact.difference import common_integers, rational_root, round_up
from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.reach import Bound

_BITS = 36
"""r loses at most one part in 2**36 of the privacy loss. More bits make powers of r long."""

_DIGITS = 60
"""Digits of exp(-loss), whose loss is from 1e-9 to 100: twenty at least are left of 1 - r."""


def decay(loss: Fraction) -> Fraction:
    """Return a short rational r below 1, at least exp(-loss), for a loss from 1e-9 to 100.

    Examples
    --------
    >>> r = decay(Fraction(1))
    >>> math.exp(-1) <= r < math.exp(-1) * (1 + 1e-10), r.denominator <= 2**38
    (True, True)
    """
    # Up: r is at least exp(-loss), so a law loses at most what was asked for.
    high = Fraction(Enclosure.of(-loss, _DIGITS).exp().high)
    # Both r and 1 - r keep their leading bits: rounding up is a small part of either.
    bits = _BITS + math.ceil(-math.log2(min(high, 1 - high)))
    return Fraction(math.ceil(high * 2**bits), 2**bits)


def loss_of(r: Fraction, times: Fraction | int = 1) -> float:
    """Return ``times * ln(1 / r)``, rounded up.

    Examples
    --------
    >>> loss_of(Fraction(1, 2), 2)
    1.3862943611198908
    """
    # Up as well: what is stated is not below what the law loses.
    return nearest_bounds(lambda digits: Enclosure.of(1 / r, digits).log() * times)[1]


Segment = tuple[int, int, int]
"""Places of the grid, from the first to before the second, and their ring."""


@dataclass(frozen=True)
class Grid:
    """What is public of a mechanism: the outputs, and how they are weighed.

    Attributes
    ----------
    points : tuple of Fraction
        The possible outputs, ascending and distinct.
    weights : tuple of Fraction
        The base measure: the weight of each point, above 0.
    width : Fraction
        Points so far beyond the answers that are within reach count as reached, too.
    """

    points: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    width: Fraction = Fraction(0)

    @cached_property
    def _between(self) -> list[Fraction]:
        """The middles between neighboring points."""
        return [(low + high) / 2 for low, high in zip(self.points, self.points[1:], strict=False)]

    def place(self, answer: Bound) -> int:
        """Return the place of the nearest point; of two that are equally near, the larger one.

        This map never falls, so it takes the least and the greatest of some answers to the least
        and the greatest of their places.
        """
        # bisect_right, so that an answer in the middle of two points goes to the larger one.
        return bisect_right(self._between, answer)

    def reached(self, low: Bound, high: Bound) -> tuple[int, int]:
        """Return the first place between two answers on the grid, and the one after the last."""
        # To the grid first and widened then, in this order: so the interval of a neighbor at k + 1
        # holds this one, as the proof asks.
        first, last = self.points[self.place(low)], self.points[self.place(high)]
        return (
            bisect_left(self.points, first - self.width),
            bisect_right(self.points, last + self.width),
        )

    def segments(self, lower: Sequence[Bound], upper: Sequence[Bound]) -> list[Segment]:
        """Return the rings of a dataset, in the order of the grid.

        Parameters
        ----------
        lower, upper : sequences of K + 1 exact numbers
            The least and the greatest answer within distance k = 0, ..., K.
        """
        hulls = [self.reached(low, high) for low, high in zip(lower, upper, strict=True)]
        # What is beyond all hulls is as far as anything can be: K + 1.
        hulls.append((0, len(self.points)))
        first, last = hulls[0]
        below: list[Segment] = []
        above: list[Segment] = []
        # Hulls are nested: what a larger distance adds lies at both ends of what was reached.
        for k, (start, stop) in enumerate(hulls[1:], 1):
            below.append((start, first, k))
            above.append((last, stop, k))
            first, last = start, stop
        # Below the answer the furthest ring comes first.
        every = [*reversed(below), (*hulls[0], 0), *above]
        return [one for one in every if one[0] < one[1]]


class GridLaw:
    """P(t) proportional to ``weight(t) * r**ring(t)``, in whole numbers.

    Parameters
    ----------
    grid : Grid
    segments : list of Segment
        The rings, in the order of the grid, without gaps.
    r : Fraction
        Above 0, below 1.
    """

    def __init__(self, grid: Grid, segments: list[Segment], r: Fraction) -> None:
        self.grid, self.segments, self.r = grid, segments, r
        weights, _ = common_integers(grid.weights)
        positions, self._unit = common_integers(grid.points)
        # Entry i is about the first i points: their weights, and these times the points.
        self._weight: list[int] = [0, *accumulate(weights.tolist())]
        self._moment: list[int] = [0, *accumulate(map(mul, weights.tolist(), positions.tolist()))]
        # With r = a / d, the mass of a unit of weight in ring k is a**k d**(most - k): r**k times a
        # number that all rings share.
        most = max(ring for _, _, ring in segments)
        above = list(accumulate(repeat(r.numerator, most), mul, initial=1))
        below = list(accumulate(repeat(r.denominator, most), mul, initial=1))
        self._of_ring: list[int] = list(map(mul, above, reversed(below)))
        self._starts = [start for start, _, _ in segments]
        self._before: list[int] = [0, *accumulate(self._mass_of(*one) for one in segments)]
        self.total = self._before[-1]

    def _mass_of(self, start: int, stop: int, ring: int) -> int:
        return (self._weight[stop] - self._weight[start]) * self._of_ring[ring]

    def mass(self, place: int) -> int:
        """Return the mass of the points before a place; that of all is `total`."""
        if place >= len(self.grid.points):
            return self.total
        # The segment that holds the place: whole segments before it, and a part of its own.
        number = bisect_right(self._starts, place) - 1
        start, _, ring = self.segments[number]
        return self._before[number] + self._mass_of(start, place, ring)

    def chance(self, start: int, stop: int) -> Fraction:
        """Return the probability of the points from one place to before another."""
        return Fraction(self.mass(stop) - self.mass(start), self.total)

    def ring(self, place: int) -> int:
        """Return the ring of the point at a place."""
        return self.segments[bisect_right(self._starts, place) - 1][2]

    def expected_error(self, answer: Bound) -> float:
        """Return the expected distance of a draw from an answer, rounded up."""
        answer = simplest(answer)
        # The error is fixed + slope a, exact for a root a until it is rounded, once.
        if isinstance(answer, Root):
            split = bisect_left(self.grid.points, answer)
            fixed, slope = self._line(split)
            return nearest_bounds(
                lambda digits: root(answer, digits) * Enclosure.of(slope, digits) + fixed
            )[1]
        return round_up(self.exact_error(answer))

    def exact_error(self, answer: Fraction) -> Fraction:
        """Return the expected distance of a draw from a rational answer."""
        fixed, slope = self._line(bisect_left(self.grid.points, answer))
        return fixed + slope * answer

    def _line(self, split: int) -> tuple[Fraction, Fraction]:
        """Return c and s, where the error is c + s a, for an answer a between two places.

        Of the points t before the split, a - t is the distance, and of the others t - a.
        """
        fixed = slope = 0
        for start, stop, ring in self.segments:
            # A segment that the split parts has points on both sides.
            middle = min(max(split, start), stop)
            for first, last, sign in ((start, middle, -1), (middle, stop, 1)):
                moment = self._moment[last] - self._moment[first]
                weight = self._weight[last] - self._weight[first]
                # The sum of |t - a| weight: t counts with the sign of its side, a with the other
                # one.
                fixed += sign * moment * self._of_ring[ring]
                slope -= sign * weight * self._of_ring[ring]
        return Fraction(fixed, self.total * self._unit), Fraction(slope, self.total)


def simplest(answer: Bound) -> Bound:
    """Return a root as a fraction if it is one, so that bounds of it meet."""
    exact = rational_root(answer.square) if isinstance(answer, Root) else None
    return answer if exact is None else exact


def root(answer: Root, digits: int) -> Enclosure:
    """Return bounds of a root."""
    return Enclosure.of(answer.square, digits).sqrt()
