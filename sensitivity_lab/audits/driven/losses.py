"""The privacy loss between two laws of continuous noise: delta(epsilon), with proven bounds.

Formulas are evaluated between bounds, with more digits until at most one float is between them.
See docs/proofs.md, "Affine laws".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

from sensitivity_lab.exact.difference import round_down, round_up
from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds
from sensitivity_lab.exact.exponential_sums import Chance, ExponentialSum, bounds
from sensitivity_lab.noise.scales import normal_density, normal_distribution

Bounds = tuple[float, float]
"""A proven lower and upper bound."""

MOST_SUMS, MOST_SUMS_MIXED = 256, 64
"""About so many sums of Laplace shifts are told apart, alone and with normal draws; where there are
more, the shifts are rounded."""


@dataclass(frozen=True)
class Event:
    """A set of releases that attains delta(epsilon), or as nearly as floats can say.

    Parameters
    ----------
    weights : tuple of Fraction
        One per released number; empty where the event is no range of a combination of these.
    intervals : tuple of (Fraction or float, Fraction or float)
        Open intervals that hold the combination; an end is infinite where there is none.
    probability_p, probability_q : (float, float)
        Lower and upper bounds of the probability of the event under P and under Q.

    """

    weights: tuple[Fraction, ...]
    intervals: tuple[tuple[Fraction | float, Fraction | float], ...]
    probability_p: Bounds
    probability_q: Bounds


@dataclass(frozen=True)
class Shift:
    """One standard Laplace draw, alone in a combination of the released numbers.

    Parameters
    ----------
    weights : tuple of Fraction
        The combination, one weight per released number.
    at_p, at_q : Fraction
        Its center under P and under Q, in scales of the noise.
    """

    weights: tuple[Fraction, ...]
    at_p: Fraction
    at_q: Fraction

    @property
    def size(self) -> Fraction:
        """How far the centers are apart."""
        return abs(self.at_p - self.at_q)


@dataclass(frozen=True)
class ShiftLoss:
    """The loss of independent shifts: Laplace draws, and normal draws all together.

    Parameters
    ----------
    shifts : tuple of Shift
        The Laplace draws whose centers differ.
    weights : tuple of Fraction
        Weights w of the released numbers, for the normal draws: the logarithm of the ratio of
        their densities is w times the release, less `middle`.
    middle : Fraction
        The mean of the two values that w takes at the centers.
    mu_squared : Fraction
        The square of mu, the parameter of Gaussian differential privacy of the normal draws.

    Notes
    -----
    With T the sum of the m sizes of shifts, delta(epsilon) is a sum over the subset sums of the
    shifts; with Laplace draws alone, over those below (T - epsilon) / 2. A value costs O(m)
    operations per sum. Where there are more than about `MOST_SUMS` (`MOST_SUMS_MIXED` with normal
    draws), the bounds are those of shifts that are rounded down and up: delta grows with each.

    References
    ----------
    Balle and Wang (2018), Theorem 8, for normal draws alone.
    """

    shifts: tuple[Shift, ...]
    weights: tuple[Fraction, ...]
    middle: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction | float:
        """The sum of the shifts; infinite with normal draws."""
        return math.inf if self.mu_squared else self._total

    @property
    def rho(self) -> Bounds | tuple[Fraction, Fraction]:
        """The least rho: exact for normal draws alone, else bounds that are neighboring floats.

        It is the sum of the Kullback-Leibler divergences, which for a Laplace shift t is
        t - 1 + exp(-t).
        """
        exact = self.mu_squared / 2
        if not self.shifts:
            return exact, exact
        return nearest_bounds(
            lambda digits: sum(
                (Enclosure.of(-one.size, digits).exp() + (one.size - 1) for one in self.shifts),
                Enclosure.of(exact, digits),
            )
        )

    def swapped(self) -> ShiftLoss:
        """Return the same with P and Q exchanged."""
        shifts = tuple(Shift(one.weights, one.at_q, one.at_p) for one in self.shifts)
        weights = tuple(-weight for weight in self.weights)
        return ShiftLoss(shifts, weights, -self.middle, self.mu_squared)

    @cached_property
    def _total(self) -> Fraction:
        return sum((one.size for one in self.shifts), Fraction(0))

    @cached_property
    def _sizes(self) -> tuple[Fraction, ...]:
        return tuple(one.size for one in self.shifts)

    @cached_property
    def _mixture(self) -> Mixture | None:
        return _mixture(self._sizes, bool(self.mu_squared), self._most + len(self._sizes))

    @property
    def _most(self) -> int:
        return MOST_SUMS_MIXED if self.mu_squared else MOST_SUMS

    def rounded(self, up: bool) -> ShiftLoss:
        """Return shifts that are multiples of one number, so that they have few sums."""
        unit = self._total / self._most
        # Sums of multiples of `unit` are multiples of it, up to about the total: so there are few
        # different ones.
        sizes = (unit * (math.ceil if up else math.floor)(size / unit) for size in self._sizes)
        shifts = tuple(Shift((), size, Fraction(0)) for size in sizes if size)
        return replace(self, shifts=shifts)

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return proven bounds of delta(epsilon), which is the same in both orders."""
        epsilon = Fraction(epsilon)
        if epsilon >= self.epsilon:
            return 0.0, 0.0
        if self._mixture is None:
            # Delta grows with each shift ("Affine laws" in docs/proofs.md, *Rounded shifts*):
            # [False] is the lower bound with all of them rounded down, [True] the upper one with
            # all rounded up.
            least, most = (self.rounded(up).delta(epsilon)[up] for up in (False, True))
            return least, most

        def formula(digits: int) -> Enclosure:
            first, second = self._masses(epsilon, digits)
            return (first - second).clipped(0, 1)

        return nearest_bounds(formula)

    def event(self, epsilon: Fraction | float) -> Event | None:
        """Return the releases whose loss is above epsilon; None if delta(epsilon) is 0.

        For one shift, or normal draws alone, it is a half-space; else only its probabilities are
        told. Where shifts are rounded, these are those of any event: 0 and 1.
        """
        epsilon = Fraction(epsilon)
        if epsilon >= self.epsilon:
            return None
        weights, threshold = self.weights, epsilon + self.middle
        if len(self.shifts) == 1 and not self.mu_squared:
            # Between its centers the loss grows from -t to t with twice the distance.
            # With at_p > at_q, the loss at y between them is 2 y - at_p - at_q. It exceeds epsilon
            # above (epsilon + at_p + at_q) / 2; with at_p < at_q all signs are turned.
            (one,) = self.shifts
            side = 1 if one.at_p > one.at_q else -1
            weights = tuple(side * w for w in one.weights)
            threshold = (epsilon + side * (one.at_p + one.at_q)) / 2
        elif self.shifts:
            weights = ()
        return Event(weights, ((threshold, math.inf),), *self._probabilities(epsilon))

    def _probabilities(self, epsilon: Fraction) -> tuple[Bounds, Bounds]:
        """Bounds of the probability that the loss is above epsilon, under both laws."""
        if self._mixture is None:
            return (0.0, 1.0), (0.0, 1.0)

        def first(digits: int) -> Enclosure:
            return self._masses(epsilon, digits)[0].clipped(0, 1)

        def second(digits: int) -> Enclosure:
            scaled = self._masses(epsilon, digits)[1]
            return (scaled * Enclosure.of(-epsilon, digits).exp()).clipped(0, 1)

        return nearest_bounds(first), nearest_bounds(second)

    def _masses(self, epsilon: Fraction, digits: int) -> tuple[Enclosure, Enclosure]:
        """Return P(L > epsilon) and exp(epsilon) Q(L > epsilon) for the loss L."""
        half = (self._total - epsilon) / 2
        first = second = Enclosure.of(0, digits)
        for at, numbers in self._mixture or ():
            u = half - at
            # Parts come with ascending sums, so no later one reaches epsilon, either.
            if not self.mu_squared and u <= 0:
                break
            reached, scaled = _part(numbers, u, self.mu_squared, digits)
            weight = Enclosure.of(-at, digits).exp()
            first += weight * reached
            second += weight * scaled
        # `_mixture` leaves out the 1 / 2 of each shift's transform.
        share = Fraction(1, 2 ** len(self.shifts))
        return first * share, second * share


