"""Tables of Polars: transformations of LazyFrames, and pipelines with noise at scale 0."""

from __future__ import annotations

import itertools

import pytest
from opendp_cases import dp

import sensitivity_lab as sl

pl = pytest.importorskip("polars", reason="needs OpenDP's extra `polars`")

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]

SCHEMA = {"city": pl.String, "age": pl.Int64}


def tables(most=2):
    """All tables of at most so many rows over three rows."""
    for n in range(most + 1):
        for rows in itertools.product([("a", 0), ("b", 4), ("a", 9)], repeat=n):
            yield pl.LazyFrame(list(rows), schema=SCHEMA, orient="row")


def domain():
    columns = [
        dp.series_domain("city", dp.atom_domain(T=str)),
        dp.series_domain("age", dp.atom_domain(T="i64")),
    ]
    return dp.with_margin(dp.lazyframe_domain(columns), dp.polars.Margin(by=[], max_length=10))


def pipeline(plan, measure=None, threshold=None):
    """A pipeline with noise, as a function of its scale."""

    def make(scale):
        return dp.m.make_private_lazyframe(
            domain(),
            dp.symmetric_distance(),
            measure or dp.max_divergence(),
            plan(next(tables()), scale),
            global_scale=1.0,
            threshold=threshold if scale else 0,
        )

    return make


@pytest.mark.parametrize("framed", [False, True])
def test_a_transformation_of_tables(framed):
    metric = dp.symmetric_distance()
    older = dp.t.make_stable_lazyframe(
        domain(),
        dp.frame_distance(metric) if framed else metric,
        next(tables()).filter(pl.col("age") > 1),
    )
    report = sl.audits.audit_opendp(older, datasets=tables)
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]
    assert "FrameDistance(SymmetricDistance()); 13 datasets; implementation" in report.setting
    seen = report.rows[0].evidence
    assert [seen.x.collect().height, seen.answer_y.height] == [0, 1]
    assert repr(report).splitlines()[-2:] == [
        "  x  table () of ('city', 'age')  ->  table () of ('city', 'age')",
        "  y  table (('b', 4),) of ('city', 'age')  ->  table (('b', 4),) of ('city', 'age')",
    ]
    assert seen.lines[1] == (
        "y = pl.LazyFrame({'city': ['b'], 'age': [4]})  ->  "
        "f(y) = pl.DataFrame({'city': ['b'], 'age': [4]})"
    )
    assert report.to_dict()["rows"][0]["y"] == [{"city": "b", "age": 4}]


def test_a_pipeline_without_groups():
    def total(table, scale):
        return table.select(pl.col("age").fill_null(0).dp.sum((0, 5), scale=scale))

    report = sl.audits.audit_opendp(pipeline(total), datasets=tables)
    assert [(row.claimed, row.exact) for row in report.rows] == [(5, 5), (10, 10)]
    assert report.subject == "make_private_lazyframe"


@pytest.mark.filterwarnings("ignore:The default value is currently signed:FutureWarning")
def test_a_pipeline_with_groups_and_a_threshold():
    def counts(table, scale):
        return table.group_by("city").agg(dp.len(scale=scale))

    make = pipeline(counts, dp.approximate(dp.max_divergence()), threshold=50)
    report = sl.audits.audit_opendp(make, datasets=tables)
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (2, 2)]
    assert report.decisive.evidence.answer_y == {("a", "len"): 1}
    # The map promises a delta, too, which a twin without noise says nothing of.
    assert [row.compared for row in report.rows] == ["tight", "tight"]
    assert (report.verdict, report.sound) == ("not judged", False)
    for row in report.rows:
        delta = make(1.0).map(row.distance)[1]
        assert row.remark == f"not judged (delta not judged; the map promises {delta!r})"
    assert "delta not judged" in repr(report)
