"""Check the boxes of certified bounds again: a program of its own, which needs numpy alone.

It shares no code with the search. Where its own bound of a box is not low enough, it splits the box
further: every box is shown to be below the bound by what stands here, or an error names one.

An interval is a pair (lo, hi) of arrays. A jet is an interval whose axes end with (1 + variables,
boxes): row 0 is a number, the others are its derivatives. `Pairs` has the jets of numbers on x, on
y, and of their differences x - y, and stands for an array of records. `known` says what is known of
the numbers on x, and on y, axes (..., 1, boxes): 3 defined and continuous in the whole box, 2
defined, 1 perhaps not, -1 NaN. Derivatives count where it is 3, differences where both are defined.
"""

import math

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

EVERY = np.array(-np.inf), np.array(np.inf)
TOGETHER, MOST = 512, 400_000


class NotShownError(Exception):
    """A box is not shown to be below the bound."""


def widen(lo, hi, exact=False):
    return np.where(exact, lo, np.nextafter(lo, -np.inf)), np.where(
        exact, hi, np.nextafter(hi, np.inf)
    )


def number(x):
    return np.array(float(x)), np.array(float(x))


def zero(a):
    return (a[0] == 0) & (a[1] == 0)


def below(a, b):
    """a + b, rounded down: what two floats lose when they are added is a float, too."""
    # The two brackets are what a and b lose in s; their sum has the sign of the rounding error. An
    # s that was rounded up goes down by one float.
    s = a + b
    t = s - a
    return np.where((a - (s - t)) + (b - t) >= 0, s, np.nextafter(s, -np.inf))


def plus(a, b):
    return below(a[0], b[0]), -below(-a[1], -b[1])


def minus(a, b=None):
    return (-a[1], -a[0]) if b is None else plus(a, minus(b))


