"""What a neighbor relation is.

Every relation is one picture: ``x = C + A`` and ``y = C + B``, a shared core C plus the records
that only x and only y have. Equal values are different records. A relation is the set of *changes*
``(len(A), len(B))``, records removed from x and records added to it, that it allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_flag, check_whole
from sensitivity_lab.errors import InputError

from .interval import Space

RemovedAdded = tuple[int, int]
"""Numbers of records (removed from x, added to x)."""

Step = Literal["replace", "add or remove"]
"""What happens to one record in a step from a dataset to another one."""


@dataclass(frozen=True)
class Relation(ABC):
    """A neighbor relation at a Hamming distance.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1.
    exactly : bool, default False
        Whether neighbors are at distance exactly `k` instead of at most `k`.
    """

    k: int = 1
    exactly: bool = False

    name: ClassVar[str]

    keeps_size: ClassVar[bool] = False
    """Whether x and y have the same number of records, so that it can be public."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_whole("k", self.k, "a Hamming distance, at least 1"))
        object.__setattr__(self, "exactly", check_flag("exactly", self.exactly))

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name

    @property
    def step(self) -> Step | None:
        """What leads from a dataset to the nearest others; None if no distance counts such steps.

        Smooth sensitivity damps by that distance, so it has a meaning for relations that declare
        it: datasets at most k steps apart are their neighbors at distance k.
        """
        return None

    @property
    def exchanges(self) -> bool:
        """Whether some change removes records and adds others at once."""
        return any(
            removed and added
            for k in range(1, self.k + 1)
            for removed, added in self._changes_at(k)
        )

    @property
    def growth(self) -> int:
        """How many more records than x a dataset y at distance k can have."""
        return max(0, *(added - removed for removed, added in self._changes_at(self.k)))

    @property
    def meaning(self) -> str:
        """Whether k is the distance "at most" or "exactly"."""
        return "exactly" if self.exactly else "at most"

    def at(self, k: int) -> Self:
        """Return the same relation at another distance."""
        return replace(self, k=k)

    def changes(self, size: int, universe: Space) -> tuple[RemovedAdded, ...]:
        """Return the changes that lead from a dataset of this size to a neighbor.

        Raises
        ------
        InputError
            If the distance is not feasible; the message says the largest feasible one.
        """
        self.check_feasible(size, universe)
        distances = (self.k,) if self.exactly else range(1, self.k + 1)
        return tuple(change for k in distances for change in self.changes_at(k, size, universe))

    def check_feasible(self, size: int, universe: Space) -> None:
        """Raise InputError if no dataset of this size has neighbors at the distance."""
        most = self._largest(size, universe)
        if self.k > most:
            raise InputError(
                f"{self} is not feasible for datasets of size {size} in "
                f"{_with_article(universe.extent)}: {self._limits}; "
                + self._advice(most, size, universe)
            )

    def changes_at(self, k: int, size: int, universe: Space) -> Iterable[RemovedAdded]:
        """Yield the changes of datasets of this size at distance exactly k, whatever its own."""
        return (
            (removed, added)
            for removed, added in self._changes_at(k)
            if removed <= size and added <= universe.size - size and size - removed + added > 0
        )

    @property
    @abstractmethod
    def _limits(self) -> str:
        """The feasibility conditions, in words."""

    @abstractmethod
    def _largest(self, size: int, universe: Space) -> int | float:
        """Return the largest feasible distance."""

    @abstractmethod
    def _changes_at(self, k: int) -> Iterable[RemovedAdded]:
        """Yield the changes at distance exactly k."""

    def _advice(self, most: int | float, size: int, universe: Space) -> str:
        if most < 1:
            advice = "choose another size or a larger universe"
            if size == universe.size:
                advice = (
                    "choose a smaller size, or take as the universe what a record can be, "
                    "Universe.from_domain(values)"
                )
            return f"no distance is feasible; {advice}"
        return f"the largest feasible k is {most}"

    def __str__(self) -> str:
        return f"{self.family}, {self.meaning} {self.k}"


def _with_article(extent: str) -> str:
    return f"an {extent}" if extent.startswith("interval") else f"a {extent}"


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
        In the order in which they were asked for.
    places : tuple of int
        Where each one is among all that were asked for.
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
