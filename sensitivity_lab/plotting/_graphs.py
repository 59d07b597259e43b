"""Two neighboring graphs, side by side."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from matplotlib.axes import Axes

from ._difference import explain_lines, line_styles, make_room, say_difference, vector_text
from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._options import with_checked_options
from ._theme import Theme, theme

_CENTERS = (-1.5, 1.5)
"""Where the circles of x and y have their centers; their radius is 1."""


@with_checked_options
def plot_graphs(
    witness: Any,
    *,
    query: str = "f",
    neighbors: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw two neighboring graphs with their nodes on a circle, and mark the edges that changed.

    Gray edges are in both graphs. A thick blue edge is only in x, a thick dashed red one only in y.
    A node that y does not have is an empty dotted circle in y. Answers that are numbers are on an
    axis at the right, with an arrow between them; vectors are written below their graphs.

    Parameters
    ----------
    witness : GraphWitness
        Anything with the attributes x, y, query_x, query_y, nodes and removed.
    query : str
        The query's name, for the labels.
    neighbors : str
        The neighbor relation in words, for the title.
    gap : str
        How far the answers are apart, as the label shows it.
    ax : Axes, optional
        Where to draw; the default is one of a new figure.

    Returns
    -------
    Axes
        That of the graphs, `ax` if it was given. A new one displays itself as the result of a
        notebook cell. Save it with ``.figure.savefig(path)``: pyplot knows it only if `ax` is one
        of pyplot's.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab import graphs
    >>> found = graphs.global_sensitivity(
    ...     graphs.GraphUniverse(4), "triangles", neighbors=graphs.EdgeNeighbors()
    ... )
    >>> plot_graphs(found.witness, query="triangles").get_title()
    'f = triangles'
    """
    if ax is None:
        ax = new_figure((8, 3.8)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    vectors = isinstance(witness.query_x, tuple)
    if not vectors:
        make_room(ax)
    colors = theme(ax)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xlim(-2.8, 2.8)
    ax.set_ylim(-1.75, 1.5)
    for center, name in zip(_CENTERS, "xy", strict=True):
        _draw_graph(ax, witness, name, center, colors)
        ax.text(center, 1.3, name, ha="center", va="bottom", color=colors.ink, weight="bold")
        if vectors:
            text = vector_text(witness, name)
            ax.text(center, -1.4, text, ha="center", va="top", color=colors.ink, **PLAIN)
    say_difference(ax, witness, query, neighbors, gap, colors)
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    explain_lines(ax, handles, "edge", 0.03)
    return ax


def _draw_graph(ax: Axes, witness: Any, name: str, center: float, colors: Theme) -> None:
    """Draw one of the graphs: its edges, then its nodes over them."""
    own, other = (set(witness.x), set(witness.y))[:: 1 if name == "x" else -1]
    places = [
        (
            center + math.sin(2 * math.pi * node / witness.nodes),
            math.cos(2 * math.pi * node / witness.nodes),
        )
        for node in range(witness.nodes)
    ]
    styles = line_styles(colors)
    for edge in sorted(own):
        style = styles["in both" if edge in other else f"only in {name}"]
        ax.plot(*zip(*(places[node] for node in edge), strict=True), zorder=1, **style)
    gone = witness.removed if name == "y" else ()
    _draw_nodes(ax, places, gone, colors)


def _draw_nodes(
    ax: Axes, places: list[tuple[float, float]], gone: Collection[int], colors: Theme
) -> None:
    """Draw the nodes with their numbers; those that are gone as empty dotted circles."""
    for node, place in enumerate(places):
        style = ":" if node in gone else "-"
        ax.scatter(
            place[0],
            place[1],
            s=190 if len(places) <= 12 else 90,
            facecolor=colors.paper,
            edgecolor=colors.gray(0.5) if node in gone else colors.ink,
            linestyle=style,
            zorder=2,
        )
        if node not in gone:
            size = "medium" if len(places) <= 12 else "x-small"
            ax.text(*place, str(node), ha="center", va="center", size=size, color=colors.ink)
