"""Patterns of labels along the sorted universe, and the search for the best of their placements.

A pattern is a text over A (only in x), B (only in y), C (in both) and O (in neither), a letter per
block. A *placement* says where each block begins and ends, so it is a pair of datasets. Placements
are compared with the best so far by what they do not share with it, in floating point with a bound
on all rounding. What that leaves open is compared in exact integers (docs/proofs.md, "Rounding").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.search.contenders import contenders

from .comparing import Rated, Reference, Sets, Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords

CHUNK = 1 << 15
"""How many placements are evaluated at once."""

BUDGET = 1 << 27
"""The most placements that a search evaluates; that takes a few minutes."""

COMPARED = 1 << 20
"""The most placements that are compared in exact integers; that takes some ten seconds."""

SEED = 256
"""How many rows are searched first, those with the largest bounds, so that others are skipped."""

SAMPLE = 64
"""Of very many rows, one in this many is searched before the others."""

ROUNDS = 12
"""How many placements of a chunk are compared one by one, before the rest all at once."""


@dataclass(frozen=True)
class Placement:
    """A pattern with places for its blocks, which make a pair of datasets.

    Block b has the records at the positions ``range(bounds[b], bounds[b + 1])``; it may be empty.

    Attributes
    ----------
    pattern : str
        The label of each block.
    bounds : tuple of int, shape (len(pattern) + 1,)
        Where the blocks begin and end, as positions in the sorted universe.
    """

    pattern: str
    bounds: tuple[int, ...]

    def ranges(self, labels: str) -> tuple[tuple[int, int], ...]:
        """The nonempty position ranges [start, stop) of the blocks with one of these labels."""
        blocks = zip(self.pattern, pairwise(self.bounds), strict=True)
        return tuple(ends for label, ends in blocks if label in labels and ends[0] < ends[1])


class PatternSearch:
    """Keeps the best placement so far, over a universe and its mirror image.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    spread : Spread
        What f is.
    start : Placement
        Any placement, to begin with.
    count : callable, optional
        Called with the number of placements that come next, for a progress bar.
    least : longdouble, default 0
        An f(x) - f(y) that placements of another search reach.

    Attributes
    ----------
    best : Placement
        The placement with the largest f(x) - f(y) so far.
    reference : Reference
        Its datasets.
    value : Difference
        Its f(x) - f(y), or 0 if that is negative.
    evaluated, compared : int
        How many placements were evaluated so far, and how many of them were compared exactly,
        many at once.
    """

    def __init__(
        self,
        records: SortedRecords,
        spread: Spread,
        start: Placement,
        count: Callable[[int], object] = id,
        least: np.longdouble | float = 0.0,
    ) -> None:
        self.records, self.spread = records, spread
        self.count, self.least = count, least
        self.evaluated = self.compared = 0
        offer = self._offer(start.pattern, np.array([start.bounds]))
        self.best, self.reference, self.value = start, *self._rate(offer, 0)

    def floor(self) -> np.longdouble:
        """A number that f(x) - f(y) reaches for some placement, or 0."""
        if not self.records.readable:
            return np.longdouble(0)
        reached = as_real(self.value.bracket()[0]) * (1 - 4 * UNIT)
        return max(reached, np.longdouble(self.least))

    def room(self, x: Sets) -> Reals:
        """Upper bounds on the f(y) with which x beats the best placement, for each row.

        It has to beat `least`, too, which is reached by a pair of another search.
        """
        return self.reference.room(self.spread, self.records, x, self.least)

    def plan(self, placements: int) -> None:
        """Allow for more placements to be evaluated, or raise OverflowError."""
        self.evaluated += placements
        if self.evaluated > BUDGET:
            raise OverflowError(f"more than {BUDGET:,} pairs to evaluate")

    def offer(self, records: SortedRecords, pattern: str, bounds: Positions) -> None:
        """Compare placements with the best one so far, and keep the better one.

        Parameters
        ----------
        records : SortedRecords
            The universe, or its mirror image.
        pattern : str
            The label of each block, along `records`.
        bounds : array of int64, shape (placements, len(pattern) + 1)
            Where the blocks of each placement begin and end, along `records`.
        """
        if not len(bounds):
            return
        offer = self._offer(*self._along_universe(records, pattern, bounds))
        # `rows` are the placements that may still beat the best one.
        rows = np.arange(len(bounds))
        # Always: a placement that beats all others is the best one so far, or among `rows`.
        for _ in range(ROUNDS):
            # A gain is an upper bound: where it is not above 0, the row surely does not win.
            gains = self._gains(self.reference, offer, rows)
            rows, gains = rows[gains > 0], gains[gains > 0]
            if not len(rows):
                return
            place = int(rows[np.argmax(gains)])
            beaten = self._challenge(offer, place)
            if beaten is not None:
                # A placement that surely does not beat a loser cannot win either.
                gains = self._gains(beaten, offer, rows)
                rows = rows[(gains > 0) & (rows != place)]
        for place in self._largest(offer.x.rows(rows), offer.y.rows(rows)):
            self._challenge(offer, int(rows[place]))

    def sets(self, records: SortedRecords, pattern: str, bounds: Positions, labels: str) -> Sets:
        """The records that some labels have in each placement; `records` etc. as in `offer`."""
        return self._sets(*self._along_universe(records, pattern, bounds), labels)

    def _along_universe(
        self, records: SortedRecords, pattern: str, bounds: Positions
    ) -> tuple[str, Positions]:
        if records.sign == self.records.sign:
            return pattern, bounds
        # Position p of the mirror is position N - 1 - p of the universe.
        return pattern[::-1], records.size - bounds[:, ::-1]

    def _sets(self, pattern: str, bounds: Positions, labels: str) -> Sets:
        """The records that some labels have in each placement."""
        inside = [False, *(label in labels for label in pattern), False]
        # Where the chosen blocks begin, prefix sums are subtracted; where they end, added.
        signs = np.array([before - after for before, after in pairwise(inside)])
        places = np.flatnonzero(signs)
        # All placements of an offer have one size, so the first tells it.
        size = int(bounds[0] @ signs)
        sums, squares = (
            sum(signs[place] * prefix(bounds[:, place]) for place in places.tolist())
            for prefix in (self.records.total, self.records.squares)
        )
        return Sets(size, sums, squares)

    def _offer(self, pattern: str, bounds: Positions) -> _Offer:
        x, y = (self._sets(pattern, bounds, labels) for labels in ("AC", "BC"))
        return _Offer(pattern, bounds, x, y)

    def _gains(self, reference: Reference, offer: _Offer, rows: Positions) -> Reals:
        x, y = offer.x, offer.y
        if len(rows) < len(offer.bounds):
            x, y = x.rows(rows), y.rows(rows)
        return reference.gains(self.spread, self.records, x, y)

    def _challenge(self, offer: _Offer, place: int) -> Reference | None:
        """Compare a placement with the best one exactly; keep it, or return its datasets."""
        reference, value = self._rate(offer, place)
        if not value > self.value:
            return reference
        self.best = Placement(offer.pattern, tuple(offer.bounds[place].tolist()))
        self.reference, self.value = reference, value
        return None

    def _rate(self, offer: _Offer, place: int) -> tuple[Reference, Difference]:
        """The datasets of a placement, and f(x) - f(y), or 0 if that is negative."""
        x, y = offer.x.rows(place), offer.y.rows(place)
        of_x, of_y = (self.spread.variance(self.records, one) for one in (x, y))
        value = Difference(max(of_x, of_y), of_y, self.spread.root)
        if not self.records.readable:
            return Reference(Rated(x, np.longdouble(0)), Rated(y, np.longdouble(0))), value
        return Reference(Rated(x, as_real(of_x)), Rated(y, as_real(of_y))), value

    def _largest(self, x: Sets, y: Sets) -> list[int]:
        """The rows whose f(x) - f(y) may be largest; of rows with equal variances, one."""
        number = len(x.sums)
        self.compared += number
        if self.compared > COMPARED:
            raise OverflowError(f"more than {COMPARED:,} pairs to compare exactly")
        of_x, of_y = (self._scaled(sets).tolist() for sets in (x, y))
        # Of all with no smaller variance of x only the one with the smallest variance of y can win.
        front: list[int] = []
        for row in sorted(range(number), key=lambda row: (-of_x[row], of_y[row])):
            if not front or of_y[row] < of_y[front[-1]]:
                front.append(row)
        if not self.spread.root or not front:
            return sorted(front, key=lambda row: of_y[row] - of_x[row])[:1]
        # Both roots are rounded down, so each difference is off by less than one unit.
        # 128 bits under the root are 64 bits of it.
        gaps = [isqrt(of_x[row] << 128) - isqrt(of_y[row] << 128) for row in front]
        return [front[near] for near in contenders(np.array(gaps, dtype=object), 1)]

    def _scaled(self, sets: Sets) -> Integers:
        """Variances times a number that is the same for both sides, as Python ints."""
        free = self.spread.free(sets.size)
        # V = (n D) / (n (n - d)). Over the product of both sides' n and of the numerators of n - d
        # the variances of both sides are whole numbers in one unit.
        other = 1
        for side in (self.reference.x.sets.size, self.reference.y.sets.size):
            other *= side * self.spread.free(side).numerator
        scaled: Integers = sets.deviations(self.records) * (other // (sets.size * free.numerator))
        return scaled


@dataclass(frozen=True)
class _Offer:
    """Placements of one pattern with their datasets, a row each."""

    pattern: str
    bounds: Positions
    x: Sets
    y: Sets


def expand(
    search: PatternSearch, low: Positions, high: Positions
) -> Iterator[tuple[Positions, Positions]]:
    """All (row, index) with low[row] <= index <= high[row], in chunks."""
    # Pairs are numbered row by row; `ends` is where the numbers of each row end.
    ends = np.cumsum(np.maximum(high - low + 1, 0))
    total = int(ends[-1]) if len(ends) else 0
    search.plan(total)
    for start in range(0, total, CHUNK):
        running.poll()
        numbers = np.arange(start, min(start + CHUNK, total))
        search.count(len(numbers))
        rows = np.searchsorted(ends, numbers, side="right")
        # Pairs are counted back from the row's last one, which has the index `high`.
        index = (high.take(rows) - (ends.take(rows) - 1 - numbers)).astype(np.int64)
        yield rows.astype(np.int64), index


def best_first(
    rows: Positions, gains: Callable[[Positions], Reals], visit: Callable[[Positions], None]
) -> None:
    """Visit the rows that may beat the best placement, those with the largest gains first.

    `gains` bounds how far a row can be above the best placement; it is asked again for the rows
    that remain, since visits improve the best placement.
    """
    seed = SEED
    if len(rows) > 4 * seed:  # what a few rows reach excludes most of the others
        best_first(rows[::SAMPLE], gains, visit)
    while True:
        chunks = range(0, len(rows), CHUNK)
        if not chunks:
            return
        bound = np.concatenate([gains(rows[at : at + CHUNK]) for at in chunks])
        rows, bound = rows[bound > 0], bound[bound > 0]
        if len(rows) <= seed:
            visit(rows)
            return
        # The `seed` rows with the largest bounds, in any order. Twice as many come next: few rows
        # first, since they exclude others; more later, as bounds take a pass.
        order = np.argpartition(-bound, seed)
        visit(rows[order[:seed]])
        rows, seed = rows[order[seed:]], min(2 * seed, CHUNK)
