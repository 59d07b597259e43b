"""The frame that all pictures share; the code of a picture draws only its marks.

The frame covers the place of a picture (the caller's Axes, or a new figure of pyplot), the parts
around the marks (title, names of the axes with their units, grid, ticks, notes, a legend), the
colors on its background, and the return value.
Files of pictures are written here, too.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from sensitivity_lab.checks import check_path as as_path
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import written_whole

from ._options import axes_of, check_axes

# Okabe and Ito's palette without its yellow, which is too pale for a line on white, and three more
# colors; next to each, a brighter one of the same hue for dark backgrounds.
_BRIGHTER = {
    "#000000": "#FFFFFF",
    "#E69F00": "#FFB81C",
    "#56B4E9": "#7CCBF7",
    "#009E73": "#2BD1A0",
    "#0072B2": "#5AA9FF",
    "#D55E00": "#FF8A47",
    "#CC79A7": "#F09CCB",
    "#777777": "#AAAAAA",
    "#7A4B20": "#D9A066",
    "#5E3C99": "#B9A1F2",
}

PALETTE = tuple(_BRIGHTER)
"""Colors of lines: ten of different lightness or hue."""

BLUE, RED = "#0072B2", "#D55E00"
"""Colors for records only in x and only in y, and for other contrasts."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
"""Markers of lines; with ten colors, the first 110 lines all differ."""

_MIDDLE = 0.4
"""The luminance below which a background is dark."""


@dataclass(frozen=True)
class Theme:
    """The colors of a picture.

    Attributes
    ----------
    dark : bool
        Whether the background is dark.
    ink : str
        Text and outlines.
    paper : str
        The background, for covering marks and for hollow markers.
    """

    dark: bool
    ink: str
    paper: str

    def gray(self, level: float) -> str:
        """Return the gray whose contrast to the background is that of a level on white (1)."""
        return f"{0.92 * (1 - level) + 0.08:.3f}" if self.dark else str(level)

    def color(self, light: str) -> str:
        """Return a color of the palette, brighter where the background is dark."""
        return _BRIGHTER.get(light, light) if self.dark else light


def theme(ax: Axes) -> Theme:
    """Return the colors for some Axes."""
    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha == 0:
        red, green, blue, alpha = to_rgba(ax.figure.get_facecolor())
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    dark = alpha > 0 and luminance < _MIDDLE
    paper = to_hex((red, green, blue)) if alpha else "#ffffff"
    return Theme(dark, "#f2f2f2" if dark else "#000000", paper)


PLAIN: dict[str, Any] = {"parse_math": False}  # a "$" in a name or a unit is a dollar

THOUSANDS = "{x:,.12g}"
"""How an axis writes large numbers."""

_PLAIN_NUMBERS = (1e-4, 1e6)
"""A logarithmic axis shows plain numbers between these, and powers of ten beyond them."""

_LABEL_LETTERS = 20
"""A longer name along an axis has several lines."""

_TICK_LETTERS = 28
"""Values along a logarithmic axis have a tick each if their texts together are no longer."""


_OFF_SCREEN: ContextVar[bool] = ContextVar("off_screen", default=False)


class _ShownOnce(Figure):
    """A figure that a notebook shows only once, even if it is the value of its cell."""

    def _ipython_display_(self) -> None:
        """Remove the figure from pyplot, whose open figures Jupyter shows when a cell ends."""
        if "inline" in mpl.get_backend():
            plt.close(self)
        raise NotImplementedError  # IPython now displays it as any figure


def new_figure(figsize: tuple[float, float]) -> Figure:
    """Return a figure of so many inches, which leaves room for its texts.

    It becomes pyplot's current figure, as in pandas.
    """
    wanted: dict[str, Any] = {"figsize": figsize, "layout": "constrained"}
    if not _OFF_SCREEN.get():
        return plt.figure(FigureClass=_ShownOnce, **wanted)
    figure = Figure(**wanted)
    FigureCanvasAgg(figure)
    return figure


@contextmanager
def off_screen() -> Iterator[None]:
    """Keep new figures out of pyplot while saving them to files: no window, nothing to close.

    Examples
    --------
    >>> with off_screen():
    ...     figure = new_figure((6, 4))
    >>> figure in map(plt.figure, plt.get_fignums())
    False
    """
    before = _OFF_SCREEN.set(True)
    try:
        yield
    finally:
        _OFF_SCREEN.reset(before)


def given_axes(ax: Any, panels: int) -> list[Axes]:
    """Return the caller's Axes, if there are as many as panels."""
    axes = axes_of(ax)
    if len(axes) != panels:
        raise InputError(f"ax: got {len(axes)} Axes for {panels} panels; pass {panels} Axes")
    return axes


