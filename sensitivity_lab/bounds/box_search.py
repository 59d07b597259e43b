"""Branch and bound over boxes of pairs: how far apart a function's answers can be, at most."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, count, pairwise
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import InputError, SensitivityLabError, TooLargeError

from .carried import (
    CONTINUOUS,
    NOWHERE,
    Carried,
    OrderNeededError,
    Side,
    carried,
    forget,
    records,
    undefined,
)
from .float_intervals import Floats, Interval
from .traced import refuse

_TOGETHER = 1024
"""So many boxes are split at a time: NumPy is then busy with numbers, and the best are not far."""

_ROOM = 1e-10
"""The upper bound leaves so much, relative to it, to the rounding of who checks it."""

_ORDERS = 1000
"""No more orders of records are searched, each of which has its own boxes."""

_DIVES = (8, 64)
"""After so many turns, if there is no bound yet, a place is looked for that has none."""

_HALVINGS, _PARTS = 45, 256
"""A box without a bound is halved so often, in so many parts at a time."""

_KEPT = 2_000_000
"""No more boxes are kept than fit in memory."""


Counted = list[tuple[float, int]]
"""Records, each with how often it occurs."""


class Root(NamedTuple):
    """All pairs of one shape: a box of variables, of which records are made.

    Attributes
    ----------
    lower, upper : ndarray, shape (variables,)
        The ends of each variable.
    on_x, on_y : tuple of int
        The variables that are the records of x, and of y; common records are in both.
    runs : tuple of (int, int)
        The runs of variables that ascend: those that are interchangeable, or, where a function
        tells records by their places, all.
    sign : {1, -1}
        Which answer is subtracted from which.
    lists : bool
        Whether x and y are lists, whose records, or other variables, keep their places.
    totals : tuple of (tuple of int, int)
        If there are any, x and y are the number 1 and then, in turn, how often a record occurs and
        the record; here are the variables of whole numbers that have a sum, and the sum.
    """

    lower: Floats
    upper: Floats
    on_x: tuple[int, ...]
    on_y: tuple[int, ...]
    runs: tuple[tuple[int, int], ...]
    sign: int
    lists: bool = False
    totals: tuple[tuple[tuple[int, ...], int], ...] = ()

    @property
    def free(self) -> NDArray[np.intp]:
        """The variables that are more than one number: derivatives are by these alone."""
        return np.flatnonzero(self.lower < self.upper)

    @property
    def ascends(self) -> bool:
        """Whether all variables are one run."""
        return self.runs == ((0, len(self.lower)),)

    @property
    def ordered(self) -> bool:
        """Whether a function may tell what it gets by its places."""
        return self.ascends or self.lists

    def trimmed(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """Return boxes without margins where no pair is; the ends of an empty box are crossed."""
        lo, hi = lo.copy(), hi.copy()
        # Along a run z_i <= z_(i + 1): no record is below the lower end of one before it, or above
        # the upper end of one after it. [0.5, 1] x [0, 0.7] becomes [0.5, 0.7] x [0.5, 0.7].
        for start, end in self.runs:
            lo[start:end] = np.maximum.accumulate(lo[start:end], axis=0)
            hi[start:end] = np.minimum.accumulate(hi[start:end][::-1], axis=0)[::-1]
        return lo, hi

    def pairs_near(self, points: Floats) -> Floats:
        """Return points that are pairs, shape (variables, points): those that are not are moved."""
        if self.ascends:
            return np.sort(points, axis=0)
        points = points.copy()
        for places, total in self.totals:
            # Each count takes what is left of the total at most, and the last one takes the rest:
            # the sum is the total for any point.
            left = np.full(points.shape[1], float(total))
            for place in places[:-1]:
                points[place] = np.minimum(np.round(points[place]), left)
                left -= points[place]
            points[places[-1]] = left
        return points

    def counted(self, point: Floats) -> tuple[Counted, Counted]:
        """Return x and y: their distinct records, ascending, each with how often it occurs."""
        found: list[Counted] = []
        for places in (self.on_x, self.on_y):
            told = point[list(places)]
            # Of groups, each is a number of equal records.
            every, times = (told[2::2], told[1::2]) if self.totals else (told, np.ones(len(told)))
            distinct, which = np.unique(every, return_inverse=True)
            counts = np.bincount(which, times, len(distinct)).astype(int).tolist()
            counted = zip(distinct.tolist(), counts, strict=True)
            found.append([(record, count) for record, count in counted if count])
        return found[0], found[1]

    def told(self) -> dict[str, Any]:
        """Return it as plain Python objects, for the second program."""
        return {
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "on_x": list(self.on_x),
            "on_y": list(self.on_y),
            "runs": [list(run) for run in self.runs],
            "sign": self.sign,
        }


@dataclass
class Bounded:
    """What is known of boxes.

    Attributes
    ----------
    most : ndarray, shape (boxes,)
        No pair of the box is further apart.
    least : ndarray, shape (boxes,)
        The pair at `point` is at least so far apart.
    point : ndarray, shape (variables, boxes)
    smear : ndarray, shape (variables, boxes)
        How far each variable can move the difference: the box is split along the largest.
    """

    most: Floats
    least: Floats
    point: Floats
    smear: Floats


@np.errstate(all="ignore")
def answers(
    function: Callable[[Any], Any], root: Root, lo: Floats, hi: Floats, slopes: bool
) -> tuple[Side, Side, Side]:
    """Return the answers on x and on y in boxes, and how much larger those on x are.

    With as many records on both sides, both answers are computed together, and their difference is
    carried from operation to operation. Else each is computed alone.
    """

    def answer(first: Sequence[int], second: Sequence[int]) -> Carried:
        x, y = ((lo[list(places)], hi[list(places)]) for places in (first, second))
        pairs = records(x, y, first, second, root.free if slopes else root.free[:0], root.ordered)
        pairs.records = not root.lists
        try:
            found = carried(function(pairs))
        except (SensitivityLabError, OrderNeededError):
            raise
        except Exception as error:  # noqa: BLE001 - the caller's code, or numpy's in it
            refuse(f"raises {type(error).__name__} on boxes: {error}", error)
        if found.shape not in ((), (1,)):
            raise InputError(
                f"the function returns an array of shape {found.shape}; boxes bound the change of "
                "one number, so give a function of one number"
            )
        return found if found.shape == () else found._moved(*[lambda numbers: numbers[0]] * 2)

    forget()
    # Differences are carried place by place, so they need as many places on both sides. Without
    # them the two answers are subtracted as intervals, and what both have in common does not
    # cancel.
    if len(root.on_x) == len(root.on_y):
        both = answer(root.on_x, root.on_y)
        return both.x, both.y, both.d
    on_x, on_y = answer(root.on_x, root.on_x).x, answer(root.on_y, root.on_y).x
    return on_x, on_y, on_x - on_y


@np.errstate(all="ignore")
def difference(
    function: Callable[[Any], Any], root: Root, lo: Floats, hi: Floats, slopes: bool
) -> tuple[Interval, Interval]:
    """Return how much larger the answers on x are in boxes, and the derivatives of that.

    Where an answer may be undefined or jump in a box, nothing is known of the derivatives.
    """
    on_x, on_y, side = answers(function, root, lo, hi, slopes)
    decor = on_x.least(on_y)
    if (decor <= NOWHERE).any():
        raise InputError(
            f"the function {undefined()}, so that it has no answer there; choose an interval on "
            "which it has one, or give it another answer there with np.where"
        )
    side = side if root.sign > 0 else -side
    shape, deep = np.zeros(lo.shape[-1]), np.zeros_like(lo)
    value = Interval(side.value.lo + shape, side.value.hi + shape)
    slope = Interval(deep, deep.copy())
    if slopes:
        slope.lo[root.free] = np.where(decor == CONTINUOUS, side.slope.lo, -np.inf)
        slope.hi[root.free] = np.where(decor == CONTINUOUS, side.slope.hi, np.inf)
    return value, slope


@np.errstate(all="ignore")
def bound(function: Callable[[Any], Any], root: Root, lo: Floats, hi: Floats) -> Bounded:
    """Bound the difference in boxes, shape (variables, boxes); docs/proofs.md, "Certified boxes".

    What is never below 0 on pairs is added to the difference where it cancels slopes: steps between
    neighbors of a run, or how far a sum of squares is from its ends. A variable along which the sum
    rises or falls in the whole box stands at its end, for no pair of the box has a larger one. What
    is left is bounded by its values, and by those at one point and the slopes around it (the
    mean-value form).
    """
    # Three upper bounds and a lower one follow in turn: values in the box, values where monotone
    # variables stand at an end, the mean-value form around a point, and the answers at that point.
    value, slope = difference(function, root, lo, hi, slopes=True)
    most = value.hi
    added = _added(slope, root, lo, hi)
    slope = slope + added(Interval(lo, hi))[1]
    # Monotone variables stand at an end: x**2 * y on [1, 2] x [0, 1] is largest where both are.
    rises, falls = slope.lo >= 0, slope.hi <= 0
    low, high = np.where(rises, hi, lo), np.where(falls & ~rises, lo, hi)
    if (low != lo).any() or (high != hi).any():
        value, slope = difference(function, root, low, high, slopes=True)
        more, steep = added(Interval(low, high))
        most = np.minimum(most, (value + more).hi)
        slope = slope + steep
    point = _center(low, high, slope)
    middle = Interval.of(point)
    at_point, _ = difference(function, root, point, point, slopes=False)
    # D(z) is in D(m) + slope (z - m) for the point m: docs/proofs.md, "Slopes". `reach` is z - m.
    reach = (Interval.of(low) - middle).hull(Interval.of(high) - middle)
    around = (slope * reach).sum(0) + at_point + added(middle)[0]
    width = high - low
    size = np.maximum(np.abs(slope.lo), np.abs(slope.hi))
    # Without a slope a variable moves the difference at most as far as the box does.
    apart = np.nan_to_num((value.hi - value.lo) / (root.upper - root.lower)[:, None], posinf=1e6)
    smear = np.where(np.isfinite(size), size + 1e-12, 8 * apart) * width
    if root.ascends:  # the point may be no pair
        point = root.pairs_near(point)
        at_point, _ = difference(function, root, point, point, slopes=False)
    # fmin passes over a mean-value form that is NaN: the values alone are the bound then.
    return Bounded(np.fmin(most, around.hi), at_point.lo, point, smear)


def _added(
    slope: Interval, root: Root, lo: Floats, hi: Floats
) -> Callable[[Interval], tuple[Interval, Interval]]:
    """Return a function that is not below 0 on pairs, with its values and slopes in a box."""
    # Axis 0 is the variable, axis 1 the box. Near pairs of a run first: a record takes from its
    # neighbor what it can, before one further away does.
    middle = np.where(np.isfinite(slope.lo) & np.isfinite(slope.hi), slope.lo + slope.hi, 0) / 2
    before = np.zeros((len(lo) + 1, lo.shape[1]))  # before[i] is m of the step that ends at i
    for start, end in root.runs:
        for apart in range(1, end - start):
            for i in range(start, end - apart):
                j = i + apart
                part = np.where(hi[i] > lo[j], np.minimum(middle[i], -middle[j]), 0)
                part = np.maximum(part, 0)
                middle[i] -= part
                middle[j] += part
                before[i + 1 : j + 1] += part
    # The sum of m[i] * (z[i + 1] - z[i]): a slope that is above 0 goes to a later variable with one
    # below 0, if the former can be the larger one in the box.
    steps = Interval.of(before[:-1]) - Interval.of(before[1:])
    return lambda box: ((steps * box).sum(0), steps)


def _center(low: Floats, high: Floats, slope: Interval) -> Floats:
    """Return the point around which the mean-value form has the smallest upper end (Baumann)."""
    # With slopes in [-1, 3] the point is 3/4 of the way up: to either end the form rises by 3/4 of
    # the width.
    share = slope.hi / (slope.hi - slope.lo)
    share = np.where(np.isfinite(share), np.clip(share, 0, 1), 0.5)
    return np.clip(low + share * (high - low), low, high)


@dataclass
class Tree:
    """How a root was split: the certificate.

    `node`, `axis`, `cut` and `first` tell each split: which node, along which variable, where, and
    the number of the part below the cut; the part above it has the next number. Node 0 is the root.
    """

    node: list[Any] = field(default_factory=list)
    axis: list[Any] = field(default_factory=list)
    cut: list[Any] = field(default_factory=list)
    first: list[Any] = field(default_factory=list)
    nodes: int = 1

    def add(
        self, node: NDArray[np.int64], axis: NDArray[np.intp], cut: Floats
    ) -> NDArray[np.int64]:
        """Split nodes, and return the numbers of the parts below the cuts."""
        first = self.nodes + 2 * np.arange(len(node))
        self.nodes += 2 * len(node)
        told = (self.node, self.axis, self.cut, self.first)
        for one, more in zip(told, (node, axis, cut, first), strict=True):
            one.append(more)
        return first

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the four as arrays."""
        kinds = (np.int64, np.int64, np.float64, np.int64)
        told = (self.node, self.axis, self.cut, self.first)
        return tuple(
            np.concatenate([*one, np.empty(0, kind)]).astype(kind)
            for one, kind in zip(told, kinds, strict=True)
        )


