"""Audits of code as it is, in types that round, wrap around or overflow."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from audit_cases import evidence_of

import sensitivity_lab as sl


def float16_sum(records: list) -> float:
    """Left to right, in float16."""
    total = np.float16(0)
    with np.errstate(over="ignore"):
        for record in records:
            total = np.float16(total + np.float16(record))
    return float(total)


def int8_sum(records: list) -> int:
    """Modulo 256, from -128 to 127."""
    return (sum(records) + 128) % 256 - 128


CALLED = {"distances": 1, "outputs": "L1"}


@pytest.mark.further
@pytest.mark.parametrize("neighbors", ["hamming", "change_one"])
def test_code_in_float16_changes_more_than_the_sum(neighbors):
    """0, 0.1 and 1 in float16, eight records, one replaced: 129/128, where the sum changes by 1."""
    tenths = [0, 0.1, 1]
    universe = sl.Universe.from_domain(tenths)
    assert sl.audit(universe, "sum", 1, size=8, neighbors="bounded").verdict == "tight"
    report = sl.audit(tenths, float16_sum, 1, size=8, neighbors=neighbors, **CALLED)
    assert (report.verdict, report.rows[0].exact) == ("violated", Fraction(129, 128))
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        report.raise_if_violated()
    said = evidence_of(str(caught.value))
    assert sum((Counter(said["x"]) - Counter(said["y"])).values()) == 1
    assert abs(float16_sum(said["x"]) - float16_sum(said["y"])) == 1.0078125


def test_integers_that_wrap_around():
    report = sl.audit([0, 100], int8_sum, 100, size=range(3), neighbors="symmetric", **CALLED)
    assert (report.verdict, report.rows[0].exact) == ("violated", 100 + 56)


def test_a_function_is_run_in_every_order():
    """With the records in order, f(x) is at most 0: two orders of a multiset are at distance 0."""

    def first_less_last(records):
        return records[0] - records[-1]

    asked = {"size": 2, "neighbors": "change_one", **CALLED}
    ascending = sl.audit([1, 2, 4], first_less_last, 3, **asked, every_order=False)
    assert ascending.rows[0].exact == 3
    assert sl.audit([1, 2, 4], first_less_last, 6, **asked).verdict == "tight"


def test_overflow_to_infinity_violates_every_finite_claim():
    report = sl.audit([0, 60000], float16_sum, 60000, size=2, neighbors="hamming", **CALLED)
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
