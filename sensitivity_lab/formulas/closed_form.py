"""Formulas of sensitivities: for every n and k at once, with what proves them."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_rational, check_whole, html_text, names_of, shown
from sensitivity_lab.errors import InputError, MissingExtraError
from sensitivity_lab.queries import Query, Std, Var, as_query
from sensitivity_lab.results.reprs import fact_lines, facts_html
from sensitivity_lab.universes.relations import as_relation

from .library import (
    BLOCKS,
    BOTH,
    CONVEX,
    GIVEN,
    NOTHING,
    REPLACED,
    Case,
    Known,
    candidates,
    known_of,
)
from .obligations import (
    Covariances,
    Obligation,
    Powers,
    Proof,
    Ratio,
    bound_obligations,
    solver_module,
    term,
    witness_obligations,
)
from .symbolic import Expression, SumsQuery, root

NAMES = frozenset("nkLU")

NUMBERS, PAIRS, UNIT = "numbers from L to U", "pairs of numbers from L to U", "numbers in [0, 1]"
"""What records are."""

RECORDED = Path(__file__).with_name("proofs.json")
"""What was proved of the library's formulas, by query, relation and case."""

_PRIVATE = (
    "the number of records n: noise for the value at the real n reveals it, and is too small for "
    "neighbors of other sizes; take the largest value over every n that the data can have"
)

_NAMES_OF_RELATIONS = {
    REPLACED: "bounded: at most k records replaced",
    GIVEN: "unbounded: at most k records added or removed",
    BOTH: "symmetric difference: at most k records removed and added in all",
}


