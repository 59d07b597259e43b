"""The names of curves: each at the end of its line, or all in a legend right of the panels."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from sensitivity_lab.plotting._picture import PLAIN, Theme, is_arranged, narrow

_STEP = 10.5  # points from one label to the next one
_BETWEEN = 0.4  # of a step, around labels of several lines
_AXES_HEIGHT = 0.85  # of an Axes without its title and labels, before a layout engine has made room
_BESIDE = 1.04  # where labels begin, in widths of the Axes
_MOST, _MOST_LINES = 10, 14  # labels of a panel, and their lines
_LONGEST = 30  # letters of a line
_WRAP, _WRAP_IN_LEGEND = 26, 40  # letters of a line that can be broken
_INCHES = 0.068  # of a letter


def fit_beside(names: Iterable[str]) -> bool:
    """Return whether there is room to name the curves of a panel at their ends."""
    texts = list(map(_lines, names))
    lines = list(itertools.chain(*texts))
    return (
        len(texts) <= _MOST
        and len(lines) <= _MOST_LINES
        and max(map(len, lines), default=0) <= _LONGEST
    )


def inches_beside(names: Iterable[str]) -> float:
    """Return the approximate width of labels."""
    lines = [line for name in names for line in _lines(name)]
    return 0.15 + _INCHES * max(map(len, lines), default=0)


def _lines(name: str, letters: int = _WRAP) -> list[str]:
    """Return the lines of a label; joined names break before a "="."""
    kept = name.replace(" = ", " =\xa0")  # no line ends at such a blank
    lines = textwrap.wrap(kept, letters, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines] or [""]


def label_ends(ax: Axes, lines: Mapping[str, Line2D], colors: Theme) -> list[Annotation]:
    """Write the name of each line next to its last point, without overlap.

    Parameters
    ----------
    ax : Axes
        With its limits set.
    lines : mapping of str to Line2D
        The drawn lines, by name.
    colors : Theme
        Of the text.
    """
    ends = {}
    for name, line in lines.items():
        points = np.array(line.get_xydata(), dtype=float)
        seen = points[np.isfinite(points).all(axis=1)]
        if len(seen):
            ends[name] = seen[-1]
    heights = [
        float(ax.transAxes.inverted().transform(ax.transData.transform(end))[1])
        for end in ends.values()
    ]
    step = _STEP / (_AXES_HEIGHT * 72 * ax.bbox.height / ax.figure.dpi)
    texts = list(map(_lines, ends))
    sizes = [step * (len(lines) + _BETWEEN * (len(lines) > 1)) for lines in texts]
    middles = spread(heights, sizes)
    return [
        ax.annotate(
            "\n".join(text),
            xy=(end[0], end[1]),
            xytext=(_BESIDE, height),
            textcoords="axes fraction",
            va="center",
            ha="left",
            fontsize="small",
            color=colors.ink,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": lines[name].get_color(),
                "linewidth": 0.9,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
            **PLAIN,
        )
        for (name, end), text, height in zip(ends.items(), texts, middles, strict=True)
    ]


def spread(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return the middles of labels of some sizes, without overlap, near the given heights.

    Labels that are too close form a group, which is spread around its mean; equal heights keep
    their order, the first on top. All stay between 0 and 1, except for half a label at either end.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.9], [0.1, 0.1, 0.1])
    [0.55, 0.45, 0.9]
    """
    order = sorted(range(len(heights)), key=lambda i: (heights[i], -i))
    groups: list[list[int]] = []
    for place in order:
        groups.append([place])
        while len(groups) > 1 and _low(groups[-1], heights, sizes) < (
            _low(groups[-2], heights, sizes) + sum(sizes[one] for one in groups[-2])
        ):
            last = groups.pop()
            groups[-1] += last
    found = [0.0] * len(heights)
    for group in groups:
        low = _low(group, heights, sizes)
        for place in group:
            found[place] = round(low + sizes[place] / 2, 6)
            low += sizes[place]
    return found


def _low(group: Sequence[int], heights: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the lower end of the lowest label of a group."""
    wide = sum(sizes[place] for place in group)
    middle = sum(heights[place] for place in group) / len(group)
    least, most = -sizes[group[0]] / 2, 1 + sizes[group[-1]] / 2 - wide
    return max(least, min(most, middle - wide / 2)) if least <= most else 0.5 - wide / 2


def make_room(axes: Iterable[Axes], labels: Sequence[Sequence[Annotation]]) -> None:
    """Shrink Axes that no layout engine arranges, so their labels stay within the old width."""
    for ax, texts in zip(axes, labels, strict=True):
        if is_arranged(ax) or not texts:
            continue
        widest = max(Text.get_window_extent(text).width for text in texts)  # without the line
        whole = ax.get_position().width * ax.figure.bbox.width
        narrow([ax], max(0.4, (whole - widest) / (whole * _BESIDE)))


def legend_of_figure(figure: Any, lines: Mapping[str, Line2D], title: str, *, widen: bool) -> float:
    """Put the legend to the right of all panels, and return its width in inches.

    If it widens the figure, the panels keep their width.
    """
    legend = _legend(figure, lines, title, loc="outside right upper")
    inches: float = legend.get_window_extent().width / figure.dpi
    if widen:
        figure.set_figwidth(figure.get_figwidth() + inches)
    return inches


def legend_beside(axes: Sequence[Axes], lines: Mapping[str, Line2D], title: str) -> None:
    """Put the legend to the right of the given Axes, making room there if no layout engine does."""
    boxes = {ax: ax.get_position() for ax in axes}
    right = max(axes, key=lambda ax: (round(boxes[ax].x1, 3), boxes[ax].y1))
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0}
    legend = _legend(right, lines, title, **place)
    if not is_arranged(right):
        ends = [(box.x0, box.x1) for box in boxes.values()]
        width = max(end for _, end in ends) - min(start for start, _ in ends)
        taken = legend.get_window_extent().width / right.figure.bbox.width
        narrow(axes, max(0.4, 0.98 - taken / width))


def _legend(owner: Any, lines: Mapping[str, Line2D], title: str, **place: Any) -> Legend:
    """Add a legend of the curves to a figure or an Axes."""
    legend: Legend = owner.legend(
        handles=list(lines.values()),
        labels=["query"] * len(lines),
        title=title,
        handlelength=4,
        labelspacing=0.7,
        frameon=False,
        ncols=1 + (len(lines) - 1) // 12,
        **place,
    )
    # A legend takes what is between two "$" of its labels for a formula, a name does not.
    for text, name in zip(legend.get_texts(), lines, strict=True):
        text.set_parse_math(False)
        text.set_text("\n".join(_lines(name, _WRAP_IN_LEGEND)))
    return legend
