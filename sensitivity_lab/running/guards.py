"""What guards work: a limit of time, and workers that end with the process that they serve."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from sensitivity_lab.checks import finite_number, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import remove_held

_LOOKS = 0.5
"""Seconds between two looks of a worker whether its parent is still there."""

_LONGEST = 10**6
"""The largest limit in seconds: eleven days."""

_GRACE = 2.0
"""A worker that does not stop this many times the limit, and a second, after it began is ended."""


class TimeUpError(BaseException):
    """The time of a piece of work is up.

    Not an Exception: a caller's ``except Exception`` must not swallow it.
    """


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise TimeUpError in the work inside once it has taken so many seconds; None: no limit.

    Python code is interrupted wherever it is, also while it sleeps. Compiled code that does not
    return to Python cannot be interrupted; in a worker process, the whole process ends then.
    """
    if seconds is None:
        yield
        return
    _check_can_limit()
    before = signal.signal(signal.SIGALRM, _time_is_up)
    hard = _is_worker()
    if hard:
        faulthandler.dump_traceback_later(_GRACE * float(seconds) + 1, exit=True, file=2)
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if hard:
            faulthandler.cancel_dump_traceback_later()


def check_timeout(timeout: Any) -> None:
    """Raise InputError unless the argument `timeout` is None or a positive number of seconds."""
    if timeout is None:
        return
    seconds = finite_number(timeout)
    if seconds is None or not 0 < seconds <= _LONGEST:
        raise InputError(
            f"timeout must be None or a positive number of seconds, at most {_LONGEST:,}, "
            f"got {shown(timeout)}"
        )


def _check_can_limit() -> None:
    """Raise InputError where the time of a piece of work cannot be limited."""
    if not hasattr(signal, "setitimer"):
        raise InputError("timeout needs a system with interval timers, such as Linux or macOS")
    if threading.current_thread() is not threading.main_thread():
        raise InputError(
            "timeout needs the main thread of a process; use joblib's backend 'loky', not "
            "'threading' or 'dask', and call from the main thread"
        )


def _time_is_up(*_: Any) -> None:
    raise TimeUpError


_OF_TERMINALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
"""The signals that every process of a terminal gets."""

_served: list[int] = []
"""In a worker process: the process that it serves."""


def _is_worker() -> bool:
    return bool(_served)


def serve(parent: int) -> None:
    """Let this process end with `parent`, and only with it; do nothing if it is `parent`.

    It ends within seconds once `parent` is gone. Ctrl-C reaches every process of a terminal; here
    it does nothing, because the parent stops its workers itself. A terminal that is closed ends
    this process as it does by default.
    """
    if os.getpid() != parent and not _served:
        _served.append(parent)
        _watch(parent)
        if threading.current_thread() is threading.main_thread():
            # Not SIG_IGN, which programs that a query starts would inherit.
            signal.signal(signal.SIGINT, lambda *_: None)
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_TERMINALS)


@contextmanager
def workers_without_interrupts() -> Iterator[None]:
    """Start workers inside this block so that Ctrl-C does not end them before they can `serve`.

    They inherit that the signals of terminals are blocked; for this thread, these come when the
    block ends. The process of joblib's that removes what it shares is started here, too: it never
    hears that the terminal was closed, and so outlives the others, as it does after SIGTERM.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def _watch(parent: int) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKS)
    # The parent can no longer collect anything; its resource tracker removes what was shared.
    remove_held()
    os._exit(1)
