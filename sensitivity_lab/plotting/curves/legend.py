"""The legend of the curves: to the right of all panels, in a new figure or next to given Axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D


def _legend_content(lines: Mapping[str, Line2D], title: str) -> dict[str, Any]:
    return {
        "handles": list(lines.values()),
        "labels": ["query"] * len(lines),
        "title": title,
        "handlelength": 4,
        "labelspacing": 0.7,
        "frameon": False,
        "ncols": 1 + (len(lines) - 1) // 12,
    }


def _name_entries(legend: Legend, lines: Iterable[str]) -> None:
    for text, query in zip(legend.get_texts(), lines, strict=True):
        text.set_parse_math(False)
        text.set_text(query)


def legend_of_figure(figure: Figure, lines: Mapping[str, Line2D], title: str) -> float:
    """Put the legend to the right of all panels, and return its width in inches."""
    legend = figure.legend(**_legend_content(lines, title), loc="outside right upper")
    _name_entries(legend, lines)
    inches: float = legend.get_window_extent().width / figure.dpi
    return inches


def legend_beside(axes: Sequence[Axes], lines: Mapping[str, Line2D], title: str) -> None:
    """Put the legend to the right of the given Axes, making room there if no layout engine does."""
    boxes = [ax.get_position() for ax in axes]
    right = max(zip(axes, boxes, strict=True), key=lambda pair: (round(pair[1].x1, 3), pair[1].y1))[
        0
    ]
    legend = right.legend(
        **_legend_content(lines, title), loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0
    )
    _name_entries(legend, lines)
    if right.figure.get_layout_engine() is not None:
        return
    left = min(box.x0 for box in boxes)
    width = max(box.x1 for box in boxes) - left
    taken = legend.get_window_extent().width / right.figure.bbox.width
    share = max(0.4, 0.98 - taken / width)  # of the width, for the panels
    for ax, box in zip(axes, boxes, strict=True):
        ax.set_position((left + share * (box.x0 - left), box.y0, share * box.width, box.height))
