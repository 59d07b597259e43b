"""How far apart the answers on two sets of records of one group can be, for all sizes at once.

The sets are C + P and C + Q, disjoint parts with c, p and q records. A kernel returns the largest
``f(C + P) - f(C + Q)``; the largest ``f(C + Q) - f(C + P)`` is the same with p and q exchanged. For
every query here P is best on top and Q at the bottom, whatever C (docs/proofs.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.queries import Query
from sensitivity_lab.search.lattice import Floats

from .members import Grouped

Ranges = tuple[tuple[int, int], ...]
"""Positions of the records of a group, ascending, as ranges (start, stop)."""

Ratios = tuple[Any, Any]
"""Numerators and denominators of the answers, each an array over c."""


class Kernel(ABC):
    """The largest differences of the answers on a group.

    Parameters
    ----------
    grouped : Grouped
    most : int
        The largest number of records of a group.
    """

    def __init__(self, grouped: Grouped, most: int) -> None:
        self.grouped = grouped
        self.most = most
        # A group's differences do not change when a constant is taken from its numbers.
        self.centres = [
            int(group.integers[len(group.integers) // 2]) if self.centred and group.size else 0
            for group in grouped.groups
        ]
        self.lines = [
            group.records - centre
            for group, centre in zip(grouped.groups, self.centres, strict=True)
        ]
        ends = [abs(int(line[place])) for line in self.lines if len(line) for place in (0, -1)]
        if grouped.empty is not None:
            ends += [abs(self._empty(group, 1)) for group in range(len(self.lines))]
        self.largest = max(ends, default=0)
        self.shift = max(0, self.largest.bit_length() - 53)

    centred = True
    """Whether adding a constant to all numbers changes no difference."""

    @property
    @abstractmethod
    def below(self) -> int:
        """By what floats are to be divided, besides the unit, to be answers."""

    @property
    @abstractmethod
    def error(self) -> float:
        """A bound of the error of `floats`; 0 where they are integers without any."""

    @abstractmethod
    def answers(self, group: int, c: Any, p: int, q: int, *, exact: bool) -> tuple[Ratios, Ratios]:
        """Return the answers on C + P and on C + Q, times the unit; what it says of none is void.

        Parameters
        ----------
        group : int
            Which group.
        c : ndarray of int64
            Sizes of C.
        p, q : int
            The sizes of P and Q.
        exact : bool
            Whether to count in Python ints, or in floats: then of answers times ``below``.
        """

    @abstractmethod
    def core(self, group: int, c: int, p: int, q: int) -> Ranges:
        """Return the positions of C."""

    def floats(self, group: int, top: int, p: int, q: int) -> Floats:
        """Return the largest f(C + P) - f(C + Q) for 0 to `top` records in C.

        Minus infinity where the group has too few records, or one of the answers is none.
        """
        found = np.full(top + 1, -np.inf)
        last = min(top, len(self.lines[group]) - p - q)
        if last < 0:
            return found
        c = np.arange(last + 1)
        first, second = (
            above / below for above, below in self.answers(group, c, p, q, exact=False)
        )
        empty = -np.inf
        if self.grouped.empty is not None:
            empty = self._empty(group, self.below) / (1 << self.shift)
        if p == 0:
            first[0] = empty
        if q == 0:
            second[0] = empty
        found[: last + 1] = first - second
        if self.grouped.empty is None and 0 in (p, q):
            found[0] = -np.inf
        return found

    def exactly(self, group: int, c: int, p: int, q: int) -> Fraction:
        """Return the largest f(C + P) - f(C + Q) exactly."""
        sides = self.answers(group, np.array([c]), p, q, exact=True)
        values = [
            Fraction(self._empty(group, 1))
            if c + more == 0
            else Fraction(int(above[0]), int(below[0]))
            for (above, below), more in zip(sides, (p, q), strict=True)
        ]
        return (values[0] - values[1]) / self.grouped.unit

    def _empty(self, group: int, below: int) -> int:
        """Return the answer on no record, in the unit of a group's line over `below`."""
        empty = (self.grouped.empty or Fraction(0)) * self.grouped.unit - self.centres[group]
        return int(empty) * below


class PowerSums(Kernel):
    """Means, sums and counts: C is next to Q where it counts more in the first answer's size."""

    def __init__(self, grouped: Grouped, most: int) -> None:
        self.moment = grouped.query.moment
        self.centred = self.moment == "mean"
        super().__init__(grouped, most)
        # What comes before each position: the sums of so many records.
        self.sums = [_before(line) for line in self.lines]
        self.rounded = [(sums / (1 << self.shift)).astype(np.float64) for sums in self.sums]

    @property
    def below(self) -> int:
        """Return 1."""
        return 1

    @cached_property
    def error(self) -> float:
        """A bound of the error of `floats`: prefix sums are off by their last place."""
        widest = self.largest * max(map(len, self.lines), default=1)
        if self.moment != "mean" and widest < 2**52:
            return 0.0
        if self.moment == "count":
            return 0.0
        eps = float(np.finfo(np.float64).eps)
        sums = 8.0 * self.largest if widest < 2**52 else 16.0 * widest
        return eps * (sums + 8.0 * self.largest) / (1 << self.shift)

    def answers(self, group: int, c: Any, p: int, q: int, *, exact: bool) -> tuple[Ratios, Ratios]:
        """Return the answers on C + P and on C + Q."""
        sums = self.sums[group] if exact else self.rounded[group]
        size = len(sums) - 1
        one = np.ones_like(c)
        if self.moment == "count":
            return (c + p, one), (c + q, one)
        core = sums[q + c] - sums[q] if p > q else sums[size - p] - sums[size - p - c]
        of_p, of_q = core + (sums[size] - sums[size - p]), core + sums[q]
        if self.moment == "sum":
            return (of_p, one), (of_q, one)
        return (of_p, np.maximum(c + p, 1)), (of_q, np.maximum(c + q, 1))

    def core(self, group: int, c: int, p: int, q: int) -> Ranges:
        """Return the records next to Q, or next to P."""
        end = len(self.lines[group]) - p
        return ((q, q + c),) if p > q else ((end - c, end),)


