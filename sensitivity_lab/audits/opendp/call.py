"""Audits of OpenDP transformations: whether answers differ by more than the map promises.

This needs the extra `opendp`. The shipped implementation is called on ordered vectors, so
rounding, overflow and the order of records count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.maps import farthest, rows_of
from sensitivity_lab.audits.pairs import check_pairs
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.checks import check_running
from sensitivity_lab.numpy_state import with_numpy_defaults

from .answers import ask, calls_of, invoke
from .inputs import question_of
from .subject import check_subject


@with_numpy_defaults
def audit_opendp(
    transformation: Any,
    values: Iterable[Any] | None = None,
    sizes: int | Iterable[int] | None = None,
    *,
    datasets: Any = None,
    neighbors: Callable[[Any, Any], Any] | None = None,
    d_in: float | Iterable[float] = (1, 2),
    component: Literal["L0", "L1", "L2", "Linf"] | None = None,
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of an OpenDP transformation with the exact maximum over a small universe.

    The truth at d_in is the largest distance of the answers on two inputs that are at most d_in
    apart, in the transformation's own metrics. The inputs are all vectors of the given sizes over
    the given values, or the datasets that you give.

    Parameters
    ----------
    transformation : opendp.prelude.Transformation
        The transformation to audit.
    values : iterable, optional
        The universe of entries, for transformations of vectors, of single values, and of texts,
        whose entries are lines. Values that the input domain does not accept are left out, and the
        setting of the report says so.
    sizes : int or iterable of int, optional
        The lengths of the vectors; by default the size of the domain. Sizes that the input domain
        does not accept are left out. Do not give sizes where the input is a single value.
    datasets : iterable or callable, optional
        The inputs instead of `values` and `sizes`, for any other domain: arrays, tables,
        LazyFrames, objects of a user domain. A callable takes nothing and returns an iterable.
        Inputs that the input domain does not accept are left out, and the setting says so; tables
        of Polars are not checked.
    neighbors : callable, optional
        The input metric as a symmetric function of two inputs: their distance, or whether they are
        neighbors (True is a distance of 1, False of infinity). Needed if the lab does not know the
        input metric.
    d_in : number or iterable of numbers, default (1, 2)
        Input distances of at least 0, which are whole numbers unless OpenDP's own are floats. The
        report has a row for each. Distance 0 compares inputs that the input metric does not
        distinguish, such as two orders of the same records.
    component : {"L0", "L1", "L2", "Linf"}, optional
        Which of the three numbers of L01InfDistance or L02InfDistance to audit. Required if one of
        these is the output metric, and refused otherwise.
    every_order : bool, default True
        Whether to try vectors in every order of their entries, or only in the order of `values`.
        With one order a violation is just as certain, but other orders may be worse.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    n_jobs : int, optional
        The number of worker processes, as in joblib; they start only if they save time, see
        `global_sensitivity`. A transformation that OpenDP cannot serialise is called in this
        process only, and the setting of the report says so.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    AuditReport
        A row per input distance: `claimed` is the value of the map, `truth` the exact maximum. If
        the map fails at a distance, or returns NaN or a negative number, `claimed` is None,
        `reason` says why, and the verdict is "no claim".

    Raises
    ------
    InputError
        If an argument is invalid, a metric or the domain is not covered, or the
        transformation is randomised, so that two calls on one input differ.
    MissingExtraError
        An InputError: OpenDP is not installed.
    QueryError
        If the transformation fails, or two answers have no distance.
    TooLargeError
        If there are too many vectors or pairs; the message says how many.

    Notes
    -----
    With m values there are ``m**s`` vectors of size s, and the transformation is called once on
    each. To find out whether it is randomised, up to 2,048 more calls follow, which are the same in
    every audit: equal shares for all sizes, and up to 32 calls on one input. At the end there are
    256 calls on each dataset of the evidence.

    All pairs of inputs are compared; where the input metric ignores order, inputs with the same
    records and the same answer are compared once. Answers of any size are compared exactly, floats
    and roots included.

    The records of an array are its entries or rows, those of a table its rows, those of a text its
    lines. As records, 0.0 and -0.0 differ, and NaN equals NaN. An answer that is NaN or infinite is
    infinitely far from all others, and so is a vector of another length.

    For scores (the metric `LInfDistance` with `monotonic`), the distance is the largest increase
    plus the largest decrease: "Linf" where all scores go one way, and the loss of a selection
    where they do not. OpenDP's own is infinite there, so its map would fail at a distance of 2 that
    adds a record and removes one.

    The universe is a part of the domain: "loose" and "tight" hold for this part, "violated" for the
    whole domain. The audit does not change OpenDP's features: constructing a transformation needs
    "contrib", auditing it needs none.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> import numpy as np
    >>> total = dp.t.make_user_transformation(
    ...     dp.user_domain("arrays", lambda x: isinstance(x, np.ndarray)),
    ...     dp.symmetric_distance(),
    ...     dp.vector_domain(dp.atom_domain(T=float)),
    ...     dp.l1_distance(T=float),
    ...     lambda x: x.clip(0, 1).sum(axis=0).tolist(),
    ...     lambda d_in: 2.0 * d_in,
    ... )
    >>> rows = [[0.0, 1.0], [5.0, 1.0]]
    >>> audit_opendp(total, datasets=[np.array(rows[:n]) for n in (1, 2)], d_in=1)
    Audit of make_user_transformation: tight
      setting  SymmetricDistance() of at most k to L1Distance(f64); 2 datasets; implementation
      k  claimed  truth  verdict
      1  2        2      tight
      x  ((0.0, 1.0),)  ->  (0.0, 1.0)
      y  ((0.0, 1.0), (5.0, 1.0))  ->  (1.0, 2.0)
    """
    subject = check_subject(transformation, component, neighbors)
    question = question_of(
        subject,
        transformation,
        values,
        sizes,
        datasets,
        d_in,
        every_order,
        tolerance_ulps,
        progress,
    )
    if not question.inputs.unordered:
        check_pairs(len(question.datasets))
    check_running(n_jobs, progress)
    calls = calls_of(transformation, n_jobs)
    answers = ask(calls.call, question.datasets, n_jobs if calls.shipped else 1, progress)
    call = partial(invoke, transformation)
    rows = rows_of(question, call, farthest(question, call, answers))
    return question.report(rows, f"implementation{calls.remark}")
