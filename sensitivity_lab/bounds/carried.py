"""A function's answers on all pairs of a box at once, with how far apart they are.

A caller's function gets a `Carried` in place of its array of records. Every number in it stands for
the same number on x and on y, and carries their difference, too: a mean of x less that of y is the
mean of the differences, whatever the common records are. Each of the three has its derivatives by
the variables of the box (docs/proofs.md, "Certified boxes").
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .float_intervals import Interval, lifted
from .traced import COMPOSED, Traced, callers_line, refuse

CONTINUOUS, DEFINED, UNSURE, NOWHERE, NAN = 3, 2, 1, 0, -1
"""What is known of a number in a whole box, as the decorations of IEEE 1788-2015 have it.

Defined and continuous (dac); defined (def); perhaps undefined somewhere (trv); undefined, and NaN
for numpy. Of several numbers the least counts.
"""

Decor = NDArray[np.int8]

_ANY = Interval(np.array(-np.inf), np.array(np.inf))


class OrderNeededError(Exception):
    """The function tells records by their places, so that it must get them sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A number on one side of the pairs of boxes, or a difference, with its derivatives.

    Attributes
    ----------
    value : Interval, shape (..., boxes)
    slope : Interval, shape (..., variables, boxes)
        Contains the derivatives, or what lies between those of a kink, where the number is
        continuous; elsewhere it says nothing.
    decor : ndarray of int8, shape (..., boxes)
        Where the number is defined and continuous; of a difference nobody asks.
    """

    value: Interval
    slope: Interval
    decor: Decor

    @classmethod
    def of(cls, value: Interval, slope: Interval) -> Side:
        """Return a number that is defined and continuous everywhere."""
        return cls(value, slope, np.full(value.lo.shape, CONTINUOUS, np.int8))

    def __getitem__(self, at: Any) -> Side:
        return Side(self.value[at], self.slope[at], self.decor[at])

    def __neg__(self) -> Side:
        return Side(-self.value, -self.slope, self.decor)

    def __add__(self, other: Side) -> Side:
        return Side(self.value + other.value, self.slope + other.slope, self.least(other))

    def __sub__(self, other: Side) -> Side:
        return self + -other

    def __mul__(self, other: Side) -> Side:
        # (u v)' = u v' + v u'. `lifted` puts the axis of variables beside the values.
        ours, theirs = lifted(self.value), lifted(other.value)
        slope = ours * other.slope + theirs * self.slope
        return Side(self.value * other.value, slope, self.least(other))

    def __truediv__(self, other: Side) -> Side:
        # (u / v)' = (u' - (u / v) v') / v. This form takes the quotient that is there, and needs no
        # v**2.
        quotient = self.value / other.value
        slope = self.slope - lifted(quotient) * other.slope
        decor = np.minimum(self.least(other), _quotient(self.value, other.value))
        return Side(quotient, slope / lifted(other.value), decor)

    def least(self, other: Side) -> Decor:
        """Return what is known of two numbers together."""
        found: Decor = np.minimum(self.decor, other.decor)
        return found

    def by(self, value: Interval, derivative: Interval, decor: Any = CONTINUOUS) -> Side:
        """Return a function of this number, by its values and derivatives, and where it has any."""
        slope = lifted(derivative) * self.slope
        return Side(value, slope, np.minimum(self.decor, np.int8(decor)))

    def cut(self, other: Side) -> Side:
        """Return what two enclosures of the same number have in common."""
        return Side(self.value.cut(other.value), self.slope.cut(other.slope), self.decor)

    def where(self, chosen: NDArray[np.bool_], other: Side) -> Side:
        """Return these numbers where an array is True, and others elsewhere."""
        return Side(
            self.value.where(chosen, other.value),
            self.slope.where(chosen[..., None, :], other.slope),
            np.where(chosen, self.decor, other.decor),
        )

    def sum(self, axis: int) -> Side:
        """Return the sum along an axis of the numbers."""
        decor = self.decor.min(axis=axis, initial=CONTINUOUS)
        return Side(self.value.sum(axis), self.slope.sum(axis), decor)

    def weighted(self, weights: Interval) -> Side:
        """Return each number times a weight, shape (..., 1)."""
        value = self.value * weights
        decor = np.broadcast_to(self.decor, value.lo.shape)
        return Side(value, self.slope * weights[..., None], decor)


class Carried(Traced):
    """An array of numbers on x and on y, in place of an array of records.

    Attributes
    ----------
    x, y : Side
        The numbers on both sides.
    d : Side
        How much larger they are on x.
    ordered : bool
        Whether places mean something: after a sort, but not among the records themselves.
    root : callable or None
        Its square root, where a sum of squares knows a better one.
    squared, averaged : Carried or None
        What it is the square, or the mean of all numbers, of.
    records : bool
        Whether it is the dataset as it came.
    compared : str
        The comparison that it is the truth of, 0 or 1; else empty.
    """

    def __init__(self, x: Side, y: Side, d: Side, ordered: bool, compared: str = "") -> None:
        # Two enclosures of x - y hold: the carried one and that of the two sides. The carried one
        # is narrow where common records cancel, the other one where x and y are apart.
        d = d.cut(x - y)
        # A difference that is 0 in a whole box has no slopes.
        still = d.value.is_zero[..., None, :]
        none = np.zeros_like(d.slope.lo)
        d = Side(d.value, Interval(none, none).where(still, d.slope), d.decor)
        self.x, self.y, self.d = x, y, d
        self.ordered = ordered
        self.root: Callable[[], Carried] | None = None
        self.squared: Carried | None = None
        self.averaged: Carried | None = None
        self.records = False
        self.compared = compared

    # What functions read.

    @property
    def shape(self) -> tuple[int, ...]:
        """As that of an array of numbers."""
        return tuple(self.x.value.lo.shape[:-1])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of numbers."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Carried]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, at: Any) -> Carried:
        places = at if isinstance(at, tuple) else (at,)
        if any(isinstance(one, Carried) for one in places):
            refuse("picks records by their values, so that their number depends on them")
        plain = [one is None or one is ... or isinstance(one, slice) for one in places]
        if not all(plain) or any(isinstance(one, slice) and one != slice(None) for one in places):
            _need_order(self)
        if not any(one is ... for one in places):
            places = (*places, ...)
        # Behind the places of numbers stand the variables and the boxes.
        return self._moved(
            lambda numbers: numbers[(*places, slice(None))],
            lambda numbers: numbers[(*places, slice(None), slice(None))],
        )

    def _moved(self, values: Any, slopes: Any) -> Carried:
        """Return the numbers in other places."""
        sides = [
            Side(
                Interval(values(one.value.lo), values(one.value.hi)),
                Interval(slopes(one.slope.lo), slopes(one.slope.hi)),
                values(np.broadcast_to(one.decor, one.value.lo.shape)),
            )
            for one in (self.x, self.y, self.d)
        ]
        return Carried(sides[0], sides[1], sides[2], self.ordered, self.compared)


def records(
    x: tuple[NDArray[Any], NDArray[Any]],
    y: tuple[NDArray[Any], NDArray[Any]],
    on_x: Sequence[int],
    on_y: Sequence[int],
    free: NDArray[np.intp],
    ordered: bool,
) -> Carried:
    """Return the records of pairs.

    Parameters
    ----------
    x, y : pair of ndarray, shape (n, boxes)
        The smallest and the largest records.
    on_x, on_y : sequence of n int
        The variable that is each record; common records are the same variable.
    free : ndarray of intp
        The variables that the derivatives are by; none if none are asked for.
    ordered : bool
        Whether they ascend.
    """
    # Axes: the record, the free variable, the box. The derivative of a record by its own variable
    # is 1, by all others 0; a variable without width has no column.
    unit = np.eye(1 + max((*on_x, *on_y, *free), default=0))[:, free, None]
    first, second = (
        Side.of(Interval(*ends), Interval.of(unit[list(places)] + np.zeros(ends[0].shape[-1])))
        for ends, places in ((x, on_x), (y, on_y))
    )
    # A common record is one variable on both sides: its difference is 0, not [lo - hi, hi - lo].
    same = np.array(on_x) == np.array(on_y)
    none = Side.of(*(Interval.of(np.zeros_like(i.lo)) for i in (first.value, first.slope)))
    apart = none.where(same[:, None] & np.ones_like(x[0], dtype=bool), first - second)
    found = Carried(first, second, apart, ordered)
    found.records = True
    return found


def carried(given: Any) -> Carried:
    """Return a number or an array of a caller's, which is the same on both sides."""
    if isinstance(given, Carried):
        return given
    if given is None:
        refuse("computes with or returns None, which is no number")
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse(f"computes with {type(given).__name__}, which is no number")
    if not np.isfinite(numbers).all():
        refuse("computes with a number that is not finite")
    # The last axis is the box, and the one before it, of slopes, the variable. Both have length 1
    # here, and broadcast.
    value = Interval.of(numbers[..., None])
    none = Interval.of(np.zeros((*numbers.shape, 1, 1)))
    nothing, number = Side.of(Interval.of(np.zeros_like(value.lo)), none), Side.of(value, none)
    told = "True" if np.asarray(given).dtype == bool else ""
    return Carried(number, number, nothing, numbers.ndim > 0, told)


