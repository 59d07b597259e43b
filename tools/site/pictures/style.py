"""What all pictures share: the look of C, A, B and O, and new figures."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

LABELS: dict[str, dict[str, Any]] = {
    "C": {"facecolor": "0.78", "hatch": ""},
    "A": {"facecolor": "#8ec1e8", "hatch": "///"},
    "B": {"facecolor": "#f2a97e", "hatch": "xx"},
    "O": {"facecolor": "white", "hatch": ""},
}
MEANING = {"C": "in both", "A": "only in x", "B": "only in y", "O": "in neither"}
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def new_figure(width: float, height: float) -> Figure:
    """A figure in inches that leaves room for its texts."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def cell(
    ax: Axes, x: float, y: float, label: str, text: str = "", *, changed: bool = False
) -> None:
    """Draw one record: a box in the look of its label, with a text in it."""
    ax.add_patch(
        FancyBboxPatch(
            (x - 0.38, y - 0.32),
            0.76,
            0.64,
            boxstyle="round,pad=0,rounding_size=0.12",
            edgecolor="black" if changed else "0.45",
            linewidth=2.2 if changed else 0.8,
            **LABELS[label],
        )
    )
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
    ax.text(x, y, text or label, ha="center", va="center", fontsize=10, bbox=box)


def bare(ax: Axes) -> None:
    """Leave nothing of the axes but what is drawn on them."""
    ax.set_axis_off()
    ax.set_aspect("equal")
