"""An argument that is missing, or is for another audit, leads to a whole call that works."""

from __future__ import annotations

import re

import numpy as np
import pytest
from checks import refused
from opendp_cases import dp

import sensitivity_lab as sl
from sensitivity_lab.audits import doors

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


def library_mean(x):
    return Laplace(1).randomise(np.mean([one for one in x if one == one]))


def count():
    return dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())


BOUNDED = {"neighbors": "bounded"}
UNIVERSE = sl.Universe.from_domain([0, 1])
MECHANISM = lambda **given: sl.audits.audit_mechanism(noisy, [0, 1], 3, **given)  # noqa: E731
RECORDED = lambda *given, **named: sl.audits.audit_recorded(library, *given, **named)  # noqa: E731

UNKNOWN = "{}() got an unexpected keyword argument {!r}; write {}"

CALLS = {
    "a mechanism without neighbors": (
        lambda: MECHANISM(epsilon=1),
        f"audit_mechanism() needs neighbors; write {doors.MECHANISM}",
    ),
    "a library without neighbors": (
        lambda: RECORDED([0, 1], 3, Laplace),
        f"audit_recorded() needs neighbors; write {doors.RECORDED}",
    ),
    "a budget of a mechanism": (
        lambda: MECHANISM(budget=1, **BOUNDED),
        UNKNOWN.format(
            "audit_mechanism", "budget",
            f"{doors.MECHANISM}: epsilon is the budget of the whole run",
        ),
    ),
    "choices of a mechanism": (
        lambda: MECHANISM(epsilon=1, choices=3, **BOUNDED),
        UNKNOWN.format("audit_mechanism", "choices", doors.RANDOM),
    ),
    "where of a mechanism": (
        lambda: MECHANISM(epsilon=1, where=len, **BOUNDED),
        UNKNOWN.format(
            "audit_mechanism", "where",
            "sl.audits.audit_mechanism(function, datasets=datasets, "
            'neighbors="bounded", epsilon=1), with the datasets where the function is defined',
        ),
    ),
    "where of a function": (
        lambda: sl.audit([0, 1], total, 1, size=3, outputs="L1", where=len, **BOUNDED),
        UNKNOWN.format(
            "audit", "where",
            'sl.audit(None, function, claim, datasets=datasets, neighbors="bounded", '
            'outputs="L1"), with the datasets where the function is defined',
        ),
    ),
    "a budget of a function": (
        lambda: sl.audit([0, 1], total, 1, size=3, budget=1, **BOUNDED),
        UNKNOWN.format("audit", "budget", f"{doors.RECORDED[:-1]}, budget=1)"),
    ),
    "datasets of a library": (
        lambda: RECORDED(datasets=[[0], [1]], **BOUNDED),
        UNKNOWN.format("audit_recorded", "datasets", doors.RECORDED),
    ),
    "choices of a library": (
        lambda: RECORDED([0, 1], 3, Laplace, choices=3, **BOUNDED),
        UNKNOWN.format("audit_recorded", "choices", doors.RANDOM),
    ),
    "choices of OpenDP": (
        lambda: sl.audits.audit_opendp(count(), [0, 1], range(3), choices=3),
        UNKNOWN.format("audit_opendp", "choices", doors.RANDOM),
    ),
    "where of OpenDP": (
        lambda: sl.audits.audit_opendp(count(), [0, 1], range(3), where=len),
        UNKNOWN.format(
            "audit_opendp", "where",
            "sl.audits.audit_opendp(made, datasets=datasets), with the datasets where the "
            "function is defined",
        ),
    ),
    "an order of a query": (
        lambda: sl.audit(UNIVERSE, "sum", 1, size=3, every_order=False, **BOUNDED),
        f"every_order is not for a query, got False; leave it out, as in {doors.QUERY}",
    ),
    "datasets of a query": (
        lambda: sl.audit(None, "sum", 1, datasets=[[0]], **BOUNDED),
        f"datasets is not for a query, got [[0]]; leave it out, as in {doors.QUERY}",
    ),
    "an order of a function without outputs": (
        lambda: sl.audit([0, 1], total, 1, size=3, every_order=False, **BOUNDED),
        f"every_order is not for a query, got False; a function needs outputs=, as in "
        f"{doors.FUNCTION}",
    ),
    "a function without neighbors": (
        lambda: sl.audit([0, 1], total, 1, size=3, outputs="absolute"),
        'neighbors must be given: "bounded" if a record is replaced, "unbounded" if one is added '
        "or removed, or a metric",
    ),
    "a function with a generator": (
        lambda: sl.audit([0, 1], noisy, 1, size=3, outputs="L1", **BOUNDED),
        f"query must take a dataset alone, got noisy(x, rng); with random choices, write "
        f"{doors.RANDOM}; with a generator, write {doors.MECHANISM}",
    ),
    "no mechanism": (
        lambda: RECORDED([0, 1], 3, **BOUNDED),
        f"targets must name at least one mechanism, got none; write {doors.RECORDED}",
    ),
    "an epsilon of OpenDP": (
        lambda: sl.audits.audit_opendp(None, [0, 1], 3, epsilon=1.0),
        f"audit_opendp() got an unexpected keyword argument 'epsilon'; write {doors.OPENDP}: the "
        "claim is made.map, and epsilon is kept if made.map(1) is at most it, or made.map(2) where "
        "the size is fixed",
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
    refused(call, message, (TypeError, sl.errors.SensitivityLabError))


NAMES = {
    "sl": sl, "values": [0, 1], "claim": 3, "Mechanism": Laplace, "datasets": [[0], [1]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (doors.FUNCTION, {"function": total}),
        (doors.with_datasets(doors.FUNCTION), {"function": total}),
        (doors.QUERY, {}),
        (doors.MECHANISM, {"function": noisy}),
        (doors.with_datasets(doors.MECHANISM), {"function": noisy}),
        (doors.RECORDED, {"function": library}),
        (f"{doors.RECORDED[:-1]}, budget=1)", {"function": library}),
    ],
)
def test_the_calls_that_are_printed_work(text, names):
    assert eval(text, {**NAMES, **names}).sound


def test_the_calls_of_random_functions_and_of_opendp_work():
    assert eval(doors.OPENDP, {**NAMES, "made": count()}).sound
    generator = np.random.default_rng(0)
    text = re.sub("choices=400", "choices=20", doors.RANDOM)
    function = lambda x: [x[generator.integers(len(x))]]  # noqa: E731
    assert eval(text, {**NAMES, "function": function}).verdict == "not judged"
