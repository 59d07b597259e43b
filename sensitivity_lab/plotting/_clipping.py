"""A clipped sum, its sensitivity and its errors against the clipping bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from ._figures import PLAIN, check_frame, given_axes, new_figure
from ._options import with_checked_options
from ._theme import theme

if TYPE_CHECKING:
    import pandas as pd

_NEEDED = ("bound", "clipped_sum", "bias", "sensitivity", "scale", "release", "expected_error")
_RED = "#D55E00"
# The expected error is wide and beneath the others: it follows the larger of them.
_ERRORS: dict[str, dict[str, Any]] = {
    "expected_error": {
        "label": "expected error of a release",
        "color": "#777777",
        "alpha": 0.6,
        "linewidth": 4,
    },
    "bias": {"label": "size of the bias", "color": "#0072B2", "linestyle": "--"},
    "scale": {"label": "scale of the noise", "color": _RED, "linestyle": "-."},
}
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": "small"}
_MOST_MARKED = 30
_THOUSANDS = "{x:,.12g}"


@with_checked_options
def plot_clipping(
    frame: pd.DataFrame,
    *,
    true_sum: float,
    ax: Iterable[Any] | None = None,
    unit: str = "",
    title: str | None = None,
    xscale: str = "linear",
    figsize: tuple[float, float] = (11, 3.7),
) -> Any:
    """Draw a clipping sweep in three panels against the upper bound.

    Left: the clipped sum, the sum of the records, and the releases; a private search sees the
    releases only. Middle: the sensitivity of the clipped sum. Right: the size of the bias, and with
    an epsilon the scale of the noise and the expected error of both.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per bound, as `ClippingSweep.to_frame` gives it.
    true_sum : float
        The sum of the records, unclipped.
    ax : sequence of three Axes, optional
        Where to draw; by default on a new figure.
    unit : str, optional
        The unit of the records, such as "years".
    title : str, optional
        Above the figure, or above the first of the given Axes.
    xscale : {"linear", "log"}
        The axis of bounds and that of the sensitivity; "log" for logarithmic bounds. It leaves out
        what is not positive, as the axis of errors does, which is always logarithmic.
    figsize : tuple of float, default (11, 3.7)
        Width and height in inches of a new figure.

    Returns
    -------
    Figure or sequence of Axes
        The new Figure, which displays itself as the result of a notebook cell, or `ax` itself.
        Save it with ``.savefig(path)``: pyplot does not know it.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, there are not three Axes, or `xscale` is unknown.

    Examples
    --------
    >>> from sensitivity_lab.noise.clipping import clipping_sweep
    >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=1)
    >>> figure = plot_clipping(sweep.to_frame(), true_sum=17, unit="years")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['sum (years)', 'sensitivity (years)', 'error (years)']
    """
    _check(frame, xscale)
    figure = new_figure(figsize) if ax is None else None
    if figure is not None:
        figure.set_layout_engine("constrained", w_pad=0.12)  # inches, around every panel
    axes = given_axes(figure.subplots(1, 3) if figure is not None else ax, 3)
    columns = {name: frame[name].to_numpy(float) for name in _NEEDED}
    _draw_sums(axes[0], columns, true_sum)
    colors = theme(axes[0])
    _draw_positive(axes[1], columns, {"sensitivity": {"color": "#000000"}}, xscale)
    _draw_positive(axes[2], columns, _ERRORS, "log")
    labels = ("sum", "sensitivity", "error")
    for target, label in zip(axes, labels, strict=True):
        target.set_xscale(xscale)
        bound = f"upper clipping bound ({unit})" if unit else "upper clipping bound"
        target.set_xlabel(bound, **PLAIN)
        target.set_ylabel(f"{label} ({unit})" if unit else label, **PLAIN)
        target.grid(color=colors.gray(0.9))
        target.set_axisbelow(True)
        if target.get_legend_handles_labels()[0]:
            target.legend(loc="lower center", bbox_to_anchor=(0.5, 1), **_LEGEND)
    if figure is None:
        if title is not None:
            axes[0].set_title(title, **PLAIN, fontsize="medium", pad=60)
        return ax
    if title is not None:
        figure.suptitle(title, **PLAIN)
    return figure


def _check(frame: pd.DataFrame, xscale: str) -> None:
    check_frame(frame, _NEEDED, "pass what ClippingSweep.to_frame() returns")
    if not isinstance(xscale, str) or xscale not in ("linear", "log"):
        raise InputError(f"xscale: got {shown(xscale)}; use 'linear' or 'log'")


def _draw_sums(ax: Axes, columns: dict[str, Any], true_sum: float) -> None:
    ax.axhline(true_sum, color="0.5", linestyle=":", label="sum of the records")
    clipped = columns["clipped_sum"]
    ink, red = theme(ax).color("#000000"), theme(ax).color(_RED)
    ax.plot(columns["bound"], clipped, color=ink, marker=_marker(clipped), label="clipped sum")
    if np.isfinite(columns["release"]).any():
        ax.plot(columns["bound"], columns["release"], "x", color=red, ms=5, label="release")
    ax.yaxis.set_major_formatter(_THOUSANDS)


def _draw_positive(
    ax: Axes, columns: dict[str, Any], lines: dict[str, dict[str, Any]], scale: str
) -> None:
    """Draw columns that are not negative, on an axis of the scale's kind."""
    for name, style in lines.items():
        heights = np.abs(columns[name])
        shown = np.isfinite(heights) & ((heights > 0) | (scale == "linear"))
        if shown.any():
            look = {**style, "color": theme(ax).color(style["color"])}
            ax.plot(columns["bound"][shown], heights[shown], marker=_marker(heights), **look)
    ax.set_yscale(scale)
    if scale == "linear":
        ax.yaxis.set_major_formatter(_THOUSANDS)


def _marker(points: Any) -> str:
    """Return a marker where the points of a line are few: a single point has no line."""
    return "." if len(points) <= _MOST_MARKED else ""