@dataclass(frozen=True, repr=False)
class Formula:
    """A sensitivity as an expression in n, k, L and U; make it with `formula`.

    Attributes
    ----------
    query : str
        The name of the query.
    neighbors : {"bounded", "unbounded", "symmetric difference"}
    scale : str
        What the values of cases are in units of, in L and U.
    cases : tuple of Case
        The first whose condition holds counts; where none does, nothing is known.
    proofs : tuple of tuples of Proof
        By case, what a solver showed.
    ends : str
        Where records are: from L to U, numbers or pairs of these, or in [0, 1] alone.

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> var = formulas.formula("var", neighbors="bounded")
    >>> var(n=100, k=3, L=0, U=60)
    Fraction(2619, 25)
    """

    query: str
    neighbors: str
    scale: str
    cases: tuple[Case, ...]
    proofs: tuple[tuple[Proof, ...], ...]
    ends: str = NUMBERS

    def case(self, n: Any, k: Any = 1, L: Any = 0, U: Any = 1) -> Case:
        """Return the case that holds for some numbers; InputError where none does."""
        values = _numbers(n, k, L, U)
        if self.ends == UNIT and [values["L"], values["U"]] != [Fraction(0), Fraction(1)]:
            raise InputError(
                f"formula: {self.query} is a function of records in [0, 1]; leave out L and U, and "
                "divide the records"
            )
        # The first condition that holds counts: later ones are shown where no earlier one holds.
        for one in self.cases:
            if one.condition(**values):
                return one
        known = "; ".join(one.condition.text for one in self.cases)
        raise InputError(
            f"formula: nothing is proved of {self.query} for n = {n}, k = {k} ({self.neighbors}); "
            f"it is known where {known}; sl.global_sensitivity computes one n"
        )

    def __call__(self, n: Any, k: Any = 1, L: Any = 0, U: Any = 1) -> Fraction | float:
        """Return the sensitivity.

        Parameters
        ----------
        n : int
            The number of records, at least 1.
        k : int, default 1
            At most so many records differ.
        L, U : int, float, Fraction or Decimal, default 0 and 1
            The ends of the domain. Both must be possible records; of a covariance, in both columns.

        Returns
        -------
        Fraction or float
            Exact; a square root that is no fraction is rounded up to a float.

        Raises
        ------
        InputError
            If an argument is not acceptable, or nothing is proved for it.
        """
        values = _numbers(n, k, L, U)
        found = self.case(n, k, L, U).value
        width = Expression(self.scale)(**values)
        # The scale of a root is the square of the unit, and stands under the root.
        if found.root:
            return root(found.before_root(**values) * width)
        return found(**values) * width  # type: ignore[no-any-return]

    def witness(self, n: Any, k: Any = 1, L: Any = 0, U: Any = 1) -> tuple[list[Any], list[Any]]:
        """Return a pair of neighbors that are so far apart; of a covariance, of pairs of numbers.

        Parameters
        ----------
        n, k, L, U
            As for the formula itself.

        Returns
        -------
        (list, list)
            Records at L and U alone.

        Examples
        --------
        >>> from sensitivity_lab import formulas
        >>> formulas.formula("median", "bounded").witness(n=4)
        ([Fraction(0, 1), Fraction(0, 1), Fraction(1, 1), Fraction(1, 1)], [Fraction(0, 1), ...])
        """
        values = _numbers(n, k, L, U)
        # Whole numbers by the obligation that the witness is a pair of neighbors.
        high, size, other = (int(one(**values)) for one in self.case(n, k, L, U).witness)
        low, upper = values["L"], values["U"]
        if self.ends == PAIRS:
            low, upper = (low, low), (upper, upper)  # type: ignore[assignment]

        def records(number: int, at_upper: int) -> list[Any]:
            return [low] * (number - at_upper) + [upper] * at_upper

        return records(int(values["n"]), high), records(size, other)

    @property
    def proved(self) -> bool:
        """Whether all that it needs is shown."""
        return all(one.proved for of in self.proofs for one in of)

    def latex(self) -> str:
        """Return it in LaTeX, a line per case.

        Raises
        ------
        MissingExtraError
            Without the extra ``[formulas]``, whose SymPy writes it.
        """
        sympy = _sympy()
        lines = []
        for one in self.cases:
            value = sympy.latex(_symbols(sympy, self._value(one)))
            lines.append(rf"{value} & \text{{if }} {_condition(one.condition.text)} \\")
        return "\n".join([r"\begin{cases}", *lines, r"\end{cases}"])

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python objects: what the command line prints as JSON."""
        return {
            "query": self.query,
            "neighbors": self.neighbors,
            "cases": [
                {
                    "condition": one.condition.text,
                    "value": self._value(one),
                    "rule": one.rule,
                    "proved": [proof.name for proof in proofs if proof.proved],
                }
                for one, proofs in zip(self.cases, self.proofs, strict=True)
            ],
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return what a reader wants to know."""
        solvers = sorted({one.solver for of in self.proofs for one in of})
        number = sum(map(len, self.proofs))
        rules = list(dict.fromkeys(one.rule for one in self.cases))
        return [
            ("neighbors", _NAMES_OF_RELATIONS[self.neighbors]),
            *(
                ("value", f"{self._value(one)}{_if(one.condition.text, place)}")
                for place, one in enumerate(self.cases)
            ),
            *(("rule", rule) for rule in rules),
            (
                "proved",
                f"for all n and k in these conditions, by {number} sets of inequalities that no "
                f"numbers satisfy (Z3 {names_of(solvers, str)}); `proofs` has them",
            ),
            ("for", f"records that are {self.ends}; norm L1, in the {self._unit}"),
            *([("private", _PRIVATE)] if self._has_private_size else []),
        ]

    def __repr__(self) -> str:
        title = f"Sensitivity of {self.query} for every n"
        return "\n".join([title, *fact_lines(self.facts(), 100)])

    def _repr_html_(self) -> str:
        return facts_html(self.facts(), f"Sensitivity of {html_text(self.query)} for every n")

    @property
    def _has_private_size(self) -> bool:
        conditions = [one.condition for one in self.cases if one.condition.text != "n >= 1"]
        read = [one.names for one in (*conditions, *(one.value for one in self.cases))]
        return self.neighbors != REPLACED and any("n" in names for names in read)

    @property
    def _unit(self) -> str:
        squared = self.scale.endswith("**2") and not self.cases[0].value.root
        return "square of the records' unit" if squared else "unit of the answer"

    def _value(self, case: Case) -> str:
        return scaled(case.value.text, self.scale)


def scaled(value: str, scale: str) -> str:
    """Return a value in units of a scale as one expression.

    Examples
    --------
    >>> scaled("k / n", "(U - L)"), scaled("1", "(U - L)"), scaled("sqrt(k / n)", "(U - L)**2")
    ('k / n * (U - L)', '(U - L)', '(U - L) * sqrt(k / n)')
    >>> scaled("1 - k / n", "(U - L)")
    '(1 - k / n) * (U - L)'
    """
    if scale == NOTHING or value == "0":
        return value
    # sqrt(v (U - L)**2) is (U - L) sqrt(v), as U is above L.
    if value.startswith("sqrt("):
        return f"{scale.removesuffix('**2')} * {value}"
    return (
        scale
        if value == "1"
        else ast.unparse(ast.parse(f"({value}) * {scale}")).replace(" ** ", "**")
    )


