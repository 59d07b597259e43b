"""Truncation: limit the rows per key, per privacy id, or per group of a privacy id.

Which rows stay is arbitrary but fixed: rows are sorted by a hash of their values
(`sensitivity_lab.metrics.cells`), and the first ones stay. So the result does not depend on
the order of the rows, on the process, or on the versions of Python and pandas, and one more row
displaces at most one other row. Equal rows are interchangeable.

Rows without a key or id are dropped: a missing key matches nothing, and a limit per id cannot
protect rows without an id. A missing group is a group like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from sensitivity_lab.checks import check_flag, check_text_column, check_whole, shown
from sensitivity_lab.metrics import IdDistance, Metric, SymmetricDistance
from sensitivity_lab.metrics.cells import encode, encode_keys, encode_rows, fixed_order
from sensitivity_lab.pipelines.changes import check_rows
from sensitivity_lab.pipelines.domains import Domain
from sensitivity_lab.pipelines.table_domains import Limit, Table
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation, linear

from .filter_count import check_columns

Keys = Sequence[bytes | None]


@dataclass(frozen=True)
class DropExcess:
    """Keep at most `max_rows` rows of each key.

    Parameters
    ----------
    max_rows : int
        The number of rows, at least 1.

    Examples
    --------
    >>> DropExcess(2).threshold, DropExcess(2).stability
    (2, 2)
    """

    max_rows: int
    stability: ClassVar[int] = 2
    """S: one more row is kept and can displace another one, which makes two changes."""

    def __post_init__(self) -> None:
        most = check_rows("DropExcess: max_rows", self.max_rows)
        object.__setattr__(self, "max_rows", most)

    @property
    def threshold(self) -> int:
        """T: the largest number of rows of a key after truncation."""
        return self.max_rows

    def kept(self, keys: Keys, rows: Sequence[bytes]) -> list[int]:
        """Return the places of the rows that stay."""
        return first_of_each(keys, rows, self.max_rows)


@dataclass(frozen=True)
class DropNonUnique:
    """Keep only rows whose key no other row has.

    Examples
    --------
    >>> DropNonUnique().threshold, DropNonUnique().stability
    (1, 1)
    """

    threshold: ClassVar[int] = 1
    """T: the largest number of rows of a key after truncation."""
    stability: ClassVar[int] = 1
    """S: one more row is either kept, or removes the row that had its key alone."""

    def kept(self, keys: Keys, rows: Sequence[bytes]) -> list[int]:
        """Return the places of the rows that stay."""
        return sorted(places[0] for places in places_of(keys).values() if len(places) == 1)


Truncation = DropExcess | DropNonUnique


def max_rows_per_id(k: int, *, keep_ids: bool = False) -> Step:
    """Keep at most k rows of each privacy id.

    Stability: k d_in rows for d_in ids, or fewer if limits before it allow an id fewer rows; with
    `keep_ids`, d_in ids.

    Parameters
    ----------
    k : int
        The number of rows, at least 1.
    keep_ids : bool, default False
        Whether the output is still measured in ids. By default the metric of the output counts
        rows added or removed. With ids, other limits per id can follow at any point, and the output
        domain has the limit: `count`, `select` and `group_by` use it, and `flat_map`, `join_public`
        and `join_private` raise it to the number of rows that they can make from an id's rows.

    Returns
    -------
    Step
        Takes tables with privacy ids.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> visits = pd.DataFrame({"id": [1, 1, 1, 2, None], "page": ["a", "b", "c", "a", "a"]})
    >>> kept = pl.start(pl.AddRowsWithID("id")) >> max_rows_per_id(2)
    >>> kept(visits)["id"].tolist(), kept.map(1)
    ([1.0, 1.0, 2.0], 2)

    A limit before a flat map, and another one after it:

    >>> twice = pl.flat_map(lambda row: [row, {**row, "page": "z"}], 2)
    >>> ids = pl.start(pl.AddRowsWithID("id")) >> max_rows_per_id(2, keep_ids=True) >> twice
    >>> ids.map(1), (ids >> pl.count()).map(1)
    (1, 4)
    >>> (ids >> max_rows_per_id(3) >> pl.count()).map(1)
    3
    """
    k = check_rows("max_rows_per_id: k", k)
    ids = check_flag("max_rows_per_id: keep_ids", keep_ids)
    name = f"max_rows_per_id({k}, keep_ids=True)" if ids else f"max_rows_per_id({k})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        tables, owner = _of_ids(domain, metric)
        most = min(k, tables.rows_per_id(owner) or k)

        def function(table: pd.DataFrame) -> pd.DataFrame:
            check_columns(table, [owner], name)
            return take(table, first_of_each(encode_keys(table, [owner]), encode_rows(table), k))

        if ids:
            after = _limited(tables, Limit("id", owner, k, owner))
            return linear(name, function, domain, metric, after, metric)
        rows = SymmetricDistance()
        return linear(name, function, domain, metric, tables._fewer(), rows, most)

    return Step(name, build)


def max_groups_per_id(g: int, column: str) -> Step:
    """Keep the rows of at most g groups of each privacy id.

    Stability: d_in ids. The output domain has the limit, which `group_by` uses.

    Parameters
    ----------
    g : int
        The number of groups, at least 1.
    column : str
        The column whose values are the groups.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> visits = pd.DataFrame({"id": [1, 1, 1, 2], "page": ["a", "b", "a", "a"]})
    >>> kept = pl.start(pl.AddRowsWithID("id")) >> max_groups_per_id(1, "page")
    >>> kept(visits).groupby("id")["page"].nunique().tolist(), kept.map(1)
    ([1, 1], 1)
    """
    g = check_whole("max_groups_per_id: g", g, "a number of groups, at least 1")
    check_text_column("max_groups_per_id: column", column)

    def kept(owners: Keys, groups: list[bytes], _: list[bytes]) -> list[int]:
        first = {
            owner: _first_groups(owner, {groups[place] for place in places}, g)
            for owner, places in places_of(owners).items()
        }
        return [
            place
            for place, (owner, group) in enumerate(zip(owners, groups, strict=True))
            if owner is not None and group in first[owner]
        ]

    return _of_groups(f"max_groups_per_id({g}, {shown(column)})", "groups", column, g, kept)


def max_rows_per_group_per_id(r: int, column: str) -> Step:
    """Keep at most r rows of each privacy id in each group.

    Stability: d_in ids. The output domain has the limit, which `group_by` uses.

    Parameters
    ----------
    r : int
        The number of rows, at least 1.
    column : str
        The column of the groups, as for `max_groups_per_id`.

    Returns
    -------
    Step
        Takes tables with privacy ids and returns such tables.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> visits = pd.DataFrame({"id": [7, 7, 7], "page": ["a", "a", "b"]})
    >>> kept = pl.start(pl.AddRowsWithID("id")) >> max_rows_per_group_per_id(1, "page")
    >>> sorted(kept(visits)["page"]), kept.map(1)
    (['a', 'b'], 1)
    """
    r = check_rows("max_rows_per_group_per_id: r", r)
    check_text_column("max_rows_per_group_per_id: column", column)

    def kept(owners: Keys, groups: list[bytes], rows: list[bytes]) -> list[int]:
        both = [
            None if owner is None else b"%d:%s%s" % (len(owner), owner, group)
            for owner, group in zip(owners, groups, strict=True)
        ]
        return first_of_each(both, rows, r)

    name = f"max_rows_per_group_per_id({r}, {shown(column)})"
    return _of_groups(name, "rows", column, r, kept)


def places_of(keys: Keys) -> dict[bytes, list[int]]:
    """Return the places of each key in ascending order; missing keys are left out."""
    places: dict[bytes, list[int]] = {}
    for place, key in enumerate(keys):
        if key is not None:
            places.setdefault(key, []).append(place)
    return places


def first_of_each(keys: Keys, rows: Sequence[bytes], most: int) -> list[int]:
    """Return the places of the first rows of each key, in the fixed order of rows."""
    kept: list[int] = []
    for places in places_of(keys).values():
        if len(places) > most:
            places = sorted(places, key=lambda place: fixed_order(rows[place]))[:most]
        kept += places
    return sorted(kept)


def take(table: pd.DataFrame, places: list[int]) -> pd.DataFrame:
    """Return the rows at some places, with a plain index and the same types."""
    taken = table.take(places)
    taken.index = pd.RangeIndex(len(places))
    return taken


def _first_groups(owner: bytes, groups: set[bytes], most: int) -> list[bytes]:
    """Return the first groups of an id, in an order that differs from id to id."""
    return sorted(groups, key=lambda group: fixed_order(owner + group))[:most]


def _of_groups(
    name: str,
    kind: str,
    column: str,
    most: int,
    kept: Callable[[Keys, list[bytes], list[bytes]], list[int]],
) -> Step:
    """Return a truncation that limits the groups of each id, or its rows in each group."""

    def build(domain: Domain, metric: Metric) -> Transformation:
        tables, owner = _of_ids(domain, metric)

        def function(table: pd.DataFrame) -> pd.DataFrame:
            check_columns(table, [owner, column], name)
            groups = [encode(value) for value in table[column].tolist()]
            return take(table, kept(encode_keys(table, [owner]), groups, encode_rows(table)))

        after = _limited(tables, Limit(kind, column, most, owner))
        return linear(name, function, domain, metric, after, metric)

    return Step(name, build)


def _limited(tables: Table, limit: Limit) -> Table:
    """Return a domain of tables with one more limit, whose rows beyond it were dropped."""
    return replace(tables._fewer(), limits=(*tables.limits, limit))


def _of_ids(domain: Domain, metric: Metric) -> tuple[Table, str]:
    """Return a domain of tables and the column of their privacy ids, or raise MismatchError."""
    if isinstance(domain, Table) and isinstance(metric, IdDistance):
        return domain, metric.column
    raise MismatchError(
        "tables whose ids are added or removed: start(AddRowsWithID(column)), and "
        "max_rows_per_id(k, keep_ids=True) for a limit before this one"
    )
