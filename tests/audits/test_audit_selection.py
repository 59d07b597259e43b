"""Selections: what a mechanism assumes of its scores beside how far they move."""

from __future__ import annotations

import math
import random

import pytest
from checks import refused, refused_with

import sensitivity_lab as sl

pytestmark = pytest.mark.usefixtures("few_histories")


class Selector:
    """An exponential mechanism, whose attributes may be given after it is made."""

    def __init__(self, sensitivity=1, monotonic=False, candidates=None, epsilon=1.0):
        self.sensitivity, self.monotonic, self.candidates = sensitivity, monotonic, candidates
        self.epsilon = epsilon
        self.utility = None

    def randomise(self):
        raise NotImplementedError("no randomness in a test")


BEFORE = Selector(monotonic=True)


def counts(x):
    return [x.count(0), x.count(1)]


def contrast(x):
    return [x.count(0) - x.count(1), x.count(1) - x.count(0)]


def selection(scores, **assumed):
    def select(x):
        mechanism = Selector(**assumed)
        mechanism.utility = scores(x)
        return mechanism.randomise()

    return select


def audit(function, **options):
    options = {"neighbors": "unbounded", **options}
    return sl.audits.audit_recorded(
        function, [0, 1], [0, 1, 2], Selector, **options, scores="utility"
    )


@pytest.mark.parametrize(
    ("scores", "monotonic", "truth", "verdict"),
    [
        (counts, False, 1, "tight"),
        (counts, True, 1, "tight"),
        (contrast, False, 1, "tight"),
        (contrast, True, 2, "violated"),
        (lambda x: [2 * n for n in counts(x)], False, 2, "violated"),
    ],
)
def test_scores_move_as_far_as_the_mechanism_assumes(scores, monotonic, truth, verdict):
    report = audit(selection(scores, monotonic=monotonic))
    (row,) = report.rows
    assert (row.claimed, row.exact, report.verdict) == (1, truth, verdict)


def test_a_mechanism_may_be_made_before_its_data_is_known():
    def select(x):
        BEFORE.utility = counts(x)
        return BEFORE.randomise()

    report = audit(select, neighbors="bounded")
    assert (report.rows[0].exact, report.verdict) == (2, "violated")
    assert report.subject == "select"


def chosen(x, **assumed):
    """Select one of two candidates by their counts."""
    return selection(counts, **{"candidates": ["zero", "one"], **assumed})(x)


class Model:
    """An object without an equality of its own."""


