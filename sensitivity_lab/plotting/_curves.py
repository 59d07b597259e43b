"""Global, local and smooth sensitivity against the Hamming distance."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sensitivity_lab.errors import InputError

from ._compare import overlaid
from ._curve_legend import legend_beside, legend_of_figure
from ._figures import PLAIN, check_frame, given_axes, new_figure, query_unit
from ._linear_bounds import bound_line, with_bounds
from ._ranges import Ranges, axis_limits, legend_of_ranges

# Okabe and Ito's palette, with a gray for its yellow, which is too pale for a line on white. The
# three lengths have no common divisor, so the first 440 queries all differ.
_COLORS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#777777")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
_NEEDED = ("column", "query", "neighbors", "meaning", "distance", "size", "sensitivity")
_PANEL = (3.6, 3.3)  # inches, with its labels
_ACROSS = 3  # panels in a row


@dataclass(frozen=True)
class _Panel:
    """What one Axes shows: a row per distance and a column per curve in `table`.

    `bounds` has the linear bounds of the same curves; no column where they are not shown. `ranges`
    are the points of which only bounds are known.
    """

    column: str
    queries: list[str]
    title: str
    xlabel: str
    table: pd.DataFrame
    bounds: pd.DataFrame
    ranges: Ranges
    cell: tuple[int, int]

    @property
    def tables(self) -> tuple[pd.DataFrame, ...]:
        """What the sensitivity axis has to hold."""
        return self.table, self.bounds, *self.ranges.tables


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
) -> Any:
    """Draw sensitivities against the Hamming distance.

    A panel per data column and neighbor relation, a line with markers per query. Data columns fill
    rows of three panels; with several relations each data column is a row, its relations side by
    side on one scale. A curve that others cover is drawn wider beneath them, its markers hollow.
    With several kinds of sensitivity a query keeps its color and a kind its dash pattern.

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
        Where to draw, an Axes per panel: column by column, within a column relation by relation.
        The default is a new figure. Without a layout engine of the caller's figure these Axes
        shrink to make room for the legend at their right; other Axes are left alone.
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

    Returns
    -------
    Figure or Axes or sequence of Axes
        The new Figure, or `ax` itself if it was given. A new Figure displays itself as the result
        of a notebook cell; pyplot does not know it, so for a window pass Axes of ``plt.subplots``.

    Raises
    ------
    InputError
        If `frame` lacks columns, is empty, or has two rows for one point; if `compare` has columns,
        relations or sizes that `frame` has not; if the number of Axes is not that of the panels; if
        `yscale` is unknown; if `linear_bound` is no bool, or asked for where no curve has one.

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
    if yscale not in ("linear", "log"):
        raise InputError(f"yscale: got {yscale!r}; use 'linear' or 'log'")
    of_both = ""
    if compare is not None:
        _check_frame(compare)
        frame, of_both = overlaid(frame, compare)
    frame, title_of_legend, what = _with_curves(with_bounds(frame, linear_bound))
    panels = _panels(frame)
    if ax is None:
        figure, axes = _new_panels(panels, figsize)
    else:
        axes = given_axes(ax, len(panels))
    lines = _styled_lines(_numbered(frame), panels)
    for target, panel in zip(axes, panels, strict=True):
        beside = [
            table for other in panels if other.column == panel.column for table in other.tables
        ]
        _draw_panel(target, panel, lines, axis_limits(beside, yscale), yscale)
        target.set_ylabel(
            _ylabel(of_both or what, panel.queries, (units or {}).get(panel.column, "")), **PLAIN
        )
    lines = {**lines, **legend_of_ranges([panel.ranges for panel in panels])}
    if linear_bound:
        lines = {**lines, "k times the sensitivity at 1": bound_line("black")}
    if ax is not None:
        if title is not None:
            axes[0].set_title(f"{title}\n{axes[0].get_title()}", **PLAIN, fontsize="medium")
        legend_beside(axes, lines, title_of_legend)
        return ax
    beside_panels = legend_of_figure(figure, lines, title_of_legend)
    if figsize is None:
        figure.set_figwidth(figure.get_figwidth() + beside_panels)
    if title is not None:
        width = figure.get_figwidth() - beside_panels
        wrapped = textwrap.fill(title, max(10, int(8 * width)))
        figure.suptitle(wrapped, x=width / figure.get_figwidth() / 2, **PLAIN)
    return figure


