"""The steps in which a person takes part in a stream, and what that moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._options import with_checked_options
from ._picture import Picture
from ._theme import BLUE, RED


@with_checked_options
def plot_pattern(
    marks: Mapping[str, Mapping[int, float]],
    steps: int,
    moved: Sequence[float] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw contributions as stems over the steps, and what they move as a line.

    Parameters
    ----------
    marks : mapping of str to mapping of int to float
        For x, and perhaps y: the size of each contribution, by its step.
    steps : int
        The number of steps.
    moved : sequence of float, optional
        How far each number of the release is moved. It is drawn over the steps only if there are
        as many numbers.
    title : str
        The title.
    ax : Axes, optional
        Where to draw; the default is one of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_pattern({"x": {0: 1.0, 2: -1.0}}, 4, [1.0, 1.0, 0.0, 0.0])
    >>> len(ax.lines) > 1, ax.get_xlabel()
    (True, 'step')
    """
    picture = Picture.on(ax, (7.0, 3.2))
    ax, colors = picture.ax, picture.colors
    ax.axhline(0, color=colors.gray(0.15), linewidth=0.8)
    if moved is not None and len(moved) == steps:
        ax.step(
            np.arange(steps),
            moved,
            where="mid",
            color=colors.gray(0.5),
            linewidth=1.2,
            label="release moved by",
        )
    looks: tuple[dict[str, Any], ...] = ({"color": BLUE, "marker": "o"}, {"color": RED, "marker": "s"})
    for (name, sizes), look in zip(marks.items(), looks, strict=False):
        color = colors.color(look["color"])
        places, heights = list(sizes), list(sizes.values())
        ax.vlines(places, 0, heights, color=color, linewidth=1.5)
        ax.plot(
            places,
            heights,
            linestyle="none",
            marker=look["marker"],
            markersize=5,
            color=color,
            label=f"contributions in {name}",
        )
    ax.set_xlim(-0.02 * steps - 0.5, 1.02 * steps - 0.5)
    picture.name_axes("step", "contribution")
    picture.title(title, 70)
    picture.grid(axis="y")
    picture.legend_beside()
    return ax