class Branches:
    """The open boxes of one root."""

    def __init__(self, function: Callable[[Any], Any], root: Root) -> None:
        self.root, self.tree = root, Tree()
        lo, hi = root.lower[:, None], root.upper[:, None]
        found = bound(function, root, lo, hi)
        self.lo, self.hi, self.smear, self.most = lo, hi, found.smear, found.most
        self.node = np.zeros(1, dtype=np.int64)
        self.closed = -np.inf

    @property
    def upper(self) -> float:
        """No open box has a larger bound."""
        return float(self.most.max(initial=-np.inf))

    def split(self) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        """Take the boxes with the largest bounds, and return their parts, bounds and nodes.

        Of few boxes the parts are split again, so that NumPy has enough to do.
        """
        # The largest bounds decide when the search ends: no other box needs to be split first.
        number = min(_TOGETHER, len(self.most))
        taken = np.argpartition(-self.most, number - 1)[:number]
        lo, hi, smear = self.lo[:, taken], self.hi[:, taken], self.smear[:, taken]
        most, node = self.most[taken], self.node[taken]
        self._keep(np.delete(np.arange(len(self.most)), taken))
        while True:
            # Of each box the variable that moves the difference most, cut in the middle.
            axis = np.argmax(smear, axis=0)
            at = axis, np.arange(len(axis))
            # Halves of a difference do not overflow, and the cut is in the box, as the second
            # program asks.
            cut = lo[at] + (hi[at] - lo[at]) / 2
            first = self.tree.add(node, axis, cut)
            below, above = hi.copy(), lo.copy()
            below[at] = above[at] = cut
            smear[at] /= 2  # a guess for the parts, until they are bounded
            lo, hi = self.root.trimmed(np.hstack([lo, above]), np.hstack([below, hi]))
            # Trimming crosses the ends of boxes that hold no ascending pair: they go.
            kept = (lo <= hi).all(axis=0)
            smear, most = np.hstack([smear, smear])[:, kept], np.hstack([most, most])[kept]
            lo, hi, node = lo[:, kept], hi[:, kept], np.hstack([first, first + 1])[kept]
            if not 0 < len(most) <= _TOGETHER // 8:
                return lo, hi, most, node

    def add(self, lo: Floats, hi: Floats, found: Bounded, node: NDArray[np.int64]) -> None:
        """Open boxes."""
        self.lo, self.hi = np.hstack([self.lo, lo]), np.hstack([self.hi, hi])
        self.smear = np.hstack([self.smear, found.smear])
        self.most = np.hstack([self.most, found.most])
        self.node = np.hstack([self.node, node])

    def close(self, target: float) -> None:
        """Close the boxes whose bounds are not above the target."""
        # `closed` keeps the largest bound among closed boxes. With the open ones it is the upper
        # bound.
        done = self.most <= target
        self.closed = max(self.closed, float(self.most[done].max(initial=-np.inf)))
        self._keep(np.flatnonzero(~done))

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.lo, self.hi = self.lo[:, kept], self.hi[:, kept]
        self.smear, self.most, self.node = self.smear[:, kept], self.most[kept], self.node[kept]


