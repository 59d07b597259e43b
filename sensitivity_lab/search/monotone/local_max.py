"""Exact local search for weighted sums by rank that never fall when a record rises.

Among the neighbors of x with a given number of records removed and added, the answer is greatest
where the smallest records of x are removed and the largest ones outside x are added, and least the
other way around. See docs/proofs.md, "Local sensitivity: monotone queries".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Runs
from sensitivity_lab.running import poll
from sensitivity_lab.search.crossing import runs_of
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
    SortedMultiset,
    bytes_of_int,
    bytes_of_neighbors,
    bytes_of_pairs,
    first_of,
    sorted_records_of,
    takes_arrays,
)
from sensitivity_lab.universes.relations import Multiplicities, largest, smallest
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS

_PIECES = 1 << 15
"""About so many runs of ranks are looked up at a time."""


class LocalMonotone:
    """The engine: exact for weighted sums by rank without a negative weight.

    Notes
    -----
    O(m) for m distinct values, and two candidates per change. Each takes O(w log m log(j + 1))
    time for w runs of ranks of one weight, and j added records.

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
        if query.runs(np.array([problem.size], dtype=np.int64)) is None:
            return Refusal.of_query(self.name, self.covers, query.name)
        sizes = {problem.size - removed + added for removed, added in problem.changes}
        for size in () if query.crosses_once else sizes:
            if any(weight < 0 for _, _, weight in query.runs_of(size)[0]):
                why = f"{self.name} does not cover {query.name}: it has a negative weight"
                return Refusal(why, of_kind=True)
        return local_plan(problem, partial(both_ends, problem), Cost(_bytes(problem)))


def _bytes(problem: LocalProblem) -> int:
    """Return what the search needs: numbers and a few datasets, and perhaps sums of Python ints."""
    numbers, values = of_numbers(problem.universe), len(problem.x)
    # Besides, how many records of x and of those outside it come before each value, either way.
    before = 4 * WORD * values
    sums = any(stop > start + 1 for start, stop, _ in problem.query.runs_of(problem.size)[0])
    if takes_arrays(numbers, int(max(problem.x.max(), problem.outside.max()))):
        if problem.neighbors.nested:
            # Nothing is measured before a witness is asked for, so no value becomes a Python int.
            # Sums are in two limbs, and while they are made there are mantissas and shifts.
            return bytes_of_pairs(problem) + before + (9 * WORD * values if sums else 0)
        return bytes_of_neighbors(problem) + before
    needed = bytes_of_neighbors(problem) + before
    if sums:
        bits = IntegerBytes.of(problem.universe).bits
        each = bytes_of_int(bits + problem.size.bit_length()) + bytes_of_int(bits) + 3 * WORD
        needed += each * values
    return needed


def both_ends(problem: LocalProblem) -> BothEnds:
    """Return the answer on x, and the least and the greatest answer of every change."""
    x, outside = problem.x, problem.outside
    numbers, copies = of_numbers(problem.universe), int(max(x.max(), outside.max()))
    inside, others = (sorted_records_of(numbers, some, copies) for some in (x, outside))
    ends = _ends(problem, inside, others)
    return BothEnds(next(ends).lower.answer, ends)


