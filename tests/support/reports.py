"""Rows and reports of audits, made by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference

PAIR = sl.audits.Evidence((1, 2), (1, 4), Fraction(3, 2), Fraction(5, 2))
SQRT_2 = Difference(Fraction(2), Fraction(0), root=True)


def exactly(value) -> Difference:
    return Difference(Fraction(value), Fraction(0))


def row(
    claimed, truth, distance: int = 1, evidence: sl.audits.Evidence = PAIR
) -> sl.audits.AuditRow:
    if not isinstance(truth, Difference) and truth != math.inf:
        truth = exactly(truth)
    return sl.audits.AuditRow(distance, claimed, truth, evidence)


def report(*rows: sl.audits.AuditRow) -> sl.audits.AuditReport:
    return sl.audits.AuditReport("mean, bounded", rows, "bounded, at most k; size 2")


REPORT = report(
    row(1, 1),
    row(0.3, Fraction(3, 10), 2),
    row(math.inf, Fraction(10**30, 3), 3),
    row(2, SQRT_2, 4),
    row(Fraction(1, 3), Fraction(1, 2), 5),
    row(1 - 1e-12, 1, 6),
)
