"""A claimed sensitivity and the true one, by distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from sensitivity_lab.errors import InputError

from ._figures import PLAIN, ShownAxes, given_axes, new_figure
from ._theme import theme

_CLAIM: dict[str, Any] = {"color": "#0072B2", "linestyle": (0, (4, 1.5)), "linewidth": 1.8}
_TRUTH: dict[str, Any] = {"color": "#000000", "marker": "o", "markersize": 6, "linestyle": "none"}
_BROKEN: dict[str, Any] = {"color": "#D55E00", "marker": "X", "markersize": 9, "linestyle": "none"}
_OPEN: dict[str, Any] = {**_TRUTH, "markerfacecolor": "none"}
_REGION: dict[str, Any] = {
    "facecolor": "#F4C9A8",
    "edgecolor": "#595959",
    "hatch": "///",
    "linewidth": 0.8,
}


def plot_audit(
    points: Sequence[tuple[float, float, float, bool | None]],
    *,
    title: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw claim and truth by distance; what a claim falls short of is hatched.

    Parameters
    ----------
    points : sequence of (float, float, float, bool or None)
        Distance, claim, truth, and whether the claim is violated; None where that is not judged,
        so that the truth may be larger. Infinite numbers are not drawn; what is missing up to an
        infinite truth is hatched up to the frame.
    title : str
        The title.
    unit : str
        The unit of the sensitivity.
    ax : Axes, optional
        Where to draw; the default is one of a new figure.

    Returns
    -------
    Axes
        `ax`, or that of a new figure, which displays itself as the result of a notebook cell.
        Save it with ``.figure.savefig(path)``: pyplot knows it only if `ax` is one of pyplot's.

    Raises
    ------
    InputError
        If there are no points, or `ax` is not an Axes.

    Examples
    --------
    >>> ax = plot_audit([(1, 1.0, 1.0, False), (2, 2.0, 3.0, True)], title="median")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['claimed', 'true', 'true, above the claim', 'missing from the claim']
    """
    if not len(points):
        raise InputError("points: got none, so there is nothing to draw")
    if ax is None:
        ax = new_figure((6, 3.6)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    k, claim, truth, violated = np.array(points, dtype=float).T
    unjudged = np.isnan(violated)
    broken = ~unjudged & (violated == 1)
    finite = np.concatenate([claim, truth])
    top = finite[np.isfinite(finite)].max(initial=0) or 1.0
    claim[~np.isfinite(claim)] = np.nan
    missing = np.minimum(truth, 1.08 * top) - claim
    colors = theme(ax)
    of_claim, of_truth, of_open, of_broken = (
        {**style, "color": colors.color(style["color"])}
        for style in (_CLAIM, _TRUTH, _OPEN, _BROKEN)
    )
    ax.bar(k[broken], missing[broken], 0.5, claim[broken], zorder=1, **_REGION)
    ax.plot(k, claim, marker="_", markersize=16, markeredgewidth=1.8, zorder=2, **of_claim)
    truth[~np.isfinite(truth)] = np.nan
    known = ~broken & ~unjudged
    for chosen, style in ((known, of_truth), (broken, of_broken)):
        ax.plot(k[chosen], truth[chosen], zorder=3, **style)
    if unjudged.any():
        ax.plot(k[unjudged], truth[unjudged], zorder=3, **of_open)
    ax.set_ylim(-0.03 * top, 1.08 * top)
    ax.set_xlim(k.min() - 0.6, k.max() + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    ax.set_xlabel("distance k")
    ax.set_ylabel("sensitivity" + (f" ({unit})" if unit else ""), **PLAIN)
    ax.set_title(title, fontsize="medium", **PLAIN)
    ax.grid(color=colors.gray(0.9))
    ax.set_axisbelow(True)
    _explain(ax, known, unjudged, broken)
    return ax


def _explain(
    ax: Axes, known: NDArray[np.bool_], unjudged: NDArray[np.bool_], broken: NDArray[np.bool_]
) -> None:
    """Add a legend of what is drawn."""
    color = theme(ax).color
    of_claim, of_truth, of_open, of_broken = (
        {**style, "color": color(style["color"])} for style in (_CLAIM, _TRUTH, _OPEN, _BROKEN)
    )
    entries: list[Line2D | Patch] = [Line2D([], [], label="claimed", **of_claim)]
    if known.any():
        entries.append(Line2D([], [], label="true", **of_truth))
    if unjudged.any():
        entries.append(Line2D([], [], label="at least, not judged", **of_open))
    if broken.any():
        entries.append(Line2D([], [], label="true, above the claim", **of_broken))
        entries.append(Patch(label="missing from the claim", **_REGION))
    ax.legend(handles=entries, loc="best", fontsize="small")
