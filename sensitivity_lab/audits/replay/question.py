"""What is asked of a function whose mechanisms are recorded, and the rows that answer it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.inputs import check_several, check_values, vectors
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.checks import check_callable, check_flag, check_running, check_text
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.norms import Norm, check_norm
from sensitivity_lab.results.literals import brief, short_literal
from sensitivity_lab.universes.relations import (
    Relation,
    as_relation,
    show,
)

from .again import check_again, check_evidence
from .beside import Beside, compare_after_one_history
from .histories import heeds_releases
from .one_vector import decisive_row
from .replay import replayed
from .returned import parts
from .runs import Recorder, Run

_WRONG_VALUE = (
    "; the truth is 0 and the claim is not, so perhaps the wrong thing was recorded: see value="
)


@dataclass(frozen=True)
class Question:
    """The datasets to try, which of them are neighbors, and how their runs are compared.

    Attributes
    ----------
    datasets : list of list
    among : str
        The datasets in words.
    relation : Relation
    norm : {"L1", "L2", "Linf"}
    progress : bool, optional
    """

    datasets: list[list[Any]]
    among: str
    relation: Relation
    norm: Norm
    progress: bool | None


@dataclass(frozen=True)
class Replay:
    """Whether and how runs are replayed.

    Attributes
    ----------
    wanted : bool or None
        None: only where a run has several claims, or later steps depend on earlier releases.
    histories : int or list of tuple
    budget : number, optional
        What a whole run may spend, if it is replayed.
    refusal : str, default ""
        Why runs that need a replay cannot be judged.
    """

    wanted: bool | None
    histories: int | list[tuple[Any, ...]]
    budget: Number | None
    refusal: str = ""


def check_question(
    function: Any,
    values: Any,
    sizes: Any,
    neighbors: Any,
    norm: Any,
    every_order: Any,
    where: Any,
    subject: Any,
    progress: Any,
) -> Question:
    """Return what is asked, or raise InputError."""
    relation = as_relation(neighbors)
    if relation.exactly:
        raise InputError(f"neighbors must be a relation of at most k, got {relation}")
    check_norm(norm)
    check_callable("function", function, "a function of a list")
    if where is not None:
        check_callable("where", where, "a function of a dataset, or None")
    if subject is not None:
        check_text("subject", subject, "a text")
    every_order = check_flag("every_order", every_order)
    check_running(None, progress)
    universe = check_values(values)
    wanted = check_several("sizes", sizes, "a number of records, at least 0")
    datasets = [x for x in vectors(universe, wanted, every_order) if _accepted(where, x)]
    if not datasets:
        raise InputError("where must accept at least one dataset, but it accepts none")
    order = "in every order" if every_order else "in one order"
    among = f"values {brief(universe)}, sizes {show(wanted)} {order}"
    among += "" if where is None else f", {len(datasets):,} datasets that `where` accepts"
    return Question(datasets, among, relation, norm, progress)


def answered(
    question: Question,
    recorder: Recorder,
    replay: Replay,
    tolerance: Number,
    subject: str,
    wrong: str,
) -> AuditReport:
    """Run a function on all datasets, and return the report.

    Parameters
    ----------
    question : Question
        The datasets, and which of them are neighbors.
    recorder : Recorder
        The function and the tape; its mechanisms are recorded while this runs.
    replay : Replay
        Whether and how runs are replayed.
    tolerance : number
        In units in the last place of the truth.
    subject : str
        The name of the function.
    wrong : str
        What to do where noise is added to an answer that was not recorded.

    Raises
    ------
    QueryError, TooLargeError
        See `audit_recorded`.
    """
    relation, norm, progress = question.relation, question.norm, question.progress
    k = relation.k
    tried = running.tracked(question.datasets, unit="datasets", progress=progress)
    runs = [recorder.run(x) for x in tried]
    kept = check_again(recorder, runs, progress)
    beside = Beside(recorder, runs, wrong)
    rows: tuple[AuditRow, ...]
    wanted = _needs_replay(recorder, runs) if replay.wanted is None else replay.wanted
    if wanted and replay.refusal:
        raise QueryError(replay.refusal)
    if wanted:
        rows, told, notes, unjudged = replayed(
            recorder, runs, relation, norm, replay.histories, replay.budget, tolerance, progress,
            beside,
        )  # fmt: skip
    else:
        whole = replay.budget is not None
        row, told = decisive_row(runs, relation, norm, tolerance, progress, whole)
        check_evidence(recorder, [row], runs)
        compare_after_one_history(beside, relation, progress)
        rows, notes, unjudged = (row, *beside.row(k)), (), beside.notes
    told += _WRONG_VALUE if all(map(_says_nothing, rows)) else ""
    setting = f"{relation}; norm {norm}; {question.among}; implementation{told}"
    unjudged = (*unjudged, *kept)
    changing = _changing_epsilon(runs, relation)
    return AuditReport(
        subject,
        rows,
        setting,
        (*notes, *unjudged, *_told(replay, k), *changing),
        (*unjudged, *changing),
    )


def _told(replay: Replay, k: int) -> tuple[str, ...]:
    """Return what is promised at a distance above 1."""
    if k > 1 and replay.budget is None:
        return (
            f"a claim is for k = 1, and counts {k} times: at this distance each step may lose {k} "
            "times its epsilon; say budget= for what a run may lose between these neighbors",
        )
    if k > 1 and replay.wanted:
        return (
            f"a claim is for k = 1, and counts {k} times at a step; the budget is what the run may "
            "lose between these neighbors, and counts once",
        )
    return ()


def _changing_epsilon(runs: Sequence[Run], relation: Relation) -> tuple[str, ...]:
    """Return a note if a mechanism shows another epsilon where perhaps a neighbor does not."""
    first: dict[Hashable, Any] = {}
    for run in runs:
        for place, seen in enumerate(run.seen):
            size = len(run.dataset) if relation.keeps_size else None
            key = run.sites[place], place, size
            if parts(first.setdefault(key, seen)) != parts(seen):
                return (
                    f"the epsilon of {run.sites[place]} changes with the data, and is not "
                    "compared; say budget= or epsilon= to compare it",
                )
    return ()


def _says_nothing(row: AuditRow) -> bool:
    """Tell whether the truth of a row is 0 and its claim is not, whatever the dataset."""
    return row.exact == 0 and bool(row.claimed) and not row.claims


def _needs_replay(recorder: Recorder, runs: Sequence[Run]) -> bool:
    """Tell whether a run has several claims, or its later steps depend on earlier releases."""
    if any(len({step.claim for step in run.steps}) > 1 for run in runs):
        return True
    return heeds_releases(recorder, runs)


def _accepted(where: Callable[[list[Any]], bool] | None, x: list[Any]) -> bool:
    """Tell whether a function is defined on a dataset, or raise QueryError."""
    try:
        return where is None or bool(where(x))
    except Exception as error:
        raise QueryError(
            f"where, on {short_literal(x)}, raised {type(error).__name__}: {error}"
        ) from error