def _need_order(*given: Carried) -> None:
    """Raise OrderNeededError where places of records that are in no order mean something."""
    if any(not one.ordered and one.ndim for one in given):
        raise OrderNeededError


def _together(given: Sequence[Any]) -> tuple[Carried, ...]:
    """Return the arguments of an operation; records beside an array need an order."""
    found = tuple(carried(one) for one in given)
    arrays = [one for one in found if one.ndim and one.size > 1]
    if len({one.ordered for one in arrays}) > 1:
        _need_order(*arrays)
    return found


def _ordered(*given: Carried) -> bool:
    return any(one.ordered for one in given)


# Operations of numbers. Each says what it does on a side, and to a difference.


def _add(*given: Any) -> Carried:
    u, v = _together(given)
    if u.compared and v.compared:
        refuse("adds comparisons, which numpy takes for |; write |, or astype(int) before the sum")
    return Carried(u.x + v.x, u.y + v.y, u.d + v.d, _ordered(u, v))


def _subtract(*given: Any) -> Carried:
    u, v = _together(given)
    if v.averaged is u and u.ndim == 1:
        return _deviations(u)
    return Carried(u.x - v.x, u.y - v.y, u.d - v.d, _ordered(u, v))


def _multiply(*given: Any) -> Carried:
    if given[0] is given[1]:
        return _square(given[0])
    u, v = _together(given)
    # ux vx - uy vy = ux (vx - vy) + vy (ux - uy), and the same with x and y exchanged: both hold.
    d = (u.x * v.d + v.y * u.d).cut(u.y * v.d + v.x * u.d)
    return Carried(u.x * v.x, u.y * v.y, d, _ordered(u, v), u.compared and v.compared)


