"""Randomness that does not come from the generator that a function gets."""

from __future__ import annotations

import os
import random
import secrets
import tempfile
import threading
import time
import uuid
from collections import Counter

import numpy as np
import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven import runs

pytestmark = pytest.mark.usefixtures("few_runs")

HIDDEN = os.urandom
"""The function itself, as code in another language has it: nothing watches what it returns."""

AUDITS = 30
"""Two runs on each of two datasets agree by chance in more than every third of the audits."""


def judge(function, **arguments):
    given = {"epsilon": 1.1, "neighbors": "bounded"} | arguments
    return audit_mechanism(function, [0, 1], 1, **given)


def refusals(function, **arguments):
    """Return what many audits say, without the dataset that they name."""
    found = Counter()
    for _ in range(AUDITS):
        try:
            found[judge(function, **arguments).verdict] += 1
        except sl.errors.QueryError as error:
            found[str(error).replace("on [1]", "on [0]")] += 1
    return found


def by_chance(draw):
    """Return randomized response; `draw` returns whether the answer is the true one."""

    def respond(data, _):
        return data[0] if draw() else 1 - data[0]

    return respond


OWN = "random.SystemRandom, secrets, or a generator without a seed"


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda: os.urandom(1)[0] < 192, "os.urandom"),
        (lambda: secrets.randbelow(4), OWN),
        (lambda: secrets.token_bytes(1)[0] < 192, OWN),
        (lambda: random.SystemRandom().random() < 0.75, OWN),
        (lambda: random.Random().random() < 0.75, "random.Random()"),
        (lambda: np.random.Generator(np.random.PCG64()).random() < 0.75, OWN),
        (lambda: uuid.uuid4().int % 4, "uuid.uuid4"),
    ],
)
def test_randomness_of_the_operating_system_is_always_refused(draw, name):
    found = refusals(by_chance(draw))
    assert found == {
        f"the function draws from a generator of its own ({name}). Take the generator as the "
        "second argument:\n    def function(data, rng):\nand draw from it, as in\n    noise = "
        "rng.laplace(0, scale)": AUDITS
    }
    assert random.Random().random() < 1
    assert len(secrets.token_bytes(3)) == 3  # all are back


def test_a_seed_and_a_temporary_file_are_no_randomness():
    def respond(data, rng):
        with tempfile.TemporaryDirectory():
            order = random.Random(5).sample(data, len(data))
        return order[0] if rng.random() < 0.75 else 1 - order[0]

    assert judge(respond).verdict == "loose"


def test_other_threads_may_draw():
    drawn, ended = [], threading.Event()

    def draws():
        while not ended.is_set():
            drawn.append(os.urandom(1))
            time.sleep(0.0001)

    def respond(data, rng):
        before = len(drawn)
        while len(drawn) == before:
            time.sleep(0.0001)
        return data[0] if rng.random() < 0.75 else 1 - data[0]

    other = threading.Thread(target=draws)
    other.start()
    try:
        with pytest.raises(sl.errors.QueryError) as caught:
            judge(by_chance(lambda: os.urandom(1)[0] < 192))
        assert "(os.urandom)" in str(caught.value)
        assert judge(lambda data, rng: respond(data, rng)).verdict == "loose"
    finally:
        ended.set()
        other.join()


STATE = (
    "the function is not a function of data and draws: on [0], the same draws led to two "
    "releases. It keeps state between calls, or draws from a generator of its own: draw from rng, "
    "and make what is kept anew in every call, or pass fresh=True, which judges first calls"
)


def often():
    return HIDDEN(1)[0] < 192


def nearly_always():
    return HIDDEN(1)[0] < 254


def after_a_draw(data, rng):
    told = data[0] if rng.random() < 0.75 else 1 - data[0]
    return told if often() else 1 - told


