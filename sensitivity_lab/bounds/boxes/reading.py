"""Reading a caller's function as one of sums over its records.

The function is called once, with an object that stands for all records. What it computes is kept as
a polynomial in atoms: the number of records n, one record t, functions of these, and sums over all
records of what depends on one of them alone. See docs/proofs.md, "Few sums".
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sensitivity_lab.errors import SensitivityLabError

from .carried import callers_line

_MOST_TERMS, _LARGEST_POWER = 200, 8
"""Larger polynomials are not expanded."""


class NotOfSumsError(Exception):
    """A function does more with its records than to sum over them."""


@dataclass(frozen=True, eq=False)
class Atom:
    """What polynomials are in.

    Attributes
    ----------
    name : str
        "n", "t" for one record, "sum" of what stands for one record, or a function of numpy.
    of : tuple of Poly
        What the function, or the sum, is of.
    each : bool
        Whether it depends on one record.
    """

    name: str
    of: tuple[Poly, ...] = ()
    each: bool = False

    @cached_property
    def key(self) -> str:
        """Its text: alike for equal ones, and the order of factors."""
        return f"{self.name}({', '.join(one.key for one in self.of)})" if self.of else self.name


Monomial = tuple[tuple[Atom, int], ...]
"""Atoms, in the order of their keys, with their powers, of which none is 0."""


@dataclass(frozen=True, eq=False)
class Poly:
    """A polynomial in atoms, whose powers can be below 0."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @staticmethod
    def of(found: Mapping[str, tuple[Monomial, Fraction]]) -> Poly:
        """Return the sum of terms, by the keys of their monomials."""
        if len(found) > _MOST_TERMS:
            raise NotOfSumsError(f"multiplies out to more than {_MOST_TERMS} terms")
        return Poly(tuple(found[key] for key in sorted(found) if found[key][1]))

    @staticmethod
    def number(given: Any) -> Poly:
        """Return a number as it is."""
        return Poly((((), Fraction(given)),) if given else ())

    @staticmethod
    def atom(atom: Atom, power: int = 1) -> Poly:
        """Return a power of an atom."""
        return Poly(((((atom, power),), Fraction(1)),))

    @cached_property
    def key(self) -> str:
        """Its text."""
        return " + ".join(f"{factor}*{_key(one)}" for one, factor in self.terms) or "0"

    @property
    def each(self) -> bool:
        """Whether it depends on one record."""
        return any(atom.each for one, _ in self.terms for atom, _ in one)

    def __add__(self, other: Poly) -> Poly:
        found = {_key(one): (one, factor) for one, factor in self.terms}
        for one, factor in other.terms:
            key = _key(one)
            found[key] = one, factor + (found[key][1] if key in found else 0)
        return Poly.of(found)

    def __mul__(self, other: Poly) -> Poly:
        total = Poly(())
        for one, factor in self.terms:
            row = ((_product(one, by), factor * times) for by, times in other.terms)
            total = total + Poly.of({_key(mono): (mono, times) for mono, times in row})
        return total

    def __neg__(self) -> Poly:
        return self * Poly.number(-1)

    def power(self, power: int) -> Poly:
        """Return a whole power; below 0 of one term, or of all of it as an atom."""
        if power < 0 and len(self.terms) == 1:
            ((one, factor),) = self.terms
            return Poly(((tuple((atom, exp * power) for atom, exp in one), factor**power),))
        if power < 0:
            return Poly.atom(Atom("itself", (self,), self.each), power)
        found = Poly.number(1)
        for _ in range(power):
            found = found * self
        return found

    def split(self, monomial: Monomial) -> tuple[Monomial, Monomial]:
        """Return what of a monomial depends on one record, and what does not."""
        return (
            tuple(part for part in monomial if part[0].each),
            tuple(part for part in monomial if not part[0].each),
        )

    def summed(self) -> Poly:
        """Return the sum over all records."""
        total = Poly(())
        for one, factor in self.terms:
            own, rest = self.split(one)
            atom = Atom("sum", (Poly(((own, Fraction(1)),)),)) if own else N
            total = total + Poly(((rest, factor),)) * Poly.atom(atom)
        return total

    def rewritten(self, by: Mapping[str, Poly]) -> Poly:
        """Return it with polynomials in place of some atoms, also within others."""
        total = Poly(())
        for one, factor in self.terms:
            product = Poly.number(factor)
            for atom, power in one:
                if atom.key in by:
                    part = by[atom.key]
                else:
                    inner = tuple(each.rewritten(by) for each in atom.of)
                    part = (
                        Poly.atom(Atom(atom.name, inner, atom.each)) if inner else Poly.atom(atom)
                    )
                    part = inner[0] if atom.name == "itself" and power > 0 else part
                product = product * part.power(power)
            total = total + product
        return total

    def atoms(self) -> dict[str, Atom]:
        """Return all atoms in it, also within others but for sums, by their keys."""
        found: dict[str, Atom] = {}
        for one, _ in self.terms:
            for atom, _ in one:
                found[atom.key] = atom
                for inner in atom.of if atom.name != "sum" else ():
                    found |= inner.atoms()
        return found

    def value(self, known: Mapping[str, Any], one: Any) -> Any:
        """Return its value, where numbers are of any kind that numpy's functions take.

        Parameters
        ----------
        known : mapping of str to number
            The values of atoms without arguments and of sums, by their keys.
        one : number
            The number 1 of that kind, so that fractions are computed in it, too.
        """
        found: dict[str, Any] = dict(known)
        return self._value(found, one)

    def _value(self, known: dict[str, Any], one: Any) -> Any:
        total = None
        for monomial, factor in self.terms:
            above, below = None, None
            for atom, power in monomial:
                base = _atom_value(atom, known, one)
                part = base if abs(power) == 1 else base ** abs(power)
                if power > 0:
                    above = part if above is None else above * part
                else:
                    below = part if below is None else below * part
            term = _times(one if above is None else above, factor, one)
            term = term if below is None else term / below
            total = term if total is None else total + term
        return 0 * one if total is None else total


