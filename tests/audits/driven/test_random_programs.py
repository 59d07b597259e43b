"""`audit_mechanism` beside two oracles, on random programs whose laws are computed here.

The linear programs release combinations of sums and entries with Laplace, Gaussian or geometric
noise: their epsilon, and mostly their delta, have closed forms. The discrete programs are trees of
draws, comparisons and arithmetic: one interpreter runs them with a generator, another lists the
law of their states in fractions. Of the package, only the audit is used.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.errors import TooLargeError

pytestmark = pytest.mark.usefixtures("few_runs")

SMALL = 43
"""Programs of smaller seeds are small."""

SEEDS = [
    range(3, 15),
    pytest.param(range(15, SMALL), marks=pytest.mark.exhaustive),
    *(
        pytest.param(range(at, at + 60), marks=pytest.mark.stress)
        for at in range(SMALL, SMALL + 660, 60)
    ),
]

PRECISE = Context(prec=60)


def exp(exponent: Fraction) -> Fraction:
    """The exponential to 50 digits."""
    above, below = Decimal(exponent.numerator), Decimal(exponent.denominator)
    return Fraction(PRECISE.exp(PRECISE.divide(above, below)))


def log(number: Fraction) -> Fraction:
    """The natural logarithm to 50 digits."""
    above, below = Decimal(number.numerator), Decimal(number.denominator)
    return Fraction(PRECISE.subtract(PRECISE.ln(above), PRECISE.ln(below)))


# What a claim may be called.


@dataclass(frozen=True)
class Setting:
    """Datasets, and which of them are neighbors."""

    values: tuple[int, ...]
    sizes: tuple[int, ...]
    neighbors: str

    def datasets(self) -> list[tuple[int, ...]]:
        """All lists, in every order."""
        return [x for n in self.sizes for x in itertools.product(self.values, repeat=n)]

    def pairs(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Both orders of all neighbors."""
        for x, y in itertools.permutations(self.datasets(), 2):
            if self.neighbors == "hamming":
                near = len(x) == len(y) and sum(a != b for a, b in zip(x, y, strict=True)) == 1
            else:
                more, fewer = Counter(x) - Counter(y), Counter(y) - Counter(x)
                changes = more.total(), fewer.total()
                replaced = self.neighbors == "bounded" and changes == (1, 1)
                near = changes == (0, 0) or (len(x) == len(y) and replaced)
                near = near or (self.neighbors == "unbounded" and sum(changes) == 1)
            if near:
                yield x, y


class Claim(NamedTuple):
    """An epsilon and a delta, with the least and the largest number that the truth can be.

    It is a delta where one is claimed, else an epsilon. `pure` is the least epsilon with delta 0.
    `known`: the audit has to decide the claim.
    """

    epsilon: Fraction
    delta: Fraction
    least: Fraction | float
    most: Fraction | float
    pure: Fraction | float
    known: bool

    def wrong(self, verdict: str) -> bool:
        """Whether a verdict contradicts the truth."""
        claimed = self.delta or self.epsilon
        rounding = Fraction(1, 10**13) * max(claimed, 0 if self.delta else 1)
        room = Fraction(1, 10**8) * self.epsilon
        match verdict:
            case "violated" | "violated (sampled)":
                return claimed > self.most + rounding
            case "loose":
                return claimed < self.least or (self.least == self.most == claimed)
            case "tight" | "tight up to rounding":
                near = self.least - rounding <= claimed <= self.most + rounding
                # A delta may be only room for the tails of draws: then epsilons are compared.
                return not near and not (self.delta and abs(self.pure - self.epsilon) <= room)
            case "not judged" | "not refuted":
                return self.known
            case "too large":
                return False
        raise AssertionError(verdict)


def verdict(function: Callable[..., Any], setting: Setting, claim: Claim) -> str:
    """What the audit says."""
    try:
        return audit_mechanism(
            function,
            setting.values,
            setting.sizes,
            neighbors=setting.neighbors,
            epsilon=claim.epsilon,
            delta=claim.delta,
            progress=False,
        ).verdict
    except TooLargeError:
        return "too large"


FACTORS = [
    Fraction(3, 4),
    1 - Fraction(1, 10**6),
    Fraction(1),
    1 + Fraction(1, 10**6),
    Fraction(5, 4),
]
"""How many times the truth is claimed."""


