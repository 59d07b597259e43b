"""Symbols for draws: numbers that code computes with before their values are decided.

A symbol is a combination ``c + a1 X1 + a2 X2 + ...`` of draws with rational coefficients. Adding
symbols, and multiplying them by numbers, makes symbols. A comparison asks the run, which decides it
and goes on; the other answer is tried in another run. Everything else asks the run for the value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from sensitivity_lab.audits.returned import Part

from .stops import OutsideError, budget, stopped

DISCRETE, UNIFORM = "discrete", "uniform"
LAPLACE, GAUSSIAN, EXPONENTIAL, GUMBEL = "Laplace", "Gaussian", "exponential", "Gumbel"
"""Kinds of draws."""

NOISE = "noise"
"""The counter of all draws of continuous noise."""

CONTINUOUS = frozenset({LAPLACE, GAUSSIAN, EXPONENTIAL, GUMBEL})
"""The kinds of continuous noise."""


def whole_noise(kinds: Iterable[str]) -> str:
    """Return what to do where continuous noise of some kinds is not covered."""
    discrete = "rng.geometric(p) - rng.geometric(p)"
    if GAUSSIAN in kinds:
        discrete = "discrete Gaussian noise by rng.choice(values, p=weights)"
    return f"draw whole numbers as noise, such as {discrete}, whose exact law is found"


def released_noise(kinds: Iterable[str]) -> str:
    """Return why noise that is compared and released has no law, and what to do."""
    return (
        "releases noise that it compares; where it goes on by a noisy number, audit_recorded "
        f"judges each step; or {whole_noise(kinds)}"
    )


class Draw(NamedTuple):
    """A draw of a run: its kind, and its number among the draws of the run."""

    kind: str
    number: int


class Bound(NamedTuple):
    """A bound of a symbol: a number, or None for no bound; and whether equality is within it."""

    number: Fraction | None
    closed: bool = True


NO_BOUND = Bound(None)

_ZERO = Fraction(0)


class Decides(Protocol):
    """What symbols ask: a run."""

    def within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        """Return whether a symbol is within bounds, as this run decides."""

    def value(self, symbol: Symbol) -> Fraction:
        """Return the value of a symbol, as this run decides."""

    def logarithm(self, symbol: Symbol) -> Any:
        """Return the logarithm of a symbol, as this run decides."""

    def before(self, one: Symbol, other: Symbol) -> None:
        """Take notice of two symbols that are compared with each other next."""


class Comparison(NamedTuple):
    """A comparison with 0: of numbers, and as bounds of a symbol."""

    of_numbers: Callable[[Any, Any], Any]
    low: Bound
    high: Bound


_FEW_STEPS, _TIE = 2**40, Fraction(1, 10**12)
"""Of multiples of 1 / so much, one that is nearer to a number than this is taken for a tie."""

_AT_LEAST = Comparison(operator.ge, Bound(_ZERO), NO_BOUND)
_ABOVE = Comparison(operator.gt, Bound(_ZERO, False), NO_BOUND)
_EQUAL = Comparison(operator.eq, Bound(_ZERO), Bound(_ZERO))


class Symbol(Part):
    """A combination of draws.

    Parameters
    ----------
    run : Decides
        Decides comparisons and values.
    terms : mapping of Draw to Fraction
        The coefficients, none of them 0.
    constant : Fraction
        What is added to them.
    whole : bool
        Whether its values are of type int; if not, of type float.
    """

    __slots__ = ("constant", "run", "terms", "whole")

    def __init__(
        self, run: Decides, terms: Mapping[Draw, Fraction], constant: Fraction, whole: bool
    ) -> None:
        budget().spend(len(terms))
        self.run = run
        self.terms = terms
        self.constant = constant
        self.whole = whole

    @property
    def continuous(self) -> bool:
        """Whether continuous noise is in it."""
        return any(draw.kind in CONTINUOUS for draw in self.terms)

    @property
    def discrete(self) -> bool:
        """Whether all its draws are discrete."""
        return all(draw.kind == DISCRETE for draw in self.terms)

    def decided(self) -> int | float:
        """Return the value that the run decides."""
        value = self.run.value(self)
        return int(value) if self.whole and value.denominator == 1 else float(value)

    def at(self, values: Mapping[Draw, Fraction]) -> Fraction:
        """Return the value where the draws have these values."""
        return self.constant + sum(a * values[draw] for draw, a in self.terms.items())

    def check_ties(self) -> None:
        """Raise OutsideError if a value is as near to 0 as floats round, and is not 0.

        With decimals such as 7 / 10 against 0.7, floats and fractions do not agree on ties.
        """
        # Without the constant, values are multiples of 1 / below. So there is a tie only if the
        # constant is such a multiple, too.
        below = math.lcm(*(a.denominator for a in self.terms.values()))
        if not self.terms or not self.discrete or below > _FEW_STEPS or stopped():
            return
        off = self.constant * below - round(self.constant * below)
        if off and abs(off) < _TIE * max(Fraction(1), abs(self.constant * below)):
            raise OutsideError(
                "compares a draw with a decimal that floats round, so that ties are not certain; "
                "compare whole numbers, such as 10 times as much"
            )

    # Arithmetic that stays affine.

    def _plus(self, other: Any, sign: int) -> Any:
        if isinstance(other, Magnitude):
            other = other.resolved()
        if isinstance(other, Symbol):
            terms = dict(self.terms)
            for draw, a in other.terms.items():
                terms[draw] = terms.get(draw, Fraction(0)) + sign * a
            # What cancels is left out: X - X is a number, and needs no decision.
            left = {draw: a for draw, a in terms.items() if a}
            constant = self.constant + sign * other.constant
            return Symbol(self.run, left, constant, self.whole and other.whole)
        if not _is_number(other):
            return NotImplemented
        if not math.isfinite(other):
            return float(sign * other)  # infinite, or NaN, whatever is drawn
        constant = self.constant + sign * Fraction(_plain(other))
        return Symbol(self.run, self.terms, constant, self.whole and _is_whole(other))

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Symbol:
        return self._times(Fraction(-1), whole=True)

    def _times(self, factor: Fraction, whole: bool) -> Symbol:
        terms = {draw: factor * a for draw, a in self.terms.items() if factor}
        return Symbol(self.run, terms, factor * self.constant, self.whole and whole)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Magnitude):
            other = other.resolved()
        if isinstance(other, Symbol):
            # A product of two symbols is not affine, so one of them is decided: rather a discrete
            # one, since the value of noise cannot be.
            if not other.terms:
                return self._times(other.constant, other.whole)
            if not self.terms or (other.continuous and not self.continuous):
                return other * (self if not self.terms else self.decided())
            return self * other.decided()
        if not _is_number(other):
            return NotImplemented
        if not math.isfinite(other):
            return self.decided() * other
        return self._times(Fraction(_plain(other)), _is_whole(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Symbol | Magnitude):
            other = other.decided()
        if not _is_number(other):
            return NotImplemented
        # Python and NumPy divide by 0 in their own ways: with a value, each does so.
        if not math.isfinite(other) or not other:
            return self.decided() / other
        return self._times(1 / Fraction(_plain(other)), False)

    # Comparisons, which the run decides.

    def _against(self, other: Any, comparison: Comparison, swapped: bool) -> Any:
        if isinstance(other, Magnitude):
            other = other.resolved()
        if isinstance(other, Symbol):
            self.run.before(self, other)
        # All comparisons are of a difference with 0; swapped, of its negative.
        difference = self._plus(other, -1)
        if difference is NotImplemented:
            return NotImplemented
        if not isinstance(difference, Symbol):  # `other` is infinite or NaN
            return comparison.of_numbers(-difference if swapped else difference, 0)
        difference.check_ties()
        bounds = comparison.low, comparison.high
        return self.run.within(-difference if swapped else difference, *bounds)

    def __ge__(self, other: Any) -> Any:
        return self._against(other, _AT_LEAST, False)

    def __gt__(self, other: Any) -> Any:
        return self._against(other, _ABOVE, False)

    def __le__(self, other: Any) -> Any:
        return self._against(other, _AT_LEAST, True)

    def __lt__(self, other: Any) -> Any:
        return self._against(other, _ABOVE, True)

    def __eq__(self, other: Any) -> Any:
        return self._against(other, _EQUAL, False)

    def __ne__(self, other: Any) -> Any:
        equal = self == other
        return equal if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        return not self.run.within(self, _EQUAL.low, _EQUAL.high)

    def __abs__(self) -> Magnitude:
        return Magnitude(self)

    # A whole number is its own rounding; any other value has to be decided.

    def _rounded(self, how: Callable[..., Any]) -> Any:
        return self if self.whole else how(self.decided())

    def _steps(self, how: Callable[[Any], Any]) -> Any:
        """Round down, or towards 0: a uniform draw by comparisons with whole numbers."""
        if not self.terms or {draw.kind for draw in self.terms} != {UNIFORM}:
            return how(self.decided()) if how is int else self._rounded(how)
        ends = [self.constant, self.constant + sum(self.terms.values())]
        # The value rounded down is from low to high, after every turn. Only from 0 on is that also
        # the value rounded towards 0.
        low, high = math.floor(min(ends)), math.ceil(max(ends)) - 1
        while low < high and (low >= 0 or how is math.floor):
            middle = (low + high) // 2
            low, high = (low, middle) if self < middle + 1 else (middle + 1, high)
        return low if low == high else how(self.decided())

    def __round__(self, digits: Any = None) -> Any:
        same = self.whole and (digits is None or digits >= 0)
        return self if same else round(self.decided(), digits)

    def __floor__(self) -> Any:
        return self._steps(math.floor)

    def __ceil__(self) -> Any:
        return self._rounded(math.ceil)

    def __trunc__(self) -> Any:
        return self._steps(math.trunc)

    def rint(self) -> Any:
        """Round, as ``np.rint`` and ``np.round`` ask it to."""
        return self._rounded(np.rint)

    floor, ceil, trunc = __floor__, __ceil__, __trunc__

    def log(self) -> Any:
        """Return the logarithm, as ``np.log`` and ``math.log`` ask it to."""
        return self.run.logarithm(self)

    def log1p(self) -> Any:
        """Return the logarithm of 1 more."""
        return (self + 1).log()

    def sign(self) -> float:
        """Return -1, 0 or 1, by comparisons."""
        return 1.0 if self > 0 else -1.0 if self < 0 else 0.0

    def is_integer(self) -> bool:
        """Return whether the value is a whole number."""
        return self.whole or float(self.decided()).is_integer()

    def item(self) -> Symbol:
        """Return the symbol itself."""
        return self

    __pos__ = __copy__ = conjugate = item

    def __deepcopy__(self, _: Any) -> Symbol:
        return self

    # What needs the value.

    def __int__(self) -> int:
        return int(self._steps(int))

    def __index__(self) -> int:
        return operator.index(self.decided())  # type: ignore[arg-type]

    def __float__(self) -> float:
        return float(self.decided())

    def __complex__(self) -> complex:
        return complex(self.decided())

    def __hash__(self) -> int:
        return hash(self.decided())

    def __str__(self) -> str:
        return str(self.decided())

    def __repr__(self) -> str:
        return repr(self.decided())

    def __format__(self, how: str) -> str:
        return format(self.decided(), how)


def _of_values(name: str, swapped: bool) -> Callable[..., Any]:
    """Return a method that decides the value of a symbol, and then calls an operator."""
    how = getattr(operator, name)

    def method(self: Symbol, other: Any, *rest: Any) -> Any:
        if isinstance(other, Symbol | Magnitude):
            other = other.decided()
        elif not _is_number(other):
            return NotImplemented
        own = self.decided()
        return how(other, own, *rest) if swapped else how(own, other, *rest)

    return method


# These are not affine, whatever the other operand is.
for _name in ("floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
    _word = _name.rstrip("_")
    setattr(Symbol, f"__{_word}__", _of_values(_name, False))
    setattr(Symbol, f"__r{_word}__", _of_values(_name, True))
Symbol.__rtruediv__ = _of_values("truediv", True)  # type: ignore[attr-defined]


def _of_one(name: str) -> Callable[[Symbol], Any]:
    """Return a method that NumPy's function of this name calls on an object."""

    def method(self: Symbol) -> Any:
        return getattr(np, name)(self.decided())

    return method


