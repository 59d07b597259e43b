"""From the answers that every multiset can give to the neighbors whose answers are furthest apart.

A multiset has several answers, one per order. Between neighbors only the highest of one and the
lowest of the other matter, so the search is that of enumeration: extremes come down the lattice to
the cores. Answers are replaced by their ranks, so that nothing is rounded on the way. See
docs/proofs.md, "Free orders".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.search.enumeration.cores import above, containing
from sensitivity_lab.search.enumeration.pairs import Family
from sensitivity_lab.search.lattice import Floats, Indices, Lattice

from .answers import CodeAnswer, gap_between, ranked, scales


class Level(NamedTuple):
    """The answers of all multisets of a size: entry e says that `owners[e]` can give `labels[e]`.

    Owners are ranks of multisets, ascending; every multiset has at least one entry. Labels are
    places in a list of answers.
    """

    owners: Indices
    labels: Indices


class FurthestEntries(NamedTuple):
    """Entries of the levels of x and of y, and how far apart they are; None is infinitely far."""

    gap: Fraction | None
    size_x: int
    entry_x: int
    size_y: int
    entry_y: int


def furthest(
    lattice: Lattice,
    limits: NDArray[np.int64],
    families: Sequence[Family],
    levels: dict[int, Level],
    answers: Sequence[CodeAnswer],
) -> FurthestEntries:
    """Return the neighbors, with an answer of each, that are furthest apart; the first of equals.

    Parameters
    ----------
    lattice : Lattice
        The multisets, by level and rank.
    limits : ndarray of int64, shape (m,)
        How often each value may occur in a pair of datasets together.
    families : sequence of Family
        Kinds of pairs; those of one multiset with itself have core, x and y of one size.
    levels : dict of Level
        By size, what multisets can answer.
    answers : sequence
        What the labels stand for.
    """
    last = None
    # A scale gives every answer a position. On the first one it is its class (finite, inf, -inf or
    # NaN), since answers of two classes are infinitely far apart; only if no pair differs there do
    # values decide.
    for positions in scales(answers):
        search = _Search(lattice, limits, levels, *ranked(positions))
        gap, last = max((search.best(f) for f in families), key=lambda found: found[0])
        if gap:
            break
    if last is None:
        raise AssertionError("there is no scale of answers")
    first, second = (answers[levels[size].labels[entry]] for size, entry in (last[:2], last[2:]))
    return FurthestEntries(gap_between(first, second), *last)


_Entries = tuple[int, int, int, int]
"""The size of x, its entry, the size of y, its entry."""


@dataclass
class _Search:
    """The search on one scale: `distinct` positions, and by label the rank among them.

    Two numbers that go down the lattice per dataset are the highest and the lowest rank of what a
    multiset can answer, with the lowest times -1, so that both are raised to a maximum. Ranks are
    turned into positions only where two are subtracted.
    """

    lattice: Lattice
    limits: NDArray[np.int64]
    levels: dict[int, Level]
    distinct: Integers
    ranks: Indices

    def __post_init__(self) -> None:
        self._columns: dict[tuple[int, int], Floats] = {}

    def best(self, family: Family) -> tuple[int, _Entries]:
        """Return the largest gap of a family's pairs, and one of them."""
        bounds, signs = self._bounds(family)
        # If A and B may share records, any two multisets over a core are a pair: the bound is met.
        if not family.disjoint:
            core = int(np.argmax(bounds))
            return bounds[core], self._pair(family, core, int(signs[core]))
        # Else it is an upper bound: cores in descending order, until none can be better.
        best: tuple[int, _Entries] | None = None
        for core in np.argsort(-bounds, kind="stable").tolist():
            if best is not None and bounds[core] <= best[0]:
                break
            for gap, entries in self._disjoint_pairs(family, core):
                if best is None or gap > best[0]:
                    best = gap, entries
        if best is None:
            raise AssertionError(f"no disjoint pair for {family}")
        return best

    def _bounds(self, family: Family) -> tuple[Integers, NDArray[np.bool_]]:
        """Return per core the largest gap, and whether x is the higher one there."""
        high_x, low_x = self._extremes(family.of_x, family.core)
        high_y, low_y = self._extremes(family.of_y, family.core)
        down, up = self._gaps(high_x, low_y), self._gaps(high_y, low_x)
        return np.maximum(down, up), (down >= up).astype(np.bool_)

    def _gaps(self, high: Indices, low: Indices) -> Integers:
        """Return differences of positions, given ranks; each distinct one is computed once."""
        # A code is a pair of ranks. Positions are Python ints, and most cores repeat a pair.
        codes, places = np.unique(high * len(self.distinct) + low, return_inverse=True)
        count = len(self.distinct)
        gaps = self.distinct[codes // count] - self.distinct[codes % count]
        of_cores: Integers = gaps[places.reshape(-1)]
        return of_cores

    def _extremes(self, size: int, core: int) -> tuple[Indices, Indices]:
        """Return per core the highest and lowest rank over the multisets of a size above it."""
        columns = self._down(size, core)
        return columns[:, 0].astype(np.intp), -columns[:, 1].astype(np.intp)

    def _down(self, size: int, core: int) -> Floats:
        """Return columns [highest, -lowest]; ranks are small integers, so floats hold them."""
        if (size, core) not in self._columns:
            if core < size:
                columns = self.lattice.maximum_below(self._down(size, core + 1), core)
            else:
                # Entries are sorted by owner: each owner's are a range, reduced to one number.
                owners, labels = self.levels[size]
                ranks = self.ranks[labels]
                starts = np.flatnonzero(np.diff(owners, prepend=-1))
                high, low = (of.reduceat(ranks, starts) for of in (np.maximum, np.minimum))
                columns = np.column_stack([high, -low]).astype(np.float64)
            self._columns[size, core] = columns
        return self._columns[size, core]

    def _pair(self, family: Family, core: int, x_high: int) -> _Entries:
        """Return the entries of the highest and the lowest answer above a core."""
        entries = []
        shared = self.lattice.multiplicities(family.core, core)
        for size, highest in ((family.of_x, x_high), (family.of_y, not x_high)):
            ranks = above(self.lattice, shared, size)
            columns = self._down(size, size)[ranks]
            column = 0 if highest else 1
            dataset = int(ranks[np.argmax(columns[:, column])])
            entries += [size, self._entry(size, dataset, bool(highest))]
        return entries[0], entries[1], entries[2], entries[3]

    def _entry(self, size: int, dataset: int, highest: bool) -> int:
        """Return the entry of a multiset's highest or lowest answer."""
        first, last = self.levels[size].owners.searchsorted([dataset, dataset + 1])
        ranks = self.ranks[self.levels[size].labels[first:last]]
        return int(first + (np.argmax(ranks) if highest else np.argmin(ranks)))

    def _disjoint_pairs(self, family: Family, core: int) -> Iterator[tuple[int, _Entries]]:
        """Yield, per x above a core, the furthest of the y that take none of x's own records."""
        shared = self.lattice.multiplicities(family.core, core)
        sizes = (family.of_x, family.of_y)
        above_x, above_y = (above(self.lattice, shared, size) for size in sizes)
        counts_x, counts_y = (containing(self.lattice, shared, size) for size in sizes)
        for place, dataset in enumerate(above_x.tolist()):
            # x + y is 2 C + A + B, and C + A + B has to be within the limits.
            others = above_y[(counts_x[place] + counts_y <= self.limits + shared).all(axis=1)]
            if not len(others):
                continue
            own = self._down(family.of_x, family.of_x)[dataset].astype(np.intp)
            columns = self._down(family.of_y, family.of_y)[others].astype(np.intp)
            # x highest and y lowest, then the other way round. Columns are [highest, -lowest], so
            # the best y is a maximum either way, in `column`; x's own rank is in the other column.
            for x_high in (True, False):
                column = 1 if x_high else 0
                other = int(np.argmax(columns[:, column]))
                mine, theirs = own[1 - column], columns[other, column]
                # (the higher rank, the lower one), each without the -1 of its column
                signed = (mine, -theirs) if x_high else (theirs, -mine)
                gap = int(self.distinct[signed[0]] - self.distinct[signed[1]])
                yield (
                    gap,
                    (
                        family.of_x,
                        self._entry(family.of_x, dataset, x_high),
                        family.of_y,
                        self._entry(family.of_y, int(others[other]), not x_high),
                    ),
                )
