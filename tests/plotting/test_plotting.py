"""What the pictures say: their labels, ticks, panels, legends and marks, not their pixels."""

import itertools
from decimal import Decimal
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from paths import ROOT, SUPPORT
from pictures import (
    COLUMNS,
    QUERIES,
    WITNESSES,
    assert_nothing_cut_off,
    callers_axes,
    legend_of,
    names,
    pair,
    settle,
    tidy,
    visible_ticks,
)

from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting import plot_curves, plot_witness, save

# Curves: panels and layout.


@pytest.mark.parametrize(
    "n", [2, 4, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 3, 5, 6))]
)
def test_a_panel_per_column_in_rows_of_three_of_one_size(n):
    figure = plot_curves(tidy(COLUMNS[:n]))
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
    for n in (1, 2, 3, 5):
        figure = plot_curves(tidy(COLUMNS[:n]))
        settle(figure)
        box = figure.axes[0].get_window_extent()
        sizes.append((box.width, box.height))
    assert np.ptp(sizes, axis=0) == pytest.approx([0, 0], abs=0.1 * min(sizes[0]))


def test_relations_stand_side_by_side_on_one_scale():
    frame = tidy(("age", "grade"), relations=("bounded", "unbounded"))
    frame.loc[frame["neighbors"] == "unbounded", "sensitivity"] /= 2
    figure = plot_curves(frame, title="Two relations")
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
    figure = plot_curves(tidy(("age", "grade"), relations=relations))
    assert_nothing_cut_off(figure)
    assert len(figure.axes) == 8
    assert len({round(ax.get_window_extent().y0) for ax in figure.axes}) == 4


def test_at_most_and_exactly_are_different_panels():
    both = pd.concat([tidy(), tidy(meaning="exactly")])
    labels = [ax.get_xlabel() for ax in plot_curves(both).axes]
    assert labels == ["Hamming distance k (at most)", "Hamming distance k (exactly)"]


def test_several_sizes_are_named_as_their_range():
    frame = tidy(queries=("mean",))
    frame["size"] = [(3, 4, 5)] * len(frame)
    assert plot_curves(frame).axes[0].get_title() == "age\nbounded, n = 3 to 5"


# Curves: axes and units.


@pytest.mark.parametrize("distances", [(1,), (3,), (1, 2), range(1, 8), range(1, 101, 9)])
def test_distances_are_whole_numbers(distances):
    [ax] = plot_curves(tidy(distances=distances)).axes
    ticks = visible_ticks(ax)
    assert ticks == [round(tick) for tick in ticks]
    assert min(ticks) >= 1
    if len(distances) == 1:
        assert ticks == list(distances)
    low, high = ax.get_xlim()
    assert low < min(distances) <= max(distances) < high


def test_sensitivity_starts_at_zero_which_stays_clear_of_the_frame():
    [ax] = plot_curves(tidy()).axes
    low, high = ax.get_ylim()
    assert -0.05 * high < low < 0
    assert min(tick for tick in ax.get_yticks() if low <= tick <= high) == 0


def test_a_logarithmic_axis_shows_every_positive_value():
    [ax] = plot_curves(tidy(), yscale="log").axes
    low, high = ax.get_ylim()
    assert ax.get_yscale() == "log"
    assert 0 < low < 1 < 10 * 3**0.5 < high


@pytest.mark.parametrize("yscale", ["linear", "log"])
def test_all_zero_is_drawn(yscale):
    assert_nothing_cut_off(plot_curves(tidy(sensitivity=0.0), yscale=yscale))


def test_missing_values_leave_a_gap_not_an_error():
    frame = tidy(queries=("mean", "sum"))
    frame.loc[0, "sensitivity"] = np.nan
    mean, _ = plot_curves(frame).axes[0].get_lines()
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
        (("count",), {"age": "years"}, "global sensitivity (records)"),
        (("mean",), {"grade": "points"}, "global sensitivity"),
    ],
)
def test_units(queries, units, label):
    assert plot_curves(tidy(queries=queries), units=units).axes[0].get_ylabel() == label


def test_a_dollar_is_a_dollar():
    frame = tidy(("$a$_{",), queries=("cost_$x^{$", "b"))
    assert_nothing_cut_off(plot_curves(frame, units={"$a$_{": "$^{$"}, title="$^{$"))


# Curves: lines and legend.


