"""The neighbor relations, and checks of datasets and of pairs of neighbors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sensitivity_lab.checks import check_flag, did_you_mean, shown, text_of
from sensitivity_lab.checks import check_whole as check_whole
from sensitivity_lab.errors import InputError, VerificationError

from .interval import Space
from .multiplicities import Multiplicities
from .multiset import FiniteUniverse
from .relation import Relation as Relation
from .relation import RemovedAdded as RemovedAdded
from .relation import Step as Step

Dataset = tuple[Any, ...]
"""The records of a dataset, ascending: numbers, or rows in the order of their universe."""


_SHOWN = 16
"""The most records of a dataset that are shown."""


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
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 4])
    >>> list(sl.neighboring_datasets(universe, (1, 2, 3), sl.Bounded(1)))
    [(2, 3, 4), (1, 3, 4), (1, 2, 4)]
    """

    name: ClassVar[str] = "bounded"
    keeps_size: ClassVar[bool] = True

    @property
    def step(self) -> Step | None:
        """A record is replaced."""
        return "replace"

    @property
    def _limits(self) -> str:
        if self.exactly:
            return "replacing exactly k records needs k <= size and k <= records outside x"
        return "replacing needs k <= size and at least one record outside x"

    def _largest(self, size: int, universe: Space) -> int | float:
        outside = universe.size - size
        return min(size, outside) if self.exactly or outside < 1 else size

    def _changes_at(self, k: int) -> Iterable[RemovedAdded]:
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
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 4])
    >>> list(sl.neighboring_datasets(universe, (1, 2, 3), sl.Unbounded(1)))
    [(2, 3), (1, 3), (1, 2), (1, 2, 3, 4)]
    """

    direction: Literal["both", "add", "remove"] = "both"

    name: ClassVar[str] = "unbounded"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        words = ("both", "add", "remove")
        if not isinstance(self.direction, str) or self.direction not in words:
            raise InputError(
                f"direction must be 'both', 'add' or 'remove', got {shown(self.direction)}"
            )

    @property
    def family(self) -> str:
        """The relation without its distance, for tables and labels."""
        return self.name if self.direction == "both" else f"{self.name} ({self.direction})"

    @property
    def step(self) -> Step | None:
        """A record is added or removed; one direction alone is no distance."""
        return "add or remove" if self.direction == "both" else None

    @property
    def _limits(self) -> str:
        remove, add = "removing needs k < size", "adding needs k <= records outside x"
        return {"both": f"{remove}, {add}", "add": add, "remove": remove}[self.direction]

    def _largest(self, size: int, universe: Space) -> int | float:
        add, remove = universe.size - size, size - 1
        return {"both": min(add, remove), "add": add, "remove": remove}[self.direction]

    def _advice(self, most: int | float, size: int, universe: Space) -> str:
        advice = super()._advice(most, size, universe)
        others = [
            f"direction={direction!r}"
            for direction in ("add", "remove")
            if self.k <= replace(self, direction=direction)._largest(size, universe)
        ]
        return advice + "".join(f", or choose {other}" for other in others)

    def _changes_at(self, k: int) -> Iterable[RemovedAdded]:
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
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3])
    >>> list(sl.neighboring_datasets(universe, (1, 2), sl.SymmetricDifference(2, exactly=True)))
    [(2, 3), (1, 3)]
    """

    name: ClassVar[str] = "symmetric difference"

    @property
    def step(self) -> Step | None:
        """A record is added or removed."""
        return "add or remove"

    @property
    def _limits(self) -> str:
        return "at most all records of x can be removed and at most those outside x added"

    def _largest(self, size: int, universe: Space) -> int | float:
        outside = universe.size - size
        return size + outside if outside else size - 1

    def _changes_at(self, k: int) -> Iterable[RemovedAdded]:
        return ((removed, k - removed) for removed in range(k, -1, -1))


RELATIONS: dict[str, type[Relation]] = {
    "bounded": Bounded,
    "unbounded": Unbounded,
    "symmetric_difference": SymmetricDifference,
}


_ELSEWHERE = {
    ("replace", "replace_one", "change_one", "swap", "substitute"): "bounded",
    ("add", "remove", "add_remove", "add_or_remove"): "unbounded",
    ("symmetric", "symmetric_distance"): "symmetric_difference",
}
"""What relations are called elsewhere, and here."""