def _divide(*given: Any) -> Carried:
    u, v = _together(given)
    for one, by in ((u.x, v.x), (u.y, v.y)):
        _noted("divides by 0", _quotient(one.value, by.value))
    x, y = u.x / v.x, u.y / v.y
    # ux / vx - uy / vy = (ux - uy - (uy / vy)(vx - vy)) / vx, and with x and y exchanged.
    d = ((u.d - y * v.d) / v.x).cut((u.d - x * v.d) / v.y)
    return Carried(x, y, d, _ordered(u, v))


def _negative(u: Carried) -> Carried:
    return Carried(-u.x, -u.y, -u.d, u.ordered, u.compared)


def _square(u: Any) -> Carried:
    u = carried(u)
    x, y = (side.by(side.value.square(), side.value + side.value) for side in (u.x, u.y))
    found = Carried(x, y, (u.x + u.y) * u.d, u.ordered)
    found.squared = u
    return found


def _sqrt(u: Any) -> Carried:
    u = carried(u)
    if u.root is not None:
        found: Carried = u.root()
        return found
    x, y = (
        side.by(root, _half(root), _noted("takes the sqrt of numbers below 0", _from_0(side.value)))
        for side in (u.x, u.y)
        for root in (side.value.sqrt(),)
    )
    # a - b = (a**2 - b**2) / (a + b) needs no slope of the root, which is infinite at 0.
    d = u.d / (x + y)
    # A root moves no further than the root of the difference.
    far = u.d.value.absolute().sqrt().hi
    return Carried(x, y, Side(d.value.cut(Interval(-far, far)), d.slope, d.decor), u.ordered)


def _half(root: Interval) -> Interval:
    """Return the derivative of a root: 1 / 2 of its reciprocal."""
    return (root + root).reciprocal()


# Where functions are defined: what their decorations are on an interval.


def _everywhere(i: Interval) -> Decor:
    return np.full(i.lo.shape, CONTINUOUS, np.int8)


def _from_0(i: Interval) -> Decor:
    return np.where(i.lo >= 0, CONTINUOUS, np.where(i.hi < 0, NAN, UNSURE)).astype(np.int8)


def _above_0(i: Interval) -> Decor:
    below = np.where(i.hi < 0, NAN, np.where(i.hi == 0, NOWHERE, UNSURE))  # numpy's log(0) is -inf
    return np.where(i.lo > 0, CONTINUOUS, below).astype(np.int8)


def _without_0(i: Interval) -> Decor:
    return np.where((i.lo > 0) | (i.hi < 0), CONTINUOUS, UNSURE).astype(np.int8)


def _quotient(of: Interval, by: Interval) -> Decor:
    return np.where(of.is_zero & by.is_zero, np.int8(NAN), _without_0(by))


