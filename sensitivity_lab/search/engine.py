"""What an engine is: one way to find the largest difference, with its own reach and cost.

An engine gets a problem and answers with a `Plan` or a `Refusal`. The plan keeps what the engine
found out while it decided, so that solving repeats nothing. A problem is global (all pairs of
neighbors), local (the neighbors of one dataset) or smooth (the local sensitivities of all datasets,
by their distance from one); an engine is of one of these kinds. `Run` limits the memory and the
time of a search; no limit changes its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sensitivity_lab.checks import (
    MORE_MEMORY,
    check_kind,
    check_running,
    check_seconds,
    check_whole,
    exceeding,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries import Answered, Query
from sensitivity_lab.running import workers
from sensitivity_lab.running.machine import Machine
from sensitivity_lab.universes.relations import Multiplicities


@dataclass(frozen=True)
class Run:
    """The memory and time that a search may use; neither changes its answer.

    A call that does not support a setting refuses it with an error. The number of processes and the
    progress bar are arguments of the calls themselves: `n_jobs` and `progress`.

    Parameters
    ----------
    memory_limit : int, default 4 GiB
        The largest number of bytes that the search may plan to use besides the universe and the
        dataset, with any engine. A larger search is refused before it starts; the error says what
        needs the memory. Limits below a MiB count as one MiB. A listed neighbor takes 256 bytes.
    time_limit : float, optional
        The most seconds that the call may search, with any engine. After that, a TooLargeError says
        how far it came.
    timeout : float, optional
        The most seconds *per dataset* that a caller's function may take; refused for other queries.
        After that, a QueryError
        names the dataset, even if the function catches every exception. Compiled code that does
        not return to Python can only be ended with its process: with ``n_jobs=2`` that is a worker,
        except for the first few datasets, and the error is a WorkerError. A timeout needs worker
        processes or the main thread, and does not work on Windows.

    Raises
    ------
    InputError
        If a limit is not a positive number.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain(range(50))
    >>> run = sl.Run(memory_limit=2**30, time_limit=10)
    >>> sl.global_sensitivity(universe, "sum", size=9, neighbors="bounded", run=run).value
    49.0
    """

    memory_limit: int = 4 * 2**30
    time_limit: float | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        most = check_whole("memory_limit", self.memory_limit, "a number of bytes, at least 1")
        object.__setattr__(self, "memory_limit", most)
        check_seconds.or_none("time_limit", self.time_limit)
        check_seconds.or_none("timeout", self.timeout)


def check_run(run: Any, queries: Iterable[Query] = ()) -> Run:
    """Return how to run a search; raise InputError if that is no `Run`, or its timeout is useless.

    Parameters
    ----------
    run : Run
        What the caller gave.
    queries : iterable of Query, default ()
        Those of the search; a timeout is for callers' functions.
    """
    checked: Run = check_kind("run", run, Run, "a Run, such as Run(memory_limit=2**30)")
    asked = list(queries)
    if checked.timeout is not None and asked and all(one.arithmetic == "exact" for one in asked):
        raise InputError(
            f"timeout is the most seconds per dataset of a caller's function, and {asked[0].name} "
            f"is none; for the whole search use Run(time_limit={checked.timeout:g})"
        )
    return checked


LEAST = 1 << 20
"""A search that plans for so many bytes is never refused."""


class Refusal(NamedTuple):
    """Why an engine does not accept a problem.

    Attributes
    ----------
    reason : str
        In words, with the numbers; ways out follow a semicolon.
    too_large : bool
        Whether the problem is of a kind that the engine covers, but too large.
    of_kind : bool
        Whether it holds for the query, or its universe, whatever the relation and the sizes.
    """

    reason: str
    too_large: bool = False
    of_kind: bool = False

    @classmethod
    def of_query(cls, engine: str, covers: str, query: str) -> Refusal:
        """Refuse a query of another kind than the engine covers."""
        return cls(f"{engine} covers {covers}, not {query}", of_kind=True)

    @property
    def rank(self) -> tuple[bool, bool]:
        """Where it stands among several: first what covers the query and names a way out."""
        return self.of_kind, "; " not in self.reason


@dataclass(frozen=True)
class Options:
    """How to run a search; no option changes its answer.

    Parameters
    ----------
    n_jobs : int or None, default None
        As in joblib.
    progress : bool or None, default None
        Whether to show a progress bar; None: on a terminal and past a second.
    run : Run
        The limits of memory and time.
    """

    n_jobs: int | None = None
    progress: bool | None = None
    run: Run = Run()

    @property
    def memory_limit(self) -> int:
        """The largest number of bytes that a search may plan to use in this process."""
        return self.run.memory_limit

    @property
    def timeout(self) -> float | None:
        """The most seconds that a caller's function may take for one dataset."""
        return self.run.timeout

    @property
    def machine(self) -> Machine:
        """What holds large arrays, and works on them."""
        return Machine(workers(self.n_jobs))

    def __post_init__(self) -> None:
        """Check the options."""
        check_running(self.n_jobs, self.progress)


