"""From answers and claims to the rows of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.audits.claims import holds_float
from sensitivity_lab.audits.randomness import try_evidence_again, try_inputs_again
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.audits.worst_pair import Answered
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Metric

from .arguments import Claim
from .pairs import farthest
from .records import plain


@dataclass(frozen=True)
class Question:
    """What is asked of a function: the two metrics, the distances, and the claims at them."""

    inputs: Metric
    outputs: Metric
    limits: Sequence[Number]
    claims: Sequence[Claim]
    tolerance: Number
    refuse_alone: bool = False
    """Whether to refuse a distance at which no two different datasets are compared."""


def collected(answer: Any) -> Any:
    """Return an answer, or the table that a lazy one stands for: some can be collected once."""
    return answer.collect() if hasattr(answer, "collect") else answer


def rows_of(
    question: Question,
    call: Callable[[Any], Any],
    inputs: Sequence[Any],
    answers: Sequence[Any],
    progress: bool | None,
) -> tuple[AuditRow, ...]:
    """Compare each claim with the farthest answers, after calling the function again.

    Raises
    ------
    InputError
        If a second call on an input returns another answer, or no two inputs are close.
    """

    def again(x: Any) -> Any:
        return plain(call(x))

    try_inputs_again(again, inputs, list(map(plain, answers)), progress, question.outputs)
    answered = [Answered(*pair) for pair in zip(inputs, answers, strict=True)]
    metrics = question.inputs, question.outputs
    worst = farthest(answered, *metrics, question.limits, progress, question.refuse_alone)
    shown = [worst[limit].evidence for limit in question.limits]
    try_evidence_again(
        again,
        [type(seen)(seen.x, seen.y, plain(seen.answer_x), plain(seen.answer_y)) for seen in shown],
        progress,
        question.outputs,
    )
    return tuple(
        AuditRow(
            limit,
            claimed,
            worst[limit].truth,
            seen,
            rounded=holds_float((plain(seen.answer_x), plain(seen.answer_y))),
            tolerance_ulps=question.tolerance,
            reason=reason,
        )
        for limit, (claimed, reason), seen in zip(
            question.limits, question.claims, shown, strict=True
        )
    )
