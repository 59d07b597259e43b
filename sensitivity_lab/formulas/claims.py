"""A claim about a sensitivity for every n and k: proved, refuted with numbers, or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.global_sensitivity import global_sensitivity
from sensitivity_lab.checks import check_text, shown
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.queries import as_query
from sensitivity_lab.results.reprs import fact_lines
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.relations import Bounded, SymmetricDifference, Unbounded

from .closed_form import (
    NAMES,
    furthest_sample,
    obligations_of,
    proofs_while_proved,
    relation_of,
)
from .expressions import Expression, root
from .library import BLOCKS, GIVEN, NOTHING, REPLACED, Case, Known, candidates, known_of
from .obligations import Obligation, Powers, Proof, Ratio, solver_module, term
from .sums import SumsQuery

_SIZES, _ENDS = range(1, 9), ((0, 1), (-2, 5), (-3, -1))
"""The sizes and the domains on which the exact engines are asked."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is known of a claim; make it with `prove`.

    Attributes
    ----------
    verdict : {"proved", "refuted", "unknown"}
        "proved": it is the sensitivity for every n and k in `where`. "refuted": it is not for
        `numbers`.
    claim : str
    where : str
        The condition on n and k under which it is proved.
    numbers : dict
        n, k, the ends of the domain, what is claimed and what is true, or at least true.
    witness : (list, list) or None
        A pair of neighbors that is further apart than a claim that is too small.
    why : str
    proofs : tuple of Proof

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> found = formulas.prove("U - L", "max", neighbors="unbounded", where="n >= 1")
    >>> found.verdict, found.where
    ('proved', 'n >= 1')
    """

    verdict: str
    claim: str
    where: str
    numbers: dict[str, Any]
    witness: tuple[list[Any], list[Any]] | None
    why: str
    proofs: tuple[Proof, ...] = ()

    def __repr__(self) -> str:
        facts = [("why", self.why)]
        if self.where:
            facts.append(("where", self.where))
        if self.numbers:
            facts.append(("for", ", ".join(f"{a} = {b}" for a, b in self.numbers.items())))
        if self.witness:
            x, y = (", ".join(map(str, one)) for one in self.witness)
            facts.append(("witness", f"x: {x}; y: {y}"))
        return "\n".join([f"{self.claim}: {self.verdict}", *fact_lines(facts, 100)])


@public_call
def prove(claim: str, query: Any, neighbors: Any, *, where: str = "k <= n") -> Verdict:
    """Check a claimed sensitivity for every n and k at once.

    Parameters
    ----------
    claim : str
        An expression in n, k, L and U, such as ``"k * (U - L) / n"``.
    query : str, Query or SumsQuery
        As for `formula`; a function of sums has records in [0, 1].
    neighbors : {"bounded", "unbounded", "symmetric difference"} or relation
        As for `formula`.
    where : str, default "k <= n"
        For which n and k it is claimed, such as ``"k == 1"``.

    Returns
    -------
    Verdict
        "proved", "refuted" with numbers, or "unknown": neither was found.

    Raises
    ------
    InputError
        If the claim cannot be read, or has unknown names.
    MissingExtraError
        Without the extra ``[formulas]``, whose Z3 proves.

    Notes
    -----
    First the exact engines are asked for sizes up to 8, then the claim is compared with the
    library's formula, or shown by sums. Agreement for small n is never a proof.

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> formulas.prove("k * (U - L) / n", "mean", neighbors="bounded").verdict
    'proved'
    >>> formulas.prove("(U - L) / n", "mean", neighbors="bounded")
    (U - L) / n: refuted
      why        an exact engine finds another number
      for        n = 2, k = 2, L = 0, U = 1, claimed = 1/2, true = 1
      witness    x: 1, 1; y: 0, 0
    """
    told = Expression(check_text("claim", claim, "an expression such as 'k * (U - L) / n'"))
    condition = Expression(check_text("where", where, "a condition such as 'k <= n'"))
    told.check_names(NAMES)
    condition.check_names(frozenset("nk"))
    relation = relation_of(neighbors)
    solver_module()
    if isinstance(query, SumsQuery):
        return _of_sums(told, query, relation, condition)
    asked = as_query(query)
    known = known_of(asked).get(relation)
    for found in _by_engines(told, asked, relation, condition):
        return found
    if known is None:
        return _unknown(told, f"no formula of {asked.name} is known to compare it with")
    return _compared(told, asked.name, known, condition)


def _by_engines(
    claim: Expression, query: Any, relation: str, where: Expression
) -> Iterator[Verdict]:
    """Yield that a claim is not what an exact engine finds."""
    kind: Any = {REPLACED: Bounded, GIVEN: Unbounded}.get(relation, SymmetricDifference)
    for low, upper in _ENDS:
        universe = IntervalUniverse(low, upper)
        for n in _SIZES:
            for k in range(1, n + 1):
                given = {"n": n, "k": k, "L": low, "U": upper}
                if not where(n=n, k=k):
                    continue
                try:
                    claimed = claim.before_root(**given)
                    found = global_sensitivity(universe, query, size=n, neighbors=kind(k))
                except SensitivityLabError:
                    continue
                square = claimed if claim.root else claimed**2
                true = _square_of(found)
                if true is None or (square == true and claimed >= 0):
                    continue
                numbers = {
                    **given,
                    "claimed": claim(**given),
                    "true": root(true),
                }
                pair = list(found.witness.x), list(found.witness.y)
                yield Verdict(
                    *("refuted", claim.text, "", numbers, _whole(pair)),
                    "an exact engine finds another number",
                )


def _square_of(result: Any) -> Fraction | None:
    """Return the square of a sensitivity, where it is known exactly."""
    if result.exact is not None:
        return Fraction(result.exact) ** 2
    near = Fraction(result.value) ** 2
    # A root of a fraction: the one with the smallest denominator that is as near as floats are.
    exact = near.limit_denominator(10**6)
    return exact if abs(exact - near) <= near / 10**14 else None


def _whole(pair: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    x, y = ([int(one) if one == int(one) else one for one in of] for of in pair)
    return x, y


def _compared(claim: Expression, name: str, known: Known, where: Expression) -> Verdict:
    """Return whether a claim is the library's formula, wherever it is claimed."""
    z3 = solver_module()
    n, k = z3.Ints("n k")
    here = [n >= 1, k >= 1, term(where, {"n": n, "k": k})]
    ends = dict(zip("LU", z3.Reals("L U"), strict=True))
    covered = [term(one.condition, {"n": n, "k": k, **ends}) for one in known.cases]
    zeros = [one == 0 for one in Ratio.of(term(claim, {"n": n, "k": k, **ends})).divided]
    if not Obligation("the claim never divides by 0", (*here, z3.Or(*zeros))).verdict().proved:
        return _unknown(claim, "the solver does not show that it never divides by 0")
    proofs = [
        Obligation("the formula covers the claim", (*here, z3.Not(z3.Or(*covered)))).verdict()
    ]
    for place, case in enumerate(known.cases):
        numbers = {"n": n, "k": k, **ends}
        given = [*here, ends["L"] < ends["U"], covered[place], *map(z3.Not, covered[:place])]
        if claim.root != case.value.root:
            return _unknown(claim, f"the formula of {name} is {case.value.text}")
        width = Ratio.of(term(Expression(known.scale), numbers))
        apart = Ratio.of(term(claim, numbers)) != Ratio.of(term(case.value, numbers)) * width
        proof = Obligation(f"equal where {case.condition.text}", (*given, apart)).verdict()
        if proof.verdict == "sat":
            values = {one: Fraction(proof.numbers.get(one, default)) for one, default in _DEFAULT}
            true = case.value.before_root(**values) * Expression(known.scale)(**values)
            told = {key: int(one) if one.denominator == 1 else one for key, one in values.items()}
            claimed = claim.before_root(**values)
            if claim.root:
                claimed, true = root(claimed), root(true)
            return Verdict(
                *("refuted", claim.text, "", {**told, "claimed": claimed, "true": true}, None),
                f"the formula of {name} is another one: {case.value.text}",
            )
        if not proof.proved:
            return _unknown(claim, f"the solver does not tell it from {case.value.text}")
        proofs.append(proof)
    if not proofs[0].proved:
        there = " or ".join(f"({one.condition.text})" for one in known.cases)
        return _unknown(
            claim, f"it equals the formula of {name}, which is known where {there} alone"
        )
    return Verdict(
        *("proved", claim.text, where.text, {}, None),
        f"it equals the formula of {name} for all n and k, which is proved",
        tuple(proofs),
    )


