"""The engine for variance and standard deviation, where small random universes do not reach."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import oracle
import pytest

import sensitivity_lab as sl
from sensitivity_lab.search import ENGINES, windows

(MOMENTS,) = (engine for engine in ENGINES if engine.name == "moments")


def test_exactly_j_needs_a_word_with_an_a_between_c_and_b():
    # The words AOCBCOA and ACOBOA alone give 16505493.33 here; the optimum reads CCCCABBA.
    records = [40, 40, 41, 41, 80, 81, 81, 10_000]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        sl.Var(ddof=1),
        size=6,
        neighbors=sl.Bounded(2, exactly=True),
        method="moments",
    )
    expected, _ = oracle.global_sensitivity(records, 6, ("var", 1), "bounded", 2, exactly=True)
    assert result.exact == expected == 16_505_536


@pytest.mark.parametrize(
    ("records", "size", "replaced", "word"),
    [
        # Only ACABAOA finds this one: an A would stand between C and B.
        ([0, 0, 0, 1, 1, 50, 50, 51, 1000], 7, 2, "COBA"),
        # Only AOCOBOA, as fewer records are kept than replaced.
        ([1, 1, 2, 30, 31, 32, 100, 100], 4, 3, "CAOBA"),
    ],
)
def test_words_that_random_universes_rarely_need(records, size, replaced, word):
    universe = sl.Universe.from_dataset(records)
    neighbors = sl.Bounded(replaced, exactly=True)
    result = sl.global_sensitivity(
        universe, "var", size=size, neighbors=neighbors, method="moments"
    )
    expected, _ = oracle.global_sensitivity(
        records, size, ("var", 0), "bounded", replaced, exactly=True
    )
    assert (result.exact, result.word) == (expected, word)


@pytest.mark.parametrize("few", [0, pytest.param(2048, marks=pytest.mark.exhaustive)])
def test_bisection_and_trying_every_word_agree_with_the_oracle(few, monkeypatch):
    monkeypatch.setattr(windows, "FEW", few)
    monkeypatch.setattr(windows, "SEED", 3)
    draw = random.Random(few)
    for _ in range(150):
        records = [draw.choice([0, 1, 2, 30, 31, 100, draw.randint(-50, 50)]) for _ in range(8)]
        size = draw.randint(4, 6)
        k = draw.randint(1, 2)
        query = draw.choice([("var", 0), ("var", 1)])
        name, neighbors = draw.choice(
            [("bounded", sl.Bounded(k, exactly=True)), ("unbounded", sl.Unbounded(k))]
        )
        expected, _ = oracle.global_sensitivity(
            records, size, query, name, k, exactly=neighbors.exactly
        )
        result = sl.global_sensitivity(
            sl.Universe.from_dataset(records),
            sl.Var(query[1]),
            size=size,
            neighbors=neighbors,
            method="moments",
        )
        assert result.exact == expected, (records, size, query, neighbors)


@pytest.mark.representative
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("neighbors", [sl.Bounded(2), sl.Unbounded(2)], ids=str)
def test_many_copies_stay_compact(name, neighbors):
    ages = sl.Universe.from_domain(range(121))
    tracemalloc.start()
    result = sl.global_sensitivity(ages, name, size=10_000, neighbors=neighbors)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.method == "moments"
    assert peak < 2**30
    result.verify()
    # Half of the records at each end, and what changes moves from the middle to an end or back.
    twice = sl.global_sensitivity(
        sl.Universe.from_domain([0, 120]), name, size=10_000, neighbors=neighbors
    )
    assert result.value >= twice.value


@pytest.mark.representative("query")
@pytest.mark.parametrize("query", ["mean", "sum", "count", "median", "min", "var", "std"])
@pytest.mark.parametrize("neighbors", [sl.Bounded(3), sl.Unbounded(3)], ids=str)
def test_a_hundred_thousand_records_verify(query, neighbors):
    records = np.random.default_rng(1).lognormal(size=100_000)
    universe = sl.Universe.from_dataset(records)
    result = sl.global_sensitivity(universe, query, size=50_000, neighbors=neighbors)
    result.verify()
    assert result.datasets_evaluated == 0
    assert result.method != "enumeration"


@pytest.mark.parametrize("offset", [0, 10**9, -(10**15)])
def test_a_sum_of_parts_far_from_zero(offset):
    near = [offset + value for value in range(9)]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(near), "var", size=5, neighbors=sl.Bounded(2), method="moments"
    )
    expected, _ = oracle.global_sensitivity(list(range(9)), 5, ("var", 0), "bounded", 2)
    assert result.exact == expected


def test_mixed_changes_are_refused_with_the_reason():
    universe = sl.Universe.from_dataset(range(8))
    with pytest.raises(sl.NoEngineError) as caught:
        sl.global_sensitivity(
            universe, "var", size=4, neighbors=sl.SymmetricDifference(3), method="moments"
        )
    assert str(caught.value) == (
        "no engine takes var here: moments does not cover var, symmetric difference, at most 3: "
        "not proved for 2 records removed and 1 added"
    )


def test_what_no_engine_takes_lists_every_reason():
    universe = sl.Universe.from_dataset(range(200))
    with pytest.raises(sl.TooLargeError) as caught:
        sl.global_sensitivity(universe, "var", size=100, neighbors=sl.SymmetricDifference(3))
    message = str(caught.value)
    for engine in ENGINES:
        assert engine.name in message


def test_removing_is_symmetric_to_adding():
    universe = sl.Universe.from_dataset([1, 1, 2, 3, 5, 8, 13, 21, 34])
    for query in ("var", "std"):
        add = sl.global_sensitivity(
            universe, query, size=4, neighbors=sl.Unbounded(2, exactly=True, direction="add")
        )
        remove = sl.global_sensitivity(
            universe, query, size=6, neighbors=sl.Unbounded(2, exactly=True, direction="remove")
        )
        assert add.upper == remove.upper
