"""Columns of tables: made to hold given values exactly, and read as values of a declared type.

pandas chooses the type of a column by all its values: whole numbers become floats beside a half or
a missing value. What a column is made of, and what is read from it, is therefore a matter of each
value alone (`sensitivity_lab.pipelines.encoding.plain`), and of the type that a schema declares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .encoding import encode, plain
from .shown import names

Schema = tuple[tuple[str, Any], ...]
"""Columns and their declared types, by name."""

Row = dict[str, Any]


def check_schema(schema: Any, where: str) -> Schema:
    """Return columns and their types, given as a mapping or as pairs, or raise InputError."""
    try:
        pairs = dict(schema)
        if not all(isinstance(name, str) for name in pairs):
            raise TypeError("column names are strings")
        return tuple((name, pd.api.types.pandas_dtype(dtype)) for name, dtype in pairs.items())
    except Exception as error:  # noqa: BLE001 - the caller's class, or a type of pandas's own
        raise InputError(
            f"{where}: schema must map columns to types, such as "
            f"{{'age': 'float64', 'name': 'str'}}, got {shown(schema)}: {error}"
        ) from None


def column_of(values: list[Any], dtype: Any = None) -> pd.Series | None:
    """Return a column of values as they are; None if a column of the type cannot hold them."""
    try:
        made = pd.Series(values, dtype=dtype)
        kept = list(map(encode, made.tolist())) == list(map(encode, values))
    except (TypeError, ValueError, OverflowError):
        return None
    return made if kept else None


def any_column_of(values: list[Any], *dtypes: Any) -> pd.Series:
    """Return a column of the first of some types that holds the values as they are.

    None stands for the type that pandas finds; where none does, it is object.
    """
    for dtype in dtypes:
        made = column_of(values, dtype)
        if made is not None:
            return made
    return pd.Series(values, dtype=object)


def declared(values: list[Any], dtype: Any, column: str, where: str) -> pd.Series:
    """Return a column of a declared type, or raise InputError if it does not hold the values."""
    made = column_of(values, dtype)
    if made is None:
        raise InputError(
            f"{where}: the values of the column {column!r} do not fit its type {dtype}; "
            "say another type with schema={column: dtype}"
        )
    return made


def table_of(rows: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a table of rows that all have the same columns, or raise InputError."""
    first = list(rows[0]) if rows else []
    for place, row in enumerate(rows):
        if set(row) != set(first):
            raise InputError(
                f"the rows of a table have the same columns: row 0 has "
                f"{names(first)}, row {place} has "
                f"{names(row)}; write a missing value as None"
            )
    made = {name: any_column_of([row[name] for row in rows], None) for name in first}
    return pd.DataFrame(made, index=pd.RangeIndex(len(rows)))


def rows_in(table: pd.DataFrame, schema: Schema = ()) -> list[Row]:
    """Return the rows of a table as dicts of columns, in a fixed order, to values.

    A value depends on its cell, and on the declared type of its column, alone.
    """
    types = dict(schema)
    columns = sorted(table.columns)
    if not columns:
        return [{} for _ in range(len(table))]
    cells = [map(reader(types.get(name)), table[name].tolist()) for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def reader(dtype: Any = None) -> Callable[[Any], Any]:
    """Return what makes of a cell the value that a function gets.

    Without a declared type, and for types not named here, the plain value. Floats and truth values
    are given as such, points of time in the time zone of their column; a missing one of these and
    of spans of time is NaT.
    """
    if dtype is None:
        return plain
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _unless_missing(lambda stamp: stamp.tz_convert(dtype.tz), pd.NaT)
    kind = getattr(dtype, "kind", "O")
    if kind in "mM":
        return _unless_missing(lambda time: time, pd.NaT)
    if kind == "f":
        return _unless_missing(float, math.nan)
    return _unless_missing(bool, math.nan) if kind == "b" else plain


def _unless_missing(convert: Callable[[Any], Any], missing: Any) -> Callable[[Any], Any]:
    """Return what converts plain values, and gives one object for missing ones."""

    def read(cell: Any) -> Any:
        value = plain(cell)
        return missing if value is math.nan else convert(value)

    return read
