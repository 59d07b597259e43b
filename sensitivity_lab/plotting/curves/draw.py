"""Global, local and smooth sensitivity against the Hamming distance."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting._figures import PLAIN, check_frame, given_axes, new_figure
from sensitivity_lab.plotting._options import with_checked_options
from sensitivity_lab.plotting._theme import Theme, theme

from .compare import overlaid
from .labels import fit_beside, inches_beside, label_ends, make_room
from .legend import legend_beside, legend_of_figure
from .lines import numbered, styled_lines, with_curves
from .panels import Panel, chosen, panels_of, shared_with, size_of_panel, ylabel
from .ranges import axis_limits, legend_of_ranges

_NEEDED = ("column", "query", "neighbors", "meaning", "distance", "size", "sensitivity")
_LEGENDS = ("labels", "box", "none")


@with_checked_options
def plot_curves(
    frame: pd.DataFrame,
    *,
    compare: pd.DataFrame | None = None,
    ax: Axes | Iterable[Any] | None = None,
    units: Mapping[str, str] | None = None,
    title: str | None = None,
    yscale: str = "linear",
    figsize: tuple[float, float] | None = None,
    linear_bound: bool = False,
    legend: str | None = None,
    queries: str | Sequence[str] | None = None,
    columns: int | str | Sequence[str] | None = None,
    sharey: bool = False,
) -> Any:
    """Draw sensitivities against the Hamming distance.

    A panel per data column, unit and neighbor relation, a line with markers per query, which has
    its name at the end. Sums, variances and counts stand apart from the queries in the unit of the
    records; relations stand side by side on one scale. A curve that others cover is drawn wider
    beneath them, its markers hollow. With several kinds of sensitivity a query keeps its color and
    a kind its dash pattern. Colors follow the background: ``style.context("dark_background")``.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per column, query, relation and distance, as `SensitivityCurves.to_frame` gives it;
        perhaps with a column `kind` ("global", "local", or what `SmoothSensitivity.to_frame`
        gives; global where it is missing) and `norm` (of vector answers), also several tables
        concatenated. Where `status` is "bounds", bars from `lower` to `upper` are drawn.
    compare : pandas.DataFrame, optional
        Curves to lay over these in the same panels, such as those of an interval over those of a
        dataset: `frame` is called "empirical" then, `compare` "theory", each with its own dashes.
    ax : Axes or sequence of Axes, optional
        Where to draw: an Axes per data column and relation, which then has all its queries, or one
        per panel; column by column, within it unit by unit, then relation by relation. The default
        is a new figure. Without a layout engine of the caller's figure these Axes shrink to make
        room for labels or a legend at their right; other Axes are left alone.
    units : mapping of str to str, optional
        The unit of each data column, as ``{"absence_days": "days"}``.
    title : str, optional
        Above the figure, or above the first of the given Axes.
    yscale : {"linear", "log"}
        The sensitivity axis. A linear one starts at 0; a logarithmic one leaves out zeros.
    figsize : tuple of float, optional
        Width and height in inches of a new figure; by default every panel has the same size.
    linear_bound : bool, default False
        Whether to draw, thin and dotted in the color of each curve, k times its sensitivity at
        distance 1: what group privacy takes for distance k. `frame` needs a column `linear_bound`.
    legend : {"labels", "box", "none"}, optional
        Names at the ends of the lines; a legend right of all panels; or neither. By default labels
        in a new figure, if no panel has more than ten curves, very long names or bounds, else a
        box.
    queries : str or sequence of str, optional
        Which queries to draw, in this order; by default all.
    columns : int, or str or sequence of str, optional
        How many panels stand side by side; or which data columns to draw, in this order.
    sharey : bool, default False
        Whether all panels have one sensitivity axis, for queries of all units. By default the
        panels of one data column and unit share it.

    Returns
    -------
    Figure or Axes or sequence of Axes
        The new Figure, or `ax` itself if it was given. A new Figure displays itself as the result
        of a notebook cell. Save it with ``.savefig(path)``: pyplot does not know it, so for
        ``plt.savefig`` or a window pass Axes of ``plt.subplots``.

    Raises
    ------
    InputError
        If `frame` lacks columns, is empty, or has two rows for one point; if `compare` has columns,
        relations or sizes that `frame` has not; if the number of Axes is not that of the panels; if
        `yscale` or `legend` is unknown, `queries` or `columns` are not in `frame`; if
        `linear_bound` or `sharey` is no bool, or a bound is asked for where no curve has one.

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
    _check_choices(yscale, legend, sharey)
    of_both = ""
    _check_frame(frame)
    if compare is not None:
        _check_frame(compare)
        frame, of_both = overlaid(frame, compare)
    frame, across = _chosen(frame, queries, columns)
    frame, title_of_legend, what = with_curves(_with_bounds(frame, linear_bound))
    panels = _panels(frame, ax, across, sharey)
    if ax is None:
        beside = legend == "labels" or (
            legend is None
            and all(fit_beside(panel.names) and panel.ranges.lower.empty for panel in panels)
        )
        figure, axes = _new_panels(panels, figsize, labels=beside)
    else:
        beside, axes = legend == "labels", given_axes(ax, len(panels))
    colors = theme(axes[0])
    lines = styled_lines(numbered(frame), panels, colors)
    drawn = {}
    for target, panel in zip(axes, panels, strict=True):
        limits = axis_limits(shared_with(panel, panels, sharey), yscale)
        drawn[target] = _draw_panel(target, panel, lines, limits, yscale, colors)
        unit = (units or {}).get(panel.column, "")
        target.set_ylabel(ylabel(of_both or what, panel.queries, unit), **PLAIN)
    # On a logarithmic axis a curve of zeros is not to be seen, and not named.
    entries = {name: lines[name] for name in lines if any(name in one for one in drawn.values())}
    if beside or legend == "none":
        entries = {}
    entries |= legend_of_ranges([panel.ranges for panel in panels], colors)
    if linear_bound:
        entries["k times the sensitivity at 1"] = _bound_line(colors.ink)
    if legend == "none":
        entries = {}
    labels = [label_ends(one, drawn[one], colors) if beside else [] for one in axes]
    if ax is not None:
        if title is not None:
            axes[0].set_title(f"{title}\n{axes[0].get_title()}", **PLAIN, fontsize="medium")
        make_room(axes, labels)
        if entries:
            legend_beside(axes, entries, "" if beside else title_of_legend)
        return ax
    _finish(figure, entries, "" if beside else title_of_legend, title, widen=figsize is None)
    return figure


