"""The sensitivity of code on ordered datasets, against its definition and published values."""

from __future__ import annotations

import json
import math
import operator
import random
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracle_implementation as oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sensitivity_lab as sl

RELATIONS = {
    "bounded": sl.Bounded,
    "unbounded": sl.Unbounded,
    "symmetric_difference": sl.SymmetricDifference,
}

FOLDS = {
    "float16": (
        sl.float_sum("float16"),
        oracle.float_sum("e"),
        [0.1, 1, 2048, -2048, 60000, -60000],
    ),
    "float32": (sl.float_sum("float32"), oracle.float_sum("f"), [0.1, 1, 2**24, -(2**24), 3e38]),
    "float64": (
        sl.float_sum("float64"),
        oracle.float_sum("d"),
        [0.1, 1e9, -1e9, 2.0**53, 1.7e308, -1.7e308],
    ),
    "int8": (sl.integer_sum("int8"), oracle.wrapping_sum(8), [-128, -1, 0, 1, 100, 127]),
}
"""By type: our fold, the oracle's code, and the records that make trouble."""


@st.composite
def questions(draw):
    """A fold, a small universe with limited or unlimited copies, and a feasible relation."""
    fold, code, values = FOLDS[draw(st.sampled_from(sorted(FOLDS)))]
    values = draw(st.lists(st.sampled_from(values), min_size=2, max_size=3, unique=True))
    name = draw(st.sampled_from(sorted(RELATIONS)))
    k, exactly, order = draw(st.tuples(st.integers(1, 2), st.booleans(), st.sampled_from(ORDERS)))
    size = draw(st.integers(k + 1, 3))
    if draw(st.booleans()):
        universe = sl.Universe.from_domain(values)
        return fold, code, universe, values * (size + k), size, RELATIONS[name](k, exactly), order
    counts = draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    counts[0] += max(0, size + k - sum(counts))
    universe = sl.Universe(values, counts)
    if exactly and name != "unbounded":
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
@settings(max_examples=120)
def test_folds_agree_with_brute_force_over_orders(question):
    fold, code, universe, records, size, relation, order = question
    result = sl.implemented_sensitivity(fold, universe, size=size, neighbors=relation, order=order)
    check(result, of_oracle(code, records, size, relation, order))


@given(questions())
@settings(max_examples=40)
def test_functions_agree_with_brute_force_over_orders(question):
    _, code, universe, records, size, relation, order = question
    result = sl.implemented_sensitivity(
        lambda x: code(tuple(x.tolist())), universe, size=size, neighbors=relation, order=order
    )
    check(result, of_oracle(code, records, size, relation, order))


@given(st.lists(st.sampled_from([0.1, 1, 3e4, -3e4]), min_size=4, max_size=6), st.just(2))
@example([0.1, 0.1, 1, 3e4], 2)
@settings(max_examples=25)
def test_exactly_k_replaces_by_other_records(records, size):
    fold, code, _ = FOLDS["float16"]
    relation = sl.Bounded(2, exactly=True)
    universe = sl.Universe.from_dataset(records)
    result = sl.implemented_sensitivity(fold, universe, size=size, neighbors=relation)
    check(result, of_oracle(code, records, size, relation, "free"))


def test_exactly_k_is_not_at_most_k():
    """(1, 2) and (10, 100) share no record, so exactly 1 does not reach them."""
    universe = sl.Universe.from_dataset([1, 2, 10, 100])
    summed = [
        sl.implemented_sensitivity(sl.integer_sum(), universe, size=2, neighbors=relation).exact
        for relation in (sl.Bounded(1, exactly=True), sl.Bounded(2, exactly=True), sl.Bounded(2))
    ]
    assert summed == [99, 107, 107]
    reversing = sl.Fold(lambda _kept, record: record, 0)
    kept = [
        sl.implemented_sensitivity(reversing, sl.Universe([1, 9], [1, 2]), size=2, neighbors=r)
        for r in (sl.Bounded(1), sl.Bounded(1, exactly=True), None)
    ]
    assert [one.exact for one in kept] == [8, 8, 8]


