"""All runs of code on one dataset: the tree of what its draws decide, with exact probabilities.

Code is run from its beginning along a path of decisions: comparisons of draws, and values that the
code needs. At the end of the path the run decides the likeliest way on, and keeps the others for
later runs. The likeliest path is always run next, until what is left is as good as nothing.
"""

from __future__ import annotations

import copy
import heapq
import itertools
import math
import pickle
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.returned import (
    ENTRIES,
    Parts,
    Path,
    bare,
    incomparable,
    parts,
    place_of,
)
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.exponential_sums import Chance, bounds
from sensitivity_lab.results.literals import short_literal

from .comparisons import Above, Race, UnknownError, chance, connected, inside_of
from .draws import GOLDEN, Event, Form, Law, joint, possible, weight
from .generator import DrivenGenerator, Fed, elsewhere, misuse, played, playing
from .kept import first_calls
from .stops import (
    ChangedError,
    LimitError,
    OutsideError,
    OwnGeneratorError,
    Place,
    UnlikelyError,
    budget,
    budgeted,
    place_below,
    stopped,
    watched,
)
from .symbols import (
    DISCRETE,
    EXPONENTIAL,
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    UNIFORM,
    Bound,
    Draw,
    Magnitude,
    Symbol,
    released_noise,
    whole_noise,
)

BRANCHES = 10_000
"""The largest number of runs on one dataset, each along its own path."""

_STEPS = 20
"""Draws and decisions of a run, on average: a loop that draws again makes ever longer runs."""

MOST = 200_000
"""The most draws and decisions of one run."""

_LONG = 8
"""Where runs are that long on average, a loop that draws again is likely the cause."""

_SAMPLE, _FARTHER = 64, 4
"""After so many paths, too many follow if these cover less than this part of what all need."""

_AGAIN = (
    "a loop that draws again should reject by one comparison, such as abs(y - middle) > half, "
    "since low > y or y > high are two ways to go on"
)

TERMS, PATHS = 100_000, 1_024
"""The most terms of the laws of compared noise on one dataset, and the most paths."""

_LEFT = Fraction(1, 10**12)
"""Paths that are less likely, all together, are not run."""

_UNLIKELY = _LEFT / 1000
"""A run on a less likely path ends: a loop that draws again may take that path for ever."""

_UNLIKELY_NOISE = _UNLIKELY**3
"""The same where noise is compared, whose paths are few and have exact probabilities."""

_FEW_DRAWS = 32
"""A run with more draws of noise may be a loop that draws again."""

_FEW_RUNS = 256
"""So few runs explore rarer paths, too, down to `_UNLIKELY`: a leak can be rare."""

_LEFT_AT_END = Fraction(1, 1000)
"""Where all runs that are allowed were made, less may be left, and is part of the answer."""

_NEAR = 1e-9
"""A number that a run returns differs by less from its symbol, in proportion: floats round."""

RERUNS = 64
"""So many runs are repeated in all, and on every dataset where the function makes no draw."""

RERUNS_WITHOUT_DRAWS = 2048
"""The same where it makes no draw on any dataset: then two runs are all that is known of each."""

RERUN_SECONDS = 1.0
"""Repeats that take longer end."""

LEAST_RERUNS = 16
"""So many runs are repeated however long they take."""

_ONE = Fraction(1)

End = int | float
"""An end of a combination of draws: a whole number, or infinite."""

RAISED = "raises"
"""The part under which an error stands that code raises."""


@dataclass
class _Component:
    """Draws that depend on each other once some events are known.

    Attributes
    ----------
    draws : list of int
        Their numbers in the run.
    events : list of tuple
        The coefficients by draw, then ``least``, ``most`` and ``holds``, see `Event`; an end that
        there is not is infinite.
    """

    draws: list[int]
    events: list[tuple[dict[int, int], End, End, bool]] = field(default_factory=list)

    def asked(
        self, laws: Sequence[Law], targets: Sequence[dict[int, int]]
    ) -> tuple[tuple[Law, ...], tuple[Event, ...], tuple[Form, ...]]:
        """Return what `joint` takes for the weights of some targets, given the events."""
        forms = tuple(self._form(terms) for terms in targets)
        return tuple(laws[draw] for draw in self.draws), self.known(), forms

    def known(self, more: Sequence[Any] = ()) -> tuple[Event, ...]:
        """Return the events, and more of these."""
        return tuple(
            Event(self._form(terms), _finite(least), _finite(most), holds)
            for terms, least, most, holds in (*self.events, *more)
        )

    def weight(self, laws: Sequence[Law], *more: Any) -> int:
        """Return the weight of all events together."""
        return weight(tuple(laws[draw] for draw in self.draws), self.known(more))

    def denominator(self, laws: Sequence[Law]) -> int:
        """Return what weights are divided by."""
        return math.prod(laws[draw].denominator for draw in self.draws)

    def _form(self, terms: Mapping[int, int]) -> tuple[int, ...]:
        return tuple(terms.get(draw, 0) for draw in self.draws)


@dataclass(frozen=True)
class _Step:
    """What a run decided: the question, the answer, and whether there was another one."""

    question: tuple[Any, ...]
    answer: Any
    open: bool


_Ways = tuple[Sequence[tuple[Any, Any]], Any]
"""Answers after their weights, and the sum of all weights."""


@dataclass(frozen=True)
class _Way:
    """A path: the first decisions of a run, which is kept once for all, and another one."""

    steps: Sequence[_Step]
    length: int
    step: _Step

    @property
    def path(self) -> tuple[_Step, ...]:
        """The decisions, from the first."""
        return (*self.steps[: self.length], self.step)


