"""Mistakes in OpenDP 0.16.0, each found by a sweep that is not told where it is.

A sweep makes transformations by their public constructors over a range of parameters, puts them to
the audit, and collects verdicts. Whatever is violated is re-run in plain Python.
"""

from __future__ import annotations

import itertools
import math

import plain
import pytest

from sensitivity_lab.audits import audit_opendp

dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")

pytestmark = [pytest.mark.opendp, pytest.mark.exhaustive]

PLAIN = """
import opendp.prelude as dp
dp.enable_features("contrib")
for case in cases:
    transformation = eval(case.pop("source"))
    assert transformation.map(case["distance"]) == case["claimed"]
    check(again_x=transformation(case["x"]), again_y=transformation(case["y"]), **case)
"""


NUMBERS, TEXTS, UNIT = "T=int", "T=str", "bounds=(0.0, 1.0), nan=False"
SYMMETRIC = "dp.symmetric_distance()"


def vectors_of(domain, size=None):
    """Vectors of atoms, as text."""
    return f"dp.vector_domain(dp.atom_domain({domain}){f', size={size}' if size else ''})"


@pytest.fixture(autouse=True)
def _features():
    dp.enable_features("contrib")
    yield
    dp.disable_features("contrib")


def audit(source, values, sizes=None, **options):
    """The report on a transformation that is written as text, to be made anywhere."""
    return audit_opendp(eval(source, {"dp": dp}), values, sizes, **options)


def sweep(sources, inputs, outputs, values, **options):
    """The verdicts of transformations by parameter, after re-running what is violated."""
    reports = {
        key: audit(source, values, **{**options, **more}) for key, (source, more) in sources.items()
    }
    violations = [
        plain.case(row, source=sources[key][0], inputs=inputs, outputs=outputs)
        for key, report in reports.items()
        for row in report.rows
        if row.verdict == "violated"
    ]
    if violations:
        plain.run(PLAIN, violations)
    return reports


def violated(reports):
    """The parameters and distances at which the claim is too small."""
    return {
        (key, row.distance)
        for key, report in reports.items()
        for row in report.rows
        if row.verdict == "violated"
    }


@pytest.mark.parametrize(
    ("algorithm", "large", "expected"),
    [
        pytest.param(*("Pairwise", 2.0**50, {512: False, 1024: True}), marks=pytest.mark.stress),
        pytest.param(
            *("Pairwise", 2.0**52, {2: False, 16: False, 128: False, 512: True}),
            marks=pytest.mark.stress,
        ),
        pytest.param(
            *("Pairwise", 1.0, {2: False, 16: False, 128: False, 512: False}),
            marks=pytest.mark.stress,
        ),
        pytest.param(
            *("Sequential", 2.0**52, {2: False, 16: False, 128: False, 512: False}),
            marks=pytest.mark.stress,
        ),
    ],
)
def test_squared_deviations_of_large_floats(algorithm, large, expected):
    """github.com/opendp/opendp/issues/2923: the rounding of the mean is not in the map.

    Vectors of n records that are M or the float after it, n of them a record replaced; by n,
    whether the map is too small.
    """
    values = [large, large + math.ulp(large)]
    sources = {
        n: (
            "dp.t.make_sum_of_squared_deviations(dp.vector_domain(dp.atom_domain("
            f"bounds=({large}, {large + 1}), nan=False), size={n}), dp.symmetric_distance(), "
            f"S='{algorithm}<f64>')",
            {},
        )
        for n in expected
    }
    reports = sweep(sources, "symmetric", "absolute", values, distances=2, every_order=False)
    assert violated(reports) == {(n, 2) for n, wrong in expected.items() if wrong}
    if large == 2.0**52 and any(expected.values()):
        assert reports[512].rows[0].exact == 511
        assert reports[512].rows[0].claimed == pytest.approx(419.43, abs=0.01)


CASTS = [
    ("make_metric_bounded", "symmetric", "change_one"),
    ("make_metric_bounded", "insert_delete", "hamming"),
    ("make_metric_unbounded", "change_one", "symmetric"),
    ("make_metric_unbounded", "hamming", "insert_delete"),
    ("make_unordered", "insert_delete", "symmetric"),
    ("make_unordered", "hamming", "change_one"),
]
"""The constructors that change a metric and nothing else, with the metrics before and after."""


