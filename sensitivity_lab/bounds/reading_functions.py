"""Reading a caller's function as one of sums over its records.

The function is called once, with an object that stands for all records. What it computes is kept as
a polynomial in atoms: the number of records n, one record t, functions of these, and sums over all
records of what depends on one of them alone. See docs/proofs.md, "Few sums".
"""

from __future__ import annotations

import builtins
import functools
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from sensitivity_lab.errors import SensitivityLabError

from .traced import COMPOSED, NotFollowedError, Traced, itself, refuse

_MOST_TERMS, _LARGEST_POWER = 200, 8
"""Larger polynomials are not expanded."""


class NotOfSumsError(NotFollowedError):
    """A function does more with its records than to sum over them."""

    def __init__(self, does: str) -> None:
        super().__init__(does)
        self.does = does


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
    """A polynomial in atoms, whose powers can be below 0.

    Attributes
    ----------
    terms : tuple of (Monomial, Fraction)
    lost : tuple of Monomial
        What a function computed and no term has any more, as that of x / x: it is to be defined.
    """

    terms: tuple[tuple[Monomial, Fraction], ...]
    lost: tuple[Monomial, ...] = ()

    @staticmethod
    def of(found: Mapping[str, tuple[Monomial, Fraction]], lost: Sequence[Monomial] = ()) -> Poly:
        """Return the sum of terms, by the keys of their monomials."""
        if len(found) > _MOST_TERMS:
            raise NotOfSumsError(f"multiplies out to more than {_MOST_TERMS} terms")
        # A term whose factor is 0 is no term any more, but where it is not defined the function has
        # no answer.
        gone = [*lost, *(one for one, factor in found.values() if not factor)]
        kept = {_key(one): one for one in gone if _may_fail(one)}
        terms = tuple(found[key] for key in sorted(found) if found[key][1])
        return Poly(terms, tuple(kept[key] for key in sorted(kept)))

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
        lost = "".join(f" + 0*{_key(one)}" for one in self.lost)
        return (" + ".join(f"{factor}*{_key(one)}" for one, factor in self.terms) or "0") + lost

    @property
    def each(self) -> bool:
        """Whether it depends on one record."""
        return any(atom.each for one, _ in self.all_terms for atom, _ in one)

    def __add__(self, other: Poly) -> Poly:
        found = {_key(one): (one, factor) for one, factor in self.terms}
        for one, factor in other.terms:
            key = _key(one)
            found[key] = one, factor + (found[key][1] if key in found else 0)
        return Poly.of(found, (*self.lost, *other.lost))

    def __mul__(self, other: Poly) -> Poly:
        # Where one side is 0, nothing is left of the other one.
        gone = other.monomials if not self.terms else self.monomials if not other.terms else ()
        total = Poly((), (*self.lost, *other.lost, *gone))
        for one, factor in self.terms:
            for by, times in other.terms:
                mono, lost = _product(one, by)
                total = total + Poly(((mono, factor * times),), lost)
        return total

    def __neg__(self) -> Poly:
        return self * Poly.number(-1)

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """Those of its terms."""
        return tuple(one for one, _ in self.terms)

    def power(self, power: int) -> Poly:
        """Return a whole power; below 0 of one term, or of all of it as an atom."""
        if power < 0 and len(self.terms) == 1:
            ((one, factor),) = self.terms
            # One term has a reciprocal term by term: (3 a b**2)**-1 = 1/3 a**-1 b**-2.
            flipped = tuple((atom, exp * power) for atom, exp in one)
            return Poly.of({"": (flipped, factor**power)}, (*self.lost, one))
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

    @property
    def all_terms(self) -> tuple[tuple[Monomial, Fraction], ...]:
        """Its terms, and with the factor 0 what is lost."""
        return (*self.terms, *((one, Fraction(0)) for one in self.lost))

    def summed(self) -> Poly:
        """Return the sum over all records."""
        total = Poly(())
        for one, factor in self.all_terms:
            # The sum of a**2 b over records, with b alike for all, is b times the sum of a**2; of b
            # alone it is n b.
            own, rest = self.split(one)
            atom = Atom("sum", (Poly(((own, Fraction(1)),)),)) if own else N
            part = Poly(((rest, Fraction(1)),)) * Poly.atom(atom)
            total = total + part * Poly.number(factor)
        return total

    def rewritten(self, by: Mapping[str, Poly]) -> Poly:
        """Return it with polynomials in place of some atoms, also within others."""
        total = Poly(())
        for one, factor in self.all_terms:
            product = Poly.number(1)
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
            total = total + product * Poly.number(factor)
        return total

    def atoms(self) -> dict[str, Atom]:
        """Return all atoms in it, also within others but for sums, by their keys."""
        found: dict[str, Atom] = {}
        for one, _ in self.all_terms:
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
        parts = [
            _times(_monomial_value(monomial, known, one), factor, one)
            for monomial, factor in self.terms
        ]
        # Nothing, but where it is not defined.
        parts += [0 * _monomial_value(monomial, known, one) for monomial in self.lost]
        return functools.reduce(operator.add, parts) if parts else 0 * one


