"""Audit the map of any function: how far apart answers on close datasets can be.

Code is a function if repeated calls on the same inputs return the same: the same calls in every
audit.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import Metric
from sensitivity_lab.metrics.cells import key_of, multiset, signed_key
from sensitivity_lab.results.literals import literal, short_literal

from .claims import holds_float
from .pairs import Answered, WorstPairs, check_compared, plain, worst_pairs
from .question import Question, naming
from .report import AuditReport
from .row import AuditRow, Evidence


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
            answer = collected(function(copy.deepcopy(x)))
            signed_key(plain(answer))  # raises if answers cannot be compared
            return answer

    found = farthest(question, call)
    check_compared(found.alone, question.datasets, question.inputs)
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


def farthest(question: Question, call: Callable[[Any], Any]) -> WorstPairs:
    """Call a function on all datasets, and again; return the farthest answers on close ones.

    Raises
    ------
    InputError
        If a second call on a dataset returns another answer, or if nothing is compared at all.
    TooLargeError, QueryError
        See `worst_pairs`.
    """
    tried, progress = question.datasets, question.progress
    answers = list(map(call, running.tracked(tried, unit="datasets", progress=progress)))
    before = list(map(plain, answers))
    try_inputs_again(lambda x: plain(call(x)), tried, before, progress, question.outputs)
    answered = list(map(Answered, tried, answers))
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


RANDOM = (
    'sl.audit(values, function, claim, size=[2, 3], neighbors="symmetric", outputs="symmetric", '
    "choices=400)"
)
"""A whole call for a function that chooses at random."""

PROBES = 2048
"""The largest number of repeated calls, spread over inputs of all sizes."""

REPEATS = 32
"""The largest number of them on one input."""

WITNESS = 256
"""The number of calls on each dataset of the evidence."""

_SPREAD = 2_654_435_761
"""A prime larger than any number of inputs: its multiples visit all inputs, without a pattern."""


class RandomisedError(InputError):
    """Two calls on one dataset returned different answers."""


def try_inputs_again(
    call: Callable[[Any], Any],
    inputs: Sequence[Any],
    answers: Sequence[Any],
    progress: bool | None,
    metric: Metric,
) -> None:
    """Raise InputError if a second call on one of many inputs returns another answer.

    Answers that the `metric` does not tell apart are the same: two orders of a multiset.
    """
    places = list(probes(inputs))
    for place in running.tracked(places, unit="probes", progress=progress):
        _check_same(inputs[place], answers[place], call(inputs[place]), metric)


def try_evidence_again(
    call: Callable[[Any], Any],
    shown: Sequence[Evidence],
    progress: bool | None,
    metric: Metric,
) -> None:
    """Raise InputError if one of many calls on the evidence's datasets returns another answer."""
    datasets = {
        literal(x): (x, answer)
        for seen in shown
        for x, answer in ((seen.x, seen.answer_x), (seen.y, seen.answer_y))
    }
    calls = [*datasets.values()] * WITNESS
    for x, answer in running.tracked(calls, unit="calls on witnesses", progress=progress):
        _check_same(x, answer, call(x), metric)


def probes(inputs: Sequence[Any], most: int | None = None) -> Iterator[int]:
    """Yield the places of the inputs to try again, which are the same in every audit.

    The first pass goes backward, against the order in which the inputs were called. Each size gets
    an equal share of the calls, since code may be random for a few sizes only. Where a size has
    more inputs than calls, the calls are spread over all its inputs.

    Parameters
    ----------
    inputs : sequence
        Lists, by size, or single values.
    most : int, optional
        The largest number of calls; by default `PROBES`.

    Examples
    --------
    >>> Counter(probes([[], [0], [1]])) == {0: 32, 1: 32, 2: 32}
    True
    """
    sizes = [len(x) if isinstance(x, list) else 0 for x in inputs]
    share = (PROBES if most is None else most) // len(set(sizes))
    spread: list[int] = []
    for size, number in sorted(Counter(sizes).items()):
        first = sizes.index(size)
        calls = range(min(share, number * REPEATS))
        # Multiples of a prime modulo the number of inputs: each once before any comes again.
        spread += [first + call * _SPREAD % number for call in calls]
    # Backward first: what code keeps from one call to the next comes from other inputs then.
    backward = sorted(set(spread), reverse=True)
    yield from backward
    left = Counter(spread) - Counter(backward)
    for place in spread:
        if left[place]:
            left[place] -= 1
            yield place


def _check_same(x: Any, before: Any, now: Any, metric: Metric) -> None:
    if key_of(before) == key_of(now):
        return
    if metric.unordered and multiset(before) == multiset(now):
        return
    raise RandomisedError(
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        f"two calls on {short_literal(x)} returned {short_literal(before)} and "
        f"{short_literal(now)}; an audit needs the part that adds no randomness and keeps nothing, "
        f"or choices=, as in {RANDOM}"
    )
