"""Variances of a few records, by all subsets: against the definition, and against the patterns."""

from __future__ import annotations

from collections import Counter
from random import Random
from unittest import mock

import oracle
import pytest
from doses import dose
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import QUERIES, RELATIONS, as_fractions, problems

import sensitivity_lab as sl
from sensitivity_lab.problem import Problem
from sensitivity_lab.search.variance import few_records

MANY = dose(20_000)
FAMILIES = (
    sl.Bounded(),
    sl.Unbounded(),
    sl.Unbounded(exactly=True),
    sl.Unbounded(direction="add"),
    sl.Unbounded(direction="remove", exactly=True),
)
SPREADS = [name for name in QUERIES if name.startswith(("var", "std"))]


@pytest.mark.representative("family")
@pytest.mark.parametrize(
    ("family", "exactly"),
    [(family, exactly) for family in RELATIONS for exactly in (False, True)],
)
@given(data=st.data())
def test_agrees_with_the_definition(family, exactly, data):
    asked = data.draw(problems(family, exactly))
    ours, theirs = QUERIES[data.draw(st.sampled_from(SPREADS))]
    try:
        expected = asked.sensitivity(theirs)
    except ValueError:  # of too few records
        assume(False)
    try:
        result = sl.global_sensitivity(
            asked.universe, ours, size=asked.size, neighbors=asked.relation, method="variance"
        )
    except sl.errors.NoEngineError:
        assume(False)
    except sl.errors.InputError:
        # Exactly k apart, all directions have to leave enough records.
        assume(not exactly)
        raise
    x, y = as_fractions(result.witness.x), as_fractions(result.witness.y)
    assert y in asked.neighbors(x)
    answers = [oracle.evaluate(("var", theirs[1]), one) for one in (x, y)]
    if ours.root:
        assert oracle.root_difference(*answers) == expected
    else:
        assert result.exact == abs(answers[0] - answers[1]) == expected
    result.verify()


def draw(rng: Random) -> list[float]:
    """Up to 12 records with ties, clusters, heavy tails or next to each other."""
    number = rng.randint(2, 12)
    kind = rng.choice(["ties", "tails", "close", "offset"])
    return [
        {
            "ties": rng.randint(0, 3),
            "tails": (-3) ** rng.randint(0, 9),
            "close": 1000 + rng.randint(0, 1),
            "offset": 1e9 + rng.randint(0, 40) / 8,
        }[kind]
        for _ in range(number)
    ]


def compare(seeds: range) -> Counter[str]:
    """Compare curves of var and std with those of the patterns; count who solved them."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(seed)
        records = draw(rng)
        universe, size = sl.Universe.from_dataset(records), rng.randint(1, len(records))
        ddof = rng.choice([0, 0, 1, 2])
        for family in FAMILIES:
            asked = {"size": size, "distances": range(1, rng.randint(2, 5)), "neighbors": family}
            queries = [sl.Var(ddof), sl.Std(ddof)]
            with mock.patch.object(few_records, "MOST", 0):
                try:
                    patterns = sl.sensitivity_curves(universe, queries, method="variance", **asked)
                except (sl.errors.InputError, sl.errors.NoEngineError):
                    continue
            with mock.patch.object(few_records, "solve", wraps=few_records.solve) as solved:
                subsets = sl.sensitivity_curves(universe, queries, method="variance", **asked)
            for (_, one), (_, other) in zip(patterns, subsets, strict=True):
                assert (one.value, one.exact, one.upper) == (other.value, other.exact, other.upper)
                other.verify()
            counted[family.name] += solved.call_count
    return counted


@pytest.mark.exhaustive
def test_agrees_with_the_patterns():
    assert min(compare(range(20)).values()) > 8


@pytest.mark.stress
def test_agrees_with_the_patterns_on_many_universes():
    assert min(compare(range(1000, 1000 + MANY)).values()) > MANY // 2


def test_what_is_left_to_the_patterns():
    few, many = sl.Universe.from_dataset(range(12)), sl.Universe.from_dataset(range(13))
    domain = sl.Universe.from_domain([1, 2])
    for universe, query, neighbors, taken in (
        (few, sl.Var(), sl.Bounded(2), True),
        (few, sl.Var(), sl.Bounded(2, exactly=True), False),
        (few, sl.Std(1), sl.Unbounded(2, exactly=True), True),
        (few, sl.Std(0.5), sl.Unbounded(2), False),
        (few, sl.Std(), sl.SymmetricDifference(2), True),
        (few, sl.Std(), sl.SymmetricDifference(2, exactly=True), False),
        (many, sl.Var(), sl.Bounded(2), False),
        (domain, sl.Var(), sl.Bounded(2), False),
    ):
        problem = Problem(universe, (query,), (neighbors,), (5,)).checked()
        assert few_records.takes(problem) == taken, (universe, query, neighbors)
    large = sl.Universe.from_dataset([0, 1, 2**20 + 2])
    problem = Problem(large, (sl.Var(),), (sl.Bounded(1),), (2,)).checked()
    assert few_records.takes(problem)
    assert few_records.solve(problem) is None
    result = sl.global_sensitivity(large, "var", size=2, neighbors="bounded")
    assert result.exact * 4 == (2**20 + 2) ** 2 - 1
