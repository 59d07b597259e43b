"""Metrics on numbers, on vectors, and on tables by group, measured exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sensitivity_lab.checks import check_kind, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.norms import Norm, norm_of
from sensitivity_lab.exact.roots import Distance, as_fraction, root_of, whole

from .metrics import Metric, Rows, changed_rows, rows_of


class _OfNumbers(Metric):
    """A distance between answers, which are numbers or vectors of numbers."""

    def check(self, d_in: Any) -> Any:
        """Return a distance that stability maps take, or raise InputError."""
        amount = as_fraction(d_in, f"d_in ({self.name})")
        if amount < 0:
            raise InputError(f"d_in ({self.name}) must be at least 0, got {shown(d_in)}")
        return whole(amount)


@dataclass(frozen=True)
class AbsoluteDistance(_OfNumbers):
    """The absolute difference of two numbers.

    Examples
    --------
    >>> AbsoluteDistance().distance(0.5, 3)
    Fraction(5, 2)
    """

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return "absolute difference"

    def form(self, data: Any) -> Fraction:
        """Return the number as a fraction."""
        return as_fraction(data, "an answer")

    def between(self, a: Fraction, b: Fraction) -> int | Fraction:
        """Return the absolute difference."""
        return whole(abs(a - b))


class _OfVectors(_OfNumbers):
    """A distance between vectors of one length: a norm of their difference."""

    kind: ClassVar[Norm]

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{self.kind} distance"

    def form(self, data: Iterable[Any]) -> tuple[Fraction, ...]:
        """Return the coordinates as fractions."""
        return tuple(
            as_fraction(value, "a coordinate of an answer")
            for value in listed(data, "an answer must be a sequence of numbers")
        )

    def between(self, a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Distance:
        """Return the norm of the difference."""
        if len(a) != len(b):
            raise InputError(f"vectors must have one length, got {len(a)} and {len(b)} coordinates")
        return self.norm(x - y for x, y in zip(a, b, strict=True))

    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the norm of a vector."""
        found = norm_of(differences, self.kind)
        return root_of(found.first) if found.root else whole(found.first)


@dataclass(frozen=True)
class L1Distance(_OfVectors):
    """The sum of the absolute differences of the coordinates.

    Examples
    --------
    >>> L1Distance().distance([3, 0], [1, 1])
    3
    """

    kind: ClassVar[Norm] = "L1"


@dataclass(frozen=True)
class L2Distance(_OfVectors):
    """The root of the sum of the squared differences of the coordinates.

    Examples
    --------
    >>> L2Distance().distance([3, 0], [1, 1])
    sqrt(5)
    """

    kind: ClassVar[Norm] = "L2"


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
        return tuple(map(rows_of, data.values()))

    def between(self, a: tuple[Rows, ...], b: tuple[Rows, ...]) -> Distance:
        """Return the norm of the numbers of changed rows."""
        return self.norm.norm(changed_rows(x, y) for x, y in zip(a, b, strict=True))
