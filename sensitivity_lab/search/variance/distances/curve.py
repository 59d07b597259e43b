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

from sensitivity_lab.search.layouts import Shape
from sensitivity_lab.search.variance.comparing import Spread
from sensitivity_lab.search.variance.float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from sensitivity_lab.search.variance.kernels import best_pair
from sensitivity_lab.search.variance.patterns import CHUNK, Known, PatternSearch, Placement
from sensitivity_lab.search.variance.windows import Mask
from sensitivity_lab.search.variance.words import AROUND, CORE_INSIDE

from .bounds import HALVINGS, Rating, Sizes
from .branch import Branch, Leaves
from .line import Gaps, Line, first_of
from .more_shared import EndsAndWindow, Fewest, fewest_of

TOGETHER = 1 << 14
"""How many shapes are searched at once."""

MANY = 16
"""So many shapes are searched at once, however few the records."""

WORK = 1 << 16
"""From so many shapes times records on, a search of all shapes at once is quicker."""


WIDE = 1 << 24
"""Up to so many windows of all sizes of y, the tightest one is found for every size."""

PAIRS = 1 << 14
"""The most pairs of a shape that are compared exactly; with more, it is searched by itself."""


class TooLongError(OverflowError):
    """A shape whose search would take too long."""

    def __init__(self, shape: Shape, spread: Spread, reason: object) -> None:
        super().__init__(str(reason))
        self.shape, self.spread = shape, spread


Found = list[Placement | None]
"""For every shape its best placement; None where an earlier or equal level reaches as much."""


def placements(
    records: SortedRecords,
    shapes: Sequence[Shape],
    spreads: Sequence[Spread],
    level: Positions | None = None,
    count: Callable[[int], object] = id,
    done: Callable[[int], object] = id,
) -> list[Found]:
    """The best placement of every shape, for every spread.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    shapes : sequence of Shape
        In each x is not the smaller set. For each, what the kernel of `best_pair` requires.
    spreads : sequence of Spread
        What f is; they share the bounds that do not depend on it.
    level : array of int64, shape (shapes,), or None
        Ascending. If given, a shape only matters where it reaches more than all shapes of its and
        of lower levels; and a record less in both A and B is among these, if that is a shape.
    count : callable
        Called with the numbers of pairs that are evaluated.
    done : callable
        Called with the numbers of shapes that are solved, each for one spread.
    """
    found: list[Found] = [[] for _ in spreads]
    if not _quick(records, len(shapes)):
        for spread, mine in zip(spreads, found, strict=True):
            for shape in shapes:
                with _told_of(shape, spread):
                    mine.append(best_pair(records, shape, spread, count))
                done(1)
        return found
    reached = np.zeros(len(spreads), dtype=np.longdouble)
    for start in range(0, len(shapes), TOGETHER):
        some = slice(start, start + TOGETHER)
        family = CurveFamily(
            records, shapes[some], spreads, None if level is None else level[some], reached, count
        )
        for mine, placed in zip(found, family.solve(done), strict=True):
            mine += placed
        if level is not None:
            reached = family.branch.best[:, -1]
    return found


def _quick(records: SortedRecords, shapes: int) -> bool:
    return records.readable and not records.compact and are_many(records.size, shapes)


def are_many(records: int, shapes: int) -> bool:
    """Whether so many shapes are searched together."""
    return shapes >= MANY or records * shapes >= WORK


@lru_cache(maxsize=1)
def _line(records: SortedRecords) -> Line:
    return Line(records)


class CoreBounds(NamedTuple):
    """What a core can be, for every shape.

    Attributes
    ----------
    some : array of bool
        Whether it has a record; if not, the bounds say nothing.
    least, most : arrays of longdouble
        Bounds on its squared deviations; the least one is for shapes with a B.
    more : array of longdouble
        At least the sum of squares of B about its mean.
    spread, tight : arrays of longdouble
        At least the squared deviations of the smaller set, at most those of the larger one.
    """

    some: Mask
    least: Reals
    most: Reals
    more: Reals
    spread: Reals
    tight: Reals


