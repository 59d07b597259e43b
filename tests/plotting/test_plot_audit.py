"""The picture of an audit: claims, truths, and what is missing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pictures import assert_nothing_cut_off, settle
from reports import REPORT, report, row

import sensitivity_lab as sl
from sensitivity_lab.plotting.audit import plot_audit


@pytest.mark.exhaustive
def test_plot_shows_claims_truths_and_what_is_missing():
    ax = REPORT.plot(unit="days")
    settle(ax.figure)
    assert_nothing_cut_off(ax.figure)
    assert ax.get_title() == "Audit of mean, bounded: violated\nbounded, at most k; size 2"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("distance k", "sensitivity (days)")
    claim, true, broken = ax.get_lines()
    assert np.array_equal(claim.get_ydata(), [1, 0.3, np.nan, 2, 1 / 3, 1 - 1e-12], equal_nan=True)
    assert list(true.get_xdata()) == [1, 2, 3, 4]
    assert list(broken.get_xdata()) == [5, 6]
    assert list(broken.get_ydata()) == [0.5, 1.0]
    bars = [(bar.get_y(), bar.get_height()) for bar in ax.patches]
    assert bars == [(1 / 3, pytest.approx(1 / 6)), (1 - 1e-12, pytest.approx(1e-12))]
    assert all(bar.get_hatch() for bar in ax.patches)


def test_the_legend_names_only_what_is_drawn():
    sound = plot_audit([(1, 1.0, 1.0, False)])
    wrong = plot_audit([(1, 1.0, 2.0, True)])
    assert [text.get_text() for text in sound.get_legend().get_texts()] == ["claimed", "true"]
    assert [text.get_text() for text in wrong.get_legend().get_texts()] == [
        *("claimed", "true, above the claim", "missing from the claim")
    ]
    assert wrong.get_ylabel() == "sensitivity"


def test_zeros_and_infinite_claims_can_be_drawn():
    ax = plot_audit([(1, 0.0, 0.0, False), (2, math.inf, 0.0, False)])
    low, high = ax.get_ylim()
    assert low < 0 < high


def test_an_infinite_truth_is_hatched_up_to_the_frame():
    overflow = sl.audits.Evidence((1, 1), (1, 2), 3.0, math.inf)
    found = report(row(1, 1), row(2, math.inf, 2, overflow), row(math.inf, math.inf, 3, overflow))
    assert [one.verdict for one in found.rows] == ["tight", "violated", "tight"]
    assert "  2  2        inf    violated (claim / truth = 0)\n" in repr(found)
    assert "the truth is inf: violated" in found.counterexample(found.decisive)
    assert overflow.lines[1] == "y = [1, 2]  ->  f(y) = float('inf')"
    ax = found.plot()
    (bar,) = ax.patches
    assert bar.get_y() + bar.get_height() == pytest.approx(ax.get_ylim()[1])


def test_a_callers_axes_is_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert REPORT.plot(ax=ax, title="mine") is ax
    assert ax.get_title() == "mine"
