"""Distances between whole datasets or answers, in integers, one row of the matrix at a time.

An audit looks for datasets that are close in one metric and whose answers are far apart in another.
Datasets and answers are listed, so `distances(name, items)` measures item k against all later items
at once, in an array of exact integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import shown, unboxed
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, Number, common_integers, root_difference
from sensitivity_lab.exact.keys import key_of, multiset
from sensitivity_lab.exact.norms import POWERS, Norm, powered
from sensitivity_lab.exact.record_distances import (
    INFINITE,
    add_or_remove,
    change_one,
    symmetric,
)
from sensitivity_lab.universes.relations import Relation

Row = NDArray[Any]
"""Distances from one item to all later ones: int64, or Python ints where those do not fit."""


class Distances(ABC):
    """A metric on a list of items."""

    @abstractmethod
    def row(self, k: int) -> Row:
        """Return the distances from item k to the items k + 1, k + 2, ..., in the metric's unit."""

    def limit(self, distance: Number) -> int:
        """Return the largest row entry of pairs that are at most this distance apart."""
        return math.floor(distance)

    def difference(self, entry: int) -> Difference:
        """Return the real number that a row entry stands for, or raise QueryError if infinite."""
        if entry >= INFINITE:
            raise QueryError("two answers have different sizes, and so no distance in this metric")
        return Difference(Fraction(entry), Fraction(0))


def distances(name: str | Relation, items: Sequence[Any]) -> Distances:
    """Return a metric on items.

    Parameters
    ----------
    name : str or Relation
        A key of `METRICS`, or a relation, whose distance between multisets it then is.
    items : sequence
        For the metrics on numbers: numbers, vectors of numbers, or mappings to numbers. For the
        metrics on datasets: sequences of hashable items. For "discrete": hashable items.

    Returns
    -------
    Distances

    Raises
    ------
    QueryError
        If items have no distance: numbers that are not finite, or vectors of unequal length.

    Examples
    --------
    >>> distances("insert_delete", [(0, 1, 2), (1, 2, 3), (2, 1)]).row(0).tolist()
    [2, 3]
    >>> metric = distances("L2", [(0.0, 0.0), (1.0, 0.5)])
    >>> metric.difference(metric.row(0)[0]).nearest()
    1.118033988749895
    """
    return _counted(name.distance, items) if isinstance(name, Relation) else METRICS[name](items)


@dataclass(frozen=True)
class _Numeric(Distances):
    """A metric on vectors of rationals, which are integers over one denominator."""

    vectors: NDArray[Any]  # shape (items, coordinates)
    denominator: int

    def row(self, k: int) -> Row:
        return self.measure(self.vectors[k + 1 :] - self.vectors[k])

    @abstractmethod
    def measure(self, gaps: NDArray[Any]) -> Row:
        """Return the distances, from differences of shape (items, coordinates)."""


