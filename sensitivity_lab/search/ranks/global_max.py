"""Exact search for any L-statistic: a weighted sum of the records by rank.

Where the smallest and the largest value have copies enough, they are all that a pair needs
(`two_ends`). Else, where the weights are in few runs of equal ones, only the ends of these are
searched (`few_runs`); otherwise every record gets a label (`all_ranks`). All search for the largest
f(x) - f(y), and for the largest f(y) - f(x).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query, Weights
from sensitivity_lab.queries.base import denominator_of
from sensitivity_lab.search.engine import (
    Cost,
    Finding,
    Findings,
    Options,
    Plan,
    Refusal,
    beyond_limit,
)
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.search.layouts import (
    WORD,
    IntegerBytes,
    LayoutSearch,
    Shape,
    bytes_of_pairs,
    bytes_of_records,
)
from sensitivity_lab.universes.relations import repeated

from .all_ranks import (
    CORE,
    ONLY_X,
    ONLY_Y,
    Found,
    Labels,
    Pair,
    Tell,
    Walk,
    best_labels,
    bytes_of,
    covered,
    steps,
)
from .few_runs import RunSearch
from .two_ends import EndsSearch, enough_copies

COVERS = "L-statistics (weighted sums of the records by rank)"

MAX_STEPS = 20_000_000_000
"""The most states that a search may look at altogether; that takes some minutes, and a progress bar
says from the start how many they are and how long they take."""

_FEW_STATES = 6000
"""With at most this many states in which a run ends, the search goes through these."""

_DEARER = 10
"""About how many times longer a state takes than an element of an array."""


class Ranks:
    """The engine: exact for any L-statistic under every relation.

    Notes
    -----
    For a change of i removed and j added of N records, and w ranks with a weight: O(w) steps on a
    domain with unlimited copies, or with n + j copies of its ends. Otherwise, r runs of equal
    weights take O(r (i + 1)**2 (j + 1)**2) array operations of length N - n - j; many runs take
    N (n - i) (i + 1) (j + 1) steps of some ten nanoseconds, three times as long beyond 2**60.
    Memory: an array for each end of a run and (i + 1) (j + 1); or a byte per step, at most 256 MiB.
    """

    name = "ranks"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries without weights by rank, and too many steps."""
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        for query in problem.queries:
            if any(query.weights(size) is None for size in problem.every_size):
                return Refusal.of_query(self.name, self.covers, query.name)
        layouts = LayoutSearch(problem)
        at_ends, others = _by_copies(layouts)
        walks = _asked(problem, others)
        held = _bytes(problem, layouts, walks)
        refused = beyond_limit(self.name, held, options)
        if refused is not None:
            return refused
        ends = _asked(problem, at_ends)
        searches: list[EndsSearch | _WalkSearch] = []
        total, number = 0, len(ends) + len(walks)
        # One at a time: the weights of every rank take a while to make, and two can be too many.
        planned: Iterator[EndsSearch | _WalkSearch] = chain(
            (EndsSearch(query, group, problem) for query, group in ends),
            _WalkSearch.every(walks, layouts),
        )
        for search in planned:
            searches.append(search)
            total += search.steps
            if total > MAX_STEPS:
                least = "" if len(searches) == number else "at least "
                return Refusal(
                    f"{self.name} would look at {least}{total:,} states, more than {MAX_STEPS:,}; "
                    "choose fewer records, or a smaller size or distance",
                    too_large=True,
                )
            if not search.covered:
                return Refusal(
                    f"{self.name} does not cover {search.query.name} here: the records and weights "
                    "span too many orders of magnitude to be added up exactly"
                )
        memory = held + max(search.bytes for search in searches)
        return Plan(partial(_solve, layouts, searches, options), Cost(memory))


def _by_copies(layouts: LayoutSearch) -> tuple[list[Shape], list[Shape]]:
    """Return the shapes for which the smallest and the largest value have copies enough, and more.

    Equal records are different ones, so a copy is needed for every record of C, A and B.
    """
    number = {shape: shape.core + shape.only_x + shape.only_y for shape in layouts.shapes}
    enough = enough_copies(layouts.problem.universe, max(number.values()))
    return (
        [shape for shape in layouts.shapes if number[shape] <= enough],
        [shape for shape in layouts.shapes if number[shape] > enough],
    )


def _bytes(
    problem: Problem, layouts: LayoutSearch, walks: Sequence[tuple[Query, list[Shape]]]
) -> int:
    """Return what is there besides a search: records, weights by rank, labels, and the pairs."""
    integers, shapes = IntegerBytes.of(problem.universe), len(layouts.shapes)
    values = problem.universe.number
    # Only walks write out the records one by one.
    records = layouts.records.size if walks else 0
    by_rank = (
        16
        * WORD
        * sum(
            len(query.weights(size) or ())
            for query in problem.queries
            for size in problem.every_size
        )
    )
    # Weights of x and y as Python ints, also times -1; the records by themselves for each walk.
    of_walks = len(walks) * (4 * 5 * WORD * problem.largest + records * integers.kept)
    labels = len(problem.queries) * shapes * records
    held = bytes_of_records(problem, sums=False) + values * integers.peak + 4 * WORD * records
    return held + by_rank + of_walks + labels + bytes_of_pairs(problem)


