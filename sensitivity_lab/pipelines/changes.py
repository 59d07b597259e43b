"""Protected changes: the changes of a table that make two inputs neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sensitivity_lab.checks import check_text, shown, whole_number
from sensitivity_lab.errors import InputError

from .metrics import IdDistance, Metric, PairDistance, SharedIdDistance, SymmetricDistance


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
        most = check_count(self.max_rows, "max_rows", "AddMaxRows")
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
class AddRowsWithID:
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

    column: str

    def __post_init__(self) -> None:
        check_text("column", self.column, "the name of a column")

    @property
    def metric(self) -> Metric:
        """The metric that counts ids."""
        return IdDistance(self.column)

    @property
    def d_in(self) -> int:
        """The largest distance of neighbors."""
        return 1


@dataclass(frozen=True)
class AddRowsWithSharedID:
    """All rows of one privacy id are added or removed, in two tables together.

    Both tables have the ids of the same people, such as users and their purchases. Where each table
    may change by an id of its own, take an `AddRowsWithID` per table.

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

    column: str

    def __post_init__(self) -> None:
        check_text("column", self.column, "the name of a column")

    @property
    def metric(self) -> Metric:
        """The metric that counts ids of both tables."""
        return SharedIdDistance(self.column)

    @property
    def d_in(self) -> int:
        """The largest distance of neighbors."""
        return 1


ProtectedChange = AddMaxRows | AddRowsWithID | AddRowsWithSharedID


def distance_of(given: Any, metric: Metric) -> Any:
    """Return the input distance that a number, a protected change, or a pair of them stands for."""
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


def check_count(value: Any, name: str, step: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError."""
    number = whole_number(value)
    if number is not None and least <= number < 2**62:
        return number
    raise InputError(
        f"{step}: {name} must be a whole number of at least {least}, got {shown(value)}"
    )