# Discrete programs: an expression is a tuple, and so is a statement.

STATISTICS: dict[str, Callable[[Sequence[int]], int]] = {
    "sum": sum,
    "len": len,
    "max": max,
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "ones": lambda x: x.count(1),
}

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "min": lambda a, b: a if a <= b else b,
    "max": lambda a, b: a if a >= b else b,
    "abs": abs,
    "%": lambda a, b: a % b,
    "//": lambda a, b: a // b,
    "/": lambda a, b: a / b,
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    "==": lambda a, b: bool(a == b),
    "not": lambda a: not a,
}


def value(expression: Any, x: Sequence[int], state: Sequence[Any]) -> Any:
    """The value of an expression without draws."""
    match expression:
        case int():
            return expression
        case ("statistic", name):
            return STATISTICS[name](x)
        case ("variable", number):
            return state[number]
        case ("and", a, b):
            return value(a, x, state) and value(b, x, state)
        case ("or", a, b):
            return value(a, x, state) or value(b, x, state)
        case (name, *operands):
            return OPERATORS[name](*(value(one, x, state) for one in operands))
    raise AssertionError(expression)


def told(release: Any, x: Sequence[int], state: Sequence[Any]) -> Any:
    """What is released at the end."""
    match release:
        case ("tuple", parts):
            return tuple(value(one, x, state) for one in parts)
        case ("list", parts):
            return [value(a, x, state) for test, a in parts if value(test, x, state)]
        case ("dict", parts):
            return {place: value(a, x, state) for place, (test, a) in enumerate(parts)
                    if value(test, x, state)}  # fmt: skip
        case ("key", key, one):
            return {value(key, x, state): value(one, x, state)}
        case ("text", one):
            return f"<{value(one, x, state)}>"
    raise AssertionError(release)


class RefusedError(ValueError):
    """What programs raise."""


def drawn(law: Any, x: Sequence[int], state: Sequence[Any], rng: Any) -> list[Any]:
    """Draw from a law with a generator."""
    match law:
        case ("coin", chances, which):
            return [1 if rng.random() < chances[value(which, x, state) % len(chances)] / 16 else 0]
        case ("uniform", cuts):
            u = rng.random()
            return [next((place for place, cut in enumerate(cuts) if u < cut / 16), len(cuts))]
        case ("integers", low, number):
            least = value(low, x, state)
            return [rng.integers(least, least + number)]
        case ("choice", options, weights):
            return [rng.choice(options, p=[one / 16 for one in weights])]
        case ("permutation", number):
            return list(rng.permutation(number))
        case ("binomial", trials, p):
            return [rng.binomial(value(trials, x, state), p / 8)]
        case ("geometric", p, most):
            return [min(rng.geometric(p / 8), most)]
    raise AssertionError(law)


def chances_of(law: Any, x: Sequence[int], state: Sequence[Any]) -> dict[tuple[int, ...], Fraction]:
    """The law of the same."""
    match law:
        case ("coin", chances, which):
            p = Fraction(chances[value(which, x, state) % len(chances)], 16)
            found = {1: p, 0: 1 - p}
        case ("uniform", cuts):
            ends = [0, *itertools.accumulate(cuts, max), 16]
            found = {
                place: Fraction(b - a, 16) for place, (a, b) in enumerate(itertools.pairwise(ends))
            }
        case ("integers", low, number):
            least = value(low, x, state)
            found = {least + k: Fraction(1, number) for k in range(number)}
        case ("choice", options, weights):
            found = {}
            for option, weight in zip(options, weights, strict=True):
                found[option] = found.get(option, Fraction(0)) + Fraction(weight, 16)
        case ("permutation", number):
            orders = list(itertools.permutations(range(number)))
            return dict.fromkeys(orders, Fraction(1, len(orders)))
        case ("binomial", trials, p):
            n, yes = value(trials, x, state), Fraction(p, 8)
            found = {k: math.comb(n, k) * yes**k * (1 - yes) ** (n - k) for k in range(n + 1)}
        case ("geometric", p, most):
            no = 1 - Fraction(p, 8)
            found = {k: no ** (k - 1) * (1 - no) for k in range(1, most)}
            found[most] = no ** (most - 1)
        case _:
            raise AssertionError(law)
    return {(one,): chance for one, chance in found.items() if chance}