Mixture = tuple[tuple[Fraction, tuple[int, ...]], ...]


@lru_cache(maxsize=64)
def _mixture(sizes: tuple[Fraction, ...], whole: bool, most: int) -> Mixture | None:
    """Write the sum of the losses as a mixture; None if it has more parts than `most`.

    Returns
    -------
    tuple of (sum of shifts, coefficients)
        A part with sum s and coefficients n_0, n_1, ... stands for exp(-s) / 2**len(sizes) times
        the sum of n_k times the law of s plus k exponential variables. Parts with s of at least
        half of the total are left out unless `whole`: no loss of at least 0 is in them.
    """
    half = sum(sizes, Fraction(0)) / 2
    # parts[s][k] is the factor of X**k exp(-s (1 + z)), where z is the argument of the transform.
    # Large shifts come first: unless `whole`, sums beyond half of the total are dropped early.
    parts: dict[Fraction, list[int]] = {Fraction(0): [1]}
    for size in sorted(sizes, reverse=True):
        # Twice a loss's transform: 1 + X + Y (1 - X), where X is that of an exponential variable
        # and Y that of an atom at `size`, of mass exp(-size).
        grown: dict[Fraction, list[int]] = {}
        for total, numbers in parts.items():
            # 1 + X adds to the part itself, Y (1 - X) to the part that is `size` farther: one shift
            # t alone makes {0: [1, 1], t: [1, -1]}.
            for at, sign in ((total, 1), (total + size, -1)):
                if not whole and at >= half:
                    continue
                held = grown.setdefault(at, [0] * (len(numbers) + 1))
                for k, number in enumerate(numbers):
                    held[k] += number
                    held[k + 1] += sign * number
        parts = grown
        if len(parts) > most:
            return None
    return tuple((at, tuple(numbers)) for at, numbers in sorted(parts.items()))