def _new_panels(
    panels: Sequence[_Panel], figsize: tuple[float, float] | None
) -> tuple[Figure, list[Axes]]:
    """Make a figure with an Axes per panel."""
    rows, columns = (1 + max(panel.cell[i] for panel in panels) for i in (0, 1))
    figure = new_figure(figsize or (columns * _PANEL[0], rows * _PANEL[1]))
    grid = figure.add_gridspec(rows, columns)
    return figure, [figure.add_subplot(grid[panel.cell]) for panel in panels]


def _check_frame(frame: pd.DataFrame) -> None:
    check_frame(frame, _NEEDED, "pass what SensitivityCurves.to_frame() returns")
    point = ["column", "query", "neighbors", "meaning", "distance"]
    if "kind" in frame.columns:
        point.insert(2, "kind")
    twice = frame[frame.duplicated(point)]
    if len(twice):
        found = ", ".join(f"{name} {twice.iloc[0][name]!s}" for name in point)
        raise InputError(f"frame: more than one row for {found}; draw one size at a time")


def _with_curves(frame: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    """Return the frame with what legends call each curve, their title, and the y axis' name."""
    given = frame["kind"] if "kind" in frame.columns else pd.Series("global", frame.index)
    kind = given.fillna("global").astype(str)
    frame = frame.assign(kind=kind, curve=frame["query"])
    if "norm" in frame.columns:
        norm = frame["norm"].fillna("").astype(str)
        frame["curve"] += norm.map(lambda name: f" ({name})" if name else "")
    if kind.nunique() == 1:
        one = kind.iloc[0]
        return frame, "query", f"{one} sensitivity" if one in ("global", "local", "smooth") else one
    if frame["query"].nunique() == 1:
        return frame.assign(curve=kind), "kind", "sensitivity"
    return frame.assign(curve=frame["curve"] + ", " + kind), "query, kind", "sensitivity"


def _numbered(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return the curves in order of appearance, with the numbers of their colors and dashes."""
    queries, kinds = (list(frame[name].unique()) for name in ("query", "kind"))
    curves = frame.drop_duplicates("curve")
    return {
        curve: (queries.index(query), kinds.index(kind) if len(kinds) > 1 else queries.index(query))
        for curve, query, kind in zip(curves["curve"], curves["query"], curves["kind"], strict=True)
    }


def _panels(frame: pd.DataFrame) -> list[_Panel]:
    relations = list(dict.fromkeys(zip(frame["neighbors"], frame["meaning"], strict=True)))
    panels: list[_Panel] = []
    for row, column in enumerate(frame["column"].unique()):
        for place, (neighbors, meaning) in enumerate(relations):
            part = frame[(frame["column"] == column) & (frame["neighbors"] == neighbors)]
            part = part[part["meaning"] == meaning]
            if part.empty:
                continue
            blocks = -(-len(relations) // _ACROSS)  # rows that one data column takes
            cell = (
                divmod(row, _ACROSS)
                if len(relations) == 1
                else (row * blocks + place // _ACROSS, place % _ACROSS)
            )
            table, bounds = (
                part.pivot(index="distance", columns="curve", values=values)
                for values in ("sensitivity", "linear_bound")
            )
            name = textwrap.fill(str(column), 34)
            panels.append(
                _Panel(
                    column=column,
                    title=f"{name}\n{neighbors}, {_size_text(part['size'])}",
                    xlabel=f"Hamming distance k ({meaning})",
                    queries=list(part["query"].unique()),
                    table=table[part["curve"].unique()],
                    bounds=bounds.dropna(axis="columns", how="all"),
                    ranges=Ranges.of(part),
                    cell=cell,
                )
            )
    return panels


def _size_text(sizes: Iterable[Any]) -> str:
    every = sorted({n for size in sizes for n in (size if isinstance(size, tuple) else (size,))})
    return f"n = {every[0]}" if len(every) == 1 else f"n = {every[0]} to {every[-1]}"


def _styled_lines(
    numbered: Mapping[str, tuple[int, int]], panels: Sequence[_Panel]
) -> dict[str, Line2D]:
    """A line per curve as every panel and the legend show it, in order of appearance."""
    curves = list(numbered)
    covers = dict.fromkeys(curves, 0)  # how many later curves lie on top of a curve
    for i, curve in reversed(list(enumerate(curves))):
        on_top = [covers[q] + 1 for q in curves[i + 1 :] if _coincide(curve, q, panels)]
        covers[curve] = max(on_top, default=0)
    return {
        curve: Line2D(
            [],
            [],
            color=_COLORS[color % len(_COLORS)],
            linestyle=_DASHES[dash % len(_DASHES)],
            marker=_MARKERS[i % len(_MARKERS)],
            linewidth=1.5 + 1.6 * covers[curve],
            markersize=4.5 + 2.5 * covers[curve],
            markerfacecolor="white" if covers[curve] else _COLORS[color % len(_COLORS)],
        )
        for i, (curve, (color, dash)) in enumerate(numbered.items())
    }


def _coincide(first: str, second: str, panels: Sequence[_Panel]) -> bool:
    """Whether two curves share a segment, to the eye (1 %), or the only point, of some panel."""
    for table in (panel.table for panel in panels):
        if first in table and second in table:
            close = np.isclose(table[first], table[second], rtol=0.01, atol=0)
            if (close if len(close) == 1 else close[1:] & close[:-1]).any():
                return True
    return False


def _draw_panel(
    ax: Axes,
    panel: _Panel,
    lines: Mapping[str, Line2D],
    limits: tuple[float, float],
    yscale: str,
) -> None:
    ax.set_yscale(yscale, **({"nonpositive": "mask"} if yscale == "log" else {}))
    ax.set_ylim(limits)
    for name, line in lines.items():
        if name in panel.table:
            curve = panel.ranges.broken(name, panel.table[name])
            drawn = Line2D(curve.index.to_numpy(float), curve.to_numpy(float))
            drawn.update_from(line)
            drawn.set_label(name)
            drawn.set_markevery(max(1, len(curve) // 25))
            ax.add_line(drawn)
            panel.ranges.draw(ax, name, line)
        if name in panel.bounds:
            bound = panel.bounds[name].dropna()
            drawn = Line2D(bound.index.to_numpy(float), bound.to_numpy(float))
            drawn.update_from(bound_line(line.get_color()))
            ax.add_line(drawn)
    k = panel.table.index
    margin = max(0.4, 0.04 * (k.max() - k.min()))
    left = k.min() - margin
    ax.set_xlim(max(left, 0.4) if k.min() >= 1 else left, k.max() + margin)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    ax.set_title(panel.title, **PLAIN, fontsize="medium")
    ax.set_xlabel(panel.xlabel)
    ax.grid(color="0.9")
    ax.set_axisbelow(True)


def _ylabel(what: str, queries: Iterable[str], unit: str) -> str:
    """The unit most queries have in the first line, those with another one in the second."""
    of = {query: query_unit(query, unit) for query in queries}
    usual = unit if unit in of.values() else Counter(of.values()).most_common(1)[0][0]
    label = f"{what} ({usual})" if usual else what
    others = ", ".join(f"{query}: {its}" for query, its in of.items() if its != usual)
    return "\n".join(line for text in (label, others) for line in textwrap.wrap(text, 34))