def _panels(frame: pd.DataFrame, ax: Any, across: int | None, sharey: bool) -> list[Panel]:
    """Return the panels; given Axes without one for every unit show all units together."""
    together = panels_of(frame, False, across)
    if sharey or (ax is not None and np.size(np.asarray(ax, dtype=object)) == len(together)):
        return together
    apart = panels_of(frame, True, across)
    if ax is None or np.size(np.asarray(ax, dtype=object)) == len(apart):
        return apart
    return together


def _check_choices(yscale: Any, legend: Any, sharey: Any) -> None:
    if not isinstance(yscale, str) or yscale not in ("linear", "log"):
        raise InputError(f"yscale: got {shown(yscale)}; use 'linear' or 'log'")
    if legend is not None and (not isinstance(legend, str) or legend not in _LEGENDS):
        raise InputError(f"legend: got {shown(legend)}; use 'labels', 'box' or 'none'")
    if not isinstance(sharey, bool | np.bool_):
        raise InputError(f"sharey: got {shown(sharey)}; use True or False")


def _with_bounds(frame: pd.DataFrame, linear_bound: Any) -> pd.DataFrame:
    """Return the frame with linear bounds only if they are shown; InputError if it has none.

    They are what group privacy takes for each curve: k times the sensitivity at distance 1.
    """
    if not isinstance(linear_bound, bool | np.bool_):
        raise InputError(f"linear_bound: got {shown(linear_bound)}; use True or False")
    if not linear_bound:
        return frame.assign(linear_bound=np.nan)
    if "linear_bound" not in frame.columns or frame["linear_bound"].isna().all():
        raise InputError(
            "frame: no curve has a linear_bound; compute the curves with distance 1 among the "
            "distances, and pass what SensitivityCurves.to_frame() returns"
        )
    return frame


