"""Universes and datasets as the page names them: typed, of a CSV file, or given by a caller.

What is typed also becomes the Python that makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_column, listed, named, no_column, shown
from sensitivity_lab.csv_files import MOST_VALUES, Cells, cells_of, written_number, written_values
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.per_column import as_universes
from sensitivity_lab.universes.universe import AnyUniverse, Universe

_SPELLED_OUT = 30
"""The most values of a domain that the code lists."""


def dataset(text: str) -> list[int | Decimal]:
    """Return the records of a typed dataset, in ascending order; commas, blanks and lines end one.

    Examples
    --------
    >>> dataset("3, 1, 0.5")
    [Decimal('0.5'), 1, 3]
    """
    parts = re.split(r"[,;\s]+", text.strip(" ,;\t\r\n"))
    if len(parts) > MOST_VALUES:
        raise InputError(f"a dataset has at most {MOST_VALUES:,} typed records, got {len(parts):,}")
    return sorted(map(written_number, parts))


def interval(text: str) -> tuple[AnyUniverse, str]:
    """Return the typed interval, of every number between two.

    Examples
    --------
    >>> interval("0:2.5")[1]
    "sl.Universe.from_interval(0, Decimal('2.5'))"
    """
    ends = [written_number(part) for part in text.split(":")]
    if len(ends) != 2:
        raise InputError(f"an interval is written lower:upper, such as 0:100, got {shown(text)}")
    code = f"sl.Universe.from_interval({literal(ends[0])}, {literal(ends[1])})"
    return Universe.from_interval(*ends), code


@lru_cache(maxsize=4)
def domain(text: str) -> tuple[AnyUniverse, str]:
    """Return the typed domain; made once, since many values take seconds.

    Examples
    --------
    >>> domain("1, 2, 0.5")[1]
    "sl.Universe.from_domain([1, 2, Decimal('0.5')])"
    >>> domain("0:120")[1]
    'sl.Universe.from_domain(range(0, 121))'
    """
    values = written_values(text, text)
    first, step = values[0], values[min(1, len(values) - 1)] - values[0]
    spelled = literal(values)
    whole = range(int(first), int(values[-1]) + 1)
    # So many are listed only if they can be all: a range of three values may be very long.
    if 2 < len(values) == whole.stop - whole.start and values == [*whole]:
        spelled = repr(whole)
    elif ":" in text and len(values) > _SPELLED_OUT:
        # Fractions, since a sum of Decimals is rounded to 28 digits.
        each = f"Fraction('{first}') + i * Fraction('{step}')"
        spelled = f"[{each} for i in range({len(values)})]"
    return Universe.from_domain(values), f"sl.Universe.from_domain({spelled})"


_FEW = 30
"""The most records of a given universe that are written into the code."""


@dataclass(frozen=True)
class Made:
    """A universe, and the Python that makes it; "" if a variable of the caller's holds it."""

    universe: AnyUniverse
    code: str


