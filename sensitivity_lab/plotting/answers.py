"""The two answers of a witness, coordinate by coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sensitivity_lab.checks import named, rounded_up
from sensitivity_lab.errors import InputError

from ._options import with_checked_options
from ._picture import BLUE, RED, Picture, is_arranged, lower, name_places, set_ticks, with_unit

_BARS: tuple[dict[str, Any], ...] = (
    {"label": "f(x)", "facecolor": BLUE, "hatch": ""},
    {"label": "f(y)", "facecolor": "#FBE3D6", "hatch": "////"},
)
_DARK_Y = "#7A4B20"  # on which light hatches are seen
_WIDTH = 0.4  # of a bar, where coordinates are 1 apart
_MOST_COORDINATES = 24  # coordinates with a tick each
_MOST_WRITTEN = 40  # differences with their number written
_MOST_BARS = 60  # coordinates whose bars can be told apart
_SEEN = 0.03  # of the axis of answers, for a difference to be seen
_BARS_SHARE = 0.66  # of what no layout engine arranges, below the differences


@with_checked_options
def plot_answers(
    witness: Any,
    labels: Sequence[Any] | None = None,
    *,
    title: str = "",
    unit: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw f(x) and f(y) side by side, a pair of bars per coordinate, with their differences.

    Bars of f(x) are dark and plain, those of f(y) light and hatched. The number above a pair that
    differs is f(y) - f(x) with its sign. Differences too small to see get bars of their own above.
    Of more than 60 coordinates only those that differ are drawn; if none differ, or more than 60
    do, all are drawn.

    Parameters
    ----------
    witness : Witness
        Anything with the attributes query_x and query_y: numbers, or tuples of one length.
    labels : sequence, optional
        The names of the coordinates, such as the categories of a histogram; by default the
        coordinates are numbered from 0.
    title : str
        The title.
    unit : str
        The unit of the answers.
    gap : str
        As for `plot_witness`, for answers that are numbers.
    ax : Axes, optional
        Where to draw, an Axes of about 6 by 3 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If the number of labels is not that of the coordinates, or `ax` is not an Axes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> witness = SimpleNamespace(query_x=(2.0, 0.0, 1.0), query_y=(1.0, 1.0, 1.0))
    >>> ax = plot_answers(witness, ["red", "green", "blue"], unit="records")
    >>> [text.get_text() for text in ax.texts], ax.get_ylabel()
    (['−1', '+1'], 'answer (records)')
    """
    first, second = (
        np.atleast_1d(np.asarray(answer, dtype=np.float64))
        for answer in (witness.query_x, witness.query_y)
    )
    names = list(map(named, range(len(first)) if labels is None else labels))
    if len(names) != len(first):
        raise InputError(
            f"labels: got {len(names)} for answers of {len(first)} coordinates; give {len(first)}"
        )
    kept, said = _kept(first, second)
    first, second, size = first[kept], second[kept], len(kept)
    picture = Picture.on(ax, (min(12, max(5.5, 0.55 * size + 2.5)), 3.6))
    ax, colors = picture.ax, picture.colors
    places, edge = np.arange(size), colors.gray(0.15)
    for side, heights, look in zip((-0.5, 0.5), (first, second), _BARS, strict=True):
        style = {**look, "linewidth": 0.8 * (size <= _MOST_BARS), "edgecolor": edge, "zorder": 2}
        if colors.dark and heights is second:
            style["facecolor"] = _DARK_Y
        ax.bar(places + side * _WIDTH, heights, _WIDTH, **style)
    ax.axhline(0, color=edge, linewidth=0.8)
    if _are_whole(first, second):
        set_ticks(ax.yaxis, 10)
    ax.set_xlim(-0.6, size - 0.4)
    _mark(picture, first, second, gap)
    # The number of letters of a name that fit between those of its neighbors.
    room = 5 if size > 4 else 10
    name_places(ax, [names[place] for place in kept], _MOST_COORDINATES, room=room)
    picture.name_axes(
        said or ("coordinate of f" if labels is None else ""), with_unit("answer", unit)
    )
    picture.title(title, 40)
    picture.grid(axis="y")
    picture.legend_beside(title="above: f(y) − f(x)" if ax.texts else None)
    return ax


def _kept(first: Any, second: Any) -> tuple[Any, str]:
    """Return the coordinates to draw, and a note for the axis if some are left out."""
    changed = np.flatnonzero(first != second)
    if len(first) <= _MOST_BARS or not 0 < len(changed) <= _MOST_BARS:
        return np.arange(len(first)), ""
    return changed, f"the {len(changed):,} of {len(first):,} coordinates that differ"


def _are_whole(*heights: Any) -> bool:
    """Tell whether all numbers are whole."""
    return all((one == np.rint(one)).all() for one in heights)


def _ends(*heights: Any) -> tuple[float, float]:
    """Return the least and the greatest of some numbers and 0."""
    every = np.concatenate([[0.0], *heights])
    return every.min(), every.max()


def _mark(picture: Picture, first: Any, second: Any, gap: str) -> None:
    """Write f(y) - f(x) over the pairs that differ; draw small differences above them."""
    ax, gaps = picture.ax, second - first
    changed = np.flatnonzero(gaps)
    low, high = _ends(first, second)
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span * (low < 0), high + 0.16 * span)
    tops = np.maximum(first, second)
    if 0 < np.abs(gaps).max() < _SEEN * span:
        ax.set_ylim(top=high + 0.05 * span)
        ax, tops = _differences(picture, gaps), gaps
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontweight": "bold"}
    look["fontsize"] = "small" if len(first) <= _MOST_COORDINATES else "x-small"
    for place in changed if len(changed) <= _MOST_WRITTEN else ():
        text = _difference(first[place], second[place], gap if len(first) == 1 else "")
        Picture(ax).note(text, (place, max(0, tops[place])), (0, 3), **look)


def _differences(picture: Picture, gaps: Any) -> Axes:
    """Draw f(y) - f(x) on an Axes of its own above the bars, and return it."""
    if not is_arranged(picture.ax):
        lower(picture.ax, _BARS_SHARE)
    above = picture.ax.inset_axes((0, 1.08, 1, 0.42))
    colors = picture.colors
    above.bar(np.arange(len(gaps)), gaps, _WIDTH, color=colors.color(RED), zorder=2)
    above.axhline(0, color=colors.gray(0.15), linewidth=0.8)
    above.set_xlim(picture.ax.get_xlim())
    above.set_xticks([])
    low, high = _ends(gaps)
    above.set_ylim(low - 0.1 * (high - low) * (low < 0), high + 0.35 * (high - low))
    set_ticks(above.yaxis, 3, whole=_are_whole(gaps))
    Picture(above).name_axes("", "f(y) − f(x)")
    return above


def _difference(first: float, second: float, gap: str) -> str:
    """Return f(y) - f(x) with its sign, to 6 digits, or as many as the answers' rounding leaves.

    Rounded away from 0, like a sensitivity, but not because of the answers' rounding alone.
    """
    away, noise = abs(second - first), math.ulp(max(abs(first), abs(second)))
    digits = max(1, 1 + math.floor(math.log10(away / noise)))
    text = rounded_up(away - noise, digits=6) if digits >= 6 else f"{away:.{digits}g}"
    return f"{'+' if second > first else '−'}{gap or text}"
