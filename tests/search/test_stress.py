"""Long search for a counterexample: random universes against the definition, no Hypothesis.

The oracle's work is shared. Which pairs are neighbors depends on positions only, so they are listed
once for all universes of N records; each query is answered once per dataset of a universe, for all
relations. `make stress` takes as many universes as the environment variable ``STRESS`` says, 20,000
by default, for every query, relation and meaning of k; `make check` takes the `FEW` before them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import isqrt, lcm
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import oracle
import pandas as pd
import pytest
from checks import check_value
from doses import STRESS
from strategies import QUERIES, RELATIONS, most_feasible

import sensitivity_lab as sl
from sensitivity_lab.search.variance import branch

FEW = 5

TOTALS = (4, 5, 6, 6, 7, 7, 8, 8, 8, 8)
"""Sizes of universes, as often as they are drawn; one in `RARE` has `LARGEST` records instead."""
RARE, LARGEST = 40, 9

Q = (0, 1, 10, 25, Fraction(100, 3), 37.5, 50, 62.5, Fraction(200, 3), 75, 90, 99, 99.9, 100)

KINDS = {
    "ties": lambda rng: rng.randint(0, 2),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 3),
    "heavy tails": lambda rng: rng.choice((-1, 1)) * 7 ** rng.randint(0, 7),
    "negatives": lambda rng: -rng.randint(0, 30),
    "spread": lambda rng: rng.randint(-1000, 1000),
    "two ends": lambda rng: rng.choice((0, 0, 1, 99, 100, 100)),
    "offset": lambda rng: 10**9 + rng.randint(0, 8),
    "float offset": lambda rng: 1e9 + rng.randint(0, 40) / 8,
}
"""A record, by what is difficult about its universe."""

Positions = tuple[int, ...]


@dataclass(frozen=True)
class Pairs:
    """All pairs of neighbors (x, y) of a universe of some size, as places in `subsets`."""

    x: np.ndarray
    y: np.ndarray
    smallest: int
    """The size of the smallest dataset among them."""


@lru_cache
def subsets(total: int) -> list[Positions]:
    """Every dataset of `total` different records, by their positions."""
    return [x for size in range(total + 1) for x in sorted(oracle.datasets(range(total), size))]


@lru_cache(maxsize=1000)
def pairs(total: int, size: int, family: str, k: int, exactly: bool) -> Pairs:
    """List the pairs of neighbors; equal records are different ones, so positions decide."""
    relation, parameters = RELATIONS[family]
    place = {x: at for at, x in enumerate(subsets(total))}
    name = relation.name.replace(" ", "_")
    listed = oracle.pairs(range(total), size, name, k, exactly=exactly, **parameters)
    table = np.array([(place[x], place[y]) for x, y in listed], dtype=np.int16)
    smallest = min(len(subsets(total)[at]) for at in np.unique(table))
    return Pairs(*table.T, smallest)


class Answers:
    """The oracle's answers to one query on every dataset of a universe.

    Where the query is undefined on small datasets, they have no answer and are not asked about.
    """

    def __init__(self, records: list[Any], query: tuple[Any, ...]) -> None:
        self.root = query[0] == "std"
        asked = ("var", *query[1:]) if self.root else query
        least = oracle.least(query)
        self.answers = [
            oracle.evaluate(asked, (records[at] for at in x)) if len(x) >= least else Fraction(0)
            for x in subsets(len(records))
        ]

    @cached_property
    def numerators(self) -> np.ndarray:
        """The answers times `unit`: int64 where differences fit, else Python ints."""
        listed = [answer.numerator * (self.unit // answer.denominator) for answer in self.answers]
        return np.array(listed, dtype=np.int64 if max(map(abs, listed)) < 2**62 else object)

    @cached_property
    def unit(self) -> int:
        return lcm(*(answer.denominator for answer in self.answers))

    @cached_property
    def roots(self) -> np.ndarray:
        """Square roots, in units of 2**-64, rounded down."""
        scaled = [(answer.numerator << 128) // answer.denominator for answer in self.answers]
        return np.array([isqrt(one) for one in scaled], dtype=object)

    def largest_change(self, listed: Pairs) -> Any:
        """The largest change over pairs of neighbors, as the oracle gives it."""
        if not self.root:
            apart = np.abs(self.numerators[listed.x] - self.numerators[listed.y])
            return Fraction(int(apart.max()), self.unit)
        # In floats, all that may be largest; 2**-40 is far above what rounding does to roots.
        roots = self.roots.astype(np.float64)
        apart = np.abs(roots[listed.x] - roots[listed.y])
        close = np.flatnonzero(apart >= apart.max() - roots.max() * 2.0**-40)
        changes = {
            frozenset((self.answers[x], self.answers[y]))
            for x, y in zip(listed.x[close].tolist(), listed.y[close].tolist(), strict=True)
        }
        return max(oracle.root_difference(max(two), min(two)) for two in changes)


def draw_records(rng: Random) -> list[Any]:
    total = rng.choice(TOTALS) if rng.randrange(RARE) else LARGEST
    draw = KINDS[rng.choice(sorted(KINDS))]
    return sorted(draw(rng) for _ in range(total))


def draw_pairs(rng: Random, total: int, family: str, exactly: bool, least: int) -> tuple[Any, ...]:
    """Draw the size of x, a feasible k, often its limit, and list the pairs of neighbors."""
    while True:
        # Where five of eight are drawn, all that are outside can replace more than are kept.
        few_kept = 5 * total // 8
        size = rng.choice((rng.randint(1, total), few_kept, total - 1, total - 2))
        most = most_feasible(family, size, total, exactly)
        if most < 1:
            continue
        k = rng.choice((1, rng.randint(1, most), total - size or 1, most))
        if k > most:
            continue
        listed = pairs(total, size, family, k, exactly)
        if listed.smallest >= least:
            return size, k, listed


def draw_queries(rng: Random) -> dict[str, tuple[sl.Query, tuple[Any, ...]]]:
    """All named queries, and a percentile."""
    q, method = rng.choice(Q), rng.choice(oracle.METHODS)
    return {**QUERIES, "percentile": (sl.Percentile(q, method), ("percentile", q, method))}


def check_universe(seed: int) -> Counter[tuple[str, str]]:
    """Compare every query under every relation with the definition, on one universe."""
    rng = Random(seed)
    records = draw_records(rng)
    universe = sl.Universe.from_dataset(records)
    queries = draw_queries(rng)
    answers = {name: Answers(records, theirs) for name, (_, theirs) in queries.items()}
    checked: Counter[tuple[str, str]] = Counter()
    for family, exactly, least in product(RELATIONS, (False, True), (0, 1, 2)):
        size, k, listed = draw_pairs(rng, len(records), family, exactly, least)
        relation, parameters = RELATIONS[family]
        neighbors = relation(k, exactly, **parameters)
        for name, (query, _) in queries.items():
            if query.least_size != least:
                continue
            case = f"seed {seed}: {query.name} of {size} of {records}, {neighbors}"
            try:
                # Small universes try every word at once; every other one searches as large ones do.
                with mock.patch.object(branch, "FEW", 0 if seed % 2 else branch.FEW):
                    result = sl.global_sensitivity(universe, query, size=size, neighbors=neighbors)
                check_value(result, answers[name].largest_change(listed))
            except Exception as error:
                raise AssertionError(f"{case}: {error!r}") from error
            checked[name, f"{family}, {neighbors.meaning}"] += 1
    return checked


def check_universes(seeds: Iterable[int]) -> pd.DataFrame:
    """The number of comparisons for every query (rows) and relation (columns)."""
    checked: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        checked += check_universe(seed)
    return pd.Series(checked).unstack().astype(int)


@pytest.mark.exhaustive
def test_a_few_random_universes():
    checked = check_universes(range(FEW))
    assert checked.shape == (len(QUERIES) + 1, 2 * len(RELATIONS))
    assert checked.to_numpy().min() == FEW


@pytest.mark.stress
def test_many_random_universes(capsys):
    checked = check_universes(range(FEW, FEW + STRESS))
    assert checked.to_numpy().min() >= STRESS
    with capsys.disabled():
        sys.stdout.write(f"\n{checked.T.to_string()}\n{checked.to_numpy().sum():,} in all\n")


@pytest.mark.further
@pytest.mark.representative("family")
@pytest.mark.parametrize("family", RELATIONS)
@pytest.mark.parametrize("exactly", [False, True])
def test_shared_work_is_the_oracles(family, exactly):
    """What is shared here gives what `oracle.global_sensitivity` says, also where records tie."""
    relation, parameters = RELATIONS[family]
    for seed in range(6):
        rng = Random(seed)
        records = [KINDS[rng.choice(("ties", "clusters"))](rng) for _ in range(5)]
        size, k, listed = draw_pairs(rng, 5, family, exactly, 2)
        for _, theirs in draw_queries(rng).values():
            expected, _ = oracle.global_sensitivity(
                records,
                size,
                theirs,
                relation.name.replace(" ", "_"),
                k,
                exactly=exactly,
                **parameters,
            )
            assert Answers(records, theirs).largest_change(listed) == expected
