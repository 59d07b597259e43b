"""The law of the inverse sensitivity mechanism, against its definition on small universes."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import oracle_mechanisms as oracle
import pytest
from doses import shares
from scales import is_smallest_float_from

from sensitivity_lab.exact.roots import Root, root_of
from sensitivity_lab.noise.inverse_mechanism import Grid, GridLaw, decay, loss_of

QUERIES = (oracle.median, oracle.mean, oracle.spread, oracle.variance)


@dataclass
class Case:
    """A small universe with a mechanism on it."""

    graph: oracle.Space
    f: oracle.Answer
    grid: Grid
    farthest: int
    r: Fraction

    def law(self, x: oracle.Dataset) -> GridLaw:
        ends = oracle.reach(self.graph, self.f, x, self.farthest)
        return GridLaw(self.grid, self.grid.segments(*ends), self.r)

    def chances(self, x: oracle.Dataset) -> list[Fraction]:
        law = self.law(x)
        return [law.chance(place, place + 1) for place in range(len(self.grid.points))]


def case_of(seed: int) -> Case:
    """Ties, offsets, a range that answers leave, one point, widths, weights, K = 0 and far."""
    draw = random.Random(seed)
    replace = draw.random() < 0.6
    offset = draw.choice([0, 0, 0, 10**9])
    universe = [offset + draw.choice([0, 1, 1, 2, 5, 9]) for _ in range(draw.randint(2, 6))]
    n = draw.randint(1, len(universe) - 1)
    sizes = [n] if replace else range(1, len(universe) + 1)
    graph = oracle.space(universe, sizes, replace=replace)
    f = draw.choice(QUERIES)
    some = f(draw.choice(list(graph)))
    step = draw.choice([Fraction(1, 3), Fraction(1), Fraction(5, 2)])
    start = some + draw.choice([-5, -2, Fraction(1, 7), 4])
    points = [start]
    for _ in range(draw.randint(0, 8)):
        points.append(points[-1] + step * draw.randint(1, 3))
    weights = tuple(Fraction(draw.choice([1, 1, 2, 7]), 3) for _ in points)
    width = draw.choice([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(3)])
    r = draw.choice([Fraction(1, 2), Fraction(3, 5), Fraction(99, 100), decay(Fraction(1))])
    return Case(graph, f, Grid(tuple(points), weights, width), draw.randint(0, 6), r)


SEEDS = shares(everyday=12, check=60, stress=500)


@pytest.mark.parametrize("seed", SEEDS)
def test_law_scores_and_errors_are_those_of_the_definition(seed: int) -> None:
    case = case_of(seed)
    grid = case.grid
    for x in random.Random(seed).sample(sorted(case.graph), min(4, len(case.graph))):
        law, chances = case.law(x), case.chances(x)
        score = oracle.scores(case.graph, case.f, x, grid.points, grid.width, case.farthest)
        assert [law.ring(place) for place in range(len(grid.points))] == score
        assert chances == oracle.law(score, grid.weights, case.r)
        assert sum(chances) == 1
        assert min(chances) > 0
        for a in (case.f(x), grid.points[0], grid.points[-1] + 1, Fraction(7, 3)):
            exact = oracle.expected_error(grid.points, chances, a)
            assert law.exact_error(a) == exact
            assert is_smallest_float_from(law.expected_error(a), exact)


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_of_neighbors_differ_by_at_most_one_and_laws_by_two_factors_r(seed: int) -> None:
    case = case_of(seed)
    chances = {x: case.chances(x) for x in case.graph}
    rings = {x: [law.ring(at) for at in range(len(case.grid.points))]
             for x in case.graph for law in [case.law(x)]}  # fmt: skip
    for x, others in case.graph.items():
        for y in others:
            assert all(abs(s - t) <= 1 for s, t in zip(rings[x], rings[y], strict=True))
            assert all(p * case.r**2 <= q for p, q in zip(chances[x], chances[y], strict=True))


def test_some_neighbors_attain_the_privacy_loss_almost() -> None:
    """The factor is r**-2 in the limit: one point gains what all others lose."""
    graph = oracle.space([0, 1], [1], replace=True)
    grid = Grid((Fraction(0), Fraction(1)), (Fraction(1),) * 2)
    laws = [
        GridLaw(grid, grid.segments(*oracle.reach(graph, oracle.median, x, 1)), Fraction(1, 2))
        for x in graph
    ]
    assert laws[0].chance(0, 1) / laws[1].chance(0, 1) == 2
    two = Grid(grid.points, (Fraction(1), Fraction(1, 10**9)))
    laws = [GridLaw(two, two.segments(*oracle.reach(graph, oracle.median, x, 1)), Fraction(1, 2))
            for x in graph]  # fmt: skip
    ratio = laws[1].chance(1, 2) / laws[0].chance(1, 2)
    assert Fraction(399, 100) < ratio < 4


@pytest.mark.parametrize(("m", "target", "same"), [
    (3, Fraction(5, 2), True),
    (4, Fraction(7, 2), True),
    (3, Fraction(3), False),
    (4, Fraction(15, 4), False),
])  # fmt: skip
def test_the_mth_smallest_is_smiths_mechanism_with_target_rank_m_less_a_half(
    m: int, target: Fraction, same: bool
) -> None:
    """Smith (2011): an output is the likelier, the nearer its rank is to a target.

    Let c records of x be below t, and none equal. The m-th smallest rises above t with c - m + 1
    replacements, or falls below with m - c: with |c - (m - 1/2)| + 1/2 in both cases.
    """
    # Every value can occur as often as a dataset holds it. The values are on the grid, so that no
    # answer is rounded; the law is compared on the other points, where ranks are well defined.
    values = (0, 10, 20, 30)
    graph = oracle.space(values * 5, [5], replace=True)
    points = tuple(map(Fraction, (0, 1, 2, 10, 12, 15, 20, 25, 29, 30)))
    between = [place for place, point in enumerate(points) if point not in values]
    grid = Grid(points, (Fraction(1),) * len(points))
    half = Fraction(1, 2)  # r is its fourth power: distances from a target are multiples of 1/4
    agree: list[bool] = []
    for x in graph:
        ends = oracle.reach(graph, oracle.order_statistic(m), x, 5)
        law = GridLaw(grid, grid.segments(*ends), half**4)
        ours = [law.chance(place, place + 1) for place in between]
        ranks = [sum(record < points[place] for record in x) for place in between]
        distances = [4 * abs(rank - target) for rank in ranks]
        smith = oracle.law([int(one) for one in distances], [Fraction(1)] * len(between), half)
        agree.append([chance / sum(ours) for chance in ours] == smith)
    assert all(agree) is same


ROOTS = [Root(Fraction(2)), Root(Fraction(1, 3)), Root(Fraction(10**18 + 1)), Root(Fraction(99, 7))]


@pytest.mark.parametrize("a", ROOTS)
def test_roots_are_placed_and_measured_exactly(a: Root) -> None:
    close = Fraction(math.isqrt(a.square.numerator * 10**80 // a.square.denominator), 10**40)
    points = tuple(close.limit_denominator(9) + Fraction(i, 4) for i in range(-7, 8))
    grid = Grid(points, (Fraction(1),) * len(points))
    assert points[grid.place(a)] == oracle.on_grid(points, close)
    law = GridLaw(grid, grid.segments([a, Fraction(0)], [a, 2 * a]), Fraction(1, 2))
    chances = [law.chance(place, place + 1) for place in range(len(points))]
    exact = oracle.expected_error(points, chances, close)
    assert law.expected_error(a) == pytest.approx(float(exact), rel=1e-14)
    assert Fraction(law.expected_error(a)) >= exact - Fraction(1, 10**30)


def test_a_root_that_is_half_way_between_two_points_goes_to_the_larger_one() -> None:
    grid = Grid((Fraction(0), Fraction(3)), (Fraction(1),) * 2)
    assert grid.place(root_of(Fraction(9, 4))) == 1
    assert grid.place(Root(Fraction(9, 4))) == 1
    assert grid.place(Root(Fraction(9, 4) - Fraction(1, 10**50))) == 0


@pytest.mark.parametrize("loss", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(100)])
def test_a_decay_is_at_least_the_exponential_and_loses_nearly_all_of_the_loss(
    loss: Fraction,
) -> None:
    r = decay(loss)
    assert 0 < r < 1
    assert loss * (1 - Fraction(1, 2**20)) <= Fraction(loss_of(r)) <= Fraction(float(loss))
    assert loss_of(r, 2) == pytest.approx(2 * loss_of(r))
