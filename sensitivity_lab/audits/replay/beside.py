"""Compare what a function returns besides its releases: neighbors must return the same."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sensitivity_lab.audits.question import Question
from sensitivity_lab.audits.records import entries
from sensitivity_lab.audits.returned import NOTHING, Chance, Parts, Path, bare
from sensitivity_lab.audits.row import LEAK, RETURNED, AuditRow, Evidence
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of

from .histories import SEED, drawn
from .runs import Recorder, Run

SEEDED = (
    "what is returned is compared after equal releases; if a mechanism or a sampler that is not "
    "recorded draws noise with a fixed seed, name it too"
)

NOT_ALL = (
    "what is returned is not compared on all neighbors: some runs make other calls than others, or "
    "fail, after the same releases"
)

_MOVE = 1.5
"""By how much a release is moved, to see what moves with it."""


@dataclass
class Beside:
    """Compares what is returned by runs that release the same, pair by pair.

    Attributes
    ----------
    recorder : Recorder
    runs : sequence of Run
        The runs on all datasets, with their true values as releases.
    wrong : str
        What to do where the noise is added elsewhere, for the error.
    all_compared : bool
        Whether all neighbors could be compared.
    leak : tuple of Run, or None
        The first pair whose returned values differ, after the same releases.
    """

    recorder: Recorder
    runs: Sequence[Run]
    wrong: str
    all_compared: bool = True
    leak: tuple[Run, Run] | None = None
    _chance: Chance = field(default_factory=Chance)

    def see(self, x: Run, y: Run) -> bool:
        """Compare two runs with the same releases; tell whether anything new was learned."""
        if self.leak is not None or x.returned == y.returned or x.sites != y.sites:
            return False
        if not self._chance.differing(x.returned, y.returned) or x.released != y.released:
            return False
        # Neighbors differ: by chance, where two runs on one dataset differ, or else by their data.
        known = len(self._chance.paths)
        for run in (x, y):
            self._chance.learn(run.returned, self._returned, run.dataset, x.releases)
        found = self._chance.differing(x.returned, y.returned)
        if found:
            self._check_recorded(x, found)
            self.leak = x, y
        return bool(found) or len(self._chance.paths) > known

    def _returned(self, dataset: list[Any], history: Sequence[Any]) -> Parts:
        return self.recorder.run(dataset, history).returned

    def row(self, k: Number) -> tuple[AuditRow, ...]:
        """Return the row of the leak, if there is one."""
        if self.leak is None:
            return ()
        x, y = self.leak
        seen = Evidence(x.dataset, y.dataset, x.answer, y.answer)
        return (AuditRow(k, None, math.inf, seen, step=RETURNED, history=x.releases, finding=LEAK),)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says of the comparison."""
        seeded = () if self.leak is None else (SEEDED,)
        left_out = () if self.all_compared or self.leak is not None else (NOT_ALL,)
        return (*seeded, *self._chance.note(), *left_out)

    def see_neighbors(self, runs: Sequence[Run], question: Question) -> None:
        """See pairs of neighbors that return something else, until nothing new is learned."""
        datasets, returned = [run.dataset for run in runs], [run.returned for run in runs]
        [k] = question.limits
        while pair := self._chance.differing_pair(
            datasets, returned, question.inputs, k, question.progress
        ):
            x, y = (runs[place] for place in pair)
            if not self.see(x, y) or self.leak is not None:
                return

    def _check_recorded(self, x: Run, found: set[Path]) -> None:
        """Raise QueryError if noise around a constant hides what differs: it was not recorded.

        A step whose true value is the same on all datasets protects nothing. If what differs moves
        with its release (by the same amount, or in any way where the true value is 0), the noise is
        added to an answer that the recorder does not see.
        """
        for step in x.steps:
            true = {
                key_of(entry)
                for run in self.runs
                for other in run.steps
                if other.place == step.place
                for entry in entries(other.value)
            }
            moved = _moved(x.releases[step.place])
            if step.candidates is not None or len(true) != 1 or moved is None:
                continue
            history = [*x.releases[: step.place], moved, *x.releases[step.place + 1 :]]
            again = _fed(self.recorder, x, history)
            if again is None:
                continue
            moving = found & self._chance.differing(x.returned, again.returned)
            if moving and (true == {0} or any(_along(x, again, path) for path in moving)):
                raise QueryError(
                    f"what reaches {x.sites[step.place]} is {true.pop()} on every dataset, and "
                    "what is returned depends on the data and moves with the noise: the noise is "
                    f"added to an answer that was not recorded; {self.wrong}"
                )


def _moved(release: Any) -> Any:
    """Return another release, or None where it is not made of numbers."""
    try:
        return (np.asarray(release) + _MOVE)[()]
    except (TypeError, ValueError):
        return None


def _along(x: Run, again: Run, path: Path) -> bool:
    """Tell whether a part of what is returned moves as the release does."""
    one, two = bare(x.returned.get(path)), bare(again.returned.get(path))
    if not isinstance(one, int | float) or not isinstance(two, int | float):
        return False
    return math.isclose(two - one, _MOVE, rel_tol=1e-6)


def compare_after_one_history(beside: Beside, question: Question) -> None:
    """Compare what all neighbors return after the same releases, with one more run on each.

    Runs that make the same calls are fed the same history, drawn between their true values. A
    function may fail on it after its last call, which says nothing.
    """
    if all(run.returned == NOTHING for run in beside.runs):
        return
    alike: dict[tuple[Hashable, Hashable], list[Run]] = {}
    for run in beside.runs:
        shapes = tuple(np.shape(release) for release in run.releases)
        alike.setdefault((run.sites, shapes), []).append(run)
    beside.all_compared = len({sites for sites, _ in alike}) == 1
    source = random.Random(SEED)
    for group in alike.values():
        history = drawn(group, source)
        made = [(one, _fed(beside.recorder, one, history)) for one in group]
        # Without the same calls, such as those of a function that keeps its answers, nothing was
        # released that could be the same.
        fed = [run for one, run in made if run is not None and run.sites == one.sites]
        beside.all_compared &= len(fed) == len(group)
        beside.see_neighbors(fed, question)


def _fed(recorder: Recorder, run: Run, history: Sequence[Any]) -> Run | None:
    try:
        return recorder.run(run.dataset, history)
    except QueryError:
        return None
