"""Which windows y and splits of A can win, for many shapes at once, by branch and bound.

In `AOACAOA` and `AOACBCAOA` y is a window and B a window inside it. A is outside y: of the records
there, as one sequence, the lowest and the highest ones; how many of A are the lowest is a *split*.
(So A stands at the ends of the universe and, where a side has fewer records than the split takes,
also next to y on the other side.) A *shape* is the sizes of x, y, A and B. A *node* is a range of
windows and a range of splits, of one shape. Nodes that cannot reach what some pair does are
dropped, the others divided until a window and a split are left. The bound of a node rests on three
inequalities. Let x = y + A - B have n records and y have m, let S, Q and D be sums, sums of squares
and squared deviations, and M_y the mean of y.

1. *Any number M bounds x.* Squared deviations are the least sum of squares about a number, so
   ``D_x - D_y <= m (M - M_y)^2 + alpha(M) - beta(M)``, with alpha the largest sum of ``(u - M)^2``
   that A can have and beta the smallest that B can have. M near the mean of the best x makes this
   small; a bad M makes it larger, not wrong. So M is searched for roughly.
2. *A tangent bounds y.* Moving a window up adds ``l - e`` to S and ``(l + e) (l - e)`` to Q, where
   l + e does not fall: (S, Q) runs along a convex polygon, above the line through any of its edges.
   So ``D_y >= Q_0 + (l + e) (S - S_0) - S^2 / m`` for all windows of a node, with the edge at the
   middle one.
3. *The two ends are enough.* With M fixed, ``f(x) - f(y) >= t`` holds on the tangent where a convex
   function of S is at least 0: if anywhere in the node, then at the S of the first window or of the
   last one. So a node cannot reach more than the larger bound of its two *end* windows.

Halving the windows divides the distance of the tangent from the polygon by about four, so a few
nodes of each length remain: some 65 nodes per shape for a million records. Where there are
few windows and splits, or floats cannot hold the records, all are left.

See "Whole curves: bounds for ranges of windows" in docs/proofs.md. In all arrays the last axis is
the row: a node. Arrays of both ends of the nodes have a first axis of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.search.layouts import first_of
from sensitivity_lab.universes.relations import repeated

from .comparing import Spread, as_real
from .float_prefix_sums import UNIT, Positions, Reals
from .line import Gaps, Line, Mask, Sums

FEW = 512
"""Where all shapes together have few windows and splits, all are left, which is quicker."""

NODES = 1 << 22
"""The most nodes of one shape that are divided; a shape with more is left open."""

AT_ONCE = 1 << 14
"""How many nodes are looked at at once."""

START = 256
"""Into so many nodes all shapes together are divided before any is bounded, or one of each."""

SPLITS = 4
"""Of a single window, up to so many splits are left as they are, without bounds of their own."""

ROUNDS = 3
"""For how many numbers M a bound is evaluated; the least bound is taken."""


class Nodes(NamedTuple):
    """Ranges of windows y and of splits of A, a row each; both ends are in the range.

    Attributes
    ----------
    shape : array of int64
        Which shape.
    first, last : arrays of int64
        Where windows y begin.
    least, most : arrays of int64
        How many records of A are at the lower end.
    mean : array of longdouble
        A number near the mean of the best x.
    """

    shape: Positions
    first: Positions
    last: Positions
    least: Positions
    most: Positions
    mean: Reals


class Sizes(NamedTuple):
    """How many records there are in x, y, A and B, for each shape or for each row."""

    x: Positions
    y: Positions
    a: Positions
    b: Positions


class Choice(NamedTuple):
    """A number M, the split of A furthest from it, and the place of B nearest to it.

    Attributes
    ----------
    gain : array of longdouble, shape (2, nodes)
        What the squared deviations of x have at most in addition to those of y, at both ends.
    mean : array of longdouble
        M.
    split, place : arrays of int64
        How many records of A are at the lower end, and where B begins.
    """

    gain: Reals
    mean: Reals
    split: Positions
    place: Positions

    def better(self, other: Choice) -> Choice:
        """The one with the smaller bound, for each row."""
        less = other.gain.max(axis=0) < self.gain.max(axis=0)
        columns: list[tuple[Any, Any]] = list(zip(self, other, strict=True))
        return Choice(*(np.where(less, theirs, mine) for mine, theirs in columns))


class Ends(NamedTuple):
    """The first and the last window of each node, with bounds on all pairs with the sum of either.

    Attributes
    ----------
    chosen : Choice
        The one with the least bound.
    of_y : array of longdouble, shape (2, nodes)
        What the squared deviations of y are at least; not negative.
    gain : array of longdouble, shape (2, nodes)
        What those of x have at most in addition.
    reached_y, reached : arrays of longdouble, shape (2, nodes)
        Of a pair: the squared deviations of y, rounded up, and what x has in addition, rounded
        down; nan where A or B do not fit.
    error : array of longdouble, shape (nodes,)
        What `gain`, and the losses of other splits, may be off.
    """

    chosen: Choice
    of_y: Reals
    gain: Reals
    reached_y: Reals
    reached: Reals
    error: Reals


class Rating:
    """What f(x) - f(y) is for given squared deviations, f the variance or its root."""

    def __init__(self, spread: Spread, sizes: Sizes) -> None:
        self.root = spread.root
        self.free_x, self.free_y = (
            np.array([as_real(spread.free(size)) for size in of.tolist()], dtype=np.longdouble)
            for of in (sizes.x, sizes.y)
        )

    def value(self, shape: Positions, of_y: Reals, gain: Reals, up: int) -> Reals:
        """Return f(x) - f(y), rounded up (1) or down (-1).

        `of_y` are the squared deviations of y, and those of x are larger by `gain`. As those of y
        rise, it falls if x is not smaller than y, and otherwise falls, then rises.
        """
        of_x, of_y = (of_y + gain) / self.free_x[shape], of_y / self.free_y[shape]
        if self.root:
            of_x, of_y = np.sqrt(np.maximum(of_x, 0)), np.sqrt(of_y)
        # Each answer has the rounding of a division and a root; 16 units of both cover it.
        found: Reals = of_x - of_y + up * 16 * UNIT * (np.abs(of_x) + of_y)
        return found

    def needed(self, shape: Positions, of_y: Reals, value: Reals) -> Reals:
        """The gain with which f(x) - f(y) reaches a value, rounded down."""
        # `value`, solved for the gain: D_x = (n - d) (value + f(y))**2 for a root, less D_y. Down,
        # since a need that is too small keeps a split too many, and one too large could lose the
        # best.
        free_x, other = self.free_x[shape], of_y / self.free_y[shape]
        of_x = (value + np.sqrt(other)) ** 2 if self.root else value + other
        found: Reals = of_x * free_x * (1 - 32 * UNIT) - of_y
        return found


class Bounds:
    """Bounds for nodes of given shapes, on the universe `line`."""

    def __init__(self, line: Line, sizes: Sizes) -> None:
        self.line, self.sizes = line, sizes

    def gap(self, nodes: Nodes) -> Gaps:
        """What all windows of a node share; empty if the first ends before the last begins.

        A is taken from outside it, so that one A serves a whole node. Compared with the A of a
        single window, its lower records are no higher and its upper ones no lower; so the squared
        deviations of the best x do not fall.
        """
        # From the begin of the last window to the end of the first one.
        width = np.maximum(nodes.first + self.sizes.y[nodes.shape] - nodes.last, 0)
        return Gaps(self.line, nodes.last, width)

    def ends(self, nodes: Nodes) -> Ends:
        """The bounds at both ends of each node, with the best of some numbers M."""
        line, sizes, gap = self.line, rows_of(self.sizes, nodes.shape), self.gap(nodes)
        window = np.stack([nodes.first, nodes.last])
        of_y = line.window(window, sizes.y)
        # `center` has a mean for each end. One M serves both ends, so x is taken with the sum
        # halfway between them.
        center, halfway = of_y.total / sizes.y, of_y.total.sum(axis=0) / 2
        mean, last = nodes.mean, np.full((2, len(nodes.mean)), np.nan, dtype=np.longdouble)
        chosen = Choice(np.full_like(last, np.inf), mean, nodes.least, nodes.first)
        for _ in range(ROUNDS):
            split, place = self._choose(nodes, sizes, gap, mean)
            of_a, of_b = gap.ends(split, sizes.a), line.window(place, sizes.b)
            # The bound (1): M about the mean of y, alpha of A, beta of B.
            gain = of_a.about(mean, sizes.a) - of_b.about(mean, sizes.b)
            here = Choice(sizes.y * (mean - center) ** 2 + gain, mean, split, place)
            # The bound is a convex function of M with the slope -2 `over`. So it is least where M
            # is the mean of the x that it chooses: where `over`, which falls with M, is 0. The
            # first step towards it is as if A stayed and the records of B moved up with M: then
            # `over` falls by the sizes of x and B. The next are secants through the last points.
            over = halfway + of_a.total - of_b.total - sizes.x * mean
            plain = over / (sizes.x + sizes.b)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = over * (mean - last[0]) / (last[1] - over)
            step = np.where(np.isfinite(step), step, plain)
            chosen, last = chosen.better(here), np.stack([mean, over])
            mean = np.clip(mean + step, line.lowest, line.highest)
        # Of sums of squares about M or about the mean of y; see "Whole curves: rounding" in
        # docs/proofs.md.
        number = np.maximum(np.abs(chosen.mean), np.abs(center).max(axis=0))
        error = line.off(number, sizes.x + sizes.y)
        # y holds no outlier that A takes: its squared deviations have an error of their own.
        own = line.off_window(window, sizes.y, center)
        reached_y, reached = self._reached(nodes, window, of_y, chosen, gap)
        return Ends(
            chosen, self._least(nodes, window, of_y, own), chosen.gain + error,
            reached_y + own, reached - error, error,
        )  # fmt: skip

    def high(self, nodes: Nodes) -> Reals:
        """What the squared deviations of y are at most, for any window of each node.

        On the polygon Q is a convex function of S: so a sum of squares about any number is largest
        at an end, here about one between the means of both ends.
        """
        window, size = np.stack([nodes.first, nodes.last]), self.sizes.y[nodes.shape]
        of_y = self.line.window(window, size)
        number = of_y.total.sum(axis=0) / (2 * size)
        most: Reals = of_y.about(number, size) + self.line.off_window(window, size, number)
        highest: Reals = most.max(axis=0)
        return highest

    def _choose(
        self, nodes: Nodes, sizes: Sizes, gap: Gaps, mean: Reals
    ) -> tuple[Positions, Positions]:
        """The split furthest from M, and the place nearest to it.

        From a split to the next, record e enters A and a larger one l leaves it, so the squares
        about M change by ``(l - e) (2 M - (e + l))``: they rise until ``e + l >= 2 M``, and fall
        from there on, since e + l does not fall. Where B moves up by one, e and l change their
        roles: the squares fall, then rise. So a bisection for that sign finds either one.
        """
        line, twice = self.line, 2 * mean
        split = first_of(nodes.least, nodes.most, lambda split: gap.slope(split, sizes.a) >= twice)
        if not sizes.b.any():
            return split, nodes.first

        def above(place: Positions) -> Mask:
            found: Mask = line.record(place) + line.record(place + sizes.b) >= twice
            return found

        # Where B is empty it stays at the first place.
        last = np.where(sizes.b > 0, nodes.last + sizes.y - sizes.b, nodes.first)
        return split, first_of(nodes.first, last, above)

    def _least(self, nodes: Nodes, window: Positions, of_y: Sums, own: Reals) -> Reals:
        """The squared deviations on the tangent (2) of the module, at the sums of both ends.

        `own` is what those of the windows themselves are off at most.
        """
        line, size = self.line, self.sizes.y[nodes.shape]
        middle = (nodes.first + nodes.last) // 2
        at, wide = line.window(middle, size), nodes.first < nodes.last
        leave, enter = line.record(middle), line.record(middle + size)
        # A node of one window has no edge: it is its own tangent.
        tangent = at.squares + (leave + enter) * (of_y.total - at.total)
        tangent = np.where(wide, tangent, of_y.squares)
        # The windows of a node lie above the tangent, so its ends do; rounded, they may not.
        least = np.minimum(of_y.squares, tangent) - of_y.total * of_y.total / size
        # The tangent adds the rounding of the window that it touches, and that of its slope times
        # how far it goes: "Whole curves: rounding" in docs/proofs.md, *A window by itself*.
        absolute = line.absolute(middle, size)
        steep = np.abs(leave) + np.abs(enter)
        turn = absolute.squares + steep * (absolute.total + line.absolute(window, size).total)
        found: Reals = np.maximum(least - own - line.error * turn * wide, 0)
        return found

    def _reached(
        self, nodes: Nodes, window: Positions, of_y: Sums, chosen: Choice, gap: Gaps
    ) -> tuple[Reals, Reals]:
        """The squared deviations of y, and what x has in addition; nan where A or B do not fit.

        Bounds take A outside what all windows share, and B inside any of them. It is a pair only if
        A is outside this window and B inside it.
        """
        sizes, split, place = rows_of(self.sizes, nodes.shape), chosen.split, chosen.place
        end = window + sizes.y
        fits = (split <= window) & (sizes.a - split <= self.line.size - end)
        fits |= nodes.first == nodes.last
        fits &= (sizes.b == 0) | ((place >= window) & (place + sizes.b <= end))
        of_a, of_b = gap.ends(split, sizes.a), self.line.window(place, sizes.b)
        # D_x - D_y = (Q_A - Q_B) - (S_x**2 / n - S_y**2 / m): Q_y, which both have, does not occur.
        of_x = of_y.total + of_a.total - of_b.total
        part = of_y.total * of_y.total / sizes.y
        gain = of_a.squares - of_b.squares - (of_x * of_x / sizes.x - part)
        return np.maximum(of_y.squares - part, 0), np.where(fits, gain, np.nan)


class Leaves(NamedTuple):
    """Single windows and splits that can win, with the bounds of `Ends`."""

    shape: Positions
    window: Positions
    split: Positions
    of_y: Reals
    gain: Reals


Table = TypeVar("Table", Nodes, Sizes, Leaves)
"""Columns of one length."""


def rows_of(table: Table, chosen: Positions | Mask | slice) -> Table:
    """Some of the rows of all columns."""
    columns: list[Any] = [column[chosen] for column in table]
    return type(table)(*columns)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several, one after the other."""
    columns: list[Any] = [np.concatenate(parts) for parts in zip(*tables, strict=True)]
    return type(tables[0])(*columns)


