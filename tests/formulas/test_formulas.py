"""Formulas against the exact engines, their witnesses, and the numbers that refute wrong claims."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import formulas
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.formulas.closed_form import obligations_of
from sensitivity_lab.formulas.library import known_of
from sensitivity_lab.formulas.symbolic import Expression

QUARTER = Fraction(1, 4)
QUERIES = [
    *(sl.Count(), sl.Sum(), sl.Mean(), sl.Min(), sl.Max(), sl.Range(), sl.Midrange(), sl.Median()),
    *(sl.Percentile(10), sl.Percentile(75), sl.InterquartileRange()),
    *(sl.TrimmedMean(QUARTER), sl.WinsorizedMean(QUARTER)),
    *(sl.Var(), sl.Var(ddof=1), sl.Std(), sl.Std(ddof=1)),
]
RELATIONS = {
    "bounded": sl.Bounded,
    "unbounded": sl.Unbounded,
    "symmetric difference": sl.SymmetricDifference,
}
ENDS = [(0, 1), (-2, 5), (-3, -1)]
has_z3 = pytest.mark.skipif(not find_spec("z3"), reason="needs the extra `formulas`")
has_both = pytest.mark.skipif(
    not (find_spec("z3") and find_spec("sympy")), reason="needs the extra `formulas`"
)


def known(query: sl.Count, relation: str) -> formulas.Formula | None:
    try:
        return formulas.formula(query, relation)
    except InputError:
        return None


def same(result: sl.results.Sensitivity, value: Fraction | float) -> bool:
    """Exactly; of a root, the float above it."""
    if result.exact is not None:
        return result.exact == value
    return result.upper == (value if isinstance(value, float) else round_up(value))


@pytest.mark.parametrize("query", QUERIES, ids=lambda one: one.name)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.representative("query", quick=["relation"])
def test_a_formula_is_what_the_engines_find(query, relation):
    """For n up to 12, every k, on the two ends and on all whole numbers between them."""
    found = known(query, relation)
    if found is None:
        assert relation != "bounded"
        return
    compared = 0
    for (low, upper), n in product(ENDS, range(1, 13)):
        domains = [[low, upper], list(range(low, upper + 1))][: 1 if n > 6 else 2]
        for domain, k in product(domains, range(1, n + 1)):
            with contextlib.suppress(InputError):  # beyond what is proved
                value = None
                value = found(n, k, low, upper)
            if value is None:
                continue
            universe = sl.Universe.from_domain(domain)
            neighbors = RELATIONS[relation](k)
            engine = sl.global_sensitivity(universe, query, size=n, neighbors=neighbors)
            assert same(engine, value), (n, k, low, upper, value)
            compared += 1
    assert compared > 50


@pytest.mark.parametrize("query", QUERIES, ids=lambda one: one.name)
def test_witnesses_are_neighbors_that_far_apart(query):
    for relation, n, k in product(RELATIONS, (1, 2, 5, 8), (1, 2, 4)):
        found = known(query, relation)
        try:
            x, y = found.witness(n, k, -2, 5) if found else ([], [])
        except InputError:
            continue
        if found is None:
            continue
        more, fewer = (
            sum(max(0, a.count(one) - b.count(one)) for one in (-2, 5)) for a, b in ((x, y), (y, x))
        )
        assert len(x) == n
        assert {
            "bounded": len(y) == n and more <= k,
            "unbounded": min(more, fewer) == 0 and more + fewer <= k,
            "symmetric difference": more + fewer <= k,
        }[relation]
        far = abs(query(list(map(float, x))) - query(list(map(float, y))))
        assert math.isclose(far, found(n, k, -2, 5), rel_tol=1e-12, abs_tol=1e-12)


def test_the_covariance_against_all_pairs_of_few_tables():
    covariance = sl.Covariance("a", "b")
    found = formulas.formula(covariance, "bounded")
    rows = pd.DataFrame([(a, b) for a in (0, 1, 2) for b in (0, 1, 2)], columns=["a", "b"])
    for n in (1, 2, 3):
        tables = sl.TableUniverse.from_dataset(pd.concat([rows] * n, ignore_index=True))
        engine = sl.global_sensitivity(
            tables, covariance, size=n, neighbors="bounded", method="enumeration"
        )
        assert engine.exact == found(n, L=0, U=2)
        x, y = found.witness(n, L=0, U=2)
        assert sum(a != b for a, b in zip(x, y, strict=True)) == 1
        answers = [np.cov(np.array(of, dtype=float).T, ddof=0)[0, 1] for of in (x, y)]
        assert math.isclose(abs(answers[0] - answers[1]), engine.exact, abs_tol=1e-12)


def test_a_private_number_of_records_is_said():
    told = {
        (query, relation): "noise for the value at the real n reveals it"
        in " ".join(repr(formulas.formula(query, relation)).split())
        for query, relation in [
            *(("mean", "unbounded"), ("median", "unbounded"), ("mean", "bounded")),
            *(("count", "unbounded"), ("sum", "unbounded"), ("max", "unbounded")),
        ]
    }
    assert list(told.values()) == [True, True, False, False, False, False]


def test_published_values():
    """Textbooks: k (U - L) / n of a mean; (n - 1) / n^2 of a variance."""
    assert formulas.formula("mean", "bounded")(n=50, k=2, L=0, U=100) == 4
    assert formulas.formula("var", "bounded")(n=10) == Fraction(9, 100)
    assert formulas.formula("sum", "unbounded")(n=3, L=-7, U=2) == 7
    assert formulas.formula("std", "bounded")(n=4, k=2) == Fraction(1, 2)
    assert formulas.formula(sl.Var(ddof=1), "unbounded")(n=10) == QUARTER * 4 / 10


@given(st.integers(1, 99), st.integers(1, 99), st.integers(-9, 9), st.integers(1, 9))
def test_expressions_are_computed_as_python_computes_them(n, k, low, width):
    upper = low + width
    texts = [
        "k * (n - k) / n**2 * (U - L)**2",
        "max(abs(L), abs(U)) - min(n, k, 3) % 7",
        "floor(3 * n / 4) // 2 + -k",
    ]
    for text in texts:
        names = {"n": Fraction(n), "k": Fraction(k), "L": Fraction(low), "U": Fraction(upper)}
        expected = eval(text, {"floor": math.floor, **names})
        assert Expression(text)(n=n, k=k, L=low, U=upper) == expected
    for text, true in (
        ("n**0.8", n**0.8),
        ("n**(1 / 3) + ceil(n / 7)", n ** (1 / 3) + math.ceil(n / 7)),
        ("max(sqrt(n), k) / (0.1 + sqrt(k))", max(n**0.5, k) / (0.1 + k**0.5)),
    ):
        assert float(Expression(text)(n=n, k=k)) == pytest.approx(true, rel=1e-14)
    condition = "n % 2 == 1 and k <= n or not L < 0"
    expected = (n % 2 == 1 and k <= n) or low >= 0
    assert Expression(condition)(n=n, k=k, L=low, U=upper) is expected


WRONG = {
    "k +": "was never closed|invalid syntax",
    "__import__('os')": "is no function of formulas",
    "n.real": "is no part of formulas",
    "1e400 * n": "is no number",
    "n**k": "a power is a number from 0 to 64",
    "2**65 * n": "a power is a number from 0 to 64",
    "n**(1 / 13)": "a root one of at most 12",
    "n + (k < 2)": "'k < 2' is a condition where a number stands",
    "not n": "'n' is a number where a condition stands",
    "[n]": "is no part of formulas",
    "lambda: n": "is no part of formulas",
    "n if k else 0": "is no part of formulas",
    "'n'": "is no number",
    "min()": "is no function of formulas",
    "n" * 3000: "it has 3,000 characters, more than 2,000",
    "((n**9)**9)**9": "a power is a number from 0 to 64",
    "-" * 200 + "n": "more than 100 parts stand within each other",
    "n in k": "is no part of formulas",
}


@pytest.mark.parametrize("text", WRONG)
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match=WRONG[text]):
        Expression(text)


def sums_formula() -> formulas.Formula:
    pytest.importorskip("sympy", reason="needs the extra `formulas`")
    pytest.importorskip("z3", reason="needs the extra `formulas`")
    return formulas.formula(formulas.sums(lambda p, _: p[2]), "bounded")


REFUSED = {
    "an unknown query": (
        lambda: formulas.formula("gini_mean_difference", "bounded"),
        "nothing is proved of",
    ),
    "an unknown relation": (lambda: formulas.formula("iqr", "unbounded"), "under unbounded"),
    "another direction": (
        lambda: formulas.formula("mean", sl.Unbounded(1, direction="add")),
        "with at most k changes in both directions",
    ),
    "exactly k": (lambda: formulas.formula("mean", sl.Bounded(1, exactly=True)), "at most k"),
    "beyond what is proved": (
        lambda: formulas.formula("var", "unbounded")(n=3, k=2),
        "nothing is proved of var for n = 3, k = 2 (unbounded); it is known where 2 * k <= n",
    ),
    "no records": (lambda: formulas.formula("mean", "bounded")(n=0), "n must be a whole number"),
    "ends of a function of sums": (
        lambda: sums_formula()(n=3, L=0, U=60),
        "is a function of records in [0, 1]; leave out L and U, and divide the records",
    ),
    "turned ends": (
        lambda: formulas.formula("mean", "bounded")(n=2, L=1, U=0),
        "L must be below U",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(what):
    call, reason = REFUSED[what]
    with pytest.raises(InputError) as caught:
        call()
    assert reason in str(caught.value)


SUMS = {
    "square": formulas.sums(lambda p, _: p[1] ** 2),
    "squares": formulas.sums(lambda p, _: p[2]),
    "ratio": formulas.sums(lambda p, _: p[1] / (1 + p[2])),
    "variance": formulas.sums(lambda p, n: p[2] / n - (p[1] / n) ** 2),
    "mean": formulas.sums(lambda p, n: p[1] / n),
}
RIGHT = [
    ("k * (U - L) / n", "mean", {}),
    ("k * max(U, 0 - L)", "sum", {"neighbors": "unbounded"}),
    ("k * (n - k) / n**2 * (U - L)**2", "var", {"where": "2 * k <= n"}),
    ("(n - 1) / n**2 * (U - L)**2", sl.Covariance("a", "b"), {"where": "k == 1 and k <= n"}),
    ("k * (2 * n - k)", SUMS["square"], {}),
    ("k", SUMS["squares"], {}),
    ("k", SUMS["squares"], {"where": "n >= 1"}),  # of n records no more than n are replaced
    ("k * (n - k) / n**2", SUMS["variance"], {"where": "2 * k <= n"}),
]
RIGHT += [
    ("(U - L) / 2", "std", {"where": "k == n and n % 2 == 0"}),  # a regime without a root
    ("(U - L) * (n - 1)**0.5 / n", "std", {"where": "k == 1"}),
    ("sqrt(n - 1) / n * (U - L)", "std", {"where": "k == 1"}),
    ("sqrt((n - 1) / n**2 * (U - L)**2)", "std", {"where": "k == 1"}),
    ("0.5 * (U - L)", "median", {"where": "k == 1 and n % 2 == 0"}),
    ("(U - L)**2 / n", "var_ddof_1", {"where": "k == 1 and n >= 2"}),
    ("ceil(k / 2) * 2 * (U - L)", "sum", {"where": "k % 2 == 0"}),
    ("0", formulas.sums(lambda p, n: 3), {}),  # noqa: ARG005 - a function of both
    ("k", formulas.sums(lambda p, _: p[0]), {"neighbors": "unbounded"}),
]
SAFE = [
    ("k * (U - L)", "mean", {}),
    ("(U - L) / sqrt(n)", "std", {"where": "k == 1"}),
    ("(U - L) / n**0.8", "mean", {"where": "k == 1"}),
    ("U - L", "median", {}),
    ("k * (U - L)", "range", {}),
    ("ceil(n / 2) * k * (U - L)", "mean", {}),
    ("sqrt(k * n) * (U - L) / n", "mean", {}),
    ("2 * k", SUMS["squares"], {}),
    ("2 * n - 1 / 2", SUMS["square"], {"where": "k == 1"}),
]
WRONG_CLAIMS = [
    ("2 * n - 2", SUMS["square"], {"where": "k == 1"}, "refuted"),
    ("k * (n - k) / n**2 * (U - L)**2", sl.Covariance("a", "b"), {}, "unknown"),
    ("1 / 2", SUMS["ratio"], {"where": "k == 1"}, "refuted"),
    (
        *("k * (n - k) / (n * (n - 1)) * (U - L)**2", sl.Var(ddof=1)),
        *({"neighbors": "unbounded"}, "refuted"),
    ),
    ("k * (n - 1) / n * (U - L)", "sum", {}, "refuted"),
    ("(U - L) / 2", "median", {}, "refuted"),
    ("(U - L) / n", "var", {}, "refuted"),
    ("k * (n - k) / n**2 * (U - L)**2", "var", {}, "refuted"),
    ("k / n", "mean", {}, "refuted"),  # without the width of the domain
    ("k * (U - L) / n + 0 / (n - 50)", "mean", {}, "unknown"),  # which 50 records have not
    ("(U - L) / n**1.2", "mean", {"where": "k == 1 and n >= 20"}, "refuted"),
    ("sqrt((n - 2) / n**2 * (U - L)**2)", "std", {}, "refuted"),
    ("k * (U - L) / n + 0 * sqrt(n - 2)", "mean", {}, "unknown"),  # one record has no root
    ("(U - L) / (n + 1)", "mean", {"neighbors": "unbounded"}, "refuted"),
    ("1 / (n + 1)", SUMS["mean"], {"neighbors": "unbounded", "where": "k == 1"}, "refuted"),
    ("1", formulas.sums(lambda p, _: p[2] / p[1]), {"where": "k == 1"}, "unknown"),
    ("k * (U - L)", "gini_mean_difference", {}, "unknown"),
]


@has_z3
@pytest.mark.parametrize(
    ("verdict", "claim", "query", "options"),
    [*(("proved", *one) for one in RIGHT), *(("safe", *one) for one in SAFE)],
)
def test_right_claims_are_proved_and_those_that_are_never_below_are_safe(
    verdict, claim, query, options
):
    found = formulas.prove(claim, query, **{"neighbors": "bounded", **options})
    assert found.verdict == verdict, found
    assert found.proofs
    assert all(one.proved and one.again() for one in found.proofs)
    if verdict == "safe" and found.numbers:  # where it is above the sensitivity
        assert found.numbers["claimed"] > found.numbers["true"]


@has_z3
@pytest.mark.parametrize(("claim", "query", "options", "verdict"), WRONG_CLAIMS)
def test_claims_that_are_not_shown(claim, query, options, verdict):
    """Of the refuted ones an exact engine, or the pair itself, has a larger number."""
    found = formulas.prove(claim, query, **{"neighbors": "bounded", **options})
    assert found.verdict == verdict, found
    if verdict == "refuted":
        numbers = found.numbers
        true = numbers["true"] if "true" in numbers else numbers["true, at least"]
        assert numbers["claimed"] < true
        of_sums = isinstance(query, formulas.SumsQuery)
        asked = query.on if of_sums else formulas.closed_form.asked_of(query)
        far = abs(np.subtract(*(asked(one) for one in found.witness)))
        assert float(far) == pytest.approx(float(true))


@has_z3
def test_what_nobody_means_is_said():
    """Of n = 1 the record is not removed, since a mean of nobody is no number."""
    told = formulas.prove("(U - L) / (n + 1)", "mean", "unbounded", where="k == 1")
    assert "x and y have at least 1 record" in str(told)
    assert "at least" not in str(formulas.prove("k", "count", "unbounded"))


CLAIMS = [
    ("k", "k", "where must be a condition, such as 'k <= n', got 'k'"),
    ("n < 3", "k <= n", "claim must be a number, such as 'k / n', got 'n < 3'"),
    ("k / n", "n > 3 and n < 2", "where: no n and k meet the condition, got 'n > 3 and n < 2'"),
    ("k / n", "k > n", "where: no n and k meet the condition"),
    ("k / n", "k < sqrt(n)", "where: roots stand in a claim alone"),
]


@has_z3
@pytest.mark.parametrize(("claim", "where", "reason"), CLAIMS)
def test_claims_and_conditions_that_are_refused(claim, where, reason):
    with pytest.raises(InputError) as caught:
        formulas.prove(claim, "mean", "bounded", where=where)
    assert reason in str(caught.value)


@has_z3
def test_agreement_for_small_n_is_no_proof():
    """p1 / (1 + p2) moves by 1/2 at most for up to 19 records; samples find more from 21 on."""
    found = formulas.prove("1 / 2", SUMS["ratio"], "bounded", where="k == 1")
    assert found.numbers["n"] == 21
    x, y = found.witness
    assert abs(SUMS["ratio"].on(x) - SUMS["ratio"].on(y)) > Fraction(1, 2)


@pytest.mark.exhaustive
@has_both
def test_a_formula_of_a_function_of_sums_is_found_and_proved():
    found = formulas.formula(SUMS["square"], "bounded")
    assert found.proved
    assert [found(n, k) for n, k in ((3, 1), (5, 5))] == [5, 25]
    assert r"\begin{cases}" in found.latex()
    with pytest.raises(InputError, match="no formula of a function of power sums is proved"):
        formulas.formula(SUMS["ratio"], "bounded")


@has_z3
@pytest.mark.exhaustive
@pytest.mark.parametrize("query", QUERIES, ids=lambda one: one.name)
def test_every_recorded_proof_is_proved_again(query):
    for relation in RELATIONS:
        if (found := known(query, relation)) is not None:
            assert found.proved
            assert all(one.again() for case in found.proofs for one in case)
            of = known_of(query)[relation]
            for place, case in enumerate(found.proofs):
                now = list(obligations_of(of, relation, place))
                assert [one.name for one in now] == [one.name for one in case]
                assert all(one.verdict().proved for one in now)


@has_z3
@pytest.mark.exhaustive
def test_other_parameters_are_proved_when_they_are_asked_for():
    for query in (sl.Percentile(33), sl.TrimmedMean(Fraction(1, 3))):
        found = formulas.formula(query, "bounded")
        assert found.proved
        universe = sl.Universe.from_domain([0, 1])
        for n, k in product(range(1, 8), (1, 2)):
            if k <= n:
                engine = sl.global_sensitivity(universe, query, size=n, neighbors=sl.Bounded(k))
                assert engine.exact == found(n, k)


@pytest.mark.parametrize("name", ["percentile_10", "iqr", "var", "std", "winsorized_mean_10"])
def test_what_is_printed_is_the_formula(name):
    """Each value that a reader sees has the number that the formula has where its case holds."""
    known = formulas.formula(name, neighbors="bounded")
    told = known.to_dict()["cases"]
    for n in range(1, 30):
        for k in (1, 2, n):
            if k > n:
                continue
            names = {"n": n, "k": k, "L": Fraction(-1), "U": Fraction(3)}
            exact = known(n=n, k=k, L=-1, U=3)
            cases = (
                one for one in told if eval(one["condition"], {"floor": math.floor}, exactly(n, k))
            )
            first = next(cases)
            names |= exactly(n, k)
            value = eval(first["value"], {"floor": math.floor, "sqrt": math.sqrt}, names)
            assert float(value) == pytest.approx(float(exact), rel=1e-12), (n, k, first)


def exactly(n, k):
    return {"n": Fraction(n), "k": Fraction(k)}