def _smooth(
    value: Callable[[Interval], Interval],
    first: Callable[[Interval], Interval],
    second: Callable[[Interval], Interval],
    inside: Callable[[Interval], Decor] = _everywhere,
    does: str = "",
) -> Callable[[Any], Carried]:
    """Return a smooth function of numbers, by its values and its first two derivatives.

    Its difference is a derivative between both sides times theirs. That is so where the function is
    defined and continuous on all that lies between them (`inside`), and not only on each.
    """

    def apply(given: Any) -> Carried:
        u = carried(given)
        x, y = (
            side.by(value(side.value), first(side.value), _noted(does, inside(side.value)))
            for side in (u.x, u.y)
        )
        between = u.x.value.hull(u.y.value)
        # The slope of g(ux) - g(uy) is g'(ux) ux' - g'(uy) uy' = g'(ux) d' + (g'(ux) - g'(uy)) uy'.
        slope = lifted(first(u.x.value)) * u.d.slope
        slope = slope + lifted(second(between) * u.d.value) * u.y.slope
        d = Side(first(between) * u.d.value, slope, u.d.decor)
        unknown = Side(_ANY, _ANY, u.d.decor)
        known = (inside(between) == CONTINUOUS) | u.d.value.is_zero  # of one number it is none
        return Carried(x, y, d.where(known, unknown), u.ordered)

    return apply


def _one(i: Interval) -> Interval:
    return Interval.of(np.ones_like(i.lo))


def _of_exp(i: Interval) -> Interval:
    return i.rising(np.exp).at_least(0)


_exp = _smooth(_of_exp, _of_exp, _of_exp)
_expm1 = _smooth(lambda i: i.rising(np.expm1), _of_exp, _of_exp)
_of_log = (lambda i: i.at_least(0).reciprocal(), lambda i: -i.at_least(0).square().reciprocal())
_log = _smooth(
    lambda i: i.at_least(0).rising(np.log),
    *_of_log,
    _above_0,
    "takes the log of numbers that are not above 0",
)


def _tanh_slope(i: Interval) -> Interval:
    return (_one(i) - i.rising(np.tanh).square()).at_least(0)


_tanh = _smooth(
    lambda i: i.rising(np.tanh),
    _tanh_slope,
    lambda i: -(i.rising(np.tanh) * _tanh_slope(i)) * Interval.of(2.0),
)


_sin = _smooth(lambda i: i.sin(), lambda i: i.cos(), lambda i: -i.sin())
_cos = _smooth(lambda i: i.cos(), lambda i: -i.sin(), lambda i: -i.cos())


def _arctan_slope(i: Interval) -> Interval:
    return (_one(i) + i.square()).reciprocal()


_arctan = _smooth(
    lambda i: i.rising(np.arctan),
    _arctan_slope,
    lambda i: -(i + i) * _arctan_slope(i).square(),
)


def _power(of: Any, power: Any) -> Carried:
    base = carried(of)
    if isinstance(power, Carried):
        found = _exp(_multiply(power, _log(base)))
        # A number below 0 has whole powers, too, of which its logarithm tells nothing.
        sure = (base.x.value.lo >= 0) & (base.y.value.lo >= 0)
        every = Side(_ANY, _ANY, np.array(UNSURE, np.int8))
        sides = [one.where(sure, every) for one in (found.x, found.y, found.d)]
        # 0 has powers, and 1 to the power of NaN is 1.
        sides = [replace(one, decor=np.maximum(one.decor, UNSURE)) for one in sides]
        return Carried(sides[0], sides[1], sides[2], found.ordered)
    if np.ndim(power):
        refuse("raises to an array of powers")
    p = float(carried(power).x.value.lo[0])
    if p == 2:
        return _square(base)
    if p == 0.5:
        return _sqrt(base)
    if p == 1:
        return base
    if p == 0:
        return carried(np.ones(base.shape))
    if p % 1 == 0:
        # x**3 has every number, x**-3 all but 0, x**0.5 those from 0 on and x**-0.5 those above 0.
        inside, wrong = (_everywhere, "") if p >= 0 else (_without_0, "0")
    else:
        inside, wrong = (_from_0 if p > 0 else _above_0), "numbers below 0"
    by = Interval.of(p)
    return _smooth(
        lambda i: i.to_power(p),
        lambda i: by * i.to_power(p - 1),
        lambda i: by * Interval.of(p - 1) * i.to_power(p - 2),
        inside,
        wrong and f"takes the power {p:g} of {wrong}",
    )(base)


def _noted(does: str, decor: Decor) -> Decor:
    """Remember the line of what is undefined: it is told where the answer is, too."""
    least = int(decor.min(initial=CONTINUOUS))
    if does and least < _SEEN.least:
        _SEEN.least, _SEEN.undefined = least, f"{does}{callers_line(None)}"
    return decor


def forget() -> None:
    """Begin with another function: nothing was taken where it is not defined."""
    _SEEN.least, _SEEN.undefined = DEFINED, ""


def undefined() -> str:
    """Return what the function did where it is not defined, with its line; "" for nothing."""
    return _SEEN.undefined


