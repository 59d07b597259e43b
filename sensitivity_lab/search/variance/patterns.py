"""Words, and the search for the best of them.

Words are compared with the best so far by what they do not share with it, in floating point with a
bound on all rounding; what that leaves open is compared in exact integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers

from .comparing import Pair, Rated, Sets, Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords

CHUNK = 1 << 16
"""Words evaluated at once."""

BUDGET = 1 << 27
"""Words evaluated at most, in a few minutes."""

COMPARED = 1 << 20
"""So many words are compared in exact integers at most, in some ten seconds."""

ROUNDS = 12
"""Words singled out of a chunk before all that are left of it are compared exactly."""


@dataclass(frozen=True)
class Word:
    """A pair of datasets: block b is ``range(bounds[b], bounds[b + 1])``.

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


class Search:
    """Keeps the best word so far, over a universe and its mirror image.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    spread : Spread
        What f is.
    start : Word
        Any word, to begin with.
    budget : int
        The most words to evaluate; beyond, `OverflowError`.
    count : callable, optional
        Is told how many words come next, for a progress bar.
    least : longdouble, default 0
        What other words reach.

    Attributes
    ----------
    best : Word
        The word with the largest f(x) - f(y) so far.
    pair : Pair
        Its datasets.
    value : Difference
        Its f(x) - f(y), or 0 if that is negative.
    evaluated, compared : int
        Words evaluated so far, and those of them compared exactly, many at once.
    """

    def __init__(
        self,
        records: SortedRecords,
        spread: Spread,
        start: Word,
        budget: int = BUDGET,
        count: Callable[[int], object] = id,
        least: np.longdouble | float = 0.0,
    ) -> None:
        self.records, self.spread = records, spread
        self.budget, self.count, self.least = budget, count, least
        self.evaluated = self.compared = 0
        words = self._offered(start.pattern, np.array([start.bounds]))
        self.best, self.pair, self.value = start, *self._rate(words, 0)

    def floor(self) -> np.longdouble:
        """A number that f(x) - f(y) reaches for some word, or 0."""
        if not self.records.readable:
            return np.longdouble(0)
        reached = as_real(self.value.bracket()[0]) * (1 - 4 * UNIT)
        return max(reached, np.longdouble(self.least))

    def room(self, records: SortedRecords, x: Sets) -> Reals:
        """Upper bounds on the f(y) with which x is above the best word."""
        return self.pair.room(self.spread, records, x)

    def plan(self, words: int) -> None:
        """Allow for more words to be evaluated, or raise OverflowError."""
        self.evaluated += words
        if self.evaluated > self.budget:
            raise OverflowError(f"more than {self.budget:,} pairs to evaluate")

    def offer(self, records: SortedRecords, pattern: str, bounds: Positions) -> None:
        """Compare words of `records` (the universe or its mirror) with the best, and keep it."""
        if not len(bounds):
            return
        if records.sign != self.records.sign:
            pattern, bounds = pattern[::-1], records.size - bounds[:, ::-1]
        words = self._offered(pattern, bounds)
        rows = np.arange(len(bounds))
        for _ in range(ROUNDS):
            gains = self._gains(self.pair, words, rows)
            rows, gains = rows[gains > 0], gains[gains > 0]
            if not len(rows):
                return
            place = int(rows[np.argmax(gains)])
            beaten = self._challenge(words, place)
            if beaten is not None:
                # What surely is not above a word that does not win cannot win either.
                gains = self._gains(beaten, words, rows)
                rows = rows[(gains > 0) & (rows != place)]
        for place in self._largest(words.x.rows(rows), words.y.rows(rows)):
            self._challenge(words, int(rows[place]))

    def _sets(self, pattern: str, bounds: Positions, labels: str) -> Sets:
        """The records that some labels have in each word."""
        inside = [False, *(label in labels for label in pattern), False]
        # Where the chosen blocks begin, prefix sums are subtracted; where they end, added.
        signs = np.array([before - after for before, after in pairwise(inside)])
        places = np.flatnonzero(signs)
        size = int(bounds[0] @ signs)
        sums, squares = (
            sum(signs[place] * prefix(bounds[:, place]) for place in places.tolist())
            for prefix in (self.records.total, self.records.squares)
        )
        return Sets(size, sums, squares)

    def _offered(self, pattern: str, bounds: Positions) -> _Offered:
        x, y = (self._sets(pattern, bounds, labels) for labels in ("AC", "BC"))
        return _Offered(pattern, bounds, x, y)

    def _gains(self, pair: Pair, words: _Offered, rows: Positions) -> Reals:
        x, y = words.x, words.y
        if len(rows) < len(words.bounds):
            x, y = x.rows(rows), y.rows(rows)
        return pair.gains(self.spread, self.records, x, y)

    def _challenge(self, words: _Offered, place: int) -> Pair | None:
        """Compare a word with the best exactly; keep it, or return its datasets if it loses."""
        pair, value = self._rate(words, place)
        if not value > self.value:
            return pair
        self.best = Word(words.pattern, tuple(words.bounds[place].tolist()))
        self.pair, self.value = pair, value
        return None

    def _rate(self, words: _Offered, place: int) -> tuple[Pair, Difference]:
        """The datasets of a word, and f(x) - f(y), or 0 if that is negative."""
        x, y = words.x.rows(place), words.y.rows(place)
        of_x, of_y = (self.spread.variance(self.records, one) for one in (x, y))
        value = Difference(max(of_x, of_y), of_y, self.spread.root)
        if not self.records.readable:
            return Pair(Rated(x, np.longdouble(0)), Rated(y, np.longdouble(0))), value
        return Pair(Rated(x, as_real(of_x)), Rated(y, as_real(of_y))), value

    def _largest(self, x: Sets, y: Sets) -> list[int]:
        """The rows whose f(x) - f(y) may be largest; no two that are the same by their sums."""
        number = len(x.sums)
        self.compared += number
        if self.compared > COMPARED:
            raise OverflowError(f"more than {COMPARED:,} pairs to compare exactly")
        if not number:
            return []
        of_x, of_y = (self._scaled(sets) for sets in (x, y))
        if self.spread.root:
            # Both roots are rounded down, so differences are off by less than one.
            apart = _roots(of_x) - _roots(of_y)
            near = np.flatnonzero((apart >= apart.max() - 2).astype(bool))
        else:
            apart = of_x - of_y
            near = np.flatnonzero((apart == apart.max()).astype(bool))[:1]
        keys = {(of_x[row], of_y[row]): row for row in near.tolist()}
        return list(keys.values())

    def _scaled(self, sets: Sets) -> Integers:
        """Variances times a number that is the same for both sides, as Python ints."""
        free = self.spread.free(sets.size)
        other = 1
        for side in (self.pair.x.sets.size, self.pair.y.sets.size):
            other *= side * self.spread.free(side).numerator
        scaled: Integers = sets.deviations(self.records) * (other // (sets.size * free.numerator))
        return scaled


@dataclass(frozen=True)
class _Offered:
    """Words of one pattern with their datasets, a row each."""

    pattern: str
    bounds: Positions
    x: Sets
    y: Sets


def _roots(squares: Integers) -> Integers:
    """Return square roots in units of 2**-64, rounded down."""
    roots = np.empty(len(squares), dtype=object)
    roots[:] = [isqrt(square << 128) for square in squares.tolist()]
    return roots
