"""Tables of results: one query of curves, and reprs that stay narrow."""

from __future__ import annotations

import re

import pytest
from checks import refused

import sensitivity_lab as sl

TEN = sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20])
MANY = sl.Universe.from_dataset(range(300))


def curves(**options) -> sl.results.SensitivityCurves:
    asked = {"size": 6, "distances": [1, 2], "neighbors": "bounded", **options}
    return sl.sensitivity_curves(TEN, ["mean", "std"], **asked)


def test_curves_of_one_query_are_curves():
    both = curves(neighbors=["bounded", "unbounded"])
    mean = both["mean"]
    assert isinstance(mean, sl.results.SensitivityCurves)
    assert [(point.query.name, point.neighbors) for _, point in mean] == [
        ("mean", relation(k)) for relation in (sl.Bounded, sl.Unbounded) for k in (1, 2)
    ]
    assert list(mean) == list(both[sl.Mean()])
    assert list(both["std"]) == [one for one in both if one[1].query.name == "std"]


@pytest.mark.parametrize("key", ["median", 0, ("mean", 1)])
def test_a_query_that_is_not_there_is_an_error(key):
    refused(lambda: curves()[key], f"no curve has the query {key!r}; choose among mean, std")


def test_a_table_of_many_distances_is_narrow_and_says_so():
    wide = sl.sensitivity_curves(
        MANY, ["mean", "sum"], size=200, distances=range(1, 61), neighbors="bounded"
    )
    lines = repr(wide).split("\n")
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "(60 columns; all are in .to_frame())"
    assert re.fullmatch(r"k +1 .* \.\.\. .* 60", lines[1])
    assert f"{wide.result('sum', distance=60).value:.6g}" in lines[-2].split()
    html = wide._repr_html_()
    assert html.endswith("<p>(60 columns; all are in .to_frame())</p>")
    assert "overflow-x:auto" in html
    assert html.count("<th>") < 60


def test_a_narrow_table_leaves_nothing_out():
    table = curves()
    assert "..." not in repr(table)
    assert "to_frame" not in repr(table) + table._repr_html_()


def test_large_numbers_are_written_out():
    person = sl.releases.Person("id", max_rows=5)
    of = {"agg": {"s": ("pay", "sum")}, "bounds": {"pay": (0, 2_500_000)}, "step": {"pay": 1}}
    plan = sl.releases.plan(person, epsilon=1, **of)
    assert re.search(r"sum of pay +1 +6,250,000 +L1 +0.5 +12,500,000 +12,500,000", str(plan))
    assert "e+0" not in str(plan) + plan._repr_html_()
