"""Domains of tables, with the limits that truncations guarantee, and of tables by group.

pandas chooses the type of a column by all its values: whole numbers become floats if another value
is a half or missing. Here, each value of a column depends only on its own cell
(`sensitivity_lab.metrics.cells.plain`).
"""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from sensitivity_lab.checks import (
    check_kind,
    check_text_column,
    is_hashable,
    is_long,
    listed,
    names_of,
    shown,
)
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.metrics.cells import encode, plain

from .domains import Counted, Domain

Row = dict[str, Any]


def any_column_of(values: list[Any], *dtypes: Any) -> pd.Series:
    """Return a column of the first type that holds the values unchanged.

    None stands for the type that pandas chooses. If no type holds the values, it is object.
    """
    encoded = list(map(encode, values))
    for dtype in dtypes:
        refused = contextlib.suppress(TypeError, ValueError, OverflowError)
        with refused, warnings.catch_warnings(action="ignore"):  # pandas warns of new categories
            made: pd.Series = pd.Series(values, dtype=dtype)
            if list(map(encode, made.tolist())) == encoded:
                return made
    return pd.Series(values, dtype=object)


def table_of(rows: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a table of rows that all have the same columns, or raise InputError."""
    first = list(rows[0]) if rows else []
    for place, row in enumerate(rows):
        if set(row) != set(first):
            raise InputError(
                f"the rows of a table have the same columns: row 0 has "
                f"{names_of(first)}, row {place} has "
                f"{names_of(row)}; write a missing value as None"
            )
    made = {name: any_column_of([row[name] for row in rows], None) for name in first}
    return pd.DataFrame(made, index=pd.RangeIndex(len(rows)))


def rows_in(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as dicts of columns to plain values, in a fixed order of columns.

    A value depends only on its cell.
    """
    columns = sorted(table.columns)
    if not columns:
        return [{} for _ in range(len(table))]
    cells = [map(plain, table[name].tolist()) for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


@dataclass(frozen=True)
class Limit:
    """A limit per privacy id that a truncation guarantees.

    Parameters
    ----------
    kind : {"groups", "rows", "id"}
        Whether it limits the groups of an id, the rows of an id in one group, or all its rows.
    column : str
        The column whose values are the groups; for all rows, the column of the ids.
    most : int
        The largest number of groups or rows.
    owner : str
        The column of the ids. A limit says nothing about the ids of another column.
    """

    kind: str
    column: str
    most: int
    owner: str

    def __str__(self) -> str:
        if self.kind == "id":
            return f"{self.most} rows per id"
        return (
            f"{self.most} groups of {shown(self.column)} per id"
            if self.kind == "groups"
            else f"{self.most} rows per id and group of {shown(self.column)}"
        )

    def largest(self, table: pd.DataFrame) -> int:
        """Return the largest number of groups or rows in a table; rows without an id are one id's.

        Raises
        ------
        InputError
            If the table has not the columns of the limit.
        """
        missing = [name for name in (self.owner, self.column) if name not in table.columns]
        if missing:
            raise InputError(
                f"a limit of {self} needs the column {shown(missing[0])}; the columns of the "
                "table are "
                f"{names_of(list(table.columns))}"
            )
        owners = [encode(value) for value in table[self.owner].tolist()]
        groups = [encode(value) for value in table[self.column].tolist()]
        both = Counter(zip(owners, groups, strict=True))
        counts = Counter(owner for owner, _ in both) if self.kind == "groups" else both
        return max(counts.values(), default=0)


@dataclass(frozen=True)
class Table(Counted):
    """pandas tables; the order of rows and columns and the index are not part of the data.

    Parameters
    ----------
    limits : tuple of Limit
        The limits that truncations by privacy id guarantee.
    size : int, optional
        The number of rows of each table, if it is known and public.
    max_size : int, optional
        The largest number of rows of a table, if only that is known.

    Examples
    --------
    >>> print(Table(size=3))
    tables of 3 rows
    """

    limits: tuple[Limit, ...] = ()
    size: int | None = None
    max_size: int | None = None

    def __post_init__(self) -> None:
        """Check the limits and the sizes."""
        self._check_sizes()
        wrong = "limits must be a tuple of limits, which truncations make"
        for limit in listed(self.limits, wrong):
            check_kind("limits", limit, Limit, "a tuple of limits, which truncations make")
        object.__setattr__(self, "limits", tuple(self.limits))

    @property
    def name(self) -> str:
        """A description of the data."""
        most = (
            "" if self.most is None else f" of {'at most ' * (self.size is None)}{self.most} rows"
        )
        made_sure = " and ".join(map(str, self.limits))
        return f"tables{most} with at most {made_sure}" if made_sure else f"tables{most}"

    def limit(self, kind: str, column: str, owner: str) -> int | None:
        """Return the smallest limit of a kind for the ids in a column; None if there is none."""
        return min(
            (
                limit.most
                for limit in self.limits
                if (limit.kind, limit.column, limit.owner) == (kind, column, owner)
            ),
            default=None,
        )

    def rows_per_id(self, owner: str) -> int | None:
        """Return the largest number of rows of an id in the column `owner`; None without a limit.

        A limit of the groups of an id and one of its rows in each group make a limit of its rows.
        """
        known = [self.limit("id", owner, owner)]
        for column in {limit.column for limit in self.limits if limit.kind == "rows"}:
            groups, rows = (self.limit(kind, column, owner) for kind in ("groups", "rows"))
            known.append(None if groups is None or rows is None else groups * rows)
        return min((most for most in known if most is not None), default=None)

    def only_rows_per_id(self, owner: str, factor: int = 1) -> tuple[Limit, ...]:
        """Return the limits after a step that makes at most `factor` rows of a row, of any kind."""
        most = self.rows_per_id(owner)
        return () if most is None else (Limit("id", owner, factor * most, owner),)

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        if not isinstance(other, Table) or not self._sizes_include(other):
            return False
        bounds = (
            (other.limit(limit.kind, limit.column, limit.owner), limit.most)
            for limit in self.limits
        )
        return all(known is not None and known <= most for known, most in bounds)

    def read(self, data: Any) -> pd.DataFrame:
        """Return a table with distinct columns and a plain index, given as a table or as rows."""
        if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
            data = table_of(list(data))
        if not isinstance(data, pd.DataFrame):
            raise InputError(
                "a table is a pandas.DataFrame or a list of rows, each a mapping of columns to "
                f"values, got {kind_of(data)}"
            )
        columns = list(data.columns)
        if len(set(columns)) != len(columns) or not all(isinstance(name, str) for name in columns):
            raise InputError(f"the columns of a table are distinct strings, got {shown(columns)}")
        self._check_count(len(data))
        table: pd.DataFrame = data.reset_index(drop=True)
        for limit in self.limits:
            largest = limit.largest(table)
            if largest > limit.most:
                raise InputError(f"the domain is {self}, got {replace(limit, most=largest)}")
        return table


@dataclass(frozen=True)
class Groups(Domain):
    """A table for each of several public keys of a column.

    Parameters
    ----------
    column : str
        The column whose values are the keys.
    keys : tuple
        The keys, in order.
    data : Domain, default Table()
        The data of each group: tables, or the values that a step such as `select` makes of them.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> print(Groups("ward", ("a", "b")))
    2 groups of 'ward'
    >>> print(Groups("ward", ("a", "b"), data=pl.Numbers(bounds=(0, 5))))
    2 groups of 'ward', each numbers in [0, 5]
    """

    column: str
    keys: tuple[Any, ...]
    data: Domain = Table()

    def __post_init__(self) -> None:
        check_text_column("column", self.column)
        keys = tuple(listed(self.keys, "keys must be a list of values"))
        for key in keys:
            if not is_hashable(key) or is_long(key):
                raise InputError(f"keys must be hashable values, got {shown(key)}")
        object.__setattr__(self, "keys", keys)
        check_kind("data", self.data, Domain, "a domain, such as Table() or Numbers()")

    @property
    def name(self) -> str:
        """A description of the data."""
        groups = f"{len(self.keys)} groups of {shown(self.column)}"
        return groups if isinstance(self.data, Table) else f"{groups}, each {self.data}"

    def read(self, data: Any) -> dict[Any, Any]:
        """Return the data of each key, in the order of the keys, given as a mapping of them."""
        if not isinstance(data, Mapping) or set(data) != set(self.keys):
            raise InputError(
                f"the data of {self.name} are a mapping with the keys {shown(self.keys)}, got "
                f"{shown(data if not isinstance(data, Mapping) else tuple(data))}"
            )
        return {key: self.data.read(data[key]) for key in self.keys}
