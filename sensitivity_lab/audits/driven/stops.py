"""What ends a run of driven code, whatever the code catches.

The driver stops code by raising an exception in it. None of these is an `Exception`, so that an
``except Exception`` in the code does not catch them. A bare ``except:``, or a ``return`` in a
``finally:``, catches everything. So each stop is noted when it is made, and `watched` raises the
first one again when the code has ended: nothing that the code released after a stop counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_runs: list[list[Stop]] = []
"""The stops of the runs that are watched, from the outermost on."""


class Stop(BaseException):
    """The driver stops a run."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
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
    except (Exception, Stop):
        if not stops:
            raise
    finally:
        _runs.pop()
    if stops:
        raise stops[0] from None
