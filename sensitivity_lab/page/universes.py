"""Universes and datasets as the page names them: typed, of a CSV file, or given by a caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_column, listed, named, no_column, shown
from sensitivity_lab.csv_files import cells_of
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.universe import Universe

from .typed import dataset, domain, interval

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
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, Any] = field(default_factory=dict)


def given_of(data: Any, read: str = "frame[{column}]") -> Given:
    """Return the columns of a table, or universes by name; raise InputError if none has numbers.

    Parameters
    ----------
    data : DataFrame, Universe, IntervalUniverse, or mapping of str to universes
        What a caller has.
    read : str
        The Python that reads a ``{column}`` of a table.
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
            records={
                named(name): (data[name], read.replace("{column}", literal(name)))
                for name in numeric
            }
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
    if asked["kind"] == "csv":
        columns = _columns(asked["text"])
        name = asked["column"]
        if name not in columns:
            raise InputError(no_column(name, list(columns)))
        file, column = literal(asked["name"]), literal(name)
        return columns[name], f"pd.read_csv({file}, converters={{{column}: Decimal}})[{column}]"
    name = asked["column"]
    if name not in given.records:
        raise InputError(no_column(name, [*given.columns, *given.records]))
    held, code = given.records[name]
    return listed(held, "a column must be a list of numbers"), code


def columns_of(text: str) -> dict[str, Any]:
    """Return the columns of a CSV file.

    `columns` has the numeric ones, and how many records each has; `first` is the first of these
    that does not look like an identifier, or ""; `others` are not numeric.
    """
    entries = _entries(text)
    found = _columns(text)
    if not found:
        raise InputError("no column of the file holds numbers alone")
    return {
        "columns": {name: len(records) for name, records in found.items()},
        "first": next((name for name in found if not _identifies(name, found[name])), ""),
        "others": [name for name in entries if name not in found],
    }


def _identifies(name: str, records: list[Any]) -> bool:
    """Return whether a column is named like an identifier, or has another whole number per row."""
    named = re.fullmatch(r"(.*[\W_])?id", name, re.IGNORECASE) is not None
    return named or len({one for one in records if isinstance(one, int)}) == len(records)


@lru_cache(maxsize=2)
def _entries(text: str) -> dict[str, list[Any]]:
    cells = cells_of(text, "the file")
    return {name: cells.entries(name) for name in cells.columns}


def _columns(text: str) -> dict[str, list[Any]]:
    return {name: column for name, column in _entries(text).items() if _are_numbers(column)}
