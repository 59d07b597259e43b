"""Many workers: the same answer as one, wherever they run and whatever the function does."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections import Counter
from math import comb

import joblib
import numpy as np
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.running import pool

pytestmark = pytest.mark.skipif(sys.platform == "wasi", reason="WebAssembly has no processes")

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
SIZE = 5
DATASETS = comb(10, 5)
ADDED = comb(10, 4) + comb(10, 5) + comb(10, 6)
"""How many datasets `Unbounded(1)` needs."""


@pytest.fixture(autouse=True)
def _a_backend_is_named():
    """Workers are started for short work, too; the last tests of this file are about the rest."""
    with joblib.parallel_config(backend="loky"):
        yield


each_n_jobs = pytest.mark.parametrize("n_jobs", [1, 2, None])


def solve(query, n_jobs=None, neighbors="unbounded", **options) -> sl.results.Sensitivity:
    result = sl.global_sensitivity(
        UNIVERSE, query, size=SIZE, neighbors=neighbors, n_jobs=n_jobs, **options
    )
    result.verify()
    return result


def slow(answer):
    """A query that takes half a millisecond: more than 0.1 s in all, so worth the workers."""

    def function(x):
        time.sleep(0.0005)
        return answer(x)

    return function


def spread_of_gaps(x):
    return float(np.ptp(np.diff(x)))


def facts(result: sl.results.Sensitivity):
    return result.value, result.witness, result.datasets_evaluated, result.method


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "relation", [sl.Unbounded(1), sl.Bounded(2), sl.Bounded(2, exactly=True)], ids=str
)
def test_the_number_of_workers_changes_nothing(relation):
    query = slow(spread_of_gaps)
    one = facts(solve(query, 1, relation))
    assert facts(solve(query, 2, relation)) == one
    assert facts(solve(query, None, relation)) == one


@pytest.mark.exhaustive
def test_ties_are_broken_alike():
    """Almost all pairs are equally far apart; the same one is shown."""
    query = slow(lambda x: float(x.sum() % 2))
    assert facts(solve(query, 1)) == facts(solve(query, 2))


@each_n_jobs
@pytest.mark.parametrize("name", ["mean", "var", "std", "percentile_90"])
def test_built_in_queries_take_any_number_of_workers(name, n_jobs):
    assert facts(solve(name, n_jobs)) == facts(solve(name))


@pytest.mark.parametrize("n_jobs", [None, 1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_lambdas_and_closures_work(n_jobs):
    weights = {size: np.arange(size) for size in range(1, 8)}
    offset = 7
    expected = solve(lambda x: float((x * weights[len(x)]).sum() + offset))
    found = solve(slow(lambda x: float((x * weights[len(x)]).sum() + offset)), n_jobs)
    assert facts(found) == facts(expected)


@pytest.mark.exhaustive
@each_n_jobs
def test_vectorized_functions_work(n_jobs):
    def function(rows):
        time.sleep(0.0005 * len(rows))
        return rows.max(axis=1) - rows.min(axis=1)

    query = sl.from_function(function, vectorized=True)
    assert facts(solve(query, n_jobs)) == facts(solve(lambda x: x.max() - x.min()))


@pytest.mark.representative("n_jobs")
@pytest.mark.parametrize("vectorized", [False, True])
@each_n_jobs
def test_writing_into_the_argument_of_a_search_corrupts_nothing(n_jobs, vectorized):
    def destructive(x):
        answer = x.max(axis=-1) * x.min(axis=-1)
        time.sleep(0.0005)
        x[...] = -1
        return answer

    result = solve(sl.from_function(destructive, vectorized=vectorized), n_jobs)
    expected = solve(lambda x: x.max() * x.min())
    assert facts(result) == facts(expected)
    assert UNIVERSE.values == (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
    assert UNIVERSE.array.tolist() == list(UNIVERSE.values)


@pytest.mark.parametrize("vectorized", [False, True])
def test_writing_into_the_argument_of_a_call_corrupts_nothing(vectorized):
    def destructive(x):
        x[...] = -1
        return x.max(axis=-1)

    records = np.array([1, 2, 3])
    assert sl.from_function(destructive, vectorized=vectorized)(records) == -1
    assert records.tolist() == [1, 2, 3]


@pytest.mark.representative
@each_n_jobs
def test_an_exception_names_the_dataset(n_jobs):
    def fragile(x):
        time.sleep(0.0005)
        if list(x) == [3, 5, 13, 34, 89]:
            raise ArithmeticError("no answer here")
        return 0.0

    refused(
        lambda: solve(fragile, n_jobs),
        "query 'fragile' on the dataset (3, 5, 13, 34, 89) raised ArithmeticError: no answer here",
        sl.errors.QueryError,
    )


def processes(folder) -> set[int]:
    return {int(path.name) for path in folder.iterdir()}


@pytest.mark.exhaustive
def test_long_work_is_done_by_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_SHORT", 0)

    def function(x):
        time.sleep(0.001)
        (tmp_path / str(os.getpid())).touch()
        return float(x[0])

    solve(function, 2)
    assert len(processes(tmp_path) - {os.getpid()}) == 2


def test_short_work_starts_no_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_SHORT", 1000)  # short, however busy the machine is

    def function(x):
        (tmp_path / str(os.getpid())).touch()
        return float(x[0])

    solve(function, 2)
    assert processes(tmp_path) == {os.getpid()}


@pytest.mark.exhaustive
def test_one_job_is_the_default(tmp_path):
    def function(x):
        time.sleep(0.001)
        (tmp_path / str(os.getpid())).touch()
        return float(x[0])

    solve(function)
    assert processes(tmp_path) == {os.getpid()}


@pytest.mark.exhaustive
def test_the_backend_is_the_callers():
    """`parallel_config` moves the same search to threads, and says how many at a time."""
    processes, inside, most = set(), set(), 0

    def function(x):
        nonlocal most
        processes.add(os.getpid())
        inside.add(threading.get_ident())
        most = max(most, len(inside))
        time.sleep(0.001)
        inside.discard(threading.get_ident())
        return spread_of_gaps(x)

    with joblib.parallel_config(backend="threading", n_jobs=2):
        result = solve(function)
    assert facts(result) == facts(solve(spread_of_gaps))
    assert processes == {os.getpid()}
    assert most == 2


class Counting:
    """A query that remembers what it was called on."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.calls: list[tuple] = []
        self.seconds = seconds

    def __call__(self, x) -> float:
        time.sleep(self.seconds)
        self.calls.append(tuple(x.tolist()))
        return float(x.max() - x.min())


