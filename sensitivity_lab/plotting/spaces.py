"""Two neighboring graphs, or datasets of another space, with their answers."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from matplotlib.axes import Axes

from sensitivity_lab.checks import shown

from ._neighbors import (
    draw_answers,
    explain,
    f_is,
    has_vectors,
    looks_of_lines,
    make_room,
    vector_text,
)
from ._options import with_checked_options
from ._picture import Picture

_CENTERS = (-1.5, 1.5)
"""The centers of the circles of x and y; their radius is 1."""

_HEIGHTS = {"x": 1.0, "y": 0.0}
"""The heights of the rows of x and y."""

_LINE = 44
"""The most letters in a line of a dataset, and the most lines shown."""
_LINES = 2


@with_checked_options
def plot_graphs(
    witness: Any,
    *,
    nodes: int,
    query: str = "f",
    neighbors: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw two neighboring graphs with their nodes on a circle, and mark the edges that changed.

    Gray edges are in both graphs. A thick blue edge is only in x, a thick dashed red one only in y.
    Answers that are numbers are on an axis at the right, with an arrow between them; vectors are
    written below their graphs.

    Parameters
    ----------
    witness : SpaceWitness
        Anything with the attributes x, y, query_x and query_y; x and y are edges.
    nodes : int
        How many nodes both have.
    query, neighbors, gap, ax
        As for `plot_witness`.

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
    >>> from sensitivity_lab import spaces
    >>> space, one = spaces.graphs(4, "edge"), spaces.Within(1)
    >>> found = spaces.global_sensitivity(space, "triangles", neighbors=one)
    >>> plot_graphs(found.witness, nodes=4, query="triangles").get_title()
    'f = triangles'
    """
    picture = _begun(witness, ax, (8, 3.8), (-2.8, 2.8), (-1.75, 1.5))
    picture.ax.set_aspect("equal")
    for center, name in zip(_CENTERS, "xy", strict=True):
        _draw_graph(picture, witness, nodes, name, center)
        picture.write(center, 1.3, name, ha="center", va="bottom", weight="bold")
        if has_vectors(witness):
            picture.write(center, -1.4, vector_text(witness, name), ha="center", va="top")
    _say_difference(picture, witness, query, neighbors, gap)
    explain(picture.ax, "upper center", 0.03, "edge")
    return picture.ax


@with_checked_options
def plot_datasets(
    witness: Any,
    *,
    query: str = "f",
    neighbors: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw two neighboring datasets of any kind as text, one above the other, with the answers.

    Answers that are numbers are on an axis at the right, with an arrow between them; vectors are
    written next to their datasets. A long dataset is cut after its first lines.

    Parameters
    ----------
    witness : SpaceWitness
        Anything with the attributes x, y, query_x and query_y.
    query, neighbors, gap, ax
        As for `plot_witness`.

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
    >>> from sensitivity_lab import spaces
    >>> words = spaces.Space(["tea", "teas"], lambda a, b: abs(len(a) - len(b)))
    >>> found = spaces.global_sensitivity(words, len, neighbors=spaces.Within())
    >>> [text.get_text() for text in plot_datasets(found.witness).texts]
    ["'tea'", "'teas'", 'x', 'y']
    """
    picture = _begun(witness, ax, (6.4, 2.4), (-0.9, 8), (-1.0, 1.7))
    for name, height in _HEIGHTS.items():
        lines = textwrap.wrap(shown(getattr(witness, name)), _LINE)
        more = ["..."] if len(lines) > _LINES else []
        text = "\n".join([*lines[:_LINES], *more])
        picture.write(0, height, text, ha="left", va="center")
    _name_datasets(picture, witness)
    _say_difference(picture, witness, query, neighbors, gap)
    return picture.ax


def _begun(
    witness: Any,
    ax: Any,
    size: tuple[float, float],
    across: tuple[float, float],
    up: tuple[float, float],
) -> Picture:
    """Return an empty picture of two neighbors, with room for their answers at the right."""
    picture = Picture.on(ax, size)
    if not has_vectors(witness):
        make_room(picture)
    picture.ax.set_axis_off()
    picture.ax.set_xlim(*across)
    picture.ax.set_ylim(*up)
    return picture


def _say_difference(picture: Picture, witness: Any, query: str, neighbors: str, gap: str) -> None:
    """Write the title and draw the answers; for vectors, write their distance."""
    said = f_is(query)
    if not has_vectors(witness):
        draw_answers(picture, (float(witness.query_x), float(witness.query_y)), gap)
    elif gap:
        said = f"{said}, |f(x) − f(y)| = {gap}"
    picture.title(f"{said}\n{neighbors}".rstrip(), pad=14)


def _name_datasets(picture: Picture, witness: Any) -> None:
    """Write x and y before their rows, and answers that are vectors after them."""
    for name, height in _HEIGHTS.items():
        picture.write(-0.6, height, name, ha="right", va="center", weight="bold")
        if has_vectors(witness):
            beside = {"transform": picture.ax.get_yaxis_transform(), "va": "center"}
            picture.write(1.02, height, vector_text(witness, name), **beside)


def _draw_graph(picture: Picture, witness: Any, nodes: int, name: str, center: float) -> None:
    """Draw one of the graphs: its edges, then its nodes over them."""
    own, other = (set(witness.x), set(witness.y))[:: 1 if name == "x" else -1]
    places = [
        (
            center + math.sin(2 * math.pi * node / nodes),
            math.cos(2 * math.pi * node / nodes),
        )
        for node in range(nodes)
    ]
    looks = looks_of_lines(picture.colors)
    for edge in sorted(own):
        look = looks["in both" if edge in other else f"only in {name}"]
        picture.ax.plot(*zip(*(places[node] for node in edge), strict=True), zorder=1, **look)
    _draw_nodes(picture, places)


def _draw_nodes(picture: Picture, places: list[tuple[float, float]]) -> None:
    """Draw the nodes with their numbers."""
    colors, few = picture.colors, len(places) <= 12
    for node, place in enumerate(places):
        picture.ax.scatter(
            *place,
            s=190 if few else 90,
            facecolor=colors.paper,
            edgecolor=colors.ink,
            zorder=2,
        )
        size = "medium" if few else "x-small"
        picture.write(*place, str(node), ha="center", va="center", size=size)
