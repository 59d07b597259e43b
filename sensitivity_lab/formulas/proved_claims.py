"""A claim about a sensitivity for every n and k: proved, refuted with numbers, or unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.sensitivity import global_sensitivity
from sensitivity_lab.checks import check_text, shown
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.exact.enclosures import Enclosure
from sensitivity_lab.queries import Query
from sensitivity_lab.results.reprs import fact_lines
from sensitivity_lab.universes.relations import Bounded, SymmetricDifference, Unbounded
from sensitivity_lab.universes.universe import IntervalUniverse

from .closed_form import (
    NAMES,
    asked_of,
    furthest_sample,
    obligations_of,
    proofs_while_proved,
    relation_of,
)
from .library import BLOCKS, GIVEN, NOTHING, REPLACED, Case, Known, candidates, known_of
from .obligations import Obligation, Powers, Proof, Ratio, RootOf, solver_module, term, with_roots
from .symbolic import Expression, SumsQuery, near, root

_SIZES, _ENDS = range(1, 9), ((0, 1), (-2, 5), (-3, -1))
"""The sizes and the domains on which the exact engines are asked."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is known of a claim; make it with `prove`.

    Attributes
    ----------
    verdict : {"proved", "safe", "refuted", "unknown"}
        "proved": it is the sensitivity for every n and k in `where`. "safe": it is never below it,
        so that noise for it is enough. "refuted": it is below it for `numbers`.
    claim : str
    where : str
        The condition on n and k under which it is proved or safe.
    numbers : dict
        n, k, the ends of the domain, what is claimed and what is true, or at least true: for a
        claim that is refuted, or for one that is above the sensitivity there.
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
        An expression in n, k, L and U, such as ``"k * (U - L) / n"`` or ``"(U - L) / sqrt(n)"``;
        a decimal is the fraction that is written.
    query : str, Query or SumsQuery
        As for `formula`; a function of sums has records in [0, 1].
    neighbors : {"bounded", "unbounded", "symmetric difference"} or relation
        As for `formula`.
    where : str, default "k <= n"
        For which n and k it is claimed, such as ``"k == 1"``. n is at least 1; of bounded neighbors
        at most n records are replaced.

    Returns
    -------
    Verdict
        "proved", "safe", "refuted" with numbers, or "unknown": none of these was found.

    Raises
    ------
    InputError
        If the claim cannot be read, or has unknown names; if no n and k meet the condition.
    MissingExtraError
        Without the extra ``[formulas]``, whose Z3 proves.

    Notes
    -----
    First the exact engines are asked for sizes up to 8, then the claim is compared with the
    library's formula, or shown by sums. Agreement for small n is never a proof. Where records are
    removed, both datasets have at least as many as the query needs: a mean of nobody is no number.

    Examples
    --------
    >>> from sensitivity_lab import formulas
    >>> formulas.prove("k * (U - L) / n", "mean", neighbors="bounded").verdict
    'proved'
    >>> formulas.prove("(U - L) / n", "mean", neighbors="bounded")
    (U - L) / n: refuted
      why        an exact engine finds a larger number
      for        n = 2, k = 2, L = 0, U = 1, claimed = 1/2, true = 1
      witness    x: 1, 1; y: 0, 0
    """
    told = Expression(check_text("claim", claim, "an expression such as 'k * (U - L) / n'"))
    condition = Expression(check_text("where", where, "a condition such as 'k <= n'"))
    told.check_names(NAMES)
    condition.check_names(frozenset("nk"))
    for name, one, wanted in (("claim", told, False), ("where", condition, True)):
        if one.condition != wanted:
            needed = "a condition, such as 'k <= n'" if wanted else "a number, such as 'k / n'"
            raise InputError(f"{name} must be {needed}, got {shown(one.text)}")
    relation = relation_of(neighbors)
    z3 = solver_module()
    n, k = z3.Ints("n k")
    possible = [n >= 1, k >= 1, *([k <= n] if relation == REPLACED else [])]
    # A condition that no n and k meet would make every claim "proved".
    met, roots = with_roots(condition.whole, {"n": n, "k": k})
    if roots or Obligation("no n and k", (*possible, met)).verdict(10).proved:
        raise InputError(
            f"where: {'roots stand in a claim alone' if roots else 'no n and k meet the condition'}"
            f", got {shown(condition.text)}; write a condition on n and k, such as 'k == 1'"
        )
    if isinstance(query, SumsQuery):
        return _with_nobody(_of_sums(told, query, relation, condition), relation, 1)
    asked = asked_of(query)
    known = known_of(asked).get(relation)
    least = 1 if known is None else known.model.least
    return _with_nobody(_of_query(told, asked, relation, condition, known), relation, least)


def _with_nobody(found: Verdict, relation: str, least: int) -> Verdict:
    """Return what is found, with what the dataset without records means for it."""
    if relation == REPLACED or not least:
        return found
    return replace(found, why=f"{found.why}; x and y have at least {least} record")


def _of_query(
    told: Expression, asked: Query, relation: str, condition: Expression, known: Known | None
) -> Verdict:
    """Return whether a claim is the sensitivity of one of the library's queries."""
    where = condition.text
    found = _by_engines(told, asked, relation, condition)
    if found is not None and found.verdict == "refuted":
        return found
    if known is None:
        no_formula = f"no formula of {asked.name} is known to compare it with"
        if found is None:
            return _unknown(told, no_formula)
        return replace(found, why=f"{found.why}, and {no_formula}: whether it is safe is open")
    if relation == REPLACED:  # no more than n records are
        condition = Expression(f"k <= n and ({condition.text})")
    found = _compared(told, asked.name, known, condition, found)
    return replace(found, where=where) if found.where else found


