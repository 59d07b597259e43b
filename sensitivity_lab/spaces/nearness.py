"""Which datasets of a space are near each other: by measured distances, or by steps.

The datasets are the numbers 0 to n - 1 here, so that arrays hold many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_whole, shown
from sensitivity_lab.errors import InputError

Places = NDArray[np.int64]
"""Datasets, by their numbers."""

Number = int | float | Fraction

_CELLS = 2**16
"""So many pairs of datasets are looked at at a time."""


def in_parts(places: Places, size: int) -> Iterator[Places]:
    """Yield datasets, at most so many at a time."""
    for start in range(0, len(places), size):
        yield places[start : start + size]


class Near:
    """Which datasets are at most at a distance k of each other.

    The distance is the fewest steps from neighbor to neighbor, unless a class says otherwise.
    """

    def check(self, k: Number) -> None:
        """Raise InputError if no two datasets are so near."""
        check_whole("k", k, "how many steps from neighbor to neighbor, at least 1")

    def around(self, places: Places, k: Number) -> Iterator[tuple[int, Places, Places]]:
        """Yield some of the datasets at a time: how many, and the pairs of each with all near it.

        The two of a pair are different datasets.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Measured(Near):
    """Datasets with a distance between any two of them.

    Attributes
    ----------
    distances : tuple of number
        The distances that occur.
    which : ndarray of int, shape (n, n)
        Which of these two datasets have; -1 for a dataset and itself.
    """

    distances: tuple[Number, ...]
    which: NDArray[np.int32]

    def check(self, k: Number) -> None:
        """Raise InputError if no two datasets are so near."""
        if k < min(self.distances):
            raise InputError(
                f"no two datasets are within {shown(k)} of each other; the smallest distance is "
                f"{shown(min(self.distances))}"
            )

    def around(self, places: Places, k: Number) -> Iterator[tuple[int, Places, Places]]:
        """Yield the pairs that have such a distance."""
        near = [one <= k for one in self.distances]
        chosen = np.array([*near, False])  # the last one is that of -1
        for part in in_parts(places, max(1, _CELLS // len(self.which))):
            rows, others = np.nonzero(chosen[self.which[part]])
            yield len(part), part[rows], others


@dataclass(frozen=True)
class Steps(Near):
    """Datasets whose distance is the fewest steps from neighbor to neighbor.

    Attributes
    ----------
    neighbors : list of ndarray of int
        Those of each dataset, ascending; of two neighbors each is one of the other.
    """

    neighbors: list[Places]

    @classmethod
    def of(cls, number: int, x: Places, y: Places) -> Steps:
        """Return the steps of some pairs of neighbors, given in one order or both, or twice."""
        pairs = np.sort(np.concatenate([x * number + y, y * number + x]))
        of_x, of_y = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], number)
        of_x, of_y = of_x[of_x != of_y], of_y[of_x != of_y]
        return cls(np.split(of_y, np.searchsorted(of_x, np.arange(1, number))))

    def around(self, places: Places, k: Number) -> Iterator[tuple[int, Places, Places]]:
        """Yield the pairs, by going on from the datasets that the last step reached."""
        number = len(self.neighbors)
        width = number if k > 1 else max(map(len, self.neighbors))
        for part in in_parts(places, max(1, _CELLS // width)):
            # A cell is a dataset of the part, and one that is reached from it.
            itself = np.arange(len(part)) * number + part
            cells = _reached(itself, self._next, len(part) * number, int(k))
            rows, others = np.divmod(cells, number)
            yield len(part), part[rows], others

    def _next(self, cells: Places) -> Places:
        """Return the cells one step from some; they may come twice."""
        rows, at = np.divmod(cells, len(self.neighbors))
        near = [self.neighbors[place] for place in at.tolist()]
        return np.asarray(
            np.repeat(rows * len(self.neighbors), list(map(len, near))) + np.concatenate(near)
        )


@dataclass(frozen=True)
class Flips(Near):
    """Sets as whole numbers, whose bits are what they hold; neighbors differ by a flip of bits.

    Attributes
    ----------
    number : int
        How many sets there are, a power of two.
    flips : ndarray of int
        The bits in which neighbors differ: the same of every set.
    """

    number: int
    flips: Places

    def around(self, places: Places, k: Number) -> Iterator[tuple[int, Places, Places]]:
        """Yield the pairs; what the empty set reaches in k steps is what k flips change."""
        flips = _reached(np.array([0]), self._next, self.number, int(k))
        for part in in_parts(places, max(1, _CELLS // max(1, len(flips)))):
            yield len(part), np.repeat(part, len(flips)), (part[:, None] ^ flips).ravel()

    def _next(self, sets: Places) -> Places:
        """Return the sets one step from some; they may come twice."""
        return (sets[:, None] ^ self.flips).ravel()


def _reached(start: Places, step: Callable[[Places], Places], number: int, k: int) -> Places:
    """Return which of so many cells at most k steps reach from some, without these."""
    if k == 1:
        return step(start)
    reached = np.zeros(number, dtype=bool)
    reached[start], latest = True, start
    for _ in range(k):
        if not len(latest):
            break
        new = np.zeros_like(reached)
        new[step(latest)] = True
        new &= ~reached
        reached |= new
        latest = np.flatnonzero(new)
    reached[start] = False
    return np.flatnonzero(reached)