def times(a, b):
    # inf * 0 counts as 0: an infinite end stands for finite numbers of any size, and these times 0
    # are 0.
    ends = [
        np.nan_to_num(p, nan=0, posinf=np.inf, neginf=-np.inf)
        for p in (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    ]
    lo, hi = widen(np.minimum.reduce(ends), np.maximum.reduce(ends), zero(a) | zero(b))
    # Of two numbers with equal signs no product is below 0, whatever the rounding; of opposite
    # signs none is above.
    alike = ((a[0] >= 0) & (b[0] >= 0)) | ((a[1] <= 0) & (b[1] <= 0))
    other = ((a[0] >= 0) & (b[1] <= 0)) | ((a[1] <= 0) & (b[0] >= 0))
    return np.where(alike, np.maximum(lo, 0), lo), np.where(other, np.minimum(hi, 0), hi)


def inverse(a):
    """1 / a, where 1 / 0 is numpy's inf: from a number, or from minus infinity."""
    # Where a holds 0 inside, or as its upper end, 1 / a has no lower end; where it holds 0 at all,
    # no upper one.
    positive, negative = (a[0] >= 0) & (a[1] > 0), a[1] < 0
    lo, hi = widen(1 / a[1], 1 / a[0])
    lo = np.where(positive, np.maximum(lo, 0), np.where(a[1] < 0, lo, -np.inf))
    hi = np.where(negative, np.minimum(hi, 0), np.where(a[0] > 0, hi, np.inf))
    return lo, hi


def rising(a, function):
    """What rises, and what numpy computes to within eight units in the last place."""
    ends = function(a[0]), function(a[1])
    lo, hi = (np.where(np.isfinite(end), np.abs(end) * 2.0**-49, 0) for end in ends)
    return widen(ends[0] - lo, ends[1] + hi)


def above(a, least=0.0):
    return np.maximum(a[0], least), np.maximum(a[1], least)


def root(a):
    lo, hi = rising(above(a), np.sqrt)
    return np.maximum(lo, 0), np.where(a[1] <= 0, 0.0, hi)


def power(a, p):
    if p <= 0:
        return inverse(power(a, -p)) if p else (np.ones_like(a[0]), np.ones_like(a[1]))
    if p % 2 == 0:
        a = np.maximum(np.maximum(a[0], -a[1]), 0), np.maximum(-a[0], a[1])
    elif p % 1:
        a = above(a)
    lo, hi = rising(a, lambda x: x**p)
    return np.where(a[0] >= 0, np.maximum(lo, 0), lo), np.where(a[1] <= 0, np.minimum(hi, 0), hi)


def cosine(a):
    """Its ends, and 1 or -1 where a multiple of pi may be in between; all where it is wide."""
    ends, wide = [np.cos(end) for end in a], ~(a[1] - a[0] < 3)
    lo, hi = np.minimum(*ends) - 1e-14, np.maximum(*ends) + 1e-14
    # An interval that is shorter than 3 holds at most one multiple of pi, and that is the nearest
    # one to its middle.
    step = np.round((a[0] + a[1]) / 2 / np.pi)  # the multiple that is nearest to the middle
    slack = 1e-9 * (1 + np.abs(a[0]) + np.abs(a[1]))
    wide |= slack > 1  # which multiple it is, is lost to rounding
    near = (a[0] - slack <= step * np.pi) & (step * np.pi <= a[1] + slack)
    lo = np.where(wide | near & (step % 2 == 1), -1.0, np.maximum(lo, -1))
    return lo, np.where(wide | near & (step % 2 == 0), 1.0, np.minimum(hi, 1))


def sine(a):
    return cosine(plus(a, (np.array(-np.pi / 2 - 1e-15), np.array(-np.pi / 2 + 1e-15))))


def meet(a, b):
    # Both contain the same number, so ends that cross are no more than rounding.
    lo, hi = np.fmax(a[0], b[0]), np.fmin(a[1], b[1])
    return lo, np.maximum(lo, hi)


def hull(a, b):
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def pick(chosen, a, b):
    return np.where(chosen, a[0], b[0]), np.where(chosen, a[1], b[1])


def at(a, place):
    return a[0][place], a[1][place]


def total(a, axis=0):
    parts = [np.moveaxis(end, axis, 0) for end in a]
    # Term by term with `plus`: np.sum would round to nearest.
    found = np.zeros(parts[0].shape[1:]), np.zeros(parts[0].shape[1:])
    for one in zip(*parts, strict=True):
        found = plus(found, one)
    return found


def value(j):
    return at(j, (..., slice(0, 1), slice(None)))


def slopes(j):
    return at(j, (..., slice(1, None), slice(None)))


def jet(v, g):
    """A jet of a number and its derivatives, which are brought into one shape."""
    shape = np.broadcast_shapes(v[0].shape[:-2], g[0].shape[:-2])
    ends = [[np.broadcast_to(e, (*shape, *e.shape[-2:])) for e in part] for part in (v, g)]
    # The last axis is the box: a jet that is alike in all boxes has length 1 there.
    size = max(v[0].shape[-1], g[0].shape[-1])
    wide = [[np.broadcast_to(e, (*e.shape[:-1], size)) for e in part] for part in ends]
    return tuple(np.concatenate(both, axis=-2) for both in zip(*wide, strict=True))


def by(a, b):
    return jet(
        times(value(a), value(b)), plus(times(value(a), slopes(b)), times(value(b), slopes(a)))
    )


def over(a, b):
    q, inv = times(value(a), inverse(value(b))), inverse(value(b))
    return jet(q, times(minus(slopes(a), times(q, slopes(b))), inv))


class Pairs(NDArrayOperatorsMixin):
    def __init__(self, x, y, d, known, ascends=False):
        # The carried difference is narrow where common records cancel; x - y holds, too.
        d = meet(d, minus(x, y))
        still = zero(value(d))
        self.jets, self.ascends, self.mean_of = (x, y, pick(still, number(0), d)), ascends, None
        self.known = known

    shape = property(lambda self: self.jets[0][0].shape[:-2])
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def __len__(self):
        return self.shape[0]

    def each(self, change):
        return Pairs(*[tuple(map(change, j)) for j in self.jets], tuple(map(change, self.known)))

    def __getitem__(self, place):
        place = place if isinstance(place, tuple) else (place,)
        dots = () if any(one is ... for one in place) else (...,)
        return self.each(lambda end: end[(*place, *dots, slice(None), slice(None))])

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name):
        if name not in CALLS:
            raise AttributeError(name)
        return lambda *given, **options: CALLS[name](self, *given, **options)

    def __array_ufunc__(self, called, _, *given):
        return CALLS[called.__name__](*given)

    def __array_function__(self, called, _, given, options):
        return CALLS[called.__name__](*given, **options)


