"""One cost contract for every long loop: progress, a limit of time, a line in the log.

A call that searches sets a `watch`; every loop that may take long tells how much it has done, with
`counter`, `tracked` or `bar`, or that it goes on, with `poll`. All of them look at the watch, so no
engine has a clock of its own. The only importer of tqdm.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sensitivity_lab.errors import TooLargeError

Item = TypeVar("Item")

_LOG = logging.getLogger("sensitivity_lab")

_LOGGED = 5.0
"""Seconds after which work that shows no bar is said to go on, once."""

_CLOCK = 16
"""Of so many calls of `poll` one looks at the clock, so that it can stand in short loops."""


@dataclass
class Watch:
    """How long a call has gone on, and how long it may.

    Attributes
    ----------
    limit : float or None
        In seconds; None: as long as it takes.
    shown : bool
        Whether a bar tells of it, so that the log need not.
    """

    limit: float | None
    shown: bool
    begun: float = field(default_factory=lambda: time.monotonic())
    logged: bool = False
    polls: int = 0

    def look(self, done: str = "") -> None:
        """Raise TooLargeError if the time is up; log once that it takes long."""
        took = time.monotonic() - self.begun
        how_far = f", {done} done" if done else ""
        if self.limit is not None and took > self.limit:
            raise TooLargeError(
                f"the search took longer than run=Run(time_limit={self.limit:g}){how_far}; give it "
                "more seconds, or choose a smaller size, distance or universe"
            )
        if took > _LOGGED and not (self.shown or self.logged):
            self.logged = True
            _LOG.warning(
                "the search takes over %.0f seconds%s; progress=True shows it", took, how_far
            )


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def _is_shown(progress: bool | None) -> bool:
    """Tell whether bars are shown: by default on a terminal, and a program may have no stream."""
    return bool(getattr(sys.stderr, "isatty", bool)()) if progress is None else progress


@contextmanager
def watch(limit: float | None, progress: bool | None) -> Iterator[None]:
    """Limit the time of what is done in this context, and log that it takes long.

    Parameters
    ----------
    limit : float or None
        The most seconds; a search within another one has the time of the outer one.
    progress : bool or None
        Whether bars are shown, see `bar`.
    """
    if _WATCH.get() is not None:
        yield
        return
    token = _WATCH.set(Watch(limit, _is_shown(progress)))
    try:
        yield
    finally:
        _WATCH.reset(token)


def poll() -> None:
    """Look whether the time is up, now and then; for loops that show no progress."""
    now = _WATCH.get()
    if now is not None:
        now.polls += 1
        if now.polls % _CLOCK == 0:
            now.look()


class _Bar:
    """A progress bar that also looks at the watch."""

    def __init__(self, shown: Any, unit: str, total: int | None) -> None:
        self._shown, self._unit, self._total = shown, unit, total
        self._done = 0

    def update(self, more: int = 1) -> None:
        """Tell that so much more is done."""
        if self._shown is not None:
            self._shown.update(more)
        self._done += more
        now = _WATCH.get()
        if now is not None:
            of = "" if self._total is None else f" of {self._total:,}"
            now.look(f"{self._done:,}{of} {self._unit}")


@contextmanager
def bar(unit: str, progress: bool | None, total: int | None = None) -> Iterator[_Bar]:
    """Show a progress bar.

    Parameters
    ----------
    unit : str
        What is counted, in the plural.
    progress : bool or None
        Whether to show the bar; None shows it only on a terminal and only past a second.
    total : int, optional
        How many there are, if that is known; then the bar estimates the time that is left.

    Yields
    ------
    object
        Its `update` is to be told of every piece of work by its amount.
    """
    if not _is_shown(progress):
        yield _Bar(None, unit, total)
        return
    from tqdm import tqdm  # when it is first needed: the package's own import is short

    if sys.platform == "wasi":
        tqdm.monitor_interval = 0  # by a thread, which a browser does not start
    with tqdm(
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        delay=1 if progress is None else 0,
        leave=False,
    ) as shown:
        yield _Bar(shown, unit, total)


@contextmanager
def counter(
    unit: str, progress: bool | None, total: int | None = None
) -> Iterator[Callable[[int], object]]:
    """Show how much work is done whose length nobody knows, or only at most; see `bar`.

    Yields
    ------
    callable
        To be told of every piece of work by its amount.
    """
    with bar(unit, progress, total) as shown:
        yield shown.update


def tracked(items: Sequence[Item], *, unit: str, progress: bool | None) -> Iterator[Item]:
    """Yield the items, with a progress bar that counts them; `progress` is that of `bar`."""
    with bar(unit, progress, len(items)) as shown:
        for item in items:
            yield item
            shown.update()
