"""Steps that replace every row by a function of that row alone: map, flat map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_flag, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import ChangeOneDistance, IdDistance, Metric, SymmetricDistance
from sensitivity_lab.metrics.cells import encode
from sensitivity_lab.pipelines.changes import check_rows
from sensitivity_lab.pipelines.domains import Domain, Numbers, Values
from sensitivity_lab.pipelines.table_domains import Row, Table, any_column_of, rows_in
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation, linear

from .filter_count import called, check_columns, guarded, on_groups, records_of, rows_rate
from .joins import key_columns


def map_(function: Callable[[Any], Any], columns: Sequence[str] | None = None) -> Step:
    """Replace every record, or every row of a table, by a function of that record or row alone.

    Stability: d_in, in the same metric.

    Parameters
    ----------
    function : callable
        Takes one record and returns a record, or takes one row of a table (a dict of columns to
        values) and returns a row. It must be deterministic and depend on nothing else.
    columns : sequence of str, optional
        The columns of the new table; by default those of the old table.

    Returns
    -------
    Step

    Notes
    -----
    The type of a column depends on all its values: pandas turns whole numbers into floats if
    another value is a half or missing. The image of a row must depend on the row alone, so
    functions get each value as the one object that stands for it, in `flat_map` and `filter_` as
    well:

    - a number as an int if it is whole, else as a float if that is exact, else as a Fraction; so 1,
      1.0 and True are all 1, and -0.0 is 0;
    - a missing value (None, NaN, NaT, NA) as `math.nan`;
    - a point of time as a `pandas.Timestamp`, in UTC if it has a time zone, and a span of time as a
      `pandas.Timedelta`;
    - an array as a list, and a set as a frozenset.

    Records of a domain of floats are floats. The keys of a row are in alphabetical order.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> doubled = pl.Start(pl.Numbers(), pl.ChangeOneDistance()) >> map_(lambda x: 2 * x)
    >>> doubled([1, 5]), doubled.map(3)
    ([2, 10], 3)
    >>> table = pd.DataFrame({"age": [40, 17.5]})
    >>> text = map_(lambda row: {"told": str(row["age"])}, columns=["told"])
    >>> (pl.start(pl.AddMaxRows(1)) >> text)(table)["told"].tolist()
    ['40', '17.5']
    """
    name = f"map_({called(function, 'map_')})"
    image = guarded(function, name)
    new = None if columns is None else key_columns(columns, "map_: columns")

    def build(domain: Domain, metric: Metric) -> Transformation:
        if isinstance(domain, Values) and isinstance(metric, ChangeOneDistance | SymmetricDistance):
            after = (
                Numbers(size=domain.size, max_size=domain.max_size, floats=domain.floats)
                if isinstance(domain, Numbers)
                else domain
            )
            return linear(
                name,
                lambda data: after.read(list(map(image, records_of(data, domain)))),
                domain,
                metric,
                after,
                metric,
            )
        rows = _Rows(name, lambda row: [image(row)], 1, new)
        return _row_step(rows, domain, metric, metric, 1, one_each=True)

    return Step(name, on_groups(build))


def flat_map(
    function: Callable[[Row], Iterable[Row]],
    max_rows: int,
    columns: Sequence[str] | None = None,
    *,
    keep_first: bool = False,
) -> Step:
    """Replace every row of a table by several rows, at most `max_rows`.

    Stability: max_rows d_in rows; 2 max_rows d_in for rows replaced; d_in for privacy ids, because
    the rows of an id keep the id.

    Parameters
    ----------
    function : callable
        Takes a row, which is a dict of columns to values as in `map_`, and returns an iterable of
        such dicts. With privacy ids, they must have the id of the row.
    max_rows : int
        The largest number of rows that the function may return for a row, at least 1.
    columns : sequence of str, optional
        The columns of the new table; by default those of the old table.
    keep_first : bool, default False
        Whether to drop the rows beyond `max_rows` that a row makes, as Tumult Analytics does,
        instead of raising an error. The stability is the
        same. The order of the rows must depend on the row alone: return a list, not a set.

    Returns
    -------
    Step
        It raises InputError, and names the row, if the function returns rows with other columns,
        rows of another id, or, unless `keep_first`, more rows than `max_rows`. It also raises
        InputError if the declared type of a column cannot hold the new values.

    References
    ----------
    Tumult Analytics, topic guide "Understanding sensitivity", flat maps.

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

    The first genre only:

    >>> first = flat_map(
    ...     lambda row: [{**row, "genre": genre} for genre in row["genre"].split(",")],
    ...     max_rows=1,
    ...     keep_first=True,
    ... )
    >>> genres = pl.start(pl.AddOneRow()) >> first
    >>> genres(books)["genre"].tolist(), genres.map(1)
    (['novel', 'novel'], 1)
    """
    max_rows = check_rows("flat_map: max_rows", max_rows)
    called_as = called(function, "flat_map")
    first = ", keep_first=True" if check_flag("flat_map: keep_first", keep_first) else ""
    name = f"flat_map({called_as}, max_rows={max_rows}{first})"
    # One row more than allowed is enough to tell, even of a generator without an end.
    most = max_rows if first else max_rows + 1
    images = guarded(lambda row: list(islice(function(row), most)), name)
    new = None if columns is None else key_columns(columns, "flat_map: columns")

    def build(domain: Domain, metric: Metric) -> Transformation:
        rate, output_metric = rows_rate(metric, max_rows)
        rows = _Rows(name, images, max_rows, new)
        return _row_step(rows, domain, metric, output_metric, rate)

    return Step(name, on_groups(build))


@dataclass(frozen=True)
class _Rows:
    """The function of a flat map, and what its rows have to be.

    Parameters
    ----------
    name : str
        The name in error messages.
    produce : callable
        Takes a row and returns a list of rows.
    max_rows : int
        The largest number of rows that it may return.
    columns : list of str or None
        The columns of the new table; None for those of the old table.
    """

    name: str
    produce: Callable[[Row], list[Row]]
    max_rows: int
    columns: list[str] | None

    def made_of(self, table: pd.DataFrame, owner: str | None) -> pd.DataFrame:
        """Return the new table."""
        if owner is not None:
            check_columns(table, [owner], self.name)
        columns = list(table.columns) if self.columns is None else self.columns
        new: list[Row] = []
        for place, row in enumerate(rows_in(table)):
            made = self.produce(dict(row))
            self._check(made, place, row, columns, owner)
            new += made
        made_columns = {
            # Keep the old type if it can hold the values; later steps do not depend on it.
            name: any_column_of([row[name] for row in new], table.dtypes.get(name), None)
            for name in columns
        }
        return pd.DataFrame(made_columns, index=pd.RangeIndex(len(new)))

    def _check(
        self, made: list[Row], place: int, row: Row, columns: list[str], owner: str | None
    ) -> None:
        """Raise InputError, which names the row, unless the rows made of it are acceptable."""

        def where() -> str:
            return f"{self.name}: row {place}, {shown(row)},"

        if len(made) > self.max_rows:
            raise InputError(f"{where()} gave more rows than max_rows={self.max_rows}")
        for new in made:
            if not isinstance(new, Mapping):
                raise InputError(
                    f"{where()} gave {shown(new)}, expected rows: dicts of columns to values"
                )
            if set(new) != set(columns):
                raise InputError(
                    f"{where()} gave a row with the columns {names_of(new)}, "
                    f"expected {names_of(columns)}; say the new columns with "
                    "columns=[...]"
                )
            if owner is not None and encode(new[owner]) != encode(row[owner]):
                raise InputError(
                    f"{where()} gave a row of another id, {shown(owner)} = {shown(new[owner])}; "
                    "with privacy "
                    "ids every row keeps the id of the row it comes from"
                )


def _row_step(
    rows: _Rows,
    domain: Domain,
    metric: Metric,
    output_metric: Metric,
    rate: int,
    *,
    one_each: bool = False,
) -> Transformation:
    """Return the transformation that replaces each row of a table by some rows, or by one each."""
    if not isinstance(domain, Table):
        raise MismatchError("tables")
    sizes = domain if one_each else domain._fewer(rows.max_rows)
    owner = metric.column if isinstance(metric, IdDistance) else None
    if owner is not None and rows.columns is not None and owner not in rows.columns:
        raise InputError(
            f"{rows.name}: columns has no {shown(owner)}; with privacy ids every row keeps the id "
            "of the row it comes from"
        )
    # The function may change the columns of groups, but no row changes its id.
    limits = () if owner is None else domain.only_rows_per_id(owner, rows.max_rows)
    return linear(
        rows.name,
        lambda table: rows.made_of(table, owner),
        domain,
        metric,
        Table(limits)._sized_as(sizes),
        output_metric,
        rate,
    )
