"""The generator that a driven function gets: NumPy's, with symbols or given numbers for draws."""

from __future__ import annotations

import json
import math
import operator
import os
import random
import signal
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .draws import Law
from .stops import ChangedError, OutsideError, OwnGeneratorError, running, stopped
from .symbols import (
    DISCRETE,
    EXPONENTIAL,
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    NOISE,
    UNIFORM,
    Draw,
    Magnitude,
    Symbol,
)

_WIDE = 10_000
"""Numbers to choose from that are farther apart are chosen by their place, one run each."""


class Source(Protocol):
    """Where draws come from."""

    def discrete(self, law: Law) -> Any:
        """Return a draw from a discrete law."""

    def uniform(self) -> Any:
        """Return a uniform draw from 0 to 1."""

    def noise(self, kind: str) -> Any:
        """Return a draw of standard noise, such as "Laplace"."""


class Fed:
    """The draws of a run as numbers, in the order in which it made them.

    Parameters
    ----------
    values : mapping of Draw to Fraction
        The draws.
    made : iterable of (int, Any)
        By their numbers, draws of noise that the code makes of others.
    """

    def __init__(self, values: Mapping[Draw, Fraction], made: Iterable[tuple[int, Any]]) -> None:
        self._values = values
        self._made: Counter[str] = Counter()
        self._not_drawn = {place for place, _ in made}

    def discrete(self, _: Law) -> int:
        """Return the value of the next discrete draw."""
        return int(self._next(DISCRETE))

    def uniform(self) -> float:
        """Return the value of the next uniform draw."""
        return float(self._next(UNIFORM))

    def noise(self, kind: str) -> float:
        """Return the value of the next draw of continuous noise."""
        return float(self._next(kind, NOISE))

    def _next(self, kind: str, counter: str = "") -> Fraction:
        while counter and self._made[counter] in self._not_drawn:
            self._made[counter] += 1  # the code makes it of another draw
        place = self._made[counter or kind]
        self._made[counter or kind] += 1
        try:
            return self._values[Draw(kind, place)]
        except KeyError:
            raise ChangedError from None


GENERATORS = ("Generator", "Random", "RandomState")
"""The classes that the audit's generator can stand for; `Generator` has no name twice."""

_played: list[str | None] = [None]


@contextmanager
def playing(generator: str | None) -> Iterator[None]:
    """Let generators stand for those of a class, where it says what a call means."""
    _played.append(generator)
    try:
        yield
    finally:
        _played.pop()


def played() -> str | None:
    """Return the class that generators stand for, if the caller said which."""
    return _played[-1]


class LikePythons(np.random.Generator):
    """A generator of NumPy that has what Python's ``random.Random`` has under other names."""

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """Draw Gaussian noise."""
        return self.normal(mu, sigma)

    normalvariate = gauss

    def expovariate(self, lambd: Any = 1.0) -> Any:
        """Draw exponential noise of a rate."""
        return self.exponential(1 / lambd)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Draw a whole number below `high`, or up to it, as the class that is played does."""
        if _played[-1] not in ("Random", "RandomState"):
            raise OwnGeneratorError(
                "the function calls rng.randint, whose last number is drawn by Python's "
                "random.Random and not by NumPy's RandomState: pass generator='Random' or "
                "generator='RandomState', whichever the function gets, or call rng.integers"
            )
        if _played[-1] == "Random":
            return self.integers(low, high, endpoint=True)
        return self.integers(low, high, size, dtype)

    def random_sample(self, size: Any = None) -> Any:
        """Draw uniform numbers from 0 to 1."""
        return self.random(size)

    def rand(self, *shape: int) -> Any:
        """Draw uniform numbers from 0 to 1, in a shape."""
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        """Draw standard Gaussian noise, in a shape."""
        return self.standard_normal(shape or None)

    def randrange(self, start: Any, stop: Any = None) -> Any:
        """Draw a whole number below `stop`."""
        return self.integers(start, stop)

    def getrandbits(self, k: int) -> Any:
        """Draw a whole number of so many bits."""
        return self.integers(0, 1 << k)

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        """Choose several times, in proportion to weights."""
        if cum_weights is not None:
            weights = np.diff([0, *cum_weights])
        shares = [Fraction(1)] * len(population) if weights is None else [*map(Fraction, weights)]
        if len(shares) != len(population):
            raise ValueError("The number of weights does not match the population")
        if any(share < 0 for share in shares) or not any(shares):
            raise ValueError("weights must be at least 0, and not all of them 0")
        return [population[self._chosen(shares)] for _ in range(k)]

    def choice(self, a: Any, *given: Any, **further: Any) -> Any:
        """Choose as NumPy does, which makes an array of `a`; or as Python, which does not."""
        return self.choices(a)[0] if _is_pythons(a) else super().choice(a, *given, **further)

    def sample(self, population: Any = None, k: int | None = None) -> Any:
        """Choose different entries; or draw uniform numbers, as `RandomState` does."""
        if k is None and _played[-1] == "RandomState":
            return self.random(population)
        if k is None:
            raise TypeError("LikePythons.sample() missing 1 required positional argument: 'k'")
        return [population[int(at)] for at in self.choice(len(population), k, replace=False)]

    def _chosen(self, weights: Sequence[Fraction]) -> int:
        """Return a place, drawn in proportion to weights."""
        below = sum(weights)
        return int(self.choice(len(weights), p=[float(weight / below) for weight in weights]))


def _is_pythons(options: Any) -> bool:
    """Tell whether Python's generator is played, whose `choice` hands out these as they are."""
    several = _played[-1] == "Random" and hasattr(options, "__len__")
    return several and any(type(one) is not int for one in options)