@dataclass
class Found:
    """The bounds of a search.

    Attributes
    ----------
    lower, upper : float
    root : Root
        Of the pair that attains the lower bound.
    point : ndarray, shape (variables,)
    trees : list of (Root, Tree)
    boxes : int
        How many boxes were bounded.
    pole : str
        Why there is no upper bound, if there is none.
    """

    lower: float
    upper: float
    root: Root
    point: Floats
    trees: list[tuple[Root, Tree]]
    boxes: int
    pole: str


def roots_of(
    function: Callable[[Any], Any],
    lower: float,
    upper: float,
    shapes: Iterable[tuple[int, int, int]],
) -> list[Root]:
    """Return the roots of all pairs with so many common records, own ones of x, and own ones of y.

    Where the function tells records by their places, there is a root for each order of all records;
    elsewhere common records are interchangeable, and so are the own ones.
    """
    roots = []
    for common, own_x, own_y in shapes:
        size = common + own_x + own_y
        ends = np.full(size, lower), np.full(size, upper)
        # With as many own records on both sides, exchanging x and y gives -D: one sign is enough.
        signs = (1,) if own_x == own_y else (1, -1)
        at = np.cumsum([0, common, own_x, own_y]).tolist()
        runs = tuple(pairwise(at))
        plain = Root(*ends, tuple(range(at[2])), (*range(common), *range(at[2], size)), runs, 1)
        try:
            difference(function, plain, ends[0][:, None], ends[1][:, None], slopes=False)
            roots += [plain._replace(sign=sign) for sign in signs]
        except OrderNeededError:
            # Of all places in the ascending order, those of x's own records are chosen, and then
            # those of y's.
            orders = comb(size, own_x) * comb(size - own_x, own_y)
            if orders > _ORDERS:
                raise TooLargeError(
                    "the function tells records by their places or sorts them, and boxes are made "
                    f"for each of the {orders:,} places that own records can take among {size}, "
                    f"more than {_ORDERS:,}; choose a smaller size or distance"
                ) from None
            for only_x in combinations(range(size), own_x):
                rest = [one for one in range(size) if one not in only_x]
                for only_y in combinations(rest, own_y):
                    on_x = tuple(one for one in range(size) if one not in only_y)
                    on_y = tuple(one for one in range(size) if one not in only_x)
                    one = Root(*ends, on_x, on_y, ((0, size),), 1)
                    roots += [one._replace(sign=sign) for sign in signs]
    return roots


