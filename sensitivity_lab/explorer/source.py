"""The source of the explorer: a universe per column, and the Python that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_column, named, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.universe import Universe

from .typed import domain

_FIRST_DOMAIN = "0:100"
"""The first domain of a table; it must not depend on the table, which may be private."""

_SPELLED_OUT = 30
"""The most records of a universe that is written into the code."""


@dataclass(frozen=True, eq=False)
class Source:
    """The universes to explore.

    Attributes
    ----------
    data : DataFrame, or mapping of str to universes
        The table or the universes.
    columns : mapping of str to (key, str)
        By the displayed name of the column: its key in `data`, and the Python that makes its
        universe.
    opens_on : str, default ""
        The first domain, as a user would type it; "" for the universes themselves.
    """

    data: Any = field(repr=False)  # pandas cannot write integers of very many digits
    columns: Mapping[str, tuple[Any, str]]
    opens_on: str = ""

    def universe(self, column: str, typed: str = "") -> AnyUniverse:
        """Return the universe of a column, or of a typed domain; raise InputError."""
        return domain(typed).universe if typed.strip() else _universe(self, column)

    def expression(self, column: str, typed: str = "") -> str:
        """Return the Python that makes the universe; what it needs is imported by the code."""
        return domain(typed).expression if typed.strip() else self.columns[column][1]


@lru_cache(maxsize=4)
def _universe(source: Source, column: str) -> AnyUniverse:
    """Return the universe of a column; made once, since a million records take a second."""
    (universe,) = as_universes(source.data, [source.columns[column][0]]).values()
    if not universe.numeric:
        raise InputError(
            f"column {shown(column)} has records that are rows; explore one of its columns"
        )
    return universe


def as_source(data: Any) -> Source:
    """Return the source of some data; raise InputError if it has no universe of numbers."""
    if isinstance(data, pd.DataFrame):
        return of_frame(data, "sl.Universe.from_dataset(frame[{column}])")
    universes = as_universes(data)
    rows = next((name for name, one in universes.items() if not one.numeric), None)
    if rows is not None:
        raise InputError(
            f"explore takes universes of numbers, but {shown(rows)} is one of rows; "
            "explore one column, universe.column(name)"
        )
    named = isinstance(data, Mapping)
    return Source(
        universes,
        {
            name: (name, _spelled(one, f"universes[{name!r}]" if named else "universe"))
            for name, one in universes.items()
        },
    )


def of_frame(frame: pd.DataFrame, expression: str) -> Source:
    """Return the numeric columns of a table; `expression` makes the universe of a ``{column}``.

    It opens on a domain, since the rows of a table may be private.
    """
    for name in frame.columns:
        check_column("a column of the table", name)
    columns = {
        named(name): (name, expression.replace("{column}", literal(name)))
        for name in frame.columns
        if _has_numbers(frame[name])
    }
    if not columns or len(set(map(str, frame.columns))) < len(frame.columns):
        as_universes(frame)  # which raises InputError: no column is numeric, or one occurs twice
    return Source(frame, columns, _FIRST_DOMAIN)


def _has_numbers(column: Any) -> bool:
    """Return whether a column has numbers; choosing one with missing numbers is refused."""
    if not isinstance(column, pd.Series):  # of two columns with one name; refused with both names
        return False
    present = column.dropna()
    if column.dtype == object:
        return bool(len(present)) and all(
            isinstance(value, Number) and not isinstance(value, bool) for value in present
        )
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _spelled(universe: AnyUniverse, name: str) -> str:
    """Return the Python that makes a universe: its values if they are few, else its name."""
    if isinstance(universe, IntervalUniverse):
        ends = f"{literal(universe.lower)}, {literal(universe.upper)}"
        return f"sl.Universe.from_interval({ends})"
    if not isinstance(universe, Universe):
        return name
    if universe.counts is None and len(universe.array) <= _SPELLED_OUT:
        return f"sl.Universe.from_domain({literal(list(universe.values))})"
    if universe.size <= _SPELLED_OUT and not universe.declared:
        return f"sl.Universe.from_dataset({literal(list(universe))})"
    return name