class Picture:
    """One Axes and the parts around its marks.

    Parameters
    ----------
    ax : Axes
        The Axes of the marks.

    Attributes
    ----------
    colors : Theme
        The colors on its background.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.colors = theme(ax)

    @classmethod
    def on(cls, ax: Any, size: tuple[float, float]) -> Picture:
        """Return a picture on the given Axes, or on a new figure of so many inches."""
        if ax is None:
            ax = new_figure(size).add_subplot()
        check_axes("ax", ax)
        [one] = given_axes(ax, 1)
        return cls(one)

    def title(self, text: str, letters: int | None = None, **look: Any) -> None:
        """Write the title, its lines broken after so many letters."""
        text = text if letters is None else broken(text, letters)
        self.ax.set_title(text, **{"fontsize": "medium", **PLAIN, **look})

    def name_axes(self, x: str, y: str | None = None, **look: Any) -> None:
        """Name the axes; keep the caller's name of the vertical axis if nothing is along it."""
        self.ax.set_xlabel(x, **PLAIN, **look)
        if y is not None:
            self.ax.set_ylabel(y, **PLAIN)

    def grid(self, **which: Any) -> None:
        """Draw pale lines at the ticks, behind all marks."""
        self.ax.grid(color=self.colors.gray(0.9), **which)
        self.ax.set_axisbelow(True)

    def write(self, x: float, y: float, text: str, **look: Any) -> None:
        """Write a text at a place of the data."""
        self.ax.text(x, y, text, **{"color": self.colors.ink, **PLAIN, **look})

    def note(
        self, text: str, at: tuple[Any, Any], offset: tuple[float, float], **look: Any
    ) -> None:
        """Write a small text so many points away from a place."""
        offset_by: dict[str, Any] = {"xytext": offset, "textcoords": "offset points"}
        self.ax.annotate(text, at, **{"fontsize": "small", **offset_by, **PLAIN, **look})

    def legend_beside(self, **entries: Any) -> None:
        """Add a legend to the right of the Axes."""
        self.ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, **entries)


def broken(text: str, letters: int) -> str:
    """Break the lines of a text after so many letters; keep its own line breaks."""
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def with_unit(label: str, unit: str) -> str:
    """Return the name of an axis, with its unit if it has one."""
    return f"{label} ({unit})" if unit else label


def unit_of(name: str, units: str | Mapping[str, str] | None) -> str:
    """Return the unit of a column: that of all columns, or its own, or "" if unknown."""
    return units if isinstance(units, str) else (units or {}).get(name, "")


def query_unit(query: str, unit: str) -> str:
    """Return the unit of a query's answers, if that of the records is known."""
    if query == "count" or query.startswith(("count of ", "count_if")):
        return "records"
    if query.startswith("var"):
        simple = unit.isalpha() or len(unit) == 1
        return "units²" if not unit else f"{unit}²" if simple else f"({unit})²"
    return unit


def set_ticks(axis: Axis, most: int = 8, *, whole: bool = True) -> None:
    """Give an axis at most so many intervals, between whole numbers if it counts something."""
    axis.set_major_locator(MaxNLocator(nbins=most, integer=whole, min_n_ticks=1))


