"""Laws of randomised functions by their definition: a run forks at every draw.

Shares no code with the package. It is right and slow: the function runs once per path of the tree
of its draws, and each path has an exact probability.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

Law = tuple[dict[Any, Fraction], Fraction]
"""The probability of each release, and the mass of what was not explored."""

CUT = object()
"""The value that stands for the tail of an infinite support."""


class ForkingError(BaseException):
    """The function does what the oracle does not know; it cannot be caught as an `Exception`."""


class CutError(BaseException):
    """The run is on a branch that is left unexplored."""


def law(
    function: Callable[[Any, Any], Any], data: Any, tail: Fraction | float = Fraction(1, 10**9)
) -> Law:
    """Return the probability of each release of ``function(data, rng)``, and the unexplored mass.

    A branch is left when its mass is at most `tail`; of an infinite support, what remains at a mass
    of at most `tail` is one such branch.
    """
    releases: dict[Any, Fraction] = {}
    unexplored = Fraction(0)
    rng = ForkingGenerator(Fraction(tail))
    for mass, release in paths(function, data, rng):
        if release is CUT:
            unexplored += mass
        else:
            releases[release] = releases.get(release, Fraction(0)) + mass
    assert sum(releases.values()) + unexplored == 1
    return releases, unexplored


def paths(
    function: Callable[[Any, Any], Any], data: Any, rng: ForkingGenerator
) -> Iterator[tuple[Fraction, Any]]:
    """Yield the mass and the release of every path, depth first."""
    while True:
        rng.begin()
        try:
            release = release_key(function(copy.deepcopy(data), rng))
        except CutError:
            release = CUT
        except Exception as error:  # noqa: BLE001 - whatever it raises is an outcome
            release = ("raises", type(error).__name__)
        rng.check_end()
        yield rng.mass, release
        if not rng.advance():
            return


def release_key(release: Any) -> Any:
    """Return what two equal releases have in common; NaN equals NaN, dicts keep their order."""
    if isinstance(release, Uniform):
        raise ForkingError("a uniform draw is released, which has no discrete law")
    if isinstance(release, np.ndarray):
        return ("array", release.shape, tuple(release_key(item) for item in release.flat))
    if isinstance(release, np.generic):
        return release_key(release.item())
    if isinstance(release, Mapping):
        items = ((release_key(name), release_key(item)) for name, item in release.items())
        return ("mapping", *items)
    if isinstance(release, list | tuple):
        return tuple(release_key(item) for item in release)
    if isinstance(release, float) and math.isnan(release):
        return "nan"
    return release


def delta(P: Law, Q: Law, epsilon: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds on the largest P(E) - e^epsilon Q(E) over all events E.

    With S = sum of (P - e^epsilon Q)+ over what was explored, and the unexplored masses eta:
    max(0, S - e^epsilon eta_Q) <= delta <= S + eta_P.
    """
    (p, eta_p), (q, eta_q) = P, Q
    growth = exp(epsilon)
    found = sum((max(Fraction(0), p[r] - growth * q.get(r, 0)) for r in p), Fraction(0))
    return max(Fraction(0), found - growth * eta_q), min(Fraction(1), found + eta_p)


