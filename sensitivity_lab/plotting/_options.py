"""Checks of a picture's options, table and Axes, before anything is drawn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from sensitivity_lab.checks import (
    check_choice,
    check_flag,
    check_kind,
    check_text,
    finite_number,
    listed,
    shown,
    whole_kind,
)
from sensitivity_lab.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

_WIDEST = 500
"""The most inches of a figure's side; matplotlib draws at most 2**16 dots."""


def with_checked_options(plot: Callable[P, R]) -> Callable[P, R]:
    """Make a plot refuse options of the wrong type, each by its name.

    An option has the same type in every plot.
    """
    takes = inspect.signature(plot)

    @functools.wraps(plot)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in takes.bind(*args, **kwargs).arguments.items():
            check = _CHECKS.get(name)
            if check and not (value is None and takes.parameters[name].default is None):
                check(name, value)
        return plot(*args, **kwargs)

    return call


def check_frame(frame: pd.DataFrame, needed: Iterable[str], advice: str) -> None:
    """Raise InputError unless a table has rows and the columns that a picture needs."""
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InputError(f"frame lacks {', '.join(missing)}; {advice}")
    if frame.empty:
        raise InputError("frame has no rows, so there is nothing to draw")


def axes_of(given: Any) -> list[Any]:
    """Return a single Axes, or those of a sequence or of its rows, as a list."""
    return [one for row in _entries(given) for one in _entries(row)]


def _entries(given: Any) -> list[Any]:
    """Return the entries of a sequence or an array; a single object is the only entry."""
    if isinstance(given, np.ndarray):
        return list(given.ravel())
    return list(given) if isinstance(given, list | tuple) else [given]


def check_axes(name: str, value: Any) -> None:
    """Raise InputError unless a value is an Axes of matplotlib, or several."""
    wrong = [one for one in axes_of(value) if not isinstance(one, Axes)]
    if wrong:
        raise InputError(
            f"{name}: got {shown(wrong[0])}; pass a matplotlib Axes or a sequence of them"
        )


def _sequence(name: str, value: Any, of: str) -> None:
    listed(value, f"{name} must be a sequence of {of}")
    if not hasattr(value, "__len__"):
        raise InputError(f"{name} must be a list, whose length is known, got {shown(value)}")


def _frame(name: str, value: Any) -> None:
    check_kind(name, value, pd.DataFrame, "a DataFrame, as a result's to_frame() returns it")


def _units(name: str, value: Any) -> None:
    if isinstance(value, str):
        return
    check_kind(name, value, Mapping, "a text, or a mapping of names to units")
    for of, unit in value.items():
        check_text(f"{name}[{shown(of)}]", unit, "a text")


def _size(name: str, value: Any) -> None:
    sides = [*map(finite_number, listed(value, f"{name} must be (width, height) in inches"))]
    if len(sides) != 2 or not all(side and 0 < side <= _WIDEST for side in sides):
        raise InputError(
            f"{name} must be (width, height) in inches, above 0 and at most {_WIDEST}, "
            f"got {shown(value)}"
        )


def _sizes(name: str, value: Any) -> None:
    for of, size in value.items():
        check_text(name, of, "a mapping whose keys are texts")
        number = finite_number(size)
        if number is None or number < 0:
            raise InputError(
                f"{name}[{shown(of)}] must be a finite number, at least 0, got {shown(size)}"
            )


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(
        ("title", "unit", "query", "neighbors", "gap", "step"),
        partial(check_text, meaning="a text"),
    ),
    **dict.fromkeys(("labels", "names", "captions"), partial(_sequence, of="texts")),
    "frame": _frame,
    **dict.fromkeys(("subplots", "logx", "logy"), check_flag),
    "error": partial(check_choice, choices=("expected_error", "median_error", "error_90")),
    "columns": whole_kind("a number of panels side by side, at least 1"),
    "legend": partial(check_choice, choices=("labels", "box", "none")),
    "ax": check_axes,
    "units": _units,
    "sensitivities": _sizes,
    "figsize": _size,
}
"""The check of each option, by its name."""
