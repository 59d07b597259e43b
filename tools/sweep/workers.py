"""Worker processes that judge settings, and that may hang or die without ending the sweep.

Not by joblib: it has no limit of time per piece of work, and one worker that dies takes all others
with it. Here each worker has a pipe of its own, so the one that hangs is ended, and only its
setting is lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait

from sensitivity_lab.running.time_limits import serve

from .setting import FAILED, LATE, Judged, Library, Setting, last_line

_START = 120.0
"""Seconds that a worker may take to start, beside the limit of a setting."""

_PATIENCE = 5.0
"""Seconds that a worker without work has to end."""


def judged(
    library: Library, settings: Iterable[Setting], jobs: int, timeout: float
) -> Iterator[tuple[Setting, Judged, float]]:
    """Yield what comes out of each setting, with the seconds it took, as soon as it is there."""
    waiting = iter(settings)
    team = [_Worker(library) for _ in range(jobs)]
    try:
        busy = {worker for worker in team if worker.take(next(waiting, None))}
        while busy:
            soon = min(worker.deadline(timeout) for worker in busy)
            ready = wait([worker.pipe for worker in busy], max(0.0, soon - time.monotonic()))
            for worker in list(busy):
                done = worker.answer(worker.pipe in ready, timeout)
                if done is not None:
                    yield done
                    if not worker.take(next(waiting, None)):
                        busy.discard(worker)
    finally:
        for worker in team:
            worker.end()


class _Worker:
    """A process that judges one setting at a time; after its death another one takes its place."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._setting: Setting | None = None
        self._fresh = False
        self._started = 0.0
        self._start()

    def _start(self) -> None:
        """Start a process."""
        # Spawned, since a fork of a process with threads, such as those of OpenBLAS, can hang.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._library, os.getpid()))
        self._process.daemon = True
        self._process.start()
        theirs.close()
        self._fresh = True

    def take(self, setting: Setting | None) -> bool:
        """Begin with a setting; tell whether there is one."""
        self._setting = setting
        if setting is None:
            return False
        with suppress(OSError):  # it died meanwhile: the answer will say so
            self.pipe.send(setting)
        self._started = time.monotonic()
        return True

    def deadline(self, timeout: float) -> float:
        """Return when the time of the setting is up."""
        return self._started + timeout + (_START if self._fresh else 0.0)

    def answer(self, ready: bool, timeout: float) -> tuple[Setting, Judged, float] | None:
        """Return what came out, or None as long as there is time."""
        if self._setting is None:
            return None
        seconds = time.monotonic() - self._started
        if ready:
            try:
                found, seconds = self.pipe.recv()
                self._fresh = False
            except (EOFError, OSError):
                self._process.join()
                found = Judged(FAILED, remark=f"the process ended: {self._process.exitcode}")
                self._replace()
        elif time.monotonic() < self.deadline(timeout):
            return None
        else:
            found = Judged(LATE, remark=f"no verdict in {timeout:g} seconds")
            self._replace()
        return self._setting, found, seconds

    def _replace(self) -> None:
        self.end()
        self._start()

    def end(self) -> None:
        """End the process: one that waits ends by itself, one that hangs is killed."""
        self.pipe.close()
        if self._setting is None:
            self._process.join(_PATIENCE)
        self._process.kill()
        self._process.join()


def _work(pipe: Connection, library: Library, parent: int) -> None:
    """Judge the settings that come, one by one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this one
    serve(parent)
    while True:
        try:
            setting = pipe.recv()
        except EOFError:
            return
        started = time.perf_counter()
        try:
            found = library.judge(setting)
        except Exception as error:  # noqa: BLE001 - no setting ends the sweep
            found = Judged(FAILED, remark=f"{type(error).__name__}: {last_line(error)}")
        pipe.send((found, time.perf_counter() - started))
