"""Expressions in n, k, L and U: read from text, evaluated exactly, and handed to a solver.

An expression is one of Python's, of + - * / // % **, comparisons, and, or, not, min, max, abs,
floor, ceil and sqrt; powers are whole numbers or fractions. Nothing of it is executed: its syntax
tree is walked.

A formula is proved for a function of the sums of powers of the records (`SumsQuery`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, reduce
from math import floor, inf
from typing import Any

from sensitivity_lab.checks import check_callable, check_text, names_of, shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.queries.rows.predicates import ARITHMETIC, COMPARISONS

_DIGITS = 60
"""Roots that are no fractions are known to so many digits."""

_check_powers = whole_kind("the largest power of the records, from 1 to 4", most=4)


@dataclass(frozen=True)
class SumsQuery:
    """A rational function of the sums of powers of records in [0, 1]; make it with `sums`.

    Attributes
    ----------
    function : callable
        ``function(p, n)``, where ``p[j]`` is the sum of the j-th powers and n, or ``p[0]``, the
        number of records.
    powers : int
        The largest j.
    name : str

    Examples
    --------
    >>> squares = sums(lambda p, n: p[2] / n)
    >>> squares.on([1, 0, 1, 0]), squares.powers
    (Fraction(1, 2), 2)
    """

    function: Callable[[Any, Any], Any]
    powers: int
    name: str

    def on(self, records: Sequence[Any]) -> Fraction:
        """Return the answer on a dataset, exactly.

        Examples
        --------
        >>> sums(lambda p, n: p[2] / (1 + p[1])).on([1, 0, Fraction(1, 2)])
        Fraction(1, 2)
        """
        numbers = [Fraction(one) for one in records]
        powers = [sum((x**j for x in numbers), Fraction(0)) for j in range(1 + self.powers)]
        return Fraction(self.of(powers, powers[0]))

    def of(self, powers: Sequence[Any], size: Any) -> Any:
        """Return the answer for sums of powers, numbers of any kind."""
        try:
            found = self.function(powers, size)
            return found + 0 * size  # also of a number that no sum is in; None raises
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"sums: the function cannot be computed with + - * / and whole powers alone "
                f"({type(error).__name__}: {error}); p[1] to p[{self.powers}] are the sums of "
                "powers, and n is the number of records"
            ) from error


def sums(
    function: Callable[[Any, Any], Any], powers: int = 2, name: str | None = None
) -> SumsQuery:
    """Make a query of the sums of powers of records in [0, 1], for `formula` and `prove`.

    Parameters
    ----------
    function : callable
        ``function(p, n)`` computes the answer with + - * / and whole powers from ``p[1]``, the sum
        of the records, ``p[2]``, that of their squares, and so on, and n, the number of records.
    powers : int, default 2
        The largest power, from 1 to 4.
    name : str, optional
        Stands in texts.

    Returns
    -------
    SumsQuery

    Raises
    ------
    InputError
        If an argument is not acceptable.

    Examples
    --------
    >>> ratio = sums(lambda p, n: p[2] / (1 + p[1]), name="p2 / (1 + p1)")
    >>> ratio.on([1, 1])
    Fraction(2, 3)
    """
    check_callable("function", function, "a function of the sums of powers p and of n")
    most = _check_powers("powers", powers)
    told = "" if name is None else check_text("name", name, "a text")
    return SumsQuery(function, most, told or "a function of power sums")


_WORDS = "+, -, *, /, //, %, **, comparisons, and, or, not, min, max, abs, floor, ceil and sqrt"

_LONGEST, _DEEPEST, _LARGEST_POWER, _LARGEST_ROOT = 2_000, 100, 64, 12
"""The most characters, parts within each other, the largest power of a name, and of a root."""


@dataclass(frozen=True)
class Expression:
    """An expression in the names of numbers.

    Attributes
    ----------
    text : str
        As it was written.
    condition : bool
        Whether it is true or false, and no number.

    Examples
    --------
    >>> Expression("k * (n - k) / n**2")(n=10, k=3)
    Fraction(21, 100)
    >>> Expression("sqrt((n - 1) / n**2)")(n=2), Expression("n % 2 == 0")(n=4)
    (Fraction(1, 2), True)
    """

    text: str
    condition: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Raise InputError for anything else."""
        text = check_text("formula", self.text, "an expression such as 'k * (U - L) / n'")
        try:
            if len(text) > _LONGEST:
                raise ValueError(f"it has {len(text):,} characters, more than {_LONGEST:,}")
            tree = ast.parse(text.strip(), mode="eval").body
            object.__setattr__(self, "condition", _check(tree))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = str(error).partition(" (")[0] if isinstance(error, SyntaxError) else str(error)
            raise InputError(
                f"formula: {shown(text)} cannot be read ({why}); write numbers, names and {_WORDS}"
            ) from error

    @cached_property
    def whole(self) -> ast.expr:
        """Its syntax tree."""
        return ast.parse(self.text.strip(), mode="eval").body

    @cached_property
    def tree(self) -> ast.expr:
        """Its syntax tree, without the root around it."""
        whole = self.whole
        return whole.args[0] if isinstance(whole, ast.Call) and self.root else whole

    @cached_property
    def root(self) -> bool:
        """Whether a square root stands around it."""
        return isinstance(self.whole, ast.Call) and _name(self.whole) == "sqrt"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the numbers in it."""
        calls = {id(one.func) for one in ast.walk(self.tree) if isinstance(one, ast.Call)}
        return frozenset(
            one.id
            for one in ast.walk(self.tree)
            if isinstance(one, ast.Name) and id(one) not in calls
        )

    def __call__(self, **values: Any) -> Any:
        """Return its value, exactly: a Fraction or a truth value; a root is rounded up."""
        return above(self.near(**values))

    def near(self, **values: Any) -> Any:
        """Return its value, with roots to 60 digits."""
        return self._value(self.whole, values)

    def before_root(self, **values: Any) -> Any:
        """Return the value of what a square root stands around, or of all of it."""
        return self._value(self.tree, values)

    def _value(self, tree: ast.expr, values: Mapping[str, Any]) -> Any:
        numbers = {name: Fraction(value) for name, value in values.items()}
        try:
            return walked(tree, numbers, _EXACT)
        except ArithmeticError as error:
            given = ", ".join(f"{name} = {value}" for name, value in values.items())
            why = (
                "divides by 0"
                if isinstance(error, ZeroDivisionError)
                else f"has no value ({error})"
            )
            raise InputError(f"formula: {self.text} {why} for {given}") from error

    def check_names(self, known: frozenset[str]) -> None:
        """Raise InputError for names that nothing is known of."""
        unknown = sorted(self.names - known)
        if unknown:
            raise InputError(
                f"formula: {shown(self.text)} has the unknown name {shown(unknown[0])}; the names "
                f"are {names_of(sorted(known))}"
            )


def root(square: Fraction) -> Fraction | float:
    """Return the root of a fraction, exactly where it is one, else the next float above it.

    Examples
    --------
    >>> root(Fraction(4, 9)), root(Fraction(1, 2))
    (Fraction(2, 3), 0.7071067811865476)
    """
    return above(root_of(square, 2))  # type: ignore[no-any-return]


def above(found: Any) -> Any:
    """Return a fraction or a truth value as it is, and what is known to 60 digits rounded up."""
    return found.floats()[1] if isinstance(found, Enclosure) else found


def near(number: Any) -> Enclosure:
    """Return a number as it is known to 60 digits."""
    return number if isinstance(number, Enclosure) else Enclosure.of(number, _DIGITS)


def root_of(number: Any, degree: int) -> Fraction | Enclosure:
    """Return a root, exactly where it is a fraction.

    Examples
    --------
    >>> root_of(Fraction(8, 27), 3)
    Fraction(2, 3)
    """
    given = near(number)
    if given.high < 0:
        raise ArithmeticError(f"it takes a root of {float(given.high):.6g}")
    if isinstance(number, Fraction):
        # In lowest terms a fraction is a power exactly if both of its parts are.
        exact = Fraction(*(_nearest_root(one, degree) for one in number.as_integer_ratio()))
        if exact**degree == number:
            return exact
    if degree == 2:
        return given.sqrt()
    return (given.log() * Fraction(1, degree)).exp()


def _nearest_root(number: int, degree: int) -> int:
    """Return the whole number next to a root of one of at most 60 digits."""
    return round(Context(_DIGITS).power(Decimal(number), 1 / Decimal(degree)))


@dataclass(frozen=True)
class Functions:
    """What an expression's functions and connectives are, where its numbers are of some kind."""

    number: Callable[[Fraction], Any]
    least: Callable[[Any, Any], Any]
    greatest: Callable[[Any, Any], Any]
    absolute: Callable[[Any], Any]
    floor: Callable[[Any], Any]
    every: Callable[..., Any]
    some: Callable[..., Any]
    negated: Callable[[Any], Any]
    root: Callable[[Any, int], Any]


