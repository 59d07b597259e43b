"""A space: all possible datasets, and which of them are neighbors."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from sensitivity_lab.checks import (
    as_python,
    check_callable,
    check_positive,
    check_running,
    finite_number,
    is_hashable,
    listed,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import brief
from sensitivity_lab.running import tracked

from .nearness import Measured, Near, Number, Steps

MOST_DATASETS = 2**16
"""All graphs on 6 nodes are half as many."""

MOST_DISTANCES = 2**23
"""Of pairs of datasets; 4,096 datasets have fewer. A metric in Python takes about a minute."""

_DATASETS = "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)]"

_ONE_OF_BOTH = "pass metric or neighbors: a function metric(a, b), or a function neighbors(a)"


@dataclass(frozen=True)
class Within:
    """Two datasets of a space at a distance of at most k.

    Parameters
    ----------
    k : number, default 1
        The distance, above 0: a number of steps from neighbor to neighbor, or what the metric of
        the space returns, which can be a fraction or a float.

    Raises
    ------
    InputError
        If it is not a number above 0.

    Examples
    --------
    >>> print(Within(2), "|", Within(0.5))
    distance at most 2 | distance at most 0.5
    """

    k: Number = 1

    def __post_init__(self) -> None:
        """Check the distance."""
        check_positive("k", self.k)
        k = as_python(self.k)
        object.__setattr__(self, "k", Fraction(k) if isinstance(k, Decimal) else k)

    def __str__(self) -> str:
        return f"distance at most {shown(self.k)}"


class Neighbors(NamedTuple):
    """The neighbors in a space, as noise compares them: the same k by another metric is another."""

    k: Number
    text: str
    by: Hashable

    def __str__(self) -> str:
        return self.text


class Space:
    """Datasets of your own, all that are possible, and which of them are neighbors.

    Parameters
    ----------
    datasets : iterable
        Every possible dataset, from 2 to 65,536: rankings, sets, strings, ordered lists, hashable
        or not. They are public, and a dataset that is not listed is not protected.
    metric : callable, optional
        ``metric(a, b)`` is the distance of two datasets: a finite number, at least 0, the same for
        ``metric(b, a)``, and 0 for ``metric(a, a)``. Different datasets can be at distance 0, too.
    neighbors : callable, optional
        In place of a metric: ``neighbors(a)`` lists the neighbors of a dataset, all of them in
        `datasets`, and is one of them a neighbor of another, so is that one of it. The distance of
        two datasets is the fewest steps from neighbor to neighbor.
    progress : bool, optional
        Whether to show how many datasets are done; by default on a terminal, after one second.

    Attributes
    ----------
    datasets : tuple
    metric, neighbors : callable or None
        Both are None in spaces that `graphs` and `sequences` make.
    distances : tuple of number or None
        The distances by the metric that occur between two of the datasets, ascending.

    Raises
    ------
    InputError
        If there are fewer than two datasets, a function cannot be called, or no two datasets are
        neighbors.
    TooLargeError
        If there are more than 65,536 datasets, or more than 8,388,608 pairs to measure or of
        neighbors; 4,096 datasets have fewer.
    QueryError
        If a function raises, or breaks one of its rules; the message shows the pair.

    Notes
    -----
    With n datasets, the metric is called ``n**2`` times: on all pairs in both orders, and on each
    dataset with itself. Distances are compared exactly: floats that differ in the last bit are
    different distances. The metric need not obey the triangle inequality. `neighbors` is called
    once on each dataset.

    Examples
    --------
    The rankings of four things. Neighbors differ in one exchange of two that stand side by side,
    and the query is the place of the first thing:

    >>> from itertools import permutations
    >>> from sensitivity_lab import spaces
    >>> def exchanged(ranking):
    ...     for i in range(3):
    ...         yield (*ranking[:i], ranking[i + 1], ranking[i], *ranking[i + 2 :])
    >>> rankings = spaces.Space(permutations(range(4)), neighbors=exchanged)
    >>> def place_of_first(ranking):
    ...     return ranking.index(0)
    >>> spaces.global_sensitivity(rankings, place_of_first, neighbors=spaces.Within(1))
    Sensitivity of place_of_first: 1 (exact)
      neighbors  distance at most 1 by the neighbors exchanged; 24 datasets
      x          (0, 1, 2, 3)  f(x) = 0
      y          (1, 0, 2, 3)  f(y) = 1
      method     enumeration: 24 datasets evaluated, 36 pairs of neighbors compared
    """

    _noun: ClassVar[str] = "dataset"
    _parts: ClassVar[str] = "entries"
    _takes: ClassVar[str] = "a dataset"

    datasets: tuple[Any, ...]
    metric: Any = None
    neighbors: Any = None
    distances: tuple[Number, ...] | None = None
    _near: Near
    _queries: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    _family: str = "distance"
    _sizes: tuple[int, ...] = ()
    _known_by: str = ""
    """Of spaces that the library makes, what says which neighbors they have."""

    def __init__(
        self,
        datasets: Iterable[Any],
        metric: Callable[[Any, Any], Any] | None = None,
        *,
        neighbors: Callable[[Any], Iterable[Any]] | None = None,
        progress: bool | None = None,
    ) -> None:
        read = tuple(listed(datasets, _DATASETS))
        if len(read) < 2:
            raise InputError(f"{_DATASETS}, got {len(read)}")
        if metric is not None:
            check_callable("metric", metric, "a function metric(a, b) of two datasets")
        if neighbors is not None:
            check_callable("neighbors", neighbors, "a function neighbors(a) of a dataset")
        if (metric is None) == (neighbors is None):
            raise InputError(f"{_ONE_OF_BOTH}, and not {'neither' if metric is None else 'both'}")
        check_running(None, progress)
        if len(read) > MOST_DATASETS:
            raise TooLargeError(
                f"there are {len(read):,} datasets; the limit is {MOST_DATASETS:,}. Use fewer"
            )
        self.datasets, self.metric, self.neighbors = read, metric, neighbors
        if neighbors is not None:
            self._near = self._stepped(progress)
            return
        pairs = len(read) * (len(read) - 1) // 2
        if pairs > MOST_DISTANCES:
            raise TooLargeError(
                f"{len(read):,} datasets have {pairs:,} pairs, and the metric would be called on "
                f"each in both orders; the limit is {MOST_DISTANCES:,}. Use fewer datasets, or "
                "neighbors= in place of the metric"
            )
        self._near = measured = self._measured(progress)
        self.distances = tuple(sorted(measured.distances))

    def _measured(self, progress: bool | None) -> Measured:
        """Return the distances of all pairs, each measured in both orders."""
        seen: dict[Number, int] = {}  # by distance, its place in the order of discovery
        number = len(self.datasets)
        which = np.full((number, number), -1, dtype=np.int32)
        for row in tracked(range(number), unit="datasets", progress=progress):
            x = self.datasets[row]
            itself = self._distance(x, x)
            if itself != 0:
                raise QueryError(
                    f"{self._called(x, x)} returned {shown(itself)}; a dataset is at distance 0 "
                    "from itself"
                )
            found = []
            for y in self.datasets[row + 1 :]:
                distance, back = self._distance(x, y), self._distance(y, x)
                if distance != back:
                    raise QueryError(
                        f"{self._called(x, y)} returned {shown(distance)}, and in the other order "
                        f"{shown(back)}; a distance is the same in both"
                    )
                found.append(seen.setdefault(distance, len(seen)))
            which[row, row + 1 :] = which[row + 1 :, row] = found
        return Measured(tuple(seen), which)

    def _distance(self, x: Any, y: Any) -> Number:
        """Return what the metric says of two datasets, or raise QueryError."""
        returned = self._asked(self.metric, x, y)
        distance = finite_number(returned)
        if distance is None or distance < 0:
            raise QueryError(
                f"{self._called(x, y)} returned {shown(returned)}; it returns a finite number, at "
                "least 0"
            )
        return Fraction(distance) if isinstance(distance, Decimal) else distance

    def _stepped(self, progress: bool | None) -> Steps:
        """Return the steps from neighbor to neighbor."""
        places: dict[Hashable, int] = {}
        for place, one in enumerate(self.datasets):
            if places.setdefault(_key(one), place) < place:
                raise InputError(f"datasets has {shown(one)} twice; list each dataset once")
        near: list[set[int]] = []
        listed_in_all = 0
        for x in tracked(self.datasets, unit="datasets", progress=progress):
            found = set()
            for y in self._steps_from(x):
                key = _key(y)
                if key not in places:
                    raise QueryError(
                        f"{self._called(x)} listed {shown(y)}, which is not one of the datasets; "
                        f"they are {brief(self.datasets)}"
                    )
                found.add(places[key])
            near.append(found)
            listed_in_all += len(found)
            if listed_in_all > MOST_DISTANCES:
                raise TooLargeError(
                    f"{self._by} are more than {MOST_DISTANCES:,} in all, which is the limit; use "
                    "fewer datasets"
                )
        self._check_mutual(near)
        return Steps([np.array(sorted(others), dtype=np.int64) for others in near])

    def _check_mutual(self, near: list[set[int]]) -> None:
        """Raise QueryError unless neighbors are so both ways; leave out the dataset itself."""
        for place, (x, others) in enumerate(zip(self.datasets, near, strict=True)):
            others.discard(place)
            for other in others:
                if place not in near[other]:
                    raise QueryError(
                        f"{self._called(x)} listed {shown(self.datasets[other])}, and not the "
                        "other way round; of two neighbors each is one of the other"
                    )
        if not any(near):
            raise InputError(f"no two datasets are neighbors by {self._by}")

    def _steps_from(self, dataset: Any) -> list[Any]:
        """Return the neighbors that the function lists of a dataset, or raise QueryError."""
        returned = self._asked(self.neighbors, dataset)
        try:
            return listed(returned, f"{self._called(dataset)} must return several datasets")
        except InputError as error:
            raise QueryError(str(error)) from error

    def _asked(self, function: Callable[..., Any], *datasets: Any) -> Any:
        """Return what a caller's function says of datasets, or raise QueryError."""
        try:
            return function(*own(datasets))
        except Exception as error:
            raise QueryError(
                f"{self._called(*datasets)} raised {type(error).__name__}: {shown(str(error))}"
            ) from error

    def _called(self, *datasets: Any) -> str:
        """Return how errors name a call of the metric, or of the function of neighbors."""
        by = self._by if self.metric else f"the function {name_of(self.neighbors, 'neighbors')}"
        return f"{by} on {' and '.join(map(brief, datasets))}"

    @property
    def _by(self) -> str:
        """The metric or the neighbors, with the name of the function if it has one."""
        what, function = ("metric", self.metric) if self.metric else ("neighbors", self.neighbors)
        return f"the {what} {name_of(function, '')}".rstrip()

    def __len__(self) -> int:
        """Return the number of datasets."""
        return len(self.datasets)

    def __repr__(self) -> str:
        return f"Space({brief(self.datasets)}, {self._by})"

    def __str__(self) -> str:
        return self._size

    @property
    def _size(self) -> str:
        """The sizes of its datasets in words, if these have any; else how many there are."""
        return f"{len(self):,} datasets"

    def _place(self, dataset: Any, name: str) -> int:
        """Return which of the datasets a caller's one is, or raise InputError."""
        for same in (operator.is_, _equal):
            for place, one in enumerate(self.datasets):
                if same(one, dataset):
                    return place
        raise InputError(
            f"{name} must be one of the datasets of the space, got {shown(dataset)}; they are "
            f"{brief(self.datasets)}"
        )

    def _told(self, relation: Within) -> str:
        """Return in words which datasets are neighbors."""
        return f"{relation} by {self._by}"

    def _text(self, dataset: Any) -> str:
        """Return a dataset as text."""
        return brief(dataset)

    def _changed(self, x: Any, y: Any) -> str | None:
        """Return what differs between two datasets in words, where there are any for it."""
        return None

    def _check_named(self, query: str) -> None:
        """Raise InputError if a query that has a name is not possible here."""

    def _in(self, relation: Within) -> Neighbors:
        """Return what has to be the same where results are released together."""
        return Neighbors(relation.k, self._told(relation), self._known_by or self)

    def _relates(self, x: int, y: int, relation: Within) -> bool:
        """Tell whether two of the datasets are neighbors; a metric is asked again."""
        if self.metric is not None:
            return bool(self._distance(self.datasets[x], self.datasets[y]) <= relation.k)
        around = self._near.around(np.array([x]), relation.k)
        return x == y or any(y in others for _, _, others in around)