def pairs(*given):
    """Numbers as pairs that are alike on both sides, with as many derivatives as the others."""
    rows = next(one.jets[0][0].shape[-2] for one in given if isinstance(one, Pairs))
    found = []
    for one in given:
        if not isinstance(one, Pairs):
            # The column (1, 0, ..., 0): row 0 has the number, and all derivatives are 0.
            side = np.asarray(one, dtype=float)[..., None, None] * np.eye(rows)[:, :1]
            one = Pairs(
                (side, side), (side, side), (0 * side, 0 * side), (3 + 0 * side[..., :1, :],) * 2
            )
        found.append(one)
    return found


def shaped(*given):
    given = pairs(*given)
    shape = np.broadcast_shapes(*(one.jets[0][0].shape for one in given))
    wide = [one.each(lambda end: np.broadcast_to(end, shape)) for one in given]
    for one in wide:
        one.known = tuple(k[..., :1, :] for k in one.known)
    return wide


def least(*given):
    """What is known of several numbers together."""
    return tuple(np.minimum(*both) for both in zip(*(one.known for one in given), strict=True))


def within(u, test):
    """What is known of a function of u that is defined where a test of intervals says so."""
    return tuple(np.minimum(k, test(value(j))) for k, j in zip(u.known, u.jets[:2], strict=True))


def everywhere(a):
    return np.full(a[0].shape, 3)


def from_0(a):
    return np.where(a[0] >= 0, 3, np.where(a[1] < 0, -1, 1))


def above_0(a):
    return np.where(a[0] > 0, 3, np.where(a[1] < 0, -1, 1))


def not_0(a):
    return np.where((a[0] > 0) | (a[1] < 0), 3, 1)


def add(u, v):
    u, v = pairs(u, v)
    return Pairs(*map(plus, u.jets, v.jets), least(u, v))


def subtract(u, v):
    if isinstance(v, Pairs) and v.mean_of is u and u.ndim == 1:
        return deviations(u)
    u, v = pairs(u, v)
    return Pairs(*map(minus, u.jets, v.jets), least(u, v))


def deviations(u):
    """u less its mean, each as one sum: own share 1 - 1/n, the others -1/n."""
    share = inverse(number(len(u)))
    own = np.eye(len(u), dtype=bool)[..., None, None]
    table = pick(own, minus(number(1), share), minus(share))
    known = tuple(np.min(k, axis=0) + 0 * k for k in u.known)
    return Pairs(*[total(times(at(j, None), table), 1) for j in u.jets], known)


def multiply(u, v):
    if u is v:
        return to(u, 2)
    u, v = pairs(u, v)
    (ux, uy, ud), (vx, vy, vd) = u.jets, v.jets
    # ux vx - uy vy = ux (vx - vy) + vy (ux - uy), and the same with x and y exchanged.
    d = meet(plus(by(ux, vd), by(vy, ud)), plus(by(uy, vd), by(vx, ud)))
    return Pairs(by(ux, vx), by(uy, vy), d, least(u, v))


