"""What the pictures say: their labels, ticks, panels, legends and marks, not their pixels."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from checks import refused
from pictures import (
    COLUMNS,
    QUERIES,
    assert_nothing_cut_off,
    callers_axes,
    legend_of,
    names,
    pair,
    plot_together,
    settle,
    tidy,
    visible_ticks,
)

import sensitivity_lab as sl
from sensitivity_lab.plotting import plot_curves
from sensitivity_lab.plotting.pair import plot_witness

JOINT = [name.replace("median", "median = percentile_50") for name in QUERIES]
JOINT.remove("percentile_50")
"""How the curves of `tidy` are named, of which two coincide."""

# Curves: panels and layout.


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize("n", [4, 1, 2, 3, 5, 6])
def test_a_panel_per_column_in_rows_of_three_of_one_size(n):
    figure = plot_together(tidy(COLUMNS[:n]))
    settle(figure)
    assert [ax.get_title().replace("\n", "") for ax in figure.axes] == [
        f"{column}bounded, n = 6" for column in COLUMNS[:n]
    ]
    boxes = [ax.get_window_extent() for ax in figure.axes]
    assert len({(round(box.width), round(box.height)) for box in boxes}) == 1
    assert len({round(box.y0) for box in boxes}) == (1 if n <= 3 else 2)
    assert_nothing_cut_off(figure)


@pytest.mark.exhaustive
def test_a_panel_has_much_the_same_size_in_every_figure():
    sizes = []
    for n in (1, 4):
        figure = plot_together(tidy(COLUMNS[:n]))
        settle(figure)
        box = figure.axes[0].get_window_extent()
        sizes.append((box.width, box.height))
    assert np.ptp(sizes, axis=0) == pytest.approx([0, 0], abs=0.1 * min(sizes[0]))


@pytest.mark.exhaustive
def test_relations_stand_side_by_side_on_one_scale():
    frame = tidy(("age", "grade"), relations=("bounded", "unbounded"))
    frame.loc[frame["neighbors"] == "unbounded", "sensitivity"] /= 2
    figure = plot_together(frame, title="Two relations")
    assert [ax.get_title() for ax in figure.axes] == [
        "age\nbounded, n = 6",
        "age\nunbounded, n = 6",
        "grade\nbounded, n = 6",
        "grade\nunbounded, n = 6",
    ]
    assert_nothing_cut_off(figure)
    for left, right in (figure.axes[:2], figure.axes[2:]):
        assert left.get_window_extent().y0 == right.get_window_extent().y0
        assert left.get_ylim() == right.get_ylim()


@pytest.mark.exhaustive
def test_more_than_three_relations_wrap():
    relations = ("bounded", "unbounded", "unbounded, add", "symmetric difference")
    figure = plot_together(tidy(("age", "grade"), relations=relations))
    assert_nothing_cut_off(figure)
    assert len(figure.axes) == 8
    assert len({round(ax.get_window_extent().y0) for ax in figure.axes}) == 4


@pytest.mark.exhaustive
def test_at_most_and_exactly_are_different_panels():
    both = pd.concat([tidy(), tidy(meaning="exactly")])
    labels = [ax.get_xlabel() for ax in plot_together(both).axes]
    assert labels == ["Hamming distance k (at most)", "Hamming distance k (exactly)"]


def test_several_sizes_are_named_as_their_range():
    frame = tidy(queries=("mean",))
    frame["size"] = [(3, 4, 5)] * len(frame)
    assert plot_together(frame).axes[0].get_title() == "age\nbounded, n = 3 to 5"


# Curves: axes and units.


@pytest.mark.parametrize("distances", [(1,), (3,), (1, 2), range(1, 8), range(1, 101, 9)])
def test_distances_are_whole_numbers(distances):
    [ax] = plot_together(tidy(distances=distances)).axes
    ticks = visible_ticks(ax)
    assert ticks == [round(tick) for tick in ticks]
    assert min(ticks) >= 1
    if len(distances) == 1:
        assert ticks == list(distances)
    low, high = ax.get_xlim()
    assert low < min(distances) <= max(distances) < high


def test_sensitivity_starts_at_zero_which_stays_clear_of_the_frame():
    [ax] = plot_together(tidy()).axes
    low, high = ax.get_ylim()
    assert -0.05 * high < low < 0
    assert min(tick for tick in ax.get_yticks() if low <= tick <= high) == 0


def test_a_logarithmic_axis_shows_every_positive_value():
    [ax] = plot_together(tidy(), logy=True).axes
    low, high = ax.get_ylim()
    assert ax.get_yscale() == "log"
    assert 0 < low < 1 < 10 * 3**0.5 < high


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize("logy", [False, True])
def test_all_zero_is_drawn(logy):
    assert_nothing_cut_off(plot_together(tidy(sensitivity=0.0), logy=logy))


def test_missing_values_leave_a_gap_not_an_error():
    frame = tidy(queries=("mean", "sum"))
    frame.loc[0, "sensitivity"] = np.nan
    mean, _ = plot_together(frame).axes[0].get_lines()
    assert list(mean.get_xdata()) == [2, 3]


@pytest.mark.parametrize(
    ("queries", "units", "label"),
    [
        (("mean",), None, "global sensitivity"),
        (("mean", "sum"), {"age": "years"}, "global sensitivity (years)"),
        (("mean", "var"), {"age": "years"}, "global sensitivity (years)\nvar: years²"),
        (("var", "mean"), {"age": "$/h"}, "global sensitivity ($/h)\nvar: ($/h)²"),
        (("mean", "var", "count"), None, "global sensitivity\nvar: units², count: records"),
        (("var",), {"age": "years"}, "global sensitivity (years²)"),
        (("var",), "€", "global sensitivity (€²)"),
        (("count",), {"age": "years"}, "global sensitivity (records)"),
        (("mean",), {"grade": "points"}, "global sensitivity"),
    ],
)
def test_units(queries, units, label):
    assert plot_together(tidy(queries=queries), units=units).axes[0].get_ylabel() == label


@pytest.mark.exhaustive
def test_a_dollar_is_a_dollar():
    frame = tidy(("$a$_{",), queries=("cost_$x^{$", "b"))
    assert_nothing_cut_off(plot_together(frame, units={"$a$_{": "$^{$"}, title="$^{$"))


# Curves: lines and legend.


def test_ten_queries_differ_in_color_or_in_both_marker_and_dash():
    frame = tidy()
    frame["sensitivity"] = range(len(frame))
    lines = plot_together(frame).axes[0].get_lines()
    assert len(lines) == 10
    for a, b in itertools.combinations(lines, 2):
        assert a.get_marker() != b.get_marker()
        if a.get_color() == b.get_color():
            assert a._dash_pattern != b._dash_pattern


@pytest.mark.exhaustive
def test_a_query_looks_the_same_in_every_panel_and_in_the_legend():
    frame = tidy(("age", "grade"), relations=("bounded", "unbounded"))
    figure = plot_together(frame[(frame["column"] == "age") | (frame["query"] != "mean")])
    legend = legend_of(figure)
    assert names(legend) == JOINT

    def look(line):
        return line.get_color(), line.get_marker(), line.get_linewidth(), line.get_markersize()

    shown = dict(zip(JOINT, map(look, legend.get_lines()), strict=True))
    for ax in figure.axes:
        assert {line.get_label(): look(line) for line in ax.get_lines()}.items() <= shown.items()
    assert "mean" not in {line.get_label() for line in figure.axes[2].get_lines()}


def test_lines_carry_the_values_of_the_frame():
    frame = tidy(queries=("mean", "sum"))
    for line in plot_together(frame.sample(frac=1, random_state=1)).axes[0].get_lines():
        expected = frame[frame["query"] == line.get_label()]
        assert list(line.get_xdata()) == list(expected["distance"])
        assert list(line.get_ydata()) == list(expected["sensitivity"])


BOTH = "median = percentile_50"


@pytest.mark.parametrize("distances", [(1,), (1, 2, 3)])
def test_curves_that_coincide_are_one_line_with_both_names(distances):
    figure = plot_together(tidy(distances=distances))
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert len(lines) == 9
    assert not {"median", "percentile_50"} & set(lines)
    assert lines[BOTH].get_linewidth() == lines["mean"].get_linewidth()
    assert BOTH in names(legend_of(figure))


def test_curves_of_two_units_stay_two_lines_where_they_coincide():
    same = plot_together(tidy(sensitivity=1.0)).axes[0].get_lines()
    others = ("count", "var")
    in_units = " = ".join(query for query in QUERIES if query not in others)
    assert {line.get_label() for line in same} == {in_units, *others}


@pytest.mark.exhaustive
def test_curves_that_coincide_in_one_panel_only_are_named_so_there():
    frame = tidy(("age", "grade"), queries=("median", "percentile_50"))
    frame.loc[(frame["column"] == "grade") & (frame["query"] == "median"), "sensitivity"] += 1
    figure = plot_together(frame, legend="labels")
    shown = [{line.get_label() for line in ax.get_lines()} for ax in figure.axes]
    assert shown == [{BOTH}, {"median", "percentile_50"}]
    # A legend of both panels has each name once.
    assert names(legend_of(plot_together(frame))) == ["median", "percentile_50"]


def test_a_curve_that_others_cover_in_part_is_a_wide_band_beneath_them():
    frame = tidy(queries=("mean", "median"))
    frame["sensitivity"] = [1.0, 2.0, 3.0, 1.0, 2.0, 4.0]
    below, above = plot_together(frame).axes[0].get_lines()
    assert below.get_linewidth() > 1.5 * above.get_linewidth()
    assert below.get_markersize() > 1.5 * above.get_markersize()
    assert below.get_markerfacecolor() == "#ffffff" != above.get_markerfacecolor()
    assert (below.get_linestyle(), below.get_alpha()) == ("-", 0.5)


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(
    "queries", [("mean",), QUERIES, tuple(f"query_number_{i}" for i in range(25))]
)
def test_the_legend_is_outside_every_panel(n, queries):
    figure = plot_together(tidy(COLUMNS[:n], queries=queries), title="A title of many words, " * 5)
    assert_nothing_cut_off(figure)
    box = legend_of(figure).get_window_extent()
    assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)
    assert not box.overlaps(figure._suptitle.get_window_extent())


# Curves: the caller's Axes.


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_a_callers_axes_is_drawn_on_and_others_are_left_alone(layout):
    figure, (mine, other) = callers_axes(1, 2, layout=layout)
    other.plot([1, 2])
    before = other.get_position().bounds
    assert plot_together(tidy(), ax=mine, title="Mine") is mine
    assert mine.get_title() == "Mine\nage\nbounded, n = 6"
    assert_nothing_cut_off(figure)
    box = mine.get_legend().get_window_extent()
    assert not box.overlaps(mine.get_window_extent())
    assert not box.overlaps(other.get_window_extent())
    assert (other.get_title(), len(other.get_lines()), other.get_legend()) == ("", 1, None)
    assert figure.axes == [mine, other]
    assert not figure.legends
    if layout is None:
        assert other.get_position().bounds == before


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_as_many_axes_as_panels(layout):
    figure, axes = callers_axes(1, 2, layout=layout)
    assert plot_together(tidy(("age", "grade")), ax=axes) is axes
    assert_nothing_cut_off(figure)
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["age", "grade"]
    assert axes[0].get_legend() is None
    assert names(axes[1].get_legend()) == JOINT
    first, second = (ax.get_window_extent() for ax in axes)
    assert first.width == pytest.approx(second.width)


# Curves: what is not acceptable, and what stays as it was.


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (
            tidy(("age", "grade")),
            {"ax": callers_axes(1, 3)[1]},
            "ax: got 3 Axes for 2 panels; pass 2 Axes",
        ),
        (tidy(), {"ax": "here"}, "ax: got 'here'; pass a matplotlib Axes or a sequence of them"),
        (
            tidy().drop(columns=["meaning", "size"]),
            {},
            "frame lacks meaning, size; pass the result of SensitivityCurves.to_frame()",
        ),
        (tidy().iloc[:0], {}, "frame has no rows, so there is nothing to draw"),
        (
            pd.concat([tidy(), tidy(size=7)]),
            {},
            "frame: more than one row for column age, query mean, neighbors bounded, meaning at "
            "most, distance 1; draw one size at a time",
        ),
        (tidy(), {"logy": "cubic"}, "logy must be True or False, got 'cubic'"),
        (
            tidy(distances=(0, 1)),
            {"logx": True},
            "logx: a logarithmic axis needs distances above 0, got 0; use logx=False",
        ),
    ],
)
def test_what_is_not_acceptable(frame, options, message):
    refused(lambda: plot_together(frame, **options), message)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("distances", "scale"), [((1, 10, 100), "log"), ((1, 2, 5, 10, 20), "log"), ((1, 2), "linear")]
)
def test_distances_choose_their_axis(distances, scale):
    [ax] = plot_together(tidy(distances=distances)).axes
    assert ax.get_xscale() == scale
    assert visible_ticks(ax) == list(distances)
    [ax] = plot_together(tidy(distances=distances), logx=False).axes
    assert ax.get_xscale() == "linear"


@pytest.mark.exhaustive
def test_neither_settings_nor_the_frame_change():
    settings, frame = dict(mpl.rcParams), tidy()
    plot_together(frame)
    plot_witness(pair([1, 2], [9], [3], np.mean))
    assert dict(mpl.rcParams) == settings
    pd.testing.assert_frame_equal(frame, tidy())


def test_figsize():
    assert list(plot_together(tidy(), figsize=(9, 5)).get_size_inches()) == [9, 5]


@pytest.mark.further
def test_many_curves_on_each_other_are_no_bands():
    """The last point of each is another, so they are no one line."""
    rows = [
        {
            "column": "a",
            "query": f"q{i}",
            "neighbors": "bounded",
            "meaning": "at most",
            "distance": k,
            "size": 4,
            "sensitivity": 5.0 + i * (k == 3),
        }
        for i in range(20)
        for k in (1, 2, 3)
    ]
    figure = plot_curves(pd.DataFrame(rows))
    assert max(line.get_linewidth() for line in figure.axes[0].lines) < 7


def test_many_curves_that_coincide_name_the_first():
    queries = [sl.LStatistic(lambda n: [0] * (n - 1) + [1], name=f"q{i}") for i in range(20)]
    asked = {"size": 4, "distances": [1, 2], "neighbors": "bounded"}
    figure = sl.sensitivity_curves(sl.Universe.from_domain(range(9)), queries, **asked).plot()
    [label] = [text.get_text() for text in figure.axes[0].texts]
    assert " ".join(label.split()) == " = ".join([*(f"q{i}" for i in range(9)), "11 others"])