class _Seen(threading.local):
    least: int = DEFINED
    undefined: str = ""


_SEEN = _Seen()


def _absolute(given: Any) -> Carried:
    u = carried(given)
    found = _larger(u, _negative(u))
    x, y = (replace(one, value=one.value.at_least(0)) for one in (found.x, found.y))
    return Carried(x, y, found.d, found.ordered)


def _maximum(*given: Any) -> Carried:
    u, v = _together(given)
    return _larger(u, v)


def _minimum(*given: Any) -> Carried:
    u, v = _together(given)
    return _negative(_larger(_negative(u), _negative(v)))


def _larger(u: Carried, v: Carried) -> Carried:
    """Return the larger of two numbers; where a box has both cases, what contains both."""
    u, v = _broadcast(u, v)
    sides, surely = [], []
    for one, other in ((u.x, v.x), (u.y, v.y)):
        # first: all of one is above all of other, in the whole box. Where neither is sure, both
        # slopes can be the derivative, and at the kink what lies between them.
        first, second = one.value.lo >= other.value.hi, other.value.lo >= one.value.hi
        most = Interval(
            np.maximum(one.value.lo, other.value.lo), np.maximum(one.value.hi, other.value.hi)
        )
        either = Side(most, one.slope.hull(other.slope), one.decor)
        larger = one.where(first, other.where(second, either))
        sides.append(Side(larger.value, larger.slope, one.least(other)))  # NaN beside it is NaN
        surely.append((first, second))
    x, y = sides
    # The larger of two numbers moves by what lies between the moves of both.
    both = Side(u.d.value.hull(v.d.value), (x - y).slope, u.d.decor)
    # The difference of one argument counts only if it is the larger one on x and on y.
    first, second = (surely[0][at] & surely[1][at] for at in (0, 1))
    d = u.d.where(first, v.d.where(second, both))
    return Carried(x, y, d, _ordered(u, v), u.compared and v.compared)


def _broadcast(u: Carried, v: Carried) -> tuple[Carried, Carried]:
    """Return two arrays in one shape."""
    values = np.broadcast_shapes(u.x.value.lo.shape, v.x.value.lo.shape)
    slopes = np.broadcast_shapes(u.x.slope.lo.shape, v.x.slope.lo.shape)
    first, second = (
        one._moved(
            lambda numbers: np.broadcast_to(numbers, values),
            lambda numbers: np.broadcast_to(numbers, slopes),
        )
        for one in (u, v)
    )
    return first, second


# Comparisons are 0 or 1, or in a box with both cases anything between.


def _truth_of(strict: bool, told: str) -> Callable[[Any, Any], Carried]:
    def compare(left: Any, right: Any) -> Carried:
        u = _subtract(left, right)
        sides = []
        for one in (u.x, u.y):
            # u > 0 is sure from lo > 0 on, and refuted by hi <= 0; with >= the 0 changes sides.
            yes = one.value.lo > 0 if strict else one.value.lo >= 0
            no = one.value.hi <= 0 if strict else one.value.hi < 0
            # numpy has NaN for what is not defined, and no comparison with NaN is true.
            sure, nan = one.decor >= DEFINED, one.decor == NAN
            sides.append(_truth(one, yes & sure, no & sure | nan))
        apart = sides[0] - sides[1]
        still = Side.of(*(Interval.of(np.zeros_like(i.lo)) for i in (apart.value, apart.slope)))
        # If both sides compare the same number, the two answers agree, although the box has both.
        alike = u.d.value.is_zero & (u.x.least(u.y) >= DEFINED)
        return Carried(sides[0], sides[1], still.where(alike, apart), u.ordered, told)

    return compare


def _truth(like: Side, yes: NDArray[np.bool_], no: NDArray[np.bool_]) -> Side:
    # [1, 1] for yes, [0, 0] for no, [0, 1] for open. A step has every slope, so an open one has
    # (-inf, inf).
    value = Interval(np.where(yes, 1.0, 0.0), np.where(no, 0.0, 1.0))
    jump = np.where((yes | no)[..., None, :], 0.0, np.inf) + np.zeros_like(like.slope.lo)
    decor = np.where(yes | no, CONTINUOUS, DEFINED).astype(np.int8)
    return Side(value, Interval(-jump, jump), decor)


def _flipped(compare: Callable[[Any, Any], Carried]) -> Callable[[Any, Any], Carried]:
    return lambda left, right: compare(right, left)


def _truths(*given: Any) -> list[Carried]:
    """Return comparisons, or refuse other numbers."""
    found = [carried(one) for one in given]
    if not all(one.compared for one in found):
        refuse("takes numbers that are no comparisons for true or false")
    return found


def _not(u: Any) -> Carried:
    found = _subtract(1, *_truths(u))
    found.compared = "~"
    return found


