"""A clipped sum, its sensitivity and its errors against the clipping bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._options import check_frame, with_checked_options
from ._picture import (
    Picture,
    entitled,
    given_axes,
    is_geometric,
    lay_along,
    new_figure,
    set_log_ticks,
    with_unit,
)
from ._theme import BLUE, RED

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS_OF_CLIPPING = (
    "bound",
    "clipped_sum",
    "bias",
    "sensitivity",
    "scale",
    "release",
    "expected_error",
)
# The expected error is wide and beneath the others: it follows the larger of them.
_ERRORS: dict[str, dict[str, Any]] = {
    "expected_error": {
        "label": "expected error of a release",
        "color": "#777777",
        "alpha": 0.6,
        "linewidth": 4,
    },
    "bias": {"label": "size of the bias", "color": BLUE, "linestyle": "--"},
    "scale": {"label": "scale of the noise", "color": RED, "linestyle": "-."},
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
    logx: bool | None = None,
    figsize: tuple[float, float] = (11, 3.7),
) -> Any:
    """Draw a clipping sweep in three panels against the upper bound.

    Left: the clipped sum, the sum of the records, and the releases; a private search sees only the
    releases. Middle: the sensitivity of the clipped sum. Right: the size of the bias, and with an
    epsilon the scale of the noise and the expected error that both cause.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per bound, as `ClippingSweep.to_frame` returns it.
    true_sum : float
        The sum of the records, unclipped.
    ax : sequence of three Axes, optional
        Where to draw; by default on a new figure.
    unit : str, optional
        The unit of the records, such as "years".
    title : str, optional
        Above the figure, or above the first of the given Axes.
    logx : bool, optional
        Whether the axes of the bounds and of the sensitivity are logarithmic; by default if the
        bounds are spaced so. The axis of errors is always logarithmic. A logarithmic axis omits
        numbers that are not positive.
    figsize : tuple of float, default (11, 3.7)
        Width and height in inches of a new figure.

    Returns
    -------
    Figure or sequence of Axes
        As for `plot_curves`.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, there are not three Axes, or `logx` is not a bool.

    Examples
    --------
    >>> from sensitivity_lab.noise.clipping import clipping_sweep
    >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=1, neighbors="unbounded")
    >>> figure = plot_clipping(sweep.to_frame(), true_sum=17, unit="years")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['sum (years)', 'sensitivity (years)', 'error (years)']
    """
    check_frame(frame, _COLUMNS_OF_CLIPPING, "pass the result of ClippingSweep.to_frame()")
    axes = given_axes(_three_panels(figsize) if ax is None else ax, 3)
    pictures = dict(zip(("sum", "sensitivity", "error"), map(Picture, axes), strict=True))
    columns = {name: frame[name].to_numpy(float) for name in _COLUMNS_OF_CLIPPING}
    _draw_sums(pictures["sum"], columns, true_sum)
    of_sensitivity = {"sensitivity": {"color": "#000000"}}
    log = is_geometric(columns["bound"]) if logx is None else logx
    _draw_positive(pictures["sensitivity"], columns, of_sensitivity, log)
    _draw_positive(pictures["error"], columns, _ERRORS, True)
    for label, picture in pictures.items():
        lay_along(picture.ax, columns["bound"], log)
        picture.name_axes(with_unit("upper clipping bound", unit), with_unit(label, unit))
        picture.grid()
        if picture.ax.get_legend_handles_labels()[0]:
            picture.ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), **_LEGEND)
    return entitled(ax, axes, title, pad=60)  # points, above the legend


def _three_panels(figsize: tuple[float, float]) -> Any:
    figure = new_figure(figsize)
    figure.set_layout_engine("constrained", w_pad=0.12)  # inches, around every panel
    return figure.subplots(1, 3)


def _draw_sums(picture: Picture, columns: dict[str, Any], true_sum: float) -> None:
    ax, color = picture.ax, picture.colors.color
    ax.axhline(true_sum, color="0.5", linestyle=":", label="sum of the records")
    clipped = columns["clipped_sum"]
    ink, red = color("#000000"), color(RED)
    ax.plot(columns["bound"], clipped, color=ink, marker=_marker(clipped), label="clipped sum")
    if np.isfinite(columns["release"]).any():
        ax.plot(columns["bound"], columns["release"], "x", color=red, ms=5, label="release")
    ax.yaxis.set_major_formatter(_THOUSANDS)


def _draw_positive(
    picture: Picture, columns: dict[str, Any], lines: dict[str, dict[str, Any]], log: bool
) -> None:
    """Draw columns that are not negative, on a linear or a logarithmic axis."""
    ax = picture.ax
    for name, style in lines.items():
        heights = np.abs(columns[name])
        shown = np.isfinite(heights) & ((heights > 0) | (not log))
        if shown.any():
            look = {**style, "color": picture.colors.color(style["color"])}
            ax.plot(columns["bound"][shown], heights[shown], marker=_marker(heights), **look)
    ax.set_yscale("log" if log else "linear")
    if log:
        set_log_ticks(ax.yaxis)
    else:
        ax.yaxis.set_major_formatter(_THOUSANDS)


def _marker(points: Any) -> str:
    """Return a marker if a line has few points: a single point has no line."""
    return "." if len(points) <= _MOST_MARKED else ""
