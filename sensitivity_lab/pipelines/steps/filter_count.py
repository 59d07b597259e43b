"""Steps that keep rows as they are: count, filter, one column; and steps on tables by group.

By group, a step on one table is applied to the table of each key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import check_callable, check_kind, check_text_column, names_of, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.roots import Distance, Root, whole
from sensitivity_lab.metrics import (
    AbsoluteDistance,
    ChangeOneDistance,
    GroupsDistance,
    IdDistance,
    Metric,
    SymmetricDistance,
)
from sensitivity_lab.metrics.cells import plain
from sensitivity_lab.pipelines.domains import Counted, Domain, Numbers, Scalar, Values, Vector
from sensitivity_lab.pipelines.table_domains import Groups, Table, rows_in
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation, linear

Build = Callable[[Domain, Metric], Transformation]


def on_groups(build: Build) -> Build:
    """Return how to build a step that also takes groups: it is applied to each of them.

    A step for rows added or removed whose map is ``c d_in`` changes the answer of a group by at
    most c times the rows of that group that change. So in every norm the answers of all groups
    change by at most c times the distance of the groups (docs/proofs.md, "Pipelines: groups of
    rows").
    """

    def built(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Groups) or not isinstance(metric, GroupsDistance):
            return build(domain, metric)
        return _lifted(build(_rows_of_any_number(domain.data), SymmetricDistance()), domain, metric)

    return built


def _lifted(one: Transformation, domain: Groups, metric: GroupsDistance) -> Transformation:
    """Return the transformation that applies a transformation to each group."""
    length, rate = len(domain.keys), one.stability_map(1)
    single = isinstance(one.output_domain, Scalar)

    def function(groups: Any) -> Any:
        answers = {key: one.function(group) for key, group in groups.items()}
        return list(answers.values()) if single else answers

    return Transformation(
        one.name,
        function,
        domain,
        metric,
        output_domain=Vector(length) if single else replace(domain, data=one.output_domain),
        output_metric=metric.norm if single else metric,
        stability_map=lambda d_in: _times(rate, d_in),
    )


def _rows_of_any_number(data: Domain) -> Domain:
    """Return the domain of a group, or raise MismatchError if its map would not be linear."""
    sized = isinstance(data, Counted) and data.most is not None
    if sized or (isinstance(data, Numbers) and data.floats):
        raise MismatchError(
            "groups of exact values whose number is not public: select(column, Numbers()), "
            "without floats, of groups without a size"
        )
    return data


def _times(rate: Distance, d_in: Distance) -> Distance:
    """Return the product of a rate and a distance, as an int if it is whole."""
    product = d_in * rate
    return whole(product) if not isinstance(product, int | float | Root) else product


def count() -> Step:
    """Count the rows, or for groups the rows of each group.

    Stability: d_in for rows added or removed; 0 if the number of rows is public or rows are only
    replaced; for groups, the distance of the groups; for privacy ids, d_in times the rows that an
    id can have, which earlier steps limit.

    Returns
    -------
    Step
        Returns a number, or for groups a vector with a coordinate per key.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> counted = pl.Start(pl.Values(), pl.SymmetricDistance()) >> count()
    >>> counted(["a", "b", "a"]), counted.map(2)
    (3, 2)
    """

    def build(domain: Domain, metric: Metric) -> Transformation:
        rate = _count_rate(domain, metric)
        return linear("count()", len, domain, metric, Scalar(), AbsoluteDistance(), rate)

    return Step("count()", on_groups(build))


def _count_rate(domain: Domain, metric: Metric) -> int:
    """Return how much a count changes for each changed row."""
    if isinstance(domain, Values | Table) and isinstance(metric, ChangeOneDistance):
        return 0
    if isinstance(domain, Values | Table) and isinstance(metric, SymmetricDistance):
        return 1 if domain.size is None else 0
    rows = rows_per_id(domain, metric)
    if rows is not None and isinstance(domain, Table):
        return rows if domain.size is None else 0
    raise MismatchError(
        "values, tables or groups whose rows are added, removed or replaced; "
        "for privacy ids, bound the rows of an id first: max_rows_per_id(k)"
    )


def filter_(predicate: Callable[[Any], bool]) -> Step:
    """Keep the records, or the rows of a table, for which a predicate holds.

    Stability: d_in; for rows replaced, 2 d_in rows added or removed, because the step may keep only
    one of a row and its replacement. Then the number of rows is no longer public.

    Parameters
    ----------
    predicate : callable
        Takes one record, or one row of a table (a dict of columns to values), and returns True or
        False.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> adults = pl.start(pl.AddMaxRows(1)) >> filter_(lambda row: row["age"] >= 18)
    >>> adults(pd.DataFrame({"age": [17, 18, 40]}))["age"].tolist(), adults.map(1)
    ([18, 40], 1)
    """
    name = f"filter_({called(predicate, 'filter_')})"
    holds = guarded(lambda record: bool(predicate(record)), name)

    def build(domain: Domain, metric: Metric) -> Transformation:
        rate, output_metric = rows_rate(metric, 1)
        takes = Table if isinstance(metric, IdDistance) else Table | Values
        if not isinstance(domain, takes):
            raise MismatchError(
                "values or tables whose rows, or ids, are added, removed or replaced"
            )

        def function(data: Any) -> Any:
            records = rows_in(data) if isinstance(domain, Table) else records_of(data, domain)
            return _kept(data, list(map(holds, records)))

        return linear(name, function, domain, metric, domain._fewer(), output_metric, rate)

    return Step(name, on_groups(build))


def select(column: str, domain: Values | None = None) -> Step:
    """Select one column of a table, as a list of values.

    Stability: d_in, in the same metric; for privacy ids, d_in times the rows that an id can have,
    which become values added or removed. Missing values are not numbers: filter them out first.

    Parameters
    ----------
    column : str
        The name of the column.
    domain : Values or Numbers, optional
        The kind of its values: ``Numbers()`` (the default), ``Numbers(floats=True)`` or
        ``Values()``. It declares no bounds (use `clamp`) and no size: a column has as many values
        as the table has rows, and only ``Table(size=...)`` or ``Table(max_size=...)`` at the start
        of a chain makes that number public.

    Returns
    -------
    Step

    Raises
    ------
    InputError
        If `domain` declares a size, a largest size or bounds.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> ages = pl.start(pl.AddMaxRows(1)) >> select("age") >> pl.clamp(0, 125) >> pl.sum_(0, 125)
    >>> ages(pd.DataFrame({"age": [17, 40, 300]})), ages.map(d_in=1)
    (182, 125)
    >>> four = pl.Start(pl.Table(size=4), pl.ChangeOneDistance())
    >>> (four >> select("age") >> pl.clamp(0, 125) >> pl.mean(0, 125, 4)).map(1)
    Fraction(125, 4)
    """
    check_text_column("select: column", column)
    values = Numbers() if domain is None else domain
    check_kind("select: domain", values, Values, "Values() or Numbers()")
    bounds = values.bounds if isinstance(values, Numbers) else None
    if values.most is not None or bounds is not None:
        # The number of rows is private, and so is whether a value is within bounds: a chain that
        # took the caller's word for it would fail on other data, and its map would be too small.
        raise InputError(
            "select: domain must be Numbers(), Numbers(floats=True) or Values(), without a size "
            f"and without bounds, got {values}; a column has as many values as its table has rows, "
            "so a public number of them is declared at the start, Start(Table(size=...), metric), "
            "and bounds come from clamp(lower, upper)"
        )
    name = f"select({shown(column)})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        rows = rows_per_id(domain, metric)
        if not isinstance(domain, Table) or (isinstance(metric, IdDistance) and rows is None):
            raise MismatchError(
                "tables whose rows are added, removed or replaced; for privacy ids, bound the rows "
                "of an id first: max_rows_per_id(k)"
            )

        def function(table: pd.DataFrame) -> Any:
            check_columns(table, [column], name)
            return values.read(table[column])

        after = values._sized_as(domain)
        if rows is None:
            return linear(name, function, domain, metric, after, metric)
        return linear(name, function, domain, metric, after, SymmetricDistance(), rows)

    return Step(name, on_groups(build))


def rows_rate(metric: Metric, max_rows: int) -> tuple[int, Metric]:
    """Return how many rows change for each change of the input, and the metric of the output.

    A row of the input makes at most `max_rows` rows. Replaced rows become rows added and removed;
    ids stay ids.
    """
    if isinstance(metric, SymmetricDistance):
        return max_rows, metric
    if isinstance(metric, ChangeOneDistance):
        return 2 * max_rows, SymmetricDistance()
    if isinstance(metric, IdDistance):
        return 1, metric
    raise MismatchError("data whose rows, or ids, are added, removed or replaced")


def rows_per_id(domain: Domain, metric: Metric) -> int | None:
    """Return the largest number of rows of a privacy id; None for other metrics or no limit."""
    if isinstance(domain, Table) and isinstance(metric, IdDistance):
        return domain.rows_per_id(metric.column)
    return None


def check_columns(table: pd.DataFrame, columns: Iterable[str], step: str) -> None:
    """Raise InputError if a table does not have all columns."""
    for column in columns:
        if column not in table.columns:
            raise InputError(
                f"{step}: the table has no column {shown(column)}; its columns are "
                f"{names_of(table.columns)}"
            )


def _kept(data: Any, mask: list[bool]) -> Any:
    """Return the records, or the rows of a table, for which the mask holds."""
    if isinstance(data, list):
        return list(compress(data, mask))
    kept = data[np.array(mask, dtype=bool)]
    return kept.reset_index(drop=True) if isinstance(data, pd.DataFrame) else kept


def records_of(data: Any, domain: Values) -> list[Any]:
    """Return records as a function gets them: floats for a domain of floats, else plain values."""
    if isinstance(domain, Numbers) and domain.floats:
        # Adding 0.0 turns -0.0 into 0.0.
        return [value + 0.0 for value in data.tolist()]
    return list(map(plain, data))


def called(function: Callable[..., Any], step: str) -> str:
    """Return the name of a caller's function, or raise InputError if it is not callable."""
    argument = "predicate" if step == "filter_" else "function"
    check_callable(f"{step}: {argument}", function, "a function of one record or row")
    name: str = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name


def guarded(function: Callable[[Any], Any], step: str) -> Callable[[Any], Any]:
    """Return a caller's function whose errors name the record or row on which it fails."""

    def call(record: Any) -> Any:
        try:
            return function(record)
        except Exception as error:
            raise QueryError(
                f"{step} on {shown(record)} raised {type(error).__name__}: {error}"
            ) from error

    return call