class CurveFamily:
    """Some shapes that are searched at once."""

    def __init__(
        self,
        records: SortedRecords,
        shapes: Sequence[Shape],
        spreads: Sequence[Spread],
        level: Positions | None,
        reached: Reals,
        count: Callable[[int], object],
    ) -> None:
        self.records, self.shapes, self.spreads = records, shapes, spreads
        self.level, self.count = level, count
        none: list[Fewest] = []
        self.fewest, self.covered = none, np.zeros(len(shapes), dtype=bool)
        if level is not None:
            self.fewest, self.covered = fewest_of(shapes, level)
        # A is the larger set's: where B has as many records or fewer, and the larger set is more
        # spread, y is a window with B inside it.
        self.sizes = Sizes(
            *(
                np.array([getattr(shape, name) for shape in shapes])
                for name in ("of_x", "of_y", "only_x", "only_y")
            )
        )
        ratings = [Rating(spread, self.sizes) for spread in spreads]
        best = np.repeat(reached[:, None], len(shapes), axis=1)
        self.branch = Branch(_line(records), self.sizes, ratings, best, level)

    def solve(self, done: Callable[[int], object] = id) -> list[Found]:
        """The best placement of every shape, for every spread; `done` as for `placements`."""
        self.branch.run()
        leaves = self.branch.leaves()
        core = self._core_bounds()
        return [
            self._solve(number, self._pairs(number, leaves), core, done)
            for number in range(len(self.spreads))
        ]

    def _solve(
        self,
        number: int,
        pairs: list[Positions | None],
        core: CoreBounds,
        done: Callable[[int], object],
    ) -> Found:
        """Decide among what is left of every shape."""
        spread, best = self.spreads[number], self.branch.best[number]
        ends = self._of_more_shared(number)
        most = self._most(number, core)
        found: Found = [None] * len(self.shapes)
        # Of a level, the largest bounds come first: what those shapes reach excludes others.
        level = np.zeros(len(most), dtype=np.int64) if self.level is None else self.level
        for at in np.lexsort((-most, level)).tolist():
            shape, bounds = self.shapes[at], pairs[at]
            excluded = self._excluded(at, most[at], best[at])
            pattern = AROUND if shape.only_y else CORE_INSIDE
            # Four cases: too many pairs are left, and the shape is searched by itself; one is, and
            # no other pattern can win; none is, so that a shape of no higher level is as good; or
            # some are compared exactly, and with other patterns unless these are excluded.
            alone = bounds if bounds is not None and excluded else None
            placed: Placement | None = None
            if alone is not None and len(alone) == 1:
                placed = Placement(pattern, tuple(alone[0].tolist()))
            elif alone is None or self.level is None or len(alone):
                known = None
                if bounds is not None:
                    known = Known(bounds, excluded, best[at])
                with _told_of(shape, spread):
                    placed = best_pair(self.records, shape, spread, self.count, known)
                self._raise(number, at, PatternSearch(self.records, spread, placed))
            if at in ends:
                some = [ends[at]]
                if placed is not None:
                    some.append(PatternSearch(self.records, spread, placed))
                placed = max(some, key=lambda search: search.value).best
            found[at] = placed
            done(1)
        return found

    def _of_more_shared(self, number: int) -> dict[int, PatternSearch]:
        """The best pairs that share more records than they must, by their shapes."""
        spread, rating, best = self.spreads[number], self.branch.ratings[number], self.branch.best
        theory = EndsAndWindow(self.records, self.branch.line, spread, rating)
        found: dict[int, PatternSearch] = {}
        for fewest in self.fewest:
            shape = self.shapes[fewest.place]
            search = theory.best(fewest.place, shape, best[number, fewest.place])
            if search is not None:
                shared = sum(stop - start for start, stop in search.best.ranges("C"))
                at = fewest.chain[shape.of_y - shared]
                found[at] = max(search, found.get(at, search), key=lambda one: one.value)
                self._raise(number, at, search)
        return found

    def _raise(self, number: int, at: int, search: PatternSearch) -> None:
        """Raise what must be reached by what a search reached, for a shape and for its level on."""
        later = at if self.level is None else self.level >= self.level[at]
        best = self.branch.best[number]
        best[later] = np.maximum(best[later], search.floor())

    def _excluded(self, at: int, most: np.longdouble, best: np.longdouble) -> bool:
        """Whether no other pattern than that of `branch` can win for a shape.

        `most` bounds what a pair reaches whose smaller set is more spread, and `best` is reached.
        See "Whole curves: the other patterns" in docs/proofs.md.
        """
        shape = self.shapes[at]
        # `PARTED` only occurs if B outnumbers C. `INTERRUPTED` only occurs if C outnumbers B,
        # and never wins if a record less in both A and B is allowed, too.
        further = 0 < shape.core < shape.only_y
        if self.level is None and shape.only_y:
            further |= shape.core > shape.only_y and shape.only_x > 1
        return not further and (shape.only_x == shape.only_y or bool(most < best))

    def _most(self, number: int, core: CoreBounds) -> Reals:
        """What pairs reach at most whose smaller set is more spread, for every shape.

        This set is C and, of `only_y` records, B; the larger set has at least the squared
        deviations D of C. With E the most that B adds to D, the difference is at most that of
        ``D + E`` and D, which is largest where D is largest or, of roots, where it is smallest. See
        "Skipping" in docs/proofs.md.
        """
        rating = self.branch.ratings[number]
        both = [(core.most + core.more, core.most), (core.least + core.more, core.least)]
        bounds = []
        for above, under in (*both[: 1 + rating.root], (core.spread, core.tight)):
            above, under = above / rating.free_y, under / rating.free_x
            if rating.root:
                above, under = np.sqrt(above), np.sqrt(under)
            bounds.append((above - under) * (1 + 1e-9) + 16 * UNIT * (above + under))
        most: Reals = np.minimum(
            np.where(core.some, np.max(bounds[:-1], axis=0), np.inf), bounds[-1]
        )
        # Of one record the variance is 0; and of a covered shape such a pair is known.
        most[(self.sizes.y <= 1) | self.covered] = -1
        return most

    def _core_bounds(self) -> CoreBounds:
        """Bounds on the squared deviations of C, and on what the smaller set has in addition."""
        line, take = self.branch.line, self.sizes.y - self.sizes.b
        some = take > 0
        take = np.maximum(take, 1)
        zero = np.zeros_like(take)
        gap = Gaps(line, zero, zero)
        most, spread = self._most_spread(gap, take), self._most_spread(gap, self.sizes.y)
        # About the mean of C, B has at most the sum of squares that it has about the least or the
        # largest mean of C: the largest sum of squares is convex in the number they are about.
        more, mixed = np.zeros_like(most), (self.sizes.b > 0) & (self.sizes.b < self.sizes.a)
        if mixed.any():
            for begin in (zero, line.size - take):
                mean = line.window(begin, take).total / take
                more = np.maximum(more, self._far_squares(gap, self.sizes.b, mean))
        least = np.where(mixed, self._tightest(int(take[mixed].min(initial=1))), 0)
        widths, place = np.unique(self.sizes.x, return_inverse=True)
        if len(widths) * line.size > WIDE:
            widths, place = widths[:1], np.zeros_like(place)
        tight = np.array([self._tightest(width) for width in widths.tolist()])[place]
        return CoreBounds(some, least, most, more, spread, tight)

    def _most_spread(self, gap: Gaps, take: Positions) -> Reals:
        """At least the squared deviations of any so many records."""
        line = self.branch.line
        low, high = (np.full(len(take), line.values[end]) for end in (0, -1))
        # Any center will do; the best one is the mean of the ends that are furthest from it.
        for _ in range(HALVINGS):
            center = (low + high) / 2
            split = self._furthest(gap, take, center)
            above = gap.ends(split, take).total > take * center
            low, high = np.where(above, center, low), np.where(above, high, center)
        # Squared deviations are at most the sum of squares about any number.
        return self._far_squares(gap, take, center)

    def _tightest(self, width: int) -> Reals:
        """At most the squared deviations of so many records or more; a window has the least."""
        line, size = self.branch.line, np.array(width)
        least = np.longdouble(np.inf if width > 1 else 0)
        for start in range(0, line.size - width + 1 if width > 1 else 0, CHUNK):
            begin = np.arange(start, min(start + CHUNK, line.size - width + 1))
            window = line.window(begin, size)
            mean = window.total / size
            found = window.about(mean, size) - line.off_window(begin, size, mean)
            least = min(least, found.min())
        bounded: Reals = np.maximum(least, 0)
        return bounded

    def _far_squares(self, gap: Gaps, take: Positions, center: Reals) -> Reals:
        """At least the largest sum of squares of so many records about a center."""
        split = self._furthest(gap, take, center)
        return gap.ends(split, take).about(center, take) + self.branch.line.off(center, take)

    def _furthest(self, gap: Gaps, take: Positions, center: Reals) -> Positions:
        """The split of the ends of the universe that are furthest from a center."""
        return first_of(
            np.zeros_like(take), take, lambda split: gap.slope(split, take) >= 2 * center
        )

    def _pairs(self, number: int, leaves: Leaves) -> list[Positions | None]:
        """The blocks of all pairs that can win, for every shape; None if there are too many."""
        # Rows are leaves at first, of all shapes: a window y and a split of A each.
        rating, best = self.branch.ratings[number], self.branch.best[number]
        most = rating.value(leaves.shape, leaves.of_y, leaves.gain, 1)
        leaves = leaves.rows(np.flatnonzero(most >= best[leaves.shape]))
        low, high = self._places(
            leaves, rating.needed(leaves.shape, leaves.of_y, best[leaves.shape])
        )
        number_of = np.bincount(leaves.shape, high - low + 1, minlength=len(self.shapes))
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
        edges = np.searchsorted(leaves.shape[row], np.arange(len(self.shapes) + 1))
        found: list[Positions | None] = []
        for at, shape in enumerate(self.shapes):
            mine = bounds[edges[at] : edges[at + 1]]
            # Without B, C is one block: `CORE_INSIDE` lacks the two boundaries of B.
            mine = mine if shape.only_y else np.delete(mine, [4, 5], axis=1)
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
def _told_of(shape: Shape, spread: Spread) -> Iterator[None]:
    """Let an error say which shape was too long."""
    try:
        yield
    except OverflowError as error:
        raise TooLongError(shape, spread, error) from error