def _atom_value(atom: Atom, known: dict[str, Any], one: Any) -> Any:
    if atom.key not in known:
        inner = [of._value(known, one) for of in atom.of]
        known[atom.key] = inner[0] if atom.name == "itself" else getattr(np, atom.name)(*inner)
    return known[atom.key]


def _times(number: Any, factor: Fraction, one: Any) -> Any:
    """Return a number times a fraction, which is computed from floats without error."""
    if factor == 1:
        return number
    above, below = (_exactly(part, one) for part in factor.as_integer_ratio())
    number = number * above if factor.numerator != 1 else number
    return number / below if factor.denominator != 1 else number


def _exactly(whole: int, one: Any) -> Any:
    """Return a whole number as a sum of floats that have no more than 53 bits each."""
    if float(whole) == whole:
        return one * float(whole)
    low = whole & (2**50 - 1) if whole > 0 else -(-whole & (2**50 - 1))
    return _exactly(whole - low, one) + one * float(low)


def _key(monomial: Monomial) -> str:
    return " ".join(f"{atom.key}^{power}" for atom, power in monomial)


def _product(one: Monomial, other: Monomial) -> Monomial:
    powers: dict[str, tuple[Atom, int]] = {atom.key: (atom, power) for atom, power in one}
    for atom, power in other:
        powers[atom.key] = atom, power + (powers[atom.key][1] if atom.key in powers else 0)
    return tuple(powers[key] for key in sorted(powers) if powers[key][1])


N, RECORD = Atom("n"), Atom("t", each=True)


