"""Several selections under one budget: their epsilons add, and the report shows each."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from checks import refused_with

import sensitivity_lab as sl

pytestmark = pytest.mark.usefixtures("few_histories")


class Exponential:
    """A mechanism that selects a candidate by scores."""

    def __init__(self, epsilon, scores, sensitivity=1, monotonic=False, candidates=None):
        self.epsilon, self.utility, self.sensitivity = epsilon, scores, sensitivity
        self.monotonic, self.candidates = monotonic, candidates

    def randomise(self):
        raise NotImplementedError("no randomness in a test")


class Laplace:
    """A mechanism that adds noise."""

    def __init__(self, epsilon, sensitivity=1):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value):
        raise NotImplementedError("no noise in a test")


def noisy_max(scores, sensitivity, epsilon, candidates):
    raise NotImplementedError("no randomness in a test")


def counts(x):
    return [x.count(0), x.count(1)]


def audit(function, budget=1, targets=(Exponential, Laplace), **options):
    options = {"scores": "utility", "neighbors": "unbounded", **options}
    return sl.audits.audit_recorded(function, [0, 1], [0, 1, 2], *targets, budget=budget, **options)


def twice(x, first=0.5, second=0.5):
    one = Exponential(first, counts(x)).randomise()
    two = Exponential(second, counts(x), candidates=["zero", "one"]).randomise()
    return one, two


def test_epsilons_of_selections_add():
    report = audit(twice)
    *steps, whole = report.rows
    assert [(row.claimed, row.exact, row.verdict) for row in steps] == [(1, 1, "tight")] * 2
    assert [row.step[:14] for row in steps] == ["step 1 of 2, E", "step 2 of 2, E"]
    assert (whole.claimed, whole.exact, whole.verdict) == (1, 1, "tight")
    assert report.sound
    assert "the epsilons of the steps: 1/2 at step 1, 1/2 at step 2" in report.notes
    assert "the largest loss of a whole run is at most 1" in report.setting


def test_several_selections_without_a_budget_are_judged_one_by_one():
    report = audit(twice, budget=None)
    assert ([row.verdict for row in report.rows], report.sound) == (["tight"] * 2, False)
    assert report.unjudged == (
        "the steps together spend 2, in units of the epsilon of each; pass budget= to judge the "
        "whole run",
    )


def test_a_sum_above_the_budget_is_not_called_a_violation():
    """Two candidates: a selection loses log(2 / (1 + exp(-epsilon / 2))), less than epsilon / 2."""

    def spend(x):
        return twice(x, 0.75)

    report = audit(spend)
    whole = report.rows[-1]
    assert (whole.exact, whole.verdict, report.sound) == (Fraction(5, 4), "not judged", False)
    assert "the epsilons of the steps add up to 5/4 = 1.25, but a selection" in str(report)
    loss = sum(2 * math.log(2 / (1 + math.exp(-epsilon / 2))) for epsilon in (0.75, 0.5))
    assert loss < 1  # within the budget, twice over
    with pytest.raises(sl.errors.SensitivityViolation):
        report.raise_if_violated()


def test_selections_and_noise_share_a_budget():
    def released(x):
        best = Exponential(0.25, counts(x)).randomise()
        return best, Laplace(0.75).randomise(x.count(best))

    report = audit(released)
    assert [row.verdict for row in report.rows] == ["tight"] * 3
    assert "1/4 at step 1, 3/4 at step 2" in report.notes[0]


def test_noise_alone_that_spends_more_is_still_a_violation():
    def released(x):
        return Laplace(0.75).randomise(len(x)), Laplace(0.75).randomise(len(x))

    assert audit(released).rows[-1].verdict == "violated"


@pytest.mark.exhaustive
def test_a_claim_that_is_too_small_is_found_at_its_step():
    def released(x):
        one = Exponential(0.5, counts(x)).randomise()
        return one, Exponential(0.5, [2 * n for n in counts(x)]).randomise()

    report = audit(released, budget=2)
    assert [row.verdict for row in report.rows[:2]] == ["tight", "violated"]
    assert report.rows[1].exact == 2


@pytest.mark.parametrize(("monotonic", "truth"), [(False, 1), (True, 2)])
def test_scores_that_do_not_go_one_way_move_twice(monotonic, truth):
    def released(x):
        scores = [x.count(0) - x.count(1), x.count(1) - x.count(0)]
        one = Exponential(0.5, scores, monotonic=monotonic).randomise()
        return one, Exponential(0.5, counts(x)).randomise()

    report = audit(released)
    assert report.rows[0].exact == truth
    assert report.rows[0].verdict == ("violated" if monotonic else "tight")


def test_what_follows_another_choice_than_the_best_is_compared():
    """The best candidate is 0 on every dataset; after 1 the data is returned."""

    def released(x):
        chosen = Exponential(0.5, [10, x.count(1)]).randomise()
        again = Exponential(0.5, counts(x)).randomise()
        return (chosen, again, max(x, default=0) if chosen == 1 else None)

    report = audit(released, histories=1)
    row = report.rows[-1]
    assert (report.verdict, row.step, row.history[0]) == ("violated", "the return value", 1)


@pytest.mark.exhaustive
def test_candidates_from_the_data_are_a_leak():
    def released(x):
        names = [f"{len(x)} records", "none"]
        one = Exponential(0.5, counts(x)).randomise()
        return one, Exponential(0.5, counts(x), candidates=names).randomise() and None

    report = audit(released)
    row = report.decisive
    assert (row.verdict, row.step) == ("violated", "the candidates")
    assert row.evidence.answer_x != row.evidence.answer_y


@pytest.mark.exhaustive
def test_later_candidates_may_depend_on_earlier_choices():
    def released(x):
        half = Exponential(0.5, counts(x), candidates=["low", "high"]).randomise()
        ends = [0, 1] if half == "low" else [2, 3]
        return Exponential(0.5, counts(x), candidates=ends).randomise()

    assert audit(released).sound


def test_a_candidate_that_is_never_chosen_on_one_neighbor():
    def released(x):
        first = Exponential(0.5, [0, 0 if x else -math.inf]).randomise()
        return first, Exponential(0.5, [0, -math.inf]).randomise()

    report = audit(released)
    assert [row.verdict for row in report.rows[:2]] == ["violated", "loose"]


@pytest.mark.exhaustive
def test_mechanisms_can_be_functions():
    def released(x):
        epsilon = 0.5
        return [noisy_max(counts(x), 1, epsilon, ["a", "b"]) for _ in range(2)]

    report = audit(released, targets=(noisy_max,), scores="scores")
    assert [row.verdict for row in report.rows] == ["tight"] * 3
    alone = sl.audits.audit_recorded(
        lambda x: noisy_max(counts(x), 1, 0.5, ["a", "b"]),
        [0, 1], [1, 2], noisy_max, neighbors="unbounded", scores="scores",
    )  # fmt: skip
    assert alone.verdict == "tight"


REFUSED = {
    "too few candidates": (
        lambda: audit(lambda x: Exponential(1, counts(x), candidates=["one"]).randomise()),
        "on [], Exponential selects from 1 candidates by 2 scores; each candidate needs a score",
    ),
    "neither scores nor a value": (
        lambda: audit(twice, scores="score"),
        "Exponential gets no value to release and nothing under 'score'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises((sl.errors.InputError, sl.errors.QueryError)) as caught:
        call()
    assert message in str(caught.value)


SPENT = []
"""What an accountant of the whole process has spent."""


def accounted(x):
    SPENT.append(len(x))
    if len(SPENT) > 1:
        raise RuntimeError("the budget is spent")
    return Laplace(1).randomise(len(x))


@pytest.mark.stress
def test_each_run_can_have_a_process_of_its_own():
    """An accountant that every run exhausts: only a fresh process sees a first call."""

    def run(**options):
        SPENT.clear()
        return sl.audits.audit_recorded(
            accounted, [0], [0, 1], Laplace, neighbors="unbounded", **options
        )

    refused_with(run, "the budget is spent", sl.errors.QueryError)
    report = run(fresh=True)
    assert (report.verdict, report.rows[0].exact, report.notes, SPENT) == ("tight", 1, (), [])
