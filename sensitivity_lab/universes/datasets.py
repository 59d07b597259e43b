"""The datasets of a universe and their neighbors, listed lazily and counted in closed form.

Neighbors are counted value by value; a count can stop past a limit.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensitivity_lab.exact.difference import Number

from .counting import number_of_size
from .listing import sub_multisets
from .relations import (
    Dataset,
    Multiplicities,
    Relation,
    RemovedAdded,
    as_relation,
    check_dataset,
    check_size,
)
from .universe import FiniteUniverse, check_universe


def datasets(universe: FiniteUniverse, size: int) -> Iterator[Dataset]:
    """Yield every dataset of a size, each distinct multiset once.

    Parameters
    ----------
    universe : FiniteUniverse
        The records that datasets are drawn from.
    size : int
        The number of records, up to the universe's size.

    Yields
    ------
    tuple of numbers, shape (size,)
        The records, ascending. There are ``count_datasets(universe, size)`` datasets.

    Raises
    ------
    InputError
        If `size` is not feasible. The call itself raises it, not the first dataset.
    TooLargeError
        If the universe has more than 10 million records that a dataset could hold.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> list(datasets(sl.Universe.from_dataset([1, 2, 2, 3]), 2))
    [(1, 2), (1, 3), (2, 2), (2, 3)]
    """
    universe = check_universe(universe)
    size = check_size(size, universe)
    return (
        tuple(universe.values[place] for place in places)
        for places in sub_multisets(universe.multiplicities(size).tolist(), size)
    )


def iter_datasets(universe: FiniteUniverse, size: int) -> Iterator[Multiplicities]:
    """Yield every dataset of a size, by multiplicities, each distinct one once."""
    length = len(universe.values)
    for places in sub_multisets(universe.multiplicities(size).tolist(), size):
        yield np.bincount(places, minlength=length).astype(np.int64)


def count_datasets(universe: FiniteUniverse, size: int) -> int:
    """Return the number of distinct datasets of a size, in closed form.

    Parameters
    ----------
    universe, size
        As for `datasets`.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If `size` is not feasible.

    Notes
    -----
    The number is the coefficient of z**size in the product of ``1 + z + ... + z**count`` over the m
    values, which is that of ``(1 - z**(c+1))**g`` over the multiplicities c, each of g values, by
    ``(1 - z)**m``.
    For each c that takes at most ``size * min(g, size / (c + 1))`` products of integers.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> count_datasets(sl.Universe.from_dataset(range(24)), 12)
    2704156
    >>> count_datasets(sl.Universe.from_domain([1, 2, 3]), 4)
    15
    """
    universe = check_universe(universe)
    size = check_size(size, universe)
    return number_of_size(universe.multiplicities(size).tolist(), size)


def neighboring_datasets(
    universe: FiniteUniverse, dataset: Iterable[Number], neighbors: Relation | str
) -> Iterator[Dataset]:
    """Yield every neighbor of a dataset, each distinct multiset once.

    Parameters
    ----------
    universe : FiniteUniverse
        The records that datasets are drawn from.
    dataset : iterable of numbers, shape (n,)
        x, a sub-multiset of the universe, in any order.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        The neighbor relation; a name means a distance of at most 1.

    Yields
    ------
    tuple of numbers
        The records of a neighbor, ascending. There are ``count_neighbors(universe, x, neighbors)``
        neighbors. If a record can be replaced by another one of equal value, x is its own neighbor.

    Raises
    ------
    InputError
        If x is not a dataset of the universe or the distance is not feasible. The call itself
        raises it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 3])
    >>> list(neighboring_datasets(universe, [1, 2], sl.Unbounded(1)))
    [(2,), (1,), (1, 2, 2), (1, 2, 3)]
    """
    universe = check_universe(universe)
    return map(universe.dataset, iter_neighbors(*_changed(universe, dataset, neighbors)))


def iter_neighbors(
    x: Multiplicities, universe: FiniteUniverse, changes: Sequence[RemovedAdded]
) -> Iterator[Multiplicities]:
    """Yield the neighbors that changes lead to, by multiplicities, each distinct one once."""
    inside, outside = (part.tolist() for part in inside_and_outside(x, universe, changes))
    for removed, added in _net_changes(changes):
        slacks = {total - removed for total, more in changes if total - removed == more - added}
        for places in sub_multisets(inside, removed):
            gone = Counter(places)
            kept = [have - gone[place] for place, have in enumerate(inside)]
            # What is removed is not added back: that would be a smaller net change.
            free = [0 if place in gone else most for place, most in enumerate(outside)]
            for new in map(Counter, sub_multisets(free, added)):
                # Further records can change places with equal ones, as far as both sides have them.
                swaps = sum(
                    min(have, most - new[place])
                    for place, (have, most) in enumerate(zip(kept, outside, strict=True))
                )
                if any(slack <= swaps for slack in slacks):
                    y = [have + new[place] for place, have in enumerate(kept)]
                    yield np.array(y, dtype=np.int64)


def count_neighbors(
    universe: FiniteUniverse, dataset: Iterable[Number], neighbors: Relation | str
) -> int:
    """Return the number of distinct neighbors of a dataset, without listing them.

    Parameters
    ----------
    universe, dataset, neighbors
        As for `neighboring_datasets`.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If x is not a dataset of the universe or the distance is not feasible.

    Notes
    -----
    The number is a coefficient of the product over the values of ``sum a**removed b**added
    c**swaps``, with one term per net change of that value. For a fixed k, the cost is polynomial in
    the number of values.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset(range(100))
    >>> count_neighbors(universe, range(50), sl.Bounded(2))
    1503125
    """
    asked = _changed(check_universe(universe), dataset, neighbors)
    return number_of_neighbors(*inside_and_outside(*asked), asked[-1])[0]


def _changed(
    universe: FiniteUniverse, dataset: Iterable[Number], neighbors: Relation | str
) -> tuple[Multiplicities, FiniteUniverse, Sequence[RemovedAdded]]:
    """Return a dataset by multiplicities, its universe and the changes that lead to neighbors."""
    x = check_dataset(dataset, universe)
    return x, universe, as_relation(neighbors).changes(int(x.sum()), universe)


def inside_and_outside(
    x: Multiplicities, universe: FiniteUniverse, changes: Sequence[RemovedAdded]
) -> tuple[Multiplicities, Multiplicities]:
    """Return per value the records in x, and those outside x that a change can add."""
    most = int(x.sum()) + max(added for _, added in changes)
    return x, universe.multiplicities(most) - x


def _net_changes(changes: Sequence[RemovedAdded]) -> list[RemovedAdded]:
    """Return every change less what it removes and adds back, in order, each once."""
    return list(
        dict.fromkeys(
            (removed - same, added - same)
            for removed, added in changes
            for same in range(min(removed, added) + 1)
        )
    )


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