def as_relation(neighbors: Any, *, k: int = 1, exactly: bool = False) -> Relation:
    """Return a relation given itself or its name; raise InputError with the choices otherwise."""
    if isinstance(neighbors, Relation):
        return replace(neighbors, exactly=True) if check_flag("exactly", exactly) else neighbors
    if isinstance(neighbors, type) and issubclass(neighbors, Relation):
        return neighbors(k, exactly)
    if isinstance(neighbors, str) and neighbors.replace(" ", "_") in RELATIONS:
        return RELATIONS[neighbors.replace(" ", "_")](k, exactly)
    raise InputError(
        f"unknown neighbor relation {shown(neighbors)}; choose one of "
        f"{', '.join(map(repr, RELATIONS))}, or Bounded(k), Unbounded(k), SymmetricDifference(k)"
        f"{_meant(neighbors)}"
    )


def _meant(neighbors: Any) -> str:
    """Return the end of the message about an unknown relation: what may be meant."""
    if isinstance(neighbors, str):
        for words, name in _ELSEWHERE.items():
            if neighbors.lower().replace(" ", "_").replace("-", "_") in words:
                return f"; did you mean {name!r}?"
    return did_you_mean(neighbors, RELATIONS)


def check_size(size: Any, universe: Space) -> int:
    """Return a dataset size that the universe can fill, or raise InputError."""
    records = check_whole("size", size, "a number of records, at least 1")
    if records > universe.size:
        raise InputError(
            f"size must be at most the universe's number of records, {universe.size}; got {records}"
        )
    return records


def check_dataset(x: Iterable[Any], universe: FiniteUniverse) -> Dataset:
    """Return a dataset in ascending order, or raise InputError if it is not of the universe."""
    listed = universe.records_of(x)
    multiplicities = multiplicities_of(listed, universe)
    check_size(len(listed), universe)
    for value, count, limit in zip(
        universe.values, multiplicities, universe.multiplicities(len(listed)), strict=True
    ):
        if count > limit:
            raise InputError(
                f"the dataset has {count} records {value}, the universe only {limit}: {universe}"
            )
    return universe.dataset(multiplicities)


def show(dataset: Sequence[Any], things: str = "records") -> str:
    """Return a dataset as text, its middle left out if it is long."""
    if len(dataset) <= _SHOWN:
        return f"({', '.join(map(text_of, dataset))}{',' * (len(dataset) == 1)})"
    head, tail = dataset[: _SHOWN // 2], dataset[-_SHOWN // 2 :]
    shown = ", ".join([*map(text_of, head), "...", *map(text_of, tail)])
    return f"({shown}; {len(dataset):,} {things})"


def multiplicities_of(x: Iterable[Any], universe: FiniteUniverse) -> Multiplicities:
    """Return how often each distinct value of the universe occurs in x, or raise InputError."""
    places = np.fromiter(map(universe.index, universe.records_of(x)), dtype=np.intp)
    return np.bincount(places, minlength=len(universe.values)).astype(np.int64)


def check_related(
    x: Multiplicities, y: Multiplicities, universe: FiniteUniverse, relation: Relation
) -> None:
    """Raise VerificationError unless x and y are datasets of the universe and neighbors."""
    for dataset in (x, y):
        limits = universe.multiplicities(int(dataset.sum()))
        if (dataset < 0).any() or (dataset > limits).any():
            place = int(np.flatnonzero((dataset < 0) | (dataset > limits))[0])
            raise VerificationError(
                f"a dataset has {dataset[place]} records {universe.values[place]}, "
                f"the universe {limits[place]}"
            )
    removed, added = int(np.maximum(x - y, 0).sum()), int(np.maximum(y - x, 0).sum())
    # Shared records can change places with equal ones outside both, as far as there are any.
    limits = universe.multiplicities(int(x.sum()) + relation.k)
    swaps = int(np.minimum(np.minimum(x, y), limits - np.maximum(x, y)).sum())
    changes = relation.changes(int(x.sum()), universe)
    if not any(0 <= i - removed == j - added <= swaps for i, j in changes):
        shown = " and ".join(
            f"{name} = {show(universe.dataset(data))}" for name, data in (("x", x), ("y", y))
        )
        raise VerificationError(
            f"{shown} are not neighbors ({relation}): {removed} records are only in x, "
            f"{added} only in y"
        )
