"""What searches hold in memory, in closed form: Python ints, sorted records, curves and pairs.

All numbers are of bytes. They are what a search needs at its peak beyond its universe and, where it
is local, beyond its dataset; `benchmarks/memory.py` compares them with what is measured.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from sensitivity_lab.problem import LocalProblem, Problem, SmoothProblem
from sensitivity_lab.universes.universe import FiniteUniverse, Universe, of_numbers

from .layouts import most_copies
from .sorted_arrays import takes_arrays

WORD = 8
"""An int64, a float64, or where a Python object is."""

REAL = np.dtype(np.longdouble).itemsize

CALL = 1 << 16
"""What any search makes besides: names, closures, a few small arrays."""

_RELATION = 256
"""A relation of a curve, with what is found for it."""

_CHANGE = 160
"""A change of a local problem, as two numbers."""

_ENDS = 2048
"""The two ends within some distance, and what makes the datasets that attain them."""

_SIZE = 3072
"""The few objects of a size of x."""


def of_int(bits: float) -> int:
    """Return what a Python int of some bits takes, with the place that says where it is.

    Examples
    --------
    >>> of_int(10), of_int(70), of_int(1000)
    (40, 56, 168)
    """
    # A digit has 30 bits; objects are multiples of 16 bytes.
    return WORD + -(-(24 + 4 * max(1, math.ceil(bits / 30))) // 16) * 16


class IntegerBytes(NamedTuple):
    """The values of a universe as Python ints over a common denominator.

    Attributes
    ----------
    bits : int
        Of the largest one.
    spread : int
        Of the largest minus the smallest one: no centered value has more.
    below : int
        Bits of the denominator.
    kept, peak : int
        Bytes of a value, once they are made and while they are.
    """

    bits: int
    spread: int
    below: int
    kept: int
    peak: int

    @classmethod
    def of(cls, universe: FiniteUniverse) -> IntegerBytes:
        """Tell what the values of a universe of numbers take, without making them of an array."""
        numbers = of_numbers(universe)
        array = numbers.array
        if array.dtype == np.int64:
            first, last = map(int, array[[0, -1]])
            bits = max(abs(first), abs(last)).bit_length()
            return cls(bits, (last - first).bit_length(), 1, of_int(bits), of_int(bits))
        if array.dtype == np.float64:
            return cls._of_floats(numbers)
        integers, unit = numbers.integers
        bits = max(abs(integers[0]), abs(integers[-1])).bit_length()
        spread, kept = int(integers[-1] - integers[0]).bit_length(), of_int(bits)
        # Of every value a quotient of two ints; a Decimal's are new ones.
        new = 2 * kept if any(isinstance(value, Decimal) for value in numbers.values) else 0
        return cls(bits, spread, unit.bit_length(), kept, kept + 11 * WORD + new)

    @classmethod
    def _of_floats(cls, universe: Universe) -> IntegerBytes:
        values = universe.array
        place = int(values.searchsorted(0.0))
        near = values[max(0, place - 1) : place + 2]
        near = near[near != 0]
        largest = max(abs(float(values[0])), abs(float(values[-1])))
        # A float is a whole number of 53 bits times a power of two.
        lowest = min(0, min((math.frexp(value)[1] for value in near.tolist()), default=0) - 53)
        bits = max(1, math.frexp(largest)[1] - lowest)
        # Halves have a difference even where floats end; it is rounded, perhaps to the next power.
        spread = math.frexp(float(values[-1]) / 2 - float(values[0]) / 2)[1] + 2 - lowest
        shift = WORD + (32 if bits > 256 else 0)
        peak = 3 * WORD + of_int(53) + shift + of_int(bits)
        return cls(bits, max(1, spread), 1 - lowest, of_int(bits), peak)


def of_records(problem: Problem, *, sums: bool) -> int:
    """Return what the sorted universe takes, perhaps with the sums of its records."""
    numbers, limit = of_numbers(problem.universe), most_copies(problem)
    values = len(numbers.array)
    # Multiplicities and places; a third one while they are made; and what is given back late.
    arrays = CALL + 4 * WORD * values
    if takes_arrays(numbers, limit):
        # Sums in two limbs, and while they are made mantissas, shifts and products.
        return arrays + (7 * WORD * values if sums else 0)
    own = IntegerBytes.of(numbers)
    each = own.kept
    if sums:
        # Sums, and while they are made what is added up, if values are counted or squared.
        each += of_int(own.bits + problem.largest.bit_length()) + WORD
        each += 0 if limit == 1 else of_int(own.bits) + 2 * WORD
    return arrays - WORD * values + values * max(own.peak, each)


def of_shapes(problem: Problem) -> int:
    """Return what the shapes of a problem take, by columns, and its relations."""
    shapes = [len(steps.removed) for steps in problem.steps]
    several = len(shapes) * _SIZE + len(problem.neighbors) * _RELATION
    return sum(shapes) * 6 * WORD + several * len(problem.queries)


def of_pairs(problem: Problem | LocalProblem | SmoothProblem) -> int:
    """Return what results with pairs take, one for each query and relation; local ones have one.

    The distinct records as Python objects, and by result the two datasets, by multiplicities and
    listed.
    """
    number, largest, more = 1, 0, 0
    if isinstance(problem, Problem):
        number, largest = len(problem.queries) * len(problem.neighbors), problem.largest
    else:
        largest = problem.size + 1
    records, values = problem.universe, problem.universe.number
    if isinstance(problem, LocalProblem):
        more = _CHANGE * len(problem.changes) + _ENDS * problem.neighbors.nested
        if problem.neighbors.nested:  # no pair is listed before it is asked for
            return CALL + 4 * WORD * values + more
    listed = 6 * WORD * values
    if isinstance(records, Universe) and records.array.dtype != object:
        listed += 3 * WORD * values  # an array's values become Python objects
    pairs = number * (2 * WORD * (values + largest) + 1024)
    return CALL + listed + pairs + WORD * largest + more


def of_neighbors(problem: LocalProblem | SmoothProblem) -> int:
    """Return what a search for extreme neighbors of x needs: integers, and a few datasets."""
    integers, values = IntegerBytes.of(problem.universe), problem.universe.number
    searched = values * (integers.kept + 3 * WORD) + of_pairs(problem)
    return max(values * (integers.peak + 3 * WORD), searched)
