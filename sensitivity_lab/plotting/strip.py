"""The sorted universe of a result, and the records that the worst case uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ._options import with_checked_options
from ._picture import BLUE, RED, Picture, Theme, with_unit

_PARTS = {
    "C": ("in both (C)", ""),
    "A": ("only in x (A)", "///"),
    "B": ("only in y (B)", "xxx"),
    "O": ("outside both (O)", ""),
}  # label and hatch
_LEAST_SHARE = 0.055  # of the strip, for a block to be seen and to hold its number
_MOST_NUMBERED = 16  # blocks with their numbers written in; of more, those only in x or y have them


@with_checked_options
def plot_strip(
    blocks: Sequence[tuple[str, float, Any, Any]],
    *,
    title: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the sorted universe as a strip of blocks: kept, only in x, only in y, outside.

    The width of a block is proportional to its number of records, with a minimum. If the minimum
    makes one wider, the label says that widths are not to scale. Each block shows its number of
    records, and below it its smallest and largest record.

    Parameters
    ----------
    blocks : sequence of (str, int, number, number)
        In ascending order of the records: "A", "B", "C" or "O", the number of records, the first
        and the last one. An infinite number is drawn like the largest finite one.
    title : str
        The title.
    unit : str
        The unit of the records.
    ax : Axes, optional
        Where to draw, an Axes of about 7 by 2 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> ax = plot_strip([("B", 1, 1, 1), ("C", 5, 2, 7), ("A", 1, 20, 20)], title="mean")
    >>> ax.get_xlabel()
    'records of the universe, ascending'
    """
    picture = Picture.on(ax, (8, 2.5))
    ax = picture.ax
    styles = {part: _style(part, picture.colors) for part in _PARTS}
    start = 0.0
    widths, to_scale = _widths(blocks)
    named = len(blocks) <= _MOST_NUMBERED
    changed = sum(part in "AB" for part, *_ in blocks)
    for (part, count, first, last), width in zip(blocks, widths, strict=True):
        ax.bar(start, 1, width, align="edge", **styles[part])
        if named or (part in "AB" and changed <= _MOST_NUMBERED):
            _name(picture, start + width / 2, part, count, first, last)
        start += width
    ax.set_xlim(0, start)
    ax.set_ylim(0, 1)
    ax.set_xticks([])
    ax.set_yticks([])
    picture.title(title)
    label = with_unit("records of the universe, ascending", unit)
    label += "" if to_scale else "; widths not to scale"
    picture.name_axes(label, labelpad=24 if named else 4)
    used = {part for part, *_ in blocks}
    handles = [Patch(label=_PARTS[part][0], **styles[part]) for part in _PARTS if part in used]
    picture.legend_beside(handles=handles)
    return ax


def _style(part: str, colors: Theme) -> dict[str, Any]:
    """Return the style of a block on a background."""
    faces = {"C": colors.gray(0.72), "A": BLUE, "B": RED, "O": colors.paper}
    edge = {"edgecolor": colors.gray(0.25), "linewidth": 0.8}
    return {"facecolor": faces[part], "hatch": _PARTS[part][1], **edge}


def _widths(blocks: Sequence[tuple[str, float, Any, Any]]) -> tuple[list[float], bool]:
    """Return shares of the strip, in proportion to the records except for a minimum.

    Also return whether all are in proportion: none is infinite, and none was widened.
    """
    numbers = np.array([float(count) for _, count, *_ in blocks])
    finite = np.isfinite(numbers)
    numbers = np.minimum(numbers, numbers[finite].max(initial=1))
    least = min(_LEAST_SHARE, 1 / len(blocks)) * numbers.sum()
    return np.maximum(numbers, least).tolist(), bool((finite & (numbers >= least)).all())


def _name(picture: Picture, middle: float, part: str, count: float, first: Any, last: Any) -> None:
    """Write the part and its number into a block, and its records below."""
    number = "any" if count == float("inf") else _short(count)
    box = {"facecolor": picture.colors.paper, "edgecolor": "none", "pad": 1.0}
    inside = {"ha": "center", "va": "center", "fontsize": "small", "bbox": box}
    picture.write(middle, 0.5, f"{part}\n{number}", **inside)
    span = _record(first) if first == last else f"{_record(first)}\nto {_record(last)}"
    picture.note(span, (middle, 0), (0, -4), ha="center", va="top", fontsize="x-small")


def _record(value: Any) -> str:
    """Return a record as text: whole numbers in full, others to four digits or to their point."""
    size = abs(value)
    whole = value == int(value) and size < 10**7
    return f"{value:,.0f}" if whole or 10**4 <= size < 10**7 else f"{float(value):.4g}"


def _short(count: float) -> str:
    for least, unit, letter in ((10**6, 10**6, "M"), (10**4, 10**3, "k")):
        if count >= least:
            return f"{count / unit:.4g}{letter}"
    return f"{int(count)}"
