"""Two neighboring graphs, sequences or datasets of a caller's own, with the answers on them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sensitivity_lab.checks import named, shown

from ._difference import explain_lines, line_styles, make_room, say_difference, vector_text
from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._options import with_checked_options
from ._theme import Theme, theme

_CENTERS = (-1.5, 1.5)
"""Where the circles of x and y have their centers; their radius is 1."""

_HEIGHTS = {"x": 1.0, "y": 0.0}
"""Where the rows of x and y are."""

_LINE = 44
"""So many letters of a dataset are in a line, and so many lines are shown of it."""
_LINES = 2


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
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import graphs
    >>> found = spaces.global_sensitivity(
    ...     graphs.GraphUniverse(4), "triangles", neighbors=graphs.EdgeNeighbors()
    ... )
    >>> plot_graphs(found.witness, query="triangles").get_title()
    'f = triangles'
    """
    colors, ax = _begun(ax, (8, 3.8), (-2.8, 2.8), (-1.75, 1.5), witness)
    ax.set_aspect("equal")
    for center, name in zip(_CENTERS, "xy", strict=True):
        _draw_graph(ax, witness, name, center, colors)
        ax.text(center, 1.3, name, ha="center", va="bottom", color=colors.ink, weight="bold")
        if _of_vectors(witness):
            text = vector_text(witness, name)
            ax.text(center, -1.4, text, ha="center", va="top", color=colors.ink, **PLAIN)
    say_difference(ax, witness, query, neighbors, gap, colors)
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    explain_lines(ax, handles, "edge", 0.03)
    return ax


@with_checked_options
def plot_sequences(
    witness: Any,
    *,
    query: str = "f",
    neighbors: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw two neighboring sequences as rows of boxes, and mark the entries that changed.

    Entries that both have are gray and stand one above the other. A blue box is only in x, a dashed
    red one only in y. Answers that are numbers are on an axis at the right, with an arrow between
    them; vectors are written beside their sequences.

    Parameters
    ----------
    witness : SequenceWitness
        Anything with the attributes x, y, query_x, query_y, deleted and inserted.
    query, neighbors, gap, ax
        As of `plot_graphs`.

    Returns
    -------
    Axes
        As of `plot_graphs`.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import sequences
    >>> found = spaces.global_sensitivity(
    ...     sequences.SequenceUniverse("ab", longest=4),
    ...     "changes",
    ...     neighbors=sequences.InsertDelete(),
    ... )
    >>> plot_sequences(found.witness, query="changes").get_title()
    'f = changes'
    """
    columns = _columns(witness)
    size = min(12.0, 4 + 0.75 * len(columns)), 2.4
    colors, ax = _begun(ax, size, (-0.9, max(len(columns), 1) - 0.4), (-1.0, 1.7), witness)
    for column, (of_x, of_y) in enumerate(columns):
        for name, place in (("x", of_x), ("y", of_y)):
            if place is not None:
                _draw_entry(ax, witness, name, place, column, colors)
    _name_rows(ax, -0.6, witness, colors)
    say_difference(ax, witness, query, neighbors, gap, colors)
    explain_lines(ax, {str(patch.get_label()): patch for patch in ax.patches}, "entry", 0.14)
    return ax


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
    written beside their datasets. Of a long dataset the first lines are shown.

    Parameters
    ----------
    witness : SpaceWitness
        Anything with the attributes x, y, query_x and query_y.
    query, neighbors, gap, ax
        As of `plot_graphs`.

    Returns
    -------
    Axes
        As of `plot_graphs`.

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
    colors, ax = _begun(ax, (6.4, 2.4), (-0.9, 8), (-1.0, 1.7), witness)
    for name, height in _HEIGHTS.items():
        lines = textwrap.wrap(shown(getattr(witness, name)), _LINE)
        more = ["..."] if len(lines) > _LINES else []
        text = "\n".join([*lines[:_LINES], *more])
        ax.text(0, height, text, ha="left", va="center", color=colors.ink, **PLAIN)
    _name_rows(ax, -0.6, witness, colors)
    say_difference(ax, witness, query, neighbors, gap, colors)
    return ax


def _begun(
    ax: Any,
    size: tuple[float, float],
    across: tuple[float, float],
    up: tuple[float, float],
    witness: Any,
) -> tuple[Theme, Axes]:
    """Return the colors, and an Axes for two neighbors with room for their answers beside them."""
    if ax is None:
        ax = new_figure(size).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    if not _of_vectors(witness):
        make_room(ax)
    ax.set_axis_off()
    ax.set_xlim(*across)
    ax.set_ylim(*up)
    return theme(ax), ax


def _of_vectors(witness: Any) -> bool:
    return isinstance(witness.query_x, tuple)


def _name_rows(ax: Axes, left: float, witness: Any, colors: Theme) -> None:
    """Write x and y before their rows, and behind them the answers that are vectors."""
    for name, height in _HEIGHTS.items():
        ax.text(left, height, name, ha="right", va="center", color=colors.ink, weight="bold")
        if _of_vectors(witness):
            ax.text(
                1.02,
                height,
                vector_text(witness, name),
                transform=ax.get_yaxis_transform(),
                va="center",
                color=colors.ink,
                **PLAIN,
            )


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


def _columns(witness: Any) -> list[tuple[int | None, int | None]]:
    """Return which entries of x and y stand one above the other, by their places; None for none.

    The entries that stay are the same ones in both, in the same order.
    """
    columns: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(witness.x) or j < len(witness.y):
        gone = i < len(witness.x) and i in witness.deleted
        new = j < len(witness.y) and j in witness.inserted
        stays = not gone and not new
        columns.append((i if gone or stays else None, j if new or stays else None))
        i, j = i + (gone or stays), j + (new or stays)
    return columns


def _draw_entry(ax: Axes, witness: Any, name: str, place: int, column: int, colors: Theme) -> None:
    """Draw an entry of x or y as a box with its value."""
    changed = place in (witness.deleted if name == "x" else witness.inserted)
    style = line_styles(colors)[f"only in {name}" if changed else "in both"]
    height = _HEIGHTS[name]
    ax.add_patch(Rectangle((column - 0.43, height - 0.32), 0.86, 0.64, fill=False, **style))
    value = getattr(witness, name)[place]
    text = textwrap.shorten(named(value), 12, placeholder="...") or "..."
    size = "medium" if len(text) <= 5 else "x-small"
    ax.text(column, height, text, ha="center", va="center", size=size, color=colors.ink, **PLAIN)
