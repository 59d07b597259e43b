"""The sensitivity of code on ordered datasets, against its definition and published values."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import oracle_implementation as oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import BY_NAME as RELATIONS

import sensitivity_lab as sl

FOLDS = {
    "float16": (
        sl.implementations.float_sum("float16"),
        oracle.float_sum("e"),
        [0.1, 1, 2048, -2048, 60000, -60000],
    ),
    "float32": (
        sl.implementations.float_sum("float32"),
        oracle.float_sum("f"),
        [0.1, 1, 2**24, -(2**24), 3e38],
    ),
    "float64": (
        sl.implementations.float_sum("float64"),
        oracle.float_sum("d"),
        [0.1, 1e9, -1e9, 2.0**53, 1.7e308, -1.7e308],
    ),
    "int8": (
        sl.implementations.integer_sum("int8"),
        oracle.wrapping_sum(8),
        [-128, -1, 0, 1, 100, 127],
    ),
}
"""By type: our fold, the oracle's code, and the records that make trouble."""


@st.composite
def questions(draw):
    """A fold, a small universe with limited or unlimited copies, and a feasible relation."""
    fold, code, values = FOLDS[draw(st.sampled_from(sorted(FOLDS)))]
    values = draw(st.lists(st.sampled_from(values), min_size=2, max_size=3, unique=True))
    name = draw(st.sampled_from(sorted(RELATIONS)))
    k, exactly, order = draw(st.tuples(st.integers(1, 2), st.booleans(), st.sampled_from(ORDERS)))
    order = "free" if RELATIONS[name].aligned is None else order
    size = draw(st.integers(k + 1, 3))
    if draw(st.booleans()):
        universe = sl.Universe.from_domain(values)
        return fold, code, universe, values * (size + k), size, RELATIONS[name](k, exactly), order
    counts = draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    counts[0] += max(0, size + k - sum(counts))
    universe = sl.Universe(values, counts)
    if exactly and RELATIONS[name](k).exchanges:
        order = "free"
    return fold, code, universe, list(universe), size, RELATIONS[name](k, exactly), order


ORDERS = ("free", "aligned")


def of_oracle(code, records, size, relation, order):
    name = relation.name.replace(" ", "_")
    return oracle.sensitivity(code, records, size, name, relation.k, relation.exactly, order=order)


def check(result, expected):
    """The result says what the oracle says, and its witness holds."""
    assert (math.inf if result.exact is None else result.exact) == expected
    beyond = expected > Fraction(sys.float_info.max)
    assert result.value == (math.inf if beyond else float(expected))
    assert result.upper >= expected
    result.verify()


@pytest.mark.exhaustive
@given(questions())
@settings(max_examples=40)
def test_folds_agree_with_brute_force_over_orders(question):
    fold, code, universe, records, size, relation, order = question
    result = sl.implementations.implemented_sensitivity(
        universe, fold, size=size, neighbors=relation, order=order
    )
    check(result, of_oracle(code, records, size, relation, order))


@given(questions())
@settings(max_examples=4 * settings.default.max_examples)
def test_functions_agree_with_brute_force_over_orders(question):
    _, code, universe, records, size, relation, order = question
    result = sl.implementations.implemented_sensitivity(
        universe, lambda x: code(tuple(x.tolist())), size=size, neighbors=relation, order=order
    )
    check(result, of_oracle(code, records, size, relation, order))


@pytest.mark.exhaustive
@given(st.lists(st.sampled_from([0.1, 1, 3e4, -3e4]), min_size=4, max_size=6), st.just(2))
@example([0.1, 0.1, 1, 3e4], 2)
@settings(max_examples=25)
def test_exactly_k_replaces_by_other_records(records, size):
    fold, code, _ = FOLDS["float16"]
    relation = sl.Bounded(2, exactly=True)
    universe = sl.Universe.from_dataset(records)
    result = sl.implementations.implemented_sensitivity(
        universe, fold, size=size, neighbors=relation
    )
    check(result, of_oracle(code, records, size, relation, "free"))


