"""A query of multiplicities: the number of distinct values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.boundary import with_numpy_defaults
from sensitivity_lab.checks import check_column, named
from sensitivity_lab.errors import InputError
from sensitivity_lab.universes.relations import Groups
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .base import ExactQuery, Query

_FLOATS = 2**53
"""Floats hold all integers up to this one; beyond it, two records can be one float."""


@dataclass(frozen=True)
class CountDistinct(ExactQuery):
    """The number of distinct values: of records, of rows, or of one column of a table.

    Parameters
    ----------
    column : hashable, optional
        The column whose distinct cells are counted; by default, numbers or whole rows. Missing
        counts as a value, as in ``Series.nunique(dropna=False)``.

    Raises
    ------
    InputError
        If `column` is not hashable.

    Examples
    --------
    >>> CountDistinct()([4, 4, 9])
    2.0
    >>> import pandas as pd
    >>> table = pd.DataFrame({"city": ["a", "b", "a"], "age": [20, 30, 40]})
    >>> CountDistinct()(table), CountDistinct("city")(table)
    (3.0, 2.0)
    """

    column: Any = None

    centred: ClassVar[bool] = True
    on_records: ClassVar[bool] = True
    degree: ClassVar[int] = 0
    defined_from: ClassVar[int] = 0
    of_multiplicities: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.column is not None:
            check_column("column", self.column)

    @property
    def name(self) -> str:
        """The name of the query in tables and legends."""
        return (
            "count_distinct" if self.column is None else f"count_distinct of {named(self.column)}"
        )

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return one more than the number of steps to a larger record; 0 if there is none."""
        steps = (rows[:, 1:] != rows[:, :-1]).sum(axis=1)
        answers: NDArray[Any] = (steps + min(rows.shape[1], 1)).astype(rows.dtype)
        return answers

    def denominator(self, size: int) -> Fraction:
        """Return 1."""
        return Fraction(1)

    def magnitude(self, size: int, largest: int) -> int:
        """Return n; where floats can take different records for equal ones, 2**53 n.

        An enumeration then looks at every dataset again, in whole numbers.
        """
        return size if largest <= _FLOATS else size * _FLOATS

    def check_on(self, universe: Any) -> None:
        """Raise InputError where a universe of records has no such column."""
        self.grouped(universe)

    def grouped(self, universe: FiniteUniverse) -> Groups:
        """Return which values are the same to the query: records, or rows with one cell."""
        if self.column is None:
            return np.arange(len(universe.values))
        if not isinstance(universe, TableUniverse):
            raise InputError(
                f"{self.name} is a query of a column, and the universe has numbers; leave out the "
                "column, or make a TableUniverse of the table"
            )
        seen: dict[Hashable, int] = {}
        cells = universe.listed(self.column)
        return np.array([seen.setdefault(cell, len(seen)) for cell in cells], dtype=np.intp)

    def exactly(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Fraction:
        """Return the exact answer on a dataset given by multiplicities."""
        return Fraction(int(np.count_nonzero(np.bincount(self.grouped(universe), weights=data))))

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, 1)."""
        groups = np.sort(self.grouped(universe)[rows], axis=1)
        return self.evaluate(groups).astype(np.float64)[:, None]

    @with_numpy_defaults
    def __call__(self, x: Any) -> float:
        """Return the answer on one dataset, shape (n,) or a table."""
        if isinstance(x, pd.DataFrame):
            rows = TableUniverse.from_dataset(x, allow_missing=True)
            return float(self.exactly(rows, rows.multiplicities(len(x))))
        if self.column is not None:
            raise InputError(f"{self.name} is a query on records; give a DataFrame")
        return super().__call__(x)


QUERIES: tuple[Query, ...] = (CountDistinct(),)
"""The queries that have a name."""
