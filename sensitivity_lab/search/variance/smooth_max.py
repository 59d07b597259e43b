"""Exact smooth search for the variance under replacement: pairs with a common centre.

A pair of neighbors is ``X = C + p`` and ``Y = C + q``, where X has the larger variance. Of C only
the sum S matters, since n times the squared deviations of X and Y differ by

    (p - q) ((n - 1) (p + q) - 2 S).

One *side* looks at the pairs with p above the mean of C, hence above q; the other side is its
mirror image, all records times -1. Records are those of x and the *new* ones that x has not: two
*kinds*. Exchanges within a kind do not change how far X and Y are from x. So p is the largest of
its kind, and C has the smallest of each kind, without p and q. What is left is q, the nearest of
its kind to one place, from above or from below. See docs/proofs.md, "Smooth sensitivity: the
variance, under replacement".

In all arrays the row is a distance from x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem, SmoothProblem
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Options,
    Plan,
    Refusal,
    furthest,
)
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_int, of_pairs
from sensitivity_lab.search.rising import rising
from sensitivity_lab.search.sorted_records import Positions
from sensitivity_lab.universes.multiplicities import Multiplicities, largest, smallest
from sensitivity_lab.universes.relations import Bounded
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS
from .local_max import both_ends

AnyIntegers = NDArray[Any]
"""Exact integers: int64 where these are long enough, else Python ints."""

AT_ONCE = 1024
"""So many distances are searched together."""


class SmoothVariance:
    """The engine: exact for the variance, any ddof, under replacement.

    Notes
    -----
    Let m be the number of distinct values of the universe, and T the number of distances up to the
    last one that can matter, at most the size n: O(T log m) steps, and O(m) memory.
    """

    name = "variance"
    kind: Kind = "smooth"
    covers = COVERS
    reach = "bounded, for var"

    def plan(self, problem: SmoothProblem, options: Options) -> Plan[LocalMaxima] | Refusal:
        """Plan the search; refuse other queries, roots, and adding or removing."""
        query = problem.query
        if query.moment != "variance":
            return Refusal.of_query(self.name, self.covers, query.name)
        if query.root:
            return Refusal(
                f"{self.name} covers the smooth sensitivity of var, not of {query.name}, whose "
                "pairs have no common centre; release the variance and take the root of the noisy "
                "one, or add noise for the global sensitivity"
            )
        if not problem.replace:
            return Refusal(
                f"{self.name} covers the smooth sensitivity of {query.name} for the bounded "
                "relation only: for adding and removing no list of patterns is proved; use "
                "neighbors='bounded', or noise for the global sensitivity over all sizes"
            )
        integers, values = IntegerBytes.of(problem.universe), len(problem.x)
        # On each of two sides: values, counts, ends and sums of two kinds.
        number = of_int(integers.bits) + of_int(integers.bits + problem.size.bit_length())
        held = integers.kept + 2 * (number + 4 * WORD)
        rows = 60 * AT_ONCE * of_int(2 * integers.bits + problem.size.bit_length() + 4)
        memory = max(integers.peak + integers.kept, held) * values + rows
        return Plan(partial(_solve, problem, options.progress), Cost(memory + of_pairs(problem)))


def _solve(problem: SmoothProblem, progress: bool | None) -> LocalMaxima:
    """Return the local maxima up to the distance at which the problem stops, or the last one."""
    size, ddof = problem.size, Fraction(problem.query.ddof)
    if size == 1:
        return _of_one(problem)
    integers, unit = of_numbers(problem.universe).integers
    values: AnyIntegers = integers - integers[len(integers) // 2]
    apart = int(integers[-1] - integers[0])
    outside = problem.universe.multiplicities(size + 1) - problem.x
    # No intermediate result is larger: with all records at most `apart` from 0, S <= n apart.
    if 8 * (size + 1) * apart**2 < 2**62 and apart * int((problem.x + outside).sum()) < 2**62:
        values = values.astype(np.int64)
    last = min(size, int(outside.sum()))
    sides = [_OneSide.of(problem, values, outside, upward=up) for up in (True, False)]
    # What n times the squared deviations of n records are divided by.
    divisor = size * (size - ddof) * unit**2
    # With M the mean of C, the difference is (n - 1)/n ((p - M)^2 - (q - M)^2).
    bound = Difference((size - 1) * apart**2 / divisor, Fraction(0))
    with running.counter("distances", progress, last + 1) as count:

        def found() -> Iterator[LocalMaximumAtDistance | None]:
            """Yield for each distance the furthest pair; None if one at a smaller is as far."""
            best = -1
            for start in range(0, last + 1, AT_ONCE):
                distances = np.arange(start, min(start + AT_ONCE, last + 1))
                of_sides = [side.furthest(distances) for side in sides]
                for row, distance in enumerate(distances.tolist()):
                    pair = max((of[row] for of in of_sides), key=lambda one: one.gap)
                    count(1)
                    if pair.gap <= best:
                        yield None
                        continue
                    best = pair.gap
                    real = Difference(best / divisor, Fraction(0))
                    yield LocalMaximumAtDistance(distance, real, pair.datasets)

        return rising(problem, found(), bound)


def _of_one(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maximum where datasets have one record: all variances are 0."""
    at_x = LocalProblem(problem.universe, problem.query, Bounded(1), problem.x)
    finding = furthest(at_x, both_ends(at_x))
    nothing = Difference(Fraction(0), Fraction(0))
    first = LocalMaximumAtDistance(0, nothing, lambda: (finding.x, finding.y))
    return LocalMaxima((first,), 0, 0)


