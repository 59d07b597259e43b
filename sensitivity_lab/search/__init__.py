"""The engines, in order of preference, and the choice among them."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.errors import InputError, NoEngineError, TooLargeError
from sensitivity_lab.problem import Problem

from .additive import Additive
from .engine import Engine, Options
from .enumeration import Enumeration
from .linear import Rearrangement
from .moments import Moments
from .projection import Projection
from .quantiles import Quantiles

_ON_NUMBERS: tuple[Engine, ...] = (Quantiles(), Rearrangement(), Moments())

ENGINES: tuple[Engine, ...] = (*_ON_NUMBERS, Additive(), Projection(_ON_NUMBERS), Enumeration())


def check_method(method: Any) -> None:
    """Raise InputError unless a method is "auto" or the name of an engine."""
    names = ("auto", *(engine.name for engine in ENGINES))
    if method not in names:
        raise InputError(f"unknown method {method!r}; choose one of {', '.join(map(repr, names))}")


def choose(problem: Problem, method: Any, options: Options) -> Engine:
    """Return the engine that solves a problem.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    method : str
        An engine's name, or "auto" for the first in `ENGINES` that does not refuse.
    options : Options
        How it may be solved; the memory limit is a reason to refuse.

    Raises
    ------
    InputError
        If there is no engine of that name.
    NoEngineError
        If no engine, or not the one that was named, takes the problem; with each one's reason. A
        TooLargeError if one would take a smaller problem of the kind.
    """
    check_method(method)
    refusals = []
    for engine in ENGINES:
        if method not in ("auto", engine.name):
            continue
        refusal = engine.refusal(problem, options)
        if refusal is None:
            return engine
        refusals.append(refusal)
    names = ", ".join(query.name for query in problem.queries)
    reasons = "; ".join(refusal.reason for refusal in refusals)
    too_large = any(refusal.too_large for refusal in refusals)
    kind = TooLargeError if too_large else NoEngineError
    raise kind(f"no engine takes {names} here: {reasons}")
