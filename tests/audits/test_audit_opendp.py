"""The OpenDP adapter: what it reads from a transformation, tries and compares."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from checks import refused, refused_with
from hypothesis import given, settings
from hypothesis import strategies as st
from opendp_cases import clamped_sum, dp, integers, of_function

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_opendp, maps
from sensitivity_lab.audits import question as vectors
from sensitivity_lab.audits.maps import RANDOM
from sensitivity_lab.exact.difference import Difference

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

INPUTS = {
    "symmetric": "symmetric_distance",
    "insert_delete": "insert_delete_distance",
    "change_one": "change_one_distance",
    "hamming": "hamming_distance",
}
SIZED = {"change_one", "hamming"}


OUTPUTS = {
    "absolute": (lambda: (dp.atom_domain(T=int), dp.absolute_distance(T=int)), st.integers(-9, 9)),
    **{
        name: (
            lambda metric=metric: (integers(), getattr(dp, metric)(T=int)),
            st.lists(st.integers(-9, 9), min_size=2, max_size=2),
        )
        for name, metric in [
            ("L1", "l1_distance"),
            ("L2", "l2_distance"),
            ("Linf", "linf_distance"),
        ]
    },
    **{
        name: (
            lambda metric=metric: (integers(), getattr(dp, metric)()),
            st.lists(st.integers(0, 2), min_size=2, max_size=2),
        )
        for name, metric in INPUTS.items()
    },
}


@pytest.mark.representative("inputs")
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("inputs", INPUTS)
@settings(max_examples=4)
@given(data=st.data())
def test_the_truth_is_that_of_any_function(inputs, outputs, data):
    """What the metrics of OpenDP mean; the audit of any function is held against definitions."""
    sizes = [3] if inputs in SIZED else [0, 1, 2, 3]
    datasets = [list(x) for n in sizes for x in itertools.product([0, 1], repeat=n)]
    kind, answer = OUTPUTS[outputs]
    table = data.draw(st.lists(answer, min_size=len(datasets), max_size=len(datasets)))
    answers, metric = kind()

    def looked_up(x):
        return table[datasets.index(list(x))]

    domain = integers(3 if inputs in SIZED else None)
    given_metric = getattr(dp, INPUTS[inputs])()
    transformation = of_function(looked_up, given_metric, metric, domain, answers)
    report = audit_opendp(transformation, [0, 1], sizes, distances=range(4))
    asked = {"neighbors": inputs, "outputs": outputs, "distances": range(4)}
    same = sl.audit(None, looked_up, 7, datasets=datasets, **asked)
    for row, expected in zip(report.rows, same.rows, strict=True):
        assert (row.distance, row.claimed, row.truth) == (expected.distance, 7, expected.truth)
        assert transformation(row.evidence.x) == row.evidence.answer_x


def test_a_report_says_what_was_audited():
    report = audit_opendp(clamped_sum(), [-1, 0, 2, 9], range(3), distances=[0, 1, 2])
    assert repr(report) == (
        "Audit of make_clamp >> make_sum: tight\n"
        "  setting  SymmetricDistance() of at most k to AbsoluteDistance(i32); "
        "values (-1, 0, 2, 9), sizes (0, 1, 2) in every order; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  0  0        0      tight\n"
        "  1  3        3      tight\n"
        "  2  6        6      tight\n"
        "  x  ()  ->  0\n"
        "  y  ()  ->  0"
    )
    assert report.rows[1].evidence == sl.audits.Evidence([], [9], 0, 3)


@pytest.mark.exhaustive
def test_what_it_costs_to_see_whether_it_is_randomised():
    """Of size 0 one vector, 32 times; of size 4 all 256, 4 times; then the witness, 256 times."""
    asked = Counter()

    def first(x):
        asked[tuple(x)] += 1
        return max(x, default=0)

    (row,) = audit_opendp(of_function(first), range(4), [0, 4], distances=4).rows
    witness = Counter(map(tuple, (row.evidence.x, row.evidence.y)))
    assert asked.pop(()) == 1 + 32 + 256 * (() in witness)
    assert set(asked) == set(itertools.product(range(4), repeat=4))
    assert set(asked.values()) <= {5, 5 + 256}
    assert sum(times > 5 for times in asked.values()) == sum(map(bool, witness))


def test_where_no_two_datasets_are_close_nothing_is_judged():
    """Of one size, two multisets are an even distance apart."""
    report = audit_opendp(of_function(len), [0, 9], 2, distances=[1, 2])
    assert [row.verdict for row in report.rows] == ["not judged", "loose"]
    assert report.rows[0].remark == "not judged (no two of the datasets are so close)"
    assert report.verdict == "not judged"
    refused_with(
        lambda: audit_opendp(of_function(len), [0, 9], 2, distances=1),
        "no two datasets of size 2 are neighbors",
    )


@pytest.mark.parametrize("size", [5, 8])
def test_inputs_that_are_asked_again_come_from_everywhere_if_randomised(size, monkeypatch):
    """A share for every size; of too many inputs of a size, different ones with all entries."""
    inputs = vectors.vectors((0, 1, 2), tuple(range(size)))
    monkeypatch.setattr(maps, "PROBES", 40 * size)
    probes = list(maps.probes(inputs))
    assert probes == list(maps.probes(inputs))
    seen = Counter(probes)
    for length in range(size):
        chosen = {place: seen[place] for place, x in enumerate(inputs) if len(x) == length}
        assert sum(chosen.values()) == min(40, 32 * 3**length)
        assert max(chosen.values()) - min(chosen.values()) <= 1
    last = [inputs[place] for place in probes if len(inputs[place]) == size - 1]
    for position in range(size - 1):
        assert {x[position] for x in last} == {0, 1, 2}


def test_one_order_is_enough_where_it_is_asked_for():
    asked = set()

    def count(x):
        asked.add(tuple(x))
        return len(x)

    report = audit_opendp(of_function(count), [1, 0], 3, distances=2, every_order=False)
    assert asked == {(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)}
    assert "values (1, 0), sizes (3,) in one order" in report.setting


def test_mappings_are_compared_with_absent_keys_as_zero():
    counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    for component in ("L0", "L1", "Linf"):
        report = audit_opendp(counts, ["a", "b"], range(4), distances=[1, 2], component=component)
        assert [row.exact for row in report.rows] == [1, 2], component
        assert report.verdict == "tight"
        assert f"L01InfDistance(AbsoluteDistance(i32)) ({component})" in report.setting


def test_answers_are_taken_as_returned_however_large():
    huge = dp.vector_domain(dp.atom_domain(T="u64"))
    total = of_function(
        lambda x: sum(x) % 2**64,
        domain=huge,
        answers=dp.atom_domain(T="u64"),
        outputs=dp.absolute_distance(T="u64"),
    )
    report = audit_opendp(total, [0, 2**63, 2**64 - 1], 1, distances=2)
    assert report.rows[0].exact == 2**64 - 1


@pytest.mark.parametrize("size", [None, 3])
def test_what_the_domain_does_not_accept_is_left_out(size):
    total = dp.t.make_sum(integers(size, bounds=(0, 3), T=None), dp.symmetric_distance())
    report = audit_opendp(total, [-1, 0, 3, 4, 1.5, None, "a"], range(1, 4))
    sizes = "(1, 2, 3)" if size is None else "(3,)"
    assert f"values (0, 3), 5 outside the domain left out, sizes {sizes}" in report.setting
    assert report.sound


def test_rounding_that_depends_on_the_order_is_seen_at_distance_0():
    mean = dp.t.make_mean(
        dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=3),
        dp.symmetric_distance(),
    )
    report = audit_opendp(mean, [0.0, 0.1, 1.0], distances=[0, 2])
    assert report.rows[0].truth > Difference(Fraction(0), Fraction(0))
    assert sorted(report.rows[0].evidence.x) == sorted(report.rows[0].evidence.y)
    assert report.sound


@pytest.mark.exhaustive
def test_randomised_transformations_are_coupled():
    """A resize shuffles what it gets: github.com/opendp/opendp/issues/2927."""
    resize = dp.t.make_resize(
        integers(), dp.insert_delete_distance(), size=2, constant=0, MO="InsertDeleteDistance"
    )
    report = audit_opendp(resize, [1, 2], [1, 2, 3])
    assert "400 draws on each dataset, under the best coupling" in report.setting
    assert not report.held
    impute = dp.t.make_impute_uniform_float(
        dp.vector_domain(dp.atom_domain(T=float, nan=True)),
        dp.symmetric_distance(),
        bounds=(0.0, 1.0),
    )
    # Only missing values are replaced at random, by numbers that never recur.
    refused_with(
        lambda: audit_opendp(impute, [0.0, 0.25, 0.5, math.nan, 0.75, 1.0], 2, distances=2),
        "there are more than 2,000 different outputs",
        sl.errors.TooLargeError,
    )


def test_a_randomised_witness_is_not_reported(monkeypatch):
    """Nothing asks again but for the evidence: one call of 100 tells that it is random."""
    monkeypatch.setattr(maps, "PROBES", 0)
    asked = Counter()

    def answer(x):
        asked[tuple(x)] += 1
        return 5 if list(x) == [1, 0, 1, 0] and asked[tuple(x)] % 100 else 0

    refused(
        lambda: audit_opendp(of_function(answer), [0, 1], 4, distances=2),
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        "two calls on [1, 0, 1, 0] returned 5 and 0; an audit needs the part that adds no "
        f"randomness and keeps nothing, or choices=, as in {RANDOM}",
    )


@pytest.mark.exhaustive
def test_missing_answers_are_not_randomised():
    """NaN is the same answer as NaN: also alone, where Python says that it differs from itself."""
    for missing in (math.nan, float("nan")):
        identity = dp.t.make_identity(
            dp.atom_domain(T=float, nan=True), dp.absolute_distance(T=float)
        )
        report = audit_opendp(identity, [0.0, missing], distances=[0, 1])
        assert [(row.claimed, row.exact) for row in report.rows] == [(0, 0), (1, 0)]
    vector = dp.t.make_identity(
        dp.vector_domain(dp.atom_domain(T=float, nan=True)), dp.symmetric_distance()
    )
    report = audit_opendp(vector, [0.0, math.nan], range(3))
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]