_DEFAULT = (("n", 1), ("k", 1), ("L", 0), ("U", 1))


def _of_sums(claim: Expression, query: SumsQuery, relation: str, where: Expression) -> Verdict:
    """Return whether a claim is the sensitivity of a function of sums."""
    if claim.root:
        raise InputError("claim: a function of sums has no square roots; claim a rational number")
    value = Expression(f"({claim.text})")
    if {"L", "U"} & value.names:
        raise InputError(
            f"claim: {shown(claim.text)} has L or U, and a function of sums has records in [0, 1]"
        )
    found = furthest_sample(query, relation, value, where)
    if found is not None:
        n, k, x, y, far = found
        numbers = {"n": n, "k": k, "claimed": value(n=n, k=k), "true, at least": far}
        return Verdict(
            *("refuted", claim.text, "", numbers, (x, y)), "a pair of neighbors is further apart"
        )
    # Of bounded neighbors no more than n records are replaced, and no obligation is about more.
    if relation == REPLACED and where.text != "k <= n":
        where = Expression(f"k <= n and ({where.text})")
    for witness in candidates(relation):
        case = Case(where, value, witness, BLOCKS)
        plain = Known(Powers(query), NOTHING, (case,))
        of_witness = [one for one in obligations_of(plain, relation, 0) if "witness" in one.name]
        if not all(one.verdict().proved for one in of_witness):
            continue
        for products in (False, True):
            known = Known(Powers(query, products=products), NOTHING, (case,))
            proofs = tuple(proofs_while_proved(known, relation))
            if all(one.proved for one in proofs):
                return Verdict(
                    *("proved", claim.text, where.text, {}, None),
                    "no sums of powers are further apart, and records at 0 and 1 attain it",
                    proofs,
                )
        return _unknown(claim, f"the solver did not show that {proofs[-1].name}")
    return _too_large(claim, query, relation, value, where)


