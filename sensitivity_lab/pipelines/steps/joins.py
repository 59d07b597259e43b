"""Joins of a private table with a public one, and of two private tables.

A join makes a row for each pair of rows of the two tables with equal keys (an inner join). A
missing key equals nothing, not even another missing key, as in SQL and unlike in `pandas.merge`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import listed, shown
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.metrics import (
    IdDistance,
    Metric,
    PairDistance,
    SharedIdDistance,
    SymmetricDistance,
)
from sensitivity_lab.metrics.cells import encode_keys, encode_rows
from sensitivity_lab.pipelines.domains import Domain, Pair
from sensitivity_lab.pipelines.table_domains import Limit, Table
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation, linear

from .filter_count import check_columns, rows_per_id, rows_rate
from .truncation import Keys, Truncation, places_of

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
        after = Table(_limits(domain, metric, most))
        return linear(name, function, domain, metric, after, output_metric, rate, check_universe)

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


def join_private(
    on: str | Sequence[str],
    left: Truncation | None = None,
    right: Truncation | None = None,
) -> Step:
    """Truncate two private tables to a number of rows per key, then join them.

    Stability: T_l S_r M_r + T_r S_l M_l rows. M is the number of rows added or removed in a table
    (its d_in), T is the largest number of rows of a key after its truncation, and S is the number
    of rows after truncation that one more row changes (2 for `DropExcess`, 1 for `DropNonUnique`).

    For two tables that have the same privacy id among the keys, without truncation: the sum of both
    numbers of ids. For tables that share their ids (`AddRowsWithSharedID`), truncated or not: d_in
    ids, since an id that is in both tables changes only its own rows. If both tables have a limit
    on the rows of an id, their join has the product as its limit; otherwise limit the rows of an id
    after the join.

    Parameters
    ----------
    on : str or sequence of str
        The key columns, which both tables have. The tables must have no other column in common.
    left, right : DropExcess or DropNonUnique
        The truncation of each table; None for tables with privacy ids. For shared ids, truncations
        by the id alone are limits: an id has at most T_l T_r rows in the join.

    Returns
    -------
    Step
        Takes two tables, and a d_in for each, or one d_in for shared ids.

    References
    ----------
    Tumult Analytics, topic guide "Understanding sensitivity", Private joins.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> joined = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1)) >> join_private(
    ...     "user", left=pl.DropExcess(2), right=pl.DropExcess(2)
    ... )
    >>> joined.map(1, 1), joined.map(1, 0)
    (8, 4)
    >>> users = pd.DataFrame({"user": [1, 2], "name": ["Ann", "Bo"]})
    >>> bought = pd.DataFrame({"user": [1, 1, 3], "item": ["pen", "ink", "pen"]})
    >>> joined(users, bought)
       user name item
    0     1  Ann  pen
    1     1  Ann  ink

    One person in both tables, with at most 1 row of users and 2 of what is bought:

    >>> shared = pl.start(pl.AddRowsWithSharedID("user")) >> join_private(
    ...     "user", left=pl.DropExcess(1), right=pl.DropExcess(2)
    ... )
    >>> shared.map(1), (shared >> pl.count()).map(1)
    (1, 2)
    """
    columns = key_columns(on, "join_private: on")
    name = f"join_private({shown_columns(columns)}{_sides(left, right)})"

    def function(tables: Tables) -> pd.DataFrame:
        return joined_rows(tables, _keys_kept(tables, columns, left, right, name), columns)

    def build(domain: Domain, metric: Metric) -> Transformation:
        output_metric, stability_map = _private_map(domain, metric, columns, left, right)
        return Transformation(
            name,
            function,
            domain,
            metric,
            output_domain=Table(_joined_limits(domain, output_metric, columns, left, right)),
            output_metric=output_metric,
            stability_map=stability_map,
            check_universe=_shared_keys(metric, columns, name),
        )

    return Step(name, build)


def _private_map(
    domain: Domain,
    metric: Metric,
    columns: list[str],
    left: Truncation | None,
    right: Truncation | None,
) -> tuple[Metric, Callable[[Any], int]]:
    """Return the output metric and the stability map of a private join, or raise MismatchError."""
    if isinstance(metric, SharedIdDistance) and metric.column in columns:
        return IdDistance(metric.column), lambda d_in: d_in
    if Pair(Table(), Table()).includes(domain) and isinstance(metric, PairDistance):
        first, rows = metric.first, SymmetricDistance()
        if metric == PairDistance(rows, rows) and left is not None and right is not None:
            # d_in is (M_l, M_r).
            by_left = right.threshold * left.stability
            by_right = left.threshold * right.stability
            return rows, lambda d_in: by_right * d_in[1] + by_left * d_in[0]
        ids = isinstance(first, IdDistance) and first == metric.second and first.column in columns
        if ids and left is None and right is None:
            return first, lambda d_in: d_in[0] + d_in[1]
    raise MismatchError(
        "two tables whose rows are added or removed, truncated by left=... and right=...; or two "
        "tables with the same column of privacy ids, which must be among the keys, without "
        "truncation unless they share the ids"
    )


def _joined_limits(
    domain: Domain,
    metric: Metric,
    columns: list[str],
    left: Truncation | None,
    right: Truncation | None,
) -> tuple[Limit, ...]:
    """Return the limits per id of a join on the id: each row of an id meets at most all others."""
    if not isinstance(domain, Pair) or not isinstance(metric, IdDistance):
        return ()
    most = 1
    for side, truncation in ((domain.first, left), (domain.second, right)):
        known = [rows_per_id(side, metric)]
        if truncation is not None and columns == [metric.column]:
            known.append(truncation.threshold)
        limits = [limit for limit in known if limit is not None]
        if not limits:
            return ()
        most *= min(limits)
    return (Limit("id", metric.column, most, metric.column),)


def _keys_kept(
    tables: Tables,
    columns: list[str],
    left: Truncation | None,
    right: Truncation | None,
    name: str,
) -> tuple[Keys, Keys]:
    """Return the keys of both tables' rows; None for the rows that truncation drops."""
    keys: list[Keys] = []
    for side, table, truncation in zip(("left", "right"), tables, (left, right), strict=True):
        check_columns(table, columns, f"{name}: {side}")
        found: Keys = encode_keys(table, columns)
        if truncation is not None:
            kept = set(truncation.kept(found, encode_rows(table)))
            found = [key if place in kept else None for place, key in enumerate(found)]
        keys.append(found)
    return keys[0], keys[1]


def _shared_keys(metric: Metric, columns: list[str], name: str) -> Callable[[Tables], None] | None:
    """Return a check that universes have two keys in common; a shared id is shown by one key."""
    if isinstance(metric, SharedIdDistance):
        return None

    def check(universes: Tables) -> None:
        for side, universe in zip(("left", "right"), universes, strict=True):
            check_columns(universe, columns, f"{name}: the {side} universe")
        first, second = (set(places_of(encode_keys(one, columns))) for one in universes)
        check_two_keys(
            name,
            len(first & second),
            "the universes in common",
            "with a single key the rows changed in the two tables always meet, and their effects "
            "cannot add up, so the join would seem more stable than it is (6 instead of 8 for "
            "DropExcess(2) on both sides)",
        )

    return check


def _sides(left: Truncation | None, right: Truncation | None) -> str:
    """Return truncations as they would be written in code."""
    return "".join(
        f", {side}={shown(truncation)}"
        for side, truncation in (("left", left), ("right", right))
        if truncation is not None
    )
