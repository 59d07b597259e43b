"""The names of curves, each at the end of its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from sensitivity_lab.plotting._figures import PLAIN
from sensitivity_lab.plotting._theme import Theme

_STEP = 10.5  # points from one label to the next one
_SHARE = 0.85  # of an Axes without its title and labels, before a layout engine has made room
_BESIDE = 1.04  # where labels begin, in widths of the Axes
_MOST, _LONGEST = 10, 30  # labels of a panel, letters of a label
_INCHES = 0.068  # of a letter


def fit_beside(names: Iterable[str]) -> bool:
    """Tell whether the curves of a panel can be named at their ends."""
    listed = list(names)
    return len(listed) <= _MOST and max(map(len, listed), default=0) <= _LONGEST


def inches_beside(names: Iterable[str]) -> float:
    """Return about how wide labels are."""
    return 0.15 + _INCHES * max(map(len, names), default=0)


def label_ends(ax: Axes, lines: Mapping[str, Line2D], colors: Theme) -> list[Annotation]:
    """Write the name of each line beside its last point, none over another.

    Parameters
    ----------
    ax : Axes
        With its limits set.
    lines : mapping of str to Line2D
        What is drawn there, by name.
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
    step = _STEP / (_SHARE * 72 * ax.bbox.height / ax.figure.dpi)
    return [
        ax.annotate(
            name,
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
        for (name, end), height in zip(ends.items(), spread(heights, step), strict=True)
    ]


def spread(heights: Sequence[float], step: float) -> list[float]:
    """Return heights at least a step apart, in the same order, near those given, from 0 to 1.

    Heights that are too close form a group, which is spread around its mean; equal ones keep their
    order, the first on top.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.9], 0.1)
    [0.55, 0.45, 0.9]
    """
    order = sorted(range(len(heights)), key=lambda i: (heights[i], -i))
    groups: list[list[int]] = []
    for place in order:
        groups.append([place])
        while len(groups) > 1 and _low(groups[-1], heights, step) < (
            _low(groups[-2], heights, step) + len(groups[-2]) * step
        ):
            last = groups.pop()
            groups[-1] += last
    found = [0.0] * len(heights)
    for group in groups:
        for level, place in enumerate(group):
            found[place] = round(_low(group, heights, step) + level * step, 6)
    return found


def _low(group: Sequence[int], heights: Sequence[float], step: float) -> float:
    """Return where the lowest label of a group stands."""
    wide = (len(group) - 1) * step
    middle = sum(heights[place] for place in group) / len(group)
    return max(0.0, min(1.0 - wide, middle - wide / 2)) if wide < 1 else 0.5 - wide / 2


def make_room(axes: Iterable[Axes], labels: Sequence[Sequence[Annotation]]) -> None:
    """Shrink Axes that no layout engine arranges, so that labels stay within where they were."""
    for ax, texts in zip(axes, labels, strict=True):
        if ax.figure.get_layout_engine() is not None or not texts:
            continue
        box = ax.get_position()
        widest = max(Text.get_window_extent(text).width for text in texts)  # without the line
        whole = box.width * ax.figure.bbox.width
        share = max(0.4, (whole - widest) / (whole * _BESIDE))
        ax.set_position((box.x0, box.y0, box.width * share, box.height))
