"""The probability of comparisons of Laplace and exponential draws, exactly.

A density is, piece by piece, a sum of terms ``c t**m e**(a t + b)``. Draws are integrated out one
after the other; what is left of one that is compared with another is again such a function of the
other. So a probability is a sum of exponentials of fractions. See docs/proofs.md, "Compared noise".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from sensitivity_lab.exact.exponential_sums import Chance, ExponentialSum, quotient

from .symbols import EXPONENTIAL, GUMBEL, LAPLACE

MOST_TERMS = 20_000
"""The most terms of all functions that are integrated for one probability."""

_MARGINS, _SWEEPS = 24, 200
"""Values are looked for with such margins, each half of the last one, for so many rounds."""

Number = Any
"""A whole number where that is enough, else a Fraction; or an infinite float."""

Terms = dict[tuple[Number, int, Number], Fraction]
"""Factors c by a, m and b: c t**m e**(a t + b), where a and b count units of the integration."""

Function = list[tuple[Number, Number, Terms]]
"""Pieces in ascending order: from where, to where, and what the function is; elsewhere it is 0."""


class UnknownError(Exception):
    """The law is not known; the message completes "the function ..."."""


class Above(NamedTuple):
    """What is known of draws: a combination is above a number.

    Attributes
    ----------
    terms : tuple of (int, Fraction)
        Draws, by their numbers in ascending order, with their coefficients.
    least : Fraction
        The number.
    """

    terms: tuple[tuple[int, Fraction], ...]
    least: Fraction

    def negated(self) -> Above:
        """Return what is known where this is not so."""
        return Above(tuple((draw, -a) for draw, a in self.terms), -self.least)


def chance(kinds: Sequence[str], events: Sequence[Above]) -> tuple[Chance, int]:
    """Return the probability that all events are so, and how many terms were made for it.

    Parameters
    ----------
    kinds : sequence of str
        The kinds of all draws, each standard.
    events : sequence of Above
        What is known.

    Raises
    ------
    UnknownError
        If the law has too many terms, or three draws are added.

    Examples
    --------
    >>> one = Above(((0, Fraction(1)),), Fraction(2))
    >>> found, _ = chance(["Laplace"], [one])
    >>> found.terms
    {Fraction(-2, 1): Fraction(1, 2)}
    >>> larger = Above(((0, Fraction(1)), (1, Fraction(-1))), Fraction(0))
    >>> both, _ = chance(["Laplace"] * 2, [one, larger])
    >>> both == found - found * found / 2
    True
    """
    found: Chance = Fraction(1)
    number = 0
    for part in _unconnected(events):
        names = {draw: name for name, draw in enumerate(sorted(_draws(part)))}
        renamed = (
            Above(tuple((names[draw], a) for draw, a in one.terms), one.least) for one in part
        )
        one, made = chance_of_part(tuple(kinds[draw] for draw in names), frozenset(renamed))
        found, number = found * one, number + made
    return found, number


def connected(events: Sequence[Above], event: Above) -> list[Above]:
    """Return those events that an event depends on, given all of them."""
    (found,) = (part for part in _unconnected([*events, event]) if event in part)
    return [one for one in events if one in found]


def inside_of(kinds: Sequence[str], events: Sequence[Above]) -> dict[int, Fraction] | None:
    """Return values of the draws of events that make all of these so, as far as floats tell.

    Each event that is not so is made so by the shortest way, in turn; None where that does not end.
    """
    draws = sorted(_draws(events))
    # No whole numbers, and different ones, as in `Run.example`.
    values = {draw: (5 * draw + 3) / 8 for draw in draws}
    exponential = [draw for draw in draws if kinds[draw] == EXPONENTIAL]
    positive = [Above(((draw, Fraction(1)),), Fraction(0)) for draw in exponential]
    planes = [
        (one.terms, one.least, math.hypot(*(float(a) for _, a in one.terms)))
        for one in (*events, *positive)
    ]
    # First all draws shall be far from a tie; where there is no such place, half as far will do.
    for place in range(_MARGINS):
        margin = 2.0**-place
        for _ in range(_SWEEPS):
            moved = False
            for terms, least, size in planes:
                # `size` is the norm of the coefficients: so the margin is a distance from the
                # plane on which both sides are equal.
                lacks = least + margin * size - sum(float(a) * values[draw] for draw, a in terms)
                if lacks > 0:
                    moved = True
                    for draw, a in terms:
                        # Along the normal of the plane, half as far beyond the margin as the point
                        # was short of it: the moves for other planes may take it back a little.
                        values[draw] += 1.5 * lacks * float(a) / size**2
            if not moved:
                return {draw: Fraction(value) for draw, value in values.items()}
    return None


def _draws(events: Iterable[Above]) -> set[int]:
    return {draw for one in events for draw, _ in one.terms}


def _unconnected(events: Sequence[Above]) -> list[list[Above]]:
    """Return events in groups that have no draw in common."""
    groups: dict[int, list[Above]] = {}  # by draw
    for one in events:
        # All draws of a group share one list, so its id tells groups apart.
        met = {id(groups[draw]): groups[draw] for draw, _ in one.terms if draw in groups}
        joined = [one, *(other for group in met.values() for other in group)]
        groups |= dict.fromkeys(_draws(joined), joined)
    return list({id(group): group for group in groups.values()}.values())


@lru_cache(maxsize=10_000)
def chance_of_part(kinds: tuple[str, ...], events: frozenset[Above]) -> tuple[Chance, int]:
    """Do the same as `chance` for events of which each hangs together with the others."""
    _terms_made[0] = len(events)
    # Numbers are in the unit in which they are compared first: then most coefficients are 1 or -1.
    ordered = sorted(events)
    scales = [
        next(a for one in ordered for at, a in one.terms if at == draw)
        for draw, _ in enumerate(kinds)
    ]
    # In this unit all thresholds are whole numbers.
    unit = Fraction(1, math.lcm(*(one.least.denominator for one in events)))
    rates = [unit / scale for scale in scales]
    # The a and b of terms count 1 / below, so that they are mostly whole numbers, too.
    below = math.lcm(*(rate.denominator for rate in rates))
    densities = (_density(*both, below) for both in zip(kinds, rates, strict=True))
    within = _Region(dict(enumerate(densities)), {})
    for one in ordered:
        if len(one.terms) > 2:
            raise UnknownError(f"compares a sum of {len(one.terms)} draws of noise")
        # Draw x now stands for scales[x] times the standard draw.
        form = {draw: _int_if_whole(a / scales[draw]) for draw, a in one.terms}
        made = within.cut(form, _int_if_whole(-one.least / unit))
        if made is None:
            return Fraction(0), 0
        within = made
    terms = _integral(within, below)
    factors = {Fraction(b, below): factor for (_, _, b), factor in terms.items()}
    return ExponentialSum.of(factors), _terms_made[0]


def _int_if_whole(number: Fraction) -> Number:
    return int(number) if number.denominator == 1 else number


def _density(kind: str, rate: Fraction, unit: int) -> Function:
    """Return the density of a draw; a rate below 0 is that of its negative."""
    a = _int_if_whole(abs(rate) * unit)
    left, right = ((-math.inf, 0, a), (0, math.inf, -a))
    sides = [left, right] if kind == LAPLACE else [right] if rate > 0 else [left]
    return [(low, high, {(b, 0, 0): abs(rate) / len(sides)}) for low, high, b in sides]


class _Bound(NamedTuple):
    """A bound ``slope y + start`` of one draw by another one, y; by a number if y is None."""

    draw: int
    slope: Number
    start: Number


@dataclass(frozen=True)
class _Region:
    """What is left to integrate: a product of functions of one draw each, over a set.

    Attributes
    ----------
    functions : mapping of int to Function
        By draw.
    links : mapping
        The set: by two draws x < y and their coefficients a and b, the least c for which
        ``a x + b y + c > 0`` is known. The first coefficient is 1 or -1.
    """

    functions: Mapping[int, Function]
    links: Mapping[tuple[int, int, Number, Number], Number]

    def cut(self, form: Mapping[int, Number], start: Number) -> _Region | None:
        """Return what is left where a combination is above 0; None if that is nowhere."""
        pairs = [(draw, a) for draw, a in sorted(form.items()) if a]
        if not pairs:
            return self if start > 0 else None
        (x, a), *others = pairs
        scale = abs(a)
        if not others:
            # One draw: its density is cut off at a number.
            end = _by(-start, a)
            ends = (end, math.inf) if a > 0 else (-math.inf, end)
            left = [piece[:3] for piece in _pairs(self.functions[x], [(*ends, {})])]
            return _Region({**self.functions, x: left}, self.links) if left else None
        ((y, b),) = others
        # Two draws: a x + b y + start > 0 becomes a link, divided by |a|.
        key = x, y, _by(a, scale), _by(b, scale)
        at = _by(start, scale)
        opposite = self.links.get((x, y, -key[2], -key[3]))
        # f + at > 0 and -f + opposite > 0 need at + opposite > 0.
        if opposite is not None and opposite + at <= 0:
            return None
        # Of f + 2 > 0 and f + 3 > 0, the first implies the second.
        known = self.links.get(key, at)
        return _Region(self.functions, {**self.links, key: min(known, at)})

    def bounds(self, draw: int) -> tuple[list[_Bound], list[_Bound]]:
        """Return the lower and the upper bounds of a draw."""
        lows: list[_Bound] = []
        highs: list[_Bound] = []
        for (x, y, a, b), start in self.links.items():
            if draw in (x, y):
                own, other, at = (a, b, y) if draw == x else (b, a, x)
                # own x + other y + start > 0 bounds x by (-other y - start) / own; if own > 0,
                # from below.
                bound = _Bound(at, _by(-other, own), _by(-start, own))
                (lows if own > 0 else highs).append(bound)
        return lows, highs

    def without(self, draw: int) -> _Region:
        """Return the rest once a draw is integrated out."""
        functions = {one: f for one, f in self.functions.items() if one != draw}
        return _Region(functions, {k: c for k, c in self.links.items() if draw not in k[:2]})

    def ordered(self, low: _Bound, high: _Bound) -> _Region | None:
        """Return what is left where one bound is below another."""
        # high - low > 0; both may be bounds by the same draw, and then its slopes are subtracted.
        form = {high.draw: high.slope}
        form[low.draw] = form.get(low.draw, 0) - low.slope
        return self.cut(form, high.start - low.start)

    def times(self, draw: int, function: Function) -> _Region:
        """Return the product with a function of a draw."""
        return _Region(
            {**self.functions, draw: _product(self.functions[draw], function)}, self.links
        )


def _by(number: Number, by: Number) -> Number:
    if by in (1, -1):
        return number * by
    return _int_if_whole(Fraction(number) / by)


def _integral(region: _Region, unit: int) -> Terms:
    """Integrate all draws of a region out, those first that make the fewest parts."""
    if not region.functions:
        return {(0, 0, 0): Fraction(1)}
    bounds = {draw: region.bounds(draw) for draw in region.functions}

    def cost(draw: int) -> tuple[int, int, int]:
        lows, highs = bounds[draw]
        apart = bool(lows and highs) and {one.draw for one in lows} != {one.draw for one in highs}
        return (
            max(1, len(lows)) * max(1, len(highs)) * (1 + apart),
            len(lows) + len(highs),
            len(region.functions[draw]),
        )

    draw = min(sorted(region.functions), key=cost)
    total: Terms = {}
    primitive, whole = _primitive(region.functions[draw], unit)
    rest = region.without(draw)
    lows, highs = bounds[draw]
    # No link is left, so the integral is a factor.
    if not lows and not highs:
        return _multiplied(whole, _integral(rest, unit))
    for low, high, left in _innermost(rest, lows, highs):
        # F(high) - F(low), for the integral F of the density from minus infinity.
        upper = [(-math.inf, math.inf, whole)] if high is None else _substituted(primitive, high)
        lower = [] if low is None else _substituted(primitive, low)
        # Where all bounds are by one other draw, the difference is a function of it: one part
        # instead of two.
        if low is None or high is None or low.draw == high.draw:
            one = (high or low).draw  # type: ignore[union-attr]
            _add(total, _integral(left.times(one, _difference(upper, lower)), unit))
        else:
            _add(total, _integral(left.times(high.draw, upper), unit))
            _add(total, _integral(left.times(low.draw, lower), unit), -1)
    return total


def _innermost(
    rest: _Region, lows: Sequence[_Bound], highs: Sequence[_Bound]
) -> Iterator[tuple[_Bound | None, _Bound | None, _Region]]:
    """Yield the largest lower and the smallest upper bound, and where these are so."""
    nothing: list[_Bound | None] = [None]
    for low in [*lows] or nothing:
        for high in [*highs] or nothing:
            # Each choice takes the region where no other bound is closer. Ties have probability 0,
            # so the regions of all choices add up.
            orders = [(other, low) for other in lows if low and other is not low]
            orders += [(high, other) for other in highs if high and other is not high]
            if low and high:
                orders.append((low, high))
            left: _Region | None = rest
            for below, above in orders:
                left = left.ordered(below, above) if left else None
            if left:
                yield low, high, left


@dataclass
class Race:
    """Numbers with Gumbel noise of one scale, of which the larger ones are compared.

    Among such numbers v + s G, each is the largest in proportion to ``e ** (v / s)``, and that does
    not depend on how large the largest is: so the winners of groups are compared independently of
    all that went before.

    Attributes
    ----------
    groups : dict of int to (Fraction, ExponentialSum)
        By the winner of a group: the scale, and the weights of all, where that of the winner is 1.
    mass : Fraction or ExponentialSum
        The probability of all answers.
    events : list of Above
        These answers.
    """

    groups: dict[int, tuple[Fraction, Chance]] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    mass: Chance = Fraction(1)
    events: list[Above] = field(default_factory=list)

    def _sides(self, event: Above) -> tuple[tuple[int, Chance, Chance], ...]:
        """Return who is larger if an event is so, and who if not; each with its weight and all."""
        (one, a), (two, b) = event.terms
        # The event is a G_one - a G_two > least with a > 0: the scale is a, and the first number is
        # ahead by -least.
        if a < 0:
            one, two, a = two, one, b
        ahead = ExponentialSum.of({-event.least / a: 1})
        # Weights in a group are relative to its winner; `ahead` is that of `one` relative to `two`.
        first, second = (self.groups.get(draw, (a, Fraction(1)))[1] for draw in (one, two))
        return (one, ahead, ahead * first), (two, Fraction(1), second)

    def chance(self, event: Above, kinds: Sequence[str]) -> Chance | None:
        """Return the probability of an event, given those before; None where it is not known."""
        draws = [draw for draw, _ in event.terms]
        # Not known are numbers that have lost, whose law depends on who won, and noise that is
        # compared on another scale, or with a number.
        scales = {self.groups[draw][0] for draw in draws if draw in self.groups}
        if (
            [a for _, a in event.terms] != [(a := event.terms[0][1]), -a]
            or {kinds[draw] for draw in draws} != {GUMBEL}
            or not scales <= {abs(a)}
            or not self.lost.isdisjoint(draws)
        ):
            return None
        (_, _, first), (_, _, second) = self._sides(event)
        return quotient(first, first + second)

    def learn(self, event: Above, answer: bool, yes: Chance) -> None:
        """Take an answer: the winners' groups are one now."""
        sides = self._sides(event)
        (winner, own, weights), (loser, _, others) = sides if answer else sides[::-1]
        # Divided by its own weight, the winner has the weight 1 again.
        self.groups[winner] = abs(event.terms[0][1]), quotient(weights + others, own)
        self.lost.add(loser)
        self.mass = self.mass * (yes if answer else 1 - yes)
        self.events.append(event if answer else event.negated())


