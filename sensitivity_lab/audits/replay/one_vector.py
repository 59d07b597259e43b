"""Treat all values that a run hands to its mechanisms as one vector, with one claim."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sensitivity_lab.audits.claims import division, excess, times
from sensitivity_lab.audits.pairs import (
    Answered,
    WorstPair,
    WorstPairs,
    check_compared,
    worst_pairs,
)
from sensitivity_lab.audits.question import Question
from sensitivity_lab.audits.records import distances, entries
from sensitivity_lab.audits.row import AuditRow, row_of_claims
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import short_literal

from .runs import NO_CALL, Run


def decisive_row(question: Question, runs: Sequence[Run]) -> tuple[AuditRow, str]:
    """Return the row of the decisive pair, and what the setting says of the claims.

    A claim is for k = 1, and counts k times.
    """
    [k] = question.limits
    claims, answers = zip(*map(_vector, runs), strict=True)
    # Python compares Decimals and Fractions with floats, but not with each other.
    distinct = sorted(set(claims), key=Fraction)
    groups = {claim: group for group, claim in enumerate(distinct)}
    answered = [
        Answered(run.dataset, answer, groups[claim])
        for run, answer, claim in zip(runs, answers, claims, strict=True)
    ]
    found = worst_pairs(
        answered, question.inputs, question.outputs, [k], question.progress, distances
    )
    check_compared(found.alone, question.datasets, question.inputs)
    varies = "" if len(distinct) == 1 else "; the claim changes with the dataset"
    varies = "; the claim depends on the data" if found.divided else varies
    row = _decisive(found, distinct, k, question.tolerance)
    if row.verdict == "violated" and any(len(run.steps) > 1 for run in runs):
        varies += _ONE_VECTOR
    return row, varies


_ONE_VECTOR = (
    "; several calls of a run are one vector here, each with the whole budget: if they share it, "
    "give budget="
)
"""What is needed where a violation would be a false alarm: a budget that is split over calls."""


def _vector(run: Run) -> tuple[Number, Any]:
    """Return the one claim of a run, and the values that reach its mechanisms."""
    claims = {step.claim for step in run.steps}
    if len(claims) != 1:
        seen = (
            f"claimed {len(claims)} sensitivities; leave out replay=False, which takes all values "
            "as one vector"
            if claims
            else f"called no recorded mechanism; {NO_CALL}"
        )
        raise QueryError(f"on {short_literal(run.dataset)} the library {seen}")
    if len(run.steps) == 1:
        return claims.pop(), run.steps[0].value
    return claims.pop(), tuple(entry for step in run.steps for entry in entries(step.value))


def _decisive(found: WorstPairs, claims: list[Number], k: Number, tolerance: Number) -> AuditRow:
    """Return the row of the decisive pair: a violation, or else a pair with two claims."""
    pair = max(
        found.farthest.values(), key=lambda pair: excess(pair.truth, claims[min(pair.groups)])
    )
    row = _row_of_pair(pair, claims, k, tolerance)
    if not found.divided or row.verdict == "violated":
        return row
    pair = max(
        found.divided.values(),
        key=lambda pair: division((claims[pair.groups[0]], claims[pair.groups[1]])),
    )
    return _row_of_pair(pair, claims, k, tolerance)


def _row_of_pair(pair: WorstPair, claims: list[Number], k: Number, tolerance: Number) -> AuditRow:
    """Compare the truth of a pair with the smaller of its two claims."""
    first, second = (times(int(k), claims[group]) for group in pair.groups)
    return row_of_claims(k, (first, second), pair.truth, pair.evidence, tolerance)
