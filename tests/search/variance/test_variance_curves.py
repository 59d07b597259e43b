"""Whole curves of var and std: every distance at once, against the definition and one by one."""

from __future__ import annotations

import random
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import chain, pairwise, starmap
from unittest import mock

import numpy as np
import oracle
import pytest
from doses import spans

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.search.layouts import Shape, sorted_universe
from sensitivity_lab.search.variance import global_max
from sensitivity_lab.search.variance.comparing import Sets, Spread
from sensitivity_lab.search.variance.distances import branch, curve
from sensitivity_lab.search.variance.distances.curve import placements
from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords
from sensitivity_lab.search.variance.global_max import working_records
from sensitivity_lab.search.variance.kernels import any_pair
from sensitivity_lab.search.variance.patterns import Placement

SPREADS = [Spread(Fraction(ddof), root) for ddof in (0, 1) for root in (False, True)]

DATA = {
    "uniform": lambda rng, size: rng.random(size),
    "normal": lambda rng, size: rng.normal(size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "clustered": lambda rng, size: rng.choice([-70, 0, 3, 900], size) + rng.normal(size=size),
    "integers": lambda rng, size: rng.integers(0, 40, size),
    "far away": lambda rng, size: 10**9 + rng.integers(0, 9, size),
    "outliers": lambda rng, size: np.append(rng.lognormal(size=size - 2), [1e15, -1e9]),
}


def records_of(kind: str, size: int) -> SortedRecords:
    data = DATA[kind](np.random.default_rng(size), size)
    return working_records(sorted_universe(sl.Universe.from_dataset(data), size))


def families(size: int, most: int, total: int) -> dict[str, tuple[list[Shape], np.ndarray]]:
    """The shapes of three relations up to a distance, x not smaller than y, with their levels."""
    distances = np.arange(most)
    found = {
        "bounded": [(size - j, j, j) for j in range(1, most + 1)],
        "unbounded": [(core, k, 0) for k in range(1, most + 1) for core in (size - k, size)],
        "symmetric difference": [
            (size - i, max(i, k - i), min(i, k - i))
            for k in range(1, most + 1)
            for i in range(k + 1)
        ],
    }
    changes = {"bounded": 1 + 0 * distances, "unbounded": 2 + 0 * distances}
    changes["symmetric difference"] = distances + 2
    return {
        name: ([Shape(*one, total) for one in shapes], np.repeat(distances, changes[name]))
        for name, shapes in found.items()
    }


def reached(records: SortedRecords, spread: Spread, place: Placement) -> Difference:
    """How far the datasets of a placement are apart, exactly."""
    answers = []
    for labels in ("AC", "BC"):
        ranges = place.ranges(labels)
        sums, squares = (
            sum(
                prefix(np.array([stop]))[0] - prefix(np.array([start]))[0] for start, stop in ranges
            )
            for prefix in (records.total, records.squares)
        )
        size = sum(stop - start for start, stop in ranges)
        answers.append(spread.variance(records, Sets(size, sums, squares)))
    return Difference(*answers, spread.root)


ONE_OUTLIER = [[], [1e3], [1e6], [1e9], [-1e9], [1e12]]
OUTLIERS = [*ONE_OUTLIER, [1e9, -1e9], [1e15, -1e12], [1e40]]


def with_outliers(outliers, size: int) -> SortedRecords:
    data = np.append(np.round(np.random.default_rng(3).normal(size=size), 3), outliers)
    return working_records(sorted_universe(sl.Universe.from_dataset(data), size))


@pytest.mark.exhaustive
@pytest.mark.representative("family", "size")
@pytest.mark.parametrize(
    ("make", "size", "most"),
    [
        *((partial(records_of, kind, 120), 50, 6) for kind in DATA),
        *((partial(with_outliers, some, 60), 20, 9) for some in OUTLIERS),
    ],
)
@pytest.mark.parametrize("family", ["bounded", "unbounded", "symmetric difference"])
def test_all_distances_at_once_reach_what_each_does_by_itself(
    make, size, most, family, monkeypatch
):
    """Which knows nothing of what others reach, or of outliers."""
    records = make()
    changes, level = families(size, most, records.size)[family]
    one_by_one = placements(records, changes, SPREADS)  # too few records to share a search
    monkeypatch.setattr(curve, "WORK", 0)
    exactly = placements(records, changes, SPREADS)
    at_most = placements(records, changes, SPREADS, level)
    left_out = 0
    for spread, *found in zip(SPREADS, one_by_one, exactly, at_most, strict=True):
        alone, own = ([reached(records, spread, place) for place in part] for part in found[:2])
        assert alone == own
        for step in np.unique(level):
            among = np.flatnonzero(level <= step)
            some = [found[2][at] for at in among]
            best = max(reached(records, spread, place) for place in some if place)
            assert best == max(alone[at] for at in among)
        left_out += found[2].count(None)
    # Either adding or removing reaches more, and either of them more than both together.
    assert size == 20 or (left_out > 0) == (family != "bounded")


@pytest.mark.representative("relation", "seeds")
@pytest.mark.parametrize("seeds", spans(3, 12, 100))
@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("relation", ["bounded", "unbounded", "edit"])
def test_whole_curves_against_the_definition(relation, exactly, seeds, monkeypatch):
    """Also with outliers, with far more replaced than kept, with and without shared bounds."""
    for seed in seeds:
        draw, size = random.Random(f"{relation} {exactly} {seed}"), 4
        monkeypatch.setattr(curve, "WORK", draw.choice([0, 0, 1 << 16]))
        offset, ddof = draw.choice([0, 10**9]), draw.choice([0, 1])
        pool = [0, 1, 2, 30, 31, 100, draw.randint(-50, 50)]
        records = [offset + draw.choice(pool) for _ in range(draw.choice([7, 8]))]
        records += [
            draw.choice([-1, 1]) * 10 ** draw.randint(3, 40) + draw.choice(pool)
            for _ in range(draw.randint(0, 2))
        ]
        most = 3 - ddof
        if relation == "bounded":
            most = min(size, len(records) - size) if exactly else size
        curves = sl.sensitivity_curves(
            sl.Universe.from_dataset(records),
            [sl.Var(ddof), sl.Std(ddof)],
            size=size,
            distances=range(1, most + 1),
            neighbors=relation,
            exactly=exactly,
            method="variance",
        )
        for _, result in curves:
            k, query = result.neighbors.k, result.query
            asked = ("std" if query.root else "var", ddof)
            expected, _ = oracle.global_sensitivity(
                records, size, asked, relation, k, exactly=exactly
            )
            if query.root:
                assert result.upper == pytest.approx(float(expected), rel=1e-12, abs=1e-300)
            else:
                assert result.exact == expected


@pytest.mark.exhaustive
def test_a_curve_looks_at_few_nodes():
    records = records_of("normal", 20_000)
    changes, level = families(10_000, 40, 20_000)["bounded"]
    reached = np.zeros(2, np.longdouble)
    family = curve.CurveFamily(records, changes, SPREADS[:2], level, reached, id)
    family.branch.run()
    # Windows alone are 10,000 for each of 40 changes.
    assert family.branch.divided.sum() < 100 * len(changes)
    assert len(changes) <= len(family.branch.leaves().shape) < 10 * len(changes)


def work(records: SortedRecords, changes, level) -> tuple[int, int]:
    """How many nodes a curve of standard deviations divides, and how many pairs it evaluates."""
    reached, evaluated = np.zeros(1, np.longdouble), []
    family = curve.CurveFamily(records, changes, SPREADS[1:2], level, reached, evaluated.append)
    family.solve()
    return int(family.branch.divided.sum()), sum(evaluated)


@pytest.mark.exhaustive
@pytest.mark.parametrize("outliers", ONE_OUTLIER, ids=str)
def test_an_outlier_does_not_hide_differences_between_other_records(outliers):
    """What a window is off does not grow with records outside it: hardly more nodes, and pairs."""
    records = with_outliers(outliers, 20_000)
    changes, level = families(400, 20, records.size)["bounded"]
    nodes, pairs = work(records, changes, level)
    assert nodes < 150 * len(changes)
    assert pairs < 40 * len(changes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("outliers", ONE_OUTLIER, ids=str)
def test_what_another_distance_reaches_leaves_out_pairs(outliers):
    """At most k: where few are kept, only pairs of `AOCOBOA` that exceed the best one so far."""
    records, level = with_outliers(outliers, 5_000), np.zeros(3, np.int64)
    changes = [Shape(400 - j, j, j, records.size) for j in (298, 299, 300)]
    nodes, pairs = work(records, changes, level)
    assert nodes < 1_000
    assert pairs < (600_000 if outliers else 100_000)


@pytest.mark.parametrize(
    ("distances", "unit", "total"), [([3], "pairs", None), ([1, 3], "changes", 6)]
)
def test_progress_says_how_many_changes_there_are(distances, unit, total):
    announced, told = [], []

    @contextmanager
    def counter(*asked):
        announced.append(asked)
        yield told.append

    universe = sl.Universe.from_dataset(np.append(np.arange(30) ** 2, 10**12))
    queries = ["std"] if len(distances) == 1 else ["var", "std"]
    relation = {"neighbors": "bounded", "exactly": len(distances) == 1, "progress": False}
    with mock.patch.object(global_max.running, "counter", counter):
        sl.sensitivity_curves(universe, queries, size=9, distances=distances, **relation)
    assert [(asked[0], asked[2]) for asked in announced] == [(unit, total)]
    assert sum(told) == (total or sum(told)) > 0


@pytest.mark.exhaustive
def test_a_change_with_too_many_nodes_is_searched_by_itself(monkeypatch):
    records = records_of("normal", 300)
    changes, level = families(150, 3, 300)["bounded"]
    expected = placements(records, changes, SPREADS)
    monkeypatch.setattr(curve, "WORK", 0)
    monkeypatch.setattr(branch, "NODES", 2)
    assert placements(records, changes, SPREADS, level) == expected


@pytest.mark.parametrize("of_y_only", [0, 1, 2])
def test_any_pair_is_one_of_the_shape(of_y_only):
    placement = any_pair(Shape(3, 2, of_y_only, 12))
    places = {label: [*chain(*starmap(range, placement.ranges(label)))] for label in "ABCO"}
    assert sorted(chain(*places.values())) == list(range(12))
    assert [len(places[label]) for label in "ABC"] == [2, of_y_only, 3]
    assert all(start <= stop for start, stop in pairwise(placement.bounds))
