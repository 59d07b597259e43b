"""Replay: every dataset's releases, and drawn ones, are fed to the runs on its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.audits.inputs import no_neighbors
from sensitivity_lab.audits.metrics import distances
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.universes.relations import Relation

from .again import check_evidence, check_same
from .beside import Beside
from .histories import histories_of
from .rows import ReplayRow
from .runs import NO_CALL, Recorder, Run
from .steps import Worst

RUN_LIMIT = 1_000_000
"""The largest number of runs that are replayed."""


def replayed(
    recorder: Recorder,
    runs: Sequence[Run],
    relation: Relation,
    norm: Norm,
    histories: Any,
    budget: Number | None,
    tolerance: Number,
    progress: bool | None,
    beside: Beside,
) -> tuple[tuple[ReplayRow, ...], str, tuple[str, ...], tuple[str, ...]]:
    """Return the rows of a replay, what the setting says of it, notes, and what is not judged.

    What is returned is compared by `beside`, in the same runs.
    """
    if not any(run.steps for run in runs):
        raise QueryError(
            f"on {short_literal(runs[0].dataset)} the library called no recorded mechanism; "
            f"{NO_CALL}"
        )
    k = relation.k
    starts = [(), *histories_of(histories, runs)]
    near = _neighbors(runs, relation)
    worst = Worst(norm, k)
    total = 0
    for start in starts:
        own = [recorder.run(run.dataset, start) for run in runs] if start else list(runs)
        total += _see_neighbors(recorder, own, near, worst, beside, progress) + len(own)
    rows = worst.rows(tolerance, budget)
    if not rows:
        alone = next(run for run in runs if run.steps)
        worst.see(alone, alone)
        rows = worst.rows(tolerance, budget)
    check_evidence(recorder, rows, runs)
    drawn = f"{len(starts) - 1} more {'history' if len(starts) == 2 else 'histories'}"
    text = f"; replayed with the releases of each dataset and {drawn} ({total:,} runs)"
    if any(row.claims for row in rows):
        text += "; the claim depends on the data"
    if worst.loss:
        text += f"; the largest loss of a whole run is {worst.loss}"
    spent = (worst.unjudged,) if worst.unjudged and budget is None else ()
    notes, unjudged = ((), spent) if worst.overspent else (spent, ())
    return (*rows, *beside.row(k)), text, notes, (*unjudged, *beside.notes)


def _neighbors(runs: Sequence[Run], relation: Relation) -> list[list[int]]:
    """Return, by dataset, the places of the datasets at most k apart from it, but for itself."""
    near = distances(relation.metric, [run.dataset for run in runs])
    found: list[list[int]] = [[] for _ in runs]
    alone = True
    for x in range(len(runs) - 1):
        row = near.row(x)
        for later in np.flatnonzero(row <= near.limit(relation.k)).tolist():
            alone &= not row[later]
            found[x].append(x + 1 + later)
            found[x + 1 + later].append(x)
    if alone:
        raise no_neighbors([run.dataset for run in runs], relation.metric, relation.k)
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
        history = own[places[0]].releases
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
