"""What is returned beside the releases: data without noise, and what is no such thing."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from replay_cases import Noise, around_the_median, audited

import sensitivity_lab as sl
from sensitivity_lab.audits import replay
from sensitivity_lab.audits.replay import NOT_AGAIN
from sensitivity_lab.audits.returned import parts

pytestmark = pytest.mark.usefixtures("few_histories")


@dataclasses.dataclass
class Fitted:
    """A model whose equality is that of its fields, and that has no hash."""

    center: float
    labels: list[int]


@dataclasses.dataclass
class Debugged:
    """A result with a field that its equality does not heed."""

    noisy: float
    rest: object = dataclasses.field(default=None, compare=False)


def with_attributes(noisy, rest):
    column = pd.Series([noisy])
    column.attrs["rest"] = rest
    return column


class Model:
    """A model of which Python knows only whether it is the same one."""

    def __init__(self, center):
        self.center = center


def median(x):
    return Noise(10).randomise(sorted(x)[len(x) // 2])


def once(change):
    """One release, and something made of it and of the data."""
    return lambda x: change(median(x), x)


def twice(change):
    """A release that steers the next one, so that the audit replays."""
    return lambda x: change(around_the_median(x), x)


LEAKS = {
    "a number beside it": lambda noisy, x: (noisy, max(x)),
    "in the answer": lambda noisy, x: noisy + max(x),
    "its scale": lambda noisy, x: noisy / (1 + max(x)),
    "an array": lambda noisy, x: np.array([noisy, *sorted(x)]),
    "another length": lambda noisy, x: [noisy] * len(set(x)),
    "a mapping's names": lambda noisy, x: {max(x): noisy},
    "deep inside": lambda noisy, x: {"answers": [(noisy, {"rest": np.array([[max(x)]])})]},
    "a table": lambda noisy, x: pd.DataFrame({"noisy": [noisy], "largest": [max(x)]}),
    "a column": lambda noisy, x: pd.Series([noisy, max(x)]),
    "the columns": lambda noisy, x: pd.DataFrame({str(max(x)): [noisy]}),
    "fields": lambda noisy, x: Fitted(noisy, sorted(x)),
    "a set": lambda noisy, x: {noisy, max(x) + 0.5},
    "a text": lambda noisy, x: f"{noisy}, {max(x)}",
    "nothing or something": lambda noisy, x: noisy if max(x) > 4 else None,
    "not a number": lambda noisy, x: [noisy, math.nan if max(x) > 4 else 0.0],
    "beside chance": lambda noisy, x: (random.random(), noisy, max(x), object()),
    "minus 0": lambda noisy, x: (noisy, -0.0 if max(x) > 4 else 0.0),
    "a list or a tuple": lambda noisy, x: [noisy] if max(x) > 4 else (noisy,),
    "an int or a bool": lambda noisy, x: (noisy, max(x) > 4 or 0, True if max(x) > 4 else 1),
    "an int or a float": lambda noisy, x: (noisy, 1.0 if max(x) > 4 else 1),
    "a smaller float": lambda noisy, x: (noisy, np.float32(1) if max(x) > 4 else np.float64(1)),
    "a dtype": lambda _, x: np.array([1], dtype=np.int8 if max(x) > 4 else np.int64),
    "an order of names": lambda noisy, x: {
        name: noisy for name, _ in Counter([*x, 0, 4, 5, 10]).most_common()
    },
    "a field without equality": lambda noisy, x: Debugged(noisy, max(x)),
    "categories": lambda noisy, x: (noisy, pd.Categorical(["a"], categories=["a", f"m{max(x)}"])),
    "categories of a column": lambda noisy, x: pd.DataFrame(
        {"noisy": [noisy], "of": pd.Categorical(["a"], categories=["a", f"m{max(x)}"])}
    ),
    "categories of an index": lambda noisy, x: pd.Series(
        [noisy], index=pd.CategoricalIndex(["a"], categories=["a", f"m{max(x)}"])
    ),
    "levels of an index": lambda noisy, x: pd.Series(
        [noisy], index=pd.MultiIndex([["a", f"m{max(x)}"], ["b"]], [[0], [0]])
    ),
    "a column's name": lambda noisy, x: pd.Series([noisy], name=f"of {max(x)}"),
    "the name of an index": lambda noisy, x: pd.Series([noisy]).rename_axis(f"of {max(x)}"),
    "attributes": lambda noisy, x: with_attributes(noisy, max(x)),
    "the dtype of a column": lambda noisy, x: pd.Series(
        [round(noisy)], dtype="Int64" if max(x) > 4 else "int64"
    ),
}


@pytest.mark.representative("case")
@pytest.mark.representative("steps")
@pytest.mark.parametrize("steps", [once, twice])
@pytest.mark.parametrize("case", LEAKS)
def test_data_in_what_is_returned_is_a_violation(case, steps):
    """After one release and after several, whatever it is wrapped in."""
    function = steps(LEAKS[case])
    report = audited(function, histories=0)
    others = {row.verdict for row in report.rows if row is not report.decisive}
    assert others == {"tight"}
    row = report.decisive
    assert (row.verdict, row.step, row.truth) == ("violated", "the return value", math.inf)
    x, y = row.evidence.x, row.evidence.y
    assert len(list((Counter(x) - Counter(y)).elements())) == 1
    assert ("chance" in " ".join(report.notes)) == (case == "beside chance")
    refused_with(
        lambda: report.raise_if_violated(),
        "no noise hides what is returned: violated",
        sl.errors.SensitivityViolation,
    )


SOUND = {
    "nothing": lambda *_: None,
    "the release": lambda noisy, _: noisy,
    "made of the release": lambda noisy, _: {"rounded": np.round(noisy), "clipped": [noisy, "ok"]},
    "the size": lambda noisy, x: (noisy, len(x)),
    "not a number": lambda noisy, x: (noisy, math.nan, np.array([np.nan, len(x)])),
    "an empty table": lambda noisy, _: pd.DataFrame({"noisy": [noisy, None]}),
    "a set": lambda noisy, x: {str(len(x)), "b", noisy},
    "fields": lambda noisy, x: Fitted(noisy, [len(x)]),
    "minus 0": lambda noisy, _: (noisy, -0.0 * (noisy * 0 + 1)),
    "names in an order": lambda noisy, _: {"noisy": noisy, "a": 1},
    "categories": lambda noisy, _: (noisy, pd.Categorical(["a"], categories=["a", "b"])),
}


@pytest.mark.representative("case", quick=())
@pytest.mark.parametrize("steps", [once, twice])
@pytest.mark.parametrize("case", SOUND)
def test_what_is_made_of_releases_is_none_of_that(case, steps):
    report = audited(steps(SOUND[case]), histories=1)
    assert all(row.verdict in ("tight", "loose") for row in report.rows)
    assert not any("return" in note for note in report.notes)


CHANCE = {
    "a number": lambda noisy, x: (noisy, random.random() + max(x)),
    "rounded at random": lambda noisy, _: math.floor(noisy + 2 * random.random()),
    "a coin": lambda *_: random.random() < 0.5,
    "an object without an equality": lambda noisy, x: Model(noisy + max(x)),
    "what is still to come": lambda _, x: iter(x),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CHANCE)
def test_chance_is_not_compared_and_the_report_says_so(case):
    for seed in range(5):
        random.seed(seed)
        report = audited(once(CHANCE[case]))
        assert (report.verdict, report.sound, len(report.rows)) == ("not judged", False, 1)
        assert (
            report.unjudged
            == report.notes
            == (
                "some of what is returned differs between two runs with the same data and releases "
                "(chance, or an object without an equality), and is not compared",
            )
        )
        assert report.notes[0] in " ".join(repr(report).split())


def test_the_report_of_a_leak():
    report = audited(once(lambda noisy, x: (noisy, max(x))), [0, 1], 2, neighbors="bounded")
    assert json.loads(json.dumps(report.to_dict()))["notes"] == list(report.notes)
    assert repr(report) == (
        f"Audit of <lambda> (test_returned.py:{once.__code__.co_firstlineno + 2}): violated\n"
        "  setting  bounded, at most 1; norm L1; values (0, 1), sizes (2,) in one order; "
        "implementation\n"
        "  note     what is returned is compared after equal releases; if a mechanism or a sampler "
        "that is not recorded draws noise with a fixed seed, name it too\n"
        "  k  claimed  truth  verdict\n"
        "  1  none     inf    violated (the return value depends on the data besides the "
        "releases), after the releases (0,)\n"
        "  1  10       1      loose (claim / truth = 10)\n"
        "  x  (0, 0)  ->  (0, 0)\n"
        "  y  (0, 1)  ->  (0, 1)"
    )


def test_a_leak_is_only_between_neighbors():
    """The size is released: to neighbors of one size it says nothing."""
    function = once(lambda noisy, x: (noisy, len(x)))
    assert audited(function, [0, 1], (1, 2, 3)).sound
    report = audited(function, [0, 1], (1, 2, 3), neighbors="unbounded")
    row = report.decisive
    assert (row.step, abs(len(row.evidence.x) - len(row.evidence.y))) == ("the return value", 1)


def test_a_function_may_fail_after_releases_that_it_has_never_made():
    def picky(x):
        noisy = Noise(1).randomise(sum(x))
        if noisy != sum(x):
            raise ArithmeticError("what is this")
        return noisy

    report = audited(picky, [0, 2], 1)
    assert (report.rows[0].verdict, report.rows[0].exact) == ("violated", 2)
    assert report.notes == (NOT_ALL,)


NOT_ALL = (
    "what is returned is not compared on all neighbors: some runs make other calls than others, or "
    "fail, after the same releases"
)


def test_a_function_that_keeps_its_answers_is_no_leak():
    """Its second run on a dataset calls no mechanism, and returns the true value of the first."""
    kept = {}

    def function(x):
        if tuple(x) not in kept:
            kept[tuple(x)] = Noise(4).randomise(sum(x))
        return kept[tuple(x)]

    report = audited(function, [0, 4], 2)
    assert (report.verdict, report.sound) == ("not judged", False)
    assert report.unjudged == report.notes == (NOT_ALL, NOT_AGAIN)


def test_other_calls_are_not_compared():
    def function(x):
        if 1 in x:
            return Noise(1).randomise(1)
        return Noise(1).randomise(0)

    assert audited(function, [0, 1], 1).notes == (NOT_ALL,)


def test_what_is_returned_is_compared_in_three_more_runs_on_each_dataset(monkeypatch):
    """Beside the one that looks for chance: one with what stands for releases, two with numbers."""
    monkeypatch.setattr(replay, "LEAST_AGAIN", 0)
    monkeypatch.setattr(replay, "EVIDENCE_AGAIN", 0)
    called = []

    def function(x):
        called.append(tuple(x))
        return Noise(3).randomise(sum(x))

    assert audited(function, [0, 1], 4).sound
    assert sorted(called) == sorted([tuple(x) for x in ones(4)] * 5)  # and no more


BRANCHES = {
    "below 0": lambda v, x: sum(x) if v < 0 else v,
    "from 0 on": lambda v, x: sum(x) if v >= 0 else v,
    "at 0": lambda v, x: sum(x) if v == 0 else v,
    "above all": lambda v, x: sum(x) if v > 2.5 else v,
    "far out": lambda v, x: sum(x) if v > 25 else v,
    "far below": lambda v, x: sum(x) if v < -25 else v,
    "another length": lambda v, x: len(x) if v < 0 else v,
    "whole": lambda v, x: sum(x) if v == int(v) else v,
    "clipped by the data": lambda v, x: min(max(v, 0), len(x) + 1),
    "a text": lambda v, x: f"{v:.2f}" if v > -1 else f"{sum(x)}",
    "a second look": lambda v, x: [v, max(x)] if abs(v) > 3 else [v, 1],
    "an error": lambda v, x: [v][sum(x) if v < 0 else 0],
    "caught": lambda v, x: caught(v, x),
    "by its type": lambda v, x: sum(x) if isinstance(v, int | float) and v < -2 else v,
    "by a function in C": lambda v, x: sum(x) if math.exp(min(v, 9)) > 40 else v,
    "by NumPy": lambda v, x: [v, *np.maximum(np.sort([v]), -sum(x))],
}


def caught(v, x):
    try:
        return sum(x) if v > 3 else v
    except:  # noqa: E722
        return v


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("case", BRANCHES)
def test_a_branch_beside_the_true_values_is_never_sound(case, number):
    """Releases lie around all true values and in both tails, not only between them."""

    def function(x):
        released = [Noise(1, Fraction(1, number)).randomise(sum(x)) for _ in range(number)]
        return BRANCHES[case](released[-1], x)

    report = audited(function, [0, 1], [1, 2], neighbors="unbounded", budget=1)
    assert not report.sound
    assert report.verdict == ("not judged" if case == "an error" else "violated")


KEPT = {
    "as it is": (lambda v, _: v, True),
    "among others": (lambda v, _: {"noisy": [v, v], "of": ("sum", None)}, True),
    "rounded": (lambda v, _: round(v, 2), False),
    "a text": (lambda v, _: f"{v}", False),
    "looked at": (lambda v, _: v if isinstance(v, (int, float)) else None, False),
    "clipped": (lambda v, _: max(v, 0), False),
    "a key": (lambda v, _: {v: 1}, False),
    "compared": (lambda v, _: v > 3, False),
}


@pytest.mark.parametrize("case", KEPT)
def test_only_what_hands_releases_on_is_proved(case):
    made, sound = KEPT[case]
    report = audited(
        lambda x: made(Noise(1).randomise(sum(x)), x), [0, 1], [1, 2], neighbors="unbounded"
    )
    assert (report.sound, report.held) == (sound, True)
    assert report.verdict == ("tight" if sound else "holds if post-processed")
    told = (
        "what is done with releases was the same on neighbors after {0} drawn or given histories; "
        "what happens once in {0} may escape them"
    )
    assert report.assumed == (() if sound else (told.format(40),))
    report.raise_if_violated()


def test_a_mechanism_may_say_what_it_releases():
    """Beyond its ends there is no release, so nothing is violated there."""

    class Between(Noise):
        lower, upper = 0, 3

    def root(x):
        v = Between(1).randomise(sum(x))
        return sum(x) if v < 0 or v > 3 else math.sqrt(v)

    report = sl.audits.audit_recorded(root, [0, 1], [1, 2], Between, neighbors="unbounded")
    assert report.verdict == "holds if post-processed"


def ones(n):
    return [(0,) * (n - one) + (1,) * one for one in range(n + 1)]


def test_noise_around_0_that_is_added_to_an_answer_is_the_wrong_thing():
    """What the mechanism gets is not the answer, so that no verdict follows."""

    def added(x):
        return sum(x) + Noise(1).randomise(0)

    refused(
        lambda: audited(added, [0, 1], 2),
        f"what reaches Noise in added (test_returned.py:{added.__code__.co_firstlineno + 1}) is 0 "
        "on every dataset, and what is returned depends on the data and moves with the noise: the "
        "noise is added to an answer that was not recorded; give a mechanism that takes the answer,"
        " or audit the draws by audit_mechanism",
        sl.errors.QueryError,
    )
    # A constant that is an answer, and data that its noise does not touch.
    counted = audited(lambda x: (Noise(1).randomise(len(x)), sum(x)), [0, 1], 2)
    assert counted.decisive.step == "the return value"


def test_parts_are_equal_where_values_are():
    alike = [
        ([1, 2.0], [1.0, 2]),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        ({"a": 1, "b": {2, 3}}, {"a": 1, "b": {3, 2}}),
        (math.nan, np.float32("nan")),
        (Fraction(1, 2), 0.5),
        (pd.Series([1, None]), pd.Series([1, None])),
        (Fitted(1, [2]), Fitted(1, [2])),
    ]
    for one, two in alike:
        assert parts(one) == parts(two)
    apart = [one for one, _ in alike] + [[1, 2, 3], np.array([[1, 2]]), "a", None, Model(1)]
    for one, two in itertools.combinations(apart, 2):
        assert parts(one) != parts(two)
    for one in apart[:7]:
        assert parts(one, typed=True) == parts(copy.deepcopy(one), typed=True)
    for one, two in [alike[0], alike[1], alike[3], alike[4], (0.0, -0.0), (1, True)]:
        assert parts(one, typed=True) != parts(two, typed=True)
    assert parts(Model(1)) != parts(Model(1))
    endless = []
    endless.append(endless)
    assert parts(endless) != parts([])


def test_what_the_steps_spend_together_is_told():
    """Three steps, each with the whole epsilon, and no budget to judge them by."""

    def spends(x):
        center = Noise(10).randomise(sum(x))
        for _ in range(2):
            Noise(2 + 0 * center).randomise(sum(x))

    report = audited(spends, [0, 2], 2)
    assert {row.verdict for row in report.rows} == {"loose", "tight"}
    assert (report.verdict, report.sound, report.unjudged) == ("not judged", False, report.notes)
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        report.raise_if_violated()
    assert str(caught.value).startswith(
        "spends: not judged, since the steps together spend 2.2, in units of the epsilon of each; "
        "pass budget= to judge the whole run\nspends: a sensitivity of 10 is claimed"
    )
    told = "the steps together spend 2.2, in units of the epsilon of each; pass budget= to judge"
    assert report.notes == (f"{told} the whole run",)
    known = audited(spends, [0, 2], 2, epsilon=lambda _: Fraction(1, 2))
    assert known.notes == ("the steps together spend 11/10; pass budget= to judge the whole run",)
    judged = audited(spends, [0, 2], 2, budget=1)
    assert (judged.verdict, judged.notes) == ("violated", ())
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        judged.raise_if_violated()
    assert str(caught.value).startswith(
        "spends: the whole run may spend 1, it spends 11/5 = 2.2: violated (claim / truth = "
    )
    single = audited(lambda x: Noise(2).randomise(sum(x)), [0, 2], 2)
    assert single.notes == ()


def test_what_stands_for_a_release_is_not_the_only_one_that_is_tried():
    """Code that asks for the type of a release does nothing with it, and sees what it gets."""
    report = audited(lambda x: once(lambda noisy, x: type(noisy) is int and max(x))(x))
    assert (report.verdict, report.decisive.step) == ("violated", "the return value")
