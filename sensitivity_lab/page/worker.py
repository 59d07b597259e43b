"""The process that computes answers, so that a long search can be stopped.

Run as ``python -m sensitivity_lab.page.worker``: it reads the given columns, pickled, and then
requests, a line of JSON each, and writes a line with each answer. It ends with its input.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, cast

from .answer import answer
from .universes import Given

STOPPED = {"ok": False, "field": "", "message": "Stopped. Change something to go on."}
_ENDED = {"ok": False, "field": "", "message": "The search ended, perhaps for lack of memory."}


class Worker:
    """Answers requests in a process of its own, one after the other.

    Parameters
    ----------
    given : Given
        Columns that requests may name.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._turn, self._change = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request, both in JSON."""
        with self._turn:
            with self._change:
                process = self._process = self._process or self._start()
            stream, found = cast(IO[bytes], process.stdin), b""
            with suppress(OSError, ValueError):
                stream.write(json.dumps(json.loads(request)).encode() + b"\n")
                stream.flush()
                found = cast(IO[bytes], process.stdout).readline()
            if found:
                return found
            with self._change:
                stopped = self._process is not process
            self.stop()
            return json.dumps(STOPPED if stopped else _ENDED).encode()

    def stop(self) -> None:
        """End the process, and with it what it computes; the next request starts another one."""
        with self._change:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [sys.executable, "-m", "sensitivity_lab.page.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        with suppress(OSError):  # it has ended; who reads its answer says so
            pickle.dump(self._given, cast(IO[bytes], process.stdin))
        return process


def _serve() -> None:
    """Answer requests until there are no more."""
    requests: SimpleQueue[Any] = SimpleQueue()
    given = pickle.load(sys.stdin.buffer)

    def read() -> None:
        for line in sys.stdin.buffer:
            requests.put(line)
        os._exit(0)  # a search does not outlive who asked

    threading.Thread(target=read, daemon=True).start()
    while True:
        found = answer(json.loads(requests.get()), given)
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
