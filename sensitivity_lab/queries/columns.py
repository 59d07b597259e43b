"""Queries of numeric columns: sums, means and covariances, clipped or not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import check_column, check_whole, finite_number, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Integers, Number, common_integers
from sensitivity_lab.universes.table import TableUniverse
from sensitivity_lab.universes.universe import Universe

from .base import Query
from .power_sums import Mean
from .row_sums import Ratios, Sums, Whole, as_terms
from .tables import RecordQuery


@dataclass(frozen=True)
class SumOf(RecordQuery):
    """The sum of a column; missing values count nothing, as in pandas.

    Parameters
    ----------
    column : hashable
        The column, of numbers.
    clip : tuple of two numbers, optional
        Values below the first count as the first, values above the second as the second.

    Examples
    --------
    >>> import pandas as pd
    >>> SumOf("age", clip=(0, 100))(pd.DataFrame({"age": [20, 30, 999]}))
    150.0
    """

    column: Any
    clip: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        if self.clip is None:
            return
        wrong = "clip must be two finite numbers (lower, upper)"
        pair = tuple(finite_number(bound) for bound in listed(self.clip, wrong))
        if len(pair) != 2 or pair[0] is None or pair[1] is None:
            raise InputError(f"{wrong}, got {shown(self.clip)}")
        if Fraction(pair[0]) > Fraction(pair[1]):
            raise InputError(
                f"clip must be (lower, upper) with lower <= upper, got {shown(self.clip)}"
            )
        object.__setattr__(self, "clip", pair)

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        clipped = "" if self.clip is None else f" clipped to {self.clip[0]}..{self.clip[1]}"
        return f"sum of {self.column}{clipped}"

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sum of the column's values."""
        numbers = _numbers(universe, self.column)
        if self.clip is not None:
            low, high = Fraction(self.clip[0]), Fraction(self.clip[1])
            numbers = [None if one is None else min(max(one, low), high) for one in numbers]
        integers, unit, _ = _in_one_unit(numbers)
        return Sums.additive(as_terms(integers), unit)


@dataclass(frozen=True)
class MeanOf(RecordQuery):
    """The mean of a column over the rows where it is not missing, as in pandas.

    Parameters
    ----------
    column : hashable
        The column, of numbers.
    empty : number, optional
        The answer on a dataset without any value; by default that is an error.

    Examples
    --------
    >>> import pandas as pd
    >>> MeanOf("age")(pd.DataFrame({"age": [20, 30, None]}))
    25.0
    """

    column: Any
    empty: Number | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        empty = finite_number(self.empty)
        if empty is None and self.empty is not None:
            raise InputError(f"empty must be a finite number or None, got {shown(self.empty)}")
        object.__setattr__(self, "empty", empty)

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return f"mean of {self.column}"

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sum and the number of the column's values."""
        integers, unit, present = _in_one_unit(_numbers(universe, self.column))
        above, below = (0, 0) if self.empty is None else Fraction(self.empty).as_integer_ratio()

        def finish(sums: Whole) -> Ratios:
            none = sums[:, 1:] == 0
            return np.where(none, above, sums[:, :1]), np.where(none, below, sums[:, 1:] * unit)

        terms = np.column_stack([integers, as_terms(present)])
        return Sums(terms, finish, max(unit, abs(above), below))

    def projection(self, universe: Universe) -> tuple[Hashable, Query] | None:
        """Return the column and the mean of it, where no value is missing."""
        if not isinstance(universe, TableUniverse) or None in universe.listed(self.column):
            return None
        return self.column, Mean()


@dataclass(frozen=True)
class Covariance(RecordQuery):
    """The covariance of two columns over the rows where neither is missing.

    Parameters
    ----------
    a, b : hashable
        The columns, of numbers.
    ddof : int, default 0
        Delta degrees of freedom; a dataset must have more complete rows than that.

    Examples
    --------
    >>> import pandas as pd
    >>> Covariance("height", "weight")(pd.DataFrame({"height": [1, 3], "weight": [2, 8]}))
    3.0
    """

    a: Any
    b: Any
    ddof: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.a)
        check_column("column", self.b)
        ddof = check_whole("ddof", self.ddof, "delta degrees of freedom, at least 0", least=0)
        object.__setattr__(self, "ddof", ddof)

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        plain = f"covariance of {self.a} and {self.b}"
        return plain if self.ddof == 0 else f"{plain} (ddof {self.ddof})"

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of a, b, their product and 1 over the complete rows."""
        both = [_numbers(universe, column) for column in (self.a, self.b)]
        complete = [None not in pair for pair in zip(*both, strict=True)]
        first, second = (
            _in_one_unit([n if ok else None for n, ok in zip(numbers, complete, strict=True)])
            for numbers in both
        )
        unit = first[1] * second[1]

        def finish(sums: Whole) -> Ratios:
            sum_a, sum_b, products, number = (sums[:, [place]] for place in range(4))
            free = np.maximum(number - self.ddof, 0)
            return number * products - sum_a * sum_b, number * free * unit

        columns = (first[0], second[0], first[0] * second[0], as_terms(complete))
        return Sums(np.column_stack(columns), finish, unit)


def _numbers(universe: TableUniverse, column: Any) -> list[Fraction | None]:
    """Return the values of a numeric column, one per distinct row, or raise InputError."""
    numbers: list[Fraction | None] = []
    for value in universe.listed(column):
        if value is None:
            numbers.append(None)
        elif isinstance(value, (bool, np.bool_)):
            numbers.append(Fraction(bool(value)))
        elif (number := finite_number(value)) is not None:
            numbers.append(Fraction(number))
        else:
            raise InputError(
                f"column {column!r} must have finite numbers, got {shown(value)} "
                f"({type(value).__name__}); choose another column"
            )
    return numbers


def _in_one_unit(numbers: list[Fraction | None]) -> tuple[Integers, int, list[bool]]:
    """Return numbers as integers over a common denominator, and which are present."""
    integers, unit = common_integers([one or Fraction(0) for one in numbers])
    return integers, unit, [one is not None for one in numbers]
