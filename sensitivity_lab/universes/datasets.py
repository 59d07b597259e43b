"""The datasets of a universe and their neighbors, listed lazily and counted in closed form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import comb

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Number

from .finite import check_universe
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
    multiplicities_of,
)

_MOST_LISTED = 10_000_000
"""The most records of a dataset that is listed."""


def datasets(universe: FiniteUniverse, size: int) -> Iterator[Dataset]:
    """Yield every dataset of a size, each distinct multiset once.

    Parameters
    ----------
    universe : FiniteUniverse
        What datasets are drawn from.
    size : int
        The number of records, from 1 to the universe's size.

    Yields
    ------
    tuple of numbers, shape (size,)
        The records, ascending. ``count_datasets(universe, size)`` of them.

    Raises
    ------
    InputError
        If `size` is not feasible; raised at the call, not at the first dataset.
    TooLargeError
        If the universe has more than 10 million records, as far as a dataset can hold them.

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
        for places in _sub_multisets(universe.multiplicities(size).tolist(), size)
    )


def iter_datasets(universe: FiniteUniverse, size: int) -> Iterator[Multiplicities]:
    """Yield every dataset of a size, by multiplicities, each distinct one once."""
    length = len(universe.values)
    for places in _sub_multisets(universe.multiplicities(size).tolist(), size):
        yield np.bincount(places, minlength=length).astype(np.int64)


def count_datasets(universe: FiniteUniverse, size: int) -> int:
    """Return the number of distinct datasets of a size, in closed form.

    Parameters
    ----------
    universe : FiniteUniverse
        What datasets are drawn from.
    size : int
        The number of records, from 1 to the universe's size.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If `size` is not feasible.

    Notes
    -----
    The coefficient of z**size in the product of ``1 + z + ... + z**count`` over the m values, which
    is that of ``(1 - z**(c+1))**g`` over the multiplicities c, each of g values, by ``(1 - z)**m``.
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
    return _count_sub_multisets(universe.multiplicities(size).tolist(), size)


def neighboring_datasets(
    universe: FiniteUniverse, dataset: Iterable[Number], neighbors: Relation | str
) -> Iterator[Dataset]:
    """Yield every neighbor of a dataset, each distinct multiset once.

    Parameters
    ----------
    universe : FiniteUniverse
        What datasets are drawn from.
    dataset : iterable of numbers, shape (n,)
        x, a sub-multiset of the universe, in any order.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors; a name means at a distance of at most 1.

    Yields
    ------
    tuple of numbers
        The records of a neighbor, ascending. ``count_neighbors(universe, x, neighbors)`` of them.
        Equal values are different records, so x itself is among them where a record of x can be
        replaced by an equal one.

    Raises
    ------
    InputError
        If x is not a dataset of the universe or the distance is not feasible; raised at the call.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 3])
    >>> list(neighboring_datasets(universe, [1, 2], sl.Unbounded(1)))
    [(2,), (1,), (1, 2, 2), (1, 2, 3)]
    """
    universe = check_universe(universe)
    x = check_dataset(dataset, universe)
    changes = as_relation(neighbors).changes(len(x), universe)
    data = multiplicities_of(x, universe)
    return map(universe.dataset, iter_neighbors(data, universe, changes))


def iter_neighbors(
    x: Multiplicities, universe: FiniteUniverse, changes: Sequence[RemovedAdded]
) -> Iterator[Multiplicities]:
    """Yield the neighbors that changes lead to, by multiplicities, each distinct one once."""
    inside, outside = inside_and_outside(x, universe, changes)
    for removed, added in _net_changes(changes):
        slacks = {total - removed for total, more in changes if total - removed == more - added}
        for places in _sub_multisets(inside, removed):
            gone = Counter(places)
            kept = [have - gone[place] for place, have in enumerate(inside)]
            # What is removed is not added back: that would be a smaller net change.
            free = [0 if place in gone else most for place, most in enumerate(outside)]
            for new in map(Counter, _sub_multisets(free, added)):
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
    universe : FiniteUniverse
        What datasets are drawn from.
    dataset : iterable of numbers, shape (n,)
        x, a sub-multiset of the universe, in any order.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors; a name means at a distance of at most 1.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If x is not a dataset of the universe or the distance is not feasible.

    Notes
    -----
    A coefficient of the product over the values of ``sum a**removed b**added c**swaps``, one term
    per net change of that value; polynomial in the number of values for a fixed k.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset(range(100))
    >>> count_neighbors(universe, range(50), sl.Bounded(2))
    1503125
    """
    universe = check_universe(universe)
    x = check_dataset(dataset, universe)
    relation = as_relation(neighbors)
    changes = relation.changes(len(x), universe)
    inside, outside = inside_and_outside(multiplicities_of(x, universe), universe, changes)
    return number_of_neighbors(inside, outside, changes)[0]


