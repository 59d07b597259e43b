"""Audits of OpenDP: whether outputs differ by more than the map promises.

This needs the extra `opendp`. The shipped implementation of a transformation is called on ordered
vectors, so rounding, overflow and the order of records count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from sensitivity_lab import running
from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.couplings.call import audit_coupling
from sensitivity_lab.audits.maps import farthest, rows_of
from sensitivity_lab.audits.pairs import check_pairs
from sensitivity_lab.audits.question import check_left_out, check_order
from sensitivity_lab.audits.randomness import RandomisedError
from sensitivity_lab.audits.records import table_numbers
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_callable, check_running
from sensitivity_lab.errors import InputError

from .inputs import question_of
from .measurement import Asked, audit_law, audit_scale
from .subject import check_subject, invoke, needed

_OTHERS = {
    "Function": "a Function of OpenDP, which has no map: give the measurement that it follows",
    "Odometer": "an odometer of OpenDP, which has no map: give a measurement that it answers",
    "Context": "a Context of OpenDP, which has data of its own: give the measurement of a query",
    "Query": "a Query of OpenDP: give the measurement that its resolve() returns",
    "_PartialConstructor": "a constructor of OpenDP that waits for a domain and a metric: give "
    "(domain, metric) >> it",
}
"""What else OpenDP makes, by its class."""

_DRAWS = 400
"""How often a transformation that draws at random is called on a dataset."""

_ONLY_OF_A_SCALE = "applies only to a function of a scale that returns a measurement; leave it out"


@public_call
def audit_opendp(
    made: Any,
    universe: Iterable[Any] | None = None,
    size: int | Iterable[int] | None = None,
    *,
    datasets: Any = None,
    extremes: bool = False,
    neighbors: Callable[[Any, Any], Any] | None = None,
    distances: float | Iterable[float] | None = None,
    component: Literal["L0", "L1", "L2", "Linf"] | None = None,
    scale: float | None = None,
    outputs: Any = None,
    answer: Callable[[Any], Any] | None = None,
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of an OpenDP transformation or measurement with the truth.

    The truth for a transformation at d_in is the largest distance of the answers on two inputs that
    are at most d_in apart, in its own metrics. For a measurement it is the privacy loss, by the
    exact law of its noise. The inputs are all vectors of the given sizes over the given values, or
    the datasets that you give.

    Parameters
    ----------
    made : Transformation, Measurement, or callable
        What to audit. A callable takes a scale and returns the measurement with noise of this
        scale, with nothing else changed; it can be a Polars pipeline of `make_private_lazyframe`.
        Then the sensitivity that the map assumes is compared with that of the exact answers, which
        the measurement with scale 0 returns.
    universe : iterable, optional
        The values of entries, for transformations of vectors, of single values, of texts, whose
        entries are lines, and of two-dimensional arrays of NumPy, whose entries are rows. Values
        that the input domain does not accept are left out, and the setting of the report says so.
    size : int or iterable of int, optional
        The lengths of the vectors; by default the size of the domain. Sizes that the input domain
        does not accept are left out. Do not give sizes where the input is a single value.
    datasets : iterable or callable, optional
        The inputs instead of `universe` and `size`, for any other domain: arrays, tables,
        LazyFrames, objects of a user domain. A callable takes nothing and returns an iterable.
        Inputs that the input domain does not accept are left out, and the setting says so; tables
        of Polars are not checked.
    extremes : bool, default False
        Whether to take extreme inputs instead of `universe`, `size` and `datasets`, for vectors and
        single values: of floats 1, 0.0, -0.0, 2^50, -2^50, the smallest subnormal number, both
        infinities and NaN; of whole numbers 0, 1 and the ends of their type; and the bounds of the
        domain, with the floats next to them. Those that the domain does not accept are left out.
        Vectors have up to two entries in every order, or 1,023 and 1,024 entries of which at most
        the first or the last one differs, or the size of the domain.
    neighbors : callable, optional
        The input metric as a symmetric function of two inputs: their distance, or whether they are
        neighbors (True is a distance of 1, False of infinity). Needed if the lab does not know the
        input metric.
    distances : number or iterable of numbers, optional
        The input distances d_in, at least 0, which are whole numbers unless OpenDP's own are
        floats. The report has a row for each. Distance 0 compares inputs that the input metric does
        not distinguish, such as two orders of the same records. By default 1 and 2; with
        `extremes` 0, 1, 2, 1,024 and 2^20.
    component : {"L0", "L1", "L2", "Linf"}, optional
        Which of the three numbers of L01InfDistance or L02InfDistance to audit. Required if one of
        these is the output metric, and refused otherwise.
    scale : float, default 1.0
        For a function of a scale: where to evaluate the map, from 1e-100 to 1e100. A power of two
        avoids rounding. The claim is ``map(d_in) * scale`` for Laplace noise, and
        ``sqrt(2 * map(d_in)) * scale`` for Gaussian noise.
    outputs : str or callable, optional
        For a function of a scale: the metric on exact answers; see `audit`. By default "L1" for
        pure and "L2" for zero-concentrated differential privacy.
    answer : callable, optional
        For a function of a scale: turns what the measurement returns into numbers, for the metrics
        on numbers. By default a table becomes a mapping from its texts and the name of a column to
        a number.
    every_order : bool, default True
        Whether to try vectors in every order of their entries, or only in the order of `universe`.
        With one order a violation is just as certain, but other orders may be worse.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
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
        If an argument is invalid or does not apply, a metric, the domain, the privacy measure or
        the noise is not covered, or a transformation of the caller's answers one input twice
        otherwise.
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

    A transformation of OpenDP that chooses rows at random, as `make_resize` does, is called 400
    times on each input, and its outputs are coupled; see `audit`.

    The records of an array are its entries or rows, those of a table its rows, those of a text its
    lines. As records, 0.0 and -0.0 differ, and NaN equals NaN. An answer that is NaN or infinite is
    infinitely far from all others, and so is a vector of another length.

    For scores (the metric `LInfDistance` with `monotonic`), the distance is the largest increase
    plus the largest decrease: "Linf" where all scores go one way, and the loss of a selection
    where they do not. OpenDP's own is infinite there, so its map would fail at a distance of 2 that
    adds a record and removes one.

    A measurement is judged by a *twin*: its transformation, followed by the noise that its last
    constructor documents (Laplace, geometric and Gaussian noise, thresholds on integers, and
    randomised response), drawn from a generator that the audit drives; see `audit_mechanism`. So
    epsilon, delta and rho are those of this noise, and OpenDP's own sampler is not tried. Noise on
    integers is taken without the ends of their type, where OpenDP's stays. It has endless support,
    whose cut law proves no pure epsilon: give a function of a scale
    for these. Its twin at scale 0 shows no delta, so under approximate differential privacy the
    verdict is at best "not judged". Groups below a threshold would be missing from the answer at
    scale 0, so give a pipeline with groups a threshold that drops nothing there. Selections
    (`make_noisy_max`) have no twin: audit the transformation that makes the scores.

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
    >>> audit_opendp(total, datasets=[np.array(rows[:n]) for n in (1, 2)], distances=1)
    Audit of make_user_transformation: tight
      setting  SymmetricDistance() of at most k to L1Distance(f64); 2 datasets; implementation
      k  claimed  truth  verdict
      1  2        2      tight
      x  ((0.0, 1.0),)  ->  (0.0, 1.0)
      y  ((0.0, 1.0), (5.0, 1.0))  ->  (1.0, 2.0)

    The delta of a threshold on counts by key is too small (OpenDP issue 2922):

    >>> texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    >>> counts = texts >> dp.t.then_count_by(TV=dp.i32)
    >>> above = counts >> dp.m.then_laplace_threshold(1.0, 5)
    >>> report = audit_opendp(above, ["a"], range(3), distances=1)
    >>> report.verdict, round(report.rows[0].claimed, 6), round(report.rows[0].value, 6)
    ('violated', 0.004926, 0.01339)

    Extreme inputs: the claim at a distance of 0 misses that a sum of floats depends on their order.
    (Since Python 3.12, ``sum`` makes up for rounding.)

    >>> from functools import reduce
    >>> from operator import add
    >>> floats = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    >>> def in_order(x):
    ...     return reduce(add, (min(max(one, -1e16), 1e16) for one in x), 0.0)
    >>> naive_sum = dp.t.make_user_transformation(
    ...     floats,
    ...     dp.symmetric_distance(),
    ...     dp.atom_domain(T=float, nan=False),
    ...     dp.absolute_distance(T=float),
    ...     in_order,
    ...     lambda d_in: 1e16 * d_in,
    ... )
    >>> audit_opendp(naive_sum, extremes=True, distances=0).verdict
    'violated'

    A sum with Laplace noise of any scale:

    >>> ints = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    >>> def noisy_sum(scale):
    ...     return ints >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)
    >>> audit_opendp(noisy_sum, [0, 9], range(3), distances=1).verdict
    'tight'
    """
    transformations, measurements = needed("audit_opendp")
    order = "audit_opendp(made, universe, size, ...)"
    check_order(made, universe, "made and universe", order)
    check_running(None, progress)
    asked = partial(
        question_of,
        universe=universe,
        size=size,
        datasets=datasets,
        extremes=extremes,
        distances=distances,
        every_order=every_order,
        tolerance_ulps=tolerance_ulps,
        progress=progress,
    )
    of_a_scale = {"scale": scale, "outputs": outputs, "answer": answer}
    if isinstance(made, transformations):
        check_left_out(of_a_scale, _ONLY_OF_A_SCALE)
        return _audit_transformation(made, asked, component, neighbors, progress)
    check_left_out({"component": component}, "applies only to a transformation; leave it out")
    if isinstance(made, measurements):
        check_left_out(of_a_scale, _ONLY_OF_A_SCALE)
        return audit_law(made, asked, neighbors)
    wanted = "a Transformation, a Measurement, or a function of a scale that returns one"
    if type(made).__module__.startswith("opendp.") and type(made).__name__ in _OTHERS:
        raise InputError(f"made must be {wanted}, got {_OTHERS[type(made).__name__]}")
    check_callable("made", made, wanted)
    scale = 1.0 if scale is None else scale
    answer = table_numbers if answer is None else answer
    return audit_scale(made, asked, neighbors, scale, outputs, answer, progress)


def _audit_transformation(
    made: Any, asked: Asked, component: Any, neighbors: Any, progress: Any
) -> AuditReport:
    """Compare the map of a transformation with the largest distance of its answers."""
    question = asked(check_subject(made, component, neighbors), made)
    if not question.inputs.unordered:
        check_pairs(len(question.datasets))
    call = partial(invoke, made)
    tracked = running.tracked(question.datasets, unit="datasets", progress=progress)
    answers = list(map(call, tracked))
    try:
        rows = rows_of(question, call, farthest(question, call, answers))
    except RandomisedError:
        if "_user_" in question.subject:  # it may keep something between calls
            raise
        return audit_coupling(question, call, _DRAWS)
    return question.report(rows, "implementation")
