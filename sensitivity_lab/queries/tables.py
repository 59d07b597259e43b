"""Queries on universes of records: filtered counts, sums and means of a column, covariance.

Each is written as sums over the records and what becomes of the sums (`Sums`), so all its answers
are computed in whole numbers, for one dataset and for whole blocks of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_column,
    check_text,
    check_whole,
    finite_number,
    listed,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Integers, Number, common_integers, nearest
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.universes.table import TableUniverse
from sensitivity_lab.universes.universe import Universe

from .base import Answer, Query
from .power_sums import Mean
from .predicates import parsed
from .row_sums import Ratios, Sums, Whole, as_terms

_MADE = "_made"
"""The attribute that keeps a query's sums by universe."""

_PROBED = 64
"""A predicate is tried on so many single rows, to see that it does not look at others."""


@dataclass(frozen=True)
class RecordQuery(Query):
    """A function of a table, made of sums over its rows."""

    on_numbers: ClassVar[bool] = False
    on_records: ClassVar[bool] = True

    @abstractmethod
    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the query as sums over the records of a universe; InputError if it has none."""

    def sums(self, universe: Universe) -> Sums:
        """Return the query as sums over the records of a universe; InputError if it has none.

        They are made once per query and universe. What a predicate refers to may change from call
        to call, so `as_query` hands out a copy, which has made none yet.
        """
        if not isinstance(universe, TableUniverse):
            raise InputError(f"{self.name} is a query on records; make a TableUniverse of a table")
        made = self.__dict__.setdefault(_MADE, WeakKeyDictionary())
        if universe not in made:
            made[universe] = self.sums_on(universe)
        sums: Sums = made[universe]
        return sums

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: the parameters, not the sums."""
        return {name: value for name, value in self.__dict__.items() if name != _MADE}

    def on(self, universe: Universe, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        answer = self.exactly(universe, data)
        if isinstance(answer, tuple):
            return tuple(map(nearest, answer))
        return nearest(answer or Fraction(0))

    @with_numpy_defaults
    def __call__(self, x: pd.DataFrame) -> Answer:
        """Return the answer on a table, shape (n, columns); missing values are allowed."""
        universe = TableUniverse.from_dataset(x, allow_missing=True)
        return copy(self).on(universe, universe.multiplicities(len(x)))


@dataclass(frozen=True)
class CountIf(RecordQuery):
    """The number of rows for which a predicate holds.

    Parameters
    ----------
    predicate : callable or str
        Takes a DataFrame and returns a boolean per row, each from its own row alone; or a text
        such as "age >= 18". Where it is missing, it does not hold.
    name : str, optional
        What tables and legends call the query; by default made of the text or the function.

    Raises
    ------
    InputError
        If a text is not of the grammar below.

    Notes
    -----
    A text is parsed, never run: it has no calls and no attributes. It compares columns (`of two
    words` in backticks), numbers, texts, True and False by ==, !=, <, <=, >, >= (also chained), in
    and not in a list, computes with + - * / // %, and joins comparisons by and, or, not, &, |, ~
    and brackets; & and | bind like and and or. Points of time are written as texts. Whole numbers
    are computed with exactly.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [17, 18, 40], "lives in": ["a", "b", "c"]})
    >>> CountIf("age >= 18")(table), CountIf(lambda rows: rows["age"] < 18)(table)
    (2.0, 1.0)
    >>> CountIf("10 < age <= 18 and `lives in` not in ['b', 'c']")(table)
    1.0
    """

    predicate: Callable[[pd.DataFrame], Any] | str
    name: str = ""

    def __post_init__(self) -> None:
        """Check the parameters."""
        if isinstance(self.predicate, str):
            parsed(self.predicate)
        elif not callable(self.predicate):
            raise InputError(
                "predicate must be a function of a DataFrame, or a text such as 'age >= 18', "
                f"got {shown(self.predicate)}"
            )
        check_text("name", self.name, "a text")
        if not self.name:
            text = self.predicate
            named = text if isinstance(text, str) else getattr(text, "__name__", "<lambda>")
            made = "count_if" if named == "<lambda>" else f"count of {named}"
            object.__setattr__(self, "name", made)

    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the sum of 1 over the records for which the predicate holds."""
        flags = self._holds(universe.frame)
        places = np.unique(np.linspace(0, len(flags) - 1, _PROBED).astype(np.intp))
        for place in places:
            if self._holds(universe.given(places=np.array([place])))[0] != flags[place]:
                raise QueryError(
                    f"the predicate of {self.name!r} decides differently on the row "
                    f"{universe.values[place]} alone than among others; it must look at one row "
                    "at a time"
                )
        return Sums.additive(as_terms(flags))

    def _holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return for which rows the predicate holds, or raise QueryError."""
        flags: Any
        try:
            if isinstance(self.predicate, str):
                flags = parsed(self.predicate)(frame)
            else:
                flags = self.predicate(frame.copy())
        except QueryError as error:
            raise QueryError(
                f"the predicate of {self.name!r} cannot be used: {error}; the columns are "
                f"{', '.join(map(repr, frame.columns))}"
            ) from None
        except Exception as error:
            raise QueryError(
                f"the predicate of {self.name!r} raised {type(error).__name__}: {error}; the "
                f"columns are {', '.join(map(repr, frame.columns))}"
            ) from error
        try:
            shape = np.shape(flags)
            series = pd.Series(flags) if shape == (len(frame),) else pd.Series()
        except Exception:  # noqa: BLE001 - whatever cannot be made a column is none
            shape, series = (), pd.Series()
        if shape != (len(frame),) or not pd.api.types.is_bool_dtype(series.dtype):
            came = f"{type(flags).__name__} of shape {shape}" if shape else shown(flags)
            raise QueryError(
                f"the predicate of {self.name!r} returned {came} for {len(frame)} rows; it must "
                "return one boolean per row"
            )
        holds: NDArray[np.bool_] = series.fillna(False).to_numpy(dtype=bool)
        return holds


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
