"""The points of sensitivity curves, made when first used."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Relation

from .sensitivity import Sensitivity

Point = tuple[str, Sensitivity]
"""A column, and a result on it."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The results of a query on a column, for relations that differ in k only.

    Attributes
    ----------
    column : str
    query : Query
    neighbors : sequence of Relation
        One for each point.
    results : sequence of Sensitivity
        They may be made when first used.
    values : ndarray of float, shape (points,)
        The sensitivities.
    """

    column: str
    query: Query
    neighbors: Sequence[Relation]
    results: Sequence[Sensitivity]
    values: NDArray[np.float64]

    @property
    def distances(self) -> list[int]:
        """The Hamming distances of the points."""
        return [relation.k for relation in self.neighbors]


class Points(Sequence[Point]):
    """The points of some curves, one curve after the other.

    Parameters
    ----------
    curves : iterable of Curve
    """

    def __init__(self, curves: Iterable[Curve]) -> None:
        self.curves = tuple(curves)
        self._ends = list(accumulate(len(curve.neighbors) for curve in self.curves))

    @classmethod
    def of_results(cls, points: Iterable[Point]) -> Points:
        """Join points that stand side by side and differ in k only."""
        curves = []
        for _, group in groupby(points, key=_curve_of):
            columns, results = zip(*group, strict=True)
            neighbors = tuple(result.neighbors for result in results)
            values = np.array([result.value for result in results])
            curves.append(Curve(columns[0], results[0].query, neighbors, results, values))
        return cls(curves)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Point, ...]: ...
    def __getitem__(self, place: int | slice) -> Point | tuple[Point, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(f"{place} of {len(self)} points")
        at = place % len(self)
        number = bisect_right(self._ends, at)
        curve = self.curves[number]
        return curve.column, curve.results[at - self._ends[number]]

    def __eq__(self, other: object) -> bool:
        """Tell whether two sequences have the same points."""
        if not isinstance(other, Points | tuple):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Hash by the first point: equal sequences share it."""
        return hash((len(self), *self[:1]))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        # What was found, not what it takes to make it.
        return type(self).of_results, (tuple(self),)


def _curve_of(point: Point) -> tuple[str, str, Relation, str]:
    """Return what the points of a curve have in common."""
    column, result = point
    return column, result.query.name, result.neighbors.at(1), result.kind
