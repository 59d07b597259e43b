"""Neighbor relations of sequences: entries are inserted and deleted, or replaced."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import numpy as np

from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import brief
from sensitivity_lab.spaces.space import (
    Block,
    Code,
    Codes,
    Group,
    Pairs,
    SpaceRelation,
    check_steps,
    in_parts,
)

from .distances import Places, fewest_edits, replaced_places
from .universe import Entries, SequenceUniverse, SequenceWitness

_LEAST = 2**12
"""Choosing the entries that an edit changes takes as long as comparing so many pairs."""


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
        # The entries that stay fill the free places of y in their order; each counts there what its
        # place in y is worth. What is inserted is added, for every choice of values.
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


class SequenceRelation(SpaceRelation):
    """A relation whose neighbors come from edits: every edit of a sequence makes some of them."""

    _compared = "edits"

    @property
    def _entries(self) -> str:
        """How many entries an edit changes, in words."""
        return f"{self.k} entr{'y' if self.k == 1 else 'ies'}"

    @abstractmethod
    def _shapes(self, universe: SequenceUniverse, size: int, *, both_ways: bool) -> Iterator[Shape]:
        """Yield how many entries change from a size to others; to longer ones unless both ways."""

    @abstractmethod
    def _edits(self, shape: Shape, size: int) -> Iterator[Edit]:
        """Yield the ways to choose the entries."""

    @abstractmethod
    def _choices(self, shape: Shape, size: int) -> int:
        """How many `_edits` there are."""

    @abstractmethod
    def _differ(self, x: Entries, y: Entries) -> tuple[Places, Places]:
        """Return the fewest places of x and of y without which the two are the same."""

    @abstractmethod
    def _edited(self, witness: SequenceWitness) -> list[str]:
        """Return what of a witness differs, in words."""

    def _pairs(self, space: SequenceUniverse, x: Code | None) -> Pairs:
        """Return the pairs, each once for every way to make y of x.

        Every neighbor of a sequence x of n entries is made of it by one of the edits, and each edit
        is compared: ``v**n C(n, d) C(m, i) v**i`` for d deletions and i insertions, from n to m
        entries.
        """
        sizes = space.sizes if x is None else (cast(int, x[0]),)
        codes: dict[Group, Codes] = {
            size: space._all_codes(size) if x is None else np.array([x[1]]) for size in sizes
        }
        # For each shape of edits: how many edits have it, and how many pairs one edit makes.
        shapes = [
            (
                *(size, shape, self._choices(shape, size)),
                len(codes[size]) * len(space.values) ** shape.inserted,
            )
            for size in sizes
            for shape in self._shapes(space, size, both_ways=x is not None)
        ]
        check_steps(sum(edits * max(pairs, _LEAST) for _, _, edits, pairs in shapes), space, self)
        every = [edit for size, shape, _, _ in shapes for edit in self._edits(shape, size)]

        def blocks(number: int) -> Iterator[Block]:
            for edit in every:
                some, ways = codes[edit.size_x], edit.ways(space)
                step = max(1, number // ways)
                for part in in_parts(some, step):
                    others = edit.apply(space, part).ravel()
                    yield Block(edit.size_x, np.repeat(part, ways), edit.size_y, others)

        datasets = dict(codes)
        # Over all sequences these are all datasets; of one, add what edits make of it.
        for edit in every if x is not None else ():
            others = edit.apply(space, codes[edit.size_x]).ravel()
            datasets[edit.size_y] = np.union1d(datasets.get(edit.size_y, others), others)
        return Pairs(datasets, sum(edits * pairs for _, _, edits, pairs in shapes), blocks)


@dataclass(frozen=True)
class InsertDelete(SequenceRelation):
    """Two sequences that at most k insertions and deletions turn into each other.

    The other entries keep their order, and new entries can be anywhere. For k = 1, one entry is
    added or removed: one visit to a place, or one event (event-level privacy). If a person has at
    most m of the entries, k = m hides all of them (user-level privacy). Replacing an entry takes a
    deletion and an insertion: distance 2.

    Parameters
    ----------
    k : int, default 1
        The largest number of insertions and deletions, from 1 to twice the length.

    Raises
    ------
    InputError
        If k is invalid.

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

    _counts = "how many entries are inserted or deleted, at least 1"
    _family = "insert-delete"

    def __str__(self) -> str:
        return f"at most {self._entries} inserted or deleted"

    @property
    def _keeps_size(self) -> bool:
        return False

    def _check(self, universe: SequenceUniverse) -> None:
        if self.k == 1 and universe.shortest == universe.longest:
            raise InputError(
                f"all sequences have {universe.longest} entries, so one insertion or deletion "
                "leads to no other one; use a smaller shortest, k=2, or Hamming()"
            )
        self._check_most(2 * universe.longest, "twice the largest number of entries")

    def _shapes(self, universe: SequenceUniverse, size: int, *, both_ways: bool) -> Iterator[Shape]:
        # Of two sizes, as many entries change as k allows: fewer are among these, since an entry
        # can be deleted and inserted again.
        for other in universe.sizes:
            longer = other - size
            if abs(longer) > self.k or (longer < 0 and not both_ways):
                continue
            deleted = min((self.k - longer) // 2, size)
            if deleted or longer:
                yield Shape(deleted, deleted + longer, other)

    def _edits(self, shape: Shape, size: int) -> Iterator[Edit]:
        for out in combinations(range(size), shape.deleted):
            for into in combinations(range(shape.size_y), shape.inserted):
                yield Edit(out, into, size, shape.size_y)

    def _choices(self, shape: Shape, size: int) -> int:
        return math.comb(size, shape.deleted) * math.comb(shape.size_y, shape.inserted)

    def _differ(self, x: Entries, y: Entries) -> tuple[Places, Places]:
        return fewest_edits(x, y)

    def _edited(self, witness: SequenceWitness) -> list[str]:
        x, y = witness.x, witness.y
        gone = [f"{brief(x[place])} deleted at {place} of x" for place in witness.deleted]
        return gone + [f"{brief(y[place])} inserted at {place}" for place in witness.inserted]

    def _relates(self, witness: SequenceWitness, space: SequenceUniverse) -> bool:
        return sum(map(len, fewest_edits(witness.x, witness.y))) <= self.k


@dataclass(frozen=True)
class Hamming(SequenceRelation):
    """Two sequences of the same number of entries that differ in at most k places.

    For k = 1, one entry is replaced by any other: one reading of a time series whose length is
    public. k = length hides the whole series.

    Parameters
    ----------
    k : int, default 1
        The largest number of entries replaced, from 1 to the largest number of entries.

    Raises
    ------
    InputError
        If k is invalid.

    References
    ----------
    OpenDP: ``HammingDistance``, for data whose order counts; ``ChangeOneDistance`` for other data.

    Examples
    --------
    >>> print(Hamming(2))
    at most 2 entries replaced
    """

    k: int = 1

    _counts = "how many entries are replaced, at least 1"
    _family = "hamming"

    def __str__(self) -> str:
        return f"at most {self._entries} replaced"

    def _check(self, universe: SequenceUniverse) -> None:
        self._check_most(universe.longest, "the largest number of entries")

    def _shapes(self, universe: SequenceUniverse, size: int, *, both_ways: bool) -> Iterator[Shape]:
        changed = min(self.k, size)
        if changed:  # nothing of the empty sequence
            yield Shape(changed, changed, size)

    def _edits(self, shape: Shape, size: int) -> Iterator[Edit]:
        for places in combinations(range(size), shape.deleted):
            yield Edit(places, places, size, size)

    def _choices(self, shape: Shape, size: int) -> int:
        return math.comb(size, shape.deleted)

    def _differ(self, x: Entries, y: Entries) -> tuple[Places, Places]:
        places = replaced_places(x, y)
        return places, places

    def _edited(self, witness: SequenceWitness) -> list[str]:
        x, y = witness.x, witness.y
        return [f"{brief(y[at])} for {brief(x[at])} at {at}" for at in witness.inserted]

    def _relates(self, witness: SequenceWitness, space: SequenceUniverse) -> bool:
        x, y = witness.x, witness.y
        return len(x) == len(y) and len(replaced_places(x, y)) <= self.k
