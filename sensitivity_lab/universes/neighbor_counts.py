"""Count the neighbors of a dataset, value by value; a count can stop past a limit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .relations import RemovedAdded

_CHEAP = 50_000
"""How many steps the counting takes in any case, before a limit can end it."""

_AT_ONCE = 1 << 12
"""So many values are Python's ints at a time."""

State = tuple[int, int, int]
"""How many records are removed, added, and how many can change places with equal ones."""


def number_of_neighbors(
    inside: ArrayLike,
    outside: ArrayLike,
    changes: Sequence[RemovedAdded],
    most: float = math.inf,
) -> tuple[int, bool]:
    """Return the number of distinct neighbors that changes lead to, and whether it is complete.

    Parameters
    ----------
    inside, outside : array of int, shape (m,)
        Per value the records in x, and those outside x.
    changes : sequence of two int
        The numbers of records removed and added.
    most : int, optional
        Beyond this number the counting stops, once it has taken some steps.

    Notes
    -----
    A coefficient of the product over the values of ``sum a**removed b**added c**swaps``, one term
    per net change of that value. After some values it is that of the neighbors that differ from x
    in these alone.
    """
    removed, added = (max(change[side] for change in changes) for side in (0, 1))
    swaps = min(removed, added)
    values = np.array([inside, outside], dtype=np.int64)
    if removed <= 1 and added <= 1:
        return _number_of_single_changes(values, changes), True
    values = values[:, (np.minimum(values, [[removed], [added]]) > 0).any(axis=0)]
    # Values of x and others in turn: so the first ones soon make neighbors, and a count can stop.
    held = values[0] > 0
    order = np.argsort(np.where(held, held.cumsum(), (~held).cumsum()), kind="stable")

    @cache
    def is_neighbor(removes: int, adds: int, same: int) -> bool:
        return any(0 <= i - removes == j - adds <= same for i, j in changes)

    def neighbors() -> int:
        return sum(number for state, number in ways.items() if is_neighbor(*state))

    ways: dict[State, int] = {(0, 0, 0): 1}
    steps = 0
    for have, more in _rows(values[:, order]):
        grown: dict[State, int] = defaultdict(int)
        terms = _terms(min(have, removed), min(more, added), have, more)
        for (gone, new, same), number in ways.items():
            for more_gone, more_new, more_same in terms:
                removes, adds, swap = gone + more_gone, new + more_new, same + more_same
                if removes <= removed and adds <= added:
                    grown[removes, adds, swap if swap < swaps else swaps] += number
        steps += len(ways) * len(terms)
        ways = grown
        if steps > _CHEAP and most < math.inf and (found := neighbors()) > most:
            return found, False
    return neighbors(), True


def _terms(removed: int, added: int, have: int, more: int) -> list[State]:
    """Return the changes of a value, at most so many of whose records are removed or added."""
    return [
        (max(-net, 0), max(net, 0), min(have - max(-net, 0), more - max(net, 0)))
        for net in range(-removed, added + 1)
    ]


def _rows(values: NDArray[np.int64]) -> Iterator[Any]:
    """Yield the columns of an array as Python's ints, without all of these at a time."""
    for first in range(0, values.shape[1], _AT_ONCE):
        yield from values[:, first : first + _AT_ONCE].T.tolist()


def _number_of_single_changes(values: NDArray[np.int64], changes: Sequence[RemovedAdded]) -> int:
    """Return the number of neighbors with at most one record removed and one added."""
    held, free = np.count_nonzero(values, axis=1).tolist()
    both = int(values.all(axis=0).sum())
    # Replaced by an equal record, x is a neighbor of itself, once.
    numbers = {(1, 0): held, (0, 1): free, (1, 1): held * free - both + min(both, 1)}
    return sum(numbers[change] for change in set(changes))
