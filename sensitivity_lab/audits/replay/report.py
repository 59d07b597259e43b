"""The report on a function whose mechanisms are recorded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.claims import check_tolerance
from sensitivity_lab.audits.question import (
    Question,
    as_relation_of_at_most,
    naming,
    vectors_over,
)
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.returned import parts
from sensitivity_lab.audits.row import UNSOUND
from sensitivity_lab.audits.subjects import check_subject
from sensitivity_lab.checks import check_callable, check_norm, check_running
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import METRICS

from .again import check_again
from .beside import Beside
from .histories import Histories
from .replay import replayed
from .runs import Recorder, Run

_WRONG_VALUE = (
    "; the truth is 0 and the claim is not, so perhaps the wrong thing was recorded: see value="
)


def check_question(
    function: Any,
    universe: Any,
    size: Any,
    neighbors: Any,
    norm: Any,
    every_order: Any,
    where: Any,
    subject: Any,
    tolerance_ulps: Any,
    progress: Any,
) -> Question:
    """Return the question about a function whose mechanisms are recorded, or raise InputError."""
    relation = as_relation_of_at_most(neighbors)
    check_norm(norm)
    check_callable("function", function, "a function of a list")
    if where is not None:
        check_callable("where", where, "a function of a dataset, or None")
    name = check_subject(subject, function)
    check_running(None, progress)
    tolerance = check_tolerance(tolerance_ulps)
    datasets, among = vectors_over(universe, size, every_order)
    if where is not None:
        datasets = [x for x in datasets if _accepted(where, x)]
        among += f", {len(datasets):,} datasets that `where` accepts"
        if not datasets:
            raise InputError("where must accept at least one dataset, but it accepts none")
    return Question(
        subject=name,
        datasets=datasets,
        among=among,
        inputs=relation.metric,
        outputs=METRICS[norm],
        metrics=f"{relation}; norm {norm}",
        limits=(relation.k,),
        claims=(),
        tolerance=tolerance,
        progress=progress,
    )


def _accepted(where: Callable[[list[Any]], Any], x: list[Any]) -> bool:
    """Tell whether a function is defined on a dataset, or raise QueryError."""
    with naming("where, on {}, raised", x):
        return bool(where(x))


def reported(
    question: Question,
    recorder: Recorder,
    histories: Histories,
    budget: Number | None,
) -> AuditReport:
    """Run a function on all datasets, and return the report.

    Parameters
    ----------
    question : Question
        The datasets, and which of them are neighbors.
    recorder : Recorder
        The function and the tape; its mechanisms are recorded while this runs.
    histories : int, list of tuple, or None
        What is fed to them.
    budget : number, optional
        What a whole run may spend.

    Raises
    ------
    QueryError, TooLargeError
        See `audit_recorded`.
    """
    [k] = question.limits
    tried = running.tracked(question.datasets, unit="datasets", progress=question.progress)
    runs = [recorder.run(x) for x in tried]
    kept = check_again(recorder, runs, question.progress)
    beside = Beside(recorder, runs)
    rows, told, notes, spent, assumed = replayed(
        question, recorder, runs, histories, budget, beside
    )
    rows = (*rows, *beside.row(k))
    told += _WRONG_VALUE if all(row.says_nothing for row in rows) else ""
    unjudged = (*spent, *beside.notes, *kept)
    changing = _changing_epsilon(runs, question)
    left_open = (*unjudged, *changing)
    if left_open or any(row.verdict in UNSOUND for row in rows):
        assumed = ()  # something else decides the verdict
    return question.report(
        rows,
        f"implementation{told}",
        (*notes, *unjudged, *_told_of_distance(budget, k), *changing, *assumed),
        left_open,
        assumed,
    )


def _told_of_distance(budget: Number | None, k: Number) -> tuple[str, ...]:
    """Return what is promised at a distance above 1."""
    if k <= 1:
        return ()
    if budget is None:
        return (
            f"a claim is for k = 1, and counts {k} times: at this distance each step may lose {k} "
            "times its epsilon; pass budget= for what a run may lose between these neighbors",
        )
    return (
        f"a claim is for k = 1, and counts {k} times at a step; the budget is what the run may "
        "lose between these neighbors, and counts once",
    )


def _changing_epsilon(runs: Sequence[Run], question: Question) -> tuple[str, ...]:
    """Return a note if a mechanism shows another epsilon where perhaps a neighbor does not."""
    first: dict[Hashable, Any] = {}
    for run in runs:
        for place, seen in enumerate(run.seen):
            size = len(run.dataset) if question.inputs.resizes is False else None
            key = run.sites[place], place, size
            if parts(first.setdefault(key, seen)) != parts(seen):
                return (
                    f"the epsilon of {run.sites[place]} changes with the data, and is not "
                    "compared; pass budget= or epsilon= to compare it",
                )
    return ()
