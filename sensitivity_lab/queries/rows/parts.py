"""Queries made of others: one asked of the numbers of a column, several released together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_column, finite_number, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number, common_integers, nearest
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.queries import l_statistics, order_statistics, power_sums
from sensitivity_lab.queries.base import Answer, Query
from sensitivity_lab.queries.row_sums import Sums
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.table import TableUniverse

from .columns import numbers_of
from .tables import RecordQuery

_NAMED = {
    query.name: query
    for query in (*power_sums.QUERIES, *order_statistics.QUERIES, *l_statistics.QUERIES)
}
"""By name: the queries on numbers, but for the percentiles."""

Part = tuple[Query, NDArray[np.int64]]
"""A query, and the dataset that it is asked of, by multiplicities."""


class PartedQuery(RecordQuery):
    """A query whose answers are those of its parts, one after the other."""

    vector: ClassVar[bool] = True

    @property
    @abstractmethod
    def inner(self) -> tuple[Query, ...]:
        """The queries that it is made of."""

    @property
    def only_sums(self) -> bool:
        """Whether nothing but sums over the rows is needed where the parts are such."""
        return True

    @abstractmethod
    def parts(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> list[Part]:
        """Return what is asked of which rows of a dataset; QueryError if it has no answer."""

    def sums(self, universe: FiniteUniverse) -> Sums | None:  # type: ignore[override]
        """Return the query as sums over the records of a universe; None if a part is no such."""
        of_parts = [query.sums(universe) for query in self.inner]
        if None in of_parts or not self.only_sums:
            return None
        return super().sums(universe)

    def adds_up(self, universe: Any) -> bool:
        """Tell whether each query does: a row adds to the answers on the rows it is among."""
        return all(query.adds_up(universe) for query in self.inner)

    def exactly(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> tuple[Fraction, ...]:
        """Return the exact answers (their squares, if `root`) on a dataset by multiplicities."""
        if self.sums(universe) is not None:
            answers: Any = super().exactly(universe, data)
            return tuple(answers)
        found: list[Fraction] = []
        for query, rows in self.parts(universe, data):
            answer: Any = query.exactly(universe, rows)
            found += answer if query.vector else (answer,)
        return tuple(found)

    def on(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answer:
        """Return the answers on a dataset given by multiplicities, in floats."""
        return tuple(float_of(answer, self.root) for answer in self.exactly(universe, data))

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, d)."""
        if self.sums(universe) is not None:
            return super().on_rows(universe, rows)
        many = len(universe.values)
        return np.array(
            [self.on(universe, np.bincount(row, minlength=many).astype(np.int64)) for row in rows]
        )


def float_of(answer: Fraction, root: bool) -> float:
    """Return the float nearest to an answer, or to its root."""
    return Difference(answer, Fraction(0), root=True).nearest() if root else nearest(answer)


