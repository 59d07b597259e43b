"""Exact local search for weighted sums by rank that never fall when a record rises.

Among the neighbors of x with a given number of records removed and added, the answer is greatest
where the smallest records of x are removed and the largest ones outside x are added, and least the
other way around. See docs/proofs.md, "Local sensitivity: monotone queries".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import Cost, Finding, Options, Plan, Refusal
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_int, of_neighbors
from sensitivity_lab.search.sorted_arrays import sorted_records_of, takes_arrays
from sensitivity_lab.search.sorted_records import SortedMultiset
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS


class LocalMonotone:
    """The engine: exact for weighted sums by rank without a negative weight.

    Notes
    -----
    Two candidates per change. Each takes O(m + w log m) time for m distinct values and w runs of
    ranks of one weight.

    Every L-statistic without negative weights is covered, including midranges and winsorized means.
    """

    name = "monotone"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse queries that are no weighted sums by rank, or can fall."""
        query = problem.query
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        if query.runs(np.array([problem.size])) is None:
            return Refusal.of_query(self.name, self.covers, query.name)
        sizes = {problem.size - removed + added for removed, added in problem.changes}
        for size in () if query.crosses_once else sizes:
            if any(weight < 0 for _, _, weight in query.runs_of(size)[0]):
                why = f"{self.name} does not cover {query.name}: it has a negative weight"
                return Refusal(why, of_kind=True)
        return Plan(partial(furthest_neighbor, problem), Cost(_bytes(problem)))


def _bytes(problem: LocalProblem) -> int:
    """Return what the search needs: numbers and a few datasets, and perhaps sums of Python ints."""
    # Besides, how many records of x and of those outside it come before each value, either way.
    numbers = of_numbers(problem.universe)
    needed = of_neighbors(problem) + 4 * WORD * len(problem.x)
    if takes_arrays(numbers, int(problem.x.max())):
        return needed
    if any(stop > start + 1 for start, stop, _ in problem.query.runs_of(problem.size)[0]):
        bits = IntegerBytes.of(problem.universe).bits
        each = of_int(bits + problem.size.bit_length()) + of_int(bits) + 3 * WORD
        needed += each * len(problem.x)
    return needed


class End(NamedTuple):
    """A neighbor with the least or the greatest answer.

    Attributes
    ----------
    answer : Fraction
    y : ndarray of int64, shape (m,)
        How often each distinct value of the universe occurs in the neighbor.
    """

    answer: Fraction
    y: Multiplicities


def furthest_neighbor(problem: LocalProblem) -> Finding:
    """Return x and the neighbor whose answer is furthest from that of x."""
    of_x, least, greatest = both_ends(problem)
    y = greatest.y if greatest.answer - of_x >= of_x - least.answer else least.y
    return Finding(problem.x, y, None, 0)


def both_ends(problem: LocalProblem) -> tuple[Fraction, End, End]:
    """Return the answer on x, and its neighbors with the least and with the greatest answer."""
    x, outside = problem.x, problem.outside
    records = sorted_records_of(of_numbers(problem.universe), x)
    runs_of = cache(problem.query.runs_of)

    def ends(neighbors: Iterable[Multiplicities]) -> Iterator[End]:
        for y in neighbors:
            changed = _Changed(records, y)
            yield End(_answer(changed, *runs_of(changed.size)), y)

    first_of_x, last_of_x = _first(x), _last(x)
    first_outside, last_outside = _first(outside), _last(outside)
    lowest = (x - last_of_x(i) + first_outside(j) for i, j in problem.changes)
    highest = (x - first_of_x(i) + last_outside(j) for i, j in problem.changes)
    by_answer = attrgetter("answer")
    least, greatest = min(ends(lowest), key=by_answer), max(ends(highest), key=by_answer)
    return _answer(records, *runs_of(problem.size)), least, greatest


def _first(counts: Multiplicities) -> Callable[[int], Multiplicities]:
    """Return what takes the smallest of some records, as `smallest`, for many numbers of them."""
    before = np.cumsum(counts) - counts
    return lambda number: np.minimum(np.maximum(number - before, 0), counts)


def _last(counts: Multiplicities) -> Callable[[int], Multiplicities]:
    """Return what takes the largest of some records."""
    first = _first(counts[::-1])
    return lambda number: first(number)[::-1]


def _answer(
    records: SortedMultiset, runs: Iterable[tuple[int, int, int]], unit: int, constant: int
) -> Fraction:
    """Return the exact answer on a dataset."""
    total = 0
    for start, stop, weight in runs:
        if stop == start + 1:
            total += weight * records.record(start)
        elif stop > start:
            total += weight * (records.total(stop) - (records.total(start) if start else 0))
    below = unit * records.unit
    return Fraction(total + constant * below, below)


class _Changed(SortedMultiset):
    """The records of a neighbor of x: what they share is summed once.

    Parameters
    ----------
    of_x : SortedMultiset
        The records of x.
    counts : ndarray of int64, shape (m,)
        How often each distinct value occurs in the neighbor.
    """

    def __init__(self, of_x: SortedMultiset, counts: Multiplicities) -> None:
        self._of_x, self.unit = of_x, of_x.unit
        self._place(counts)

    def _at(self, places: Any) -> Any:
        return self._of_x._at(places)

    def before(self, places: Any, power: int = 1) -> Any:
        """Return the sums of the records of all values before some."""
        where, sums = self._change
        return self._of_x.before(places, power) + sums[where.searchsorted(places)]

    @cached_property
    def _change(self) -> tuple[NDArray[np.intp], Integers]:
        """The places of the values that x has more or less of, and by how much sums differ."""
        change = self.counts - self._of_x.counts
        where = np.flatnonzero(change)
        terms = self._at(where) * change[where].astype(object)
        return where, np.concatenate([np.array([0], dtype=object), np.cumsum(terms)])