def _part(
    numbers: tuple[int, ...], u: Fraction, mu_squared: Fraction, digits: int
) -> tuple[Enclosure, Enclosure]:
    """Return both masses of a part of a mixture; `u` is half of what it has beyond epsilon.

    With r_j the mean of max(0, u + mu Z / 2)**j / j! for a normal Z (at j = 0 of its sign), k
    exponential variables have the masses of docs/proofs.md, "Affine laws".
    """
    one = Enclosure.of(1, digits)
    above, below, moments = one, one, [one]
    if mu_squared:
        mu = Enclosure.of(mu_squared, digits).sqrt()
        at = mu.inverse() * (2 * u)
        above, below = (
            normal_distribution(at + mu * Fraction(1, 2)),
            normal_distribution(at - mu * Fraction(1, 2)),
        )
        moments = [normal_distribution(at), normal_distribution(at) * u]
        moments[1] += mu * Fraction(1, 2) * normal_density(at)
    for j in range(len(moments), len(numbers)):
        moment = moments[j - 1] * u
        if mu_squared:
            moment += moments[j - 2] * (mu_squared / 4)
        moments.append(moment * Fraction(1, j))
    # The masses of an atom, from which the tails of exponential variables are subtracted.
    damped = Enclosure.of(-u - mu_squared / 8, digits).exp()
    grown = Enclosure.of(u - mu_squared / 8, digits).exp()
    scale = Enclosure.of(-2 * u, digits).exp()
    first = second = tail = alternating = Enclosure.of(0, digits)
    for k, number in enumerate(numbers):
        # Here tail is r_0 + ... + r_(k-1), and alternating is r_0 - r_1 + ... with as many terms.
        first += (above - damped * tail) * number
        second += (below - grown * alternating) * (number if k % 2 == 0 else -number)
        tail += moments[k]
        alternating += moments[k] * (1 if k % 2 == 0 else -1)
    return first, scale * second


