"""A universe as integers in floats, and the error of rounding the integers to floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.queries import ExactQuery
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers

_WHOLE_FLOATS = 2**53
"""Floats hold all integers up to this one."""


@dataclass(frozen=True)
class Scale:
    """The values of a universe as integers, perhaps centred: ``value = centre + integer * unit``.

    Attributes
    ----------
    floats : ndarray of float64, shape (m,)
        ``integers / 2**shift``, rounded to floats; the integers themselves where that is possible.
    largest : int
        The largest absolute value among the integers.
    shift : int
        0 where floats can hold all the integers.
    """

    floats: NDArray[np.float64]
    largest: int
    shift: int

    @classmethod
    def of(cls, universe: FiniteUniverse, *, centred: bool) -> Scale:
        """Scale a universe, moving its middle to zero if `centred`.

        A common factor of all the integers is divided out, so 1e9 + {0, 2, 4} becomes {-1, 0, 1}.
        """
        integers, _ = of_numbers(universe).integers
        if centred:
            integers = integers - integers[len(integers) // 2]
        integers = integers // (math.gcd(*integers) or 1)
        largest = int(abs(integers).max())
        shift = 0 if largest <= _WHOLE_FLOATS else largest.bit_length() - 53
        return cls((integers / (1 << shift)).astype(np.float64), largest, shift)

    def error(self, query: ExactQuery, size: int, factor: int) -> float:
        """Bound the error of ``factor * query.evaluate`` on datasets of a size, in these floats.

        Notes
        -----
        Zero where every intermediate result is an integer that floats hold. Otherwise a sum of n
        terms is off by at most n units in the last place of the largest possible sum, each term by
        a few units of its own; the constants are generous.
        """
        largest = query.magnitude(size, self.largest) * factor
        if self.shift == 0 and largest <= _WHOLE_FLOATS // 2:
            return 0.0
        scaled = float(largest / (1 << self.shift * query.degree))
        return (4 * size + 16) * float(np.finfo(np.float64).eps) * scaled
