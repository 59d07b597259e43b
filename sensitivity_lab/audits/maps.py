"""Audit the map of any function: how far apart answers on close datasets can be."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.checks import check_callable, check_running
from sensitivity_lab.metrics import Given, as_metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.numpy_state import with_numpy_defaults

from .claims import ROUNDING_ULPS, check_tolerance, claims_of, holds_float
from .pairs import Answered, WorstPairs, check_compared, worst_pairs
from .question import Question, check_distances, datasets_of, naming
from .randomness import try_evidence_again, try_inputs_again
from .records import plain
from .report import AuditReport
from .row import AuditRow
from .subjects import check_subject, name_of


@with_numpy_defaults
def audit_map(
    transformation: Callable[[Any], Any],
    claim: Any,
    values: Iterable[Any] | None = None,
    sizes: int | Iterable[int] | None = None,
    *,
    datasets: Any = None,
    inputs: Given = "symmetric",
    outputs: Given = "absolute",
    d_in: Any = (1, 2),
    every_order: bool = True,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of a function with the largest distance of its answers, in any two metrics.

    The truth at d_in is the largest distance of the answers on two datasets that are at most d_in
    apart, among the datasets that are tried.

    Parameters
    ----------
    transformation : callable
        Takes a dataset and returns an answer, without randomness, from any library.
    claim : callable or number
        The map: a function of d_in that returns the promised distance of answers, or one number for
        all d_in. A map that raises, or returns no distance, claims nothing at that d_in.
    values : iterable, optional
        The universe of records: the datasets are all lists of the given sizes over these values.
    sizes : int or iterable of int, optional
        The lengths of the lists; needed with `values`.
    datasets : iterable or callable, optional
        The datasets instead of `values` and `sizes`: lists, arrays, tables of pandas or Polars,
        texts, numbers, or objects of your own. A callable takes nothing and returns an iterable.
    inputs : str or callable, default "symmetric"
        The metric on datasets. On records: "symmetric" (records added or removed), "insert_delete"
        (the same, where the order counts), "change_one" (records replaced), "hamming" (the same at
        their places), "add_or_remove" (only added, or only removed), "discrete" (0 or 1). On
        numbers: "absolute", "L0", "L1", "L2", "Linf". Or a symmetric function of two datasets that
        returns their distance, or whether they are neighbors (True is a distance of 1, False of
        infinity).
    outputs : str or callable, default "absolute"
        The metric on answers, from the same choices, or "Linf_monotonic" for the scores of a
        selection mechanism: the largest increase plus the largest decrease of a score. That is
        "Linf" where all scores go one way, as a mechanism for monotonic scores needs.
    d_in : number or iterable of numbers, default (1, 2)
        Input distances, at least 0; whole numbers if the metric counts records. The report has a
        row for each.
    every_order : bool, default True
        Whether to try lists in every order of their records, or only in the order of `values`.
    subject : str, optional
        The name in the report; by default that of the function.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    AuditReport
        A row per input distance, with the claim, the exact truth, the verdict and the pair that
        attains the truth. If the map claims nothing, the verdict is "no claim", and `reason` says
        why.

    Raises
    ------
    InputError
        If an argument is invalid, if two calls on one dataset return different answers, or
        if no two datasets are that close, as with one size and "symmetric" at distance 1.
    QueryError
        If the function fails on a dataset, or two datasets or answers have no distance.
    TooLargeError
        If there are too many datasets or pairs; the message says how many.

    Notes
    -----
    With N datasets there are N calls, up to 2,048 more to find randomness, 256 more on each dataset
    of the evidence, and at most ``N * (N - 1) / 2`` pairs, which are compared exactly.

    The records of an array are its entries or rows, those of a table its rows, those of a text its
    lines. As records, 0.0 and -0.0 differ, and NaN equals NaN. An answer that is NaN or infinite is
    infinitely far from all others, and so is a vector of another length.

    Examples
    --------
    >>> def clipped_sum(x):
    ...     return sum(min(one, 3) for one in x)
    >>> audit_map(clipped_sum, lambda d_in: 3 * d_in, [0, 1, 9], range(3), d_in=1)
    Audit of clipped_sum: tight
      setting  symmetric of at most k to absolute; values (0, 1, 9), sizes (0, 1, 2) in every order;
      implementation
      k  claimed  truth  verdict
      1  3        3      tight
      x  ()  ->  0
      y  (9,)  ->  3

    The scores of a selection mechanism, which go up for one candidate and down for the other:

    >>> def scores(x):
    ...     return [x.count("a") - x.count("b"), x.count("b") - x.count("a")]
    >>> audit_map(scores, 1, ["a", "b"], range(3), d_in=1, outputs="Linf").verdict
    'tight'
    >>> audit_map(scores, 1, ["a", "b"], range(3), d_in=1, outputs="Linf_monotonic").verdict
    'violated'

    Distances that are no whole numbers, between datasets of your own:

    >>> audit_map(abs, lambda d: d, datasets=[-2.0, -0.5, 0.25], inputs="absolute", d_in=0.75)
    Audit of abs: loose
      setting  absolute of at most k to absolute; 3 datasets; implementation
      k     claimed  truth       verdict
      0.75  0.75     1/4 = 0.25  loose (claim / truth = 3)
      x  -0.5  ->  0.5
      y  0.25  ->  0.25
    """
    check_callable("transformation", transformation, "a function of a dataset")
    near, far = as_metric("inputs", inputs), as_metric("outputs", outputs)
    limits = check_distances(d_in, real=near.real)
    check_running(None, progress)
    name = check_subject(subject, transformation)
    tried, among = datasets_of(values, sizes, datasets, every_order)
    question = Question(
        subject=name,
        datasets=tried,
        among=among,
        inputs=near,
        outputs=far,
        metrics=f"{_named(inputs)} of at most k to {_named(outputs)}",
        limits=limits,
        claims=claims_of(claim if callable(claim) else lambda _: claim, limits),
        tolerance=check_tolerance(tolerance_ulps),
        progress=progress,
    )

    def call(x: Any) -> Any:
        with naming("the transformation fails on {}:", x):
            answer = collected(transformation(copy.copy(x)))
            signed_key(plain(answer))  # raises if answers cannot be compared
            return answer

    answers = [call(x) for x in running.tracked(tried, unit="datasets", progress=progress)]
    found = farthest(question, call, answers)
    check_compared(found.alone, tried, near)
    return question.report(rows_of(question, call, found), "implementation")


def _named(metric: Given) -> str:
    """Return the name of a metric for the report."""
    return metric if isinstance(metric, str) else name_of(metric)


def collected(answer: Any) -> Any:
    """Return an answer, or the table that a lazy one stands for: some can be collected once."""
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
    worst = [found.farthest[limit, 0] for limit in question.limits]
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
