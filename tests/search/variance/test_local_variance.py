"""Local variance: of every change, the neighbor with the largest and the one with the smallest.

The definition is in plain rationals here. Both extremes are asked for, as a mistake in one of them
only shows in the result where it is further from x than the other.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from random import Random
from unittest import mock

import numpy as np
import pytest
from doses import spans

import sensitivity_lab as sl
from sensitivity_lab.calls.reach import Ball
from sensitivity_lab.errors import InputError
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.search.variance import local_bounds, local_max
from sensitivity_lab.search.variance.local_max import both_ends, furthest_ends
from sensitivity_lab.universes.relations import repeated

KINDS = {
    "spread": lambda rng: rng.randint(-50, 50),
    "ties": lambda rng: rng.randint(0, 3),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 3),
    "skewed": lambda rng: 3 ** rng.randint(0, 7),
    "offset": lambda rng: 10**9 + rng.randint(0, 12),
    "one side": lambda rng: Fraction(rng.randint(1, 40), 4),
}


def variance(records, ddof) -> Fraction:
    size, total = len(records), sum(records)
    squares = sum((size * record - total) ** 2 for record in records)
    return Fraction(squares, size**2) / (size - ddof)


def extremes(x, outside, removed: int, added: int, ddof) -> tuple[Fraction, Fraction]:
    """The largest and the smallest variance of a neighbor, by its definition."""
    found = [
        variance(kept + new, ddof)
        for kept in set(combinations(sorted(x), len(x) - removed))
        for new in set(combinations(sorted(outside), added))
    ]
    return max(found), min(found)


def check(x, outside, neighbors, ddof=0) -> None:
    """Both extremes of every change, that they are neighbors by that change, and the result."""
    universe = sl.Universe.from_dataset([*x, *outside])
    held = Counter(map(Fraction, x))
    of_x = np.array([held[Fraction(value)] for value in universe.values])
    problem = LocalProblem(universe, sl.Var(ddof=ddof), neighbors, of_x).checked()
    both, furthest = both_ends(problem), []
    found = list(both.of_changes)
    assert tuple((ends.removed, ends.added) for ends in found) == problem.changes
    x, outside = (tuple(map(Fraction, one)) for one in (x, outside))
    assert both.of_x == variance(x, ddof)
    for removed, added, lower, upper in found:
        for end, expected in zip(
            (upper, lower), extremes(x, outside, removed, added, ddof), strict=True
        ):
            records = [Fraction(one) for one in repeated(universe.values, end.y())]
            lost, gained = held - Counter(records), Counter(records) - held
            assert lost.total() - gained.total() == removed - added
            assert lost.total() <= removed
            assert not gained - Counter(outside)
            assert variance(records, ddof) == expected
            assert end.answer == expected
            furthest.append(abs(variance(x, ddof) - expected))
    result = sl.local_sensitivity(
        universe, sl.Var(ddof=ddof), dataset=x, neighbors=neighbors, method="variance"
    )
    assert result.exact == max(furthest)


def drawn(rng: Random):
    """A dataset, the records outside it and a relation, with few, many or all records kept."""
    draw = KINDS[rng.choice(sorted(KINDS))]
    x = [draw(rng) for _ in range(rng.randint(2, 6))]
    outside = [draw(rng) for _ in range(rng.randint(0, 5))]
    relations = [sl.Unbounded(rng.randint(1, len(x) - 1), direction="remove")]
    if outside:
        most = rng.randint(1, len(outside))
        relations += [
            sl.Bounded(rng.randint(1, min(len(x), len(outside))), exactly=True),
            sl.Unbounded(most, direction="add"),
            sl.SymmetricDifference(rng.randint(1, len(x) - 1)),
            sl.Edit(rng.randint(1, len(x) - 1)),
        ]
    return x, outside, rng.choice(relations)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(200), marks=pytest.mark.exhaustive),
        pytest.param(range(200, 5_000), marks=pytest.mark.stress),
    ],
    ids=str,
)
def test_both_extremes_of_every_change(seeds):
    for seed in seeds:
        rng = Random(seed)
        check(*drawn(rng), rng.choice((0, 0, Fraction(1, 2))))


def drawn_for_long_windows(rng: Random):
    """Records so many, and so near to each other, that both parts of y can be many windows."""
    draw = KINDS[rng.choice(("spread", "clusters", "one side", "skewed"))]
    x, outside = ([draw(rng) for _ in range(rng.randint(6, 8))] for _ in range(2))
    k = rng.choice((2, len(x) - 2))
    return x, outside, sl.Bounded(k, exactly=True)


@pytest.mark.parametrize("seeds", spans(4, 100, 500), ids=str)
def test_long_windows(seeds):
    for seed in seeds:
        check(*drawn_for_long_windows(Random(seed)))


@pytest.mark.parametrize(
    ("x", "outside", "neighbors"),
    [
        # So many records are added on one side that every window of x gains by moving there.
        ([0, 1], [100] * 4, sl.SymmetricDifference(4, exactly=True)),
        ([99, 100], [0] * 4, sl.SymmetricDifference(4, exactly=True)),
        # Of the core and the added records each moves up, and the order of the steps matters.
        ([1, 9, 27, 27], [15, 42], sl.SymmetricDifference(3, exactly=True)),
        ([9, 729, 2187], [-49, -42, 44], sl.SymmetricDifference(3, exactly=True)),
        ([1, 2], [-60, -58, 0, 2, 72], sl.SymmetricDifference(4, exactly=True)),
        ([1, 1, 3, 9, 81], [-39, -17, -12, 6, 39], sl.SymmetricDifference(4, exactly=True)),
        ([11, 31], [1, 27, 27, 81, 243, 243], sl.SymmetricDifference(3, exactly=True)),
        ([-60, -59, -58, 2, 3], [-55, -51, -44, 41, 51, 55], sl.Bounded(4, exactly=True)),
        # One record kept, and none outside.
        ([3, 7, 7, 30], [], sl.Unbounded(3, direction="remove")),
    ],
)
def test_windows_at_the_ends(x, outside, neighbors):
    check(x, outside, neighbors)


def ends_by_level(problem, both) -> list[tuple[Fraction, Fraction]]:
    """The least and the greatest answer of the changes of every level and all lower ones."""
    level = dict(zip(problem.changes, problem.neighbors.levels(problem.changes), strict=True))
    seen, found = list(both.of_changes), []
    for most in sorted(set(level.values())):
        near = [ends for ends in seen if level[ends.removed, ends.added] <= most]
        lowest, highest = (
            pick(getattr(ends, end).answer for ends in near)
            for pick, end in ((min, "lower"), (max, "upper"))
        )
        found.append((lowest, highest))
    return found


def drawn_within_steps(rng: Random) -> LocalProblem:
    """A dataset with up to 12 records in it and outside, and all its neighbors in some steps."""
    draw = KINDS[rng.choice(sorted(KINDS))]
    x, outside = ([draw(rng) for _ in range(rng.randint(low, 12))] for low in (2, 0))
    universe = sl.Universe.from_dataset([*x, *outside])
    if rng.random() < 0.3:
        universe = sl.Universe.from_domain(set(universe.values))
    step = rng.choice((sl.Bounded(1), sl.SymmetricDifference(1), sl.Edit(1)))
    limits = (2, len(x) + rng.choice((0, 3, 9)))
    ball = Ball(rng.randint(1, 12), step=step, limits=limits)
    held = Counter(map(Fraction, x))
    of_x = np.array([held[Fraction(value)] for value in universe.values])
    query = rng.choice((sl.Var, sl.Std))(ddof=rng.choice((0, 1, Fraction(1, 2))))
    if rng.random() < 0.2:
        ball = rng.choice((sl.SymmetricDifference, sl.Edit))(rng.randint(1, len(x) - 1))
    return LocalProblem(universe, query, ball, of_x)


def check_left_out(seed: int) -> None:
    """Changes that are left out move no end: the definition here is the search of all of them."""
    problem = drawn_within_steps(Random(seed))
    try:
        sizes = {problem.size - removed + added for removed, added in problem.changes}
    except InputError:
        return  # x has no neighbor on which the query has an answer
    if sizes and min(sizes) > 1:
        with (
            mock.patch.object(local_max, "FEW", 0),
            mock.patch.object(local_bounds, "ROWS", 1 + seed % 40),
        ):
            some = ends_by_level(problem, furthest_ends(problem, False))
        assert some == ends_by_level(problem, both_ends(problem)), seed


@pytest.mark.parametrize("seeds", spans(3, 30, 4_000))
def test_changes_that_are_left_out_move_no_end(seeds):
    for seed in seeds:
        check_left_out(seed)


@pytest.mark.further
def test_few_changes_are_searched_exactly():
    """Of some 2,600 changes about one for every distance at which an end moves."""
    universe = sl.Universe.from_domain(range(61))
    searched = {"_smallest_variance": 0, "_largest_variance": 0}

    def counted(name):
        search = getattr(local_max, name)

        def called(*asked):
            searched[name] += 1
            return search(*asked)

        return mock.patch.object(local_max, name, called)

    with counted("_smallest_variance"), counted("_largest_variance"):
        sl.reach(universe, "var", dataset=range(61), neighbors="edit", distances=50)
    assert 50 <= searched["_smallest_variance"] <= 60
    assert 50 <= searched["_largest_variance"] <= 150
