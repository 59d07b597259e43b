"""How far apart the answers on two sets of records of one group can be, for all sizes at once.

The sets are C + P and C + Q, disjoint parts with c, p and q records; what is wanted is the largest
``f(C + P) - f(C + Q)``, and with p and q exchanged that of ``f(C + Q) - f(C + P)``. Which records
these are `crossing.py` tells: P is on top, Q at the bottom, and C is next to either. What is added
here are floats for all c, with a bound of their error, and the differences from an empty group
(docs/proofs.md, "Groups": *One group*).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Runs
from sensitivity_lab.search.crossing import Crossing
from sensitivity_lab.search.lattice import Floats
from sensitivity_lab.search.layouts import Positions, Ranges, SortedMultiset

from .members import Grouped, Members

_EXACT = 2**52
"""Floats hold all whole numbers up to here, and their differences."""

PIECES = 1 << 14
"""About so many pieces of a group are weighed at a time."""


class Kernel:
    """The largest differences of the answers on a group.

    Parameters
    ----------
    grouped : Grouped
        Of a query without negative weights.
    runs : Runs
        What records count in datasets of 1, 2, ... records, up to the most of a group.

    Attributes
    ----------
    error : float
        A bound of the error of `floats`; 0 where they are whole numbers without any.
    """

    def __init__(self, grouped: Grouped, runs: Runs) -> None:
        self.grouped, self._runs = grouped, runs
        # Axis 0 is the run, axis 1 the size.
        total = ((runs.stops - runs.starts) * runs.weights).sum(axis=0)
        # Where the weights add up to 1, differences do not change when a constant is taken from the
        # numbers of a group.
        centred = bool((total == runs.units).all()) and not runs.constants.any()
        centres = [_middle(group) if centred else 0 for group in grouped.groups]
        every = list(zip(grouped.groups, centres, strict=True))
        self.lines = [
            SortedMultiset(group.integers - centre, group.counts, grouped.unit)
            for group, centre in every
        ]
        ends = [
            int(group.integers[end]) - at for group, at in every if group.size for end in (0, -1)
        ]
        ends += [int((grouped.empty or 0) * grouped.unit) - at for at in centres]
        largest = max(map(abs, ends))
        self._shift = max(0, largest.bit_length() - 53)
        # All weights over one denominator, as long as the sums of their products are exact.
        most = 2 * (largest * int(np.max(-(-total // runs.units))) + int(runs.constants.max()))
        self._whole = _common(runs, _EXACT // max(1, most))
        self._alone = bool((runs.stops <= runs.starts + 1).all())
        widest = 0 if self._alone else largest * max(group.size for group in grouped.groups)
        # A column of pieces: see `Crossing.pieces`.
        self._pieces = 6 * len(runs.starts) + 1
        self._numbers = [self._rounded(group.records - centre) for group, centre in every]
        self.error = 0.0
        if not self._whole or widest > _EXACT:
            # Weights, records, each product and each sum so far are rounded, and so are sums of
            # records before a position, of which each piece takes two.
            of_sums = (
                0 if widest <= _EXACT else 2 * widest * int(np.max(-(-runs.weights // runs.units)))
            )
            rounded = self._pieces * of_sums + (self._pieces + 4) * most
            self.error = float(np.finfo(np.float64).eps) * float(
                Fraction(rounded * max(1, self._whole), 1 << self._shift)
            )

    def _rounded(self, records: Integers) -> Floats:
        """Return the records of a group as floats; where runs are long, the sums before each."""
        if not self._alone:
            records = np.cumsum(np.concatenate([np.zeros(1, dtype=object), records]))
        rounded: Floats = (records / (1 << self._shift)).astype(np.float64)
        return rounded

    @property
    def scale(self) -> Fraction:
        """What answers are multiplied by to become `floats`."""
        return Fraction(self.grouped.unit * max(1, self._whole), 1 << self._shift)

    def covers(self, top: int, p: int, q: int) -> bool:
        """Tell whether net weights cross once, for up to `top` records in C."""
        return self.grouped.query.crosses_once or all(
            pairs.crosses.all() for _, pairs in self._pairs(top, p, q)
        )

    def _pairs(self, top: int, p: int, q: int) -> Iterator[tuple[int, Crossing]]:
        """Yield what records of C + P and C + Q count for up to `top` records in C, none empty."""
        step = max(1, PIECES // self._pieces)
        for start in range(0 if p and q else 1, top + 1, step):
            core = np.arange(start, min(start + step, top + 1), dtype=np.int64)
            yield start, self._crossing(core, p, q)

    def _crossing(self, core: Positions, p: int, q: int) -> Crossing:
        """Return what records of C + P and C + Q count; what they do by size is at hand."""
        of_p, of_q = (np.full_like(core, number) for number in (p, q))
        runs_p, runs_q = (self._runs.at(core + number - 1) for number in (p, q))
        return Crossing(core, of_p, of_q, runs_p, runs_q)

    def floats(self, top: int, p: int, q: int) -> list[Floats]:
        """Return, by group, the largest f(C + P) - f(C + Q) for 0 to `top` records in C, in units.

        Minus infinity where the group has too few records, or one of the answers is none.
        """
        found = [np.full(top + 1, -np.inf) for _ in self.lines]
        # The most records that C can have; below 0 if there are none for P and Q.
        # `runs` know sizes up to the most of a group: the larger one of C + P and C + Q has to be
        # one.
        top = min(top, len(self._runs.units) - max(p, q))
        lasts = [min(top, line.size - p - q) for line in self.lines]
        for start, pairs in self._pairs(max(lasts), p, q):
            weighed = self._weighed(pairs)
            for values, numbers, last in zip(found, self._numbers, lasts, strict=True):
                number = min(last + 1 - start, len(pairs.core))
                if number > 0:
                    values[start : start + number] = weighed.at(numbers, number)
        if 0 in (p, q) and self.grouped.empty is not None:
            for group, last in enumerate(lasts):
                if last >= 0:
                    found[group][0] = float(self.exactly(group, 0, p, q) * self.scale)
        return found

    def _weighed(self, pairs: Crossing) -> _Weighed:
        """Return the pieces of some pairs in floats, for every group."""
        # As if there were no records: what lies on top has positions below 0, from the end.
        starts, stops, weights = pairs.pieces(0)
        counts = (stops > starts) & (weights != 0).astype(bool)
        some = counts.any(axis=1)
        counts, starts, stops, weights = (of[some] for of in (counts, starts, stops, weights))
        weights = weights * (self._whole // pairs.below) if self._whole else weights / pairs.below
        return _Weighed(
            np.where(counts, starts, 0),
            None if self._alone else np.where(counts, stops, 0),
            np.where(counts, weights, 0).astype(np.float64),
            (pairs.constant * float(self.scale)).astype(np.float64),
        )

    def exactly(self, group: int, c: int, p: int, q: int) -> Fraction:
        """Return the largest f(C + P) - f(C + Q) exactly."""
        line = self.lines[group]
        if 0 in (c + p, c + q):
            records = self.grouped.groups[group].records
            return self._answer(records[line.size - p :]) - self._answer(records[:q])
        pairs = self._crossing(np.array([c], dtype=np.int64), p, q)
        return Fraction(int(pairs.above(line, line.size)[0]), int(pairs.below[0]) * line.unit)

    def _answer(self, records: Integers) -> Fraction:
        """Return the exact answer on some records of a group, perhaps none."""
        if not len(records):
            return self.grouped.empty or Fraction(0)
        runs, size = self._runs, len(records) - 1
        columns = (of[:, size].tolist() for of in (runs.starts, runs.stops, runs.weights))
        total = sum(
            weight * int(records[start:stop].sum())
            for start, stop, weight in zip(*columns, strict=True)
        )
        below = int(runs.units[size]) * self.grouped.unit
        return Fraction(total + int(runs.constants[size]) * below, below)

    def core(self, group: int, c: int, p: int, q: int) -> Ranges:
        """Return the positions of C: the records next to Q, and those next to P."""
        # Without C there is nothing to split, and an empty dataset has no runs.
        split = int(self._crossing(np.array([c], dtype=np.int64), p, q).split[0]) if c else 0
        end = self.lines[group].size - p
        return (q, q + split), (end - (c - split), end)


class _Weighed(NamedTuple):
    """Pieces of records in floats, as of `Crossing.pieces`; without `stops`, of one record each."""

    starts: Positions
    stops: Positions | None
    weights: Floats
    constants: Floats

    def at(self, numbers: Floats, number: int) -> Floats:
        """Return the weighted sums of the first so many columns, with the numbers of a group."""
        starts, weights = self.starts[:, :number], self.weights[:, :number]
        if self.stops is None:
            of_pieces = numbers[starts]
        else:
            # From the end: a stop of 0 is that of all records, behind a start below 0.
            end = (starts < 0) * (len(numbers) - 1)
            of_pieces = numbers[self.stops[:, :number] + end] - numbers[starts + end]
        total: Floats = (weights * of_pieces).sum(axis=0)
        return total + self.constants[:number]


def _middle(group: Members) -> int:
    return int(group.integers[len(group.integers) // 2]) if group.size else 0


def _common(runs: Runs, most: int) -> int:
    """Return the common denominator of all weights; 0 if it is larger than a number."""
    whole = 1
    for unit in np.unique(runs.units).tolist():
        whole = math.lcm(whole, unit)
        if whole > most:
            return 0
    return whole


def covered(query: Query, most: int) -> bool:
    """Tell whether a query is a count, a sum, a mean, or a mean of two neighboring ranks.

    Of weights by rank none is negative, and they add up to 1, at all sizes up to the most.
    """
    if query.moment in ("mean", "sum", "count"):
        return True
    # The smallest sizes first: weights of very many ranks are never listed.
    starts = [1 << power for power in range(most.bit_length())]
    sizes = (np.arange(start, min(2 * start, most + 1), dtype=np.int64) for start in starts)
    return all(_of_two_ranks(query.runs(some)) for some in sizes)


def _of_two_ranks(runs: Runs | None) -> bool:
    """Tell whether weights, none of them negative, add up to 1 at one rank or two neighbors."""
    if runs is None or (runs.weights < 0).any():
        return False
    some = (runs.stops > runs.starts) & (runs.weights != 0).astype(bool)
    beyond = np.iinfo(np.int64).max
    firsts = np.where(some, runs.starts, beyond).min(axis=0, initial=beyond)
    lasts = np.where(some, runs.stops, 0).max(axis=0, initial=0)
    total = ((runs.stops - runs.starts) * runs.weights).sum(axis=0)
    return bool(np.all(total == runs.units) and np.all(lasts - firsts <= 2))
