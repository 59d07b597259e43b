"""Sensitivities over one argument: the size of a dataset, a clipping bound, a distance."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ._parallel import tracked
from .curves import SensitivityCurves
from .errors import InputError, SensitivityLabError
from .result import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMN = "records"
"""What a result of no named column is filed under, as in `sensitivity_curves`."""


@dataclass(frozen=True)
class Sweep:
    """Sensitivities over the values of one argument.

    Attributes
    ----------
    argument : str
        The name of the argument.
    points : tuple of (value, str, Sensitivity)
        The argument's value, the column ("records" where there is none) and the result.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 3, 10])
    >>> sl.sweep(
    ...     lambda bound: sl.global_sensitivity(
    ...         universe.clipped(0, bound), "sum", size=3, neighbors=sl.Bounded(1)
    ...     ),
    ...     "bound",
    ...     [2, 5, 10],
    ... )
    Global sensitivity by bound
    column               records
    neighbors bounded, at most 1
    query                    sum
    2                          1
    5                          4
    10                         9
    """

    argument: str
    points: tuple[tuple[Any, str, Sensitivity], ...]

    def __iter__(self) -> Iterator[tuple[Any, str, Sensitivity]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def results(self) -> tuple[Sensitivity, ...]:
        """The result of every point."""
        return tuple(result for _, _, result in self.points)

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy DataFrame, one row per point.

        Returns
        -------
        pandas.DataFrame
            Columns: argument (its name), argument_value, column, and what `Sensitivity.to_dict`
            tells: query, neighbors, meaning ("at most" or "exactly"), distance, size, kind, norm,
            sensitivity (in its unit), exact (as a fraction, or an empty string), upper (the
            smallest float that is not below it, to scale noise by), status, method, arithmetic,
            datasets_evaluated, x, y, query_x, query_y (the witness).
        """
        return pd.DataFrame(
            {
                "argument": self.argument,
                "argument_value": value,
                "column": column,
                **result.to_dict(),
                "exact": result.to_dict()["exact"] or "",
            }
            for value, column, result in self.points
        )

    def plot(self, **options: Any) -> Figure:
        """Draw the sensitivities against the argument; see `sensitivity_lab.plotting.plot_sweep`.

        Parameters
        ----------
        **options
            `xlabel`, `xscale`, `yscale`, `ax`, `units`, `title`, `figsize` of `plot_sweep`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
            Never shown; in a notebook the cell's value is displayed.
        """
        from .plotting import plot_sweep

        frame = self.to_frame().assign(relation=self._relations(), query=self._labels())
        figure: Figure = plot_sweep(frame, **options)
        return figure

    def _relations(self) -> list[str]:
        """Return every point's relation, with its distance unless that is what varies."""
        lines = [_line(column, result) for _, column, result in self.points]
        points = {(id(value), line) for (value, _, _), line in zip(self.points, lines, strict=True)}
        distances: dict[Any, set[int]] = {}
        for line, result in zip(lines, self.results, strict=True):
            distances.setdefault(line, set()).add(result.neighbors.k)
        if len(points) == len(self.points) and max(map(len, distances.values())) > 1:
            return [f"{r.neighbors.family}, {r.neighbors.meaning} k" for r in self.results]
        return [str(result.neighbors) for result in self.results]

    def _labels(self) -> list[str]:
        """Return the name of every point's query, with its norm if that is needed."""
        several = len({result.norm for result in self.results}) > 1
        return [f"{r.query.name} ({r.norm})" if several else r.query.name for r in self.results]

    @property
    def _title(self) -> str:
        kinds = dict.fromkeys(result.kind for result in self.results)
        return f"{' and '.join(kinds)} sensitivity by {self.argument}".capitalize()

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per value and a column per line of the plot."""
        kinds = [result.kind for result in self.results]
        levels = {
            "column": [column for _, column, _ in self.points],
            "neighbors": self._relations(),
            "query": self._labels(),
            **({"kind": kinds} if len(set(kinds)) > 1 else {}),
        }
        rows = {id(value): str(value) for value, _, _ in self.points}
        table: dict[Any, dict[int, float]] = {}
        lines = zip(*levels.values(), strict=True)
        for (value, _, result), line in zip(self.points, lines, strict=True):
            table.setdefault(line, {})[id(value)] = result.value
        frame = pd.DataFrame(table, index=list(rows)).rename_axis(columns=list(levels))
        return frame.set_axis(list(rows.values()), axis=0)

    def __repr__(self) -> str:
        table = self._table().to_string(float_format=lambda value: f"{value:.6g}")
        return f"{self._title}\n" + "\n".join(line.rstrip() for line in table.split("\n"))

    def _repr_html_(self) -> str:
        html = self._table().to_html(float_format=lambda value: f"{value:.6g}")
        return f"<p>{escape(self._title)}</p>{html}"


def sweep(
    function: Callable[..., Any],
    argument: str,
    values: Iterable[Any],
    /,
    *,
    progress: bool | None = None,
    **fixed: Any,
) -> Sweep:
    """Compute sensitivities over the values of one argument, all others fixed.

    Parameters
    ----------
    function : callable
        `global_sensitivity`, `sensitivity_curves` for several queries, relations and columns at
        once, or any function that returns what they return, or a sequence of results.
    argument : str
        The name of the argument of `function` that varies.
    values : iterable
        Its values, one call each. They are numbers, or else drawn side by side in their order.
    progress : bool, optional
        Whether to show a progress bar over the values; by default on a terminal and past a second.
    **fixed
        The other arguments of `function`, by name. What several calls could share is not shared;
        `n_jobs` is for each call by itself.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If `function` has no such argument, there is no value or one twice, or `function` returns
        something else; if two results at one value cannot be told apart.
    InputError, NoEngineError, QueryError
        Where a call raises them; the message names the value.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 3, 10])
    >>> over_size = sl.sweep(
    ...     sl.global_sensitivity,
    ...     "size",
    ...     [2, 3, 4],
    ...     universe=universe,
    ...     query="mean",
    ...     neighbors=sl.Bounded(1),
    ... )
    >>> over_size.to_frame()[["argument_value", "sensitivity", "exact"]]
       argument_value  sensitivity exact
    0               2         4.50   9/2
    1               3         3.00     3
    2               4         2.25   9/4
    """
    listed = _check_values(argument, values)
    fixed = _check_arguments(function, argument, fixed)
    points: list[tuple[Any, str, Sensitivity]] = []
    for value in tracked(listed, unit="points", progress=progress):
        try:
            given = function(**{argument: value}, **fixed)
            results = _results(given)
        except SensitivityLabError as error:
            raise type(error)(f"{argument} = {value!r}: {error}") from error
        except Exception as error:
            error.add_note(f"in the sweep over {argument}, at {argument} = {value!r}")
            raise
        points += [(value, column, result) for column, result in results]
    return Sweep(argument, tuple(points))


def _check_values(argument: Any, values: Any) -> list[Any]:
    """Return the values of a sweep, numpy's scalars as Python's, or raise InputError."""
    if not isinstance(argument, str):
        raise InputError(
            f"argument must be the name of an argument, got {argument!r}; "
            "call sweep(function, 'size', [3, 4, 5], ...)"
        )
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        raise InputError(f"values must be several values of {argument}, got {values!r}")
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not listed:
        raise InputError(f"values must be several values of {argument}, got none")
    for value, number in Counter(v for v in listed if isinstance(v, Hashable)).items():
        if number > 1:
            raise InputError(f"values: {argument} = {value!r} comes twice; give each value once")
    return listed


def _check_arguments(function: Any, argument: str, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fixed arguments, without bars inside the sweep's own, or raise InputError."""
    if not callable(function):
        raise InputError(f"function must be callable, such as global_sensitivity; got {function!r}")
    if argument in fixed:
        raise InputError(
            f"{argument} is what varies, but is also given as {fixed[argument]!r}; leave that out"
        )
    signature = inspect.signature(function)
    try:
        signature.bind(**{argument: None}, **fixed)
    except TypeError as error:
        raise InputError(
            f"function cannot be called with {', '.join([argument, *fixed])}: {error}; "
            f"its arguments are {signature}"
        ) from error
    quiet = {"progress": False} if "progress" in signature.parameters else {}
    return {**quiet, **fixed}


def _results(given: Any) -> list[tuple[str, Sensitivity]]:
    """Return what a call gave, each result with its column, or raise InputError."""
    if isinstance(given, SensitivityCurves):
        results = list(given)
    elif isinstance(given, Sensitivity):
        results = [(_COLUMN, given)]
    elif isinstance(given, (list, tuple)) and given:
        results = [one for part in given for one in _results(part)]
    else:
        raise InputError(
            "the function of a sweep must return a Sensitivity, SensitivityCurves, or several of "
            f"them; got {given!r}"
        )
    lines = Counter((*_line(column, result), result.neighbors.k) for column, result in results)
    for (column, *line), number in lines.items():
        if number > 1:
            raise InputError(
                f"{number} results are alike in column, query, neighbors, kind, norm and distance: "
                f"{', '.join(map(str, (column, *line)))}; return one of them, or give functions "
                "names with from_function(..., name=...)"
            )
    return results


def _line(column: str, result: Sensitivity) -> tuple[str, ...]:
    """Return what the points of one line have in common, the distance apart."""
    relation = result.neighbors
    return (
        *(column, result.query.name, relation.family, relation.meaning, result.kind, result.norm),
    )
