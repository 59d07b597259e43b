"""Columns of tables that hold given values exactly, and functions that read them.

pandas chooses the type of a column by all its values: whole numbers become floats if another value
is a half or missing. Here, each value of a column depends only on its own cell
(`sensitivity_lab.metrics.cells.plain`).
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import Any

import pandas as pd

from sensitivity_lab.checks import names_of
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.cells import encode, plain

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
