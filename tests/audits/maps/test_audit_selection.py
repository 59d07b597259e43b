"""Selections: what a mechanism assumes of its scores beside how far they move."""

from __future__ import annotations

import pytest

import sensitivity_lab as sl


class Selector:
    """An exponential mechanism, whose attributes may be given after it is made."""

    def __init__(self, sensitivity=1, monotonic=False, candidates=None):
        self.sensitivity, self.monotonic, self.candidates = sensitivity, monotonic, candidates
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
    options = {"inputs": "symmetric", **options}
    return sl.audit_selection(function, [0, 1], [0, 1, 2], Selector, **options)


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
    assert ("Linf_monotonic" in report.setting) is monotonic


def test_a_mechanism_may_be_made_before_its_data_is_known():
    def select(x):
        BEFORE.utility = counts(x)
        return BEFORE.randomise()

    report = audit(select, inputs="change_one")
    assert (report.rows[0].exact, report.verdict) == (2, "violated")
    assert report.subject == "select"


def test_the_best_candidate_is_selected():
    selected = []

    def select(x):
        mechanism = Selector(candidates=["zero", "one"])
        mechanism.utility = counts(x)
        selected.append((x, mechanism.randomise()))

    audit(select)
    assert {tuple(x): best for x, best in selected}[1, 1] == "one"
    assert {tuple(x): best for x, best in selected}[0, 1] == "zero"
    with pytest.raises(NotImplementedError):
        Selector().randomise()


REFUSED = {
    "no mechanism": (
        lambda: sl.audit_selection(counts, [0], 1, inputs="symmetric"),
        "mechanisms must be classes with the method 'randomise', got ()",
    ),
    "no selection": (
        lambda: audit(counts),
        "the selection fails on []: QueryError: it made 0 selections, and one is audited",
    ),
    "assumptions that depend on the data": (
        lambda: audit(lambda x: selection(counts, sensitivity=1 + len(x))(x)),
        "the transformation fails on [0]: QueryError: the sensitivity, and whether scores are "
        "monotonic, depend on the data: 1, False and 2, False",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises((sl.InputError, sl.QueryError)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.diffprivlib
def test_the_mechanisms_of_a_library():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms", reason="needs `diffprivlib`")

    def select(x, kind, monotonic):
        return kind(
            epsilon=1.0, sensitivity=1, utility=contrast(x), monotonic=monotonic
        ).randomise()

    for kind in (mechanisms.Exponential, mechanisms.PermuteAndFlip):
        for monotonic, verdict in [(False, "tight"), (True, "violated")]:
            report = sl.audit_selection(
                lambda x, kind=kind, monotonic=monotonic: select(x, kind, monotonic),
                [0, 1],
                [0, 1, 2],
                kind,
                inputs="symmetric",
            )
            assert report.verdict == verdict