def _if(condition: str, place: int) -> str:
    return "" if condition == "n >= 1" and not place else f", {'else ' * (place > 0)}if {condition}"


def _condition(text: str) -> str:
    for plain, tex in (("<=", r"\le"), (">=", r"\ge"), ("==", "="), ("%", r"\bmod"), ("*", " ")):
        text = text.replace(plain, tex)
    return text.replace(" and ", r" \text{ and } ").replace("//", "/")


@public_call
def formula(query: Any, neighbors: Any) -> Formula:
    """Return the sensitivity of a query as an expression in n, k, L and U, proved for all of them.

    Parameters
    ----------
    query : str, Query or SumsQuery
        A query of the library by its name or as an object, or a function of sums of powers, made
        with `sums`.
    neighbors : {"bounded", "unbounded", "symmetric difference"} or relation
        How neighbors differ. The k of a relation does not matter: k is a symbol. "unbounded" means
        k records added or removed, in both directions.

    Returns
    -------
    Formula
        With conditions, the rule, what a solver showed, and a family of worst pairs.

    Raises
    ------
    InputError
        If nothing is proved of the query under the relation; the message says what is.
    MissingExtraError
        Where a function of sums needs the extra ``[formulas]``: Z3 proves, SymPy writes.

    Notes
    -----
    The formulas of the library are there without the extra, with their recorded proofs;
    docs/reference/formulas.md lists them. A formula of a function of sums is looked for among
    pairs of records at 0 and 1, and given only if it is proved for every n and k. Cost: nothing for
    the library's; of others up to a minute of the solver for each set of inequalities.

    References
    ----------
    docs/proofs.md, "Formulas".

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> formulas.formula("mean", neighbors="bounded")
    Sensitivity of mean for every n
      neighbors  bounded: at most k records replaced
      value      k / n * (U - L), if k <= n
      rule       layers: ...
    >>> formulas.formula("std", neighbors="unbounded")(n=50, k=2)
    0.19595917942265426
    """
    relation = relation_of(neighbors)
    if isinstance(query, SumsQuery):
        return _formula_of_sums(query, relation)
    asked = asked_of(query)
    known = known_of(asked)
    if relation not in known:
        there = names_of(sorted(known), str) if known else "no relation"
        raise InputError(
            f"formula: nothing is proved of {asked.name} under {relation} neighbors; of it there "
            f"are formulas under {there}. sl.global_sensitivity computes one n, and "
            "formulas.prove checks a claim"
        )
    found = known[relation]
    proofs = recorded(asked.name, relation, found)
    if proofs is None:
        proofs = tuple(
            tuple(one.verdict() for one in obligations_of(found, relation, place))
            for place in range(len(found.cases))
        )
        if not all(one.proved for of in proofs for one in of):
            raise InputError(
                f"formula: the formula of {asked.name} under {relation} neighbors is not proved "
                "for these parameters; sl.global_sensitivity computes one n"
            )
    ends = PAIRS if isinstance(found.model, Covariances) else NUMBERS
    return Formula(asked.name, relation, found.scale, found.cases, proofs, ends)


def asked_of(query: Any) -> Query:
    """Return a query, also by a name as results print it: "var_ddof_1"."""
    # "var_ddof_1" is the name that results print.
    name, _, ddof = query.partition("_ddof_") if isinstance(query, str) else ("", "", "")
    if ddof.isdecimal() and name in ("var", "std"):
        return Var(ddof=int(ddof)) if name == "var" else Std(ddof=int(ddof))
    return as_query(query)


def relation_of(neighbors: Any) -> str:
    """Return the name of a relation whose k is a symbol."""
    if isinstance(neighbors, str) and neighbors == "symmetric difference":
        return BOTH
    one = as_relation(neighbors)
    name = str(one).partition(",")[0]
    if name not in _NAMES_OF_RELATIONS or getattr(one, "exactly", False):
        raise InputError(
            f"neighbors must be one of {names_of(sorted(_NAMES_OF_RELATIONS))}, or such a relation "
            f"with at most k changes in both directions, got {one}"
        )
    return name


