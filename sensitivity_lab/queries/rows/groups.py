"""Queries on records with several answers: histograms, groups, and answers released together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_python, check_column, is_hashable, listed, named, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.queries.base import (
    Query,
    Sums,
    check_cells,
    flags_of,
    query_of_class,
    side_by_side,
)
from sensitivity_lab.queries.moments import Count
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .parts import Part, PartedQuery
from .tables import RecordQuery, absent_text, check_kinds, keys_of, places_of, sizes_of_groups


@dataclass(frozen=True)
class Histogram(RecordQuery):
    """The number of rows in each category, or in each bin, of a column.

    Parameters
    ----------
    column : hashable
        The column.
    categories : sequence, optional
        The categories, fixed beforehand; None or NaN stands for a missing value. Rows with other
        values are not counted. A category may occur in no record of the universe, but all must have
        the column's kind: texts for a column of texts, numbers for numbers, timestamps for
        timestamps.
    bins : sequence of numbers, optional
        The edges of the bins, ascending, as in `numpy.histogram`: a bin includes its left edge, and
        the last bin its right edge, too. Missing values and values outside are not counted.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 40]})
    >>> Histogram("sex", ["f", "m"])(table), Histogram("age", bins=[0, 30, 40])(table)
    ((2.0, 1.0), (1.0, 2.0))
    """

    column: Any
    categories: Sequence[Any] | None = None
    bins: Sequence[Any] | None = None

    vector: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        if (self.categories is None) == (self.bins is None):
            raise InputError(
                "a histogram has either categories or bins, got "
                f"categories={shown(self.categories)} and bins={shown(self.bins)}"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", keys_of("categories", self.categories))
            return
        edges = tuple(map(as_python, listed(self.bins, "bins must be a list of numbers or dates")))
        try:
            rising = all(bool(one < other) for one, other in pairwise(edges))
            words = any(isinstance(edge, (str, bytes)) or pd.isna(edge) for edge in edges)
        except Exception:  # noqa: BLE001 - edges can be anything, also what cannot be compared
            rising, words = False, True
        if len(edges) < 2 or not rising or words or not all(map(is_hashable, edges)):
            raise InputError(
                f"bins must be at least two ascending numbers or dates, got {shown(list(edges))}"
            )
        object.__setattr__(self, "bins", edges)

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return f"histogram of {named(self.column)}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories, or the bins."""
        if self.categories is not None:
            return tuple("missing" if key is None else named(key) for key in self.categories)
        edges = self.bins or ()
        last = len(edges) - 2
        return tuple(
            f"[{low}, {high}{']' if place == last else ')'}"
            for place, (low, high) in enumerate(pairwise(edges))
        )

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of 1 over the records of each category."""
        values = universe.listed(self.column)
        if self.categories is None:
            places = [self._bin_of(value) for value in values]
            return Sums.additive(flags_of(places, len(self.bins or ()) - 1, self.name))
        places = places_of(values, self.categories)
        return Sums.additive(flags_of(places, len(self.categories), self.name))

    def check_on(self, universe: TableUniverse) -> None:
        """Raise InputError for categories that no record of the column's kind can be in."""
        check_kinds("categories", self.column, self.categories or (), universe.listed(self.column))

    def absent_from(self, universe: TableUniverse) -> str:
        """Return which categories no record of a universe is in, as text."""
        return absent_text(self.column, self.categories or (), universe.listed(self.column))

    def _bin_of(self, value: Any) -> int | None:
        """Return in which bin a value is; None if in none."""
        edges = self.bins or ()
        if value is None:
            return None
        try:
            place = bisect_right(edges, value) - 1
            if value == edges[-1]:
                return len(edges) - 2
        except (TypeError, ArithmeticError):
            raise InputError(
                f"column {shown(self.column)} has the value {shown(value)}, which cannot be "
                "compared "
                "with the bins; give categories"
            ) from None
        return place if 0 <= place < len(edges) - 1 else None


