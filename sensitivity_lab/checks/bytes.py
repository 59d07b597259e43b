"""Numbers of bytes in words, for messages."""

from __future__ import annotations

import math

MORE_MEMORY = "a larger run=Run(memory_limit=...)"
"""What to ask for, where the limit is what a search lacks."""

_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def in_words(number: float, digits: int = 1) -> str:
    """Return a number of bytes in words.

    Parameters
    ----------
    number : float
        Of bytes, at least 0.
    digits : int, default 1
        How many digits follow the point.

    Examples
    --------
    >>> in_words(10 * 2**30), in_words(100), in_words(2**20, digits=3)
    ('10.0 GiB', '100 bytes', '1.000 MiB')
    """
    if number >= 2**50:
        return f"{number / 2**30:.{digits - 1}e} GiB" if number < math.inf else _ENDLESS
    for unit, size in _UNITS:
        if number >= size:
            return f"{number / size:,.{digits}f} {unit}"
    return f"{number:.0f} bytes"


_ENDLESS = "more than 1e300 bytes"


def told_apart(needed: float, room: float) -> tuple[str, str]:
    """Return two numbers of bytes in words, with as many digits as tell them apart.

    Examples
    --------
    >>> told_apart(2**30 + 2**21, 2**30), told_apart(2**20 + 1, 2**20)
    (('1.002 GiB', '1.000 GiB'), ('1048577 bytes', '1048576 bytes'))
    """
    for digits in (1, 2, 3):
        words = in_words(needed, digits), in_words(room, digits)
        if words[0] != words[1]:
            return words
    return f"{needed:.0f} bytes", f"{room:.0f} bytes"


def exceeding(needed: float, memory_limit: float) -> str:
    """Return what needs more memory than there may be, and the limit, in words.

    Examples
    --------
    >>> exceeding(471 * 2**20, 2**24)
    '471.0 MiB, more than the memory limit of 16.0 MiB'
    """
    need, limit = told_apart(needed, memory_limit)
    return f"{need}, more than the memory limit of {limit}"