def _by_engines(claim: Expression, query: Any, relation: str, where: Expression) -> Verdict | None:
    """Return that a claim is below, or at least not, what an exact engine finds; else None."""
    kind: Any = {REPLACED: Bounded, GIVEN: Unbounded}.get(relation, SymmetricDifference)
    above = None
    # Domains beside, around and below 0: a claim that takes U for U - L shows itself.
    for low, upper in _ENDS:
        universe = IntervalUniverse(low, upper)
        for n in _SIZES:
            for k in range(1, n + 1):
                given = {"n": n, "k": k, "L": low, "U": upper}
                if not where(n=n, k=k):
                    continue
                try:
                    found = global_sensitivity(universe, query, size=n, neighbors=kind(k))
                except SensitivityLabError:
                    continue
                true = _square_of(found)
                try:
                    claimed = claim.near(**given)
                except InputError as error:  # it divides by 0, or takes a root of a negative number
                    above = above or _unknown(claim, str(error).removeprefix("formula: "))
                    continue
                sign = 0 if true is None else _compare(claimed, true)
                # It is within 1e-9 of the engine's float: too little to call it another number.
                if found.exact is None and math.isclose(near(claimed).high, found.value):
                    continue  # of a root that is known as a float alone
                if true is None or sign == 0 or (sign > 0 and above is not None):
                    continue
                numbers = {**given, "claimed": claim(**given), "true": root(true)}
                if sign < 0:
                    pair = _whole((list(found.witness.x), list(found.witness.y)))
                    why = "an exact engine finds a larger number"
                    return Verdict("refuted", claim.text, "", numbers, pair, why)
                why = "an exact engine finds a smaller number"
                above = Verdict("unknown", claim.text, "", numbers, None, why)
    return above


def _compare(claimed: Any, square: Any) -> int:
    """Return the sign of a claim less the root of a number, 0 also if they agree to 60 digits."""
    # Squares tell the order of numbers that are not below 0 alone.
    if near(claimed).high < 0:
        return -1
    apart: Enclosure = near(claimed) ** 2 - square
    return (apart.low > 0) - (apart.high < 0)


