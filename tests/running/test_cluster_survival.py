"""A Dask cluster whose workers die, or which goes away: the answer, or the documented error."""

from __future__ import annotations

import os
import signal
import threading
import time

import joblib
import pytest

import sensitivity_lab as sl

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")

pytestmark = [pytest.mark.dask, pytest.mark.exhaustive]

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])


@pytest.fixture
def cluster():
    """Two worker processes of a thread each, each with a nanny that starts it again."""
    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, timeout="10s") as client,
    ):
        yield client


def slow(x):
    time.sleep(0.01)
    return float(x.max() - x.min())


def soon(action) -> threading.Thread:
    thread = threading.Thread(target=lambda: (time.sleep(1), action()), daemon=True)
    thread.start()
    return thread


def test_a_worker_that_is_killed_costs_its_blocks_only(cluster, tmp_path):
    victim = next(iter(cluster.run(os.getpid).values()))
    soon(lambda: os.kill(victim, signal.SIGKILL))
    with joblib.parallel_config(backend="dask"):
        found = sl.global_sensitivity(
            UNIVERSE, slow, size=5, neighbors="unbounded", checkpoint=tmp_path
        )
    here = sl.global_sensitivity(UNIVERSE, slow, size=5, neighbors="unbounded", checkpoint=tmp_path)
    assert (found.value, found.witness) == (here.value, here.witness)
    assert victim not in cluster.run(os.getpid).values()


@pytest.mark.usefixtures("cluster")
def test_a_block_that_kills_every_worker_is_named():
    def deadly(x):
        if list(x) == [2, 5, 8, 34]:
            os._exit(3)
        return slow(x)

    with joblib.parallel_config(backend="dask"), pytest.raises(sl.WorkerError) as caught:
        sl.global_sensitivity(UNIVERSE, deadly, size=4, neighbors="bounded")
    assert str(caught.value).startswith(
        "workers of the Dask cluster ended again and again in deadly on "
    )
    assert " datasets of 4 records, the first of which is (" in str(caught.value)


def test_a_cluster_that_goes_away_is_an_error(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
    )
    client = distributed.Client(cluster, timeout="10s")
    thread = soon(cluster.close)
    started = time.monotonic()
    try:
        with joblib.parallel_config(backend="dask"), pytest.raises(sl.WorkerError) as caught:
            sl.global_sensitivity(
                UNIVERSE, slow, size=5, neighbors="unbounded", checkpoint=tmp_path
            )
    finally:
        thread.join()
        client.close()
    assert time.monotonic() - started < 60
    assert str(caught.value) == (
        "the Dask cluster is gone: its scheduler cannot be reached; start a cluster again; what is "
        f"finished is kept: call again with the same arguments and checkpoint={str(tmp_path)!r} "
        "to go on"
    )
    resumed = sl.global_sensitivity(
        UNIVERSE, slow, size=5, neighbors="unbounded", checkpoint=tmp_path
    )
    assert resumed.value == 54 - 4
