"""From data frames to records: the distinct rows of a table, in order, as tuples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, check_column, check_flag, listed, shown, text_of
from sensitivity_lab.errors import InputError, kind_of

Row = tuple[Any, ...]
"""A record: a Python value per column, None where it is missing."""

_MOST_ROWS = 5_000_000
"""The most rows that a product of domains may have."""


def as_frame(rows: Any, allow_missing: bool) -> pd.DataFrame:
    """Return a table with at least one row and one column, or raise InputError."""
    check_flag("allow_missing", allow_missing)
    given = as_pandas(rows)
    frame = given.to_frame() if isinstance(given, pd.Series) else given
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"a universe of records is made of a table, such as a pandas.DataFrame, "
            f"got {kind_of(rows)}; "
            "for one list of numbers use Universe"
        )
    if not len(frame) or not len(frame.columns):
        raise InputError(
            "a universe of records needs at least one row and one column, got "
            f"{len(frame)} rows and {len(frame.columns)} columns"
        )
    for name in frame.columns:
        check_column("a column of the table", name)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"the table has two columns called {shown(twice)}; rename one of them")
    missing = frame.isna().sum()
    if not allow_missing and missing.any():
        name = missing.index[missing > 0][0]
        raise InputError(
            f"column {shown(name)} has missing values ({missing[name]} of {len(frame)}); pass "
            "allow_missing=True to make them ordinary values, or drop or replace them first"
        )
    return frame


def distinct(frame: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return where the distinct rows of a table first occur, in order, and their counts."""
    codes = np.column_stack([_codes(frame.iloc[:, place]) for place in range(frame.shape[1])])
    _, first, times = np.unique(codes, axis=0, return_index=True, return_counts=True)
    return first, times.astype(np.int64)


def _codes(column: pd.Series[Any]) -> NDArray[np.int64]:
    """Number the values of a column in ascending order, missing values last."""
    try:
        codes, distinct = _numbered(column)
    except Exception:  # noqa: BLE001 - values can be of any class, and fail to be hashed or compared
        raise InputError(
            f"column {shown(column.name)} has values that are not hashable; use numbers, strings, "
            "dates or tuples"
        ) from None
    present = list(distinct)
    try:
        order = sorted(range(len(present)), key=present.__getitem__)
    except Exception:  # noqa: BLE001 - as above; what does not compare is ordered by its text
        order = sorted(
            range(len(present)),
            key=lambda code: (type(present[code]).__name__, text_of(present[code])),
        )
    rank = np.full(len(present) + 1, len(present), dtype=np.int64)
    rank[order] = np.arange(len(present))
    ranks: NDArray[np.int64] = rank[codes]
    return ranks


def _numbered(column: pd.Series[Any]) -> tuple[NDArray[np.intp], Any]:
    """Number values as they come, missing ones -1; return the distinct ones, too."""
    try:
        return pd.factorize(column)
    except OverflowError:  # older pandas, where no float holds a whole number
        numbers: dict[Any, int] = {}
        codes = [
            -1 if is_missing(value) else numbers.setdefault(value, len(numbers))
            for value in column.tolist()
        ]
        return np.array(codes, dtype=np.intp), list(numbers)


def tuples_of(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a table as tuples of Python values, None where one is missing."""
    columns = []
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        values = [v.item() if isinstance(v, np.number) else v for v in column.tolist()]
        if column.isna().any():
            values = [None if is_missing(value) else value for value in values]
        columns.append(values)
    return list(zip(*columns, strict=True))


def product(domains: Mapping[Any, Iterable[Any]]) -> pd.DataFrame:
    """Return every combination of the values of the columns, as a table."""
    if not domains:
        raise InputError("a universe of records needs at least one column, got no domains")
    columns = {}
    for name, values in domains.items():
        wrong = f"the domain of column {shown(name)} must list values"
        column = columns[name] = _series(listed(values, wrong))
        if column.empty:
            raise InputError(f"the domain of column {shown(name)} must list at least one value")
        twice = column[column.duplicated()]
        if len(twice):
            raise InputError(
                f"the domain of column {shown(name)} lists {shown(twice.tolist()[0])} more than "
                "once; list "
                "every value once"
            )
    lengths = [len(column) for column in columns.values()]
    if math.prod(lengths) > _MOST_ROWS:
        raise InputError(
            f"the domains combine to {math.prod(lengths):,} rows, more than {_MOST_ROWS:,}; "
            "give fewer values, or the rows that can occur as a DataFrame"
        )
    places = np.indices(lengths).reshape(len(lengths), -1)
    return pd.DataFrame(
        {
            name: column.take(place).reset_index(drop=True)
            for (name, column), place in zip(columns.items(), places, strict=True)
        }
    )


def _series(values: list[Any]) -> pd.Series[Any]:
    """Return values as a column; pandas would round large ints among floats."""
    column = pd.Series(values)
    large = column.dtype.kind == "f" and any(
        isinstance(value, int) and abs(value) > 2**53 for value in values
    )
    return pd.Series(values, dtype=object) if large else column


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NA or NaT."""
    missing = pd.isna(value)
    return bool(missing) if isinstance(missing, (bool, np.bool_)) else False
