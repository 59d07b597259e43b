"""Global, local and smooth sensitivity against the Hamming distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting._options import axes_of, check_frame, with_checked_options
from sensitivity_lab.plotting._picture import (
    Picture,
    entitled,
    given_axes,
    is_geometric,
    lay_along,
    new_figure,
    set_log_ticks,
    unit_of,
)

from .labels import (
    fit_beside,
    inches_beside,
    label_ends,
    legend_beside,
    legend_of_figure,
    make_room,
)
from .panels import (
    Panel,
    axis_limits,
    each,
    joint_names,
    numbered,
    panels_of,
    scale_of,
    shared_with,
    size_of_panel,
    styled_lines,
    with_curves,
    ylabel,
)

_COLUMNS_OF_CURVES = ("column", "query", "neighbors", "meaning", "distance", "size", "sensitivity")

_MOST_LABELLED = 12
"""More panels have one legend, since labels beside each would make the figure too wide."""


@with_checked_options
def plot_curves(
    frame: pd.DataFrame,
    *,
    ax: Axes | Iterable[Any] | None = None,
    units: str | Mapping[str, str] | None = None,
    title: str | None = None,
    logx: bool | None = None,
    logy: bool = False,
    figsize: tuple[float, float] | None = None,
    legend: str | None = None,
    columns: int | None = None,
    subplots: bool | None = None,
) -> Any:
    """Draw sensitivities against the Hamming distance.

    There is a panel per data column, unit and neighbor relation, and a line with markers per query,
    with its name at the end. Sums, variances and counts have panels of their own; relations stand
    side by side on one scale. Curves that coincide become one line with joined names, such as
    "median = percentile_50". A curve that others cover in part is drawn wider beneath them, with
    hollow markers. With several kinds of sensitivity, color shows the query and the dash pattern
    shows the kind. Colors follow the background: ``style.context("dark_background")``.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per column, query, relation and distance, as `SensitivityCurves.to_frame` returns it,
        or several such tables concatenated. Optional columns are `kind` ("global", "local", or a
        value from `SmoothSensitivity.to_frame`; by default "global") and `norm` (of vector
        answers).
    ax : Axes or sequence of Axes, optional
        Where to draw: an Axes per data column and relation, which then has all its queries, or one
        per panel; ordered by column, then unit, then relation. The default is a new figure. If the
        caller's figure has no layout engine, these Axes shrink to make room for labels or a legend
        at their right; other Axes stay as they are.
    units : str or mapping of str to str, optional
        The unit of all data columns, or of each one, such as ``{"absence_days": "days"}``.
    title : str, optional
        Above the figure, or above the first of the given Axes.
    logx : bool, optional
        Whether the axis of distances is logarithmic; by default if they are spaced so, such as 1,
        10, 100.
    logy : bool, default False
        Whether the sensitivity axis is logarithmic; then it omits zeros, otherwise it starts at 0.
    figsize : tuple of float, optional
        Width and height in inches of a new figure; by default every panel has the same size.
    legend : {"labels", "box", "none"}, optional
        Names at the ends of the lines; a legend right of all panels; or neither. By default labels
        in a new figure of at most twelve panels, if no panel has more than ten curves or very long
        names, and a box otherwise.
    columns : int, optional
        The number of panels side by side. Those of one data column and unit share the sensitivity
        axis.
    subplots : bool, optional
        True for a panel per query; False for a panel per data column with all its queries, also of
        different units. By default queries of one unit share a panel.

    Returns
    -------
    Figure or Axes or sequence of Axes
        The new Figure, or `ax` itself if it was given. A new Figure belongs to pyplot: a notebook
        shows it, ``plt.show()`` opens it, ``plt.close()`` closes it. Save it with
        ``.savefig(path)``.

    Raises
    ------
    InputError
        If `frame` lacks columns, is empty, or has two rows for one point; if the number of Axes is
        not that of the panels; if `legend` is unknown; for a logarithmic axis of distances that are
        not above 0; or if an option has the wrong type.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "column": "age",
    ...         "query": "mean",
    ...         "neighbors": "bounded",
    ...         "meaning": "at most",
    ...         "distance": [1, 2],
    ...         "size": 3,
    ...         "sensitivity": [1.0, 5 / 3],
    ...     }
    ... )
    >>> figure = plot_curves(frame, units={"age": "years"})
    >>> figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()
    ('global sensitivity (years)', 'Hamming distance k (at most)')
    """
    _check_frame(frame)
    frame, title_of_legend, what = with_curves(frame)
    log_along = _is_log(frame["distance"], logx)
    panels = _panels(frame, ax, columns, subplots)
    apart = [joint_names([panel]) for panel in panels]
    if legend is None and subplots and all(len(joint) == 1 for joint in apart):
        legend = "none"  # the titles are the names
    if ax is None:
        beside = legend == "labels" or (
            legend is None
            and len(panels) <= _MOST_LABELLED
            and all(fit_beside(joint.values()) for joint in apart)
        )
        names = [name for joint in apart for name in joint.values()] if beside else []
        axes = _new_panels(panels, figsize, names)
    else:
        beside, axes = legend == "labels", given_axes(ax, len(panels))
    # A legend of all panels joins the names of curves that coincide in all of them.
    joints = apart if beside else [joint_names(panels)] * len(panels)
    pictures = list(map(Picture, axes))
    colors = pictures[0].colors
    lines = styled_lines(numbered(frame), panels, joints, colors)
    drawn = {}
    for picture, panel, joint in zip(pictures, panels, joints, strict=True):
        limits = axis_limits(shared_with(panel, panels), log=logy)
        drawn[picture.ax] = _draw_panel(picture, panel, lines, joint, limits, logy)
        lay_along(picture.ax, panel.table.index, log_along)
        unit = unit_of(panel.column, units)
        picture.name_axes(panel.xlabel, ylabel(what, panel.queries, unit))
    entries = {}
    if not beside and legend != "none":
        # On a logarithmic axis a curve of zeros is not to be seen, and not named.
        seen = {name for one in drawn.values() for name in one}
        entries = {label: lines[name] for name, label in joints[0].items() if label in seen}
    labels = [label_ends(one, drawn[one], colors) if beside else [] for one in axes]
    make_room(axes, labels)
    heading, width = "" if beside else title_of_legend, 0.0
    if entries and ax is not None:
        legend_beside(axes, entries, heading)
    elif entries:
        width = legend_of_figure(axes[0].figure, entries, heading, widen=figsize is None)
    return entitled(ax, axes, title, beside=width)


def _is_log(distances: pd.Series[Any], chosen: bool | None) -> bool:
    """Return whether the axis of distances is logarithmic, as chosen or by their spacing."""
    if chosen and distances.min() <= 0:
        raise InputError(
            "logx: a logarithmic axis needs distances above 0, "
            f"got {distances.min()}; use logx=False"
        )
    return is_geometric(distances) if chosen is None else chosen


def _panels(frame: pd.DataFrame, ax: Any, across: int | None, subplots: bool | None) -> list[Panel]:
    """Return the panels; given Axes without one for every unit show all units together."""
    if subplots:
        return panels_of(frame, each, across)
    apart = panels_of(frame, scale_of, across)
    if subplots is False or (ax is not None and len(axes_of(ax)) != len(apart)):
        return panels_of(frame, None, across)
    return apart


def _new_panels(
    panels: Sequence[Panel], figsize: tuple[float, float] | None, labels: Sequence[str]
) -> list[Axes]:
    """Return an Axes per panel of a new figure, with room for labels at the ends of lines."""
    rows, across = (1 + max(panel.cell[i] for panel in panels) for i in (0, 1))
    width, height = size_of_panel(len(panels))
    if labels:
        width += inches_beside(labels)
    figure = new_figure(figsize or (across * width, rows * height))
    grid = figure.add_gridspec(rows, across)
    return [figure.add_subplot(grid[panel.cell]) for panel in panels]


def _check_frame(frame: pd.DataFrame) -> None:
    check_frame(frame, _COLUMNS_OF_CURVES, "pass the result of SensitivityCurves.to_frame()")
    point = ["column", "query", "neighbors", "meaning", "distance"]
    if "kind" in frame.columns:
        point.insert(2, "kind")
    twice = frame[frame.duplicated(point)]
    if len(twice):
        found = ", ".join(f"{name} {twice.iloc[0][name]!s}" for name in point)
        raise InputError(f"frame: more than one row for {found}; draw one size at a time")


def _draw_panel(
    picture: Picture,
    panel: Panel,
    lines: Mapping[str, Line2D],
    joint: Mapping[str, str],
    limits: tuple[float, float],
    logy: bool,
) -> dict[str, Line2D]:
    """Draw the curves of a panel, and return the visible ones."""
    ax = picture.ax
    ax.set_yscale("log" if logy else "linear", **({"nonpositive": "mask"} if logy else {}))
    ax.set_ylim(limits)
    if logy:
        set_log_ticks(ax.yaxis)
    seen = {}
    for name, label in joint.items():
        line = lines[name]
        if name in panel.table:
            curve = panel.table[name].dropna()
            if not logy or (curve > 0).any():
                seen[label] = _draw_curve(ax, label, curve, line)
    picture.title(panel.title)
    picture.grid()
    return seen


def _draw_curve(ax: Axes, name: str, curve: pd.Series[float], line: Line2D) -> Line2D:
    """Add a curve that looks like its line in the legend."""
    drawn = Line2D(curve.index.to_numpy(float), curve.to_numpy(float))
    drawn.update_from(line)
    drawn.set_label(name)
    drawn.set_markevery(max(1, len(curve) // 25))
    ax.add_line(drawn)
    return drawn
