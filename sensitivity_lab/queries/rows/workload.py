"""Workloads: a matrix times the histogram of the records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_column, check_whole, listed, named, shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import integers_of_floats
from sensitivity_lab.metrics.cells import table_key
from sensitivity_lab.queries.base import Answer, Sums
from sensitivity_lab.universes.reading import as_numbers
from sensitivity_lab.universes.universe import FiniteUniverse, Universe

from .tables import RecordQuery, check_kinds, keys_of, places_of

Indices = NDArray[np.intp]

_MOST_LISTED = 2_000_000
"""Up to so many cells a matrix is listed for engines that need it whole."""


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of a matrix that are not 0, as whole numbers over a unit.

    Attributes
    ----------
    rows, columns : ndarray of intp, shape (e,)
        Where they stand, by column.
    whole : ndarray of int64 or Python ints, shape (e,)
        The entries, times `unit`; int64 below 2**53.
    shape : tuple of int
    unit : int
    """

    rows: Indices
    columns: Indices
    whole: NDArray[Any]
    shape: tuple[int, int]
    unit: int

    @classmethod
    def of(cls, matrix: Any, keys: Sequence[Any]) -> Entries:
        """Read a matrix: rows, an array, one of scipy.sparse, or a function of each key."""
        wrong = (
            "matrix must be a matrix of finite floats or whole numbers below 2**53: rows, an "
            "array, one of scipy.sparse, or a function that returns the column of a category"
        )
        try:
            if hasattr(matrix, "tocoo"):
                sparse = matrix.tocoo(copy=True)
                sparse.sum_duplicates()
                shape, rows, columns, raw = sparse.shape, sparse.row, sparse.col, sparse.data
            else:
                called = callable(matrix)
                dense = np.transpose([*map(matrix, keys)]) if called else np.asarray(matrix)
                shape = dense.shape
                columns, rows = np.nonzero(dense.T)
                raw = dense[rows, columns]
            if raw.dtype.kind not in "biuf":
                raise TypeError
            given = raw.astype(np.float64)
        except (TypeError, ValueError, OverflowError, AttributeError, IndexError):
            raise InputError(f"{wrong}, got {shown(matrix)}") from None
        fits = len(shape) == 2 and all(shape) and (given == raw).all()
        limit = np.inf if raw.dtype.kind == "f" else 2**53
        if not fits or not (np.abs(given) < limit).all():
            raise InputError(f"{wrong}, got {shown(matrix)}")
        return cls.placed(rows, columns, given, shape)

    @classmethod
    def placed(
        cls, rows: Indices, columns: Indices, given: NDArray[np.float64], shape: tuple[int, int]
    ) -> Entries:
        """Make a matrix of entries at places, each place once."""
        kept = np.lexsort((rows, columns))
        kept = kept[given[kept] != 0]
        # Matrices have few distinct entries: each becomes a whole number once.
        levels, level = np.unique(given[kept], return_inverse=True)
        whole, unit = integers_of_floats(levels)
        shared = math.gcd(unit, *whole.tolist())
        whole, unit = whole // shared, unit // shared
        # Squares of longer ones are beyond the range of floats.
        if max(map(int.bit_length, whole.tolist()), default=0) > 400:
            raise InputError(
                "matrix has entries that are more than 2**400 times their common unit; round "
                "small entries to 0, or divide the matrix by a large number"
            )
        if np.abs(whole).max(initial=0) < 2**53:
            whole = whole.astype(np.int64)
        places = rows[kept].astype(np.intp), columns[kept].astype(np.intp)
        return cls(*places, whole[level], (int(shape[0]), int(shape[1])), unit)

    @cached_property
    def starts(self) -> Indices:
        """Where the entries of each column start, and the last one's end."""
        return np.searchsorted(self.columns, np.arange(self.shape[1] + 1))

    def of_column(self, column: int) -> slice:
        """Return where the entries of a column stand."""
        return slice(int(self.starts[column]), int(self.starts[column + 1]))

    def times(self, histogram: NDArray[np.int64]) -> NDArray[Any]:
        """Return the matrix times a histogram, times `unit`: Python ints."""
        total = np.zeros(self.shape[0], dtype=object)
        for column in np.flatnonzero(histogram):
            own = self.of_column(int(column))
            total[self.rows[own]] += self.whole[own].astype(object) * int(histogram[column])
        return total


