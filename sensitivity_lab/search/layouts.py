"""A sorted universe, and pairs of datasets laid out along it.

Sort the universe: u_0 <= u_1 <= ... <= u_(N-1). A *layout* says which positions are in the core C,
only in x (A) and only in y (B), as ranges; the other positions are outside both. Engines that need
no enumeration propose layouts, and the best of a few is found by exact comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Problem
from sensitivity_lab.universes.relations import Relation
from sensitivity_lab.universes.universe import Universe

from .engine import Finding, Findings
from .sorted_records import Ranges, SortedMultiset


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


@lru_cache(maxsize=4)
def sorted_universe(universe: Universe, limit: int) -> SortedMultiset:
    """Return the records of a universe by positions; made once for all queries and distances.

    Parameters
    ----------
    universe : Universe
        What datasets are drawn from.
    limit : int
        The largest number of copies of a value that a pair can use; unlimited copies become that.

    Examples
    --------
    >>> records = sorted_universe(Universe.from_domain([10, 20]), limit=3)
    >>> records.size, records.record(2), records.record(3), records.total(4)
    (6, 10, 20, 50)
    """
    integers, unit = universe.integers
    return SortedMultiset(integers, universe.multiplicities(limit), unit)


Candidates = Iterable[tuple[Difference, Layout]]
"""Layouts of one shape, one of which is furthest apart, with their differences."""


class LayoutSearch:
    """The questions that a problem asks of a sorted universe: a query and a shape each.

    Relations share shapes (at most 2 records replaced has those of at most 1), so each question is
    asked once.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    records : SortedMultiset
    shapes_by_relation : list of list of Shape
    shapes : list of Shape
        Each once, in the order of relations.
    questions : list of (Query, Shape)
        Each once, in the order of queries and relations.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        limit = max(
            size + added
            for relation in problem.neighbors
            for size, (_, added) in problem.changes(relation)
        )
        # One more copy than there is of any value is no difference: made once for all distances.
        most = int(problem.universe.multiplicities(limit).max())
        self.records = sorted_universe(problem.universe, most)
        self.shapes_by_relation = [self._shapes_of(relation) for relation in problem.neighbors]
        self.shapes = list(dict.fromkeys(chain.from_iterable(self.shapes_by_relation)))
        self.questions = [(query, shape) for query in problem.queries for shape in self.shapes]

    def _shapes_of(self, relation: Relation) -> list[Shape]:
        return [
            Shape(size - removed, removed, added, self.records.size)
            for size, (removed, added) in self.problem.changes(relation)
        ]

    def findings(self, answers: Sequence[Candidates]) -> Findings:
        """Return the best of all candidates, for every query and every relation.

        Parameters
        ----------
        answers : sequence of iterables of (Difference, Layout)
            Candidates for each of the `questions`; iterated one after the other.
        """
        best = {
            question: furthest(candidates)
            for question, candidates in zip(self.questions, answers, strict=True)
        }
        return [
            [
                self._finding(furthest(best[query, shape] for shape in shapes)[1])
                for shapes in self.shapes_by_relation
            ]
            for query in self.problem.queries
        ]

    def _finding(self, layout: Layout) -> Finding:
        return Finding(
            self.records.multiplicities(layout.core, layout.only_x),
            self.records.multiplicities(layout.core, layout.only_y),
            None,
            0,
        )


def furthest(candidates: Candidates) -> tuple[Difference, Layout]:
    """Return the candidate with the largest difference; the first of equals."""
    return max(candidates, key=itemgetter(0))
