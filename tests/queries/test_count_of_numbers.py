"""`CountIf` of numbers: the counting query of the textbooks, without a table."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import sensitivity_lab as sl

AGES = [3, 3, 17, 18, 18, 40, 90]
OLD = sl.CountIf("x >= 18")
RELATIONS = [sl.Bounded(2), sl.Unbounded(1), sl.SymmetricDifference(2), sl.Edit(1)]


def test_numbers_are_counted_as_they_are():
    assert OLD(AGES) == OLD(np.array(AGES)) == sl.CountIf(lambda x: x >= 18)(AGES) == 4
    assert (OLD([]), OLD.name) == (0, "count of x >= 18")
    big = [2**53, 2**53 + 1, 0.5]
    assert sl.CountIf(f"x > {2**53}")(big) == 1
    assert sl.CountIf("0 < x <= 0.25")([Fraction(1, 4), Decimal("0.1"), 1]) == 2
    assert sl.CountIf("x % 2 == 1 or x == 4")([1, 2, 3, 4]) == 3


@pytest.mark.parametrize("neighbors", RELATIONS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_the_search_for_sums_finds_what_enumeration_of_a_function_finds(neighbors, seed):
    draw = random.Random(seed)
    records = [draw.randrange(6) for _ in range(6)]
    universe = sl.Universe.from_dataset(records) if seed % 2 else sl.Universe.from_domain(range(6))
    cut = draw.randrange(1, 6)

    def counted(x):
        return int((x >= cut).sum())

    query = sl.CountIf(f"x >= {cut}")
    asked = {"size": 2, "neighbors": neighbors}
    truth = sl.global_sensitivity(universe, counted, **asked)
    for method in ("auto", "enumeration"):
        found = sl.global_sensitivity(universe, query, method=method, **asked)
        assert (found.exact, found.arithmetic) == (truth.value, "exact")
        assert found.method == ("row_sums" if method == "auto" else "enumeration")
        found.verify()
    x = truth.witness.x
    local = {"dataset": x, "neighbors": neighbors}
    assert (
        sl.local_sensitivity(universe, query, **local).exact
        == sl.local_sensitivity(universe, counted, **local).value
    )


def test_a_million_ages_need_no_enumeration():
    universe = sl.Universe.from_domain(range(121))
    found = sl.global_sensitivity(universe, OLD, size=10**6, neighbors="unbounded")
    assert (found.exact, found.method) == (1, "row_sums")
    everybody = sl.CountIf("x >= 0")
    assert sl.global_sensitivity(universe, everybody, size=10, neighbors="bounded").value == 0
    assert sl.noise.laplace_scale(found, 1) == 1


def test_other_questions_about_a_count():
    universe = sl.Universe.from_domain(range(5))
    query = sl.CountIf("x >= 3")
    asked = {"dataset": [0, 3, 4], "neighbors": "bounded"}
    reach = sl.reach(universe, query, distances=3, **asked)
    assert (reach.lower, reach.upper) == ((2, 1, 0, 0), (2, 3, 3, 3))
    assert sl.smooth_sensitivity(universe, query, beta=1, **asked).value == 1
    curves = sl.sensitivity_curves(
        universe, [query, "count"], size=3, distances=[1, 2], neighbors="bounded"
    )
    assert [point.exact for _, point in curves[query.name]] == [1, 2]
    assert sl.audit(universe, query, 1, size=3, neighbors="bounded", distances=1).verdict == "tight"
    found = sl.global_sensitivity(universe, query, size=3, neighbors="bounded")
    for kind in (None, "witness", "answers"):
        found.plot(kind)
    assert "count of x >= 3" in repr(found)


def message(call):
    with pytest.raises(sl.errors.SensitivityLabError) as caught:
        call()
    return str(caught.value)


def test_what_cannot_be_counted_is_told():
    def ask(universe, query):
        return lambda: sl.global_sensitivity(universe, query, size=3, neighbors="bounded")

    assert message(ask(sl.Universe.from_interval(0, 9), OLD)) == (
        "count of x >= 18 is not searched on an interval, because nothing tells where its "
        "answer jumps; list the values that records can have, Universe.from_domain(values)"
    )
    numbers = sl.Universe.from_domain(range(9))
    assert message(ask(numbers, sl.CountIf("age >= 18"))) == (
        "the predicate of 'count of age >= 18' cannot be used: there is no column 'age'; the "
        "records are numbers: x in a text, a 1-D array for a function; for columns make a "
        "TableUniverse"
    )
    assert message(ask(numbers, sl.CountIf(lambda x: x["age"] > 3, name="old"))).endswith(
        "; the records are numbers: x in a text, a 1-D array for a function; for columns make a "
        "TableUniverse"
    )
    assert message(ask(numbers, sl.CountIf(lambda x: x.sum(), name="old"))) == (
        "the predicate of 'old' returned 36 for 9 records; it must return one boolean per record"
    )
    assert message(ask(numbers, sl.CountIf(lambda x: x == x.max(), name="old"))) == (
        "the predicate of 'old' decides differently on the record 0 alone than among others; it "
        "must look at one record at a time"
    )
    assert message(lambda: sl.ColumnQuery("age", OLD)).startswith(
        "query must be a query on numbers"
    )
