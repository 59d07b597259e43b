"""The rooms of the package and what they import, drawn from the import statements themselves."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from pictures.style import new_figure

PACKAGE = Path(__file__).parents[3] / "sensitivity_lab"
SMALL = ("__init__", "__main__", "errors", "files", "numpy_state", "checks")
"""Left out: what everything imports, and what imports everything."""

SAME = {"interval_problem": "problem"}
"""Drawn as one."""


def imports() -> dict[str, set[str]]:
    """For each room, those that it imports when it runs."""
    found: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        tree = ast.parse(file.read_text("utf-8"))
        used = {
            room for node in ast.walk(tree) for room in _rooms(node, ("sensitivity_lab", *parts))
        }
        found.setdefault(parts[0], set()).update(used - {parts[0]})
    for part, whole in SAME.items():
        found[whole] |= found.pop(part)
        found = {room: {SAME.get(one, one) for one in below} for room, below in found.items()}
    rooms = set(found) - set(SMALL)
    return {room: (found[room] & rooms) - {room} for room in rooms}


def _rooms(node: ast.AST, place: tuple[str, ...]) -> list[str]:
    """The rooms that one statement imports from, in a module at a place."""
    if not isinstance(node, ast.ImportFrom):
        return []
    base = place[: len(place) - node.level] if node.level else ()
    name = (*base, *(node.module.split(".") if node.module else ()))
    if name[:1] != ("sensitivity_lab",):
        return []
    return [name[1]] if len(name) > 1 else [alias.name for alias in node.names]


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out imports that go through another room anyway: what is left is enough to draw."""
    reach: dict[str, set[str]] = {}
    for room in TopologicalSorter(graph).static_order():
        reach[room] = set().union(*({below} | reach[below] for below in graph[room]))
    return {
        room: {one for one in below if not any(one in reach[other] for other in below)}
        for room, below in graph.items()
    }


def levels(graph: dict[str, set[str]]) -> list[list[str]]:
    """The rooms from the ground up: each one above all that it imports."""
    height: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        height[room] = 1 + max((height[below] for below in graph[room]), default=-1)
    return [
        sorted(room for room in height if height[room] == level)
        for level in range(max(height.values()) + 1)
    ]


def draw_rooms() -> Figure:
    """Boxes from the ground up, and a line for each import that no other one implies."""
    graph = direct(imports())
    floors = levels(graph)
    figure = new_figure(6.4, 0.82 * len(floors) + 0.4)
    ax = figure.add_subplot()
    where = {}
    for y, floor in enumerate(floors):
        for place, room in enumerate(floor):
            where[room] = (place - (len(floor) - 1) / 2, float(y))
    for room, below in graph.items():
        for one in below:
            (x0, y0), (x1, y1) = where[room], where[one]
            ax.annotate(
                "",
                (x1, y1 + 0.24),
                (x0, y0 - 0.24),
                arrowprops={"arrowstyle": "->", "color": "0.55", "linewidth": 0.9},
                zorder=1,
            )
    for room, (x, y) in where.items():
        box = FancyBboxPatch(
            (x - 0.43, y - 0.2),
            0.86,
            0.4,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor="#e4eef7",
            edgecolor="0.3",
            zorder=2,
        )
        ax.add_patch(box)
        ax.text(x, y, room, ha="center", va="center", fontsize=8.5, zorder=3)
    ax.set_xlim(min(x for x, _ in where.values()) - 0.6, max(x for x, _ in where.values()) + 0.6)
    ax.set_ylim(-0.4, len(floors) - 0.6)
    ax.set_axis_off()
    return figure
