"""Claims about answers that are vectors: the norm decides."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

import sensitivity_lab as sl

BINS = (0, 1, 2)


def histogram(x):
    """How many records have each of three values."""
    return np.array([(x == value).sum() for value in BINS])


def scores(x):
    """How unlike the quantile 3/4 each of three candidates is: |below - 3 above|."""
    return np.array([abs((x < value).sum() - 3 * (x > value).sum()) for value in BINS])


def sweep(query: object, claim: float, norm: str, neighbors: str) -> sl.audits.AuditRow:
    """Audit a claim about one changed record everywhere; the row closest to its truth."""
    rows = []
    for count, size in product((2, 3), (2, 3, 4)):
        for values in combinations(BINS, count):
            universe = sl.Universe.from_domain(list(values))
            report = sl.audit(
                universe, query, claim, size=size, neighbors=neighbors, distances=1, norm=norm
            )
            rows += report.rows
    return min(rows, key=lambda row: row.factor)


@pytest.mark.exhaustive
def test_replacing_a_record_moves_a_histogram_by_root_2_in_l2_where_2_is_claimed():
    row = sweep(histogram, 2, "L2", "bounded")
    assert row.verdict == "loose"
    assert row.value == row.factor == math.sqrt(2)
    assert np.linalg.norm(np.subtract(row.evidence.answer_x, row.evidence.answer_y)) == math.sqrt(2)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("norm", "neighbors", "claim", "verdict"),
    [
        ("L1", "bounded", 2, "tight"),
        ("L1", "bounded", 1, "violated"),
        ("Linf", "bounded", 1, "tight"),
        ("L2", "bounded", math.sqrt(2), "tight up to rounding"),
        ("L1", "unbounded", 1, "tight"),
        ("L2", "unbounded", 1, "tight"),
        ("Linf", "unbounded", 1, "tight"),
    ],
)
def test_a_histogram_in_every_norm(norm, neighbors, claim, verdict):
    assert sweep(histogram, claim, norm, neighbors).verdict == verdict


@pytest.mark.exhaustive
@pytest.mark.parametrize(("neighbors", "claim"), [("unbounded", 3), ("bounded", 4)])
def test_the_scores_of_all_candidates_change_by_no_more_than_one_may(neighbors, claim):
    assert sweep(scores, claim, "Linf", neighbors).verdict == "tight"
    assert sweep(scores, claim, "L1", neighbors).verdict == "violated"
