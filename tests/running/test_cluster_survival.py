"""A Dask cluster whose workers die, or which goes away: the answer, or the documented error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import joblib
import pytest
from searches import Search, is_running, until

import sensitivity_lab as sl
from sensitivity_lab.running import Block
from sensitivity_lab.running.cluster import run

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")

pytestmark = pytest.mark.dask

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])


@pytest.fixture
def cluster():
    """Two worker processes of a thread each, each with a nanny that starts it again."""
    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, timeout="10s") as client,
    ):
        yield client


def slow(x):
    time.sleep(0.01)
    return float(x.max() - x.min())


def held(folder):
    """A function whose calls on workers wait, in the last third, until the file `go` is there.

    Before that there is no cluster that could be lost: on a busy machine a search takes a while
    until it hands out work.
    """
    here, called, go = os.getpid(), folder / "called", folder / "go"

    def function(x):
        time.sleep(0.001)
        if len(x) == 4 and os.getpid() != here:
            called.touch()
            while not go.exists():
                time.sleep(0.01)
        return float(x.max() - x.min())

    return sl.from_function(function, name="held")


def search_of(folder):
    return sl.global_sensitivity(
        UNIVERSE,
        held(folder),
        size=5,
        neighbors="unbounded",
    )


def once_called(folder, action) -> threading.Thread:
    """Do something once a call is held; then let all go on."""

    def act():
        until((folder / "called").exists)
        action()
        (folder / "go").touch()

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


@pytest.mark.stress
def test_a_worker_that_is_killed_costs_its_blocks_only(cluster, tmp_path):
    victim = next(iter(cluster.run(os.getpid).values()))
    once_called(tmp_path, lambda: os.kill(victim, signal.SIGKILL))
    with joblib.parallel_config(backend="dask"):
        found = search_of(tmp_path)
    here = search_of(tmp_path)
    assert (found.value, found.witness) == (here.value, here.witness)
    assert victim not in cluster.run(os.getpid).values()


@pytest.mark.stress
@pytest.mark.usefixtures("cluster")
def test_a_block_that_kills_every_worker_is_named():
    def deadly(x):
        if list(x) == [2, 5, 8, 34]:
            os._exit(3)
        return slow(x)

    with joblib.parallel_config(backend="dask"), pytest.raises(sl.errors.WorkerError) as caught:
        sl.global_sensitivity(UNIVERSE, deadly, size=4, neighbors="bounded")
    assert str(caught.value).startswith(
        "workers of the Dask cluster ended again and again in deadly on "
    )
    assert " datasets of 4 records, the first of which is (" in str(caught.value)


@pytest.mark.stress
def test_a_cluster_that_goes_away_is_an_error(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0"
    )
    client = distributed.Client(cluster, timeout="10s")
    thread = once_called(tmp_path, cluster.close)
    started = time.monotonic()
    try:
        with joblib.parallel_config(backend="dask"), pytest.raises(sl.errors.WorkerError) as caught:
            search_of(tmp_path)
    finally:
        thread.join()
        client.close()
    assert time.monotonic() - started < 60
    assert str(caught.value) == (
        "the Dask cluster is gone: its scheduler cannot be reached; start a cluster again"
    )


@pytest.mark.stress
def test_a_cluster_that_is_restarted_is_an_error_that_says_so(cluster, tmp_path):
    thread = once_called(tmp_path, cluster.restart)
    with joblib.parallel_config(backend="dask"), pytest.raises(sl.errors.WorkerError) as caught:
        search_of(tmp_path)
    thread.join()
    assert str(caught.value) in {
        f"{what}; call again"
        for what in (
            "the Dask cluster was restarted, and lost its tasks: client.restart() was called while "
            "the search ran",
            # as versions of Dask say it that name no reason
            "the Dask cluster cancelled tasks: client.restart() or client.cancel() was called, or "
            "a worker died with what only it had",
        )
    }
    with joblib.parallel_config(backend="dask"):
        found = search_of(tmp_path)
    assert found.value == 54 - 4


@contextmanager
def cluster_apart(folder, **environment):
    """A scheduler and two workers started in another folder, as on other machines."""
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    programs = [
        ["-m", "distributed.cli.dask_scheduler", "--port", "0", *common],
        ["-m", "distributed.cli.dask_worker", "--nthreads", "1", "--nworkers", "2", *common],
    ]
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    running = [
        subprocess.Popen([sys.executable, *of], env={**os.environ, **environment}, **options)
        for of in programs
    ]
    try:
        until(file.exists)
        with distributed.Client(scheduler_file=str(file), timeout="60s") as client:
            client.wait_for_workers(2, timeout=60)
            with joblib.parallel_config(backend="dask"):
                yield running[0]
    finally:
        for process in running:
            process.kill()
            process.wait()


@pytest.mark.stress
def test_a_scheduler_that_is_killed_is_an_error(tmp_path):
    folder = Path(__file__).parent
    here = os.pathsep.join(map(str, (folder, folder.parent / "support")))
    with cluster_apart(tmp_path, PYTHONPATH=here) as scheduler:
        thread = once_called(tmp_path, scheduler.kill)
        with pytest.raises(sl.errors.WorkerError) as caught:
            search_of(tmp_path)
        thread.join()
    assert str(caught.value).startswith("the Dask cluster is gone: its scheduler cannot be reached")
    assert search_of(tmp_path).value == 54 - 4


@pytest.mark.parametrize("lost", [distributed.comm.CommClosedError("in TCP"), TimeoutError()])
def test_an_answer_that_is_lost_on_its_way_is_fetched_again(monkeypatch, lost):
    """The next look says whether the cluster is gone."""
    monkeypatch.setattr(distributed, "wait", lambda *_, **__: None)

    class Future:
        status, failures = "finished", [lost]

        def result(self, timeout):
            assert timeout
            if self.failures:
                raise self.failures.pop()
            return 7.0

    client = SimpleNamespace(status="running", map=lambda *_, **__: [Future()])
    assert list(run(slow, [Block("recipe", 3)], client)) == [(0, 3, 7.0)]


@pytest.mark.stress
def test_a_function_that_the_scheduler_cannot_import_is_an_error(tmp_path):
    with cluster_apart(tmp_path, PYTHONPATH=""), pytest.raises(sl.errors.WorkerError) as caught:
        sl.global_sensitivity(UNIVERSE, slow, size=5, neighbors="unbounded")
    assert str(caught.value) == (
        "the scheduler of the Dask cluster cannot load the function or what it uses: "
        "ModuleNotFoundError: No module named 'test_cluster_survival'; install the module on the "
        "scheduler and the workers, or define the function in the notebook or script that searches"
    )


@pytest.mark.stress
def test_the_workers_of_a_cluster_end_with_the_process_that_started_it(tmp_path):
    search = Search(tmp_path, dask=True, held_from=500)
    process = search.start()
    search.wait_until_called(500)
    process.kill()
    process.communicate(timeout=60)
    until(lambda: not any(map(is_running, set(search.callers()))), seconds=60)
    search.told["dask"] = False
    assert search.finish() == "225.0 (1, 2, 3, 5, 8, 233) (1, 2, 3, 5, 8)"