def roots_around(
    function: Callable[[Any], Any],
    lower: float,
    upper: float,
    x: Sequence[float],
    changes: Iterable[tuple[int, int]],
) -> list[Root]:
    """Return the roots of the pairs of one dataset, ascending, and its neighbors.

    Its records are boxes without width. Where the function tells records by their places, each
    added record has a root for each gap that it falls into.
    """
    roots: dict[tuple[Any, ...], Root] = {}
    for removed, added in changes:
        for gone in combinations(range(len(x)), removed):
            kept = [one for at, one in enumerate(x) if at not in gone]
            # The variables: kept records, removed ones, added ones. Only the last have a width.
            fixed = [*kept, *(x[at] for at in gone)]
            lo, hi = (np.array([*fixed, *[end] * added]) for end in (lower, upper))
            size, left = len(x) + added, len(kept)
            on_y = (*range(left), *range(len(x), size))
            runs = ((0, left), (left, len(x)), (len(x), size))
            plain = Root(lo, hi, tuple(range(len(x))), on_y, runs, 1)
            try:
                difference(function, plain, lo[:, None], hi[:, None], slopes=False)
                found = [plain]
            except OrderNeededError:
                found = list(_between(lower, upper, x, gone, added))
            for root in found:
                told = root.lower.tobytes(), root.upper.tobytes(), root.on_x, root.on_y
                roots[told] = root
    return [root._replace(sign=sign) for root in roots.values() for sign in (1, -1)]


