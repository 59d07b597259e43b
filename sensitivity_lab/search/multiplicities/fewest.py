"""Which values of x to remove whole, so that as few distinct values as possible are left.

A value of x *goes* if all its records are removed and none is added. With R the values that go, W
those that may be new, x_v records of value v in x and o_v outside it, i removed and j added, there
is such a neighbor exactly if

    sum of x_v over R <= i    and    sum of o_v over the other values of x, and over W >= j.

The rest of i is removed anywhere, and records are added among the values that stay before new ones.
f(y) is the smallest where |R| - |W| is the largest. With W empty and R the values with the smallest
x_v, |R| is as large as it can be; so if the second condition holds, that is all. If not, it is a
trade: a value that goes gives up its o_v places for added records, and new values make up for them.
A table says for every number of records and of values that go how few places are given up: a
knapsack with whole weights. See "Multiplicities" (*Fewest distinct values*) in docs/proofs.md.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import Multiplicities

Flags = NDArray[np.bool_]


class FewestDistinct:
    """The choice of values that go, and of values that are new.

    Parameters
    ----------
    x, outside : ndarray of int64, shape (g,)
        How many records of each group are in x, and outside it.
    removed, added : int
        How many records are removed from x, and added.
    """

    def __init__(
        self, x: Multiplicities, outside: Multiplicities, removed: int, added: int
    ) -> None:
        self.x = x
        self.outside = outside
        self.removed = removed
        self.added = added

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """The most values that can go, those with the fewest records; of equals, fewest outside."""
        held = np.flatnonzero(self.x > 0)
        held = held[np.lexsort((self.outside[held], self.x[held]))]
        return held[np.cumsum(self.x[held]) <= self.removed]

    @cached_property
    def _place(self) -> int:
        """For how many added records there is place among the values of x."""
        return int(self.outside[self.x > 0].sum())

    @cached_property
    def _fits(self) -> bool:
        """Whether the added records find place without the first values, and without new ones."""
        return self._place - int(self.outside[self._first].sum()) >= self.added

    @cached_property
    def _sizes(self) -> list[NDArray[np.intp]]:
        """The values that can go, by their numbers of records; fewest outside first."""
        can = np.flatnonzero((self.x > 0) & (self.x <= self.removed))
        can = can[np.lexsort((self.outside[can], self.x[can]))]
        ends = np.flatnonzero(np.diff(self.x[can])) + 1
        groups = np.split(can, ends)
        # No more of one size than all records that are removed. The cheapest of a size come first:
        # whoever takes some of a size takes these.
        return [one[: self.removed // int(self.x[one[0]])] for one in groups if len(one)]

    @property
    def _states(self) -> int:
        """How many pairs of a number of records and a number of values there are to look at."""
        return 0 if self._fits else (self.removed + 1) * (len(self._first) + 1)

    @property
    def steps(self) -> int:
        """How many comparisons the table takes; 0 if none is needed."""
        return self._states and self._states * sum(map(len, self._sizes))

    @property
    def bytes(self) -> int:
        """How much memory the table takes; 0 if none is needed."""
        return self._states and 8 * self._states * (len(self._sizes) + 4)

    def best(self) -> tuple[Flags, Flags]:
        """Return which values go, and which are new."""
        gone, new = np.zeros((2, len(self.x)), dtype=bool)
        if self._fits:
            gone[self._first] = True
            return gone, new
        given_up, choices = self._table()
        # The new values with place for most come first: `gained[w]` is what the first w can take.
        absent = np.flatnonzero(self.x == 0)
        absent = absent[np.argsort(-self.outside[absent], kind="stable")]
        gained = np.concatenate([[0], np.cumsum(self.outside[absent])])
        # By records and values that go: for how many added records place is missing among the
        # values that stay, and the least number of new values that have it.
        wanted = np.maximum(self.added - self._place + given_up, 0)
        needed = np.searchsorted(gained, wanted)
        # |R| - |W|; less than any other where not even all new values have place enough.
        values = np.arange(given_up.shape[1])
        score = np.where(wanted <= gained[-1], values - needed, -len(self.x) - 1)
        records, number = map(int, np.unravel_index(int(np.argmax(score)), score.shape))
        new[absent[: int(needed[records, number])]] = True
        # Always: `records` and `number` are what go of the sizes that are not yet looked at.
        for one, choice in zip(reversed(self._sizes), reversed(choices), strict=True):
            taken = int(choice[records, number])
            gone[one[:taken]] = True
            records, number = records - taken * int(self.x[one[0]]), number - taken
        return gone, new

    def _table(self) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        """Return how few records outside x are given up, by records and values that go.

        Both arrays have the shape (records + 1, values + 1), with exactly so many of each. And for
        each size, how many values of that size go. What is impossible gives up more than there is.
        """
        shape = (self.removed + 1, len(self._first) + 1)
        never = 2 * int(self.outside.sum()) + self.added + 1
        given_up = np.full(shape, never, dtype=np.int64)
        given_up[0, 0] = 0
        choices = []
        # Always: `given_up` is the least with values of the sizes so far. `best` is a copy, so that
        # every size is taken once: either none of it, or so many of its cheapest ones.
        for one in self._sizes:
            size, costs = int(self.x[one[0]]), np.cumsum(self.outside[one])
            best, choice = given_up.copy(), np.zeros(shape, dtype=np.int64)
            for taken in range(1, min(len(one), len(self._first)) + 1):
                offered = given_up[: -taken * size, :-taken] + int(costs[taken - 1])
                here = (slice(taken * size, None), slice(taken, None))
                better = offered < best[here]
                best[here] = np.where(better, offered, best[here])
                choice[here] = np.where(better, taken, choice[here])
            given_up = best
            choices.append(choice)
        return given_up, choices