def _too_large(
    claim: Expression, query: SumsQuery, relation: str, value: Expression, where: Expression
) -> Verdict:
    """Return that a claim is not attained for one n and k, where a solver shows it."""
    for n in range(1, 5):
        for k in [k for k in range(1, n + 1) if where(n=n, k=k)]:
            claimed = value(n=n, k=k)
            condition = Expression(f"n == {n} and k == {k}")
            less = Expression(f"{claimed.numerator} * 999 / {claimed.denominator * 1000}")
            known = Known(Powers(query), NOTHING, (Case(condition, less, _NOBODY, BLOCKS),))
            shown_below = [
                one.verdict(10).proved
                for one in obligations_of(known, relation, 0)
                if "witness" not in one.name
            ]
            if claimed > 0 and all(shown_below):
                numbers = {"n": n, "k": k, "claimed": claimed, "true, below": less(n=n, k=k)}
                return Verdict(
                    *("refuted", claim.text, "", numbers, None),
                    "no sums of powers are so far apart",
                )
    return _unknown(claim, "no pair of records at 0 and 1 that we tried attains it for all n and k")


_NOBODY = (Expression("0"), Expression("n"), Expression("0"))


def _unknown(claim: Expression, why: str) -> Verdict:
    return Verdict("unknown", claim.text, "", {}, None, why)
