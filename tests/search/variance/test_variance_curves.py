"""Whole curves of var and std: every distance at once, against the definition and one by one."""

from __future__ import annotations

import random
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, pairwise, starmap
from unittest import mock

import numpy as np
import oracle
import pytest
from doses import shares

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.search.layouts import Shape, sorted_universe
from sensitivity_lab.search.variance import branch, curve, global_max
from sensitivity_lab.search.variance import words as word_search
from sensitivity_lab.search.variance.comparing import Sets, Spread
from sensitivity_lab.search.variance.curve import any_pair
from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords
from sensitivity_lab.search.variance.global_max import working_records
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


def family_of(records, shapes, level=None, spreads=SPREADS) -> curve.CurveFamily:
    """What is known about some shapes; made anew, as modules may be patched."""
    return curve.CurveFamily(records, shapes, spreads, level)


def placements(records, shapes, level=None) -> list[curve.Found]:
    return family_of(records, shapes, level).solve()


def one_by_one(records, shapes) -> list[curve.Found]:
    """The same, of each shape by itself and without bounds, except for what `words` need."""
    with mock.patch.object(branch, "FEW", 1 << 60):
        found = [placements(records, [shape]) for shape in shapes]
    return [[of_shape[at][0] for of_shape in found] for at in range(len(SPREADS))]


@pytest.mark.exhaustive
@pytest.mark.representative("family")
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("family", ["bounded", "unbounded", "symmetric difference"])
def test_all_distances_at_once_reach_what_each_does_by_itself(kind, family, monkeypatch):
    records = records_of(kind, 120)
    changes, level = families(50, 6, records.size)[family]
    apart = one_by_one(records, changes)
    monkeypatch.setattr(branch, "FEW", 0)
    exactly, at_most = placements(records, changes), placements(records, changes, level)
    left_out = 0
    for spread, *found in zip(SPREADS, apart, exactly, at_most, strict=True):
        alone, own = ([reached(records, spread, place) for place in part] for part in found[:2])
        assert alone == own
        for step in np.unique(level):
            among = np.flatnonzero(level <= step)
            some = [found[2][at] for at in among]
            most = max(reached(records, spread, place) for place in some if place)
            assert most == max(alone[at] for at in among)
        left_out += found[2].count(None)
    # Either adding or removing reaches more, and either of them more than both together.
    assert (left_out > 0) == (family != "bounded")


@pytest.mark.representative("relation", quick=())
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("relation", ["bounded", "unbounded", "edit"])
def test_whole_curves_against_the_definition(relation, exact, monkeypatch):
    monkeypatch.setattr(branch, "FEW", 0)
    draw = random.Random(7)
    for ddof in (0, 1, 0, 1):
        offset = draw.choice([0, 10**9])
        pool = [0, 1, 2, 30, 31, 100, draw.randint(-50, 50)]
        records = [offset + draw.choice(pool) for _ in range(8)]
        curves = sl.sensitivity_curves(
            sl.Universe.from_dataset(records),
            [sl.Var(ddof), sl.Std(ddof)],
            size=4,
            distances=range(1, 4 - ddof),
            neighbors=relation,
            exactly=exact,
            method="variance",
        )
        for _, result in curves:
            k, query = result.neighbors.k, result.query
            asked = ("std" if query.root else "var", ddof)
            expected, _ = oracle.global_sensitivity(records, 4, asked, relation, k, exactly=exact)
            if query.root:
                assert result.upper == pytest.approx(float(expected), rel=1e-12, abs=1e-300)
            else:
                assert result.exact == expected


@pytest.mark.exhaustive
def test_a_curve_looks_at_few_nodes():
    records = records_of("normal", 20_000)
    changes, level = families(10_000, 40, 20_000)["bounded"]
    found = family_of(records, changes, level, SPREADS[:2]).around.branch
    # Windows alone are 10,000 for each of 40 changes.
    assert found.divided.sum() < 120 * len(changes)
    assert len(changes) <= len(found.leaves().shape) < 10 * len(changes)


ONE_OUTLIER = [[], [1e3], [1e6], [1e9], [-1e9], [1e12]]
OUTLIERS = [*ONE_OUTLIER, [1e9, -1e9], [1e15, -1e12], [1e40]]


def work(records: SortedRecords, changes, level) -> tuple[int, int]:
    """How many nodes a curve of standard deviations divides, and how many pairs it evaluates."""
    family, evaluated = family_of(records, changes, level, SPREADS[1:2]), []
    family.solve(evaluated.append)
    return int(family.around.branch.divided.sum()), sum(evaluated)


def with_outliers(outliers, size: int) -> SortedRecords:
    data = np.append(np.round(np.random.default_rng(3).normal(size=size), 3), outliers)
    return working_records(sorted_universe(sl.Universe.from_dataset(data), size))


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