class DrivenGenerator(LikePythons):
    """A generator whose draws the audit decides.

    It is a ``numpy.random.Generator``, so that ``np.random.default_rng(rng)`` returns it as it is.
    Methods that are not covered refuse.

    Parameters
    ----------
    source : Source
        Where the draws come from.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(np.random.PCG64(0))
        self._source = source
        # Answers once the run was stopped, see `stopped`.
        self._ordinary = LikePythons(np.random.PCG64(0))

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and stopped():
            return getattr(self._ordinary, name)
        return super().__getattribute__(name)

    def _copied(self, *_: Any) -> Any:
        raise OutsideError(
            "copies its generator, so that the copy repeats its draws; draw all from one"
        )

    __copy__ = __deepcopy__ = __reduce__ = __getstate__ = _copied

    @property
    def bit_generator(self) -> Any:
        """Refused: bits have no law here."""
        raise OutsideError("reads the bits of its generator; draw by the methods of rng")

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:  # fmt: skip
        """Draw whole numbers from low to high, as NumPy does."""
        low, high = (0, low) if high is None else (low, high)

        def one(least: Any, most: Any) -> Any:
            first, last = operator.index(least), operator.index(most) - (not endpoint)
            if last < first:
                raise ValueError("low >= high")
            return self._source.discrete(Law("integers", (first, last)))

        return _shaped(one, (low, high), size, np.dtype(dtype))

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Draw the number of trials until the first success."""

        def one(chance: Any) -> Any:
            exact = _chance(chance)
            if not exact:
                raise ValueError("p <= 0, p > 1 or p contains NaNs")
            return self._source.discrete(Law("geometric", (exact,)))

        return _shaped(one, (p,), size, np.dtype(np.int64), int)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw the number of successes in n trials."""

        def one(trials: Any, chance: Any) -> Any:
            number = operator.index(trials)
            if number < 0:
                raise ValueError("n < 0")
            return self._source.discrete(Law("binomial", (number, _chance(chance))))

        return _shaped(one, (n, p), size, np.dtype(np.int64), int)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Draw how often something happens that happens so often on average."""

        def one(mean: Any) -> Any:
            if (exact := Fraction(float(mean))) < 0:
                raise ValueError("lam < 0 or lam is NaN")
            return self._source.discrete(Law("poisson", (exact,)))

        return _shaped(one, (lam,), size, np.dtype(np.int64), int)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Draw how often each option comes in n trials: one binomial draw after another."""
        if size is not None or np.ndim(n) or np.ndim(pvals) != 1:
            raise OutsideError(
                "draws several vectors by one rng.multinomial; draw one after another"
            )
        left, rest, counts = operator.index(n), Fraction(1), []
        # Given the counts before, a count is binomial: of the trials left, with the probability
        # chance / rest.
        for chance in map(_chance, list(pvals)[:-1]):
            if chance > rest + Fraction(1, 10**12):
                raise ValueError("sum(pvals[:-1]) > 1.0")
            share = min(Fraction(1), chance / rest) if chance and rest > 0 else Fraction(0)
            drawn = self._source.discrete(Law("binomial", (left, share)))
            counts.append(operator.index(drawn))
            left, rest = left - counts[-1], rest - chance
        return np.array([*counts, left])

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw uniform numbers from 0 to 1."""
        if out is not None:
            raise OutsideError("passes out= to rng.random; use what it returns")
        return _shaped(self._source.uniform, (), size, np.dtype(dtype), float)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Draw uniform numbers from low to high."""

        def one(least: Any, most: Any) -> Any:
            return self._source.uniform() * (most - least) + least

        return _shaped(one, (low, high), size, np.dtype(np.float64), float)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        """Choose from a number of things, or from an array, with or without replacement."""
        if _is_pythons(a):
            return self.choices(a)[0]
        if axis != 0:
            raise OutsideError("passes axis= to rng.choice; choose rows of the first axis")
        options = np.arange(operator.index(a)) if np.ndim(a) == 0 else _array(a)
        if not len(options):
            raise ValueError("a cannot be empty unless no samples are taken")
        weights = [Fraction(1)] * len(options) if p is None else _weights(p, len(options))
        if replace and (size is None or options.ndim == 1):
            return _shaped(lambda: self._one_of(options, weights), (), size, options.dtype, None)
        if not shuffle:
            raise OutsideError("passes shuffle=False to rng.choice; leave it out")
        number = 1 if size is None else int(np.prod(size))
        if not replace and number > sum(map(bool, weights)):
            raise ValueError("Cannot take a larger sample than population when replace is False")
        places = (
            [self._chosen(weights) for _ in range(number)]
            if replace
            else self._places(weights, number)
        )
        if size is None:
            return options[places[0]]
        shape = (size,) if np.ndim(size) == 0 else tuple(size)
        return options[places].reshape(*shape, *options.shape[1:])

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return the numbers below x, or the entries of x, in random order."""
        if axis != 0:
            raise OutsideError("passes axis= to rng.permutation; permute the first axis")
        options = np.arange(operator.index(x)) if np.ndim(x) == 0 else _array(x)
        return options[self._places([Fraction(1)] * len(options), len(options))]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Bring the entries of a list or an array in random order."""
        if axis != 0:
            raise OutsideError("passes axis= to rng.shuffle; shuffle the first axis")
        places = self._places([Fraction(1)] * len(x), len(x))
        # All entries are read before one is written; a row of an array is a view, so it is copied.
        kept = [x[place].copy() if isinstance(x, np.ndarray) and x.ndim > 1 else x[place]
                for place in places]  # fmt: skip
        for place, entry in enumerate(kept):
            x[place] = entry

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Laplace noise."""
        return self._noise(LAPLACE, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gaussian noise."""
        return self._noise(GAUSSIAN, loc, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw standard Gaussian noise."""
        _check_left_alone("standard_normal", dtype, out)
        return self._noise(GAUSSIAN, 0.0, 1.0, size)

    def multivariate_normal(  # type: ignore[override]
        self, mean: Any, cov: Any, size: Any = None, **further: Any
    ) -> Any:
        """Draw correlated Gaussian noise: a root of the matrix times independent draws."""
        if size is not None or further:
            raise OutsideError(
                "passes more than a mean and a matrix to rng.multivariate_normal; draw one vector "
                "after another"
            )
        try:
            root = np.linalg.cholesky(np.asarray(cov, dtype=float))
        except np.linalg.LinAlgError:
            raise OutsideError("draws normal noise with a singular matrix") from None
        # With L L' = cov and independent standard draws Z, L Z has the covariance cov.
        return np.asarray(mean) + root @ self.standard_normal(len(root))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gumbel noise."""
        return self._noise(GUMBEL, loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw exponential noise."""
        return self._noise(EXPONENTIAL, 0.0, scale, size)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Draw standard exponential noise."""
        _check_left_alone("standard_exponential", dtype, out)
        return self._noise(EXPONENTIAL, 0.0, 1.0, size)

    def _chosen(self, weights: Sequence[Fraction]) -> int:
        return operator.index(self._source.discrete(_law_of(0, weights)))

    def _noise(self, kind: str, location: Any, scale: Any, size: Any) -> Any:
        def one(center: Any, spread: Any) -> Any:
            width = float(spread)
            if not width >= 0:
                raise ValueError("scale < 0")
            # A scale of 0 makes no draw: a symbol has no coefficients of 0.
            return center + width * self._source.noise(kind) if width else center + 0.0

        return _shaped(one, (location, scale), size, np.dtype(np.float64), float)

    def _one_of(self, options: Any, weights: Sequence[Fraction]) -> Any:
        """Return one option: as a symbol where these are whole numbers, else in a run for each."""
        if options.ndim == 1 and options.dtype.kind in "iu":
            low, high = int(options.min()), int(options.max())
            if high - low <= _WIDE:
                # Equal options add up, and numbers between them have the weight 0.
                table = [Fraction(0)] * (high - low + 1)
                for value, weight in zip(options.tolist(), weights, strict=True):
                    table[value - low] += weight
                return self._source.discrete(_law_of(low, table))
        return options[operator.index(self._source.discrete(_law_of(0, weights)))]

    def _places(self, weights: Sequence[Fraction], number: int) -> list[int]:
        """Return distinct places in random order, each drawn in proportion to its weight."""
        # As in NumPy, what was chosen is left out of the next draw. Each order of places is a path
        # of its own.
        left = dict(enumerate(weights))
        places = []
        for _ in range(number):
            at = list(left)
            drawn = self._source.discrete(_law_of(0, [left[place] for place in at]))
            places.append(at[operator.index(drawn)])
            del left[places[-1]]
        return places


_METHODS = tuple(f"{one.__name__}." for one in DrivenGenerator.__mro__)
"""How an error begins that names a method of these."""


def misuse(error: Exception, generator: LikePythons) -> str:
    """Return what to say of code that calls the generator as one of another library; or nothing.

    Such an error says nothing about the data, so it is no release.
    """
    if isinstance(error, AttributeError) and error.obj is generator:
        return (
            f"the function calls rng.{error.name}, which NumPy's generators do not have; call one "
            "of their methods, or take seed= instead of rng and pass sampled=True"
        )
    if isinstance(error, TypeError) and str(error).startswith(_METHODS):
        call = str(error).partition(".")[2]
        return (
            f"the function's call of its generator fails: rng.{call}; pass it what NumPy's "
            "generators or Python's random.Random take"
        )
    return ""


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OutsideError(
            f"draws by rng.{name}; covered are integers, choice, permutation, shuffle, binomial, "
            "multinomial, geometric, poisson, random and uniform, and the continuous laplace, "
            "exponential, standard_exponential, gumbel, normal and standard_normal"
        )

    return refuse


# A method of NumPy's that is not covered would draw ordinary numbers, which the audit does not see.
for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in vars(DrivenGenerator):
        setattr(DrivenGenerator, _name, _refusing(_name))


def _law_of(low: int, weights: Sequence[Fraction]) -> Law:
    """Return the law of some values from `low`, in proportion to weights."""
    # Only proportions count: `Law` divides by the sum.
    below = math.lcm(*(weight.denominator for weight in weights))
    return Law("table", (low, *(int(weight * below) for weight in weights)))


def _check_left_alone(name: str, dtype: Any, out: Any) -> None:
    """Raise OutsideError if a method gets a dtype that is not the usual one, or an array."""
    if out is not None or np.dtype(dtype) != np.float64:
        raise OutsideError(f"passes out= or dtype= to rng.{name}; leave them out")


def _chance(given: Any) -> Fraction:
    """Return a probability as an exact number."""
    exact = given if isinstance(given, Fraction) else Fraction(float(given))
    if not 0 <= exact <= 1:
        raise ValueError("p < 0, p > 1 or p contains NaNs")
    return exact


def _weights(p: Any, number: int) -> list[Fraction]:
    """Return the weights of options; NumPy divides by their sum, and so does `Law`."""
    weights = [_chance(one) for one in p]
    if len(weights) != number:
        raise ValueError("a and p must have same size")
    if abs(sum(weights, Fraction(-1))) > Fraction(1, 10**8):
        raise ValueError("probabilities do not sum to 1")
    return weights


def _array(given: Any) -> Any:
    """Return an array of options; symbols among them stay symbols."""
    if isinstance(given, pd.Series):
        return given.to_numpy()
    entries = list(given)
    if any(isinstance(entry, Symbol) for entry in entries):
        made = np.empty(len(entries), dtype=object)
        made[:] = entries
        return made
    return np.asarray(given)


def _shaped(
    one: Callable[..., Any], parameters: Sequence[Any], size: Any, dtype: Any, scalar: Any = ""
) -> Any:
    """Return one draw, or an array of draws, for all parameters as NumPy broadcasts them.

    Parameters
    ----------
    one : callable
        Takes one of each parameter, and returns a draw.
    parameters : sequence
        Numbers or arrays.
    size : int, tuple of int or None
        The shape that the caller wants.
    dtype : dtype
        Of an array of numbers; an array of symbols has dtype object.
    scalar : type, "" or None
        What NumPy makes of a single number; "" means of the dtype, None as it is.
    """
    if size is None and all(isinstance(parameter, _SINGLE) for parameter in parameters):
        return _one_draw(one(*parameters), dtype, scalar)
    arrays = [_object_array(parameter) for parameter in parameters]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if size is None and not shape:
        return _one_draw(one(*(array[()] for array in arrays)), dtype, scalar)
    if size is not None:
        shape = (operator.index(size),) if np.ndim(size) == 0 else tuple(size)
    made = np.empty(shape, dtype=object)
    spread = [np.broadcast_to(array, shape) for array in arrays]
    # In the order in which NumPy fills an array: the last axis runs fastest.
    for place in np.ndindex(*shape):
        made[place] = one(*(array[place] for array in spread))
    if any(isinstance(entry, Symbol) for entry in made.flat):
        return made.view(_Drawn)
    return made.astype(dtype)


class _Drawn(np.ndarray):
    """An array of symbols: ``a += noise`` makes a new `a`, as one of floats has no room."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with the symbols; into an array of numbers nothing is written."""
        given = [one.view(np.ndarray) if isinstance(one, _Drawn) else one for one in inputs]
        written = [one for one in options.get("out", ()) if one is not None]
        # The result is a new array, to which Python binds the name in `a += noise`.
        if any(one.dtype != object for one in written):
            del options["out"]
        elif written:
            options["out"] = tuple(one.view(np.ndarray) for one in written)
        found = getattr(ufunc, method)(*given, **options)
        symbols = isinstance(found, np.ndarray) and found.dtype == object
        return found.view(_Drawn) if symbols else found


_SINGLE = (int, float, Fraction, np.generic, Symbol)
"""Parameters that are no arrays: without a size, they make one draw."""


def _one_draw(drawn: Any, dtype: Any, scalar: Any) -> Any:
    """Return one draw: a symbol as it is, a number in the type that NumPy returns."""
    if isinstance(drawn, Symbol) or scalar is None:
        return drawn
    return dtype.type(drawn) if scalar == "" else scalar(drawn)


def _object_array(given: Any) -> Any:
    if isinstance(given, Symbol) or np.ndim(given) == 0:
        made = np.empty((), dtype=object)
        made[()] = given
        return made
    return np.asarray(given, dtype=object)


_OWN_GENERATOR = (
    "the function draws from a generator of its own ({}). Take the generator as the second "
    "argument:\n    def function(data, rng):\nand draw from it, as in\n    noise = rng.laplace(0, "
    "scale)"
)


@cache
def _replacements() -> list[tuple[Any, str, Any, Any]]:
    """Return module, name, function and what refuses in its place, for all that draws."""
    made = np.random.default_rng

    def own(name: str, ours: Any) -> Callable[..., Any]:
        def refuse(*arguments: Any, **named: Any) -> Any:
            if stopped():
                return ours(*arguments, **named)
            raise OwnGeneratorError(_OWN_GENERATOR.format(name))

        return refuse

    def default_rng(seed: Any = None) -> Any:
        # NumPy returns a generator as it is.
        if isinstance(seed, DrivenGenerator):
            return seed
        if stopped():
            return made(seed)
        raise OwnGeneratorError(_OWN_GENERATOR.format("np.random.default_rng"))

    kept: list[tuple[Any, str, Any, Any]] = [(np.random, "default_rng", made, default_rng)]
    for module, title in ((np.random, "np.random"), (random, "random")):
        # The functions of both modules are methods of one hidden generator.
        hidden = np.random.mtrand._rand if module is np.random else random._inst
        for name in dir(hidden):
            ours = getattr(module, name, None)
            if not name.startswith("_") and getattr(ours, "__self__", None) is hidden:
                kept.append((module, name, ours, own(f"{title}.{name}", ours)))
    return [*kept, *_entropy(), *_of_symbols()]


_SYMBOLS: Any = Symbol, Magnitude


def _of_symbols() -> list[tuple[Any, str, Any, Any]]:
    """Return the same for functions that see a number alone; symbols have their own."""
    log, log1p, copysign = math.log, math.log1p, math.copysign
    named, in_words = vars(signal)["_int_to_enum"], json.JSONEncoder.default

    def log_of(x: Any, *base: Any) -> Any:
        return x.log() if isinstance(x, _SYMBOLS) and not base else log(x, *base)

    def log1p_of(x: Any) -> Any:
        return x.log1p() if isinstance(x, _SYMBOLS) else log1p(x)

    def with_sign_of(x: Any, y: Any) -> Any:
        size = abs(x) if isinstance(x, _SYMBOLS) else copysign(x, 1)
        return size * (y.sign() if isinstance(y, _SYMBOLS) else copysign(1, y))

    def in_json(encoder: Any, given: Any) -> Any:
        return given.decided() if isinstance(given, _SYMBOLS) else in_words(encoder, given)

    return [
        (json.JSONEncoder, "default", in_words, in_json),
        (math, "log", log, log_of),
        (math, "log1p", log1p, log1p_of),
        (math, "copysign", copysign, with_sign_of),
        # Python looks for a handler among names, and prints it where it is none: that of
        # `asyncio.run` is a task, which prints what it returns.
        (signal, "_int_to_enum", named, lambda handler, _: handler),
    ]


_ENTROPY = (
    (os, "urandom", "os.urandom"),
    (os, "getrandom", "os.getrandom"),
    # What `secrets` and NumPy's generators without a seed call, too.
    (random, "_urandom", "random.SystemRandom, secrets, or a generator without a seed"),
    (uuid, "uuid4", "uuid.uuid4"),
)
"""Where Python gets randomness of the operating system: module, name and title."""

_threads: set[int] = set()
"""Threads that ran before the audit: what they draw is not the function's."""


def _entropy() -> list[tuple[Any, str, Any, Any]]:
    """Return the same for the randomness of the operating system.

    The tools around a run use it, too. So only what is called in a run is refused.
    """

    def watched(title: str, ours: Any) -> Callable[..., Any]:
        def refuse(*arguments: Any, **named: Any) -> Any:
            if not running() or stopped() or threading.get_ident() in _threads:
                return ours(*arguments, **named)
            raise OwnGeneratorError(_OWN_GENERATOR.format(title))

        return refuse

    kept: list[tuple[Any, str, Any, Any]] = []
    for module, name, title in _ENTROPY:
        if (ours := getattr(module, name, None)) is not None:  # not every system has getrandom
            kept.append((module, name, ours, watched(title, ours)))
    seed = random.Random.seed
    without_seed = watched("random.Random()", seed)

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        # `random.Random()` seeds itself; one of `tempfile` only names files.
        # Frame 1 is `Random.__init__`, and frame 2 what makes the generator.
        caller = sys._getframe(2).f_globals.get("__name__")
        (without_seed if a is None and caller != "tempfile" else seed)(self, a, version)

    return [*kept, (random.Random, "seed", seed, seeded)]


@contextmanager
def elsewhere() -> Iterator[None]:
    """Refuse other randomness than the generator's, while it is open.

    It comes from the generators that NumPy and Python keep or make, and from the operating system.
    """
    kept = _replacements()
    _threads.clear()
    _threads.update(one.ident for one in threading.enumerate() if one.ident is not None)
    _threads.discard(threading.get_ident())
    for module, name, _, refusing in kept:
        setattr(module, name, refusing)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) != interrupted:  # a run was stopped on its way
            signal.signal(signal.SIGINT, interrupted)
        for module, name, before, _ in kept:
            setattr(module, name, before)
