"""Randomised transformations of OpenDP 0.16.0, judged by what they return in many calls."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from sensitivity_lab.audits import audit

dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")

pytestmark = [
    pytest.mark.opendp,
    pytest.mark.exhaustive,
    pytest.mark.usefixtures("opendp_features"),
]

PLAIN = """
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.insert_delete_distance()
resize = dp.t.make_resize(*space, size=3, constant=0, MO="InsertDeleteDistance")
assert resize.map(1) == 2
assert {tuple(resize([0, 1, 1, 0])) for _ in range(200)} == {(0, 1, 1)}
shuffled = {tuple(resize([0, 1, 0])) for _ in range(200)}
assert shuffled == {(0, 0, 1), (0, 1, 0), (1, 0, 0)}
# (1, 0, 0) and (0, 1, 1) have one entry in common in the same order: 2 deleted, 2 inserted.
"""


def resized(metric, size, values, sizes, **options):
    domain = dp.vector_domain(dp.atom_domain(T=int))
    given, name = {
        "insert_delete": (dp.insert_delete_distance(), "InsertDeleteDistance"),
        "symmetric": (dp.symmetric_distance(), "SymmetricDistance"),
    }[metric]
    resize = dp.t.make_resize(domain, given, size=size, constant=0, MO=name)
    return audit(
        universe=values,
        query=resize,
        claim=resize.map,
        size=sizes,
        neighbors=metric,
        outputs=metric,
        distances=1,
        **options,
    )


@pytest.mark.stress
@pytest.mark.representative
@pytest.mark.parametrize("metric", ["insert_delete", "symmetric"])
def test_a_resize_to_fewer_records_has_the_same_verdict_in_ten_runs(metric):
    """To two records: a shuffle moves them by 2 at most, which the map allows."""
    found = set()
    for _ in range(10):
        report = resized(metric, 2, [0, 1], [2, 3], choices=150)
        assert "; sampled, not enumerated: 150 draws on each dataset, " in report.setting
        found.add((report.verdict, report.rows[0].claimed, report.rows[0].exact))
    assert found == {("not judged", 2, 2)}


@pytest.mark.stress
def test_a_resize_shuffles_what_has_the_right_size():
    """github.com/opendp/opendp/issues/2927: three records are shuffled, four are cut in order."""
    reports = [resized("insert_delete", 3, [0, 1], [3, 4], choices=400) for _ in range(3)]
    assert {(one.verdict, one.rows[0].claimed, one.rows[0].exact) for one in reports} == {
        ("violated", 2, 4)
    }
    subprocess.run([sys.executable, "-c", PLAIN], check=True)
    unordered = resized("symmetric", 3, [0, 1], [3, 4], choices=200, every_order=False)
    assert (unordered.verdict, unordered.rows[0].exact) == ("not judged", 2)


def test_an_imputation_by_random_choice_violates_nothing():
    """Every draw from a continuous range is another one: a sample says nothing against it."""
    impute = dp.t.make_impute_uniform_float(
        dp.vector_domain(dp.atom_domain(T=float, nan=True)),
        dp.symmetric_distance(),
        bounds=(0.0, 1.0),
    )
    report = audit(
        [0.5, math.nan],
        impute,
        impute.map,
        size=[1, 2],
        neighbors="symmetric",
        outputs="symmetric",
        distances=[1, 2],
        choices=60,
    )
    assert report.verdict == "not judged"
