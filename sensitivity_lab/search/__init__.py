"""The engines, in order of preference, and the choice among them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, NoEngineError, TooLargeError
from sensitivity_lab.problem import Kind, LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import Query

from .engine import AnyEngine, Options, Plan, Refusal
from .enumeration.global_max import Enumeration
from .enumeration.local_max import LocalEnumeration
from .enumeration.smooth_max import SmoothEnumeration
from .linear.global_max import Linear
from .linear.local_max import LocalLinear
from .one_column.global_max import OneColumn
from .one_column.local_max import LocalOneColumn
from .order_statistics.global_max import OrderStatistics
from .order_statistics.local_max import LocalOrderStatistics
from .order_statistics.smooth_max import SmoothOrderStatistics
from .ranks.global_max import Ranks
from .ranks.local_max import LocalRanks
from .row_sums.global_max import RowSums
from .row_sums.local_max import LocalRowSums
from .variance.global_max import Variance
from .variance.local_max import LocalVariance

ENGINES: tuple[AnyEngine, ...] = (
    OrderStatistics(),
    LocalOrderStatistics(),
    SmoothOrderStatistics(),
    Linear(),
    LocalLinear(),
    Variance(),
    LocalVariance(),
    Ranks(),
    LocalRanks(),
    RowSums(),
    LocalRowSums(),
    OneColumn((OrderStatistics(), Linear(), Variance(), Ranks())),
    LocalOneColumn((LocalOrderStatistics(), LocalLinear(), LocalVariance(), LocalRanks())),
    Enumeration(),
    LocalEnumeration(),
    SmoothEnumeration(),
)
"""Every engine: a theory, and a kind of problem. The first that has a plan solves the problem."""

FORMER_NAMES = {
    "quantiles": "order_statistics",
    "rearrangement": "linear",
    "moments": "variance",
    "additive": "row_sums",
    "projection": "one_column",
}
"""What `method` called engines before; still accepted, with a DeprecationWarning."""


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


def engines_for(kind: Kind) -> tuple[AnyEngine, ...]:
    """Return the engines for one kind of problem, in order of preference."""
    return tuple(engine for engine in ENGINES if engine.kind == kind)


def check_method(method: Any, kind: Kind = "global") -> str:
    """Return a method, by its name of today; raise InputError if no engine is called so."""
    names = ("auto", *(engine.name for engine in engines_for(kind)))
    today = FORMER_NAMES.get(method, method) if isinstance(method, str) else method
    if not isinstance(today, str) or today not in names:
        raise InputError(
            f"unknown method {shown(method)}; choose one of {', '.join(map(repr, names))}"
        )
    if today != method:
        warnings.warn(
            f"the method {method!r} is now called {today!r}", DeprecationWarning, stacklevel=3
        )
    return today


def choose(
    problem: Problem | LocalProblem | SmoothProblem, method: Any, options: Options
) -> Chosen:
    """Return the engine that solves a problem, with its plan.

    Parameters
    ----------
    problem : Problem, LocalProblem or SmoothProblem
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
    for engine in engines_for(problem.kind):
        if wanted not in ("auto", engine.name):
            continue
        plan = engine.plan(problem, options)
        if isinstance(plan, Plan):
            return Chosen(engine, plan, problem.queries)
        refusals.append(plan)
    names = ", ".join(query.name for query in problem.queries)
    reasons = "; ".join(refusal.reason for refusal in refusals)
    error = TooLargeError if any(refusal.too_large for refusal in refusals) else NoEngineError
    raise error(f"no engine accepts {names} here: {reasons}")
