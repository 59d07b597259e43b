"""Certified bounds of functions of sums, at any number of records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab import formulas
from sensitivity_lab.bounds.boxes.sums import records_of

UNIT = sl.Universe.from_interval(0, 1)
QUERIES = {
    "mean": lambda p, n: p[1] / n,
    "var": lambda p, n: p[2] / n - (p[1] / n) ** 2,
    "square": lambda p, _: p[1] ** 2,
    "ratio": lambda p, _: p[1] / (1 + p[2]),
    "squares": lambda p, _: p[2] / (1 + p[1]),
    "dispersion": lambda p, n: (p[2] / n - (p[1] / n) ** 2) / (1 + p[1] / n),
}


def bounds_of(name, n, neighbors="bounded", **options):
    query = formulas.sums(QUERIES[name], name=name)
    return sl.bounds.sensitivity_bounds(UNIT, query, size=n, neighbors=neighbors, **options)


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [5, 100, 1000])
@pytest.mark.parametrize("name", ["mean", "var"])
@pytest.mark.parametrize("neighbors", ["bounded", "unbounded"])
def test_what_engines_know_is_between_the_bounds(name, n, neighbors):
    exact = sl.global_sensitivity(UNIT, name, size=n, neighbors=neighbors).exact
    found = bounds_of(name, n, neighbors)
    assert found.reached
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [3, 20, 100])
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("neighbors", ["bounded", "unbounded"])
def test_no_pair_is_above_and_the_bounds_are_close(name, n, neighbors):
    found = bounds_of(name, n, neighbors)
    assert found.reached
    found.verify()
    assert found.check()
    random, f = np.random.default_rng(0), QUERIES[name]

    def answer(x):
        return f([None, x.sum(), np.sum(x**2)], len(x))

    for _ in range(2000):
        x = np.where(random.random(n) < random.random(), random.integers(0, 2, n), random.random())
        y = x[1:] if neighbors == "unbounded" else np.array([random.random(), *x[1:]])
        assert abs(answer(x) - answer(y)) <= found.upper + 1e-9 * abs(answer(x))


@pytest.mark.exhaustive
def test_agreement_up_to_19_records_is_none_for_20():
    """p1 / (1 + p2) moves by 1 / 2 for up to 19 records, and by more for 20."""
    assert bounds_of("ratio", 19).lower <= 0.5 <= bounds_of("ratio", 19).upper
    found = bounds_of("ratio", 20)
    assert found.lower > 0.5
    assert found.upper < 0.5011


def test_the_lower_bound_is_that_of_its_pair_exactly():
    found = bounds_of("ratio", 30)
    query = formulas.sums(QUERIES["ratio"])
    exact = abs(query.on(found.witness.x) - query.on(found.witness.y))
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)
    assert exact - Fraction(found.lower) < Fraction(1, 10**15)


def test_records_with_a_sum_and_a_sum_of_squares():
    random = np.random.default_rng(0)
    for _ in range(500):
        count = int(random.integers(1, 30))
        at_ends = random.random(count) < 0.3
        true = np.where(at_ends, random.integers(0, 2, count), random.random(count))
        total, squares = float(true.sum()), float(np.sum(true**2))
        made = np.array(records_of(total, squares, count))
        assert ((made >= 0) & (made <= 1)).all()
        assert made.sum() == pytest.approx(total, abs=1e-9)
        assert np.sum(made**2) == pytest.approx(squares, abs=1e-6)


@pytest.mark.parametrize(
    ("universe", "powers", "neighbors", "reason"),
    [
        (sl.Universe.from_interval(0, 2), 2, "bounded", "are for records in [0, 1]"),
        (UNIT, 3, "bounded", "powers up to 2, got [0, 1] and 3"),
        (UNIT, 2, sl.Bounded(2), "for one record that is replaced, added or removed"),
    ],
)
def test_what_boxes_of_sums_do_not_cover(universe, powers, neighbors, reason):
    query = formulas.sums(lambda p, n: p[1] / n, powers=powers)
    with pytest.raises(sl.errors.InputError) as caught:
        sl.bounds.sensitivity_bounds(universe, query, size=5, neighbors=neighbors)
    assert reason in str(caught.value)
