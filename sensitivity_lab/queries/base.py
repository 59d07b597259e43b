"""What a query is, and what it declares to the engines."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import (
    Difference,
    Integers,
    Number,
    beyond_floats,
    common_integers,
    nearest,
)
from sensitivity_lab.universes.multiplicities import Groups
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.records import as_numbers
from sensitivity_lab.universes.universe import of_numbers

from .row_sums import Sums

Answer = float | tuple[float, ...]
"""What a query returns: a number, or several that are released together."""

Answered = float | Fraction | tuple[float | Fraction, ...]
"""An answer as it is: floats where a function returned floats, Fractions where it did not."""

Weights = tuple[tuple[int, Fraction], ...]
"""The ranks that a weighted sum counts, from 0, each once, with their weights."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What the records count by rank, for datasets of many sizes: *runs* of ranks with one weight.

    The answer on a dataset, with its records in ascending order, is ``constant + total / unit``,
    where the total is ``weight * records[start:stop].sum()`` over the runs. A rank in several runs
    has the sum of their weights, and then none of these is negative.

    Attributes
    ----------
    starts, stops : ndarray of int64, shape (r, s)
        The first rank of every run, from 0, and the one after its last, for every size. Empty runs
        may be among them.
    weights : ndarray of int64 or of Python ints, shape (r, s)
        What a record of the run counts, times the unit.
    units : ndarray of int64 or of Python ints, shape (s,)
    constants : ndarray of int64, shape (s,)
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    weights: NDArray[Any]
    units: NDArray[Any]
    constants: NDArray[np.int64]

    @classmethod
    def of_all(cls, sizes: NDArray[np.int64], units: NDArray[np.int64]) -> Runs:
        """Return one run of all records."""
        one = sizes[None]
        return cls(np.zeros_like(one), one, np.ones_like(one), units, np.zeros_like(sizes))

    @classmethod
    def listed(cls, of_sizes: Sequence[Weights]) -> Runs:
        """Return the runs of weights that are listed by rank, for every size."""
        units = [math.lcm(*(weight.denominator for _, weight in some)) for some in of_sizes]
        found = [_runs_of(some, unit) for some, unit in zip(of_sizes, units, strict=True)]
        columns = np.zeros((3, max(map(len, found)), len(found)), dtype=object)
        for place, runs in enumerate(found):
            if runs:
                columns[:, : len(runs), place] = np.array(runs, dtype=object).T
        starts, stops, weights = columns
        return cls(
            starts.astype(np.int64),
            stops.astype(np.int64),
            weights,
            np.array(units, dtype=object),
            np.zeros(len(found), dtype=np.int64),
        )

    def at(self, places: NDArray[np.intp] | slice) -> Runs:
        """Return the runs for the sizes at some places."""
        starts, stops, weights = (of[:, places] for of in (self.starts, self.stops, self.weights))
        return Runs(starts, stops, weights, self.units[places], self.constants[places])


OneSize = tuple[tuple[tuple[int, int, int], ...], int, int]
"""The runs (start, stop, weight) for datasets of one size, the unit and the constant."""