@dataclass(frozen=True)
class Discrete:
    """A program: statements on some variables, and what is released of them."""

    variables: int
    statements: tuple[Any, ...]
    release: Any

    def __call__(self, data: Sequence[int], rng: Any) -> Any:
        """Run it."""
        state: list[Any] = [0] * self.variables
        self._run(self.statements, tuple(data), state, rng)
        return told(self.release, tuple(data), state)

    def _run(self, statements: Any, x: tuple[int, ...], state: list[Any], rng: Any) -> None:  # noqa: C901
        for one in statements:
            match one:
                case ("draw", at, law):
                    for place, entry in enumerate(drawn(law, x, state, rng), at):
                        state[place] = entry
                case ("set", at, expression):
                    state[at] = value(expression, x, state)
                case ("if", test, yes, no):
                    self._run(yes if value(test, x, state) else no, x, state, rng)
                case ("for", number, block):
                    for _ in range(value(number, x, state)):
                        self._run(block, x, state, rng)
                case ("until", number, block, test):
                    for _ in range(number):
                        self._run(block, x, state, rng)
                        if value(test, x, state):
                            break
                case ("raise", test):
                    if value(test, x, state):
                        raise RefusedError("too few")

    def law(self, x: tuple[int, ...]) -> dict[Any, Fraction]:
        """The probability of each release."""
        raised: Counter[Any] = Counter()
        states = self._law(self.statements, x, {(0,) * self.variables: Fraction(1)}, raised)
        found: dict[Any, Fraction] = dict(raised)
        for state, chance in states.items():
            key = repr(told(self.release, x, state))
            found[key] = found.get(key, Fraction(0)) + chance
        return found

    def _law(self, statements: Any, x: tuple[int, ...], states: Any, raised: Any) -> Any:  # noqa: C901
        for one in statements:
            after: dict[tuple[Any, ...], Fraction] = {}

            def add(more: Any, after: Any = after) -> None:
                for state, chance in more.items():
                    after[state] = after.get(state, Fraction(0)) + chance

            def split(test: Any, given: Any) -> tuple[Any, Any]:
                yes = {state: chance for state, chance in given.items() if value(test, x, state)}
                return yes, {state: given[state] for state in given if state not in yes}

            match one:
                case ("draw", at, law):
                    for state, chance in states.items():
                        for values, p in chances_of(law, x, state).items():
                            add({(*state[:at], *values, *state[at + len(values) :]): chance * p})
                case ("set", at, expression):
                    for state, chance in states.items():
                        changed = (*state[:at], value(expression, x, state), *state[at + 1 :])
                        add({changed: chance})
                case ("if", test, yes, no):
                    taken, others = split(test, states)
                    add(self._law(yes, x, taken, raised))
                    add(self._law(no, x, others, raised))
                case ("for", number, block):
                    for state, chance in states.items():
                        more = {state: chance}
                        for _ in range(value(number, x, state)):
                            more = self._law(block, x, more, raised)
                        add(more)
                case ("until", number, block, test):
                    more = states
                    for _ in range(number):
                        done, more = split(test, self._law(block, x, more, raised))
                        add(done)
                    add(more)
                case ("raise", test):
                    done, more = split(test, states)
                    if done:
                        raised["raises"] += sum(done.values())
                    add(more)
            states = after
        return states


