"""How far off noise makes numbers: a clipped sum against its bound, and what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sensitivity_lab.checks import named, names_of

from ._options import with_checked_options
from ._picture import (
    BLUE,
    PLAIN,
    RED,
    THOUSANDS,
    Picture,
    broken,
    entitled,
    given_axes,
    is_geometric,
    lay_along,
    new_figure,
    set_log_ticks,
    set_ticks,
    with_unit,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LOOKS_OF_ERRORS: tuple[dict[str, Any], ...] = (
    # The expected error is wide and beneath the others: it follows the larger of them.
    {"color": "#777777", "alpha": 0.6, "linewidth": 4},
    {"color": BLUE, "linestyle": "--"},
    {"color": RED, "linestyle": "-."},
)
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": "small"}
_MOST_MARKED = 30


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
        If there are not three Axes, or `logx` is not a bool.

    Examples
    --------
    >>> from sensitivity_lab.noise import clipping_sweep
    >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=1, neighbors="unbounded")
    >>> figure = plot_clipping(sweep.to_frame(), true_sum=17, unit="years")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['sum (years)', 'sensitivity (years)', 'error (years)']
    """
    axes = given_axes(_three_panels(figsize) if ax is None else ax, 3)
    pictures = dict(zip(("sum", "sensitivity", "error"), map(Picture, axes), strict=True))
    frame = frame.astype(float)
    bounds = frame["bound"]
    _draw_sums(pictures["sum"], frame, true_sum)
    log = is_geometric(bounds) if logx is None else logx
    _draw_positive(pictures["sensitivity"], bounds, frame["sensitivity"], log, color="#000000")
    _scale(pictures["sensitivity"].ax, log)
    errors = {
        "expected error of a release": frame["expected_error"],
        "size of the bias": frame["bias"].abs(),
        "scale of the noise": frame["scale"],
    }
    draw_errors(pictures["error"], bounds, errors)
    _scale(pictures["error"].ax, True)
    for label, picture in pictures.items():
        lay_along(picture.ax, bounds, log)
        picture.name_axes(with_unit("upper clipping bound", unit), with_unit(label, unit))
        picture.grid()
        if picture.ax.get_legend_handles_labels()[0]:
            picture.ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), **_LEGEND)
    return entitled(ax, axes, title, pad=60)  # points, above the legend


def _three_panels(figsize: tuple[float, float]) -> Any:
    figure = new_figure(figsize)
    figure.set_layout_engine("constrained", w_pad=0.12)  # inches, around every panel
    return figure.subplots(1, 3)


def _draw_sums(picture: Picture, frame: pd.DataFrame, true_sum: float) -> None:
    ax, color = picture.ax, picture.colors.color
    ax.axhline(true_sum, color="0.5", linestyle=":", label="sum of the records")
    ink, marker = color("#000000"), _marker(frame)
    ax.plot(frame["bound"], frame["clipped_sum"], color=ink, marker=marker, label="clipped sum")
    if frame["release"].notna().any():
        ax.plot(frame["bound"], frame["release"], "x", color=color(RED), ms=5, label="release")
    ax.yaxis.set_major_formatter(THOUSANDS)


def draw_errors(picture: Picture, along: pd.Series, errors: Mapping[str, pd.Series]) -> None:
    """Draw the expected error and both its parts, by their names, for a logarithmic axis."""
    for (label, heights), look in zip(errors.items(), _LOOKS_OF_ERRORS, strict=True):
        _draw_positive(picture, along, heights, True, label=label, **look)


def _draw_positive(
    picture: Picture, along: pd.Series, heights: pd.Series, log: bool, *, color: str, **look: Any
) -> None:
    """Draw numbers that are not negative; a logarithmic axis omits zeros."""
    shown = np.isfinite(heights) & ((heights > 0) | (not log))
    if shown.any():
        look = {"color": picture.colors.color(color), "marker": _marker(heights), **look}
        picture.ax.plot(along[shown], heights[shown], **look)


def _scale(ax: Axes, log: bool) -> None:
    """Make the vertical axis linear or logarithmic, with suitable ticks."""
    ax.set_yscale("log" if log else "linear")
    if log:
        set_log_ticks(ax.yaxis)
    else:
        ax.yaxis.set_major_formatter(THOUSANDS)


def _marker(points: Any) -> str:
    """Return a marker if a line has few points: a single point has no line."""
    return "." if len(points) <= _MOST_MARKED else ""


_ROW, _AROUND, _LETTERS = 0.32, 1.0, 26  # inches of a row and around them; letters of a name
_MOST = 40


@with_checked_options
def plot_errors(
    exact: pd.DataFrame,
    off: pd.DataFrame,
    least: pd.DataFrame,
    *,
    left_out: tuple[str, ...] = (),
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw numbers with their mean absolute errors, a panel per statistic and a row per group.

    Parameters
    ----------
    exact, off, least : pandas.DataFrame
        Of the same groups and statistics; of more than 40 groups the first ones are drawn. No bar
        goes below `least`.
    left_out : tuple of str
        What else is published, to be named in the title.
    title : str, optional
        Above the figure.
    figsize : tuple of float, optional
        Width and height in inches.

    Returns
    -------
    Figure
    """
    groups, panels = min(len(exact), _MOST), max(exact.shape[1], 1)
    large = bool((exact.abs() >= 1e6).any(axis=None))  # such numbers are written out
    wide, ticks = (3.4, 3) if large else (2.4, 4)
    size = figsize or (1.6 + wide * panels, _AROUND + _ROW * groups)
    figure = new_figure(size)
    axes = list(figure.subplots(1, panels, sharey=True, squeeze=False).flat)
    places = np.arange(groups)
    columns = ", ".join(named(one) for one in exact.index.names if one is not None)
    for ax, name in zip(axes, exact.columns, strict=False):
        picture = Picture(ax)
        values, errors, lowest = (
            one[name].to_numpy(dtype=float)[:groups] for one in (exact, off, least)
        )
        below = np.clip(values - lowest, 0, errors)
        ax.errorbar(
            *(values, places),
            xerr=np.nan_to_num([below, errors]),
            fmt="o",
            markersize=4,
            capsize=3,
            color=picture.colors.color(BLUE),
            ecolor=picture.colors.ink,
        )
        set_ticks(ax.xaxis, ticks, whole=exact[name].dtype.kind == "i")
        ax.xaxis.set_major_formatter(THOUSANDS)
        picture.name_axes(broken(named(name), _LETTERS), columns if ax is axes[0] else None)
        picture.grid(axis="x")
    names = [" ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in exact.index]
    axes[0].set_yticks(places, [broken(named(one), _LETTERS) for one in names[:groups]], **PLAIN)
    axes[0].set_ylim(groups - 0.5, -0.5)
    heading = "Made-up rows: each number, and how far off it will be on average"
    if left_out:
        heading += f"\nnot drawn: {names_of(left_out, named)}"
    return entitled(None, axes, heading if title is None else title)
