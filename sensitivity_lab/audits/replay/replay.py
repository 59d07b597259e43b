"""Replay: every dataset's releases, and drawn ones, are fed to the runs on its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.pairs import neighbors
from sensitivity_lab.audits.question import Question
from sensitivity_lab.audits.records import distances
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import short_literal

from .again import check_evidence, check_same
from .beside import Beside
from .histories import histories_of
from .runs import NO_CALL, Recorder, Run
from .steps import Worst

RUN_LIMIT = 1_000_000
"""The largest number of runs that are replayed."""


@dataclass(frozen=True)
class Replay:
    """Whether and how runs are replayed.

    Attributes
    ----------
    wanted : bool or None
        None: only where a run has several claims, or later steps depend on earlier releases.
    histories : int or list of tuple
    budget : number, optional
        The budget of a whole run, if it is replayed.
    """

    wanted: bool | None
    histories: int | list[tuple[Any, ...]]
    budget: Number | None


def replayed(
    question: Question,
    recorder: Recorder,
    runs: Sequence[Run],
    replay: Replay,
    beside: Beside,
) -> tuple[tuple[AuditRow, ...], str, tuple[str, ...], tuple[str, ...]]:
    """Return the rows of a replay, what the setting says of it, notes, and what is not judged.

    What is returned is compared by `beside`, in the same runs.
    """
    if not any(run.steps for run in runs):
        raise QueryError(
            f"on {short_literal(runs[0].dataset)} the library called no recorded mechanism; "
            f"{NO_CALL}"
        )
    [k] = question.limits
    starts = [(), *histories_of(replay.histories, runs)]
    near = _places_of_neighbors(runs, question)
    worst = Worst(question.outputs, int(k))
    total = 0
    for start in starts:
        own = [recorder.run(run.dataset, start) for run in runs] if start else list(runs)
        total += _see_neighbors(recorder, own, near, worst, beside, question.progress) + len(own)
    rows = worst.rows(question.tolerance, replay.budget)
    if not rows:  # only datasets without calls have neighbors: a step is shown beside itself
        alone = next(run for run in runs if run.steps)
        worst.see(alone, alone)
        rows = worst.rows(question.tolerance, replay.budget)
    check_evidence(recorder, rows, runs)
    drawn = f"{len(starts) - 1} more {'history' if len(starts) == 2 else 'histories'}"
    text = f"; replayed with the releases of each dataset and {drawn} ({total:,} runs)"
    if any(row.claims for row in rows):
        text += "; the claim depends on the data"
    if worst.loss:
        bound = "at most " if worst.shares else ""  # of a selection, epsilon is a bound
        text += f"; the largest loss of a whole run is {bound}{worst.loss}"
    spent = (worst.unjudged,) if worst.unjudged and replay.budget is None else ()
    notes, unjudged = ((), spent) if worst.overspent else (spent, ())
    return rows, text, (*worst.shares, *notes), unjudged


def _places_of_neighbors(runs: Sequence[Run], question: Question) -> list[list[int]]:
    """Return, by dataset, the places of the other datasets at most k apart from it."""
    datasets = [run.dataset for run in runs]
    found: list[list[int]] = [[] for _ in runs]
    for x, y, _ in neighbors(question.inputs, datasets, question.limits, measured=distances):
        found[x].append(y)
        found[y].append(x)
    return found


def _see_neighbors(
    recorder: Recorder,
    own: Sequence[Run],
    near: Sequence[Sequence[int]],
    worst: Worst,
    beside: Beside,
    progress: bool | None,
) -> int:
    """Run all neighbors of each dataset with its releases, compare, and return how many ran.

    Datasets that release the same are neighbors with a common history: each run is made once.
    """
    alike: dict[Any, list[int]] = {}
    for x, run in enumerate(own):
        alike.setdefault(run.released, []).append(x)
    needed = [{y for x in places for y in (x, *near[x])} for places in alike.values()]
    number = sum(map(len, needed))
    if number > RUN_LIMIT:
        raise TooLargeError(
            f"{len(own):,} datasets make {number:,} runs with the releases of others, more than "
            f"the {RUN_LIMIT:,} that are replayed; take fewer values, smaller sizes or "
            "every_order=False"
        )
    for places in running.tracked(list(alike.values()), unit="histories", progress=progress):
        history = own[places[0]].releases  # of all of these
        again: dict[int, Run] = {}
        for x in places:
            for y in (x, *near[x]):
                if y not in again:
                    again[y] = recorder.run(own[y].dataset, history)
            check_same(own[x], again[x])
            for y in near[x]:
                worst.see(own[x], again[y])
                beside.see(own[x], again[y])
    return number
