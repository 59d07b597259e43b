"""Sensitivities over one argument: the size of a dataset, a clipping bound, a distance."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from sensitivity_lab._parallel import tracked
from sensitivity_lab.checks import check_running, is_hashable, listed, shown
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.results.literals import shortened
from sensitivity_lab.results.reprs import Tabled, in_table, printable

from .curves import SensitivityCurves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMN = "records"
"""What a result of no named column is filed under, as in `sensitivity_curves`."""

_TOLD = ("query", "neighbors", "meaning", "distance", "size", "kind", "norm", "sensitivity")
"""What every result tells of itself."""


@runtime_checkable
class Result(Protocol):
    """A `Sensitivity`, or whatever tells of itself as it does."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts; query, neighbors, meaning, distance, size, kind, norm, sensitivity."""


@dataclass(frozen=True, repr=False)
class Sweep(Tabled):
    """Sensitivities over the values of one argument.

    Attributes
    ----------
    argument : str
        The name of the argument.
    points : tuple of (value, str, Result)
        The argument's value, the column ("records" where there is none) and the result: a
        `Sensitivity` or a `SmoothSensitivity`.

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
    points: tuple[tuple[Any, str, Result], ...]

    def __iter__(self) -> Iterator[tuple[Any, str, Result]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def results(self) -> tuple[Result, ...]:
        """The result of every point."""
        return tuple(result for _, _, result in self.points)

    def to_frame(self, *, witness: Literal["short", "full"] = "short") -> pd.DataFrame:
        """Return a tidy DataFrame, one row per point.

        Parameters
        ----------
        witness : {"short", "full"}, default "short"
            Datasets and answers of more than 16 entries as text, the middle left out, or all of
            them as tuples.

        Returns
        -------
        pandas.DataFrame
            Columns: argument (its name), argument_value, column, and what `Sensitivity.to_dict`
            tells: query, neighbors, meaning ("at most" or "exactly"), distance, size, kind, norm,
            sensitivity (in its unit), exact (as a fraction, or an empty string), upper (the
            smallest float that is not below it, to scale noise by), status, method, arithmetic,
            datasets_evaluated, x, y, query_x, query_y (the witness).
        """
        rows = [
            {
                "argument": self.argument,
                "argument_value": value,
                "column": column,
                **result.to_dict(),
            }
            for value, column, result in self.points
        ]
        table = pd.DataFrame({**row, "exact": row.get("exact") or ""} for row in rows)
        return shortened(table, ("x", "y", "query_x", "query_y"), witness)

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
        from sensitivity_lab.plotting import plot_sweep

        # The labels tell the norm, where there are several.
        frame = self.to_frame().drop(columns="norm")
        named = frame.assign(relation=self._relations(), query=self._labels("norm"))
        figure: Figure = plot_sweep(named, **options)
        return figure

    @cached_property
    def _facts(self) -> list[dict[str, Any]]:
        """What every result tells."""
        return [result.to_dict() for result in self.results]

    def _relations(self) -> list[str]:
        """Return every point's relation, with its distance unless that is what varies."""
        facts = self._facts
        columns = [column for _, column, _ in self.points]
        lines = [_line(column, fact) for column, fact in zip(columns, facts, strict=True)]
        values = [id(value) for value, _, _ in self.points]
        distances: dict[Any, set[int]] = {}
        for line, fact in zip(lines, facts, strict=True):
            distances.setdefault(line, set()).add(fact["distance"])
        alone = len(set(zip(values, lines, strict=True))) == len(self.points)
        varies = alone and max(map(len, distances.values())) > 1
        return [
            f"{fact['neighbors']}, {fact['meaning']} {'k' if varies else fact['distance']}"
            for fact in facts
        ]

    def _labels(self, *names: str) -> list[str]:
        """Return the name of every point's query, with those of some facts that differ."""
        several = [name for name in names if len({fact[name] for fact in self._facts}) > 1]
        queries = [fact["query"] for fact in self._facts]
        alone = len({id(value) for value, _, _ in self.points}) == len(queries)
        if self.argument != "query" and alone and 1 < len(queries) == len(set(queries)):
            # The argument changes the query, as a clipping bound does: all are one line.
            words = zip(*map(str.split, queries), strict=False)
            alike = [at[0] for at in takewhile(lambda at: len(set(at)) == 1, words)]
            queries = [" ".join([*alike, "..."])] * len(queries)
        return [
            query + (f" ({', '.join(fact[name] for name in several)})" if several else "")
            for query, fact in zip(queries, self._facts, strict=True)
        ]

    @property
    def _title(self) -> str:
        kinds = dict.fromkeys(fact["kind"] for fact in self._facts)
        return f"{' and '.join(kinds)} sensitivity".capitalize() + f" by {self.argument}"

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per value and a column per line of the plot."""
        levels = {
            "column": [printable(column) for _, column, _ in self.points],
            "neighbors": self._relations(),
            "query": list(map(printable, self._labels("kind", "norm"))),
        }
        rows = {id(value): printable(str(value)) for value, _, _ in self.points}
        table: dict[Any, dict[int, float]] = {}
        lines = zip(*levels.values(), strict=True)
        for (value, _, _), line, fact in zip(self.points, lines, self._facts, strict=True):
            table.setdefault(line, {})[id(value)] = _in_table(fact)
        frame = pd.DataFrame(table, index=list(rows)).rename_axis(columns=list(levels))
        return frame.set_axis(list(rows.values()), axis=0)


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
        `global_sensitivity`, `local_sensitivity`, `smooth_sensitivity`, `sensitivity_curves` for
        several queries, relations and columns at once, or any function that returns what they
        return, or a sequence of results.
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
    check_running(None, progress)
    points_at = _check_values(argument, values)
    fixed = _check_arguments(function, argument, fixed)
    points: list[tuple[Any, str, Result]] = []
    for value in tracked(points_at, unit="points", progress=progress):
        try:
            given = function(**{argument: value}, **fixed)
            results = _results(given)
        except SensitivityLabError as error:
            raise type(error)(f"{argument} = {shown(value)}: {error}") from error
        except Exception as error:
            error.add_note(f"in the sweep over {argument}, at {argument} = {shown(value)}")
            raise
        points += [(value, column, result) for column, result in results]
    return Sweep(argument, tuple(points))


def _check_values(argument: Any, values: Any) -> list[Any]:
    """Return the values of a sweep, numpy's scalars as Python's, or raise InputError."""
    if not isinstance(argument, str):
        raise InputError(
            f"argument must be the name of an argument, got {shown(argument)}; "
            "call sweep(function, 'size', [3, 4, 5], ...)"
        )
    wrong = f"values must be several values of {argument}"
    given = [
        value.item() if isinstance(value, np.generic) else value for value in listed(values, wrong)
    ]
    if not given:
        raise InputError(f"{wrong}, got none")
    for value, number in Counter(v for v in given if is_hashable(v)).items():
        if number > 1:
            raise InputError(
                f"values: {argument} = {shown(value)} comes twice; give each value once"
            )
    return given


def _check_arguments(function: Any, argument: str, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fixed arguments, without bars inside the sweep's own, or raise InputError."""
    if not callable(function):
        raise InputError(
            f"function must be callable, such as global_sensitivity; got {shown(function)}"
        )
    if argument in fixed:
        raise InputError(
            f"{argument} is what varies, but is also given as {fixed[argument]!r}; leave that out"
        )
    try:
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001 - some built-ins have none, and objects can fail to tell theirs
        raise InputError(
            f"function must have arguments with names, and {shown(function)} does not tell them; "
            "wrap it: sweep(lambda size: ..., 'size', [3, 4, 5])"
        ) from None
    known = ", ".join(signature.parameters)
    anything = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    if argument not in signature.parameters and not anything:
        raise InputError(f"function has no argument {argument!r}; its arguments are {known}")
    try:
        signature.bind(**{argument: None}, **fixed)
    except TypeError as error:
        raise InputError(
            f"function cannot be called with {', '.join([argument, *fixed])}: {error}; "
            f"its arguments are {known}"
        ) from error
    quiet = {"progress": False} if "progress" in signature.parameters else {}
    return {**quiet, **fixed}


