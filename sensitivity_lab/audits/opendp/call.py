"""Audits of OpenDP transformations: whether answers ever exceed what the map promises.

Needs the extra `opendp`. What is audited is the shipped implementation, called on ordered vectors:
rounding, overflow and the order of records count.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from sensitivity_lab.audits.claims import ROUNDING_ULPS, check_tolerance, holds_float
from sensitivity_lab.audits.inputs import check_several
from sensitivity_lab.audits.metrics import ORDER_IGNORED
from sensitivity_lab.audits.randomness import try_evidence_again, try_inputs_again
from sensitivity_lab.audits.report import AuditReport, AuditRow
from sensitivity_lab.audits.worst_pair import Answered, check_pairs, worst_pairs
from sensitivity_lab.checks import check_flag, check_running
from sensitivity_lab.numpy_state import with_numpy_defaults

from .answers import ask, calls_of, invoke
from .inputs import inputs_of
from .subject import check_subject


@with_numpy_defaults
def audit_opendp(
    transformation: Any,
    values: Iterable[Any],
    sizes: int | Iterable[int] | None = None,
    *,
    d_in: int | Iterable[int] = (1, 2),
    component: Literal["L0", "L1", "L2", "Linf"] | None = None,
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of an OpenDP transformation with the exact maximum over a small universe.

    The truth at d_in is the largest output distance between the answers on two inputs at an input
    distance of at most d_in, in the transformation's own metrics, over all inputs of the sizes
    given whose entries are among the values given.

    Parameters
    ----------
    transformation : opendp.prelude.Transformation
        From vectors or from single values.
    values : iterable
        The universe of entries; those that the input domain does not accept are left out, which
        the report's setting says.
    sizes : int or iterable of int, optional
        The lengths of the vectors, of which those that the input domain accepts are taken; by
        default the size of the domain. To be left out where the input is a single value.
    d_in : int or iterable of int, default (1, 2)
        Input distances, whole numbers of at least 0, a row of the report each. Distance 0 compares
        inputs that the input metric does not tell apart, such as two orders of the same records.
    component : {"L0", "L1", "L2", "Linf"}, optional
        Which of its three numbers to audit, where the output metric is L01InfDistance or
        L02InfDistance; needed there, refused elsewhere.
    every_order : bool, default True
        Whether vectors are taken in every order of their entries. If False, in one order: that of
        `values`. A violation is then as certain as otherwise, but other orders may do worse.
    tolerance_ulps : int, float or Fraction, default 4
        By how many units in the last place of the truth claim and truth may differ as rounding,
        where the claim or the answers are floats; see `audit`.
    n_jobs : int, optional
        Worker processes, as in joblib. A transformation that OpenDP cannot serialise is called in
        this process alone, which the report's setting says.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.

    Returns
    -------
    AuditReport
        A row per input distance: `claimed` is what the map answers, `truth` the exact maximum. At
        a distance at which the map fails nothing is claimed: `claimed` is None, `reason` what the
        map says, and the verdict "no claim".

    Raises
    ------
    InputError
        If an argument is not acceptable, a metric or the domain is none of those covered, or the
        transformation is randomised: two calls on one input differ.
    MissingExtraError
        An InputError: OpenDP is not installed.
    QueryError
        If the transformation fails, or its map at every distance, or two answers have no distance.
    TooLargeError
        If there are too many vectors or pairs; says the numbers.

    Notes
    -----
    With m values, ``m**s`` vectors per size s, each put to the transformation once. To see whether
    it is randomised, up to 2,048 more calls follow, with equal shares for every size, up to 32 on
    one input, the same ones in every audit; and in the end 256 on each dataset of the evidence.
    Then all pairs of inputs are compared, or where the input metric ignores order, of those
    multisets and answers that differ. Answers are compared exactly,
    whatever their size, floats and roots included. The universe is a part of the domain: that a
    claim is "loose" or "tight" is said of this part, "violated" of the whole. OpenDP's features are
    left as they are: to construct a transformation needs "contrib", to audit it none.
    """
    every_order = check_flag("every_order", every_order)
    subject = check_subject(transformation, component)
    inputs, among = inputs_of(transformation, values, sizes, every_order)
    limits = check_several("d_in", d_in, "an input distance, at least 0")
    tolerance = check_tolerance(tolerance_ulps)
    claims = subject.claims(limits)
    if subject.inputs not in ORDER_IGNORED:
        check_pairs(len(inputs))
    check_running(n_jobs, progress)
    calls = calls_of(transformation, n_jobs)
    answers = ask(calls.call, inputs, n_jobs if calls.shipped else 1, progress)
    call = partial(invoke, transformation)
    try_inputs_again(call, inputs, answers, progress)
    answered = [Answered(*pair) for pair in zip(inputs, answers, strict=True)]
    worst = worst_pairs(answered, subject.inputs, subject.outputs, limits, progress).farthest
    shown = [worst[limit, 0].evidence for limit in limits]
    try_evidence_again(call, shown, progress)
    rows = tuple(
        AuditRow(
            limit,
            claim,
            worst[limit, 0].truth,
            seen,
            rounded=holds_float((seen.answer_x, seen.answer_y)),
            tolerance_ulps=tolerance,
            reason=reason,
        )
        for limit, (claim, reason), seen in zip(limits, claims, shown, strict=True)
    )
    setting = f"{subject.metrics}; {among}; implementation{calls.remark}"
    return AuditReport(subject.name, rows, setting)
