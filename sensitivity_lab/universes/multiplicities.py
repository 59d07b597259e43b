"""Datasets by multiplicities: how often each distinct value of a universe occurs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Multiplicities = NDArray[np.int64]
"""How often each distinct value of the universe occurs in a dataset, shape (m,)."""


def smallest(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the first so many of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> smallest(np.array([2, 0, 3]), 4).tolist()
    [2, 0, 2]
    """
    before = np.cumsum(counts) - counts
    taken: Multiplicities = np.clip(number - before, 0, counts)
    return taken


def largest(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the last so many of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> largest(np.array([2, 0, 3]), 4).tolist()
    [1, 0, 3]
    """
    return smallest(counts[::-1], number)[::-1]
