"""Functions of a few sums over their records: as many variables for any number of records.

A *form* says by which variables the sums of a group of records are told, so that these run over all
sums that are possible for a distribution of records, and no others. See docs/proofs.md, "Few sums".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb
from typing import Any

import numpy as np

from .box_search import Root
from .carried import CONTINUOUS, DEFINED, Side, carried, records
from .float_intervals import Floats, Interval
from .reading_functions import RECORD, Atom, Monomial, N, NotOfSumsError, Poly, read

_PIECES = 8192
"""An interval of records is cut into so many pieces, to see what a function of one is on it."""

_MOST_MOMENTS, _MOST_POINTS = 4, 3
"""The largest power, and the most records that a point of a hull is between."""

_DISTINCT, _DISTINCT_OWN = 3, 2
"""The lower bound is that of pairs with so many distinct common records, and own ones of a side."""

_MOST_SHAPES = 200
"""No more changes of sizes have their boxes."""

_CENTRAL = ("mean", "var", "m3", "m4")

Shape = tuple[int, int, int]
"""How many records x and y have in common, and how many own ones x, and y."""

Group = tuple[Any, Sequence[Any]]
"""How many records there are, and their variables; the first one alone is a record's."""


@np.errstate(all="ignore")
def range_of(poly: Poly, lower: float, upper: float) -> tuple[float, float, int]:
    """Return ends around an expression in one record of an interval, and what is known of it."""
    lo, hi = _pieces(lower, upper)
    middle = lo + (hi - lo) / 2
    found, at = (_on_pieces(poly, *ends) for ends in ((lo, hi), (middle, middle)))
    # The mean-value form, where there is one, is the better one of short pieces.
    reach = (Interval.of(lo) - Interval.of(middle)).hull(Interval.of(hi) - Interval.of(middle))
    around = at.value + found.slope * reach
    value = found.value.cut(around.where(found.decor == CONTINUOUS, found.value))
    return float(value.lo.min()), float(value.hi.max()), int(found.decor.min())


def _pieces(lower: float, upper: float) -> tuple[Floats, Floats]:
    cuts = np.linspace(lower, upper, _PIECES + 1)
    cuts[0], cuts[-1] = lower, upper
    return cuts[:-1], cuts[1:]


def _on_pieces(poly: Poly, lo: Floats, hi: Floats) -> Side:
    """Return the values and slopes of an expression in one record, in intervals of it."""
    ends = lo[None], hi[None]
    record = records(ends, ends, (0,), (0,), np.arange(1), ordered=True)[0]
    found, shape = poly.value({"t": record}, carried(1)).x, np.zeros_like(lo)
    value = Interval(found.value.lo + shape, found.value.hi + shape)
    slope = Interval(found.slope.lo[0] + shape, found.slope.hi[0] + shape)
    return Side(value, slope, found.decor + np.zeros(lo.shape, np.int8))


def derivative(poly: Poly) -> Poly:
    """Return the derivative of an expression in one record; NotOfSumsError if it has none."""
    total = Poly(())
    for monomial, factor in poly.terms:
        for place, (atom, power) in enumerate(monomial):
            others = Poly(((monomial[:place] + monomial[place + 1 :], factor * power),))
            total = total + others * _chain(atom, power)
    return total


def _chain(atom: Atom, power: int) -> Poly:
    """Return the derivative of a power of an atom, over the power."""
    itself = Poly.atom(atom, power - 1) if power != 1 else Poly.number(1)
    if atom.key == RECORD.key:
        return itself
    inner = atom.of[0]
    # (h(u)**p)' / p = h(u)**(p - 1) h'(u) u'. The table has all but u': for exp, h' is h; for sqrt,
    # h' / h is 1 / (2 u); for a power q, h' / h is q / u.
    outer = {
        "itself": lambda: itself,
        "exp": lambda: Poly.atom(atom, power),
        "log": lambda: itself * inner.power(-1),
        "sqrt": lambda: Poly.atom(atom, power) * inner.power(-1) * Poly.number(Fraction(1, 2)),
        "power": lambda: Poly.atom(atom, power) * inner.power(-1) * atom.of[1],
    }.get(atom.name)
    if outer is None:
        raise NotOfSumsError(f"has no derivative of {atom.name} that is known")
    return outer() * derivative(inner)


