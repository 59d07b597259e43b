"""Which curves stand together, how they are named, and that they are seen on every background."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from checks import refused
from matplotlib import style
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from pictures import (
    COLUMNS,
    QUERIES,
    WITNESSES,
    assert_nothing_cut_off,
    callers_axes,
    names,
    settle,
    tidy,
)

from sensitivity_lab.plotting import plot_curves
from sensitivity_lab.plotting.pair import plot_answers, plot_strip, plot_witness

FOUR = ("mean", "sum", "var", "median")


def drawn(ax):
    return [line.get_label() for line in ax.get_lines()]


def ends(ax):
    """The labels at the ends of lines, from above."""
    return [text.get_text() for text in sorted(ax.texts, key=lambda one: -one.xyann[1])]


@pytest.mark.exhaustive
def test_sums_and_variances_have_panels_of_their_own():
    figure = plot_curves(tidy(("age", "grade"), queries=FOUR), units={"age": "years"})
    assert [drawn(ax) for ax in figure.axes] == [["mean", "median"], ["sum"], ["var"]] * 2
    assert [ax.get_ylabel() for ax in figure.axes] == [
        *(f"global sensitivity ({unit})" for unit in ("years", "years", "years²")),
        *("global sensitivity", "global sensitivity", "global sensitivity (units²)"),
    ]
    rows = [round(ax.get_subplotspec().rowspan.start) for ax in figure.axes]
    assert rows == [0, 0, 0, 1, 1, 1]


def test_a_curve_of_zeros_needs_no_panel_of_its_own():
    first, *_ = plot_curves(tidy(queries=("mean", "count", "sum"))).axes
    assert drawn(first) == ["mean", "count"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "panels"), [(2, 2), (6, 6)])
def test_given_axes_hold_columns_or_units(number, panels):
    _, axes = callers_axes(1, number)
    plot_curves(tidy(("age", "grade"), queries=FOUR), ax=axes)
    assert [len(ax.get_lines()) for ax in axes] == ([4, 4] if panels == 2 else [2, 1, 1] * 2)


@pytest.mark.exhaustive
def test_every_line_has_its_name_at_its_end():
    frame = tidy(queries=("mean", "median", "std"))
    figure = plot_curves(frame)
    [ax] = figure.axes
    assert_nothing_cut_off(figure)
    last = frame[frame["distance"] == 3].sort_values("sensitivity", ascending=False)
    assert ends(ax) == list(last["query"])
    assert not figure.legends
    for text in ax.texts:
        line = next(one for one in ax.get_lines() if one.get_label() == text.get_text())
        assert tuple(text.xy) == tuple(line.get_xydata()[-1])
        assert text.arrow_patch.get_edgecolor()[:3] == to_rgb(line.get_color())


@pytest.mark.exhaustive
@pytest.mark.parametrize("fixed", [{}, {"sensitivity": 1.0}, {"sensitivity": 0.0}])
def test_ten_names_do_not_collide(fixed):
    figure = plot_curves(tidy(**fixed), subplots=False)
    assert_nothing_cut_off(figure)
    [ax] = figure.axes
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without the line to it
    assert len(boxes) == (3 if fixed else 9)  # in three units, or two coincide
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert not any(box.overlaps(ax.get_window_extent()) for box in boxes)


@pytest.mark.exhaustive
def test_every_query_can_have_a_panel_or_all_one():
    frame = tidy(("age", "grade"), queries=FOUR)
    figure = plot_curves(frame, subplots=True, units="years")
    assert [drawn(ax) for ax in figure.axes] == [[query] for query in FOUR] * 2
    assert figure.axes[1].get_title() == "age: sum\nbounded, n = 6"
    assert figure.axes[2].get_ylabel() == "global sensitivity (years²)"
    assert [len(ax.texts) for ax in figure.axes] == [0] * 8
    together = plot_curves(frame, subplots=False)
    assert [len(drawn(ax)) for ax in together.axes] == [4, 4]


def test_more_than_ten_names_are_a_legend():
    figure = plot_curves(tidy(queries=tuple(f"query {i}" for i in range(11))))
    assert [len(ax.texts) for ax in figure.axes] == [0]
    assert len(names(figure.legends[0])) == 11


@pytest.mark.exhaustive
@pytest.mark.parametrize("legend", ["labels", "box", "none"])
def test_names_stand_where_they_are_asked_for(legend):
    figure, ax = callers_axes()
    plot_curves(tidy(queries=("mean", "std")), ax=ax, legend=legend)
    assert_nothing_cut_off(figure)
    assert len(ax.texts) == (2 if legend == "labels" else 0)
    assert (ax.get_legend() is not None) is (legend == "box")


@pytest.mark.parametrize("legend", ["labels", "box"])
def test_a_logarithmic_axis_names_no_curve_of_zeros(legend):
    frame = tidy(queries=("mean", "std", "count"))
    figure = plot_curves(frame, logy=True, legend=legend)
    [ax] = figure.axes
    shown = ends(ax) if legend == "labels" else names(figure.legends[0])
    assert set(shown) == set(drawn(ax)) == {"mean", "std"}


def test_some_rows_of_the_frame_are_some_of_the_curves():
    frame = tidy(("age", "grade"))
    some = frame[frame["query"].isin(["std", "mean"]) & (frame["column"] == "grade")]
    [ax] = plot_curves(some).axes
    assert drawn(ax) == ["mean", "std"]
    assert ax.get_title().startswith("grade")


@pytest.mark.exhaustive
@pytest.mark.parametrize("across", [1, 2, 4])
def test_so_many_panels_stand_side_by_side(across):
    figure = plot_curves(tidy(COLUMNS[:4], queries=("mean",)), columns=across)
    places = [ax.get_subplotspec().colspan.start for ax in figure.axes]
    assert places == [place % across for place in range(4)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("columns", "relations", "queries", "panels"),
    [
        (10, 1, ("mean", "std"), 10),
        (10, 1, QUERIES, 30),
        (3, 2, FOUR, 18),
        (8, 1, FOUR, 24),
    ],
)
def test_many_panels_are_no_wider_than_a_page_and_every_column_begins_a_row(
    columns, relations, queries, panels
):
    """A page shrinks a wider figure until nothing on it can be read; it scrolls a tall one."""
    names = tuple(f"column_{i}" for i in range(columns))
    neighbors = ("unbounded", "bounded")[:relations]
    frame = pd.concat(
        [tidy(names, queries=queries).assign(neighbors=relation) for relation in neighbors]
    )
    figure = plot_curves(frame)
    assert len(figure.axes) == panels
    assert figure.get_size_inches()[0] < (18 if panels <= 12 else 15)
    first = [ax for ax in figure.axes if len(ax.get_lines()) > 1][::relations]
    assert len(first) == columns
    if panels > 12:
        assert {ax.get_subplotspec().colspan.start for ax in first} == {0}
        assert figure.legends


@pytest.mark.exhaustive
def test_a_number_of_panels_side_by_side_holds_with_several_units_too():
    figure = plot_curves(tidy(("age", "grade"), queries=FOUR), columns=2)
    places = [
        (ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start)
        for ax in figure.axes
    ]
    assert places == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (3, 0)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"legend": "left"}, "legend must be one of 'labels', 'box', 'none', got 'left'"),
        ({"legend": True}, "legend must be one of 'labels', 'box', 'none', got True"),
        ({"subplots": "row"}, "subplots must be True or False, got 'row'"),
        (
            {"columns": 0},
            "columns must be a whole number (a number of panels side by side, at least 1), got 0, "
            "below 1",
        ),
        (
            {"columns": ["age"]},
            "columns must be a whole number (a number of panels side by side, at least 1), got "
            "['age'] (list)",
        ),
    ],
)
def test_what_is_not_acceptable(wrong, message):
    refused(lambda: plot_curves(tidy(queries=("mean", "std")), **wrong), message)


def luminance(color):
    parts = np.array(to_rgb(color))
    linear = np.where(parts <= 0.04, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(first, second):
    """That of WCAG 2: from 1 to 21."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["default", "dark_background"])
