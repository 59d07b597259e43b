"""Random steps away from a pair of neighbors, many at a time.

A step moves a stretch of records, consecutive in the order of the universe, of C, A or B to records
that are free, or exchanges two stretches of as many records of two of them. Long stretches matter:
worst pairs consist of few blocks, and a block that goes record by record passes worse pairs.

Arrays have a row for each pair and a column for each distinct value of the universe.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import Multiplicities

from .pairs import Pair, Shape

Counts = NDArray[np.int64]
Places = NDArray[np.int64]

_EXCHANGES = 0.4
"""How often a step exchanges records of two parts."""

_SINGLE = 0.5
"""How often a stretch is a single record; the other lengths are spread evenly in logarithms."""

_STEPS = (1, 1, 2)
"""How many steps are taken at once, each of them as often as another."""


class Moves:
    """Random steps from pairs of one shape to others.

    Parameters
    ----------
    limits : ndarray of int64, shape (m,)
        How often each distinct value may occur in a dataset.
    shape : Shape
    random : numpy.random.Generator
    """

    def __init__(self, limits: Multiplicities, shape: Shape, random: np.random.Generator) -> None:
        self.limits = limits
        self.shape = shape
        self.random = random
        self._sizes = np.array(shape.parts)
        self._used = np.flatnonzero(self._sizes)

    def steps(self, pair: Pair, number: int) -> NDArray[np.int64]:
        """Return up to so many pairs, as C, A and B; shape (3, pairs, m)."""
        parts = np.repeat(pair.parts[:, None, :], number, axis=1)
        left = self.random.choice(_STEPS, number)
        good = np.ones(number, dtype=bool)
        for taken in range(max(_STEPS)):
            going = np.flatnonzero(good & (left > taken))
            if len(going):
                parts[:, going], good[going] = self._step(parts[:, going])
        return parts[:, good]

    def shaken(self, pair: Pair, times: int) -> Pair:
        """Return a pair after a number of steps; impossible ones are left out."""
        for _ in range(times):
            steps = self.steps(pair, 1)
            pair = Pair(*steps[:, 0]) if steps.shape[1] else pair
        return pair

    def _step(self, parts: Counts) -> tuple[Counts, NDArray[np.bool_]]:
        """Return the parts after a step, and for which pairs there is one."""
        number = parts.shape[1]
        row = np.arange(number)
        part, other = self._two_parts(number)
        exchanged = (self.random.random(number) < _EXCHANGES) & (part != other)
        most = self._sizes[part]
        most = np.where(exchanged, np.minimum(most, self._sizes[other]), most)
        length = self._lengths(most)
        after = parts.copy()
        mine = stretch(parts[part, row], self._anywhere(parts[part, row], length), length)
        after[part, row] -= mine
        # Of a pair, either the other part gives as many records, or those outside do.
        giving = np.where(
            exchanged[:, None], parts[other, row], self._free(after, part) * (mine == 0)
        )
        near = np.where(exchanged, -1, _before(giving, mine))
        theirs = stretch(giving, self._anywhere(giving, length, near), length)
        after[part, row] += theirs
        swapped = row[exchanged]
        after[other[swapped], swapped] += mine[swapped] - theirs[swapped]
        return after, (theirs.sum(axis=1) == length) & self._possible(after)

    def _two_parts(self, number: int) -> tuple[Places, Places]:
        """Return a part that has records, and another one; the same one if there is no other."""
        first = self.random.integers(len(self._used), size=number)
        beyond = self.random.integers(1, max(2, len(self._used)), size=number)
        return self._used[first], self._used[(first + beyond) % len(self._used)]

    def _lengths(self, most: Places) -> Places:
        """Return how many records move, from 1 to the most that can."""
        number = len(most)
        spread = np.exp(self.random.random(number) * np.log(most + 1.0)).astype(np.int64)
        single = self.random.random(number) < _SINGLE
        return np.where(single, 1, np.clip(spread, 1, most))

    def _anywhere(self, counts: Counts, length: Places, near: Places | None = None) -> Places:
        """Return where stretches of records begin: at an edge, at an end, or anywhere.

        A place is a number of records from the smallest one. With `near`, it can also be just above
        or just below that place.
        """
        number = len(counts)
        last = np.maximum(counts.sum(axis=1) - length, 0)
        begin, end = self._edges(counts)
        choices = [
            self.random.integers(0, last + 1),
            begin,
            end - length,
            np.where(self.random.random(number) < 0.5, 0, last),
        ]
        if near is not None:
            beside = np.where(self.random.random(number) < 0.5, near, near - length)
            choices.append(np.where(near < 0, choices[0], beside))
        chosen = np.stack(choices)[
            self.random.integers(len(choices), size=number), np.arange(number)
        ]
        return np.asarray(np.clip(chosen, 0, last))

    def _edges(self, counts: Counts) -> tuple[Places, Places]:
        """Return where a run of values that occur begins and where one ends, each at random."""
        some = np.pad(counts > 0, ((0, 0), (1, 1)))
        up_to = np.pad(counts.cumsum(axis=1), ((0, 0), (1, 0)))
        row = np.arange(len(counts))
        # Boundary i is between the values i - 1 and i.
        begin = self._one_of(~some[:, :-1] & some[:, 1:])
        end = self._one_of(some[:, :-1] & ~some[:, 1:])
        return up_to[row, begin], up_to[row, end]

    def _one_of(self, flags: NDArray[np.bool_]) -> Places:
        """Return in every row the place of a random flag; 0 if there is none."""
        so_far = flags.cumsum(axis=1)
        wanted = (self.random.random(len(flags)) * so_far[:, -1]).astype(np.int64)
        return np.asarray((so_far > wanted[:, None]).argmax(axis=1))

    def _free(self, parts: Counts, part: Places) -> Counts:
        """Return how many more records of each value a part can have."""
        core, only_x, only_y = parts
        if self.shape.apart:
            return np.asarray(self.limits - core - only_x - only_y)
        used = core + np.where((part == 0)[:, None], np.maximum(only_x, only_y), 0)
        used += np.where((part == 1)[:, None], only_x, 0) + np.where(
            (part == 2)[:, None], only_y, 0
        )
        return np.asarray(self.limits - used)

    def _possible(self, parts: Counts) -> NDArray[np.bool_]:
        """Return which pairs are of this shape: no record of the universe is used too often."""
        core, only_x, only_y = parts
        changed = only_x + only_y if self.shape.apart else np.maximum(only_x, only_y)
        return np.asarray((core + changed <= self.limits).all(axis=1))


def stretch(counts: Counts, first: Places, length: Places) -> Counts:
    """Return in every row so many consecutive records, from the one of the number `first`.

    Examples
    --------
    >>> stretch(np.array([[2, 0, 1, 3]]), np.array([1]), np.array([3]))
    array([[1, 0, 1, 1]])
    """
    reached = np.clip(counts.cumsum(axis=1) - first[:, None], 0, length[:, None])
    return np.diff(reached, axis=1, prepend=0)


def blocks_of(parts: Counts) -> Places:
    """Return how many runs of values the parts of each pair have together; shape (pairs,)."""
    some = parts > 0
    begun = some[:, :, 1:] & ~some[:, :, :-1]
    return np.asarray(some[:, :, 0].sum(axis=0) + begun.sum(axis=(0, 2)))


def _before(counts: Counts, marked: Counts) -> Places:
    """Return how many records are below the smallest value that is marked."""
    place = (marked > 0).argmax(axis=1)
    return np.asarray((counts * (np.arange(counts.shape[1]) < place[:, None])).sum(axis=1))