@pytest.mark.stress
def test_casts_of_metrics():
    """github.com/opendp/opendp/issues/2926: a shift by one place is far away in Hamming distance.

    Every cast between metrics, sizes 2 to 4.
    """
    wrong = set()
    for name, inputs, outputs in CASTS:
        sources = {
            size: (f"dp.t.{name}({vectors_of(NUMBERS, size)}, dp.{inputs}_distance())", {})
            for size in (2, 3, 4)
        }
        reports = sweep(sources, inputs, outputs, range(3), distances=2)
        wrong |= {(name, inputs, size) for size, _ in violated(reports)}
        verdicts = {report.verdict for report in reports.values()}
        assert verdicts in ({"tight"}, {"violated"})
        if verdicts == {"violated"}:
            # One record deleted and one inserted, and every place has another record.
            rows = {size: report.rows[0] for size, report in reports.items()}
            assert {(size, row.claimed, row.exact) for size, row in rows.items()} == {
                (2, 1, 2),
                (3, 1, 3),
                (4, 1, 4),
            }
    assert wrong == {("make_metric_bounded", "insert_delete", size) for size in (2, 3, 4)}


def tree(metric, leaves, branching, kind="int"):
    return (
        f"dp.t.make_b_ary_tree(dp.vector_domain(dp.atom_domain(T={kind}), size={leaves}), "
        f"dp.{metric}(T={kind}), leaf_count={leaves}, branching_factor={branching})"
    )


PARAMETERS = list(itertools.product((2, 3, 4), (2, 4, 8, 16)))
"""Branching factors and numbers of leaves."""


def trees(metric):
    # All 2**16 vectors would make too many pairs; one order of each multiset has the worst.
    return {
        (branching, leaves): (tree(metric, leaves, branching), {"every_order": leaves < 16})
        for branching, leaves in PARAMETERS
    }


@pytest.mark.stress
def test_trees_in_the_euclidean_metric():
    """github.com/opendp/opendp/issues/2924: the map is the height times the input distance.

    A change of all leaves under a node adds up in it, so wide trees and high ones are wrong.
    """
    reports = sweep(trees("l2_distance"), "L2", "L2", [0, 1], distances=range(1, 5))
    assert violated(reports) == {
        ((2, 16), 4),
        ((3, 8), 3),
        ((3, 16), 3),
        ((3, 16), 4),
        ((4, 4), 2),
        ((4, 8), 3),
        ((4, 16), 3),
        ((4, 16), 4),
    }
    smallest = reports[4, 4].rows[1]
    assert (smallest.claimed, round(smallest.value, 3)) == (4, 4.472)
    assert reports[2, 4].sound
    assert reports[2, 8].sound


@pytest.mark.stress
def test_trees_in_the_metric_of_sums_are_sound():
    reports = sweep(trees("l1_distance"), "L1", "L1", [0, 1], distances=range(1, 5))
    assert violated(reports) == set()
    assert {report.rows[0].verdict for report in reports.values()} == {"tight"}


@pytest.mark.stress
@pytest.mark.representative
@pytest.mark.parametrize("kind", ["'i32'", "'i64'", "'u32'"])
def test_trees_of_large_counts(kind):
    """github.com/opendp/opendp/issues/2925: the sums inside wrap around.

    Counts that are small or the largest of their type.
    """
    bits = int(kind[2:-1])
    largest = 2**bits - 1 if kind[1] == "u" else 2 ** (bits - 1) - 1
    values = [0, 1, largest - 1, largest]
    sources = {metric: (tree(metric, 2, 2, kind), {"distances": 1}) for metric in ("l1_distance",)}
    reports = sweep(sources, "L1", "L1", values)
    assert violated(reports) == {("l1_distance", 1)}
    row = reports["l1_distance"].rows[0]
    assert row.claimed == 2
    assert row.exact == 2**bits
    small = audit(sources["l1_distance"][0], [0, 1, 2, 3], distances=1)
    assert small.verdict == "tight"


