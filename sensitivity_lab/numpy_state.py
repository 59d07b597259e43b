"""How a public call runs: under numpy's own handling of overflow, with documented errors alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from sensitivity_lab.errors import SensitivityLabError

P = ParamSpec("P")
R = TypeVar("R")


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
                from sensitivity_lab.running.boundary import documented

                told = documented(error)
                if told is None:
                    raise
                raise told from error

    return call
