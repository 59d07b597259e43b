"""What a metric is: the part of data that it sees, and how far two such parts are apart.

A metric turns data into a *form* that can be compared and hashed, and measures the distance of two
forms. Data with equal forms are at distance 0. Where many items are compared with each other, it
measures them in rows of the matrix of their distances.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_not_negative,
    check_whole,
    finite_number,
    shown,
    text_of,
    unboxed,
)
from sensitivity_lab.errors import InputError, QueryError, SensitivityLabError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.roots import Root, as_fraction, whole
from sensitivity_lab.metrics.cells import Cells

from .cells import encode

Row = NDArray[Any]
"""Distances from one item to all later ones: int64, or Python ints where those do not fit."""

INFINITE = np.int64(2**62)
"""The row entry of items that no number of steps connects."""

Sees = Literal["records", "numbers", "data"]
"""What metrics compare."""


class Metric(ABC):
    """A distance between data; metrics with equal parameters are equal.

    Attributes
    ----------
    sees : {"records", "numbers", "data"}
        What it compares: the records of a dataset, the numbers of an answer, or data as a whole.
    unordered : bool
        Whether it compares records and ignores their order.
    real : bool
        Whether its distances may be other than whole numbers.
    resizes : bool or None
        Whether two datasets at distance 1 have different sizes (True), or the same size (False);
        None if that depends on them.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> isinstance(pl.SymmetricDistance(), pl.Metric), pl.L1Distance() == pl.L2Distance()
    (True, False)
    """

    sees: ClassVar[Sees] = "data"
    unordered: ClassVar[bool] = False
    real: ClassVar[bool] = False
    resizes: ClassVar[bool | None] = None

    @property
    @abstractmethod
    def name(self) -> str:
        """What the metric counts, in words."""

    @abstractmethod
    def form(self, data: Any) -> Hashable:
        """Return the part of the data that the metric sees."""

    def form_by(self, cells: Cells, data: Any) -> Hashable:
        """Return the form of data whose records, or which as a whole, are equal as `cells` says.

        What is compared by number, or in tables by value, is compared so in any case.
        """
        return self.form(data)

    @abstractmethod
    def between(self, a: Any, b: Any) -> Any:
        """Return the distance of two forms."""

    def distance(self, a: Any, b: Any) -> Any:
        """Return the exact distance of two datasets, tables or answers.

        Raises
        ------
        InputError
            If one of them is not what the metric compares.
        """
        try:
            return self.between(self.form(a), self.form(b))
        except SensitivityLabError:
            raise
        except Exception as error:
            raise InputError(
                f"cannot measure ({self.name}) the distance of {shown(a)} and {shown(b)}: "
                f"{type(error).__name__}: {text_of(error)}"
            ) from error

    def among(self, forms: Sequence[Any]) -> Distances:
        """Return the distances of many forms, measured one row of their matrix at a time."""
        return _Pairwise(self, forms)

    def extended(self) -> Metric:
        """Return the metric for answers that can be infinite, missing, or of any length."""
        return self

    def check(self, d_in: Any) -> Any:
        """Return a distance that stability maps take, or raise InputError."""
        if self.real:
            return whole(as_fraction(d_in, f"d_in ({self.name})", check_not_negative))
        return check_whole("d_in", d_in, f"at least 0: {self.name}", least=0)

    def __str__(self) -> str:
        return self.name


class OfCells(Metric):
    """A metric on data in cells, which are compared by value by default."""

    def form(self, data: Any) -> Hashable:
        """Return the form of data whose cells are equal if their values are."""
        return self.form_by(encode, data)

    @abstractmethod
    def form_by(self, cells: Cells, data: Any) -> Hashable:
        """Return the form of data whose cells are equal as `cells` says."""


class Distances(ABC):
    """The distances of listed items, in a unit of their own; here whole numbers."""

    @abstractmethod
    def row(self, k: int) -> Row:
        """Return the distances from item k to the items k + 1, k + 2, ..., in the unit."""

    def limit(self, distance: Number) -> Any:
        """Return the largest row entry of pairs that are at most this distance apart."""
        return min(math.floor(distance), INFINITE - 1)

    def truth(self, entry: Any) -> Difference | float:
        """Return the real number that a row entry stands for, or math.inf."""
        return math.inf if entry >= INFINITE else Difference(Fraction(int(entry)), Fraction(0))


@dataclass(frozen=True)
class _Pairwise(Distances):
    """The distances of forms, measured pair by pair; row entries are the distances themselves."""

    metric: Metric
    forms: Sequence[Any]

    def row(self, k: int) -> Row:
        later = self.forms[k + 1 :]
        row = np.empty(len(later), dtype=object)
        row[:] = [self.metric.between(self.forms[k], other) for other in later]
        return row

    def limit(self, distance: Number) -> Any:
        return Fraction(distance)

    def truth(self, entry: Any) -> Difference | float:
        if isinstance(entry, Root):
            return Difference(entry.square, Fraction(0), root=True)
        return math.inf if entry == math.inf else Difference(Fraction(entry), Fraction(0))


@dataclass(frozen=True)
class OwnDistance(Metric):
    """The distance that a function returns, which is called once on each pair.

    Parameters
    ----------
    function : callable
        A symmetric function of two items that returns their distance, or whether they are
        neighbors: True is a distance of 1, False of infinity.

    Examples
    --------
    >>> OwnDistance(lambda x, y: abs(len(x) - len(y))).distance("ab", "abcd")
    Fraction(2, 1)
    """

    function: Callable[[Any, Any], Any]

    real: ClassVar[bool] = True

    name = "a distance of your own"

    def form(self, data: Any) -> Any:
        """Return the data, as the function sees them whole."""
        return data

    def between(self, a: Any, b: Any) -> Fraction | float:
        """Return what the function says of two items, or raise QueryError if it is no distance."""
        try:
            given = unboxed(self.function(a, b))
        except Exception as error:
            raise QueryError(
                f"the distance of {shown(a)} and {shown(b)} raised {type(error).__name__}: {error}"
            ) from error
        if isinstance(given, bool):
            return Fraction(1) if given else math.inf
        if isinstance(given, float) and given == math.inf:
            return math.inf
        number = finite_number(given)
        if number is None or number < 0:
            raise QueryError(
                f"the distance of {shown(a)} and {shown(b)} must be a number of at least 0, "
                f"math.inf, or True or False for neighbors, got {shown(given)}"
            )
        return Fraction(number)