def in_order(query: Counting) -> sl.queries.Query:
    """No other orders of the records are tried."""
    return sl.from_function(query, order="sorted")


def assert_once_and_a_sample_again(calls: list[tuple], needed: int, in_pairs: int) -> None:
    """Each dataset is evaluated once, then 32 and those of the pairs found are asked for again."""
    search, again = calls[:needed], calls[needed:]
    assert set(Counter(search).values()) == {1}
    sample = min(32, needed)
    assert len(again) == sample + in_pairs
    assert set(Counter(again[:sample]).values()) == {1}
    assert set(Counter(again[sample:]).values()) == {1}


@pytest.mark.parametrize(
    ("relation", "needed"),
    [
        (sl.Bounded(3), DATASETS),
        (sl.Bounded(3, exactly=True), DATASETS),
        (sl.Unbounded(1), ADDED),
        (sl.Unbounded(2, direction="add"), comb(10, 5) + comb(10, 6) + comb(10, 7)),
        (sl.Unbounded(2, exactly=True, direction="remove"), comb(10, 5) + comb(10, 3)),
        (sl.SymmetricDifference(2), ADDED + comb(10, 3) + comb(10, 7)),
    ],
    ids=str,
)
def test_each_distinct_dataset_is_evaluated_once(relation, needed):
    query = Counting()
    result = sl.global_sensitivity(UNIVERSE, in_order(query), size=SIZE, neighbors=relation)
    assert_once_and_a_sample_again(query.calls, needed, 2)
    assert result.datasets_evaluated == needed


def test_equal_records_are_not_evaluated_twice():
    query = Counting()
    universe = sl.Universe.from_dataset([1, 1, 1, 1, 2, 2, 2, 3])
    result = sl.global_sensitivity(universe, in_order(query), size=4, neighbors=sl.Bounded(2))
    assert_once_and_a_sample_again(query.calls, 8, 2)
    assert result.datasets_evaluated == sl.universes.count_datasets(universe, 4) == 8


def test_workers_evaluate_each_distinct_dataset_once_too():
    query = Counting(seconds=0.0005)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        result = sl.global_sensitivity(UNIVERSE, in_order(query), size=SIZE, neighbors="unbounded")
    assert_once_and_a_sample_again(query.calls, ADDED, 2)
    assert result.datasets_evaluated == ADDED


@pytest.mark.exhaustive
def test_a_whole_curve_evaluates_each_distinct_dataset_once():
    query = Counting()
    curves = sl.sensitivity_curves(
        {"column": UNIVERSE},
        [in_order(query)],
        size=SIZE,
        distances=[1, 2, 3],
        neighbors="unbounded",
    )
    assert len(curves) == 3
    pairs = {data for result in curves for data in (result[1].witness.x, result[1].witness.y)}
    needed = sum(comb(10, size) for size in range(2, 9))
    assert_once_and_a_sample_again(query.calls, needed, len(pairs))


@pytest.mark.exhaustive
@pytest.mark.representative
@each_n_jobs
def test_a_progress_bar_on_request(n_jobs, capsys):
    assert facts(solve(slow(spread_of_gaps), n_jobs, progress=True)) == facts(solve(spread_of_gaps))
    shown = capsys.readouterr()
    assert "datasets" in shown.err
    assert shown.out == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("progress", [None, False])
@each_n_jobs
def test_no_progress_bar_without_a_terminal(n_jobs, progress, capsys):
    solve(slow(spread_of_gaps), n_jobs, progress=progress)
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("stream", "milliseconds", "shown"),
    [(Terminal, 6, True), (Terminal, 0, False), (io.StringIO, 6, False)],
)
def test_a_progress_bar_needs_a_terminal_and_a_second(stream, milliseconds, shown, monkeypatch):
    """252 datasets of 6 ms are more than a second."""
    errors = stream()
    monkeypatch.setattr(sys, "stderr", errors)

    def function(x):
        time.sleep(milliseconds / 1000)
        return float(x[0])

    solve(function, 1, "bounded")
    assert ("datasets" in errors.getvalue()) == shown
    assert bool(errors.getvalue()) == shown
