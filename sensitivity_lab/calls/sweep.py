"""Calls of one function over the values of one argument."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from sensitivity_lab.checks import (
    check_callable,
    check_kind,
    check_running,
    is_hashable,
    listed,
    shown,
)
from sensitivity_lab.errors import InputError, SensitivityLabError, about
from sensitivity_lab.results.curves import SensitivityCurves
from sensitivity_lab.results.sweep import Result, Sweep, line_of
from sensitivity_lab.running import tracked

_COLUMN = "records"
"""The column of a result that names none, as in `sensitivity_curves`."""

_TOLD = ("query", "neighbors", "meaning", "distance", "size", "kind", "norm", "sensitivity")
"""The facts that every result has."""


def sweep(
    function: Callable[..., Any],
    argument: str,
    values: Iterable[Any],
    /,
    *,
    progress: bool | None = None,
    **fixed: Any,
) -> Sweep:
    """Compute sensitivities over the values of one argument, with all others fixed.

    Parameters
    ----------
    function : callable
        `global_sensitivity`, `local_sensitivity`, `smooth_sensitivity`, `sensitivity_curves` for
        several queries, relations and columns at once, or any function that returns what they
        return, or a sequence of results.
    argument : str
        The name of the argument of `function` that varies.
    values : iterable
        Its values, one call each. Values that are not numbers are drawn side by side, in order.
    progress : bool, optional
        Whether to show a progress bar over the values; by default on a terminal, after one second.
    **fixed
        The other arguments of `function`, by name. The calls share no work, and `n_jobs` applies
        to each call by itself.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If `function` has no such argument, `values` is empty or repeats a value, `function` returns
        something else, or two results at one value cannot be told apart.
    InputError, NoEngineError, QueryError
        If a call raises them; the message names the value.

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
            raise about(f"{argument} = {shown(value)}", error) from error
        except Exception as error:
            error.add_note(f"in the sweep over {argument}, at {argument} = {shown(value)}")
            raise
        points += [(value, column, result) for column, result in results]
    return Sweep(argument, tuple(points))


def _check_values(argument: Any, values: Any) -> list[Any]:
    """Return the values of a sweep, numpy's scalars as Python's, or raise InputError."""
    example = "; call sweep(function, 'size', [3, 4, 5], ...)"
    check_kind("argument", argument, str, "the name of an argument", example)
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
    check_callable("function", function, "a function, such as global_sensitivity")
    if argument in fixed:
        raise InputError(
            f"{argument} is what varies, but is also given as {shown(fixed[argument])}; leave "
            "that out"
        )
    try:
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001 - some built-ins have none, and objects can fail to tell theirs
        raise InputError(
            f"function must have arguments with names, and {shown(function)} does not name them; "
            "wrap it: sweep(lambda size: ..., 'size', [3, 4, 5])"
        ) from None
    known = ", ".join(signature.parameters)
    anything = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    if argument not in signature.parameters and not anything:
        raise InputError(f"function has no argument {shown(argument)}; its arguments are {known}")
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
    lines = Counter((*line_of(column, fact), fact["distance"]) for column, fact in facts)
    for (column, *line), number in lines.items():
        if number > 1:
            raise InputError(
                f"{number} results are alike in column, query, neighbors, kind, norm and distance: "
                f"{', '.join(map(str, (column, *line)))}; return one of them, or give functions "
                "names with from_function(..., name=...)"
            )
    return results
