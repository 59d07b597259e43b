"""The picture of a table of noise: an answer in a row, and no axis for two units."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import pytest
from checks import refused
from pictures import assert_nothing_cut_off, callers_axes

import sensitivity_lab as sl

NUMBERS = {"sum": 30, "mean": 1 / 3, "var": 90, "count": 1}


def rows(figure):
    """Return the answers that every panel has, with the name of its axis."""
    return [
        ([label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel())
        for ax in figure.axes
    ]


@pytest.mark.exhaustive
def test_answers_share_an_axis_only_if_they_have_one_unit():
    table = sl.noise.noise_table(NUMBERS, epsilon=1)
    assert rows(table.plot()) == [
        *((["sum"], ""), (["mean"], ""), (["var"], ""), (["count"], "records"))
    ]
    figure = table.plot(units="days")
    assert rows(figure) == [
        *((["sum", "mean"], "days"), (["var"], "days²"), (["count"], "records"))
    ]
    assert rows(table.plot(units={"sum": "days", "count": "people"})) == [
        *((["sum"], "days"), (["mean"], ""), (["var"], ""), (["count"], "people"))
    ]
    assert_nothing_cut_off(figure)


@pytest.mark.representative
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_numbers_are_those_of_the_table_rounded_up(delta):
    table = sl.noise.noise_table(NUMBERS, epsilon=1, delta=delta)
    [title] = {table.plot().get_suptitle().replace("\n", " ")}
    assert title == repr(table).split("\n")[0]
    for ax, row in zip(table.plot().axes, table, strict=True):
        [text] = [one.get_text() for one in ax.texts]
        sensitivity, scale = map(float, text.split(" → "))
        assert row.sensitivity <= sensitivity <= row.sensitivity * 1.00001
        assert row.scale <= scale <= row.scale * 1.00001
        assert f"{scale:.6g}" in repr(table)


def test_a_logarithmic_axis_given_axes_and_what_is_refused():
    table = sl.noise.noise_table({"a": 1e-9, "b": 1e12, "c": 0}, epsilon=0.1)
    _, mine = callers_axes()
    assert table.plot(ax=mine, logx=True, units={"a": "m", "b": "m", "c": "m"}) is mine
    assert mine.get_xscale() == "log"
    assert mine.get_xlim()[0] < 1e-9 < 1e13 < mine.get_xlim()[1]
    for wrong, message in (
        ({"ax": mine}, "ax: got 1 Axes for 3 panels; pass 3 Axes"),
        ({"logx": "sym"}, "logx must be True or False, got 'sym'"),
        ({"units": 3}, "units must be a text, or a mapping of names to units, got 3"),
    ):
        refused(partial(table.plot, **wrong), message)
    assert plt.get_fignums() == []
