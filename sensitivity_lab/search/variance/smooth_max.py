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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.problem import Kind, SmoothProblem
from sensitivity_lab.running import tracked
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Options,
    Plan,
    Refusal,
)
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_int, of_pairs
from sensitivity_lab.search.rising import rising
from sensitivity_lab.search.sorted_records import Positions, SortedMultiset
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS

AT_ONCE = 1024
"""So many distances are searched together."""

Pair = tuple[Multiplicities, Multiplicities]
"""The one of X and Y that is nearer to x, and the other one."""


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
        integers = IntegerBytes.of(problem.universe)
        sums = of_int(integers.bits + problem.size.bit_length())
        # On each of two sides: values, and the bounds, sums and terms of two kinds.
        held = integers.kept + 2 * of_int(integers.bits) + 5 * sums + 10 * WORD
        rows = 60 * AT_ONCE * of_int(2 * integers.bits + problem.size.bit_length() + 4)
        memory = max(integers.peak + integers.kept, held) * len(problem.x) + rows
        return Plan(partial(_solve, problem, options.progress), Cost(memory + of_pairs(problem)))


def _solve(problem: SmoothProblem, progress: bool | None) -> LocalMaxima:
    """Return the local maxima up to the distance at which the problem stops, or the last one."""
    size = problem.size
    integers, unit = of_numbers(problem.universe).integers
    values = integers - integers[len(integers) // 2]
    outside = problem.universe.multiplicities(size + 1) - problem.x
    last = min(size, int(outside.sum()))
    # On the other side values are times -1, hence in reverse order.
    sides = [
        _OneSide(
            problem,
            step,
            *(SortedMultiset(step * values[::step], of[::step]) for of in (problem.x, outside)),
        )
        for step in (1, -1)
    ]
    # What n times the squared deviations of n records are divided by.
    divisor = size * (size - Fraction(problem.query.ddof)) * unit**2

    def difference(gap: int) -> Difference:
        return Difference(gap / divisor, Fraction(0))

    def found() -> Iterator[LocalMaximumAtDistance]:
        """Yield for each distance the furthest pair."""
        for distance in tracked(range(last + 1), unit="distances", progress=progress):
            row = distance % AT_ONCE
            if row == 0:
                distances = np.arange(distance, min(distance + AT_ONCE, last + 1))
                of_sides = [list(side.furthest(distances)) for side in sides]
            gap, pair = max((of[row] for of in of_sides), key=itemgetter(0))
            yield LocalMaximumAtDistance(distance, difference(gap), pair)

    # With M the mean of C, the difference is (n - 1)/n ((p - M)^2 - (q - M)^2).
    return rising(problem, found(), difference((size - 1) * int(values[-1] - values[0]) ** 2))


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


@dataclass(frozen=True, eq=False)
class _OneSide:
    """The search for pairs with p above the mean of C, among records times `sign`.

    `of_x` are the records of x, and `of_new` those that x has not: there are some of both.
    """

    problem: SmoothProblem
    sign: int
    of_x: SortedMultiset
    of_new: SortedMultiset

    def furthest(self, distances: Positions) -> Iterator[tuple[int, Callable[[], Pair]]]:
        """Yield for each distance n times the difference of the furthest pair, and the pair.

        The difference is negative if there is no pair.
        """
        found = [(kind, *one) for kind in _KINDS for one in self._pairs(kind, distances)]
        best = np.array([gap for _, _, gap in found]).argmax(axis=0)
        for row, (distance, place) in enumerate(
            zip(distances.tolist(), best.tolist(), strict=True)
        ):
            kind, q, gap = found[place]
            yield gap[row], partial(self._datasets, kind, distance, int(q[row]))

    def _windows(self, kind: _Kind, distance: Any) -> tuple[Any, Any]:
        """Return how many of the smallest records of x and of the new ones C, or C + q, has."""
        new = distance + kind.more
        return self.problem.size - (not kind.inside) - new, new

    def _pairs(self, kind: _Kind, distances: Positions) -> Iterator[tuple[Positions, Integers]]:
        """Yield positions of q, and the gaps of their pairs; -1 where there is no such pair."""
        n, lines = self.problem.size, (self.of_x, self.of_new)
        of_p, of_q = lines[kind.p_is_new], lines[kind.q_is_new]
        kept, new = self._windows(kind, distances)
        total, p = self.of_x.total(kept) + self.of_new.total(new), of_p.record(of_p.size - 1)
        # With q outside the windows, the gap is largest for the q nearest to the mean of C; with q
        # inside, for the nearest to (p + S + q) / (n + 1). A single record has no gap anywhere.
        length = new if kind.q_is_new else kept
        if kind.inside:
            low, high, first = 0, length, of_q.first(-(-(total + p) // (n + 1)))
        else:
            low, high = length, of_q.size - (of_q is of_p)
            first = of_q.first(-(-total // max(n - 1, 1)))
        fits = low < high
        # p is in no window: its kind has a record less.
        for line, of_line in zip(lines, (kept, new), strict=True):
            fits &= (of_line >= 0) & (of_line <= line.size - (line is of_p))
        # The nearest from above and from below; where it may not be, the next one that may.
        for nearest in (first, first - 1):
            q = np.clip(nearest, low, high - 1)
            record = of_q.record(q)
            sums = total - record if kind.inside else total
            gap = (p - record) * ((n - 1) * (p + record) - 2 * sums)
            yield q, np.where(fits, gap, -1)

    def _datasets(self, kind: _Kind, distance: int, q: int) -> Pair:
        """Return a pair of a kind, by the position of q."""
        lines, windows = (self.of_x, self.of_new), self._windows(kind, distance)
        of_p, of_q = lines[kind.p_is_new], lines[kind.q_is_new]
        core = sum(
            line.multiplicities(((0, length),)) for line, length in zip(lines, windows, strict=True)
        )
        only_y = of_q.multiplicities(((q, q + 1),))
        core = core - only_y if kind.inside else core
        x, y = core + of_p.multiplicities(((of_p.size - 1, of_p.size),)), core + only_y
        x, y = x[:: self.sign], y[:: self.sign]
        near = self.problem.distances([x])[0] <= distance
        return (x, y) if near else (y, x)