@pytest.mark.parametrize("order", ORDERS)
def test_float16_sum_of_eight(order):
    """Replacing a 0 by a 1 changes the sum by 1 and by a rounding, in either meaning of order."""
    universe = sl.Universe.from_domain([0, 0.1, 1])
    result = sl.implemented_sensitivity(
        sl.float_sum("float16"), universe, size=8, neighbors=sl.Bounded(1), order=order
    )
    assert result.value == 1.0078125
    assert result.exact == Fraction(129, 128)
    assert result.ideal == 1
    result.verify()
    code = oracle.float_sum("e")
    assert result.witness.query_x == code(result.witness.x)
    assert result.witness.query_y == code(result.witness.y)


def test_the_meaning_of_order_can_matter():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    free, aligned = (
        sl.implemented_sensitivity(
            sl.float_sum("float16"), universe, size=16, neighbors=sl.Bounded(1), order=order
        )
        for order in ORDERS
    )
    assert (free.value, aligned.value) == (1.0234375, 1.01953125)


@pytest.mark.parametrize("records", [[0, 0.1, 1], [0.1, 0.25, 1]])
def test_function_of_eight_agrees_with_the_fold(records):
    universe = sl.Universe.from_domain(records)
    code = oracle.float_sum("e")
    ours, brute = (
        sl.implemented_sensitivity(query, universe, size=6, neighbors=sl.Bounded(1))
        for query in (sl.float_sum("float16"), lambda x: code(tuple(x.tolist())))
    )
    assert ours.exact == brute.exact
    assert ours.orders == brute.orders == brute.evaluations == 3**6
    assert ours.evaluations < 3**5


def test_published_order_of_a_float64_sum():
    """Casacuberta, Shoemate, Vadhan and Wagaman (CCS 2022): one multiset, two sums."""
    total = sl.float_sum()
    assert total([2**53] + [1] * 7) == 2**53
    assert total([1] * 7 + [2**53]) == 2**53 + 8
    universe = sl.Universe.from_dataset([2**53] + [1] * 7)
    result = sl.implemented_sensitivity(total, universe, size=8, neighbors=None)
    assert result.exact == 8
    assert result.ideal == 0
    assert sorted(result.witness.x) == sorted(result.witness.y)
    result.verify()


