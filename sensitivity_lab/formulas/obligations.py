"""What has to be shown for a formula, as sets of inequalities that no numbers satisfy.

A *model* is a query whose answer on datasets in [L, U] is known by few numbers. x has c records in
common with y and a of its own, y has b of its own; the relation says which a and b there are. An
obligation negates a part of the formula: that two datasets are further apart, that the witness is
not, or is no pair of neighbors. A solver shows that it cannot be met, for all n and k at once. See
docs/proofs.md, "Formulas".
"""

from __future__ import annotations

import ast
import operator
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from sensitivity_lab.errors import InputError, MissingExtraError

from .symbolic import Expression, Functions, SumsQuery, walked

TIME_LIMIT = 60
"""Seconds that the solver gets for one obligation."""


def solver_module() -> Any:
    """Return Z3, or raise MissingExtraError."""
    try:
        import z3
    except ImportError as error:
        raise MissingExtraError(
            "formulas are proved by Z3, which is not installed; install the extra: "
            "pip install '.[formulas]' in a checkout"
        ) from error
    return z3


class Ratio:
    """A quotient of terms of the solver, kept as factors; what divides is shown to be positive.

    So it is compared without division, which solvers are bad at, and without factors on both sides.
    """

    def __init__(
        self, tops: Sequence[Any], lows: Sequence[Any] = (), divided: Sequence[Any] = ()
    ) -> None:
        self.tops, self.lows = tuple(tops), tuple(lows)
        self.divided: tuple[Any, ...] = tuple(divided)
        """What was divided by on the way."""

    @staticmethod
    def of(value: Any) -> Ratio:
        """Return a number, a Fraction or a term as a ratio."""
        if isinstance(value, Ratio):
            return value
        if hasattr(value, "denominator") and not hasattr(value, "sort"):
            below = int(value.denominator)
            return Ratio([int(value.numerator)], [below] if below > 1 else [])
        return Ratio([value])

    @property
    def above(self) -> Any:
        """The product of what is above the line."""
        return product(self.tops)

    @property
    def below(self) -> Any:
        """The product of what is below the line."""
        return product(self.lows)

    def _with(self, other: Ratio, tops: Sequence[Any], lows: Sequence[Any], *more: Any) -> Ratio:
        return Ratio(tops, lows, (*self.divided, *other.divided, *more))

    def _sides(self, other: Any) -> tuple[Any, Any, list[Any]]:
        """Return both over what is below the two lines together, and that."""
        o = Ratio.of(other)
        # A factor below both lines stands there once: 1/n and 1/(n k) come over n k, and not over n
        # n k.
        mine, theirs = without(o.lows, self.lows), without(self.lows, o.lows)
        # Both are over one product of divisors. These are shown to be above 0, so the comparison of
        # what is above the line keeps its direction.
        return product([*self.tops, *mine]), product([*o.tops, *theirs]), [*self.lows, *mine]

    def __add__(self, other: Any) -> Ratio:
        left, right, below = self._sides(other)
        return self._with(Ratio.of(other), [left + right], below)

    def __neg__(self) -> Ratio:
        return Ratio([-1, *self.tops], self.lows, self.divided)

    def __sub__(self, other: Any) -> Ratio:
        return self + -Ratio.of(other)

    def __mul__(self, other: Any) -> Ratio:
        o = Ratio.of(other)
        # What stands on both sides of the line is left out; `divided` remembers that it was there.
        tops, lows = [*self.tops, *o.tops], [*self.lows, *o.lows]
        return self._with(o, without(tops, lows), without(lows, tops))

    def __truediv__(self, other: Any) -> Ratio:
        o = Ratio.of(other)
        # Whole numbers are above 0 as they stand; of terms `_positive` asks the solver.
        by = [one for one in o.tops if not isinstance(one, int)]
        return self * self._with(o, o.lows, o.tops, *by)

    def __pow__(self, power: int) -> Ratio:
        found = Ratio([1])
        for _ in range(power):
            found = found * self
        return found

    def __mod__(self, other: Any) -> Ratio:
        o = Ratio.of(other)
        if any(
            one.below != 1 or (not isinstance(one.above, int) and one.above.is_real())
            for one in (self, o)
        ):
            raise InputError("formula: what % is of is a whole number; write floor for others")
        return self._with(o, [self.above % o.above], [])

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Ratio:
        found: Ratio = -self + other
        return found

    def __rtruediv__(self, other: Any) -> Ratio:
        return Ratio.of(other).__truediv__(self)

    def __lt__(self, other: Any) -> Any:
        left, right, _ = self._sides(other)
        return left < right

    def __le__(self, other: Any) -> Any:
        left, right, _ = self._sides(other)
        return left <= right

    def __gt__(self, other: Any) -> Any:
        left, right, _ = self._sides(other)
        return left > right

    def __ge__(self, other: Any) -> Any:
        left, right, _ = self._sides(other)
        return left >= right

    def __eq__(self, other: object) -> Any:
        left, right, _ = self._sides(other)
        return left == right

    def __ne__(self, other: object) -> Any:
        left, right, _ = self._sides(other)
        return left != right

    __hash__ = None  # type: ignore[assignment]


