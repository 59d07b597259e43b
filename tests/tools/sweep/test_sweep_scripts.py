"""The scripts of findings: plain Python, run where the lab is not loaded."""

from __future__ import annotations

import itertools

import naive_distances as naive
import pytest

from sensitivity_lab.metrics import METRICS
from tools.sweep import plain
from tools.sweep.scripts import confirmed, script_of
from tools.sweep.setting import Judged


@pytest.mark.parametrize("metric", sorted(plain.DISTANCES.keys() & METRICS.keys()))
def test_distances_are_those_of_the_definitions(metric):
    several = [[*one] for size in range(4) for one in itertools.product((0, 1), repeat=size)]
    for x, y in itertools.product(several, repeat=2):
        for most in range(4):
            assert naive.within(metric, x, y, most) == (not plain.farther(metric, x, y, most))


@pytest.mark.parametrize(
    ("metric", "x", "y", "distance"),
    [
        ("absolute", 0.1, 0.3, 0.19999999999999998),
        ("L1", [1, 2.5], [3, 2], 2.5),
        ("L2", [0, 0], [3, 4], 5),
        ("Linf", [0, 0], [3, 4], 4),
        ("L0", [0, 1, 2], [0, 2, 1], 2),
        ("L1", {"a": 1}, {"b": 2}, 3),
    ],
)
def test_distances_of_numbers(metric, x, y, distance):
    assert not plain.farther(metric, x, y, distance)
    assert plain.farther(metric, x, y, distance * 0.999)


def test_missing_and_infinite_answers_are_infinitely_far():
    nan, inf = float("nan"), float("inf")
    assert plain.farther("absolute", nan, 1.0, 1e300)
    assert plain.farther("L2", [inf], [-inf], 1e300)
    assert plain.farther("L1", [1], [1, 2], 1e300)
    assert not plain.farther("L1", [nan, inf], [nan, inf], 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("body", "verdict", "told"),
    [
        ("assert farther('L1', 0, 2, 1)", "violated", "pair"),
        (
            "assert farther('L1', 0, 2, 3), 'too near'",
            "not reproduced",
            "violated, pair; but the script: AssertionError: too near",
        ),
        (
            "import sys; sys.modules['sensitivity_lab'] = None",
            "not reproduced",
            "violated, pair; but the script: it loads the lab",
        ),
        (
            "print(1 / 0)",
            "not reproduced",
            "violated, pair; but the script: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_a_finding_counts_only_if_plain_python_reproduces_it(body, verdict, told):
    script = script_of("A title.", "nothing", body)
    found = confirmed(Judged("violated", "0.5", "pair", script))
    assert (found.verdict, found.remark, found.slack) == (verdict, told, "0.5")
    assert found.script == script
