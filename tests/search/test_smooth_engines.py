"""Smooth sensitivity of sum, mean and count by their engine: at every distance."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import oracle_smooth
import pytest
from strategies import as_fractions

import sensitivity_lab as sl
from sensitivity_lab.problem import SmoothProblem
from sensitivity_lab.queries import as_query
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.monotone.smooth_max import SmoothMonotone

LINEAR = {
    "mean": (sl.Mean(), ("mean",)),
    "sum": (sl.Sum(), ("sum",)),
    "count": (sl.Count(), ("count",)),
}
FARTHEST = 12
"""Beyond the farthest dataset of every universe here."""


def agrees(universe, x, asked, sizes=None, **options):
    """The result of an engine, held against the definition at every distance."""
    ours, theirs = asked
    relation = "bounded" if sizes is None else "unbounded"
    every_size = [len(x)] if sizes is None else range(sizes[0], sizes[1] + 1)
    found = sl.smooth_sensitivity(
        universe, ours, dataset=x, neighbors=relation, sizes=sizes, farthest=FARTHEST, **options
    )
    most = max(every_size) + (sizes is None)
    records = oracle.universe_of(map(Fraction, universe.values), universe.multiplicities(most))
    largest = oracle_smooth.local_at_distance(
        records, as_fractions(x), theirs, relation, every_size
    )
    largest += [largest[-1]] * (FARTHEST + 1 - len(largest))
    assert len(found.local_at_distance) == FARTHEST + 1
    for gap, true in zip(found.local_at_distance, largest, strict=True):
        if isinstance(true, Decimal):
            assert gap == pytest.approx(float(true), rel=1e-15)
        else:
            assert gap == true
    damped = oracle_smooth.smooth_sensitivity(largest, found.beta)
    assert found.value == pytest.approx(float(damped), rel=1e-15)
    assert found.upper >= Fraction(damped) * (1 - Fraction(1, 10**40))
    found.verify()
    return found


def test_new_records_help_a_mean_where_the_smallest_size_forbids_to_remove_more():
    """Two of three records may not be fewer: both of x go, and two others come."""
    universe = sl.Universe.from_domain([0, 5, 6])
    found = agrees(universe, [5, 5], LINEAR["mean"], (2, 3), beta=1e-3, method="monotone")
    assert (found.local.exact, found.distance) == (Fraction(2), 4)
    assert found.local.witness.x in {(0, 0), (0, 0, 6)}


def large(values, size):
    """A problem of so many values, half of them in x, that stops after 20 distances."""
    universe = sl.Universe.from_dataset(values)
    x = np.zeros(len(universe.values), dtype=np.int64)
    x[np.random.default_rng(size).permutation(len(x))[:size]] = 1
    return universe, x, lambda *told: told[2] >= 20


def test_adding_and_removing_many_records_stops_early():
    universe, x, stop = large(range(10_000), 5_000)
    problem = SmoothProblem(
        universe, as_query("mean"), x, sl.SymmetricDifference(1), (1, 10_000), stop
    )
    assert SmoothMonotone().plan(problem, Options()).solve().farthest == 20


def test_a_sum_has_nothing_to_find_beyond_a_change():
    universe, x, _ = large(range(100), 50)
    problem = SmoothProblem(universe, as_query("sum"), x, sl.Bounded(1), (50, 50), lambda *_: False)
    assert SmoothMonotone().plan(problem, Options()).solve().farthest <= 1


def test_the_local_sensitivity_goes_one_way_only_where_sizes_end():
    universe = sl.Universe.from_domain([0, 5, 6])
    at_the_end, between = (
        sl.smooth_sensitivity(
            universe, "mean", dataset=x, beta=beta, neighbors="unbounded", sizes=sizes
        ).local
        for x, beta, sizes in (([5, 5], 1e-3, (2, 3)), ([0, 5, 6], 9, (1, 6)))
    )
    ways = {2: "add", 3: "remove"}
    assert at_the_end.neighbors.direction == ways[len(at_the_end.witness.x)]
    assert (len(between.witness.x), between.neighbors.direction) == (3, "both")
