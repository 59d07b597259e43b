"""Variance and standard deviation of a few records: all datasets at once, as bits of a number.

For a handful of records the patterns of `remove` and `replace` take longer to set up than all
datasets to look at. The datasets are the subsets of the records, numbered by their bits. See
docs/proofs.md, "Variance and standard deviation: a few records".
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.contenders import contenders, first_of_each
from sensitivity_lab.search.engine import Findings
from sensitivity_lab.search.layouts import Layout, LayoutSearch, Shape
from sensitivity_lab.search.sorted_records import Ranges, SortedMultiset

MOST = 12
"""Of at most so many records, all subsets are looked at."""

_LARGEST = 2**20
"""Up to here int64 holds all that is compared: 12 sums of squares, times 144 and 144."""

Numbers = NDArray[np.int64]


def takes(problem: Problem) -> bool:
    """Tell whether all subsets of the records are few, and lead to the neighbors asked for.

    To replace exactly k records is left out: two datasets around a core can share more than it.
    """
    exactly = (
        steps
        for family in problem.families
        if family.relations[0].exactly
        for steps in family.steps
    )
    return (
        problem.universe.size <= MOST
        and not any((steps.removed * steps.added).any() for steps in exactly)
        and all(Fraction(query.ddof).denominator == 1 for query in problem.queries)
    )


def solves(problem: Problem) -> bool:
    """Tell whether `solve` returns findings; it has to make the records for that."""
    return takes(problem) and Subsets(LayoutSearch(problem).records).largest <= _LARGEST


def solve(problem: Problem) -> Findings | None:
    """Return the findings of a problem that `takes` told about; None if records are too large."""
    search = LayoutSearch(problem)
    subsets = Subsets(search.records)
    if subsets.largest > _LARGEST:
        return None
    return search.findings([[subsets.furthest(query, shape)] for query, shape in search.questions])


class Subsets:
    """All datasets of a few records.

    Parameters
    ----------
    records : SortedMultiset
        At most `MOST`.
    """

    def __init__(self, records: SortedMultiset) -> None:
        self._records = records
        every = records.record(np.arange(records.size))
        centered = every - every[len(every) // 2]
        self._unit = int(np.gcd.reduce(centered)) or 1
        self._values = centered // self._unit
        self.largest = int(abs(self._values).max())

    @cached_property
    def _sizes(self) -> Numbers:
        """How many records each subset has: its bits, a bit for each record."""
        return self._sums(np.ones(len(self._values), dtype=np.int64))

    @cached_property
    def _deviations(self) -> Numbers:
        """For each subset of m records m times its squared deviations: m Q - S**2."""
        values = self._values.astype(np.int64)
        return self._sizes * self._sums(values**2) - self._sums(values) ** 2

    @staticmethod
    def _sums(values: Numbers) -> Numbers:
        """Return the sum of each subset."""
        sums = np.zeros(1, dtype=np.int64)
        for value in values.tolist():
            sums = np.concatenate([sums, sums + value])
        return sums

    @cache  # noqa: B019 - as short-lived as the search
    def _of_size(self, size: int) -> NDArray[np.intp]:
        return np.flatnonzero(self._sizes == size)

    @cache  # noqa: B019 - as above
    def _extremes(self, size: int) -> tuple[Numbers, Numbers]:
        """Return for each subset the least and the largest deviations of those around it."""
        here = self._sizes == size
        found = []
        for sign in (-1, 1):
            best = np.where(here, sign * self._deviations, -(2**62))
            for record in range(len(self._values)):
                # What holds for a subset without the record, and with it.
                without, within = np.moveaxis(best.reshape(-1, 2, 1 << record), 1, 0)
                np.maximum(without, within, out=without)
            found.append(sign * best)
        return found[0], found[1]

    def furthest(self, query: Query, shape: Shape) -> tuple[Difference, Layout]:
        """Return a pair around cores of a shape that is furthest apart; it can share more."""
        small, large = sorted((shape.of_x, shape.of_y))
        cores = self._of_size(shape.core)
        least, most = (extremes[cores] for extremes in self._extremes(large))
        pairs = [(most, least)]
        if small != large:
            other_least, other_most = (extremes[cores] for extremes in self._extremes(small))
            pairs = [(most, other_least), (least, other_most)]
        best = max((self._best(query, large, small, *pair) for pair in pairs), key=itemgetter(0))
        gap, first, second, place = best
        core = int(cores[place])
        found = [self._around(core, large, first), self._around(core, small, second)]
        x, y = found if shape.of_x == large else found[::-1]
        if x == y:  # no two datasets of the shape differ: any of them are neighbors
            core = (1 << shape.core) - 1
            x = (1 << shape.of_x) - 1
            y = core | ((1 << shape.only_y) - 1) << shape.of_x
        layout = Layout(self._ranges(x & y), self._ranges(x & ~y), self._ranges(y & ~x))
        return gap, layout

    def _best(
        self, query: Query, large: int, small: int, first: Numbers, second: Numbers
    ) -> tuple[Difference, int, int, int]:
        """Return the largest gap between two deviations, with them and their place."""
        below = [size * (size - int(query.ddof)) for size in (large, small)]
        if query.root:
            gaps = abs(np.sqrt(first / below[0]) - np.sqrt(second / below[1]))
            # Each root has a relative error of some 2**-52.
            largest = np.sqrt(max(first.max() / below[0], second.max() / below[1]))
            near = contenders(gaps, 2.0**-49 * float(largest))
        else:
            near = contenders(abs(first * below[1] - second * below[0]), 0)
        near = near[first_of_each(first[near], second[near])]
        columns = (column.tolist() for column in (first[near], second[near], near))
        scale = Fraction(self._unit, self._records.unit) ** 2
        return max(
            (
                (
                    Difference(
                        scale * Fraction(a, below[0]), scale * Fraction(b, below[1]), query.root
                    ),
                    a,
                    b,
                    place,
                )
                for a, b, place in zip(*columns, strict=True)
            ),
            key=itemgetter(0),
        )

    def _around(self, core: int, size: int, deviations: int) -> int:
        """Return a subset of a size around a core that has some deviations."""
        some = self._of_size(size)
        fits = ((some & core) == core) & (self._deviations[some] == deviations)
        return int(some[np.argmax(fits)])

    def _ranges(self, subset: int) -> Ranges:
        return tuple(
            (place, place + 1) for place in range(len(self._values)) if subset >> place & 1
        )
