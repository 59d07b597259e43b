"""How far two inputs, or two outputs, are apart; every metric also measures, exactly.

A metric turns data into a *form* that can be compared and hashed, and measures between forms: data
with one form are at distance 0. Rows are compared as multisets, so their order never matters.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from sensitivity_lab.checks import as_python, check_kind, check_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance, as_fraction, root_of, whole

from .encoding import encode, encode_keys, encode_rows
from .shown import names

Rows = frozenset[tuple[bytes, int]]
"""A multiset of rows: the copies of each distinct row are numbered from 0."""


class Metric(ABC):
    """A distance between data; metrics with equal parameters are equal."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it counts, in words."""

    @abstractmethod
    def form(self, data: Any) -> Hashable:
        """Return what of the data the metric sees."""

    @abstractmethod
    def between(self, a: Any, b: Any) -> Any:
        """Return the distance of two forms."""

    def distance(self, a: Any, b: Any) -> Any:
        """Return how far two datasets, tables or answers are apart, exactly."""
        return self.between(self.form(a), self.form(b))

    def check(self, d_in: Any) -> Any:
        """Return a distance that a stability map takes, or raise InputError."""
        distance = as_python(d_in)
        if isinstance(distance, int) and not isinstance(distance, bool) and 0 <= distance < 2**62:
            return distance
        raise InputError(
            f"d_in must be a whole number of at least 0 ({self.name}), got {shown(d_in)}"
        )

    def __str__(self) -> str:
        return self.name


def rows_of(data: Any) -> Rows:
    """Return the multiset of a table's rows, or of a list's records."""
    encoded = encode_rows(data) if isinstance(data, pd.DataFrame) else map(encode, data)
    return numbered(Counter(encoded))


def numbered(counts: Mapping[bytes, int]) -> Rows:
    """Return a multiset of rows, given how often each occurs."""
    return frozenset((row, copy) for row, count in counts.items() for copy in range(count))


def changed_rows(a: Rows, b: Rows) -> int:
    """Return how many rows are in one multiset and not in the other."""
    return len(a ^ b)


@dataclass(frozen=True)
class SymmetricDistance(Metric):
    """How many rows are in one dataset and not in the other; replacing one row counts twice.

    Examples
    --------
    >>> SymmetricDistance().distance([1, 2, 2, 5], [2, 5, 7])
    3
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "rows added or removed"

    def form(self, data: Any) -> Rows:
        """Return the multiset of rows."""
        return rows_of(data)

    def between(self, a: Rows, b: Rows) -> int:
        """Return the size of the symmetric difference."""
        return changed_rows(a, b)


@dataclass(frozen=True)
class ChangeOneDistance(Metric):
    """How many rows of a dataset are replaced to get the other; infinite if the sizes differ.

    Examples
    --------
    >>> ChangeOneDistance().distance([1, 2, 2], [2, 5, 7]), ChangeOneDistance().distance([1], [])
    (2, inf)
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "rows replaced"

    def form(self, data: Any) -> Rows:
        """Return the multiset of rows."""
        return rows_of(data)

    def between(self, a: Rows, b: Rows) -> Distance:
        """Return half the size of the symmetric difference."""
        return changed_rows(a, b) // 2 if len(a) == len(b) else math.inf


