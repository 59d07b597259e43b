"""Propose-test-release: the distance by definition, thresholds, and exact laws on small universes.

With integer noise the law of a release is known: P(no answer), and an answer v with probability
``P(answer) (1 - c) / (1 + c) c**abs(v - f(x))``. Beyond all answers of two datasets, the two laws
have one ratio, so sums over all v are finite sums and geometric series.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import oracle_mechanisms as oracle
import pytest
from checks import refused_with
from doses import shares
from scales import is_smallest_float_from

import sensitivity_lab as sl
from sensitivity_lab.errors import DatasetUniverseWarning, InputError
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.noise.propose_test_release import PrivateTest

QUERIES: dict[str, oracle.Answer] = {
    "median": oracle.median,
    "max": lambda x: Fraction(x[-1]),
    "min": lambda x: Fraction(x[0]),
    "range": oracle.spread,
}


class Small:
    """The mechanism with integer noise on every dataset of a small domain."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.values = sorted(draw.sample(range(8), 3))
        self.n = draw.choice([1, 3, 3, 3])
        self.name = draw.choice(list(QUERIES)[: 4 if self.n > 1 else 3])
        self.f = QUERIES[self.name]
        self.epsilons = draw.choice([(0.5, 2), (2, 0.5), (1, 1)])
        self.delta = draw.choice([Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)])
        self.universe = sl.Universe.from_domain(self.values)
        copies = [value for value in self.values for _ in range(self.n)]
        self.graph = oracle.space(copies, [self.n], replace=True)
        # Bounds that some local sensitivity attains are what "strictly above" is about.
        gaps = sorted({oracle.local_sensitivity(self.graph, self.f, x) for x in self.graph} - {0})
        self.bound = draw.choice([gaps[0], gaps[0] + 1, gaps[-1], max(gaps[-1] - 1, 1)])
        self.found = {x: self.released(x) for x in self.graph}

    def released(self, x: Any) -> sl.noise.ProposeTestRelease:
        return sl.noise.propose_test_release(
            self.universe,
            self.name,
            dataset=x,
            bound=int(self.bound),
            test_epsilon=self.epsilons[0],
            noise_epsilon=self.epsilons[1],
            delta=self.delta,
            integer=True,
            neighbors="bounded",
        )

    def chance(self, x: Any, threshold: int | None = None) -> Fraction:
        """The exact probability of an answer."""
        one = self.found[x]
        a = one.test.decay
        assert a is not None
        m = (one.test.threshold if threshold is None else threshold) - one.distance
        return a**m / (1 + a) if m >= 1 else 1 - a ** (1 - m) / (1 + a)


def excess(p: Fraction, f: int, q: Fraction, g: int, c: Fraction, factor: Fraction) -> Fraction:
    """The sum of (P - factor Q)+ over no answer and all answers: the least delta."""

    def more(one: Fraction, other: Fraction) -> Fraction:
        return max(Fraction(0), one - factor * other)

    low, high = min(f, g), max(f, g)
    inside = sum(more(p * c ** abs(v - f), q * c ** abs(v - g)) for v in range(low, high + 1))
    tails = more(p * c ** (high + 1 - f), q * c ** (high + 1 - g))
    tails += more(p * c ** (f - low + 1), q * c ** (g - low + 1))
    answers = (inside + tails / (1 - c)) * (1 - c) / (1 + c)
    return more(1 - p, 1 - q) + answers


