"""Audits of code as it is implemented, in types that round, wrap around or overflow."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from audit_cases import evidence_of

import sensitivity_lab as sl


def float16_sum(records: list) -> float:
    """Left to right, in float16, by numpy alone."""
    total = np.float16(0)
    for record in records:
        total = np.float16(total + np.float16(record))
    return float(total)


def test_code_in_float16_changes_more_than_the_sum():
    """0, 0.1 and 1 in float16, eight records, one replaced: 129/128, where the sum changes by 1."""
    universe = sl.Universe.from_domain([0, 0.1, 1])
    options = {"size": 8, "neighbors": "bounded", "distances": [1, 2]}
    assert sl.audit(universe, "sum", lambda k: k, **options).verdict == "tight"
    report = sl.audit(
        universe,
        sl.implementations.float_sum("float16"),
        lambda k: k,
        **options,
        implementation=True,
    )
    assert report.subject == "float16 sum, bounded"
    assert report.setting == (
        "bounded, at most k; size 8; domain of 3 values, unlimited copies; "
        "as implemented, on ordered datasets"
    )
    assert report.rows[0].exact == Fraction(129, 128)
    assert report.rows[1].exact > 2
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        report.raise_if_violated()
    said = evidence_of(str(caught.value))
    for letter in "xy":
        assert float16_sum(said[letter]) == said[f"f({letter})"]
    assert sum((Counter(said["x"]) - Counter(said["y"])).values()) == 1
    assert abs(said["f(x)"] - said["f(y)"]) == 1.0078125


def test_integers_that_wrap_around():
    universe = sl.Universe.from_domain([0, 100])
    options = {"size": 2, "neighbors": "unbounded", "distances": 1, "implementation": True}
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(universe, sl.implementations.integer_sum("int8"), 100, **options)
    said = evidence_of(str(caught.value))
    for letter in "xy":
        wrapped = (sum(said[letter]) + 128) % 256 - 128
        assert wrapped == said[f"f({letter})"]
    assert abs(said["f(x)"] - said["f(y)"]) > 100


def test_a_function_is_run_in_every_order():
    def first_less_last(x):
        return x[0] - x[-1]

    universe = sl.Universe.from_dataset([1, 2, 4])
    options = {"size": 3, "neighbors": sl.Unbounded(direction="remove"), "distances": 1}
    ascending = sl.audit(universe, first_less_last, 2, **options)
    assert ascending.rows[0].exact == 2
    ordered = sl.audit(universe, first_less_last, 6, **options, implementation=True)
    assert ordered.verdict == "tight"
    assert {ordered.rows[0].evidence.answer_x, ordered.rows[0].evidence.answer_y} == {-3, 3}


def test_overflow_to_infinity_violates_every_finite_claim():
    universe = sl.Universe.from_domain([0, 60000])
    options = {"size": 2, "neighbors": "bounded", "distances": 1, "implementation": True}
    report = sl.audit(universe, sl.implementations.float_sum("float16"), 60000, **options)
    assert report.rows[0].value == math.inf
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        report.raise_if_violated()
    said = evidence_of(str(caught.value))
    assert math.inf in (said["f(x)"], said["f(y)"])
    assert (
        sl.audit(universe, sl.implementations.float_sum("float16"), math.inf, **options).verdict
        == "tight"
    )
