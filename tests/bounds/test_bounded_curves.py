"""Curves that mix exact sensitivities and bounds, and say which is which."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sensitivity_lab as sl

UNIVERSE = sl.Universe.from_domain(range(100))


def gap(x):
    return float(x[2] - x[1])


def curves(**bounds) -> sl.bounds.BoundedCurves:
    return sl.bounds.bounded_curves(
        UNIVERSE,
        ["mean", gap],
        size=30,
        distances=[1, 2, 3],
        neighbors="bounded",
        bounds={"time_limit": math.inf, "evaluations": 120, "seed": 3, **bounds},
    )


@pytest.mark.exhaustive
def test_a_point_is_exact_where_an_engine_takes_it_and_bounded_elsewhere():
    found = curves(value_range=(0, 99))
    exact = sl.sensitivity_curves(
        UNIVERSE, "mean", size=30, distances=[1, 2, 3], neighbors="bounded"
    )
    assert len(found) == 6
    frame = found.to_frame().set_index(["query", "distance"])
    assert frame["status"].tolist() == ["exact"] * 3 + ["bounds"] * 3
    assert frame.loc["mean", "sensitivity"].tolist() == [one.value for _, one in exact]
    assert (frame.loc["mean", "lower"] == frame.loc["mean", "sensitivity"]).all()
    assert frame.loc["gap", "sensitivity"].isna().all()
    assert (frame.loc["gap", "lower"] <= frame.loc["gap", "upper"]).all()
    for _, point in found:
        point.verify()
    assert repr(found).splitlines()[0] == (
        "Global sensitivity or its bounds by Hamming distance k, size 30"
    )


def test_what_is_within_reach_is_the_same_as_without_bounds():
    small = sl.Universe.from_dataset([1, 2, 4, 8, 16])
    mixed = sl.bounds.bounded_curves(small, [gap], size=4, distances=1, neighbors="bounded")
    alone = sl.sensitivity_curves(small, [gap], size=4, distances=1, neighbors="bounded")
    assert mixed.to_frame().drop(columns="lower").equals(alone.to_frame())


@pytest.mark.parametrize(("declared", "arrows"), [({"value_range": (0, 99)}, 0), ({}, 3)])
def test_bounds_are_bars_or_arrows_and_never_a_line(declared, arrows):
    figure = curves(**declared).plot()
    (ax,) = figure.axes
    drawn = {line.get_label(): line for line in ax.lines}
    assert len(drawn["mean"].get_xdata()) == 3
    # The line of the bounded curve holds no point, so nothing is joined.
    assert np.isnan(drawn["gap"].get_ydata()).all()
    open_ends = [line for line in ax.lines if line.get_marker() == "^" and line is not drawn["gap"]]
    assert sum(len(line.get_xdata()) for line in open_ends) == arrows
    bars = sum(len(collection.get_segments()) for collection in ax.collections)
    assert bars == 3 - arrows
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["mean", "gap", "lower bound only" if arrows else "bounds"]


def test_an_exact_line_stops_where_only_bounds_are_known():
    frame = sl.sensitivity_curves(
        UNIVERSE, "mean", size=30, distances=[1, 2, 3], neighbors="bounded"
    ).to_frame()
    frame["lower"] = frame["sensitivity"]
    frame.loc[1, ["status", "sensitivity", "upper"]] = ["bounds", math.nan, 9.0]
    from sensitivity_lab.plotting import plot_curves

    (ax,) = plot_curves(frame).axes
    (line,) = (line for line in ax.lines if line.get_label() == "mean")
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]


SMALL = sl.Universe.from_dataset([1, 2, 4, 8, 16])

ACCEPTED = "time_limit, evaluations, seed, value_range, per_record, monotone, gamma, rho, samples"


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"tim": 3}, f"bounds may hold {ACCEPTED}; got 'tim'"),
        ({1: 3}, f"bounds may hold {ACCEPTED}; got 1"),
        ({"gamma": 2}, "bounds: gamma must be a number from 1e-100 to 1 - 1e-15, got 2"),
    ],
)
def test_bounds_are_checked_where_no_point_needs_them(bounds, message):
    with pytest.raises(sl.errors.InputError) as caught:
        sl.bounds.bounded_curves(
            SMALL, "mean", size=3, distances=1, neighbors="bounded", bounds=bounds
        )
    assert str(caught.value) == message


def test_an_unknown_argument_is_one_of_this_call():
    with pytest.raises(TypeError, match=r"bounded_curves\(\) got an unexpected keyword .*'foo'"):
        sl.bounds.bounded_curves(SMALL, "mean", size=3, distances=1, neighbors="bounded", foo=3)


@pytest.mark.exhaustive
def test_every_column_and_query_has_a_checkpoint_of_its_own(tmp_path):
    log = str(tmp_path / "log")

    def first(x):
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 - plain, as callers write it
            file.write(".")
        return float(x[0])

    def both():
        (tmp_path / "log").write_text("")
        found = sl.bounds.bounded_curves(
            {"a": SMALL, "b": sl.Universe.from_dataset([1, 2, 3, 5])},
            [sl.from_function(gap, name="gap"), sl.from_function(first, name="first 1")],
            size=3,
            distances=[1, 2],
            neighbors="bounded",
            run=sl.Run(checkpoint=tmp_path / "kept"),
        )
        return found.to_frame(), len((tmp_path / "log").read_text())

    before, calls = both()
    after, fewer = both()
    assert after.equals(before)
    # All are in the sample that is asked for again: after the first search, before the second.
    assert calls - fewer == 10 + 4
