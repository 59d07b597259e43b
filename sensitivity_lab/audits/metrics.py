"""Distances between whole datasets or answers, in integers, one row of the matrix at a time.

An audit compares answers at a distance in one metric with datasets at a distance in another. Both
are listed, so a metric here is what `distances(name, items)` returns: item k against all the later
ones, as an array of exact integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import unboxed
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, common_integers
from sensitivity_lab.exact.keys import key_of, multiset

Row = NDArray[Any]
"""Distances from one item to all later ones: int64, or Python ints where those do not fit."""

INFINITE = 2**62
"""The distance of items that no number of steps connects."""


class Distances(ABC):
    """A metric on a list of items."""

    @abstractmethod
    def row(self, k: int) -> Row:
        """Return the distances from item k to the items k + 1, k + 2, ..., in the metric's unit."""

    def limit(self, distance: int) -> int:
        """Return the largest row entry that means "at most this distance"."""
        return distance

    def difference(self, entry: int) -> Difference:
        """Return a row entry as the real number that it stands for; QueryError if infinite."""
        if entry >= INFINITE:
            raise QueryError("two answers have different sizes, and so no distance in this metric")
        return Difference(Fraction(entry), Fraction(0))


def distances(name: str, items: Sequence[Any]) -> Distances:
    """Return a metric on items.

    Parameters
    ----------
    name : str
        One of `METRICS`.
    items : sequence
        Numbers, vectors of numbers or mappings to numbers for the metrics on numbers; sequences of
        anything hashable for those on datasets; anything hashable for "discrete".

    Returns
    -------
    Distances

    Raises
    ------
    QueryError
        If items cannot be compared: not finite numbers, or vectors of unequal length.

    Examples
    --------
    >>> distances("insert_delete", [(0, 1, 2), (1, 2, 3), (2, 1)]).row(0).tolist()
    [2, 3]
    >>> metric = distances("L2", [(0.0, 0.0), (1.0, 0.5)])
    >>> metric.difference(metric.row(0)[0]).nearest()
    1.118033988749895
    """
    return METRICS[name](items)


@dataclass(frozen=True)
class _Numeric(Distances):
    """A metric on vectors of integers, each a number times a common denominator."""

    vectors: NDArray[Any]  # shape (items, coordinates)
    denominator: int
    power: ClassVar[int] = 1

    def row(self, k: int) -> Row:
        gaps = self.vectors[k + 1 :] - self.vectors[k]
        return np.asarray(self._measure(gaps))

    def limit(self, distance: int) -> int:
        return distance * self.denominator

    def difference(self, entry: int) -> Difference:
        return Difference(Fraction(int(entry), self.denominator), Fraction(0))

    @staticmethod
    @abstractmethod
    def _measure(gaps: NDArray[Any]) -> Row:
        """Return the distances, from differences of shape (items, coordinates)."""


class _L0(_Numeric):
    """The number of coordinates that differ."""

    @staticmethod
    def _measure(gaps: NDArray[Any]) -> Row:
        return np.asarray((gaps != 0).sum(axis=1), dtype=np.int64)

    def limit(self, distance: int) -> int:
        return distance

    def difference(self, entry: int) -> Difference:
        return Difference(Fraction(int(entry)), Fraction(0))


class _L1(_Numeric):
    @staticmethod
    def _measure(gaps: NDArray[Any]) -> Row:
        return np.asarray(np.abs(gaps).sum(axis=1))


class _L2(_Numeric):
    """The Euclidean distance; rows hold its square."""

    power: ClassVar[int] = 2

    @staticmethod
    def _measure(gaps: NDArray[Any]) -> Row:
        return np.asarray((gaps * gaps).sum(axis=1))

    def limit(self, distance: int) -> int:
        return (distance * self.denominator) ** 2

    def difference(self, entry: int) -> Difference:
        root = math.isqrt(int(entry))
        if root * root == entry:
            return Difference(Fraction(root, self.denominator), Fraction(0))
        return Difference(Fraction(int(entry), self.denominator**2), Fraction(0), root=True)


class _LInf(_Numeric):
    @staticmethod
    def _measure(gaps: NDArray[Any]) -> Row:
        return np.asarray(np.abs(gaps).max(axis=1, initial=0))


@dataclass(frozen=True)
class _Counted(Distances):
    """A metric on multisets, by how often each value occurs; order does not matter."""

    counts: NDArray[np.int64]  # shape (items, values)

    def row(self, k: int) -> Row:
        gaps = self.counts[k + 1 :] - self.counts[k]
        return self._measure(np.maximum(gaps, 0).sum(axis=1), np.maximum(-gaps, 0).sum(axis=1))

    @staticmethod
    @abstractmethod
    def _measure(added: NDArray[np.int64], removed: NDArray[np.int64]) -> Row:
        """Return the distances, from the numbers of records added and removed."""


class _Symmetric(_Counted):
    """Records added plus records removed."""

    @staticmethod
    def _measure(added: NDArray[np.int64], removed: NDArray[np.int64]) -> Row:
        return added + removed


class _ChangeOne(_Counted):
    """Records replaced; infinite between sizes."""

    @staticmethod
    def _measure(added: NDArray[np.int64], removed: NDArray[np.int64]) -> Row:
        return np.where(added == removed, added, INFINITE)


class _AddOrRemove(_Counted):
    """Records added, or records removed; infinite where it takes both."""

    @staticmethod
    def _measure(added: NDArray[np.int64], removed: NDArray[np.int64]) -> Row:
        return np.where((added == 0) | (removed == 0), added + removed, INFINITE)


