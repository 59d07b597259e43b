"""Universes: the records that datasets are drawn from, and what callers pass for one.

A finite universe is a multiset of records: numbers (`Universe`) or rows of a table
(`TableUniverse`). An `IntervalUniverse` has all real numbers of an interval.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, compress, repeat
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    as_pandas,
    html_text,
    is_hashable,
    listed,
    named,
    names_of,
    no_column,
    shown,
    text_of,
    whole_kind,
)
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.exact.difference import Integers, Number, common_integers, integers_of_floats
from sensitivity_lab.exact.roots import as_fraction

from . import reading
from .dataframes import Row, as_frame, distinct, is_missing, product, tuples_of
from .reading import (
    check_count,
    check_counts,
    check_record,
    clipped,
    has_columns,
    is_column,
    of_columns,
    warn_of_pair,
)

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


class Universe(FiniteUniverse):
    """The finite multiset of records that datasets are drawn from.

    Parameters
    ----------
    values : sequence of int, float, Fraction or Decimal, shape (m,)
        The distinct values, in any order: finite, with at most 4,000 digits. Ints stay ints.
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
        If a value is not a finite number, is too long or occurs twice, or a count is not a
        positive integer.

    See Also
    --------
    Universe.from_dataset : Scenario (a), each listed record occurs once.
    Universe.from_domain : Scenario (b), each value can occur repeatedly.
    Universe.from_interval : All real numbers between two bounds.

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
    noun: ClassVar[str] = "values"

    array: NDArray[Any]

    def __init__(self, values: Iterable[Number], counts: Iterable[int] | None = None) -> None:
        given = reading.as_numbers(values)
        advice = "give counts, or use Universe.from_dataset, which counts repeated records"
        reading.check_once(given, "universe", advice)
        listed, _ = reading.distinct(given)
        count_of = dict(
            zip(given, reading.check_counts(counts, len(given), self.noun), strict=True)
        )
        self._set(listed, tuple(count_of[value] for value in listed))

    def _set(self, values: Sequence[Number], counts: tuple[int, ...] | None) -> None:
        super()._set(values, counts)
        self.array = reading.as_array(self.values)

    # Tuples of a million numbers take longer than to sort them: `from_dataset` leaves them out.
    @cached_property
    def values(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The distinct values, ascending."""
        return tuple(self.array.tolist())

    @cached_property
    def counts(self) -> tuple[int, ...] | None:  # type: ignore[override]
        """Their multiplicities; None if there are as many copies as a dataset can hold."""
        return tuple(self._counts.tolist())

    @classmethod
    def from_dataset(cls, records: Iterable[Number]) -> Universe:
        """Make the universe of scenario (a): a dataset whose records each occur once.

        The records become public: a result holds only among datasets drawn from these records, and
        its value and witness reveal them. To release private data, scale noise to a result over a
        domain that you know without the data; see `from_domain`.

        Parameters
        ----------
        records : iterable of numbers, shape (N,)
            The records, in any order; equal values are different records. An array or a column
            (pandas, Polars, Arrow) works, too; False and True in it are 0 and 1.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no record, or one is not a finite number.

        Examples
        --------
        >>> Universe.from_dataset([5, 1, 5, 2])
        Universe of 4 records: 1, 2, 5 (x2); public, results hold only among datasets drawn from it
        """
        made = cls.__new__(cls)
        records = as_pandas(records)
        array = reading.array_of_numbers(records)
        if array is None or array.dtype == object or not len(array):
            made._set(*reading.distinct(reading.as_numbers(records)))
            return made
        made.array, made._counts = reading.distinct_of_array(array)
        made.size = len(array)
        return made

    @classmethod
    def from_domain(cls, values: Iterable[Number], copies: int | None = None) -> Universe:
        """Make the universe of scenario (b): a domain of values that can occur repeatedly.

        Use it for releases. Choose the values, and the copies, without looking at the private data.

        Parameters
        ----------
        values : iterable of numbers, shape (m,)
            The distinct values, such as ``range(21)``. A tuple of two numbers means these two
            values, not a range; a warning says so if there are whole numbers between them.
        copies : int, optional
            How often each value can occur, at least 1. By default as often as a dataset can hold.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no value, one is not a finite number or occurs twice, or `copies` is not a
            positive integer.

        Examples
        --------
        >>> Universe.from_domain([1, 2, 3])
        Universe of the values 1, 2, 3, each as often as a dataset can hold
        >>> Universe.from_domain([1, 2], copies=4)
        Universe of 8 records: 1 (x4), 2 (x4); public, results hold only among datasets drawn from
        it
        """
        given = reading.as_numbers(values)
        advice = "list every value that a record can have once, as range(21) does"
        reading.check_once(given, "domain", advice)
        made = cls(given)._declare(copies)
        reading.warn_of_pair(values, "this domain", real=True)
        reading.warn_of_data(values, "from_domain", "Universe.from_domain(range(121))")
        return made

    @staticmethod
    def from_interval(lower: Number, upper: Number) -> IntervalUniverse:
        """Make the universe of every real number between two bounds, each any number of times.

        Parameters
        ----------
        lower, upper : int, float, Fraction or Decimal
            The bounds, in the unit of the records, both included; `lower` is below `upper`.

        Returns
        -------
        IntervalUniverse
            It is not a `Universe`, because it has no list of values. Functions that list datasets
            refuse it; pass them a grid, ``Universe.from_domain(values)``.

        Raises
        ------
        InputError
            If a bound is not a finite number, or `lower` is not below `upper`.

        Examples
        --------
        >>> import sensitivity_lab as sl
        >>> ages = Universe.from_interval(0, 120)
        >>> sl.global_sensitivity(ages, "mean", size=10, neighbors="bounded").exact
        Fraction(12, 1)
        """
        made = IntervalUniverse(lower, upper)
        way = "Universe.from_interval(0, 120)"
        reading.warn_of_data((lower, upper), "from_interval", way)
        return made

    def clipped(self, lower: Number | None = None, upper: Number | None = None) -> Universe:
        """Return the universe of the clipped records: none below `lower`, none above `upper`.

        Records that are clipped to the same value stay different records: their counts add up.

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
            If a bound is not a finite number, or `lower` is above `upper`.

        Notes
        -----
        O(m) for m distinct values.

        Examples
        --------
        >>> Universe.from_dataset([1, 2, 2, 3, 10]).clipped(2, 5)
        Universe of 5 records: 2 (x3), 3, 5; public, results hold only among datasets drawn from it
        """
        low, high = (
            reading.check_record.or_none(name, bound)
            for name, bound in (("lower", lower), ("upper", upper))
        )
        if low is not None and high is not None and Fraction(low) > Fraction(high):
            raise InputError(f"lower must be at most upper, got {shown(low)} and {shown(high)}")
        counter = reading.clipped(self.values, self.counts or (1,) * len(self.values), low, high)
        made = type(self).__new__(type(self))
        made._set(tuple(counter), None if self.counts is None else tuple(counter.values()))
        made.declared = self.declared
        return made

    @cached_property
    def integers(self) -> tuple[Integers, int]:
        """The values as (integers, denominator): ``values[i] == integers[i] / denominator``."""
        if self.array.dtype == np.float64:
            return integers_of_floats(self.array)
        if self.array.dtype == np.int64:
            return self.array.astype(object), 1
        return common_integers(self.values)

    def given(self, places: NDArray[np.intp]) -> Any:
        """Return the records at some positions, as a caller's function gets them."""
        return self._at(self.array.__getitem__, places, 2)

    def __hash__(self) -> int:
        # As of every finite universe, but of an array the values are not listed for it.
        listed = self.values if "values" in vars(self) else self.array
        return hash((len(listed), tuple(listed[:8]), tuple(listed[-8:]), self.size))


def of_numbers(universe: FiniteUniverse) -> Universe:
    """Return a universe of numbers, or raise InputError if its records are rows."""
    if isinstance(universe, Universe):
        return universe
    raise InputError(f"{universe} has rows, not numbers; take one column with column(name)")


class TableUniverse(FiniteUniverse):
    """A finite multiset of rows that tables are drawn from.

    Parameters
    ----------
    rows : DataFrame, shape (m, columns)
        The distinct rows, in any order. Column names are distinct; values are hashable.
    counts : sequence of int, shape (m,), optional
        How often each row occurs, at least once each. By default, once each.
    allow_missing : bool, default False
        Whether missing values (None, NaN, NA, NaT) are ordinary values. All of them are one value,
        equal to itself, which appears as None in records.

    Attributes
    ----------
    columns : tuple
        The names of the columns.
    frame : DataFrame, shape (m, columns)
        The distinct rows, in the order of `values`; the columns keep their types.
    values : tuple of tuples, shape (m,)
        The distinct rows as Python values: ascending column by column, missing values last.
    counts : tuple of int, shape (m,), or None
        How often each row occurs; None if there are as many copies as a dataset can hold.
    size : int or math.inf
        The number of records N.

    Raises
    ------
    InputError
        If there is no row or no column, a row occurs twice, a value is missing and `allow_missing`
        is False, a value is not hashable, or a count is not a positive integer.

    See Also
    --------
    TableUniverse.from_dataset : Scenario (a), each listed row occurs once.
    TableUniverse.from_domain : Scenario (b), each row can occur repeatedly.

    Examples
    --------
    >>> import pandas as pd
    >>> TableUniverse(pd.DataFrame({"sex": ["m", "f"], "age": [40, 30]}), [1, 2])
    Universe of 3 records (sex, age): ('f', 30) (x2), ('m', 40); public, results hold only among
    datasets drawn from it
    """

    numeric: ClassVar[bool] = False
    noun: ClassVar[str] = "rows"

    columns: tuple[Any, ...]
    frame: pd.DataFrame

    def __init__(
        self, rows: Any, counts: Iterable[int] | None = None, *, allow_missing: bool = False
    ) -> None:
        frame = as_frame(rows, allow_missing)
        order, times = distinct(frame)
        if len(order) != len(frame):
            place = int(np.flatnonzero(times > 1)[0])
            twice = tuples_of(frame.iloc[order[place : place + 1]])[0]
            raise InputError(
                f"the rows of a universe are distinct, "
                f"got {shown(twice)} more than once; give counts, "
                "or use TableUniverse.from_dataset, which counts repeated rows"
            )
        given = check_counts(counts, len(frame), self.noun)
        self._set_rows(frame.iloc[order], tuple(given[place] for place in order))

    def _set_rows(self, frame: pd.DataFrame, counts: tuple[int, ...]) -> None:
        self.columns = tuple(frame.columns)
        self.frame = frame.reset_index(drop=True)
        self._set(tuples_of(self.frame), counts)

    @classmethod
    def from_dataset(cls, records: Any, *, allow_missing: bool = False) -> TableUniverse:
        """Make the universe of scenario (a): a table whose rows each occur once.

        The records become public: a result holds only among datasets drawn from these rows, and its
        value and witness reveal them. To release private data, scale noise to a result over a
        domain that you know without the data; see `from_domain`.

        Parameters
        ----------
        records : DataFrame or Series, shape (N, columns)
            The rows, in any order; equal rows are different records. The index is not part of a
            record. Tables of Polars, Arrow and other libraries that Narwhals reads work, too.
        allow_missing : bool, default False
            Whether missing values are ordinary values.

        Returns
        -------
        TableUniverse

        Raises
        ------
        InputError
            If there is no row or no column, a value is not hashable, or a value is missing and
            `allow_missing` is False.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"sex": ["m", "f", "f"], "age": [40, 30, 30]})
        >>> TableUniverse.from_dataset(table)
        Universe of 3 records (sex, age): ('f', 30) (x2), ('m', 40); public, results hold only
        among datasets drawn from it
        """
        frame = as_frame(records, allow_missing)
        order, times = distinct(frame)
        made = cls.__new__(cls)
        made._set_rows(frame.iloc[order], tuple(times.tolist()))
        return made

    @classmethod
    def from_domain(
        cls, values: Any, copies: int | None = None, *, allow_missing: bool = False
    ) -> TableUniverse:
        """Make the universe of scenario (b): rows that can occur repeatedly.

        Use it for releases. Choose the rows, and the copies, without looking at the private data.

        Parameters
        ----------
        values : mapping of column to values, or DataFrame
            A domain per column, where every combination is a row; or the distinct rows. A tuple of
            two numbers means these two values, not a range; a warning says so.
        copies : int, optional
            How often each row can occur, at least 1. By default as often as a dataset can hold.
        allow_missing : bool, default False
            Whether missing values are ordinary values.

        Returns
        -------
        TableUniverse

        Raises
        ------
        InputError
            As for the class, and if the product of the domains has too many rows.

        Examples
        --------
        >>> TableUniverse.from_domain({"sex": ["f", "m"], "smokes": [False, True]}, copies=2)
        Universe of 8 records (sex, smokes): ('f', False) (x2), ('f', True) (x2),
        ('m', False) (x2), ('m', True) (x2); public, results hold only among datasets drawn from it
        """
        if isinstance(values, Mapping):
            for name, domain in values.items():
                warn_of_pair(domain, f"the domain of column {shown(name)}")
            values = product(values)
        return cls(values, allow_missing=allow_missing)._declare(copies)

    def column(self, name: Any) -> Universe:
        """Return a numeric column as a universe of numbers.

        Parameters
        ----------
        name : hashable
            The column, numeric and without missing values.

        Returns
        -------
        Universe
            Its records are the cells of that column: equal numbers in different rows are different
            records. So a query that reads only this column has the same sensitivity on it.

        Raises
        ------
        InputError
            If there is no such column, or it has a value that is not a finite number.

        Examples
        --------
        >>> TableUniverse.from_domain({"sex": ["f", "m"], "age": [20, 30]}, copies=2).column("age")
        Universe of 8 records: 20 (x4), 30 (x4); public, results hold only among datasets drawn
        from it
        """
        listed = [int(v) if isinstance(v, bool) else v for v in self.listed(name)]
        if self.counts is None:
            return Universe.from_domain(dict.fromkeys(listed))
        totals = clipped(listed, self.counts, None, None)
        made = Universe(totals, totals.values())
        made.declared = self.declared
        return made

    def listed(self, name: Any) -> list[Any]:
        """Return the values of a column, one per distinct row; raise InputError without it."""
        if not is_hashable(name) or name not in self.columns:
            raise InputError(no_column(name, self.columns))
        place = self.columns.index(name)
        return [row[place] for row in self.values]

    def clipped(self, *_: Any, **__: Any) -> NoReturn:
        """Raise InputError: rows cannot be clipped, but their columns can."""
        raise InputError(
            f"{self} has rows, not numbers; clip one column, column(name).clipped(lower, "
            "upper), or clip in the query, as in SumOf(column, clip=(lower, upper))"
        )

    def given(self, places: NDArray[np.intp]) -> pd.DataFrame:
        """Return the rows at some positions, as a caller's function gets them."""
        rows: pd.DataFrame = self._at(self.frame.take, places, 1)
        return rows.reset_index(drop=True)

    def to_frame(self, dataset: Iterable[Row]) -> pd.DataFrame:
        """Return a dataset, such as that of a witness, as a DataFrame.

        Parameters
        ----------
        dataset : iterable of tuples
            Records of the universe.

        Returns
        -------
        DataFrame, shape (n, columns)
            The columns keep their types.
        """
        places = [self.index(row) for row in self.records_of(dataset)]
        return self.given(np.array(places, dtype=np.intp))

    def records_of(self, x: Any) -> list[Any]:
        """Return the records of a dataset, given as a table or as an iterable of rows."""
        x = as_pandas(x)
        if not isinstance(x, pd.DataFrame):
            return super().records_of(x)
        if set(x.columns) != set(self.columns):
            raise InputError(
                f"a dataset has the columns {names_of(self.columns)}, "
                f"got {', '.join(map(shown, x.columns))}"
            )
        return tuples_of(x[list(self.columns)])

    def index(self, record: Any) -> int:
        """Return the position of a record among the distinct rows, or raise InputError."""
        if isinstance(record, (tuple, list)):
            record = tuple(None if is_missing(value) else value for value in record)
        return super().index(record)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableUniverse):
            return NotImplemented
        return self.columns == other.columns and super().__eq__(other)

    __hash__ = FiniteUniverse.__hash__

    @property
    def _names(self) -> str:
        return f" ({names_of(self.columns, named)})"

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(map(named, self.columns))


