"""Replayed audits: the releases of one dataset are fed to the runs on its neighbors."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from fractions import Fraction

import naive_distances as naive
import numpy as np
import pytest
from checks import refused_with
from hypothesis import given
from hypothesis import strategies as st
from replay_cases import Noise, around_the_median, audited

import sensitivity_lab as sl
from sensitivity_lab.audits import replay

pytestmark = pytest.mark.usefixtures("few_histories")


@pytest.mark.exhaustive
def test_a_correct_adaptive_release_is_sound():
    """Compared by their own true values, the sums around two medians differ by more."""
    report = audited(around_the_median, histories=0)
    assert [(row.verdict, row.claimed, row.exact) for row in report.rows] == [
        ("tight", 10, 10),
        ("tight", 2, 2),
    ]
    assert (report.verdict, len(report.unjudged)) == ("not judged", 1)  # the whole run
    judged = audited(around_the_median, histories=0, budget=2, epsilon=lambda _: 1)
    assert (judged.verdict, judged.rows[2].step) == ("holds if post-processed", "the whole run")
    equal = audited(lambda x: around_the_median(x, (10, 10)))
    assert [row.verdict for row in equal.rows] == ["tight", "loose"]


def test_half_the_noise_is_violated_and_the_step_is_named():
    report = audited(lambda x: around_the_median(x, (10, 1)), histories=0, subject="around")
    line = around_the_median.__code__.co_firstlineno + 2
    # By hand: around the released 4, the sum over (0, 4, 4) is -1 and over (4, 4, 5) is 1. From
    # (0, 4, 10) to (4, 10, 10), around 4 as well, the sum moves by 2, and the median by 6 of 10.
    assert repr(report) == (
        "Audit of around: violated\n"
        "  setting  bounded, at most 1; norm L1; values (0, 4, 5, 10), sizes (3,) in one order; "
        "implementation; replayed with the releases of each dataset and 0 more histories (110 "
        "runs)\n"
        "  note     the steps together spend 2.6, in units of the epsilon of each; pass budget= to "
        "judge the whole run\n"
        "  k  claimed  truth  verdict\n"
        "  1  1        2      violated (claim / truth = 0.5) at step 2 of 2, Noise in "
        f"around_the_median (replay_cases.py:{line + 1}), after the releases (4,)\n"
        "  1  10       10     tight at step 1 of 2, Noise in around_the_median "
        f"(replay_cases.py:{line})\n"
        "  x  (0, 4, 4)  ->  -1\n"
        "  y  (4, 4, 5)  ->  1"
    )
    facts = json.loads(json.dumps(report.to_dict()))["rows"][1]
    assert facts["history"] == [4]
    assert facts["step"].startswith("step 2 of 2, Noise in around_the_median")
    refused_with(
        lambda: report.raise_if_violated(),
        "a sensitivity of 1 is claimed at distance",
        sl.errors.SensitivityViolation,
    )


@pytest.mark.exhaustive
@given(
    st.lists(st.integers(0, 9), min_size=10, max_size=10),
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=10, max_size=10),
    st.lists(st.integers(1, 4), min_size=4, max_size=4),
)
def test_every_step_is_that_of_the_definition(first, second, claims):
    """Random tables: the second value and claim depend on the first release."""
    datasets = [[0] * zeros + [1] * ones for zeros in range(4) for ones in range(4 - zeros)]

    def steps(x, released=None):
        at = datasets.index(sorted(x))
        released = first[at] if released is None else released
        return (first[at], claims[3]), (second[at][released % 3], claims[released % 3])

    def function(x):
        at = datasets.index(sorted(x))
        released = Noise(claims[3]).randomise(first[at])
        Noise(claims[released % 3]).randomise(second[at][released % 3])

    fed = [(one,) for one in (7, 11)]
    report = audited(function, [0, 1], range(4), neighbors="unbounded", histories=fed)
    worst = [Fraction(-1), Fraction(-1)]
    for x, y in itertools.permutations(datasets, 2):
        if naive.add_or_remove(x, y) > 1:
            continue
        for history in (None, 7, 11):
            released = first[datasets.index(x)] if history is None else history
            for place, (one, two) in enumerate(
                zip(steps(x, released), steps(y, released), strict=True)
            ):
                worst[place] = max(worst[place], Fraction(abs(one[0] - two[0]), one[1]))
    assert [row.exact / Fraction(row.claimed) for row in report.rows] == worst
    assert (report.held, report.sound) == (max(worst) <= 1, False)


@pytest.mark.exhaustive
def test_a_budget_split_over_several_calls_is_kept_and_a_whole_one_each_is_not():
    """As in the mean of two columns."""

    def means(x, epsilon):
        for place in range(2):
            Noise(1, epsilon).randomise(sum(one[place] for one in x))

    records = list(itertools.product((0, 1), repeat=2))
    split = audited(lambda x: means(x, Fraction(1, 2)), records, 2, budget=1)
    assert [(row.verdict, row.exact) for row in split.rows] == [("tight", 1)] * 3
    assert split.rows[2].step == "the whole run"
    assert split.setting.endswith("; the largest loss of a whole run is 1")
    whole = audited(lambda x: means(x, 1), records, 2, budget=1)
    assert [row.verdict for row in whole.rows] == ["tight", "tight", "violated"]
    assert (whole.rows[2].claimed, whole.rows[2].exact) == (1, 2)
    # With the shares alone, each call is judged by its own claim, and the loss is told.
    shares = audited(lambda x: means(x, Fraction(1, 2)), records, 2, epsilon="epsilon")
    assert [row.verdict for row in shares.rows] == ["tight", "tight"]
    assert shares.setting.endswith("; the largest loss of a whole run is 1")
    # Without them, a note says what would tell.
    unknown = audited(lambda x: means(x, Fraction(1, 2)), records, 2)
    assert unknown.verdict == "not judged"
    assert unknown.unjudged == (
        "the steps together spend 2, in units of the epsilon of each; pass budget= to judge the "
        "whole run",
    )


@pytest.mark.parametrize(("scale", "verdict"), [(1, "not judged"), (2, "loose")])
def test_steps_of_normal_noise_add_up_in_squares(scale, verdict):
    """Both columns move by 1: by the root of 2 together, in units of a claim of 1."""

    def means(x):
        for place in range(2):
            Noise(scale).randomise(sum(one[place] for one in x))

    records = list(itertools.product((0, 1), repeat=2))
    report = audited(means, records, 2, norm="L2")
    assert report.verdict == verdict
    told = f"the steps together move by {math.sqrt(2) / scale:.4g}, in units of the claim of each; "
    told += "judge the noise of the whole run by audit_mechanism and rho="
    assert told in report.notes
    assert (told in report.unjudged) is (scale == 1)


@pytest.mark.parametrize(("one", "verdict"), [(1, "violated"), (1.0, "tight up to rounding")])
def test_a_budget_is_kept_exactly_where_nothing_is_rounded(one, verdict):
    def function(x):
        Noise(one, 1 + Fraction(1, 2**60)).randomise(sum(x))

    assert audited(function, [0, 1], 2, budget=1).rows[1].verdict == verdict


def test_no_noise_loses_everything():
    report = audited(lambda x: Noise(0).randomise(sum(x)), [0, 1], 2, budget=1)
    assert [row.verdict for row in report.rows] == ["violated", "violated"]
    assert report.rows[1].truth == math.inf
    same = audited(lambda x: Noise(0).randomise(len(x)), [0, 1], 2, budget=1)
    assert [(row.verdict, row.exact) for row in same.rows] == [("tight", 0), ("loose", 0)]


def clusters(x):
    """Counts every value that occurs: the number of releases tells which do."""
    return [Noise(1).randomise(x.count(value)) for value in sorted(set(x))]


def elsewhere(x):
    if 1 in x:
        return Noise(1).randomise(0)
    return Noise(1).randomise(0)


def test_runs_that_do_not_align_say_so():
    report = audited(clusters, [0, 1], 2, histories=0)
    assert (report.verdict, report.sound) == ("not aligned", False)
    # Fed with the releases of x, which has both values, y still counts the one that it has.
    assert report.rows[0].remark == (
        "not aligned (1 releases on x, 2 on y) over the whole run, after the releases (2,)"
    )
    assert (report.rows[0].evidence.x, report.rows[0].evidence.y) == ([0, 0], [0, 1])
    refused_with(lambda: report.raise_if_violated(), "not aligned", sl.errors.SensitivityViolation)


def test_calls_are_aligned_by_where_they_are_made():
    report = audited(elsewhere, [0, 1], 2, histories=0)
    line = elsewhere.__code__.co_firstlineno
    assert (report.verdict, report.rows[0].reason) == (
        "not aligned",
        f"step 1 is Noise in elsewhere (test_replay.py:{line + 3}) on x, "
        f"Noise in elsewhere (test_replay.py:{line + 2}) on y",
    )
    vectors = audited(lambda x: Noise(1).randomise(np.array(x)), [0, 1], (1, 2),
                      neighbors="unbounded")  # fmt: skip
    assert vectors.rows[0].reason == "step 1 has 1 numbers on x, 2 on y"
    spent = audited(lambda x: Noise(1, 1 + sum(x)).randomise(0), [0, 1], 2, budget=9)
    assert spent.rows[0].reason == "step 1 has epsilon 1 on x, 2 on y"


def test_a_local_sensitivity_is_never_tight_in_a_replay():
    def local(x):
        others = [[*x[:i], value, *x[i + 1 :]] for i in range(len(x)) for value in (0, 1, 10)]
        return max(abs(statistics.median(y) - statistics.median(x)) for y in others)

    def function(x):
        Noise(1).randomise(len(x))
        Noise(local(x)).randomise(statistics.median(x))

    report = audited(function, [0, 1, 10], 3)
    assert [row.verdict for row in report.rows] == ["loose", "data-dependent claim"]
    assert report.rows[1].claims == {"on x": 0, "on y": 10}
    assert "; the claim depends on the data" in report.setting
    assert not report.sound


def test_a_claim_that_follows_the_release_is_none_of_that():
    """The second claim differs between neighbors, but not once they have released the same."""

    def function(x):
        center = Noise(10).randomise(statistics.median(x))
        Noise(1 + abs(center)).randomise(1 if sum(x) > 12 else 0)

    of_steps = audited(function, [0, 4, 10], 3)
    assert {row.verdict for row in of_steps.rows} <= {"tight", "loose"}

    def second(x):
        Noise(1 + abs(statistics.median(x))).randomise(1 if sum(x) > 12 else 0)

    assert audited(second, [0, 4, 10], 3).verdict == "data-dependent claim"


def test_a_claim_must_hold_for_every_history():
    """Wrong for releases between the true values, 0 and 10: found by drawn and by own ones."""

    def function(x):
        released = Noise(10).randomise(x[0])
        Noise(1 if 1 < released < 9 else 10).randomise(x[0])

    options = {"universe": [0, 10], "size": 1}
    assert {row.verdict for row in audited(function, histories=0, **options).rows} == {"tight"}
    for histories in (3, [(5,)]):
        report = audited(function, histories=histories, **options)
        (row,) = [row for row in report.rows if row.verdict == "violated"]
        assert (row.claimed, row.exact) == (1, 10)
        assert 1 < row.history[0] < 9
    repeated = audited(function, histories=3, **options)
    assert repr(repeated) == repr(audited(function, histories=3, **options))


@pytest.fixture
def once_again(monkeypatch):
    """Each dataset is run once more, to look for chance, and no witness is."""
    monkeypatch.setattr(replay, "LEAST_AGAIN", 0)
    monkeypatch.setattr(replay, "EVIDENCE_AGAIN", 0)


@pytest.mark.usefixtures("once_again")
def test_datasets_that_release_the_same_share_their_runs():
    """Three histories for five datasets: a run for each neighbor and itself, and no more."""
    called = []

    def function(x):
        called.append(tuple(x))
        Noise(1).randomise(min(sum(x), 2))
        Noise(1).randomise(0)

    report = audited(function, [0, 1], 4, histories=0)
    # First runs on 0 to 4 ones; with release 0: on 0, 1; with 1: on 0, 1, 2; with 2: on 1 to 4.
    assert len(called) == 2 * 5 + 2 + 3 + 4 + 5  # which hand their releases on
    assert "0 more histories (14 runs)" in report.setting


@pytest.mark.usefixtures("once_again")
def test_a_single_call_is_fed_few_releases():
    """Nothing is decided after it, unless by the type of what stands for a release."""
    called = []

    def function(x):
        called.append(tuple(x))
        Noise(1).randomise(sum(x))

    report = audited(function, [0, 1], 2)
    assert (report.verdict, len(report.rows), report.rows[0].step) == ("tight", 1, "")
    assert report.setting.endswith("; implementation")
    assert len(called) == 5 * 3


@pytest.mark.exhaustive
def test_histories_are_drawn_where_all_runs_make_the_same_step():
    """Around the true values, 0, and in both tails; whole where the mechanism's noise is."""
    seen = []

    def function(x):
        whole = Noise(9).randomise(sum(x))
        real = Noise(9).randomise(np.array([0.5 * len(x), 1.0]))
        last = Noise(9).randomise(-1) if 1 in x else Noise(9).randomise(-2)
        seen.append((whole, real.tolist(), last))

    audited(function, [0, 1], (2, 4), histories=20)
    drawn = [one for one in seen if one[1] not in ([1.0, 1.0], [2.0, 1.0])]
    assert len(drawn) > 20
    assert {type(whole) for whole, _, _ in drawn} == {int}
    assert min(whole for whole, _, _ in drawn) < -30 < 30 < max(whole for whole, _, _ in drawn)
    assert min(real[1] for _, real, _ in drawn) < -30 < 30 < max(real[1] for _, real, _ in drawn)
    assert {0} < {whole for whole, _, _ in drawn if 0 <= whole <= 4}
    assert any(1 < real[0] < 2 and real[1] == 1 for _, real, _ in drawn)