# Functions.


def _add(total: Terms, terms: Terms, factor: int | Fraction = 1) -> None:
    for key, c in terms.items():
        known = total.get(key, 0) + factor * c
        if known:
            total[key] = known
        else:
            total.pop(key, None)


def _multiplied(one: Terms, other: Terms) -> Terms:
    found: Terms = {}
    for (a, m, b), c in one.items():
        for (a2, m2, b2), c2 in other.items():
            key = a + a2, m + m2, b + b2
            found[key] = found.get(key, 0) + c * c2
    return {key: c for key, c in found.items() if c}


def _pairs(one: Function, other: Function) -> Iterator[tuple[Number, Number, Terms, Terms]]:
    """Yield the pieces on which both functions are not 0."""
    i = j = 0
    while i < len(one) and j < len(other):
        low, high = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if low < high:
            yield low, high, one[i][2], other[j][2]
        # The piece that ends first meets no later piece of the other function.
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1


def _product(one: Function, other: Function) -> Function:
    found = [(low, high, _multiplied(f, g)) for low, high, f, g in _pairs(one, other)]
    return _not_too_many([piece for piece in found if piece[2]])


def _difference(one: Function, other: Function) -> Function:
    """Return one function less another, both of them on the whole line."""
    if not other:
        return one
    found = []
    for low, high, f, g in _pairs(one, other):
        terms = dict(f)
        _add(terms, g, -1)
        if terms:
            found.append((low, high, terms))
    return found