@dataclass(frozen=True, eq=False)
class _Line:
    """The records of one kind in ascending order, by position, with exact sums.

    Positions count records, not values: a value with three copies has three of them.

    Attributes
    ----------
    counts : ndarray of int64, shape (m,)
        How many records of each value of the universe there are.
    values : ndarray of integers, shape (some,)
        The values that occur, ascending.
    starts : ndarray of int64, shape (some + 1,)
        Where the records of each value begin, and how many records there are in all.
    before : ndarray of integers, shape (some + 1,)
        The sum of all records before those of a value.
    """

    counts: Multiplicities
    values: AnyIntegers
    starts: Positions
    before: AnyIntegers

    @classmethod
    def of(cls, values: AnyIntegers, counts: Multiplicities) -> _Line:
        """Make it for the values of a universe, ascending."""
        some = np.flatnonzero(counts)
        held, number = values[some], counts[some]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(number)])
        sums = np.concatenate([np.zeros(1, dtype=held.dtype), np.cumsum(held * number)])
        return cls(counts, held, starts, sums)

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.starts[-1])

    def record(self, positions: Positions) -> AnyIntegers:
        """Return the records at positions; the largest where records end."""
        places = self.starts[1:].searchsorted(positions, side="right")
        return self.values.take(places, mode="clip")

    def first(self, least: AnyIntegers) -> Positions:
        """Return the position of the first record that is not below a number."""
        return self.starts[self.values.searchsorted(least)]

    def sums(self, lengths: Positions) -> AnyIntegers:
        """Return the sums of the smallest records, so many of them."""
        places = self.starts[1:].searchsorted(lengths, side="right")
        inside = (lengths - self.starts[places]).astype(self.values.dtype)
        found: AnyIntegers = self.before[places]
        return found + inside * self.values.take(places, mode="clip") if len(self.values) else found


class _Kind(NamedTuple):
    """A kind of pair: whether p and q are new records, and what is a window of the smallest.

    `inside` tells whether the smallest records of each kind are ``C + q``; else they are C. They
    have `more` new records than the distance.
    """

    p_is_new: bool
    q_is_new: bool
    inside: bool
    more: int


_KINDS = (
    _Kind(False, False, False, 0),  # X has the new records of C: it is the nearer one
    _Kind(False, True, False, 0),
    _Kind(False, False, True, 0),  # C + q has no more new records than C
    _Kind(False, True, True, 1),  # C + q has q more than X
    _Kind(True, False, False, 0),  # Y has the new records of C: it is the nearer one
    _Kind(True, True, False, -1),  # X and Y both have one more than C
    _Kind(True, False, True, 0),  # C + q is Y, and X has no fewer
    _Kind(True, True, True, 0),
)
"""X has a new record more than C if p is new, Y if q is; the distance is that of the one with fewer
new records. A kind says how many C, or C + q, has at a distance."""