def test_ten_queries_differ_in_color_or_in_both_marker_and_dash():
    lines = plot_curves(tidy()).axes[0].get_lines()
    for a, b in itertools.combinations(lines, 2):
        assert a.get_marker() != b.get_marker()
        if a.get_color() == b.get_color():
            assert a._dash_pattern != b._dash_pattern


def test_a_query_looks_the_same_in_every_panel_and_in_the_legend():
    frame = tidy(("age", "grade"), relations=("bounded", "unbounded"))
    figure = plot_curves(frame[(frame["column"] == "age") | (frame["query"] != "mean")])
    legend = legend_of(figure)
    assert names(legend) == list(QUERIES)

    def look(line):
        return line.get_color(), line.get_marker(), line.get_linewidth(), line.get_markersize()

    shown = dict(zip(QUERIES, map(look, legend.get_lines()), strict=True))
    for ax in figure.axes:
        assert {line.get_label(): look(line) for line in ax.get_lines()}.items() <= shown.items()
    assert "mean" not in {line.get_label() for line in figure.axes[2].get_lines()}


def test_lines_carry_the_values_of_the_frame():
    frame = tidy(queries=("mean", "sum"))
    for line in plot_curves(frame.sample(frac=1, random_state=1)).axes[0].get_lines():
        expected = frame[frame["query"] == line.get_label()]
        assert list(line.get_xdata()) == list(expected["distance"])
        assert list(line.get_ydata()) == list(expected["sensitivity"])


@pytest.mark.parametrize("distances", [(1,), (1, 2, 3)])
def test_curves_that_coincide_are_both_visible(distances):
    [ax] = plot_curves(tidy(distances=distances)).axes
    lines = {line.get_label(): line for line in ax.get_lines()}
    below, above = lines["median"], lines["percentile_50"]
    assert list(below.get_ydata()) == list(above.get_ydata())
    assert list(lines).index("median") < list(lines).index("percentile_50")  # drawn first
    assert below.get_linewidth() > 1.5 * above.get_linewidth()
    assert below.get_markersize() > 1.5 * above.get_markersize()
    assert below.get_markerfacecolor() == "white" != above.get_markerfacecolor()
    assert lines["mean"].get_linewidth() == above.get_linewidth()


def test_many_curves_that_coincide_narrow_upward():
    lines = plot_curves(tidy(sensitivity=1.0)).axes[0].get_lines()
    widths = [line.get_linewidth() for line in lines]
    assert all(below > above for below, above in itertools.pairwise(widths))


@pytest.mark.representative("queries")
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(
    "queries", [("mean",), QUERIES, tuple(f"query_number_{i}" for i in range(25))]
)
def test_the_legend_is_outside_every_panel(n, queries):
    figure = plot_curves(tidy(COLUMNS[:n], queries=queries), title="A title of many words, " * 5)
    assert_nothing_cut_off(figure)
    box = legend_of(figure).get_window_extent()
    assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)
    assert not box.overlaps(figure._suptitle.get_window_extent())


# Curves: the caller's Axes.


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_a_callers_axes_is_drawn_on_and_others_are_left_alone(layout):
    figure, (mine, other) = callers_axes(1, 2, layout=layout)
    other.plot([1, 2])
    before = other.get_position().bounds
    assert plot_curves(tidy(), ax=mine, title="Mine") is mine
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


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_as_many_axes_as_panels(layout):
    figure, axes = callers_axes(1, 2, layout=layout)
    assert plot_curves(tidy(("age", "grade")), ax=axes) is axes
    assert_nothing_cut_off(figure)
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["age", "grade"]
    assert axes[0].get_legend() is None
    assert names(axes[1].get_legend()) == list(QUERIES)
    first, second = (ax.get_window_extent() for ax in axes)
    assert first.width == pytest.approx(second.width)


def test_the_wrong_number_of_axes():
    _, axes = callers_axes(1, 3)
    with pytest.raises(InputError) as caught:
        plot_curves(tidy(("age", "grade")), ax=axes)
    assert str(caught.value) == "ax: got 3 Axes for 2 panels; pass 2 Axes"


def test_something_else_than_axes():
    with pytest.raises(InputError) as caught:
        plot_curves(tidy(), ax="here")
    assert str(caught.value) == "ax: got 'here'; pass a matplotlib Axes or a sequence of them"


# Curves: what is not acceptable, and what stays as it was.


