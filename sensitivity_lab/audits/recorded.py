"""Audits of any library that adds noise: the claims it hands to its mechanisms, and the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.checks import (
    check_callable,
    check_flag,
    check_running,
    check_text,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.norms import Norm, check_norm
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.results.literals import brief, short_literal
from sensitivity_lab.universes.relations import (
    Bounded,
    Relation,
    SymmetricDifference,
    Unbounded,
    as_relation,
    show,
)

from .claims import ROUNDING_ULPS, check_claim, check_tolerance
from .inputs import check_several, check_values, vectors
from .recording import Call, recording
from .replay.histories import check_histories, heeds_releases
from .replay.one_vector import decisive_row
from .replay.replay import replayed
from .replay.runs import Recorder, Run
from .report import AuditReport, AuditRow

_METRIC_OF = {
    Bounded: "change_one",
    Unbounded: "add_or_remove",
    SymmetricDifference: "symmetric",
}

_WRONG_VALUE = (
    "; the truth is 0 and the claim is not, so perhaps the wrong thing was recorded: see value="
)


@with_numpy_defaults
def audit_recorded(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *targets: Any,
    neighbors: Any,
    norm: Norm = "L1",
    every_order: bool = True,
    where: Callable[[list[Any]], bool] | None = None,
    select: Callable[[list[Call]], list[Call]] = list,
    replay: bool | None = None,
    histories: int | Iterable[Sequence[Any]] = 3,
    budget: int | float | Fraction | Decimal | None = None,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a library claims with the exact one of what it computes.

    Parameters
    ----------
    function : callable
        Takes a dataset, which is a list of records, and calls the library on it.
    values : iterable
        The universe of records; include NaN if records can be missing.
    sizes : int or iterable of int
        The numbers of records; both datasets of a pair have one of these sizes.
    *targets : str, class or function
        The library's mechanisms, as `recording` takes them.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors, at a distance of at most k; a name means k = 1. What a library
        claims is for k = 1, so its claim at k is k times as large.
    norm : {"L1", "L2", "Linf"}, default "L1"
        The norm of the difference of two answers, where the library hands over several values.
    every_order : bool, default True
        Whether to try datasets in every order of their records, or only in the order of `values`.
    where : callable, optional
        Tells whether the function is defined on a dataset; other datasets are left out.
    select : callable, optional
        Returns which of the calls made on a dataset to audit, for a library that hands over several
        answers with different claims; by default all calls.
    replay : bool, optional
        Whether to feed the releases of each dataset to the runs on its neighbors, and to compare
        step by step, each with its own claim. If not, all values of a run are one vector beside one
        claim. By default it depends on the function: a replay where a run claims several
        sensitivities, where a later step depends on an earlier release, or where the shares of a
        budget are known, by `epsilon` or by `budget`. One vector is right where each call of a run
        spends the whole budget; if the setting says so, and it does not, give the `budget`.
    histories : int or iterable of sequences, default 3
        Further releases that are fed to all runs of a replay, since a claim must hold for every
        history: the number of histories to draw, the same in every audit, or the histories
        themselves. Steps beyond the end of a history release their true values.
    budget : int, float, Fraction or Decimal, optional
        The epsilon that a whole run may spend. The report then has a row for it: the truth is the
        largest loss, the sum over the steps of epsilon times difference over claim. Each epsilon is
        found by the option `epsilon`, which is then "epsilon" by default.
    subject : str, optional
        The name of the function in the report; by default its own name.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal, after one second.
    **options
        The options of `recording`: `method`, `sensitivity`, `value` and `epsilon`.

    Returns
    -------
    AuditReport
        It has one row: the pair of neighbors with the largest ratio of truth to claim. If the
        claims on both neighbors differ, the smaller one counts. Such a pair is reported even where
        no truth exceeds a claim, as a "data-dependent claim": the scale of the noise can be seen in
        a release, and tells the neighbors apart. So noise scaled to the local sensitivity is never
        sound. If every truth is 0 and no claim is, the setting says that perhaps the wrong thing
        was recorded.

        A replay has a row per step, which names the mechanism, where it was called, and what was
        released before. If two neighbors, after the same releases, call mechanisms in other places
        or another number of times, a row says so: "not aligned", which is not sound.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails on a dataset, calls no mechanism, draws at random beside the recorded
        mechanisms, or, with ``replay=False``, claims several sensitivities on one dataset (choose
        some of the calls with `select`).
    TooLargeError
        If there are too many datasets or pairs; the message says how many.

    Notes
    -----
    With m values there are ``m**s`` datasets of size s, and the function is called once on each.
    All values that reach the mechanism on a dataset form one vector, because the scale of noise
    that is added to each entry is calibrated to the norm of the difference of such vectors. Whether
    later steps depend on earlier releases is found out with two more runs on each dataset with
    several calls.

    With N datasets of at most p neighbors, H further histories and a replay, there are at most
    ``N (p + 1) (H + 1)`` more runs, and fewer where datasets release the same. A drawn release lies
    between the smallest and the largest true value of its step, which truncated noise reaches as
    well; pass `histories` of your own for releases beyond. A violation after some history is final.

    Examples
    --------
    >>> class Mechanism:
    ...     def __init__(self, sensitivity):
    ...         self.sensitivity = sensitivity
    ...
    ...     def randomise(self, value):
    ...         raise NotImplementedError("no noise in an example")
    >>> def mean(x):
    ...     return Mechanism(1 / len(x)).randomise(sum(x) / len(x))
    >>> audit_recorded(mean, [0, 1], 2, Mechanism, neighbors="bounded")
    Audit of mean: tight
      setting  bounded, at most 1; norm L1; values (0, 1), sizes (2,) in every order; implementation
      k  claimed  truth      verdict
      1  0.5      1/2 = 0.5  tight
      x  (0, 0)  ->  0.0
      y  (0, 1)  ->  0.5
    """
    relation, metric = _check_relation(neighbors)
    check_norm(norm)
    _check_functions(function, select, where, subject)
    every_order = check_flag("every_order", every_order)
    check_running(None, progress)
    replay = None if replay is None else check_flag("replay", replay)
    budget = None if budget is None else _check_budget(budget, replay, norm)
    fed = check_histories(histories)
    universe = check_values(values)
    wanted = check_several("sizes", sizes, "a number of records, at least 0")
    datasets = [x for x in vectors(universe, wanted, every_order) if _accepted(where, x)]
    if not datasets:
        raise InputError("where must accept at least one dataset, but it accepts none")
    tolerance = check_tolerance(tolerance_ulps)
    if budget is not None:
        options.setdefault("epsilon", "epsilon")
    with recording(*targets, **options) as tape:
        recorder = Recorder(function, tape, select)
        tried = running.tracked(datasets, unit="datasets", progress=progress)
        runs = [recorder.run(x) for x in tried]
        if replay is None:
            # Calls that tell their shares of a budget are judged one by one, each with its claim.
            shared = budget is not None or options.get("epsilon") is not None
            replay = shared or _needs_replay(recorder, runs)
        rows: tuple[AuditRow, ...] = ()
        if replay:
            rows, told = replayed(
                recorder, runs, metric, norm, relation.k, fed, budget, tolerance, progress
            )
    if not replay:
        row, told = decisive_row(runs, metric, norm, relation.k, tolerance, progress)
        rows = (row,)
    order = "in every order" if every_order else "in one order"
    among = f"values {brief(universe)}, sizes {show(wanted)} {order}"
    among += "" if where is None else f", {len(datasets):,} datasets that `where` accepts"
    told += _WRONG_VALUE if all(row.exact == 0 and row.claimed for row in rows) else ""
    setting = f"{relation}; norm {norm}; {among}; implementation{told}"
    return AuditReport(str(subject or getattr(function, "__name__", "function")), rows, setting)