_terms_made = [0]
"""How many terms were made for the present probability."""


def _not_too_many(function: Function) -> Function:
    _terms_made[0] += sum(len(terms) for _, _, terms in function)
    if _terms_made[0] > MOST_TERMS:
        raise UnknownError(
            f"compares noise so that its exact law has more than {MOST_TERMS:,} terms"
        )
    return function


def _primitive(function: Function, unit: int) -> tuple[Function, Terms]:
    """Return the integral from minus infinity to each point, and that over the whole line."""
    found: Function = []
    total: Terms = {}
    at: Number = -math.inf
    for low, high, terms in function:
        # Between two pieces the density is 0, and the integral stays what it is.
        if at < low:
            found.append((at, low, dict(total)))
        inner = _antiderivative(terms, unit)
        start = _value_at(inner, low)
        _add(inner, total)
        _add(inner, start, -1)
        found.append((low, high, inner))
        total, at = _value_at(inner, high), high
    if at < math.inf:
        found.append((at, math.inf, dict(total)))
    return found, total


def _antiderivative(terms: Terms, unit: int) -> Terms:
    """Integrate by parts: that of t**m e**(a t) is e**(a t) / a times t**m less m / a times ..."""
    found: Terms = {}
    for (a, m, b), c in terms.items():
        if not a:
            _add(found, {(0, m + 1, b): c / (m + 1)})
            continue
        # t e**(a t) has the integral t e**(a t) / a - e**(a t) / a**2; a counts 1 / unit.
        over = Fraction(unit) / a
        for power in range(m, -1, -1):
            c = c * over
            _add(found, {(a, power, b): c})
            c = -power * c
    return found