def product(factors: Sequence[Any]) -> Any:
    """Return the product of terms and numbers."""
    terms = [one for one in factors if not (isinstance(one, int) and one == 1)]
    return reduce(operator.mul, terms) if terms else 1


def without(factors: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return factors but for those that others have, too, each as often as they have it.

    Examples
    --------
    >>> without([2, 3, 3], [3, 5])
    [2, 3]
    """
    # Terms are compared by their text: == of the solver makes a new term.
    left, found = [str(one) for one in others], []
    for one in factors:
        if str(one) in left:
            left.remove(str(one))
        else:
            found.append(one)
    return found


@dataclass(frozen=True)
class RootOf:
    """A root in an expression, as a variable of the solver.

    Attributes
    ----------
    wrong : tuple of terms
        Where what it is the root of is no number, or below 0.
    equations : tuple of terms
        What holds of the variable if it is not.
    """

    wrong: tuple[Any, ...]
    equations: tuple[Any, ...]


def _functions(z3: Any, roots: list[RootOf]) -> Functions:
    """Return the functions of expressions over ratios; roots are added to a list, inner first."""

    def root(one: Any, degree: int) -> Ratio:
        of = Ratio.of(one)
        found = z3.FreshReal("root")
        # a / b < 0 exactly if a b < 0, whatever the sign of b.
        below0 = product([of.above, *of.lows]) < 0
        wrong = [below0, *(by == 0 for by in of.divided)]
        # y**q * below = above, without a quotient.
        equation = product([found] * degree + list(of.lows)) == of.above
        roots.append(RootOf(tuple(wrong), (found >= 0, equation)))
        return Ratio([found])

    def chosen(condition: Any, first: Any, second: Any) -> Ratio:
        one, other = Ratio.of(first), Ratio.of(second)
        if isinstance(condition, bool):
            return one if condition else other
        left, right, below = one._sides(other)
        return one._with(other, [z3.If(condition, left, right)], below)

    def floor(one: Any) -> Ratio:
        above, below = one.above, one.below
        if isinstance(above, int) and isinstance(below, int):
            return Ratio([above // below])
        if not isinstance(below, int) or above.is_real():
            # ToInt rounds down, also below 0. Of whole terms / is a whole division, so they are
            # made real.
            one_ = z3.RealVal(1)
            return Ratio([z3.ToReal(z3.ToInt(above * one_ / (below * one_)))], (), one.divided)
        return Ratio([above / below], (), one.divided)  # of whole terms it is rounded down

    return Functions(
        number=Ratio.of,
        least=lambda a, b: chosen(Ratio.of(a) <= b, a, b),
        greatest=lambda a, b: chosen(Ratio.of(a) >= b, a, b),
        absolute=lambda a: chosen(Ratio.of(a) >= 0, a, -a),
        floor=floor,
        every=z3.And,
        some=z3.Or,
        negated=z3.Not,
        root=root,
    )


def term(expression: Expression, values: Mapping[str, Any]) -> Any:
    """Return an expression as a ratio of terms, or as a condition; without the root around it."""
    found, _ = with_roots(expression.tree, values)
    return found


def with_roots(tree: ast.expr, values: Mapping[str, Any]) -> tuple[Any, list[RootOf]]:
    """Return a syntax tree as a ratio of terms, or as a condition, and the roots in it."""
    roots: list[RootOf] = []
    of = _functions(solver_module(), roots)
    return walked(tree, {name: Ratio.of(one) for name, one in values.items()}, of), roots


Pair = tuple[Any, Any]
"""A number for x, and one for y."""


class Model(ABC):
    """A query whose answer is known by few numbers."""

    whole: bool
    """Whether the solver needs whole numbers."""

    least: int = 1
    """The fewest records that have an answer."""

    @abstractmethod
    def at_ends(self, size: Any, high: Any) -> Any:
        """Return the answer on so many records of which some are at U, in units of the scale."""

    @abstractmethod
    def apart(self, common: Any, own: Pair, sizes: Pair) -> tuple[list[Any], Any]:
        """Return what holds for the sums of two datasets, and the difference of their answers."""


@dataclass(frozen=True)
class Layers(Model):
    """An L-statistic, by its answer on records of which j are 1 and the others 0.

    The answer on any records is the integral over t of its answer on the records that say which
    are at least t.

    Attributes
    ----------
    text : str
        The answer, an expression in n and j.
    whole : bool
    """

    text: str
    whole: bool = True
    least: int = 1

    def at_ends(self, size: Any, high: Any) -> Any:
        """Return the answer on two values."""
        return term(Expression(self.text), {"n": size, "j": high})

    def apart(self, common: Any, own: Pair, sizes: Pair) -> tuple[list[Any], Any]:
        """Return the difference on one layer."""
        # At a threshold j common records, s own ones of x and t of y are at least so large.
        j, s, t = _variables(solver_module(), self.whole, "j s t")
        known = [j >= 0, j <= common, s >= 0, s <= own[0], t >= 0, t <= own[1]]
        return known, self.at_ends(sizes[0], j + s) - self.at_ends(sizes[1], j + t)


@dataclass(frozen=True)
class Powers(Model):
    """A function of sums of powers of records in [0, 1].

    `products` adds that of own records p_(i+1) <= p_1 p_i: with these some more is proved, and some
    takes a solver longer.
    """

    query: SumsQuery
    whole: bool = False
    products: bool = False

    def at_ends(self, size: Any, high: Any) -> Any:
        """Return the answer where each power of a record is the record."""
        powers = [Ratio.of(size), *[Ratio.of(high)] * self.query.powers]
        return Ratio.of(self.query.of(powers, powers[0]))

    def apart(self, common: Any, own: Pair, sizes: Pair) -> tuple[list[Any], Any]:
        """Return what sums of powers satisfy: they fall, and are log-convex."""
        z3, most = solver_module(), self.query.powers
        known: list[Any] = []

        def block(letter: str, size: Any) -> list[Any]:
            # found[j] is the sum of the j-th powers of one group, with its size as the sum of the
            # 0-th.
            found = [size, *z3.Reals(" ".join(f"{letter}{j}" for j in range(1, most + 1)))]
            known.append(found[most] >= 0)
            # Records are in [0, 1], so powers fall; then Cauchy: p_j**2 <= p_(j - 1) p_(j + 1).
            known.extend(found[j] <= found[j - 1] for j in range(1, most + 1))
            known.extend(found[j] * found[j] <= found[j - 1] * found[j + 1] for j in range(1, most))
            return found

        shared = block("c", common)
        answers = []
        for letter, number, size in zip("xy", own, sizes, strict=True):
            mine = [0] * (most + 1) if isinstance(number, int) else block(letter, number)
            # sum x**(j + 1) <= (sum x) (sum x**j), as no term is below 0.
            if self.products and not isinstance(number, int):
                known.extend(mine[j + 1] <= mine[1] * mine[j] for j in range(1, most))
            sums = [Ratio.of(shared[j] + mine[j]) for j in range(1, most + 1)]
            answers.append(Ratio.of(self.query.of([Ratio.of(size), *sums], Ratio.of(size))))
        return known, answers[0] - answers[1]


@dataclass(frozen=True)
class Covariances(Model):
    """The covariance of pairs in [0, 1], one of which is replaced; it is `k` = 1 alone."""

    whole: bool = False

    def at_ends(self, size: Any, high: Any) -> Any:
        """Return the answer where `high` records are (1, 1) and the others (0, 0)."""
        # The mean of products less the product of means, where both columns are alike.
        size, high = Ratio.of(size), Ratio.of(high)
        return high / size - (high / size) ** 2

    def apart(self, common: Any, own: Pair, sizes: Pair) -> tuple[list[Any], Any]:
        """Return the difference, by sums and the sum of products of the common pairs."""
        z3 = solver_module()
        a, b, ab, *pairs = z3.Reals("a b ab p q r s")
        known = [a >= 0, a <= common, b >= 0, b <= common, ab <= a, ab <= b]
        # Frechet's bounds on a sum of products of numbers in [0, 1].
        known += [ab >= 0, ab >= a + b - common]
        known += [bound for one in pairs for bound in (one >= 0, one <= 1)]
        size = Ratio.of(sizes[0])
        both = [
            Ratio.of(ab + p * q) / size - Ratio.of(a + p) * Ratio.of(b + q) / size**2
            for p, q in (pairs[:2], pairs[2:])
        ]
        return known, both[0] - both[1]


@dataclass(frozen=True)
class Added(Model):
    """A sum of what each record adds, from L to U."""

    whole: bool = False
    least: int = 0

    def at_ends(self, size: Any, high: Any) -> Any:
        """Return the sum, in which `high` records are U."""
        low, upper = _ends()
        return Ratio.of(high) * upper + (Ratio.of(size) - high) * low

    def apart(self, common: Any, own: Pair, sizes: Pair) -> tuple[list[Any], Any]:
        """Return the difference: only own records count."""
        low, upper = _ends()
        s, t = solver_module().Reals("s t")
        known = [s >= own[0] * low, s <= own[0] * upper, t >= own[1] * low, t <= own[1] * upper]
        return known, Ratio.of(s) - t


def _ends() -> tuple[Any, Any]:
    low, upper = solver_module().Reals("L U")
    return low, upper


def _variables(z3: Any, whole: bool, names: str) -> list[Any]:
    return list((z3.Ints if whole else z3.Reals)(names))


@dataclass(frozen=True)
class Obligation:
    """A set of inequalities that no numbers may satisfy.

    Attributes
    ----------
    name : str
        What is shown if they do not.
    inequalities : tuple
        Of the solver.
    """

    name: str
    inequalities: tuple[Any, ...] = field(repr=False)

    def smt2(self) -> str:
        """Return it in the language of solvers, SMT-LIB 2."""
        solver = solver_module().Solver()
        solver.add(*self.inequalities)
        return str(solver.to_smt2())

    def verdict(self, seconds: float = TIME_LIMIT) -> Proof:
        """Ask the solver."""
        z3 = solver_module()
        solver = z3.Solver()
        solver.set("timeout", int(1000 * seconds))
        solver.add(*self.inequalities)
        began = time.process_time()
        # "unsat" is the proof; "unknown" is none, and never counts as one.
        found = str(solver.check())
        numbers = (
            {str(one): str(solver.model()[one]) for one in solver.model()} if found == "sat" else {}
        )
        took = time.process_time() - began
        return Proof(self.name, self.smt2(), found, took, z3.get_version_string(), numbers)


@dataclass(frozen=True)
class Proof:
    """An obligation, and what a solver said of it.

    Attributes
    ----------
    name : str
        What it shows.
    smt2 : str
        The inequalities, in SMT-LIB 2: any solver can read them.
    verdict : {"unsat", "sat", "unknown"}
        "unsat" proves it.
    seconds : float
        CPU seconds; 0 of a recorded proof.
    solver : str
        The version of Z3.
    numbers : dict of str to str
        That satisfy the inequalities, where some do.

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> proof = formulas.formula("mean", neighbors="bounded").proofs[0][1]
    >>> proof.name, proof.verdict
    ('k replaced: x is not further above y', 'unsat')
    """

    name: str
    smt2: str = field(repr=False)
    verdict: str
    seconds: float
    solver: str
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """Whether no numbers satisfy the inequalities."""
        return self.verdict == "unsat"

    def again(self, seconds: float = TIME_LIMIT) -> bool:
        """Have it shown again, from its text alone."""
        z3 = solver_module()
        solver = z3.Solver()
        solver.set("timeout", int(1000 * seconds))
        solver.from_string(self.smt2)
        return str(solver.check()) == "unsat"


CHANGES = {
    "bounded": (("k", "k"),),
    "unbounded": (("m", "0"), ("0", "m")),
    "symmetric difference": (("a", "b"),),
}
"""By relation, how many records of their own x and y have; m, and a + b, are at most k."""


def bound_obligations(
    model: Model, relation: str, condition: Expression, value: Expression
) -> Iterator[Obligation]:
    """Yield that no pair of neighbors is further apart than a value, in units of the scale."""
    z3 = solver_module()
    n, k, m, a, b, c, t = _variables(z3, model.whole, "n k m a b common size_y")
    names = {"n": n, "k": k, "m": m, "a": a, "b": b, "0": 0}
    low, upper = _ends()
    numbers = {"n": n, "k": k, "L": low, "U": upper}
    if relation == "unbounded" and isinstance(model, Powers):
        # Solvers do better with exactly m changes, and the value for m below that for k.
        fewer = {**numbers, "k": m}
        both = (n >= 1, m >= 1, m <= k, term(condition, numbers))
        falls = Ratio.of(term(value, fewer)) > Ratio.of(term(value, numbers))
        yield Obligation("what holds for k holds for m", (*both, z3.Not(term(condition, fewer))))
        yield Obligation("the value for m is not above that for k", (*both, falls))
        numbers, k = fewer, m
    for own_x, own_y in CHANGES[relation]:
        here = {
            "bounded": [],
            "unbounded": [m >= 1, m <= k],
            "symmetric difference": [a >= 0, b >= 0, a + b >= 1, a + b <= k],
        }[relation]
        # "0" stands for no own records: then x, or y, is the common part itself.
        own = names[own_x], names[own_y]
        # Solvers do better with a name for each size.
        sizes = (n, c) if own_y == "0" else (c, t) if own_x == "0" else (n, t)
        known, far = model.apart(c, own, sizes)
        most = Ratio.of(term(value, numbers))
        # x has n records. c are common, and t is the size of y.
        given = [n >= 1, k >= 1, c == n - own[0], c >= 0, t == c + own[1], low < upper]
        given.append(t >= model.least)
        given += here
        given += [*known, term(condition, numbers)]
        what = {"bounded": "k replaced", "symmetric difference": "a removed, b added"}.get(
            relation, "m removed" if own_y == "0" else "m added"
        )
        yield from _positive([far, most], given, what)
        for sign, side in ((1, "above"), (-1, "below")):
            if relation == "bounded" and sign < 0:
                continue  # x and y can change places
            one = far if sign > 0 else -far
            yield Obligation(f"{what}: x is not further {side} y", (*given, one > most))


def witness_obligations(
    model: Model,
    relation: str,
    condition: Expression,
    value: Expression,
    witness: Sequence[Expression],
) -> Iterator[Obligation]:
    """Yield that a family of pairs is as far apart as a value, and one of neighbors.

    The family is j, the number of records of x at U, and the size and number at U of y.
    """
    z3 = solver_module()
    n, k = _variables(z3, model.whole, "n k")
    low, upper = _ends()
    numbers = {"n": n, "k": k, "L": low, "U": upper}
    given = [n >= 1, k >= 1, low < upper, term(condition, numbers)]
    if relation == "bounded":
        given.append(k <= n)
    # x has n records, `high` of them at U; y has `size`, `other` of them at U.
    high, size, other = (Ratio.of(term(one, numbers)) for one in witness)
    most = Ratio.of(term(value, numbers))
    far = model.at_ends(n, high) - model.at_ends(size, other)
    yield from _positive([far, most], given, "witness")
    # No numbers may make both signs of the difference miss the value.
    yield Obligation("the witness attains it", (*given, far != most, -far != most))
    # How many records more x has at U, and at L. What x has more is lost, what y has more comes.
    more_high, more_low = high - other, (Ratio.of(n) - high) - (size - other)
    lost = _positive_part(z3, more_high) + _positive_part(z3, more_low)
    come = _positive_part(z3, -more_high) + _positive_part(z3, -more_low)
    near = {
        "bounded": [lost <= k, size == n],
        "unbounded": [z3.Or(lost == 0, come == 0), lost + come <= k],
        "symmetric difference": [lost + come <= k],
    }[relation]
    inside = [high >= 0, high <= n, other >= 0, other <= size, size >= model.least]
    yield Obligation("the witness is a pair of neighbors", (*given, z3.Not(z3.And(*near, *inside))))


def _positive(ratios: Sequence[Ratio], given: Sequence[Any], what: str) -> Iterator[Obligation]:
    """Yield that what is divided by is positive."""
    z3 = solver_module()
    # By text, so that one divisor is asked about once.
    divided = {str(one): one for ratio in ratios for one in ratio.divided}
    if divided:
        some = z3.Or(*(one <= 0 for one in divided.values()))
        yield Obligation(f"{what}: what is divided by is above 0", (*given, some))


def _positive_part(z3: Any, one: Ratio) -> Ratio:
    return _functions(z3, []).greatest(one, Ratio([0]))  # type: ignore[no-any-return]
