"""Sensitivity curves: the sensitivities of several queries against the Hamming distance.

Their points are made when they are first used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_column,
    check_distance,
    check_text,
    named,
    names_of,
    number_text,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Relation

from .literals import is_short
from .reprs import Tabled, in_table, write_csv
from .sensitivity_result import Sensitivity
from .witness import has_vectors, short_pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


@dataclass(frozen=True, repr=False)
class SensitivityCurves(Tabled):
    """The sensitivities of queries on columns, over relations and distances.

    Attributes
    ----------
    points : sequence of (str, Sensitivity)
        The column and the result of every point, by column, relation, query and distance. Some
        engines locate the records of a witness without listing them; these results are made when
        first used.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> curves = sl.sensitivity_curves(
    ...     {"absence_days": sl.Universe.from_dataset([1, 2, 3, 10])},
    ...     ["mean", "median"],
    ...     size=3,
    ...     distances=[1, 2],
    ...     neighbors="bounded",
    ... )
    >>> curves
    Global sensitivity by Hamming distance k, size 3
    k                                       1  2
    column       neighbors          query
    absence_days bounded, at most k mean    3  3
                                    median  1  1
    >>> curves.result("median", distance=2).value
    1.0
    >>> [float(point) for _, point in curves["mean"]]
    [3.0, 3.0]
    """

    points: Sequence[Point]

    def __post_init__(self) -> None:
        """Join the points to curves."""
        if not isinstance(self.points, Points):
            object.__setattr__(self, "points", Points.of_results(self.points))

    @property
    def _curves(self) -> tuple[Curve, ...]:
        return cast(Points, self.points).curves

    def __iter__(self) -> Iterator[tuple[str, Sensitivity]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, query: str | Query) -> SensitivityCurves:
        """Return the curves of one query, or raise InputError that lists the queries.

        Parameters
        ----------
        query : str or Query
            The query or its name.
        """
        asked = query.name if isinstance(query, Query) else query
        name = named(asked) if isinstance(asked, str) else None
        found = [curve for curve in self._curves if curve.query.name == name]
        if not found:
            raise InputError(
                f"no curve has the query {shown(asked)}; choose among {self._distinct('query')}"
            )
        return SensitivityCurves(Points(found))

    def result(
        self,
        query: str | Query,
        *,
        distance: int,
        column: str | None = None,
        neighbors: str | Relation | None = None,
    ) -> Sensitivity:
        """Return the result of one point.

        Parameters
        ----------
        query : str or Query
            The query or its name.
        distance : int
            The Hamming distance k.
        column : str, optional
            The column. It may be left out if there is only one.
        neighbors : str or Relation, optional
            The relation, such as "unbounded" or ``Unbounded(exactly=True)``; its k is ignored.
            It may be left out if there is only one.

        Raises
        ------
        InputError
            If there is no such point, or more than one.
        """
        distance = check_distance("distance", distance)
        if column is not None:
            check_column("column", column)
        if neighbors is not None and not isinstance(neighbors, Relation):
            neighbors = check_text("neighbors", neighbors, "a relation or its name")
        relation = neighbors.at(distance) if isinstance(neighbors, Relation) else None
        found = [
            curve.results[place]
            for curve in self[query]._curves
            if column in (None, curve.column)
            for place, one in enumerate(curve.neighbors)
            if one.k == distance and (relation == one or neighbors in (None, one.family))
        ]
        if len(found) != 1:
            asked = query.name if isinstance(query, Query) else query
            choices = "; ".join(
                f"{one}: {self._distinct(one)}"
                for one in ("column", "neighbors", "meaning", "query", "distance")
            )
            raise InputError(
                f"{len(found) or 'no'} points have query {shown(asked)} and distance "
                f"{shown(distance)}, exactly one is needed; choose among {choices}"
            )
        return found[0]

    def to_frame(self, *, witness: Literal["short", "full"] = "short") -> pd.DataFrame:
        """Return a tidy DataFrame, one row per column, query, relation and distance.

        Parameters
        ----------
        witness : {"short", "full"}, default "short"
            "short" shortens datasets and answers of more than 16 entries to a text; "full" keeps
            all of them as tuples.

        Returns
        -------
        pandas.DataFrame
            Columns: column, query, neighbors, distance, size, sensitivity (in its unit), status,
            method, x, y (the witness), meaning ("at most" or "exactly" the distance), exact
            (the sensitivity as a fraction, or an empty string), upper (the smallest float that is
            not below it, to scale noise by), kind ("global" or "local"), norm (for vector answers,
            else an empty string).
        """
        shown = short_pair if is_short(witness) else _full_pair
        table = self._frame()
        points = [point for _, point in self]
        pairs = map(shown, points)
        x, y = zip(*pairs, strict=True) if points else ((), ())
        exact = ["" if point.exact is None else number_text(point.exact) for point in points]
        columns: dict[str, Any] = {
            "status": [point.status for point in points],
            "method": [point.method for point in points],
            "x": pd.Series(x, dtype=object),
            "y": pd.Series(y, dtype=object),
            "exact": exact,
            "upper": [point.upper for point in points],
        }
        return table.assign(**columns)[list(_COLUMNS)]

    def _frame(self) -> pd.DataFrame:
        """Return the columns that need no more than the values; a few results are made for them."""
        parts = []
        for curve in self._curves:
            first = curve.results[0]
            parts.append(
                {
                    "column": curve.column,
                    "query": curve.query.name,
                    "neighbors": first.neighbors.family,
                    "distance": curve.distances,
                    "size": [first.size] * len(curve.distances),
                    "sensitivity": curve.values,
                    "meaning": first.neighbors.meaning,
                    "kind": first.kind,
                    "norm": first.norm if has_vectors(first) else "",
                }
            )
        return pd.concat(map(pd.DataFrame, parts), ignore_index=True)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dictionary per point: its column and the facts of `Sensitivity.to_dict`."""
        return [{"column": column, **point.to_dict()} for column, point in self.points]

    def to_csv(self, path: str | Path, *, witness: Literal["short", "full"] = "short") -> None:
        """Write `to_frame` to a CSV file; raise InputError if that is not possible.

        A name that a spreadsheet would treat as a formula gets a leading apostrophe.
        """
        write_csv(self.to_frame(witness=witness), path)

    def plot(self, **options: Any) -> Figure:
        """Draw the curves, a panel per column; see `sensitivity_lab.plotting.plot_curves`.

        Parameters
        ----------
        **options
            `ax`, `units`, `title`, `logx`, `logy`, `figsize`, `legend`, `columns`, `subplots` of
            `plot_curves`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
            Save it with ``.savefig(path)``. A new figure is pyplot's, as those of pandas are: a
            notebook shows it, and elsewhere ``plt.show()``.
        """
        from sensitivity_lab.plotting import plot_curves

        figure: Figure = plot_curves(self._frame(), **options)
        return figure

    def _distinct(self, name: str) -> str:
        return names_of(list(dict.fromkeys(self._frame()[name])), named)

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per curve and a column per distance."""
        frame = self._frame()
        frame["neighbors"] = frame["neighbors"] + ", " + frame["meaning"] + " k"
        frame["sensitivity"] = [
            in_table(point.value, point.upper, point.exact) for _, point in self.points
        ]
        table = frame.pivot_table(
            index=["column", "neighbors", "query"],
            columns="distance",
            values="sensitivity",
            sort=False,
        )
        return table.rename_axis(columns="k")

    @property
    def _title(self) -> str:
        first = [curve.results[0] for curve in self._curves]
        sizes = dict.fromkeys(str(point.size) for point in first)
        kinds = dict.fromkeys(point.kind for point in first)
        what = " and ".join(kinds).capitalize()
        norms = sorted({point.norm for point in first if has_vectors(point)})
        of_vectors = f", {norms[0]} norm" if norms else ""
        return f"{what} sensitivity by Hamming distance k, size {', '.join(sizes)}{of_vectors}"


_COLUMNS = (
    *("column", "query", "neighbors", "distance", "size", "sensitivity", "status", "method"),
    *("x", "y", "meaning", "exact", "upper", "kind", "norm"),
)


def _full_pair(point: Sensitivity) -> tuple[Any, Any]:
    return point.witness.x, point.witness.y
