"""Whole curves at once: gaps of all shapes by columns, and the largest one for every relation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query

from .engine import Finding, Findings
from .layouts import LaidOut, Layout, LayoutSearch, Shapes
from .sorted_records import Positions, SortedMultiset


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
