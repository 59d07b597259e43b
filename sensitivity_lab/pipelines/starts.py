"""The start of chains on tables, from the changes that they protect."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import AbsoluteDistance, PairDistance

from .changes import AddMaxRows, AddRowsWithID, AddRowsWithSharedID, ProtectedChange
from .domains import Pair, Scalar
from .table_domains import Table
from .transformation import Start


def start(*changes: ProtectedChange) -> Start:
    """Return the start of a chain on tables, with one protected change per table.

    Parameters
    ----------
    *changes : AddMaxRows, AddRowsWithID or AddRowsWithSharedID
        One change, or two for a chain that begins with a private join. `AddRowsWithSharedID` is the
        change of two tables by itself.

    Returns
    -------
    Start
        The domain of tables, or of pairs of tables, the metric of the changes, and the changes as
        the protected unit: the `sensitivity` of a chain is for one of them, such as five rows
        for ``AddMaxRows(5)``. Of two tables, both change at the same time.

    Raises
    ------
    InputError
        If there are no changes or more than two, or an argument is not a protected change.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> counted = start(pl.AddMaxRows(5)) >> pl.count()
    >>> counted.sensitivity().value, counted.map(pl.AddMaxRows(3))
    (5.0, 3)
    """
    tables = Pair(Table(), Table())
    if len(changes) == 1 and isinstance(changes[0], AddRowsWithSharedID):
        return Start(tables, changes[0].metric, changes[0])
    each = AddMaxRows | AddRowsWithID
    if len(changes) not in (1, 2) or not all(isinstance(one, each) for one in changes):
        raise InputError(
            "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), "
            "one per table, or AddRowsWithSharedID(column) alone; "
            f"got {', '.join(map(shown, changes)) or 'none'}"
        )
    if len(changes) == 1:
        return Start(Table(), changes[0].metric, changes[0])
    first, second = changes
    return Start(tables, PairDistance(first.metric, second.metric), (first, second))


def number(lower: Any = None, upper: Any = None) -> Start:
    """Return the start of a chain on a single number, under the absolute difference.

    Parameters
    ----------
    lower, upper : number, optional
        The smallest and the largest value of the number; give both or none.

    Returns
    -------
    Start
        The domain of a number, and the metric `AbsoluteDistance`. `formula` is a step on it.

    Raises
    ------
    InputError
        If the bounds are not two numbers in order, or only one of them is given.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy", chapter Sensitivity, Calculating
    Sensitivity: functions on real numbers.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> (number() >> pl.formula(lambda x: 5 * x)).map(1)
    5
    >>> (number() >> pl.laplace(5)).map(10)
    2.0
    """
    if (lower is None) != (upper is None):
        raise InputError(
            "number takes both bounds or none, number(lower, upper) or number(); got "
            f"lower={shown(lower)}, upper={shown(upper)}"
        )
    return Start(Scalar(None if lower is None else (lower, upper)), AbsoluteDistance())