def _and(u: Any, v: Any) -> Carried:
    return _multiply(*_truths(u, v))


def _or(u: Any, v: Any) -> Carried:
    return _not(_and(_not(u), _not(v)))


def _where(test: Any, one: Any, other: Any) -> Carried:
    truth, *parts = _together((test, one, other))
    u, v = _broadcast(*parts)
    u, truth = _broadcast(u, truth)
    v, truth = _broadcast(v, truth)
    sides, surely = [], []
    for told, first, second in ((truth.x, u.x, v.x), (truth.y, u.y, v.y)):
        # NaN is true, so that what is 0 or not defined is both.
        yes = (told.value.lo > 0) | (told.value.hi < 0)
        no = told.value.is_zero & (told.decor >= DEFINED)
        jump = np.full_like(first.slope.lo, np.inf)
        decor = np.minimum(first.least(second), np.int8(DEFINED))
        either = Side(first.value.hull(second.value), Interval(-jump, jump), decor)
        sides.append(first.where(yes, second.where(no, either)))
        surely.append((yes, no))
    x, y = sides
    # Where x and y take the same branch, without it being known which, the difference is that of u
    # or that of v.
    both = x - y
    alike = truth.d.value.is_zero & (truth.x.least(truth.y) >= DEFINED)
    both = Side(
        both.value.where(~alike, both.value.cut(u.d.value.hull(v.d.value))), both.slope, both.decor
    )
    yes, no = (surely[0][at] & surely[1][at] for at in (0, 1))
    return Carried(x, y, u.d.where(yes, v.d.where(no, both)), _ordered(u, v, truth))


# Reductions.


def _sum(u: Any, axis: Any = None, **kept: Any) -> Carried:
    u = carried(u)
    if axis is None and u.squared is not None:
        return _flat_squares(u.squared)
    u, at = _to_axis(u, axis, kept)
    return Carried(u.x.sum(at), u.y.sum(at), u.d.sum(at), u.ordered)


def _to_axis(u: Carried, axis: Any, kept: dict[str, Any]) -> tuple[Carried, int]:
    """Return an array and the axis that goes; without one, all numbers in a row."""
    if kept:
        refuse(f"hands {', '.join(f'{name}=' for name in kept)} to a sum or its like")
    if axis is None:
        return _flat(u), 0
    return u, _whole(axis) % max(1, u.ndim)


def _whole(axis: Any) -> int:
    """Return the number of an axis."""
    if isinstance(axis, Carried) or not isinstance(axis, (int, np.integer)):
        refuse(f"sums along axis={axis!r}; one axis is followed")
    return int(axis)


def _flat(u: Carried) -> Carried:
    if u.ndim == 1:
        return u
    return u._moved(
        lambda numbers: numbers.reshape(u.size, numbers.shape[-1]),
        lambda numbers: numbers.reshape(u.size, *numbers.shape[-2:]),
    )


def _count(u: Carried, axis: Any) -> int:
    return u.size if axis is None else u.shape[axis]


def _mean(given: Any, axis: Any = None, **kept: Any) -> Carried:
    u = carried(given)
    found = _divide(_sum(u, axis, **kept), _count(u, axis))
    found.averaged = u if axis is None else None
    return found


def _flat_squares(c: Carried, base: Carried | None = None, most: float = 1.0) -> Carried:
    """Return the sum of squares, which knows its root.

    Parameters
    ----------
    c : Carried, shape (n,)
        What is squared.
    base : Carried, optional
        Numbers whose slopes stand for those of c: where c are the deviations from the mean of
        base, a sum weighted by deviations does not see the mean.
    most : float
        No part of a vector c is a larger share of its length.
    """
    c = _flat(c)
    base = c if base is None else _flat(base)
    sides = []
    for one, other in ((c.x, base.x), (c.y, base.y)):
        # The derivative of sum c_i**2 is sum 2 c_i c_i'. Deviations add up to 0, so sum c_i base_i'
        # is the same number, without the derivative of the mean.
        slope = (lifted(one.value + one.value) * other.slope).sum(0)
        decor = one.decor.min(axis=0, initial=CONTINUOUS)
        sides.append(Side(one.value.square().sum(0), slope, decor))
    # a**2 - b**2 = (a + b)(a - b), number by number. This is the rule for squared deviations in
    # docs/proofs.md, "Carried differences".
    d = ((c.x + c.y) * base.d).sum(0)
    found = Carried(sides[0], sides[1], d, ordered=False)
    found.root = lambda: _length(c, base, found, most)
    return found


