"""Pairs of datasets: which are searched together, which is furthest apart, and what has a core.

A core is a smaller dataset; the datasets of a size that contain it are above it in the lattice.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Answered, Query
from sensitivity_lab.results.witness import difference_of, rationals_of
from sensitivity_lab.running.machine import Machine
from sensitivity_lab.search.contenders import Contenders
from sensitivity_lab.search.lattice import Floats, Indices, Lattice
from sensitivity_lab.universes.relations import Multiplicities, repeated

from .answers_in_floats import Searched

BATCH = 1 << 20
"""About how many numbers are handled at a time."""


def above(lattice: Lattice, core: Multiplicities, size: int) -> Indices:
    """Return the positions in their level of the datasets of a size that contain a core.

    Notes
    -----
    Memory is 8 bytes per dataset, and what a batch needs.
    """
    shared = repeated(np.arange(len(core)), core)
    found = [np.empty(0, dtype=np.intp)]
    for more in _additions(lattice, core, size):
        # Few values: ranks from multiplicities, an entry per value. Few records: from rows, an
        # entry per record.
        if size > len(core):
            found.append(lattice.rank(core + _multiplicities(more, len(core))))
        else:
            rows = np.hstack([np.broadcast_to(shared, (len(more), len(shared))), more])
            found.append(lattice.rank_rows(np.sort(rows, axis=1)))
    return np.concatenate(found)


def containing(lattice: Lattice, core: Multiplicities, size: int) -> Multiplicities:
    """List the datasets of a size that contain a core, by multiplicities, in the order of `above`.

    Returns
    -------
    ndarray of int64, shape (datasets, m)
    """
    additions = _additions(lattice, core, size)
    listed = [core + _multiplicities(more, len(core)) for more in additions]
    return np.vstack([np.empty((0, len(core)), dtype=np.int64), *listed])


def _additions(lattice: Lattice, core: Multiplicities, size: int) -> Iterator[Indices]:
    """Yield, in batches, the rows of records that make datasets of a size of a core."""
    more = size - int(core.sum())
    left = [limit - have for limit, have in zip(lattice.counts, core.tolist(), strict=True)]
    free = Lattice(left, more, more)
    number, step = free.number(more), max(1, BATCH // max(size, len(core)))
    for first in range(0, number, step):
        yield free.rows(more, first, min(first + step, number))


def _multiplicities(rows: Indices, values: int) -> Multiplicities:
    """Return datasets given as rows by multiplicities, shape (datasets, values)."""
    cells = rows + values * np.arange(len(rows))[:, None]
    found = np.bincount(cells.ravel(), minlength=values * len(rows))
    return found.reshape(len(rows), values).astype(np.int64)


_CORES_AT_ONCE = 1 << 14
"""For how many cores bounds are computed at a time: a batch that stays in the cache."""


class Family(NamedTuple):
    """Pairs of one kind: the sizes of x, y and their core.

    `disjoint` pairs have no record in both A and B (exactly k replaced); for others it makes no
    difference, or smaller changes count too.
    """

    of_x: int
    of_y: int
    core: int
    disjoint: bool

    @property
    def larger(self) -> int:
        """The size of the larger dataset."""
        return max(self.of_x, self.of_y)

    @property
    def smaller(self) -> int:
        """The size of the smaller dataset."""
        return min(self.of_x, self.of_y)


@dataclass(frozen=True)
class FoundPair:
    """Two datasets, x of the family's size of x, and how far their answers are apart."""

    x: Multiplicities
    y: Multiplicities
    difference: Difference
    answers: tuple[Answered, Answered] | None


def best_pair(pairs: Iterable[FoundPair]) -> FoundPair:
    """Return the pair that is furthest apart, exactly; the first of equals."""
    return max(pairs, key=attrgetter("difference"))


def highs_and_lows(big: Floats, extremes: Floats) -> tuple[Floats, Floats]:
    """Return the largest answers over cores, and minus the smallest ones.

    Parameters
    ----------
    big : ndarray, shape (cores, 2 * columns)
        Extremes over the same cores, which tell how many columns there are.
    extremes : ndarray, shape (cores, 2 * columns), (cores, columns) or (cores,)
        Extremes, as columns [hi, -lo], or the answers on the cores themselves, which are both.
    """
    count = big.shape[1] // 2
    columns = extremes.reshape(len(extremes), -1)
    return columns[:, :count], columns[:, count:] if columns.shape[1] > count else -columns


def _by_bound(
    machine: Machine, bounds: Callable[..., Floats], arrays: Sequence[Floats]
) -> Iterator[tuple[float, int]]:
    """Yield the bounds over all cores with their positions, from the largest bound down.

    Of equals the first position comes first. Bounds are computed from the rows of some arrays, and
    only as far down as they are asked for: those between two of the largest bounds of batches at a
    time.
    """
    highest = machine.reduce(partial(_highest_bound, bounds), *arrays, rows=_CORES_AT_ONCE)
    # The largest bound of each batch. Bounds between two of these are listed at a time, and twice
    # as many batches each time: mostly the first few cores are enough.
    tops = sorted(highest.values(), reverse=True)
    above, number = None, 1
    while above is None or above > -math.inf:
        least = tops[number - 1] if number <= len(tops) else -math.inf
        only = {start for start, most in highest.items() if most >= least}
        within = partial(_within, bounds, least, above)
        found = machine.reduce(within, *arrays, rows=_CORES_AT_ONCE, only=only)
        cores = np.concatenate([start + place for start, (place, _) in found.items()])
        values = np.concatenate([some for _, some in found.values()])
        for place in np.argsort(-values, kind="stable"):
            yield float(values[place]), int(cores[place])
        above, number = least, 2 * number


