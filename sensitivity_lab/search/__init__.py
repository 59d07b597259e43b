"""The engines, in order of preference, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, NoEngineError, TooLargeError
from sensitivity_lab.problem import LocalProblem, Problem
from sensitivity_lab.queries import Query

from .engine import Engine, Options, Refusal
from .enumeration.global_max import Enumeration
from .enumeration.local_max import LocalEnumeration
from .enumeration.smooth_max import SmoothEnumeration
from .linear.global_max import Rearrangement
from .linear.local_max import LocalRearrangement
from .local_engine import LocalEngine
from .one_column.global_max import Projection
from .one_column.local_max import LocalProjection
from .order_statistics.global_max import Quantiles
from .order_statistics.local_max import LocalQuantiles
from .order_statistics.smooth_max import SmoothQuantiles
from .row_sums.global_max import Additive
from .row_sums.local_max import LocalAdditive
from .smooth_engine import SmoothEngine, SmoothProblem
from .variance.global_max import Moments
from .variance.local_max import LocalMoments

_ON_NUMBERS: tuple[Engine, ...] = (Quantiles(), Rearrangement(), Moments())

ENGINES: tuple[Engine, ...] = (*_ON_NUMBERS, Additive(), Projection(_ON_NUMBERS), Enumeration())

_LOCAL_ON_NUMBERS: tuple[LocalEngine, ...] = (
    LocalQuantiles(),
    LocalRearrangement(),
    LocalMoments(),
)

LOCAL_ENGINES: tuple[LocalEngine, ...] = (
    *_LOCAL_ON_NUMBERS,
    LocalAdditive(),
    LocalProjection(_LOCAL_ON_NUMBERS),
    LocalEnumeration(),
)
"""The same methods for the neighbors of one dataset, under the same names."""


SMOOTH_ENGINES: tuple[SmoothEngine, ...] = (SmoothQuantiles(), SmoothEnumeration())
"""The methods for the local sensitivities of all datasets around one."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Of = TypeVar("Of", bound=_Named)


def check_method(method: Any, engines: Sequence[_Named] = ENGINES) -> None:
    """Raise InputError unless a method is "auto" or the name of an engine."""
    names = ("auto", *(engine.name for engine in engines))
    if not isinstance(method, str) or method not in names:
        raise InputError(
            f"unknown method {shown(method)}; choose one of {', '.join(map(repr, names))}"
        )


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
    names = ", ".join(query.name for query in problem.queries)
    return _first(ENGINES, method, lambda engine: engine.refusal(problem, options), names)


def choose_local(problem: LocalProblem, method: Any, options: Options) -> LocalEngine:
    """Return the local engine that solves a problem; see `choose`."""
    name = problem.query.name
    return _first(LOCAL_ENGINES, method, lambda engine: engine.refusal(problem, options), name)


def choose_smooth(problem: SmoothProblem, method: Any, options: Options) -> SmoothEngine:
    """Return the smooth engine that solves a problem; see `choose`."""
    name = problem.query.name
    return _first(SMOOTH_ENGINES, method, lambda engine: engine.refusal(problem, options), name)


@contextmanager
def memory_told(*queries: Query) -> Iterator[None]:
    """Turn a MemoryError, of the search or of a caller's code, into a TooLargeError."""
    try:
        yield
    except MemoryError as error:
        names = ", ".join(query.name for query in queries)
        raise TooLargeError(
            f"the search for {names} ran out of memory; choose a smaller size or distance, a "
            "coarser universe with fewer distinct values, or a smaller memory_limit, which refuses "
            "before it starts"
        ) from error


def _first(
    engines: Sequence[Of], method: Any, refuse: Callable[[Of], Refusal | None], names: str
) -> Of:
    """Return the first engine that a method allows and that does not refuse."""
    check_method(method, engines)
    refusals = []
    for engine in engines:
        if method not in ("auto", engine.name):
            continue
        refusal = refuse(engine)
        if refusal is None:
            return engine
        refusals.append(refusal)
    reasons = "; ".join(refusal.reason for refusal in refusals)
    too_large = any(refusal.too_large for refusal in refusals)
    kind = TooLargeError if too_large else NoEngineError
    raise kind(f"no engine takes {names} here: {reasons}")