class Read(NDArrayOperatorsMixin):
    """All records, or a number that is computed from them, in place of an array.

    Attributes
    ----------
    poly : Poly
        What it is for each record, or as one number.
    rows : bool
        Whether it has a number for each record.
    divisors : list of Poly
        What the function divides by, and takes roots and logarithms of: it is to be above or below
        0 also where it cancels.
    compared : bool
        Whether it is a comparison.
    """

    def __init__(
        self, poly: Poly, rows: bool, divisors: list[Poly], *, compared: bool = False
    ) -> None:
        self.poly, self.rows, self.divisors, self.compared = poly, rows, divisors, compared

    # What functions read.

    @property
    def shape(self) -> tuple[Any, ...]:
        """As that of an array."""
        return (self.size,) if self.rows else ()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.rows)

    @property
    def size(self) -> Any:
        """The number of numbers."""
        return Read(Poly.atom(N), False, self.divisors) if self.rows else 1

    def __len__(self) -> int:
        refuse("asks for len() where it is not Python's own")

    def __iter__(self) -> NoReturn:
        refuse("goes through the records one by one")

    def __getitem__(self, at: Any) -> Read:
        if not (at is ... or (isinstance(at, slice) and at == slice(None))):
            refuse("picks records by their places or values")
        return self

    def __setitem__(self, at: Any, value: Any) -> NoReturn:
        refuse("changes records in place")

    def __bool__(self) -> bool:
        refuse("branches on data")

    def __float__(self) -> float:
        refuse("turns an answer into a float outside of numpy")

    __int__ = __index__ = __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        refuse("turns records into an array")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in _READ_METHODS:
            refuse(f"calls .{name}")
        return lambda *given, **options: _called(
            _READ_FUNCTIONS[name], name, (self, *given), options
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            refuse(f"calls numpy.{ufunc.__name__} in a way that is not read")
        return _called(_READ_UFUNCS.get(ufunc.__name__), ufunc.__name__, given, {})

    def __array_function__(self, called: Any, _: Any, given: Any, options: Any) -> Any:
        return _called(_READ_FUNCTIONS.get(called.__name__), called.__name__, given, options)


def refuse(does: str) -> NoReturn:
    """Raise NotOfSumsError with the caller's line."""
    raise NotOfSumsError(f"{does}{callers_line(None)}")


def _called(function: Any, name: str, given: Any, options: Any) -> Any:
    if function is None:
        refuse(f"calls numpy.{name}")
    try:
        return function(*given, **options)
    except TypeError:
        refuse(f"calls numpy.{name} with arguments that are not read")


def _reads(*given: Any) -> tuple[Read, ...]:
    """Return the arguments of an operation; numbers are the same for every record."""
    divisors = next(one.divisors for one in given if isinstance(one, Read))
    found = []
    for one in given:
        if not isinstance(one, Read):
            try:
                number = np.asarray(one, dtype=np.float64).item()
                one = Read(Poly.number(number), False, divisors, compared=isinstance(one, bool))
            except (TypeError, ValueError, OverflowError):
                refuse(f"computes with {type(one).__name__}, which is no number")
        found.append(one)
    return tuple(found)


def _alike(poly: Poly, *given: Read, compared: bool = False) -> Read:
    rows = any(one.rows for one in given)
    return Read(poly, rows, given[0].divisors, compared=compared)


def _read_add(*given: Any) -> Read:
    u, v = _reads(*given)
    if u.compared and v.compared:
        refuse("adds comparisons")
    return _alike(u.poly + v.poly, u, v)


def _read_negative(u: Any) -> Read:
    return _alike(-u.poly, u)


def _read_subtract(*given: Any) -> Read:
    u, v = _reads(*given)
    return _read_add(u, _read_negative(v))


def _read_multiply(*given: Any) -> Read:
    u, v = _reads(*given)
    return _alike(u.poly * v.poly, u, v, compared=u.compared and v.compared)


def _read_divide(*given: Any) -> Read:
    u, v = _reads(*given)
    return _read_multiply(u, _read_power(v, -1))


def _read_power(of: Any, power: Any) -> Read:
    u, by = _reads(of, power)
    if by.poly.terms and by.poly.key != f"{by.poly.terms[0][1]}*":
        return _read_exp(_read_multiply(by, _read_log(u)))
    p = by.poly.terms[0][1] if by.poly.terms else Fraction(0)
    if p < 0:
        mixed = _mixed(u.poly) and len(u.poly.terms) == 1
        u.divisors.extend(_parts(u, "a power") if mixed else [u.poly])
    if p.denominator == 1 and abs(p) <= _LARGEST_POWER:
        return _alike(u.poly.power(int(p)), u)
    if p == Fraction(1, 2):
        return _read_sqrt(u)
    if not _mixed(u.poly):
        return _alike(Poly.atom(Atom("power", (u.poly, Poly.number(p)), u.poly.each)), u)
    return _factors(u, "power", lambda of: Atom("power", (of, Poly.number(p)), of.each))


def _mixed(poly: Poly) -> bool:
    """Tell whether it has parts that depend on one record, and others that do not."""
    sides = {bool(part[0].each) for one, _ in poly.terms for part in one}
    return len(sides) > 1


def _factors(u: Read, name: str, atom: Callable[[Poly], Atom]) -> Read:
    """Return the product of a function of the part of a record, and of that of the others."""
    own, rest = _parts(u, name)
    if name != "abs":
        u.divisors.append(Poly.atom(Atom("sqrt", (own,), True)))  # it is not below 0
    return _alike(Poly.atom(atom(own)) * Poly.atom(atom(rest)), u)


def _parts(u: Read, name: str) -> tuple[Poly, Poly]:
    """Return the factor of one term that depends on a record, and the rest."""
    if len(u.poly.terms) > 1:
        refuse(f"takes {name} of what mixes a record with an answer")
    ((one, factor),) = u.poly.terms
    own, rest = u.poly.split(one)
    return Poly(((own, Fraction(1)),)), Poly(((rest, factor),))


def _of(name: str) -> Callable[[Any], Read]:
    """Return a function of one number, which a record and an answer are not mixed in."""

    def apply(given: Any) -> Read:
        (u,) = _reads(given)
        if _mixed(u.poly):
            refuse(f"takes numpy.{name} of what mixes a record with an answer")
        return _alike(Poly.atom(Atom(name, (u.poly,), u.poly.each)), u)

    return apply


def _read_sqrt(given: Any) -> Read:
    (u,) = _reads(given)
    if _mixed(u.poly):
        return _factors(u, "a root", lambda of: Atom("sqrt", (of,), of.each))
    return _of("sqrt")(u)


def _read_exp(given: Any) -> Read:
    """Return exp; of a sum of a record's part and of others it is their product."""
    (u,) = _reads(given)
    if not _mixed(u.poly):
        return _of("exp")(u)
    parts: tuple[list[Any], list[Any]] = ([], [])
    for one, factor in u.poly.terms:
        own, rest = u.poly.split(one)
        if own and rest:
            refuse("takes numpy.exp of a record times an answer")
        parts[not own].append((one, factor))
    found = Poly.number(1)
    for terms in parts:
        of = Poly(tuple(terms))
        found = found * Poly.atom(Atom("exp", (of,), of.each))
    return _alike(found, u)


def _read_log(given: Any) -> Read:
    """Return log; of a product of a record's part and of others it is the sum of theirs."""
    (u,) = _reads(given)
    if not _mixed(u.poly):
        return _of("log")(u)
    own, rest = _parts(u, "numpy.log")
    u.divisors.append(Poly.atom(Atom("log", (own,), True)))
    logs = [Poly.atom(Atom("log", (of,), of.each)) for of in (own, rest)]
    return _alike(logs[0] + logs[1], u)


def _read_absolute(given: Any) -> Read:
    (u,) = _reads(given)
    if _mixed(u.poly):
        return _factors(u, "abs", lambda of: Atom("absolute", (of,), of.each))
    return _of("absolute")(u)


def _several(name: str, *, compared: bool = False) -> Callable[..., Read]:
    """Return a function of several numbers, all of them of a record or none."""

    def apply(*given: Any) -> Read:
        reads = _reads(*given)
        plain = all(not one.poly.terms or one.poly.each or _constant(one.poly) for one in reads)
        if any(_mixed(one.poly) for one in reads) or (
            any(one.poly.each for one in reads) and not plain
        ):
            refuse(f"takes numpy.{name} of a record and an answer")
        each = any(one.poly.each for one in reads)
        atom = Atom(name, tuple(one.poly for one in reads), each)
        return _alike(Poly.atom(atom), *reads, compared=compared)

    return apply


def _constant(poly: Poly) -> bool:
    return all(not one for one, _ in poly.terms)


def _read_sum(u: Read, axis: Any = None) -> Read:
    if axis not in (None, 0, -1):
        refuse("sums along an axis")
    return Read(u.poly.summed() if u.rows else u.poly, False, u.divisors)


def _read_count(u: Read) -> Read:
    return Read(Poly.atom(N) if u.rows else Poly.number(1), False, u.divisors)


def _read_mean(u: Read, axis: Any = None) -> Read:
    return _read_divide(_read_sum(u, axis), _read_count(u))


def _read_average(u: Any, axis: Any = None, weights: Any = None) -> Read:
    if weights is None:
        return _read_mean(u, axis)
    u, by = _reads(u, weights)
    return _read_divide(_read_sum(_read_multiply(u, by), axis), _read_sum(by, axis))


def _read_var(u: Read, axis: Any = None, ddof: Any = 0) -> Read:
    squares = _read_sum(_read_multiply(u, u), axis)
    spread = _read_subtract(
        squares, _read_divide(_read_multiply(_read_sum(u), _read_sum(u)), _read_count(u))
    )
    return _read_divide(spread, _read_subtract(_read_count(u), ddof))


def _read_std(u: Read, axis: Any = None, ddof: Any = 0) -> Read:
    return _read_sqrt(_read_var(u, axis, ddof))


def _read_dot(u: Any, v: Any) -> Read:
    return _read_sum(_read_multiply(u, v))


def _read_norm(u: Read, ord: Any = None) -> Read:  # noqa: A002 - numpy's name
    if ord not in (None, 1, 2):
        refuse("takes a norm other than the sum of sizes and the root of squares")
    return _read_sum(_read_absolute(u)) if ord == 1 else _read_sqrt(_read_sum(_read_multiply(u, u)))


def _read_prod(u: Read, axis: Any = None) -> Read:
    return _read_exp(_read_sum(_read_log(u), axis))


def _extreme(name: str) -> Callable[..., Read]:
    """Return the largest or the smallest record: it may cancel, as in a stable softmax."""

    def apply(u: Read, axis: Any = None) -> Read:  # noqa: ARG001
        return Read(Poly.atom(Atom(name, (u.poly,))), False, u.divisors) if u.rows else u

    return apply


def _read_clip(u: Any, low: Any = None, high: Any = None) -> Read:
    u = u if low is None else _READ_UFUNCS["maximum"](u, low)
    return u if high is None else _READ_UFUNCS["minimum"](u, high)


def _read_astype(u: Read, kind: Any) -> Read:
    if np.dtype(kind) != np.float64 and not (u.compared and np.dtype(kind).kind in "iu"):
        refuse(f"turns numbers into {np.dtype(kind)}")
    return _alike(u.poly, u)


def _read_itself(u: Read) -> Read:
    return u


def _base(base: int) -> Callable[[Any], Read]:
    return lambda u: _read_divide(_read_log(u), np.log(base))


_READ_UFUNCS: dict[str, Callable[..., Read]] = {
    **{name: _of(name) for name in ("sin", "cos", "tanh", "arctan", "expm1", "log1p")},
    **{name: _several(name) for name in ("maximum", "minimum")},
    **{
        name: _several(name, compared=True)
        for name in ("greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or")
    },
    "add": _read_add,
    "subtract": _read_subtract,
    "multiply": _read_multiply,
    "divide": _read_divide,
    "negative": _read_negative,
    "positive": _read_itself,
    "power": _read_power,
    "float_power": _read_power,
    "square": lambda u: _read_power(u, 2),
    "reciprocal": lambda u: _read_power(u, -1),
    "sqrt": _read_sqrt,
    "exp": _read_exp,
    "log": _read_log,
    "log2": _base(2),
    "log10": _base(10),
    "absolute": _read_absolute,
    "fabs": _read_absolute,
    "matmul": _read_dot,
}

_READ_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _read_sum,
    "mean": _read_mean,
    "average": _read_average,
    "var": _read_var,
    "std": _read_std,
    "dot": _read_dot,
    "inner": _read_dot,
    "norm": _read_norm,
    "prod": _read_prod,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "amax": _extreme("max"),
    "amin": _extreme("min"),
    "where": _several("where"),
    "clip": _read_clip,
    "count_nonzero": _read_sum,
    "size": lambda u: u.size,
    "copy": _read_itself,
    "ravel": _read_itself,
    "astype": _read_astype,
}