def _between(
    lower: float, upper: float, x: Sequence[float], gone: Sequence[int], added: int
) -> Iterable[Root]:
    """Yield a root for each choice of gaps between records of x that added records fall into."""
    for gaps in combinations_with_replacement(range(len(x) + 1), added):
        ends: tuple[list[float], list[float]] = ([], [])
        on_x, on_y = [], []
        # Gap `at` lies below x[at] and above x[at - 1]; gap 0 begins and the last one ends at an
        # end of the interval. So all variables ascend.
        for at in range(len(x) + 1):
            for _ in range(gaps.count(at)):
                on_y.append(len(ends[0]))
                ends[0].append(x[at - 1] if at else lower)
                ends[1].append(x[at] if at < len(x) else upper)
            if at < len(x):
                on_x.append(len(ends[0]))
                if at not in gone:
                    on_y.append(len(ends[0]))
                ends[0].append(x[at])
                ends[1].append(x[at])
        run = ((0, len(ends[0])),)
        yield Root(np.array(ends[0]), np.array(ends[1]), tuple(on_x), tuple(on_y), run, 1)


def search(
    function: Callable[[Any], Any],
    roots: list[Root],
    rtol: float,
    seconds: float,
    many: Callable[[Root, Floats, Floats], list[Bounded]],
    show: Callable[[int], Any],
    start: Pair,
    hopeless: float = np.inf,
    most_boxes: float = np.inf,
) -> Found:
    """Bound how far apart the answers on pairs are, until the bounds are close or time is over.

    Parameters
    ----------
    function : callable
        Of one array of records.
    roots : list of Root
        All pairs.
    rtol : float
        The search ends where ``upper - lower <= rtol * lower``.
    seconds : float
        When it ends at the latest.
    many : callable
        Bounds boxes of a root, in parts, in workers or here.
    show : callable
        Is told the number of boxes that were bounded since it was told last.
    start : Pair
        One that is far apart.
    hopeless : float
        The search ends where the middle of a box is further apart: it may be no pair.
    most_boxes : int or inf
        The search ends after more boxes.
    """
    end = time.monotonic() + seconds
    best, place, point = start
    branches = [Branches(function, root) for root in roots]
    boxes = len(roots)
    pole = ""
    # No turn loses a pair: it is in an open box, or in a closed one with a bound of at most target.
    for turn in count():
        # A box at most this high is within rtol of the best pair, and needs no further splits. The
        # target only rises, so a closed box stays closed.
        target = best * (1 + rtol) if best > 0 else 0.0
        for one in branches:
            one.close(target)
        worst = max(branches, key=lambda one: one.upper)
        if turn in _DIVES and worst.upper == np.inf:
            pole = pole_of(function, worst.root)
        kept = sum(len(one.most) for one in branches)
        if not kept or kept > _KEPT or boxes > most_boxes or best > hopeless or pole:
            break
        if time.monotonic() > end:
            break
        lo, hi, parents, node = worst.split()
        found = joined(many(worst.root, lo, hi))
        # A part has no pair that the whole box has not: its parent's bound stays true.
        found.most = np.minimum(found.most, parents)
        boxes += lo.shape[1]
        show(lo.shape[1])
        at = int(np.argmax(found.least)) if lo.shape[1] else -1
        if at >= 0 and found.least[at] > best:
            best, place, point = float(found.least[at]), worst.root, found.point[:, at]
        worst.add(lo, hi, found, node)
    # Closed boxes have pairs, too: one may be further apart than the best pair, but within rtol of
    # it.
    upper = max(max(one.upper, one.closed) for one in branches)
    trees = [(one.root, one.tree) for one in branches]
    return Found(best, max(best, upper) * (1 + _ROOM), place, point, trees, boxes, pole)


