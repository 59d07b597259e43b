"""The process that computes answers, so that a long search can be stopped."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

from sensitivity_lab.running.time_limits import serve

from .answer import answer
from .universes import Given

_STOPPED = "Stopped. Change something to go on."
_ENDED = "The search ended, perhaps for lack of memory."

_PATIENCE = 1
"""So many seconds a request waits for another one."""

_BUSY = "Another tab of this page is computing"

_given = Given()
"""In the process: what requests may name."""


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
        self._process: Any = None

    def answer(self, request: Any) -> dict[str, Any]:
        """Return the answer to a request, or say that another one is being computed."""
        if not self._turn.acquire(timeout=_PATIENCE):
            return {"ok": False, "field": "", "message": _BUSY, "busy": True}
        try:
            process, asked = self._submitted(request)
            try:
                found: dict[str, Any] = asked.result()
            except (BrokenProcessPool, CancelledError, RuntimeError):
                told = _ENDED if self._process is process else _STOPPED
                self.stop()
                found = {"ok": False, "field": "", "message": told}
            return found
        finally:
            self._turn.release()

    def _submitted(self, request: Any) -> tuple[Any, Any]:
        """Return the process, started if need be, and what it was asked."""
        with self._change:
            if self._process is not None:
                with suppress(BrokenProcessPool, RuntimeError):  # it was ended while it was idle
                    return self._process, self._process.submit(_answered, request)
            self._process = ProcessPoolExecutor(
                1, initializer=_begin, initargs=(self._given, os.getpid())
            )
            return self._process, self._process.submit(_answered, request)

    def stop(self) -> None:
        """End the process, and with it what it computes; the next request starts another one."""
        with self._change:
            process, self._process = self._process, None
        if process is not None:
            process.shutdown(wait=False, kill_workers=True)


def _begin(given: Given, parent: int) -> None:
    global _given
    _given = given
    serve(parent)


def _answered(request: Any) -> dict[str, Any]:
    return answer(request, _given)