def obligations_of(known: Known, relation: str, place: int) -> Iterator[Obligation]:
    """Yield what has to be shown of a case: where no case before it holds."""
    case = known.cases[place]
    # A case has to be shown only where none before it holds.
    before = [f"not ({one.condition.text})" for one in known.cases[:place]]
    condition = Expression(" and ".join([f"({case.condition.text})", *before]))
    value = case.value
    # Under the root stands the square of the sensitivity, and the model's answers are squares, too.
    if value.root:
        value = Expression(value.text.removeprefix("sqrt(").removesuffix(")"))
    model = known.model
    if case.rule.startswith(CONVEX):
        # n mod 2 is one of whole numbers.
        model = replace(model, whole=True)  # type: ignore[type-var]
        yield from _convex(model, condition, value)
    else:
        yield from bound_obligations(model, relation, condition, value)
    yield from witness_obligations(model, relation, condition, value, case.witness)
    if case.value.root:
        yield _one_is_zero(model, condition, case)


def _convex(model: Any, condition: Expression, value: Expression) -> Iterator[Obligation]:
    """Yield that no answer on records at the ends is above a value, or below 0."""
    q, d, k = solver_module().Ints("q d k")
    for odd in (0, 1):
        n, j = 2 * q + odd, q + d  # so that j (n - j) is the largest square less what d takes off
        # n is even or odd, and j is d away from its half: j (n - j) = q (q + odd) + d odd - d**2.
        numbers = {"n": n, "k": k}
        given = (n >= 1, k >= 1, j >= 0, j <= n, term(condition, numbers))
        answer, most = model.at_ends(n, j), Ratio.of(term(value, numbers))
        which = f"n is {'odd' if odd else 'even'}"
        yield Obligation(f"no answer at the ends is larger where {which}", (*given, answer > most))
        yield Obligation(f"none is negative where {which}", (*given, answer < 0))


def _one_is_zero(model: Any, condition: Expression, case: Case) -> Obligation:
    z3 = solver_module()
    n, k = (z3.Ints if model.whole else z3.Reals)("n k")
    numbers = {"n": n, "k": k}
    high, size, other = (Ratio.of(term(one, numbers)) for one in case.witness)
    both = z3.And(model.at_ends(n, high) != 0, model.at_ends(size, other) != 0)
    return Obligation(
        "one answer of the witness is 0", (n >= 1, k >= 1, term(condition, numbers), both)
    )


