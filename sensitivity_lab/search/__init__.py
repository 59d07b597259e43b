"""The choice among the engines, which are listed in `engines.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from sensitivity_lab.checks import check_choice
from sensitivity_lab.errors import NoEngineError, TooLargeError
from sensitivity_lab.problem import (
    IntervalProblem,
    Kind,
    LocalIntervalProblem,
    LocalProblem,
    Problem,
    SmoothProblem,
)
from sensitivity_lab.queries import Query
from sensitivity_lab.running import watch

from .engine import AnyEngine, BothEnds, Options, Plan, Refusal, planned

AnyProblem = Problem | LocalProblem | SmoothProblem | IntervalProblem | LocalIntervalProblem


class Chosen(NamedTuple):
    """An engine and its plan for some queries."""

    engine: AnyEngine
    plan: Plan[Any]
    queries: tuple[Query, ...]
    options: Options

    def solve(self) -> Any:
        """Do the search; see `Plan`. A MemoryError, also of a caller's code, is a TooLargeError."""
        return self._run(self.plan.solve)

    def ends(self) -> BothEnds:
        """Do a local search for both ends of every change; see `solve`.

        Raises
        ------
        NoEngineError
            If the engine searches for the largest norm of answers that are several numbers.
        """
        if self.plan.ends is None:
            names = ", ".join(query.name for query in self.queries)
            raise NoEngineError(
                f"{self.engine.name} compares answers of {names} in a norm, and finds no least and "
                "no greatest one; take numbers one at a time"
            )
        found: BothEnds = self._run(self.plan.ends)
        return found

    def _run(self, search: Callable[[], Any]) -> Any:
        try:
            with watch(self.options.run.time_limit, self.options.progress):
                return search()
        except MemoryError as error:
            names = ", ".join(query.name for query in self.queries)
            raise TooLargeError(
                f"the search for {names} ran out of memory; choose a smaller size or distance, a "
                "coarser universe with fewer distinct values, or a smaller "
                "run=Run(memory_limit=...), which refuses before it starts"
            ) from error


def engines_for(kind: Kind, *, on_interval: bool = False) -> tuple[AnyEngine, ...]:
    """Return the engines for one kind of problem and of universe, in order of preference.

    The table is loaded by the first call, since it imports every theory.
    """
    from .engines import CONTINUOUS, ENGINES

    return tuple(
        engine
        for engine in ENGINES
        if engine.kind == kind and (engine in CONTINUOUS) == on_interval
    )


BOXES = "boxes"
"""The method that is no engine: it bounds one function on an interval (`bounds`)."""


def check_method(method: Any, kind: Kind = "global", *, boxes: bool = False) -> str:
    """Return a method; raise InputError if no engine has this name, and it is no `BOXES`."""
    return check_choice("method", method, (*_names(kind), *((BOXES,) if boxes else ())))


@cache
def _names(kind: Kind) -> tuple[str, ...]:
    """Return the methods for a kind of problem."""
    from .engines import ENGINES

    return ("auto", *(engine.name for engine in ENGINES if engine.kind == kind))


def choose(problem: AnyProblem, method: Any, options: Options) -> Chosen:
    """Return the engine that solves a problem, with its plan.

    Parameters
    ----------
    problem : Problem, LocalProblem, SmoothProblem, IntervalProblem or LocalIntervalProblem
        The problem to solve.
    method : str
        An engine's name, or "auto" for the first in `ENGINES` that does not refuse.
    options : Options
        The limits of the search; the memory limit is a reason to refuse.

    Raises
    ------
    InputError
        If there is no engine of that name for the kind of problem.
    NoEngineError
        If no engine, or not the one that was named, accepts the problem; its `reasons` has each
        one's. A TooLargeError if one would accept a smaller problem of the kind.
    """
    wanted = check_method(method, problem.kind)
    refusals: dict[str, Refusal] = {}
    engines = engines_for(problem.kind, on_interval=_on_interval(problem))
    named = [engine for engine in engines if wanted in ("auto", engine.name)]
    if not named:
        refusals[wanted] = _of_other_universes(wanted, problem)
    for engine in named:
        plan = planned(engine, problem, options)
        if isinstance(plan, Plan):
            return Chosen(engine, plan, problem.queries, options)
        refusals[engine.name] = plan
    raise _no_engine(", ".join(query.name for query in problem.queries), refusals)


def _no_engine(query: str, refusals: dict[str, Refusal]) -> NoEngineError:
    """Return the error: a line per engine that covers the query, and one that names the others."""
    told = sorted(refusals.values(), key=attrgetter("rank"))
    lines = [one.reason for one in told if not one.of_kind]
    if not lines:
        lines = [one.reason for one in told]
    elif others := [name for name, one in refusals.items() if one.of_kind]:
        verb = "does" if len(others) == 1 else "do"
        lines.append(f"{', '.join(others)} {verb} not cover it (the error's `reasons` say why)")
    kind = TooLargeError if any(one.too_large for one in told) else NoEngineError
    error = kind(f"no engine accepts {query} here: " + ";\n  ".join(lines))
    error.reasons = {name: one.reason for name, one in refusals.items()}
    return error


def _on_interval(problem: AnyProblem) -> bool:
    """Tell whether the problem's universe is an interval."""
    return isinstance(problem, IntervalProblem | LocalIntervalProblem)


def _of_other_universes(method: str, problem: AnyProblem) -> Refusal:
    """Refuse a problem whose universe is not of the kind that an engine searches."""
    if _on_interval(problem):
        return Refusal(
            f"{method} searches finite universes, not the {problem.universe.extent}; choose "
            "method='intervals', or use a grid of its values, Universe.from_domain(values)"
        )
    return Refusal(
        f"{method} searches intervals, not a {problem.universe.extent}; choose another method, or "
        "make an interval with Universe.from_interval(lower, upper)"
    )
