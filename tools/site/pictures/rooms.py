"""The core of the package and the products on it, as the test of the architecture lists them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from pictures.style import new_figure

LISTS = Path(__file__).parents[3] / "tests" / "test_architecture.py"
SMALL = (
    "",
    "__main__",
    "cli",
    "errors",
    "files",
    "csv_files",
    "boundary",
)
"""Left out: what everything imports, what imports everything, and a part of another room."""

ACROSS = 5
"""So many rooms stand beside each other."""


def lists() -> tuple[list[str], dict[str, set[str]]]:
    """The rooms of the core in their order, and what other products each product needs."""
    found: dict[str, Any] = {}
    for node in ast.parse(LISTS.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("ROOMS", "PRODUCTS"):
                text = ast.unparse(node.value).replace("set()", "()")
                found[name] = ast.literal_eval(text)
    products = {room: set(others) for room, others in found["PRODUCTS"].items()}
    core = [room for room in found["ROOMS"] if room not in products and room not in SMALL]
    return core, products


def draw_rooms() -> Figure:
    """Two storeys: boxes in their order below, and beside each other above."""
    core, products = lists()
    figure = new_figure(7.2, 4.6)
    ax = figure.add_subplot()
    where = {}
    for place, room in enumerate(core):
        where[room] = (place % ACROSS, -(place // ACROSS))
    below = -(len(core) - 1) // ACROSS - 1
    for place, room in enumerate(products):
        where[room] = (place % ACROSS, 3.1 - place // ACROSS)
    _storey(ax, 1.55, 3.75, "#f6efe2", "Products: beside each other, loaded when they are used")
    _storey(ax, below + 0.35, 0.65, "#e4eef7", "The core: the calculator")
    for place, room in enumerate(core):
        _box(ax, where[room], f"{place + 1}  {room}")
    boxes = {room: _box(ax, where[room], room) for room in products}
    for room, others in products.items():
        for other in others:
            _line(ax, (where[room], boxes[room]), (where[other], boxes[other]))
    note = "A room imports only from rooms with smaller numbers."
    ax.text(0.75, below + 1, note, va="center", fontsize=8.5, color="0.3")
    ax.annotate("", (2, 0.9), (2, 1.55), arrowprops={"arrowstyle": "-|>", "color": "0.3"})
    ax.text(2.1, 1.22, "import", va="center", fontsize=8.5, color="0.3")
    ax.set_xlim(-0.65, ACROSS - 0.35)
    ax.set_ylim(below + 0.2, 4.2)
    ax.set_axis_off()
    return figure


def _storey(ax: Axes, bottom: float, top: float, color: str, title: str) -> None:
    box = FancyBboxPatch(
        (-0.55, bottom), ACROSS + 0.1, top - bottom,
        boxstyle="round,pad=0,rounding_size=0.1", facecolor=color, edgecolor="0.6", zorder=0,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(-0.5, top + 0.06, title, va="bottom", fontsize=9.5, fontweight="bold")


def _box(ax: Axes, place: tuple[float, float], text: str) -> FancyBboxPatch:
    x, y = place
    box = FancyBboxPatch(
        (x - 0.45, y - 0.24), 0.9, 0.48,
        boxstyle="round,pad=0,rounding_size=0.08", facecolor="white", edgecolor="0.3", zorder=2,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(x, y, text, ha="center", va="center", fontsize=8.5, zorder=3)
    return box


Placed = tuple[tuple[float, float], FancyBboxPatch]
"""The middle of a box, and the box."""


def _line(ax: Axes, start: Placed, end: Placed) -> None:
    """Draw an arrow from a product to another one that it needs, from border to border."""
    (begin, from_box), (stop, to_box) = start, end
    line = {"arrowstyle": "-|>", "color": "0.3", "patchA": from_box, "patchB": to_box}
    ax.annotate("", stop, begin, arrowprops={**line, "shrinkA": 0, "shrinkB": 1}, zorder=4)
