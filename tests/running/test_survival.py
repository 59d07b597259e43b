"""Searches that are killed, interrupted or fail go on where they were, and leave nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sensitivity_lab as sl

PROGRAM = """
import os, sys, time
import sensitivity_lab as sl

calls, folder, jobs, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def spread(x):
    time.sleep(seconds)
    with open(calls, "ab", 0) as file:
        file.write(b"%d\\n" % os.getpid())
    return float(x.max() - x.min())

if __name__ == "__main__":
    universe = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233])
    result = sl.global_sensitivity(
        universe, spread, size=6, neighbors="unbounded", n_jobs=jobs, checkpoint=folder or None
    )
    print(result.value, result.witness.x, result.witness.y)
"""

EXPECTED = "225.0 (1, 2, 3, 5, 8, 233) (1, 2, 3, 5, 8)"
DATASETS = 792 + 924 + 792
SECONDS = 0.002
IN_A_BLOCK = -(-DATASETS // 48)
"""The blocks of so short a search are at most that long."""


class Search:
    """A search in a process of its own, which counts the calls of its function in a file."""

    def __init__(self, folder: Path, jobs: int = 2, checkpoint: bool = True) -> None:
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        self.calls = folder / "calls"
        kept = str(folder / "kept") if checkpoint else ""
        self.arguments = [str(self.calls), kept, str(jobs), str(SECONDS)]

    def start(self) -> subprocess.Popen[str]:
        self.calls.write_bytes(b"")
        return subprocess.Popen(
            [sys.executable, str(self.program), *self.arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def callers(self) -> list[int]:
        return [int(line) for line in self.calls.read_bytes().split()]

    def wait_until_called(self, times: int) -> None:
        until(lambda: len(self.callers()) >= times)

    def finish(self) -> str:
        process = self.start()
        out, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        return out.strip()


def until(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def shared_memory(pid: int) -> list[str]:
    """What a process and its workers have left there; other searches may run at the same time."""
    names = [path.name for path in Path("/dev/shm").iterdir()]
    return [name for name in names if re.search(rf"(?:joblib|loky).*\b_?{pid}(?:_|-|\b)", name)]


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_killed_search_goes_on_and_leaves_nothing(tmp_path, number):
    search = Search(tmp_path)
    process = search.start()
    search.wait_until_called(DATASETS // 3)
    left = shared_memory(process.pid)
    process.send_signal(number)
    process.wait(30)
    until(lambda: not any(map(is_running, set(search.callers()))), seconds=10)
    process.communicate()
    done = len(search.callers())
    assert left
    until(lambda: not shared_memory(process.pid), seconds=10)
    assert search.finish() == EXPECTED
    # At most one block per worker was under way; a few datasets are asked again by themselves.
    again = len(search.callers()) - (DATASETS - done)
    assert 0 <= again <= 2 * IN_A_BLOCK + 8


@pytest.mark.exhaustive
def test_a_finished_search_evaluates_nothing_again(tmp_path):
    search = Search(tmp_path, jobs=1)
    assert search.finish() == EXPECTED
    assert len(search.callers()) >= DATASETS
    assert search.finish() == EXPECTED
    assert len(search.callers()) <= 8  # the witness is measured


@pytest.mark.exhaustive
def test_an_interruption_says_how_far_it_came(tmp_path):
    search = Search(tmp_path, jobs=1)
    process = search.start()
    search.wait_until_called(DATASETS // 4)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    last = error.strip().splitlines()[-1]
    assert last.startswith("KeyboardInterrupt: ")
    assert last.endswith(
        f" of {DATASETS - 4:,} datasets were done; call again with the same arguments and "
        f"checkpoint={str(tmp_path / 'kept')!r} to go on"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_worker_that_dies_once_costs_its_blocks_only(tmp_path, checkpoint):
    search = Search(tmp_path, checkpoint=checkpoint)
    process = search.start()
    search.wait_until_called(DATASETS // 3)
    victim = next(pid for pid in search.callers() if pid != process.pid)
    os.kill(victim, signal.SIGKILL)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert out.strip() == EXPECTED


UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13, 21, 34, 55])


def deadly(x):
    time.sleep(0.002)
    if list(x) == [2, 5, 8, 34]:
        os._exit(3)
    return float(x[0])


@pytest.mark.exhaustive
def test_a_block_that_ends_its_worker_twice_is_named(tmp_path):
    with pytest.raises(sl.WorkerError) as caught:
        sl.global_sensitivity(
            UNIVERSE, deadly, size=4, neighbors="bounded", n_jobs=2, checkpoint=tmp_path / "kept"
        )
    message = str(caught.value)
    assert message.startswith("a worker process ended twice in deadly on ")
    assert " datasets of 4 records, the first of which is (" in message
    assert message.endswith(
        ": it crashed, was killed, called os._exit, or ran out of memory; call the query there "
        "with n_jobs=1 to see which; what is finished is kept: call again with the same arguments "
        f"and checkpoint={str(tmp_path / 'kept')!r} to go on"
    )


def endless(x):
    if list(x) == [2, 5, 8, 34]:
        time.sleep(1000)
    time.sleep(0.002)
    return float(x[0])


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_a_function_that_hangs_is_stopped(n_jobs):
    with pytest.raises(sl.QueryError) as caught:
        sl.global_sensitivity(
            UNIVERSE, endless, size=4, neighbors="bounded", n_jobs=n_jobs, timeout=0.3
        )
    assert str(caught.value) == (
        "query 'endless' on the dataset (2, 5, 8, 34) took longer than timeout=0.3 seconds for "
        "each dataset"
    )


def test_a_function_that_hangs_on_a_neighbor_is_stopped():
    with pytest.raises(sl.QueryError) as caught:
        sl.local_sensitivity([2, 5, 8, 55], UNIVERSE, endless, neighbors="bounded", timeout=0.3)
    assert str(caught.value) == (
        "query 'endless' on the dataset (2, 5, 8, 34) took longer than timeout=0.3 seconds"
    )


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "1", True, 10**7])
def test_a_timeout_is_a_positive_number(timeout):
    with pytest.raises(sl.InputError, match="timeout must be None or a positive number of seconds"):
        sl.global_sensitivity(UNIVERSE, "mean", size=4, neighbors="bounded", timeout=timeout)


@pytest.mark.exhaustive
def test_ctrl_c_on_the_command_line_is_one_line(tmp_path):
    """Enumeration of the standard deviation takes long enough to be interrupted."""
    data = tmp_path / "data.csv"
    data.write_text("days\n" + "\n".join(map(str, range(0, 22 * 7, 7))) + "\n")
    command = [
        *(sys.executable, "-m", "sensitivity_lab", "sensitivity", str(data), "--query", "std"),
        *("--size", "11", "--neighbors", "unbounded", "--distance", "2", "--jobs", "2"),
        *("--method", "enumeration", "--checkpoint", str(tmp_path / "kept")),
    ]

    def start() -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, start_new_session=True, **pipes)

    process = start()
    until(lambda: len(list(tmp_path.glob("kept/*.block"))) > 3)
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    (line,) = error.strip().splitlines()
    assert line.startswith(
        "sensitivity-lab sensitivity: interrupted while searching the sensitivity of std: "
    )
    assert line.endswith(" datasets were done; to go on, give the same command again")
    before = len(list(tmp_path.glob("kept/*.block")))
    process = start()
    out, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (0, "")
    assert out.startswith("Sensitivity of std: ")
    assert len(list(tmp_path.glob("kept/*.block"))) > before
