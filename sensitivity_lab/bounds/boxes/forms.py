"""What sums of a number of records are possible, as a box of a few variables.

A *form* says which sums a function sees, and by which variables those of a group of records are
told: all values of the variables between their ends, and no others, are possible for so many
records, or for a distribution of records, which is more. See docs/proofs.md, "Few sums".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .carried import CONTINUOUS, DEFINED, Side, records
from .intervals import Floats, Interval
from .reading import RECORD, Atom, N, NotOfSumsError, Poly

_PIECES, _FORM_ROUNDS = 512, 8
"""An interval of records is cut into so many pieces, and those with an end of the range again."""

_FORM_ROOM = 1e-12
"""The ends of a range are found to so much of its width."""

_MOST_MOMENTS = 4


@np.errstate(all="ignore")
def on_interval(poly: Poly, lo: Floats, hi: Floats) -> Side:
    """Return the values and slopes of an expression in one record, in intervals of it."""
    ones = np.ones_like(lo)
    ends = np.stack([lo, ones]), np.stack([hi, ones])
    z = records(ends, ends, (0, 1), (0, 1), 2, ordered=True)
    found = poly.value({"t": z[0]}, z[1])
    shape = np.zeros_like(lo)
    value = Interval(found.x.value.lo + shape, found.x.value.hi + shape)
    slope = Interval(found.x.slope.lo[0] + shape, found.x.slope.hi[0] + shape)
    return Side(value, slope, found.x.decor + np.zeros(lo.shape, np.int8))


def pieces(lower: float, upper: float, number: int = _PIECES) -> tuple[Floats, Floats]:
    """Return an interval cut into pieces."""
    cuts = np.linspace(lower, upper, number + 1)
    cuts[0], cuts[-1] = lower, upper
    return cuts[:-1], cuts[1:]


@np.errstate(all="ignore")
def range_of(poly: Poly, lower: float, upper: float) -> tuple[float, float, int]:
    """Return the range of an expression in one record, and what is known of it."""
    lo, hi = pieces(lower, upper)
    decor, least, most = CONTINUOUS, np.inf, -np.inf
    for turn in range(_FORM_ROUNDS):
        found, middle = on_interval(poly, lo, hi), lo + (hi - lo) / 2
        at = on_interval(poly, middle, middle).value
        # The mean-value form, where there is one.
        reach = (Interval.of(lo) - Interval.of(middle)).hull(Interval.of(hi) - Interval.of(middle))
        around = at + found.slope * reach
        smooth = found.decor == CONTINUOUS
        value = found.value.cut(around.where(smooth, found.value))
        decor = min(decor, int(found.decor.min())) if not turn else decor
        ends = [on_interval(poly, one, one).value for one in (lo, hi)]
        inner_lo = min(least, *(float(one.lo.min()) for one in (at, *ends)))
        inner_hi = max(most, *(float(one.hi.max()) for one in (at, *ends)))
        least, most = inner_lo, inner_hi
        room = _FORM_ROOM * (most - least)
        open_ = (value.lo < least - room) | (value.hi > most + room)
        low, high = min(least, float(value.lo.min())), max(most, float(value.hi.max()))
        if turn == 0:
            outer = low, high
        outer = max(outer[0], low), min(outer[1], high)
        if not open_.any() or turn == _FORM_ROUNDS - 1:
            break
        cut = [pieces(a, b, 32) for a, b in zip(lo[open_][:64], hi[open_][:64], strict=True)]
        if open_.sum() > 64:
            break
        lo, hi = (np.concatenate(ends) for ends in zip(*cut, strict=True))
    return outer[0], outer[1], decor


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
    outer = {
        "itself": lambda: itself,
        "exp": lambda: Poly.atom(atom, power),
        "log": lambda: itself * inner.power(-1),
        "log1p": lambda: itself * (inner + Poly.number(1)).power(-1),
        "sqrt": lambda: Poly.atom(atom, power) * inner.power(-1) * Poly.number(Fraction(1, 2)),
        "power": lambda: Poly.atom(atom, power) * inner.power(-1) * atom.of[1],
    }.get(atom.name)
    if outer is None:
        raise NotOfSumsError(f"has no derivative of {atom.name} that is known")
    return outer() * derivative(inner)


@dataclass(frozen=True)
class Form(ABC):
    """What a group of records has: `variables` names the ends of each variable of a group.

    Attributes
    ----------
    single : bool
        Whether no own group has more than one record.
    """

    single: bool

    @property
    @abstractmethod
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The ends of a group's variables, of which a group of one record has the first alone."""

    @property
    @abstractmethod
    def told(self) -> str:
        """The sums, as text."""

    def rewritten(self, poly: Poly) -> Poly:
        """Return an expression of sums in what the form knows."""
        return poly

    @property
    @abstractmethod
    def bases(self) -> tuple[Poly, ...]:
        """The functions of one record that the statistics are computed from."""

    @abstractmethod
    def known(
        self, counts: Sequence[Any], common: Sequence[Any], own: Sequence[Any], one: Any
    ) -> dict[str, Any]:
        """Return the values of an answer's atoms, for the variables of both groups."""

    @abstractmethod
    def statistics(
        self, values: Sequence[Interval], times: Interval, size: Interval
    ) -> dict[str, Interval]:
        """Return the same for distinct records, each so many times, axis 0."""


