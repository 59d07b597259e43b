"""Bounds on f(x) - f(y) for ranges of windows y and of splits of A, many at once.

In `AOACAOA` and `AOACBCAOA` y is a window and B a window inside it. A is outside y: of the records
there, as one sequence, the lowest and the highest ones; how many of A are the lowest is a *split*.
(So A stands at the ends of the universe and, where a side has fewer records than the split takes,
also next to y on the other side.) A *shape* is the sizes of x, y, A and B. A *node* is a range of
windows and a range of splits, of one shape. Its bound rests on three inequalities. Let
x = y + A - B have n records and y have m <= n, let S, Q and D be sums, sums of squares and squared
deviations, and M_y the mean of y.

1. *Any number M bounds x.* Squared deviations are the least sum of squares about a number, so
   ``D_x - D_y <= m (M - M_y)^2 + alpha(M) - beta(M)``, with alpha the largest sum of ``(u - M)^2``
   that A can have and beta the smallest that B can have. M near the mean of the best x makes this
   small; a bad M makes it larger, not wrong. So M is searched for roughly.
2. *A tangent bounds y.* Moving a window up adds ``l - e`` to S and ``(l + e) (l - e)`` to Q, where
   l + e does not fall: (S, Q) runs along a convex polygon, above the line through any of its edges.
   So ``D_y >= Q_0 + (l + e) (S - S_0) - S^2 / m`` for all windows of a node, with the edge at the
   middle one.
3. *The two ends are enough.* f(x) - f(y) falls as Q rises, so no window reaches more than the line
   does at its S. There, with A and B fixed, ``f(x) - f(y) >= t`` holds where a convex function of S
   is at least 0: if anywhere in the node, then at the S of the first window or of the last one. So
   a node cannot reach more than the larger bound of its two end windows.

See "Whole curves: bounds for ranges of windows" in docs/proofs.md. In all arrays the first axis is
the row: a node, or one end of a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np

from sensitivity_lab.search.variance.comparing import Spread, as_real
from sensitivity_lab.search.variance.float_prefix_sums import UNIT, Positions, Reals
from sensitivity_lab.search.variance.windows import Mask

from .line import Gaps, Line, Sums, first_of

ROUNDS = 3
"""For how many numbers M a bound is evaluated; the least bound is taken."""

HALVINGS = 16
"""How often the range of M is halved for all windows and splits of a shape."""


@dataclass(frozen=True)
class Nodes:
    """Ranges of windows y and of splits of A, a row each; both ends are in the range.

    Attributes
    ----------
    shape : array of int64
        Which shape.
    first, last : arrays of int64
        Where windows y begin.
    least, most : arrays of int64
        How many records of A are at the lower end.
    low, high : arrays of longdouble
        Numbers near the mean of the best x for the first and the last window.
    """

    shape: Positions
    first: Positions
    last: Positions
    least: Positions
    most: Positions
    low: Reals
    high: Reals

    def rows(self, chosen: Positions | Mask | slice) -> Self:
        """Some of the rows."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of several, one after the other."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )

    def changed(self, **columns: Positions | Reals) -> Self:
        """The same nodes with other ranges."""
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**{**kept, **columns})


@dataclass(frozen=True)
class Sizes:
    """How many records there are in x, y, A and B, for each shape or for each row."""

    x: Positions
    y: Positions
    a: Positions
    b: Positions

    def rows(self, chosen: Positions) -> Sizes:
        """Those of some shapes."""
        return Sizes(self.x[chosen], self.y[chosen], self.a[chosen], self.b[chosen])


class Choice(NamedTuple):
    """A number M, the split of A furthest from it, and the place of B nearest to it.

    Attributes
    ----------
    gain : array of longdouble
        What the squared deviations of x have at most in addition to those of y.
    mean : array of longdouble
        M.
    split, place : arrays of int64
        How many records of A are at the lower end, and where B begins.
    over : array of longdouble
        The sum of x less the size of x times M: the best M has 0.
    """

    gain: Reals
    mean: Reals
    split: Positions
    place: Positions
    over: Reals

    def better(self, other: Choice) -> Choice:
        """The one with the smaller bound, for each row."""
        less = other.gain < self.gain
        mean, gain = np.where(less, other.mean, self.mean), np.where(less, other.gain, self.gain)
        split = np.where(less, other.split, self.split)
        place = np.where(less, other.place, self.place)
        return Choice(gain, mean, split, place, np.where(less, other.over, self.over))


