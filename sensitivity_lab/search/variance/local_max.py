"""Exact local search for variance and standard deviation: x fixed, y any of its neighbors.

The answer on x is fixed. So it is enough to find the largest and the smallest variance of y for
each change, which removes A from x and adds B. Where the variance is largest, A is a window of x
and B the two ends of what is outside x. Where it is smallest, y has the records nearest to its own
mean: A is the two ends of x and B a window of what is outside. See docs/proofs.md, "Local
sensitivity: variance and standard deviation". All arithmetic is in exact integers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries.moments import of_moments
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Options,
    Plan,
    Refusal,
    local_plan,
)
from sensitivity_lab.search.layouts import (
    WORD,
    IntegerBytes,
    Positions,
    Ranges,
    SortedMultiset,
    bytes_of_int,
    bytes_of_pairs,
    first_of,
)
from sensitivity_lab.universes.relations import Multiplicities, RemovedAdded
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS
from .local_bounds import BYTES_OF_VALUE, ChangeBounds, bytes_of_rows, numbered

AT_ONCE = 1 << 14
"""So many neighbors are compared at a time."""

FEW = 4
"""The ends of so few changes are simply all searched."""

MAX_STEPS = 300_000_000
"""The most exact operations for the largest variances; that takes some minutes."""


class LocalVariance:
    """The engine: exact for variance and standard deviation, any ddof, under every relation.

    Notes
    -----
    Floats bound the ends of all changes at once, so that only those are searched which may move an
    end. A change of i removed and j added records takes O(j log n) exact operations for the largest
    variance. The smallest variance takes one per window whose midpoint can be the mean of y: a few
    for small changes, at most i + N - n. Memory: some 400 bytes per distinct value.
    """

    name = "variance"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries."""
        if problem.query.moment != "variance":
            return Refusal.of_query(self.name, self.covers, problem.query.name)
        # A split of the added records takes a bisection over the windows of x.
        splits = sum(added + 1 for _, added in problem.changes)
        steps = splits * problem.size.bit_length()
        if steps > MAX_STEPS:
            return Refusal(
                f"{self.name} would take {steps:,} steps, more than {MAX_STEPS:,}; choose a "
                "smaller distance",
                too_large=True,
            )
        ends = partial(furthest_ends, problem, options.progress)
        return local_plan(problem, ends, Cost(_bytes(problem)))


def _bytes(problem: LocalProblem) -> int:
    """Return what the search needs: both parts of the universe with two sums, and the windows."""
    integers, size = IntegerBytes.of(problem.universe), problem.size
    squares = bytes_of_int(2 * integers.bits + size.bit_length())
    sums = bytes_of_int(integers.bits + size.bit_length()) + squares
    held = 2 * integers.kept + 2 * sums + bytes_of_int(2 * integers.bits) + 5 * WORD
    windows = int(problem.outside.sum()) + max(removed for removed, _ in problem.changes)
    least = windows * (4 * WORD) if problem.changes else 0
    rows = min(AT_ONCE, windows) * 8 * bytes_of_int(2 * integers.bits + 2 * size.bit_length())
    if len(problem.changes) > FEW:
        held += BYTES_OF_VALUE
        rows = max(rows, bytes_of_rows(len(problem.changes)))
    return max(integers.peak, held) * len(problem.x) + least + rows + bytes_of_pairs(problem)


class _Choice(NamedTuple):
    """A neighbor: ranges of positions removed from x and added from outside, and its sums.

    `total` and `squares` are the sums of the records of y and of their squares. Of neighbors with m
    records, the one with the larger ``m squares - total**2`` has the larger variance.
    """

    total: int
    squares: int
    removed: Ranges
    added: Ranges


def both_ends(problem: LocalProblem) -> BothEnds:
    """Return the variance of x, and the smallest and the largest one of every change."""
    search = _FixedX(problem)
    of_changes = (
        Ends(*change, search.end(change, -1), search.end(change, 1)) for change in problem.changes
    )
    return BothEnds(search.of_x, of_changes)


def furthest_ends(problem: LocalProblem, progress: bool | None) -> BothEnds:
    """Return the variance of x, and the ends of changes that move one; see `BothEnds`."""
    if len(problem.changes) <= FEW:
        return both_ends(problem)
    search = _FixedX(problem)
    return BothEnds(search.of_x, search.moves(progress))