def on_one_dataset(data, rng):
    """Draws from the generator on one dataset only, and from elsewhere on the other."""
    if data[0]:
        return int(rng.random() < 0.75)
    return int(not often())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "function", [by_chance(often), by_chance(nearly_always), after_a_draw, on_one_dataset]
)
def test_hidden_randomness_is_not_judged_by_chance(function):
    assert refusals(function) == {STATE: AUDITS}


def test_hidden_randomness_beside_a_draw_is_not_taken_for_rounding():
    def beside(data, rng):
        return data[0] + rng.integers(3), often()

    assert refusals(beside) == {STATE: AUDITS}


def test_hidden_randomness_of_opendp_is_not_judged_by_chance():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    bit = dp.m.make_randomized_response_bool(prob=0.75)

    def respond(data, _):
        return bit(bool(data[0]))

    assert refusals(respond) == {STATE: AUDITS}


@pytest.mark.exhaustive
def test_hidden_randomness_in_fresh_processes_is_refused():
    for function in (by_chance(often), after_a_draw):
        with pytest.raises(sl.errors.QueryError, match="the same draws led to two releases"):
            judge(function, fresh=True)


class Budget:
    """Answers two queries, and no more."""

    def __init__(self):
        self.left = 2

    def release(self, data, rng):
        self.left -= 1
        if self.left < 0:
            raise ValueError("the budget is spent")
        return data[0] + rng.laplace()


@pytest.mark.stress
def test_repeats_in_a_fresh_process_are_first_calls():
    report = judge(Budget().release, fresh=True)
    assert report.verdict == "loose"


@pytest.mark.exhaustive
def test_what_cannot_be_sent_to_a_fresh_process_is_told():
    lock = threading.Lock()

    def locked(data, rng):
        with lock:
            return data[0] + rng.laplace()

    refused_with(lambda: judge(locked, fresh=True), "fresh=True sends the function to other proc")


@pytest.mark.exhaustive
def test_a_function_without_draws_is_repeated_and_judged(monkeypatch):
    monkeypatch.setattr(runs, "RERUN_SECONDS", 60)  # also on a busy machine
    calls = Counter()

    def exact(data, _):
        calls[tuple(data)] += 1
        return data[0]

    report = judge(exact)
    assert (report.verdict, report.rows[0].value) == ("violated", float("inf"))
    # Twice to find the law, and then as often as it takes for both datasets together.
    assert calls == dict.fromkeys([(0,), (1,)], 2 + runs.RERUNS_WITHOUT_DRAWS // 2)


def test_repeats_of_slow_code_end(monkeypatch):
    monkeypatch.setattr(runs, "RERUN_SECONDS", 0)
    calls = []

    def exact(data, _):
        calls.append(data)
        return data[0]

    judge(exact)
    assert len(calls) == 4 + runs.LEAST_RERUNS


def test_pythons_choice_hands_out_its_options():
    """NumPy makes one array of them: the text "1" and the number were one option."""
    choose = {"neighbors": "bounded", "epsilon": 1, "generator": "Random"}
    for options in (["1", 1], [(0, 1), (0,)], "ab"):
        for sampled in (False, True):
            report = audit_mechanism(
                lambda data, rng, all_of=options: rng.choice(all_of[data[0] :]), [0, 1], 1,
                sampled=sampled, **choose,
            )  # fmt: skip
            assert report.verdict.startswith("violated"), options


def test_rows_are_chosen_several_times():
    rows = np.array([[0, 1], [1, 0]])
    report = audit_mechanism(
        lambda data, rng: (rng.choice(rows, size=2) + data[0]).tolist(), [0, 1], 1, epsilon=1,
        neighbors="bounded",
    )  # fmt: skip
    assert report.delta(0) == pytest.approx((1, 1))


def test_shares_that_floats_add_up_to_one_too_early():
    shares = [0.5, 0.5, 1e-17, 0.0]
    report = audit_mechanism(
        lambda _, rng: rng.multinomial(2, shares).tolist(), [0, 1], 1, epsilon=1,
        neighbors="bounded",
    )  # fmt: skip
    assert report.sound
