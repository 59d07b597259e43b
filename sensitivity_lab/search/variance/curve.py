"""The worst pairs of many shapes at once: a whole curve of sensitivities against the distance.

`branch` finds the few windows and splits of every shape that can win, and what is left of a shape
is compared exactly. The words that `branch` does not cover are searched where a bound does not
exclude them. See "Whole curves: the other patterns" in docs/proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from sensitivity_lab.search.layouts import Shape, first_of

from .branch import NODES, Branch, Leaves, Rating, Sizes, rows_of
from .comparing import Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .line import Gaps, Mask, between, line_of
from .more_shared import EndsAndWindow, Fewest, fewest_of
from .patterns import CHUNK, PatternSearch, Placement, expand
from .words import AROUND, CORE_INSIDE, any_at_ends, core_at_ends, further_words, search_words

WIDE = 1 << 24
"""Up to so many windows of all sizes of y, the tightest one is found for every size."""

TRIED = 5
"""How many numbers are tried that squares are about."""


class TooLongError(OverflowError):
    """A shape whose search would take too long."""

    def __init__(self, shape: Shape, spread: Spread, reason: object) -> None:
        super().__init__(str(reason))
        self.shape, self.spread = shape, spread


Found = list[Placement | None]
"""For every shape its best placement; None where an earlier or equal level reaches as much."""


def any_pair(shape: Shape) -> Placement:
    """Return some pair of a shape, to begin with: C and B from below, A from above."""
    core, size, total = shape.core, shape.of_y, shape.total
    of_a = total - shape.only_x
    if not shape.only_y:
        return Placement(CORE_INSIDE, (0, 0, 0, 0, core, core, of_a, total))
    return Placement(AROUND, (0, 0, 0, 0, core, size, size, size, of_a, total))


class Around:
    """The pairs `AOACBCAOA`, without B `AOACAOA`: what branch and bound leaves, compared exactly.

    Parameters
    ----------
    records, shapes, spreads, level
        As for `family_of`; but with roots alone, x may be smaller than y.
    best : array of longdouble, shape (spreads, shapes)
        As for `Branch`.
    """

    def __init__(
        self,
        records: SortedRecords,
        shapes: Sequence[Shape],
        spreads: Sequence[Spread],
        level: Positions | None,
        best: Reals,
    ) -> None:
        self.records, self.shapes, self.spreads = records, shapes, spreads
        self.sizes = Sizes(
            *(
                np.array([getattr(shape, name) for shape in shapes], dtype=np.int64)
                for name in ("of_x", "of_y", "only_x", "only_y")
            )
        )
        ratings = [Rating(spread, self.sizes) for spread in spreads]
        self.branch = Branch(line_of(records), self.sizes, ratings, best, level)
        self.branch.run()
        leaves = self.branch.leaves()
        self._edges = np.searchsorted(leaves.shape, np.arange(len(shapes) + 1))
        self._leaves, self._low, self._high = leaves, *self._places(leaves)

    def _places(self, leaves: Leaves) -> tuple[Positions, Positions]:
        """Between which places B is best for given y and A.

        Moving B up by one puts its first record into x and takes the next one after B out, as a
        step of a split does: so the same rule decides, and the variance of x rises, then falls. See
        "The place of B by bisection" in docs/proofs.md.
        """
        line, sizes = self.branch.line, rows_of(self.sizes, leaves.shape)
        # The sum of x is that of y and A, less that of B, which moves.
        of_a = Gaps(line, leaves.window, sizes.y).ends(leaves.split, sizes.a)
        both = line.window(leaves.window, sizes.y).total + of_a.total

        def rule(place: Positions) -> tuple[Reals, Reals]:
            total = both - line.window(place, sizes.b).total
            return line.rule(sizes.x, place, place + sizes.b, total)

        last = leaves.window + np.where(sizes.b > 0, sizes.y - sizes.b, 0)
        return between(leaves.window, last, rule)

    def best(self, number: int, at: int) -> Placement | PatternSearch | None:
        """Return the best pair of a shape, or a search that has it; None if none reaches enough."""
        shape, best = self.shapes[at], self.branch.best[number, at]
        with _told_of(shape, self.spreads[number]):
            if self.branch.open[at]:
                raise OverflowError(f"more than {NODES:,} ranges of windows and splits")
            rows = np.arange(self._edges[at], self._edges[at + 1])
            # `of_y` is at most D_y. With n >= m that bounds f(x) - f(y), which falls as D_y rises.
            # With n < m it falls, then rises, so that all leaves stay.
            if shape.of_x >= shape.of_y:
                leaves, rating = rows_of(self._leaves, rows), self.branch.ratings[number]
                rows = rows[rating.value(leaves.shape, leaves.of_y, leaves.gain, 1) >= best]
            low, high = self._low[rows], self._high[rows]
            if not len(rows):
                return None
            if len(rows) == 1 and low[0] == high[0] and not self.branch.few[at]:
                return self._placement(self._blocks(rows, low, shape), shape)
            start = self._placement(self._blocks(rows[:1], low[:1], shape), shape)
            search = PatternSearch(self.records, self.spreads[number], start, least=best)
            for row, place in expand(search, low, high):
                search.offer(self.records, start.pattern, self._blocks(rows[row], place, shape))
            return search

    @staticmethod
    def _placement(blocks: Positions, shape: Shape) -> Placement:
        return Placement(AROUND if shape.only_y else CORE_INSIDE, tuple(blocks[0].tolist()))

    def _blocks(self, rows: Positions, place: Positions, shape: Shape) -> Positions:
        """The boundaries of the blocks `AOACBCAOA`: of y around B, and of A where it is.

        Left and right of y A may reach it: then it has two blocks on that side, and the O between
        them is empty.
        """
        begin, split, total = self._leaves.window[rows], self._leaves.split[rows], shape.total
        end, take = begin + shape.of_y, shape.only_x
        # `split` of A come from below. If y begins before so many records, the rest of them stands
        # right above y; likewise from the top.
        left, right = np.minimum(split, begin), np.minimum(take - split, total - end)
        columns = [
            np.zeros_like(begin), left, begin - (take - split - right), begin,
            place, place + shape.only_y,
            end, end + (split - left), total - right, np.full_like(begin, total),
        ]  # fmt: skip
        # Without B, C is one block, and there are no boundaries of B.
        return np.stack(columns if shape.only_y else columns[:4] + columns[6:], axis=1)


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
    """Some shapes that are searched at once: first all pairs `AOACBCAOA`, then the other words.

    Attributes
    ----------
    around : Around
        The larger set more spread; `around.branch.best` is what is reached by anything so far.
    evaluated : int
        How many pairs were evaluated before `solve`.
    """

    def __init__(
        self,
        records: SortedRecords,
        shapes: Sequence[Shape],
        spreads: Sequence[Spread],
        level: Positions | None,
    ) -> None:
        self.records, self.shapes, self.spreads, self.level = records, shapes, spreads, level
        none: list[Fewest] = []
        self.fewest, self.covered = none, np.zeros(len(shapes), dtype=bool)
        if level is not None:
            self.fewest, self.covered = fewest_of(shapes, level)
        best = np.zeros((len(spreads), len(shapes)), dtype=np.longdouble)
        # A is the larger set's: where B has as many records or fewer, and the larger set is more
        # spread, y is a window with B inside it.
        self.around = Around(records, shapes, spreads, level, best)
        self.sizes, self.line = self.around.sizes, self.around.branch.line
        self.evaluated = 0
        self._found = [self._larger(number) for number in range(len(spreads))]

    def _larger(self, number: int) -> list[PatternSearch | Placement | None]:
        """The best pairs whose larger set is more spread, of those that share the fewest records.

        Where a level is asked for, those that share more are looked for, too.
        """
        found: list[PatternSearch | Placement | None] = [None] * len(self.shapes)
        theory = EndsAndWindow(
            self.records, self.line, self.spreads[number], self.around.branch.ratings[number]
        )
        for fewest in self.fewest:
            shape, least = self.shapes[fewest.place], self.around.branch.best[number, fewest.place]
            search = theory.best(fewest.place, shape, least)
            if search is not None:
                shared = sum(stop - start for start, stop in search.best.ranges("C"))
                self._keep(number, found, fewest.chain[shape.of_y - shared], search)
        for at in range(len(self.shapes)):
            one = self.around.best(number, at)
            if one is not None:
                self._keep(number, found, at, one)
        return found

    def _keep(
        self,
        number: int,
        found: list[PatternSearch | Placement | None],
        at: int,
        one: PatternSearch | Placement,
    ) -> None:
        """Keep a pair if it is the best one of a shape, and raise what must be reached."""
        if isinstance(one, PatternSearch):
            self.evaluated += one.evaluated
            self._raise(number, at, one)
        other = found[at]
        if other is not None:
            some = (self._searched(number, pair) for pair in (other, one))
            one = max(some, key=lambda search: search.value)
        found[at] = one

    def _raise(self, number: int, at: int, search: PatternSearch) -> None:
        """Raise what must be reached, for a shape and for its level on."""
        later = at if self.level is None else self.level >= self.level[at]
        best = self.around.branch.best[number]
        best[later] = np.maximum(best[later], search.floor())

    def _searched(self, number: int, pair: PatternSearch | Placement) -> PatternSearch:
        if isinstance(pair, PatternSearch):
            return pair
        return PatternSearch(self.records, self.spreads[number], pair)

    def solve(
        self, count: Callable[[int], object] = id, done: Callable[[int], object] = id
    ) -> list[Found]:
        """The best placement of every shape, for every spread.

        `count` is called with the numbers of pairs that are evaluated, `done` with those of shapes
        that are solved, each for one spread.
        """
        count(self.evaluated)
        return [self._solve(number, count, done) for number in range(len(self.spreads))]

    def _solve(
        self, number: int, count: Callable[[int], object], done: Callable[[int], object]
    ) -> Found:
        """Search the other words of every shape that may win."""
        spread, best = self.spreads[number], self.around.branch.best[number]
        found, most = self._found[number], self.most[number]
        # Of a level, the largest bounds come first: what those shapes reach excludes others.
        level = np.zeros(len(most), dtype=np.int64) if self.level is None else self.level
        for at in np.lexsort((-most, level)).tolist():
            shape = self.shapes[at]
            turned = shape.turned
            with _told_of(shape, spread):
                found[at] = self._further(number, at, shape, found[at], count)
                if shape.only_x == shape.only_y or most[at] < best[at]:
                    one = None  # no pair whose smaller set is more spread can win
                elif spread.root and shape.only_y:
                    # There the words are the same.
                    one = self._further(number, at, turned, self._around(number, at, turned), count)
                else:
                    start = any_at_ends(turned)
                    one = PatternSearch(self.records, spread, start, count=count, least=best[at])
                    core_at_ends(one, turned)
                if one is not None:
                    self._keep(number, found, at, one)
            done(1)
        return [one.best if isinstance(one, PatternSearch) else one for one in found]

    def _around(self, number: int, at: int, turned: Shape) -> PatternSearch | Placement | None:
        least = self.around.branch.best[number, at].reshape(1, 1).copy()
        around = Around(self.records, [turned], [self.spreads[number]], None, least)
        return around.best(0, 0)

    def _further(
        self,
        number: int,
        at: int,
        shape: Shape,
        start: PatternSearch | Placement | None,
        count: Callable[[int], object],
    ) -> PatternSearch | Placement | None:
        """Search the words besides `AOACBCAOA`, x the first set of the shape; return the best pair.

        Begin with the best pair so far: where rounding hides by how much others are below what is
        reached, it does not hide how they differ from this pair.
        """
        words = further_words(shape, at_most=self.level is not None) if shape.only_y else set()
        if not words:
            return start
        search = self._searched(number, start or any_pair(shape))
        search.count, search.least = count, self.around.branch.best[number, at]
        search_words(search, shape, words)
        self._raise(number, at, search)
        return search

    def unproved(self, number: int) -> Shape | None:
        """Return a shape with a root for whose smaller set no words are proved; None if all are.

        Let n < m be the sizes, and ``g(m) = (m + 1) / (m (m - d))``. Pairs whose smaller set is
        more spread are not proved to read as such a word if they reach at most ``(1 - g(m) / g(n))
        sd(x)``. That does not matter where another pair reaches more than that for any x, or than
        any such pair. See "Variance and standard deviation: the smaller set more spread" in
        docs/proofs.md, *The root*.
        """
        best, most, free = (
            self.around.branch.best[number],
            self.most[number],
            self.spreads[number].free,
        )
        for at, shape in enumerate(self.shapes):
            apart = shape.only_x > shape.only_y > 0
            # There is a C and an O.
            if not (apart and shape.core and shape.total > shape.of_x + shape.only_y):
                continue
            n, m = shape.of_y, shape.of_x
            # 1 - g(m) / g(n), in fractions: only the bound is rounded, by far less than 32 units.
            share = 1 - (m + 1) * n * free(n) / ((n + 1) * m * free(m))
            bound = np.sqrt(self._core.spread[at] / as_real(free(n))) * as_real(share)
            if not most[at] < best[at] and not bound * (1 + 32 * UNIT) < best[at]:
                return shape
        return None

    @cached_property
    def most(self) -> list[Reals]:
        """What pairs reach at most whose smaller set is more spread, for every spread and shape.

        This set is C and, of `only_y` records, B; the larger set has at least the squared
        deviations D of C. With E the most that B adds to D, the difference is at most that of
        ``D + E`` and D, which is largest where D is largest or, of roots, where it is smallest. See
        "Variance and standard deviation: the smaller set more spread" in docs/proofs.md.
        """
        none = np.full(len(self.shapes), -1, dtype=np.longdouble)
        if (self.sizes.x == self.sizes.y).all():
            return [none for _ in self.spreads]
        core, found = self._core, []
        for rating in self.around.branch.ratings:
            # D at its largest, and for a root also at its least: D + E less D falls with D, then
            # rises.
            both = [(core.most + core.more, core.most), (core.least + core.more, core.least)]
            bounds = []
            for above, under in (*both[: 1 + rating.root], (core.spread, core.tight)):
                above, under = above / rating.free_y, under / rating.free_x
                if rating.root:
                    above, under = np.sqrt(above), np.sqrt(under)
                bounds.append((above - under) * (1 + 1e-9) + 16 * UNIT * (above + under))
            of_core = np.where(core.some, np.max(bounds[:-1], axis=0), np.inf)
            # Of one record the variance is 0; and of a covered shape such a pair is known.
            known = (self.sizes.y <= 1) | self.covered
            found.append(np.where(known, none, np.minimum(of_core, bounds[-1])))
        return found

    @cached_property
    def _core(self) -> CoreBounds:
        """Bounds on the squared deviations of C, and on what the smaller set has in addition."""
        line, take = self.line, self.sizes.y - self.sizes.b
        some = take > 0
        take = np.maximum(take, 1)
        zero = np.zeros_like(take)
        gap, two = Gaps(line, zero, zero), np.concatenate([zero, zero])
        both = np.concatenate([take, self.sizes.y])
        most, spread = np.split(self._most_spread(Gaps(line, two, two), both), 2)
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
        # Rows are numbers of records; the first center is the middle of the universe.
        center = np.full(len(take), (self.line.lowest + self.line.highest) / 2)
        most = np.full_like(center, np.inf)
        # Squared deviations are at most the sum of squares about any number. The best one is the
        # mean of the ends that are furthest from it: the next one tried is their mean.
        for _ in range(TRIED):
            ends = gap.ends(self._furthest(gap, take, center), take)
            most = np.minimum(most, ends.about(center, take) + self.line.off(center, take))
            center = ends.total / take
        return most

    def _tightest(self, width: int) -> Reals:
        """At most the squared deviations of so many records or more; a window has the least."""
        line, size = self.line, np.array(width)
        if width == 1 or line.size > WIDE:
            return np.zeros((), dtype=np.longdouble)
        least = np.longdouble(np.inf)
        for start in range(0, line.size - width + 1, CHUNK):
            begin = np.arange(start, min(start + CHUNK, line.size - width + 1))
            window = line.window(begin, size)
            mean = window.total / size
            # The error is that of the window: an outlier further out costs nothing.
            found = window.about(mean, size) - line.off_window(begin, size, mean)
            least = min(least, found.min())
        bounded: Reals = np.maximum(least, 0)
        return bounded

    def _far_squares(self, gap: Gaps, take: Positions, center: Reals) -> Reals:
        """At least the largest sum of squares of so many records about a center."""
        split = self._furthest(gap, take, center)
        return gap.ends(split, take).about(center, take) + self.line.off(center, take)

    def _furthest(self, gap: Gaps, take: Positions, center: Reals) -> Positions:
        """The split of the ends of the universe that are furthest from a center."""
        return first_of(
            np.zeros_like(take), take, lambda split: gap.slope(split, take) >= 2 * center
        )


@lru_cache(maxsize=1)
def family_of(
    records: SortedRecords,
    shapes: tuple[Shape, ...],
    spreads: tuple[Spread, ...],
    level: tuple[int, ...] | None = None,
) -> CurveFamily:
    """Return what is known about some shapes before `solve`; kept from a plan to its search.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    shapes : tuple of Shape
        In each x is not the smaller set. What both sets have in common, and ddof is below both.
    spreads : tuple of Spread
        What f is; they share the bounds that do not depend on it.
    level : tuple of int, or None
        Ascending. If given, a shape only matters where it reaches more than all shapes of its and
        of lower levels; and a record less in both A and B is among these, if that is a shape.
    """
    return CurveFamily(records, shapes, spreads, None if level is None else np.array(level))


@contextmanager
def _told_of(shape: Shape, spread: Spread) -> Iterator[None]:
    """Let an error say which shape was too long."""
    try:
        yield
    except OverflowError as error:
        raise TooLongError(shape, spread, error) from error
