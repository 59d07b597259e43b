"""Count datasets: of every block of some levels, of one size, or as an estimate.

A level is all datasets of one size. A block (values, size) is those over the first `values` values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BEYOND = 2**62
"""Stands for all larger numbers, of levels that are never listed; these are only compared."""


class Numbers:
    """The number of datasets of every block that is part of some levels.

    Parameters
    ----------
    counts : sequence of int, shape (m,)
        How often each distinct value may occur, in ascending order of the values.
    smallest_size, largest_size : int
        The smallest and the largest size of the levels.

    Notes
    -----
    A block of size t over the first j values is part of a level if the other values have enough
    records for the rest. So for N records, levels of nearly N need only a few sizes per value: the
    datasets of 19,999 of 20,000 records are counted in 60,000 additions. No block of a level is
    larger than the level, so no number has more digits than that of the level.

    Examples
    --------
    >>> numbers = Numbers([1] * 67, 66, 66)
    >>> numbers.of(67, 66), sum(map(len, numbers.rows))
    (67, 134)
    """

    def __init__(self, counts: Sequence[int], smallest_size: int, largest_size: int) -> None:
        self.below = list(accumulate(counts, initial=0))
        """How many records the first j values have."""
        self.least = [max(0, smallest_size - (self.below[-1] - held)) for held in self.below]
        """The smallest size of a block over the first j values that is part of a level."""
        self.rows = [[1]]
        for value, count in enumerate(counts):
            sizes = range(self.least[value + 1], min(largest_size, self.below[value + 1]) + 1)
            self.rows.append(_one_more_value(self.rows[-1], self.least[value], count, sizes))

    def of(self, values: int, size: int) -> int:
        """Return the number of datasets of a size over the first values.

        It is `_BEYOND` for a block that is too small to be part of any of the levels.
        """
        place, row = size - self.least[values], self.rows[values]
        if place < 0:
            return _BEYOND
        return row[place] if place < len(row) else 0

    def before(
        self, values: NDArray[np.intp], upto: NDArray[np.int64], beyond: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return how many datasets have a size from beyond + 1 to upto.

        Parameters
        ----------
        values, upto, beyond : ndarray of int, of shapes that broadcast
            The datasets are those over the first `values` values.
        """
        sums, starts, largest = self._sums
        first, last = starts[values], largest[values]
        return sums[first + np.minimum(upto, last)] - sums[first + np.minimum(beyond, last)]

    @cached_property
    def _sums(self) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
        """The numbers of datasets up to every size, in one array, and where to find them.

        Returns
        -------
        tuple of (sums, starts, largest)
            ``sums[starts[j] + t]``, for t up to ``largest[j]``, is the sum up to size t over the
            first j values, from the smallest size on; modulo 2**64, so that differences are right.
        """
        lengths = np.array([len(row) + 1 for row in self.rows])
        least = np.array(self.least)
        starts = np.cumsum(lengths) - lengths - least + 1
        flat = [min(n, _BEYOND) for row in self.rows for n in (0, *row)]
        return np.cumsum(np.array(flat, dtype=np.int64)), starts, least + lengths - 2


def _one_more_value(row: list[int], least: int, count: int, sizes: range) -> list[int]:
    """Return the numbers of datasets of some sizes when a value with `count` copies is added.

    `row` has the numbers without this value, from size `least` on.
    """
    sums = list(accumulate(row, initial=0))
    last = least + len(row) - 1
    return [
        sums[min(size, last) + 1 - least] - sums[max(size - count, least) - least] for size in sizes
    ]


def number_of_size(counts: Sequence[int], size: int) -> int:
    """Return the number of datasets of one size, in closed form.

    It is fast where most values have one count; `count_datasets` states the cost.

    Examples
    --------
    >>> number_of_size([1] * 24, 12), number_of_size([2, 1], 2)
    (2704156, 2)
    """
    groups = Counter(min(count, size) for count in counts)
    if set(groups) == {1}:
        return comb(len(counts), size)
    # The product of (1 - z**(limit+1))**values over the groups: its coefficients by exponent.
    product = {0: 1}
    for limit, values in groups.items():
        grown: dict[int, int] = defaultdict(int)
        for over in range(min(values, size // (limit + 1)) + 1):
            factor = (-1) ** over * comb(values, over)
            for exponent, number in product.items():
                total = exponent + over * (limit + 1)
                if total <= size:
                    grown[total] += factor * number
        product = grown
    # And 1 / (1 - z)**m is the sum of comb(i + m - 1, i) z**i.
    m = len(counts)
    return sum(
        number * comb(size - exponent + m - 1, m - 1) for exponent, number in product.items()
    )


def estimate(counts: Sequence[int] | NDArray[np.int64], size: int) -> float:
    """Estimate how many datasets of a size there are, without counting them.

    Returns
    -------
    float
        Off by a few percent for many datasets and by a small factor for few; math.inf beyond the
        range of floats.

    Notes
    -----
    The number is a coefficient of the product of ``1 + z + ... + z**count``. Daniels' saddlepoint:
    the product over ``z**size`` at its smallest z, over the root of 2 pi times the variance there.

    Examples
    --------
    >>> round(estimate([1] * 24, 12) / 2_704_156, 2)
    1.01
    """
    limits, values = np.unique(np.asarray(counts, dtype=np.float64), return_counts=True)
    if not 0 < size < limits @ values:
        return 1.0
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        mean = values @ _tilted(limits, middle)[1]
        low, high = (middle, high) if mean < size else (low, middle)
    totals, _, variances = _tilted(limits, low)
    variance = max(float(values @ variances), 1 / (2 * np.pi))
    exponent = float(values @ totals) - size * low - 0.5 * float(np.log(2 * np.pi * variance))
    return float(np.exp(exponent)) if exponent < 700 else np.inf


def _tilted(limits: Floats, log_z: float) -> tuple[Floats, Floats, Floats]:
    """Return the logarithm of ``1 + z + ... + z**limit``, and mean and variance of the power."""
    if log_z > 0:
        totals, means, variances = _tilted(limits, -log_z)
        return totals + limits * log_z, limits - means, variances
    terms = limits + 1
    # Where z is very close to 1, the general terms cancel.
    flat = -log_z * terms < 1e-4
    one, all_of_them = -np.expm1(log_z), -np.expm1(np.where(flat, -1.0, log_z * terms))
    z, last = np.exp(log_z), np.exp(log_z * terms)
    one = one if one else 1.0
    return (
        np.where(flat, np.log(terms) + log_z * limits / 2, np.log(all_of_them / one)),
        np.where(flat, limits / 2, z / one - terms * last / all_of_them),
        np.where(flat, limits * (limits + 2) / 12, z / one**2 - terms**2 * last / all_of_them**2),
    )
