"""Norms of differences, and metrics on numbers and on vectors of numbers, measured exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import Norm, as_python, is_finite, listed, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Difference, Number, common_integers, root_difference
from sensitivity_lab.exact.roots import Distance, as_fraction, norm_of_roots, root_of, whole

from .cells import key_of
from .lists import HammingDistance
from .metric import Distances, Metric, Row, Sees

POWERS: dict[Norm, int] = {"L1": 1, "L2": 2, "Linf": 1}
"""The power at which a norm of a rational vector is rational; `powered` returns it."""


def powered(vectors: NDArray[Any], norm: Norm) -> NDArray[Any]:
    """Return the norms of many vectors, squared for L2, so that no root is taken.

    Parameters
    ----------
    vectors : ndarray of int64, Python ints, Fractions or floats, shape (..., d)
        The vectors, along the last axis; d can be 0. Of int64, what is added up has to fit; floats
        are rounded.
    norm : {"L1", "L2", "Linf"}
        The sum of the absolute values, the root of the sum of squares, or the largest absolute
        value.

    Returns
    -------
    ndarray, shape (...)
        The L1 and Linf norms, and the squares of the L2 norms.

    Examples
    --------
    >>> vectors = np.array([[3, 0, -4], [1, 1, 1]])
    >>> [powered(vectors, norm).tolist() for norm in ("L1", "L2", "Linf")]
    [[7, 3], [25, 3], [4, 1]]
    """
    if norm == "L2":
        return np.asarray((vectors * vectors).sum(axis=-1))
    sizes = np.abs(vectors)
    return np.asarray(sizes.sum(axis=-1) if norm == "L1" else sizes.max(axis=-1, initial=0))


def norm_of(vector: Iterable[Fraction | int], norm: Norm) -> Difference:
    """Return the norm of one vector, as a difference from 0; for L2 a root.

    Examples
    --------
    >>> norm_of([3, Fraction(1, 2)], "L1").exact
    Fraction(7, 2)
    """
    entries = np.array(list(vector), dtype=object)
    return Difference(Fraction(powered(entries, norm).item()), Fraction(0), POWERS[norm] == 2)


def distance(
    first: Sequence[Fraction], second: Sequence[Fraction], norm: Norm, root: bool = False
) -> Difference:
    """Return the distance of two vectors in a norm.

    Parameters
    ----------
    first, second : sequence of Fraction, shape (d,)
        The vectors.
    norm : {"L1", "L2", "Linf"}
        The sum of the coordinates' distances, the root of the sum of their squares, or the largest.
    root : bool, default False
        Whether the coordinates are the square roots of the numbers.

    Returns
    -------
    Difference
        Compares exactly with others; for L2 a root.

    Raises
    ------
    QueryError
        If the vectors have different lengths.

    Examples
    --------
    >>> distance([Fraction(3), Fraction(0)], [Fraction(0), Fraction(4)], "L2").nearest()
    5.0
    """
    if len(first) != len(second):
        raise QueryError(
            f"a query returned {len(first)} numbers on one dataset and {len(second)} on another; "
            "it returns a number, or an array of one fixed length"
        )
    if root:
        pairs = zip(first, second, strict=True)
        return norm_of_roots([Difference(one, other, root=True) for one, other in pairs], norm)
    return norm_of((one - other for one, other in zip(first, second, strict=True)), norm)


Vector = tuple[Fraction, ...]
"""The coordinates of an answer."""

Answer = tuple[Hashable, ...]
"""The coordinates of an answer: fractions, and keys where they are not finite."""

_ZERO = Fraction(0)


def coordinate(entry: Any) -> Hashable:
    """Return a number of Python or NumPy as a fraction, or the key of NaN or of an infinity.

    Truth values are 0 and 1, as they are answers of code and not arguments.

    Raises
    ------
    QueryError
        If it is no number.

    Examples
    --------
    >>> coordinate(np.float32(0.5)), coordinate(True), coordinate(math.inf)
    (Fraction(1, 2), Fraction(1, 1), inf)
    """
    number = as_python(entry)
    if not is_finite(number):
        return key_of(number)
    return rational(number)


def rational(entry: Any) -> Fraction:
    """Return a finite number of Python or NumPy as a fraction, or raise QueryError."""
    number = as_python(entry)
    if isinstance(number, Decimal) and number.is_finite():
        return Fraction(number)
    if not isinstance(number, Rational | float) or not is_finite(number):
        raise QueryError(f"an answer holds {shown(number)}, which is not a finite number")
    return Fraction(number)


class _OfVectors(Metric):
    """A distance between vectors of one length, which follows from their difference."""

    sees: ClassVar[Sees] = "numbers"
    real: ClassVar[bool] = True

    @property
    def power(self) -> int:
        """The power at which the distances of rational vectors are rational."""
        return 1

    @abstractmethod
    def measure(self, gaps: NDArray[Any]) -> Row:
        """Return the distances, to the `power`, given differences along the last axis."""

    def form(self, data: Iterable[Any]) -> Vector:
        """Return the coordinates as fractions."""
        return tuple(
            as_fraction(value, "a coordinate of an answer")
            for value in listed(data, "an answer must be a sequence of numbers")
        )

    def between(self, a: Vector, b: Vector) -> Distance:
        """Return the distance of two vectors."""
        if len(a) != len(b):
            raise _lengths_differ(len(a), len(b))
        return self.norm(x - y for x, y in zip(a, b, strict=True))

    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the distance of vectors with these differences."""
        found = Fraction(self.measure(np.array(list(differences), dtype=object)).item())
        return root_of(found) if self.power == 2 else whole(found)

    def among(self, forms: Sequence[Vector]) -> Distances:
        """Return the distances of many vectors."""
        lengths = sorted({len(form) for form in forms})
        if len(lengths) > 1:
            raise _lengths_differ(lengths[0], lengths[-1])
        width = lengths[0] if lengths else 0
        integers, denominator = common_integers([entry for form in forms for entry in form])
        vectors = integers.reshape(len(forms), width)
        # In 64 bits where sums over the coordinates of this power of differences fit.
        largest = (2 * max(map(abs, integers), default=0)) ** self.power * max(width, 1)
        return _Scaled(self, vectors.astype(np.int64) if largest < 2**63 else vectors, denominator)

    def extended(self) -> Metric:
        """Return the metric for answers that can be infinite, missing, or of any length."""
        return ExtendedDistance(self)