class Run:
    """One run, along a path of decisions and beyond.

    Parameters
    ----------
    path : tuple of _Step
        The decisions of the run, from the first.
    mass : float
        The probability of the path, up to what laws leave out: only the order of runs follows it.

    Attributes
    ----------
    others : list of (float, _Way)
        The paths that this run did not take, with their probabilities.
    places : Counter of Place
        To how many of these each line of code led.
    compared : list of Above
        What comparisons of continuous noise have told, in order.
    terms : int
        How many terms the laws of these comparisons had.
    made : list of (int, Symbol)
        Draws of noise that are logarithms, with a minus: their numbers, and of what.
    """

    def __init__(self, path: tuple[_Step, ...] = (), mass: float = 1.0) -> None:
        self.path = path
        self.steps: list[_Step] = []
        self.mass = mass
        self.others: list[tuple[float, _Way]] = []
        self.places: Counter[Place] = Counter()
        # Discrete draws, uniform draws and noise of all kinds are counted apart: the number of a
        # `Draw` is its place in one of these three lists.
        self.laws: list[Law] = []
        self.uniforms: list[tuple[Fraction, Fraction]] = []
        self.noises: list[str] = []
        self.compared: list[Above] = []
        self.race = Race()
        self.terms = 0
        self.made: list[tuple[int, Symbol]] = []
        # By draw; draws that events or a release connect have one component in common.
        self._components: dict[int, _Component] = {}
        # By combination, see `_signed`: the closest ends that events tell.
        self._ranges: dict[Any, tuple[End, End]] = {}
        self._chance = random.Random(0)  # decides where the run was stopped and goes on

    # What the generator asks.

    def discrete(self, law: Law) -> Symbol:
        """Return a new discrete draw."""
        self._components[len(self.laws)] = _Component([len(self.laws)])
        self.laws.append(law)
        return self._symbol(Draw(DISCRETE, len(self.laws) - 1), True)

    def uniform(self) -> Symbol:
        """Return a new uniform draw from 0 to 1."""
        self.uniforms.append((Fraction(0), _ONE))
        return self._symbol(Draw(UNIFORM, len(self.uniforms) - 1), False)

    def noise(self, kind: str) -> Symbol:
        """Return a new draw of standard continuous noise."""
        self.noises.append(kind)
        return self._symbol(Draw(kind, len(self.noises) - 1), False)

    def logarithm(self, symbol: Symbol) -> Any:
        """Return the logarithm of a uniform draw, or of exponential noise, as noise of its own."""
        if len(symbol.terms) == 1 and not stopped():
            ((draw, factor),) = symbol.terms.items()
            kind = ""
            if draw.kind == UNIFORM:
                # Only a number that is uniform on [0, 1], given all decisions so far, has such a
                # logarithm: that of 2 u - 1 is one where u > 1/2 is known (docs/proofs.md, *Noise
                # by inversion*).
                ends = sorted(factor * end + symbol.constant for end in self.uniforms[draw.number])
                kind = EXPONENTIAL if ends == [0, 1] else ""
            elif draw.kind == EXPONENTIAL and factor == 1 and not symbol.constant:
                kind = "" if self.has_compared(symbol) else GUMBEL
            if kind:
                self.check_unspent(symbol)
                self.made.append((len(self.noises), symbol))
                return -self.noise(kind)
        return math.log(symbol.decided())

    def before(self, one: Symbol, other: Symbol) -> None:
        """Take notice of two symbols that are compared: their difference is all that counts."""

    def check_unspent(self, symbol: Symbol) -> None:
        """Raise OutsideError if a draw of which the logarithm was taken is in a symbol."""
        if any(draw in source.terms for _, source in self.made for draw in symbol.terms):
            raise OutsideError("uses a draw again after its logarithm; draw a new one")

    def _symbol(self, draw: Draw, whole: bool) -> Symbol:
        return Symbol(self, {draw: _ONE}, Fraction(0), whole)

    # What symbols ask.

    def within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        """Decide whether a symbol is within bounds."""
        if not symbol.terms:
            return inside(symbol.constant, low, high)
        if stopped():
            return bool(self._chance.getrandbits(1))
        if symbol.continuous:
            return self._noise_within(symbol, low, high)
        if not symbol.discrete:
            return self._uniform_within(symbol, low, high)
        terms, scale = _whole_terms(symbol)
        least, most = (
            _whole_bound(bound, symbol.constant, scale, up)
            for bound, up in ((low, True), (high, False))
        )
        if least > most:
            return False  # there is no whole number between them
        # What is implied is no step: another run on this path finds it implied at the same place.
        if (implied := self._implied(terms, least, most)) is not None:
            return implied

        def ways() -> _Ways:
            one = self.merged_terms(terms)
            whole = one.weight(self.laws)
            yes = one.weight(self.laws, (terms, least, most, True))
            # Both weights are exact, so the rest is the weight of the other answer.
            return [(yes, True), (whole - yes, False)], whole

        answer = self._answer((tuple(sorted(terms.items())), least, most), ways)
        # An answer without an alternative tells nothing new.
        if self.steps[-1].open:
            self._learn(terms, least, most, answer)
        return bool(answer)

    def _learn(self, terms: dict[int, int], least: End, most: End, holds: bool) -> None:
        """Keep an event, and within which bounds its combination is known to be."""
        self.merged_terms(terms).events.append((terms, least, most, holds))
        if not holds:
            if (least == -math.inf) == (most == math.inf):
                return  # outside of an interval: two ranges
            least, most = (-math.inf, least - 1) if most == math.inf else (most + 1, math.inf)
        key, least, most = _signed(terms, least, most)
        low, high = self._ranges.get(key, _NO_ENDS)
        self._ranges[key] = max(low, least), min(high, most)

    def _implied(self, terms: dict[int, int], least: End, most: End) -> bool | None:
        """Return whether a combination is between bounds where earlier events tell; else None."""
        key, least, most = _signed(terms, least, most)
        low, high = self._ranges.get(key, _NO_ENDS)
        if least > high or low > most:
            return False
        return True if least <= low and high <= most else None

    def _uniform_within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        if len(symbol.terms) > 1:
            raise OutsideError(
                "compares a uniform draw with another draw; compare it with a number, or draw "
                "whole numbers"
            )
        if low == high:
            return False  # of probability 0
        ((draw, factor),) = symbol.terms.items()
        # Comparisons have one bound; where it is `low`, a factor above 0 makes it a lower one.
        bound, above = (low, factor > 0) if high.number is None else (high, factor < 0)
        cut = (Fraction(bound.number or 0) - symbol.constant) / factor
        first, last = self.uniforms[draw.number]
        # A draw whose logarithm was taken may be compared only where its range already decides.
        if first < cut < last:
            self.check_unspent(symbol)
        # It divides the range that is left: `above` is the answer of the upper part.
        inside = min(max(cut, first), last)
        ways = [(last - inside, above), (inside - first, not above)], last - first
        answer = self._answer((draw.number, above, cut), lambda: ways)
        self.uniforms[draw.number] = (inside, last) if answer == above else (first, inside)
        return bool(answer)

    def _noise_within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        kinds = {draw.kind for draw in symbol.terms}
        if GAUSSIAN in kinds or UNIFORM in kinds:
            other = "Gaussian noise" if GAUSSIAN in kinds else "a uniform draw with noise"
            raise OutsideError(f"compares {other}; {_whole_noise(symbol)}")
        if low.number == high.number:
            return False  # of probability 0
        self.check_unspent(symbol)
        # Given its discrete draws, a combination is one of noise.
        noise = {draw.number: a for draw, a in symbol.terms.items() if draw.kind != DISCRETE}
        start = symbol.constant
        for draw, a in symbol.terms.items():
            if draw.kind == DISCRETE:
                start += a * self.value(self._symbol(draw, True))
        # There is one bound, since the sign of `abs(noise)` is decided first. An upper one becomes
        # a lower one of the negative; a tie has probability 0, so closed and open ends are alike.
        bound, sign = (high, -1) if low.number is None else (low, 1)
        terms = tuple((number, sign * a) for number, a in sorted(noise.items()))
        event = Above(terms, sign * (Fraction(bound.number or 0) - start))
        question = ("noise", *event)
        if GUMBEL in kinds:
            return self._larger_of(event, question)

        def ways() -> _Ways:
            # All other events are independent of this one: they share no draw with it, not even
            # by way of further events.
            before = connected(self.compared, event)
            try:
                whole, _ = chance(self.noises, before)
                yes, made = chance(self.noises, [*before, event])
            except UnknownError as error:
                place = place_below(called.__code__, False)
                raise OutsideError(f"{error}{_at(place)}") from None
            self.terms += made
            # These only put paths in order, so bounds will do; masses are exact, see `leaf_of`.
            both = [(bounds(yes)[0], True), (bounds(whole - yes)[0], False)]
            return both, bounds(whole)[0]

        answer = self._answer(question, ways)
        if self.steps[-1].open:
            self.compared.append(event if answer else event.negated())
        return bool(answer)

    def _larger_of(self, event: Above, question: tuple[Any, ...]) -> bool:
        """Decide which one of two numbers with Gumbel noise is larger."""
        yes = self.race.chance(event, self.noises)
        if yes is None:
            raise OutsideError(
                "compares Gumbel noise otherwise than for the largest number; choose by "
                "rng.choice(options, p=weights), with weights in proportion to exp(score / scale)"
            )

        def ways() -> _Ways:
            self.terms += 1
            return [(bounds(yes)[0], True), (bounds(1 - yes)[0], False)], _ONE

        answer = self._answer(question, ways)
        self.race.learn(event, answer, yes)
        return bool(answer)

    def value(self, symbol: Symbol) -> Fraction:
        """Decide the value of a symbol."""
        if not symbol.terms:
            return symbol.constant
        if stopped():
            return symbol.constant + self._chance.getrandbits(2)
        if symbol.continuous:
            raise OutsideError(
                "does more with continuous noise than add numbers and multiply by them, such as "
                "float(), int(), round() or exp(). Where that is done with the sum of the exact "
                "answer and the noise, return the sum as it is: what is done with it later costs "
                "no privacy. Noise that is truncated or rounded before it is added is other "
                f"noise, which can lose more: round the sum instead, or {_whole_noise(symbol)}"
            )
        if any(draw.kind == UNIFORM for draw in symbol.terms):
            raise OutsideError(
                "does with a uniform draw what is not covered; only comparisons with numbers are: "
                "draw whole numbers, by rng.integers, rng.choice, rng.geometric or rng.binomial"
            )
        terms, scale = _whole_terms(symbol)

        def ways() -> _Ways:
            one = self.merged_terms(terms)
            table = joint(*one.asked(self.laws, [terms]))
            each = [(weight, value) for (value,), weight in table.items()]
            return each, sum(table.values())

        found = self._answer((tuple(sorted(terms.items())),), ways, converts=True)
        if self.steps[-1].open:
            self._learn(terms, found, found, True)
        return symbol.constant + scale * int(found)

    def _answer(
        self, question: tuple[Any, ...], ways: Callable[[], _Ways], converts: bool = False
    ) -> Any:
        """Return the answer that the path has; at its end take the likeliest of some ways on.

        The other ways are kept: the answers with their weights, and what all of these add up to.
        """
        done = len(self.steps)
        # A function of data and draws asks the same questions, in the same order, along a path.
        if done < len(self.path):
            step = self.path[done]
            if step.question != question:
                raise ChangedError
            self.steps.append(step)
            return step.answer
        weighed, whole = ways()
        possible = [(weight, answer) for weight, answer in weighed if weight > 0]
        weight, taken = max(possible, key=lambda way: way[0])
        if self.length > MOST:
            raise LimitError(
                f"a run makes more than {MOST:,} draws and decisions; draw less often, or in a "
                "loop that ends sooner"
            )
        several = len(possible) > 1
        if several and (place := place_below(called.__code__, converts)) is not None:
            self.places[place] += len(possible) - 1
        for other, answer in possible:
            if answer is not taken:
                mass = self.mass * float(other / whole)
                # The list of steps only grows, so its first `done` entries stay what they are.
                way = _Way(self.steps, done, _Step(question, answer, True))
                self.others.append((mass, way))
        self.mass *= float(weight / whole)
        few = self.terms and len(self.noises) <= _FEW_DRAWS
        if self.mass < (_UNLIKELY_NOISE if few else _UNLIKELY):
            raise UnlikelyError
        self.steps.append(_Step(question, taken, several))
        return taken

    def is_foreign(self, part: Any) -> bool:
        """Whether a part of a release has discrete draws that this run did not make."""
        terms = part.terms if isinstance(part, Symbol) else {}
        return any(draw.kind == DISCRETE and draw.number not in self._components for draw in terms)

    def merged_terms(self, terms: Mapping[int, int]) -> _Component:
        """Return the one component of some draws; they depend on each other from now on."""
        found = {id(self._components[draw]): self._components[draw] for draw in terms}
        if len(found) == 1:
            return next(iter(found.values()))
        one = _Component(
            sorted(draw for each in found.values() for draw in each.draws),
            [event for each in found.values() for event in each.events],
        )
        for draw in one.draws:
            self._components[draw] = one
        return one

    def copy_components(self) -> None:
        """Make this run independent of the one that it was copied from."""
        # One copy per component, so that its draws still share it.
        copies = {id(one): _Component(one.draws, list(one.events)) for one in self.components()}
        self._components = {draw: copies[id(one)] for draw, one in self._components.items()}

    # The end of the run.

    @property
    def compares(self) -> bool:
        """Whether continuous noise was compared."""
        return bool(self.compared or self.race.events)

    def has_compared(self, symbol: Symbol) -> bool:
        """Return whether noise of a symbol was compared."""
        compared = {(draw, self.noises[draw]) for one in self.compared for draw, _ in one.terms}
        return any((draw.number, draw.kind) in compared for draw in symbol.terms)

    @property
    def draws(self) -> int:
        """The number of draws."""
        return len(self.laws) + len(self.uniforms) + len(self.noises)

    @property
    def length(self) -> int:
        """The number of draws and decisions."""
        return self.draws + len(self.steps)

    @property
    def path_taken(self) -> tuple[Any, ...]:
        """All that the run decided, to compare with runs on other datasets."""
        return tuple((step.question, step.answer) for step in self.steps)

    def components(self) -> list[_Component]:
        """Return the components, each once."""
        return list({id(one): one for one in self._components.values()}.values())

    def example(self, turn: int = 0) -> dict[Draw, Fraction]:
        """Return values of all draws that lead along this path, and some noise.

        In the first turn those of discrete draws are likely; others spread over all values.
        """
        values: dict[Draw, Fraction] = {}
        share = (turn * GOLDEN + Fraction(1, 2)) % 1 or Fraction(1, 2)
        for number, (low, high) in enumerate(self.uniforms):
            values[Draw(UNIFORM, number)] = low + share * (high - low)
        for one in self.components():
            found = possible(tuple(self.laws[draw] for draw in one.draws), one.known(), turn)
            for draw, value in zip(one.draws, found, strict=True):
                values[Draw(DISCRETE, draw)] = Fraction(value)
        # Noise that is no whole number, and differs from draw to draw.
        values |= {
            Draw(kind, place): Fraction(5 * place + 3, 8) for place, kind in enumerate(self.noises)
        }
        compared = inside_of(self.noises, [*self.compared, *self.race.events])
        if compared is None:
            raise OutsideError("compares noise so that no draws are far from a tie")
        # Draws that were compared get values that make all answers what they are.
        values |= {Draw(self.noises[place], place): value for place, value in compared.items()}
        known = {Draw(self.noises[at], at) for at in compared}
        # What a logarithm was taken of follows from it, which may be what another was taken of.
        for at, source in reversed(self.made):
            made = Draw(self.noises[at], at)
            if made not in known:
                values[made] = Fraction(40 * (at % 4) + 24 + at, 64)  # not far out
            ((drawn, factor),) = source.terms.items()
            values[drawn] = (Fraction(math.exp(-values[made])) - source.constant) / factor
            known.add(drawn)
        return values


