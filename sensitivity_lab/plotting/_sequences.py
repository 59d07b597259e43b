"""Two neighboring sequences, one above the other."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sensitivity_lab.checks import named

from ._difference import explain_lines, line_styles, make_room, say_difference, vector_text
from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._options import with_checked_options
from ._theme import Theme, theme

_HEIGHTS = {"x": 1.0, "y": 0.0}
"""Where the rows of boxes are."""


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
        That of the sequences, `ax` if it was given. A new one displays itself as the result of a
        notebook cell.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab import sequences
    >>> found = sequences.global_sensitivity(
    ...     sequences.SequenceUniverse("ab", longest=4),
    ...     "changes",
    ...     neighbors=sequences.InsertDelete(),
    ... )
    >>> plot_sequences(found.witness, query="changes").get_title()
    'f = changes'
    """
    columns = _columns(witness)
    if ax is None:
        width = min(12.0, 4 + 0.75 * len(columns))
        ax = new_figure((width, 2.4)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    vectors = isinstance(witness.query_x, tuple)
    if not vectors:
        make_room(ax)
    colors = theme(ax)
    ax.set_axis_off()
    ax.set_xlim(-0.9, max(len(columns), 1) - 0.4)
    ax.set_ylim(-1.0, 1.7)
    for name, height in _HEIGHTS.items():
        ax.text(-0.6, height, name, ha="right", va="center", color=colors.ink, weight="bold")
    for column, (of_x, of_y) in enumerate(columns):
        for name, place in (("x", of_x), ("y", of_y)):
            if place is not None:
                _draw_entry(ax, witness, name, place, column, colors)
    if vectors:
        _write_vectors(ax, witness, colors)
    say_difference(ax, witness, query, neighbors, gap, colors)
    explain_lines(ax, {str(patch.get_label()): patch for patch in ax.patches}, "entry", 0.14)
    return ax


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


def _write_vectors(ax: Axes, witness: Any, colors: Theme) -> None:
    """Write the answers below the names of the sequences."""
    for name, height in _HEIGHTS.items():
        ax.text(
            1.02,
            height,
            vector_text(witness, name),
            transform=ax.get_yaxis_transform(),
            va="center",
            color=colors.ink,
            **PLAIN,
        )
