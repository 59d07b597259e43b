"""Joins, and the join with a public table.

A join makes a row for each pair of rows of the two tables with equal keys (an inner join). A
missing key equals nothing, not even another missing key, as in SQL and unlike in `pandas.merge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import listed, shown
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.metrics import IdDistance, Metric
from sensitivity_lab.metrics.cells import encode_keys
from sensitivity_lab.pipelines.domains import Domain
from sensitivity_lab.pipelines.table_domains import Limit, Table
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .filter_count import check_columns, rows_rate
from .truncation import Keys, places_of

Tables = tuple[pd.DataFrame, pd.DataFrame]

_MOST_ROWS = 10_000_000
"""The largest number of rows of a join: the pairs of more rows would fill a gigabyte."""


def join_public(table: pd.DataFrame, on: str | Sequence[str]) -> Step:
    """Join with a public table.

    Stability: m d_in rows, where m is the largest number of rows of a key in the public table;
    2 m d_in for rows replaced; d_in for privacy ids, and a limit on the rows of an id becomes m
    times as large.

    Parameters
    ----------
    table : DataFrame
        The public table; the step keeps a copy.
    on : str or sequence of str
        The key columns, which both tables have. The tables must have no other column in common.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> states = pd.DataFrame({"zip": [37752, 37752, 27513], "state": ["TN", "VA", "NC"]})
    >>> joined = pl.start(pl.AddMaxRows(1)) >> join_public(states, on="zip")
    >>> joined(pd.DataFrame({"name": ["Susie"], "zip": [37752]}))
        name    zip state
    0  Susie  37752    TN
    1  Susie  37752    VA
    >>> joined.map(1)
    2
    """
    columns = key_columns(on, "join_public: on")
    name = f"join_public(on={shown_columns(columns)})"
    public = Table().read(table).copy()
    check_columns(public, columns, f"{name}: the public table")
    public_keys = encode_keys(public, columns)
    most = max(map(len, places_of(public_keys).values()), default=0)

    def function(private: pd.DataFrame) -> pd.DataFrame:
        check_columns(private, columns, name)
        return joined_rows((private, public), (encode_keys(private, columns), public_keys), columns)

    def check_universe(universe: pd.DataFrame) -> None:
        check_columns(universe, columns, name)
        check_two_keys(
            name,
            len(places_of(encode_keys(universe, columns))),
            "the universe",
            "with a single key it would measure how often that key occurs in the public table, not "
            "the most frequent one",
        )

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Table):
            raise MismatchError("tables")
        rate, output_metric = rows_rate(metric, most)
        return Transformation(
            name,
            function,
            domain,
            metric,
            output_domain=Table(_limits(domain, metric, most)),
            output_metric=output_metric,
            stability_map=lambda d_in: rate * d_in,
            check_universe=check_universe,
        )

    return Step(name, build)


def _limits(domain: Table, metric: Metric, most: int) -> tuple[Limit, ...]:
    """Return the limits per id of a join that repeats a row up to `most` times.

    The columns of the private table stay as they are, so no id gets into another group.
    """
    if not isinstance(metric, IdDistance):
        return ()
    return tuple(
        limit if limit.kind == "groups" else replace(limit, most=max(most, 1) * limit.most)
        for limit in domain.limits
    )


def joined_rows(tables: Tables, keys: tuple[Keys, Keys], columns: list[str]) -> pd.DataFrame:
    """Return the inner join of two tables: rows whose keys are equal and not None.

    The key columns are those of the first table.
    """
    left, right = tables
    others = [name for name in right.columns if name not in columns]
    shared = [name for name in others if name in left.columns]
    if shared:
        raise InputError(
            f"both tables of a join have the column {shown(shared[0])}, which is not a key; "
            "rename it "
            "in one of them, or add it to on"
        )
    matches = places_of(keys[1])
    size = sum(len(matches.get(key, ())) for key in keys[0] if key is not None)
    if size > _MOST_ROWS:
        raise TooLargeError(
            f"the join has {size:,} rows, the limit is {_MOST_ROWS:,}; truncate the tables to "
            "fewer rows of a key, or take other keys"
        )
    pairs = [
        (mine, other)
        for mine, key in enumerate(keys[0])
        if key is not None
        for other in matches.get(key, ())
    ]
    places = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    made = {name: left[name].array.take(places[:, 0]) for name in left.columns}
    made |= {name: right[name].array.take(places[:, 1]) for name in others}
    # Column by column and without a copy this is twice as fast, which matters in a search.
    return pd.DataFrame(made, index=pd.RangeIndex(len(pairs)), copy=False)


def check_two_keys(name: str, keys: int, where: str, why: str) -> None:
    """Raise InputError unless there are at least two keys."""
    if keys < 2:
        raise InputError(
            f"{name}: measuring a join needs at least two keys, {where} "
            f"{'have' if 'universes' in where else 'has'} {keys}; {why}; add rows with another key"
        )


def key_columns(given: Any, what: str) -> list[str]:
    """Return the names of columns, or raise InputError."""
    wrong = f"{what} must be a column or several"
    columns = [given] if isinstance(given, str) else listed(given, wrong)
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InputError(f"{wrong}, got {shown(given)}")
    return columns


def shown_columns(columns: list[str]) -> str:
    """Return key columns as they would be written in code."""
    return repr(columns[0] if len(columns) == 1 else columns)
