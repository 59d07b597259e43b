"""The base of every finite universe: distinct records, and how often each occurs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress, repeat
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    as_pandas,
    html_text,
    is_hashable,
    listed,
    shown,
    text_of,
    whole_kind,
)
from sensitivity_lab.errors import InputError

from .records import check_count

HOLDS = "public, results hold only among datasets drawn from it"
"""Of a finite number of records, which a result over it reveals."""

SHOWN = 12
"""A repr shows at most so many distinct records."""


_check_limit = whole_kind("a number of records, from 0 to 2**63 - 1", least=0, most=2**63 - 1)


class FiniteUniverse(ABC):
    """A finite multiset of records, numbers or rows, that datasets are drawn from.

    This is the base class of `Universe` and `TableUniverse`; make one of these.

    Attributes
    ----------
    values : tuple, shape (m,)
        The distinct records, ascending.
    counts : tuple of int, shape (m,), or None
        Their multiplicities; None if there are as many copies as a dataset can hold.
    size : int or math.inf
        The number of records N, also ``len(universe)``.

    See Also
    --------
    Universe : A universe of numbers.
    TableUniverse : A universe of rows of a table.
    IntervalUniverse : Every real number of an interval, which is not a finite multiset.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> isinstance(sl.Universe([1, 2]), FiniteUniverse)
    True
    >>> isinstance(sl.Universe.from_interval(1, 2), FiniteUniverse)
    False
    """

    numeric: ClassVar[bool]
    """Whether records are numbers."""

    noun: ClassVar[str]
    """The name of the distinct records, in the plural."""

    values: tuple[Any, ...]
    counts: tuple[int, ...] | None
    size: int | float

    declared: bool = False
    """Whether `from_domain` made it, so its values are declared."""

    def _set(self, values: Sequence[Any], counts: tuple[int, ...] | None) -> None:
        self.values = tuple(values)
        self.counts = counts
        self._counts = np.array(counts or (), dtype=np.int64)
        self.size = math.inf if counts is None else sum(counts)

    def _declare(self, copies: Any) -> Self:
        """Make its values a domain, each with so many copies, and return it."""
        times = check_count.or_none("copies", copies)
        self._set(self.values, None if times is None else (times,) * len(self.values))
        self.declared = True
        return self

    @property
    def lists_records(self) -> bool:
        """Whether its records may be private data: they are listed, not declared as a domain."""
        return self.size != math.inf and not self.declared

    @property
    def extent(self) -> str:
        """How large the universe is, in words."""
        if self.counts is None:
            return f"domain of {len(self.values):,} {self.noun}, unlimited copies"
        return f"universe of {len(self):,} records"

    @property
    def number(self) -> int:
        """How many distinct records there are."""
        return len(self.values) if self.size == math.inf else len(self._counts)

    def multiplicities(self, limit: int) -> NDArray[np.int64]:
        """Return how often each value can occur in a dataset of at most `limit` records."""
        number = (
            limit if type(limit) is int and 0 <= limit < 2**63 else _check_limit("limit", limit)
        )
        if self.size == math.inf:
            return np.full(len(self.values), number, dtype=np.int64)
        return np.minimum(self._counts, number)

    def records_of(self, x: Any) -> list[Any]:
        """Return the records of a dataset, in any order and not yet checked."""
        if isinstance(x, FiniteUniverse) and x.counts is None:
            raise InputError(
                "a dataset must be a sequence of records, got a domain; the universe is the first "
                "argument, the dataset is given by name"
            )
        return listed(as_pandas(x), "a dataset must be a sequence of records")

    @abstractmethod
    def given(self, places: NDArray[np.intp]) -> Any:
        """Return the records at some positions, as a caller's function gets them."""

    def dataset(self, multiplicities: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the records, ascending, of a dataset given by multiplicities, shape (m,)."""
        multiplicities = self._check_multiplicities(multiplicities)
        times = multiplicities.tolist()
        if multiplicities.max() == 1:
            return tuple(compress(self.values, times))
        return tuple(chain.from_iterable(map(repeat, self.values, times)))

    def _check_multiplicities(self, given: Any) -> NDArray[np.int64]:
        """Return how often each value occurs, or raise InputError."""
        array = type(given) is np.ndarray and given.dtype.kind in "iu"
        if not array or given.shape != (len(self.values),) or given.min(initial=0) < 0:
            raise InputError(
                f"multiplicities must be an array of {len(self.values):,} whole numbers of at "
                f"least 0, one per distinct value, got {shown(given)}"
            )
        multiplicities: NDArray[np.int64] = given
        return multiplicities

    def _at(self, take: Callable[[NDArray[np.intp]], Any], places: Any, most: int) -> Any:
        """Return what is at some positions of values, or raise InputError."""
        try:
            # pandas would cast floats to positions.
            array = isinstance(places, np.ndarray) and places.dtype.kind in "iub"
            if not array or places.ndim > most:
                raise IndexError
            return take(places)
        except (IndexError, TypeError, ValueError):
            raise InputError(
                f"places must be an array of positions of the {len(self.values):,} distinct "
                f"values, from 0, got {shown(places)}"
            ) from None

    def __len__(self) -> int:
        if self.counts is None:
            raise InputError(
                "a domain with unlimited copies has no number of records; use len(universe.values) "
                "for the number of distinct values, or from_domain(values, copies=...)"
            )
        return int(self.size)

    def __iter__(self) -> Iterator[Any]:
        """Yield the records in ascending order, each as often as it occurs."""
        len(self)
        return chain.from_iterable(map(repeat, self.values, self.counts or ()))

    def __contains__(self, record: object) -> bool:
        return is_hashable(record) and record in self._position

    def index(self, record: Any) -> int:
        """Return the position of a record among the distinct ones, or raise InputError."""
        if record not in self:
            raise InputError(f"the record {shown(record)} is not in the universe: {self}")
        return self._position[record]

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {value: position for position, value in enumerate(self.values)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FiniteUniverse):
            return NotImplemented
        return self is other or (self.values == other.values and self.counts == other.counts)

    def __hash__(self) -> int:
        # A few values tell universes apart well enough, and are quick for a million of them.
        return hash((len(self.values), self.values[:8], self.values[-8:], self.size))

    def __repr__(self) -> str:
        return f"{self}; {HOLDS}" if self.counts else str(self)

    def __str__(self) -> str:
        records = self._shown()
        if self.counts is None:
            of = f"{self.noun}{self._names}"
            return f"Universe of the {of} {records}, each as often as a dataset can hold"
        return f"Universe of {len(self)} record{'s' * (len(self) != 1)}{self._names}: {records}"

    def _repr_html_(self) -> str:
        counts = self.counts or ("any",) * len(self.values)
        rows = [
            (*((value,) if self.numeric else value), count)
            for value, count in zip(self.values, counts, strict=True)
        ]
        if len(rows) > 2 * SHOWN:
            rows = [*rows[:SHOWN], ("...",) * len(rows[0]), rows[-1]]
        head = "".join(f"<th>{html_text(name)}</th>" for name in (*self._columns, "copies"))
        body = "".join(
            f"<tr>{''.join(f'<td>{html_text(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        of = f"{len(self)} records; {HOLDS}" if self.counts else self.noun
        return (
            f"<table><caption>Universe of {of}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        """What the entries of a record are called in a table."""
        return ("value",)

    @property
    def _names(self) -> str:
        """The names of the columns in parentheses, after a space; empty for numbers."""
        return ""

    def _shown(self) -> str:
        """Return the records for a line of text, the middle left out if they are many."""
        counts = self.counts or (1,) * len(self.values)
        records = [
            f"{text_of(value)} (x{count})" if count > 1 else text_of(value)
            for value, count in zip(self.values[:SHOWN], counts[:SHOWN], strict=True)
        ]
        if len(self.values) > SHOWN:
            records[-2:] = ["...", text_of(self.values[-1])]
        return ", ".join(records)