@pytest.mark.parametrize("seed", shares(everyday=4, check=60, stress=200))
def test_distance_is_that_of_the_definition_and_all_neighbors_are_protected(seed: int) -> None:
    small = Small(seed)
    for x, found in small.found.items():
        true = oracle.distance_to_instability(small.graph, small.f, x, small.bound)
        assert found.distance == (found.cap if true is None else min(true, found.cap))
        assert found.chance_of_answer == pytest.approx(float(small.chance(x)), rel=1e-12)
        local = found.instability.local
        if local is not None:
            local.verify()
            assert local.exact > small.bound
            assert oracle.distances(small.graph, x)[local.witness.x] == found.distance
    for x, others in small.graph.items():
        one = small.found[x]
        a, c = one.test.decay, one.noise_decay
        assert a is not None
        assert c is not None
        # The factors of both losses, exactly; each is at most the one that was asked for.
        assert -math.log(a) <= small.epsilons[0]
        assert -math.log(c) * small.bound <= small.epsilons[1]
        factor = 1 / (a * c**small.bound)
        for y in others:
            f, g = (math.floor(small.f(z) + Fraction(1, 2)) for z in (x, y))
            assert abs(one.distance - small.found[y].distance) <= 1
            delta = excess(small.chance(x), f, small.chance(y), g, c, Fraction(factor))
            assert delta <= small.delta


def test_an_answer_where_the_bound_fails_has_probability_delta_at_most_and_nearly_that() -> None:
    for epsilon, delta in itertools.product((0.1, 1, 5), (Fraction(1, 2), Fraction(1, 10**6))):
        test = PrivateTest.of(Fraction(epsilon), delta, integer=True)
        a, threshold = test.decay, int(test.threshold)
        assert a is not None
        assert a**threshold / (1 + a) <= delta < a ** (threshold - 1) / (1 + a)
        real = PrivateTest.of(Fraction(epsilon), delta, integer=False)
        assert real.chance(0) == pytest.approx(float(delta), rel=1e-12)
        assert 1 - real.chance(real.far_enough) <= delta
        assert 1 - test.chance(test.far_enough) <= delta


def test_a_threshold_that_is_whole_is_kept() -> None:
    """a**3 / (1 + a) is delta itself."""
    test = PrivateTest.of(Fraction(1), Fraction(1, 1000), integer=True)
    a = test.decay
    assert a is not None
    again = PrivateTest.of(Fraction(1), a**3 / (1 + a), integer=True)
    assert again.threshold == 3


def test_roots_are_compared_with_the_bound_exactly() -> None:
    universe = sl.Universe.from_domain([0, 2])
    # std of (0, 2) is 1 and of (2, 2) is 0: the local sensitivity is 1 exactly.
    given: dict[str, Any] = {"test_epsilon": 1, "noise_epsilon": 1, "delta": 0.1}
    given["neighbors"] = "bounded"
    for bound, distance in ((1, None), (math.nextafter(1, 0), 0)):
        found = sl.noise.propose_test_release(universe, "std", dataset=[0, 2], bound=bound, **given)
        assert found.instability.distance == distance
    # From (0, 0, 1) to (0, 1, 1) nothing changes, and to (0, 0, 0) sqrt(2) / 3, which no float is.
    below = Fraction(math.isqrt(2 * 10**80), 3 * 10**40)
    for bound, distance in ((below + Fraction(1, 10**39), None), (below, 0)):
        found = sl.noise.propose_test_release(
            sl.Universe.from_domain([0, 1]), "std", dataset=[0, 0, 1], bound=bound, **given
        )
        assert found.instability.distance == distance
        assert isinstance(found.answer, Root)


def test_k_rows_share_both_losses() -> None:
    universe = sl.Universe.from_domain(range(11))
    given: dict[str, Any] = {"dataset": [5] * 9, "bound": 2, "delta": 1e-4}
    one = sl.noise.propose_test_release(
        universe, "median", test_epsilon=0.5, noise_epsilon=0.25, neighbors="bounded", **given
    )
    many = sl.noise.propose_test_release(
        universe, "median", test_epsilon=1, noise_epsilon=0.5, neighbors=sl.Bounded(2), **given
    )
    share = math.expm1(0.75) / math.expm1(1.5)
    assert many.scale == one.scale == 8
    assert float(many.test.delta) == pytest.approx(1e-4 * share)
    assert many.test.threshold == pytest.approx(math.log(1 / (2e-4 * share)) / 0.5)
    assert (many.epsilon, many.delta) == (1.5, 1e-4)
    assert "2 per person" in repr(many)


