"""A universe per column, from what a caller passes: a universe, a mapping, or a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from sensitivity_lab.boundary import warn_caller
from sensitivity_lab.checks import as_pandas, check_column, names_of, no_column, shown, text_of
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.exact.difference import Number

from .reading import is_column
from .universe import (
    AnyUniverse,
    FiniteUniverse,
    IntervalUniverse,
    Universe,
    check_any_universe,
    query_second,
)


def as_universes(universes: Any, columns: Sequence[str] | None = None) -> dict[str, AnyUniverse]:
    """Return a universe per column; raise InputError for anything else.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, records, mapping of str to these, or table
        As for `check_universe`; a single universe is called "records", or by its column's name.
    columns : sequence of str, optional
        The columns to use; by default all, or the numeric ones of a table. Of these, a column with
        a missing value is left out with a warning that names it.
    """
    if isinstance(universes, FiniteUniverse | IntervalUniverse):
        return {"records": universes}
    name = getattr(universes, "name", None)
    universes = as_pandas(universes)
    if isinstance(universes, pd.DataFrame):
        return _of_table(universes, columns)
    if is_column(universes):
        known = name if isinstance(name, str) and name else "records"
        return {known: _named(known, Universe.from_dataset, universes)}
    if isinstance(universes, Mapping) and universes:
        chosen = list(universes) if columns is None else columns
        _check_columns(chosen, universes)
        return {str(name): _named(name, check_any_universe, universes[name]) for name in chosen}
    raise InputError(
        "universes must be a Universe, a mapping of column names to universes, or a table or a "
        f"column of records, got {kind_of(universes)}{query_second(universes)}"
    )


def _of_table(table: pd.DataFrame, columns: Sequence[str] | None) -> dict[str, AnyUniverse]:
    """Return a universe per column of a table."""
    for name in table.columns:
        check_column("a column of the table", name)
    _check_distinct(table.columns)
    if columns is not None:
        _check_columns(columns, table.columns)
        return {str(name): _named(name, Universe.from_dataset, table[name]) for name in columns}
    numeric = [name for name in table.columns if _is_numeric(table[name])]
    if not numeric:
        raise InputError(f"no column is numeric; the columns are {names_of(table.columns)}")
    found: dict[str, AnyUniverse] = {}
    left_out: list[InputError] = []
    for name in numeric:
        try:
            found[str(name)] = _named(name, Universe.from_dataset, table[name])
        except InputError as error:
            left_out.append(error)
    if not found:
        raise left_out[0]
    for reason in left_out:
        warn_caller(f"left out: {reason}")
    return found


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Tell whether a column has numbers, in a type of their own or as Python objects."""
    if pd.api.types.is_bool_dtype(column):
        return False
    if column.dtype == object:
        present = column.dropna()
        return len(present) > 0 and all(
            isinstance(value, Number) and not isinstance(value, bool) for value in present
        )
    return bool(pd.api.types.is_numeric_dtype(column))


def _named(name: Any, make: Callable[[Any], AnyUniverse], given: Any) -> AnyUniverse:
    """Make a universe; an error names the column."""
    try:
        return make(given)
    except InputError as error:
        raise InputError(f"column {shown(name)}: {error}") from error


def _check_columns(chosen: Sequence[Any], columns: Iterable[Any]) -> None:
    known = list(columns)
    _check_distinct(chosen)
    for name in chosen:
        if name not in known:
            raise InputError(no_column(name, known))


def _check_distinct(names: Iterable[Any]) -> None:
    for name, count in Counter(map(text_of, names)).items():
        if count > 1:
            raise InputError(f"the column {shown(name)} occurs twice; columns need distinct names")
