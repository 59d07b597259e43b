"""The linear bound of a curve, in its table."""

from __future__ import annotations

import math

import pytest

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


def test_a_bound_beyond_floats_is_infinite():
    universe = sl.Universe.from_dataset([0.0, 1.6e308, -1e307])
    curves = sl.sensitivity_curves(universe, "max", size=2, distances=[1, 2], neighbors="bounded")
    assert list(curves.to_frame()["linear_bound"]) == [1.6e308, math.inf]
