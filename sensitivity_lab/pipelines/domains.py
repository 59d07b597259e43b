"""Domains: the data that a transformation takes or returns.

A domain reads data: it returns them in the form that steps work with, and raises InputError for
data that it does not contain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Self, cast

import numpy as np
import pandas as pd

from sensitivity_lab.checks import (
    as_python,
    check_flag,
    check_kind,
    check_whole,
    listed,
    shown,
    whole_kind,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest
from sensitivity_lab.exact.roots import as_fraction, show_number


class Domain(ABC):
    """A set of data; domains with equal parameters are equal.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> isinstance(pl.Numbers(), pl.Domain), pl.Vector(2) == pl.Vector(2)
    (True, True)
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """A description of the data."""

    def read(self, data: Any) -> Any:
        """Return data in the form that steps work with, or raise InputError."""
        return data

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        return isinstance(other, Domain) and self == other

    def __str__(self) -> str:
        return self.name


_check_size = whole_kind("a number of values or rows, at least 0", least=0)


class Counted(Domain):
    """Data with a number of values or rows, which a domain can declare as public, or bound.

    Only the domain at the start of a chain declares it: the function of a step gets private data,
    and an error about data of another size would reveal them.
    """

    size: int | None
    max_size: int | None

    def _check_sizes(self) -> None:
        """Make both numbers ints, or raise InputError."""
        for name in ("size", "max_size"):
            object.__setattr__(self, name, _check_size.or_none(name, getattr(self, name)))

    @property
    def most(self) -> int | None:
        """The largest size; None if there is no bound."""
        return self.max_size if self.size is None else self.size

    def _unsized(self) -> Self:
        """Return the same domain for datasets of any size."""
        return self._of_sizes(None, None)

    def _fewer(self, factor: int = 1) -> Self:
        """Return the domain after a step that makes at most `factor` values or rows of one."""
        return self._of_sizes(None, None if self.most is None else factor * self.most)

    def _sized_as(self, other: Counted) -> Self:
        """Return the same domain for datasets of the sizes of another one."""
        return self._of_sizes(other.size, other.max_size)

    def _of_sizes(self, size: int | None, max_size: int | None) -> Self:
        changed: Any = replace(self, size=size, max_size=max_size)  # type: ignore[type-var]
        return cast(Self, changed)

    def _check_count(self, count: int) -> None:
        """Raise InputError for data with another number of values or rows."""
        if self.size not in (None, count) or (self.max_size is not None and count > self.max_size):
            raise InputError(f"the domain is {self}, got {count}")

    def _sizes_include(self, other: Counted) -> bool:
        if self.size is not None:
            return other.size == self.size
        return self.max_size is None or (other.most is not None and other.most <= self.max_size)


@dataclass(frozen=True)
class Values(Counted):
    """Lists of values of any kind, such as categories.

    Parameters
    ----------
    size : int, optional
        The number of values of each dataset, if it is known and public.
    max_size : int, optional
        The largest number of values of a dataset, if only that is known.

    Examples
    --------
    >>> print(Values(size=3))
    3 values
    """

    size: int | None = None
    max_size: int | None = None

    def __post_init__(self) -> None:
        self._check_sizes()

    @property
    def kind(self) -> str:
        """A description of the values."""
        return "values"

    @property
    def name(self) -> str:
        """A description of the data."""
        if self.size is not None:
            return f"{self.size} {self.kind}"
        return self.kind if self.max_size is None else f"at most {self.max_size} {self.kind}"

    def read(self, data: Any) -> Any:
        """Return the values as a list."""
        if isinstance(data, pd.DataFrame) or not isinstance(data, Iterable):
            raise InputError(
                f"a dataset is a list or an array of values, got {type(data).__name__}"
            )
        items = listed(data, "a dataset is a list of values", text=True)
        values = self.read_values(list(map(as_python, items)))
        self._check_count(len(values))
        return values

    def read_values(self, values: list[Any]) -> Any:
        """Return values in the form that steps work with."""
        return values

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        return isinstance(other, Values) and self._sizes_include(other)


