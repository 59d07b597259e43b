"""Exact local search for variance and standard deviation: x fixed, y any of its neighbors.

The answer on x is fixed, so it is enough to find the largest and the smallest variance of y for
each change, removing A from x and adding B. Where it is largest, A is a window of x and B the two
ends of what is outside; where it is smallest, y holds what is nearest to its own mean: A is the two
ends of x and B a window of what is outside (docs/proofs.md). All arithmetic is in exact integers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries.power_sums import of_power_sums
from sensitivity_lab.search.engine import Finding, Options, Plan, Refusal, best_neighbor
from sensitivity_lab.search.sorted_records import Positions, Ranges, SortedMultiset
from sensitivity_lab.universes.multiplicities import Multiplicities

from .global_max import COVERS


class LocalVariance:
    """The engine: exact for variance and standard deviation, any ddof, under every relation.

    Notes
    -----
    For a change of i removed and j added records, O(j log n) exact operations for the largest
    variance, and for the smallest one as many as there are windows whose midpoint can be the mean
    of y: a few for small changes, at most i + N - n. Memory: some 300 bytes per distinct value.
    """

    name = "variance"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries."""
        if problem.query.moment != "variance":
            return Refusal.of_query(self.name, self.covers, problem.query.name)
        return Plan(partial(_solve, problem))


def _solve(problem: LocalProblem) -> Finding:
    return best_neighbor(problem, _candidates(problem))


class _Choice(NamedTuple):
    """A neighbor: ranges of positions removed from x and added from outside, and its sums.

    Its variance grows with ``m squares - total**2`` for m records.
    """

    total: int
    squares: int
    removed: Ranges
    added: Ranges