@cache
def all_recorded() -> Mapping[str, Any]:
    """Return the recorded proofs, by query and relation."""
    found: Mapping[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def texts_of(known: Known) -> list[list[str]]:
    """Return what is claimed in each case, as text."""
    return [[one.condition.text, one.value.text] for one in known.cases]


def recorded(query: str, relation: str, known: Known) -> tuple[tuple[Proof, ...], ...] | None:
    """Return what was proved of a formula; None if it is another one than those."""
    # A recorded proof counts only for the very texts that it was made of.
    of = all_recorded().get(f"{query}, {relation}")
    if of is None or of["cases"] != texts_of(known):
        return None
    return tuple(tuple(Proof(**one) for one in case) for case in of["proofs"])


def _formula_of_sums(query: SumsQuery, relation: str) -> Formula:
    """Return the first candidate that is proved."""
    sympy = _sympy()
    n, k = sympy.symbols("n k", positive=True)
    tried = []
    for witness in candidates(relation):
        ends = [sympy.sympify(one.text.replace("//", "/"), {"n": n, "k": k}) for one in witness]
        far = _at(query, n, ends[0]) - _at(query, ends[1], ends[2])
        for sign in (1, -1):
            value = sympy.factor(sympy.simplify(sign * far))
            text = str(value)
            if text in tried or value == 0:
                continue
            tried.append(text)
            # One n and k tell the sign; the other sign of the difference comes next.
            if float(value.subs({n: 9, k: 2})) <= 0:
                continue
            case = Case(Expression("k <= n"), Expression(text), witness, BLOCKS)
            try:
                further = furthest_sample(query, relation, case.value, case.condition)
            except InputError:  # a candidate that divides by 0
                continue
            if further is not None:
                continue  # before a solver takes its time
            for products in (False, True):
                known = Known(Powers(query, products=products), NOTHING, (case,))
                proofs = tuple(proofs_while_proved(known, relation))
                if all(one.proved for one in proofs):
                    return Formula(query.name, relation, NOTHING, (case,), (proofs,), UNIT)
    raise InputError(
        f"formula: no formula of {query.name} is proved under {relation} neighbors, of those that "
        "records at 0 and 1 attain; formulas.prove checks a claim of your own"
    )


def proofs_while_proved(known: Known, relation: str) -> Iterator[Proof]:
    """Yield what a solver says of each obligation, to the first that it does not prove."""
    for one in obligations_of(known, relation, 0):
        proof = one.verdict()
        yield proof
        if not proof.proved:
            return


def _at(query: SumsQuery, size: Any, high: Any) -> Any:
    return query.of([size, *[high] * query.powers], size)


def furthest_sample(
    query: SumsQuery, relation: str, value: Expression, where: Expression, most: int = 24
) -> tuple[int, int, list[Fraction], list[Fraction], Fraction] | None:
    """Return n, k and a pair that is further apart than a value; None if none of some is."""
    for n in range(1, most + 1):
        # One record, two, and all: claims mostly fail at an end.
        for k in sorted({1, 2, n} & set(range(1, n + 1))):
            if not where(n=n, k=k):
                continue
            claim = value(n=n, k=k)
            # x has n records, so n - own_x are common, and y has these and own_y.
            for own_x, own_y in ((k, k),) if relation == REPLACED else ((0, k), (k, 0)):
                shapes = _shapes(n - own_x)
                for place, a, b in _far_in_floats(query, shapes, own_x, own_y, float(claim)):
                    x, y = shapes[place] + [a] * own_x, shapes[place] + [b] * own_y
                    far = abs(query.on(x) - query.on(y)) if x and y else Fraction(0)
                    if far > claim:
                        return n, k, x, y, far
    return None


_GRID = [Fraction(j, 32) for j in range(33)]


def _shapes(number: int) -> list[list[Fraction]]:
    """Return datasets of common records: alike, at the two ends, and some at random."""
    # The seed is fixed: a claim has the same verdict each time.
    rng = np.random.default_rng(0)
    found = [[one] * number for one in _GRID]
    found += [[_GRID[0]] * j + [_GRID[-1]] * (number - j) for j in range(1, number)]
    return found + [[_GRID[j] for j in rng.integers(0, len(_GRID), number)] for _ in range(4)]


def _far_in_floats(
    query: SumsQuery, shapes: Sequence[Sequence[Fraction]], own_x: int, own_y: int, claim: float
) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Yield a shape and own records where floats are apart by more than a claim, or nearly."""
    grid = np.array(_GRID, dtype=float)
    # Axis: the shape of the common records. answers has a second one, the value of all own records.
    powers = [np.array([math.fsum(float(x) ** j for x in of) for of in shapes]) for j in range(5)]

    def answers(own: int) -> Any:
        sums = [powers[j][:, None] + own * grid**j for j in range(1, query.powers + 1)]
        size = len(shapes[0]) + own + 0 * sums[0]
        with np.errstate(all="ignore"):
            return query.of([size, *sums], size)

    if min(own_x, own_y) == 0 and not shapes[0]:
        return  # nobody's dataset
    x, y = np.broadcast_arrays(answers(own_x), powers[0][:, None] + grid)[0], answers(own_y)
    # Axes: shape, own records of x, own records of y.
    far = np.abs(x[:, :, None] - y[:, None, :])
    # Floats only propose: fractions decide, and 1e-9 is far more than floats are off.
    for place, a, b in np.argwhere(far > claim * (1 - 1e-9))[:50].tolist():
        yield place, _GRID[a], _GRID[b]


def _numbers(n: Any, k: Any, low: Any, upper: Any) -> dict[str, Fraction]:
    """Return the numbers of a formula, or raise InputError."""
    size = check_whole("n", n, "a number of records, at least 1")
    steps = check_whole("k", k, "a number of records, at least 1")
    ends = [
        check_rational(name, one, "a finite number, an end of the domain")
        for name, one in (("L", low), ("U", upper))
    ]
    if ends[0] >= ends[1]:
        raise InputError(f"L must be below U, got L = {shown(low)} and U = {shown(upper)}")
    return {"n": Fraction(size), "k": Fraction(steps), "L": ends[0], "U": ends[1]}


def _sympy() -> Any:
    try:
        import sympy
    except ImportError as error:
        raise MissingExtraError(
            "formulas are written by SymPy, which is not installed; install the extra: "
            "pip install '.[formulas]' in a checkout"
        ) from error
    return sympy


def _symbols(sympy: Any, text: str) -> Any:
    """Return an expression of ours as one of SymPy, unevaluated as far as it can."""
    names = {name: sympy.Symbol(name) for name in NAMES}
    functions = {"min": sympy.Min, "max": sympy.Max, "abs": sympy.Abs, "floor": sympy.floor}
    return sympy.sympify(text, {**names, **functions, "sqrt": sympy.sqrt}, evaluate=False)
