"""Datasets by multiplicities, the neighbor relations, families of them, and checks of pairs.

A dataset is how often each distinct value of a universe occurs. Every relation is one picture:
``x = C + A`` and ``y = C + B``, a shared core C plus the records that only x and only y have. Two
records may have equal values, and one can replace the other. A relation is the set of *changes*
``(len(A), len(B))``, records removed from x and records added to it, that it allows. It declares
everything that the package needs from it, here and nowhere else: its changes, which of them are
feasible, how far two datasets are apart, and its words. No code tests its class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_choice,
    check_distance,
    check_flag,
    did_you_mean,
    shown,
    text_of,
    whole_kind,
)
from sensitivity_lab.errors import InputError, SensitivityLabError, TooLargeError, VerificationError
from sensitivity_lab.metrics.metric import Row
from sensitivity_lab.metrics.multisets import (
    AddOrRemoveDistance,
    ChangeOneDistance,
    Counts,
    OfMultisets,
    SymmetricDistance,
    moved,
)

from .universe import FiniteUniverse, Space

Multiplicities = NDArray[np.int64]
"""How often each distinct value of the universe occurs in a dataset, shape (m,)."""

Groups = NDArray[np.intp]
"""The number of the group that each distinct value is in, shape (m,)."""


def repeated(values: Any, counts: Any) -> NDArray[Any]:
    """Return values, or rows, each as often as its count says, as `numpy.repeat` does.

    numpy takes counts of the machine's own width alone, which has 32 bits in a browser.

    Examples
    --------
    >>> repeated([5, 7], np.array([2, 1])).tolist()
    [5, 5, 7]
    """
    found: NDArray[Any] = np.repeat(values, np.asarray(counts).astype(np.intp), axis=0)
    return found


def smallest(counts: NDArray[Any], number: int) -> Multiplicities:
    """Return the first `number` of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> smallest(np.array([2, 0, 3]), 4).tolist()
    [2, 0, 2]
    """
    before = np.cumsum(counts) - counts
    taken: Multiplicities = np.clip(number - before, 0, counts)
    return taken


def largest(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the last `number` of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> largest(np.array([2, 0, 3]), 4).tolist()
    [1, 0, 3]
    """
    return smallest(counts[::-1], number)[::-1]


def filled(start: NDArray[Any], limits: Multiplicities, number: int) -> Multiplicities:
    """Return the records at the start, and more in ascending order up to a number, within limits.

    Examples
    --------
    >>> filled(np.array([0, 1, 0]), np.array([2, 2, 2]), 4).tolist()
    [2, 2, 0]
    """
    more: Multiplicities = start + smallest(limits - start, number - int(start.sum()))
    return more


def of_each(counts: Multiplicities, groups: Groups) -> Multiplicities:
    """Return how many records each group of values has, shape (g,).

    Examples
    --------
    >>> of_each(np.array([2, 5, 0, 3]), np.array([0, 1, 1, 0])).tolist()
    [5, 5]
    """
    totals = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(totals, groups, counts)
    return totals


def smallest_of_each(
    counts: Multiplicities, groups: Groups, numbers: Multiplicities
) -> Multiplicities:
    """Return the first records of each group of values, all if there are fewer.

    Parameters
    ----------
    counts : ndarray of int64, shape (m,)
        How many records of each value there are.
    groups : ndarray of intp, shape (m,)
        The group of each value, from 0 to g - 1.
    numbers : ndarray of int64, shape (g,)
        How many records to take of each group.

    Examples
    --------
    >>> smallest_of_each(np.array([2, 5, 0, 3]), np.array([0, 1, 1, 0]), np.array([4, 1])).tolist()
    [2, 1, 0, 2]
    """
    # Group by group, so that the records before a value are those of its group, and of groups that
    # are passed over whole.
    order = np.argsort(groups, kind="stable")
    totals = of_each(counts, groups)
    passed = (np.cumsum(totals) - totals)[groups[order]]
    before = np.cumsum(counts[order]) - counts[order] - passed
    taken = np.empty_like(counts)
    taken[order] = np.clip(numbers[groups[order]] - before, 0, counts[order])
    return taken