_EXACT = Functions(
    Fraction,
    min,
    max,
    abs,
    lambda number: Fraction(floor(number)),
    lambda *terms: all(terms),
    lambda *terms: any(terms),
    operator.not_,
    root_of,
)


def walked(node: ast.expr, values: Mapping[str, Any], of: Functions) -> Any:
    """Return the value of a syntax tree, for numbers of any kind with their own operators."""
    match node:
        case ast.Constant():
            return of.number(_decimal(node.value))
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(op=ast.Pow()):
            power = _power_of(node.right)
            # x**(3/2) is the root of x**3: numerators first, so that an exact power stays exact.
            found = walked(node.left, values, of) ** power.numerator
            return found if power.denominator == 1 else of.root(found, power.denominator)
        case ast.BoolOp() | ast.Compare():
            return _truth(node, values, of)
        case ast.UnaryOp() | ast.BinOp() | ast.Call():
            parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
            parts = node.args if isinstance(node, ast.Call) else parts
            return _applied(node, [walked(one, values, of) for one in parts], of)
    raise TypeError(ast.dump(node))  # which `_check` refuses


def _applied(node: ast.UnaryOp | ast.BinOp | ast.Call, given: list[Any], of: Functions) -> Any:
    """Return what an operator or a function makes of values."""
    if isinstance(node, ast.UnaryOp):
        return -given[0] if isinstance(node.op, ast.USub) else of.negated(given[0])
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.FloorDiv):
            return of.floor(given[0] / given[1])
        return ARITHMETIC[type(node.op)](*given)
    name = _name(node)
    if name in ("min", "max"):
        return reduce(of.least if name == "min" else of.greatest, given)
    if name == "sqrt":
        return of.root(given[0], 2)
    # ceil(x) = -floor(-x), so that a solver needs one of them.
    if name == "ceil":
        return -of.floor(-given[0])
    return {"abs": of.absolute, "floor": of.floor}[name](*given)


