"""A table as rows that count: by one set of rules for frames and files, cell by cell.

What a cell stands for depends on the cell alone, never on the type that its column has because of
other rows: so one more person changes nobody else's rows. Cells of persons and groups are texts; a
number among them is the same in all of its forms (50, 50.0, " 50"). Cells with bounds are numbers,
as floats, and become whole steps of a public grid. What cannot be read as one is missing.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, no_column, shown
from sensitivity_lab.csv_files import decimal_number, read_cells, with_point
from sensitivity_lab.errors import InputError, MissingExtraError, kind_of
from sensitivity_lab.metrics.encoding import encode, fixed_order

from .grid import Grid
from .person import Person

Places = NDArray[np.int64]

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
"""A text that is a number, and no name such as 007 or 12E4."""

_TABLES = (
    "a DataFrame of pandas or Polars, or the path of a CSV or a Parquet file, whose columns have "
    "names"
)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that count: with an owner, in a public group, without a missing cell, not too many.

    Attributes
    ----------
    group : ndarray of int64, shape (n,)
        The place of each row's group among the public ones.
    places : dict of str to ndarray of int64, shape (n,)
        By column, the step of each row's number on the public grid.
    """

    group: Places
    places: dict[str, Places]


def rows_of(
    table: Any,
    person: Person,
    keys: Mapping[str, Sequence[str]],
    grids: Mapping[str, Grid],
    *,
    limited: bool = True,
) -> Rows:
    """Read a table, and keep the rows that count.

    `keys` has the names of public groups by column, `grids` what numbers count as. InputError if
    the table cannot be read or lacks a column, or if an id or a key has no text. A cell that is no
    number is missing; that is no error. No message shows a cell.
    """
    owner = [person.column] if person.column else []
    found = _cells_of(table, [*owner, *keys, *grids])
    person.warn_of(one for one in found.names if one not in keys and one not in grids)
    cells, commas, number = found.cells, found.commas, found.number
    kept = np.ones(number, dtype=bool)
    group, names = _groups_of(cells, keys, number, commas)
    kept &= group >= 0
    places = {}
    for column, grid in grids.items():
        numbers = _numbers(cells[column], commas)
        kept &= ~np.isnan(numbers)
        places[column] = grid.places(np.nan_to_num(numbers, posinf=math.inf, neginf=-math.inf))
    owners = _texts(cells[owner[0]], owner[0], commas) if owner else None
    if owners is not None:
        kept &= np.array([one is not None for one in owners], dtype=bool)
    some = np.flatnonzero(kept)
    if owners is not None and limited:
        of_some = [str(owners[place]) for place in some]
        some = _truncated(some, of_some, group, names, places, person)
    return Rows(group[some], {column: found[some] for column, found in places.items()})


@dataclass(frozen=True, eq=False)
class _Read:
    """What is read of a table.

    Attributes
    ----------
    cells : dict of str to sequence
        The cells of some columns.
    names : list
        Of all columns.
    number : int
        Of rows.
    commas : bool
        Whether a comma may stand for a decimal point.
    """

    cells: dict[str, Any]
    names: list[Any]
    number: int
    commas: bool = False


def _cells_of(table: Any, columns: list[str]) -> _Read:
    """Return the cells of some columns, and what else is known of a table."""
    if isinstance(table, str | Path):
        path = Path(table)
        if path.suffix.lower() in (".parquet", ".pq"):
            return _of_parquet(path, columns)
        read = read_cells(path)
        number = len(next(iter(read.columns.values())))
        chosen = _chosen(read.columns, columns)
        return _Read(chosen, list(read.columns), number, commas=read.separator != ",")
    frame = as_pandas(table)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"table must be {_TABLES}, got an object of the type {kind_of(table)}")
    if not frame.columns.is_unique:
        raise InputError("two columns of the table have one name; give every column its own")
    if any(name in columns and name not in frame for name in frame.index.names):
        raise InputError("a column of the plan is the table's index; call reset_index() first")
    return _Read(_chosen(dict(frame.items()), columns), list(frame), len(frame))


def _chosen(cells: Mapping[Any, Any], columns: list[str]) -> dict[str, Any]:
    for column in columns:
        if column not in cells:
            raise InputError(no_column(column, list(cells)))
    return {column: cells[column] for column in columns}


def _of_parquet(path: Path, columns: list[str]) -> _Read:
    """Read some columns of a Parquet file, missing cells as None."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError(
            "Parquet files are read by DuckDB, which is not installed; install the extra: "
            "pip install '.[sql]' in a checkout"
        ) from error
    try:
        with duckdb.connect() as connection:
            file = connection.read_parquet(str(path))
            _chosen(dict.fromkeys(file.columns), columns)
            quoted = ['"' + column.replace('"', '""') + '"' for column in columns]
            found = file.select(", ".join(quoted) if quoted else "1").fetchnumpy()
            names = list(file.columns)
    except duckdb.Error as error:
        raise InputError(f"cannot read {shown(str(path))} as a Parquet file: {error}") from error
    cells = {
        name: of.tolist() if isinstance(of, np.ma.MaskedArray) else of
        for name, of in zip(columns, found.values(), strict=False)
    }
    return _Read(cells, names, len(next(iter(found.values()))))


def _groups_of(
    cells: Mapping[str, Any], keys: Mapping[str, Sequence[str]], number: int, commas: bool
) -> tuple[Places, list[tuple[str, ...]]]:
    """Return the place of each row's group, -1 for none of the public ones, and their names."""
    group = np.zeros(number, dtype=np.int64)
    listed = np.ones(number, dtype=bool)
    for column, names in keys.items():
        known = {name: place for place, name in enumerate(names)}
        found = [known.get(text, -1) for text in _texts(cells[column], column, commas)]  # type: ignore[arg-type]
        one = np.array(found, dtype=np.int64)
        listed &= one >= 0
        group = group * len(names) + one
    return np.where(listed, group, -1), list(product(*keys.values()))


