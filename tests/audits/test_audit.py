"""Audits: the oracle's truth beside a claim, and counterexamples that hold without the lab."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import oracle
import pytest
from audit_cases import evidence_of
from checks import refused, refused_with
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import IN_PLAIN_PYTHON, QUERIES, RELATIONS, problems

import sensitivity_lab as sl

BITS = sl.Universe.from_domain([0, 1])
SCHOOL = sl.Universe.from_dataset([1, 2, 2, 2, 5, 5, 7, 8, 9, 9])
HERE = {"size": 3, "neighbors": "bounded", "distances": 1}


@pytest.mark.representative("name")
@pytest.mark.parametrize("family", RELATIONS)
@pytest.mark.parametrize("name", [name for name in QUERIES if "std" not in name])
@given(data=st.data())
def test_verdicts_agree_with_the_oracle(name, family, data):
    query, definition = QUERIES[name]
    asked = data.draw(problems(family, exactly=data.draw(st.booleans())))
    try:
        truth = asked.sensitivity(definition)
    except ValueError:  # no pair on which the query is defined
        assume(False)
    if asked.relation.exactly:  # which every size needs, in every direction
        assume(min(asked.sizes) - asked.relation.k >= oracle.least(definition))
    options = {
        "size": asked.size,
        "neighbors": asked.relation,
        "distances": asked.relation.k,
        "exactly": asked.relation.exactly,
    }
    little = truth / 10**9 or Fraction(1)
    report = sl.audit(asked.universe, query, truth, **options)
    assert report.verdict == "tight"
    assert report.rows[0].exact == truth
    assert sl.audit(asked.universe, query, truth + little, **options).verdict == "loose"
    if truth:
        small = sl.audit(asked.universe, query, truth - little, **options)
        assert small.verdict == "violated"
        check_counterexample(name, small, truth)


def check_counterexample(name: str, report: sl.audits.AuditReport, truth: Fraction) -> None:
    """Run the counterexample again in plain Python: fractions and the statistics module."""
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        report.raise_if_violated()
    said = evidence_of(str(caught.value))
    answers = []
    for letter in "xy":
        records = list(map(Fraction, said[letter]))
        answers.append(IN_PLAIN_PYTHON[name](records))
        assert said[f"f({letter})"] == answers[-1]
    assert abs(answers[0] - answers[1]) == truth
    assert truth > report.decisive.claimed


@given(data=st.data())
def test_standard_deviations_are_audited_as_roots(data):
    asked = data.draw(problems("bounded", exactly=False, kinds=["clusters", "fractions"]))
    options = {"size": asked.size, "neighbors": "bounded", "distances": asked.relation.k}
    value = float(asked.sensitivity(("std", 0)))
    report = sl.audit(asked.universe, "std", value, **options)
    assert report.verdict in ("tight", "tight up to rounding")
    assert report.rows[0].evidence.answer_x == pytest.approx(
        statistics.pstdev(map(float, report.rows[0].evidence.x)), abs=1e-6
    )
    assert sl.audit(asked.universe, "std", 2 * value + 1, **options).verdict == "loose"
    assert value == 0 or (
        sl.audit(asked.universe, "std", value / 2, **options).verdict == "violated"
    )


def test_a_function_of_the_caller_is_audited_by_its_floats():
    universe = sl.Universe.from_domain([0.1, 0.3, 1])
    report = sl.audit(universe, np.mean, 0.3, **HERE)
    assert report.verdict == "tight up to rounding"
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(universe, np.mean, 0.2, **HERE)
    said = evidence_of(str(caught.value))
    for letter in "xy":
        assert np.mean(np.array(said[letter])) == said[f"f({letter})"]
    gap = Fraction(float(said["f(x)"])) - Fraction(float(said["f(y)"]))
    assert report.rows[0].exact == abs(gap)


@pytest.mark.parametrize(
    "values",
    [[0, 1], [0.1, 0.7], [Fraction(1, 3), Fraction(5, 7)], [Decimal("0.1"), Decimal("2.5")]],
)
def test_counterexamples_show_records_as_they_are(values):
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(sl.Universe.from_domain(values), "sum", 0, **HERE)
    said = evidence_of(str(caught.value))
    assert {type(record) for record in said["x"] + said["y"]} == {type(values[0])}
    assert set(said["x"] + said["y"]) == set(values)


def test_counterexamples_of_tables_are_tables():
    universe = sl.TableUniverse.from_domain({"age": [20, 30], "sex": ["f", "m"]})
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(universe, sl.SumOf("age"), 10, **{**HERE, "neighbors": "unbounded"})
    said = evidence_of(str(caught.value))
    for letter in "xy":
        assert list(said[letter].columns) == ["age", "sex"]
        assert said[letter]["age"].sum() == said[f"f({letter})"]
    assert abs(said["f(x)"] - said["f(y)"]) == 30


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_vectors_are_audited_in_every_norm(norm):
    """Two records replaced by others: two cells lose what two cells gain, or one does."""
    universe = sl.TableUniverse.from_domain({"sex": ["f", "m", "x"]})
    histogram = sl.Histogram("sex", categories=["f", "m", "x"])
    options = {**HERE, "distances": [1, 2], "norm": norm}
    truth = {"L1": [2, 4], "L2": [math.sqrt(2), 2 * math.sqrt(2)], "Linf": [1, 2]}[norm]
    report = sl.audit(universe, histogram, lambda k: truth[k - 1], **options)
    assert f"; {norm} norm; exact arithmetic" in report.setting
    verdict = "tight up to rounding" if norm == "L2" else "tight"
    assert [row.verdict for row in report.rows] == [verdict, verdict]
    small = sl.audit(universe, histogram, 0.5, **options)
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        small.raise_if_violated()
    said = evidence_of(str(caught.value))
    gaps = [abs(one - other) for one, other in zip(said["f(x)"], said["f(y)"], strict=True)]
    assert np.linalg.norm(gaps, {"L1": 1, "L2": 2, "Linf": np.inf}[norm]) == truth[0]
    for letter in "xy":
        counts = said[letter]["sex"].value_counts()
        assert said[f"f({letter})"] == tuple(counts.get(sex, 0) for sex in ("f", "m", "x"))


def test_a_row_per_distance():
    report = sl.audit(
        BITS, "mean", lambda k: k / 6, size=6, neighbors="bounded", distances=range(1, 5)
    )
    assert [row.distance for row in report.rows] == [1, 2, 3, 4]
    assert [row.exact for row in report.rows] == [Fraction(k, 6) for k in (1, 2, 3, 4)]
    assert [row.verdict for row in report.rows] == [
        "tight up to rounding",
        "tight up to rounding",
        "tight",
        "tight up to rounding",
    ]
    again = sl.audit(BITS, "mean", 0.5, size=6, neighbors="bounded", distances=[4, 3, 2, 2])
    assert [row.verdict for row in again.rows] == ["violated", "tight", "loose"]
    assert again.verdict == "violated"


def test_sizes_and_distances_may_come_from_generators():
    report = sl.audit(
        BITS,
        "mean",
        1,
        size=(n for n in (2, 3)),
        neighbors="bounded",
        distances=(k for k in (1, 2)),
    )
    assert [row.exact for row in report.rows] == [Fraction(1, 2), 1]
    assert "; size any of (2, 3); " in report.setting


def test_all_distances_cost_one_search():
    seen = Counter()

    def spread(x):
        seen[tuple(x.tolist())] += 1
        return x[-1] - x[0]

    sl.audit(SCHOOL, spread, 1, size=4, neighbors="unbounded", distances=range(1, 4))
    # One search, which asks again for at most 64 answers.
    assert seen.total() <= len(seen) + 64
    assert {len(x) for x in seen} == set(range(1, 8))


def test_what_the_report_says():
    report = sl.audit(SCHOOL, "median", 2, size=6, neighbors="bounded", distances=[1, 2])
    assert report.subject == "median, bounded"
    assert report.setting == "bounded, at most k; size 6; universe of 10 records; exact arithmetic"
    assert [row.exact for row in report.rows] == [3, Fraction(11, 2)]
    assert repr(report).startswith("Audit of median, bounded: violated\n")
    several = sl.audit(
        BITS,
        np.ptp,
        math.inf,
        size=[3, 2],
        neighbors=sl.Unbounded(1, direction="add"),
        distances=1,
        exactly=True,
    )
    assert several.subject == "ptp, unbounded (add)"
    assert several.setting == (
        "unbounded (add), exactly k; size any of (2, 3) of x, 3 to 4 of y; domain of 2 values, "
        "unlimited copies; float arithmetic"
    )
    assert several.verdict == "loose"


def test_the_relation_keeps_what_it_says_but_for_the_distance():
    relation = sl.Unbounded(1, exactly=True, direction="remove")
    report = sl.audit(SCHOOL, "sum", 0, size=5, neighbors=relation, distances=[2])
    direct = sl.global_sensitivity(SCHOOL, "sum", size=5, neighbors=relation.at(2))
    assert report.rows[0].exact == direct.exact == 18
    assert report.rows[0].evidence.x == direct.witness.x


def test_options_reach_the_search():
    with pytest.raises(sl.errors.TooLargeError):
        sl.audit(SCHOOL, "median", 1, **HERE, method="enumeration", run=sl.Run(memory_limit=1))
    refused_with(lambda: sl.audit(SCHOOL, "median", 1, **HERE, n_jobs=0), r"^n_jobs must be ")


def test_assert_sensitivity_returns_the_report_of_a_sound_claim():
    claim = Fraction(1, 3)
    report = sl.assert_sensitivity(BITS, "mean", claim, **HERE, tight=True)
    assert report == sl.audit(BITS, "mean", claim, **HERE)
    assert sl.assert_sensitivity(BITS, "mean", 1, **HERE).verdict == "loose"
    assert sl.assert_sensitivity(BITS, "mean", 1 / 3, **HERE, tight=True).sound


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (104, "too small: some pair of neighbors differs by more"),
        (126, "too large: no pair of neighbors differs by that much"),
    ],
)
def test_an_exercise_does_not_tell_its_answer(claim, told):
    asked = sl.Universe.from_domain([0, 20, 125]), "sum", claim
    given = {"size": 2, "neighbors": "unbounded", "distances": 1, "tight": True}
    refused(
        lambda: sl.assert_sensitivity(*asked, **given, reveal=False),
        f"{claim} is not right at distance 1: it is {told}",
        sl.errors.SensitivityViolation,
    )
    refused_with(
        lambda: sl.assert_sensitivity(*asked, **given), "125", sl.errors.SensitivityViolation
    )
    assert sl.assert_sensitivity(*asked[:2], 125, **given, reveal=False).verdict == "tight"
    refused(
        lambda: sl.assert_sensitivity(*asked[:2], lambda k, n: 125 * k + n, **given, reveal=False),
        "126 is not right at distance 1: it is not the claim at the size of a neighbor, so it "
        "tells the size",
        sl.errors.SensitivityViolation,
    )


def test_assert_sensitivity_refuses_loose_claims_on_demand():
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(BITS, "mean", 1, **HERE, tight=True)
    assert str(caught.value) == (
        "mean, bounded: a sensitivity of 1 is claimed at distance 1, "
        "the truth is 1/3 = 0.3333333333: loose (claim / truth = 3)\n"
        "x = [0, 0, 1]  ->  f(x) = Fraction(1, 3)  # 0.3333333333\n"
        "y = [0, 0, 0]  ->  f(y) = 0\n"
        "(bounded, at most k; size 3; domain of 2 values, unlimited copies; exact arithmetic)"
    )


def test_the_distance_is_that_of_the_relation_and_is_never_left_out():
    universe = sl.Universe.from_domain([1, 2, 5])
    ask = partial(sl.audit, universe, "sum", lambda k: 4 * k, size=5)
    assert [row.distance for row in ask(neighbors=sl.Bounded(3)).rows] == [3]
    assert [row.distance for row in ask(neighbors="bounded").rows] == [1]
    assert [row.distance for row in ask(neighbors=sl.Bounded(3), distances=[1, 3]).rows] == [1, 3]
    refused(
        lambda: ask(neighbors=sl.Bounded(3), distances=1),
        "neighbors is bounded, at most 3, but distances=1 leaves out k = 3; pass all distances, "
        "or name the relation without a k",
    )
    sl.assert_sensitivity(universe, "sum", 12, size=5, neighbors=sl.Bounded(3), tight=True)


def test_a_list_of_records_is_told_from_a_list_of_values():
    """With values, (0, 0) is a dataset, and with records it is none."""
    report = sl.audit([0, 5, 10], sl.Var(ddof=1), 50, size=2, neighbors="bounded")
    assert report.notes == (
        "the list has the records of datasets, each of them once; for all datasets of these "
        "values, pass sl.Universe.from_domain([0, 5, 10])",
    )
    domain = sl.Universe.from_domain([0, 5, 10])
    assert sl.audit(domain, sl.Var(ddof=1), 50, size=2, neighbors="bounded").notes == ()
