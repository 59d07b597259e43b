"""How far the laws of two releases are apart: delta for every epsilon, and the event.

The releases of two runs are compared outcome by outcome. Runs whose outcomes cannot be equal are
compared apart, and numbers that are distributed alike in all runs that can be equal are left out:
so five noisy counts of which one differs cost what one does.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab.audits.claims import ratio
from sensitivity_lab.audits.returned import ENTRIES, Path, bare, place_of
from sensitivity_lab.checks import is_finite, plainest
from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.exact.exponential_sums import Chance, ExponentialSum, bounds, log_ratio
from sensitivity_lab.results.literals import short_literal

from .affine import AffineLaw, Leak, NotJudged, compare
from .inverse import folded
from .losses import Loss, ShiftLoss, Within, WithinLoss
from .mixtures import MixtureLoss, mixed
from .runs import Explored, Leaf, is_separate
from .stops import LimitError, OutsideError
from .symbols import LAPLACE, released_noise, whole_noise

_OUTCOMES = 300_000
"""The largest number of outcomes that are listed together."""

_FEW = 5_000
"""So many outcomes of one law are listed once, and not for every pair of datasets."""

_MAPPING = "builtins.dict"
"""The kind of a dict among the parts of a release."""

_BOUND_DIGITS = 60
"""Digits of the bounds on exponentials and logarithms."""

_CLOSE = 1e-9
"""Ratios of probabilities that are nearer to e ** epsilon are compared exactly."""

_HALVINGS = 80
"""Steps of a bisection for epsilon: as fine as a float."""

Values = dict[Path, Hashable]
"""Parts by where they stand, as they are compared."""


Table = tuple[tuple[Path, ...], dict[tuple[Hashable, ...], Fraction]]
"""Where some parts stand, and the probability of each tuple of their values."""


class Atom(NamedTuple):
    """An outcome: its probabilities under both laws, and what is released."""

    p: Chance
    q: Chance
    outcome: Outcome

    @property
    def told(self) -> str:
        """The outcome in words: the parts that tell, by where they stand."""
        return self.outcome.told

    def __repr__(self) -> str:
        return f"Atom({self.told}; p={float(self.p):.6g}, q={float(self.q):.6g})"


class NoisyEvent(NamedTuple):
    """An event of numbers with continuous noise, with both probabilities.

    It is in words, and as an expression of Python about `release`; empty where it is no short one.
    """

    text: str
    p: float
    q: float
    code: str = ""


def chances(event: Iterable[Atom], noisy: Iterable[NoisyEvent]) -> tuple[float, float]:
    """Return the probabilities of some outcomes, and of events with noise, under both laws."""
    atoms, others = list(event), list(noisy)
    p = float(sum((one.p for one in atoms), Fraction(0))) + sum(one.p for one in others)
    q = float(sum((one.q for one in atoms), Fraction(0))) + sum(one.q for one in others)
    return p, q


class Outcome(NamedTuple):
    """One release: a leaf that makes it, the dataset of the leaf, and the parts that tell."""

    dataset: Any
    leaf: Leaf
    values: Values

    @property
    def told(self) -> str:
        """The parts that tell, by where they stand."""
        named = []
        for path, value in self.values.items():
            place = place_of(path)
            if path and path[-1] == ENTRIES:
                # The size of a list, or the kind and the keys of a mapping, or the fields of a row.
                if isinstance(value, tuple) and type(value[1]) is tuple:
                    names = [bare(name) for name in value[1]]
                    what = "keys" if value[0] == _MAPPING else "fields"
                    if what == "keys" or all(isinstance(name, str) for name in names):
                        named.append(f"the {what} of {place} are {short_literal(names)}")
                continue
            if value == _NOISE:
                named.append(f"{place} is {_NOISE}")
                continue
            number = value[1] if type(value) is tuple else bare(value)
            if isinstance(number, Fraction):
                number = plainest(number)
            told = ""
            if isinstance(number, frozenset):
                number = set(map(bare, number))
            elif type(value) is tuple and issubclass(value[0][0], np.generic):
                told = f" ({value[0][0].__name__})"
            named.append(f"{place} = {short_literal(number)}{told}")
        return " and ".join(named) or "an empty release"

    def __repr__(self) -> str:
        return f"Outcome({self.told})"


@dataclass(frozen=True)
class _Boxed:
    """A leaf as a set of outcomes with probabilities.

    Attributes
    ----------
    leaf : Leaf
        The leaf.
    fixed : dict
        The parts that are always the same.
    tables : list of (tuple of Path, dict)
        Independent groups of parts: the probability of each tuple of values; they sum to 1.
    mass : Fraction
        The probability of the leaf.
    noisy : bool
        Whether there are numbers with continuous noise. Among the fixed parts, these are `_NOISE`:
        no number without noise equals them.
    """

    leaf: Leaf
    fixed: Values
    tables: list[Table]
    mass: Chance
    noisy: bool

    def possible(self, path: Path) -> set[Hashable]:
        """Return the values that a part can have."""
        if path in self.fixed:
            return {self.fixed[path]}
        paths, table = next(one for one in self.tables if path in one[0])
        place = paths.index(path)
        return {values[place] for values in table}


_NOISE = "a number with continuous noise"

_MOST_EPSILON = 700.0
"""Of a larger epsilon, e ** epsilon is no float."""


def _boxed(leaf: Leaf) -> _Boxed:
    noisy = {path: one for path, one in leaf.symbols.items() if one.continuous}
    fixed = {path: _key(part) for path, part in leaf.parts.items() if path not in leaf.symbols}
    # A number with noise never equals one without; two with noise look alike here, and `_noisy`
    # tells how far apart they are.
    fixed |= dict.fromkeys(noisy, _NOISE)
    tables: list[Table] = []
    mass = leaf.mass
    for paths, table in leaf.groups:
        # A table adds up to the probability that its draws take this path. That belongs to the
        # mass; what is left is the law given the path.
        whole = sum(table.values(), Fraction(0))
        mass *= whole
        # Which of its values are -0.0 is not known of a symbol: none counts as such.
        kinds = [(_kind_of_number(leaf.parts[path])[0], False) for path in paths]
        named: dict[tuple[Hashable, ...], Fraction] = {
            tuple((kind, value) for kind, value in zip(kinds, values, strict=True)): weight / whole
            for values, weight in table.items()
        }
        tables.append((paths, named))
    return _Boxed(leaf, fixed, tables, mass, bool(noisy))


def noisy_paths(leaf: Leaf) -> list[Path]:
    """Return where numbers with continuous noise stand, in the order of their law."""
    return sorted((path for path, one in leaf.symbols.items() if one.continuous), key=repr)


def _affine(leaf: Leaf) -> AffineLaw:
    """Return the law of the numbers with continuous noise."""
    symbols = [leaf.symbols[path] for path in noisy_paths(leaf)]
    draws = sorted({draw for one in symbols for draw in one.terms})
    rows = tuple(tuple(one.terms.get(draw, Fraction(0)) for draw in draws) for one in symbols)
    kinds = tuple(draw.kind for draw in draws)
    return AffineLaw(tuple(one.constant for one in symbols), rows, kinds)


def _dtype_of_entries(value: Any) -> str:
    """Return the dtype of an array or a column by what stands with its entries; else nothing."""
    if type(value) is not tuple or not str(value[0]).startswith(("numpy.", "pandas.")):
        return ""
    told = value[1]
    several = isinstance(told, tuple) and len(told) > 1
    return told[1] if several and isinstance(told[1], str) else ""


def _kind_of_number(part: Any) -> Any:
    """Return the type of a number, where NumPy's widest are Python's; and whether it is -0.0."""
    kinds = ((bool, bool | np.bool_), (int, int | np.int64), (float, float))
    plain = next((ours for ours, both in kinds if issubclass(part.kind, both)), part.kind)
    return plain, part.negative


def _key(part: Any) -> Any:
    """Return what a part is compared by: numbers by their type and value, as symbols are."""
    value = bare(part)
    if value is not part and isinstance(value, int | float | Fraction) and is_finite(value):
        return _kind_of_number(part), Fraction(value)
    return part


def _key_of_leaf(leaf: Leaf) -> Hashable:
    symbols = frozenset(
        (path, one.constant, frozenset(one.terms.items())) for path, one in leaf.symbols.items()
    )
    groups = tuple((paths, frozenset(table.items())) for paths, table in leaf.groups)
    return frozenset(leaf.parts.items()), symbols, groups, leaf.mass


@dataclass(frozen=True)
class ReleaseLaw:
    """The law of what code releases on one dataset."""

    explored: Explored

    @property
    def dataset(self) -> Any:
        """The dataset."""
        return self.explored.dataset

    @cached_property
    def key(self) -> Hashable:
        """What equal laws share; one that was cut, or has compared noise, is like no other."""
        leaves = self.explored.leaves
        # Symbols do not tell the law of noise that was compared, or that was made of other draws.
        if self.explored.unexplored or any(leaf.run.compares or leaf.run.made for leaf in leaves):
            return id(self)
        return frozenset(Counter(map(_key_of_leaf, leaves)).items())

    @cached_property
    def boxed(self) -> list[_Boxed]:
        """The leaves that have a probability."""
        boxed = [_boxed(leaf) for leaf in folded(self.explored.leaves)]
        return [one for one in boxed if one.mass]

    @cached_property
    def listed(self) -> dict[Hashable, tuple[Chance, Outcome]] | None:
        """The probability of each outcome; None if there are many, or continuous noise."""
        if any(one.noisy for one in self.boxed):
            return None
        cells = sum(math.prod(len(table) for _, table in one.tables) for one in self.boxed)
        if cells > _FEW:
            return None
        found: dict[Hashable, tuple[Chance, Outcome]] = {}
        for one in self.boxed:
            for told, chance in _joined(one.tables):
                values = one.fixed | told
                key = frozenset(values.items())
                before = found[key][0] if key in found else 0
                found[key] = before + one.mass * chance, Outcome(self.dataset, one.leaf, values)
        return found


@dataclass(frozen=True)
class Noisy:
    """Outcomes that both laws have with continuous noise.

    Attributes
    ----------
    p, q : Fraction
        The probabilities of these outcomes together under each law, above 0.
    loss : Loss, Leak or NotJudged
        How far the laws of the noisy numbers are apart, given these outcomes.
    leaf : Leaf
        One that makes such outcomes.
    alone : bool
        Whether no other outcomes look like these. If not, what tells them apart is not seen, and
        only the upper bounds hold.
    """

    p: Chance
    q: Chance
    loss: Loss | Leak | NotJudged
    leaf: Leaf
    alone: bool = True

    def turned(self) -> Noisy:
        """Return the same with the laws exchanged."""
        return Noisy(self.q, self.p, self.loss.swapped(), self.leaf, self.alone)

    def explored(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return bounds on the integral of (p f - e ** epsilon q g)+.

        It is p times the delta of f and g at epsilon + log(q / p).
        """
        # p f - e**epsilon q g is p (f - e**(epsilon + log(q / p)) g), and delta falls as epsilon
        # grows: so the upper bound of the logarithm makes the lower one of delta.
        small, large = bounds(self.p)
        low, high = (0, 0) if self.p == self.q else log_ratio(self.q, self.p)
        least, most = self._delta(epsilon + high), self._delta(epsilon + low)
        return small * least[0] if self.alone else Fraction(0), large * most[1]

    def _delta(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return bounds on delta at any epsilon, below 0 as well."""
        if epsilon >= 0 or isinstance(self.loss, NotJudged):
            least, most = self.loss.delta(epsilon)
            return Fraction(least), Fraction(most)
        # With F = {f > e ** epsilon g}: P(F) - e ** epsilon Q(F) is 1 - e ** epsilon plus the same
        # for the complement of F with the laws exchanged, at -epsilon, times e ** epsilon.
        low, high = exp_bounds(epsilon)
        least, most = self.loss.swapped().delta(-epsilon)
        return 1 - high + low * Fraction(least), 1 - low + high * Fraction(most)

    def event(self, epsilon: Fraction) -> NoisyEvent | None:
        """Return the event that attains delta, or if delta is 0, that at half the epsilon."""
        if isinstance(self.loss, NotJudged):
            return None
        paths = noisy_paths(self.leaf)
        if isinstance(self.loss, Leak):
            weighted, scale = _weighted(self.loss.weights, paths)
            # The combination is a constant under one law, or under both.
            on_x = "" if isinstance(self.loss.p, Fraction) else "not "
            at = self.loss.p if isinstance(self.loss.p, Fraction) else Fraction(self.loss.q)
            value = float(at / scale)
            code = f"{on_x}math.isclose({weighted}, {value!r}, abs_tol=1e-9)"
            return NoisyEvent(f"{weighted} is {on_x}{value:.6g}", float(self.p), 0.0, code)
        # Near the least epsilon delta is so small that its event has no probability in floats.
        both = (self.loss.event(at) for at in (epsilon, epsilon / 2))
        found = next((one for one in both if one and one.probability_p[0]), None)
        if found is None:
            return None
        text, code = "a combination of the noisy numbers is in a range", ""
        if found.weights and found.intervals:
            weighted, scale = _weighted(found.weights, paths)
            ranges = [sorted(float(end) / float(scale) for end in ends) for ends in found.intervals]
            text = code = " or ".join(_ranged(weighted, *ends) for ends in sorted(ranges))
        chances = found.probability_p[0], found.probability_q[0]
        return NoisyEvent(text, float(self.p) * chances[0], float(self.q) * chances[1], code)

    @property
    def epsilon(self) -> float:
        """The least pure epsilon; rounded up."""
        if self.loss.epsilon is None or math.isinf(self.loss.epsilon):
            return math.inf
        return float(self.loss.epsilon + log_ratio(self.p, self.q)[1])


def _weighted(weights: Sequence[Fraction], paths: Sequence[Path]) -> tuple[str, Fraction]:
    """Return a combination of released numbers in words, over its first weight; and this weight."""
    scale = next(weight for weight in weights if weight)
    terms = []
    for weight, path in zip(weights, paths, strict=True):
        if weight:
            over = weight / scale
            factor = "" if over == 1 else "-" if over == -1 else f"{float(over):.6g} * "
            terms.append(factor + place_of(path))
    return " + ".join(terms).replace("+ -", "- "), scale


def _ranged(weighted: str, low: float, high: float) -> str:
    """Return in words, and as Python, that a combination is between two numbers."""
    if math.isinf(high):
        return f"{weighted} > {low:.6g}"
    if math.isinf(low):
        return f"{weighted} < {high:.6g}"
    return f"{low:.6g} < {weighted} < {high:.6g}"


@dataclass(frozen=True)
class Divergence:
    """Two laws, outcome by outcome.

    Attributes
    ----------
    atoms : list of Atom
        The outcomes; those with equal probabilities under both may be missing.
    left : tuple of Fraction
        The probability under each law of what was not explored.
    noisy : list of Noisy
        The outcomes with continuous noise.
    """

    atoms: list[Atom]
    left: tuple[Fraction, Fraction]
    noisy: list[Noisy] = field(default_factory=list)

    def swapped(self) -> Divergence:
        """Return the same with the laws exchanged."""
        atoms = [Atom(q, p, seen) for p, q, seen in self.atoms]
        return Divergence(atoms, self.left[::-1], [one.turned() for one in self.noisy])

    def dtypes(self, event: Iterable[Atom]) -> list[str]:
        """Return in words the dtypes that tell outcomes of an event from all under the other law.

        Arrays whose entries look alike are other releases if their dtypes differ.
        """
        x, y = (
            {
                path: dtype
                for one in atoms
                for path, value in one.outcome.values.items()
                if (dtype := _dtype_of_entries(value))
            }
            for atoms in ([one for one in event if not one.q], [o for o in self.atoms if not o.p])
        )
        return [
            f"the dtype of {place_of(path)} is {x[path]} on x and {y[path]} on y"
            for path in x.keys() & y.keys()
            if x[path] != y[path]
        ]

    @property
    def unknown(self) -> str:
        """Why the laws are not known, where noise is not judged; empty if they are."""
        reasons = [one.loss.reason for one in self.noisy if isinstance(one.loss, NotJudged)]
        if not all(one.alone for one in self.noisy):
            way_out = whole_noise(self.noisy[0].leaf.run.noises)
            reasons.append(f"runs that release alike have different noise; {way_out}")
        return reasons[0] if reasons else ""

    @cached_property
    def _sorted(self) -> tuple[list[Atom], Any, list[Chance], list[Chance]]:
        """The atoms by descending p / q, these ratios with a minus, and sums of p and q before."""
        ratios = [_ratio(atom) for atom in self.atoms]
        order = sorted(range(len(ratios)), key=ratios.__getitem__, reverse=True)
        atoms = [self.atoms[place] for place in order]
        sums_p = list(itertools.accumulate((one.p for one in atoms), initial=Fraction(0)))
        sums_q = list(itertools.accumulate((one.q for one in atoms), initial=Fraction(0)))
        # With a minus, ratios ascend, as `searchsorted` needs them.
        return atoms, -np.array([ratios[place] for place in order]), sums_p, sums_q

    def _tied_places(self, epsilon: Fraction) -> tuple[int, int]:
        """Return up to which place ratios are surely above e ** epsilon, and from which below."""
        # 10**305 times 1 + _CLOSE still is a float.
        at = float(min(exp_bounds(epsilon)[1], Fraction(10**305)))
        ratios = self._sorted[1]
        sure = int(np.searchsorted(ratios, -at * (1 + _CLOSE)))
        return sure, int(np.searchsorted(ratios, -at * (1 - _CLOSE), side="right"))

    def explored(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return bounds on the sum of (p - e ** epsilon q)+ over what was explored."""
        low, high = exp_bounds(epsilon)
        atoms, _, sums_p, sums_q = self._sorted
        sure, end = self._tied_places(epsilon)
        # All atoms before `sure` belong to the event: p - e**epsilon q of their sums
        # takes one operation. For those that follow up to `end`, floats do not tell,
        # and each is decided exactly.
        p, q = bounds(sums_p[sure]), bounds(sums_q[sure])
        least, most = p[0] - high * q[1], p[1] - low * q[0]
        zero = Fraction(0)
        for atom in atoms[sure:end]:
            beyond = bounds(_excess(atom, epsilon))
            least += max(zero, beyond[0])
            most += max(zero, beyond[1])
        for one in self.noisy:
            part = one.explored(epsilon)
            least += part[0]
            most += part[1]
        return max(zero, least), most

    def delta(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return bounds on delta at an epsilon: of P(S) - e ** epsilon Q(S), over all events S."""
        least, most = self.explored(epsilon)
        high = exp_bounds(epsilon)[1]
        return max(Fraction(0), least - high * self.left[1]), min(Fraction(1), most + self.left[0])

    def event(self, epsilon: Fraction) -> list[Atom]:
        """Return the outcomes of the event that attains delta, those that count most first."""
        low = exp_bounds(epsilon)[0]
        atoms, (sure, end) = self._sorted[0], self._tied_places(epsilon)
        inside = atoms[:sure] + [one for one in atoms[sure:end] if _excess(one, epsilon) > 0]
        return sorted(
            inside, key=lambda one: bounds(one.p)[0] - low * bounds(one.q)[0], reverse=True
        )

    def telling(self) -> list[Atom]:
        """Return the outcomes with the largest ratio, where no event attains delta."""
        atoms, ratios, _, _ = self._sorted
        return [atom for atom, ratio in zip(atoms, ratios, strict=True) if ratio == ratios[0]]

    def _largest_log(self) -> tuple[Fraction, Fraction]:
        """Bounds on the logarithm of the largest p / q, where all are finite, and not all 0."""
        atoms, ratios, _, _ = self._sorted
        # Ratios are negative here. The largest exact one is among those that are
        # nearly the largest float.
        top = list(itertools.compress(atoms, ratios <= ratios[:1] * (1 - _CLOSE)))
        logs = [log_ratio(*both) for both in {_as_quotient(one.p, one.q) for one in top}]
        return max(low for low, _ in logs), max(high for _, high in logs)

    @cached_property
    def pure(self) -> tuple[float, float] | None:
        """Bounds on the least pure epsilon; None if what was not explored leaves it open."""
        if any(self.left) or self.unknown:
            return None
        # The largest ratio is that of a part: of numbers with noise, or of single outcomes.
        noisy = max((one.epsilon for one in self.noisy), default=0.0)
        ratios = self._sorted[1]
        if -math.inf in ratios or math.isinf(noisy):
            return math.inf, math.inf
        low, high = self._largest_log() if ratios.any() else (0, 0)
        return max(0.0, float(low), noisy), max(0.0, float(high), noisy)

    @property
    def rho(self) -> tuple[Fraction | float, Fraction | float] | None:
        """Bounds on the least rho of zero-concentrated privacy; None where it is not known.

        It is known where everything that differs has continuous noise, and infinite where the
        first law has outcomes that are impossible under the second, of which nothing is left out.
        """
        if not self.left[1] and (
            any(one.p and not one.q for one in self.atoms)
            or any(one.p and isinstance(one.loss, Leak) for one in self.noisy)
        ):
            return math.inf, math.inf
        if any(self.left) or self.unknown or any(one.p != one.q for one in self.atoms):
            return None
        if not self.noisy:
            return Fraction(0), Fraction(0)
        (one, *others) = self.noisy
        if others or one.p != 1 or one.q != 1 or isinstance(one.loss, Leak | NotJudged):
            return None
        return one.loss.rho

    def epsilon(self, delta: Fraction) -> tuple[float, float]:
        """Return bounds on the least epsilon at which this delta is enough.

        Infinite: there is none, or what was not explored leaves it open.
        """
        if not delta and self.pure is not None:
            return self.pure
        return self._least(delta, 0), self._least(delta, 1)

    def _least(self, delta: Fraction, bound: int) -> float:
        """Return the least epsilon at which a bound of delta is at most so much."""
        low, high = 0.0, 1.0
        if self.delta(Fraction(0))[bound] <= delta:
            return 0.0
        # Delta falls as epsilon grows. Its bound is always too large at `low`, and after this loop
        # small enough at `high`. So a lower bound shows that the least epsilon is above `low`, an
        # upper one that it is at most `high`.
        while self.delta(Fraction(high))[bound] > delta:
            if high == _MOST_EPSILON:
                return math.inf
            low, high = high, min(2 * high, _MOST_EPSILON)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if self.delta(Fraction(middle))[bound] > delta:
                low = middle
            else:
                high = middle
        return high if bound else low


def _ratio(atom: Atom) -> float:
    return ratio(bounds(atom.p)[0], bounds(atom.q)[0])


def _as_quotient(p: Chance, q: Chance) -> tuple[Chance, Chance]:
    """Return two numbers with the same quotient; one pair for all fractions that have it."""
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        return p / q, Fraction(1)
    return p, q


def _excess(atom: Atom, epsilon: Fraction) -> Chance:
    """Return p - e ** epsilon q."""
    return atom.p - atom.q * ExponentialSum.of({epsilon: Fraction(1)})


def exp_bounds(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds on e ** epsilon.

    Examples
    --------
    >>> low, high = exp_bounds(Fraction(1))
    >>> float(low), high - low < Fraction(1, 10**55)
    (2.718281828459045, True)
    """
    if not epsilon:
        return Fraction(1), Fraction(1)
    found = Enclosure.of(epsilon, _BOUND_DIGITS).exp()
    return Fraction(found.low), Fraction(found.high)


def compared(first: ReleaseLaw, second: ReleaseLaw) -> Divergence:
    """Compare the laws of what code releases on two datasets.

    Raises
    ------
    LimitError
        If more than 300,000 outcomes would have to be listed together.
    """
    zero = Fraction(0)
    if first is second:  # a dataset beside itself: no event tells it apart, cut off or not
        return Divergence([], (zero, zero))
    left = first.explored.unexplored, second.explored.unexplored
    if first.listed is not None and second.listed is not None:
        absent = (zero, None)
        both = {**first.listed, **second.listed}
        atoms = [
            Atom(first.listed.get(key, absent)[0], second.listed.get(key, absent)[0], outcome)
            for key, (_, outcome) in both.items()
        ]
        return Divergence(atoms, left)
    atoms, noisy = [], []
    items = [(law, one) for law in (first, second) for one in law.boxed]
    for cluster in _clusters([one for _, one in items]):
        inside = set(map(id, cluster))
        members = [(law, one) for law, one in items if id(one) in inside]
        # In a cluster all leaves have noise in the same places. If one law has none of these
        # releases, they are outcomes like others, which the other law lacks.
        if cluster[0].noisy and len({id(law) for law, _ in members}) == 2:
            noisy += _noisy(members, first)
        else:
            atoms += _atoms(members, first)
    return Divergence(atoms, left, noisy)


def _noisy(members: Sequence[tuple[ReleaseLaw, _Boxed]], first: ReleaseLaw) -> list[Noisy]:
    """Return the outcomes of leaves with continuous noise that can have outcomes in common."""
    sides = [[one for law, one in members if (law is first) is mine] for mine in (True, False)]
    # Draws that are not released decide what noise is added to: "Mixtures" in docs/proofs.md.
    if (mixture := _mixture_loss(*sides)) is not None:
        p, q = (sum((one.mass for one in some), Fraction(0)) for some in sides)
        return [Noisy(p, q, mixture, members[0][1].leaf)]
    mine, others = ({one.leaf.run.path_taken: one for one in some} for some in sides)
    if len(mine) == len(others) == 1:
        pairs = list(zip(*sides, strict=True))
    elif mine.keys() == others.keys():
        # The runs decided alike: given all decisions, which are not seen, the laws are these. By
        # joint convexity, delta is at most the sum.
        pairs = [(mine[path], others[path]) for path in mine]
    else:
        raise OutsideError(
            "adds continuous noise in runs that decide otherwise on two neighbors, and release "
            f"alike; {whole_noise(members[0][1].leaf.run.noises)}"
        )
    found = []
    for one, other in pairs:
        if one.tables or other.tables:
            raise OutsideError(
                "releases discrete draws beside continuous noise; audit the two apart, and add "
                "their epsilons"
            )
        alone = len(pairs) == 1
        if (cut := _within(one.leaf, other.leaf)) is not None:
            found.append(replace(cut, alone=alone))
            continue
        loss = compare(_affine(one.leaf), _affine(other.leaf))
        found.append(Noisy(one.mass, other.mass, loss, one.leaf, alone))
    return found


def _mixture_loss(own: Sequence[_Boxed], other: Sequence[_Boxed]) -> MixtureLoss | None:
    """Return the loss of a number whose center draws decide that are not released; else None."""
    both = [*own, *other]
    # With one leaf on either side nothing is mixed, and `compare` judges the noise.
    plain = all(len(one.leaf.symbols) == 1 and not one.leaf.run.compares for one in both)
    if len(both) < 3 or not plain or any(one.tables for one in both):
        return None
    p, q = (mixed((one.mass, _affine(one.leaf)) for one in some) for some in (own, other))
    if p is None or q is None or p[0] != q[0]:
        return None
    (kind, _), law = p
    return MixtureLoss(kind, (Fraction(1),), law, q[1])


def _within(one: Leaf, other: Leaf) -> Noisy | None:
    """Compare numbers that are released within ends, if their comparisons tell these.

    At most one of them may differ between the two laws. The others, and draws that are not
    released, have the same probability to be within theirs.
    """
    leaves = one, other
    if not any(
        leaf.run.has_compared(symbol) for leaf in leaves for symbol in leaf.symbols.values()
    ):
        return None
    if not all(is_separate(leaf.run, leaf.symbols.values()) for leaf in leaves):
        raise OutsideError(released_noise(one.run.noises + other.run.noises))
    (x, rest), (y, others) = map(_numbers_within, leaves)
    differ = [path for path in x if x[path] != y[path]]
    if not differ:  # what was decided tells all
        return Noisy(one.mass, other.mass, ShiftLoss((), ()), one)
    (path, *more) = differ
    if more or rest != others or x[path].scale != y[path].scale:
        raise OutsideError(released_noise([LAPLACE]))
    apart = [law for at, law in x.items() if at != path] + rest
    mass = math.prod((law.mass(-math.inf, math.inf) for law in apart), start=Fraction(1))
    weights = tuple(Fraction(at == path) for at in x)
    return Noisy(mass, mass, WithinLoss(x[path], y[path], weights), one)  # which has their masses


def _numbers_within(leaf: Leaf) -> tuple[dict[Path, Within], list[Within]]:
    """Return the released numbers, and the draws that are not released, with their ends."""
    ends: dict[int, tuple[Any, Any]] = {}
    for ((draw, a),), least in leaf.run.compared:
        low, high = ends.get(draw, (-math.inf, math.inf))
        # What is known of the draw Z is a Z > least.
        ends[draw] = (max(low, least / a), high) if a > 0 else (low, min(high, least / a))
    found = {}
    for path in noisy_paths(leaf):
        symbol = leaf.symbols[path]
        ((drawn, scale),) = symbol.terms.items()
        both = ends.pop(drawn.number, (-math.inf, math.inf))
        low, high = sorted(symbol.constant + scale * end for end in both)
        found[path] = Within(symbol.constant, abs(scale), low, high)
    rest = (Within(Fraction(0), Fraction(1), *both) for both in sorted(ends.values()))
    return found, list(rest)


def _clusters(items: list[_Boxed]) -> Iterator[list[_Boxed]]:
    """Yield groups of leaves; leaves of different groups have no outcome in common."""
    by_places: dict[frozenset[Path], list[_Boxed]] = {}
    for one in items:
        # Releases with parts in other places are never equal.
        by_places.setdefault(frozenset(one.leaf.parts), []).append(one)
    waiting = list(by_places.values())
    while waiting:
        group = waiting.pop()
        # A part whose values divide the leaves into groups that share none divides their outcomes.
        for path in group[0].leaf.parts if len(group) > 1 else ():
            divided = _divided(group, [one.possible(path) for one in group])
            if len(divided) > 1:
                waiting += divided
                break
        else:
            yield group


def _divided(group: Sequence[_Boxed], possible: Iterable[set[Hashable]]) -> list[list[_Boxed]]:
    """Return the leaves in groups; two leaves with a value in common are in one group."""
    joined: list[tuple[set[Hashable], list[_Boxed]]] = []
    for one, values in zip(group, possible, strict=True):
        # Groups have no value in common; a new leaf joins all that it has a value in common with.
        members = [one]
        apart = []
        for others, those in joined:
            if others.isdisjoint(values):
                apart.append((others, those))
            else:
                values = values | others
                members = those + members
        joined = [*apart, (values, members)]
    return [members for _, members in joined]


def _atoms(members: Sequence[tuple[ReleaseLaw, _Boxed]], first: ReleaseLaw) -> list[Atom]:
    """Return the outcomes of leaves that can have outcomes in common, with their probabilities."""
    cluster = [one for _, one in members]
    # In each leaf, the groups are independent of each other, so its law is a product of tables.
    groups = _tied(cluster)
    tables = [[_over(one, group) for one in cluster] for group in groups]
    # Parts with one law in all leaves are independent of the rest, and tell nothing.
    telling = [place for place, made in enumerate(tables) if any(one != made[0] for one in made)]
    groups = [groups[place] for place in telling]
    tables = [tables[place] for place in telling]
    cells = sum(math.prod(len(made[place]) for made in tables) for place in range(len(cluster)))
    if cells > _OUTCOMES:
        raise LimitError(
            f"{cells:,} outcomes have to be listed together, more than {_OUTCOMES:,}; release "
            "fewer numbers that change together, or draw from fewer values"
        )
    found: dict[Hashable, list[Any]] = {}
    for place, (law, one) in enumerate(members):
        own = [(group, made[place]) for group, made in zip(groups, tables, strict=True)]
        for told, chance in _joined(own):
            key = tuple(told.values())  # all leaves have the same groups, in the same order
            values = one.fixed | told
            entry = found.setdefault(key, [Fraction(0), Fraction(0), law, one, values])
            # False, the place of p, for the first law; True, that of q, for the second.
            entry[law is not first] += one.mass * chance
    return [
        Atom(p, q, Outcome(law.dataset, one.leaf, values))
        for p, q, law, one, values in found.values()
    ]


def _tied(cluster: Sequence[_Boxed]) -> list[tuple[Path, ...]]:
    """Return the parts in groups that are independent of each other in every leaf."""
    groups: list[set[Path]] = [{path} for path in cluster[0].leaf.parts]
    for one in cluster:
        for paths, _ in one.tables:
            # A table of any leaf ties together all groups that it has parts of.
            inside = [group for group in groups if not group.isdisjoint(paths)]
            groups = [group for group in groups if group.isdisjoint(paths)]
            groups.append(set().union(*inside))
    return [tuple(sorted(group, key=repr)) for group in groups]


def _over(one: _Boxed, group: tuple[Path, ...]) -> dict[tuple[Hashable, ...], Fraction]:
    """Return the law of some parts in a leaf."""
    # After `_tied`, a table is inside of one group, or has no part of it.
    own = [(paths, table) for paths, table in one.tables if not set(paths).isdisjoint(group)]
    return {
        tuple(told[path] if path in told else one.fixed[path] for path in group): chance
        for told, chance in _joined(own)
    }


def _joined(tables: Sequence[Table]) -> Iterator[tuple[Values, Fraction]]:
    """Yield all values of independent groups of parts together, with their probabilities."""
    for entries in itertools.product(*(table.items() for _, table in tables)):
        told: Values = {}
        for (paths, _), (row, _) in zip(tables, entries, strict=True):
            told.update(zip(paths, row, strict=True))
        yield told, math.prod((chance for _, chance in entries), start=Fraction(1))
