"""Relations that differ in k only, with the changes that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .interval import Space
from .relations import Relation, RemovedAdded

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """The changes of datasets of one size that the relations of a family allow.

    Attributes
    ----------
    size : int
        The size n of x.
    removed, added : ndarray of int64, shape (s,)
        The changes, by ascending distance.
    starts, stops : ndarray of int64, shape (r,)
        Which of them each relation allows: those from its start to before its stop.
    """

    size: int
    removed: Numbers
    added: Numbers
    starts: Numbers
    stops: Numbers


@dataclass(frozen=True, eq=False)
class Family:
    """Relations that differ in k only.

    Attributes
    ----------
    relations : tuple of Relation, of length r
        In the order in which they were given.
    places : tuple of int
        The position of each one among all that were given.
    sizes : sequence of int
    universe : Space
    least : int
        The fewest records of a neighbor.
    """

    relations: tuple[Relation, ...]
    places: tuple[int, ...]
    sizes: Sequence[int]
    universe: Space
    least: int

    @cached_property
    def steps(self) -> tuple[Steps, ...]:
        """The changes of each size of x that has some."""
        return tuple(_steps(self.relations, self.sizes, self.universe, self.least))


def families_of(
    relations: Sequence[Relation], sizes: Sequence[int], universe: Space, least: int = 0
) -> tuple[Family, ...]:
    """Return relations by family, with their changes.

    A size that has no neighbors is left out.

    Raises
    ------
    InputError
        If a relation is not feasible: no size has neighbors, or at exactly k some size has none.

    Notes
    -----
    At most k allows all changes at distances up to k, so the relations of a family share one list,
    as long as that of the largest distance.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> (family,) = families_of(
    ...     [sl.Bounded(3), sl.Bounded(1)], [4], sl.Universe.from_dataset(range(9))
    ... )
    >>> family.steps[0].removed.tolist(), family.steps[0].stops.tolist()
    ([1, 2, 3], [3, 1])
    """
    for relation in relations:
        relation.check_feasible(sizes, universe, least)
    together: dict[Relation, list[int]] = {}
    for place, relation in enumerate(relations):
        together.setdefault(relation.at(1), []).append(place)
    return tuple(
        Family(tuple(relations[place] for place in places), tuple(places), sizes, universe, least)
        for places in together.values()
    )


def _steps(
    relations: Sequence[Relation], sizes: Sequence[int], universe: Space, least: int
) -> Iterator[Steps]:
    """Yield the changes of each size that has some."""
    ks = np.array([relation.k for relation in relations], dtype=np.int64)
    exactly = relations[0].exactly
    distances = sorted({*ks.tolist()}) if exactly else range(1, int(ks.max()) + 1)
    for size in sizes:
        changes: list[RemovedAdded] = []
        ends = [0]
        for k in distances:
            changes.extend(relations[0].changes_at(k, size, universe, least))
            ends.append(len(changes))
        if not changes:
            continue
        removed, added = np.array(changes, dtype=np.int64).reshape(-1, 2).T
        last = np.searchsorted(np.array(distances), ks)
        all_ends = np.array(ends, dtype=np.int64)
        starts = all_ends[last] if exactly else np.zeros_like(ks)
        yield Steps(size, removed, added, starts, all_ends[last + 1])
