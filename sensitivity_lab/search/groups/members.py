"""The rows of a universe by their group, in the order of a column's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.queries import GroupBy, Query
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.universes.relations import Multiplicities, repeated
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

ROW_BYTES = 240
"""What a distinct row takes: its number, as such and in its group's, and where it is."""


@dataclass(frozen=True, eq=False)
class Members:
    """The rows of one group.

    Attributes
    ----------
    rows : ndarray of intp, shape (m,)
        The positions of its distinct rows among those of the universe, by ascending numbers.
    counts : ndarray of int64, shape (m,)
        How often each of them is there.
    integers : ndarray of Python ints, shape (m,)
        Their numbers, in the unit that all groups share.
    many : int
        How many distinct rows the universe has.
    """

    rows: Indices
    counts: Multiplicities
    integers: Integers
    many: int

    @cached_property
    def size(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @cached_property
    def records(self) -> Integers:
        """The numbers of all records, ascending, shape (size,)."""
        found: Integers = repeated(self.integers, self.counts)
        return found

    def taken(self, *ranges: tuple[int, int]) -> Multiplicities:
        """Return the records at some positions as multiplicities of all rows."""
        found, stops = np.zeros_like(self.counts), np.cumsum(self.counts)
        for start, stop in ranges:
            inside = np.minimum(stops, stop) - np.maximum(stops - self.counts, start)
            found += np.maximum(inside, 0)
        return self.among(found)

    def among(self, own: Multiplicities) -> Multiplicities:
        """Return some of these records as multiplicities of all rows."""
        found = np.zeros(self.many, dtype=np.int64)
        found[self.rows] = own
        return found


@dataclass(frozen=True, eq=False)
class Grouped:
    """A query on the rows of each group, on some universe.

    Attributes
    ----------
    query : Query
        On the numbers of a group.
    groups : tuple of Members
    others : Members
        The rows of no group; their numbers do not matter.
    unit : int
        The common denominator of all numbers.
    empty : Fraction or None
        The answer for an empty group; None if it has none.
    sizes : tuple of int, or None
        How many rows each group has, where that is public.
    many : int
        How many distinct rows the universe has.
    unlimited : bool
        Whether a dataset can have each row any number of times.
    """

    query: Query
    groups: tuple[Members, ...]
    others: Members
    unit: int
    empty: Fraction | None
    sizes: tuple[int, ...] | None
    many: int
    unlimited: bool

    @classmethod
    def of(cls, universe: FiniteUniverse, query: Query, counts: Multiplicities) -> Grouped | str:
        """Sort the rows of a universe into groups; or say why a query is no such.

        Parameters
        ----------
        universe : FiniteUniverse
            Of tables.
        query : Query
            A GroupBy, if it is one.
        counts : ndarray of int64, shape (m,)
            How often each distinct row of the universe is there.
        """
        if not isinstance(query, GroupBy) or not isinstance(universe, TableUniverse):
            return query.name
        found = query.query.projection(universe)
        if found is None and query.query.moment != "count":
            return f"{query.name} here"
        name, of_numbers = found or (None, query.query)
        rows = np.arange(len(counts))
        integers, unit = np.array([0] * len(counts), dtype=object), 1
        if found is not None and of_numbers.moment != "count":
            numbers = universe.column(name)
            places = [numbers.index(value) for value in universe.listed(name)]
            rows = np.argsort(places, kind="stable")
            integers, unit = numbers.integers[0][places], numbers.integers[1]
        given = 0 if of_numbers.moment in ("count", "sum") else query.query.empty
        empty = None if given is None else Fraction(given)
        whole = math.lcm(unit, 1 if empty is None else empty.denominator)
        integers = integers * (whole // unit)

        def members(inside: np.ndarray) -> Members:
            held = rows[inside[rows] & (counts[rows] > 0)]
            return Members(held, counts[held], integers[held], len(counts))

        inside = query.members(universe)
        outside = ~np.logical_or.reduce(inside)
        return cls(
            query=of_numbers,
            groups=tuple(map(members, inside)),
            others=members(outside),
            unit=whole,
            empty=empty,
            sizes=cast("tuple[int, ...] | None", query.group_sizes),
            many=len(counts),
            unlimited=universe.counts is None,
        )
