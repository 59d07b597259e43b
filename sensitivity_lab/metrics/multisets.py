"""Metrics on datasets as multisets of records: their order does not count."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import listed
from sensitivity_lab.exact.roots import Distance

from .cells import Cells, encode_rows
from .metric import INFINITE, Distances, OfCells, Row, Sees

Rows = frozenset[tuple[Hashable, int]]
"""A multiset of rows: the copies of each distinct row are numbered from 0."""

Counts = int | NDArray[np.int64]
"""How many records the one dataset has and the other has not, for one pair or for many."""


def keys_of(cells: Cells, data: Any) -> list[Hashable]:
    """Return the keys of a table's rows, in which all columns count, or of a list's records."""
    if isinstance(data, pd.DataFrame):
        return list(encode_rows(data))
    return list(map(cells, listed(data, "a dataset is a sequence of records", text=True)))


def moved(x: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[Any, Any]:
    """Return how many records only x has, and how many only y, given how often each value occurs.

    Parameters
    ----------
    x, y : ndarray of int64, shape (..., values)
        The multiplicities in one dataset, or in many.

    Returns
    -------
    removed, added : int64 or ndarray of int64, shape (...)
        The records that a change from x to y removes, and those that it adds.

    Examples
    --------
    >>> removed, added = moved(np.array([2, 0, 1]), np.array([0, 1, 1]))
    >>> int(removed), int(added)
    (2, 1)
    """
    gaps = y - x
    return np.maximum(-gaps, 0).sum(axis=-1), np.maximum(gaps, 0).sum(axis=-1)


def numbered(counts: Mapping[Any, int]) -> Rows:
    """Return a multiset of rows, given how often each row occurs."""
    return frozenset((row, copy) for row, count in counts.items() for copy in range(count))


class OfMultisets(OfCells):
    """A distance that follows from how many records only one of two datasets has."""

    sees: ClassVar[Sees] = "records"
    unordered = True

    @staticmethod
    @abstractmethod
    def apart(added: Counts, removed: Counts) -> Row:
        """Return the distance, given how many records only the one and only the other has."""

    def form_by(self, cells: Cells, data: Any) -> Rows:
        """Return the multiset of rows.

        A mapping, such as a Counter, says how often each record occurs.
        """
        if not isinstance(data, Mapping):
            return numbered(Counter(keys_of(cells, data)))
        counts: Counter[Hashable] = Counter()
        for record, count in data.items():
            counts[cells(record)] += count
        return numbered(counts)

    def between(self, a: Rows, b: Rows) -> Distance:
        """Return the distance of two multisets."""
        found = int(self.apart(len(b - a), len(a - b)))
        return math.inf if found == INFINITE else found

    def among(self, forms: Sequence[Rows]) -> Distances:
        """Return the distances of many multisets."""
        places: dict[Hashable, int] = {}
        found = [[places.setdefault(row, len(places)) for row, _ in form] for form in forms]
        counts = np.zeros((len(forms), len(places)), dtype=np.int64)
        for line, columns in zip(counts, found, strict=True):
            for column in columns:
                line[column] += 1
        return _Counted(self, counts)


@dataclass(frozen=True)
class _Counted(Distances):
    """The distances of multisets, given by how often each value occurs."""

    metric: OfMultisets
    counts: NDArray[np.int64]  # shape (items, values)

    def row(self, k: int) -> Row:
        removed, added = moved(self.counts[k], self.counts[k + 1 :])
        return self.metric.apart(added, removed)


@dataclass(frozen=True)
class SymmetricDistance(OfMultisets):
    """How many rows are in one dataset and not in the other; replacing one row counts twice.

    Examples
    --------
    >>> SymmetricDistance().distance([1, 2, 2, 5], [2, 5, 7])
    3
    """

    resizes: ClassVar[bool | None] = True

    name = "rows added or removed"

    @staticmethod
    def apart(added: Counts, removed: Counts) -> Row:
        """Return how many records are added or removed."""
        return np.asarray(added + removed)


@dataclass(frozen=True)
class ChangeOneDistance(OfMultisets):
    """How many rows of a dataset are replaced to get another one; infinite if sizes differ.

    Examples
    --------
    >>> ChangeOneDistance().distance([1, 2, 2], [2, 5, 7]), ChangeOneDistance().distance([1], [])
    (2, inf)
    """

    resizes: ClassVar[bool | None] = False

    name = "rows replaced"

    @staticmethod
    def apart(added: Counts, removed: Counts) -> Row:
        """Return how many records are replaced; infinite between datasets of different sizes."""
        return np.where(np.equal(added, removed), added, INFINITE)


@dataclass(frozen=True)
class AddOrRemoveDistance(OfMultisets):
    """How many rows are added, or how many are removed; infinite where it takes both.

    It counts steps of one kind, and so is no metric in the strict sense: from [1] over [] to [2]
    are two steps, but [1] and [2] are infinitely far apart.

    Examples
    --------
    >>> one_way = AddOrRemoveDistance()
    >>> one_way.distance([1, 2, 2], [2]), one_way.distance([1], [2])
    (2, inf)
    """

    resizes: ClassVar[bool | None] = True

    name = "rows added, or rows removed"

    @staticmethod
    def apart(added: Counts, removed: Counts) -> Row:
        """Return how many records are added, or removed; infinite where it takes both."""
        one_way = np.equal(added, 0) | np.equal(removed, 0)
        return np.where(one_way, added + removed, INFINITE)