_READ_METHODS = (
    *("sum", "mean", "var", "std", "dot", "prod", "max", "min", "clip", "copy", "ravel", "astype"),
)


def read(function: Callable[[Any], Any]) -> Read:
    """Return the answer of a function of records, as it is computed from sums.

    Raises
    ------
    NotOfSumsError
        With what else the function does.
    """
    records = Read(Poly.atom(RECORD), True, [])
    try:
        found = _with_our_builtins(function)(records)
        (found,) = _reads(found) if isinstance(found, Read) else (_reads(records, found)[1],)
    except (NotOfSumsError, SensitivityLabError):
        raise
    except Exception as error:
        raise NotOfSumsError(f"raises {type(error).__name__}: {error}") from error
    if found.rows:
        raise NotOfSumsError("returns a number for each record")
    return found


def _with_our_builtins(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a copy of a Python function whose len, sum, float, max and min take ours."""
    if not isinstance(function, types.FunctionType):
        return function
    theirs = {**vars(builtins), "len": _len, "sum": _total, "float": _float}
    theirs |= {"max": _read_most("maximum", max), "min": _read_most("minimum", min)}
    names = {**function.__globals__, "__builtins__": theirs}
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _len(given: Any) -> Any:
    return given.size if isinstance(given, Read) and given.rows else len(given)


def _total(given: Any, start: Any = 0) -> Any:
    return start + _read_sum(given) if isinstance(given, Read) and given.rows else sum(given, start)


def _float(given: Any = 0.0) -> Any:
    return given if isinstance(given, Read) and not given.rows else float(given)


def _read_most(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*given: Any, **options: Any) -> Any:
        if options or not any(isinstance(one, Read) for one in given):
            return plain(*given, **options)
        if len(given) == 1:
            return _READ_FUNCTIONS[plain.__name__](given[0])
        return functools.reduce(_READ_UFUNCS[name], given)

    return apply
