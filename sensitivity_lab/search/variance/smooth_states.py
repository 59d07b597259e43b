"""The states whose bound reaches the best pair, found by halving the path of states.

A *path* is all states of one group (see `Groups`), in the order in which mu meets them. An interval
of it has two ends, `low` and `high`, whose pairs have been looked at. `_bound` bounds the worth of
all pairs of the states in between; an interval whose bound is below the best pair is left out, any
other one is halved at an edge. Only the standard deviation needs this: for the variance, the first
state of each path is enough.

*Why the bound holds.* Let S and Q be the sum of a state's records and of their squares. At an edge
a record l enters and a smaller one e leaves, so Q rises by ``l + e``, the edge, times what S rises.
Edges ascend along a path, so (S, Q) runs along a convex polygon: it leaves `low` with the slope of
the next edge, reaches `high` with that of the last one, and is at most
``(last edge - next edge) (difference of S) / 4`` below the chord. Fix how far q is from its best
place at least, see `_away`. Then a pair of worth tau > 0 exists only if a function of (S, Q) is at
least 0 that is convex and falls as Q rises. All states between lie in the parallelogram between the
chord and its copy so far below; there the worth is therefore largest at an end of that copy: at one
of the two lower corners, which are `low` and `high` with Q that much smaller. See docs/proofs.md,
"Smooth sensitivity: variance and standard deviation, under replacement".

In all arrays the last axis is the row: an interval, a state or a pair, whose group is the same row
of `groups`. The axis of length 2 that some have before it is the kind: records of x, new records.
For m distinct values no path has more than some 4 m states. To visit one costs O(log m) for each
halving of `_start_at`, which bisects positions, so O(log m log N) for N records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sensitivity_lab.problem import SmoothProblem
from sensitivity_lab.search.sorted_records import Positions

from .smooth_cores import (
    SHARP,
    AnyIntegers,
    Flags,
    Floats,
    Groups,
    Pairs,
    Side,
    States,
    bits_needed,
    centred,
    groups_at,
)


class Cores(NamedTuple):
    """The search for the pairs that can matter.

    Attributes
    ----------
    sides : tuple of Side
    root : bool
        Whether for the standard deviation.
    last : int
        The largest distance of a dataset from x.
    """

    sides: tuple[Side, ...]
    root: bool
    last: int

    @classmethod
    def of(cls, problem: SmoothProblem) -> Cores:
        """Make it for a problem of at least two records."""
        values = centred(problem)
        if bits_needed(problem) < 63:
            values = values.astype(np.int64)
        outside = problem.universe.multiplicities(problem.size + 1) - problem.x
        sides = tuple(Side.of(problem, values, outside, upward=up) for up in (True, False))
        return cls(sides, problem.query.root, min(problem.size, int(outside.sum())))

    def least_deviations(self) -> int:
        """Return the least n - 1 times the squared deviations of n - 1 records of the universe.

        They are a window. While it moves by equal steps, (sum, sum of squares) runs along a line,
        where the deviations are concave; so windows that begin or end with a value are enough.
        """
        everything, size = self.sides[0].everything, self.sides[0].problem.size - 1
        starts = np.concatenate([everything.starts, everything.starts - size])
        starts = np.clip(starts, 0, everything.size - size)
        sums, squares = everything.sums(starts, np.full_like(starts, size))
        return int((size * squares - sums * sums).min())

    def pairs(self, start: int, stop: int, at_least: float) -> list[Pairs]:
        """Return the pairs at some distances that can be the best up to their distance.

        The rows of each part ascend by distance. `at_least` is what some pair at a smaller distance
        is worth.
        """
        # By distance: what some pair at this distance or a smaller one is surely worth, so far.
        reached = np.full(stop - start, at_least)
        found: list[Pairs] = []
        for side in self.sides:
            groups = groups_at(side, start, stop)
            for some in self._visited(side, groups, start, reached):
                found.append(some)
                worth = some.worth - SHARP * np.abs(some.worth)
                np.maximum.at(reached, some.distance - start, worth)
                np.maximum.accumulate(reached, out=reached)
        # Pairs within rounding of the best are kept, too: they will be compared exactly.
        kept = []
        for some in found:
            good = some.worth + SHARP * np.abs(some.worth) >= reached[some.distance - start]
            rows = np.flatnonzero(good)
            kept.append(some.rows(rows[np.argsort(some.distance[rows], kind="stable")]))
        return kept

    def _visited(self, side: Side, groups: Groups, first: int, reached: Floats) -> Iterator[Pairs]:
        """Yield the pairs of the states that are visited; `reached` grows meanwhile."""
        rows = np.arange(len(groups.distance))
        low = states_at(side, groups, np.zeros_like(groups.lengths))
        yield from _pairs_of_states(side, groups, low, self.root)
        if not self.root:
            return
        high = states_at(
            side, groups, np.where(groups.lengths > 0, groups.limits - groups.lengths, 0)
        )
        yield from _pairs_of_states(side, groups, high, self.root)
        # Always: row r is the interval from state low[r] to state high[r] of the path of group
        # rows[r]; the pairs of both ends, and of all states that lie in no interval, are yielded or
        # cannot win. Each turn drops intervals and halves the others.
        while len(rows):
            some = groups.rows(rows)
            after, before = _next_edge(side, some, low), _last_edge(side, some, high)
            bound = _bound(side, some, low, high, before - after)
            # With a single edge in between, which is the next and the last, there is no state
            # between the ends. Otherwise the middle edge leaves two shorter intervals.
            split = (after < before) & (bound * (1 + SHARP) >= reached[some.distance - first])
            chosen = np.flatnonzero(split)
            rows, low, high = rows[chosen], low.rows(chosen), high.rows(chosen)
            if not len(rows):
                return
            some = groups.rows(rows)
            edge = _middle_edge(side, some, low, high)
            starts = [
                _start_at(side, some, low, high, edge, passed=passed) for passed in (False, True)
            ]
            below, above = (states_at(side, some, start) for start in starts)
            yield from _pairs_of_states(side, some, below, self.root)
            yield from _pairs_of_states(side, some, above, self.root)
            rows = np.concatenate([rows, rows])
            low, high = _joined(low, above), _joined(below, high)


def _joined(one: States, other: States) -> States:
    return States(*(np.concatenate(both, axis=-1) for both in zip(one, other, strict=True)))


def states_at(side: Side, groups: Groups, start: Positions) -> States:
    """Return the states whose windows begin at some positions, with their sums."""
    of_x, of_new = (
        line.sums(begin, length)
        for line, begin, length in zip(side.lines, start, groups.lengths, strict=True)
    )
    return States(start, of_x[0] + of_new[0], of_x[1] + of_new[1])


def _edges(side: Side, groups: Groups, kind: int, start: Positions) -> AnyIntegers:
    """Return the edge between the window of a kind that begins at a position, and the next one.

    The record that leaves and the one that enters are equally near to mu where mu is their middle;
    so an edge is their sum, twice this mu.
    """
    line = side.lines[kind]
    return line.record(start) + line.record(start + groups.lengths[kind])


def _next_edge(side: Side, groups: Groups, states: States) -> AnyIntegers:
    """Return the edge after states; above all edges if there is none."""
    edges = []
    for kind in (0, 1):
        start, length = states.start[kind], groups.lengths[kind]
        moves = (length > 0) & (start + length < groups.limits[kind])
        edges.append(np.where(moves, _edges(side, groups, kind, start), side.beyond))
    return np.minimum(*edges)


def _last_edge(side: Side, groups: Groups, states: States) -> AnyIntegers:
    """Return the edge before states; below all edges if there is none."""
    edges = []
    for kind in (0, 1):
        start = states.start[kind]
        before = _edges(side, groups, kind, np.maximum(start - 1, 0))
        edges.append(np.where(start > 0, before, -side.beyond))
    return np.maximum(*edges)


def _middle_edge(side: Side, groups: Groups, low: States, high: States) -> AnyIntegers:
    """Return an edge between two states, in the middle of the window that moves further.

    So that window's moves are halved; the other window stops wherever the edge finds it.
    """
    moves = high.start - low.start
    middle = (low.start + high.start) // 2
    of_x, of_new = (_edges(side, groups, kind, middle[kind]) for kind in (0, 1))
    edge: AnyIntegers = np.where(moves[0] >= moves[1], of_x, of_new)
    return edge


def _start_at(
    side: Side, groups: Groups, low: States, high: States, edge: AnyIntegers, *, passed: bool
) -> Positions:
    """Return where the windows of the state before an edge begin; after it, if `passed`."""
    starts = np.empty_like(low.start)
    for kind in (0, 1):
        first, last = low.start[kind].copy(), high.start[kind].copy()
        # Always: the edges of all windows before `first` are passed, those from `last` on are not.
        while (open_ := first < last).any():
            middle = (first + last) // 2
            of_middle = _edges(side, groups, kind, middle)
            moved = (of_middle <= edge if passed else of_middle < edge).astype(bool)
            first = np.where(open_ & moved, middle + 1, first)
            last = np.where(open_ & ~moved, middle, last)
        starts[kind] = first
    return starts


def _bound(side: Side, groups: Groups, low: States, high: States, steps: AnyIntegers) -> Floats:
    """Return a bound of the worth of all pairs of the states from `low` to `high`, shape (rows,).

    With m the size, D the squared deviations and ``lean = (m p - S)^2`` of a state, and `away` as
    `_away` returns it, n times the squared deviations of X and Y are at most and at least

        n / (m (m + 1)) times   (m + 1) m D + lean   and   (m + 1) m D + away    for a state C,
        n / (m (m + 1)) times   (m + 1) m D + lean - away   and   (m + 1) m D    for C + q,

    For a state C this is ``D_(C + r) = D_C + (m / (m + 1)) (r - M_C)^2`` with p and q for r. For
    C + q, where m = n, p comes in the place of q, and ``(p - q) (n (p + q) - 2 S - (p - q))``,
    which that adds to n D, is ``(lean - ((n + 1) q - p - S)^2) / (n + 1)``. Either way
    `more = lean - away` is what X has in addition, and the worth is
    ``more / (root of X + root of Y)``, without cancellation. It is taken at the two lower corners,
    where D is that of an end less the depth. `steps` is the last edge less the next one. See
    "Bound" in docs/proofs.md, under "Smooth sensitivity: variance and standard deviation, under
    replacement".
    """
    size, missed = groups.size, _away(side, groups, low, high)
    some_q = missed < np.inf
    away = np.where(some_q, missed, 0.0)
    # Q is at most steps (difference of S) / 4 below the chord, so m D is m times that below what it
    # is at an end. Both are counted four times, so that they stay integers.
    depth = size * steps * (high.sums - low.sums)
    spreads: list[Floats] = []  # m D at the two lower corners
    leans: list[Floats] = []
    for end in (low, high):
        spread: AnyIntegers = 4 * (size * end.squares - end.sums * end.sums) - depth
        spreads.append(np.maximum(spread, 0).astype(np.float64) / 4)
        off: AnyIntegers = size * groups.p - end.sums
        leans.append((off * off).astype(np.float64))
    # Every state has D >= 0. Where a corner has not, no worth exceeds that of D = 0 and the larger
    # lean of both corners: the worth falls with D, and the lean is convex in S.
    flat = np.minimum(*spreads) == 0
    worth = np.full(len(size), -np.inf)
    for deviations, lean in zip(spreads, leans, strict=True):
        under = np.where(flat, 0.0, deviations) * (size + 1)
        most = np.where(flat, np.maximum(*leans), lean)
        # This difference may cancel, so it is rounded up by more than the errors of both terms.
        more = most - away + 1e-15 * (most + away)
        # In a state that is C the spread of Y has `away`, else that of X lacks it.
        of_y = np.where(groups.inside, under, under + away)
        roots = np.sqrt(np.maximum(of_y + more, 0)) + np.sqrt(of_y)
        worth = np.maximum(worth, _quotients(more, roots))
    bound = worth * np.sqrt(groups.n / (size * (size + 1.0)))
    # Where there is no q there is no pair.
    some: Floats = np.where(some_q, bound, -np.inf)
    return some


def _away(side: Side, groups: Groups, low: States, high: States) -> Floats:
    """Return the least square by which q can miss its best place, for all states from low to high.

    The place is ``S / m`` for a state that is C, and ``(p + S) / (n + 1)`` for one that is C + q;
    it rises with S. So the places of all these states lie from `from_` to `to` over the divisor,
    and what is returned is divisor^2 times the squared distance of this interval from the nearest
    record that is q for some of the states; infinity if there is none.
    """
    least = np.full(len(groups.size), np.inf)
    divisor = groups.size + groups.inside
    from_, to = (np.where(groups.inside, groups.p, 0) + end.sums for end in (low, high))
    for kind, line in enumerate(side.lines):
        # The first record of this kind that is not below the lower end, from_ / divisor rounded up.
        first = line.first(-((-from_) // divisor))
        # A state C needs q outside its window: not in [start, stop), which all windows share (it
        # is empty if they share nothing). A state C + q needs it inside: in [inner, outer), which
        # the windows together cover.
        start, stop = high.start[kind], low.start[kind] + groups.lengths[kind]
        inner, outer = low.start[kind], high.start[kind] + groups.lengths[kind]
        # From the lower end of the interval, the nearest allowed record upwards (at a distance of 0
        # if it is not above the upper end), and the nearest one downwards.
        for above, place in ((True, first), (False, first - 1)):
            out = np.where((start <= place) & (place < stop), stop if above else start - 1, place)
            into = np.maximum(place, inner) if above else np.minimum(place, outer - 1)
            q = np.where(groups.inside, into, out)
            valid = np.where(
                groups.inside, (q >= inner) & (q < outer), (q >= 0) & (q < groups.limits[kind])
            )
            record = line.record(np.maximum(q, 0)) * divisor
            missed = np.maximum(record - to if above else from_ - record, 0).astype(np.float64)
            least = np.where(valid & groups.q[kind], np.minimum(least, missed * missed), least)
    return least


def _quotients(above: Floats, below: Floats) -> Floats:
    """Return quotients, 0 where both are 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _pairs_of_states(side: Side, groups: Groups, states: States, root: bool) -> Iterator[Pairs]:
    """Yield the pairs of states, with the records q that can be the best."""
    for kind in (0, 1):
        rows = np.flatnonzero(groups.q[kind])
        some, of_state = groups.rows(rows), states.rows(rows)
        for q, valid in _places_of_q(side, some, of_state, kind):
            chosen = np.flatnonzero(valid)
            if len(chosen):
                yield _rated(side, some.rows(chosen), of_state.rows(chosen), kind, q[chosen], root)


