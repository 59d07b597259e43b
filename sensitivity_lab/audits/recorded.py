"""Audits of any library that adds noise: what it claims to its mechanisms, and what is true."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab import _parallel
from sensitivity_lab.checks import check_callable, check_flag, check_text, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.exact.norms import Norm, check_norm
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.results.literals import brief, short_literal
from sensitivity_lab.universes.relations import (
    Bounded,
    Relation,
    SymmetricDifference,
    Unbounded,
    as_relation,
    show,
)

from .claims import ROUNDING_ULPS, check_claim, check_tolerance, holds_float
from .inputs import check_several, check_values, vectors
from .metrics import entries
from .recording import Call, recording
from .report import AuditReport, AuditRow
from .worst_pair import Answered, WorstPair, WorstPairs, worst_pairs

_METRIC_OF = {
    Bounded: "change_one",
    Unbounded: "add_or_remove",
    SymmetricDifference: "symmetric",
}


@with_numpy_defaults
def audit_recorded(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *targets: Any,
    neighbors: Any,
    norm: Norm = "L1",
    every_order: bool = True,
    where: Callable[[list[Any]], bool] | None = None,
    select: Callable[[list[Call]], list[Call]] = list,
    subject: str | None = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
    **options: Any,
) -> AuditReport:
    """Compare the sensitivity that a library claims with the exact one of what it computes.

    Parameters
    ----------
    function : callable
        Takes a dataset, a list of records, and makes the library's call on it.
    values : iterable
        The universe of records, missing ones (NaN) included if they are meant.
    sizes : int or iterable of int
        The numbers of records; both datasets of a pair have one of these sizes.
    *targets : str, class or function
        The library's mechanisms, as `recording` takes them.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors, at a distance of at most k; a name means k = 1. A library
        claims for k = 1: the claim at k is k times that.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How far two answers are apart, where the library hands the mechanism several values.
    every_order : bool, default True
        Whether datasets are taken in every order of their records, or only in that of `values`.
    where : callable, optional
        Says of a dataset whether the function is defined on it; others are left out.
    select : callable, optional
        Which of the calls made on a dataset to audit, for a library that hands over several answers
        with a claim each; by default all.
    subject : str, optional
        What the report calls the function; by default its name.
    tolerance_ulps : int, float or Fraction, default 4
        By how many units in the last place of the truth claim and truth may differ as rounding,
        where the claim or the answers are floats; see `audit`.
    progress : bool, optional
        Whether to show progress bars; by default on a terminal and past a second.
    **options
        Of `recording`: `method`, `sensitivity` and `value`.

    Returns
    -------
    AuditReport
        One row: the pair of neighbors with the largest truth in proportion to the claim. If the
        two have claims of their own, the smaller counts. Even where no truth exceeds a claim, such
        a pair is reported, as a "data-dependent claim": the scale of the noise is part of what is
        seen, and tells the two apart. So noise scaled to the local sensitivity is never sound.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails on a dataset, hands the mechanism nothing, or claims two sensitivities
        in one call: `select` one of them then.
    TooLargeError
        If there are too many datasets or pairs; says the numbers.

    Notes
    -----
    With m values, ``m**s`` datasets per size s, the function called once on each. All values that
    reach the mechanism in a call are one vector, since a mechanism that adds noise of one scale to
    each entry is calibrated to the norm of their difference.

    Examples
    --------
    >>> class Mechanism:
    ...     def __init__(self, sensitivity):
    ...         self.sensitivity = sensitivity
    ...
    ...     def randomise(self, value):
    ...         raise NotImplementedError("no noise in an example")
    >>> def mean(x):
    ...     return Mechanism(1 / len(x)).randomise(sum(x) / len(x))
    >>> audit_recorded(mean, [0, 1], 2, Mechanism, neighbors="bounded")
    Audit of mean: tight
      setting  bounded, at most 1; norm L1; values (0, 1), sizes (2,) in every order; implementation
      k  claimed  truth      verdict
      1  0.5      1/2 = 0.5  tight
      x  (0, 0)  ->  0.0
      y  (0, 1)  ->  0.5
    """
    relation, metric = _check_relation(neighbors)
    check_norm(norm)
    _check_functions(function, select, where, subject)
    every_order = check_flag("every_order", every_order)
    universe = check_values(values)
    wanted = check_several("sizes", sizes, "a number of records, at least 0")
    datasets = [x for x in vectors(universe, wanted, every_order) if _accepted(where, x)]
    if not datasets:
        raise InputError("where must accept at least one dataset, but it accepts none")
    tolerance = check_tolerance(tolerance_ulps)
    with recording(*targets, **options) as calls:
        tried = _parallel.tracked(datasets, unit="datasets", progress=progress)
        claims, answers = zip(*(_observe(function, x, calls, select) for x in tried), strict=True)
    distinct = _distinct(claims)
    groups = {claim: group for group, claim in enumerate(distinct)}
    answered = [
        Answered(x, answer, groups[claim])
        for x, answer, claim in zip(datasets, answers, claims, strict=True)
    ]
    found = worst_pairs(answered, metric, norm, [relation.k], progress)
    decisive = _decisive(found, distinct, relation.k, tolerance)
    order = "in every order" if every_order else "in one order"
    among = f"values {brief(universe)}, sizes {show(wanted)} {order}"
    among += "" if where is None else f", {len(datasets):,} datasets that `where` accepts"
    varies = "" if len(distinct) == 1 else "; the claim changes with the dataset"
    varies = "; the claim depends on the data" if found.divided else varies
    setting = f"{relation}; norm {norm}; {among}; implementation{varies}"
    return AuditReport(
        str(subject or getattr(function, "__name__", "function")), (decisive,), setting
    )


def _check_relation(neighbors: Any) -> tuple[Relation, str]:
    """Return a relation and the metric that it is a distance in, or raise InputError."""
    relation = as_relation(neighbors)
    metric = _METRIC_OF.get(type(relation))
    if metric is None or relation.exactly:
        raise InputError(f"neighbors must be a relation of at most k, got {relation}")
    return relation, metric


def _check_functions(function: Any, select: Any, where: Any, subject: Any) -> None:
    """Raise InputError unless the functions can be called and the subject is a text."""
    check_callable("function", function, "a function of a list")
    check_callable("select", select, "a function of a list of calls")
    if where is not None:
        check_callable("where", where, "a function of a dataset, or None")
    if subject is not None:
        check_text("subject", subject, "a text")


def _accepted(where: Callable[[list[Any]], bool] | None, x: list[Any]) -> bool:
    """Tell whether a function is defined on a dataset, or raise QueryError."""
    try:
        return where is None or bool(where(x))
    except Exception as error:
        raise QueryError(
            f"where, on {short_literal(x)}, raised {type(error).__name__}: {error}"
        ) from error


def _observe(
    function: Any, x: list[Any], made: list[Call], select: Callable[[list[Call]], list[Call]]
) -> tuple[Number, Any]:
    """Return what is claimed and what reaches the mechanism on a dataset."""
    made.clear()
    try:
        function(list(x))
    except Exception as error:
        raise QueryError(f"{short_literal(x)} raised {type(error).__name__}: {error}") from error
    try:
        calls = list(select(list(made)))
    except Exception as error:
        raise QueryError(
            f"select, on {short_literal(x)}, raised {type(error).__name__}: {error}"
        ) from error
    if not all(isinstance(one, Call) for one in calls):
        raise InputError(f"select must return some of the calls that it gets, got {shown(calls)}")
    claims = {check_claim(call.sensitivity, 1) for call in calls}
    if len(claims) != 1:
        seen = f"claimed {len(claims)} sensitivities" if claims else "called no recorded mechanism"
        raise QueryError(f"on {short_literal(x)} the library {seen}; select others")
    if len(calls) == 1:
        return claims.pop(), _flat(calls[0].value)
    return claims.pop(), tuple(entry for call in calls for entry in entries(_flat(call.value)))


def _distinct(claims: Iterable[Number]) -> list[Number]:
    """Return the distinct claims, ascending; raise QueryError if one is infinite."""
    # Decimals and fractions are not compared with each other, but with floats.
    distinct = sorted(set(claims), key=lambda one: math.inf if one == math.inf else Fraction(one))
    if distinct[-1] == math.inf:
        raise QueryError("the library claims an infinite sensitivity, which no truth exceeds")
    return distinct


def _decisive(found: WorstPairs, claims: list[Number], k: int, tolerance: Number) -> AuditRow:
    """Return the row of the pair that decides: a violation, or else two claims that differ."""
    pair = max(found.farthest.values(), key=lambda pair: _rank(pair, claims))
    row = _row(pair, claims, k, tolerance)
    if not found.divided or row.verdict == "violated":
        return row
    pair = max(found.divided.values(), key=lambda pair: _division(pair, claims))
    return _row(pair, claims, k, tolerance)


def _row(pair: WorstPair, claims: list[Number], k: int, tolerance: Number) -> AuditRow:
    """Compare the truth of a pair with the smaller of its two claims."""
    first, second = (_times(k, claims[group]) for group in pair.groups)
    seen = pair.evidence
    return AuditRow(
        k,
        _times(k, claims[min(pair.groups)]),
        pair.truth,
        seen,
        claims=None if first == second else {"on x": first, "on y": second},
        rounded=holds_float((seen.answer_x, seen.answer_y)),
        tolerance_ulps=tolerance,
    )


def _flat(value: Any) -> Any:
    """Return an array as the tuple of its entries, and a number of numpy as one of Python."""
    if isinstance(value, np.ndarray):
        return tuple(value.ravel().tolist())
    return unboxed(value)


def _times(k: int, claim: Number) -> Number:
    """Return the claim at distance k; a float as a float within their range, others exactly."""
    if isinstance(claim, float) and not math.isinf(k * claim):
        return k * claim
    return k * claim if isinstance(claim, int) else k * Fraction(claim)


def _rank(pair: WorstPair, claims: list[Number]) -> tuple[bool, bool, Fraction]:
    """Order pairs by truth over claim: something over 0 is the largest, 0 over 0 the smallest.

    The truth of an L2 norm is a root; its square is compared with the square of the claim.
    """
    truth, claim = pair.truth, Fraction(claims[min(pair.groups)])
    size = truth.first if truth.root else truth.close() ** 2
    nothing = claim == 0
    return nothing and size > 0, not nothing, size if nothing else size / claim**2


def _division(pair: WorstPair, claims: list[Number]) -> tuple[bool, Fraction]:
    """Order pairs by the larger claim over the smaller; anything over 0 is the largest."""
    small, large = (Fraction(claims[group]) for group in sorted(pair.groups))
    return small == 0, large if small == 0 else large / small
