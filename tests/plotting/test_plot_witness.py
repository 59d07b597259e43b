"""The picture of a witness: its dots, marks, scales and words."""

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from checks import refused
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pictures import (
    WITNESSES,
    assert_nothing_cut_off,
    callers_axes,
    names,
    pair,
    settle,
    visible_ticks,
)

from sensitivity_lab.plotting.pair import plot_witness


def marks(ax, label):
    """The dots of a kind as (place, height), in the rows of x and y."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in ax.get_lines()
        if line.get_label() == label
    ]


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def answers(ax):
    """What the axis of f says: its title and its ticks from below."""
    [side] = ax.child_axes
    ticks = sorted(
        zip(side.get_yticks(), side.get_yticklabels(), strict=True), key=lambda one: one[0]
    )
    return [side.get_title(loc="left"), *(label.get_text() for _, label in ticks)]


@pytest.mark.further
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
    ]
    gap = "|f(x) − f(y)|\n= 0.966667 days\n(rounded up)"
    assert answers(ax) == [gap, "f(y) = 3.2", "f(x) = 4.16667"]
    assert names(ax.get_legend()) == ["in both", "only in x"]


def test_a_dot_per_record_and_equal_records_stacked():
    ax = plot_witness(WITNESSES["ties"])
    both, only = marks(ax, "in both"), marks(ax, "only in x")
    assert sorted(at for at, _ in both) == sorted(2 * (2, 2, 2, 5, 5))
    assert [at for at, _ in only] == [9]
    assert len(set(both)) == 10
    assert all(1 < y < 2 for _, y in only)
    assert sum(1 < y < 2 for _, y in both) == sum(0 < y < 1 for _, y in both) == 5


@pytest.mark.exhaustive
@pytest.mark.representative
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


@pytest.mark.exhaustive
def test_thousands_of_records_are_a_histogram_with_the_few_others_as_dots():
    ax = plot_witness(WITNESSES["thousands"])
    assert len(ax.patches) >= 120
    assert [at for at, _ in marks(ax, "only in x")] == [200, 210]
    assert [at for at, _ in marks(ax, "only in y")] == [-90]
    assert len(ax.get_lines()) < 20


@pytest.mark.exhaustive
def test_thousands_of_others_are_thin_ticks():
    ax = plot_witness(WITNESSES["thousands change"])
    assert names(ax.get_legend()) == ["in both", "only in x", "only in y"]
    ticks = {lines.get_label(): lines for lines in ax.collections}
    assert len(ticks["only in x"].get_segments()) == len(ticks["only in y"].get_segments()) == 900


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize("name", ["ties", "far", "no difference"])
def test_f_has_an_axis_of_its_own_beside_that_of_the_records(name):
    witness = WITNESSES[name]
    ax = plot_witness(witness, query="sum")
    settle(ax.figure)
    [side] = ax.child_axes
    records, f = ax.get_window_extent(), side.get_window_extent()
    assert f.x0 > records.x1
    low, high = ax.get_xlim()
    every = (*witness.x, *witness.y)
    assert high - low <= 1.5 * max(np.ptp(every), 1)
    assert low < min(every) <= max(every) < high
    low, high = side.get_ylim()
    assert (
        low < min(witness.query_x, witness.query_y) <= max(witness.query_x, witness.query_y) < high
    )


def test_equal_answers_have_one_label():
    ax = plot_witness(WITNESSES["no difference"])
    assert answers(ax)[1:] == ["f(x) = f(y)\n= 4"]
    assert visible_ticks(ax) == [4]  # whole records have whole ticks


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("median", True),
        pytest.param("percentile_90", True, marks=pytest.mark.exhaustive),
        ("sum", False),
        pytest.param("var", False, marks=pytest.mark.exhaustive),
    ],
)
def test_an_answer_among_the_records_is_a_line_in_its_row(query, marked):
    ax = plot_witness(pair([1, 2, 8], [20], [0], np.median), query=query)
    lines = [lines.get_segments()[0] for lines in ax.collections]
    expected = [(5, 1, 2), (1.5, 0, 1)] if marked else []
    assert [(x, low, round(high)) for (x, low), (_, high) in lines] == expected
    assert texts(ax) == ["f(x)", "f(y)"] * marked
    assert_nothing_cut_off(ax.figure)


@pytest.mark.exhaustive
def test_numbers_of_marks_side_by_side_do_not_collide():
    crowd = pair([value for value in range(40) for _ in range(2000)], [39] * 40, [0] * 40, np.mean)
    ax = plot_witness(crowd)
    settle(ax.figure)
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) > 40
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(
    ("query", "f", "unit", "text"),
    [
        ("var", np.var, "days", "= 8 days²"),
        ("count", len, "days", "= 1 records"),
        ("max", max, "days", "= 6 days"),
        ("max", max, "", "= 6"),
    ],
)
def test_the_difference_has_its_unit(query, f, unit, text):
    witness = pair([3, 3], [9], [], f)
    assert answers(plot_witness(witness, query=query, unit=unit))[0] == f"|f(x) − f(y)|\n{text}"


@pytest.mark.exhaustive
def test_values_that_are_close_keep_the_digits_that_tell_them_apart():
    ax = plot_witness(pair([10**9, 10**9 + 1], [10**9 + 8], [], np.mean), query="mean")
    assert answers(ax)[1:] == ["f(y) = 1000000000.5", "f(x) = 1000000003"]
    assert_nothing_cut_off(ax.figure)


def test_records_of_several_types():
    witness = pair([1, Fraction(1, 2)], [], [], max)
    witness.only_x = witness.x = (Decimal("0.5"), Fraction(3, 2), 2)
    assert [at for at, _ in marks(plot_witness(witness), "only in x")] == [0.5, 1.5, 2]


@pytest.mark.exhaustive
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
    refused(
        lambda: plot_witness(WITNESSES["ties"], ax=3),
        "ax: got 3; pass a matplotlib Axes or a sequence of them",
    )
