"""A search that is too large is refused before it starts: nothing is listed, nothing evaluated."""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from checks import calls_of

import sensitivity_lab as sl
from sensitivity_lab.problem import LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import as_query
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engine import Options, Refusal
from sensitivity_lab.search.enumeration import local_max as local_enumeration
from sensitivity_lab.search.enumeration import smooth_max as smooth_enumeration
from sensitivity_lab.search.enumeration.evaluate import Evaluator
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes.relations import RELATIONS as ALL_RELATIONS

CALLS = 400_000
"""Calls of Python and C: far below a second."""

RNG = np.random.default_rng(0)
MANY = sl.Universe.from_dataset(RNG.lognormal(size=20_190).round(2))
FEW = sl.Universe([0, 1, 2], [10**5] * 3)
ROWS = pd.DataFrame({"g": RNG.integers(0, 100, 2_000), "v": RNG.integers(0, 1_000, 2_000)})
TABLE = sl.TableUniverse.from_dataset(ROWS)
MEANS = sl.GroupBy("g", sl.MeanOf("v"), groups=range(100))
COUNTS = sl.Histogram("g", categories=range(100))

ASKED = {
    "a function, many values": (MANY, np.ptp, 5_000, "L1"),
    "std, many values": (MANY, "std", 5_000, "L1"),
    "a function, few values": (FEW, np.ptp, 100_000, "L1"),
    "means by group": (TABLE, MEANS, 1_000, "L1"),
    "a histogram": (TABLE, COUNTS, 1_000, "L2"),
}

RELATIONS = (sl.Bounded(3), sl.Bounded(50), sl.SymmetricDifference(20), sl.Edit(9), sl.Unbounded(2))

STEPS = [step for step in dict.fromkeys(one().step for one in ALL_RELATIONS.values()) if step]


def refusing(refuse):
    """Return what a call says, which may list and evaluate nothing, and is quick."""

    def never(*_, **__):
        raise AssertionError("something was listed or evaluated")

    with ExitStack() as stack:
        for target, name in (
            (Lattice, "rows"),
            (Lattice, "maximum_below"),
            (Evaluator, "__call__"),
            (local_enumeration, "iter_neighbors"),
            (local_enumeration, "exact_answer"),
            (smooth_enumeration, "iter_datasets"),
        ):
            stack.enter_context(mock.patch.object(target, name, never))
        calls = calls_of(refuse)
    if isinstance(calls.result, Refusal):
        assert calls.number < CALLS
    return calls.result


def dataset_of(universe, size):
    """The first records, by multiplicities."""
    limits = universe.multiplicities(size)
    return np.clip(size - (np.cumsum(limits) - limits), 0, limits)


TOLD = {
    "global": "enumeration would evaluate",
    "local": "neighbors, more than the limit of 1,000,000",
    "smooth": "datasets, more than the limit of",
}
CASES = [
    pytest.param(
        form, engine.name, engine, step, marks=[pytest.mark.exhaustive] * (form == "smooth")
    )
    for form in TOLD
    for engine in engines_for(form)
    for step in (STEPS if form == "smooth" else RELATIONS)
]


def problem_of(form, asked, relation):
    universe, query, size, norm = ASKED[asked]
    if form == "global":
        return Problem(universe, (as_query(query),), (relation,), (size,), norm)
    x = dataset_of(universe, size)
    if form == "local":
        return LocalProblem(universe, as_query(query), relation, x, norm)
    sizes = (size, size) if relation.keeps_size else (1, universe.size)
    return SmoothProblem(universe, as_query(query), x, relation, sizes, lambda *_: False, norm)


@pytest.mark.representative("asked", "form", "name", quick=("form", "name"))
@pytest.mark.parametrize(("form", "name", "engine", "relation"), CASES)
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_too_large_is_refused(asked, form, name, engine, relation):
    universe, *_ = ASKED[asked]
    problem = problem_of(form, asked, relation)
    refusal = refusing(lambda: engine.plan(problem, Options()))
    # Of three values there are few neighbors, and few of rows that are added or removed.
    few = form == "local" and (universe is FEW or relation is RELATIONS[-1])
    if name == "enumeration" and not few:
        assert refusal.too_large
        assert TOLD[form] in refusal.reason


