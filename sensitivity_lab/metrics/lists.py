"""Metrics on ordered lists of records, and on data as a whole."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.roots import Distance

from .cells import Cells
from .metric import INFINITE, Distances, OfCells, Row, Sees
from .multisets import keys_of

Form = tuple[Hashable, ...]
"""The keys of the records of a list, in order."""

Codes = NDArray[np.int64]
"""Lists of equal or different sizes, shape (items, largest size): entries that are equal have equal
codes, and -1 pads the short lists."""


class _OfLists(OfCells):
    """A distance between lists of records, whose order counts."""

    sees: ClassVar[Sees] = "records"

    def form_by(self, cells: Cells, data: Any) -> Form:
        """Return the keys of the records."""
        return tuple(keys_of(cells, data))

    def among(self, forms: Sequence[Form]) -> Distances:
        """Return the distances of many lists."""
        known: dict[Hashable, int] = {}
        sizes = np.array([len(form) for form in forms], dtype=np.int64)
        codes = np.full((len(forms), int(sizes.max(initial=0))), -1, dtype=np.int64)
        for line, form in zip(codes, forms, strict=True):
            line[: len(form)] = [known.setdefault(key, len(known)) for key in form]
        return _Coded(codes, sizes, self.rows)

    @staticmethod
    @abstractmethod
    def rows(one: Codes, size: Any, others: Codes, sizes: NDArray[np.int64]) -> Row:
        """Return the distances of a list of some size to others, all given by codes."""


@dataclass(frozen=True)
class _Coded(Distances):
    """The distances of lists, given by codes."""

    codes: Codes
    sizes: NDArray[np.int64]  # shape (items,)
    measure: Callable[[Codes, Any, Codes, NDArray[np.int64]], Row]

    def row(self, k: int) -> Row:
        return self.measure(self.codes[k], self.sizes[k], self.codes[k + 1 :], self.sizes[k + 1 :])


@dataclass(frozen=True)
class HammingDistance(_OfLists):
    """At how many places two lists differ; infinite if their sizes do.

    Examples
    --------
    >>> HammingDistance().distance([1, 2, 3], [2, 2, 1]), HammingDistance().distance([1], [])
    (2, inf)
    """

    resizes: ClassVar[bool | None] = False

    name = "rows replaced at their places"

    def between(self, a: Form, b: Form) -> Distance:
        """Return the number of places with different keys."""
        return sum(p != q for p, q in zip(a, b, strict=True)) if len(a) == len(b) else math.inf

    @staticmethod
    def rows(one: Codes, size: Any, others: Codes, sizes: NDArray[np.int64]) -> Row:
        """Return the numbers of places with different codes."""
        return np.where(sizes == size, (others != one).sum(axis=1), INFINITE)


@dataclass(frozen=True)
class InsertDeleteDistance(_OfLists):
    """How many records are inserted and deleted, where the others keep their order.

    Examples
    --------
    >>> InsertDeleteDistance().distance([0, 1, 2], [1, 2, 3])
    2
    """

    resizes: ClassVar[bool | None] = True

    name = "rows inserted or deleted, in order"

    def between(self, a: Form, b: Form) -> int:
        """Return how many entries are not in a longest common subsequence."""
        # The lengths of the longest common subsequences of the entries of a so far, and the first
        # ones of b.
        common = [0] * (len(b) + 1)
        for one in a:
            row = [0]
            for place, other in enumerate(b):
                equal = common[place] + 1
                row.append(equal if one == other else max(row[place], common[place + 1]))
            common = row
        return len(a) + len(b) - 2 * common[-1]

    @staticmethod
    def rows(one: Codes, size: Any, others: Codes, sizes: NDArray[np.int64]) -> Row:
        """Return how many entries are not in longest common subsequences."""
        # common[i, j] is the length of the longest common subsequence of the entries of `one` read
        # so far and the first j entries of the i-th of the others. Codes of -1 come last in the
        # others, and no entry that is read has one.
        common = np.zeros((len(others), others.shape[1] + 1), dtype=np.int64)
        for code in one[:size]:
            before = common.copy()
            for j in range(others.shape[1]):
                longer = before[:, j] + (others[:, j] == code)
                common[:, j + 1] = np.maximum(np.maximum(longer, before[:, j + 1]), common[:, j])
        return np.asarray(sizes + size - 2 * common[:, -1])


@dataclass(frozen=True)
class DiscreteDistance(OfCells):
    """0 between equal data, 1 between others.

    Examples
    --------
    >>> DiscreteDistance().distance([1, 2], [1, 2]), DiscreteDistance().distance([1, 2], [2, 1])
    (0, 1)
    """

    name = "0 if equal, else 1"

    def form_by(self, cells: Cells, data: Any) -> Hashable:
        """Return the key of the data, which count as one cell."""
        return cells(data)

    def between(self, a: Hashable, b: Hashable) -> int:
        """Return 1 unless the keys are equal."""
        return int(a != b)

    def among(self, forms: Sequence[Hashable]) -> Distances:
        """Return the distances of many keys: those of lists of one entry."""
        return HammingDistance().among([(form,) for form in forms])