@pytest.mark.representative("family")
@pytest.mark.exhaustive
@pytest.mark.parametrize("outliers", OUTLIERS, ids=str)
@pytest.mark.parametrize("family", ["bounded", pytest.param("unbounded", marks=pytest.mark.stress)])
def test_outliers_and_all_distances(family, outliers, monkeypatch):
    """As each distance by itself, which knows nothing of what others reach."""
    records = with_outliers(outliers, 60)
    changes, level = families(20, 18, records.size)[family]
    apart = one_by_one(records, changes)
    monkeypatch.setattr(branch, "FEW", 0)
    for of_level in (None, level):
        at_once = placements(records, changes, of_level)
        for spread, *found in zip(SPREADS, apart, at_once, strict=True):
            alone = [reached(records, spread, place) for place in found[0]]
            if of_level is None:
                assert alone == [reached(records, spread, place) for place in found[1]]
                continue
            for step in np.unique(level):
                among = np.flatnonzero(level <= step)
                some = [found[1][at] for at in among if found[1][at]]
                most = max(reached(records, spread, place) for place in some)
                assert most == max(alone[at] for at in among)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "trials", [12, pytest.param(100, marks=pytest.mark.stress)], ids=["few", "many"]
)
@pytest.mark.parametrize("relation", ["bounded", "unbounded"])
def test_outliers_against_the_definition(relation, trials, monkeypatch):
    """Outliers of all sizes, far more replaced than kept, with and without shared bounds."""
    draw = random.Random(trials)
    for _ in range(trials):
        monkeypatch.setattr(branch, "FEW", draw.choice([0, 2048]))
        monkeypatch.setattr(word_search, "FEW", draw.choice([0, 2048]))
        pool = [0, 1, 2, 30, 31, 100, draw.randint(-50, 50)]
        records = [draw.choice(pool) for _ in range(draw.choice([6, 8]))]
        records += [
            draw.choice([-1, 1]) * 10 ** draw.randint(3, 40) + draw.choice(pool)
            for _ in range(draw.randint(1, 2))
        ]
        ddof, exactly, size = draw.choice([0, 1]), draw.random() < 0.5, 4
        kind, most = draw.choice(["var", "std"]), 3 - ddof
        if relation == "bounded":
            most = min(size, len(records) - size) if exactly else size
        curves = sl.sensitivity_curves(
            sl.Universe.from_dataset(records),
            sl.Var(ddof) if kind == "var" else sl.Std(ddof),
            size=size,
            distances=range(1, most + 1),
            neighbors=relation,
            exactly=exactly,
            method="variance",
        )
        for _, result in curves:
            k = result.neighbors.k
            expected, _ = oracle.global_sensitivity(
                records, size, (kind, ddof), relation, k, exactly=exactly
            )
            if kind == "var":
                assert result.exact == expected
            else:
                assert result.upper == pytest.approx(float(expected), rel=1e-12, abs=1e-300)


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


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(branch, "NODES", 2)
    monkeypatch.setattr(curve, "NODES", 2)
    universe = sl.Universe.from_dataset(np.random.default_rng(1).normal(size=2_000))
    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.global_sensitivity(universe, "var", size=1_000, neighbors=sl.Bounded(1))
    assert str(caught.value) == (
        "variance is too long at the largest difference of var for 1000 of 2000 records and 1 "
        "changed: more than 2 ranges of windows and splits; choose a smaller size or distance, or "
        "fewer distinct values"
    )


def check_smaller(values: list[int], shape: Shape) -> None:
    """Bounds leave as good a pair as all windows have, of a root and with x smaller than y."""
    universe, spread = sl.Universe.from_dataset(values), Spread(Fraction(0), root=True)
    records, found = working_records(sorted_universe(universe, len(values))), []
    for few in (1 << 60, 0):
        least = np.zeros((1, 1), dtype=np.longdouble)
        with mock.patch.multiple(branch, FEW=few, START=1):
            best = curve.Around(records, [shape], [spread], None, least).best(0, 0)
        # Where no pair reaches more than 0, there may be none.
        gaps = [reached(records, spread, getattr(best, "best", best))] if best else []
        found.append([gap for gap in gaps if gap.first > gap.second])
    assert found[0] == found[1]


@pytest.mark.further
@pytest.mark.parametrize("share", shares(1, 3, 60))
def test_bounds_leave_the_best_pair_where_x_is_smaller_than_y(share):
    for seed in range(20 * share, 20 * share + 20):
        draw = random.Random(seed)
        values = [draw.choice((-40, 0, 40)) + draw.randint(0, 9) for _ in range(14)]
        of_a, more = draw.randint(1, 3), draw.randint(1, 4)
        core = draw.randint(1, 13 - 2 * of_a - more)
        check_smaller(values, Shape(core, of_a, of_a + more, 14))


@pytest.mark.parametrize(
    ("values", "core", "of_y"),
    [
        ([1, 5, 8, 9, 12, 17, 18, 23], 1, 6),
        ([2, 4, 8, 11, 12, 16, 20, 21, 26, 28, 30, 34, 36, 39], 5, 7),
        ([-40, -39, -39, -38, *[41] * 5, 42, 42, 42, 43], 5, 5),
    ],
)
def test_f_may_rise_with_what_a_larger_y_deviates(values, core, of_y):
    """Rarely, and only where no pair reaches much: a bound has to count it."""
    check_smaller(values, Shape(core, 1, of_y, len(values)))


@pytest.mark.parametrize("of_y_only", [0, 1, 2])
def test_any_pair_is_one_of_the_shape(of_y_only):
    placement = any_pair(Shape(3, 2, of_y_only, 12))
    places = {label: [*chain(*starmap(range, placement.ranges(label)))] for label in "ABCO"}
    assert sorted(chain(*places.values())) == list(range(12))
    assert [len(places[label]) for label in "ABC"] == [2, of_y_only, 3]
    assert all(start <= stop for start, stop in pairwise(placement.bounds))