@dataclass(frozen=True)
class Numbers(Values):
    """Lists of finite numbers.

    Parameters
    ----------
    size, max_size : int, optional
        The number of values of each dataset, and the largest one, as for `Values`.
    bounds : tuple of two numbers, optional
        The smallest and the largest value of a number.
    floats : bool, default False
        Whether steps compute in floating point, with arrays of float64 and `numpy.sum`. By default
        they compute exactly, with lists of numbers, where each stands for a rational.

    Examples
    --------
    >>> print(Numbers(bounds=(0, 5), max_size=100))
    at most 100 numbers in [0, 5]
    """

    _: KW_ONLY  # a first argument would look like a bound
    size: int | None = None
    max_size: int | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    floats: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))
        object.__setattr__(self, "floats", check_flag("floats", self.floats))

    @property
    def kind(self) -> str:
        """A description of the values."""
        kind = "floats" if self.floats else "numbers"
        return kind if self.bounds is None else f"{kind} in {show_bounds(self.bounds)}"

    def read_values(self, values: list[Any]) -> Any:
        """Return finite numbers within the bounds, as a list or as an array of float64."""
        if self.floats:
            values = [nearest(as_fraction(value, "a record")) for value in values]
        for value in values:
            exact = as_fraction(value, "a record")
            if not within((exact, exact), self.bounds):
                raise InputError(f"the domain is {self}, got the record {shown(value)}")
        return np.array(values, dtype=np.float64) if self.floats else values

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        if not isinstance(other, Numbers) or self.floats != other.floats:
            return False
        return self._sizes_include(other) and within(other.bounds, self.bounds)


@dataclass(frozen=True)
class Scalar(Domain):
    """A single finite number.

    Parameters
    ----------
    bounds : tuple of two numbers, optional
        The smallest and the largest value of the number.

    Examples
    --------
    >>> Scalar() == Scalar()
    True
    >>> print(Scalar(bounds=(0, 5)))
    a number in [0, 5]
    """

    bounds: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))

    @property
    def name(self) -> str:
        """A description of the data."""
        return "a number" if self.bounds is None else f"a number in {show_bounds(self.bounds)}"

    def read(self, data: Any) -> Any:
        """Return the number, or raise InputError unless it is finite and within the bounds."""
        exact = as_fraction(data, "a number")
        if not within((exact, exact), self.bounds):
            raise InputError(f"the domain is {self}, got {shown(data)}")
        return data

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        return isinstance(other, Scalar) and within(other.bounds, self.bounds)


@dataclass(frozen=True)
class Vector(Domain):
    """A list of numbers with a fixed length.

    Parameters
    ----------
    length : int
        The number of coordinates.

    Examples
    --------
    >>> Vector(2).length
    2
    """

    length: int

    def __post_init__(self) -> None:
        length = check_whole("length", self.length, "a number of coordinates, at least 0", least=0)
        object.__setattr__(self, "length", length)

    @property
    def name(self) -> str:
        """A description of the data."""
        return f"a vector of {self.length} numbers"


@dataclass(frozen=True)
class Pair(Domain):
    """Two tables, or two answers.

    Parameters
    ----------
    first, second : Domain
        The domains of the parts.

    Examples
    --------
    >>> Pair(Scalar(), Vector(2))
    Pair(first=Scalar(bounds=None), second=Vector(length=2))
    """

    first: Domain
    second: Domain

    def __post_init__(self) -> None:
        check_kind("first", self.first, Domain, "a domain, such as Numbers()")
        check_kind("second", self.second, Domain, "a domain, such as Numbers()")

    @property
    def name(self) -> str:
        """A description of the data."""
        return f"({self.first}; {self.second})"

    def includes(self, other: Domain) -> bool:
        """Tell whether all data of another domain are data of this one."""
        return (
            isinstance(other, Pair)
            and self.first.includes(other.first)
            and self.second.includes(other.second)
        )

    def read(self, data: Any) -> tuple[Any, Any]:
        """Return both parts in the form that steps work with."""
        if not isinstance(data, tuple) or len(data) != 2:
            raise InputError(f"the data are a tuple of two, {self}; got {type(data).__name__}")
        return self.first.read(data[0]), self.second.read(data[1])


def check_bounds(lower: Any, upper: Any) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound as fractions, or raise InputError."""
    low, high = as_fraction(lower, "the lower bound"), as_fraction(upper, "the upper bound")
    if low > high:
        raise InputError(
            f"the lower bound {show_number(low)} is above the upper bound {show_number(high)}"
        )
    return low, high


def _checked_bounds(bounds: Any) -> tuple[Fraction, Fraction] | None:
    """Return two bounds as fractions, or None for none; or raise InputError."""
    if bounds is None:
        return None
    wrong = "bounds must be two numbers (lower, upper)"
    pair = listed(bounds, wrong)
    if len(pair) != 2:
        raise InputError(f"{wrong}, got {shown(bounds)}")
    return check_bounds(*pair)


def within(
    bounds: tuple[Fraction, Fraction] | None, others: tuple[Fraction, Fraction] | None
) -> bool:
    """Tell whether bounds are within others, where None stands for no bounds."""
    if others is None:
        return True
    return bounds is not None and others[0] <= bounds[0] and bounds[1] <= others[1]


def show_bounds(bounds: tuple[Fraction, Fraction]) -> str:
    """Return bounds as text."""
    return f"[{show_number(bounds[0])}, {show_number(bounds[1])}]"
