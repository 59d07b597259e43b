"""Words, and the search that collects those that might be the best.

A word is dropped only when it surely loses: every quantity comes as a lower and an upper bound that
account for all rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .sorted_records import UNIT, Positions, Reals, SortedRecords

CHUNK = 1 << 16
"""Words evaluated at once."""

FEW = 4
"""So many words are not worth a look for repetitions."""

LOOKUPS = 12
"""Prefix sums added up in one evaluation, at most."""


@dataclass(frozen=True)
class Words:
    """Words of one pattern: block b of word w is ``range(bounds[w, b], bounds[w, b + 1])``.

    Attributes
    ----------
    pattern : str
        The label of each block.
    bounds : array of int64, shape (words, len(pattern) + 1)
        Where the blocks begin and end, as positions in the sorted universe.
    lower, upper : arrays of longdouble, shape (words,)
        The objective f(x) - f(y) of each word lies between these.
    """

    pattern: str
    bounds: Positions
    lower: Reals
    upper: Reals

    def ranges(self, word: int, labels: str) -> list[tuple[int, int]]:
        """The nonempty position ranges [start, stop) of the blocks with one of these labels."""
        row = self.bounds[word].tolist()
        blocks = zip(self.pattern, row[:-1], row[1:], strict=True)
        return [(start, stop) for label, start, stop in blocks if label in labels and start < stop]


class Search:
    """Collects the words that might be the best, over a universe and its mirror image.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    root : bool
        Whether f is the standard deviation rather than the variance.
    ddof : float
        The variance is the sum of squared deviations over (size - ddof).
    budget : int
        The most words to evaluate; beyond, `OverflowError`.

    Attributes
    ----------
    floor : longdouble
        Some pair reaches this: a word surely below it is dropped.
    evaluated : int
        Words evaluated so far.
    """

    def __init__(self, records: SortedRecords, root: bool, ddof: float, budget: int) -> None:
        self.records = records
        self.root = root
        self.ddof = np.longdouble(ddof)
        self.budget = budget
        self.evaluated = 0
        self.floor = np.longdouble(0)
        self._found: dict[str, list[Words]] = {}

    def offer(self, records: SortedRecords, pattern: str, bounds: Positions) -> None:
        """Evaluate words of `records` (the universe or its mirror) and keep what might be best."""
        if not len(bounds):
            return
        low_x, high_x = self._spread_of(records, pattern, bounds, "AC")
        low_y, high_y = self._spread_of(records, pattern, bounds, "BC")
        lower, upper = low_x - high_y, high_x - low_y
        lower, upper = lower - 4 * UNIT * np.abs(lower), upper + 4 * UNIT * np.abs(upper)
        self.floor = max(self.floor, lower.max())
        keep = upper >= self.floor
        bounds = bounds[keep]
        if records is not self.records:
            pattern, bounds = pattern[::-1], records.size - bounds[:, ::-1]
        kept = self._found.setdefault(pattern, [])
        kept.append(Words(pattern, bounds, lower[keep], upper[keep]))
        if sum(len(part.upper) for part in kept) > 4 * CHUNK:
            self._found[pattern] = [self._merged(pattern)]

    def spend(self, words: int) -> None:
        """Count words about to be evaluated."""
        self.evaluated += words
        if self.evaluated > self.budget:
            raise OverflowError(f"more than {self.budget:,} words to evaluate")

    def words(self) -> list[Words]:
        """The words that might be the best: no pair of datasets beats the best of them."""
        merged = [self._merged(pattern) for pattern in self._found]
        return [words for words in merged if len(words.upper)]

    def _spread_of(
        self, records: SortedRecords, pattern: str, bounds: Positions, labels: str
    ) -> tuple[Reals, Reals]:
        inside = [False, *(label in labels for label in pattern), False]
        # Where the chosen blocks begin, prefix sums are subtracted; where they end, added.
        signs = np.array([before - after for before, after in pairwise(inside)])
        places = np.flatnonzero(signs)
        ends, signs = bounds[:, places], signs[places]
        size = int(ends[0] @ signs)
        sums = (records.total(ends) * signs).sum(axis=1)
        squares = (records.squares(ends) * signs).sum(axis=1)
        return spread(records, sums, squares, size, size - self.ddof, root=self.root)

    def _merged(self, pattern: str) -> Words:
        parts = self._found[pattern]
        bounds, lower, upper = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("bounds", "lower", "upper")
        )
        rows = np.flatnonzero(upper >= self.floor)
        if len(rows) > FEW:
            keys = _content(self.records, pattern, bounds[rows])
            rows = rows[np.unique(keys, axis=0, return_index=True)[1]]
        return Words(pattern, bounds[rows], lower[rows], upper[rows])


def _content(records: SortedRecords, pattern: str, bounds: Positions) -> Positions:
    """A key per word; equal keys mean equal multisets in A, B and C.

    A block inside a run of equal records is described by that run's first position and the block's
    length, any other block by its positions.
    """
    columns = []
    for place, label in enumerate(pattern):
        if label == "O":
            continue
        start, stop = bounds[:, place], bounds[:, place + 1]
        one_run = records.run(start) == records.run(np.maximum(stop - 1, start))
        begin = np.where(one_run, records.run(start), start)
        columns += [np.where(start < stop, begin, -1), stop - start]
    return np.stack(columns, axis=1)


def spread(
    records: SortedRecords,
    sums: Reals,
    squares: Reals,
    size: int,
    divisor: np.longdouble,
    *,
    root: bool,
    extra: Reals | float = 0.0,
) -> tuple[Reals, Reals]:
    """Bounds on (squared deviations) / divisor, or its root, of sets with these sums.

    `extra` is a further error of the squared deviations.
    """
    deviations = np.maximum((size * squares - sums * sums) / size, 0)
    error = extra + deviation_error(records, size) + 8 * UNIT * deviations
    low = np.maximum(deviations - error, 0) / divisor * (1 - 4 * UNIT)
    high = (deviations + error) / divisor * (1 + 4 * UNIT)
    if root:
        return np.sqrt(low) * (1 - 4 * UNIT), np.sqrt(high) * (1 + 4 * UNIT)
    return low, high


def deviation_error(records: SortedRecords, size: int) -> float:
    """Bound on the error of squared deviations of `size` records, but for the last roundings."""
    if records.exact(size):
        return 0.0
    squares = min(records.all_squares, size * records.largest**2)
    of_sum = LOOKUPS * (records.sum_error + UNIT * records.absolute)
    of_squares = LOOKUPS * (records.square_error + UNIT * records.all_squares)
    cancellation = (16 * UNIT + 3 * records.value_error) * squares
    return 1.01 * (of_squares + 2 * records.largest * of_sum + of_sum**2 / size + cancellation)
