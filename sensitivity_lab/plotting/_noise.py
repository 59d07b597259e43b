"""Laplace against Gaussian noise, for people who are in several groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ._figures import PLAIN, ShownAxes, check_frame, given_axes, new_figure
from ._theme import theme

if TYPE_CHECKING:
    import pandas as pd

_NEEDED = ("rows", "groups", "laplace_scale", "gaussian_scale", "epsilon", "rho")
_COLORS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#777777")  # of PALETTE
_MARKERS = ("o", "s", "^", "D", "v", "P")
_MOST_MARKED = 25  # points of a line that get a marker each


def plot_noise_scales(
    frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw the scales of Laplace and Gaussian noise against the number of groups per person.

    Two lines per number r of rows: solid with full markers for Laplace, which grows as r g; dashed
    with hollow ones for Gaussian, which grows as r sqrt(g).

    Parameters
    ----------
    frame : pandas.DataFrame
        What `sensitivity_lab.pipelines.noise.scales.group_noise_scales` returns.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        By default the privacy losses.

    Returns
    -------
    Axes
        One of a new figure displays itself as the result of a notebook cell. Save it with
        ``.figure.savefig(path)``: pyplot knows it only if `ax` is one of pyplot's.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, or `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab.pipelines.noise.scales import group_noise_scales
    >>> plot_noise_scales(group_noise_scales(range(1, 21), rows=[1, 3])).get_title()
    'epsilon = 1, rho = 0.5'
    """
    check_frame(frame, _NEEDED, "pass what group_noise_scales returns")
    if ax is None:
        ax = new_figure((6.4, 3.8)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    colors = theme(ax)
    for i, (r, part) in enumerate(frame.groupby("rows", sort=False)):
        line = part.sort_values("groups")
        style: dict[str, Any] = {
            "color": colors.color(_COLORS[i % len(_COLORS)]),
            "marker": _MARKERS[i % len(_MARKERS)],
            "markersize": 5,
            "markevery": -(-len(line) // _MOST_MARKED),
        }
        ax.plot(line["groups"], line["laplace_scale"], "-", label=f"Laplace b, r = {r}", **style)
        ax.plot(
            *(line["groups"], line["gaussian_scale"], "--"),
            label=f"Gaussian σ, r = {r}",
            markerfacecolor=colors.paper,
            **style,
        )
    first = frame.iloc[0]
    losses = f"epsilon = {first['epsilon']:.6g}, rho = {first['rho']:.6g}"
    ax.set_title(losses if title is None else title, **PLAIN, fontsize="medium")
    ax.set_xlabel("groups per person g, with r rows each")
    ax.set_ylabel("noise scale (rows)")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    ax.grid(color=colors.gray(0.9))
    ax.set_axisbelow(True)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, handlelength=3.5)
    return ax
