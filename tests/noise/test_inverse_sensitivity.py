"""The inverse sensitivity mechanism made of reach: by definition, private, and judged by audits."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import oracle_mechanisms as oracle
import pytest
from checks import refused, refused_with
from doses import shares
from scales import is_smallest_float_from

import sensitivity_lab as sl
from sensitivity_lab.errors import DatasetUniverseWarning, InputError
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.noise.inverse_mechanism import loss_of

QUERIES = {
    "median": oracle.median,
    "mean": oracle.mean,
    "range": oracle.spread,
    "var": oracle.variance,
    "min": oracle.order_statistic(1),
}


class Drawn:
    """A mechanism on a small domain, made of the reach of every dataset."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.values = sorted(draw.sample([0, 1, 2, 3, 5, 9], draw.randint(2, 3)))
        self.replace = draw.random() < 0.6
        self.n = draw.randint(1 if self.replace else 2, 3)
        # Sums and means have local engines under both relations; the oracle knows all others.
        self.name = draw.choice(list(QUERIES))
        self.epsilon = draw.choice([0.3, 1, 2.5])
        self.farthest = draw.randint(1, 4)
        self.grid = draw.choice([range(-1, 11, 2), [0.5, 2, 2.25], range(10), [4]])
        self.width = draw.choice([0, 0, 1])
        self.sizes = [self.n] if self.replace else list(range(1, self.n + 1))
        self.neighbors = "bounded" if self.replace else "unbounded"
        self.universe = sl.Universe.from_domain(
            self.values, copies=None if self.replace else self.n
        )
        self._laws: dict[tuple[int, ...], sl.noise.InverseSensitivity] = {}

    @property
    def datasets(self) -> list[tuple[int, ...]]:
        return [x for size in self.sizes for x in combinations_with_replacement(self.values, size)]

    def law(self, x: Any) -> sl.noise.InverseSensitivity:
        key = tuple(sorted(map(int, x)))
        if key not in self._laws:
            reach = sl.reach(
                self.universe,
                self.name,
                dataset=key,
                neighbors=self.neighbors,
                distances=self.farthest,
            )
            self._laws[key] = sl.noise.inverse_sensitivity(
                reach, epsilon=self.epsilon, grid=self.grid, width=self.width, public_universe=True
            )
        return self._laws[key]

    def chances(self, x: Any) -> list[Fraction]:
        return [self.law(x).probability(point) for point in self.grid]


SEEDS = shares(everyday=4, check=40, stress=500)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_law_is_that_of_the_definition_and_private_on_all_neighbors(seed: int) -> None:
    drawn = Drawn(seed)
    copies = [value for value in drawn.values for _ in range(drawn.n)]
    # All sizes of the universe, beyond those that are audited.
    sizes = drawn.sizes if drawn.replace else range(1, len(copies) + 1)
    graph = oracle.space(copies, sizes, replace=drawn.replace)
    grid = tuple(Fraction(point) for point in drawn.grid)
    f = QUERIES[drawn.name]
    for x in drawn.datasets:
        law = drawn.law(x)
        score = oracle.scores(graph, f, x, grid, Fraction(drawn.width), drawn.farthest)
        assert law.scores == score
        chances = oracle.law(score, [Fraction(1)] * len(grid), law.r)
        assert drawn.chances(x) == chances
        assert law.answer == f(x)
        assert law.expected_error == pytest.approx(
            float(oracle.expected_error(grid, chances, f(x))), rel=1e-15
        )
        assert sum(ring.chance for ring in law.rings) == 1
        assert law.to_frame()["points"].sum() == len(grid)
        for y in graph[x]:
            if y in drawn.datasets:
                others = drawn.chances(y)
                assert all(p * law.r**2 <= q for p, q in zip(chances, others, strict=True))
    law = drawn.law(drawn.datasets[0])
    assert drawn.epsilon * (1 - 1e-10) <= law.epsilon <= drawn.epsilon
    assert math.exp(-drawn.epsilon / 2) * (1 - 1e-15) <= law.r


def test_k_rows_of_a_person_share_epsilon() -> None:
    scores = sl.Universe.from_domain([0, 1, 5])
    laws: dict[Any, list[Fraction]] = {}
    for x in combinations_with_replacement([0, 1, 5], 3):
        reach = sl.reach(scores, "median", dataset=x, neighbors=sl.Bounded(1), distances=3)
        found = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=range(6), k=2)
        assert str(found.neighbors) == "bounded, at most 2"
        assert 1 - 1e-10 < found.epsilon <= 1
        assert found.epsilon == loss_of(found.r, 4)
        laws[x] = [found.probability(point) for point in range(6)]
    loss = max(
        math.log(p / q)
        for x, some in laws.items()
        for y, others in laws.items()
        if len(set(x) & set(y)) >= 1
        for p, q in zip(some, others, strict=True)
    )
    assert 0.3 < loss <= 1


