"""Distances between datasets, from how many records only one of two datasets has.

Datasets are multisets here: the order of their records does not count. The numbers of records are
ints, or arrays of them for many pairs of datasets at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = int | NDArray[np.int64]
"""How many records the one dataset has and the other has not."""

INFINITE = 2**62
"""The distance of datasets that no number of steps connects."""


def symmetric(added: Counts, removed: Counts) -> NDArray[Any]:
    """Return how many records are added or removed; replacing one counts twice.

    Examples
    --------
    >>> int(symmetric(2, 1))
    3
    """
    return np.asarray(added + removed)


def change_one(added: Counts, removed: Counts) -> NDArray[Any]:
    """Return how many records are replaced; infinite between datasets of different sizes.

    Examples
    --------
    >>> int(change_one(2, 2)), int(change_one(2, 1)) == INFINITE
    (2, True)
    """
    return np.where(np.equal(added, removed), added, INFINITE)


def add_or_remove(added: Counts, removed: Counts) -> NDArray[Any]:
    """Return how many records are added, or removed; infinite where it takes both.

    Examples
    --------
    >>> int(add_or_remove(0, 2)), int(add_or_remove(1, 1)) == INFINITE
    (2, True)
    """
    one_way = np.equal(added, 0) | np.equal(removed, 0)
    return np.where(one_way, added + removed, INFINITE)
