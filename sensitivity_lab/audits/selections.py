"""Audit selections: compare what a mechanism assumes about its scores with the truth."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.checks import check_text, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.metrics.cells import key_of

from .claims import check_claim, times
from .maps import audit_map
from .question import Question, naming, question_about
from .recording import Call, Place, Tape, recording, resolved
from .report import AuditReport
from .returned import Chance, Parts, Path, parts
from .row import (
    CANDIDATES,
    LEAK_OF_CHOICE,
    OTHER_CANDIDATES,
    RETURNED,
    AuditRow,
    Evidence,
)


@dataclass(frozen=True)
class _Selected:
    """A run in which a mechanism selected what it was told to.

    Attributes
    ----------
    candidates : tuple
        What the mechanism selects from.
    chosen : Any
        What it selected.
    returned : Any
        What the function returned.
    """

    candidates: tuple[Any, ...]
    chosen: Any
    returned: Any


@dataclass
class _Runner:
    """Runs a function whose mechanism selects what it is told to.

    Attributes
    ----------
    function : callable
    tape : Tape
        On which its mechanisms are recorded.
    assumed : set
        The sensitivities that were assumed so far, and whether for monotonic scores.
    spent : dict
        The values of epsilon so far.
    """

    function: Callable[[Any], Any]
    tape: Tape
    assumed: set[tuple[Number, bool]] = field(default_factory=set)
    spent: dict[Hashable, Any] = field(default_factory=dict)

    def scored(self, x: Any) -> list[Any]:
        """Return the scores on a dataset; refuse what is assumed of some datasets alone."""
        made, _, _ = self._selected(x)
        self.assumed.add((check_claim(made.sensitivity, 1), made.monotonic))
        if len(self.assumed) > 1:
            both = [f"{shown(claim)}, {one_way}" for claim, one_way in sorted(self.assumed)]
            raise QueryError(
                "the sensitivity, and whether scores are monotonic, depend on the data: "
                f"{' and '.join(both)}"
            )
        self.spent.setdefault(key_of(unboxed(made.epsilon)), made.epsilon)
        if len(self.spent) > 1:
            both = list(map(shown, self.spent.values()))
            raise QueryError(f"epsilon depends on the data: {' and '.join(both)}")
        return list(made.value)

    def runs_on(self, x: Any) -> list[_Selected]:
        """Return the runs on a dataset, one for each candidate that can be selected."""
        runs = []
        for at, score in enumerate(self._selected(copy.copy(x))[0].value):
            if score == -math.inf:
                continue
            with naming(f"the function fails on {{}} where candidate {at} is selected:", x):
                made, chosen, returned = self._selected(copy.copy(x), Place(at))
            runs.append(_Selected(made.candidates or (), chosen, returned))
        return runs

    def _selected(self, x: Any, *history: Place) -> tuple[Call, Any, Any]:
        self.tape.rewind(history)
        returned = self.function(x)
        if len(self.tape) != 1:
            raise QueryError(
                f"it made {len(self.tape)} selections, and one is audited; pass budget= for several"
                if len(self.tape)
                else "it made 0 selections, and one is audited"
            )
        made = self.tape[0]
        if made.candidates is None:
            raise QueryError(f"{made.target} has no scores; name them by scores=")
        return made, self.tape.releases[0], returned


def audit_selection(
    function: Callable[[Any], Any],
    universe: Any,
    size: Any,
    mechanisms: tuple[Any, ...],
    *,
    scores: str,
    method: str = "randomise",
    epsilon: str = "epsilon",
    options: dict[str, Any],
    **asked: Any,
) -> AuditReport:
    """Compare the sensitivity that a selection mechanism assumes with that of its scores.

    The exponential mechanism and permute-and-flip select a candidate by scores. The truth is the
    largest change of a score between neighbors; if the mechanism treats the scores as monotonic, it
    is the largest increase plus the largest decrease. Neighbors must have the same candidates, and
    return the same value after the same choice.

    Parameters
    ----------
    function : callable
        Takes a dataset and makes one selection by one of the mechanisms.
    universe, size
        As for `audit_recorded`.
    mechanisms : tuple
        Classes or functions. The attributes of an instance are read when it selects, so it may be
        made before its data is known.
    method : str, default "randomise"
        The method that selects. Instead of it, the first candidate with the best score is returned,
        and in further runs each of the others.
    scores, epsilon : str
        The attributes of a mechanism, or its parameters; without `epsilon`, it is assumed to have
        the same one on all data.
    options : dict
        The names of others: `sensitivity`, `monotonic` and `candidates`; see `recording`.
    **asked
        The rest of the question; see `question_about`.

    Notes
    -----
    With m candidates, there are ``m + 1`` more runs on each dataset than for a function. Return
    values are compared after the choice of the same place among the candidates. A candidate with
    the score ``-inf`` is never chosen.
    """
    names = {"scores": scores, "method": method, "epsilon": epsilon, **options}
    for name, attribute in names.items():
        check_text(name, attribute, "a name")
    kinds = tuple(map(resolved, mechanisms))
    if not kinds or any(inspect.isclass(one) and not hasattr(one, method) for one in kinds):
        raise InputError(
            f"targets that select by scores must be classes with the method {shown(method)}, got "
            f"{shown(mechanisms)}"
        )
    question = question_about(function, universe, size, None, distances=None, **asked)
    tried, (limit, *_) = question.datasets, question.limits
    names["epsilon"] = partial(_attribute, epsilon)
    with recording(*kinds, **names) as tape:
        runner = _Runner(function, tape)
        # What the mechanism assumes on one dataset; `scored` refuses a dataset where that differs.
        with naming("the selection fails on {}:", tried[0]):
            runner.scored(copy.copy(tried[0]))
        ((claim, one_way),) = runner.assumed
        outputs = "Linf_monotonic" if one_way else "Linf"
        report = audit_map(
            replace(
                question,
                outputs=METRICS[outputs],
                metrics=f"{question.metrics} to {outputs}",
                claims=[(times(int(limit), claim), "")],
            ),
            runner.scored,
        )
        rows, notes = _compare_choices(runner.runs_on, question)
        return replace(
            report,
            rows=(*report.rows, *rows),
            notes=(*report.notes, *notes),
            unjudged=(*report.unjudged, *notes),
        )


def _attribute(name: str, mechanism: Any) -> Any:
    """Return what a mechanism, or the dict of its arguments, has under a name; None if nothing."""
    if isinstance(mechanism, dict):
        return mechanism.get(name)
    return getattr(mechanism, name, None)


def _compare_choices(
    runs_on: Callable[[Any], list[_Selected]], question: Question
) -> tuple[tuple[AuditRow, ...], tuple[str, ...]]:
    """Return the row of two neighbors that differ after the same choice, and notes.

    `runs_on` returns the runs on a dataset, one for each candidate that can be selected.

    Notes
    -----
    Where two neighbors differ, both are run again, and what then differs on one dataset is chance.
    """
    datasets, progress = question.datasets, question.progress
    (limit, *_) = question.limits
    tried = running.tracked(datasets, unit="datasets", progress=progress)
    runs = [runs_on(x) for x in tried]
    returned = list(map(_parts_of, runs))
    chance = Chance()
    while pair := chance.differing_pair(datasets, returned, question.inputs, limit, progress):
        # If running both again explains none of the difference, it comes from the data.
        known = len(chance.paths)
        for place in pair:
            chance.learn(returned[place], lambda x: _parts_of(runs_on(x)), datasets[place])
        if len(chance.paths) == known:
            x, y = pair
            differing = chance.differing(returned[x], returned[y])
            row = _row_of_choice(limit, (datasets[x], datasets[y]), runs[x], runs[y], differing)
            return (row,), chance.note("choice")
    return (), chance.note("choice")


def _parts_of(runs: Sequence[_Selected]) -> Parts:
    """Return the parts of the candidates, and of what is returned after each choice."""
    whole = [run.returned for run in runs], runs[0].candidates if runs else None
    return parts(whole)


def _row_of_choice(
    limit: Number,
    datasets: tuple[Any, Any],
    x: Sequence[_Selected],
    y: Sequence[_Selected],
    differing: set[Path],
) -> AuditRow:
    """Return the row of a pair that differs: in what is returned, or else in the candidates."""
    if len(x) != len(y) or any(path[0] == 1 for path in differing):
        seen = Evidence(*datasets, _candidates(x), _candidates(y))
        return AuditRow(limit, None, math.inf, seen, step=CANDIDATES, finding=OTHER_CANDIDATES)
    at = min(path[1] for path in differing if isinstance(path[1], int))
    seen = Evidence(*datasets, x[at].returned, y[at].returned)
    history = (x[at].chosen,)
    return AuditRow(
        limit, None, math.inf, seen, step=RETURNED, history=history, finding=LEAK_OF_CHOICE
    )


def _candidates(runs: Sequence[_Selected]) -> list[Any]:
    """Return the candidates, or their places where a mechanism has no list of them."""
    return list(runs[0].candidates if runs else ())
