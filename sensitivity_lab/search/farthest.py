"""The pair that is farthest apart of listed ones, which come in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import unboxed

_Places = Sequence[int] | NDArray[np.signedinteger[Any]]


@dataclass
class Farthest:
    """The pair that is farthest apart of those that were seen; of equally far ones the first.

    Attributes
    ----------
    gap : number or None
        How far it is apart, as the blocks say it: a whole number or anything that can be compared.
    x, y : int
        The two, by their numbers.
    pairs : int
        How many were seen.

    Examples
    --------
    >>> farthest = Farthest()
    >>> farthest.see(np.array([1, 3, 3]), [0], [1, 2, 3])
    True
    >>> farthest.see(np.array([3, 2]), [1, 2], [4, 5])
    False
    >>> farthest
    Farthest(gap=3, x=0, y=2, pairs=5)
    """

    gap: Any = None
    x: int = 0
    y: int = 0
    pairs: int = 0

    def see(self, gaps: NDArray[Any], x: _Places, y: _Places) -> bool:
        """Look at a block of pairs, and tell whether one of them is farther apart than any before.

        Parameters
        ----------
        gaps : ndarray, shape (pairs,)
            How far they are apart; at least one.
        x, y : sequence of int, shape (pairs,) or (1,)
            The pairs; a single number is that of all of them.
        """
        self.pairs += len(gaps)
        place = int(np.argmax(gaps))  # the first of equal ones
        if self.gap is not None and not gaps[place] > self.gap:
            return False
        self.gap = unboxed(gaps[place])
        self.x, self.y = (int(some[0 if len(some) == 1 else place]) for some in (x, y))
        return True