def test_the_bound_of_the_noise_is_rounded_up() -> None:
    universe = sl.Universe.from_domain(range(11))
    found = sl.noise.propose_test_release(
        universe,
        "median",
        dataset=[5] * 9,
        bound=0.1,
        test_epsilon=1,
        noise_epsilon=0.3,
        delta=0.1,
        neighbors="bounded",
    )
    assert is_smallest_float_from(found.scale, Fraction(0.1) / Fraction(0.3))
    assert found.expected_error == found.scale
    whole = sl.noise.propose_test_release(
        universe,
        "median",
        dataset=[5] * 9,
        bound=1,
        test_epsilon=1,
        noise_epsilon=1,
        delta=0.1,
        integer=True,
        neighbors="bounded",
    )
    c = whole.noise_decay
    assert c is not None
    spread = sum(2 * g * float(c) ** g for g in range(1, 200)) * float((1 - c) / (1 + c))
    assert whole.expected_error == pytest.approx(spread)


def test_a_farthest_distance_of_ones_own_is_the_cap() -> None:
    universe = sl.Universe.from_domain(range(101))
    found = sl.noise.propose_test_release(
        universe,
        "median",
        dataset=[50] * 101,
        bound=1,
        test_epsilon=1,
        noise_epsilon=1,
        delta=0.1,
        farthest=4,
        neighbors="bounded",
    )
    assert (found.distance, found.cap, found.instability.distance) == (5, 5, None)
    assert "no dataset within 4 has a larger local sensitivity" in repr(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"bound": 0.5, "integer": True},
            "bound must be a whole number (a bound of whole answers, at least 1), got 0.5 (float)",
        ),
        ({"test_epsilon": 101}, "test_epsilon must be a number from 1e-9 to 100, got 101"),
        (
            {"delta": 1e-100, "neighbors": sl.Bounded(2)},
            "delta: of it, each of k = 2 steps may lose less than 1e-100 at this epsilon; choose a "
            "larger delta, a smaller epsilon or a smaller k",
        ),
        (
            {"query": lambda x: x.mean() / 3},
            "query: function has answers in floats, and rounding errors could exceed the bound; "
            "use a built-in query or an ExactQuery",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "query": "median",
        "neighbors": "bounded",
        "dataset": [1, 2],
        "bound": 1,
        "test_epsilon": 1,
        "noise_epsilon": 1,
        "delta": 0.1,
    } | arguments
    query = given.pop("query")
    with pytest.raises(InputError) as error:
        sl.noise.propose_test_release(sl.Universe.from_domain([1, 2]), query, **given)
    assert (
        str(error.value).replace("function", "<lambda>", 1) == message
        or str(error.value) == message
    )


def test_vectors_are_refused_and_listed_records_must_be_public() -> None:
    rows = sl.TableUniverse.from_domain({"a": ["x", "y"]})
    given: dict[str, Any] = {
        "bound": 1,
        "test_epsilon": 1,
        "noise_epsilon": 1,
        "delta": 0.1,
        "neighbors": "bounded",
    }
    refused_with(
        lambda: sl.noise.propose_test_release(
            rows, sl.Histogram("a", ["x", "y"]), dataset=[("x",), ("y",)], **given
        ),
        "has 2 answers, and noise for a bound",
    )
    with pytest.warns(DatasetUniverseWarning, match="^dataset: the universe is a list"):
        sl.noise.propose_test_release(
            sl.Universe.from_dataset([1, 2, 3]), "median", dataset=[1, 2], **given
        )


def test_every_dataset_of_a_domain_is_covered_by_the_small_graphs() -> None:
    small = Small(3)
    assert sorted(small.graph) == sorted(combinations_with_replacement(small.values, small.n))
