"""What code returns after a selection: neighbors must return the same after the same choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.replay.returned import Path, parts
from sensitivity_lab.audits.replay.rows import RETURNED, ReplayRow
from sensitivity_lab.audits.report import Evidence
from sensitivity_lab.audits.worst_pair import Answered
from sensitivity_lab.metrics import METRICS, Metric
from sensitivity_lab.results.literals import one_line

from .pairs import farthest

AGAIN = 8
"""How often both datasets of a pair are run again, to tell data from chance."""

CANDIDATES = "the candidates"
"""The step of a row about candidates that differ."""

NOT_COMPARED = (
    "some of what is returned differs between two runs with the same data and choice (chance, or "
    "an object without an equality), and is not compared"
)

_ABSENT = object()


@dataclass(frozen=True)
class Selected:
    """A run in which a mechanism selected what it was told to.

    Attributes
    ----------
    candidates : Any
        What the mechanism selects from, or None.
    chosen : Any
        What it selected.
    returned : Any
        What the function returned.
    """

    candidates: Any
    chosen: Any
    returned: Any


_Parts = dict[Path, Hashable]


@dataclass(frozen=True)
class ChoiceRow(ReplayRow):
    """Two neighbors that differ beside the choice, which is the history; see `ReplayRow`."""

    @cached_property
    def verdict(self) -> str:
        """Always "violated"."""
        return "violated"

    @property
    def remark(self) -> str:
        """The verdict, and what depends on the data."""
        if self.step == CANDIDATES:
            return f"{self.verdict} (the candidates depend on the data)"
        after = f", after the choice {one_line(repr(self.history[0]))}"
        return f"{self.verdict} (the return value depends on the data beside the choice){after}"

    @property
    def sentence(self) -> str:
        """What is wrong, and the verdict."""
        what = self.step if self.step == CANDIDATES else "what is returned beside the choice"
        return f"no randomness hides {what}: {self.remark}"


def compare_choices(
    runs_on: Callable[[Any], list[Selected]],
    datasets: Sequence[Any],
    inputs: Metric,
    progress: bool | None,
) -> tuple[tuple[ChoiceRow, ...], tuple[str, ...]]:
    """Return the row of two neighbors that differ after the same choice, and notes.

    Parameters
    ----------
    runs_on : callable
        Returns the runs on a dataset, one for each candidate that can be selected.
    datasets : sequence
        The datasets that are tried.
    inputs : Metric
        The metric on datasets; neighbors are at most 1 apart.
    progress : bool, optional
        Whether to show progress bars.

    Notes
    -----
    Where two neighbors differ, both are run again, and what then differs on one dataset is chance.
    """
    tried = running.tracked(datasets, unit="datasets", progress=progress)
    runs = [runs_on(x) for x in tried]
    places = {id(x): place for place, x in enumerate(datasets)}
    chance: set[Path] = set()
    while True:
        codes: dict[Hashable, int] = {}
        answered = [
            Answered(x, codes.setdefault(_key(run, chance), len(codes)))
            for x, run in zip(datasets, runs, strict=True)
        ]
        notes = (NOT_COMPARED,) if chance else ()
        if len(codes) < 2:
            return (), notes
        best = farthest(answered, inputs, METRICS["discrete"], [1], progress, refuse_alone=True)
        seen = best[1].evidence
        if seen.answer_x == seen.answer_y:
            return (), notes
        pair = [places[id(x)] for x in (seen.x, seen.y)]
        known = len(chance)
        for place in pair:
            for _ in range(AGAIN):
                again = _parts_of(runs_on(datasets[place]))
                chance |= _differing(_parts_of(runs[place]), again)
        x, y = (runs[place] for place in pair)
        if len(chance) == known:
            return (_row(seen, x, y, chance),), notes


def _parts_of(runs: Sequence[Selected]) -> _Parts:
    """Return the parts of the candidates, and of what is returned after each choice."""
    whole = [run.returned for run in runs], runs[0].candidates if runs else None
    return parts(whole)


def _key(runs: Sequence[Selected], chance: set[Path]) -> Hashable:
    return frozenset(item for item in _parts_of(runs).items() if item[0] not in chance)


def _differing(x: _Parts, y: _Parts) -> set[Path]:
    return {path for path in x.keys() | y.keys() if x.get(path, _ABSENT) != y.get(path, _ABSENT)}


def _row(
    seen: Evidence, x: Sequence[Selected], y: Sequence[Selected], chance: set[Path]
) -> ChoiceRow:
    """Return the row of a pair: of what is returned, or else of the candidates."""
    differing = _differing(_parts_of(x), _parts_of(y)) - chance
    if len(x) != len(y) or any(path[0] == 1 for path in differing):
        one, two = map(_candidates, (x, y))
        shown = Evidence(seen.x, seen.y, one, two)
        return ChoiceRow(1, None, float("inf"), shown, step=CANDIDATES)
    at = min(path[1] for path in differing if isinstance(path[1], int))
    shown = Evidence(seen.x, seen.y, x[at].returned, y[at].returned)
    return ChoiceRow(1, None, float("inf"), shown, step=RETURNED, history=(x[at].chosen,))


def _candidates(runs: Sequence[Selected]) -> list[Any]:
    """Return the candidates, or their places where a mechanism has no list of them."""
    held = runs[0].candidates if runs else None
    return list(range(len(runs)) if held is None else held)