def _check_terms(terms: int, paths: int, places: Counter[Place]) -> None:
    """Raise OutsideError where the exact law of compared noise is too large."""
    if terms and (terms > TERMS or paths >= PATHS):
        much = f"{terms:,} terms" if terms > TERMS else f"more than {PATHS:,} paths"
        first = max(places, key=places.__getitem__, default=None)
        raise OutsideError(f"compares noise so that its exact law has {much}{_at(first)}")


def _at(place: Place | None) -> str:
    return f"; {place.told}" if place else ""


def _whole_noise(symbol: Symbol) -> str:
    return whole_noise(draw.kind for draw in symbol.terms)


def _whole_terms(symbol: Symbol) -> tuple[dict[int, int], Fraction]:
    """Return coprime whole coefficients by draw, and what they are multiplied by."""
    # X / 2 + 3 Y / 4 is 1/4 times 2 X + 3 Y.
    below = math.lcm(*(a.denominator for a in symbol.terms.values()))
    whole = {draw.number: int(a * below) for draw, a in symbol.terms.items()}
    common = math.gcd(*whole.values())
    return {draw: a // common for draw, a in whole.items()}, Fraction(common, below)


def _signed(
    terms: Mapping[int, int], least: End, most: End
) -> tuple[tuple[tuple[int, int], ...], End, End]:
    """Return a combination and its bounds, or both negated: one of the two for both."""
    # x - y >= 1 and y - x <= -1 are the same: both stand under x - y, with the ends 1 and infinity.
    key = tuple(sorted(terms.items()))
    if key[0][1] > 0:
        return key, least, most
    return tuple((draw, -a) for draw, a in key), -most, -least


_NO_ENDS = -math.inf, math.inf


def _finite(end: End) -> int | None:
    return None if isinstance(end, float) else end


def _whole_bound(bound: Bound, constant: Fraction, scale: Fraction, up: bool) -> End:
    """Return a bound of ``constant + scale * whole number`` as one of the whole number."""
    if bound.number is None:
        return -math.inf if up else math.inf
    cut = (bound.number - constant) / scale
    # A whole number that is at least 2.5, or above 2.5, is at least 3; one above 2 is, too.
    if up:
        return math.ceil(cut) if bound.closed else math.floor(cut) + 1
    return math.floor(cut) if bound.closed else math.ceil(cut) - 1


def inside(number: Fraction, low: Bound, high: Bound) -> bool:
    """Tell whether a number is within bounds."""
    for bound, sign in ((low, 1), (high, -1)):
        if bound.number is None:
            continue
        beyond = sign * (number - bound.number)
        if beyond < 0 or (beyond == 0 and not bound.closed):
            return False
    return True


@dataclass(frozen=True, repr=False)
class Leaf:
    """What one run releases, with its law.

    Attributes
    ----------
    parts : dict
        The parts of what is released, by where they stand, with their types. Where a symbol stands,
        it is a number that it can be.
    groups : list of tuple
        For each group of symbols that depend on each other: where they stand, and the probability
        of each tuple of values, where the run takes this path.
    mass : Fraction
        The probability of what the groups do not show.
    symbols : dict
        The symbols by where they stand.
    run : Run
        The run.
    """

    # A symbol decides its value where it is printed, so a leaf never prints its symbols.
    parts: Parts
    groups: list[tuple[tuple[Path, ...], dict[tuple[Fraction, ...], Fraction]]]
    mass: Chance
    symbols: dict[Path, Symbol]
    run: Run

    @property
    def whole_mass(self) -> Chance:
        """The probability of this path."""
        return self.mass * math.prod(
            (sum(table.values(), Fraction(0)) for _, table in self.groups), start=_ONE
        )


@dataclass(frozen=True)
class Explored:
    """All that code releases on one dataset.

    Attributes
    ----------
    dataset : Any
        The dataset.
    leaves : list of Leaf
        The paths.
    unexplored : Fraction
        The probability of all that was not run, or left out of a law.
    """

    dataset: Any
    leaves: list[Leaf]
    unexplored: Fraction


def explore(
    function: Callable[..., Any],
    dataset: Any,
    branches: int = BRANCHES,
    ran: Callable[[int], object] = int,
) -> Explored:
    """Run a function on a dataset along all paths that its draws can take.

    Parameters
    ----------
    function : callable
        Takes the dataset and a generator.
    dataset : Any
        The dataset; each run gets a copy of it.
    branches : int
        The largest number of runs. All together may make 20 times as many draws and decisions.
    ran : callable
        Is told of every run, by its number 1.

    Raises
    ------
    OutsideError
        If the function does with its draws what is not covered.
    QueryError
        If the same draws do not lead to the same release.
    TooLargeError
        If there are more paths than `branches`, or these are too long.
    """
    order = itertools.count()
    # A heap gives the least first, so masses have a minus. The second entry puts equal ones in the
    # order in which they were found, and spares a comparison of paths.
    waiting: list[tuple[float, int, _Way | None]] = [(-1.0, next(order), None)]
    # The mass of all paths that wait. Masses are floats, but are added as fractions: so nothing is
    # lost where large ones come and go.
    left = _ONE
    leaves: list[Leaf] = []
    places: Counter[Place] = Counter()
    steps, shortest, terms = 0, 1, 0
    while waiting and (
        left > _LEFT
        or (len(leaves) < _FEW_RUNS and -waiting[0][0] >= _UNLIKELY)
        or (terms and -waiting[0][0] >= _UNLIKELY_NOISE)
    ):
        # So many runs are allowed yet, by their number and by their steps, if none is shorter than
        # the shortest so far.
        room = max(0, min(branches - len(leaves), (_STEPS * branches - steps) // shortest))
        hopeless = _cannot_cover(left, -waiting[0][0], room, len(leaves))
        if hopeless or len(leaves) == branches or steps > _STEPS * branches:
            if left < _LEFT_AT_END:
                break
            most = len(leaves) + room
            raise TooLargeError(_too_many_paths(dataset, left, leaves, steps, places, most))
        budget().check()
        mass, _, start = heapq.heappop(waiting)
        path = start.path if start is not None else ()
        left += Fraction(mass)
        run = Run(path, -mass)
        try:
            returned = called(function, dataset, run)
        except UnlikelyError:
            returned = None
        ran(1)
        steps += run.length
        places += run.places
        terms += run.terms
        _check_terms(terms, len(leaves), places)
        # The code has ended without asking all that it asked before.
        if len(run.steps) < len(path):
            raise QueryError(state_of(dataset))
        for other, way in run.others:
            left += Fraction(other)
            heapq.heappush(waiting, (-other, next(order), way))
        if returned is not None:
            shortest = max(1, min(shortest, run.length) if leaves else run.length)
            if any(run.is_foreign(part) for part in returned.values()):
                raise QueryError(state_of(dataset))  # a draw of an earlier run
            leaves.append(leaf_of(run, returned))
    repeated = []
    # In reverse order: where code keeps state between calls, it likely is another one now.
    for turn, leaf in enumerate(reversed(leaves)):
        budget().check()
        repeated.append(again(function, dataset, leaf, turn))
        ran(1)
    leaves = repeated[::-1]
    # It lacks the paths that were not run, and what laws leave out, such as a geometric tail.
    known: Chance = sum((leaf.whole_mass for leaf in leaves), Fraction(0))
    return Explored(dataset, leaves, bounds(1 - known)[1])


def _cannot_cover(left: Fraction, likeliest: float, room: int, ran: int) -> bool:
    """Tell whether what is left is too much for so many more runs.

    No later path is likelier than the next one, and in loops later ones are longer. What the
    likeliest paths cover tells enough of what so many others can.
    """
    # A path has covered (1 - left) / _SAMPLE on average. It is hopeless if all runs that are
    # allowed would not cover what is left, though each covered `_FARTHER` times as much.
    covered = ran == _SAMPLE and left > _FARTHER * (1 - left) / _SAMPLE * (ran + room)
    return left - _LEFT_AT_END > likeliest * room or covered


def explore_in_fresh_process(
    function: Callable[..., Any], dataset: Any, branches: int, ran: Callable[[int], object]
) -> Explored:
    """Do the same as `explore` in a process of its own, where each call is a first one."""
    try:
        found: Explored = running.in_fresh_process(
            _explore_there, function, dataset, branches, played(), budget().seconds
        )
    except pickle.PicklingError as error:
        raise InputError(
            "fresh=True sends the function to other processes, but it or something that it uses "
            f"cannot be pickled ({error.__cause__ or error}); make that inside of the function"
        ) from error
    # Each path was run and repeated there.
    ran(2 * len(found.leaves))
    return found


def _explore_there(
    function: Callable[..., Any],
    dataset: Any,
    branches: int,
    generator: str | None,
    seconds: float | None,
) -> Explored:
    function = first_calls(function)
    with elsewhere(), playing(generator), budgeted(seconds):
        found = explore(function, dataset, branches)
        rerun(function, [found])
    return found


def rerun(
    function: Callable[..., Any],
    found: Sequence[Explored],
    ran: Callable[[int], object] = int,
) -> None:
    """Repeat runs, so that chance that the driver does not see is no law.

    `explore` runs each path twice. Where there are few paths, code that draws from a generator of
    its own, such as one in a library of another language, may release the same twice by chance.
    Above all, where it makes no draw from the generator that it gets, there is one path.

    Parameters
    ----------
    function : callable
        The function.
    found : sequence of Explored
        What it releases, by dataset.
    ran : callable
        Is told of every run, by its number 1.

    Raises
    ------
    QueryError
        If a run releases something else than before.
    """
    paths = [(one.dataset, leaf) for one in found for leaf in one.leaves]
    still = [(x, leaf) for x, leaf in paths if not leaf.run.draws]
    drawn = [(x, leaf) for x, leaf in paths if leaf.run.draws]
    # Each path was repeated once before.
    more = max(0, RERUNS - len(drawn)) if drawn else 0
    rounds = RERUNS if drawn or not still else max(RERUNS, RERUNS_WITHOUT_DRAWS // len(still))
    _rerun_until(function, itertools.islice(itertools.cycle(drawn), more), ran)
    # One dataset after the other: what code keeps from the last call comes from another one.
    _rerun_until(function, itertools.chain.from_iterable([still] * rounds), ran)


def _rerun_until(
    function: Callable[..., Any], paths: Iterable[tuple[Any, Leaf]], ran: Callable[[int], object]
) -> None:
    end = time.monotonic() + RERUN_SECONDS
    for number, (dataset, leaf) in enumerate(paths):
        if number >= LEAST_RERUNS and time.monotonic() > end:
            return
        found = again(function, dataset, replace(leaf, parts=leaf.parts | leaf.symbols), number + 1)
        if any(found.parts[path] != leaf.parts[path] for path in leaf.parts.keys() - leaf.symbols):
            raise QueryError(state_of(dataset))
        ran(1)


def example_of(
    function: Callable[..., Any], dataset: Any, leaf: Leaf, values: Mapping[Path, Any]
) -> Any:
    """Return what a function releases along a path where some symbols have given values.

    Parameters
    ----------
    function : callable
        The function.
    dataset : Any
        The dataset of the leaf.
    leaf : Leaf
        The path.
    values : mapping
        By where a symbol stands, its type and its value; other parts are left out.
    """
    run = copy.copy(leaf.run)
    # The values are events of this copy alone: the leaf stays as it is.
    run.copy_components()
    for path in values.keys() & leaf.symbols.keys():
        symbol = leaf.symbols[path]
        terms, scale = _whole_terms(symbol)
        value = int((values[path][1] - symbol.constant) / scale)
        run.merged_terms(terms).events.append((terms, value, value, True))
    given = run.example()
    try:
        with watched():
            return function(copy.deepcopy(dataset), DrivenGenerator(Fed(given, run.made)))
    except Exception as error:  # noqa: BLE001 - an error is a release like any other
        return {RAISED: (type(error).__name__, str(error))}


def called(function: Callable[..., Any], dataset: Any, source: Any) -> Parts:
    """Return the parts of what a function releases on a dataset; an error is released, too."""
    generator = DrivenGenerator(source)
    try:
        with watched():
            found = parts(function(copy.deepcopy(dataset), generator), typed=True)
            return {path: _resolved(part) for path, part in found.items()}
    except ChangedError:
        raise QueryError(state_of(dataset)) from None
    except OwnGeneratorError as error:
        raise QueryError(str(error)) from None
    except LimitError as error:
        raise TooLargeError(f"on {short_literal(dataset)}, {error}") from None
    except Exception as error:
        if told := misuse(error, generator):
            raise QueryError(told) from error
        return parts({RAISED: (type(error).__name__, str(error))}, typed=True)


def _resolved(part: Any) -> Any:
    """Return a magnitude as the symbol that it is, and a symbol without draws as its number."""
    if isinstance(part, Magnitude):
        part = part.resolved()
    if isinstance(part, Symbol) and not part.terms:
        return parts(part.decided(), typed=True)[()]
    return part


def check_some_succeed(released: Sequence[tuple[Any, Parts]]) -> None:
    """Raise QueryError if every run, by its dataset, raised: that is a mistake in the code."""
    if all((RAISED, 0) in one for _, one in released):
        dataset, one = released[0]
        kind, text = (bare(one[RAISED, at]) for at in (0, 1))
        raise QueryError(
            f"the function fails in every run; on {short_literal(dataset)}: {kind}: {text}"
        )


def state_of(dataset: Any) -> str:
    """Return what is wrong where the same draws led to two releases."""
    return (
        f"the function is not a function of data and draws: on {short_literal(dataset)}, the same "
        "draws led to two releases. It keeps state between calls, or draws from a generator of its "
        "own: draw from rng, and make what is kept anew in every call, or pass fresh=True, which "
        "judges first calls"
    )


def _other(dataset: Any, one: Parts, two: Parts) -> QueryError:
    """Return the error about two releases after the same draws."""
    for path, part in one.items():
        kind = incomparable(part)
        if kind and part != two.get(path) and kind == incomparable(two.get(path)):
            return QueryError(
                f"the function returns what cannot be compared: on {short_literal(dataset)}, "
                f"{place_of(path)} is of the type {kind.__name__}, and no two of these are equal; "
                "return what it holds as numbers or texts, or as these in lists, tuples, mappings, "
                "arrays, tables and dataclasses"
            )
    return QueryError(state_of(dataset))


def _too_many_paths(
    dataset: Any,
    left: Fraction,
    leaves: Sequence[Leaf],
    steps: int,
    places: Counter[Place],
    most: int,
) -> str:
    """Return that there are more than `most` paths, which line makes most, and what to do."""
    first = max(places, key=places.__getitem__, default=None)
    advice = "take fewer records or values, or a larger epsilon"
    if first is None:
        advice = f"release noisy numbers as they are, without printing or hashing them; {advice}"
    elif first.converts:
        advice = (
            f"most of them begin where {first.told}: do not wrap draws in int() or float(): "
            f"whole-number draws stay whole; nor print or hash them; or {advice}"
        )
    else:
        advice = f"most of them begin where {first.told}; {advice}"
    paths = len(leaves)
    # Only a loop makes more draws in one run than in another.
    if steps > _LONG * paths and len({leaf.run.draws for leaf in leaves}) > 1:
        advice += f". Many paths are long: {_AGAIN}"
    ran = f" with {steps:,} draws and decisions (those that were run have"
    if most > paths:
        ran = f" ({paths:,} were run, and have"
    return (
        f"on {short_literal(dataset)} the draws lead to more than {most:,} paths{ran} probability "
        f"{float(1 - left):.3g}); {advice}; branches= allows more"
    )


def leaf_of(run: Run, returned: Parts) -> Leaf:
    """Return what a run releases, with the joint law of its symbols."""
    symbols = {path: part for path, part in returned.items() if isinstance(part, Symbol)}
    for symbol in symbols.values():
        kinds = {draw.kind for draw in symbol.terms}
        if UNIFORM in kinds:
            raise OutsideError(
                "releases a uniform draw, whose law is not listed; release whole numbers, by "
                "rng.integers"
            )
        if symbol.continuous and DISCRETE in kinds:
            raise OutsideError(
                "releases the sum of a discrete draw and of continuous noise; "
                f"{_whole_noise(symbol)}"
            )
        # Numbers within ends have a law of their own, see `WithinLoss`.
        if run.has_compared(symbol) and not is_separate(run, symbols.values()):
            raise OutsideError(released_noise(draw.kind for draw in symbol.terms))
        run.check_unspent(symbol)
    discrete = {path: symbol for path, symbol in symbols.items() if not symbol.continuous}
    # The draws of one symbol share a component from here on, so symbols with a draw in common have
    # one joint table.
    for symbol in discrete.values():
        run.merged_terms(_whole_terms(symbol)[0])
    weights, below, groups = 1, 1, []
    for one in run.components():
        own = {
            path: symbol
            for path, symbol in discrete.items()
            if next(iter(symbol.terms)).number in one.draws
        }
        # Draws that are not released enter by the probability of their events alone.
        if own:
            forms, scales = zip(*map(_whole_terms, own.values()), strict=True)
            constants = tuple(symbol.constant for symbol in own.values())
            groups.append((tuple(own), _chances(*one.asked(run.laws, forms), constants, scales)))
        else:
            weights *= one.weight(run.laws)
            below *= one.denominator(run.laws)
    # A discrete draw beside noise is decided before the noise is compared. So the events of
    # discrete draws, of uniform draws, of noise and of Gumbel races are independent.
    uniform = math.prod((high - low for low, high in run.uniforms), start=_ONE)
    noisy = uniform * chance(run.noises, run.compared)[0] * run.race.mass
    return Leaf(returned, groups, noisy * Fraction(weights, below), symbols, run)


def is_separate(run: Run, symbols: Collection[Symbol]) -> bool:
    """Tell whether all draws are Laplace noise, and none is in two numbers or comparisons' sums."""
    # Each symbol has a draw: if there are as many as symbols, each has one of its own.
    drawn = [draw for symbol in symbols for draw in symbol.terms]
    return (
        set(run.noises) == {LAPLACE}
        and run.draws == len(run.noises)
        and len(set(drawn)) == len(drawn) == len(symbols)
        and all(len(one.terms) == 1 for one in run.compared)
    )


@lru_cache(maxsize=1_000)
def _chances(
    laws: tuple[Law, ...],
    events: tuple[Event, ...],
    targets: tuple[Form, ...],
    constants: tuple[Fraction, ...],
    scales: tuple[Fraction, ...],
) -> dict[tuple[Fraction, ...], Fraction]:
    """Return the probabilities of the values of symbols; many leaves have the same ones."""
    below = math.prod(law.denominator for law in laws)
    return {
        tuple(
            constant + scale * value
            for constant, scale, value in zip(constants, scales, values, strict=True)
        ): Fraction(weight, below)
        for values, weight in joint(laws, events, targets).items()
    }


def again(function: Callable[..., Any], dataset: Any, leaf: Leaf, turn: int) -> Leaf:
    """Run a path again with numbers for its draws, and return the leaf with the types of these.

    What code makes of a symbol otherwise than of a number may show at some numbers only: each turn
    takes others.

    Raises
    ------
    QueryError
        If a function that gets the same draws releases something else.
    OutsideError
        If only numbers make it release something else.
    """
    values = leaf.run.example(turn)
    shown = called(function, dataset, Fed(values, leaf.run.made))
    if _agree(leaf, shown, values):
        return replace(leaf, parts=shown)
    if not leaf.run.draws:
        # There is no draw whose type or rounding could tell.
        raise _other(dataset, leaf.parts, shown)
    # Either symbols themselves lead to another release now, which is state, or the code treats
    # numbers otherwise. Numbers that do not repeat their release are state as well.
    returned = called(function, dataset, Run(tuple(leaf.run.steps)))
    if returned.keys() != leaf.parts.keys() or any(
        not _alike(part, leaf.parts[path]) for path, part in returned.items()
    ):
        raise _other(dataset, leaf.parts, returned)
    for _ in range(RERUNS):
        if called(function, dataset, Fed(values, leaf.run.made)) != shown:
            raise QueryError(state_of(dataset))
    raise OutsideError(
        "computes with a draw otherwise than with a number: it calls a function that takes numbers "
        "alone, such as divmod, rounds to a shorter float or integer, asks for its type, or keeps "
        "noise of an earlier call; keep draws as they are, and use them in the call that makes them"
    )


def _alike(one: Any, two: Any) -> bool:
    """Tell whether two runs of one path released the same part."""
    if isinstance(one, Symbol) and isinstance(two, Symbol):
        return one.terms == two.terms and one.constant == two.constant
    return not isinstance(one, Symbol) and not isinstance(two, Symbol) and bool(one == two)


def _agree(leaf: Leaf, shown: Parts, values: Mapping[Draw, Fraction]) -> bool:
    """Tell whether a run with numbers released what its symbols stand for."""
    if shown.keys() != leaf.parts.keys():
        return False
    for path, part in leaf.parts.items():
        if path and path[-1] == ENTRIES:
            continue  # the dtype of an array of symbols is another one
        number = bare(shown[path])
        if not isinstance(part, Symbol):
            if bare(part) != number:
                return False
        elif isinstance(number, bool) or not isinstance(number, int | float | Fraction):
            return False
        else:
            true = part.at(values)
            if abs(Fraction(number) - true) > Fraction(_NEAR) * max(abs(true), _ONE):
                return False
    return True