def test_every_line_is_seen_on_its_background(name):
    with style.context(name):
        figure = plot_curves(tidy(), subplots=False)
    [ax] = figure.axes
    lines = ax.get_lines()
    for line in lines:
        assert contrast(line.get_color(), ax.get_facecolor()) > 2
        assert contrast(line.get_color(), ax.get_facecolor()) > 1.5 * contrast(
            ax.get_xgridlines()[0].get_color(), ax.get_facecolor()
        )
    for text in ax.texts:
        assert contrast(text.get_color(), ax.get_facecolor()) > 12
    assert (
        len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == 9
    )


@pytest.mark.exhaustive
def test_other_pictures_follow_the_background():
    with style.context("dark_background"):
        axes = [
            plot_witness(WITNESSES["ties"]),
            plot_strip([("B", 1, 1, 1), ("O", 5, 2, 7), ("A", 1, 20, 20)]),
            plot_answers(WITNESSES["ties"]),
        ]
    for ax in axes:
        settle(ax.figure)
        for text in ax.texts:
            behind = text.get_bbox_patch()
            paper = ax.get_facecolor() if behind is None else behind.get_facecolor()
            assert contrast(text.get_color(), paper) > 7
    outside = axes[1].patches[1]
    assert contrast(outside.get_edgecolor(), outside.get_facecolor()) > 7


@pytest.mark.parametrize(
    ("blocks", "scale"),
    [
        ([("C", 5, 1, 5), ("A", 2, 6, 7)], True),
        ([("C", 5000, 1, 5), ("A", 2, 6, 7)], False),
        ([("C", 5, 1, 5), ("O", np.inf, 6, 7)], False),
    ],
)
def test_a_strip_says_where_it_is_not_to_scale(blocks, scale):
    label = plot_strip(blocks, unit="days").get_xlabel()
    more = "" if scale else "; widths not to scale"
    assert label == f"records of the universe, ascending (days){more}"
