"""Long searches of slow functions that are killed in the middle lose what is under way only.

`make stress` runs them: 203,490 evaluations of a millisecond each, by four workers.
"""

from __future__ import annotations

import os
import signal
import subprocess
from math import comb
from pathlib import Path

import pytest
from searches import AGAIN, Search, is_running, shared_memory, until

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc"),
]

RECORDS = [3**i % 1009 + i for i in range(int(os.environ.get("SURVIVAL", "21")))]
SIZE = 8
DATASETS = comb(len(RECORDS), SIZE)
FEW = 20 + AGAIN
"""So many datasets are asked again by themselves: to see how long one takes, that the function
answers as before, and the witness."""

PATIENCE = 1800.0


def long_search(folder: Path, jobs: int = 4, **further) -> Search:
    problem = {"records": RECORDS, "size": SIZE, "neighbors": "bounded", "seconds": 0.001}
    return Search(folder, jobs, **{**problem, **further})


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> str:
    """What a search finds that nobody disturbs."""
    search = long_search(tmp_path_factory.mktemp("calm"), jobs=2, checkpoint=False, seconds=0)
    return search.finish(PATIENCE)


def check_the_rest(search: Search, done: int, expected: str, record_property) -> None:
    """Run a search again: at most a block of every worker is evaluated a second time."""
    longest = search.longest_block()
    assert search.finish(PATIENCE) == expected
    again = len(search.callers()) - (DATASETS - done)
    record_property("again", again)
    assert 0 <= again <= search.told["jobs"] * longest + FEW


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name
)
def test_a_killed_process(tmp_path, expected, number, record_property):
    search = long_search(tmp_path)
    process = search.start()
    search.wait_until_called(DATASETS // 2, PATIENCE)
    assert shared_memory(process.pid)
    # Ctrl-C reaches the workers too.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, error = process.communicate(timeout=60)
    until(lambda: not any(map(is_running, set(search.callers()))), seconds=30)
    until(lambda: not shared_memory(process.pid), seconds=30)
    if number == signal.SIGINT:
        last = error.strip().splitlines()[-1]
        assert last.startswith("KeyboardInterrupt: ")
        assert last.endswith(
            f" datasets were done; call again with the same arguments and "
            f"run=Run(checkpoint={str(search.kept)!r}) to go on"
        )
    check_the_rest(search, len(search.callers()), expected, record_property)


@pytest.mark.parametrize("dask", [False, pytest.param(True, marks=pytest.mark.dask)])
def test_a_killed_worker(tmp_path, expected, dask, record_property):
    if dask:
        pytest.importorskip("distributed", reason="needs the extra `dask`")
    search = long_search(tmp_path, jobs=2 if dask else 4, dask=dask)
    process = search.start()
    search.wait_until_called(DATASETS // 2, PATIENCE)
    os.kill(next(pid for pid in search.callers() if pid != process.pid), signal.SIGKILL)
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    assert out.strip() == expected
    again = len(search.callers()) - DATASETS
    record_property("again", again)
    assert 0 <= again <= search.told["jobs"] * search.longest_block() + FEW


def test_a_full_disk(tmp_path, expected, record_property):
    """On a disk of half a megabyte, of which the answers would need three times as much."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only the administrator can make a small disk")
    try:
        search = long_search(tmp_path, kept=disk / "kept")
        process = search.start()
        _, error = process.communicate(timeout=PATIENCE)
        done = len(search.callers())
        assert process.returncode == 1
        last = error.strip().splitlines()[-1]
        assert last.startswith("sensitivity_lab.errors.CheckpointError: cannot write to the chec")
        assert ": No space left on device; mend that and call again with the same ar" in last
        assert done < DATASETS
        until(lambda: not any(map(is_running, set(search.callers()))), seconds=30)
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        check_the_rest(search, done, expected, record_property)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)
