"""Workers are started where they pay, and nowhere else; the clock is the test's own."""

from __future__ import annotations

import multiprocessing

import joblib
import pytest

import sensitivity_lab as sl
from sensitivity_lab.running import Block, Sample, pool, processes, run

UNIVERSE = sl.Universe.from_domain(range(8))
DATASETS = 8 * 9 * 10 // 6


class Clock:
    """A clock that goes on when a query is asked."""

    def __init__(self, monkeypatch) -> None:
        self.time = 0.0
        self.here: list[tuple] = []
        self.sent: list[int] = []
        monkeypatch.setattr(pool, "now", lambda: self.time)
        monkeypatch.setattr(processes, "run", self.processes)
        # Other tests may have left some.
        monkeypatch.setattr(multiprocessing, "active_children", list)

    def query(self, first: float, later: float | None = None):
        """A query that takes so many seconds, the first time and later."""

        def spread(x):
            self.time += first if not self.here or later is None else later
            self.here.append(tuple(x.tolist()))
            return float(x.max() - x.min())

        return spread

    def processes(self, function, blocks, n_jobs):
        """Stand for worker processes, which are too slow for a test."""
        self.sent.append(len(self.here))
        for place, block in enumerate(blocks):
            yield place, block.length, function(block.recipe)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def solve(query, n_jobs=2, **options):
    return sl.global_sensitivity(
        UNIVERSE, query, size=3, neighbors="bounded", n_jobs=n_jobs, **options
    )


def each_dataset_once(clock) -> bool:
    """Whether no dataset of the sample was evaluated a second time with the rest."""
    return len(set(clock.here[:DATASETS])) == DATASETS


def facts(result):
    return result.value, result.witness, result.datasets_evaluated


def test_a_fast_function_starts_none(clock):
    result = solve(clock.query(1e-5))
    assert clock.sent == []
    assert each_dataset_once(clock)
    assert facts(result) == facts(solve(clock.query(1e-5), n_jobs=1))


def test_a_function_that_is_slow_only_at_first_starts_none(clock):
    """It imports a package, say."""
    solve(clock.query(20.0, 1e-5))
    assert clock.sent == []


@pytest.mark.parametrize(
    ("seconds", "n_jobs", "here"),
    [
        # of 120 datasets two workers save half the time: 60 * 0.02 s are less than they cost,
        (0.02, 2, None),
        # 58 * 0.03 s are more, as soon as a sample takes a tenth of a second: blocks are of 3
        (0.03, 2, 4 + 3),
        # four workers save three quarters, as long as enough is left
        (0.02, 4, 4 + 3),
        # a first look is enough where they save ten times what they cost
        (0.5, 2, 4),
    ],
)
def test_they_are_started_where_they_save_more_than_they_cost(clock, seconds, n_jobs, here):
    result = solve(clock.query(seconds), n_jobs)
    # What comes afterwards are answers that are asked again, to see whether they stay the same.
    assert clock.sent[:1] == ([] if here is None else [here])
    assert each_dataset_once(clock)
    assert facts(result) == facts(solve(clock.query(seconds), n_jobs=1))


def test_neighbors_of_one_dataset_are_listed_here_as_well(clock):
    x = [0, 3, 7]

    def solve_local(query, n_jobs):
        return sl.local_sensitivity(UNIVERSE, query, dataset=x, neighbors="bounded", n_jobs=n_jobs)

    result = solve_local(clock.query(1e-5), 2)
    assert clock.sent == []
    assert facts(result) == facts(solve_local(clock.query(1e-5), 1))
    solve_local(clock.query(5.0), 2)
    assert len(clock.sent) == 1


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_backend_that_is_named_is_used(clock, backend):
    with joblib.parallel_config(backend=backend):
        solve(clock.query(0.001))
    assert clock.sent == [4]


def test_a_number_of_workers_in_parallel_config_names_no_backend(clock):
    with joblib.parallel_config(n_jobs=2):
        solve(clock.query(0.001), n_jobs=None)
    assert clock.sent == []


def test_workers_that_are_there_already_are_used(clock, monkeypatch):
    class LokyProcess:
        pass

    for number, sent in ((1, []), (2, [4])):
        monkeypatch.setattr(
            multiprocessing, "active_children", lambda n=number: [LokyProcess()] * n
        )
        clock.here.clear()
        solve(clock.query(0.001))
        assert clock.sent == sent


@pytest.mark.exhaustive
def test_the_workers_of_joblib_are_known_by_their_name():
    with joblib.parallel_config(backend="loky"):
        joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(one) for one in range(4))
    assert not pool.must_start(2)


def test_where_the_time_is_limited_workers_are_used(clock):
    """Only in a worker can compiled code be ended."""
    solve(clock.query(0.001), run=sl.Run(timeout=1000))
    assert clock.sent == [4]
    clock.here.clear()
    solve(clock.query(1e-5), run=sl.Run(timeout=1000))
    assert clock.sent == [4]


def test_a_function_that_becomes_slow_is_handed_over(clock):
    """What was fast in a sample is measured further on."""

    def answer(recipe):
        clock.time += 0.001 if recipe < 10 else 1.0
        clock.here.append(recipe)
        return recipe

    blocks = [Block(place, 1) for place in range(100)]
    told = {"total": 100, "n_jobs": 2, "progress": False}
    assert run(answer, blocks, sample=Sample(1, 0.001), **told) == list(range(100))
    assert clock.sent == [11]


@pytest.mark.parametrize(("seconds", "sent"), [(1.0, []), (2.0, [1])])
def test_the_first_block_is_no_sample_unless_it_takes_long(clock, seconds, sent):
    def answer(recipe):
        clock.time += seconds if recipe == 0 else 0.001
        clock.here.append(recipe)
        return recipe

    blocks = [Block(place, 1) for place in range(100)]
    told = {"total": 100, "n_jobs": 2, "progress": False}
    assert run(answer, blocks, **told) == list(range(100))
    assert clock.sent == sent
