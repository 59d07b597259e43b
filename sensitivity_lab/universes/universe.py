"""The finite multiset of records that datasets are drawn from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, compress, repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import is_hashable, listed, shown, text_of
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.exact.difference import Integers, Number, common_integers, integers_of_floats

from .records import as_array, as_numbers, check_bound, check_count, check_counts, clipped, distinct

_SHOWN = 12
"""A repr shows at most so many distinct values."""


HOLDS = "public, results hold only among datasets drawn from it"
"""Of a finite number of records, which a result over it tells of."""


class Universe:
    """The finite multiset of records that datasets are drawn from.

    Parameters
    ----------
    values : sequence of int, float, Fraction or Decimal, shape (m,)
        The distinct values, in any order, finite, of at most 4,000 digits. Ints stay ints.
    counts : sequence of int, shape (m,), optional
        How often each value occurs, at least once each. By default, once each.

    Attributes
    ----------
    values : tuple of numbers, shape (m,)
        The distinct values, ascending.
    counts : tuple of int, shape (m,), or None
        Their multiplicities; None if there are as many copies as a dataset can hold.
    size : int or math.inf
        The number of records N, also ``len(universe)``.
    array : ndarray, shape (m,)
        The values as int64 or float64 if that is lossless, else as Python objects.

    Raises
    ------
    InputError
        If a value is no finite number, is too long, comes twice, or a count is no positive integer.

    See Also
    --------
    Universe.from_dataset : Scenario (a), each listed record is there once.
    Universe.from_domain : Scenario (b), each value can occur often.

    Examples
    --------
    >>> universe = Universe([10, 1, 2], [1, 1, 3])
    >>> universe
    Universe of 5 records: 1, 2 (x3), 10; public, results hold only among datasets drawn from it
    >>> print(universe)
    Universe of 5 records: 1, 2 (x3), 10
    >>> list(universe)
    [1, 2, 2, 2, 10]
    """

    numeric: ClassVar[bool] = True
    """Whether records are numbers."""

    values: tuple[Any, ...]
    counts: tuple[int, ...] | None
    size: int | float
    array: NDArray[Any]

    def __init__(self, values: Iterable[Number], counts: Iterable[int] | None = None) -> None:
        given = as_numbers(values)
        listed, _ = distinct(given)
        if len(listed) != len(given):
            twice = next(value for value, count in Counter(given).items() if count > 1)
            raise InputError(
                f"the values of a universe are distinct, got {shown(twice)} more than once; "
                "give counts, or use Universe.from_dataset, which counts repeated records"
            )
        if counts is None:
            self._set(listed, (1,) * len(listed))
            return
        checked = check_counts(counts)
        if len(checked) != len(given):
            raise InputError(
                f"values and counts must have one length, got {len(given)} values and "
                f"{len(checked)} counts"
            )
        count_of = dict(zip(given, checked, strict=True))
        self._set(listed, tuple(count_of[value] for value in listed))

    def _set(self, values: Sequence[Number], counts: tuple[int, ...] | None) -> None:
        self.values = tuple(values)
        self.counts = counts
        self.array = as_array(self.values)
        self._counts = np.array(counts or (), dtype=np.int64)
        self.size = math.inf if counts is None else sum(counts)

    @classmethod
    def from_dataset(cls, records: Iterable[Number]) -> Universe:
        """Make the universe of scenario (a): a dataset whose records are there once each.

        The universe is public: a result over it holds only among datasets drawn from these records,
        and its value and its witness tell of them. For a release of private data, scale noise to
        a result over a domain that is known without the data, `from_domain`.

        Parameters
        ----------
        records : iterable of numbers, shape (N,)
            Any order; equal values are different records. A pandas Series or a numpy array
            works as well as a list.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no record, or one is no finite number.

        Examples
        --------
        >>> Universe.from_dataset([5, 1, 5, 2])
        Universe of 4 records: 1, 2, 5 (x2); public, results hold only among datasets drawn from it
        """
        made = cls.__new__(cls)
        made._set(*distinct(as_numbers(records)))
        return made

    @classmethod
    def from_domain(cls, values: Iterable[Number], copies: int | None = None) -> Universe:
        """Make the universe of scenario (b): a domain of values that can occur repeatedly.

        It is for releases: choose the values, and the copies, without a look at the private data.

        Parameters
        ----------
        values : iterable of numbers, shape (m,)
            The distinct values.
        copies : int, optional
            How often each value can occur, at least 1. By default as often as a dataset can hold.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no value, one is no finite number or comes twice, or `copies` is not a
            positive integer.

        Examples
        --------
        >>> Universe.from_domain([1, 2, 3])
        Universe of the values 1, 2, 3, each as often as a dataset can hold
        >>> Universe.from_domain([1, 2], copies=4)
        Universe of 8 records: 1 (x4), 2 (x4); public, results hold only among datasets drawn from
        it
        """
        made = cls(values)
        counts = None
        if copies is not None:
            counts = (check_count(copies, "copies"),) * len(made.values)
        made._set(made.values, counts)
        return made

    def clipped(self, lower: Number | None = None, upper: Number | None = None) -> Universe:
        """Return the universe of the clipped records: none below `lower`, none above `upper`.

        Records that are clipped to one value stay different records: their counts add up.

        Parameters
        ----------
        lower, upper : int, float, Fraction or Decimal, optional
            The clipping bounds, finite, in the unit of the records. By default no bound.

        Returns
        -------
        Universe
            Its values are those of the universe and the bounds themselves, exactly.

        Raises
        ------
        InputError
            If a bound is no finite number, `lower` is above `upper`, or records are rows.

        Notes
        -----
        O(m) for m distinct values.

        Examples
        --------
        >>> Universe.from_dataset([1, 2, 2, 3, 10]).clipped(2, 5)
        Universe of 5 records: 2 (x3), 3, 5; public, results hold only among datasets drawn from it
        """
        if not self.numeric:
            raise InputError(
                f"{self} has rows, not numbers; clip one column, column(name).clipped(lower, "
                "upper), or clip in the query, as in SumOf(column, clip=(lower, upper))"
            )
        low, high = (
            None if bound is None else check_bound(name, bound)
            for name, bound in (("lower", lower), ("upper", upper))
        )
        if low is not None and high is not None and Fraction(low) > Fraction(high):
            raise InputError(f"lower must be at most upper, got {shown(low)} and {shown(high)}")
        counter = clipped(self.values, self.counts or (1,) * len(self.values), low, high)
        made = type(self).__new__(type(self))
        made._set(tuple(counter), None if self.counts is None else tuple(counter.values()))
        return made

    @property
    def extent(self) -> str:
        """How large the universe is, in words."""
        if self.counts is None:
            return f"domain of {len(self.values):,} values, unlimited copies"
        return f"universe of {len(self):,} records"

    def multiplicities(self, limit: int) -> NDArray[np.int64]:
        """Return how often each value can occur in a dataset of at most `limit` records."""
        if self.counts is None:
            return np.full(len(self.values), limit, dtype=np.int64)
        return np.minimum(self._counts, limit)

    @cached_property
    def _integers(self) -> tuple[Integers, int]:
        if self.array.dtype == np.float64:
            return integers_of_floats(self.array)
        return common_integers(self.values)

    @property
    def integers(self) -> tuple[Integers, int]:
        """The values as (integers, denominator): ``values[i] == integers[i] / denominator``."""
        return self._integers

    def records_of(self, x: Iterable[Any]) -> list[Any]:
        """Return the records of a dataset, in any order and not yet checked."""
        return listed(x, "a dataset must be a sequence of records")

    def given(self, places: NDArray[np.intp]) -> Any:
        """Return the records at some positions, as a caller's function gets them."""
        return self.array[places]

    def dataset(self, multiplicities: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the records, ascending, of a dataset given by multiplicities, shape (m,)."""
        times = multiplicities.tolist()
        if multiplicities.max() == 1:
            return tuple(compress(self.values, times))
        return tuple(chain.from_iterable(map(repeat, self.values, times)))

    def __len__(self) -> int:
        if self.counts is None:
            raise InputError(
                "a domain with unlimited copies has no number of records; use len(universe.values) "
                "for the number of distinct values, or from_domain(values, copies=...)"
            )
        return int(self.size)

    def __iter__(self) -> Iterator[Number]:
        """Yield the records in ascending order, each as often as it occurs."""
        len(self)
        return chain.from_iterable(map(repeat, self.values, self.counts or ()))

    def __contains__(self, record: object) -> bool:
        return is_hashable(record) and record in self._position

    def index(self, record: Number) -> int:
        """Return the position of a record among the distinct values, or raise InputError."""
        if record not in self:
            raise InputError(f"the record {shown(record)} is not in the universe: {self}")
        return self._position[record]

    @cached_property
    def _position(self) -> dict[Number, int]:
        return {value: position for position, value in enumerate(self.values)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Universe):
            return NotImplemented
        return self is other or (self.values == other.values and self.counts == other.counts)

    def __hash__(self) -> int:
        # A few values tell universes apart well enough, and are quick for a million of them.
        return hash((len(self.values), self.values[:8], self.values[-8:], self.size))

    def __repr__(self) -> str:
        return f"{self}; {HOLDS}" if self.counts else str(self)

    def __str__(self) -> str:
        counts = self.counts or (1,) * len(self.values)
        listed = [
            f"{text_of(value)} (x{count})" if count > 1 else text_of(value)
            for value, count in zip(self.values[:_SHOWN], counts[:_SHOWN], strict=True)
        ]
        if len(self.values) > _SHOWN:
            listed[-2:] = ["...", text_of(self.values[-1])]
        shown = ", ".join(listed)
        if self.counts is None:
            return f"Universe of the values {shown}, each as often as a dataset can hold"
        return f"Universe of {len(self)} record{'s' * (len(self) != 1)}: {shown}"

    def _repr_html_(self) -> str:
        counts = self.counts or ("any",) * len(self.values)
        rows: list[tuple[object, object]] = list(zip(self.values, counts, strict=True))
        if len(rows) > 2 * _SHOWN:
            rows = [*rows[:_SHOWN], ("...", "..."), rows[-1]]
        body = "".join(
            f"<tr><td>{text_of(value)}</td><td>{count}</td></tr>" for value, count in rows
        )
        size = "" if self.counts is None else f" of {len(self)} records; {HOLDS}"
        return (
            f"<table><caption>Universe{size}</caption>"
            f"<thead><tr><th>value</th><th>copies</th></tr></thead><tbody>{body}</tbody></table>"
        )


def check_universe(universe: Any) -> Universe:
    """Return a universe, or raise InputError that says how to make one."""
    if isinstance(universe, Universe):
        return universe
    if hasattr(universe, "columns"):
        raise InputError(
            f"universe must be a Universe, got {kind_of(universe)}; "
            "make one with TableUniverse.from_dataset(table)"
        )
    raise InputError(
        f"universe must be a Universe, got {kind_of(universe)}; "
        "make one with Universe.from_dataset(records) or Universe.from_domain(values)"
    )
