"""The audit of selections: what a mechanism assumes of its scores, beside the truth."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.audits.claims import check_claim
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.subjects import name_of
from sensitivity_lab.checks import check_callable, check_flag, check_text, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import short_literal

from .arguments import check_one_source
from .call import audit_map, datasets_of
from .extended import Metric


@dataclass(frozen=True)
class _Selection:
    """The scores that a mechanism selects by, and what it assumes of them."""

    scores: list[Any]
    sensitivity: Any
    monotonic: bool


def audit_selection(
    function: Callable[[Any], Any],
    values: Iterable[Any] | None = None,
    sizes: int | Iterable[int] | None = None,
    *mechanisms: type,
    inputs: Metric,
    method: str = "randomise",
    scores: str = "utility",
    sensitivity: str = "sensitivity",
    monotonic: str = "monotonic",
    candidates: str = "candidates",
    datasets: Any = None,
    every_order: bool = True,
    subject: str | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a selection mechanism assumes with that of its scores.

    The exponential mechanism and permute-and-flip select a candidate by scores. The truth is the
    largest change of a score between datasets at distance 1; where the mechanism takes the scores
    to be monotonic, it is the largest increase plus the largest decrease.

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
        The method that selects. Instead of it, the first candidate with the best score is returned.
    scores, sensitivity, monotonic, candidates : str
        The attributes of a mechanism; one without the last two is for scores that are not
        monotonic, and selects a place in their list.
    datasets, every_order, subject
        As for `audit_map`.
    **options
        `tolerance_ulps`, `progress` of `audit_map`.

    Returns
    -------
    AuditReport
        One row, for distance 1.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails, makes no selection or several on a dataset, or the mechanisms assume
        different things on two datasets.
    TooLargeError
        See `audit_map`.

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
    names |= {"monotonic": monotonic, "candidates": candidates}
    for name, attribute in {"method": method, **names}.items():
        check_text(name, attribute, "a name")
    if not mechanisms or not all(
        inspect.isclass(one) and hasattr(one, method) for one in mechanisms
    ):
        raise InputError(
            f"mechanisms must be classes with the method {method!r}, got {shown(mechanisms)}"
        )
    assumed: set[tuple[Number, bool]] = set()

    def scored(x: Any) -> list[Any]:
        with _selecting(mechanisms, method, names) as made:
            function(x)
        if len(made) != 1:
            raise QueryError(f"it made {len(made)} selections, and one is audited")
        assumed.add((check_claim(made[0].sensitivity, 1), made[0].monotonic))
        if len(assumed) > 1:
            both = " and ".join(f"{shown(claim)}, {one_way}" for claim, one_way in sorted(assumed))
            raise QueryError(
                f"the sensitivity, and whether scores are monotonic, depend on the data: {both}"
            )
        return made[0].scores

    check_one_source(values, sizes, datasets)
    tried, _ = datasets_of(values, sizes, datasets, check_flag("every_order", every_order))
    # What the mechanism assumes on one dataset; `scored` refuses a dataset where that differs.
    first = tried[0]
    try:
        scored(copy.copy(first))
    except Exception as error:
        raise QueryError(
            f"the selection fails on {short_literal(first)}: {type(error).__name__}: {error}"
        ) from error
    ((claim, one_way),) = assumed
    return audit_map(
        scored,
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


@contextmanager
def _selecting(
    mechanisms: tuple[type, ...], method: str, names: dict[str, str]
) -> Iterator[list[_Selection]]:
    """Let mechanisms select the best candidate, and yield what they select by."""
    made: list[_Selection] = []

    def select(self: Any, *_: Any, **__: Any) -> Any:
        scores = list(getattr(self, names["scores"]))
        candidates = getattr(self, names["candidates"], None)
        one_way = bool(getattr(self, names["monotonic"], False))
        made.append(_Selection(scores, getattr(self, names["sensitivity"]), one_way))
        best = scores.index(max(scores))
        return best if candidates is None else candidates[best]

    with ExitStack() as undo:
        for mechanism in mechanisms:
            if method in vars(mechanism):
                undo.callback(setattr, mechanism, method, vars(mechanism)[method])
            else:
                undo.callback(delattr, mechanism, method)
            setattr(mechanism, method, select)
        yield made
