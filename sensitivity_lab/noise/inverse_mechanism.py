"""The inverse sensitivity mechanism: an output is likelier, the fewer records it takes to reach it.

Laplace noise is as large for harmless data as for the worst case. This mechanism looks at the data:
it asks how many records have to change until the answer is t, and prefers outputs t that need few.

Its law on a grid says who is how likely, exactly. The grid, the weights of its points, the width
and the cap are public. Private are only the *rings*: ring k has the points that a dataset within
distance k of x can answer, or that lie between such answers, and no dataset within k - 1. See
docs/proofs.md, "Inverse sensitivity".
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise, repeat
from operator import mul
from typing import Any

import pandas as pd

from sensitivity_lab.checks import (
    check_kind,
    check_not_negative,
    check_number,
    check_positive,
    check_whole,
    listed,
    rounded_up,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import common_integers, rational_root, round_up
from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.noise_context import NoiseContext
from sensitivity_lab.results.reach_result import Bound, Reach
from sensitivity_lab.results.reprs import Tabled
from sensitivity_lab.universes.relations import Relation

from .mechanisms import Mechanism, check_public, epsilon_for, root_up

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
        return [(low + high) / 2 for low, high in pairwise(self.points)]

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


MOST_POINTS = 100_000
"""The largest number of points of a grid."""


IS_PRIVATE = "the law depends on the data: publish one draw from it, never the law or its errors"


@dataclass(frozen=True)
class Ring:
    """The outputs that need equally many changed records.

    Attributes
    ----------
    distance : int
        The number of records that have to change; one more than the reach for all outputs that are
        out of reach.
    points : int
        How many points of the grid there are.
    least, greatest : Fraction
        The smallest and the largest of them.
    chance : Fraction
        The probability that one of them is drawn.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> reach = sl.reach(
    ...     scores, "median", dataset=[4, 5, 5, 6, 7], neighbors="bounded", distances=3
    ... )
    >>> sl.noise.inverse_sensitivity(reach, epsilon=2, grid=range(11)).rings[0].points
    1
    """

    distance: int
    points: int
    least: Fraction
    greatest: Fraction
    chance: Fraction


@dataclass(frozen=True, repr=False)
class InverseSensitivity(Tabled):
    """The exact law of the inverse sensitivity mechanism on one dataset.

    The law depends on the data, so it is as private as they are: publish one draw from it, and
    neither the law nor its errors.

    Attributes
    ----------
    reach : Reach
        The least and the greatest answer within every distance of the dataset.
    grid : Grid
        The possible outputs, their weights and the width, which are public.
    k : int
        The most rows that one person can have.
    r : Fraction
        How much less likely one more changed record makes an output.
    epsilon : float
        The privacy loss, ``2 k ln(1 / r)`` rounded up.
    rings : tuple of Ring
        The law: outputs that need equally many changed records, in ascending order of that number.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> reach = sl.reach(
    ...     scores, "median", dataset=[4, 5, 5, 6, 7], neighbors="bounded", distances=3
    ... )
    >>> law = sl.noise.inverse_sensitivity(reach, epsilon=2, grid=range(11))
    >>> round(float(law.probability(5)), 3), round(law.expected_error, 3)
    (0.503, 1.041)
    """

    reach: Reach
    grid: Grid
    k: int
    r: Fraction
    epsilon: float
    law: GridLaw = field(repr=False, compare=False)

    @property
    def answer(self) -> Bound:
        """The query's exact answer on the dataset, which errors are measured from."""
        return self.reach.answer

    @property
    def neighbors(self) -> Relation:
        """The relation, at a distance of at most k."""
        return self.reach.neighbors.at(self.k)

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        """The law, ring by ring."""
        points, found = self.grid.points, []
        by_ring: dict[int, list[tuple[int, int]]] = {}
        # A ring has a run of points on each side of the answer, at most.
        for start, stop, ring in self.law.segments:
            by_ring.setdefault(ring, []).append((start, stop))
        for ring, parts in sorted(by_ring.items()):
            found.append(
                Ring(
                    ring,
                    sum(stop - start for start, stop in parts),
                    points[parts[0][0]],
                    points[parts[-1][1] - 1],
                    sum((self.law.chance(*part) for part in parts), Fraction(0)),
                )
            )
        return tuple(found)

    def probability(self, output: Any) -> Fraction:
        """Return the probability of an output; 0 if it is not on the grid."""
        point = check_number("output", output)
        # The nearest point is the output itself, or the output is not on the grid.
        place = self.grid.place(point)
        on_grid = self.grid.points[place] == point
        return self.law.chance(place, place + 1) if on_grid else Fraction(0)

    @property
    def scores(self) -> list[int]:
        """By point of the grid, how many records have to change; private."""
        return [ring for start, stop, ring in self.law.segments for _ in range(start, stop)]

    @cached_property
    def expected_error(self) -> float:
        """The expected distance of a draw from the answer, in its unit, rounded up."""
        return self.law.expected_error(self.answer)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per ring.

        Returns
        -------
        pandas.DataFrame
            Columns: distance, points, least, greatest, chance, as in `Ring`, in floats.
        """
        rows = [
            {
                "distance": ring.distance,
                "points": ring.points,
                **{name: float(getattr(ring, name)) for name in ("least", "greatest", "chance")},
            }
            for ring in self.rings
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n  neighbors  {self.neighbors}\n  note       {IS_PRIVATE}"

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<p>{self.neighbors}; {IS_PRIVATE}</p>"

    def _table(self) -> pd.DataFrame:
        return self.to_frame().set_index("distance").rename_axis("records that change")

    @property
    def _title(self) -> str:
        points = len(self.grid.points)
        return (
            f"Inverse sensitivity of {self.reach.query.name} on {points:,} point"
            f"{'s' * (points != 1)}: expected error {rounded_up(self.expected_error, digits=6)}, "
            f"epsilon {rounded_up(self.epsilon)}"
        )


def inverse_sensitivity(
    reach: Reach,
    *,
    epsilon: Any,
    grid: Iterable[Any],
    weights: Iterable[Any] | None = None,
    width: Any = 0,
    k: int = 1,
    public_universe: bool = False,
) -> InverseSensitivity:
    """Return the exact law of the inverse sensitivity mechanism on a public grid.

    For an output t, let s(t) be the number of records that must change until t lies between two
    possible answers: the smallest distance whose reach, clipped to the grid and rounded to its
    points, contains t. The mechanism draws t with a probability proportional to
    ``weight(t) * r**s(t)``, with ``r = exp(-epsilon / (2 k))`` rounded up to a short rational. An
    output beyond the reach has s(t) = K + 1, where K is the largest distance of the reach, so every
    output is possible.

    Parameters
    ----------
    reach : Reach
        A result of `sl.reach` for a query with exact answers. Its largest distance K must be
        public, so choose it without looking at the data.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one draw, from k times 1e-9 to k times 100.
    grid : iterable of numbers
        The possible outputs, ascending, at most 100,000, in the unit of the answer. Answers beyond
        its ends count as the ends. Choose it without looking at the data.
    weights : iterable of numbers, optional
        The public weight of every output, above 0; equal by default.
    width : number, default 0
        Outputs up to this far beyond the reach count as reached, too. A width helps if the grid is
        so fine that many records must change to reach an output next to the answer.
    k : int, default 1
        The most rows that one person can have. The reach counts single records, and neighbors are
        at most k apart.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    InverseSensitivity
        The law and its errors. The lab draws nothing:
        `sensitivity_lab.releases.opendp.opendp_inverse_sensitivity` does.

    Raises
    ------
    InputError
        If an argument is invalid, the grid does not ascend, or the answers are floats of a caller's
        function, which are not exact.

    Warns
    -----
    DatasetUniverseWarning
        As for `laplace_scale`.

    Notes
    -----
    A draw is epsilon-differentially private for neighbors at most k apart in the metric of the
    reach: s(t) changes by at most 1 per record, so every probability changes by a factor of at most
    ``r**-2``. For relations that add or remove, that metric is the symmetric difference; see
    `sl.reach`. The law is exact: it is computed in whole numbers. It takes O(m + K log m) steps for
    m points, on numbers of up to some 40 K bits.

    References
    ----------
    Asi, Duchi, "Instance-optimality in differential privacy via approximate inverse sensitivity
    mechanisms" (NeurIPS 2020): the mechanism where every value between the ends of the reach can be
    answered. Smith, "Privacy-preserving statistical estimation with optimal convergence rates"
    (STOC 2011): for a single order statistic.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> reach = sl.reach(
    ...     scores, "median", dataset=[4, 5, 5, 6, 7], neighbors="bounded", distances=3
    ... )
    >>> inverse_sensitivity(reach, epsilon=2, grid=range(11))
    Inverse sensitivity of median on 11 points: expected error 1.04091, epsilon 2
                         points  least  greatest   chance
    records that change
    0                         1      5         5 0.503256
    1                         1      6         6 0.185138
    2                         2      4         7 0.136217
    3                         7      0        10  0.17539
      neighbors  bounded, at most 1
      note       the law depends on the data: publish one draw from it, never the law or its errors
    """
    check_kind("reach", reach, Reach, "a result of sl.reach", "")
    rows = check_whole("k", k, "the most rows of one person, at least 1")
    loss = epsilon_for(rows)("epsilon", epsilon)
    public = grid_of(grid, weights, width)
    if reason := INVERSE_SENSITIVITY.why_not(reach.noise_context()):
        raise InputError(f"reach: {reason}")
    if reach.arithmetic != "exact":
        raise InputError(
            "reach: the answers are floats of a function, and rounding errors could change their "
            "order; use a built-in query or an ExactQuery"
        )
    check_public({"reach": reach}, public_universe)
    return inverse_sensitivity_on(reach, public, loss, rows)


def _not_reach(context: NoiseContext) -> str | None:
    """Return why the mechanism cannot be made of a result, if so."""
    if context.kind != "reach":
        return f"the result is a {context.kind} sensitivity; use a result of sl.reach"
    # The proof needs balls of the metric: with sizes left out they have holes, and s jumps.
    if context.left_out is not None:
        least, most = context.left_out
        return (
            f"it is about datasets of size {least} to {most} only, so neighbors of other sizes are "
            "left out; recompute it without sizes"
        )
    return None


INVERSE_SENSITIVITY = Mechanism(
    "exponential",
    None,
    "epsilon-DP",
    "Asi, Duchi (2020); McSherry, Talwar (2007), Theorem 6",
    _not_reach,
    lambda square, epsilon: root_up(4 * square / epsilon**2),
)
"""Its scale is in records: the probability of an output is proportional to exp(-s(t) / scale)."""


def inverse_sensitivity_on(
    reach: Reach, grid: Grid, epsilon: Fraction, k: int
) -> InverseSensitivity:
    """Return the law for checked arguments."""
    # One record changes s by 1 and a probability by r**-2 at most: so 2 k ln(1 / r) for k records.
    r = decay(epsilon / (2 * k))
    law = GridLaw(grid, grid.segments(reach.lower, reach.upper), r)
    return InverseSensitivity(reach, grid, k, r, loss_of(r, 2 * k), law)


def grid_of(points: Any, weights: Any, width: Any) -> Grid:
    """Return a public grid, or raise InputError."""
    wrong = "grid must be numbers in ascending order, such as range(61)"
    items = listed(points, wrong)
    if not 0 < len(items) <= MOST_POINTS:
        raise InputError(f"{wrong}, from 1 to {MOST_POINTS:,} of them, got {len(items):,}")
    outputs = tuple(check_number("grid", item) for item in items)
    # Neighbors are enough: what ascends from each to the next ascends.
    for low, high, shows in zip(outputs, outputs[1:], items[1:], strict=False):
        if high <= low:
            raise InputError(f"{wrong}, got {shown(shows)} after {float(low):g}")
    weighed: tuple[Fraction, ...] = (Fraction(1),) * len(outputs)
    if weights is not None:
        wrong = "weights must be a number above 0 for each point of the grid"
        given = listed(weights, wrong)
        if len(given) != len(outputs):
            raise InputError(f"{wrong}, which has {len(outputs):,}, got {len(given):,}")
        weighed = tuple(check_positive("weights", weight) for weight in given)
    return Grid(outputs, weighed, check_not_negative("width", width))