def _ends(problem: LocalProblem, inside: SortedMultiset, others: SortedMultiset) -> Iterator[Ends]:
    """Yield the answer on x, as both ends of no change, and then the ends of every change.

    A block of them is searched at a time.
    """
    query, x, outside = problem.query, problem.x, problem.outside
    block = max(1, _PIECES // (2 * query.most_runs(problem.size + others.size)))
    changes = ((0, 0), *problem.changes)
    for start in range(0, len(changes), block):
        poll()
        some = changes[start : start + block]
        removed, added = np.array(some, dtype=np.int64).T
        nothing, size = np.zeros_like(removed), np.full_like(removed, inside.size)
        last = np.full_like(added, others.size)
        # The smallest answers are of x without its largest records, with the smallest ones outside
        # it; the greatest ones the other way around. They are looked up side by side.
        of_x = np.concatenate([nothing, removed]), np.concatenate([size - removed, size])
        of_others = np.concatenate([nothing, last - added]), np.concatenate([added, last])
        answers = _WindowPairs(inside, others, of_x, of_others).answers(query)
        lows, highs = answers[: len(some)], answers[len(some) :]
        for (i, j), low, high in zip(some, lows, highs, strict=True):
            yield Ends(
                i,
                j,
                End(low, partial(_changed, x, outside, i, j, upward=False)),
                End(high, partial(_changed, x, outside, i, j, upward=True)),
            )


def _changed(
    x: Multiplicities, outside: Multiplicities, removed: int, added: int, *, upward: bool
) -> Multiplicities:
    """Return the neighbor with the greatest answer, if `upward`, or with the least one."""
    if upward:
        found: Multiplicities = x - smallest(x, removed) + largest(outside, added)
    else:
        found = x - largest(x, removed) + smallest(outside, added)
    return found


def _answers(runs: Runs, sums: Integers, unit: int) -> list[Fraction]:
    """Return answers from weighted sums of records times `unit`, an entry per dataset."""
    units = runs.units.astype(object) * unit
    above = sums + runs.constants.astype(object) * units
    return list(map(Fraction, above.tolist(), units.tolist()))


class _WindowPairs(NamedTuple):
    """Many datasets at a time: each has a window of the records of x and one of those outside it.

    Attributes
    ----------
    inside, others : SortedMultiset
        The records of x, and those outside it.
    of_x, of_others : tuple of two ndarray of int64, shape (datasets,)
        The positions where the windows start and stop.
    """

    inside: SortedMultiset
    others: SortedMultiset
    of_x: tuple[Positions, Positions]
    of_others: tuple[Positions, Positions]

    def answers(self, query: Query) -> list[Fraction]:
        """Return the exact answers of a weighted sum by rank."""
        (start, stop), (first, last) = self.of_x, self.of_others
        sizes = stop - start + last - first
        distinct, places = np.unique(sizes, return_inverse=True)
        runs = runs_of(query, distinct).at(places)
        return _answers(runs, self._weighed(runs), self.inside.unit)

    def _weighed(self, runs: Runs) -> Integers:
        """Return the weighted sums of the records, shape (datasets,)."""
        # The axes are the run and the dataset. Runs without a rank are taken to start at 0.
        some = runs.stops > runs.starts
        starts, stops = (np.where(some, ranks, 0) for ranks in (runs.starts, runs.stops))
        if (stops <= starts + 1).all():
            sums = self._records(starts)
        else:
            ends = self._totals(np.concatenate([starts, stops]))
            sums = ends[len(ends) // 2 :] - ends[: len(ends) // 2]
        weights = np.where(some, runs.weights, 0).astype(object)
        found: Integers = (weights * sums).sum(axis=0)
        return found

    def _records(self, ranks: Positions) -> Integers:
        """Return the records at some ranks, shape (runs, datasets)."""
        (_, stop), (_, last) = self.of_x, self.of_others
        of_x, of_others = self._before(ranks)
        # The smaller one of the next records of both windows; `none` where a window has no more.
        none = len(self.inside.counts)
        next_of_x = np.where(of_x < stop, self.inside.place(of_x), none)
        next_of_others = np.where(of_others < last, self.others.place(of_others), none)
        found: Integers = self.inside.values_at(np.minimum(next_of_x, next_of_others))
        return found

    def _totals(self, ranks: Positions) -> Integers:
        """Return the sums of the records before some ranks, and before the windows."""
        of_x, of_others = self._before(ranks)
        found: Integers = self.inside.total(of_x) + self.others.total(of_others)
        return found

    def _before(self, ranks: Positions) -> tuple[Positions, Positions]:
        """Return where, in x and outside it, the records with smaller ranks stop."""
        (start, stop), (first, last) = self.of_x, self.of_others
        # At least what the window of x cannot hold, at most what the other window has.
        low, high = np.maximum(ranks - (stop - start), 0), np.minimum(ranks, last - first)

        def enough(number: Positions) -> NDArray[np.bool_]:
            # So many are too few if the next record outside x is below the last one taken from x.
            # Of equal records it does not matter which are taken.
            of_x, of_others = start + ranks - number - 1, first + number
            return self.others.place(of_others) >= self.inside.place(of_x)

        taken = first_of(low, high, enough)
        return start + ranks - taken, first + taken