@dataclass(frozen=True)
class _Ordered(Distances):
    """A metric on sequences, written as codes of their entries; -1 fills up the short ones."""

    codes: NDArray[np.int64]  # shape (items, largest size)
    sizes: NDArray[np.int64]  # shape (items,)


class _Hamming(_Ordered):
    """Positions that differ; infinite between sizes."""

    def row(self, k: int) -> Row:
        differ = (self.codes[k + 1 :] != self.codes[k]).sum(axis=1)
        return np.where(self.sizes[k + 1 :] == self.sizes[k], differ, INFINITE)


class _InsertDelete(_Ordered):
    """Entries inserted plus entries deleted, others keeping their order."""

    def row(self, k: int) -> Row:
        others = self.codes[k + 1 :]
        # common[:, j] is the longest common subsequence of what was read of item k and the first j
        # entries of each other item.
        common = np.zeros((len(others), others.shape[1] + 1), dtype=np.int64)
        for code in self.codes[k, : self.sizes[k]]:
            before = common.copy()
            for j in range(others.shape[1]):
                longer = before[:, j] + (others[:, j] == code)
                common[:, j + 1] = np.maximum(np.maximum(longer, before[:, j + 1]), common[:, j])
        return np.asarray(self.sizes[k + 1 :] + self.sizes[k] - 2 * common[:, -1])


class _Discrete(_Ordered):
    """1 between items that are not equal."""

    def row(self, k: int) -> Row:
        return np.asarray((self.codes[k + 1 :] != self.codes[k]).any(axis=1), dtype=np.int64)


def _numeric(kind: type[_Numeric], items: Sequence[Any]) -> Distances:
    mappings = [item for item in items if isinstance(item, Mapping)]
    names = list(dict.fromkeys(name for item in mappings for name in item))
    rows = [_coordinates(item, names) for item in items]
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise QueryError(
            f"answers with {lengths[0]} and with {lengths[-1]} entries have no distance"
        )
    integers, denominator = common_integers([entry for row in rows for entry in row])
    shape = (len(rows), lengths[0] if lengths else 0)
    # What a row can hold at most: a sum over the coordinates of differences or of their squares.
    largest = (2 * max(map(abs, integers), default=0)) ** kind.power * max(shape[1], 1)
    vectors = integers.reshape(shape)
    return kind(vectors.astype(np.int64) if largest < 2**63 else vectors, denominator)


def _coordinates(item: Any, names: Sequence[Hashable]) -> list[Fraction]:
    """Return a number, vector or mapping as exact coordinates; absent names count 0."""
    if isinstance(item, Mapping):
        return [exact(item.get(name, 0)) for name in names]
    return [exact(entry) for entry in entries(item)]


def entries(item: Any) -> Sequence[Any]:
    """Return the numbers of a vector or a mapping, or of a number itself."""
    if isinstance(item, Mapping):
        return list(item.values())
    return list(item) if isinstance(item, list | tuple | np.ndarray) else [item]


def exact(entry: Any) -> Fraction:
    """Return a number of Python or numpy as a rational; QueryError if it is none."""
    number = unboxed(entry)
    if not isinstance(number, Rational | float) or not math.isfinite(number):
        raise QueryError(f"an answer holds {number!r}, which is not a finite number")
    return Fraction(number)


def _codes(items: Iterable[Iterable[Any]]) -> list[list[int]]:
    """Return the entries as small integers, equal ones for equal entries."""
    known: dict[Hashable, int] = {}
    return [[known.setdefault(key_of(entry), len(known)) for entry in item] for item in items]


def _counted(kind: type[_Counted], items: Sequence[Any]) -> Distances:
    multisets = [multiset(item) for item in items]
    places = {entry: place for place, entry in enumerate(set().union(*multisets))}
    counts = np.zeros((len(items), len(places)), dtype=np.int64)
    for line, occurring in zip(counts, multisets, strict=True):
        for entry, number in occurring.items():
            line[places[entry]] = number
    return kind(counts)


def _ordered(kind: type[_Ordered], items: Sequence[Any]) -> Distances:
    rows = _codes(items)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    codes = np.full((len(rows), int(sizes.max(initial=0))), -1, dtype=np.int64)
    for row, line in zip(rows, codes, strict=True):
        line[: len(row)] = row
    return kind(codes, sizes)


METRICS: dict[str, Callable[[Sequence[Any]], Distances]] = {
    "absolute": lambda items: _numeric(_L1, items),
    "L0": lambda items: _numeric(_L0, items),
    "L1": lambda items: _numeric(_L1, items),
    "L2": lambda items: _numeric(_L2, items),
    "Linf": lambda items: _numeric(_LInf, items),
    "symmetric": lambda items: _counted(_Symmetric, items),
    "change_one": lambda items: _counted(_ChangeOne, items),
    "add_or_remove": lambda items: _counted(_AddOrRemove, items),
    "hamming": lambda items: _ordered(_Hamming, items),
    "insert_delete": lambda items: _ordered(_InsertDelete, items),
    "discrete": lambda items: _ordered(_Discrete, [(key_of(item),) for item in items]),
}
"""What each metric is made from."""

NUMERIC = frozenset({"absolute", "L0", "L1", "L2", "Linf"})
"""The metrics on numbers, vectors of numbers and mappings to numbers."""

ORDER_IGNORED = frozenset({"symmetric", "change_one", "add_or_remove"})
"""The metrics in which two orders of the same records are at distance 0."""
