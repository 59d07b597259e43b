"""Universes whose records are rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    as_pandas,
    is_hashable,
    named,
    names_of,
    no_column,
    shown,
)
from sensitivity_lab.errors import InputError

from .dataframes import Row, as_frame, distinct, is_missing, product, tuples_of
from .multiset import FiniteUniverse
from .records import check_counts, clipped, warn_of_pair
from .universe import Universe


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