def test_steps_count_as_bytes_do():
    """A dataset of 1e7 records of two values is one of 1e7 + 1: few numbers, 1e14 records."""
    universe = sl.Universe.from_domain([1, 2])
    problem = Problem(universe, (as_query(np.ptp),), (sl.Bounded(1),), (10**7,))
    (engine,) = (engine for engine in engines_for("global") if engine.name == "enumeration")
    assert refusing(lambda: engine.plan(problem, Options())).reason == (
        "enumeration would evaluate about 9.8e+06 datasets in about 1e+14 steps, more than the "
        "limit of 1e+12; choose a smaller size or distance, or a coarser universe with fewer "
        "distinct values"
    )


def test_vectors_are_refused_after_a_few_answers():
    universe = sl.Universe.from_dataset(range(20))
    rows = []

    def wide(records):
        rows.append(len(records))
        return np.zeros((len(records), 1_000))

    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.global_sensitivity(
            universe,
            sl.from_function(wide, vectorized=True, name="wide"),
            size=10,
            neighbors=sl.Bounded(1),
        )
    assert sum(rows) <= 1024  # the first answers, and a few rows that are asked for again alone
    assert str(caught.value) == (
        "enumeration would need about 11.0 GiB for the 184,756 answers of wide, each of which "
        "becomes 1000 columns, more than the memory limit of 4.0 GiB; choose a smaller size or "
        "distance, fewer answers, or a larger run=Run(memory_limit=...)"
    )


def test_neighbors_with_wide_answers_are_refused_after_one():
    universe, calls = sl.Universe.from_dataset(range(100)), []
    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.local_sensitivity(
            universe,
            lambda x: calls.append(x) or [0.0] * 1000,
            dataset=range(50),
            neighbors=sl.Bounded(1),
            run=sl.Run(memory_limit=10_000_000),
        )
    assert len(calls) == 1
    assert str(caught.value) == (
        "enumeration would need about 305.5 MiB for 2,500 answers of function, each of 1,000 "
        "numbers, more than the memory limit of 9.5 MiB; choose a smaller distance, fewer "
        "answers, or a larger run=Run(memory_limit=...)"
    )


def test_running_out_of_memory_is_a_documented_error():
    universe = sl.Universe.from_dataset(range(6))
    with (
        mock.patch.object(Lattice, "maximum_below", side_effect=MemoryError),
        pytest.raises(sl.errors.TooLargeError) as caught,
    ):
        sl.global_sensitivity(universe, lambda x: float(x[0]), size=3, neighbors=sl.Bounded(1))
    assert str(caught.value) == (
        "the search for function ran out of memory; choose a smaller size or distance, a coarser "
        "universe with fewer distinct values, or a smaller run=Run(memory_limit=...), "
        "which refuses before it "
        "starts"
    )


def test_queries_that_fit_one_by_one_take_turns():
    """Three vectors of 40 numbers: one fits into the memory, all together do not."""
    universe = sl.Universe.from_dataset(range(8))
    queries = [
        sl.from_function(lambda x, f=factor: f * np.repeat(x[:1], 40), name=f"q{factor}")
        for factor in (1, 2, 3)
    ]
    ask = {"size": 4, "distances": [1], "neighbors": "bounded"}
    whole = sl.sensitivity_curves(universe, queries, **ask)
    little = sl.sensitivity_curves(universe, queries, **ask, run=sl.Run(memory_limit=250_000))
    assert [result.value for _, result in whole.points] == [160, 320, 480]
    assert little == whole


@pytest.mark.exhaustive
def test_many_categories_are_told_apart_once():
    keys = range(20_000)
    calls = calls_of(lambda: sl.Histogram("d", categories=keys))
    assert len(calls.result.categories) == 20_000
    assert calls.number < 20 * 20_000
    table = sl.TableUniverse.from_dataset(pd.DataFrame({"d": np.arange(10_000)}))
    assert refusing(lambda: calls.result.sums(table)).args == (
        "histogram of d would keep 20,000 numbers for each of 10,000 distinct records, more than "
        "100,000,000 together; choose fewer categories or groups, or a coarser universe with fewer "
        "distinct records",
    )