class Maker:
    """Makes programs at random.

    Parameters
    ----------
    chance : random.Random
        Decides all.
    variables : int
        How many.
    size : int
        How long programs are, and how many values draws have.
    """

    def __init__(self, chance: random.Random, variables: int = 5, size: int = 3) -> None:
        self.chance, self.variables, self.size = chance, variables, size

    def variable(self) -> Any:
        """A variable."""
        return ("variable", self.chance.randrange(self.variables))

    def number(self, depth: int = 2) -> Any:
        """An expression for a number."""
        chance = self.chance
        if not depth or chance.random() < 0.35:
            kind = chance.random()
            if kind < 0.6:
                return self.variable()
            return self.statistic() if kind < 0.8 else chance.randint(-1, 3)
        name = chance.choice(["+"] * 4 + ["-"] * 4 + ["*", "min", "max", "abs", "%", "//", "/"])
        first = self.number(depth - 1)
        if name == "abs":
            return name, first
        if name in ("%", "//"):
            return name, first, chance.randint(2, 3)
        if name == "/":
            return name, first, 2
        if name == "*":
            return name, chance.randint(-1, 3), first
        return name, first, self.number(depth - 1)

    def whole(self) -> Any:
        """An expression for a whole number of the data."""
        return self.statistic() if self.chance.random() < 0.5 else self.chance.randint(0, 2)

    def statistic(self) -> Any:
        """A statistic of the data."""
        return ("statistic", self.chance.choice([*STATISTICS]))

    def test(self, depth: int = 1) -> Any:
        """A condition."""
        chance = self.chance
        if depth and chance.random() < 0.25:
            name = chance.choice(["and", "or", "not"])
            tests = [self.test(depth - 1) for _ in range(1 if name == "not" else 2)]
            return name, *tests
        return chance.choice(["<", "<=", "=="]), self.number(1), self.number(1)

    def law(self) -> Any:
        """What is drawn."""
        chance, most = self.chance, 2 + self.size
        kinds = ["coin", "coin", "uniform", "integers", "choice", "permutation", "binomial",
                 "geometric", "geometric"]  # fmt: skip
        match chance.choice(kinds):
            case "coin":
                chances = [chance.randint(1, 15) for _ in range(chance.randint(1, 2))]
                return ("coin", tuple(chances), self.whole())
            case "uniform":
                return ("uniform", tuple(sorted(chance.sample(range(1, 16), 2))))
            case "integers":
                return ("integers", self.whole(), chance.randint(2, most))
            case "choice":
                cuts = [0, *sorted(chance.sample(range(1, 16), 2)), 16]
                weights = [b - a for a, b in itertools.pairwise(cuts)]
                return ("choice", tuple(chance.randint(-2, most) for _ in weights), tuple(weights))
            case "permutation":
                return ("permutation", min(3, self.variables))
            case "binomial":
                return ("binomial", ("+", 1, self.whole()), chance.randint(1, 7))
            case _:
                return ("geometric", chance.randint(2, 6), chance.randint(2, most + 2))

    def statement(self, depth: int = 2) -> Any:
        """A statement."""
        chance = self.chance
        kind = chance.random()
        if not depth or kind < 0.5:
            law = self.law()
            last = self.variables - (law[1] if law[0] == "permutation" else 1)
            return ("draw", chance.randint(0, last), law)
        if kind < 0.65:
            return ("set", chance.randrange(self.variables), self.number())
        if kind < 0.85:
            return ("if", self.test(), self.block(depth - 1), self.block(depth - 1))
        if kind < 0.92:
            return ("for", ("min", 3, self.whole()), self.block(depth - 1))
        if kind < 0.98:
            return ("until", 3, self.block(depth - 1), self.test())
        return ("raise", self.test())

    def block(self, depth: int) -> Any:
        """Some statements."""
        return tuple(self.statement(depth) for _ in range(self.chance.randint(1, 2)))

    def release(self) -> Any:
        """What is released."""
        chance = self.chance
        parts = range(chance.randint(1, self.size))
        match chance.choice(["tuple", "tuple", "list", "dict", "key", "text"]):
            case "tuple":
                return "tuple", tuple(self.number() if chance.random() < 0.7 else self.test()
                                      for _ in parts)  # fmt: skip
            case "list":
                return "list", tuple((self.test(), self.number()) for _ in parts)
            case "dict":
                return "dict", tuple((self.test(), self.number()) for _ in parts)
            case "key":
                return "key", self.number(), self.number()
            case _:
                return "text", self.number()

    def program(self) -> Discrete:
        """A program."""
        number = self.chance.randint(2, 1 + self.size)
        statements = tuple(self.statement() for _ in range(number))
        return Discrete(self.variables, statements, self.release())

    def setting(self) -> Setting:
        """Datasets and neighbors."""
        chance = self.chance
        neighbors = chance.choice(["bounded", "unbounded", "hamming"])
        values = (0, 1) if chance.random() < 0.7 else (0, 1, 3)
        sizes = (1, 2) if neighbors == "unbounded" else (chance.randint(1, 2),)
        return Setting(values, sizes, neighbors)


