"""What a sweep of OpenDP audits: functions, couplings and measurements, with their scripts."""

from __future__ import annotations

import pytest
from opendp_cases import dp

from findings import assert_reproduces
from tools.sweep import scripts
from tools.sweep.opendp import OPENDP, judge
from tools.sweep.opendp_settings import settings
from tools.sweep.setting import Setting

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

VECTORS = "dp.vector_domain(dp.atom_domain(T='i32', bounds=(0, 2000000000)))"
SYMMETRIC = "dp.symmetric_distance()"


def setting(name, source, values=(0, 9), sizes=(0, 1), **options):
    return Setting(name, source, values, sizes, tuple(options.items()))


@pytest.fixture
def unconfirmed(monkeypatch):
    """Leave out the process that runs scripts."""
    monkeypatch.setattr(scripts, "confirmed", lambda found: found)


@pytest.mark.parametrize(
    ("given", "verdict", "slack", "remark"),
    [
        (setting("make_count", f"dp.t.make_count({VECTORS}, {SYMMETRIC})"), "loose", "2", ""),
        (
            setting("make_sum", f"dp.t.make_sum({VECTORS}, {SYMMETRIC})"),
            "no claim",
            "nan",
            'Overflow("2 * 2000000000 overflows. Consider tightening your parameters.")',
        ),
        (
            setting("make_sum", f"dp.t.make_sum({VECTORS}, dp.l1_distance(T=int))", sizes=(1,)),
            "not constructed",
            "",
            None,
        ),
        (
            setting(
                "make_laplace",
                "lambda scale: dp.m.make_laplace(dp.atom_domain(T=int), "
                "dp.absolute_distance(T=int), scale)",
                (0, 1, 3),
                None,
                audit="measurement",
            ),
            "tight",
            "1",
            "",
        ),
        (
            setting(
                "make_count_by",
                f"dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), {SYMMETRIC})",
                ("a", "b"),
                (0, 1, 2),
                component="Linf",
            ),
            "tight",
            "1",
            "",
        ),
    ],
)
def test_a_setting_has_a_verdict(given, verdict, slack, remark):
    found = judge(given)
    assert (found.verdict, found.slack, found.script) == (verdict, slack, "")
    assert remark is None or found.remark == remark


def test_what_ends_an_audit_is_for_the_sweep_to_tell():
    with pytest.raises(Exception, match="universe must be the entries"):
        judge(setting("make_count", f"dp.t.make_count({VECTORS}, {SYMMETRIC})", ()))


def of_half():
    return dp.t.make_user_transformation(
        dp.vector_domain(dp.atom_domain(T=int)),
        dp.symmetric_distance(),
        dp.atom_domain(T=int),
        dp.absolute_distance(T=int),
        sum,
        lambda d_in: 2 * d_in,
    )


@pytest.mark.usefixtures("unconfirmed")
def test_a_violation_names_its_pair(monkeypatch):
    monkeypatch.setattr(dp, "half", of_half, raising=False)
    found = judge(setting("half", "dp.half()", (0, 4)))
    assert (found.verdict, found.slack) == ("violated", "0.5")
    assert found.remark == "d_in = 1: [] and [4]"
    assert "x, y = [], [4]\nassert not farther('symmetric', x, y, 1)\n" in found.script


FINDINGS = [
    setting(
        "make_metric_bounded",
        "dp.t.make_metric_bounded(dp.vector_domain(dp.atom_domain(T='i32'), size=2), "
        "dp.insert_delete_distance())",
        (0, 1),
        (2,),
    ),
    setting(
        "make_b_ary_tree",
        "dp.t.make_b_ary_tree(dp.vector_domain(dp.atom_domain(T='i32')), "
        "dp.l2_distance(T='i32'), 4, 4)",
        (0, 1),
        (4,),
        d_in=(1, 2),
    ),
    setting(
        "make_resize",
        "dp.t.make_resize(dp.vector_domain(dp.atom_domain(T='i32')), "
        "dp.insert_delete_distance(), size=3, constant=0, MO='InsertDeleteDistance')",
        (0, 1),
        (3, 4),
        audit="coupling",
    ),
]


@pytest.mark.representative
@pytest.mark.exhaustive
@pytest.mark.usefixtures("unconfirmed")
@pytest.mark.parametrize("given", FINDINGS, ids=[one.constructor for one in FINDINGS])
def test_the_script_of_a_finding_runs_without_the_lab(given, tmp_path):
    """github.com/opendp/opendp/issues/2926, 2924 and 2927."""
    found = judge(given)
    assert found.verdict == "violated"
    assert_reproduces(found.script, tmp_path)
    assert "sensitivity_lab" not in found.script


def test_the_settings_are_distinct_and_many():
    names = [one.name for one in settings()]
    assert len(set(names)) == len(names) > 2000
    assert {one.constructor for one in settings()} <= set(OPENDP.constructors())
    assert len({one.constructor for one in settings()}) > 40
