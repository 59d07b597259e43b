"""Audit selections: compare what a mechanism assumes about its scores with the truth."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.checks import check_callable, check_text, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Given, Metric, as_metric
from sensitivity_lab.metrics.cells import key_of

from .claims import check_claim
from .maps import audit_map
from .question import datasets_of, naming
from .recording import replace_method
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
from .subjects import name_of


@dataclass(frozen=True)
class _Selection:
    """The scores that a mechanism selects by, what it assumes of them, and what it selected."""

    scores: list[Any]
    sensitivity: Any
    monotonic: bool
    epsilon: Any
    candidates: Any
    chosen: Any


@dataclass(frozen=True)
class _Selected:
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


@dataclass
class _Runner:
    """Runs a function whose mechanism selects what it is told to.

    Attributes
    ----------
    function : callable
    mechanisms : tuple of classes
    method : str
        The method that selects.
    names : dict
        The attributes of a mechanism.
    assumed : set
        The sensitivities that were assumed so far, and whether for monotonic scores.
    spent : dict
        The values of epsilon so far.
    """

    function: Callable[[Any], Any]
    mechanisms: tuple[type, ...]
    method: str
    names: dict[str, str]
    assumed: set[tuple[Number, bool]] = field(default_factory=set)
    spent: dict[Hashable, Any] = field(default_factory=dict)

    def scored(self, x: Any) -> list[Any]:
        """Return the scores on a dataset; refuse what is assumed of some datasets alone."""
        made, _ = self._selected(x)
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
        return made.scores

    def runs_on(self, x: Any) -> list[_Selected]:
        """Return the runs on a dataset, one for each candidate that can be selected."""
        runs = []
        for at, score in enumerate(self._selected(copy.copy(x))[0].scores):
            if score == -math.inf:
                continue
            with naming(f"the function fails on {{}} where candidate {at} is selected:", x):
                made, returned = self._selected(copy.copy(x), at)
            runs.append(_Selected(made.candidates, made.chosen, returned))
        return runs

    def _selected(self, x: Any, at: int | None = None) -> tuple[_Selection, Any]:
        with _selecting(self.mechanisms, self.method, self.names, at) as made:
            returned = self.function(x)
        if len(made) != 1:
            raise QueryError(f"it made {len(made)} selections, and one is audited")
        return made[0], returned


def audit_selection(
    function: Callable[[Any], Any],
    values: Iterable[Any] | None = None,
    sizes: int | Iterable[int] | None = None,
    *mechanisms: type,
    inputs: Given,
    method: str = "randomise",
    scores: str = "utility",
    sensitivity: str = "sensitivity",
    monotonic: str = "monotonic",
    candidates: str = "candidates",
    epsilon: str = "epsilon",
    datasets: Any = None,
    every_order: bool = True,
    subject: str | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a selection mechanism assumes with that of its scores.

    The exponential mechanism and permute-and-flip select a candidate by scores. The truth is the
    largest change of a score between datasets at distance 1; if the mechanism treats the scores as
    monotonic, it is the largest increase plus the largest decrease. Neighbors must have the same
    candidates, and return the same value after the same choice.

    Parameters
    ----------
    function : callable
        Takes a dataset and makes one selection by one of the mechanisms.
    values, sizes
        As for `audit_map`.
    *mechanisms : class
        The classes of mechanisms. Their attributes are read when they select, so a mechanism may be
        made before its data is known.
    inputs : str or callable
        The metric on datasets, as for `audit_map`.
    method : str, default "randomise"
        The method that selects. Instead of it, the first candidate with the best score is returned,
        and in further runs each of the others.
    scores, sensitivity, monotonic, candidates, epsilon : str
        The attributes of a mechanism. Without `monotonic`, it is for scores that are not monotonic;
        without `candidates`, it selects a place in the list of scores; without `epsilon`, it is
        assumed to have the same one on all data.
    datasets, every_order, subject
        As for `audit_map`.
    **options
        `tolerance_ulps`, `progress` of `audit_map`.

    Returns
    -------
    AuditReport
        A row for distance 1. A second row, "violated", follows if candidates differ between
        neighbors, since the set of possible choices then depends on the data, or if neighbors
        return different values after the same choice, as code does that returns data besides the
        choice or maps the choice back into the data. Parts that differ between two runs on one
        dataset are not compared, and a note says so.

    Raises
    ------
    InputError
        If an argument is invalid, or no two of the datasets are neighbors.
    QueryError
        If the function fails, makes no selection or several on a dataset, or the mechanisms assume
        different things, or have another epsilon, on two datasets.
    TooLargeError
        See `audit_map`.

    Notes
    -----
    With m candidates, there are ``m + 1`` more runs on each dataset than in `audit_map`. Return
    values are compared after the choice of the same place among the candidates. A candidate with
    the score ``-inf`` is never chosen.

    Examples
    --------
    >>> class Exponential:
    ...     def __init__(self, utility, sensitivity):
    ...         self.utility, self.sensitivity = utility, sensitivity
    ...
    ...     def randomise(self):
    ...         raise NotImplementedError("no randomness in an example")
    >>> def mode(x):
    ...     return Exponential([x.count(0), 2 * x.count(1)], sensitivity=1).randomise()
    >>> audit_selection(mode, [0, 1], [1, 2], Exponential, inputs="symmetric")
    Audit of mode: violated
      setting  symmetric of at most k to Linf; values (0, 1), sizes (1, 2) in every order;
      implementation
      k  claimed  truth  verdict
      1  1        2      violated (claim / truth = 0.5)
      x  (0,)  ->  (1, 0)
      y  (0, 1)  ->  (1, 2)
    """
    check_callable("function", function, "a function of a dataset that makes a selection")
    names = {"scores": scores, "sensitivity": sensitivity}
    names |= {"monotonic": monotonic, "candidates": candidates, "epsilon": epsilon}
    for name, attribute in {"method": method, **names}.items():
        check_text(name, attribute, "a name")
    if not mechanisms or not all(
        inspect.isclass(one) and hasattr(one, method) for one in mechanisms
    ):
        raise InputError(
            f"mechanisms must be classes with the method {shown(method)}, got {shown(mechanisms)}"
        )
    runner = _Runner(function, mechanisms, method, names)
    tried, _ = datasets_of(values, sizes, datasets, every_order)
    # What the mechanism assumes on one dataset; `scored` refuses a dataset where that differs.
    with naming("the selection fails on {}:", tried[0]):
        runner.scored(copy.copy(tried[0]))
    ((claim, one_way),) = runner.assumed
    report = audit_map(
        runner.scored,
        claim,
        values,
        sizes,
        datasets=None if datasets is None else tried,
        inputs=inputs,
        outputs="Linf_monotonic" if one_way else "Linf",
        d_in=1,
        every_order=every_order,
        subject=name_of(function) if subject is None else subject,
        **options,
    )
    near = as_metric("inputs", inputs)
    rows, notes = _compare_choices(runner.runs_on, tried, near, options.get("progress"))
    return replace(
        report,
        rows=(*report.rows, *rows),
        notes=(*report.notes, *notes),
        unjudged=(*report.unjudged, *notes),
    )


