"""Audits in which no two answers differ say so: often the code reads something else."""

from __future__ import annotations

import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism

NOTE = (
    "no pair of neighbors has different answers: perhaps the code reads something else than its "
    "argument, such as a context variable, an environment variable, or an attribute of a module, "
    "which are not seen as state"
)
BOUNDED = {"neighbors": "bounded"}
DATA = [3]


def test_a_function_of_something_else():
    report = sl.audit([0, 1], lambda _: sum(DATA), 2, size=2, outputs="absolute", **BOUNDED)
    assert (report.verdict, report.notes) == ("loose", (NOTE,))
    assert f"note     {NOTE}" in repr(report)


@pytest.mark.parametrize("claim", [{"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "delta": 0.1}])
def test_a_mechanism_of_something_else(claim):
    report = audit_mechanism(lambda _, rng: sum(DATA) + rng.normal(), [0, 1], 2, **BOUNDED, **claim)
    assert (report.verdict, report.notes) == ("loose", (NOTE,))
    assert report.rows[0].exact == 0


def test_cut_laws_that_do_not_differ():
    report = audit_mechanism(lambda _, rng: rng.geometric(0.5), [0, 1], 2, **BOUNDED, epsilon=1)
    assert NOTE in report.notes


def test_where_something_differs_nothing_is_said():
    report = sl.audit([0, 1], sum, 2, size=2, outputs="absolute", **BOUNDED)
    assert report.notes == ()
    report = audit_mechanism(lambda data, _: data[0], [0, 1], 1, **BOUNDED, epsilon=9)
    assert NOTE not in report.notes


def test_a_claim_of_0_says_that_nothing_differs():
    report = sl.audit([0, 1], lambda _: 3, 0, size=2, outputs="absolute", **BOUNDED)
    assert (report.verdict, report.notes) == ("tight", ())


def test_at_distance_0_nothing_should_differ():
    report = sl.audit(
        [0, 1], sum, 1, size=2, neighbors="symmetric", outputs="absolute", distances=0
    )
    assert report.notes == ()
