"""Sorted records of int64 or float64: exact integers where a search asks for them, no others."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers, mantissas_of_floats
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import Universe

from .sorted_records import SortedMultiset

_LIMB = 26
"""How many bits of a mantissa the lower limb has."""

_MOST_RECORDS = 2**25
"""Sums of so many limbs fit into 63 bits: the upper limb of 64 bits has 38, with its sign."""


def sorted_records_of(
    universe: Universe, counts: Multiplicities, copies: int = 0
) -> SortedMultiset:
    """Return some records of a universe of numbers by positions.

    Parameters
    ----------
    universe : Universe
        What datasets are drawn from.
    counts : ndarray of int64, shape (m,)
        How many records of each distinct value there are.
    copies : int, default 0
        The largest count of other records whose sums are to be in the same unit.
    """
    if takes_arrays(universe, max(copies, int(counts.max()))):
        return SortedArray(universe.array, counts)
    integers, unit = universe.integers
    return SortedMultiset(integers, counts, unit)


def takes_arrays(universe: Universe, copies: int) -> bool:
    """Tell whether sums of limbs of so many copies of each value surely fit into int64."""
    return universe.array.dtype != object and copies <= _MOST_RECORDS // len(universe.array)


class SortedArray(SortedMultiset):
    """Records by positions, as `SortedMultiset`, of values in an array of int64 or float64.

    Parameters
    ----------
    array : ndarray of int64 or float64, shape (m,)
        Distinct values, ascending.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0. At most 2**25 in all.

    Notes
    -----
    A value is a *mantissa*, an int64, shifted by some bits. Values of one shift stand side by side,
    in a *run*: their size grows from 0 to both ends. Within a run sums of mantissas are kept in two
    limbs of int64, so prefix sums of all records make a Python int for every run only.

    Examples
    --------
    >>> records = SortedArray(np.array([-1, 0.5, 5]), np.array([2, 0, 3]))
    >>> records.size, records.record(2) / records.unit, records.total(4) / records.unit
    (5, 5.0, 8.0)
    """

    def __init__(self, array: NDArray[Any], counts: Multiplicities) -> None:
        self._array = array
        self._lowest = 0
        if array.dtype == np.float64:
            # The value closest to 0 has the smallest exponent, which makes the unit that of all.
            below, above = array.searchsorted(0, "left"), array.searchsorted(0, "right")
            closest = array[max(below - 1, 0) : above + 1]
            self._lowest = int(mantissas_of_floats(closest[closest != 0])[1].min(initial=0))
        self.unit = 1 << -self._lowest
        self._sums = {}
        self._place(counts)

    @cached_property
    def values(self) -> Integers:
        """The distinct values, ascending, times `unit`."""
        return self.some_values(slice(None))

    def some_values(self, some: slice) -> Integers:
        """Return some of the distinct values, times `unit`; no others become Python ints."""
        mantissas, shifts = self._mantissas(self._array[some])
        integers: Integers = mantissas.astype(object) << shifts.astype(object)
        return integers

    def record(self, positions: Any) -> Any:
        """Return the record at a position, times `unit`; the largest value where records end."""
        return self.values_at(self.place(positions))

    def values_at(self, places: Any) -> Any:
        """Return the values at some places, times `unit`; the largest one behind them."""
        values = self._array.take(places, mode="clip")
        if not np.ndim(places):  # the same, quicker
            above, below = values.item().as_integer_ratio()
            return above * (self.unit // below)
        mantissas, shifts = self._mantissas(values)
        return mantissas.astype(object) << shifts.astype(object)

    def before(self, places: Any, power: int = 1) -> Any:
        """Return the sums of the records, or of their powers, of all values before some."""
        if power != 1:
            return super().before(places, power)
        starts, shifts, before, upper, lower = self._runs
        # The runs before, and of the own run the difference of two limb sums: "Whole curves: every
        # distance at once", *Prefix sums of floats*.
        run = starts.searchsorted(places, side="right") - 1
        first = starts[run]
        of_upper, of_lower = upper[places] - upper[first], lower[places] - lower[first]
        if not np.ndim(places):  # the same, quicker
            return before[run] + (((int(of_upper) << _LIMB) + int(of_lower)) << shifts[run])
        limbs = (of_upper.astype(object) << _LIMB) + of_lower.astype(object)
        return before[run] + (limbs << shifts[run])

    @cached_property
    def _runs(self) -> tuple[NDArray[np.intp], Integers, Integers, Multiplicities, Multiplicities]:
        """The places where runs start, their shifts, the sums before them, and sums of limbs."""
        mantissas, shifts = self._mantissas(self._array)
        starts = np.concatenate([[0], np.flatnonzero(shifts[1:] != shifts[:-1]) + 1])
        # m = 2**26 h + l with 0 <= l < 2**26, also where m is negative: >> rounds down.
        upper, lower = (
            np.concatenate([[0], np.cumsum(limb * self.counts)])
            for limb in (mantissas >> _LIMB, mantissas & ((1 << _LIMB) - 1))
        )
        stops = np.concatenate([starts[1:], [len(mantissas)]])
        of_runs = shifts[starts].astype(object)
        of_upper, of_lower = (limb[stops] - limb[starts] for limb in (upper, lower))
        # From here on Python ints, one per run: a shifted sum may leave int64.
        totals = (of_upper.astype(object) << _LIMB) + of_lower
        before = np.concatenate([np.array([0], dtype=object), np.cumsum(totals << of_runs)[:-1]])
        return starts, of_runs, before, upper, lower

    def _mantissas(self, some: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return values as whole numbers of at most 64 bits and how far to shift them."""
        if some.dtype == np.int64:
            return some, np.zeros_like(some)
        mantissas, exponents = mantissas_of_floats(some)
        # A zero has no exponent of its own; its shift must only not be negative.
        return mantissas, np.maximum(exponents - self._lowest, 0)