class Space(Protocol):
    """The interface of all universes that neighbor relations and results use."""

    @property
    def numeric(self) -> bool:
        """Whether records are numbers."""

    @property
    def size(self) -> int | float:
        """The number of records; math.inf without limit."""

    @property
    def extent(self) -> str:
        """How large it is, in words."""


@dataclass(frozen=True, repr=False)
class IntervalUniverse:
    """Every real number from a lower to an upper bound, each any number of times.

    Use it where the bounds of a column are public and its values are not. It has no list of values,
    so functions that list datasets refuse it; `global_sensitivity`, `local_sensitivity`,
    `sensitivity_curves` and `audit` accept it.

    Parameters
    ----------
    lower, upper : int, float, Fraction or Decimal
        The bounds, in the unit of the records, both included; `lower` is below `upper`.

    Attributes
    ----------
    size : float
        math.inf: there is no largest dataset.
    extent : str
        The interval, in words.

    Raises
    ------
    InputError
        If a bound is not a finite number, or `lower` is not below `upper`.

    See Also
    --------
    Universe.from_interval : Make one.
    Universe.from_domain : A finite grid of values, each as often as a dataset can hold.

    Examples
    --------
    >>> interval = IntervalUniverse(0, 120)
    >>> interval
    Universe of every real number of the interval [0, 120], each any number of times
    >>> 33.3 in interval, 121 in interval
    (True, False)
    """

    lower: Number
    upper: Number

    numeric: ClassVar[bool] = True
    size: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        """Check the bounds."""
        for name in ("lower", "upper"):
            object.__setattr__(self, name, check_record(name, getattr(self, name)))
        if Fraction(self.lower) >= Fraction(self.upper):
            given = f"{shown(self.lower)} and {shown(self.upper)}"
            raise InputError(
                f"lower must be below upper, got {given}; for a single value use "
                "Universe.from_domain([value])"
            )

    @property
    def extent(self) -> str:
        """The interval, in words."""
        return f"interval [{self.lower}, {self.upper}], every real number"

    def dataset(self, records: Iterable[Any]) -> tuple[Number, ...]:
        """Return records in ascending order; raise InputError if one is not in the interval."""
        given = listed(records, "a dataset must be a sequence of records")
        numbers = [check_record("a record", record) for record in given]
        for record in numbers:
            if record not in self:
                raise InputError(
                    f"the record {shown(record)} is not in the universe: {shown(self)}"
                )
        return tuple(sorted(numbers, key=lambda record: Fraction(record)))

    def __contains__(self, record: object) -> bool:
        try:
            value = as_fraction(record, "a record")
        except InputError:
            return False
        return Fraction(self.lower) <= value <= Fraction(self.upper)

    def __repr__(self) -> str:
        return (
            f"Universe of every real number of the interval [{self.lower}, {self.upper}], "
            "each any number of times"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html_text(repr(self))}</p>"


