"""Runs made again with the same releases: where they differ, a verdict would be a matter of chance.

A function may draw at random before its mechanism, as a sum of some records drawn at random does.
Its sensitivity is that of a coupling, which two runs cannot show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sensitivity_lab import running
from sensitivity_lab.audits.randomness import PROBES, RANDOM, probes
from sensitivity_lab.audits.row import FAILING, AuditRow
from sensitivity_lab.errors import QueryError
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

from .runs import Recorder, Run

LEAST = 32
"""At least so many runs are made again, unless there are few datasets."""

AGAIN = 8
"""How often the runs of the evidence are made again at the end."""


NOT_AGAIN = (
    "some runs make no calls or fail when they are made again, as with a cache or an accountant, "
    "so what is kept between runs is not judged"
)


def check_again(recorder: Recorder, runs: Sequence[Run], progress: bool | None) -> tuple[str, ...]:
    """Raise QueryError if a dataset's run, made again with the same releases, is another one.

    Return a note if some runs could not be compared. The runs are made again backward first, so
    that what is kept between runs comes from other runs. Each dataset is run again if there are at
    most `PROBES`, and `LEAST` runs are made if there are fewer datasets than that. They are the
    same in every audit.
    """
    # A run in a process of its own is the first one there: once more is all that can be seen.
    most = len(runs) if recorder.there else min(PROBES, max(LEAST, len(runs)))
    places = list(probes([run.dataset for run in runs], most))
    again = running.tracked(places, unit="probes", progress=progress)
    compared = [_check(recorder, runs[place]) for place in again]
    return () if all(compared) else (NOT_AGAIN,)


def check_evidence(recorder: Recorder, rows: Iterable[AuditRow], runs: Sequence[Run]) -> None:
    """Run the datasets of all rows again, several times, with the releases of the finding.

    Sound steps of a replay are left out: their runs were made again after each history.
    """
    of = {key_of(run.dataset): run for run in runs}
    for row in rows:
        if row.step and row.verdict not in FAILING:
            continue
        for side in (row.evidence.x, row.evidence.y):
            run = of[key_of(side)]
            if row.history:
                run = recorder.run(run.dataset, row.history)
            for _ in range(1 if recorder.there else AGAIN):
                _check(recorder, run)


def check_same(run: Run, again: Run) -> None:
    """Raise QueryError if a run with its own releases is another one."""
    if run.key != again.key:
        raise QueryError(
            f"two runs on {short_literal(run.dataset)} with the same releases differ, so the "
            "function draws at random outside the recorded mechanisms, or keeps state between "
            "runs; fix its seed, name all of its mechanisms, pass fresh=True for what is kept, or "
            f"audit the part before the noise by {RANDOM}"
        )


def _check(recorder: Recorder, run: Run) -> bool:
    """Make a run again, compare, and tell whether that was possible.

    A function that keeps its answers makes no call in its second run, and one with an accountant
    may refuse it. Both say nothing of chance.
    """
    try:
        again = recorder.run(run.dataset, run.releases)
    except QueryError:
        return False
    if run.sites and not again.sites:
        return False
    check_same(run, again)
    return True