@dataclass(frozen=True)
class Form(ABC):
    """By what a group of records is told.

    Attributes
    ----------
    bases : tuple of Poly
        The functions of one record that are summed, or whose powers are.
    lower, upper : float
        The ends of records.
    """

    bases: tuple[Poly, ...]
    lower: float
    upper: float

    @property
    @abstractmethod
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The ends of a group's variables, the first of which is a record."""

    @property
    def told(self) -> tuple[str, ...]:
        """The sums, as text."""
        return tuple(map(readable, self.bases))

    @property
    def of_records(self) -> Form:
        """The form of groups of equal records, which are told by one."""
        return self

    def rewritten(self, poly: Poly) -> Poly:
        """Return an expression of sums in what the form knows."""
        return poly

    @abstractmethod
    def means(self, variables: Sequence[Any], one: Any) -> list[Any]:
        """Return the means of what is summed in a group, by its variables or the first alone."""

    def known(self, groups: Sequence[Group], one: Any) -> dict[str, Any]:
        """Return the values of an answer's atoms on all groups together: the sums."""
        # A sum over all records is the sum over groups of their counts times their means.
        size, sums = 0 * one, [0 * one] * len(self.bases)
        for count, variables in groups:
            means = self.means(variables, one)
            size, sums = size + count, [u + count * v for u, v in zip(sums, means, strict=True)]
        return {N.key: size, **dict(zip(map(_sum_of, self.bases), sums, strict=True))}

    def at(self, record: Any, one: Any) -> list[Any]:
        """Return the functions' values."""
        return [base.value({"t": record}, one) for base in self.bases]


@dataclass(frozen=True)
class Range(Form):
    """One sum, of a function that may jump: its mean is between the function's ends.

    Attributes
    ----------
    around : tuple of two floats
        No value of the function is outside.
    """

    around: tuple[float, float]

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The mean."""
        return (self.around,)

    @property
    def of_records(self) -> Form:
        """The same sums, told by records."""
        return Hull(self.bases, self.lower, self.upper, 1)

    def means(self, variables: Sequence[Any], one: Any) -> list[Any]:
        """Return the mean."""
        return list(variables)


@dataclass(frozen=True)
class Hull(Form):
    """Sums of any functions of one record: their means are between those at a few records.

    A point of the convex hull of a connected curve of m numbers is between m of its points, and one
    of any curve between m + 1 (Hanner and Radstrom, 1951). The variables are these records, and the
    share of each but the first in what is left.

    Attributes
    ----------
    points : int
        Between how many records means are.
    """

    points: int

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """A record, and then a share and another record, and so on."""
        return ((self.lower, self.upper), *[(0.0, 1.0), (self.lower, self.upper)] * self._more)

    @property
    def _more(self) -> int:
        return self.points - 1

    def means(self, variables: Sequence[Any], one: Any) -> list[Any]:
        """Return what is between the functions' values at records."""
        # From the last record to the first: between two points, then between these and a third one.
        means = self.at(variables[-1], one)
        for place in range(len(variables) - 2, 0, -2):
            before, share = self.at(variables[place - 1], one), variables[place]
            means = [u + share * (v - u) for u, v in zip(before, means, strict=True)]
        return means


@dataclass(frozen=True)
class Curve(Form):
    """Two sums, of which the second is of a convex or concave function of the first one's numbers.

    The variables are a record at which the first function is its mean, and a share: the second mean
    is between that of the record and that on the chord between the ends.
    """

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """A record, and a share."""
        return ((self.lower, self.upper), (0.0, 1.0))

    def means(self, variables: Sequence[Any], one: Any) -> list[Any]:
        """Return the first mean, and the second one between the curve and the chord."""
        record, *share = variables
        first, second = self.at(record, one)
        if share:
            low, high = (self.at(end + 0 * one, one) for end in (self.lower, self.upper))
            # The line through (g_1(L), g_2(L)) and (g_1(U), g_2(U)), read off at the first mean.
            # With the share 0 the point is on the curve, with 1 on the chord.
            chord = low[1] + (first - low[0]) * ((high[1] - low[1]) / (high[0] - low[0]))
            second = (1 - share[0]) * second + share[0] * chord
        return [first, second]


