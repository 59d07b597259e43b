"""Searches in processes of their own, which can be killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROGRAM = """
import contextlib, json, os, signal, sys, time
import joblib
import sensitivity_lab as sl

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, it is ignored by who starts this
told = json.loads(sys.argv[1])
calls, seconds = told["calls"], told["seconds"]

def spread(x):
    time.sleep(seconds)
    with open(calls, "ab", 0) as file:
        file.write(b"%9d\\n" % os.getpid())
        number = file.tell() // 10
    while number >= told["held_from"] and not os.path.exists(told["go"]):
        time.sleep(0.01)
    return float(x.max() - x.min())

if __name__ == "__main__":
    universe = sl.Universe.from_dataset(told["records"])
    # Named, so that workers are started for the shortest work.
    with joblib.parallel_config(backend="loky"):
        result = sl.global_sensitivity(
            universe,
            sl.from_function(spread, name="spread", order="sorted"),
            size=told["size"],
            neighbors=told["neighbors"],
            n_jobs=told["jobs"],
        )
    print(result.value, result.witness.x, result.witness.y)
"""


class Search:
    """A search in a process of its own, which counts the calls of its function in a file.

    Parameters
    ----------
    folder : Path
        Where the program and the file of calls are.
    jobs : int, default 2
        The number of workers.
    **further
        `seconds` for each call, `records` of the universe, `size`, `neighbors`, and from which
        call on calls are held until they may `go_on` (`held_from`).
    """

    def __init__(self, folder: Path, jobs: int = 2, **further: Any) -> None:
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        self.calls, self._go = folder / "calls", folder / "go"
        self.told = {
            "seconds": 0.0002,
            "records": [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233],
            "size": 6,
            "neighbors": "unbounded",
            "held_from": 10**9,
            **further,
            "calls": str(self.calls),
            "go": str(self._go),
            "jobs": jobs,
        }

    def start(self) -> subprocess.Popen[str]:
        self.calls.write_bytes(b"")
        return subprocess.Popen(
            [sys.executable, str(self.program), json.dumps(self.told)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def go_on(self) -> None:
        """Let calls that are held go on, and all others of this search."""
        self._go.touch()

    def callers(self) -> list[int]:
        """The process of every call."""
        return [int(line) for line in self.calls.read_bytes().split()]

    def wait_until_called(self, times: int, seconds: float = 60) -> None:
        until(lambda: len(self.callers()) >= times, seconds)

    def finish(self, seconds: float = 120) -> str:
        self.go_on()
        process = self.start()
        out, error = process.communicate(timeout=seconds)
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
