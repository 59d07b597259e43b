"""The sorted universe of a result, and which of its records the worst case uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._options import with_checked_options
from ._theme import Theme, theme

_PARTS = {
    "C": ("in both (C)", ""),
    "A": ("only in x (A)", "///"),
    "B": ("only in y (B)", "xxx"),
    "O": ("outside both (O)", ""),
}  # label and hatch
_LEAST_SHARE = 0.055  # of the strip, for a block to be seen and to hold its number
_MOST_NAMED = 16  # blocks with their numbers written in


@with_checked_options
def plot_strip(
    blocks: Sequence[tuple[str, float, Any, Any]],
    *,
    title: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the sorted universe as a strip of blocks: kept, only in x, only in y, outside.

    Blocks are as wide as they have records, but never too narrow to be seen: where that makes one
    wider, the label says that widths are not to scale. Each holds its number of records, and below
    it are its smallest and largest record.

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
        `ax`, or that of a new figure, which displays itself as the result of a notebook cell.
        Save it with ``.figure.savefig(path)``: pyplot knows it only if `ax` is one of pyplot's.

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
    if ax is None:
        ax = new_figure((8, 2.5)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    colors = theme(ax)
    styles = {part: _style(part, colors) for part in _PARTS}
    start = 0.0
    widths, to_scale = _widths(blocks)
    named = len(blocks) <= _MOST_NAMED
    for (part, count, first, last), width in zip(blocks, widths, strict=True):
        ax.bar(start, 1, width, align="edge", **styles[part])
        if named:
            _name(ax, start + width / 2, part, count, first, last)
        start += width
    ax.set_xlim(0, start)
    ax.set_ylim(0, 1)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, fontsize="medium", **PLAIN)
    label = "records of the universe, ascending" + (f" ({unit})" if unit else "")
    label += "" if to_scale else "; widths not to scale"
    ax.set_xlabel(label, labelpad=24 if named else 4, **PLAIN)
    used = [part for part in _PARTS if any(part == block[0] for block in blocks)]
    ax.legend(
        handles=[Patch(label=_PARTS[part][0], **styles[part]) for part in used],
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
    )
    return ax


def _style(part: str, colors: Theme) -> dict[str, Any]:
    """Return how a block looks on a background."""
    faces = {"C": colors.gray(0.72), "A": "#0072B2", "B": "#D55E00", "O": colors.paper}
    edge = {"edgecolor": colors.gray(0.25), "linewidth": 0.8}
    return {"facecolor": faces[part], "hatch": _PARTS[part][1], **edge}


def _widths(blocks: Sequence[tuple[str, float, Any, Any]]) -> tuple[list[float], bool]:
    """Return shares of the strip, in proportion to the records but for a least one.

    And whether all are in proportion: none is infinite, and none was made wider to be seen.
    """
    finite = [count for _, count, _, _ in blocks if count != float("inf")] or [1]
    counts = [min(count, max(finite)) for _, count, _, _ in blocks]
    least = min(_LEAST_SHARE, 1 / len(blocks)) * sum(counts)
    endless = any(count == float("inf") for _, count, _, _ in blocks)
    return [max(float(count), least) for count in counts], not endless and min(counts) >= least


def _name(ax: Axes, middle: float, part: str, count: float, first: Any, last: Any) -> None:
    """Write the part and its number into a block, and its records below."""
    number = "any" if count == float("inf") else _short(count)
    box = {"facecolor": theme(ax).paper, "edgecolor": "none", "pad": 1.0}
    ax.text(middle, 0.5, f"{part}\n{number}", ha="center", va="center", fontsize="small", bbox=box)
    span = _record(first) if first == last else f"{_record(first)}\nto {_record(last)}"
    ax.annotate(
        span,
        (middle, 0),
        xytext=(0, -4),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize="x-small",
    )


def _record(value: Any) -> str:
    """Return a record as text: whole numbers whole, others to four digits."""
    whole = value == int(value) and abs(value) < 10**7
    return f"{int(value)}" if whole else f"{float(value):.4g}"


def _short(count: float) -> str:
    for size, letter in ((10**6, "M"), (10**4, "k")):
        if count >= size:
            return f"{count / (10**6 if letter == 'M' else 10**3):.4g}{letter}"
    return f"{int(count)}"