class Branch:
    """The windows and splits that can win.

    Parameters
    ----------
    line : Line
        The universe.
    sizes : Sizes
        Of every shape.
    ratings : sequence of Rating
        What to make large: one or several f. Only of roots x may be smaller than y.
    best : array of longdouble, shape (ratings, shapes)
        What f(x) - f(y) must at least reach, for each f and each shape. It is raised.
    level : array of int64, shape (shapes,), or None
        Ascending: a shape only matters where it reaches more than all of its and lower levels. If
        None, every shape matters by itself.

    Attributes
    ----------
    few : array of bool, shape (shapes,)
        Of which shapes everything is left, without bounds.
    open : array of bool, shape (shapes,)
        Which shapes have more than `NODES` nodes, and no leaves.
    """

    def __init__(
        self,
        line: Line,
        sizes: Sizes,
        ratings: Sequence[Rating],
        best: Reals,
        level: Positions | None = None,
    ) -> None:
        self.bounds, self.sizes, self.ratings = Bounds(line, sizes), sizes, ratings
        self.line, self.best, self.level = line, best, level
        self.divided = np.zeros(len(sizes.x), dtype=np.int64)
        self.windows = line.size - sizes.y + 1
        rows = self.windows * (sizes.a + 1)
        all_left = int(rows.sum()) <= FEW or not line.records.readable
        self.few = np.full(len(rows), all_left)
        self.open = self.few & (rows > NODES)
        self._wide = bool((sizes.x < sizes.y).any())
        self._leaves: list[Leaves] = []

    def run(self) -> None:
        """Divide until every node is a leaf."""
        self._leave_all()
        # Always: each window and split that can win is in a leaf or a waiting node, unless its
        # shape is open. The nodes last divided come first, so that little waits.
        waiting = [self._whole()]
        while waiting:
            running.poll()
            nodes = waiting.pop()
            if len(nodes.shape) > AT_ONCE:
                waiting.append(rows_of(nodes, slice(AT_ONCE, None)))
                nodes = rows_of(nodes, slice(AT_ONCE))
            if len(nodes.shape):
                waiting.append(self._step(nodes))

    def leaves(self) -> Leaves:
        """All leaves, of the shapes that are not open, shape by shape."""
        none = np.zeros(0, dtype=np.int64)
        some = none.astype(np.longdouble)
        parts = [Leaves(none, none, none, some, some), *self._leaves]
        found = joined(parts)
        found = rows_of(found, np.flatnonzero(~self.open[found.shape]))
        # Stable, so that leaves of one shape stand side by side: `Around` finds them by bisection.
        return rows_of(found, np.argsort(found.shape, kind="stable"))

    def _leave_all(self) -> None:
        """Leave every window and split of the shapes with few of them."""
        run = self.line.records.run
        for shape in np.flatnonzero(self.few & ~self.open).tolist():
            window = np.arange(self.windows[shape])
            # Of windows with the same records, the first is left.
            new = run(window - 1) != run(window + self.sizes.y[shape] - 1)
            window, split = (
                of.ravel()
                for of in np.meshgrid(
                    window[new | (window == 0)], np.arange(self.sizes.a[shape] + 1)
                )
            )
            # The gain is infinite, as nothing is bounded: no leaf is excluded by it.
            none = np.zeros(len(window), dtype=np.longdouble)
            self._leaves.append(
                Leaves(np.full_like(window, shape), window, split, none, none + np.inf)
            )

    def _whole(self) -> Nodes:
        """All windows and all splits of every other shape, in a few pieces."""
        shapes = np.flatnonzero(~self.few)
        pieces = np.minimum(self.windows[shapes], max(1, START // max(1, len(shapes))))
        # Piece p of q has the windows from w p // q to w (p + 1) // q - 1, of w in all.
        shape, parts = repeated(shapes, pieces), repeated(pieces, pieces)
        piece = np.arange(len(shape)) - repeated(np.cumsum(pieces) - pieces, pieces)
        first, end = (self.windows[shape] * (piece + more) // parts for more in (0, 1))
        zero, a = np.zeros_like(shape), self.sizes.a[shape]
        return Nodes(shape, first, end - 1, zero, a, zero.astype(np.longdouble))

    def _step(self, nodes: Nodes) -> Nodes:
        """Bound all nodes, drop those that cannot win, keep leaves, and divide the others."""
        run = self.line.records.run
        same = run(nodes.first) == run(nodes.last + self.sizes.y[nodes.shape] - 1)
        # Windows of nothing but equal records are the same: the first is taken.
        nodes = nodes._replace(last=np.where(same, nodes.first, nodes.last))
        ends = self.bounds.ends(nodes)
        self._raise(nodes.shape, ends)
        keep, spare = self._spare(nodes, ends)
        self.divided += np.bincount(nodes.shape[keep], minlength=len(self.open))
        self.open |= self.divided > NODES
        rows = np.flatnonzero(keep & ~self.open[nodes.shape])
        # From here on `rows` are the nodes' numbers among those that came in.
        mean, split, spare = ends.chosen.mean[rows], ends.chosen.split[rows], spare[rows]
        nodes = rows_of(nodes, rows)._replace(mean=mean)
        gap, take = self.bounds.gap(nodes), self.sizes.a[nodes.shape]
        best = gap.ends(split, take).about(mean, take)

        def fits(other: Positions) -> Mask:
            """Whether A loses no more than there is to spare.

            A step away from the best split loses ``|(l - e) (e + l - 2 M)|`` more, e and l the
            records that change places: so the splits that fit are an interval.
            """
            return np.asarray(best - gap.ends(other, take).about(mean, take) <= spare)

        # The second looks for the first split whose next one does not fit.
        least = first_of(nodes.least, split, fits)
        most = first_of(split, nodes.most, lambda other: ~fits(np.minimum(other + 1, nodes.most)))
        nodes = nodes._replace(least=least, most=most)
        one = nodes.first == nodes.last
        done = one & (most - least < SPLITS)
        for more in range(SPLITS):
            some = np.flatnonzero(done & (least + more <= most))
            of_y, gain = ends.of_y[0][rows[some]], ends.gain[0][rows[some]]
            self._leaves.append(
                Leaves(nodes.shape[some], nodes.first[some], least[some] + more, of_y, gain)
            )
        return self._halves(rows_of(nodes, ~done))

    def _spare(self, nodes: Nodes, ends: Ends) -> tuple[Mask, Reals]:
        """Which nodes can win, and how much smaller the gain could be.

        The gain is the bound of ``D_x - D_y``. With several f, a node is kept if it can win for any
        of them, and what it can spare is the most of any.
        """
        # Squared deviations are not below 0, but the tangent may be. Then both ends count as if it
        # were 0: where it is below, f(x) is at most that of the gain alone, which is largest at an
        # end.
        of_y = np.where(ends.of_y.min(axis=0) <= 0, 0, ends.of_y)
        shape, gain = nodes.shape, ends.gain
        if self._wide:
            # Where x is smaller than y, f(x) - f(y) may also rise with the squared deviations of
            # y: so what these are at most counts, too.
            of_y = np.vstack([of_y, self.bounds.high(nodes)])
            gain = np.vstack([gain, gain.max(axis=0)])
        keep = np.zeros(len(shape), dtype=bool)
        spare = np.full(len(shape), -np.inf, dtype=np.longdouble)
        for rating, best in zip(self.ratings, self.best, strict=True):
            most = rating.value(shape, of_y, gain, 1)
            keep |= most.max(axis=0) >= best[shape]
            need = rating.needed(shape, of_y, best[shape])
            spare = np.maximum(spare, (gain - need).max(axis=0))
        # Two sums that are compared in `_step` may both be off.
        return keep, spare + 2 * ends.error

    def _raise(self, shape: Positions, ends: Ends) -> None:
        """Raise what must be reached by what pairs reach, rounded down."""
        _, rows = fits = np.nonzero(~np.isnan(ends.reached))
        of_y, gain = ends.reached_y[fits], ends.reached[fits]
        for rating, best in zip(self.ratings, self.best, strict=True):
            # maximum.at, as a shape has many rows: an assignment would keep one of them.
            np.maximum.at(best, shape[rows], rating.value(shape[rows], of_y, gain, -1))
            if self.level is not None:
                # The largest of each level and all lower ones, for every shape of the level.
                starts = np.flatnonzero(np.diff(self.level, prepend=-1))
                reached = np.maximum.accumulate(np.maximum.reduceat(best, starts))
                best[:] = repeated(reached, np.diff(starts, append=len(best)))

    def _halves(self, nodes: Nodes) -> Nodes:
        """Divide windows into a lower and an upper half, and those of single windows by splits."""
        # Windows first: only a node of one window is divided by its splits.
        one = nodes.first == nodes.last
        middle = np.where(one, nodes.least + nodes.most, nodes.first + nodes.last) // 2
        lower = nodes._replace(
            last=np.where(one, nodes.last, middle), most=np.where(one, middle, nodes.most)
        )
        upper = nodes._replace(
            first=np.where(one, nodes.first, middle + 1),
            least=np.where(one, middle + 1, nodes.least),
        )
        return joined([lower, upper])
