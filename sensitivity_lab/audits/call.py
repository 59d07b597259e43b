"""The door of all audits of a claim: beside a query, a function, or a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_callable, check_flag, check_running, shown
from sensitivity_lab.errors import InputError, SensitivityViolation
from sensitivity_lab.pipelines import Transformation
from sensitivity_lab.results.literals import brief
from sensitivity_lab.search.engine import Run

from .claims import ROUNDING_ULPS
from .couplings import audit_coupling
from .driven.kept import judged_by_first_calls
from .maps import RANDOM, audit_map
from .question import check_order, misfit, name_of, question_about
from .report import AuditReport
from .searched import audit_pipeline, audit_query

_QUERY = frozenset({"norm", "exactly", "method", "n_jobs", "run", "subject"})
_FUNCTION = frozenset({"datasets", "outputs", "choices", "every_order", "subject"})
_ORDER = "audit(universe, query, claim, ...)"

_PIPELINE = frozenset({"n_jobs"})
"""The arguments of each form, besides those of all; `neighbors` is for the first two."""


@public_call
def audit(
    universe: Any,
    query: Any,
    claim: Any = None,
    *,
    size: Any = None,
    neighbors: Any = None,
    distances: Any = None,
    datasets: Any = None,
    outputs: Any = None,
    choices: Any = None,
    every_order: bool = True,
    norm: str = "L1",
    exactly: bool = False,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    subject: str | None = None,
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    run: Run = Run(),  # noqa: B008 - frozen
) -> AuditReport:
    """Compare a claim with the truth: of a query, of any function, or of a pipeline.

    What the truth is depends on what is audited:

    - a query, ``audit(universe, "sum", claim, size=..., neighbors=...)``: the maximum of
      ``|f(x) - f(y)|`` over all datasets x of a size and all neighbors y of x at distance k, found
      by an exact search;
    - a function, called as it is, ``audit(universe, f, claim, size=..., neighbors=...,
      outputs=...)``: the largest distance, in any metric, of its answers on two datasets at most k
      apart; with `choices`, the distance of its random outputs under the best coupling;
    - a pipeline of the lab, ``audit(universe, pipeline)``: the largest distance of its outputs on
      two inputs at most k apart.

    The audit compares truth and claim without rounding. Besides `universe`, `query`, `claim`,
    `size`, `distances`, `tolerance_ulps` and `progress`, each form takes these arguments and
    refuses the others:

    ===============  ===========================================================================
    form             arguments
    ===============  ===========================================================================
    a query          `neighbors`, `norm`, `exactly`, `subject`, `method`, `n_jobs`, `run`
    a function       `neighbors`, `outputs` (which makes it a function), `datasets`, `choices`,
                     `every_order`, `subject`
    a pipeline       `n_jobs`
    ===============  ===========================================================================

    Parameters
    ----------
    universe : Universe, IntervalUniverse, iterable, or None
        The records that datasets are drawn from. A function also takes a list of values; with
        `datasets`, the universe is None. A pipeline takes rows; see `pipelines.measured_stability`.
    query : str, Query, callable or Transformation
        What to audit. A query is as for `global_sensitivity`. With `outputs`, it is a function of
        any library that takes a list (or one of `datasets`). The audit calls it as it is: with its
        rounding, its overflow and, with `every_order`, its dependence on the order of records.
    claim : int, float, Fraction, Decimal, or callable
        The claimed sensitivity, which is not negative: one number for all distances; a function of
        the distance k, such as ``lambda k: k / 6``; or for a query a function of k and the size n
        of x, such as ``lambda k, n: k / n``, with two parameters without defaults or with a
        keyword-only ``n``. A float stands for its exact value. For a function, a callable that
        raises an error such as a ValueError at some k, or returns no distance, claims nothing at
        that k. For a pipeline, the default is its own map.
    size : int or iterable of int
        The number n of records of x. With several sizes, the truth is the maximum over all of them,
        unless the claim is a function of n: then the audit compares it with the truth at each size.
        For a function, both datasets have one of the sizes. For a pipeline, sizes are optional.
    neighbors : Relation, str or callable
        The neighbor relation, such as ``Bounded(3)``, or its name. For a function also a metric on
        datasets. On records: "symmetric" (records added or removed), "insert_delete" (the same for
        ordered records), "change_one" (records replaced), "hamming" (the same for ordered records),
        "add_or_remove" (only added, or only removed), "discrete" (0 or 1). On numbers: "absolute",
        "L0", "L1", "L2", "Linf". Or a symmetric function of two datasets that returns their
        distance, or whether they are neighbors (True is a distance of 1, False of infinity). A
        pipeline has its own.
    distances : number or iterable of numbers, optional
        The distances k, by default that of a relation, else 1. They are whole numbers if the metric
        counts records. The report has a row for each.
    datasets : iterable or callable, optional
        For a function: the datasets instead of `universe` and `size`: lists, arrays, tables of
        pandas or Polars, texts, numbers, or objects of your own. A callable takes nothing and
        returns an iterable.
    outputs : str or callable, optional
        Needed for a function that is called as it is: the metric on its answers, from the same
        choices as `neighbors`, or "Linf_monotonic" for the scores of a selection mechanism: the
        largest increase plus the largest decrease of a score. That is "Linf" where all scores go
        one way, as a mechanism for monotonic scores needs.
    choices : callable, iterable or int, optional
        For a function that draws at random: all its random choices, equally likely, the same for
        all datasets or as a function of the dataset. The function takes one choice as its second
        argument, and the audit is exact. Or a number of draws: the audit calls the function so
        often on each dataset, and the function draws by itself. A shuffle, a sample, or a random
        truncation is stable if its outputs on neighbors can be coupled: drawn together so that they
        are always close.
    every_order : bool, default True
        For a function: whether to try lists in every order of their records, or only in the order
        of `universe`.
    norm : {"L1", "L2", "Linf"}, default "L1"
        For a query: the norm of the difference of two vector answers; see `global_sensitivity`.
    exactly : bool, default False
        For a query: whether neighbors are at a distance of exactly k instead of at most k.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference between claim and truth that counts as rounding, in units in the last
        place of the truth. It applies if the claim or the answers are floats. Between exact answers
        and an int, Fraction or Decimal, no difference counts as rounding.
    subject : str, optional
        The name of what is audited in the report; by default its own name.
    method, n_jobs, progress, run
        See `global_sensitivity`. `method` and `run` are for queries, `n_jobs` for queries and
        pipelines.

    Returns
    -------
    AuditReport
        It has the `verdict` on all rows, whether they are `sound`, and the `rows`, each with
        `claimed`, `exact`, `value`, `verdict`, `factor`, `slack_ulp` and `evidence`. Its methods
        are `to_frame()`, `plot()` and `raise_if_violated()`, among others.

    Raises
    ------
    InputError
        If an argument (or a claim) is invalid or belongs to another form, or a distance is not
        feasible; if two calls of a function on one dataset return different answers; or if no two
        datasets are that close.
    NoEngineError
        See `global_sensitivity`.
    QueryError
        If what is audited fails on a dataset, answers the same choice differently, or two datasets
        or answers have no distance.
    TooLargeError
        If there are too many datasets, pairs or different outputs; the message says how many.

    Notes
    -----
    "violated" is final. "tight" and "loose" hold for this universe and these sizes only.

    A float claim that differs from the truth by at most `tolerance_ulps` units in the last place
    of the truth is "tight up to rounding", and so sound, even if it is too small; `slack_ulp` of
    the row says by how much. A function that computes in floats may need a larger tolerance: its
    answers are right to a few units in their own last place, which may be many units in the last
    place of their difference.

    *Queries.* The cost is one search for all distances together, as for `sensitivity_curves`. Noise
    with a scale that depends on n is private only if neighbors have the same n. If neighbors have
    different sizes and the claims at these sizes differ, the verdict is "data-dependent claim", or
    "violated" if the truth exceeds the smaller claim. Neither is sound.

    *Functions.* With N datasets there are N calls, up to 2,048 more to find randomness, 256 more on
    each dataset of the evidence, and at most ``N * (N - 1) / 2`` pairs, which are compared exactly.
    The records of an array are its entries or rows, those of a table its rows, those of a text its
    lines. As records, 0.0 and -0.0 differ, and NaN equals NaN. An answer that is NaN or infinite is
    infinitely far from all others, and so is a vector of another length. Numbers in a table of
    pandas are compared by its labels, which must be the same in all answers.

    *Random choices.* Outputs at distance 0, such as two orders of a multiset, are one output, and
    so are 0.0 and -0.0. The best coupling is a maximum flow between the outputs on x and on y.
    Draws are a sample, and others may be farther apart: the verdict is "not judged", which is not
    sound, unless the sample violates the claim, and new draws confirm it. For code that adds noise,
    use `audit_mechanism`.

    *Pipelines.* The cost is that of `pipelines.measured_stability`, once per distance. With two
    tables, both change by k at the same time.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1])
    >>> sl.audit(
    ...     universe, sl.Var(ddof=1), lambda k: k / 4, size=4, neighbors="bounded", distances=[1, 2]
    ... )
    Audit of var_ddof_1, bounded: loose
      setting  bounded, at most k; size 4; domain of 2 values, unlimited copies; exact arithmetic
      k  claimed  truth               verdict
      2  0.5      1/3 = 0.3333333333  loose (claim / truth = 1.5)
      1  0.25     1/4 = 0.25          tight
      x  (0, 0, 1, 1)  ->  1/3
      y  (0, 0, 0, 0)  ->  0

    A function of any library, with its map; between datasets of your own, distances need not be
    whole:

    >>> def clipped_sum(x):
    ...     return sum(min(one, 3) for one in x)
    >>> sl.audit(
    ...     [0, 1, 9],
    ...     clipped_sum,
    ...     lambda k: 3 * k,
    ...     size=range(3),
    ...     neighbors="symmetric",
    ...     outputs="absolute",
    ... ).verdict
    'tight'
    >>> sl.audit(
    ...     None,
    ...     abs,
    ...     lambda k: k,
    ...     datasets=[-2.0, -0.5, 0.25],
    ...     neighbors="absolute",
    ...     outputs="absolute",
    ...     distances=0.75,
    ... )
    Audit of abs: loose
      setting  absolute of at most k to absolute; 3 datasets; implementation
      k     claimed  truth       verdict
      0.75  0.75     1/4 = 0.25  loose (claim / truth = 3)
      x  -0.5  ->  0.5
      y  0.25  ->  0.25

    Two of the records, by random choice, all of which are listed:

    >>> import itertools
    >>> sl.audit(
    ...     [0, 1, 2],
    ...     lambda x, kept: [x[i] for i in kept],
    ...     lambda k: 2 * k,
    ...     size=[3, 4],
    ...     neighbors="symmetric",
    ...     outputs="symmetric",
    ...     every_order=False,
    ...     subject="two records",
    ...     choices=lambda x: itertools.combinations(range(len(x)), 2),
    ... )
    Audit of two records: tight
      setting  symmetric of at most k to symmetric; values (0, 1, 2), sizes (3, 4) in one order; all
               choices, equally likely, under the best coupling; implementation
      k  claimed  truth  verdict
      1  2        2      tight
      x  (0, 0, 0)  ->  (((0, 0), 1),)
      y  (0, 0, 0, 1)  ->  (((0, 0), 1/2), ((0, 1), 1/2))

    A pipeline, whose map is the claim:

    >>> from sensitivity_lab import pipelines as pl
    >>> total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(20, 125) >> pl.sum_(20, 125)
    >>> sl.audit([10, 50, 200], total).verdict
    'tight'
    """
    check_running(n_jobs, progress)
    check_order(query, universe, "universe and query", _ORDER)
    check_order(query, claim, "query and claim", _ORDER)
    given = {
        "neighbors": neighbors, "datasets": datasets, "outputs": outputs, "choices": choices,
        "every_order": check_flag("every_order", every_order), "norm": norm, "exactly": exactly,
        "subject": subject, "method": method, "n_jobs": n_jobs, "run": run,
    }  # fmt: skip
    if isinstance(query, Transformation):
        _check_form(given, _PIPELINE, "a pipeline")
        return audit_pipeline(
            query, universe, claim, size=size, distances=distances,
            tolerance_ulps=tolerance_ulps, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
    if outputs is None:
        _check_form(given, _QUERY | {"neighbors"}, "a query", _led_to(query, given))
        return audit_query(
            universe, query, claim, size=size, neighbors=neighbors, distances=distances,
            norm=norm, exactly=exactly, tolerance_ulps=tolerance_ulps, subject=subject,
            method=method, n_jobs=n_jobs, progress=progress, run=run,
        )  # fmt: skip
    _check_form(given, _FUNCTION | {"neighbors"}, "a function with outputs=")
    check_callable("query", query, "a function of a dataset, where outputs= is given")
    if choices is None:
        _check_takes_dataset(query)
    question = question_about(
        query, universe, size, datasets, neighbors=neighbors, distances=distances,
        every_order=every_order, subject=subject, tolerance_ulps=tolerance_ulps,
        progress=progress, outputs=outputs, claim=claim,
    )  # fmt: skip
    if choices is None:
        return judged_by_first_calls(query, partial(audit_map, question))
    if isinstance(choices, int | np.integer):  # a generator of its own changes with every call
        return audit_coupling(question, query, choices)
    return judged_by_first_calls(query, partial(audit_coupling, question, choices=choices))


def _check_takes_dataset(query: Any) -> None:
    """Raise InputError if a function takes more than a dataset."""
    if (signature := misfit(query, None)) is not None:
        raise InputError(
            f"query must take a dataset alone, got {name_of(query)}{signature}; with random "
            f"choices, write {RANDOM}; with a generator, "
            "write sl.audits.audit_mechanism(function, values, 3, neighbors=..., epsilon=1)"
        )


def _led_to(query: Any, given: dict[str, Any]) -> str:
    """Return what to do where a query gets an argument of functions."""
    if not callable(query):
        return 'leave it out, as in sl.audit(universe, "sum", claim, size=3, neighbors="bounded")'
    if given["choices"] is not None:
        return f"a function needs outputs=, as in {RANDOM}"
    called = (
        "values, function, claim, size=3"
        if given["datasets"] is None
        else "None, function, claim, datasets=datasets"
    )
    return f'a function needs outputs=, as in sl.audit({called}, neighbors="bounded", outputs="L1")'


def _check_form(
    given: dict[str, Any], taken: Iterable[str], what: str, way: str = "leave it out"
) -> None:
    """Raise InputError if an argument is given that is not for what is audited."""
    for name in given.keys() - set(taken):
        default = inspect.signature(audit).parameters[name].default
        value = given[name]
        # A comparison of anything else, such as a table, need not be true or false.
        same = value is default or (isinstance(value, bool | str | np.bool_) and value == default)
        if not same:
            raise InputError(f"{name} is not for {what}, got {shown(value)}; {way}")


_TOLD = {
    "violated": "too small: some pair of neighbors differs by more",
    "data-dependent claim": "not the claim at the size of a neighbor, so it tells the size",
    "loose": "too large: no pair of neighbors differs by that much",
}
"""What an exercise is told of a claim."""


def assert_sensitivity(
    universe: Any,
    query: Any,
    claim: Any = None,
    *,
    size: Any = None,
    neighbors: Any = None,
    distances: Any = None,
    tight: bool = False,
    reveal: bool = True,
    **options: Any,
) -> AuditReport:
    """Raise an error unless a claimed sensitivity is right; for test suites.

    Parameters
    ----------
    universe, query, claim, size, neighbors, distances
        See `audit`.
    tight : bool, default False
        Whether to refuse claims that are larger than the truth as well.
    reveal : bool, default True
        Whether the error shows the truth and the pair. For an exercise, hide both: then the error
        says only whether the claim is too small or too large.
    **options
        The other arguments of `audit`.

    Returns
    -------
    AuditReport
        The report, if the claim is not refused.

    Raises
    ------
    SensitivityViolation
        An AssertionError: the claim is smaller than the truth, or with `tight` larger than the
        truth. The message has both datasets and answers, ready for a bug report.
    InputError, NoEngineError, QueryError
        See `audit`.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 20, 125])
    >>> assert_sensitivity(universe, "sum", 105, size=2, neighbors="unbounded", distances=1)
    Traceback (most recent call last):
    sensitivity_lab.errors.SensitivityViolation: sum, unbounded: a sensitivity of 105 is claimed...
    x = [0, 125]  ->  f(x) = 125
    y = [0]       ->  f(y) = 0
    (unbounded, at most k; size 2 of x, 1 to 3 of y; domain of 3 values, unlimited copies; exact \
arithmetic)
    """
    __tracebackhide__ = True
    check_flag("tight", tight)
    report = audit(
        universe, query, claim, size=size, neighbors=neighbors, distances=distances, **options
    )
    if all(row.claimed is None for row in report.rows):
        reasons = "; ".join(dict.fromkeys(row.reason for row in report.rows if row.reason))
        raise InputError(f"the claim promises nothing at any distance: {reasons}")
    if not check_flag("reveal", reveal):
        for row in report.rows:
            if row.verdict in _TOLD and (tight or row.verdict != "loose"):
                raise SensitivityViolation(
                    f"{brief(row.claimed)} is not right at distance {row.distance}: it is "
                    f"{_TOLD[row.verdict]}"
                )
    report.raise_if_violated(tight=tight)
    return report