@dataclass(frozen=True)
class Intervals:
    """A matrix whose rows count the categories from one to another: all pairs, or prefixes.

    Attributes
    ----------
    width : int
        The number of categories m.
    prefixes : bool
        Whether the rows are the m intervals from the first category on, not all m (m + 1) / 2.
    """

    width: int
    prefixes: bool

    unit: ClassVar[int] = 1

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        rows = self.width if self.prefixes else math.comb(self.width + 1, 2)
        return rows, self.width

    def both(self, one: Any, other: Any) -> Any:
        """Return how many intervals hold two categories; none holds the one after the last."""
        first = 1 if self.prefixes else np.minimum(one, other) + 1
        return first * (self.width - np.maximum(one, other))

    def times(self, histogram: NDArray[np.int64]) -> NDArray[Any]:
        """Return the matrix times a histogram; intervals by their first category, then last."""
        ends = np.cumsum([0, *histogram], dtype=np.int64)
        if self.prefixes:
            return ends[1:]
        return np.concatenate([ends[start + 1 :] - ends[start] for start in range(self.width)])


@dataclass(frozen=True, eq=False, repr=False)
class Workload(RecordQuery):
    """Linear queries released together: a matrix times the number of records of each category.

    Parameters
    ----------
    matrix : array_like or sparse matrix, shape (q, m), or callable
        A row per answer and a column per category: floats, taken exactly, or whole numbers. A
        function gets a category and returns its column, shape (q,).
    categories : sequence, shape (m,)
        The values that the columns count, fixed beforehand. Other records count nothing.
    column : hashable, optional
        The column of a table that has them; None: records are numbers.

    Notes
    -----
    Over a domain without a limit of copies, the sensitivity of k records added or removed is k
    times the largest norm of a column; of k replaced ones, k times the largest distance of two
    columns. It is found for millions of sparse columns, without looking at all pairs; see
    docs/proofs.md, "Workloads (`workloads`)".

    References
    ----------
    Li, Miklau, Hay, McGregor and Rastogi (2015), "The matrix mechanism", Proposition 2.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> ages = range(0, 100, 10)
    >>> domain = sl.Universe.from_domain(ages)
    >>> ranges = Workload.ranges(ages)
    >>> ranges.shape
    (55, 10)
    >>> sl.global_sensitivity(domain, ranges, size=20, neighbors="unbounded").value
    30.0
    """

    matrix: Any
    categories: Sequence[Any]
    column: Any = None
    held: Entries | Intervals = field(init=False)

    vector: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters, and read the matrix."""
        for column in self._columns:
            if column is not None:
                check_column("column", column)
        given = listed(self.categories, "categories must be a list of values")
        if isinstance(self.column, list):
            wrong = "categories must have a value of each column"
            given = [tuple(map(table_key, listed(one, wrong))) for one in given]
            if any(len(one) != len(self.column) for one in given):
                raise InputError(f"{wrong} {shown(self.column)}, got {shown(self.categories)}")
        keys = keys_of("categories", given)
        object.__setattr__(self, "categories", keys)
        matrix = self.matrix
        held = matrix if isinstance(matrix, Entries | Intervals) else Entries.of(matrix, keys)
        if held.shape[1] != len(keys):
            raise InputError(
                f"matrix must have a column for each of the {len(keys):,} categories, got "
                f"{held.shape[1]:,} columns"
            )
        object.__setattr__(self, "held", held)

    @classmethod
    def identity(cls, categories: Sequence[Any], column: Any = None) -> Workload:
        """Make the workload that counts each category: a histogram."""
        return cls._of_levels([np.arange(len(categories))], categories, column)

    @classmethod
    def prefix_sums(cls, categories: Sequence[Any], column: Any = None) -> Workload:
        """Make the workload that counts the categories up to each one, in their order."""
        return cls(Intervals(len(categories), prefixes=True), categories, column)

    @classmethod
    def ranges(cls, categories: Sequence[Any], column: Any = None) -> Workload:
        """Make the workload of all intervals of categories, in their order; it keeps no matrix."""
        return cls(Intervals(len(categories), prefixes=False), categories, column)

    @classmethod
    def tree(cls, categories: Sequence[Any], column: Any = None, branching: int = 2) -> Workload:
        """Make the workload of all nodes of a tree whose leaves are the categories, in their order.

        Parameters
        ----------
        categories, column
            As those of `Workload`.
        branching : int, default 2
            How many nodes of the level below a node covers, at least 2.
        """
        check_whole("branching", branching, "a number of nodes, at least 2", least=2)
        levels = [np.arange(len(categories))]
        while levels[-1].any():
            levels.append(levels[-1] // branching)
        return cls._of_levels(levels, categories, column)

    @classmethod
    def haar(cls, categories: Sequence[Any], column: Any = None) -> Workload:
        """Make the Haar wavelet transform, of +1 and -1: the sum, then differences of halves.

        The number of categories is a power of two.
        """
        width = len(categories)
        halvings = width.bit_length() - 1
        if not width or 1 << halvings != width:
            raise InputError(f"haar takes a power of two of categories, got {width:,}")
        places = np.arange(width)
        # Level l has 2**l rows; each compares the halves of width / 2**l categories.
        levels = [places >> left for left in range(1, halvings + 1)[::-1]]
        signs = [1.0 - 2 * (places >> left & 1) for left in range(halvings)[::-1]]
        return cls._of_levels(
            [places * 0, *levels], categories, column, np.stack([places**0, *signs])
        )

    @classmethod
    def marginals(cls, attributes: Mapping[Any, Sequence[Any]], order: int) -> Workload:
        """Make the workload of all marginals of some columns of a table.

        Parameters
        ----------
        attributes : mapping of column to sequence
            The values of each column, fixed beforehand.
        order : int
            How many columns each marginal has.
        """
        whole_kind("from 1 to the number of columns", most=len(attributes))("order", order)
        every = list(map(list, attributes.values()))
        codes = np.indices(list(map(len, every)))
        codes = codes.reshape(len(attributes), -1)
        levels = [
            np.unique(np.stack(some), axis=1, return_inverse=True)[1].ravel()
            for some in combinations(codes, order)
        ]
        return cls._of_levels(levels, list(product(*every)), list(attributes))

    @classmethod
    def _of_levels(
        cls, levels: list[Indices], categories: Sequence[Any], column: Any, signs: Any = 1.0
    ) -> Workload:
        """Make the workload that has each category in one row of each level."""
        sizes = [int(level.max(initial=0)) + 1 for level in levels]
        rows = np.stack(levels) + np.cumsum([0, *sizes[:-1]])[:, None]
        given = np.broadcast_to(signs, rows.shape).astype(np.float64).ravel()
        columns = np.tile(np.arange(len(categories)), len(levels))
        held = Entries.placed(rows.ravel(), columns, given, (sum(sizes), len(categories)))
        return cls(held, categories, column)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of answers, and of categories."""
        return self.held.shape

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        of = "" if self.column is None else f" of {named(self.column)}"
        return f"workload of {self.shape[0]:,} answers{of}"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def _columns(self) -> list[Any]:
        return self.column if isinstance(self.column, list) and self.column else [self.column]

    @property
    def labels(self) -> None:
        """None: an answer has no name but its place."""
        return

    @property
    def on_numbers(self) -> bool:  # type: ignore[override]
        """Whether records are numbers."""
        return self.column is None

    @property
    def on_records(self) -> bool:  # type: ignore[override]
        """Whether records are rows."""
        return self.column is not None

    def by_place(self, universe: Any) -> bool:
        """Return True, of numbers too."""
        return True

    def adds_up(self, universe: Any) -> bool:
        """Return True: each record contributes its column."""
        return True

    def places(self, universe: Any) -> Indices:
        """Return the column of each distinct record, the one after the last for no category."""
        if self.column is None:
            values = universe.values
        elif isinstance(self.column, list):
            values = list(zip(*map(universe.listed, self.column), strict=True))
        else:
            values = universe.listed(self.column)
        of = places_of(values, self.categories)
        return np.array([self.shape[1] if at is None else at for at in of], dtype=np.intp)

    def check_on(self, universe: Any) -> None:
        """Raise InputError for categories that no record of the column's kind can be in."""
        keys: Any = [self.categories]
        if isinstance(self.column, list):
            keys = zip(*self.categories, strict=True)
        for column, some in zip(self._columns, keys, strict=True):
            # Records that are numbers are all of one kind.
            values = universe.values[:1] if column is None else universe.listed(column)
            check_kinds(
                "categories", "x" if column is None else column, dict.fromkeys(some), values
            )

    def sums(self, universe: FiniteUniverse) -> Sums | None:  # type: ignore[override]
        """Return the sums over the records of a universe; None where they are too many to list."""
        cells = len(universe.values) * self.shape[0]
        return super().sums(universe) if cells <= _MOST_LISTED else None

    def sums_on(self, universe: Any) -> Sums:
        """Return the sums of the columns of the records."""
        histograms = np.eye(self.shape[1] + 1, self.shape[1], dtype=np.int64)
        terms = [self.held.times(histograms[place]) for place in self.places(universe)]
        return Sums.additive(np.array(terms, dtype=object), self.held.unit)

    def exactly(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> tuple[Fraction, ...]:
        """Return the exact answers on a dataset given by multiplicities."""
        histogram = np.zeros(self.shape[1] + 1, dtype=np.int64)
        np.add.at(histogram, self.places(universe), data)
        total, unit = self.held.times(histogram[:-1]).tolist(), self.held.unit
        return tuple(total if unit == 1 else [Fraction(one, unit) for one in total])

    def __call__(self, x: Any) -> Answer:
        """Return the answers on a table, or on numbers, shape (n,)."""
        if self.column is not None:
            return super().__call__(x)
        numbers = as_numbers(x)
        universe = Universe.from_dataset(numbers or self.categories)
        return self.on(universe, universe.multiplicities(len(numbers)))
