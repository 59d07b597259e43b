"""A caller's own datasets, listed, with a metric of their distances."""

from __future__ import annotations

import copy
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    as_python,
    check_callable,
    check_flag,
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
from sensitivity_lab.results.noise_context import Things
from sensitivity_lab.running import tracked

from .space import (
    Answer,
    Block,
    Code,
    FiniteSpace,
    Number,
    Pairs,
    SpaceRelation,
    SpaceWitness,
    in_parts,
    pairs_with,
)

MOST_DISTANCES = 2**23
"""Of pairs of datasets; 4,096 datasets have as many. A metric in Python takes about a minute."""

_SCANNED = 2**20
"""So many distances at a time are compared with k."""

_DATASETS = "datasets must be a sequence of at least two datasets, such as [(1, 2), (2, 1)]"


class Space(FiniteSpace):
    """Datasets of your own, all that are possible, with a metric.

    Parameters
    ----------
    datasets : iterable
        Every possible dataset, at least two: rankings, sets, strings, ordered lists, hashable or
        not. They are public, and a dataset that is not listed is not protected.
    metric : callable
        ``metric(a, b)`` is the distance of two datasets: a finite number, at least 0, the same for
        ``metric(b, a)``, and 0 for ``metric(a, a)``. Different datasets can be at distance 0, too.
    progress : bool, optional
        Whether to show how many datasets are measured; by default on a terminal, after one second.

    Attributes
    ----------
    datasets : tuple
    metric : callable
    distances : tuple of number
        The distances that occur between two of the datasets, ascending.

    Raises
    ------
    InputError
        If there are fewer than two datasets, or the metric cannot be called.
    TooLargeError
        If there are more than 8,388,608 pairs; 4,096 datasets have fewer.
    QueryError
        If the metric raises, or breaks one of its rules; the message shows the pair.

    Notes
    -----
    Making a space of n datasets calls the metric ``n**2`` times: on all pairs in both orders, and
    on each dataset with itself. Distances are compared exactly: floats that differ in the last bit
    are different distances. The metric need not obey the triangle inequality.

    Examples
    --------
    The rankings of four things. Neighbors differ in one exchange of two that stand side by side,
    and the query is the place of the first thing:

    >>> from itertools import combinations, permutations
    >>> from sensitivity_lab import spaces
    >>> def exchanges(a, b):
    ...     pairs = combinations(range(4), 2)
    ...     return sum((a.index(i) < a.index(j)) != (b.index(i) < b.index(j)) for i, j in pairs)
    >>> rankings = spaces.Space(permutations(range(4)), exchanges)
    >>> def place_of_first(ranking):
    ...     return ranking.index(0)
    >>> spaces.global_sensitivity(rankings, place_of_first, neighbors=spaces.Within(1))
    Sensitivity of place_of_first: 1 (exact)
      neighbors  distance at most 1; 24 datasets with the metric exchanges
      x          (0, 1, 2, 3)  f(x) = 0
      y          (1, 0, 2, 3)  f(y) = 1
      method     enumeration: 24 datasets evaluated, 36 pairs of neighbors compared
    """

    _noun = "dataset"
    _takes = "a dataset"
    _fewer = "fewer datasets"
    _few = "fewer datasets"
    _picture = "plot_datasets"
    _things = Things(
        data="dataset",
        parts="entries",
        room="sl.spaces",
        listed="",  # the datasets that a caller lists are all that there are
        domain="",
        public="",
        every_size="",
    )

    def __init__(
        self,
        datasets: Iterable[Any],
        metric: Callable[[Any, Any], Any],
        *,
        progress: bool | None = None,
    ) -> None:
        read = tuple(listed(datasets, _DATASETS))
        if len(read) < 2:
            raise InputError(f"{_DATASETS}, got {len(read)}")
        check_callable("metric", metric, "a function metric(a, b) of two datasets")
        check_running(None, progress)
        pairs = len(read) * (len(read) - 1) // 2
        if pairs > MOST_DISTANCES:
            raise TooLargeError(
                f"{len(read):,} datasets have {pairs:,} pairs, and the metric would be called on "
                f"each in both orders; the limit is {MOST_DISTANCES:,}. Use fewer datasets"
            )
        self.datasets = read
        self.metric = metric
        distances, self._ranks = self._measured(progress)
        self.distances = distances

    def _measured(self, progress: bool | None) -> tuple[tuple[Number, ...], NDArray[np.int32]]:
        """Return the different distances, ascending, and which one each pair has, row by row."""
        seen: dict[Number, int] = {}  # by distance, its place in the order of discovery
        places = np.empty(len(self.datasets) * (len(self.datasets) - 1) // 2, dtype=np.int32)
        at = 0
        rows = range(len(self.datasets))
        for row in tracked(rows, unit="datasets", progress=progress):
            x = self.datasets[row]
            itself = self._distance(x, x)
            if itself != 0:
                raise QueryError(
                    f"{self._called(x, x)} returned {shown(itself)}; a dataset is at distance 0 "
                    "from itself"
                )
            for y in self.datasets[row + 1 :]:
                distance, back = self._distance(x, y), self._distance(y, x)
                if distance != back:
                    raise QueryError(
                        f"{self._called(x, y)} returned {shown(distance)}, and in the other order "
                        f"{shown(back)}; a distance is the same in both"
                    )
                places[at] = seen.setdefault(distance, len(seen))
                at += 1
        ascending = sorted(seen)
        ranks = np.empty(len(seen), dtype=np.int32)
        ranks[[seen[distance] for distance in ascending]] = np.arange(len(seen), dtype=np.int32)
        return tuple(ascending), ranks[places]

    def _distance(self, x: Any, y: Any) -> Number:
        """Return what the metric says of two datasets, or raise QueryError."""
        try:
            returned = self.metric(x, y)
        except Exception as error:
            raise QueryError(
                f"{self._called(x, y)} raised {type(error).__name__}: {shown(str(error))}"
            ) from error
        distance = finite_number(returned)
        if distance is None or distance < 0:
            raise QueryError(
                f"{self._called(x, y)} returned {shown(returned)}; it returns a finite number, at "
                "least 0"
            )
        return Fraction(distance) if isinstance(distance, Decimal) else distance

    def _called(self, x: Any, y: Any) -> str:
        """Return how errors name a call of the metric."""
        return f"{self._by} on {brief(x)} and {brief(y)}"

    @property
    def _by(self) -> str:
        """The metric, with its name if it has one."""
        name = getattr(self.metric, "__name__", "")
        good = isinstance(name, str) and name.isidentifier()
        return f"the metric {name}" if good else "the metric"

    @property
    def _starts(self) -> NDArray[np.int64]:
        """Where the row of each dataset begins in `_ranks`: its pairs with all datasets behind it.

        So the pair of the datasets i < j stands at ``_starts[i] + j - i - 1``.
        """
        rows = np.arange(len(self.datasets), dtype=np.int64)
        return rows * (2 * len(self.datasets) - rows - 1) // 2

    def __len__(self) -> int:
        """Return the number of datasets."""
        return len(self.datasets)

    def __repr__(self) -> str:
        return f"Space({brief(self.datasets)}, {self._by})"

    def __str__(self) -> str:
        return f"{self._size} with {self._by}"

    @property
    def _size(self) -> str:
        return f"{len(self):,} datasets"

    def _code(self, dataset: Any, name: str) -> Code:
        every = range(len(self.datasets))
        same = (place for place in every if self.datasets[place] is dataset)
        equal = (place for place in every if _equal(self.datasets[place], dataset))
        place = next(chain(same, equal), None)
        if place is None:
            raise InputError(
                f"{name} must be one of the datasets of the space, got {shown(dataset)}; they are "
                f"{brief(self.datasets)}"
            )
        return (), place

    def _argument(self, code: Code) -> Any:
        one = self.datasets[code[1]]
        return one if is_hashable(one) else copy.deepcopy(one)  # the function may change it

    def _told(self, code: Code) -> str:
        return brief(self.datasets[code[1]])

    def _witness(
        self, x: Code, y: Code, answers: tuple[Answer, Answer], neighbors: Any
    ) -> SpaceWitness:
        return SpaceWitness(self.datasets[x[1]], self.datasets[y[1]], *answers)


def _equal(one: Any, other: Any) -> bool:
    """Tell whether two datasets are the same; arrays are compared by their entries."""
    try:
        return bool(key_of(one) == key_of(other))
    except Exception:  # noqa: BLE001 - the caller's class; what cannot be compared is another one
        return False


@dataclass(frozen=True)
class Within(SpaceRelation):
    """Two datasets of a `Space` at a distance of at most k, or of exactly k.

    Parameters
    ----------
    k : number, default 1
        The distance, above 0; it can be a fraction or a float, as the metric returns.
    exactly : bool, default False
        Whether neighbors are at distance exactly k instead of at most k.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> print(Within(2), "|", Within(0.5, exactly=True))
    distance at most 2 | distance exactly 0.5
    """

    k: Number = 1
    exactly: bool = False

    _family = "distance"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive("k", self.k)
        k = as_python(self.k)
        object.__setattr__(self, "k", Fraction(k) if isinstance(k, Decimal) else k)
        object.__setattr__(self, "exactly", check_flag("exactly", self.exactly))

    @property
    def meaning(self) -> str:
        """Whether k is the distance "at most" or "exactly"."""
        return "exactly" if self.exactly else "at most"

    def __str__(self) -> str:
        return f"distance {self.meaning} {shown(self.k)}"

    def _ranks(self, space: Space) -> tuple[int, int]:
        """Return from which of the distances on, and up to which, datasets are neighbors."""
        first = bisect_left(space.distances, self.k) if self.exactly else 0
        return first, bisect_right(space.distances, self.k)

    def _check(self, space: Space) -> None:
        first, last = self._ranks(space)
        if first < last:
            return
        if self.exactly:
            known = brief(tuple(map(shown, space.distances)))
            raise InputError(
                f"no two datasets are at a distance of exactly {shown(self.k)}; the "
                f"distances are {known}"
            )
        raise InputError(
            f"no two datasets are within {shown(self.k)} of each other; the smallest "
            f"distance is {shown(space.distances[0])}"
        )

    def _pairs(self, space: Space, x: Code | None) -> Pairs:
        first, last = self._ranks(space)
        ranks, starts = space._ranks, space._starts
        every = np.arange(len(space.datasets), dtype=np.int64)

        def near(of_pairs: NDArray[np.int64] | slice) -> NDArray[np.int64]:
            """Return which of some pairs are neighbors."""
            return np.flatnonzero((first <= ranks[of_pairs]) & (ranks[of_pairs] < last))

        if x is not None:
            others = np.delete(every, x[1])
            low, high = np.minimum(others, x[1]), np.maximum(others, x[1])
            return pairs_with(x, others[near(starts[low] + high - low - 1)])

        def blocks(size: int) -> Iterator[Block]:
            for begin in range(0, len(ranks), _SCANNED):
                pairs = near(slice(begin, begin + _SCANNED)) + begin
                for part in in_parts(pairs, size):
                    # The row that a pair stands in; that of the last dataset is empty.
                    rows = np.searchsorted(starts, part, side="right") - 1
                    yield Block((), rows, (), part - starts[rows] + rows + 1)

        number = int(np.count_nonzero((first <= ranks) & (ranks < last)))
        return Pairs({(): every}, number, blocks)

    def _relates(self, witness: SpaceWitness, space: Space) -> bool:
        distance = space._distance(witness.x, witness.y)
        return bool(distance == self.k if self.exactly else distance <= self.k)

    def _is_exactly(self, space: Space) -> bool:
        return self.exactly and bool(space.distances[0] < self.k)

    def _in(self, space: Space) -> Any:
        return _WithinSpace(self, space)


@dataclass(frozen=True)
class _WithinSpace:
    """Neighbors in one space: the same distance by another metric is another relation."""

    relation: Within
    space: Space

    @property
    def k(self) -> Number:
        """The distance."""
        return self.relation.k

    def __str__(self) -> str:
        return f"{self.relation} by {self.space._by}"
