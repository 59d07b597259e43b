"""The pairs of neighbors that can have the largest difference of variances, by distance from x.

A pair is ``X = C + p`` and ``Y = C + q``, where X has the larger variance. One *side* looks at the
pairs with p above the mean of C; the other side is its mirror image, all records times -1. Records
are those of x and the *new* ones that x has not: two *kinds*. Every exchange below is between
records of one kind, so it does not change how far X and Y are from x. See docs/proofs.md, "Smooth
sensitivity: variance and standard deviation, under replacement".

- p is the largest of its kind. Let p' be larger. If it is in neither dataset, X has a larger
  variance with p' in place of p; if it is in C, Y has a smaller one with p in place of p'.
- For a number mu, C has the records of x nearest to mu and the new ones nearest to mu, all without
  p and q. To see this, let W be n times the squared deviations, S the sum of C and Q the sum of
  its squares. A pair is worth tau > 0 or more where ``W(X) - W(Y) - tau^2 - 2 tau sqrt(W(Y))`` is
  at least 0. With p and q fixed, ``W(X) - W(Y)`` is linear in S, and W(Y), linear in Q less the
  square of a linear function of S, is concave, like its root. So the whole is convex in (S, Q) and
  falls as Q rises. The best C is then an extreme point on the lower side of all (S, Q): for some mu
  it has the least ``Q - 2 mu S``, which is the sum of ``(u - mu)^2`` less a constant. For the
  variance only ``W(X) - W(Y)`` counts. It falls as S rises, so mu is below all records.
- So if q is not among the nearest ones, C is a window of x and a window of the new records;
  otherwise ``C + q`` is. Such a pair of windows is a *state*. As mu rises, both windows move up,
  one record at a time: where mu is the middle of the record that leaves and the one that enters.
  Their sum, twice this mu, is the *edge* between two states.
- For a state that is C, q is the nearest to the mean of C, since
  ``D(C + q) = D(C) + ((n - 1) / n) (q - mean)^2``. For one that is ``C + q``, Y is fixed and
  ``n (D(X) - D(Y)) = (p - q) (n (p + q) - 2 sum(Y) - (p - q))``, largest for the q nearest to
  ``(p + sum(Y)) / (n + 1)``.

Sums of states are exact integers, in int64 where these are long enough. *Worth* is the difference
of the roots of n times the squared deviations of X and Y, or without roots for the variance; it is
a float with a relative error far below `SHARP`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import integers_of_floats, mantissas_of_floats
from sensitivity_lab.problem import SmoothProblem
from sensitivity_lab.search.sorted_records import Positions
from sensitivity_lab.universes.multiplicities import Multiplicities, largest, smallest
from sensitivity_lab.universes.universe import Universe, of_numbers

AnyIntegers = NDArray[Any]
"""Exact integers: int64 where these are long enough, else Python ints."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHARP = 1e-12
"""More than the relative error of a worth or a bound, which take a dozen roundings."""

BITS = 960
"""Integers of up to so many bits are read as floats, with room for their products with n."""


def bits_needed(problem: SmoothProblem) -> int:
    """Return how many bits squared deviations can have, with all intermediate results."""
    first, middle, last = _three(of_numbers(problem.universe))
    most = max(middle - first, last - middle)
    records = int(problem.universe.multiplicities(problem.size + 1).sum())
    # The first is for the integers of a bound, see `smooth_states._bound`; no others are as large
    # but prefix sums of squares, which the second is for.
    return max(int(16 * (problem.size + 1) ** 2 * most**2), 2 * records * most**2).bit_length()


