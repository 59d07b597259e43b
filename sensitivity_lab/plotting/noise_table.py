"""The noise of several answers released together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from sensitivity_lab.checks import named, rounded_up

from ._options import check_frame, with_checked_options
from ._picture import (
    PLAIN,
    Picture,
    broken,
    entitled,
    given_axes,
    new_figure,
    query_unit,
    set_log_ticks,
    set_ticks,
)
from ._theme import BLUE

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS_OF_TABLE = ("name", "sensitivity", "scale")
_NAME_LETTERS = 26  # of a line of a name
_ROW, _AROUND = 0.36, 0.75  # inches of a row, and of what stands around the rows of a panel


@with_checked_options
def plot_noise_table(
    frame: pd.DataFrame,
    *,
    units: str | Mapping[str, str] | None = None,
    logx: bool = False,
    ax: Axes | Iterable[Any] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the sensitivity of every answer and the scale of its noise, a row per answer.

    A line leads from the sensitivity, a hollow diamond, to the scale, a full circle. Both numbers
    stand next to it, rounded up as in the table. Answers share an axis only if they are known to
    have the same unit; all others have an axis of their own.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per answer, as `NoiseTable.to_frame` returns it.
    units : str or mapping of str to str, optional
        The unit of all records, such as "years"; or the unit of each answer by its name.
    logx : bool, default False
        Whether the axes are logarithmic; then they omit zeros.
    ax : Axes or sequence of Axes, optional
        Where to draw, an Axes per unit; by default on a new figure.
    title : str, optional
        Above the figure, or above the first of the given Axes.
    figsize : tuple of float, optional
        Width and height in inches of a new figure; by default every row has the same height.

    Returns
    -------
    Figure or Axes or sequence of Axes
        As for `plot_curves`.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, the number of Axes is not that of the units, or an option
        has the wrong type.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> table = sl.noise.noise_table({"sum": 10, "max": 20, "count": 1}, epsilon=1)
    >>> figure = plot_noise_table(table.to_frame(), units="days")
    >>> [ax.get_xlabel() for ax in figure.axes]
    ['days', 'records']
    """
    check_frame(frame, _COLUMNS_OF_TABLE, "pass the result of NoiseTable.to_frame()")
    groups = _by_unit(frame, units)
    if ax is None:
        heights = [_AROUND + _ROW * len(group) for group in groups]
        figure = new_figure(figsize or (7.6, 0.4 + sum(heights)))
        axes = list(figure.subplots(len(groups), height_ratios=heights, squeeze=False).flat)
    else:
        axes = given_axes(ax, len(groups))
    for one, group in zip(axes, groups, strict=True):
        _draw_unit(Picture(one), group, logx)
    handles = axes[0].get_legend_handles_labels()[0][::-1]
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    axes[0].legend(handles=handles, ncols=2, frameon=False, fontsize="small", **place)
    return entitled(ax, axes, title, pad=22)  # points, above the legend


def _by_unit(frame: pd.DataFrame, units: str | Mapping[str, str] | None) -> list[pd.DataFrame]:
    """Return each unit with its answers; every answer of unknown unit is on its own."""
    # A mapping gives the units of answers, a text the unit of the records.
    told = units if isinstance(units, Mapping) else {}
    of_records = units if isinstance(units, str) else ""
    known = [told.get(name, query_unit(name, of_records)) for name in frame["name"]]
    known = ["" if unit == "units²" else unit for unit in known]
    frame = frame.assign(unit=known, panel=[unit or place for place, unit in enumerate(known)])
    return [group for _, group in frame.groupby("panel", sort=False)]


def _draw_unit(picture: Picture, group: pd.DataFrame, log: bool) -> None:
    """Draw the answers of one unit, the first one on top."""
    ax, colors = picture.ax, picture.colors
    places = np.arange(len(group))
    sensitivities, scales = (group[name].to_numpy(float) for name in ("sensitivity", "scale"))
    ax.hlines(places, sensitivities, scales, color=colors.gray(0.55), linewidth=2, zorder=1)
    marks: dict[str, dict[str, Any]] = {
        "scale of the noise": {"marker": "o", "markersize": 6, "color": colors.color(BLUE)},
        "sensitivity": {"marker": "D", "markersize": 8, "color": colors.ink, "fillstyle": "none"},
    }
    for (label, look), numbers in zip(marks.items(), (scales, sensitivities), strict=True):
        ax.plot(numbers, places, linestyle="none", clip_on=False, label=label, **look)
    for place, *both in zip(places, sensitivities, scales, strict=True):
        text = " → ".join(rounded_up(number, digits=6) for number in both)
        beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
        picture.note(text, (1.0, place), (8, 0), va="center", **beside)
    ax.set_yticks(places, [broken(named(name), _NAME_LETTERS) for name in group["name"]], **PLAIN)
    ax.set_ylim(len(group) - 0.4, -0.6)
    drawn = np.concatenate([sensitivities, scales])
    finite = drawn[np.isfinite(drawn) & (drawn > 0)]
    top = finite.max(initial=0) or 1.0
    if log:
        ax.set_xscale("log", nonpositive="mask")
        ax.set_xlim(finite.min(initial=top) / 1.5, 1.5 * top)
        set_log_ticks(ax.xaxis)
    else:
        ax.set_xlim(0, 1.06 * top)
        set_ticks(ax.xaxis, 5, whole=False)
    picture.name_axes(group["unit"].iloc[0])
    picture.grid(axis="x")
