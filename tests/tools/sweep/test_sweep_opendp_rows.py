"""What a sweep of arrays and tables of OpenDP audits, and the scripts of its findings."""

from __future__ import annotations

import math

import pytest

from findings import assert_reproduces
from tools.sweep import opendp_extras, opendp_plans, opendp_rows, plain, scripts
from tools.sweep.setting import Setting

polars = pytest.importorskip("polars", reason="needs the extra `opendp`")

pytestmark = [
    pytest.mark.opendp,
    pytest.mark.usefixtures("opendp_features"),
    pytest.mark.exhaustive,
]

VISITS = ((0, "a", 3), (0, "a", -1), (0, "b", None))


def visits(source, near="ids", far="symmetric", claim="rows", d_in=(1,), sizes=(0, 1, 2)):
    given = {"data": "visits", "near": near, "far": far, "claim": claim, "d_in": d_in}
    return Setting("plan", source, VISITS, sizes, tuple(given.items()))


def stable(steps):
    return (
        f"dp.t.make_stable_lazyframe(domain(8, 2, None), IDS, TABLE{steps}, "
        "MO='FrameDistance<SymmetricDistance>')"
    )


def noisy(domain, metric, steps, measure="max_divergence"):
    return f"lambda scale: dp.m.make_private_lazyframe({domain}, {metric}, dp.{measure}(), {steps})"


COUNTS = 'TABLE.group_by("g").agg(pl.col("v").fill_null(0).dp.sum((-1, 2), scale=scale))'
FIRST = '.filter(pl.int_range(pl.len()).over("id") < 1)'
EIGEN = (
    "_make_np_sscp.make_np_sscp(dp.numpy.array2_domain(norm=1.0, p=2, origin=np.array([{}, 0.0]), "
    "num_columns=2, size=2, nan=False, T=float), dp.symmetric_distance()) "
    ">> _make_eigenvalues.then_eigenvalues()"
)


def eigenvalues(center):
    rows = ((center + 1.0, 0.0), (center - 1.0, 0.0), (center, 0.0))
    (one,) = (
        one
        for one in opendp_extras.settings()
        if one.source == EIGEN.format(center) and one.values[0] == rows[0]
    )
    return one


CASES = [
    (visits(stable(FIRST)), "tight", "1"),
    (visits(stable("")), "not constructed", ""),
    (
        visits(
            noisy("domain(3, 2, 'keys')", "dp.symmetric_distance()", COUNTS),
            "same keys",
            "L1",
            "epsilon",
        ),
        "tight",
        "1",
    ),
    (eigenvalues(0.0), "tight", "1"),
    (eigenvalues(10.0), "violated", "0.05"),
]


@pytest.mark.parametrize(("given", "verdict", "slack"), CASES, ids=range(len(CASES)))
def test_a_setting_has_a_verdict(given, verdict, slack, monkeypatch, tmp_path):
    """The last one is github.com/opendp/opendp/issues/2952."""
    monkeypatch.setattr(scripts, "confirmed", lambda found: found)
    found = opendp_rows.judge(given)
    assert (found.verdict, found.slack) == (verdict, slack), found.remark
    assert bool(found.script) == (verdict == "violated")
    if found.script:
        assert_reproduces(found.script, tmp_path)


def test_the_settings_are_distinct_and_the_same_each_time():
    for module in (opendp_extras, opendp_plans):
        names = [one.name for one in module.settings()]
        assert len(set(names)) == len(names) > 100
        assert names == [one.name for one in module.settings()]


def test_the_distances_of_tables():
    x = [(0, "a", 1), (1, "a", 2)]
    assert plain.ids(x, x[1:]) == 1
    assert plain.ids(x, [(0, "a", 5), (1, "a", 2)]) == 2
    assert plain.in_a_group(x, [(0, "b", 1)]) == 2
    assert plain.groups(x, [(0, "b", 1)]) == 2
    assert plain.same_keys(x, x[1:]) == 1
    assert plain.same_keys(x, []) == plain.inf
    assert plain.same_lengths(x, [(0, "a", 5), (1, "a", 2)]) == 2
    assert plain.same_lengths(x, x[1:]) == plain.inf


def test_the_loss_of_choices_adds_up_over_places_in_one_direction():
    half, more, less = math.log(0.5), math.log(0.8), math.log(0.2)
    x, y = {"a": (more, less), "b": (less, more)}, {"a": (half, half)}
    assert plain.loss(x, y) == plain.loss(y, x) == pytest.approx(2 * math.log(2.5))
    assert plain.loss(x, x) == 0
