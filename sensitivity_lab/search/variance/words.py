"""The words that a variance or standard deviation is searched over.

Along the sorted universe, a pair of datasets reads as a word: a letter per block of records, A
(only in x), B (only in y), C (in both) and O (in neither); x has the larger variance.
The *sign table* says which letters cannot lie between which others in an optimal pair: as one
record, the mover, takes other places among them, the difference of the variances is convex in its
place, so an end is better. The *rules* exclude a few words more, and only finitely many words are
left. A kernel searches all pairs that read as its word, with some blocks empty or back to front.
See "One mover", "Pairs of labels" and "Variance and standard deviation: records of both" in
docs/proofs.md; the tests certify the table and each rule, and derive `words_of` from them.

Branch and bound finds the best pair of most words. The others, which the worst pair rarely reads
as, are searched here. `AOCOBOA` and `ACABAOA` are possible where both datasets have records of
their own, and `AOACOCAOABAOACOCAOA` where the smaller set is more spread. In each, two of three
places are independent of each other, or nearly: so a row of all arrays is one place, a bisection
finds the best second one, and bounds leave few third ones. See "Variance and standard deviation:
records of both" and "Variance and standard deviation: the smaller set more spread" in
docs/proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.search.layouts import Shape, first_of
from sensitivity_lab.universes.relations import repeated

from .comparing import Sets, as_real
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .line import Gaps, Line, Mask, Sums, between, line_of
from .patterns import CHUNK, PatternSearch, Placement, best_first, expand

AROUND = "AOACBCAOA"
"""y = C + B is a window with B inside it, A is the two ends of what is outside."""

PARTED = "AOCOBOA"
"""Records outside both datasets lie between C and B."""

INTERRUPTED = "ACABAOA"
"""A block of A lies between C and B."""

CORE_INSIDE = "AOACAOA"
"""B is empty: C is a window, A is the two ends of what is outside."""

CORE_AT_ENDS = "AOACOCAOABAOACOCAOA"
"""B is a window; x is the two ends of what is outside, and C a window of the records of x."""


def words_of(kept: int, only_x: int, only_y: int) -> tuple[str, ...]:
    """Return the words that one of the best pairs reads as.

    No O lies between two C: x is not the smaller set, or sd(x) is large enough beside sd(y).

    Parameters
    ----------
    kept, only_x, only_y : int
        How many records x and y share, and how many each has for itself, at least 1.

    Returns
    -------
    tuple of str
        Of `AROUND`, `PARTED` and `INTERRUPTED`, in this order, those that are needed.
    """
    words = [AROUND]
    if 0 < kept < only_y:
        words.append(PARTED)
    # Of pairs that replace one record none is interrupted.
    if kept > only_y and (only_x, only_y) != (1, 1):
        words.append(INTERRUPTED)
    return tuple(words)


FEW = 2048
"""Up to so many pairs are all compared, which is quicker than bisection."""

MANY = 64
"""Where more places than that are left of each row, rows are compared exactly first."""

WINDOWS = 1 << 25
"""The most windows of different records that a search visits; that takes about two minutes."""


def further_words(shape: Shape, *, at_most: bool) -> set[str]:
    """Return the words of `words_of` but `AROUND`.

    `INTERRUPTED` never wins if a record less in both A and B is allowed, too, as in `at_most`: see
    "Whole curves: the other patterns" in docs/proofs.md.
    """
    left_out = {AROUND, INTERRUPTED} if at_most else {AROUND}
    return set(words_of(shape.core, shape.only_x, shape.only_y)) - left_out


def search_words(search: PatternSearch, shape: Shape, words: set[str]) -> None:
    """Offer such words, along the universe and along its mirror image."""
    for view in (search.records, search.records.mirrored()):
        if PARTED in words:
            _parted(search, view, shape)
        if INTERRUPTED in words:
            _interrupted(search, view, shape)


def _parted(search: PatternSearch, records: SortedRecords, shape: Shape) -> None:
    """Offer `AOCOBOA`, or `ACOBOA` for the variance of as many records; only if B outnumbers C.

    A row is a place of C and a split of A, how many of its records are below C; the others are at
    the upper end of the universe. For the variance of x and y with as many records C follows A at
    once, as V(x) - V(y) falls linearly with the sum of C; the mirror image has the other sign.

    For a place of C, x depends on the split alone, and its variance rises, then falls along the
    splits: of those for which B leaves room, the nearest to the peak is best. Only B is left to be
    placed: every place whose mean is near enough to that of C, see `_reach`. See "`AOCOBOA`" in
    docs/proofs.md.
    """
    line, core_size, take, width = line_of(records), shape.core, shape.only_x, shape.only_y
    # Records in neither dataset. Below C are records of A and of neither, hence no more than
    # `spare` and `take` together.
    spare = line.size - core_size - take - width
    if search.spread.root or take != width:
        core = np.arange(spare + take + 1)
        gap = Gaps(line, core, core_size)
        inner, most = line.window(core, core_size).total, np.minimum(core, take)

        def rule(split: Positions) -> tuple[Reals, Reals]:
            total = inner + gap.ends(split, take).total
            return line.rule(shape.of_x, *gap.step(split, take), total)

        low, high = between(np.zeros_like(core), np.full_like(core, take), rule)
        # Of the `core` records below C those not in A are in neither dataset: at most `spare`.
        rows, split = _every(np.clip(low, core - spare, most), np.clip(high, core - spare, most))
        core = core[rows]
    else:
        core = split = np.arange(take + 1)
    # At the last place of B as many of A are below C as there can be.
    end = line.size - take - width + np.minimum(core, take)
    fits = core + core_size <= end
    core, split, end = core[fits], split[fits], end[fits]

    def blocks(row: Positions, place: Positions) -> Positions:
        # The best number of A below C, or all for which there is no room above B.
        taken = np.maximum(split[row], place + take + width - line.size)
        columns = [
            np.zeros_like(place), taken, core[row], core[row] + core_size,
            place, place + width,
            line.size - (take - taken), np.full_like(place, line.size),
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    every = np.arange(len(core))
    some = blocks(every, core + core_size)
    x, part = (search.sets(records, PARTED, some, labels) for labels in ("AC", "C"))

    def visit(rows: Positions) -> None:
        # B begins where C ends, at the earliest; O between them may be empty.
        begin = core[rows] + core_size
        reach = _reach(search, line, core[rows], core_size, x.rows(rows), shape)
        # The mean of B rises with its place: from the first place that is too far, all are.
        stop = end[rows]
        last = first_of(begin, stop + 1, lambda place: reach(np.minimum(place, stop), 1)) - 1
        begin, last = _exactly(search, part.rows(rows), x.rows(rows), shape, begin, last)
        for row, place in expand(search, begin, last):
            # B one place further up with the same records only leaves less room for A.
            new = records.run(place - 1) != records.run(place - 1 + width)
            new |= place == begin[row]
            search.offer(records, PARTED, blocks(rows[row[new]], place[new]))

    best_first(every, _room(search, part, x, shape.of_y), visit)


def _interrupted(search: PatternSearch, records: SortedRecords, shape: Shape) -> None:
    """Offer `ACABAOA`, with a block of A between C and B; x is the two ends outside a window B.

    A row is a place of B and a split of x: x is the first `split` and the last ``n - split``
    records outside B, n its size. All records below B are in x, in C or A: at least those of C; the
    other ``split - place`` of the first ones are directly above B. y = B + C, with C a window of
    the records below B. x depends on the split alone and y on the place of C alone, so each is
    chosen by itself. See "`ACABAOA`" in docs/proofs.md.
    """
    line, core_size, width, size = line_of(records), shape.core, shape.only_y, shape.of_x
    # All records below B are in x, and C is among them: from c to n of them.
    place = np.arange(core_size, size + 1)
    gap = Gaps(line, place, width)

    def rule(split: Positions) -> tuple[Reals, Reals]:
        return line.rule(size, *gap.step(split, size), gap.ends(split, size).total)

    rows, split = _every(*between(place, np.full_like(place, size), rule))
    place = place[rows]

    def blocks(row: Positions, core: Positions) -> Positions:
        columns = [
            np.zeros_like(core), core, core + core_size, place[row],
            place[row] + width, split[row] + width,
            line.size - (size - split[row]), np.full_like(core, line.size),
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    every = np.arange(len(place))
    x, part = (
        search.sets(records, INTERRUPTED, blocks(every, np.zeros_like(place)), labels)
        for labels in ("AC", "B")
    )

    def visit(rows: Positions) -> None:
        last = place[rows] - core_size
        reach = _reach(search, line, place[rows], width, x.rows(rows), shape)
        low = first_of(np.zeros_like(last), last, lambda core: ~reach(core, -1))
        low, last = _exactly(search, part.rows(rows), x.rows(rows), shape, low, last)
        for row, core in expand(search, low, last):
            search.offer(records, INTERRUPTED, blocks(rows[row], core))

    best_first(every, _room(search, part, x, shape.of_y), visit)


def _every(low: Positions, high: Positions) -> tuple[Positions, Positions]:
    """All (row, index) with low[row] <= index <= high[row]."""
    sizes = high - low + 1
    # The number of a pair among all, less the pairs of the rows before, is its number within the
    # row.
    row = repeated(np.arange(len(sizes)), sizes)
    return row, np.arange(len(row)) - repeated(np.cumsum(sizes) - sizes, sizes) + low[row]


def _room(search: PatternSearch, part: Sets, x: Sets, size: int) -> Callable[[Positions], Reals]:
    """Upper bounds on how far x and any y with a given part can be above the best placement."""
    least = search.spread.least(search.records, part, size)

    def gains(rows: Positions) -> Reals:
        gain: Reals = search.room(x.rows(rows)) - least[rows]
        return gain

    return gains


def _exactly(
    search: PatternSearch, part: Sets, x: Sets, shape: Shape, low: Positions, high: Positions
) -> tuple[Positions, Positions]:
    """Return which places of each row are to be compared: none where x surely does not win.

    Where x is nearly as spread as that of the best pair, rounding may hide that no y is good
    enough. So where many places are left of each row, rows are compared exactly first, as if y had
    the squared deviations of its part alone.
    """
    if np.maximum(high - low + 1, 0).sum() <= MANY * len(low):
        return low, high
    records, spread, keep = search.records, search.spread, np.zeros(len(low), dtype=bool)
    for row in range(len(low)):
        of_x, own = spread.variance(records, x.rows(row)), part.rows(row)
        of_part = Fraction(int(own.deviations(records)), own.size) / spread.free(shape.of_y)
        keep[row] = of_x > of_part and bool(Difference(of_x, of_part, spread.root) > search.value)
    # A range that ends before it begins is empty.
    return low, np.where(keep, high, low - 1)


def _reach(
    search: PatternSearch, line: Line, begin: Positions, held: int, x: Sets, shape: Shape
) -> Callable[[Positions, int], Mask]:
    """Whether a window is too far above (1) or below (-1) a part of y for x to win, row by row.

    y is the part, a window of f records, and another window, of w records. ``(f w / n) (difference
    of their means)^2`` is at most the squared deviations of y, which must leave room for x to win.
    See "`AOCOBOA`" in docs/proofs.md.
    """
    # `squares` bounds the squared deviations of y with which x wins. So the sum of the window may
    # be `reach` away from `center`, which is w times the mean of the part. All is rounded up.
    size, width = shape.of_y, shape.of_y - held
    room = np.maximum(search.room(x), 0) ** (2 if search.spread.root else 1)
    squares = room * as_real(search.spread.free(size)) * (1 + 1e-9)
    share = width / np.longdouble(held)
    center = line.window(begin, held).total * share
    reach = np.sqrt(squares * size * share) * (1 + 1e-9)
    reach = reach + line.error * share * line.absolute(begin, held).total

    def beyond(place: Positions, up: int) -> Mask:
        off = line.error * line.absolute(place, width).total
        return np.asarray(up * (line.window(place, width).total - center) > reach + off)

    return beyond


def any_at_ends(shape: Shape) -> Placement:
    """Return some placement of `CORE_AT_ENDS`, to begin with: A, C and B from below, then O."""
    of_a, of_x, end = shape.only_x, shape.of_x, shape.of_x + shape.only_y
    left, right = [of_a] * 3 + [of_x] * 6, [end] + [shape.total] * 8
    return Placement(CORE_AT_ENDS, (0, *left, end, *right))


def core_at_ends(search: PatternSearch, shape: Shape) -> None:
    """Offer `CORE_AT_ENDS`: B a window, x = C + A the two ends of what is outside it.

    A row is a window B. A is the first `lower` and the last ``a - lower`` records of x, C the
    others. For each number `lower` and each row a bisection finds the best *split*, how many of x
    are at the lower end. Where A is empty, C is x: this is enough for removals, and for the
    variance. See "Variance and standard deviation: the smaller set more spread" and, for the root,
    "The bisection" in docs/proofs.md.

    Parameters
    ----------
    search : PatternSearch
        Keeps the best placement; its floor is what others reach.
    shape : Shape
        A is only in x, B only in y; A is smaller, and empty if f is the root.
    """
    if shape.of_x == 1:
        return  # the variance of a single record is 0
    for begin in _windows(search, shape):
        for lower in range(shape.only_x + 1):
            core = CoreAtEnds(search, begin, shape, lower)
            zero = np.zeros_like(begin)
            # Without readable floats, or with few pairs, all splits of all rows are compared.
            if not search.records.readable or len(begin) * (shape.of_x + 1) <= FEW:
                core.offer(zero, zero + shape.of_x)
                continue
            better = True
            while better:
                value = search.value
                low, high, wins = core.peaks(search.floor())
                core = core.rows(wins)
                core.offer(low[wins], high[wins])
                # For the root the peak depends on what is to be reached, so that it is done again
                # once more is reached: in the end no row reaches more at any split.
                better = search.spread.root and search.value > value
            if shape.only_x:
                # Splits that do not part C: y is the same for all, and x is best at its own peak.
                core = CoreAtEnds(search, begin, shape, lower)
                low, high = between(zero, zero + shape.of_x, core.rule)
                # Below `lower` all of C is above O, above lower + c all of it is below O. In
                # between C is parted, and the other peak counts.
                core.offer(low, np.minimum(high, lower - 1))
                core.offer(np.maximum(low, lower + shape.core + 1), high)


def _windows(search: PatternSearch, shape: Shape) -> Iterator[Positions]:
    """Where windows B begin, in chunks; of those with the same records, the first."""
    records, width = search.records, shape.only_y
    last, visits = records.size - width, shape.only_x + 1
    same = int(np.maximum(records.counts - width, 0).sum())
    if (last + 1 - same) * visits > WINDOWS:
        times = f", {visits:,} times each" if visits > 1 else ""
        raise OverflowError(
            f"{last + 1 - same:,} windows of different records{times}, at most {WINDOWS:,}"
        )
    for start in range(0, last + 1, CHUNK):
        begin = np.arange(start, min(start + CHUNK, last + 1))
        new = records.run(begin - 1) != records.run(begin + width - 1)
        yield begin[new | (begin == 0)]


class CoreAtEnds:
    """x is the first i and the last n - i records outside the window B, as a function of i.

    A row is a window B. A is the first `lower` and the last ``a - lower`` records of x. The *split*
    i goes from 0 to n. From `lower` to ``lower + c`` it parts C, and A stays: from i to i + 1 a
    record e enters C and a larger one l leaves it; so with S and Q the sum of C and of its squares,
    (S, Q) runs along a polygon whose slopes, l + e, do not fall as S falls: it is concave. And
    ``f(x) - f(y) >= t`` where Q is above a strictly convex function of S. So the distance from that
    rises, then falls along the splits, and a bisection finds where it is largest.
    """

    def __init__(self, search: PatternSearch, begin: Positions, shape: Shape, lower: int) -> None:
        self.search, self.begin, self.shape, self.lower = search, begin, shape, lower
        self.line = line_of(search.records)
        self.gap = Gaps(self.line, begin, shape.only_y)
        self.of_b = self.line.window(begin, shape.only_y)
        self.of_a = self.gap.ends(np.full_like(begin, lower), shape.only_x)

    def rows(self, chosen: Mask) -> CoreAtEnds:
        """The same for some of the rows."""
        return CoreAtEnds(self.search, self.begin[chosen], self.shape, self.lower)

    def rule(self, split: Positions) -> tuple[Reals, Reals]:
        """Whether the squared deviations of x fall, as `Line.rule`."""
        size, gap = self.shape.of_x, self.gap
        return self.line.rule(size, *gap.step(split, size), gap.ends(split, size).total)

    def peaks(self, least: np.longdouble) -> tuple[Positions, Positions, Mask]:
        """Between which splits that part C the peak is, and which rows may reach `least` there."""
        start = np.full_like(self.begin, self.lower)
        low, high = between(start, start + self.shape.core, lambda split: self._falls(split, least))
        spread, roots = self.search.spread, []
        x, other = (self.gap.ends(split, self.shape.of_x) for split in (low, high))
        # How much larger the squared deviations can be between both: for every unit of the sum by
        # no more than the steepest step there.
        steep = np.maximum(*(self._falls(split, least)[1] for split in (low, high)))
        more = 2 * steep * np.abs(x.total - other.total)
        own = (self.of_b.total - self.of_a.total, self.of_b.squares - self.of_a.squares)
        y = Sums(x.total + own[0], x.squares + own[1])
        for up, size, of in ((1, self.shape.of_x, x), (-1, self.shape.of_y, y)):
            mean = of.total / np.longdouble(size)
            off = 4 * self.line.off(mean, 2 * size) + more
            most = np.maximum(of.about(mean, size) + up * off, 0) / as_real(spread.free(size))
            roots.append((np.sqrt(most) if spread.root else most) * (1 + up * 16 * UNIT))
        return low, high, roots[0] - roots[1] >= least

    def _falls(self, split: Positions, least: np.longdouble) -> tuple[Reals, Reals]:
        """How steeply Q falls below what it must be for f(x) - f(y) to reach something.

        From i to i + 1 the sum S of x falls by l - e, and Q by ``(l - e) (l + e)``; what Q must be
        falls by l - e times a number, the slope of a chord. Their difference has a sign where
        l = e, too. See "The bisection" in docs/proofs.md.
        """
        line, size_x, size_y = self.line, self.shape.of_x, self.shape.of_y
        enter, leave = (line.record(at) for at in self.gap.step(split, size_x))
        here = self.gap.ends(split, size_x).total
        # The sums of x and of y, before and after the step, added up; `whole` is what these and
        # their errors are relative to.
        of_x = 2 * here - (leave - enter)
        of_y = of_x + 2 * (self.of_b.total - self.of_a.total)
        whole = 4 * line.all_absolute
        free_x, free_y = (as_real(self.search.spread.free(size)) for size in (size_x, size_y))
        if not self.search.spread.root:
            # The slope of what Q is at least in V(x) - V(y) = s Q - r S^2 + linear.
            # s and r of *The splits by bisection*: the slope of V(x) - V(y) by Q is s, and turn is
            # how Q has to move per unit of S for V(x) - V(y) to stay.
            part_x, part_y = 1 / (size_x * free_x), 1 / (size_y * free_y)
            apart = 1 / free_x - 1 / free_y
            turn = (part_x * of_x - part_y * of_y) / apart
            weight = (part_x + part_y) * whole / apart
        else:
            # A is empty, and y is C + B: with the s, s' and R of Fact 3.
            more = size_y - size_x
            shift = least * free_x / more
            mean = self.of_b.total / more
            own = self.of_b.about(mean, more) + free_x * least * least + more * shift * shift
            middle = [here / size_x - mean, (here - (leave - enter)) / size_x - mean]
            r = [
                (np.maximum(own, 0) + (size_x * more / np.longdouble(size_y)) * apart**2) / more
                for apart in middle
            ]
            roots, smaller = np.sqrt(r[0]) + np.sqrt(r[1]), np.minimum(*r)
            steep = np.divide(2 * shift, roots, out=np.zeros_like(roots), where=roots > 0)
            off = line.off_window(self.begin, more, mean) / more
            loose = np.divide(off, smaller, out=np.ones_like(off), where=smaller > 0)
            of_r, r_weight = (middle[0] + middle[1]) / size_y, whole * (1 / size_x + 1 / more)
            turn = free_y * (1 + steep) * of_r + of_y / size_y
            weight = free_y * (1 + steep) * r_weight + whole / size_y
            weight = weight + free_y * np.abs(of_r) * np.minimum(loose, 1) / line.error
        value: Reals = enter + leave - turn
        return value, line.error * (np.abs(enter) + np.abs(leave) + weight)

    def offer(self, low: Positions, high: Positions) -> None:
        """Offer the splits from `low` to `high` of each row."""
        for rows, split in expand(self.search, low, high):
            self.search.offer(self.line.records, CORE_AT_ENDS, self._blocks(rows, split))

    def _blocks(self, rows: Positions, split: Positions) -> Positions:
        """Boundaries of the blocks `AOACOCAOA`, `B`, `AOACOCAOA`, shape (rows, 20)."""
        begin, width = self.begin[rows], self.shape.only_y
        # The same nine blocks on both sides of B, along the records outside it: left of B they end
        # there at the latest, and right of it they begin there at the earliest.
        upper, edges = self.line.size - width - self.shape.of_x, []
        starts = (0, self.lower, self.lower + self.shape.core, self.shape.of_x)
        for start, stop in pairwise(starts):
            # The records of x with these numbers: up to the split they have the same numbers
            # outside B, and from it on `upper` more. At a boundary, O belongs to what follows.
            cut = np.clip(split, start, stop)
            edges.append(np.where(split >= start, cut, cut + upper))
            edges.append(np.where(split < stop, cut + upper, cut))
            edges.append(np.where(split < stop, stop + upper, stop))
        # Nothing follows the last A: there all records of x may be below O.
        edges[-2:] = [np.where(split >= stop, edge + upper, edge) for edge in edges[-2:]]
        left = [np.minimum(edge, begin) for edge in edges]
        right = [np.maximum(edge, begin) + width for edge in edges]
        return np.stack([np.zeros_like(begin), *left, begin + width, *right], axis=1)
