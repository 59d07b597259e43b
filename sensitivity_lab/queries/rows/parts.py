"""Queries made of others: one on the numbers of a column, several released together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.boundary import with_numpy_defaults
from sensitivity_lab.checks import check_column, named, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number, common_integers
from sensitivity_lab.queries.base import (
    Answer,
    ExactQuery,
    Query,
    Sums,
    answer_on_few,
    query_of_class,
)
from sensitivity_lab.queries.given import NAMED, by_name
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .columns import numbers_of
from .tables import RecordQuery, on_table

Part = tuple[Query, NDArray[np.int64]]
"""A query, and the dataset that it is computed on, by multiplicities."""


class PartedQuery(RecordQuery):
    """A query whose answers are those of its parts, one after the other."""

    vector: ClassVar[bool] = True

    @property
    @abstractmethod
    def inner(self) -> tuple[Query, ...]:
        """The queries that it is made of."""

    @property
    def defined_from(self) -> int:  # type: ignore[override]
        """None, if all queries that it is made of have an answer on no rows; else one."""
        return min(1, max(query.least_size for query in self.inner))

    @property
    def only_sums(self) -> bool:
        """Whether sums over the rows are enough if they are enough for every part."""
        return True

    @abstractmethod
    def parts(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> list[Part]:
        """Return each query with the rows it is computed on; QueryError if it has no answer."""

    def sums(self, universe: FiniteUniverse) -> Sums | None:  # type: ignore[override]
        """Return the query as sums over the records of a universe; None if a part is not a sum."""
        of_parts = [query.sums(universe) for query in self.inner]
        if None in of_parts or not self.only_sums:
            return None
        return super().sums(universe)

    def adds_up(self, universe: Any) -> bool:
        """Tell whether each part adds up over its rows."""
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

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, d)."""
        if self.sums(universe) is not None:
            return super().on_rows(universe, rows)
        return _one_by_one(self, universe, rows)


def _one_by_one(query: Query, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return the answers on datasets given as rows of positions."""
    many = len(universe.values)
    return np.array(
        [query.on(universe, np.bincount(row, minlength=many).astype(np.int64)) for row in rows]
    )


@dataclass(frozen=True)
class ColumnQuery(Query):
    """A query on the numbers of one column of a table; missing values are left out.

    Parameters
    ----------
    column : hashable
        The column, of numbers.
    query : str or Query
        A query on numbers, by name or itself: "median", "percentile_90", ``Var(ddof=1)``.
    empty : number, optional
        The answer on a dataset without any value. The default is 0 for a sum or a count; other
        queries raise an error.

    Raises
    ------
    InputError
        If `query` is not an exact query on numbers, `empty` is not a finite number, or `empty` is
        not 0 for a sum or a count, which are 0 on no values.

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
        query = _number_query(self.query)
        empty = answer_on_few(query, query.empty if self.empty is None else self.empty)
        own = replace(query, empty=None) if query.takes_empty else query  # type: ignore[type-var]
        object.__setattr__(self, "query", own)
        object.__setattr__(self, "ddof", query.ddof)
        if self.query.moment in ("count", "sum"):
            if empty not in (None, 0):
                raise InputError(
                    f"empty must be None or 0 for a {self.query.name}: without values it is 0, got "
                    f"{shown(self.empty)}"
                )
            empty = 0
        object.__setattr__(self, "empty", empty)

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return f"{self.query.name} of {named(self.column)}"

    @property
    def defined_from(self) -> int:
        """The fewest rows: none, if `empty` is the answer where there are no values."""
        least = int(self.query.defined_from)
        return 0 if least <= 1 and self.empty is not None else least

    @property
    def least_size(self) -> int:
        """The same: `empty` is the answer on no values, not on too few."""
        return self.defined_from

    @property
    def root(self) -> bool:  # type: ignore[override]
        """Whether the answer is the square root of what `exactly` returns."""
        return bool(self.query.root)

    def sums(self, universe: FiniteUniverse) -> Sums | None:
        """Return None: the query is not a sum over rows. InputError unless it fits the universe."""
        self._numbers(universe)
        return None

    def _numbers(self, universe: FiniteUniverse) -> list[Fraction | None]:
        """Return the numbers of the column, one per distinct row."""
        if not isinstance(universe, TableUniverse):
            raise InputError(f"{self.name} is a query on records; make a TableUniverse of a table")
        return numbers_of(universe, self.column)

    def adds_up(self, universe: Any) -> bool:
        """Tell whether the query on numbers is a sum or a count; a missing value adds nothing."""
        return self.query.moment in ("count", "sum")

    def projection(self, universe: FiniteUniverse) -> tuple[Hashable, Query] | None:
        """Return the column and the query on its numbers, where no value is missing."""
        if not isinstance(universe, TableUniverse) or None in universe.listed(self.column):
            return None
        if self.query.takes_empty:
            return self.column, replace(self.query, empty=self.empty)
        return self.column, self.query

    def exactly(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Fraction:
        """Return the exact answer (its square, if a root) on a dataset given by multiplicities."""
        numbers = self._numbers(universe)
        held = np.flatnonzero(data)
        present = [place for place in held if numbers[place] is not None]
        if not present and self.empty is not None:
            return Fraction(self.empty) ** (2 if self.root else 1)
        times = data[present]
        if int(times.sum()) < self.query.defined_from:
            raise self.undefined(universe.dataset(data))
        integers, unit = common_integers([numbers[place] or Fraction(0) for place in present])
        answer: Fraction = self.query.rational(np.sort(repeated(integers, times)), unit)
        return answer

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        return _one_by_one(self, universe, rows)

    @with_numpy_defaults
    def __call__(self, x: pd.DataFrame) -> Answer:
        """Return the answer on a table, shape (n, columns); missing values are allowed."""
        return on_table(self, x)


def _number_query(query: Any) -> Query:
    """Return an exact query on numbers given itself or its name, or raise InputError."""
    query = query_of_class(query)
    if isinstance(query, str):
        known = by_name(query)
        # Those of multiplicities take a column themselves, such as CountDistinct(column).
        if known is not None and not known.of_multiplicities:
            return known
    elif isinstance(query, ExactQuery) and query.on_numbers:
        return query
    names = (repr(name) for name, known in NAMED.items() if not known.of_multiplicities)
    raise InputError(
        f"query must be a query on numbers, such as {', '.join(names)}, "
        f"'percentile_90' or Var(ddof=1), got {shown(query)}; write one of your own as a "
        "function of a DataFrame"
    )