def _runs_of(weights: Weights, unit: int) -> list[tuple[int, int, int]]:
    """Return the runs (start, stop, weight times unit) of weights by rank."""
    runs: list[tuple[int, int, int]] = []
    for rank, weight in weights:
        scaled = weight.numerator * (unit // weight.denominator)
        if runs and runs[-1][1:] == (rank, scaled):
            runs[-1] = (runs[-1][0], rank + 1, scaled)
        else:
            runs.append((rank, rank + 1, scaled))
    return runs


class Query(ABC):
    """A function of a dataset.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    arithmetic : {"exact", "float"}
        "exact": the answer is a rational number, or the root of one, and `rational` computes it.
        "float": the answer is whatever the caller's function returns, often floats.
    root : bool
        Whether the answer is the square root of what `rational` returns.
    moment : {"count", "sum", "mean", "variance"} or None
        The power sums that the answer is made of; None if it is not made of power sums.
    ddof : int, float or Fraction
        The delta degrees of freedom of a variance; 0 for other queries.
    centred : bool
        Whether adding a constant to all records changes the answers for all sizes by one constant.
    vectorized : bool
        Whether `evaluate` is quick on many rows at once.
    on_numbers, on_records : bool
        Whether the query takes datasets of numbers, and of rows of a table.
    vector : bool
        Whether the answer is several numbers that are released together.
    crosses_once : bool
        Whether the weights of `runs` are not negative, and net weights cross once for every change;
        `search/crossing.py` rests on it.
    of_multiplicities : {"distinct", "largest"} or None
        Whether the answer is the number of groups that have a record, or how many records the
        largest one has, with the groups that `grouped` returns; None if it is neither.
    """

    arithmetic: ClassVar[Literal["exact", "float"]] = "exact"
    root: ClassVar[bool] = False
    moment: ClassVar[str | None] = None
    ddof: int | float | Fraction = 0
    centred: ClassVar[bool] = False
    vectorized: bool = True
    on_numbers: ClassVar[bool] = True
    on_records: ClassVar[bool] = False
    vector: ClassVar[bool] = False
    crosses_once: ClassVar[bool] = False
    of_multiplicities: ClassVar[Literal["distinct", "largest"] | None] = None

    @property
    @abstractmethod
    def name(self) -> str:
        """What tables and legends call the query."""

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset for which the query is defined."""
        return 1

    @property
    def labels(self) -> tuple[str, ...] | None:
        """What the answers are called, one by one; None where that is not known."""
        return None if self.arithmetic == "float" else (self.name,)

    def weights(self, size: int) -> Weights | None:
        """Return ranks and weights for datasets of a size; None if the query has none."""
        return None

    def runs(self, sizes: NDArray[np.int64]) -> Runs | None:
        """Return what the records count by rank for datasets of many sizes; None if by no rank."""
        return None

    def runs_of(self, size: int) -> OneSize:
        """Return the runs (start, stop, weight) for one size, the unit and the constant."""
        runs = self.runs(np.array([size]))
        if runs is None:
            raise InputError(f"{self.name} is no weighted sum by rank")
        columns = (of[:, 0].tolist() for of in (runs.starts, runs.stops, runs.weights))
        return tuple(zip(*columns, strict=True)), int(runs.units[0]), int(runs.constants[0])

    def most_runs(self, size: int) -> int:
        """Return a bound of the number of `runs` for datasets of up to a size."""
        return 1

    def rational(self, integers: Integers, unit: int) -> Fraction | None:
        """Return the exact answer on one dataset (its square, if `root`); None if "float"."""
        return None

    def sums(self, universe: FiniteUniverse) -> Sums | None:
        """Return the query on a universe of records as sums over them; None if it is not one."""
        return None

    def adds_up(self, universe: Any) -> bool:
        """Tell whether the answer is a sum, or several, of what each record adds by itself.

        How much it changes when records are added or removed then depends on these records alone,
        and not on the size of the dataset.
        """
        if universe.numeric:
            return self.moment in ("count", "sum")
        sums = self.sums(universe)
        return sums is not None and sums.units is not None

    def grouped(self, universe: FiniteUniverse) -> Groups:
        """Return the group of each distinct value of a universe; see `of_multiplicities`."""
        raise InputError(f"{self.name} is not a query of multiplicities")

    def check_on(self, universe: Any) -> None:
        """Raise InputError where the query's own parameters do not fit a universe."""
        return

    def absent_from(self, universe: Any) -> str:
        """Return which categories and groups no record of a universe is in, as text, or ""."""
        return ""

    def projection(self, universe: FiniteUniverse) -> tuple[Hashable, Query] | None:
        """Return a column and a query on its numbers that answers the same; None if none does."""
        return None

    def exactly(
        self, universe: FiniteUniverse, data: NDArray[np.int64]
    ) -> Fraction | tuple[Fraction, ...] | None:
        """Return the exact answer on a dataset given by multiplicities; None if "float".

        A number (its square, if `root`), or a tuple where the answer is a vector.
        """
        if universe.numeric:
            integers, unit = of_numbers(universe).integers
            return self.rational(np.repeat(integers, data), unit)
        sums = self.sums(universe)
        if sums is None:
            return None
        ((above,), (below,)) = sums.of_one(data)
        if not all(below):
            raise self.undefined(universe.dataset(data))
        answers = tuple(map(Fraction, above.tolist(), below.tolist()))
        return answers if self.vector else answers[0]

    def on(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        return self(universe.dataset(data))

    def answered(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answered:
        """Return the answer on a dataset given by multiplicities, as it is."""
        return self.on(universe, data)

    def check_answer(  # noqa: B027 - for all but functions of many rows there is nothing to check
        self, universe: FiniteUniverse, data: NDArray[np.int64], answer: Answered
    ) -> None:
        """Raise QueryError if a dataset alone gets another answer than among others."""

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, n).

        Returns
        -------
        ndarray of float, shape (datasets,) or (datasets, d)
            On universes of records at most three units in the last place off.
        """
        sums = self.sums(universe)
        if sums is None:
            return self.evaluate(universe.given(rows))
        above, below = sums.of(rows)
        bad = (below == 0).any(axis=1)
        if bad.any():
            raise self.undefined([universe.values[place] for place in rows[int(np.argmax(bad))]])
        try:
            answers: NDArray[Any] = (above / below).astype(np.float64)
        except OverflowError:
            pairs = zip(above.ravel(), below.ravel(), strict=True)
            largest = max(abs(Fraction(*pair)) for pair in pairs)
            raise InputError(f"{self.name}: {beyond_floats(largest)}") from None
        return answers

    def undefined(self, records: Sequence[Any]) -> QueryError:
        """Return the error for a dataset on which the query has no answer."""
        return QueryError(
            f"query {shown(self.name)} has no answer on the dataset {tuple(records)}: a mean of no "
            "values, or a covariance of too few; choose other sizes, or give the answer for no "
            "values as empty"
        )

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return an answer per row of `rows`, shape (datasets, n); see the subclasses."""
        raise InputError(f"{self.name} is a query on records, not on numbers")

    @abstractmethod
    def __call__(self, x: Any) -> Answer:
        """Return the answer on one dataset, shape (n,)."""


class ExactQuery(Query):
    """A homogeneous polynomial of the records over a number that depends on n.

    It sees the records as whole numbers, in a unit that is not its own: ``evaluate(c * rows)`` must
    be ``c**degree * evaluate(rows)``, so it cannot compare records with constants.

    Attributes
    ----------
    degree : int
        The degree of the polynomial: the answer scales with the records to this power.
    """

    degree: ClassVar[int] = 1

    @abstractmethod
    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the polynomial on every row.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n)
            A dataset per row, ascending: integers, as floats or as Python objects.

        Returns
        -------
        ndarray, shape (datasets,)
            Integers, in the type of `rows`.
        """

    @abstractmethod
    def denominator(self, size: int) -> Fraction:
        """Return what to divide `evaluate` by for datasets of this size."""

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and its intermediate results when no record exceeds `largest`.

        Exactness rests on it: override it where more than n records are added up.
        """
        return size * largest

    def rational(self, integers: Integers, unit: int) -> Fraction:
        """Return the exact answer on one dataset (its square, if `root`).

        Parameters
        ----------
        integers : ndarray of Python ints, shape (n,)
            The records times `unit`, ascending.
        unit : int
            The common denominator of the records.
        """
        if len(integers) < self.least_size:
            raise InputError(
                f"{self.name} needs at least {self.least_size} records, got {len(integers)}"
            )
        numerator = int(self.evaluate(integers[None, :])[0])
        below = self.denominator(len(integers))
        return Fraction(numerator * below.denominator, unit**self.degree * below.numerator)

    def __call__(self, x: Sequence[Number]) -> float:
        """Return the float nearest to the exact answer on one dataset, shape (n,)."""
        records = as_numbers(x)
        integers, unit = common_integers(records)
        answer = self.rational(np.sort(integers), unit)
        return (
            Difference(answer, Fraction(0), root=True).nearest() if self.root else nearest(answer)
        )
