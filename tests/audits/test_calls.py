"""An argument that is missing, or is for another audit, leads to a whole call that works."""

from __future__ import annotations

import re

import numpy as np
import pytest
from opendp_cases import dp

import sensitivity_lab as sl
from sensitivity_lab.audits.maps import RANDOM

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]


def total(x):
    return sum(x)


def noisy(x, rng):
    return sum(x) + rng.laplace(scale=3)


class Laplace:
    def __init__(self, sensitivity):
        self.sensitivity, self.epsilon = sensitivity, 1

    def randomise(self, value):
        raise NotImplementedError("no randomness in a test")


def library(x):
    return Laplace(1).randomise(sum(x))


def count():
    return dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())


BOUNDED = {"neighbors": "bounded"}
UNIVERSE = sl.Universe.from_domain([0, 1])
MECHANISM = lambda **given: sl.audits.audit_mechanism(noisy, [0, 1], 3, **given)  # noqa: E731
RECORDED = lambda *given, **named: sl.audits.audit_recorded(library, *given, **named)  # noqa: E731

CALLS = {
    "a mechanism without neighbors": (
        lambda: MECHANISM(epsilon=1),
        "audit_mechanism() needs neighbors. A call that works: ...",
    ),
    "a library without neighbors": (
        lambda: RECORDED([0, 1], 3, Laplace),
        "audit_recorded() needs neighbors. A call that works: ...",
    ),
    "a budget of a mechanism": (
        lambda: MECHANISM(epsilon=1, budget=1, **BOUNDED),
        "audit_mechanism() has no argument 'budget': of audit_recorded it is budget=, of "
        "audit_mechanism epsilon=. A call that works: ...",
    ),
    "choices of a mechanism": (
        lambda: MECHANISM(epsilon=1, choices=3, **BOUNDED),
        "audit_mechanism() has no argument 'choices': sl.audit takes it, with outputs=. A call "
        "that works: ...",
    ),
    "where of a function": (
        lambda: sl.audit([0, 1], total, 1, size=3, outputs="L1", where=len, **BOUNDED),
        "audit() has no argument 'where': give datasets=, those where the function is defined. A "
        "call that works: ...",
    ),
    "where of OpenDP": (
        lambda: sl.audits.audit_opendp(count(), [0, 1], range(3), where=len),
        "audit_opendp() has no argument 'where': give datasets=, those where the function is "
        "defined. A call that works: ...",
    ),
    "an order of a query": (
        lambda: sl.audit(UNIVERSE, "sum", 1, size=3, every_order=False, **BOUNDED),
        "every_order is not for a query, got False; leave it out, as in "
        'sl.audit(universe, "sum", claim, size=3, neighbors="bounded")',
    ),
    "datasets of a query": (
        lambda: sl.audit(None, "sum", 1, datasets=[[0]], **BOUNDED),
        "datasets is not for a query, got [[0]]; leave it out, as in "
        'sl.audit(universe, "sum", claim, size=3, neighbors="bounded")',
    ),
    "an order of a function without outputs": (
        lambda: sl.audit([0, 1], total, 1, size=3, every_order=False, **BOUNDED),
        "every_order is not for a query, got False; a function needs outputs=, as in "
        'sl.audit(values, function, claim, size=3, neighbors="bounded", outputs="L1")',
    ),
    "a function without neighbors": (
        lambda: sl.audit([0, 1], total, 1, size=3, outputs="absolute"),
        'neighbors must be given: "bounded" if a record is replaced, "unbounded" if one is added '
        "or removed, or a metric",
    ),
    "a function with a generator": (
        lambda: sl.audit([0, 1], noisy, 1, size=3, outputs="L1", **BOUNDED),
        f"query must take a dataset alone, got noisy(x, rng); with random choices, write "
        f"{RANDOM}; with a generator, write sl.audits.audit_mechanism(function, values, 3, "
        "neighbors=..., epsilon=1)",
    ),
    "no mechanism": (
        lambda: RECORDED([0, 1], 3, **BOUNDED),
        "targets must name at least one mechanism, got none; name one, as in "
        'sl.audits.audit_recorded(function, values, 3, Mechanism, neighbors="bounded")',
    ),
    "a class that names its sensitivity otherwise": (
        lambda: RECORDED([0, 1], 3, Laplace, sensitivity="delta_f", **BOUNDED),
        "on [0, 0, 0], Laplace has no 'delta_f'; pass sensitivity= with the name of what holds it, "
        "or with a function of the instance",
    ),
    "a fixed size": (
        lambda: sl.audit([0, 1], total, 1, size=3, neighbors="symmetric", outputs="L1"),
        "no two datasets of size 3 are neighbors at distance 1: give size=[2, 3], or a distance of "
        "2 if the size is fixed",
    ),
    "an epsilon of a library": (
        lambda: RECORDED([0, 1], 3, Laplace, epsilon=1.0, **BOUNDED),
        "epsilon must be a name, or a function (a number is for budget=), got 1.0",
    ),
    "datasets that are far apart": (
        lambda: sl.audit(
            None, total, 3, datasets=[np.zeros(3), np.ones(3)], neighbors="symmetric", outputs="L1"
        ),
        "no two of the datasets are neighbors at distance 1: the closest are 6 apart, so write "
        "distances=6",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_a_call_is_led_to_one_that_works(case):
    call, message = CALLS[case]
    known, works, _ = message.partition(" A call that works: ...")
    with pytest.raises((TypeError, sl.errors.SensitivityLabError)) as caught:
        call()
    if not works:
        assert str(caught.value) == message
        return
    # The example of the docstring, which runs with the others.
    start, works, example = str(caught.value).partition(" A call that works: ")
    assert start == known
    assert example.startswith(("audit", "sl.audit"))


def test_the_call_of_random_functions_works():
    generator = np.random.default_rng(0)
    text = re.sub("choices=400", "choices=20", RANDOM)
    names = {"sl": sl, "values": [0, 1], "claim": 3}
    function = lambda x: [x[generator.integers(len(x))]]  # noqa: E731
    assert eval(text, {**names, "function": function}).verdict == "not judged"
