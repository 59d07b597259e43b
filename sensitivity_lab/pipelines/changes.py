"""Protected changes: the changes of a table that make two inputs neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sensitivity_lab.checks import check_text_column, shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import (
    AbsoluteDistance,
    IdDistance,
    Metric,
    PairDistance,
    SharedIdDistance,
    SymmetricDistance,
)

check_rows = whole_kind("a number of rows, at least 1")


@dataclass(frozen=True)
class AddMaxRows:
    """Up to `max_rows` rows are added or removed.

    Parameters
    ----------
    max_rows : int, default 1
        The largest number of rows, at least 1.

    Examples
    --------
    >>> change = AddMaxRows(2)
    >>> change.d_in, change.metric
    (2, SymmetricDistance())
    """

    max_rows: int = 1

    def __post_init__(self) -> None:
        most = check_rows("AddMaxRows: max_rows", self.max_rows)
        object.__setattr__(self, "max_rows", most)

    @property
    def metric(self) -> Metric:
        """The metric that counts rows added or removed."""
        return SymmetricDistance()

    @property
    def d_in(self) -> int:
        """The largest distance of neighbors."""
        return self.max_rows


def AddOneRow() -> AddMaxRows:  # noqa: N802 - a protected change, named like the others
    """One row is added or removed: ``AddMaxRows(1)`` by its other name.

    Returns
    -------
    AddMaxRows
        The change of at most one row.

    References
    ----------
    Tumult Analytics, topic guide "Understanding sensitivity", queries on tables using AddMaxRows.

    Examples
    --------
    >>> AddOneRow()
    AddMaxRows(max_rows=1)
    >>> AddOneRow() == AddMaxRows(1)
    True
    """
    return AddMaxRows(1)


@dataclass(frozen=True)
class _RowsWithID:
    column: str
    d_in: ClassVar[int] = 1
    """The largest distance of neighbors."""

    def __post_init__(self) -> None:
        check_text_column("column", self.column)


@dataclass(frozen=True)
class AddRowsWithID(_RowsWithID):
    """All rows of one privacy id are added or removed, however many there are.

    Parameters
    ----------
    column : str
        The column of the privacy id.

    Examples
    --------
    >>> change = AddRowsWithID("user")
    >>> change.d_in, change.metric
    (1, IdDistance(column='user'))
    """

    @property
    def metric(self) -> Metric:
        """The metric that counts ids."""
        return IdDistance(self.column)


@dataclass(frozen=True)
class AddRowsWithSharedID(_RowsWithID):
    """All rows of one privacy id are added or removed, in two tables together.

    Both tables have the ids of the same people, such as users and their purchases. If each table
    may change by an id of its own, use one `AddRowsWithID` per table.

    Parameters
    ----------
    column : str
        The column of the privacy id, which both tables have.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> change = AddRowsWithSharedID("user_id")
    >>> change.d_in, change.metric
    (1, SharedIdDistance(column='user_id'))
    >>> (pl.start(change) >> pl.join_private("user_id")).map(change)
    1
    """

    @property
    def metric(self) -> Metric:
        """The metric that counts ids of both tables."""
        return SharedIdDistance(self.column)


ProtectedChange = AddMaxRows | AddRowsWithID | AddRowsWithSharedID

Unit = ProtectedChange | tuple[ProtectedChange, ProtectedChange] | None
"""What a chain protects: a change, or one of each of two tables; None if its start names none."""


def check_unit(unit: Any, metric: Metric) -> Unit:
    """Return the protected change of a chain, or raise InputError unless its metric fits."""
    wrong = (
        "unit must be a protected change, AddMaxRows(m), AddRowsWithID(column) or "
        "AddRowsWithSharedID(column), two of them for two tables, or None"
    )
    each = unit if isinstance(unit, tuple) else (unit,)
    if unit is not None and not all(isinstance(one, ProtectedChange) for one in each):
        raise InputError(f"{wrong}, got {shown(unit)}")
    if isinstance(unit, tuple) and (len(unit) != 2 or not isinstance(metric, PairDistance)):
        raise InputError(f"{wrong}, got {shown(unit)} for the metric {metric}")
    if unit is not None:
        distance_of(unit, metric)
    accepted: Unit = unit
    return accepted


def protected_distance(given: tuple[Any, ...], metric: Metric, unit: Unit) -> Any:
    """Return the input distance that arguments stand for: for None, one unit.

    Raises
    ------
    InputError
        If there are no arguments and no unit; or if a number stands for a table whose unit is
        several rows, where it could count units or rows.
    """
    one = given[0] if len(given) == 1 else given
    if one is None:
        if unit is None:
            raise InputError(
                "the start of this chain names no protected unit: begin with start(AddMaxRows(m)), "
                "start(AddRowsWithID(column)) or start(AddRowsWithSharedID(column)), or pass the "
                f"distance of two inputs, d_in, which counts: {metric}"
            )
        return distance_of(unit, metric)
    distance = distance_of(one, metric)
    parts = zip(one, unit, strict=True) if isinstance(unit, tuple) else [(one, unit)]
    for part, protected in parts:
        if isinstance(part, ProtectedChange) or not isinstance(protected, AddMaxRows):
            continue
        if protected.max_rows > 1:
            raise InputError(
                f"d_in = {part} could count rows or units of {protected.max_rows} rows, which "
                f"{protected} at the start protects; for one unit take sensitivity(), or say that "
                f"the number counts rows, AddMaxRows({part})"
            )
    return distance


def distance_of(given: Any, metric: Metric) -> Any:
    """Return the input distance that a number, a protected change, or a pair of these means."""
    if isinstance(given, ProtectedChange):
        if given.metric != metric:
            raise InputError(
                f"{shown(given)} protects {given.metric}, but the input metric is {metric}; "
                "start the chain with the change that it is to protect"
            )
        return given.d_in
    if isinstance(metric, PairDistance) and isinstance(given, tuple) and len(given) == 2:
        return distance_of(given[0], metric.first), distance_of(given[1], metric.second)
    return metric.check(given)


def neighbors_text(metric: Metric, d_in: Any) -> str:
    """Return a description of the inputs that are at most `d_in` apart.

    Examples
    --------
    >>> neighbors_text(SymmetricDistance(), 1), neighbors_text(IdDistance("id"), 2)
    ('at most 1 row added or removed', "at most 2 ids in 'id' added or removed with all their rows")
    """
    if isinstance(metric, AbsoluteDistance):
        return f"{metric} of at most {d_in}"
    if isinstance(metric, PairDistance):
        first, second = map(neighbors_text, (metric.first, metric.second), d_in)
        return f"{first} in the first table, {second} in the second"
    many = str(metric) if d_in != 1 else str(metric).replace("rows", "row", 1)
    if isinstance(metric, IdDistance | SharedIdDistance) and d_in == 1:
        many = str(metric).replace("ids", "id", 1).replace("their", "its")
    return f"at most {d_in} {many}"


def unit_line(unit: Unit, metric: Metric) -> str:
    """Return the line of a repr that describes one protected unit; none without a unit."""
    if unit is None:
        return ""
    return f"\n  unit    {neighbors_text(metric, distance_of(unit, metric))}"
