"""Columns of tables that hold given values exactly, and functions that read them.

pandas chooses the type of a column by all its values: whole numbers become floats if another value
is a half or missing. Here, each value of a column depends only on its own cell
(`sensitivity_lab.metrics.encoding.plain`) and on the type that a schema declares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from sensitivity_lab.checks import names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.encoding import encode, plain

Schema = tuple[tuple[str, Any], ...]
"""Columns and their declared types, by name."""

Row = dict[str, Any]


def check_schema(schema: Any, where: str) -> Schema:
    """Return the columns and types of a mapping or of pairs, or raise InputError."""
    try:
        pairs = dict(schema)
        if not all(isinstance(name, str) for name in pairs):
            raise TypeError("column names are strings")
        return tuple((name, pd.api.types.pandas_dtype(dtype)) for name, dtype in pairs.items())
    except Exception as error:  # noqa: BLE001 - the caller's class, or a type of pandas
        raise InputError(
            f"{where}: schema must map columns to types, such as "
            f"{{'age': 'float64', 'name': 'str'}}, got {shown(schema)}: {error}"
        ) from None


def column_of(values: list[Any], dtype: Any = None) -> pd.Series | None:
    """Return a column that holds the values unchanged; None if the type cannot hold them."""
    try:
        made = pd.Series(values, dtype=dtype)
        kept = list(map(encode, made.tolist())) == list(map(encode, values))
    except (TypeError, ValueError, OverflowError):
        return None
    return made if kept else None


def any_column_of(values: list[Any], *dtypes: Any) -> pd.Series:
    """Return a column of the first type that holds the values unchanged.

    None stands for the type that pandas chooses. If no type holds the values, it is object.
    """
    for dtype in dtypes:
        made = column_of(values, dtype)
        if made is not None:
            return made
    return pd.Series(values, dtype=object)


def declared(values: list[Any], dtype: Any, column: str, where: str) -> pd.Series:
    """Return a column of a declared type, or raise InputError if it cannot hold the values."""
    made = column_of(values, dtype)
    if made is None:
        raise InputError(
            f"{where}: the values of the column {shown(column)} do not fit its type {dtype}; "
            "declare another type with schema={column: dtype}"
        )
    return made


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


def rows_in(table: pd.DataFrame, schema: Schema = ()) -> list[Row]:
    """Return the rows of a table as dicts of columns to values, in a fixed order of columns.

    A value depends only on its cell and on the declared type of its column.
    """
    types = dict(schema)
    columns = sorted(table.columns)
    if not columns:
        return [{} for _ in range(len(table))]
    cells = [map(reader(types.get(name)), table[name].tolist()) for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def reader(dtype: Any = None) -> Callable[[Any], Any]:
    """Return a function from a cell to the value that a caller's function gets.

    Columns of floats, truth values, and points and spans of time have values of these types, with
    points of time in the time zone of their column; a missing time is NaT. For all other types, and
    without a declared type, it is the plain value.
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
    """Return a function that converts plain values, and that returns `missing` for missing ones."""

    def read(cell: Any) -> Any:
        value = plain(cell)
        return missing if value is math.nan else convert(value)

    return read