class Ends(NamedTuple):
    """One window of each node, with bounds on all pairs if y has the sum of this window.

    Attributes
    ----------
    mean, split, place : arrays
        Of the `Choice` with the least bound.
    of_y : array of longdouble
        What the squared deviations of y are at least; not negative.
    gain : array of longdouble
        What those of x have at most in addition.
    reached_y, reached : arrays of longdouble
        The same two numbers for a pair, the first rounded up and the second down; nan where A or B
        do not fit.
    error : array of longdouble
        What `gain`, and the losses of other splits and places, may be off.
    """

    mean: Reals
    split: Positions
    place: Positions
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

        `of_y` are the squared deviations of y, and those of x are larger by `gain`. It falls as
        those of y rise, since x is not smaller than y; so a lower bound of them gives an upper one.
        """
        of_x, of_y = (of_y + gain) / self.free_x[shape], of_y / self.free_y[shape]
        if self.root:
            of_x, of_y = np.sqrt(np.maximum(of_x, 0)), np.sqrt(of_y)
        found: Reals = of_x - of_y + up * 16 * UNIT * (np.abs(of_x) + of_y)
        return found

    def needed(self, shape: Positions, of_y: Reals, value: Reals) -> Reals:
        """The gain with which f(x) - f(y) reaches a value, rounded down."""
        free_x, other = self.free_x[shape], of_y / self.free_y[shape]
        of_x = (value + np.sqrt(other)) ** 2 if self.root else value + other
        found: Reals = of_x * free_x * (1 - 32 * UNIT) - of_y
        return found


class Bounds:
    """Bounds for nodes of given shapes.

    Parameters
    ----------
    line : Line
        The universe.
    sizes : Sizes
        Of every shape; x has at least as many records as y.
    """

    def __init__(self, line: Line, sizes: Sizes) -> None:
        self.line, self.sizes = line, sizes

    def gap(self, nodes: Nodes) -> Gaps:
        """What all windows of a node share; empty if the first ends before the last begins.

        A is taken from outside it, so that one A serves a whole node. Compared with the A of a
        single window, its lower records are no higher and its upper ones no lower; so the squared
        deviations of the best x do not fall.
        """
        width = np.maximum(nodes.first + self.sizes.y[nodes.shape] - nodes.last, 0)
        return Gaps(self.line, nodes.last, width)

    def mean(self, nodes: Nodes, window: Positions) -> Reals:
        """About the mean of the best x for a window, by halving a range of M.

        As M rises, A takes more records of the lower end and B moves up: `over` falls.
        """
        low = np.full(len(window), self.line.values[0])
        high = np.full(len(window), self.line.values[-1])
        for _ in range(HALVINGS):
            mean: Reals = (low + high) / 2
            above = self._choose(nodes, window, mean).over > 0
            low, high = np.where(above, mean, low), np.where(above, high, mean)
        return mean

    def ends(self, nodes: Nodes, window: Positions, mean: Reals) -> Ends:
        """The bounds for a window of each node, with an M near a given one."""
        line, sizes = self.line, self.sizes.rows(nodes.shape)
        chosen = last = self._choose(nodes, window, mean)
        # The bound is a convex function of M with the slope -2 `over`. So it is least where M is
        # the mean of the x that it chooses: where `over`, which falls with M, is 0. The first step
        # towards it is as if A stayed and the records of B moved up with M: then `over` falls by
        # the sizes of x and B. The next are secants through the last two points.
        step = last.over / (sizes.x + sizes.b)
        for _ in range(ROUNDS - 1):
            tried = np.clip(last.mean + step, line.values[0], line.values[-1])
            here = self._choose(nodes, window, tried)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = here.over * (here.mean - last.mean) / (last.over - here.over)
            step = np.where(np.isfinite(step), step, here.over / (sizes.x + sizes.b))
            chosen, last = chosen.better(here), here
        of_y = line.window(window, sizes.y)
        center = of_y.total / sizes.y
        # Of sums of squares about M or about the mean of y; see "Whole curves: rounding" in
        # docs/proofs.md.
        error = line.off(np.maximum(np.abs(chosen.mean), np.abs(center)), sizes.x)
        # y holds no outlier that A takes: its squared deviations have an error of their own.
        own = line.off_window(window, sizes.y, center)
        reached_y, reached = self._reached(nodes, window, chosen)
        return Ends(
            chosen.mean, chosen.split, chosen.place, self._least(nodes, window, of_y, own),
            chosen.gain + error, reached_y + own, reached - error, error,
        )  # fmt: skip

    def _choose(self, nodes: Nodes, window: Positions, mean: Reals) -> Choice:
        """The split and the place for an M, and the bound (1) of the module for these.

        From a split to the next, record e enters A and a larger one l leaves it, so the squares
        about M change by ``(l - e) (2 M - (e + l))``: they rise until ``e + l >= 2 M``, and fall
        from there on, since e + l does not fall. Where B moves up by one, e and l change their
        roles: the squares fall, then rise. So a bisection for that sign finds either one.
        """
        sizes, gap, twice = self.sizes.rows(nodes.shape), self.gap(nodes), 2 * mean
        split = first_of(nodes.least, nodes.most, lambda split: gap.slope(split, sizes.a) >= twice)
        values, place, end = self.line.values, nodes.first, self.line.size - 1
        if sizes.b.any():
            # Where B is empty it stays at the first place.
            last = np.where(sizes.b > 0, nodes.last + sizes.y - sizes.b, nodes.first)
            place = first_of(
                nodes.first,
                last,
                lambda place: (
                    values.take(place) + values.take(np.minimum(place + sizes.b, end)) >= twice
                ),
            )
        of_y = self.line.window(window, sizes.y)
        of_a, of_b = gap.ends(split, sizes.a), self.line.window(place, sizes.b)
        # The bound (1): M about the mean of y, alpha of A, beta of B.
        gain = sizes.y * (mean - of_y.total / sizes.y) ** 2
        gain = gain + of_a.about(mean, sizes.a) - of_b.about(mean, sizes.b)
        over = of_y.total + of_a.total - of_b.total - sizes.x * mean
        return Choice(gain, mean, split, place, over)

    def _least(self, nodes: Nodes, window: Positions, of_y: Sums, own: Reals) -> Reals:
        """The squared deviations on the tangent (2) of the module, at the sum of a window.

        `own` is what those of the window itself are off at most.
        """
        line, size = self.line, self.sizes.y[nodes.shape]
        middle = (nodes.first + nodes.last) // 2
        at, wide = line.window(middle, size), nodes.first < nodes.last
        leave, enter = (
            line.values.take(place) for place in (middle, np.minimum(middle + size, line.size - 1))
        )
        slope = leave + enter
        # A node of one window has no edge: it is its own tangent.
        tangent = np.where(wide, at.squares + slope * (of_y.total - at.total), of_y.squares)
        # The windows of a node lie above the tangent, so its ends do; rounded, they may not.
        least = np.minimum(of_y.squares, tangent) - of_y.total * of_y.total / size
        # The tangent adds the rounding of the window that it touches, and that of its slope times
        # how far it goes: "Whole curves: rounding" in docs/proofs.md, *A window by itself*.
        absolute = line.absolute(middle, size)
        steep = np.abs(leave) + np.abs(enter)
        turn = absolute.squares + steep * (absolute.total + line.absolute(window, size).total)
        found: Reals = np.maximum(least - own - line.error * turn * wide, 0)
        return found

    def _reached(self, nodes: Nodes, window: Positions, chosen: Choice) -> tuple[Reals, Reals]:
        """The squared deviations of y, and what x has in addition; nan where A or B do not fit.

        Bounds take A outside what all windows share, and B inside any of them. It is a pair only if
        A is outside this window and B inside it.
        """
        sizes, split, place = self.sizes.rows(nodes.shape), chosen.split, chosen.place
        end = window + sizes.y
        fits = (split <= window) & (sizes.a - split <= self.line.size - end)
        fits |= nodes.first == nodes.last
        fits &= (sizes.b == 0) | ((place >= window) & (place + sizes.b <= end))
        of_y, of_b = self.line.window(window, sizes.y), self.line.window(place, sizes.b)
        of_a = self.gap(nodes).ends(split, sizes.a)
        of_x = of_y.total + of_a.total - of_b.total
        part = of_y.total * of_y.total / sizes.y
        gain = of_a.squares - of_b.squares - (of_x * of_x / sizes.x - part)
        return np.maximum(of_y.squares - part, 0), np.where(fits, gain, np.nan)
