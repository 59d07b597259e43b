"""Answers as floats for the search, and the answers themselves.

A function may return whole numbers or fractions that no float holds. Minus one of them, and times
a common denominator, they are integers; floats carry these, or their leading bits, down the
lattice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.queries import Answered, as_answered
from sensitivity_lab.queries.returned_numbers import Answers
from sensitivity_lab.running.machine import IN_TURN, Machine
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
        first = next(iter(answers.values()))
        if first.dtype == np.float64:
            return cls(answers, 0.0, answers)
        if first.dtype == np.int64:
            ends = [
                pair for part in answers.values() for pair in _each(_least_and_most, part, machine)
            ]
            if max(high for _, high in ends) - min(low for low, _ in ends) <= 1 << _BITS:
                above = partial(_above, np.asarray(first[0]))
                return cls(_mapped(above, answers, machine), 0.0, answers)
        return cls._of_rationals(answers, machine)

    @classmethod
    def _of_rationals(cls, given: dict[int, Answers], machine: Machine) -> Searched:
        every = given.values()
        unit = math.lcm(*(one for part in every for one in _each(_denominator, part, machine)))
        centre = _numerators(unit, np.asarray(next(iter(every))[0]))
        largest_of = partial(_farthest_from_center, unit, centre)
        largest = max(one for part in every for one in _each(largest_of, part, machine))
        shift = max(0, largest.bit_length() - _BITS)
        floats = _mapped(partial(_leading, unit, centre, shift), given, machine)
        # Gaps of integers of one bit less are themselves exact.
        return cls(floats, 0.0 if largest < 1 << (_BITS - 1) else _ERROR, given)

    def answer(self, size: int, place: int) -> Answered:
        """Return an answer as it is."""
        return as_answered(np.asarray(self.given[size][place]))


def _each(function: Callable[[Answers], Any], part: Answers, machine: Machine) -> Any:
    """Return what a function says of each batch of answers."""
    return machine.reduce(function, part).values()


def _mapped(
    function: Callable[[Answers], Floats], given: dict[int, Answers], machine: Machine
) -> dict[int, Floats]:
    """Return floats made of answers, by size."""
    return {
        size: machine.map(function, part, width=part.shape[1] if part.ndim == 2 else None)
        for size, part in given.items()
    }


def _least_and_most(whole: Answers) -> tuple[int, int]:
    """Return the smallest and the largest of whole numbers."""
    return int(whole.min()), int(whole.max())


def _above(least: Any, whole: Answers) -> Answers:
    """Return whole numbers minus one of them."""
    above: Answers = whole - least
    return above


def _denominator(answers: Answers) -> int:
    """Return a common denominator of answers."""
    return math.lcm(*{one.as_integer_ratio()[1] for one in answers.astype(object).flat})


def _numerators(unit: int, answers: Answers) -> NDArray[Any]:
    """Return answers in the unit 1 / `unit`, as Python ints, of the shape of the answers."""
    found = np.empty(answers.shape, object)
    ratios = (one.as_integer_ratio() for one in answers.astype(object).flat)
    found.ravel()[:] = [above * (unit // below) for above, below in ratios]
    return found


def _farthest_from_center(unit: int, centre: NDArray[Any], answers: Answers) -> int:
    """Return how far answers are at most from the central one, in the unit 1 / `unit`."""
    return int(np.abs(_numerators(unit, answers) - centre).max())


def _leading(unit: int, centre: NDArray[Any], shift: int, answers: Answers) -> Floats:
    """Return how far answers are from the central one, in units of 2**shift / `unit`."""
    floats: Floats = ((_numerators(unit, answers) - centre) / (1 << shift)).astype(np.float64)
    return floats