def _places_of_q(
    side: Side, groups: Groups, states: States, kind: int
) -> Iterator[tuple[Positions, Flags]]:
    """Yield the positions of the first record q above its best place, and the last one below.

    What a pair is worth falls with the distance of q from that place, see `_away`, so no other q of
    this kind is needed.
    """
    start, length = states.start[kind], groups.lengths[kind]
    stop, limit = start + length, groups.limits[kind]
    above = np.where(groups.inside, groups.p, 0) + states.sums
    first = side.lines[kind].first(-((-above) // (groups.size + groups.inside)))
    for place, beyond in ((first, stop), (first - 1, start - 1)):
        # In a state that is C + q, q is in the window; else it is not.
        out = np.where((start <= place) & (place < stop), beyond, place)
        into = np.clip(place, start, np.maximum(stop - 1, start))
        q = np.where(groups.inside, into, out)
        yield q, np.where(groups.inside, length > 0, (q >= 0) & (q < limit))


def _rated(
    side: Side, groups: Groups, states: States, kind: int, q: Positions, root: bool
) -> Pairs:
    """Return pairs with what they are worth."""
    # `sums` and `squares` are those of C; X = C + p has the larger variance, Y = C + q the smaller.
    n, p, of_q = groups.n, groups.p, side.lines[kind].record(q)
    inside = np.where(groups.inside, of_q, 0)
    sums, squares = states.sums - inside, states.squares - inside * of_q
    larger, smaller = (
        n * (squares + record * record) - (sums + record) * (sums + record) for record in (p, of_q)
    )
    worth = (larger - smaller).astype(np.float64)
    if root:
        roots = (np.sqrt(spread.astype(np.float64)) for spread in (larger, smaller))
        worth = np.where(worth != 0, worth, 0.0) / np.maximum(sum(roots), 1e-300)
    return Pairs(side, groups, worth, larger, smaller, states.start, np.full(len(q), kind == 1), q)
