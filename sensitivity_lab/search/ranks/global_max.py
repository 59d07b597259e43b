"""Exact search for any L-statistic: a weighted sum of the records by rank.

Where few ranks have a weight only their records are chosen (`few_ranks`); otherwise every record
gets a label (`all_ranks`). Both search for the largest f(x) - f(y), and for the largest f(y) - f(x)
with the weights times -1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter

import numpy as np

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query, Weights
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
from sensitivity_lab.search.layouts import LayoutSearch, Shape
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_pairs, of_records

from .all_ranks import best_labels, bytes_of, covered, steps
from .few_ranks import KeySearch
from .walk import CORE, ONLY_X, ONLY_Y, Labels, Target, Walk

COVERS = "L-statistics (weighted sums of the records by rank)"

MAX_STEPS = 20_000_000_000
"""The most states that a search may look at altogether; that takes some minutes."""

_FEW_KEYS = 600
"""With at most this many keys, the search chooses keys instead of labels."""

_DEARER = 10
"""About how many times longer a state takes than an element of a key's array."""


class Ranks:
    """The engine: exact for any L-statistic under every relation.

    Notes
    -----
    For N records, i removed and j added, and w ranks with a weight. Few ranks: at most O((w (i + 1)
    (j + 1))**2) array operations of length N - n - j. Otherwise N (n - i) (i + 1) (j + 1) steps of
    some five nanoseconds, three times as long where the numbers exceed 2**60. Memory: a byte per
    step, at most 256 MiB, and an array for each key.
    """

    name = "ranks"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries without weights by rank, and too many steps."""
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows")
        for query in problem.queries:
            if any(query.weights(size) is None for size in problem.every_size):
                return Refusal.of_query(self.name, self.covers, query.name)
        layouts = LayoutSearch(problem)
        held = _bytes(problem, layouts)
        refused = beyond_limit(self.name, held, options)
        if refused is not None:
            return refused
        records = _Records.of(layouts)
        searches = [
            _WalkSearch.of(query, group, records)
            for query in problem.queries
            for group in _groups(layouts.shapes)
        ]
        for search in searches:
            if not search.few and not covered(search.walk):
                return Refusal(
                    f"{self.name} does not cover {search.query.name} here: the records and weights "
                    "span too many orders of magnitude to be added up exactly"
                )
        total = sum(search.steps for search in searches)
        if total > MAX_STEPS:
            return Refusal(
                f"{self.name} would look at {total:,} states, more than {MAX_STEPS:,}; choose "
                "fewer records, or a smaller size or distance",
                too_large=True,
            )
        memory = held + max(search.bytes for search in searches)
        return Plan(partial(_solve, layouts, records, searches, options), Cost(memory))


def _bytes(problem: Problem, layouts: LayoutSearch) -> int:
    """Return what is there besides a walk: records, weights by rank, labels, and the pairs."""
    integers, shapes = IntegerBytes.of(problem.universe), len(layouts.shapes)
    records, values = layouts.records.size, problem.universe.number
    searches = len(problem.queries) * len(_groups(layouts.shapes))
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
    walks = searches * (4 * 5 * WORD * problem.largest + records * integers.kept)
    labels = len(problem.queries) * shapes * records
    held = of_records(problem, sums=False) + values * integers.peak + 4 * WORD * records
    return held + by_rank + walks + labels + of_pairs(problem)


def _groups(shapes: Sequence[Shape]) -> list[list[Shape]]:
    """Return the shapes with equal sizes of x and y together: one walk finds them all."""
    groups: dict[tuple[int, int], list[Shape]] = {}
    for shape in shapes:
        groups.setdefault((shape.of_x, shape.of_y), []).append(shape)
    return list(groups.values())


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
        values = np.repeat(np.arange(len(records.values)), records.counts)
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
    few : list of KeySearch
        One for every shape, where few ranks have a weight; else empty.
    """

    query: Query
    shapes: list[Shape]
    walk: Walk
    below: int
    few: list[KeySearch]

    @classmethod
    def of(cls, query: Query, shapes: list[Shape], records: _Records) -> _WalkSearch:
        """Plan the search, without doing any of it."""
        of_x, of_y = query.weights(shapes[0].of_x) or (), query.weights(shapes[0].of_y) or ()
        below = math.lcm(*(weight.denominator for _, weight in (*of_x, *of_y)))
        by_rank = [
            _by_rank(weights, size, below)
            for weights, size in ((of_x, shapes[0].of_x), (of_y, shapes[0].of_y))
        ]
        integers = records.integers
        if by_rank[0].sum() == by_rank[1].sum():
            # Adding a constant to all records changes both answers by the same.
            integers = integers - integers[len(integers) // 2]
        targets = [Target(shape.core, shape.only_x, shape.only_y) for shape in shapes]
        walk = Walk(integers, by_rank[0], by_rank[1], targets)
        few: list[KeySearch] = []
        if sum(KeySearch.most_keys(walk, target) for target in targets) <= _FEW_KEYS:
            few = [KeySearch(walk, target) for target in targets]
            if sum(search.steps for search in few) > _DEARER * steps(walk) and covered(walk):
                few = []
        return cls(query, shapes, walk, below * records.unit, few)

    @property
    def steps(self) -> int:
        """How many states are looked at, in both directions."""
        of_few = sum(search.steps for search in self.few) // _DEARER
        return 2 * (of_few if self.few else steps(self.walk))

    @property
    def bytes(self) -> int:
        """How much memory the search takes, besides the records."""
        return max((search.bytes for search in self.few), default=bytes_of(self.walk))

    def solve(self, options: Options) -> Iterator[tuple[Shape, Fraction, Labels]]:
        """Yield the largest difference of every shape with its labels, in both directions."""
        for walk in (self.walk, self.walk.negated()):
            if self.few:
                found = [KeySearch(walk, target).best() for target in walk.targets]
            else:
                found = best_labels(walk, progress=options.progress)
            for shape, (value, labels) in zip(self.shapes, found, strict=True):
                yield shape, Fraction(value, self.below), labels


def _by_rank(weights: Weights, size: int, below: int) -> Integers:
    """Return the weights of all ranks, as integers over a denominator."""
    by_rank = np.zeros(size, dtype=object)
    for rank, weight in weights:
        by_rank[rank] = int(weight * below)
    return by_rank


def _solve(
    layouts: LayoutSearch,
    records: _Records,
    searches: Sequence[_WalkSearch],
    options: Options,
) -> Findings:
    """Return a finding for every query and every relation."""
    best: dict[tuple[Query, Shape], tuple[Fraction, Labels]] = {}
    for search in searches:
        for shape, value, labels in search.solve(options):
            held = best.get((search.query, shape))
            if held is None or value > held[0]:
                best[search.query, shape] = value, labels
    return [
        [
            records.finding(max((best[query, shape] for shape in shapes), key=itemgetter(0))[1])
            for shapes in layouts.shapes_by_relation
        ]
        for query in layouts.problem.queries
    ]
