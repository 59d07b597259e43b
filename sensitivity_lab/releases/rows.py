"""A table as rows that count: by one set of rules for frames and files, cell by cell.

What a cell stands for depends on the cell alone, never on the type that its column has because of
other rows: so one more person changes nobody else's rows. Cells of persons and groups are texts; a
number among them is the same in all of its forms (50, 50.0, " 50"). Cells with bounds are numbers,
as floats, and become whole steps of a public grid. A cell that has something in it but cannot be
read as one is unreadable, and its row is dropped as one with a missing cell is.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, no_column, shown
from sensitivity_lab.csv_files import columns_of_file, decimal_number, is_missing, with_point
from sensitivity_lab.errors import InputError, MissingExtraError, kind_of

from .grid import Grid
from .person import Person

Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
"""A text that is a number, and no name such as 007 or 12E4."""

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
"""A text that is a whole number, perhaps of int64."""

_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?")
"""A point of time, as a frame and a file write it."""

_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})")
"""A number whose mark can be that of thousands or of decimals, where both are in use."""

_TABLES = (
    "a DataFrame of pandas or Polars, or the path of a CSV or a Parquet file, whose columns have "
    "names"
)

UNREADABLE = object()
"""A cell that has something in it, and is neither a text nor a number."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that count: with an owner, in a public group, without a missing cell, not too many.

    Attributes
    ----------
    group : ndarray of int64, shape (n,)
        The place of each row's group among the public ones.
    places : dict of str to ndarray of int64, shape (n,)
        By column, the step of each row's number on the public grid.
    values : dict of str to ndarray of float64, shape (n,)
        By column, the numbers as they were read.
    tally : Tally
    """

    group: Places
    places: dict[str, Places]
    values: dict[str, NDArray[np.float64]]
    tally: Tally


@dataclass(frozen=True, eq=False)
class Tally:
    """How many rows of a table count, and why others do not; all of it is private.

    Attributes
    ----------
    number, used : int
        All rows, and those that count.
    unreadable : dict of str to int
        By column, the rows with a cell that has something in it and cannot be read.
    missing, outside, over : int
        Rows with an empty cell; of other groups; beyond the limit of a person. Each row is counted
        for the first reason that holds, after those that cannot be read.
    ambiguous : str
        A column with cells such as 1.000 in a file where a comma may be the decimal mark; or "".
    names : list of str
        Of all columns.
    repeats : dict of str to (int, int)
        By column that the plan does not use: its different cells, and the rows that have one.
    """

    number: int
    used: int
    unreadable: dict[str, int]
    missing: int
    outside: int
    over: int
    ambiguous: str
    names: list[str]
    repeats: dict[str, tuple[int, int]]

    @property
    def share_unreadable(self) -> float:
        """The largest share of unreadable cells in a column."""
        return max(self.unreadable.values(), default=0) / max(self.number, 1)


def rows_of(
    table: Any,
    person: Person,
    keys: Mapping[str, Sequence[str]],
    grids: Mapping[str, Grid],
    decimal: str | None = None,
    *,
    limited: bool = True,
    told: bool = False,
) -> Rows:
    """Read a table, and keep the rows that count.

    `keys` has the names of public groups by column, `grids` what numbers count as; `decimal` is the
    mark of decimals in texts. With `told` the tally has what repeats. InputError if the table
    cannot be read or lacks a column. No message shows a cell.
    """
    owner = [person.column] if person.column else []
    read = _cells_of(table, [*owner, *keys, *grids], told=told)
    person.warn_of(one for one in read.names if one not in keys and one not in grids)
    commas = read.marked if decimal is None else decimal == ","
    # In a file whose cells are not parted by commas both marks can be decimals, unless the plan
    # says which.
    both = read.marked and decimal is None
    bad, empty = np.zeros((2, read.number), dtype=bool)
    unreadable: dict[str, int] = {}

    def note(column: str, lost: NDArray[np.bool_], odd: NDArray[np.bool_]) -> None:
        if odd.any():
            unreadable[column] = int(odd.sum())
            bad[odd] = True
        if lost.any():
            empty[lost & ~odd] = True

    # A row's group is one number: its keys' places as the digits of a mixed radix, in the order of
    # `product(*keys.values())`.
    group, listed = np.zeros(read.number, dtype=np.int64), np.ones(read.number, dtype=bool)
    for column, in_order in keys.items():
        cells = _texts(read.cells[column], commas)
        known = {name: place for place, name in enumerate(in_order)}
        # The last entry is that of missing cells, whose code is -1.
        place_of = np.array([known.get(text, -1) for text in cells.texts] + [-1], dtype=np.int64)
        one = place_of[cells.codes]
        # An unreadable cell counts as such, and not as a missing one.
        note(column, cells.codes < 0, cells.odd)
        listed &= one >= 0
        # A group that is not listed has the place -1; its row is left out below, whatever the
        # number.
        group = group * len(in_order) + one
    values: dict[str, NDArray[np.float64]] = {}
    ambiguous = ""
    for column in grids:
        numbers, odd, unsure = _numbers(read.cells[column], commas, both=both)
        ambiguous = ambiguous or column * unsure
        note(column, np.isnan(numbers), odd)
        values[column] = numbers
    owners = _texts(read.cells[owner[0]], commas) if owner else None
    if owners is not None:
        note(owner[0], owners.codes < 0, owners.odd)
    # Rows are dropped before a person's are limited: else an unreadable row could take the place
    # of one that counts.
    kept = ~(bad | empty) & listed
    some = within = np.flatnonzero(kept)
    if len(some) < read.number:
        group = group[some]
        values = {column: found[some] for column, found in values.items()}
    places = {column: grids[column].places(found) for column, found in values.items()}
    if owners is not None and limited:
        who = owners.codes[some]
        chosen = _within_limits(who, owners, group, [*product(*keys.values())], places, person)
        group, within = group[chosen], some[chosen]
        places = {column: found[chosen] for column, found in places.items()}
        values = {column: found[chosen] for column, found in values.items()}
    missing, outside = int((empty & ~bad).sum()), int((~(bad | empty | listed)).sum())
    tally = Tally(
        *(read.number, len(within), unreadable, missing, outside, len(some) - len(within)),
        *(ambiguous, [str(one) for one in read.names], read.repeats),
    )
    return Rows(group, places, values, tally)


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
    marked : bool
        Whether texts may have either mark of decimals, unless one is said.
    repeats : dict of str to (int, int)
        As of `Tally`.
    """

    cells: dict[str, Any]
    names: list[Any]
    number: int
    marked: bool
    repeats: dict[str, tuple[int, int]]


