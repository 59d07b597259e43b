"""Neighbor relations, and the datasets and neighbors that they define.

Every relation is one picture: ``x = C + A`` and ``y = C + B``, a shared core C plus the records
that only x and only y have. Equal values are different records. A relation is the set of *changes*
``(len(A), len(B))``, records removed from x and records added to it, that it allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .arithmetic import Number
from .errors import InputError, VerificationError
from .universe import Universe

Change = tuple[int, int]
"""Numbers of records (removed from x, added to x)."""

Dataset = tuple[Number, ...]
"""The records of a dataset, ascending."""

Multiplicities = NDArray[np.int64]
"""A dataset as the numbers of times that each distinct value of its universe occurs."""


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

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_whole("k", self.k, "a Hamming distance, at least 1"))
        if not isinstance(self.exactly, (bool, np.bool_)):
            raise InputError(f"exactly must be True or False, got {self.exactly!r}")

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name

    @property
    def meaning(self) -> str:
        """Whether k is the distance "at most" or "exactly"."""
        return "exactly" if self.exactly else "at most"

    def at(self, k: int) -> Self:
        """Return the same relation at another distance."""
        return replace(self, k=k)

    def changes(self, size: int, universe: Universe) -> tuple[Change, ...]:
        """Return the changes that lead from a dataset of this size to a neighbor.

        Raises
        ------
        InputError
            If the distance is not feasible; the message says the largest feasible one.
        """
        most = self._largest(size, universe)
        if self.k > most:
            raise InputError(
                f"{self} is not feasible for datasets of size {size} in a universe of "
                f"{universe.size} records: {self._limits}; " + self._advice(most)
            )
        distances = (self.k,) if self.exactly else tuple(range(1, self.k + 1))
        return tuple(
            change
            for k in distances
            for change in self._changes_at(k)
            if change[0] <= size and change[1] <= universe.size - size
            if size - change[0] + change[1] > 0
        )

    @property
    @abstractmethod
    def _limits(self) -> str:
        """The feasibility conditions, in words."""

    @abstractmethod
    def _largest(self, size: int, universe: Universe) -> int | float:
        """Return the largest feasible distance."""

    @abstractmethod
    def _changes_at(self, k: int) -> Iterable[Change]:
        """Yield the changes at distance exactly k."""

    def _advice(self, most: int | float) -> str:
        if most < 1:
            return "no distance is feasible; choose another size or a larger universe"
        return f"the largest feasible k is {most}"

    def __str__(self) -> str:
        return f"{self.family}, {self.meaning} {self.k}"


@dataclass(frozen=True)
class Bounded(Relation):
    """Replace: x and y have one size and differ in k records (the change-one relation for k = 1).

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: how many records are replaced. At most the size of x;
        with `exactly`, also at most the number of records outside x.
    exactly : bool, default False
        Whether k records are replaced by k other records of the universe, instead of at most k.

    Examples
    --------
    >>> print(Bounded(2))
    bounded, at most 2
    >>> universe = Universe.from_dataset([1, 2, 3, 4])
    >>> list(neighboring_datasets((1, 2, 3), universe, Bounded(1)))
    [(2, 3, 4), (1, 3, 4), (1, 2, 4)]
    """

    name: ClassVar[str] = "bounded"

    @property
    def _limits(self) -> str:
        if self.exactly:
            return "replacing exactly k records needs k <= size and k <= records outside x"
        return "replacing needs k <= size and at least one record outside x"

    def _largest(self, size: int, universe: Universe) -> int | float:
        outside = universe.size - size
        return min(size, outside) if self.exactly or outside < 1 else size

    def _changes_at(self, k: int) -> Iterable[Change]:
        yield k, k


@dataclass(frozen=True)
class Unbounded(Relation):
    """Add or remove: y is x with k records added, or x with k records removed.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: how many records are added or removed. Removing needs k
        below the size of x (queries on no records are undefined), adding needs k records outside x.
    exactly : bool, default False
        Whether exactly k records are added or removed, instead of at most k.
    direction : {"both", "add", "remove"}, default "both"
        Whether y has more records than x, fewer, or either.

    Examples
    --------
    >>> print(Unbounded(1), "|", Unbounded(2, exactly=True, direction="remove"))
    unbounded, at most 1 | unbounded (remove), exactly 2
    >>> universe = Universe.from_dataset([1, 2, 3, 4])
    >>> list(neighboring_datasets((1, 2, 3), universe, Unbounded(1)))
    [(2, 3), (1, 3), (1, 2), (1, 2, 3, 4)]
    """

    direction: Literal["both", "add", "remove"] = "both"

    name: ClassVar[str] = "unbounded"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.direction not in ("both", "add", "remove"):
            raise InputError(f"direction must be 'both', 'add' or 'remove', got {self.direction!r}")

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name if self.direction == "both" else f"{self.name} ({self.direction})"

    @property
    def _limits(self) -> str:
        remove, add = "removing needs k < size", "adding needs k <= records outside x"
        return {"both": f"{remove}, {add}", "add": add, "remove": remove}[self.direction]

    def _largest(self, size: int, universe: Universe) -> int | float:
        add, remove = universe.size - size, size - 1
        return {"both": min(add, remove), "add": add, "remove": remove}[self.direction]

    def _advice(self, most: int | float) -> str:
        advice = super()._advice(most)
        if self.direction == "both":
            advice += ", or choose direction='add' or direction='remove'"
        return advice

    def _changes_at(self, k: int) -> Iterable[Change]:
        if self.direction != "add":
            yield k, 0
        if self.direction != "remove":
            yield 0, k


@dataclass(frozen=True)
class SymmetricDifference(Relation):
    """Add and remove: the textbook's and OpenDP's symmetric distance; a replacement costs 2.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: records removed plus records added.
    exactly : bool, default False
        Whether exactly k records are added or removed, instead of at most k.

    Examples
    --------
    >>> universe = Universe.from_dataset([1, 2, 3])
    >>> list(neighboring_datasets((1, 2), universe, SymmetricDifference(2, exactly=True)))
    [(2, 3), (1, 3)]
    """

    name: ClassVar[str] = "symmetric difference"

    @property
    def _limits(self) -> str:
        return "at most all records of x can be removed and at most those outside x added"

    def _largest(self, size: int, universe: Universe) -> int | float:
        outside = universe.size - size
        return size + outside if outside else size - 1

    def _changes_at(self, k: int) -> Iterable[Change]:
        return ((removed, k - removed) for removed in range(k, -1, -1))


RELATIONS: dict[str, type[Relation]] = {
    "bounded": Bounded,
    "unbounded": Unbounded,
    "symmetric_difference": SymmetricDifference,
}


def as_relation(neighbors: Any, *, k: int = 1, exactly: bool = False) -> Relation:
    """Return a relation given itself or its name; raise InputError with the choices otherwise."""
    if isinstance(neighbors, Relation):
        return neighbors
    if isinstance(neighbors, type) and issubclass(neighbors, Relation):
        return neighbors(k, exactly)
    if isinstance(neighbors, str) and neighbors in RELATIONS:
        return RELATIONS[neighbors](k, exactly)
    raise InputError(
        f"unknown neighbor relation {neighbors!r}; choose one of "
        f"{', '.join(map(repr, RELATIONS))}, or Bounded(k), Unbounded(k), SymmetricDifference(k)"
    )


def check_whole(name: str, value: Any, meaning: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError."""
    number: Any = value.item() if isinstance(value, np.generic) else value
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(
            f"{name} must be a whole number ({meaning}), got {number!r} ({type(number).__name__})"
        )
    if number < least:
        raise InputError(f"{name} must be {meaning}, got {number}")
    return int(number)


