"""Pairs of neighbors as three multisets, and what a small step away from a pair is.

A pair (x, y) is its core C, the records A that only x has, and the records B that only y has:
x = C + A and y = C + B. All are arrays of how often each distinct value of the universe occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.relations import Relation

Part = Literal["core", "only_x", "only_y"]

_EDGES = 0.4
"""How often a step is from the edge of a block of records to that of another."""

PARTS: tuple[Part, ...] = ("core", "only_x", "only_y")


@dataclass(frozen=True)
class Shape:
    """How many records the core has, and how many only x and only y have.

    Attributes
    ----------
    core, only_x, only_y : int
    disjoint : bool
        Whether A and B must have no value in common, as at a distance of exactly k.
    """

    core: int
    only_x: int
    only_y: int
    disjoint: bool


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbors, by multiplicities; see the module."""

    core: Multiplicities
    only_x: Multiplicities
    only_y: Multiplicities

    @property
    def x(self) -> Multiplicities:
        """The dataset x."""
        return cast(Multiplicities, self.core + self.only_x)

    @property
    def y(self) -> Multiplicities:
        """The dataset y."""
        return cast(Multiplicities, self.core + self.only_y)


def shapes_of(problem: Problem, relation: Relation) -> list[Shape]:
    """Return the shapes of pairs that a relation needs, the furthest apart first.

    At most k apart, A and B may have values in common, so (i, j) covers (i - 1, j - 1).
    """
    changes = set(problem.changes(relation))
    shapes = []
    for size, (removed, added) in problem.changes(relation):
        if not relation.exactly and (size, (removed + 1, added + 1)) in changes:
            continue
        disjoint = relation.exactly and removed > 0 and added > 0
        # Without so many records outside the core, some of A and B have to be in common.
        spare = min(problem.universe.size, size + added)
        excess = 0 if disjoint else int(size + added - spare)
        shape = Shape(size - removed + excess, removed - excess, added - excess, disjoint)
        shapes.append(shape)
    return sorted(shapes, key=lambda shape: -(shape.only_x + shape.only_y))


class Moves:
    """Random small steps from pairs of one shape to others.

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

    def steps(self, pair: Pair, number: int) -> Iterator[Pair]:
        """Yield up to so many pairs that are a step away, some of them two or three steps."""
        for _ in range(number):
            step: Pair | None = pair
            for _ in range(int(self.random.choice((1, 1, 1, 2, 3)))):
                step = step and self._step(step)
            if step is not None:
                yield step

    def _step(self, pair: Pair) -> Pair | None:
        """Exchange one record of a part for one outside, or for one of another part."""
        parts = [part for part in PARTS if getattr(pair, part).any()]
        part = parts[int(self.random.integers(len(parts)))]
        mine: Multiplicities = getattr(pair, part)
        value = self._one_of(mine)
        others = [other for other in parts if other != part]
        if others and self.random.random() < 0.4:
            other = others[int(self.random.integers(len(others)))]
            return self._exchanged(pair, part, value, other, self._one_of(getattr(pair, other)))
        free = self._free(pair, part)
        if self.random.random() < _EDGES:
            # From the edge of one block of records to the edge of another one.
            edges = np.flatnonzero((mine > 0) & _beside(free))
            value = int(edges[int(self.random.integers(len(edges)))]) if len(edges) else value
            free &= _beside(pair.x + pair.y > 0)
        free[value] = False
        target = self._target(np.flatnonzero(free), value)
        if target is None:
            return None
        moved = mine.copy()
        moved[value] -= 1
        moved[target] += 1
        return self._checked(replace(pair, **{part: moved}))

    def _exchanged(self, pair: Pair, part: Part, value: int, other: Part, its: int) -> Pair | None:
        mine, theirs = getattr(pair, part).copy(), getattr(pair, other).copy()
        mine[value] -= 1
        mine[its] += 1
        theirs[its] -= 1
        theirs[value] += 1
        return self._checked(replace(pair, **{part: mine, other: theirs}))

    def _free(self, pair: Pair, part: Part) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return of which values a part can have one record more."""
        used = {
            "core": np.maximum(pair.x, pair.y),
            "only_x": pair.x,
            "only_y": pair.y,
        }[part]
        return used < self.limits

    def _target(self, free: np.ndarray[tuple[int], np.dtype[np.intp]], value: int) -> int | None:
        """Choose a free value: a neighbor in the order, an end, or any."""
        if not len(free):
            return None
        place = int(np.searchsorted(free, value))
        choices = (place - 1, place, 0, len(free) - 1, int(self.random.integers(len(free))))
        chosen = choices[int(self.random.integers(len(choices)))]
        return int(free[min(max(chosen, 0), len(free) - 1)])

    def _one_of(self, part: Multiplicities) -> int:
        values = np.flatnonzero(part)
        return int(values[int(self.random.integers(len(values)))])

    def _checked(self, pair: Pair) -> Pair | None:
        """Return the pair if it is one of this shape; None if records are too many or shared."""
        if (pair.x > self.limits).any() or (pair.y > self.limits).any():
            return None
        if self.shape.disjoint and np.minimum(pair.only_x, pair.only_y).any():
            return None
        return pair


def _beside(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Any:
    """Return which values have a neighbor in the order that is flagged."""
    beside = np.zeros(len(flags), dtype=bool)
    beside[1:] |= flags[:-1]
    beside[:-1] |= flags[1:]
    return beside
