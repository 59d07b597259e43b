"""Contracts of the engines at 13 to 40 records, by every way of searching.

The records have a few distinct values, so that enumeration, which goes through datasets by
multiplicities, is quick.
"""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from unittest import mock

import pytest
from doses import shares

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError, NoEngineError
from sensitivity_lab.search.variance import branch, local_max
from sensitivity_lab.search.variance import words as word_search

VALUES = {
    "near": lambda rng: rng.sample(range(9), 4),
    "skewed": lambda rng: [rng.randint(-3, 3), 10, 11, 400],
    "far away": lambda rng: [10**9 + one for one in rng.sample(range(12), 3)],
    "quarters": lambda rng: [one / 4 for one in rng.sample(range(-30, 30), 3)],
}

QUERIES = {
    "monotone": ("sum", "mean", "median", sl.Percentile(30)),
    "ranks": ("iqr",),
    "multiplicities": ("count_distinct",),
    "variance": ("var", "std", sl.Var(ddof=1), sl.Std(ddof=1)),
}

WAYS = {
    "as it is": [],
    "all are left": [(branch, "FEW", 1 << 60)],
    "bisection": [(word_search, "FEW", 0)],
    "branch and bound": [(branch, "FEW", 0), (word_search, "FEW", 0), (local_max, "FEW", 0)],
}


def drawn(rng: Random):
    """A universe, a dataset of it and a relation."""
    values = VALUES[rng.choice(sorted(VALUES))](rng)
    records = [*values, *rng.choices(values, k=rng.randint(13, 40) - len(values))]
    relation = rng.choice((sl.Bounded, sl.Unbounded, sl.SymmetricDifference, sl.Edit))
    size = rng.randint(4, len(records) - 4)
    return (
        sl.Universe.from_dataset(records),
        rng.sample(records, size),
        relation(rng.randint(1, 4), exactly=rng.random() < 0.2),
    )


def same(call, method: str) -> bool:
    """Whether an engine had an answer, which is that of the definition."""
    try:
        found = call(method)
    except (InputError, NoEngineError):
        return False
    by_definition = call("enumeration")
    assert (found.exact, found.upper) == (by_definition.exact, by_definition.upper)
    return True


def check(method: str, way: str, seed: int) -> int:
    """A global and a local question, and how many of them had an answer."""
    rng = Random(seed)
    universe, x, neighbors = drawn(rng)
    query = rng.choice(QUERIES[method])

    def everywhere(by):
        return sl.global_sensitivity(universe, query, size=len(x), neighbors=neighbors, method=by)

    def of_x(by):
        return sl.local_sensitivity(universe, query, dataset=x, neighbors=neighbors, method=by)

    with ExitStack() as stack:
        for module, name, value in WAYS[way]:
            stack.enter_context(mock.patch.object(module, name, value))
        return same(everywhere, method) + same(of_x, method)


@pytest.mark.parametrize("share", shares(1, 6, 120))
@pytest.mark.parametrize(
    ("method", "way"),
    [*((method, "as it is") for method in QUERIES), *(("variance", way) for way in [*WAYS][1:])],
)
def test_engines_agree_with_enumeration_on_many_records(method, way, share):
    answered = sum(check(method, way, seed) for seed in range(6 * share, 6 * share + 6))
    assert answered >= 6


DISTINCT = {
    "spread": lambda rng: rng.sample(range(-500, 500), 40),
    "skewed": lambda rng: [round(1.4 ** rng.uniform(0, 25), 3) for _ in range(40)],
    "clusters": lambda rng: [rng.choice((-70, 0, 90)) + rng.randint(0, 9) for _ in range(40)],
    "far away": lambda rng: [10**9 + rng.randint(0, 99) for _ in range(40)],
}


def check_windows_and_bounds(seed: int) -> bool:
    """Whether a problem has an answer; that of all windows is that of branch and bound."""
    rng = Random(seed)
    records = DISTINCT[rng.choice(sorted(DISTINCT))](rng)[: rng.randint(13, 40)]
    universe, k = sl.Universe.from_dataset(records), rng.randint(1, 4)
    relation = rng.choice((sl.Bounded, sl.Bounded, sl.Unbounded, sl.SymmetricDifference, sl.Edit))
    neighbors, query = relation(k, exactly=rng.random() < 0.3), rng.choice(QUERIES["variance"])
    size, found = rng.randint(3, len(records) - 3), []
    for way in ("all are left", "bisection", "branch and bound"):
        with ExitStack() as stack:
            for module, name, value in WAYS[way]:
                stack.enter_context(mock.patch.object(module, name, value))
            try:
                one = sl.global_sensitivity(
                    universe, query, size=size, neighbors=neighbors, method="variance"
                )
            except (InputError, NoEngineError):
                return False
        found.append((one.exact, one.upper))
    assert len(set(found)) == 1, seed
    return True


@pytest.mark.further
@pytest.mark.parametrize("share", shares(1, 6, 120))
def test_all_windows_reach_what_branch_and_bound_does(share):
    seeds = range(20 * share, 20 * share + 20)
    assert sum(map(check_windows_and_bounds, seeds)) >= 10