def changed_by_group(
    x: Multiplicities,
    outside: Multiplicities,
    groups: Groups,
    net: Multiplicities,
    removed: int = 0,
) -> Multiplicities:
    """Return a neighbor of x whose groups of values have other numbers of records.

    Parameters
    ----------
    x, outside : ndarray of int64, shape (m,)
        The records of x, and those outside it.
    groups : ndarray of intp, shape (m,)
        The group of each value, from 0 to g - 1.
    net : ndarray of int64, shape (g,)
        How many more records the neighbor has of each group than x.
    removed : int, default 0
        How many records x loses. Beyond those that groups must lose, records change places with
        others of the same group, as far as there are any.

    Examples
    --------
    >>> x, outside, groups = np.array([2, 0, 1]), np.array([0, 3, 3]), np.array([0, 0, 1])
    >>> changed_by_group(x, outside, groups, np.array([-1, 1])).tolist()
    [1, 0, 2]
    >>> changed_by_group(x, outside, groups, np.array([-1, 1]), removed=2).tolist()
    [0, 1, 2]
    """
    lost, gained = np.maximum(-net, 0), np.maximum(net, 0)
    spare = np.minimum(of_each(x, groups) - lost, of_each(outside, groups) - gained)
    more = smallest(spare, removed - int(lost.sum()))
    left: Multiplicities = x - smallest_of_each(x, groups, lost + more)
    return left + smallest_of_each(outside, groups, gained + more)


Dataset = tuple[Any, ...]
"""The records of a dataset, ascending: numbers, or rows in the order of their universe."""

RemovedAdded = tuple[int, int]
"""Numbers of records (removed from x, added to x)."""

SHOWN = 16
"""A text shows at most so many records of a dataset, or entries of an answer."""