@dataclass(frozen=True)
class ScaleLoss:
    """The loss of one number with one draw, whose scale differs between the two laws.

    Parameters
    ----------
    kind : {"Laplace", "Gaussian"}
        The noise.
    weights : tuple of Fraction
        The number, as a combination of the released ones.
    p, q : (Fraction, Fraction)
        The center and the scale of each law; of normal noise the variance.
    """

    kind: str
    weights: tuple[Fraction, ...]
    p: tuple[Fraction, Fraction]
    q: tuple[Fraction, Fraction]

    @property
    def epsilon(self) -> float:
        """Infinite: the tails of the wider law are heavier."""
        return math.inf

    @property
    def rho(self) -> Bounds:
        """Infinite: the Renyi divergence of some finite order is, from the wider law."""
        return math.inf, math.inf

    def swapped(self) -> ScaleLoss:
        """Return the same with P and Q exchanged."""
        return replace(self, p=self.q, q=self.p)

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return proven bounds of delta(epsilon)."""
        exact = Fraction(epsilon)

        def formula(digits: int) -> Enclosure:
            inside = self._intervals(exact, digits)
            scaled = Enclosure.of(exact, digits).exp() * self._mass(self.q, inside, digits)
            return (self._mass(self.p, inside, digits) - scaled).clipped(0, 1)

        return nearest_bounds(formula)

    def event(self, epsilon: Fraction | float) -> Event | None:
        """Return an interval or two, whose ends are rounded to floats; None if delta is 0."""
        if self.delta(epsilon)[1] == 0:
            return None
        # The probabilities are those of the rounded intervals, so the event proves what it shows.
        joined: list[tuple[float, float]] = []
        for ends in self._intervals(Fraction(epsilon), 100):
            low, high = (
                float(end) if isinstance(end, Decimal) else end.floats()[1] for end in ends
            )
            if joined and joined[-1][1] == low:  # two pieces of one interval
                joined[-1] = (joined[-1][0], high)
            elif low < high:
                joined.append((low, high))

        def bounds(law: tuple[Fraction, Fraction]) -> Bounds:
            return nearest_bounds(
                lambda digits: self._mass(
                    law, [(_end(low, digits), _end(high, digits)) for low, high in joined], digits
                ).clipped(0, 1)
            )

        return Event(self.weights, tuple(joined), bounds(self.p), bounds(self.q))

    def _intervals(self, epsilon: Fraction, digits: int) -> list[Ends]:
        """Return where the loss is above epsilon, in ascending order; neighbors may touch."""
        find = _laplace_intervals if self.kind == "Laplace" else _normal_intervals
        return list(find(self.p, self.q, epsilon, digits))

    def _mass(
        self, law: tuple[Fraction, Fraction], intervals: Sequence[Ends], digits: int
    ) -> Enclosure:
        """Return the probability of some intervals under a law."""
        center, scale = law
        total = Enclosure.of(0, digits)
        for low, high in intervals:
            for end, sign in ((high, 1), (low, -1)):
                # The distribution function is 1 at plus infinity, and 0 at minus infinity.
                if isinstance(end, Decimal):
                    total += sign if end > 0 else 0
                elif self.kind == "Laplace":
                    total += sign * _laplace_distribution((end - center) * (1 / scale))
                else:
                    # Of normal noise, the scale is a variance.
                    root = Enclosure.of(scale, digits).sqrt().inverse()
                    total += sign * normal_distribution((end - center) * root)
        return total


@dataclass(frozen=True)
class Within:
    """A number with Laplace noise that is released where it is between two ends.

    Parameters
    ----------
    center, scale : Fraction
        Of the number.
    low, high : Fraction or infinity
        The ends.
    """

    center: Fraction
    scale: Fraction
    low: Fraction | float
    high: Fraction | float

    def mass(self, low: Fraction | float, high: Fraction | float) -> Chance:
        """Return the probability that it is released and between two numbers."""
        # Outside of its ends the number is not released.
        low, high = max(low, self.low), min(high, self.high)
        return self._below(high) - self._below(low) if low < high else Fraction(0)

    def _below(self, end: Fraction | float) -> Chance:
        if isinstance(end, float):  # infinite
            return Fraction(end > 0)
        at = (end - self.center) / self.scale
        tail = ExponentialSum.of({-abs(at): Fraction(1, 2)})
        return tail if at < 0 else 1 - tail


@dataclass(frozen=True)
class WithinLoss:
    """The loss of one number with Laplace noise of one scale, released within ends.

    Other releases, such as the ends themselves, are no part of it: it compares two measures whose
    masses are below 1. The least epsilon is for P before Q. `weights` choose the number among those
    that are released.
    """

    p: Within
    q: Within
    weights: tuple[Fraction, ...] = (Fraction(1),)

    @property
    def epsilon(self) -> Fraction | float:
        """The largest logarithm of the ratio of the densities; infinite where Q has none."""
        p, q = self.p, self.q
        if p.low < q.low or p.high > q.high:
            return math.inf
        # It is monotone: from plus to minus the distance of the centers, or the other way round.
        corners = sorted((p.center, q.center))
        end = Fraction(min(max(p.low if p.center < q.center else p.high, corners[0]), corners[1]))
        return max(Fraction(0), (abs(end - q.center) - abs(end - p.center)) / p.scale)

    @property
    def rho(self) -> Bounds:
        """No bounds are known."""
        return 0.0, math.inf

    def swapped(self) -> WithinLoss:
        """Return the same with P and Q exchanged."""
        return replace(self, p=self.q, q=self.p)

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return proven bounds of delta(epsilon), for an epsilon of at least 0."""
        p, q = self._chances(epsilon)
        least, most = bounds(p - q * ExponentialSum.of({Fraction(epsilon): 1}))
        return max(0.0, round_down(least)), max(0.0, round_up(most))

    def event(self, epsilon: Fraction | float) -> Event | None:
        """Return an interval or several; None if delta is 0."""
        intervals = tuple(self._intervals(Fraction(epsilon)))
        chances = [(round_down(low), round_up(high)) for low, high in
                   map(bounds, self._chances(epsilon))]  # fmt: skip
        return Event(self.weights, intervals, *chances) if intervals else None

    def _chances(self, epsilon: Fraction | float) -> tuple[Chance, Chance]:
        inside = list(self._intervals(Fraction(epsilon)))
        p, q = (sum((law.mass(*one) for one in inside), Fraction(0)) for law in (self.p, self.q))
        return p, q

    def _intervals(self, epsilon: Fraction) -> Iterator[tuple[Fraction | float, Fraction | float]]:
        """Yield where the density of P is above exp(epsilon) times that of Q."""
        p, q = self.p, self.q
        # From cuts[1] to cuts[2] both have a density; between the other cuts P alone has one.
        cuts = [p.low, min(max(q.low, p.low), p.high), max(min(q.high, p.high), p.low), p.high]
        shift = q.center - p.center
        low, high = cuts[1:3]
        middle = (p.center + q.center) / 2
        # The loss is never above the distance of the centers in scales.
        if abs(shift) <= epsilon * p.scale:
            high = low
        # P is on the left, so the loss falls from left to right. At t between the
        # centers it is 2 (middle - t) / scale.
        elif shift > 0:
            high = min(high, middle - epsilon * p.scale / 2)
        else:
            low = max(low, middle + epsilon * p.scale / 2)
        for ends in ((cuts[0], cuts[1]), (low, high), (cuts[2], cuts[3])):
            if ends[0] < ends[1]:
                yield ends


