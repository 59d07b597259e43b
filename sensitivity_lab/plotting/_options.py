"""The options of the plots, checked before anything is drawn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from sensitivity_lab.checks import check_kind, check_text, finite_number, listed, shown
from sensitivity_lab.errors import InputError

from ._figures import check_axes

P = ParamSpec("P")
R = TypeVar("R")

_WIDEST = 500
"""The most inches of a figure on a side; matplotlib draws no more than 2**16 dots."""


def with_checked_options(plot: Callable[P, R]) -> Callable[P, R]:
    """Let a plot refuse options that are not of their kind, each by its name.

    What an option of this name has to be is the same in every plot.
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


def _text(name: str, value: Any) -> None:
    check_text(name, value, "a text")


def _texts(name: str, value: Any) -> None:
    listed(value, f"{name} must be a sequence of texts")
    if not hasattr(value, "__len__"):
        raise InputError(f"{name} must be a list, whose length is known, got {shown(value)}")


def _frame(name: str, value: Any) -> None:
    check_kind(name, value, pd.DataFrame, "a DataFrame, as a result's to_frame() returns it")


def _units(name: str, value: Any) -> None:
    check_kind(name, value, Mapping, "a mapping of column names to units")
    for column, unit in value.items():
        check_text(f"{name}[{shown(column)}]", unit, "a text")


def _size(name: str, value: Any) -> None:
    sides = [*map(finite_number, listed(value, f"{name} must be (width, height) in inches"))]
    if len(sides) != 2 or not all(side and 0 < side <= _WIDEST for side in sides):
        raise InputError(
            f"{name} must be (width, height) in inches, above 0 and at most {_WIDEST}, "
            f"got {shown(value)}"
        )


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    **dict.fromkeys(("title", "unit", "query", "neighbors", "gap", "step", "xlabel"), _text),
    **dict.fromkeys(("labels", "names", "captions"), _texts),
    **dict.fromkeys(("frame", "compare"), _frame),
    "ax": check_axes,
    "units": _units,
    "figsize": _size,
}
