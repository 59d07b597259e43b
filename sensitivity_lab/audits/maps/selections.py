"""The audit of selections: what a mechanism assumes of its scores, beside the truth."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sensitivity_lab.audits.claims import check_claim
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.subjects import name_of
from sensitivity_lab.checks import check_callable, check_flag, check_text, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Given, as_metric
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

from .arguments import check_one_source
from .call import audit_map, datasets_of
from .choices import Selected, compare_choices


@dataclass(frozen=True)
class _Selection:
    """The scores that a mechanism selects by, what it assumes of them, and what it selected."""

    scores: list[Any]
    sensitivity: Any
    monotonic: bool
    epsilon: Any
    candidates: Any
    chosen: Any


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

    def runs_on(self, x: Any) -> list[Selected]:
        """Return the runs on a dataset, one for each candidate that can be selected."""
        runs = []
        for at, score in enumerate(self._selected(copy.copy(x))[0].scores):
            if score == -math.inf:
                continue
            try:
                made, returned = self._selected(copy.copy(x), at)
            except Exception as error:
                raise QueryError(
                    f"the function fails on {short_literal(x)} where candidate {at} is selected: "
                    f"{type(error).__name__}: {error}"
                ) from error
            runs.append(Selected(made.candidates, made.chosen, returned))
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
    largest change of a score between datasets at distance 1; where the mechanism takes the scores
    to be monotonic, it is the largest increase plus the largest decrease. On neighbors, the
    candidates must be the same, and so must what is returned after the same choice.

    Parameters
    ----------
    function : callable
        Takes a dataset and makes one selection by one of the mechanisms.
    values, sizes
        As for `audit_map`.
    *mechanisms : class
        The classes of mechanisms. What they hold is read when they select, so a mechanism may be
        made before its data is known.
    inputs : str or callable
        The metric on datasets, as for `audit_map`.
    method : str, default "randomise"
        The method that selects. Instead of it, the first candidate with the best score is returned,
        and in further runs each of the others.
    scores, sensitivity, monotonic, candidates, epsilon : str
        The attributes of a mechanism. One without `monotonic` is for scores that are not monotonic,
        one without `candidates` selects a place in the list of scores. One without `epsilon` is
        taken to have the same on all data.
    datasets, every_order, subject
        As for `audit_map`.
    **options
        `tolerance_ulps`, `progress` of `audit_map`.

    Returns
    -------
    AuditReport
        A row for distance 1. Another one, which is "violated", follows where candidates differ
        between neighbors, as the set of possible choices then depends on the data, or where
        neighbors return different values after the same choice, as code does that returns data
        beside it or maps it back into the data. Parts that differ between two runs on one dataset
        are not compared, and a note says so.

    Raises
    ------
    InputError
        If an argument is not acceptable, or no two of the datasets are neighbors.
    QueryError
        If the function fails, makes no selection or several on a dataset, or the mechanisms assume
        different things, or have another epsilon, on two datasets.
    TooLargeError
        See `audit_map`.

    Notes
    -----
    With m candidates, ``m + 1`` runs on each dataset come on top of those of `audit_map`. What is
    returned is compared after the choice of the same place among the candidates. A candidate with
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
    check_one_source(values, sizes, datasets)
    tried, _ = datasets_of(values, sizes, datasets, check_flag("every_order", every_order))
    # What the mechanism assumes on one dataset; `scored` refuses a dataset where that differs.
    first = tried[0]
    try:
        runner.scored(copy.copy(first))
    except Exception as error:
        raise QueryError(
            f"the selection fails on {short_literal(first)}: {type(error).__name__}: {error}"
        ) from error
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
    rows, notes = compare_choices(runner.runs_on, tried, near, options.get("progress"))
    return replace(
        report,
        rows=(*report.rows, *rows),
        notes=(*report.notes, *notes),
        unjudged=(*report.unjudged, *notes),
    )


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
            if method in vars(mechanism):
                undo.callback(setattr, mechanism, method, vars(mechanism)[method])
            else:
                undo.callback(delattr, mechanism, method)
            setattr(mechanism, method, select)
        yield made
