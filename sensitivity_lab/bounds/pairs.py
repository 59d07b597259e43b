"""Pairs of neighbors as three multisets.

A pair (x, y) is its core C, the records A that only x has, and the records B that only y has:
x = C + A and y = C + B. All are arrays of how often each distinct value of the universe occurs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.problem import Problem
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.relations import Relation


@dataclass(frozen=True)
class Shape:
    """How many records the core has, and how many only x and only y have.

    Attributes
    ----------
    core, only_x, only_y : int
    apart : bool
        Whether A and B must be different records, so that C, A and B together fit into the
        universe, as at a distance of exactly k. Different records can be equal.
    """

    core: int
    only_x: int
    only_y: int
    apart: bool

    @property
    def parts(self) -> tuple[int, int, int]:
        """The numbers of records of C, A and B."""
        return self.core, self.only_x, self.only_y


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbors, by multiplicities; see the module."""

    core: Multiplicities
    only_x: Multiplicities
    only_y: Multiplicities

    @property
    def parts(self) -> NDArray[np.int64]:
        """C, A and B, shape (3, m)."""
        return np.stack([self.core, self.only_x, self.only_y])

    @property
    def x(self) -> Multiplicities:
        """The dataset x."""
        return cast(Multiplicities, self.core + self.only_x)

    @property
    def y(self) -> Multiplicities:
        """The dataset y."""
        return cast(Multiplicities, self.core + self.only_y)


def shapes_of(problem: Problem, relation: Relation) -> list[Shape]:
    """Return the shapes of pairs that a relation needs, the furthest apart first."""
    shapes = []
    for size, (removed, added), apart in problem.pair_kinds(relation):
        # Without so many records outside the core, some of A and B have to be in common.
        spare = min(problem.universe.size, size + added)
        excess = 0 if apart else int(size + added - spare)
        shape = Shape(size - removed + excess, removed - excess, added - excess, apart)
        shapes.append(shape)
    return sorted(shapes, key=lambda shape: -(shape.only_x + shape.only_y))