def _needs_replay(recorder: Recorder, runs: Sequence[Run]) -> bool:
    """Tell whether a run has several claims, or its later steps depend on earlier releases."""
    if any(len({step.claim for step in run.steps}) > 1 for run in runs):
        return True
    return heeds_releases(recorder, runs)


def _check_budget(budget: Any, replay: bool | None, norm: Norm) -> Any:
    """Return a budget, or raise InputError."""
    if replay is False:
        raise InputError("budget is for a replay; leave out replay=False, or the budget")
    if norm == "L2":
        raise InputError("budget adds losses of noise for norm 'L1' or 'Linf', got norm 'L2'")
    try:
        return check_claim(budget, 1)
    except InputError as error:
        raise InputError(str(error).replace("the claim at distance 1", "budget")) from None


def _check_relation(neighbors: Any) -> tuple[Relation, str]:
    """Return a relation and the name of its metric, or raise InputError."""
    relation = as_relation(neighbors)
    metric = _METRIC_OF.get(type(relation))
    if metric is None or relation.exactly:
        raise InputError(f"neighbors must be a relation of at most k, got {relation}")
    return relation, metric


def _check_functions(function: Any, select: Any, where: Any, subject: Any) -> None:
    """Raise InputError unless the functions can be called and the subject is a text."""
    check_callable("function", function, "a function of a list")
    check_callable("select", select, "a function of a list of calls")
    if where is not None:
        check_callable("where", where, "a function of a dataset, or None")
    if subject is not None:
        check_text("subject", subject, "a text")


def _accepted(where: Callable[[list[Any]], bool] | None, x: list[Any]) -> bool:
    """Tell whether a function is defined on a dataset, or raise QueryError."""
    try:
        return where is None or bool(where(x))
    except Exception as error:
        raise QueryError(
            f"where, on {short_literal(x)}, raised {type(error).__name__}: {error}"
        ) from error