def _monomial_value(monomial: Monomial, known: dict[str, Any], one: Any) -> Any:
    above, below = None, None
    for atom, power in monomial:
        base = _atom_value(atom, known, one)
        part = base if abs(power) == 1 else base ** abs(power)
        if power > 0:
            above = part if above is None else above * part
        else:
            below = part if below is None else below * part
    above = one if above is None else above
    return above if below is None else above / below


def _may_fail(monomial: Monomial) -> bool:
    """Tell whether there may be numbers that it is not defined for."""
    return any(
        (power < 0 and atom.name not in ("n", "exp"))
        or atom.name in ("log", "sqrt", "power")
        or any(_may_fail(one) for inner in atom.of for one, _ in inner.all_terms)
        for atom, power in monomial
    )


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
    """Return a whole number as a sum of floats, the largest first."""
    near = float(whole)
    rest = whole - int(near)
    return one * near + _exactly(rest, one) if rest else one * near


def _key(monomial: Monomial) -> str:
    return " ".join(f"{atom.key}^{power}" for atom, power in monomial)


def _product(one: Monomial, other: Monomial) -> tuple[Monomial, tuple[Monomial, ...]]:
    """Return a product, and what it has no more: what is divided by, and is a factor, too."""
    powers: dict[str, tuple[Atom, int]] = {atom.key: (atom, power) for atom, power in one}
    lost = []
    for atom, power in other:
        before = powers[atom.key][1] if atom.key in powers else 0
        powers[atom.key] = atom, power + before
        # Powers of two signs cancel: x**2 / x is x, but 1 / x is to be defined. What was divided by
        # is kept.
        if before * power < 0:
            lost.append(((atom, min(before, power)),))
    return tuple(powers[key] for key in sorted(powers) if powers[key][1]), tuple(lost)


N, RECORD = Atom("n"), Atom("t", each=True)


class Read(Traced):
    """All records, or a number that is computed from them, in place of an array.

    Attributes
    ----------
    poly : Poly
        What it is for each record, or as one number.
    rows : bool
        Whether it has a number for each record.
    sizes : range
        How many records there can be, if that is known.
    """

    sizes = range(0)

    def __init__(self, poly: Poly, rows: bool, compared: str = "") -> None:
        self.poly, self.rows, self.compared = poly, rows, compared

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
        return _Size(self.sizes) if self.rows else 1

    def __len__(self) -> int:
        refuse("asks for len() where it is not Python's own")

    def __iter__(self) -> NoReturn:
        refuse("goes through the records one by one")

    def __getitem__(self, at: Any) -> Read:
        if not (at is ... or (isinstance(at, slice) and at == slice(None))):
            refuse("picks records by their places or values")
        return self