def has_tails(program: Any) -> bool:
    """Whether there is a geometric draw, whose law the audit cuts."""
    return isinstance(program, tuple) and (
        program[:1] == ("geometric",) or any(has_tails(part) for part in program)
    )


class Truth:
    """The worst of several pairs of laws: each a list of outcomes with both probabilities."""

    def __init__(self, pairs: Sequence[Sequence[tuple[Fraction, Fraction]]]) -> None:
        self.pairs = pairs

    def epsilon(self) -> Fraction | float:
        """The least epsilon."""
        both = [one for atoms in self.pairs for one in atoms if one[0]]
        if any(not q for _, q in both):
            return math.inf
        return max(Fraction(0), log(max((p / q for p, q in both), default=Fraction(1))))

    def delta(self, epsilon: Fraction) -> Fraction:
        """The least delta at an epsilon."""
        e = exp(epsilon)
        sums = (sum((max(Fraction(0), p - e * q) for p, q in atoms), Fraction(0))
                for atoms in self.pairs)  # fmt: skip
        return max(sums, default=Fraction(0))


def as_claimed(number: Fraction) -> Fraction:
    """The nearest float, as users claim."""
    return Fraction(float(number))


def discrete_claims(truth: Truth, tails: bool, chance: random.Random) -> Claim:
    """A claim about a program, near the truth or far from it."""
    pure = truth.epsilon()
    finite = Fraction(2) if pure in (0, math.inf) else Fraction(pure)
    if chance.random() < 0.5:
        claimed = as_claimed(finite * chance.choice(FACTORS))
        near = pure if abs(claimed - pure) > Fraction(1, 10**14) * max(1, claimed) else claimed
        return Claim(claimed, Fraction(0), near, near, pure, known=not tails or claimed < pure / 2)
    epsilon = as_claimed(finite * Fraction(chance.randint(1, 9), 10))
    delta = truth.delta(epsilon)
    claimed = as_claimed((delta or Fraction(1, 100)) * chance.choice(FACTORS))
    if claimed > 1:
        claimed = Fraction(1)
    near = delta if abs(claimed - delta) > Fraction(1, 10**14) * delta else claimed
    # A delta of 1 is kept by all programs, and is not needed by those whose laws are cut.
    known = not tails or (delta > Fraction(1, 10**6) and claimed < 1)
    return Claim(epsilon, claimed, near, near, pure, known=known)


def discrete(seed: int) -> tuple[Discrete, Setting, Claim]:
    """A discrete program, its datasets and a claim."""
    chance = random.Random(seed)
    maker = Maker(chance, variables=3, size=1) if seed < SMALL else Maker(chance)
    laws: dict[Any, dict[Any, Fraction]] = {}
    # A program that always raises is refused: that is a mistake.
    while all(law.keys() <= {"raises"} for law in laws.values()):
        program, setting = maker.program(), maker.setting()
        laws = {x: program.law(x) for x in setting.datasets()}
    zero = Fraction(0)
    pairs = [
        [(laws[x].get(key, zero), laws[y].get(key, zero)) for key in laws[x]]
        for x, y in setting.pairs()
    ]
    tails = has_tails(program.statements)
    return program, setting, discrete_claims(Truth(pairs), tails, chance)


# Linear programs.


class Form(NamedTuple):
    """A number of the data: a combination of some statistics, and a constant."""

    statistics: tuple[tuple[str, int], ...]
    constant: int

    def of(self, x: Sequence[int]) -> int:
        """Its value."""
        return self.constant + sum(a * STATISTICS[name](x) for name, a in self.statistics)