for _name in (
    "exp", "expm1", "log2", "log10", "sqrt", "cbrt", "square", "sin", "cos", "tan",
    "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "reciprocal", "isnan", "isinf",
    "isfinite", "signbit", "fabs",
):  # fmt: skip
    setattr(Symbol, _name, _of_one(_name))


class Magnitude(Part):
    """The absolute value of a symbol.

    Compared with a number, it is one decision: whether the symbol is between two bounds. So a loop
    that draws again while ``abs(noise) > bound`` has one way on, not two. For all else the sign of
    the symbol is decided, and it is that symbol or its negation.
    """

    __slots__ = ("symbol",)

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol

    def decided(self) -> int | float:
        """Return the value that the run decides."""
        return self.resolved().decided()

    def resolved(self) -> Symbol:
        """Return the symbol or its negation, as the run decides its sign."""
        return self.symbol if self.symbol >= 0 else -self.symbol

    def _within(self, other: Any, closed: bool, name: str) -> Any:
        """Tell whether the value is at most, or below, a number."""
        # Of noise and uniform draws, the run decides comparisons with one bound only.
        if not _is_number(other) or not math.isfinite(other) or not self.symbol.discrete:
            return getattr(self.resolved(), name)(other)
        bound = Fraction(_plain(other))
        if bound < 0 or (bound == 0 and not closed):
            return False
        return self.symbol.run.within(self.symbol, Bound(-bound, closed), Bound(bound, closed))

    def __le__(self, other: Any) -> Any:
        return self._within(other, True, "__le__")

    def __lt__(self, other: Any) -> Any:
        return self._within(other, False, "__lt__")

    def __gt__(self, other: Any) -> Any:
        return _negated(self._within(other, True, "__le__"))

    def __ge__(self, other: Any) -> Any:
        return _negated(self._within(other, False, "__lt__"))

    def __abs__(self) -> Magnitude:
        return self

    def __bool__(self) -> bool:
        return bool(self.symbol)

    def __copy__(self) -> Magnitude:
        return self

    def __deepcopy__(self, _: Any) -> Magnitude:
        return self


def _negated(answer: Any) -> Any:
    return answer if answer is NotImplemented else not answer


def _resolving(name: str) -> Callable[..., Any]:
    """Return a method that decides the sign, and calls the method of the symbol."""

    def method(self: Magnitude, *arguments: Any) -> Any:
        return getattr(self.resolved(), name)(*arguments)

    return method


# Whatever else a symbol can do, a magnitude can, once its sign is decided.
for _name in vars(Symbol):
    if callable(getattr(Symbol, _name)) and _name not in vars(Magnitude) | {"__new__": 0}:
        setattr(Magnitude, _name, _resolving(_name))


def _is_number(given: Any) -> bool:
    """Tell whether something is a single real number."""
    return isinstance(given, int | float | Fraction | np.integer | np.floating | np.bool_)


def _is_whole(given: Any) -> bool:
    return isinstance(given, int | np.integer | np.bool_)


def _plain(number: Any) -> Any:
    """Return a number as Python's: Fractions are not made of NumPy's integers."""
    return number.item() if isinstance(number, np.generic) else number
