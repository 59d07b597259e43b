"""Values as text in messages and reprs, cut where they are long."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any

from sensitivity_lab.checks import shown

_CHARACTERS = 300
"""The largest number of characters that are shown of a value."""

_MOST = 20
"""The largest number of values that are shown of a collection."""


def cut(text: str) -> str:
    """Return a text, or the beginning and the length of a long one.

    Examples
    --------
    >>> cut("a" * 10**6)[-40:]
    'aaaaaaaaaaa... (1,000,000 characters)'
    """
    if len(text) <= _CHARACTERS:
        return text
    return f"{text[:_CHARACTERS]}... ({len(text):,} characters)"


def names(values: Collection[Any]) -> str:
    """Return a list of values as text; of many values, the first ones and their number.

    Examples
    --------
    >>> names("abc"), names([]), names(range(10**6))[-36:]
    ("'a', 'b', 'c'", 'none', '16, 17, 18, 19, ... 1,000,000 in all')
    """
    if len(values) > _MOST:
        return f"{', '.join(map(shown, islice(values, _MOST)))}, ... {len(values):,} in all"
    return ", ".join(map(shown, values)) or "none"
