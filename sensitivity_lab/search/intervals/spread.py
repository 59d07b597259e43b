"""Variance and standard deviation between neighbors of numbers of [0, 1]: the pairs furthest apart.

x = C + A is the more spread dataset, y = C + B the other, with c, i and j records in C, A and B,
n = c + i and m = c + j. B is best at the mean of C. What is left is largest with all of C at one
end and p records of A at the other; only where y is the larger one, C can also be s records at one
end and c - s at the other, with A beside the s. For the variance the best s is a closed form. Its
value bounds the standard deviation, for which every s is tried, but only where that bound exceeds
what is already found. See docs/proofs.md, "Variance and standard deviation: four steps".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import attrgetter

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.search.contenders import Contenders

_ZERO, _ONE = Fraction(0), Fraction(1)

AT_ONCE = 1 << 16
"""So many numbers of records at an end are looked at at once."""

Weighted = dict[Fraction, int]
"""A dataset of numbers of [0, 1]: how often each value occurs."""


@dataclass(frozen=True)
class Pair:
    """Two neighbors.

    Attributes
    ----------
    more, less : dict of Fraction to int
        The more spread dataset and the other.
    gap : Difference
        How far their answers are apart.
    """

    more: Weighted
    less: Weighted
    gap: Difference


@dataclass(frozen=True)
class Family:
    """All pairs with given numbers of records in C, A and B.

    Parameters
    ----------
    core, own, other : int
        The numbers of records in C, A and B.
    ddof : Fraction
        Below the sizes of both datasets.
    root : bool
        Whether the answer is the standard deviation.
    """

    core: int
    own: int
    other: int
    ddof: Fraction
    root: bool

    @cached_property
    def per_record(self) -> Fraction:
        """What V_x is, for one record at either end."""
        size = self.core + self.own
        return 1 / (size * (size - self.ddof))

    @cached_property
    def per_core(self) -> Fraction:
        """What V_y is, for one record of C at either end and B at the mean of C."""
        return 1 / (self.core * (self.core + self.other - self.ddof))

    def core_at_an_end(self) -> Pair:
        """Return the best pair with all of C at one end: V_y is 0."""
        size = self.core + self.own
        top = min(self.own, size // 2)
        gap = Difference(top * (size - top) * self.per_record, _ZERO, self.root)
        less = {_ZERO: self.core + self.other}
        return Pair({_ZERO: size - top, _ONE: top}, less, gap)

    def core_at_both_ends(self, high: int) -> Pair:
        """Return the pair with so many of C at 1, all of A there, and B at the mean of C."""
        low = self.core - high
        of_x, of_y = (high + self.own) * low * self.per_record, high * low * self.per_core
        more = {_ZERO: low, _ONE: high + self.own}
        less = {_ZERO: low, _ONE: high, Fraction(high, self.core): self.other}
        return Pair(more, less, Difference(of_x, of_y, self.root))

    @cached_property
    def furthest_in_variance(self) -> tuple[int, ...]:
        """The numbers of C at 1 for which V_x - V_y can be largest with C at both ends."""
        if self.other <= self.own or not self.core:
            return ()
        # V_x - V_y is (core - high) (first high + second): concave in `high` if first > 0, with its
        # peak in between; else largest at an end of the range, where C is at one end (or it is 0).
        first, second = self.per_record - self.per_core, self.own * self.per_record
        if first <= 0:
            return ()
        peak = math.floor((first * self.core - second) / (2 * first))
        return tuple(high for high in (peak, peak + 1) if 0 < high < self.core)

    def exceeds(self, gap: Difference) -> bool:
        """Tell whether a pair with C at both ends may be further apart than a gap."""
        if not (self.root and self.own):
            # One of `closed_forms` is the best: for the variance always; for the deviation where A
            # is empty, since both are then a number times root(high low), and V_x - V_y is a number
            # times high low.
            return False
        # (sd_x - sd_y)**2 <= V_x - V_y.
        pairs = map(self.core_at_both_ends, self.furthest_in_variance)
        most = max((pair.gap.first - pair.gap.second for pair in pairs), default=_ZERO)
        return Difference(most, _ZERO, self.root) > gap

    def furthest_in_deviation(self) -> Pair:
        """Return the best pair with C at both ends for the standard deviation, trying all."""
        of_record, of_core = float(self.per_record), float(self.per_core)
        # Far more than rounding: no deviation of x is above this times 2e12.
        near = Contenders(5e-13 * (self.core + self.own) * math.sqrt(of_record))
        for start in range(1, self.core, AT_ONCE):
            high = np.arange(start, min(start + AT_ONCE, self.core), dtype=np.float64)
            low = self.core - high
            near.see(np.sqrt((high + self.own) * low * of_record) - np.sqrt(high * low * of_core))
        pairs = (self.core_at_both_ends(1 + place) for place in near.places.tolist())
        return max(pairs, key=attrgetter("gap"))


@lru_cache(maxsize=1 << 14)
def closed_forms(family: Family) -> tuple[Pair, ...]:
    """Return the pairs, one of them the best of its family unless `exceeds` says otherwise."""
    inner = map(family.core_at_both_ends, family.furthest_in_variance)
    return (family.core_at_an_end(), *inner)
