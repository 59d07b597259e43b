"""Exact search for a workload over a domain without a limit of copies: the columns of its matrix.

A change takes i records from x and gives j to y. The norm is convex, so i copies of one record and
j copies of another are furthest apart: the search is for two columns a and b of the matrix with the
largest norm of i a - j b. See docs/proofs.md, "Workloads (`workloads`)".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from sensitivity_lab.checks import Norm
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.metrics.vectors import POWERS, powered
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries.rows.workload import Entries, Intervals, Workload
from sensitivity_lab.running import poll
from sensitivity_lab.universes.relations import Relation, smallest

from .contenders import contenders
from .engine import Cost, Finding, Findings, Options, Plan, Refusal
from .lattice import Floats, Indices
from .layouts import WORD, bytes_of_pairs

MOST_STEPS = 2_000_000_000
"""About so many operations on entries at most, for one change."""

_BITS = 256
"""Entries of more bits are taken in a larger unit."""

_MOST_EXACT = 10_000
"""So many pairs at most whose floats are too near to each other are compared exactly."""

_TOO_MANY = (
    "the columns of this workload are so nearly alike that too many pairs would be compared; "
    "merge categories, round the matrix to whole numbers, or ask for the norm 'L1' or 'Linf'"
)

Best = tuple[int | Fraction, int, int]
"""How far two columns are apart, in units (for L2 the square), and which they are."""


class Workloads:
    """The engine: exact for workloads over a domain without a limit of copies, in every norm.

    Notes
    -----
    Prefix sums of m categories take O(1), ranges O(m**2) operations. Of a matrix with entries, a
    visited column costs the entries of the rows that it is in; how many are visited depends on how
    early the bounds close.
    """

    name = "workloads"
    kind: Kind = "global"
    covers = "workloads over a domain without a limit of copies"
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and listed records."""
        memory = 0
        for query in problem.queries:
            if not isinstance(query, Workload):
                return Refusal.of_query(self.name, self.covers, query.name)
            if problem.universe.counts is not None:
                return Refusal(f"{self.name} covers {self.covers}, and this universe lists records")
            entries = len(getattr(query.held, "whole", ()))
            memory = max(memory, 9 * entries + 12 * sum(query.shape))
        return Plan(
            partial(_solve_workload, problem), Cost(WORD * memory + bytes_of_pairs(problem))
        )


def _solve_workload(problem: Problem) -> Findings:
    """Return the furthest pair of every query and relation."""
    found: list[list[Finding]] = []
    for query in problem.queries:
        if isinstance(query, Workload):
            places = query.places(problem.universe)
            kind: Any = _OfIntervals if isinstance(query.held, Intervals) else _OfEntries
            search = kind(query.held, np.unique(places), problem.norm)
            found.append(
                [_found_columns(problem, one, search, places) for one in problem.neighbors]
            )
    return found


def _found_columns(
    problem: Problem, relation: Relation, search: _Columns, places: Indices
) -> Finding:
    """Return the furthest pair of one relation."""
    asked = list(problem.changes(relation))
    size, (removed, added) = max(asked, key=lambda one: search.furthest(*one[1])[0])
    _, a, b = search.furthest(removed, added)
    x = smallest(problem.universe.multiplicities(size), size - removed)
    y = x.copy()
    # The columns differ, unless all records have the same; then they are two records, if there are.
    x[np.flatnonzero(places == search.present[a])[0]] += removed
    y[np.flatnonzero(places == search.present[b])[-1]] += added
    return Finding(x, y, None, 0)