def _cells_of(table: Any, columns: list[str], *, told: bool) -> _Read:
    """Return the cells of some columns, and what else is known of a table."""
    separator = ","
    if isinstance(table, str | Path):
        path = Path(table)
        if path.suffix.lower() in (".parquet", ".pq"):
            frame = _of_parquet(path, columns, every=told)
        else:
            separator, frame = columns_of_file(path, None if told else columns)
        names: list[Any] = frame.attrs["names"]
    else:
        frame = as_pandas(table)
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"table must be {_TABLES}, got an object of the type {kind_of(table)}")
        if not frame.columns.is_unique:
            raise InputError("two columns of the table have one name; give every column its own")
        if any(name in columns and name not in frame for name in frame.index.names):
            raise InputError("a column of the plan is the table's index; call reset_index() first")
        names = list(frame)
    for column in columns:
        if column not in names:
            raise InputError(no_column(column, names))
    cells = {column: frame[column] for column in columns}
    others = [one for one in frame if one not in columns] if told else []
    repeats = {str(one): _repeats(frame[one]) for one in others}
    return _Read(cells, names, len(frame), separator != ",", repeats)


def _repeats(column: pd.Series[Any]) -> tuple[int, int]:
    """Return how many different cells a column has, and how many rows have one."""
    codes, uniques = pd.factorize(column.astype(str).where(column.notna()))
    return len(uniques), int((codes >= 0).sum())


def _of_parquet(path: Path, columns: list[str], *, every: bool) -> pd.DataFrame:
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
            names = list(file.columns)
            known = names if every else [column for column in columns if column in names]
            quoted = ['"' + column.replace('"', '""') + '"' for column in known]
            found = file.select(", ".join(quoted) if quoted else "1").fetchnumpy()
    except duckdb.Error as error:
        raise InputError(f"cannot read {shown(str(path))} as a Parquet file: {error}") from error
    frame = pd.DataFrame(
        {
            name: pd.Series(of.tolist(), dtype=object) if isinstance(of, np.ma.MaskedArray) else of
            for name, of in zip(known or ["1"], found.values(), strict=True)
        }
    )
    frame.attrs["names"] = names
    return frame


# Persons and groups.


@dataclass(frozen=True, eq=False)
class _Texts:
    """The cells of a column as texts.

    Attributes
    ----------
    codes : ndarray of int64, shape (rows,)
        The place of each cell's text among the `texts`; -1 where there is none.
    whole : ndarray of int64, or list of str
        Each text once; as numbers, if the column is of these.
    odd : ndarray of bool, shape (rows,)
        Where a cell has something in it, and no text.
    """

    codes: Places
    whole: Places | list[str]
    odd: NDArray[np.bool_]

    @property
    def texts(self) -> list[str]:
        """Each text once."""
        return list(map(str, self.whole))


