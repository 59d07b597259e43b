"""The two answers of a witness, coordinate by coordinate."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from sensitivity_lab.checks import named
from sensitivity_lab.errors import InputError

from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._options import with_checked_options
from ._theme import theme

_BARS: dict[str, dict[str, Any]] = {
    "f(x)": {"facecolor": "#0072B2", "hatch": ""},
    "f(y)": {"facecolor": "#FBE3D6", "hatch": "////"},
}
_DARK_Y = "#7A4B20"  # on which light hatches are seen
_WIDTH = 0.4  # of a bar, where coordinates are 1 apart
_MOST_NAMED = 24  # coordinates with a tick each
_MOST_MARKED = 40  # differences with their number written


@with_checked_options
def plot_answers(
    witness: Any,
    labels: Sequence[Any] | None = None,
    *,
    title: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw f(x) and f(y) side by side, a pair of bars per coordinate, with their differences.

    Bars of f(x) are dark and plain, those of f(y) light and hatched. The number
    above a pair that differs is f(y) - f(x) with its sign.

    Parameters
    ----------
    witness : Witness
        Anything with the attributes query_x and query_y: numbers, or tuples of one length.
    labels : sequence, optional
        What each coordinate stands for, such as the categories of a histogram; by default the
        coordinates are numbered from 0.
    title : str
        The title.
    unit : str
        The unit of the answers.
    ax : Axes, optional
        Where to draw, an Axes of about 6 by 3 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        `ax`, or that of a new figure, which displays itself as the result of a notebook cell.
        Save it with ``.figure.savefig(path)``: pyplot knows it only if `ax` is one of pyplot's.

    Raises
    ------
    InputError
        If the labels are not one per coordinate, or `ax` is not an Axes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> witness = SimpleNamespace(query_x=(2.0, 0.0, 1.0), query_y=(1.0, 1.0, 1.0))
    >>> ax = plot_answers(witness, ["red", "green", "blue"], unit="records")
    >>> [text.get_text() for text in ax.texts], ax.get_ylabel()
    (['−1', '+1'], 'answer (records)')
    """
    answers = {
        "f(x)": np.atleast_1d(np.asarray(witness.query_x, dtype=np.float64)),
        "f(y)": np.atleast_1d(np.asarray(witness.query_y, dtype=np.float64)),
    }
    size = len(answers["f(x)"])
    names = list(map(named, range(size) if labels is None else labels))
    if len(names) != size:
        raise InputError(f"labels: got {len(names)} for answers of {size} coordinates; give {size}")
    if ax is None:
        figure = new_figure((min(12, max(5.5, 0.55 * size + 2.5)), 3.6))
        ax = figure.add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    colors = theme(ax)
    places = np.arange(size)
    for side, (name, heights) in zip((-_WIDTH / 2, _WIDTH / 2), answers.items(), strict=True):
        style = {"edgecolor": colors.gray(0.15), "linewidth": 0.8, "zorder": 2, **_BARS[name]}
        if colors.dark and name == "f(y)":
            style["facecolor"] = _DARK_Y
        ax.bar(places + side, heights, _WIDTH, label=name, **style)
    ax.axhline(0, color=colors.gray(0.15), linewidth=0.8)
    if all((heights == np.rint(heights)).all() for heights in answers.values()):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    _mark(ax, *answers.values())
    _name_coordinates(ax, names, numbered=labels is None)
    ax.set_ylabel(f"answer ({unit})" if unit else "answer", **PLAIN)
    ax.set_title(textwrap.fill(title, 50), fontsize="medium", **PLAIN)
    ax.grid(axis="y", color=colors.gray(0.9))
    ax.set_axisbelow(True)
    heading = "above: f(y) − f(x)" if ax.texts else None
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, title=heading)
    return ax


def _mark(ax: Axes, first: Any, second: Any) -> None:
    """Write f(y) - f(x) over the pairs that differ, and leave room for it."""
    changed = np.flatnonzero(first != second)
    low, high = min(0.0, first.min(), second.min()), max(0.0, first.max(), second.max())
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span * (low < 0), high + 0.16 * span)
    for place in changed if len(changed) <= _MOST_MARKED else ():
        ax.annotate(
            _difference(first[place], second[place]),
            (place, max(0.0, first[place], second[place])),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small" if len(first) <= _MOST_NAMED else "x-small",
            fontweight="bold",
        )


def _difference(first: float, second: float) -> str:
    """Return f(y) - f(x) to 4 digits, or as many as the rounding of the answers leaves."""
    gap, noise = abs(second - first), math.ulp(max(abs(first), abs(second)))
    digits = max(1, min(4, 1 + math.floor(math.log10(gap / noise))))
    return f"{'+' if second > first else '−'}{gap:.{digits}g}"


def _name_coordinates(ax: Axes, names: list[str], numbered: bool) -> None:
    """Name every coordinate, or as many of them as have room."""
    step = -(-len(names) // _MOST_NAMED)
    shown = list(range(0, len(names), step))
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.xaxis.set_major_locator(FixedLocator(shown))
    most = 5 if len(shown) > 4 else 10  # letters that have room side by side
    crowded = max(len(names[place]) for place in shown) > most
    slanted: Any = {"rotation": 35, "ha": "right"} if crowded else {}
    ax.set_xticklabels([names[place] for place in shown], **slanted, **PLAIN)
    ax.set_xlabel("coordinate of f" if numbered else "")