def _asked(problem: Problem, shapes: Sequence[Shape]) -> list[tuple[Query, list[Shape]]]:
    """Return every query with the shapes of equal sizes of x and y: one search finds them all."""
    groups: dict[tuple[int, int], list[Shape]] = {}
    for shape in shapes:
        groups.setdefault((shape.of_x, shape.of_y), []).append(shape)
    return [(query, group) for query in problem.queries for group in groups.values()]


@dataclass(frozen=True, eq=False)
class _Records:
    """The records of a sorted universe, one by one.

    Attributes
    ----------
    integers : ndarray of Python ints, shape (N,)
        Ascending, in units.
    values : ndarray of int, shape (N,)
        Which distinct value each record has.
    unit : int
    """

    integers: Integers
    values: Indices
    unit: int

    @classmethod
    def of(cls, layouts: LayoutSearch) -> _Records:
        """Write out a sorted universe."""
        records = layouts.records
        values = repeated(np.arange(len(records.values)), records.counts)
        return cls(records.values[values], values, records.unit)

    def finding(self, labels: Labels) -> Finding:
        """Return the pair that labels describe."""
        number = int(self.values[-1]) + 1
        x, y = (
            np.bincount(self.values[(labels == CORE) | (labels == own)], minlength=number)
            for own in (ONLY_X, ONLY_Y)
        )
        return Finding(x.astype(np.int64), y.astype(np.int64), None, 0)


@dataclass(frozen=True, eq=False)
class _WalkSearch:
    """The search for the shapes that one walk finds.

    Attributes
    ----------
    query : Query
    shapes : list of Shape
    walk : Walk
    below : int
        What sums are to be divided by: the denominator of the weights, times the unit.
    few : list of RunSearch
        One for every shape, where the weights are in few runs; else empty.
    records : _Records
    """

    query: Query
    shapes: list[Shape]
    walk: Walk
    below: int
    few: list[RunSearch]
    records: _Records

    @classmethod
    def every(
        cls, asked: Sequence[tuple[Query, list[Shape]]], layouts: LayoutSearch
    ) -> Iterator[_WalkSearch]:
        """Plan the searches, as they are asked for; without any, no records are written out."""
        if asked:
            records = _Records.of(layouts)
            yield from (cls.of(query, shapes, records) for query, shapes in asked)

    @classmethod
    def of(cls, query: Query, shapes: list[Shape], records: _Records) -> _WalkSearch:
        """Plan the search, without doing any of it."""
        of_x, of_y = query.weights(shapes[0].of_x) or (), query.weights(shapes[0].of_y) or ()
        below = denominator_of((*of_x, *of_y))
        ranks_x = by_rank(of_x, shapes[0].of_x, below)
        ranks_y = by_rank(of_y, shapes[0].of_y, below)
        integers = records.integers
        if ranks_x.sum() == ranks_y.sum():
            # Adding a constant to all records changes both answers by the same.
            integers = integers - integers[len(integers) // 2]
        walk = Walk(integers, ranks_x, ranks_y, shapes)
        few: list[RunSearch] = []
        if sum(RunSearch.most_states(walk, shape) for shape in shapes) <= _FEW_STATES:
            few = [RunSearch(walk, shape) for shape in shapes]
            # Few states may still take longer than a walk through all records, where each has a
            # long array.
            if sum(search.steps for search in few) > _DEARER * steps(walk) and covered(walk):
                few = []
        return cls(query, shapes, walk, below * records.unit, few, records)

    @property
    def covered(self) -> bool:
        """Whether there are numbers in which the sums can be compared exactly."""
        return bool(self.few) or covered(self.walk)

    @property
    def steps(self) -> int:
        """How many states are looked at, in both directions."""
        of_few = sum(search.steps for search in self.few) // _DEARER
        return 2 * (of_few if self.few else steps(self.walk))

    @property
    def bytes(self) -> int:
        """How much memory the search takes, besides the records."""
        return max((search.bytes for search in self.few), default=bytes_of(self.walk))

    def solve(self, tell: Tell) -> Iterator[Found]:
        """Yield the largest difference of every shape, and what returns its pair, either way."""
        for walk in (self.walk, self.walk.negated()):
            if self.few:
                found = [
                    RunSearch(walk, shape).best(lambda number: tell(number // _DEARER))
                    for shape in self.shapes
                ]
            else:
                found = best_labels(walk, tell)
            for shape, (value, labels) in zip(self.shapes, found, strict=True):
                pair = partial(self.records.finding, labels)
                yield shape, Fraction(value, self.below), pair


def by_rank(weights: Weights, size: int, below: int) -> Integers:
    """Return the weights of so many ranks, as integers over a denominator."""
    found = np.zeros(size, dtype=object)
    for rank, weight in weights:
        found[rank] = int(weight * below)
    return found


def _solve(
    layouts: LayoutSearch, searches: Sequence[EndsSearch | _WalkSearch], options: Options
) -> Findings:
    """Return a finding for every query and every relation."""
    best: dict[tuple[Query, Shape], tuple[Fraction, Pair]] = {}
    total = sum(search.steps for search in searches)
    with running.counter("states", options.progress, total) as tell:
        for search in searches:
            for shape, value, pair in search.solve(tell):
                held = best.get((search.query, shape))
                if held is None or value > held[0]:
                    best[search.query, shape] = value, pair
    return [[pair() for _, pair in of_query] for of_query in layouts.by_relation(best)]
