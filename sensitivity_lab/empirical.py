"""The two functions of the article "Global Sensitivity From Scratch", under their own names.

They take the same arguments and return the same answers as in the article; only the search is this
library's. Records are drawn without replacement from the listed ones. As in the article, unbounded
means at a distance of exactly k, and bounded at a distance of at most k.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from sensitivity_lab.calls.sensitivity import global_sensitivity
from sensitivity_lab.universes.universe import FiniteUniverse

from .checks import (
    check_choice,
    check_column,
    check_distance,
    check_records,
    listed,
    no_column,
    shown,
)
from .errors import InputError, kind_of
from .queries import NAMED, Percentile, Query, as_query
from .universes.relations import Bounded, Relation, Unbounded
from .universes.universe import Universe

__all__ = [
    "bounded_empirical_global_L1_sensitivity",
    "unbounded_empirical_global_L1_sensitivity",
]

__dir__ = __all__.copy  # for tab completion


def unbounded_empirical_global_L1_sensitivity(
    universe: pd.DataFrame | Mapping[str, Iterable[Any]],
    universe_subset_cardinality: int,
    columns: Sequence[str],
    query_type: str,
    hamming_distance: int,
    percentile: float = 50,
) -> dict[str, float]:
    """Compute the sensitivity when exactly `hamming_distance` records are added or removed.

    Parameters
    ----------
    universe : DataFrame or mapping of str to lists
        The records that can be released, by column. In scenario (b), these are the values of the
        domain, each repeated as often as it can occur.
    universe_subset_cardinality : int
        The number of records of the release, at most the number of records of the universe.
    columns : sequence of str
        The columns to compute the sensitivity of.
    query_type : str
        "mean", "median", "count", "sum", "std", "var", "min", "max" or "percentile".
    hamming_distance : int
        At least 1, less than the size of the release, and at most the number of records that are
        not in the release.
    percentile : float, default 50
        The percentage for "percentile", from 0 to 100.

    Returns
    -------
    dict of str to float
        The sensitivity by column.

    Raises
    ------
    InputError
        A ValueError: an argument is invalid.

    Examples
    --------
    >>> school = {"absence_days": [1, 2, 3, 10]}
    >>> unbounded_empirical_global_L1_sensitivity(school, 3, ["absence_days"], "median", 1)
    {'absence_days': 4.0}
    """
    return _by_column(
        universe,
        universe_subset_cardinality,
        columns,
        _query(query_type, percentile),
        Unbounded(1, exactly=True),
        hamming_distance,
    )


def bounded_empirical_global_L1_sensitivity(
    universe: pd.DataFrame | Mapping[str, Iterable[Any]],
    universe_subset_cardinality: int,
    columns: Sequence[str],
    query_type: str,
    hamming_distance: int,
    percentile: float = 50,
) -> dict[str, float]:
    """Compute the sensitivity when at most `hamming_distance` records are replaced.

    Parameters
    ----------
    universe, universe_subset_cardinality, columns, query_type, hamming_distance, percentile
        As for `unbounded_empirical_global_L1_sensitivity`.

    Returns
    -------
    dict of str to float
        The sensitivity by column.

    Raises
    ------
    InputError
        A ValueError: an argument is invalid.

    Examples
    --------
    >>> school = {"absence_days": [1, 2, 3, 10]}
    >>> bounded_empirical_global_L1_sensitivity(school, 3, ["absence_days"], "median", 1)
    {'absence_days': 1.0}
    """
    return _by_column(
        universe,
        universe_subset_cardinality,
        columns,
        _query(query_type, percentile),
        Bounded(1),
        hamming_distance,
    )


def _query(query_type: str, percentile: float) -> Query:
    check_choice("query_type", query_type, (*NAMED, "percentile"))
    return Percentile(percentile) if query_type == "percentile" else as_query(query_type)


def _by_column(
    universe: Any,
    release: int,
    columns: Sequence[str],
    query: Query,
    relation: Relation,
    k: int,
) -> dict[str, float]:
    """Check every column, then compute every column."""
    release = check_records("universe_subset_cardinality", release)
    k = check_distance("hamming_distance", k)
    neighbors = relation.at(k)
    if not isinstance(universe, (pd.DataFrame, Mapping)):
        raise InputError(
            "universe must be a pandas.DataFrame or a mapping of columns to lists, "
            f"got {kind_of(universe)}"
        )
    if isinstance(columns, str):
        raise InputError(f"columns must be a list of columns, got the text {shown(columns)}")
    names = listed(columns, "columns must be a list of columns")
    universes = {column: _universe(universe, column) for column in map(_name, names)}
    for column, records in universes.items():
        _check(len(records), release, k, column)
    return {
        column: float(global_sensitivity(records, query, size=release, neighbors=neighbors))
        for column, records in universes.items()
    }


def _name(column: Any) -> Any:
    check_column("columns", column)
    return column


def _universe(universe: Any, column: str) -> FiniteUniverse:
    if column not in universe:
        raise InputError(no_column(column, list(universe)))
    try:
        return Universe.from_dataset(universe[column])
    except InputError as error:
        raise InputError(f"column {shown(column)}: {error}") from error


def _check(universe: int, release: int, k: int, column: str) -> None:
    """Check the sizes as the article does, in the same way for both relations."""
    if universe < release:
        raise InputError(
            f"column {shown(column)}: the release of {release} records is larger than the "
            "universe of "
            f"{universe}; choose universe_subset_cardinality of at most {universe}"
        )
    most = min(release - 1, universe - release)
    if k > most:
        raise InputError(
            f"column {shown(column)}: hamming_distance {k} is too large for a release of "
            f"{release} of "
            f"{universe} records: it must be below {release} and at most {universe - release}; "
            f"the largest feasible one is {most}"
        )
