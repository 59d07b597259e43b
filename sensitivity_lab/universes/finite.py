"""Finite universes and intervals: checks for calls that accept both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, shown
from sensitivity_lab.errors import InputError, kind_of
from sensitivity_lab.exact.difference import Number

from .interval import IntervalUniverse
from .multiset import FiniteUniverse
from .records import has_columns, is_column, of_columns
from .table import TableUniverse
from .universe import Universe


class PointsOfInterval(Universe):
    """Some numbers of an interval: a caller's function gets floats, also where all are whole."""

    def given(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the records at some positions, as a caller's function gets them."""
        return np.asarray(super().given(places), dtype=np.float64)


AnyUniverse = FiniteUniverse | IntervalUniverse
"""What datasets can be drawn from."""


def check_any_universe(given: Any) -> AnyUniverse:
    """Return a universe or an interval; of records, their universe; else raise InputError."""
    return given if isinstance(given, IntervalUniverse) else check_universe(given)


def check_universe(given: Any) -> FiniteUniverse:
    """Return a finite universe, or raise InputError that says how to make one.

    Parameters
    ----------
    given : object
        A universe, or records, each of which occurs once (scenario (a)): numbers as a list, an
        array or a column, rows as a table, of pandas or of what Narwhals reads.

    Examples
    --------
    >>> check_universe([3, 1, 3])
    Universe of 3 records: 1, 3 (x2); public, results hold only among datasets drawn from it
    """
    if isinstance(given, FiniteUniverse):
        return given
    if isinstance(given, IntervalUniverse):
        raise InputError(
            f"a finite universe is needed here, got the {given.extent}; use a grid of its "
            "values, Universe.from_domain(values)"
        )
    records = as_pandas(given)
    if isinstance(records, pd.DataFrame):
        return TableUniverse.from_dataset(records)
    if is_column(records):
        return Universe.from_dataset(records)
    raise InputError(
        f"universe must be a Universe, or a list, a column or a table of its records, got "
        f"{kind_of(given)}; {_instead(given)}"
    )


def _instead(given: Any) -> str:
    """Return what to do about a value that is no universe."""
    if has_columns(given):
        return of_columns(given)
    make = "make one with Universe.from_dataset(records) or Universe.from_domain(values)"
    return f"{make}{query_second(given)}"


def query_second(given: Any) -> str:
    """Return the order of the first arguments, after a semicolon, if a value may be a query."""
    if not (isinstance(given, str) or callable(given)):
        return ""
    return f"; if {shown(given)} is the query, give it second, after the universe"


def finite(universe: AnyUniverse, records: Iterable[Number] = ()) -> FiniteUniverse:
    """Return a finite universe that has the given records of a universe.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        The records that datasets are drawn from.
    records : iterable of numbers
        Records of an interval, in any order.

    Returns
    -------
    Universe
        A finite universe itself; of an interval the domain of its bounds and the records, each as
        often as a dataset can hold.

    Raises
    ------
    InputError
        If a record is not in the interval.

    Examples
    --------
    >>> finite(Universe.from_interval(0, 9), [4, 4])
    Universe of the values 0, 4, 9, each as often as a dataset can hold
    """
    if isinstance(universe, FiniteUniverse):
        return universe
    ends = (universe.lower, universe.upper)
    return PointsOfInterval.from_domain(dict.fromkeys((*ends, *universe.dataset(records))))
