"""What numpy does on overflow, underflow and invalid values while the library computes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

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