Loss = ShiftLoss | ScaleLoss | WithinLoss
"""The privacy loss between two laws, P and Q; delta and events are about P before Q.

Each has these:

epsilon : Fraction or infinity
    The least epsilon of pure differential privacy for P before Q, exactly, or rounded up for
    mixtures; of scales that differ the larger of both orders.
rho : (float, float)
    Proven bounds of the least rho of zero-concentrated differential privacy, for both orders.
swapped()
    The same with P and Q exchanged.
delta(epsilon)
    Proven bounds of delta(epsilon), for an epsilon of at least 0.
event(epsilon)
    An event that attains delta(epsilon); None if delta(epsilon) is 0.
"""

_Infinite = Decimal
Ends = tuple[Enclosure | _Infinite, Enclosure | _Infinite]
LEAST, MOST = Decimal("-Infinity"), Decimal("Infinity")


def _end(value: float, digits: int) -> Enclosure | _Infinite:
    return Decimal(value) if math.isinf(value) else Enclosure.of(Fraction(value), digits)


def _laplace_distribution(x: Enclosure) -> Enclosure:
    """Return bounds of the distribution function of standard Laplace noise."""
    zero = Enclosure.of(0, x.digits)
    # At most one of the halves differs from 1/2: F(x) = 1/2 + exp(min(x, 0))/2 - exp(-max(x, 0))/2.
    below, above = x.minimum(zero).exp(), (-x.maximum(zero)).exp()
    return (below - above + 1) * Fraction(1, 2)


