"""How often a local search reaches sensitivities that are known, and that it never exceeds them."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from doses import BOUNDS

import sensitivity_lab as sl
from sensitivity_lab.bounds import answers, call, climb


def _gini(rows: np.ndarray) -> np.ndarray:
    """The mean difference of two records; rows are sorted, as the package gives them."""
    n = rows.shape[1]
    return rows @ (2.0 * np.arange(1, n + 1) - n - 1) * (2 / n / (n - 1))


def _inner(rows: np.ndarray) -> np.ndarray:
    """Sorted rows without a tenth of the records, rounded down, at either end."""
    cut = rows.shape[1] // 10
    return rows[:, cut : rows.shape[1] - cut]


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
    "gini_mean_difference": lambda rows: _gini(rows),
    "trimmed_mean_10": lambda rows: _inner(rows).mean(axis=1),
    "winsorized_mean_10": lambda rows: np.clip(
        rows, _inner(rows)[:, :1], _inner(rows)[:, -1:]
    ).mean(axis=1),
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


@contextmanager
def ended_at(value: float):
    """Let a search count seconds of the processor, and end once it has found a value."""
    found = [0.0]

    def offer(self, shape, pair, gap, offer=climb.Best.offer):
        offer(self, shape, pair, gap)
        found[0] = max(found[0], self.gap)

    def reached(self, asked, reached=climb.Limit.reached):
        return found[0] >= value or reached(self, asked)

    clock = SimpleNamespace(monotonic=time.process_time)
    with (
        mock.patch.object(climb.Best, "offer", offer),
        mock.patch.object(climb.Limit, "reached", reached),
        mock.patch.object(answers, "time", clock),
        mock.patch.object(climb, "time", clock),
        mock.patch.object(call, "time", clock),
    ):
        yield


def reach(seed: int, **limits) -> tuple[str, bool]:
    """Which query a problem has, and whether its sensitivity was reached."""
    name, universe, size, relation = problem(seed)
    exact = sl.global_sensitivity(universe, name, size=size, neighbors=relation)
    assert exact.method != "enumeration"
    query = sl.from_function(QUERIES[name], vectorized=True, name=f"my {name}")
    slack = 1e-9 * max(1.0, exact.value)
    with ended_at(exact.value - slack):
        bounds = sl.bounds.sensitivity_bounds(
            universe, query, size=size, neighbors=relation, seed=seed, **limits
        )
    bounds.verify()
    assert bounds.lower <= exact.value + slack, seed
    return name, bounds.lower >= exact.value - slack


@pytest.mark.exhaustive
def test_a_few_known_sensitivities_are_reached():
    seeds = range(7)
    found = [reach(seed, time_limit=np.inf, evaluations=1500)[1] for seed in seeds]
    assert sum(found) >= len(seeds) - 1


@pytest.mark.stress
@pytest.mark.parametrize(("starts", "least"), [("engines", 0.95), ("none of engines", 0.9)])
def test_known_sensitivities_are_reached_in_a_second(starts, least, monkeypatch):
    """Also without the worst pairs that engines find, which may be those of the very query."""
    if starts != "engines":
        monkeypatch.setattr(climb, "worst_cases", lambda *_: iter(()))
    missed = Counter()
    for seed in range(BOUNDS):
        name, reached = reach(seed, time_limit=1.0)
        missed[name] += not reached
    assert missed.total() <= (1 - least) * BOUNDS, missed
