"""Steps that replace every row by a function of it alone: map, flat map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_kind, shown
from sensitivity_lab.errors import InputError

from .changes import check_count
from .domains import Domain, Numbers, Table, Values
from .encoding import encode
from .metrics import (
    ChangeOneDistance,
    IdDistance,
    Metric,
    SymmetricDistance,
)
from .rows import Row, called, check_columns, guarded, records_of, rows_in, rows_rate
from .transformation import MismatchError, Step, Transformation

Schema = Mapping[str, Any]


def map_(function: Callable[[Any], Any], schema: Schema | None = None) -> Step:
    """Replace every record, or every row of a table, by a function of it alone.

    Stability: d_in, in the same metric.

    Parameters
    ----------
    function : callable
        Of one record; of a table's row, a dict of columns to values, to such a dict. Must be
        deterministic and look at nothing else.
    schema : mapping of column to dtype, optional
        The columns of the new table; by default those of the old one.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> doubled = pl.Start(pl.Numbers(), pl.ChangeOneDistance()) >> map_(lambda x: 2 * x)
    >>> doubled([1, 5]), doubled.map(3)
    ([2, 10], 3)
    """
    name = f"map_({called(function, 'map_')})"
    _check_schema("map_", schema)
    image = guarded(function, name)

    def build(domain: Domain, metric: Metric) -> Transformation:
        if isinstance(domain, Values) and isinstance(metric, ChangeOneDistance | SymmetricDistance):
            after = (
                Numbers(domain.size, domain.max_size, floats=domain.floats)
                if isinstance(domain, Numbers)
                else domain
            )
            return Transformation(
                name,
                lambda data: after.read(list(map(image, records_of(data)))),
                domain,
                metric,
                after,
                metric,
                lambda d_in: d_in,
            )
        return _row_step(name, lambda row: [image(row)], 1, schema, domain, metric, metric, 1)

    return Step(name, build)


def flat_map(
    function: Callable[[Row], Iterable[Row]], max_rows: int, schema: Schema | None = None
) -> Step:
    """Replace every row of a table by up to so many rows.

    Stability: max_rows d_in rows; for rows replaced 2 max_rows d_in; for privacy ids d_in, because
    the rows of an id stay its rows.

    Parameters
    ----------
    function : callable
        Of a row, a dict of columns to values, to an iterable of such dicts. With privacy ids, they
        must have the row's id.
    max_rows : int
        The largest number of rows that it may give, at least 1.
    schema : mapping of column to dtype, optional
        The columns of the new table; by default those of the old one.

    Returns
    -------
    Step
        Raises InputError, and names the row, where the function gives more rows than `max_rows`,
        rows with other columns, values that their column cannot hold, or rows of another id.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> books = pd.DataFrame({"title": ["Emma", "Dune"], "genre": ["novel,satire", "novel"]})
    >>> split = flat_map(
    ...     lambda row: [{**row, "genre": genre} for genre in row["genre"].split(",")], max_rows=3
    ... )
    >>> genres = pl.start(pl.AddMaxRows(1)) >> split
    >>> genres(books)["genre"].tolist(), genres.map(1)
    (['novel', 'satire', 'novel'], 3)
    """
    max_rows = check_count(max_rows, "max_rows", "flat_map")
    _check_schema("flat_map", schema)
    name = f"flat_map({called(function, 'flat_map')}, max_rows={max_rows})"
    images = guarded(lambda row: list(function(row)), name)

    def build(domain: Domain, metric: Metric) -> Transformation:
        rate, output_metric = rows_rate(metric, max_rows)
        return _row_step(name, images, max_rows, schema, domain, metric, output_metric, rate)

    return Step(name, build)


def _check_schema(step: str, schema: Any) -> None:
    """Raise InputError unless something says the types of columns, or is None."""
    if schema is not None:
        check_kind(f"{step}: schema", schema, Mapping, "a mapping of columns to types, or None")


def _row_step(
    name: str,
    produce: Callable[[Row], Iterable[Row]],
    max_rows: int,
    schema: Schema | None,
    domain: Domain,
    metric: Metric,
    output_metric: Metric,
    rate: int,
) -> Transformation:
    """Return the transformation that replaces each row of a table by some rows."""
    if not isinstance(domain, Table):
        raise MismatchError("tables")
    owner = metric.column if isinstance(metric, IdDistance) else None

    def function(table: pd.DataFrame) -> pd.DataFrame:
        old = {str(column): dtype for column, dtype in table.dtypes.items()}
        columns: Schema = old if schema is None else schema
        if owner is not None:
            check_columns(table, [owner], name)
        new: list[Row] = []
        for place, row in enumerate(rows_in(table)):
            made = list(produce(dict(row)))
            _check_made(made, f"{name}: row {place}, {row},", row, max_rows, columns, owner)
            new += made
        return _table_of(new, columns, name)

    return Transformation(
        name, function, domain, metric, Table(), output_metric, lambda d_in: rate * d_in
    )


def _check_made(
    made: list[Row], where: str, row: Row, max_rows: int, columns: Schema, owner: str | None
) -> None:
    """Raise InputError, naming the row, unless the rows made of it are what was promised."""
    if len(made) > max_rows:
        raise InputError(f"{where} gave {len(made)} rows, more than max_rows={max_rows}")
    for new in made:
        if not isinstance(new, Mapping):
            raise InputError(
                f"{where} gave {shown(new)}, expected rows: dicts of columns to values"
            )
        if set(new) != set(columns):
            raise InputError(
                f"{where} gave a row with the columns {', '.join(map(shown, new)) or 'none'}, "
                f"expected {', '.join(map(repr, columns)) or 'none'}; say the new columns and "
                "their types with schema={column: dtype}"
            )
        if owner is not None and encode(new[owner]) != encode(row[owner]):
            raise InputError(
                f"{where} gave a row of another id, {owner!r} = {shown(new[owner])}; with privacy "
                "ids every row keeps the id of the row it comes from"
            )


def _table_of(rows: list[Row], columns: Schema, name: str) -> pd.DataFrame:
    """Return a table of rows, with the types that its columns shall have."""
    made = {}
    for column, dtype in columns.items():
        values = [row[column] for row in rows]
        try:
            made[column] = pd.Series(values, dtype=dtype)
            kept = list(map(encode, made[column].tolist())) == list(map(encode, values))
        except (TypeError, ValueError, OverflowError):
            kept = False
        if not kept:
            raise InputError(
                f"{name}: the new values of the column {column!r} do not fit its type {dtype}; "
                "say the new types with schema={column: dtype}"
            )
    return pd.DataFrame(made, index=pd.RangeIndex(len(rows)))
