"""Searches that are killed, interrupted or fail leave nothing behind, and say what happened."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import pytest
from checks import refused
from paths import ROOT
from searches import Search, is_running, shared_memory, until

import sensitivity_lab as sl
from sensitivity_lab.running.pool import run
from sensitivity_lab.running.processes import Block
from sensitivity_lab.search.enumeration.evaluate import Evaluator, Recipe

EXPECTED = "225.0 (1, 2, 3, 5, 8, 233) (1, 2, 3, 5, 8)"
DATASETS = 792 + 924 + 792


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(pytest.param(n, marks=pytest.mark.stress) for n in (signal.SIGTERM, signal.SIGINT)),
    ],
    ids=str,
)
def test_a_killed_search_leaves_nothing(tmp_path, number):
    search = Search(tmp_path, held_from=DATASETS // 3)
    process = search.start()
    search.wait_until_called(DATASETS // 3)
    left = shared_memory(process.pid)
    process.send_signal(number)
    process.wait(30)
    until(lambda: not any(map(is_running, set(search.callers()))), seconds=10)
    process.communicate()
    assert left
    until(lambda: not shared_memory(process.pid), seconds=10)


@pytest.mark.exhaustive
def test_an_interruption_says_how_far_it_came(tmp_path):
    search = Search(tmp_path, jobs=1, held_from=DATASETS // 4)
    process = search.start()
    search.wait_until_called(DATASETS // 4)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    last = error.strip().splitlines()[-1]
    assert last.startswith("KeyboardInterrupt: ")
    assert last.endswith(f" of {DATASETS - 4:,} datasets were done")


@pytest.mark.exhaustive
def test_a_worker_that_dies_once_costs_its_blocks_only(tmp_path):
    calls, go = tmp_path / "calls", tmp_path / "go"
    calls.touch()

    def spread(x):
        with calls.open("ab", 0) as file:
            file.write(b"%9d\n" % os.getpid())
            number = file.tell() // 10
        time.sleep(0.0002)
        while number >= DATASETS // 3 and not go.exists():
            time.sleep(0.01)
        return float(x.max() - x.min())

    def kill():
        until(lambda: calls.stat().st_size >= DATASETS // 3 * 10)
        os.kill(int(calls.read_bytes().split()[-1]), signal.SIGKILL)
        go.touch()

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    with joblib.parallel_config(backend="loky"):
        found = sl.global_sensitivity(
            sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]),
            sl.from_function(spread, name="spread"),
            size=6,
            neighbors="unbounded",
            n_jobs=2,
        )
    thread.join()
    assert f"{found.value} {found.witness.x} {found.witness.y}" == EXPECTED
    # What was under way, and what had not arrived, is computed again; not the third before that.
    assert calls.stat().st_size // 10 - DATASETS < DATASETS // 3


UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])


def deadly(x):
    time.sleep(0.002)
    if list(x) == [2, 5, 8, 34]:
        os._exit(3)
    return float(x[0])


@pytest.mark.exhaustive
def test_a_block_that_ends_its_worker_twice_is_named():
    with joblib.parallel_config(backend="loky"), pytest.raises(sl.errors.WorkerError) as caught:
        sl.global_sensitivity(
            UNIVERSE,
            sl.from_function(deadly, name="deadly"),
            size=4,
            neighbors="bounded",
            n_jobs=2,
        )
    message = str(caught.value)
    assert message.startswith("a worker process ended twice in deadly on ")
    assert " datasets of 4 records, the first of which is (" in message
    assert message.endswith(
        ": it crashed, was killed, called os._exit, or ran out of memory; call the query there "
        "with n_jobs=1 to see which"
    )


def test_a_block_is_named_in_few_words():
    """Errors of workers name it."""
    query = sl.from_function(max, name="x" * 100_000)
    label = Evaluator(UNIVERSE, (query,), 4).label(Recipe(4, 0, 7))
    assert label.endswith("xxx on 7 datasets of 4 records, the first of which is (1, 2, 3, 5)")
    assert len(label) < 250


def endless(x):
    if list(x) == [2, 5, 8, 34]:
        time.sleep(1000)
    time.sleep(0.002)
    return float(x[0])


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_a_function_that_hangs_is_stopped(n_jobs):
    refused(
        lambda: sl.global_sensitivity(
            UNIVERSE, endless, size=4, neighbors="bounded", n_jobs=n_jobs, run=sl.Run(timeout=0.3)
        ),
        "query 'endless' on the dataset (2, 5, 8, 34) took longer than 0.3 seconds for "
        "each dataset, the limit of run=Run(timeout=0.3)",
        sl.errors.QueryError,
    )


def test_a_function_that_hangs_on_a_neighbor_is_stopped():
    refused(
        lambda: sl.local_sensitivity(
            UNIVERSE, endless, dataset=[2, 5, 8, 55], neighbors="bounded", run=sl.Run(timeout=0.3)
        ),
        "query 'endless' on the dataset (2, 5, 8, 34) took longer than 0.3 seconds, "
        "the limit of run=Run(timeout=0.3)",
        sl.errors.QueryError,
    )


@pytest.mark.exhaustive
def test_workers_leave_ctrl_c_to_the_process_that_they_serve(capfd):
    """A terminal sends it to every process of a command, also to workers between two blocks."""

    def interrupted(recipe):
        os.kill(os.getpid(), signal.SIGINT)
        return recipe, os.getpid()

    blocks = [Block(place, 1, f"block {place}") for place in range(6)]
    with joblib.parallel_config(backend="loky"):
        answers = run(interrupted, blocks, total=6, n_jobs=2, progress=False)
    assert [place for place, _ in answers] == list(range(6))
    assert os.getpid() not in {process for _, process in answers}
    assert capfd.readouterr() == ("", "")


def living(group: int) -> list[str]:
    """The processes of a group, but for those that only wait to be reaped."""
    told = subprocess.run(
        ["ps", "-eo", "pgid,stat,args"], capture_output=True, text=True, check=True
    )
    lines = [line.split(maxsplit=2) for line in told.stdout.splitlines()]
    return [args for pgid, state, args in lines if pgid == str(group) and state[0] != "Z"]


@pytest.mark.stress
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_the_process_and_its_workers(jobs):
    """As a terminal does: the signal goes to the whole group of processes."""
    code = (
        "import sensitivity_lab as sl\n"
        "universe = sl.Universe.from_domain(range(1, 25))\n"
        "sl.global_sensitivity(universe, 'mean', size=11, neighbors='bounded', "
        f"method='enumeration', n_jobs={jobs}, run=sl.Run(memory_limit=10**12))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        for _ in range(600):
            time.sleep(0.1)
            if len(living(process.pid)) > jobs * (jobs != 1):
                break
        time.sleep(5)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    last = err.splitlines()[-1]
    assert re.fullmatch(r"KeyboardInterrupt(: [\d,]+ of [\d,]+ datasets were done)?", last)
    time.sleep(1)
    assert living(process.pid) == []