@dataclass(frozen=True, eq=False)
class Given:
    """Columns that stay where the page is served from: it knows their names alone.

    Attributes
    ----------
    columns : dict of str to (universe, code)
        The universes that can be chosen, by the names that the page shows.
    records : dict of str to (records, code)
        The columns of a table, which can be the dataset x.
    first : str
        The one that is x at first; "" if none is.
    told : str
        What to say about a file.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, Any] = field(default_factory=dict)
    first: str = ""
    told: str = ""


def given_of(data: Any) -> Given:
    """Return the columns of a table, or universes by name; raise InputError if none has numbers.

    Parameters
    ----------
    data : DataFrame, Universe, IntervalUniverse, or mapping of str to universes
        What a caller has.
    """
    if isinstance(data, pd.DataFrame):
        for name in data.columns:
            check_column("a column of the table", name)
        once = len(set(map(str, data.columns))) == len(data.columns)
        # Missing numbers are refused where a column is chosen.
        numeric = [
            one for one in data.columns if once and _are_numbers(data[one].dropna().tolist())
        ]
        if not numeric:
            as_universes(data)  # which raises InputError: no column is numeric, or one occurs twice
        return Given(
            records={named(name): (data[name], f"frame[{literal(name)}]") for name in numeric}
        )
    universes = as_universes(data)
    rows = next((name for name, one in universes.items() if not one.numeric), None)
    if rows is not None:
        raise InputError(
            f"explore takes universes of numbers, but {shown(rows)} is one of rows; "
            "explore one column, universe.column(name)"
        )
    several = isinstance(data, Mapping)
    return Given(
        {
            name: (one, _spelled(one, f"universes[{name!r}]" if several else "universe"))
            for name, one in universes.items()
        }
    )


def _are_numbers(values: list[Any]) -> bool:
    """Return whether there are values, and each is a number; a missing one is not."""
    return bool(values) and all(
        isinstance(one, Number) and not isinstance(one, bool) and one == one for one in values
    )


def _spelled(universe: AnyUniverse, name: str) -> str:
    """Return the Python that makes a universe: its values if they are few, else its name."""
    if isinstance(universe, Universe):
        if universe.counts is None and len(universe.array) <= _FEW:
            return f"sl.Universe.from_domain({literal(list(universe.values))})"
        if universe.size <= _FEW and not universe.declared:
            return f"sl.Universe.from_dataset({literal(list(universe))})"
    return name


def universe_of(asked: Mapping[str, Any], given: Given) -> Made:
    """Return the universe that a request describes (see `answer`)."""
    kind = asked["kind"]
    if kind == "domain":
        return Made(*domain(asked["text"]))
    if kind == "interval":
        return Made(*interval(asked["text"]))
    if kind == "given" and asked["column"] in given.columns:
        return Made(*given.columns[asked["column"]])
    records, code = records_of(asked, given)
    return Made(_of_records(tuple(records)), f"sl.Universe.from_dataset({code})")


@lru_cache(maxsize=4)
def _of_records(records: tuple[Any, ...]) -> Universe:
    """Return the universe of some records; made once, since many take a second."""
    return Universe.from_dataset(records)


def records_of(asked: Mapping[str, Any], given: Given) -> tuple[list[Any], str]:
    """Return the records that a request describes, and the Python that makes them."""
    if asked["kind"] == "records":
        found = dataset(asked["text"])
        return found, literal(found)
    if asked["kind"] == "unread":
        raise InputError(asked["text"])
    if asked["kind"] == "csv":
        given = given_of_text(asked["text"], asked["name"])
    name = asked["column"]
    if name not in given.records:
        raise InputError(no_column(name, [*given.columns, *given.records]))
    held, code = given.records[name]
    return listed(held, "a column must be a list of numbers"), code


@lru_cache(maxsize=2)
def given_of_text(text: str, name: str) -> Given:
    """Return the columns of the text of a CSV file of some name."""
    return given_of_file(cells_of(text.encode(), "the file"), name)


def given_of_file(cells: Cells, file: str) -> Given:
    """Return the numeric columns of a CSV file; raise InputError if it has none.

    The first one that does not look like an identifier is x at first, if no other column has
    missing numbers: that one may be what is wanted.
    """
    records, missing, others = dict[str, Any](), [], []
    for name in cells.columns:
        entries = cells.entries(name)
        there = [one for one in entries if one == one]
        if not _are_numbers(there):
            others.append(name)
        elif len(there) < len(entries):
            missing.append(f"{name} ({len(entries) - len(there):,} of {len(entries):,})")
        else:
            records[name] = entries, _read(cells, file, name)
    gaps = (
        f"cells are missing in {few(missing)}: drop these rows or fill them, then load the file "
        "again"
    )
    if not records:
        raise InputError(f"no column of the file holds numbers alone{f'; {gaps}' * bool(missing)}")
    first = next((name for name in records if not _identifies(name, records[name][0])), "")
    told = (
        f"Read: {file}, {len(entries):,} row{'s' * (len(entries) != 1)}.",
        f"Choose a column: {gaps}." * bool(missing),
        "Choose a column: these look like identifiers." * (not (first or missing)),
        f"Not listed, since not all of their entries are numbers: {few(others)}." * bool(others),
    )
    return Given({}, records, "" if missing else first, " ".join(filter(None, told)))


def few(names: Iterable[str], most: int = 10) -> str:
    """Return names with commas, and "…" for those that are too many."""
    found = [*names]
    return ", ".join([*found[:most], "…"][: len(found)])


def _read(cells: Cells, file: str, name: str) -> str:
    """Return the Python that reads a column of numbers of a CSV file exactly."""
    commas = any("," in text for text in cells.columns[name])
    number = 'lambda text: Decimal(text.replace(",", "."))' if commas else "Decimal"
    separated = f", sep={literal(cells.separator)}" * (cells.separator != ",")
    column = literal(name)
    return f"pd.read_csv({literal(file)}{separated}, converters={{{column}: {number}}})[{column}]"


def _identifies(name: str, records: list[Any]) -> bool:
    """Return whether a column is named like an identifier, or has another whole number per row."""
    named = re.fullmatch(r"(.*[\W_])?id", name, re.IGNORECASE) is not None
    return named or len({one for one in records if isinstance(one, int)}) == len(records)