def divide(u, v):
    u, v = pairs(u, v)
    (ux, uy, ud), (vx, vy, vd) = u.jets, v.jets
    x, y = over(ux, vx), over(uy, vy)
    # ux / vx - uy / vy = (ux - uy - (uy / vy)(vx - vy)) / vx, and the same with x and y exchanged.
    d = meet(over(minus(ud, by(y, vd)), vx), over(minus(ud, by(x, vd)), vy))
    nan = [zero(value(a)) & zero(value(b)) for a, b in ((ux, vx), (uy, vy))]
    known = [np.minimum(*both) for both in zip(u.known, within(v, not_0), strict=True)]
    return Pairs(x, y, d, tuple(np.where(*one) for one in zip(nan, (-1, -1), known, strict=True)))


def smooth(f, first, second, test=everywhere):
    """A function by its values and two derivatives: f(x) - f(y) is f' between times x - y.

    That is so where it is defined and continuous on all that is between x and y.
    """

    def apply(u):
        x, y, d = u.jets
        sides = [jet(f(value(j)), times(first(value(j)), slopes(j))) for j in (x, y)]
        # The slope of f(x) - f(y) is f'(x) d' + (f'(x) - f'(y)) y', and the last bracket f'' times
        # d.
        between = hull(value(x), value(y))
        bend = times(times(second(between), value(d)), slopes(y))
        slope = plus(times(first(value(x)), slopes(d)), bend)
        apart = jet(times(first(between), value(d)), slope)
        return Pairs(*sides, pick(test(between) == 3, apart, EVERY), within(u, test))

    return apply


def to(u, p):
    if isinstance(p, Pairs):
        p, u = pairs(p, u)
        sure = (value(u.jets[0])[0] >= 0) & (value(u.jets[1])[0] >= 0)  # else whole powers count
        found = exp(multiply(p, log(u)))
        known = (np.where(sure, np.maximum(k, 1), 1) for k in found.known)  # 0 has powers, 1 all
        return Pairs(*[pick(sure, j, EVERY) for j in found.jets], tuple(known))
    if p in (0, 0.5):
        return sqrt(u) if p else pairs(u, np.ones(u.shape))[1]
    whole, part = (everywhere, from_0) if p > 0 else (not_0, above_0)
    f = smooth(lambda a: power(a, p), lambda a: times(number(p), power(a, p - 1)),
               lambda a: times(number(p * (p - 1)), power(a, p - 2)),
               part if p % 1 else whole)  # fmt: skip
    x, y, d = u.jets
    return f(u) if p != 2 else Pairs(*f(u).jets[:2], by(plus(x, y), d), u.known)


def sqrt(u):
    x, y, d = u.jets
    roots = [root(value(j)) for j in (x, y)]
    sides = [
        jet(r, times(inverse(plus(r, r)), slopes(j))) for r, j in zip(roots, (x, y), strict=True)
    ]
    return no_further(sides, d, root(power(power(value(d), 2), 0.5))[1], within(u, from_0))


def no_further(sides, squared, far, known):
    """Roots, whose difference is that of the squares over their sum, and at most `far`."""
    # a - b = (a**2 - b**2) / (a + b).
    apart = over(squared, plus(*sides))
    return Pairs(*sides, jet(meet(value(apart), (-far, far)), slopes(apart)), known)


def squares(c, u):
    """The sum of squares of c; the slopes of u stand for those of c, if c are its deviations."""
    sides = [jet(total(power(value(j), 2)), total(times(plus(value(j), value(j)), slopes(k))))
             for j, k in zip(c.jets[:2], u.jets[:2], strict=True)]  # fmt: skip
    known = tuple(np.min(k, axis=0, initial=3) for k in c.known)
    return Pairs(*sides, total(by(plus(*c.jets[:2]), u.jets[2])), known)


def length(c, u):
    """The root of the sum of squares: no number is a larger share of it than 1."""
    sides, square = [], squares(c, u)
    for j, k, s in zip(c.jets[:2], u.jets[:2], square.jets[:2], strict=True):
        share = meet(times(value(j), inverse(root(value(s)))), (np.array(-1.0), np.array(1.0)))
        sides.append(jet(root(value(s)), total(times(share, slopes(k)))))
    far = root(total(power(value(c.jets[2]), 2)))[1]
    return no_further(sides, square.jets[2], far, square.known)


