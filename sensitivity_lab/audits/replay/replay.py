"""Replay: every dataset's releases, and drawn ones, are fed to the runs on its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.driven.stops import Stopwatch
from sensitivity_lab.audits.question import Question
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import short_literal

from .again import check_evidence, check_same
from .beside import Beside, compare_after_histories, fed
from .histories import LEAST, SECONDS, Histories, histories_of, number_of
from .runs import NO_CALL, Recorder, Run
from .steps import Worst

RUN_LIMIT = 1_000_000
"""The largest number of runs that are replayed."""


def replayed(
    question: Question,
    recorder: Recorder,
    runs: Sequence[Run],
    histories: Histories,
    budget: Number | None,
    beside: Beside,
) -> tuple[tuple[AuditRow, ...], str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the rows of a replay, what the setting says of it, notes, what is open and assumed.

    What is returned is compared by `beside`. A whole run may spend the `budget`, if there is one.
    Runs that only hand their releases on decide nothing by them, so that no history is needed. Of
    others, histories show what they show, and prove nothing of the rest.
    """
    if not any(run.steps for run in runs):
        raise QueryError(
            f"on {short_literal(runs[0].dataset)} the library called no recorded mechanism; "
            f"{NO_CALL}"
        )
    [k] = question.limits
    near = _places_of_neighbors(question)
    worst = Worst(question.outputs, int(k))
    several = any(len(run.sites) > 1 or any(run.choices) for run in runs)
    number = number_of(histories, runs)
    settled = beside.sees_all_left_alone(near)
    if number is not None and (
        not several or (settled and histories is None and not any(map(_selects, runs)))
    ):
        for x, places in enumerate(near):
            for y in places:
                worst.see(runs[x], runs[y])
        if not settled:
            number = compare_after_histories(beside, near, max(number, 1))
        text = ""
    else:
        text, number = _feed(question, recorder, runs, histories, near, worst, beside)
    rows = worst.rows(question.tolerance, budget)
    if not rows:  # only datasets without calls have neighbors: a step is shown beside itself
        alone = next(run for run in runs if run.steps)
        worst.see(alone, alone)
        rows = worst.rows(question.tolerance, budget)
    check_evidence(recorder, rows, runs)
    if worst.divided:
        text += "; the claim depends on the data"
    elif not several and len({Fraction(step.claim) for run in runs for step in run.steps}) > 1:
        text += "; the claim changes with the dataset"
    if worst.loss:
        bound = "at most " if worst.shares else ""  # of a selection, epsilon is a bound
        text += f"; the largest loss of a whole run is {bound}{worst.loss}"
    spent = (worst.unjudged,) if worst.unjudged and budget is None else ()
    notes, unjudged = ((), spent) if worst.overspent else (spent, ())
    return rows, text, (*worst.shares, *notes), unjudged, () if settled else (_assumed(number),)


def _selects(run: Run) -> bool:
    return any(run.choices)


def _assumed(number: int) -> str:
    """Return what so many histories leave open."""
    return (
        f"what is done with releases was the same on neighbors after {number:,} drawn or given "
        f"histories; what happens once in {max(number, 1):,} may escape them"
    )


def _feed(
    question: Question,
    recorder: Recorder,
    runs: Sequence[Run],
    histories: Histories,
    near: Sequence[Sequence[int]],
    worst: Worst,
    beside: Beside,
) -> tuple[str, int]:
    """Feed the releases of each dataset, and further ones, to its neighbors; say how many."""
    watch = Stopwatch()
    # What a selection can choose is a release; a drawn number may be one that no noise gives.
    strict = histories is not None or all(
        choice is not None for run in runs for choice in run.choices
    )
    starts = [(), *histories_of(histories, runs)]
    total, number = 0, -1
    for start in starts:
        if histories is None and number >= LEAST and watch.over(SECONDS):
            break
        own: list[Run | None] = [*runs]
        if start and strict:
            own = [recorder.run(run.dataset, start) for run in runs]
        elif start:
            own = [fed(recorder, run, start) for run in runs]
        made = [run for run in own if run is not None]
        if len(made) < len(runs):
            beside.all_compared &= not made
            continue
        total += _see_neighbors(recorder, made, near, worst, beside, question.progress) + len(own)
        number += 1
    drawn = f"{number} more {'history' if number == 1 else 'histories'}"
    return f"; replayed with the releases of each dataset and {drawn} ({total:,} runs)", number


def _places_of_neighbors(question: Question) -> list[list[int]]:
    """Return, by dataset, the places of the other datasets at most k apart from it."""
    found: list[list[int]] = [[] for _ in question.datasets]
    for x, y, _ in question.neighbors():
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