@dataclass(frozen=True)
class ColumnQuery(Query):
    """A query on numbers, asked of one column of a table; missing values are left out.

    Parameters
    ----------
    column : hashable
        The column, of numbers.
    query : str or Query
        A query on numbers, by name or itself: "median", "percentile_90", ``Var(ddof=1)``.
    empty : number, optional
        The answer on a dataset without any value. By default 0 for a sum and a count, and for other
        queries an error.

    Raises
    ------
    InputError
        If `query` is no exact query on numbers, or `empty` is no finite number; also for a sum or a
        count, which are 0 on no value.

    See Also
    --------
    MeanOf : The mean of a column.
    GroupBy : A query on the rows of each group.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"days": [1, 5, None, 9, 10]})
    >>> ColumnQuery("days", "median")(table), ColumnQuery("days", "max", empty=0)(table[2:3])
    (7.0, 0.0)
    """

    column: Any
    query: Any
    empty: Number | None = None

    on_numbers = False
    on_records = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column("column", self.column)
        object.__setattr__(self, "query", _number_query(self.query))
        object.__setattr__(self, "ddof", self.query.ddof)
        empty = finite_number(self.empty)
        if empty is None and self.empty is not None:
            raise InputError(f"empty must be a finite number or None, got {shown(self.empty)}")
        if self.query.moment in ("count", "sum"):
            if empty not in (None, 0):
                raise InputError(
                    f"empty must be None or 0 for a {self.query.name}: that of no values is 0, got "
                    f"{shown(self.empty)}"
                )
            empty = 0
        if empty is not None and self.query.root and empty < 0:
            raise InputError(
                f"empty must be at least 0 for a {self.query.name}, got {shown(empty)}"
            )
        object.__setattr__(self, "empty", empty)

    @property
    def name(self) -> str:
        """What tables and legends call the query."""
        return f"{self.query.name} of {self.column}"

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset for which the query on numbers is defined."""
        return int(self.query.least_size)

    @property
    def root(self) -> bool:  # type: ignore[override]
        """Whether the answer is the square root of what `exactly` returns."""
        return bool(self.query.root)

    def sums(self, universe: FiniteUniverse) -> Sums | None:
        """Return None: the query is no sum over rows. InputError unless it fits the universe."""
        if not isinstance(universe, TableUniverse):
            raise InputError(f"{self.name} is a query on records; make a TableUniverse of a table")
        numbers_of(universe, self.column)
        return None

    def adds_up(self, universe: Any) -> bool:
        """Tell whether the query on numbers is a sum or a count; a missing value adds nothing."""
        return self.query.moment in ("count", "sum")

    def projection(self, universe: FiniteUniverse) -> tuple[Hashable, Query] | None:
        """Return the column and the query on its numbers, where no value is missing."""
        if not isinstance(universe, TableUniverse) or None in universe.listed(self.column):
            return None
        return self.column, self.query

    def exactly(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Fraction:
        """Return the exact answer (its square, if a root) on a dataset given by multiplicities."""
        if not isinstance(universe, TableUniverse):
            raise InputError(f"{self.name} is a query on records; make a TableUniverse of a table")
        numbers = numbers_of(universe, self.column)
        held = np.flatnonzero(data)
        present = [place for place in held if numbers[place] is not None]
        if not present and self.empty is not None:
            return Fraction(self.empty) ** (2 if self.root else 1)
        times = data[present]
        if int(times.sum()) < self.query.least_size:
            raise self.undefined(universe.dataset(data))
        integers, unit = common_integers([numbers[place] or Fraction(0) for place in present])
        answer: Fraction = self.query.rational(np.sort(np.repeat(integers, times)), unit)
        return answer

    def on(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answer:
        """Return the float nearest to the answer on a dataset given by multiplicities."""
        return float_of(self.exactly(universe, data), self.root)

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        many = len(universe.values)
        return np.array(
            [self.on(universe, np.bincount(row, minlength=many).astype(np.int64)) for row in rows]
        )

    @with_numpy_defaults
    def __call__(self, x: pd.DataFrame) -> Answer:
        """Return the answer on a table, shape (n, columns); missing values are allowed."""
        universe = TableUniverse.from_dataset(x, allow_missing=True)
        return self.on(universe, universe.multiplicities(len(x)))


def _number_query(query: Any) -> Query:
    """Return an exact query on numbers given itself or its name, or raise InputError."""
    if isinstance(query, str):
        if query in _NAMED:
            return _NAMED[query]
        prefix, _, number = query.partition("_")
        if prefix == "percentile" and number:
            try:
                q = int(number) if number.isdecimal() else Decimal(number)
            except (ValueError, ArithmeticError):
                q = Decimal("NaN")
            return order_statistics.Percentile(q)
    if isinstance(query, Query) and query.on_numbers and query.arithmetic == "exact":
        return query
    raise InputError(
        f"query must be a query on numbers, such as {', '.join(map(repr, _NAMED))}, "
        f"'percentile_90' or Var(ddof=1), got {shown(query)}; write one of your own as a "
        "function of a DataFrame"
    )
