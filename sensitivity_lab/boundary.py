"""The boundary of public calls: they run under numpy's defaults, and raise documented errors alone.

Foreign errors become documented ones, and warnings name the caller.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sensitivity_lab.checks import did_you_mean
from sensitivity_lab.errors import InputError, SensitivityLabError, WorkerError, printable

P = ParamSpec("P")
R = TypeVar("R")


def with_numpy_defaults(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function run under numpy's own handling of overflow, underflow and invalid values.

    A caller's `numpy.seterr` neither stops a search nor changes its answer; a caller's function
    that a search calls runs under numpy's defaults as well.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*args, **kwargs)

    return call


_OF_WORKERS = {"joblib", "concurrent", "distributed", "dask", "tornado", "asyncio"}
"""Packages that run workers."""

_PACKAGE = str(Path(__file__).parent) + os.sep


def public_call(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function raise documented errors alone, and run under numpy's defaults."""
    takes = inspect.signature(function)
    function = with_numpy_defaults(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SensitivityLabError:
            raise
        except Exception as error:
            if isinstance(error, TypeError):
                check_call(function, takes, args, kwargs)
            told = _documented(error)
            if told is None:
                raise
            raise told from error

    return call


def check_call(
    function: Callable[..., Any], takes: inspect.Signature, args: Any, kwargs: dict[str, Any]
) -> None:
    """Raise TypeError where arguments do not fit a call: which one, what it is called, an example.

    Parameters
    ----------
    function : callable
        Its docstring has an example that calls it.
    takes : Signature
        What it takes.
    args, kwargs : tuple and dict
        What it was given.
    """
    try:
        takes.bind(*args, **kwargs)
        return
    except TypeError:
        parameters = takes.parameters.values()
    made = function.__name__ == "__init__"
    named = type(args[0]) if made else function
    name = named.__name__
    known = [one.name for one in parameters if one.name != "self"]
    placed = [one for one in parameters if one.kind in _BY_PLACE]
    told = []
    for key in kwargs:
        if key not in known:
            way = _ELSEWHERE.get(key) or did_you_mean(key, known).removeprefix("; ")
            told.append(f"has no argument {key!r}{': ' * bool(way)}{way}")
    if len(args) > len(placed):
        own = [one.name for one in placed if one.name != "self"]
        others = [f"{one.name}=" for one in parameters if one.kind is one.KEYWORD_ONLY]
        few = f"only {' and '.join(own)}" if own else "nothing"
        told.append(f"takes {few} by position; write the others by name: {', '.join(others)}")
    given = {one.name for one in placed[: len(args)]} | set(kwargs)
    needed = [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind not in _SEVERAL and one.name not in given
    ]
    if needed:
        told.append(f"needs {' and '.join(needed)}")
    example = _example(named)
    as_in = f". A call that works: {example}" if example else ""
    raise TypeError(f"{name}() {'; it '.join(told or ['got an argument twice'])}{as_in}") from None


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

_ELSEWHERE = {
    **dict.fromkeys(
        ("hamming_distance", "distance", "k", "radius", "exactly"),
        "the distance is part of neighbors, as in neighbors=sl.Bounded(2)",
    ),
    **dict.fromkeys(
        ("q", "percentile", "quantile"), 'it is part of the query: "percentile_90", Percentile(90)'
    ),
    "ddof": "it is part of the query: sl.Var(ddof=1)",
    **dict.fromkeys(("n", "length", "sizes"), "the number of records is size"),
    **dict.fromkeys(("relation", "neighbor", "neighbours"), "the relation is neighbors"),
    "budget": "of audit_recorded it is budget=, of audit_mechanism epsilon=",
    "where": "give datasets=, those where the function is defined",
    "choices": "sl.audit takes it, with outputs=",
    "max_groups": "of a query the limit of a person is max_rows, for all groups together",
    **dict.fromkeys(("time_limit", "memory_limit", "timeout"), "it is part of run: sl.Run(...)"),
}
"""By a name that no call has: what it is part of, or what it is called."""


def _example(function: Any) -> str:
    """Return the first call of a function or class in its docstring's examples, on one line."""
    lines = [line.strip() for line in (function.__doc__ or "").splitlines()]
    found: list[str] = []
    for line in lines:
        if line.startswith(">>> "):
            found.append(line[4:])
        elif line.startswith("... ") and found:
            found[-1] += " " + line[4:].strip()
    calls = (line for line in found if re.search(rf"\b{function.__name__}\(", line))
    text = next(calls, "").replace("( ", "(").replace(", )", ")")
    return re.sub(r"^\w+ = ", "", text)


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point to the innermost line outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _documented(error: Exception) -> SensitivityLabError | None:
    """Return the documented error for one that a public call met; None for one of this package's.

    Whose it is, the innermost frame tells: where it was raised.
    """
    if isinstance(error, RecursionError):
        return InputError(
            "an argument, or what a function holds, is nested too deeply or refers to itself: "
            "Python's limit of recursion is reached; give flat values"
        )
    frames = [
        frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    raised_by = str(frames[-1]).partition(".")[0] if frames else ""
    text = " ".join(str(error).split()) or "without a text"
    told = f"{type(error).__name__}: {printable(text)}"
    if raised_by in _OF_WORKERS:
        return WorkerError(
            f"{raised_by}, which runs the workers, raised {told}; see that workers are there and "
            "can work, and call again, or use n_jobs=1 without a cluster"
        )
    if isinstance(error, TypeError) and raised_by != "sensitivity_lab":
        return InputError(
            f"an argument cannot be used: {raised_by} raised {told}; give numbers, lists, arrays "
            "or tables of plain types"
        )
    return None