@dataclass(frozen=True)
class Branch:
    """Noisy numbers: centers plus a matrix times independent draws.

    `steps` are added to them afterwards: so many times one of the numbers to another one, which
    is post-processing and costs nothing. `style` is how the code is written.
    """

    kind: str
    forms: tuple[Form, ...]
    scales: tuple[float, ...]
    matrix: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[int, int, int], ...]
    style: int

    def run(self, data: Sequence[int], rng: Any) -> list[Any]:
        """Draw."""
        draw = {
            "Laplace": lambda scale: rng.laplace(scale=scale),
            "Gaussian": lambda scale: rng.normal(0, scale),
            "geometric": lambda p: rng.geometric(p) - rng.geometric(p),
            "one-sided": lambda p: rng.geometric(p),
        }[self.kind]
        centers = [form.of(data) for form in self.forms]
        noises = [draw(scale) for scale in self.scales]
        if self.style == 0:
            made = np.array(centers) + np.array(self.matrix) @ np.array(noises, dtype=object)
            found = list(made)
        else:
            found = []
            for center, row in zip(centers, self.matrix, strict=True):
                for a, noise in zip(row, noises, strict=True):
                    center = center + a * noise if self.style == 1 else noise * a + center
                found.append(center)
        for at, other, a in self.steps:
            found[at] = found[at] + a * found[other]
        return found

    def gap(self, x: Sequence[int], y: Sequence[int]) -> list[Fraction]:
        """How far apart the centers are; steps change them as they change the matrix."""
        return [Fraction(form.of(x) - form.of(y)) for form in self.forms]

    @property
    def added(self) -> bool:
        """Whether Laplace draws are added to others, so that the audit knows no law."""
        columns = [column for column in self.columns if any(column)]
        zero = [Fraction(0)] * len(self.forms)
        return self.kind == "Laplace" and solved(columns, zero) is None

    @property
    def columns(self) -> list[list[Fraction]]:
        """The columns of the matrix, times the scales of continuous noise."""
        continuous = self.kind in ("Laplace", "Gaussian")
        return [
            [(Fraction(scale) if continuous else 1) * Fraction(a) for a in column]
            for scale, column in zip(self.scales, zip(*self.matrix, strict=True), strict=True)
        ]


