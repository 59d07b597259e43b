"""The same search on a Dask cluster: whoever outgrows one machine changes three lines."""

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
    """Two worker processes of a thread each, without a dashboard."""
    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
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


def test_a_cluster_evaluates_for_arrays_in_files(cluster, tmp_path):
    """Workers evaluate; what they send goes into files of this machine."""
    universe = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])

    def function(x):
        time.sleep(0.001)
        return float(np.ptp(np.diff(x)))

    asked = {"size": 5, "distances": [1, 2], "neighbors": ["bounded", "unbounded"]}
    name = {"name": "gaps"}
    with joblib.parallel_config(backend="dask"):
        there = sl.sensitivity_curves(
            universe, [sl.from_function(function, **name)], **asked, scratch=tmp_path
        )
    here = sl.sensitivity_curves(universe, [sl.from_function(spread_of_gaps, **name)], **asked)
    assert [(one.value, one.witness) for _, one in there.points] == [
        (one.value, one.witness) for _, one in here.points
    ]
    assert list(tmp_path.iterdir()) == []
    assert cluster.status == "running"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("cluster")
def test_a_cluster_names_the_dataset_that_failed():
    def fragile(x):
        time.sleep(0.002)
        if list(x) == [2, 3, 4, 7]:
            raise ArithmeticError("no answer here")
        return 0.0

    with joblib.parallel_config(backend="dask"), pytest.raises(sl.QueryError) as caught:
        sl.global_sensitivity(
            sl.Universe.from_dataset(range(9)), fragile, size=4, neighbors="bounded"
        )
    assert str(caught.value) == (
        "query 'fragile' on the dataset (2, 3, 4, 7) raised ArithmeticError: no answer here"
    )