class _FixedX:
    """The records of x and those outside it, and the neighbors that changes lead to."""

    def __init__(self, problem: LocalProblem) -> None:
        integers, self.unit = of_numbers(problem.universe).integers
        centred = integers - integers[len(integers) // 2]
        self.problem, self.ddof = problem, Fraction(problem.query.ddof)
        self.inside, self.outside = (
            SortedMultiset(centred, of) for of in (problem.x, problem.outside)
        )
        self.of_x = of_moments(problem.query, self.inside.size, *_all(self.inside), self.unit)

    def size(self, change: RemovedAdded) -> int:
        """Return how many records a neighbor has."""
        return self.inside.size - change[0] + change[1]

    def end(self, change: RemovedAdded, sign: int) -> End:
        """Return the neighbor with the largest variance (1) or the smallest one (-1)."""
        search = _largest_variance if sign > 0 else _smallest_variance
        choice = search(self.inside, self.outside, *change)
        answer = of_moments(
            self.problem.query, self.size(change), choice.total, choice.squares, self.unit
        )
        return End(answer, partial(_neighbor, self.problem, self.inside, self.outside, choice))

    def moves(self, progress: bool | None) -> Iterator[Ends]:
        """Yield changes that move an end, with that end in place of both.

        Floats bound how far; where the bound is not beyond what was found, or that is the furthest
        possible answer, the change is left out. See "Local sensitivity: variance and standard
        deviation" in docs/proofs.md, *Which changes matter*.
        """
        changes = self.problem.changes
        level = numbered(self.problem.neighbors.levels(changes))
        held = np.flatnonzero(self.problem.x + self.problem.outside)
        ends = self.inside.values[held[[0, -1]]].tolist()
        scale, width = max(1, *map(abs, ends)), ends[1] - ends[0]
        free = np.array([float(self.size(change) - self.ddof) for change in changes])
        bounds = ChangeBounds(self.inside, self.outside, np.array(changes), free, level, scale)
        best: dict[int, Fraction] = {}
        with running.counter("changes", progress, len(changes)) as done:
            levels = zip(bounds.contenders(1), bounds.contenders(-1), strict=True)
            for number, found in zip(np.bincount(level).tolist(), levels, strict=True):
                for sign, contenders in zip((1, -1), found, strict=True):
                    for row, bound in contenders:
                        if sign in best and self._is_reached(
                            best[sign], sign, changes[row], bound, width, scale
                        ):
                            continue
                        end = self.end(changes[row], sign)
                        if sign not in best or sign * (end.answer - best[sign]) > 0:
                            best[sign] = end.answer
                            yield Ends(*changes[row], end, end)
                done(number)

    def _is_reached(
        self, best: Fraction, sign: int, change: RemovedAdded, bound: float, width: int, scale: int
    ) -> bool:
        """Tell whether no neighbor by a change is beyond the best one."""
        # Bounds are of records over the largest one: the best answer is brought to that unit.
        reached = sign * float(best * self.unit**2 / scale**2)
        if bound < reached - abs(reached) * 2.0**-50:
            return True
        size = self.size(change)
        # Half of the records at either end: no more spread is possible.
        most = Fraction(width**2 * (size // 2) * ((size + 1) // 2), size * self.unit**2)
        return best >= most / (size - self.ddof) if sign > 0 else not best


def _neighbor(
    problem: LocalProblem, inside: SortedMultiset, outside: SortedMultiset, choice: _Choice
) -> Multiplicities:
    """Return a neighbor by multiplicities."""
    removed, added = inside.multiplicities(choice.removed), outside.multiplicities(choice.added)
    found: Multiplicities = problem.x - removed + added
    return found


def _all(records: SortedMultiset) -> tuple[int, int]:
    """Return the sum and the sum of squares of all records."""
    return records.total(records.size), records.total(records.size, power=2)


def _sums(records: SortedMultiset, start: Positions, stop: Positions) -> Integers:
    """Return the sums and the sums of squares from each start to its stop, shape (2, starts)."""
    return np.array([records.total(stop, power) - records.total(start, power) for power in (1, 2)])


def _largest_variance(
    inside: SortedMultiset, outside: SortedMultiset, removed: int, added: int
) -> _Choice:
    """Return the neighbor with the largest variance: a window removed, the two ends added.

    A row is a split of B: `low` of its records are the smallest ones outside x, the others the
    largest. "Proof, largest" in docs/proofs.md.
    """
    size = inside.size - removed + added

    def best_of(low: Positions) -> tuple[int, _Choice]:
        high = outside.size - (added - low)
        ends = _sums(outside, np.zeros_like(low), low)
        ends = ends + _sums(outside, high, np.full_like(high, outside.size))
        # The sum and the sum of squares of x and B, shape (2, rows).
        ends = ends + np.array(_all(inside), dtype=object)[:, None]
        start = _first_window(inside, removed, size, ends[0])
        sums = ends - _sums(inside, start, start + removed)
        # m D = m Q - S**2 for m records: whole numbers, in the order of the variances.
        deviations = size * sums[1] - sums[0] ** 2
        best = int(np.argmax(deviations))
        window = (int(start[best]), int(start[best]) + removed)
        parts = ((0, int(low[best])), (int(high[best]), outside.size))
        choice = _Choice(int(sums[0][best]), int(sums[1][best]), (window,), parts)
        return int(deviations[best]), choice

    return max(map(best_of, _some_at_a_time(added + 1)), key=itemgetter(0))[1]


def _some_at_a_time(rows: int) -> Iterator[Positions]:
    """Yield the numbers of rows in order, some at a time: those become Python ints."""
    for start in range(0, rows, AT_ONCE):
        yield np.arange(start, min(start + AT_ONCE, rows))


def _first_window(inside: SortedMultiset, removed: int, size: int, sums: Integers) -> Positions:
    """Return, for each sum of x and B, where the best window to remove begins.

    Moving the window up by one puts r back into y and takes s out. That gains as long as
    ``(size - 1) r + (size + 1) s < 2 (sum of y)``. From one window to the next the left side does
    not fall and the right side does not rise, so the first window that does not gain is the best.
    """
    first = np.zeros(len(sums), dtype=np.int64)
    if removed == 0:
        return first

    def stops(place: Positions) -> Any:
        returned, taken = inside.record(place), inside.record(place + removed)
        of_y = sums - (inside.total(place + removed) - inside.total(place))
        return ((size - 1) * returned + (size + 1) * taken >= 2 * of_y).astype(bool)

    return first_of(first, np.full_like(first, inside.size - removed), stops)


class _Windows(NamedTuple):
    """The windows of some length of records, in the order in which they are nearest to a number.

    As a number z rises, the records nearest to it change from one window to the next. They are
    those of the first window whose `edge` is at least 2 z.
    """

    records: SortedMultiset
    length: int

    @property
    def number(self) -> int:
        return self.records.size - self.length + 1 if self.length else 1

    def edge(self, place: Any) -> Any:
        """Return twice the number beyond which the next window is nearer, of one or several."""
        return self.records.record(place) + self.records.record(place + self.length)

    def between(
        self, size: int, lowest: int, highest: int, first: int, last: int
    ) -> tuple[int, int]:
        """Return the first and the last window that can be nearest to the mean of y.

        The windows are those from `first` to `last`; twice the sum of y, which has `size` records,
        is from `lowest` to `highest`.
        """

        # The window at `place` is nearest to M where 2 M is between the edge before and its own.
        # For the mean M = S / m of y that reads 2 S <= m edge: whole numbers.
        def edge(place: int) -> int:
            return int(size * self.edge(place))

        return (
            bisect_left(range(last), lowest, lo=first, key=edge),
            bisect_right(range(last), highest, lo=first, key=edge),
        )

    def total(self, place: int) -> int:
        return self.records.total(place + self.length) - self.records.total(place)


def _smallest_variance(
    inside: SortedMultiset, outside: SortedMultiset, removed: int, added: int
) -> _Choice:
    """Return the neighbor with the smallest variance: y has the records nearest to its mean.

    The core, the records of y from x, and the added records from outside are both windows. All
    pairs of windows are compared that are nearest to one and the same number, if that number can be
    the mean of y. "Proof, smallest" in docs/proofs.md.
    """
    size = inside.size - removed + added
    core, entering = _Windows(inside, inside.size - removed), _Windows(outside, added)
    (first, last), (start, stop) = _reachable(core, entering, size)
    core_edges = core.edge(np.arange(first, last))
    added_edges = entering.edge(np.arange(start, stop))
    # Both windows move up as the number rises: one of them by one place, in the order of their
    # edges. `moves` is how many of the first steps move the core, the others move the added
    # records.
    order = np.argsort(np.concatenate([core_edges, added_edges]), kind="stable")
    moves = np.concatenate([[0], np.cumsum(order < len(core_edges))])

    def best_of(rows: Positions) -> tuple[int, _Choice]:
        of_core = first + moves[rows]
        of_added = start + rows - moves[rows]
        sums = _sums(inside, of_core, of_core + core.length)
        sums = sums + _sums(outside, of_added, of_added + entering.length)
        deviations = size * sums[1] - sums[0] ** 2
        best = int(np.argmin(deviations))
        left, right = int(of_core[best]), int(of_core[best]) + core.length
        window = (int(of_added[best]), int(of_added[best]) + entering.length)
        parts = ((0, left), (right, inside.size))
        choice = _Choice(int(sums[0][best]), int(sums[1][best]), parts, (window,))
        return int(deviations[best]), choice

    return min(map(best_of, _some_at_a_time(len(moves))), key=itemgetter(0))[1]


def _reachable(
    core: _Windows, entering: _Windows, size: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first and last windows that can be nearest to the mean of y, for each part of y.

    The ranges of windows bound the sum of y, so its mean, so the windows. This is repeated until
    the ranges no longer shrink.
    """
    ranges = [(0, windows.number - 1) for windows in (core, entering)]
    while True:
        # Both windows at their first places have the smallest sum of y, at their last ones the
        # largest.
        lowest, highest = (
            2 * sum(w.total(ends[end]) for w, ends in zip((core, entering), ranges, strict=True))
            for end in (0, 1)
        )
        closer = [
            windows.between(size, lowest, highest, *ends)
            for windows, ends in zip((core, entering), ranges, strict=True)
        ]
        if closer == ranges:
            return closer[0], closer[1]
        ranges = closer