def test_constant_query_and_no_other_dataset() -> None:
    ones = sl.Universe.from_dataset([1, 1, 1])
    reach = sl.reach(ones, "median", dataset=[1, 1], neighbors="bounded", distances=2)
    found = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=[0, 1, 2], public_universe=True)
    assert [ring.points for ring in found.rings] == [1, 2]
    assert found.rings[0].least == 1
    outside = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=[5, 6], public_universe=True)
    assert outside.probability(5) > outside.probability(6) > 0
    assert outside.probability(1) == 0


def test_the_standard_deviation_has_roots() -> None:
    scores = sl.Universe.from_domain([0, 1, 5])
    reach = sl.reach(scores, "std", dataset=[0, 1, 5], neighbors="bounded", distances=3)
    found = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=[0, 1, 2, 3])
    exact = math.sqrt(14 / 3)
    chances = [float(found.probability(point)) for point in range(4)]
    expected = sum(p * abs(t - exact) for t, p in enumerate(chances))
    assert found.expected_error == pytest.approx(expected, rel=1e-12)


def test_a_standard_deviation_that_is_whole_has_no_error_of_its_own() -> None:
    scores = sl.Universe.from_domain([0, 2])
    reach = sl.reach(scores, "std", dataset=[0, 2], neighbors="bounded", distances=2)
    found = sl.noise.inverse_sensitivity(reach, epsilon=9, grid=[0, 1, 2])
    assert isinstance(found.answer, Root)
    assert is_smallest_float_from(found.expected_error, found.probability(0) + found.probability(2))


def test_weights_are_a_base_measure() -> None:
    scores = sl.Universe.from_domain([0, 1])
    reach = sl.reach(scores, "min", dataset=[0, 1], neighbors="bounded", distances=2)
    found = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=[0, 1], weights=[1, 3])
    # 1 replacement makes the minimum 1.
    assert found.probability(1) / found.probability(0) == 3 * found.r


REACH = sl.reach(
    sl.Universe.from_domain([0, 1]), "median", dataset=[0, 1, 1], neighbors="bounded", distances=2
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"grid": [1, 1]},
            "grid must be numbers in ascending order, such as range(61), got 1 after 1",
        ),
        ({"grid": []}, "grid must be numbers in ascending order, such as range(61), from 1 to "
         "100,000 of them, got 0"),
        (
            {"weights": [1]},
            "weights must be a number above 0 for each point of the grid, which has 2, got 1",
        ),
        ({"epsilon": 300}, "epsilon must be a number from 1e-9 to 100, got 300"),
        (
            {"epsilon": 1e-9, "k": 2},
            "epsilon must be a number from 2e-9 to 200 for k = 2 rows of a person, got 1e-09",
        ),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    refused(
        lambda: sl.noise.inverse_sensitivity(REACH, **{"epsilon": 1, "grid": [0, 1], **arguments}),
        message,
    )


def test_other_results_and_floats_are_refused() -> None:
    universe = sl.Universe.from_domain([0, 1], copies=4)
    everywhere = sl.global_sensitivity(universe, "sum", size=2, neighbors="bounded")
    with pytest.raises(InputError, match="reach must be a result of sl"):
        sl.noise.inverse_sensitivity(everywhere, epsilon=1, grid=[0, 1])  # type: ignore[arg-type]
    floats = replace(REACH, arithmetic="float")
    refused_with(
        lambda: sl.noise.inverse_sensitivity(floats, epsilon=1, grid=[0, 1]),
        "reach: the answers are floats of a function",
    )
    some = sl.reach(
        universe, "sum", dataset=[0, 1], neighbors="unbounded", distances=1, sizes=(1, 3)
    )
    refused_with(
        lambda: sl.noise.inverse_sensitivity(some, epsilon=1, grid=[0, 1]),
        "reach: it is about datasets of size 1 to 3 only",
    )


def test_listed_records_must_be_public() -> None:
    listed = sl.Universe.from_dataset([1, 2, 3])
    reach = sl.reach(listed, "median", dataset=[1, 2], neighbors="bounded", distances=1)
    with pytest.warns(DatasetUniverseWarning, match="^reach: the universe is a list of records"):
        sl.noise.inverse_sensitivity(reach, epsilon=1, grid=[1, 2])