BESIDE = {
    "the choice alone": (chosen, None),
    "its place": (selection(counts), None),
    "what follows from the choice": (lambda x: {"length": len(chosen(x))}, None),
    "the number of records, which is public": (lambda x: (chosen(x), len(x)), None),
    "a place in the data": (lambda x: sorted(x)[selection(counts)(x) % len(x)], "the return value"),
    "the largest record": (lambda x: (chosen(x), max(x)), "the return value"),
    "the largest record, after one of the choices": (
        lambda x: max(x) if chosen(x) == "one" else None, "the return value",
    ),
    "candidates from the data": (
        lambda x: chosen(x, candidates=sorted(x)), "the candidates",
    ),
    "candidates from the data, and nothing returned": (
        lambda x: chosen(x, candidates=sorted(x)) and None, "the candidates",
    ),
    "as many candidates as records": (
        lambda x: chosen(x, candidates=list(range(2 + len(x)))), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BESIDE)
def test_neighbors_must_return_the_same_after_the_same_choice(case):
    function, step = BESIDE[case]
    report = sl.audits.audit_recorded(
        function, [0, 1], [2], Selector, neighbors="bounded", scores="utility"
    )
    assert report.verdict == ("tight" if step is None else "violated")
    steps = {row.step.partition(" of ")[0]: row.verdict for row in report.rows}
    assert steps.pop("") == ("loose" if step == "the candidates" else "tight")
    assert steps == ({} if step is None else {step: "violated"})
    if step is not None:
        refused_with(lambda: report.raise_if_violated(), step, sl.errors.SensitivityViolation)


def test_what_is_returned_beside_a_choice_is_evidence():
    report = sl.audits.audit_recorded(
        lambda x: (chosen(x), max(x)), [0, 1], 2, Selector, neighbors="bounded", scores="utility"
    )
    row = report.decisive
    assert (row.evidence.x, row.evidence.y) == ([0, 0], [0, 1])
    assert (row.evidence.answer_x, row.evidence.answer_y) == (("zero", 0), ("zero", 1))
    assert row.history == ("zero",)
    assert row.sentence == (
        "no noise hides what is returned: violated (the return value depends on the data besides "
        "the releases), after the releases ('zero',)"
    )


def test_candidates_without_a_list_are_counted():
    """Scores that are as many as the distinct records."""
    report = sl.audits.audit_recorded(
        lambda x: selection(lambda x: [0] * len(set(x)))(x), [0, 1], 2, Selector,
        neighbors="bounded", scores="utility"
    )  # fmt: skip
    seen = report.decisive.evidence
    assert (report.decisive.step, report.verdict) == ("the candidates", "violated")
    assert (seen.answer_x, seen.answer_y) == ((0,), (0, 1))


@pytest.mark.exhaustive
def test_chance_beside_a_choice_is_not_compared():
    source = random.Random(1)

    def select(x, more=None):
        return chosen(x), Model(), source.random(), more and more(x)

    def audited(function):
        return sl.audits.audit_recorded(
            function, [0, 1], [2], Selector, neighbors="bounded", scores="utility"
        )

    report = audited(select)
    assert (report.verdict, report.sound) == ("not judged", False)
    assert report.unjudged == report.notes
    assert report.notes == (
        "some of what is returned differs between two runs with the same data and releases "
        "(chance, or an object without an equality), and is not compared",
    )
    assert audited(lambda x: select(x, max)).verdict == "violated"


def test_a_candidate_with_the_score_of_minus_infinity_is_never_chosen():
    def select(x):
        place = selection(lambda x: [x.count(0), -math.inf])(x)
        return ["zero"][place]

    assert (
        sl.audits.audit_recorded(
            select, [0, 1], 2, Selector, neighbors="bounded", scores="utility"
        ).verdict
        == "tight"
    )


def test_the_best_candidate_is_selected():
    selected = []

    def select(x):
        mechanism = Selector(candidates=["zero", "one"])
        mechanism.utility = counts(x)
        selected.append((x, mechanism.randomise()))

    audit(select)
    first = {tuple(x): best for x, best in reversed(selected)}
    assert (first[1, 1], first[0, 1]) == ("one", "zero")
    with pytest.raises(NotImplementedError):
        Selector().randomise()


def test_what_is_assumed_may_not_depend_on_the_data():
    report = audit(lambda x: selection(counts, sensitivity=1 + len(x))(x))
    assert (report.verdict, report.sound) == ("data-dependent claim", False)
    report = audit(lambda x: selection(counts, monotonic=len(x) > 1)(x))
    assert (report.verdict, report.sound) == ("not aligned", False)
    report = audit(lambda x: selection(counts, epsilon=0.5 + len(x))(x))
    assert (report.verdict, report.sound) == ("not judged", False)
    assert report.notes[0].endswith(
        " changes with the data, and is not compared; pass budget= or epsilon= to compare it"
    )


REFUSED = {
    "no mechanism": (
        lambda: sl.audits.audit_recorded(counts, [0], 1, neighbors="unbounded", scores="utility"),
        "targets must name at least one mechanism, got none; name one, as in "
        'sl.audits.audit_recorded(function, values, 3, Mechanism, neighbors="bounded")',
    ),
    "no selection": (
        lambda: audit(counts),
        "on [] the library called no recorded mechanism; name others; a function that the code "
        "holds elsewhere than in a module, as in a dict, a default or an instance, is not "
        "replaced: give the code one that it looks up by its name",
    ),
    "a candidate that makes the function fail": (
        lambda: audit(lambda x: {0: "zero"}[selection(lambda x: [x.count(0), -1])(x)]),
        "[] after the releases (1,) raised KeyError: 1",
    ),
    "no neighbors": (
        lambda: sl.audits.audit_recorded(
            selection(counts), [0, 1], 3, Selector, neighbors="unbounded", scores="utility"
        ),
        "no two datasets of size 3 are neighbors at distance 1: give size=[2, 3]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message, (sl.errors.InputError, sl.errors.QueryError))


@pytest.mark.exhaustive
@pytest.mark.diffprivlib
def test_the_mechanisms_of_a_library():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms", reason="needs `diffprivlib`")

    def select(x, kind, monotonic):
        return kind(
            epsilon=1.0, sensitivity=1, utility=contrast(x), monotonic=monotonic
        ).randomise()

    for kind in (mechanisms.Exponential, mechanisms.PermuteAndFlip):
        for monotonic, verdict in [(False, "tight"), (True, "violated")]:
            report = sl.audits.audit_recorded(
                lambda x, kind=kind, monotonic=monotonic: select(x, kind, monotonic),
                [0, 1],
                [0, 1, 2],
                kind,
                neighbors="unbounded",
                scores="utility",
            )
            assert report.verdict == verdict
