"""Metrics on data in parts: pairs of tables or answers, and tables by group."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sensitivity_lab.checks import check_kind, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance

from .encoding import encode
from .metric import Metric
from .records import Rows, SymmetricDistance
from .vectors import L1Distance, L2Distance

_ROWS = SymmetricDistance()


@dataclass(frozen=True)
class PairDistance(Metric):
    """The distances of two tables, or of two answers, as a pair; they are not added up.

    Parameters
    ----------
    first, second : Metric
        The metrics of the parts.

    Examples
    --------
    >>> PairDistance(SymmetricDistance(), SymmetricDistance()).distance(([1], [2]), ([], [2, 3, 4]))
    (1, 2)
    """

    first: Metric
    second: Metric

    def __post_init__(self) -> None:
        check_kind("first", self.first, Metric, "a metric, such as SymmetricDistance()")
        check_kind("second", self.second, Metric, "a metric, such as SymmetricDistance()")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"({self.first}; {self.second})"

    def form(self, data: tuple[Any, Any]) -> tuple[Hashable, Hashable]:
        """Return the forms of the parts."""
        first, second = data
        return self.first.form(first), self.second.form(second)

    def between(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return the distances of the parts."""
        return self.first.between(a[0], b[0]), self.second.between(a[1], b[1])

    def check(self, d_in: Any) -> tuple[Any, Any]:
        """Return a distance per part, or raise InputError."""
        if not isinstance(d_in, tuple) or len(d_in) != 2:
            raise InputError(
                f"d_in must be two distances, one per part {self.name}, got {shown(d_in)}"
            )
        return self.first.check(d_in[0]), self.second.check(d_in[1])


@dataclass(frozen=True)
class GroupsDistance(Metric):
    """The L1 or L2 norm of the vector with the rows added or removed in each group.

    Parameters
    ----------
    norm : L1Distance or L2Distance
        The norm of the vector.

    Examples
    --------
    >>> before, after = {"a": [1, 2], "b": [1]}, {"a": [2], "b": []}
    >>> GroupsDistance(L1Distance()).distance(before, after)
    2
    >>> GroupsDistance(L2Distance()).distance(before, after)
    sqrt(2)
    """

    norm: L1Distance | L2Distance

    def __post_init__(self) -> None:
        check_kind("norm", self.norm, L1Distance | L2Distance, "L1Distance() or L2Distance()")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{self.norm.name} of the groups' rows added or removed"

    def form(self, data: Mapping[Any, Any]) -> tuple[Rows, ...]:
        """Return each group's multiset of rows, in the order of the groups."""
        return tuple(_ROWS.form_by(encode, rows) for rows in data.values())

    def between(self, a: tuple[Rows, ...], b: tuple[Rows, ...]) -> Distance:
        """Return the norm of the numbers of changed rows."""
        changed = (cast(int, _ROWS.between(x, y)) for x, y in zip(a, b, strict=True))
        return self.norm.norm(changed)
