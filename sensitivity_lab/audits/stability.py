"""Compare the stability map of a transformation with its measured stability."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.roots import Distance
from sensitivity_lab.pipelines import PairDistance, Root, Transformation, measured_stability
from sensitivity_lab.pipelines.measuring import MeasuredStability

from .claims import check_tolerance, claim_at
from .question import check_several
from .report import AuditReport
from .row import AuditRow, Evidence


def audit_pipeline(
    transformation: Transformation,
    universe: Any,
    claim: Any,
    *,
    size: Any,
    distances: Any,
    tolerance_ulps: Any,
    n_jobs: int | None,
    progress: bool | None,
) -> AuditReport:
    """Compare the stability map of a transformation with its measured stability.

    The truth is the largest distance of two outputs over all inputs from a small universe that are
    at most d_in apart, found by exhaustive search. With two tables, both change by this much at the
    same time. Without a claim, it is the map of the transformation, where an irrational value such
    as sqrt(2) counts as the smallest float above it.
    """
    limits = check_several(
        "distances", 1 if distances is None else distances, "a distance, at least 1", 1
    )
    tolerance = check_tolerance(tolerance_ulps)
    claims = [None if claim is None else claim_at(claim, d, name="d_in") for d in limits]
    metric = transformation.input_metric
    two = isinstance(metric, PairDistance)
    options: dict[str, Any] = {} if size is None else {"sizes": size}
    found = [
        measured_stability(
            transformation, universe, (d, d) if two else d, n_jobs=n_jobs, progress=progress,
            **options,
        )
        for d in limits
    ]  # fmt: skip
    rows = tuple(
        _row_of_stability(distance, one, one.bound if claimed is None else claimed, tolerance)
        for distance, one, claimed in zip(limits, found, claims, strict=True)
    )
    drawn = " and ".join(map(str, found[0].rows))
    setting = f"at most d_in: {metric}; universe of {drawn} rows; mathematics"
    return AuditReport(transformation.name, rows, setting)


def _row_of_stability(
    distance: int, found: MeasuredStability, claimed: Any, tolerance: Number
) -> AuditRow:
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
