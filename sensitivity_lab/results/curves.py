"""Sensitivity curves: the sensitivities of several queries against the Hamming distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from sensitivity_lab.checks import number_text
from sensitivity_lab.errors import InputError
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Relation

from .literals import shortened
from .reprs import Tabled, in_table, printable, write_csv
from .sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SensitivityCurves(Tabled):
    """The sensitivities of queries on columns, over relations and distances.

    Attributes
    ----------
    points : tuple of (str, Sensitivity)
        The column and the result of every point, by column, relation, query and distance.

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
    k                                     1  2
    column       neighbors        query
    absence_days bounded, at most mean    3  3
                                  median  1  1
    >>> curves.result("median", distance=2).value
    1.0
    """

    points: tuple[tuple[str, Sensitivity], ...]

    def __iter__(self) -> Iterator[tuple[str, Sensitivity]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

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
            The column; may be left out if there is only one.
        neighbors : str or Relation, optional
            The relation, such as "unbounded" or ``Unbounded(exactly=True)``, of which k is
            ignored; may be left out if there is only one.

        Raises
        ------
        InputError
            If there is no such point, or more than one.
        """
        name = query if isinstance(query, str) else query.name
        relation = neighbors.at(distance) if isinstance(neighbors, Relation) else None
        found = [
            point
            for of_column, point in self.points
            if column in (None, of_column)
            and point.query.name == name
            and point.neighbors.k == distance
            and (relation == point.neighbors or neighbors in (None, point.neighbors.family))
        ]
        if len(found) != 1:
            choices = "; ".join(
                f"{one}: {self._distinct(one)}"
                for one in ("column", "neighbors", "meaning", "query", "distance")
            )
            raise InputError(
                f"{len(found) or 'no'} points have query {name!r} and distance {distance}, "
                f"one is wanted; choose among {choices}"
            )
        return found[0]

    def to_frame(self, *, witness: Literal["short", "full"] = "short") -> pd.DataFrame:
        """Return a tidy DataFrame, one row per column, query, relation and distance.

        Parameters
        ----------
        witness : {"short", "full"}, default "short"
            Datasets and answers of more than 16 entries as text, the middle left out, or all of
            them as tuples.

        Returns
        -------
        pandas.DataFrame
            Columns: column, query, neighbors, distance, size, sensitivity (in its unit), status,
            method, x, y (the witness), meaning ("at most" or "exactly" the distance), exact
            (the sensitivity as a fraction, or an empty string), upper (the smallest float that is
            not below it, to scale noise by), kind ("global" or "local"), norm (of answers that are
            vectors, or an empty string).
        """
        table = pd.DataFrame(
            {
                "column": column,
                "query": point.query.name,
                "neighbors": point.neighbors.family,
                "distance": point.neighbors.k,
                "size": point.size,
                "sensitivity": point.value,
                "status": point.status,
                "method": point.method,
                "x": point.witness.x,
                "y": point.witness.y,
                "meaning": point.neighbors.meaning,
                "exact": "" if point.exact is None else number_text(point.exact),
                "upper": point.upper,
                "kind": point.kind,
                "norm": point.norm if isinstance(point.witness.query_x, tuple) else "",
            }
            for column, point in self.points
        )
        return shortened(table, ("x", "y"), witness)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dictionary per point: its column and what `Sensitivity.to_dict` tells."""
        return [{"column": column, **point.to_dict()} for column, point in self.points]

    def to_csv(self, path: str | Path, *, witness: Literal["short", "full"] = "short") -> None:
        """Write `to_frame` to a CSV file; raise InputError if that is not possible.

        A name that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        write_csv(self.to_frame(witness=witness), path)

    def plot(self, **options: Any) -> Figure:
        """Draw the curves, a panel per column; see `sensitivity_lab.plotting.plot_curves`.

        Parameters
        ----------
        **options
            `ax`, `units`, `title`, `yscale`, `figsize` of `plot_curves`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
            Never shown; in a notebook the cell's value is displayed.
        """
        from sensitivity_lab.plotting import plot_curves

        figure: Figure = plot_curves(self.to_frame(), **options)
        return figure

    def _distinct(self, name: str) -> str:
        return ", ".join(map(str, dict.fromkeys(self.to_frame()[name])))

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per curve and a column per distance."""
        frame = self.to_frame()
        frame["neighbors"] = frame["neighbors"] + ", " + frame["meaning"]
        for name in ("column", "query"):
            frame[name] = frame[name].map(printable)
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
        sizes = dict.fromkeys(str(point.size) for _, point in self.points)
        kinds = dict.fromkeys(point.kind for _, point in self.points)
        what = " and ".join(kinds).capitalize()
        norms = sorted({norm for norm in self.to_frame()["norm"] if norm})
        of_vectors = f", {norms[0]} norm" if norms else ""
        return f"{what} sensitivity by Hamming distance k, size {', '.join(sizes)}{of_vectors}"