def _lengths_differ(one: int, other: int) -> InputError:
    return InputError(f"vectors must have one length, got {one} and {other} coordinates")


@dataclass(frozen=True)
class _Scaled(Distances):
    """The distances of vectors of integers over one denominator; rows hold their power."""

    metric: _OfVectors
    vectors: NDArray[Any]  # shape (items, coordinates)
    denominator: int

    def row(self, k: int) -> Row:
        return self.metric.measure(self.vectors[k + 1 :] - self.vectors[k])

    def limit(self, distance: Number) -> int:
        return math.floor((Fraction(distance) * self.denominator) ** self.metric.power)

    def truth(self, entry: Any) -> Difference:
        power = self.metric.power
        measured = Fraction(int(entry), self.denominator**power)
        return root_difference(measured) if power == 2 else Difference(measured, Fraction(0))


class _Normed(_OfVectors):
    """A norm of the difference."""

    kind: ClassVar[Norm]

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{self.kind} distance"

    @property
    def power(self) -> int:
        """The power at which the norms of rational vectors are rational."""
        return POWERS[self.kind]

    def measure(self, gaps: NDArray[Any]) -> Row:
        """Return the norms, squared for L2."""
        return powered(gaps, self.kind)


@dataclass(frozen=True)
class L1Distance(_Normed):
    """The sum of the absolute differences of the coordinates.

    Examples
    --------
    >>> L1Distance().distance([3, 0], [1, 1])
    3
    """

    kind: ClassVar[Norm] = "L1"


@dataclass(frozen=True)
class L2Distance(_Normed):
    """The root of the sum of the squared differences of the coordinates.

    Examples
    --------
    >>> L2Distance().distance([3, 0], [1, 1])
    sqrt(5)
    """

    kind: ClassVar[Norm] = "L2"


@dataclass(frozen=True)
class LInfDistance(_Normed):
    """The largest absolute difference of a coordinate.

    Examples
    --------
    >>> LInfDistance().distance([3, 0], [1, 1])
    2
    """

    kind: ClassVar[Norm] = "Linf"


@dataclass(frozen=True)
class AbsoluteDistance(_Normed):
    """The absolute difference of two numbers.

    Examples
    --------
    >>> AbsoluteDistance().distance(0.5, 3)
    Fraction(5, 2)
    """

    kind: ClassVar[Norm] = "L1"  # of vectors with one coordinate

    name = "absolute difference"

    def form(self, data: Any) -> Vector:
        """Return the number as a vector of one fraction."""
        return (as_fraction(data, "an answer"),)

    def norm(self, differences: Iterable[Fraction | int]) -> Distance:
        """Return the absolute difference."""
        return whole(sum((abs(Fraction(one)) for one in differences), _ZERO))