def pole_of(function: Callable[[Any], Any], root: Root) -> str:
    """Return where answers have no bound however small the box is, in words; "" if not found.

    Of a box all variables are halved, and a few parts without a bound are halved again, until their
    widths are next to nothing. What is not found is left to the search.
    """
    random = np.random.default_rng(0)
    lo, hi = root.lower[:, None], root.upper[:, None]
    size = len(lo)
    for _ in range(_HALVINGS):
        # upper tells, by variable (axis 0) and part (axis 1), whether the upper half is taken:
        # all 2**variables of few boxes, else random ones.
        if 2**size * lo.shape[1] <= _PARTS:
            upper = (np.arange(2**size) >> np.arange(size)[:, None]) % 2 == 1
            upper = np.tile(upper, lo.shape[1])
        else:
            upper = random.random((size, _PARTS // lo.shape[1] * lo.shape[1])) < 0.5
        many = upper.shape[1] // lo.shape[1]
        lo, hi = (np.repeat(ends, many, axis=1) for ends in (lo, hi))
        middle = lo + (hi - lo) / 2
        lo, hi = root.trimmed(np.where(upper, middle, lo), np.where(upper, hi, middle))
        kept = np.flatnonzero((lo <= hi).all(axis=0))
        most = bound(function, root, lo[:, kept], hi[:, kept]).most
        # A few parts are enough: one point without a bound shows the pole.
        kept = kept[most == np.inf][:4]
        lo, hi = lo[:, kept], hi[:, kept]
        if not len(kept):
            return ""
    lo, hi = lo[:, :1], hi[:, :1]
    difference(function, root, lo, hi, slopes=False)
    point = (lo + (hi - lo) / 2)[:, 0]
    x, y = (
        ", ".join([f"{record:.6g}" for record, times in side for _ in range(times)][:8])
        for side in root.counted(point)
    )
    return f"near x = ({x}) and y = ({y}) the function {undefined() or 'has no bound'}"


def joined(founds: list[Bounded]) -> Bounded:
    """Return what is known of several arrays of boxes as one."""
    return Bounded(
        np.hstack([one.most for one in founds]),
        np.hstack([one.least for one in founds]),
        np.hstack([one.point for one in founds]),
        np.hstack([one.smear for one in founds]),
    )


class Pair(NamedTuple):
    """A pair, as the variables of a root, and how far apart the answers are at least."""

    apart: float
    root: Root
    point: Floats


def pair_at(function: Callable[[Any], Any], root: Root, point: Floats) -> Pair:
    """Return a pair with how far apart its answers are, rounded down."""
    apart, _ = difference(function, root, point[:, None], point[:, None], slopes=False)
    return Pair(np.nan_to_num(apart.lo, nan=-np.inf).item(), root, point)


def furthest(
    function: Callable[[Any], Any],
    roots: Sequence[Root],
    rounds: int = 24,
    hints: Floats | None = None,
) -> Pair:
    """Return the pair that is furthest apart of those that a climb finds: a lower bound.

    Hints are records to begin with, beside those at the ends and random ones.
    """
    random = np.random.default_rng(0)
    few = rounds if len(roots) <= 4 else 3
    found = [climb(function, root, random, few, hints) for root in roots]
    best = max(found, key=lambda one: one.apart)
    again = climb(function, best.root, random, rounds, hints)
    # Of what floats find furthest apart, intervals may tell less: where a condition is nearly met.
    told = [pair_at(function, one.root, one.point) for one in (best, again)]
    return max(told, key=lambda one: one.apart)


@np.errstate(all="ignore")
def climb(
    function: Callable[[Any], Any],
    root: Root,
    random: np.random.Generator,
    rounds: int,
    hints: Floats | None,
) -> Pair:
    """Return a pair that is far apart, in floats, by a search over points."""
    low, high = root.lower[:, None], root.upper[:, None]
    width = high - low
    # Axis 0 is the variable, axis 1 one of 1,024 points. Worst pairs have most records at an end: a
    # share of each point's variables, drawn for the point, is there.
    ends = random.integers(0, 2, (len(width), 1024))
    inner = random.random(ends.shape)
    points = low + np.where(random.random(ends.shape) < random.random(1024), ends, inner) * width
    if hints is not None:
        counts = [place for places, _ in root.totals for place in places]
        near = random.choice(hints, ends.shape)
        near[counts] = points[counts]
        points = np.where(random.random(ends.shape) < random.random(1024), near, points)
    step = 0.5
    for _ in range(rounds):
        points = root.pairs_near(np.clip(points, low, high))
        if root.totals:  # the answer is an expression, which floats follow a hundred times faster
            on_x, on_y = (function(points[list(places)]) for places in (root.on_x, root.on_y))
            apart = root.sign * (on_x - on_y) + np.zeros(points.shape[1])
        else:
            apart = difference(function, root, points, points, slopes=False)[0].lo
        apart = np.where(np.isfinite(apart), apart, -np.inf)
        # The 32 best points stay, and each has eight descendants, two of whose variables move by a
        # step that shrinks: from 0.5 of the width to 1e-4 of it in 24 rounds.
        kept = np.argsort(-apart)[:32]
        best, found = apart[kept[0]], points[:, kept[0]]
        near = np.repeat(points[:, kept], 8, axis=1)
        moved = random.random(near.shape) < 2 / len(width)
        near = near + moved * random.normal(size=near.shape) * step * width
        points = np.hstack([points[:, kept], near])
        step *= 0.7
    return Pair(float(best), root, found)
