"""Which windows y and splits of A can win, for many shapes at once, by branch and bound.

Nodes (see `bounds`) that cannot reach what some pair does are dropped, the others divided until a
window and a split are left. See "Whole curves: bounds for ranges of windows" in docs/proofs.md.

In all arrays the row is a node. Arrays of both *ends* of r nodes have 2 r rows: row i is node i
with the sum of its first window, row r + i with that of its last one. A node cannot reach more than
the larger of these two bounds, so a split of A can win only if it can at one of both ends.

Halving the windows divides the distance of the tangent from the polygon by about four, so a few
nodes of each length remain: some 65 nodes per shape for a million records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab.search.variance.float_prefix_sums import Positions, Reals
from sensitivity_lab.search.variance.windows import Mask

from .bounds import Bounds, Ends, Nodes, Rating, Sizes
from .line import Line, first_of

NODES = 1 << 14
"""The most nodes of one shape that are divided; a shape with more is left open."""

AT_ONCE = 1 << 14
"""How many nodes are looked at at once."""

SPLITS = 4
"""A range of up to so many splits is divided into single ones."""


class Leaves(NamedTuple):
    """Single windows and splits that can win, with the M and the bounds of `Ends`."""

    shape: Positions
    window: Positions
    split: Positions
    mean: Reals
    place: Positions
    of_y: Reals
    gain: Reals
    error: Reals

    def rows(self, chosen: Positions) -> Leaves:
        """Some of the rows."""
        columns: list[Any] = [column[chosen] for column in self]
        return Leaves(*columns)


class Branch:
    """The windows and splits that can win, for shapes with sizes of x that are at least those of y.

    Parameters
    ----------
    line : Line
        The universe.
    sizes : Sizes
        Of every shape.
    ratings : sequence of Rating
        What to make large: one or several f.
    best : array of longdouble, shape (ratings, shapes)
        What f(x) - f(y) must at least reach, for each f and each shape. It is raised.
    level : array of int64, shape (shapes,), or None
        Ascending: a shape only matters where it reaches more than all of its and lower levels. If
        None, every shape matters by itself.
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
        self.open = np.zeros(len(sizes.x), dtype=bool)
        self.divided = np.zeros(len(sizes.x), dtype=np.int64)
        self._leaves: list[Leaves] = []

    def run(self) -> None:
        """Divide until every node is a leaf."""
        # Always: each window and split that can win is in a leaf or a waiting node, unless its
        # shape is open. The nodes last divided come first, so that little waits.
        waiting = [self._whole()]
        while waiting:
            nodes = waiting.pop()
            if len(nodes.shape) > AT_ONCE:
                waiting.append(nodes.rows(slice(AT_ONCE, None)))
                nodes = nodes.rows(slice(AT_ONCE))
            nodes = self._step(nodes)
            if len(nodes.shape):
                waiting.append(nodes)

    def leaves(self) -> Leaves:
        """All leaves, of the shapes that are not open."""
        none = np.zeros(0, dtype=np.int64)
        some = none.astype(np.longdouble)
        parts = [Leaves(none, none, none, some, none, some, some, some), *self._leaves]
        found = Leaves(*map(np.concatenate, zip(*parts, strict=True)))
        return found.rows(np.flatnonzero(~self.open[found.shape]))

    def _whole(self) -> Nodes:
        """All windows and all splits of every shape."""
        shape = np.arange(len(self.sizes.x))
        zero, center = np.zeros_like(shape), np.zeros(len(shape), dtype=np.longdouble)
        last = self.line.size - self.sizes.y
        nodes = Nodes(shape, zero, last, zero, self.sizes.a, center, center)
        return nodes.changed(low=self.bounds.mean(nodes, zero), high=self.bounds.mean(nodes, last))

    def _step(self, nodes: Nodes) -> Nodes:
        """Bound all nodes, drop those that cannot win, keep leaves, and divide the others."""
        runs = self.line.runs
        same = runs[nodes.first] == runs[nodes.last + self.sizes.y[nodes.shape] - 1]
        # Windows of nothing but equal records are the same: the first is taken.
        nodes = nodes.changed(last=np.where(same, nodes.first, nodes.last))
        two, size = Nodes.joined([nodes, nodes]), len(nodes.shape)
        ends = self.bounds.ends(
            two,
            np.concatenate([nodes.first, nodes.last]),
            np.concatenate([nodes.low, nodes.high]),
        )
        self._raise(two.shape, ends)
        keep, spare = self._spare(two, ends)
        self.divided += np.bincount(nodes.shape[keep], minlength=len(self.open))
        self.open = self.divided > NODES
        rows = np.flatnonzero(keep & ~self.open[nodes.shape])
        # From here on `rows` are the nodes' numbers among those that came in, so that
        # `rows + size` are their other ends.
        nodes = nodes.rows(rows).changed(low=ends.mean[rows], high=ends.mean[rows + size])
        lower, upper = (self._splits(nodes, ends, spare, part) for part in (rows, rows + size))
        # A split that can win is in one of the two intervals: so in the range of both.
        least, most = np.minimum(lower[0], upper[0]), np.maximum(lower[1], upper[1])
        left = least <= most
        nodes, rows = nodes.changed(least=least, most=most).rows(left), rows[left]
        done = (nodes.first == nodes.last) & (nodes.least == nodes.most)
        at, leaf = rows[done], nodes.rows(done)
        columns = (ends.mean, ends.place, ends.of_y, ends.gain, ends.error)
        mine = (column[at] for column in columns)
        self._leaves.append(Leaves(leaf.shape, leaf.first, leaf.least, *mine))
        return self._halves(self._singles(nodes.rows(~done)))

    def _spare(self, two: Nodes, ends: Ends) -> tuple[Mask, Reals]:
        """Which nodes can win, and how much smaller the gain could be, at each of both ends.

        The gain is the bound of ``D_x - D_y``. With several f, a node is kept if it can win for any
        of them, and what it can spare is the most of any.
        """
        size = len(two.shape) // 2
        # Squared deviations are not below 0, but the tangent may be. Then both ends count as if it
        # were 0: where it is below, f(x) is at most that of the gain alone, which is largest at an
        # end.
        flat = np.minimum(ends.of_y[:size], ends.of_y[size:]) <= 0
        of_y = np.where(np.tile(flat, 2), 0, ends.of_y)
        keep = np.zeros(size, dtype=bool)
        spare = np.full(2 * size, -np.inf, dtype=np.longdouble)
        for rating, best in zip(self.ratings, self.best, strict=True):
            most = rating.value(two.shape, of_y, ends.gain, 1)
            keep |= np.maximum(most[:size], most[size:]) >= best[two.shape[:size]]
            need = rating.needed(two.shape, of_y, best[two.shape])
            spare = np.maximum(spare, ends.gain - need)
        # Two sums that are compared in `_splits` may both be off.
        return keep, spare + 2 * ends.error

    def _raise(self, shape: Positions, ends: Ends) -> None:
        """Raise what must be reached by what pairs reach, rounded down."""
        fits = ~np.isnan(ends.reached)
        for rating, best in zip(self.ratings, self.best, strict=True):
            least = rating.value(shape[fits], ends.reached_y[fits], ends.reached[fits], -1)
            np.maximum.at(best, shape[fits], least)
            if self.level is not None:
                # The largest of each level and all lower ones, for every shape of the level.
                starts = np.flatnonzero(np.diff(self.level, prepend=-1))
                reached = np.maximum.accumulate(np.maximum.reduceat(best, starts))
                best[:] = np.repeat(reached, np.diff(starts, append=len(best)))

    def _splits(
        self, nodes: Nodes, ends: Ends, spare: Reals, rows: Positions
    ) -> tuple[Positions, Positions]:
        """The first and last split that lose no more than there is to spare; crossed if none.

        For the M of the bound, A with another split has a smaller sum of ``(u - M)^2``. A step away
        from the best split loses ``|(l - e) (e + l - 2 M)|`` more, e and l the records that change
        places, so the splits that lose no more than something are an interval.
        """
        gap, take = self.bounds.gap(nodes), self.sizes.a[nodes.shape]
        mean, split, spare = ends.mean[rows], ends.split[rows], spare[rows]
        best = gap.ends(split, take).about(mean, take)

        def fits(other: Positions) -> Mask:
            return np.asarray(best - gap.ends(other, take).about(mean, take) <= spare)

        # The loss falls up to the best split and rises from it: a bisection on each side. The
        # second looks for the first split whose next one does not fit.
        least = first_of(nodes.least, split, fits)
        last = first_of(split, nodes.most, lambda other: ~fits(np.minimum(other + 1, nodes.most)))
        none = spare < 0
        # Crossed, so that the range of this interval and that of the other end is the latter.
        far = np.iinfo(np.int64).max
        return np.where(none, far, least), np.where(none, -1, last)

    def _singles(self, nodes: Nodes) -> Nodes:
        """Divide few splits into single ones, and those of a single window into halves.

        Many splits of many windows stay together: their windows are divided first, which narrows
        the splits, too.
        """
        wide = nodes.most - nodes.least >= SPLITS
        middle, one = (nodes.least + nodes.most) // 2, nodes.first == nodes.last
        parts = [
            nodes.rows(wide & ~one),
            nodes.changed(most=middle).rows(wide & one),
            nodes.changed(least=middle + 1).rows(wide & one),
        ]
        for step in range(SPLITS):
            split = nodes.least + step
            parts.append(nodes.changed(least=split, most=split).rows(~wide & (split <= nodes.most)))
        return Nodes.joined(parts)

    def _halves(self, nodes: Nodes) -> Nodes:
        """Divide the windows into a lower and an upper half."""
        wide = nodes.first < nodes.last
        one, some = nodes.rows(~wide), nodes.rows(wide)
        middle = (some.first + some.last) // 2
        places = (some.first, some.last, middle, middle + 1)
        first, last, *at = (
            self.line.window(place, self.sizes.y[some.shape]).total for place in places
        )
        # Between both ends, the best M is nearly linear in the sum of y. It is where `Bounds.ends`
        # begins to look for an M, and any M makes a valid bound.
        slope = (some.high - some.low) / np.where(last > first, last - first, 1)
        low, high = (some.low + slope * (total - first) for total in at)
        lower = some.changed(last=middle, high=low)
        upper = some.changed(first=middle + 1, low=high)
        return Nodes.joined([one, lower, upper])