def _truncated(
    some: Places,
    owners: Sequence[str],
    group: Places,
    names: Sequence[tuple[str, ...]],
    places: Mapping[str, Places],
    person: Person,
) -> Places:
    """Return the rows within a person's limits: those with the least hashes of what is in them.

    Equal rows are told apart by their number alone, so that each has the same chance, and which of
    them is kept does not matter. So the choice for one person does not depend on other people, on
    the order of rows, or on columns that are not used.
    """

    def content(owner: str, row: int) -> list[Any]:
        return [owner, *names[group[row]], *(int(found[row]) for found in places.values())]

    if person.max_rows is not None:
        return first_rows(some, owners, person.max_rows, content)
    by_group: dict[str, set[int]] = {}
    for owner, row in zip(owners, some.tolist(), strict=True):
        by_group.setdefault(owner, set()).add(int(group[row]))
    most: int = person.max_groups  # type: ignore[assignment]
    chosen = {
        owner: sorted(of, key=lambda one: fixed_order(encode([owner, *names[one]])))[:most]
        for owner, of in by_group.items()
    }
    both = [(owner, int(group[row])) for owner, row in zip(owners, some.tolist(), strict=True)]
    inside = [place for place, (owner, one) in enumerate(both) if one in chosen[owner]]
    limit: int = person.max_rows_per_group  # type: ignore[assignment]
    keys = [both[place] for place in inside]
    return first_rows(some[inside], keys, limit, lambda key, row: content(key[0], row))


def first_rows(
    some: Places, keys: Sequence[Any], most: int, content: Callable[[Any, int], list[Any]]
) -> Places:
    """Return at most so many rows of each key, in a fixed order of what is in them."""
    of_key: dict[Any, list[int]] = {}
    for key, row in zip(keys, some.tolist(), strict=True):
        of_key.setdefault(key, []).append(row)
    kept: list[int] = []
    for key, rows in of_key.items():
        kept += rows if len(rows) <= most else _least(rows, key, most, content)
    return np.array(sorted(kept), dtype=np.int64)


def _least(
    rows: Sequence[int], key: Any, most: int, content: Callable[[Any, int], list[Any]]
) -> list[int]:
    """Return the rows with the least hashes of what is in them and of their number among equals."""
    copies: Counter[bytes] = Counter()
    ranked = []
    for row in rows:
        what = encode(content(key, row))
        ranked.append((fixed_order(encode([what, copies[what]])), row))
        copies[what] += 1
    return [row for _, row in sorted(ranked)[:most]]


# Cells.


def _texts(cells: Any, column: str, commas: bool) -> list[str | None]:
    """Return the cells of a column as texts, None where they are missing."""
    try:
        return [text_of_cell(cell, commas) for cell in _listed(cells)]
    except InputError as error:
        raise InputError(f"column {shown(column)}: {error}") from None


def text_of_cell(cell: Any, commas: bool = False) -> str | None:
    """Return a cell of a person or a group as text; None if it is missing.

    Examples
    --------
    >>> [text_of_cell(cell) for cell in (50, 50.0, " 50.0", "NA", "007", "", None)]
    ['50', '50', '50', 'NA', '007', None, None]
    """
    if isinstance(cell, str):
        return _text(with_point(cell) if commas else cell)
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return _of_float(float(cell))
    if isinstance(cell, Decimal):
        return _text(f"{cell:f}") if cell.is_finite() else None
    if isinstance(cell, datetime.date):
        return cell.isoformat().removesuffix("T00:00:00")
    raise InputError("ids and keys are texts, numbers, truth values or dates, and some are not")


@lru_cache(maxsize=1 << 16)
def _text(written: str) -> str | None:
    """Return a text without spaces around it; a number as it is written shortest."""
    text = written.strip()
    if not _PLAIN_NUMBER.fullmatch(text):
        return text or None
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


def _of_float(number: float) -> str | None:
    if math.isnan(number):
        return None
    if abs(number) >= 2**53 and not math.isinf(number):
        raise InputError(
            "some ids or keys are floats of 2**53 or more, which do not tell neighboring numbers "
            "apart; give them as texts or as integers (dtype 'Int64' where some are missing)"
        )
    return _text(np.format_float_positional(number, trim="-")) if math.isfinite(number) else "inf"


def _numbers(cells: Any, commas: bool) -> NDArray[np.float64]:
    """Return the cells of a column as floats, nan where they are missing or no numbers."""
    kind = getattr(cells, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        return np.asarray(cells, dtype=np.float64)
    return np.array([number_of_cell(cell, commas) for cell in _listed(cells)], dtype=np.float64)


def number_of_cell(cell: Any, commas: bool = False) -> float:
    """Return a cell as a float, nan if it is missing or no number.

    Examples
    --------
    >>> [number_of_cell(cell) for cell in (3, "2.5 ", "1e3", True, "NA", None, "x")]
    [3.0, 2.5, 1000.0, 1.0, nan, nan, nan]
    """
    if isinstance(cell, str):
        return decimal_number(cell, commas)
    try:
        is_number = isinstance(cell, int | float | Decimal | Fraction | np.bool_ | np.number)
        return float(cell) if is_number and not np.iscomplexobj(cell) else math.nan
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except ValueError:  # a signaling NaN
        return math.nan


def _listed(cells: Any) -> Iterator[Any]:
    return iter(cells.tolist() if hasattr(cells, "tolist") else cells)