def solved(columns: Sequence[Sequence[Fraction]], target: Sequence[Fraction]) -> Any:
    """Weights of independent columns that make the target; None if there are no or many."""
    rows = [[*entries] for entries in zip(*columns, target, strict=True)]
    for at in range(len(columns)):
        pivot = next((i for i in range(at, len(rows)) if rows[i][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [one / rows[at][at] for one in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[at]:
                rows[i] = [a - row[at] * b for a, b in zip(row, rows[at], strict=True)]
    return None if any(row[-1] for row in rows[len(columns) :]) else [
        row[-1] for row in rows[: len(columns)]
    ]  # fmt: skip


def shifts(columns: list[list[Fraction]], gap: list[Fraction]) -> list[Any]:
    """All ways to shift independent draws so that they make up for a gap."""
    return [
        dict(zip(chosen, found, strict=True))
        for number in range(min(len(columns), len(gap)) + 1)
        for chosen in itertools.combinations(range(len(columns)), number)
        if (found := solved([columns[at] for at in chosen], gap)) is not None
    ]


def pure_loss(branch: Branch, gap: list[Fraction]) -> Fraction | float:
    """The least epsilon.

    Far out in the direction of the gap, the density falls by e to the least sum of shifts, in
    scales, that make up for it; and it falls nowhere faster. A vertex of that linear program has
    independent columns. Normal draws have no such bound.
    """
    if not any(gap):
        return Fraction(0)
    if branch.kind == "Gaussian":
        return math.inf
    ways = shifts(branch.columns, gap)
    if branch.kind == "Laplace":
        return min((sum(map(abs, way.values()), Fraction(0)) for way in ways), default=math.inf)
    # Of geometric noise each number has a draw of its own, which takes whole numbers only.
    way = ways[0] if ways else {0: Fraction(1, 2)}
    if any(one.denominator > 1 for one in way.values()) or branch.kind == "one-sided":
        return math.inf
    return sum((abs(one) * -log(1 - Fraction(branch.scales[at])) for at, one in way.items()),
               Fraction(0))  # fmt: skip


def geometric_atoms(branch: Branch, gap: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Outcomes of geometric noise that tell alike, with both probabilities: x has gap more."""
    found = [(Fraction(1), Fraction(1))]
    for at, whole in enumerate(gap):
        a, keep = branch.matrix[at][at], 1 - Fraction(branch.scales[at])
        shift = whole / a
        if shift.denominator > 1:
            return [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
        n = int(abs(shift))
        if branch.kind == "one-sided":
            more = [(Fraction(0), 1 - keep**n), (Fraction(1), keep**n)]  # x is shifted upwards
            more = more if shift > 0 else [(q, p) for p, q in more]
        else:
            one = (1 - keep) / (1 + keep)
            end = 1 / (1 + keep)
            more = [(one * keep**k, one * keep ** (n - k)) for k in range(1, n)]
            more += [(end, end * keep**n), (end * keep**n, end)] if n else [(Fraction(1),) * 2]
        found = [(p * r, q * s) for p, q in found for r, s in more]
    return found


def normal_delta(mu: float, epsilon: float) -> float:
    """Delta of two normal laws so many standard deviations apart."""

    def below(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def laplace_delta(shift: float, epsilon: float) -> float:
    """Delta of two Laplace laws so many scales apart, at any epsilon from minus the shift."""
    return max(0.0, -math.expm1((epsilon - shift) / 2))


def delta_of(branch: Branch, gap: list[Fraction], epsilon: float) -> float | None:
    """The least delta in floats, where it has a short formula."""
    if not any(gap):
        return 0.0
    ways = shifts(branch.columns, gap)
    if branch.kind == "Gaussian":
        # The shortest way to make up for the gap: of all ways, by the normal equations.
        rows = list(zip(*branch.columns, strict=True))
        chosen: list[int] = []
        for i in range(len(rows)):
            if solved([list(rows[k]) for k in (*chosen, i)], [Fraction(0)] * len(rows[i])):
                chosen.append(i)
        if not ways:
            return 1.0
        gram = [[sum((a * b for a, b in zip(rows[i], rows[k], strict=True)), Fraction(0))
                 for i in chosen] for k in chosen]  # fmt: skip
        weights = solved(gram, [gap[i] for i in chosen])
        squared = sum((w * gap[i] for w, i in zip(weights, chosen, strict=True)), Fraction(0))
        return normal_delta(math.sqrt(squared), epsilon)
    if not ways:
        return 1.0
    independent = solved(branch.columns, [Fraction(0)] * len(gap)) is not None
    moved = [abs(one) for one in ways[0].values() if one]
    return laplace_delta(float(moved[0]), epsilon) if independent and len(moved) == 1 else None


@dataclass(frozen=True)
class Linear:
    """A program: one of two branches by a coin, which is released, or the only one.

    The coin is fair, or its chance depends on the data.
    """

    branches: tuple[Branch, ...]
    chances: tuple[int, ...]
    loop: bool

    def __call__(self, data: Sequence[int], rng: Any) -> Any:
        """Run it."""
        taken = 0
        if len(self.branches) > 1:
            taken = int(rng.random() < self.chance(data))
        found = self.branches[taken].run(data, rng)
        if self.loop:
            return {f"{taken}, {place}": one for place, one in enumerate(found)}
        return taken, *found

    def chance(self, x: Sequence[int]) -> float:
        """The probability of the second branch."""
        return self.chances[sum(x) % len(self.chances)] / 16

    def masses(self, x: Sequence[int]) -> list[Fraction]:
        """The probabilities of the branches."""
        second = Fraction(self.chance(x)) if len(self.branches) > 1 else Fraction(0)
        return [1 - second, second][: len(self.branches)]

    def pure(self, x: Sequence[int], y: Sequence[int]) -> Fraction | float:
        """The least epsilon for a pair."""
        return max(
            pure_loss(branch, branch.gap(x, y)) + (log(p / q) if p != q else 0)
            for branch, p, q in zip(self.branches, self.masses(x), self.masses(y), strict=True)
        )

    def delta(self, x: Sequence[int], y: Sequence[int], epsilon: Fraction) -> Any:
        """The least delta for a pair; None where no formula is known."""
        whole: Any = Fraction(0)
        for branch, p, q in zip(self.branches, self.masses(x), self.masses(y), strict=True):
            gap = branch.gap(x, y)
            if branch.kind in ("geometric", "one-sided"):
                e = exp(epsilon)
                whole += sum(max(Fraction(0), p * a - e * q * b)
                             for a, b in geometric_atoms(branch, gap))  # fmt: skip
            elif p != q or (part := delta_of(branch, gap, float(epsilon))) is None:
                return None
            else:
                whole += p * Fraction(part)
        return whole


def branch_of(chance: random.Random, kinds: Sequence[str]) -> Branch:
    """A branch at random."""
    kind = chance.choice(kinds)
    rows = chance.randint(1, 3)
    whole = kind in ("geometric", "one-sided")
    if whole:
        rows = 1 + (chance.random() < 0.1)  # all values of all numbers are listed together
    draws = rows if whole else chance.randint(1, 4)
    names = ["sum", "len", "ones", "max", "first", "last"]
    forms = tuple(
        Form(
            tuple(
                (name, chance.choice([-2, -1, 1, 1, 2, 3]))
                for name in chance.sample(names[: chance.choice([1, 3, 6])], 1)
            ),
            chance.randint(-2, 2),
        )
        for _ in range(rows)
    )
    if whole:
        scales = tuple(chance.randint(9, 14) / 16 for _ in range(draws))
        matrix = tuple(tuple(chance.choice([-1, 1, 1, 2]) if i == k else 0 for k in range(draws))
                       for i in range(rows))  # fmt: skip
    else:
        scales = tuple(chance.choice([0.5, 1.0, 2.0, 2.5, 10 / 3, 6.0]) for _ in range(draws))
        matrix = tuple(
            tuple(chance.choice([0, 0, 1, 1, -1, 2]) for _ in range(draws)) for _ in range(rows)
        )
        if chance.random() < 0.5:  # each number has noise of its own
            scales = (
                scales[:1] * rows
                if chance.random() < 0.5
                else tuple(chance.choice([1.0, 2.0, 5.0]) for _ in range(rows))
            )
            matrix = tuple(tuple(int(i == k) for k in range(rows)) for i in range(rows))
    steps = []
    if rows > 1 and not whole:
        steps = [
            (*chance.sample(range(rows), 2), chance.choice([-1, 1, 2]))
            for _ in range(chance.randint(0, 2))
        ]
    return Branch(kind, forms, scales, matrix, tuple(steps), chance.randrange(3))


def linear(seed: int) -> tuple[Linear, Setting, Claim]:
    """A linear program, its datasets and a claim."""
    chance = random.Random(seed)
    kinds = ["Laplace", "Laplace", "Gaussian", "geometric", "geometric", "one-sided"]
    number = 1 if chance.random() < 0.6 else 2
    first = branch_of(chance, kinds)
    rest = [branch_of(chance, [first.kind]) for _ in range(number - 1)]
    chances = tuple(chance.randint(1, 15) for _ in range(chance.randint(1, 2)))
    program = Linear((first, *rest), chances, chance.random() < 0.3)
    setting = Maker(chance).setting()
    pairs = list(setting.pairs())
    pure = max(program.pure(x, y) for x, y in pairs)
    tails = first.kind in ("geometric", "one-sided")
    finite = Fraction(1) if pure in (0, math.inf) else Fraction(pure)
    if chance.random() < 0.5 or first.kind == "one-sided":
        epsilon = as_claimed(finite * Fraction(chance.randint(1, 9), 10))
        deltas = [program.delta(x, y, epsilon) for x, y in pairs]
        if None not in deltas:
            delta = max(deltas)
            claimed = as_claimed(
                min(Fraction(1), (delta or Fraction(1, 100)) * chance.choice(FACTORS))
            )
            rounding = Fraction(1, 10**14) if tails else Fraction(1, 10**10)
            near = delta if abs(claimed - delta) > rounding * max(delta, claimed) else claimed
            least, most = near, near
            if near == claimed and not tails:  # the formula is in floats
                least, most = near * (1 - rounding), near * (1 + rounding)
            known = (
                delta > Fraction(1, 10**6) if tails else len(program.branches) == 1 and delta > 0
            )
            known = known and not any(one.added for one in program.branches)
            return program, setting, Claim(epsilon, claimed, least, most, pure, known)
    claimed = as_claimed(finite * chance.choice(FACTORS))
    near = pure if abs(claimed - pure) > Fraction(1, 10**14) * max(1, claimed) else claimed
    known = (not tails or claimed < pure / 2) and not any(one.added for one in program.branches)
    return (
        program,
        setting,
        Claim(claimed, Fraction(0), near, near, pure, known),
    )


@pytest.mark.parametrize("made", [discrete, linear])
@pytest.mark.parametrize("seeds", SEEDS)
def test_no_program_is_judged_wrong(seeds, made):
    wrong = []
    for seed in seeds:
        program, setting, claim = made(seed)
        found = verdict(program, setting, claim)
        if claim.wrong(found):
            wrong.append((seed, found, claim))
    assert wrong == []