def check_size(size: Any, universe: Universe) -> int:
    """Return a dataset size that the universe can fill, or raise InputError."""
    records = check_whole("size", size, "a number of records, at least 1")
    if records > universe.size:
        raise InputError(
            f"size must be at most the universe's number of records, {universe.size}; got {records}"
        )
    return records


def check_dataset(x: Iterable[Number], universe: Universe) -> Dataset:
    """Return a dataset in ascending order, or raise InputError if it is not of the universe."""
    listed = list(x)
    multiplicities = multiplicities_of(listed, universe)
    check_size(len(listed), universe)
    for value, count, limit in zip(
        universe.values, multiplicities, universe.multiplicities(len(listed)), strict=True
    ):
        if count > limit:
            raise InputError(
                f"the dataset has {count} records {value}, the universe only {limit}: {universe!r}"
            )
    return universe.dataset(multiplicities)


def datasets(universe: Universe, size: int) -> Iterator[Dataset]:
    """Yield every dataset of a size, each distinct multiset once.

    Parameters
    ----------
    universe : Universe
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

    Examples
    --------
    >>> list(datasets(Universe.from_dataset([1, 2, 2, 3]), 2))
    [(1, 2), (1, 3), (2, 2), (2, 3)]
    """
    size = check_size(size, universe)
    return (
        tuple(universe.values[place] for place in places)
        for places in _sub_multisets(universe.multiplicities(size), size)
    )