def name_places(ax: Axes, names: Sequence[str], most: int, room: float) -> None:
    """Write names at 0, 1, 2, ... of the horizontal axis, or at every so many of them.

    Parameters
    ----------
    ax : Axes
        The Axes to write on.
    names : sequence of str
        One for each place.
    most : int
        How many can be written.
    room : float
        How many letters fit between two places; longer names are slanted.
    """
    shown = range(0, len(names), -(-len(names) // most))
    written = [broken(names[place], _LABEL_LETTERS) for place in shown]
    longest = max(len(line) for name in written for line in name.split("\n"))
    slanted: Any = {"rotation": 35, "ha": "right"} if longest > room else {}
    ax.xaxis.set_major_locator(FixedLocator(list(shown)))
    ax.set_xticklabels(written, **slanted, **PLAIN)


def is_geometric(values: Iterable[float]) -> bool:
    """Return whether positive numbers, spanning a factor of ten or more, are spaced as powers.

    Examples
    --------
    >>> is_geometric([1, 10, 100]), is_geometric([1, 2, 5, 10, 20]), is_geometric(range(1, 101))
    (True, True, False)
    """
    places = np.unique(np.array(list(values), dtype=float))
    if len(places) < 3 or places[0] <= 0 or places[-1] < 10 * places[0]:
        return False
    even, powers = np.diff(places), np.diff(np.log(places))
    return bool(np.std(powers) / np.mean(powers) < np.std(even) / np.mean(even))


def lay_along(ax: Axes, places: Iterable[float], log: bool) -> None:
    """Extend the horizontal axis to some values and a little more, with suitable ticks."""
    values = np.unique(np.array(list(places), dtype=float))
    low, high = values[0], values[-1]
    if log:
        ax.set_xscale("log")
        beyond = (high / low) ** 0.04 * 1.05
        ax.set_xlim(low / beyond, high * beyond)
        letters = sum(1 + len(f"{value:,.12g}") for value in values)
        set_log_ticks(ax.xaxis, values if letters <= _TICK_LETTERS else ())
        return
    whole = bool((values == np.rint(values)).all())
    margin = max(0.04 * (high - low), 0.4 if whole else 0.01 * abs(high)) or 0.4
    ax.set_xlim(max(low - margin, 0.4) if whole and low >= 1 else low - margin, high + margin)
    set_ticks(ax.xaxis, whole=whole)


def set_log_ticks(axis: Axis, at: Sequence[float] | np.ndarray = ()) -> None:
    """Give a logarithmic axis ticks at some values, or as many as its decades need.

    Set its limits first.
    """
    low, high = sorted(axis.get_view_interval())
    if len(at):
        axis.set_major_locator(FixedLocator(list(at)))
        axis.set_minor_locator(NullLocator())
    elif high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_formatter(NullFormatter())
    if _PLAIN_NUMBERS[0] <= low and high <= 10 * _PLAIN_NUMBERS[1]:
        axis.set_major_formatter("{x:,.12g}")


def is_arranged(ax: Axes) -> bool:
    """Return whether a layout engine makes room for the parts around an Axes."""
    return ax.figure.get_layout_engine() is not None


def narrow(axes: Iterable[Axes], share: float) -> None:
    """Shrink Axes to a share of their common width, to make room at their right.

    A layout engine that makes this room overrides these widths: check `is_arranged` first.
    """
    boxes = [(ax, ax.get_position()) for ax in axes]
    left = min(box.x0 for _, box in boxes)
    for ax, box in boxes:
        ax.set_position((left + share * (box.x0 - left), box.y0, share * box.width, box.height))


def lower(ax: Axes, share: float) -> None:
    """Shrink an Axes that no layout engine arranges to a share of its height, at the bottom."""
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, box.width, share * box.height))


def entitled(
    given: Any, axes: Sequence[Axes], title: str | None, *, beside: float = 0.0, **look: Any
) -> Any:
    """Write a title above all panels, and return the plot's return value.

    Parameters
    ----------
    given : Axes or sequence of Axes, optional
        The caller's Axes, which are returned; the title is then above the first panel.
    axes : sequence of Axes
        The panels.
    title : str, optional
        A new figure breaks its lines at the width of the panels.
    beside : float
        The width, in inches, of a legend to the right of the panels of a new figure.
    **look
        Text properties of a title above given Axes.

    Returns
    -------
    Figure or Axes or sequence of Axes
        `given`, or the new figure of the panels.
    """
    figure: Any = axes[0].figure
    if given is not None:
        if title is not None:
            Picture(axes[0]).title(f"{title}\n{axes[0].get_title()}".rstrip(), **look)
        return given
    if title is not None:
        width = figure.get_figwidth() - beside
        wrapped = broken(title, max(10, int(8 * width)))
        figure.suptitle(wrapped, x=width / figure.get_figwidth() / 2, **PLAIN)
    return figure


_FORMATS = (".pdf", ".png", ".svg")


def check_path(path: Path) -> None:
    """Raise InputError if a picture could not be saved under this name.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_path(Path("curves.png"))
    >>> check_path(Path("curves"))
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: ...
    """
    if path.suffix.lower() not in _FORMATS:
        raise InputError(
            f"path: {shown(str(path))} ends in {shown(path.suffix)}; use .pdf, .png or .svg"
        )
    if not path.parent.is_dir():
        raise InputError(
            f"path: {shown(str(path))} is in a folder that does not exist; create it first"
        )


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> None:
    """Write a figure to a PNG, PDF or SVG file, by the extension of its name.

    Parameters
    ----------
    figure : Figure or Axes
        The return value of `plot_curves` or `plot_witness`; for an Axes, its whole figure.
    path : str or path-like
        The file, in a folder that exists. A file of that name is replaced once the new one is
        whole.

    Raises
    ------
    InputError
        If the extension is another one, the folder does not exist, or the file cannot be written.

    Examples
    --------
    >>> save(Figure(), "curves.jpg")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: path: 'curves.jpg' ends in '.jpg'; use .pdf, .png or .svg
    """
    if not hasattr(figure, "figure"):
        raise InputError(f"figure must be a Figure or an Axes, got {shown(figure)}")
    path = as_path("path", path)
    check_path(path)
    try:
        with written_whole(path) as part:
            figure.figure.canvas.figure.savefig(part, dpi=150, bbox_inches="tight")
    except OSError as error:
        raise InputError(
            f"path: {shown(str(path))} cannot be written ({error.strerror}); "
            "choose a file and a folder that you may write to"
        ) from error
