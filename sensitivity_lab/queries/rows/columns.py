"""Queries on numeric columns: sums, vector sums, means and covariances, clipped or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from sensitivity_lab.checks import (
    Norm,
    as_python,
    check_bounds,
    check_column,
    check_norm,
    check_number,
    check_positive,
    check_whole,
    finite_number,
    in_brackets,
    listed,
    named,
    names_of,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Integers, Number, common_integers, rational_root
from sensitivity_lab.queries.base import LinearAnswer, Query, Ratios, Sums, Whole, as_terms
from sensitivity_lab.queries.moments import Mean
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .predicates import check_predicate
from .tables import CountIf, RecordQuery

_BITS = 64
"""Where a row's norm is irrational, it is scaled by a factor of so many bits."""


@dataclass(frozen=True)
class SumOf(RecordQuery):
    """The sum of a column; missing values count as nothing, as in pandas.

    Parameters
    ----------
    column : hashable
        The column, of numbers.
    clip : tuple of two numbers, optional
        The clipping bounds (lower, upper).
    where : callable or str, optional
        Sum only the rows for which this predicate holds; see `CountIf`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 30, 999]})
    >>> SumOf("age", clip=(0, 100))(table), SumOf("age", where="age < 100")(table)
    (150.0, 50.0)
    """

    column: Any
    clip: tuple[Number, Number] | None = None
    where: Callable[[pd.DataFrame], Any] | str | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        where = check_predicate.or_none("where", self.where)
        if where is not None:
            CountIf(where)
        object.__setattr__(self, "clip", check_bounds.or_none("clip", self.clip))

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        clipped = "" if self.clip is None else f" clipped to {self.clip[0]}..{self.clip[1]}"
        filtered = "" if self.where is None else f" where {CountIf(self.where).told}"
        return f"sum of {named(self.column)}{clipped}{filtered}"

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sum of the column's values."""
        numbers = numbers_of(universe, self.column)
        if self.clip is not None:
            low, high = Fraction(self.clip[0]), Fraction(self.clip[1])
            numbers = [None if one is None else min(max(one, low), high) for one in numbers]
        integers, unit, _ = in_one_unit(numbers)
        terms = as_terms(integers)
        if self.where is not None:
            terms = terms * CountIf(self.where).sums_on(universe).terms
        return Sums.additive(terms, unit)


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
        check_number.or_none("empty", self.empty)
        object.__setattr__(self, "empty", as_python(self.empty))

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return f"mean of {named(self.column)}"

    @property
    def defined_from(self) -> int:  # type: ignore[override]
        """The fewest rows: none, if `empty` is the answer without a value."""
        return 1 if self.empty is None else 0

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sum and the number of the column's values."""
        integers, unit, present = in_one_unit(numbers_of(universe, self.column))
        above, below = (0, 0) if self.empty is None else Fraction(self.empty).as_integer_ratio()

        def finish(sums: Whole) -> Ratios:
            none = sums[:, 1:] == 0
            return np.where(none, above, sums[:, :1]), np.where(none, below, sums[:, 1:] * unit)

        terms = np.column_stack([integers, as_terms(present)])
        # Without missing values the number of values is that of records.
        linear = (LinearAnswer(0, unit, mean=True),) if all(present) else None
        return Sums(terms, finish, max(unit, abs(above), below), linear)

    def projection(self, universe: FiniteUniverse) -> tuple[Hashable, Query] | None:
        """Return the column and its mean, if no value is missing."""
        if not isinstance(universe, TableUniverse) or None in universe.listed(self.column):
            return None
        return self.column, Mean(empty=self.empty)


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
        """The name of the query in tables and legends."""
        plain = f"covariance of {named(self.a)} and {named(self.b)}"
        return plain if self.ddof == 0 else f"{plain} (ddof {self.ddof})"

    @property
    def defined_from(self) -> int:  # type: ignore[override]
        """The fewest rows: more than `ddof`."""
        return self.ddof + 1

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of a, b, their product and 1 over the complete rows."""
        both = [numbers_of(universe, column) for column in (self.a, self.b)]
        complete = [None not in pair for pair in zip(*both, strict=True)]
        first, second = (
            in_one_unit([n if ok else None for n, ok in zip(numbers, complete, strict=True)])
            for numbers in both
        )
        unit = first[1] * second[1]

        def finish(sums: Whole) -> Ratios:
            sum_a, sum_b, products, number = (sums[:, [place]] for place in range(4))
            free = np.maximum(number - self.ddof, 0)
            return number * products - sum_a * sum_b, number * free * unit

        columns = (first[0], second[0], first[0] * second[0], as_terms(complete))
        return Sums(np.column_stack(columns), finish, unit)


@dataclass(frozen=True)
class VectorSum(RecordQuery):
    """The sums of several columns, after each row is scaled down to a norm of at most `clip_norm`.

    Parameters
    ----------
    columns : sequence of hashable
        The columns, of numbers. A missing value adds nothing.
    clip_norm : number
        The largest norm C of a row's values, above 0; rows with a larger norm are scaled down to C.
    norm : {"L1", "L2", "Linf"}, default "L2"
        The norm that rows are clipped in. Measure the sensitivity in the same norm.

    Notes
    -----
    Adding or removing a row changes the answer by at most C in that norm, replacing one by at most
    2 C. These values are reached if the universe has a row of norm C, or two opposite ones. All
    arithmetic is rational. Where the L2 norm of a row is irrational, its factor is rounded down to
    64 bits, so no row exceeds C.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [3, 30], "b": [4, 40]})
    >>> VectorSum(["a", "b"], clip_norm=10)(table)
    (9.0, 12.0)
    """

    columns: Sequence[Any]
    clip_norm: Any = None
    norm: Norm = "L2"

    vector: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        columns = tuple(listed(self.columns, "columns must be a list of columns"))
        for column in columns:
            check_column("column", column)
        if not columns or len(set(columns)) < len(columns):
            raise InputError(
                f"columns must be at least one column, each once, got {shown(self.columns)}"
            )
        if self.clip_norm is None:
            raise InputError(
                "clip_norm must be given: the largest norm that a row may have, to which larger "
                "rows are scaled down; it bounds what one row adds, and must not depend on the data"
            )
        check_positive("clip_norm", self.clip_norm)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "clip_norm", as_python(self.clip_norm))
        check_norm(self.norm)

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        listed = names_of(self.columns, named)
        return f"sums of {listed} clipped to {self.norm} {self.clip_norm}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(map(named, self.columns))

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sums of the clipped values."""
        every = [numbers_of(universe, column) for column in self.columns]
        rows = [
            self._clipped([one or Fraction(0) for one in row]) for row in zip(*every, strict=True)
        ]
        integers, unit = common_integers([value for row in rows for value in row])
        return Sums.additive(as_terms(integers.reshape(len(rows), -1)), unit)

    def _clipped(self, row: list[Fraction]) -> list[Fraction]:
        """Return the values of one row, scaled down to the norm allowed."""
        bound = Fraction(self.clip_norm)
        sizes = np.abs(np.array(row, dtype=object))
        if self.norm == "L2":
            factor = _root_below(bound**2 / (sizes**2).sum()) if (sizes**2).sum() > bound**2 else 1
        else:
            size = sizes.sum() if self.norm == "L1" else sizes.max()
            factor = bound / size if size > bound else 1
        return [factor * value for value in row]


def numbers_of(universe: TableUniverse, column: Any) -> list[Fraction | None]:
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
                f"column {shown(column)} must have finite numbers, "
                f"got {shown(value)}{in_brackets(value)}; choose another column"
            )
    return numbers


def in_one_unit(numbers: list[Fraction | None]) -> tuple[Integers, int, list[bool]]:
    """Return numbers as integers over a common denominator, and which are present."""
    integers, unit = common_integers([one or Fraction(0) for one in numbers])
    return integers, unit, [one is not None for one in numbers]


def _root_below(square: Fraction) -> Fraction:
    """Return the root of a rational from 0 to 1: itself if rational, else rounded down.

    Examples
    --------
    >>> _root_below(Fraction(4, 9)), float(_root_below(Fraction(1, 2))) <= 0.5**0.5
    (Fraction(2, 3), True)
    """
    exact = rational_root(square)
    if exact is not None:
        return exact
    # So many bits of the root, however small it is.
    shift = _BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
