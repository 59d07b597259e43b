"""Where a search that does not fit would: in this machine's memory, or on a disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import NamedTuple

from sensitivity_lab.checks import in_words, shown
from sensitivity_lab.search.engine import Options

_TAKES = 0.8
"""This much of a machine's memory may be planned for one search; the rest is the system's."""

_UNITS = ((172_800, 86_400, "days"), (7_200, 3_600, "hours"), (120, 60, "minutes"))
"""From how many seconds on a time is told in which unit, and how many seconds that has."""


class Needs(NamedTuple):
    """What a search needs.

    Attributes
    ----------
    memory : float
        Bytes, in memory.
    disk : float
        Bytes, with `scratch`.
    seconds : float or None
        How long it takes one processor; None if that is not known.
    measured : int
        On how many datasets the query was evaluated to tell.
    """

    memory: float
    disk: float
    seconds: float | None = None
    measured: int = 0


def ways(needs: Needs, options: Options) -> str:
    """Return which of more memory and a disk would take a search, in words."""
    found, too_small = [], ""
    has = memory_of_machine()
    if has is None or needs.memory <= _TAKES * has:
        this = f" (this machine has {in_words(has)})" if has else ""
        found.append(f"run=Run(memory_limit=...) of {in_words(needs.memory)}{this}")
    else:
        too_small = f"; the {in_words(has)} of this machine's memory are too few"
    temporary = tempfile.gettempdir()
    free = ""
    if hasattr(shutil, "disk_usage"):  # a browser has no disk
        free = f" ({shown(temporary)} has {in_words(shutil.disk_usage(temporary).free)})"
    other = "another " if options.scratch else ""
    found.append(f"{other}run=Run(scratch=...), a folder with {in_words(needs.disk)} free{free}")
    takes = ""
    if needs.seconds is not None:
        takes = (
            f", in {in_time(needs.seconds)} of one processor, "
            f"by a sample of {needs.measured:,} evaluation{'s' if needs.measured > 1 else ''}"
        )
    these = "this" if too_small else "one of these"
    return f"; or with {these}{takes}: {', or '.join(found)}{too_small}"


def memory_of_machine() -> int | None:
    """Return how many bytes of memory this machine has; None where the system does not tell."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    return found if found > 0 else None  # below 0 in a browser


def in_time(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> in_time(0.3), in_time(90), in_time(10_000)
    ('less than a second', 'about 90 seconds', 'about 3 hours')
    """
    if seconds < 1:
        return "less than a second"
    for least, unit, name in _UNITS:
        if seconds >= least:
            return f"about {seconds / unit:,.0f} {name}"
    return f"about {seconds:.0f} seconds"
