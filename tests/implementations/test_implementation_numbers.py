"""Answers of code as they are: beyond floats, infinite, undefined, of several types."""

from __future__ import annotations

import math
from fractions import Fraction

import oracle_implementation as oracle
import pytest
from implementation_cases import ask

import sensitivity_lab as sl

ORDERS = ("free", "aligned")


def test_answers_are_subtracted_as_rationals():
    """In float16, 2048 - 0.09998 is 2048."""
    universe = sl.Universe.from_domain([0.1, 2048])
    result = sl.implementations.implemented_sensitivity(
        universe, sl.implementations.float_sum("float16"), size=1, neighbors=sl.Bounded(1)
    )
    assert result.exact == 2048 - Fraction(oracle.rounded(0.1, "e"))


def test_whole_numbers_beyond_floats_stay_exact():
    universe = sl.Universe.from_domain([0, 1, 2**60 + 1])
    result = sl.implementations.implemented_sensitivity(
        universe, sl.implementations.integer_sum(), size=2, neighbors=sl.Bounded(1)
    )
    assert result.exact == 2**60 + 1
    assert result.upper == 2.0**60 + 256
    function = sl.implementations.implemented_sensitivity(
        universe, lambda x: int(x.sum()), size=2, neighbors=sl.Bounded(1)
    )
    assert function.exact == 2**60 + 1


@pytest.mark.parametrize("order", ORDERS)
def test_overflow_is_an_infinite_sensitivity_with_a_witness(order):
    universe = sl.Universe.from_domain([0, 40000])
    result = sl.implementations.implemented_sensitivity(
        universe,
        sl.implementations.float_sum("float16"),
        size=2,
        neighbors=sl.Bounded(1),
        order=order,
    )
    assert (result.value, result.exact, result.ideal) == (math.inf, None, 40000)
    assert sorted((result.witness.query_x, result.witness.query_y)) == [40000, math.inf]
    assert result.upper == math.inf
    result.verify()


def test_a_difference_beyond_all_floats_stays_exact():
    universe = sl.Universe.from_domain([-1.7e308, 1.7e308])
    result = sl.implementations.implemented_sensitivity(
        universe, sl.implementations.float_sum(), size=1, neighbors=sl.Bounded(1)
    )
    assert (result.value, result.upper) == (math.inf, math.inf)
    assert result.exact == 2 * Fraction(1.7e308)
    assert result.ideal is None
    result.verify()


def test_an_ideal_that_is_undefined():
    """The variance of one record with ddof 1 is 0 / 0: NaN as code, and no mathematics."""
    fold = sl.implementations.welford_variance(ddof=1)
    result = ask(fold, size=2, neighbors=sl.Unbounded(1, direction="remove"))
    assert (result.value, result.ideal) == (math.inf, None)
    assert math.isnan(result.witness.query_y)
    result.verify()
    with pytest.raises(sl.errors.InputError) as raised:
        ask(fold, size=2, neighbors=sl.Unbounded(1, direction="remove"), ideal=sl.Var(ddof=1))
    assert str(raised.value) == (
        "unbounded (remove), at most 1 is not feasible for datasets of size 2 in a domain of 3 "
        "values, unlimited copies: removing needs k <= size - 2; no distance is feasible; choose "
        "another size or a larger universe, or choose direction='add', which leaves out removals "
        "and can give a smaller sensitivity"
    )


@pytest.mark.parametrize("values", [[5], [5, 6]])
def test_a_function_is_not_run_on_fewer_records_than_it_takes(values):
    """Nobody has no mean; where no pair differs, the witness has records, too."""
    mean = sl.from_function(lambda x: float(x.sum()) / len(x), least_size=1)
    universe = sl.Universe.from_domain(values)
    result = ask(mean, universe, neighbors=sl.SymmetricDifference(3))
    assert result.value == len(values) - 1
    assert len(result.witness.y) >= 1
    result.verify()


def test_equal_answers_that_are_not_finite_are_not_apart():
    """Beyond the largest number everything is inf or NaN, on both sides alike."""
    universe = sl.Universe.from_domain([1, 2])
    for answer in (math.inf, -math.inf, math.nan):
        fold = sl.implementations.Fold(lambda acc, _record: acc, answer)
        result = sl.implementations.implemented_sensitivity(
            universe, fold, size=2, neighbors=sl.Bounded(1)
        )
        assert result.exact == 0
        result.verify()
    fold = sl.implementations.Fold(lambda _acc, record: math.nan if record == 1 else math.inf, 0)
    result = sl.implementations.implemented_sensitivity(
        universe, fold, size=1, neighbors=sl.Bounded(1)
    )
    assert result.exact is None
    result.verify()


def test_zeros_of_two_signs_are_two_accumulators():
    """0.0 equals -0.0, but code can tell them apart later on."""
    fold = sl.implementations.Fold(
        lambda acc, record: -0.0 if record == 1 else math.copysign(1, acc) * record, 0.0
    )
    universe = sl.Universe.from_domain([0, 1, 2])
    code = lambda x: fold(x)  # noqa: E731 - no Fold, so all orders are listed
    ours, brute = (
        sl.implementations.implemented_sensitivity(
            universe, query, size=3, neighbors=sl.Bounded(1)
        ).exact
        for query in (fold, code)
    )
    assert ours == brute == 4


def test_numbers_of_two_types_are_two_accumulators():
    fold = sl.implementations.Fold(
        lambda acc, record: acc + record, 0, lambda acc: isinstance(acc, float)
    )
    universe = sl.Universe.from_domain([1, 2.5, -2.5])
    result = sl.implementations.implemented_sensitivity(
        universe, fold, size=3, neighbors=sl.Bounded(1)
    )
    assert result.exact == 1
