"""Audits of randomised code: compare its claimed stability with the best coupling of outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.audits.claims import holds_float
from sensitivity_lab.audits.pairs import check_pairs
from sensitivity_lab.audits.question import Question
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow, Evidence
from sensitivity_lab.checks import check_whole, listed
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number

from .outputs import Outputs, Source, gathered
from .pairs import Coupled, check_again, check_backward, farthest

_SAMPLED = "the outputs are a sample, and others may be farther apart; give all choices="
"""Why a sample calls no claim large enough."""


def audit_coupling(question: Question, function: Callable[..., Any], choices: Any) -> AuditReport:
    """Compare the claims with how close the outputs of randomised code can stay.

    A shuffle, an imputation, a sample, or a truncation by random choice has a distribution of
    outputs on every dataset. It is stable if the outputs on two neighbors can be coupled: drawn
    together such that they are always close. The truth is the largest distance of two coupled
    outputs, under the best coupling, on the worst pair of neighbors.

    Parameters
    ----------
    question : Question
        The datasets, the metrics and the claims.
    function : callable
        Takes a dataset, and a random choice unless `choices` is a number.
    choices : callable, iterable or int
        All random choices, equally likely: the same for all datasets, or a function of the
        dataset. Or a number of draws: the function draws by itself, and is called so often.

    Raises
    ------
    InputError
        If an argument is invalid, or no two datasets are close.
    QueryError
        If the function fails, answers the same choice differently, or two outputs have no distance.
    TooLargeError
        If there are too many pairs, or different outputs.

    Notes
    -----
    Outputs at distance 0, such as two orders of a multiset, are one output, and so are 0.0 and
    -0.0. With choices, the smallest distance that allows a coupling is found by bisection; each
    step is a maximum flow between the outputs on x and on y. Every pair is exact.

    Draws are a sample: the truth is a distance that no coupling stays below, except with a
    probability of less than e**-25 per pair. It may be too small, so no claim is called tight or
    loose. A claim is "violated" only if new draws on the same two datasets confirm it. Outputs that
    never recur, such as floats from a continuous range, show nothing.
    """
    source, told = _source_of(function, choices)
    datasets, progress = question.datasets, question.progress
    check_pairs(len(datasets))
    tried = running.tracked(datasets, unit="datasets", progress=progress)
    made = [source.outputs(x) for x in tried]
    check_backward(source, datasets, made, progress)
    gather = partial(gathered, metric=question.outputs)
    outputs = gather(made)
    found = farthest(question, outputs, source.enumerated)
    rows = []
    for limit, (claimed, reason) in zip(question.limits, question.claims, strict=True):
        pair = found[limit]
        row_of = partial(
            _row_of_coupling, question, outputs, source.enumerated, limit, claimed, reason
        )
        row = row_of(pair)
        truth = check_again(source, pair, datasets, made, gather, row.verdict)
        if truth is not None and truth < pair.truth:
            row = row_of(Coupled(pair.x, pair.y, truth))
        rows.append(row)
    return question.report(rows, f"{told}, under the best coupling; implementation")


def _source_of(function: Any, choices: Any) -> tuple[Source, str]:
    """Return where outputs come from, and what the setting says of it, or raise InputError."""
    if callable(choices):
        return Source(function, choices, 0), "all choices, equally likely"
    if isinstance(choices, int | np.integer):
        draws = check_whole("choices", choices, "all random choices, or a number of draws", 1)
        told = f"sampled, not enumerated: {draws:,} draws on each dataset"
        return Source(function, None, draws), told
    wrong = "choices must be all random choices, at least one, or a number of draws"
    found = listed(choices, wrong)
    if not found:
        raise InputError(f"{wrong}, got none")
    return Source(function, lambda _: found, 0), "all choices, equally likely"


def _row_of_coupling(
    question: Question,
    outputs: Outputs,
    enumerated: bool,
    limit: Number,
    claimed: Any,
    reason: str,
    pair: Coupled,
) -> AuditRow:
    """Compare the claim at an input distance with the worst pair."""
    both = [question.datasets[place] for place in (pair.x, pair.y)]
    x, y = (tuple(data) if isinstance(data, list) else data for data in both)
    answers = [outputs.shown(place, enumerated) for place in (pair.x, pair.y)]
    return AuditRow(
        limit,
        claimed,
        pair.truth,
        Evidence(x, y, *answers),
        rounded=holds_float(answers) and pair.truth != math.inf,
        tolerance_ulps=question.tolerance,
        reason=reason or ("" if enumerated else _SAMPLED),
        judged=enumerated,
    )