class _Pair(NamedTuple):
    """A pair: n times the squared deviations of X less those of Y, and what it is made of."""

    gap: int
    side: _OneSide
    kind: _Kind
    distance: int
    q: int

    def datasets(self) -> tuple[Multiplicities, Multiplicities]:
        """Return the one of X and Y that is nearer to x, and the other one."""
        side, kind, new = self.side, self.kind, self.distance + self.kind.more
        of_x, of_new = side.of_x.counts, side.of_new.counts
        size = side.problem.size if kind.inside else side.problem.size - 1
        core = smallest(of_x, size - new) + smallest(of_new, new)
        of_q = of_new if kind.q_is_new else of_x
        q = smallest(of_q, self.q + 1) - smallest(of_q, self.q)
        p = largest(of_new if kind.p_is_new else of_x, 1)
        core = core - q if kind.inside else core
        one, other = core + p, core + q
        # On the other side values are times -1, hence in reverse order.
        if not side.upward:
            one, other = one[::-1], other[::-1]
        near = side.problem.distances([one])[0] <= self.distance
        return (one, other) if near else (other, one)


@dataclass(frozen=True, eq=False)
class _OneSide:
    """The search for pairs with p above the mean of C."""

    problem: SmoothProblem
    of_x: _Line
    of_new: _Line
    upward: bool

    @classmethod
    def of(
        cls, problem: SmoothProblem, values: AnyIntegers, outside: Multiplicities, *, upward: bool
    ) -> _OneSide:
        """Make one of the sides; `outside` are the new records."""
        kinds = (problem.x, outside)
        if not upward:
            values, kinds = -values[::-1], (problem.x[::-1], outside[::-1])
        return cls(problem, _Line.of(values, kinds[0]), _Line.of(values, kinds[1]), upward)

    def furthest(self, distances: Positions) -> list[_Pair]:
        """Return the furthest pair at each distance; its gap is -1 if there is none."""
        best = np.full(len(distances), -1, dtype=self.of_x.values.dtype)
        kinds, places = np.zeros((2, len(distances)), dtype=np.int64)
        for number, kind in enumerate(_KINDS):
            for q, gap in self._pairs(kind, distances):
                better = (gap > best).astype(bool)
                best = np.where(better, gap, best)
                kinds, places = np.where(better, number, kinds), np.where(better, q, places)
        return [
            _Pair(int(gap), self, _KINDS[kind], distance, q)
            for gap, kind, distance, q in zip(
                best.tolist(), kinds.tolist(), distances.tolist(), places.tolist(), strict=True
            )
        ]

    def _pairs(self, kind: _Kind, distances: Positions) -> Iterator[tuple[Positions, AnyIntegers]]:
        """Yield positions of q, and the gaps of their pairs; -1 where there is no such pair."""
        n = self.problem.size
        of_p, of_q = (self.of_new if new else self.of_x for new in (kind.p_is_new, kind.q_is_new))
        new = distances + kind.more
        kept = (n if kind.inside else n - 1) - new
        # p is in no window: its kind has a record less.
        fits = (new >= 0) & (kept >= 0)
        for line, length in ((self.of_x, kept), (self.of_new, new)):
            fits &= length <= line.size - (line is of_p)
        if not fits.any():
            return
        kept, new = np.where(fits, kept, 0), np.where(fits, new, 0)
        length, limit = new if kind.q_is_new else kept, of_q.size - (of_q is of_p)
        total = self.of_x.sums(kept) + self.of_new.sums(new)
        p = of_p.values[-1]
        # With q outside the windows, the gap is largest for the q nearest to the mean of C; with q
        # inside, for the nearest to (p + S + q) / (n + 1).
        first = of_q.first(-(-(total + p) // (n + 1)) if kind.inside else -(-total // (n - 1)))
        # From above, the first one that is not in a window where it may not be; from below, none is
        # below the window.
        for q in (first, first - 1) if kind.inside else (np.maximum(first, length), first - 1):
            if kind.inside:
                place, valid = np.clip(q, 0, np.maximum(length - 1, 0)), length > 0
            else:
                place, valid = q, (q >= length) & (q < limit)
            record = of_q.record(np.maximum(place, 0)) if of_q.size else total * 0
            sums = total - record if kind.inside else total
            gap = (p - record) * ((n - 1) * (p + record) - 2 * sums)
            yield place, np.where(fits & valid, gap, -1)