class _Size(Read):
    """The number of records: what compares it with a number is decided if all sizes agree."""

    def __init__(self, sizes: range) -> None:
        super().__init__(Poly.atom(N), False)
        self.sizes = sizes


def _of_all_sizes(name: str) -> Callable[[_Size, Any], Any]:
    def apply(size: _Size, other: Any) -> Any:
        if not isinstance(other, int | float) or not size.sizes:
            return getattr(Read, name)(size, other)
        told = getattr(operator, name)(np.arange(size.sizes.start, size.sizes.stop), other)
        if told.any() and not told.all():
            refuse("branches on the number of records, which has both answers for these sizes")
        return bool(told.all())

    return apply


for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(_Size, _name, _of_all_sizes(_name))


def _reads(*given: Any) -> tuple[Read, ...]:
    """Return the arguments of an operation; numbers are the same for every record."""
    found = []
    for one in given:
        if not isinstance(one, Read):
            try:
                number = np.asarray(one, dtype=np.float64).item()
                told = "True" if isinstance(one, bool | np.bool_) else ""
                one = Read(Poly.number(number), False, told)
            except (TypeError, ValueError, OverflowError):
                refuse(f"computes with {type(one).__name__}, which is no number")
        found.append(one)
    return tuple(found)


def _alike(poly: Poly, *given: Read, compared: str = "") -> Read:
    found = Read(poly, any(one.rows for one in given), compared)
    found.sizes = max((one.sizes for one in given), key=len)
    return found


def _plus(*given: Any) -> Read:
    u, v = _reads(*given)
    if u.compared and v.compared:
        refuse("adds comparisons, which numpy takes for |; write |, or astype(int) before the sum")
    return _alike(u.poly + v.poly, u, v)


def _multiplied(*given: Any) -> Read:
    u, v = _reads(*given)
    return _alike(u.poly * v.poly, u, v, compared=u.compared and v.compared)


def _divided(*given: Any) -> Read:
    u, v = _reads(*given)
    return _multiplied(u, _raised(v, -1))


def _raised(of: Any, power: Any) -> Read:
    u, by = _reads(of, power)
    if not _constant(by.poly):
        return _exponential(_multiplied(by, _logarithm(u)))
    # A constant polynomial has one term without atoms, or none if it is 0.
    p = by.poly.terms[0][1] if by.poly.terms else Fraction(0)
    if p.denominator == 1 and abs(p) <= _LARGEST_POWER:
        return _alike(u.poly.power(int(p)), u)
    # A root cubed needs far fewer boxes than the power 3/2 of a sum of squares.
    if p.denominator == 2 and (p.numerator == 1 or not u.poly.each):
        return _raised(_SQRT(u), p.numerator)
    return _of_parts("power", Poly.number(p))(u)


def _mixed(poly: Poly) -> bool:
    """Tell whether it has parts that depend on one record, and others that do not."""
    return len({part[0].each for one, _ in poly.all_terms for part in one}) > 1


def _constant(poly: Poly) -> bool:
    return not any(one for one, _ in poly.terms)


def _parts(u: Read, name: str) -> tuple[Poly, Poly]:
    """Return the factor of one term that depends on a record, and the rest."""
    if len(u.poly.terms) != 1:
        refuse(f"takes {name} of what mixes a record with an answer")
    ((one, factor),) = u.poly.terms
    own, rest = u.poly.split(one)
    lost = [
        [gone for gone in u.poly.lost if any(u.poly.split(gone)[0]) is each]
        for each in (True, False)
    ]
    return Poly(((own, Fraction(1)),), tuple(lost[0])), Poly(((rest, factor),), tuple(lost[1]))


def _of_parts(name: str, *more: Poly) -> Callable[[Any], Read]:
    """Return a function of which that of a product is the product of those of its factors."""

    def apply(u: Read) -> Read:
        factors = _parts(u, f"numpy.{name}") if _mixed(u.poly) else (u.poly,)
        found = Poly.number(1)
        for one in factors:
            found = found * Poly.atom(Atom(name, (one, *more), one.each))
        return _alike(found, u)

    return apply


