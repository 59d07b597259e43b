"""A universe per column, from what a caller passes: a universe, a mapping, or a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_column, did_you_mean, shown, text_of
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.exact.difference import Number

from .finite import AnyUniverse, check_any_universe
from .interval import IntervalUniverse
from .multiset import FiniteUniverse
from .universe import Universe


def as_universes(universes: Any, columns: Sequence[str] | None = None) -> dict[str, AnyUniverse]:
    """Return a universe per column; raise InputError for anything else.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, mapping of str to these, or DataFrame
        A single universe is called "records".
    columns : sequence of str, optional
        Which columns to take; by default all, of a DataFrame the numeric ones.
    """
    if isinstance(universes, FiniteUniverse | IntervalUniverse):
        return {"records": universes}
    if isinstance(universes, pd.DataFrame):
        for name in universes.columns:
            check_column("a column of the table", name)
        _check_distinct(universes.columns)
        numeric = [name for name in universes.columns if _is_numeric(universes[name])]
        if not numeric and columns is None:
            raise InputError(f"no column is numeric; the columns are {_listed(universes.columns)}")
        chosen = numeric if columns is None else columns
        _check_columns(chosen, universes.columns)
        return {str(name): _named(name, Universe.from_dataset, universes[name]) for name in chosen}
    if isinstance(universes, Mapping) and universes:
        chosen = list(universes) if columns is None else columns
        _check_columns(chosen, universes)
        return {str(name): _named(name, check_any_universe, universes[name]) for name in chosen}
    raise InputError(
        "universes must be a Universe, a mapping of column names to universes, or a "
        f"pandas.DataFrame, got {kind_of(universes)}"
    )


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
        raise InputError(f"column {name!r}: {error}") from error


def _check_columns(chosen: Sequence[Any], columns: Iterable[Any]) -> None:
    known = list(columns)
    _check_distinct(chosen)
    for name in chosen:
        if name not in known:
            raise InputError(
                f"unknown column {shown(name)}; the columns are {_listed(known)}"
                f"{did_you_mean(name, known)}"
            )


def _check_distinct(names: Iterable[Any]) -> None:
    for name, count in Counter(map(text_of, names)).items():
        if count > 1:
            raise InputError(f"the column {name!r} occurs twice; columns need distinct names")


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(shown, names)) or "none"
