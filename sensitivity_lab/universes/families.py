"""Relations that differ in k only, with the changes that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    steps : tuple of Steps
        One for each size of x.
    """

    relations: tuple[Relation, ...]
    places: tuple[int, ...]
    steps: tuple[Steps, ...]


def families_of(
    relations: Sequence[Relation], sizes: Sequence[int], universe: Space
) -> tuple[Family, ...]:
    """Return relations by family, with their changes.

    Raises
    ------
    InputError
        If a relation is not feasible for a size.

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
        for size in sizes:
            relation.check_feasible(size, universe)
    together: dict[Relation, list[int]] = {}
    for place, relation in enumerate(relations):
        together.setdefault(relation.at(1), []).append(place)
    return tuple(
        _family([relations[place] for place in places], places, sizes, universe)
        for places in together.values()
    )


def _family(
    relations: Sequence[Relation], places: Iterable[int], sizes: Sequence[int], universe: Space
) -> Family:
    ks = np.array([relation.k for relation in relations], dtype=np.int64)
    exactly = relations[0].exactly
    distances = sorted({*ks.tolist()}) if exactly else range(1, int(ks.max()) + 1)
    steps = []
    for size in sizes:
        changes: list[RemovedAdded] = []
        ends = [0]
        for k in distances:
            changes.extend(relations[0].changes_at(k, size, universe))
            ends.append(len(changes))
        removed, added = np.array(changes, dtype=np.int64).reshape(-1, 2).T
        last = np.searchsorted(np.array(distances), ks)
        all_ends = np.array(ends, dtype=np.int64)
        starts = all_ends[last] if exactly else np.zeros_like(ks)
        steps.append(Steps(size, removed, added, starts, all_ends[last + 1]))
    return Family(tuple(relations), tuple(places), tuple(steps))
