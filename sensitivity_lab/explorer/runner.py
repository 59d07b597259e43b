"""A separate process computes views, so the page stays responsive and a search can be stopped."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from .model import View
from .source import Source
from .state import State

_PATIENCE = 3.0
"""Seconds after which a superseded search is stopped; starting a new process takes one, too."""

_TICK = 0.5
"""Seconds between two reports of a search that goes on."""


@dataclass(frozen=True)
class Busy:
    """A search goes on: its seconds, its line of progress, and what it computes."""

    seconds: float
    progress: str
    computing: str = ""


@dataclass(frozen=True)
class Ended:
    """A search ended without its last view; why."""

    reason: str


Report = View | Busy | Ended
"""The reports of a runner."""


class Runner:
    """Computes the views of the newest state.

    Parameters
    ----------
    source : Source
        The universes to explore.
    tell : callable
        Called with every report, in a thread of the runner.

    Notes
    -----
    A new state waits while another one is computed, and replaces one that already waits: moving a
    slider requests many states, and only the last one counts. After three seconds the superseded
    computation is stopped.
    """

    def __init__(self, source: Source, tell: Callable[[Report], Any]) -> None:
        self._source, self._tell = source, tell
        self._lock = threading.RLock()
        self.process: subprocess.Popen[bytes] | None = None
        self._waiting: State | None = None
        self._number = 0
        self._since: float | None = None  # when the current computation was requested
        self._begun: float | None = None  # when its first view came
        self._progress, self._computing = "", ""

    def ask(self, state: State) -> None:
        """Compute the views of a state as soon as the earlier ones are done."""
        with self._lock:
            self._waiting = state
            if self._since is None:
                self._send()

    def stop(self, reason: str = "stopped; move a control to go on") -> None:
        """Stop the computation; nothing else waits after it."""
        with self._lock:
            self._waiting = None
            if self._since is not None:
                self._end()
                self._tell(Ended(reason))

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._waiting = None
            self._end()

    def _end(self) -> None:
        """End the process, if there is one; the next state starts another one."""
        process, self.process, self._since = self.process, None, None
        if process is not None:
            process.kill()
            process.wait()
            with suppress(OSError):  # what was not written to it yet
                cast(IO[bytes], process.stdin).close()

    def _send(self) -> None:
        """Send the state that waits; the lock is held, and nothing is computed."""
        state, self._waiting = self._waiting, None
        self._number += 1
        self._since, self._begun = time.monotonic(), None
        self._progress, self._computing = "", "the universe"
        fresh = self.process is None
        process = self.process or self._start()
        threading.Thread(target=self._write, args=(process, fresh, state), daemon=True).start()
        threading.Thread(target=self._watch, args=(self._number,), daemon=True).start()

    def _write(self, process: subprocess.Popen[bytes], fresh: bool, asked: Any) -> None:
        """Write to the process, which may take a while for a large universe."""
        stream = cast(IO[bytes], process.stdin)
        with suppress(OSError, ValueError):  # it has ended; who reads its answers says so
            if fresh:
                pickle.dump(self._source, stream)
            pickle.dump(asked, stream)
            stream.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        """Start a process and the threads that read from it."""
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [sys.executable, "-m", "sensitivity_lab.explorer.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.process = process
        for target in (self._read, self._listen):
            threading.Thread(target=target, args=(process,), daemon=True).start()
        return process

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on the views that a process writes, until it ends."""
        with cast(IO[bytes], process.stdout) as stream:
            while True:
                try:
                    view = pickle.load(stream)
                except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                    break
                with self._lock:
                    if process is not self.process:
                        return
                    self._begun = self._begun or time.monotonic()
                    self._progress, self._computing = "", view.computing
                    if view.done:
                        self._since = None
                        if self._waiting is not None:
                            self._send()
                    self._tell(view)
        with self._lock:
            if process is self.process:
                reason = self._progress or "perhaps for lack of memory"
                self.stop(f"the search ended unexpectedly: {reason}")
                self._end()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Keep the last line that a process writes of its progress; bars end lines with CR."""
        line = ""
        with cast(IO[bytes], process.stderr) as stream:
            while chunk := os.read(stream.fileno(), 4096):
                line += chunk.decode("utf-8", "replace")
                *complete, line = line.replace("\r", "\n").split("\n")
                written = [text.strip() for text in (*complete, line) if text.strip()]
                if written and process is self.process:
                    self._progress = written[-1]

    def _watch(self, number: int) -> None:
        """Report that a computation goes on, and end it if it has been superseded for too long."""
        while True:
            time.sleep(_TICK)
            with self._lock:
                if self._since is None or number != self._number:
                    return
                now = time.monotonic()
                begun = now if self._begun is None else self._begun
                if self._waiting is not None and now - begun > _PATIENCE:
                    self._end()
                    self._send()
                    return
                self._tell(Busy(now - self._since, self._progress, self._computing))