@dataclass(frozen=True)
class Finding:
    """A pair that attains the maximum, before its value is computed.

    Attributes
    ----------
    x, y : ndarray of int64, shape (m,)
        How often each distinct value of the universe occurs in the datasets.
    answers : tuple of two answers, or None
        What a caller's function returned for x and y; None for queries that compute exactly.
    datasets_evaluated : int
    values : tuple of numbers, shape (m,), default ()
        Where the universe is an interval: the distinct values that x and y count, ascending, its
        bounds among them.
    """

    x: Multiplicities
    y: Multiplicities
    answers: tuple[Answered, Answered] | None
    datasets_evaluated: int
    values: tuple[Number, ...] = ()


class End(NamedTuple):
    """The least or the greatest answer of some neighbors of x.

    Attributes
    ----------
    answer : Fraction
        The exact answer; its square, if the query is a root.
    y : callable
        Returns a neighbor with that answer, by multiplicities.
    """

    answer: Fraction
    y: Callable[[], Multiplicities]


class Ends(NamedTuple):
    """The least and the greatest answer of the neighbors that a change of x leads to.

    Attributes
    ----------
    removed, added : int
        The change: how many records are removed from x, and how many are added to it.
    lower, upper : End
    """

    removed: int
    added: int
    lower: End
    upper: End


class BothEnds(NamedTuple):
    """What a theory knows about one dataset: its answer, and how far each change can move it.

    Local sensitivity is the larger move from `of_x`, and reach the two ends within each distance.

    Attributes
    ----------
    of_x : Fraction
        The exact answer on x; its square, if the query is a root.
    of_changes : iterable of Ends
        Those of the changes of the problem, made one after the other. A change stands for the
        neighbors that it adds to those of changes before it in the problem's list: a neighbor that
        several lead to may be among those of the first alone. An end that is not beyond those of
        changes of its level (`Relation.levels`) and of lower ones may be left out: any neighbor by
        the change stands for it, or there is no entry for the change at all.
    values : tuple of numbers, shape (m,), default ()
        As those of `Finding`.
    datasets_evaluated : int, default 0
    """

    of_x: Fraction
    of_changes: Iterable[Ends]
    values: tuple[Number, ...] = ()
    datasets_evaluated: int = 0


@dataclass(frozen=True, eq=False)
class LocalMaximumAtDistance:
    """A distance from x at which the largest local sensitivity within it is larger than before.

    Attributes
    ----------
    distance : int
        From x to z.
    gap : Difference
        The local sensitivity of z.
    pair : callable
        Returns z and the neighbor y that attains its local sensitivity, by multiplicities.
    """

    distance: int
    gap: Difference
    pair: Callable[[], tuple[Multiplicities, Multiplicities]]


@dataclass(frozen=True)
class LocalMaxima:
    """All distances up to some last one at which the largest local sensitivity rises.

    Attributes
    ----------
    maxima : tuple of LocalMaximumAtDistance
        Ascending; the first is at distance 0.
    farthest : int
        The largest distance that was looked at.
    datasets_evaluated : int
    """

    maxima: tuple[LocalMaximumAtDistance, ...]
    farthest: int
    datasets_evaluated: int


Findings = Sequence[Sequence[Finding]]
"""What a global search returns: a finding for every query (outer) and relation (inner)."""

F = TypeVar("F", covariant=True)
P = TypeVar("P", contravariant=True)


@dataclass(frozen=True)
class Cost:
    """What a search will cost, as far as that is known before it starts.

    Attributes
    ----------
    bytes : int
        The memory that it needs at its peak, from its plan to the result, beyond the universe and
        a dataset that is given: never below what is measured, nor far above it.
    lists_pairs : bool, default True
        Whether it lists the pairs that it finds; else it only says where their records lie.
    """

    bytes: int
    lists_pairs: bool = True


@dataclass(frozen=True)
class Plan(Generic[F]):
    """A search that an engine is ready to do.

    Attributes
    ----------
    solve : callable
        Does the search, and returns what is found: `Findings` for a global problem, a `Finding` for
        a local one, `LocalMaxima` for a smooth one.
    cost : Cost
    ends : callable, optional
        Of a local search whose answers are numbers: returns the `BothEnds`, from which `solve`
        follows.
    """

    solve: Callable[[], F]
    cost: Cost
    ends: Callable[[], BothEnds] | None = None