def _candidates(problem: LocalProblem) -> Iterator[tuple[Difference, Multiplicities]]:
    """Yield the neighbors with the largest and the smallest variance of every change."""
    integers, unit = problem.universe.integers
    centred = integers - integers[len(integers) // 2]
    inside, outside = (SortedMultiset(centred, of) for of in (problem.x, problem.outside))
    query = problem.query
    total, squares = _all(inside)
    of_x = of_power_sums(query, inside.size, total, squares, unit)
    for removed, added in problem.changes:
        size = inside.size - removed + added
        for choose in (_most_spread, _least_spread):
            choice = choose(inside, outside, removed, added)
            removing = inside.multiplicities(choice.removed)
            y = problem.x - removing + outside.multiplicities(choice.added)
            of_y = of_power_sums(query, size, choice.total, choice.squares, unit)
            yield Difference(of_x, of_y, query.root), y


def _all(records: SortedMultiset) -> tuple[int, int]:
    """Return the sum and the sum of squares of all records."""
    return records.total(records.size), records.total(records.size, power=2)


def _sums(records: SortedMultiset, start: Positions, stop: Positions) -> Integers:
    """Return the sums and the sums of squares from each start to its stop, shape (2, starts)."""
    return np.array([records.total(stop, power) - records.total(start, power) for power in (1, 2)])


def _most_spread(
    inside: SortedMultiset, outside: SortedMultiset, removed: int, added: int
) -> _Choice:
    """Return the neighbor with the largest variance: a window removed, the two ends added."""
    size = inside.size - removed + added
    low = np.arange(added + 1)  # how many of the added records are the smallest ones outside
    high = outside.size - (added - low)
    ends = _sums(outside, np.zeros_like(low), low)
    ends = ends + _sums(outside, high, np.full_like(high, outside.size))
    ends = ends + np.array(_all(inside), dtype=object)[:, None]
    start = _first_window(inside, removed, size, ends[0])
    sums = ends - _sums(inside, start, start + removed)
    deviations = size * sums[1] - sums[0] ** 2
    best = int(np.argmax(deviations))
    window = (int(start[best]), int(start[best]) + removed)
    parts = ((0, int(low[best])), (int(high[best]), outside.size))
    return _Choice(int(sums[0][best]), int(sums[1][best]), (window,), parts)


def _first_window(inside: SortedMultiset, removed: int, size: int, sums: Integers) -> Positions:
    """Return, for each sum of x and what is added, the best window to remove.

    Moving the window up by one puts the record r back for s, and gains as long as
    ``(size - 1) r + (size + 1) s < 2 (sum of y)``; the left side rises and the right side falls.
    """
    low = np.zeros(len(sums), dtype=np.int64)
    if removed == 0:
        return low
    high = np.full(len(sums), inside.size - removed)
    while (low < high).any():
        middle = (low + high) // 2
        back, gone = inside.record(middle), inside.record(middle + removed)
        of_y = sums - (inside.total(middle + removed) - inside.total(middle))
        stop = ((size - 1) * back + (size + 1) * gone >= 2 * of_y).astype(bool) | (low == high)
        low, high = np.where(stop, low, middle + 1), np.where(stop, middle, high)
    return low


class _Windows(NamedTuple):
    """The windows of some length of sorted records, as a mean moves up from one to the next.

    The records nearest to a number z are those of the first window whose `edge` is at least 2 z.
    """

    records: SortedMultiset
    length: int

    @property
    def number(self) -> int:
        return self.records.size - self.length + 1 if self.length else 1

    def edge(self, place: int) -> int:
        """Return twice the number at which the next window becomes nearer."""
        return self.records.record(place) + self.records.record(place + self.length)

    def between(
        self, size: int, lowest: int, highest: int, first: int, last: int
    ) -> tuple[int, int]:
        """Return the windows, among some, that are nearest to a mean with such a doubled sum."""

        def edge(place: int) -> int:
            return size * self.edge(place)

        return (
            bisect_left(range(last), lowest, lo=first, key=edge),
            bisect_right(range(last), highest, lo=first, key=edge),
        )

    def total(self, place: int) -> int:
        return self.records.total(place + self.length) - self.records.total(place)


def _least_spread(
    inside: SortedMultiset, outside: SortedMultiset, removed: int, added: int
) -> _Choice:
    """Return the neighbor with the smallest variance: y holds what is nearest to its mean.

    `kept` and `new` are the records of y from x and from outside, both windows. All pairs of
    windows are compared that are nearest to one number, which can be the mean of y.
    """
    size = inside.size - removed + added
    kept, new = _Windows(inside, inside.size - removed), _Windows(outside, added)
    (first, last), (start, stop) = _reachable(kept, new, size)
    edges_kept = inside.record(np.arange(first, last)) + inside.record(
        np.arange(first, last) + kept.length
    )
    edges_new = outside.record(np.arange(start, stop)) + outside.record(
        np.arange(start, stop) + new.length
    )
    # Both windows move up as the number does: step by step, in the order of their edges.
    order = np.argsort(np.concatenate([edges_kept, edges_new]), kind="stable")
    moves = np.concatenate([[0], np.cumsum(order < len(edges_kept))])
    of_kept = first + moves
    of_new = start + np.arange(len(moves)) - moves
    sums = _sums(inside, of_kept, of_kept + kept.length)
    sums = sums + _sums(outside, of_new, of_new + new.length)
    deviations = size * sums[1] - sums[0] ** 2
    best = int(np.argmin(deviations))
    left, right = int(of_kept[best]), int(of_kept[best]) + kept.length
    window = (int(of_new[best]), int(of_new[best]) + new.length)
    return _Choice(
        int(sums[0][best]), int(sums[1][best]), ((0, left), (right, inside.size)), (window,)
    )


def _reachable(kept: _Windows, new: _Windows, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first and last windows that can be nearest to the mean of y.

    Any windows bound the sum of y, hence its mean, hence the windows; until nothing is gained.
    """
    ranges = [(0, windows.number - 1) for windows in (kept, new)]
    while True:
        lowest, highest = (
            2 * sum(w.total(ends[end]) for w, ends in zip((kept, new), ranges, strict=True))
            for end in (0, 1)
        )
        closer = [
            windows.between(size, lowest, highest, *ends)
            for windows, ends in zip((kept, new), ranges, strict=True)
        ]
        if closer == ranges:
            return closer[0], closer[1]
        ranges = closer
