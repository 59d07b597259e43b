"""How far two numbers, two vectors, or the groups of two tables are apart, exactly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_kind, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance, as_fraction, root_of, whole

from .metrics import Metric, Rows, changed_rows, rows_of


class _OfNumbers(Metric):
    """A distance between answers, which are numbers or vectors of numbers."""

    def check(self, d_in: Any) -> Any:
        """Return a distance that a stability map takes, or raise InputError."""
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
        """What it counts, in words."""
        return "absolute difference"

    def form(self, data: Any) -> Fraction:
        """Return the number as a fraction."""
        return as_fraction(data, "an answer")

    def between(self, a: Fraction, b: Fraction) -> int | Fraction:
        """Return the absolute difference."""
        return whole(abs(a - b))


class _OfVectors(_OfNumbers):
    """A distance between vectors of one length."""

    def form(self, data: Iterable[Any]) -> tuple[Fraction, ...]:
        """Return the coordinates as fractions."""
        return tuple(as_fraction(value, "a coordinate of an answer") for value in data)

    def between(self, a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Distance:
        """Return the norm of the difference."""
        if len(a) != len(b):
            raise InputError(f"vectors have one length, got {len(a)} and {len(b)} coordinates")
        return self.norm(x - y for x, y in zip(a, b, strict=True))

    @abstractmethod
    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the norm of a vector."""


@dataclass(frozen=True)
class L1Distance(_OfVectors):
    """The sum of the absolute differences of the coordinates.

    Examples
    --------
    >>> L1Distance().distance([3, 0], [1, 1])
    3
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "L1 distance"

    def norm(self, differences: Iterable[Fraction | int]) -> int | Fraction:
        """Return the sum of the absolute values."""
        return whole(sum((abs(Fraction(value)) for value in differences), Fraction(0)))


@dataclass(frozen=True)
class L2Distance(_OfVectors):
    """The root of the sum of the squared differences of the coordinates.

    Examples
    --------
    >>> L2Distance().distance([3, 0], [1, 1])
    sqrt(5)
    """

    @property
    def name(self) -> str:
        """What it counts, in words."""
        return "L2 distance"

    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the root of the sum of squares."""
        return root_of(sum((Fraction(value) ** 2 for value in differences), Fraction(0)))


@dataclass(frozen=True)
class GroupsDistance(Metric):
    """The rows added or removed in each group, as a vector; its L1 or L2 norm.

    Parameters
    ----------
    norm : L1Distance or L2Distance
        How the groups' numbers of changed rows are put together.

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
        """What it counts, in words."""
        return f"{self.norm.name} of the groups' rows added or removed"

    def form(self, data: Mapping[Any, Any]) -> tuple[Rows, ...]:
        """Return each group's multiset of rows, in the order of the groups."""
        return tuple(map(rows_of, data.values()))

    def between(self, a: tuple[Rows, ...], b: tuple[Rows, ...]) -> Distance:
        """Return the norm of the numbers of changed rows."""
        return self.norm.norm(changed_rows(x, y) for x, y in zip(a, b, strict=True))
