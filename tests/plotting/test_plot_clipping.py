"""The picture of a clipping sweep."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from checks import refused
from matplotlib.figure import Figure

from sensitivity_lab.noise.clipping_bounds import clipping_sweep
from sensitivity_lab.noise.scales import laplace_scale

AGES = [3, 17, 17, 25, 38, 38, 38, 44, 61, 90]


def laplace_for_teaching(seed):
    rng = np.random.default_rng(seed)
    return lambda value, sensitivity, epsilon: (
        float(value) + rng.laplace(scale=laplace_scale(sensitivity, epsilon))
    )


@pytest.mark.exhaustive
def test_the_picture():
    sweep = clipping_sweep(
        AGES,
        range(100),
        epsilon=0.1,
        release=laplace_for_teaching(0),
        neighbors="unbounded",
    )
    figure = sweep.plot(unit="years", title="ages")
    sums, sensitivity, errors = figure.axes
    assert [ax.get_ylabel() for ax in figure.axes] == [
        *("sum (years)", "sensitivity (years)", "error (years)")
    ]
    assert {ax.get_xlabel() for ax in figure.axes} == {"upper clipping bound (years)"}
    assert figure.get_suptitle() == "ages"
    assert sweep.plot(title="two\nlines").get_suptitle() == "two\nlines"
    drawn = {line.get_label(): line for line in sums.get_lines()}
    assert list(drawn) == ["sum of the records", "clipped sum", "release"]
    assert drawn["clipped sum"].get_ydata()[-1] == sum(AGES)
    assert [ax.get_yscale() for ax in figure.axes] == ["linear", "linear", "log"]
    assert set(drawn["sum of the records"].get_ydata()) == {sum(AGES)}
    assert drawn["release"].get_ydata().tolist() == [point.release for point in sweep.points]
    assert sensitivity.get_lines()[0].get_ydata().tolist() == list(range(100))
    assert [line.get_label() for line in errors.get_lines()] == [
        *("expected error of a release", "size of the bias", "scale of the noise")
    ]


def test_the_picture_without_noise_on_logarithmic_axes():
    sweep = clipping_sweep(AGES, [2**i for i in range(11)], neighbors="unbounded")
    axes = Figure().subplots(1, 3)
    assert sweep.plot(ax=axes, title="ages") is axes
    assert {ax.get_xscale() for ax in axes} == {"log"}
    assert [ax.get_yscale() for ax in axes] == ["linear", "log", "log"]
    assert [line.get_label() for line in axes[0].get_lines()] == [
        *("sum of the records", "clipped sum")
    ]
    [bias] = axes[2].get_lines()
    assert len(bias.get_ydata()) == sum(point.bias != 0 for point in sweep.points) == 7
    assert axes[0].get_title() == "ages"
    assert axes[0].get_xlabel() == "upper clipping bound"
    assert {ax.get_xscale() for ax in sweep.plot(logx=False).axes} == {"linear"}


@pytest.mark.exhaustive
def test_the_picture_of_a_bound_without_bias_and_noise():
    figure = clipping_sweep(AGES, [125], neighbors="unbounded").plot()
    figure.canvas.draw()
    assert not figure.axes[2].get_lines()
    assert figure.axes[0].get_lines()[1].get_marker() == "."


def test_what_the_picture_refuses():
    sweep = clipping_sweep(AGES, [5], neighbors="unbounded")
    for options, message in (
        ({"logx": "sym"}, "logx must be True or False, got 'sym'"),
        ({"ax": [Figure().subplots()]}, "ax: got 1 Axes for 3 panels; pass 3 Axes"),
    ):
        refused(partial(sweep.plot, **options), message)