def _results(given: Any) -> list[tuple[str, Result]]:
    """Return what a call gave, each result with its column, or raise InputError."""
    results: list[tuple[str, Result]]
    if isinstance(given, SensitivityCurves):
        results = list(given)
    elif isinstance(given, Result) and not set(_TOLD) - set(given.to_dict()):
        results = [(_COLUMN, given)]
    elif isinstance(given, (list, tuple)) and given:
        results = [one for part in given for one in _results(part)]
    else:
        raise InputError(
            "the function of a sweep must return a Sensitivity, SensitivityCurves, or several of "
            f"them; got {shown(given)}"
        )
    facts = [(column, result.to_dict()) for column, result in results]
    lines = Counter((*_line(column, fact), fact["distance"]) for column, fact in facts)
    for (column, *line), number in lines.items():
        if number > 1:
            raise InputError(
                f"{number} results are alike in column, query, neighbors, kind, norm and distance: "
                f"{', '.join(map(str, (column, *line)))}; return one of them, or give functions "
                "names with from_function(..., name=...)"
            )
    return results


def _in_table(fact: Mapping[str, Any]) -> float:
    """Return what the table shows of a result."""
    exact = fact.get("exact")
    return in_table(fact["sensitivity"], fact.get("upper"), Fraction(exact) if exact else None)


def _line(column: str, fact: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the points of one line have in common, the distance apart."""
    return (column, *(fact[name] for name in ("query", "neighbors", "meaning", "kind", "norm")))