def exp(exponent: float | Fraction) -> Fraction:
    """Return e to a power, right to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        exact = Fraction(exponent)
        return Fraction((Decimal(exact.numerator) / Decimal(exact.denominator)).exp())


class ForkingGenerator:
    """Has the methods of `numpy.random.Generator` that it knows; each draw is a fork."""

    def __init__(self, tail: Fraction) -> None:
        self.tail = tail
        self.path: list[int] = []
        """The option taken at each fork so far."""
        self.options: list[list[tuple[Any, Fraction]]] = []
        """The options at each fork of this path, values with probabilities."""
        self.place = 0
        self.mass = Fraction(1)

    # The tree.

    def begin(self) -> None:
        """Start a run along the path."""
        self.place, self.mass = 0, Fraction(1)

    def check_end(self) -> None:
        """Check that the run has followed the path to its end."""
        if self.place != len(self.path):
            raise ForkingError("the same draws led to fewer draws: the function keeps state")

    def advance(self) -> bool:
        """Turn to the next path, and return whether there is one."""
        while self.path and self.path[-1] + 1 == len(self.options[-1]):
            self.path.pop()
            self.options.pop()
        if not self.path:
            return False
        self.path[-1] += 1
        return True

    def fork(self, options: list[tuple[Any, Fraction]]) -> Any:
        """Return the value of the option that this path takes; options without mass do not run."""
        options = [(value, Fraction(mass)) for value, mass in options if mass]
        if self.place == len(self.path):
            assert sum(mass for _, mass in options) == 1
            if self.mass <= self.tail and len(options) > 1:
                options = [(CUT, Fraction(1))]
            self.path.append(0)
            self.options.append(options)
        known = self.options[self.place]
        if known[0][0] is not CUT and [m for _, m in known] != [m for _, m in options]:
            raise ForkingError("the same draws led to another draw: the function keeps state")
        value, mass = known[self.path[self.place]]
        self.place += 1
        self.mass *= mass
        if value is CUT:
            raise CutError
        # The value of this run: an object that was kept from another run would know its past.
        return options[self.path[self.place - 1]][0]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # what `copy` asks for
            raise AttributeError(name)
        raise ForkingError(f"the oracle has no draws by {name}")

    # The draws.

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        low, high = (0, low) if high is None else (low, high)
        values = range(int(low), int(high) + bool(endpoint))
        if not values:
            raise ValueError("low >= high")
        return filled(size, lambda: np.dtype(dtype).type(self.fork(equally_likely(values))))

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0
    ) -> Any:
        if axis != 0:
            raise ForkingError("the oracle chooses along the first axis only")
        items = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        count = len(items)
        if not count:
            raise ValueError("a cannot be empty unless no samples are taken")
        masses = [Fraction(1, count)] * count if p is None else masses_of(p, count)
        if replace:
            at = filled(size, lambda: self.fork(list(enumerate(masses))))
        else:
            at = self.distinct(masses, size)
        return items[at]

    def distinct(self, masses: list[Fraction], size: Any) -> Any:
        """Return positions without repetition: each is drawn among those that are left."""
        wanted = 1 if size is None else math.prod(shape_of(size))
        if wanted > sum(mass > 0 for mass in masses):
            raise ValueError("Cannot take a larger sample than population when replace is False")
        left = dict(enumerate(masses))
        found = []
        for _ in range(wanted):
            total = sum(left.values())
            at = self.fork([(place, mass / total) for place, mass in left.items()])
            del left[at]
            found.append(at)
        return found[0] if size is None else np.array(found, dtype=int).reshape(shape_of(size))

    def permutation(self, x: Any) -> Any:
        items = np.arange(x) if isinstance(x, int | np.integer) else np.array(x)
        return items[self.order(len(items))]

    def shuffle(self, x: Any) -> None:
        order = self.order(len(x))
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[at] for at in order]

    def order(self, count: int) -> list[int]:
        left = list(range(count))
        return [left.pop(self.fork(equally_likely(range(len(left))))) for _ in range(count)]

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        count, chance = int(n), probability(p)
        options = [
            (k, math.comb(count, k) * chance**k * (1 - chance) ** (count - k))
            for k in range(count + 1)
        ]
        return filled(size, lambda: self.fork(options))

    def geometric(self, p: Any, size: Any = None) -> Any:
        chance = probability(p)
        if not chance:
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        return filled(size, lambda: self.fork(self.geometric_options(chance)))

    def geometric_options(self, chance: Fraction) -> list[tuple[Any, Fraction]]:
        options: list[tuple[Any, Fraction]] = []
        left = Fraction(1)
        while left and (not options or self.mass * left > self.tail):
            options.append((len(options) + 1, left * chance))
            left *= 1 - chance
        return [*options, (CUT, left)]

    def random(self, size: Any = None) -> Any:
        return filled(size, lambda: Uniform(self, Fraction(0), Fraction(1)))

    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None) -> Any:
        low, high = Fraction(low), Fraction(high)
        if low >= high:
            raise ForkingError("the oracle needs low < high")
        return filled(size, lambda: Uniform(self, low, high))


class Uniform:
    """A uniform number that can only be compared with constants; a comparison splits its range."""

    def __init__(self, rng: ForkingGenerator, low: Fraction, high: Fraction) -> None:
        self.rng, self.low, self.high = rng, low, high

    def below(self, bound: Any) -> bool:
        if isinstance(bound, Uniform):
            raise ForkingError("two uniform draws are compared")
        if math.isnan(bound):
            raise ForkingError("a uniform draw is compared with NaN")
        if math.isinf(bound):
            return bound > 0
        at = min(max(Fraction(bound), self.low), self.high)
        share = (at - self.low) / (self.high - self.low)
        is_below = bool(self.rng.fork([(True, share), (False, 1 - share)]))
        self.low, self.high = (self.low, at) if is_below else (at, self.high)
        return is_below

    # A single point has no mass.
    __lt__ = __le__ = below

    def __ge__(self, bound: Any) -> bool:
        return not self.below(bound)

    __gt__ = __ge__

    def refuse(self, *_: Any) -> NoReturn:
        raise ForkingError("a uniform draw is used otherwise than compared with a constant")

    __eq__ = __ne__ = __bool__ = __int__ = __float__ = __index__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = __round__ = refuse
    __hash__ = __repr__ = __str__ = __format__ = refuse


def probability(p: Any) -> Fraction:
    if not 0 <= p <= 1:
        raise ValueError("p < 0, p > 1 or p is NaN")
    return Fraction(p)


def masses_of(p: Any, count: int) -> list[Fraction]:
    """Return exact probabilities; floats that do not sum to 1 are renormalised as NumPy does."""
    exact = [Fraction(mass) for mass in p]
    if len(exact) != count:
        raise ValueError("a and p must have same size")
    if any(mass < 0 for mass in exact):
        raise ValueError("Probabilities are not non-negative")
    if sum(exact) == 1:
        return exact
    if abs(sum(exact) - 1) > 2**-26:
        raise ValueError("Probabilities do not sum to 1")
    ends = np.asarray(p, dtype=float).cumsum()
    ends /= ends[-1]
    return [
        Fraction(end) - Fraction(start)
        for start, end in itertools.pairwise([0.0, *(float(end) for end in ends)])
    ]


def equally_likely(values: Sequence[Any]) -> list[tuple[Any, Fraction]]:
    return [(value, Fraction(1, len(values))) for value in values]


def shape_of(size: Any) -> tuple[int, ...]:
    return (int(size),) if isinstance(size, int | np.integer) else tuple(int(n) for n in size)


def filled(size: Any, draw: Callable[[], Any]) -> Any:
    """Return one draw, or an array of draws in the order of its entries."""
    if size is None:
        return draw()
    shape = shape_of(size)
    drawn = [draw() for _ in range(math.prod(shape))]
    if drawn and isinstance(drawn[0], Uniform):
        entries = np.empty(len(drawn), dtype=object)
        entries[:] = drawn
        return entries.reshape(shape)
    return np.array(drawn, dtype=None if drawn else int).reshape(shape)