def flat(u):
    return u if u.ndim == 1 else u.each(lambda end: end.reshape(u.size, *end.shape[-2:]))


def along(u, axis):
    return (flat(u), 0) if axis is None else (u, axis % u.ndim)


def sum_(u, axis=None):
    u, k = along(u, axis)
    return Pairs(*[total(j, k) for j in u.jets], tuple(np.min(d, k, initial=3) for d in u.known))


def mean(u, axis=None):
    found = divide(sum_(u, axis), u.size if axis is None else u.shape[axis])
    found.mean_of = u if axis is None else None
    return found


def average(u, axis=None, weights=None):
    return mean(u) if weights is None else divide(sum_(multiply(u, weights)), np.sum(weights))


def var(u, axis=None, ddof=0):
    return divide(squares(deviations(u), u), len(u) - ddof)


def std(u, axis=None, ddof=0):
    return divide(length(deviations(u), u), (len(u) - ddof) ** 0.5)


def norm(u, ord=None):
    return length(u, u) if ord in (None, 2) else sum_(abs(u)) if ord == 1 else largest(abs(u))


def negative(u):
    return Pairs(*map(minus, u.jets), u.known)


def maximum(u, v):
    u, v = shaped(u, v)
    sides, sure = [], []
    for a, b in zip(u.jets[:2], v.jets[:2], strict=True):
        # first: a is surely the larger one in the box, second: b is. Else both slopes may count.
        first, second = value(a)[0] >= value(b)[1], value(b)[0] >= value(a)[1]
        most = np.maximum(value(a)[0], value(b)[0]), np.maximum(value(a)[1], value(b)[1])
        sides.append(pick(first, a, pick(second, b, jet(most, hull(slopes(a), slopes(b))))))
        sure.append((first, second))
    (x, y), (c, d) = sides, (u.jets[2], v.jets[2])
    apart = jet(hull(value(c), value(d)), slopes(minus(x, y)))
    d = pick(sure[0][0] & sure[1][0], c, pick(sure[0][1] & sure[1][1], d, apart))
    return Pairs(x, y, d, least(u, v))


def absolute(u):
    found = maximum(u, negative(u))
    (x, y, d), known = found.jets, found.known
    return Pairs(jet(above(value(x)), slopes(x)), jet(above(value(y)), slopes(y)), d, known)


def minimum(u, v):
    u, v = pairs(u, v)
    return negative(maximum(negative(u), negative(v)))


def folded(operation):
    def apply(u, axis=None):
        u, k = along(u, axis)
        if u.size == 0:
            return pairs(u, 1)[1]  # the product of nothing
        found, *rest = (u[(slice(None),) * k + (i,)] for i in range(u.shape[k]))
        for one in rest:
            found = operation(found, one)
        return found

    return apply


largest, smallest = folded(maximum), folded(minimum)


def stacked(row):
    jets, known = zip(*((one.jets, one.known) for one in row), strict=True)
    return Pairs(*[tuple(map(np.stack, zip(*(j[i] for j in jets), strict=True)))
                   for i in range(3)], tuple(map(np.stack, zip(*known, strict=True))))  # fmt: skip


def sort(u, axis=-1):
    """Records as they ascend; other numbers by exchanging neighbors. NaN would come last."""
    row = list(u)
    # After a turn the largest of the first last + 1 numbers stands at the place `last`.
    for last in range(0 if u.ascends else len(row) - 1, 0, -1):
        for i in range(last):
            row[i], row[i + 1] = minimum(row[i], row[i + 1]), maximum(row[i], row[i + 1])
    found = stacked(row)
    nan = np.minimum.reduce([*found.known[0], *found.known[1]]) < 2
    jets = [pick(nan, EVERY, j) for j in found.jets]
    return Pairs(*jets, tuple(np.where(nan, 1, k) for k in found.known), u.ascends)


def quantile(u, q, axis=None):
    u = sort(flat(u) if u.ndim > 1 else u)
    place = float(q) * (len(u) - 1)
    i = min(int(place), len(u) - 1)
    return u[i] if place == i else add(u[i], multiply(place - i, subtract(u[i + 1], u[i])))


