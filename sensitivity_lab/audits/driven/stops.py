"""What ends a run of driven code, whatever the code catches.

The driver stops code by raising an exception in it. None of these is an `Exception`, so that an
``except Exception`` in the code does not catch them. A bare ``except:``, or a ``return`` in a
``finally:``, catches everything. So each stop is noted when it is made, and `watched` raises the
first one again when the code has ended: nothing that the code released after a stop counts. A
message about a stop names the line of the caller's code.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from sensitivity_lab.checks import is_callers, shown_source

_runs: list[list[Stop]] = []
"""The stops of the runs that are watched, from the outermost on."""


class Stop(BaseException):
    """The driver stops a run."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        # When it is made, not when it is caught: code may catch it.
        if _runs:
            _runs[-1].append(self)


class OutsideError(Stop):
    """Code does with a draw what is not covered; the message completes "the function ..."."""


class LimitError(Stop):
    """A table of probabilities is too large; the message says what to make smaller."""


class ChangedError(Stop):
    """A run with the same draws took another way."""


class UnlikelyError(Stop):
    """A run took a path that is too unlikely to follow: a loop that may never end."""


class OwnGeneratorError(Stop):
    """Code draws from another generator than it gets."""


SECONDS, BYTES = 60.0, 2 * 2**30
"""The time of an audit by default, and the memory that it may take beyond what was taken before."""

_CLOCK = 4096
"""After so many terms that symbols have together, the clock is looked at."""


class Budget:
    """What an audit may spend: its time, and memory.

    Parameters
    ----------
    seconds : float or None
        The most seconds.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + (seconds or 0.0)
        self._bytes = _taken() + BYTES
        self._spent = 0

    def spend(self, terms: int) -> None:
        """Count some terms of symbols, and raise LimitError if too much is spent."""
        self._spent += terms + 1
        # To look at the clock at every term would take longer than the term.
        if self._spent >= _CLOCK:
            self._spent = 0
            self.check()

    def check(self) -> None:
        """Raise LimitError if too much is spent."""
        if stopped():
            return
        way = "; take fewer records or values, or draw less often"
        if self.seconds is not None and time.monotonic() > self._end:
            raise LimitError(
                f"the audit takes more than {self.seconds:g} seconds{way}; time_limit= allows more"
            )
        if _taken() > self._bytes:
            raise LimitError(f"the audit takes more than {BYTES // 2**30} GiB of memory{way}")


def _taken() -> int:
    """Return how many bytes this process has in memory; 0 where the system does not tell."""
    with suppress(OSError):
        # The second number is that of the pages in memory.
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return 0


class Stopwatch:
    """Tells whether so many CPU seconds are over.

    The clock on the wall is asked first: it is cheap, and where it is not over, neither is the CPU
    time. To tell that of a process with threads can take longer than a run of driven code.
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    @property
    def seconds(self) -> float:
        """The CPU seconds since it was made."""
        return time.process_time() - self._cpu

    def over(self, seconds: float) -> bool:
        """Return whether so many CPU seconds are over."""
        return time.monotonic() - self._wall > seconds and self.seconds > seconds


_budgets = [Budget(None)]


@contextmanager
def budgeted(seconds: float | None) -> Iterator[None]:
    """Limit what is spent in this context; one within another has what the outer one has."""
    # The first budget is that outside of audits, which has no end.
    if len(_budgets) > 1:
        yield
        return
    _budgets.append(Budget(seconds))
    try:
        yield
    finally:
        _budgets.pop()


def budget() -> Budget:
    """Return what may be spent now."""
    return _budgets[-1]


def running() -> bool:
    """Tell whether a run is watched now: driven code is running."""
    return bool(_runs)


def stopped() -> bool:
    """Tell whether the run was stopped, and goes on only because the code caught that.

    What it releases is thrown away. From now on all draws are ordinary random numbers, so that a
    loop around a bare ``except:`` ends as it would without the driver.
    """
    return bool(_runs and _runs[-1])


@contextmanager
def watched() -> Iterator[None]:
    """Raise the first stop again at the end of the block, if code in the block has caught it.

    Examples
    --------
    >>> with watched():
    ...     try:
    ...         raise LimitError("too large")
    ...     except:
    ...         released = 0
    Traceback (most recent call last):
    sensitivity_lab.audits.driven.stops.LimitError: too large
    """
    stops: list[Stop] = []
    _runs.append(stops)
    try:
        yield
    # After a stop, an error of the code is no release: the stop is raised below instead.
    except (Exception, Stop):
        if not stops:
            raise
    finally:
        _runs.pop()
    if stops:
        raise stops[0] from None


class Place(NamedTuple):
    """A line of code, and whether it needs the value of a draw, or compares one."""

    file: str
    line: int
    converts: bool

    @property
    def told(self) -> str:
        """The place in words, with its source where that can be read."""
        name, source = shown_source(self.file, self.line)
        does = "turns draws into numbers" if self.converts else "compares draws"
        return f"{name}:{self.line} {does}" + (f" ({source})" if source else "")


def place_below(last: CodeType, converts: bool) -> Place | None:
    """Return the innermost line that is no tool's, above the frames of the driver.

    Parameters
    ----------
    last : code
        The frames of the code and of what called it are not searched.
    converts : bool
        Whether the line needs the value of a draw.
    """
    # From the caller outwards: the first frame that is the user's is the innermost one.
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not last:
        if is_callers(frame):
            return Place(frame.f_code.co_filename, frame.f_lineno, converts)
        frame = frame.f_back  # type: ignore[assignment]
    return None


def line_of(error: BaseException) -> str:
    """Return in words which line of the caller's code raised an error, if it does not say so."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if is_callers(frame):
            name, source = shown_source(frame.f_code.co_filename, line)
            place = f"{name}:{line}"
            return "" if place in str(error) or not source else f"; see {place} ({source})"
    return ""