def _truth(node: ast.BoolOp | ast.Compare, values: Mapping[str, Any], of: Functions) -> Any:
    """Return the truth of comparisons, or of several conditions."""
    if isinstance(node, ast.BoolOp):
        terms = [walked(one, values, of) for one in node.values]
        return (of.every if isinstance(node.op, ast.And) else of.some)(*terms)
    several = [walked(one, values, of) for one in (node.left, *node.comparators)]
    # a < b < c is a < b and b < c.
    pairs = zip(node.ops, several, several[1:], strict=False)
    return of.every(*(COMPARISONS[type(op)](a, b) for op, a, b in pairs))


def _check(node: ast.expr, *, within: int = 0, power: int = 1) -> bool:
    """Raise ValueError for syntax that no expression has, `within` others and their powers.

    Returns whether it is a condition.
    """
    if within > _DEEPEST:
        raise ValueError(f"more than {_DEEPEST} parts stand within each other")
    parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    # Whether its parts are conditions, and whether it is one.
    wanted = isinstance(node, ast.BoolOp) or isinstance(getattr(node, "op", None), ast.Not)
    condition = wanted or isinstance(node, ast.Compare)
    match node:
        case ast.Constant(value=value) if type(value) not in (int, float) or value in (inf, -inf):
            raise ValueError(f"{value!r} is no number")
        case ast.BinOp(op=ast.Pow()):
            # Powers within powers multiply: (x**8)**9 is x**72, and refused.
            power *= _check_power(node.right, power)
            parts = [node.left]
        case ast.Call():
            _check_call(node)
            parts = node.args
        case ast.Constant() | ast.Name() | ast.BoolOp() | ast.UnaryOp(op=ast.USub() | ast.Not()):
            pass
        case _ if not _is_known(node):
            raise ValueError(f"{ast.unparse(node)!r} is no part of formulas")
    for one in parts:
        if _check(one, within=within + 1, power=max(power, 1)) != wanted:
            kinds = ("a condition", "a number") if wanted else ("a number", "a condition")
            raise ValueError(f"{ast.unparse(one)!r} is {kinds[1]} where {kinds[0]} stands")
    return condition


def _check_power(node: ast.expr, outer: int) -> int:
    """Return what a power multiplies those around it by, or raise ValueError."""
    power = _power_of(node)
    if max(1, power.numerator) * outer > _LARGEST_POWER or power.denominator > _LARGEST_ROOT:
        raise ValueError(
            f"a power is a number from 0 to {_LARGEST_POWER}, a root one of at most {_LARGEST_ROOT}"
        )
    return max(1, power.numerator)


def _decimal(value: Any) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    # repr is the shortest text of the float, which is what was written.
    return Fraction(repr(value))


def _power_of(node: ast.expr) -> Fraction:
    """Return a power, a number or a quotient of two; one that no power is for anything else."""
    match node:
        case ast.Constant(value=int() | float() as value) if 0 <= value < inf:
            return _decimal(value)
        case ast.BinOp(op=ast.Div(), left=ast.Constant(), right=ast.Constant(value=int(below))):
            return _power_of(node.left) / below if below > 0 else Fraction(_LARGEST_POWER + 1)
    return Fraction(_LARGEST_POWER + 1)


def _is_known(node: ast.expr) -> bool:
    """Tell whether operators are those of formulas."""
    if isinstance(node, ast.Compare):
        return not any(isinstance(one, ast.In | ast.NotIn) for one in node.ops) and all(
            type(one) in COMPARISONS for one in node.ops
        )
    return isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC


def _check_call(node: ast.Call) -> None:
    name, number = _name(node), len(node.args)
    most = number if name in ("min", "max") else int(name in ("abs", "floor", "ceil", "sqrt"))
    if node.keywords or not 0 < number <= most:
        raise ValueError(f"{ast.unparse(node)!r} is no function of formulas")


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""
