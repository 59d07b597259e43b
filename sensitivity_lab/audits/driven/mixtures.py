"""Mixtures of shifted noise: draws that are not released decide what the noise is added to.

A sample that is drawn at random, or a list that is shuffled, makes a number that noise is added to.
Two such laws, with noise of one kind and scale, are compared. See docs/proofs.md, "Mixtures".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.exact.exponential_sums import Chance, ExponentialSum, bounds, log_ratio

from .affine import AffineLaw
from .losses import LEAST, MOST, Bounds, Ends, ScaleLoss, Shift, ShiftLoss

Mixed = tuple[tuple[tuple[Fraction, Fraction], Fraction], ...]
"""Laws, each a center and a scale (if normal a variance), with weights that add up to 1."""

_BEYOND, _PLACES = 40, 4_000
"""Changes of sign are looked for up to so many scales from all centers, at so many places."""


def mixed(
    laws: Iterable[tuple[Chance, AffineLaw]],
) -> tuple[tuple[str, Fraction], Mixed] | None:
    """Return the kind and scale of the noise, and the law of one number; None if it is no mixture.

    It is one if all of its parts have noise of one kind and scale.
    """
    found: dict[tuple[Fraction, Fraction], Fraction] = {}
    noises = set()
    for mass, law in laws:
        # One number with one draw; and masses that are fractions, which those of compared noise are
        # not.
        if not isinstance(mass, Fraction) or not len(law.center) == len(law.kinds) == 1:
            return None
        scale = abs(law.matrix[0][0])
        (kind,) = law.kinds
        one = law.center[0], scale if kind == "Laplace" else scale**2
        noises.add((kind, one[1]))
        found[one] = found.get(one, Fraction(0)) + mass
    if len(noises) != 1:
        return None
    whole = sum(found.values(), Fraction(0))
    return noises.pop(), tuple((one, mass / whole) for one, mass in found.items())


@dataclass(frozen=True)
class MixtureLoss(ScaleLoss):
    """The loss between two mixtures of shifted noise, as `ScaleLoss`; p and q are mixtures."""

    p: Any
    q: Any

    @property
    def _scale(self) -> Fraction:
        """The scale, or the variance, which is that of all parts."""
        return self.p[0][0][1]  # type: ignore[no-any-return]

    @property
    def epsilon(self) -> float:
        """The largest logarithm of a ratio of densities, rounded up; infinite for normal noise."""
        if self.kind != "Laplace":
            return math.inf
        # Between two centers the ratio is monotone: it is largest at a center, or endlessly far.
        places = [center for (center, _), _ in (*self.p, *self.q)]
        most = Fraction(0)
        # None stands for a point that is endlessly far, above for 1 and below for -1; at a center,
        # both are the same.
        for at in (*places, None):
            for side in (1, -1):
                one, other = (_twice_density(mixture, at, side) for mixture in (self.p, self.q))
                most = max(most, log_ratio(one, other)[1])
        return round_up(most)

    @property
    def rho(self) -> Bounds:
        """0, and rho of the two centers that are farthest apart: mixing brings none apart."""
        gap = max(abs(one - other) for (one, _), _ in self.p for (other, _), _ in self.q)
        if self.kind == "Laplace":
            loss = ShiftLoss((Shift((), gap / self._scale, Fraction(0)),), ())
        else:
            loss = ShiftLoss((), (), mu_squared=gap**2 / self._scale)
        return 0.0, round_up(Fraction(loss.rho[1]))

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return proven bounds of delta(epsilon); the upper one is 1 if a change was not found."""
        # Any intervals are an event, so the lower bound always holds. The upper one does where no
        # change of sign was missed ("Mixtures" in docs/proofs.md, *The sign*).
        low, high = super().delta(epsilon)
        weights = [weight for _, weight in sorted(self._weights(Fraction(epsilon)).items())]
        signs = [weight > 0 for weight in weights if weight != 0]
        most = sum(one != other for one, other in pairwise(signs))
        found = sum(
            isinstance(end, Enclosure)
            for ends in self._intervals(Fraction(epsilon), 50)
            for end in ends
        )
        return low, high if found == most else 1.0

    def _weights(self, epsilon: Fraction) -> dict[Fraction, Chance]:
        """Return the weights of p - exp(epsilon) q by center."""
        found: dict[Fraction, Chance] = {center: weight for (center, _), weight in self.p}
        for (center, _), weight in self.q:
            found[center] = found.get(center, 0) - weight * ExponentialSum.of({epsilon: 1})
        return found

    def _mass(self, law: Any, intervals: Any, digits: int) -> Enclosure:
        """Return the probability of some intervals under a mixture."""
        total = Enclosure.of(0, digits)
        for one, weight in law:
            total += super()._mass(one, intervals, digits) * weight
        return total

    @cache  # noqa: B019 - a loss lives as long as its audit
    def _intervals(self, epsilon: Fraction, digits: int) -> list[Ends]:
        """Return where p is above exp(epsilon) q, between the changes of sign that are found."""
        weights = self._weights(epsilon)
        at = np.array([float(center) for center in weights])
        by = np.array([float(weight) for weight in weights.values()])
        spread = float(self._scale) if self.kind == "Laplace" else math.sqrt(self._scale)
        places = np.linspace(at.min() - _BEYOND * spread, at.max() + _BEYOND * spread, _PLACES)
        # Where centers are far apart, a step of the grid may be wider than the peak at a center: so
        # centers are places, too.
        places = np.sort(np.concatenate([places, at]))
        apart = np.abs(places[:, None] - at) / spread
        logs = -apart if self.kind == "Laplace" else -(apart**2) / 2
        # At each place all terms have one factor in common, which changes no sign and keeps the
        # largest from being rounded to 0.
        terms = by * np.exp(logs - logs.max(axis=1, keepdims=True))
        values = terms.sum(axis=1)
        # Far more than floats are off by: at the places that stay, the sign is right.
        sure = np.abs(values) > 1e-9 * np.abs(terms).sum(axis=1)
        places, above = places[sure], values[sure] > 0
        # Ends alternate from here on: the first one begins an interval, the second one ends it, and
        # so on.
        ends: list[Enclosure | Decimal] = [LEAST] if len(above) and above[0] else []
        for place in np.flatnonzero(above[1:] != above[:-1]).tolist():
            low, high = Fraction(places[place]), Fraction(places[place + 1])
            ends.append(self._change(weights, low, high, bool(above[place]), digits))
        if len(above) and above[-1]:
            ends.append(MOST)
        return list(zip(ends[::2], ends[1::2], strict=True))

    def _change(
        self, weights: Mapping[Fraction, Chance], low: Fraction, high: Fraction, above: bool,
        digits: int,
    ) -> Enclosure:  # fmt: skip
        """Return where the sign changes, from `above` at `low`, by bisection."""
        for _ in range(4 * digits):
            middle, value = (low + high) / 2, Enclosure.of(0, digits)
            for center, weight in weights.items():
                # But for a factor that all have, the logarithm of the density of the noise.
                # For normal noise, -(z - c)**2 / 2 is -z**2 / 2 + c (z - c / 2), whose first part
                # all have.
                log = (
                    -abs(middle - center)
                    if self.kind == "Laplace"
                    else center * (middle - center / 2)
                )
                first, last = bounds(weight)
                value += Enclosure.of(log / self._scale, digits).exp() * Enclosure.between(
                    first, last, digits
                )
            # So many digits do not tell the sign this near to the change.
            if value.low <= 0 <= value.high:
                break
            if (value.low > 0) is above:
                low = middle
            else:
                high = middle
        return Enclosure.between(low, high, digits)


def _twice_density(mixture: Mixed, at: Fraction | None, side: int) -> Chance:
    """Return twice the density of a mixture of Laplace noise, or in a tail, times a factor."""
    found: Chance = Fraction(0)
    for (center, scale), weight in mixture:
        log = side * center / scale if at is None else -abs(at - center) / scale
        found += ExponentialSum.of({log: weight})
    return found
