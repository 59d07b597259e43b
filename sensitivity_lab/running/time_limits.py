"""Limits of time for pieces of work, and workers that end with the process that they serve."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sensitivity_lab.errors import InputError
from sensitivity_lab.files import remove_held

R = TypeVar("R")

_ON_WINDOWS = os.name == "nt"

_PARENT_LOOKS = 0.5
"""Seconds between two looks of a worker whether its parent is still there."""

_AGAIN = 0.5
"""Seconds that a function has to put things in order once its time is up."""

_HAIL = 2e-5
"""Seconds between two exceptions from then on: a few times what it takes to raise one."""

_SOON = 1e-3
"""Seconds until a timer of the caller's rings that ran out meanwhile, or a late signal is taken."""

_GRACE = 2.0
"""A worker that does not stop this many times the limit, and a second, after it began is ended."""


class TimeUpError(BaseException):
    """The time of a piece of work is up.

    Not an Exception: a caller's ``except Exception`` leaves it alone.
    """


def in_time(seconds: float | None, function: Callable[..., R], *arguments: Any) -> R:
    """Return what a function returns; raise TimeUpError if that takes longer than so many seconds.

    Python code is interrupted wherever it is, also while it sleeps. Code that goes on all the
    same, because it catches every exception, is interrupted again, and then does not get far:
    see `_Alarm`. Compiled code that does not return to Python cannot be interrupted; in a worker
    process, the whole process ends then.

    Parameters
    ----------
    seconds : float or None
        None: there is no limit.
    function : callable
        What takes the time.
    *arguments
        Of the function.
    """
    if seconds is None:
        return function(*arguments)
    _check_can_limit()
    alarm = _Alarm(time.monotonic() + float(seconds))
    before = signal.signal(signal.SIGALRM, alarm)
    # A caller who times something else with the same timer goes on with what is left of it.
    left, interval = signal.setitimer(signal.ITIMER_REAL, float(seconds), _AGAIN)
    started = time.monotonic()
    try:
        with _ended_after(_GRACE * float(seconds) + 1):
            answer = alarm.run(function, *arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # An error that the function made of the interruption is none of its own.
        if not alarm.rings:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if alarm.rings:
            # Another thread may just be taking a signal: without a handler, Python would report it.
            time.sleep(_SOON)
        signal.signal(signal.SIGALRM, before)
        if left:
            rest = max(_SOON, left - (time.monotonic() - started))
            signal.setitimer(signal.ITIMER_REAL, rest, interval)
    if alarm.rings:
        raise TimeUpError
    return answer


class _Alarm:
    """Raises TimeUpError in a function again and again, until it is left.

    The first time it raises once: a function may have something to put in order. From the second
    time on it raises thousands of times a second, so that some of them come where the one before
    is being swallowed, in an ``except`` or on the way back to a loop's beginning. From there an
    exception can only go outwards. The timer is not set again for each of them: then none could
    come right after another, and code that swallows them at several levels would go on for long.

    A signal that comes before `end` was meant for a limit inside this one, which is over, and was
    late: to raise then would end the wrong work, and stop the timer for good.

    Parameters
    ----------
    end : float
        When the time is over, by `time.monotonic`.
    """

    def __init__(self, end: float) -> None:
        self.end = end
        self.rings = 0
        self._inside = False

    def run(self, function: Callable[..., R], *arguments: Any) -> R:
        """Call a function, in which this may raise."""
        self._inside = True
        try:
            return _called(function, arguments)
        finally:
            self._inside = False

    def __call__(self, _: int, frame: Any) -> None:
        """Handle the signal, which came in a frame."""
        if not self._inside or time.monotonic() < self.end:
            return
        if self.rings < 2:
            again = _HAIL if self.rings else _AGAIN
            signal.setitimer(signal.ITIMER_REAL, again, again)
        self.rings += 1
        # In `run` itself the function is not called yet, or is left already; and what is raised in
        # a handler that is under way would be raised there, too.
        if frame is None or frame.f_code not in (_Alarm.run.__code__, _Alarm.__call__.__code__):
            raise TimeUpError


def _called(function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
    """Call a function in a frame in which `_Alarm` may raise: compiled code has none of its own."""
    return function(*arguments)


def _check_can_limit() -> None:
    """Raise InputError where the time of a piece of work cannot be limited."""
    if not hasattr(signal, "setitimer"):
        raise InputError(
            "run=Run(timeout=...) needs a system with interval timers, such as Linux or macOS"
        )
    if threading.current_thread() is not threading.main_thread():
        raise InputError(
            "run=Run(timeout=...) needs the main thread of a process; use joblib's backend 'loky', "
            "not 'threading' or 'dask', and call from the main thread"
        )


_OF_TERMINALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
"""The signals that every process of a terminal gets."""

_served: list[int] = []
"""In a worker process: the process that it serves."""

_marks: list[Path] = []
"""In a worker process: the file that marks the block that is under way, if there is one."""


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End this process if it is a worker that does not come back for so many seconds.

    Where it was then is written to the mark of the block that is under way.
    """
    if not _served:
        yield
        return
    with open(_marks[0], "ab") if _marks else nullcontext(2) as file:  # noqa: PTH123
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def serve(parent: int, mark: Path | None = None) -> None:
    """Let this process end with `parent`, and only with it; do nothing if it is `parent`.

    It ends within seconds once `parent` is gone. Ctrl-C reaches every process of a terminal; here
    it does nothing, because the parent stops its workers itself. A terminal that is closed ends
    this process as it does by default. The file `mark`, if there is one, will say where the process
    was if its time is up and it has to be ended.
    """
    _marks[:] = [mark] if mark else []
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
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()


def end_with(parent: int) -> None:
    """End this process as soon as its parent has ended."""
    if _ON_WINDOWS:
        # There, a process keeps the number of a parent that is gone. Workers have a handle of it.
        own = multiprocessing.parent_process()
        if own is None:
            return
        own.join()
    else:
        while os.getppid() == parent:
            time.sleep(_PARENT_LOOKS)
    # The parent can no longer collect anything; its resource tracker removes what was shared.
    remove_held()
    os._exit(1)
