"""The worst pairs of many shapes at once: a whole curve of sensitivities against the distance.

`branch` finds the few windows and splits of every shape that can win. What is left of a shape is
one pair, or a few that are compared exactly. Patterns that `branch` does not cover are searched
where a bound does not exclude them. See "Whole curves" in docs/proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sensitivity_lab.search.variance.comparing import Spread
from sensitivity_lab.search.variance.float_prefix_sums import Positions, Reals, SortedRecords
from sensitivity_lab.search.variance.patterns import Known, Placement
from sensitivity_lab.search.variance.remove import best_removal
from sensitivity_lab.search.variance.replace import best_replacement
from sensitivity_lab.search.variance.windows import Mask
from sensitivity_lab.search.variance.words import AROUND, CORE_INSIDE

from .bounds import HALVINGS, Rating, Sizes
from .branch import Branch, Leaves
from .line import Gaps, Line, first_of

TOGETHER = 2048
"""How many shapes are searched at once."""

WORK = 1 << 16
"""From so many shapes times records on, a search of all shapes at once is quicker."""


PAIRS = 1 << 14
"""The most pairs of a change that are compared exactly; with more, it is searched by itself."""


class Change(NamedTuple):
    """A shape: how many records the larger dataset has, and how many are replaced or removed."""

    size: int
    changed: int
    replaced: bool

    @property
    def kernel(self) -> Callable[..., Placement]:
        """What searches all patterns of this change."""
        return best_replacement if self.replaced else best_removal

    def any_placement(self, total: int) -> Placement:
        """Some pair of the shape, of a universe of so many records."""
        kept = self.size - self.changed
        if self.replaced:
            ends = (self.size, self.size, self.size, total - self.changed, total)
            return Placement(AROUND, (0, 0, 0, 0, kept, *ends))
        return Placement(CORE_INSIDE, (0, 0, 0, 0, kept, kept, total - self.changed, total))


class TooLongError(OverflowError):
    """A change whose search would take too long."""

    def __init__(self, change: Change, spread: Spread, reason: object) -> None:
        super().__init__(str(reason))
        self.change, self.spread = change, spread


Found = list[Placement | None]
"""For every shape its best placement; None where an earlier or equal level reaches as much."""


def placements(
    records: SortedRecords,
    changes: Sequence[Change],
    spreads: Sequence[Spread],
    level: Positions | None = None,
    count: Callable[[int], object] = id,
    done: Callable[[int], object] = id,
) -> list[Found]:
    """The best placement of every change, for every spread.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    changes : sequence of Change
        For each, what `best_removal` or `best_replacement` requires.
    spreads : sequence of Spread
        What f is; they share the bounds that do not depend on it.
    level : array of int64, shape (changes,), or None
        Ascending. If given, a change only matters where it reaches more than all changes of its and
        of lower levels; and for every j above 1, replacing j - 1 is among these for replacing j.
    count : callable
        Called with the numbers of pairs that are evaluated.
    done : callable
        Called with the numbers of changes that are solved, each for one spread.
    """
    found: list[Found] = [[] for _ in spreads]
    if not _quick(records, len(changes)):
        for spread, mine in zip(spreads, found, strict=True):
            for change in changes:
                with _told_of(change, spread):
                    kernel = change.kernel
                    mine.append(kernel(records, change.size, change.changed, spread, count=count))
                done(1)
        return found
    reached = np.zeros(len(spreads), dtype=np.longdouble)
    for start in range(0, len(changes), TOGETHER):
        some = slice(start, start + TOGETHER)
        family = CurveFamily(
            records, changes[some], spreads, None if level is None else level[some], reached, count
        )
        for mine, placed in zip(found, family.solve(done), strict=True):
            mine += placed
        if level is not None:
            reached = family.branch.best[:, -1]
    return found


def _quick(records: SortedRecords, changes: int) -> bool:
    return records.readable and not records.compact and records.size * changes >= WORK


@lru_cache(maxsize=1)
def _line(records: SortedRecords) -> Line:
    return Line(records)


class CurveFamily:
    """Some changes that are searched at once."""

    def __init__(
        self,
        records: SortedRecords,
        changes: Sequence[Change],
        spreads: Sequence[Spread],
        level: Positions | None,
        reached: Reals,
        count: Callable[[int], object],
    ) -> None:
        self.records, self.changes, self.spreads = records, changes, spreads
        self.level, self.count = level, count
        size, changed, replaced = (np.array(column) for column in zip(*changes, strict=True))
        # x has the size of the larger dataset. If records are replaced, y has it too, and B as many
        # records as A; if they are removed, y is smaller by A, and B is empty.
        kept = np.where(replaced, 0, changed)
        self.sizes = Sizes(size, size - kept, changed, changed - kept)
        ratings = [Rating(spread, self.sizes) for spread in spreads]
        best = np.repeat(reached[:, None], len(changes), axis=1)
        self.branch = Branch(_line(records), self.sizes, ratings, best, level)

    def solve(self, done: Callable[[int], object] = id) -> list[Found]:
        """The best placement of every change, for every spread; `done` as for `placements`."""
        self.branch.run()
        leaves = self.branch.leaves()
        most = self._most_spread()
        return [
            self._solve(number, self._pairs(number, leaves), self._excluded(number, most), done)
            for number in range(len(self.spreads))
        ]

    def _solve(
        self,
        number: int,
        pairs: list[Positions | None],
        excluded: list[bool],
        done: Callable[[int], object],
    ) -> Found:
        """Decide among what is left of every change."""
        spread, found = self.spreads[number], Found()
        for at, (change, bounds) in enumerate(zip(self.changes, pairs, strict=True)):
            pattern = AROUND if change.replaced else CORE_INSIDE
            # Four cases: too many pairs are left, and the change is searched by itself; one is, and
            # no other pattern can win; none is, so that a change of no higher level is as good; or
            # some are compared exactly, and with other patterns unless these are excluded.
            alone = bounds if bounds is not None and excluded[at] else None
            placed: Placement | None = None
            if alone is not None and len(alone) == 1:
                placed = Placement(pattern, tuple(alone[0].tolist()))
            elif alone is None or self.level is None or len(alone):
                known = None
                if bounds is not None:
                    known = Known(bounds, excluded[at], self.branch.best[number, at])
                with _told_of(change, spread):
                    placed = change.kernel(
                        self.records,
                        change.size,
                        change.changed,
                        spread,
                        count=self.count,
                        known=known,
                    )
            found.append(placed)
            done(1)
        return found

    def _excluded(self, number: int, most: Reals) -> list[bool]:
        """Whether no other pattern than that of `branch` can win, for every change.

        See "Whole curves: the other patterns" in docs/proofs.md.
        """
        branch = self.branch
        # Removals: the other pattern has the smaller set more spread. C + B has no less than the
        # squared deviations of C, as many as it has with all of B at the mean of C. So the variance
        # falls by at most D_C (1 / (c - d) - 1 / (n - d)), and `most` bounds D_C.
        shape = np.arange(len(self.changes))
        rating = branch.ratings[number]
        bound = most / rating.free_y, most / rating.free_x
        if rating.root:
            bound = np.sqrt(bound[0]), np.sqrt(bound[1])
        below = (bound[0] - bound[1]) * (1 + 1e-9) < branch.best[number]
        one = self.sizes.y <= 1
        excluded = []
        for at, change in zip(shape.tolist(), self.changes, strict=True):
            if not change.replaced:
                excluded.append(bool(below[at] or one[at]))
                continue
            # Replacements: `PARTED` only occurs if fewer are kept than replaced. `INTERRUPTED` only
            # occurs if more are kept, and never wins if replacing one less is allowed, too.
            kept = change.size - change.changed
            needed = kept < change.changed and kept > 0
            if self.level is None:
                needed |= kept > change.changed > 1
            excluded.append(not needed)
        return excluded

    def _most_spread(self) -> Reals:
        """At least the squared deviations of any dataset of the size of the smaller one."""
        line, take = self.branch.line, self.sizes.y
        zero = np.zeros_like(take)
        gap = Gaps(line, zero, zero)
        low = np.full(len(take), line.values[0])
        high = np.full(len(take), line.values[-1])
        # Any center will do; the best one is the mean of the ends that are furthest from it.
        for _ in range(HALVINGS):
            center = (low + high) / 2
            split = self._furthest(gap, take, center)
            above = gap.ends(split, take).total > take * center
            low, high = np.where(above, center, low), np.where(above, high, center)
        # Squared deviations are at most the sum of squares about any number.
        split = self._furthest(gap, take, center)
        return gap.ends(split, take).about(center, take) + line.off(center, take)

    def _furthest(self, gap: Gaps, take: Positions, center: Reals) -> Positions:
        """The split of the ends of the universe that are furthest from a center."""
        return first_of(
            np.zeros_like(take), take, lambda split: gap.slope(split, take) >= 2 * center
        )

    def _pairs(self, number: int, leaves: Leaves) -> list[Positions | None]:
        """The blocks of all pairs that can win, for every change; None if there are too many."""
        # Rows are leaves at first, of all changes: a window y and a split of A each.
        rating, best = self.branch.ratings[number], self.branch.best[number]
        most = rating.value(leaves.shape, leaves.of_y, leaves.gain, 1)
        leaves = leaves.rows(np.flatnonzero(most >= best[leaves.shape]))
        low, high = self._places(
            leaves, rating.needed(leaves.shape, leaves.of_y, best[leaves.shape])
        )
        number_of = np.bincount(leaves.shape, high - low + 1, minlength=len(self.changes))
        many = self.branch.open | (number_of > PAIRS)
        near = np.flatnonzero(~many[leaves.shape])
        # From here on rows are pairs: `row` is the leaf of each, `place` where its B begins.
        row, place = _counted(low[near], high[near])
        row = near[row]
        self.count(len(place))
        # Where B one place further up has the same records, it is the same pair.
        of_b, runs = self.sizes.b[leaves.shape[row]], self.branch.line.runs
        before = np.maximum(place - 1, 0)
        new = (place == low[row]) | (runs.take(before) != runs.take(before + of_b))
        row, place = row[new], place[new]
        order = np.argsort(leaves.shape[row], kind="stable")
        row, place = row[order], place[order]
        bounds = self._bounds(leaves.rows(row), place)
        edges = np.searchsorted(leaves.shape[row], np.arange(len(self.changes) + 1))
        found: list[Positions | None] = []
        for at, change in enumerate(self.changes):
            mine = bounds[edges[at] : edges[at + 1]]
            # Without B, C is one block: `CORE_INSIDE` lacks the two boundaries of B.
            mine = mine if change.replaced else np.delete(mine, [4, 5], axis=1)
            found.append(None if many[at] else mine)
        return found

    def _places(self, leaves: Leaves, needed: Reals) -> tuple[Positions, Positions]:
        """The places of B that lose no more than there is to spare, around the best one.

        About the M of the leaf, the sum of squares of B falls up to the best place and rises from
        there on, so these places are an interval: "Whole curves: bounds for ranges of windows" in
        docs/proofs.md, *Splits*.
        """
        line, of_b = self.branch.line, self.sizes.b[leaves.shape]
        spare = leaves.gain - needed + 2 * leaves.error
        best = line.window(leaves.place, of_b).about(leaves.mean, of_b)

        def fits(place: Positions) -> Mask:
            return np.asarray(line.window(place, of_b).about(leaves.mean, of_b) - best <= spare)

        last = leaves.window + np.where(of_b > 0, self.sizes.y[leaves.shape] - of_b, 0)
        low = first_of(leaves.window, leaves.place, fits)
        high = first_of(leaves.place, last + 1, lambda place: ~fits(np.minimum(place, last)))
        return low, np.maximum(high - 1, low)

    def _bounds(self, leaves: Leaves, place: Positions) -> Positions:
        """The boundaries of the blocks of `AOACBCAOA`, as of `WindowComplement.bounds`."""
        sizes, total = self.sizes.rows(leaves.shape), self.records.size
        begin, end, split = leaves.window, leaves.window + sizes.y, leaves.split
        left = np.minimum(split, begin)
        right = np.minimum(sizes.a - split, total - end)
        columns = [
            np.zeros_like(begin), left, begin - (sizes.a - split - right), begin,
            place, place + sizes.b,
            end, end + (split - left), total - right, np.full_like(begin, total),
        ]  # fmt: skip
        return np.stack(columns, axis=1)


def _counted(low: Positions, high: Positions) -> tuple[Positions, Positions]:
    """All (row, number) with low[row] <= number <= high[row], row by row."""
    sizes = high - low + 1
    row = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return row, np.arange(len(row)) + (low - starts)[row]


@contextmanager
def _told_of(change: Change, spread: Spread) -> Iterator[None]:
    """Let an error say which change was too long."""
    try:
        yield
    except OverflowError as error:
        raise TooLongError(change, spread, error) from error