def _chosen(frame: pd.DataFrame, queries: Any, columns: Any) -> tuple[pd.DataFrame, int | None]:
    """Return what is to be drawn, and how many panels stand side by side, if that is given."""
    if queries is not None:
        frame = chosen(frame, "query", queries)
    if isinstance(columns, int | np.integer) and not isinstance(columns, bool):
        if columns < 1:
            raise InputError(f"columns: got {columns}; as a number of panels it is at least 1")
        return frame, int(columns)
    return (frame if columns is None else chosen(frame, "column", columns)), None


def _new_panels(
    panels: Sequence[Panel], figsize: tuple[float, float] | None, labels: bool
) -> tuple[Figure, list[Axes]]:
    """Make a figure with an Axes per panel, with room for labels at the ends of lines."""
    rows, across = (1 + max(panel.cell[i] for panel in panels) for i in (0, 1))
    width, height = size_of_panel(len(panels))
    if labels:
        width += max(inches_beside(panel.names) for panel in panels)
    figure = new_figure(figsize or (across * width, rows * height))
    grid = figure.add_gridspec(rows, across)
    return figure, [figure.add_subplot(grid[panel.cell]) for panel in panels]


def _finish(
    figure: Figure, entries: Mapping[str, Line2D], heading: str, title: str | None, widen: bool
) -> None:
    """Add legend and title of a new figure; its panels keep their width if it is to be widened."""
    beside = legend_of_figure(figure, entries, heading) if entries else 0.0
    if widen:
        figure.set_figwidth(figure.get_figwidth() + beside)
    if title is not None:
        width = figure.get_figwidth() - beside
        wrapped = textwrap.fill(title, max(10, int(8 * width)))
        figure.suptitle(wrapped, x=width / figure.get_figwidth() / 2, **PLAIN)


def _check_frame(frame: pd.DataFrame) -> None:
    check_frame(frame, _NEEDED, "pass what SensitivityCurves.to_frame() returns")
    point = ["column", "query", "neighbors", "meaning", "distance"]
    if "kind" in frame.columns:
        point.insert(2, "kind")
    twice = frame[frame.duplicated(point)]
    if len(twice):
        found = ", ".join(f"{name} {twice.iloc[0][name]!s}" for name in point)
        raise InputError(f"frame: more than one row for {found}; draw one size at a time")


def _draw_panel(
    ax: Axes,
    panel: Panel,
    lines: Mapping[str, Line2D],
    limits: tuple[float, float],
    yscale: str,
    colors: Theme,
) -> dict[str, Line2D]:
    """Draw the curves of a panel, and return those that are to be seen."""
    ax.set_yscale(yscale, **({"nonpositive": "mask"} if yscale == "log" else {}))
    ax.set_ylim(limits)
    seen = {}
    for name, line in lines.items():
        if name in panel.table:
            curve = panel.ranges.broken(name, panel.table[name])
            if yscale == "linear" or (curve > 0).any() or name in panel.ranges.lower:
                seen[name] = _draw_curve(ax, name, curve, line)
                panel.ranges.draw(ax, name, line)
        if name in panel.bounds:
            bound = panel.bounds[name].dropna()
            drawn = Line2D(bound.index.to_numpy(float), bound.to_numpy(float))
            drawn.update_from(_bound_line(line.get_color()))
            ax.add_line(drawn)
    k = panel.table.index
    margin = max(0.4, 0.04 * (k.max() - k.min()))
    left = k.min() - margin
    ax.set_xlim(max(left, 0.4) if k.min() >= 1 else left, k.max() + margin)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    ax.set_title(panel.title, **PLAIN, fontsize="medium")
    ax.set_xlabel(panel.xlabel)
    ax.grid(color=colors.gray(0.9))
    ax.set_axisbelow(True)
    return seen


def _draw_curve(ax: Axes, name: str, curve: pd.Series[float], line: Line2D) -> Line2D:
    """Add a curve that looks like its line in the legend."""
    drawn = Line2D(curve.index.to_numpy(float), curve.to_numpy(float))
    drawn.update_from(line)
    drawn.set_label(name)
    drawn.set_markevery(max(1, len(curve) // 25))
    ax.add_line(drawn)
    return drawn


def _bound_line(color: Any) -> Line2D:
    """Return the line of a linear bound, in the color of its curve."""
    return Line2D([], [], color=color, linewidth=0.9, linestyle=(0, (1, 2)), alpha=0.8)
