"""Values as text in messages and reprs, cut where they are long."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any

from sensitivity_lab.checks import shown

_CHARACTERS = 300
"""A value is shown with so many characters."""

_MOST = 20
"""So many values of a collection are shown."""


def cut(text: str) -> str:
    """Return a text, or its beginning and its length.

    Examples
    --------
    >>> cut("a" * 10**6)[-40:]
    'aaaaaaaaaaa... (1,000,000 characters)'
    """
    if len(text) <= _CHARACTERS:
        return text
    return f"{text[:_CHARACTERS]}... ({len(text):,} characters)"


def names(values: Collection[Any]) -> str:
    """Return values one after the other, or the first of many and how many there are.

    Examples
    --------
    >>> names("abc"), names([]), names(range(10**6))[-36:]
    ("'a', 'b', 'c'", 'none', '16, 17, 18, 19, ... 1,000,000 in all')
    """
    if len(values) > _MOST:
        return f"{', '.join(map(shown, islice(values, _MOST)))}, ... {len(values):,} in all"
    return ", ".join(map(shown, values)) or "none"
