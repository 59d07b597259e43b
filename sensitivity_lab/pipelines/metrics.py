"""Metrics: how far two inputs or two outputs are apart, measured exactly.

A metric turns data into a *form* that can be compared and hashed, and measures the distance of two
forms. Data with equal forms are at distance 0. Rows are compared as multisets, so their order never
matters.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sensitivity_lab.checks import (
    check_kind,
    check_text,
    listed,
    names_of,
    shown,
    text_of,
    whole_number,
)
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.exact.record_distances import INFINITE, change_one, symmetric
from sensitivity_lab.exact.roots import Distance

from .encoding import encode, encode_keys, encode_rows

Rows = frozenset[tuple[bytes, int]]
"""A multiset of rows: the copies of each distinct row are numbered from 0."""


class Metric(ABC):
    """A distance between data; metrics with equal parameters are equal.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> isinstance(pl.SymmetricDistance(), pl.Metric), pl.L1Distance() == pl.L2Distance()
    (True, False)
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What the metric counts, in words."""

    @abstractmethod
    def form(self, data: Any) -> Hashable:
        """Return the part of the data that the metric sees."""

    @abstractmethod
    def between(self, a: Any, b: Any) -> Any:
        """Return the distance of two forms."""

    def distance(self, a: Any, b: Any) -> Any:
        """Return the exact distance of two datasets, tables or answers.

        Raises
        ------
        InputError
            If one of them is not what the metric compares.
        """
        try:
            return self.between(self.form(a), self.form(b))
        except SensitivityLabError:
            raise
        except Exception as error:
            raise InputError(
                f"cannot measure ({self.name}) the distance of {shown(a)} and {shown(b)}: "
                f"{type(error).__name__}: {text_of(error)}"
            ) from error

    def check(self, d_in: Any) -> Any:
        """Return a distance that stability maps take, or raise InputError."""
        distance = whole_number(d_in)
        if distance is not None and 0 <= distance < 2**62:
            return distance
        raise InputError(
            f"d_in must be a whole number of at least 0 ({self.name}), got {shown(d_in)}"
        )

    def __str__(self) -> str:
        return self.name


def rows_of(data: Any) -> Rows:
    """Return the multiset of a table's rows, or of a list's records."""
    encoded = (
        encode_rows(data)
        if isinstance(data, pd.DataFrame)
        else map(encode, listed(data, "a dataset is a sequence of records", text=True))
    )
    return numbered(Counter(encoded))


def numbered(counts: Mapping[bytes, int]) -> Rows:
    """Return a multiset of rows, given how often each row occurs."""
    return frozenset((row, copy) for row, count in counts.items() for copy in range(count))


def changed_rows(a: Rows, b: Rows) -> int:
    """Return how many rows are in one multiset and not in the other."""
    return int(symmetric(len(b - a), len(a - b)))


class _OfRows(Metric):
    """A distance between datasets as multisets of rows."""

    def form(self, data: Any) -> Rows:
        """Return the multiset of rows."""
        return rows_of(data)


@dataclass(frozen=True)
class SymmetricDistance(_OfRows):
    """How many rows are in one dataset and not in the other; replacing one row counts twice.

    Examples
    --------
    >>> SymmetricDistance().distance([1, 2, 2, 5], [2, 5, 7])
    3
    """

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return "rows added or removed"

    def between(self, a: Rows, b: Rows) -> int:
        """Return the size of the symmetric difference."""
        return changed_rows(a, b)


@dataclass(frozen=True)
class ChangeOneDistance(_OfRows):
    """How many rows of a dataset are replaced to get another one; infinite if sizes differ.

    Examples
    --------
    >>> ChangeOneDistance().distance([1, 2, 2], [2, 5, 7]), ChangeOneDistance().distance([1], [])
    (2, inf)
    """

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return "rows replaced"

    def between(self, a: Rows, b: Rows) -> Distance:
        """Return how many rows are in one multiset only; infinite if the sizes differ."""
        replaced = int(change_one(len(b - a), len(a - b)))
        return math.inf if replaced == INFINITE else replaced


@dataclass(frozen=True)
class IdDistance(Metric):
    """How many privacy ids are added or removed with all their rows.

    An id whose rows differ between the two tables counts twice: it is removed, and added with other
    rows. Rows without an id count as the rows of one id.

    Parameters
    ----------
    column : str
        The column of the privacy id.

    Examples
    --------
    >>> visits = pd.DataFrame({"id": [1, 1, 2], "page": ["a", "b", "a"]})
    >>> metric = IdDistance("id")
    >>> metric.distance(visits, visits[visits["id"] == 2])
    1
    >>> metric.distance(visits, visits[visits["page"] == "a"])
    2
    """

    column: str

    def __post_init__(self) -> None:
        check_text("column", self.column, "the name of a column")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"ids in {shown(self.column)} added or removed with all their rows"

    def form(self, data: pd.DataFrame) -> frozenset[tuple[bytes | None, Rows]]:
        """Return the multiset of rows of each id."""
        return frozenset(_rows_by_id(data, self.column).items())

    def between(
        self,
        a: frozenset[tuple[bytes | None, Rows]],
        b: frozenset[tuple[bytes | None, Rows]],
    ) -> int:
        """Return how many ids are, with exactly these rows, in one table only."""
        return len(a ^ b)


@dataclass(frozen=True)
class SharedIdDistance(Metric):
    """How many privacy ids are added or removed with all their rows in two tables together.

    Both tables have the same ids. An id counts once if it has rows in one of the two pairs of
    tables only, and twice if it has other rows in the second pair than in the first.

    Parameters
    ----------
    column : str
        The column of the privacy id, which both tables have.

    Examples
    --------
    >>> users = pd.DataFrame({"id": [1, 2], "name": ["Ann", "Bo"]})
    >>> bought = pd.DataFrame({"id": [1, 1, 3], "item": ["pen", "ink", "pen"]})
    >>> without = users[users["id"] != 1], bought[bought["id"] != 1]
    >>> SharedIdDistance("id").distance((users, bought), without)
    1
    """

    column: str

    def __post_init__(self) -> None:
        check_text("column", self.column, "the name of a column")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{IdDistance(self.column)} in both tables"

    def form(
        self, data: tuple[pd.DataFrame, pd.DataFrame]
    ) -> frozenset[tuple[bytes | None, Rows, Rows]]:
        """Return the multisets of rows of each id in both tables."""
        first, second = (_rows_by_id(table, self.column) for table in data)
        none: Rows = frozenset()
        return frozenset(
            (owner, first.get(owner, none), second.get(owner, none))
            for owner in {**first, **second}
        )

    def between(
        self,
        a: frozenset[tuple[bytes | None, Rows, Rows]],
        b: frozenset[tuple[bytes | None, Rows, Rows]],
    ) -> int:
        """Return how many ids are, with exactly these rows, in one pair of tables only."""
        return len(a ^ b)


def _rows_by_id(data: pd.DataFrame, column: str) -> dict[bytes | None, Rows]:
    """Return the multiset of rows of each id, or raise InputError if the ids have no column."""
    if column not in data.columns:
        raise InputError(
            f"the table has no column {shown(column)} of privacy ids; its columns are "
            f"{names_of(data.columns)}"
        )
    rows: dict[bytes | None, Counter[bytes]] = {}
    for owner, row in zip(encode_keys(data, [column]), encode_rows(data), strict=True):
        rows.setdefault(owner, Counter())[row] += 1
    return {owner: numbered(counts) for owner, counts in rows.items()}


@dataclass(frozen=True)
class PairDistance(Metric):
    """The distances of two tables, or of two answers, as a pair; they are not added up.

    Parameters
    ----------
    first, second : Metric
        The metrics of the parts.

    Examples
    --------
    >>> PairDistance(SymmetricDistance(), SymmetricDistance()).distance(([1], [2]), ([], [2, 3, 4]))
    (1, 2)
    """

    first: Metric
    second: Metric

    def __post_init__(self) -> None:
        check_kind("first", self.first, Metric, "a metric, such as SymmetricDistance()")
        check_kind("second", self.second, Metric, "a metric, such as SymmetricDistance()")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"({self.first}; {self.second})"

    def form(self, data: tuple[Any, Any]) -> tuple[Hashable, Hashable]:
        """Return the forms of the parts."""
        first, second = data
        return self.first.form(first), self.second.form(second)

    def between(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return the distances of the parts."""
        return self.first.between(a[0], b[0]), self.second.between(a[1], b[1])

    def check(self, d_in: Any) -> tuple[Any, Any]:
        """Return a distance per part, or raise InputError."""
        if not isinstance(d_in, tuple) or len(d_in) != 2:
            raise InputError(
                f"d_in must be two distances, one per part {self.name}, got {shown(d_in)}"
            )
        return self.first.check(d_in[0]), self.second.check(d_in[1])