def _square_of(result: Any) -> Fraction | None:
    """Return the square of a sensitivity, where it is known exactly."""
    if result.exact is not None:
        return Fraction(result.exact) ** 2
    # Engines give a root as a float; its square is mostly a fraction with a small denominator.
    near = Fraction(result.value) ** 2
    # A root of a fraction: the one with the smallest denominator that is as near as floats are.
    exact = near.limit_denominator(10**6)
    return exact if abs(exact - near) <= near / 10**14 else None


def _whole(pair: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    x, y = ([int(one) if one == int(one) else one for one in of] for of in pair)
    return x, y


def _compared(
    claim: Expression, name: str, known: Known, where: Expression, above: Verdict | None
) -> Verdict:
    """Return how a claim compares with the library's formula, wherever it is claimed."""
    z3 = solver_module()
    n, k = z3.Ints("n k")
    here = [n >= 1, k >= 1, term(where, {"n": n, "k": k})]
    ends = dict(zip("LU", z3.Reals("L U"), strict=True))
    numbers = {"n": n, "k": k, **ends}
    # Terms of n and k: for which of them the library's formula has a case.
    covered = [term(one.condition, numbers) for one in known.cases]
    told, roots = with_roots(claim.whole, numbers)
    told = Ratio.of(told)
    here.append(ends["L"] < ends["U"])
    quotients = RootOf(tuple(by == 0 for by in told.divided), ())
    for one in (*roots, quotients):  # inner ones first: what they are is known of the others
        if not Obligation("a number", (*here, z3.Or(*one.wrong))).verdict().proved:
            why = "it never divides by 0, or takes the root of a number below 0"
            return above or _unknown(claim, f"the solver does not show that {why}")
        here.extend(one.equations)
    proofs = [
        Obligation("the formula covers the claim", (*here, z3.Not(z3.Or(*covered)))).verdict()
    ]
    equal = []
    for place, case in enumerate(known.cases):
        # Where this case is the first that holds.
        given = [*here, covered[place], *map(z3.Not, covered[:place])]
        true = Ratio.of(term(case.value, numbers)) * Ratio.of(
            term(Expression(known.scale), numbers)
        )
        # A formula with a root is compared by squares; a claim below 0 is below it.
        mine, below = (told * told, told < 0) if case.value.root else (told, False)
        which = f"where {case.condition.text}"
        proof = Obligation(f"not below it {which}", (*given, z3.Or(below, mine < true))).verdict()
        # The solver's numbers are computed again, exactly, before they refute anything.
        if proof.verdict == "sat":
            return _refuted(claim, name, known, case, proof)
        if not proof.proved:
            return _unknown(claim, f"the solver does not tell it from {case.value.text} {which}")
        proofs.append(proof)
        equal.append(Obligation(f"not above it {which}", (*given, mine > true)))
    if not proofs[0].proved:
        there = " or ".join(f"({one.condition.text})" for one in known.cases)
        return _unknown(
            claim, f"it is not below the formula of {name}, which is known where {there} alone"
        )
    if above is None:
        proofs += [one.verdict() for one in equal]
    if above is None and all(one.proved for one in proofs):
        why = f"it equals the formula of {name} for all n and k, which is proved"
        return Verdict("proved", claim.text, where.text, {}, None, why, tuple(proofs))
    shown_ = tuple(one for one in proofs if one.proved)
    why = f"it is never below the formula of {name}, which is proved"
    return Verdict(
        "safe", claim.text, where.text, above.numbers if above else {}, None, why, shown_
    )


def _refuted(claim: Expression, name: str, known: Known, case: Case, proof: Proof) -> Verdict:
    """Return that a claim is too small for a solver's numbers, once both are computed there."""
    try:
        values = {one: Fraction(proof.numbers.get(one, default)) for one, default in _DEFAULT}
        # Both are compared by squares, whether the formula has a root or not.
        square = case.value.before_root(**values) * Expression(known.scale)(**values)
        square = square if case.value.root else square**2
        small = _compare(claim.near(**values), square) < 0
    except (ValueError, InputError):  # an end of the domain that is no fraction
        small = False
    if not small:
        return _unknown(claim, f"the solver does not tell it from {case.value.text}")
    told = {key: int(one) if one.denominator == 1 else one for key, one in values.items()}
    pair = None
    if told["n"] <= _SHOWN:
        high, size, other = (int(one(**values)) for one in case.witness)
        low, upper, n = told["L"], told["U"], int(told["n"])
        pair = [low] * (n - high) + [upper] * high, [low] * (size - other) + [upper] * other
    numbers = {**told, "claimed": claim(**values), "true": root(square)}
    why = f"the formula of {name} is a larger one: {case.value.text}"
    return Verdict("refuted", claim.text, "", numbers, pair, why)


_DEFAULT = (("n", 1), ("k", 1), ("L", 0), ("U", 1))

_SHOWN = 100
"""A pair is listed for no more records."""


def _of_sums(claim: Expression, query: SumsQuery, relation: str, where: Expression) -> Verdict:
    """Return whether a claim is the sensitivity of a function of sums."""
    if {"L", "U"} & claim.names:
        raise InputError(
            f"claim: {shown(claim.text)} has L or U, and a function of sums has records in [0, 1]"
        )
    n, k = solver_module().Ints("n k")
    if with_roots(claim.whole, {"n": n, "k": k})[1]:
        raise InputError("claim: a function of sums has no roots; claim a rational number")
    try:
        found = furthest_sample(query, relation, claim, where)
    except InputError as error:  # it divides by 0
        return _unknown(claim, str(error).removeprefix("formula: "))
    if found is not None:
        n, k, x, y, far = found
        numbers = {"n": n, "k": k, "claimed": claim(n=n, k=k), "true, at least": far}
        return Verdict(
            *("refuted", claim.text, "", numbers, (x, y)), "a pair of neighbors is further apart"
        )
    return _shown_by_sums(claim, query, relation, where)


def _shown_by_sums(
    claim: Expression, query: SumsQuery, relation: str, where: Expression
) -> Verdict:
    """Return whether a solver shows that no pair is further apart, and that one is so far."""
    whole = any(one in claim.text + where.text for one in ("%", "//", "floor", "ceil"))
    # Of bounded neighbors no more than n records are replaced, and no obligation is about more.
    asked = where.text
    if relation == REPLACED and where.text != "k <= n":
        where = Expression(f"k <= n and ({where.text})")
    for witness in candidates(relation):
        case = Case(where, claim, witness, BLOCKS)
        plain = Known(Powers(query, whole=whole), NOTHING, (case,))
        # First what is cheap: most families do not attain the claim.
        of_witness = [one for one in obligations_of(plain, relation, 0) if "witness" in one.name]
        if not all(one.verdict().proved for one in of_witness):
            continue
        for products in (False, True):
            known = Known(Powers(query, whole=whole, products=products), NOTHING, (case,))
            proofs = tuple(proofs_while_proved(known, relation))
            if all(one.proved for one in proofs):
                return Verdict(
                    *("proved", claim.text, asked, {}, None),
                    "no sums of powers are further apart, and records at 0 and 1 attain it",
                    proofs,
                )
        return _unknown(claim, f"the solver did not show that {proofs[-1].name}")
    known = Known(Powers(query, whole=whole), NOTHING, (Case(where, claim, _NOBODY, BLOCKS),))
    bounding = [one for one in obligations_of(known, relation, 0) if "witness" not in one.name]
    proofs = tuple(one.verdict() for one in bounding)
    if all(one.proved for one in proofs):
        why = "no sums of powers are further apart; whether a pair attains it is open"
        return Verdict("safe", claim.text, asked, {}, None, why, proofs)
    return _unknown(claim, "no pair of records at 0 and 1 that we tried attains it for all n and k")


_NOBODY = (Expression("0"), Expression("n"), Expression("0"))


def _unknown(claim: Expression, why: str) -> Verdict:
    return Verdict("unknown", claim.text, "", {}, None, why)
