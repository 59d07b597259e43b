"""Answers as floats for the search, and the answers themselves.

A function may return whole numbers or fractions that no float holds. Minus one of them, and times
a common denominator, they are integers; floats carry these, or their leading bits, down the
lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.queries import Answered, as_answered
from sensitivity_lab.queries.returned import Answers, alike
from sensitivity_lab.running.machine import IN_TURN, Machine, batches
from sensitivity_lab.search.lattice import Floats

_BITS = 53
"""Floats hold all integers of this many bits."""

_ERROR = 4.0
"""Bounds the error of a gap of two answers of `_BITS` bits: twice what they can add up to.

Both answers are off by half a unit, and a gap of one bit more is rounded by up to 1."""


@dataclass(frozen=True)
class Searched:
    """The answers of one query, by the size of the datasets.

    Attributes
    ----------
    floats : dict of ndarray of float64, shape (datasets,) or (datasets, d)
        The answers, or what they are above one of them in a common unit: gaps are in this unit.
    error : float
        Bounds the error of the gap between two of them; 0 where they are the answers.
    given : dict of ndarray, shape (datasets,) or (datasets, d)
        The answers as the query returned them.
    """

    floats: dict[int, Floats]
    error: float
    given: dict[int, Answers]

    @classmethod
    def of(cls, answers: dict[int, Answers], machine: Machine = IN_TURN) -> Searched:
        """Make floats of answers, exactly where floats hold them."""
        given = dict(zip(answers, alike(list(answers.values())), strict=True))
        first = next(iter(given.values()))
        if first.dtype == np.float64:
            return cls(given, 0.0, given)
        if first.dtype == np.int64:
            ends = [_ends(part, machine) for part in given.values()]
            if max(high for _, high in ends) - min(low for low, _ in ends) <= 1 << _BITS:
                floats = {n: _above(part, first[0], machine) for n, part in given.items()}
                return cls(floats, 0.0, given)
        return cls._of_rationals(given)

    @classmethod
    def _of_rationals(cls, given: dict[int, Answers]) -> Searched:
        ratios = {size: _ratios(part) for size, part in given.items()}
        unit = math.lcm(*{below for above in ratios.values() for below in set(above[1].flat)})
        integers = {size: above * (unit // below) for size, (above, below) in ratios.items()}
        centre = next(iter(integers.values()))[0]
        centred = {size: part - centre for size, part in integers.items()}
        largest = max(int(np.abs(part).max()) for part in centred.values())
        shift = max(0, largest.bit_length() - _BITS)
        floats = {size: (part / (1 << shift)).astype(np.float64) for size, part in centred.items()}
        # Gaps of integers of one bit less are themselves exact.
        return cls(floats, 0.0 if largest < 1 << (_BITS - 1) else _ERROR, given)

    def answer(self, size: int, place: int) -> Answered:
        """Return an answer as it is."""
        return as_answered(np.asarray(self.given[size][place]))


def _ends(whole: Answers, machine: Machine) -> tuple[int, int]:
    """Return the smallest and the largest of whole numbers."""
    ends = machine.run(
        lambda rows: (int(whole[rows].min()), int(whole[rows].max())), batches(whole), (whole,)
    )
    return min(low for low, _ in ends), max(high for _, high in ends)


def _above(whole: Answers, least: Any, machine: Machine) -> Floats:
    """Return whole numbers minus one of them, as floats."""
    floats: Floats = machine.empty(whole.shape)
    machine.fill(floats, lambda rows: whole[rows] - least, (whole,))
    return floats


def _ratios(answers: Answers) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numerators and denominators, as Python ints, of the shape of the answers."""
    above, below = np.empty(answers.shape, object), np.empty(answers.shape, object)
    pairs = [one.as_integer_ratio() for one in answers.astype(object).ravel()]
    above.ravel()[:] = [one for one, _ in pairs]
    below.ravel()[:] = [one for _, one in pairs]
    return above, below