def _laplace_intervals(
    p: tuple[Fraction, Fraction], q: tuple[Fraction, Fraction], epsilon: Fraction, digits: int
) -> Iterator[Ends]:
    """Find where the ratio of two Laplace densities is above exp(epsilon).

    Its logarithm f(x) is ``log(b_q / b_p) - |x - c_p| / b_p + |x - c_q| / b_q``. With P wider, it
    is least at c_q and grows to both sides; with Q wider, it is largest at c_p, and falls. Between
    the two centers it is steep, beyond them flat, both in proportion to the distance.
    """
    wide = p[1] > q[1]
    (center, narrow), (other, broad) = (q, p) if wide else (p, q)
    sign, apart = -1 if wide else 1, abs(center - other) / broad
    at_center = Enclosure.of(q[1] / p[1], digits).log() + sign * apart
    # How far f is from epsilon at the center; at 0 the whole line is above it, or nothing.
    gap = ((at_center - epsilon) * sign).maximum(Enclosure.of(0, digits))
    steep, flat = 1 / (1 / narrow + 1 / broad), 1 / (1 / narrow - 1 / broad)
    # From c = 0 with b = 1 towards 3 with b = 2, f changes by 3/2 per unit up to 3, then by 1/2: a
    # gap of 1 is crossed at 2/3, and one of 5 at 3 + (5 - 9/2) / (1/2) = (5 - 2 * 3/2) / (1/2).
    away, towards = gap * flat, (gap * steep).maximum((gap - 2 * apart) * flat)
    left, right = (towards, away) if other < center else (away, towards)
    if wide:
        yield LEAST, center - left
        yield right + center, MOST
    elif gap.high > 0:
        yield center - left, right + center


def _normal_intervals(
    p: tuple[Fraction, Fraction], q: tuple[Fraction, Fraction], epsilon: Fraction, digits: int
) -> Iterator[Ends]:
    """Find where the ratio of two normal densities is above exp(epsilon).

    Its logarithm less epsilon is ``A x**2 + B x + C``, with A other than 0: the variances differ.
    """
    (c_p, v_p), (c_q, v_q) = p, q
    square, slope = (1 / v_q - 1 / v_p) / 2, c_p / v_p - c_q / v_q
    constant = Enclosure.of(v_q / v_p, digits).log() * Fraction(1, 2) + (
        c_q**2 / (2 * v_q) - c_p**2 / (2 * v_p) - epsilon
    )
    discriminant = slope**2 - 4 * square * constant
    # If it is below 0, or not known, then its root is taken as that of 0 or of its upper bound: the
    # bounds of the two ends hold the empty interval too.
    root = discriminant.maximum(Enclosure.of(0, digits)).sqrt()
    ends = (root * (-1) - slope, root - slope)
    first, last = (end * (1 / (2 * square)) for end in (ends if square > 0 else ends[::-1]))
    if square > 0:  # P is wider
        yield LEAST, first
        yield last, MOST
    elif discriminant.high > 0:
        yield first, last
