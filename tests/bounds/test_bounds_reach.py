"""How often a local search reaches sensitivities that are known, and that it never exceeds them."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

import sensitivity_lab as sl

PROBLEMS = int(os.environ.get("BOUNDS", "1000"))

QUERIES = {
    "mean": lambda rows: rows.mean(axis=1),
    "sum": lambda rows: rows.sum(axis=1),
    "count": lambda rows: np.full(len(rows), float(rows.shape[1])),
    "median": lambda rows: np.median(rows, axis=1),
    "min": lambda rows: rows.min(axis=1),
    "max": lambda rows: rows.max(axis=1),
    "percentile_25": lambda rows: np.percentile(rows, 25, axis=1),
    "percentile_75": lambda rows: np.percentile(rows, 75, axis=1),
    "percentile_90": lambda rows: np.percentile(rows, 90, axis=1),
    "var": lambda rows: rows.var(axis=1),
    "std": lambda rows: rows.std(axis=1),
    "range": lambda rows: np.ptp(rows, axis=1),
    "midrange": lambda rows: (rows.min(axis=1) + rows.max(axis=1)) / 2,
    "iqr": lambda rows: np.percentile(rows, 75, axis=1) - np.percentile(rows, 25, axis=1),
    "count_distinct": lambda rows: 1 + (np.diff(rows, axis=1) != 0).sum(axis=1),
}
"""Every query as a function, of which the search knows nothing but its answers."""


def records_of(random: np.random.Generator, number: int) -> np.ndarray:
    """Records of several kinds: even, many ties, clusters, heavy tails."""
    kind = random.integers(4)
    if kind == 0:
        return random.integers(0, 1000, number)
    if kind == 1:
        return random.integers(0, 1 + number // 4, number)
    if kind == 2:
        return random.choice([0, 500, 600, 10_000], number) + random.integers(0, 5, number)
    return np.floor(np.exp(random.normal(3, 1.5, number)))


def problem(seed: int):
    """A query by name, and what it is asked of: a universe, a size and a relation."""
    random = np.random.default_rng(seed)
    name = list(QUERIES)[seed % len(QUERIES)]
    number = int(random.integers(8, 201))
    k = int(random.integers(1, 4))
    family = [sl.Bounded, sl.Unbounded, sl.SymmetricDifference][random.integers(3)]
    # Up to 2 the search for var and std covers the symmetric difference.
    k = min(k, 2) if family is sl.SymmetricDifference else k
    relation = family(k, exactly=bool(random.integers(2)))
    size = int(random.integers(k + 2, number - k + 1))
    return name, sl.Universe.from_dataset(records_of(random, number)), size, relation


def reach(seed: int, **limits) -> tuple[str, bool]:
    """Which query a problem has, and whether its sensitivity was reached."""
    name, universe, size, relation = problem(seed)
    exact = sl.global_sensitivity(universe, name, size=size, neighbors=relation)
    assert exact.method != "enumeration"
    query = sl.from_function(QUERIES[name], vectorized=True, name=f"my {name}")
    bounds = sl.sensitivity_bounds(
        universe, query, size=size, neighbors=relation, seed=seed, samples=100, **limits
    )
    bounds.verify()
    slack = 1e-9 * max(1.0, exact.value)
    assert bounds.lower <= exact.value + slack, seed
    return name, bounds.lower >= exact.value - slack


@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(15), marks=pytest.mark.exhaustive)], ids=str
)
def test_a_few_known_sensitivities_are_reached(seeds):
    found = [reach(seed, time_limit=np.inf, evaluations=1500)[1] for seed in seeds]
    assert sum(found) >= len(seeds) - 1


@pytest.mark.stress
def test_known_sensitivities_are_reached_in_a_second():
    missed = Counter()
    for seed in range(PROBLEMS):
        name, reached = reach(seed, time_limit=1.0)
        missed[name] += not reached
    assert missed.total() <= 0.05 * PROBLEMS, missed