def _contending(
    cores: Iterable[tuple[float, int]],
    pairs_over: Callable[[int, Contenders], Iterable[FoundPair]],
    error: float,
) -> Iterator[FoundPair]:
    """Yield pairs that can be the furthest apart, core after core until no other can have one.

    Parameters
    ----------
    cores : iterable of (float, int)
        Bounds over the cores and their positions, as `_by_bound` yields them.
    pairs_over : callable
        Lets `Contenders` see how far the pairs over a core are apart, and yields those.
    error : float
        Bounds the error of the bounds and of how far pairs are apart.
    """
    near = Contenders(error)
    for bound, core in cores:
        if not near.can_win(bound):
            return
        # Of each core its own contenders; what was reached over other cores excludes them from the
        # start.
        near = Contenders(error, near.reached)
        yield from pairs_over(core, near)


def _highest_bound(bounds: Callable[..., Floats], *parts: Floats) -> float:
    return float(bounds(*parts).max())


def _within(
    bounds: Callable[..., Floats], least: float, above: float | None, *parts: Floats
) -> tuple[Indices, Floats]:
    """Return which bounds are at least one number, and below another one, and these bounds."""
    every = bounds(*parts)
    wanted = every >= least if above is None else (every >= least) & (every < above)
    places = np.flatnonzero(wanted)
    return places, every[places]


@dataclass(frozen=True)
class PairFinder(ABC):
    """Finds the pair whose answers to a query are furthest apart.

    Parameters
    ----------
    problem : Problem
        Gives the universe and the norm.
    query : Query
    lattice : Lattice
    searched : Searched
        The answers.
    machine : Machine
    """

    problem: Problem
    query: Query
    lattice: Lattice
    searched: Searched
    machine: Machine

    @abstractmethod
    def find(self, family: Family, big: Floats, small: Floats) -> FoundPair:
        """Return the pair of a family that is furthest apart.

        Parameters
        ----------
        family : Family
            Which pairs.
        big : ndarray, shape (cores, 2 * columns)
            Over every core the extremes of the larger datasets, as columns [hi, -lo].
        small : ndarray, shape (cores, 2 * columns), (cores, columns) or (cores,)
            The same for the smaller datasets; where they are the cores, the answers on them.
        """

    def furthest(
        self,
        bounds: Callable[..., Floats],
        arrays: Sequence[Floats],
        pairs_over: Callable[[int, Contenders], Iterable[FoundPair]],
        error: float,
    ) -> FoundPair:
        """Return the best of the pairs over all cores; see `_contending` for the arguments."""
        cores = _by_bound(self.machine, bounds, arrays)
        return best_pair(_contending(cores, pairs_over, error))

    def over(self, family: Family, core: int) -> list[Indices]:
        """Return the positions of the datasets over a core: those of the size of x, then of y."""
        shared = self.lattice.multiplicities(family.core, core)
        return [above(self.lattice, shared, size) for size in (family.of_x, family.of_y)]

    def disjoint(self, family: Family, core: int) -> Callable[[Any], NDArray[np.bool_]]:
        """Return what tells, of places of x over a core, which y share no record of A and B."""
        shared = self.lattice.multiplicities(family.core, core)
        of_x, of_y = (containing(self.lattice, shared, size) for size in (family.of_x, family.of_y))
        both = self.problem.universe.multiplicities(family.of_x + family.of_y)
        # x = C + A and y = C + B count the core twice: A and B share no record where x + y is at
        # most the universe and the core once more.
        return partial(_fit_disjointly, of_x, of_y, both + shared)

    def pair_of(self, family: Family, x: int, y: int) -> FoundPair:
        """Return the pair of the datasets of these ranks among those of their sizes."""
        places = ((family.of_x, x), (family.of_y, y))
        one, other = (self.lattice.multiplicities(*place) for place in places)
        first, second = (self.query.exactly(self.problem.universe, of) for of in (one, other))
        answers = None
        if first is None or second is None:
            answers = self.searched.answer(*places[0]), self.searched.answer(*places[1])
            first, second = map(rationals_of, answers)
        apart = difference_of(first, second, self.problem.norm, self.query.root)
        return FoundPair(one, other, apart, answers)


def _fit_disjointly(
    of_x: Multiplicities, of_y: Multiplicities, limits: Multiplicities, places: Any
) -> NDArray[np.bool_]:
    """Return for a place of x, or several, which y fit, shape (y,) or (x, y)."""
    fits: NDArray[np.bool_] = np.all(of_x[places, None] + of_y <= limits, axis=-1)
    return fits