def count_datasets(universe: Universe, size: int) -> int:
    """Return the number of distinct datasets of a size, in closed form.

    Parameters
    ----------
    universe : Universe
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
    The coefficient of z**size in the product of ``1 + z + ... + z**count`` over the values. Values
    of one multiplicity c are taken together: ``(1 - z**(c+1))**g / (1 - z)**g`` for g values.

    Examples
    --------
    >>> count_datasets(Universe.from_dataset(range(24)), 12)
    2704156
    >>> count_datasets(Universe.from_domain([1, 2, 3]), 4)
    15
    """
    return _count_sub_multisets(universe.multiplicities(check_size(size, universe)), size)


def neighboring_datasets(
    x: Iterable[Number], universe: Universe, relation: Relation
) -> Iterator[Dataset]:
    """Yield every neighbor of a dataset, each distinct multiset once.

    Parameters
    ----------
    x : iterable of numbers, shape (n,)
        A dataset: a sub-multiset of the universe, in any order.
    universe : Universe
        What datasets are drawn from.
    relation : Relation
        `Bounded`, `Unbounded` or `SymmetricDifference`, at a distance.

    Yields
    ------
    tuple of numbers
        The records of a neighbor, ascending. ``count_neighbors(x, universe, relation)`` of them.
        As equal values are different records, x itself is among them where a record of x can be
        replaced by an equal one.

    Raises
    ------
    InputError
        If x is not a dataset of the universe or the distance is not feasible; raised at the call.

    Examples
    --------
    >>> universe = Universe.from_dataset([1, 2, 2, 3])
    >>> list(neighboring_datasets([1, 2], universe, Unbounded(1)))
    [(2,), (1,), (1, 2, 2), (1, 2, 3)]
    """
    x = check_dataset(x, universe)
    return _neighbors(x, universe, relation.changes(len(x), universe))


def _neighbors(x: Dataset, universe: Universe, changes: Sequence[Change]) -> Iterator[Dataset]:
    inside, outside = _inside_and_outside(x, universe, changes)
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
                    yield universe.dataset(np.array(y, dtype=np.int64))


def count_neighbors(x: Iterable[Number], universe: Universe, relation: Relation) -> int:
    """Return the number of distinct neighbors of a dataset, without listing them.

    Parameters
    ----------
    x : iterable of numbers, shape (n,)
        A dataset: a sub-multiset of the universe, in any order.
    universe : Universe
        What datasets are drawn from.
    relation : Relation
        `Bounded`, `Unbounded` or `SymmetricDifference`, at a distance.

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
    >>> universe = Universe.from_dataset(range(100))
    >>> count_neighbors(range(50), universe, Bounded(2))
    1503125
    """
    x = check_dataset(x, universe)
    changes = relation.changes(len(x), universe)
    inside, outside = _inside_and_outside(x, universe, changes)
    most_removed = max(removed for removed, _ in changes)
    most_added = max(added for _, added in changes)
    most_swaps = min(most_removed, most_added)
    ways = {(0, 0, 0): 1}
    for have, most in zip(inside, outside, strict=True):
        terms = [
            (max(-net, 0), max(net, 0), min(have - max(-net, 0), most - max(net, 0)))
            for net in range(-min(have, most_removed), min(most, most_added) + 1)
        ]
        grown: dict[tuple[int, int, int], int] = {}
        for (removed, added, swaps), number in ways.items():
            for more_removed, more_added, more_swaps in terms:
                if removed + more_removed <= most_removed and added + more_added <= most_added:
                    key = (
                        removed + more_removed,
                        added + more_added,
                        min(swaps + more_swaps, most_swaps),
                    )
                    grown[key] = grown.get(key, 0) + number
        ways = grown
    return sum(
        number
        for (removed, added, swaps), number in ways.items()
        if any(0 <= i - removed == j - added <= swaps for i, j in changes)
    )


