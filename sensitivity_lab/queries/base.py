"""What a query is, and what it declares to the engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.arithmetic import Difference, Integers, Number, common_integers, nearest
from sensitivity_lab.errors import InputError
from sensitivity_lab.universe import Universe

Answer = float | tuple[float, ...]
"""What a query returns: a number, or several that are released together."""

Weights = tuple[tuple[int, Fraction], ...]
"""The ranks of an order statistic, counted from 0, each once, with their weights."""


class Query(ABC):
    """A function of a dataset.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    arithmetic : {"exact", "float"}
        "exact": the answer is a rational number, or the root of one, and `rational` computes it.
        "float": the answer is whatever floats the caller's function returns.
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
    """

    arithmetic: ClassVar[Literal["exact", "float"]] = "exact"
    root: ClassVar[bool] = False
    moment: ClassVar[str | None] = None
    ddof: int | float | Fraction = 0
    centred: ClassVar[bool] = False
    vectorized: bool = True

    @property
    @abstractmethod
    def name(self) -> str:
        """What tables and legends call the query."""

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset for which the query is defined."""
        return 1

    def weights(self, size: int) -> Weights | None:
        """Return ranks and weights for datasets of a size; None if no order statistic."""
        return None

    def rational(self, integers: Integers, unit: int) -> Fraction | None:
        """Return the exact answer on one dataset (its square, if `root`); None if "float"."""
        return None

    def exactly(
        self, universe: Universe, data: NDArray[np.int64]
    ) -> Fraction | tuple[Fraction, ...] | None:
        """Return the exact answer on a dataset given by multiplicities; None if "float".

        A number (its square, if `root`), or a tuple where the answer is a vector.
        """
        integers, unit = universe.integers
        return self.rational(np.repeat(integers, data), unit)

    def on(self, universe: Universe, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        return self(universe.dataset(data))

    @abstractmethod
    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return an answer per row of `rows`, shape (datasets, n); see the subclasses."""

    @abstractmethod
    def __call__(self, x: Any) -> Answer:
        """Return the answer on one dataset, shape (n,)."""


class ExactQuery(Query):
    """A homogeneous polynomial of the records over a number that depends on n.

    It sees the records as whole numbers, in a unit that is not its own: ``evaluate(c * rows)`` must
    be ``c**degree * evaluate(rows)``, so comparisons with constants have no place in it.

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
        records = x.tolist() if hasattr(x, "tolist") else list(x)
        integers, unit = common_integers(records)
        answer = self.rational(np.sort(integers), unit)
        return (
            Difference(answer, Fraction(0), root=True).nearest() if self.root else nearest(answer)
        )
