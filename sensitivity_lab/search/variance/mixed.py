"""Variance and standard deviation: some records removed and another number of them added.

Either the larger set is more spread: then the words of `replace` are enough. Or the smaller one is:
for the variance its core is at the ends, as in `core_at_ends`. For the root the words of `replace`
are enough as soon as some pair reaches more than a bound, which `Reached` checks before a search.
See "Variance and standard deviation: records of both" and "Variance and standard deviation: the
smaller set more spread" in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sensitivity_lab.search.layouts import Shape

from .comparing import Spread, as_real
from .core_at_ends import any_at_ends, search_at_ends, surely_below
from .float_prefix_sums import UNIT, Positions, SortedRecords
from .patterns import BUDGET, Known, PatternSearch, Placement
from .replace import any_around, offer_windows, search_both
from .windows import WindowComplement, best_split


def best_mixed(
    records: SortedRecords,
    shape: Shape,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
    known: Known | None = None,
) -> Placement:
    """The best pair where both datasets have records of their own, one more of them.

    Requires ``shape.only_x > shape.only_y > 0``: x is the larger set. ddof is below both sizes, and
    for the root the bound of `Reached` holds. Guarantees that the placement has the largest
    |f(x) - f(y)|; its A is in the set that is more spread, and may have the size of either. Cost
    O(N log n) for each of the two words, for the second one times the smaller number of A and B.
    `known` is of the pattern `AOACBCAOA`, the larger set more spread.
    """
    larger = search_both(records, shape, spread, budget, count, known)
    if known and known.alone:
        return larger.best
    turned = Shape(shape.core, shape.only_y, shape.only_x, shape.total)
    least = max(larger.floor(), known.least) if known else larger.floor()
    smaller = PatternSearch(records, spread, any_at_ends(turned), budget, count, least)
    if not spread.root:
        search_at_ends(smaller, turned)
    elif turned.of_x > 1 and not surely_below(smaller, turned):
        smaller = search_both(records, turned, spread, budget, count, least=least)
    return max(larger, smaller, key=lambda search: search.value).best


class Reached:
    """Whether differences of roots reach enough for the words of the smaller set to be proved.

    Let n < m be the sizes of x and y, and ``g(m) = (m + 1) / (m (m - d))``. If
    ``sd(x) - sd(y) <= (1 - g(m) / g(n)) sd(x)``, words are not proved to be enough. Such a pair
    does not matter where another reaches more than that for any x. See "Variance and standard
    deviation: the smaller set more spread" in docs/proofs.md, *The root*.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    spread : Spread
        A root.

    Attributes
    ----------
    least : longdouble
        What pairs of the shapes that were asked for reach at least.
    """

    def __init__(self, records: SortedRecords, spread: Spread) -> None:
        self.records, self.spread, self.least = records, spread, np.longdouble(0)
        self._most: dict[int, np.longdouble] = {}  # the largest sd(x), by the size of x

    def enough(self, shape: Shape) -> bool:
        """Whether pairs of this shape, or of one asked for before, reach enough.

        In x of the shape are more records than in y.
        """
        spare = shape.total - shape.of_x - shape.only_y
        if not shape.core or not spare or shape.of_y == 1:
            return True  # there is no C or no O, or f is 0 for the smaller set
        bound = self._bound(shape)
        if bound < self.least:
            return True
        if not self.records.readable:
            return False
        start = any_around(shape)
        search = PatternSearch(self.records, self.spread, start)
        offer_windows(search, self._promising(shape.of_y), shape)
        self.least = max(self.least, search.floor())
        return bool(bound < self.least)

    def _bound(self, shape: Shape) -> np.longdouble:
        """At least ``(1 - g(m) / g(n)) sd(x)`` for any x of n records, n the smaller size."""
        if not self.records.readable:
            return np.longdouble(np.inf)
        smaller, larger, free = shape.of_y, shape.of_x, self.spread.free
        if smaller not in self._most:
            everything = WindowComplement(self.records, np.zeros(1, dtype=np.int64), 0)
            ends = everything.ends(best_split(everything, 0, smaller, smaller), smaller)
            self._most[smaller] = self.spread.bounds(self.records, ends, smaller)[1][0]
        ratio = (larger + 1) * smaller * free(smaller) / ((smaller + 1) * larger * free(larger))
        bound: np.longdouble = self._most[smaller] * as_real(1 - ratio) * (1 + 16 * UNIT)
        return bound

    def _promising(self, width: int) -> Positions:
        """A few windows: the lowest, the highest and about the tightest one."""
        values = self.records.record(np.arange(self.records.size))
        # Of any size: the records are integers in a unit that can be as small as 1e-294.
        values = (values / max(np.abs(values).max(), np.longdouble(1))).astype(float)
        sums, squares = (
            np.concatenate([np.zeros(1), np.cumsum(powers)]) for powers in (values, values**2)
        )
        total = sums[width:] - sums[:-width]
        tight = int(np.argmin(squares[width:] - squares[:-width] - total * total / width))
        return np.unique([0, tight, self.records.size - width])
