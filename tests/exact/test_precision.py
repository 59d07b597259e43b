"""One numerical trap per test. Expected values come from rational arithmetic or by hand."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import pandas as pd
import pytest
from checks import refused
from doses import shares
from hypothesis import given
from hypothesis import strategies as st
from strategies import QUERIES, Asked, as_fractions

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import (
    Difference,
    common_integers,
    integers_of_floats,
    round_up,
)
from sensitivity_lab.search import engines_for

F = Fraction

RELATIONS = [
    sl.Bounded(2),
    sl.Bounded(2, exactly=True),
    sl.Unbounded(1),
    sl.Unbounded(2, direction="remove"),
    sl.SymmetricDifference(3),
    sl.SymmetricDifference(2, exactly=True),
]
REPRESENTATIVE = (RELATIONS[0], RELATIONS[3], RELATIONS[4])
each_relation = pytest.mark.parametrize(
    "relation",
    [
        pytest.param(relation, marks=() if relation in REPRESENTATIVE else [pytest.mark.exhaustive])
        for relation in RELATIONS
    ],
    ids=str,
)


def solve(records, query, relation=RELATIONS[0], size=3) -> sl.results.Sensitivity:
    """The answer on which all engines agree that take the problem."""
    universe = sl.Universe.from_dataset(records)
    results = []
    for engine in engines_for("global"):
        with suppress(sl.errors.NoEngineError):
            results.append(
                sl.global_sensitivity(
                    universe, query, size=size, neighbors=relation, method=engine.name
                )
            )
    assert len({(result.value, result.exact, result.upper) for result in results}) == 1
    for result in results:
        result.verify()
    return results[-1]


def check(records, relation, size=3, queries=tuple(QUERIES)) -> None:
    """Every query agrees with the oracle: to the last digit, or for roots to one unit in it."""
    asked = Asked(sl.Universe.from_dataset(records), relation, size)
    for name in queries:
        query, theirs = QUERIES[name]
        if query.least_size > size - relation.k:
            continue
        result = solve(records, query, relation, size)
        expected = F(asked.sensitivity(theirs))
        assert as_fractions(result.witness.y) in asked.neighbors(result.witness.x), name
        assert result.exact in (None, expected), name
        assert abs(F(result.value) - expected) <= F(math.ulp(result.value)), name
        # The oracle's roots are right to 60 digits.
        assert F(result.upper) >= expected * (1 - F(1, 10**55)), name
        assert F(result.upper) - expected <= 2 * F(math.ulp(result.upper)), name


@pytest.mark.representative
@each_relation
def test_a_large_offset_changes_nothing(relation):
    """Squares of 1e9 + 8 need 60 bits, and a float has 53."""
    near, far = range(9), [10**9 + above for above in range(9)]
    for query in ("var", "std", sl.Var(ddof=1)):
        assert solve(far, query, relation, 5).exact == solve(near, query, relation, 5).exact
        assert solve(far, query, relation, 5).value == solve(near, query, relation, 5).value
        assert solve(far, query, relation, 5).upper == solve(near, query, relation, 5).upper


HARD = {
    "a large offset in floats": [1e9 + above / 8 for above in range(8)],
    # As floats, neighboring ones among these are equal.
    "ints beyond 2**53": [2**53, 2**53 + 1, 2**53 + 2, 2**60 + 1, 2**60 + 2, -(2**53) - 1],
    "fractions": [F(1, 3), F(1, 7), F(1, 11), F(22, 7), F(355, 113), F(-2, 3)],
    "decimals": [Decimal(text) for text in ("0.1", "0.2", "0.3", "0.3", "1e-30")],
    # 0.1 + 0.2 is not 0.3: which pair is widest hangs on the last bit.
    "nearly tied": [0.1, 0.1, 0.2, 0.3, 0.1 + 0.2, 0.30000000000000004, 0.7],
    # Both ends carry a difference far below the spacing of floats at the range's size.
    "tied in floats": [0, 1e-20, 3e-20, 1.0, 1e16, 1e16 + 2],
    # Squares leave the range of floats on both sides; here the variance itself still fits.
    "tiny and huge": [1e-150, -1e-150, 3e-300, 1e150, -1e150, 1.0],
    "no square fits": [1e-300, 1e-300, 1e300, -1e300, 1.0, 2.0],
    # The smallest floats: halves of them are no floats, and their squares are 0.
    "denormals": [5e-324, 1e-323, 1.5e-323, 0.0, -5e-324, 4e-323],
}


@pytest.mark.representative("kind", quick=())
@each_relation
@pytest.mark.parametrize("kind", HARD)
def test_records_that_floats_do_not_hold(kind, relation):
    beyond = {"var", "var_ddof_1"} if kind == "no square fits" else set()
    check(HARD[kind], relation, queries=[name for name in QUERIES if name not in beyond])


def test_ints_that_no_float_can_tell_apart():
    result = solve([2**80, 2**80 + 1, 2**80 + 3, 2**80 + 7], "mean", sl.Bounded(1), 2)
    assert result.exact == F(7, 2)
    assert {*result.witness.only_x, *result.witness.only_y} == {2**80, 2**80 + 7}


def test_a_decimal_tenth_is_a_tenth():
    result = solve([Decimal("0.1"), Decimal("0.2"), Decimal("0.4")], "sum", sl.Bounded(1), 2)
    assert result.exact == F(3, 10)
    assert result.value == 0.3
    assert F(result.upper) > F(3, 10)  # the float 0.3 is below 3/10


@pytest.mark.parametrize("seed", shares(8, 60, 600))
def test_clusters_far_apart(seed):
    """A few units beside squares of 50 to 70 bits, which is more than a float holds."""
    rng = random.Random(seed)
    number, far = rng.randint(5, 8), rng.choice([10**7, 10**8, 3 * 10**9, 10**10])
    records = [far * rng.choice([-1, 0, 0, 1, 2]) + rng.randint(-3, 3) for _ in range(number)]
    check(records, rng.choice(RELATIONS), rng.randint(3, number - 2), queries=["var", "std"])


def test_an_upper_bound_is_never_rounded_to_zero():
    result = solve([0.0, 5e-324], "mean", sl.Bounded(1), 1)
    assert (result.value, result.upper) == (5e-324, 5e-324)
    result = solve([0.0, 0.0, 0.0, 5e-324], "mean", sl.Bounded(1), 3)
    assert result.exact == F(5e-324) / 3
    assert (result.value, result.upper) == (0.0, 5e-324)


def test_no_difference_at_all_is_zero():
    constant = []
    for name, (query, definition) in QUERIES.items():
        squared = ("var", *definition[1:]) if query.root else definition
        if len({oracle.evaluate(squared, [F(0.1)] * size) for size in (3, 4, 5)}) == 1:
            constant.append(name)
            result = solve([0.1] * 6, query, sl.Unbounded(1), 4)
            assert (result.value, result.upper) == (0.0, 0.0)
    assert {"mean", "median", "std", "count_distinct"} <= set(constant)
    assert {"sum", "count"}.isdisjoint(constant)


def test_an_answer_beyond_floats_is_an_error_that_says_so():
    with pytest.raises(sl.errors.InputError, match="is beyond the range of floats") as caught:
        solve([3e200, -3e200, 0.0], "var", sl.Bounded(1), 2)
    assert str(caught.value) == (
        "var, bounded, at most 1: an answer of about 1e400 is beyond the range of floats "
        "(about 1.8e308); "
        "divide the records by a constant"
    )


def test_a_percentile_close_to_zero():
    """Its weights have a denominator that no float can hold."""
    q = F(1, 2**128)
    result = solve([1, 2, 3, 10], sl.Percentile(q), sl.Bounded(1), 2)
    asked = Asked(sl.Universe.from_dataset([1, 2, 3, 10]), sl.Bounded(1), 2)
    assert result.exact == asked.sensitivity(("percentile", q, "linear"))
    assert result.exact != result.value == 2.0


def test_a_percentile_that_floats_cannot_write():
    """A third of the way: neither 100/3 percent nor the weights are floats."""
    query = sl.Percentile(F(100, 3))
    assert solve([0, 3, 6, 30], query, sl.Bounded(1), 2).exact == 14 - 2


def test_a_sum_does_not_depend_on_the_order():
    """Casacuberta et al. (CCS 2022): left to right, floats give 2**53 or 2**53 + 8."""
    records = [float(2**53)] + [1.0] * 7
    integers, unit = common_integers(records)
    assert sl.Sum().rational(np.sort(integers), unit) == 2**53 + 7
    assert sl.Sum()(records) == sl.Sum()(records[::-1]) == 2.0**53 + 8


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_many_floats_become_integers_exactly(floats):
    """Whole arrays at a time, denormals and the largest floats too."""
    integers, unit = common_integers(floats * 1001)
    assert [F(int(integer), unit) for integer in integers[: len(floats)]] == [*map(F, floats)]
    assert integers.tolist() == integers.tolist()[: len(floats)] * 1001


def test_roots_that_tie_in_floats():
    """sqrt(4N + 2) exceeds sqrt(N) + sqrt(N + 1) by a part in 1e26."""
    n = 10**12
    outer = Difference(F(4 * n + 2), F(n + 1), root=True)
    inner = Difference(F(n), F(0), root=True)
    assert math.sqrt(4 * n + 2) - math.sqrt(n + 1) == pytest.approx(math.sqrt(n), rel=1e-15)
    assert outer > inner
    assert inner < outer
    assert outer != inner
    assert F(outer.upper()) > 10**6
    assert inner.upper() == 10**6


def test_roots_that_are_equal():
    """sqrt 8 - sqrt 2 = sqrt 2."""
    one = Difference(F(8), F(2), root=True)
    other = Difference(F(2), F(0), root=True)
    assert one == other
    assert not one < other
    assert hash(one) == hash(other)


def test_roots_that_nearly_cancel():
    large = F(10**40)
    assert Difference(large + 1, large, root=True).nearest() == 5e-21


rationals = st.one_of(
    st.fractions(0, 5, max_denominator=6), st.integers(0, 10**20).map(F), st.just(F(0))
)


@given(st.tuples(rationals, rationals), st.tuples(rationals, rationals))
def test_differences_of_roots_compare_as_60_digits_do(one, other):
    first, second = oracle.root_difference(*one), oracle.root_difference(*other)
    ours, theirs = Difference(*one, root=True), Difference(*other, root=True)
    if abs(first - second) > Decimal(10) ** -50 * max(first, second):
        assert (ours < theirs, ours > theirs) == (first < second, first > second)
    else:
        assert ours == theirs


@given(rationals, rationals)
def test_roots_are_rounded_to_nearest_and_up(one, other):
    exact = F(oracle.root_difference(one, other))
    difference = Difference(one, other, root=True)
    near, upper = difference.nearest(), difference.upper()
    assert abs(F(near) - exact) <= F(math.ulp(near)) / 2
    assert F(math.nextafter(upper, -math.inf)) < exact * (1 + F(1, 10**55))
    assert F(upper) >= exact * (1 - F(1, 10**55))


@given(st.fractions(-1000, 1000))
def test_rounding_up_is_the_next_float(value):
    rounded = round_up(value)
    assert F(rounded) >= value
    assert F(math.nextafter(rounded, -math.inf)) < value


def test_std_chooses_among_ties_exactly():
    """{0, n} and {0, n + 1} around 10**16 have float roots that tie; the wider one must win."""
    n = 10**16
    result = solve([0, 0, n, n + 1], "std", sl.Bounded(1), 2)
    assert result.witness.query_x == result.witness.query_y or result.value > 0
    assert n + 1 in result.witness.x + result.witness.y
    assert result.upper == float(n + 2) / 2  # (n + 1) / 2, up to an even multiple of a half


def test_a_float_function_is_told_to_be_float():
    """What a caller's function rounds, nobody can undo: no exact value, no upper bound."""
    result = solve([0.1, 0.2, 0.3], np.mean, sl.Bounded(1), 2)
    assert (result.arithmetic, result.exact, result.upper) == ("float", None, None)