def _length(c: Carried, base: Carried, squares: Carried, most: float) -> Carried:
    """Return the root of a sum of squares: no record moves it by more than it is moved."""
    cap = Interval(np.array(-most), np.array(most))
    sides = []
    for one, other, square in ((c.x, base.x, squares.x), (c.y, base.y, squares.y)):
        root = square.value.sqrt()
        # c_i over the length is the derivative of the length by c_i. It is at most `most` in size,
        # also where the length is 0 and the quotient says nothing.
        share = (one.value / root).cut(cap)
        sides.append(Side(root, (lifted(share) * other.slope).sum(0), square.decor))
    x, y = sides
    d = squares.d / (x + y)
    # Triangle inequality: the lengths of two vectors differ by at most the length of their
    # difference.
    far = c.d.value.square().sum(0).sqrt().hi
    return Carried(x, y, Side(d.value.cut(Interval(-far, far)), d.slope, d.decor), ordered=False)


def _deviations(u: Carried) -> Carried:
    """Return how far numbers are from their mean, as one sum of each: (1 - 1/n) u_i - rest / n."""
    size = len(u)
    # table[i, j] is the weight of u_j in the deviation of u_i. As one sum, u_i occurs once: u_i
    # less the mean would have it twice, and be wider.
    own = np.eye(size, dtype=bool)[..., None]
    weights = Interval.of(np.float64(1)) / Interval.of(np.float64(size))
    others = -weights
    table = (Interval.of(1.0) - weights).where(own, others)
    sides = [one[None].weighted(table).sum(1) for one in (u.x, u.y, u.d)]
    return Carried(sides[0], sides[1], sides[2], u.ordered)


def _var(u: Any, axis: Any = None, ddof: Any = 0, **kept: Any) -> Carried:
    u, _ = _to_axis(_one_axis(carried(u), axis), None, kept)
    size = len(u)
    if isinstance(ddof, Carried) or size - ddof <= 0:
        refuse(f"divides by {size} - {ddof} records")
    # One deviation is at most sqrt((n - 1) / n) of the length: (n - 1, -1, ..., -1) has that share.
    # 1e-15 covers the rounding of this number.
    squares = _flat_squares(_deviations(u), u, math.sqrt((size - 1) / size) + 1e-15)
    found = _divide(squares, size - ddof)
    # np.std asks for the root. It is that of the squares over that of the number: `_length` bounds
    # the former by what each record moves it.
    found.root = lambda: _divide(_sqrt(squares), _sqrt(size - ddof))
    return found


def _one_axis(u: Carried, axis: Any) -> Carried:
    if axis is not None and u.ndim > 1:
        refuse("takes a variance along one of several axes")
    return u


def _prod(u: Any, axis: Any = None, **kept: Any) -> Carried:
    if axis is None and carried(u).size == 0:
        return carried(1)
    return _folded(_multiply, u, axis, kept)


def _max(given: Any, axis: Any = None, **kept: Any) -> Carried:
    u, at = _to_axis(carried(given), axis, kept)
    if u.records and u.ordered:
        return u[-1]
    return _placed(u)[-1] if at == 0 and u.ndim == 1 else _folded(_maximum, u, at, {})


def _min(given: Any, axis: Any = None, **kept: Any) -> Carried:
    u = carried(given)
    if u.records and u.ordered:
        return u[0]
    return _negative(_max(_negative(u), axis, **kept))


def _folded(
    operation: Callable[[Any, Any], Carried], given: Any, axis: Any, kept: dict[str, Any]
) -> Carried:
    """Return what an operation of two makes of all numbers along an axis."""
    u, at = _to_axis(carried(given), axis, kept)
    before = (slice(None),) * at
    parts = [u._moved(*[_picked((*before, one))] * 2) for one in range(u.shape[at])]
    return functools.reduce(operation, parts)


def _picked(at: Any) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda numbers: numbers[at]


def ascending(given: Any, axis: Any = -1) -> Carried:
    """Return numbers in ascending order."""
    u = carried(given)
    if u.ndim != 1 or axis not in (-1, 0):
        refuse("sorts along one of several axes")
    if u.records:
        _need_order(u)
        return u
    return _placed(u)


