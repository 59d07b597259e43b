"""How far apart two datasets or two answers are, exactly.

A metric is an object: its name in words, the form of data that it sees (`form`), the distance of
two forms (`between`) and of many at once (`among`), and the distances that maps take (`check`).
`cells` defines when two cells are equal: pipelines compare values (`encode`), audits distinguish
0.0 from -0.0. `METRICS` lists the metrics that have a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .lists import DiscreteDistance, HammingDistance, InsertDeleteDistance
from .metric import Distances, Metric, OwnDistance, Row
from .multisets import AddOrRemoveDistance, ChangeOneDistance, SymmetricDistance
from .of_tables import GroupsDistance, IdDistance, PairDistance, SharedIdDistance
from .vectors import (
    AbsoluteDistance,
    ExtendedDistance,
    L0Distance,
    L1Distance,
    L2Distance,
    LInfDistance,
    MonotonicDistance,
)

__all__ = [
    "METRICS",
    "OF_NEIGHBORS",
    "AbsoluteDistance",
    "AddOrRemoveDistance",
    "ChangeOneDistance",
    "DiscreteDistance",
    "Distances",
    "ExtendedDistance",
    "Given",
    "GroupsDistance",
    "HammingDistance",
    "IdDistance",
    "InsertDeleteDistance",
    "L0Distance",
    "L1Distance",
    "L2Distance",
    "LInfDistance",
    "Metric",
    "MonotonicDistance",
    "OwnDistance",
    "PairDistance",
    "Row",
    "SharedIdDistance",
    "SymmetricDistance",
    "as_metric",
]

METRICS: dict[str, Metric] = {
    "absolute": AbsoluteDistance(),
    "L0": L0Distance(),
    "L1": L1Distance(),
    "L2": L2Distance(),
    "Linf": LInfDistance(),
    "Linf_monotonic": MonotonicDistance(),
    "symmetric": SymmetricDistance(),
    "change_one": ChangeOneDistance(),
    "add_or_remove": AddOrRemoveDistance(),
    "hamming": HammingDistance(),
    "insert_delete": InsertDeleteDistance(),
    "discrete": DiscreteDistance(),
}
"""The metrics by name. Those on tables by id, by group and in parts are passed as objects."""

OF_NEIGHBORS = {
    "bounded": "change_one",
    "unbounded": "add_or_remove",
    "symmetric_difference": "symmetric",
}
"""By the name of a relation, the metric whose pairs at most k apart are its neighbors."""

Given = str | Callable[[Any, Any], Any]
"""How callers say a metric: a name in `METRICS`, or a function of two items."""


def as_metric(name: str, given: Any) -> Metric:
    """Return the metric that a name or a caller's function stands for, or raise InputError.

    Parameters
    ----------
    name : str
        The argument, for the message.
    given : str or callable
        A name in `METRICS`, or a function of two items that returns their distance.

    Examples
    --------
    >>> as_metric("inputs", "symmetric") == SymmetricDistance()
    True
    """
    if isinstance(given, str) and given in METRICS:
        return METRICS[given]
    if callable(given):
        return OwnDistance(given)
    known = ", ".join(map(repr, METRICS))
    meant = OF_NEIGHBORS.get(given) if isinstance(given, str) else None
    raise InputError(
        f"{name} must be one of {known}, or a function of two items that returns their distance, "
        f"got {shown(given)}" + (f"; did you mean {shown(meant)}?" if meant else "")
    )
