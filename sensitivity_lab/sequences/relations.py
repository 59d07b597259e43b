"""Which sequences are neighbors: entries are inserted and deleted, or replaced."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sensitivity_lab.checks import check_whole
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.lists import common_places

from .universe import Codes, SequenceUniverse

Places = tuple[int, ...]
"""Where entries of a sequence stand, ascending from 0."""


@dataclass(frozen=True)
class Edit:
    """A way to make y of x: leave out entries of x, and put others between the ones that stay.

    Attributes
    ----------
    deleted : tuple of int
        The places in x of the entries that are left out.
    inserted : tuple of int
        The places in y of the entries that are put in, whose values are free.
    size_x, size_y : int
        The numbers of entries.
    """

    deleted: Places
    inserted: Places
    size_x: int
    size_y: int

    def apply(self, universe: SequenceUniverse, x: Codes) -> Codes:
        """Return all y of some x, shape (len(x), v**len(inserted))."""
        entries = universe._digits(self.size_x, x)
        powers = universe._powers(self.size_y)
        stay = [place for place in range(self.size_x) if place not in self.deleted]
        free = [place for place in range(self.size_y) if place not in self.inserted]
        kept = (entries[:, stay] * powers[free]).sum(axis=1)
        return np.asarray(kept[:, None] + self._offsets(universe, powers)[None, :])

    def ways(self, universe: SequenceUniverse) -> int:
        """How many y an x has."""
        return int(len(universe.values) ** len(self.inserted))

    def _offsets(self, universe: SequenceUniverse, powers: Codes) -> Codes:
        """What the inserted entries add to the number of a sequence, for all their values."""
        every = np.arange(self.ways(universe), dtype=np.int64)
        values = universe._digits(len(self.inserted), every)
        return np.asarray((values * powers[list(self.inserted)]).sum(axis=1))


@dataclass(frozen=True)
class Shape:
    """How many entries edits of one kind leave out of x and put in, and how many y has then."""

    deleted: int
    inserted: int
    size_y: int


@dataclass(frozen=True)
class InsertDelete:
    """Two sequences of which one becomes the other by at most k insertions and deletions.

    The other entries keep their order, wherever the new ones stand. For k = 1 one entry is added or
    removed: one visit of a place, or one event (event-level privacy). Where a person has at most m
    of the entries, k = m hides all of them (user-level privacy). Replacing an entry is a deletion
    and an insertion: distance 2.

    Parameters
    ----------
    k : int, default 1
        How many entries are inserted and deleted at most, at least 1; at most twice the length.

    Raises
    ------
    InputError
        If k is no such number.

    References
    ----------
    Dwork, Naor, Pitassi, Rothblum: Differential Privacy under Continual Observation. STOC 2010
    (event-level and user-level privacy). OpenDP: ``InsertDeleteDistance``.

    Examples
    --------
    >>> print(InsertDelete())
    at most 1 entry inserted or deleted
    """

    k: int = 1

    def __post_init__(self) -> None:
        """Check the parameter."""
        meaning = "how many entries are inserted or deleted, at least 1"
        object.__setattr__(self, "k", check_whole("k", self.k, meaning))

    def __str__(self) -> str:
        return f"at most {self.k} entr{'y' if self.k == 1 else 'ies'} inserted or deleted"

    def _check(self, universe: SequenceUniverse) -> None:
        """Raise InputError if no sequences of a universe can be so far apart."""
        if self.k == 1 and universe.shortest == universe.longest:
            raise InputError(
                f"all sequences have {universe.longest} entries, so one insertion or deletion "
                "leads to no other one; use a smaller shortest, k=2, or Hamming()"
            )
        if self.k > 2 * universe.longest:
            raise InputError(
                f"k must be at most {2 * universe.longest}, twice the largest number of entries, "
                f"got {self.k}"
            )

    def _shapes(self, universe: SequenceUniverse, size: int, *, both_ways: bool) -> Iterator[Shape]:
        """Yield how many entries change from a size to others; to longer ones unless both ways.

        Of two sizes, as many entries change as k allows: fewer are among these, since an entry can
        be deleted and inserted again.
        """
        for other in universe.sizes:
            longer = other - size
            if abs(longer) > self.k or (longer < 0 and not both_ways):
                continue
            deleted = min((self.k - longer) // 2, size)
            if deleted or longer:
                yield Shape(deleted, deleted + longer, other)

    def _edits(self, shape: Shape, size: int) -> Iterator[Edit]:
        """Yield the ways to choose the entries."""
        for out in combinations(range(size), shape.deleted):
            for into in combinations(range(shape.size_y), shape.inserted):
                yield Edit(out, into, size, shape.size_y)

    def _choices(self, shape: Shape, size: int) -> int:
        """How many `_edits` there are."""
        return math.comb(size, shape.deleted) * math.comb(shape.size_y, shape.inserted)

    def _changed(self, x: tuple[object, ...], y: tuple[object, ...]) -> tuple[Places, Places]:
        """Return the fewest places of x and of y without which the two are the same."""
        stay_x, stay_y = map(set, common_places(x, y))
        deleted = tuple(place for place in range(len(x)) if place not in stay_x)
        return deleted, tuple(place for place in range(len(y)) if place not in stay_y)

    def _relates(self, x: tuple[object, ...], y: tuple[object, ...]) -> bool:
        """Tell whether two sequences are neighbors."""
        return sum(map(len, self._changed(x, y))) <= self.k


@dataclass(frozen=True)
class Hamming:
    """Two sequences of the same number of entries that differ in at most k places.

    For k = 1 one entry is replaced by any other: one reading of a time series whose length is
    public. With k = length all of a series is hidden.

    Parameters
    ----------
    k : int, default 1
        How many entries are replaced at most, at least 1; at most the largest number of entries.

    Raises
    ------
    InputError
        If k is no such number.

    References
    ----------
    OpenDP: ``HammingDistance``, for data whose order counts; ``ChangeOneDistance`` for other data.

    Examples
    --------
    >>> print(Hamming(2))
    at most 2 entries replaced
    """

    k: int = 1

    def __post_init__(self) -> None:
        """Check the parameter."""
        meaning = "how many entries are replaced, at least 1"
        object.__setattr__(self, "k", check_whole("k", self.k, meaning))

    def __str__(self) -> str:
        return f"at most {self.k} entr{'y' if self.k == 1 else 'ies'} replaced"

    def _check(self, universe: SequenceUniverse) -> None:
        """Raise InputError if no sequences of a universe can be so far apart."""
        if self.k > universe.longest:
            raise InputError(
                f"k must be at most {universe.longest}, the largest number of entries, got {self.k}"
            )

    def _shapes(
        self,
        universe: SequenceUniverse,
        size: int,
        *,
        both_ways: bool,
    ) -> Iterator[Shape]:
        """Yield how many entries change; none of the empty sequence."""
        changed = min(self.k, size)
        if changed:
            yield Shape(changed, changed, size)

    def _edits(self, shape: Shape, size: int) -> Iterator[Edit]:
        """Yield the ways to choose the entries."""
        for places in combinations(range(size), shape.deleted):
            yield Edit(places, places, size, size)

    def _choices(self, shape: Shape, size: int) -> int:
        """How many `_edits` there are."""
        return math.comb(size, shape.deleted)

    def _changed(self, x: tuple[object, ...], y: tuple[object, ...]) -> tuple[Places, Places]:
        """Return where two sequences differ, twice."""
        places = tuple(place for place, (a, b) in enumerate(zip(x, y, strict=False)) if a != b)
        return places, places

    def _relates(self, x: tuple[object, ...], y: tuple[object, ...]) -> bool:
        """Tell whether two sequences are neighbors."""
        return len(x) == len(y) and len(self._changed(x, y)[0]) <= self.k


SequenceRelation = InsertDelete | Hamming
"""The relations between sequences."""