def test_integers_that_wrap():
    universe = sl.Universe.from_domain([0, 1, 27, 100])
    wrapping, saturating = (
        sl.implemented_sensitivity(
            sl.integer_sum("int8", saturating=saturating),
            universe,
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
    fold = sl.integer_sum("int8", saturating=True)
    result = sl.implemented_sensitivity(fold, universe, size=3, neighbors=None)
    assert result.exact == 100 - 27
    assert sl.integer_sum("int8")([100, 100, -100]) == 100


def test_answers_are_subtracted_as_rationals():
    """In float16, 2048 - 0.09998 is 2048."""
    universe = sl.Universe.from_domain([0.1, 2048])
    result = sl.implemented_sensitivity(
        sl.float_sum("float16"), universe, size=1, neighbors=sl.Bounded(1)
    )
    assert result.exact == 2048 - Fraction(oracle.rounded(0.1, "e"))


def test_whole_numbers_beyond_floats_stay_exact():
    universe = sl.Universe.from_domain([0, 1, 2**60 + 1])
    result = sl.implemented_sensitivity(sl.integer_sum(), universe, size=2, neighbors=sl.Bounded(1))
    assert result.exact == 2**60 + 1
    assert result.upper == 2.0**60 + 256
    function = sl.implemented_sensitivity(
        lambda x: int(x.sum()), universe, size=2, neighbors=sl.Bounded(1)
    )
    assert function.exact == 2**60 + 1


@pytest.mark.parametrize("order", ORDERS)
def test_overflow_is_an_infinite_sensitivity_with_a_witness(order):
    universe = sl.Universe.from_domain([0, 40000])
    result = sl.implemented_sensitivity(
        sl.float_sum("float16"), universe, size=2, neighbors=sl.Bounded(1), order=order
    )
    assert (result.value, result.exact, result.ideal) == (math.inf, None, 40000)
    assert sorted((result.witness.query_x, result.witness.query_y)) == [40000, math.inf]
    assert result.upper == math.inf
    result.verify()


def test_a_difference_beyond_all_floats_stays_exact():
    universe = sl.Universe.from_domain([-1.7e308, 1.7e308])
    result = sl.implemented_sensitivity(sl.float_sum(), universe, size=1, neighbors=sl.Bounded(1))
    assert (result.value, result.upper) == (math.inf, math.inf)
    assert result.exact == 2 * Fraction(1.7e308)
    assert result.ideal is None
    result.verify()


def test_an_ideal_that_is_undefined():
    """The variance of one record with ddof 1 is 0 / 0: NaN as code, and no mathematics."""
    fold = sl.welford_variance(ddof=1)
    result = ask(fold, size=2, neighbors=sl.Unbounded(1, direction="remove"))
    assert (result.value, result.ideal) == (math.inf, None)
    assert math.isnan(result.witness.query_y)
    result.verify()
    with pytest.raises(sl.InputError) as raised:
        ask(fold, size=2, neighbors=sl.Unbounded(1, direction="remove"), ideal=sl.Var(ddof=1))
    assert str(raised.value) == (
        "var_ddof_1 needs at least 2 records, but datasets of size 1 occur among x and y; choose a "
        "larger size or a smaller k"
    )


def test_equal_answers_that_are_not_finite_are_not_apart():
    """Beyond the largest number everything is inf or NaN, on both sides alike."""
    universe = sl.Universe.from_domain([1, 2])
    for answer in (math.inf, -math.inf, math.nan):
        fold = sl.Fold(lambda acc, _record: acc, answer)
        result = sl.implemented_sensitivity(fold, universe, size=2, neighbors=sl.Bounded(1))
        assert result.exact == 0
        result.verify()
    fold = sl.Fold(lambda _acc, record: math.nan if record == 1 else math.inf, 0)
    result = sl.implemented_sensitivity(fold, universe, size=1, neighbors=sl.Bounded(1))
    assert result.exact is None
    result.verify()


def test_zeros_of_two_signs_are_two_accumulators():
    """0.0 equals -0.0, but code can tell them apart later on."""
    fold = sl.Fold(lambda acc, record: -0.0 if record == 1 else math.copysign(1, acc) * record, 0.0)
    universe = sl.Universe.from_domain([0, 1, 2])
    code = lambda x: fold(x)  # noqa: E731 - no Fold, so all orders are listed
    ours, brute = (
        sl.implemented_sensitivity(query, universe, size=3, neighbors=sl.Bounded(1)).exact
        for query in (fold, code)
    )
    assert ours == brute == 4


def test_numbers_of_two_types_are_two_accumulators():
    fold = sl.Fold(lambda acc, record: acc + record, 0, lambda acc: isinstance(acc, float))
    universe = sl.Universe.from_domain([1, 2.5, -2.5])
    result = sl.implemented_sensitivity(fold, universe, size=3, neighbors=sl.Bounded(1))
    assert result.exact == 1


def test_a_fold_with_a_tuple_and_a_finish():
    universe = sl.Universe.from_domain([1e9, 1e9 + 1, 1e9 + 2])
    for fold, ideal in ((sl.float_mean(), Fraction(2, 4)), (sl.welford_variance(), Fraction(3, 4))):
        result = sl.implemented_sensitivity(fold, universe, size=4, neighbors=sl.Bounded(1))
        assert result.ideal == ideal
        brute = sl.implemented_sensitivity(
            lambda x, fold=fold: fold(x), universe, size=4, neighbors=sl.Bounded(1)
        )
        assert result.exact == brute.exact
        result.verify()


def test_a_variance_in_float32_is_not_the_ideal_one():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    result = sl.implemented_sensitivity(
        sl.welford_variance("float32", ddof=1), universe, size=5, neighbors=sl.Bounded(1)
    )
    assert result.ideal == Fraction(1, 5)
    assert 0 < abs(result.exact - result.ideal) < Fraction(1, 10**6)


def test_a_step_is_computed_once():
    seen = []

    def step(total, record):
        seen.append((total, record))
        return (total + record) % 5

    universe = sl.Universe.from_domain([0, 1, 2])
    result = sl.implemented_sensitivity(
        sl.Fold(step, 0), universe, size=30, neighbors=sl.Bounded(1)
    )
    assert result.exact == 4
    assert result.evaluations == 5 * 3
    # The witness is run once more.
    assert len(seen) == result.evaluations + 2 * 30
    assert result.orders == 3**30


def test_several_sizes_take_the_largest():
    universe = sl.Universe.from_domain([0, 0.1, 1])
    fold = sl.float_sum("float16")
    alone = [
        sl.implemented_sensitivity(fold, universe, size=n, neighbors=sl.Unbounded(1)).exact
        for n in (7, 8)
    ]
    both = sl.implemented_sensitivity(fold, universe, size=[8, 7], neighbors=sl.Unbounded(1))
    assert both.size == (7, 8)
    assert both.exact == max(alone)
    both.verify()


def test_workers_make_no_difference():
    universe = sl.Universe.from_domain([0.1, 1, 2.5])
    offset = 0.25
    one, two = (
        sl.implemented_sensitivity(
            lambda x: np.float16(offset) + x.astype(np.float16).cumsum()[-1],
            universe,
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
    result = sl.implemented_sensitivity(query, universe, size=2, neighbors=sl.Bounded(1))
    assert result.exact == 2**53
    wrong = sl.from_function(lambda rows: rows.sum(), vectorized=True, name="wrong")
    with pytest.raises(sl.QueryError) as raised:
        sl.implemented_sensitivity(wrong, universe, size=2, neighbors=sl.Bounded(1))
    assert str(raised.value) == (
        "query 'wrong' on the ordered dataset (1, 1) returned an array of shape () for one row; "
        "a vectorized function gets shape (datasets, n) and returns shape (datasets,)"
    )


def test_a_constant_is_proved_by_a_neighbor():
    universe = sl.Universe.from_domain([1, 2])
    for order in ORDERS:
        result = sl.implemented_sensitivity(
            lambda _x: 7, universe, size=2, neighbors=sl.Bounded(1), order=order
        )
        assert (result.exact, result.ideal) == (0, None)
        assert sorted(result.witness.x) != sorted(result.witness.y)
        result.verify()


RESULT = sl.implemented_sensitivity(
    sl.float_sum("float16"),
    sl.Universe.from_domain([0, 0.1, 1]),
    size=8,
    neighbors=sl.Bounded(1),
)


def test_text_and_html_tell_the_same_facts():
    text = repr(RESULT)
    assert text == (
        "Implemented sensitivity of float16 sum: 1.0078125 (ideal 1)\n"
        "  exact      129/128\n"
        "  neighbors  bounded, at most 1; size 8; domain of 3 values, unlimited copies\n"
        "  order      free: any order of x, any order of y\n"
        "  witness x  (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1)  float16 sum 4.40625\n"
        "  witness y  (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)  float16 sum 3.3984375\n"
        "  method     reachable accumulators: 6,561 orders of 45 multisets in 159 steps"
    )
    html = RESULT._repr_html_()
    for line in text.splitlines():
        for fact in line.strip().split("  ", 1):
            assert fact.strip() in html


def test_the_facts_as_plain_objects():
    facts = RESULT.to_dict()
    assert json.loads(json.dumps(facts))["exact"] == "129/128"
    assert (facts["neighbors"], facts["meaning"], facts["distance"]) == ("bounded", "at most", 1)
    assert (facts["order"], facts["ideal"], facts["size"]) == ("free", "1", 8)
    reordered = sl.implemented_sensitivity(
        sl.float_sum(), sl.Universe.from_domain([1, 2]), size=2, neighbors=None
    )
    assert (reordered.to_dict()["neighbors"], reordered.to_dict()["distance"]) == ("reordering", 0)
    assert "same records, reordered; size 2" in repr(reordered)


X, Y = RESULT.witness.x, RESULT.witness.y


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"witness": replace(RESULT.witness, x=X[::-1])},
            "the answer on x of float16 sum is stated as 4.40625, but the witness gives "
            "4.3984375; x = (0.1, 0.1, 0.1, 0.1, 1, 1, 1, 1), y = "
            "(1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)",
        ),
        (
            {"exact": Fraction(1)},
            "the exact value of float16 sum is stated as 1, but the witness gives 129/128; x = "
            "(1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1), y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0)",
        ),
        ({"size": 7}, "x has 8 records, the sizes asked for are (7,)"),
        (
            {"neighbors": None},
            "x = (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1) and y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0) are "
            "not the same records",
        ),
        (
            {"order": "aligned"},
            "x = (1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1) and y = (1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0) are "
            "no aligned neighbors (bounded, at most 1): they share 6 positions",
        ),
        (
            {"universe": sl.Universe.from_domain([0, 1])},
            "the record 0.1 is not in the universe: Universe of the values 0, 1, each as often as "
            "a dataset can hold",
        ),
    ],
)
def test_verify_finds_what_is_wrong(changed, message):
    RESULT.verify()
    with pytest.raises(sl.VerificationError) as raised:
        replace(RESULT, **changed).verify()
    assert str(raised.value) == message


