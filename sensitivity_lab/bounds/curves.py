"""Curves with exact points, and with bounds where the exact value is out of reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.curves import as_queries, as_relations, sensitivity_curves
from sensitivity_lab.checks import rounded_up
from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.queries import DEFAULT_QUERIES, Query
from sensitivity_lab.results.curves import SensitivityCurves
from sensitivity_lab.results.reprs import Tabled, rounded_down
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.running.checkpoint import as_folder
from sensitivity_lab.search.run import Run, check_run
from sensitivity_lab.universes.columns import as_universes
from sensitivity_lab.universes.finite import check_universe
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import Relation

from .call import sensitivity_bounds
from .result import SensitivityBounds
from .settings import check_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class BoundedCurves(Tabled):
    """Sensitivities of queries over relations and distances, exact or within bounds.

    Attributes
    ----------
    points : tuple of (str, Sensitivity or SensitivityBounds)
        The column and the result of every point, by column, relation, query and distance.

    See Also
    --------
    bounded_curves : Compute them.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1, 5])
    >>> curves = sl.bounds.bounded_curves(
    ...     universe, "sum", size=4, distances=[1, 2], neighbors="bounded"
    ... )
    >>> curves.to_frame()[["distance", "status", "lower", "upper"]]
       distance status  lower  upper
    0         1  exact    5.0    5.0
    1         2  exact   10.0   10.0
    """

    points: tuple[tuple[str, Sensitivity | SensitivityBounds], ...]

    def __iter__(self) -> Iterator[tuple[str, Sensitivity | SensitivityBounds]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy DataFrame, one row per column, query, relation and distance.

        Returns
        -------
        pandas.DataFrame
            The columns of `SensitivityCurves.to_frame`, and `lower`. Where `status` is "bounds",
            `sensitivity` is missing, and `lower` and `upper` bound it.
        """
        exact = SensitivityCurves(
            tuple((column, one) for column, one in self.points if isinstance(one, Sensitivity))
        )
        known = iter(exact.to_frame().to_dict("records")) if len(exact) else iter(())
        rows = [
            {**next(known), "lower": one.value}
            if isinstance(one, Sensitivity)
            else _row_of_bounds(column, one)
            for column, one in self.points
        ]
        return pd.DataFrame(rows)

    def plot(self, **options: Any) -> Figure:
        """Draw the curves, bounds as bars; see `sensitivity_lab.plotting.plot_curves`.

        Parameters
        ----------
        **options
            Options of `plot_curves`, such as `units`, `title` and `logy`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
        """
        from sensitivity_lab.plotting import plot_curves

        figure: Figure = plot_curves(self.to_frame(), **options)
        return figure

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per curve and a column per distance."""
        frame = self.to_frame()
        frame["neighbors"] = frame["neighbors"] + ", " + frame["meaning"] + " k"
        frame["sensitivity"] = [_text(one) for _, one in self.points]
        table = frame.pivot(
            index=["column", "neighbors", "query"], columns="distance", values="sensitivity"
        )
        return table.rename_axis(columns="k")

    @property
    def _title(self) -> str:
        sizes = dict.fromkeys(str(point.size) for _, point in self.points)
        return f"Global sensitivity or its bounds by Hamming distance k, size {', '.join(sizes)}"


def _text(one: Sensitivity | SensitivityBounds) -> str:
    if isinstance(one, Sensitivity):
        return rounded_up(one.value if one.upper is None else one.upper, one.exact, 6)
    above = "unknown" if np.isinf(one.upper) else rounded_up(one.upper, digits=6)
    return f"{rounded_down(one.lower, 6)} to {above}"


def _row_of_bounds(column: str, bounds: SensitivityBounds) -> dict[str, Any]:
    told = bounds.to_dict()
    names = ("query", "neighbors", "distance", "size", "status", "x", "y", "meaning", "upper")
    return {
        "column": column,
        **{name: told[name] for name in names},
        "sensitivity": np.nan,
        "method": "local search",
        "exact": "",
        "kind": bounds.kind,
        "norm": bounds.norm if isinstance(bounds.witness.query_x, tuple) else "",
        "linear_bound": np.nan,
        "lower": bounds.lower,
    }


@public_call
def bounded_curves(
    universes: FiniteUniverse | Mapping[str, FiniteUniverse] | pd.DataFrame,
    queries: Iterable[Any] | str | Query = DEFAULT_QUERIES,
    *,
    size: Any,
    distances: Any,
    neighbors: Any,
    exactly: bool = False,
    norm: str = "L1",
    bounds: Mapping[str, Any] | None = None,
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> BoundedCurves:
    """Compute sensitivities at several distances, or bounds where they are out of reach.

    A point is exact if an engine accepts it; otherwise it has the bounds of `sensitivity_bounds`.
    Every point says which it is.

    Parameters
    ----------
    universes, queries, size, distances, neighbors, exactly, norm
        See `sensitivity_curves`.
    bounds : mapping, optional
        Arguments of `sensitivity_bounds` for points that are out of reach, such as
        ``{"time_limit": 5, "value_range": (0, 100)}``.
    method, n_jobs, progress, run
        See `global_sensitivity`. The checkpoint has a folder for each column and query.

    Returns
    -------
    BoundedCurves

    Raises
    ------
    InputError, QueryError
        See `sensitivity_curves` and `sensitivity_bounds`.

    Notes
    -----
    If one distance of a query is out of reach, each distance has its own search, so an enumerated
    function is evaluated again for every other distance, unless there is a checkpoint.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(0, 100))
    >>> curves = sl.bounds.bounded_curves(
    ...     universe,
    ...     ["mean", sl.from_function(lambda x: float(x[29] - x[27]), name="two gaps")],
    ...     size=30,
    ...     distances=[1, 2],
    ...     neighbors="bounded",
    ...     bounds={"evaluations": 2000, "time_limit": float("inf"), "seed": 1},
    ... )
    >>> curves
    Global sensitivity or its bounds by Hamming distance k, size 30
    k                                                1              2
    column  neighbors          query
    records bounded, at most k mean                3.3            6.6
                               two gaps  99 to unknown  99 to unknown
    """
    columns = as_universes(universes)
    asked, relations = as_queries(queries), as_relations(neighbors, distances, exactly)
    families = dict.fromkeys(relation.at(1) for relation in relations)
    limits = check_settings(bounds)
    run = check_run(run, "bounded_curves")
    options = {"size": size, "norm": norm, "method": method, "n_jobs": n_jobs, "progress": progress}
    kept = None if run.checkpoint is None else as_folder("checkpoint", run.checkpoint)
    points: list[tuple[str, Sensitivity | SensitivityBounds]] = []
    for (at, (column, universe)), family in product(enumerate(columns.items()), families):
        for place, query in enumerate(asked):
            folder = None if kept is None else kept / f"{at}-{place}"
            exact = {**options, "run": replace(run, checkpoint=folder)}
            ks = [relation.k for relation in relations if relation.at(1) == family]
            found = _curve(check_universe(universe), query, family, ks, exact, limits)
            points += [(column, one) for one in found]
    return BoundedCurves(tuple(points))


def _curve(
    universe: FiniteUniverse,
    query: Query,
    family: Relation,
    distances: list[int],
    exact: Mapping[str, Any],
    limits: Mapping[str, Any],
) -> list[Sensitivity | SensitivityBounds]:
    """Return the sensitivities at several distances, or the bounds where no engine accepts one."""
    try:
        found = sensitivity_curves(
            universe,
            [query],
            distances=distances,
            neighbors=family,
            exactly=family.exactly,
            **exact,
        )
    except NoEngineError:
        if len(distances) > 1:
            return [
                one
                for k in distances
                for one in _curve(universe, query, family, [k], exact, limits)
            ]
        bounds = sensitivity_bounds(
            universe,
            query,
            size=exact["size"],
            norm=exact["norm"],
            neighbors=family.at(distances[0]),
            progress=exact["progress"],
            **limits,
        )
        return [bounds]
    return [one for _, one in found]