class Engine(Protocol[P, F]):
    """One way to find the maximum. Engines trust the problem; they validate nothing."""

    @property
    def name(self) -> str:
        """What `method` calls the engine: the file or folder of its theory."""

    @property
    def kind(self) -> Kind:
        """Which problems it solves."""

    @property
    def covers(self) -> str:
        """Which queries it covers, in words."""

    @property
    def reach(self) -> str:
        """Which neighbor relations it covers, in words."""

    def plan(self, problem: P, options: Options) -> Plan[F] | Refusal:
        """Return how the engine would solve a problem, or why it does not."""


AnyEngine = Engine[Any, Any]


def planned(engine: AnyEngine, problem: Any, options: Options) -> Plan[Any] | Refusal:
    """Return the plan of an engine; refuse one that needs more memory than the limit."""
    plan = engine.plan(problem, options)
    if isinstance(plan, Plan):
        return beyond_limit(engine.name, plan.cost.bytes, options) or plan
    return plan


def first_plan(engines: Sequence[Engine[P, F]], problem: P, options: Options) -> Plan[F] | Refusal:
    """Return the plan of the first engine that accepts a part of a problem, or all their reasons.

    An engine that covers tables, stacks or intervals hands over here what is about numbers.
    """
    refusals = []
    for engine in engines:
        plan = engine.plan(problem, options)
        if isinstance(plan, Plan):
            return plan
        refusals.append(plan)
    # Engines that do not cover the query have nothing to add to those that do.
    told = [one for one in refusals if not one.of_kind] or refusals
    reasons = "; ".join(one.reason for one in sorted(told, key=attrgetter("rank")))
    return Refusal(reasons, any(one.too_large for one in refusals))


def one_by_one(
    problem: Any, plan_of: Callable[[Any], Plan[Findings] | Refusal]
) -> Plan[Findings] | Refusal:
    """Plan a global search for each query and relation by itself."""
    plans: list[list[Plan[Findings]]] = []
    for query in problem.queries:
        plans.append([])
        for relation in problem.neighbors:
            plan = plan_of(problem.only((query,), (relation,)))
            if isinstance(plan, Refusal):
                return plan
            plans[-1].append(plan)
    most = max(plan.cost.bytes for of_query in plans for plan in of_query)
    return Plan(lambda: [[one.solve()[0][0] for one in some] for some in plans], Cost(most))


class OnParts(Generic[P, F]):
    """An engine that hands parts of its problem to others, with `first_plan`.

    Parameters
    ----------
    engines : sequence of Engine
        The engines for the parts, in order of preference.
    """

    def __init__(self, engines: Sequence[Engine[P, F]]) -> None:
        self._engines = tuple(engines)


def beyond_limit(name: str, needed: int, options: Options) -> Refusal | None:
    """Refuse a search that needs more memory than the limit; None if it fits.

    All engines are compared with the limit here. A call takes some `LEAST` whatever it searches, so
    a smaller limit counts as that.
    """
    if needed <= max(options.memory_limit, LEAST):
        return None
    return Refusal(
        f"{name} would need about {exceeding(needed, options.memory_limit)}; choose a smaller size "
        f"or distance, a coarser universe with fewer distinct values, or {MORE_MEMORY}",
        too_large=True,
    )


def local_plan(problem: LocalProblem, ends: Callable[[], BothEnds], cost: Cost) -> Plan[Finding]:
    """Return the plan of a local search that finds both ends of every change."""
    return Plan(lambda: furthest(problem, ends()), cost, ends)


def ends_of(plan: Plan[Finding]) -> Callable[[], BothEnds]:
    """Return what finds both ends, of a local search for answers that are numbers."""
    if plan.ends is None:
        raise ValueError("a local engine on numbers finds both ends")
    return plan.ends


def furthest(problem: LocalProblem, both: BothEnds) -> Finding:
    """Return x and the neighbor whose answer is furthest from that of x, the first of equals."""
    lower: End | None = None
    upper: End | None = None
    for ends in both.of_changes:
        if lower is None or ends.lower.answer < lower.answer:
            lower = ends.lower
        if upper is None or ends.upper.answer > upper.answer:
            upper = ends.upper
    if lower is None or upper is None:
        raise ValueError("a local problem has a change")
    down, up = (Difference(both.of_x, end.answer, problem.query.root) for end in (lower, upper))
    return Finding(problem.x, (upper if up >= down else lower).y(), None, 0, both.values)
