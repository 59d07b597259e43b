"""How many persons contribute how much to the answer of a query."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._options import with_checked_options
from ._picture import Picture, set_log_ticks, set_ticks, with_unit

_FLAT = 50
"""The largest contribution that is drawn along a plain axis; beyond, the axis is logarithmic."""


@with_checked_options
def plot_contributions(
    sizes: Any,
    everyone: int,
    *,
    query: str = "the answer",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how many persons contribute at least so much to an answer.

    The line falls where a threshold would begin to cut: at a contribution of c it is as high as the
    number of persons who contribute c or more.

    Parameters
    ----------
    sizes : array-like, shape (n,)
        The absolute contribution of each person who has one, in the unit of the answer.
    everyone : int
        The number of all persons, with those who contribute nothing.
    query : str, default "the answer"
        What they contribute to.
    unit : str, optional
        The unit of the answer.
    ax : Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_contributions([1, 1, 2, 7], 5, query="visits", unit="visits")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('contribution to visits (visits)', 'persons who contribute at least so much')
    """
    picture = Picture.on(ax, (6.4, 3.6))
    drawn, ink = picture.ax, picture.colors.ink
    ascending = np.sort(np.asarray(sizes, dtype=float))
    ascending = ascending[ascending > 0]
    places = np.unique([0.0, *ascending])
    heights = len(ascending) - np.searchsorted(ascending, places)
    largest, highest = places[-1] or 1.0, heights[0]
    # A step ends at its place: so many persons contribute this much or more.
    drawn.step(places, heights, where="pre", color=ink)
    if highest:
        drawn.plot([largest], [heights[-1]], "o", color=ink)
        picture.note(f"largest: {largest:,.6g}", (largest, heights[-1]), (-6, 8), ha="right")
    picture.title(f"Contributions of {everyone:,} persons to {query}: private", letters=60)
    picture.name_axes(
        with_unit(f"contribution to {query}", unit), "persons who contribute at least so much"
    )
    if largest > _FLAT:
        drawn.set_xscale("log")
        drawn.set_xlim(places[1] * 0.8, largest * 1.25)
        set_log_ticks(drawn.xaxis)
    else:
        drawn.set_xlim(0, largest * 1.08)
        set_ticks(drawn.xaxis, whole=bool((places == np.rint(places)).all()))
    if highest > _FLAT:
        drawn.set_yscale("log")
        drawn.set_ylim(0.8, highest * 1.6)
        set_log_ticks(drawn.yaxis)
    else:
        drawn.set_ylim(0, (highest or 1) * 1.15)
        set_ticks(drawn.yaxis)
    picture.grid()
    return drawn