def _exponential(u: Read) -> Read:
    """Return exp; of a sum of a record's part and of others it is their product."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    # exp(t + m) = exp(t) exp(m): the part of each record is summed, the other one is a factor.
    for one, factor in u.poly.terms:
        own, rest = u.poly.split(one)
        if own and rest:
            refuse("takes numpy.exp of a record times an answer")
        parts[not own].append((one, factor))
    found = Poly((((), Fraction(1)),), u.poly.lost)
    for terms in parts if _mixed(u.poly) else [[*u.poly.terms]]:
        of = Poly(tuple(terms))
        found = found * Poly.atom(Atom("exp", (of,), of.each))
    return _alike(found, u)


def _logarithm(u: Read) -> Read:
    """Return log; of a product of a record's part and of others it is the sum of theirs."""
    factors: Sequence[Poly] = (u.poly,)
    if _mixed(u.poly):
        factors = _parts(u, "numpy.log")
    found = Poly(())
    for one in factors:
        found = found + (_exponent(one) or Poly.atom(Atom("log", (one,), one.each)))
    return _alike(found, u)


def _exponent(poly: Poly) -> Poly | None:
    """Return u of exp(u), which can be what no float of exp(u) holds; None of other terms."""
    if len(poly.terms) == 1:
        ((monomial, factor),) = poly.terms
        if factor == 1 and [atom.name for atom, _ in monomial] == ["exp"]:
            ((atom, power),) = monomial
            return Poly.number(power) * atom.of[0]
    return None


def _each(name: str, compared: str = "") -> Callable[..., Read]:
    """Return a function of numbers, all of which are of a record, or none is."""

    def apply(*given: Any) -> Read:
        reads = _reads(*given)
        each = any(one.poly.each for one in reads)
        if any(
            _mixed(one.poly) or (each and not one.poly.each and not _constant(one.poly))
            for one in reads
        ):
            refuse(f"takes numpy.{name} of what mixes a record with an answer")
        atom = Atom(name, tuple(one.poly for one in reads), each)
        return _alike(Poly.atom(atom), *reads, compared=compared)

    return apply


def _summed(u: Read, axis: Any = None) -> Read:
    if axis not in (None, 0, -1):
        refuse(f"sums along axis={axis!r}; one axis is followed")
    return Read(u.poly.summed() if u.rows else u.poly, False)


def _spread_of(u: Read, axis: Any = None, ddof: Any = 0) -> Read:
    # As sums, not yet as moments: `Moments.rewritten` turns Q - S**2 / n into n times the variance,
    # without which nothing is left of it in intervals.
    spread = _summed(u * u, axis) - _summed(u) * _summed(u) / u.size
    return spread / (u.size - ddof)  # type: ignore[no-any-return]


def _extreme(name: str) -> Callable[..., Read]:
    """Return the largest or the smallest record: it may cancel, as in a stable softmax."""

    def apply(u: Read, axis: Any = None) -> Read:  # noqa: ARG001
        return Read(Poly.atom(Atom(name, (u.poly,))), False) if u.rows else u

    return apply


def _as_type(u: Read, kind: Any) -> Read:
    kind = float if kind is _float else kind
    if np.dtype(kind) != np.float64 and not (u.compared and np.dtype(kind).kind in "iu"):
        refuse(f"turns numbers into {np.dtype(kind)}")
    return _alike(u.poly, u)


