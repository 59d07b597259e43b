"""Hashable keys of records and answers, which are equal exactly if the records or answers are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

_NAN = ("not a number",)
"""The key of NaN, which does not equal itself."""


def key_of(item: Any) -> Hashable:
    """Return the key of an item; equal items have equal keys, and so have any two NaN."""
    if isinstance(item, Mapping):
        return frozenset((key_of(name), key_of(value)) for name, value in item.items())
    if isinstance(item, list | tuple | np.ndarray):
        return tuple(key_of(entry) for entry in item)
    return item if item == item else _NAN


def multiset(item: Sequence[Any]) -> Counter[Hashable]:
    """Return how often each entry occurs in a sequence."""
    try:
        counted = Counter(item)
    except TypeError:  # entries that are lists
        return Counter(map(key_of, item))
    merged: Counter[Hashable] = Counter()
    for entry, number in counted.items():
        merged[key_of(entry)] += number
    return merged
