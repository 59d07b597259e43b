"""The engines, in order of preference, and the choice among them."""

from __future__ import annotations

from typing import Any, NamedTuple

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, NoEngineError, TooLargeError
from sensitivity_lab.interval_problem import IntervalProblem, LocalIntervalProblem
from sensitivity_lab.problem import Kind, LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import Query

from .engine import AnyEngine, Options, Plan, Refusal, planned
from .enumeration.global_max import Enumeration
from .enumeration.local_max import LocalEnumeration
from .enumeration.smooth_max import SmoothEnumeration
from .groups.global_max import Groups
from .groups.local_max import LocalGroups
from .intervals.global_max import Intervals
from .intervals.local_max import LocalIntervals
from .monotone.global_max import Monotone
from .monotone.local_max import LocalMonotone
from .monotone.smooth_max import SmoothMonotone
from .multiplicities.global_max import MultiplicitiesEngine
from .multiplicities.local_max import LocalMultiplicities
from .one_column.global_max import OneColumn
from .one_column.local_max import LocalOneColumn
from .ranks.global_max import Ranks
from .ranks.local_max import LocalRanks
from .row_sums.global_max import RowSums
from .row_sums.local_max import LocalRowSums
from .stacks.global_max import Stacks
from .variance.global_max import Variance
from .variance.local_max import LocalVariance
from .variance.smooth_max import SmoothVariance

CONTINUOUS: tuple[AnyEngine, ...] = (
    Intervals((Monotone(), Ranks())),
    LocalIntervals((LocalMonotone(), LocalRanks(), LocalVariance())),
)
"""The engines for intervals; the others are for finite universes."""

_ON_TABLES: tuple[AnyEngine, ...] = (
    OneColumn((Monotone(), Variance(), Ranks())),
    Groups((Monotone(), Variance())),
)

ENGINES: tuple[AnyEngine, ...] = (
    Monotone(),
    LocalMonotone(),
    SmoothMonotone(),
    Variance(),
    LocalVariance(),
    SmoothVariance(),
    Ranks(),
    LocalRanks(),
    MultiplicitiesEngine(),
    LocalMultiplicities(),
    RowSums(),
    LocalRowSums(),
    *_ON_TABLES,
    LocalOneColumn((LocalMonotone(), LocalVariance(), LocalRanks())),
    LocalGroups((LocalMonotone(), LocalVariance())),
    Stacks((RowSums(), *_ON_TABLES)),
    *CONTINUOUS,
    Enumeration(),
    LocalEnumeration(),
    SmoothEnumeration(),
)
"""Every engine: a theory, and a kind of problem. The first that has a plan solves the problem."""

AnyProblem = Problem | LocalProblem | SmoothProblem | IntervalProblem | LocalIntervalProblem


class Chosen(NamedTuple):
    """An engine and its plan for some queries."""

    engine: AnyEngine
    plan: Plan[Any]
    queries: tuple[Query, ...]

    def solve(self) -> Any:
        """Do the search; see `Plan`. A MemoryError, also of a caller's code, is a TooLargeError."""
        try:
            return self.plan.solve()
        except MemoryError as error:
            names = ", ".join(query.name for query in self.queries)
            raise TooLargeError(
                f"the search for {names} ran out of memory; choose a smaller size or distance, a "
                "coarser universe with fewer distinct values, or a smaller memory_limit, which "
                "refuses before it starts"
            ) from error


def engines_for(kind: Kind, *, on_interval: bool = False) -> tuple[AnyEngine, ...]:
    """Return the engines for one kind of problem and of universe, in order of preference."""
    return tuple(
        engine
        for engine in ENGINES
        if engine.kind == kind and (engine in CONTINUOUS) == on_interval
    )


def check_method(method: Any, kind: Kind = "global") -> str:
    """Return a method; raise InputError if no engine is called so."""
    names = ("auto", *(engine.name for engine in ENGINES if engine.kind == kind))
    if not isinstance(method, str) or method not in names:
        raise InputError(
            f"unknown method {shown(method)}; choose one of {', '.join(map(repr, names))}"
        )
    return method


def choose(problem: AnyProblem, method: Any, options: Options) -> Chosen:
    """Return the engine that solves a problem, with its plan.

    Parameters
    ----------
    problem : Problem, LocalProblem, SmoothProblem, IntervalProblem or LocalIntervalProblem
        What is to be solved.
    method : str
        An engine's name, or "auto" for the first in `ENGINES` that does not refuse.
    options : Options
        How it may be solved; the memory limit is a reason to refuse.

    Raises
    ------
    InputError
        If there is no engine of that name for the kind of problem.
    NoEngineError
        If no engine, or not the one that was named, accepts the problem; with each one's reason. A
        TooLargeError if one would accept a smaller problem of the kind.
    """
    wanted = check_method(method, problem.kind)
    refusals: list[Refusal] = []
    engines = engines_for(problem.kind, on_interval=_on_interval(problem))
    named = [engine for engine in engines if wanted in ("auto", engine.name)]
    if not named:
        refusals.append(_of_other_universes(wanted, problem))
    for engine in named:
        plan = planned(engine, problem, options)
        if isinstance(plan, Plan):
            return Chosen(engine, plan, problem.queries)
        refusals.append(plan)
    names = ", ".join(query.name for query in problem.queries)
    reasons = "; ".join(refusal.reason for refusal in refusals)
    error = TooLargeError if any(refusal.too_large for refusal in refusals) else NoEngineError
    raise error(f"no engine accepts {names} here: {reasons}")


def _on_interval(problem: AnyProblem) -> bool:
    """Tell whether the problem's universe is an interval."""
    return isinstance(problem, IntervalProblem | LocalIntervalProblem)


def _of_other_universes(method: str, problem: AnyProblem) -> Refusal:
    """Refuse a problem whose universe is not of the kind that an engine searches."""
    if _on_interval(problem):
        return Refusal(
            f"{method} searches finite universes, not the {problem.universe.extent}; choose "
            "method='intervals', or take a grid of its values, Universe.from_domain(values)"
        )
    return Refusal(
        f"{method} searches intervals, not a {problem.universe.extent}; choose another method, or "
        "make an interval with Universe.from_interval(lower, upper)"
    )