@dataclass(frozen=True)
class Sums(Form):
    """One sum: all between so many times the smallest and the largest value are possible."""

    base: Poly
    lower: float
    upper: float

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The mean of the group's values."""
        return ((self.lower, self.upper),)

    @property
    def told(self) -> str:
        """The sum."""
        return readable(self.base)

    @property
    def bases(self) -> tuple[Poly, ...]:
        """What is summed."""
        return (self.base,)

    def known(
        self, counts: Sequence[Any], common: Sequence[Any], own: Sequence[Any], one: Any
    ) -> dict[str, Any]:
        """Return the sum."""
        total = counts[0] * common[0] + counts[1] * own[0]
        return {N.key: counts[0] + counts[1], _sum_of(self.base): total}

    def statistics(
        self, values: Sequence[Interval], times: Interval, size: Interval
    ) -> dict[str, Interval]:
        """Return the sum."""
        return {N.key: size, _sum_of(self.base): (values[0] * times).sum(0)}


@dataclass(frozen=True)
class Moments(Form):
    """Sums of powers, as the mean and the central moments.

    The variables are the mean and the canonical moments p_2, p_3, p_4 in [0, 1]: all of these, and
    no others, are those of a distribution on an interval (Dette and Studden, 1997, chapter 1).
    """

    base: Poly
    lower: float
    upper: float
    degree: int

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The mean, and the canonical moments."""
        return ((self.lower, self.upper), *[(0.0, 1.0)] * (self.degree - 1))

    @property
    def told(self) -> str:
        """The powers."""
        text = readable(self.base)
        text = text if text.isidentifier() else f"({text})"
        return ", ".join([text, *(f"{text}**{power}" for power in range(2, self.degree + 1))])

    @property
    def bases(self) -> tuple[Poly, ...]:
        """What the powers are of."""
        return (self.base,)

    def rewritten(self, poly: Poly) -> Poly:
        """Return an expression of sums of powers in the mean and the central moments."""
        return poly.rewritten(_raw(self.base))

    def central(self, group: Sequence[Any], one: Any) -> list[Any]:
        """Return the mean and the central moments of a group."""
        mean, share = group[0], group[1:]
        above, below = mean - self.lower, self.upper - mean
        found = [mean, share[0] * (above * below)]
        if self.degree > 2:
            width = one * self.upper - self.lower
            # The step of the orthogonal polynomials' recursion: m3 is v times it.
            step = share[0] * below - above + share[1] * ((1 - share[0]) * width)
            found.append(found[1] * step)
        if self.degree > 3:
            last = width**2 * ((1 - share[0]) * share[1] * (1 - share[1]) * share[2])
            found.append(found[1] * (step**2 + found[1] + last))
        return found

    def known(
        self, counts: Sequence[Any], common: Sequence[Any], own: Sequence[Any], one: Any
    ) -> dict[str, Any]:
        """Return the mean and the central moments of both groups together."""
        size = counts[0] + counts[1]
        first, second = counts[0] / size, counts[1] / size
        these = self.central(common, one)
        far, both = own[0] - common[0], first * second
        found = [first * common[0] + second * own[0], first * these[1] + both * far**2]
        if self.degree > 2:
            found.append(
                first * these[2] - 3 * (both * far * these[1]) + both * (first - second) * far**3
            )
        if self.degree > 3:
            found.append(
                first * these[3]
                - 4 * (both * far * these[2])
                + 6 * (both * second * far**2 * these[1])
                + both * (first**2 - both + second**2) * far**4
            )
        if not self.single:
            those = self.central(own, one)
            found[1] = found[1] + second * those[1]
            if self.degree > 2:
                found[2] = found[2] + second * those[2] + 3 * (both * far * those[1])
            if self.degree > 3:
                more = 4 * (both * far * those[2]) + 6 * (both * first * far**2 * those[1])
                found[3] = found[3] + second * those[3] + more
        return {N.key: size, **dict(zip(_CENTRAL, found, strict=False))}

    def statistics(
        self, values: Sequence[Interval], times: Interval, size: Interval
    ) -> dict[str, Interval]:
        """Return the mean and the central moments."""
        mean = (values[0] * times).sum(0) / size
        far = values[0] - mean
        found, power = [mean], far
        for _ in range(self.degree - 1):
            power = far.square() if power is far else power * far
            found.append((power * times).sum(0) / size)
        return {N.key: size, **dict(zip(_CENTRAL, found, strict=False))}


@dataclass(frozen=True)
class Curve(Form):
    """Two sums, of which one is of a convex or concave function of the other's numbers.

    The variables of a group are a record t and a share s: the sums are those of records that are
    all t, plus s times what is between these and the chord from all records at one end to all at
    the other.
    """

    first: Poly
    second: Poly
    lower: float
    upper: float

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """A record, and a share."""
        return ((self.lower, self.upper), (0.0, 1.0))

    @property
    def told(self) -> str:
        """The two sums."""
        return f"{readable(self.first)}, {readable(self.second)}"

    @property
    def bases(self) -> tuple[Poly, ...]:
        """What is summed."""
        return (self.first, self.second)

    def means(self, group: Sequence[Any], one: Any, *, single: bool) -> list[Any]:
        """Return the means of both functions in a group."""
        found = [base.value({"t": group[0]}, one) for base in self.bases]
        if single:
            return found
        low, high = (
            [base.value({"t": one * end}, one) for base in self.bases]
            for end in (self.lower, self.upper)
        )
        chord = low[1] + (found[0] - low[0]) * ((high[1] - low[1]) / (high[0] - low[0]))
        return [found[0], (1 - group[1]) * found[1] + group[1] * chord]

    def known(
        self, counts: Sequence[Any], common: Sequence[Any], own: Sequence[Any], one: Any
    ) -> dict[str, Any]:
        """Return both sums."""
        these = self.means(common, one, single=False)
        those = self.means(own, one, single=self.single)
        found = [counts[0] * a + counts[1] * b for a, b in zip(these, those, strict=True)]
        keys = map(_sum_of, self.bases)
        return {N.key: counts[0] + counts[1], **dict(zip(keys, found, strict=True))}

    def statistics(
        self, values: Sequence[Interval], times: Interval, size: Interval
    ) -> dict[str, Interval]:
        """Return both sums."""
        found = {
            _sum_of(base): (of * times).sum(0) for base, of in zip(self.bases, values, strict=True)
        }
        return {N.key: size, **found}


_CENTRAL = ("mean", "var", "m3", "m4")
_MEAN, _VAR, _THIRD, _FOURTH = (Poly.atom(Atom(name)) for name in _CENTRAL)


def _sum_of(base: Poly) -> str:
    return Atom("sum", (base,)).key


def _raw(base: Poly) -> dict[str, Poly]:
    """Return the sums of powers by the number, the mean, and the central moments."""
    size, three, four, six = Poly.atom(N), *map(Poly.number, (3, 4, 6))
    means = [
        _MEAN,
        _VAR + _MEAN.power(2),
        _THIRD + three * _MEAN * _VAR + _MEAN.power(3),
        _FOURTH + four * _MEAN * _THIRD + six * _MEAN.power(2) * _VAR + _MEAN.power(4),
    ]
    return {_sum_of(base.power(j)): size * mean for j, mean in enumerate(means, 1)}


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


def form_of(answer: Poly, lower: float, upper: float, single: bool) -> tuple[Form, Poly]:
    """Return the form of an answer's sums, and the answer in what the form knows.

    Raises
    ------
    NotOfSumsError
        If the sums have no form.
    """
    bases = {key: atom.of[0] for key, atom in answer.atoms().items() if atom.name == "sum"}
    if not bases:
        bases = {"": Poly.number(1)}
    every = list(bases.values())
    ranges = [range_of(base, lower, upper) for base in every]
    for base, (_, _, decor) in zip(every, ranges, strict=True):
        if decor < (DEFINED if len(every) == 1 else CONTINUOUS):
            raise NotOfSumsError(f"sums {readable(base)}, which jumps or is not defined everywhere")
    if len(every) == 1:
        return Sums(single, every[0], *_stretched(*ranges[0][:2])), answer
    moments = _moments_of(every, lower, upper)
    if moments is not None:
        base, degree = moments
        ends = range_of(base, lower, upper)
        form = Moments(single, base, *_stretched(*ends[:2]), degree)
        return form, form.rewritten(answer)
    if len(every) == 2:
        for first, second in (every, every[::-1]):
            if _is_curve(first, second, lower, upper):
                return Curve(single, first, second, lower, upper), answer
    told = ", ".join(map(readable, every))
    raise NotOfSumsError(f"sees its records by sums with no form that is known: {told}")


def _stretched(low: float, high: float) -> tuple[float, float]:
    return (low, high) if low < high else (low, float(np.nextafter(high, np.inf)))


def _moments_of(every: Sequence[Poly], lower: float, upper: float) -> tuple[Poly, int] | None:
    """Return what all are powers of, and the largest power; None if that is none, or too large."""
    shortest = min(every, key=lambda one: (len(one.key), one.key))
    for base in (shortest, Poly.atom(RECORD)):
        powers = {base.power(j).key: j for j in range(1, _MOST_MOMENTS + 1)}
        if (
            all(one.key in powers for one in every)
            and range_of(base, lower, upper)[2] == CONTINUOUS
        ):
            return base, max(powers[one.key] for one in every)
    return None


def _is_curve(first: Poly, second: Poly, lower: float, upper: float) -> bool:
    """Tell whether one function is strictly monotone, and the other convex or concave in it.

    So it is where g_1' has one sign, and g_2'' g_1' - g_2' g_1'' has one: it is that of the
    derivative of g_2' / g_1'.
    """
    try:
        slope, other = derivative(first), derivative(second)
        bend = derivative(other) * slope + -(other * derivative(slope))
    except NotOfSumsError:
        return False
    lo, hi = pieces(lower, upper, 16 * _PIECES)
    found = [on_interval(one, lo, hi) for one in (slope, bend)]
    return all(
        bool(
            ((one.value.lo > 0).all() or (one.value.hi < 0).all())
            and (one.decor == CONTINUOUS).all()
        )
        for one in found
    )
