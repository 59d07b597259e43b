"""All datasets within some steps of one: what reach, and mechanisms that are made from it, need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sensitivity_lab.metrics.metric import Row
from sensitivity_lab.universes.multiplicities import Multiplicities

from .interval import Space
from .relations import Bounded, Relation, RemovedAdded


@dataclass(frozen=True)
class Ball(Relation):
    """The datasets that are at most k single steps from x.

    Unlike a relation that a caller gives, a ball is never infeasible: it leaves out what x or the
    universe has too few records for, so it *saturates*. That keeps balls nested between neighbors:
    a dataset within k steps of x is within k + 1 steps of every neighbor of x.

    Parameters
    ----------
    k : int
        The number of steps.
    exactly : bool
        Always False.
    step : Relation
        The relation whose distance counts the steps; see `Relation.step`.
    limits : tuple of two numbers
        The smallest and the largest size of datasets; the largest may be math.inf.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3])
    >>> ball = Ball(9, step=sl.Bounded(1), limits=(2, 2))
    >>> ball.changes(2, universe), ball.saturated_at(2, universe)
    (((1, 1),), 1)
    """

    step: Relation = Bounded(1)  # noqa: RUF009 - frozen
    limits: tuple[int, float] = (1, math.inf)

    name: ClassVar[str] = "ball"
    does = "take single steps"

    @property
    def nested(self) -> int:
        """The balls of every number of steps up to k."""
        return self.k

    def levels(self, changes: Sequence[RemovedAdded]) -> list[int]:
        """Return how many steps each change takes."""
        removed, added = np.array(changes).T
        levels: list[int] = self.step.metric.apart(added, removed).tolist()
        return levels

    def between(self, x: Multiplicities, y: Multiplicities) -> Row:
        """Return how many steps datasets are apart."""
        return self.step.between(x, y)

    def saturated_at(self, size: int, universe: Space) -> int | None:
        """Return after how many steps there is no further dataset; None if more than k.

        Equal records count as different ones, as in every relation; where a universe has many of
        them, all datasets may be reached earlier.
        """
        # No dataset is further away than where all of x is removed, and all that can be is added.
        most = size + min(universe.size - size, self.limits[1])
        k = self.k
        while k < most:
            k += 1
            if any(True for _ in self.changes_at(k, size, universe)):
                return None
        changes = self.changes(size, universe)
        return max(self.levels(changes)) if changes else 0

    def changes_at(
        self, k: int, size: int, universe: Space, least: int = 0
    ) -> Iterable[RemovedAdded]:
        """Yield the changes of datasets of this size at distance exactly k, not its own k."""
        lowest, highest = self.limits
        return (
            (removed, added)
            for removed, added in self.step.changes_at(k, size, universe, least)
            if lowest <= size - removed + added <= highest
        )

    def _limits(self, least: int) -> str:
        return "a ball is never too large"

    def _largest(self, size: int, universe: Space, least: int) -> int | float:
        return math.inf

    def _changes_at(self, k: int, removable: int, addable: int) -> Iterable[RemovedAdded]:
        return self.step._changes_at(k, removable, addable)