def clip(u, low=None, high=None, **ends):
    low, high = ends.get("min", ends.get("a_min", low)), ends.get("max", ends.get("a_max", high))
    u = u if low is None else maximum(u, low)
    return u if high is None else minimum(u, high)


def where(test, u, v):
    """One number or the other; where a box has both cases, the slopes are unknown."""
    test, u, v = shaped(test, u, v)
    sides, sure, known = [], [], []
    for i in (0, 1):
        t, a, b = (one.jets[i] for one in (test, u, v))
        yes, no = (value(t)[0] > 0) | (value(t)[1] < 0), zero(value(t)) & (test.known[i] >= 2)
        any_ = np.full_like(slopes(a)[0], np.inf)
        either = jet(hull(value(a), value(b)), (-any_, any_))
        sides.append(pick(yes, a, pick(no, b, either)))
        sure.append((yes, no))
        both = np.minimum(np.minimum(u.known[i], v.known[i]), 2)
        known.append(np.where(yes, u.known[i], np.where(no, v.known[i], both)))
    (x, y), (c, d), apart = sides, (u.jets[2], v.jets[2]), minus(*sides)
    # Where x and y surely take the same branch, the difference is that of u or that of v.
    alike = jet(meet(value(apart), hull(value(c), value(d))), slopes(apart))
    same = zero(value(test.jets[2])) & (np.minimum(*test.known) >= 2)
    apart = pick(same, alike, apart)
    d = pick(sure[0][0] & sure[1][0], c, pick(sure[0][1] & sure[1][1], d, apart))
    return Pairs(x, y, d, tuple(known))


def compared(strict, sign):
    def apply(u, v):
        w = subtract(u, v) if sign > 0 else subtract(v, u)
        sides, known = [], []
        for j, k in zip(w.jets[:2], w.known, strict=True):
            lo, hi = value(j)
            yes, no = (lo > 0, hi <= 0) if strict else (lo >= 0, hi < 0)
            yes, no = yes & (k >= 2), no & (k >= 2) | (k == -1)  # no comparison with NaN is true
            jump = np.where(yes | no, 0.0, np.inf) + np.zeros_like(slopes(j)[0])
            sides.append(jet((np.where(yes, 1.0, 0.0), np.where(no, 0.0, 1.0)), (-jump, jump)))
            known.append(np.where(yes | no, 3, 2))
        same = zero(value(w.jets[2])) & (np.minimum(*w.known) >= 2)
        return Pairs(*sides, pick(same, number(0), minus(*sides)), tuple(known))

    return apply


def either(u, v):
    return subtract(add(u, v), multiply(u, v))


exp = smooth(*[lambda a: above(rising(a, np.exp))] * 3)
log = smooth(lambda a: rising(above(a), np.log), lambda a: inverse(above(a)),
             lambda a: minus(inverse(power(above(a), 2))), above_0)  # fmt: skip
sin = smooth(sine, cosine, lambda a: minus(sine(a)))
cos = smooth(cosine, lambda a: minus(sine(a)), lambda a: minus(cosine(a)))
turn = lambda a: inverse(plus(number(1), power(a, 2)))  # noqa: E731 - the slope of arctan
arctan = smooth(lambda a: rising(a, np.arctan), turn,
                lambda a: minus(times(plus(a, a), power(turn(a), 2))))  # fmt: skip
