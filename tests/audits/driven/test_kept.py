"""What a function keeps from one call to the next: seen, and put back in fresh processes."""

from __future__ import annotations

import functools
import random

import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism


def judge(function, **options):
    given = {"epsilon": 1, "neighbors": "bounded"} | options
    return audit_mechanism(function, [0, 1], 1, **given)


class Slotted:
    """State in a slot only."""

    __slots__ = ("first",)

    def __init__(self):
        self.first = None

    def release(self, data, rng):
        if self.first is None:
            self.first = data[0]
        return self.first + rng.laplace(scale=10)

    __call__ = release


class Below(Slotted):
    """Slots of a base, and a dict."""


class Counted:
    calls = 0
    counted: list = []  # noqa: RUF012 - the state of a mechanism

    def count(self, seen=[]):  # noqa: B006 - the state of a mechanism
        seen.append(1)


counted = Counted()


def changes_the_class_of_an_object(_, rng):
    type(counted).calls += 1
    return rng.laplace()


def calls_a_method(_, rng):
    counted.count()
    return rng.laplace()


def remembers(number, seen=[]):  # noqa: B006 - the state of a mechanism
    seen.append(number)


def keyed(number, *, known=[]):  # noqa: B006 - the state of a mechanism
    known.append(number)


def calls_a_function(data, rng):
    remembers(data[0])
    return rng.laplace()


def calls_another(data, rng):
    keyed(data[0])
    return rng.laplace()


def listed(seen, data, rng):
    seen.append(data[0])
    return rng.laplace()


def decorated(function):
    @functools.wraps(function)
    def call(*arguments):
        return function(*arguments)

    return call


@decorated
def wrapped(data, rng, memo=[]):  # noqa: B006 - the state of a mechanism
    memo.append(data[0])
    return rng.laplace()


SEEN = {
    "a slot": (Slotted().release, "first"),
    "a slot of an object that is called": (Slotted(), "first"),
    "a slot of a base": (Below().release, "first"),
    "the class of an object": (changes_the_class_of_an_object, "Counted.calls"),
    "a default of a method": (calls_a_method, "seen"),
    "a default of a function that is called": (calls_a_function, "seen"),
    "a default by keyword": (calls_another, "known"),
    "an argument of a partial": (functools.partial(listed, []), "argument 0"),
    "a default below a decorator": (wrapped, "memo"),
}


@pytest.mark.parametrize("case", SEEN)
def test_state_is_seen(case):
    function, name = SEEN[case]
    report = judge(function)
    assert (report.verdict, report.sound) == ("not judged", False)
    assert report.unjudged == (
        f"the function keeps {name} from one call to the next; pass fresh=True, which gives each "
        "dataset a process of its own",
    )


def test_functions_that_keep_nothing_are_judged():
    table = [0, 5]

    def bounded(number, low=0, *, high=5):
        return min(max(number, low), high)

    @decorated
    def release(data, rng):
        return bounded(table[data[0]]) + rng.laplace(scale=5)

    assert (judge(release).verdict, judge(release).unjudged) == ("tight", ())


class Accountant:
    """Answers one query, and no more."""

    def __init__(self):
        self.spent = False

    def release(self, data, rng):
        if self.spent:
            raise ValueError("the budget is spent")
        self.spent = True
        return data[0] + rng.laplace()


SPENT = []
HELD = Accountant()


def spends_for_all(data, rng):
    if SPENT:
        raise ValueError("the budget is spent")
    SPENT.append(len(data))
    return data[0] + rng.laplace()


def spends_elsewhere(data, rng):
    return HELD.release(data, rng)


def around_an_accountant():
    accountant = Accountant()
    return lambda data, rng: accountant.release(data, rng)


class Registry:
    spent = False


def spends_in_a_class(data, rng):
    if Registry.spent:
        raise ValueError("the budget is spent")
    Registry.spent = True
    return data[0] + rng.laplace()


def around_a_flag():
    spent = False

    def release(data, rng):
        nonlocal spent
        if spent:
            raise ValueError("the budget is spent")
        spent = True
        return data[0] + rng.laplace()

    return release


ONCE = [
    Accountant().release,
    spends_for_all,
    spends_elsewhere,
    spends_in_a_class,
    around_an_accountant(),
    around_a_flag(),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", ONCE)
def test_each_run_in_a_fresh_process_is_a_first_call(function):
    report = judge(function, fresh=True)
    assert (report.verdict, report.unjudged) == ("tight", ())
    assert (SPENT, HELD.spent) == ([], False)


@pytest.mark.exhaustive
def test_probes_of_an_accountant_are_first_calls():
    accountant = Accountant()

    def release(data, rng):
        return int(accountant.release(data, rng))

    report = judge(release, fresh=True)
    assert report.verdict == "not refuted"
    assert not accountant.spent


@pytest.mark.exhaustive
def test_a_generator_is_not_put_back():
    own = random.Random(3)

    def release(data, _):
        return data[0] if own.random() < 0.7 else 1 - data[0]

    refused_with(
        lambda: judge(release, fresh=True),
        "the same draws led to two releases",
        sl.errors.QueryError,
    )
