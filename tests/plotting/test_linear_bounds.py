"""The linear bound of a curve: in its table, and on its plot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pictures import plot_together

import sensitivity_lab as sl
from sensitivity_lab.article import experiments


@pytest.fixture(scope="module")
def article() -> sl.results.SensitivityCurves:
    """Scenario (a), bounded."""
    return experiments()[1].run()


def test_the_table_has_k_times_the_sensitivity_at_distance_1(article):
    frame = article.to_frame()
    mean = frame[(frame["query"] == "mean") & (frame["column"] == "absence_days")]
    assert list(mean["sensitivity"]) == [19 / 6, 16 / 3, 37 / 6, 20 / 3]
    assert list(mean["linear_bound"]) == [19 / 6, 19 / 3, 19 / 2, 38 / 3]
    assert (frame["linear_bound"] >= frame["sensitivity"]).all()
    std = frame[(frame["query"] == "std") & (frame["column"] == "absence_days")]
    assert list(std["linear_bound"]) == [k * std["sensitivity"].iloc[0] for k in (1, 2, 3, 4)]


def test_without_distance_1_there_is_no_bound():
    universe = sl.Universe.from_dataset(range(9))
    curves = sl.sensitivity_curves(
        universe, "mean", size=4, distances=[3, 2], neighbors=["bounded", "unbounded"]
    )
    assert all(math.isnan(bound) for bound in curves.to_frame()["linear_bound"])
    with pytest.raises(sl.errors.InputError) as caught:
        curves.plot(linear_bound=True)
    assert str(caught.value) == (
        "frame: no curve has a linear_bound; compute the curves with distance 1 among the "
        "distances, and pass the result of SensitivityCurves.to_frame()"
    )
    with pytest.raises(sl.errors.InputError) as caught:
        curves.plot(linear_bound="yes")
    assert str(caught.value) == "linear_bound must be True or False, got 'yes'"


def test_a_bound_beyond_floats_is_infinite():
    universe = sl.Universe.from_dataset([0.0, 1.6e308, -1e307])
    curves = sl.sensitivity_curves(universe, "max", size=2, distances=[1, 2], neighbors="bounded")
    assert list(curves.to_frame()["linear_bound"]) == [1.6e308, math.inf]


@pytest.mark.exhaustive
def test_the_plot_shows_the_bounds_where_they_are_asked_for(article):
    plain, bounded = article.plot(sharey=True), plot_together(article.to_frame(), linear_bound=True)
    for before, after in zip(plain.axes, bounded.axes, strict=True):
        assert len(before.lines) == 9  # the median is the 50th percentile
        assert len(after.lines) == 18
        frame = article.to_frame()
        frame = frame[frame["column"] == after.get_title().split("\n")[0]]
        for curve, bound in zip(after.lines[::2], after.lines[1::2], strict=True):
            query = curve.get_label().split(" = ")[0]
            expected = frame[frame["query"] == query]["linear_bound"]
            np.testing.assert_array_equal(bound.get_ydata(), expected)
            assert bound.get_color() == curve.get_color()
        assert after.get_ylim()[1] >= frame["linear_bound"].max()
    (legend,) = bounded.legends
    assert legend.get_texts()[-1].get_text() == "k times the sensitivity at 1"
    assert len(legend.get_texts()) == 10