@dataclass(frozen=True)
class Relation(ABC):
    """A neighbor relation at a Hamming distance.

    A subclass declares what is abstract here, and may declare what has a default.

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

    elsewhere: ClassVar[tuple[str, ...]] = ()
    """Other names of the relation; messages then suggest its own."""

    directions: ClassVar[tuple[str, ...]] = ()
    """The values of `direction`, the default first; () if there is no such parameter."""

    metric: ClassVar[OfMultisets]
    """By which distance datasets that are not equal are neighbors at most k apart.

    It need not obey the triangle inequality, see `AddOrRemoveDistance`. No distance decides who is
    exactly k apart, since records can be exchanged with equal ones.
    """

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_distance("k", self.k))
        object.__setattr__(self, "exactly", check_flag("exactly", self.exactly))

    @classmethod
    def variants(cls) -> list[Self]:
        """Return the relation at most 1 apart, in every direction that it has."""
        return [cls.towards(direction) for direction in cls.directions or ("",)]

    @classmethod
    def towards(cls, direction: str, k: int = 1, exactly: bool = False) -> Self:
        """Return the relation in a direction; one that has no directions is the same in all."""
        directed: dict[str, Any] = {"direction": direction} if cls.directions else {}
        return cls(k, exactly, **directed)

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name

    @property
    @abstractmethod
    def does(self) -> str:
        """How a neighbor changes x, in a few words for menus and help."""

    def between(self, x: Multiplicities, y: Multiplicities) -> Row:
        """Return how far datasets are apart; `INFINITE` or more if no number of steps suffices.

        The last axis is that of the values: of several datasets y there is a distance for each.
        """
        removed, added = moved(x, y)
        return self.metric.apart(added, removed)

    @property
    def step(self) -> Relation | None:
        """The relation whose distance counts the single steps from a dataset to any other one.

        None if there is no such distance. Smooth sensitivity damps by it, so it is defined only for
        relations that declare it: datasets at most k steps apart are their neighbors at distance k.
        """
        return None

    @property
    def single_step(self) -> Relation | None:
        """The declared step, if it replaces a record, adds or removes one, or does either; or None.

        Smooth sensitivity and reach are proved for such steps only. With others, what is within k
        steps of x need not be within k + 1 steps of a neighbor: where couples join or leave, x
        without a and b, and x without a and c, differ in one record each.
        """
        step = self.step
        return step if step and set(step._unlimited(1)) in _OF_ONE_RECORD else None

    @property
    def keeps_size(self) -> bool:
        """Whether x and y have the same number of records, which then can be public."""
        return all(removed == added for removed, added in self._unlimited(1))

    @property
    def exchanges(self) -> bool:
        """Whether some change both removes and adds records."""
        return any(removed and added for removed, added in self._up_to_k)

    @property
    def counts_each_record(self) -> bool:
        """Whether at most k records are removed and added in total."""
        return all(removed + added <= self.k for removed, added in self._unlimited(self.k))

    @property
    def growth(self) -> int:
        """How many more records than x a dataset y at distance k can have."""
        return max(0, self.drift[1])

    @property
    def drift(self) -> tuple[int, int]:
        """How many more records than x a dataset y has, at least and at most; below 0: fewer."""
        distances = {self.k} if self.exactly else {1, self.k}
        found = [added - gone for k in distances for gone, added in self._unlimited(k)]
        return min(found), max(found)

    @property
    def nested(self) -> int:
        """How many sets of neighbors, one in the other, a search tells apart; 0 if just one."""
        return 0

    def levels(self, changes: Sequence[RemovedAdded]) -> list[int]:
        """Return by change which of those sets it first leads to; they ascend along `changes`."""
        return [0] * len(changes)

    @property
    def meaning(self) -> str:
        """Whether k is the distance "at most" or "exactly"."""
        return "exactly" if self.exactly else "at most"

    def at(self, k: int) -> Self:
        """Return the same relation at another distance."""
        return replace(self, k=k)

    def changes(self, size: int, universe: Space, least: int = 0) -> tuple[RemovedAdded, ...]:
        """Return the changes that lead from a dataset of this size to a neighbor.

        Parameters
        ----------
        size : int
            The number of records of x.
        universe : Space
            What records are drawn from.
        least : int, default 0
            The fewest records of a neighbor, such as 1 for a query that nobody has an answer to.

        Raises
        ------
        InputError
            If the distance is not feasible; the message says the largest feasible one.
        TooLargeError
            If there are more than `MOST_LISTED`, or the distance is beyond `FARTHEST`.
        """
        self.check_feasible((size,), universe, least)
        return tuple(self.some_changes(size, universe, least))

    def check_feasible(self, sizes: Sequence[int], universe: Space, least: int = 0) -> None:
        """Check that datasets of some sizes have neighbors, and few enough changes.

        At most k apart, a dataset that cannot change k records changes as many as it can; so one
        size with a neighbor is enough. Exactly k apart, every size needs one.

        Raises
        ------
        InputError
            If there are none; the message says the largest feasible distance.
        TooLargeError
            If there are more changes than `MOST_LISTED`, or the distance is beyond `FARTHEST`.
        """
        if self.exactly:
            lacking = (size for size in sizes if self._largest(size, universe, least) < self.k)
            found = next(lacking, None)
        else:
            enough = any(self._largest(size, universe, least) >= 1 for size in sizes)
            found = None if enough else sizes[0]
        if found is not None:
            raise InputError(
                f"{self} is not feasible for datasets of size {found} in "
                f"a{'n' * universe.extent.startswith('interval')} {universe.extent}: "
                f"{self._limits(least)}; "
                + self._advice(self._largest(found, universe, least), found, universe, least)
            )
        if self.k > FARTHEST:
            raise TooLargeError(
                f"{self}: neighbors more than {FARTHEST:,} records away are not looked for; choose "
                "a smaller distance"
            )
        # No change removes or adds more than k records, so a small k has few changes.
        if (self.k + 1) ** 2 <= MOST_LISTED:
            return
        for size in sizes:
            if self.more_changes_than(MOST_LISTED, size, universe, least):
                raise TooLargeError(
                    f"{self} has more than {MOST_LISTED:,} changes (numbers of records removed and "
                    f"added) for datasets of {size:,} records; choose a smaller distance"
                )

    def more_changes_than(self, number: int, size: int, universe: Space, least: int = 0) -> bool:
        """Tell whether more changes lead to a neighbor; they are counted, not kept."""
        every = self.some_changes(size, universe, least)
        return any(True for _ in islice(every, number, None))

    def changes_at(
        self, k: int, size: int, universe: Space, least: int = 0
    ) -> Iterable[RemovedAdded]:
        """Yield the changes of datasets of this size at distance exactly k, not its own k."""
        outside = universe.size - size
        return (
            (removed, added)
            for removed, added in self._changes_at(k, min(k, size), int(min(k, outside)))
            if removed <= size and added <= outside and size - removed + added >= least
        )

    def some_changes(self, size: int, universe: Space, least: int = 0) -> Iterable[RemovedAdded]:
        """Yield the changes that lead from a dataset of this size to a neighbor, if there are any.

        Beyond the distance where all is removed, and all that can be is added, there are none.
        """
        distances: Iterable[int] = (self.k,)
        if not self.exactly:
            farthest = self._largest(size, universe, least)
            distances = range(1, int(min(self.k, farthest)) + 1)
        return (change for k in distances for change in self.changes_at(k, size, universe, least))

    @abstractmethod
    def _limits(self, least: int) -> str:
        """Return the feasibility conditions, in words, if neighbors have at least some records."""

    @abstractmethod
    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        """Return the largest feasible distance, if neighbors have at least some records.

        At most k apart, of any change; exactly k apart, of all that `_limits` names.
        """

    @abstractmethod
    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        """Yield the changes at distance exactly k; none removes or adds more than k records.

        Those that remove more than `removable` records, or add more than `addable`, may be left
        out; where there are many, they should be. Neither limit is above k.
        """

    def _unlimited(self, k: int) -> Iterable[RemovedAdded]:
        """Yield the changes at distance exactly k of datasets that lack nothing for them."""
        return self._changes_at(k, k, k)

    @property
    def every_change(self) -> Iterable[RemovedAdded]:
        """The changes of datasets that lack nothing for them."""
        return self._unlimited(self.k) if self.exactly else self._up_to_k

    @property
    def _up_to_k(self) -> Iterable[RemovedAdded]:
        """The changes at every distance up to k."""
        return chain.from_iterable(map(self._unlimited, range(1, self.k + 1)))

    def _advice(self, most: int | float, size: int, universe: Space, least: int) -> str:
        if most < 1:
            advice = "choose another size or a larger universe"
            if size == universe.size:
                advice = _SMALLER
            return f"no distance is feasible; {advice}"
        return f"the largest feasible k is {most}"

    def __str__(self) -> str:
        return f"{self.family}, {self.meaning} {self.k}"


_OF_ONE_RECORD: tuple[set[RemovedAdded], ...] = (
    {(1, 1)},
    {(1, 0), (0, 1)},
    {(1, 1), (1, 0), (0, 1)},
)
"""The steps that replace a record, that add or remove one, and that do either."""

MOST_LISTED = 25_000_000
"""More changes of one dataset are not listed."""

FARTHEST = 100_000_000
"""The largest distance at which neighbors are looked for."""

_SMALLER = "choose a smaller size, or use a domain as the universe, Universe.from_domain(values)"
"""What to do where a universe lists too few records."""


@dataclass(frozen=True)
class Bounded(Relation):
    """Replace: x and y have the same size and differ in k records (k = 1: change one).

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: how many records are replaced. With `exactly`, k must not
        exceed the size of x or the number of records outside x.
    exactly : bool, default False
        Whether k records are replaced by k other records of the universe, instead of at most k.

    Examples
    --------
    >>> print(Bounded(2))
    bounded, at most 2
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 4])
    >>> list(sl.neighboring_datasets(universe, (1, 2, 3), sl.Bounded(1)))
    [(2, 3, 4), (1, 3, 4), (1, 2, 4)]
    """

    name: ClassVar[str] = "bounded"
    elsewhere: ClassVar[tuple[str, ...]] = (
        "replace",
        "replace_one",
        "change_one",
        "swap",
        "substitute",
    )
    metric: ClassVar[OfMultisets] = ChangeOneDistance()
    does = "replace records"

    @property
    def step(self) -> Relation | None:
        """A record is replaced."""
        return Bounded(1)

    def _limits(self, least: int) -> str:
        if self.exactly:
            return "replacing exactly k records needs k <= size and k <= records outside x"
        return "replacing needs a record of x and at least one record outside x"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        outside = universe.size - size
        return min(size, outside)

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        yield k, k


@dataclass(frozen=True)
class Unbounded(Relation):
    """Add or remove: y is x with k records added, or x with k records removed.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: how many records are added or removed. With `exactly`, a
        removal needs k records in x, or more if the query is undefined on the empty dataset, and an
        addition needs k records outside x.
    exactly : bool, default False
        Whether exactly k records are added or removed, instead of at most k.
    direction : {"both", "add", "remove"}, default "both"
        Whether y has more records than x ("add"), fewer ("remove"), or either ("both").

    Examples
    --------
    >>> print(Unbounded(1), "|", Unbounded(2, exactly=True, direction="remove"))
    unbounded, at most 1 | unbounded (remove), exactly 2
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 4])
    >>> list(sl.neighboring_datasets(universe, (1, 2, 3), sl.Unbounded(1)))
    [(2, 3), (1, 3), (1, 2), (1, 2, 3, 4)]
    """

    direction: Literal["both", "add", "remove"] = "both"

    name: ClassVar[str] = "unbounded"
    elsewhere: ClassVar[tuple[str, ...]] = ("add", "remove", "add_remove", "add_or_remove")
    directions: ClassVar[tuple[str, ...]] = ("both", "add", "remove")
    metric: ClassVar[OfMultisets] = AddOrRemoveDistance()

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check_choice("direction", self.direction, self.directions)

    @property
    def does(self) -> str:
        """How a neighbor changes x."""
        return {"both": "add or remove"}.get(self.direction, f"{self.direction} only")

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name if self.direction == "both" else f"{self.name} ({self.direction})"

    @property
    def step(self) -> Relation | None:
        """A record is added or removed; one direction alone gives no distance.

        Such steps also lead to other datasets of the same size, so they are counted as in
        `SymmetricDifference`, which has the same single steps.
        """
        return SymmetricDifference(1) if self.direction == "both" else None

    def _limits(self, least: int) -> str:
        fewest = f"k <= size - {least}" if least else "k <= size"
        remove, add = f"removing needs {fewest}", "adding needs k <= records outside x"
        return {"both": f"{remove}, {add}", "add": add, "remove": remove}[self.direction]

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        add, remove = universe.size - size, size - least
        both = min(add, remove) if self.exactly else max(add, remove)
        return {"both": both, "add": add, "remove": remove}[self.direction]

    def _advice(self, most: int | float, size: int, universe: Space, least: int) -> str:
        advice = super()._advice(most, size, universe, least)
        left_out = {"add": "removals", "remove": "additions"}
        others = [
            f", or choose direction={direction!r}, which leaves out {left_out[direction]} and can "
            "give a smaller sensitivity"
            for direction in ("add", "remove")
            if self.k <= replace(self, direction=direction)._largest(size, universe, least)
        ]
        return advice + "".join(others)

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        if self.direction != "add":
            yield k, 0
        if self.direction != "remove":
            yield 0, k


@dataclass(frozen=True)
class SymmetricDifference(Relation):
    """Add and remove: the symmetric distance of textbooks and OpenDP; a replacement costs 2.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: records removed plus records added.
    exactly : bool, default False
        Whether exactly k records are added or removed, instead of at most k.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3])
    >>> list(sl.neighboring_datasets(universe, (1, 2), sl.SymmetricDifference(2, exactly=True)))
    [(), (2, 3), (1, 3)]
    """

    name: ClassVar[str] = "symmetric difference"
    elsewhere: ClassVar[tuple[str, ...]] = ("symmetric", "symmetric_distance")
    metric: ClassVar[OfMultisets] = SymmetricDistance()
    does = "add and remove"

    @property
    def step(self) -> Relation | None:
        """A record is added or removed."""
        return SymmetricDifference(1)

    def _limits(self, least: int) -> str:
        kept = f", and {least} must be left" if least else ""
        return f"at most all records of x can be removed and at most those outside x added{kept}"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        outside = universe.size - size
        return size + outside - max(0, least - outside)

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        return ((removed, k - removed) for removed in range(removable, k - addable - 1, -1))


@dataclass(frozen=True)
class EditDistance(OfMultisets):
    """How many rows are replaced, added or removed, each counting one.

    Examples
    --------
    >>> EditDistance().distance([1, 2, 2], [2, 5]), EditDistance().distance([1], [])
    (2, 1)
    """

    name = "rows replaced, added or removed"

    @staticmethod
    def apart(added: Counts, removed: Counts) -> Row:
        """Return the larger number: as many changes as possible are replacements."""
        return np.maximum(removed, added)


@dataclass(frozen=True)
class Edit(Relation):
    """Replace, add or remove: a record that is replaced, added or removed counts once.

    If i records are removed and j are added, ``min(i, j)`` of these changes are replacements, so
    the distance is ``max(i, j)``. For k = 1, y is x with one record replaced, added or removed.

    Parameters
    ----------
    k : int
        The Hamming distance, at least 1: the larger of the numbers of records removed and added.
    exactly : bool, default False
        Whether the larger of these numbers is exactly k, instead of at most k.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3])
    >>> list(sl.neighboring_datasets(universe, (1, 2), sl.Edit(1)))
    [(2, 3), (1, 3), (2,), (1,), (1, 2, 3)]
    """

    name: ClassVar[str] = "edit"
    elsewhere: ClassVar[tuple[str, ...]] = ("edit_distance", "add_remove_replace")
    metric: ClassVar[OfMultisets] = EditDistance()
    does = "replace, add or remove"

    @property
    def step(self) -> Relation | None:
        """A record is replaced, added or removed."""
        return Edit(1)

    def _limits(self, least: int) -> str:
        kept = f" and {least} that are left or added" if least else ""
        return f"removing k needs k <= size{kept}, adding k needs k <= records outside x"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        outside = universe.size - size
        return max(outside, size - max(0, least - outside))

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        if removable == k:
            yield from ((k, added) for added in range(addable, -1, -1))
        if addable == k:
            yield from ((removed, k) for removed in range(min(k - 1, removable), -1, -1))


RELATIONS: dict[str, type[Relation]] = {
    relation.name.replace(" ", "_"): relation
    for relation in (Bounded, Unbounded, SymmetricDifference, Edit)
}
"""The relations by the name that arguments and commands take."""


def as_relation(neighbors: Any, *, exactly: bool = False) -> Relation:
    """Return a relation, given itself or its name; otherwise raise InputError with the choices."""
    if isinstance(neighbors, Relation):
        return replace(neighbors, exactly=True) if check_flag("exactly", exactly) else neighbors
    if isinstance(neighbors, type) and issubclass(neighbors, Relation):
        return neighbors(1, exactly)
    known = RELATIONS.get(neighbors.replace(" ", "_")) if isinstance(neighbors, str) else None
    if known:
        return known(1, exactly)
    classes = ", ".join(f"{relation.__name__}(k)" for relation in RELATIONS.values())
    raise InputError(
        f"unknown neighbor relation {shown(neighbors)}; choose one of "
        f"{', '.join(map(repr, RELATIONS))}, or {classes}{_meant(neighbors)}"
    )


def _meant(neighbors: Any) -> str:
    """Return the end of the message about an unknown relation: what may be meant."""
    if isinstance(neighbors, str):
        words = neighbors.lower().replace(" ", "_").replace("-", "_")
        for name, relation in RELATIONS.items():
            if words in relation.elsewhere:
                return f"; did you mean {name!r}?"
    return did_you_mean(neighbors, RELATIONS)


check_number_of_records = whole_kind("a number of records, at least 0", least=0)
"""The size of a dataset; that of nobody is 0."""


def check_size(size: Any, universe: Space) -> int:
    """Return a dataset size that the universe can fill, or raise InputError."""
    records = check_number_of_records("size", size)
    if records > universe.size:
        raise InputError(
            f"size must be at most the universe's number of records, {universe.size}, got "
            f"{records}; {_SMALLER}"
        )
    return records


def check_dataset(x: Iterable[Any], universe: FiniteUniverse) -> Multiplicities:
    """Return how often each distinct value of the universe occurs in a dataset.

    Raises
    ------
    InputError
        If x has a record that the universe lacks, or more copies of one than the universe has.
    """
    multiplicities = multiplicities_of(x, universe)
    check_size(int(multiplicities.sum()), universe)
    _check_within(multiplicities, universe, InputError)
    return multiplicities


def _check_within(
    data: Multiplicities, universe: FiniteUniverse, error: type[SensitivityLabError]
) -> None:
    """Raise an error unless a universe has all the records of a dataset."""
    limits = universe.multiplicities(int(data.sum()))
    if (beyond := np.flatnonzero((data < 0) | (data > limits))).size:
        place = int(beyond[0])
        raise error(
            f"the dataset has {data[place]} records {universe.values[place]}, the universe only "
            f"{limits[place]}: {universe}"
        )


def show(
    dataset: Sequence[Any], things: str = "records", text: Callable[[Any], str] = text_of
) -> str:
    """Return a dataset as text, its middle left out if it is long."""
    half = SHOWN // 2
    ends = dataset if len(dataset) <= SHOWN else [*dataset[:half], *dataset[-half:]]
    return show_ends(list(map(text, ends)), len(dataset), things)


def show_ends(ends: Sequence[str], size: int, things: str) -> str:
    """Return a tuple as text, given the texts of its entries, or of both ends of a long one."""
    if size <= SHOWN:
        return f"({', '.join(ends)}{',' * (size == 1)})"
    half = len(ends) // 2
    return f"({', '.join([*ends[:half], '...', *ends[half:]])}; {size:,} {things})"


def multiplicities_of(x: Iterable[Any], universe: FiniteUniverse) -> Multiplicities:
    """Return how often each distinct value of the universe occurs in x, or raise InputError."""
    records = universe.records_of(x)
    places = _places_of(records, universe)
    if places is None:
        places = np.fromiter(map(universe.index, records), dtype=np.intp)
    return np.bincount(places, minlength=universe.number).astype(np.int64)


def _places_of(records: list[Any], universe: FiniteUniverse) -> NDArray[np.intp] | None:
    """Return where numbers of one plain type stand in a universe, without a table of its values.

    None if one is not there, or what they are has to be compared one by one.
    """
    values: NDArray[Any] | None = getattr(universe, "array", None)  # of numbers
    if values is None or len(set(map(type, records))) != 1:
        return None
    given = np.asarray(records)
    if given.dtype != values.dtype or given.dtype == object:
        return None
    places = values.searchsorted(given)
    there = bool((values.take(places, mode="clip") == given).all())
    return places if there else None


def check_related(
    x: Multiplicities, y: Multiplicities, universe: FiniteUniverse, relation: Relation
) -> None:
    """Raise VerificationError unless x and y are datasets of the universe and neighbors."""
    for dataset in (x, y):
        _check_within(dataset, universe, VerificationError)
    removed, added = moved(x, y)
    # Shared records can change places with equal ones outside both, as far as there are any.
    limits = universe.multiplicities(int(x.sum()) + relation.k)
    swaps = int(np.minimum(np.minimum(x, y), limits - np.maximum(x, y)).sum())
    changes = relation.changes(int(x.sum()), universe)
    if not any(0 <= i - removed == j - added <= swaps for i, j in changes):
        raise VerificationError(
            f"x = {show(universe.dataset(x))} and y = {show(universe.dataset(y))} are not "
            f"neighbors ({relation}): {removed} records are only in x, {added} only in y"
        )


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