def inside_and_outside(
    x: Multiplicities, universe: FiniteUniverse, changes: Sequence[RemovedAdded]
) -> tuple[list[int], list[int]]:
    """Return per value the records in x, and those outside x that a change can add."""
    inside = x.tolist()
    most = int(x.sum()) + max(added for _, added in changes)
    limits = universe.multiplicities(most).tolist()
    return inside, [limit - have for limit, have in zip(limits, inside, strict=True)]


def _net_changes(changes: Sequence[RemovedAdded]) -> list[RemovedAdded]:
    """Return every change less what it removes and adds back, in order, each once."""
    return list(
        dict.fromkeys(
            (removed - same, added - same)
            for removed, added in changes
            for same in range(min(removed, added) + 1)
        )
    )


def _sub_multisets(limits: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the multisets of `size` records within `limits`, as ascending positions of values."""
    places = [place for place, limit in enumerate(limits) if limit]
    most = [limits[place] for place in places]
    if size > sum(most):
        return
    if size > _MOST_LISTED:
        raise TooLargeError(
            f"datasets of {size:,} records are too large to list, more than {_MOST_LISTED:,}; take "
            "a smaller size"
        )
    last = [len(most) - 1 - place for place in _first(most[::-1], size)][::-1]
    chosen = _first(most, size)
    while True:
        yield [places[place] for place in chosen]
        # The last record that can still move to a larger value moves there; the others follow it.
        moving = size - 1
        while moving >= 0 and chosen[moving] == last[moving]:
            moving -= 1
        if moving < 0:
            return
        chosen[moving:] = _first(most, size - moving, chosen[moving] + 1)


def _first(limits: Sequence[int], size: int, place: int = 0) -> list[int]:
    """Return the first multiset of `size` records within `limits`, from a position on.

    This is `smallest` by positions. It runs for every dataset that is listed, so its time grows
    with the number of records only, however many values the universe has.
    """
    chosen: list[int] = []
    while len(chosen) < size:
        chosen += [place] * min(limits[place], size - len(chosen))
        place += 1
    return chosen


def _count_sub_multisets(limits: Sequence[int], size: int) -> int:
    """Return the number of multisets of `size` records within `limits`."""
    groups = Counter(min(limit, size) for limit in limits)
    if set(groups) == {1}:
        return comb(len(limits), size)
    # The product of (1 - z**(limit+1))**values over the groups: its coefficients by exponent.
    product = {0: 1}
    for limit, values in groups.items():
        grown: dict[int, int] = {}
        for over in range(min(values, size // (limit + 1)) + 1):
            factor = (-1) ** over * comb(values, over)
            for exponent, number in product.items():
                total = exponent + over * (limit + 1)
                if total <= size:
                    grown[total] = grown.get(total, 0) + factor * number
        product = grown
    # And 1 / (1 - z)**m is the sum of comb(i + m - 1, i) z**i.
    m = len(limits)
    return sum(
        number * comb(size - exponent + m - 1, m - 1) for exponent, number in product.items()
    )