def _three(numbers: Universe) -> list[int]:
    """Return the first, middle and last of `integers`, where possible without the others."""
    array, places = numbers.array, [0, len(numbers.array) // 2, -1]
    if array.dtype == np.int64:
        return list(map(int, array[places]))
    if array.dtype != np.float64:
        return list(map(int, numbers.integers[0][places]))
    mantissas, exponents = mantissas_of_floats(array)
    # The unit is that of the value with the lowest exponent.
    finest = int(np.where(mantissas == 0, 0, exponents).argmin())
    return list(map(int, integers_of_floats(array[[*places, finest]])[0][:3]))


def centred(problem: SmoothProblem) -> AnyIntegers:
    """Return the distinct values less the middle one of them, in the unit of `integers`."""
    integers, _ = of_numbers(problem.universe).integers
    values: AnyIntegers = integers - integers[len(integers) // 2]
    return values


class Line:
    """Records in ascending order, by position, with exact sums.

    Positions count records, not values: a value with three copies has three of them. A sum is found
    from prefix sums by value, so memory is O(m), and each position costs a bisection, O(log m).

    Parameters
    ----------
    values : ndarray of integers, shape (m,)
        The distinct values of the universe, ascending.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0.
    """

    def __init__(self, values: AnyIntegers, counts: Multiplicities) -> None:
        self.counts = counts
        some = np.flatnonzero(counts)
        # From here on by value that occurs: where its records end and begin, and the sums of all
        # records before them, and of their squares.
        self.values, number = values[some], counts[some]
        self._ends = np.cumsum(number)
        self.starts = np.concatenate([[0], self._ends])
        self.size = int(self.starts[-1])
        self._before = [
            np.concatenate(
                [np.zeros(1, dtype=values.dtype), np.cumsum(self.values**power * number)]
            )
            for power in (1, 2)
        ]

    def record(self, positions: Positions) -> AnyIntegers:
        """Return the records at positions; the largest where records end."""
        return self.values.take(self._ends.searchsorted(positions, side="right"), mode="clip")

    def first(self, least: AnyIntegers) -> Positions:
        """Return the position of the first record that is not below a number."""
        return self.starts[self.values.searchsorted(least)]

    def sums(self, start: Positions, length: Positions) -> tuple[AnyIntegers, AnyIntegers]:
        """Return the sum of the records of a window, and of their squares."""
        (first, first_squares), (last, last_squares) = map(self._until, (start, start + length))
        return last - first, last_squares - first_squares

    def _until(self, positions: Positions) -> tuple[AnyIntegers, AnyIntegers]:
        """Return the sums of all records before positions: whole values, and some of the next."""
        places = self._ends.searchsorted(positions, side="right")
        value = self.values.take(places, mode="clip")
        inside = (positions - self.starts[places]).astype(value.dtype)
        sums, squares = (before[places] for before in self._before)
        return sums + inside * value, squares + inside * value * value

    def window(self, start: int, length: int) -> Multiplicities:
        """Return the records of a window by multiplicities."""
        return smallest(self.counts, start + length) - smallest(self.counts, start)


class Groups(NamedTuple):
    """Kinds of pairs at some distances, a row each; all fields are arrays of shape (groups,).

    Attributes
    ----------
    distance : array of int
        From x to the nearer one of X and Y.
    size : array of int
        How many records a state has: n - 1 if it is C, n if it is ``C + q``.
    inside : array of bool
        Whether a state is ``C + q``.
    lengths : array of int, shape (2, groups)
        How many records a state has of x, and how many new ones.
    limits : array of int, shape (2, groups)
        How many records there are of x, and new ones, besides p, which is the last of its kind.
    p : array of integers
    p_is_new : array of bool
    q : array of bool, shape (2, groups)
        Whether q may be a record of x, and a new one.
    """

    distance: Positions
    size: Positions
    inside: Flags
    lengths: Positions
    limits: Positions
    p: AnyIntegers
    p_is_new: Flags
    q: Flags

    @property
    def n(self) -> Positions:
        """The number of records of X and of Y."""
        return self.size + ~self.inside

    def rows(self, chosen: Any) -> Groups:
        """Return some of the groups."""
        return Groups._make(field[..., chosen] for field in self)


_KINDS = (
    # p is new, the state is C + q, new records in the state less distance, q of x, q new
    (False, False, 0, True, True),  # X has the new records of C: it is the nearer one
    (False, True, 0, True, False),  # C + q has no more than C
    (False, True, 1, False, True),  # C + q has q more than X
    (True, False, 0, True, False),  # Y has the new records of C: it is the nearer one
    (True, False, -1, False, True),  # X and Y both have one more than C
    (True, True, 0, True, True),  # the state is Y, and X has no fewer
)
"""X has a new record more than C if p is new, Y if q is; the distance is that of the one with fewer
new records. A kind of pair says how many the state has at a distance."""


class States(NamedTuple):
    """Windows of x and of the new records, a row each, and their sums.

    Attributes
    ----------
    start : array of int, shape (2, rows)
        The position where the window of x begins, and that of the new records.
    sums, squares : array of integers, shape (rows,)
    """

    start: Positions
    sums: AnyIntegers
    squares: AnyIntegers

    def rows(self, chosen: Any) -> States:
        """Return some of the states."""
        return States(*(field[..., chosen] for field in self))


@dataclass(frozen=True)
class Pairs:
    """Pairs that can matter, a row each.

    Attributes
    ----------
    worth : array of float, shape (rows,)
    larger, smaller : array of integers, shape (rows,)
        n times the squared deviations of X and of Y, exactly.
    start : array of int, shape (2, rows)
        The state.
    q_is_new : array of bool, shape (rows,)
    q : array of int, shape (rows,)
        The position of q among the records of its kind.
    """

    side: Side
    groups: Groups
    worth: Floats
    larger: AnyIntegers
    smaller: AnyIntegers
    start: Positions
    q_is_new: Flags
    q: Positions

    @property
    def distance(self) -> Positions:
        """How far the nearer one of X and Y is from x."""
        return self.groups.distance

    def rows(self, chosen: Any) -> Pairs:
        """Return some of the pairs."""
        fields = (self.worth, self.larger, self.smaller, self.start, self.q_is_new, self.q)
        chosen_of: list[Any] = [field[..., chosen] for field in fields]
        return Pairs(self.side, self.groups.rows(chosen), *chosen_of)

    def datasets(self, row: int) -> tuple[Multiplicities, Multiplicities]:
        """Return the one of X and Y that is nearer to x, and the other one."""
        group, problem = self.groups.rows(row), self.side.problem
        of_x, of_new = (
            line.window(int(start), int(length))
            for line, start, length in zip(
                self.side.lines, self.start[:, row], group.lengths, strict=True
            )
        )
        core = of_x + of_new  # of the state
        q = self.side.lines[int(self.q_is_new[row])].window(int(self.q[row]), 1)
        p = largest(self.side.lines[int(group.p_is_new)].counts, 1)
        if group.inside:
            core = core - q
        one, other = core + p, core + q
        # On the other side values are times -1, hence in reverse order.
        if not self.side.upward:
            one, other = one[::-1], other[::-1]
        near = problem.distances([one])[0] <= group.distance
        return (one, other) if near else (other, one)


@dataclass(frozen=True, eq=False)
class Side:
    """The search for pairs with p above the mean of C.

    Parameters
    ----------
    values : ndarray of integers, shape (m,)
        The distinct values of the universe, ascending.
    lines : tuple of two Line
        The records of x, and the new ones.
    """

    problem: SmoothProblem
    values: AnyIntegers
    lines: tuple[Line, Line]
    upward: bool

    @classmethod
    def of(
        cls, problem: SmoothProblem, values: AnyIntegers, outside: Multiplicities, *, upward: bool
    ) -> Side:
        """Make one of the sides; `outside` are the new records."""
        parts = (problem.x, outside)
        if not upward:
            values, parts = -values[::-1], (problem.x[::-1], outside[::-1])
        return cls(problem, values, (Line(values, parts[0]), Line(values, parts[1])), upward)

    @property
    def everything(self) -> Line:
        """All records, those of x and the new ones."""
        return Line(self.values, self.lines[0].counts + self.lines[1].counts)

    @property
    def beyond(self) -> int:
        """More than the sum of two records."""
        return 1 + 2 * max(abs(int(self.values[0])), abs(int(self.values[-1])))


def groups_at(side: Side, first: int, last: int) -> Groups:
    """Return the kinds of pairs on a side at the distances from `first` to before `last`."""
    n, distance = side.problem.size, np.arange(first, last)
    found = []
    for p_is_new, inside, more, *q in _KINDS:
        new = distance + more
        size = n if inside else n - 1
        # p is in no state, so its kind has a record less to choose from; where a kind has too few
        # records, there is no such pair at this distance.
        limits = [line.size - (kind == p_is_new) for kind, line in enumerate(side.lines)]
        lengths = np.stack([size - new, new])
        fits = (lengths >= 0).all(axis=0) & (lengths[0] <= limits[0]) & (new <= limits[1])
        number = int(fits.sum())
        line = side.lines[int(p_is_new)]
        found.append(
            Groups(
                distance[fits],
                np.full(number, size),
                np.full(number, inside),
                lengths[:, fits],
                np.repeat(np.array(limits)[:, None], number, axis=1),
                np.repeat(line.values[-1:], number),
                np.full(number, p_is_new),
                np.repeat(np.array(q)[:, None], number, axis=1),
            )
        )
    return Groups(*(np.concatenate(field, axis=-1) for field in zip(*found, strict=True)))