def multiplicities_of(x: Iterable[Number], universe: Universe) -> Multiplicities:
    """Return how often each distinct value of the universe occurs in x, or raise InputError."""
    places = np.fromiter(map(universe.index, x), dtype=np.intp)
    return np.bincount(places, minlength=len(universe.values)).astype(np.int64)


def check_related(
    x: Multiplicities, y: Multiplicities, universe: Universe, relation: Relation
) -> None:
    """Raise VerificationError unless x and y are datasets of the universe and neighbors."""
    for dataset in (x, y):
        limits = np.array(universe.multiplicities(int(dataset.sum())))
        if (dataset < 0).any() or (dataset > limits).any():
            place = int(np.flatnonzero((dataset < 0) | (dataset > limits))[0])
            raise VerificationError(
                f"a dataset has {dataset[place]} records {universe.values[place]}, "
                f"the universe {limits[place]}"
            )
    removed, added = int(np.maximum(x - y, 0).sum()), int(np.maximum(y - x, 0).sum())
    # Shared records can change places with equal ones outside both, as far as there are any.
    limits = np.array(universe.multiplicities(int(x.sum()) + relation.k))
    swaps = int(np.minimum(np.minimum(x, y), limits - np.maximum(x, y)).sum())
    changes = relation.changes(int(x.sum()), universe)
    if not any(0 <= i - removed == j - added <= swaps for i, j in changes):
        raise VerificationError(
            f"x and y are no neighbors ({relation}): {removed} records are only in x, "
            f"{added} only in y"
        )


def _inside_and_outside(
    x: Dataset, universe: Universe, changes: Sequence[Change]
) -> tuple[list[int], list[int]]:
    """Return per value the records in x, and those outside x that a change can add."""
    inside = multiplicities_of(x, universe).tolist()
    most = len(x) + max(added for _, added in changes)
    limits = universe.multiplicities(most)
    return inside, [limit - have for limit, have in zip(limits, inside, strict=True)]


def _net_changes(changes: Sequence[Change]) -> list[Change]:
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
    pool = [place for place, limit in enumerate(limits) for _ in range(min(limit, size))]
    if size > len(pool):
        return
    chosen = list(range(size))
    while True:
        yield [pool[entry] for entry in chosen]
        # The last record that can still move to a larger value moves there; the others follow it.
        moving = size - 1
        while moving >= 0 and pool[chosen[moving]] == pool[moving - size]:
            moving -= 1
        if moving < 0:
            return
        target = bisect_right(pool, pool[chosen[moving]])
        chosen[moving:] = range(target, target + size - moving)


def _count_sub_multisets(limits: Sequence[int], size: int) -> int:
    """Return the number of multisets of `size` records within `limits`."""
    groups: dict[int, int] = {}
    for limit in limits:
        groups[limit] = groups.get(limit, 0) + 1
    if len(groups) == 1:
        ((limit, values),) = groups.items()
        return _count_equal_limits(values, limit, size)
    ways = [1] + [0] * size
    for limit, values in groups.items():
        of_group = [_count_equal_limits(values, limit, part) for part in range(size + 1)]
        ways = [
            sum(ways[total - part] * of_group[part] for part in range(total + 1))
            for total in range(size + 1)
        ]
    return ways[size]


def _count_equal_limits(values: int, limit: int, size: int) -> int:
    """Return the coefficient of z**size in (1 + z + ... + z**limit)**values."""
    if limit == 1:
        return comb(values, size)
    return sum(
        (-1) ** over * comb(values, over) * comb(size - over * (limit + 1) + values - 1, values - 1)
        for over in range(min(values, size // (limit + 1)) + 1)
    )
