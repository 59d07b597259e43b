"""Swapped arguments are recognised, and the message prints the right order."""

from __future__ import annotations

import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism, audit_opendp, audit_recorded

UNIVERSE = sl.Universe.from_domain([0, 1])


def noisy(data, rng):
    return sum(data) + rng.laplace()


AUDIT = "audit(universe, query, claim, ...)"
MECHANISM = "audit_mechanism(function, universe, size, ...)"
RECORDED = "audit_recorded(function, universe, size, *targets, ...)"

BOUNDED = {"neighbors": "bounded"}

SWAPPED = {
    "query and universe": (
        lambda: sl.audit("sum", UNIVERSE, 1, size=2, **BOUNDED),
        "universe and query",
        AUDIT,
    ),
    "function and universe": (
        lambda: sl.audit(sum, [0, 1], 1, size=2, outputs="absolute", **BOUNDED),
        "universe and query",
        AUDIT,
    ),
    "function and datasets": (
        lambda: sl.audit(sum, None, 1, datasets=[[0], [1]], outputs="absolute", **BOUNDED),
        "universe and query",
        AUDIT,
    ),
    "query and claim": (
        lambda: sl.assert_sensitivity(UNIVERSE, 1, "sum", size=2, **BOUNDED),
        "query and claim",
        AUDIT,
    ),
    "a query object and its claim": (
        lambda: sl.audit(UNIVERSE, 0.5, sl.Mean(), size=2, **BOUNDED),
        "query and claim",
        AUDIT,
    ),
    "an epsilon": (
        lambda: audit_mechanism(1.0, noisy, **BOUNDED),
        "function and universe",
        MECHANISM,
    ),
    "a mechanism and universe": (
        lambda: audit_mechanism([0, 1], noisy, 1, epsilon=1, **BOUNDED),
        "function and universe",
        MECHANISM,
    ),
    "recorded": (
        lambda: audit_recorded([0, 1], sum, 1, **BOUNDED),
        "function and universe",
        RECORDED,
    ),
}


@pytest.mark.parametrize("case", SWAPPED)
def test_swapped_arguments(case):
    call, names, order = SWAPPED[case]
    refused(call, f"{names} seem to be swapped; write {order}")


@pytest.mark.opendp
@pytest.mark.usefixtures("opendp_features")
def test_swapped_arguments_of_opendp():
    dp = pytest.importorskip("opendp.prelude")
    total = dp.t.make_sum(
        dp.vector_domain(dp.atom_domain(bounds=(0, 1)), 2), dp.symmetric_distance()
    )
    refused(
        lambda: audit_opendp([0, 1], total, 2),
        "made and universe seem to be swapped; write audit_opendp(made, universe, size, ...)",
    )
