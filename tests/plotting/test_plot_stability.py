"""The picture of a stability witness has every changed row, and its mark."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from checks import refused_with
from matplotlib.patches import Rectangle

from sensitivity_lab import pipelines as pl
from sensitivity_lab.plotting import plot_stability


def texts(ax):
    return [text.get_text() for text in ax.texts]


def marks(ax):
    return {mark: texts(ax).count(mark) for mark in "−+≠"}


@pytest.fixture(scope="module")
def join():
    users = pd.DataFrame({"user_id": list("aabb"), "name": range(4)})
    purchases = pd.DataFrame({"user_id": list("aabb"), "item": range(4)})
    one = pl.AddMaxRows(1)
    chain = pl.start(one, one) >> pl.join_private(
        "user_id", left=pl.DropExcess(1), right=pl.DropExcess(1)
    )
    return pl.measured_stability(chain, (users, purchases), (one, one))


@pytest.mark.exhaustive
def test_every_changed_row_is_marked(join):
    ax = join.plot(names=["Users", "Purchases", "join"])
    assert join.measured == 4
    # One row in each of the inputs, and four in the output.
    assert sum(marks(ax).values()) == 6
    assert {"Users", "Purchases", "join", "join_private", "distance 4"} <= set(texts(ax))
    assert "measured 4, map 4 (tight)" in ax.get_title(loc="left").replace("\n", " ")


@pytest.mark.exhaustive
def test_rows_of_x_are_darker_than_those_of_y_in_grey(join):
    boxes = [patch for patch in join.plot().patches if isinstance(patch, Rectangle)]
    grey = sorted(
        {round(float(np.dot(box.get_facecolor()[:3], (0.3, 0.6, 0.1))), 2) for box in boxes}
    )
    assert len(grey) == 4  # x, y, the heads, white
    assert min(np.diff(grey)) > 0.008


def test_answers_stand_side_by_side():
    total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    ax = pl.measured_stability(total, [1, 8, 7], d_in=2).plot()
    assert marks(ax) == {"−": 0, "+": 2, "≠": 1}
    assert texts(ax)[-1].startswith("+  only in y")
    bins = (pl.Numbers(), pl.SymmetricDistance()) >> pl.histogram([0, 1, 2], pl.L1Distance())
    assert marks(pl.measured_stability(bins, [0, 1], d_in=1).plot()) == {"−": 0, "+": 1, "≠": 1}


def test_a_long_table_keeps_the_changed_rows():
    rows = list(range(30))
    ax = plot_stability(SimpleNamespace(x=rows, y=rows[:-2], output_x=30, output_y=28))
    assert {"28", "29", "and 18 more rows"} <= set(texts(ax))
    assert marks(ax) == {"−": 2, "+": 0, "≠": 1}


@pytest.mark.exhaustive
def test_nothing_is_cut_off(join):
    ax = join.plot(names=["Users", "Purchases", "join"])
    figure = ax.get_figure()
    figure.canvas.draw()
    left, right, top = figure.bbox.x0, figure.bbox.x1, figure.bbox.y1
    for text in (*ax.texts, ax.title):
        box = text.get_window_extent()
        assert (left <= box.x0, box.x1 <= right, box.y1 <= top) == (True,) * 3, text.get_text()


def test_it_draws_into_given_axes_and_refuses_what_does_not_fit(join):
    figure, ax = plt.subplots()
    assert join.plot(ax=ax) is ax
    plt.close(figure)
    refused_with(lambda: join.plot(names=["Users"]), r"^names: got 1 for 3 tables; give one each$")
    refused_with(lambda: join.plot(captions=[]), r"^captions: got 0 for 3 tables; give one each$")
