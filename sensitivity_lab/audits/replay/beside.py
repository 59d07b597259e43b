"""Compare what a function returns besides its releases: neighbors must return the same."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sensitivity_lab.audits.driven.stops import Stopwatch
from sensitivity_lab.audits.recording import Untouched
from sensitivity_lab.audits.records import entries
from sensitivity_lab.audits.returned import AGAIN, Chance, Path, bare
from sensitivity_lab.audits.row import LEAK, RETURNED, AuditRow, Evidence
from sensitivity_lab.errors import QueryError, SensitivityLabError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of

from .histories import LEAST, SECONDS, SEED, all_choices, drawn
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
    all_compared : bool
        Whether all neighbors could be compared.
    leak : tuple of Run, or None
        The first pair whose returned values differ, after the same releases.
    """

    recorder: Recorder
    runs: Sequence[Run]
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
        for run in [x] * AGAIN + [y] * AGAIN:
            again = self.recorder.run(run.dataset, x.releases)
            self._chance.learn(run.returned, again.returned)
        found = self._chance.differing(x.returned, y.returned)
        if found:
            self._check_recorded(x, found)
            self.leak = x, y
        return bool(found) or len(self._chance.paths) > known

    def sees_all_left_alone(self, near: Sequence[Sequence[int]]) -> bool:
        """Tell whether the function hands all releases on, and does nothing else with them.

        Then what it returns, and what its mechanisms get, is the same after every release. What
        selections choose is tried in all combinations, if these are few.

        Parameters
        ----------
        near : sequence of list of int
            By run, the places of its neighbors.
        """
        longest = max(len(run.sites) for run in self.runs)
        combinations = all_choices(self.runs)
        if combinations is None:
            return False
        for chosen in combinations:
            history = [chosen.get(place, Untouched(place)) for place in range(longest)]
            made: dict[int, Run] = {}
            for place, one in enumerate(self.runs):
                run = fed(self.recorder, one, history)
                if run is None or (not chosen and run.sites != one.sites):
                    return False
                made[place] = run
            for run, other in _differing(made, near):
                # Selections that cannot choose this choose something else.
                if other.released == run.released:
                    return False
        return True

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
            again = fed(self.recorder, x, history)
            if again is None:
                continue
            moving = found & self._chance.differing(x.returned, again.returned)
            if moving and (true == {0} or any(_along(x, again, path) for path in moving)):
                raise QueryError(
                    f"what reaches {x.sites[step.place]} is {true.pop()} on every dataset, and "
                    "what is returned depends on the data and moves with the noise: the noise is "
                    f"added to an answer that was not recorded; give a mechanism that takes "
                    "the answer, or audit the draws by audit_mechanism"
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


def compare_after_histories(beside: Beside, near: Sequence[Sequence[int]], number: int) -> int:
    """Compare what all neighbors return after the same releases; return after how many histories.

    Runs that make the same calls are fed the same histories, drawn around their true values. A
    function may fail on one after its last call, which says nothing if it fails on all datasets.

    Parameters
    ----------
    beside : Beside
        The runs, and what was learned of them.
    near : sequence of list of int
        By run, the places of its neighbors.
    number : int
        The most histories.
    """
    alike: dict[tuple[Hashable, Hashable], list[int]] = {}
    for place, run in enumerate(beside.runs):
        shapes = tuple(np.shape(release) for release in run.releases)
        alike.setdefault((run.sites, shapes), []).append(place)
    beside.all_compared = len({sites for sites, _ in alike}) == 1
    source, watch = random.Random(SEED), Stopwatch()
    compared = 0
    for round_ in range(number):
        if beside.leak is not None or (round_ >= LEAST and watch.over(SECONDS)):
            break
        fed_all = [_fed_alike(beside, near, one, source, round_) for one in alike.values()]
        compared += all(fed_all)
    beside.all_compared &= compared > 0
    return compared


def _fed_alike(
    beside: Beside,
    near: Sequence[Sequence[int]],
    places: Sequence[int],
    source: random.Random,
    number: int,
) -> bool:
    """Feed one history to runs that make the same calls, and compare; tell whether all were fed."""
    history = drawn([beside.runs[place] for place in places], source, number)
    made: dict[int, Run] = {}
    for place in places:
        again = fed(beside.recorder, beside.runs[place], history)
        # Without the same calls, such as those of a function that keeps its answers, nothing was
        # released that could be the same.
        if again is not None and again.sites == beside.runs[place].sites:
            made[place] = again
    beside.all_compared &= len(made) in (0, len(places))
    for run, other in _differing(made, near):
        beside.see(run, other)
    return len(made) == len(places)


def _differing(made: Mapping[int, Run], near: Sequence[Sequence[int]]) -> Iterator[tuple[Run, Run]]:
    """Yield the pairs of neighbors that make other calls, or return other parts."""
    kinds = {place: (run.sites, frozenset(run.returned.items())) for place, run in made.items()}
    if len(set(kinds.values())) > 1:
        for x, run in made.items():
            yield from ((run, made[y]) for y in near[x] if y in made and kinds[y] != kinds[x])


def fed(recorder: Recorder, run: Run, history: Sequence[Any]) -> Run | None:
    """Return a run with a history, or None if it fails, or claims what is no claim."""
    try:
        return recorder.run(run.dataset, history)
    except (SensitivityLabError, TypeError):
        return None
