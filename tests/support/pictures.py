"""What is drawn in the tests of pictures, and what the eye sees of it."""

from __future__ import annotations

import itertools
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from sensitivity_lab.plotting import plot_curves

COLUMNS = ("school_year", "absence_days", "age", "income", "grade", "a_long_column_name_" * 3)
QUERIES = (
    *("mean", "median", "count", "sum", "std", "var"),
    *("percentile_25", "percentile_50", "percentile_75", "percentile_90"),
)


plot_together = partial(plot_curves, subplots=False, legend="box")
"""Curves of all units in one panel, their names in a legend."""


def tidy(columns=("age",), queries=QUERIES, relations=("bounded",), distances=(1, 2, 3), **fixed):
    """Curves that all differ, except that the median's is the 50th percentile's; a count's is 0."""
    rows = [
        {
            "column": column,
            "query": query,
            "neighbors": neighbors,
            "distance": k,
            "size": 6,
            "sensitivity": 0.0 if query == "count" else (1 + queries.index(query)) * k**0.5,
            "meaning": "at most",
        }
        for column, neighbors, query, k in itertools.product(columns, relations, queries, distances)
    ]
    frame = pd.DataFrame(rows).assign(**fixed)
    if {"median", "percentile_50"} <= set(queries):
        copied = frame.loc[frame["query"] == "median", "sensitivity"].to_numpy()
        frame.loc[frame["query"] == "percentile_50", "sensitivity"] = copied
    return frame


def pair(shared, only_x, only_y, f):
    x, y = sorted([*shared, *only_x]), sorted([*shared, *only_y])
    return SimpleNamespace(
        x=tuple(x),
        y=tuple(y),
        query_x=f(x),
        query_y=f(y),
        shared=tuple(sorted(shared)),
        only_x=tuple(sorted(only_x)),
        only_y=tuple(sorted(only_y)),
    )


def callers_axes(*shape, **keywords):
    figure = Figure(figsize=(11, 4.8), **keywords)
    FigureCanvasAgg(figure)
    return figure, figure.subplots(*shape)


def settle(figure):
    """Draw twice: a layout engine moves things at the first drawing."""
    figure.canvas.draw()
    figure.canvas.draw()


def assert_nothing_cut_off(figure):
    settle(figure)
    drawn_on = [one for ax in figure.axes for one in (ax, *ax.child_axes)]
    axes = [axis for ax in drawn_on for axis in (ax.xaxis, ax.yaxis)]
    # Labels of ticks beyond an axis' limits exist but are not drawn.
    every = [tick for axis in axes for tick in (*axis.majorTicks, *axis.minorTicks)]
    drawn = [tick for axis in axes for tick in axis._update_ticks()]
    hidden = {label for tick in every if tick not in drawn for label in (tick.label1, tick.label2)}
    inside = figure.bbox.padded(1)
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible() and text not in hidden:
            box = text.get_window_extent()
            assert inside.x0 <= box.x0 <= box.x1 <= inside.x1, text
            assert inside.y0 <= box.y0 <= box.y1 <= inside.y1, text


def legend_of(figure):
    [legend] = figure.legends
    return legend


def names(legend):
    return [text.get_text() for text in legend.get_texts()]


def visible_ticks(ax):
    low, high = ax.get_xlim()
    return [tick for tick in ax.get_xticks() if low <= tick <= high]


# Witnesses.

RNG = np.random.default_rng(1)
WITNESSES = {
    "ties": pair([2, 2, 2, 5, 5], [9], [], np.mean),
    "far": pair([101, 102, 105, 105], [110], [101], sum),
    "forty": pair(list(RNG.normal(50, 20, 36)), [110.5, 112, 113, 113], [1, 1, 2, 2.5], np.mean),
    "forty in ten places": pair(list(RNG.integers(0, 10, 36)), [9] * 4, [0] * 4, np.mean),
    "heavily repeated": pair([0] * 12 + [1] * 30, [1] * 12, [0] * 12, np.mean),
    "thousands": pair(list(RNG.normal(50, 20, 3000)), [200, 210], [-90], np.median),
    "thousands change": pair(
        list(RNG.normal(50, 20, 2000)),
        list(RNG.normal(110, 5, 900)),
        list(RNG.normal(0, 5, 900)),
        np.mean,
    ),
    "nothing shared": pair([], [1], [2], np.mean),
    "no difference": pair([4, 4], [4], [4], np.mean),
}
