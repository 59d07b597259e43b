"""Curves of several kinds of sensitivity in one picture."""

import numpy as np
import pandas as pd
import pytest
from checks import refused
from pictures import (
    legend_of,
    plot_together,
)


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
    figure = plot_together(kinds_frame(kinds=("global", "local", "smooth")))
    assert legend_texts(figure) == ("kind", ["global", "local", "smooth"])
    lines = drawn_lines(figure)
    assert len({line.get_color() for line in lines.values()}) == 1
    assert len({line._unscaled_dash_pattern for line in lines.values()}) == 3
    assert len({line.get_marker() for line in lines.values()}) == 3
    assert figure.axes[0].get_ylabel() == "sensitivity"


def test_a_query_keeps_its_color_over_kinds():
    figure = plot_together(kinds_frame(queries=("mean", "var")), units={"age": "years"})
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
    figure = plot_together(kinds_frame(queries=("mean", "sum"), kinds=(kind,)))
    assert legend_texts(figure) == ("query", ["mean", "sum"])
    assert figure.axes[0].get_ylabel() == f"{kind} sensitivity"


def test_a_missing_kind_is_global():
    frame = kinds_frame()
    frame.loc[frame["kind"] == "global", "kind"] = np.nan
    assert legend_texts(plot_together(frame)) == ("kind", ["global", "local"])


def test_distance_0_is_shown():
    frame = kinds_frame(kinds=("smooth",)).assign(distance=[0, 1, 2])
    left, right = plot_together(frame).axes[0].get_xlim()
    assert left < 0
    assert right > 2


def test_two_rows_of_one_kind_are_refused():
    frame = pd.concat([kinds_frame(), kinds_frame(kinds=("local",))])
    refused(
        lambda: plot_together(frame),
        "frame: more than one row for column age, query mean, kind local, neighbors bounded, "
        "meaning at most, distance 1; draw one size at a time",
    )
