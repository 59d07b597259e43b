"""The engines, in order of preference, and the choice among them."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.errors import InputError, NoEngineError
from sensitivity_lab.problem import Problem

from .engine import Engine, Options
from .enumeration import Enumeration

ENGINES: tuple[Engine, ...] = (Enumeration(),)


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
        If no engine, or not the one that was named, takes the problem; with each one's reason.
    """
    named = {engine.name: engine for engine in ENGINES}
    if method != "auto" and method not in named:
        raise InputError(
            f"unknown method {method!r}; choose one of 'auto', {', '.join(map(repr, named))}"
        )
    refusals = []
    for engine in ENGINES if method == "auto" else (named[method],):
        reason = engine.refusal(problem, options)
        if reason is None:
            return engine
        refusals.append(reason)
    names = ", ".join(query.name for query in problem.queries)
    raise NoEngineError(f"no engine takes {names} here: " + "; ".join(refusals))
