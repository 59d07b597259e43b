"""What a caller's function gets in place of an array of records, so that it is followed."""

from __future__ import annotations

import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sensitivity_lab.checks import is_callers, shown_source
from sensitivity_lab.errors import InputError

FOLLOWED = (
    "boxes follow + - * / and powers, exp, log, sqrt, abs, sin, cos, arctan, tanh, minimum, "
    "maximum, clip, where, sum, mean, average, var, std, min, max, sort, median, percentile, prod, "
    "dot, cumsum, diff and norm of numpy"
)


class NotFollowedError(InputError):
    """A function does what is not followed; `does` says what, with its line."""

    does: str = ""


def refuse(does: str, error: Exception | None = None) -> NoReturn:
    """Raise NotFollowedError with the caller's line, or with the one that an error is from."""
    told = f"{does}{callers_line(error)}"
    refused = NotFollowedError(f"the function {told}; {FOLLOWED}")
    refused.does = told
    raise refused from error


def callers_line(error: Exception | None) -> str:
    """Return the caller's line, in parentheses, from the innermost frame that is no tool's."""
    stack = traceback.walk_stack(None) if error is None else traceback.walk_tb(error.__traceback__)
    for frame, line in stack if error is None else reversed([*stack]):
        if is_callers(frame):
            name, source = shown_source(frame.f_code.co_filename, line)
            return f" (line {line} of {name}{': ' if source else ''}{source})"
    return ""


class Traced(NDArrayOperatorsMixin):
    """An array that follows what numpy's functions do with it, and refuses all else.

    Attributes
    ----------
    calls : dict of str to callable
        The functions of numpy that are followed.
    methods : tuple of str
        Those that arrays have as methods, too.
    compared : str
        The comparison that it is the truth of, 0 or 1; else empty.
    """

    calls: ClassVar[Mapping[str, Callable[..., Any]]]
    methods: ClassVar[tuple[str, ...]]
    compared: str

    @property
    @abstractmethod
    def ndim(self) -> int:
        """The number of axes."""

    def __setitem__(self, at: Any, value: Any) -> NoReturn:
        refuse("changes records in place; make new ones, as np.where does")

    def __bool__(self) -> bool:
        if self.compared:
            refuse(f"branches on data: the comparison {self.compared!r} has both answers in a box")
        return refuse("branches on data: whether a number is 0")

    def __float__(self) -> float:
        return refuse("turns an answer into a float, so that it is no longer followed; use numpy's")

    __int__ = __index__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        refuse("turns records into an array, so that they are no longer followed")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.methods:
            refuse(f"calls .{name}, which is not followed")
        return lambda *given, **options: self.calls[name](self, *given, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        function = self.calls.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            told = "".join(f", {name}=" for name in options)
            refuse(f"calls numpy.{ufunc.__name__}{told}, which is not followed")
        return function(*given)

    def __array_function__(self, called: Any, _: Any, given: Any, options: Any) -> Any:
        function = self.calls.get(called.__name__)
        if function is None:
            refuse(f"calls numpy.{called.__name__}, which is not followed")
        try:
            return function(*given, **options)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            refuse(f"calls numpy.{called.__name__} with arguments that are not followed")


# What is made of other functions of numpy, whatever follows these.


def _average(u: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return np.mean(u, axis)
    return np.sum(u * weights, axis) / np.sum(weights, axis)


def _std(u: Any, axis: Any = None, ddof: Any = 0, **kept: Any) -> Any:
    return np.sqrt(np.var(u, axis, ddof=ddof, **kept))


def _norm(u: Any, ord: Any = None) -> Any:  # noqa: A002 - numpy's name
    if ord is not None and u.ndim > 1:
        refuse("takes a norm of a matrix")
    if ord in (None, 2):
        return np.sqrt(np.sum(u * u))
    if ord == 1:
        return np.sum(np.abs(u))
    if ord == np.inf:
        return np.max(np.abs(u))
    return refuse(f"takes a norm with ord={ord!r}")


def _dot(u: Any, v: Any) -> Any:
    if getattr(u, "compared", "") and getattr(v, "compared", ""):
        refuse("multiplies vectors of comparisons")
    if np.ndim(u) != 1 or np.ndim(v) != 1:
        refuse("multiplies matrices")
    return np.sum(u * v)


def _clip(u: Any, low: Any = None, high: Any = None, **kept: Any) -> Any:
    low, high = kept.pop("min", low), kept.pop("max", high)
    low, high = kept.pop("a_min", low), kept.pop("a_max", high)
    if kept:
        refuse(f"hands {', '.join(kept)} to clip")
    u = u if low is None else np.maximum(u, low)
    return u if high is None else np.minimum(u, high)


def _count_nonzero(u: Any) -> Any:
    if not u.compared:
        refuse("counts numbers that are not 0")
    return np.sum(u)


def _of_base(base: int) -> Callable[[Any], Any]:
    return lambda u: np.log(u) / np.log(base)


def itself(u: Any, *_: Any, **__: Any) -> Any:
    """Return what is given."""
    return u


COMPOSED: dict[str, Callable[..., Any]] = {
    "average": _average,
    "clip": _clip,
    "copy": itself,
    "count_nonzero": _count_nonzero,
    "dot": _dot,
    "inner": _dot,
    "log10": _of_base(10),
    "log1p": lambda u: np.log(u + 1),
    "log2": _of_base(2),
    "matmul": _dot,
    "norm": _norm,
    "positive": itself,
    "ptp": lambda u, axis=None: np.max(u, axis) - np.min(u, axis),
    "reciprocal": lambda u: 1 / u,
    "std": _std,
}
"""What they are of is a function that whoever follows them knows."""