@dataclass(frozen=True)
class IdDistance(Metric):
    """How many privacy ids come or go with all their rows: the rows of one id count as one.

    An id whose rows are others in both tables counts twice: it goes, and comes with other rows.
    Rows whose id is missing count as the rows of one id.

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
        """What it counts, in words."""
        return f"ids in {self.column!r} added or removed with all their rows"

    def form(self, data: pd.DataFrame) -> frozenset[tuple[bytes | None, Rows]]:
        """Return the multiset of rows of each id."""
        if self.column not in data.columns:
            raise InputError(
                f"the table has no column {self.column!r} of privacy ids; its columns are "
                f"{names(data.columns)}"
            )
        rows: dict[bytes | None, Counter[bytes]] = {}
        for owner, row in zip(encode_keys(data, [self.column]), encode_rows(data), strict=True):
            rows.setdefault(owner, Counter())[row] += 1
        return frozenset((owner, numbered(counts)) for owner, counts in rows.items())

    def between(
        self,
        a: frozenset[tuple[bytes | None, Rows]],
        b: frozenset[tuple[bytes | None, Rows]],
    ) -> int:
        """Return how often an id and its rows are in one table only."""
        return len(a ^ b)


class _OfNumbers(Metric):
    """A distance between answers, which are numbers or vectors of numbers."""

    def check(self, d_in: Any) -> Any:
        """Return a distance that a stability map takes, or raise InputError."""
        amount = as_fraction(d_in, f"d_in ({self.name})")
        if amount < 0:
            raise InputError(f"d_in ({self.name}) must be at least 0, got {shown(d_in)}")
        return whole(amount)


@dataclass(frozen=True)
class AbsoluteDistance(_OfNumbers):
    """The absolute difference of two numbers.

    Examples
    --------
    >>> AbsoluteDistance().distance(0.5, 3)
    Fraction(5, 2)
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "absolute difference"

    def form(self, data: Any) -> Fraction:
        """Return the number as a fraction."""
        return as_fraction(data, "an answer")

    def between(self, a: Fraction, b: Fraction) -> int | Fraction:
        """Return the absolute difference."""
        return whole(abs(a - b))


class _OfVectors(_OfNumbers):
    """A distance between vectors of one length."""

    def form(self, data: Iterable[Any]) -> tuple[Fraction, ...]:
        """Return the coordinates as fractions."""
        return tuple(as_fraction(value, "a coordinate of an answer") for value in data)

    def between(self, a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Distance:
        """Return the norm of the difference."""
        if len(a) != len(b):
            raise InputError(f"vectors have one length, got {len(a)} and {len(b)} coordinates")
        return self.norm(x - y for x, y in zip(a, b, strict=True))

    @abstractmethod
    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the norm of a vector."""


@dataclass(frozen=True)
class L1Distance(_OfVectors):
    """The sum of the absolute differences of the coordinates.

    Examples
    --------
    >>> L1Distance().distance([3, 0], [1, 1])
    3
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "L1 distance"

    def norm(self, differences: Iterable[Fraction | int]) -> int | Fraction:
        """Return the sum of the absolute values."""
        return whole(sum((abs(Fraction(value)) for value in differences), Fraction(0)))


@dataclass(frozen=True)
class L2Distance(_OfVectors):
    """The root of the sum of the squared differences of the coordinates.

    Examples
    --------
    >>> L2Distance().distance([3, 0], [1, 1])
    sqrt(5)
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "L2 distance"

    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the root of the sum of squares."""
        return root_of(sum((Fraction(value) ** 2 for value in differences), Fraction(0)))


@dataclass(frozen=True)
class GroupsDistance(Metric):
    """The rows added or removed in each group, as a vector; its L1 or L2 norm.

    Parameters
    ----------
    norm : L1Distance or L2Distance
        How the groups' numbers of changed rows are put together.

    Examples
    --------
    >>> before, after = {"a": [1, 2], "b": [1]}, {"a": [2], "b": []}
    >>> GroupsDistance(L1Distance()).distance(before, after)
    2
    >>> GroupsDistance(L2Distance()).distance(before, after)
    sqrt(2)
    """

    norm: L1Distance | L2Distance

    def __post_init__(self) -> None:
        check_kind("norm", self.norm, L1Distance | L2Distance, "L1Distance() or L2Distance()")

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return f"{self.norm.name} of the groups' rows added or removed"

    def form(self, data: Mapping[Any, Any]) -> tuple[Rows, ...]:
        """Return each group's multiset of rows, in the order of the groups."""
        return tuple(map(rows_of, data.values()))

    def between(self, a: tuple[Rows, ...], b: tuple[Rows, ...]) -> Distance:
        """Return the norm of the numbers of changed rows."""
        return self.norm.norm(changed_rows(x, y) for x, y in zip(a, b, strict=True))


@dataclass(frozen=True)
class PairDistance(Metric):
    """A distance for each of two tables, or of two answers; nothing is added up.

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
        """What it counts, in words."""
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
