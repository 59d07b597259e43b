"""Numbers, and how far off they will be when they are published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sensitivity_lab.checks import named, names_of

from ._options import with_checked_options
from ._picture import BLUE, PLAIN, THOUSANDS, Picture, broken, entitled, new_figure, set_ticks

if TYPE_CHECKING:
    import pandas as pd

_ROW, _AROUND, _LETTERS = 0.32, 1.0, 26  # inches of a row and around them; letters of a name
_MOST = 40


@with_checked_options
def plot_errors(
    exact: pd.DataFrame,
    off: pd.DataFrame,
    least: pd.DataFrame,
    *,
    left_out: tuple[str, ...] = (),
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw numbers with their mean absolute errors, a panel per statistic and a row per group.

    Parameters
    ----------
    exact, off, least : pandas.DataFrame
        Of the same groups and statistics; of more than 40 groups the first ones are drawn. No bar
        goes below `least`.
    left_out : tuple of str
        What else is published, to be named in the title.
    title : str, optional
        Above the figure.
    figsize : tuple of float, optional
        Width and height in inches.

    Returns
    -------
    Figure
    """
    groups, panels = min(len(exact), _MOST), max(exact.shape[1], 1)
    large = bool((exact.abs() >= 1e6).any(axis=None))  # such numbers are written out
    wide, ticks = (3.4, 3) if large else (2.4, 4)
    size = figsize or (1.6 + wide * panels, _AROUND + _ROW * groups)
    figure = new_figure(size)
    axes = list(figure.subplots(1, panels, sharey=True, squeeze=False).flat)
    places = np.arange(groups)
    columns = ", ".join(named(one) for one in exact.index.names if one is not None)
    for ax, name in zip(axes, exact.columns, strict=False):
        picture = Picture(ax)
        values, errors, lowest = (
            one[name].to_numpy(dtype=float)[:groups] for one in (exact, off, least)
        )
        below = np.clip(values - lowest, 0, errors)
        ax.errorbar(
            *(values, places),
            xerr=np.nan_to_num([below, errors]),
            fmt="o",
            markersize=4,
            capsize=3,
            color=picture.colors.color(BLUE),
            ecolor=picture.colors.ink,
        )
        set_ticks(ax.xaxis, ticks, whole=exact[name].dtype.kind == "i")
        ax.xaxis.set_major_formatter(THOUSANDS)
        picture.name_axes(broken(named(name), _LETTERS), columns if ax is axes[0] else None)
        picture.grid(axis="x")
    names = [" ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in exact.index]
    axes[0].set_yticks(places, [broken(named(one), _LETTERS) for one in names[:groups]], **PLAIN)
    axes[0].set_ylim(groups - 0.5, -0.5)
    heading = "Made-up rows: each number, and how far off it will be on average"
    if left_out:
        heading += f"\nnot drawn: {names_of(left_out, named)}"
    return entitled(None, axes, heading if title is None else title)