class Quantile(Kernel):
    """Single quantiles: C is split into the records next to Q and those next to P."""

    def __init__(self, grouped: Grouped, most: int) -> None:
        self.ranks, self.weights, self.denominator = _ranks(grouped.query, most)
        super().__init__(grouped, most)
        self.rounded = [(line / (1 << self.shift)).astype(np.float64) for line in self.lines]

    @cached_property
    def below(self) -> int:
        """Return the common denominator of the weights, where floats hold their products."""
        return self.denominator if self.largest * self.denominator < 2**51 else 1

    @cached_property
    def error(self) -> float:
        """A bound of the error of `floats`: some units in the last place of the largest number."""
        if self.largest * self.denominator < 2**51:
            return 0.0
        return 32.0 * float(np.finfo(np.float64).eps) * self.largest / (1 << self.shift)

    def answers(self, group: int, c: Any, p: int, q: int, *, exact: bool) -> tuple[Ratios, Ratios]:
        """Return the answers on C + P and on C + Q."""
        line = self.lines[group] if exact else self.rounded[group]
        if not len(line):
            nothing = np.zeros(len(c)), np.ones(len(c))
            return nothing, nothing
        split, size = self._split(c, p, q), len(line)
        of_p = self._answer(line, c + p, (split, q, size), exact=exact)
        of_q = self._answer(line, c + q, (split + q, 0, size - p), exact=exact)
        return of_p, of_q

    def _answer(self, line: Any, size: Any, cut: tuple[Any, int, int], *, exact: bool) -> Ratios:
        """Return the answers on records that are two runs of the line.

        Parameters
        ----------
        line : ndarray
            All records of the group.
        size : ndarray of int64
            How many records are in the two runs together.
        cut : tuple
            How many are in the first run, where it starts, and where the second one ends.
        exact : bool
            As in `answers`.
        """
        first, start, stop = cut
        rank, weight = self.ranks[size], self.weights[size]
        numbers = []
        for at in (rank, rank + 1):
            places = np.where(at < first, start + at, stop - size + at)
            numbers.append(line[np.clip(places, 0, len(line) - 1)])
        whole = self.denominator
        if not exact and self.below == 1 != whole:
            weight, whole = (weight / whole).astype(np.float64), 1
        total = numbers[0] * (whole - weight) + numbers[1] * weight
        return total, np.full(len(size), whole if exact else 1, dtype=object if exact else float)

    def _split(self, c: Any, p: int, q: int) -> Any:
        """Return how many records of C are next to Q: up to the last with a negative weight."""
        split = np.zeros_like(c)
        for rank, counted in self._net(c, p, q):
            split = np.where((counted < 0) & (rank >= 0) & (rank < c), rank + 1, split)
        return split

    def _net(self, c: Any, p: int, q: int) -> list[tuple[Any, Any]]:
        """Return the ranks in C that count in an answer, ascending, and how much in f - f."""
        weights: list[tuple[Any, Any, int]] = []
        for size, below, sign in ((c + p, 0, 1), (c + q, q, -1)):
            rank, weight = self.ranks[size] - below, self.weights[size]
            weights += [(rank, self.denominator - weight, sign), (rank + 1, weight, sign)]
        every = np.sort(np.array([rank for rank, _, _ in weights]), axis=0)
        net = []
        for rank in every:
            counted = sum(np.where(at == rank, weight, 0) * sign for at, weight, sign in weights)
            net.append((rank, counted))
        return net

    def in_order(self, top: int, p: int, q: int) -> bool:
        """Tell whether negative net weights precede positive ones, for 0 to `top` records in C."""
        c = np.arange(top + 1)
        seen = np.zeros(top + 1, dtype=bool)
        for rank, counted in self._net(c, p, q):
            inside = (rank >= 0) & (rank < c)
            if (seen & inside & (counted < 0)).any():
                return False
            seen |= inside & (counted > 0)
        return True

    def core(self, group: int, c: int, p: int, q: int) -> Ranges:
        """Return the records next to Q, and those next to P."""
        split = int(self._split(np.array([c]), p, q)[0])
        end = len(self.lines[group]) - p
        return (q, q + split), (end - (c - split), end)


def _before(line: Integers) -> Integers:
    """Return the sums of all records before each position, and of all."""
    sums = np.zeros(len(line) + 1, dtype=object)
    sums[1:] = np.cumsum(line)
    return sums


def is_quantile(query: Query, most: int) -> bool:
    """Tell whether a query is a mean of two neighboring ranks at all sizes, none negative."""
    for size in range(1, most + 1):
        weights = query.weights(size)
        if not weights or len(weights) > 2:
            return False
        shares = [share for _, share in weights]
        if min(shares) < 0 or sum(shares) != 1:
            return False
        if len(weights) == 2 and weights[1][0] != weights[0][0] + 1:
            return False
    return most > 0


def _ranks(query: Query, most: int) -> tuple[Any, Any, int]:
    """Return the lower rank at every size up to `most`, the weight of the next, and its unit."""
    found = [query.weights(max(size, 1)) or () for size in range(most + 1)]
    whole = math.lcm(*(weight.denominator for weights in found for _, weight in weights))
    ranks = np.array([weights[0][0] for weights in found])
    above = [int(whole * weights[1][1]) if len(weights) == 2 else 0 for weights in found]
    return ranks, np.array(above, dtype=np.int64 if whole < 2**31 else object), whole