def _compare_choices(
    runs_on: Callable[[Any], list[_Selected]],
    datasets: Sequence[Any],
    inputs: Metric,
    progress: bool | None,
) -> tuple[tuple[AuditRow, ...], tuple[str, ...]]:
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
    returned = list(map(_parts_of, runs))
    chance = Chance()
    while pair := chance.differing_pair(datasets, returned, inputs, 1, progress):
        # If running both again explains none of the difference, it comes from the data.
        known = len(chance.paths)
        for place in pair:
            chance.learn(returned[place], lambda x: _parts_of(runs_on(x)), datasets[place])
        if len(chance.paths) == known:
            x, y = pair
            differing = chance.differing(returned[x], returned[y])
            row = _row((datasets[x], datasets[y]), runs[x], runs[y], differing)
            return (row,), chance.note("choice")
    return (), chance.note("choice")


def _parts_of(runs: Sequence[_Selected]) -> Parts:
    """Return the parts of the candidates, and of what is returned after each choice."""
    whole = [run.returned for run in runs], runs[0].candidates if runs else None
    return parts(whole)


def _row(
    datasets: tuple[Any, Any],
    x: Sequence[_Selected],
    y: Sequence[_Selected],
    differing: set[Path],
) -> AuditRow:
    """Return the row of a pair that differs: in what is returned, or else in the candidates."""
    if len(x) != len(y) or any(path[0] == 1 for path in differing):
        seen = Evidence(*datasets, _candidates(x), _candidates(y))
        return AuditRow(1, None, math.inf, seen, step=CANDIDATES, finding=OTHER_CANDIDATES)
    at = min(path[1] for path in differing if isinstance(path[1], int))
    seen = Evidence(*datasets, x[at].returned, y[at].returned)
    history = (x[at].chosen,)
    return AuditRow(1, None, math.inf, seen, step=RETURNED, history=history, finding=LEAK_OF_CHOICE)


def _candidates(runs: Sequence[_Selected]) -> list[Any]:
    """Return the candidates, or their places where a mechanism has no list of them."""
    held = runs[0].candidates if runs else None
    return list(range(len(runs)) if held is None else held)


@contextmanager
def _selecting(
    mechanisms: tuple[type, ...], method: str, names: dict[str, str], at: int | None = None
) -> Iterator[list[_Selection]]:
    """Let mechanisms select a place, by default the best one, and yield what they select by."""
    made: list[_Selection] = []

    def select(self: Any, *_: Any, **__: Any) -> Any:
        scores = list(getattr(self, names["scores"]))
        candidates = getattr(self, names["candidates"], None)
        one_way = bool(getattr(self, names["monotonic"], False))
        place = scores.index(max(scores)) if at is None else at
        chosen = place if candidates is None else candidates[place]
        assumed = getattr(self, names["sensitivity"])
        epsilon = getattr(self, names["epsilon"], None)
        made.append(_Selection(scores, assumed, one_way, epsilon, candidates, chosen))
        return chosen

    with ExitStack() as undo:
        for mechanism in mechanisms:
            replace_method(mechanism, method, select, undo)
        yield made