@dataclass(frozen=True)
class GroupBy(PartedQuery):
    """A query on the rows of each group, all released together.

    Parameters
    ----------
    column : hashable
        The column whose values are the groups.
    query : Query
        A query on records, such as `Count()`, ``SumOf("age")``, ``MeanOf("age", empty=0)`` or
        ``ColumnQuery("age", "median", empty=0)``; `empty` is the answer for an empty group. A
        standard deviation works, too: its norms are sums of roots, compared without rounding.
    groups : sequence
        The groups, fixed beforehand; None or NaN stands for a missing value. Rows with other values
        are in no group. A group may occur in no record of the universe, but all must have the
        column's kind: texts for a column of texts, numbers for numbers, timestamps for timestamps.
    group_sizes : sequence or mapping of int, optional
        The number of rows of each group, if that is public: only datasets with these sizes count.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 40]})
    >>> from sensitivity_lab.queries import MeanOf
    >>> GroupBy("sex", MeanOf("age"), groups=["f", "m"])(table)
    (30.0, 30.0)
    """

    column: Any
    query: Any
    groups: Sequence[Any] | None = None
    group_sizes: Sequence[int] | Mapping[Any, int] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        object.__setattr__(self, "query", _part(self.query, roots=True))
        if self.groups is None:
            raise InputError(
                "groups must be given: which groups there are must not depend on the data"
            )
        object.__setattr__(self, "groups", keys_of("groups", self.groups))
        if self.group_sizes is not None:
            sizes = sizes_of_groups(self.groups or (), self.group_sizes)
            object.__setattr__(self, "group_sizes", sizes)

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return f"{self.query.name} by {named(self.column)}"

    @property
    def public_sizes(self) -> str:
        """The given sizes of the groups; those of a part that is a `GroupBy` itself are its own."""
        if self.group_sizes is None:
            return str(self.query.public_sizes)
        sizes = ", ".join(map(str, self.group_sizes))
        return f"the numbers of rows by {named(self.column)}, {sizes}"

    @property
    def inner(self) -> tuple[Query, ...]:
        """The query on a group."""
        return (self.query,)

    @property
    def root(self) -> bool:  # type: ignore[override]
        """Whether the answers are the square roots of those that `exactly` returns."""
        return bool(self.query.root)

    @property
    def only_sums(self) -> bool:
        """Whether sums over the rows are enough: not if group sizes are given."""
        return self.group_sizes is None

    def by_group(self, universe: FiniteUniverse) -> tuple[int, bool] | None:
        """Return the number of groups with rows, and whether some rows are in none of them."""
        if self.group_sizes is not None:
            return None
        members = self.members(cast(TableUniverse, universe))
        return sum(bool(rows.any()) for rows in members), not np.any(members, axis=0).all()

    def members(self, universe: TableUniverse) -> list[NDArray[np.bool_]]:
        """Return for each group which distinct rows of a universe are in it."""
        groups = self.groups or ()
        places = places_of(universe.listed(self.column), groups)
        at = np.array([-1 if place is None else place for place in places])
        return [at == place for place in range(len(groups))]

    def parts(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> list[Part]:
        """Return the query for the rows of each group; QueryError unless it has its size."""
        rows = [data * inside for inside in self.members(cast(TableUniverse, universe))]
        if self.group_sizes is not None:
            found = tuple(int(of_group.sum()) for of_group in rows)
            if found != self.group_sizes:
                raise QueryError(
                    f"query {shown(self.name)} has answers only on datasets whose groups have the "
                    "sizes "
                    f"{self.group_sizes}, got {found}; the engine 'groups' compares no others"
                )
        return [(self.query, of_group) for of_group in rows]

    @property
    def labels(self) -> tuple[str, ...]:
        """The groups, with the answers' own labels where there are several."""
        inner = self.query.labels or ()
        groups = ["missing" if key is None else named(key) for key in self.groups or ()]
        if len(inner) == 1:
            return tuple(groups)
        return tuple(f"{group}: {label}" for group in groups for label in inner)

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of the query over the records of each group."""
        inner = _sums(self.query, universe)
        check_cells(self.name, len(inner.terms), len(self.groups or ()) * inner.terms.shape[1])
        return side_by_side([inner.of_group(inside) for inside in self.members(universe)])

    def check_on(self, universe: TableUniverse) -> None:
        """Raise InputError for groups that no record of the column's kind can be in."""
        check_kinds("groups", self.column, self.groups or (), universe.listed(self.column))
        self.query.check_on(universe)

    def absent_from(self, universe: TableUniverse) -> str:
        """Return which groups no record of a universe is in, as text."""
        absent = absent_text(self.column, self.groups or (), universe.listed(self.column))
        return "; ".join(filter(None, [absent, self.query.absent_from(universe)]))


@dataclass(frozen=True, init=False)
class Stack(PartedQuery):
    """Several queries released together.

    Parameters
    ----------
    *queries : Query
        Queries on records, in the order of their answers.

    Examples
    --------
    >>> import pandas as pd
    >>> from sensitivity_lab.queries import Count, SumOf
    >>> Stack(Count(), SumOf("age"))(pd.DataFrame({"age": [20, 30]}))
    (2.0, 50.0)
    """

    queries: tuple[Query, ...]

    def __init__(self, *queries: Any) -> None:
        if not queries:
            raise InputError("a Stack needs at least one query, got none")
        if isinstance(queries[0], (list, tuple)):
            raise InputError(
                f"a Stack takes its queries one by one, got {shown(queries[0])}; "
                "write Stack(*queries)"
            )
        object.__setattr__(self, "queries", tuple(map(_part, queries)))

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return " + ".join(query.name for query in self.queries)

    @property
    def labels(self) -> tuple[str, ...]:
        """The queries' own labels, one after the other."""
        return tuple(
            label if not query.vector else f"{query.name}: {label}"
            for query in self.queries
            for label in query.labels or ()
        )

    @property
    def public_sizes(self) -> str:
        """The sizes of groups that its queries are given."""
        return "; ".join(filter(None, [query.public_sizes for query in self.queries]))

    @property
    def inner(self) -> tuple[Query, ...]:
        """The queries."""
        return self.queries

    def parts(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> list[Part]:
        """Return all queries for the whole dataset."""
        return [(query, data) for query in self.queries]

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of all the queries."""
        return side_by_side([_sums(query, universe) for query in self.queries])

    def check_on(self, universe: TableUniverse) -> None:
        """Raise InputError for categories and groups that no record can be in."""
        for query in self.queries:
            query.check_on(universe)

    def absent_from(self, universe: TableUniverse) -> str:
        """Return which categories and groups no record of a universe is in, as text."""
        return "; ".join(filter(None, [query.absent_from(universe) for query in self.queries]))


def _part(query: Any, *, roots: bool = False) -> Query:
    """Return a query on records that can be part of another, or raise InputError."""
    query = query_of_class(query)
    if isinstance(query, str) and query == "count":
        return Count()
    if not isinstance(query, Query) or not query.on_records or query.arithmetic == "float":
        raise InputError(
            f"a part of a Stack or GroupBy must be a query on records, such as Count(), "
            f"SumOf('age') or MeanOf('age'), got {shown(query)}; write several answers of your own "
            "as one function"
        )
    if query.root and not roots:
        raise InputError(
            f"{query.name} cannot be part of a Stack: the norm of roots and other answers is not "
            "computed; take the variance, such as ColumnQuery('age', 'var'), or release each query "
            "with its share of epsilon"
        )
    return query


def _sums(query: Query, universe: FiniteUniverse) -> Sums:
    if isinstance(query, RecordQuery) and isinstance(universe, TableUniverse):
        # The whole keeps its sums; those that a part keeps may be of an earlier call.
        return query.sums_on(universe)
    sums = query.sums(universe)
    if sums is None:
        raise InputError(f"{query.name} is not made of sums over records")
    return sums
