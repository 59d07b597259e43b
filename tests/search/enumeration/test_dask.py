"""The same search with evaluations on a Dask cluster."""

from __future__ import annotations

import os
import time

import joblib
import numpy as np
import pytest

import sensitivity_lab as sl

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")

pytestmark = [pytest.mark.dask, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of a thread and a GiB each, with a dashboard on any port."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            processes=True,
            threads_per_worker=1,
            memory_limit="1GiB",
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def spread_of_gaps(x):
    return float(np.ptp(np.diff(x)))


def test_a_cluster_finds_the_same(cluster, tmp_path):
    universe = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])

    def function(x):
        time.sleep(0.002)
        (tmp_path / str(os.getpid())).touch()
        return float(np.ptp(np.diff(x)))

    with joblib.parallel_config(backend="dask"):
        result = sl.global_sensitivity(universe, function, size=5, neighbors="unbounded")
    here = sl.global_sensitivity(universe, spread_of_gaps, size=5, neighbors="unbounded")
    assert (result.value, result.witness) == (here.value, here.witness)
    assert result.datasets_evaluated == here.datasets_evaluated
    result.verify()
    workers = set(cluster.run(os.getpid).values())
    assert len(workers) == 2
    assert workers <= {int(path.name) for path in tmp_path.iterdir()}


def test_a_cluster_evaluates_curves(cluster):
    """Workers evaluate; what they send is kept by this process."""
    universe = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])

    def function(x):
        time.sleep(0.001)
        return float(np.ptp(np.diff(x)))

    asked = {"size": 5, "distances": [1, 2], "neighbors": ["bounded", "unbounded"]}
    name = {"name": "gaps"}
    with joblib.parallel_config(backend="dask"):
        there = sl.sensitivity_curves(universe, [sl.from_function(function, **name)], **asked)
    here = sl.sensitivity_curves(universe, [sl.from_function(spread_of_gaps, **name)], **asked)
    assert [(one.value, one.witness) for _, one in there.points] == [
        (one.value, one.witness) for _, one in here.points
    ]
    assert cluster.status == "running"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("cluster")
def test_a_cluster_names_the_dataset_that_failed():
    def fragile(x):
        time.sleep(0.002)
        if list(x) == [2, 3, 4, 7]:
            raise ArithmeticError("no answer here")
        return 0.0

    with joblib.parallel_config(backend="dask"), pytest.raises(sl.errors.QueryError) as caught:
        sl.global_sensitivity(
            sl.Universe.from_dataset(range(9)), fragile, size=4, neighbors="bounded"
        )
    assert str(caught.value) == (
        "query 'fragile' on the dataset (2, 3, 4, 7) raised ArithmeticError: no answer here"
    )


def ends(x):
    time.sleep(0.005)
    return [float(x[0]), x[-1] * 0.5]


def beyond_floats(x):
    time.sleep(0.005)
    return 2**60 + int(x.sum()) * 2**40


@pytest.mark.parametrize("function", [ends, beyond_floats])
def test_answers_come_back_from_a_cluster_as_they_are(cluster, function):
    asked = {"size": 4, "distances": [1, 2], "neighbors": "bounded"}
    universe = sl.Universe.from_dataset([1, 2, 2, 3, 5, 8, 13, 21, 34])
    before = cluster.run_on_scheduler(tasks_done)
    with joblib.parallel_config(backend="dask"):
        there = sl.sensitivity_curves(universe, [function], **asked)
    assert cluster.run_on_scheduler(tasks_done) > before
    assert there == sl.sensitivity_curves(universe, [function], **asked)


def tasks_done(dask_scheduler) -> int:
    return dask_scheduler.transition_counter