class _Columns(ABC):
    """The columns that records have, and how far two of them can be apart.

    Parameters
    ----------
    held : Entries or Intervals
    present : ndarray of intp, shape (c,)
        The columns of records, ascending; the one after the last is a column of zeros. A column is
        called by its place among these.
    norm : {"L1", "L2", "Linf"}
        For L2 all distances are squares.
    """

    def __init__(self, held: Any, present: Indices, norm: Norm) -> None:
        self.held, self.present, self.norm = held, present, norm
        self.power, self.shift = POWERS[norm], 0

    @cache  # noqa: B019 - lives as long as the search
    def furthest(self, i: int, j: int) -> Best:
        """Return the columns a and b with the largest norm of i a - j b."""
        if i < j:
            far, b, a = self.furthest(j, i)
            return far, a, b
        return self.searched(i, j)

    def searched(self, i: int, j: int) -> Best:
        """Search the columns, for a change with i >= j.

        Columns a are visited by how far they can be from any other one. None is left out that can
        be in the best pair: `of_a` + `of_b` bounds the distance of each pair.
        """
        of_a, of_b, error = self.bounds(i, j)
        best: Best = (-1, 0, 0)
        steps = compared = 0
        for a in np.argsort(-of_a, kind="stable").tolist():
            poll()
            bound = of_a[a] + of_b.max() + error
            if bound < best[0] or (not error and bound <= best[0]):
                break
            far, entries = self.from_one(a, i, j)
            if len(far) > 1 and j:
                far[a] = -1.0  # see "Two columns"
            for b in contenders(far, error).tolist() if j else [a]:
                if far[b] + error >= best[0]:
                    best = max(best, (self._apart(a, b, i, j) if error else int(far[b]), a, b))
                    compared += error > 0
            steps += len(far) + entries
            if steps > MOST_STEPS or compared > _MOST_EXACT:
                raise TooLargeError(_TOO_MANY)
        return best

    @abstractmethod
    def bounds(self, i: int, j: int) -> tuple[Floats, Floats, float]:
        """Return F(a), G(b), and by how much they and distances are off at most; see "Bounds"."""

    @abstractmethod
    def from_one(self, a: int, i: int, j: int) -> tuple[Floats, int]:
        """Return the norms of i a - j b for all b, and how many entries that took."""

    def _apart(self, a: int, b: int, i: int, j: int) -> int | Fraction:
        """Return the norm of i a - j b, exactly, in units of 2**shift."""
        histogram = np.zeros(self.held.shape[1] + 1, dtype=np.int64)
        np.add.at(histogram, self.present[[a, b]], [i, -j])
        far = int(powered(self.held.times(histogram[:-1]), self.norm))
        return Fraction(far, 1 << self.shift * self.power) if self.shift else far


class _OfIntervals(_Columns):
    """Columns of intervals: how many hold a alone, b alone, and both says all."""

    def __init__(self, held: Intervals, present: Indices, norm: Norm) -> None:
        # Sums over prefixes are linear in a and in b: the first and the last are enough.
        super().__init__(held, present[[0, -1]] if held.prefixes else present, norm)

    def bounds(self, i: int, j: int) -> tuple[Floats, Floats, float]:
        """Return what no overlap leaves."""
        sizes = self.held.both(self.present, self.present).astype(np.float64)
        return i**self.power * sizes, j**self.power * sizes, 0.0

    def from_one(self, a: int, i: int, j: int) -> tuple[Floats, int]:
        """Return the norms by how many intervals have i, j or i - j in the difference."""
        shared = self.held.both(self.present[a], self.present)
        alone = self.held.both(self.present, self.present) - shared
        counts = np.stack([shared[a] - shared, alone, shared])
        entries = np.array([i, j, abs(i - j)], dtype=np.float64)
        if self.norm == "Linf":
            return (entries[:, None] * (counts > 0)).max(axis=0), 0
        return entries**self.power @ counts, 0


