"""Mistakes that a driver could make, planted in it: a small net of laws has to catch each one.

The net compares `audit_mechanism` with an oracle that forks at every draw and shares no code with
the package. It passes on the driver as it is, so what fails with a mistake planted is that mistake.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import pytest
from forking import delta, law

from sensitivity_lab.audits import audit_mechanism, mechanism
from sensitivity_lab.audits.driven import draws, generator, laws, runs

EPSILON = 0.25

CACHED = [*(vars(draws)[name] for name in ("_table", "_summed")), draws.weight, draws.joint]
"""What keeps its answers."""


def one_threshold(data, rng):
    """Two answers about one noisy threshold depend on each other."""
    threshold, first, second = rng.integers(2), rng.integers(2), rng.integers(2)
    return bool(first >= threshold + data[0]), bool(second >= threshold + data[0])


def one_sided(data, rng):
    """Only one order of the pair needs a delta."""
    return int(rng.random() < 0.5) if data[0] else 0


def two_sided_geometric(data, rng):
    """The tails are cut, and their mass is left over."""
    return data[0] + rng.geometric(0.5) - rng.geometric(0.5)


def an_option_of_probability_0(data, rng):
    """An outcome that only one dataset has: no epsilon is enough."""
    return int(rng.choice(2, p=[1.0, 0.0] if data[0] else [0.5, 0.5]))


def respond(data, rng):
    """Comparisons of one uniform draw."""
    return data[0] if rng.random() < 0.75 else 1 - data[0]


def redrawn(data, rng):
    """A loop whose rejections have a probability of their own."""
    while True:
        drawn = rng.integers(4) + data[0]
        if drawn < 4:
            return int(drawn)


NET = [one_threshold, one_sided, two_sided_geometric, an_option_of_probability_0, respond, redrawn]


def failures():
    """The mechanisms of the net on which the driver and the oracle do not agree."""
    for cached in CACHED:
        cached.cache_clear()  # a mistake changes what was computed before
    return [function.__name__ for function in NET if not agrees(function)]


@cache
def truth(function):
    """The laws on both datasets, by the oracle."""
    return tuple(law(function, [one], Fraction(1, 10**12)) for one in (0, 1))


def agrees(function):
    """Whether delta and the mass that is left are those of the oracle."""
    first, second = truth(function)
    both = [delta(first, second, EPSILON), delta(second, first, EPSILON)]
    least, most = (max(bounds) for bounds in zip(*both, strict=True))
    report = audit_mechanism(
        function, [0, 1], 1, epsilon=EPSILON, delta=1e-6, neighbors="bounded", progress=False
    )
    low, high = report.delta(EPSILON)
    if not (low <= most and least <= high and high - low < 1e-9):
        return False
    pure = audit_mechanism(
        function, [0, 1], 1, epsilon=EPSILON, neighbors="bounded", progress=False
    )
    # An endless law is cut: what is left has a mass, which is small and proves no pure epsilon.
    cut = sum(one for one in pure.worst[1].divergence.left)
    endless = bool(first[1] or second[1])
    if not (0 < cut < 1e-9 if endless else cut == 0):
        return False
    one_has_more = first[0].keys() != second[0].keys() and not endless
    return math.isinf(pure.epsilon()[0]) == one_has_more


def by_marginals(of_laws, events):
    """The product of the probabilities of the single events."""
    whole = draws.joint(of_laws, ()).get((), 0)
    chances = (Fraction(draws.joint(of_laws, (one,)).get((), 0), whole) for one in events)
    return math.prod(chances, start=Fraction(whole))


def lumped(p):
    """Geometric weights whose last one has the whole tail."""
    low, weights, below = GEOMETRIC(p)
    return low, [*weights[:-1], below - sum(weights[:-1])], below


def at_least_a_little(p, number):
    """Weights among which none is 0."""
    return [max(one, Fraction(1, 2**40)) for one in WEIGHTS(p, number)]


def of_the_first_order(first, second, claim):
    return BOTH_ORDERS(first, second, claim)[:1]


def without_the_cut(self, of_laws):
    """What remains of a law that was cut counts as all of it."""
    return math.prod(of_laws[draw].total for draw in self.draws)


GEOMETRIC, WEIGHTS = vars(draws)["_geometric"], vars(generator)["_weights"]
BOTH_ORDERS = vars(mechanism)["_both_orders"]

PLANTED = {
    "products of marginals": [(runs, "weight", by_marginals)],
    "one direction of delta": [(mechanism, "_both_orders", of_the_first_order)],
    "tails lumped into an atom": [(vars(draws)["_TABLES"], "geometric", lumped)],
    "options of probability 0 that run": [(generator, "_weights", at_least_a_little)],
    "uniform comparisons without a mass": [
        (runs.Run, "uniform_mass", lambda _: Fraction(1)),
    ],
    "a cut law taken for a whole one": [(vars(runs)["_Component"], "denominator", without_the_cut)],
    "what is left counted for one law only": [
        (laws.Divergence, "cut", property(lambda _: False)),
        (laws.Divergence, "explored", lambda *_: (Fraction(0), Fraction(1))),
    ],
    "the events of a loop forgotten": [(runs.Run, "_learn", lambda *_: None)],
}


@pytest.mark.exhaustive
def test_the_driver_agrees_with_the_oracle():
    assert failures() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_caught(mistake, monkeypatch):
    for where, name, by in PLANTED[mistake]:
        if isinstance(where, dict):
            monkeypatch.setitem(where, name, by)
        else:
            monkeypatch.setattr(where, name, by)
    try:
        caught = failures()
    except Exception as error:  # noqa: BLE001 - a driver that contradicts itself is caught, too
        caught = [repr(error)]
    assert caught, mistake


@pytest.fixture(autouse=True)
def _nothing_stays():
    yield
    for cached in CACHED:
        cached.cache_clear()


@pytest.mark.exhaustive
def test_every_mechanism_of_the_net_is_needed_by_some_pair():
    """All are different on the two datasets; one that is not would catch nothing."""
    for function in NET:
        first, second = (one for one, _ in truth(function))
        assert any(
            first.get(key, 0) != second.get(key, 0) for key in itertools.chain(first, second)
        )