_SQRT = _of_parts("sqrt")
_MAX, _MIN = _extreme("max"), _extreme("min")
Read.calls = COMPOSED | {
    "absolute": _of_parts("absolute"),
    "add": _plus,
    "amax": _MAX,
    "amin": _MIN,
    "arctan": _each("arctan"),
    "astype": _as_type,
    "bitwise_and": _each("logical_and", "&"),
    "bitwise_or": _each("logical_or", "|"),
    "cos": _each("cos"),
    "divide": _divided,
    "exp": _exponential,
    "expm1": _each("expm1"),
    "fabs": _of_parts("absolute"),
    "float_power": _raised,
    "greater": _each("greater", ">"),
    "greater_equal": _each("greater_equal", ">="),
    "less": _each("less", "<"),
    "less_equal": _each("less_equal", "<="),
    "log": _logarithm,
    "logical_and": _each("logical_and", "&"),
    "logical_or": _each("logical_or", "|"),
    "max": _MAX,
    "maximum": _each("maximum"),
    "mean": lambda u, axis=None: _summed(u, axis) / u.size,
    "min": _MIN,
    "minimum": _each("minimum"),
    "multiply": _multiplied,
    "negative": lambda u: u * -1,
    "power": _raised,
    "prod": lambda u, axis=None: _exponential(_summed(_logarithm(u), axis)),
    "ravel": itself,
    "sin": _each("sin"),
    "size": lambda u: u.size,
    "sqrt": _SQRT,
    "square": lambda u: _raised(u, 2),
    "subtract": lambda u, v: _plus(u, v * -1),
    "sum": _summed,
    "tanh": _each("tanh"),
    "var": _spread_of,
    "where": _each("where"),
}
Read.methods = (
    *("sum", "mean", "var", "std", "dot", "prod", "max", "min", "clip", "copy", "ravel", "astype"),
)


def read(function: Callable[[Any], Any], sizes: range = range(0)) -> Read:
    """Return the answer of a function of records, as it is computed from sums.

    Parameters
    ----------
    function : callable
        Of an array of records.
    sizes : range, optional
        How many records there can be: a branch on their number takes the way of all.

    Raises
    ------
    NotOfSumsError
        With what else the function does.
    """
    records = Read(Poly.atom(RECORD), True)
    records.sizes = sizes
    try:
        found = _with_our_builtins(function)(records)
        (found,) = _reads(found) if isinstance(found, Read) else (_reads(records, found)[1],)
    except SensitivityLabError:
        raise
    except Exception as error:
        raise NotOfSumsError(f"raises {type(error).__name__}: {error}") from error
    if found.rows:
        raise NotOfSumsError("returns a number for each record")
    return found


class _Numpy:
    """NumPy, whose functions that make arrays leave alone what is read."""

    def __getattr__(self, name: str) -> Any:
        plain = getattr(np, name)
        if name not in ("array", "asarray", "asanyarray", "ascontiguousarray"):
            return plain

        def made(given: Any, dtype: Any = None, **options: Any) -> Any:
            if not isinstance(given, Read):
                return plain(given, float if dtype is _float else dtype, **options)
            return given if dtype is None else _as_type(given, dtype)

        return made


def _with_our_builtins(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a copy of a Python function whose len, sum, float, max, min and numpy take ours."""
    if not isinstance(function, types.FunctionType):
        return function
    theirs = {**vars(builtins), "len": _len, "sum": _total, "float": _float}
    theirs |= {"max": _most("maximum", max), "min": _most("minimum", min)}
    names = {
        name: _Numpy() if value is np else value for name, value in function.__globals__.items()
    }
    names["__builtins__"] = theirs
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _len(given: Any) -> Any:
    return given.size if isinstance(given, Read) and given.rows else len(given)


def _total(given: Any, start: Any = 0) -> Any:
    return start + _summed(given) if isinstance(given, Read) and given.rows else sum(given, start)


def _float(given: Any = 0.0) -> Any:
    return given if isinstance(given, Read) and not given.rows else float(given)


def _most(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*given: Any, **options: Any) -> Any:
        if options or not any(isinstance(one, Read) for one in given):
            return plain(*given, **options)
        if len(given) == 1:
            return Read.calls[plain.__name__](given[0])
        return functools.reduce(Read.calls[name], given)

    return apply