class PointsOfInterval(Universe):
    """Some numbers of an interval: a caller's function gets floats, also where all are whole."""

    def given(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the records at some positions, as a caller's function gets them."""
        return np.asarray(super().given(places), dtype=np.float64)


AnyUniverse = FiniteUniverse | IntervalUniverse
"""What datasets can be drawn from."""


def check_any_universe(given: Any) -> AnyUniverse:
    """Return a universe or an interval; of records, their universe; else raise InputError."""
    return given if isinstance(given, IntervalUniverse) else check_universe(given)


def check_universe(given: Any) -> FiniteUniverse:
    """Return a finite universe, or raise InputError that says how to make one.

    Parameters
    ----------
    given : object
        A universe, or records, each of which occurs once (scenario (a)): numbers as a list, an
        array or a column, rows as a table, of pandas or of what Narwhals reads.

    Examples
    --------
    >>> check_universe([3, 1, 3])
    Universe of 3 records: 1, 3 (x2); public, results hold only among datasets drawn from it
    """
    if isinstance(given, FiniteUniverse):
        return given
    if isinstance(given, IntervalUniverse):
        raise InputError(
            f"a finite universe is needed here, got the {given.extent}; use a grid of its "
            "values, Universe.from_domain(values)"
        )
    records = as_pandas(given)
    if isinstance(records, pd.DataFrame):
        return TableUniverse.from_dataset(records)
    if is_column(records):
        return Universe.from_dataset(records)
    raise InputError(
        f"universe must be a Universe, or a list, a column or a table of its records, got "
        f"{kind_of(given)}; {_instead(given)}"
    )


def _instead(given: Any) -> str:
    """Return what to do about a value that is no universe."""
    if has_columns(given):
        return of_columns(given)
    make = "make one with Universe.from_dataset(records) or Universe.from_domain(values)"
    return f"{make}{query_second(given)}"


def query_second(given: Any) -> str:
    """Return the order of the first arguments, after a semicolon, if a value may be a query."""
    if not (isinstance(given, str) or callable(given)):
        return ""
    return f"; if {shown(given)} is the query, give it second, after the universe"


def finite(universe: AnyUniverse, records: Iterable[Number] = ()) -> FiniteUniverse:
    """Return a finite universe that has the given records of a universe.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        The records that datasets are drawn from.
    records : iterable of numbers
        Records of an interval, in any order.

    Returns
    -------
    Universe
        A finite universe itself; of an interval the domain of its bounds and the records, each as
        often as a dataset can hold.

    Raises
    ------
    InputError
        If a record is not in the interval.

    Examples
    --------
    >>> finite(Universe.from_interval(0, 9), [4, 4])
    Universe of the values 0, 4, 9, each as often as a dataset can hold
    """
    if isinstance(universe, FiniteUniverse):
        return universe
    ends = (universe.lower, universe.upper)
    return PointsOfInterval.from_domain(dict.fromkeys((*ends, *universe.dataset(records))))
