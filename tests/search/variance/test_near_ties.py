"""Variance and standard deviation of records that are all but equal, against the definition.

Floating point cannot tell many datasets of such records apart: only exact comparisons find the
pair. `make stress` takes as many cases as the environment variable ``NEAR_TIES`` says, 1,000,000
by default; `make check` takes `FEW_UNIVERSES` universes before them.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any
from unittest import mock

import pytest
from doses import NEAR_TIES
from near_ties import DDOFS, POOLS, Pairs, Rated, draw_records, exactly, pairs, subsets
from strategies import RELATIONS, most_feasible

import sensitivity_lab as sl
from sensitivity_lab.calls.sensitivity import conclude
from sensitivity_lab.problem import Problem
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engine import Options, Plan
from sensitivity_lab.search.variance import branch, patterns
from sensitivity_lab.search.variance import float_prefix_sums as sorted_records
from sensitivity_lab.search.variance import words as word_search

FEW_UNIVERSES = 6

(VARIANCE,) = (engine for engine in engines_for("global") if engine.name == "variance")

BOUNDED = [(branch, "FEW", 0), (word_search, "FEW", 0), (branch, "START", 1)]

UNUSUAL = {
    "all pairs at once": [],
    "bisection": [(word_search, "FEW", 0)],
    "one seed": [(patterns, "SEED", 1), (patterns, "CHUNK", 3), (word_search, "CHUNK", 3)],
    "exact comparison at once": [(patterns, "ROUNDS", 0)],
    "repeated values compact": [(sorted_records, "EXPANDED", 0)],
    "bounds": BOUNDED,
    "bounds, in pieces": [*BOUNDED[:2]],
    "bounds, few splits at once": [*BOUNDED, (branch, "SPLITS", 1)],
    "bounds, of compact values": [*BOUNDED, (sorted_records, "EXPANDED", 0)],
    "narrow limbs": [(sorted_records, "WIDTHS", (8,))],
}
"""What to change so that a small universe is searched as a large one is."""


def neighborhoods(total: int, size: int) -> list[tuple[Any, Pairs]]:
    """Every relation and distance for datasets of a size, with all pairs of neighbors."""
    found = []
    for family, (relation, parameters) in RELATIONS.items():
        name, direction = relation.name.replace(" ", "_"), parameters.get("direction", "both")
        for k, exact in product(range(1, 4), (False, True)):
            if k <= most_feasible(family, size, total, exact):
                listed = pairs(total, size, name, k, exact, direction)
                found.append((relation(k, exact, **parameters), listed))
    return found


def planned(
    universe: Any, query: Any, relations: tuple[Any, ...], size: int
) -> tuple[Problem, Plan[Any] | None]:
    """A problem, and its plan; None for a root that is not proved."""
    problem = Problem(universe, (query,), relations, (size,)).checked()
    plan = VARIANCE.plan(problem, Options())
    if isinstance(plan, Plan):
        return problem, plan
    assert query.root
    assert "not proved" in plan.reason
    return problem, None


WHOLE_CURVES = ("bounds", "bounds, few splits at once")


def check_universe(seed: int, ways: Sequence[str] = tuple(sorted(UNUSUAL))) -> Counter[str]:
    """Compare var and std under every relation with the definition, on one universe."""
    rng = Random(seed)
    rated = Rated(draw_records(rng))
    universe = sl.Universe.from_dataset(rated.records)
    size, way = rng.randint(2, len(rated.records)), rng.choice(ways)
    checked: Counter[str] = Counter()
    with ExitStack() as stack:
        for module, name, value in UNUSUAL[way]:
            stack.enter_context(mock.patch.object(module, name, value))
        for query_of, ddof in product((sl.Var, sl.Std), rng.sample(DDOFS, 2)):
            query = query_of(ddof)
            asked = [
                (neighbors, listed)
                for neighbors, listed in neighborhoods(len(rated.records), size)
                if listed.smallest > ddof and planned(universe, query, (neighbors,), size)[1]
            ]
            if not asked:
                continue
            relations = tuple(neighbors for neighbors, _ in asked)
            problem, plan = planned(universe, query, relations, size)
            assert plan
            (findings,) = plan.solve()
            for (neighbors, listed), finding in zip(asked, findings, strict=True):
                case = f"{seed}: {query.name}, {size} of {rated.records}, {neighbors}, {way}"
                result = conclude(problem, query, neighbors, "variance", finding)
                check(rated, result, query, listed, case)
                checked[f"{query.name}, {neighbors.name}, {neighbors.meaning}"] += 1
    return checked


def check(
    rated: Rated, result: sl.results.Sensitivity, query: Any, listed: Pairs, case: str
) -> None:
    """The pair found is as far apart as any, and `upper` is not below that but next to it."""
    root = query.root
    largest = rated.largest(root, query.ddof, listed)
    if not root:
        assert result.exact == largest, case
        assert Fraction(result.upper) >= largest, case
        assert Fraction(math.nextafter(result.upper, -math.inf)) < largest, case
        return
    answers, unit = rated.answers(root, query.ddof)
    place = {x: at for at, x in enumerate(subsets(len(rated.records)))}
    left = [answers[place[positions(rated, one)]] for one in (result.witness.x, result.witness.y)]
    # Each root is rounded down to a unit.
    assert abs(abs(left[0] - left[1]) - largest * unit) <= 2, case
    assert Fraction(result.upper) >= largest - Fraction(2, unit), case
    assert Fraction(math.nextafter(result.upper, -math.inf)) <= largest + Fraction(2, unit), case


def positions(rated: Rated, dataset: tuple[Any, ...]) -> tuple[int, ...]:
    """The records of a dataset as positions in the universe."""
    free = list(range(len(rated.records)))
    found = []
    for record in dataset:
        at = next(at for at in free if exactly(rated.records[at]) == exactly(record))
        free.remove(at)
        found.append(at)
    return tuple(sorted(found))


@pytest.mark.exhaustive
def test_a_few_universes_of_near_ties():
    checked = sum((check_universe(seed) for seed in range(FEW_UNIVERSES)), Counter())
    families = {relation(1).name for relation, _ in RELATIONS.values()}
    for query in ("var", "std"):
        for name in families:
            for meaning in ("at most", "exactly"):
                counted = [
                    count
                    for key, count in checked.items()
                    if key.startswith(query) and f", {name}, {meaning}" in key
                ]
                assert sum(counted) > FEW_UNIVERSES, (query, name, meaning)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [10, 14, 45])
def test_whole_curves_leave_out_no_near_tie(seed):
    """Here what can be lost at a node is less than the rounding of its bounds."""
    assert check_universe(seed, WHOLE_CURVES)


@pytest.mark.stress
def test_many_universes_of_near_ties(capsys):
    checked: Counter[str] = Counter()
    seed = FEW_UNIVERSES
    while checked.total() < NEAR_TIES:
        checked += check_universe(seed)
        seed += 1
    with capsys.disabled():
        lines = "\n".join(f"{count:>9,}  {case}" for case, count in sorted(checked.items()))
        sys.stdout.write(f"\n{lines}\n{checked.total():,} cases of {seed:,} universes\n")


def test_every_pool_is_drawn():
    for name, pool in POOLS.items():
        assert len(set(map(exactly, pool(Random(1))))) > 1, name
