"""A sorted universe, and pairs of datasets laid out along it.

Sort the universe: u_0 <= u_1 <= ... <= u_(N-1). A *layout* says which positions are in the core C,
only in x (A) and only in y (B), as ranges; the other positions are outside both. Engines that need
no enumeration propose layouts, and the best of a few is found by exact comparison.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers

from .engine import Finding
from .sorted_arrays import sorted_records_of
from .sorted_records import Positions, Ranges, SortedMultiset


@dataclass(frozen=True)
class Layout:
    """A pair of datasets along a sorted universe: core, records only in x, records only in y."""

    core: Ranges
    only_x: Ranges
    only_y: Ranges


@dataclass(frozen=True)
class Shape:
    """How many records are in the core, only in x and only in y, and in all the universe."""

    core: int
    only_x: int
    only_y: int
    total: int

    @property
    def of_x(self) -> int:
        """The size of x."""
        return self.core + self.only_x

    @property
    def of_y(self) -> int:
        """The size of y."""
        return self.core + self.only_y

    @property
    def turned(self) -> Shape:
        """The shape with x and y exchanged."""
        return Shape(self.core, self.only_y, self.only_x, self.total)


@lru_cache(maxsize=4)
def sorted_universe(universe: FiniteUniverse, limit: int) -> SortedMultiset:
    """Return the records of a universe by positions; made once for all queries and distances.

    Parameters
    ----------
    universe : FiniteUniverse
        What datasets are drawn from.
    limit : int
        The largest number of copies of a value that a pair can use; unlimited copies become that.

    Examples
    --------
    >>> from sensitivity_lab.universes.universe import Universe
    >>> records = sorted_universe(Universe.from_domain([10, 20]), limit=3)
    >>> records.size, records.record(2), records.record(3), records.total(4)
    (6, 10, 20, 50)
    """
    return sorted_records_of(of_numbers(universe), universe.multiplicities(limit))


def most_copies(problem: Problem) -> int:
    """Return the largest number of copies of a value that a pair can use."""
    return int(problem.universe.multiplicities(problem.together).max())


@dataclass(frozen=True, eq=False)
class Shapes:
    """Some shapes of pairs, by columns.

    Attributes
    ----------
    core, only_x, only_y : ndarray of int64, shape (s,)
        How many records are in both datasets, only in x and only in y.
    total : int
        How many the universe has.

    Examples
    --------
    >>> shapes = Shapes(np.array([3, 2]), np.array([1, 2]), np.array([0, 0]), 9)
    >>> shapes[1], shapes.of_x.tolist(), shapes.of_y.tolist()
    (Shape(core=2, only_x=2, only_y=0, total=9), [4, 4], [3, 2])
    """

    core: Positions
    only_x: Positions
    only_y: Positions
    total: int

    @property
    def of_x(self) -> Positions:
        """The sizes of x."""
        return self.core + self.only_x

    @property
    def of_y(self) -> Positions:
        """The sizes of y."""
        return self.core + self.only_y

    def __len__(self) -> int:
        return len(self.core)

    def __iter__(self) -> Iterator[Shape]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Shape:
        core, only_x, only_y = (
            int(column[place]) for column in (self.core, self.only_x, self.only_y)
        )
        return Shape(core, only_x, only_y, self.total)


class LaidOut(Finding):
    """A pair of which the search says where its records lie; it is listed when asked for.

    Parameters
    ----------
    records : SortedMultiset
        The sorted universe.
    layout : Layout
        Where the records of the pair lie.
    gap : Difference
        How far the answers are apart.
    """

    def __init__(self, records: SortedMultiset, layout: Layout, gap: Difference) -> None:
        vars(self).update(
            records=records, layout=layout, gap=gap, answers=None, datasets_evaluated=0
        )

    records: SortedMultiset
    layout: Layout
    gap: Difference

    @cached_property
    def x(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in x."""
        return self.records.multiplicities(self.layout.core, self.layout.only_x)

    @cached_property
    def y(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in y."""
        return self.records.multiplicities(self.layout.core, self.layout.only_y)

    def ends(self, most: int) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
        """Return so many records of x and of y, the first half of them and the last; or all.

        Each as places among the distinct values, with the number of records of the dataset.
        """
        core, own = self.layout.core, (self.layout.only_x, self.layout.only_y)
        of_x, of_y = (self._ends(sorted((*core, *part)), most) for part in own)
        return of_x, of_y

    def _ends(self, ranges: Sequence[tuple[int, int]], most: int) -> tuple[list[int], int]:
        size = sum(stop - start for start, stop in ranges)
        first = list(islice(chain.from_iterable(map(range, *zip(*ranges, strict=True))), most))
        # The last records are taken from the end backwards: no dataset is listed in full.
        if size > most:
            downwards = (range(stop - 1, start - 1, -1) for start, stop in reversed(ranges))
            last = list(islice(chain.from_iterable(downwards), most - most // 2))
            first[most // 2 :] = reversed(last)
        return self.records.place(np.array(first)).tolist(), size


Gap = TypeVar("Gap", bound=Any)
Found = TypeVar("Found")


class LayoutSearch:
    """The shapes that a problem asks a sorted universe for.

    Relations share shapes (at most 2 records replaced has those of at most 1), so each is asked
    for once.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    records : SortedMultiset
    shapes_by_steps : list of list of Shapes
        For every family of relations and every size of x, by ascending distance.
    shapes : list of Shape
        Each once, in the order of families, sizes and distances.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # One more copy than there is of any value is no difference: made once for all distances.
        self.records = sorted_universe(problem.universe, most_copies(problem))
        self.shapes_by_steps = [
            [
                Shapes(steps.size - steps.removed, steps.removed, steps.added, self.records.size)
                for steps in family.steps
            ]
            for family in problem.families
        ]

    @property
    def every_shape(self) -> Shapes:
        """The shapes of all families and sizes, one after the other, by columns."""
        every = [shapes for by_size in self.shapes_by_steps for shapes in by_size]
        columns = zip(*((one.core, one.only_x, one.only_y) for one in every), strict=True)
        core, only_x, only_y = map(np.concatenate, columns)
        return Shapes(core, only_x, only_y, self.records.size)

    @cached_property
    def shapes(self) -> list[Shape]:
        """Each shape once, in the order of families, sizes and distances."""
        by_steps = chain.from_iterable(self.shapes_by_steps)
        return list(dict.fromkeys(shape for shapes in by_steps for shape in shapes))

    def by_relation(
        self, best: Mapping[tuple[Query, Shape], tuple[Gap, Found]]
    ) -> list[list[tuple[Gap, Found]]]:
        """Return the best of what every relation allows, for every query and every relation.

        Parameters
        ----------
        best : mapping of (difference, anything)
            What is furthest apart for each query and shape; differences compare with each other.
        """
        return [
            self._of_relations({shape: best[query, shape] for shape in self.shapes})
            for query in self.problem.queries
        ]

    def _of_relations(self, best: Mapping[Shape, tuple[Gap, Found]]) -> list[tuple[Gap, Found]]:
        found: dict[int, tuple[Gap, Found]] = {}
        for family, by_size in zip(self.problem.families, self.shapes_by_steps, strict=True):
            for steps, shapes in zip(family.steps, by_size, strict=True):
                here = [best[shape] for shape in shapes]
                gaps = [gap for gap, _ in here]
                places = largest_of_slices(gaps, steps.starts, steps.stops)
                for relation, place in zip(family.places, places, strict=True):
                    if relation not in found or gaps[place] > found[relation][0]:
                        found[relation] = here[place]
        return [found[place] for place in range(len(found))]


def largest_of_slices(items: Sequence[Any], starts: Positions, stops: Positions) -> list[int]:
    """Return where the largest of some items is, the first of equals, in each of some slices.

    Parameters
    ----------
    items : sequence of s items
        That compare with each other.
    starts, stops : ndarray of int64, shape (r,)
        The slices. For those that start at 0 this takes s comparisons in all.

    Examples
    --------
    >>> largest_of_slices([1, 3, 3, 2], np.array([0, 0, 2]), np.array([1, 4, 4]))
    [0, 1, 2]
    """
    rises: list[int] = []
    if (starts == 0).any():
        for place in range(int(stops[starts == 0].max())):
            if not rises or items[place] > items[rises[-1]]:
                rises.append(place)
    return [
        rises[bisect_left(rises, stop) - 1]
        if start == 0
        else max(range(start, stop), key=items.__getitem__)
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
