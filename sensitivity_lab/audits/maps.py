"""Audit the map of any function: how far apart answers on close datasets can be."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.metrics.cells import signed_key

from .claims import holds_float
from .pairs import Answered, WorstPairs, check_compared, worst_pairs
from .question import Question, naming
from .randomness import try_evidence_again, try_inputs_again
from .records import plain
from .report import AuditReport
from .row import AuditRow


def audit_map(question: Question, function: Callable[[Any], Any]) -> AuditReport:
    """Compare the claims with the largest distance of a function's answers on close datasets.

    The truth at a distance is the largest distance of the answers on two datasets that are at most
    so far apart, among the datasets that are tried.

    Raises
    ------
    InputError
        If two calls on one dataset return different answers, or no two datasets are that close.
    QueryError
        If the function fails on a dataset, or two datasets or answers have no distance.
    TooLargeError
        If there are too many datasets or pairs.
    """

    def call(x: Any) -> Any:
        with naming("the function fails on {}:", x):
            answer = collected(function(copy.copy(x)))
            signed_key(plain(answer))  # raises if answers cannot be compared
            return answer

    tried = question.datasets
    answers = [call(x) for x in running.tracked(tried, unit="datasets", progress=question.progress)]
    found = farthest(question, call, answers)
    check_compared(found.alone, tried, question.inputs)
    return question.report(rows_of(question, call, found), "implementation")


def collected(answer: Any) -> Any:
    """Return an answer, or the table that a lazy one stands for: some can be collected once.

    What is masked in an array is no number.
    """
    if isinstance(answer, set | frozenset):
        return sorted(answer, key=repr)  # it has no order
    if type(answer) in (list, tuple) and any(map(np.ma.isMaskedArray, answer)):
        return type(answer)(map(collected, answer))
    if np.ma.isMaskedArray(answer):
        filled: Any = np.ma.filled(answer.astype(object), math.nan)
        return filled if filled.ndim else filled.item()
    return answer.collect() if hasattr(answer, "collect") else answer


_NONE_CLOSE = "no two of the datasets are so close"


def farthest(question: Question, call: Callable[[Any], Any], answers: Sequence[Any]) -> WorstPairs:
    """Return the farthest answers on close datasets, after calling the function again.

    Raises
    ------
    InputError
        If a second call on a dataset returns another answer, or if nothing is compared at all.
    TooLargeError, QueryError
        See `worst_pairs`.
    """
    tried, progress = question.datasets, question.progress
    before = list(map(plain, answers))
    try_inputs_again(lambda x: plain(call(x)), tried, before, progress, question.outputs)
    answered = [Answered(*pair) for pair in zip(tried, answers, strict=True)]
    found = worst_pairs(answered, question.inputs, question.outputs, question.limits, progress)
    if set(question.limits) <= set(found.alone) and not question.one_size:
        check_compared(found.alone, tried, question.inputs)
    return found


def rows_of(question: Question, call: Callable[[Any], Any], found: WorstPairs) -> list[AuditRow]:
    """Compare each claim with the farthest answers, after many more calls on their datasets.

    A claim is not judged where no two of the datasets are close enough, but others may be.

    Raises
    ------
    InputError
        If one of these calls returns another answer.
    """
    worst = [found.farthest[limit] for limit in question.limits]
    seen = [
        replace(
            one.evidence,
            answer_x=plain(one.evidence.answer_x),
            answer_y=plain(one.evidence.answer_y),
        )
        for one in worst
    ]
    compared = [question.one_size or limit not in found.alone for limit in question.limits]
    try_evidence_again(lambda x: plain(call(x)), seen, question.progress, question.outputs)
    return [
        AuditRow(
            limit,
            claimed,
            pair.truth,
            pair.evidence,
            rounded=holds_float((bare.answer_x, bare.answer_y)),
            tolerance_ulps=question.tolerance,
            reason=reason or ("" if judged else _NONE_CLOSE),
            judged=judged,
        )
        for limit, (claimed, reason), pair, bare, judged in zip(
            question.limits, question.claims, worst, seen, compared, strict=True
        )
    ]
