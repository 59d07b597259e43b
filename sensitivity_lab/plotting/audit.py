"""A claimed sensitivity and the true one, by distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._options import with_checked_options
from ._picture import Picture, set_log_ticks, set_ticks, with_unit
from ._theme import BLUE, RED

_CLAIMED: dict[str, Any] = {"linestyle": (0, (4, 1.5)), "linewidth": 1.8}
_TRUTHS: dict[str, dict[str, Any]] = {
    "true": {"color": "#000000", "marker": "o", "markersize": 6},
    "at least, not judged": {
        "color": "#000000",
        "marker": "o",
        "markersize": 6,
        "markerfacecolor": "none",
    },
    "true, above the claim": {"color": RED, "marker": "X", "markersize": 9},
}
_REGION: dict[str, Any] = {
    "facecolor": "#F4C9A8",
    "edgecolor": "#595959",
    "hatch": "///",
    "linewidth": 0.8,
}


@with_checked_options
def plot_audit(
    points: Sequence[tuple[float, float, float, bool | None]],
    *,
    title: str = "",
    unit: str = "",
    logy: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw claim and truth by distance; hatching shows how far a claim falls short.

    Parameters
    ----------
    points : sequence of (float, float, float, bool or None)
        Distance, claim, truth, and whether the claim is violated; None if that is not judged,
        because the truth may be larger. Infinite numbers are not drawn; if the truth is infinite,
        the hatching reaches the frame.
    title : str
        The title.
    unit : str
        The unit of the sensitivity.
    logy : bool, default False
        Whether the axis of the sensitivity is logarithmic; then it omits zeros.
    ax : Axes, optional
        Where to draw; the default is one of a new figure.

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
    >>> ax = plot_audit([(1, 1.0, 1.0, False), (2, 2.0, 3.0, True)], title="median")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['claimed', 'true', 'true, above the claim', 'missing from the claim']
    """
    picture = Picture.on(ax, (6, 3.6))
    ax, colors = picture.ax, picture.colors
    k, claim, truth, violated = np.array(points, dtype=float).T
    finite = np.concatenate([claim, truth])
    finite = finite[np.isfinite(finite)]
    top = finite.max(initial=0) or 1.0
    claim[~np.isfinite(claim)] = np.nan
    # The marks are not in the legend.
    ax.scatter(k, claim, marker="_", s=16**2, linewidth=1.8, color=colors.color(BLUE), zorder=2)
    ax.plot(k, claim, color=colors.color(BLUE), label="claimed", zorder=2, **_CLAIMED)
    missing = np.minimum(truth, 1.08 * top) - claim
    truth[~np.isfinite(truth)] = np.nan
    for (name, look), chosen in zip(
        _TRUTHS.items(), (violated == 0, np.isnan(violated), violated == 1), strict=True
    ):
        if chosen.any():
            look = {**look, "color": colors.color(look["color"])}
            ax.plot(k[chosen], truth[chosen], linestyle="none", label=name, zorder=3, **look)
    broken = violated == 1
    if broken.any():
        region = {"label": "missing from the claim", "zorder": 1, **_REGION}
        ax.bar(k[broken], missing[broken], 0.5, claim[broken], **region)
    if logy:
        least = finite[finite > 0].min(initial=top)
        ax.set_yscale("log", nonpositive="mask")
        ax.set_ylim(least / 1.5, 1.5 * top)
        set_log_ticks(ax.yaxis)
    else:
        ax.set_ylim(-0.03 * top, 1.08 * top)
    ax.set_xlim(k.min() - 0.6, k.max() + 0.6)
    set_ticks(ax.xaxis)
    picture.name_axes("distance k", with_unit("sensitivity", unit))
    picture.title(title)
    picture.grid()
    ax.legend(loc="best", fontsize="small")
    return ax
