"""What a replay refuses, and how it says so."""

from __future__ import annotations

import math
import random

import pytest
from checks import refused
from replay_cases import Noise, around_the_median, audited

import sensitivity_lab as sl
from sensitivity_lab.audits import replay
from sensitivity_lab.audits.maps import RANDOM


def test_randomness_beside_the_mechanisms_is_an_error():
    source = random.Random(1)
    refused(
        lambda: audited(lambda _: Noise(1).randomise(source.random()), [0, 1], 1),
        "two runs on [1] with the same releases differ, so the function draws at random outside "
        "the recorded mechanisms, or keeps state between runs; fix its seed, name all of its "
        "mechanisms, pass fresh=True for what is kept, or audit the part before the noise by "
        f"{RANDOM}",
        sl.errors.QueryError,
    )


def test_too_many_runs_are_refused(monkeypatch):
    monkeypatch.setattr(replay, "RUN_LIMIT", 8)
    refused(
        lambda: audited(
            lambda x: [Noise(1).randomise(sum(x)) for _ in "12"], [0, 1], 4, histories=[(0,)]
        ),
        "5 datasets make 13 runs with the releases of others, more than the 8 that are replayed; "
        "take fewer values, smaller sizes or every_order=False",
        sl.errors.TooLargeError,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 1, "norm": "L2"}, "budget adds losses of noise for norm 'L1' or 'Linf', got "
         "norm 'L2'"),
        ({"budget": -1}, "budget must be a number that is not negative, got -1"),
        ({"histories": [3]}, "histories must be a number of histories to draw, or lists of "
         "releases, got [3]"),
        ({"histories": -1},
         "histories must be a whole number (a number of histories to draw, at least 0), got -1, "
         "below 0"),
    ],
)  # fmt: skip
def test_arguments_that_are_not_accepted(options, message):
    refused(lambda: audited(around_the_median, **options), message)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "much"])
def test_a_share_of_the_budget_must_be_a_number_above_0(epsilon):
    refused(
        lambda: audited(lambda x: Noise(1, epsilon).randomise(sum(x)), budget=1),
        f"the epsilon of Noise must be a finite number above 0, got {epsilon!r}",
        sl.errors.QueryError,
    )


def test_an_error_after_a_history_names_it():
    def function(x):
        released = Noise(10).randomise(x[0])
        Noise(1).randomise(1 / released)

    refused(
        lambda: audited(function, [1, 2], 1, histories=[(0,)]),
        "[1] after the releases (0,) raised ZeroDivisionError: division by zero",
        sl.errors.QueryError,
    )