def _texts(cells: Any, commas: bool) -> _Texts:
    """Return the cells of a column of persons or groups as texts."""
    kind = getattr(cells, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind == "i":
        codes, numbers = pd.factorize(np.asarray(cells, dtype=np.int64))
        return _Texts(codes, numbers, np.zeros(len(codes), dtype=bool))
    # Each distinct cell is turned into text once, and rows are looked up by their codes.
    codes, uniques = _codes_of(cells)
    found = [text_of_cell(cell, commas) for cell in uniques]
    # Different cells can have one text, as 50 and "50.0", or none.
    places: dict[Any, int] = {}
    of_unique = [
        -1 if text is None or text is UNREADABLE else places.setdefault(text, len(places))
        for text in found
    ]
    odd = np.array([text is UNREADABLE for text in found] + [False], dtype=bool)
    return _Texts(np.array([*of_unique, -1], dtype=np.int64)[codes], list(places), odd[codes])


def _codes_of(cells: Any) -> tuple[Places, list[Any]]:
    """Return the place of each cell among different ones, -1 for a missing one, and these.

    Cells are told apart by their type, too: True and 1 are equal in Python, and stand for different
    texts.
    """
    column = cells if isinstance(cells, pd.Series) else pd.Series(cells, dtype=object)
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        places: dict[Any, int] = {}
        uniques: list[Any] = []
        codes = np.empty(len(column), dtype=np.int64)
        for row, cell in enumerate(column.tolist()):
            try:
                # A list cannot be a key: each is a cell of its own. Times that are equal, in two
                # zones, have two texts.
                told = cell.isoformat() if isinstance(cell, datetime.datetime) else cell
                code = places.setdefault((type(cell), told), len(uniques))
            except TypeError:  # a list in a cell
                code = len(uniques)
            if code == len(uniques):
                uniques.append(cell)
            codes[row] = code
        return codes, uniques
    codes, found = pd.factorize(column)
    return codes.astype(np.int64), found.tolist()


def text_of_cell(cell: Any, commas: bool = False) -> Any:
    """Return a cell of a person or a group as text; None if it is missing, else `UNREADABLE`.

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
        return _text(cell.isoformat())
    return UNREADABLE


def _text(written: str) -> str | None:
    """Return a text without spaces around it; a number and a time as they are written shortest."""
    text = written.strip()
    time = _TIME.fullmatch(text)
    if time:
        fraction = (time[3] or "").rstrip("0").rstrip(".")
        clock = f"{time[2]}{fraction}"
        return time[1] if clock == "00:00:00" else f"{time[1]} {clock}"
    if not _PLAIN_NUMBER.fullmatch(text):
        return text or None
    # 50.00 and 50 are one text; 100 has no point, so that its zeros stay.
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


def _of_float(number: float) -> Any:
    if math.isnan(number):
        return None
    if abs(number) >= 2**53:  # such floats do not tell neighboring numbers apart
        return UNREADABLE
    return _text(np.format_float_positional(number, trim="-"))


# Which rows of a person count.


def _within_limits(
    who: Places,
    owners: _Texts,
    group: Places,
    names: Sequence[tuple[str, ...]],
    places: Mapping[str, Places],
    person: Person,
) -> NDArray[np.intp]:
    """Return the rows within a person's limits: those with the least hashes of what is in them.

    A row's hash is of its owner's text, the names of its group and its steps, and of its number
    among equal rows, so that each has the same chance. So the choice for one person depends neither
    on other people, nor on the order of rows, nor on columns that are not used.
    """
    of_owner, of_group = _hashes(owners.whole), _hashes(["\x1f".join(one) for one in names])
    # By the contents of a row alone: who leaves changes no row of others.
    hashes = _mixed(of_owner[who], of_group[group])
    for found in places.values():
        hashes = _mixed(hashes, found.astype(np.uint64))
    if person.max_rows is not None:
        return np.sort(first_of_each(hashes, who, person.max_rows))
    # Each pair of an owner and a group; the owner's share of the hash is in a domain of its own.
    pairs, uniques = pd.factorize(who * len(names) + group)
    of_pair = _mixed(_mixed(of_owner[uniques // len(names)], 1), of_group[uniques % len(names)])
    most: int = person.max_groups  # type: ignore[assignment]
    # First the groups of each owner, then rows within each pair that is left.
    chosen = np.zeros(len(uniques), dtype=bool)
    chosen[first_of_each(of_pair, uniques // len(names), most)] = True
    inside = np.flatnonzero(chosen[pairs])
    limit: int = person.max_rows_per_group  # type: ignore[assignment]
    return np.sort(inside[first_of_each(hashes[inside], pairs[inside], limit)])


def first_of_each(hashes: Hashes, owners: Places, most: int) -> NDArray[np.intp]:
    """Return the places of at most so many hashes of each owner, those that are least.

    Equal hashes of one owner get others by their number, so that each has the same chance.

    Examples
    --------
    >>> first_of_each(np.array([5, 1, 9, 2], dtype=np.uint64), np.array([0, 0, 0, 1]), 1).tolist()
    [3, 1]
    """
    # Most owners are within the limit: their rows need no order.
    number = np.bincount(owners)
    crowded = number[owners] > most
    few, some = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    hashes, owners = hashes[some], owners[some]
    order = _by_owner(hashes, owners)
    ordered, whose = hashes[order], owners[order]
    # Entry i compares the sorted rows i and i + 1.
    same_owner = whose[1:] == whose[:-1]
    equal = (ordered[1:] == ordered[:-1]) & same_owner
    if equal.any():
        # Hashes 4 4 4 7 of one owner become 4, mix(4, 1), mix(4, 2), 7: equal rows are told apart.
        copies = _since_true(np.concatenate([[True], ~equal])).astype(np.uint64)
        again = _by_owner(np.where(copies > 0, _mixed(ordered, copies), ordered), whose)
        order, whose = order[again], whose[again]  # owners stay where they are
    # How many rows of the owner have a smaller hash.
    nth = _since_true(np.concatenate([[True], ~same_owner])[: len(order)])
    return np.concatenate([few, some[order[nth < most]]])


def _by_owner(hashes: Hashes, owners: Places) -> NDArray[np.intp]:
    """Return the order of owners, and of hashes for each of them.

    One sort of 32 bits of the owner and 32 of the hash; where these tie, one of all bits.
    """
    # The owner in the upper half: sorting by the key sorts by owner first.
    keys = (owners.astype(np.uint64) << np.uint64(32)) | (hashes >> np.uint64(32))
    order = np.argsort(keys)
    keys, ordered = keys[order], hashes[order]
    # Two different hashes of an owner with equal upper halves: their order is not known yet.
    if ((keys[1:] == keys[:-1]) & (ordered[1:] != ordered[:-1])).any():
        return np.lexsort((hashes, owners))
    return order


def _since_true(flags: NDArray[np.bool_]) -> Places:
    """Return how many places each one is after the last True, of which the first is one."""
    at = np.arange(len(flags))
    # The running maximum is the place of the last True so far.
    return at - np.maximum.accumulate(np.where(flags, at, 0))


def _hashes(texts: Places | Sequence[str]) -> Hashes:
    """Return 64 bits for each text, which depend on the text alone; numbers stand for theirs."""
    if isinstance(texts, np.ndarray):
        return _mixed(texts.astype(np.uint64), 2)
    found = np.empty(len(texts), dtype=np.uint64)
    # A text such as "50" has the hash of the number 50: one table as a file and as a frame keeps
    # the same rows.
    whole = [
        place
        for place, text in enumerate(texts)
        if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63
    ]
    found[whole] = _hashes(np.array([int(texts[place]) for place in whole], dtype=np.int64))
    for place in np.setdiff1d(np.arange(len(texts)), whole).tolist():
        text = texts[place]
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        found[place] = int.from_bytes(digest, "little")
    return found


def _mixed(hashes: Hashes, more: Hashes | int) -> Hashes:
    """Return hashes of hashes and further numbers, one after the other: (3, 7) is not (7, 3).

    The finalizer of SplitMix64: each bit of what comes in moves half of the bits.
    """
    mixed = (hashes * np.uint64(0x9E3779B97F4A7C15)) ^ np.asarray(more, dtype=np.uint64)
    mixed += np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    found: Hashes = mixed ^ (mixed >> np.uint64(31))
    return found


# Numbers.


def _numbers(
    cells: Any, commas: bool, *, both: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_], bool]:
    """Return the cells of a column as floats, and where a cell has something else in it.

    At last, whether there are texts whose mark can be that of thousands.
    """
    kind = getattr(cells, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        return np.asarray(cells, dtype=np.float64), np.zeros(len(cells), dtype=bool), False
    codes, uniques = _codes_of(cells)
    unsure = [
        both and isinstance(one, str) and bool(_THOUSANDS.fullmatch(one.strip())) for one in uniques
    ]
    numbers = [
        math.nan if doubt else number_of_cell(one, commas)
        for one, doubt in zip(uniques, unsure, strict=True)
    ]
    odd = [
        math.isnan(number) and not is_missing(one)
        for one, number in zip(uniques, numbers, strict=True)
    ]
    found = np.array([*numbers, math.nan])
    return found[codes], np.array([*odd, False], dtype=bool)[codes], any(unsure)


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