def _placed(u: Carried) -> Carried:
    """Return the numbers in ascending order.

    The i-th smallest number lies between the i-th smallest lower end and the i-th smallest upper
    end; it moves by no more than some number does, and its slopes are those of a number that can be
    the i-th one. numpy puts NaN last, so that beside what may be undefined it can be any number.
    """
    sides = []
    decors = [one.decor.min(axis=0, initial=CONTINUOUS) for one in (u.x, u.y)]
    for one, decor in zip((u.x, u.y), decors, strict=True):
        low, high = np.sort(one.value.lo, axis=0), np.sort(one.value.hi, axis=0)
        value = Interval(low, high).where(decor >= DEFINED, Interval(low[0], high[-1]))
        # Axes: the place, the number that may stand there, the box.
        can = (one.value.lo[None] <= value.hi[:, None]) & (one.value.hi[None] >= value.lo[:, None])
        can = can[:, :, None]
        slope = Interval(
            np.where(can, one.slope.lo[None], np.inf).min(axis=1, initial=np.inf),
            np.where(can, one.slope.hi[None], -np.inf).max(axis=1, initial=-np.inf),
        )
        decor = np.where(decor >= DEFINED, decor, np.int8(UNSURE))
        sides.append(Side(value, slope, decor + np.zeros_like(one.decor)))
    x, y = sides
    # If every number moves by something in [low, high], so does the i-th smallest one.
    low, high = u.d.value.lo.min(axis=0), u.d.value.hi.max(axis=0)
    d = Side(
        Interval(low + np.zeros_like(x.value.lo), high + np.zeros_like(x.value.lo)).where(
            np.minimum(*decors) >= DEFINED, _ANY
        ),
        (x - y).slope,
        x.decor,
    )
    return Carried(x, y, d, ordered=True, compared=u.compared)


def _percentile(u: Any, q: Any, axis: Any = None, **kept: Any) -> Carried:
    return _quantile(u, np.asarray(q) / 100, axis, **kept)


def _quantile(given: Any, q: Any, axis: Any = None, **kept: Any) -> Carried:
    if kept or isinstance(q, Carried) or np.ndim(q) or not 0 <= float(q) <= 1:
        refuse("takes a percentile other than one number by linear interpolation")
    u = ascending(_flat(_one_axis(carried(given), axis)))
    # numpy's place counts from 0: of 5 numbers the quantile 0.6 is at 2.4, and 0.4 of the way from
    # the third to the fourth.
    place = float(q) * (len(u) - 1)
    first = min(int(place), len(u) - 1)
    if place == first:
        return u[first]
    return _add(u[first], _multiply(place - first, _subtract(u[first + 1], u[first])))


def _median(u: Any, axis: Any = None) -> Carried:
    return _quantile(u, 0.5, axis)


def _diff(u: Any) -> Carried:
    u = carried(u)
    return _subtract(u[1:], u[:-1])


def _cumsum(u: Any, axis: Any = None) -> Carried:
    u = _flat(_one_axis(carried(u), axis))
    _need_order(u)
    below = Interval.of(np.tril(np.ones((len(u), len(u))))[..., None])
    sides = [one[None].weighted(below).sum(1) for one in (u.x, u.y, u.d)]
    return Carried(sides[0], sides[1], sides[2], u.ordered)


def _astype(u: Carried, kind: Any) -> Carried:
    to = np.dtype(kind).kind
    if to != "f" and not (u.compared and to in "biu"):
        refuse(f"turns numbers into {np.dtype(kind)}")
    return Carried(u.x, u.y, u.d, u.ordered, u.compared if to == "b" else "")


_GREATER, _GREATER_EQUAL = _truth_of(True, ">"), _truth_of(False, ">=")

Carried.calls = COMPOSED | {
    "absolute": _absolute,
    "add": _add,
    "amax": _max,
    "amin": _min,
    "arctan": _arctan,
    "astype": _astype,
    "bitwise_and": _and,
    "bitwise_or": _or,
    "cos": _cos,
    "cumsum": _cumsum,
    "diff": _diff,
    "divide": _divide,
    "exp": _exp,
    "expm1": _expm1,
    "fabs": _absolute,
    "flatten": _flat,
    "float_power": _power,
    "greater": _GREATER,
    "greater_equal": _GREATER_EQUAL,
    "invert": _not,
    "less": _flipped(_truth_of(True, "<")),
    "less_equal": _flipped(_truth_of(False, "<=")),
    "log": _log,
    "logical_and": _and,
    "logical_not": _not,
    "logical_or": _or,
    "max": _max,
    "maximum": _maximum,
    "mean": _mean,
    "median": _median,
    "min": _min,
    "minimum": _minimum,
    "multiply": _multiply,
    "ndim": lambda u: u.ndim,
    "negative": _negative,
    "percentile": _percentile,
    "power": _power,
    "prod": _prod,
    "quantile": _quantile,
    "ravel": _flat,
    "shape": lambda u: u.shape,
    "sin": _sin,
    "size": lambda u: u.size,
    "sort": ascending,
    "sqrt": _sqrt,
    "square": _square,
    "subtract": _subtract,
    "sum": _sum,
    "tanh": _tanh,
    "var": _var,
    "where": _where,
}
Carried.methods = (
    *("sum", "mean", "var", "std", "max", "min", "prod", "clip", "dot", "cumsum"),
    *("copy", "astype", "ravel", "flatten", "ptp"),
)