SOUND = {
    "count": (f"dp.t.make_count({vectors_of(NUMBERS)}, {SYMMETRIC})", [0, 1], range(5), {}),
    "distinct": (
        f"dp.t.make_count_distinct({vectors_of(NUMBERS)}, {SYMMETRIC})",
        [0, 1, 2],
        range(5),
        {},
    ),
    "sum": (
        f"({vectors_of(NUMBERS)}, {SYMMETRIC}) >> dp.t.then_clamp((-2, 3)) >> dp.t.then_sum()",
        [-9, -1, 0, 2, 9],
        range(4),
        {},
    ),
    "sum of large integers": (
        f"({vectors_of(NUMBERS)}, {SYMMETRIC}) >> dp.t.then_clamp((-2**30, 2**30 - 1)) "
        ">> dp.t.then_sum()",
        [-(2**31), -1, 0, 1, 2**31 - 1],
        range(5),
        {"distances": 1},
    ),
    "sum of a known size": (
        f"dp.t.make_sum({vectors_of('bounds=(-2, 3)', 3)}, {SYMMETRIC})",
        range(-2, 4),
        None,
        {"distances": (2, 4)},
    ),
    "counts by category": (
        f"dp.t.make_count_by_categories({vectors_of(TEXTS)}, {SYMMETRIC}, categories=['a', 'b'])",
        ["a", "b", "c"],
        range(5),
        {},
    ),
    "cast": (
        f"dp.t.make_cast_default({vectors_of(TEXTS)}, {SYMMETRIC}, TOA=int)",
        ["1", "2", "x"],
        range(4),
        {},
    ),
    "clamp": (
        f"dp.t.make_clamp({vectors_of(NUMBERS)}, {SYMMETRIC}, bounds=(0, 2))",
        range(-1, 4),
        range(4),
        {},
    ),
    "bins": (
        f"dp.t.make_find_bin({vectors_of(NUMBERS)}, {SYMMETRIC}, edges=[0, 2])",
        range(-1, 4),
        range(4),
        {},
    ),
    "unordered": (
        f"dp.t.make_unordered({vectors_of(NUMBERS)}, dp.insert_delete_distance())",
        range(3),
        range(5),
        {"distances": (1, 2, 3)},
    ),
    "quantile scores": (
        f"dp.t.make_quantile_score_candidates({vectors_of('bounds=(0, 9)')}, {SYMMETRIC}, "
        "candidates=[1, 3, 5], alpha=0.5)",
        range(7),
        range(4),
        {},
    ),
    "quantile scores of a known size": (
        f"dp.t.make_quantile_score_candidates({vectors_of('bounds=(0, 9)', 4)}, {SYMMETRIC}, "
        "candidates=[1, 3, 5], alpha=0.25)",
        range(7),
        None,
        {"distances": 2},
    ),
    "trees": (tree("l1_distance", 4, 2), range(3), None, {}),
}
"""Source, values, sizes and options of what has to come out tight."""

LOOSE = {
    "mean": (
        f"dp.t.make_mean({vectors_of(UNIT, 3)}, {SYMMETRIC})",
        [0.0, 0.1, 0.5, 1.0],
        None,
        {"distances": (0, 2, 4)},
    ),
    "variance": (
        f"dp.t.make_variance({vectors_of(UNIT, 3)}, {SYMMETRIC})",
        [0.0, 0.1, 0.5, 1.0],
        None,
        {"distances": (0, 2, 4)},
    ),
    "squared deviations": (
        f"dp.t.make_sum_of_squared_deviations({vectors_of(UNIT, 3)}, {SYMMETRIC})",
        [0.0, 0.1, 0.5, 1.0],
        None,
        {"distances": (0, 2, 4)},
    ),
    "sum of floats": (
        f"dp.t.make_sum({vectors_of(UNIT, 4)}, {SYMMETRIC})",
        [0.0, 0.1, 0.5, 1.0],
        None,
        {"distances": (0, 2, 4)},
    ),
    "multiplication": (
        "dp.t.make_lipschitz_float_mul(dp.atom_domain(T=float, nan=False), "
        "dp.absolute_distance(T=float), constant=0.1, bounds=(0.0, 10.0))",
        [0.0, 0.5, 1.0, 3.0],
        None,
        {},
    ),
}
"""The same for what allows for rounding in its map, and so claims a little more."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.stress] if place % 2 else [])
        for place, name in enumerate(SOUND)
    ],
)
def test_sound_transformations_are_tight(name):
    source, values, sizes, options = SOUND[name]
    assert audit(source, values, sizes, **options).verdict == "tight"


@pytest.mark.parametrize("name", LOOSE)
def test_what_allows_for_rounding_is_sound(name):
    source, values, sizes, options = LOOSE[name]
    report = audit(source, values, sizes, **options)
    assert report.verdict in ("tight up to rounding", "loose")
    assert all(row.claimed >= row.truth.close() for row in report.rows)
    if name == "mean":
        assert report.rows[1].factor == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("component", ["L0", "L1", "Linf"])
def test_counts_by_key_are_tight(component):
    source = f"dp.t.make_count_by({vectors_of(TEXTS)}, {SYMMETRIC})"
    report = audit(source, ["a", "b", "c"], range(5), component=component)
    assert report.verdict == "tight"