class _OfEntries(_Columns):
    """Columns with listed entries; rows and columns are their places among those that occur.

    Notes
    -----
    Where sums of the entries are below 2**53 all steps on floats are exact; else `error` bounds how
    far a float is from its distance.
    """

    def __init__(self, held: Entries, present: Indices, norm: Norm) -> None:
        super().__init__(held, present, norm)
        kept = np.isin(held.columns, present)
        rows = np.unique(held.rows[kept], return_inverse=True)[1]
        self._columns = np.searchsorted(present, held.columns[kept])
        self._whole = held.whole[kept]
        most = int(np.abs(self._whole).max(initial=0))
        # In units of 2**shift no square of an entry is beyond the range of floats.
        self.shift = max(0, most.bit_length() - _BITS)
        self._floats = self._scaled(self._whole)
        self._rows, self._height = rows, int(rows.max(initial=-1)) + 1
        self._starts = np.searchsorted(self._columns, np.arange(len(present) + 1))
        self._by_row = np.argsort(rows, kind="stable")
        self._row_starts = np.searchsorted(rows[self._by_row], np.arange(self._height + 1))
        # The least and the greatest entry of each row, zeros among them.
        some, starts = self._whole[self._by_row], self._row_starts[:-1]
        full = np.diff(self._row_starts) == len(present)
        self._least, self._greatest = (
            np.where(full, ends, end(ends, 0))
            for end in (np.minimum, np.maximum)
            for ends in [end.reduceat(some, starts) if self._height else some]
        )

    def _scaled(self, whole: Any) -> Floats:
        return np.asarray(whole / (1 << self.shift), dtype=np.float64)

    def bounds(self, i: int, j: int) -> tuple[Floats, Floats, float]:
        """Return F(a), G(b), and by how much they and distances are off at most; see "Bounds"."""
        p, f = self.power, self._floats
        least, greatest = (self._scaled(one)[self._rows] for one in (self._least, self._greatest))
        if p == 2:
            shared = 2 * i * j * np.minimum(f * least, f * greatest)
        else:
            held = np.maximum(0, np.where(f > 0, least, -greatest))
            shared = 2 * np.minimum(i * np.abs(f), j * held)
        width = len(self.present)
        self._norms = np.bincount(self._columns, np.abs(f) ** p, width)
        of_a = i**p * self._norms - np.bincount(self._columns, shared, width)
        total = 4 * (i + j) ** p * float(self._norms.max(initial=0))
        most = int(np.diff(self._starts).max(initial=0)) + 9  # roundings of a sum
        exact = total < 2**53 and not self.shift
        return of_a, j**p * self._norms, 0.0 if exact else 2e-15 * most * total

    def from_one(self, a: int, i: int, j: int) -> tuple[Floats, int]:
        """Return the norms of i a - j b for all b: those of i a and j b, less where both are."""
        p = self.power
        own = slice(*self._starts[a : a + 2])
        rows, starts = self._rows[own], self._row_starts
        counts = starts[rows + 1] - starts[rows]
        # The entries of these rows one after the other, and the one of a beside each.
        first = np.repeat(starts[rows] - np.cumsum(counts) + counts, counts)
        entries = self._by_row[first + np.arange(counts.sum())]
        mine, other = i * np.repeat(self._floats[own], counts), j * self._floats[entries]
        gained = np.abs(mine - other) ** p - np.abs(mine) ** p - np.abs(other) ** p
        far = i**p * self._norms[a] + j**p * self._norms
        far += np.bincount(self._columns[entries], gained, len(far))
        return far, len(entries)

    def searched(self, i: int, j: int) -> Best:
        """Return the furthest pair; for Linf it is the least and the greatest entry of a row."""
        if self.norm != "Linf" or not self._height:
            return super().searched(i, j)
        least, greatest = self._least.astype(object), self._greatest.astype(object)
        row = int(np.maximum(i * greatest - j * least, j * greatest - i * least).argmax())
        entries = np.zeros(len(self.present), dtype=object)
        own = self._by_row[slice(*self._row_starts[row : row + 2])]
        entries[self._columns[own]] = self._whole[own]
        ends = int(entries.argmax()), int(entries.argmin())
        if ends[0] == ends[1]:  # all entries of the row are equal
            ends = 0, len(entries) - 1
        return max((self._apart(a, b, i, j), a, b) for a, b in (ends, ends[::-1]))
