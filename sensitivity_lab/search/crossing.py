"""Weighted sums by rank: where the records of the best pair lie, and whole curves at once.

For weights that are not negative, A is best the largest records of the universe and B its smallest.
What is left is ``sum_r v_r c_(r)`` over the ranks r of the core, where v are the *net* weights:
those in x less those in y. Where they *cross once*, negative ones before positive ones, the ranks
up to the last negative one take the smallest records left, and the others the largest. Weights come
as runs, so net weights do, and the difference is a sum over pieces of the sorted universe. See
docs/proofs.md, "Monotone queries (`monotone`)". A curve has the gaps of all shapes by columns, and
the largest one for every relation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Runs

from .engine import Finding, Findings
from .layouts import LaidOut, Layout, LayoutSearch, Positions, Shapes, SortedMultiset

_SAFE = 1 << 56
"""Products below it are of int64; a few of them can be added up."""

_FEW = 64
"""So few positions are looked up sooner than they are told apart."""


class Pieces(NamedTuple):
    """Stretches of ascending records, each with one weight; a column for each of s sums.

    Attributes
    ----------
    starts, stops : ndarray of int64, shape (p, s)
        Empty ones may be among them.
    weights : ndarray of int64 or of Python ints, shape (p, s)
    """

    starts: Positions
    stops: Positions
    weights: NDArray[Any]

    def totals(self, line: SortedMultiset) -> NDArray[Any]:
        """Return, for every column, the weighted sum of the records.

        Examples
        --------
        >>> line = SortedMultiset(np.array([1, 5, 7], dtype=object), np.array([2, 1, 1]))
        >>> starts, stops = np.array([[0, 3], [3, 0]]), np.array([[2, 3], [4, 2]])
        >>> Pieces(starts, stops, np.array([[-1, 9], [2, 4]])).totals(line).tolist()
        [12, 8]
        """
        # Most pieces are empty or weigh nothing, many in all columns; only others are looked up.
        counts = (self.stops > self.starts) & (self.weights != 0).astype(bool)
        some = counts.any(axis=1)
        counts = counts[some]
        starts, stops, weights = (part[some][counts] for part in self)
        alone = stops == starts + 1
        sums = np.empty(len(starts), dtype=object)
        sums[alone] = _at_each(line.record, starts[alone])
        long = ~alone
        if long.any():  # prefix sums take time and memory: quantiles need none
            ends = _at_each(line.total, np.concatenate([starts[long], stops[long]]))
            sums[long] = ends[len(ends) // 2 :] - ends[: len(ends) // 2]
        terms = np.zeros(counts.shape, dtype=object)
        terms[counts] = weights.astype(object) * sums
        total: NDArray[Any] = terms.sum(axis=0)
        return total


@dataclass(frozen=True, eq=False)
class Crossing:
    """Pairs of s shapes, with what the records of x and y count: the largest f(x) - f(y).

    Parameters
    ----------
    core, only_x, only_y : ndarray of int64, shape (s,)
        How many records are in C, A and B.
    of_x, of_y : Runs
        For datasets of the sizes of x and of y.

    Examples
    --------
    The mean of two records of 1, 2, 4 and 9, one of them replaced: at most (9 - 1) / 2.

    >>> import sensitivity_lab as sl
    >>> one, values = np.array([1]), np.array([1, 2, 4, 9], dtype=object)
    >>> line = SortedMultiset(values, np.ones(4, dtype=np.int64))
    >>> pair = Crossing.of(sl.Mean(), one, one, one)
    >>> pair.crosses.tolist(), pair.above(line, 4).tolist(), pair.below.tolist()
    ([True], [8], [2])
    """

    core: Positions
    only_x: Positions
    only_y: Positions
    of_x: Runs
    of_y: Runs

    @classmethod
    def of(cls, query: Query, core: Positions, only_x: Positions, only_y: Positions) -> Crossing:
        """Return the pairs for a query that declares its runs."""
        runs = runs_of(query, np.concatenate([core + only_x, core + only_y]))
        of_x, of_y = runs.at(slice(None, len(core))), runs.at(slice(len(core), None))
        return cls(core, only_x, only_y, of_x, of_y)

    @cached_property
    def _weights(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The weights in x and in y as whole numbers, and what they are over."""
        (of_x, units_x), (of_y, units_y) = (
            (runs.weights, runs.units) for runs in (self.of_x, self.of_y)
        )
        if np.all(units_x == units_y):
            return of_x, of_y, units_x
        if not _fits(units_x, units_y):
            units_x, units_y = units_x.astype(object), units_y.astype(object)
        # Over one denominator the weights of x and y, and so the net weights, are whole numbers.
        below = np.lcm(units_x, units_y)
        return _times(of_x, below // units_x), _times(of_y, below // units_y), below

    @property
    def below(self) -> NDArray[Any]:
        """What `above` is over, besides the unit of the records, shape (s,)."""
        return self._weights[2]

    @cached_property
    def net(self) -> Pieces:
        """The ranks of the core with their net weights, as pieces of it, ascending."""
        of_x, of_y, _ = self._weights
        # In x the core has the ranks 0 to c - 1; in y they are moved up by the records of B.
        runs = (self.of_x.starts, self.of_x.stops)
        moved = (self.of_y.starts - self.only_y, self.of_y.stops - self.only_y)
        edges = np.concatenate([*runs, *moved]).clip(0, self.core)
        # Passing an edge upwards changes the net weight by so much.
        change = np.concatenate([of_x, -of_x, -of_y, of_y])
        order = edges.argsort(axis=0, kind="stable")
        columns = np.arange(edges.shape[1])
        edges, net = edges[order, columns], change[order, columns].cumsum(axis=0)
        return Pieces(edges[:-1], edges[1:], net[:-1])

    @cached_property
    def _last_negative(self) -> Positions:
        """The rank after the last one of the core with a negative net weight; 0 without any."""
        # An empty piece has a weight that no rank of the core has.
        falls = (self.net.weights < 0).astype(bool) & (self.net.stops > self.net.starts)
        last: Positions = np.where(falls, self.net.stops, 0).max(axis=0, initial=0)
        return last

    @property
    def crosses(self) -> NDArray[np.bool_]:
        """Whether negative net weights precede positive ones, shape (s,)."""
        rises = (self.net.weights > 0).astype(bool) & (self.net.stops > self.net.starts)
        # Without a positive weight the first one is at the end of the core.
        firsts = np.where(rises, self.net.starts, self.core)
        return np.asarray(np.all(self._last_negative <= firsts, axis=0), dtype=np.bool_)

    @property
    def has_negative_weights(self) -> NDArray[np.bool_]:
        """Whether a rank of x or of y has a negative weight, shape (s,)."""
        of_x, of_y, _ = self._weights
        return np.asarray(np.any(np.concatenate([of_x, of_y]) < 0, axis=0), dtype=np.bool_)

    @cached_property
    def split(self) -> Positions:
        """How many records of the core lie next to B, shape (s,); the others lie next to A."""
        counts = (self.net.weights != 0).astype(bool) & (self.net.stops > self.net.starts)
        # A core of which no record counts lies next to B.
        return np.where(counts.any(axis=0), self._last_negative, self.core)

    @property
    def constant(self) -> NDArray[np.int64]:
        """What f(x) - f(y) is besides the weighted sum, shape (s,)."""
        return self.of_x.constants - self.of_y.constants

    def above(self, line: SortedMultiset, total: int) -> NDArray[Any]:
        """Return f(x) - f(y) where it is largest, times `below` and the unit of the records.

        Parameters
        ----------
        line : SortedMultiset
            The sorted universe.
        total : int
            How many records it has.
        """
        above: NDArray[Any] = self.pieces(total).totals(line)
        if self.constant.any():
            above = above + _times(self.constant, self.below).astype(object) * line.unit
        return above

    def pieces(self, total: int) -> Pieces:
        """Return the records where f(x) - f(y) is largest, with their weights times `below`.

        Parameters
        ----------
        total : int
            How many records the sorted universe has.
        """
        of_x, of_y, _ = self._weights
        # A record of x of rank r >= split is at `top + r`, one of y of rank r < split + |B| at r.
        top = total - self.core - self.only_x
        at = np.where(self.net.stops <= self.split, self.only_y, top)
        of_core = Pieces(self.net.starts + at, self.net.stops + at, self.net.weights)
        # Ranks of x from c on fall into A, ranks of y below |B| into B. A run that begins in the
        # core counts there up to c, and here from c on.
        first = np.maximum(self.of_x.starts, self.core)
        of_a = Pieces(first + top, self.of_x.stops + top, of_x)
        of_b = Pieces(self.of_y.starts, np.minimum(self.of_y.stops, self.only_y), -of_y)
        return Pieces(*map(np.concatenate, zip(of_core, of_a, of_b, strict=True)))


def runs_of(query: Query, sizes: Positions) -> Runs:
    """Return the runs of a query that a plan has found to have some."""
    runs = query.runs(sizes)
    if runs is None:
        raise ValueError(f"{query.name} is no weighted sum by rank")
    return runs


def _at_each(look_up: Callable[[Positions], NDArray[Any]], positions: Positions) -> NDArray[Any]:
    """Return what is at some positions, many of which are the same: each is looked up once."""
    if len(positions) < _FEW:
        return look_up(positions)
    distinct, places = np.unique(positions, return_inverse=True)
    return look_up(distinct)[places]


def _fits(some: NDArray[Any], others: NDArray[Any]) -> bool:
    """Tell whether products of whole numbers are small ones of int64."""
    if some.dtype == object or others.dtype == object:
        return False
    largest = (int(np.abs(one).max(initial=0)) for one in (some, others))
    return next(largest) * next(largest) < _SAFE


def _times(some: NDArray[Any], factor: NDArray[Any]) -> NDArray[Any]:
    """Return products, as int64 if they are small, else as Python ints."""
    product: NDArray[Any] = (some if _fits(some, factor) else some.astype(object)) * factor
    return product


@dataclass(frozen=True, eq=False)
class Gaps:
    """How far apart a query's answers are on the best layout of each of some shapes.

    Attributes
    ----------
    above, below : ndarray of Python ints, shape (s,)
        The gaps are ``above / below``; none is negative.
    layout : callable
        Returns the layout of the shape at a place.
    """

    above: Integers
    below: Integers
    layout: Callable[[int], Layout]

    @classmethod
    def better(
        cls, gaps: Sequence[Integers], below: Integers, layout: Callable[[int, int], Layout]
    ) -> Gaps:
        """Take for every shape the larger of two layouts with one denominator; the first of equals.

        Parameters
        ----------
        gaps : sequence of two ndarrays of Python ints, shape (s,)
            The differences of the answers, of any sign, times `below`.
        below : ndarray of Python ints, shape (s,)
            The denominators.
        layout : callable
            Returns the layout of the shape at a place, for the first (0) or the second (1) gap.
        """
        first, second = map(abs, gaps)
        which = (second > first).astype(np.int64)
        above = np.where(which == 1, second, first)
        return cls(above, below, lambda place: layout(place, int(which[place])))

    def part(self, start: int, stop: int) -> Gaps:
        """Return the gaps of some shapes."""
        here = slice(start, stop)
        return Gaps(self.above[here], self.below[here], lambda place: self.layout(start + place))

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The gaps as the nearest floats; infinity beyond their range."""
        return nearest_floats(self.above, self.below)

    def exceeds(self, one: int, other: int) -> bool:
        """Tell whether one gap is larger than another one, exactly."""
        # To round to the nearest float keeps the order: only equal floats leave it open.
        if self.floats[one] != self.floats[other]:
            return bool(self.floats[one] > self.floats[other])
        return bool(self.above[one] * self.below[other] > self.above[other] * self.below[one])

    def largest(self, starts: Positions, stops: Positions) -> NDArray[np.intp]:
        """Return the place of the largest gap, the first of equals, in each of some slices."""
        places = np.array(starts, dtype=np.intp)
        # For slices that start at 0 one list of rises serves all: the last rise before a stop is
        # the largest there.
        prefixes = starts == 0
        for number in np.flatnonzero(~prefixes & (stops > starts + 1)):
            for place in range(starts[number] + 1, stops[number]):
                if self.exceeds(place, places[number]):
                    places[number] = place
        if prefixes.any():
            rises = np.array(self._rises(int(stops[prefixes].max())))
            places[prefixes] = rises[rises.searchsorted(stops[prefixes]) - 1]
        return places

    def _rises(self, stop: int) -> list[int]:
        """Return the places before a stop whose gap is larger than all before it."""
        if stop == 1:
            return [0]
        floats = self.floats[:stop]
        # A place below the running maximum of floats is smaller than one before it, exactly so:
        # "Whole curves: every distance at once", *Floats may select*.
        reached = np.flatnonzero(floats == np.maximum.accumulate(floats)).tolist()
        rises = reached[:1]
        for place in reached[1:]:
            if self.exceeds(place, rises[-1]):
                rises.append(place)
        return rises


class GapCurve(Sequence[Finding]):
    """A finding for every relation, made when asked for, as every `LaidOut` pair.

    Attributes
    ----------
    values : ndarray of float64, shape (r,)
        The gaps as the nearest floats; infinity beyond their range.
    """

    def __init__(self, records: SortedMultiset, relations: int) -> None:
        self._records = records
        self._above, self._below = np.zeros((2, relations), dtype=object)
        self._sources: list[Gaps] = []
        self._source = np.full(relations, -1)
        self._place = np.zeros(relations, dtype=np.intp)

    def offer(self, gaps: Gaps, relations: NDArray[np.intp], places: NDArray[np.intp]) -> None:
        """Take the gaps at some places for some relations, where they are larger than before."""
        above, below = gaps.above[places], gaps.below[places]
        new = self._source[relations] < 0
        # a / b > c / d is a d > c b, as no denominator is negative.
        larger = above * self._below[relations] > self._above[relations] * below
        taken = new | larger.astype(bool)
        mine = relations[taken]
        self._above[mine], self._below[mine] = above[taken], below[taken]
        self._source[mine] = len(self._sources)
        self._place[mine] = places[taken]
        self._sources.append(gaps)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The gaps as the nearest floats; infinity beyond their range."""
        return nearest_floats(self._above, self._below)

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> list[Finding]: ...
    def __getitem__(self, place: int | slice) -> Finding | list[Finding]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        layout = self._sources[self._source[place]].layout(int(self._place[place]))
        gap = Fraction(self._above[place], self._below[place])
        return LaidOut(self._records, layout, Difference(gap, Fraction(0)))


Kernel = Callable[[SortedMultiset, Query, Shapes], Gaps]
"""Returns the largest gaps of a query for some shapes."""


def solve_by_gaps(problem: Problem, kernel: Kernel) -> Findings:
    """Return the largest gaps of a problem; a kernel call solves all shapes of a query."""
    search = LayoutSearch(problem)
    found = []
    for query in problem.queries:
        curve = GapCurve(search.records, len(problem.neighbors))
        # Shapes stand in the order of families and sizes, as `every_shape` puts them; `start` is
        # where those of a size begin.
        every, start = kernel(search.records, query, search.every_shape), 0
        for family in problem.families:
            relations = np.array(family.places, dtype=np.intp)
            for steps in family.steps:
                gaps = every.part(start, start + len(steps.removed))
                curve.offer(gaps, relations, gaps.largest(steps.starts, steps.stops))
                start += len(steps.removed)
        found.append(curve)
    return found


def nearest_floats(above: Integers, below: Integers) -> NDArray[np.float64]:
    """Return quotients of whole numbers as the nearest floats; infinity beyond their range.

    Examples
    --------
    >>> nearest_floats(np.array([1, 10**400], dtype=object), np.array([3, 1], dtype=object))
    array([0.33333333,        inf])
    """
    try:
        return np.asarray(above / below, dtype=np.float64)
    except OverflowError:
        return np.array([_quotient(*pair) for pair in zip(above, below, strict=True)])


def _quotient(above: int, below: int) -> float:
    """Return the nearest float; infinity beyond the range of floats."""
    try:
        return above / below
    except OverflowError:
        return math.inf
