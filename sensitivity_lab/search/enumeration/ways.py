"""Whether a search beyond the memory limit would fit into this machine's memory."""

from __future__ import annotations

import os

from sensitivity_lab.checks import in_words

_TAKES = 0.8
"""This much of a machine's memory may be planned for one search; the rest is the system's."""

_UNITS = ((172_800, 86_400, "days"), (7_200, 3_600, "hours"), (120, 60, "minutes"))
"""From how many seconds on a time is told in which unit, and how many seconds that has."""


def more_memory(needed: float, seconds: float | None, measured: int) -> str:
    """Return whether this machine's memory would take a search, in words.

    Parameters
    ----------
    needed : float
        Bytes.
    seconds : float or None
        How long it takes one processor; None if that is not known.
    measured : int
        On how many datasets the query was evaluated to tell.
    """
    has = memory_of_machine()
    if has is not None and needed > _TAKES * has:
        return f"; the {in_words(has)} of this machine's memory are too few"
    this = f" (this machine has {in_words(has)})" if has else ""
    takes = ""
    if seconds is not None:
        takes = (
            f", in {in_time(seconds)} of one processor, "
            f"by a sample of {measured:,} evaluation{'s' if measured > 1 else ''}"
        )
    return f"; or with this{takes}: run=Run(memory_limit=...) of {in_words(needed)}{this}"


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