DOMAIN = sl.Universe.from_domain([0, 1, 2])


def ask(query=operator.itemgetter(0), universe=DOMAIN, **options):
    return sl.implemented_sensitivity(
        query, universe, **{"size": 2, "neighbors": sl.Bounded(1), **options}
    )


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: ask("sum"),
            sl.InputError,
            "'sum' is a query as mathematics, which has no order; give code: a Fold such as "
            "float_sum('float32'), or a function of a 1-D array",
        ),
        (
            lambda: ask(7),
            sl.InputError,
            "query must be a Fold or a function of a 1-D array, got 7",
        ),
        (
            lambda: ask(order="sorted"),
            sl.InputError,
            "order must be 'free' or 'aligned', got 'sorted'",
        ),
        (
            lambda: ask(order="aligned", neighbors=None),
            sl.InputError,
            "order='aligned' needs a neighbor relation: without one, x and y are the same "
            "sequence; choose order='free'",
        ),
        (
            lambda: ask(
                universe=sl.Universe([1, 2], [3, 3]),
                order="aligned",
                neighbors=sl.Bounded(1, exactly=True),
            ),
            sl.InputError,
            "order='aligned' with bounded, exactly 1 needs a domain with unlimited copies, where a "
            "record can be replaced by an equal one; choose exactly=False or order='free'",
        ),
        (
            lambda: ask(sl.integer_sum("int8"), sl.Universe.from_domain([1, 200])),
            sl.InputError,
            "int8 cannot hold the record 200; it holds whole numbers from -128 to 127",
        ),
        (
            lambda: ask(sl.integer_sum("int8"), sl.Universe.from_domain([0.5, 1])),
            sl.InputError,
            "int8 cannot hold the record 0.5; it holds whole numbers from -128 to 127",
        ),
        (
            lambda: sl.float_sum("int8"),
            sl.InputError,
            "dtype must be float16, float32 or float64, got int8",
        ),
        (
            lambda: sl.integer_sum("number"),
            sl.InputError,
            "dtype must be int8 to int64 or uint8 to uint64, got 'number'",
        ),
        (
            lambda: sl.Fold(1, 0),
            sl.InputError,
            "step must be a function (accumulator, record), got 1",
        ),
        (
            lambda: sl.Fold(max, 0, finish=1),
            sl.InputError,
            "finish must be a function of the accumulator, got 1",
        ),
        (
            lambda: ask(sl.Fold(lambda acc, _record: [acc], 0, name="lists")),
            sl.QueryError,
            "the step of 'lists' from 0 with the record 0 returned an accumulator that cannot be "
            "hashed; return a number or a tuple",
        ),
        (
            lambda: ask(sl.Fold(lambda _acc, record: 1 // record, 0, name="divide")),
            sl.QueryError,
            "the step of 'divide' from 0 with the record 0 raised ZeroDivisionError: integer "
            "division or modulo by zero",
        ),
        (
            lambda: ask(sl.Fold(max, 0, lambda _acc: None, name="nothing")),
            sl.QueryError,
            "'nothing' that ends with the accumulator 0 returned None; an implementation returns "
            "one number",
        ),
        (
            lambda: ask(sl.Fold(max, 0, lambda acc: 1 // acc, name="divide")),
            sl.QueryError,
            "'divide' that ends with the accumulator 0 raised ZeroDivisionError: integer division "
            "or modulo by zero",
        ),
        (
            lambda: ask(lambda _x: "one"),
            sl.QueryError,
            "query 'function' on the ordered dataset (0, 0) returned 'one'; an implementation "
            "returns one number",
        ),
        (
            lambda: ask(lambda x: 1 // int(x[0])),
            sl.QueryError,
            "query 'function' on the ordered dataset (0, 0) raised ZeroDivisionError: integer "
            "division or modulo by zero",
        ),
        (
            lambda: ask(size=20),
            sl.TooLargeError,
            "query 'itemgetter' would be called on 3,486,784,401 orders, more than the "
            "evaluation_limit of 10,000,000; choose a smaller size or distance, or fewer distinct "
            "values, a Fold instead of a function, or a larger evaluation_limit",
        ),
        (
            lambda: ask(sl.float_sum(), size=30, memory_limit=100_000),
            sl.TooLargeError,
            "the search over 5,456 multisets of up to 30 records would need about 0.6 MiB, more "
            "than the memory limit of 0.1 MiB; choose a smaller size or distance, or fewer "
            "distinct values, or a larger memory_limit",
        ),
        (
            lambda: ask(sl.float_sum(), size=100_000),
            sl.TooLargeError,
            "datasets of 100,000 records over 3 values are too many to go through; choose a "
            "smaller size or distance, or fewer distinct values",
        ),
    ],
)
def test_errors_say_what_to_do(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("order", "what"),
    [("free", "accumulators"), ("aligned", "pairs of reachable accumulators")],
)
def test_too_many_accumulators_are_refused(order, what):
    """Code that remembers all records has as many accumulators as there are orders."""
    read_all = sl.Fold(lambda read, record: (*read, record), (), len, name="all")
    with pytest.raises(sl.TooLargeError) as raised:
        ask(read_all, size=12, order=order, memory_limit=2_000_000)
    message = str(raised.value)
    assert message.startswith(f"the search over {what} of 'all' has reached ")
    assert message.endswith(
        "MiB, more than the memory limit of 1.9 MiB; choose a smaller size or distance, fewer "
        "distinct values, or a larger memory_limit"
    )


def test_random_code_is_refused():
    generator = random.Random(1)
    with pytest.raises(sl.QueryError) as raised:
        ask(lambda _x: generator.random(), size=1)
    assert str(raised.value).startswith(
        "query 'function' answers the same ordered dataset differently each time, x = ("
    )
