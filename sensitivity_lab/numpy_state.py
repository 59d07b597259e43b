"""How a public call runs: under numpy's own handling of overflow, with documented errors alone."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from sensitivity_lab.errors import InputError, SensitivityLabError, WorkerError, printable

P = ParamSpec("P")
R = TypeVar("R")

_OF_WORKERS = {"joblib", "concurrent", "distributed", "dask", "tornado", "asyncio"}
"""Packages that run workers."""


def with_numpy_defaults(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function run under numpy's own handling of overflow, underflow and invalid values.

    A caller's `numpy.seterr` neither stops a search nor changes its answer; a caller's function
    that a search calls runs under numpy's defaults as well. What other packages raise becomes a
    documented error.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            try:
                return function(*args, **kwargs)
            except SensitivityLabError:
                raise
            except Exception as error:
                told = _documented(error)
                if told is None:
                    raise
                raise told from error

    return call


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
