"""Records of arrays: the exact integers and sums of all records, made for the places asked for."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.queries.order_statistics import PERCENTILE_METHODS
from sensitivity_lab.results.witness import Unlisted
from sensitivity_lab.search import layouts
from sensitivity_lab.search.layouts import SortedArray

ARRAYS = st.one_of(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9),
    st.lists(st.sampled_from([-3.5, -1.0, -5e-324, 0.0, 0.1, 2.0**900]), min_size=1, max_size=6),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9),
    st.lists(st.integers(2**60, 2**60 + 9), min_size=1, max_size=9),
).map(lambda listed: np.unique(np.array(listed)))


@given(array=ARRAYS, data=st.data())
def test_records_and_sums_are_exact(array, data):
    counts = data.draw(st.lists(st.integers(0, 3), min_size=len(array), max_size=len(array)))
    counts[0] += 1
    records = SortedArray(array, np.array(counts))
    listed = [
        Fraction(value) for value, n in zip(array.tolist(), counts, strict=True) for _ in range(n)
    ]
    every = np.arange(len(listed) + 1)
    sums = [sum(listed[:stop], Fraction(0)) for stop in every]
    squares = accumulate([Fraction(0), *(value**2 for value in listed)])
    unit = records.unit
    assert [Fraction(total, unit) for total in records.total(every)] == sums
    assert [Fraction(total, unit**2) for total in records.total(every, 2)] == list(squares)
    assert [Fraction(record, unit) for record in records.record(every[:-1])] == listed
    assert [Fraction(record, unit) for record in map(records.record, range(len(listed)))] == listed
    assert [records.total(int(stop)) for stop in every] == records.total(every).tolist()
    assert [Fraction(value, unit) for value in records.values] == list(
        map(Fraction, array.tolist())
    )


def test_sums_that_limbs_cannot_hold_are_made_of_python_ints():
    """2**25 records of 64 bits at most; more of them, or other numbers, are summed one by one."""
    array = np.array([-(2**63), 2**63 - 1])
    counts = np.array([2**24, 2**24])
    records = SortedArray(array, counts)
    ends = np.array([2**24, 2**25])
    assert records.total(ends).tolist() == [-(2**87), -(2**24)]
    for universe, held in (
        (sl.Universe(array, counts), True),
        (sl.Universe(array, counts + 1), False),
        (sl.Universe([Fraction(1, 3), 2]), False),
        (sl.Universe([2**70, 2]), False),
    ):
        made = layouts.sorted_records_of(universe, universe.multiplicities(2**62))
        assert isinstance(made, SortedArray) == held
    assert made.total(2) == 2**70 + 2


def test_a_search_makes_exact_integers_for_few_records():
    rng = np.random.default_rng(0)
    universe = sl.Universe.from_dataset(rng.lognormal(size=20_000))
    converted = []
    exactly = layouts.mantissas_of_floats
    layouts.sorted_universe.cache_clear()
    with mock.patch.object(
        layouts,
        "mantissas_of_floats",
        lambda some: converted.append(len(some)) or exactly(some),
    ):
        for query in ("median", "percentile_90", "min"):
            sl.global_sensitivity(universe, query, size=10_000, neighbors=sl.Bounded(1))
        assert sum(converted) < 200
        sl.sensitivity_curves(
            universe, ["mean", "sum"], size=10_000, distances=range(1, 101), neighbors="unbounded"
        )
    assert converted.count(20_000) == 1  # the mantissas of all, once, for their prefix sums
    assert not {"values", "counts", "integers"} & set(vars(universe))
    (records,) = [layouts.sorted_universe(universe, 1)]
    assert "values" not in vars(records)


@pytest.mark.parametrize(
    "array",
    [
        np.array([3.5, -0.0, 3.5, 0.0, -2.0]),
        np.array([0.0, -0.0]),
        np.array([1, 2, 1], dtype=np.int8),
        np.array([1, 2**64 - 1], dtype=np.uint64),
        np.array([1, 2**63 - 1], dtype=np.uint64),
        np.array([0.1, 2.5], dtype=np.float32),
        np.array([-(2**63), 5]),
    ],
    ids=lambda array: f"{array.dtype}-{array[0]}",
)
def test_an_array_is_the_list_of_its_numbers(array):
    of_array, of_list = map(sl.Universe.from_dataset, (array, array.tolist()))
    assert hash(of_array) == hash(of_list)
    assert of_array == of_list
    assert of_array == pickle.loads(pickle.dumps(of_array))
    assert repr(of_array) == repr(of_list)  # which of two zeros, too
    assert list(map(type, of_array.values)) == list(map(type, of_list.values))
    assert (of_array.counts, of_array.size) == (of_list.counts, of_list.size)
    assert of_array.array.dtype == of_list.array.dtype
    np.testing.assert_array_equal(of_array.array, of_list.array)


@pytest.mark.parametrize("method", PERCENTILE_METHODS)
@pytest.mark.parametrize("q", [0, 100, 90, 12.5, 33.3, Fraction(100, 3), 2.0**-100])
def test_runs_of_many_sizes_are_the_weights_of_each(method, q):
    query = sl.Percentile(q, method)
    sizes = [*range(1, 30), 999, 1000, 10**9, 2**53 + 1, 1]
    for size, weights in zip(sizes, weights_of_runs(query, sizes), strict=True):
        assert dict(query.weights(size)) == weights


@pytest.mark.parametrize(
    ("query", "weights"),
    [
        (sl.Mean(), lambda n: [Fraction(1, n)] * n),
        (sl.Sum(), lambda n: [1] * n),
        (sl.Count(), lambda n: [0] * n),
        (sl.Midrange(), lambda n: [Fraction(1, 2) * ((r == 0) + (r == n - 1)) for r in range(n)]),
        (sl.TrimmedMean(0.4), lambda n: kept(n, int(n * Fraction(0.4)), 0)),
        (sl.WinsorizedMean(0.4), lambda n: kept(n, int(n * Fraction(0.4)), 1)),
    ],
    ids=lambda query: getattr(query, "name", ""),
)
def test_runs_are_the_weights_of_the_definition(query, weights):
    sizes = [7, *range(1, 40), 7]
    for size, found in zip(sizes, weights_of_runs(query, sizes), strict=True):
        assert [found.get(rank, 0) for rank in range(size)] == weights(size)
        assert max(found, default=0) < size


def kept(size: int, cut: int, moved: int) -> list[Fraction]:
    """Weights without so many records at each end, which are left out, or moved to the next."""
    inside = size - 2 * cut
    weights = [
        Fraction(cut <= rank < size - cut, size if moved else inside) for rank in range(size)
    ]
    for rank in (cut, size - cut - 1):
        weights[rank] += Fraction(moved * cut, size)
    return weights


def weights_of_runs(query, sizes):
    """The weights by rank that a query declares as runs, for every size; without zeros."""
    runs = query.runs(np.array(sizes))
    assert len(runs.starts) <= query.most_runs(max(sizes))
    for place in range(len(sizes)):
        weights: Counter[int] = Counter()
        columns = (column[:, place].tolist() for column in (runs.starts, runs.stops, runs.weights))
        for start, stop, weight in zip(*columns, strict=True):
            for rank in range(start, stop):
                weights[rank] += Fraction(weight, int(runs.units[place]))
        yield {rank: weight for rank, weight in weights.items() if weight}


@pytest.fixture
def result() -> sl.results.Sensitivity:
    universe = sl.Universe.from_dataset(np.arange(40.0) ** 2)
    return sl.global_sensitivity(universe, "mean", size=20, neighbors=sl.Bounded(2))


def test_a_result_lists_its_witness_when_asked(result):
    assert isinstance(vars(result)["witness"], Unlisted)
    again = replace(result)  # which asks for it
    assert vars(again)["witness"] is result.witness
    assert result.witness.only_x == (38.0**2, 39.0**2)
    assert result.witness.only_y == (0.0, 1.0)
    assert result.witness.query_x - result.witness.query_y == result.value == 148.2
    assert result == pickle.loads(pickle.dumps(result)) == again
    assert hash(result) == hash(again)
    with pytest.raises(AttributeError):
        result.witness = again.witness


def test_a_pickle_has_the_witness_and_not_what_it_takes_to_list_it(result):
    assert isinstance(vars(pickle.loads(pickle.dumps(result)))["witness"], sl.results.Witness)


def test_a_witness_that_is_not_as_far_apart_as_stated_is_an_error(result):
    unlisted = vars(result)["witness"]
    wrong = replace(unlisted, stated=(1.0, Fraction(1), 1.0))
    vars(result)["witness"] = wrong
    with pytest.raises(VerificationError) as caught:
        result.witness  # noqa: B018 - it is listed
    assert str(caught.value) == (
        "the search gave 1.0 for mean, bounded, at most 2, but its witness gives 148.2; "
        "please report it"
    )


def test_answers_beyond_floats_are_an_error_though_their_difference_is_not():
    universe = sl.Universe.from_dataset([1.0e308, 1.1e308, 1.2e308])
    for call, distances in ((sl.global_sensitivity, {}), (sl.sensitivity_curves, {"distances": 1})):
        with pytest.raises(sl.errors.InputError) as caught:
            call(universe, "sum", size=2, neighbors="bounded", **distances)
        assert str(caught.value).startswith(
            "sum, bounded, at most 1: an answer of about 1e308 is beyond the range of floats"
        )
    result = sl.global_sensitivity(universe, "max", size=2, neighbors="bounded")
    assert (result.value, math.isfinite(result.witness.query_x)) == (1.2e308 - 1.1e308, True)
