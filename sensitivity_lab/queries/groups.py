"""Queries on records with several answers: histograms, groups, and answers released together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from sensitivity_lab.errors import InputError
from sensitivity_lab.tables import TableUniverse
from sensitivity_lab.universe import Universe

from .base import Query
from .moments import Count
from .records import RecordQuery, as_python, check_column
from .sums import Ratios, Sums, Whole, as_terms, check_cells


@dataclass(frozen=True)
class Histogram(RecordQuery):
    """The number of rows in each category, or in each bin, of a column.

    Parameters
    ----------
    column : hashable
        The column.
    categories : sequence, optional
        The categories, fixed beforehand; None or NaN stands for a missing value. Rows of other
        values are not counted.
    bins : sequence of numbers, optional
        The edges of the bins, ascending, as in `numpy.histogram`: a bin has its left edge, the last
        one also its right edge. Missing values and values outside are not counted.

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
        check_column(self.column)
        if (self.categories is None) == (self.bins is None):
            raise InputError(
                f"a histogram has either categories or bins, got categories={self.categories!r} "
                f"and bins={self.bins!r}"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", _keys("categories", self.categories))
            return
        edges = tuple(map(as_python, _as_list("bins", self.bins)))
        try:
            rising = all(one < other for one, other in pairwise(edges))
        except TypeError:
            rising = False
        words = any(isinstance(edge, (str, bytes)) or pd.isna(edge) for edge in edges)
        if len(edges) < 2 or not rising or words:
            raise InputError(
                f"bins must be at least two ascending numbers or dates, got {list(edges)!r}"
            )
        object.__setattr__(self, "bins", edges)

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return f"histogram of {self.column}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories, or the bins."""
        if self.categories is not None:
            return tuple("missing" if key is None else str(key) for key in self.categories)
        edges = self.bins or ()
        last = len(edges) - 2
        return tuple(
            f"[{low}, {high}{']' if place == last else ')'}"
            for place, (low, high) in enumerate(pairwise(edges))
        )

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of 1 over the records of each category."""
        listed = universe.listed(self.column)
        check_cells(self.name, len(listed), len(self.labels))
        if self.categories is None:
            return Sums.additive(as_terms([self._in_bins(value) for value in listed]))
        place = {key: number for number, key in enumerate(self.categories)}
        flags = np.zeros((len(listed), len(place)), dtype=np.bool_)
        for row, value in enumerate(listed):
            if value in place:
                flags[row, place[value]] = True
        return Sums.additive(as_terms(flags))

    def _in_bins(self, value: Any) -> list[bool]:
        """Return in which bin a value is."""
        edges = self.bins or ()
        flags = [False] * (len(edges) - 1)
        if value is None:
            return flags
        try:
            if value == edges[-1]:
                flags[-1] = True
            for place in range(len(flags)):
                flags[place] |= bool(edges[place] <= value < edges[place + 1])
        except TypeError:
            raise InputError(
                f"column {self.column!r} has the value {value!r}, which cannot be compared with "
                "the bins; give categories"
            ) from None
        return flags


@dataclass(frozen=True)
class GroupBy(RecordQuery):
    """A query on the rows of each group, all released together.

    Parameters
    ----------
    column : hashable
        The column whose values are the groups.
    query : Query
        A query on records, such as `Count()`, ``SumOf("age")`` or ``MeanOf("age", empty=0)``.
    groups : sequence
        The groups, fixed beforehand; None or NaN stands for a missing value. Rows of other values
        are in no group.

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

    vector: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column(self.column)
        object.__setattr__(self, "query", _part(self.query))
        if self.groups is None:
            raise InputError(
                "groups must be given: which groups there are must not depend on the data"
            )
        object.__setattr__(self, "groups", _keys("groups", self.groups))

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return f"{self.query.name} by {self.column}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The groups, with the answers' own labels where there are several."""
        inner = self.query.labels or ()
        groups = ["missing" if key is None else str(key) for key in self.groups or ()]
        if len(inner) == 1:
            return tuple(groups)
        return tuple(f"{group}: {label}" for group in groups for label in inner)

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of the query over the records of each group."""
        inner = _sums(self.query, universe)
        listed = universe.listed(self.column)
        check_cells(self.name, len(listed), len(self.groups or ()) * inner.terms.shape[1])
        members = [
            as_terms([_same(value, group) for value in listed]) for group in self.groups or ()
        ]
        return _side_by_side([replace(inner, terms=inner.terms * inside) for inside in members])


@dataclass(frozen=True, init=False)
class Stack(RecordQuery):
    """Several queries released together.

    Parameters
    ----------
    *queries : Query
        Queries on records; their answers follow each other.

    Examples
    --------
    >>> import pandas as pd
    >>> from sensitivity_lab.queries import Count, SumOf
    >>> Stack(Count(), SumOf("age"))(pd.DataFrame({"age": [20, 30]}))
    (2.0, 50.0)
    """

    queries: tuple[Query, ...]

    vector: ClassVar[bool] = True

    def __init__(self, *queries: Any) -> None:
        if not queries:
            raise InputError("a Stack needs at least one query, got none")
        if isinstance(queries[0], (list, tuple)):
            raise InputError(
                f"a Stack takes its queries one by one, got {queries[0]!r}; write Stack(*queries)"
            )
        object.__setattr__(self, "queries", tuple(map(_part, queries)))

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return " + ".join(query.name for query in self.queries)

    @property
    def labels(self) -> tuple[str, ...]:
        """The queries' own labels, one after the other."""
        return tuple(
            label if not query.vector else f"{query.name}: {label}"
            for query in self.queries
            for label in query.labels or ()
        )

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of all the queries."""
        return _side_by_side([_sums(query, universe) for query in self.queries])


def _side_by_side(parts: Sequence[Sums]) -> Sums:
    """Return sums whose answers are those of the parts, one after the other."""
    ends = np.cumsum([part.terms.shape[1] for part in parts]).tolist()
    pieces: list[tuple[Callable[[Whole], Ratios], slice]] = [
        (part.finish, slice(end - part.terms.shape[1], end))
        for part, end in zip(parts, ends, strict=True)
    ]

    def finish(sums: Whole) -> Ratios:
        done = [finish(sums[:, columns]) for finish, columns in pieces]
        return np.hstack([above for above, _ in done]), np.hstack([below for _, below in done])

    units: tuple[int, ...] | None = ()
    for part in parts:
        units = None if units is None or part.units is None else units + part.units
    terms = np.hstack([part.terms for part in parts])
    return Sums(terms, finish, max(part.constant for part in parts), units)


def _part(query: Any) -> Query:
    """Return a query on records that can be part of another, or raise InputError."""
    if query == "count":
        return Count()
    if not isinstance(query, Query) or not query.on_records or query.arithmetic == "float":
        raise InputError(
            f"a part of a Stack or GroupBy must be a query on records, such as Count(), "
            f"SumOf('age') or MeanOf('age'), got {query!r}; write several answers of your own as "
            "one function"
        )
    return query


def _sums(query: Query, universe: Universe) -> Sums:
    sums = query.sums(universe)
    if sums is None:
        raise InputError(f"{query.name} is not made of sums over records")
    return sums


def _as_list(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a sequence, got {values!r}")
    return list(values)


def _keys(name: str, values: Any) -> tuple[Any, ...]:
    """Return distinct values as a tuple, missing ones as None, or raise InputError."""
    listed = list(map(as_python, _as_list(name, values)))
    for value in listed:
        if not isinstance(value, Hashable):
            raise InputError(f"{name} must be single values of the column, got {value!r}")
    keys = [None if pd.isna(value) is True else value for value in listed]
    if not keys:
        raise InputError(f"{name} must list at least one value, got none")
    times = Counter(keys)
    for key in keys:
        if times[key] > 1:
            raise InputError(f"{name} must be distinct, got {key!r} more than once")
    return tuple(keys)


def _same(value: Any, key: Any) -> bool:
    """Tell whether a record's value is that of a category; a missing one is None on both sides."""
    if value is None or key is None:
        return value is key
    return bool(value == key)
