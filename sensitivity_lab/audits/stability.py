"""Compare the stability map of a transformation with its measured stability."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_whole, listed
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.roots import Distance
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.pipelines import PairDistance, Root, Transformation, measured_stability
from sensitivity_lab.pipelines.stability.result import MeasuredStability

from .claims import ROUNDING_ULPS, check_tolerance, claim_at
from .report import AuditReport
from .row import AuditRow, Evidence


@with_numpy_defaults
def audit_stability(
    transformation: Transformation,
    universe: Any,
    *,
    d_in: Any = (1, 2),
    claim: Any = None,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    **options: Any,
) -> AuditReport:
    """Compare the stability map of a transformation with its measured stability.

    The truth is the largest distance of two outputs over all inputs from a small universe that are
    at most d_in apart, found by exhaustive search.

    Parameters
    ----------
    transformation : Transformation
        The transformation to audit.
    universe : DataFrame, list or Universe, or a tuple of two
        The rows that inputs are drawn from; see `pipelines.measured_stability`.
    d_in : int or iterable of int, default (1, 2)
        The largest distances of neighboring inputs. The report has a row for each. If there are
        two tables, both change by this much at the same time.
    claim : callable, int, float, Fraction or Decimal, optional
        The claimed stability: a function of d_in, or one number for all distances. By default it is
        the stability map of the transformation. An irrational value of the map, such as sqrt(2),
        counts as a claim of the smallest float above it.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim is a float, in units in the
        last place of the truth; see `audit`.
    **options
        `sizes`, `limit`, `pair_limit`, `n_jobs`, `progress` of `pipelines.measured_stability`.

    Returns
    -------
    AuditReport
        A row per distance, with the claim, the measured stability, the verdict and the evidence.

    Raises
    ------
    InputError
        If an argument (or a claim) is invalid, or a claim raises an error.
    TooLargeError, QueryError
        See `pipelines.measured_stability`.

    Notes
    -----
    The truth may be larger over a larger universe: "loose" holds for this universe, but "violated"
    is final. The cost is that of `pipelines.measured_stability`, once per distance.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(20, 125) >> pl.sum_(20, 125)
    >>> audit_stability(total, [10, 50, 200], d_in=1).verdict
    'tight'
    >>> audit_stability(total, [10, 50, 200], d_in=1, claim=lambda d: (125 - 20) * d)
    Audit of clamp(20, 125) >> sum_(20, 125): violated
      setting  at most d_in: rows added or removed; universe of 3 rows; mathematics
      k  claimed  truth  verdict
      1  105      125    violated (claim / truth = 0.84)
      x  ()  ->  0
      y  (200,)  ->  125
    """
    if not isinstance(transformation, Transformation):
        raise InputError(
            f"transformation must be a Transformation, got {type(transformation).__name__}; make "
            "one by chaining steps of sensitivity_lab.pipelines"
        )
    items = listed(d_in, "d_in must be distances") if isinstance(d_in, Iterable) else [d_in]
    distances = [check_whole("d_in", one, "a distance, at least 1") for one in items]
    if not distances:
        raise InputError("d_in must name at least one distance, got none")
    tolerance = check_tolerance(tolerance_ulps)
    claims = [None if claim is None else claim_at(claim, d, name="d_in") for d in distances]
    metric = transformation.input_metric
    two = isinstance(metric, PairDistance)
    found = [
        measured_stability(transformation, universe, (d, d) if two else d, **options)
        for d in distances
    ]
    rows = tuple(
        _row(distance, one, one.bound if claimed is None else claimed, tolerance)
        for distance, one, claimed in zip(distances, found, claims, strict=True)
    )
    drawn = " and ".join(map(str, found[0].rows))
    setting = f"at most d_in: {metric}; universe of {drawn} rows; mathematics"
    return AuditReport(transformation.name, rows, setting)


def _row(distance: int, found: MeasuredStability, claimed: Any, tolerance: Number) -> AuditRow:
    witness = found.witness
    evidence = Evidence(witness.x, witness.y, witness.output_x, witness.output_y)
    return AuditRow(distance, claimed, _exact(found.measured), evidence, tolerance_ulps=tolerance)


def _exact(measured: Distance) -> Difference | float:
    """Return a distance as a difference from 0; only infinity is a float."""
    if isinstance(measured, Root):
        return Difference(Fraction(measured.square), Fraction(0), root=True)
    if isinstance(measured, float):
        return measured
    return Difference(Fraction(measured), Fraction(0))
