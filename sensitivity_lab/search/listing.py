"""All datasets of a block of the lattice, by their multiplicities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .counting import Numbers


def listed_block(
    numbers: Numbers, counts: Sequence[int], values: int, size: int
) -> NDArray[np.int64]:
    """List a block (values, size) of a lattice by multiplicities.

    Returns
    -------
    ndarray of int64, shape (datasets, values)
        In the lattice's order.

    Examples
    --------
    >>> listed_block(Numbers([1, 2], 0, 3), [1, 2], 2, 2).tolist()
    [[1, 1], [0, 2]]
    """
    number = numbers.of(values, size)
    table = np.zeros((number, values), dtype=np.int64)
    if not number:
        return table
    # From the largest value down, every partial dataset has a child per number of copies of the
    # value; `left` is how many records each partial dataset still needs, in order.
    left = np.array([size])
    steps = []
    for value in range(values - 1, -1, -1):
        least = np.maximum(left - numbers.below[value], 0)
        choices = np.minimum(counts[value], left) - least + 1
        parent = np.repeat(np.arange(len(left)), choices)
        first = np.cumsum(choices) - choices - least
        copies = np.arange(len(parent)) - first[parent]  # least, least + 1, ... per parent
        left = left[parent] - copies
        steps.append((copies, parent))
    # From the smallest value up, each dataset is followed back from child to parent.
    row = np.arange(number)
    for value, (copies, parent) in enumerate(reversed(steps)):
        table[:, value] = copies[row]
        row = parent[row]
    return table