def name_of(function: Any, otherwise: str = "function") -> str:
    """Return the name of a caller's function, if it has one."""
    name = getattr(function, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else otherwise


def own(dataset: Any) -> Any:
    """Return a dataset as a caller's function is called with, which may change it."""
    return dataset if is_hashable(dataset) else copy.deepcopy(dataset)


def _key(dataset: Any) -> Hashable:
    """Return a key that equal datasets share, or raise InputError."""
    if is_hashable(dataset):
        return cast(Hashable, dataset)
    key: Hashable = frozenset(dataset) if isinstance(dataset, set) else key_of(dataset)
    if not is_hashable(key):
        raise InputError(
            "datasets with neighbors= must be values, lists, arrays or sets of such, got "
            f"{shown(dataset)}"
        )
    return key


def _equal(one: Any, other: Any) -> bool:
    """Tell whether two datasets are the same; arrays are compared by their entries."""
    try:
        return bool(key_of(one) == key_of(other))
    except Exception:  # noqa: BLE001 - the caller's class; what cannot be compared is another one
        return False


@dataclass(frozen=True)
class SpaceWitness:
    """Two neighboring datasets that attain a sensitivity.

    Attributes
    ----------
    x, y : dataset
        A graph is the tuple of its edges, ascending; a sequence the tuple of its entries.
    query_x, query_y : int, float, Fraction or tuple of such
        The query's answers on them.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> space = spaces.Space([0, 1, 5], lambda a, b: abs(a - b))
    >>> spaces.global_sensitivity(space, lambda x: x * x, neighbors=spaces.Within(4)).witness
    SpaceWitness(x=1, y=5, query_x=1, query_y=25)
    """

    x: Any
    y: Any
    query_x: Any
    query_y: Any
