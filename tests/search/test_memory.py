"""What searches need in memory is planned before they start, and the limit binds every engine."""

from __future__ import annotations

import re
import runpy
import sys
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from checks import refused
from paths import ROOT
from planned_bytes import PLANNED

import sensitivity_lab as sl
from sensitivity_lab.checks import in_words
from sensitivity_lab.problem import Problem
from sensitivity_lab.search.engine import Cost, Options, Plan
from sensitivity_lab.search.engines import ENGINES
from sensitivity_lab.search.layouts import REAL, IntegerBytes
from sensitivity_lab.search.variance.global_max import Variance

pytest.importorskip("resource", reason="memory is measured as Unix does")

BENCHMARK = runpy.run_path(str(ROOT / "benchmarks" / "memory.py"))
CASES = {name: case for name, case in BENCHMARK["CASES"].items() if case.few}
NUMBERS = np.random.default_rng(0).lognormal(size=10**6)


def test_every_engine_has_a_case():
    assert {(case.engine, case.kind) for case in CASES.values()} == {
        (engine.name, engine.kind) for engine in ENGINES
    }


def test_every_case_has_its_bytes():
    assert list(PLANNED) == list(CASES)


def test_a_plan_without_memory_is_none():
    with pytest.raises(TypeError, match="cost"):
        Plan(lambda: None)
    with pytest.raises(TypeError, match="bytes"):
        Cost()


def measured_cases() -> list:
    """One case of each engine and kind; the others are measured by `make stress`."""
    listed, seen = [], set()
    for name, case in CASES.items():
        of = (case.engine, case.kind)
        mark = pytest.mark.stress if of in seen else pytest.mark.exhaustive
        seen.add(of)
        listed.append(pytest.param(of, name, marks=mark))
    return listed


@pytest.mark.parametrize(("engine", "name"), measured_cases())
def test_plans_are_no_less_than_the_peak_and_not_far_above_it(engine, name):
    case = CASES[name]
    measured = BENCHMARK["traced"](case, case.few)
    assert engine in measured.engines
    assert measured.right, measured


@pytest.mark.exhaustive
@pytest.mark.skipif(REAL != 16, reason="the numbers are for long doubles of 16 bytes")
@pytest.mark.parametrize("name", CASES)
def test_a_plan_changes_on_purpose_only(name):
    """Between the peak and what is too much there is room for mistakes in a formula."""
    case = CASES[name]
    planned = [BENCHMARK["planned_bytes"](case, records) for records in sizes_of(case)]
    assert tuple(planned) == PLANNED[name]


def sizes_of(case) -> tuple[int, int, int]:
    """Different terms of a formula decide at different sizes."""
    few = case.few
    return (few // 9, few // 3, few) if few > 100 else (few - 1, few, few + 1)


def test_of_few_records_what_is_made_while_they_are_read_decides():
    universe, asked = sl.Universe.from_dataset(NUMBERS[:50]), ((sl.Var(),), (sl.Unbounded(1),))
    plan = Variance().plan(Problem(universe, *asked, (20,)), Options())
    assert plan.cost.bytes == 85_136


@pytest.mark.parametrize(
    "records",
    [
        [0, 1],
        [-(2**62), 5],
        [3, 2**63 - 1],
        [0.0, 1.0],
        [-1e-100, 1.0, 1e100],
        [1.0, 1e-100, 1e100],
        [-1e100, -1.0, 0.0],
        [-1e100, -1e-100, 0.0, 2.0**60],
        [5e-324, 1.7e308],
        [Fraction(1, 10**30), Fraction(10**40, 7)],
        [Fraction(-(10**40), 7), Fraction(1, 3)],
        [Decimal("1e-50"), Decimal("1e20")],
        [10**400, 10**400 + 1],
        [-(10**400), 0, 1],
    ],
    ids=str,
)
def test_integers_have_no_more_bits_than_planned_nor_far_fewer(records):
    universe = sl.Universe.from_dataset(records)
    planned = IntegerBytes.of(universe)
    integers, unit = universe.integers
    largest = max(abs(int(integer)) for integer in integers)
    # A float counts as 53 bits, even if the last ones are 0.
    room = 53 if universe.array.dtype == np.float64 else 0
    assert largest.bit_length() <= planned.bits <= max(1, largest.bit_length()) + room
    spread = int(integers[-1] - integers[0]).bit_length()
    assert spread <= planned.spread <= spread + room + 2
    assert unit.bit_length() <= planned.below <= unit.bit_length() + room
    assert sys.getsizeof(largest) <= planned.kept <= planned.peak


ADVICE = (
    "choose a smaller size or distance, a coarser universe with fewer distinct values, or a larger "
    "run=Run(memory_limit=...)"
)


@pytest.mark.exhaustive
def test_the_limit_binds_the_variance():
    universe, query, relation = sl.Universe.from_dataset(NUMBERS), sl.Var(), sl.Bounded(1)
    plan = Variance().plan(Problem(universe, (query,), (relation,), (500_000,)), Options())
    assert plan.cost.bytes < 240 * 10**6  # it took 480 bytes per record
    refused(
        lambda: sl.global_sensitivity(
            universe,
            query,
            size=500_000,
            neighbors=relation,
            method="variance",
            run=sl.Run(memory_limit=2**24),
        ),
        f"no engine accepts var here: variance would need about {in_words(plan.cost.bytes)}, more "
        f"than the memory limit of 16.0 MiB; {ADVICE}",
        sl.errors.TooLargeError,
    )


def test_sizes_that_are_close_are_told_apart():
    universe = sl.Universe.from_dataset(NUMBERS)
    asked = {"size": 500_000, "neighbors": "unbounded", "method": "monotone"}
    refused(
        lambda: sl.global_sensitivity(
            universe, "mean", **asked, run=sl.Run(memory_limit=88_050_000)
        ),
        "no engine accepts mean here: monotone would need about 84.01 MiB, more than the memory "
        f"limit of 83.97 MiB; {ADVICE}",
        sl.errors.TooLargeError,
    )


@pytest.mark.representative
@pytest.mark.parametrize(
    "name", ["median, floats", "mean of x", "median, smooth", "several queries"]
)
def test_the_limit_binds_every_kind(name, monkeypatch):
    case = CASES[name]
    given = case.made(50_000)
    for call in ("global_sensitivity", "local_sensitivity", "smooth_sensitivity"):
        monkeypatch.setattr(sl, call, partial(getattr(sl, call), run=sl.Run(memory_limit=2**20)))
    with pytest.raises(sl.errors.TooLargeError) as caught:
        case.asked(given)
    _, said = str(caught.value).split(f"{case.engine} would need about ", 1)
    assert re.split(r";\s+", said)[:2] == [
        f"{said.split(',')[0]}, more than the memory limit of 1.0 MiB",
        ADVICE,
    ]


def test_curves_are_bound_too():
    universe = sl.Universe.from_dataset(NUMBERS[:100_000])
    refused(
        lambda: sl.sensitivity_curves(
            universe,
            "mean",
            size=50_000,
            distances=range(1, 100),
            neighbors="bounded",
            method="monotone",
            run=sl.Run(memory_limit=2**20),
        ),
        "column 'records': no engine accepts mean here: monotone would need about 3.1 MiB, more "
        f"than the memory limit of 1.0 MiB; {ADVICE}",
        sl.errors.TooLargeError,
    )
