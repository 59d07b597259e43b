"""Numbers that are known as floats with an error: which of them can be the largest.

Let no float be off by more than e, and L be the largest one. The number behind L is at least L - e,
so the largest number is, too, and its float is at least L - 2 e. The numbers whose floats are
that large are the *contenders*: floats leave out all others, and exact arithmetic chooses among the
contenders. Where e is 0 floats are the numbers, and the first of the largest is the only contender.

L - 2 e is rounded as well. But rounding keeps the order, so that no float from L - 2 e on becomes
smaller than it: no contender is lost, though there may be some more.

The error is each caller's to state: it covers how its floats were made, not what is done here. So
is what exact arithmetic compares, and what to do about very many contenders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lattice import Indices


class Contenders:
    """The contenders among numbers that come in blocks.

    Parameters
    ----------
    error : float
        No value is off by more from its number.
    reached : float, default minus infinity
        A value that was seen before. What cannot be more than its number is no contender: one that
        ties with it comes too late if there is no error.

    Attributes
    ----------
    reached : float
        The largest value so far.

    Examples
    --------
    >>> near = Contenders(0.5)
    >>> near.see(np.array([3.0, 7.0, 6.5]))
    >>> near.see(np.array([[7.6, -np.inf], [6.6, 5.0]]))
    >>> near.places.tolist(), near.least, near.can_win(6.6), near.can_win(6.5)
    ([1, 3, 5], 6.6, True, False)
    >>> [(block, places.tolist()) for block, places in near.by_block()]
    [(0, [1]), (1, [0, 2])]
    """

    def __init__(self, error: float, reached: float = -math.inf) -> None:
        self.error, self.reached = error, reached
        self._sizes: list[int] = []
        # By block, what was near the largest value at that time: places, and values there.
        self._near: dict[int, tuple[Indices, NDArray[Any]]] = {}

    @property
    def least(self) -> float:
        """What the value of the largest number is at least."""
        return self.reached - 2 * self.error if self.error else self.reached

    def can_win(self, bound: float) -> bool:
        """Tell whether a number that comes later can be the largest.

        Parameters
        ----------
        bound : float
            A bound of the number, off by no more than the error, too.
        """
        return bool(bound >= self.least if self.error else bound > self.reached)

    def see(self, values: NDArray[Any]) -> None:
        """Look at a block of numbers.

        Parameters
        ----------
        values : ndarray of floats or of Python ints, of any shape
            At least one; minus infinity stands for no number.
        """
        flat = values.ravel()
        first = int(flat.argmax())
        most = flat.item(first)
        if most > -math.inf and self.can_win(most):
            self.reached = max(self.reached, most)
            near = np.flatnonzero(flat >= self.least) if self.error else np.array([first])
            self._near[len(self._sizes)] = near, flat[near]
        self._sizes.append(len(flat))

    def by_block(self) -> Iterator[tuple[int, Indices]]:
        """Yield the numbers of blocks with contenders, and their places in them, ascending."""
        for block, (places, values) in self._near.items():
            # `least` may have risen since a block was seen, so it is asked again.
            near = places[values >= self.least]
            if len(near):
                yield block, near

    @property
    def places(self) -> Indices:
        """The contenders' places, ascending, as if all blocks were a single flat one."""
        starts = np.cumsum([0, *self._sizes])
        near = [starts[block] + places for block, places in self.by_block()]
        return np.concatenate(near) if near else np.empty(0, dtype=np.intp)


def contenders(values: NDArray[Any], error: float) -> Indices:
    """Return the places of the contenders in a single block, ascending: a quicker `Contenders`.

    Parameters
    ----------
    values : ndarray of floats or of Python ints, shape (n,)
        At least one, none of them infinite.
    error : float
        No value is off by more from its number.

    Examples
    --------
    >>> values = np.array([7.0, 6.0, 7.5, 7.5])
    >>> contenders(values, 0.25).tolist(), contenders(values, 0).tolist()
    ([0, 2, 3], [2])
    """
    first = values.argmax()
    if not error:
        return first.reshape(1)
    return np.flatnonzero(values >= values[first] - 2 * error)
