"""`audit_mechanism` on what practitioners write: no false verdict, and few without one."""

from __future__ import annotations

import pytest
from mechanisms import UNSURE
from practitioners import PRACTITIONERS

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism

pytestmark = pytest.mark.usefixtures("few_runs")

SAMPLED = {
    *("histogram with threshold too low", "noisy max of nested counts with value"),
    *("noise rounded", "poisson noise"),
}
"""Those that many runs refute."""

SLOW = {
    *("visits with noise of users", "histogram over a public domain", "clipped mean"),
    *("count of a sample", "count of a sample claims q epsilon", "discrete gaussian by table"),
    *("noisy max by laplace", "count clamped at zero", "histogram", "noise on filled bins"),
    *("histogram with unbounded sensitivity", "sum clipped to a quantile"),
}


def cases() -> list:
    return [
        pytest.param(
            one,
            id=one.name,
            marks=[pytest.mark.exhaustive]
            * (bool(one.verdicts & UNSURE) or one.name in SLOW | SAMPLED),
        )
        for one in PRACTITIONERS
    ]


@pytest.mark.parametrize("one", cases())
def test_no_verdict_is_false(one):
    try:
        report = audit_mechanism(
            one.function, list(one.values), list(one.sizes),
            epsilon=one.epsilon, delta=one.delta, neighbors=one.neighbors,
        )  # fmt: skip
    except (sl.errors.QueryError, sl.errors.TooLargeError):
        assert one.verdicts & UNSURE
        return
    held = one.right and report.verdict == "holds if post-processed"
    assert held or report.verdict in one.verdicts
    assert report.held <= one.right
    if one.known_delta is None or not report.worst:
        return
    least, most = report.delta(one.epsilon)
    assert least - 1e-9 <= one.known_delta <= most + 1e-9


def test_half_are_right_and_few_are_left_open():
    right = sum(one.right for one in PRACTITIONERS)
    assert abs(right - len(PRACTITIONERS) / 2) < 4
    assert sum(bool(one.verdicts & UNSURE) for one in PRACTITIONERS) <= len(PRACTITIONERS) / 5