class _L0(_Numeric):
    """The number of coordinates that differ."""

    def measure(self, gaps: NDArray[Any]) -> Row:
        return np.asarray((gaps != 0).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class _Normed(_Numeric):
    """A norm of the difference; for L2, rows hold its square."""

    norm: Norm

    def measure(self, gaps: NDArray[Any]) -> Row:
        return powered(gaps, self.norm)

    def limit(self, distance: Number) -> int:
        return math.floor((Fraction(distance) * self.denominator) ** POWERS[self.norm])

    def difference(self, entry: int) -> Difference:
        measured = Fraction(int(entry), self.denominator ** POWERS[self.norm])
        if POWERS[self.norm] == 2:
            return root_difference(measured)
        return Difference(measured, Fraction(0))


class _Monotonic(_Normed):
    """The largest increase plus the largest decrease; "Linf" where all entries go one way.

    Adding a number to all scores changes no selection, so the loss of a selection mechanism depends
    on the largest less the smallest gap alone, which is at most this distance.
    """

    def measure(self, gaps: NDArray[Any]) -> Row:
        if not gaps.shape[1]:
            return np.zeros(len(gaps), dtype=np.int64)
        return np.asarray(np.maximum(gaps.max(axis=1), 0) + np.maximum(-gaps.min(axis=1), 0))


@dataclass(frozen=True)
class _Counted(Distances):
    """A metric on multisets, by how often each value occurs; order does not matter."""

    counts: NDArray[np.int64]  # shape (items, values)
    measure: Callable[[NDArray[np.int64], NDArray[np.int64]], Row]

    def row(self, k: int) -> Row:
        gaps = self.counts[k + 1 :] - self.counts[k]
        return self.measure(np.maximum(gaps, 0).sum(axis=1), np.maximum(-gaps, 0).sum(axis=1))


@dataclass(frozen=True)
class _Ordered(Distances):
    """A metric on sequences, given by codes of their entries; -1 pads the short sequences."""

    codes: NDArray[np.int64]  # shape (items, largest size)
    sizes: NDArray[np.int64]  # shape (items,)


class _Hamming(_Ordered):
    """The number of positions that differ; infinite between sequences of different sizes."""

    def row(self, k: int) -> Row:
        differ = (self.codes[k + 1 :] != self.codes[k]).sum(axis=1)
        return np.where(self.sizes[k + 1 :] == self.sizes[k], differ, INFINITE)


class _InsertDelete(_Ordered):
    """The number of entries inserted and deleted, where the other entries keep their order."""

    def row(self, k: int) -> Row:
        others = self.codes[k + 1 :]
        # common[i, j] is the length of the longest common subsequence of the entries of item k read
        # so far and the first j entries of the i-th of the other items.
        common = np.zeros((len(others), others.shape[1] + 1), dtype=np.int64)
        for code in self.codes[k, : self.sizes[k]]:
            before = common.copy()
            for j in range(others.shape[1]):
                longer = before[:, j] + (others[:, j] == code)
                common[:, j + 1] = np.maximum(np.maximum(longer, before[:, j + 1]), common[:, j])
        return np.asarray(self.sizes[k + 1 :] + self.sizes[k] - 2 * common[:, -1])


class _Discrete(_Ordered):
    """0 between equal items, 1 between others."""

    def row(self, k: int) -> Row:
        return np.asarray((self.codes[k + 1 :] != self.codes[k]).any(axis=1), dtype=np.int64)


def _integers(items: Sequence[Any], power: int) -> tuple[NDArray[Any], int]:
    """Return items as vectors of integers over one denominator, shape (items, coordinates).

    They are of int64 where sums over the coordinates of this power of differences fit.
    """
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
    largest = (2 * max(map(abs, integers), default=0)) ** power * max(shape[1], 1)
    vectors = integers.reshape(shape)
    return vectors.astype(np.int64) if largest < 2**63 else vectors, denominator


def _normed(norm: Norm, items: Sequence[Any]) -> Distances:
    return _Normed(*_integers(items, POWERS[norm]), norm)


def _coordinates(item: Any, names: Sequence[Hashable]) -> list[Fraction]:
    """Return the exact coordinates of a number, vector or mapping; absent names count as 0."""
    if isinstance(item, Mapping):
        return [exact(item.get(name, 0)) for name in names]
    return [exact(entry) for entry in entries(item)]


def entries(item: Any) -> Sequence[Any]:
    """Return the numbers of a vector or a mapping, or of a number itself."""
    if isinstance(item, Mapping):
        return list(item.values())
    return list(item) if isinstance(item, list | tuple | np.ndarray) else [item]


def exact(entry: Any) -> Fraction:
    """Return a finite number of Python or NumPy as a rational, or raise QueryError.

    Truth values are 0 and 1, as they are answers of code and not arguments.
    """
    number = unboxed(entry)
    if not isinstance(number, Rational | float) or not math.isfinite(number):
        raise QueryError(f"an answer holds {shown(number)}, which is not a finite number")
    return Fraction(number)


def _codes(items: Iterable[Iterable[Any]]) -> list[list[int]]:
    """Return small integers for the entries, which are equal exactly for equal entries."""
    known: dict[Hashable, int] = {}
    return [[known.setdefault(key_of(entry), len(known)) for entry in item] for item in items]


def _counted(
    measure: Callable[[NDArray[np.int64], NDArray[np.int64]], Row], items: Sequence[Any]
) -> Distances:
    multisets = [multiset(item) for item in items]
    places = {entry: place for place, entry in enumerate(set().union(*multisets))}
    counts = np.zeros((len(items), len(places)), dtype=np.int64)
    for line, occurring in zip(counts, multisets, strict=True):
        for entry, number in occurring.items():
            line[places[entry]] = number
    return _Counted(counts, measure)


def _ordered(kind: type[_Ordered], items: Sequence[Any]) -> Distances:
    rows = _codes(items)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    codes = np.full((len(rows), int(sizes.max(initial=0))), -1, dtype=np.int64)
    for row, line in zip(rows, codes, strict=True):
        line[: len(row)] = row
    return kind(codes, sizes)


METRICS: dict[str, Callable[[Sequence[Any]], Distances]] = {
    "absolute": lambda items: _normed("L1", items),
    "L0": lambda items: _L0(*_integers(items, 1)),
    "L1": lambda items: _normed("L1", items),
    "L2": lambda items: _normed("L2", items),
    "Linf": lambda items: _normed("Linf", items),
    "Linf_monotonic": lambda items: _Monotonic(*_integers(items, 2), "Linf"),
    "symmetric": lambda items: _counted(symmetric, items),
    "change_one": lambda items: _counted(change_one, items),
    "add_or_remove": lambda items: _counted(add_or_remove, items),
    "hamming": lambda items: _ordered(_Hamming, items),
    "insert_delete": lambda items: _ordered(_InsertDelete, items),
    "discrete": lambda items: _ordered(_Discrete, [(key_of(item),) for item in items]),
}
"""The metrics by name: each makes `Distances` of items."""

NUMERIC = frozenset({"absolute", "L0", "L1", "L2", "Linf", "Linf_monotonic"})
"""The metrics on numbers, vectors of numbers and mappings to numbers."""

ORDER_IGNORED = frozenset({"symmetric", "change_one", "add_or_remove"})
"""The metrics that ignore the order of records."""
