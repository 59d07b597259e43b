"""Chance before the mechanism, promises at a distance, and an epsilon that changes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from checks import refused_with
from replay_cases import Noise, around_the_median, audited

import sensitivity_lab as sl

pytestmark = pytest.mark.usefixtures("few_histories")

NOISE = np.random.default_rng()


def sampled_sum(x):
    """Right by coupling: two of the records, drawn at random."""
    return Noise(10).randomise(sum(random.sample(x, 2)))


def sometimes(x):
    """Rarely another claim."""
    return Noise(10 if random.random() < 0.8 else 20).randomise(sum(x))


def coin(x):
    """Sometimes a step more."""
    if random.random() < 0.5:
        Noise(10).randomise(sum(x))
    return Noise(10).randomise(sum(x))


CHANCE = {
    "a sample of the records": sampled_sum,
    "dither": lambda x: Noise(10).randomise(sum(x) + random.random() * 0.001),
    "a claim": sometimes,
    "a step": coin,
}


@pytest.mark.parametrize("options", [{}, {"budget": 1}])
@pytest.mark.parametrize("case", CHANCE)
def test_chance_before_the_mechanism_is_refused_however_it_falls(case, options):
    for seed in range(8):
        random.seed(seed)
        with pytest.raises(
            sl.errors.QueryError, match=r"random outside.*or audit.*by sl\.audit\(.*, choices=400\)"
        ):
            audited(CHANCE[case], [0, 10], every_order=True, **options)


def test_a_seed_of_its_own_is_no_chance():
    def seeded(x):
        return Noise(10).randomise(sum(random.Random(3).sample(x, 2)))

    assert audited(seeded, [0, 10]).verdict == "tight"


def test_chance_on_few_of_many_datasets_is_seen_where_it_makes_the_verdict():
    """Only one dataset is random: each one is run again, and a witness more often."""

    def rare(x):
        return Noise(1).randomise(sum(x) + (random.random() if sum(x) == 40 else 0))

    for seed in range(4):
        random.seed(seed)
        with pytest.raises(sl.errors.QueryError, match="two runs on "):
            audited(rare, [0, 1], 40, every_order=False)


def test_at_a_distance_of_2_a_budget_counts_once_and_a_claim_twice():
    def total(x):
        return Noise(10).randomise(sum(x))

    plain = audited(total, [0, 10], neighbors=sl.Bounded(2))
    assert [(row.claimed, row.exact, row.verdict) for row in plain.rows] == [(20, 20, "tight")]
    assert plain.notes == (
        "a claim is for k = 1, and counts 2 times: at this distance each step may lose 2 times its "
        "epsilon; pass budget= for what a run may lose between these neighbors",
    )
    judged = audited(total, [0, 10], neighbors=sl.Bounded(2), budget=1)
    assert [(row.claimed, row.exact, row.verdict) for row in judged.rows] == [
        (20, 20, "tight"),
        (1, 2, "violated"),
    ]
    assert "the budget is what the run may lose between these neighbors" in judged.notes[0]
    enough = audited(total, [0, 10], neighbors=sl.Bounded(2), budget=2)
    assert [row.verdict for row in enough.rows] == ["tight", "tight"]
    assert audited(total, [0, 10], budget=1).notes == ()


@pytest.mark.exhaustive
def test_an_epsilon_that_changes_with_the_data_is_noted():
    def hidden(x):
        return Noise(10, 1 + max(x)).randomise(sum(x))

    (note,) = audited(hidden, [0, 10]).notes
    assert note.startswith("the epsilon of Noise in hidden (test_again.py:")
    assert note.endswith(
        " changes with the data, and is not compared; pass budget= or epsilon= to compare it"
    )
    assert audited(hidden, [0, 10], epsilon="epsilon").verdict == "not aligned"
    assert audited(lambda x: Noise(10, 1 / len(x)).randomise(sum(x)), [0, 10], (1, 2)).notes == ()
    sizes = {"neighbors": "unbounded"}
    (note,) = audited(lambda x: Noise(9, 1 / len(x)).randomise(0), [0, 10], (1, 2), **sizes).notes
    assert "changes with the data" in note
    assert "epsilon" not in " ".join(audited(around_the_median).notes[1:])


def test_a_mechanism_without_an_epsilon_or_with_any_other_is_audited():
    class Strict(Noise):
        @property
        def epsilon(self):
            raise RuntimeError("not fitted")

        @epsilon.setter
        def epsilon(self, _):
            pass

    for epsilon in (None, "much", 0, np.array([1, 2])):
        assert audited(lambda x, e=epsilon: Noise(10, e).randomise(sum(x)), [0, 10]).notes == ()
    assert audited(lambda x: Strict(10).randomise(sum(x)), [0, 10]).verdict == "tight"


def add_noise(value, eps, sens=10):
    raise NotImplementedError


HELD = {"noise": add_noise}


def test_a_function_that_lacks_the_parameter_is_named():
    def total(x):
        return add_noise(sum(x), 1)

    given = {"neighbors": "bounded"}
    for option, sought in [
        ({}, "sensitivity"),
        ({"sensitivity": "sens", "value": "answer"}, "answer"),
        ({"sensitivity": "sens", "budget": 1}, "epsilon"),
    ]:
        for target in (add_noise, f"{__name__}.add_noise"):
            with pytest.raises(sl.errors.InputError) as caught:
                sl.audits.audit_recorded(total, [0, 10], 2, target, **given, **option)
            name = "value" if sought == "answer" else sought
            assert str(caught.value) == (
                f"{name} must name a parameter of add_noise(value, eps, sens=10), got {sought!r}; "
                f"pass {name}= with its name, or with a function of the dict of arguments"
            )
    named = {"sensitivity": "sens", "epsilon": "eps"}
    assert (
        sl.audits.audit_recorded(total, [0, 10], 2, add_noise, **given, **named).verdict == "tight"
    )


def test_a_mechanism_in_a_dict_is_not_replaced():
    def total(x):
        try:
            HELD["noise"](sum(x), 1)
        except NotImplementedError:
            return

    refused_with(
        lambda: sl.audits.audit_recorded(
            total, [0, 1], 2, add_noise, neighbors="bounded", sensitivity="sens"
        ),
        "elsewhere than in a module, as in a dict",
        sl.errors.QueryError,
    )


def test_what_is_kept_from_one_run_to_the_next_is_found():
    """A larger answer after a dataset with one record more: forward there is none."""
    last = [None]

    def remembering(x):
        before, last[0] = last[0], len(x)
        return Noise(10).randomise(sum(x) + (50 if before == len(x) + 1 else 0))

    refused_with(
        lambda: audited(remembering, [10], [1, 2, 3], neighbors="unbounded"),
        "or keeps state between runs",
        sl.errors.QueryError,
    )
