"""Sweeps over one argument: what they call, what they tell, how they look."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from pictures import assert_nothing_cut_off, visible_ticks
from sweep_cases import MEAN, UNIVERSE, clipped_sum

import sensitivity_lab as sl
from sensitivity_lab.plotting import plot_sweep


@pytest.fixture(scope="module")
def over_size():
    return sl.sweep(sl.global_sensitivity, "size", [2, 3, 4], **MEAN)


@pytest.fixture(scope="module")
def several():
    return sl.sweep(
        sl.sensitivity_curves,
        "size",
        range(2, 5),
        universes={"days": UNIVERSE, "age": sl.Universe.from_dataset(range(10, 16))},
        queries=["mean", "median", "var"],
        distances=1,
        neighbors=["bounded", "unbounded"],
    )


def test_a_sweep_makes_one_call_per_value(over_size):
    for (value, column, result), size in zip(over_size, [2, 3, 4], strict=True):
        assert (value, column) == (size, "records")
        assert result == sl.global_sensitivity(size=size, **MEAN)
    assert over_size.results == tuple(result for _, _, result in over_size.points)
    assert [result.exact for result in over_size.results] == [Fraction(9, 2), 3, Fraction(9, 4)]
    assert len(over_size) == 3


def test_a_sweep_over_clipping_bounds():
    """The sum of records clipped to [0, L] has sensitivity L - min where one is replaced."""
    bounds = sl.sweep(clipped_sum, "bound", [Decimal("0.5"), 1, 5, 20])
    assert [result.exact for result in bounds.results] == [0, 0, 4, 9]
    assert [value for value, _, _ in bounds] == [Decimal("0.5"), 1, 5, 20]


def test_a_frame_is_tidy(several):
    frame = several.to_frame()
    assert list(frame) == [
        *("argument", "argument_value", "column", "query", "neighbors", "meaning", "distance"),
        *("size", "kind", "norm", "sensitivity", "exact", "upper", "status", "method"),
        *("arithmetic", "datasets_evaluated", "x", "y", "query_x", "query_y"),
    ]
    assert len(frame) == 3 * 2 * 2 * 3
    assert set(frame["argument"]) == {"size"}
    assert (frame["argument_value"] == frame["size"]).all()
    roots = sl.sweep(sl.global_sensitivity, "size", [2], **{**MEAN, "query": "std"}).to_frame()
    assert roots["exact"].tolist() == [""]


def test_repr(over_size):
    assert repr(over_size) == (
        "Global sensitivity by size\n"
        "column               records\n"
        "neighbors bounded, at most 1\n"
        "query                   mean\n"
        "2                        4.5\n"
        "3                          3\n"
        "4                       2.25"
    )


def test_html_tells_the_same(several):
    html = several._repr_html_()
    assert html.startswith("<p>Global sensitivity by size</p><div style='overflow-x:auto'><table")
    for word in repr(several).split():
        assert word.strip(",") in html


def test_equal_texts_of_different_values_keep_their_rows():
    long = [sl.Universe.from_dataset([*range(20), *range(20 + i, 30)]) for i in (0, 1)]
    swept = sl.sweep(
        sl.global_sensitivity, "universe", long, query="sum", size=2, neighbors="bounded"
    )
    assert len(repr(swept).splitlines()) == 4 + 2


def test_sweeps_are_frozen(over_size):
    with pytest.raises(FrozenInstanceError):
        over_size.argument = "k"
    assert over_size == sl.sweep(sl.global_sensitivity, "size", (2, 3, 4), **MEAN)
    assert hash(over_size) == hash(sl.sweep(sl.global_sensitivity, "size", range(2, 5), **MEAN))


def test_values_of_numpy_become_pythons():
    swept = sl.sweep(sl.global_sensitivity, "size", np.arange(2, 4), **MEAN)
    assert [type(value) for value, _, _ in swept] == [int, int]


def test_several_results_per_value():
    def both(bound):
        return [clipped_sum(bound), clipped_sum(bound, "mean")]

    swept = sl.sweep(both, "bound", [2, 5])
    assert [result.query.name for result in swept.results] == ["sum", "mean"] * 2


def test_a_swept_distance_is_not_part_of_the_relations_name():
    swept = sl.sweep(
        lambda k: sl.global_sensitivity(UNIVERSE, "mean", size=3, neighbors=sl.Bounded(k)),
        "k",
        [1, 2],
    )
    [ax] = swept.plot().axes
    assert ax.get_title() == "records\nbounded, at most k, n = 3"
    assert ax.get_xlabel() == "Hamming distance k"
    assert "bounded, at most k" in repr(swept)


@pytest.mark.exhaustive
def test_several_distances_at_each_value_have_panels_of_their_own():
    swept = sl.sweep(
        sl.sensitivity_curves,
        "size",
        [3, 4],
        universes=UNIVERSE,
        queries="mean",
        distances=[1, 2],
        neighbors="bounded",
    )
    assert [ax.get_title() for ax in swept.plot().axes] == [
        "records\nbounded, at most 1, n = 3 to 4",
        "records\nbounded, at most 2, n = 3 to 4",
    ]


@pytest.mark.parametrize("progress", [True, False])
def test_progress(progress, capfd):
    sl.sweep(sl.global_sensitivity, "size", [2, 3], progress=progress, **MEAN)
    assert ("points" in capfd.readouterr().err) == progress


@dataclass(frozen=True)
class Damped:
    """A result of another kind, which tells of itself as a Sensitivity does."""

    beta: float
    kind: str = "smooth"

    def to_dict(self):
        return {**clipped_sum(5).to_dict(), "kind": self.kind, "sensitivity": 2**-self.beta}


@pytest.mark.exhaustive
def test_results_of_other_kinds():
    swept = sl.sweep(Damped, "beta", [0.5, 1, 2])
    assert repr(swept).startswith("Smooth sensitivity by beta\n")
    [ax] = swept.plot().axes
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("smooth sensitivity", "beta")
    assert ax.lines[0].get_ydata().tolist() == [2**-0.5, 0.5, 0.25]


@pytest.mark.exhaustive
def test_several_kinds_are_several_lines():
    swept = sl.sweep(
        lambda beta: [Damped(beta), Damped(0, "local"), clipped_sum(5)], "beta", [1, 2]
    )
    assert repr(swept).startswith("Smooth and local and global sensitivity by beta\n")
    [ax] = swept.plot().axes
    names = ["smooth", "local", "global"]
    assert [line.get_label() for line in ax.lines] == names
    assert ax.get_ylabel() == "sensitivity"


# Pictures.


@pytest.mark.exhaustive
def test_a_panel_per_column_and_relation_a_line_per_query(several):
    units = {"days": "days", "age": "years"}
    figure = several.plot(units=units, title="by size", sharey=True)
    assert [ax.get_title() for ax in figure.axes] == [
        f"{column}\n{relation}, at most 1, n = 2 to 4"
        for column in ("days", "age")
        for relation in ("bounded", "unbounded")
    ]
    for ax in figure.axes:
        assert [line.get_label() for line in ax.lines] == ["mean", "median", "var"]
        assert ax.get_xlabel() == "size n of x (records)"
        assert visible_ticks(ax) == [2, 3, 4]
    assert figure.axes[0].get_ylabel() == "global sensitivity (days)\nvar: days²"
    mean = figure.axes[0].lines[0]
    assert (mean.get_xdata().tolist(), mean.get_ydata().tolist()) == ([2, 3, 4], [4.5, 3, 2.25])
    assert_nothing_cut_off(figure)


def test_ticks_between_whole_numbers_only_where_values_are():
    values = [0.25, 0.5, 0.75]
    [ax] = sl.sweep(clipped_sum, "bound", values).plot(xlabel="upper bound ($)").axes
    assert any(tick != int(tick) for tick in visible_ticks(ax))
    assert ax.get_xlabel() == "upper bound ($)"
    low, high = ax.get_xlim()
    assert 0.2 < low < 0.25
    assert 0.75 < high < 0.8


@pytest.mark.parametrize("values", [[3], [0.5], [0], [0, -4]])
def test_the_axis_reaches_beyond_the_values(values):
    [ax] = sl.sweep(clipped_sum, "bound", values).plot().axes
    low, high = ax.get_xlim()
    assert low < min(values) <= max(values) < high


@pytest.mark.exhaustive
def test_log_scales():
    [ax] = sl.sweep(clipped_sum, "bound", [1, 10, 100]).plot(logy=True).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    low, high = ax.get_xlim()
    assert 0.5 < low < 1
    assert 100 < high < 200
    # The sensitivity 0 at the bound 1 is left out, not drawn as a line to the bottom.
    assert ax.yaxis.get_transform().transform_non_affine(np.array([0.0])).tolist() != [-1000.0]
    assert_nothing_cut_off(ax.figure)


@pytest.mark.exhaustive
def test_values_that_are_no_numbers_stand_side_by_side():
    def between(clipping_bounds):
        return sl.global_sensitivity(
            UNIVERSE.clipped(*clipping_bounds), "sum", size=3, neighbors=sl.Bounded(1)
        )

    [ax] = sl.sweep(between, "clipping_bounds", [(0, 5), (2, None)]).plot().axes
    assert [label.get_text() for label in ax.get_xticklabels()] == ["(0, 5)", "(2, None)"]
    assert ax.lines[0].get_xdata().tolist() == [0, 1]
    assert ax.get_xlabel() == "clipping bounds"
    assert_nothing_cut_off(ax.figure)


@pytest.mark.representative
@pytest.mark.parametrize(
    ("values", "rotation"), [([(0, 5), (2, None)], 0), ([(0, 5), (0, 6), (2, None), (0, 7)], 35)]
)
def test_values_are_written_level_where_they_have_room(values, rotation):
    def between(clipping_bounds):
        clipped = UNIVERSE.clipped(*clipping_bounds)
        return sl.global_sensitivity(clipped, "sum", size=3, neighbors=sl.Bounded(1))

    [ax] = sl.sweep(between, "clipping_bounds", values).plot().axes
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {rotation}
    assert_nothing_cut_off(ax.figure)


def test_given_axes(over_size):
    mine = Figure().subplots()
    assert over_size.plot(ax=mine) is mine
    assert mine.get_xlabel() == "size n of x (records)"


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1, 2], {"logy": "yes"}, "logy must be True or False, got 'yes'"),
        (
            [0, 2],
            {"logx": True},
            "logx: a logarithmic axis needs numbers above 0, got 0; use logx=False",
        ),
    ],
)
def test_scales_that_cannot_be(values, options, message):
    swept = sl.sweep(clipped_sum, "bound", values)
    with pytest.raises(sl.errors.InputError) as caught:
        swept.plot(**options)
    assert str(caught.value) == message


def test_a_frame_that_lacks_columns(over_size):
    with pytest.raises(sl.errors.InputError) as caught:
        plot_sweep(over_size.to_frame())
    assert str(caught.value) == "frame lacks relation; call Sweep.plot()"


def test_smooth_sensitivity_against_beta():
    universe = sl.Universe.from_dataset([1, 2, 3, 10, 11])
    swept = sl.sweep(
        sl.smooth_sensitivity, "beta", [0.1, 0.5, 1],
        dataset=(1, 2, 3), universe=universe, query="median", neighbors="bounded",
    )  # fmt: skip
    frame = swept.to_frame()
    assert frame["kind"].tolist() == ["smooth"] * 3
    assert frame["sensitivity"].is_monotonic_decreasing
    single = sl.smooth_sensitivity(
        universe, "median", dataset=(1, 2, 3), beta=0.5, neighbors="bounded"
    )
    assert frame["sensitivity"][1] == single.value


def test_a_query_that_the_argument_changes_is_one_line():
    """A clipped sum carries its bounds in its name; over the bounds it is still one curve."""
    table = sl.TableUniverse.from_dataset(pd.DataFrame({"v": [1, 2, 30]}))

    def clipped(upper):
        query = sl.SumOf("v", clip=(0, upper))
        return sl.global_sensitivity(table, query, size=1, neighbors=sl.Bounded(1))

    swept = sl.sweep(clipped, "upper", [1, 5, 50])
    assert repr(swept).split("\n")[3:] == [
        "query     sum of v clipped to ...",
        "1                               0",
        "5                               4",
        "50                             29",
    ]
    [line] = swept.plot().axes[0].get_lines()
    assert list(line.get_ydata()) == [0, 4, 29]
    assert swept.to_frame()["query"].iloc[2] == "sum of v clipped to 0..50"
