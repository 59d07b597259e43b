"""Audits of randomised code: compare its claimed stability with the best coupling of outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.claims import (
    ROUNDING_ULPS,
    check_tolerance,
    claim_at,
    holds_float,
)
from sensitivity_lab.audits.pairs import check_pairs
from sensitivity_lab.audits.question import Question, check_several, vectors_over
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow, Evidence
from sensitivity_lab.audits.subjects import check_subject
from sensitivity_lab.checks import (
    check_callable,
    check_choice,
    check_flag,
    check_running,
    check_whole,
    listed,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.metrics.cells import key_of, signed_key
from sensitivity_lab.numpy_state import with_numpy_defaults

from .outputs import Outputs, Source, gathered
from .pairs import Coupled, check_again, check_backward, farthest

_SAMPLED = "the outputs are a sample, and others may be farther apart; give all choices="
"""Why a sample calls no claim large enough."""

DRAWS = 1_000
"""The default number of calls on a dataset."""


@with_numpy_defaults
def audit_randomized(
    function: Callable[..., Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *,
    claim: Any,
    input_metric: str = "symmetric",
    output_metric: str = "symmetric",
    d_in: int | Iterable[int] = (1, 2),
    choices: Callable[[list[Any]], Iterable[Any]] | Iterable[Any] | None = None,
    seeds: Iterable[Any] | None = None,
    draws: int = DRAWS,
    every_order: bool = True,
    signed_zeros: bool = False,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
) -> AuditReport:
    """Compare a claimed stability with how close the outputs of randomised code can stay.

    A shuffle, an imputation, a sample, or a truncation by random choice has a distribution of
    outputs on every dataset. It is stable if the outputs on two neighbors can be coupled: drawn
    together such that they are always close. The truth is the largest distance of two coupled
    outputs, under the best coupling, on the worst pair of neighbors.

    Parameters
    ----------
    function : callable
        Takes a dataset, which is a list, and a random choice where `choices` or `seeds` are given.
        A transformation of OpenDP is such a function.
    values : iterable
        The universe of records.
    sizes : int or iterable of int
        The numbers of records.
    claim : callable, int, float, Fraction or Decimal
        The claimed stability: a function of d_in, such as the map of a transformation, or one
        number for all distances.
    input_metric, output_metric : str, default "symmetric"
        The metrics of datasets and of outputs: "symmetric", "insert_delete", "change_one",
        "hamming", "add_or_remove", "discrete", "absolute", "L0", "L1", "L2" or "Linf".
    d_in : int or iterable of int, default (1, 2)
        Input distances. The report has a row for each.
    choices : callable or iterable, optional
        All random choices, equally likely: the same for all datasets, or a function of the dataset.
        With these the audit is exact.
    seeds : iterable, optional
        A sample of random choices.
    draws : int, default 1000
        The number of calls on each dataset, without `choices` and `seeds`.
    every_order : bool, default True
        Whether to try datasets in every order of their records.
    signed_zeros : bool, default False
        Whether 0.0 and -0.0 are different outputs, or parts of one. NaN always equals NaN.
    subject : str, optional
        The name of the function in the report; by default its own name.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding; see `audit`.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal, after one second.

    Returns
    -------
    AuditReport
        A row per input distance. The answers of the evidence are the outputs, each with its
        probability, or with how often it was drawn.

    Raises
    ------
    InputError
        If an argument is invalid, or the claim fails.
    QueryError
        If the function fails, answers the same choice differently, or two outputs have no distance.
    TooLargeError
        If there are too many datasets, pairs or different outputs.

    Notes
    -----
    Outputs at distance 0, such as two orders of a multiset, are one output. With `choices`, the
    smallest distance that allows a coupling is found by bisection; each step is a maximum flow
    between the outputs on x and on y. Every pair is exact.

    Draws are a sample, and the setting of the report says so: the truth is a distance that no
    coupling stays below, except with a probability of less than e**-25 per pair. It may be too
    small, so no claim is called tight or loose: the verdict is "not judged", which is not sound,
    unless the sample violates the claim. A claim is "violated" only if new draws on the same two
    datasets confirm it. Outputs that never recur, such as floats from a continuous range, show
    nothing.

    Examples
    --------
    Two of the records, by random choice, all of which are listed:

    >>> import itertools
    >>> audit_randomized(
    ...     lambda x, kept: [x[i] for i in kept],
    ...     [0, 1, 2],
    ...     [3, 4],
    ...     claim=lambda d_in: 2 * d_in,
    ...     choices=lambda x: itertools.combinations(range(len(x)), 2),
    ...     d_in=1,
    ...     every_order=False,
    ...     subject="two records",
    ... )
    Audit of two records: tight
      setting  symmetric of at most d_in to symmetric; values (0, 1, 2), sizes (3, 4) in one order;
               all choices, equally likely, under the best coupling; implementation
      k  claimed  truth  verdict
      1  2        2      tight
      x  (0, 0, 0)  ->  (((0, 0), 1),)
      y  (0, 0, 0, 1)  ->  (((0, 0), 1/2), ((0, 1), 1/2))
    """
    check_callable("function", function, "a function of a list")
    check_choice("input_metric", input_metric, tuple(METRICS))
    check_choice("output_metric", output_metric, tuple(METRICS))
    name = check_subject(subject, function)
    cells = signed_key if check_flag("signed_zeros", signed_zeros) else key_of
    check_running(None, progress)
    source, told = _source(function, choices, seeds, draws)
    datasets, among = vectors_over(values, sizes, every_order)
    limits = check_several("d_in", d_in, "an input distance, at least 0")
    question = Question(
        subject=name,
        datasets=datasets,
        among=among,
        inputs=METRICS[input_metric],
        outputs=METRICS[output_metric],
        metrics=f"{input_metric} of at most d_in to {output_metric}",
        limits=limits,
        claims=[(claim_at(claim, limit, name="d_in"), "") for limit in limits],
        tolerance=check_tolerance(tolerance_ulps),
        progress=progress,
    )
    check_pairs(len(datasets))
    tried = running.tracked(datasets, unit="datasets", progress=progress)
    made = [source.outputs(x) for x in tried]
    check_backward(source, datasets, made, progress)
    gather = partial(gathered, metric=question.outputs, cells=cells)
    outputs = gather(made)
    found = farthest(question, outputs, source.enumerated)
    rows = []
    for limit, (claimed, _) in zip(limits, question.claims, strict=True):
        pair = found[limit]
        row = _row(limit, claimed, pair, question, outputs, source.enumerated)
        truth = check_again(source, pair, datasets, made, gather, row.verdict)
        if truth is not None and truth < pair.truth:
            again = Coupled(pair.x, pair.y, truth)
            row = _row(limit, claimed, again, question, outputs, source.enumerated)
        rows.append(row)
    return question.report(rows, f"{told}, under the best coupling; implementation")


def _source(function: Any, choices: Any, seeds: Any, draws: Any) -> tuple[Source, str]:
    """Return where outputs come from, and what the setting says of it, or raise InputError."""
    draws = check_whole("draws", draws, "a number of calls, at least 1", 1)
    if choices is not None and seeds is not None:
        raise InputError("choices and seeds exclude each other; give all choices, or some seeds")
    if choices is not None:
        given = choices if callable(choices) else _always("choices", choices)
        return Source(function, given, draws, True), "all choices, equally likely"
    if seeds is not None:
        given = _always("seeds", seeds)
        number = len(given([]))
        return Source(function, given, draws, False), f"sampled, not enumerated: {number:,} seeds"
    told = f"sampled, not enumerated: {draws:,} draws on each dataset"
    return Source(function, None, draws, False), told


def _always(name: str, given: Any) -> Callable[[list[Any]], Sequence[Any]]:
    """Return a function that returns the same choices for all datasets."""
    wrong = f"{name} must be random choices, at least one"
    found = listed(given, wrong)
    if not found:
        raise InputError(f"{wrong}, got none")
    return lambda _: found


def _row(
    limit: Number,
    claimed: Any,
    pair: Coupled,
    question: Question,
    outputs: Outputs,
    enumerated: bool,
) -> AuditRow:
    """Compare the claim at an input distance with the worst pair."""
    x, y = (tuple(question.datasets[place]) for place in (pair.x, pair.y))
    answers = [outputs.shown(place, enumerated) for place in (pair.x, pair.y)]
    return AuditRow(
        limit,
        claimed,
        pair.truth,
        Evidence(x, y, *answers),
        rounded=holds_float(answers) and pair.truth != math.inf,
        tolerance_ulps=question.tolerance,
        reason="" if enumerated else _SAMPLED,
        judged=enumerated,
    )
