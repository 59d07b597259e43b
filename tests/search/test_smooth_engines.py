"""Smooth sensitivity of sum, mean, count and var by their engines: at every distance."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from unittest import mock

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
from sensitivity_lab.search.variance import smooth_max

LINEAR = {
    "mean": (sl.Mean(), ("mean",)),
    "sum": (sl.Sum(), ("sum",)),
    "count": (sl.Count(), ("count",)),
}
VARIANCE = {f"var, ddof {ddof}": (sl.Var(ddof), ("var", ddof)) for ddof in (0, 1, Fraction(3, 2))}
FARTHEST = 12
"""Beyond the farthest dataset of every universe here."""

LONG = Fraction(1, 3**40)


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


@pytest.mark.parametrize(
    ("records", "x", "name"),
    [([0, 0, 1, 100, 101, 102], [0, 100, 101], "var, ddof 1"), ([7, 7], [7], "var, ddof 0")],
)
def test_ties_agree_with_the_definition(records, x, name):
    universe = sl.Universe.from_dataset(records)
    agrees(universe, x, VARIANCE[name], beta=1, method="variance")


def test_new_records_help_a_mean_where_the_smallest_size_forbids_to_remove_more():
    """Two of three records may not be fewer: both of x go, and two others come."""
    universe = sl.Universe.from_domain([0, 5, 6])
    found = agrees(universe, [5, 5], LINEAR["mean"], (2, 3), beta=1e-3, method="monotone")
    assert (found.local.exact, found.distance) == (Fraction(2), 4)
    assert found.local.witness.x in {(0, 0), (0, 0, 6)}


@pytest.mark.representative("name")
@pytest.mark.parametrize("records", [[10**9 + 3, 10**9 + 4], [2**60, 2**60 + 1], [LONG, 2 * LONG]])
@pytest.mark.parametrize("name", list(VARIANCE))
def test_near_ties_are_told_apart(records, name):
    """Beside a record that outweighs all; some are beyond int64 once they are squared."""
    universe = sl.Universe.from_dataset([*records, *records, records[0] + 3 * LONG, 2**63])
    asked = VARIANCE[name]
    agrees(universe, [*records, records[0]], asked, beta=1e-6, method="variance")


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


def refused(dataset, *args, **options):
    with pytest.raises(sl.errors.NoEngineError) as caught:
        sl.smooth_sensitivity(*args, dataset=dataset, **{"neighbors": "bounded", **options})
    return str(caught.value)


def test_adding_and_removing_a_spread_is_refused_with_a_way_out():
    universe = sl.Universe.from_dataset(range(40))
    told = refused(range(20), universe, "var", beta=1, neighbors="unbounded", method="variance")
    assert told == (
        "no engine accepts var here: variance covers the smooth sensitivity of var for the bounded "
        "relation only: for adding and removing no list of patterns is proved; use "
        "neighbors='bounded', or noise for the global sensitivity over all sizes"
    )


def test_the_smooth_sensitivity_of_a_root_is_that_of_few_datasets_or_refused():
    universe = sl.Universe.from_dataset(range(40))
    assert refused(range(20), universe, "std", beta=1, method="variance") == (
        "no engine accepts std here: variance covers the smooth sensitivity of var, not of std, "
        "whose pairs have no common centre; release the variance and take the root of the noisy "
        "one, or add noise for the global sensitivity"
    )
    few = sl.smooth_sensitivity(range(8), "std", dataset=[0, 3], beta=1, neighbors="bounded")
    assert few.method == "enumeration"


def test_numbers_of_any_length():
    universe = sl.Universe.from_dataset([0, 1, 2**480, 2**480 + 1])
    agrees(universe, [0, 1], VARIANCE["var, ddof 0"], beta=1, method="variance")


def test_other_queries_are_refused():
    universe = sl.Universe.from_dataset(range(4))
    assert refused([0, 1], universe, "median", beta=1, method="variance") == (
        "no engine accepts median here: variance covers var and std, not median"
    )


@pytest.mark.exhaustive
def test_blocks_of_distances_are_searched_one_after_the_other():
    """The same answer with blocks of one distance: what was found before is what counts."""
    universe, x = sl.Universe.from_domain([0, 3, 4, 9]), [0, 3, 3, 4] * 10
    results = []
    for number in (1_024, 1):
        with mock.patch.object(smooth_max, "AT_ONCE", number):
            results.append(
                sl.smooth_sensitivity(
                    universe, "var", dataset=x, beta=1e-3, method="variance", neighbors="bounded"
                )
            )
    assert len(results[0].local_at_distance) > 30
    assert results[0].local_at_distance == results[1].local_at_distance


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