@dataclass(frozen=True)
class Moments(Form):
    """Sums of powers of a function of one record, as its mean and its central moments.

    The variables are a record at which the function is the mean, and the canonical moments p_2,
    p_3, p_4 in [0, 1]: all of these, and no others, are those of a distribution between two ends
    (Dette and Studden, 1997, chapter 1).

    Attributes
    ----------
    degree : int
        The largest power.
    around : tuple of two floats
        No value of the function is outside.
    """

    degree: int
    around: tuple[float, float]

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """A record, and the canonical moments."""
        return ((self.lower, self.upper), *[(0.0, 1.0)] * (self.degree - 1))

    @property
    def told(self) -> tuple[str, ...]:
        """The powers."""
        (text,) = super().told
        text = text if text.isidentifier() else f"({text})"
        return (text, *(f"{text}**{power}" for power in range(2, self.degree + 1)))

    def rewritten(self, poly: Poly) -> Poly:
        """Return an expression of sums of powers in the mean and the central moments.

        The mean of the j-th power is the sum of C(j, i) m_i mean**(j - i), with m_0 = 1, m_1 = 0.
        """
        mean, *rest = (Poly.atom(Atom(name)) for name in _CENTRAL)
        central, by = [Poly.number(1), Poly.number(0), *rest], {}
        for j in range(1, self.degree + 1):
            total = Poly(())
            for i in range(j + 1):
                total += Poly.number(comb(j, i)) * central[i] * mean.power(j - i)
            by[_sum_of(self.bases[0].power(j))] = Poly.atom(N) * total
        return _completed(poly.rewritten(by), self.around)

    def means(self, variables: Sequence[Any], one: Any) -> list[Any]:
        """Return the mean and the central moments of a group; of one record the mean alone."""
        (mean,) = self.at(variables[0], one)
        found, share = [mean], variables[1:]
        if not share:
            return found
        low, high = self.around
        above, below = mean - low, high - mean
        # The largest variance has all records at the two ends: with the mean 1/4 of [0, 1], 3/16.
        # `above` is how far the mean is above the low end, `below` how far below the high end.
        found.append(share[0] * (above * below))
        if self.degree > 2:
            width = one * high - low
            # The step of the orthogonal polynomials' recursion: m3 is v times it.
            step = share[0] * below - above + share[1] * ((1 - share[0]) * width)
            found.append(found[1] * step)
        if self.degree > 3:
            last = width**2 * ((1 - share[0]) * share[1] * (1 - share[1]) * share[2])
            found.append(found[1] * (step**2 + found[1] + last))
        return found

    def known(self, groups: Sequence[Group], one: Any) -> dict[str, Any]:
        """Return the mean and the central moments of all groups together.

        m_j is the sum over groups of their shares times C(j, i) m_i far**(j - i), where far is how
        far the mean of a group is from that of all.
        """
        size = sum(count for count, _ in groups)
        shares = [count / size for count, _ in groups]
        told = [self.means(variables, one) for _, variables in groups]
        if len(groups) == 2:
            found = self._of_two(*shares, *told)
            return {N.key: size, **dict(zip(_CENTRAL, found, strict=False))}
        means = [of[0] for of in told]
        # By differences of means, so that two groups that are alike are no part of them.
        far = [
            sum(
                w * (mean - other)
                for w, other in zip(shares, means, strict=True)
                if other is not mean
            )
            for mean in means
        ]
        found = [sum(w * mean for w, mean in zip(shares, means, strict=True))]
        for j in range(2, self.degree + 1):
            total = 0 * one
            for w, of, d in zip(shares, told, far, strict=True):
                part = d**j + sum(
                    comb(j, i) * of[i - 1] * d ** (j - i) for i in range(2, j) if i <= len(of)
                )
                total = total + w * (part + of[j - 1] if len(of) > 1 else part)
            found.append(total)
        return {N.key: size, **dict(zip(_CENTRAL, found, strict=False))}

    def _of_two(self, a: Any, b: Any, first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
        """Return the mean and the central moments of two groups, of which each is a share.

        Their means are b far and a far from the mean of both, on its two sides: each power of far
        occurs once, with a factor that the shares give.
        """
        # The mean of both is a first + b second, with a + b = 1. The first mean less it is -b far,
        # the second one a far.
        far = second[0] - first[0]
        square = far * far
        powers = (1, far, square, square * far, square * square)
        found = [a * first[0] + b * second[0]]
        for j in range(2, self.degree + 1):
            total = (a * (-b) ** j + b * a**j) * powers[j]
            for share, step, of in ((a, -b, first), (b, a, second)):
                for i in range(2, min(j, len(of)) + 1):
                    total = total + (comb(j, i) * share * step ** (j - i)) * (
                        of[i - 1] * powers[j - i] if i < j else of[i - 1]
                    )
            found.append(total)
        return found


def _completed(poly: Poly, around: tuple[float, float]) -> Poly:
    """Return an expression with squares of means completed, also within others.

    a m**2 - 2 a c m is a (m - c)**2 - a c**2. In intervals the square is not below 0, as a mean of
    (x - c)**2 is: m**2 - m + 1/4 on [0, 1] is in [-3/4, 5/4], and (m - 1/2)**2 in [0, 1/4]. If no
    mean is c, m**2 - 2 c m is monotone, and nothing is gained.
    """
    mean = Atom(_CENTRAL[0])
    found: dict[str, tuple[Monomial, dict[int, Fraction]]] = {}
    for monomial, factor in poly.terms:
        parts = [
            (replace(atom, of=tuple(_completed(one, around) for one in atom.of)), power)
            for atom, power in monomial
        ]
        rest = tuple(part for part in parts if part[0].key != mean.key)
        power = sum(power for atom, power in parts if atom.key == mean.key)
        # Terms are grouped by what stands beside the mean; in a group powers[j] is the coefficient
        # of mean**j.
        found.setdefault(str([(atom.key, power) for atom, power in rest]), (rest, {}))[1][power] = (
            factor
        )
    total = Poly((), poly.lost)
    for rest, powers in found.values():
        of = Poly(((rest, Fraction(1)),))
        a, b = powers.get(2, Fraction(0)), powers.get(1, Fraction(0))
        if a and around[0] < -b / (2 * a) < around[1]:
            centred = Poly.atom(mean) + Poly.number(b / (2 * a))
            total += of * Poly.number(a) * Poly.atom(Atom("itself", (centred,)), 2)
            powers = {
                **powers,
                2: Fraction(0),
                1: Fraction(0),
                0: powers.get(0, Fraction(0)) - b**2 / (4 * a),
            }
        for power, factor in powers.items():
            by = Poly.atom(mean, power) if power else Poly.number(1)
            total += of * by * Poly.number(factor)
    return total


def _sum_of(base: Poly) -> str:
    return Atom("sum", (base,)).key


def readable(poly: Poly) -> str:
    """Return an expression in one record as a caller writes it."""
    terms = []
    for monomial, factor in poly.terms:
        parts = [f"{float(factor):g}"] if factor != 1 or not monomial else []
        for atom, power in monomial:
            of = ", ".join(map(readable, atom.of))
            text = {"t": "x", "itself": f"({of})"}.get(atom.name, f"{atom.name}({of})")
            parts.append(text if power == 1 else f"{text}**{power}")
        terms.append(" * ".join(parts))
    return " + ".join(terms) or "0"


def form_of(answer: Poly, lower: float, upper: float) -> Form:
    """Return the form of an answer's sums; NotOfSumsError if they have none."""
    every = [atom.of[0] for atom in answer.atoms().values() if atom.name == "sum"]
    every = every or [Poly.number(1)]
    if any(atom.name == "sum" for base in every for atom in base.atoms().values()):
        raise NotOfSumsError("divides by what mixes a record with an answer")
    ranges = [range_of(base, lower, upper) for base in every]
    for base, (_, _, decor) in zip(every, ranges, strict=True):
        if decor < DEFINED:
            raise NotOfSumsError(f"sums {readable(base)}, which is not defined everywhere")
    # Powers of one function, or of the record itself: moments say the most of them, and are tried
    # first; then pairs whose sums fill what lies between a curve and its chord; else the hull.
    shortest = min(every, key=lambda one: (len(one.key), one.key))
    for base in (shortest, Poly.atom(RECORD)) if len(every) > 1 else ():
        powers = {base.power(j).key: j for j in range(1, _MOST_MOMENTS + 1)}
        *around, decor = range_of(base, lower, upper)
        if decor == CONTINUOUS and all(one.key in powers for one in every):
            degree = max(powers[one.key] for one in every)
            return Moments((base,), lower, upper, degree, (around[0], around[1]))
    for first, second in (every, every[::-1]) if len(every) == 2 else ():
        if _is_curve(first, second, lower, upper):
            return Curve((first, second), lower, upper)
    jumps = min(decor for _, _, decor in ranges) < CONTINUOUS
    if jumps and len(every) == 1:
        return Range((every[0],), lower, upper, ranges[0][:2])
    points = len(every) + jumps
    if points > _MOST_POINTS:
        told = ", ".join(map(readable, every))
        raise NotOfSumsError(f"sees its records by sums with no form that is known: {told}")
    return Hull(tuple(every), lower, upper, points)


@np.errstate(all="ignore")
def _is_curve(first: Poly, second: Poly, lower: float, upper: float) -> bool:
    """Tell whether one function is strictly monotone, and the other convex or concave in it.

    So it is where g_1' has one sign, and so has the derivative of g_2' / g_1'.
    """
    try:
        steep = derivative(first)
        lo, hi = _pieces(lower, upper)
        found = _on_pieces(steep, lo, hi)
        # If g_1 rises, the slope of the curve (g_1, g_2) is g_2' / g_1'. The curve is convex where
        # this quotient rises, and concave where it falls.
        bend = _on_pieces(
            derivative(second) * Poly.atom(Atom("itself", (steep,), True), -1), lo, hi
        )
    except NotOfSumsError:
        return False
    signs = [(one.lo > 0).all() or (one.hi < 0).all() for one in (found.value, bend.slope)]
    return all(signs) and bool((np.minimum(found.decor, bend.decor) == CONTINUOUS).all())


@dataclass(frozen=True)
class FromSums:
    """The answer on a dataset that consists of groups, from their variables.

    Its argument has the number 1, and for each group how many records there are, and its variables.

    Attributes
    ----------
    answer : Poly
    form : Form
    widths : tuple of int
        How many variables each group has.
    """

    answer: Poly
    form: Form
    widths: tuple[int, ...]

    def __call__(self, z: Any) -> Any:
        """Return the answer."""
        one, starts = z[0], pairwise(self._starts)
        groups = [(z[at], [z[i] for i in range(at + 1, end)]) for at, end in starts]
        return self.answer.value(self.form.known(groups, one), one)

    @property
    def _starts(self) -> list[int]:
        return list(accumulate((1 + width for width in self.widths), initial=1))

    def records_of(self, root: Root, point: Floats) -> Floats:
        """Return the records that the groups of a pair are told by: a better one is near these."""
        at = [1 + start for start in self._starts[:-1]]
        return np.hstack([point[list(places)][at] for places in (root.on_x, root.on_y)])


def of_sums(
    function: Callable[[Any], Any], shapes: Sequence[Shape], ends: tuple[float, float]
) -> FromSums:
    """Read a caller's function as one of sums, of common records and of own ones.

    Raises
    ------
    NotOfSumsError
        With what else the function does.
    """
    sizes = [common + count for common, *own in shapes for count in own]
    found = read(function, range(min(sizes), max(sizes) + 1))
    if len(shapes) > _MOST_SHAPES:
        raise NotOfSumsError(f"is asked for {len(shapes):,} changes of sizes, not {_MOST_SHAPES:,}")
    if any(not common + min(own) for common, *own in shapes):
        raise NotOfSumsError("is asked for the dataset of nobody")
    if any(atom.name in ("max", "min") for atom in found.poly.atoms().values()):
        raise NotOfSumsError("asks for the largest or smallest record")
    form = form_of(found.poly, *ends)
    # Own records are variables themselves where a group of them has no fewer.
    most, width = max(max(own) for _, *own in shapes), len(form.ends)
    own_widths = [1] * most if most <= width else [width]
    return FromSums(form.rewritten(found.poly), form, (width, *own_widths))


Ends = Sequence[tuple[float, float]]
Places = tuple[int, ...]
"""Where the variables of a group stand: its number of records, and what they are told by."""


class _Layout:
    """The variables of pairs, as they are placed: the number 1, and groups of records."""

    def __init__(self) -> None:
        self.box = [(1.0, 1.0)]
        self.totals: list[tuple[Places, int]] = []

    def group(self, count: int, ends: Ends) -> Places:
        """Place a group of so many records."""
        start = len(self.box)
        # Of one record the first variable counts alone, and of none, no one; the others are held at
        # an end, so that boxes are not split along them.
        free = len(ends) if count > 1 else count
        self.box += [(count, count), *ends[:free], *((low, low) for low, _ in ends[free:])]
        return tuple(range(start, len(self.box)))

    def distinct(self, number: int, total: int, record: tuple[float, float]) -> list[Places]:
        """Place distinct records that occur so many times in all."""
        start = len(self.box)
        self.box += [(0.0, total), record] * number
        places: list[Places] = [(at, at + 1) for at in range(start, len(self.box), 2)]
        self.totals.append((tuple(count for count, _ in places), total))
        return places

    def roots(
        self, shared: Sequence[Places], x: Sequence[Places], y: Sequence[Places], own: int
    ) -> list[Root]:
        """Return the roots of pairs with shared groups and own ones: both signs if sides differ.

        Of one side's missing groups, up to `own`, the variables are those of the other, and their
        number is 0: so differences are carried to x and y of different sizes, too.
        """
        # With as many own records on both sides, the roles of x and y can be exchanged.
        alike = [self.box[group[0]] for group in x] == [self.box[group[0]] for group in y]
        (none,) = self.group(0, ())
        on_x, on_y = [*shared, *x], [*shared, *y]
        on_x += [(none, *group[1:]) for group in y[len(x) :]]
        on_y += [(none, *group[1:]) for group in x[len(y) :]]
        idle = [self.group(0, [self.box[1 + shared[0][0]]])] * (own - max(len(x), len(y)))
        lower, upper = (np.array(ends, dtype=np.float64) for ends in zip(*self.box, strict=True))
        x_at, y_at = (
            (0, *(at for group in on for at in group)) for on in (on_x + idle, on_y + idle)
        )
        root = Root(lower, upper, x_at, y_at, (), 1, lists=True, totals=tuple(self.totals))
        return [root] if alike else [root, root._replace(sign=-1)]


def boxes_of(of: FromSums, shapes: Sequence[Shape]) -> list[Root]:
    """Return the roots of all pairs with so many common records, and own ones of x and of y."""
    roots, ends, (_, *own) = [], of.form.ends, of.widths
    for common, *counts in shapes:
        layout = _Layout()
        shared = [layout.group(common, ends)]
        x, y = (
            [layout.group(1, ends[:1]) for _ in range(count)]
            if len(own) > 1
            else [layout.group(count, ends[: own[0]]) for _ in range(min(count, 1))]
            for count in counts
        )
        roots += layout.roots(shared, x, y, len(own))
    return roots


def few_of(
    of: FromSums, shapes: Sequence[Shape], record: tuple[float, float]
) -> tuple[FromSums, list[Root]]:
    """Return the same answer on few distinct records, with the roots of such pairs.

    They are datasets, which what boxes are of may not be: the lower bound is one of theirs.
    """
    own = len(of.widths) - 1
    number = own if own > 1 else _DISTINCT_OWN
    roots = []
    for common, *counts in shapes:
        layout = _Layout()
        shared = layout.distinct(_DISTINCT, common, record)
        x, y = (
            [layout.group(1, [record]) for _ in range(count)]
            if own > 1
            else layout.distinct(number, count, record)
            for count in counts
        )
        roots += layout.roots(shared, x, y, number)
    return replace(of, form=of.form.of_records, widths=(1,) * (_DISTINCT + number)), roots
