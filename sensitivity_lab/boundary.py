"""The boundary of public calls: foreign errors become documented ones, warnings name the caller."""

from __future__ import annotations

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from sensitivity_lab.errors import InputError, SensitivityLabError, WorkerError, printable
from sensitivity_lab.numpy_state import with_numpy_defaults

P = ParamSpec("P")
R = TypeVar("R")

_OF_WORKERS = {"joblib", "concurrent", "distributed", "dask", "tornado", "asyncio"}
"""Packages that run workers."""

_PACKAGE = str(Path(__file__).parent) + os.sep


def public_call(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function raise documented errors alone, and run under numpy's defaults."""
    function = with_numpy_defaults(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
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