def _value_at(terms: Terms, at: Number) -> Terms:
    """Return the value at a point, or the limit there, which is finite."""
    found: Terms = {}
    for (a, m, b), c in terms.items():
        if not isinstance(at, float):
            _add(found, {(0, 0, b + a * at): c * Fraction(at) ** m})
        # At infinity all terms but constants are 0, or grow and cancel: the integrals of densities
        # are finite.
        elif not a and not m:
            _add(found, {(0, 0, b): c})
    return found


def _substituted(function: Function, bound: _Bound) -> Function:
    """Return the function of another draw that a function of a bound is."""
    _, slope, start = bound
    found = []
    for low, high, terms in function:
        # A slope below 0 turns the pieces around.
        first, last = (
            end * (1 if slope > 0 else -1) if isinstance(end, float) else _by(end - start, slope)
            for end in ((low, high) if slope > 0 else (high, low))
        )
        moved = _at_line(terms, slope, start)
        found.append((first, last, moved))
    return _not_too_many(found if slope > 0 else found[::-1])


def _at_line(terms: Terms, slope: Number, start: Number) -> Terms:
    """Return what terms are at slope y + start: powers by the binomial theorem."""
    moved: Terms = {}
    for (a, m, b), c in terms.items():
        for k in range(m + 1):
            part = c * math.comb(m, k) * Fraction(slope) ** k * Fraction(start) ** (m - k)
            _add(moved, {(a * slope, k, b + a * start): part})
    return moved
