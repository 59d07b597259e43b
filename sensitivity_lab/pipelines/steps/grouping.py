"""Splitting a table into groups with public keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

from sensitivity_lab.checks import check_kind, check_text_column, is_hashable, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance, root_of
from sensitivity_lab.metrics import (
    ChangeOneDistance,
    GroupsDistance,
    IdDistance,
    L1Distance,
    L2Distance,
    Metric,
    SymmetricDistance,
)
from sensitivity_lab.metrics.cells import MISSING, encode
from sensitivity_lab.pipelines.domains import Domain
from sensitivity_lab.pipelines.table_domains import Groups, Table
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .filter_count import check_columns
from .truncation import places_of, take

Norm = L1Distance | L2Distance


def group_by(column: str, keys: Iterable[Any], metric: Norm | None = None) -> Step:
    """Split a table into one table per key.

    Stability, of the rows added or removed in each group: for rows added or removed, d_in in L1 and
    L2. For rows replaced, 2 d_in in both. For privacy ids with at most r rows per id and group, and
    at most g groups per id (or as many as there are keys), r g d_in in L1 and r sqrt(g) d_in in L2.
    With an additional limit of k rows per id, the worst case is the most unequal split: r rows in
    each group until k or g is used up, which is min(k, r g) d_in in L1.

    Parameters
    ----------
    column : str
        The column whose values are the keys.
    keys : iterable
        The keys, which must be distinct, not missing, and public: keys read off the data would
        reveal something about them. Rows with other keys or without a key are dropped; a key
        without rows gets an empty table.
    metric : L1Distance or L2Distance, optional
        The norm, by default L1. Laplace noise needs L1, Gaussian noise needs L2.

    Returns
    -------
    Step
        Returns a dict of keys to tables, in the order of `keys`. Steps that follow work on each of
        them: `filter_`, `map_`, `flat_map`, `select`, `clamp`. `count` and `sum_` make vectors,
        with a coordinate per key.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> per_page = (
    ...     pl.start(pl.AddRowsWithID("id"))
    ...     >> pl.max_groups_per_id(4, "page")
    ...     >> pl.max_rows_per_group_per_id(3, "page")
    ... )
    >>> pages = "abcdefgh"
    >>> laplace = per_page >> group_by("page", pages) >> pl.count()
    >>> gaussian = per_page >> group_by("page", pages, pl.L2Distance()) >> pl.count()
    >>> laplace.map(1), gaussian.map(1)
    (12, 6)
    >>> laplace(pd.DataFrame({"id": [1, 1, 2], "page": ["a", "c", "a"]}))
    [2, 0, 1, 0, 0, 0, 0, 0]
    """
    check_text_column("group_by: column", column)
    chosen = tuple(listed(keys, "group_by: keys must be a list of values", text=True))
    norm = L1Distance() if metric is None else metric
    _check_keys(chosen, norm)
    name = f"group_by({shown(column)}, {len(chosen)} keys)"

    def function(table: pd.DataFrame) -> dict[Any, pd.DataFrame]:
        check_columns(table, [column], name)
        _check_kinds(table[column], chosen, name)
        places = places_of([encode(value) for value in table[column].tolist()])
        return {key: take(table, places.get(encode(key), [])) for key in chosen}

    def build(domain: Domain, metric: Metric) -> Transformation:
        return Transformation(
            name,
            function,
            domain,
            metric,
            output_domain=Groups(column, chosen),
            output_metric=GroupsDistance(norm),
            stability_map=_groups_map(domain, metric, column, norm, len(chosen)),
        )

    return Step(name, build)


def _groups_map(
    domain: Domain, metric: Metric, column: str, norm: Norm, keys: int
) -> Callable[[int], Distance]:
    """Return the stability map of a split into groups, or raise MismatchError."""
    if isinstance(domain, Table) and isinstance(metric, SymmetricDistance):
        return lambda d_in: d_in
    if isinstance(domain, Table) and isinstance(metric, ChangeOneDistance):
        # In L2 the worst case is a row and its replacement in one group, which changes by 2 rows.
        return lambda d_in: 2 * d_in
    if isinstance(domain, Table) and isinstance(metric, IdDistance):
        owner = metric.column
        in_group, in_all = domain.limit("rows", column, owner), domain.rows_per_id(owner)
        most = in_all if in_group is None else in_group
        if most is not None:
            groups = min(domain.limit("groups", column, owner) or keys, keys)
            per_id = _largest_norm(most, groups, most * groups if in_all is None else in_all, norm)
            return lambda d_in: d_in * per_id
    raise MismatchError(
        "tables whose rows are added, removed or replaced, or whose ids are, if "
        f"max_rows_per_group_per_id(r, {shown(column)}) comes before (and max_groups_per_id(g, "
        f"{shown(column)}), which makes the stability smaller), or max_rows_per_id(k)"
    )


def _largest_norm(in_group: int, groups: int, in_all: int, norm: Norm) -> Distance:
    """Return the largest norm of the rows of an id in each group.

    They are at most `in_group` each, in at most so many groups, and `in_all` together; see
    docs/proofs.md, "Pipelines: groups of rows".
    """
    full = min(in_all // in_group, groups)
    rest = min(in_all - full * in_group, in_group) if full < groups else 0
    if isinstance(norm, L1Distance):
        return full * in_group + rest
    return root_of(full * in_group**2 + rest**2)


def _check_kinds(cells: pd.Series, keys: tuple[Any, ...], name: str) -> None:
    """Raise InputError where all keys are texts and the column is one of numbers, or vice versa.

    Every group would be empty, and nobody would be told.
    """
    if cells.empty:
        return  # its type says nothing
    numbers = is_numeric_dtype(cells) and not is_bool_dtype(cells)
    wrong = str if numbers else int | float
    if (numbers or is_string_dtype(cells)) and all(isinstance(key, wrong) for key in keys):
        given, held = ("texts", "numbers") if numbers else ("numbers", "texts")
        raise InputError(
            f"{name}: the keys are {given}, such as {shown(keys[0])}, and the column has {held}; "
            f"write the keys as {held}"
        )


def _check_keys(keys: tuple[Any, ...], norm: Norm) -> None:
    """Raise InputError unless keys are distinct and the norm is L1 or L2."""
    encoded = list(map(encode, keys))
    if (
        not keys
        or len(set(encoded)) != len(keys)
        or MISSING in encoded
        or not all(map(is_hashable, keys))
    ):
        raise InputError(
            "group_by: keys must be one or more distinct hashable values, none missing, got "
            f"{shown(keys)}"
        )
    check_kind("group_by: metric", norm, Norm, "L1Distance() or L2Distance()")