def _of_table(values, query, norm, method="enumeration") -> sl.results.Sensitivity:
    """The sensitivity for datasets of 3 of the rows, which are in groups a and b by turns."""
    table = pd.DataFrame({"v": values, "g": ["a", "b"] * (len(values) // 2)})
    result = sl.global_sensitivity(
        sl.TableUniverse.from_dataset(table),
        query,
        size=3,
        neighbors=sl.Bounded(1),
        norm=norm,
        method=method,
    )
    result.verify()
    return result


@pytest.mark.parametrize("unit", [1e-200, 1e200], ids=["underflow", "overflow"])
def test_squares_of_vector_answers_leave_no_range(unit):
    """Squares of 1e-200 are 0 in floats, and of 1e200 infinite: L2 must not compare those."""
    values = [unit, 2 * unit, 3 * unit, 5 * unit]
    sums = sl.GroupBy("g", sl.SumOf("v"), groups=["a", "b"])
    assert _of_table(values, sums, "L2").value == pytest.approx(34**0.5 * unit, rel=1e-15)
    ends = _of_table(values, lambda rows: [rows["v"].min(), rows["v"].max()], "L2")
    assert ends.value == pytest.approx(5**0.5 * unit, rel=1e-15)


def test_sums_of_vector_answers_leave_no_range():
    """The gap of one coordinate between 1e308 and -1e308 is infinite in floats."""
    values = [1e308, -1e308, 1.0, 0.0]
    sums = sl.GroupBy("g", sl.SumOf("v"), groups=["a", "b"])
    assert _of_table(values, sums, "L2").value == pytest.approx(2**0.5 * 1e308, rel=1e-15)


def test_answers_smaller_than_the_smallest_float_are_compared_exactly():
    """The mean of 0 and 2**-1074 is a half of it, which floats round to 0: to no difference."""
    table = pd.DataFrame({"v": [0.0, 5e-324, None]})
    result = sl.global_sensitivity(
        sl.TableUniverse.from_domain(table, allow_missing=True),
        sl.MeanOf("v", empty=0),
        size=2,
        neighbors=sl.Unbounded(1, direction="remove"),
    )
    assert (result.method, result.exact) == ("enumeration", F(1, 2**1074))


def test_an_answer_beyond_the_floats_is_an_error_that_says_so():
    refused(
        lambda: _of_table([1e200, 2e200, 3e200, 5e200], sl.Covariance("v", "v"), "L1"),
        "covariance of v and v: an answer of about 1e400 is beyond the range of floats (about "
        "1.8e308); divide the records by a constant",
    )


def test_a_zero_makes_no_other_float_longer():
    """It has the exponent of a small number, but no digits that would need it."""
    integers, unit = integers_of_floats(np.array([0.0, 2.0**60, 3 * 2.0**70]))
    assert (integers.tolist(), unit) == ([0, 2**60, 3 * 2**70], 1)
    integers, unit = integers_of_floats(np.array([0.0, 0.75]))
    assert (integers.tolist(), unit) == ([0, 3 * 2**51], 2**53)