def test_what_a_function_does_to_a_release_leaves_the_record_alone():
    def function(x):
        mine = np.array(x)
        noisy = Noise(1).randomise(mine)
        noisy *= 100
        mine *= 100

    report = audited(function, [0, 1], 2)
    assert report.verdict == "holds if post-processed"
    assert [row.verdict for row in report.rows] == ["tight"]


class Truncated(Noise):
    """Releases numbers between two ends."""

    def __init__(self, sensitivity, lower, upper):
        super().__init__(sensitivity)
        self.lower, self.upper = lower, upper


def test_ends_that_depend_on_the_data_do_not_align():
    """A release beyond the ends of a neighbor tells the two apart."""

    def mean(x, ends=None):
        return Truncated(1, *(ends or (min(x), max(x)))).randomise(sum(x) / len(x))

    given = {"universe": (0, 1, 2), "size": 2, "every_order": False}
    report = audited(mean, **given)
    assert report.verdict == "not aligned"
    assert report.decisive.reason == "step 1 has the ends (0, 0) on x, (0, 1) on y"
    assert audited(lambda x: mean(x, (0, 2)), **given).verdict == "tight"
    assert audited(lambda x: mean(x, (0, 2.0) if 0 in x else (0, 2)), **given).verdict == "tight"


def test_a_budget_without_end_is_never_spent():
    report = audited(around_the_median, histories=0, budget=math.inf, epsilon=lambda _: 1)
    assert (report.rows[2].claimed, report.rows[2].verdict) == (math.inf, "loose")
