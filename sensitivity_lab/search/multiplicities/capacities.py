"""Groups of equal records, the largest ones first, and pairs of datasets by groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import Groups, Multiplicities, smallest

Parts = tuple[Multiplicities, Multiplicities, Multiplicities]
"""How many records of the core C, of A (only in x) and of B (only in y) each group has."""


@dataclass(frozen=True, eq=False)
class Capacities:
    """How many records each group has, descending: by places, not by groups.

    Attributes
    ----------
    counts : ndarray of int64, shape (m,)
        The numbers of records, each at least 1.
    order : ndarray of intp, shape (m,)
        The group at each place.
    together : ndarray of int64, shape (m + 1,)
        How many records the first groups have together: of none, of the first, of the first two.
    """

    counts: Multiplicities
    order: Groups
    together: Multiplicities

    @classmethod
    def of(cls, groups: Groups, rows: Multiplicities) -> Capacities:
        """Add up the records of each group, and sort.

        Examples
        --------
        >>> made = Capacities.of(np.array([0, 1, 1, 2]), np.array([2, 1, 2, 2]))
        >>> made.counts.tolist(), made.order.tolist(), made.together.tolist()
        ([3, 2, 2], [1, 0, 2], [0, 3, 5, 7])
        """
        totals = np.zeros(int(groups.max()) + 1, dtype=np.int64)
        np.add.at(totals, groups, rows)
        order = np.argsort(-totals, kind="stable")
        counts = totals[order]
        return cls(counts, order, np.concatenate([[0], np.cumsum(counts)]))

    @cached_property
    def _ascending(self) -> Multiplicities:
        """The numbers of records times -1."""
        return -self.counts

    @property
    def values(self) -> int:
        """The number of groups."""
        return len(self.counts)

    def least_values(self, records: int) -> int:
        """Return the smallest number of groups that have so many records."""
        return int(np.searchsorted(self.together, records))

    def above(self, height: Any) -> Any:
        """Return how many groups have more records than a number, or than each of several."""
        return np.searchsorted(self._ascending, -height)

    def by_group(self, *parts: Multiplicities) -> Parts:
        """Return C, A and B by groups, given by places."""
        core, only_x, only_y = (np.empty_like(part) for part in parts)
        for made, part in zip((core, only_x, only_y), parts, strict=True):
            made[self.order] = part
        return core, only_x, only_y


def filled(start: Multiplicities, limits: NDArray[np.int64], records: int) -> Multiplicities:
    """Return records by places: those at the start, and more up to a number, within limits."""
    more: Multiplicities = start + smallest(limits - start, records - int(start.sum()))
    return more
