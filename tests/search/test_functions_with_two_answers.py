"""Functions that are random or keep state are refused, wherever they are asked."""

from __future__ import annotations

import itertools
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with

import sensitivity_lab as sl

UNIVERSE = sl.Universe.from_domain(range(6))
TABLE = sl.TableUniverse.from_dataset(pd.DataFrame({"a": range(6), "b": range(6)}))
WHY = (
    "it is random, or keeps state between calls; a query must give the same answer each time, so "
    "take the random numbers out of it, and let it change nothing that it reads later"
)


def random():
    draws = np.random.default_rng(1)
    return lambda x: float(np.sum(x) + draws.normal())


def rarely_random():
    """One answer in about ten is another one."""
    draws = np.random.default_rng(1)
    return lambda x: float(np.sum(x) + (draws.random() < 0.1))


def counting():
    calls = itertools.count()
    return lambda x: float(np.sum(x) + next(calls))


def tiring():
    """Only the first twenty answers are right."""
    calls = itertools.count()
    return lambda x: float(np.sum(x)) * (next(calls) < 20)


def in_the_last_bit():
    """Only functions of many rows at once may round otherwise in another batch."""
    calls = itertools.count()
    return lambda x: float(np.nextafter(np.sum(x), np.inf if next(calls) % 3 else -np.inf))


def remembering():
    """The answer is what the records are above those of the call before."""
    last = [0.0]

    def above(x):
        before, last[0] = last[0], float(np.sum(x))
        return last[0] - before

    return above


def of_vectors():
    calls = itertools.count()
    return lambda x: np.array([float(np.sum(x)), next(calls)])


FUNCTIONS = [
    *(random, rarely_random, counting, tiring, in_the_last_bit, remembering, of_vectors),
]


def globally(function, **options):
    return sl.global_sensitivity(UNIVERSE, function, size=4, neighbors="bounded", **options)


def on_a_table(function):
    return sl.global_sensitivity(
        TABLE, lambda table: function(table["a"].to_numpy()), size=3, neighbors="unbounded"
    )


def of_curves(function):
    return sl.sensitivity_curves(
        UNIVERSE, [function, "mean"], size=4, distances=[1, 2], neighbors="bounded"
    )


def locally(function):
    return sl.local_sensitivity(UNIVERSE, function, dataset=[1, 2, 3], neighbors=sl.Bounded(2))


def smoothly(function):
    return sl.smooth_sensitivity(
        UNIVERSE, function, dataset=[1, 2, 3], beta=0.1, neighbors="bounded"
    )


def in_a_table(function):
    return sl.neighbor_table(UNIVERSE, function, size=3, neighbors="bounded")


CALLS = [globally, on_a_table, of_curves, locally, smoothly, in_a_table]


@pytest.mark.representative("call")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_two_answers_on_one_dataset_are_an_error(function, call):
    with pytest.raises(sl.errors.QueryError) as caught:
        call(function())
    told = r"(size = 3: )?query '\w+' on the dataset \(.*\) returned .+, and .+"
    assert re.fullmatch(f"{told} when it was called again: {WHY}", str(caught.value))


def test_the_error_shows_both_answers():
    with pytest.raises(sl.errors.QueryError) as caught:
        globally(sl.from_function(counting(), name="sum and state"))
    # 126 datasets; the last one is the first that is asked for again.
    assert str(caught.value) == (
        "query 'sum and state' on the dataset (5, 5, 5, 5) returned 145.0, and 146.0 when it was "
        f"called again: {WHY}"
    )


def test_a_vectorized_function_that_keeps_state():
    calls = itertools.count()

    def keeping(rows):
        return rows.sum(axis=1) + float(next(calls) > 20)

    refused_with(
        lambda: globally(sl.from_function(keeping, vectorized=True)),
        "when it was called again: it is random, or keeps",
        sl.errors.QueryError,
    )


def test_a_vectorized_function_that_is_random():
    """Alone it differs from itself, not only from what it is among other datasets."""
    draws = np.random.default_rng(1)
    query = sl.from_function(lambda rows: rows.sum(axis=1) + draws.normal(), vectorized=True)
    with pytest.raises(sl.errors.QueryError) as caught:
        globally(query)
    told = r"query 'function' on the dataset \(.*\) returned .+, and .+ when it was called again"
    assert re.fullmatch(f"{told}: {WHY}", str(caught.value))


def test_sums_of_floats_in_another_batch_are_no_other_answers():
    universe = sl.Universe.from_dataset(np.random.default_rng(1).normal(size=12) * 1e6)
    query = sl.from_function(lambda rows: rows.T.sum(axis=0), vectorized=True, name="sums")
    result = sl.global_sensitivity(universe, query, size=6, neighbors="bounded")
    result.verify()


@pytest.mark.parametrize("numbers", [1, 2])
def test_what_the_largest_answer_may_round_is_no_other_answer(numbers):
    """The answer on a dataset by itself is 0; among others it is rounded as their answers are."""

    def rounded(rows):
        sums = 1e20 * rows.sum(axis=1) + (1e6 if len(rows) > 1 else 0.0)
        return sums if numbers == 1 else np.column_stack([sums, np.zeros(len(rows))])

    universe = sl.Universe.from_domain([-1.0, 0.0, 1.0])
    query = sl.from_function(rounded, vectorized=True, name="rounded")
    result = sl.global_sensitivity(universe, query, size=4, neighbors="bounded")
    assert result.value == pytest.approx(2e20)


def test_workers_are_asked_again_too():
    with joblib.parallel_config(backend="threading", n_jobs=2), pytest.raises(sl.errors.QueryError):
        globally(counting())


@pytest.mark.representative("call")
@pytest.mark.parametrize("function", [max, lambda x: x[0], lambda x: float(np.mean(x)), len])
@pytest.mark.parametrize("call", [globally, locally, smoothly, in_a_table])
def test_functions_of_the_dataset_are_answered(function, call):
    call(function)


def test_functions_of_graphs_and_sequences():
    calls = itertools.count()
    refused(
        lambda: sl.spaces.global_sensitivity(
            sl.spaces.graphs(3, "edge"), lambda _: next(calls), neighbors=sl.spaces.Within(1)
        ),
        "the function function on ((0, 1), (0, 2), (1, 2)) returned 7, and 8 "
        f"when it was called again: {WHY}",
        sl.errors.QueryError,
    )
    with pytest.raises(sl.errors.QueryError) as caught:
        sl.spaces.global_sensitivity(
            sl.spaces.sequences([1, 2], 2, "insert_delete"),
            lambda _: next(calls),
            neighbors=sl.spaces.Within(1),
        )
    assert str(caught.value).endswith(f"when it was called again: {WHY}")
