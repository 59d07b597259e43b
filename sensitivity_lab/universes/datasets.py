"""The datasets of a universe and their neighbors, listed lazily and counted in closed form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sensitivity_lab.exact.difference import Number

from .counting import number_of_size
from .finite import check_universe
from .listing import sub_multisets
from .multiplicities import Multiplicities
from .multiset import FiniteUniverse
from .neighbor_counts import number_of_neighbors
from .relations import (
    Dataset,
    Relation,
    RemovedAdded,
    as_relation,
    check_dataset,
    check_size,
)


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