def test_a_frame_without_the_columns():
    with pytest.raises(InputError) as caught:
        plot_curves(tidy().drop(columns=["meaning", "size"]))
    expected = "frame: lacks meaning, size; pass what SensitivityCurves.to_frame() returns"
    assert str(caught.value) == expected


def test_an_empty_frame():
    with pytest.raises(InputError) as caught:
        plot_curves(tidy().iloc[:0])
    assert str(caught.value) == "frame: has no rows, so there is nothing to draw"


def test_two_rows_for_a_point():
    with pytest.raises(InputError) as caught:
        plot_curves(pd.concat([tidy(), tidy(size=7)]))
    assert str(caught.value) == (
        "frame: more than one row for column age, query mean, neighbors bounded, meaning at most, "
        "distance 1; draw one size at a time"
    )


def test_an_unknown_scale():
    with pytest.raises(InputError) as caught:
        plot_curves(tidy(), yscale="cubic")
    assert str(caught.value) == "yscale: got 'cubic'; use 'linear' or 'log'"


def test_neither_settings_nor_the_frame_change():
    settings, frame = dict(mpl.rcParams), tidy()
    plot_curves(frame)
    plot_witness(pair([1, 2], [9], [3], np.mean))
    assert dict(mpl.rcParams) == settings
    pd.testing.assert_frame_equal(frame, tidy())


def test_figsize():
    assert list(plot_curves(tidy(), figsize=(9, 5)).get_size_inches()) == [9, 5]