def test_exactly_k_is_not_at_most_k():
    """(1, 2) and (10, 100) share no record, so exactly 1 does not reach them."""
    universe = sl.Universe.from_dataset([1, 2, 10, 100])
    summed = [
        sl.implementations.implemented_sensitivity(
            universe, sl.implementations.integer_sum(), size=2, neighbors=relation
        ).exact
        for relation in (sl.Bounded(1, exactly=True), sl.Bounded(2, exactly=True), sl.Bounded(2))
    ]
    assert summed == [99, 107, 107]
    reversing = sl.implementations.Fold(lambda _kept, record: record, 0)
    kept = [
        sl.implementations.implemented_sensitivity(
            sl.Universe([1, 9], [1, 2]), reversing, size=2, neighbors=r
        )
        for r in (sl.Bounded(1), sl.Bounded(1, exactly=True), None)
    ]
    assert [one.exact for one in kept] == [8, 8, 8]


@pytest.mark.parametrize("order", ORDERS)
def test_float16_sum_of_eight(order):
    """Replacing a 0 by a 1 changes the sum by 1 and by a rounding, in either meaning of order."""
    universe = sl.Universe.from_domain([0, 0.1, 1])
    result = sl.implementations.implemented_sensitivity(
        universe,
        sl.implementations.float_sum("float16"),
        size=8,
        neighbors=sl.Bounded(1),
        order=order,
    )
    assert result.value == 1.0078125
    assert result.exact == Fraction(129, 128)
    assert result.ideal == 1
    result.verify()
    code = oracle.float_sum("e")
    assert result.witness.query_x == code(result.witness.x)
    assert result.witness.query_y == code(result.witness.y)


@pytest.mark.exhaustive
def test_the_meaning_of_order_can_matter():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    free, aligned = (
        sl.implementations.implemented_sensitivity(
            universe,
            sl.implementations.float_sum("float16"),
            size=16,
            neighbors=sl.Bounded(1),
            order=order,
        )
        for order in ORDERS
    )
    assert (free.value, aligned.value) == (1.0234375, 1.01953125)


@pytest.mark.parametrize("records", [[0, 0.1, 1], [0.1, 0.25, 1]])
def test_function_of_eight_agrees_with_the_fold(records):
    universe = sl.Universe.from_domain(records)
    code = oracle.float_sum("e")
    ours, brute = (
        sl.implementations.implemented_sensitivity(universe, query, size=6, neighbors=sl.Bounded(1))
        for query in (sl.implementations.float_sum("float16"), lambda x: code(tuple(x.tolist())))
    )
    assert ours.exact == brute.exact
    assert ours.orders == brute.orders == brute.evaluations == 3**6
    assert ours.evaluations < 3**5


def test_published_order_of_a_float64_sum():
    """Casacuberta, Shoemate, Vadhan and Wagaman (CCS 2022): one multiset, two sums."""
    total = sl.implementations.float_sum()
    assert total([2**53] + [1] * 7) == 2**53
    assert total([1] * 7 + [2**53]) == 2**53 + 8
    universe = sl.Universe.from_dataset([2**53] + [1] * 7)
    result = sl.implementations.implemented_sensitivity(universe, total, size=8, neighbors=None)
    assert result.exact == 8
    assert result.ideal == 0
    assert sorted(result.witness.x) == sorted(result.witness.y)
    result.verify()


def test_integers_that_wrap():
    universe = sl.Universe.from_domain([0, 1, 27, 100])
    wrapping, saturating = (
        sl.implementations.implemented_sensitivity(
            universe,
            sl.implementations.integer_sum("int8", saturating=saturating),
            size=3,
            neighbors=sl.Bounded(1),
        )
        for saturating in (False, True)
    )
    assert (wrapping.exact, wrapping.ideal) == (255, 100)
    assert {wrapping.witness.query_x, wrapping.witness.query_y} == {127, -128}
    assert saturating.exact == 100


