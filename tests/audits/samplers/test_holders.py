"""Samplers are quiet wherever they are held: modules, instances, classes, closures, defaults."""

# ruff: noqa: NPY002 - code in the field calls the samplers of the module

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.random import default_rng as another_name

import sensitivity_lab as sl

# Slow; `test_promises.py` represents them.
pytestmark = pytest.mark.stress

OPTIONS = {"values": [0, 10], "sizes": 2, "neighbors": "bounded"}


class OfInstance:
    def __init__(self):
        self.rng = np.random.default_rng(3)

    def total(self, x):
        return sum(x) + self.rng.laplace(0, 10)


class OfClass:
    rng = np.random.default_rng(4)

    def total(self, x):
        return sum(x) + self.rng.laplace(0, 10)


class InSlot:
    __slots__ = ("rng",)
    total = OfInstance.total
    __init__ = OfInstance.__init__


@dataclass(frozen=True)
class Frozen:
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    total = OfInstance.total


class Legacy:
    def __init__(self):
        self.rng = np.random.RandomState(3)

    total = OfInstance.total


HELD = OfInstance()


def in_closure():
    rng = np.random.default_rng(5)
    return (lambda x: sum(x) + rng.laplace(0, 10)), rng


def in_default():
    rng = np.random.default_rng(6)

    def total(x, rng=rng):
        return sum(x) + rng.laplace(0, 10)

    return total, rng


def in_list():
    rngs = {"noise": [np.random.default_rng(7)]}
    return (lambda x: sum(x) + rngs["noise"][0].laplace(0, 10)), rngs["noise"][0]


def by_method():
    rng = np.random.default_rng(9)
    return (lambda x: sum(x) + rng.laplace(0, 10)), rng.laplace


def held_by(kind):
    one = kind()
    return one.total, one.rng


HOLDERS = {
    "an instance": lambda: held_by(OfInstance),
    "a class": lambda: held_by(OfClass),
    "a slot": lambda: held_by(InSlot),
    "a frozen dataclass": lambda: held_by(Frozen),
    "an older generator": lambda: held_by(Legacy),
    "a closure": in_closure,
    "a default": in_default,
    "a list": in_list,
    "a closure, by its method": by_method,
    "an attribute, by its name": lambda: (HELD.total, f"{__name__}.HELD.rng"),
    "a class attribute, by its name": lambda: (OfClass().total, f"{__name__}.OfClass.rng"),
}


@pytest.mark.parametrize("case", HOLDERS)
def test_a_generator_is_quiet_wherever_it_is_held_and_put_back(case):
    function, sampler = HOLDERS[case]()
    for epsilon, verdict in ((1, "not judged"), (0.5, "violated")):
        report = sl.audits.audit_sampled(
            function, [0, 10], 2, sampler, neighbors="bounded", epsilon=epsilon
        )
        assert report.verdict == verdict
    assert len({function([1, 2]) for _ in range(3)}) == 3


def test_another_name_of_default_rng_is_quiet():
    """This module imports it under another name, which once stopped every audit."""
    for function in (
        lambda x: sum(x) + np.random.laplace(0, 10),
        lambda x: sum(x) + another_name().laplace(0, 10),
    ):
        assert sl.audits.audit_sampled(function, **OPTIONS, epsilon=1).decisive.compared == "tight"
        report = sl.audits.audit_sampled(
            function, [0, 10], 2, another_name, np.random.laplace, neighbors="bounded", epsilon=1
        )
        assert report.decisive.compared == "tight"


def test_a_generator_that_is_made_once_and_kept_draws_noise_after_the_audit():
    kept = {}

    def total(x):
        rng = kept.setdefault("rng", None) or np.random.default_rng()
        kept["rng"] = rng
        return sum(x) + rng.laplace(0, 10)

    assert sl.audits.audit_sampled(total, **OPTIONS, epsilon=1).decisive.compared == "tight"
    assert isinstance(kept["rng"], np.random.Generator)
    assert len({total([1, 2]) for _ in range(3)}) == 3


def by_module(x):
    np.random.seed(8)
    return np.random.laplace(sum(x), 10)


SEEDED = {
    "a generator": lambda x: np.random.default_rng(8).laplace(sum(x), 10),
    "the module": by_module,
    "a sequence": lambda x: np.random.default_rng(np.random.SeedSequence(8)).laplace(sum(x), 10),
}


@pytest.mark.parametrize("case", SEEDED)
@pytest.mark.parametrize("value", ["returns", "location"])
def test_a_seed_in_the_function_is_noted(case, value):
    report = sl.audits.audit_sampled(SEEDED[case], **OPTIONS, epsilon=1, value=value)
    (note,) = report.notes
    assert "seeded in the function" in note
    assert "test_holders.py" in note
    assert "8" in note


def test_fresh_seeds_are_no_seeds():
    source = np.random.default_rng(1)

    def total(x):
        seed = int(source.integers(2**60))
        return sum(x) + np.random.default_rng(seed).laplace(0, 10)

    assert sl.audits.audit_sampled(total, **OPTIONS, epsilon=1).notes == ()


def test_a_seed_of_the_data_is_refused():
    def total(x):
        return sum(x) + np.random.default_rng(int(sum(x))).laplace(0, 10)

    with pytest.raises(sl.errors.QueryError) as caught:
        sl.audits.audit_sampled(total, **OPTIONS, epsilon=1)
    line = total.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        f"the seed of the noise depends on the data: default_rng in total (test_holders.py:{line}) "
        "gets 0 on [0, 0] and 10 on [0, 10], so anyone can check a guess of the data; make "
        "the generator without a seed"
    )