CALLS = dict(
    sin=sin, cos=cos, arctan=arctan,
    add=add, subtract=subtract, multiply=multiply, divide=divide, negative=negative, exp=exp,
    power=to, float_power=to, square=lambda u: to(u, 2), sqrt=sqrt, log=log,
    expm1=lambda u: subtract(exp(u), 1), log1p=lambda u: log(add(u, 1)),
    log2=lambda u: divide(log(u), math.log(2)), log10=lambda u: divide(log(u), math.log(10)),
    tanh=lambda u: subtract(1, divide(2, add(exp(multiply(2, u)), 1))), positive=lambda u: u,
    reciprocal=lambda u: divide(1, u), absolute=absolute, fabs=absolute,
    maximum=maximum, minimum=minimum, greater=compared(True, 1),
    greater_equal=compared(False, 1), less=compared(True, -1), less_equal=compared(False, -1),
    logical_not=lambda u: subtract(1, u), invert=lambda u: subtract(1, u), logical_and=multiply,
    bitwise_and=multiply, logical_or=either, bitwise_or=either, sum=sum_, mean=mean, std=std,
    average=average, var=var,
    norm=norm, max=largest, amax=largest, min=smallest, amin=smallest, clip=clip, where=where,
    ptp=lambda u: subtract(largest(u), smallest(u)), prod=folded(multiply), sort=sort,
    median=lambda u, axis=None: quantile(u, 0.5), quantile=quantile, astype=lambda u, *_, **__: u,
    percentile=lambda u, q, axis=None: quantile(u, q / 100), count_nonzero=sum_, copy=lambda u: u,
    dot=lambda u, v: sum_(multiply(u, v)), inner=lambda u, v: sum_(multiply(u, v)),
    matmul=lambda u, v: sum_(multiply(u, v)), diff=lambda u: subtract(u[1:], u[:-1]), ravel=flat,
    cumsum=lambda u, axis=None: stacked([sum_(u[: i + 1]) for i in range(len(u))]), flatten=flat,
)  # fmt: skip


def difference(function, given, lo, hi, rows):
    """The jet of f(x) - f(y), times the sign, in boxes of shape (variables, boxes)."""
    unit = np.eye(len(lo), rows)[..., None] + np.zeros(lo.shape[1])
    every = jet((lo[:, None], hi[:, None]), (unit, unit))

    def answer(x, y):
        first, second = at(every, x), at(every, y)
        same = (np.array(x) == np.array(y))[:, None, None]
        d = pick(same, number(0), minus(first, second))
        known, shape = (3 + np.zeros_like(value(d)[0]),) * 2, (rows + 1, lo.shape[1])
        z = Pairs(first, second, d, known, given["runs"] == [[0, len(lo)]])
        found = pairs(z, function(z))[1]
        smooth_ = (np.minimum(*found.known) == 3).reshape(1, -1)
        jets = [tuple(end.reshape(rows + 1, -1) for end in j) for j in found.jets]
        jets = [jet(value(j), pick(smooth_, slopes(j), EVERY)) for j in jets]
        return [tuple(np.broadcast_to(end, shape) for end in j) for j in jets]

    x, y = given["on_x"], given["on_y"]
    found = answer(x, y)[2] if len(x) == len(y) else minus(answer(x, x)[0], answer(y, y)[0])
    return found if given["sign"] > 0 else minus(found)


def not_below_0(given, middle, lo, hi):
    """What is not below 0 on pairs, and may be added: its values and slopes in a box."""
    steps = np.zeros((len(lo) + 1, lo.shape[1]))  # along a run m (z[j] - z[i]), where it cancels
    for start, end in given["runs"]:
        for i, j in [(j - k, j) for k in range(1, end - start) for j in range(start + k, end)]:
            # The step m (z[j] - z[i]) is the sum of m (z[s] - z[s - 1]) for s from i + 1 to j:
            # `steps` counts these. Near pairs come first. An i that is never above j needs no step.
            m = np.maximum(np.minimum(middle[i], -middle[j]) * (hi[i] > lo[j]), 0)
            middle[i], middle[j] = middle[i] - m, middle[j] + m
            steps[i + 1 : j + 1] += m
    along_ = minus((steps[:-1], steps[:-1]), (steps[1:], steps[1:]))
    return lambda z: (total(times(along_, z)), along_)