def test_saturation_depends_on_the_order():
    universe = sl.Universe.from_dataset([-100, 100, 100])
    fold = sl.implementations.integer_sum("int8", saturating=True)
    result = sl.implementations.implemented_sensitivity(universe, fold, size=3, neighbors=None)
    assert result.exact == 100 - 27
    assert sl.implementations.integer_sum("int8")([100, 100, -100]) == 100


def test_a_fold_with_a_tuple_and_a_finish():
    universe = sl.Universe.from_domain([1e9, 1e9 + 1, 1e9 + 2])
    for fold, ideal in (
        (sl.implementations.float_mean(), Fraction(2, 4)),
        (sl.implementations.welford_variance(), Fraction(3, 4)),
    ):
        result = sl.implementations.implemented_sensitivity(
            universe, fold, size=4, neighbors=sl.Bounded(1)
        )
        assert result.ideal == ideal
        brute = sl.implementations.implemented_sensitivity(
            universe, lambda x, fold=fold: fold(x), size=4, neighbors=sl.Bounded(1)
        )
        assert result.exact == brute.exact
        result.verify()


def test_a_variance_in_float32_is_not_the_ideal_one():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    result = sl.implementations.implemented_sensitivity(
        universe,
        sl.implementations.welford_variance("float32", ddof=1),
        size=5,
        neighbors=sl.Bounded(1),
    )
    assert result.ideal == Fraction(1, 5)
    assert 0 < abs(result.exact - result.ideal) < Fraction(1, 10**6)


def test_a_step_is_computed_once():
    seen = []

    def step(total, record):
        seen.append((total, record))
        return (total + record) % 5

    universe = sl.Universe.from_domain([0, 1, 2])
    result = sl.implementations.implemented_sensitivity(
        universe, sl.implementations.Fold(step, 0), size=30, neighbors=sl.Bounded(1)
    )
    assert result.exact == 4
    assert result.evaluations == 5 * 3
    # The witness is run once more.
    assert len(seen) == result.evaluations + 2 * 30
    assert result.orders == 3**30


def test_several_sizes_take_the_largest():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    fold = sl.implementations.float_sum("float16")
    alone = [
        sl.implementations.implemented_sensitivity(
            universe, fold, size=n, neighbors=sl.Unbounded(1)
        ).exact
        for n in (7, 8)
    ]
    both = sl.implementations.implemented_sensitivity(
        universe, fold, size=[8, 7], neighbors=sl.Unbounded(1)
    )
    assert both.size == (7, 8)
    assert both.exact == max(alone)
    both.verify()


@pytest.mark.exhaustive
def test_workers_make_no_difference():
    universe = sl.Universe.from_domain([0.1, 1, 2.5])
    offset = 0.25
    one, two = (
        sl.implementations.implemented_sensitivity(
            universe,
            lambda x: np.float16(offset) + x.astype(np.float16).cumsum()[-1],
            size=4,
            neighbors=sl.Bounded(1),
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    )
    assert one.to_dict() == two.to_dict()


def test_vectorized_functions_see_one_row_at_a_time():
    universe = sl.Universe.from_domain([1, 2**53])
    query = sl.from_function(lambda rows: rows.cumsum(axis=1)[:, -1] * 1.0, vectorized=True)
    result = sl.implementations.implemented_sensitivity(
        universe, query, size=2, neighbors=sl.Bounded(1)
    )
    assert result.exact == 2**53
    wrong = sl.from_function(lambda rows: rows.sum(), vectorized=True, name="wrong")
    with pytest.raises(sl.errors.QueryError) as raised:
        sl.implementations.implemented_sensitivity(universe, wrong, size=2, neighbors=sl.Bounded(1))
    assert str(raised.value) == (
        "query 'wrong' on the ordered dataset (1, 1) returned an array of shape () for one row; "
        "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
    )


def test_a_constant_is_proved_by_a_neighbor():
    universe = sl.Universe.from_domain([1, 2])
    for order in ORDERS:
        result = sl.implementations.implemented_sensitivity(
            universe, lambda _x: 7, size=2, neighbors=sl.Bounded(1), order=order
        )
        assert (result.exact, result.ideal) == (0, None)
        assert sorted(result.witness.x) != sorted(result.witness.y)
        result.verify()