def marks(ax, label):
    """The dots of a kind as (place, height), in the rows of x and y."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in ax.get_lines()
        if line.get_label() == label
    ]


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


@pytest.mark.parametrize(
    "name",
    [
        name
        if name in ("ties", "thousands change")
        else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in WITNESSES
    ],
)
def test_every_witness_fits_its_figure(name):
    ax = plot_witness(WITNESSES[name], query="mean", neighbors="bounded, at most 4", unit="days")
    assert_nothing_cut_off(ax.figure)
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent().padded(-1))
    assert not ax.get_legend().get_window_extent().overlaps(ax.title.get_window_extent())


def test_what_a_witness_says():
    ax = plot_witness(
        WITNESSES["ties"], query="mean", neighbors="unbounded, at most 1", unit="days"
    )
    assert ax.get_title() == "f = mean, unbounded, at most 1"
    assert ax.get_xlabel() == "record (days)"
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "x: 6\nrecords",
        "y: 5\nrecords",
        "f",
    ]
    assert texts(ax) == ["f(x) = 4.16667", "f(y) = 3.2", "|f(x) − f(y)| = 0.966667 days"]
    assert names(ax.get_legend()) == ["in both", "only in x"]


def test_a_dot_per_record_and_equal_records_stacked():
    ax = plot_witness(WITNESSES["ties"])
    both, only = marks(ax, "in both"), marks(ax, "only in x")
    assert sorted(at for at, _ in both) == sorted(2 * (2, 2, 2, 5, 5))
    assert [at for at, _ in only] == [9]
    assert len(set(both)) == 10
    assert all(2 < y < 3 for _, y in only)
    assert sum(2 < y < 3 for _, y in both) == sum(1 < y < 2 for _, y in both) == 5


@pytest.mark.parametrize("name", ["forty", "forty in ten places"])
def test_forty_records_are_forty_dots_that_do_not_hide_each_other(name):
    ax = plot_witness(WITNESSES[name])
    settle(ax.figure)
    dots = [
        line for line in ax.get_lines() if line.get_label() in ("in both", "only in x", "only in y")
    ]
    assert len(dots) == 80
    places = np.array([ax.transData.transform(line.get_xydata()[0]) for line in dots])
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(80, 1)]
    assert distances.min() >= dots[0].get_markersize() * ax.figure.dpi / 72


def test_kinds_differ_in_shape_as_well_as_in_color():
    ax = plot_witness(pair([1, 2], [9], [3], np.mean))
    handles = ax.get_legend().get_lines()
    assert len({handle.get_marker() for handle in handles}) == 3
    assert len({str(handle.get_color()) for handle in handles}) == 3


def test_heavily_repeated_values_carry_their_number():
    ax = plot_witness(WITNESSES["heavily repeated"])
    assert sorted(t for t in texts(ax) if t.startswith("×")) == ["×12"] * 4 + ["×30"] * 2
    assert len(marks(ax, "in both")) == 4


def test_thousands_of_records_are_a_histogram_with_the_few_others_as_dots():
    ax = plot_witness(WITNESSES["thousands"])
    assert len(ax.patches) >= 120
    assert [at for at, _ in marks(ax, "only in x")] == [200, 210]
    assert [at for at, _ in marks(ax, "only in y")] == [-90]
    assert len(ax.get_lines()) < 20


def test_thousands_of_others_are_thin_ticks():
    ax = plot_witness(WITNESSES["thousands change"])
    assert names(ax.get_legend()) == ["in both", "only in x", "only in y"]
    ticks = {lines.get_label(): lines for lines in ax.collections}
    assert len(ticks["only in x"].get_segments()) == len(ticks["only in y"].get_segments()) == 900


@pytest.mark.parametrize(
    ("query", "witness", "own"),
    [
        ("mean", WITNESSES["ties"], False),
        ("sum", WITNESSES["far"], True),
        ("median", WITNESSES["no difference"], True),
        ("var", pair([1, 2, 3], [9], [4], np.var), True),
        ("count", pair([1, 2, 3], [9], [], len), True),
    ],
)
def test_f_has_its_own_scale_where_the_records_would_be_squashed_or_have_another_unit(
    query, witness, own
):
    ax = plot_witness(witness, query=query)
    low, high = ax.get_xlim()
    records = (*witness.x, *witness.y)
    assert high - low <= 1.5 * max(np.ptp(records), 1)
    assert low < min(records) <= max(records) < high
    assert (ax.get_yticklabels()[-1].get_text() == "f, own\nscale") is own


@pytest.mark.parametrize(
    ("query", "f", "unit", "text"),
    [
        ("var", np.var, "days", "|f(x) − f(y)| = 8 days²"),
        ("count", len, "days", "|f(x) − f(y)| = 1 records"),
        ("max", max, "days", "|f(x) − f(y)| = 6 days"),
        ("max", max, "", "|f(x) − f(y)| = 6"),
    ],
)
def test_the_difference_has_its_unit(query, f, unit, text):
    witness = pair([3, 3], [9], [], f)
    assert texts(plot_witness(witness, query=query, unit=unit))[-1] == text


def test_values_that_are_close_keep_the_digits_that_tell_them_apart():
    ax = plot_witness(pair([10**9, 10**9 + 1], [10**9 + 8], [], np.mean), query="mean")
    assert texts(ax) == ["f(x) = 1000000003", "f(y) = 1000000000.5", "|f(x) − f(y)| = 2.5"]
    assert_nothing_cut_off(ax.figure)


def test_records_of_several_types():
    witness = pair([1, Fraction(1, 2)], [], [], max)
    witness.only_x = witness.x = (Decimal("0.5"), Fraction(3, 2), 2)
    assert [at for at, _ in marks(plot_witness(witness), "only in x")] == [0.5, 1.5, 2]


def test_a_callers_axes_for_a_witness():
    figure, (mine, other) = callers_axes(1, 2)
    assert plot_witness(WITNESSES["forty"], query="mean", ax=mine) is mine
    assert figure.axes == [mine, other]
    assert not other.has_data()
    assert_nothing_cut_off(figure)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_fits_an_axes_of_matplotlibs_usual_size(name):
    figure = Figure()
    FigureCanvasAgg(figure)
    plot_witness(
        WITNESSES[name], query="mean", neighbors="bounded, at most 4", ax=figure.subplots()
    )
    assert_nothing_cut_off(figure)


def test_not_an_axes_for_a_witness():
    with pytest.raises(InputError) as caught:
        plot_witness(WITNESSES["ties"], ax=3)
    assert str(caught.value) == "ax: got 3; pass a matplotlib Axes or a sequence of them"


# Files and notebooks.


@pytest.mark.representative
@pytest.mark.parametrize("name", ["a.png", "a.PDF", "a.svg"])
def test_save_writes_a_file(tmp_path, name):
    start = {"a.png": b"\x89PNG", "a.PDF": b"%PDF", "a.svg": b"<?xml"}[name]
    for drawn in (plot_curves(tidy()), plot_witness(WITNESSES["ties"])):
        save(drawn, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
        save(drawn, str(tmp_path / name))


def test_save_explains_what_is_wrong(tmp_path):
    figure = Figure()
    folder = tmp_path / "folder.png"
    folder.mkdir()
    cases = {
        "a.jpg": "ends in '.jpg'; use .pdf, .png or .svg",
        "a": "ends in ''; use .pdf, .png or .svg",
        "no/a.png": "is in a folder that does not exist; create it first",
        "folder.png": "cannot be written (Is a directory); "
        "choose a file and a folder that you may write to",
    }
    for name, reason in cases.items():
        with pytest.raises(InputError) as caught:
            save(figure, tmp_path / name)
        assert str(caught.value) == f"path: {str(tmp_path / name)!r} {reason}"


def test_a_picture_shows_itself():
    figure, ax = plot_curves(tidy()), plot_witness(WITNESSES["ties"])
    assert isinstance(figure, Figure)
    assert isinstance(ax, Axes)
    for drawn in (figure, ax):
        assert drawn._repr_png_().startswith(b"\x89PNG")


@pytest.mark.notebooks
@pytest.mark.parametrize(
    "first", ["", "import matplotlib.pyplot as plt; plt.figure; plt.close('all')"]
)
def test_a_notebook_shows_a_picture_exactly_once(first, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [
        f"{first}\nimport sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from pictures import *\n"
        "from sensitivity_lab.plotting import plot_curves, plot_witness",
        "plot_curves(tidy())",
        "plot_witness(WITNESSES['ties'])",
        "picture = plot_curves(tidy())",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    pictures = [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert pictures == [0, 1, 1, 0]


def kinds_frame(queries=("mean",), kinds=("global", "local")):
    return pd.DataFrame(
        [
            ("age", query, kind, "bounded", "at most", k, 3, (1 + i + 3 * j) * k)
            for i, query in enumerate(queries)
            for j, kind in enumerate(kinds)
            for k in (1, 2, 3)
        ],
        columns=[
            *("column", "query", "kind", "neighbors", "meaning", "distance", "size", "sensitivity")
        ],
    )


def drawn_lines(figure):
    return {line.get_label(): line for line in figure.axes[0].get_lines()}


def legend_texts(figure):
    legend = legend_of(figure)
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


def test_kinds_of_one_query_differ_by_dashes():
    figure = plot_curves(kinds_frame(kinds=("global", "local", "smooth")))
    assert legend_texts(figure) == ("kind", ["global", "local", "smooth"])
    lines = drawn_lines(figure)
    assert len({line.get_color() for line in lines.values()}) == 1
    assert len({line._unscaled_dash_pattern for line in lines.values()}) == 3
    assert len({line.get_marker() for line in lines.values()}) == 3
    assert figure.axes[0].get_ylabel() == "sensitivity"


def test_a_query_keeps_its_color_over_kinds():
    figure = plot_curves(kinds_frame(queries=("mean", "var")), units={"age": "years"})
    assert legend_texts(figure) == (
        "query, kind",
        ["mean, global", "mean, local", "var, global", "var, local"],
    )
    lines = drawn_lines(figure)
    for query in ("mean", "var"):
        first, second = lines[f"{query}, global"], lines[f"{query}, local"]
        assert first.get_color() == second.get_color()
        assert first._unscaled_dash_pattern != second._unscaled_dash_pattern
    assert lines["mean, local"].get_color() != lines["var, local"].get_color()
    assert figure.axes[0].get_ylabel() == "sensitivity (years)\nvar: years²"


@pytest.mark.parametrize("kind", ["global", "local"])
def test_one_kind_is_named_on_the_axis(kind):
    figure = plot_curves(kinds_frame(queries=("mean", "sum"), kinds=(kind,)))
    assert legend_texts(figure) == ("query", ["mean", "sum"])
    assert figure.axes[0].get_ylabel() == f"{kind} sensitivity"


def test_a_missing_kind_is_global():
    frame = kinds_frame()
    frame.loc[frame["kind"] == "global", "kind"] = np.nan
    assert legend_texts(plot_curves(frame)) == ("kind", ["global", "local"])


def test_distance_0_is_shown():
    frame = kinds_frame(kinds=("smooth",)).assign(distance=[0, 1, 2])
    left, right = plot_curves(frame).axes[0].get_xlim()
    assert left < 0
    assert right > 2


def test_two_rows_of_one_kind_are_refused():
    frame = pd.concat([kinds_frame(), kinds_frame(kinds=("local",))])
    with pytest.raises(InputError) as caught:
        plot_curves(frame)
    assert str(caught.value) == (
        "frame: more than one row for column age, query mean, kind local, neighbors bounded, "
        "meaning at most, distance 1; draw one size at a time"
    )