def bound(function, given, lo, hi):
    """The most that the difference can be in boxes, and how far each variable moves it."""
    rows = len(lo)
    first = difference(function, given, lo, hi, rows)
    more = not_below_0(given, np.nan_to_num((first[0] + first[1])[1:] / 2), lo, hi)
    slope = plus(slopes(first), more((lo, hi))[1])
    # A variable that only rises stands at its upper end, one that only falls at its lower end.
    low, high = np.where(slope[0] >= 0, hi, lo), np.where((slope[1] <= 0) & (slope[0] < 0), lo, hi)
    second, extra = difference(function, given, low, high, rows), more((low, high))
    slope = plus(slopes(second), extra[1])
    best = np.minimum(first[1][0], plus(at(second, 0), extra[0])[1])
    # The point with the smallest upper end: with slopes in [-1, 3] it is 3/4 of the way up.
    share = np.nan_to_num(slope[1] / (slope[1] - slope[0]), nan=0.5, posinf=0.5, neginf=0.5)
    point = np.clip(low + np.clip(share, 0, 1) * (high - low), low, high)
    there, here = difference(function, given, point, point, 0), (point, point)
    reach = hull(minus((low, low), here), minus((high, high), here))
    far = plus(plus(at(there, 0), more(here)[0]), total(times(slope, reach)))
    sizes = np.nan_to_num(np.maximum(np.abs(slope[0]), np.abs(slope[1])), posinf=1e6) + 1e-12
    return np.fmin(best, far[1]), sizes * (high - low)


def part(given, lo, hi, axis, low, high):
    """A part of a box without what is no pair; None if nothing is left."""
    lo, hi = lo.copy(), hi.copy()
    lo[axis], hi[axis] = low, high
    # Records of a run ascend: each is at least the lower ends before it, and at most the upper ends
    # after it.
    for start, end in given["runs"]:
        lo[start:end] = np.maximum.accumulate(lo[start:end])
        hi[start:end] = np.minimum.accumulate(hi[start:end][::-1])[::-1]
    return (lo, hi) if (lo <= hi).all() else None


def leaves(given):
    """The boxes that are left when a root is split as the certificate says."""
    # Splits stand in the order of the search, a box before its parts. Each split takes one box out
    # and puts two in that cover it, but for points that are no pairs.
    boxes = {0: (np.array(given["lower"]), np.array(given["upper"]))}
    for node, axis, cut, first in given["splits"]:
        lo, hi = boxes.pop(node, None) or (None, None)
        if lo is None:
            continue  # a part of what is no pair
        if not lo[axis] <= cut <= hi[axis]:
            raise NotShownError(f"a cut of variable {axis} at {cut} is outside of its box")
        if first in boxes or first + 1 in boxes:
            raise NotShownError(f"the number {first} or {first + 1} is that of another box")
        boxes[first] = part(given, lo, hi, axis, lo[axis], cut)
        boxes[first + 1] = part(given, lo, hi, axis, cut, hi[axis])
    return [box for box in boxes.values() if box is not None]


@np.errstate(all="ignore")
def check(function, certificate):
    """Show that f(x) - f(y) is at most the certificate's `upper` in every box, or raise.

    Returns the number of boxes that were bounded, with those that were split here.
    """
    upper, done = certificate["upper"], 0
    for given in certificate["roots"]:
        rest = leaves(given)
        while rest:
            some, rest = rest[-TOGETHER:], rest[:-TOGETHER]
            lo, hi = (np.stack(ends, axis=1) for ends in zip(*some, strict=True))
            most, sizes = bound(function, given, lo, hi)
            done += len(some)
            # ~(most <= upper) and not most > upper: a bound that is NaN shows nothing.
            for i in np.flatnonzero(~(most <= upper)):
                k = int(np.argmax(sizes[:, i]))
                low, high = lo[k, i], hi[k, i]
                cut = low + (high - low) / 2
                if done > MOST or not low < cut < high:
                    raise NotShownError(f"a box has a bound of {most[i]}, above {upper}")
                halves = [part(given, lo[:, i], hi[:, i], k, *ends)
                          for ends in ((low, cut), (cut, high))]  # fmt: skip
                rest += [box for box in halves if box is not None]
    return done