@dataclass(frozen=True)
class MonotonicDistance(_OfVectors):
    """The largest increase plus the largest decrease; "Linf" where all entries go one way.

    Adding a number to all scores changes no selection, so the loss of a selection mechanism depends
    on the largest less the smallest gap alone, which is at most this distance.

    Examples
    --------
    >>> MonotonicDistance().distance([3, 0], [1, 1]), MonotonicDistance().distance([3, 1], [1, 0])
    (3, 2)
    """

    name = "largest increase plus largest decrease"

    def measure(self, gaps: NDArray[Any]) -> Row:
        """Return the largest gaps less the smallest, where 0 counts as a gap."""
        return np.asarray(gaps.max(axis=-1, initial=0) - gaps.min(axis=-1, initial=0))


@dataclass(frozen=True)
class L0Distance(HammingDistance):
    """The number of coordinates that differ; infinite between vectors of different lengths.

    Examples
    --------
    >>> L0Distance().distance([3, 0, 1], [1, 0, 2])
    2
    """

    sees: ClassVar[Sees] = "numbers"
    resizes: ClassVar[bool | None] = None

    name = "coordinates that differ"


@dataclass(frozen=True)
class ExtendedDistance(Metric):
    """A distance between answers that can be infinite or missing, or have any length.

    A coordinate that is NaN, or one of the two infinities, is at distance 0 from the same one and
    infinitely far from any other one; so are vectors of different lengths. A form has a Fraction
    for each finite coordinate, and a key (`cells.key_of`) for each other one.

    Examples
    --------
    >>> metric = ExtendedDistance(L1Distance())
    >>> above = metric.form([1, math.inf])
    >>> [metric.between(above, metric.form(y)) for y in ([3, math.inf], [1, math.nan])]
    [2, inf]
    """

    metric: _OfVectors

    sees: ClassVar[Sees] = "numbers"
    real: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return self.metric.name

    def form(self, data: Iterable[Any]) -> Answer:
        """Return the coordinates: fractions where they are finite."""
        return tuple(map(coordinate, data))

    def between(self, a: Answer, b: Answer) -> Distance:
        """Return the distance of the finite coordinates, if all others are equal."""
        if _others(a) != _others(b):
            return math.inf
        return self.metric.between(_finite(a), _finite(b))

    def among(self, forms: Sequence[Answer]) -> Distances:
        """Return the distances of many answers."""
        others = [_others(form) for form in forms]
        known = {form: kind for kind, form in enumerate(dict.fromkeys(others))}
        if len(known) < 2 and not any(keys for _, keys in known):
            return self.metric.among([_finite(form) for form in forms])
        width = max(map(len, forms))
        padded = [
            tuple(entry if isinstance(entry, Fraction) else _ZERO for entry in form)
            + (_ZERO,) * (width - len(form))
            for form in forms
        ]
        finite = self.metric.among(padded)
        # Two answers are at most the sum of all entries apart, in each of these metrics.
        total = sum((abs(entry) for form in padded for entry in form), _ZERO)
        kinds = np.array([known[form] for form in others], dtype=np.int64)
        return _Extended(finite, kinds, 1 + finite.limit(total))


@dataclass(frozen=True)
class _Extended(Distances):
    """The distances of answers, infinite where what is not finite differs."""

    finite: Distances  # of the coordinates that are, with 0 for all others
    kinds: NDArray[np.int64]  # shape (items,): equal where the coordinates that are not finite are
    infinite: int

    def row(self, k: int) -> Row:
        row = np.asarray(self.finite.row(k)).astype(object)
        row[self.kinds[k + 1 :] != self.kinds[k]] = self.infinite
        return row

    def limit(self, distance: Number) -> Any:
        return min(self.finite.limit(distance), self.infinite - 1)

    def truth(self, entry: Any) -> Difference | float:
        return math.inf if entry >= self.infinite else self.finite.truth(entry)


def _others(form: Answer) -> tuple[int, Answer]:
    """Return the number of coordinates, and those that are not finite, with their places."""
    keys = ((place, key) for place, key in enumerate(form) if not isinstance(key, Fraction))
    return len(form), tuple(keys)


def _finite(form: Answer) -> Vector:
    return tuple(entry for entry in form if isinstance(entry, Fraction))
